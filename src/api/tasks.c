/* api/tasks.c - /v1/tasks: claim, report, heartbeat.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "api/api.h"
#include "base/error.h"

#include <string.h>

/* What may be said with an outcome. */
enum says {
    SAYS_OUTPUT = 1 << 0,
    SAYS_ERROR = 1 << 1,
    SAYS_DELAY = 1 << 2,
    SAYS_OUTBOUND = 1 << 3,
    SAYS_EVENT = 1 << 4,
    SAYS_REASON = 1 << 5,
};

static const struct outcome {
    const char *name;
    cairn_outcome outcome;
    unsigned says; /* of enum says */
} outcomes[] = {
    {"complete", CAIRN_COMPLETE, SAYS_OUTPUT | SAYS_OUTBOUND},
    {"fail", CAIRN_FAIL, SAYS_ERROR},
    {"retry", CAIRN_RETRY, SAYS_ERROR | SAYS_DELAY},
    {"dead", CAIRN_DEAD, SAYS_ERROR},
    {"release", CAIRN_RELEASE, SAYS_DELAY | SAYS_REASON},
    {"wait", CAIRN_WAIT, SAYS_EVENT | SAYS_OUTBOUND},
};

static const struct outcome *find_outcome(const char *name)
{
    for (size_t i = 0; i < sizeof outcomes / sizeof *outcomes; i++)
        if (strcmp(outcomes[i].name, name) == 0)
            return &outcomes[i];
    return NULL;
}

/* Which functions in which versions; none if it was left out. */
static void read_functions(struct fields *fields, cairn_claim_options *ret_claim)
{
    struct fields one;
    struct field_items items = field_items(fields, "functions", TYPES_MAX, OPTIONAL);
    cairn_function_code *functions =
        arena_array(&fields->request->arena, items.count, sizeof *functions);
    if (!functions) {
        fields->request->code = fail_memory(&fields->request->error);
        return;
    }
    while (field_items_next(fields, &items, &one)) {
        cairn_function_code *code = &functions[items.index - 1];
        *code = (cairn_function_code)CAIRN_FUNCTION_CODE_DEFAULTS;
        code->name = field_text(&one, "name", REQUIRED);
        code->version = (int32_t)field_int_needed(&one, "version", 1, INT32_MAX);
        code->from_version =
            (int32_t)field_int(&one, "from_version", 1, code->version, code->version);
        fields_end(&one);
    }
    ret_claim->functions = functions;
    ret_claim->function_count = items.count;
}

/* Everything but the worker, which stands beside a claim in a report. */
static void read_claim_fields(const struct call *call, struct fields *fields,
                              cairn_claim_options *ret_claim)
{
    static const cairn_claim_options defaults = CAIRN_CLAIM_DEFAULTS;
    int64_t max = (int64_t)call->engine->options.max_batch;
    *ret_claim = defaults;
    read_functions(fields, ret_claim);
    if (!ret_claim->function_count || field_is_there(fields, "types"))
        ret_claim->types = field_texts(fields, "types", !ret_claim->function_count, TYPES_MAX,
                                       &ret_claim->type_count);
    ret_claim->max = (uint32_t)field_int(fields, "max", 1, max, defaults.max);
    ret_claim->lease_ms =
        (uint32_t)field_int(fields, "lease_ms", 1, UINT32_MAX, defaults.lease_ms);
    ret_claim->runtime = field_text(fields, "runtime", OPTIONAL);
    int64_t wait_ms = field_int(fields, "wait_ms", 0, INT64_MAX, 0);
    ret_claim->wait_ms = (uint32_t)(wait_ms < WAIT_MS_MAX ? wait_ms : WAIT_MS_MAX);
}

bool read_claim_beside(struct call *call, const char *worker, cairn_claim_options *ret_claim)
{
    struct fields inner;
    if (!field_object(&call->body, "claim", &inner))
        return false;
    read_claim_fields(call, &inner, ret_claim);
    ret_claim->worker = worker;
    fields_end(&inner);
    return true;
}

static void read_claim(struct call *call, struct request *request)
{
    const char *worker = field_text(&call->body, "worker", REQUIRED);
    read_claim_fields(call, &call->body, &request->in.claim);
    request->in.claim.worker = worker;
}

/* What a job has none of. */
static void write_step_part(struct json_out *out, const cairn_task *task)
{
    json_key(out, "instance_id");
    json_str(out, task->instance_id);
    json_key(out, "step");
    json_str(out, task->step);
    json_key(out, "metadata");
    json_raw(out, task->metadata);
    json_key(out, "reason");
    json_str(out, task->reason);
    json_key(out, "signal");
    json_raw(out, task->signal);
}

static void write_task(struct json_out *out, const cairn_task *task)
{
    json_open(out, '{');
    json_key(out, "id");
    json_str(out, task->id);
    json_key(out, "token");
    json_str(out, task->token);
    json_key(out, "kind");
    json_str(out, task->kind);
    json_key(out, "type");
    json_str(out, task->type);
    json_key(out, "input");
    json_raw(out, task->input);
    json_key(out, "attempt");
    json_int(out, task->attempt);
    json_key(out, "max_attempts");
    json_int(out, task->max_attempts);
    json_key(out, "key");
    json_str(out, task->key);
    json_key(out, "lease_until");
    json_time(out, task->lease_until_us);
    if (task->instance_id)
        write_step_part(out, task);
    if (task->memory)
        write_memory(out, task->memory);
    json_close(out, '}');
}

