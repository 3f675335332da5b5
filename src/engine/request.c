/* engine/request.c - one call, from the caller to the engine and back.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "engine/request.h"

#include "base/mem.h"

static const char *const op_names[OP_COUNT] = {
    [OP_ENQUEUE] = "enqueue",
    [OP_CLAIM] = "claim",
    [OP_REPORT] = "report",
    [OP_HEARTBEAT] = "heartbeat",
    [OP_JOB_CANCEL] = "cancel",
    [OP_JOB_DELETE] = "delete",
    [OP_JOB_RETRY] = "retry",
    [OP_REGISTRY_PUT] = "registry put",
    [OP_CLOCK_ADVANCE] = "clock advance",
    [OP_JOB_GET] = "get",
    [OP_JOB_LIST] = "list",
    [OP_JOB_EVENTS] = "events",
    [OP_REGISTRY_LIST] = "registry list",
    [OP_CLOCK_NOW] = "clock",
    [OP_STATS] = "stats",
    [OP_DOCTOR] = "doctor",
};

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
    arena_done(&request->arena);
    mem_free(request);
}

void request_freep(struct request **request)
{
    request_free(*request);
}

const char *request_op_name(enum request_op op)
{
    return op_names[op];
}

bool request_is_read(enum request_op op)
{
    return op >= OP_FIRST_READ;
}
