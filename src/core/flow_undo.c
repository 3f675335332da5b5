/* core/flow_undo.c - stopping, and undoing one step at a time in the reverse order of commits.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "core/counter.h"
#include "core/flow_inside.h"

#include <assert.h>

/* ---- stopping ------------------------------------------------------------------------------- */

static const char *stop_text(enum instance_goal goal, enum step_stop stop)
{
    if (stop == STOP_ABORTED)
        return "Stopped due to workflow abort";
    return goal == GOAL_CANCEL ? "Stopped due to workflow cancellation"
                               : "Stopped due to workflow failure";
}

/* A step that is not to be executed (any more).  One that was called counts as having run. */
cairn_code step_skip(struct flow *flow, struct flow_step *step, enum step_stop stop,
                     const char *text)
{
    bool was_running = step->row.status == STEP_RUNNING;
    if (step_was_called(flow, step) && !step_has_lease(step) && !step->row.commit_no)
        step_number(flow, step);
    step_set_stop(flow, step, stop);
    step_stop_waiting(step);
    step->row.error = text;
    step_set(flow, step, STEP_SKIPPED);
    return flow_note(
        flow, was_running ? "step_failed" : "step_skipped", step,
        FACTS(.error = text, .reason = "workflow_stopped", .step_name = step->row.name));
}

static cairn_code abort_undo(struct flow *flow, struct flow_step *step)
{
    step->row.is_ready = false;
    step->row.due_at_us = step_has_lease(step) ? step->row.locked_until_us + 1 : 0;
    step->row.undo_error = stop_text(GOAL_NONE, STOP_ABORTED);
    step_set_stop(flow, step, STOP_ABORTED);
    step_set(flow, step, STEP_FAILED);
    return flow_note(flow, "step_failed", step,
                     FACTS(.error = step->row.undo_error, .reason = "workflow_stopped",
                           .step_name = step->row.name));
}

/* A cancelled run may be calling a step again right now: its last commit says so. */
static cairn_code is_in_passage(struct flow *flow, const struct flow_step *step, bool *ret_is)
{
    struct flow_step *runner;
    *ret_is =
        flow->instance->is_function && step->row.seq > 0 && step->row.status == STEP_READY;
    if (!*ret_is)
        return CAIRN_OK;
    TRY(flow->source->step(flow, 0, &runner));
    *ret_is = runner && step_has_lease(runner);
    return CAIRN_OK;
}

/* What a goal makes of a step that is current, leased or held. */
static cairn_code stop_step(struct flow *flow, struct flow_step *step, enum instance_goal goal,
                            enum step_stop stop)
{
    step->row.is_held = false;
    step_touch(flow, step);
    if (step_has_lease(step))
        flow->instance->awaited_count++;
    if (step->row.status == STEP_COMPENSATION)
        return abort_undo(flow, step);
    if (!step_is_current(step->row.status))
        return CAIRN_OK;
    bool is_awaited = false;
    if (goal == GOAL_CANCEL)
        TRY(is_in_passage(flow, step, &is_awaited));
    else if (goal == GOAL_FAIL)
        TRY(children_live(flow, step, &is_awaited));
    else if (goal == GOAL_UNDO)
        TRY(children_supersede(flow, step));
    if (is_awaited)
        return CAIRN_OK;
    if (!step_has_lease(step) || goal == GOAL_CANCEL || stop == STOP_ABORTED)
        return step_skip(flow, step, stop ? stop : STOP_ROLLBACK, stop_text(goal, stop));
    if (stop)
        step_set_stop(flow, step, stop); /* still running: its result is awaited */
    return CAIRN_OK;
}

static cairn_code stop_all(struct flow *flow, enum instance_goal goal, struct flow_step *failed,
                           enum step_stop stop)
{
    struct step_list steps;
    flow->instance->awaited_count = 0;
    TRY(flow->source->current(flow, &steps));
    for (size_t i = 0; i < steps.count; i++)
        if (steps.items[i] != failed)
            TRY(stop_step(flow, steps.items[i], goal, stop));
    TRY(flow->source->between(flow, STEP_PENDING, 0, INT32_MAX, &steps));
    for (size_t i = 0; i < steps.count; i++)
        TRY(step_skip(flow, steps.items[i], stop ? stop : STOP_ROLLBACK,
                      stop_text(goal, stop)));
    return CAIRN_OK;
}

