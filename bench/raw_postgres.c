/* bench/raw_postgres.c - bare statements on PostgreSQL: arrays, prepared, pipelined.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "base/buf.h"
#include "base/mem.h"
#include "bench/flow.h"
#include "bench/function.h"
#include "bench/jobs.h"
#include "bench/raw.h"
#include "cli/say.h"

#include <libpq-fe.h>
#include <stdio.h>
#include <stdlib.h>

struct raw_pg;

struct statement {
    const char *name, *sql;
};

/* The changes of one kind of work: each sends statements for a range of items or pieces, which is
 * not empty. */
struct raw_changes {
    const struct statement *statements;
    size_t statement_count;
    bool (*start)(struct raw_pg *raw, struct raw_range items);
    bool (*complete)(struct raw_pg *raw, struct raw_range done);
    bool (*lease)(struct raw_pg *raw, struct raw_range next);
};

struct raw_pg {
    PGconn *server;
    struct raw_plan plan;
    const struct raw_changes *changes;
    char steps[16]; /* the plan's number, as text */
    struct buf ids, places;
};

/* $1 are instances, $2 places of steps in them. */
#define RAW_GIVEN "unnest($1::uuid[], $2::int[]) AS given (id, place)"
#define RAW_NAME(place) "'s' || lpad((" place ")::text, 5, '0')"

static const struct statement shared[] = {
    /* The engine's setting, so that the triggers for foreign writers stay silent here too. */
    {"settings", "SELECT set_config('cairn.engine', '1', true), "
                 "set_config('cairn.leases', '1', true)"},
    {"event", "INSERT INTO workflow.workflow_event_loose (workflow_id, event_type, step, data, "
              "created_at) SELECT id, $2, $3, $4::jsonb, now() "
              "FROM unnest($1::uuid[]) AS given (id)"},
    {"instance",
     "INSERT INTO workflow.workflow_instance (id, workflow, version, input, status, "
     "generation, created_at, updated_at, started_at, is_dlq, has_compensation, "
     "is_undo_failed, undo_first, undo_from, undo_to, undo_below, commits, active_count, "
     "wait_count, sleep_count, decision_count, parked_count, awaited_count, is_function, "
     "revision, places, is_forced, is_woken) "
     "SELECT id, $2, 1, $3::jsonb, 'running', 1, now(), now(), now(), false, false, false, "
     "-1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, $4::boolean, 1, $4::boolean::int, false, false "
     "FROM unnest($1::uuid[]) AS given (id)"},
    {"lease", "UPDATE workflow.workflow_step AS s SET status = 'running', is_ready = false, "
              "locked_by = $3, token = $4, locked_until = now() + interval '30 s', "
              "due_at = now() + interval '30.000001 s', started_at = now(), updated_at = now() "
              "FROM " RAW_GIVEN " WHERE s.instance_id = given.id AND s.seq = given.place"},
};

static void close_raw(void *arg)
{
    struct raw_pg *raw = arg;
    PQfinish(raw->server);
    buf_done(&raw->ids);
    buf_done(&raw->places);
    mem_free(raw);
}

static bool failed(struct raw_pg *raw)
{
    say_error("could not run the bare statements: %s", PQerrorMessage(raw->server));
    return false;
}

static bool is_fine(PGresult *result)
{
    ExecStatusType status = PQresultStatus(result);
    PQclear(result);
    return status == PGRES_COMMAND_OK || status == PGRES_TUPLES_OK ||
           status == PGRES_PIPELINE_SYNC;
}

static bool prepare(struct raw_pg *raw, const struct statement *statements, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (!is_fine(PQprepare(raw->server, statements[i].name, statements[i].sql, 0, NULL)))
            return false;
    return true;
}

static bool open_raw(const char *url, const struct raw_plan *plan,
                     const struct raw_changes *changes, void **ret_raw)
{
    struct raw_pg *raw = mem_zalloc(sizeof *raw);
    if (!raw)
        return false;
    raw->plan = *plan;
    raw->changes = changes;
    snprintf(raw->steps, sizeof raw->steps, "%d", (int)plan->steps);
    raw->server = PQconnectdb(url);
    if (PQstatus(raw->server) != CONNECTION_OK ||
        !prepare(raw, shared, sizeof shared / sizeof *shared) ||
        !prepare(raw, changes->statements, changes->statement_count) ||
        !PQenterPipelineMode(raw->server)) {
        failed(raw);
        close_raw(raw);
        return false;
    }
    *ret_raw = raw;
    return true;
}

static bool send_named(struct raw_pg *raw, const char *name, int count,
                       const char *const *values)
{
    return PQsendQueryPrepared(raw->server, name, count, values, NULL, NULL, 0);
}

