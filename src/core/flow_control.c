/* core/flow_control.c - what people ask of an instance: pause, resume, cancel, abort, restart, retry.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "base/clock.h"
#include "base/error.h"
#include "core/flow_inside.h"

#include <string.h>

static cairn_code note_status(struct flow *flow, const char *type, cairn_error *reterr)
{
    struct flow_facts facts = NO_FACTS;
    facts.status = instance_status_name(flow->instance->status);
    facts.by = flow->instance->stop_by;
    facts.reason = flow->instance->stop_reason;
    return flow_note(flow, type, NULL, &facts, reterr);
}

/* ---- pause and resume ----------------------------------------------------------------------- */

cairn_code flow_pause(struct flow *flow, cairn_code *ret_verdict, cairn_error *reterr)
{
    enum instance_status status = flow->instance->status;
    bool is_going = status == INSTANCE_RUNNING || status == INSTANCE_WAITING_SIGNAL;
    *ret_verdict = is_going && !flow->instance->goal ? CAIRN_OK : CAIRN_E_WRONG_STATE;
    if (*ret_verdict)
        return CAIRN_OK;
    instance_set(flow, INSTANCE_PAUSED, false);
    TRY(note_status(flow, "workflow_paused", reterr));
    return flow_freeze(flow, reterr);
}

cairn_code flow_resume(struct flow *flow, cairn_code *ret_verdict, cairn_error *reterr)
{
    *ret_verdict = flow->instance->status == INSTANCE_PAUSED ? CAIRN_OK : CAIRN_E_WRONG_STATE;
    if (*ret_verdict)
        return CAIRN_OK;
    instance_set(flow, INSTANCE_RUNNING, false);
    TRY(note_status(flow, "workflow_resumed", reterr));
    return flow_thaw(flow, reterr);
}

/* ---- cancel and abort ----------------------------------------------------------------------- */

static bool may_stop(const struct flow *flow)
{
    return !instance_is_final(flow->instance->status) &&
           flow->instance->status != INSTANCE_COMPENSATING;
}

static void remember_who(struct flow *flow, const char *by, const char *reason)
{
    flow->instance->stop_by = by;
    flow->instance->stop_reason = reason;
    flow->is_dirty = true;
}

cairn_code flow_cancel(struct flow *flow, const char *by, const char *reason,
                       cairn_code *ret_verdict, cairn_error *reterr)
{
    *ret_verdict = may_stop(flow) ? CAIRN_OK : CAIRN_E_WRONG_STATE;
    if (*ret_verdict)
        return CAIRN_OK;
    bool is_begun = flow->instance->status != INSTANCE_PENDING;
    remember_who(flow, by, reason);
    TRY(note_status(flow, "cancellation_started", reterr));
    TRY(flow->source->unpark(flow, -1, reterr));
    if (is_begun)
        return goal_begin(flow, GOAL_CANCEL, NULL, STOP_CANCELLED, reterr);
    TRY(flow_stop_unbegun(flow, reterr));
    return flow_finish(flow, INSTANCE_CANCELLED, reterr);
}

cairn_code flow_abort(struct flow *flow, const char *by, const char *reason,
                      cairn_code *ret_verdict, cairn_error *reterr)
{
    *ret_verdict = instance_is_final(flow->instance->status) ? CAIRN_E_WRONG_STATE : CAIRN_OK;
    if (*ret_verdict)
        return CAIRN_OK;
    remember_who(flow, by, reason);
    TRY(note_status(flow, "abort_started", reterr));
    TRY(flow->source->unpark(flow, -1, reterr));
    TRY(flow_stop_for_abort(flow, reterr));
    return flow_finish(flow, INSTANCE_ABORTED, reterr);
}

/* ---- restart and retry ---------------------------------------------------------------------- */

/* As planned: nothing has happened to it. */
static cairn_code reset_step(struct flow *flow, struct flow_step *step, cairn_error *reterr)
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

    TRY(flow->source->between(flow, STEP_NONE, 0, INT32_MAX, &steps, &count, reterr));
    for (size_t i = 0; i < count; i++)
        TRY(reset_step(flow, steps[i], reterr));
    TRY(flow->source->untake_signals(flow, NULL, reterr));
    TRY(flow->source->unpark(flow, -1, reterr));
    reopen_instance(flow);
    instance->commits = 0;
    instance->last_error = NULL;
    instance->started_at_us = flow->now_us;
    TRY(note_status(flow, "workflow_restarted", reterr));
    TRY(token_add(flow, 0, instance->input, NULL, NULL, reterr));
    return flow_settle(flow, reterr);
}

