/* engine/calling.c - what the calls of cairn.h share: a request, its end.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "engine/calling.h"

#include "core/instance.h"
#include "core/job.h"

#include <semaphore.h>

static void post(struct request *request)
{
    sem_post(request->arg);
}

void engine_wait(cairn_engine *engine, struct request *request)
{
    sem_t is_done;
    sem_init(&is_done, 0, 0);
    request->done = post;
    /* cppcheck-suppress autoVariables ; the request is done before this returns */
    request->arg = &is_done;
    engine->ops->submit(engine, request);
    while (sem_wait(&is_done) != 0)
        ; /* a signal came in between */
    sem_destroy(&is_done);
}

cairn_code engine_run(cairn_engine *engine, struct request *request)
{
    if (engine->ops->run_here && engine->ops->run_here(engine, request))
        return request->code;
    memories_offer(&engine->memories, request);
    engine_wait(engine, request);
    memories_complete(&engine->memories, request);
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

cairn_code run_for_page(cairn_engine *engine, struct request **request, enum page_kind kind,
                        cairn_page **ret_page, cairn_error *reterr)
{
    /* Made first: tasks that were claimed must not be lost for want of memory. */
    cairn_page *page = page_new(kind);
    NEED(page, reterr);
    cairn_code code = run_request(engine, *request, reterr);
    if (code) {
        cairn_page_free(page);
        return code;
    }
    page_take(page, request);
    *ret_page = page;
    return CAIRN_OK;
}

cairn_code run_id(cairn_engine *engine, enum request_op op, const char *id, cairn_error *reterr)
{
    SCOPED_REQUEST(request, op);
    request->in.id = id;
    return run_request(engine, request, reterr);
}

cairn_code run_page(cairn_engine *engine, enum request_op op, enum page_kind kind,
                    const struct page_input *in, cairn_page **ret_page, cairn_error *reterr)
{
    SCOPED_REQUEST(request, op);
    request->in.page = *in; /* also sets in.id */
    return run_for_page(engine, &request, kind, ret_page, reterr);
}

static cairn_code check_ended(const char *id, const cairn_page *page, cairn_error *reterr)
{
    const cairn_job *job = cairn_page_job(page, 0);
    const cairn_instance *instance = cairn_page_instance(page, 0);
    if (job ? job_is_final((enum job_status)job->status_code)
            : instance_is_final((enum instance_status)instance->status_code))
        return CAIRN_OK;
    return fail(reterr, CAIRN_E_TIMED_OUT, "%s \"%s\" has not ended: it is %s",
                job ? "job" : "instance", id, job ? job->status : instance->status);
}

cairn_code run_wait(cairn_engine *engine, enum request_op op, const char *id,
                    int64_t timeout_ms, enum page_kind kind, cairn_page **ret_page,
                    cairn_error *reterr)
{
    SCOPED_REQUEST(request, op);
    cleanup(page_freep) cairn_page *page = NULL;
    if (timeout_ms < -1)
        return fail(reterr, CAIRN_E_BAD_INPUT, "timeout_ms must be -1 or more");
    request->in.id = id;
    request->await_ms = timeout_ms;
    cairn_code code = run_for_page(engine, &request, kind, &page, reterr);
    if (!code)
        code = check_ended(id, page, reterr);
    if (code)
        return code;
    *ret_page = page;
    page = NULL;
    return CAIRN_OK;
}
