/* tests/sim/snapshot.c - all rows of the store, read past the faults.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "sim.h"

#include "store/list.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void must(const struct sim *sim, cairn_code code, const cairn_error *error)
{
    if (code)
        sim_broken(sim, "could not look at the store: %s", error->message);
}

static struct store_tx *begin(struct sim *sim, struct arena *arena)
{
    struct store_tx *tx;
    cairn_error error;
    must(sim, sim->store->ops->begin(sim->session, arena, &tx, &error), &error);
    return tx;
}

static void finish(struct sim *sim, struct store_tx *tx)
{
    cairn_error error;
    must(sim, sim->store->ops->commit(tx, false, &error), &error);
}

/* ---- rows that are shared ------------------------------------------------------------------ */

static struct kept_rows *kept_new(void)
{
    struct kept_rows *kept = calloc(1, sizeof *kept);
    if (!kept)
        abort();
    kept->refs = 1;
    return kept;
}

static struct kept_rows *kept_share(struct kept_rows *kept)
{
    if (kept)
        kept->refs++;
    return kept;
}

static void kept_drop(struct kept_rows *kept)
{
    if (!kept || --kept->refs)
        return;
    arena_done(&kept->arena);
    free(kept);
}

static void forget(struct snapshot *snapshot)
{
    for (size_t i = 0; i < snapshot->instance_count; i++)
        kept_drop(snapshot->instances[i].kept);
    kept_drop(snapshot->kept_jobs);
    kept_drop(snapshot->kept_records);
    arena_done(&snapshot->arena);
    snapshot->arena = (struct arena){0};
    snapshot->kept_jobs = snapshot->kept_records = NULL;
    snapshot->instance_count = snapshot->job_count = snapshot->record_count = 0;
}

void snapshots_done(struct sim *sim)
{
    forget(&sim->snapshots[0]);
    forget(&sim->snapshots[1]);
}

/* ---- events -------------------------------------------------------------------------------- */

/* Of all instances and jobs; one statement is much quicker than one for each instance. */
struct found {
    struct event_row events[ALL_EVENTS_MAX];
    size_t count;
};

static void find_events(struct sim *sim, struct store_tx *tx, int64_t after,
                        struct found *found)
{
    enum { USUAL = 64 };
    cairn_error error;
    for (size_t room = USUAL;; room = ALL_EVENTS_MAX) {
        must(sim,
             sim->store->ops->list_events(tx, NULL, after, found->events, room, &found->count,
                                          &error),
             &error);
        if (found->count < room)
            return;
        if (room == ALL_EVENTS_MAX)
            sim_broken(sim, "more happened at once than there is room for");
    }
}

static struct event_row *events_of(const struct found *found, const char *id,
                                   struct arena *arena, size_t *ret_count)
{
    size_t count = 0;
    for (size_t i = 0; i < found->count; i++)
        count += strcmp(found->events[i].subject_id, id) == 0;
    struct event_row *events = arena_array(arena, count, sizeof *events);
    *ret_count = 0;
    for (size_t i = 0; i < found->count && count; i++)
        if (strcmp(found->events[i].subject_id, id) == 0)
            events[(*ret_count)++] = found->events[i];
    return events;
}

/* The chain from a row to its events, read from either end, says what the list of all events says. */
static void check_chain(struct sim *sim, struct store_tx *tx, const char *id,
                        const struct found *found)
{
    size_t count = 0, older = 0, newer = 0;
    cairn_error error;
    const struct event_row *events = events_of(found, id, tx->arena, &count);
    size_t room = count + 1;
    struct event_row *rows = arena_array(tx->arena, room * 2, sizeof *rows);
    if (count == 0)
        return;
    must(sim,
         sim->store->ops->list_events(tx, id, events[0].id - 1, rows, room, &older, &error),
         &error);
    must(sim,
         sim->store->ops->list_events_before(tx, id, 0, rows + room, count, &newer, &error),
         &error);
    if (older != count || newer != count)
        sim_broken(sim, "%s has %zu new events, its chain %zu and %zu", id, count, older,
                   newer);
    for (size_t i = 0; i < count; i++)
        if (rows[i].id != events[i].id || rows[room + count - 1 - i].id != events[i].id ||
            strcmp(rows[i].type, events[i].type) != 0 ||
            strcmp(rows[i].data, events[i].data) != 0)
            sim_broken(sim, "event %zu of %s is another one in its chain", i, id);
}

