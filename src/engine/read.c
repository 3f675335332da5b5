/* engine/read.c - requests that change nothing.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "base/error.h"
#include "engine/local.h"

#include <stdlib.h>
#include <string.h>

void job_to_public(const struct job_row *row, cairn_job *ret_job)
{
    *ret_job = (cairn_job){
        .id = row->id,
        .type = row->type,
        .payload = row->payload,
        .status = job_status_name(row->status),
        .status_code = (cairn_job_status)row->status,
        .idempotency_key = row->key,
        .leased_by = row->leased_by,
        .last_error = row->last_error,
        .result = row->result,
        .priority = row->priority,
        .attempt = row->attempt,
        .max_attempts = row->max_attempts,
        .run_at_us = row->run_at_us,
        .lease_until_us = row->lease_until_us,
        .created_at_us = row->created_at_us,
        .updated_at_us = row->updated_at_us,
        .deleted_at_us = row->deleted_at_us,
    };
}

/* A question in its transaction. */
struct question {
    struct local_engine *engine;
    const struct store_ops *ops;
    struct store_tx *tx;
    struct request *request;
    struct arena *arena; /* the request's: answers live there */
    cairn_error *error;
};

static cairn_code no_such_job(struct question *q, const char *id)
{
    return fail(q->error, CAIRN_E_NOT_FOUND, "job \"%.64s\" does not exist", id);
}

static cairn_code find_job(struct question *q, const char *id, struct job_row *ret_row)
{
    if (!id || !id_is_valid(id))
        return no_such_job(q, id ? id : "");
    cairn_code code = q->ops->get_job(q->tx, id, ret_row, q->error);
    return code == CAIRN_E_NOT_FOUND ? no_such_job(q, id) : code;
}

static cairn_code get_job(struct question *q)
{
    struct job_row row;
    cairn_code code = find_job(q, q->request->in.id, &row);
    if (code)
        return code;
    cairn_job *job = arena_zalloc(q->arena, sizeof *job);
    if (!job)
        return fail_memory(q->error);
    job_to_public(&row, job);
    q->request->out.page = (struct page_output){.items = job, .count = 1};
    return CAIRN_OK;
}

/* One more than the page holds is read, to know whether another page follows. */
static cairn_code list_jobs(struct question *q)
{
    const cairn_job_filter *in = &q->request->in.job_list;
    struct job_filter filter = {
        .status = in->status ? job_status_from(in->status) : JOB_NONE,
        .pattern = in->type,
        .key = in->key,
        .before_seq = in->cursor ? strtoll(in->cursor, NULL, 10) : 0,
    };
    size_t count, room = in->limit + 1;
    struct job_row *rows = arena_array(q->arena, room, sizeof *rows);
    cairn_job *jobs = arena_array(q->arena, room, sizeof *jobs);
    if (!rows || !jobs)
        return fail_memory(q->error);
    cairn_code code = q->ops->list_jobs(q->tx, &filter, rows, room, &count, q->error);
    if (code)
        return code;

    struct page_output *out = &q->request->out.page;
    *out = (struct page_output){.items = jobs, .count = count < room ? count : in->limit};
    for (size_t i = 0; i < out->count; i++)
        job_to_public(&rows[i], &jobs[i]);
    if (count == room) {
        out->next = arena_printf(q->arena, "%lld", (long long)rows[in->limit - 1].seq);
        if (!out->next)
            return fail_memory(q->error);
    }
    return CAIRN_OK;
}

static cairn_code list_events(struct question *q)
{
    const struct page_input *in = &q->request->in.page;
    struct job_row job;
    cairn_code code = find_job(q, in->id, &job);
    if (code)
        return code;

    size_t count, room = in->limit + 1;
    int64_t after = in->cursor ? strtoll(in->cursor, NULL, 10) : 0;
    struct job_event_row *rows = arena_array(q->arena, room, sizeof *rows);
    cairn_event *events = arena_array(q->arena, room, sizeof *events);
    if (!rows || !events)
        return fail_memory(q->error);
    code = q->ops->list_events(q->tx, in->id, after, rows, room, &count, q->error);
    if (code)
        return code;

    struct page_output *out = &q->request->out.page;
    *out = (struct page_output){.items = events, .count = count < room ? count : in->limit};
    for (size_t i = 0; i < out->count; i++)
        events[i] = (cairn_event){.id = rows[i].id,
                                  .type = rows[i].type_name,
                                  .data = rows[i].data,
                                  .at_us = rows[i].at_us};
    if (count == room) {
        out->next = arena_printf(q->arena, "%lld", (long long)rows[in->limit - 1].id);
        if (!out->next)
            return fail_memory(q->error);
    }
    return CAIRN_OK;
}

