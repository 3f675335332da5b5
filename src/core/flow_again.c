/* core/flow_again.c - beginning anew, and trying again what has failed.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "core/counter.h"
#include "core/flow_inside.h"

bool step_is_undone(const struct flow_step *step)
{
    return step->row.status == STEP_ROLLED_BACK && step->config->compensation.handler &&
           !step_is_uncalled(step);
}

/* A step that was rolled back without a compensation, or whose compensation failed, has not been
 * undone: its effect may stand, so that its next call is for the same one. */
static void count_effect(struct flow_step *step, bool is_restart)
{
    struct step_row *row = &step->row;
    bool is_begun = row->is_effect_begun || row->started_at_us;
    if (row->kind != KIND_TASK && row->kind != KIND_FUNCTION)
        return;
    bool is_past = step_is_undone(step) || (is_restart && is_begun);
    row->past_effects += is_past;
    row->is_effect_begun = is_begun && !is_past;
}

cairn_code step_plan_again(struct flow *flow, struct flow_step *step)
{
    if (step->row.status == STEP_PENDING)
        return CAIRN_OK;
    step_reopen(flow, step, STEP_PENDING);
    return flow_note(flow, "step_pending", step, FACTS(0));
}

cairn_code step_reset(struct flow *flow, struct flow_step *step, bool is_restart)
{
    struct step_row *row = &step->row;
    TRY(flow->source->config(flow, step));
    count_effect(step, is_restart);
    if (row->stop)
        step_set_stop(flow, step, STOP_NONE);
    TRY(step_plan_again(flow, step));
    step_drop_lease(step);
    row->attempts = row->compensation_attempts = 0;
    row->input = row->output = row->error = row->undo_error = row->signal = NULL;
    row->passed = NULL;
    row->waiting_event = row->task_type = NULL;
    row->commit_no = row->next_run_at_us = row->started_at_us = row->finished_at_us = 0;
    row->deadline_at_us = 0;
    row->is_ready = row->is_held = row->is_timed_out = false;
    row->ended_by = row->ended_token = row->ended_outcome = NULL;
    if (row->kind == KIND_JOIN) {
        struct flow_step *fork;
        TRY(flow->source->step(flow, step->config->fork, &fork));
        if (fork)
            TRY(flow->source->config(flow, fork));
        row->remaining = fork ? (int32_t)fork->config->branch_count : 1;
    }
    step_touch(flow, step);
    return CAIRN_OK;
}

static void reopen_instance(struct flow *flow)
{
    struct instance_row *instance = flow->instance;
    instance->generation = counter_after(instance->generation);
    instance->goal = GOAL_NONE;
    instance->is_undo_failed = false;
    instance->undo_error = NULL;
    instance->output = NULL;
    instance->finished_at_us = 0;
    instance->awaited_count = 0;
    instance->stop_by = instance->stop_reason = NULL;
    instance_set(flow, INSTANCE_RUNNING, true);
}

cairn_code flow_restart(struct flow *flow, const struct flow_who *who, cairn_code *ret_verdict)
{
    struct instance_row *instance = flow->instance;
    struct step_list steps;
    bool is_refused =
        instance->status == INSTANCE_PENDING || instance->status == INSTANCE_COMPENSATING;
    if (is_refused)
        return flow_refuse(ret_verdict);

    if (instance->is_function)
        TRY(function_forget(flow, true));
    TRY(flow->source->between(flow, STEP_NONE, 0, INT32_MAX, &steps));
    for (size_t i = 0; i < steps.count; i++)
        if (!steps.items[i]->row.is_copied)
            TRY(step_reset(flow, steps.items[i], true));
    TRY(flow->source->untake_signals(flow, NULL));
    TRY(flow->source->unpark(flow, -1));
    reopen_instance(flow);
    if (!instance->rerun_from) /* else copied steps keep theirs */
        instance->commits = 0;
    instance->last_error = NULL;
    instance->started_at_us = flow->now_us;
    TRY(flow_note_asked(flow, "workflow_restarted", who));
    TRY(flow_begin(flow));
    return flow_settle(flow);
}

/* ---- retry ---------------------------------------------------------------------------------- */

/* Failed, rolled back, or skipped because it was stopped.  What a condition has skipped stays so,
 * joins included, unless the condition is executed once more. */
static bool is_to_be_retried(const struct step_row *row)
{
    bool is_open = row->status == STEP_FAILED || row->status == STEP_ROLLED_BACK ||
                   (row->status == STEP_SKIPPED && row->stop);
    return is_open && !row->is_copied;
}

/* What becomes of the steps of an instance, by place. */
struct retrial {
    struct flow_step **steps; /* NULL: the row was deleted */
    size_t count;
    bool *is_kept;  /* in an `any` that has been won: lost branches stay lost */
    bool *is_reset; /* as planned again */
};

