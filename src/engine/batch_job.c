/* engine/batch_job.c - what a batch does to jobs: inserting, changing, control.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "core/counter.h"
#include "engine/limit.h"
#include "engine/workset.h"

#include <stdio.h>
#include <string.h>

/* ---- changing ------------------------------------------------------------------------------- */

static void count_event(struct tally *tally, const struct job_input *input,
                        enum job_event event)
{
    bool is_release = input->action == JOB_RELEASE;
    tally->lease_expiries += input->action == JOB_EXPIRE;
    tally->completed += event == EVENT_SUCCEEDED;
    tally->failed += event == EVENT_FAILED;
    tally->released += event == EVENT_RETRIED && is_release;
    tally->retried += event == EVENT_RETRIED && !is_release;
    tally->cancelled += event == EVENT_CANCELLED;
    tally->heartbeats += event == EVENT_HEARTBEAT;
}

static struct job_facts facts_of(const struct job_row *row, const struct job_input *input,
                                 enum job_event event)
{
    struct job_facts facts = {.worker = input->worker, .token = input->token_name};
    switch (event) {
    case EVENT_SUCCEEDED:
        facts.attempt = counter_after(row->attempt);
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
    case EVENT_DEBOUNCED:
        facts.run_at_us = row->run_at_us;
        break;
    case EVENT_HEARTBEAT:
        facts.extend_us = input->extend_us;
        break;
    default:
        break;
    }
    return facts;
}

static cairn_code note_figures(struct batch *batch, const struct job_row *row,
                               const struct job_input *input, enum job_event event)
{
    bool is_retried =
        event == EVENT_RETRIED && input->action != JOB_RELEASE && input->action != JOB_REVIVE;
    bool is_ended = event == EVENT_SUCCEEDED || event == EVENT_FAILED;
    struct figure_note note = {.kind = is_retried ? NOTE_RETRIED : NOTE_ENDED,
                               .type = row->type,
                               .task = task_hash(row->id),
                               .is_failed = event == EVENT_FAILED};
    struct figure_note cancelled = {.kind = NOTE_CANCELLED, .type = row->type, .us = -1};
    if (event == EVENT_CANCELLED)
        return figures_note(batch, &cancelled);
    if (!is_retried && !is_ended)
        return CAIRN_OK;
    struct figure_note end = {.kind = event == EVENT_FAILED ? NOTE_FAILED : NOTE_COMPLETED,
                              .type = row->type,
                              .task = note.task,
                              .us = -1};
    if (is_ended)
        TRY(figures_note(batch, &end));
    return figures_note(batch, &note);
}

cairn_code batch_apply_job(struct batch *batch, struct workset_job *job,
                           const struct job_input *input, struct job_verdict *ret_verdict)
{
    struct job_row *row = &job->row;
    struct job_verdict verdict = {.event = EVENT_SUCCEEDED};
    bool was_completed = job->is_completed;
    bool had_lease = was_completed || row->status == JOB_LEASED;
    if (!was_completed)
        verdict = job_apply(row, input, batch->tx->now_us, &batch->committer->rng);
    job->is_completed = false;
    *ret_verdict = verdict;
    job->is_dirty |= verdict.is_changed;
    if (verdict.event == EVENT_NONE)
        return CAIRN_OK;

    count_event(&batch->tally, input, verdict.event);
    TRY(note_figures(batch, row, input, verdict.event));
    if (row->status == JOB_PENDING && row->is_ready)
        batch_note_ready(batch, CLAIM_JOBS, row->type, 0);
    else if (row->status == JOB_PENDING)
        batch_note_due(batch, row->run_at_us);
    else if (row->status == JOB_LEASED)
        batch_note_due(batch, row->lease_until_us + 1);
    if (row->is_counted && had_lease && row->status != JOB_LEASED)
        TRY(batch_note_place(batch, row->type, row->group, input->action == JOB_RELEASE));
    if (job_is_final(row->status)) {
        TRY(batch_note_ended(batch, row->id));
        if (row->schedule) /* its next run may wait for this */
            batch_note_due(batch, batch->tx->now_us);
    }
    struct job_facts facts = facts_of(row, input, verdict.event);
    if (was_completed)
        return batch_tell_job_event(batch, row, verdict.event, &facts, row->last_event,
                                    row->prev_event, row->event_count);
    job->is_dirty = true;
    return batch_add_job_event(batch, row, verdict.event, &facts);
}

/* ---- control -------------------------------------------------------------------------------- */

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

cairn_code batch_control_job(struct batch *batch, struct request *request)
{
    struct job_verdict verdict = {0};
    struct job_input input = {.action = control_action(request->op),
                              .token_name = request->token_name};
    struct workset_job *job;
    TRY(workset_take_job(batch, request->in.id, &job));
    if (!job)
        return REFUSE(request, CAIRN_E_NOT_FOUND, "job \"%.64s\" does not exist",
                      request->in.id);
    if (!is_done_already(request, &job->row))
        TRY(batch_apply_job(batch, job, &input, &verdict));
    if (!verdict.code) {
        job->answer_to = request;
        return CAIRN_OK;
    }
    const char *status = job->row.deleted_at_us ? "deleted" : job_status_name(job->row.status);
    request->code = fail(&request->error, verdict.code, "cannot %s job \"%s\": it is %s",
                         job_action_name(input.action), job->row.id, status);
    if (input.action == JOB_REVIVE)
        fail_hint(&request->error, verdict.code,
                  "only failed and cancelled jobs can be retried");
    return CAIRN_OK;
}

