/* engine/cairn_job.c - the calls of cairn.h about jobs and the registry of their types.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "cairn.h"

#include "engine/calling.h"

#include <string.h>

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

cairn_code cairn_job_get(cairn_engine *engine, const char *id, cairn_page **ret_jobs,
                         cairn_error *reterr)
{
    return run_get(engine, OP_JOB_GET, id, PAGE_JOB, ret_jobs, reterr);
}

cairn_code cairn_job_wait(cairn_engine *engine, const char *id, int64_t timeout_ms,
                          cairn_page **ret_jobs, cairn_error *reterr)
{
    return run_wait(engine, OP_JOB_GET, id, timeout_ms, PAGE_JOB, ret_jobs, reterr);
}

cairn_code cairn_job_list(cairn_engine *engine, const cairn_job_filter *filter,
                          cairn_page **ret_jobs, cairn_error *reterr)
{
    SCOPED_REQUEST(request, OP_JOB_LIST);
    request->in.job_list = (cairn_job_filter)CAIRN_JOB_FILTER_DEFAULTS;
    cairn_code code = options_take(OPTIONS_JOB_FILTER, &request->in.job_list, filter, reterr);
    return code ? code : run_for_page(engine, &request, PAGE_JOB, ret_jobs, reterr);
}

cairn_code cairn_job_events(cairn_engine *engine, const char *id, const char *cursor,
                            uint32_t limit, cairn_page **ret_events, cairn_error *reterr)
{
    return run_list_of(engine, OP_JOB_EVENTS, id, cursor, limit, PAGE_EVENT, ret_events,
                       reterr);
}

cairn_code cairn_job_cancel(cairn_engine *engine, const char *id, cairn_error *reterr)
{
    return run_id(engine, OP_JOB_CANCEL, id, reterr);
}

cairn_code cairn_job_delete(cairn_engine *engine, const char *id, cairn_error *reterr)
{
    return run_id(engine, OP_JOB_DELETE, id, reterr);
}

cairn_code cairn_job_retry(cairn_engine *engine, const char *id, cairn_error *reterr)
{
    return run_id(engine, OP_JOB_RETRY, id, reterr);
}

cairn_code cairn_registry_put(cairn_engine *engine, const cairn_registry_spec *spec,
                              cairn_error *reterr)
{
    SCOPED_REQUEST(request, OP_REGISTRY_PUT);
    request->in.registry = (cairn_registry_spec)CAIRN_REGISTRY_DEFAULTS;
    cairn_code code = options_take(OPTIONS_REGISTRY, &request->in.registry, spec, reterr);
    return code ? code : run_request(engine, request, reterr);
}

cairn_code cairn_registry_list(cairn_engine *engine, const char *cursor, uint32_t limit,
                               cairn_page **ret_entries, cairn_error *reterr)
{
    return run_list(engine, OP_REGISTRY_LIST, cursor, limit, PAGE_REGISTRY_ENTRY, ret_entries,
                    reterr);
}
