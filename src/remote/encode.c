/* remote/encode.c - a request as method, path and JSON.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "remote/encode.h"

#include "base/clock.h"
#include "base/error.h"
#include "base/json.h"

#include <assert.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

static const char *const outcome_names[] = {
    [CAIRN_COMPLETE] = "complete", [CAIRN_FAIL] = "fail",       [CAIRN_RETRY] = "retry",
    [CAIRN_DEAD] = "dead",         [CAIRN_RELEASE] = "release", [CAIRN_WAIT] = "wait",
};

/* ---- targets ------------------------------------------------------------------------------
 */

static void add_escaped(struct buf *url, const char *text)
{
    for (const char *at = text; *at; at++) {
        char c = *at;
        bool is_plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
                        (c >= '0' && c <= '9') || strchr("-._~", c);
        if (is_plain)
            buf_char(url, c);
        else
            buf_printf(url, "%%%02X", (unsigned char)c);
    }
}

void aim(struct transfer *transfer, const char *method, const char *path)
{
    snprintf(transfer->method, sizeof transfer->method, "%s", method);
    buf_str(&transfer->url, path);
}

void aim_at(struct transfer *transfer, const char *method, const char *path, const char *name,
            const char *rest)
{
    aim(transfer, method, path);
    add_escaped(&transfer->url, name);
    buf_str(&transfer->url, rest);
}

void aim_more(struct transfer *transfer, const char *name, const char *rest)
{
    add_escaped(&transfer->url, name);
    buf_str(&transfer->url, rest);
}

void aim_query(struct transfer *transfer, const char *name, const char *value)
{
    if (!value)
        return;
    buf_char(&transfer->url, strchr(buf_text(&transfer->url), '?') ? '&' : '?');
    buf_str(&transfer->url, name);
    buf_char(&transfer->url, '=');
    add_escaped(&transfer->url, value);
}

void aim_page(struct transfer *transfer, const char *cursor, uint32_t limit)
{
    char text[16];
    snprintf(text, sizeof text, "%" PRIu32, limit);
    aim_query(transfer, "limit", text);
    aim_query(transfer, "cursor", cursor);
}

/* ---- bodies -------------------------------------------------------------------------------
 */

void put_text(struct json_out *out, const char *key, const char *text)
{
    if (!text)
        return;
    json_key(out, key);
    json_str(out, text);
}

void put_json(struct json_out *out, const char *key, const char *json)
{
    if (!json)
        return;
    json_key(out, key);
    json_raw(out, json);
}

void put_int(struct json_out *out, const char *key, int64_t value)
{
    json_key(out, key);
    json_int(out, value);
}

void put_instant(struct json_out *out, const char *key, int64_t us)
{
    char text[INSTANT_TEXT], fine[INSTANT_TEXT + 8];
    if (us == 0)
        return;
    instant_format(us, text);
    size_t len = strlen(text);
    assert(len > 1 && text[len - 1] == 'Z');
    snprintf(fine, sizeof fine, "%.*s%03dZ", (int)len - 1, text, (int)(us % US_PER_MS));
    put_text(out, key, fine);
}

void put_job_spec(struct json_out *out, const cairn_job_spec *spec)
{
    put_text(out, "type", spec->type);
    put_json(out, "payload", spec->payload);
    put_text(out, "key", spec->key);
    put_int(out, "priority", spec->priority);
    put_int(out, "max_attempts", spec->max_attempts);
    put_instant(out, "run_at", spec->run_at_us);
}

static void add_spec(struct json_out *out, const cairn_job_spec *spec)
{
    json_open(out, '{');
    put_job_spec(out, spec);
    json_close(out, '}');
}

static void encode_enqueue(const struct enqueue_input *in, struct transfer *transfer,
                           struct json_out *out)
{
    aim(transfer, "POST", "/v1/jobs");
    transfer->is_repeatable = true;
    for (size_t i = 0; i < in->count; i++)
        if (!in->specs[i].key)
            transfer->is_repeatable = false;
    if (in->count == 1) {
        add_spec(out, &in->specs[0]);
        return;
    }
    json_open(out, '{');
    json_key(out, "jobs");
    json_open(out, '[');
    for (size_t i = 0; i < in->count; i++)
        add_spec(out, &in->specs[i]);
    json_close(out, ']');
    json_close(out, '}');
}

