/* bench/function_raw_sqlite.c - the bare statements for functions on SQLite.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "bench/function.h"
#include "bench/raw_sqlite.h"

#include <stdio.h>

enum { REMEMBER = RAW_OWN, EXTEND, MOVE, END, FINISH };

/* What each change sets, and no more: not the columns that stay as they are. */
static const char *const statements[] = {
    "INSERT INTO workflow_step (id, name, kind, max_attempts, priority, scope_from, scope_to, "
    "status, attempts, compensation_attempts, commit_no, started_at, finished_at, is_ready, "
    "is_held, is_current, stop, is_timed_out, remaining, updated_at, input, output) "
    "VALUES (?1, ?2, 'task', 3, 50, 0, 0, 'completed', 0, 0, ?3, ?4, ?4, 0, 0, 0, 0, 0, 0, "
    "?4, 'null', ?5)",
    "UPDATE workflow_step SET locked_until = ?2, due_at = ?2 + 1, updated_at = ?3 WHERE id = "
    "?1",
    "UPDATE workflow_instance SET commits = ?2, revision = ?2 + 1, places = ?2 + 1, "
    "updated_at = ?3 WHERE seq = ?1",
    "UPDATE workflow_step SET status = 'completed', commit_no = ?2, finished_at = ?3, "
    "is_current = 0, due_at = NULL, locked_by = NULL, token = NULL, locked_until = NULL, "
    "ended_by = ?4, ended_token = ?5, updated_at = ?3, output = ?6 WHERE id = ?1",
    "UPDATE workflow_instance SET status = 'completed', commits = ?2, revision = ?2 + 1, "
    "places = ?2, active_count = 0, finished_at = ?3, updated_at = ?3, output = ?4 "
    "WHERE seq = ?1",
};

static bool open_raw(const char *url, const struct raw_plan *plan, void **ret_raw)
{
    return raw_lite_open(url, plan, statements, sizeof statements / sizeof *statements,
                         ret_raw);
}

static bool start_one(struct raw_lite *raw, uint64_t at)
{
    struct raw_item *instance = &raw->plan.items[at];
    struct raw_lite_step runner = {
        .next = -1, .name = raw->plan.type, .kind = "function", .is_ready = true};
    return raw_lite_instance(raw, instance, true) && raw_lite_step(raw, instance, &runner) &&
           raw_lite_event(raw, instance, "workflow_started", NULL, RAW_RUNNING_DATA) &&
           raw_lite_event(raw, instance, "step_ready", runner.name, RAW_READY_DATA);
}

static bool remember(struct raw_lite *raw, const struct raw_item *instance, int32_t place)
{
    char name[16];
    snprintf(name, sizeof name, RAW_STEP_NAME, (int)place);
    return raw_lite_run(raw, REMEMBER, "itiit", raw_lite_step_id(instance, place), name,
                        (int64_t)place, raw->now_us, BENCH_PAYLOAD) &&
           raw_lite_event(raw, instance, "step_completed", name, RAW_COMPLETED_DATA);
}

static bool go_on(struct raw_lite *raw, const struct raw_item *instance, int64_t commits)
{
    return raw_lite_run(raw, EXTEND, "iii", raw_lite_step_id(instance, 0),
                        raw->now_us + 30 * US_PER_SEC, raw->now_us) &&
           raw_lite_run(raw, MOVE, "iii", instance->seq, commits, raw->now_us);
}

static bool end(struct raw_lite *raw, const struct raw_item *instance, int64_t commits)
{
    return raw_lite_run(raw, END, "iiittt", raw_lite_step_id(instance, 0), commits + 1,
                        raw->now_us, BENCH_WORKER, RAW_TOKEN, BENCH_PAYLOAD) &&
           raw_lite_run(raw, FINISH, "iiit", instance->seq, commits + 1, raw->now_us,
                        BENCH_PAYLOAD) &&
           raw_lite_event(raw, instance, "step_completed", raw->plan.type,
                          RAW_COMPLETED_DATA) &&
           raw_lite_event(raw, instance, "workflow_completed", NULL, RAW_COMPLETED_DATA);
}

static bool do_piece(struct raw_lite *raw, uint64_t at)
{
    struct raw_piece piece = raw_piece_at(&raw->plan, at);
    const struct raw_item *instance = &raw->plan.items[piece.item];
    int32_t size = raw->plan.steps / raw->plan.pieces;
    int32_t from = piece.piece * size + 1, to = from + size - 1;
    for (int32_t place = from; place <= to; place++)
        if (!remember(raw, instance, place))
            return false;
    return to == raw->plan.steps ? end(raw, instance, to) : go_on(raw, instance, to);
}

static bool lease_one(struct raw_lite *raw, uint64_t at)
{
    struct raw_piece piece = raw_piece_at(&raw->plan, at);
    if (piece.piece > 0)
        return true; /* its passage has begun */
    return raw_lite_lease(raw, &raw->plan.items[piece.item], 0, raw->plan.type);
}

static bool start(void *raw, struct raw_range items)
{
    return raw_lite_turn(raw, items, start_one, (struct raw_range){0}, NULL);
}

static bool turn(void *raw, struct raw_range done, struct raw_range next)
{
    return raw_lite_turn(raw, done, do_piece, next, lease_one);
}

const struct raw_ops raw_function_sqlite = {
    .open = open_raw, .start = start, .turn = turn, .close = raw_lite_close};
