/* core/flow_again.c - beginning anew, and trying again what has failed.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "base/clock.h"
#include "base/error.h"
#include "core/flow_inside.h"

/* As planned: nothing has happened to it. */
cairn_code step_reset(struct flow *flow, struct flow_step *step, cairn_error *reterr)
{
    struct step_row *row = &step->row;
    TRY(flow->source->config(flow, step, reterr));
    if (row->stop)
        step_set_stop(flow, step, STOP_NONE);
    if (row->status != STEP_PENDING)
        step_reopen(flow, step, STEP_PENDING);
    step_drop_lease(step);
    row->attempts = row->compensation_attempts = 0;
    row->input = row->output = row->error = row->signal = NULL;
    row->waiting_event = row->task_type = NULL;
    row->commit_no = row->next_run_at_us = row->started_at_us = row->finished_at_us = 0;
    row->deadline_at_us = 0;
    row->is_ready = row->is_held = row->is_timed_out = false;
    row->ended_by = row->ended_token = NULL;
    if (row->kind == KIND_JOIN) {
        struct flow_step *fork;
        TRY(flow->source->step(flow, step->config->fork, &fork, reterr));
        TRY(flow->source->config(flow, fork, reterr));
        row->remaining = (int32_t)fork->config->branch_count;
    }
    step_touch(flow, step);
    return CAIRN_OK;
}

static void reopen_instance(struct flow *flow)
{
    struct instance_row *instance = flow->instance;
    instance->generation++;
    instance->goal = GOAL_NONE;
    instance->is_undo_failed = false;
    instance->output = NULL;
    instance->finished_at_us = 0;
    instance->awaited_count = 0;
    instance->stop_by = instance->stop_reason = NULL;
    instance_set(flow, INSTANCE_RUNNING, true);
}

cairn_code flow_restart(struct flow *flow, cairn_code *ret_verdict, cairn_error *reterr)
{
    struct instance_row *instance = flow->instance;
    struct flow_step **steps;
    size_t count;
    bool is_refused =
        instance->status == INSTANCE_PENDING || instance->status == INSTANCE_COMPENSATING;
    *ret_verdict = is_refused ? CAIRN_E_WRONG_STATE : CAIRN_OK;
    if (is_refused)
        return CAIRN_OK;

    if (instance->is_function)
        TRY(function_forget(flow, true, reterr));
    TRY(flow->source->between(flow, STEP_NONE, 0, INT32_MAX, &steps, &count, reterr));
    for (size_t i = 0; i < count; i++)
        TRY(step_reset(flow, steps[i], reterr));
    TRY(flow->source->untake_signals(flow, NULL, reterr));
    TRY(flow->source->unpark(flow, -1, reterr));
    reopen_instance(flow);
    instance->commits = 0;
    instance->last_error = NULL;
    instance->started_at_us = flow->now_us;
    TRY(flow_note_status(flow, "workflow_restarted", reterr));
    TRY(token_add(flow, 0, instance->input, NULL, NULL, reterr));
    return flow_settle(flow, reterr);
}

/* ---- retry ---------------------------------------------------------------------------------- */

/* What goes to the next step with its token: a task has used the signal itself. */
static const char *passed_signal(const struct flow_step *step)
{
    return step->row.kind == KIND_TASK ? NULL : step->row.signal;
}

static bool has_passed(const struct step_row *row)
{
    bool is_continued = row->status == STEP_SKIPPED && !row->stop && row->commit_no;
    return row->status == STEP_COMPLETED || row->status == STEP_CONFIRMED || is_continued;
}

/* Failed, rolled back, or skipped because it was stopped.  What a condition has skipped stays so,
 * joins included, unless the condition is executed once more. */
static bool is_to_be_retried(const struct step_row *row)
{
    return row->status == STEP_FAILED || row->status == STEP_ROLLED_BACK ||
           (row->status == STEP_SKIPPED && row->stop);
}

/* What becomes of the steps at the places of an instance, all of which are at hand. */
struct retrial {
    struct flow_step **steps;
    size_t count;
    bool *is_kept;  /* in an `any` that has been won: lost branches stay lost */
    bool *is_reset; /* as planned again */
};

static void mark(bool *marks, int32_t from, int32_t to)
{
    for (int32_t i = from; i >= 0 && i <= to; i++)
        marks[i] = true;
}