/* Left out if there are none, as for a server that does not know of them. */
static void add_functions(struct json_out *out, const cairn_claim_options *claim)
{
    if (!claim->function_count)
        return;
    json_key(out, "functions");
    json_open(out, '[');
    for (size_t i = 0; i < claim->function_count; i++) {
        const cairn_function_code *code = &claim->functions[i];
        json_open(out, '{');
        put_text(out, "name", code->name);
        put_int(out, "version", code->version);
        if (code->from_version)
            put_int(out, "from_version", code->from_version);
        json_close(out, '}');
    }
    json_close(out, ']');
}

static void add_claim(struct json_out *out, const cairn_claim_options *claim,
                      struct transfer *transfer)
{
    json_key(out, "types");
    json_open(out, '[');
    for (size_t i = 0; i < claim->type_count; i++)
        json_str(out, claim->types[i]);
    json_close(out, ']');
    add_functions(out, claim);
    put_int(out, "max", claim->max);
    put_int(out, "lease_ms", claim->lease_ms);
    put_int(out, "wait_ms", claim->wait_ms);
    put_text(out, "runtime", claim->runtime);
    transfer->wait_ms = claim->wait_ms;
}

void put_claim(struct json_out *out, const cairn_claim_options *claim,
               struct transfer *transfer)
{
    json_key(out, "claim");
    json_open(out, '{');
    add_claim(out, claim, transfer);
    json_close(out, '}');
}

static void encode_claim(const cairn_claim_options *in, struct transfer *transfer,
                         struct json_out *out)
{
    aim(transfer, "POST", "/v1/tasks/claim");
    json_open(out, '{');
    put_text(out, "worker", in->worker);
    add_claim(out, in, transfer);
    json_close(out, '}');
}

void put_outbound(struct json_out *out, const cairn_outbound *events, size_t count)
{
    if (count == 0)
        return;
    json_key(out, "outbound");
    json_open(out, '[');
    for (size_t i = 0; i < count; i++) {
        json_open(out, '{');
        put_text(out, "event", events[i].event);
        put_json(out, "payload", events[i].payload);
        json_close(out, '}');
    }
    json_close(out, ']');
}

static void add_wait(struct json_out *out, const cairn_report *report)
{
    put_text(out, "event", report->event);
    if (report->timeout_ms >= 0)
        put_int(out, "timeout_ms", report->timeout_ms);
    put_outbound(out, report->outbound, report->outbound_count);
}

static void add_report(struct json_out *out, const cairn_report *report)
{
    json_open(out, '{');
    put_text(out, "id", report->task_id);
    put_text(out, "token", report->token);
    put_text(out, "outcome", outcome_names[report->outcome]);
    switch (report->outcome) {
    case CAIRN_COMPLETE:
        put_json(out, "output", report->output);
        put_outbound(out, report->outbound, report->outbound_count);
        break;
    case CAIRN_WAIT:
        add_wait(out, report);
        break;
    case CAIRN_RELEASE:
        put_text(out, "reason", report->is_missing_handler ? "missing_handler" : NULL);
        break;
    default:
        put_text(out, "error", report->error);
        break;
    }
    bool has_delay = report->outcome == CAIRN_RETRY || report->outcome == CAIRN_RELEASE;
    if (has_delay && report->delay_ms >= 0)
        put_int(out, "delay_ms", report->delay_ms);
    json_close(out, '}');
}

/* A report may be repeated.  A claim not: what the lost answer brought would be leased to
 * nobody until its lease ends. */
static void encode_report(const struct report_input *in, struct transfer *transfer,
                          struct json_out *out)
{
    aim(transfer, "POST", "/v1/tasks/report");
    transfer->is_repeatable = !in->is_claiming;
    json_open(out, '{');
    put_text(out, "worker", in->worker);
    json_key(out, "results");
    json_open(out, '[');
    for (size_t i = 0; i < in->count; i++)
        add_report(out, &in->reports[i]);
    json_close(out, ']');
    if (in->is_claiming)
        put_claim(out, &in->claim, transfer);
    json_close(out, '}');
}

