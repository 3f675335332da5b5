/* core/flow_report.c - what a worker's report, a lost lease or a timer means.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "core/counter.h"
#include "core/flow_inside.h"

#include <string.h>

/* ---- leases --------------------------------------------------------------------------------- */

bool lease_is_held_by(const struct step_row *row, const char *worker, const char *token,
                      int64_t now_us)
{
    return text_is(row->locked_by, worker) && text_is(row->token, token) &&
           row->locked_until_us >= now_us;
}

const char *flow_outcome_name(cairn_outcome outcome)
{
    static const char *const names[] = {
        [CAIRN_COMPLETE] = "complete", [CAIRN_FAIL] = "fail",       [CAIRN_RETRY] = "retry",
        [CAIRN_DEAD] = "dead",         [CAIRN_RELEASE] = "release", [CAIRN_WAIT] = "wait",
    };
    return names[outcome];
}

void lease_judge_late(const struct step_row *row, const char *worker, const char *token,
                      const char *outcome, struct flow_verdict *verdict)
{
    bool is_ender = text_is(row->ended_by, worker) && text_is(row->ended_token, token);
    /* A lease that an earlier version has ended does not say how. */
    verdict->is_repeated =
        is_ender && (!row->ended_outcome || strcmp(row->ended_outcome, outcome) == 0);
    verdict->code = verdict->is_repeated ? CAIRN_OK : CAIRN_E_LEASE_LOST;
    verdict->ended_outcome = is_ender ? row->ended_outcome : NULL;
}

void lease_extend(struct step_row *row, int64_t until_us)
{
    if (row->call_until_us && until_us > row->call_until_us)
        until_us = row->call_until_us;
    row->locked_until_us = until_us;
    row->due_at_us = until_us + 1;
}

/* The row is not written for a little more time: that would be most of what a commit of a function
 * writes, since every timer's index has the end of the lease. */
bool lease_is_fresh(const struct step_row *row, int64_t extend_us, int64_t now_us)
{
    enum { FRESH_PART = 8 };
    return row->locked_until_us >= instant_add(now_us, extend_us - extend_us / FRESH_PART) &&
           row->locked_until_us <= instant_add(now_us, extend_us);
}

void flow_claimed(struct flow_step *step, int64_t now_us)
{
    const struct step_config *config = step->config;
    int64_t timeout_us = step->row.status == STEP_COMPENSATION ? config->compensation.timeout_us
                                                               : config->timeout_us;
    if (!timeout_us)
        return;
    step->row.call_until_us = instant_add(now_us, timeout_us);
    lease_extend(&step->row, step->row.locked_until_us);
    step->is_dirty = true;
}

struct flow_verdict flow_heartbeat(struct flow_step *step, const char *worker,
                                   const char *token, int64_t extend_us, int64_t now_us)
{
    struct step_row *row = &step->row;
    if (!lease_is_held_by(row, worker, token, now_us))
        return (struct flow_verdict){.code = CAIRN_E_LEASE_LOST};
    struct flow_verdict verdict = {.stop = row->stop ? step_stop_name(row->stop) : NULL};
    bool is_stopped = row->stop && row->stop != STOP_PAUSED; /* what runs may finish */
    if (is_stopped || extend_us == 0)
        return verdict;
    lease_extend(row, instant_add(now_us, extend_us));
    row->updated_at_us = now_us;
    step->is_dirty = true;
    return verdict;
}

/* The worker has ended its lease by reporting: remembered, in case its report is repeated. */
void lease_end(struct flow *flow, struct flow_step *step, const char *worker, const char *token,
               const char *outcome)
{
    if (step->row.stop == STOP_PAUSED)
        step_set_stop(flow, step, STOP_NONE);
    step->row.ended_by = worker;
    step->row.ended_token = token;
    step->row.ended_outcome = outcome;
    step_drop_lease(step);
    step_touch(flow, step);
}

/* ---- a step --------------------------------------------------------------------------------- */

