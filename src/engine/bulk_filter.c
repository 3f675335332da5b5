/* engine/bulk_filter.c - which objects a bulk action is about.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "base/clock.h"
#include "base/error.h"
#include "base/scan.h"
#include "engine/bulk.h"

#include <stdio.h>
#include <string.h>

static const struct bulk_action actions[] = {
    {BULK_INSTANCES, "pause", OP_PAUSE, false},  {BULK_INSTANCES, "resume", OP_RESUME, false},
    {BULK_INSTANCES, "retry", OP_RETRY, false},  {BULK_INSTANCES, "restart", OP_RESTART, false},
    {BULK_INSTANCES, "cancel", OP_CANCEL, true}, {BULK_INSTANCES, "abort", OP_ABORT, true},
    {BULK_JOBS, "retry", OP_JOB_RETRY, false},   {BULK_JOBS, "cancel", OP_JOB_CANCEL, false},
    {BULK_JOBS, "delete", OP_JOB_DELETE, false}, {BULK_DLQ, "requeue", OP_DLQ_REQUEUE, false},
    {BULK_DLQ, "cancel", OP_CANCEL, true},
};

static const char *const targets[] = {
    [BULK_INSTANCES] = "instances", [BULK_JOBS] = "jobs", [BULK_DLQ] = "dlq"};

const struct bulk_action *bulk_action_find(const char *target, const char *word)
{
    for (size_t i = 0; i < sizeof actions / sizeof *actions; i++)
        if (strcmp(targets[actions[i].target], target) == 0 &&
            strcmp(actions[i].word, word) == 0)
            return &actions[i];
    return NULL;
}

cairn_code bulk_action_refuse(const char *target, const char *word, cairn_error *reterr)
{
    char known[96] = "";
    for (size_t i = 0; i < sizeof actions / sizeof *actions; i++)
        if (strcmp(targets[actions[i].target], target) == 0)
            snprintf(known + strlen(known), sizeof known - strlen(known), " %s",
                     actions[i].word);
    fail(reterr, CAIRN_E_BAD_INPUT, "action \"%.64s\" does not exist for %s", word, target);
    return fail_hint(reterr, CAIRN_E_BAD_INPUT, "it is one of:%s", known);
}

/* ---- reading --------------------------------------------------------------------------------- */

/* The members of a filter, whatever its target. */
struct members {
    const char *status, *workflow, *type, *key, *q, *has, *due, *group, *step, *instance,
        *parent, *stand;
    int64_t version, from_us, to_us;
    struct texts {
        const char *const *items;
        size_t count;
    } tags;
};

enum kind { TEXT, TEXTS, NUMBER, TIME };

static const struct member {
    const char *name;
    enum kind kind;
    unsigned targets;
    size_t offset;
} members[] = {
#define ON(target) (1u << BULK_##target)
#define MEMBER(name, kind, targets, member)                   \
    {                                                         \
        name, kind, targets, offsetof(struct members, member) \
    }
    MEMBER("status", TEXT, ON(INSTANCES) | ON(JOBS), status),
    MEMBER("workflow", TEXT, ON(INSTANCES) | ON(DLQ), workflow),
    MEMBER("version", NUMBER, ON(INSTANCES), version),
    MEMBER("parent", TEXT, ON(INSTANCES), parent),
    MEMBER("stand", TEXT, ON(INSTANCES), stand),
    MEMBER("type", TEXT, ON(JOBS), type),
    MEMBER("key", TEXT, ON(INSTANCES) | ON(JOBS), key),
    MEMBER("q", TEXT, ON(INSTANCES) | ON(JOBS), q),
    MEMBER("has", TEXT, ON(INSTANCES) | ON(JOBS), has),
    MEMBER("tag", TEXTS, ON(INSTANCES) | ON(JOBS), tags),
    MEMBER("due", TEXT, ON(JOBS), due),
    MEMBER("group", TEXT, ON(INSTANCES) | ON(JOBS) | ON(DLQ), group),
    MEMBER("step", TEXT, ON(DLQ), step),
    MEMBER("instance", TEXT, ON(DLQ), instance),
    MEMBER("created_from", TIME, ON(INSTANCES) | ON(JOBS), from_us),
    MEMBER("created_to", TIME, ON(INSTANCES) | ON(JOBS), to_us),
};

