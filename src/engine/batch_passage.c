/* engine/batch_passage.c - a run's commit: steps, logs, what it starts, and how it goes on.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "base/json.h"
#include "definition/element.h"
#include "engine/workset.h"

#include <string.h>

/* ---- what core is told ---------------------------------------------------------------------- */

/* As core/step_config.h says. */
static const char *compensation_config(struct batch *batch, const struct commit_step *step)
{
    struct buf buf = {0};
    struct json_out out = {.buf = &buf};
    struct compensation_config undo = {
        .handler = step->compensation,
        .max_attempts = step->compensation_max_attempts,
        .retry = backoff_for_steps,
        .timeout_us = step->compensation_timeout_ms * US_PER_MS,
        .is_idempotent = step->is_compensation_idempotent,
        .metadata = step->compensation_metadata,
    };
    if (step->compensation_backoff) {
        undo.retry.base_us = step->compensation_base_ms * US_PER_MS;
        undo.retry.max_us = step->compensation_max_ms * US_PER_MS;
        undo.retry.jitter = step->compensation_jitter;
        backoff_from(step->compensation_backoff, &undo.retry.kind); /* it was checked */
    }
    json_open(&out, '{');
    config_write_compensation(json_key(&out, "compensation"), &undo);
    json_close(&out, '}');
    return buf_keep(&buf, &batch->arena);
}

static cairn_code fill_memo(struct batch *batch, const struct commit_step *step,
                            struct memo *ret_memo)
{
    *ret_memo = (struct memo){
        .seq = step->seq,
        .key = step->key,
        .kind = step_kind_from(step->kind),
        .status = step_status_from(step->status), /* NONE: forgotten */
        .input = step->input,
        .output = step->output,
        .error = step->error,
        .attempts = step->attempts,
        .max_attempts = step->max_attempts,
        .delay_us = step->delay_ms * US_PER_MS,
        .until_us = step->until_us,
        .event = step->event,
        .timeout_us = step->timeout_ms < 0 ? -1 : step->timeout_ms * US_PER_MS,
        .signal_id = step->signal_id,
        .has_compensation = step->compensation != NULL,
    };
    if (ret_memo->kind == KIND_WAIT)
        ret_memo->config = "{\"on_timeout\":\"continue\"}"; /* the function is told */
    if (step->compensation) {
        ret_memo->config = compensation_config(batch, step);
        NEED(ret_memo->config, batch->error);
    }
    return CAIRN_OK;
}

static bool is_child(const struct commit_start *start)
{
    return start->options.tell_instance != NULL;
}

static void mark_child(struct memo *memos, size_t count, int32_t seq)
{
    for (size_t i = 0; i < count; i++) {
        if (memos[i].seq != seq || memos[i].kind != KIND_START)
            continue;
        memos[i].is_child = true;
        memos[i].config = "{\"child\":true}";
    }
}

static cairn_code fill_commit(struct batch *batch, const struct commit_input *in,
                              struct passage_commit *ret_commit)
{
    struct memo *memos = arena_array(&batch->arena, in->step_count + 1, sizeof *memos);
    NEED(memos, batch->error);
    for (size_t i = 0; i < in->step_count; i++)
        TRY(fill_memo(batch, &in->steps[i], &memos[i]));
    for (size_t i = 0; i < in->start_count; i++)
        if (is_child(&in->starts[i]))
            mark_child(memos, in->step_count, in->starts[i].seq);
    *ret_commit = (struct passage_commit){
        .worker = in->worker,
        .token = in->token,
        .memos = memos,
        .memo_count = in->step_count,
        .outcome = in->outcome,
        .output = in->output,
        .error = in->error,
        .failed_step = in->failed_step,
        .extend_us = in->extend_ms * US_PER_MS,
    };
    return CAIRN_OK;
}

/* ---- what goes with it ---------------------------------------------------------------------- */

static cairn_code keep_logs(struct batch *batch, const struct workset_instance *instance,
                            const struct commit_input *in)
{
    for (size_t i = 0; i < in->log_count; i++) {
        struct log_row *log = list_add(&batch->arena, &batch->logs);
        NEED(log, batch->error);
        *log = (struct log_row){.instance_id = instance->row.id,
                                .level = in->logs[i].level,
                                .message = in->logs[i].message,
                                .data = in->logs[i].data,
                                .step = in->logs[i].step,
                                .attempt = in->logs[i].attempt,
                                .at_us = batch->tx->now_us};
    }
    return CAIRN_OK;
}

static cairn_code emit_all(struct batch *batch, const struct workset_instance *instance,
                           const struct commit_input *in)
{
    for (size_t i = 0; i < in->step_count; i++)
        TRY(batch_emit(batch, instance, in->steps[i].key, in->steps[i].outbound,
                       in->steps[i].outbound_count));
    return CAIRN_OK;
}

/* The key was known: the step's output names the job or instance that has it. */
static cairn_code correct_started_id(struct workset_instance *instance, int32_t seq,
                                     const char *id)
{
    struct flow_step *step;
    TRY(workset_step(instance, seq, &step));
    if (!step || step->row.kind != KIND_START)
        return CAIRN_OK;
    step->row.output = arena_printf(&instance->batch->arena, "{\"id\":\"%s\"}", id);
    step->is_dirty = true;
    return step->row.output ? CAIRN_OK : fail_memory(instance->batch->error);
}