/* One more call of a step, or of its compensation, has failed: another later, or the end. */
static cairn_code spend_attempt(struct flow *flow, struct flow_step *step, const char *error,
                                int64_t delay_us, bool is_last)
{
    struct step_row *row = &step->row;
    struct instance_row *instance = flow->instance;
    bool is_undo = row->status == STEP_COMPENSATION;
    TRY(flow->source->config(flow, step));
    const struct compensation_config *undo = &step->config->compensation;
    int32_t *counter = is_undo ? &row->compensation_attempts : &row->attempts;
    int32_t attempts = *counter = counter_after(*counter);
    int32_t most = is_undo ? undo->max_attempts : row->max_attempts;
    bool is_repeatable = is_undo ? undo->is_idempotent : step->config->is_idempotent;
    if (!is_undo)
        row->output = NULL; /* of a call before, whose template has failed */
    is_last |= attempts >= most || !is_repeatable;
    if (is_last && !is_undo)
        return step_fail(flow, step, error, attempts);

    *(is_undo ? &row->undo_error : &row->error) = error;
    TRY(flow->source->set_error(flow, is_undo ? &instance->undo_error : &instance->last_error,
                                row->name, error, attempts));
    step_touch(flow, step);
    if (is_last)
        return undo_exhausted(flow, step);
    if (delay_us < 0)
        delay_us = backoff_delay_us(is_undo ? &undo->retry : &step->config->retry, attempts,
                                    rng_unit(flow->rng));
    TRY(step_make_ready(flow, step, instant_add(flow->now_us, delay_us), NULL));
    return flow_note(flow, is_undo ? "compensation_retry" : "step_retry", step,
                     FACTS(.error = error, .has_retry_count = true, .retry_count = attempts,
                           .run_at_us = row->next_run_at_us));
}

static cairn_code release(struct flow *flow, struct flow_step *step,
                          const struct flow_report *report)
{
    int64_t delay_us = report->delay_us > 0 ? report->delay_us : 0;
    bool is_continued = step->row.attempts || step->row.is_timed_out || step->row.signal;
    if (report->is_missing_handler && !is_continued) {
        step->row.started_at_us = 0;      /* not called yet, so there is nothing to undo */
        step->row.is_effect_begun = true; /* but its key was handed out */
    }
    const char *reason = report->is_missing_handler ? TOLD_BY_CALLER : "released";
    TRY(step_make_ready(flow, step, instant_add(flow->now_us, delay_us), reason));
    if (!report->is_missing_handler)
        return CAIRN_OK;
    return flow_note(flow, "step_skipped_missing_handler", step,
                     FACTS(.reason = "missing_handler", .worker = report->worker));
}

static cairn_code wait_for(struct flow *flow, struct flow_step *step,
                           const struct flow_report *report)
{
    struct step_row *row = &step->row;
    row->waiting_event = report->event;
    row->deadline_at_us =
        report->timeout_us < 0 ? 0 : instant_add(flow->now_us, report->timeout_us);
    row->next_run_at_us = 0;
    row->is_timed_out = false;
    row->signal = NULL;
    step_set(flow, step, STEP_WAITING);
    TRY(flow_note(flow, "step_waiting", step,
                  FACTS(.event = report->event, .run_at_us = row->deadline_at_us)));
    return step_arm(flow, step);
}

static cairn_code apply_report(struct flow *flow, struct flow_step *step,
                               const struct flow_report *report)
{
    switch (report->outcome) {
    case CAIRN_COMPLETE:
        if (step->row.status == STEP_COMPENSATION)
            return undo_succeeded(flow, step);
        step->row.is_timed_out = false;
        step->row.signal = NULL;
        return step_complete(flow, step, report->output, NULL);
    case CAIRN_RELEASE:
        return release(flow, step, report);
    case CAIRN_WAIT:
        return wait_for(flow, step, report);
    default:
        return spend_attempt(flow, step, report->error,
                             report->outcome == CAIRN_RETRY ? report->delay_us : -1,
                             report->outcome == CAIRN_DEAD);
    }
}

/* ---- while a goal is waited for ------------------------------------------------------------- */

/* Awaited: what completes is recorded as completed, anything else as skipped; never retried.  One whose
 * output cannot be made has failed, and keeps its answer for the undo. */
static cairn_code record_awaited(struct flow *flow, struct flow_step *step, const char *output,
                                 const char *error)
{
    const char *flaw = NULL;
    step->row.output = output;
    if (output)
        TRY(step_make_output(flow, step, &flaw));
    bool is_completed = output && !flaw;
    if (error)
        step->row.attempts = counter_after(step->row.attempts);
    step->row.error = flaw ? flaw : error;
    step_set(flow, step, is_completed ? STEP_COMPLETED : flaw ? STEP_FAILED : STEP_SKIPPED);
    step_set_stop(flow, step, output ? STOP_NONE : STOP_ROLLBACK);
    step_number(flow, step);
    if (is_completed)
        TRY(flow->source->clear_error(flow, &flow->instance->last_error, step->row.name));
    TRY(flow_note(flow,
                  is_completed ? "step_completed"
                  : flaw       ? "step_failed"
                               : "step_skipped",
                  step, FACTS(.error = step->row.error)));
    return lease_awaited_ended(flow, step);
}

static bool is_failure(const struct flow_report *report)
{
    return report->outcome == CAIRN_FAIL || report->outcome == CAIRN_RETRY ||
           report->outcome == CAIRN_DEAD;
}