static bool send_event(struct raw_pg *raw, const char *ids, const char *type, const char *step,
                       const char *data)
{
    return send_named(raw, "event", 4, (const char *[]){ids, type, step, data});
}

static bool send_text(struct raw_pg *raw, const char *sql)
{
    return PQsendQueryParams(raw->server, sql, 0, NULL, NULL, NULL, NULL, 0);
}

static bool begin(struct raw_pg *raw)
{
    return send_text(raw, "BEGIN") && send_named(raw, "settings", 0, NULL);
}

/* Reads all answers up to the end of the pipeline. */
static bool take_answers(struct raw_pg *raw)
{
    bool are_fine = PQpipelineSync(raw->server);
    for (bool is_synced = !are_fine; !is_synced;) {
        PGresult *result = PQgetResult(raw->server);
        if (!result) {
            if (PQstatus(raw->server) != CONNECTION_OK)
                return failed(raw);
            continue; /* between two answers */
        }
        is_synced = PQresultStatus(result) == PGRES_PIPELINE_SYNC;
        are_fine = is_fine(result) && are_fine;
    }
    return are_fine || failed(raw);
}

static bool commit(struct raw_pg *raw, bool is_sent)
{
    return is_sent && send_text(raw, "COMMIT") ? take_answers(raw) : failed(raw);
}

static bool start(void *arg, struct raw_range items)
{
    struct raw_pg *raw = arg;
    return commit(raw, begin(raw) && raw->changes->start(raw, items));
}

static bool turn(void *arg, struct raw_range done, struct raw_range next)
{
    struct raw_pg *raw = arg;
    return commit(raw, begin(raw) && (!done.count || raw->changes->complete(raw, done)) &&
                           (!next.count || raw->changes->lease(raw, next)));
}

const struct raw_ops raw_postgres = {
    .open = open_raw, .start = start, .turn = turn, .close = close_raw};

/* The ids of items, as an array. */
static const char *ids_of(struct raw_pg *raw, struct raw_range items)
{
    buf_reset(&raw->ids);
    for (size_t i = 0; i < items.count; i++) {
        buf_char(&raw->ids, i ? ',' : '{');
        buf_str(&raw->ids, raw->plan.items[items.at + i].id);
    }
    buf_char(&raw->ids, '}');
    return buf_text(&raw->ids);
}

/* ---- jobs ------------------------------------------------------------------------------------ */

static const struct statement job_statements[] = {
    {"insert",
     "WITH added AS ("
     "INSERT INTO workflow.workflow_run (id, type, payload, status, priority, run_at, "
     "attempt, max_attempts, created_at, updated_at, is_ready) "
     "SELECT id, $2, $3::jsonb, 'pending', 100, now(), 0, 3, now(), now(), true "
     "FROM unnest($1::uuid[]) AS given (id) RETURNING id, seq) "
     "INSERT INTO workflow.workflow_run_order (seq, id) SELECT seq, id FROM added"},
    {"lease_job",
     "WITH noted AS (INSERT INTO workflow.workflow_run_lease (until, ids) "
     "VALUES (now() + interval '30 s', $1::uuid[])) "
     "UPDATE workflow.workflow_run AS r SET status = 'leased', is_ready = false, "
     "leased_by = $2, lease_until = now() + interval '30 s', lease_token = $3, "
     "updated_at = now() FROM unnest($1::uuid[]) AS given (id) WHERE r.id = given.id"},
    {"complete_job",
     "UPDATE workflow.workflow_run AS r SET status = 'succeeded', is_ready = false, "
     "leased_by = NULL, lease_until = NULL, lease_token = NULL, ended_by = $2, "
     "ended_token = $3, result = 'null', updated_at = now() "
     "FROM unnest($1::uuid[]) AS given (id) WHERE r.id = given.id"},
};

static bool send_change(struct raw_pg *raw, const char *change, struct raw_range jobs,
                        const char *const *events)
{
    const char *ids = ids_of(raw, jobs);
    if (!send_named(raw, change, 3, (const char *[]){ids, BENCH_WORKER, RAW_TOKEN}))
        return false;
    for (; *events; events++)
        if (!send_event(raw, ids, *events, NULL, RAW_CLAIM_DATA))
            return false;
    return true;
}

static bool job_start(struct raw_pg *raw, struct raw_range items)
{
    const char *ids = ids_of(raw, items);
    return send_named(raw, "insert", 3, (const char *[]){ids, raw->plan.type, BENCH_PAYLOAD}) &&
           send_event(raw, ids, "created", NULL, "{}");
}

static bool job_complete(struct raw_pg *raw, struct raw_range done)
{
    return send_change(raw, "complete_job", done, (const char *const[]){"succeeded", NULL});
}

