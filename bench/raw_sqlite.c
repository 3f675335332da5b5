/* bench/raw_sqlite.c - bare statements on SQLite.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * Each changes one row at a time, with prepared statements, as the engine's own writer does.
 */
#include "base/buf.h"
#include "base/clock.h"
#include "base/mem.h"
#include "bench/flow.h"
#include "bench/function.h"
#include "bench/jobs.h"
#include "bench/raw_log.h"
#include "cli/say.h"

#include <inttypes.h>
#include <sqlite3.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* Statements that several need; each kind of work adds its own behind them. */
enum { RAW_LOG, RAW_INSTANCE, RAW_STEP, RAW_LEASE, RAW_OWN, RAW_STATEMENTS = RAW_OWN + 5 };

struct raw_lite;
typedef bool (*raw_lite_one)(struct raw_lite *raw, uint64_t at);

/* The changes of one kind of work.  Its statement i becomes RAW_OWN + i. */
struct raw_changes {
    const char *const *statements;
    size_t statement_count;
    raw_lite_one start, complete, lease; /* of the item, or the piece, at an index */
};

struct raw_lite {
    sqlite3 *db;
    sqlite3_stmt *statements[RAW_STATEMENTS];
    const struct raw_changes *changes;
    struct clock clock;
    struct raw_plan plan;
    int64_t now_us; /* of the transaction */
    struct raw_log log;
    struct buf kinds, prev, said, ids; /* of its row */
};

/* The settings of the engine's own writer. */
#define SETTINGS                                              \
    "PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; "  \
    "PRAGMA temp_store = MEMORY; PRAGMA cache_size = -2048; " \
    "PRAGMA journal_size_limit = 16777216;"

/* What each change sets, and no more: not the columns that stay as they are. */
static const char *const shared[RAW_OWN] = {
    [RAW_LOG] = "INSERT INTO workflow_event_log (id, at, kinds, prev, said, ids) "
                "VALUES (?1, ?2, CAST(?3 AS BLOB), CAST(?4 AS BLOB), ?5, ?6)",
    [RAW_INSTANCE] =
        "INSERT INTO workflow_instance (id, workflow, version, status, generation, created_at, "
        "updated_at, started_at, is_dlq, has_compensation, goal, is_undo_failed, undo_from, "
        "undo_to, undo_below, commits, active_count, wait_count, sleep_count, decision_count, "
        "parked_count, awaited_count, input, is_function, revision, places, is_forced, "
        "is_woken, last_event, event_count) "
        "VALUES (?1, ?2, 1, 'running', 1, ?3, ?3, ?3, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, "
        "0, ?4, ?5, 1, ?6, 0, 0, ?7, ?8)",
    [RAW_STEP] =
        "INSERT INTO workflow_step (id, name, kind, handler, max_attempts, priority, next, "
        "scope_from, scope_to, status, attempts, compensation_attempts, next_run_at, is_ready, "
        "is_held, is_current, task_type, stop, is_timed_out, remaining, updated_at, input) "
        "VALUES (?1, ?2, ?3, ?4, 3, 50, nullif(?5, -1), 0, ?6, "
        "CASE ?7 WHEN 1 THEN 'ready' ELSE 'pending' END, 0, 0, "
        "CASE ?7 WHEN 1 THEN ?8 END, ?7, 0, ?7, ?9, 0, 0, 0, ?8, ?10)",
    [RAW_LEASE] = "UPDATE workflow_step SET status = 'running', is_ready = 0, locked_by = ?2, "
                  "token = ?3, locked_until = ?4, due_at = ?4 + 1, started_at = ?5, "
                  "updated_at = ?5 WHERE id = ?1",
};

static void close_raw(void *arg)
{
    struct raw_lite *raw = arg;
    for (int i = 0; i < RAW_STATEMENTS; i++)
        sqlite3_finalize(raw->statements[i]);
    sqlite3_close(raw->db);
    buf_done(&raw->kinds);
    buf_done(&raw->prev);
    buf_done(&raw->said);
    buf_done(&raw->ids);
    mem_free(raw);
}

