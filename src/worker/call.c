/* worker/call.c - requests that a worker sends without waiting for them.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "worker/worker.h"

#include <string.h>

void call_free(struct call *call)
{
    if (!call)
        return;
    request_free(call->request);
    mem_free(call);
}

static void free_answered(struct request *request)
{
    request_free(request);
}

/* No thread is left to run them: they are given back without using an attempt. */
static void give_back(struct call *call)
{
    const struct page_output *page = &call->request->out.page;
    if (call->request->code || page->count == 0)
        return;
    struct request *request = request_new(OP_REPORT);
    if (!request)
        return;
    struct arena *arena = &request->arena;
    struct report_input *in = &request->in.report;
    in->worker = arena_strdup(arena, call->request->in.claim.worker);
    in->reports = arena_array(arena, page->count, sizeof *in->reports);
    in->count = page->count;
    for (size_t i = 0; in->reports && i < page->count; i++) {
        in->reports[i] = (cairn_report)CAIRN_REPORT_DEFAULTS;
        in->reports[i].outcome = CAIRN_RELEASE;
        in->reports[i].task_id = arena_strdup(arena, page->tasks[i].id);
        in->reports[i].token = arena_strdup(arena, page->tasks[i].token);
    }
    if (!in->worker || !in->reports) {
        request_free(request);
        return;
    }
    request->done = free_answered;
    call->engine->ops->submit(call->engine, request);
}

/* Called in a thread of the engine, or in the caller's own before submit() returns. */
static void answered(struct request *request)
{
    struct call *call = request->arg;
    if (atomic_exchange(&call->state, CALL_ANSWERED) == CALL_ABANDONED) {
        give_back(call);
        call_free(call);
        return;
    }
    struct cairn_worker *worker = call->worker;
    pthread_mutex_lock(&worker->lock);
    bool is_first = !worker->answered;
    call->next = worker->answered;
    worker->answered = call;
    if (is_first)
        worker_wake(worker);
    pthread_mutex_unlock(&worker->lock);
}

static bool is_wanted(struct request *request)
{
    struct call *call = request->arg;
    return atomic_load(&call->state) == CALL_WAITING;
}

static struct call *call_new(struct cairn_worker *worker, enum call_kind kind,
                             enum request_op op)
{
    struct call *call = mem_zalloc(sizeof *call);
    if (!call)
        return NULL;
    call->request = request_new(op);
    if (!call->request) {
        mem_free(call);
        return NULL;
    }
    call->kind = kind;
    call->worker = worker;
    call->engine = worker->engine;
    call->request->done = answered;
    call->request->arg = call;
    return call;
}

static void submit(struct call *call)
{
    memories_offer(&call->engine->memories, call->request);
    call->engine->ops->submit(call->engine, call->request);
}

static bool fill_types(const struct cairn_worker *worker, struct arena *arena,
                       cairn_claim_options *claim)
{
    const char **types = arena_array(arena, worker->handlers.count, sizeof *types);
    if (!types)
        return false;
    for (size_t i = 0; i < worker->handlers.count; i++)
        if (!(types[i] = arena_strdup(arena, worker->handlers.items[i].pattern)))
            return false;
    claim->types = types;
    claim->type_count = worker->handlers.count;
    return true;
}

static bool fill_functions(const struct cairn_worker *worker, struct arena *arena,
                           cairn_claim_options *claim)
{
    cairn_function_code *codes = arena_array(arena, worker->functions.count, sizeof *codes);
    if (!codes)
        return false;
    for (size_t i = 0; i < worker->functions.count; i++) {
        const struct function *function = &worker->functions.items[i];
        codes[i] = (cairn_function_code)CAIRN_FUNCTION_CODE_DEFAULTS;
        codes[i].name = arena_strdup(arena, function->name);
        codes[i].version = function->version;
        codes[i].from_version = function->from_version;
        if (!codes[i].name)
            return false;
    }
    claim->functions = codes;
    claim->function_count = worker->functions.count;
    return true;
}

