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
    *to = (cairn_claim_options)CAIRN_CLAIM_DEFAULTS;
    cairn_code code = options_take(OPTIONS_CLAIM, to, from, reterr);
    if (code || !to->function_count)
        return code;
    size_t count = to->function_count;
    cairn_function_code *known = arena_array(arena, count, sizeof *known);
    if (!known)
        return fail_memory(reterr);
    for (size_t i = 0; i < count; i++)
        known[i] = (cairn_function_code)CAIRN_FUNCTION_CODE_DEFAULTS;
    code = options_take_many(OPTIONS_FUNCTION_CODE, known, to->functions, count, reterr);
    to->functions = known;
    return code;
}

cairn_code cairn_claim(cairn_engine *engine, const cairn_claim_options *options,
                       cairn_page **ret_tasks, cairn_error *reterr)
{
    SCOPED_REQUEST(request, OP_CLAIM);
    cairn_code code = take_claim(&request->arena, &request->in.claim, options, reterr);
    return code ? code : run_for_page(engine, &request, PAGE_TASK, ret_tasks, reterr);
}

static cairn_code take_outbound(struct arena *arena, cairn_report *report, cairn_error *reterr)
{
    size_t count = report->outbound_count;
    cairn_outbound *known = arena_array(arena, count, sizeof *known);
    if (!known)
        return fail_memory(reterr);
    for (size_t i = 0; i < count; i++)
        known[i] = (cairn_outbound)CAIRN_OUTBOUND_DEFAULTS;
    cairn_code code =
        options_take_many(OPTIONS_OUTBOUND, known, report->outbound, count, reterr);
    report->outbound = known;
    return code;
}

/* With the events of each. */
static cairn_code take_reports(struct arena *arena, const cairn_report *reports, size_t count,
                               cairn_report *known, cairn_error *reterr)
{
    for (size_t i = 0; i < count; i++)
        known[i] = (cairn_report)CAIRN_REPORT_DEFAULTS;
    cairn_code code = options_take_many(OPTIONS_REPORT, known, reports, count, reterr);
    for (size_t i = 0; i < count && !code; i++)
        if (known[i].outbound_count)
            code = take_outbound(arena, &known[i], reterr);
    return code;
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
    cairn_report *known = arena_array(&request->arena, count, sizeof *known);
    if (!known || !tasks)
        return fail_memory(reterr);
    cairn_code code = take_reports(&request->arena, reports, count, known, reterr);
    *in = (struct report_input){
        .worker = worker, .reports = known, .count = count, .is_claiming = claim != NULL};
    if (!code && claim)
        code = take_claim(&request->arena, &in->claim, claim, reterr);
    if (!code)
        code = run_request(engine, request, reterr);
    if (!code)
        code = give_reported(request, ret_reported, reterr);
    if (code || !ret_tasks)
        return code;
    page_take(tasks, &request);
    *ret_tasks = tasks;
    tasks = NULL;
    return CAIRN_OK;
}

cairn_code cairn_task_complete(cairn_engine *engine, const char *worker, const cairn_task *task,
                               const char *output, cairn_error *reterr)
{
    cairn_report report = CAIRN_REPORT_DEFAULTS;
    report.task_id = task->id;
    report.token = task->token;
    report.output = output;
    return cairn_report_many(engine, worker, &report, 1, NULL, NULL, NULL, reterr);
}

cairn_code cairn_task_fail(cairn_engine *engine, const char *worker, const cairn_task *task,
                           const char *error, cairn_error *reterr)
{
    cairn_report report = CAIRN_REPORT_DEFAULTS;
    report.task_id = task->id;
    report.token = task->token;
    report.outcome = CAIRN_FAIL;
    report.error = error;
    return cairn_report_many(engine, worker, &report, 1, NULL, NULL, NULL, reterr);
}

cairn_code cairn_heartbeat(cairn_engine *engine, const char *worker, const char *task_id,
                           const char *token, uint32_t extend_ms, int64_t *ret_lease_until_us,
                           const char **ret_stop, cairn_error *reterr)
{
    SCOPED_REQUEST(request, OP_HEARTBEAT);
    request->in.heartbeat = (struct heartbeat_input){
        .worker = worker, .task_id = task_id, .token = token, .extend_ms = extend_ms};
    cairn_code code = run_request(engine, request, reterr);
    if (code)
        return code;
    if (ret_lease_until_us)
        *ret_lease_until_us = request->out.heartbeat.lease_until_us;
    if (ret_stop)
        *ret_stop = request->out.heartbeat.stop;
    return CAIRN_OK;
}