/* Stopped: only its lease had not ended yet.  It counts as having run. */
cairn_code step_end_stopped(struct flow *flow, struct flow_step *step)
{
    if (step->row.kind == KIND_FUNCTION && flow->instance->goal == GOAL_CANCEL)
        TRY(function_skip_retries(flow));
    if (step->row.status == STEP_SKIPPED)
        step_number(flow, step);
    return lease_awaited_ended(flow, step);
}

bool step_is_stopped(const struct flow_step *step)
{
    return step->row.status != STEP_RUNNING && step->row.status != STEP_COMPENSATION;
}

/* ---- reports -------------------------------------------------------------------------------- */

/* Why this task cannot end with this outcome; NULL: it can. */
static const char *outcome_flaw(const struct step_row *row, cairn_outcome outcome)
{
    if (row->kind == KIND_FUNCTION && outcome != CAIRN_RELEASE)
        return "the task of a function is ended by a commit; a report can only release it";
    if (row->status == STEP_COMPENSATION && outcome == CAIRN_WAIT)
        return "a compensation cannot wait for an event";
    return NULL;
}

cairn_code flow_report(struct flow *flow, struct flow_step *step,
                       const struct flow_report *report, struct flow_verdict *ret_verdict)
{
    struct step_row *row = &step->row;
    const char *outcome = flow_outcome_name(report->outcome);
    *ret_verdict = (struct flow_verdict){0};
    if (!lease_is_held_by(row, report->worker, report->token, flow->now_us)) {
        lease_judge_late(row, report->worker, report->token, outcome, ret_verdict);
        return CAIRN_OK;
    }
    ret_verdict->flaw = outcome_flaw(row, report->outcome);
    if (ret_verdict->flaw) {
        ret_verdict->code = CAIRN_E_BAD_INPUT;
        return CAIRN_OK;
    }
    if (step_is_stopped(step)) {
        ret_verdict->code = CAIRN_E_LEASE_LOST;
        TRY(step_end_stopped(flow, step));
        return flow_settle(flow);
    }
    lease_end(flow, step, report->worker, report->token, outcome);
    if (flow->instance->goal && row->status != STEP_COMPENSATION)
        TRY(record_awaited(flow, step,
                           report->outcome == CAIRN_COMPLETE ? report->output : NULL,
                           is_failure(report) ? report->error : NULL));
    else
        TRY(apply_report(flow, step, report));
    return flow_settle(flow);
}

/* ---- timers --------------------------------------------------------------------------------- */

bool lease_ends_call(const struct step_row *row)
{
    return row->call_until_us && row->locked_until_us >= row->call_until_us;
}

static cairn_code lease_over(struct flow *flow, struct flow_step *step)
{
    bool is_timeout = lease_ends_call(&step->row);
    const char *error = is_timeout ? "TIMEOUT" : "LEASE_EXPIRED";
    if (step_is_stopped(step))
        return step_end_stopped(flow, step);
    if (step->row.status == STEP_RUNNING && flow->instance->goal)
        return record_awaited(flow, step, NULL, error);
    if (step->row.stop == STOP_PAUSED)
        step_set_stop(flow, step, STOP_NONE);
    step_drop_lease(step);
    step_touch(flow, step);
    int64_t delay_us = is_timeout ? -1 : 0; /* a lost lease is ready at once */
    return spend_attempt(flow, step, error, delay_us, false);
}

/* The time is over.  A signal that came in time but was not yet processed still wins. */
static cairn_code wait_over(struct flow *flow, struct flow_step *step)
{
    struct step_row *row = &step->row;
    TRY(flow->source->config(flow, step));
    TRY(step_arm(flow, step));
    if (row->status != STEP_WAITING)
        return CAIRN_OK;
    row->due_at_us = 0;
    if (row->kind == KIND_SLEEP)
        return step_complete(flow, step, row->input, row->signal);
    if (row->kind == KIND_TASK) {
        row->waiting_event = NULL;
        row->deadline_at_us = 0;
        row->is_timed_out = true;
        return step_make_ready(flow, step, flow->now_us, "WAITING_TIMEOUT");
    }
    row->waiting_event = NULL;
    return timeout_apply(flow, step, "WAITING_TIMEOUT");
}

cairn_code step_timer(struct flow *flow, struct flow_step *step)
{
    if (!step->row.due_at_us || step->row.due_at_us > flow->now_us)
        return CAIRN_OK;
    if (step_has_lease(step))
        return lease_over(flow, step);
    if (step->row.status == STEP_WAITING)
        return wait_over(flow, step);
    if (step->row.status == STEP_WAITING_DECISION)
        return timeout_apply(flow, step, "DECISION_TIMEOUT");
    return CAIRN_OK;
}

cairn_code flow_timer(struct flow *flow, struct flow_step *step)
{
    TRY(step_timer(flow, step));
    return flow_settle(flow);
}
