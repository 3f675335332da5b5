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
    TRY(options_take(OPTIONS_START, &request->in.start, options, reterr));
    TRY(run_request(engine, request, reterr));
    if (ret_started)
        *ret_started = request->out.enqueued[0];
    return CAIRN_OK;
}

CALL_TO_GET(cairn_instance_get, OP_INSTANCE_GET, PAGE_INSTANCE)
CALL_TO_GET(cairn_instance_why, OP_INSTANCE_WHY, PAGE_WHY)

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
    TRY(options_take(OPTIONS_INSTANCE_FILTER, &request->in.instance_list.filter, filter,
                     reterr));
    return run_for_page(engine, &request, PAGE_INSTANCE, ret_instances, reterr);
}

CALL_TO_LIST_OF(cairn_instance_steps, OP_STEP_LIST, PAGE_STEP)
CALL_TO_LIST_OF(cairn_instance_events, OP_INSTANCE_EVENTS, PAGE_EVENT)
CALL_TO_LIST_OF(cairn_instance_logs, OP_LOG_LIST, PAGE_LOG)
CALL_TO_LIST_OF(cairn_instance_decisions, OP_DECISION_LIST, PAGE_DECISION)

/* ---- signals and control ------------------------------------------------------------------- */

cairn_code cairn_instance_signal(cairn_engine *engine, const cairn_signal_options *options,
                                 cairn_signalled *ret_signalled, cairn_error *reterr)
{
    SCOPED_REQUEST(request, OP_SIGNAL);
    TRY(options_take(OPTIONS_SIGNAL, &request->in.signal, options, reterr));
    TRY(run_request(engine, request, reterr));
    if (ret_signalled)
        *ret_signalled = request->out.signalled;
    return CAIRN_OK;
}

static cairn_code control(cairn_engine *engine, enum request_op op,
                          const struct control_input *in, cairn_error *reterr)
{
    SCOPED_REQUEST(request, op);
    request->in.control = *in;
    return run_request(engine, request, reterr);
}

CALL_BY_ID(cairn_instance_pause, OP_PAUSE)

cairn_code cairn_instance_resume(cairn_engine *engine, const char *id, bool is_forced,
                                 cairn_error *reterr)
{
    const struct control_input in = {.id = id, .is_forced = is_forced};
    return control(engine, OP_RESUME, &in, reterr);
}

CALL_BY_ID(cairn_instance_restart, OP_RESTART)
CALL_BY_ID(cairn_instance_retry, OP_RETRY)

cairn_code cairn_instance_rerun(cairn_engine *engine, const char *id, const char *from,
                                const char *input, cairn_enqueued *ret_started,
                                cairn_error *reterr)
{
    SCOPED_REQUEST(request, OP_RERUN);
    request->in.rerun = (struct rerun_input){.id = id, .from = from, .input = input};
    TRY(run_request(engine, request, reterr));
    if (ret_started)
        *ret_started = request->out.enqueued[0];
    return CAIRN_OK;
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

/* ---- the DLQ and the outbox ---------------------------------------------------------------- */

CALL_TO_LIST(cairn_dlq_list, OP_DLQ_LIST, PAGE_DLQ_RECORD)
CALL_TO_GET(cairn_dlq_get, OP_DLQ_GET, PAGE_DLQ_RECORD)

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

CALL_BY_ID(cairn_outbox_ack, OP_OUTBOX_ACK)
