/* engine/batch_control.c - what people ask of instances: control, decisions, the DLQ.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "base/error.h"
#include "engine/workset.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

cairn_code no_such_instance(struct request *request, const char *id)
{
    return request->code = fail(&request->error, CAIRN_E_NOT_FOUND,
                                "instance \"%.64s\" does not exist", id);
}

/* ---- control -------------------------------------------------------------------------------- */

bool request_is_control(enum request_op op)
{
    return op >= OP_PAUSE && op <= OP_ABORT;
}

cairn_code batch_show_instance(struct batch *batch, struct request *request,
                               cairn_error *reterr)
{
    struct arena *arena = batch->tx->arena;
    batch->tx->arena = &request->arena;
    cairn_code code = flow_read_run(batch->engine, batch->tx, request);
    batch->tx->arena = arena;
    if (code && reterr)
        *reterr = request->error;
    return code;
}

static cairn_code control(struct flow *flow, const struct request *request,
                          cairn_code *ret_verdict, cairn_error *reterr)
{
    const struct control_input *in = &request->in.control;
    switch (request->op) {
    case OP_PAUSE:
        return flow_pause(flow, ret_verdict, reterr);
    case OP_RESUME:
        return flow_resume(flow, in->is_forced, ret_verdict, reterr);
    case OP_RESTART:
        return flow_restart(flow, ret_verdict, reterr);
    case OP_RETRY:
        return flow_retry(flow, ret_verdict, reterr);
    case OP_CANCEL:
        return flow_cancel(flow, in->by, in->reason, ret_verdict, reterr);
    default:
        return flow_abort(flow, in->by, in->reason, ret_verdict, reterr);
    }
}

/* An earlier try may have been committed after all. */
static bool is_as_asked(enum request_op op, enum instance_status status)
{
    switch (op) {
    case OP_PAUSE:
        return status == INSTANCE_PAUSED;
    case OP_RESUME:
    case OP_RETRY:
        return status == INSTANCE_RUNNING || status == INSTANCE_WAITING_SIGNAL;
    case OP_CANCEL:
        return status == INSTANCE_COMPENSATING || status == INSTANCE_CANCELLED;
    case OP_ABORT:
        return status == INSTANCE_ABORTED;
    default:
        return false;
    }
}

/* A second restart would throw away what has run since the first, and a generation tells the two
 * apart: each of them raises it. */
static bool has_begun_anew(const struct request *request, const struct instance_row *row)
{
    bool raises = request->op == OP_RESTART || request->op == OP_RETRY;
    return request->was_unsure && raises && row->generation > request->in.control.generation;
}

/* What a control asks an instance to become. */
static const char *asked_status(enum request_op op)
{
    switch (op) {
    case OP_PAUSE:
        return instance_status_name(INSTANCE_PAUSED);
    case OP_CANCEL:
        return instance_status_name(INSTANCE_CANCELLED);
    case OP_ABORT:
        return instance_status_name(INSTANCE_ABORTED);
    default:
        return instance_status_name(INSTANCE_RUNNING);
    }
}

cairn_code batch_control_instance(struct batch *batch, struct request *request,
                                  cairn_error *reterr)
{
    cairn_code verdict = CAIRN_OK;
    struct workset_instance *instance;
    cairn_code code = workset_take(batch, request->in.control.id, &instance, reterr);
    if (code)
        return code;
    if (!instance) {
        no_such_instance(request, request->in.control.id);
        return CAIRN_OK;
    }
    if (has_begun_anew(request, &instance->row)) {
        workset_answer_later(instance, request);
        return CAIRN_OK;
    }
    request->in.control.generation = instance->row.generation;
    enum instance_status before = instance->row.status;
    code = control(&instance->flow, request, &verdict, reterr);
    if (code)
        return code;
    if (!verdict)
        workset_revise(instance);
    if (verdict && !(request->was_unsure && is_as_asked(request->op, before))) {
        request->code =
            fail(&request->error, verdict, "cannot %s instance \"%s\": %s cannot become %s",
                 request_op_name(request->op), instance->row.id, instance_status_name(before),
                 asked_status(request->op));
        return CAIRN_OK;
    }
    workset_answer_later(instance, request);
    return CAIRN_OK;
}

/* ---- decisions and the DLQ ------------------------------------------------------------------- */

static cairn_code find_human(struct batch *batch, struct workset_instance *instance,
                             struct request *request, struct flow_step **ret_step,
                             cairn_error *reterr)
{
    const struct decide_input *in = &request->in.decide;
    struct step_row row;
    *ret_step = NULL;
    cairn_code code = workset_flush(instance, reterr);
    if (!code)
        code = batch->ops->get_step(batch->tx, instance->row.id, in->step, &row, reterr);
    if (code == CAIRN_E_NOT_FOUND) {
        request->code = fail(&request->error, code, "instance \"%s\" has no step \"%.64s\"",
                             instance->row.id, in->step);
        return CAIRN_OK;
    }
    return code ? code : workset_step(instance, row.seq, ret_step, reterr);
}

