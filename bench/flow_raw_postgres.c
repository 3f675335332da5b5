/* bench/flow_raw_postgres.c - the bare statements for workflows on PostgreSQL.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "bench/flow.h"
#include "bench/raw_postgres.h"

#include <stdio.h>
#include <stdlib.h>

/* What each change sets, and no more. */
static const struct raw_pg_statement statements[] = {
    {"steps",
     "INSERT INTO workflow.workflow_step (instance_id, instance_seq, seq, name, kind, handler, "
     "max_attempts, priority, next, scope_fork, scope_from, scope_to, status, attempts, "
     "compensation_attempts, input, commit_no, next_run_at, is_ready, task_type, is_held, "
     "is_timed_out, remaining, updated_at) "
     "SELECT id, seq, place, " RAW_NAME(
         "place") ", 'task', $2, 3, 50, "
                  "CASE WHEN place + 1 < $3::int THEN place + 1 ELSE -1 END, -1, 0, $3::int - "
                  "1, "
                  "CASE place WHEN 0 THEN 'ready' ELSE 'pending' END, 0, 0, "
                  "CASE place WHEN 0 THEN $4::jsonb END, 0, CASE place WHEN 0 THEN now() END, "
                  "place = 0, "
                  "CASE place WHEN 0 THEN $2 END, false, false, 0, now() "
                  "FROM workflow.workflow_instance, generate_series(0, $3::int - 1) AS place "
                  "WHERE id = ANY ($1::uuid[])"},
    {"complete",
     "UPDATE workflow.workflow_step AS s SET status = 'completed', commit_no = given.place + "
     "1, "
     "finished_at = now(), due_at = NULL, locked_by = NULL, token = NULL, locked_until = NULL, "
     "ended_by = $3, ended_token = $4, updated_at = now(), output = $5::jsonb "
     "FROM " RAW_GIVEN " WHERE s.instance_id = given.id AND s.seq = given.place"},
    {"ready", "UPDATE workflow.workflow_step AS s SET status = 'ready', next_run_at = now(), "
              "is_ready = true, task_type = $3, updated_at = now(), input = $4::jsonb "
              "FROM " RAW_GIVEN " WHERE s.instance_id = given.id AND s.seq = given.place + 1"},
    {"move", "UPDATE workflow.workflow_instance AS i SET commits = given.place + 1, "
             "updated_at = now() FROM " RAW_GIVEN " WHERE i.id = given.id AND "
             "given.place + 1 < $3::int"},
    {"finish", "UPDATE workflow.workflow_instance AS i SET status = 'completed', "
               "commits = given.place + 1, active_count = 0, finished_at = now(), "
               "updated_at = now(), output = $4::jsonb FROM " RAW_GIVEN
               " WHERE i.id = given.id AND given.place + 1 = $3::int"},
    {"step_event",
     "INSERT INTO workflow.workflow_event (workflow_id, event_type, step, data, "
     "created_at) SELECT id, $3, " RAW_NAME("place") ", $4::jsonb, now() FROM " RAW_GIVEN},
    {"ready_event", "INSERT INTO workflow.workflow_event (workflow_id, event_type, step, data, "
                    "created_at) SELECT id, 'step_ready', " RAW_NAME(
                        "place + 1") ", $4::jsonb, "
                                     "now() FROM " RAW_GIVEN " WHERE place + 1 < $3::int"},
    {"finish_event", "INSERT INTO workflow.workflow_event (workflow_id, event_type, data, "
                     "created_at) SELECT id, 'workflow_completed', $4::jsonb, now() "
                     "FROM " RAW_GIVEN " WHERE place + 1 = $3::int"},
};

static bool open_raw(const char *url, const struct raw_plan *plan, void **ret_raw)
{
    return raw_pg_open(url, plan, statements, sizeof statements / sizeof *statements, ret_raw);
}

static bool start(void *arg, struct raw_range items)
{
    struct raw_pg *raw = arg;
    char first[16];
    snprintf(first, sizeof first, RAW_STEP_NAME, 0);
    const char *ids = raw_pg_ids(raw, items);
    return raw_pg_commit(
        raw,
        raw_pg_begin(raw) &&
            raw_pg_send(raw, "instance", 4,
                        (const char *[]){ids, raw->plan.workflow, BENCH_PAYLOAD, "false"}) &&
            raw_pg_send(raw, "steps", 4,
                        (const char *[]){ids, raw->plan.type, raw->steps, BENCH_PAYLOAD}) &&
            raw_pg_event(raw, ids, "workflow_started", NULL, RAW_RUNNING_DATA) &&
            raw_pg_event(raw, ids, "step_ready", first, RAW_READY_DATA));
}