static bool failed(struct raw_lite *raw)
{
    say_error("could not run the bare statements: %s", sqlite3_errmsg(raw->db));
    return false;
}

static bool run_sql(struct raw_lite *raw, const char *sql)
{
    return sqlite3_exec(raw->db, sql, NULL, NULL, NULL) == SQLITE_OK || failed(raw);
}

/* Of the next row of the log. */
static bool find_number(struct raw_lite *raw)
{
    sqlite3_stmt *statement = NULL;
    bool is_found =
        !sqlite3_prepare_v2(raw->db, "SELECT 1 + coalesce(max(id), 0) FROM workflow_event_log",
                            -1, &statement, NULL) &&
        sqlite3_step(statement) == SQLITE_ROW;
    raw->log.number = is_found ? sqlite3_column_int64(statement, 0) : 0;
    sqlite3_finalize(statement);
    return is_found || failed(raw);
}

static bool prepare(struct raw_lite *raw)
{
    const struct raw_changes *changes = raw->changes;
    if (!run_sql(raw, SETTINGS))
        return false;
    for (size_t i = 0; i < RAW_OWN + changes->statement_count; i++) {
        const char *sql = i < RAW_OWN ? shared[i] : changes->statements[i - RAW_OWN];
        if (sqlite3_prepare_v3(raw->db, sql, -1, SQLITE_PREPARE_PERSISTENT, &raw->statements[i],
                               NULL))
            return failed(raw);
    }
    return find_number(raw);
}

static bool make_tables(const char *url)
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

/* The library makes the tables, so that they are the same. */
static bool open_raw(const char *url, const struct raw_plan *plan,
                     const struct raw_changes *changes, void **ret_raw)
{
    struct raw_lite *raw = make_tables(url) ? mem_zalloc(sizeof *raw) : NULL;
    if (!raw)
        return false;
    raw->plan = *plan;
    raw->changes = changes;
    clock_init_real(&raw->clock);
    if (sqlite3_open(url + strlen("sqlite:"), &raw->db) || !prepare(raw)) {
        close_raw(raw);
        return false;
    }
    *ret_raw = raw;
    return true;
}

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
    return is_done || failed(raw);
}

/* ---- events ---------------------------------------------------------------------------------- */

static void add_said(struct buf *buf, const struct raw_said *said, bool is_first)
{
    buf_printf(buf, said->step[0] ? "%s[\"%s\",\"%s\",%s]" : "%s[\"%s\",null%s,%s]",
               is_first ? "" : ",", said->type, said->step, said->data);
}

static void make_row(struct raw_lite *raw)
{
    const struct raw_log *log = &raw->log;
    buf_reset(&raw->kinds);
    buf_reset(&raw->prev);
    buf_reset(&raw->said);
    buf_reset(&raw->ids);
    buf_char(&raw->said, '[');
    for (size_t i = 0; i < log->said_count; i++)
        add_said(&raw->said, &log->said[i], i == 0);
    buf_char(&raw->said, ']');
    for (size_t i = 0; i < log->slot_count; i++) {
        const struct raw_slot *slot = &log->slots[i];
        char digits[32];
        buf_str(&raw->ids, i ? ",\"" : "[\"");
        buf_str(&raw->ids, slot->id);
        buf_char(&raw->ids, '"');
        snprintf(digits, sizeof digits, "%04d%016" PRId64, slot->kind, slot->prev);
        buf_add(&raw->kinds, digits, 4);
        buf_add(&raw->prev, digits + 4, 16);
    }
    buf_char(&raw->ids, ']');
}

/* Writes what has been told as one row. */
static bool write_log(struct raw_lite *raw)
{
    if (raw->log.slot_count == 0)
        return true;
    make_row(raw);
    bool is_done =
        run(raw, RAW_LOG, "iitttt", raw->log.number, raw->now_us, buf_text(&raw->kinds),
            buf_text(&raw->prev), buf_text(&raw->said), buf_text(&raw->ids));
    raw_log_clear(&raw->log);
    raw->log.number++;
    return is_done;
}

