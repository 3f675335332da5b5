/* bench/raw_postgres.c - bare statements on PostgreSQL: arrays, prepared, pipelined.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "base/buf.h"
#include "base/mem.h"
#include "bench/flow.h"
#include "bench/function.h"
#include "bench/jobs.h"
#include "bench/raw_log.h"
#include "cli/say.h"

#include <inttypes.h>
#include <libpq-fe.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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
    char first[24]; /* the id of the first of the events that were told last, as text */
    struct buf ids, places;

    struct raw_log log;
    struct raw_log_arrays row;
};

/* $1 are instances, $2 places of steps in them. */
#define RAW_GIVEN "unnest($1::uuid[], $2::int[]) WITH ORDINALITY AS given (id, place, n)"
#define RAW_ITEMS "unnest($1::uuid[]) WITH ORDINALITY AS given (id, n)"
#define RAW_NAME(place) "'s' || lpad((" place ")::text, 5, '0')"

static const struct statement shared[] = {
    /* The engine's setting, so that the triggers for foreign writers stay silent here too. */
    {"settings", "SELECT set_config('cairn.engine', '1', true), "
                 "set_config('cairn.leases', '1', true), workflow.mark_events()"},
    {"number", "SELECT nextval('workflow.workflow_event_id_seq') AS number"},
    {"log", "INSERT INTO workflow.workflow_event_log (id, at, ids, prev, kinds, types, steps, "
            "data) VALUES ($1::bigint, now(), $2::bytea, $3::bytea, $4::bytea, $5::text[], "
            "$6::text[], $7::jsonb[])"},
    {"instance",
     "INSERT INTO workflow.workflow_instance (id, workflow, version, input, status, "
     "generation, created_at, updated_at, started_at, is_dlq, has_compensation, "
     "is_undo_failed, undo_first, undo_from, undo_to, undo_below, commits, active_count, "
     "wait_count, sleep_count, decision_count, parked_count, awaited_count, is_function, "
     "revision, places, is_forced, is_woken, last_event, event_count) "
     "SELECT id, $2, 1, $3::jsonb, 'running', 1, now(), now(), now(), false, false, false, "
     "-1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, $4::boolean, 1, $4::boolean::int, false, false, "
     "$5::bigint + n - 1, 2 FROM " RAW_ITEMS},
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
    raw_log_arrays_done(&raw->row);
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

static void take_number(struct raw_pg *raw, const PGresult *result)
{
    if (PQntuples(result) == 1 && strcmp(PQfname(result, 0), "number") == 0)
        raw->log.number = strtoll(PQgetvalue(result, 0, 0), NULL, 10);
}

static bool prepare(struct raw_pg *raw, const struct statement *statements, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (!is_fine(PQprepare(raw->server, statements[i].name, statements[i].sql, 0, NULL)))
            return false;
    return true;
}

/* A number for the next row of the log.  The others are asked for beforehand, so that nobody waits. */
static bool find_number(struct raw_pg *raw)
{
    PGresult *result = PQexec(raw->server, shared[1].sql);
    take_number(raw, result);
    return is_fine(result);
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
        !prepare(raw, changes->statements, changes->statement_count) || !find_number(raw) ||
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
        take_number(raw, result);
        are_fine = is_fine(result) && are_fine;
    }
    return are_fine || failed(raw);
}

/* ---- events ---------------------------------------------------------------------------------- */

/* Sends what has been told as one row. */
static bool send_log(struct raw_pg *raw)
{
    char number[24];
    if (raw->log.slot_count == 0)
        return true;
    raw_log_make(&raw->log, &raw->row);
    snprintf(number, sizeof number, "%" PRId64, raw->log.number);
    raw_log_clear(&raw->log);
    return send_named(raw, "log", 7,
                      (const char *[]){number, buf_text(&raw->row.subjects),
                                       buf_text(&raw->row.prev), buf_text(&raw->row.kinds),
                                       buf_text(&raw->row.types), buf_text(&raw->row.steps),
                                       buf_text(&raw->row.data)}) &&
           send_named(raw, "number", 0, NULL);
}

