/* engine/batch_memory.c - what functions remember, handed out with their tasks.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * All runs that a batch has claimed are answered together, for all claims: one query
 * for their instances, then one for their steps, then one for their events.  The revision is read
 * first: what comes in between is told as a conflict.  Where none of them remembers anything, which is known with their
 * instances, the events come by the same round trip.
 */
#include "core/effect.h"
#include "engine/read.h"
#include "engine/workset.h"

#include <string.h>

enum { STEPS_AT_ONCE = 256, EVENTS_AT_ONCE = 64, EVENTS_MAX = 1000 };

/* What is being read for. */
struct reading {
    struct batch *batch;
    struct passage *passages;
    size_t count;
    const char **ids; /* of the runs, in their order */
    bool is_copied; /* rows are read into the batch's arena, since several requests get them */
    struct arena *into; /* where rows are read to */
};

/* ---- instances ------------------------------------------------------------------------------ */

/* The place before which the claim knows the steps; 1: it knows none, or they may have changed. */
static int32_t find_known(const struct passage *passage, const struct instance_row *row)
{
    const cairn_claim_options *claim = request_claim(passage->request);
    for (size_t i = 0; i < claim->known_count; i++) {
        const cairn_known *known = &claim->known[i];
        if (strcmp(known->instance_id, row->id) == 0)
            return revision_is_of_edition(known->revision, row->revision) &&
                           known->before <= row->places
                       ? known->before
                       : 1;
    }
    return 1;
}

static void note_instance(struct passage *passage, const struct instance_row *row)
{
    cairn_memory *memory = passage->memory;
    memory->steps_from = find_known(passage, row);
    memory->version = row->version;
    memory->revision = row->revision;
    memory->places = row->places;
    memory->is_forced = row->is_forced;
}

/* In this batch something may have happened to one that is not written yet. */
static size_t note_known(struct reading *reading, const char **missing, size_t *places)
{
    size_t count = 0;
    for (size_t i = 0; i < reading->count; i++) {
        const struct workset_instance *instance = workset_find(reading->batch, reading->ids[i]);
        if (instance && !instance->is_busy) {
            note_instance(&reading->passages[i], &instance->row);
            continue;
        }
        places[count] = i;
        missing[count++] = reading->ids[i];
    }
    return count;
}

static cairn_code read_instances(struct reading *reading)
{
    struct batch *batch = reading->batch;
    const char **missing = arena_array(&batch->arena, reading->count, sizeof *missing);
    size_t *places = arena_array(&batch->arena, reading->count, sizeof *places);
    NEED(missing && places, batch->error);
    size_t count = note_known(reading, missing, places);
    if (count == 0)
        return CAIRN_OK;
    struct instance_row *rows = arena_array(&batch->arena, count, sizeof *rows);
    bool *is_found = arena_array(&batch->arena, count, sizeof *is_found);
    NEED(rows && is_found, batch->error);
    if (batch->ops->send_memories)
        TRY(STORE(batch, send_memories, missing, count, reading->ids, reading->count,
                  EVENTS_AT_ONCE));
    TRY(STORE(batch, read_instances, missing, count, rows, is_found));
    for (size_t i = 0; i < count; i++) {
        if (!is_found[i])
            return fail(batch->error, CAIRN_E_INTERNAL, "a passage without instance");
        struct passage *passage = &reading->passages[places[i]];
        note_instance(passage, &rows[i]);
        batch->leases.items[passage->lease].instance = &rows[i];
    }
    return CAIRN_OK;
}

/* ---- steps ---------------------------------------------------------------------------------- */

/* For all that there can be. */
static size_t steps_room(const cairn_memory *memory)
{
    return (size_t)(memory->places - memory->steps_from);
}

static cairn_code add_step(const struct reading *reading, struct passage *passage,
                           struct step_row *row)
{
    struct arena *arena = &passage->request->arena;
    cairn_memory *memory = passage->memory;
    size_t room = steps_room(memory);
    if (!passage->steps) {
        passage->steps = arena_array(arena, room, sizeof *passage->steps);
        memory->steps = passage->steps;
    }
    if (!passage->steps || (reading->is_copied && !row_keep_texts(&step_row_type, row, arena)))
        return fail_memory(reading->batch->error);
    if (memory->step_count == room)
        return CAIRN_OK;
    cairn_step *step = arena_alloc(arena, sizeof *step);
    NEED(step, reading->batch->error);
    passage->steps[memory->step_count++] = step;
    return step_to_public(arena, row, step, reading->batch->error);
}

