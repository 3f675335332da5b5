/* engine/batch_report.c - reports and heartbeats of workers, about jobs and steps.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "engine/limit.h"
#include "engine/workset.h"

#include <string.h>

/* ---- leases that are lost ------------------------------------------------------------------- */

static cairn_code lease_lost(cairn_error *error, const char *id, const char *worker,
                             const char *status, const char *holder)
{
    fail(error, CAIRN_E_LEASE_LOST, "task \"%.64s\" is no longer leased to worker \"%.64s\"",
         id, worker);
    if (status)
        fail_detail(error, CAIRN_E_LEASE_LOST, "it is %s%s%.64s", status,
                    holder ? ", held by " : "", holder ? holder : "");
    else
        fail_detail(error, CAIRN_E_LEASE_LOST, "there is no such task");
    return fail_hint(
        error, CAIRN_E_LEASE_LOST,
        "drop this result: the lease ran out, the work was stopped, or the token is "
        "another claim's");
}

static cairn_code job_lease_lost(cairn_error *error, const char *id, const char *worker,
                                 const struct workset_job *job)
{
    return lease_lost(error, id, worker, job ? job_status_name(job->row.status) : NULL,
                      job ? job->row.leased_by : NULL);
}

cairn_code step_lease_lost(cairn_error *error, const char *id, const char *worker,
                           const struct step_row *row)
{
    return lease_lost(error, id, worker, row ? step_status_name(row->status) : NULL,
                      row ? row->locked_by : NULL);
}

cairn_code ended_otherwise(cairn_error *error, const char *id, const char *ended_outcome)
{
    fail(error, CAIRN_E_LEASE_LOST, "task \"%.64s\" was already reported with this token", id);
    fail_detail(error, CAIRN_E_LEASE_LOST, "the first report was \"%s\", and it counts",
                ended_outcome);
    return fail_hint(error, CAIRN_E_LEASE_LOST,
                     "drop this result; only the same report may be repeated");
}

/* ---- reports about jobs --------------------------------------------------------------------- */

struct job_input report_to_input(const struct request *request, const cairn_report *report)
{
    static const enum job_action actions[] = {
        [CAIRN_COMPLETE] = JOB_COMPLETE, [CAIRN_FAIL] = JOB_FAIL,
        [CAIRN_RETRY] = JOB_RETRY,       [CAIRN_DEAD] = JOB_DEAD,
        [CAIRN_RELEASE] = JOB_RELEASE,
    };
    return (struct job_input){
        .action = actions[report->outcome],
        .worker = request->in.report.worker,
        .token = report->token,
        .output = report->output ? report->output : "null",
        .error = report->error ? report->error : "",
        .delay_us = report->delay_ms < 0 ? -1 : report->delay_ms * US_PER_MS,
    };
}

static cairn_code report_job(struct batch *batch, struct request *request,
                             const cairn_report *report, cairn_reported *reported)
{
    struct job_verdict verdict = {.code = CAIRN_E_LEASE_LOST};
    struct workset_job *job;
    TRY(workset_take_job(batch, report->task_id, &job));
    if (job && (report->outcome == CAIRN_WAIT || report->outbound_count)) {
        reported->code =
            fail(&reported->error, CAIRN_E_BAD_INPUT,
                 "job \"%.64s\" cannot %s: only the steps of workflows can", report->task_id,
                 report->outcome == CAIRN_WAIT ? "wait" : "emit events");
        return CAIRN_OK;
    }
    if (job) {
        struct job_input input = report_to_input(request, report);
        TRY(batch_apply_job(batch, job, &input, &verdict));
    }
    reported->code = verdict.code;
    batch->tally.late_reports += verdict.code != CAIRN_OK;
    if (!verdict.code)
        stpncpy(reported->status, job_status_name(job->row.status),
                sizeof reported->status - 1);
    else if (verdict.ended_outcome)
        ended_otherwise(&reported->error, report->task_id, verdict.ended_outcome);
    else
        job_lease_lost(&reported->error, report->task_id, request->in.report.worker, job);
    return CAIRN_OK;
}

/* ---- reports about steps -------------------------------------------------------------------- */

