/* engine/flow_batch_signal.c - signals to instances.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "base/error.h"
#include "engine/flow_batch.h"

#include <string.h>

static cairn_code insert_signal(struct batch *batch, struct world_instance *instance,
                                struct request *request, enum insert_result *ret_result,
                                cairn_error *reterr)
{
    const cairn_signal_options *in = &request->in.signal;
    struct flow_facts facts = NO_FACTS;
    if (!in->id && !request->signal_id[0])
        id_make(&batch->committer->rng, batch->tx->now_us, request->signal_id);
    struct signal_row row = {.instance_id = instance->row.id,
                             .id = in->id ? in->id : request->signal_id,
                             .event = in->event,
                             .payload = in->payload ? in->payload : "null",
                             .received_at_us = batch->tx->now_us,
                             .taken_by = -1};
    cairn_code code = batch->ops->insert_signal(batch->tx, &row, ret_result, reterr);
    if (code || *ret_result != INSERT_DONE)
        return code;
    facts.event = in->event;
    facts.signal_id = row.id;
    return world_source.note(&instance->flow, "signal_received", NULL, &facts, reterr);
}

/* The instance has ended, but the id of a signal may be known from before.  Whether it is, the
 * insert says; if it was not, the row must not stay: the transaction fails, and since each request
 * is then tried alone, only this one does. */
static cairn_code signal_too_late(struct batch *batch, struct world_instance *instance,
                                  struct request *request, cairn_error *reterr)
{
    enum insert_result result = INSERT_DONE;
    bool may_be_known = request->in.signal.id || request->was_unsure;
    if (may_be_known) {
        cairn_code code = insert_signal(batch, instance, request, &result, reterr);
        if (code)
            return code;
    }
    if (result != INSERT_DONE) {
        request->out.signalled = (cairn_signalled){.kept = 1, .existing = !request->was_unsure};
        return CAIRN_OK;
    }
    cairn_error *error = may_be_known ? reterr : &request->error;
    cairn_code code =
        fail(error, CAIRN_E_WRONG_STATE, "cannot signal instance \"%s\": it is %s",
             instance->row.id, instance_status_name(instance->row.status));
    if (may_be_known)
        return code;
    request->code = code;
    return CAIRN_OK;
}

cairn_code flow_batch_signal(struct batch *batch, struct request *request, cairn_error *reterr)
{
    const cairn_signal_options *in = &request->in.signal;
    struct world_instance *instance;
    bool is_awaited = true, is_taken = false;
    enum insert_result result;
    cairn_code code = world_turn_to(batch, in->instance_id, &instance, reterr);
    if (code)
        return code;
    if (!instance) {
        no_such_instance(request, in->instance_id);
        return CAIRN_OK;
    }
    if (instance_is_final(instance->row.status))
        return signal_too_late(batch, instance, request, reterr);
    request->out.signalled = (cairn_signalled){.kept = 1};
    if (in->no_latch)
        code = flow_is_awaited(&instance->flow, in->event, &is_awaited, reterr);
    if (code)
        return code;
    if (!is_awaited) {
        request->out.signalled.kept = 0;
        return CAIRN_OK;
    }
    code = insert_signal(batch, instance, request, &result, reterr);
    if (code)
        return code;
    request->out.signalled.existing = result == INSERT_EXISTING && !request->was_unsure;
    if (result == INSERT_DONE)
        world_revise(instance);
    if (result == INSERT_DONE)
        code = flow_signal(&instance->flow, in->event, &is_taken, reterr);
    request->out.signalled.taken = is_taken;
    return code;
}