static bool tell(struct raw_lite *raw, struct raw_item *item, const char *type,
                 const char *step, const char *data)
{
    if (!raw_log_has_room(&raw->log, 1) && !write_log(raw))
        return false;
    raw_log_add(&raw->log, item, type, step, data);
    return true;
}

static bool tell_loose(struct raw_lite *raw, const struct raw_item *item, const char *type,
                       const char *step, const char *data)
{
    if (!raw_log_has_room(&raw->log, 1) && !write_log(raw))
        return false;
    raw_log_add_loose(&raw->log, item, type, step, data);
    return true;
}

/* ---- transactions ---------------------------------------------------------------------------- */

static bool each(struct raw_lite *raw, struct raw_range range, raw_lite_one do_one)
{
    for (size_t i = 0; i < range.count; i++)
        if (!do_one(raw, range.at + i))
            return false;
    return true;
}

/* One transaction: one change for each of a range, then another for each of another. */
static bool run_turn(struct raw_lite *raw, struct raw_range one, raw_lite_one do_one,
                     struct raw_range other, raw_lite_one do_other)
{
    raw->now_us = clock_now_us(&raw->clock);
    return run_sql(raw, "BEGIN IMMEDIATE") && each(raw, one, do_one) &&
           each(raw, other, do_other) && write_log(raw) && run_sql(raw, "COMMIT");
}

static bool start(void *arg, struct raw_range items)
{
    struct raw_lite *raw = arg;
    return run_turn(raw, items, raw->changes->start, (struct raw_range){0}, NULL);
}

static bool turn(void *arg, struct raw_range done, struct raw_range next)
{
    struct raw_lite *raw = arg;
    return run_turn(raw, done, raw->changes->complete, next, raw->changes->lease);
}

const struct raw_ops raw_sqlite = {
    .open = open_raw, .start = start, .turn = turn, .close = close_raw};

/* ---- instances and their steps --------------------------------------------------------------- */

struct step {
    int32_t place, next, last; /* next -1: none; last: of the instance */
    const char *name, *kind;
    bool is_ready;
};

static int64_t step_id(const struct raw_item *item, int32_t place)
{
    return item->seq * (INT64_C(1) << 20) + place;
}

static bool add_instance(struct raw_lite *raw, struct raw_item *item, bool is_function)
{
    bool is_done = run(raw, RAW_INSTANCE, "ttitiiii", item->id, raw->plan.workflow, raw->now_us,
                       BENCH_PAYLOAD, (int64_t)is_function, (int64_t)is_function,
                       item->last_event, item->event_count);
    item->seq = sqlite3_last_insert_rowid(raw->db);
    return is_done;
}

static bool add_step(struct raw_lite *raw, const struct raw_item *item, const struct step *step)
{
    const char *type = raw->plan.type;
    return run(raw, RAW_STEP, "itttiiiitt", step_id(item, step->place), step->name, step->kind,
               type, (int64_t)step->next, (int64_t)step->last, (int64_t)step->is_ready,
               raw->now_us, step->is_ready ? type : NULL,
               step->is_ready ? BENCH_PAYLOAD : NULL);
}

static bool lease_step(struct raw_lite *raw, const struct raw_item *item, int32_t place,
                       const char *name)
{
    return run(raw, RAW_LEASE, "ittii", step_id(item, place), BENCH_WORKER, RAW_TOKEN,
               raw->now_us + 30 * US_PER_SEC, raw->now_us) &&
           tell_loose(raw, item, "step_started", name, RAW_STARTED_DATA);
}

/* ---- jobs ------------------------------------------------------------------------------------ */

enum { JOB_INSERT = RAW_OWN, JOB_LEASE, JOB_COMPLETE };

