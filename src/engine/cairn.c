/* engine/cairn.c - the calls of cairn.h: each becomes a request and waits for its end.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "cairn.h"

#include "engine/calling.h"
#include "store/store.h"

#include <semaphore.h>
#include <stdlib.h>
#include <string.h>

const char *cairn_version(void)
{
    return CAIRN_VERSION;
}

/* ---- opening --------------------------------------------------------------------------------
 */

static const char *choose_url(const char *url)
{
    if (!url || !url[0])
        url = getenv("CAIRN_URL");
    return url && url[0] ? url : "sqlite:cairn.db";
}

static bool is_http(const char *url)
{
    return strncmp(url, "http://", 7) == 0 || strncmp(url, "https://", 8) == 0;
}

static cairn_code check_missing(const cairn_open_options *options, cairn_error *reterr)
{
    if (options->missing_jitter >= 0 && options->missing_jitter <= 1)
        return CAIRN_OK;
    return fail(reterr, CAIRN_E_BAD_INPUT, "missing_jitter must be from 0 to 1");
}

cairn_code cairn_open(const cairn_open_options *options, cairn_engine **ret_engine,
                      cairn_error *reterr)
{
    cairn_open_options known = CAIRN_OPEN_DEFAULTS;
    error_clear(reterr);
    cairn_code code = options_take(OPTIONS_OPEN, &known, options, reterr);
    if (!code)
        code = check_missing(&known, reterr);
    if (code)
        return code;
    const char *url = choose_url(known.url);
    if (is_http(url))
        return remote_engine_open(&known, url, ret_engine, reterr);
    return local_engine_open(&known, url, ret_engine, reterr);
}

void cairn_close(cairn_engine *engine)
{
    if (engine)
        engine->ops->close(engine);
}

const char *cairn_url(const cairn_engine *engine)
{
    return engine->url;
}

void cairn_schema_get(const cairn_engine *engine, cairn_schema *ret_schema)
{
    const struct store_schema *schema = engine->schema;
    *ret_schema = (cairn_schema){0};
    if (schema)
        *ret_schema = (cairn_schema){.from = schema->from,
                                     .to = schema->to,
                                     .applied = schema->applied,
                                     .applied_count = schema->applied_count};
}

/* ---- waiting --------------------------------------------------------------------------------
 */

static void post(struct request *request)
{
    sem_post(request->arg);
}

cairn_code engine_run(cairn_engine *engine, struct request *request)
{
    sem_t is_done;
    if (engine->ops->ask && engine->ops->ask(engine, request))
        return request->code;
    sem_init(&is_done, 0, 0);
    request->done = post;
    request->arg = &is_done;
    engine->ops->submit(engine, request);
    while (sem_wait(&is_done) != 0)
        ; /* a signal came in between */
    sem_destroy(&is_done);
    return request->code;
}

cairn_code run_request(cairn_engine *engine, struct request *request, cairn_error *reterr)
{
    error_clear(reterr);
    cairn_code code = engine_run(engine, request);
    if (code && reterr) {
        *reterr = request->error;
        reterr->code = code;
    }
    return code;
}

/* ---- time -----------------------------------------------------------------------------------
 */

cairn_code cairn_clock_now(cairn_engine *engine, int64_t *ret_now_us, cairn_error *reterr)
{
    SCOPED_REQUEST(request, OP_CLOCK_NOW);
    cairn_code code = run_request(engine, request, reterr);
    if (!code)
        *ret_now_us = request->out.now_us;
    return code;
}

cairn_code cairn_clock_advance(cairn_engine *engine, int64_t ms, int64_t *ret_now_us,
                               cairn_error *reterr)
{
    SCOPED_REQUEST(request, OP_CLOCK_ADVANCE);
    request->in.advance.ms = ms;
    cairn_code code = run_request(engine, request, reterr);
    if (!code && ret_now_us)
        *ret_now_us = request->out.now_us;
    return code;
}

/* ---- producing ------------------------------------------------------------------------------
 */

cairn_code cairn_enqueue(cairn_engine *engine, const cairn_job_spec *specs, size_t count,
                         cairn_enqueued *ret_enqueued, cairn_error *reterr)
{
    SCOPED_REQUEST(request, OP_ENQUEUE);
    cairn_job_spec *known = arena_array(&request->arena, count, sizeof *known);
    if (!known)
        return fail_memory(reterr);
    for (size_t i = 0; i < count; i++)
        known[i] = (cairn_job_spec)CAIRN_JOB_DEFAULTS;
    cairn_code code = options_take_many(OPTIONS_JOB_SPEC, known, specs, count, reterr);
    if (code)
        return code;
    request->in.enqueue.specs = known;
    request->in.enqueue.count = count;
    code = run_request(engine, request, reterr);
    if (!code && ret_enqueued)
        memcpy(ret_enqueued, request->out.enqueued, count * sizeof *ret_enqueued);
    return code;
}

