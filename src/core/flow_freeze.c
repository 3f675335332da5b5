/* core/flow_freeze.c - pausing at the next boundary, and going on from there.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * Frozen, nothing starts: what is ready or waits is held in its own row, so that a claim and the
 * timers pass it by.  What ends meanwhile is held, too.  Thawing applies all that was held.
 */
#include "base/clock.h"
#include "core/flow_inside.h"

cairn_code flow_freeze(struct flow *flow, cairn_error *reterr)
{
    struct flow_step **steps;
    size_t count;
    TRY(flow->source->current(flow, &steps, &count, reterr));
    for (size_t i = 0; i < count; i++) {
        struct step_row *row = &steps[i]->row;
        bool is_idle = row->status == STEP_READY || row->status == STEP_WAITING ||
                       row->status == STEP_WAITING_DECISION;
        if (row->kind == KIND_FUNCTION && row->status == STEP_RUNNING && !row->stop)
            step_set_stop(flow, steps[i], STOP_PAUSED); /* one last commit is awaited */
        if (!is_idle || step_has_lease(steps[i]))
            continue;
        row->is_held = true;
        row->is_ready = false;
        row->due_at_us = 0;
        step_touch(flow, steps[i]);
    }
    return CAIRN_OK;
}

static cairn_code thaw_failed(struct flow *flow, struct flow_step *step, cairn_error *reterr)
{
    bool is_tried_again;
    TRY(failure_is_tried_again(flow, step, &is_tried_again, reterr));
    step->row.is_held = false;
    step_touch(flow, step);
    if (!is_tried_again)
        return failure_apply(flow, step, reterr);
    step->row.attempts = 0;
    step->row.finished_at_us = 0;
    step->row.commit_no = 0;
    if (step->row.kind == KIND_TASK)
        return step_make_ready(flow, step, flow->now_us, "resumed", reterr);
    TRY(step_plan_again(flow, step, reterr)); /* it waits, or is decided about, once more */
    return token_add(flow, step->row.seq, step->row.input, NULL, NULL, reterr);
}

static cairn_code thaw_step(struct flow *flow, struct flow_step *step, cairn_error *reterr)
{
    const char *signal;
    switch (step->row.status) {
    case STEP_PENDING: /* it was about to begin */
        step->row.is_held = false;
        step_touch(flow, step);
        return token_add(flow, step->row.seq, step->row.input, step->row.signal, NULL, reterr);
    case STEP_READY:
        return step_make_ready(flow, step, step->row.next_run_at_us, "resumed", reterr);
    case STEP_WAITING:
    case STEP_WAITING_DECISION:
        TRY(step_arm(flow, step, reterr));
        return step_timer(flow, step, reterr); /* its time may be over by now */
    case STEP_COMPLETED:
    case STEP_CONFIRMED:
    case STEP_SKIPPED:
        signal = step->row.signal;
        step_touch(flow, step);
        if (step->row.kind == KIND_FORK || step->row.kind == KIND_CONDITION) {
            step->row.is_held = false;
            return token_resend(flow, step, signal, reterr);
        }
        return step_pass(flow, step, step->row.kind == KIND_TASK ? NULL : signal, reterr);
    case STEP_FAILED:
        return thaw_failed(flow, step, reterr);
    case STEP_PAUSED:
        if (step->row.kind == KIND_JOIN)
            return join_thaw(flow, step, reterr);
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
cairn_code flow_thaw(struct flow *flow, cairn_error *reterr)
{
    struct flow_step **steps;
    size_t count;
    TRY(flow->source->current(flow, &steps, &count, reterr));
    for (size_t i = 0; i < count; i++) {
        if (steps[i]->row.stop == STOP_PAUSED)
            step_set_stop(flow, steps[i], STOP_NONE); /* it has not noticed, and goes on */
        if (steps[i]->row.is_held && !flow->instance->goal && !flow_is_frozen(flow))
            TRY(thaw_step(flow, steps[i], reterr));
    }
    return flow_settle(flow, reterr);
}