cairn_code batch_decide(struct batch *batch, struct request *request, cairn_error *reterr)
{
    const struct decide_input *in = &request->in.decide;
    struct workset_instance *instance;
    struct flow_step *step;
    cairn_code verdict = CAIRN_OK;
    cairn_code code = workset_take(batch, in->id, &instance, reterr);
    if (code)
        return code;
    if (!instance) {
        no_such_instance(request, in->id);
        return CAIRN_OK;
    }
    code = find_human(batch, instance, request, &step, reterr);
    if (code || !step)
        return code;
    code = flow_decide(&instance->flow, step, in->is_confirmed, in->by, in->comment, &verdict,
                       reterr);
    if (code)
        return code;
    bool is_decided = step->row.status == (in->is_confirmed ? STEP_CONFIRMED : STEP_REJECTED);
    if (verdict && request->was_unsure && is_decided) {
        workset_answer_later(instance, request);
        return CAIRN_OK;
    }
    if (verdict) {
        request->code = fail(&request->error, verdict,
                             "cannot decide about step \"%.64s\": it is %s, nobody is asked",
                             in->step, step_status_name(step->row.status));
        return CAIRN_OK;
    }
    struct decision_row row = {.instance_id = instance->row.id,
                               .step_seq = step->row.seq,
                               .step_name = step->row.name,
                               .decided_by = in->by,
                               .decision = in->is_confirmed ? "confirmed" : "rejected",
                               .comment = in->comment,
                               .decided_at_us = batch->tx->now_us};
    workset_answer_later(instance, request);
    return batch->ops->insert_decision(batch->tx, &row, reterr);
}

/* CAIRN_E_NOT_FOUND: there is none. */
static cairn_code get_record(struct batch *batch, const struct request *request,
                             struct dlq_row *ret_record, cairn_error *reterr)
{
    const char *id = request->in.requeue.record;
    size_t digits = strspn(id, "0123456789");
    bool is_number = digits > 0 && digits <= 18 && !id[digits];
    return is_number ? batch->ops->get_dlq(batch->tx, strtoll(id, NULL, 10), ret_record, reterr)
                     : CAIRN_E_NOT_FOUND;
}

static void note_instance(struct request *request, const struct dlq_row *record)
{
    snprintf(request->instance_id, sizeof request->instance_id, "%s", record->instance_id);
}

cairn_code batch_find_record_instance(struct batch *batch, struct request *request,
                                      cairn_error *reterr)
{
    struct dlq_row record;
    cairn_code code = get_record(batch, request, &record, reterr);
    if (!code)
        note_instance(request, &record);
    return code == CAIRN_E_NOT_FOUND ? CAIRN_OK : code;
}

static cairn_code find_record(struct batch *batch, struct request *request,
                              struct dlq_row *ret_record, cairn_error *reterr)
{
    const char *id = request->in.requeue.record;
    cairn_code code = get_record(batch, request, ret_record, reterr);
    if (code == CAIRN_E_NOT_FOUND)
        request->code = fail(&request->error, code, "DLQ record \"%.64s\" does not exist", id);
    else if (!code && !ret_record->is_open && !request->was_unsure)
        request->code = fail(&request->error, CAIRN_E_WRONG_STATE,
                             "cannot requeue DLQ record %s: it is closed", id);
    return code == CAIRN_E_NOT_FOUND ? CAIRN_OK : code;
}

/* Its instance was locked with all others that the batch names, unless this batch has made the
 * record. */
static cairn_code take_instance(struct batch *batch, const char *id,
                                struct workset_instance **ret_instance, cairn_error *reterr)
{
    cairn_code code = workset_load(batch, &id, 1, reterr);
    if (!code)
        code = workset_take(batch, id, ret_instance, reterr);
    if (code)
        return code;
    if (!*ret_instance)
        return fail(reterr, CAIRN_E_INTERNAL, "a DLQ record without instance");
    if ((*ret_instance)->is_busy)
        return fail(reterr, CAIRN_E_BUSY, "somebody else holds instance \"%s\"", id);
    return CAIRN_OK;
}

cairn_code batch_requeue(struct batch *batch, struct request *request, cairn_error *reterr)
{
    struct dlq_row record;
    struct workset_instance *instance;
    struct flow_step *step;
    cairn_code verdict = CAIRN_OK;
    cairn_code code = find_record(batch, request, &record, reterr);
    if (code || request->code)
        return code;
    note_instance(request, &record);
    bool was_locked = workset_find(batch, record.instance_id) != NULL;
    code = take_instance(batch, record.instance_id, &instance, reterr);
    if (!code && !was_locked)
        code = find_record(batch, request, &record, reterr);
    if (code || request->code)
        return code;
    if (!record.is_open) { /* an earlier try, whose end was unsure, has done it */
        workset_answer_later(instance, request);
        return CAIRN_OK;
    }
    code = workset_step(instance, record.step_seq, &step, reterr);
    if (code || !step)
        return code ? code : fail(reterr, CAIRN_E_INTERNAL, "a DLQ record without step");
    bool is_undo = strncmp(record.reason, "compensation", strlen("compensation")) == 0;
    code = flow_requeue(&instance->flow, step, is_undo, request->in.requeue.input, &verdict,
                        reterr);
    if (code)
        return code;
    if (verdict) {
        request->code =
            fail(&request->error, verdict, "cannot requeue DLQ record %s: its instance is %s",
                 request->in.requeue.record, instance_status_name(instance->row.status));
        return CAIRN_OK;
    }
    workset_revise(instance);
    workset_answer_later(instance, request);
    return CAIRN_OK;
}
