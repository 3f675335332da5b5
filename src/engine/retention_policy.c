/* engine/retention_policy.c - the retention policy as it is asked for, shown and set; purges by hand.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "base/buf.h"
#include "base/json.h"
#include "base/scan.h"
#include "core/pattern.h"
#include "engine/retention.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* ---- the policy in JSON ---------------------------------------------------------------------- */

/* The member that a word of a kind means; NULL: it is no end. */
static int64_t *age_of(struct retention_row *row, enum list_kind kind, struct slice word)
{
    char text[32];
    if (word.len >= sizeof text)
        return NULL;
    memcpy(text, word.text, word.len);
    text[word.len] = '\0';
    return kind == LIST_JOBS ? retention_of_job(row, job_status_from(text))
                             : retention_of_instance(row, instance_status_from(text));
}

/* Milliseconds, or null: for ever. */
static bool read_age(struct slice value, int64_t *ret_age_ms)
{
    *ret_age_ms = RETENTION_NEVER;
    if (slice_is(value, "null"))
        return true;
    return slice_int(value, ret_age_ms) && *ret_age_ms >= 0 && *ret_age_ms <= RETENTION_MS_MAX;
}

/* Applies an object of ages to the row; false: it has another member or value. */
static bool read_ages(struct retention_row *row, enum list_kind kind, const char *json)
{
    struct slice object, word, value;
    struct scan scan;
    if (!json)
        return true;
    if (!scan_text(json, strlen(json), &object) || !scan_object(object, &scan))
        return false;
    while (scan_member(&scan, &word, &value)) {
        int64_t *age_ms = age_of(row, kind, word);
        if (!age_ms || !read_age(value, age_ms))
            return false;
    }
    return true;
}

static bool read_keys(struct retention_row *row, const char *json)
{
    struct slice value;
    return !json || (scan_text(json, strlen(json), &value) && read_age(value, &row->keys));
}

void retention_change(struct retention_row *row, const struct retention_input *in)
{
    read_ages(row, LIST_JOBS, in->jobs);
    read_ages(row, LIST_INSTANCES, in->instances);
    read_keys(row, in->keys_ms);
}

cairn_code check_retention(struct check *check)
{
    const struct retention_input *in = &check->request->in.retention;
    struct retention_row row = {0};
    if (!in->jobs && !in->instances && !in->keys_ms)
        return check_bad(check, "jobs", "or instances or keys_ms must be given");
    if (!read_ages(&row, LIST_JOBS, in->jobs))
        return check_bad(
            check, "jobs",
            "may have succeeded, failed and cancelled, each in milliseconds up to a "
            "hundred years, or null for ever");
    if (!read_ages(&row, LIST_INSTANCES, in->instances))
        return check_bad(
            check, "instances",
            "may have completed, failed, cancelled and aborted, each in milliseconds "
            "up to a hundred years, or null for ever");
    if (!read_keys(&row, in->keys_ms))
        return check_bad(check, "keys_ms",
                         "must be milliseconds up to a hundred years, or null for ever");
    return CAIRN_OK;
}

static void write_age(struct json_out *out, const char *word, int64_t age_ms)
{
    json_key(out, word);
    if (age_ms < 0)
        json_raw(out, NULL);
    else
        json_int(out, age_ms);
}

cairn_code retention_show(struct arena *arena, const struct retention_row *row,
                          struct retention_output *ret, cairn_error *reterr)
{
    struct buf jobs = {0}, instances = {0};
    struct json_out out = {.buf = &jobs};
    json_open(&out, '{');
    write_age(&out, "succeeded", row->jobs_succeeded);
    write_age(&out, "failed", row->jobs_failed);
    write_age(&out, "cancelled", row->jobs_cancelled);
    json_close(&out, '}');
    out = (struct json_out){.buf = &instances};
    json_open(&out, '{');
    write_age(&out, "completed", row->instances_completed);
    write_age(&out, "failed", row->instances_failed);
    write_age(&out, "cancelled", row->instances_cancelled);
    write_age(&out, "aborted", row->instances_aborted);
    json_close(&out, '}');
    *ret = (struct retention_output){
        .jobs = buf_keep(&jobs, arena),
        .instances = buf_keep(&instances, arena),
        .keys_ms = row->keys < 0 ? "null" : arena_printf(arena, "%" PRId64, row->keys),
        .set_at_us = row->set_at_us};
    NEED(ret->jobs && ret->instances && ret->keys_ms, reterr);
    return CAIRN_OK;
}

