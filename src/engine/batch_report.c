/* engine/batch_report.c - what workers say of steps: reports and heartbeats.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "base/error.h"
#include "engine/workset.h"

#include <stdio.h>

static void count_outcome(struct tally *tally, const struct flow_step *step,
                          cairn_outcome outcome)
{
    enum step_status status = step->row.status;
    if (outcome == CAIRN_COMPLETE)
        tally->completed++;
    else if (outcome == CAIRN_RELEASE)
        tally->released++;
    else if (status == STEP_READY || status == STEP_COMPENSATION)
        tally->retried++;
    else if (outcome != CAIRN_WAIT)
        tally->failed++;
}

cairn_code batch_find_step(struct batch *batch, const char *task_id,
                           struct workset_instance **ret_instance, struct flow_step **ret_step,
                           cairn_error *reterr)
{
    char id[ID_TEXT];
    int32_t seq;
    *ret_instance = NULL;
    *ret_step = NULL;
    if (!step_id_split(task_id, id, &seq))
        return CAIRN_OK;
    cairn_code code = workset_take(batch, id, ret_instance, reterr);
    if (code || !*ret_instance)
        return code;
    return workset_step(*ret_instance, seq, ret_step, reterr);
}

/* -1: the step's own backoff. */
static int64_t delay_of(struct batch *batch, const cairn_report *report)
{
    if (report->delay_ms >= 0)
        return report->delay_ms * US_PER_MS;
    if (report->outcome != CAIRN_RELEASE || !report->is_missing_handler)
        return -1;
    return missing_rest_ms(&batch->engine->base.options, rng_unit(&batch->committer->rng)) *
           US_PER_MS;
}

cairn_code batch_report_step(struct batch *batch, struct request *request, size_t index,
                             cairn_error *reterr)
{
    const cairn_report *given = &request->in.report.reports[index];
    cairn_reported *reported = &request->out.reported[index];
    struct workset_instance *instance;
    struct flow_step *step;
    struct flow_verdict verdict = {.code = CAIRN_E_LEASE_LOST};
    *reported = (cairn_reported){0};
    cairn_code code = batch_find_step(batch, given->task_id, &instance, &step, reterr);
    if (code)
        return code;
    if (step) {
        struct flow_report report = {
            .outcome = given->outcome,
            .worker = request->in.report.worker,
            .token = given->token,
            .output = given->output ? given->output : "null",
            .error = given->error ? given->error : "",
            .event = given->event,
            .delay_us = delay_of(batch, given),
            .is_missing_handler = given->is_missing_handler,
            .timeout_us = given->timeout_ms < 0 ? -1 : given->timeout_ms * US_PER_MS,
        };
        code = flow_report(&instance->flow, step, &report, &verdict, reterr);
        if (!code && !verdict.code && !verdict.is_repeated) {
            count_outcome(&batch->tally, step, given->outcome);
            code = batch_emit(batch, instance, step->row.name, given->outbound,
                              given->outbound_count, reterr);
        }
        if (code)
            return code;
        if (verdict.code)
            workset_revise_dirty(instance);
        else
            workset_revise(instance);
    }
    reported->code = verdict.code;
    if (verdict.code == CAIRN_E_LEASE_LOST) {
        batch->tally.late_reports++;
        if (verdict.ended_outcome)
            ended_otherwise(&reported->error, given->task_id, verdict.ended_outcome);
        else
            lease_lost(&reported->error, given->task_id, request->in.report.worker,
                       step ? step_status_name(step->row.status) : NULL,
                       step ? step->row.locked_by : NULL);
    } else if (verdict.code) {
        fail(&reported->error, verdict.code, "%s", verdict.flaw);
    } else {
        snprintf(reported->status, sizeof reported->status, "%s",
                 step_status_name(step->row.status));
    }
    return CAIRN_OK;
}

/* Whether the lease was extended: not if the worker is to stop, or only looks. */
static bool extend(struct flow_step *step, const struct heartbeat_input *in, int64_t now_us,
                   struct flow_verdict *ret_verdict)
{
    bool was_dirty = step->is_dirty;
    step->is_dirty = false;
    *ret_verdict =
        flow_heartbeat(step, in->worker, in->token, in->extend_ms * US_PER_MS, now_us);
    bool is_extended = step->is_dirty;
    step->is_dirty |= was_dirty;
    return is_extended;
}

/* Changes the lease and nothing else, so the instance need not be locked.  The step was read with
 * all others that the batch names, and is written with them. */
void batch_heartbeat_step(struct batch *batch, struct request *request)
{
    const struct heartbeat_input *in = &request->in.heartbeat;
    char id[ID_TEXT];
    int32_t seq;
    struct flow_step *step = NULL;
    struct flow_verdict verdict = {.code = CAIRN_E_LEASE_LOST};
    if (step_id_split(in->task_id, id, &seq))
        step = workset_find_step(batch, id, seq);
    if (step)
        batch->tally.heartbeats += extend(step, in, batch->tx->now_us, &verdict);
    if (verdict.code) {
        batch->tally.late_reports++;
        request->code = lease_lost(&request->error, in->task_id, in->worker,
                                   step ? step_status_name(step->row.status) : NULL,
                                   step ? step->row.locked_by : NULL);
        return;
    }
    request->out.heartbeat.lease_until_us = step->row.locked_until_us;
    request->out.heartbeat.stop = verdict.stop;
}
