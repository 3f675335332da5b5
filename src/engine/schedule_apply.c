/* engine/schedule_apply.c - times of schedules that have come.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "engine/schedule.h"

#include "base/error.h"

#include <stdio.h>
#include <string.h>

/* Bounded, so that one commit stays short; what is left is due at once and comes next. */
enum { DUE_AT_ONCE = 32, STARTS_AT_ONCE = 50, OPEN_MAX = 1000 };

/* How soon to look again at a schedule whose zone this machine does not know: another one may. */
#define UNKNOWN_ZONE_US (60 * US_PER_SEC)

/* A schedule that is being applied. */
struct applying {
    struct batch *batch;
    struct schedule_row *row;
    struct schedule_clock *clock;
    struct schedule_run_row *open; /* that have not ended, as far as is known */
    size_t open_count;
    LIST(struct schedule_run_row) changed; /* runs to be written */
    size_t start_count;
    bool is_busy; /* a run that is to be cancelled is held by another transaction */
};

/* ---- starting -------------------------------------------------------------------------------- */

/* "schedule:NAME:TIME", the time with as many digits as it needs. */
static const char *key_of(struct arena *arena, const char *name, int64_t at_us)
{
    char text[INSTANT_TEXT];
    int rest = (int)(at_us % US_PER_SEC);
    instant_format(at_us, text);
    text[strlen("2026-11-15T06:30:00")] = '\0';
    if (rest == 0)
        return arena_printf(arena, "schedule:%s:%sZ", name, text);
    return arena_printf(arena, "schedule:%s:%s.%06dZ", name, text, rest);
}

static cairn_code start_job(struct batch *batch, const struct schedule_row *row,
                            const char *key, const char *id, cairn_enqueued *ret_enqueued)
{
    struct commit_job *job = arena_zalloc(&batch->arena, sizeof *job);
    NEED(job, batch->error);
    *job = (struct commit_job){.id = id, .spec = CAIRN_JOB_DEFAULTS, .schedule = row->name};
    job->spec.type = row->task;
    job->spec.payload = row->input ? row->input : "{}";
    job->spec.key = key;
    return batch_insert_children(batch, job, 1, ret_enqueued);
}

/* *ret_error: why it cannot be started; NULL: it was. */
static cairn_code start_instance(struct batch *batch, const struct schedule_row *row,
                                 const char *key, const char *id, cairn_enqueued *ret_enqueued,
                                 const char **ret_error)
{
    struct request *request = arena_zalloc(&batch->arena, sizeof *request);
    struct commit_start *start = arena_zalloc(&batch->arena, sizeof *start);
    NEED(request && start, batch->error);
    *start =
        (struct commit_start){.id = id, .options = CAIRN_START_DEFAULTS, .schedule = row->name};
    start->options.workflow = row->workflow;
    start->options.version = row->version;
    start->options.input = row->input;
    start->options.key = key;
    struct child child = {.start = start};
    TRY(batch_plan_children(batch, request, &child, 1));
    *ret_error = request->code ? request->error.message : NULL;
    return request->code ? CAIRN_OK : batch_start_children(batch, &child, 1, ret_enqueued);
}

cairn_code schedule_start(struct batch *batch, struct schedule_row *row, int64_t at_us,
                          const char *id, struct schedule_run_row *ret_run)
{
    cairn_enqueued *enqueued = arena_zalloc(&batch->arena, sizeof *enqueued); /* rows keep it */
    const char *error = NULL, *key = key_of(&batch->arena, row->name, at_us);
    NEED(enqueued && key, batch->error);
    if (row->task)
        TRY(start_job(batch, row, key, id, enqueued));
    else
        TRY(start_instance(batch, row, key, id, enqueued, &error));
    *ret_run = (struct schedule_run_row){
        .schedule = row->name,
        .at_us = at_us,
        .run_id = error ? NULL : enqueued->id,
        .is_job = row->task != NULL,
        .is_open = !error,
        .error = error,
        .status = error       ? "failed"
                  : row->task ? "pending"
                              : "running",
    };
    row->last_at_us = at_us > row->last_at_us ? at_us : row->last_at_us;
    return CAIRN_OK;
}

