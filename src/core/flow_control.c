/* core/flow_control.c - what people ask of an instance: pause, resume, cancel, abort, restart, retry.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "core/flow_inside.h"

#include <string.h>

cairn_code flow_note_status(struct flow *flow, const char *type)
{
    return flow_note(
        flow, type, NULL,
        FACTS(.by = flow->instance->stop_by, .reason = flow->instance->stop_reason));
}

/* ---- pause and resume ----------------------------------------------------------------------- */

cairn_code flow_note_asked(struct flow *flow, const char *type, const struct flow_who *who)
{
    return flow_note(flow, type, NULL,
                     FACTS(.by = who->by, .reason = who->reason, .token = who->token));
}

cairn_code flow_pause(struct flow *flow, const struct flow_who *who, cairn_code *ret_verdict)
{
    enum instance_status status = flow->instance->status;
    bool is_going = status == INSTANCE_RUNNING || status == INSTANCE_WAITING_SIGNAL;
    if (!is_going || flow->instance->goal)
        return flow_refuse(ret_verdict);
    instance_set(flow, INSTANCE_PAUSED, false);
    flow->instance->paused_by = who->by;
    flow->instance->paused_reason = who->reason;
    TRY(flow_note_asked(flow, "workflow_paused", who));
    return flow_freeze(flow);
}

cairn_code flow_resume(struct flow *flow, const struct flow_who *who, bool is_forced,
                       cairn_code *ret_verdict)
{
    if (flow->instance->status != INSTANCE_PAUSED)
        return flow_refuse(ret_verdict);
    instance_set(flow, INSTANCE_RUNNING, false);
    bool is_accepting = is_forced && flow->instance->is_function;
    if (is_accepting)
        flow->instance->is_forced = true;
    TRY(flow_note_asked(flow, "workflow_resumed", who));
    if (is_accepting) /* the new code may not want what the old one waits for */
        TRY(token_add(flow, 0, flow->instance->input, NULL, NULL));
    return flow_thaw(flow);
}

/* ---- cancel and abort ----------------------------------------------------------------------- */

static void remember_who(struct flow *flow, const char *by, const char *reason)
{
    flow->instance->stop_by = by;
    flow->instance->stop_reason = reason;
    flow->is_dirty = true;
}

/* Before anything is stopped, but with the status that this is the beginning of. */
static cairn_code note_stopping(struct flow *flow, const char *type, enum instance_status to,
                                const struct flow_who *who)
{
    return flow_note(flow, type, NULL,
                     FACTS(.status = instance_status_name(to), .by = who->by,
                           .reason = who->reason, .token = who->token));
}

cairn_code flow_cancel(struct flow *flow, const struct flow_who *who, cairn_code *ret_verdict)
{
    enum instance_status status = flow->instance->status;
    bool is_begun = status != INSTANCE_PENDING;
    if (instance_is_final(status) || status == INSTANCE_COMPENSATING)
        return flow_refuse(ret_verdict);
    remember_who(flow, who->by, who->reason);
    TRY(note_stopping(flow, "cancellation_started",
                      is_begun ? INSTANCE_COMPENSATING : INSTANCE_CANCELLED, who));
    TRY(flow->source->unpark(flow, -1));
    if (is_begun)
        return goal_begin(flow, GOAL_CANCEL, NULL, STOP_CANCELLED);
    TRY(flow_stop_unbegun(flow));
    return flow_finish(flow, INSTANCE_CANCELLED);
}

static cairn_code abort_now(struct flow *flow)
{
    TRY(flow->source->unpark(flow, -1));
    TRY(flow_stop_for_abort(flow));
    return flow_finish(flow, INSTANCE_ABORTED);
}

cairn_code flow_abort(struct flow *flow, const struct flow_who *who, cairn_code *ret_verdict)
{
    if (instance_is_final(flow->instance->status))
        return flow_refuse(ret_verdict);
    remember_who(flow, who->by, who->reason);
    TRY(note_stopping(flow, "abort_started", INSTANCE_ABORTED, who));
    return abort_now(flow);
}

/* ---- decisions ------------------------------------------------------------------------------ */

cairn_code flow_decide(struct flow *flow, struct flow_step *step, bool is_confirmed,
                       const struct flow_who *who, cairn_code *ret_verdict)
{
    struct step_row *row = &step->row;
    bool is_late = row->deadline_at_us && flow->now_us > row->deadline_at_us;
    bool is_open = row->status == STEP_WAITING_DECISION && !is_late;
    if (!is_open)
        return flow_refuse(ret_verdict);
    step_stop_waiting(step);
    step_set(flow, step, is_confirmed ? STEP_CONFIRMED : STEP_REJECTED);
    TRY(flow_note(flow, "human_decision", step,
                  FACTS(.decision = is_confirmed ? "confirmed" : "rejected", .by = who->by,
                        .comment = who->reason, .token = who->token)));
    if (!is_confirmed) {
        remember_who(flow, who->by, who->reason);
        return abort_now(flow);
    }
    TRY(step_complete(flow, step, row->input, row->signal));
    return flow_settle(flow);
}

/* ---- the DLQ -------------------------------------------------------------------------------- */

static bool may_requeue(const struct flow *flow, const struct flow_step *step, bool is_undo)
{
    const struct instance_row *instance = flow->instance;
    if (is_undo)
        return step->row.status == STEP_FAILED &&
               (instance->status == INSTANCE_FAILED || instance->goal == GOAL_REDO);
    return step->row.status == STEP_PAUSED &&
           (instance->status == INSTANCE_DLQ || instance->status == INSTANCE_RUNNING ||
            instance->status == INSTANCE_WAITING_SIGNAL);
}

/* The step as if it had never been called; a task is claimed, other kinds run at once. */
static cairn_code requeue_step(struct flow *flow, struct flow_step *step, const char *input)
{
    struct step_row *row = &step->row;
    const char *arrived = step_arrived(step);
    const char *made = input ? input : rerun_given(flow, step);
    struct reopened reopened;
    TRY(flow->source->untake_signals(flow, step));
    if (flow->instance->is_function)
        TRY(function_forget(flow, false));
    TRY(branch_reopen(flow, step, &reopened));
    TRY(step_reset(flow, step, false));
    row->input = arrived;
    if (flow->instance->status == INSTANCE_DLQ)
        TRY(instance_turn(flow, INSTANCE_RUNNING, "workflow_running"));
    /* First of all, since what is held may park the instance again. */
    TRY(token_move(flow, &(struct flow_token){.seq = row->seq,
                                              .input = made ? made : arrived,
                                              .is_made = made != NULL}));
    TRY(branch_resend(flow, &reopened));
    return flow_thaw(flow);
}

cairn_code flow_requeue(struct flow *flow, struct flow_step *step, bool is_undo,
                        const char *input, const struct flow_who *who, cairn_code *ret_verdict)
{
    if (!may_requeue(flow, step, is_undo))
        return flow_refuse(ret_verdict);
    TRY(flow->source->unpark(flow, step->row.seq));
    TRY(flow_note(flow, "dlq_requeued", step,
                  FACTS(.status = step_status_name(is_undo ? STEP_COMPENSATION : STEP_PENDING),
                        .reason = is_undo ? "compensation" : NULL, .token = who->token)));
    if (is_undo && input)
        step->row.input = input;
    return is_undo ? redo_begin(flow, step) : requeue_step(flow, step, input);
}
