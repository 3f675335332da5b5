/* bench/raw_sqlite.c - bare statements on SQLite: what they share.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "bench/raw_sqlite.h"

#include "base/mem.h"
#include "cli/say.h"

#include <stdarg.h>
#include <string.h>

/* The settings of the engine's own writer. */
#define SETTINGS                                              \
    "PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; "  \
    "PRAGMA temp_store = MEMORY; PRAGMA cache_size = -2048; " \
    "PRAGMA journal_size_limit = 16777216;"

/* What each change sets, and no more: not the columns that stay as they are. */
static const char *const shared[RAW_OWN] = {
    [RAW_EVENT] = "INSERT INTO workflow_event (workflow_id, event_type, step, data, "
                  "created_at) VALUES (?1, ?2, ?3, ?4, ?5)",
    [RAW_INSTANCE] =
        "INSERT INTO workflow_instance (id, workflow, version, status, generation, created_at, "
        "updated_at, started_at, is_dlq, has_compensation, goal, is_undo_failed, undo_from, "
        "undo_to, undo_below, commits, active_count, wait_count, sleep_count, decision_count, "
        "parked_count, awaited_count, input, is_function, revision, places, is_forced, "
        "is_woken) "
        "VALUES (?1, ?2, 1, 'running', 1, ?3, ?3, ?3, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, "
        "0, ?4, ?5, 1, ?6, 0, 0)",
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

void raw_lite_close(void *arg)
{
    struct raw_lite *raw = arg;
    for (int i = 0; i < RAW_STATEMENTS; i++)
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

static bool prepare(struct raw_lite *raw, const char *const *own, size_t own_count)
{
    if (!run_sql(raw, SETTINGS))
        return false;
    for (size_t i = 0; i < RAW_OWN + own_count; i++)
        if (sqlite3_prepare_v3(raw->db, i < RAW_OWN ? shared[i] : own[i - RAW_OWN], -1,
                               SQLITE_PREPARE_PERSISTENT, &raw->statements[i], NULL))
            return refused(raw);
    return true;
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

bool raw_lite_open(const char *url, const struct raw_plan *plan, const char *const *own,
                   size_t own_count, void **ret_raw)
{
    if (!make_tables(url))
        return false;
    struct raw_lite *raw = mem_zalloc(sizeof *raw);
    if (!raw)
        return false;
    raw->plan = *plan;
    clock_init_real(&raw->clock);
    if (sqlite3_open(url + strlen("sqlite:"), &raw->db) || !prepare(raw, own, own_count)) {
        raw_lite_close(raw);
        return false;
    }
    *ret_raw = raw;
    return true;
}

static bool each(struct raw_lite *raw, struct raw_range range, raw_lite_one do_one)
{
    for (size_t i = 0; i < range.count; i++)
        if (!do_one(raw, range.at + i))
            return false;
    return true;
}

bool raw_lite_turn(struct raw_lite *raw, struct raw_range one, raw_lite_one do_one,
                   struct raw_range other, raw_lite_one do_other)
{
    raw->now_us = clock_now_us(&raw->clock);
    return run_sql(raw, "BEGIN IMMEDIATE") && each(raw, one, do_one) &&
           each(raw, other, do_other) && run_sql(raw, "COMMIT");
}

bool raw_lite_run(struct raw_lite *raw, int which, const char *kinds, ...)
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

bool raw_lite_event(struct raw_lite *raw, const struct raw_item *item, const char *type,
                    const char *step, const char *data)
{
    return raw_lite_run(raw, RAW_EVENT, "tttti", item->id, type, step, data, raw->now_us);
}

/* ---- instances and their steps ---------------------------------------------------------------
 */

int64_t raw_lite_step_id(const struct raw_item *item, int32_t place)
{
    return item->seq * (INT64_C(1) << 20) + place;
}

bool raw_lite_instance(struct raw_lite *raw, struct raw_item *item, bool is_function)
{
    bool is_done =
        raw_lite_run(raw, RAW_INSTANCE, "ttitii", item->id, raw->plan.workflow, raw->now_us,
                     BENCH_PAYLOAD, (int64_t)is_function, (int64_t)is_function);
    item->seq = sqlite3_last_insert_rowid(raw->db);
    return is_done;
}

bool raw_lite_step(struct raw_lite *raw, const struct raw_item *item,
                   const struct raw_lite_step *step)
{
    const char *type = raw->plan.type;
    return raw_lite_run(raw, RAW_STEP, "itttiiiitt", raw_lite_step_id(item, step->place),
                        step->name, step->kind, type, (int64_t)step->next, (int64_t)step->last,
                        (int64_t)step->is_ready, raw->now_us, step->is_ready ? type : NULL,
                        step->is_ready ? BENCH_PAYLOAD : NULL);
}

bool raw_lite_lease(struct raw_lite *raw, const struct raw_item *item, int32_t place,
                    const char *name)
{
    return raw_lite_run(raw, RAW_LEASE, "ittii", raw_lite_step_id(item, place), BENCH_WORKER,
                        RAW_TOKEN, raw->now_us + 30 * US_PER_SEC, raw->now_us) &&
           raw_lite_event(raw, item, "step_started", name, RAW_STARTED_DATA);
}
