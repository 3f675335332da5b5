/* engine/workset.c - the instances of one batch.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "engine/workset.h"

#include "base/error.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

/* ---- ids ------------------------------------------------------------------------------------ */

bool step_id_split(const char *task_id, char instance_id[ID_TEXT], int32_t *ret_seq)
{
    const char *dot = strchr(task_id, '.');
    size_t digits = dot ? strspn(dot + 1, "0123456789") : 0;
    if (!dot || (size_t)(dot - task_id) >= ID_TEXT || digits == 0 || digits > 9 ||
        dot[1 + digits])
        return false;
    memcpy(instance_id, task_id, (size_t)(dot - task_id));
    instance_id[dot - task_id] = '\0';
    *ret_seq = (int32_t)strtol(dot + 1, NULL, 10);
    return id_is_valid(instance_id);
}

char *step_id_make(struct arena *arena, const char *instance_id, int32_t seq)
{
    return arena_printf(arena, "%s.%d", instance_id, (int)seq);
}

/* ---- instances by id ------------------------------------------------------------------------ */

static size_t workset_slot(const struct batch *batch, const char *id)
{
    size_t mask = batch->instance_slot_count - 1;
    uint32_t hash = 2166136261u; /* FNV-1a */
    for (const char *c = id; *c; c++)
        hash = (hash ^ (unsigned char)*c) * 16777619u;
    size_t at = hash & mask;
    while (batch->instance_slots[at] && strcmp(batch->instance_slots[at]->row.id, id) != 0)
        at = (at + 1) & mask;
    return at;
}

/* Also one of which only steps are in hand. */
static struct workset_instance *find_any(const struct batch *batch, const char *id)
{
    return batch->instance_slot_count ? batch->instance_slots[workset_slot(batch, id)] : NULL;
}

struct workset_instance *workset_find(const struct batch *batch, const char *id)
{
    struct workset_instance *instance = find_any(batch, id);
    return instance && !instance->is_bare ? instance : NULL;
}

/* ---- steps by place ------------------------------------------------------------------------- */

static size_t slot_of(const struct workset_instance *instance, int32_t seq)
{
    size_t mask = instance->slot_count - 1;
    size_t at = (size_t)seq * 2654435761u & mask;
    while (instance->slots[at] && instance->slots[at]->row.seq != seq)
        at = (at + 1) & mask;
    return at;
}

static bool grow(struct workset_instance *instance)
{
    struct flow_step **old = instance->slots;
    size_t old_count = instance->slot_count;
    size_t count = old_count ? old_count * 2 : 8;
    struct flow_step **slots = arena_array(&instance->batch->arena, count, sizeof *slots);
    if (!slots)
        return false;
    instance->slots = slots;
    instance->slot_count = count;
    for (size_t i = 0; i < old_count; i++)
        if (old[i])
            slots[slot_of(instance, old[i]->row.seq)] = old[i];
    return true;
}

/* A forgotten one keeps its slot, so that the rows behind it are found. */
static struct flow_step *find_slot(const struct workset_instance *instance, int32_t seq)
{
    return instance->slot_count ? instance->slots[slot_of(instance, seq)] : NULL;
}

static struct flow_step *find_step(const struct workset_instance *instance, int32_t seq)
{
    struct flow_step *step = find_slot(instance, seq);
    return step && !step->is_gone ? step : NULL;
}

/* Keeps a row that was read; one that is there already stays as it is, being newer. */
struct flow_step *workset_keep(struct workset_instance *instance, const struct step_row *row)
{
    struct flow_step *step = find_slot(instance, row->seq);
    if (step)
        return step;
    if (instance->step_count * 2 >= instance->slot_count && !grow(instance))
        return NULL;
    step = arena_zalloc(&instance->batch->arena, sizeof *step);
    if (!step)
        return NULL;
    step->row = *row;
    instance->slots[slot_of(instance, row->seq)] = step;
    instance->step_count++;
    return step;
}

struct flow_step *workset_insert(struct workset_instance *instance, const struct step_row *row)
{
    struct flow_step *step = workset_keep(instance, row);
    if (!step)
        return NULL;
    *step = (struct flow_step){.row = *row, .is_dirty = true, .is_new = true};
    return step;
}