/* A text, or a list of texts. */
static bool read_texts(struct slice value, struct arena *arena, struct texts *ret_texts)
{
    struct scan scan;
    size_t room = slice_is_string(value) ? 1 : scan_count(value), count = 0;
    const char **items = arena_array(arena, room, sizeof *items);
    bool is_read = items && room <= TAGS_MAX;
    if (is_read && slice_is_string(value))
        items[count++] = slice_string(value, arena);
    else if (is_read && (is_read = scan_list(value, &scan)))
        while (is_read && scan_item(&scan, &value)) {
            items[count] = slice_is_string(value) ? slice_string(value, arena) : NULL;
            is_read = items[count++] != NULL;
        }
    *ret_texts = (struct texts){.items = items, .count = count};
    return is_read && count && items[0];
}

static cairn_code read_value(const struct member *member, struct slice value,
                             struct arena *arena, struct members *to, cairn_error *reterr)
{
    char text[64];
    void *at = (char *)to + member->offset;
    bool is_read = true;
    if (member->kind == TEXT) {
        const char *copy = slice_is_string(value) ? slice_string(value, arena) : NULL;
        is_read = copy && copy[0];
        memcpy(at, &copy, sizeof copy);
    } else if (member->kind == TEXTS) {
        is_read = read_texts(value, arena, at);
    } else if (member->kind == NUMBER) {
        is_read = slice_int(value, at) && *(int64_t *)at > 0 && *(int64_t *)at <= INT32_MAX;
    } else {
        is_read = slice_unescape(value, text, sizeof text) && instant_parse(text, at);
    }
    return is_read ? CAIRN_OK
                   : fail(reterr, CAIRN_E_BAD_INPUT, "filter.%s is not as it must be",
                          member->name);
}

static cairn_code read_members(enum bulk_target target, const char *json, struct arena *arena,
                               struct members *to, cairn_error *reterr)
{
    struct slice object, key, value;
    struct scan scan;
    if (!scan_text(json, strlen(json), &object) || !scan_object(object, &scan))
        return fail(reterr, CAIRN_E_BAD_INPUT, "filter is not an object");
    while (scan_member(&scan, &key, &value)) {
        const struct member *member = members,
                            *end = members + sizeof members / sizeof *members;
        while (member < end && !slice_is(key, member->name))
            member++;
        if (member == end || !(member->targets & 1u << target))
            return fail(reterr, CAIRN_E_BAD_INPUT, "filter.%.*s is unknown for %s",
                        key.len < 64 ? (int)key.len : 64, key.text, targets[target]);
        if (!slice_is(value, "null"))
            TRY(read_value(member, value, arena, to, reterr));
    }
    return CAIRN_OK;
}

