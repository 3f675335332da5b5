/* cli/bench_flow_raw_postgres.c - the bare statements for workflows on PostgreSQL: arrays,
 * prepared, pipelined.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "base/buf.h"
#include "base/mem.h"
#include "cli/bench_flow.h"
#include "cli/say.h"

#include <libpq-fe.h>
#include <stdio.h>
#include <stdlib.h>

/* What each change sets, and no more.  $1 are instances, $2 places of steps in them. */
#define GIVEN "unnest($1::uuid[], $2::int[]) AS given (id, place)"
#define NAME(place) "'s' || lpad((" place ")::text, 5, '0')"

static const struct {
    const char *name, *sql;
} statements[] = {
    {"settings", "SELECT set_config('cairn.engine', '1', true)"},
    {"instance",
     "INSERT INTO workflow.workflow_instance (id, workflow, version, input, status, "
     "generation, created_at, updated_at, started_at, is_dlq, has_compensation, "
     "is_undo_failed, undo_first, undo_from, undo_to, undo_below, commits, active_count, "
     "wait_count, sleep_count, decision_count, parked_count, awaited_count) "
     "SELECT id, $2, 1, $3::jsonb, 'running', 1, now(), now(), now(), false, false, false, "
     "-1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0 FROM unnest($1::uuid[]) AS given (id)"},
    {"steps",
     "INSERT INTO workflow.workflow_step (instance_id, instance_seq, seq, name, kind, handler, "
     "max_attempts, priority, next, scope_fork, scope_from, scope_to, status, attempts, "
     "compensation_attempts, input, commit_no, next_run_at, is_ready, task_type, is_held, "
     "is_timed_out, remaining, updated_at) "
     "SELECT id, seq, place, " NAME(
         "place") ", 'task', $2, 3, 50, "
                  "CASE WHEN place + 1 < $3::int THEN place + 1 ELSE -1 END, -1, 0, $3::int - "
                  "1, "
                  "CASE place WHEN 0 THEN 'ready' ELSE 'pending' END, 0, 0, "
                  "CASE place WHEN 0 THEN $4::jsonb END, 0, CASE place WHEN 0 THEN now() END, "
                  "place = 0, "
                  "CASE place WHEN 0 THEN $2 END, false, false, 0, now() "
                  "FROM workflow.workflow_instance, generate_series(0, $3::int - 1) AS place "
                  "WHERE id = ANY ($1::uuid[])"},
    {"started", "INSERT INTO workflow.workflow_event (workflow_id, event_type, step, data, "
                "created_at) SELECT id, $2, $3, $4::jsonb, now() "
                "FROM unnest($1::uuid[]) AS given (id)"},
    {"lease", "UPDATE workflow.workflow_step AS s SET status = 'running', is_ready = false, "
              "locked_by = $3, token = $4, locked_until = now() + interval '30 s', "
              "due_at = now() + interval '30.000001 s', started_at = now(), updated_at = now() "
              "FROM " GIVEN " WHERE s.instance_id = given.id AND s.seq = given.place"},
    {"complete",
     "UPDATE workflow.workflow_step AS s SET status = 'completed', commit_no = given.place + "
     "1, "
     "finished_at = now(), due_at = NULL, locked_by = NULL, token = NULL, locked_until = NULL, "
     "ended_by = $3, ended_token = $4, updated_at = now(), output = $5::jsonb "
     "FROM " GIVEN " WHERE s.instance_id = given.id AND s.seq = given.place"},
    {"ready", "UPDATE workflow.workflow_step AS s SET status = 'ready', next_run_at = now(), "
              "is_ready = true, task_type = $3, updated_at = now(), input = $4::jsonb "
              "FROM " GIVEN " WHERE s.instance_id = given.id AND s.seq = given.place + 1"},
    {"move", "UPDATE workflow.workflow_instance AS i SET commits = given.place + 1, "
             "updated_at = now() FROM " GIVEN " WHERE i.id = given.id AND "
             "given.place + 1 < $3::int"},
    {"finish", "UPDATE workflow.workflow_instance AS i SET status = 'completed', "
               "commits = given.place + 1, active_count = 0, finished_at = now(), "
               "updated_at = now(), output = $4::jsonb FROM " GIVEN
               " WHERE i.id = given.id AND given.place + 1 = $3::int"},
    {"event", "INSERT INTO workflow.workflow_event (workflow_id, event_type, step, data, "
              "created_at) SELECT id, $3, " NAME("place") ", $4::jsonb, now() FROM " GIVEN},
    {"ready_event", "INSERT INTO workflow.workflow_event (workflow_id, event_type, step, data, "
                    "created_at) SELECT id, 'step_ready', " NAME(
                        "place + 1") ", $4::jsonb, "
                                     "now() FROM " GIVEN " WHERE place + 1 < $3::int"},
    {"finish_event", "INSERT INTO workflow.workflow_event (workflow_id, event_type, data, "
                     "created_at) SELECT id, 'workflow_completed', $4::jsonb, now() FROM " GIVEN
                     " WHERE place + 1 = $3::int"},
};

struct raw_pg {
    PGconn *server;
    struct raw_plan plan;
    char steps[16]; /* the number, as text */
    struct buf ids, places;
};

static void close_raw(void *arg)
{
    struct raw_pg *raw = arg;
    PQfinish(raw->server);
    buf_done(&raw->ids);
    buf_done(&raw->places);
    mem_free(raw);
}

static bool refused(struct raw_pg *raw)
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