cairn_code workset_forget(struct workset_instance *instance, struct flow_step **steps,
                          size_t count, cairn_error *reterr)
{
    struct batch *batch = instance->batch;
    size_t written = 0;
    struct step_ref *refs = arena_array(&batch->arena, count, sizeof *refs);
    if (!refs)
        return fail_memory(reterr);
    for (size_t i = 0; i < count; i++) {
        if (!steps[i]->is_new)
            refs[written++] = (struct step_ref){instance->row.id, steps[i]->row.seq};
        steps[i]->is_gone = true;
    }
    return written ? batch->ops->delete_steps(batch->tx, refs, written, reterr) : CAIRN_OK;
}

/* Whether a place is worth asking for. */
static bool is_wanted(const struct batch *batch, const struct step_ref *refs, size_t index)
{
    const struct workset_instance *instance = find_any(batch, refs[index].instance_id);
    return instance && !instance->is_new && !find_slot(instance, refs[index].seq);
}

static int compare_refs(const void *a, const void *b)
{
    const struct step_ref *left = a, *right = b;
    int order = strcmp(left->instance_id, right->instance_id);
    return order ? order : (left->seq > right->seq) - (left->seq < right->seq);
}

/* The places to ask for, sorted, each once. */
static size_t choose_refs(const struct batch *batch, const struct step_ref *refs, size_t count,
                          struct step_ref *chosen)
{
    size_t wanted = 0, unique = 0;
    for (size_t i = 0; i < count; i++)
        if (is_wanted(batch, refs, i))
            chosen[wanted++] = refs[i];
    if (wanted)
        qsort(chosen, wanted, sizeof *chosen, compare_refs);
    for (size_t i = 0; i < wanted; i++)
        if (unique == 0 || compare_refs(&chosen[unique - 1], &chosen[i]) != 0)
            chosen[unique++] = chosen[i];
    return unique;
}

cairn_code workset_prefetch(struct batch *batch, const struct step_ref *refs, size_t count,
                            cairn_error *reterr)
{
    struct step_ref *chosen = arena_array(&batch->arena, count, sizeof *chosen);
    struct step_row *rows = arena_array(&batch->arena, count, sizeof *rows);
    bool *is_found = arena_array(&batch->arena, count, sizeof *is_found);
    if (!chosen || !rows || !is_found)
        return fail_memory(reterr);
    count = choose_refs(batch, refs, count, chosen);
    cairn_code code = CAIRN_OK;
    if (count)
        code = batch->ops->lock_steps(batch->tx, chosen, count, rows, is_found, reterr);
    for (size_t i = 0; i < count && !code; i++)
        if (is_found[i] && !workset_keep(find_any(batch, chosen[i].instance_id), &rows[i]))
            code = fail_memory(reterr);
    return code;
}

cairn_code workset_step(struct workset_instance *instance, int32_t seq,
                        struct flow_step **ret_step, cairn_error *reterr)
{
    *ret_step = find_step(instance, seq);
    if (*ret_step || instance->is_new)
        return CAIRN_OK;
    struct step_ref ref = {.instance_id = instance->row.id, .seq = seq};
    cairn_code code = workset_prefetch(instance->batch, &ref, 1, reterr);
    if (!code)
        *ret_step = find_step(instance, seq);
    return code;
}

struct flow_step *workset_find_step(const struct batch *batch, const char *instance_id,
                                    int32_t seq)
{
    const struct workset_instance *instance = find_any(batch, instance_id);
    return instance ? find_step(instance, seq) : NULL;
}

cairn_code workset_put_claimed(struct batch *batch, const struct flow_step *step,
                               cairn_error *reterr)
{
    const struct step_row *row = &step->row;
    struct workset_instance *instance = find_any(batch, row->instance_id);
    if (!instance && !step->is_dirty)
        return CAIRN_OK; /* nobody asks for it again */
    if (!instance && !workset_add_bare(batch, row->instance_id))
        return fail_memory(reterr);
    struct flow_step *known = workset_keep(find_any(batch, row->instance_id), row);
    if (!known)
        return fail_memory(reterr);
    assert(!known->is_dirty); /* what a claim could see was written before it */
    known->row = *row;
    known->is_dirty = step->is_dirty;
    return CAIRN_OK;
}