void write_tasks(struct json_out *out, const struct page_output *page)
{
    json_key(out, "tasks");
    json_open(out, '[');
    for (size_t i = 0; i < page->count; i++)
        write_task(out, &page->tasks[i]);
    json_close(out, ']');
}

static void write_claimed(const struct call *call, const struct request *request,
                          struct answer *answer)
{
    (void)call;
    json_open(&answer->out, '{');
    write_tasks(&answer->out, &request->out.page);
    json_close(&answer->out, '}');
}

const cairn_outbound *read_outbound(const struct call *call, struct fields *fields,
                                    size_t *ret_count)
{
    static const cairn_outbound defaults = CAIRN_OUTBOUND_DEFAULTS;
    struct request *request = fields->request;
    struct fields one;
    struct field_items items =
        field_items(fields, "outbound", call->engine->options.max_batch, OPTIONAL);
    cairn_outbound *events = arena_array(&request->arena, items.count + 1, sizeof *events);
    *ret_count = 0;
    if (!events) {
        request->code = fail_memory(&request->error);
        return NULL;
    }
    while (field_items_next(fields, &items, &one)) {
        cairn_outbound *event = &events[items.index - 1];
        *event = defaults;
        event->event = field_text(&one, "event", REQUIRED);
        event->payload = field_json(&one, "payload");
        fields_end(&one);
    }
    *ret_count = items.count;
    return events;
}

static bool read_missing_handler(struct fields *fields)
{
    struct request *request = fields->request;
    const char *reason = field_text(fields, "reason", OPTIONAL);
    if (reason && strcmp(reason, "missing_handler") != 0 && !request->code)
        request->code = fail(&request->error, CAIRN_E_BAD_INPUT,
                             "field \"reason\" must be \"missing_handler\" or left out");
    return reason != NULL;
}

/* What goes with an outcome.  A field that belongs to another one is unknown here, so that a
 * mixed-up report is noticed instead of half kept. */
static void read_outcome(const struct call *call, struct fields *fields,
                         const struct outcome *outcome, cairn_report *report)
{
    report->outcome = outcome->outcome;
    if (outcome->says & SAYS_OUTPUT)
        report->output = field_json(fields, "output");
    if (outcome->says & SAYS_ERROR)
        report->error = field_text(fields, "error", OPTIONAL);
    if (outcome->says & SAYS_DELAY)
        report->delay_ms = field_int(fields, "delay_ms", 0, DURATION_MS_MAX, -1);
    if (outcome->says & SAYS_EVENT) {
        report->event = field_text(fields, "event", REQUIRED);
        report->timeout_ms = field_int(fields, "timeout_ms", 0, DURATION_MS_MAX, -1);
    }
    if (outcome->says & SAYS_OUTBOUND)
        report->outbound = read_outbound(call, fields, &report->outbound_count);
    if (outcome->says & SAYS_REASON)
        report->is_missing_handler = read_missing_handler(fields);
}

/* POST /v1/tasks/{id}/complete and the others: the path says which. */
static void read_report_one(struct call *call, struct request *request)
{
    static const cairn_report defaults = CAIRN_REPORT_DEFAULTS;
    cairn_report *report = arena_zalloc(&request->arena, sizeof *report);
    if (!report) {
        request->code = fail_memory(&request->error);
        return;
    }
    *report = defaults;
    request->in.report = (struct report_input){.reports = report, .count = 1};
    request->in.report.worker = field_text(&call->body, "worker", REQUIRED);
    report->task_id = route_param(call);
    report->token = field_text(&call->body, "token", REQUIRED);
    read_outcome(call, &call->body, find_outcome(call->target.segments[3]), report);
}

static void write_report_one(const struct call *call, const struct request *request,
                             struct answer *answer)
{
    (void)call;
    const cairn_reported *reported = request->out.reported;
    if (reported->code) {
        cairn_error error = reported->error;
        error.code = reported->code;
        answer_error(answer, &error);
        return;
    }
    json_open(&answer->out, '{');
    json_key(&answer->out, "id");
    json_str(&answer->out, request->in.report.reports[0].task_id);
    json_key(&answer->out, "status");
    json_str(&answer->out, reported->status);
    json_close(&answer->out, '}');
}