/* ---- looking --------------------------------------------------------------------------------
 */

cairn_code cairn_job_get(cairn_engine *engine, const char *id, cairn_jobs **ret_jobs,
                         cairn_error *reterr)
{
    SCOPED_REQUEST(request, OP_JOB_GET);
    request->in.job.id = id;
    cairn_code code = run_request(engine, request, reterr);
    if (!code)
        *ret_jobs = (cairn_jobs *)hand_over(&request);
    return code;
}

cairn_code cairn_job_list(cairn_engine *engine, const cairn_job_filter *filter,
                          cairn_jobs **ret_jobs, cairn_error *reterr)
{
    SCOPED_REQUEST(request, OP_JOB_LIST);
    request->in.job_list = (cairn_job_filter)CAIRN_JOB_FILTER_DEFAULTS;
    cairn_code code = options_take(OPTIONS_JOB_FILTER, &request->in.job_list, filter, reterr);
    if (!code)
        code = run_request(engine, request, reterr);
    if (!code)
        *ret_jobs = (cairn_jobs *)hand_over(&request);
    return code;
}

size_t cairn_jobs_count(const cairn_jobs *jobs)
{
    return to_request(jobs)->out.jobs.count;
}

const cairn_job *cairn_jobs_at(const cairn_jobs *jobs, size_t index)
{
    const struct jobs_output *out = &to_request(jobs)->out.jobs;
    return index < out->count ? &out->items[index] : NULL;
}

const char *cairn_jobs_next(const cairn_jobs *jobs)
{
    return to_request(jobs)->out.jobs.next;
}

void cairn_jobs_free(cairn_jobs *jobs)
{
    request_free((struct request *)jobs);
}

cairn_code cairn_job_events(cairn_engine *engine, const char *id, const char *cursor,
                            uint32_t limit, cairn_events **ret_events, cairn_error *reterr)
{
    SCOPED_REQUEST(request, OP_JOB_EVENTS);
    request->in.events = (struct events_input){.id = id, .cursor = cursor, .limit = limit};
    cairn_code code = run_request(engine, request, reterr);
    if (!code)
        *ret_events = (cairn_events *)hand_over(&request);
    return code;
}

size_t cairn_events_count(const cairn_events *events)
{
    return to_request(events)->out.events.count;
}

const cairn_event *cairn_events_at(const cairn_events *events, size_t index)
{
    const struct events_output *out = &to_request(events)->out.events;
    return index < out->count ? &out->items[index] : NULL;
}

const char *cairn_events_next(const cairn_events *events)
{
    return to_request(events)->out.events.next;
}

void cairn_events_free(cairn_events *events)
{
    request_free((struct request *)events);
}

/* ---- controlling ----------------------------------------------------------------------------
 */

static cairn_code control(cairn_engine *engine, enum request_op op, const char *id,
                          cairn_error *reterr)
{
    SCOPED_REQUEST(request, op);
    request->in.job.id = id;
    return run_request(engine, request, reterr);
}

cairn_code cairn_job_cancel(cairn_engine *engine, const char *id, cairn_error *reterr)
{
    return control(engine, OP_JOB_CANCEL, id, reterr);
}

cairn_code cairn_job_delete(cairn_engine *engine, const char *id, cairn_error *reterr)
{
    return control(engine, OP_JOB_DELETE, id, reterr);
}

cairn_code cairn_job_retry(cairn_engine *engine, const char *id, cairn_error *reterr)
{
    return control(engine, OP_JOB_RETRY, id, reterr);
}

cairn_code cairn_registry_put(cairn_engine *engine, const cairn_registry_entry *entry,
                              cairn_error *reterr)
{
    SCOPED_REQUEST(request, OP_REGISTRY_PUT);
    request->in.registry = *entry;
    return run_request(engine, request, reterr);
}

cairn_code cairn_registry_list(cairn_engine *engine, const char *cursor, uint32_t limit,
                               cairn_registry **ret_registry, cairn_error *reterr)
{
    SCOPED_REQUEST(request, OP_REGISTRY_LIST);
    request->in.page = (struct page_input){.cursor = cursor, .limit = limit};
    cairn_code code = run_request(engine, request, reterr);
    if (!code)
        *ret_registry = (cairn_registry *)hand_over(&request);
    return code;
}

