/* definition/canonical.c - a workflow as the one text that is stored and hashed.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * It is itself a workflow file, in JSON without white space.  Keys stand in the order of this
 * file, and what is default is left out: so a key that a later Cairn adds does not change the
 * hash of a file that does not use it, and a default, once released, never changes.
 */
#include "base/clock.h"
#include "base/json.h"
#include "base/mem.h"
#include "definition/element.h"

#include <nettle/sha2.h>
#include <stdio.h>
#include <string.h>

static void write_duration(struct json_out *out, const char *key, int64_t us)
{
    char text[DURATION_TEXT];
    duration_format(us, text);
    json_str(json_key(out, key), text);
}

static void write_text(struct json_out *out, const char *key, const char *text)
{
    json_str(json_key(out, key), text);
}

static void write_retry(struct json_out *out, const struct backoff *retry)
{
    if (backoff_is_default(retry))
        return;
    json_open(json_key(out, "retry"), '{');
    write_text(out, "backoff", backoff_name(retry->kind));
    write_duration(out, "base", retry->base_us);
    write_duration(out, "max", retry->max_us);
    if (retry->jitter != 0)
        json_fraction(json_key(out, "jitter"), retry->jitter);
    json_close(out, '}');
}

/* Writes max_attempts and idempotent; `usual` is the default of max_attempts. */
static void write_attempts(struct json_out *out, int32_t max_attempts, int32_t usual,
                           bool is_idempotent)
{
    if (max_attempts != usual)
        json_int(json_key(out, "max_attempts"), max_attempts);
    if (!is_idempotent)
        json_bool(json_key(out, "idempotent"), false);
}

static void write_metadata(struct json_out *out, const char *metadata)
{
    if (metadata)
        json_raw(json_key(out, "metadata"), metadata);
}

static void write_compensation(struct json_out *out,
                               const struct compensation_config *compensation)
{
    if (!compensation->handler)
        return;
    json_open(json_key(out, "compensation"), '{');
    write_text(out, "handler", compensation->handler);
    write_attempts(out, compensation->max_attempts, compensation_attempts_default(compensation),
                   compensation->is_idempotent);
    write_retry(out, &compensation->retry);
    if (compensation->timeout_us)
        write_duration(out, "timeout", compensation->timeout_us);
    write_metadata(out, compensation->metadata);
    json_close(out, '}');
}

static void write_task(struct json_out *out, const struct element *element)
{
    const struct step_config *config = &element->config;
    if (strcmp(element->handler, element->name) != 0)
        write_text(out, "handler", element->handler);
    write_attempts(out, element->max_attempts, config->is_idempotent ? ATTEMPTS_DEFAULT : 1,
                   config->is_idempotent);
    write_retry(out, &config->retry);
    if (element->priority != PRIORITY_DEFAULT)
        json_int(json_key(out, "priority"), element->priority);
    write_compensation(out, &config->compensation);
}

static void write_list(struct json_out *out, const struct element_list *list);

static void write_condition(struct json_out *out, const struct element *element)
{
    static const char *const sides[] = {"then", "else"};
    write_text(out, "when", element->config.when);
    for (size_t i = 0; i < 2; i++)
        if (element->lists[i].count)
            write_list(json_key(out, sides[i]), &element->lists[i]);
}

static void write_fork(struct json_out *out, const struct element *element)
{
    if (element->join != JOIN_NONE)
        write_text(out, "join", join_name(element->join));
    json_open(json_key(out, "branches"), '[');
    for (size_t i = 0; i < element->list_count; i++)
        write_list(out, &element->lists[i]);
    json_close(out, ']');
}

static void write_element(struct json_out *out, const struct element *element);

static void write_parallel(struct json_out *out, const struct element *element)
{
    json_open(json_key(out, "steps"), '[');
    for (size_t i = 0; i < element->list_count; i++)
        write_element(out, element->lists[i].first);
    json_close(out, ']');
}

static void write_start(struct json_out *out, const struct element *element)
{
    const struct child_config *child = &element->config.child;
    write_text(out, "workflow", child->workflow);
    if (child->version)
        json_int(json_key(out, "version"), child->version);
    if (child->key)
        json_raw(json_key(out, "key"), child->key);
    if (child->tags)
        json_raw(json_key(out, "tags"), child->tags);
    if (child->is_left)
        json_bool(json_key(out, "wait"), false);
    write_compensation(out, &element->config.compensation);
}

