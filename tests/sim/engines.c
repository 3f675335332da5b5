/* tests/sim/engines.c - several engines on one store in memory, each with faults of its own.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * To open a store and to prepare statements takes longer than many a seed.  So all seeds of a program
 * use one store, and each begins by deleting all rows.  Only one transaction is open at any time, so
 * one session serves all engines and the simulator itself.
 */
#include "function.h"

#include "base/mem.h"
#include "store/sqlite/known.h"
#include "store/sqlite/sqlite.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct store *kept_store;
static struct store_session *kept_session;
static struct changes changes;
static sqlite3_stmt *deletions[64]; /* of all rows of each table */
static size_t deletion_count;

enum { ASKED = 32 };
static struct {
    char sql[512];
    sqlite3_stmt *handle;
} questions[ASKED];

/* ---- one store for all seeds ------------------------------------------------------------- */

static void close_kept(void)
{
    for (size_t i = 0; i < deletion_count; i++)
        sqlite3_finalize(deletions[i]);
    for (size_t i = 0; i < ASKED; i++)
        sqlite3_finalize(questions[i].handle);
    sqlite_session_close(kept_session);
    sqlite_close(kept_store);
}

/* Which row is written; what is rolled back then is one more that is looked at. */
static void note_change(void *arg, int op, const char *database, const char *table,
                        sqlite3_int64 row)
{
    (void)arg, (void)op, (void)database;
    int64_t seq = 0;
    if (strcmp(table, "workflow_step") == 0)
        seq = row >> 20; /* 0002_workflows.sql */
    else if (strcmp(table, "workflow_instance") == 0)
        seq = row;
    else if (strcmp(table, "workflow_run") == 0)
        changes.has_jobs = true;
    else if (strcmp(table, "workflow_dlq") == 0)
        changes.has_records = true;
    else if (strcmp(table, "workflow_log") == 0)
        changes.has_logs = true;
    else if (strcmp(table, "workflow_signal") == 0)
        changes.has_signals = true;
    for (size_t i = 0; i < changes.instance_count; i++)
        if (changes.instances[i] == seq)
            return;
    if (seq && changes.instance_count < CHANGED_MAX)
        changes.instances[changes.instance_count++] = seq;
    else if (seq)
        changes.is_all = true;
}

void sim_take_changes(struct changes *ret)
{
    *ret = changes;
    changes = (struct changes){0};
}

static int prepare_deletion(void *db, int columns, char **values, char **names)
{
    char sql[128];
    (void)columns, (void)names;
    if (deletion_count == sizeof deletions / sizeof *deletions)
        return 1;
    snprintf(sql, sizeof sql, "DELETE FROM %s", values[0]);
    return sqlite3_prepare_v2(db, sql, -1, &deletions[deletion_count++], NULL);
}

static void prepare_kept(void)
{
    sqlite3 *db = ((struct sqlite_session *)kept_session)->connection->db;
    if (sqlite3_exec(db,
                     "SELECT name FROM sqlite_schema"
                     " WHERE type = 'table' AND name <> 'workflow_migration'",
                     prepare_deletion, db, NULL) != SQLITE_OK)
        abort();
    known_observe(((struct sqlite_session *)kept_session)->known, note_change);
}

static void open_kept(struct sim *sim)
{
    cairn_error error;
    struct store_config config = {.url = "memory:", .clock = &sim->clock};
    if (store_open(&config, &kept_store, &error) ||
        sqlite_session_open(kept_store, SESSION_WRITER, &kept_session, &error))
        abort();
    prepare_kept();
    atexit(close_kept);
}

/* Deletes all rows but those that say which migrations were applied. */
static void empty_kept(void)
{
    struct connection *connection = ((struct sqlite_session *)kept_session)->connection;
    if (connection_exec(connection, "BEGIN IMMEDIATE") != SQLITE_OK)
        abort();
    for (size_t i = 0; i < deletion_count; i++)
        if (sqlite3_step(deletions[i]) != SQLITE_DONE ||
            sqlite3_reset(deletions[i]) != SQLITE_OK)
            abort();
    if (connection_exec(connection, "COMMIT") != SQLITE_OK)
        abort();
    changes = (struct changes){.is_all = true};
}

