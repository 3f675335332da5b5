/* engine/batch_control.c - what people ask of instances: control, decisions, the DLQ.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "engine/held.h"
#include "engine/workset.h"

#include <stdio.h>
#include <string.h>

cairn_code batch_take_instance(struct batch *batch, struct request *request,
                               struct workset_instance **ret_instance)
{
    const char *id = request_instance_id(request);
    TRY(workset_take(batch, id, ret_instance));
    if (!*ret_instance)
        request->code =
            fail(&request->error, CAIRN_E_NOT_FOUND, "instance \"%.64s\" does not exist", id);
    return CAIRN_OK;
}

/* ---- control -------------------------------------------------------------------------------- */

/* The statuses that an instance may have after an earlier try that was committed after all. */
static const struct {
    enum instance_status done, or_done;
} controls[OP_COUNT] = {
    [OP_PAUSE] = {INSTANCE_PAUSED, INSTANCE_PAUSED},
    [OP_RESUME] = {INSTANCE_RUNNING, INSTANCE_WAITING_SIGNAL},
    [OP_RESTART] = {INSTANCE_NONE, INSTANCE_NONE}, /* has_begun_anew() */
    [OP_RETRY] = {INSTANCE_RUNNING, INSTANCE_WAITING_SIGNAL},
    [OP_CANCEL] = {INSTANCE_COMPENSATING, INSTANCE_CANCELLED},
    [OP_ABORT] = {INSTANCE_ABORTED, INSTANCE_ABORTED},
};

static cairn_code control(struct flow *flow, const struct request *request,
                          cairn_code *ret_verdict)
{
    const struct control_input *in = &request->in.control;
    const struct flow_who who = {
        .by = in->by, .reason = in->reason, .token = request->token_name};
    switch (request->op) {
    case OP_PAUSE:
        return flow_pause(flow, &who, ret_verdict);
    case OP_RESUME:
        return flow_resume(flow, &who, in->is_forced, ret_verdict);
    case OP_RESTART:
        return flow_restart(flow, &who, ret_verdict);
    case OP_RETRY:
        return flow_retry(flow, &who, ret_verdict);
    case OP_CANCEL:
        return flow_cancel(flow, &who, ret_verdict);
    default:
        return flow_abort(flow, &who, ret_verdict);
    }
}

static bool is_done_already(const struct request *request, enum instance_status status)
{
    return request->was_unsure &&
           (status == controls[request->op].done || status == controls[request->op].or_done);
}

/* A second restart would throw away what has run since the first, and a generation tells the two
 * apart: each of them raises it. */
static bool has_begun_anew(const struct request *request, const struct instance_row *row)
{
    bool raises = request->op == OP_RESTART || request->op == OP_RETRY;
    return request->was_unsure && raises && row->generation > request->in.control.generation;
}

/* An instance whose descendants are being purged stays ended. */
static cairn_code refuse_purged(struct batch *batch, struct request *request,
                                const struct workset_instance *instance)
{
    bool is_begun = false;
    if (!instance_is_final(instance->row.status))
        return CAIRN_OK;
    TRY(STORE(batch, is_purge_begun, instance->row.id, &is_begun));
    if (is_begun)
        request->code = fail(&request->error, CAIRN_E_WRONG_STATE,
                             "cannot %s instance \"%s\": it is being purged",
                             request_op_name(request->op), instance->row.id);
    return CAIRN_OK;
}

/* An instance that begins anew has other children: those of before are stopped first, if it was.  If others have locked some
 * of them, the request is tried again; and their own children are told before it is answered. */
static cairn_code part_with_children(struct batch *batch, struct request *request,
                                     struct workset_instance *instance)
{
    bool is_done = true, had_children = instance->row.child_count || instance->row.is_telling;
    TRY(batch_stop_children(batch, instance, &is_done));
    request->hold.is_again = !is_done;
    if (!is_done)
        request->code =
            fail(&request->error, CAIRN_E_BUSY,
                 "could not restart instance \"%s\": its children are being stopped",
                 instance->row.id);
    return is_done && had_children ? batch_hold_for(batch, request, instance->row.id)
                                   : CAIRN_OK;
}

