/* remote/encode_flow.c - requests about workflows and instances as method, path and body.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "remote/encode.h"

#include <assert.h>
#include <stdio.h>

static void encode_deploy(const struct deploy_input *in, struct transfer *transfer)
{
    aim(transfer, "POST", "/v1/workflows");
    if (in->is_function_only)
        aim_query(transfer, "only", "function"); /* first, where the server looks for it */
    aim_query(transfer, "file", in->file);
    buf_add(&transfer->body, in->text, in->len);
    transfer->is_repeatable = true;
}

void put_start_spec(struct json_out *out, const cairn_start_options *options)
{
    put_text(out, "workflow", options->workflow);
    if (options->version)
        put_int(out, "version", options->version);
    put_json(out, "input", options->input);
    put_text(out, "key", options->key);
    put_instant(out, "start_at", options->start_at_us);
}

static void encode_start(const cairn_start_options *in, struct transfer *transfer,
                         struct json_out *out)
{
    aim(transfer, "POST", "/v1/instances");
    transfer->is_repeatable = in->key != NULL;
    json_open(out, '{');
    put_start_spec(out, in);
    json_close(out, '}');
}

static void encode_signal(const cairn_signal_options *in, struct transfer *transfer,
                          struct json_out *out)
{
    aim_at(transfer, "POST", "/v1/instances/", in->instance_id, "/signal");
    transfer->is_repeatable = in->id != NULL;
    json_open(out, '{');
    put_text(out, "event", in->event);
    put_json(out, "payload", in->payload);
    put_text(out, "id", in->id);
    put_text(out, "latch", in->no_latch ? "off" : NULL);
    json_close(out, '}');
}

static void encode_control(const struct control_input *in, const char *verb,
                           struct transfer *transfer, struct json_out *out)
{
    aim_at(transfer, "POST", "/v1/instances/", in->id, verb);
    transfer->is_repeatable = in->by != NULL; /* a second restart would be one too many */
    if (!in->by && !in->is_forced)
        return;
    json_open(out, '{');
    put_text(out, "by", in->by);
    put_text(out, "reason", in->reason);
    if (in->is_forced) {
        json_key(out, "force");
        json_bool(out, true);
    }
    json_close(out, '}');
}

static void encode_decide(const struct decide_input *in, struct transfer *transfer,
                          struct json_out *out)
{
    aim_at(transfer, "POST", "/v1/instances/", in->id, "/steps/");
    aim_more(transfer, in->step, "/decision");
    json_open(out, '{');
    put_text(out, "decision", in->is_confirmed ? "confirmed" : "rejected");
    put_text(out, "by", in->by);
    put_text(out, "comment", in->comment);
    json_close(out, '}');
}

static void encode_requeue(const struct requeue_input *in, struct transfer *transfer,
                           struct json_out *out)
{
    aim_at(transfer, "POST", "/v1/dlq/", in->record, "/requeue");
    if (!in->input)
        return;
    json_open(out, '{');
    put_json(out, "input", in->input);
    json_close(out, '}');
}

static void encode_outbox_claim(const struct outbox_input *in, struct transfer *transfer,
                                struct json_out *out)
{
    aim(transfer, "POST", "/v1/outbox/claim");
    json_open(out, '{');
    put_text(out, "worker", in->worker);
    put_int(out, "max", in->max);
    put_int(out, "lease_ms", in->lease_ms);
    json_close(out, '}');
}

static void encode_instances(const cairn_instance_filter *in, struct transfer *transfer)
{
    aim(transfer, "GET", "/v1/instances");
    aim_query(transfer, "status", in->status);
    aim_query(transfer, "workflow", in->workflow);
    aim_query(transfer, "key", in->key);
    aim_page(transfer, in->cursor, in->limit);
}

static void encode_part(const struct page_input *in, const char *part,
                        struct transfer *transfer)
{
    aim_at(transfer, "GET", "/v1/instances/", in->id, part);
    aim_page(transfer, in->cursor, in->limit);
}

