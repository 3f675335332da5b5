/* tests/store/test_postgres_event.c - histories on PostgreSQL: of strangers, from before there was a log, and
 * how many pages of the database a page of one costs.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "flow_rig.h"
#include "foreign.h"
#include "store/postgres/postgres_sql.h"

static const char *new_url(void)
{
    return scratch_store_of("postgres");
}

/* ---- histories ----------------------------------------------------------------------------- */

/* A job with so many events, each of a commit of its own. */
static void load_history(PGconn *conn, int count)
{
    char sql[900];
    snprintf(sql, sizeof sql,
             "BEGIN; SELECT set_config('cairn.engine', '1', true);"
             "INSERT INTO workflow.workflow_run (type, last_event, event_count)"
             " VALUES ('a', %d::bigint << 12, %d);"
             "INSERT INTO workflow.workflow_event_log (id, at, ids, prev, types, data)"
             " SELECT n, now(), uuid_send(r.id), int8send((n - 1)::bigint << 12),"
             " '{heartbeat}', '{\"{}\"}' FROM workflow.workflow_run AS r,"
             " generate_series(1, %d) AS n;"
             "INSERT INTO workflow.workflow_event_post SELECT r.id, n::bigint << 12"
             " FROM workflow.workflow_run AS r, generate_series(100, %d, 100) AS n;"
             "SELECT setval('workflow.workflow_event_id_seq', %d); COMMIT",
             count, count, count, count, count);
    foreign_run(conn, sql);
    foreign_run(conn, "VACUUM ANALYZE workflow.workflow_event_log");
}

TEST(every_hundredth_event_has_a_post)
{
    cleanup(rig_closep) struct rig *rig = rig_open_url(new_url());
    cleanup(foreign_closep) PGconn *conn = foreign_open(rig->url);
    struct event_row events[250];
    int64_t first;
    begin_write(rig);
    const char *id = add(rig, job_of(rig, "a"));
    MUST(rig, rig->ops->number_events(rig->tx, &first, &rig->error));
    for (int i = 0; i < 250; i++)
        events[i] = (struct event_row){.id = first + i,
                                       .prev = i ? first + i - 1 : 0,
                                       .number = i + 1,
                                       .subject_id = id,
                                       .type = "heartbeat",
                                       .data = "{}"};
    MUST(rig, rig->ops->append_events(rig->tx, events, 250, &rig->error));
    commit(rig);
    const char *posts = "FROM workflow.workflow_event_post";
    char sql[128];
    snprintf(sql, sizeof sql, "SELECT count(*) %s", posts);
    CHECK_INT(foreign_number(conn, sql), 2);
    snprintf(sql, sizeof sql, "SELECT min(event_id) %s", posts);
    CHECK_INT(foreign_number(conn, sql), first + 99);
    snprintf(sql, sizeof sql, "SELECT max(event_id) %s", posts);
    CHECK_INT(foreign_number(conn, sql), first + 199);
}

/* The pages that a query touches. */
static long pages_of(PGconn *conn, const char *sql)
{
    long pages = 0;
    PGresult *result = PQexec(conn, sql);
    CHECK(PQresultStatus(result) == PGRES_TUPLES_OK, "%s", PQerrorMessage(conn));
    for (int i = 0; i < PQntuples(result) && pages == 0; i++) {
        const char *hit = strstr(PQgetvalue(result, i, 0), "shared hit=");
        const char *read = strstr(PQgetvalue(result, i, 0), "read=");
        pages = (hit ? atol(hit + 11) : 0) + (read ? atol(read + 5) : 0);
    }
    PQclear(result);
    return pages;
}

static void prepare(PGconn *conn, const char *name, const char *sql)
{
    PGresult *result = PQprepare(conn, name, sql, 0, NULL);
    CHECK(PQresultStatus(result) == PGRES_COMMAND_OK, "%s", PQerrorMessage(conn));
    PQclear(result);
}

static long pages_of_list(PGconn *conn, const char *list, long cursor)
{
    char sql[256];
    const char *wait = "1000ms";
    char id[40];
    snprintf(id, sizeof id, "%s", foreign_run(conn, "SELECT id FROM workflow.workflow_run"));
    foreign_run(conn, "BEGIN");
    PQclear(PQexecParams(conn, SQL_BEGIN_SETTINGS, 1, NULL, &wait, NULL, NULL, 0));
    snprintf(sql, sizeof sql,
             "EXPLAIN (ANALYZE, BUFFERS, COSTS OFF, TIMING OFF) EXECUTE %s('%s', %ld, 50)",
             list, id, cursor << EVENT_SLOT_BITS);
    long pages = pages_of(conn, sql);
    foreign_run(conn, "ROLLBACK");
    return pages;
}