/* Whether a run of the function is under way that another engine has leased out: that one learns of a stop by and by. */
static cairn_code note_foreign_run(struct batch *batch, struct request *request,
                                   struct workset_instance *instance)
{
    struct flow_step *runner = NULL;
    bool is_stop = request->op == OP_PAUSE || request->op == OP_CANCEL ||
                   request->op == OP_ABORT || request->op == OP_RESTART;
    if (!is_stop || !instance->row.is_function)
        return CAIRN_OK;
    TRY(workset_step(instance, 0, &runner));
    request->hold.is_foreign =
        runner && runner->row.token && runner->row.locked_until_us >= batch->tx->now_us &&
        !known_lease_is_ours(batch->engine, instance->row.id, runner->row.token);
    return CAIRN_OK;
}

cairn_code batch_restart(struct batch *batch, struct request *request,
                         struct workset_instance *instance, cairn_code *ret_verdict)
{
    const struct flow_who who = {.token = request->token_name};
    TRY(refuse_purged(batch, request, instance));
    if (!request->code)
        TRY(part_with_children(batch, request, instance));
    if (request->code)
        return CAIRN_OK;
    TRY(flow_restart(&instance->flow, &who, ret_verdict));
    if (!*ret_verdict)
        workset_revise(instance);
    return CAIRN_OK;
}

cairn_code batch_control_instance(struct batch *batch, struct request *request)
{
    cairn_code verdict = CAIRN_OK;
    struct workset_instance *instance;
    TRY(batch_take_instance(batch, request, &instance));
    if (instance && (request->op == OP_RESTART || request->op == OP_RETRY))
        TRY(refuse_purged(batch, request, instance));
    if (instance && request->op == OP_RESTART && !request->code)
        TRY(part_with_children(batch, request, instance));
    if (!instance || request->code)
        return CAIRN_OK;
    enum instance_status before = instance->row.status;
    TRY(note_foreign_run(batch, request, instance));
    if (!has_begun_anew(request, &instance->row)) {
        request->in.control.generation = instance->row.generation;
        TRY(control(&instance->flow, request, &verdict));
        if (!verdict)
            workset_revise(instance);
    }
    if (!verdict || is_done_already(request, before))
        instance->answer_to = request;
    else
        request->code =
            fail(&request->error, verdict, "cannot %s instance \"%s\": it is %s",
                 request_op_name(request->op), instance->row.id, instance_status_name(before));
    return CAIRN_OK;
}

/* ---- decisions ------------------------------------------------------------------------------ */

static cairn_code find_human(struct batch *batch, struct workset_instance *instance,
                             struct request *request, struct flow_step **ret_step)
{
    const struct decide_input *in = &request->in.decide;
    struct step_row row;
    *ret_step = NULL;
    TRY(workset_flush(instance));
    cairn_code code = STORE(batch, get_step, instance->row.id, in->step, &row);
    if (code == CAIRN_E_NOT_FOUND)
        return REFUSE(request, code, "instance \"%s\" has no step \"%.64s\"", instance->row.id,
                      in->step);
    return code ? code : workset_step(instance, row.seq, ret_step);
}

cairn_code batch_decide(struct batch *batch, struct request *request)
{
    const struct decide_input *in = &request->in.decide;
    struct workset_instance *instance;
    struct flow_step *step = NULL;
    cairn_code verdict = CAIRN_OK;
    TRY(batch_take_instance(batch, request, &instance));
    if (instance)
        TRY(find_human(batch, instance, request, &step));
    if (!step)
        return CAIRN_OK;
    const struct flow_who who = {
        .by = in->by, .reason = in->comment, .token = request->token_name};
    TRY(flow_decide(&instance->flow, step, in->is_confirmed, &who, &verdict));
    bool is_decided = step->row.status == (in->is_confirmed ? STEP_CONFIRMED : STEP_REJECTED);
    if (verdict && !(request->was_unsure && is_decided))
        return REFUSE(
            request, verdict,
            "cannot decide about step \"%.64s\": it is %s, not waiting for a decision",
            in->step, step_status_name(step->row.status));
    instance->answer_to = request;
    if (verdict)
        return CAIRN_OK; /* an earlier try, whose end was unknown, has written it */
    struct decision_row row = {.instance_id = instance->row.id,
                               .step_seq = step->row.seq,
                               .step_name = step->row.name,
                               .decided_by = in->by,
                               .decision = in->is_confirmed ? "confirmed" : "rejected",
                               .comment = in->comment,
                               .decided_at_us = batch->tx->now_us};
    return STORE(batch, insert_decision, &row);
}