static const char *const job_statements[] = {
    "INSERT INTO workflow_run (id, type, payload, status, priority, run_at, attempt, "
    "max_attempts, created_at, updated_at, is_ready, last_event, event_count) "
    "VALUES (?1, ?2, ?3, 'pending', 100, ?4, 0, 3, ?4, ?4, 1, ?5, ?6)",
    "UPDATE workflow_run SET status = 'leased', is_ready = 0, leased_by = ?2, "
    "lease_until = ?3, lease_token = ?4, updated_at = ?5, last_event = ?6, event_count = ?7 "
    "WHERE seq = ?1",
    "UPDATE workflow_run SET status = 'succeeded', is_ready = 0, leased_by = NULL, "
    "lease_until = NULL, lease_token = NULL, ended_by = ?2, ended_token = ?3, "
    "result = 'null', updated_at = ?4, last_event = ?5, event_count = ?6 WHERE seq = ?1",
};

static bool job_insert_one(struct raw_lite *raw, uint64_t at)
{
    struct raw_item *job = &raw->plan.items[at];
    bool is_done = tell(raw, job, "created", NULL, "{}") &&
                   run(raw, JOB_INSERT, "tttiii", job->id, raw->plan.type, BENCH_PAYLOAD,
                       raw->now_us, job->last_event, job->event_count);
    job->seq = sqlite3_last_insert_rowid(raw->db);
    return is_done;
}

static bool job_complete_one(struct raw_lite *raw, uint64_t at)
{
    struct raw_item *job = &raw->plan.items[at];
    return tell(raw, job, "succeeded", NULL, RAW_CLAIM_DATA) &&
           run(raw, JOB_COMPLETE, "ittiii", job->seq, BENCH_WORKER, RAW_TOKEN, raw->now_us,
               job->last_event, job->event_count);
}

static bool job_lease_one(struct raw_lite *raw, uint64_t at)
{
    struct raw_item *job = &raw->plan.items[at];
    return tell(raw, job, "leased", NULL, RAW_CLAIM_DATA) &&
           tell(raw, job, "started", NULL, RAW_CLAIM_DATA) &&
           run(raw, JOB_LEASE, "ititiii", job->seq, BENCH_WORKER, raw->now_us + 30 * US_PER_SEC,
               RAW_TOKEN, raw->now_us, job->last_event, job->event_count);
}

const struct raw_changes raw_jobs_sqlite = {
    .statements = job_statements,
    .statement_count = sizeof job_statements / sizeof *job_statements,
    .start = job_insert_one,
    .complete = job_complete_one,
    .lease = job_lease_one,
};

/* ---- workflows ------------------------------------------------------------------------------- */

enum { FLOW_COMPLETE = RAW_OWN, FLOW_READY, FLOW_MOVE, FLOW_FINISH };

/* What each change sets, and no more: not the columns that stay as they are. */
static const char *const flow_statements[] = {
    "UPDATE workflow_step SET status = 'completed', commit_no = ?2, finished_at = ?3, "
    "is_current = 0, due_at = NULL, locked_by = NULL, token = NULL, locked_until = NULL, "
    "ended_by = ?4, ended_token = ?5, updated_at = ?3, output = ?6 WHERE id = ?1",
    "UPDATE workflow_step SET status = 'ready', next_run_at = ?2, is_ready = 1, "
    "is_current = 1, task_type = ?3, updated_at = ?2, input = ?4 WHERE id = ?1",
    "UPDATE workflow_instance SET commits = ?2, updated_at = ?3, last_event = ?4, "
    "event_count = ?5 WHERE seq = ?1",
    "UPDATE workflow_instance SET status = 'completed', commits = ?2, active_count = 0, "
    "finished_at = ?3, updated_at = ?3, last_event = ?4, event_count = ?5, output = ?6 "
    "WHERE seq = ?1",
};

static bool flow_start_one(struct raw_lite *raw, uint64_t at)
{
    char name[16];
    struct raw_item *instance = &raw->plan.items[at];
    int32_t last = raw->plan.steps - 1;
    snprintf(name, sizeof name, RAW_STEP_NAME, 0);
    if (!tell(raw, instance, "workflow_started", NULL, RAW_RUNNING_DATA) ||
        !tell(raw, instance, "step_ready", name, RAW_READY_DATA) ||
        !add_instance(raw, instance, false))
        return false;
    for (int32_t place = 0; place <= last; place++) {
        struct step step = {.place = place,
                            .next = place < last ? place + 1 : -1,
                            .last = last,
                            .name = name,
                            .kind = "task",
                            .is_ready = place == 0};
        snprintf(name, sizeof name, RAW_STEP_NAME, (int)place);
        if (!add_step(raw, instance, &step))
            return false;
    }
    return true;
}

