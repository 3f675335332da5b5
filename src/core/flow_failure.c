/* core/flow_failure.c - a step has failed for good: what its policy makes of the instance.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "core/flow_inside.h"

static enum failure_policy policy_of(const struct flow *flow, const struct flow_step *step)
{
    enum failure_policy policy = step->config->on_failure;
    if (policy != POLICY_DEFAULT)
        return policy;
    return flow->instance->has_compensation ? POLICY_COMPENSATE : POLICY_FAIL;
}

/* `continue`: the flow goes on with the data that has arrived. */
static void pass_through(struct flow_step *step)
{
    step->row.output = step_arrived(step);
    step->row.passed = NULL;
}

static cairn_code skip_and_go_on(struct flow *flow, struct flow_step *step)
{
    pass_through(step);
    TRY(flow_note(flow, "step_skipped", step, FACTS(.reason = "on_failure: continue")));
    return step_pass(flow, step, NULL);
}

cairn_code step_supersede(struct flow *flow, struct flow_step *step)
{
    enum step_status status = step->row.status;
    if (step_is_ended(status))
        return CAIRN_OK;
    if (status == STEP_PAUSED && step->row.kind != KIND_JOIN)
        TRY(flow->source->unpark(flow, step->row.seq));
    if (!step_has_lease(step) && step_was_called(flow, step))
        step_number(flow, step);
    TRY(children_supersede(flow, step));
    step_set_stop(flow, step, STOP_SUPERSEDED);
    step_stop_waiting(step);
    step_set(flow, step, STEP_SKIPPED);
    return flow_note(flow, "step_skipped", step, FACTS(.reason = "superseded"));
}

/* ---- policies ------------------------------------------------------------------------------- */

static cairn_code park(struct flow *flow, struct flow_step *step)
{
    TRY(park_lost(flow, step));
    TRY(step_park(flow, step));
    if (flow->instance->status == INSTANCE_DLQ)
        return CAIRN_OK;
    TRY(instance_turn(flow, INSTANCE_DLQ, "workflow_dlq"));
    return flow_freeze(flow);
}

static cairn_code pause_for(struct flow *flow, struct flow_step *step)
{
    step->row.is_held = true; /* resume tries it again */
    step_touch(flow, step);
    instance_set(flow, INSTANCE_PAUSED, false);
    flow->instance->paused_reason = PAUSED_BY_FAILURE;
    TRY(flow_note(flow, "workflow_paused", NULL, FACTS(.reason = PAUSED_BY_FAILURE)));
    return flow_freeze(flow);
}

cairn_code failure_is_tried_again(struct flow *flow, struct flow_step *step, bool *ret_is)
{
    struct lost_branch lost;
    TRY(flow->source->config(flow, step));
    TRY(find_any(flow, step, &lost));
    *ret_is = step->config->on_failure == POLICY_PAUSE && !flow->instance->is_dlq && !lost.join;
    return CAIRN_OK;
}

cairn_code failure_apply(struct flow *flow, struct flow_step *step)
{
    struct lost_branch lost;
    step->row.is_held = false;
    TRY(find_any(flow, step, &lost));
    if (lost.join)
        return lose_branch(flow, step, &lost);
    if (flow->instance->is_dlq)
        return park(flow, step);
    switch (policy_of(flow, step)) {
    case POLICY_PAUSE:
        return pause_for(flow, step);
    case POLICY_COMPENSATE:
        return goal_begin(flow, GOAL_UNDO, step, STOP_ROLLBACK);
    default:
        return goal_begin(flow, GOAL_FAIL, step, STOP_NONE);
    }
}

cairn_code step_fail(struct flow *flow, struct flow_step *step, const char *error,
                     int32_t attempt)
{
    TRY(flow->source->config(flow, step));
    step->row.error = error;
    step->row.is_ready = false;
    step->row.due_at_us = 0;
    step->row.deadline_at_us = 0;
    TRY(flow->source->set_error(flow, &flow->instance->last_error, step->row.name, error,
                                attempt));
    step_number(flow, step);

    bool is_skipping = policy_of(flow, step) == POLICY_CONTINUE;
    step_set(flow, step, is_skipping ? STEP_SKIPPED : STEP_FAILED);
    TRY(flow_note(
        flow, "step_failed", step,
        FACTS(.error = error, .has_retry_count = true, .retry_count = step->row.attempts)));
    if (is_skipping)
        return skip_and_go_on(flow, step);

    bool is_parking_now = flow->instance->status == INSTANCE_DLQ;
    if (flow_is_frozen(flow) && !is_parking_now) {
        step->row.is_held = true; /* its policy is applied when the instance resumes */
        return CAIRN_OK;
    }
    return failure_apply(flow, step);
}

/* A wait or a decision whose time is over: on_timeout, else it has failed. */
cairn_code timeout_apply(struct flow *flow, struct flow_step *step, const char *error)
{
    TRY(flow->source->config(flow, step));
    step->row.deadline_at_us = 0;
    step->row.due_at_us = 0;
    if (!step->config->is_timeout_continue)
        return step_fail(flow, step, error, 1);
    step->row.error = error;
    pass_through(step);
    step_set(flow, step, STEP_SKIPPED);
    step_number(flow, step);
    TRY(flow_note(flow, "step_skipped", step,
                  FACTS(.error = error, .reason = "on_timeout: continue")));
    return step_pass(flow, step, step->row.signal);
}