/* ---- new jobs ------------------------------------------------------------------------------- */

static struct job_row new_row(const struct batch *batch, const cairn_job_spec *spec,
                              const char *id)
{
    int64_t now_us = batch->tx->now_us;
    int64_t run_at_us =
        spec->run_at_us ? spec->run_at_us : instant_add(now_us, spec->debounce_ms * US_PER_MS);
    return (struct job_row){
        .id = id,
        .type = spec->type,
        .payload = spec->payload,
        .metadata = spec->metadata,
        .tags = tags_or_null(spec->tags),
        .key = spec->key,
        .group = spec->group ? spec->group : "",
        .status = JOB_PENDING,
        .priority = spec->priority,
        .max_attempts = spec->max_attempts,
        .timeout_ms = spec->timeout_ms,
        .retry = spec->retry,
        .is_ready = run_at_us <= now_us,
        .run_at_us = run_at_us,
        .created_at_us = now_us,
        .updated_at_us = now_us,
    };
}

static cairn_code note_inserted(struct batch *batch, const struct job_row *row,
                                enum insert_result result, cairn_enqueued *enqueued)
{
    enqueued->existing = 0;
    if (result == INSERT_EXISTING && strcmp(row->id, enqueued->id) != 0) {
        snprintf(enqueued->id, sizeof enqueued->id, "%s", row->id);
        enqueued->existing = 1;
    }
    if (result != INSERT_DONE)
        return CAIRN_OK;
    if (row->is_ready)
        batch_note_ready(batch, CLAIM_JOBS, row->type, 0);
    else
        batch_note_due(batch, row->run_at_us);
    batch->tally.enqueued++;
    TRY(figures_note(batch, &(struct figure_note){.kind = NOTE_STARTED, .type = row->type}));
    return batch_tell_job_event(batch, row, EVENT_CREATED, NULL, row->last_event, 0, 1);
}

cairn_code new_jobs_make(struct batch *batch, size_t room, struct new_jobs *ret)
{
    *ret = (struct new_jobs){
        .rows = arena_array(&batch->arena, room, sizeof *ret->rows),
        .enqueued = arena_array(&batch->arena, room, sizeof *ret->enqueued),
    };
    return ret->rows && ret->enqueued ? CAIRN_OK : fail_memory(batch->error);
}

void new_jobs_add(struct batch *batch, struct new_jobs *jobs, const cairn_job_spec *spec,
                  cairn_enqueued *enqueued)
{
    jobs->rows[jobs->count] = new_row(batch, spec, enqueued->id);
    jobs->enqueued[jobs->count++] = enqueued;
}

static void know_events(const struct batch *batch, const struct new_jobs *jobs)
{
    for (size_t i = 0; i < jobs->count; i++)
        jobs->rows[i].last_event = batch_known_event(batch, jobs->rows[i].last_event);
}

/* Types of jobs that have a group have lanes from now on. */
static cairn_code note_groups(struct batch *batch, const struct new_jobs *jobs)
{
    LIST(const char *) types = {0};
    for (size_t i = 0; i < jobs->count; i++) {
        const char *type = jobs->rows[i].type;
        bool is_known = !*jobs->rows[i].group;
        for (size_t k = types.count; k > 0 && !is_known; k--)
            is_known = strcmp(types.items[k - 1], type) == 0;
        if (is_known)
            continue;
        const char **added = list_add(&batch->arena, &types);
        NEED(added, batch->error);
        *added = type;
    }
    return types.count ? STORE(batch, add_group_types, types.items, types.count) : CAIRN_OK;
}

static void note_made(const struct new_jobs *jobs, struct ready_types *ready)
{
    for (size_t i = 0; i < jobs->count; i++)
        if (jobs->rows[i].is_ready)
            ready_types_add(ready, jobs->rows[i].type, 0);
}

/* Claims for the new jobs are sent behind them. */
static cairn_code send_ahead(struct batch *batch, const struct new_jobs *jobs)
{
    struct ready_types ready = {0};
    bool is_sent;
    note_made(jobs, &ready);
    TRY(batch_plan_ahead(batch, &ready, batch_used_slots(batch)));
    if (!batch->ahead)
        return CAIRN_OK;
    TRY(STORE(batch, send_insert_jobs, jobs->rows, jobs->count, &is_sent));
    return batch_claim_ahead(batch, is_sent);
}

/* If a row is known already, its id stays unused. */
static cairn_code number_created(struct batch *batch, const struct new_jobs *jobs)
{
    for (size_t i = 0; i < jobs->count; i++) {
        struct job_row *row = &jobs->rows[i];
        TRY(batch_take_open_events(batch, 1, &row->last_event));
        batch_used_events(batch, row->last_event);
        row->event_count = 1;
    }
    return CAIRN_OK;
}

