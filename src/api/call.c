/* api/call.c - a call, from its text to its answer: api_call() and cairn_call().
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "api/api.h"
#include "base/error.h"
#include "base/mem.h"
#include "engine/options.h"

#include <semaphore.h>
#include <string.h>

static void give_answer(const struct call *call, struct request *request)
{
    struct answer answer = {.status = 200, .out = {.buf = &answer.buf}};
    if (request->code) {
        request->error.code = request->code;
        answer_error(&answer, &request->error);
        if (call->operation && call->operation->failed_status && answer.status >= 500)
            answer.status = call->operation->failed_status;
    } else if (call->operation->write) {
        call->operation->write(request, &answer);
    } else {
        answer_write(call->operation, request, &answer);
    }
    cairn_response *response = answer_finish(&answer);
    cairn_done done = call->done;
    void *arg = call->arg;
    request_free(request);
    mem_free((void *)call);
    done(arg, response);
}

static void when_done(struct request *request)
{
    give_answer(request->arg, request);
}

static bool is_wanted(struct request *request)
{
    const struct call *call = request->arg;
    return call->wanted(call->arg);
}

/* A workflow is YAML or JSON, and has a reader of its own. */
static cairn_code keep_text(struct call *call, const char *body, size_t len,
                            struct request *request)
{
    call->body = (struct fields){.request = request, .index = -1};
    call->text = arena_strndup(&request->arena, body ? body : "", body ? len : 0);
    call->text_len = body ? len : 0;
    if (!call->text)
        request->code = fail_memory(&request->error);
    return request->code;
}

/* By hand, or by the table of the operation's body. */
static void read_inputs(struct call *call, struct request *request)
{
    const struct operation *operation = call->operation;
    route_read_params(operation, &call->target, request);
    if (operation->query)
        target_read_query(&call->target, request, operation->query,
                          (char *)request + operation->query_at);
    if (operation->read)
        operation->read(call, request);
    else if (operation->body)
        fields_read(&call->body, operation->body, (char *)request + operation->body_at);
}

static cairn_code read_call(struct call *call, const char *body, size_t len,
                            struct request *request)
{
    cairn_code code = target_allow(&call->target, request, call->operation->query);
    if (!code && call->operation->op == OP_DEPLOY)
        code = keep_text(call, body, len, request);
    else if (!code)
        code = body_read(body, len, request, &call->body);
    if (!code) {
        call->body.max_batch = call->engine->options.max_batch;
        read_inputs(call, request);
        code = fields_end(&call->body);
    }
    call->body = (struct fields){0};
    return code;
}

/* Finds the operation and reads everything into the request; false: it is to be answered as it
 * is. */
static bool prepare(struct call *call, const cairn_request *from, struct request *request)
{
    if (target_read(from->target, request, &call->target))
        return false;
    call->operation = route_find(from->method, &call->target, request);
    if (!call->operation)
        return false;
    request->op = call->operation->op;
    return read_call(call, from->body, from->body_len, request) == CAIRN_OK &&
           call->operation->op != OP_COUNT;
}

void api_call(cairn_engine *engine, const cairn_request *from, cairn_done done)
{
    struct request *request = request_new(OP_CLOCK_NOW);
    struct call *call = request ? mem_zalloc(sizeof *call) : NULL;
    if (!call) {
        cairn_error error;
        fail_memory(&error);
        request_free(request);
        done(from->arg, response_of_error(&error));
        return;
    }
    call->engine = engine;
    call->done = done;
    call->wanted = from->wanted;
    call->arg = from->arg;
    request->arg = call;
    request->token_name = arena_strdup(&request->arena, from->caller);
    request->role = arena_strdup(&request->arena, from->role);
    request->page = arena_strdup(&request->arena, from->page);
    if (!prepare(call, from, request)) {
        give_answer(call, request);
        return;
    }
    request->done = when_done;
    if (call->wanted)
        request->is_wanted = is_wanted;
    engine->ops->submit(engine, request);
}

/* An older caller knows less of the struct; what it does not know is as in the defaults. */
static cairn_code copy_request(const cairn_request *from, cairn_request *ret_copy,
                               cairn_error *reterr)
{
    static const cairn_request defaults = CAIRN_REQUEST_DEFAULTS;
    *ret_copy = defaults;
    if (!from)
        return fail(reterr, CAIRN_E_BAD_INPUT, "there is no request");
    TRY(options_take(OPTIONS_REQUEST, ret_copy, from, reterr));
    if (!ret_copy->method || !ret_copy->target)
        return fail(reterr, CAIRN_E_BAD_INPUT, "the request has no %s",
                    ret_copy->method ? "target" : "method");
    return CAIRN_OK;
}

void cairn_call_async(cairn_engine *engine, const cairn_request *request, cairn_done done)
{
    cairn_request copy;
    cairn_error error;
    if (copy_request(request, &copy, &error)) {
        done(request ? request->arg : NULL, response_of_error(&error));
        return;
    }
    engine->ops->call(engine, &copy, done);
}

/* A caller that waits for one answer. */
struct waiter {
    sem_t is_done;
    cairn_response *response;
};

static void wake(void *arg, cairn_response *response)
{
    struct waiter *waiter = arg;
    waiter->response = response;
    sem_post(&waiter->is_done);
}

cairn_code cairn_call(cairn_engine *engine, const cairn_request *request,
                      cairn_response **ret_response, cairn_error *reterr)
{
    cairn_request copy;
    struct waiter waiter = {.response = NULL};
    TRY(copy_request(request, &copy, reterr));
    copy.wanted = NULL;
    copy.arg = &waiter;
    sem_init(&waiter.is_done, 0, 0);
    engine->ops->call(engine, &copy, wake);
    while (sem_wait(&waiter.is_done) != 0)
        continue; /* a signal came */
    sem_destroy(&waiter.is_done);

    if (!waiter.response)
        return fail_memory(reterr);
    *ret_response = waiter.response;
    return CAIRN_OK;
}