/* ---- instances ------------------------------------------------------------------------------ */

bool workset_has_changed(const struct batch *batch)
{
    for (const struct workset_instance *at = batch->instances; at; at = at->next)
        if (at->event_count || at->has_told)
            return true;
    return false;
}

static bool grow_instances(struct batch *batch)
{
    size_t count = batch->instance_slot_count ? batch->instance_slot_count * 2 : 16;
    struct workset_instance **slots = arena_array(&batch->arena, count, sizeof *slots);
    if (!slots)
        return false;
    batch->instance_slots = slots;
    batch->instance_slot_count = count;
    for (struct workset_instance *at = batch->instances; at; at = at->next)
        slots[workset_slot(batch, at->row.id)] = at;
    return true;
}

static struct workset_instance *make(struct batch *batch, const struct instance_row *row)
{
    struct workset_instance *instance = arena_zalloc(&batch->arena, sizeof *instance);
    if (!instance)
        return NULL;
    instance->row = *row;
    instance->batch = batch;
    instance->flow = (struct flow){.source = &workset_source,
                                   .instance = &instance->row,
                                   .now_us = batch->tx->now_us,
                                   .rng = &batch->committer->rng,
                                   .arena = &batch->arena};
    return instance;
}

bool workset_adopt(struct batch *batch, struct workset_instance *instance)
{
    if (batch->instance_count * 2 >= batch->instance_slot_count && !grow_instances(batch))
        return false;
    batch->instance_slots[workset_slot(batch, instance->row.id)] = instance;
    batch->instance_count++;
    instance->next = batch->instances;
    batch->instances = instance;
    return true;
}

struct workset_instance *workset_new(struct batch *batch, const struct instance_row *row,
                                     const struct step_row *plan, size_t count)
{
    struct workset_instance *instance = make(batch, row);
    for (size_t i = 0; instance && i < count; i++) {
        struct flow_step *step = workset_keep(instance, &plan[i]);
        if (!step)
            return NULL;
        step->row.instance_id = row->id;
        step->row.version = step->row.kind == KIND_FUNCTION ? row->version : 0;
        step->row.updated_at_us = batch->tx->now_us;
    }
    if (instance)
        instance->is_new = true;
    return instance;
}

bool workset_add_bare(struct batch *batch, const char *id)
{
    if (find_any(batch, id))
        return true;
    struct workset_instance *instance = make(batch, &(struct instance_row){.id = id});
    if (!instance)
        return false;
    instance->is_bare = true;
    return workset_adopt(batch, instance);
}

/* One that the store was asked for, in place of a bare one. */
static bool add_loaded(struct batch *batch, const struct instance_row *row, bool is_busy)
{
    struct workset_instance *instance = find_any(batch, row->id);
    if (!instance) {
        instance = make(batch, row);
        if (!instance || !workset_adopt(batch, instance))
            return false;
    }
    instance->row = *row;
    instance->is_bare = false;
    instance->is_busy = is_busy;
    return true;
}

cairn_code workset_load(struct batch *batch, const char **ids, size_t count,
                        cairn_error *reterr)
{
    size_t wanted = 0;
    const char **missing = arena_array(&batch->arena, count, sizeof *missing);
    struct instance_row *rows = arena_array(&batch->arena, count, sizeof *rows);
    enum lock_result *results = arena_array(&batch->arena, count, sizeof *results);
    if (!missing || !rows || !results)
        return fail_memory(reterr);
    for (size_t i = 0; i < count; i++)
        if (!workset_find(batch, ids[i]))
            missing[wanted++] = ids[i];
    wanted = ids_sort_unique(missing, wanted);
    if (wanted == 0)
        return CAIRN_OK;

    cairn_code code = batch->ops->lock_instances(batch->tx, missing, wanted, batch->is_alone,
                                                 rows, results, reterr);
    for (size_t i = 0; i < wanted && !code; i++) {
        if (results[i] == LOCK_ABSENT)
            continue;
        if (results[i] == LOCK_BUSY)
            rows[i] = (struct instance_row){.id = missing[i]};
        if (!add_loaded(batch, &rows[i], results[i] == LOCK_BUSY))
            return fail_memory(reterr);
    }
    return code;
}

