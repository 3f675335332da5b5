/* bench/function_raw_postgres.c - the bare statements for functions on PostgreSQL.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "bench/function.h"
#include "bench/raw_postgres.h"

#include <stdio.h>

/* What each change sets, and no more.  $1 are instances; of "remember" and its events $2 and $3
 * the first and the last place. */
static const struct raw_pg_statement statements[] = {
    {"runner",
     "INSERT INTO workflow.workflow_step (instance_id, instance_seq, seq, name, kind, handler, "
     "max_attempts, priority, next, scope_fork, scope_from, scope_to, status, attempts, "
     "compensation_attempts, input, commit_no, next_run_at, is_ready, task_type, is_held, "
     "is_timed_out, remaining, updated_at) "
     "SELECT id, seq, 0, $2, 'function', $2, 3, 50, -1, -1, 0, 0, 'ready', 0, 0, $3::jsonb, 0, "
     "now(), true, $2, false, false, 0, now() "
     "FROM workflow.workflow_instance WHERE id = ANY ($1::uuid[])"},
    {"remember",
     "INSERT INTO workflow.workflow_step (instance_id, instance_seq, seq, name, kind, "
     "max_attempts, priority, next, scope_fork, scope_from, scope_to, status, attempts, "
     "compensation_attempts, input, output, commit_no, started_at, finished_at, is_ready, "
     "is_held, is_timed_out, remaining, updated_at) "
     "SELECT id, seq, place, " RAW_NAME(
         "place") ", 'task', 3, 50, -1, -1, 0, 0, 'completed', 0, 0, 'null', $4::jsonb, place, "
                  "now(), now(), false, false, false, 0, now() "
                  "FROM workflow.workflow_instance, generate_series($2::int, $3::int) AS place "
                  "WHERE id = ANY ($1::uuid[])"},
    {"remembered",
     "INSERT INTO workflow.workflow_event (workflow_id, event_type, step, data, created_at) "
     "SELECT id, 'step_completed', " RAW_NAME(
         "place") ", $4::jsonb, now() FROM unnest($1::uuid[]) AS given (id), "
                  "generate_series($2::int, $3::int) AS place"},
    {"extend", "UPDATE workflow.workflow_step SET locked_until = now() + interval '30 s', "
               "due_at = now() + interval '30.000001 s', updated_at = now() "
               "WHERE instance_id = ANY ($1::uuid[]) AND seq = 0"},
    {"move", "UPDATE workflow.workflow_instance SET commits = $2::int, revision = $2::int + 1, "
             "places = $2::int + 1, updated_at = now() WHERE id = ANY ($1::uuid[])"},
    {"end", "UPDATE workflow.workflow_step SET status = 'completed', commit_no = $2::int + 1, "
            "finished_at = now(), due_at = NULL, locked_by = NULL, token = NULL, "
            "locked_until = NULL, ended_by = $3, ended_token = $4, updated_at = now(), "
            "output = $5::jsonb WHERE instance_id = ANY ($1::uuid[]) AND seq = 0"},
    {"finish", "UPDATE workflow.workflow_instance SET status = 'completed', "
               "commits = $2::int + 1, revision = $2::int + 2, places = $2::int + 1, "
               "active_count = 0, finished_at = now(), updated_at = now(), output = $3::jsonb "
               "WHERE id = ANY ($1::uuid[])"},
    {"lease_runner",
     "UPDATE workflow.workflow_step SET status = 'running', is_ready = false, locked_by = $2, "
     "token = $3, locked_until = now() + interval '30 s', "
     "due_at = now() + interval '30.000001 s', started_at = now(), updated_at = now() "
     "WHERE instance_id = ANY ($1::uuid[]) AND seq = 0"},
};

static bool open_raw(const char *url, const struct raw_plan *plan, void **ret_raw)
{
    return raw_pg_open(url, plan, statements, sizeof statements / sizeof *statements, ret_raw);
}

