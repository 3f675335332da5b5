/* definition/config.c - writes a step's config JSON for the plan.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "base/clock.h"
#include "base/json.h"
#include "definition/element.h"

#include <stdio.h>

/* An object that is opened by its first key, so that an empty one is not written. */
struct object {
    struct json_out out;
    bool is_open;
};

static struct json_out *key(struct object *object, const char *name)
{
    if (!object->is_open)
        json_open(&object->out, '{');
    object->is_open = true;
    return json_key(&object->out, name);
}

static void close_object(struct object *object)
{
    if (object->is_open)
        json_close(&object->out, '}');
}

static void write_ms(struct object *object, const char *name, int64_t us)
{
    if (us)
        json_int(key(object, name), us / US_PER_MS);
}

static void write_retry(struct json_out *out, const struct backoff *retry)
{
    json_open(out, '{');
    json_str(json_key(out, "backoff"), backoff_name(retry->kind));
    json_int(json_key(out, "base_ms"), retry->base_us / US_PER_MS);
    json_int(json_key(out, "max_ms"), retry->max_us / US_PER_MS);
    json_fraction(json_key(out, "jitter"), retry->jitter);
    json_close(out, '}');
}

void config_write_compensation(struct json_out *out,
                               const struct compensation_config *compensation)
{
    struct object object = {.out = {.buf = out->buf}};
    json_str(key(&object, "handler"), compensation->handler);
    if (compensation->max_attempts != ATTEMPTS_DEFAULT)
        json_int(key(&object, "max_attempts"), compensation->max_attempts);
    if (!backoff_is_default(&compensation->retry))
        write_retry(key(&object, "retry"), &compensation->retry);
    write_ms(&object, "timeout_ms", compensation->timeout_us);
    if (!compensation->is_idempotent)
        json_bool(key(&object, "idempotent"), false);
    if (compensation->metadata)
        json_raw(key(&object, "metadata"), compensation->metadata);
    close_object(&object);
    out->needs_comma = true;
}

static void write_range(struct json_out *out, const struct element_list *list)
{
    json_open(out, '[');
    json_int(out, list->first->place);
    json_int(out, list->last->last);
    json_close(out, ']');
}

static void write_fork(struct object *object, const struct element *element)
{
    struct json_out *out = key(object, "branches");
    json_open(out, '[');
    for (size_t i = 0; i < element->list_count; i++)
        write_range(out, &element->lists[i]);
    json_close(out, ']');
    json_int(key(object, "join"), element->join_place);
}

static void write_condition(struct object *object, const struct element *element)
{
    json_str(key(object, "when"), element->config.when);
    if (element->lists[0].count)
        write_range(key(object, "then"), &element->lists[0]);
    if (element->lists[1].count)
        write_range(key(object, "else"), &element->lists[1]);
}

static void write_task(struct object *object, const struct step_config *config)
{
    if (!backoff_is_default(&config->retry))
        write_retry(key(object, "retry"), &config->retry);
    if (!config->is_idempotent)
        json_bool(key(object, "idempotent"), false);
    if (config->compensation.handler)
        config_write_compensation(key(object, "compensation"), &config->compensation);
}

static void write_places(struct json_out *out, const struct named_steps *steps)
{
    for (size_t i = 0; i < steps->count; i++) {
        const struct named_step *step = &steps->items[i];
        json_int(out, step->is_join ? step->element->join_place : step->element->place);
    }
}

/* more: of another template that is made from the same outputs; may be NULL */
static void write_reads(struct object *object, const char *name,
                        const struct named_steps *steps, const struct named_steps *more)
{
    if (steps->count + (more ? more->count : 0) == 0)
        return;
    struct json_out *out = key(object, name);
    json_open(out, '[');
    write_places(out, steps);
    if (more)
        write_places(out, more);
    json_close(out, ']');
}

static void write_data(struct object *object, const struct element *element)
{
    if (element->config.input)
        json_raw(key(object, "input"), element->config.input);
    if (element->config.output)
        json_raw(key(object, "output"), element->config.output);
    if (element->config.group)
        json_raw(key(object, "group"), element->config.group);
    write_reads(object, "reads", &element->reads, &element->over_reads);
    write_reads(object, "group_reads", &element->group_reads, NULL);
    write_reads(object, "key_reads", &element->key_reads, NULL);
    write_reads(object, "output_reads", &element->output_reads, NULL);
    write_reads(object, "tags_reads", &element->tags_reads, NULL);
}

static void write_start(struct object *object, const struct step_config *config)
{
    const struct child_config *child = &config->child;
    json_str(key(object, "workflow"), child->workflow);
    if (child->version)
        json_int(key(object, "version"), child->version);
    if (child->key)
        json_raw(key(object, "key"), child->key);
    if (child->tags)
        json_raw(key(object, "tags"), child->tags);
    if (child->is_left)
        json_bool(key(object, "wait"), false);
    if (config->compensation.handler)
        config_write_compensation(key(object, "compensation"), &config->compensation);
}

static void write_map(struct object *object, const struct step_config *config)
{
    const struct child_config *child = &config->child;
    json_raw(key(object, "over"), child->over);
    if (child->max_parallel != PARALLEL_DEFAULT)
        json_int(key(object, "max_parallel"), child->max_parallel);
    if (child->at_least)
        json_int(key(object, "at_least"), child->at_least);
    if (child->is_counted)
        json_bool(key(object, "collect"), false);
    if (config->compensation.handler)
        config_write_compensation(key(object, "compensation"), &config->compensation);
}

void config_write(struct buf *buf, const struct element *element)
{
    const struct step_config *config = &element->config;
    struct object object = {.out = {.buf = buf}};
    if (element->kind == ELEMENT_STEP)
        write_task(&object, config);
    if (element->kind == ELEMENT_START)
        write_start(&object, config);
    if (element->kind == ELEMENT_MAP)
        write_map(&object, config);
    if (element->kind == ELEMENT_CONDITION)
        write_condition(&object, element);
    if (element_is_fork(element))
        write_fork(&object, element);
    if (element->kind == ELEMENT_SLEEP)
        json_int(key(&object, "for_ms"), config->for_us / US_PER_MS);
    if (config->event)
        json_str(key(&object, "event"), config->event);
    write_ms(&object, "timeout_ms", config->timeout_us);
    if (config->is_timeout_continue)
        json_str(key(&object, "on_timeout"), "continue");
    if (config->on_failure != POLICY_DEFAULT)
        json_str(key(&object, "on_failure"), policy_name(config->on_failure));
    write_data(&object, element);
    close_object(&object);
}

/* A join names a branch by the row that ends its last element. */
static void write_wait_for(struct json_out *out, const struct element *last)
{
    char name[NAME_BYTES_MAX + sizeof CONDITION_PREFIX];
    if (last->kind == ELEMENT_CONDITION) {
        snprintf(name, sizeof name, "%s%s", CONDITION_PREFIX, last->name);
        json_str(out, name);
    } else {
        json_str(out, last->join_name ? last->join_name : last->name);
    }
}

void config_write_join(struct buf *buf, const struct element *fork)
{
    struct object object = {.out = {.buf = buf}};
    if (fork->join == JOIN_ANY)
        json_bool(key(&object, "any"), true);
    json_int(key(&object, "fork"), fork->place);
    struct json_out *out = key(&object, "wait_for");
    json_open(out, '[');
    for (size_t i = 0; i < fork->list_count; i++)
        write_wait_for(out, fork->lists[i].last);
    json_close(out, ']');
    close_object(&object);
}
