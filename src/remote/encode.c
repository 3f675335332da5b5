/* remote/encode.c - a request as method, path and JSON.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * By the operation's table, except for what depends on more: many jobs or one, reports, a claim
 * beside something else, a workflow's text.
 */
#include "base/error.h"
#include "remote/remote.h"

#include <assert.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

static const char *text_at(const struct request *request, uint32_t place)
{
    const char *text;
    memcpy(&text, (const char *)request + place, sizeof text);
    return text;
}

/* "/v1/jobs/{id}" with the request's own id. */
static void add_path(const struct operation *operation, const struct request *request,
                     struct buf *url)
{
    size_t params = 0;
    for (const char *at = operation->path; *at; at++) {
        if (*at != '{') {
            buf_char(url, *at);
            continue;
        }
        uint32_t place = operation->params[params++];
        if (place)
            buf_url(url, text_at(request, place));
        else
            buf_printf(url, "%" PRId32,
                       *(const int32_t *)((const char *)request + operation->number));
        at = strchr(at, '}');
    }
}

static void add_query(const struct object *query, const void *from, struct buf *url)
{
    for (size_t i = 0; i < query->count; i++) {
        const struct field *field = &query->fields[i];
        char number[24], fine[FINE_INSTANT_TEXT];
        if (field->kind == FIELD_TEXT) {
            buf_param(url, field->name, field_pointer(field, from));
        } else if (field->kind == FIELD_TEXTS) {
            const char *const *texts = field_pointer(field, from);
            for (size_t k = 0; k < field_count(field, from); k++)
                buf_param(url, field->name, texts[k]);
        } else if (field->kind == FIELD_FLAG) {
            buf_param(url, field->name, field_number(field, from) ? field->words[0] : NULL);
        } else if (field->kind == FIELD_TIME) {
            if (field_number(field, from))
                instant_format_fine(field_number(field, from), fine);
            buf_param(url, field->name, field_number(field, from) ? fine : NULL);
        } else if (field_number(field, from) != field->fallback) {
            snprintf(number, sizeof number, "%" PRId64, field_number(field, from));
            buf_param(url, field->name, number);
        }
    }
}

static void add_enqueue(const struct enqueue_input *in, struct json_out *out)
{
    if (in->count == 1)
        object_write(out, &job_spec_object, in->specs, WRITE_REQUEST);
    else
        object_write(out, &job_specs_object, in, WRITE_REQUEST);
}

static void add_claim(const cairn_claim_options *claim, struct json_out *out)
{
    object_write(json_key(out, "claim"), &claim_besides_object, claim, WRITE_REQUEST);
}

static void add_result(const cairn_report *report, struct json_out *out)
{
    const struct outcome *outcome = outcomes;
    while (outcome->outcome != report->outcome)
        outcome++;
    json_open(out, '{');
    json_str(json_key(out, "id"), report->task_id);
    json_str(json_key(out, "token"), report->token);
    json_str(json_key(out, "outcome"), outcome->name);
    fields_write(out, outcome->fields, report, WRITE_REQUEST);
    json_close(out, '}');
}

static void add_report(const struct report_input *in, struct json_out *out)
{
    json_open(out, '{');
    json_str(json_key(out, "worker"), in->worker);
    json_open(json_key(out, "results"), '[');
    for (size_t i = 0; i < in->count; i++)
        add_result(&in->reports[i], out);
    json_close(out, ']');
    if (in->is_claiming)
        add_claim(&in->claim, out);
    json_close(out, '}');
}

static void add_commit(const struct commit_input *in, struct json_out *out)
{
    json_open(out, '{');
    fields_write(out, &commit_spec_object, in, WRITE_REQUEST);
    if (in->is_claiming)
        add_claim(&in->claim, out);
    json_close(out, '}');
}

static void add_signal(const cairn_signal_options *in, struct json_out *out)
{
    json_open(out, '{');
    fields_write(out, &signal_spec_object, in, WRITE_REQUEST);
    if (in->no_latch)
        json_str(json_key(out, "latch"), "off");
    json_close(out, '}');
}

