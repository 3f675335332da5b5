/* api/jobs.c - /v1/jobs: record, look, cancel, delete, try again.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "api/api.h"
#include "base/error.h"

void read_job_spec(struct fields *fields, cairn_job_spec *ret_spec)
{
    static const cairn_job_spec defaults = CAIRN_JOB_DEFAULTS;
    *ret_spec = defaults;
    ret_spec->type = field_text(fields, "type", REQUIRED);
    ret_spec->payload = field_json(fields, "payload");
    ret_spec->key = field_text(fields, "key", OPTIONAL);
    ret_spec->priority =
        (int32_t)field_int(fields, "priority", 0, INT32_MAX, defaults.priority);
    ret_spec->run_at_us = field_time(fields, "run_at");
    ret_spec->max_attempts =
        (int32_t)field_int(fields, "max_attempts", 1, INT32_MAX, defaults.max_attempts);
}

static void read_many(struct call *call, struct request *request)
{
    struct fields one;
    struct field_items items =
        field_items(&call->body, "jobs", call->engine->options.max_batch, REQUIRED);
    cairn_job_spec *specs =
        arena_array(&request->arena, items.count + 1, sizeof(cairn_job_spec));
    if (!specs) {
        request->code = fail_memory(&request->error);
        return;
    }
    while (field_items_next(&call->body, &items, &one)) {
        read_job_spec(&one, &specs[items.index - 1]);
        fields_end(&one);
    }
    request->in.enqueue = (struct enqueue_input){specs, items.count};
}

static void read_enqueue(struct call *call, struct request *request)
{
    call->is_many = field_is_there(&call->body, "jobs");
    if (call->is_many) {
        read_many(call, request);
        return;
    }
    cairn_job_spec *spec = arena_zalloc(&request->arena, sizeof *spec);
    if (!spec) {
        request->code = fail_memory(&request->error);
        return;
    }
    read_job_spec(&call->body, spec);
    request->in.enqueue = (struct enqueue_input){spec, 1};
}

static void write_enqueued(const struct call *call, const struct request *request,
                           struct answer *answer)
{
    const cairn_enqueued *enqueued = request->out.enqueued;
    answer->status = 201;
    if (!call->is_many) {
        if (enqueued->existing)
            answer->status = 200;
        write_created(&answer->out, enqueued);
        return;
    }
    json_open(&answer->out, '{');
    json_key(&answer->out, "items");
    json_open(&answer->out, '[');
    for (size_t i = 0; i < request->in.enqueue.count; i++)
        write_created(&answer->out, &enqueued[i]);
    json_close(&answer->out, ']');
    json_close(&answer->out, '}');
}

static void read_id(struct call *call, struct request *request)
{
    request->in.id = route_param(call);
}

static void write_job(struct json_out *out, const cairn_job *job)
{
    json_open(out, '{');
    json_key(out, "id");
    json_str(out, job->id);
    json_key(out, "type");
    json_str(out, job->type);
    json_key(out, "payload");
    json_raw(out, job->payload);
    json_key(out, "status");
    json_str(out, job->status);
    json_key(out, "priority");
    json_int(out, job->priority);
    json_key(out, "run_at");
    json_time(out, job->run_at_us);
    json_key(out, "idempotency_key");
    json_str(out, job->idempotency_key);
    json_key(out, "attempt");
    json_int(out, job->attempt);
    json_key(out, "max_attempts");
    json_int(out, job->max_attempts);
    json_key(out, "leased_by");
    json_str(out, job->leased_by);
    json_key(out, "lease_until");
    json_time(out, job->lease_until_us);
    json_key(out, "last_error");
    json_str(out, job->last_error);
    json_key(out, "result");
    json_raw(out, job->result);
    json_key(out, "created_at");
    json_time(out, job->created_at_us);
    json_key(out, "updated_at");
    json_time(out, job->updated_at_us);
    json_key(out, "deleted_at");
    json_time(out, job->deleted_at_us);
    json_close(out, '}');
}

static void write_one(const struct call *call, const struct request *request,
                      struct answer *answer)
{
    (void)call;
    write_job(&answer->out, request->out.page.jobs);
}

static const char *const list_params[] = {"status", "type", "key", "limit", "cursor", NULL};

static void read_list(struct call *call, struct request *request)
{
    static const cairn_job_filter defaults = CAIRN_JOB_FILTER_DEFAULTS;
    cairn_job_filter *filter = &request->in.job_list;
    *filter = defaults;
    filter->status = target_param(&call->target, "status");
    filter->type = target_param(&call->target, "type");
    filter->key = target_param(&call->target, "key");
    filter->cursor = target_param(&call->target, "cursor");
    target_limit(&call->target, request, &filter->limit);
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
        write_job(&answer->out, &page->jobs[i]);
    json_close(&answer->out, ']');
    write_next(&answer->out, page->next);
    json_close(&answer->out, '}');
}

static const struct route routes[] = {
    {"POST", "/v1/jobs", OP_ENQUEUE, NULL, read_enqueue, write_enqueued, 0},
    {"GET", "/v1/jobs", OP_JOB_LIST, list_params, read_list, write_list, 0},
    {"GET", "/v1/jobs/{id}", OP_JOB_GET, NULL, read_id, write_one, 0},
    {"DELETE", "/v1/jobs/{id}", OP_JOB_DELETE, NULL, read_id, write_one, 0},
    {"GET", "/v1/jobs/{id}/events", OP_JOB_EVENTS, page_params, read_events, write_events, 0},
    {"POST", "/v1/jobs/{id}/cancel", OP_JOB_CANCEL, NULL, read_id, write_one, 0},
    {"POST", "/v1/jobs/{id}/retry", OP_JOB_RETRY, NULL, read_id, write_one, 0},
};

const struct route_list job_routes = {routes, sizeof routes / sizeof *routes};