/* ---- how far back --------------------------------------------------------------------------- */

/* The last save point before a place in a scope; -1: none. */
static cairn_code last_save_point(struct flow *flow, int32_t scope_fork, int32_t from,
                                  int32_t before, int32_t *ret_seq)
{
    struct step_list steps;
    *ret_seq = -1;
    if (before <= from)
        return CAIRN_OK;
    TRY(flow->source->between(flow, STEP_COMPLETED, from, before - 1, &steps));
    for (size_t i = steps.count; i > 0 && *ret_seq < 0; i--)
        if (steps.items[i - 1]->row.kind == KIND_SAVE_POINT &&
            steps.items[i - 1]->row.scope_fork == scope_fork)
            *ret_seq = steps.items[i - 1]->row.seq;
    return CAIRN_OK;
}

/* Undone is what comes after the nearest save point: in the failed step's own scope, else in the
 * enclosing ones, outward. */
static cairn_code set_undo_range(struct flow *flow, const struct flow_step *failed)
{
    struct instance_row *instance = flow->instance;
    const struct flow_step *at = failed;
    struct flow_step *fork;
    for (;;) {
        int32_t save_point;
        TRY(last_save_point(flow, at->row.scope_fork, at->row.scope_from, at->row.seq,
                            &save_point));
        if (save_point >= 0) {
            instance->undo_from = save_point + 1;
            instance->undo_to = at->row.scope_to;
            return CAIRN_OK;
        }
        if (at->row.scope_fork < 0)
            break;
        TRY(flow->source->step(flow, at->row.scope_fork, &fork));
        if (!fork)
            break;
        at = fork;
    }
    instance->undo_from = 0;
    instance->undo_to = INT32_MAX;
    return CAIRN_OK;
}

/* ---- the goal ------------------------------------------------------------------------------- */

/* All that was awaited has ended.  may_be_lost: a fork may have failed with what began this. */
static cairn_code goal_settle(struct flow *flow, bool may_be_lost);

cairn_code goal_begin(struct flow *flow, enum instance_goal goal, struct flow_step *failed,
                      enum step_stop stop)
{
    struct instance_row *instance = flow->instance;
    assert(failed || goal != GOAL_UNDO);
    bool may_be_lost = instance->goal || (failed && failed->row.scope_fork >= 0);
    instance->undo_from = 0;
    instance->undo_to = INT32_MAX;
    if (goal == GOAL_UNDO)
        TRY(set_undo_range(flow, failed));
    instance->undo_first = goal == GOAL_CANCEL ? UNDO_OF_CANCEL
                           : goal == GOAL_UNDO ? failed->row.seq
                                               : UNDO_FIRST_NONE;
    instance->undo_below = 0;
    instance->is_undo_failed = false;
    instance->goal = goal;
    flow->is_dirty = true;
    if (goal == GOAL_FAIL && instance->status == INSTANCE_WAITING_SIGNAL)
        TRY(instance_turn(flow, INSTANCE_RUNNING, "workflow_running"));
    else if (goal != GOAL_FAIL)
        TRY(instance_turn(flow, INSTANCE_COMPENSATING, "workflow_compensating"));
    TRY(stop_all(flow, goal, failed, stop));
    /* They are undone first, if they are stopped. */
    instance->awaited_count +=
        goal == GOAL_CANCEL ? instance->child_count : instance->own_child_count;
    if (goal == GOAL_CANCEL && instance->child_count)
        instance->is_telling = true;
    return goal_settle(flow, may_be_lost);
}

cairn_code flow_child_ended(struct flow *flow)
{
    struct instance_row *instance = flow->instance;
    instance->child_count--;
    flow->is_dirty = true;
    if (instance->goal != GOAL_CANCEL || instance->awaited_count == 0)
        return CAIRN_OK;
    instance->awaited_count--;
    return goal_go_on(flow);
}

