/* tests/sim/snapshot.c - all rows of the store, read past the faults.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "sim.h"

#include "store/list.h"

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

/* What has come since the snapshot before, of all instances and jobs; one statement for each is much
 * quicker than one for each instance. */
struct found {
    struct event_row events[ALL_EVENTS_MAX];
    struct dlq_row records[ALL_RECORDS_MAX];
    size_t event_count, record_count;
};

static void find_all(struct sim *sim, struct store_tx *tx, struct found *found)
{
    cairn_error error;
    must(sim,
         sim->store->ops->list_events(tx, NULL, sim->before->last_event, found->events,
                                      ALL_EVENTS_MAX, &found->event_count, &error),
         &error);
    must(sim,
         sim->store->ops->list_dlq(tx, NULL, 0, found->records, ALL_RECORDS_MAX,
                                   &found->record_count, &error),
         &error);
    if (found->event_count == ALL_EVENTS_MAX || found->record_count == ALL_RECORDS_MAX)
        sim_broken(sim, "more happened at once than there is room for");
}

static struct event_row *events_of(const struct found *found, const char *id,
                                   struct arena *arena, size_t *ret_count)
{
    struct event_row *events = arena_array(arena, found->event_count, sizeof *events);
    *ret_count = 0;
    for (size_t i = 0; i < found->event_count; i++)
        if (strcmp(found->events[i].subject_id, id) == 0)
            events[(*ret_count)++] = found->events[i];
    return events;
}

/* The chain from a row to its events, read from either end, says what the list of all events says. */
static void check_chain(struct sim *sim, struct store_tx *tx, const char *id,
                        const struct event_row *events, size_t count)
{
    size_t room = count + 1, older = 0, newer = 0;
    cairn_error error;
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

static struct dlq_row *records_of(const struct found *found, const char *id,
                                  struct arena *arena, size_t *ret_count)
{
    struct dlq_row *records = arena_array(arena, found->record_count, sizeof *records);
    *ret_count = 0;
    for (size_t i = 0; i < found->record_count; i++)
        if (strcmp(found->records[i].instance_id, id) == 0)
            records[(*ret_count)++] = found->records[i];
    return records;
}

/* Only functions log. */
static void read_logs(struct sim *sim, struct store_tx *tx, struct seen_instance *seen)
{
    cairn_error error;
    const struct seen_instance *known = snapshot_find(sim->before, seen->row.id);
    int64_t last = known ? known->last_log : 0;
    seen->logs = arena_array(tx->arena, LOGS_MAX, sizeof *seen->logs);
    must(sim,
         sim->store->ops->list_logs(tx, seen->row.id, last, seen->logs, LOGS_MAX,
                                    &seen->log_count, &error),
         &error);
    seen->last_log = seen->log_count ? seen->logs[seen->log_count - 1].id : last;
}

static void read_instance(struct sim *sim, struct store_tx *tx, const struct found *found,
                          struct seen_instance *seen)
{
    cairn_error error;
    const struct seen_instance *known = snapshot_find(sim->before, seen->row.id);
    must(sim,
         sim->store->ops->list_steps(tx, seen->row.id, -1, false, seen->steps, STEPS_MAX,
                                     &seen->step_count, &error),
         &error);
    seen->log_count = 0;
    if (seen->row.is_function)
        read_logs(sim, tx, seen);
    seen->records = records_of(found, seen->row.id, tx->arena, &seen->record_count);
    seen->events = events_of(found, seen->row.id, tx->arena, &seen->event_count);
    check_chain(sim, tx, seen->row.id, seen->events, seen->event_count);
    seen->last_event = seen->event_count ? seen->events[seen->event_count - 1].id
                       : known           ? known->last_event
                                         : 0;
}

static void read_all(struct sim *sim, struct store_tx *tx, struct snapshot *ret)
{
    static struct found found;
    struct instance_row instances[INSTANCES_MAX + 1];
    struct job_row jobs[JOBS_MAX + 1];
    struct list_filter all = {0};
    struct list_end instances_end, jobs_end;
    cairn_error error;
    must(sim, list_instances(tx, &all, instances, INSTANCES_MAX + 1, &instances_end, &error),
         &error);
    must(sim, list_jobs(tx, &all, jobs, JOBS_MAX + 1, &jobs_end, &error), &error);
    ret->instance_count = instances_end.count;
    ret->job_count = jobs_end.count;
    if (ret->instance_count > INSTANCES_MAX || ret->job_count > JOBS_MAX)
        sim_broken(sim, "more was recorded than anybody asked for");
    find_all(sim, tx, &found);
    ret->last_event =
        found.event_count ? found.events[found.event_count - 1].id : sim->before->last_event;
    for (size_t i = 0; i < ret->instance_count; i++) {
        ret->instances[i].row = instances[ret->instance_count - 1 - i];
        read_instance(sim, tx, &found, &ret->instances[i]);
    }
    for (size_t i = 0; i < ret->job_count; i++) {
        struct seen_job *seen = &ret->jobs[i];
        seen->row = jobs[ret->job_count - 1 - i];
        seen->events = events_of(&found, seen->row.id, tx->arena, &seen->event_count);
        check_chain(sim, tx, seen->row.id, seen->events, seen->event_count);
    }
}

/* The rows are the same as before, and nothing has happened since. */
static void keep_snapshot(struct sim *sim)
{
    struct snapshot *now = sim->now;
    sim->before = now;
    now->now_us = clock_now_us(&sim->clock);
    for (size_t i = 0; i < now->instance_count; i++)
        now->instances[i].event_count = now->instances[i].log_count = 0;
    for (size_t i = 0; i < now->job_count; i++)
        now->jobs[i].event_count = 0;
}

void snapshot_take(struct sim *sim)
{
    int64_t changes = sim_changes();
    if (changes == sim->changes) {
        keep_snapshot(sim);
        return;
    }
    sim->changes = changes;
    sim->before = sim->now;
    sim->now = sim->now == &sim->snapshots[0] ? &sim->snapshots[1] : &sim->snapshots[0];
    arena_done(&sim->now->arena);
    sim->now->arena = (struct arena){0};
    struct store_tx *tx = begin(sim, &sim->now->arena);
    sim->now->now_us = tx->now_us;
    read_all(sim, tx, sim->now);
    finish(sim, tx);
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