static void make_arrays(struct raw_pg *raw, struct raw_range steps)
{
    buf_reset(&raw->ids);
    buf_reset(&raw->places);
    for (size_t i = 0; i < steps.count; i++) {
        buf_char(&raw->ids, i ? ',' : '{');
        buf_str(&raw->ids, raw_instance_at(&raw->plan, steps.at + i)->id);
        buf_printf(&raw->places, "%c%d", i ? ',' : '{',
                   (int)raw_place_at(&raw->plan, steps.at + i));
    }
    buf_char(&raw->ids, '}');
    buf_char(&raw->places, '}');
}

static bool send_completed(struct raw_pg *raw, struct raw_range done)
{
    if (done.count == 0)
        return true;
    make_arrays(raw, done);
    const char *ids = buf_text(&raw->ids), *places = buf_text(&raw->places);
    int32_t last = raw->plan.steps - 1;
    bool is_moving = raw_place_at(&raw->plan, done.at) < last;
    bool is_ending = raw_place_at(&raw->plan, done.at + done.count - 1) == last;
    bool is_sent =
        raw_pg_send(raw, "complete", 5,
                    (const char *[]){ids, places, BENCH_WORKER, RAW_TOKEN, BENCH_PAYLOAD}) &&
        raw_pg_send(raw, "step_event", 4,
                    (const char *[]){ids, places, "step_completed", RAW_COMPLETED_DATA});
    if (is_moving)
        is_sent = is_sent &&
                  raw_pg_send(raw, "ready", 4,
                              (const char *[]){ids, places, raw->plan.type, BENCH_PAYLOAD}) &&
                  raw_pg_send(raw, "move", 3, (const char *[]){ids, places, raw->steps}) &&
                  raw_pg_send(raw, "ready_event", 4,
                              (const char *[]){ids, places, raw->steps, RAW_READY_DATA});
    if (is_ending)
        is_sent = is_sent &&
                  raw_pg_send(raw, "finish", 4,
                              (const char *[]){ids, places, raw->steps, BENCH_PAYLOAD}) &&
                  raw_pg_send(raw, "finish_event", 4,
                              (const char *[]){ids, places, raw->steps, RAW_COMPLETED_DATA});
    return is_sent;
}

static bool send_leased(struct raw_pg *raw, struct raw_range next)
{
    if (next.count == 0)
        return true;
    make_arrays(raw, next);
    const char *ids = buf_text(&raw->ids), *places = buf_text(&raw->places);
    return raw_pg_send(raw, "lease", 4,
                       (const char *[]){ids, places, BENCH_WORKER, RAW_TOKEN}) &&
           raw_pg_send(raw, "step_event", 4,
                       (const char *[]){ids, places, "step_started", RAW_STARTED_DATA});
}

static bool turn(void *arg, struct raw_range done, struct raw_range next)
{
    struct raw_pg *raw = arg;
    return raw_pg_commit(raw, raw_pg_begin(raw) && send_completed(raw, done) &&
                                  send_leased(raw, next));
}

const struct raw_ops raw_flow_postgres = {
    .open = open_raw, .start = start, .turn = turn, .close = raw_pg_close};

/* ---- sizes ------------------------------------------------------------------------------ */

bool flow_sizes_postgres(const char *url, struct flow_sizes *ret_sizes)
{
    PGconn *server = PQconnectdb(url);
    PGresult *result =
        PQexec(server, "SELECT pg_total_relation_size('workflow.workflow_instance'), "
                       "pg_total_relation_size('workflow.workflow_step'), "
                       "pg_total_relation_size('workflow.workflow_event')");
    bool is_known = PQresultStatus(result) == PGRES_TUPLES_OK;
    if (is_known)
        *ret_sizes =
            (struct flow_sizes){.instances = strtoll(PQgetvalue(result, 0, 0), NULL, 10),
                                .steps = strtoll(PQgetvalue(result, 0, 1), NULL, 10),
                                .events = strtoll(PQgetvalue(result, 0, 2), NULL, 10)};
    PQclear(result);
    PQfinish(server);
    return is_known;
}
