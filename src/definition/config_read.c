/* definition/config_read.c - reads a step's config JSON back.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * On the hot path: the text is read where it lies.  Only what config.c writes is expected here;
 * anything else means that the row was changed by hand.
 */
#include "base/clock.h"
#include "base/error.h"
#include "base/json.h"
#include "base/scan.h"
#include "definition/element.h"

#include <string.h>

struct config_reading {
    struct arena *arena;
    bool is_bad, is_out_of_memory;
};

static int64_t read_int(struct config_reading *r, struct slice value)
{
    int64_t number = 0;
    if (!slice_int(value, &number))
        r->is_bad = true;
    return number;
}

static int32_t read_int32(struct config_reading *r, struct slice value)
{
    int64_t number = read_int(r, value);
    if (number < INT32_MIN || number > INT32_MAX)
        r->is_bad = true;
    return (int32_t)number;
}

static int64_t read_ms(struct config_reading *r, struct slice value)
{
    int64_t ms = read_int(r, value);
    if (ms < 0 || ms > INSTANT_MAX / US_PER_MS) {
        r->is_bad = true;
        return 0;
    }
    return ms * US_PER_MS;
}

static bool read_bool(struct config_reading *r, struct slice value)
{
    bool is_true = slice_is(value, "true");
    if (!is_true && !slice_is(value, "false"))
        r->is_bad = true;
    return is_true;
}

static const char *read_text(struct config_reading *r, struct slice value)
{
    if (!slice_is_string(value)) {
        r->is_bad = true;
        return NULL;
    }
    const char *text = slice_string(value, r->arena);
    if (!text)
        r->is_out_of_memory = true;
    return text;
}

static double read_fraction(struct config_reading *r, struct slice value)
{
    char text[40];
    double number = 0;
    if (value.len >= sizeof text) {
        r->is_bad = true;
        return 0;
    }
    memcpy(text, value.text, value.len);
    text[value.len] = '\0';
    if (!fraction_read(text, &number) || !(number >= 0 && number <= 1))
        r->is_bad = true;
    return number;
}

/* Our own words contain no escapes, so the bytes are compared. */
static bool is_word(struct slice value, const char *word)
{
    size_t len = strlen(word);
    return value.len == len + 2 && value.text[0] == '"' &&
           memcmp(value.text + 1, word, len) == 0;
}

static enum failure_policy read_policy(struct config_reading *r, struct slice value)
{
    for (enum failure_policy policy = POLICY_FAIL; policy <= POLICY_COMPENSATE; policy++)
        if (is_word(value, policy_name(policy)))
            return policy;
    r->is_bad = true;
    return POLICY_DEFAULT;
}

static enum backoff_kind read_backoff(struct config_reading *r, struct slice value)
{
    for (enum backoff_kind kind = BACKOFF_FIXED; kind <= BACKOFF_QUADRATIC; kind++)
        if (is_word(value, backoff_name(kind)))
            return kind;
    r->is_bad = true;
    return BACKOFF_FIXED;
}

static struct place_range read_range(struct config_reading *r, struct slice value)
{
    struct place_range range = {-1, -1};
    struct scan scan;
    struct slice first, last;
    if (scan_list(value, &scan) && scan_item(&scan, &first) && scan_item(&scan, &last)) {
        range.first = read_int32(r, first);
        range.last = read_int32(r, last);
    } else {
        r->is_bad = true;
    }
    return range;
}

/* Opens a list: an array with room for its items, or NULL. */
static void *open_list(struct config_reading *r, struct slice value, size_t size,
                       struct scan *ret_scan, size_t *ret_room)
{
    *ret_room = scan_count(value);
    if (!scan_list(value, ret_scan)) {
        r->is_bad = true;
        return NULL;
    }
    void *items = arena_array(r->arena, *ret_room, size);
    if (!items)
        r->is_out_of_memory = true;
    return items;
}

static void read_branches(struct config_reading *r, struct slice value,
                          struct step_config *config)
{
    struct scan scan;
    struct slice item;
    size_t room;
    config->branches = open_list(r, value, sizeof *config->branches, &scan, &room);
    while (config->branches && config->branch_count < room && scan_item(&scan, &item))
        config->branches[config->branch_count++] = read_range(r, item);
}

static void read_places(struct config_reading *r, struct slice value, struct place_list *ret)
{
    struct scan scan;
    struct slice item;
    size_t room;
    ret->items = open_list(r, value, sizeof *ret->items, &scan, &room);
    while (ret->items && ret->count < room && scan_item(&scan, &item))
        ret->items[ret->count++] = read_int32(r, item);
}

static const char *read_json(struct config_reading *r, struct slice value)
{
    const char *json = slice_json(value, r->arena);
    if (!json)
        r->is_out_of_memory = true;
    return json;
}

static struct scan open_object(struct config_reading *r, struct slice value)
{
    struct scan scan = {0};
    if (!scan_object(value, &scan))
        r->is_bad = true;
    return scan;
}

static void read_retry(struct config_reading *r, struct slice value, struct backoff *retry)
{
    struct scan scan = open_object(r, value);
    struct slice key, member;
    while (scan_member(&scan, &key, &member)) {
        if (slice_is(key, "backoff"))
            retry->kind = read_backoff(r, member);
        else if (slice_is(key, "base_ms"))
            retry->base_us = read_ms(r, member);
        else if (slice_is(key, "max_ms"))
            retry->max_us = read_ms(r, member);
        else if (slice_is(key, "jitter"))
            retry->jitter = read_fraction(r, member);
    }
}

