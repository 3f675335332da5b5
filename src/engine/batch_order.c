/* engine/batch_order.c - the requests of a batch, one after the other.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * Requests that share a commit must leave what they would leave one by one, in the order in which
 * they came.  So each is applied on rows in memory that those before it have changed, and is
 * answered with what it has made itself.  Two things are out of order, where nobody can tell:
 *
 *   New jobs and instances are inserted ahead, many in one statement, but never across a request
 *   that could tell: a commit that starts others (keys, and the order of insertion), and for
 *   instances a deployment.  Nobody else knows their ids yet.
 *
 *   The row that a control is answered with is read at the end, or before the next request that
 *   changes it (workset_take(), take_row()).
 *
 * Claims, of tasks and of outbound events, come after all of this.  Their callers are concurrent
 * and have no order among the others, and one question serves many.
 */
#include "base/error.h"
#include "engine/workset.h"

static cairn_code apply_enqueue(struct batch *batch, struct request *request,
                                cairn_error *reterr)
{
    if (batch->are_jobs_ahead)
        return CAIRN_OK;
    batch->are_jobs_ahead = true;
    return batch_enqueue(batch, request, reterr);
}

/* Records of what failed at once are kept at the request's own turn. */
static cairn_code apply_start(struct batch *batch, struct request *request, cairn_error *reterr)
{
    cairn_code code = CAIRN_OK;
    if (!batch->are_starts_ahead)
        code = batch_start(batch, request, reterr);
    batch->are_starts_ahead = true;
    struct workset_instance *instance =
        code || request->code ? NULL : workset_find(batch, request->out.enqueued[0].id);
    return instance ? workset_write_parked(instance, reterr) : code;
}

static cairn_code apply_deploy(struct batch *batch, struct request *request,
                               cairn_error *reterr)
{
    batch->are_starts_ahead = false;
    return batch_deploy(batch, request, reterr);
}

static cairn_code apply_commit(struct batch *batch, struct request *request,
                               cairn_error *reterr)
{
    if (request_enqueues_children(request))
        batch->are_jobs_ahead = false;
    if (request_starts_children(request))
        batch->are_starts_ahead = false;
    return batch_commit_passage(batch, request, reterr);
}

static cairn_code apply_heartbeat(struct batch *batch, struct request *request,
                                  cairn_error *reterr)
{
    if (!is_step_id(request->in.heartbeat.task_id))
        return batch_heartbeat_job(batch, request, reterr);
    batch_heartbeat_step(batch, request);
    return CAIRN_OK;
}

static cairn_code apply_one(struct batch *batch, struct request *request, cairn_error *reterr)
{
    switch (request->op) {
    case OP_ENQUEUE:
        return apply_enqueue(batch, request, reterr);
    case OP_START:
        return apply_start(batch, request, reterr);
    case OP_DEPLOY:
        return apply_deploy(batch, request, reterr);
    case OP_REPORT:
        return batch_report(batch, request, reterr);
    case OP_COMMIT:
        return apply_commit(batch, request, reterr);
    case OP_HEARTBEAT:
        return apply_heartbeat(batch, request, reterr);
    case OP_SIGNAL:
        return batch_signal(batch, request, reterr);
    case OP_DECIDE:
        return batch_decide(batch, request, reterr);
    case OP_DLQ_REQUEUE:
        return batch_requeue(batch, request, reterr);
    case OP_OUTBOX_ACK:
        return batch_ack_outbox(batch, request, reterr);
    case OP_REGISTRY_PUT:
        return batch_put_registry(batch, request, reterr);
    default:
        if (request_is_job_control(request->op))
            return batch_control_job(batch, request, reterr);
        if (request_is_control(request->op))
            return batch_control_instance(batch, request, reterr);
        return CAIRN_OK; /* a claim: later */
    }
}

/* A report or commit that claims in the same call is refused as a whole, at its own turn. */
static cairn_code check_claim(struct batch *batch, struct request *request, cairn_error *reterr)
{
    bool is_part = request->op != OP_CLAIM && request_is_claiming(request);
    return is_part ? batch_check_runtime(batch, request, reterr) : CAIRN_OK;
}

cairn_code batch_apply_in_order(struct batch *batch, cairn_error *reterr)
{
    cairn_code code = CAIRN_OK;
    plans_trim(&batch->committer->plans);
    for_each_request (request, batch) {
        if (code || request->code || request->is_reported)
            continue;
        code = check_claim(batch, request, reterr);
        if (!code && !request->code)
            code = apply_one(batch, request, reterr);
    }
    if (!code)
        code = batch_write_jobs(batch, reterr);
    if (!code)
        code = batch_append_outbox(batch, reterr);
    if (!code && batch->log_count)
        code = batch->ops->append_logs(batch->tx, batch->logs, batch->log_count, reterr);
    return code;
}