void workset_revise(struct workset_instance *instance)
{
    if (!instance->row.is_function)
        return;
    instance->row.revision++;
    instance->flow.is_dirty = true;
}

void workset_revise_dirty(struct workset_instance *instance)
{
    if (instance->flow.is_dirty)
        workset_revise(instance);
}

/* ---- writing -------------------------------------------------------------------------------- */

/* Whether a step is to be inserted (is_new) or updated. */
static bool is_to_write(const struct workset_instance *instance, const struct flow_step *step,
                        bool is_new)
{
    if (!step || step->is_gone || (instance->is_new || step->is_new) != is_new)
        return false;
    return is_new || step->is_dirty;
}

static size_t count_dirty(const struct workset_instance *instance, bool is_new)
{
    size_t count = 0;
    for (size_t i = 0; i < instance->slot_count; i++)
        count += is_to_write(instance, instance->slots[i], is_new);
    return count;
}

/* Appends what is dirty to rows; it is then clean. */
static size_t take_dirty(struct workset_instance *instance, bool is_new, struct step_row *rows)
{
    size_t count = 0;
    for (size_t i = 0; i < instance->slot_count; i++) {
        struct flow_step *step = instance->slots[i];
        if (!is_to_write(instance, step, is_new))
            continue;
        rows[count++] = step->row;
        if (!instance->is_bare)
            rows[count - 1].instance_seq = instance->row.seq;
        step->is_dirty = step->is_new = false;
        if (step->row.due_at_us)
            batch_note_due(instance->batch, step->row.due_at_us);
    }
    return count;
}

static int compare_places(const void *a, const void *b)
{
    const struct step_row *left = a, *right = b;
    int order =
        (left->instance_seq > right->instance_seq) - (left->instance_seq < right->instance_seq);
    return order ? order : (left->seq > right->seq) - (left->seq < right->seq);
}

/* Steps that are in the store are updated, new ones inserted with all that has happened. */
static cairn_code write_steps(struct batch *batch, struct workset_instance *only, bool is_new,
                              cairn_error *reterr)
{
    size_t room = 0, count = 0;
    for (struct workset_instance *at = batch->instances; at; at = at->next)
        if (!only || at == only)
            room += count_dirty(at, is_new);
    if (room == 0)
        return CAIRN_OK;
    struct step_row *rows = arena_array(&batch->arena, room, sizeof *rows);
    if (!rows)
        return fail_memory(reterr);
    for (struct workset_instance *at = batch->instances; at; at = at->next)
        if (!only || at == only)
            count += take_dirty(at, is_new, rows + count);
    qsort(rows, count, sizeof *rows, compare_places);
    if (is_new)
        return batch->ops->insert_steps(batch->tx, rows, count, reterr);
    return batch->ops->update_steps(batch->tx, rows, count, reterr);
}

cairn_code workset_flush(struct workset_instance *instance, cairn_error *reterr)
{
    assert(!instance->is_new);
    cairn_code code = write_steps(instance->batch, instance, true, reterr);
    return code ? code : write_steps(instance->batch, instance, false, reterr);
}

static bool is_row_dirty(const struct workset_instance *instance)
{
    return instance->flow.is_dirty || instance->is_changed;
}

/* Of one instance, or of all (NULL). */
static cairn_code write_instances(struct batch *batch, struct workset_instance *only,
                                  cairn_error *reterr)
{
    size_t count = 0;
    for (struct workset_instance *at = batch->instances; at; at = at->next)
        count += (!only || at == only) && is_row_dirty(at);
    if (count == 0)
        return CAIRN_OK;
    struct instance_row *rows = arena_array(&batch->arena, count, sizeof *rows);
    if (!rows)
        return fail_memory(reterr);
    count = 0;
    for (struct workset_instance *at = batch->instances; at; at = at->next) {
        if ((only && at != only) || !is_row_dirty(at))
            continue;
        at->row.updated_at_us = batch->tx->now_us;
        rows[count++] = at->row;
        at->flow.is_dirty = at->is_changed = false;
        cairn_code code = instance_is_final(at->row.status)
                              ? batch_ended(batch, at->row.id, reterr)
                              : CAIRN_OK;
        if (code)
            return code;
    }
    return batch->ops->update_instances(batch->tx, rows, count, reterr);
}

