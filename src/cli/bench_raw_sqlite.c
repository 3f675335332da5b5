/* cli/bench_raw_sqlite.c - the bare statements on SQLite.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "base/clock.h"
#include "base/mem.h"
#include "cli/bench.h"
#include "cli/say.h"

#include <sqlite3.h>
#include <string.h>

enum { STATEMENT_INSERT, STATEMENT_LEASE, STATEMENT_COMPLETE, STATEMENT_EVENT, STATEMENTS };

static const char *const statements[STATEMENTS] = {
    [STATEMENT_INSERT] =
        "INSERT INTO workflow_run (id, type, payload, status, priority, run_at, attempt, "
        "max_attempts, created_at, updated_at, is_ready) "
        "VALUES (?1, ?2, ?3, 'pending', 100, ?4, 0, 3, ?4, ?4, 1)",
    [STATEMENT_LEASE] =
        "UPDATE workflow_run SET status = 'leased', is_ready = 0, leased_by = ?2, "
        "lease_until = ?3, lease_token = ?4, updated_at = ?5 WHERE seq = ?1",
    [STATEMENT_COMPLETE] =
        "UPDATE workflow_run SET status = 'succeeded', is_ready = 0, leased_by = NULL, "
        "lease_until = NULL, lease_token = NULL, ended_by = ?2, ended_token = ?3, "
        "result = 'null', updated_at = ?4 WHERE seq = ?1",
    [STATEMENT_EVENT] =
        "INSERT INTO workflow_event (workflow_id, event_type, data, created_at) "
        "VALUES (?1, ?2, ?3, ?4)",
};

struct raw_lite {
    sqlite3 *db;
    sqlite3_stmt *statements[STATEMENTS];
    struct clock clock;
    const char *type;
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

bool raw_sqlite_tables(const char *url)
{
    cairn_error error = {0};
    cairn_engine *engine = NULL;
    cairn_open_options options = CAIRN_OPEN_DEFAULTS;
    options.url = url;
    if (cairn_open(&options, &engine, &error)) {
        say_failure(&error);
        return false;
    }
    cairn_close(engine);
    return true;
}

static bool open_raw(const char *url, const char *type, void **ret_raw)
{
    if (!raw_sqlite_tables(url))
        return false;
    struct raw_lite *raw = mem_zalloc(sizeof *raw);
    if (!raw)
        return false;
    raw->type = type;
    clock_init_real(&raw->clock);
    if (sqlite3_open(url + strlen("sqlite:"), &raw->db) || !prepare(raw)) {
        close_raw(raw);
        return false;
    }
    *ret_raw = raw;
    return true;
}

static bool step(struct raw_lite *raw, int which)
{
    sqlite3_stmt *statement = raw->statements[which];
    bool is_done = sqlite3_step(statement) == SQLITE_DONE;
    sqlite3_reset(statement);
    return is_done || refused(raw);
}

static void bind_text(sqlite3_stmt *statement, int at, const char *text)
{
    sqlite3_bind_text(statement, at, text, -1, SQLITE_STATIC);
}

static bool event(struct raw_lite *raw, const char *id, const char *type, const char *data,
                  int64_t now_us)
{
    sqlite3_stmt *statement = raw->statements[STATEMENT_EVENT];
    bind_text(statement, 1, id);
    bind_text(statement, 2, type);
    bind_text(statement, 3, data);
    sqlite3_bind_int64(statement, 4, now_us);
    return step(raw, STATEMENT_EVENT);
}

static bool insert_one(struct raw_lite *raw, struct raw_job *job, int64_t now_us)
{
    sqlite3_stmt *statement = raw->statements[STATEMENT_INSERT];
    bind_text(statement, 1, job->id);
    bind_text(statement, 2, raw->type);
    bind_text(statement, 3, RAW_PAYLOAD);
    sqlite3_bind_int64(statement, 4, now_us);
    if (!step(raw, STATEMENT_INSERT))
        return false;
    job->seq = sqlite3_last_insert_rowid(raw->db);
    return event(raw, job->id, "created", NULL, now_us);
}

static bool complete_one(struct raw_lite *raw, const struct raw_job *job, int64_t now_us)
{
    sqlite3_stmt *statement = raw->statements[STATEMENT_COMPLETE];
    sqlite3_bind_int64(statement, 1, job->seq);
    bind_text(statement, 2, BENCH_WORKER);
    bind_text(statement, 3, job->token);
    sqlite3_bind_int64(statement, 4, now_us);
    return step(raw, STATEMENT_COMPLETE) &&
           event(raw, job->id, "succeeded", RAW_CLAIM_DATA, now_us);
}

static bool lease_one(struct raw_lite *raw, const struct raw_job *job, int64_t now_us)
{
    sqlite3_stmt *statement = raw->statements[STATEMENT_LEASE];
    sqlite3_bind_int64(statement, 1, job->seq);
    bind_text(statement, 2, BENCH_WORKER);
    sqlite3_bind_int64(statement, 3, now_us + 30 * US_PER_SEC);
    bind_text(statement, 4, job->token);
    sqlite3_bind_int64(statement, 5, now_us);
    return step(raw, STATEMENT_LEASE) &&
           event(raw, job->id, "leased", RAW_CLAIM_DATA, now_us) &&
           event(raw, job->id, "started", RAW_CLAIM_DATA, now_us);
}

static bool insert(void *arg, struct raw_job *jobs, size_t count)
{
    struct raw_lite *raw = arg;
    int64_t now_us = clock_now_us(&raw->clock);
    if (!run_sql(raw, "BEGIN IMMEDIATE"))
        return false;
    for (size_t i = 0; i < count; i++)
        if (!insert_one(raw, &jobs[i], now_us))
            return false;
    return run_sql(raw, "COMMIT");
}

static bool turn(void *arg, const struct raw_job *done, size_t done_count,
                 const struct raw_job *next, size_t next_count)
{
    struct raw_lite *raw = arg;
    int64_t now_us = clock_now_us(&raw->clock);
    if (!run_sql(raw, "BEGIN IMMEDIATE"))
        return false;
    for (size_t i = 0; i < done_count; i++)
        if (!complete_one(raw, &done[i], now_us))
            return false;
    for (size_t i = 0; i < next_count; i++)
        if (!lease_one(raw, &next[i], now_us))
            return false;
    return run_sql(raw, "COMMIT");
}

const struct raw_ops raw_sqlite = {
    .open = open_raw, .insert = insert, .turn = turn, .close = close_raw};