/* Makes room for an event of each of so many items, which follow each other from raw->first on. */
static bool begin_events(struct raw_pg *raw, size_t count)
{
    if (!raw_log_has_room(&raw->log, count) && !(send_log(raw) && take_answers(raw)))
        return false;
    snprintf(raw->first, sizeof raw->first, "%" PRId64,
             raw->log.number << RAW_SLOT_BITS | (int64_t)raw->log.slot_count);
    return true;
}

static bool tell(struct raw_pg *raw, struct raw_range items, const char *type, const char *step,
                 const char *data)
{
    if (!begin_events(raw, items.count))
        return false;
    for (size_t i = 0; i < items.count; i++)
        raw_log_add(&raw->log, &raw->plan.items[items.at + i], type, step, data);
    return true;
}

/* ---- transactions ---------------------------------------------------------------------------- */

static bool send_text(struct raw_pg *raw, const char *sql)
{
    return PQsendQueryParams(raw->server, sql, 0, NULL, NULL, NULL, NULL, 0);
}

static bool begin(struct raw_pg *raw)
{
    return send_text(raw, "BEGIN") && send_named(raw, "settings", 0, NULL);
}

static bool commit(struct raw_pg *raw, bool is_sent)
{
    return is_sent && send_log(raw) && send_text(raw, "COMMIT") ? take_answers(raw)
                                                                : failed(raw);
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
     "attempt, max_attempts, created_at, updated_at, is_ready, last_event, event_count) "
     "SELECT id, $2, $3::jsonb, 'pending', 100, now(), 0, 3, now(), now(), true, "
     "$4::bigint + n - 1, 1 FROM " RAW_ITEMS " RETURNING id, seq) "
     "INSERT INTO workflow.workflow_run_order (seq, id) SELECT seq, id FROM added"},
    {"lease_job",
     "WITH noted AS (INSERT INTO workflow.workflow_run_lease (until, ids) "
     "VALUES (now() + interval '30 s', $1::uuid[])) "
     "UPDATE workflow.workflow_run AS r SET status = 'leased', is_ready = false, "
     "leased_by = $2, lease_until = now() + interval '30 s', lease_token = $3, "
     "updated_at = now(), last_event = $4::bigint + n - 1, event_count = r.event_count + 2 "
     "FROM " RAW_ITEMS " WHERE r.id = given.id"},
    {"complete_job",
     "UPDATE workflow.workflow_run AS r SET status = 'succeeded', is_ready = false, "
     "leased_by = NULL, lease_until = NULL, lease_token = NULL, ended_by = $2, "
     "ended_token = $3, result = 'null', updated_at = now(), "
     "last_event = $4::bigint + n - 1, event_count = r.event_count + 1 "
     "FROM " RAW_ITEMS " WHERE r.id = given.id"},
};

static bool send_change(struct raw_pg *raw, const char *change, struct raw_range jobs,
                        const char *const *events)
{
    const char *ids = ids_of(raw, jobs);
    for (; *events; events++)
        if (!tell(raw, jobs, *events, NULL, RAW_CLAIM_DATA))
            return false;
    return send_named(raw, change, 4,
                      (const char *[]){ids, BENCH_WORKER, RAW_TOKEN, raw->first});
}

static bool job_start(struct raw_pg *raw, struct raw_range items)
{
    const char *ids = ids_of(raw, items);
    return tell(raw, items, "created", NULL, "{}") &&
           send_named(raw, "insert", 4,
                      (const char *[]){ids, raw->plan.type, BENCH_PAYLOAD, raw->first});
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
             "updated_at = now(), last_event = $4::bigint + n - 1, "
             "event_count = i.event_count + 2 FROM " RAW_GIVEN
             " WHERE i.id = given.id AND given.place + 1 < $3::int"},
    {"finish", "UPDATE workflow.workflow_instance AS i SET status = 'completed', "
               "commits = given.place + 1, active_count = 0, finished_at = now(), "
               "updated_at = now(), last_event = $5::bigint + n - 1, "
               "event_count = i.event_count + 2, output = $4::jsonb FROM " RAW_GIVEN
               " WHERE i.id = given.id AND given.place + 1 = $3::int"},
};