/* A policy that keeps everything, in place of the one that was deleted. */
static void keep_all(void)
{
    struct connection *connection = ((struct sqlite_session *)kept_session)->connection;
    if (connection_exec(connection,
                        "INSERT INTO workflow_retention (id, jobs_succeeded, jobs_failed,"
                        " jobs_cancelled, instances_completed, instances_failed,"
                        " instances_cancelled, instances_aborted, keys)"
                        " VALUES (1, -1, -1, -1, -1, -1, -1, -1, -1)") != SQLITE_OK)
        abort();
}

/* A statement is prepared once; those with numbers in them take turns. */
static sqlite3_stmt *asked(const struct sim *sim, const char *sql)
{
    static size_t next;
    sqlite3 *db = ((struct sqlite_session *)kept_session)->connection->db;
    for (size_t i = 0; i < ASKED; i++)
        if (strcmp(questions[i].sql, sql) == 0)
            return questions[i].handle;
    size_t at = next++ % ASKED;
    sqlite3_finalize(questions[at].handle);
    questions[at].handle = NULL;
    snprintf(questions[at].sql, sizeof questions[at].sql, "%s", sql);
    if (sqlite3_prepare_v2(db, sql, -1, &questions[at].handle, NULL) != SQLITE_OK)
        sim_broken(sim, "%s: %s", sql, sqlite3_errmsg(db));
    return questions[at].handle;
}

void sim_ask(const struct sim *sim, const char *sql,
             int (*note)(void *arg, int columns, char **values, char **names), void *arg)
{
    enum { VALUES = 16 };
    char *values[VALUES];
    sqlite3_stmt *handle = asked(sim, sql);
    int rc, columns = sqlite3_column_count(handle);
    while ((rc = sqlite3_step(handle)) == SQLITE_ROW) {
        for (int i = 0; i < columns && i < VALUES; i++)
            values[i] = (char *)(uintptr_t)sqlite3_column_text(handle, i);
        if (note(arg, columns, values, NULL))
            break;
    }
    sqlite3_reset(handle);
    if (rc != SQLITE_DONE)
        sim_broken(sim, "%s: no answer", sql);
}

static int note_number(void *arg, int columns, char **values, char **names)
{
    (void)columns, (void)names;
    *(int64_t *)arg = strtoll(values[0], NULL, 10);
    return 0;
}

int64_t sim_count(const struct sim *sim, const char *rows)
{
    char sql[512];
    int64_t count = 0;
    snprintf(sql, sizeof sql, "SELECT count(*) FROM %s", rows);
    sim_ask(sim, sql, note_number, &count);
    return count;
}

cairn_code sim_read_instance(struct store_tx *tx, const char *id, struct instance_row *ret_row,
                             cairn_error *reterr)
{
    cleanup(query_end) struct query query = query_begin(tx, Q_GET_INSTANCE, reterr);
    bind_text(&query, ":id", id);
    return row_find(&query, &instance_row_type, ret_row);
}

int64_t sim_changes(void)
{
    return sqlite3_total_changes64(((struct sqlite_session *)kept_session)->connection->db);
}

/* What an engine gets instead of the store: the same verbs, but its sessions are the one that is
 * there, and closing leaves all open. */
static cairn_code share_session(struct store *store, enum session_kind kind,
                                struct store_session **ret_session, cairn_error *reterr)
{
    (void)store, (void)kind, (void)reterr;
    *ret_session = kept_session;
    return CAIRN_OK;
}

static void leave_session(struct store_session *session)
{
    (void)session;
}

/* The simulator tells of news only when there is some. */
static bool is_changed(struct store_session *session)
{
    (void)session;
    return true;
}

static void leave_store(struct store *store)
{
    free(store);
}

static struct store *share(void)
{
    static struct store_ops ops;
    struct store *shared = calloc(1, sizeof *shared);
    if (!shared)
        abort();
    ops = sqlite_store_ops;
    ops.session_open = share_session;
    ops.session_close = leave_session;
    ops.is_changed_elsewhere = is_changed;
    ops.close = leave_store;
    *shared = (struct store){.ops = &ops, .clock = kept_store->clock};
    return shared;
}

/* ---- engines ----------------------------------------------------------------------------- */

static int64_t sim_time(void *arg)
{
    return clock_now_us(&((struct sim *)arg)->clock);
}