/* Failed, rolled back, or skipped because the instance was stopped. */
static bool is_to_be_retried(const struct step_row *row)
{
    bool is_stop_skipped =
        row->status == STEP_SKIPPED && row->stop && row->stop != STOP_SUPERSEDED;
    return row->status == STEP_FAILED || row->status == STEP_ROLLED_BACK || is_stop_skipped;
}

static bool has_passed(const struct step_row *row)
{
    bool is_continued = row->status == STEP_SKIPPED && !row->stop && row->commit_no;
    return row->status == STEP_COMPLETED || row->status == STEP_CONFIRMED || is_continued;
}

/* Sends a token again to a place that has not had one. */
static cairn_code resend(struct flow *flow, struct flow_step *from, int32_t seq,
                         cairn_error *reterr)
{
    struct flow_step *to;
    if (seq < 0)
        return token_add(flow, seq, from->row.output, NULL, from, reterr);
    TRY(flow->source->step(flow, seq, &to, reterr));
    if (to->row.status != STEP_PENDING)
        return CAIRN_OK;
    return token_add(flow, seq, from->row.output, NULL, from, reterr);
}

static cairn_code resend_all(struct flow *flow, struct flow_step *from, cairn_error *reterr)
{
    TRY(flow->source->config(flow, from, reterr));
    const struct step_config *config = from->config;
    if (from->row.kind == KIND_FORK) {
        for (size_t i = 0; i < config->branch_count; i++)
            TRY(resend(flow, from, config->branches[i].first, reterr));
        return CAIRN_OK;
    }
    if (from->row.kind != KIND_CONDITION)
        return resend(flow, from, from->row.next, reterr);

    struct place_range lists[2] = {config->then_list, config->else_list};
    bool has_list = false;
    for (int i = 0; i < 2; i++) {
        struct flow_step *first;
        if (lists[i].first < 0)
            continue;
        TRY(flow->source->step(flow, lists[i].first, &first, reterr));
        bool is_taken = first->row.status != STEP_SKIPPED || first->row.stop;
        has_list |= is_taken;
        if (is_taken)
            TRY(resend(flow, from, lists[i].first, reterr));
    }
    return has_list ? CAIRN_OK : resend(flow, from, from->row.next, reterr);
}

/* Sets a step back to be tried again; the signals that it took count as not taken. */
static cairn_code set_back(struct flow *flow, struct flow_step *step, cairn_error *reterr)
{
    if (step->row.started_at_us)
        TRY(flow->source->untake_signals(flow, step, reterr));
    return reset_step(flow, step, reterr);
}

static cairn_code open_place(struct flow *flow, int32_t seq, cairn_error *reterr)
{
    struct flow_step *step;
    if (seq < 0)
        return CAIRN_OK;
    TRY(flow->source->step(flow, seq, &step, reterr));
    return step->row.status == STEP_SKIPPED ? set_back(flow, step, reterr) : CAIRN_OK;
}

/* What was skipped, for whatever reason, right behind a step that is tried again is open again. */
static cairn_code open_behind(struct flow *flow, struct flow_step *step, cairn_error *reterr)
{
    TRY(flow->source->config(flow, step, reterr));
    const struct step_config *config = step->config;
    if (step->row.kind == KIND_CONDITION) {
        TRY(open_place(flow, config->then_list.first, reterr));
        TRY(open_place(flow, config->else_list.first, reterr));
    }
    for (size_t i = 0; step->row.kind == KIND_FORK && i < config->branch_count; i++)
        TRY(open_place(flow, config->branches[i].first, reterr));
    return open_place(flow, step->row.next, reterr);
}

