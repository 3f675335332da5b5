/* cli/bench_flow_raw_sqlite.c - the bare statements for workflows on SQLite.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "base/clock.h"
#include "base/mem.h"
#include "cli/bench_flow.h"
#include "cli/say.h"

#include <sqlite3.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

enum {
    STATEMENT_INSTANCE,
    STATEMENT_STEP,
    STATEMENT_LEASE,
    STATEMENT_COMPLETE,
    STATEMENT_READY,
    STATEMENT_MOVE,
    STATEMENT_FINISH,
    STATEMENT_EVENT,
    STATEMENTS
};

/* What each change sets, and no more: not the columns that stay as they are. */
static const char *const statements[STATEMENTS] = {
    [STATEMENT_INSTANCE] =
        "INSERT INTO workflow_instance (id, workflow, version, status, generation, created_at, "
        "updated_at, started_at, is_dlq, has_compensation, goal, is_undo_failed, undo_from, "
        "undo_to, undo_below, commits, active_count, wait_count, sleep_count, decision_count, "
        "parked_count, awaited_count, input) "
        "VALUES (?1, ?2, 1, 'running', 1, ?3, ?3, ?3, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, "
        "0, "
        "?4)",
    [STATEMENT_STEP] =
        "INSERT INTO workflow_step (id, name, kind, handler, max_attempts, priority, next, "
        "scope_from, scope_to, status, attempts, compensation_attempts, next_run_at, is_ready, "
        "is_held, is_current, task_type, stop, is_timed_out, remaining, updated_at, input) "
        "VALUES (?1, ?2, 'task', ?3, 3, 50, ?4, 0, ?11, ?5, 0, 0, ?6, ?7, 0, ?7, ?8, 0, 0, 0, "
        "?9, ?10)",
    [STATEMENT_LEASE] =
        "UPDATE workflow_step SET status = 'running', is_ready = 0, locked_by = ?2, token = "
        "?3, "
        "locked_until = ?4, due_at = ?4 + 1, started_at = ?5, updated_at = ?5 WHERE id = ?1",
    [STATEMENT_COMPLETE] =
        "UPDATE workflow_step SET status = 'completed', commit_no = ?2, finished_at = ?3, "
        "is_current = 0, due_at = NULL, locked_by = NULL, token = NULL, locked_until = NULL, "
        "ended_by = ?4, ended_token = ?5, updated_at = ?3, output = ?6 WHERE id = ?1",
    [STATEMENT_READY] =
        "UPDATE workflow_step SET status = 'ready', next_run_at = ?2, is_ready = 1, "
        "is_current = 1, task_type = ?3, updated_at = ?2, input = ?4 WHERE id = ?1",
    [STATEMENT_MOVE] =
        "UPDATE workflow_instance SET commits = ?2, updated_at = ?3 WHERE seq = ?1",
    [STATEMENT_FINISH] =
        "UPDATE workflow_instance SET status = 'completed', commits = ?2, active_count = 0, "
        "finished_at = ?3, updated_at = ?3, output = ?4 WHERE seq = ?1",
    [STATEMENT_EVENT] =
        "INSERT INTO workflow_event (workflow_id, event_type, step, data, created_at) "
        "VALUES (?1, ?2, ?3, ?4, ?5)",
};

struct raw_lite {
    sqlite3 *db;
    sqlite3_stmt *statements[STATEMENTS];
    struct clock clock;
    struct raw_plan plan;
    int64_t now_us; /* of the transaction */
};

static void close_raw(void *arg)
{
    struct raw_lite *raw = arg;
    for (int i = 0; i < STATEMENTS; i++)
        sqlite3_finalize(raw->statements[i]);
    sqlite3_close(raw->db);
    mem_free(raw);
}

static bool refused(struct raw_lite *raw)
{
    say_error("could not run the bare statements: %s", sqlite3_errmsg(raw->db));
    return false;
}

static bool run_sql(struct raw_lite *raw, const char *sql)
{
    return sqlite3_exec(raw->db, sql, NULL, NULL, NULL) == SQLITE_OK || refused(raw);
}

static bool prepare(struct raw_lite *raw)
{
    if (!run_sql(raw, RAW_SQLITE_SETTINGS))
        return false;
    for (int i = 0; i < STATEMENTS; i++)
        if (sqlite3_prepare_v3(raw->db, statements[i], -1, SQLITE_PREPARE_PERSISTENT,
                               &raw->statements[i], NULL))
            return refused(raw);
    return true;
}

