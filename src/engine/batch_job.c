/* engine/batch_job.c - what a batch does to jobs that are there: reports, heartbeats, control.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "base/error.h"
#include "engine/batch.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void batch_note_due(struct batch *batch, int64_t at_us)
{
    if (batch->due_us == 0 || at_us < batch->due_us)
        batch->due_us = at_us;
}

void batch_note_ready_version(struct batch *batch, const char *type, int32_t version)
{
    struct ready_types *ready = &batch->ready;
    if (ready->is_any)
        return;
    for (size_t i = 0; type && i < ready->count; i++)
        if (ready->versions[i] == version && strcmp(ready->names[i], type) == 0)
            return;
    if (!type || ready->count == READY_TYPES_MAX || strlen(type) >= sizeof ready->names[0]) {
        ready->is_any = true;
        return;
    }
    ready->versions[ready->count] = version;
    strcpy(ready->names[ready->count++], type);
}

void batch_note_ready(struct batch *batch, const char *type)
{
    batch_note_ready_version(batch, type, 0);
}

/* ---- rows that change -----------------------------------------------------------------------
 */

bool request_is_job_control(enum request_op op)
{
    return op == OP_JOB_CANCEL || op == OP_JOB_DELETE || op == OP_JOB_RETRY;
}

/* The ids that a request names: how many, and which. */
static size_t named_ids(const struct request *request)
{
    if (request->code)
        return 0;
    if (request->op == OP_REPORT)
        return request->is_reported ? 0 : request->in.report.count;
    return request->op == OP_HEARTBEAT || request_is_job_control(request->op) ? 1 : 0;
}

static const char *named_id(const struct request *request, size_t index)
{
    if (request->op == OP_REPORT)
        return request->in.report.reports[index].task_id;
    return request->op == OP_HEARTBEAT ? request->in.heartbeat.task_id : request->in.id;
}