/* Those that change nothing, or nothing more when they are repeated. */
static void encode_question(const struct request *request, struct transfer *transfer)
{
    char version[16];
    transfer->is_repeatable = true;
    switch (request->op) {
    case OP_DEFINITION_GET:
        snprintf(version, sizeof version, "/%d", (int)request->in.definition.version);
        aim_at(transfer, "GET", "/v1/workflows/", request->in.definition.name, version);
        break;
    case OP_DEFINITION_LIST:
        aim(transfer, "GET", "/v1/workflows");
        aim_page(transfer, request->in.page.cursor, request->in.page.limit);
        break;
    case OP_INSTANCE_GET:
        aim_at(transfer, "GET", "/v1/instances/", request->in.id, "");
        break;
    case OP_INSTANCE_LIST:
        encode_instances(&request->in.instance_list, transfer);
        break;
    case OP_STEP_LIST:
        encode_part(&request->in.page, "/steps", transfer);
        break;
    case OP_INSTANCE_EVENTS:
        encode_part(&request->in.page, "/events", transfer);
        break;
    case OP_LOG_LIST:
        encode_part(&request->in.page, "/logs", transfer);
        break;
    case OP_TASK_CONTEXT:
        aim_at(transfer, "GET", "/v1/tasks/", request->in.context.task_id, "/context");
        aim_query(transfer, "worker", request->in.context.worker);
        aim_query(transfer, "token", request->in.context.token);
        aim_query(transfer, "step", request->in.context.step);
        break;
    case OP_DECISION_LIST:
        encode_part(&request->in.page, "/decisions", transfer);
        break;
    case OP_ALL_EVENTS:
        aim(transfer, "GET", "/v1/events");
        aim_page(transfer, request->in.page.cursor, request->in.page.limit);
        break;
    case OP_DLQ_LIST:
        aim(transfer, "GET", "/v1/dlq");
        aim_page(transfer, request->in.page.cursor, request->in.page.limit);
        break;
    case OP_DLQ_GET:
        aim_at(transfer, "GET", "/v1/dlq/", request->in.id, "");
        break;
    default:
        assert(request->op == OP_OUTBOX_ACK);
        aim_at(transfer, "POST", "/v1/outbox/", request->in.id, "/ack");
        break;
    }
}

void encode_flow(const struct request *request, struct transfer *transfer)
{
    struct json_out out = {.buf = &transfer->body};
    transfer->is_repeatable = false;
    switch (request->op) {
    case OP_DEPLOY:
        encode_deploy(&request->in.deploy, transfer);
        break;
    case OP_START:
        encode_start(&request->in.start, transfer, &out);
        break;
    case OP_SIGNAL:
        encode_signal(&request->in.signal, transfer, &out);
        break;
    case OP_PAUSE:
        encode_control(&request->in.control, "/pause", transfer, &out);
        break;
    case OP_RESUME:
        encode_control(&request->in.control, "/resume", transfer, &out);
        break;
    case OP_RESTART:
        encode_control(&request->in.control, "/restart", transfer, &out);
        break;
    case OP_RETRY:
        encode_control(&request->in.control, "/retry", transfer, &out);
        break;
    case OP_CANCEL:
        encode_control(&request->in.control, "/cancel", transfer, &out);
        break;
    case OP_ABORT:
        encode_control(&request->in.control, "/abort", transfer, &out);
        break;
    case OP_DECIDE:
        encode_decide(&request->in.decide, transfer, &out);
        break;
    case OP_DLQ_REQUEUE:
        encode_requeue(&request->in.requeue, transfer, &out);
        break;
    case OP_OUTBOX_CLAIM:
        encode_outbox_claim(&request->in.outbox, transfer, &out);
        break;
    default:
        encode_question(request, transfer);
        break;
    }
}
