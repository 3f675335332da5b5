/* tests/store/test_postgres_purge_plan.c - what a purge asks of PostgreSQL walks indexes, however much there is.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "foreign.h"
#include "rig.h"
#include "store/postgres/postgres_sql.h"

#include <stdio.h>
#include <string.h>

/* Ten of 20,000, as 500 of a million: the planner prefers an index to the table where it can. */
static const char fill[] =
    "SET cairn.engine = '1'; SET cairn.leases = '1';"
    "INSERT INTO workflow.workflow_run (type, status) SELECT 'a', 'succeeded' FROM"
    " generate_series(1, 20000);"
    "INSERT INTO workflow.workflow_run_order (seq, id) SELECT seq, id FROM "
    "workflow.workflow_run;"
    "INSERT INTO workflow.workflow_instance (id, workflow, version, status, generation,"
    " created_at, updated_at, started_at, finished_at, is_dlq, has_compensation,"
    " is_undo_failed, undo_first, undo_from, undo_to, undo_below, commits, active_count,"
    " wait_count, sleep_count, decision_count, parked_count, awaited_count, input) SELECT"
    " gen_random_uuid(), 'order', 1, 'completed', 1, now(), now(), now(), now(), false, false,"
    " false, -1, -1, -1, 0, 0, 0, 0, 0, 0, 0, 0, '{}' FROM generate_series(1, 20000);"
    "UPDATE workflow.workflow_instance AS i SET parent = p.id FROM workflow.workflow_instance"
    " AS p WHERE i.seq % 2 = 0 AND p.seq = i.seq / 2;"
    "CREATE TEMP TABLE ids AS SELECT id, seq FROM workflow.workflow_instance;"
    "INSERT INTO workflow.workflow_step (instance_id, instance_seq, seq, name, kind, handler,"
    " max_attempts, priority, next, scope_fork, scope_from, scope_to, status, attempts,"
    " compensation_attempts, commit_no, is_ready, task_type, is_held, is_timed_out, remaining,"
    " updated_at) SELECT id, seq, 0, 'one', 'task', 'work', 3, 50, -1, -1, 0, 0, 'completed',"
    " 0, 0, 1, false, 'work', false, false, 0, now() FROM ids;"
    "INSERT INTO workflow.workflow_signal (instance_id, seq, id, event, received_at)"
    " SELECT id, 1, 'x', 's', now() FROM ids;"
    "INSERT INTO workflow.workflow_outbox (instance_id, event, payload, created_at, acked_at)"
    " SELECT id, 'e', '{}', now(), now() FROM ids;"
    "INSERT INTO workflow.workflow_dlq (instance_id, workflow, version, step_seq, step_name,"
    " created_at, is_open) SELECT id, 'order', 1, 0, 'one', now(), false FROM ids;"
    "INSERT INTO workflow.workflow_human_decision (instance_id, step_seq, step_name,"
    " decided_by, decision, decided_at) SELECT id, 0, 'one', 'me', 'confirmed', now() FROM ids;"
    "INSERT INTO workflow.workflow_log (instance_id, id, level, message, attempt, at)"
    " SELECT id, 1, 'info', 'text', 1, now() FROM ids;"
    "INSERT INTO workflow.workflow_step_children (instance_id, seq, round, size, begun, living,"
    " done, failed, bytes, is_ending, undo_below, is_undo_failed)"
    " SELECT id, 0, 1, 1, 1, 0, 1, 0, 0, false, 0, false FROM ids;"
    "INSERT INTO workflow.workflow_map_elements (instance_id, seq, round, first, items)"
    " SELECT id, 0, 1, 0, '[]' FROM ids;"
    "INSERT INTO workflow.workflow_event_loose (workflow_id, event_type, data)"
    " SELECT id, 'created', '{}' FROM ids;"
    "INSERT INTO workflow.workflow_event_post (workflow_id, event_id) SELECT id, seq FROM ids;"
    "INSERT INTO workflow.workflow_event_log (id, at, ids, types, data) SELECT n, now(),"
    " decode(repeat('00', 160), 'hex'), '{created}', '{null}' FROM generate_series(1, 20000) "
    "AS "
    "n;"
    "INSERT INTO workflow.workflow_event_gone (log_id, used, slots) SELECT n, 10, '{1,2}' FROM"
    " generate_series(1, 20000) AS n;"
    "INSERT INTO workflow.workflow_key (kind, workflow, key, id, ended_at) SELECT 'job', '',"
    " 'k' || n, gen_random_uuid(), now() FROM generate_series(1, 20000) AS n;"
    "INSERT INTO workflow.workflow_purge (id) SELECT id FROM ids;"
    "ALTER TABLE workflow.workflow_intake DISABLE TRIGGER USER;"
    "INSERT INTO workflow.workflow_intake (id, workflow, version, input, instance_id)"
    " SELECT gen_random_uuid(), 'order', 1, '{}', CASE WHEN seq % 2 = 0 THEN id END FROM ids;"
    "ANALYZE";