cairn_code bulk_filter_read(enum bulk_target target, const char *json, struct arena *arena,
                            struct bulk_filter *ret_filter, cairn_error *reterr)
{
    struct members in = {0};
    *ret_filter = (struct bulk_filter){0};
    TRY(read_members(target, json, arena, &in, reterr));
    if (in.due && strcmp(in.due, "true") != 0 && strcmp(in.due, "false") != 0)
        return fail(reterr, CAIRN_E_BAD_INPUT, "filter.due must be true or false");
    if (parent_flaw(in.parent))
        return fail(reterr, CAIRN_E_BAD_INPUT, "filter.parent %s", parent_flaw(in.parent));
    if (stand_flaw(in.stand))
        return fail(reterr, CAIRN_E_BAD_INPUT, "filter.stand %s", stand_flaw(in.stand));
    cairn_job_filter job = {.status = in.status,
                            .type = in.type,
                            .key = in.key,
                            .q = in.q,
                            .has = in.has,
                            .due = in.due,
                            .created_from_us = in.from_us,
                            .created_to_us = in.to_us,
                            .tags = in.tags.items,
                            .tag_count = in.tags.count};
    cairn_instance_filter instance = {.status = in.status,
                                      .workflow = in.workflow,
                                      .version = (int32_t)in.version,
                                      .parent = in.parent,
                                      .stand = in.stand,
                                      .key = in.key,
                                      .q = in.q,
                                      .has = in.has,
                                      .created_from_us = in.from_us,
                                      .created_to_us = in.to_us,
                                      .tags = in.tags.items,
                                      .tag_count = in.tags.count};
    if (target == BULK_JOBS)
        TRY(list_filter_of_jobs(&job, arena, &ret_filter->list, reterr));
    else if (target == BULK_INSTANCES)
        TRY(list_filter_of_instances(&instance, arena, &ret_filter->list, reterr));
    ret_filter->list.group = in.group;
    ret_filter->list.is_row = true;
    ret_filter->dlq = (struct dlq_filter){.instance_id = in.instance,
                                          .workflow = in.workflow,
                                          .step = in.step,
                                          .group = in.group};
    return CAIRN_OK;
}

/* ---- finding --------------------------------------------------------------------------------- */

static cairn_code find_jobs(struct store_tx *tx, const struct list_filter *filter,
                            struct bulk_object *ret_objects, size_t room,
                            struct list_end *ret_end, cairn_error *reterr)
{
    struct job_row *rows = arena_array(tx->arena, room, sizeof *rows);
    NEED(rows, reterr);
    TRY(list_jobs(tx, filter, rows, room, ret_end, reterr));
    for (size_t i = 0; i < ret_end->count; i++)
        ret_objects[i] = (struct bulk_object){.id = rows[i].id, .seq = rows[i].seq};
    return CAIRN_OK;
}

static cairn_code find_instances(struct store_tx *tx, const struct list_filter *filter,
                                 struct bulk_object *ret_objects, size_t room,
                                 struct list_end *ret_end, cairn_error *reterr)
{
    struct instance_row *rows = arena_array(tx->arena, room, sizeof *rows);
    NEED(rows, reterr);
    TRY(list_instances(tx, filter, rows, room, ret_end, reterr));
    for (size_t i = 0; i < ret_end->count; i++)
        ret_objects[i] = (struct bulk_object){.id = rows[i].id, .seq = rows[i].seq};
    return CAIRN_OK;
}

static cairn_code find_records(struct store_tx *tx, const struct dlq_filter *filter,
                               struct bulk_object *ret_objects, size_t room,
                               struct list_end *ret_end, cairn_error *reterr)
{
    struct dlq_row *rows = arena_array(tx->arena, room, sizeof *rows);
    NEED(rows, reterr);
    TRY(list_records(tx, filter, rows, room, ret_end, reterr));
    for (size_t i = 0; i < ret_end->count; i++) {
        ret_objects[i] =
            (struct bulk_object){.id = arena_printf(tx->arena, "%lld", (long long)rows[i].id),
                                 .seq = rows[i].id,
                                 .input = rows[i].input,
                                 .instance_id = rows[i].instance_id};
        NEED(ret_objects[i].id, reterr);
    }
    return CAIRN_OK;
}

cairn_code bulk_find(struct store_tx *tx, enum bulk_target target,
                     const struct bulk_filter *filter, int64_t before,
                     struct bulk_object *ret_objects, size_t room, size_t *ret_count,
                     int64_t *ret_next, cairn_error *reterr)
{
    struct bulk_filter now = *filter;
    struct list_end end = {0};
    now.list.before_seq = now.dlq.before_id = before;
    if (target == BULK_JOBS)
        TRY(find_jobs(tx, &now.list, ret_objects, room, &end, reterr));
    else if (target == BULK_INSTANCES)
        TRY(find_instances(tx, &now.list, ret_objects, room, &end, reterr));
    else
        TRY(find_records(tx, &now.dlq, ret_objects, room, &end, reterr));
    *ret_count = end.count;
    *ret_next = end.next;
    return CAIRN_OK;
}