static cairn_code collect(struct flow *flow, struct retrial *trial)
{
    struct step_list steps;
    TRY(flow->source->between(flow, STEP_NONE, 0, INT32_MAX, &steps));
    trial->count = steps.count ? (size_t)steps.items[steps.count - 1]->row.seq + 1 : 0;
    trial->steps = arena_array(flow->arena, trial->count + 1, sizeof *trial->steps);
    trial->is_kept = arena_zalloc(flow->arena, trial->count + 1);
    trial->is_reset = arena_zalloc(flow->arena, trial->count + 1);
    NEED(trial->steps && trial->is_kept && trial->is_reset, flow->error);
    for (size_t i = 0; i < steps.count; i++) {
        TRY(flow->source->config(flow, steps.items[i]));
        trial->steps[steps.items[i]->row.seq] = steps.items[i];
    }
    return CAIRN_OK;
}

/* NULL: there is none. */
static struct flow_step *step_at(const struct retrial *trial, int32_t place)
{
    return place >= 0 && (size_t)place < trial->count ? trial->steps[place] : NULL;
}

static void mark(const struct retrial *trial, bool *marks, int32_t from, int32_t to)
{
    for (int32_t i = from; i >= 0 && i <= to && (size_t)i < trial->count; i++)
        marks[i] = true;
}

/* A fork or condition that is executed once more finds everything inside as planned, also the list
 * that a condition had not taken. */
static void mark_inside(struct retrial *trial, const struct flow_step *step)
{
    const struct step_config *config = step->config;
    bool is_reset = trial->is_reset[step->row.seq];
    if (step->row.kind == KIND_CONDITION && is_reset) {
        mark(trial, trial->is_reset, config->then_list.first, config->then_list.last);
        mark(trial, trial->is_reset, config->else_list.first, config->else_list.last);
    }
    if (step->row.kind != KIND_FORK)
        return;
    const struct flow_step *join = step_at(trial, config->join);
    if (is_reset)
        mark(trial, trial->is_reset, step->row.seq + 1, config->join);
    else if (join && join->config->is_any && step_has_passed(&join->row))
        mark(trial, trial->is_kept, step->row.seq + 1, config->join - 1);
}

/* What follows a step that is tried again had been skipped by its own policy, perhaps, and kept its
 * state when others were rolled back: it is open again as well. */
static void mark_behind(struct retrial *trial, const struct flow_step *step)
{
    const struct flow_step *next = step_at(trial, step->row.next);
    if (trial->is_reset[step->row.seq] && next && next->row.status == STEP_SKIPPED &&
        !next->row.is_copied)
        trial->is_reset[next->row.seq] = true;
}

static void choose(struct retrial *trial)
{
    for (size_t i = 0; i < trial->count; i++) {
        if (!trial->steps[i])
            continue;
        if (is_to_be_retried(&trial->steps[i]->row) && !trial->is_kept[i])
            trial->is_reset[i] = true;
        mark_inside(trial, trial->steps[i]);
        mark_behind(trial, trial->steps[i]);
    }
}

/* A function runs again from the top; what went well is remembered. */
static cairn_code retry_function(struct flow *flow, const struct flow_who *who)
{
    struct flow_step *runner;
    TRY(function_forget(flow, false));
    TRY(function_runner(flow, &runner));
    TRY(step_reset(flow, runner, false));
    TRY(flow->source->unpark(flow, -1));
    reopen_instance(flow);
    TRY(flow_note_asked(flow, "workflow_retried", who));
    TRY(token_add(flow, 0, flow->instance->input, NULL, NULL));
    return flow_settle(flow);
}

/* The step that the instance begins at gets its token from nowhere else. */
static cairn_code begin_again(struct flow *flow, const struct retrial *trial)
{
    const struct instance_row *instance = flow->instance;
    int32_t first = instance->rerun_from ? instance->rerun_from - 1 : 0;
    const struct flow_step *step = step_at(trial, first);
    if (step && step->row.status != STEP_PENDING)
        return CAIRN_OK;
    return instance->rerun_from ? rerun_send(flow)
                                : token_add(flow, 0, instance->input, NULL, NULL);
}

cairn_code flow_retry(struct flow *flow, const struct flow_who *who, cairn_code *ret_verdict)
{
    struct retrial trial = {0};
    if (flow->instance->status != INSTANCE_FAILED)
        return flow_refuse(ret_verdict);
    if (flow->instance->is_function)
        return retry_function(flow, who);

    TRY(collect(flow, &trial));
    choose(&trial);
    for (size_t i = 0; i < trial.count; i++) {
        if (!trial.steps[i] || !trial.is_reset[i])
            continue;
        if (trial.steps[i]->row.started_at_us)
            TRY(flow->source->untake_signals(flow, trial.steps[i]));
        TRY(step_reset(flow, trial.steps[i], false));
    }
    TRY(flow->source->unpark(flow, -1));
    reopen_instance(flow);
    TRY(flow_note_asked(flow, "workflow_retried", who));
    TRY(begin_again(flow, &trial));
    for (size_t i = 0; i < trial.count; i++)
        if (trial.steps[i] && step_has_passed(&trial.steps[i]->row) && !trial.is_kept[i])
            TRY(token_resend(flow, trial.steps[i], step_passed_signal(&trial.steps[i]->row),
                             NULL));
    return flow_settle(flow);
}
