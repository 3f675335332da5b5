/* bench/raw_postgres.c - bare statements on PostgreSQL: what they share.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "bench/raw_postgres.h"

#include "base/mem.h"
#include "cli/say.h"

#include <stdio.h>
#include <stdlib.h>

static const struct raw_pg_statement shared[] = {
    /* The engine's setting, so that the triggers for foreign writers stay silent here too. */
    {"settings", "SELECT set_config('cairn.engine', '1', true)"},
    {"event", "INSERT INTO workflow.workflow_event (workflow_id, event_type, step, data, "
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

void raw_pg_close(void *arg)
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

static bool prepare(struct raw_pg *raw, const struct raw_pg_statement *statements, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (!is_fine(PQprepare(raw->server, statements[i].name, statements[i].sql, 0, NULL)))
            return false;
    return true;
}

bool raw_pg_open(const char *url, const struct raw_plan *plan,
                 const struct raw_pg_statement *statements, size_t count, void **ret_raw)
{
    struct raw_pg *raw = mem_zalloc(sizeof *raw);
    if (!raw)
        return false;
    raw->plan = *plan;
    snprintf(raw->steps, sizeof raw->steps, "%d", (int)plan->steps);
    raw->server = PQconnectdb(url);
    if (PQstatus(raw->server) != CONNECTION_OK ||
        !prepare(raw, shared, sizeof shared / sizeof *shared) ||
        !prepare(raw, statements, count) || !PQenterPipelineMode(raw->server)) {
        refused(raw);
        raw_pg_close(raw);
        return false;
    }
    *ret_raw = raw;
    return true;
}

bool raw_pg_send(struct raw_pg *raw, const char *name, int count, const char *const *values)
{
    return PQsendQueryPrepared(raw->server, name, count, values, NULL, NULL, 0);
}

bool raw_pg_event(struct raw_pg *raw, const char *ids, const char *type, const char *step,
                  const char *data)
{
    return raw_pg_send(raw, "event", 4, (const char *[]){ids, type, step, data});
}

static bool send_text(struct raw_pg *raw, const char *sql)
{
    return PQsendQueryParams(raw->server, sql, 0, NULL, NULL, NULL, NULL, 0);
}

bool raw_pg_begin(struct raw_pg *raw)
{
    return send_text(raw, "BEGIN") && raw_pg_send(raw, "settings", 0, NULL);
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

bool raw_pg_commit(struct raw_pg *raw, bool is_sent)
{
    return is_sent && send_text(raw, "COMMIT") ? take_answers(raw) : refused(raw);
}

const char *raw_pg_ids(struct raw_pg *raw, struct raw_range items)
{
    buf_reset(&raw->ids);
    for (size_t i = 0; i < items.count; i++) {
        buf_char(&raw->ids, i ? ',' : '{');
        buf_str(&raw->ids, raw->plan.items[items.at + i].id);
    }
    buf_char(&raw->ids, '}');
    return buf_text(&raw->ids);
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
