/* engine/check.c - what may be asked: every input is bounded before it comes near a store.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "engine/check.h"
#include "base/clock.h"
#include "base/error.h"
#include "base/json.h"
#include "core/instance.h"
#include "core/job.h"
#include "core/pattern.h"
#include "engine/local.h"

#include <string.h>

cairn_code check_bad(struct check *check, const char *what, const char *why)
{
    return fail(check->error, CAIRN_E_BAD_INPUT, "%s %s", what, why);
}

cairn_code check_text(struct check *check, const char *what, const char *text, size_t max)
{
    if (!text)
        return check_bad(check, what, "is missing");
    size_t len = strlen(text);
    if (len == 0)
        return check_bad(check, what, "is empty");
    if (len > max) {
        fail(check->error, CAIRN_E_TOO_LARGE, "%s is too long", what);
        return fail_detail(check->error, CAIRN_E_TOO_LARGE, "%zu bytes, %zu are allowed", len,
                           max);
    }
    if (!utf8_is_valid(text, len))
        return check_bad(check, what, "is not UTF-8");
    return CAIRN_OK;
}

cairn_code check_name(struct check *check, const char *what, const char *text)
{
    return check_text(check, what, text, check->limits->max_name);
}

cairn_code check_optional(struct check *check, const char *what, const char *text)
{
    return text ? check_name(check, what, text) : CAIRN_OK;
}

cairn_code check_pattern(struct check *check, const char *what, const char *text)
{
    cairn_code code = check_name(check, what, text);
    if (code || pattern_is_valid(text))
        return code;
    code = fail(check->error, CAIRN_E_BAD_INPUT,
                "%s \"%.128s\" is not a pattern: %% may stand only at the end", what, text);
    return fail_hint(check->error, code, "give an exact type, or a prefix such as billing.%%");
}

cairn_code check_json(struct check *check, const char *what, const char *text)
{
    size_t len = strlen(text);
    if (len > check->limits->max_payload) {
        fail(check->error, CAIRN_E_TOO_LARGE, "%s is too large", what);
        return fail_detail(check->error, CAIRN_E_TOO_LARGE, "%zu bytes, %zu are allowed", len,
                           check->limits->max_payload);
    }
    return json_check(text, len, what, check->error);
}

cairn_code check_count(struct check *check, const char *what, size_t count, size_t least)
{
    if (count < least)
        return check_bad(check, what, "is empty");
    if (count > check->limits->max_batch) {
        fail(check->error, CAIRN_E_TOO_LARGE, "%s has too many entries", what);
        return fail_detail(check->error, CAIRN_E_TOO_LARGE, "%zu, %zu are allowed", count,
                           check->limits->max_batch);
    }
    return CAIRN_OK;
}

cairn_code check_range(struct check *check, const char *what, int64_t value, int64_t least,
                       int64_t most)
{
    if (value >= least && value <= most)
        return CAIRN_OK;
    return fail(check->error, CAIRN_E_BAD_INPUT, "%s is %lld; it must be from %lld to %lld",
                what, (long long)value, (long long)least, (long long)most);
}

cairn_code check_spec(struct check *check, cairn_job_spec *spec)
{
    cairn_code code = check_name(check, "type", spec->type);
    if (!spec->payload)
        spec->payload = "{}";
    if (!code)
        code = check_json(check, "payload", spec->payload);
    if (!code)
        code = check_optional(check, "key", spec->key);
    if (!code)
        code = check_range(check, "priority", spec->priority, 0, INT32_MAX);
    if (!code)
        code = check_range(check, "max_attempts", spec->max_attempts, 1, INT32_MAX);
    if (!code)
        code = check_range(check, "run_at", spec->run_at_us, 0, INSTANT_MAX);
    return code;
}

static cairn_code check_enqueue(struct check *check)
{
    struct enqueue_input *in = &check->request->in.enqueue;
    cairn_code code = check_count(check, "jobs", in->count, 1);
    for (size_t i = 0; i < in->count && !code; i++) {
        code = check_spec(check, &in->specs[i]);
        if (code && in->count > 1 && !check->error->detail[0])
            fail_detail(check->error, code, "in job %zu of %zu", i + 1, in->count);
    }
    return code;
}

static cairn_code check_function(struct check *check, const cairn_function_code *function)
{
    cairn_code code = check_name(check, "function", function->name);
    if (!code)
        code = check_range(check, "version", function->version, 1, INT32_MAX);
    return code ? code
                : check_range(check, "from_version", function->from_version, 0,
                              function->version);
}

cairn_code check_claim(struct check *check, const cairn_claim_options *claim)
{
    cairn_code code = check_name(check, "worker", claim->worker);
    if (!code)
        code = check_count(check, "types", claim->type_count, claim->function_count == 0);
    for (size_t i = 0; i < claim->type_count && !code; i++)
        code = check_pattern(check, "type", claim->types[i]);
    if (!code)
        code = check_count(check, "functions", claim->function_count, 0);
    for (size_t i = 0; i < claim->function_count && !code; i++)
        code = check_function(check, &claim->functions[i]);
    if (!code)
        code = check_optional(check, "runtime", claim->runtime);
    if (!code)
        code = check_range(check, "max", claim->max, 1, (int64_t)check->limits->max_batch);
    if (!code)
        code = check_range(check, "lease_ms", claim->lease_ms, 1, UINT32_MAX);
    return code;
}

/* Cuts an error text to what is kept, and makes it UTF-8: a worker's outcome must not be lost
 * because its program printed something odd. */