static bool flow_complete_one(struct raw_lite *raw, uint64_t at)
{
    char name[16], next[16];
    struct raw_item *instance = raw_instance_at(&raw->plan, at);
    int32_t place = raw_place_at(&raw->plan, at);
    int64_t commits = place + 1;
    snprintf(name, sizeof name, RAW_STEP_NAME, (int)place);
    snprintf(next, sizeof next, RAW_STEP_NAME, (int)place + 1);
    if (!run(raw, FLOW_COMPLETE, "iiittt", step_id(instance, place), commits, raw->now_us,
             BENCH_WORKER, RAW_TOKEN, BENCH_PAYLOAD) ||
        !tell(raw, instance, "step_completed", name, RAW_COMPLETED_DATA))
        return false;
    if (place + 1 == raw->plan.steps)
        return tell(raw, instance, "workflow_completed", NULL, RAW_COMPLETED_DATA) &&
               run(raw, FLOW_FINISH, "iiiiit", instance->seq, commits, raw->now_us,
                   instance->last_event, instance->event_count, BENCH_PAYLOAD);
    return tell(raw, instance, "step_ready", next, RAW_READY_DATA) &&
           run(raw, FLOW_READY, "iitt", step_id(instance, place + 1), raw->now_us,
               raw->plan.type, BENCH_PAYLOAD) &&
           run(raw, FLOW_MOVE, "iiiii", instance->seq, commits, raw->now_us,
               instance->last_event, instance->event_count);
}

static bool flow_lease_one(struct raw_lite *raw, uint64_t at)
{
    char name[16];
    int32_t place = raw_place_at(&raw->plan, at);
    snprintf(name, sizeof name, RAW_STEP_NAME, (int)place);
    return lease_step(raw, raw_instance_at(&raw->plan, at), place, name);
}

const struct raw_changes raw_flow_sqlite = {
    .statements = flow_statements,
    .statement_count = sizeof flow_statements / sizeof *flow_statements,
    .start = flow_start_one,
    .complete = flow_complete_one,
    .lease = flow_lease_one,
};

/* ---- functions ------------------------------------------------------------------------------- */

enum { FUN_REMEMBER = RAW_OWN, FUN_EXTEND, FUN_MOVE, FUN_END, FUN_FINISH };

/* What each change sets, and no more: not the columns that stay as they are. */
static const char *const function_statements[] = {
    "INSERT INTO workflow_step (id, name, kind, max_attempts, priority, scope_from, scope_to, "
    "status, attempts, compensation_attempts, commit_no, started_at, finished_at, is_ready, "
    "is_held, is_current, stop, is_timed_out, remaining, updated_at, input, output) "
    "VALUES (?1, ?2, 'task', 3, 50, 0, 0, 'completed', 0, 0, ?3, ?4, ?4, 0, 0, 0, 0, 0, 0, "
    "?4, 'null', ?5)",
    "UPDATE workflow_step SET locked_until = ?2, due_at = ?2 + 1, updated_at = ?3 WHERE id = "
    "?1",
    "UPDATE workflow_instance SET commits = ?2, revision = ?2 + 1, places = ?2 + 1, "
    "updated_at = ?3, last_event = ?4, event_count = ?5 WHERE seq = ?1",
    "UPDATE workflow_step SET status = 'completed', commit_no = ?2, finished_at = ?3, "
    "is_current = 0, due_at = NULL, locked_by = NULL, token = NULL, locked_until = NULL, "
    "ended_by = ?4, ended_token = ?5, updated_at = ?3, output = ?6 WHERE id = ?1",
    "UPDATE workflow_instance SET status = 'completed', commits = ?2, revision = ?2 + 1, "
    "places = ?2, active_count = 0, finished_at = ?3, updated_at = ?3, last_event = ?4, "
    "event_count = ?5, output = ?6 WHERE seq = ?1",
};

