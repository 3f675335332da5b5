/* engine/list_filter.c - what a list of jobs or instances is asked for: checked, then read.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "base/error.h"
#include "core/instance.h"
#include "core/job.h"
#include "engine/check.h"
#include "engine/read.h"

#include <stdlib.h>
#include <string.h>

/* ---- statuses ------------------------------------------------------------------------------- */

static bool is_final(enum list_kind kind, int status)
{
    return kind == LIST_JOBS ? job_is_final((enum job_status)status)
                             : instance_is_final((enum instance_status)status);
}

static cairn_code no_such_status(enum list_kind kind, const char *text, size_t len,
                                 cairn_error *reterr)
{
    cairn_code code = fail(reterr, CAIRN_E_BAD_INPUT, "status \"%.*s\" does not exist",
                           len < 64 ? (int)len : 64, text);
    return fail_hint(reterr, code, "%s",
                     kind == LIST_JOBS
                         ? "pending, leased, succeeded, failed or cancelled; active or ended"
                         : "pending, running, waiting_signal, paused, compensating, dlq, "
                           "completed, failed, cancelled or aborted; active or ended");
}

static uint32_t status_bits(enum list_kind kind, const char *text, size_t len)
{
    const struct words *words = kind == LIST_JOBS ? &job_status_words : &instance_status_words;
    bool is_active = len == 6 && memcmp(text, "active", 6) == 0;
    bool is_ended = len == 5 && memcmp(text, "ended", 5) == 0;
    uint32_t bits = 0;
    for (int i = 1; i < words->count; i++) {
        const char *name = words->names[i];
        if (is_active || is_ended ? is_final(kind, i) == is_ended
                                  : strlen(name) == len && memcmp(name, text, len) == 0)
            bits |= STATUS_BIT(i);
    }
    return bits;
}

/* "failed,dlq": the bits of each.  NULL: any. */
static cairn_code read_statuses(enum list_kind kind, const char *text, uint32_t *ret_statuses,
                                cairn_error *reterr)
{
    *ret_statuses = 0;
    while (text) {
        size_t len = strcspn(text, ",");
        uint32_t bits = status_bits(kind, text, len);
        if (!bits)
            return no_such_status(kind, text, len, reterr);
        *ret_statuses |= bits;
        text = text[len] ? text + len + 1 : NULL;
    }
    return CAIRN_OK;
}

/* ---- ids ------------------------------------------------------------------------------------ */

/* What is no id is left out, since nothing has it. */
static cairn_code read_ids(struct arena *arena, const char *text, struct list_filter *filter,
                           cairn_error *reterr)
{
    const char **ids = arena_array(arena, LIST_IDS_MAX, sizeof *ids);
    size_t given = 0;
    NEED(ids, reterr);
    filter->ids = ids;
    while (text) {
        size_t len = strcspn(text, ",");
        char *id = arena_strndup(arena, text, len);
        NEED(id, reterr);
        if (++given > LIST_IDS_MAX)
            return fail(reterr, CAIRN_E_BAD_INPUT, "ids has more than %d entries",
                        (int)LIST_IDS_MAX);
        if (id_is_valid(id))
            ids[filter->id_count++] = id;
        text = text[len] ? text + len + 1 : NULL;
    }
    return CAIRN_OK;
}

/* ---- tags ----------------------------------------------------------------------------------- */

static cairn_code read_tags(struct arena *arena, const char *const *texts, size_t count,
                            struct list_filter *filter, cairn_error *reterr)
{
    if (count > TAGS_MAX)
        return fail(reterr, CAIRN_E_BAD_INPUT, "tag is given %zu times; %d are allowed", count,
                    (int)TAGS_MAX);
    struct tag *tags = arena_array(arena, count, sizeof *tags);
    NEED(tags || !count, reterr);
    for (size_t i = 0; i < count; i++)
        TRY(tag_read(texts[i], arena, &tags[i], reterr));
    filter->tags = tags;
    filter->tag_count = count;
    return CAIRN_OK;
}

/* ---- parents -------------------------------------------------------------------------------- */

/* The word for instances that have none; no id is like it. */
static bool is_no_parent(const char *parent)
{
    return parent && strcmp(parent, "none") == 0;
}

const char *parent_flaw(const char *parent)
{
    bool is_well = !parent || id_is_valid(parent) || is_no_parent(parent);
    return is_well ? NULL : "must be the id of an instance, or none";
}

const char *stand_flaw(const char *stand)
{
    bool is_well = !stand || stand_from(stand);
    return is_well ? NULL : "must be lost, running, retrying, sleeping or waiting";
}

/* ---- whole filters -------------------------------------------------------------------------- */

static cairn_code check_common(struct check *check, const char *key, const char *q,
                               const char *has, int64_t from_us, int64_t to_us)
{
    if (key)
        TRY(check_pattern(check, "key", key));
    TRY(check_optional(check, "q", q));
    TRY(check_optional(check, "has", has));
    TRY(check_range(check, "created_from_us", from_us, 0, INSTANT_MAX));
    return check_range(check, "created_to_us", to_us, 0, INSTANT_MAX);
}

/* Of a group: 12 hexadecimal digits. */
cairn_code check_group(struct check *check, const char *group)
{
    if (group && (strlen(group) != 12 || strspn(group, "0123456789abcdef") != 12))
        return check_bad(
            check, "group",
            "must be a group of errors, 12 hexadecimal digits, as `cairn errors` and "
            "GET /v1/errors name it");
    return CAIRN_OK;
}

