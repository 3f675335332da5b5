/* api/outbox.c - /v1/outbox: events that handlers have emitted, to be delivered.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "api/api.h"

static void read_claim(struct call *call, struct request *request)
{
    int64_t most = (int64_t)call->engine->options.max_batch;
    request->in.outbox = (struct outbox_input){
        .worker = field_text(&call->body, "worker", REQUIRED),
        .max = (uint32_t)field_int(&call->body, "max", 1, most, 1),
        .lease_ms = (uint32_t)field_int(&call->body, "lease_ms", 1, UINT32_MAX, 30000),
    };
}

static void write_event(struct json_out *out, const cairn_outbox_event *event)
{
    json_open(out, '{');
    json_key(out, "id");
    json_str(out, event->id);
    json_key(out, "instance_id");
    json_str(out, event->instance_id);
    json_key(out, "step");
    json_str(out, event->step);
    json_key(out, "event");
    json_str(out, event->event);
    json_key(out, "payload");
    json_raw(out, event->payload);
    json_key(out, "created_at");
    json_time(out, event->created_at_us);
    json_close(out, '}');
}

static void write_claimed(const struct call *call, const struct request *request,
                          struct answer *answer)
{
    (void)call;
    const struct page_output *page = &request->out.page;
    json_open(&answer->out, '{');
    json_key(&answer->out, "events");
    json_open(&answer->out, '[');
    for (size_t i = 0; i < page->count; i++)
        write_event(&answer->out, &page->outbox[i]);
    json_close(&answer->out, ']');
    json_close(&answer->out, '}');
}

static void read_ack(struct call *call, struct request *request)
{
    request->in.id = route_param(call);
}

static void write_ack(const struct call *call, const struct request *request,
                      struct answer *answer)
{
    (void)call;
    json_open(&answer->out, '{');
    json_key(&answer->out, "id");
    json_str(&answer->out, request->in.id);
    json_close(&answer->out, '}');
}

static const struct route routes[] = {
    {"POST", "/v1/outbox/claim", OP_OUTBOX_CLAIM, NULL, read_claim, write_claimed, 0},
    {"POST", "/v1/outbox/{id}/ack", OP_OUTBOX_ACK, NULL, read_ack, write_ack, 0},
};

const struct route_list outbox_routes = {routes, sizeof routes / sizeof *routes};