cairn_code check_trim_error(struct check *check, const char **error)
{
    if (!*error)
        return CAIRN_OK;
    size_t len = strnlen(*error, check->limits->max_error);
    if (!(*error)[len] && utf8_is_valid(*error, len))
        return CAIRN_OK;
    char *copy = arena_strndup(&check->request->arena, *error, len);
    if (!copy)
        return fail_memory(check->error);
    for (size_t i = len; i > 0 && i + 4 > len && !utf8_is_valid(copy, i); i--)
        copy[i - 1] = '\0'; /* a character that the cut has halved */
    len = strlen(copy);
    if (!utf8_is_valid(copy, len))
        for (size_t i = 0; i < len; i++)
            if ((unsigned char)copy[i] >= 0x80)
                copy[i] = '?';
    *error = copy;
    return CAIRN_OK;
}

cairn_code check_outbound(struct check *check, const cairn_outbound *events, size_t count)
{
    cairn_code code = check_count(check, "outbound", count, 0);
    for (size_t i = 0; i < count && !code; i++) {
        code = check_name(check, "event", events[i].event);
        if (!code && events[i].payload)
            code = check_json(check, "payload", events[i].payload);
    }
    return code;
}

/* What goes with some outcomes only. */
static cairn_code check_extras(struct check *check, cairn_report *report)
{
    cairn_code code = CAIRN_OK;
    bool is_waiting = report->outcome == CAIRN_WAIT;
    if (report->outcome == CAIRN_COMPLETE && report->output)
        code = check_json(check, "output", report->output);
    if (!code && is_waiting)
        code = check_name(check, "event", report->event);
    if (!code && is_waiting)
        code =
            check_range(check, "timeout_ms", report->timeout_ms, -1, INSTANT_MAX / US_PER_MS);
    if (!code && report->outbound_count && !is_waiting && report->outcome != CAIRN_COMPLETE)
        code = check_bad(check, "outbound", "goes only with complete and wait");
    return code ? code : check_outbound(check, report->outbound, report->outbound_count);
}

static cairn_code check_report(struct check *check, cairn_report *report)
{
    cairn_code code = CAIRN_OK;
    if (!report->task_id || !report->token)
        code = check_bad(check, report->task_id ? "token" : "id", "is missing");
    if (!code)
        code = check_range(check, "outcome", report->outcome, CAIRN_COMPLETE, CAIRN_WAIT);
    if (!code)
        code = check_range(check, "delay_ms", report->delay_ms, -1, INSTANT_MAX / US_PER_MS);
    if (!code)
        code = check_extras(check, report);
    if (!code)
        code = check_trim_error(check, &report->error);
    return code;
}

static cairn_code check_reports(struct check *check)
{
    struct report_input *in = &check->request->in.report;
    cairn_code code = check_name(check, "worker", in->worker);
    if (!code)
        code = check_count(check, "results", in->count, in->is_claiming ? 0 : 1);
    for (size_t i = 0; i < in->count && !code; i++)
        code = check_report(check, &in->reports[i]);
    if (!code && in->is_claiming)
        code = check_claim(check, &in->claim);
    return code;
}

static cairn_code check_heartbeat(struct check *check)
{
    const struct heartbeat_input *in = &check->request->in.heartbeat;
    cairn_code code = check_name(check, "worker", in->worker);
    if (!code && (!in->task_id || !in->token))
        code = check_bad(check, in->task_id ? "token" : "id", "is missing");
    if (!code)
        code = check_range(check, "extend_ms", in->extend_ms, 0, UINT32_MAX);
    return code;
}

static cairn_code check_context(struct check *check)
{
    const struct context_input *in = &check->request->in.context;
    cairn_code code = check_name(check, "worker", in->worker);
    if (!code && (!in->task_id || !in->token))
        code = check_bad(check, in->task_id ? "token" : "id", "is missing");
    return code || !in->step ? code : check_name(check, "step", in->step);
}

