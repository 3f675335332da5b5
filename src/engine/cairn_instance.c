/* engine/cairn_instance.c - the calls of cairn.h about instances, the DLQ and the outbox.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "cairn.h"

#include "engine/calling.h"

cairn_code cairn_instance_start(cairn_engine *engine, const cairn_start_options *options,
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

cairn_code cairn_instance_get(cairn_engine *engine, const char *id, cairn_page **ret_instances,
                              cairn_error *reterr)
{
    return run_get(engine, OP_INSTANCE_GET, id, PAGE_INSTANCE, ret_instances, reterr);
}

cairn_code cairn_instance_wait(cairn_engine *engine, const char *id, int64_t timeout_ms,
                               cairn_page **ret_instances, cairn_error *reterr)
{
    return run_wait(engine, OP_INSTANCE_GET, id, timeout_ms, PAGE_INSTANCE, ret_instances,
                    reterr);
}

cairn_code cairn_instance_list(cairn_engine *engine, const cairn_instance_filter *filter,
                               cairn_page **ret_instances, cairn_error *reterr)
{
    SCOPED_REQUEST(request, OP_INSTANCE_LIST);
    request->in.instance_list = (cairn_instance_filter)CAIRN_INSTANCE_FILTER_DEFAULTS;
    cairn_code code =
        options_take(OPTIONS_INSTANCE_FILTER, &request->in.instance_list, filter, reterr);
    return code ? code : run_for_page(engine, &request, PAGE_INSTANCE, ret_instances, reterr);
}

cairn_code cairn_instance_steps(cairn_engine *engine, const char *id, const char *cursor,
                                uint32_t limit, cairn_page **ret_steps, cairn_error *reterr)
{
    return run_list_of(engine, OP_STEP_LIST, id, cursor, limit, PAGE_STEP, ret_steps, reterr);
}

cairn_code cairn_instance_events(cairn_engine *engine, const char *id, const char *cursor,
                                 uint32_t limit, cairn_page **ret_events, cairn_error *reterr)
{
    return run_list_of(engine, OP_INSTANCE_EVENTS, id, cursor, limit, PAGE_EVENT, ret_events,
                       reterr);
}

cairn_code cairn_instance_logs(cairn_engine *engine, const char *id, const char *cursor,
                               uint32_t limit, cairn_page **ret_logs, cairn_error *reterr)
{
    return run_list_of(engine, OP_LOG_LIST, id, cursor, limit, PAGE_LOG, ret_logs, reterr);
}

cairn_code cairn_instance_decisions(cairn_engine *engine, const char *id, const char *cursor,
                                    uint32_t limit, cairn_page **ret_decisions,
                                    cairn_error *reterr)
{
    return run_list_of(engine, OP_DECISION_LIST, id, cursor, limit, PAGE_DECISION,
                       ret_decisions, reterr);
}

/* ---- signals and control --------------------------------------------------------------------
 */

cairn_code cairn_instance_signal(cairn_engine *engine, const cairn_signal_options *options,
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

cairn_code cairn_instance_pause(cairn_engine *engine, const char *id, cairn_error *reterr)
{
    return control(engine, OP_PAUSE, &(struct control_input){.id = id}, reterr);
}

cairn_code cairn_instance_resume(cairn_engine *engine, const char *id, bool is_forced,
                                 cairn_error *reterr)
{
    const struct control_input in = {.id = id, .is_forced = is_forced};
    return control(engine, OP_RESUME, &in, reterr);
}

cairn_code cairn_instance_restart(cairn_engine *engine, const char *id, cairn_error *reterr)
{
    return control(engine, OP_RESTART, &(struct control_input){.id = id}, reterr);
}

cairn_code cairn_instance_retry(cairn_engine *engine, const char *id, cairn_error *reterr)
{
    return control(engine, OP_RETRY, &(struct control_input){.id = id}, reterr);
}

cairn_code cairn_instance_cancel(cairn_engine *engine, const char *id, const char *by,
                                 const char *reason, cairn_error *reterr)
{
    const struct control_input in = {.id = id, .by = by, .reason = reason};
    return control(engine, OP_CANCEL, &in, reterr);
}

cairn_code cairn_instance_abort(cairn_engine *engine, const char *id, const char *by,
                                const char *reason, cairn_error *reterr)
{
    const struct control_input in = {.id = id, .by = by, .reason = reason};
    return control(engine, OP_ABORT, &in, reterr);
}

cairn_code cairn_instance_decide(cairn_engine *engine, const char *id, const char *step,
                                 bool is_confirmed, const char *by, const char *comment,
                                 cairn_error *reterr)
{
    SCOPED_REQUEST(request, OP_DECIDE);
    request->in.decide = (struct decide_input){
        .id = id, .step = step, .by = by, .comment = comment, .is_confirmed = is_confirmed};
    return run_request(engine, request, reterr);
}

/* ---- the DLQ and the outbox -----------------------------------------------------------------
 */

cairn_code cairn_dlq_list(cairn_engine *engine, const char *cursor, uint32_t limit,
                          cairn_page **ret_records, cairn_error *reterr)
{
    return run_list(engine, OP_DLQ_LIST, cursor, limit, PAGE_DLQ_RECORD, ret_records, reterr);
}

cairn_code cairn_dlq_get(cairn_engine *engine, const char *id, cairn_page **ret_records,
                         cairn_error *reterr)
{
    return run_get(engine, OP_DLQ_GET, id, PAGE_DLQ_RECORD, ret_records, reterr);
}

cairn_code cairn_dlq_requeue(cairn_engine *engine, const char *id, const char *input,
                             cairn_error *reterr)
{
    SCOPED_REQUEST(request, OP_DLQ_REQUEUE);
    request->in.requeue = (struct requeue_input){.record = id, .input = input};
    return run_request(engine, request, reterr);
}

cairn_code cairn_outbox_claim(cairn_engine *engine, const char *worker, uint32_t max,
                              uint32_t lease_ms, cairn_page **ret_events, cairn_error *reterr)
{
    SCOPED_REQUEST(request, OP_OUTBOX_CLAIM);
    request->in.outbox =
        (struct outbox_input){.worker = worker, .max = max, .lease_ms = lease_ms};
    return run_for_page(engine, &request, PAGE_OUTBOX_EVENT, ret_events, reterr);
}

cairn_code cairn_outbox_ack(cairn_engine *engine, const char *id, cairn_error *reterr)
{
    return run_id(engine, OP_OUTBOX_ACK, id, reterr);
}