static bool open_raw(const char *url, const struct raw_plan *plan, void **ret_raw)
{
    if (!raw_sqlite_tables(url))
        return false;
    struct raw_lite *raw = mem_zalloc(sizeof *raw);
    if (!raw)
        return false;
    raw->plan = *plan;
    clock_init_real(&raw->clock);
    if (sqlite3_open(url + strlen("sqlite:"), &raw->db) || !prepare(raw)) {
        close_raw(raw);
        return false;
    }
    *ret_raw = raw;
    return true;
}

/* ---- rows ------------------------------------------------------------------------------- */

/* Values in the order of the statement's numbers: 'i' an integer, 't' a text or NULL. */
static bool run(struct raw_lite *raw, int which, const char *kinds, ...)
{
    sqlite3_stmt *statement = raw->statements[which];
    va_list values;
    va_start(values, kinds);
    for (int i = 0; kinds[i]; i++) {
        if (kinds[i] == 'i') {
            sqlite3_bind_int64(statement, i + 1, va_arg(values, int64_t));
            continue;
        }
        const char *text = va_arg(values, const char *);
        if (text)
            sqlite3_bind_text(statement, i + 1, text, -1, SQLITE_STATIC);
        else
            sqlite3_bind_null(statement, i + 1);
    }
    va_end(values);
    bool is_done = sqlite3_step(statement) == SQLITE_DONE;
    sqlite3_reset(statement);
    return is_done || refused(raw);
}

static bool event(struct raw_lite *raw, const struct raw_instance *instance, const char *type,
                  const char *step, const char *data)
{
    return run(raw, STATEMENT_EVENT, "tttti", instance->id, type, step, data, raw->now_us);
}

static int64_t step_id(const struct raw_instance *instance, int32_t place)
{
    return instance->seq * (INT64_C(1) << 20) + place;
}

static bool insert_step(struct raw_lite *raw, const struct raw_instance *instance,
                        int32_t place)
{
    char name[16];
    bool is_first = place == 0;
    sqlite3_stmt *statement = raw->statements[STATEMENT_STEP];
    snprintf(name, sizeof name, RAW_STEP_NAME, (int)place);
    sqlite3_bind_int64(statement, 1, step_id(instance, place));
    sqlite3_bind_text(statement, 2, name, -1, SQLITE_STATIC);
    sqlite3_bind_text(statement, 3, raw->plan.type, -1, SQLITE_STATIC);
    if (place + 1 < raw->plan.steps)
        sqlite3_bind_int64(statement, 4, place + 1);
    sqlite3_bind_text(statement, 5, is_first ? "ready" : "pending", -1, SQLITE_STATIC);
    if (is_first) {
        sqlite3_bind_int64(statement, 6, raw->now_us);
        sqlite3_bind_text(statement, 8, raw->plan.type, -1, SQLITE_STATIC);
        sqlite3_bind_text(statement, 10, RAW_PAYLOAD, -1, SQLITE_STATIC);
    }
    sqlite3_bind_int64(statement, 7, is_first);
    sqlite3_bind_int64(statement, 9, raw->now_us);
    sqlite3_bind_int64(statement, 11, raw->plan.steps - 1);
    bool is_done = sqlite3_step(statement) == SQLITE_DONE;
    sqlite3_reset(statement);
    sqlite3_clear_bindings(statement);
    return is_done || refused(raw);
}

static bool start_one(struct raw_lite *raw, struct raw_instance *instance)
{
    char name[16];
    snprintf(name, sizeof name, RAW_STEP_NAME, 0);
    if (!run(raw, STATEMENT_INSTANCE, "ttit", instance->id, raw->plan.workflow, raw->now_us,
             RAW_PAYLOAD))
        return false;
    instance->seq = sqlite3_last_insert_rowid(raw->db);
    for (int32_t place = 0; place < raw->plan.steps; place++)
        if (!insert_step(raw, instance, place))
            return false;
    return event(raw, instance, "workflow_started", NULL, RAW_RUNNING_DATA) &&
           event(raw, instance, "step_ready", name, RAW_READY_DATA);
}

