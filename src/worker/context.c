/* worker/context.c - what a handler reads of its instance, beside its own input.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * It waits for the answer in the handler's own thread.
 */
#include "worker/worker.h"

#include "base/json.h"
#include "base/mem.h"
#include "engine/engine.h"

/* A function's step is covered by the lease of its run. */
static const struct cairn_work *leased_work(const struct cairn_work *work)
{
    return work->host ? work->host : work;
}

static cairn_code read_context(struct cairn_work *work, const char *step,
                               struct request *request, cairn_error *reterr)
{
    const struct cairn_work *leased = leased_work(work);
    error_clear(reterr);
    if (!leased->worker || !leased->task.instance_id)
        return fail(reterr, CAIRN_E_BAD_INPUT, "the task belongs to no instance");
    request->in.context = (struct context_input){.worker = leased->worker->name,
                                                 .task_id = leased->task.id,
                                                 .token = leased->task.token,
                                                 .step = step};
    cairn_code code = engine_run(leased->worker->engine, request);
    if (code && reterr) {
        *reterr = request->error;
        reterr->code = code;
    }
    return code;
}

static cairn_code keep(struct cairn_work *work, const char *text, const char **ret_text,
                       cairn_error *reterr)
{
    const char *copy = arena_strdup(&work->arena, text);
    NEED(copy, reterr);
    *ret_text = copy;
    return CAIRN_OK;
}

/* Names the step that is being executed, which has no output yet, so that no output is sent. */
cairn_code cairn_work_instance_input(cairn_work *work, const char **ret_input,
                                     cairn_error *reterr)
{
    cleanup(request_freep) struct request *request = request_new(OP_TASK_CONTEXT);
    NEED(request, reterr);
    TRY(read_context(work, leased_work(work)->task.step, request, reterr));
    return keep(work, request->out.context.input, ret_input, reterr);
}

cairn_code cairn_work_output_of(cairn_work *work, const char *step, const char **ret_output,
                                cairn_error *reterr)
{
    cleanup(request_freep) struct request *request = request_new(OP_TASK_CONTEXT);
    NEED(request, reterr);
    if (!step || !step[0])
        return fail(reterr, CAIRN_E_BAD_INPUT, "step is empty");
    TRY(read_context(work, step, request, reterr));
    if (!request->out.context.count)
        return fail(reterr, CAIRN_E_NOT_FOUND, "step \"%.64s\" has not finished", step);
    return keep(work, request->out.context.items[0].output, ret_output, reterr);
}

cairn_code cairn_work_context(cairn_work *work, const char **ret_context, cairn_error *reterr)
{
    cleanup(request_freep) struct request *request = request_new(OP_TASK_CONTEXT);
    cleanup(buf_done) struct buf text = {0};
    struct json_out out = {.buf = &text};
    NEED(request, reterr);
    TRY(read_context(work, NULL, request, reterr));
    const struct context_output *context = &request->out.context;
    json_open(&out, '{');
    json_raw(json_key(&out, "input"), context->input);
    json_open(json_key(&out, "outputs"), '{');
    for (size_t i = 0; i < context->count; i++)
        json_raw(json_key(&out, context->items[i].step), context->items[i].output);
    json_close(&out, '}');
    json_close(&out, '}');
    NEED(!buf_failed(&text), reterr);
    return keep(work, buf_text(&text), ret_context, reterr);
}
