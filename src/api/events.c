/* api/events.c - what happened: to one job or instance, and to all of them.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "api/api.h"
#include "base/error.h"

#include <inttypes.h>
#include <stdio.h>

void read_events(struct call *call, struct request *request)
{
    struct page_input *in = &request->in.page;
    in->id = route_param(call); /* NULL: of everybody */
    in->cursor = target_param(&call->target, "cursor");
    target_limit(&call->target, request, &in->limit);
}

/* Ids are strings here, since not every reader has 64-bit integers. */
static void write_fields(struct json_out *out, const cairn_event *event)
{
    char id[24];
    snprintf(id, sizeof id, "%" PRId64, event->id);
    json_key(out, "id");
    json_str(out, id);
    json_key(out, "type");
    json_str(out, event->type);
    json_key(out, "step");
    json_str(out, event->step);
    json_key(out, "at");
    json_time(out, event->at_us);
    json_key(out, "data");
    json_raw(out, event->data);
}

void write_events(const struct call *call, const struct request *request, struct answer *answer)
{
    (void)call;
    const struct page_output *page = &request->out.page;
    json_open(&answer->out, '{');
    json_key(&answer->out, "items");
    json_open(&answer->out, '[');
    for (size_t i = 0; i < page->count; i++) {
        json_open(&answer->out, '{');
        write_fields(&answer->out, &page->events[i]);
        json_close(&answer->out, '}');
    }
    json_close(&answer->out, ']');
    write_next(&answer->out, page->next);
    json_close(&answer->out, '}');
}

/* ---- of everybody ---------------------------------------------------------------------------
 */

/* `next` is never null: whoever follows asks again from there. */
static void write_all(const struct call *call, const struct request *request,
                      struct answer *answer)
{
    (void)call;
    const struct page_output *page = &request->out.page;
    json_open(&answer->out, '{');
    json_key(&answer->out, "items");
    json_open(&answer->out, '[');
    for (size_t i = 0; i < page->count; i++) {
        json_open(&answer->out, '{');
        json_key(&answer->out, "subject");
        json_str(&answer->out, page->stream[i].subject);
        write_fields(&answer->out, &page->stream[i].event);
        json_close(&answer->out, '}');
    }
    json_close(&answer->out, ']');
    write_next(&answer->out, page->next);
    json_close(&answer->out, '}');
}

/* The server has this route itself: a stream is no answer. */
static const char *const stream_params[] = {"cursor", NULL};

static void write_stream(const struct call *call, const struct request *request,
                         struct answer *answer)
{
    (void)call, (void)request;
    cairn_error error;
    fail(&error, CAIRN_E_NOT_FOUND, "the stream is there only over HTTP");
    fail_hint(&error, CAIRN_E_NOT_FOUND, "follow GET /v1/events?cursor=");
    answer_error(answer, &error);
}

static const struct route routes[] = {
    {"GET", "/v1/stream", OP_COUNT, stream_params, NULL, write_stream, 0},
    {"GET", "/v1/events", OP_ALL_EVENTS, page_params, read_events, write_all, 0},
};

const struct route_list event_routes = {routes, sizeof routes / sizeof *routes};