TEST(a_page_of_a_long_history_costs_what_it_holds)
{
    long few[6], many[6];
    for (int round = 0; round < 2; round++) {
        cleanup(rig_closep) struct rig *rig = rig_open_url(new_url());
        cleanup(foreign_closep) PGconn *conn = foreign_open(rig->url);
        int all = round ? 20000 : 400;
        long *pages = round ? many : few;
        load_history(conn, all);
        prepare(conn, "oldest", SQL_LIST_EVENTS);
        prepare(conn, "newest", SQL_LIST_EVENTS_BEFORE);
        pages[0] = pages_of_list(conn, "oldest", 0);
        pages[1] = pages_of_list(conn, "oldest", all / 2);
        pages[2] = pages_of_list(conn, "oldest", all - 50);
        pages[3] = pages_of_list(conn, "newest", all + 1);
        pages[4] = pages_of_list(conn, "newest", all / 2);
        pages[5] = pages_of_list(conn, "newest", 51);
    }
    for (int i = 0; i < 6; i++)
        CHECK(many[i] > 0 && many[i] < few[i] * 2,
              "page %d touches %ld pages with 20,000 events and %ld with 400", i, many[i],
              few[i]);
}

/* Plain SQL that names a job reads that job's events alone, however many there are. */
TEST(the_view_of_one_job_costs_what_its_history_holds)
{
    cleanup(rig_closep) struct rig *rig = rig_open_url(new_url());
    cleanup(foreign_closep) PGconn *conn = foreign_open(rig->url);
    char sql[256];
    load_history(conn, 20000);
    foreign_run(conn, "INSERT INTO workflow.workflow_run (type) VALUES ('b')");
    foreign_run(conn, "UPDATE workflow.workflow_run SET status = 'cancelled' WHERE type = 'b'");
    snprintf(sql, sizeof sql,
             "EXPLAIN (ANALYZE, BUFFERS) SELECT * FROM workflow.workflow_event"
             " WHERE workflow_id = '%s'",
             foreign_run(conn, "SELECT id FROM workflow.workflow_run WHERE type = 'b'"));
    long pages = pages_of(conn, sql);
    CHECK(pages > 0 && pages < 60, "two events touch %ld pages", pages);
    CHECK_STR(foreign_run(conn, "SELECT string_agg(event_type, ' ' ORDER BY id) FROM"
                                " workflow.workflow_event WHERE workflow_id = (SELECT id FROM"
                                " workflow.workflow_run WHERE type = 'b')"),
              "created cancelled");
    CHECK_INT(foreign_number(conn, "SELECT count(*) FROM workflow.workflow_event_stream"
                                   " WHERE id > 19999::bigint << 12 AND log_id >= 19999"),
              3);
}

/* A history as long as strangers make it has its posts. */
TEST(the_events_of_strangers_are_in_the_chain)
{
    cleanup(rig_closep) struct rig *rig = rig_open_url(new_url());
    cleanup(foreign_closep) PGconn *conn = foreign_open(rig->url);
    struct event_row rows[ROWS_MAX];
    size_t count;
    foreign_run(conn,
                "INSERT INTO workflow.workflow_run (type, status) VALUES ('a', 'leased')");
    for (int i = 0; i < 100; i++)
        foreign_run(conn, i % 2 ? "UPDATE workflow.workflow_run SET status = 'leased'"
                                : "UPDATE workflow.workflow_run SET status = 'pending'");
    foreign_run(conn, "UPDATE workflow.workflow_run SET priority = 5");
    CHECK_STR(foreign_run(conn, "SELECT event_count || ' ' || (SELECT count(*) FROM"
                                " workflow.workflow_event) || ' ' || (SELECT count(*) FROM"
                                " workflow.workflow_event_post AS p WHERE p.workflow_id = r.id)"
                                " FROM workflow.workflow_run AS r"),
              "102 102 1");
    begin_read(rig);
    const char *id =
        arena_strdup(&rig->arena, foreign_run(conn, "SELECT id FROM workflow.workflow_run"));
    MUST(rig, rig->ops->list_events(rig->tx, id, 0, rows, 4, &count, &rig->error));
    CHECK_INT(count, 4);
    CHECK_STR(rows[0].type, "created");
    CHECK_STR(rows[1].type, "leased");
    CHECK_STR(rows[2].type, "retried");
    CHECK_STR(rows[3].type, "leased");
}