void snapshot_check_chains(struct sim *sim)
{
    static struct found found;
    struct arena arena = {0};
    struct store_tx *tx = begin(sim, &arena);
    find_events(sim, tx, sim->chained_event, &found);
    for (size_t i = 0; i < sim->now->instance_count; i++)
        check_chain(sim, tx, sim->now->instances[i].row.id, &found);
    for (size_t i = 0; i < sim->now->job_count; i++)
        check_chain(sim, tx, sim->now->jobs[i].row.id, &found);
    if (found.count)
        sim->chained_event = found.events[found.count - 1].id;
    sim->unchained = 0;
    finish(sim, tx);
    arena_done(&arena);
}

/* ---- instances ----------------------------------------------------------------------------- */

/* Only functions log. */
static void read_logs(struct sim *sim, struct store_tx *tx, const struct seen_instance *known,
                      struct seen_instance *seen)
{
    cairn_error error;
    int64_t last = known ? known->last_log : 0;
    seen->logs = arena_array(tx->arena, LOGS_MAX, sizeof *seen->logs);
    must(sim,
         sim->store->ops->list_logs(tx, seen->row.id, last, seen->logs, LOGS_MAX,
                                    &seen->log_count, &error),
         &error);
    seen->last_log = seen->log_count ? seen->logs[seen->log_count - 1].id : last;
}

static void read_steps(struct sim *sim, struct store_tx *tx, struct seen_instance *seen)
{
    static struct step_row rows[STEPS_MAX];
    cairn_error error;
    must(sim,
         sim->store->ops->list_steps(tx, seen->row.id, -1, false, rows, STEPS_MAX,
                                     &seen->step_count, &error),
         &error);
    seen->steps = arena_array(tx->arena, seen->step_count, sizeof *rows);
    memcpy(seen->steps, rows, seen->step_count * sizeof *rows);
}

/* Reads one anew; false: it is not there any more. */
static bool read_instance(struct sim *sim, struct store_tx *tx, const char *id,
                          const struct seen_instance *known, struct seen_instance *seen)
{
    cairn_error error;
    struct arena *arena = tx->arena;
    *seen = (struct seen_instance){.kept = kept_new(), .is_changed = true};
    tx->arena = &seen->kept->arena;
    cairn_code code = sim_read_instance(tx, id, &seen->row, &error);
    if (!code)
        read_steps(sim, tx, seen);
    tx->arena = arena;
    if (code == CAIRN_E_NOT_FOUND) {
        kept_drop(seen->kept);
        return false;
    }
    must(sim, code, &error);
    seen->last_event = known ? known->last_event : 0;
    if (seen->row.is_function)
        read_logs(sim, tx, known, seen);
    return true;
}

static bool is_among(const struct changes *changes, const struct instance_row *row)
{
    if (changes->is_all || (changes->has_logs && row->is_function))
        return true;
    for (size_t i = 0; i < changes->instance_count; i++)
        if (changes->instances[i] == row->seq)
            return true;
    return false;
}

/* Those that were there before, in the same order. */
static void read_known(struct sim *sim, struct store_tx *tx, const struct changes *changes,
                       struct snapshot *ret)
{
    for (size_t i = 0; i < sim->before->instance_count; i++) {
        const struct seen_instance *known = &sim->before->instances[i];
        struct seen_instance *seen = &ret->instances[ret->instance_count];
        if (is_among(changes, &known->row)) {
            ret->instance_count += read_instance(sim, tx, known->row.id, known, seen);
            continue;
        }
        *seen = *known;
        kept_share(seen->kept);
        seen->is_changed = false;
        seen->event_count = seen->log_count = 0;
        ret->instance_count++;
    }
}

struct new_ids {
    char ids[INSTANCES_MAX][ID_TEXT];
    size_t count;
};

static int note_id(void *arg, int columns, char **values, char **names)
{
    struct new_ids *found = arg;
    (void)columns, (void)names;
    if (found->count == INSTANCES_MAX)
        return 1;
    snprintf(found->ids[found->count++], ID_TEXT, "%s", values[0]);
    return 0;
}

/* And those behind them. */
static void read_new(struct sim *sim, struct store_tx *tx, const struct changes *changes,
                     struct snapshot *ret)
{
    static struct new_ids found;
    int64_t last = sim->before->last_seq;
    char sql[128];
    bool is_any = changes->is_all;
    for (size_t i = 0; i < changes->instance_count; i++)
        is_any |= changes->instances[i] > last;
    ret->last_seq = last;
    if (!is_any)
        return;
    found.count = 0;
    snprintf(sql, sizeof sql, "SELECT id FROM workflow_instance WHERE seq > %lld ORDER BY seq",
             (long long)last);
    sim_ask(sim, sql, note_id, &found);
    if (ret->instance_count + found.count > INSTANCES_MAX)
        sim_broken(sim, "more was recorded than anybody asked for");
    for (size_t i = 0; i < found.count; i++) {
        struct seen_instance *seen = &ret->instances[ret->instance_count];
        ret->instance_count += read_instance(sim, tx, found.ids[i], NULL, seen);
        ret->last_seq = seen->row.seq;
    }
}

