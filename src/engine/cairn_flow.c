/* engine/cairn_flow.c - the calls of cairn.h about workflows and their instances.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "cairn.h"

#include "engine/calling.h"

#include <string.h>

/* ---- workflows ------------------------------------------------------------------------------
 */

cairn_code cairn_deploy(cairn_engine *engine, const char *file, const char *text,
                        int *ret_existing, cairn_error *reterr)
{
    SCOPED_REQUEST(request, OP_DEPLOY);
    request->in.deploy =
        (struct deploy_input){.file = file, .text = text, .len = text ? strlen(text) : 0};
    cairn_code code = run_request(engine, request, reterr);
    if (!code && ret_existing)
        *ret_existing = request->out.is_existing;
    return code;
}

cairn_code cairn_definition_get(cairn_engine *engine, const char *name, int32_t version,
                                cairn_definitions **ret_definitions, cairn_error *reterr)
{
    SCOPED_REQUEST(request, OP_DEFINITION_GET);
    request->in.definition = (struct definition_input){.name = name, .version = version};
    return run_for_handle(engine, &request, ret_definitions, reterr);
}

cairn_code cairn_definition_list(cairn_engine *engine, const char *cursor, uint32_t limit,
                                 cairn_definitions **ret_definitions, cairn_error *reterr)
{
    SCOPED_REQUEST(request, OP_DEFINITION_LIST);
    request->in.page = (struct page_input){.cursor = cursor, .limit = limit};
    return run_for_handle(engine, &request, ret_definitions, reterr);
}

size_t cairn_definitions_count(const cairn_definitions *definitions)
{
    return to_request(definitions)->out.definitions.count;
}

const cairn_definition *cairn_definitions_at(const cairn_definitions *definitions, size_t index)
{
    const struct definitions_output *out = &to_request(definitions)->out.definitions;
    return index < out->count ? &out->items[index] : NULL;
}

const char *cairn_definitions_next(const cairn_definitions *definitions)
{
    return to_request(definitions)->out.definitions.next;
}

void cairn_definitions_free(cairn_definitions *definitions)
{
    request_free((struct request *)definitions);
}

/* ---- instances ------------------------------------------------------------------------------
 */

cairn_code cairn_start(cairn_engine *engine, const cairn_start_options *options,
                       cairn_enqueued *ret_started, cairn_error *reterr)
{
    SCOPED_REQUEST(request, OP_START);
    request->in.start = (cairn_start_options)CAIRN_START_DEFAULTS;
    cairn_code code = options_take(OPTIONS_START, &request->in.start, options, reterr);
    if (!code)
        code = run_request(engine, request, reterr);
    if (!code && ret_started)
        *ret_started = request->out.enqueued[0];
    return code;
}

cairn_code cairn_instance_get(cairn_engine *engine, const char *id,
                              cairn_instances **ret_instances, cairn_error *reterr)
{
    SCOPED_REQUEST(request, OP_INSTANCE_GET);
    request->in.job.id = id;
    return run_for_handle(engine, &request, ret_instances, reterr);
}

cairn_code cairn_instance_list(cairn_engine *engine, const cairn_instance_filter *filter,
                               cairn_instances **ret_instances, cairn_error *reterr)
{
    SCOPED_REQUEST(request, OP_INSTANCE_LIST);
    request->in.instance_list = (cairn_instance_filter)CAIRN_INSTANCE_FILTER_DEFAULTS;
    cairn_code code =
        options_take(OPTIONS_INSTANCE_FILTER, &request->in.instance_list, filter, reterr);
    return code ? code : run_for_handle(engine, &request, ret_instances, reterr);
}

size_t cairn_instances_count(const cairn_instances *instances)
{
    return to_request(instances)->out.instances.count;
}

const cairn_instance *cairn_instances_at(const cairn_instances *instances, size_t index)
{
    const struct instances_output *out = &to_request(instances)->out.instances;
    return index < out->count ? &out->items[index] : NULL;
}

const char *cairn_instances_next(const cairn_instances *instances)
{
    return to_request(instances)->out.instances.next;
}

void cairn_instances_free(cairn_instances *instances)
{
    request_free((struct request *)instances);
}

