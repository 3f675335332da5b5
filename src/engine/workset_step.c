/* engine/workset_step.c - the steps of one batch: by place, read when they are asked for.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "base/sort.h"
#include "engine/limit.h"
#include "engine/workset.h"

#include <assert.h>
#include <string.h>

/* ---- by place ------------------------------------------------------------------------------- */

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

/* What the store has of its lease. */
static void note_stored(struct flow_step *step)
{
    step->is_leased = step->row.locked_by;
    step->has_place = step->is_leased && step->row.is_counted;
}

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
    step->is_offered = row->is_ready;
    note_stored(step);
    instance->slots[slot_of(instance, row->seq)] = step;
    instance->step_count++;
    return step;
}

/* ---- reading -------------------------------------------------------------------------------- */

/* Also one of which only steps are in hand. */
static struct workset_instance *find_any(const struct batch *batch, const char *id)
{
    return id_map_find(&batch->instances, id);
}

/* Whether a place is worth asking for. */
static bool is_wanted(const struct batch *batch, const struct step_ref *ref)
{
    const struct workset_instance *instance = find_any(batch, ref->instance_id);
    return instance && !instance->is_new && !find_slot(instance, ref->seq);
}

static int compare_refs(const void *a, const void *b)
{
    const struct step_ref *left = a, *right = b;
    int order = strcmp(left->instance_id, right->instance_id);
    return order ? order : (left->seq > right->seq) - (left->seq < right->seq);
}

/* Sorts places and drops repeats; how many are left. */
static size_t sort_refs(struct step_ref *refs, size_t count)
{
    size_t unique = 0;
    sort_items(refs, count, sizeof *refs, compare_refs);
    for (size_t i = 0; i < count; i++)
        if (unique == 0 || compare_refs(&refs[unique - 1], &refs[i]) != 0)
            refs[unique++] = refs[i];
    return unique;
}

/* The places to ask for, sorted, each once. */
static size_t choose_refs(const struct batch *batch, const struct step_ref *refs, size_t count,
                          struct step_ref *chosen)
{
    size_t wanted = 0;
    for (size_t i = 0; i < count; i++)
        if (is_wanted(batch, &refs[i]))
            chosen[wanted++] = refs[i];
    return sort_refs(chosen, wanted);
}

static cairn_code keep_found(struct batch *batch, const struct step_ref *refs, size_t count,
                             const struct step_row *rows, const bool *is_found)
{
    for (size_t i = 0; i < count; i++)
        if (is_found[i] && !workset_keep(find_any(batch, refs[i].instance_id), &rows[i]))
            return fail_memory(batch->error);
    return CAIRN_OK;
}

cairn_code workset_prefetch(struct batch *batch, const struct step_ref *refs, size_t count)
{
    struct step_ref *chosen = arena_room(&batch->arena, count, sizeof *chosen);
    struct step_row *rows = arena_room(&batch->arena, count, sizeof *rows);
    bool *is_found = arena_array(&batch->arena, count, sizeof *is_found);
    NEED(chosen && rows && is_found, batch->error);
    count = choose_refs(batch, refs, count, chosen);
    if (count)
        TRY(STORE(batch, lock_steps, chosen, count, rows, is_found));
    return keep_found(batch, chosen, count, rows, is_found);
}

/* The steps that reports name, and those behind them; what another claim holds is asked for when it is needed. */
cairn_code workset_load_flow(struct batch *batch, const char *const *ids, size_t count,
                             struct flow_lock *lock, struct step_ref *refs)
{
    NEED((lock->steps = arena_room(&batch->arena, lock->ref_count, sizeof *lock->steps)) &&
             (lock->is_found =
                  arena_array(&batch->arena, lock->ref_count, sizeof *lock->is_found)),
         batch->error);
    lock->refs = refs;
    lock->ref_count = sort_refs(refs, lock->ref_count);
    return workset_load_with(batch, ids, count, lock);
}

cairn_code workset_keep_flow(struct batch *batch, const struct flow_lock *lock)
{
    for (size_t i = 0; i < lock->ref_count; i++) {
        const struct workset_instance *instance =
            workset_find(batch, lock->refs[i].instance_id);
        lock->is_found[i] &= instance && !instance->is_busy && is_wanted(batch, &lock->refs[i]);
    }
    return keep_found(batch, lock->refs, lock->ref_count, lock->steps, lock->is_found);
}

