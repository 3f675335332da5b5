/* engine/batch_timer.c - what has fallen due: leases of jobs and steps, retries, starts, waits, sleeps, schedules.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "engine/schedule.h"

#include <stdio.h>

/* Bounded, so that one commit stays short; what is left is due at once and comes next. */
enum { DUE_AT_ONCE = 256, PROMOTE_AT_ONCE = 2000 };

/* ---- which, and how many ---------------------------------------------------------------------- */

static bool is_meant(const struct batch *batch, enum timer_kind kind)
{
    unsigned kinds = batch->committer->timing.kinds;
    return !kinds || kinds & 1u << kind;
}

static size_t portion(const struct batch *batch, size_t usual)
{
    size_t most = batch->committer->timing.most;
    return most && most < usual ? most : usual;
}

/* A row whose time has come and that is not set aside. */
static void note_timed(struct batch *batch, const char *id)
{
    batch->timed_count++;
    snprintf(batch->timed_id, sizeof batch->timed_id, "%s", id);
}

/* ---- jobs ----------------------------------------------------------------------------------- */

static cairn_code expire_jobs(struct batch *batch)
{
    size_t count = 0, room = portion(batch, DUE_AT_ONCE) + aside_count(batch->engine);
    struct job_row *rows = arena_room(&batch->arena, room, sizeof *rows);
    NEED(rows, batch->error);
    TRY(STORE(batch, lock_expired_jobs, rows, room, &count));
    for (size_t i = 0; i < count && batch->timed_count < portion(batch, DUE_AT_ONCE); i++) {
        struct workset_job *job;
        struct job_input input = {.action = JOB_EXPIRE};
        struct job_verdict verdict;
        if (aside_has(batch->engine, rows[i].id))
            continue;
        note_timed(batch, rows[i].id);
        TRY(workset_add_job(batch, &rows[i], &job));
        TRY(batch_apply_job(batch, job, &input, &verdict));
    }
    return workset_write_jobs(batch);
}

static cairn_code apply_jobs(struct batch *batch)
{
    size_t count = 0;
    if (is_meant(batch, TIMER_LOST_JOBS))
        TRY(expire_jobs(batch));
    if (is_meant(batch, TIMER_DUE_JOBS))
        TRY(STORE(batch, promote_jobs, portion(batch, PROMOTE_AT_ONCE), &count));
    batch->timed_count += count;
    if (count)
        batch_note_ready(batch, CLAIM_JOBS, NULL, 0);
    return CAIRN_OK;
}

/* ---- instances and steps -------------------------------------------------------------------- */

static cairn_code apply_starts(struct batch *batch)
{
    size_t count = 0, most = portion(batch, DUE_AT_ONCE),
           room = most + aside_count(batch->engine);
    const char **ids = arena_array(&batch->arena, room, sizeof *ids);
    NEED(ids, batch->error);
    TRY(STORE(batch, find_due_instances, ids, room, &count));
    TRY(workset_load(batch, ids, count));
    for (size_t i = 0, taken = 0; i < count && taken < most; i++) {
        struct workset_instance *instance = workset_find(batch, ids[i]);
        bool is_due = instance && !instance->is_busy &&
                      instance->row.status == INSTANCE_PENDING &&
                      instance->row.start_at_us <= batch->tx->now_us;
        if (!is_due || aside_has(batch->engine, ids[i]))
            continue;
        note_timed(batch, ids[i]);
        taken++;
        TRY(flow_start(&instance->flow));
    }
    return CAIRN_OK;
}

/* Leaves out the instances that other transactions hold, or that are set aside: they are left for the next time. */
static size_t drop_busy(const struct batch *batch, struct step_ref *refs, size_t count,
                        size_t most)
{
    size_t kept = 0;
    for (size_t i = 0; i < count && kept < most; i++) {
        const struct workset_instance *instance = workset_find(batch, refs[i].instance_id);
        if (instance && !instance->is_busy && !aside_has(batch->engine, refs[i].instance_id))
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
    size_t count = 0, most = portion(batch, DUE_AT_ONCE),
           room = most + aside_count(batch->engine);
    struct step_ref *refs = arena_array(&batch->arena, room, sizeof *refs);
    const char **ids = arena_array(&batch->arena, room, sizeof *ids);
    NEED(refs && ids, batch->error);
    TRY(STORE(batch, find_due_steps, refs, room, &count));
    for (size_t i = 0; i < count; i++)
        ids[i] = refs[i].instance_id;
    TRY(workset_load(batch, ids, count));
    count = drop_busy(batch, refs, count, most);
    TRY(workset_prefetch(batch, refs, count));
    for (size_t i = 0; i < count; i++) {
        struct workset_instance *instance = workset_find(batch, refs[i].instance_id);
        struct flow_step *step;
        note_timed(batch, refs[i].instance_id);
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
    if (is_meant(batch, TIMER_DUE_STEPS))
        TRY(STORE(batch, promote_steps, portion(batch, PROMOTE_AT_ONCE), &count));
    batch->timed_count += count;
    if (count)
        batch_note_ready(batch, CLAIM_STEPS, NULL, 0);
    if (is_meant(batch, TIMER_INTAKE))
        TRY(batch_take_intake(batch));
    if (is_meant(batch,
                 TIMER_SCHEDULES)) /* before rows change in the workset: it asks the store */
        TRY(schedules_apply(batch));
    if (is_meant(batch, TIMER_STARTS))
        TRY(apply_starts(batch));
    if (is_meant(batch, TIMER_STEPS))
        TRY(apply_steps(batch));
    return is_meant(batch, TIMER_FAMILIES) ? batch_tell_relatives(batch) : CAIRN_OK;
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
    batch->is_timed = is_due(batch, first_us);
    if (batch->is_timed) {
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
