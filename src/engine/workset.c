/* engine/workset.c - the jobs and instances of one batch.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "engine/workset.h"

#include "base/sort.h"
#include "core/counter.h"
#include "engine/read.h"

#include <assert.h>
#include <string.h>

/* ---- loading -------------------------------------------------------------------------------- */

static int compare_ids(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* Sorts ids and drops repeats; how many are left. */
static size_t sort_unique(const char **ids, size_t count)
{
    size_t unique = 0;
    sort_items(ids, count, sizeof *ids, compare_ids);
    for (size_t i = 0; i < count; i++)
        if (unique == 0 || strcmp(ids[unique - 1], ids[i]) != 0)
            ids[unique++] = ids[i];
    return unique;
}

/* Rows that the store is asked for: those that are not in the workset. */
struct missing {
    const char **ids;
    enum lock_result *results;
    void *rows;
    size_t count;
};

static cairn_code find_missing(struct batch *batch, const char *const *ids, size_t count,
                               bool (*is_there)(const struct batch *, const char *),
                               size_t row_size, struct missing *ret)
{
    *ret = (struct missing){
        .ids = arena_room(&batch->arena, count, sizeof *ret->ids),
        .results = arena_array(&batch->arena, count, sizeof *ret->results),
        .rows = arena_room(&batch->arena, count, row_size),
    };
    NEED(ret->ids && ret->results && ret->rows, batch->error);
    for (size_t i = 0; i < count; i++)
        if (!is_there(batch, ids[i]))
            ret->ids[ret->count++] = ids[i];
    ret->count = sort_unique(ret->ids, ret->count);
    return CAIRN_OK;
}

/* ---- answers -------------------------------------------------------------------------------- */

/* A control is answered with the row that it has made, read from the store. */
static cairn_code answer(struct batch *batch, struct request **answer_to)
{
    struct request *request = *answer_to;
    *answer_to = NULL;
    if (!request)
        return CAIRN_OK;
    struct arena *arena = batch->tx->arena;
    batch->tx->arena = &request->arena;
    cairn_code code = read_in(batch->engine, batch->tx, request);
    batch->tx->arena = arena;
    if (code && batch->error)
        *batch->error = request->error;
    return code;
}

/* ---- jobs ----------------------------------------------------------------------------------- */

struct workset_job *workset_find_job(const struct batch *batch, const char *id)
{
    return id_map_find(&batch->jobs, id);
}

static bool has_job(const struct batch *batch, const char *id)
{
    return workset_find_job(batch, id) != NULL;
}

cairn_code workset_add_job(struct batch *batch, const struct job_row *row,
                           struct workset_job **ret_job)
{
    struct workset_job *job = arena_zalloc(&batch->arena, sizeof *job);
    NEED(job && id_map_add(&batch->jobs, &batch->arena, row->id, job), batch->error);
    job->row = *row;
    *ret_job = job;
    return CAIRN_OK;
}

/* Completions, and what was planned to go with them. */
static cairn_code send_together(struct batch *batch, struct job_row *rows, size_t count)
{
    bool is_sent;
    if (!batch->ahead && !batch->new_jobs)
        return CAIRN_OK;
    TRY(STORE(batch, send_complete_jobs, rows, count, &is_sent));
    if (!is_sent)
        batch->new_jobs = NULL;
    if (batch->new_jobs)
        TRY(batch_send_new_jobs(batch, &is_sent));
    return batch->ahead ? batch_claim_ahead(batch, is_sent) : CAIRN_OK;
}

/* Whether completions have taken another number for their events than the transaction began with, as they do if
 * others have written later events of a job: new jobs that were sent behind them have it, too, unknown to us. */
static bool has_moved(const struct batch *batch, int64_t planned, int64_t event_id)
{
    return batch->new_jobs && planned >= EVENT_OPEN &&
           batch_known_event(batch, planned) != event_id;
}

/* As many as one row of the log has room for. */
static cairn_code complete_portion(struct batch *batch, struct job_row *rows, size_t count)
{
    int64_t event_id;
    bool *is_done = arena_array(&batch->arena, count, sizeof *is_done);
    NEED(is_done, batch->error);
    TRY(batch_take_open_events(batch, count, &event_id));
    batch_used_events(batch, event_id + (int64_t)count - 1);
    for (size_t i = 0; i < count; i++)
        rows[i].last_event = event_id + (int64_t)i;
    TRY(send_together(batch, rows, count));
    TRY(STORE(batch, complete_jobs, rows, count, is_done));
    for (size_t i = 0; i < count; i++) {
        struct workset_job *job = NULL;
        batch->are_all_completed &= is_done[i];
        if (!is_done[i])
            continue;
        if (has_moved(batch, event_id + (int64_t)i, rows[i].last_event))
            return batch_spoil(batch);
        batch_used_events(batch, rows[i].last_event);
        TRY(workset_add_job(batch, &rows[i], &job));
        assert(job);
        job->is_completed = true;
    }
    return CAIRN_OK;
}

cairn_code workset_complete_jobs(struct batch *batch, struct job_row *rows, size_t count)
{
    for (; count > EVENT_SLOTS; rows += EVENT_SLOTS, count -= EVENT_SLOTS)
        TRY(complete_portion(batch, rows, EVENT_SLOTS));
    return complete_portion(batch, rows, count);
}

cairn_code workset_load_jobs(struct batch *batch, const char *const *ids, size_t count)
{
    struct missing missing;
    TRY(find_missing(batch, ids, count, has_job, sizeof(struct job_row), &missing));
    if (missing.count == 0)
        return CAIRN_OK;
    struct job_row *rows = missing.rows;
    TRY(STORE(batch, lock_jobs, missing.ids, missing.count, batch->is_alone, rows,
              missing.results));
    for (size_t i = 0; i < missing.count; i++) {
        struct workset_job *job = NULL;
        bool is_busy = missing.results[i] == LOCK_BUSY;
        if (missing.results[i] == LOCK_ABSENT)
            continue;
        if (is_busy)
            rows[i] = (struct job_row){.id = missing.ids[i]};
        TRY(workset_add_job(batch, &rows[i], &job));
        assert(job);
        job->is_busy = is_busy;
    }
    return CAIRN_OK;
}

/* Of one job, or of all (NULL). */
static cairn_code write_jobs(struct batch *batch, const struct workset_job *only)
{
    size_t count = 0;
    struct job_row *rows = arena_room(&batch->arena, batch->jobs.count, sizeof *rows);
    NEED(rows, batch->error);
    for (size_t i = 0; i < batch->jobs.count; i++) {
        struct workset_job *job = batch->jobs.entries[i].value;
        if (!job->is_dirty || (only && job != only))
            continue;
        rows[count++] = job->row;
        job->is_dirty = false;
    }
    return count ? STORE(batch, update_jobs, rows, count) : CAIRN_OK;
}

/* Children are jobs that were inserted after the others were locked. */
cairn_code workset_take_job(struct batch *batch, const char *id, struct workset_job **ret_job)
{
    if (batch->has_children && !has_job(batch, id) && id_is_valid(id))
        TRY(workset_load_jobs(batch, &id, 1));
    struct workset_job *job = *ret_job = workset_find_job(batch, id);
    if (!job || !job->answer_to)
        return CAIRN_OK;
    TRY(write_jobs(batch, job));
    return answer(batch, &job->answer_to);
}

cairn_code workset_write_jobs(struct batch *batch)
{
    if (batch->jobs.count == 0)
        return CAIRN_OK;
    TRY(write_jobs(batch, NULL));
    for (size_t i = 0; i < batch->jobs.count; i++) {
        struct workset_job *job = batch->jobs.entries[i].value;
        if (job->is_completed)
            return fail(batch->error, CAIRN_E_INTERNAL, "job \"%s\" was completed untold",
                        job->row.id);
        TRY(answer(batch, &job->answer_to));
    }
    return CAIRN_OK;
}

/* ---- instances ------------------------------------------------------------------------------ */

struct workset_instance *workset_find(const struct batch *batch, const char *id)
{
    struct workset_instance *instance = id_map_find(&batch->instances, id);
    return instance && !instance->is_bare ? instance : NULL;
}

static bool has_instance(const struct batch *batch, const char *id)
{
    return workset_find(batch, id) != NULL;
}

static struct workset_instance *make(struct batch *batch, const struct instance_row *row)
{
    struct workset_instance *instance = arena_zalloc(&batch->arena, sizeof *instance);
    if (!instance)
        return NULL;
    instance->row = *row;
    instance->batch = batch;
    instance->flow = (struct flow){.source = &workset_source,
                                   .error = batch->error,
                                   .instance = &instance->row,
                                   .now_us = batch->tx->now_us,
                                   .max_bytes = batch->engine->base.options.max_payload,
                                   .rng = &batch->committer->rng,
                                   .arena = &batch->arena,
                                   .value_max = batch->engine->base.options.max_payload};
    return instance;
}

static bool add(struct batch *batch, struct workset_instance *instance)
{
    instance->is_adopted = true;
    return id_map_add(&batch->instances, &batch->arena, instance->row.id, instance);
}

cairn_code workset_adopt(struct batch *batch, struct workset_instance *instance)
{
    NEED(add(batch, instance), batch->error);
    for (size_t i = 0; i < instance->events.count; i++)
        TRY(event_list_add(&batch->arena, &batch->events, &instance->events.items[i],
                           batch->error));
    instance->events.count = 0;
    return CAIRN_OK;
}

struct workset_instance *workset_new(struct batch *batch, const struct instance_row *row,
                                     const struct step_row *plan, size_t count)
{
    struct workset_instance *instance = make(batch, row);
    if (!instance)
        return NULL;
    instance->is_new = true;
    for (size_t i = 0; i < count; i++) {
        struct flow_step *step = workset_keep(instance, &plan[i]);
        if (!step)
            return NULL;
        step->row.instance_id = row->id;
        step->row.instance_metadata = row->metadata;
        step->row.group = row->group;
        step->row.version = step->row.kind == KIND_FUNCTION ? row->version : 0;
        step->row.updated_at_us = batch->tx->now_us;
    }
    return instance;
}

bool workset_add_bare(struct batch *batch, const char *id)
{
    if (id_map_find(&batch->instances, id))
        return true;
    struct workset_instance *instance = make(batch, &(struct instance_row){.id = id});
    if (!instance)
        return false;
    instance->is_bare = true;
    return add(batch, instance);
}

/* A row that was read, in place of a bare one if there is one. */
static cairn_code add_loaded(struct batch *batch, const struct instance_row *row, bool is_busy)
{
    struct workset_instance *instance = id_map_find(&batch->instances, row->id);
    if (!instance) {
        instance = make(batch, row);
        NEED(instance && add(batch, instance), batch->error);
    }
    instance->row = *row;
    instance->is_bare = false;
    instance->is_busy = is_busy;
    instance->was_telling = row->is_telling;
    return CAIRN_OK;
}

/* Some of their steps by the same round trip, and a question for the claims to come. */
static cairn_code lock_flow(struct batch *batch, const struct missing *missing,
                            struct flow_lock *lock)
{
    lock->ids = missing->ids;
    lock->count = missing->count;
    lock->rows = missing->rows;
    lock->results = missing->results;
    TRY(STORE(batch, send_lock_flow, lock));
    TRY(claim_look_ahead(batch));
    TRY(STORE(batch, lock_flow, lock));
    return claim_looked_ahead(batch);
}

cairn_code workset_add(struct batch *batch, const struct instance_row *row)
{
    return add_loaded(batch, row, false);
}

cairn_code workset_load(struct batch *batch, const char *const *ids, size_t count)
{
    return workset_load_with(batch, ids, count, NULL);
}

cairn_code workset_load_with(struct batch *batch, const char *const *ids, size_t count,
                             struct flow_lock *lock)
{
    struct missing missing;
    TRY(find_missing(batch, ids, count, has_instance, sizeof(struct instance_row), &missing));
    if (missing.count == 0 && !(lock && lock->known_count))
        return CAIRN_OK;
    struct instance_row *rows = missing.rows;
    TRY(lock ? lock_flow(batch, &missing, lock)
             : STORE(batch, lock_instances, missing.ids, missing.count, batch->is_alone, rows,
                     missing.results));
    for (size_t i = 0; i < missing.count; i++) {
        bool is_busy = missing.results[i] == LOCK_BUSY;
        if (missing.results[i] == LOCK_ABSENT)
            continue;
        if (is_busy)
            rows[i] = (struct instance_row){.id = missing.ids[i]};
        TRY(add_loaded(batch, &rows[i], is_busy));
    }
    return CAIRN_OK;
}

void workset_revise(struct workset_instance *instance)
{
    if (!instance->row.is_function)
        return;
    instance->row.revision = counter_after64(instance->row.revision);
    instance->flow.is_dirty = true;
}

void workset_revise_dirty(struct workset_instance *instance)
{
    if (instance->flow.is_dirty)
        workset_revise(instance);
}

/* ---- writing -------------------------------------------------------------------------------- */

cairn_code workset_flush(struct workset_instance *instance)
{
    assert(!instance->is_new);
    TRY(workset_write_changed(instance->batch, instance, STEPS_NEW));
    return workset_write_changed(instance->batch, instance, STEPS_OLD);
}

/* What advance_instances() writes, and nothing else. */
static bool has_advanced(const struct workset_instance *instance)
{
    const struct instance_row *row = &instance->row;
    struct instance_row before = instance->known->instance;
    before.commits = row->commits;
    before.revision = row->revision;
    before.places = row->places;
    before.last_event = row->last_event;
    before.event_count = row->event_count;
    before.updated_at_us = row->updated_at_us;
    for (size_t i = 0; i < instance_row_type.count; i++) {
        const struct column *column = &instance_row_type.columns[i];
        if (column_is_text(column) ? member_text(column, &before) != member_text(column, row)
                                   : member_int(column, &before) != member_int(column, row))
            return false;
    }
    return true;
}

/* Of one instance, or of all (NULL). */
static cairn_code write_instances(struct batch *batch, const struct workset_instance *only)
{
    size_t count = 0;
    struct instance_row *rows =
        arena_room(&batch->arena, only ? 1 : batch->instances.count, sizeof *rows);
    NEED(rows, batch->error);
    TRY(batch_number_events(batch));
    for (size_t i = 0; i < batch->instances.count; i++) {
        struct workset_instance *at = batch->instances.entries[i].value;
        bool is_changed = at->flow.is_dirty || at->is_changed;
        if ((only && at != only) || (!is_changed && !at->is_told))
            continue;
        if (is_changed)
            at->row.updated_at_us = batch->tx->now_us;
        if (at->known && !has_advanced(at))
            return batch_spoil(batch);
        rows[count] = at->row;
        if (at->known)
            rows[count].row_version = at->known->version;
        count++;
        at->flow.is_dirty = at->is_changed = at->is_told = false;
        at->is_written = true;
        if (at->row.is_telling)
            batch_note_due(batch, batch->tx->now_us);
        if (!instance_is_final(at->row.status))
            continue;
        TRY(batch_note_ended(batch, at->row.id));
        if (at->row.schedule) /* its next run may wait for this */
            batch_note_due(batch, batch->tx->now_us);
    }
    if (count && batch->is_unlocked)
        return STORE(batch, advance_instances, rows, count);
    return count ? STORE(batch, update_instances, rows, count) : CAIRN_OK;
}

cairn_code workset_write_parked(struct workset_instance *instance)
{
    struct batch *batch = instance->batch;
    size_t count = instance->parked.count;
    instance->parked.count = 0;
    return count ? batch->ops->append_dlq(batch->tx, instance->parked.items, count,
                                          instance->batch->error)
                 : CAIRN_OK;
}

static cairn_code write_steps(struct batch *batch)
{
    TRY(workset_write_changed(batch, NULL, STEPS_NEW));
    for (size_t i = 0; i < batch->instances.count; i++) {
        struct workset_instance *at = batch->instances.entries[i].value;
        at->is_new = false;
    }
    return workset_write_changed(batch, NULL, STEPS_OLD);
}

static cairn_code write_children(struct batch *batch)
{
    LIST(struct children_row) rows = {0};
    for (size_t i = 0; i < batch->instances.count; i++) {
        struct workset_instance *at = batch->instances.entries[i].value;
        for (size_t k = 0; k < at->children.count; k++) {
            if (!at->children.items[k]->is_dirty)
                continue;
            struct children_row *row = list_add(&batch->arena, &rows);
            NEED(row, batch->error);
            *row = at->children.items[k]->row;
            at->children.items[k]->is_dirty = false;
        }
    }
    return rows.count ? STORE(batch, put_step_children, rows.items, rows.count) : CAIRN_OK;
}

static cairn_code write_elements(struct batch *batch)
{
    for (size_t i = 0; i < batch->instances.count; i++) {
        struct workset_instance *at = batch->instances.entries[i].value;
        size_t count = at->elements.count;
        at->elements.count = 0;
        if (count)
            TRY(STORE(batch, put_elements, at->elements.items, count));
    }
    return CAIRN_OK;
}

cairn_code workset_write_rows(struct batch *batch)
{
    if (batch->is_unlocked) /* from then on they are locked */
        TRY(write_instances(batch, NULL));
    TRY(write_steps(batch));
    TRY(write_children(batch));
    TRY(write_elements(batch));
    return write_instances(batch, NULL);
}

/* Twice is as good as once: what was written is clean. */
cairn_code workset_write(struct batch *batch)
{
    TRY(workset_write_rows(batch));
    return batch_append_events(batch);
}

cairn_code workset_write_now(struct batch *batch)
{
    TRY(workset_write_rows(batch));
    return batch_append_early(batch);
}

/* ---- one request after the other ------------------------------------------------------------ */

cairn_code workset_take(struct batch *batch, const char *id,
                        struct workset_instance **ret_instance)
{
    struct workset_instance *instance = *ret_instance = workset_find(batch, id);
    if (!instance)
        return CAIRN_OK;
    if (instance->is_new)
        TRY(workset_write_changed(batch, instance, STEPS_NEW));
    instance->is_new = false;
    if (instance->answer_to) {
        TRY(workset_flush(instance));
        TRY(write_instances(batch, instance));
        TRY(answer(batch, &instance->answer_to));
    }
    instance->is_changed |= instance->flow.is_dirty;
    instance->flow.is_dirty = false;
    return CAIRN_OK;
}

cairn_code workset_answer(struct batch *batch)
{
    for (size_t i = 0; i < batch->instances.count; i++) {
        struct workset_instance *at = batch->instances.entries[i].value;
        TRY(answer(batch, &at->answer_to));
    }
    return CAIRN_OK;
}