static cairn_code list_registry(struct question *q)
{
    const struct page_input *in = &q->request->in.page;
    size_t count, room = in->limit + 1;
    struct registry_row *rows = arena_array(q->arena, room, sizeof *rows);
    cairn_registry_entry *entries = arena_array(q->arena, room, sizeof *entries);
    if (!rows || !entries)
        return fail_memory(q->error);
    cairn_code code = q->ops->list_registry(q->tx, in->cursor, rows, room, &count, q->error);
    if (code)
        return code;

    struct page_output *out = &q->request->out.page;
    *out = (struct page_output){.items = entries, .count = count < room ? count : in->limit};
    for (size_t i = 0; i < out->count; i++)
        entries[i] = (cairn_registry_entry){.workflow_name = rows[i].name,
                                            .intent_type = rows[i].intent_type,
                                            .runtime = rows[i].runtime,
                                            .description = rows[i].description,
                                            .is_enabled = rows[i].is_enabled,
                                            .created_at_us = rows[i].created_at_us,
                                            .updated_at_us = rows[i].updated_at_us};
    if (count == room)
        out->next = rows[in->limit - 1].name;
    return CAIRN_OK;
}

static cairn_code get_stats(struct question *q)
{
    const struct counters *from = &q->engine->counters;
    struct job_counts counts = {0};
    struct step_counts steps = {0};
    uint64_t instances[INSTANCE_STATUS_COUNT] = {0};
    cairn_code code = q->ops->count_jobs(q->tx, &counts, q->error);
    if (!code)
        code = q->ops->count_steps(q->tx, &steps, q->error);
    if (!code)
        code = q->ops->count_instances(q->tx, instances, q->error);
    if (code)
        return code;
    int64_t waited_us = counts.oldest_ready_us ? q->tx->now_us - counts.oldest_ready_us : 0;
    q->request->out.stats = (cairn_stats){
        .size = sizeof(cairn_stats),
        .enqueued = from->enqueued,
        .claimed = from->claimed,
        .completed = from->completed,
        .failed = from->failed,
        .retried = from->retried,
        .cancelled = from->cancelled,
        .released = from->released,
        .heartbeats = from->heartbeats,
        .lease_expiries = from->lease_expiries,
        .late_reports = from->late_reports,
        .commits = from->commits,
        .commit_requests = from->commit_requests,
        .commit_us = from->commit_us,
        .commit_us_max = from->commit_us_max,
        .pending = counts.pending,
        .ready = counts.ready,
        .leased = counts.leased,
        .oldest_waiting_us = waited_us > 0 ? (uint64_t)waited_us : 0,
        .steps_ready = steps.ready,
        .steps_leased = steps.leased,
        .instances_pending = instances[INSTANCE_PENDING],
        .instances_running = instances[INSTANCE_RUNNING],
        .instances_waiting_signal = instances[INSTANCE_WAITING_SIGNAL],
        .instances_paused = instances[INSTANCE_PAUSED],
        .instances_compensating = instances[INSTANCE_COMPENSATING],
        .instances_dlq = instances[INSTANCE_DLQ],
        .started = from->started,
        .passages = from->passages,
        .passage_commits = from->passage_commits,
        .passage_conflicts = from->passage_conflicts,
    };
    return CAIRN_OK;
}

static cairn_code answer(struct question *q)
{
    switch (q->request->op) {
    case OP_JOB_GET:
        return get_job(q);
    case OP_JOB_LIST:
        return list_jobs(q);
    case OP_JOB_EVENTS:
        return list_events(q);
    case OP_REGISTRY_LIST:
        return list_registry(q);
    case OP_CLOCK_NOW:
        q->request->out.now_us = q->tx->now_us;
        return CAIRN_OK;
    case OP_STATS:
        return get_stats(q);
    case OP_DOCTOR:
        return doctor_run(q->engine, q->tx, q->request);
    default:
        return flow_read_run(q->engine, q->tx, q->request);
    }
}

cairn_code read_run(struct local_engine *engine, struct store_session *session,
                    struct request *request)
{
    struct question q = {.engine = engine,
                         .ops = engine->store->ops,
                         .request = request,
                         .arena = &request->arena,
                         .error = &request->error};
    cairn_code code = q.ops->begin(session, &request->arena, &q.tx, q.error);
    if (code)
        return code;
    code = answer(&q);
    q.ops->rollback(q.tx); /* it has changed nothing */
    return code;
}