/* ---- dead letters and jobs ------------------------------------------------------------------ */

static void read_records(struct sim *sim, struct store_tx *tx, struct snapshot *ret)
{
    static struct dlq_row rows[ALL_RECORDS_MAX];
    cairn_error error;
    struct arena *arena = tx->arena;
    ret->kept_records = kept_new();
    tx->arena = &ret->kept_records->arena;
    must(sim,
         sim->store->ops->list_dlq(tx, NULL, 0, rows, ALL_RECORDS_MAX, &ret->record_count,
                                   &error),
         &error);
    if (ret->record_count == ALL_RECORDS_MAX)
        sim_broken(sim, "there are more dead letters than there is room for");
    ret->records = arena_array(tx->arena, ret->record_count, sizeof *rows);
    memcpy(ret->records, rows, ret->record_count * sizeof *rows);
    tx->arena = arena;
}

static void share_records(struct sim *sim, struct snapshot *ret)
{
    ret->kept_records = kept_share(sim->before->kept_records);
    ret->records = sim->before->records;
    ret->record_count = sim->before->record_count;
}

static void find_records(struct snapshot *snapshot, struct seen_instance *seen)
{
    seen->records =
        arena_array(&snapshot->arena, snapshot->record_count, sizeof *seen->records);
    seen->record_count = 0;
    for (size_t i = 0; i < snapshot->record_count; i++)
        if (strcmp(snapshot->records[i].instance_id, seen->row.id) == 0)
            seen->records[seen->record_count++] = snapshot->records[i];
}

static void read_jobs(struct sim *sim, struct store_tx *tx, struct snapshot *ret)
{
    struct job_row jobs[JOBS_MAX + 1];
    struct list_filter all = {0};
    struct list_end end;
    cairn_error error;
    struct arena *arena = tx->arena;
    ret->kept_jobs = kept_new();
    tx->arena = &ret->kept_jobs->arena;
    must(sim, list_jobs(tx, &all, jobs, JOBS_MAX + 1, &end, &error), &error);
    tx->arena = arena;
    if (end.count > JOBS_MAX)
        sim_broken(sim, "more was recorded than anybody asked for");
    ret->job_count = end.count;
    for (size_t i = 0; i < ret->job_count; i++)
        ret->jobs[i] = (struct seen_job){.row = jobs[ret->job_count - 1 - i]};
}

static void share_jobs(struct sim *sim, struct snapshot *ret)
{
    ret->kept_jobs = kept_share(sim->before->kept_jobs);
    ret->job_count = sim->before->job_count;
    for (size_t i = 0; i < ret->job_count; i++)
        ret->jobs[i] = (struct seen_job){.row = sim->before->jobs[i].row};
}

/* ---- all of it ------------------------------------------------------------------------------ */

static void share_events(struct sim *sim, const struct found *found, struct snapshot *ret)
{
    ret->last_event =
        found->count ? found->events[found->count - 1].id : sim->before->last_event;
    for (size_t i = 0; i < ret->instance_count && found->count; i++) {
        struct seen_instance *seen = &ret->instances[i];
        seen->events = events_of(found, seen->row.id, &ret->arena, &seen->event_count);
        if (seen->event_count)
            seen->last_event = seen->events[seen->event_count - 1].id;
        seen->is_changed |= seen->event_count > 0;
    }
    for (size_t i = 0; i < ret->job_count && found->count; i++)
        ret->jobs[i].events =
            events_of(found, ret->jobs[i].row.id, &ret->arena, &ret->jobs[i].event_count);
}

static void read_all(struct sim *sim, struct store_tx *tx, const struct changes *changes,
                     struct snapshot *ret)
{
    static struct found found;
    ret->has_signals = changes->is_all || changes->has_signals;
    read_known(sim, tx, changes, ret);
    read_new(sim, tx, changes, ret);
    if (changes->is_all || changes->has_records)
        read_records(sim, tx, ret);
    else
        share_records(sim, ret);
    for (size_t i = 0; i < ret->instance_count; i++)
        find_records(ret, &ret->instances[i]);
    if (changes->is_all || changes->has_jobs)
        read_jobs(sim, tx, ret);
    else
        share_jobs(sim, ret);
    find_events(sim, tx, sim->before->last_event, &found);
    share_events(sim, &found, ret);
}