static bool job_lease(struct raw_pg *raw, struct raw_range next)
{
    return send_change(raw, "lease_job", next,
                       (const char *const[]){"leased", "started", NULL});
}

const struct raw_changes raw_jobs_postgres = {
    .statements = job_statements,
    .statement_count = sizeof job_statements / sizeof *job_statements,
    .start = job_start,
    .complete = job_complete,
    .lease = job_lease,
};

/* ---- workflows ------------------------------------------------------------------------------- */

/* What each change sets, and no more. */
static const struct statement flow_statements[] = {
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
     "INSERT INTO workflow.workflow_event_loose (workflow_id, event_type, step, data, "
     "created_at) SELECT id, $3, " RAW_NAME("place") ", $4::jsonb, now() FROM " RAW_GIVEN},
    {"ready_event",
     "INSERT INTO workflow.workflow_event_loose (workflow_id, event_type, step, data, "
     "created_at) SELECT id, 'step_ready', " RAW_NAME(
         "place + 1") ", $4::jsonb, "
                      "now() FROM " RAW_GIVEN " WHERE place + 1 < $3::int"},
    {"finish_event",
     "INSERT INTO workflow.workflow_event_loose (workflow_id, event_type, data, "
     "created_at) SELECT id, 'workflow_completed', $4::jsonb, now() "
     "FROM " RAW_GIVEN " WHERE place + 1 = $3::int"},
};