/* ---- migration ----------------------------------------------------------------------------- */

/* The events of a store from before it had a log, and what happens to their jobs then. */
TEST(old_events_stay_and_new_ones_follow_them)
{
    const char *url = new_url();
    cleanup(foreign_closep) PGconn *foreign = foreign_open(url);
    struct event_row rows[ROWS_MAX];
    size_t count;
    foreign_run(foreign, "CREATE SCHEMA workflow; CREATE TABLE workflow.cairn_schema (version"
                         " integer PRIMARY KEY, name text NOT NULL, applied_at timestamptz NOT"
                         " NULL DEFAULT now());"
                         "INSERT INTO workflow.cairn_schema VALUES (10, '0010_children')");
    for (int i = 0; migrations[i].number <= 10; i++)
        foreign_run(foreign, migrations[i].sql);
    foreign_run(foreign, "GRANT INSERT, SELECT (id) ON workflow.workflow_event TO PUBLIC");
    foreign_run(
        foreign,
        "INSERT INTO workflow.workflow_run (type) SELECT 'a' FROM generate_series(1, 9);"
        "UPDATE workflow.workflow_run SET status = 'leased', leased_by = 'w',"
        " lease_until = now() + interval '1 hour';"
        "INSERT INTO workflow.workflow_event (workflow_id, event_type)"
        " SELECT id, 'heartbeat' FROM workflow.workflow_run, generate_series(1, 1000);"
        "CREATE TABLE kept AS SELECT * FROM workflow.workflow_event");
    long file =
        foreign_number(foreign, "SELECT pg_relation_filenode('workflow.workflow_event')");

    cleanup(rig_closep) struct rig *rig = rig_open_url(url);
    CHECK_INT(
        foreign_number(foreign, "SELECT pg_relation_filenode('workflow.workflow_event_loose')"),
        file); /* nothing was rewritten */
    CHECK_INT(foreign_number(foreign, "SELECT count(*) FROM (SELECT * FROM kept EXCEPT"
                                      " SELECT * FROM workflow.workflow_event) AS lost"),
              0);
    CHECK_STR(foreign_run(foreign,
                          "SELECT has_table_privilege('public', v, 'INSERT')"
                          " AND has_column_privilege('public', v, 'id', 'SELECT')"
                          " AND NOT has_column_privilege('public', v, 'data', 'SELECT')"
                          " FROM (VALUES ('workflow.workflow_event')) AS t (v)"),
              "t");
    const char *id = arena_strdup(
        &rig->arena, foreign_run(foreign, "SELECT id FROM workflow.workflow_run LIMIT 1"));

    /* The lease goes on, and its end is the job's next event. */
    begin_write(rig);
    struct job_row row = lock_one(rig, id);
    CHECK_INT(row.status, JOB_LEASED);
    struct event_row event = {.prev = row.last_event,
                              .number = 1,
                              .subject_id = id,
                              .type = "succeeded",
                              .data = "{}"};
    MUST(rig, rig->ops->number_events(rig->tx, &event.id, &rig->error));
    row.status = JOB_SUCCEEDED;
    row.last_event = event.id;
    row.event_count = 1;
    MUST(rig, rig->ops->update_jobs(rig->tx, &row, 1, &rig->error));
    MUST(rig, rig->ops->append_events(rig->tx, &event, 1, &rig->error));
    commit(rig);

    begin_read(rig);
    MUST(rig, rig->ops->list_events(rig->tx, id, 0, rows, 3, &count, &rig->error));
    CHECK_STR(rows[0].type, "created");
    CHECK_STR(rows[1].type, "leased");
    CHECK_STR(rows[2].type, "heartbeat");
    MUST(rig, rig->ops->list_events_before(rig->tx, id, 0, rows, 2, &count, &rig->error));
    CHECK_STR(rows[0].type, "succeeded");
    CHECK_STR(rows[1].type, "heartbeat");
    MUST(rig, rig->ops->list_events(rig->tx, id, rows[1].id, rows, 9, &count, &rig->error));
    CHECK_INT(count, 1);
    MUST(rig,
         rig->ops->list_events(rig->tx, NULL, rows[0].id - 1, rows, 9, &count, &rig->error));
    CHECK_INT(count, 1);
    commit(rig);
    CHECK_INT(foreign_number(foreign, "SELECT count(*) FROM workflow.workflow_event"),
              9 * 1002 + 1);
}
