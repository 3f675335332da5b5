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
    [OP_DEPLOY] = "deploy",
    [OP_START] = "start",
    [OP_SIGNAL] = "signal",
    [OP_PAUSE] = "pause",
    [OP_RESUME] = "resume",
    [OP_RESTART] = "restart",
    [OP_RETRY] = "retry",
    [OP_CANCEL] = "cancel",
    [OP_ABORT] = "abort",
    [OP_OUTBOX_CLAIM] = "outbox claim",
    [OP_OUTBOX_ACK] = "outbox ack",
    [OP_DECIDE] = "decide",
    [OP_DLQ_REQUEUE] = "requeue",
    [OP_DLQ_LIST] = "dlq list",
    [OP_DLQ_GET] = "dlq show",
    [OP_JOB_GET] = "get",
    [OP_JOB_LIST] = "list",
    [OP_JOB_EVENTS] = "events",
    [OP_REGISTRY_LIST] = "registry list",
    [OP_CLOCK_NOW] = "clock",
    [OP_STATS] = "stats",
    [OP_DOCTOR] = "doctor",
    [OP_DEFINITION_GET] = "definition get",
    [OP_DEFINITION_LIST] = "definition list",
    [OP_INSTANCE_GET] = "instance get",
    [OP_INSTANCE_LIST] = "instance list",
    [OP_STEP_LIST] = "step list",
    [OP_INSTANCE_EVENTS] = "instance events",
    [OP_ALL_EVENTS] = "all events",
    [OP_COMMIT] = "commit",
    [OP_LOG_LIST] = "log list",
    [OP_DECISION_LIST] = "decision list",
    [OP_TASK_CONTEXT] = "task context",
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