static void read_compensation(struct config_reading *r, struct slice value,
                              struct compensation_config *compensation)
{
    struct scan scan = open_object(r, value);
    struct slice key, member;
    while (scan_member(&scan, &key, &member)) {
        if (slice_is(key, "handler"))
            compensation->handler = read_text(r, member);
        else if (slice_is(key, "max_attempts"))
            compensation->max_attempts = read_int32(r, member);
        else if (slice_is(key, "retry"))
            read_retry(r, member, &compensation->retry);
        else if (slice_is(key, "timeout_ms"))
            compensation->timeout_us = read_ms(r, member);
        else if (slice_is(key, "idempotent"))
            compensation->is_idempotent = read_bool(r, member);
        else if (slice_is(key, "metadata"))
            compensation->metadata = read_json(r, member);
    }
}

static void read_data(struct config_reading *r, struct slice key, struct slice value,
                      struct step_config *config)
{
    if (slice_is(key, "input"))
        config->input = read_json(r, value);
    else if (slice_is(key, "output"))
        config->output = read_json(r, value);
    else if (slice_is(key, "group"))
        config->group = read_json(r, value);
    else if (slice_is(key, "group_reads"))
        read_places(r, value, &config->group_reads);
    else if (slice_is(key, "reads"))
        read_places(r, value, &config->reads);
    else if (slice_is(key, "output_reads"))
        read_places(r, value, &config->output_reads);
}

static void read_structure(struct config_reading *r, struct slice key, struct slice value,
                           struct step_config *config)
{
    if (slice_is(key, "when"))
        config->when = read_text(r, value);
    else if (slice_is(key, "then"))
        config->then_list = read_range(r, value);
    else if (slice_is(key, "else"))
        config->else_list = read_range(r, value);
    else if (slice_is(key, "branches"))
        read_branches(r, value, config);
    else if (slice_is(key, "join"))
        config->join = read_int32(r, value);
    else if (slice_is(key, "any"))
        config->is_any = read_bool(r, value);
    else if (slice_is(key, "fork"))
        config->fork = read_int32(r, value);
    else
        read_data(r, key, value, config);
}

static bool read_child(struct config_reading *r, struct slice key, struct slice value,
                       struct child_config *child)
{
    if (slice_is(key, "workflow"))
        child->workflow = read_text(r, value);
    else if (slice_is(key, "version"))
        child->version = read_int32(r, value);
    else if (slice_is(key, "key"))
        child->key = read_json(r, value);
    else if (slice_is(key, "tags"))
        child->tags = read_json(r, value);
    else if (slice_is(key, "key_reads"))
        read_places(r, value, &child->key_reads);
    else if (slice_is(key, "tags_reads"))
        read_places(r, value, &child->tags_reads);
    else if (slice_is(key, "wait"))
        child->is_left = !read_bool(r, value);
    else if (slice_is(key, "child"))
        child->is_own = read_bool(r, value);
    else if (slice_is(key, "over"))
        child->over = read_json(r, value);
    else if (slice_is(key, "max_parallel"))
        child->max_parallel = read_int32(r, value);
    else if (slice_is(key, "at_least"))
        child->at_least = read_int32(r, value);
    else if (slice_is(key, "collect"))
        child->is_counted = !read_bool(r, value);
    else
        return false;
    return true;
}

static void read_member(struct config_reading *r, struct slice key, struct slice value,
                        struct step_config *config)
{
    if (slice_is(key, "retry"))
        read_retry(r, value, &config->retry);
    else if (slice_is(key, "timeout_ms"))
        config->timeout_us = read_ms(r, value);
    else if (slice_is(key, "on_failure"))
        config->on_failure = read_policy(r, value);
    else if (slice_is(key, "idempotent"))
        config->is_idempotent = read_bool(r, value);
    else if (slice_is(key, "compensation"))
        read_compensation(r, value, &config->compensation);
    else if (slice_is(key, "for_ms"))
        config->for_us = read_ms(r, value);
    else if (slice_is(key, "event"))
        config->event = read_text(r, value);
    else if (slice_is(key, "on_timeout"))
        config->is_timeout_continue = is_word(value, "continue");
    else if (!read_child(r, key, value, &config->child))
        read_structure(r, key, value, config);
}

struct step_config config_default(void)
{
    return (struct step_config){
        .retry = backoff_for_steps,
        .is_idempotent = true,
        .compensation = {.retry = backoff_for_steps,
                         .is_idempotent = true,
                         .max_attempts = ATTEMPTS_DEFAULT},
        .child = {.max_parallel = PARALLEL_DEFAULT},
        .then_list = {-1, -1},
        .else_list = {-1, -1},
        .join = -1,
        .fork = -1,
    };
}

cairn_code step_config_read(struct arena *arena, const char *config,
                            struct step_config *ret_config, cairn_error *reterr)
{
    struct step_config read = config_default();
    struct config_reading r = {.arena = arena};
    struct slice text = {0}, key, value;
    struct scan scan = {0};
    if (config && scan_text(config, strlen(config), &text))
        scan = open_object(&r, text);
    else if (config)
        r.is_bad = true;
    while (scan_member(&scan, &key, &value))
        read_member(&r, key, value, &read);
    if (r.is_out_of_memory)
        return fail_memory(reterr);
    if (r.is_bad)
        return fail(reterr, CAIRN_E_STORE, "a step's config is not what Cairn has written");
    *ret_config = read;
    return CAIRN_OK;
}