static cairn_code start_all(struct batch *batch, struct workset_instance *instance,
                            struct request *request, struct child *children)
{
    const struct commit_input *in = &request->in.commit;
    size_t count = in->job_count + in->start_count;
    if (count == 0)
        return CAIRN_OK;
    cairn_enqueued *started = arena_array(&request->arena, count, sizeof *started);
    NEED(started, batch->error);
    TRY(batch_insert_children(batch, in->jobs, in->job_count, started));
    TRY(batch_start_children(batch, children, in->start_count, started + in->job_count));
    for (size_t i = 0; i < count; i++) {
        int32_t seq = i < in->job_count ? in->jobs[i].seq : in->starts[i - in->job_count].seq;
        if (started[i].existing)
            TRY(correct_started_id(instance, seq, started[i].id));
    }
    request->out.committed.started = started;
    return CAIRN_OK;
}

/* ---- the commit ----------------------------------------------------------------------------- */

static void refuse(struct batch *batch, struct request *request, const struct flow_step *runner,
                   const struct flow_verdict *verdict)
{
    const struct commit_input *in = &request->in.commit;
    if (verdict->code != CAIRN_E_LEASE_LOST) {
        request->code =
            fail(&request->error, verdict->code, "cannot commit: %s", verdict->flaw);
        return;
    }
    batch->tally.late_reports++;
    if (request->was_unsure) { /* an earlier try may have been committed before that */
        request->code = fail(&request->error, CAIRN_E_UNREACHABLE,
                             "could not learn whether the commit was carried out");
        fail_detail(&request->error, request->code,
                    "the store went away while it was committed, and the lease on task %.80s "
                    "has ended since",
                    in->task_id);
        return;
    }
    if (verdict->ended_outcome) {
        request->code = ended_otherwise(&request->error, in->task_id, verdict->ended_outcome);
        return;
    }
    request->code =
        step_lease_lost(&request->error, in->task_id, in->worker, runner ? &runner->row : NULL);
}

/* 0: the lease has ended.  If the commit is repeated, another worker may hold one by now. */
static int64_t own_lease(const struct step_row *runner, const struct commit_input *in)
{
    bool is_own = runner->token && strcmp(runner->token, in->token) == 0;
    return is_own ? runner->locked_until_us : 0;
}

static cairn_code answer(struct batch *batch, struct request *request,
                         const struct workset_instance *instance,
                         const struct flow_step *runner, const struct flow_verdict *verdict,
                         bool is_conflict)
{
    struct committed_output *out = &request->out.committed;
    out->status = step_status_name(runner->row.status);
    out->stop = verdict->stop;
    out->lease_until_us = own_lease(&runner->row, &request->in.commit);
    out->revision = instance->row.revision;
    out->is_conflict = is_conflict;
    if (!is_conflict || request->in.commit.outcome != PASSAGE_GO_ON)
        return CAIRN_OK;
    return batch_read_signals(batch, request, instance->row.id, &out->events,
                              &out->event_count);
}

/* Of a run that was cancelled nothing begins any more, and its parent would not wait for a child. */
static cairn_code plan_children(struct batch *batch, struct request *request,
                                const struct workset_instance *instance, bool is_cancelled,
                                struct child **ret_children)
{
    const struct commit_input *in = &request->in.commit;
    struct child *children = arena_array(&batch->arena, in->start_count, sizeof *children);
    NEED(children, batch->error);
    for (size_t i = 0; i < in->start_count; i++) {
        bool is_own = is_child(&in->starts[i]);
        struct commit_start *start = arena_alloc(&batch->arena, sizeof *start);
        NEED(start, batch->error);
        *start = in->starts[i];
        if (is_own && !start->options.group)
            start->options.group = instance->row.group;
        children[i] = (struct child){.start = start, .is_unwanted = is_cancelled && is_own};
    }
    *ret_children = children;
    return batch_plan_children(batch, request, children, in->start_count);
}

/* What goes with a commit that was taken. */
static cairn_code keep_all(struct batch *batch, struct workset_instance *instance,
                           struct request *request, struct child *children)
{
    const struct commit_input *in = &request->in.commit;
    TRY(start_all(batch, instance, request, children));
    TRY(emit_all(batch, instance, in));
    return keep_logs(batch, instance, in);
}

cairn_code batch_commit_passage(struct batch *batch, struct request *request)
{
    const struct commit_input *in = &request->in.commit;
    struct workset_instance *instance;
    struct flow_step *runner;
    struct child *children = NULL;
    struct passage_commit commit;
    struct flow_verdict verdict = {.code = CAIRN_E_LEASE_LOST};
    request->out.committed = (struct committed_output){0};
    if (request_enqueues_children(request))
        batch->are_jobs_ahead = false;
    if (request_starts_children(request))
        batch->are_starts_ahead = false;
    TRY(batch_find_step(batch, in->task_id, &instance, &runner));
    if (!runner) {
        refuse(batch, request, NULL, &verdict);
        return CAIRN_OK;
    }
    TRY(plan_children(batch, request, instance, instance->row.goal == GOAL_CANCEL, &children));
    if (request->code)
        return CAIRN_OK;
    TRY(fill_commit(batch, in, &commit));
    bool is_conflict = in->revision != instance->row.revision;
    TRY(flow_commit(&instance->flow, runner, &commit, &verdict));
    if (verdict.code) {
        workset_revise_dirty(instance); /* a stopped run's lease has ended */
        refuse(batch, request, runner, &verdict);
        return CAIRN_OK;
    }
    if (verdict.is_repeated) {
        workset_revise_dirty(instance);
    } else {
        workset_revise(instance);
        batch->tally.passage_commits++;
        batch->tally.passage_conflicts += is_conflict;
        if (in->outcome != PASSAGE_GO_ON)
            TRY(figures_note_call(batch, runner->row.task_type, in->task_id, false,
                                  in->outcome == PASSAGE_FAIL));
        TRY(keep_all(batch, instance, request, children));
    }
    return answer(batch, request, instance, runner, &verdict, is_conflict);
}
