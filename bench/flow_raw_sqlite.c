/* bench/flow_raw_sqlite.c - the bare statements for workflows on SQLite.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "bench/flow.h"
#include "bench/raw_sqlite.h"

#include <stdio.h>
#include <string.h>

enum { COMPLETE = RAW_OWN, READY, MOVE, FINISH };

/* What each change sets, and no more: not the columns that stay as they are. */
static const char *const statements[] = {
    "UPDATE workflow_step SET status = 'completed', commit_no = ?2, finished_at = ?3, "
    "is_current = 0, due_at = NULL, locked_by = NULL, token = NULL, locked_until = NULL, "
    "ended_by = ?4, ended_token = ?5, updated_at = ?3, output = ?6 WHERE id = ?1",
    "UPDATE workflow_step SET status = 'ready', next_run_at = ?2, is_ready = 1, "
    "is_current = 1, task_type = ?3, updated_at = ?2, input = ?4 WHERE id = ?1",
    "UPDATE workflow_instance SET commits = ?2, updated_at = ?3 WHERE seq = ?1",
    "UPDATE workflow_instance SET status = 'completed', commits = ?2, active_count = 0, "
    "finished_at = ?3, updated_at = ?3, output = ?4 WHERE seq = ?1",
};

static bool open_raw(const char *url, const struct raw_plan *plan, void **ret_raw)
{
    return raw_lite_open(url, plan, statements, sizeof statements / sizeof *statements,
                         ret_raw);
}

/* ---- rows ------------------------------------------------------------------------------- */

static bool start_one(struct raw_lite *raw, uint64_t at)
{
    char name[16];
    struct raw_item *instance = &raw->plan.items[at];
    int32_t last = raw->plan.steps - 1;
    if (!raw_lite_instance(raw, instance, false))
        return false;
    for (int32_t place = 0; place <= last; place++) {
        struct raw_lite_step step = {.place = place,
                                     .next = place < last ? place + 1 : -1,
                                     .last = last,
                                     .name = name,
                                     .kind = "task",
                                     .is_ready = place == 0};
        snprintf(name, sizeof name, RAW_STEP_NAME, (int)place);
        if (!raw_lite_step(raw, instance, &step))
            return false;
    }
    snprintf(name, sizeof name, RAW_STEP_NAME, 0);
    return raw_lite_event(raw, instance, "workflow_started", NULL, RAW_RUNNING_DATA) &&
           raw_lite_event(raw, instance, "step_ready", name, RAW_READY_DATA);
}

static bool complete_one(struct raw_lite *raw, uint64_t at)
{
    char name[16], next[16];
    const struct raw_item *instance = raw_instance_at(&raw->plan, at);
    int32_t place = raw_place_at(&raw->plan, at);
    int64_t commits = place + 1;
    snprintf(name, sizeof name, RAW_STEP_NAME, (int)place);
    snprintf(next, sizeof next, RAW_STEP_NAME, (int)place + 1);
    if (!raw_lite_run(raw, COMPLETE, "iiittt", raw_lite_step_id(instance, place), commits,
                      raw->now_us, BENCH_WORKER, RAW_TOKEN, BENCH_PAYLOAD) ||
        !raw_lite_event(raw, instance, "step_completed", name, RAW_COMPLETED_DATA))
        return false;
    if (place + 1 == raw->plan.steps)
        return raw_lite_run(raw, FINISH, "iiit", instance->seq, commits, raw->now_us,
                            BENCH_PAYLOAD) &&
               raw_lite_event(raw, instance, "workflow_completed", NULL, RAW_COMPLETED_DATA);
    return raw_lite_run(raw, READY, "iitt", raw_lite_step_id(instance, place + 1), raw->now_us,
                        raw->plan.type, BENCH_PAYLOAD) &&
           raw_lite_run(raw, MOVE, "iii", instance->seq, commits, raw->now_us) &&
           raw_lite_event(raw, instance, "step_ready", next, RAW_READY_DATA);
}

static bool lease_one(struct raw_lite *raw, uint64_t at)
{
    char name[16];
    int32_t place = raw_place_at(&raw->plan, at);
    snprintf(name, sizeof name, RAW_STEP_NAME, (int)place);
    return raw_lite_lease(raw, raw_instance_at(&raw->plan, at), place, name);
}

/* ---- transactions ----------------------------------------------------------------------- */

static bool start(void *raw, struct raw_range items)
{
    return raw_lite_turn(raw, items, start_one, (struct raw_range){0}, NULL);
}

static bool turn(void *raw, struct raw_range done, struct raw_range next)
{
    return raw_lite_turn(raw, done, complete_one, next, lease_one);
}

const struct raw_ops raw_flow_sqlite = {
    .open = open_raw, .start = start, .turn = turn, .close = raw_lite_close};

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
            *size = sqlite3_column_int64(statement, 1);
        rc = SQLITE_OK;
    }
    sqlite3_finalize(statement);
    sqlite3_close(db);
    if (rc == SQLITE_DONE)
        *ret_sizes = found;
    return rc == SQLITE_DONE;
}