/* Copied, since an abandoned claim may outlive the worker. */
static bool fill_claim(struct cairn_worker *worker, struct arena *arena, uint32_t slots,
                       uint32_t wait_ms, cairn_claim_options *ret_claim)
{
    *ret_claim = (cairn_claim_options)CAIRN_CLAIM_DEFAULTS;
    ret_claim->worker = arena_strdup(arena, worker->name);
    ret_claim->runtime = arena_strdup(arena, worker->runtime);
    ret_claim->max = slots;
    ret_claim->lease_ms = worker->lease_ms;
    ret_claim->wait_ms = wait_ms;
    return ret_claim->worker && (!worker->runtime || ret_claim->runtime) &&
           fill_types(worker, arena, ret_claim) && fill_functions(worker, arena, ret_claim);
}

bool send_claim(struct cairn_worker *worker, uint32_t slots, uint32_t wait_ms)
{
    struct call *call = call_new(worker, CALL_CLAIM, OP_CLAIM);
    if (!call)
        return false;
    struct request *request = call->request;
    if (!fill_claim(worker, &request->arena, slots, wait_ms, &request->in.claim)) {
        call_free(call);
        return false;
    }
    request->is_wanted = is_wanted;
    call->slots = slots;
    call->is_patient = worker->running_count > 0;
    worker->claim_out = call;
    worker->slots_promised += slots;
    submit(call);
    return true;
}

void abandon_claim(struct cairn_worker *worker)
{
    struct call *call = worker->claim_out;
    uint32_t slots = call->slots;
    if (atomic_exchange(&call->state, CALL_ABANDONED) != CALL_WAITING)
        return; /* it was answered meanwhile */
    worker->claim_out = NULL;
    worker->slots_promised -= slots;
}

static void fill_report(const struct cairn_work *work, cairn_report *ret_report)
{
    *ret_report = (cairn_report)CAIRN_REPORT_DEFAULTS;
    ret_report->task_id = work->task.id;
    ret_report->token = work->task.token;
    ret_report->outcome = work->outcome;
    ret_report->is_missing_handler = work->is_missing_handler;
    switch (work->outcome) {
    case CAIRN_COMPLETE:
        ret_report->output = work->output;
        break;
    case CAIRN_WAIT:
        ret_report->event = work->event;
        ret_report->timeout_ms = work->timeout_ms;
        break;
    case CAIRN_RELEASE:
        ret_report->delay_ms = work->delay_ms;
        break;
    case CAIRN_RETRY:
        ret_report->delay_ms = work->delay_ms;
        ret_report->error = work->error;
        break;
    default:
        ret_report->error = work->error;
        break;
    }
    if (work->outcome == CAIRN_COMPLETE || work->outcome == CAIRN_WAIT) {
        ret_report->outbound = work->outbound.items;
        ret_report->outbound_count = work->outbound.count;
    }
}

bool send_report(struct cairn_worker *worker, struct work_list *works, uint32_t slots)
{
    struct call *call = call_new(worker, CALL_REPORT, OP_REPORT);
    if (!call)
        return false;
    struct request *request = call->request;
    struct report_input *in = &request->in.report;
    in->worker = worker->name;
    in->reports = arena_array(&request->arena, works->count, sizeof *in->reports);
    in->is_claiming = slots > 0;
    if (!in->reports || (slots && !fill_claim(worker, &request->arena, slots, 0, &in->claim))) {
        call_free(call);
        return false;
    }
    for (struct cairn_work *work = works->first; work; work = work->next)
        fill_report(work, &in->reports[in->count++]);
    works_append(&call->works, works);
    call->slots = slots;
    worker->slots_promised += slots;
    worker->is_report_out = true;
    submit(call);
    return true;
}

bool send_heartbeat(struct cairn_worker *worker, struct cairn_work *work)
{
    struct call *call = call_new(worker, CALL_HEARTBEAT, OP_HEARTBEAT);
    if (!call)
        return false;
    call->request->in.heartbeat = (struct heartbeat_input){.worker = worker->name,
                                                           .task_id = work->task.id,
                                                           .token = work->task.token,
                                                           .extend_ms = worker->lease_ms};
    call->work = work;
    work->is_heartbeat_out = true;
    worker->heartbeats_out++;
    submit(call);
    return true;
}

bool send_idle(struct cairn_worker *worker)
{
    struct call *call = call_new(worker, CALL_IDLE, OP_IDLE);
    if (!call)
        return false;
    struct request *request = call->request;
    if (!fill_claim(worker, &request->arena, 0, 0, &request->in.claim)) {
        call_free(call);
        return false;
    }
    worker->is_check_out = true;
    submit(call);
    return true;
}