cairn_code answer_retention(struct question *q)
{
    struct retention_row row;
    TRY(STORE(q, get_retention, &row));
    return retention_show(q->arena, &row, &q->request->out.retention, q->error);
}

static bool is_same_policy(const struct retention_row *a, const struct retention_row *b)
{
    return a->jobs_succeeded == b->jobs_succeeded && a->jobs_failed == b->jobs_failed &&
           a->jobs_cancelled == b->jobs_cancelled &&
           a->instances_completed == b->instances_completed &&
           a->instances_failed == b->instances_failed &&
           a->instances_cancelled == b->instances_cancelled &&
           a->instances_aborted == b->instances_aborted && a->keys == b->keys;
}

/* What is left out stays as it is; the sweep begins anew if anything has changed. */
cairn_code batch_set_retention(struct batch *batch, struct request *request)
{
    struct retention_row row, old;
    TRY(STORE(batch, lock_retention, &row));
    old = row;
    retention_change(&row, &request->in.retention);
    if (is_same_policy(&row, &old))
        return retention_show(&request->arena, &row, &request->out.retention, batch->error);
    row.set_at_us = row.next_at_us = batch->tx->now_us;
    row.phase = SWEEP_JOBS;
    row.place = row.seen = row.earliest_us = 0;
    TRY(STORE(batch, put_retention, &row));
    batch->has_retention = true;
    return retention_show(&request->arena, &row, &request->out.retention, batch->error);
}

/* ---- purges by hand -------------------------------------------------------------------------- */

/* How much of a store is read for one answer, while nothing is found or only counted. */
enum { READ_MAX = 5000 };

static uint32_t read_statuses(const char *text, bool *ret_is_known)
{
    uint32_t bits = 0;
    *ret_is_known = true;
    for (const char *at = text; at && *ret_is_known;) {
        struct retention_row row = {0};
        size_t len = strcspn(at, ",");
        struct slice word = {at, len};
        char name[32];
        const int64_t *of_job = age_of(&row, LIST_JOBS, word);
        const int64_t *of_instance = age_of(&row, LIST_INSTANCES, word);
        *ret_is_known = len > 0 && (of_job || of_instance);
        if (!*ret_is_known)
            break;
        snprintf(name, sizeof name, "%.*s", (int)len, at);
        if (of_job)
            bits |= STATUS_BIT(job_status_from(name));
        if (of_instance)
            bits |= STATUS_BIT(instance_status_from(name)) << JOB_STATUS_COUNT;
        at = at[len] ? at + len + 1 : NULL;
    }
    return bits;
}

/* Where a purge goes on: a letter for the kind, and a number. */
static bool read_cursor(const char *cursor, enum list_kind *ret_kind, int64_t *ret_place)
{
    *ret_kind = LIST_JOBS;
    *ret_place = 0;
    if (!cursor)
        return true;
    *ret_kind = cursor[0] == 'i' ? LIST_INSTANCES : LIST_JOBS;
    return (cursor[0] == 'i' || cursor[0] == 'j') && number_id_read(cursor + 1, ret_place);
}

cairn_code check_purge(struct check *check)
{
    const struct purge_input *in = &check->request->in.purge;
    enum list_kind kind;
    int64_t place;
    bool is_known;
    if (in->older_than_ms < 0 && !in->status && !in->workflow && !in->type)
        return check_bad(check, "older_than_ms",
                         "or status, workflow or type must be given, or everything would go");
    if (in->older_than_ms > RETENTION_MS_MAX)
        return check_bad(check, "older_than_ms", "is more than a hundred years");
    read_statuses(in->status, &is_known);
    if (!is_known)
        return check_bad(
            check, "status",
            "must be succeeded, completed, failed, cancelled or aborted, or several "
            "with commas between them");
    TRY(check_optional(check, "workflow", in->workflow));
    if (in->type)
        TRY(check_pattern(check, "type", in->type));
    if (!read_cursor(in->cursor, &kind, &place))
        return check_bad(check, "cursor", "is not one of a purge");
    return CAIRN_OK;
}

/* Of a purge that names a workflow or a type, only these are looked at. */
static bool is_kind_wanted(const struct purge_input *in, enum list_kind kind)
{
    if (!in->workflow && !in->type)
        return true;
    return kind == LIST_JOBS ? in->type != NULL : in->workflow != NULL;
}