static bool function_start_one(struct raw_lite *raw, uint64_t at)
{
    struct raw_item *instance = &raw->plan.items[at];
    struct step runner = {
        .next = -1, .name = raw->plan.type, .kind = "function", .is_ready = true};
    return tell(raw, instance, "workflow_started", NULL, RAW_RUNNING_DATA) &&
           tell(raw, instance, "step_ready", runner.name, RAW_READY_DATA) &&
           add_instance(raw, instance, true) && add_step(raw, instance, &runner);
}

static bool remember(struct raw_lite *raw, struct raw_item *instance, int32_t place)
{
    char name[16];
    snprintf(name, sizeof name, RAW_STEP_NAME, (int)place);
    return run(raw, FUN_REMEMBER, "itiit", step_id(instance, place), name, (int64_t)place,
               raw->now_us, BENCH_PAYLOAD) &&
           tell(raw, instance, "step_completed", name, RAW_COMPLETED_DATA);
}

static bool go_on(struct raw_lite *raw, const struct raw_item *instance, int64_t commits)
{
    return run(raw, FUN_EXTEND, "iii", step_id(instance, 0), raw->now_us + 30 * US_PER_SEC,
               raw->now_us) &&
           run(raw, FUN_MOVE, "iiiii", instance->seq, commits, raw->now_us,
               instance->last_event, instance->event_count);
}

static bool end(struct raw_lite *raw, struct raw_item *instance, int64_t commits)
{
    return tell(raw, instance, "step_completed", raw->plan.type, RAW_COMPLETED_DATA) &&
           tell(raw, instance, "workflow_completed", NULL, RAW_COMPLETED_DATA) &&
           run(raw, FUN_END, "iiittt", step_id(instance, 0), commits + 1, raw->now_us,
               BENCH_WORKER, RAW_TOKEN, BENCH_PAYLOAD) &&
           run(raw, FUN_FINISH, "iiiiit", instance->seq, commits + 1, raw->now_us,
               instance->last_event, instance->event_count, BENCH_PAYLOAD);
}

static bool function_do_piece(struct raw_lite *raw, uint64_t at)
{
    struct raw_piece piece = raw_piece_at(&raw->plan, at);
    struct raw_item *instance = &raw->plan.items[piece.item];
    int32_t size = raw->plan.steps / raw->plan.pieces;
    int32_t from = piece.piece * size + 1, to = from + size - 1;
    for (int32_t place = from; place <= to; place++)
        if (!remember(raw, instance, place))
            return false;
    return to == raw->plan.steps ? end(raw, instance, to) : go_on(raw, instance, to);
}

static bool function_lease_one(struct raw_lite *raw, uint64_t at)
{
    struct raw_piece piece = raw_piece_at(&raw->plan, at);
    if (piece.piece > 0)
        return true; /* its passage has begun */
    return lease_step(raw, &raw->plan.items[piece.item], 0, raw->plan.type);
}

const struct raw_changes raw_function_sqlite = {
    .statements = function_statements,
    .statement_count = sizeof function_statements / sizeof *function_statements,
    .start = function_start_one,
    .complete = function_do_piece,
    .lease = function_lease_one,
};

/* ---- sizes ------------------------------------------------------------------------------ */

static int64_t *size_of(struct flow_sizes *sizes, const char *table)
{
    if (strcmp(table, "workflow_instance") == 0)
        return &sizes->instances;
    if (strcmp(table, "workflow_step") == 0)
        return &sizes->steps;
    static const char events[] = "workflow_event_"; /* several tables */
    return strncmp(table, events, sizeof events - 1) == 0 ? &sizes->events : NULL;
}

/* By way of the table dbstat, which not every SQLite is built with. */
bool flow_sizes_sqlite(const char *url, struct flow_sizes *ret_sizes)
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
            *size += sqlite3_column_int64(statement, 1);
        rc = SQLITE_OK;
    }
    sqlite3_finalize(statement);
    sqlite3_close(db);
    if (rc == SQLITE_DONE)
        *ret_sizes = found;
    return rc == SQLITE_DONE;
}
