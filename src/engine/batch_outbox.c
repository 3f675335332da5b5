/* engine/batch_outbox.c - events that handlers emit, and those who deliver them.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "engine/workset.h"

cairn_code batch_emit(struct batch *batch, const struct workset_instance *instance,
                      const char *step, const cairn_outbound *events, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        struct outbox_row *row = list_add(&batch->arena, &batch->outbox);
        NEED(row, batch->error);
        *row = (struct outbox_row){
            .instance_id = instance->row.id,
            .step = step,
            .event = events[i].event,
            .payload = events[i].payload ? events[i].payload : "null",
            .created_at_us = batch->tx->now_us,
        };
    }
    return CAIRN_OK;
}

cairn_code batch_claim_outbox(struct batch *batch, struct request *request)
{
    const struct outbox_input *in = &request->in.outbox;
    size_t count = 0;
    struct outbox_row *rows = arena_array(&batch->arena, in->max, sizeof *rows);
    cairn_outbox_event *events = arena_array(&request->arena, in->max, sizeof *events);
    NEED(rows && events, batch->error);
    struct arena *arena = batch->tx->arena;
    batch->tx->arena = &request->arena;
    cairn_code code = batch->ops->claim_outbox(
        batch->tx, in->worker, instant_add(batch->tx->now_us, in->lease_ms * US_PER_MS), rows,
        in->max, &count, batch->error);
    batch->tx->arena = arena;
    for (size_t i = 0; i < count && !code; i++) {
        events[i] = (cairn_outbox_event){
            .id = arena_printf(&request->arena, "%lld", (long long)rows[i].id),
            .instance_id = rows[i].instance_id,
            .step = rows[i].step,
            .event = rows[i].event,
            .payload = rows[i].payload,
            .created_at_us = rows[i].created_at_us};
        if (!events[i].id)
            code = fail_memory(batch->error);
    }
    request->out.page = (struct page_output){.items = events, .count = count};
    return code;
}

cairn_code batch_append_outbox(struct batch *batch)
{
    size_t count = batch->outbox.count;
    batch->outbox.count = 0;
    return count ? STORE(batch, append_outbox, batch->outbox.items, count) : CAIRN_OK;
}

/* One that is not in the store may have been emitted by a request of this batch. */
static cairn_code ack_one(struct batch *batch, int64_t id, int64_t *ret_earlier)
{
    cairn_code code = STORE(batch, ack_outbox, id, ret_earlier);
    if (code != CAIRN_E_NOT_FOUND || !batch->outbox.count)
        return code;
    code = batch_append_outbox(batch);
    return code ? code : STORE(batch, ack_outbox, id, ret_earlier);
}

cairn_code batch_ack_outbox(struct batch *batch, struct request *request)
{
    const char *id = request->in.id;
    int64_t number, earlier = 0;
    cairn_code code = CAIRN_E_NOT_FOUND;
    if (number_id_read(id, &number))
        code = ack_one(batch, number, &earlier);
    if (code == CAIRN_E_NOT_FOUND)
        return REFUSE(request, code, "outbox event \"%.64s\" does not exist", id);
    if (code || !earlier)
        return code;
    request->code = fail(&request->error, CAIRN_E_WRONG_STATE,
                         "cannot acknowledge outbox event \"%s\": event \"%lld\" of the same "
                         "instance comes before it and is not acknowledged",
                         id, (long long)earlier);
    fail_hint(&request->error, request->code, "deliver and acknowledge events in their order");
    return CAIRN_OK;
}