static bool is_asked_for(struct purge *purge, enum list_kind kind, const struct past_row *row,
                         int64_t *ret_due_us)
{
    const struct purge_input *in = purge->input;
    uint32_t bit = kind == LIST_JOBS
                       ? STATUS_BIT(job_status_from(row->status))
                       : STATUS_BIT(instance_status_from(row->status)) << JOB_STATUS_COUNT;
    int64_t age_ms = in->older_than_ms < 0 ? 0 : in->older_than_ms;
    *ret_due_us = retention_due_us(age_ms, row->ended_at_us);
    if (*ret_due_us > purge->batch->tx->now_us || (in->status && !(purge->statuses & bit)))
        return false;
    if (kind == LIST_JOBS)
        return !in->type || pattern_matches(in->type, row->name);
    return !in->workflow || strcmp(in->workflow, row->name) == 0;
}

/* One portion of one kind: *kind and *place move on.  *ret_is_over: there is nothing left of both. */
static cairn_code make_portion(struct purge *purge, enum list_kind *kind, int64_t *place,
                               bool *ret_is_over)
{
    bool is_over = !is_kind_wanted(purge->input, *kind);
    if (!is_over)
        TRY(purge_portion(purge, *kind, place, &is_over));
    *ret_is_over = is_over && *kind == LIST_INSTANCES;
    if (is_over && *kind == LIST_JOBS) {
        *kind = LIST_INSTANCES;
        *place = 0;
    }
    return CAIRN_OK;
}

/* If nobody goes on with what was begun, the next sweep does. */
static cairn_code leave_to_sweep(struct purge *purge)
{
    int64_t now_us = purge->batch->tx->now_us;
    if (!purge->marked || purge->policy.next_at_us <= now_us)
        return CAIRN_OK;
    purge->policy.next_at_us = now_us;
    return STORE(purge->batch, put_retention, &purge->policy);
}

/* OP_PURGE: one portion, or as many as are needed to find something, up to a limit. */
cairn_code batch_purge(struct batch *batch, struct request *request)
{
    const struct purge_input *in = &request->in.purge;
    struct purge_output *out = &request->out.purged;
    bool is_known;
    struct purge purge = {.batch = batch,
                          .wants = is_asked_for,
                          .input = in,
                          .statuses = read_statuses(in->status, &is_known),
                          .is_dry_run = in->is_dry_run,
                          .earliest_us = INT64_MAX};
    enum list_kind kind;
    int64_t place;
    bool is_over = false;
    *out = (struct purge_output){0};
    read_cursor(in->cursor, &kind, &place);
    TRY(STORE(batch, lock_retention, &purge.policy));
    TRY(workset_write_now(batch)); /* what timers have changed is in the store */
    while (!is_over && purge.read < READ_MAX &&
           (in->is_dry_run || (!purge.purged && !purge.marked))) {
        enum list_kind of = kind;
        size_t before = purge.purged;
        TRY(make_portion(&purge, &kind, &place, &is_over));
        *(of == LIST_JOBS ? &out->jobs : &out->instances) += (int64_t)(purge.purged - before);
    }
    TRY(leave_to_sweep(&purge));
    if (is_over)
        return CAIRN_OK;
    out->next =
        arena_printf(&request->arena, "%c%" PRId64, kind == LIST_JOBS ? 'j' : 'i', place);
    NEED(out->next, batch->error);
    return CAIRN_OK;
}

/* OP_INSTANCE_DELETE.  A large family takes several commits; the answer comes after the last. */
cairn_code batch_delete_instance(struct batch *batch, struct request *request)
{
    struct purge purge = {.batch = batch};
    struct past_row row;
    struct instance_row instance;
    const char *why = NULL;
    size_t count = 0;
    bool may_be_gone = request->is_unfinished || request->purged_count || request->was_unsure;
    request->is_unfinished = false;
    request->out.purged = (struct purge_output){.instances = request->purged_count};
    TRY(STORE(batch, lock_retention, &purge.policy));
    TRY(workset_write_now(batch));
    cairn_code code = STORE(batch, get_instance, request->in.id, &instance);
    if (code && code != CAIRN_E_NOT_FOUND)
        return code;
    if (!code)
        TRY(STORE(batch, scan_past, LIST_INSTANCES, instance.seq - 1, &row, 1, &count));
    bool is_gone = code || count == 0 || row.seq != instance.seq;
    if (is_gone && may_be_gone)
        return CAIRN_OK;
    if (is_gone)
        return REFUSE(request, CAIRN_E_NOT_FOUND, "instance \"%.64s\" does not exist",
                      request->in.id);
    TRY(purge_instance(&purge, &row, &why, &request->is_unfinished));
    if (why)
        return REFUSE(request, CAIRN_E_WRONG_STATE, "cannot delete instance %.64s: it %s",
                      request->in.id, why);
    request->out.purged.instances += (int64_t)purge.purged;
    return leave_to_sweep(&purge);
}