static void encode_heartbeat(const struct heartbeat_input *in, struct transfer *transfer,
                             struct json_out *out)
{
    aim_at(transfer, "POST", "/v1/tasks/", in->task_id, "/heartbeat");
    transfer->is_repeatable = true;
    json_open(out, '{');
    put_text(out, "worker", in->worker);
    put_text(out, "token", in->token);
    put_int(out, "extend_ms", in->extend_ms);
    json_close(out, '}');
}

static void encode_registry_put(const cairn_registry_entry *in, struct transfer *transfer,
                                struct json_out *out)
{
    aim_at(transfer, "PUT", "/v1/registry/", in->workflow_name, "");
    transfer->is_repeatable = true;
    json_open(out, '{');
    put_text(out, "runtime", in->runtime);
    json_key(out, "is_enabled");
    json_bool(out, in->is_enabled);
    put_text(out, "description", in->description);
    json_close(out, '}');
}

static void encode_advance(int64_t ms, struct transfer *transfer, struct json_out *out)
{
    aim(transfer, "POST", "/v1/clock/advance");
    /* As long as it takes: there may be much that falls due. */
    transfer->wait_ms = ADVANCE_MS;
    json_open(out, '{');
    put_int(out, "ms", ms);
    json_close(out, '}');
}

static void encode_list(const cairn_job_filter *in, struct transfer *transfer)
{
    aim(transfer, "GET", "/v1/jobs");
    aim_query(transfer, "status", in->status);
    aim_query(transfer, "type", in->type);
    aim_query(transfer, "key", in->key);
    aim_page(transfer, in->cursor, in->limit);
}

/* Those without a body; all of them may be repeated. */
static void encode_plain(const struct request *request, struct transfer *transfer)
{
    const char *id = request->in.id;
    transfer->is_repeatable = true;
    switch (request->op) {
    case OP_JOB_CANCEL:
        aim_at(transfer, "POST", "/v1/jobs/", id, "/cancel");
        break;
    case OP_JOB_RETRY:
        aim_at(transfer, "POST", "/v1/jobs/", id, "/retry");
        break;
    case OP_JOB_DELETE:
        aim_at(transfer, "DELETE", "/v1/jobs/", id, "");
        break;
    case OP_JOB_GET:
        aim_at(transfer, "GET", "/v1/jobs/", id, "");
        break;
    case OP_JOB_LIST:
        encode_list(&request->in.job_list, transfer);
        break;
    case OP_JOB_EVENTS:
        aim_at(transfer, "GET", "/v1/jobs/", request->in.page.id, "/events");
        aim_page(transfer, request->in.page.cursor, request->in.page.limit);
        break;
    case OP_REGISTRY_LIST:
        aim(transfer, "GET", "/v1/registry");
        aim_page(transfer, request->in.page.cursor, request->in.page.limit);
        break;
    case OP_CLOCK_NOW:
        aim(transfer, "GET", "/v1/clock");
        break;
    case OP_STATS:
        aim(transfer, "GET", "/v1/stats");
        break;
    case OP_DOCTOR:
        aim(transfer, "GET", "/v1/doctor");
        transfer->wait_ms = DOCTOR_MS;
        break;
    default:
        encode_flow(request, transfer);
        break;
    }
}

cairn_code encode_request(const struct request *request, struct transfer *transfer,
                          cairn_error *reterr)
{
    struct json_out out = {.buf = &transfer->body};
    switch (request->op) {
    case OP_ENQUEUE:
        encode_enqueue(&request->in.enqueue, transfer, &out);
        break;
    case OP_CLAIM:
        encode_claim(&request->in.claim, transfer, &out);
        break;
    case OP_REPORT:
        encode_report(&request->in.report, transfer, &out);
        break;
    case OP_HEARTBEAT:
        encode_heartbeat(&request->in.heartbeat, transfer, &out);
        break;
    case OP_COMMIT:
        encode_commit(&request->in.commit, transfer, &out);
        break;
    case OP_REGISTRY_PUT:
        encode_registry_put(&request->in.registry, transfer, &out);
        break;
    case OP_CLOCK_ADVANCE:
        encode_advance(request->in.advance.ms, transfer, &out);
        break;
    default:
        encode_plain(request, transfer);
        break;
    }
    transfer->has_body = transfer->body.len > 0;
    if (buf_failed(&transfer->body) || buf_failed(&transfer->url))
        return fail_memory(reterr);
    return CAIRN_OK;
}