/* A fork or condition that is executed once more finds everything inside as planned, also the list
 * that a condition had not taken. */
static void mark_inside(struct retrial *trial, const struct flow_step *step)
{
    const struct step_config *config = step->config;
    bool is_reset = trial->is_reset[step->row.seq];
    if (step->row.kind == KIND_CONDITION && is_reset) {
        mark(trial->is_reset, config->then_list.first, config->then_list.last);
        mark(trial->is_reset, config->else_list.first, config->else_list.last);
    }
    if (step->row.kind != KIND_FORK)
        return;
    const struct flow_step *join = trial->steps[config->join];
    if (is_reset)
        mark(trial->is_reset, step->row.seq + 1, config->join);
    else if (join->config->is_any && has_passed(&join->row))
        mark(trial->is_kept, step->row.seq + 1, config->join - 1);
}

/* What follows a step that is tried again had been skipped by its own policy, perhaps, and kept its
 * state when others were rolled back: it is open again as well. */
static void mark_behind(struct retrial *trial, const struct flow_step *step)
{
    int32_t next = step->row.next;
    if (trial->is_reset[step->row.seq] && next >= 0 &&
        trial->steps[next]->row.status == STEP_SKIPPED)
        trial->is_reset[next] = true;
}

static cairn_code choose(struct flow *flow, struct retrial *trial, cairn_error *reterr)
{
    trial->is_kept = arena_zalloc(flow->arena, trial->count + 1);
    trial->is_reset = arena_zalloc(flow->arena, trial->count + 1);
    if (!trial->is_kept || !trial->is_reset)
        return fail_memory(reterr);
    for (size_t i = 0; i < trial->count; i++)
        TRY(flow->source->config(flow, trial->steps[i], reterr));
    for (size_t i = 0; i < trial->count; i++) {
        if (is_to_be_retried(&trial->steps[i]->row) && !trial->is_kept[i])
            trial->is_reset[i] = true;
        mark_inside(trial, trial->steps[i]);
        mark_behind(trial, trial->steps[i]);
    }
    return CAIRN_OK;
}

/* A function runs again from the top; what went well is remembered. */
static cairn_code retry_function(struct flow *flow, cairn_error *reterr)
{
    struct flow_step *runner;
    TRY(function_forget(flow, false, reterr));
    TRY(flow->source->step(flow, 0, &runner, reterr));
    TRY(step_reset(flow, runner, reterr));
    TRY(flow->source->unpark(flow, -1, reterr));
    reopen_instance(flow);
    TRY(flow_note_status(flow, "workflow_retried", reterr));
    TRY(token_add(flow, 0, flow->instance->input, NULL, NULL, reterr));
    return flow_settle(flow, reterr);
}

cairn_code flow_retry(struct flow *flow, cairn_code *ret_verdict, cairn_error *reterr)
{
    struct retrial trial;
    *ret_verdict = flow->instance->status == INSTANCE_FAILED ? CAIRN_OK : CAIRN_E_WRONG_STATE;
    if (*ret_verdict)
        return CAIRN_OK;
    if (flow->instance->is_function)
        return retry_function(flow, reterr);

    TRY(flow->source->between(flow, STEP_NONE, 0, INT32_MAX, &trial.steps, &trial.count,
                              reterr));
    TRY(choose(flow, &trial, reterr));
    for (size_t i = 0; i < trial.count; i++) {
        if (!trial.is_reset[i])
            continue;
        if (trial.steps[i]->row.started_at_us)
            TRY(flow->source->untake_signals(flow, trial.steps[i], reterr));
        TRY(step_reset(flow, trial.steps[i], reterr));
    }
    TRY(flow->source->unpark(flow, -1, reterr));
    reopen_instance(flow);
    TRY(flow_note_status(flow, "workflow_retried", reterr));
    if (trial.count && trial.steps[0]->row.status == STEP_PENDING)
        TRY(token_add(flow, 0, flow->instance->input, NULL, NULL, reterr));
    for (size_t i = 0; i < trial.count; i++)
        if (has_passed(&trial.steps[i]->row) && !trial.is_kept[i])
            TRY(token_resend(flow, trial.steps[i], passed_signal(trial.steps[i]), reterr));
    return flow_settle(flow, reterr);
}
