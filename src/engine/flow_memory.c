/* engine/flow_memory.c - what a function remembers, handed out with its task.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "base/error.h"
#include "engine/world.h"

/* Hardly any function has many events waiting: room for all of them is made when there are. */
enum { STEPS_AT_ONCE = 256, EVENTS_FEW = 8, EVENTS_MAX = 1000 };

/* In this batch something may have happened to it that is not written yet. */
static cairn_code read_instance(struct batch *batch, const char *id,
                                struct instance_row *ret_row, cairn_error *reterr)
{
    const struct world_instance *instance = world_find(batch, id);
    if (!instance || instance->is_busy)
        return batch->ops->get_instance(batch->tx, id, ret_row, reterr);
    *ret_row = instance->row;
    return CAIRN_OK;
}

/* Everything behind place 0.  The revision was read before: what comes in between is told as a
 * conflict. */
static cairn_code read_steps(struct batch *batch, struct request *request, const char *id,
                             size_t room, cairn_memory *memory, cairn_error *reterr)
{
    size_t portion = room < STEPS_AT_ONCE ? room : STEPS_AT_ONCE, count = portion;
    struct step_row *rows = arena_array(&batch->arena, portion, sizeof *rows);
    cairn_step *steps = arena_array(&request->arena, room, sizeof *steps);
    if (!rows || !steps)
        return fail_memory(reterr);
    memory->steps = steps;
    for (int32_t after = 0; count == portion;) {
        cairn_code code =
            batch->ops->list_steps(batch->tx, id, after, false, rows, portion, &count, reterr);
        for (size_t i = 0; i < count && !code && memory->step_count < room; i++)
            code =
                step_to_public(&request->arena, &rows[i], &steps[memory->step_count++], reterr);
        if (code)
            return code;
        if (count)
            after = rows[count - 1].seq;
    }
    return CAIRN_OK;
}

static cairn_code read_events(struct batch *batch, const char *instance_id, size_t room,
                              struct signal_row **ret_rows, size_t *ret_count,
                              cairn_error *reterr)
{
    *ret_rows = arena_array(&batch->arena, room, sizeof **ret_rows);
    if (!*ret_rows)
        return fail_memory(reterr);
    return batch->ops->list_signals(batch->tx, instance_id, *ret_rows, room, ret_count, reterr);
}

cairn_code flow_events(struct batch *batch, struct request *request, const char *instance_id,
                       cairn_received **ret_events, size_t *ret_count, cairn_error *reterr)
{
    struct arena *arena = batch->tx->arena;
    size_t count = 0;
    struct signal_row *rows;
    batch->tx->arena = &request->arena;
    cairn_code code = read_events(batch, instance_id, EVENTS_FEW, &rows, &count, reterr);
    if (!code && count == EVENTS_FEW)
        code = read_events(batch, instance_id, EVENTS_MAX, &rows, &count, reterr);
    batch->tx->arena = arena;
    cairn_received *events = code ? NULL : arena_array(&request->arena, count, sizeof *events);
    if (!events)
        return code ? code : fail_memory(reterr);
    for (size_t i = 0; i < count; i++)
        events[i] = (cairn_received){.id = rows[i].id,
                                     .event = rows[i].event,
                                     .payload = rows[i].payload,
                                     .received_at_us = rows[i].received_at_us};
    *ret_events = events;
    *ret_count = count;
    return CAIRN_OK;
}

cairn_code flow_memory(struct batch *batch, struct request *request, const char *instance_id,
                       const cairn_memory **ret_memory, cairn_error *reterr)
{
    struct instance_row row;
    cairn_received *events;
    cairn_memory *memory = arena_zalloc(&request->arena, sizeof *memory);
    if (!memory)
        return fail_memory(reterr);
    cairn_code code = read_instance(batch, instance_id, &row, reterr);
    if (code)
        return code;
    *memory = (cairn_memory){.version = row.version,
                             .revision = row.revision,
                             .places = row.places,
                             .is_forced = row.is_forced};
    struct arena *arena = batch->tx->arena;
    batch->tx->arena = &request->arena;
    if (row.places > 1)
        code = read_steps(batch, request, instance_id, (size_t)row.places, memory, reterr);
    batch->tx->arena = arena;
    if (!code)
        code = flow_events(batch, request, instance_id, &events, &memory->event_count, reterr);
    if (code)
        return code;
    memory->events = events;
    *ret_memory = memory;
    return CAIRN_OK;
}