static bool complete_one(struct raw_lite *raw, uint64_t at)
{
    char name[16], next[16];
    const struct raw_instance *instance = raw_instance_at(&raw->plan, at);
    int32_t place = raw_place_at(&raw->plan, at);
    int64_t commits = place + 1;
    snprintf(name, sizeof name, RAW_STEP_NAME, (int)place);
    snprintf(next, sizeof next, RAW_STEP_NAME, (int)place + 1);
    if (!run(raw, STATEMENT_COMPLETE, "iiittt", step_id(instance, place), commits, raw->now_us,
             BENCH_WORKER, RAW_TOKEN, RAW_PAYLOAD) ||
        !event(raw, instance, "step_completed", name, RAW_COMPLETED_DATA))
        return false;
    if (place + 1 == raw->plan.steps)
        return run(raw, STATEMENT_FINISH, "iiit", instance->seq, commits, raw->now_us,
                   RAW_PAYLOAD) &&
               event(raw, instance, "workflow_completed", NULL, RAW_COMPLETED_DATA);
    return run(raw, STATEMENT_READY, "iitt", step_id(instance, place + 1), raw->now_us,
               raw->plan.type, RAW_PAYLOAD) &&
           run(raw, STATEMENT_MOVE, "iii", instance->seq, commits, raw->now_us) &&
           event(raw, instance, "step_ready", next, RAW_READY_DATA);
}

static bool lease_one(struct raw_lite *raw, uint64_t at)
{
    char name[16];
    const struct raw_instance *instance = raw_instance_at(&raw->plan, at);
    int32_t place = raw_place_at(&raw->plan, at);
    snprintf(name, sizeof name, RAW_STEP_NAME, (int)place);
    return run(raw, STATEMENT_LEASE, "ittii", step_id(instance, place), BENCH_WORKER, RAW_TOKEN,
               raw->now_us + 30 * US_PER_SEC, raw->now_us) &&
           event(raw, instance, "step_started", name, RAW_STARTED_DATA);
}

/* ---- transactions ----------------------------------------------------------------------- */

static bool start(void *arg, uint64_t from, size_t count)
{
    struct raw_lite *raw = arg;
    raw->now_us = clock_now_us(&raw->clock);
    if (!run_sql(raw, "BEGIN IMMEDIATE"))
        return false;
    for (size_t i = 0; i < count; i++)
        if (!start_one(raw, &raw->plan.instances[from + i]))
            return false;
    return run_sql(raw, "COMMIT");
}

static bool turn(void *arg, struct raw_steps done, struct raw_steps next)
{
    struct raw_lite *raw = arg;
    raw->now_us = clock_now_us(&raw->clock);
    if (!run_sql(raw, "BEGIN IMMEDIATE"))
        return false;
    for (size_t i = 0; i < done.count; i++)
        if (!complete_one(raw, done.at + i))
            return false;
    for (size_t i = 0; i < next.count; i++)
        if (!lease_one(raw, next.at + i))
            return false;
    return run_sql(raw, "COMMIT");
}

/* ---- sizes ------------------------------------------------------------------------------ */

static int64_t *size_of(struct flow_sizes *sizes, const char *table)
{
    if (strcmp(table, "workflow_instance") == 0)
        return &sizes->instances;
    if (strcmp(table, "workflow_step") == 0)
        return &sizes->steps;
    return strcmp(table, "workflow_event") == 0 ? &sizes->events : NULL;
}

/* By way of the table dbstat, which not every SQLite is built with. */
static bool sizes(const char *url, struct flow_sizes *ret_sizes)
{
    sqlite3 *db = NULL;
    sqlite3_stmt *statement = NULL;
    struct flow_sizes found = {0};
    int rc = sqlite3_open_v2(url + strlen("sqlite:"), &db, SQLITE_OPEN_READONLY, NULL);
    if (!rc)
        rc = sqlite3_prepare_v2(db,
                                "SELECT s.tbl_name, sum(d.pgsize) FROM dbstat AS d JOIN "
                                "sqlite_schema AS s ON s.name = d.name WHERE d.aggregate = 1 "
                                "GROUP BY s.tbl_name",
                                -1, &statement, NULL);
    while (!rc && (rc = sqlite3_step(statement)) == SQLITE_ROW) {
        int64_t *size = size_of(&found, (const char *)sqlite3_column_text(statement, 0));
        if (size)
            *size = sqlite3_column_int64(statement, 1);
        rc = SQLITE_OK;
    }
    sqlite3_finalize(statement);
    sqlite3_close(db);
    if (rc == SQLITE_DONE)
        *ret_sizes = found;
    return rc == SQLITE_DONE;
}

const struct raw_flow_ops raw_flow_sqlite = {
    .open = open_raw, .start = start, .turn = turn, .close = close_raw, .sizes = sizes};