cairn_code cairn_step_list(cairn_engine *engine, const char *instance_id, const char *cursor,
                           uint32_t limit, cairn_steps **ret_steps, cairn_error *reterr)
{
    SCOPED_REQUEST(request, OP_STEP_LIST);
    request->in.events =
        (struct events_input){.id = instance_id, .cursor = cursor, .limit = limit};
    return run_for_handle(engine, &request, ret_steps, reterr);
}

size_t cairn_steps_count(const cairn_steps *steps)
{
    return to_request(steps)->out.steps.count;
}

const cairn_step *cairn_steps_at(const cairn_steps *steps, size_t index)
{
    const struct steps_output *out = &to_request(steps)->out.steps;
    return index < out->count ? &out->items[index] : NULL;
}

const char *cairn_steps_next(const cairn_steps *steps)
{
    return to_request(steps)->out.steps.next;
}

void cairn_steps_free(cairn_steps *steps)
{
    request_free((struct request *)steps);
}

cairn_code cairn_instance_events(cairn_engine *engine, const char *id, const char *cursor,
                                 uint32_t limit, cairn_events **ret_events, cairn_error *reterr)
{
    SCOPED_REQUEST(request, OP_INSTANCE_EVENTS);
    request->in.events = (struct events_input){.id = id, .cursor = cursor, .limit = limit};
    return run_for_handle(engine, &request, ret_events, reterr);
}

/* ---- signals and control --------------------------------------------------------------------
 */

cairn_code cairn_signal(cairn_engine *engine, const cairn_signal_options *options,
                        cairn_signalled *ret_signalled, cairn_error *reterr)
{
    SCOPED_REQUEST(request, OP_SIGNAL);
    request->in.signal = (cairn_signal_options)CAIRN_SIGNAL_DEFAULTS;
    cairn_code code = options_take(OPTIONS_SIGNAL, &request->in.signal, options, reterr);
    if (!code)
        code = run_request(engine, request, reterr);
    if (!code && ret_signalled)
        *ret_signalled = request->out.signalled;
    return code;
}

static cairn_code control(cairn_engine *engine, enum request_op op,
                          const struct control_input *in, cairn_error *reterr)
{
    SCOPED_REQUEST(request, op);
    request->in.control = *in;
    return run_request(engine, request, reterr);
}

cairn_code cairn_pause(cairn_engine *engine, const char *id, cairn_error *reterr)
{
    return control(engine, OP_PAUSE, &(struct control_input){.id = id}, reterr);
}

cairn_code cairn_resume(cairn_engine *engine, const char *id, int is_forced,
                        cairn_error *reterr)
{
    const struct control_input in = {.id = id, .is_forced = is_forced != 0};
    return control(engine, OP_RESUME, &in, reterr);
}

cairn_code cairn_restart(cairn_engine *engine, const char *id, cairn_error *reterr)
{
    return control(engine, OP_RESTART, &(struct control_input){.id = id}, reterr);
}

cairn_code cairn_retry(cairn_engine *engine, const char *id, cairn_error *reterr)
{
    return control(engine, OP_RETRY, &(struct control_input){.id = id}, reterr);
}

cairn_code cairn_cancel(cairn_engine *engine, const char *id, const char *by,
                        const char *reason, cairn_error *reterr)
{
    const struct control_input in = {.id = id, .by = by, .reason = reason};
    return control(engine, OP_CANCEL, &in, reterr);
}

cairn_code cairn_abort(cairn_engine *engine, const char *id, const char *by, const char *reason,
                       cairn_error *reterr)
{
    const struct control_input in = {.id = id, .by = by, .reason = reason};
    return control(engine, OP_ABORT, &in, reterr);
}

/* ---- decisions and the DLQ ------------------------------------------------------------------
 */

cairn_code cairn_decide(cairn_engine *engine, const char *instance_id, const char *step,
                        int is_confirmed, const char *by, const char *comment,
                        cairn_error *reterr)
{
    SCOPED_REQUEST(request, OP_DECIDE);
    request->in.decide = (struct decide_input){.id = instance_id,
                                               .step = step,
                                               .by = by,
                                               .comment = comment,
                                               .is_confirmed = is_confirmed != 0};
    return run_request(engine, request, reterr);
}

