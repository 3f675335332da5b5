/* engine/request.c - one call, from the caller to the engine and back.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "engine/request.h"

#include "base/mem.h"
#include "engine/memories.h"

struct request *request_new(enum request_op op)
{
    struct request *request = mem_zalloc(sizeof *request);
    if (request)
        request->op = op;
    return request;
}

void request_free(struct request *request)
{
    if (!request)
        return;
    memories_release(request);
    arena_done(&request->arena);
    mem_free(request);
}

void request_freep(struct request **request)
{
    request_free(*request);
}

const char *request_instance_id(const struct request *request)
{
    if (request->op == OP_SIGNAL)
        return request->in.signal.instance_id;
    return request->op == OP_DLQ_REQUEUE ? request->instance_id : request->in.id;
}
