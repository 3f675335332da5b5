/* api/dlq.c - /v1/dlq: failed steps and compensations that a person must look at.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "api/api.h"

static void write_record(struct json_out *out, const cairn_dlq_record *record)
{
    json_open(out, '{');
    json_key(out, "id");
    json_str(out, record->id);
    json_key(out, "instance_id");
    json_str(out, record->instance_id);
    json_key(out, "workflow_id");
    json_str(out, record->workflow_id);
    json_key(out, "step_id");
    json_str(out, record->step_id);
    json_key(out, "step_name");
    json_str(out, record->step_name);
    json_key(out, "step_type");
    json_str(out, record->step_type);
    json_key(out, "input");
    json_raw(out, record->input);
    json_key(out, "error");
    json_str(out, record->error);
    json_key(out, "reason");
    json_str(out, record->reason);
    json_key(out, "is_open");
    json_bool(out, record->is_open);
    json_key(out, "created_at");
    json_time(out, record->created_at_us);
    json_close(out, '}');
}

static void read_list(struct call *call, struct request *request)
{
    request->in.page.cursor = target_param(&call->target, "cursor");
    target_limit(&call->target, request, &request->in.page.limit);
}

static void write_list(const struct call *call, const struct request *request,
                       struct answer *answer)
{
    (void)call;
    const struct page_output *page = &request->out.page;
    json_open(&answer->out, '{');
    json_key(&answer->out, "items");
    json_open(&answer->out, '[');
    for (size_t i = 0; i < page->count; i++)
        write_record(&answer->out, &page->dlq[i]);
    json_close(&answer->out, ']');
    write_next(&answer->out, page->next);
    json_close(&answer->out, '}');
}

static void read_one(struct call *call, struct request *request)
{
    request->in.id = route_param(call);
}

static void write_one(const struct call *call, const struct request *request,
                      struct answer *answer)
{
    (void)call;
    write_record(&answer->out, request->out.page.dlq);
}

static void read_requeue(struct call *call, struct request *request)
{
    request->in.requeue = (struct requeue_input){
        .record = route_param(call),
        .input = field_json(&call->body, "input"),
    };
}

static const struct route routes[] = {
    {"GET", "/v1/dlq", OP_DLQ_LIST, page_params, read_list, write_list, 0},
    {"GET", "/v1/dlq/{id}", OP_DLQ_GET, NULL, read_one, write_one, 0},
    {"POST", "/v1/dlq/{id}/requeue", OP_DLQ_REQUEUE, NULL, read_requeue, write_instance_now, 0},
};

const struct route_list dlq_routes = {routes, sizeof routes / sizeof *routes};
