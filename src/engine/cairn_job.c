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
    request->in.enqueue.count = count;
    TRY(options_take_many(OPTIONS_JOB_SPEC, &request->arena, specs, count,
                          &request->in.enqueue.specs, reterr));
    TRY(run_request(engine, request, reterr));
    if (ret_enqueued)
        memcpy(ret_enqueued, request->out.enqueued, count * sizeof *ret_enqueued);
    return CAIRN_OK;
}

CALL_TO_GET(cairn_job_get, OP_JOB_GET, PAGE_JOB)

cairn_code cairn_job_wait(cairn_engine *engine, const char *id, int64_t timeout_ms,
                          cairn_page **ret_jobs, cairn_error *reterr)
{
    return run_wait(engine, OP_JOB_GET, id, timeout_ms, PAGE_JOB, ret_jobs, reterr);
}

cairn_code cairn_job_list(cairn_engine *engine, const cairn_job_filter *filter,
                          cairn_page **ret_jobs, cairn_error *reterr)
{
    SCOPED_REQUEST(request, OP_JOB_LIST);
    TRY(options_take(OPTIONS_JOB_FILTER, &request->in.job_list.filter, filter, reterr));
    return run_for_page(engine, &request, PAGE_JOB, ret_jobs, reterr);
}

CALL_TO_LIST_OF(cairn_job_events, OP_JOB_EVENTS, PAGE_EVENT)
CALL_BY_ID(cairn_job_cancel, OP_JOB_CANCEL)
CALL_BY_ID(cairn_job_delete, OP_JOB_DELETE)
CALL_BY_ID(cairn_job_retry, OP_JOB_RETRY)

cairn_code cairn_registry_put(cairn_engine *engine, const cairn_registry_spec *spec,
                              cairn_error *reterr)
{
    SCOPED_REQUEST(request, OP_REGISTRY_PUT);
    TRY(options_take(OPTIONS_REGISTRY, &request->in.registry, spec, reterr));
    return run_request(engine, request, reterr);
}

CALL_TO_LIST(cairn_registry_list, OP_REGISTRY_LIST, PAGE_REGISTRY_ENTRY)