cairn_code cairn_decision_list(cairn_engine *engine, const char *instance_id,
                               const char *cursor, uint32_t limit,
                               cairn_decisions **ret_decisions, cairn_error *reterr)
{
    SCOPED_REQUEST(request, OP_DECISION_LIST);
    request->in.events =
        (struct events_input){.id = instance_id, .cursor = cursor, .limit = limit};
    return run_for_handle(engine, &request, ret_decisions, reterr);
}

size_t cairn_decisions_count(const cairn_decisions *decisions)
{
    return to_request(decisions)->out.decisions.count;
}

const cairn_decision *cairn_decisions_at(const cairn_decisions *decisions, size_t index)
{
    const struct decisions_output *out = &to_request(decisions)->out.decisions;
    return index < out->count ? &out->items[index] : NULL;
}

const char *cairn_decisions_next(const cairn_decisions *decisions)
{
    return to_request(decisions)->out.decisions.next;
}

void cairn_decisions_free(cairn_decisions *decisions)
{
    request_free((struct request *)decisions);
}

cairn_code cairn_dlq_list(cairn_engine *engine, const char *cursor, uint32_t limit,
                          cairn_dlq **ret_dlq, cairn_error *reterr)
{
    SCOPED_REQUEST(request, OP_DLQ_LIST);
    request->in.page = (struct page_input){.cursor = cursor, .limit = limit};
    return run_for_handle(engine, &request, ret_dlq, reterr);
}

cairn_code cairn_dlq_get(cairn_engine *engine, const char *id, cairn_dlq **ret_dlq,
                         cairn_error *reterr)
{
    SCOPED_REQUEST(request, OP_DLQ_GET);
    request->in.job.id = id;
    return run_for_handle(engine, &request, ret_dlq, reterr);
}

size_t cairn_dlq_count(const cairn_dlq *dlq)
{
    return to_request(dlq)->out.dlq.count;
}

const cairn_dlq_record *cairn_dlq_at(const cairn_dlq *dlq, size_t index)
{
    const struct dlq_output *out = &to_request(dlq)->out.dlq;
    return index < out->count ? &out->items[index] : NULL;
}

const char *cairn_dlq_next(const cairn_dlq *dlq)
{
    return to_request(dlq)->out.dlq.next;
}

void cairn_dlq_free(cairn_dlq *dlq)
{
    request_free((struct request *)dlq);
}

cairn_code cairn_dlq_requeue(cairn_engine *engine, const char *id, const char *input,
                             cairn_error *reterr)
{
    SCOPED_REQUEST(request, OP_DLQ_REQUEUE);
    request->in.requeue = (struct requeue_input){.record = id, .input = input};
    return run_request(engine, request, reterr);
}

/* ---- outbox ---------------------------------------------------------------------------------
 */

cairn_code cairn_outbox_claim(cairn_engine *engine, const char *worker, uint32_t max,
                              uint32_t lease_ms, cairn_outbox **ret_outbox, cairn_error *reterr)
{
    SCOPED_REQUEST(request, OP_OUTBOX_CLAIM);
    request->in.outbox =
        (struct outbox_input){.worker = worker, .max = max, .lease_ms = lease_ms};
    return run_for_handle(engine, &request, ret_outbox, reterr);
}

cairn_code cairn_outbox_ack(cairn_engine *engine, const char *id, cairn_error *reterr)
{
    SCOPED_REQUEST(request, OP_OUTBOX_ACK);
    request->in.job.id = id;
    return run_request(engine, request, reterr);
}

size_t cairn_outbox_count(const cairn_outbox *outbox)
{
    return to_request(outbox)->out.outbox.count;
}

const cairn_outbox_event *cairn_outbox_at(const cairn_outbox *outbox, size_t index)
{
    const struct outbox_output *out = &to_request(outbox)->out.outbox;
    return index < out->count ? &out->items[index] : NULL;
}

void cairn_outbox_free(cairn_outbox *outbox)
{
    request_free((struct request *)outbox);
}