static void write_map(struct json_out *out, const struct element *element)
{
    const struct child_config *child = &element->config.child;
    json_raw(json_key(out, "over"), child->over);
    write_list(json_key(out, "steps"), &element->each);
    if (child->max_parallel != PARALLEL_DEFAULT)
        json_int(json_key(out, "max_parallel"), child->max_parallel);
    if (child->at_least == 1) {
        write_text(out, "join", "any");
    } else if (child->at_least) {
        json_open(json_key(out, "join"), '{');
        json_int(json_key(out, "at_least"), child->at_least);
        json_close(out, '}');
    }
    if (child->is_counted)
        json_bool(json_key(out, "collect"), false);
    write_compensation(out, &element->config.compensation);
}

static void write_element(struct json_out *out, const struct element *element)
{
    const struct step_config *config = &element->config;
    json_open(out, '{');
    write_text(out, element_kind_name(element->kind), element->name);
    if (element->kind == ELEMENT_STEP)
        write_task(out, element);
    if (element->kind == ELEMENT_START)
        write_start(out, element);
    if (element->kind == ELEMENT_MAP)
        write_map(out, element);
    if (element->kind == ELEMENT_CONDITION)
        write_condition(out, element);
    if (element->kind == ELEMENT_FORK)
        write_fork(out, element);
    if (element->kind == ELEMENT_PARALLEL)
        write_parallel(out, element);
    if (element->kind == ELEMENT_SLEEP)
        write_duration(out, "for", config->for_us);
    if (config->event)
        write_text(out, "event", config->event);
    if (config->timeout_us)
        write_duration(out, "timeout", config->timeout_us);
    if (config->is_timeout_continue)
        write_text(out, "on_timeout", "continue");
    if (config->on_failure != POLICY_DEFAULT)
        write_text(out, "on_failure", policy_name(config->on_failure));
    if (config->input)
        json_raw(json_key(out, "input"), config->input);
    if (config->output)
        json_raw(json_key(out, "output"), config->output);
    if (config->group)
        json_raw(json_key(out, "group"), config->group);
    write_metadata(out, element->metadata);
    json_close(out, '}');
}

static void write_list(struct json_out *out, const struct element_list *list)
{
    json_open(out, '[');
    for (const struct element *element = list->first; element; element = element->next)
        write_element(out, element);
    json_close(out, ']');
}

static void write_input(struct json_out *out, const struct workflow *workflow)
{
    if (!workflow->input_schema && !workflow->input_example)
        return;
    json_open(json_key(out, "input"), '{');
    if (workflow->input_schema)
        json_raw(json_key(out, "schema"), workflow->input_schema);
    if (workflow->input_example)
        json_raw(json_key(out, "example"), workflow->input_example);
    json_close(out, '}');
}

static void write_workflow(struct json_out *out, const struct workflow *workflow)
{
    json_open(out, '{');
    write_text(out, workflow->is_function ? "function" : "workflow", workflow->name);
    json_int(json_key(out, "version"), workflow->version);
    if (workflow->is_dlq)
        json_bool(json_key(out, "dlq"), true);
    write_input(out, workflow);
    if (workflow->is_function)
        write_attempts(out, workflow->elements.first->max_attempts, ATTEMPTS_DEFAULT, true);
    else
        write_list(json_key(out, "steps"), &workflow->elements);
    json_close(out, '}');
}

static void hash_text(const char *text, size_t len, char ret_hash[65])
{
    struct sha256_ctx context;
    uint8_t digest[SHA256_DIGEST_SIZE];
    sha256_init(&context);
    sha256_update(&context, len, (const uint8_t *)text);
    sha256_digest(&context, sizeof digest, digest);
    for (size_t i = 0; i < sizeof digest; i++)
        snprintf(ret_hash + 2 * i, 3, "%02x", digest[i]);
}

cairn_code canonical_write(struct arena *arena, const struct workflow *workflow,
                           const char **ret_content, char ret_hash[65], cairn_error *reterr)
{
    struct buf buf = {0};
    struct json_out out = {.buf = &buf};
    write_workflow(&out, workflow);
    const char *content = buf_keep(&buf, arena);
    if (!content)
        return fail_memory(reterr);
    hash_text(content, strlen(content), ret_hash);
    *ret_content = content;
    return CAIRN_OK;
}