static bool flow_start(struct raw_pg *raw, struct raw_range items)
{
    char first[16];
    snprintf(first, sizeof first, RAW_STEP_NAME, 0);
    const char *ids = ids_of(raw, items);
    return tell(raw, items, "workflow_started", NULL, RAW_RUNNING_DATA) &&
           tell(raw, items, "step_ready", first, RAW_READY_DATA) &&
           send_named(
               raw, "instance", 5,
               (const char *[]){ids, raw->plan.workflow, BENCH_PAYLOAD, "false", raw->first}) &&
           send_named(raw, "steps", 4,
                      (const char *[]){ids, raw->plan.type, raw->steps, BENCH_PAYLOAD});
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

enum step_event { STEP_STARTED, STEP_COMPLETED, STEP_BEHIND };

static void tell_step(struct raw_pg *raw, uint64_t at, enum step_event event)
{
    char name[16];
    struct raw_item *instance = raw_instance_at(&raw->plan, at);
    int32_t place = raw_place_at(&raw->plan, at) + (event == STEP_BEHIND);
    snprintf(name, sizeof name, RAW_STEP_NAME, (int)place);
    if (event == STEP_STARTED)
        raw_log_add_loose(&raw->log, instance, "step_started", name, RAW_STARTED_DATA);
    else if (event == STEP_COMPLETED)
        raw_log_add(&raw->log, instance, "step_completed", name, RAW_COMPLETED_DATA);
    else if (place < raw->plan.steps)
        raw_log_add(&raw->log, instance, "step_ready", name, RAW_READY_DATA);
    else
        raw_log_add(&raw->log, instance, "workflow_completed", NULL, RAW_COMPLETED_DATA);
}

static bool tell_steps(struct raw_pg *raw, struct raw_range steps, enum step_event event)
{
    if (!begin_events(raw, steps.count))
        return false;
    for (size_t i = 0; i < steps.count; i++)
        tell_step(raw, steps.at + i, event);
    return true;
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
        tell_steps(raw, done, STEP_COMPLETED) && tell_steps(raw, done, STEP_BEHIND);
    if (is_moving)
        is_sent =
            is_sent &&
            send_named(raw, "ready", 4,
                       (const char *[]){ids, places, raw->plan.type, BENCH_PAYLOAD}) &&
            send_named(raw, "move", 4, (const char *[]){ids, places, raw->steps, raw->first});
    if (is_ending)
        is_sent = is_sent && send_named(raw, "finish", 5,
                                        (const char *[]){ids, places, raw->steps, BENCH_PAYLOAD,
                                                         raw->first});
    return is_sent;
}

static bool flow_lease(struct raw_pg *raw, struct raw_range next)
{
    make_arrays(raw, next);
    const char *ids = buf_text(&raw->ids), *places = buf_text(&raw->places);
    return send_named(raw, "lease", 4,
                      (const char *[]){ids, places, BENCH_WORKER, RAW_TOKEN}) &&
           tell_steps(raw, next, STEP_STARTED);
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
    {"extend", "UPDATE workflow.workflow_step SET locked_until = now() + interval '30 s', "
               "due_at = now() + interval '30.000001 s', updated_at = now() "
               "WHERE instance_id = ANY ($1::uuid[]) AND seq = 0"},
    {"move", "UPDATE workflow.workflow_instance AS i SET commits = $2::int, "
             "revision = $2::int + 1, places = $2::int + 1, updated_at = now(), "
             "last_event = $3::bigint + n - 1, event_count = i.event_count + $4::int "
             "FROM " RAW_ITEMS " WHERE i.id = given.id"},
    {"end", "UPDATE workflow.workflow_step SET status = 'completed', commit_no = $2::int + 1, "
            "finished_at = now(), due_at = NULL, locked_by = NULL, token = NULL, "
            "locked_until = NULL, ended_by = $3, ended_token = $4, updated_at = now(), "
            "output = $5::jsonb WHERE instance_id = ANY ($1::uuid[]) AND seq = 0"},
    {"finish", "UPDATE workflow.workflow_instance AS i SET status = 'completed', "
               "commits = $2::int + 1, revision = $2::int + 2, places = $2::int + 1, "
               "active_count = 0, finished_at = now(), updated_at = now(), output = $3::jsonb, "
               "last_event = $4::bigint + n - 1, event_count = i.event_count + $5::int + 2 "
               "FROM " RAW_ITEMS " WHERE i.id = given.id"},
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
    return tell(raw, items, "workflow_started", NULL, RAW_RUNNING_DATA) &&
           tell(raw, items, "step_ready", type, RAW_READY_DATA) &&
           send_named(
               raw, "instance", 5,
               (const char *[]){ids, raw->plan.workflow, BENCH_PAYLOAD, "true", raw->first}) &&
           send_named(raw, "runner", 3, (const char *[]){ids, type, BENCH_PAYLOAD});
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

static bool send_end(struct raw_pg *raw, struct raw_range items, const char *last,
                     const char *size)
{
    const char *ids = ids_of(raw, items);
    return tell(raw, items, "step_completed", raw->plan.type, RAW_COMPLETED_DATA) &&
           tell(raw, items, "workflow_completed", NULL, RAW_COMPLETED_DATA) &&
           send_named(raw, "end", 5,
                      (const char *[]){ids, last, BENCH_WORKER, RAW_TOKEN, BENCH_PAYLOAD}) &&
           send_named(raw, "finish", 5,
                      (const char *[]){ids, last, BENCH_PAYLOAD, raw->first, size});
}

static bool tell_remembered(struct raw_pg *raw, struct raw_range items, int32_t from,
                            int32_t to)
{
    for (int32_t place = from; place <= to; place++) {
        char name[16];
        snprintf(name, sizeof name, RAW_STEP_NAME, (int)place);
        if (!tell(raw, items, "step_completed", name, RAW_COMPLETED_DATA))
            return false;
    }
    return true;
}

static bool send_piece(struct raw_pg *raw, struct raw_range items, int32_t piece)
{
    char from[16], to[16], events[16];
    int32_t size = raw->plan.steps / raw->plan.pieces, last = (piece + 1) * size;
    const char *ids = ids_of(raw, items);
    snprintf(from, sizeof from, "%d", (int)(piece * size + 1));
    snprintf(to, sizeof to, "%d", (int)last);
    snprintf(events, sizeof events, "%d", (int)size);
    if (!send_named(raw, "remember", 4, (const char *[]){ids, from, to, BENCH_PAYLOAD}) ||
        !tell_remembered(raw, items, piece * size + 1, last))
        return false;
    if (last == raw->plan.steps)
        return send_end(raw, items, to, events);
    return send_named(raw, "extend", 1, (const char *[]){ids}) &&
           send_named(raw, "move", 4, (const char *[]){ids, to, raw->first, events});
}

/* Only a first piece begins its passage. */
static bool send_lease(struct raw_pg *raw, struct raw_range items, int32_t piece)
{
    if (piece > 0)
        return true;
    const char *ids = ids_of(raw, items);
    if (!begin_events(raw, items.count))
        return false;
    for (size_t i = 0; i < items.count; i++)
        raw_log_add_loose(&raw->log, &raw->plan.items[items.at + i], "step_started",
                          raw->plan.type, RAW_STARTED_DATA);
    return send_named(raw, "lease_runner", 3, (const char *[]){ids, BENCH_WORKER, RAW_TOKEN});
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