cairn_code workset_step(struct workset_instance *instance, int32_t seq,
                        struct flow_step **ret_step)
{
    *ret_step = find_step(instance, seq);
    if (*ret_step || instance->is_new)
        return CAIRN_OK;
    struct step_ref ref = {.instance_id = instance->row.id, .seq = seq};
    TRY(workset_prefetch(instance->batch, &ref, 1));
    *ret_step = find_step(instance, seq);
    return CAIRN_OK;
}

struct flow_step *workset_find_step(const struct batch *batch, const char *instance_id,
                                    int32_t seq)
{
    const struct workset_instance *instance = find_any(batch, instance_id);
    return instance ? find_step(instance, seq) : NULL;
}

cairn_code workset_put_claimed(struct batch *batch, const struct flow_step *step)
{
    const struct step_row *row = &step->row;
    struct workset_instance *instance = find_any(batch, row->instance_id);
    if (!instance && !step->is_dirty)
        return CAIRN_OK; /* the batch does not ask for it again */
    if (!instance && !workset_add_bare(batch, row->instance_id))
        return fail_memory(batch->error);
    struct flow_step *known = workset_keep(find_any(batch, row->instance_id), row);
    NEED(known, batch->error);
    assert(!known->is_dirty); /* what a claim could see was written before it */
    known->row = *row;
    known->is_dirty = step->is_dirty;
    known->is_offered = false;
    note_stored(known);
    return CAIRN_OK;
}

/* ---- what can be claimed -------------------------------------------------------------------- */

/* A place is free, once the step is written. */
static void note_place(struct workset_instance *instance)
{
    instance->is_early = instance->batch->has_places_back = true;
    batch_note_free(instance->batch);
}

/* Types of steps that have a group have lanes from now on.  The store is told before limits are locked. */
static cairn_code note_group(struct batch *batch, const struct step_row *row)
{
    if (!row->group || !*row->group || !row->task_type)
        return CAIRN_OK;
    for (size_t i = 0; i < batch->group_types.count; i++)
        if (strcmp(batch->group_types.items[i], row->task_type) == 0)
            return CAIRN_OK;
    const char **type = list_add(&batch->arena, &batch->group_types);
    NEED(type, batch->error);
    *type = row->task_type;
    return STORE(batch, add_group_types, type, 1);
}

static cairn_code list_in_hand(struct workset_instance *instance)
{
    struct batch *batch = instance->batch;
    double aging_rate = batch->engine->base.options.aging_rate;
    for (size_t i = 0; i < instance->slot_count; i++) {
        struct flow_step *step = instance->slots[i];
        if (!step || step->is_gone)
            continue;
        if (step->has_place && !step->row.locked_by)
            note_place(instance);
        if (step->is_offered || !step->row.is_ready)
            continue;
        TRY(note_group(batch, &step->row));
        struct step_in_hand *added = list_add(&batch->arena, &batch->in_hand);
        NEED(added, batch->error);
        step->row.instance_seq = instance->row.seq;
        *added = (struct step_in_hand){
            .step = step, .key = claim_key_of(&step->row, batch->tx->now_us, aging_rate)};
    }
    return CAIRN_OK;
}

static int compare_keys(const void *a, const void *b)
{
    const struct step_in_hand *left = a, *right = b;
    return claim_is_before(&left->key, &right->key) ? -1 : 1;
}

cairn_code workset_list_in_hand(struct batch *batch)
{
    batch->in_hand.count = 0;
    for (size_t i = 0; i < batch->instances.count; i++)
        TRY(list_in_hand(batch->instances.entries[i].value));
    sort_items(batch->in_hand.items, batch->in_hand.count, sizeof *batch->in_hand.items,
               compare_keys);
    return CAIRN_OK;
}

/* ---- writing -------------------------------------------------------------------------------- */

static bool is_to_write(const struct workset_instance *instance, const struct flow_step *step,
                        enum steps_part part)
{
    if (!step || step->is_gone)
        return false;
    bool is_new = instance->is_new || step->is_new;
    switch (part) {
    case STEPS_EARLY_NEW:
        return instance->is_early && is_new;
    case STEPS_EARLY_OLD:
        return instance->is_early && !is_new && step->is_dirty;
    case STEPS_NEW:
        return is_new;
    case STEPS_OFFERED:
        return !is_new && step->is_dirty && step->is_offered;
    default:
        return !is_new && step->is_dirty;
    }
}