/* Their parameters, as if a portion were purged. */
#define IDS "array_fill(gen_random_uuid(), '{10}')"
#define LOGS "array_fill(1::bigint, '{10}')"
#define ONE "gen_random_uuid()"
static const struct {
    const char *name, *sql, *values;
} questions[] = {
    {"scan_past_jobs", SQL_SCAN_PAST_JOBS, "100, 500"},
    {"scan_past_instances", SQL_SCAN_PAST_INSTANCES, "100, 500"},
    {"list_family", SQL_LIST_FAMILY, ONE ", 100"},
    {"measure_family", SQL_MEASURE_FAMILY, ONE},
    {"list_past_children", SQL_LIST_PAST_CHILDREN, ONE ", 1, 100"},
    {"is_purge_begun", SQL_IS_PURGE_BEGUN, ONE},
    {"mark_purges", SQL_MARK_PURGES, IDS},
    {"lock_past_jobs", SQL_LOCK_PAST_JOBS, IDS},
    {"lock_past_instances", SQL_LOCK_PAST_INSTANCES, IDS},
    {"purge_jobs", SQL_PURGE_JOBS, IDS},
    {"purge_instances", SQL_PURGE_INSTANCES, IDS},
    {"purge_events", SQL_PURGE_EVENTS, LOGS},
    {"rewrite_event_logs", SQL_REWRITE_EVENT_LOGS, LOGS},
    {"unmark_event_logs", SQL_UNMARK_EVENT_LOGS, LOGS},
    {"drop_keys", SQL_DROP_KEYS, "now(), 500"},
    {"first_key", SQL_FIRST_KEY, NULL},
};

static void check_plan(PGconn *conn, const char *name, const char *values, const char *mode)
{
    char sql[512];
    snprintf(sql, sizeof sql, "SET plan_cache_mode = %s", mode);
    foreign_run(conn, sql);
    snprintf(sql, sizeof sql, "EXPLAIN (COSTS OFF) EXECUTE %s%s%s%s", name, values ? "(" : "",
             values ? values : "", values ? ")" : "");
    PGresult *result = PQexec(conn, sql);
    CHECK(PQresultStatus(result) == PGRES_TUPLES_OK, "%s: %s", name, PQerrorMessage(conn));
    for (int i = 0; i < PQntuples(result); i++) {
        const char *line = PQgetvalue(result, i, 0);
        CHECK(!strstr(line, "Seq Scan on "), "%s, %s: %s", name, mode, line);
    }
    PQclear(result);
}

TEST(no_statement_of_a_purge_reads_a_table)
{
    char sql[8192];
    cleanup(rig_closep) struct rig *rig = rig_open();
    cleanup(foreign_closep) PGconn *foreign = foreign_open(rig->url);
    foreign_run(foreign, fill);
    for (size_t i = 0; i < sizeof questions / sizeof *questions; i++) {
        CHECK(snprintf(sql, sizeof sql, "PREPARE %s AS %s", questions[i].name,
                       questions[i].sql) < (int)sizeof sql,
              "a larger array");
        foreign_run(foreign, sql);
        check_plan(foreign, questions[i].name, questions[i].values, "force_custom_plan");
        check_plan(foreign, questions[i].name, questions[i].values, "force_generic_plan");
    }
}