static bool open_raw(const char *url, const struct raw_plan *plan, void **ret_raw)
{
    struct raw_pg *raw = mem_zalloc(sizeof *raw);
    if (!raw)
        return false;
    raw->plan = *plan;
    snprintf(raw->steps, sizeof raw->steps, "%d", (int)plan->steps);
    raw->server = PQconnectdb(url);
    bool is_open = PQstatus(raw->server) == CONNECTION_OK;
    for (size_t i = 0; is_open && i < sizeof statements / sizeof *statements; i++)
        is_open =
            is_fine(PQprepare(raw->server, statements[i].name, statements[i].sql, 0, NULL));
    if (!is_open || !PQenterPipelineMode(raw->server)) {
        refused(raw);
        close_raw(raw);
        return false;
    }
    *ret_raw = raw;
    return true;
}

static bool send(struct raw_pg *raw, const char *name, int count, const char *const *values)
{
    return PQsendQueryPrepared(raw->server, name, count, values, NULL, NULL, 0);
}

static bool send_text(struct raw_pg *raw, const char *sql)
{
    return PQsendQueryParams(raw->server, sql, 0, NULL, NULL, NULL, NULL, 0);
}

static bool begin(struct raw_pg *raw)
{
    return send_text(raw, "BEGIN") && send(raw, "settings", 0, NULL);
}

/* Reads all answers up to the end of the pipeline. */
static bool take_answers(struct raw_pg *raw)
{
    bool are_fine = PQpipelineSync(raw->server);
    for (bool is_synced = !are_fine; !is_synced;) {
        PGresult *result = PQgetResult(raw->server);
        if (!result) {
            if (PQstatus(raw->server) != CONNECTION_OK)
                return refused(raw);
            continue; /* between two answers */
        }
        is_synced = PQresultStatus(result) == PGRES_PIPELINE_SYNC;
        are_fine = is_fine(result) && are_fine;
    }
    return are_fine || refused(raw);
}

/* ---- transactions ----------------------------------------------------------------------- */

static bool start(void *arg, uint64_t from, size_t count)
{
    struct raw_pg *raw = arg;
    char first[16];
    snprintf(first, sizeof first, RAW_STEP_NAME, 0);
    buf_reset(&raw->ids);
    for (size_t i = 0; i < count; i++) {
        buf_char(&raw->ids, i ? ',' : '{');
        buf_str(&raw->ids, raw->plan.instances[from + i].id);
    }
    buf_char(&raw->ids, '}');
    const char *ids = buf_text(&raw->ids);
    bool is_sent =
        begin(raw) &&
        send(raw, "instance", 3, (const char *[]){ids, raw->plan.workflow, RAW_PAYLOAD}) &&
        send(raw, "steps", 4, (const char *[]){ids, raw->plan.type, raw->steps, RAW_PAYLOAD}) &&
        send(raw, "started", 4,
             (const char *[]){ids, "workflow_started", NULL, RAW_RUNNING_DATA}) &&
        send(raw, "started", 4, (const char *[]){ids, "step_ready", first, RAW_READY_DATA}) &&
        send_text(raw, "COMMIT");
    return is_sent ? take_answers(raw) : refused(raw);
}

static void make_arrays(struct raw_pg *raw, struct raw_steps steps)
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

static bool send_completed(struct raw_pg *raw, struct raw_steps done)
{
    if (done.count == 0)
        return true;
    make_arrays(raw, done);
    const char *ids = buf_text(&raw->ids), *places = buf_text(&raw->places);
    int32_t last = raw->plan.steps - 1;
    bool is_moving = raw_place_at(&raw->plan, done.at) < last;
    bool is_ending = raw_place_at(&raw->plan, done.at + done.count - 1) == last;
    bool is_sent = send(raw, "complete", 5,
                        (const char *[]){ids, places, BENCH_WORKER, RAW_TOKEN, RAW_PAYLOAD}) &&
                   send(raw, "event", 4,
                        (const char *[]){ids, places, "step_completed", RAW_COMPLETED_DATA});
    if (is_moving)
        is_sent =
            is_sent &&
            send(raw, "ready", 4, (const char *[]){ids, places, raw->plan.type, RAW_PAYLOAD}) &&
            send(raw, "move", 3, (const char *[]){ids, places, raw->steps}) &&
            send(raw, "ready_event", 4,
                 (const char *[]){ids, places, raw->steps, RAW_READY_DATA});
    if (is_ending)
        is_sent =
            is_sent &&
            send(raw, "finish", 4, (const char *[]){ids, places, raw->steps, RAW_PAYLOAD}) &&
            send(raw, "finish_event", 4,
                 (const char *[]){ids, places, raw->steps, RAW_COMPLETED_DATA});
    return is_sent;
}

static bool send_leased(struct raw_pg *raw, struct raw_steps next)
{
    if (next.count == 0)
        return true;
    make_arrays(raw, next);
    const char *ids = buf_text(&raw->ids), *places = buf_text(&raw->places);
    return send(raw, "lease", 4, (const char *[]){ids, places, BENCH_WORKER, RAW_TOKEN}) &&
           send(raw, "event", 4,
                (const char *[]){ids, places, "step_started", RAW_STARTED_DATA});
}

static bool turn(void *arg, struct raw_steps done, struct raw_steps next)
{
    struct raw_pg *raw = arg;
    bool is_sent = begin(raw) && send_completed(raw, done) && send_leased(raw, next) &&
                   send_text(raw, "COMMIT");
    return is_sent ? take_answers(raw) : refused(raw);
}

/* ---- sizes ------------------------------------------------------------------------------ */

static bool sizes(const char *url, struct flow_sizes *ret_sizes)
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

const struct raw_flow_ops raw_flow_postgres = {
    .open = open_raw, .start = start, .turn = turn, .close = close_raw, .sizes = sizes};