/* A run that is started and cancelled by the same commit is written once. */
static cairn_code note_run(struct applying *it, const struct schedule_run_row *run)
{
    struct schedule_run_row *changed = NULL;
    for (size_t i = 0; i < it->changed.count && !changed; i++)
        changed = it->changed.items[i].at_us == run->at_us ? &it->changed.items[i] : NULL;
    if (!changed)
        changed = list_add(&it->batch->arena, &it->changed);
    NEED(changed, it->batch->error);
    *changed = *run;
    return CAIRN_OK;
}

static cairn_code start(struct applying *it, int64_t at_us)
{
    struct batch *batch = it->batch;
    struct schedule_run_row run;
    char *id = arena_zalloc(&batch->arena, sizeof(cairn_enqueued));
    NEED(id, batch->error);
    id_make(&batch->committer->rng, batch->tx->now_us, id);
    TRY(schedule_start(batch, it->row, at_us, id, &run));
    it->start_count++;
    if (run.is_open)
        it->open[it->open_count++] = run; /* there is room: STARTS_AT_ONCE of it */
    return note_run(it, &run);
}

static cairn_code skip(struct applying *it, int64_t at_us)
{
    return note_run(it, &(struct schedule_run_row){.schedule = it->row->name,
                                                   .at_us = at_us,
                                                   .is_job = it->row->task != NULL,
                                                   .status = "skipped"});
}

/* ---- runs that have not ended ---------------------------------------------------------------- */

static cairn_code load_open(struct applying *it)
{
    struct batch *batch = it->batch;
    size_t count = 0, kept = 0;
    it->open = arena_array(&batch->arena, OPEN_MAX + STARTS_AT_ONCE, sizeof *it->open);
    NEED(it->open, batch->error);
    TRY(STORE(batch, list_schedule_runs, it->row->name, true, it->open, OPEN_MAX, &count));
    for (size_t i = 0; i < count; i++) {
        struct schedule_run_row *run = &it->open[i];
        if (schedule_is_active(run)) {
            it->open[kept++] = *run;
            continue;
        }
        run->is_open = false;
        TRY(note_run(it, run));
    }
    it->open_count = kept;
    return CAIRN_OK;
}

static cairn_code cancel_job(struct applying *it, const char *id, const char **ret_status)
{
    struct job_input input = {.action = JOB_CANCEL};
    struct job_verdict verdict;
    TRY(workset_load_jobs(it->batch, &id, 1));
    struct workset_job *job = workset_find_job(it->batch, id);
    it->is_busy |= job && job->is_busy;
    if (!job || job->is_busy)
        return CAIRN_OK;
    TRY(batch_apply_job(it->batch, job, &input, &verdict));
    *ret_status = job_status_name(job->row.status);
    return workset_write_jobs(it->batch);
}

static cairn_code cancel_instance(struct applying *it, const char *id, const char **ret_status)
{
    cairn_code verdict;
    const char *by = arena_printf(&it->batch->arena, "schedule:%s", it->row->name);
    const struct flow_who who = {.by = by, .reason = "the next run is due"};
    NEED(by, it->batch->error);
    TRY(workset_load(it->batch, &id, 1));
    struct workset_instance *instance = workset_find(it->batch, id);
    it->is_busy |= instance && instance->is_busy;
    if (!instance || instance->is_busy)
        return CAIRN_OK;
    TRY(flow_cancel(&instance->flow, &who, &verdict)); /* one that is ending may say no */
    if (!verdict)
        workset_revise(instance);
    *ret_status = instance_status_name(instance->row.status);
    return CAIRN_OK;
}

/* Cancels what is active; it stays among the open ones while it is being undone. */
static cairn_code cancel_open(struct applying *it)
{
    size_t kept = 0;
    for (size_t i = 0; i < it->open_count; i++) {
        struct schedule_run_row *run = &it->open[i];
        TRY(run->is_job ? cancel_job(it, run->run_id, &run->status)
                        : cancel_instance(it, run->run_id, &run->status));
        if (schedule_is_active(run)) {
            it->open[kept++] = *run;
            continue;
        }
        run->is_open = false;
        TRY(note_run(it, run));
    }
    it->open_count = kept;
    return CAIRN_OK;
}

/* ---- a time ---------------------------------------------------------------------------------- */