cairn_code batch_find_step(struct batch *batch, const char *task_id,
                           struct workset_instance **ret_instance, struct flow_step **ret_step)
{
    char id[ID_TEXT];
    int32_t seq;
    *ret_instance = NULL;
    *ret_step = NULL;
    if (!step_id_split(task_id, id, &seq))
        return CAIRN_OK;
    TRY(workset_take(batch, id, ret_instance));
    return *ret_instance ? workset_step(*ret_instance, seq, ret_step) : CAIRN_OK;
}

static bool is_called_again(enum step_status status)
{
    return status == STEP_READY || status == STEP_COMPENSATION;
}

static void count_outcome(struct tally *tally, const struct flow_step *step,
                          cairn_outcome outcome)
{
    enum step_status status = step->row.status;
    if (outcome == CAIRN_COMPLETE)
        tally->completed++;
    else if (outcome == CAIRN_RELEASE)
        tally->released++;
    else if (is_called_again(status))
        tally->retried++;
    else if (outcome != CAIRN_WAIT)
        tally->failed++;
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

static cairn_code apply_report(struct batch *batch, struct workset_instance *instance,
                               struct flow_step *step, const char *worker,
                               const cairn_report *given, struct flow_verdict *ret_verdict)
{
    struct flow_report report = {
        .outcome = given->outcome,
        .worker = worker,
        .token = given->token,
        .output = given->output ? given->output : "null",
        .error = given->error ? given->error : "",
        .event = given->event,
        .delay_us = delay_of(batch, given),
        .is_missing_handler = given->is_missing_handler,
        .timeout_us = given->timeout_ms < 0 ? -1 : given->timeout_ms * US_PER_MS,
    };
    TRY(flow_report(&instance->flow, step, &report, ret_verdict));
    if (!ret_verdict->code && !ret_verdict->is_repeated) {
        count_outcome(&batch->tally, step, given->outcome);
        if (given->outcome == CAIRN_RELEASE && step->has_place)
            TRY(batch_note_place(batch, step->row.task_type, step->row.group, true));
        if (given->outcome != CAIRN_RELEASE)
            TRY(figures_note_call(batch, step->row.task_type, given->task_id,
                                  given->outcome != CAIRN_COMPLETE &&
                                      is_called_again(step->row.status),
                                  given->outcome != CAIRN_COMPLETE));
        TRY(batch_emit(batch, instance, step->row.name, given->outbound,
                       given->outbound_count));
    }
    if (ret_verdict->code)
        workset_revise_dirty(instance);
    else
        workset_revise(instance);
    return CAIRN_OK;
}

static cairn_code report_step(struct batch *batch, struct request *request,
                              const cairn_report *given, cairn_reported *reported)
{
    const char *worker = request->in.report.worker;
    struct workset_instance *instance;
    struct flow_step *step;
    struct flow_verdict verdict = {.code = CAIRN_E_LEASE_LOST};
    TRY(batch_find_step(batch, given->task_id, &instance, &step));
    if (step)
        TRY(apply_report(batch, instance, step, worker, given, &verdict));
    reported->code = verdict.code;
    batch->tally.late_reports += verdict.code == CAIRN_E_LEASE_LOST;
    if (!verdict.code)
        stpncpy(reported->status, step_status_name(step->row.status),
                sizeof reported->status - 1);
    else if (verdict.code != CAIRN_E_LEASE_LOST)
        fail(&reported->error, verdict.code, "%s", verdict.flaw);
    else if (verdict.ended_outcome)
        ended_otherwise(&reported->error, given->task_id, verdict.ended_outcome);
    else
        step_lease_lost(&reported->error, given->task_id, worker, step ? &step->row : NULL);
    return CAIRN_OK;
}

cairn_code batch_report(struct batch *batch, struct request *request)
{
    size_t count = request->in.report.count;
    if (!request->out.reported)
        request->out.reported = arena_room(&request->arena, count, sizeof(cairn_reported));
    NEED(request->out.reported, batch->error);
    for (size_t i = 0; i < count; i++) {
        const cairn_report *report = &request->in.report.reports[i];
        cairn_reported *reported = &request->out.reported[i];
        *reported = (cairn_reported){0};
        TRY(is_step_id(report->task_id) ? report_step(batch, request, report, reported)
                                        : report_job(batch, request, report, reported));
    }
    return CAIRN_OK;
}

/* ---- heartbeats ----------------------------------------------------------------------------- */

static cairn_code beat_job(struct batch *batch, const char *worker, cairn_beat *beat,
                           cairn_error *why)
{
    struct job_verdict verdict = {.code = CAIRN_E_LEASE_LOST};
    struct job_input input = {.action = JOB_HEARTBEAT,
                              .worker = worker,
                              .token = beat->token,
                              .extend_us = beat->extend_ms * US_PER_MS};
    struct workset_job *job;
    TRY(workset_take_job(batch, beat->task_id, &job));
    if (job)
        TRY(batch_apply_job(batch, job, &input, &verdict));
    if (verdict.code) {
        beat->ret_code = job_lease_lost(why, beat->task_id, worker, job);
        return CAIRN_OK;
    }
    beat->ret_lease_until_us = job->row.lease_until_us;
    beat->ret_stop = verdict.stop;
    return CAIRN_OK;
}

/* Whether the lease was extended: not if the worker is to stop, or only checks its lease. */
static bool extend(struct flow_step *step, const char *worker, const cairn_beat *beat,
                   int64_t now_us, struct flow_verdict *ret_verdict)
{
    bool was_dirty = step->is_dirty;
    step->is_dirty = false;
    *ret_verdict =
        flow_heartbeat(step, worker, beat->token, beat->extend_ms * US_PER_MS, now_us);
    bool is_extended = step->is_dirty;
    step->is_dirty |= was_dirty;
    return is_extended;
}

bool heartbeat_answer(const char *worker, cairn_beat *beat, struct flow_step *step,
                      int64_t now_us, cairn_error *why)
{
    struct flow_verdict verdict = {.code = CAIRN_E_LEASE_LOST};
    bool is_extended = step && extend(step, worker, beat, now_us, &verdict);
    if (verdict.code) {
        beat->ret_code = step_lease_lost(why, beat->task_id, worker, step ? &step->row : NULL);
        return false;
    }
    beat->ret_lease_until_us = step->row.locked_until_us;
    beat->ret_stop = verdict.stop;
    return is_extended;
}

/* Changes the lease and nothing else, so the instance need not be locked.  The step was read with
 * all others that the batch names, and is written with them. */
static void beat_step(struct batch *batch, const char *worker, cairn_beat *beat,
                      cairn_error *why)
{
    char id[ID_TEXT];
    int32_t seq;
    struct flow_step *step = NULL;
    if (step_id_split(beat->task_id, id, &seq))
        step = workset_find_step(batch, id, seq);
    batch->tally.heartbeats += heartbeat_answer(worker, beat, step, batch->tx->now_us, why);
}

static cairn_code beat_task(struct batch *batch, const char *worker, cairn_beat *beat,
                            cairn_error *why)
{
    beat->ret_code = CAIRN_OK;
    beat->ret_stop = NULL;
    beat->ret_lease_until_us = 0;
    if (is_step_id(beat->task_id))
        beat_step(batch, worker, beat, why);
    else
        TRY(beat_job(batch, worker, beat, why));
    batch->tally.late_reports += beat->ret_code != CAIRN_OK;
    return CAIRN_OK;
}

cairn_code batch_heartbeat(struct batch *batch, struct request *request)
{
    cairn_beat beat = request_beat(request);
    TRY(beat_task(batch, request->in.heartbeat.worker, &beat, &request->error));
    request_give_beat(request, &beat);
    return CAIRN_OK;
}

cairn_code batch_heartbeats(struct batch *batch, struct request *request)
{
    const struct heartbeats_input *in = &request->in.heartbeats;
    const char **whys = arena_array(&request->arena, in->count, sizeof *whys);
    NEED(whys, batch->error);
    for (size_t i = 0; i < in->count; i++) {
        cairn_error why = {0};
        TRY(beat_task(batch, in->worker, &in->beats[i], &why));
        if (in->beats[i].ret_code && !(whys[i] = arena_strdup(&request->arena, why.message)))
            return fail_memory(batch->error);
    }
    request->out.whys = whys;
    return CAIRN_OK;
}
