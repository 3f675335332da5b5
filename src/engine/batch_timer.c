/* engine/batch_timer.c - what has fallen due: leases of jobs and steps, retries, starts, waits, sleeps, schedules.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "engine/schedule.h"

/* Bounded, so that one commit stays short; what is left is due at once and comes next. */
enum { DUE_AT_ONCE = 256, PROMOTE_AT_ONCE = 2000 };

/* ---- jobs ----------------------------------------------------------------------------------- */

static cairn_code expire_jobs(struct batch *batch)
{
    size_t count = 0;
    struct job_row *rows = arena_room(&batch->arena, DUE_AT_ONCE, sizeof *rows);
    NEED(rows, batch->error);
    TRY(STORE(batch, lock_expired_jobs, rows, DUE_AT_ONCE, &count));
    for (size_t i = 0; i < count; i++) {
        struct workset_job *job;
        struct job_input input = {.action = JOB_EXPIRE};
        struct job_verdict verdict;
        TRY(workset_add_job(batch, &rows[i], &job));
        TRY(batch_apply_job(batch, job, &input, &verdict));
    }
    return workset_write_jobs(batch);
}

static cairn_code apply_jobs(struct batch *batch)
{
    size_t count = 0;
    TRY(expire_jobs(batch));
    TRY(STORE(batch, promote_jobs, PROMOTE_AT_ONCE, &count));
    if (count)
        batch_note_ready(batch, CLAIM_JOBS, NULL, 0);
    return CAIRN_OK;
}

/* ---- instances and steps -------------------------------------------------------------------- */

static cairn_code apply_starts(struct batch *batch)
{
    size_t count = 0;
    const char **ids = arena_array(&batch->arena, DUE_AT_ONCE, sizeof *ids);
    NEED(ids, batch->error);
    TRY(STORE(batch, find_due_instances, ids, DUE_AT_ONCE, &count));
    TRY(workset_load(batch, ids, count));
    for (size_t i = 0; i < count; i++) {
        struct workset_instance *instance = workset_find(batch, ids[i]);
        bool is_due = instance && !instance->is_busy &&
                      instance->row.status == INSTANCE_PENDING &&
                      instance->row.start_at_us <= batch->tx->now_us;
        if (is_due)
            TRY(flow_start(&instance->flow));
    }
    return CAIRN_OK;
}

/* Leaves out the instances that other transactions hold: they are left for the next time. */
static size_t drop_busy(const struct batch *batch, struct step_ref *refs, size_t count)
{
    size_t kept = 0;
    for (size_t i = 0; i < count; i++) {
        const struct workset_instance *instance = workset_find(batch, refs[i].instance_id);
        if (instance && !instance->is_busy)
            refs[kept++] = refs[i];
    }
    return kept;
}

/* Counts a lease that is over.  One that nobody has renewed is lost; a call that took too long is not. */
static cairn_code count_lease(struct batch *batch, const struct workset_instance *instance,
                              const struct step_row *row)
{
    if (!row->locked_by || row->due_at_us > batch->tx->now_us)
        return CAIRN_OK;
    batch->tally.lease_expiries++;
    struct figure_note note = {.kind = NOTE_LOST, .workflow = instance->row.workflow, .us = -1};
    return lease_ends_call(row) ? CAIRN_OK : figures_note(batch, &note);
}

static cairn_code apply_steps(struct batch *batch)
{
    size_t count = 0;
    struct step_ref *refs = arena_array(&batch->arena, DUE_AT_ONCE, sizeof *refs);
    const char **ids = arena_array(&batch->arena, DUE_AT_ONCE, sizeof *ids);
    NEED(refs && ids, batch->error);
    TRY(STORE(batch, find_due_steps, refs, DUE_AT_ONCE, &count));
    for (size_t i = 0; i < count; i++)
        ids[i] = refs[i].instance_id;
    TRY(workset_load(batch, ids, count));
    count = drop_busy(batch, refs, count);
    TRY(workset_prefetch(batch, refs, count));
    for (size_t i = 0; i < count; i++) {
        struct workset_instance *instance = workset_find(batch, refs[i].instance_id);
        struct flow_step *step;
        TRY(workset_step(instance, refs[i].seq, &step));
        if (!step)
            continue;
        batch->has_seen_lease |= step->row.locked_by != NULL;
        TRY(count_lease(batch, instance, &step->row));
        TRY(flow_timer(&instance->flow, step));
        workset_revise(instance);
    }
    return CAIRN_OK;
}

static cairn_code apply_flow(struct batch *batch)
{
    size_t count = 0;
    /* First, since it changes rows in the store and not in the workset. */
    TRY(STORE(batch, promote_steps, PROMOTE_AT_ONCE, &count));
    if (count)
        batch_note_ready(batch, CLAIM_STEPS, NULL, 0);
    TRY(batch_take_intake(batch));
    TRY(schedules_apply(batch)); /* before rows change in the workset: it asks the store */
    TRY(apply_starts(batch));
    TRY(apply_steps(batch));
    return batch_tell_relatives(batch);
}

/* ---- both ----------------------------------------------------------------------------------- */

static bool is_due(const struct batch *batch, int64_t at_us)
{
    return at_us && at_us <= batch->tx->now_us;
}

cairn_code timers_apply(struct batch *batch, int64_t *ret_due_us)
{
    struct due_times due = {0};
    TRY(STORE(batch, next_due, &due));
    int64_t first_us = due_first(&due);
    if (is_due(batch, first_us)) {
        batch_note_late(batch, first_us);
        if (is_due(batch, due.job_us))
            TRY(apply_jobs(batch));
        if (is_due(batch, due.flow_us))
            TRY(apply_flow(batch));
        TRY(STORE(batch, next_due, &due));
    }
    *ret_due_us = due_first(&due);
    return CAIRN_OK;
}