static cairn_code start_waiting(struct applying *it)
{
    int64_t at_us = it->row->waiting_at_us;
    if (!at_us || it->open_count || it->row->is_paused)
        return CAIRN_OK;
    it->row->waiting_at_us = 0;
    return start(it, at_us);
}

static cairn_code apply_time(struct applying *it, int64_t at_us, enum schedule_act act)
{
    struct schedule_row *row = it->row;
    switch (act) {
    case SCHEDULE_START:
        return start(it, at_us);
    case SCHEDULE_SKIP:
        return skip(it, at_us);
    case SCHEDULE_CANCEL:
        TRY(cancel_open(it));
        if (it->is_busy)
            return CAIRN_OK; /* the time stays due */
        if (row->waiting_at_us)
            TRY(skip(it, row->waiting_at_us));
        break;
    case SCHEDULE_WAIT:
        break;
    }
    row->waiting_at_us = at_us;
    return start_waiting(it);
}

/* Of the times that have come, the next one.  Nothing ends while they are applied: if one missed time is
 * left out, or cancels those before it, the last one stands for all of them. */
static cairn_code apply_next(struct applying *it)
{
    struct schedule_row *row = it->row;
    const struct schedule_times *times = &it->clock->times;
    int64_t now_us = it->batch->tx->now_us;
    int64_t at_us = schedule_pick_us(times, row->catch_up, row->next_at_us, now_us);
    if (!at_us || at_us > now_us) {
        row->next_at_us = at_us;
        return CAIRN_OK;
    }
    enum schedule_act act =
        schedule_decide(row->overlap, it->open_count > 0, row->waiting_at_us != 0);
    if ((act == SCHEDULE_SKIP || act == SCHEDULE_CANCEL) && now_us - at_us > SCHEDULE_LATE_US)
        at_us = schedule_last_us(times, at_us, now_us - SCHEDULE_LATE_US - 1);
    TRY(apply_time(it, at_us, act));
    if (!it->is_busy)
        row->next_at_us = schedule_next_us(times, at_us);
    return CAIRN_OK;
}

static cairn_code apply_all(struct applying *it)
{
    struct schedule_row *row = it->row;
    int64_t now_us = it->batch->tx->now_us;
    TRY(load_open(it));
    TRY(start_waiting(it));
    while (!row->is_paused && !it->is_busy && row->next_at_us && row->next_at_us <= now_us &&
           it->start_count < STARTS_AT_ONCE)
        TRY(apply_next(it));
    row->due_at_us = row->is_paused ? 0 : row->next_at_us;
    return CAIRN_OK;
}

static cairn_code write(struct applying *it)
{
    struct batch *batch = it->batch;
    if (it->changed.count) {
        TRY(STORE(batch, put_schedule_runs, it->changed.items, it->changed.count));
        TRY(STORE(batch, drop_schedule_runs, it->row->name, SCHEDULE_RUNS_KEPT));
    }
    return STORE(batch, put_schedule, it->row);
}

static cairn_code apply_schedule(struct batch *batch, struct schedule_row *row)
{
    cleanup(schedule_clock_close) struct schedule_clock clock = {0};
    cairn_error error = {0};
    struct applying it = {.batch = batch, .row = row, .clock = &clock};
    if (!schedule_clock_open(row, &clock, &error)) {
        TRY(apply_all(&it));
        return write(&it);
    }
    notice_tell(&batch->engine->base, CAIRN_NOTICE_WARNING, "schedule_unreadable", NULL,
                "schedule \"%.64s\" cannot be applied: %s", row->name, error.message);
    row->due_at_us = row->is_paused ? 0 : batch->tx->now_us + UNKNOWN_ZONE_US;
    return STORE(batch, put_schedule, row);
}

cairn_code schedules_apply(struct batch *batch)
{
    size_t count = 0;
    struct schedule_row *rows = arena_array(&batch->arena, DUE_AT_ONCE, sizeof *rows);
    NEED(rows, batch->error);
    TRY(STORE(batch, find_due_schedules, rows, DUE_AT_ONCE, &count));
    for (size_t i = 0; i < count; i++)
        TRY(apply_schedule(batch, &rows[i]));
    return CAIRN_OK;
}