/* The rows are the same as before, and nothing has happened since. */
static void keep_snapshot(struct sim *sim)
{
    struct snapshot *now = sim->now;
    sim->before = now;
    now->now_us = clock_now_us(&sim->clock);
    now->has_signals = false;
    for (size_t i = 0; i < now->instance_count; i++) {
        now->instances[i].event_count = now->instances[i].log_count = 0;
        now->instances[i].is_changed = false;
    }
    for (size_t i = 0; i < now->job_count; i++)
        now->jobs[i].event_count = 0;
}

enum { UNCHAINED_MAX = 12 };

void snapshot_take(struct sim *sim)
{
    struct changes which;
    int64_t changes = sim_changes();
    if (changes == sim->changes) {
        keep_snapshot(sim);
        return;
    }
    sim->changes = changes;
    sim_take_changes(&which);
    sim->before = sim->now;
    sim->now = sim->now == &sim->snapshots[0] ? &sim->snapshots[1] : &sim->snapshots[0];
    forget(sim->now);
    struct store_tx *tx = begin(sim, &sim->now->arena);
    sim->now->now_us = tx->now_us;
    read_all(sim, tx, &which, sim->now);
    finish(sim, tx);
    if (++sim->unchained == UNCHAINED_MAX)
        snapshot_check_chains(sim);
}

const struct seen_instance *snapshot_find(const struct snapshot *snapshot, const char *id)
{
    for (size_t i = 0; i < snapshot->instance_count; i++)
        if (strcmp(snapshot->instances[i].row.id, id) == 0)
            return &snapshot->instances[i];
    return NULL;
}

const struct step_row *snapshot_step(const struct snapshot *snapshot, const char *task_id)
{
    char id[ID_TEXT] = "";
    const char *dot = strchr(task_id, '.');
    if (!dot || dot - task_id >= ID_TEXT)
        return NULL;
    memcpy(id, task_id, (size_t)(dot - task_id));
    const struct seen_instance *instance = snapshot_find(snapshot, id);
    return instance ? seen_step(instance, atoi(dot + 1)) : NULL;
}

/* A function may have forgotten some; a workflow has all. */
const struct step_row *seen_step(const struct seen_instance *instance, int32_t place)
{
    size_t last = instance->step_count;
    for (size_t i = (size_t)place < last ? (size_t)place + 1 : last; i > 0; i--)
        if (instance->steps[i - 1].seq == place)
            return &instance->steps[i - 1];
    return NULL;
}

const struct step_row *seen_key(const struct seen_instance *instance, const char *name)
{
    for (size_t i = 0; i < instance->step_count; i++)
        if (strcmp(instance->steps[i].name, name) == 0)
            return &instance->steps[i];
    return NULL;
}

const struct seen_job *snapshot_job(const struct snapshot *snapshot, const char *id)
{
    for (size_t i = 0; i < snapshot->job_count; i++)
        if (strcmp(snapshot->jobs[i].row.id, id) == 0)
            return &snapshot->jobs[i];
    return NULL;
}

int64_t sim_next_due(struct sim *sim)
{
    struct arena arena = {0};
    struct due_times due = {0};
    cairn_error error;
    struct store_tx *tx = begin(sim, &arena);
    must(sim, sim->store->ops->next_due(tx, &due, &error), &error);
    finish(sim, tx);
    arena_done(&arena);
    return due_first(&due);
}

int sim_count_logs(struct sim *sim, const char *instance_id, const char *message)
{
    struct arena arena = {0};
    struct log_row rows[LOGS_MAX];
    cairn_error error;
    size_t count = 0;
    int found = 0;
    size_t len = strlen(message);
    bool is_beginning = len && message[len - 1] == ':';
    struct store_tx *tx = begin(sim, &arena);
    must(sim, sim->store->ops->list_logs(tx, instance_id, 0, rows, LOGS_MAX, &count, &error),
         &error);
    for (size_t i = 0; i < count; i++)
        found += is_beginning ? strncmp(rows[i].message, message, len) == 0
                              : strcmp(rows[i].message, message) == 0;
    finish(sim, tx);
    arena_done(&arena);
    return found;
}

bool sim_has_signal(struct sim *sim, const char *instance_id, const char *event,
                    int64_t until_us)
{
    struct arena arena = {0};
    struct signal_row row;
    cairn_error error;
    struct store_tx *tx = begin(sim, &arena);
    cairn_code code =
        sim->store->ops->find_signal(tx, instance_id, event, until_us, &row, &error);
    finish(sim, tx);
    arena_done(&arena);
    return code == CAIRN_OK;
}