/* ---- the DLQ -------------------------------------------------------------------------------- */

/* CAIRN_E_NOT_FOUND: there is none. */
static cairn_code get_record(struct batch *batch, struct request *request,
                             struct dlq_row *ret_record)
{
    int64_t number;
    if (!number_id_read(request->in.requeue.record, &number))
        return CAIRN_E_NOT_FOUND;
    TRY(STORE(batch, get_dlq, number, ret_record));
    snprintf(request->instance_id, sizeof request->instance_id, "%s", ret_record->instance_id);
    return CAIRN_OK;
}

cairn_code batch_find_record_instance(struct batch *batch, struct request *request)
{
    struct dlq_row record;
    cairn_code code = get_record(batch, request, &record);
    return code == CAIRN_E_NOT_FOUND ? CAIRN_OK : code;
}

static cairn_code find_record(struct batch *batch, struct request *request,
                              struct dlq_row *ret_record)
{
    const char *id = request->in.requeue.record;
    cairn_code code = get_record(batch, request, ret_record);
    if (code == CAIRN_E_NOT_FOUND)
        request->code = fail(&request->error, code, "DLQ record \"%.64s\" does not exist", id);
    else if (!code && !ret_record->is_open && !request->was_unsure)
        request->code = fail(&request->error, CAIRN_E_WRONG_STATE,
                             "cannot requeue DLQ record %s: it is closed", id);
    return code == CAIRN_E_NOT_FOUND ? CAIRN_OK : code;
}

/* Its instance was locked with all others that the batch names, unless this batch has made the
 * record. */
static cairn_code take_recorded(struct batch *batch, const char *id,
                                struct workset_instance **ret_instance)
{
    TRY(workset_load(batch, &id, 1));
    TRY(workset_take(batch, id, ret_instance));
    if (!*ret_instance)
        return fail(batch->error, CAIRN_E_INTERNAL, "a DLQ record without instance");
    if ((*ret_instance)->is_busy)
        return fail(batch->error, CAIRN_E_BUSY, "another transaction holds instance \"%s\"",
                    id);
    return CAIRN_OK;
}

cairn_code batch_requeue(struct batch *batch, struct request *request)
{
    struct dlq_row record = {0};
    struct workset_instance *instance;
    struct flow_step *step;
    cairn_code verdict = CAIRN_OK;
    TRY(find_record(batch, request, &record));
    if (request->code)
        return CAIRN_OK;
    bool was_locked = workset_find(batch, record.instance_id) != NULL;
    TRY(take_recorded(batch, record.instance_id, &instance));
    if (!was_locked)
        TRY(find_record(batch, request, &record));
    if (request->code)
        return CAIRN_OK;
    instance->answer_to = request;
    if (!record.is_open)
        return CAIRN_OK; /* an earlier try, whose end was unknown, has done it */
    TRY(workset_step(instance, record.step_seq, &step));
    if (!step)
        return fail(batch->error, CAIRN_E_INTERNAL, "a DLQ record without step");
    bool is_undo = strncmp(record.reason, "compensation", strlen("compensation")) == 0;
    const struct flow_who who = {.token = request->token_name};
    TRY(flow_requeue(&instance->flow, step, is_undo, request->in.requeue.input, &who,
                     &verdict));
    if (!verdict) {
        workset_revise(instance);
        return CAIRN_OK;
    }
    instance->answer_to = NULL;
    return REFUSE(request, verdict, "cannot requeue DLQ record %s: its instance is %s",
                  request->in.requeue.record, instance_status_name(instance->row.status));
}