static cairn_code check_page(struct check *check, const char *cursor, uint32_t limit)
{
    cairn_code code = check_range(check, "limit", limit, 1, 1000);
    if (!code && cursor && strlen(cursor) > check->limits->max_name)
        code = check_bad(check, "cursor", "is not one of ours");
    return code;
}

/* Cursors of lists that are in order of number. */
static cairn_code check_number_cursor(struct check *check, const char *cursor)
{
    if (!cursor)
        return CAIRN_OK;
    size_t digits = strspn(cursor, "0123456789");
    if (digits == 0 || digits > 18 || cursor[digits])
        return check_bad(check, "cursor", "is not one of ours");
    return CAIRN_OK;
}

static cairn_code check_job_list(struct check *check)
{
    const cairn_job_filter *in = &check->request->in.job_list;
    cairn_code code = check_page(check, in->cursor, in->limit);
    if (!code)
        code = check_number_cursor(check, in->cursor);
    if (!code && in->type)
        code = check_pattern(check, "type", in->type);
    if (!code)
        code = check_optional(check, "key", in->key);
    if (!code && in->status && job_status_from(in->status) == JOB_NONE) {
        code = fail(check->error, CAIRN_E_BAD_INPUT, "status \"%.64s\" does not exist",
                    in->status);
        fail_hint(check->error, code, "pending, leased, succeeded, failed or cancelled");
    }
    return code;
}

static cairn_code check_events(struct check *check)
{
    const struct page_input *in = &check->request->in.page;
    cairn_code code = check_page(check, in->cursor, in->limit);
    return code ? code : check_number_cursor(check, in->cursor);
}

static cairn_code check_registry(struct check *check)
{
    const cairn_registry_spec *in = &check->request->in.registry;
    cairn_code code = check_name(check, "workflow_name", in->workflow_name);
    if (!code)
        code = check_name(check, "runtime", in->runtime);
    if (!code && in->description && in->description[0])
        code = check_text(check, "description", in->description, check->limits->max_error);
    return code;
}

static cairn_code check_deploy(struct check *check)
{
    struct deploy_input *in = &check->request->in.deploy;
    if (!in->text || in->len == 0)
        return check_bad(check, "workflow", "is empty");
    if (in->len > check->limits->max_payload) {
        fail(check->error, CAIRN_E_TOO_LARGE, "workflow is too large");
        return fail_detail(check->error, CAIRN_E_TOO_LARGE, "%zu bytes, %zu are allowed",
                           in->len, check->limits->max_payload);
    }
    if (!in->file)
        in->file = "workflow";
    return check_text(check, "file", in->file, check->limits->max_error);
}

static cairn_code check_definition(struct check *check)
{
    const struct definition_input *in = &check->request->in.definition;
    cairn_code code = check_name(check, "name", in->name);
    return code ? code : check_range(check, "version", in->version, 0, INT32_MAX);
}

cairn_code check_start(struct check *check, cairn_start_options *in)
{
    cairn_code code = check_name(check, "workflow", in->workflow);
    if (!in->input)
        in->input = "{}";
    if (!code)
        code = check_range(check, "version", in->version, 0, INT32_MAX);
    if (!code)
        code = check_json(check, "input", in->input);
    if (!code)
        code = check_optional(check, "key", in->key);
    if (!code)
        code = check_range(check, "start_at", in->start_at_us, 0, INSTANT_MAX);
    return code;
}

static cairn_code check_id(struct check *check, const char *id)
{
    return id ? CAIRN_OK : check_bad(check, "id", "is missing");
}

static cairn_code check_signal(struct check *check)
{
    cairn_signal_options *in = &check->request->in.signal;
    cairn_code code = check_id(check, in->instance_id);
    if (!in->payload)
        in->payload = "null";
    if (!code)
        code = check_name(check, "event", in->event);
    if (!code)
        code = check_json(check, "payload", in->payload);
    return code ? code : check_optional(check, "id", in->id);
}

/* Who stopped an instance, and why, is kept with it: both must be said. */
static cairn_code check_stop(struct check *check)
{
    const struct control_input *in = &check->request->in.control;
    cairn_code code = check_id(check, in->id);
    if (!code)
        code = check_name(check, "by", in->by);
    return code ? code : check_text(check, "reason", in->reason, check->limits->max_error);
}

/* A decision is kept with who made it; a comment may be left out. */
static cairn_code check_decide(struct check *check)
{
    const struct decide_input *in = &check->request->in.decide;
    cairn_code code = check_id(check, in->id);
    if (!code)
        code = check_name(check, "step", in->step);
    if (!code)
        code = check_name(check, "by", in->by);
    if (!code && in->comment && in->comment[0])
        code = check_text(check, "comment", in->comment, check->limits->max_error);
    return code;
}