static size_t count_changed(const struct workset_instance *instance, enum steps_part part)
{
    size_t count = 0;
    for (size_t i = 0; i < instance->slot_count; i++)
        count += is_to_write(instance, instance->slots[i], part);
    return count;
}

/* What a row that is written means for timers and workers. */
static void note_written(struct batch *batch, const struct step_row *row)
{
    if (row->due_at_us)
        batch_note_due(batch, row->due_at_us);
    if (row->is_ready)
        batch_note_ready(batch, CLAIM_STEPS, row->task_type, row->version);
}

/* Appends what has changed to rows; it is then clean. */
static size_t take_changed(struct workset_instance *instance, enum steps_part part,
                           struct step_row *rows)
{
    size_t count = 0;
    for (size_t i = 0; i < instance->slot_count; i++) {
        struct flow_step *step = instance->slots[i];
        if (!is_to_write(instance, step, part))
            continue;
        rows[count++] = step->row;
        if (!instance->is_bare)
            rows[count - 1].instance_seq = instance->row.seq;
        step->is_dirty = step->is_new = false;
        step->is_offered = step->row.is_ready;
        if (step->has_place && !step->row.locked_by)
            batch_note_free(instance->batch);
        note_stored(step);
        note_written(instance->batch, &step->row);
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
cairn_code workset_write_changed(struct batch *batch, struct workset_instance *only,
                                 enum steps_part part)
{
    size_t room = 0, count = 0;
    for (size_t i = 0; i < batch->instances.count; i++)
        if (!only || batch->instances.entries[i].value == only)
            room += count_changed(batch->instances.entries[i].value, part);
    if (room == 0)
        return CAIRN_OK;
    struct step_row *rows = arena_room(&batch->arena, room, sizeof *rows);
    NEED(rows, batch->error);
    for (size_t i = 0; i < batch->instances.count; i++)
        if (!only || batch->instances.entries[i].value == only)
            count += take_changed(batch->instances.entries[i].value, part, rows + count);
    sort_items(rows, count, sizeof *rows, compare_places);
    for (size_t i = 0; i < count; i++)
        TRY(note_group(batch, &rows[i]));
    if (part == STEPS_NEW || part == STEPS_EARLY_NEW)
        return STORE(batch, insert_steps, rows, count);
    return STORE(batch, update_steps, rows, count);
}

cairn_code workset_write_early(struct batch *batch)
{
    TRY(workset_write_changed(batch, NULL, STEPS_EARLY_NEW));
    for (size_t i = 0; i < batch->instances.count; i++) {
        struct workset_instance *at = batch->instances.entries[i].value;
        at->is_new &= !at->is_early;
    }
    TRY(workset_write_changed(batch, NULL, STEPS_EARLY_OLD));
    for (size_t i = 0; i < batch->instances.count; i++) {
        struct workset_instance *at = batch->instances.entries[i].value;
        at->is_early = false;
    }
    batch->has_places_back = false;
    for (struct demand *demand = batch->demands; demand; demand = demand->next)
        demand->none_before = CLAIM_FIRST; /* the store has more than it told */
    return workset_list_in_hand(batch);
}

void workset_count_leases(struct batch *batch, const char *types)
{
    for (size_t i = 0; i < batch->jobs.count; i++) {
        struct job_row *row = &((struct workset_job *)batch->jobs.entries[i].value)->row;
        if (row->status == JOB_LEASED && pattern_matches(types, row->type))
            row->is_counted = true;
    }
    for (size_t i = 0; i < batch->instances.count; i++) {
        const struct workset_instance *at = batch->instances.entries[i].value;
        for (size_t k = 0; k < at->slot_count; k++) {
            struct flow_step *step = at->slots[k];
            const char *type = step ? step->row.task_type : NULL;
            if (!step || (type && !pattern_matches(types, type)))
                continue;
            step->row.is_counted |= step->row.locked_by != NULL;
            /* The lease may have ended since it was read, and its type with it. */
            step->has_place |= step->is_leased;
        }
    }
}