static void give_clock(struct sim *sim, struct local_engine *engine)
{
    if (sim->has_timers)
        clock_init_source(
            &engine->clock,
            &(struct clock_source){.wall_us = sim_time, .monotonic_us = sim_time, .arg = sim});
    else
        clock_set_us(&engine->clock, clock_now_us(&sim->clock));
}

/* Some batches write early what they have gathered, also twice in a row. */
static int count_flushes(void *arg)
{
    static const int counts[] = {0, 0, 0, 1, 2};
    return counts[rng_below(&((struct sim *)arg)->flush_rng, 5)];
}

void engine_open(struct sim *sim, int index)
{
    struct sim_engine *own = &sim->engines[index];
    cairn_error error;
    cairn_open_options options = CAIRN_OPEN_DEFAULTS;
    options.virtual_clock = !sim->has_timers;
    options.start_us = SIM_START_US;
    options.seed = rng_next(&sim->rng) | 1;
    options.retry_ms = 24 * 3600 * 1000; /* real time must not decide anything */
    double chance = sim->is_calm ? 0 : sim->fault_chance;
    own->faulty = faulty_wrap(share(), rng_next(&sim->rng) | 1, chance);
    if (!own->faulty || local_engine_new(&options, own->faulty, &own->engine, &error))
        abort();
    own->engine->sweeps.family_most = 2; /* most families go in several commits */
    own->engine->count_flushes = count_flushes;
    own->engine->flush_arg = sim;
    give_clock(sim, own->engine);
}

void engine_crash(struct sim *sim, int index)
{
    sim_trace(sim, "engine %d crashes", index);
    cairn_close(&sim->engines[index].engine->base);
    engine_open(sim, index);
}

void sim_open(struct sim *sim)
{
    clock_init_virtual(&sim->clock, SIM_START_US);
    if (!kept_store)
        open_kept(sim);
    kept_store->clock = &sim->clock;
    empty_kept();
    if (sim->has_retention)
        keep_all();
    sim->store = kept_store;
    sim->session = kept_session;
    for (int i = 0; i < ENGINES; i++)
        engine_open(sim, i);
    sim->snapshots = calloc(2, sizeof *sim->snapshots);
    sim->programs = calloc(FUNCTIONS_MAX, sizeof *sim->programs);
    sim->runners = calloc(RUNNERS_MAX, sizeof *sim->runners);
    memories_init(&sim->memories);
    sim->memories.least = sim->memories.more = 1; /* functions are short here */
    if (!sim->snapshots || !sim->programs || !sim->runners)
        abort();
    sim->now = sim->before = sim->snapshots;
    sim->changes = -1;
}

void sim_close(struct sim *sim)
{
    runners_kill(sim);
    for (int i = 0; i < ENGINES; i++)
        cairn_close(&sim->engines[i].engine->base);
    for (int i = 0; i < ENGINES; i++)
        request_free(sim->parked[i].request);
    snapshots_done(sim);
    free(sim->programs);
    free(sim->runners);
    memories_done(&sim->memories);
    free(sim->snapshots);
}

void sim_set_clock(struct sim *sim, int64_t now_us)
{
    clock_set_us(&sim->clock, now_us);
    for (int i = 0; i < ENGINES && !sim->has_timers; i++)
        clock_set_us(&sim->engines[i].engine->clock, now_us);
}

/* As watch() does, in a process of its own. */
static void tell_others(struct sim *sim, int index)
{
    for (int i = 0; i < ENGINES; i++)
        if (i != index)
            sim->engines[i].engine->is_foreign_news = true;
}

/* A committer that rests is woken early: how long it would rest is real time. */
bool sim_run_engine(struct sim *sim, int index)
{
    struct committer *committer = &sim->engines[index].engine->committers[0];
    committer->rest_until_us = 0;
    int64_t due_us = sim->has_timers ? sim_next_due(sim) : 0;
    bool has_run = committer_run_once(committer);
    if (sim->has_timers && sim_next_due(sim) != due_us)
        tell_others(sim, index);
    return has_run;
}

int64_t sim_engine_wakes(struct sim *sim, int index)
{
    struct local_engine *engine = sim->engines[index].engine;
    pthread_mutex_lock(&engine->lock);
    int64_t next_us = committer_next_us(&engine->committers[0]);
    pthread_mutex_unlock(&engine->lock);
    return next_us;
}
