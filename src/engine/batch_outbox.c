/* engine/batch_outbox.c - events that handlers emit, and those who deliver them.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "core/backoff.h"
#include "engine/workset.h"

#include <string.h>

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

/* ---- what could not be delivered -------------------------------------------------------------- */

/* One more delivery has failed: again later, or never. */
static void count_failure(struct batch *batch, const struct outbox_release_input *in,
                          struct outbox_row *row)
{
    row->attempts += row->attempts < INT32_MAX;
    row->last_error = in->error;
    if (in->max_attempts && row->attempts >= in->max_attempts)
        row->dead_at_us = batch->tx->now_us;
}

static int64_t comes_again_us(const struct batch *batch, const struct outbox_release_input *in,
                              const struct outbox_row *row)
{
    int64_t delay_us = in->delay_ms * US_PER_MS;
    if (in->delay_ms < 0)
        delay_us = in->error ? backoff_delay_us(&backoff_for_steps, row->attempts, 0) : 0;
    return instant_add(batch->tx->now_us, delay_us);
}

cairn_code batch_release_outbox(struct batch *batch, struct request *request)
{
    const struct outbox_release_input *in = &request->in.release;
    struct outbox_row row;
    int64_t number;
    cairn_code code = CAIRN_E_NOT_FOUND;
    if (number_id_read(in->id, &number))
        code = STORE(batch, lock_outbox, number, &row);
    if (code == CAIRN_E_NOT_FOUND)
        return REFUSE(request, code, "outbox event \"%.64s\" does not exist", in->id);
    if (code)
        return code;
    if (row.acked_at_us || !row.claimed_by || strcmp(row.claimed_by, in->worker) != 0)
        return REFUSE(request, CAIRN_E_LEASE_LOST,
                      "outbox event \"%s\" is no longer claimed by \"%.128s\"", in->id,
                      in->worker);
    if (in->error)
        count_failure(batch, in, &row);
    row.claimed_until_us = row.dead_at_us ? 0 : comes_again_us(batch, in, &row);
    request->out.released.attempts = row.attempts;
    request->out.released.is_dead = row.dead_at_us != 0;
    request->out.released.next_us = row.claimed_until_us;
    return STORE(batch, release_outbox, &row);
}