cairn_code flow_stop_for_abort(struct flow *flow)
{
    struct instance_row *instance = flow->instance;
    bool may_be_lost = instance->goal && instance->goal != GOAL_REDO && !instance->undo_below;
    instance->goal = GOAL_NONE;
    TRY(stop_all(flow, GOAL_NONE, NULL, STOP_ABORTED));
    return may_be_lost ? joins_tell_all_lost(flow) : CAIRN_OK;
}

cairn_code flow_stop_unbegun(struct flow *flow)
{
    return stop_all(flow, GOAL_CANCEL, NULL, STOP_CANCELLED);
}

cairn_code lease_awaited_ended(struct flow *flow, struct flow_step *step)
{
    step_drop_lease(step);
    step_touch(flow, step);
    if (!flow->instance->goal || flow->instance->awaited_count == 0)
        return CAIRN_OK;
    flow->instance->awaited_count--;
    flow->is_dirty = true;
    return goal_go_on(flow);
}

/* ---- undoing -------------------------------------------------------------------------------- */

static cairn_code undo_begin(struct flow *flow, struct flow_step *step)
{
    /* One that was called and did not complete has no output, unless its own template has failed. */
    if (step->row.status != STEP_COMPLETED && step->row.status != STEP_FAILED)
        step->row.output = NULL;
    step_set(flow, step, STEP_COMPENSATION);
    step->row.compensation_attempts = 0;
    step->row.task_type = step->config->compensation.handler;
    step->row.stop = STOP_NONE;
    return flow_note(flow, "compensation_started", step,
                     FACTS(.has_retry_count = true, .retry_count = 0));
}

static cairn_code note_undone(struct flow *flow, struct flow_step *step, const char *reason)
{
    step->row.undo_error = NULL;
    step_set(flow, step, STEP_ROLLED_BACK);
    TRY(flow->source->clear_error(flow, &flow->instance->undo_error, step->row.name));
    return flow_note(flow, "compensation_success", step,
                     FACTS(.reason = reason, .has_retry_count = true,
                           .retry_count = step->row.compensation_attempts));
}

static cairn_code give_up_undo(struct flow *flow, struct flow_step *step)
{
    step->row.is_ready = false;
    step->row.due_at_us = 0;
    step_set(flow, step, STEP_FAILED);
    flow->instance->is_undo_failed = true;
    flow->is_dirty = true;
    TRY(flow_note(flow, "compensation_max_retries_exceeded", step,
                  FACTS(.error = step->row.undo_error, .has_retry_count = true,
                        .retry_count = step->row.compensation_attempts)));
    return flow->source->park(flow, step, "compensation max retries exceeded");
}

/* Undoes one step, as far as that can be done here.  *ret_is_begun: its handler must be called. */
static cairn_code undo_one(struct flow *flow, struct flow_step *step, bool *ret_is_begun)
{
    enum step_status status = step->row.status;
    *ret_is_begun = false;
    if (status == STEP_ROLLED_BACK || status == STEP_REJECTED || step_is_current(status))
        return CAIRN_OK;
    TRY(flow->source->config(flow, step));
    bool is_uncalled = step_is_uncalled(step), are_children = false;
    if (!is_uncalled)
        TRY(children_are_done(flow, step, &are_children));
    if (are_children) {
        *ret_is_begun = true;
        TRY(undo_begin(flow, step));
        return children_undo(flow, step);
    }
    if (!step->config->compensation.handler || is_uncalled)
        return status == STEP_SKIPPED ? CAIRN_OK : note_undone(flow, step, "nothing to undo");
    TRY(undo_begin(flow, step));
    if (step->config->compensation.max_attempts == 0)
        return give_up_undo(flow, step);
    *ret_is_begun = true;
    return step_make_ready(flow, step, flow->now_us, NULL);
}

static cairn_code undo_finish(struct flow *flow)
{
    struct instance_row *instance = flow->instance;
    bool is_cancelled = instance->undo_first == UNDO_OF_CANCEL && !instance->is_undo_failed;
    return flow_finish(flow, is_cancelled ? INSTANCE_CANCELLED : INSTANCE_FAILED);
}