static bool start(void *arg, struct raw_range items)
{
    struct raw_pg *raw = arg;
    const char *ids = raw_pg_ids(raw, items);
    const char *type = raw->plan.type;
    return raw_pg_commit(
        raw,
        raw_pg_begin(raw) &&
            raw_pg_send(raw, "instance", 4,
                        (const char *[]){ids, raw->plan.workflow, BENCH_PAYLOAD, "true"}) &&
            raw_pg_send(raw, "runner", 3, (const char *[]){ids, type, BENCH_PAYLOAD}) &&
            raw_pg_event(raw, ids, "workflow_started", NULL, RAW_RUNNING_DATA) &&
            raw_pg_event(raw, ids, "step_ready", type, RAW_READY_DATA));
}

/* ---- pieces --------------------------------------------------------------------------------- */

/* From here on, those that are the same piece of their passages, which stand side by side. */
static struct raw_range same_pieces(const struct raw_plan *plan, struct raw_range range,
                                    struct raw_piece *ret_first)
{
    size_t count = 1;
    *ret_first = raw_piece_at(plan, range.at);
    while (count < range.count &&
           raw_piece_at(plan, range.at + count).piece == ret_first->piece &&
           raw_piece_at(plan, range.at + count).item == ret_first->item + count)
        count++;
    return (struct raw_range){.at = ret_first->item, .count = count};
}

static bool send_end(struct raw_pg *raw, const char *ids, const char *last)
{
    return raw_pg_send(raw, "end", 5,
                       (const char *[]){ids, last, BENCH_WORKER, RAW_TOKEN, BENCH_PAYLOAD}) &&
           raw_pg_send(raw, "finish", 3, (const char *[]){ids, last, BENCH_PAYLOAD}) &&
           raw_pg_event(raw, ids, "step_completed", raw->plan.type, RAW_COMPLETED_DATA) &&
           raw_pg_event(raw, ids, "workflow_completed", NULL, RAW_COMPLETED_DATA);
}

static bool send_piece(struct raw_pg *raw, struct raw_range items, int32_t piece)
{
    char from[16], to[16];
    int32_t size = raw->plan.steps / raw->plan.pieces, last = (piece + 1) * size;
    const char *ids = raw_pg_ids(raw, items);
    snprintf(from, sizeof from, "%d", (int)(piece * size + 1));
    snprintf(to, sizeof to, "%d", (int)last);
    if (!raw_pg_send(raw, "remember", 4, (const char *[]){ids, from, to, BENCH_PAYLOAD}) ||
        !raw_pg_send(raw, "remembered", 4, (const char *[]){ids, from, to, RAW_COMPLETED_DATA}))
        return false;
    if (last == raw->plan.steps)
        return send_end(raw, ids, to);
    return raw_pg_send(raw, "extend", 1, (const char *[]){ids}) &&
           raw_pg_send(raw, "move", 2, (const char *[]){ids, to});
}

/* Only a first piece begins its passage. */
static bool send_lease(struct raw_pg *raw, struct raw_range items, int32_t piece)
{
    if (piece > 0)
        return true;
    const char *ids = raw_pg_ids(raw, items);
    return raw_pg_send(raw, "lease_runner", 3,
                       (const char *[]){ids, BENCH_WORKER, RAW_TOKEN}) &&
           raw_pg_event(raw, ids, "step_started", raw->plan.type, RAW_STARTED_DATA);
}

static bool send_each(struct raw_pg *raw, struct raw_range range,
                      bool (*send)(struct raw_pg *, struct raw_range, int32_t))
{
    while (range.count) {
        struct raw_piece first;
        struct raw_range items = same_pieces(&raw->plan, range, &first);
        if (!send(raw, items, first.piece))
            return false;
        range.at += items.count;
        range.count -= items.count;
    }
    return true;
}

static bool turn(void *arg, struct raw_range done, struct raw_range next)
{
    struct raw_pg *raw = arg;
    return raw_pg_commit(raw, raw_pg_begin(raw) && send_each(raw, done, send_piece) &&
                                  send_each(raw, next, send_lease));
}

const struct raw_ops raw_function_postgres = {
    .open = open_raw, .start = start, .turn = turn, .close = raw_pg_close};