static cairn_code read_job_filter(const cairn_job_filter *in, struct arena *arena,
                                  struct list_filter *ret_filter, cairn_error *reterr)
{
    *ret_filter = (struct list_filter){
        .pattern = in->type,
        .key = in->key,
        .q = in->q,
        .has = in->has,
        .due = !in->due                       ? DUE_ANY
               : strcmp(in->due, "true") == 0 ? DUE_NOW
                                              : DUE_LATER,
        .from_us = in->created_from_us,
        .to_us = in->created_to_us,
        .before_seq = in->cursor ? strtoll(in->cursor, NULL, 10) : 0,
    };
    TRY(read_statuses(LIST_JOBS, in->status, &ret_filter->statuses, reterr));
    TRY(read_tags(arena, in->tags, in->tag_count, ret_filter, reterr));
    return in->ids ? read_ids(arena, in->ids, ret_filter, reterr) : CAIRN_OK;
}

static cairn_code read_instance_filter(const cairn_instance_filter *in, struct arena *arena,
                                       struct list_filter *ret_filter, cairn_error *reterr)
{
    *ret_filter = (struct list_filter){
        .workflow = in->workflow,
        .version = in->version,
        .parent = is_no_parent(in->parent) ? NULL : in->parent,
        .is_root = is_no_parent(in->parent),
        .stand = stand_from(in->stand),
        .key = in->key,
        .q = in->q,
        .has = in->has,
        .from_us = in->created_from_us,
        .to_us = in->created_to_us,
        .before_seq = in->cursor ? strtoll(in->cursor, NULL, 10) : 0,
    };
    TRY(read_statuses(LIST_INSTANCES, in->status, &ret_filter->statuses, reterr));
    TRY(read_tags(arena, in->tags, in->tag_count, ret_filter, reterr));
    return in->ids ? read_ids(arena, in->ids, ret_filter, reterr) : CAIRN_OK;
}

cairn_code list_filter_of_jobs(const cairn_job_filter *in, struct arena *arena,
                               struct list_filter *ret_filter, cairn_error *reterr)
{
    return read_job_filter(in, arena, ret_filter, reterr);
}

cairn_code list_filter_of_instances(const cairn_instance_filter *in, struct arena *arena,
                                    struct list_filter *ret_filter, cairn_error *reterr)
{
    return read_instance_filter(in, arena, ret_filter, reterr);
}

cairn_code check_job_list(struct check *check)
{
    const cairn_job_filter *in = &check->request->in.job_list.filter;
    struct list_filter filter;
    TRY(check_number_page(check, in->cursor, in->limit));
    TRY(check_group(check, check->request->in.job_list.group));
    if (in->type)
        TRY(check_pattern(check, "type", in->type));
    if (in->due && strcmp(in->due, "true") != 0 && strcmp(in->due, "false") != 0)
        return check_bad(check, "due", "must be true or false");
    TRY(check_common(check, in->key, in->q, in->has, in->created_from_us, in->created_to_us));
    return read_job_filter(in, &check->request->arena, &filter, check->error);
}

cairn_code check_instance_list(struct check *check)
{
    const cairn_instance_filter *in = &check->request->in.instance_list.filter;
    struct list_filter filter;
    TRY(check_number_page(check, in->cursor, in->limit));
    TRY(check_group(check, check->request->in.instance_list.group));
    TRY(check_optional(check, "workflow", in->workflow));
    TRY(check_range(check, "version", in->version, 0, INT32_MAX));
    if (parent_flaw(in->parent))
        return check_bad(check, "parent", parent_flaw(in->parent));
    if (stand_flaw(in->stand))
        return check_bad(check, "stand", stand_flaw(in->stand));
    TRY(check_common(check, in->key, in->q, in->has, in->created_from_us, in->created_to_us));
    return read_instance_filter(in, &check->request->arena, &filter, check->error);
}

/* All of a kind are counted: there is no page. */
cairn_code check_job_counts(struct check *check)
{
    check->request->in.job_list.filter.limit = 1;
    return check_job_list(check);
}

/* By stand one workflow is counted, by what an index of it has and what its rows say. */
static cairn_code check_by(struct check *check)
{
    const struct instance_list_input *list = &check->request->in.instance_list;
    const cairn_instance_filter *in = &list->filter;
    bool is_id = in->parent && !is_no_parent(in->parent);
    if (!list->by || strcmp(list->by, "status") == 0)
        return CAIRN_OK;
    if (strcmp(list->by, "stand") != 0)
        return check_bad(check, "by", "must be status or stand");
    if (!in->workflow)
        return check_bad(check, "by", "stand needs a workflow");
    if (in->key || in->q || in->ids || in->tag_count || is_id)
        return check_bad(check, "by",
                         "cannot be stand with key, q, ids, tag or the id of a parent");
    return CAIRN_OK;
}

cairn_code check_instance_counts(struct check *check)
{
    check->request->in.instance_list.filter.limit = 1;
    TRY(check_by(check));
    return check_instance_list(check);
}

cairn_code check_find(struct check *check)
{
    return check_name(check, "q", check->request->in.find.q);
}

cairn_code list_filter_read(struct question *q, struct list_filter *ret_filter)
{
    const struct job_list_input *jobs = &q->request->in.job_list;
    const struct instance_list_input *instances = &q->request->in.instance_list;
    bool is_job = q->request->op == OP_JOB_LIST || q->request->op == OP_JOB_COUNTS;
    if (is_job)
        TRY(read_job_filter(&jobs->filter, q->arena, ret_filter, q->error));
    else
        TRY(read_instance_filter(&instances->filter, q->arena, ret_filter, q->error));
    ret_filter->is_row = is_job ? jobs->is_row : instances->is_row;
    ret_filter->group = is_job ? jobs->group : instances->group;
    return CAIRN_OK;
}