static cairn_code check_requeue(struct check *check)
{
    const struct requeue_input *in = &check->request->in.requeue;
    cairn_code code = check_id(check, in->record);
    return code || !in->input ? code : check_json(check, "input", in->input);
}

static cairn_code check_dlq_list(struct check *check)
{
    const struct page_input *in = &check->request->in.page;
    cairn_code code = check_page(check, in->cursor, in->limit);
    return code ? code : check_number_cursor(check, in->cursor);
}

static cairn_code check_instance_list(struct check *check)
{
    const cairn_instance_filter *in = &check->request->in.instance_list;
    cairn_code code = check_page(check, in->cursor, in->limit);
    if (!code)
        code = check_number_cursor(check, in->cursor);
    if (!code)
        code = check_optional(check, "workflow", in->workflow);
    if (!code)
        code = check_optional(check, "key", in->key);
    if (!code && in->status && instance_status_from(in->status) == INSTANCE_NONE) {
        code = fail(check->error, CAIRN_E_BAD_INPUT, "status \"%.64s\" does not exist",
                    in->status);
        fail_hint(check->error, code,
                  "pending, running, waiting_signal, paused, compensating, dlq, completed, "
                  "failed, cancelled or aborted");
    }
    return code;
}

static cairn_code check_outbox(struct check *check)
{
    const struct outbox_input *in = &check->request->in.outbox;
    cairn_code code = check_name(check, "worker", in->worker);
    if (!code)
        code = check_range(check, "max", in->max, 1, (int64_t)check->limits->max_batch);
    return code ? code : check_range(check, "lease_ms", in->lease_ms, 1, UINT32_MAX);
}

/* Workflows and their instances. */
static cairn_code check_flow(struct check *check)
{
    const struct request *request = check->request;
    switch (request->op) {
    case OP_DEPLOY:
        return check_deploy(check);
    case OP_DEFINITION_GET:
        return check_definition(check);
    case OP_START:
        return check_start(check, &check->request->in.start);
    case OP_SIGNAL:
        return check_signal(check);
    case OP_PAUSE:
    case OP_RESUME:
    case OP_RESTART:
    case OP_RETRY:
        return check_id(check, request->in.control.id);
    case OP_CANCEL:
    case OP_ABORT:
        return check_stop(check);
    case OP_DECIDE:
        return check_decide(check);
    case OP_DLQ_REQUEUE:
        return check_requeue(check);
    case OP_DLQ_LIST:
        return check_dlq_list(check);
    case OP_INSTANCE_LIST:
        return check_instance_list(check);
    case OP_OUTBOX_CLAIM:
        return check_outbox(check);
    case OP_COMMIT:
        return check_commit(check);
    default:
        return CAIRN_OK;
    }
}

/* A page of something that belongs to something else. */
static cairn_code check_part(struct check *check)
{
    cairn_code code = check_id(check, check->request->in.page.id);
    return code ? code : check_events(check);
}

static cairn_code check_one(struct check *check)
{
    const struct request *request = check->request;
    switch (request->op) {
    case OP_ENQUEUE:
        return check_enqueue(check);
    case OP_CLAIM:
        return check_claim(check, &request->in.claim);
    case OP_REPORT:
        return check_reports(check);
    case OP_HEARTBEAT:
        return check_heartbeat(check);
    case OP_TASK_CONTEXT:
        return check_context(check);
    case OP_JOB_CANCEL:
    case OP_JOB_DELETE:
    case OP_JOB_RETRY:
    case OP_JOB_GET:
    case OP_INSTANCE_GET:
    case OP_OUTBOX_ACK:
    case OP_DLQ_GET:
        return check_id(check, request->in.id);
    case OP_REGISTRY_PUT:
        return check_registry(check);
    case OP_CLOCK_ADVANCE:
        return check_range(check, "ms", request->in.advance.ms, 0, INSTANT_MAX / US_PER_MS);
    case OP_JOB_LIST:
        return check_job_list(check);
    case OP_JOB_EVENTS:
    case OP_INSTANCE_EVENTS:
    case OP_STEP_LIST:
    case OP_LOG_LIST:
    case OP_DECISION_LIST:
        return check_part(check);
    case OP_REGISTRY_LIST:
    case OP_DEFINITION_LIST:
        return check_page(check, request->in.page.cursor, request->in.page.limit);
    case OP_ALL_EVENTS:
        return check_events(check);
    default:
        return check_flow(check);
    }
}

cairn_code request_check(const cairn_open_options *limits, struct request *request)
{
    struct check check = {.limits = limits, .request = request, .error = &request->error};
    error_clear(&request->error);
    request->code = check_one(&check);
    return request->code;
}
