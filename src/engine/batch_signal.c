/* engine/batch_signal.c - signals to instances.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "engine/workset.h"

#include <string.h>

/* The id is the sender's, or was made by an earlier try of this very request. */
static const char *signal_id(const struct request *request)
{
    return request->in.signal.id ? request->in.signal.id : request->signal_id;
}

/* A known signal is answered as its first sender was.  A repeated try of a request whose commit
 * ended unknown is that first sender. */
static void answer_known(struct request *request, const struct signal_row *known)
{
    request->out.signalled = (cairn_signalled){
        .kept = 1, .taken = known->was_taken, .existing = !request->was_unsure};
}

/* Whether the id is known; then the request is answered. */
static cairn_code find_known(struct batch *batch, struct request *request, bool *ret_is_known)
{
    const cairn_signal_options *in = &request->in.signal;
    struct signal_row known = {0};
    *ret_is_known = false;
    if (!in->id && !request->was_unsure)
        return CAIRN_OK;
    cairn_code code = STORE(batch, get_signal, in->instance_id, signal_id(request), &known);
    if (code == CAIRN_E_NOT_FOUND)
        return CAIRN_OK;
    if (!code) {
        *ret_is_known = true;
        answer_known(request, &known);
    }
    return code;
}

cairn_code batch_put_signal(struct workset_instance *instance, struct signal_row *row,
                            enum insert_result *ret_result, bool *ret_is_taken)
{
    struct batch *batch = instance->batch;
    *ret_is_taken = false;
    TRY(STORE(batch, insert_signal, row, ret_result));
    if (*ret_result != INSERT_DONE)
        return CAIRN_OK;
    TRY(workset_source.note(&instance->flow, "signal_received", NULL,
                            FACTS(.event = row->event, .signal_id = row->id)));
    workset_revise(instance);
    TRY(flow_signal(&instance->flow, row->event, ret_is_taken));
    return *ret_is_taken ? STORE(batch, keep_signal_taken, row->instance_id, row->seq)
                         : CAIRN_OK;
}

/* The instance has ended, but the id of a signal may be known from before. */
static cairn_code signal_too_late(struct batch *batch, const struct workset_instance *instance,
                                  struct request *request)
{
    bool is_known;
    cairn_code code = find_known(batch, request, &is_known);
    if (!code && !is_known)
        request->code = fail(&request->error, CAIRN_E_WRONG_STATE,
                             "cannot signal instance \"%s\": it is %s", instance->row.id,
                             instance_status_name(instance->row.status));
    return code;
}

/* Without a latch a signal that no step waits for leaves nothing behind; so its id stays unknown. */
static cairn_code signal_unwanted(struct batch *batch, struct request *request)
{
    bool is_known;
    request->out.signalled = (cairn_signalled){.kept = 0};
    return find_known(batch, request, &is_known);
}

/* Keeps the signal, wakes what waits for it, and remembers what the sender is told. */
static cairn_code signal_arrives(struct batch *batch, struct workset_instance *instance,
                                 struct request *request)
{
    const cairn_signal_options *in = &request->in.signal;
    enum insert_result result;
    bool is_taken;
    if (!in->id && !request->signal_id[0])
        id_make(&batch->committer->rng, batch->tx->now_us, request->signal_id);
    struct signal_row row = {.instance_id = instance->row.id,
                             .id = signal_id(request),
                             .event = in->event,
                             .payload = in->payload ? in->payload : "null",
                             .received_at_us = batch->tx->now_us,
                             .taken_by = -1};
    TRY(batch_put_signal(instance, &row, &result, &is_taken));
    if (result == INSERT_DONE)
        request->out.signalled = (cairn_signalled){.kept = 1, .taken = is_taken};
    else
        answer_known(request, &row);
    return CAIRN_OK;
}

cairn_code batch_signal(struct batch *batch, struct request *request)
{
    const cairn_signal_options *in = &request->in.signal;
    struct workset_instance *instance;
    bool is_awaited = true;
    TRY(batch_take_instance(batch, request, &instance));
    if (!instance)
        return CAIRN_OK;
    if (instance_is_final(instance->row.status))
        return signal_too_late(batch, instance, request);
    if (in->no_latch)
        TRY(flow_is_awaited(&instance->flow, in->event, &is_awaited));
    return is_awaited ? signal_arrives(batch, instance, request)
                      : signal_unwanted(batch, request);
}