size_t cairn_registry_count(const cairn_registry *registry)
{
    return to_request(registry)->out.registry.count;
}

const cairn_registry_entry *cairn_registry_at(const cairn_registry *registry, size_t index)
{
    const struct registry_output *out = &to_request(registry)->out.registry;
    return index < out->count ? &out->items[index] : NULL;
}

const char *cairn_registry_next(const cairn_registry *registry)
{
    return to_request(registry)->out.registry.next;
}

void cairn_registry_free(cairn_registry *registry)
{
    request_free((struct request *)registry);
}

/* ---- working --------------------------------------------------------------------------------
 */

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
                       cairn_tasks **ret_tasks, cairn_error *reterr)
{
    SCOPED_REQUEST(request, OP_CLAIM);
    cairn_code code = take_claim(&request->arena, &request->in.claim, options, reterr);
    if (!code)
        code = run_request(engine, request, reterr);
    if (!code)
        *ret_tasks = (cairn_tasks *)hand_over(&request);
    return code;
}

size_t cairn_tasks_count(const cairn_tasks *tasks)
{
    return to_request(tasks)->out.tasks.count;
}

const cairn_task *cairn_tasks_at(const cairn_tasks *tasks, size_t index)
{
    const struct tasks_output *out = &to_request(tasks)->out.tasks;
    return index < out->count ? &out->items[index] : NULL;
}

void cairn_tasks_free(cairn_tasks *tasks)
{
    request_free((struct request *)tasks);
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

cairn_code cairn_report_many(cairn_engine *engine, const char *worker,
                             const cairn_report *reports, size_t count,
                             cairn_reported *ret_reported, const cairn_claim_options *claim,
                             cairn_tasks **ret_tasks, cairn_error *reterr)
{
    SCOPED_REQUEST(request, OP_REPORT);
    struct report_input *in = &request->in.report;
    cairn_report *known = arena_array(&request->arena, count, sizeof *known);
    if (!known)
        return fail_memory(reterr);
    cairn_code code = take_reports(&request->arena, reports, count, known, reterr);
    *in = (struct report_input){
        .worker = worker, .reports = known, .count = count, .is_claiming = claim != NULL};
    if (!code && claim)
        code = take_claim(&request->arena, &in->claim, claim, reterr);
    if (!code)
        code = run_request(engine, request, reterr);
    if (code)
        return code;
    if (ret_reported)
        memcpy(ret_reported, request->out.reported, count * sizeof *ret_reported);
    else if (count == 1 && request->out.reported[0].code) {
        code = request->out.reported[0].code;
        if (reterr)
            *reterr = request->out.reported[0].error;
    }
    if (!code && ret_tasks)
        *ret_tasks = (cairn_tasks *)hand_over(&request);
    return code;
}

cairn_code cairn_complete(cairn_engine *engine, const char *worker, const cairn_task *task,
                          const char *output, cairn_error *reterr)
{
    cairn_report report = CAIRN_REPORT_DEFAULTS;
    report.task_id = task->id;
    report.token = task->token;
    report.output = output;
    return cairn_report_many(engine, worker, &report, 1, NULL, NULL, NULL, reterr);
}

cairn_code cairn_fail(cairn_engine *engine, const char *worker, const cairn_task *task,
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

/* ---- figures --------------------------------------------------------------------------------
 */

cairn_code cairn_stats_get(cairn_engine *engine, cairn_stats *ret_stats, cairn_error *reterr)
{
    SCOPED_REQUEST(request, OP_STATS);
    size_t size = ret_stats->size;
    cairn_code code = options_check(OPTIONS_STATS, size, reterr);
    if (!code)
        code = run_request(engine, request, reterr);
    if (code)
        return code;
    memcpy(ret_stats, &request->out.stats, size);
    ret_stats->size = size;
    return CAIRN_OK;
}

cairn_code cairn_doctor(cairn_engine *engine, cairn_finding *ret_findings, size_t room,
                        size_t *ret_count, cairn_error *reterr)
{
    SCOPED_REQUEST(request, OP_DOCTOR);
    cairn_code code = run_request(engine, request, reterr);
    if (code)
        return code;
    size_t count = request->out.doctor.count < room ? request->out.doctor.count : room;
    memcpy(ret_findings, request->out.doctor.items, count * sizeof *ret_findings);
    *ret_count = count;
    return CAIRN_OK;
}