/* Calls its compensation, or rolls its children back. */
static cairn_code redo(struct flow *flow, struct flow_step *step)
{
    TRY(flow->source->config(flow, step));
    return step->row.kind == KIND_START && !step->row.task_type
               ? children_undo(flow, step)
               : step_make_ready(flow, step, flow->now_us, NULL);
}

/* ---- undoing again -------------------------------------------------------------------------- */

/* Compensations taken out of the DLQ are done one at a time; the others wait, held. */
static cairn_code redo_next(struct flow *flow)
{
    struct step_list steps;
    bool is_left = false;
    TRY(flow->source->current(flow, &steps));
    for (size_t i = 0; i < steps.count; i++) {
        if (steps.items[i]->row.status != STEP_COMPENSATION || !steps.items[i]->row.is_held)
            continue;
        steps.items[i]->row.is_held = false;
        return redo(flow, steps.items[i]);
    }
    TRY(flow->source->has_parked(flow, &is_left));
    flow->instance->is_undo_failed = is_left;
    return undo_finish(flow);
}

cairn_code redo_begin(struct flow *flow, struct flow_step *step)
{
    struct instance_row *instance = flow->instance;
    bool is_busy = instance->goal == GOAL_REDO;
    if (!is_busy) {
        instance->goal = GOAL_REDO;
        instance->generation = counter_after(instance->generation);
        instance->finished_at_us = 0;
        instance_set(flow, INSTANCE_COMPENSATING, true);
        TRY(flow_note(flow, "workflow_compensating", NULL, FACTS(0)));
    }
    TRY(flow->source->config(flow, step));
    step_reopen(flow, step, STEP_COMPENSATION);
    step->row.compensation_attempts = 0;
    step->row.undo_error = NULL;
    step->row.stop = STOP_NONE;
    step->row.task_type = step->config->compensation.handler;
    step->row.is_held = is_busy;
    TRY(flow_note(flow, "compensation_started", step,
                  FACTS(.has_retry_count = true, .retry_count = 0)));
    return is_busy ? CAIRN_OK : redo(flow, step);
}

/* ---- the next one --------------------------------------------------------------------------- */

static cairn_code undo_next(struct flow *flow)
{
    struct instance_row *instance = flow->instance;
    bool is_begun = false;
    flow->is_dirty = true;
    if (instance->goal == GOAL_REDO)
        return redo_next(flow);
    if (instance->undo_below == 0) {
        instance->undo_below = instance->commits + 1;
        if (instance->undo_first >= 0) {
            struct flow_step *first;
            TRY(flow->source->step(flow, instance->undo_first, &first));
            if (first)
                TRY(undo_one(flow, first, &is_begun));
        }
    }
    while (!is_begun) {
        struct step_list steps;
        TRY(flow->source->committed(flow, instance->undo_below, instance->undo_from,
                                    instance->undo_to, &steps));
        if (steps.count == 0)
            return undo_finish(flow);
        for (size_t i = 0; i < steps.count && !is_begun; i++) {
            instance->undo_below = steps.items[i]->row.commit_no;
            bool is_done = steps.items[i]->row.seq == instance->undo_first;
            if (!is_done && !steps.items[i]->row.is_copied)
                TRY(undo_one(flow, steps.items[i], &is_begun));
        }
    }
    return CAIRN_OK;
}

static cairn_code goal_settle(struct flow *flow, bool may_be_lost)
{
    const struct instance_row *instance = flow->instance;
    if (instance->awaited_count > 0)
        return CAIRN_OK;
    may_be_lost &= instance->goal != GOAL_REDO && !instance->undo_below;
    if (may_be_lost && !instance->is_function)
        TRY(joins_tell_all_lost(flow)); /* before any of the steps is undone */
    if (instance->goal == GOAL_FAIL)
        return flow_finish(flow, INSTANCE_FAILED);
    return undo_next(flow);
}

cairn_code goal_go_on(struct flow *flow)
{
    return goal_settle(flow, true);
}

cairn_code undo_succeeded(struct flow *flow, struct flow_step *step)
{
    TRY(note_undone(flow, step, NULL));
    return undo_next(flow);
}

cairn_code undo_exhausted(struct flow *flow, struct flow_step *step)
{
    TRY(give_up_undo(flow, step));
    return undo_next(flow);
}