cairn_code workset_write_instances(struct batch *batch, cairn_error *reterr)
{
    return write_instances(batch, NULL, reterr);
}

/* Those of claims, which touch no instance, first: they are older than what follows from reports
 * only where there is no such report. */
static cairn_code write_events(struct batch *batch, cairn_error *reterr)
{
    size_t room = batch->flow_event_count, count = 0;
    for (struct workset_instance *at = batch->instances; at; at = at->next)
        room += at->event_count;
    if (room == 0)
        return CAIRN_OK;
    struct flow_event_row *rows = arena_array(&batch->arena, room, sizeof *rows);
    if (!rows)
        return fail_memory(reterr);
    for (struct workset_instance *at = batch->instances; at; at = at->next) {
        if (at->event_count)
            memcpy(rows + count, at->events, at->event_count * sizeof *rows);
        count += at->event_count;
        at->has_told |= at->event_count > 0;
        at->event_count = 0;
    }
    if (batch->flow_event_count)
        memcpy(rows + count, batch->flow_events, batch->flow_event_count * sizeof *rows);
    batch->flow_event_count = 0;
    return batch->ops->append_flow_events(batch->tx, rows, room, reterr);
}

cairn_code workset_write_parked(struct workset_instance *instance, cairn_error *reterr)
{
    struct batch *batch = instance->batch;
    size_t count = instance->parked_count;
    instance->parked_count = 0;
    return count ? batch->ops->append_dlq(batch->tx, instance->parked, count, reterr)
                 : CAIRN_OK;
}

cairn_code workset_write_steps(struct batch *batch, cairn_error *reterr)
{
    cairn_code code = write_steps(batch, NULL, true, reterr);
    for (struct workset_instance *at = batch->instances; at; at = at->next)
        at->is_new = false;
    return code ? code : write_steps(batch, NULL, false, reterr);
}

/* Twice is as good as once: what was written is clean. */
cairn_code workset_write(struct batch *batch, cairn_error *reterr)
{
    cairn_code code = workset_write_steps(batch, reterr);
    if (!code)
        code = workset_write_instances(batch, reterr);
    return code ? code : write_events(batch, reterr);
}

/* ---- one request after the other ------------------------------------------------------------ */

/* The steps of an instance that an earlier request has started. */
static cairn_code write_new(struct workset_instance *instance, cairn_error *reterr)
{
    if (!instance->is_new)
        return CAIRN_OK;
    cairn_code code = write_steps(instance->batch, instance, true, reterr);
    instance->is_new = false;
    return code;
}

static cairn_code show_owed(struct workset_instance *instance, cairn_error *reterr)
{
    struct request *request = instance->owed;
    instance->owed = NULL;
    return request ? batch_show_instance(instance->batch, request, reterr) : CAIRN_OK;
}

void workset_answer_later(struct workset_instance *instance, struct request *request)
{
    instance->owed = request;
}

cairn_code workset_take(struct batch *batch, const char *id,
                        struct workset_instance **ret_instance, cairn_error *reterr)
{
    struct workset_instance *instance = workset_find(batch, id);
    *ret_instance = instance;
    if (!instance)
        return CAIRN_OK;
    cairn_code code = write_new(instance, reterr);
    if (!code && instance->owed) {
        code = workset_flush(instance, reterr);
        if (!code)
            code = write_instances(batch, instance, reterr);
        if (!code)
            code = show_owed(instance, reterr);
    }
    instance->is_changed |= instance->flow.is_dirty;
    instance->flow.is_dirty = false;
    return code;
}

cairn_code workset_answer(struct batch *batch, cairn_error *reterr)
{
    cairn_code code = CAIRN_OK;
    for (struct workset_instance *at = batch->instances; at && !code; at = at->next)
        code = show_owed(at, reterr);
    return code;
}