/* Their events have ids. */
static cairn_code insert_numbered(struct batch *batch, const struct new_jobs *jobs)
{
    enum insert_result *results = arena_array(&batch->arena, jobs->count, sizeof *results);
    NEED(results, batch->error);
    know_events(batch, jobs); /* a claim behind them may have moved the sequence on */
    TRY(STORE(batch, insert_jobs, jobs->rows, jobs->count, results));
    know_events(batch, jobs);
    for (size_t i = 0; i < jobs->count; i++)
        TRY(note_inserted(batch, &jobs->rows[i], results[i], jobs->enqueued[i]));
    return CAIRN_OK;
}

/* are_all: nothing else is inserted by this batch. */
static cairn_code insert_new(struct batch *batch, struct new_jobs *jobs, bool are_all)
{
    TRY(number_created(batch, jobs));
    TRY(note_groups(batch, jobs));
    know_events(batch, jobs); /* of many rows: the last ones may have got another number */
    if (are_all)
        TRY(send_ahead(batch, jobs));
    return insert_numbered(batch, jobs);
}

cairn_code new_jobs_insert(struct batch *batch, struct new_jobs *jobs)
{
    return insert_new(batch, jobs, false);
}

bool request_enqueues_children(const struct request *request)
{
    return (request->op == OP_COMMIT && request->in.commit.job_count) ||
           request->op == OP_SCHEDULE_TRIGGER;
}

/* The next request with jobs to insert, from `at` on; NULL: none before a commit that enqueues, whose
 * jobs come first, or a request that looks at who has its keys. */
static struct request *next_enqueue(struct request *at)
{
    for (; at && !request_enqueues_children(at); at = at->next)
        if (at->op == OP_ENQUEUE && !at->code)
            return request_minds_keys(at) ? NULL : at;
    return NULL;
}

/* Of the first request, and of those that may be inserted with it. */
static cairn_code gather_new(struct batch *batch, struct request *first,
                             struct new_jobs *ret_jobs)
{
    size_t room = 0;
    for (struct request *one = first; one; one = next_enqueue(one->next))
        room += one->in.enqueue.count;
    TRY(new_jobs_make(batch, room, ret_jobs));
    for (struct request *one = first; one; one = next_enqueue(one->next)) {
        TRY(batch_make_ids(batch, one, one->in.enqueue.count));
        for (size_t i = 0; i < one->in.enqueue.count; i++)
            new_jobs_add(batch, ret_jobs, &one->in.enqueue.specs[i], &one->out.enqueued[i]);
    }
    return CAIRN_OK;
}

cairn_code batch_enqueue(struct batch *batch, struct request *first)
{
    struct new_jobs jobs;
    if (request_minds_keys(first))
        return batch_enqueue_minding(batch, first);
    if (batch->are_jobs_ahead)
        return CAIRN_OK;
    batch->are_jobs_ahead = true;
    if (batch->new_jobs)
        return insert_numbered(batch, batch->new_jobs);
    TRY(gather_new(batch, first, &jobs));
    return insert_new(batch, &jobs, true);
}

/* ---- new jobs that are sent behind completions ------------------------------------------------ */

/* Types that get lanes are written before their jobs. */
static bool has_groups(const struct new_jobs *jobs)
{
    for (size_t i = 0; i < jobs->count; i++)
        if (*jobs->rows[i].group)
            return true;
    return false;
}

cairn_code batch_plan_new_jobs(struct batch *batch, size_t completed)
{
    struct request *first = next_enqueue(batch->requests->first);
    struct ready_types ready = {0};
    if (!first || !batch->may_ahead || !batch_is_plain(batch, OP_ENQUEUE))
        return CAIRN_OK;
    struct new_jobs *jobs = arena_alloc(&batch->arena, sizeof *jobs);
    NEED(jobs, batch->error);
    TRY(gather_new(batch, first, jobs));
    if (has_groups(jobs) || completed + jobs->count > EVENT_SLOTS)
        return CAIRN_OK;
    batch->new_jobs = jobs;
    note_made(jobs, &ready);
    return batch_plan_ahead(batch, &ready, completed + jobs->count);
}

cairn_code batch_send_new_jobs(struct batch *batch, bool *ret_is_sent)
{
    const struct new_jobs *jobs = batch->new_jobs;
    TRY(number_created(batch, jobs));
    return STORE(batch, send_insert_jobs, jobs->rows, jobs->count, ret_is_sent);
}

cairn_code batch_insert_children(struct batch *batch, const struct commit_job *children,
                                 size_t count, cairn_enqueued *ret_enqueued)
{
    struct new_jobs jobs;
    if (count == 0)
        return CAIRN_OK;
    batch->has_children = true;
    TRY(new_jobs_make(batch, count, &jobs));
    for (size_t i = 0; i < count; i++) {
        snprintf(ret_enqueued[i].id, sizeof ret_enqueued[i].id, "%s", children[i].id);
        new_jobs_add(batch, &jobs, &children[i].spec, &ret_enqueued[i]);
        jobs.rows[i].schedule = children[i].schedule;
    }
    return new_jobs_insert(batch, &jobs);
}