/* One that remembers nothing, or nothing that is not known, is not asked about.  *ret_after: behind which
 * place of each the steps are read. */
static struct reading those_with_steps(const struct reading *reading,
                                       struct step_ref **ret_after)
{
    struct reading some = *reading;
    struct arena *arena = &reading->batch->arena;
    struct step_ref *after = *ret_after = arena_array(arena, reading->count, sizeof *after);
    some.passages = arena_array(arena, reading->count, sizeof *some.passages);
    some.ids = arena_array(arena, reading->count, sizeof *some.ids);
    some.count = 0;
    for (size_t i = 0; after && some.passages && some.ids && i < reading->count; i++) {
        const cairn_memory *memory = reading->passages[i].memory;
        if (memory->places <= memory->steps_from)
            continue;
        after[some.count] =
            (struct step_ref){.instance_id = reading->ids[i], .seq = memory->steps_from - 1};
        some.passages[some.count] = reading->passages[i];
        some.ids[some.count++] = reading->ids[i];
    }
    return some;
}

/* The run, from `at` on, that a row belongs to: rows come in the order of the ids. */
static size_t find_passage(const struct reading *reading, size_t at, const char *instance_id)
{
    while (at < reading->count && strcmp(reading->ids[at], instance_id) != 0)
        at++;
    return at;
}

/* Enough for all there can be, if that is not much: then one question is answered by one portion. */
static size_t choose_portion(const struct reading *reading)
{
    size_t portion = 0;
    for (size_t i = 0; i < reading->count && portion < STEPS_AT_ONCE; i++)
        portion += steps_room(reading->passages[i].memory) + 1;
    return portion < STEPS_AT_ONCE ? portion : STEPS_AT_ONCE;
}

static cairn_code read_steps(const struct reading *all)
{
    struct batch *batch = all->batch;
    struct step_ref *after;
    struct reading reading = those_with_steps(all, &after);
    NEED(after && reading.passages && reading.ids, batch->error);
    if (reading.count == 0)
        return CAIRN_OK;
    size_t portion = choose_portion(&reading);
    struct step_row *rows = arena_array(&batch->arena, portion, sizeof *rows);
    NEED(rows, batch->error);
    for (size_t at = 0, count = portion; count == portion && at < reading.count;) {
        TRY(STORE(batch, list_memos, after + at, reading.count - at, rows, portion, &count));
        for (size_t i = 0; i < count; i++) {
            at = find_passage(&reading, at, rows[i].instance_id);
            if (at == reading.count)
                break;
            after[at].seq = rows[i].seq;
            TRY(add_step(&reading, &reading.passages[at], &rows[i]));
        }
    }
    return CAIRN_OK;
}

/* ---- events --------------------------------------------------------------------------------- */

static cairn_code add_event(const struct reading *reading, struct passage *passage,
                            struct signal_row *row)
{
    struct arena *arena = &passage->request->arena;
    cairn_memory *memory = passage->memory;
    cairn_received *event = arena_alloc(arena, sizeof *event);
    const cairn_received **added = list_add(arena, &passage->events);
    bool is_kept = !reading->is_copied || row_keep_texts(&signal_row_type, row, arena);
    NEED(event && added && is_kept, reading->batch->error);
    *event = (cairn_received){.id = row->id,
                              .event = row->event,
                              .payload = row->payload,
                              .received_at_us = row->received_at_us};
    *added = event;
    memory->events = passage->events.items;
    memory->event_count = passage->events.count;
    return CAIRN_OK;
}

static cairn_code read_events(const struct reading *reading)
{
    struct batch *batch = reading->batch;
    struct signal_row *rows = arena_array(&batch->arena, EVENTS_AT_ONCE, sizeof *rows);
    NEED(rows, batch->error);
    int64_t after = 0;
    for (size_t at = 0, count = EVENTS_AT_ONCE;
         count == EVENTS_AT_ONCE && at < reading->count;) {
        TRY(STORE(batch, list_signals, reading->ids + at, reading->count - at, after, rows,
                  EVENTS_AT_ONCE, &count));
        for (size_t i = 0; i < count; i++) {
            after = rows[i].seq;
            at = find_passage(reading, at, rows[i].instance_id);
            if (at < reading->count && reading->passages[at].memory->event_count < EVENTS_MAX)
                TRY(add_event(reading, &reading->passages[at], &rows[i]));
        }
        if (at < reading->count && reading->passages[at].memory->event_count == EVENTS_MAX) {
            at++; /* however many wait behind them */
            after = 0;
        }
    }
    return CAIRN_OK;
}