cairn_code flow_retry(struct flow *flow, cairn_code *ret_verdict, cairn_error *reterr)
{
    struct flow_step **steps;
    size_t count;
    *ret_verdict = flow->instance->status == INSTANCE_FAILED ? CAIRN_OK : CAIRN_E_WRONG_STATE;
    if (*ret_verdict)
        return CAIRN_OK;

    TRY(flow->source->between(flow, STEP_NONE, 0, INT32_MAX, &steps, &count, reterr));
    for (size_t i = 0; i < count; i++) {
        bool is_open_join = steps[i]->row.kind == KIND_JOIN && !has_passed(&steps[i]->row);
        if (is_to_be_retried(&steps[i]->row) || is_open_join)
            TRY(set_back(flow, steps[i], reterr));
        if (steps[i]->row.status == STEP_PENDING)
            TRY(open_behind(flow, steps[i], reterr));
    }
    TRY(flow->source->unpark(flow, -1, reterr));
    reopen_instance(flow);
    TRY(note_status(flow, "workflow_retried", reterr));
    if (count && steps[0]->row.status == STEP_PENDING)
        TRY(token_add(flow, 0, flow->instance->input, NULL, NULL, reterr));
    for (size_t i = 0; i < count; i++)
        if (has_passed(&steps[i]->row))
            TRY(resend_all(flow, steps[i], reterr));
    return flow_settle(flow, reterr);
}

/* ---- decisions ------------------------------------------------------------------------------ */

static cairn_code reject(struct flow *flow, struct flow_step *step, const char *by,
                         const char *comment, cairn_error *reterr)
{
    step_set(flow, step, STEP_REJECTED);
    remember_who(flow, by, comment);
    TRY(flow->source->unpark(flow, -1, reterr));
    TRY(flow_stop_for_abort(flow, reterr));
    return flow_finish(flow, INSTANCE_ABORTED, reterr);
}

cairn_code flow_decide(struct flow *flow, struct flow_step *step, bool is_confirmed,
                       const char *by, const char *comment, cairn_code *ret_verdict,
                       cairn_error *reterr)
{
    struct step_row *row = &step->row;
    struct flow_facts facts = NO_FACTS;
    bool is_late = row->deadline_at_us && flow->now_us > row->deadline_at_us;
    bool is_open = row->status == STEP_WAITING_DECISION && !is_late;
    *ret_verdict = is_open ? CAIRN_OK : CAIRN_E_WRONG_STATE;
    if (!is_open)
        return CAIRN_OK;
    row->deadline_at_us = 0;
    row->due_at_us = 0;
    row->is_held = false;
    facts.decision = is_confirmed ? "confirmed" : "rejected";
    facts.by = by;
    facts.comment = comment;
    TRY(flow_note(flow, "human_decision", step, &facts, reterr));
    if (!is_confirmed)
        return reject(flow, step, by, comment, reterr);
    TRY(step_complete(flow, step, row->input, NULL, reterr));
    return flow_settle(flow, reterr);
}

/* ---- the DLQ -------------------------------------------------------------------------------- */

static bool may_requeue(const struct flow *flow, const struct flow_step *step, bool is_undo)
{
    const struct instance_row *instance = flow->instance;
    if (is_undo)
        return step->row.status == STEP_FAILED &&
               (instance_is_final(instance->status) || instance->goal == GOAL_REDO);
    return step->row.status == STEP_PAUSED &&
           (instance->status == INSTANCE_DLQ || instance->status == INSTANCE_RUNNING ||
            instance->status == INSTANCE_WAITING_SIGNAL);
}

/* The step as if it had never been called; a task is claimed, other kinds run at once. */
static cairn_code requeue_step(struct flow *flow, struct flow_step *step, const char *input,
                               cairn_error *reterr)
{
    struct step_row *row = &step->row;
    const char *given = input ? input : row->input;
    TRY(reset_step(flow, step, reterr));
    row->input = given;
    if (flow->instance->status == INSTANCE_DLQ)
        instance_set(flow, INSTANCE_RUNNING, false);
    TRY(token_add(flow, row->seq, given, NULL, NULL, reterr));
    return flow_thaw(flow, reterr);
}

cairn_code flow_requeue(struct flow *flow, struct flow_step *step, bool is_undo,
                        const char *input, cairn_code *ret_verdict, cairn_error *reterr)
{
    struct flow_facts facts = NO_FACTS;
    *ret_verdict = may_requeue(flow, step, is_undo) ? CAIRN_OK : CAIRN_E_WRONG_STATE;
    if (*ret_verdict)
        return CAIRN_OK;
    TRY(flow->source->unpark(flow, step->row.seq, reterr));
    facts.reason = is_undo ? "compensation" : NULL;
    TRY(flow_note(flow, "dlq_requeued", step, &facts, reterr));
    if (is_undo && input)
        step->row.input = input;
    return is_undo ? redo_begin(flow, step, reterr) : requeue_step(flow, step, input, reterr);
}
