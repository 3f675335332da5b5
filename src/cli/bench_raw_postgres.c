/* cli/bench_raw_postgres.c - the bare statements on PostgreSQL: arrays, prepared, pipelined.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "base/mem.h"
#include "cli/bench.h"
#include "cli/call.h"
#include "cli/say.h"

#include <libpq-fe.h>
#include <stdlib.h>
#include <string.h>

static const struct {
    const char *name, *sql;
} statements[] = {
    /* The engine's setting, so that the triggers for foreign writers stay silent here too. */
    {"settings", "SELECT set_config('cairn.engine', '1', true)"},
    {"insert",
     "INSERT INTO workflow.workflow_run (id, type, payload, status, priority, run_at, "
     "attempt, max_attempts, created_at, updated_at, is_ready) "
     "SELECT id, $2, $3::jsonb, 'pending', 100, now(), 0, 3, now(), now(), true "
     "FROM unnest($1::uuid[]) AS given (id)"},
    {"lease", "UPDATE workflow.workflow_run AS r SET status = 'leased', is_ready = false, "
              "leased_by = $2, lease_until = now() + interval '30 s', lease_token = $3, "
              "updated_at = now() FROM unnest($1::uuid[]) AS given (id) WHERE r.id = given.id"},
    {"complete",
     "UPDATE workflow.workflow_run AS r SET status = 'succeeded', is_ready = false, "
     "leased_by = NULL, lease_until = NULL, lease_token = NULL, ended_by = $2, "
     "ended_token = $3, result = 'null', updated_at = now() "
     "FROM unnest($1::uuid[]) AS given (id) WHERE r.id = given.id"},
    {"event", "INSERT INTO workflow.workflow_event (workflow_id, event_type, data, created_at) "
              "SELECT id, $2, $3::jsonb, now() FROM unnest($1::uuid[]) AS given (id)"},
};

struct raw_pg {
    PGconn *server;
    const char *type;
    struct buf ids;
};

static void close_raw(void *arg)
{
    struct raw_pg *raw = arg;
    PQfinish(raw->server);
    buf_done(&raw->ids);
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

static bool open_raw(const char *url, const char *type, void **ret_raw)
{
    struct raw_pg *raw = mem_zalloc(sizeof *raw);
    if (!raw)
        return false;
    raw->type = type;
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

static const char *id_array(struct raw_pg *raw, const struct raw_job *jobs, size_t count)
{
    buf_reset(&raw->ids);
    for (size_t i = 0; i < count; i++) {
        buf_char(&raw->ids, i ? ',' : '{');
        buf_str(&raw->ids, jobs[i].id);
    }
    buf_char(&raw->ids, '}');
    return buf_text(&raw->ids);
}

static bool begin(struct raw_pg *raw)
{
    return send_text(raw, "BEGIN") && send(raw, "settings", 0, NULL);
}

static bool send_change(struct raw_pg *raw, const char *change, const struct raw_job *jobs,
                        size_t count, const char *const *events)
{
    if (count == 0)
        return true;
    const char *ids = id_array(raw, jobs, count);
    if (!send(raw, change, 3, (const char *[]){ids, BENCH_WORKER, jobs[0].token}))
        return false;
    for (; *events; events++)
        if (!send(raw, "event", 3, (const char *[]){ids, *events, RAW_CLAIM_DATA}))
            return false;
    return true;
}

static bool insert(void *arg, struct raw_job *jobs, size_t count)
{
    struct raw_pg *raw = arg;
    const char *ids = id_array(raw, jobs, count);
    bool is_sent = begin(raw) &&
                   send(raw, "insert", 3, (const char *[]){ids, raw->type, RAW_PAYLOAD}) &&
                   send(raw, "event", 3, (const char *[]){ids, "created", "{}"}) &&
                   send_text(raw, "COMMIT");
    return is_sent ? take_answers(raw) : refused(raw);
}

static bool turn(void *arg, const struct raw_job *done, size_t done_count,
                 const struct raw_job *next, size_t next_count)
{
    static const char *const completed[] = {"succeeded", NULL};
    static const char *const leased[] = {"leased", "started", NULL};
    struct raw_pg *raw = arg;
    bool is_sent = begin(raw) && send_change(raw, "complete", done, done_count, completed) &&
                   send_change(raw, "lease", next, next_count, leased) &&
                   send_text(raw, "COMMIT");
    return is_sent ? take_answers(raw) : refused(raw);
}

const struct raw_ops raw_postgres = {
    .open = open_raw, .insert = insert, .turn = turn, .close = close_raw};

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