/* With a key it is found by a second try, unless that would refuse it or begin another one. */
static bool is_found_again(const char *key, const char *on_existing)
{
    return key && (!on_existing || strcmp(on_existing, "return") == 0);
}

static bool all_are_found_again(const struct enqueue_input *in)
{
    for (size_t i = 0; i < in->count; i++)
        if (!is_found_again(in->specs[i].key, in->specs[i].on_existing))
            return false;
    return true;
}

/* A commit that ends the lease is recognised by its token, one that goes on by its steps having
 * ended; any other would be made twice. */
static bool is_commit_repeatable(const struct commit_input *in)
{
    if (in->is_claiming)
        return false;
    if (in->outcome != PASSAGE_GO_ON)
        return true;
    for (size_t i = 0; i < in->step_count; i++)
        if (strcmp(in->steps[i].status, "completed") != 0 &&
            strcmp(in->steps[i].status, "failed") != 0)
            return false;
    return in->step_count > 0;
}

/* A claim is never repeated: the tasks of the lost answer would stay leased, but not executed,
 * until their leases end. */
static bool is_repeatable(const struct operation *operation, const struct request *request)
{
    if (operation->repeat == REPEAT_WITH_KEY)
        return text_at(request, operation->key) != NULL;
    if (operation->repeat != REPEAT_BY_HAND)
        return operation->repeat == REPEAT_ALWAYS;
    if (request->op == OP_ENQUEUE)
        return all_are_found_again(&request->in.enqueue);
    if (request->op == OP_START)
        return is_found_again(request->in.start.key, request->in.start.on_existing);
    if (request->op == OP_REPORT)
        return !request->in.report.is_claiming;
    assert(request->op == OP_COMMIT);
    return is_commit_repeatable(&request->in.commit);
}

/* How long the server may hold back its answer. */
static uint32_t wait_of(const struct operation *operation, const struct request *request)
{
    if (request->op == OP_CLAIM)
        return request->in.claim.wait_ms;
    if (request->op == OP_REPORT && request->in.report.is_claiming)
        return request->in.report.claim.wait_ms;
    if (request->op == OP_COMMIT && request->in.commit.is_claiming)
        return request->in.commit.claim.wait_ms;
    return request->await_ms ? (uint32_t)request->await_ms : operation->wait_ms;
}

static void add_body(const struct operation *operation, const struct request *request,
                     struct buf *body)
{
    struct json_out out = {.buf = body};
    switch (request->op) {
    case OP_ENQUEUE:
        add_enqueue(&request->in.enqueue, &out);
        break;
    case OP_REPORT:
        add_report(&request->in.report, &out);
        break;
    case OP_COMMIT:
        add_commit(&request->in.commit, &out);
        break;
    case OP_SIGNAL:
        add_signal(&request->in.signal, &out);
        break;
    case OP_DEPLOY:
        buf_add(body, request->in.deploy.text, request->in.deploy.len);
        break;
    default:
        if (operation->body)
            object_write(&out, operation->body, (const char *)request + operation->body_at,
                         WRITE_REQUEST);
        break;
    }
}

cairn_code encode_request(const struct request *request, struct transfer *transfer,
                          cairn_error *reterr)
{
    const struct operation *operation = operation_of(request->op);
    assert(operation);
    snprintf(transfer->method, sizeof transfer->method, "%s", operation->method);
    add_path(operation, request, &transfer->url);
    if (operation->query)
        add_query(operation->query, (const char *)request + operation->query_at,
                  &transfer->url);
    add_body(operation, request, &transfer->body);
    transfer->is_repeatable = is_repeatable(operation, request);
    transfer->wait_ms = wait_of(operation, request);
    transfer->has_body = transfer->body.len > 0;
    if (buf_failed(&transfer->body) || buf_failed(&transfer->url))
        return fail_memory(reterr);
    return CAIRN_OK;
}
