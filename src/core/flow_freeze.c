/* core/flow_freeze.c - pausing at the next boundary, and going on from there.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * Frozen, nothing starts: what is ready or waits is held in its own row, so that a claim and the
 * timers pass it by.  What ends meanwhile is held, too.  Thawing applies all that was held.
 */
#include "core/flow_inside.h"

cairn_code flow_freeze(struct flow *flow)
{
    struct step_list steps;
    TRY(flow->source->current(flow, &steps));
    for (size_t i = 0; i < steps.count; i++) {
        struct step_row *row = &steps.items[i]->row;
        bool is_idle = row->status == STEP_READY || row->status == STEP_WAITING ||
                       row->status == STEP_WAITING_DECISION;
        if (row->kind == KIND_FUNCTION && row->status == STEP_RUNNING && !row->stop)
            step_set_stop(flow, steps.items[i], STOP_PAUSED); /* one last commit is awaited */
        if (!is_idle || step_has_lease(steps.items[i]))
            continue;
        row->is_held = true;
        row->is_ready = false;
        row->due_at_us = 0;
        step_touch(flow, steps.items[i]);
    }
    return CAIRN_OK;
}

static cairn_code thaw_failed(struct flow *flow, struct flow_step *step)
{
    bool is_tried_again;
    TRY(failure_is_tried_again(flow, step, &is_tried_again));
    step->row.is_held = false;
    step_touch(flow, step);
    if (!is_tried_again)
        return failure_apply(flow, step);
    step->row.attempts = 0;
    step->row.finished_at_us = 0;
    step->row.commit_no = 0;
    step->row.output = NULL;
    if (step->row.kind == KIND_TASK && !step_is_unmade(step))
        return step_make_ready(flow, step, flow->now_us, "resumed");
    TRY(step_plan_again(flow, step)); /* it waits, or is decided about, once more */
    return step_send_again(flow, step);
}

static cairn_code thaw_step(struct flow *flow, struct flow_step *step)
{
    const char *signal;
    switch (step->row.status) {
    case STEP_PENDING: /* it was about to begin */
        step->row.is_held = false;
        step_touch(flow, step);
        return token_add(flow, step->row.seq, step->row.input, step->row.signal, NULL);
    case STEP_READY:
        return step_make_ready(flow, step, step->row.next_run_at_us, "resumed");
    case STEP_WAITING:
    case STEP_WAITING_DECISION:
        TRY(step_arm(flow, step));
        if (step_is_parent(flow, step))
            return children_thaw(flow, step);
        return step_timer(flow, step); /* its time may be over by now */
    case STEP_COMPLETED:
    case STEP_CONFIRMED:
    case STEP_SKIPPED:
        signal = step->row.signal;
        step_touch(flow, step);
        if (step->row.kind == KIND_FORK || step->row.kind == KIND_CONDITION) {
            step->row.is_held = false;
            return token_resend(flow, step, signal, NULL);
        }
        return step_pass(flow, step, step->row.kind == KIND_TASK ? NULL : signal);
    case STEP_FAILED:
        return thaw_failed(flow, step);
    case STEP_PAUSED:
        if (step->row.kind == KIND_JOIN)
            return join_thaw(flow, step);
        step->row.is_held = false;
        step_touch(flow, step);
        return CAIRN_OK;
    default:
        step->row.is_held = false;
        step_touch(flow, step);
        return CAIRN_OK;
    }
}

/* The steps are taken once, before any of them moves on; a failure among them may stop the rest. */
cairn_code flow_thaw(struct flow *flow)
{
    struct step_list steps;
    TRY(flow->source->current(flow, &steps));
    for (size_t i = 0; i < steps.count; i++) {
        if (steps.items[i]->row.stop == STOP_PAUSED)
            step_set_stop(flow, steps.items[i],
                          STOP_NONE); /* it has not noticed, and goes on */
        if (steps.items[i]->row.is_held && !flow->instance->goal && !flow_is_frozen(flow))
            TRY(thaw_step(flow, steps.items[i]));
    }
    return flow_settle(flow);
}
