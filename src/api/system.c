/* api/system.c - the health of the process, and its own description.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "api/api.h"
#include "base/error.h"

#include <string.h>

/* Without the engine it is ok; with its answer it is ready. */
void write_health(const struct request *request, struct answer *answer)
{
    json_open(&answer->out, '{');
    json_str(json_key(&answer->out, "status"), request->op == OP_COUNT ? "ok" : "ready");
    json_close(&answer->out, '}');
}

void read_clock(struct call *call, struct request *request)
{
    (void)call;
    request->in.clock.is_next_wanted = true;
}

/* A probe is asked every few seconds and wants to know about now. */
enum { READY_WAIT_MS = 1000 };

void read_ready(struct call *call, struct request *request)
{
    (void)call;
    request->probe_ms = READY_WAIT_MS;
}

/* From openapi.S, which scripts/gen_api.py makes. */
extern const char openapi_json[], openapi_json_end[];

void write_openapi(const struct request *request, struct answer *answer)
{
    (void)request;
    /* cppcheck-suppress comparePointers ; the two labels are of one piece of text */
    buf_add(&answer->buf, openapi_json, (size_t)(openapi_json_end - openapi_json));
}

/* The server has this route itself: a stream is no answer. */
void write_stream(const struct request *request, struct answer *answer)
{
    (void)request;
    cairn_error error;
    fail(&error, CAIRN_E_NOT_FOUND, "the stream is there only over HTTP");
    fail_hint(&error, CAIRN_E_NOT_FOUND, "follow GET /v1/events?cursor=");
    answer_error(answer, &error);
}

/* A dry run says what it has found; else the action has begun. */
void write_bulk(const struct request *request, struct answer *answer)
{
    const struct bulk_item *bulk = &request->out.bulk;
    struct json_out *out = &answer->out;
    if (!request->in.bulk.is_dry_run) {
        answer->status = 202;
        object_write(out, &bulk_object, bulk, WRITE_ANSWER);
        return;
    }
    json_open(out, '{');
    json_open(json_key(out, "matched"), '{');
    json_int(json_key(out, "n"), bulk->n);
    json_bool(json_key(out, "is_more"), bulk->is_more);
    json_close(out, '}');
    json_open(json_key(out, "sample"), '[');
    for (size_t i = 0; i < bulk->matched_count; i++)
        json_str(out, bulk->matched[i]);
    json_close(out, ']');
    json_close(out, '}');
}

void write_overview(const struct request *request, struct answer *answer)
{
    json_raw(&answer->out, request->out.overview);
}

/* {"counts": {STATUS: {"n", "is_more"}, ...}} */
void write_counts(const struct request *request, struct answer *answer)
{
    const struct page_output *page = &request->out.page;
    struct json_out *out = &answer->out;
    json_open(out, '{');
    json_open(json_key(out, "counts"), '{');
    for (size_t i = 0; i < page->count; i++) {
        json_open(json_key(out, page->counts[i].status), '{');
        json_int(json_key(out, "n"), page->counts[i].n);
        json_bool(json_key(out, "is_more"), page->counts[i].is_more);
        json_close(out, '}');
    }
    json_close(out, '}');
    json_close(out, '}');
}

void write_errors(const struct request *request, struct answer *answer)
{
    const struct page_output *page = &request->out.page;
    struct json_out *out = &answer->out;
    json_open(out, '{');
    list_write(out, "items", &error_group_object, page->errors, page->count, WRITE_ANSWER);
    json_int(json_key(out, "scanned"), page->n);
    json_bool(json_key(out, "is_more"), page->is_more);
    json_close(out, '}');
}