static int compare_ids(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

size_t ids_sort_unique(const char **ids, size_t count)
{
    size_t unique = 0;
    if (count)
        qsort(ids, count, sizeof *ids, compare_ids);
    for (size_t i = 0; i < count; i++)
        if (unique == 0 || strcmp(ids[unique - 1], ids[i]) != 0)
            ids[unique++] = ids[i];
    return unique;
}

/* What does not look like an id is no job's; it never reaches the store. */
static size_t gather_ids(struct batch *batch)
{
    size_t count = 0;
    for_each_request (request, batch)
        for (size_t i = 0; i < named_ids(request); i++)
            if (id_is_valid(named_id(request, i)))
                batch->ids[count++] = named_id(request, i);
    return ids_sort_unique(batch->ids, count);
}

cairn_code batch_lock(struct batch *batch, cairn_error *reterr)
{
    size_t room = 0;
    for_each_request (request, batch)
        room += named_ids(request);
    if (room == 0)
        return CAIRN_OK;

    batch->ids = arena_array(&batch->arena, room, sizeof *batch->ids);
    batch->rows = arena_array(&batch->arena, room, sizeof *batch->rows);
    batch->locks = arena_array(&batch->arena, room, sizeof *batch->locks);
    batch->is_dirty = arena_array(&batch->arena, room, sizeof *batch->is_dirty);
    batch->owed = arena_array(&batch->arena, room, sizeof(struct request *));
    if (!batch->ids || !batch->rows || !batch->locks || !batch->is_dirty || !batch->owed)
        return fail_memory(reterr);
    batch->id_count = gather_ids(batch);
    if (batch->id_count == 0)
        return CAIRN_OK;
    return batch->ops->lock_jobs(batch->tx, batch->ids, batch->id_count, batch->is_alone,
                                 batch->rows, batch->locks, reterr);
}

/* The place of an id among those that are named; id_count if it has none. */
static size_t find_place(const struct batch *batch, const char *id)
{
    if (batch->id_count == 0)
        return 0;
    const char **place =
        bsearch(&id, batch->ids, batch->id_count, sizeof *batch->ids, compare_ids);
    return place ? (size_t)(place - batch->ids) : batch->id_count;
}

bool request_names_busy_row(const struct batch *batch, const struct request *request)
{
    for (size_t i = 0; i < named_ids(request); i++) {
        size_t place = find_place(batch, named_id(request, i));
        if (place < batch->id_count && batch->locks[place] == LOCK_BUSY)
            return true;
    }
    return false;
}

/* The answer to control is the job as it is now, whole. */
static cairn_code show_owed(struct batch *batch, size_t place, cairn_error *reterr)
{
    struct request *request = batch->owed[place];
    batch->owed[place] = NULL;
    struct job_row row;
    struct arena *arena = batch->tx->arena;
    batch->tx->arena = &request->arena;
    cairn_code code = batch->ops->get_job(batch->tx, request->in.id, &row, reterr);
    batch->tx->arena = arena;
    if (code)
        return code;

    cairn_job *job = arena_zalloc(&request->arena, sizeof *job);
    if (!job)
        return fail_memory(reterr);
    job_to_public(&row, job);
    request->out.page = (struct page_output){.items = job, .count = 1};
    return CAIRN_OK;
}

/* A row that a request is about to change; id_count: it does not exist.  The answer that is owed to
 * an earlier request is read before, since it tells what that one has made. */
static cairn_code take_row(struct batch *batch, const char *id, size_t *ret_place,
                           cairn_error *reterr)
{
    size_t place = find_place(batch, id);
    cairn_code code = CAIRN_OK;
    if (place < batch->id_count && batch->locks[place] == LOCK_ABSENT && batch->has_children)
        code = batch->ops->lock_jobs(batch->tx, &batch->ids[place], 1, batch->is_alone,
                                     &batch->rows[place], &batch->locks[place], reterr);
    if (place < batch->id_count && batch->locks[place] == LOCK_ABSENT)
        place = batch->id_count;
    *ret_place = place;
    if (code || place == batch->id_count || !batch->owed[place])
        return code;
    if (batch->is_dirty[place])
        code = batch->ops->update_jobs(batch->tx, &batch->rows[place], 1, reterr);
    batch->is_dirty[place] = false;
    return code ? code : show_owed(batch, place, reterr);
}

static cairn_code write_dirty(struct batch *batch, cairn_error *reterr)
{
    size_t count = 0;
    struct job_row *dirty = arena_array(&batch->arena, batch->id_count, sizeof *dirty);
    if (!dirty)
        return fail_memory(reterr);
    for (size_t i = 0; i < batch->id_count; i++)
        if (batch->is_dirty[i])
            dirty[count++] = batch->rows[i];
    return count ? batch->ops->update_jobs(batch->tx, dirty, count, reterr) : CAIRN_OK;
}

cairn_code batch_write_jobs(struct batch *batch, cairn_error *reterr)
{
    cairn_code code = batch->id_count ? write_dirty(batch, reterr) : CAIRN_OK;
    for (size_t i = 0; i < batch->id_count && !code; i++)
        if (batch->owed[i])
            code = show_owed(batch, i, reterr);
    return code;
}

static void count_event(struct tally *tally, const struct job_input *input,
                        enum job_event event)
{
    tally->lease_expiries += input->action == JOB_EXPIRE;
    switch (event) {
    case EVENT_SUCCEEDED:
        tally->completed++;
        break;
    case EVENT_FAILED:
        tally->failed++;
        break;
    case EVENT_RETRIED:
        if (input->action == JOB_RELEASE)
            tally->released++;
        else
            tally->retried++;
        break;
    case EVENT_CANCELLED:
        tally->cancelled++;
        break;
    case EVENT_HEARTBEAT:
        tally->heartbeats++;
        break;
    default:
        break;
    }
}

static struct event_facts facts_of(const struct job_row *row, const struct job_input *input,
                                   enum job_event event)
{
    struct event_facts facts = {.worker = input->worker};
    switch (event) {
    case EVENT_SUCCEEDED:
        facts.attempt = row->attempt + 1;
        break;
    case EVENT_FAILED:
        facts.attempt = row->attempt;
        facts.error = row->last_error;
        break;
    case EVENT_RETRIED:
        facts.run_at_us = row->run_at_us;
        if (input->action == JOB_RELEASE || input->action == JOB_REVIVE) {
            facts.reason = input->action == JOB_RELEASE ? "released" : "asked";
        } else {
            facts.attempt = row->attempt;
            facts.error = row->last_error;
        }
        break;
    case EVENT_HEARTBEAT:
        facts.extend_us = input->extend_us;
        break;
    default:
        break;
    }
    return facts;
}

cairn_code batch_apply(struct batch *batch, struct job_row *row, const struct job_input *input,
                       struct job_verdict *ret_verdict, cairn_error *reterr)
{
    struct job_verdict verdict =
        job_apply(row, input, batch->tx->now_us, &batch->committer->rng);
    *ret_verdict = verdict;
    if (verdict.event == EVENT_NONE)
        return CAIRN_OK;

    count_event(&batch->tally, input, verdict.event);
    if (row->status == JOB_PENDING && row->is_ready)
        batch_note_ready(batch, row->type);
    else if (row->status == JOB_PENDING)
        batch_note_due(batch, row->run_at_us);
    else if (row->status == JOB_LEASED)
        batch_note_due(batch, row->lease_until_us + 1);

    const char *data;
    struct event_facts facts = facts_of(row, input, verdict.event);
    cairn_code code = event_data(batch, &facts, &data, reterr);
    if (!code && job_is_final(row->status))
        code = batch_ended(batch, row->id, reterr);
    return code ? code : batch_add_event(batch, row->id, verdict.event, data, reterr);
}

/* ---- reports and heartbeats -----------------------------------------------------------------
 */

cairn_code lease_lost(cairn_error *error, const char *id, const char *worker,
                      const char *status, const char *holder)
{
    fail(error, CAIRN_E_LEASE_LOST, "task \"%.64s\" is no longer leased to worker \"%.64s\"",
         id, worker);
    if (status)
        fail_detail(error, CAIRN_E_LEASE_LOST, "it is %s%s%.64s", status,
                    holder ? ", held by " : "", holder ? holder : "");
    else
        fail_detail(error, CAIRN_E_LEASE_LOST, "there is no such task");
    return fail_hint(
        error, CAIRN_E_LEASE_LOST,
        "drop this result: the lease ran out, the work was stopped, or the token is "
        "another claim's");
}

cairn_code ended_otherwise(cairn_error *error, const char *id, const char *ended_outcome)
{
    fail(error, CAIRN_E_LEASE_LOST, "task \"%.64s\" was already reported with this token", id);
    fail_detail(error, CAIRN_E_LEASE_LOST, "the first report was \"%s\", and it counts",
                ended_outcome);
    return fail_hint(error, CAIRN_E_LEASE_LOST,
                     "drop this result; only the same report may be repeated");
}

static struct job_input report_to_input(const struct request *request,
                                        const cairn_report *report)
{
    static const enum job_action actions[] = {
        [CAIRN_COMPLETE] = JOB_COMPLETE, [CAIRN_FAIL] = JOB_FAIL,
        [CAIRN_RETRY] = JOB_RETRY,       [CAIRN_DEAD] = JOB_DEAD,
        [CAIRN_RELEASE] = JOB_RELEASE,
    };
    return (struct job_input){
        .action = actions[report->outcome],
        .worker = request->in.report.worker,
        .token = report->token,
        .output = report->output ? report->output : "null",
        .error = report->error ? report->error : "",
        .delay_us = report->delay_ms < 0 ? -1 : report->delay_ms * US_PER_MS,
    };
}

static cairn_code report_job(struct batch *batch, struct request *request, size_t index,
                             cairn_error *reterr)
{
    const cairn_report *report = &request->in.report.reports[index];
    cairn_reported *reported = &request->out.reported[index];
    struct job_verdict verdict = {.code = CAIRN_E_LEASE_LOST};
    size_t place;
    *reported = (cairn_reported){0};
    cairn_code code = take_row(batch, report->task_id, &place, reterr);
    if (code)
        return code;
    struct job_row *row = place < batch->id_count ? &batch->rows[place] : NULL;

    if (row && (report->outcome == CAIRN_WAIT || report->outbound_count)) {
        reported->code =
            fail(&reported->error, CAIRN_E_BAD_INPUT,
                 "job \"%.64s\" cannot %s: only the steps of workflows can", report->task_id,
                 report->outcome == CAIRN_WAIT ? "wait" : "emit events");
        return CAIRN_OK;
    }
    if (row) {
        struct job_input input = report_to_input(request, report);
        code = batch_apply(batch, row, &input, &verdict, reterr);
        if (code)
            return code;
        batch->is_dirty[place] |= verdict.is_changed;
    }
    reported->code = verdict.code;
    if (verdict.code) {
        batch->tally.late_reports++;
        if (verdict.ended_outcome)
            ended_otherwise(&reported->error, report->task_id, verdict.ended_outcome);
        else
            lease_lost(&reported->error, report->task_id, request->in.report.worker,
                       row ? job_status_name(row->status) : NULL, row ? row->leased_by : NULL);
    } else {
        snprintf(reported->status, sizeof reported->status, "%s", job_status_name(row->status));
    }
    return CAIRN_OK;
}

cairn_code batch_report(struct batch *batch, struct request *request, cairn_error *reterr)
{
    size_t count = request->in.report.count;
    if (!request->out.reported)
        request->out.reported = arena_array(&request->arena, count, sizeof(cairn_reported));
    if (!request->out.reported)
        return fail_memory(reterr);
    cairn_code code = CAIRN_OK;
    for (size_t i = 0; i < count && !code; i++)
        code = is_step_id(request->in.report.reports[i].task_id)
                   ? batch_report_step(batch, request, i, reterr)
                   : report_job(batch, request, i, reterr);
    return code;
}

cairn_code batch_heartbeat_job(struct batch *batch, struct request *request,
                               cairn_error *reterr)
{
    const struct heartbeat_input *in = &request->in.heartbeat;
    struct job_verdict verdict = {.code = CAIRN_E_LEASE_LOST};
    size_t place;
    cairn_code code = take_row(batch, in->task_id, &place, reterr);
    if (code)
        return code;
    struct job_row *row = place < batch->id_count ? &batch->rows[place] : NULL;
    if (row) {
        struct job_input input = {.action = JOB_HEARTBEAT,
                                  .worker = in->worker,
                                  .token = in->token,
                                  .extend_us = in->extend_ms * US_PER_MS};
        code = batch_apply(batch, row, &input, &verdict, reterr);
        if (code)
            return code;
        batch->is_dirty[place] |= verdict.is_changed;
    }
    if (verdict.code) {
        batch->tally.late_reports++;
        request->code =
            lease_lost(&request->error, in->task_id, in->worker,
                       row ? job_status_name(row->status) : NULL, row ? row->leased_by : NULL);
        return CAIRN_OK;
    }
    request->out.heartbeat.lease_until_us = row->lease_until_us;
    request->out.heartbeat.stop = verdict.stop;
    return CAIRN_OK;
}

/* ---- control --------------------------------------------------------------------------------
 */

static cairn_code no_such_job(struct request *request)
{
    return request->code = fail(&request->error, CAIRN_E_NOT_FOUND,
                                "job \"%.64s\" does not exist", request->in.id);
}

static enum job_action control_action(enum request_op op)
{
    return op == OP_JOB_CANCEL ? JOB_CANCEL : op == OP_JOB_DELETE ? JOB_DELETE : JOB_REVIVE;
}

/* An earlier try may have been committed after all: then the job is as it was asked to be. */
static bool is_done_already(const struct request *request, const struct job_row *row)
{
    if (!request->was_unsure)
        return false;
    return (request->op == OP_JOB_CANCEL && row->status == JOB_CANCELLED) ||
           (request->op == OP_JOB_RETRY && row->status == JOB_PENDING);
}

cairn_code batch_control_job(struct batch *batch, struct request *request, cairn_error *reterr)
{
    size_t place;
    cairn_code code = take_row(batch, request->in.id, &place, reterr);
    if (code)
        return code;
    if (place == batch->id_count) {
        no_such_job(request);
        return CAIRN_OK;
    }
    struct job_row *row = &batch->rows[place];
    batch->owed[place] = request;
    if (is_done_already(request, row))
        return CAIRN_OK;

    struct job_verdict verdict;
    struct job_input input = {.action = control_action(request->op)};
    code = batch_apply(batch, row, &input, &verdict, reterr);
    if (code)
        return code;
    batch->is_dirty[place] |= verdict.is_changed;
    if (verdict.code) {
        batch->owed[place] = NULL;
        request->code = fail(&request->error, verdict.code, "cannot %s job \"%s\": it is %s",
                             job_action_name(input.action), row->id,
                             row->deleted_at_us ? "deleted" : job_status_name(row->status));
        if (input.action == JOB_REVIVE)
            fail_hint(&request->error, verdict.code,
                      "only failed and cancelled jobs can be retried");
    }
    return CAIRN_OK;
}

/* ---- the registry ---------------------------------------------------------------------------
 */

cairn_code batch_put_registry(struct batch *batch, struct request *request, cairn_error *reterr)
{
    const cairn_registry_spec *in = &request->in.registry;
    struct registry_row row = {
        .name = in->workflow_name,
        .intent_type = "workflow",
        .runtime = in->runtime,
        .description = in->description,
        .is_enabled = in->is_enabled,
        .created_at_us = batch->tx->now_us,
        .updated_at_us = batch->tx->now_us,
    };
    cairn_code code = batch->ops->put_registry(batch->tx, &row, reterr);
    struct registry_row now;
    if (!code)
        code = batch->ops->get_registry(batch->tx, in->workflow_name, &now, reterr);
    if (code)
        return code;

    cairn_registry_entry *entry = arena_zalloc(&request->arena, sizeof *entry);
    if (!entry)
        return fail_memory(reterr);
    *entry = (cairn_registry_entry){
        .workflow_name = row.name,
        .intent_type = row.intent_type,
        .runtime = row.runtime,
        .description = row.description,
        .is_enabled = row.is_enabled,
        .created_at_us = now.created_at_us,
        .updated_at_us = now.updated_at_us,
    };
    request->out.page = (struct page_output){.items = entry, .count = 1};
    batch_note_ready(batch, NULL); /* waiting claims may now be given its jobs */
    return CAIRN_OK;
}