/* ---- all of it ------------------------------------------------------------------------------ */

static bool is_for_one(const struct batch *batch)
{
    for (size_t i = 1; i < batch->passages.count; i++)
        if (batch->passages.items[i].request != batch->passages.items[0].request)
            return false;
    return true;
}

/* Which effects the keys of its steps name; the row's texts are the request's. */
static bool note_effects(struct arena *arena, const struct step_row *runner,
                         cairn_memory *memory)
{
    struct effect_entry entry;
    size_t count = 0;
    memory->effect = runner->past_effects + 1;
    for (const char *at = runner->function_effects; effect_next(&at, &entry);)
        count++;
    cairn_effect *effects = arena_array(arena, count, sizeof *effects);
    memory->effects = effects ? arena_pointers(arena, effects, count, sizeof *effects) : NULL;
    if (!memory->effects)
        return false;
    for (const char *at = runner->function_effects; effect_next(&at, &entry);) {
        cairn_effect *effect = &effects[memory->effect_count++];
        effect->step = arena_strndup(arena, entry.step, entry.step_len);
        effect->effect = entry.past_effects + 1;
        if (!effect->step)
            return false;
    }
    return true;
}

cairn_code batch_add_passage(struct batch *batch, struct request *request,
                             const struct step_row *runner, const cairn_memory **ret_memory)
{
    cairn_memory *memory = arena_zalloc(&request->arena, sizeof *memory);
    NEED(memory && note_effects(&request->arena, runner, memory), batch->error);
    struct passage *passage = list_add(&batch->arena, &batch->passages);
    NEED(passage, batch->error);
    *passage = (struct passage){.request = request,
                                .memory = memory,
                                .instance_id = runner->instance_id,
                                .lease = batch->leases.count};
    *ret_memory = memory;
    struct given_lease *given = list_add(&batch->arena, &batch->given);
    NEED(given, batch->error);
    *given = (struct given_lease){.request = request, .instance_id = runner->instance_id};
    struct lease_view *lease = list_add(&batch->arena, &batch->leases);
    NEED(lease, batch->error);
    *lease = (struct lease_view){.instance_id = runner->instance_id,
                                 .row = request->was_unsure ? NULL : runner};
    return CAIRN_OK;
}

cairn_code batch_read_memories(struct batch *batch)
{
    size_t count = batch->passages.count;
    if (count == 0)
        return CAIRN_OK;
    struct reading reading = {
        .batch = batch, .passages = batch->passages.items, .count = count};
    reading.is_copied = !is_for_one(batch);
    reading.into = reading.is_copied ? &batch->arena : &batch->passages.items[0].request->arena;
    reading.ids = arena_array(&batch->arena, count, sizeof *reading.ids);
    NEED(reading.ids, batch->error);
    for (size_t i = 0; i < count; i++)
        reading.ids[i] = batch->passages.items[i].instance_id;
    struct arena *arena = batch->tx->arena;
    cairn_code code = read_instances(&reading);
    batch->tx->arena = reading.into;
    if (!code)
        code = read_steps(&reading);
    if (!code)
        code = read_events(&reading);
    batch->tx->arena = arena;
    batch->passages.count = 0;
    return code;
}

cairn_code batch_read_signals(struct batch *batch, struct request *request,
                              const char *instance_id, const cairn_received *const **ret_events,
                              size_t *ret_count)
{
    cairn_memory memory = {0};
    struct passage passage = {.request = request, .memory = &memory};
    struct reading reading = {
        .batch = batch, .passages = &passage, .count = 1, .ids = &instance_id};
    struct arena *arena = batch->tx->arena;
    batch->tx->arena = &request->arena;
    cairn_code code = read_events(&reading);
    batch->tx->arena = arena;
    *ret_events = passage.events.items;
    *ret_count = memory.event_count;
    return code;
}
