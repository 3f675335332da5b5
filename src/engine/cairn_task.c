/* engine/cairn_task.c - the calls of cairn.h about tasks: claims, reports and heartbeats.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "cairn.h"

#include "engine/calling.h"

#include <string.h>

cairn_code take_claim(struct arena *arena, cairn_claim_options *to,
                      const cairn_claim_options *from, cairn_error *reterr)
{
    TRY(options_take(OPTIONS_CLAIM, to, from, reterr));
    TRY(options_take_many(OPTIONS_KNOWN, arena, to->known, to->known_count, &to->known,
                          reterr));
    return options_take_many(OPTIONS_FUNCTION_CODE, arena, to->functions, to->function_count,
                             &to->functions, reterr);
}

cairn_code cairn_claim(cairn_engine *engine, const cairn_claim_options *options,
                       cairn_page **ret_tasks, cairn_error *reterr)
{
    SCOPED_REQUEST(request, OP_CLAIM);
    TRY(take_claim(&request->arena, &request->in.claim, options, reterr));
    return run_for_page(engine, &request, PAGE_TASK, ret_tasks, reterr);
}

void cairn_wake(cairn_engine *engine, const char *worker)
{
    engine->ops->wake(engine, worker);
}

void cairn_end_unwanted(cairn_engine *engine)
{
    if (engine->ops->end_unwanted)
        engine->ops->end_unwanted(engine);
}

cairn_code cairn_idle(cairn_engine *engine, const char *const *types, size_t count,
                      int *ret_is_idle, cairn_error *reterr)
{
    SCOPED_REQUEST(request, OP_IDLE);
    request->in.claim = (cairn_claim_options){.types = types, .type_count = count};
    TRY(run_request(engine, request, reterr));
    *ret_is_idle = request->out.is_idle;
    return CAIRN_OK;
}

cairn_code cairn_idle_for(cairn_engine *engine, const cairn_claim_options *options,
                          int *ret_is_idle, cairn_error *reterr)
{
    SCOPED_REQUEST(request, OP_IDLE);
    TRY(take_claim(&request->arena, &request->in.claim, options, reterr));
    TRY(run_request(engine, request, reterr));
    *ret_is_idle = request->out.is_idle;
    return CAIRN_OK;
}

/* With the events of each. */
static cairn_code take_reports(struct arena *arena, const cairn_report *from,
                               struct report_input *to, cairn_error *reterr)
{
    TRY(options_take_many(OPTIONS_REPORT, arena, from, to->count, &to->reports, reterr));
    for (size_t i = 0; i < to->count; i++) {
        cairn_report *report = &to->reports[i];
        TRY(options_take_many(OPTIONS_OUTBOUND, arena, report->outbound, report->outbound_count,
                              &report->outbound, reterr));
    }
    return CAIRN_OK;
}

/* The results of a call whose requests were carried out; with one report and no room for its
 * result, the report's code is the call's. */
static cairn_code give_reported(const struct request *request, cairn_reported *ret_reported,
                                cairn_error *reterr)
{
    const cairn_reported *reported = request->out.reported;
    size_t count = request->in.report.count;
    if (ret_reported)
        memcpy(ret_reported, reported, count * sizeof *ret_reported);
    if (ret_reported || count != 1 || !reported->code)
        return CAIRN_OK;
    if (reterr)
        *reterr = reported->error;
    return reported->code;
}

cairn_code cairn_report_many(cairn_engine *engine, const char *worker,
                             const cairn_report *reports, size_t count,
                             cairn_reported *ret_reported, const cairn_claim_options *claim,
                             cairn_page **ret_tasks, cairn_error *reterr)
{
    SCOPED_REQUEST(request, OP_REPORT);
    struct report_input *in = &request->in.report;
    cleanup(page_freep) cairn_page *tasks = page_new(PAGE_TASK);
    NEED(tasks, reterr);
    *in = (struct report_input){.worker = worker, .count = count, .is_claiming = claim != NULL};
    TRY(take_reports(&request->arena, reports, in, reterr));
    if (claim)
        TRY(take_claim(&request->arena, &in->claim, claim, reterr));
    TRY(run_request(engine, request, reterr));
    TRY(give_reported(request, ret_reported, reterr));
    if (!ret_tasks)
        return CAIRN_OK;
    page_take(tasks, &request);
    *ret_tasks = tasks;
    tasks = NULL;
    return CAIRN_OK;
}

static cairn_code report_one(cairn_engine *engine, const char *worker, const cairn_task *task,
                             cairn_report *report, cairn_error *reterr)
{
    report->task_id = task->id;
    report->token = task->token;
    return cairn_report_many(engine, worker, report, 1, NULL, NULL, NULL, reterr);
}

cairn_code cairn_task_complete(cairn_engine *engine, const char *worker, const cairn_task *task,
                               const char *output, cairn_error *reterr)
{
    cairn_report report = CAIRN_REPORT_DEFAULTS;
    report.output = output;
    return report_one(engine, worker, task, &report, reterr);
}

cairn_code cairn_task_fail(cairn_engine *engine, const char *worker, const cairn_task *task,
                           const char *error, cairn_error *reterr)
{
    cairn_report report = CAIRN_REPORT_DEFAULTS;
    report.outcome = CAIRN_FAIL;
    report.error = error;
    return report_one(engine, worker, task, &report, reterr);
}

cairn_code cairn_heartbeat(cairn_engine *engine, const char *worker, const char *task_id,
                           const char *token, uint32_t extend_ms, int64_t *ret_lease_until_us,
                           const char **ret_stop, cairn_error *reterr)
{
    SCOPED_REQUEST(request, OP_HEARTBEAT);
    request->in.heartbeat = (struct heartbeat_input){
        .worker = worker, .task_id = task_id, .token = token, .extend_ms = extend_ms};
    TRY(run_request(engine, request, reterr));
    if (ret_lease_until_us)
        *ret_lease_until_us = request->out.heartbeat.lease_until_us;
    if (ret_stop)
        *ret_stop = request->out.heartbeat.stop;
    return CAIRN_OK;
}

cairn_code cairn_heartbeat_many(cairn_engine *engine, const char *worker, cairn_beat *beats,
                                size_t count, cairn_error *reterr)
{
    SCOPED_REQUEST(request, OP_HEARTBEATS);
    struct heartbeats_input *in = &request->in.heartbeats;
    *in = (struct heartbeats_input){.worker = worker, .count = count};
    TRY(options_take_many(OPTIONS_BEAT, &request->arena, beats, count, &in->beats, reterr));
    TRY(run_request(engine, request, reterr));
    for (size_t i = 0; i < count; i++)
        TRY(options_give(OPTIONS_BEAT, (char *)beats + i * beats->size, &in->beats[i], reterr));
    return CAIRN_OK;
}