static void read_result(const struct call *call, struct fields *fields,
                        cairn_report *ret_report)
{
    static const cairn_report defaults = CAIRN_REPORT_DEFAULTS;
    struct request *request = fields->request;
    *ret_report = defaults;
    ret_report->task_id = field_text(fields, "id", REQUIRED);
    ret_report->token = field_text(fields, "token", REQUIRED);
    const char *name = field_text(fields, "outcome", REQUIRED);
    const struct outcome *outcome = name ? find_outcome(name) : NULL;
    fields->is_partial = !outcome;
    if (outcome) {
        read_outcome(call, fields, outcome, ret_report);
    } else if (!request->code) {
        request->code =
            fail(&request->error, CAIRN_E_BAD_INPUT,
                 "field \"results[%ld].outcome\" is unknown: \"%.64s\"", fields->index, name);
        fail_hint(&request->error, request->code,
                  "an outcome is complete, fail, retry, dead, release or wait");
    }
}

static void read_report_many(struct call *call, struct request *request)
{
    struct report_input *in = &request->in.report;
    struct fields one;
    in->worker = field_text(&call->body, "worker", REQUIRED);
    struct field_items items =
        field_items(&call->body, "results", call->engine->options.max_batch, REQUIRED);
    in->count = items.count;
    in->reports = arena_array(&request->arena, items.count + 1, sizeof *in->reports);
    if (!in->reports) {
        request->code = fail_memory(&request->error);
        return;
    }
    while (field_items_next(&call->body, &items, &one)) {
        read_result(call, &one, &in->reports[items.index - 1]);
        fields_end(&one);
    }
    in->is_claiming = read_claim_beside(call, in->worker, &in->claim);
}

static void write_reported(struct json_out *out, const char *id, const cairn_reported *reported)
{
    json_open(out, '{');
    json_key(out, "id");
    json_str(out, id);
    if (reported->code) {
        json_key(out, "code");
        json_str(out, cairn_code_name(reported->code));
        write_error_text(out, "message", reported->error.message);
    } else {
        json_key(out, "status");
        json_str(out, reported->status);
    }
    json_close(out, '}');
}

static void write_report_many(const struct call *call, const struct request *request,
                              struct answer *answer)
{
    (void)call;
    const struct report_input *in = &request->in.report;
    json_open(&answer->out, '{');
    json_key(&answer->out, "results");
    json_open(&answer->out, '[');
    for (size_t i = 0; i < in->count; i++)
        write_reported(&answer->out, in->reports[i].task_id, &request->out.reported[i]);
    json_close(&answer->out, ']');
    write_tasks(&answer->out, &request->out.page);
    json_close(&answer->out, '}');
}

static void read_heartbeat(struct call *call, struct request *request)
{
    struct heartbeat_input *in = &request->in.heartbeat;
    in->task_id = route_param(call);
    in->worker = field_text(&call->body, "worker", REQUIRED);
    in->token = field_text(&call->body, "token", REQUIRED);
    in->extend_ms = (uint32_t)field_int(&call->body, "extend_ms", 0, UINT32_MAX, 30000);
}

static void write_heartbeat(const struct call *call, const struct request *request,
                            struct answer *answer)
{
    (void)call;
    json_open(&answer->out, '{');
    json_key(&answer->out, "lease_until");
    json_time(&answer->out, request->out.heartbeat.lease_until_us);
    json_key(&answer->out, "stop");
    json_str(&answer->out, request->out.heartbeat.stop);
    json_close(&answer->out, '}');
}

static const char *const context_params[] = {"worker", "token", "step", NULL};

static void read_context(struct call *call, struct request *request)
{
    request->in.context = (struct context_input){
        .task_id = route_param(call),
        .worker = target_param(&call->target, "worker"),
        .token = target_param(&call->target, "token"),
        .step = target_param(&call->target, "step"),
    };
}

static void write_context(const struct call *call, const struct request *request,
                          struct answer *answer)
{
    (void)call;
    const struct context_output *context = &request->out.context;
    json_open(&answer->out, '{');
    json_key(&answer->out, "input");
    json_raw(&answer->out, context->input);
    json_key(&answer->out, "outputs");
    json_open(&answer->out, '{');
    for (size_t i = 0; i < context->count; i++) {
        json_key(&answer->out, context->items[i].step);
        json_raw(&answer->out, context->items[i].output);
    }
    json_close(&answer->out, '}');
    json_close(&answer->out, '}');
}

#define REPORT_ROUTE(name)                                                                    \
    {                                                                                         \
        "POST", "/v1/tasks/{id}/" name, OP_REPORT, NULL, read_report_one, write_report_one, 0 \
    }

static const struct route routes[] = {
    {"POST", "/v1/tasks/claim", OP_CLAIM, NULL, read_claim, write_claimed, 0},
    {"POST", "/v1/tasks/report", OP_REPORT, NULL, read_report_many, write_report_many, 0},
    REPORT_ROUTE("complete"),
    REPORT_ROUTE("fail"),
    REPORT_ROUTE("retry"),
    REPORT_ROUTE("dead"),
    REPORT_ROUTE("release"),
    REPORT_ROUTE("wait"),
    {"POST", "/v1/tasks/{id}/heartbeat", OP_HEARTBEAT, NULL, read_heartbeat, write_heartbeat,
     0},
    {"GET", "/v1/tasks/{id}/context", OP_TASK_CONTEXT, context_params, read_context,
     write_context, 0},
};

const struct route_list task_routes = {routes, sizeof routes / sizeof *routes};
