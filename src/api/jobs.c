/* api/jobs.c - POST /v1/jobs: one job, or many with the field `jobs`.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * By hand, because the body and the answer are one object or a list.
 */
#include "api/api.h"
#include "base/error.h"

void read_enqueue(struct call *call, struct request *request)
{
    struct enqueue_input *in = &request->in.enqueue;
    call->is_many = field_is_there(&call->body, "jobs");
    if (call->is_many) {
        fields_read(&call->body, &job_specs_object, in);
        return;
    }
    in->specs = arena_zalloc(&request->arena, sizeof *in->specs);
    in->count = 1;
    if (in->specs)
        fields_read(&call->body, &job_spec_object, in->specs);
    else
        request->code = fail_memory(&request->error);
}

void write_enqueued(const struct request *request, struct answer *answer)
{
    const struct call *call = request->arg;
    const cairn_enqueued *enqueued = request->out.enqueued;
    answer->status = call->is_many || !enqueued->existing ? 201 : 200;
    if (!call->is_many) {
        object_write(&answer->out, &enqueued_object, enqueued, WRITE_ANSWER);
        return;
    }
    json_open(&answer->out, '{');
    list_write(&answer->out, "items", &enqueued_object, enqueued, request->in.enqueue.count,
               WRITE_ANSWER);
    json_close(&answer->out, '}');
}