static bool flow_start(struct raw_pg *raw, struct raw_range items)
{
    char first[16];
    snprintf(first, sizeof first, RAW_STEP_NAME, 0);
    const char *ids = ids_of(raw, items);
    return send_named(raw, "instance", 4,
                      (const char *[]){ids, raw->plan.workflow, BENCH_PAYLOAD, "false"}) &&
           send_named(raw, "steps", 4,
                      (const char *[]){ids, raw->plan.type, raw->steps, BENCH_PAYLOAD}) &&
           send_event(raw, ids, "workflow_started", NULL, RAW_RUNNING_DATA) &&
           send_event(raw, ids, "step_ready", first, RAW_READY_DATA);
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

static bool flow_complete(struct raw_pg *raw, struct raw_range done)
{
    make_arrays(raw, done);
    const char *ids = buf_text(&raw->ids), *places = buf_text(&raw->places);
    int32_t last = raw->plan.steps - 1;
    bool is_moving = raw_place_at(&raw->plan, done.at) < last;
    bool is_ending = raw_place_at(&raw->plan, done.at + done.count - 1) == last;
    bool is_sent =
        send_named(raw, "complete", 5,
                   (const char *[]){ids, places, BENCH_WORKER, RAW_TOKEN, BENCH_PAYLOAD}) &&
        send_named(raw, "step_event", 4,
                   (const char *[]){ids, places, "step_completed", RAW_COMPLETED_DATA});
    if (is_moving)
        is_sent = is_sent &&
                  send_named(raw, "ready", 4,
                             (const char *[]){ids, places, raw->plan.type, BENCH_PAYLOAD}) &&
                  send_named(raw, "move", 3, (const char *[]){ids, places, raw->steps}) &&
                  send_named(raw, "ready_event", 4,
                             (const char *[]){ids, places, raw->steps, RAW_READY_DATA});
    if (is_ending)
        is_sent = is_sent &&
                  send_named(raw, "finish", 4,
                             (const char *[]){ids, places, raw->steps, BENCH_PAYLOAD}) &&
                  send_named(raw, "finish_event", 4,
                             (const char *[]){ids, places, raw->steps, RAW_COMPLETED_DATA});
    return is_sent;
}

static bool flow_lease(struct raw_pg *raw, struct raw_range next)
{
    make_arrays(raw, next);
    const char *ids = buf_text(&raw->ids), *places = buf_text(&raw->places);
    return send_named(raw, "lease", 4,
                      (const char *[]){ids, places, BENCH_WORKER, RAW_TOKEN}) &&
           send_named(raw, "step_event", 4,
                      (const char *[]){ids, places, "step_started", RAW_STARTED_DATA});
}

const struct raw_changes raw_flow_postgres = {
    .statements = flow_statements,
    .statement_count = sizeof flow_statements / sizeof *flow_statements,
    .start = flow_start,
    .complete = flow_complete,
    .lease = flow_lease,
};

/* ---- functions ------------------------------------------------------------------------------- */

/* What each change sets, and no more.  $1 are instances; of "remember" and its events $2 and $3
 * the first and the last place. */
static const struct statement function_statements[] = {
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
    {"remembered", "INSERT INTO workflow.workflow_event_loose (workflow_id, event_type, step, "
                   "data, created_at) "
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

static bool function_start(struct raw_pg *raw, struct raw_range items)
{
    const char *ids = ids_of(raw, items);
    const char *type = raw->plan.type;
    return send_named(raw, "instance", 4,
                      (const char *[]){ids, raw->plan.workflow, BENCH_PAYLOAD, "true"}) &&
           send_named(raw, "runner", 3, (const char *[]){ids, type, BENCH_PAYLOAD}) &&
           send_event(raw, ids, "workflow_started", NULL, RAW_RUNNING_DATA) &&
           send_event(raw, ids, "step_ready", type, RAW_READY_DATA);
}

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
    return send_named(raw, "end", 5,
                      (const char *[]){ids, last, BENCH_WORKER, RAW_TOKEN, BENCH_PAYLOAD}) &&
           send_named(raw, "finish", 3, (const char *[]){ids, last, BENCH_PAYLOAD}) &&
           send_event(raw, ids, "step_completed", raw->plan.type, RAW_COMPLETED_DATA) &&
           send_event(raw, ids, "workflow_completed", NULL, RAW_COMPLETED_DATA);
}

static bool send_piece(struct raw_pg *raw, struct raw_range items, int32_t piece)
{
    char from[16], to[16];
    int32_t size = raw->plan.steps / raw->plan.pieces, last = (piece + 1) * size;
    const char *ids = ids_of(raw, items);
    snprintf(from, sizeof from, "%d", (int)(piece * size + 1));
    snprintf(to, sizeof to, "%d", (int)last);
    if (!send_named(raw, "remember", 4, (const char *[]){ids, from, to, BENCH_PAYLOAD}) ||
        !send_named(raw, "remembered", 4, (const char *[]){ids, from, to, RAW_COMPLETED_DATA}))
        return false;
    if (last == raw->plan.steps)
        return send_end(raw, ids, to);
    return send_named(raw, "extend", 1, (const char *[]){ids}) &&
           send_named(raw, "move", 2, (const char *[]){ids, to});
}

/* Only a first piece begins its passage. */
static bool send_lease(struct raw_pg *raw, struct raw_range items, int32_t piece)
{
    if (piece > 0)
        return true;
    const char *ids = ids_of(raw, items);
    return send_named(raw, "lease_runner", 3, (const char *[]){ids, BENCH_WORKER, RAW_TOKEN}) &&
           send_event(raw, ids, "step_started", raw->plan.type, RAW_STARTED_DATA);
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

static bool function_complete(struct raw_pg *raw, struct raw_range done)
{
    return send_each(raw, done, send_piece);
}

static bool function_lease(struct raw_pg *raw, struct raw_range next)
{
    return send_each(raw, next, send_lease);
}

const struct raw_changes raw_function_postgres = {
    .statements = function_statements,
    .statement_count = sizeof function_statements / sizeof *function_statements,
    .start = function_start,
    .complete = function_complete,
    .lease = function_lease,
};

/* ---- sizes ------------------------------------------------------------------------------ */

bool flow_sizes_postgres(const char *url, struct flow_sizes *ret_sizes)
{
    PGconn *server = PQconnectdb(url);
    PGresult *result =
        PQexec(server, "SELECT pg_total_relation_size('workflow.workflow_instance'), "
                       "pg_total_relation_size('workflow.workflow_step'), "
                       "pg_total_relation_size('workflow.workflow_event_log') + "
                       "pg_total_relation_size('workflow.workflow_event_loose')");
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

int64_t raw_postgres_written(const char *url)
{
    int64_t bytes = -1;
    PGconn *server = PQconnectdb(url);
    if (PQstatus(server) == CONNECTION_OK) {
        PGresult *result =
            PQexec(server, "SELECT (pg_current_wal_lsn() - '0/0'::pg_lsn)::bigint");
        if (PQresultStatus(result) == PGRES_TUPLES_OK)
            bytes = strtoll(PQgetvalue(result, 0, 0), NULL, 10);
        PQclear(result);
    }
    PQfinish(server);
    return bytes;
}

/* ---- a held snapshot ------------------------------------------------------------------------ */

/* The first statement takes the snapshot. */
void *raw_postgres_hold(const char *url)
{
    PGconn *server = PQconnectdb(url);
    PGresult *result = PQexec(server, "BEGIN ISOLATION LEVEL REPEATABLE READ; "
                                      "SELECT count(*) FROM pg_catalog.pg_database");
    bool is_held = PQresultStatus(result) == PGRES_TUPLES_OK;
    PQclear(result);
    if (is_held)
        return server;
    PQfinish(server);
    return NULL;
}

void raw_postgres_release(void *snapshot)
{
    PQfinish(snapshot);
}
