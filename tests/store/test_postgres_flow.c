/* tests/store/test_postgres_flow.c - workflows on PostgreSQL: strangers' locks, claims side by side,
 * followers of events, plans.
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

/* ---- locks --------------------------------------------------------------------------------- */

TEST(an_instance_that_a_stranger_holds_is_busy)
{
    cleanup(rig_closep) struct rig *rig = rig_open_url(new_url());
    cleanup(foreign_closep) PGconn *foreign = foreign_open(rig->url);
    begin_write(rig);
    const char *ids[3] = {new_instance(rig, "w").id, new_instance(rig, "w").id,
                          "ffffffff-ffff-4fff-8fff-ffffffffffff"};
    commit(rig);
    char sql[256];
    snprintf(sql, sizeof sql,
             "BEGIN; SELECT id FROM workflow.workflow_instance WHERE id = '%s' FOR UPDATE",
             ids[0]);
    foreign_run(foreign, sql);

    struct instance_row rows[3];
    enum lock_result results[3];
    begin_write(rig);
    MUST(rig, rig->ops->lock_instances(rig->tx, ids, 3, false, rows, results, &rig->error));
    CHECK_INT(results[0], LOCK_BUSY);
    CHECK_INT(results[1], LOCK_DONE);
    CHECK_STR(rows[1].id, ids[1]);
    CHECK_INT(results[2], LOCK_ABSENT);
    commit(rig);

    begin_write(rig);
    CHECK_INT(rig->ops->lock_instances(rig->tx, ids, 1, true, rows, results, &rig->error),
              CAIRN_E_BUSY);
    roll_back(rig);
    foreign_run(foreign, "ROLLBACK");
    begin_write(rig);
    MUST(rig, rig->ops->lock_instances(rig->tx, ids, 1, true, rows, results, &rig->error));
    CHECK_INT(results[0], LOCK_DONE);
}

TEST(a_step_that_a_stranger_holds_is_waited_for_and_then_busy)
{
    cleanup(rig_closep) struct rig *rig = rig_open_url(new_url());
    cleanup(foreign_closep) PGconn *foreign = foreign_open(rig->url);
    begin_write(rig);
    struct instance_row instance = new_instance(rig, "w");
    add_pending_steps(rig, &instance, 2);
    commit(rig);
    foreign_run(foreign, "BEGIN; SELECT seq FROM workflow.workflow_step WHERE seq = 1"
                         " FOR UPDATE");

    struct step_ref refs[2] = {{instance.id, 1}, {instance.id, 0}};
    struct step_row rows[2];
    bool is_found[2];
    begin_write(rig);
    CHECK_INT(rig->ops->lock_steps(rig->tx, refs, 2, rows, is_found, &rig->error),
              CAIRN_E_BUSY);
    roll_back(rig);
    foreign_run(foreign, "ROLLBACK");
    begin_write(rig);
    MUST(rig, rig->ops->lock_steps(rig->tx, refs, 2, rows, is_found, &rig->error));
    CHECK(is_found[0] && is_found[1], "a step is missing");
    CHECK_INT(rows[0].seq, 1);
    CHECK_INT(rows[1].seq, 0);
}

/* ---- claims side by side ------------------------------------------------------------------- */

static void check_places(const struct steps *steps, int32_t first, size_t count)
{
    CHECK_INT(steps->count, count);
    for (size_t i = 0; i < count; i++)
        CHECK_INT(steps->rows[i].seq, first + (int32_t)i);
}

TEST(claims_at_the_same_time_take_different_steps)
{
    cleanup(rig_closep) struct rig *first = rig_open_url(new_url());
    cleanup(rig_closep) struct rig *second = rig_open_url(first->url);
    cleanup(rig_closep) struct rig *third = rig_open_url(first->url);
    begin_write(first);
    struct instance_row instance = new_instance(first, "w");
    for (int32_t i = 0; i < 50; i++)
        add_step(first, ready_step(&instance, i, i % 2 ? "a.x" : "a.y", 50));
    commit(first);

    /* Far more are held than the second looks at first. */
    begin_write(first);
    check_places(claim_steps(first, 40, "a.%"), 0, 40);
    begin_write(second);
    check_places(claim_steps(second, 3, "a.%"), 40, 3);
    begin_write(third);
    check_places(claim_steps(third, 64, "a.%"), 43, 7);

    /* What was given back can be taken. */
    roll_back(first);
    commit(second);
    begin_write(first);
    check_places(claim_steps(first, 64, "a.%"), 0, 40);
}

/* What another committer of the process has claimed is in the way; one question looks behind it. */
TEST(a_claim_looks_behind_the_steps_of_another_session_at_once)
{
    cleanup(rig_closep) struct rig *rig = rig_open_url(new_url());
    begin_write(rig);
    struct instance_row instance = new_instance(rig, "w");
    for (int32_t i = 0; i < 90; i++)
        add_step(rig, ready_step(&instance, i, "a", 50));
    commit(rig);
    begin_write(rig);
    check_places(claim_steps(rig, 40, "a"), 0, 40);
    struct store_tx *first_tx = rig->tx;
    struct store_session *first = rig->writer;
    MUST(rig, rig->ops->session_open(rig->store, SESSION_WRITER, &rig->writer, &rig->error));
    rig->tx = NULL;
    begin_write(rig);
    uint64_t before = rig->writer->round_trips;
    check_places(claim_steps(rig, 40, "a"), 40, 40);
    CHECK_INT(rig->writer->round_trips - before, 1);
    commit(rig);
    rig->ops->session_close(rig->writer);
    rig->writer = first;
    rig->tx = first_tx;
    commit(rig);
}

static size_t claim_outbox(struct rig *rig, const char *worker, size_t room,
                           struct outbox_row *ret_rows)
{
    size_t count = SIZE_MAX;
    MUST(rig, rig->ops->claim_outbox(rig->tx, worker, rig->tx->now_us + US_PER_MIN, ret_rows,
                                     room, &count, &rig->error));
    return count;
}

TEST(claims_of_the_outbox_at_the_same_time_share_no_instance)
{
    cleanup(rig_closep) struct rig *first = rig_open_url(new_url());
    cleanup(rig_closep) struct rig *second = rig_open_url(first->url);
    struct outbox_row rows[9];
    int64_t earlier = -1;
    begin_write(first);
    const char *a = new_instance(first, "w").id, *b = new_instance(first, "w").id;
    const char *owners[4] = {a, a, b, a};
    for (size_t i = 0; i < 4; i++) {
        struct outbox_row row = {
            .instance_id = owners[i], .event = "e", .payload = "{}", .created_at_us = 1};
        MUST(first, first->ops->append_outbox(first->tx, &row, 1, &first->error));
    }
    commit(first);

    begin_write(first);
    CHECK_INT(claim_outbox(first, "one", 1, rows), 1);
    int64_t oldest = rows[0].id;
    begin_write(second);
    CHECK_INT(claim_outbox(second, "two", 9, rows), 1);
    CHECK_STR(rows[0].instance_id, b);
    commit(first);
    CHECK_INT(claim_outbox(second, "two", 9, rows), 0);
    commit(second);
    begin_write(first);
    CHECK_INT(claim_outbox(first, "one", 9, rows), 0);
    MUST(first, first->ops->ack_outbox(first->tx, oldest, &earlier, &first->error));
    CHECK_INT(earlier, 0);
    CHECK_INT(claim_outbox(first, "one", 9, rows), 2);
    CHECK_STR(rows[0].instance_id, a);
    CHECK_STR(rows[1].instance_id, a);
}

/* ---- followers ----------------------------------------------------------------------------- */

static size_t follow(struct rig *rig, struct event_row rows[ROWS_MAX])
{
    size_t count = SIZE_MAX;
    begin_read(rig);
    MUST(rig, rig->ops->list_events(rig->tx, NULL, 0, rows, ROWS_MAX, &count, &rig->error));
    commit(rig);
    return count;
}

/* The case that transaction ids do not tell: who began first takes its event's id last. */
TEST(a_follower_does_not_pass_an_open_transaction_that_began_later)
{
    cleanup(rig_closep) struct rig *rig = rig_open_url(new_url());
    cleanup(foreign_closep) PGconn *early = foreign_open(rig->url);
    cleanup(foreign_closep) PGconn *late = foreign_open(rig->url);
    struct event_row rows[ROWS_MAX];
    foreign_run(early, "INSERT INTO workflow.workflow_run (type) VALUES ('a')");
    CHECK_INT(follow(rig, rows), 1);

    static const char insert[] = "INSERT INTO workflow.workflow_event (workflow_id, event_type)"
                                 " SELECT id, 'heartbeat' FROM workflow.workflow_run";
    foreign_run(early, "BEGIN; SELECT pg_current_xact_id()");
    foreign_run(late, "BEGIN; SELECT pg_current_xact_id()");
    foreign_run(late, insert);
    foreign_run(early, insert);
    foreign_run(early, "COMMIT");
    CHECK_INT(follow(rig, rows), 1);
    foreign_run(late, "COMMIT");
    CHECK_INT(follow(rig, rows), 3);
    CHECK(rows[1].id < rows[2].id, "the events are not in order");
}

TEST(a_follower_passes_what_was_rolled_back)
{
    cleanup(rig_closep) struct rig *rig = rig_open_url(new_url());
    cleanup(foreign_closep) PGconn *lost = foreign_open(rig->url);
    cleanup(foreign_closep) PGconn *foreign = foreign_open(rig->url);
    struct event_row rows[ROWS_MAX];
    foreign_run(lost, "BEGIN; INSERT INTO workflow.workflow_run (type) VALUES ('a')");
    foreign_run(foreign, "INSERT INTO workflow.workflow_run (type) VALUES ('b')");
    CHECK_INT(follow(rig, rows), 0);
    foreign_run(lost, "ROLLBACK");
    CHECK_INT(follow(rig, rows), 1);
}

/* The mark that a savepoint's rollback takes away is set again by the next event. */
TEST(a_follower_knows_of_events_after_a_savepoint)
{
    cleanup(rig_closep) struct rig *rig = rig_open_url(new_url());
    cleanup(foreign_closep) PGconn *slow = foreign_open(rig->url);
    cleanup(foreign_closep) PGconn *foreign = foreign_open(rig->url);
    struct event_row rows[ROWS_MAX];
    foreign_run(slow, "INSERT INTO workflow.workflow_run (type) VALUES ('a')");
    CHECK_INT(follow(rig, rows), 1);
    foreign_run(slow, "BEGIN; SAVEPOINT s;"
                      "INSERT INTO workflow.workflow_run (type) VALUES ('a'); ROLLBACK TO s;"
                      "INSERT INTO workflow.workflow_run (type) VALUES ('a')");
    foreign_run(foreign, "INSERT INTO workflow.workflow_run (type) VALUES ('b')");
    CHECK_INT(follow(rig, rows), 1);
    foreign_run(slow, "COMMIT");
    CHECK_INT(follow(rig, rows), 3);
}

/* One lock a transaction, not one an event. */
TEST(many_events_in_a_transaction_take_one_lock)
{
    cleanup(rig_closep) struct rig *rig = rig_open_url(new_url());
    cleanup(foreign_closep) PGconn *foreign = foreign_open(rig->url);
    foreign_run(foreign, "BEGIN; INSERT INTO workflow.workflow_run (type)"
                         " SELECT 'a' FROM generate_series(1, 1000)");
    CHECK_INT(foreign_number(foreign,
                             "SELECT count(*) FROM pg_locks"
                             " WHERE locktype = 'advisory' AND pid = pg_backend_pid()"),
              1);
    foreign_run(foreign, "COMMIT");
    CHECK_INT(foreign_number(foreign, "SELECT count(*) FROM workflow.workflow_event"), 1000);
}

TEST(a_stranger_may_write_events_of_instances_but_not_of_nobody)
{
    cleanup(rig_closep) struct rig *rig = rig_open_url(new_url());
    cleanup(foreign_closep) PGconn *foreign = foreign_open(rig->url);
    begin_write(rig);
    new_instance(rig, "w");
    commit(rig);
    foreign_run(foreign, "INSERT INTO workflow.workflow_event (workflow_id, event_type)"
                         " SELECT id, 'heartbeat' FROM workflow.workflow_instance");
    PGresult *result = PQexec(foreign, "INSERT INTO workflow.workflow_event"
                                       " (workflow_id, event_type)"
                                       " VALUES (gen_random_uuid(), 'heartbeat')");
    const char *state = PQresultErrorField(result, PG_DIAG_SQLSTATE);
    CHECK_STR(state ? state : "", "23503");
    PQclear(result);
}

/* ---- plans --------------------------------------------------------------------------------- */

static void begin_as_engine(PGconn *conn)
{
    const char *wait = "1000ms";
    foreign_run(conn, "BEGIN");
    PGresult *result = PQexecParams(conn, SQL_BEGIN_SETTINGS, 1, NULL, &wait, NULL, NULL, 0);
    CHECK(PQresultStatus(result) == PGRES_TUPLES_OK, "%s", PQerrorMessage(conn));
    PQclear(result);
}

static void prepare(PGconn *conn, const char *name, const char *sql)
{
    PGresult *result = PQprepare(conn, name, sql, 0, NULL);
    CHECK(PQresultStatus(result) == PGRES_COMMAND_OK, "%s", PQerrorMessage(conn));
    PQclear(result);
}

/* Every look at a table must name a key: a join filter means that one of its sides is read whole.  Limits are few,
 * and none has a key for the types that it is about. */
static void check_plan_line(const char *execute, const char *line)
{
    if (strstr(line, "Seq Scan on workflow_limit "))
        return;
    static const char *const unwanted[] = {"Seq Scan", "Bitmap", "Join Filter"};
    for (size_t i = 0; i < 3; i++)
        CHECK(!strstr(line, unwanted[i]), "the plan of %s has a %s: %s", execute, unwanted[i],
              line);
}

/* The pages that a statement touches. */
static long pages_of(PGconn *conn, const char *execute)
{
    char sql[512];
    long pages = 0;
    begin_as_engine(conn);
    snprintf(sql, sizeof sql, "EXPLAIN (ANALYZE, BUFFERS, COSTS OFF, TIMING OFF) EXECUTE %s",
             execute);
    PGresult *result = PQexec(conn, sql);
    CHECK(PQresultStatus(result) == PGRES_TUPLES_OK, "%s", PQerrorMessage(conn));
    for (int i = 0; i < PQntuples(result); i++) {
        const char *line = PQgetvalue(result, i, 0);
        check_plan_line(execute, line);
        const char *hit = strstr(line, "shared hit="), *read = strstr(line, "read=");
        if (pages == 0 && (hit || read))
            pages = (hit ? atol(hit + 11) : 0) + (read ? atol(read + 5) : 0);
    }
    PQclear(result);
    foreign_run(conn, "ROLLBACK");
    return pages;
}

/* The last parameters of a claim without steps in hand. */
#define NOTHING_IN_HAND "'-infinity', '-infinity', 0, 0, '{}', '{}', 0"

static void prepare_claims(PGconn *conn)
{
    prepare(conn, "claim_steps", SQL_CLAIM_STEPS);
    prepare(conn, "claim_steps_beside", SQL_CLAIM_STEPS_BESIDE);
}

/* Of all types that begin alike, and of two by name. */
static long claim_pages(PGconn *conn)
{
    return pages_of(conn,
                    "claim_steps_beside('{}', '{}', '{}', '{}', NULL, now(), 18, 10, '{w}',"
                    " '{t}', now() + interval '1 minute', 0.5, '{a.}', '{a/}', " NOTHING_IN_HAND
                    ")") +
           pages_of(conn,
                    "claim_steps('{a.1,a.2}', '{0,0}', '{127,127}', '{0,0}', NULL, now(), 18,"
                    " 10, '{w}', '{t}', now() + interval '1 minute', 0.5)");
}

/* Beside steps in hand that no other comes before. */
static long hand_pages(PGconn *conn)
{
    return pages_of(conn,
                    "claim_steps_beside('{}', '{}', '{}', '{}', NULL, now(), 108, 100, '{w}',"
                    " '{t}', now() + interval '1 minute', 0, '{a.}', '{a/}', 50, '-infinity',"
                    " 0, 0, '{a.x}', '{100}', 1)");
}

/* Of a function in the versions 2 and 3, by both statements. */
static long version_pages(PGconn *conn)
{
    return pages_of(conn,
                    "claim_steps('{f}', '{256}', '{511}', '{0}', NULL, now(), 18, 10, '{w}',"
                    " '{t}', now() + interval '1 minute', 0.5)") +
           pages_of(
               conn,
               "claim_steps_beside('{f}', '{256}', '{511}', '{0}', NULL, now(), 18, 10,"
               " '{w}', '{t}', now() + interval '1 minute', 0.5, '{}', '{}', " NOTHING_IN_HAND
               ")");
}

static void load_version(PGconn *conn, int count, int version)
{
    char sql[1024];
    snprintf(
        sql, sizeof sql,
        "INSERT INTO workflow.workflow_step (instance_id, instance_seq, seq, name, kind,"
        " max_attempts, priority, next, scope_fork, scope_from, scope_to, status, attempts,"
        " compensation_attempts, commit_no, next_run_at, is_ready, task_type, is_held,"
        " is_timed_out, remaining, updated_at, version)"
        " SELECT gen_random_uuid(), i, 0, 'f', 'function', 3, 50, -1, -1, 0, 0,"
        " 'ready', 0, 0, 0, now() - i %% 1000 * interval '1 second', true, 'f',"
        " false, false, 0, now(), %d FROM generate_series(1, %d) AS i",
        version, count);
    foreign_run(conn, sql);
}

TEST(a_claim_passes_by_any_number_of_functions_that_it_has_no_code_for)
{
    cleanup(rig_closep) struct rig *rig = rig_open_url(new_url());
    cleanup(foreign_closep) PGconn *foreign = foreign_open(rig->url);
    prepare_claims(foreign);
    version_pages(foreign);
    load_version(foreign, 100, 1);
    load_version(foreign, 10, 2);
    load_version(foreign, 10, 3);
    load_version(foreign, 100, 4);
    version_pages(foreign);
    long few = version_pages(foreign);
    load_version(foreign, 30000, 1);
    load_version(foreign, 30000, 4);
    version_pages(foreign);
    long many = version_pages(foreign);
    CHECK(many < few * 3 / 2, "%ld pages with few others, %ld with many", few, many);
}

/* Instances of one step each: ten types of three priorities, waiting for up to 1000 seconds. */
static void load(PGconn *conn, int count)
{
    char sql[1024];
    snprintf(
        sql, sizeof sql,
        "INSERT INTO workflow.workflow_step (instance_id, instance_seq, seq, name, kind,"
        " max_attempts, priority, next, scope_fork, scope_from, scope_to, status, attempts,"
        " compensation_attempts, commit_no, next_run_at, is_ready, task_type, is_held,"
        " is_timed_out, remaining, updated_at)"
        " SELECT gen_random_uuid(), i, 0, 's', 'task', 3, i %% 3 * 10, -1, -1, 0, 0,"
        " 'ready', 0, 0, 0, now() - i %% 1000 * interval '1 second', true, 'a.' || i %% 10,"
        " false, false, 0, now() FROM generate_series(1, %d) AS i",
        count);
    foreign_run(conn, sql);
}

TEST(a_claim_of_steps_costs_the_same_however_much_waits)
{
    cleanup(rig_closep) struct rig *rig = rig_open_url(new_url());
    cleanup(foreign_closep) PGconn *foreign = foreign_open(rig->url);
    prepare_claims(foreign);
    foreign_run(foreign, "ALTER TABLE workflow.workflow_step SET (autovacuum_enabled = off)");

    /* The plan is made while there is nothing at all, and kept. */
    claim_pages(foreign);
    load(foreign, 3000);
    claim_pages(foreign);
    long few = claim_pages(foreign);
    load(foreign, 97000);
    claim_pages(foreign);
    long many = claim_pages(foreign);
    CHECK(many < few * 3 / 2, "%ld pages with 3,000 steps, %ld with 100,000", few, many);

    /* What was claimed lies dead at the head of the index. */
    foreign_run(foreign,
                "UPDATE workflow.workflow_step SET status = 'completed',"
                " is_ready = false WHERE next_run_at < now() - interval '700 seconds'");
    foreign_outlive_others(foreign);
    claim_pages(foreign);
    long after = claim_pages(foreign);
    CHECK(after < few * 2, "%ld pages, and %ld after 30,000 claims", few, after);
}

/* Steps of which the first `count` wait for a decision, every other one without limit. */
static void load_waiting(PGconn *conn, int count)
{
    char sql[256];
    snprintf(sql, sizeof sql,
             "UPDATE workflow.workflow_step SET status = 'waiting_decision', is_ready = false,"
             " deadline_at = CASE WHEN instance_seq %% 2 = 0 THEN now() END"
             " WHERE instance_seq <= %d",
             count);
    foreign_run(conn, sql);
}

TEST(approvals_cost_the_same_however_many_steps_there_are)
{
    cleanup(rig_closep) struct rig *rig = rig_open_url(new_url());
    cleanup(foreign_closep) PGconn *foreign = foreign_open(rig->url);
    static const char dated[] = "list_undecided('-infinity', 0, -1, 20)",
                      endless[] = "list_undecided_without_end(0, -1, 20)";
    prepare(foreign, "list_undecided", SQL_LIST_UNDECIDED);
    prepare(foreign, "list_undecided_without_end", SQL_LIST_UNDECIDED_WITHOUT_END);
    foreign_run(foreign, "ALTER TABLE workflow.workflow_step SET (autovacuum_enabled = off)");
    pages_of(foreign, dated);
    pages_of(foreign, endless);
    load(foreign, 1000);
    load_waiting(foreign, 1000);
    pages_of(foreign, dated);
    long few = pages_of(foreign, dated), few_endless = pages_of(foreign, endless);
    load(foreign, 30000);
    long many = pages_of(foreign, dated), many_endless = pages_of(foreign, endless);
    CHECK(many < few * 2, "%ld pages with few other steps, %ld with many", few, many);
    CHECK(many_endless < few_endless * 2, "%ld pages with few other steps, %ld with many",
          few_endless, many_endless);
}

TEST(a_claim_beside_better_steps_in_hand_does_not_read_what_waits)
{
    cleanup(rig_closep) struct rig *rig = rig_open_url(new_url());
    cleanup(foreign_closep) PGconn *foreign = foreign_open(rig->url);
    prepare_claims(foreign);
    hand_pages(foreign);
    load(foreign, 3000);
    hand_pages(foreign);
    long few = hand_pages(foreign);
    load(foreign, 30000);
    hand_pages(foreign);
    long many = hand_pages(foreign);
    CHECK(many < few * 2, "%ld pages with 3,000 steps, %ld with 33,000", few, many);
}

#define ONE "00000000-0000-4000-8000-000000000001"
#define TWO "00000000-0000-4000-8000-000000000002"

/* One instance of many steps: what finds a step must not read the instance. */
static void load_one(PGconn *conn, int count)
{
    char sql[1024];
    snprintf(
        sql, sizeof sql,
        "INSERT INTO workflow.workflow_step (instance_id, instance_seq, seq, name, kind,"
        " max_attempts, priority, next, scope_fork, scope_from, scope_to, status, attempts,"
        " compensation_attempts, commit_no, is_ready, is_held, is_timed_out, remaining,"
        " updated_at)"
        " SELECT '" ONE "', 1, i, 's' || i, 'task', 3, 50,"
        " -1, -1, 0, 0, CASE i WHEN 5000 THEN 'waiting' ELSE 'completed' END, 0, 0, i, false,"
        " false, false, 0, now() FROM generate_series(0, %d) AS i",
        count - 1);
    foreign_run(conn, sql);
}

TEST(finding_a_step_does_not_read_its_instance)
{
    static const struct {
        const char *name, *sql, *execute;
    } queries[] = {
        {"lock_steps", SQL_LOCK_STEPS, "lock_steps('{" ONE "}', '{9000}', '{9001}')"},
        {"lock_current", SQL_LOCK_CURRENT_STEPS, "lock_current('" ONE "', -1, 100)"},
        {"list_current", SQL_LIST_CURRENT_STEPS, "list_current('" ONE "', -1, 100)"},
        {"committed", SQL_LOCK_COMMITTED_STEPS, "committed('" ONE "', 9000, 0, 9999, 5)"},
        {"get_step", SQL_GET_STEP, "get_step('" ONE "', 's5000')"},
        {"count_steps", SQL_COUNT_STEPS, "count_steps"},
        {"delete_steps", SQL_DELETE_STEPS, "delete_steps('{" ONE "}', '{9000}')"},
        {"read_steps", SQL_READ_STEPS, "read_steps('{" ONE "}', '{9000}', '{9000}')"},
        {"memos", SQL_LIST_MEMOS, "memos('{" ONE "," TWO "}', '{9000, 0}', 5)"},
        {"read_instances", SQL_READ_INSTANCES, "read_instances('{" ONE "," TWO "}')"},
    };
    enum { COUNT = sizeof queries / sizeof *queries };
    cleanup(rig_closep) struct rig *rig = rig_open_url(new_url());
    cleanup(foreign_closep) PGconn *foreign = foreign_open(rig->url);
    for (size_t i = 0; i < COUNT; i++) { /* the plans are made while there is nothing */
        prepare(foreign, queries[i].name, queries[i].sql);
        pages_of(foreign, queries[i].execute);
    }
    load_one(foreign, 10000);
    for (size_t i = 0; i < COUNT; i++) {
        pages_of(foreign, queries[i].execute);
        long pages = pages_of(foreign, queries[i].execute);
        CHECK(pages > 0 && pages < 40, "%s touches %ld pages", queries[i].name, pages);
    }
}

/* Of 40,000 instances one in 25 has failed, the oldest are paused and have another parent, and figures of 20 types stand beside those of all. */
static const char lived_in[] =
    "INSERT INTO workflow.workflow_instance (id, workflow, version, status, generation, "
    "created_at,"
    " updated_at, is_dlq, has_compensation, is_undo_failed, undo_first, undo_from, undo_to,"
    " undo_below, commits, active_count, wait_count, sleep_count, decision_count, parked_count,"
    " awaited_count, parent)"
    " SELECT gen_random_uuid(), 'order', 1, CASE WHEN i < 1600 THEN 'paused'"
    " WHEN i % 25 = 0 AND i < 20000 THEN 'failed' ELSE 'completed' END, 1, now(), now(), false,"
    " false, false, -1, -1, -1, 0, 0, 0, 0, 0, 0, 0, 0,"
    " CASE WHEN i < 10 THEN '" TWO "'::uuid ELSE '" ONE "'::uuid END"
    " FROM generate_series(1, 40000) AS i;"
    "INSERT INTO workflow.workflow_figure (type, resolution, at, process, started, completed,"
    " failed, tasks, retried, took, waited)"
    " SELECT CASE t WHEN 0 THEN '' ELSE 't' || t END, 60, now() - i * interval '1 minute', "
    "'p', 1,"
    " 1, 1, 1, 1, '', '' FROM generate_series(0, 20) AS t, generate_series(1, 1000) AS i;"
    "ANALYZE workflow.workflow_instance; ANALYZE workflow.workflow_figure";

/* Where two indexes have the order that is asked for, the planner may take the one that leads past everything else. */
TEST(what_the_overview_asks_for_is_not_looked_for_among_others)
{
    static const struct {
        const char *name, *sql, *execute;
    } queries[] = {
        {"errors", SQL_SCAN_INSTANCE_ERRORS, "errors(9000000, 10)"},
        {"halts", SQL_COUNT_HALTS, "halts(10)"},
        {"figures", SQL_LIST_FIGURES, "figures('', now() - interval '10 minutes', 100)"},
    };
    cleanup(rig_closep) struct rig *rig = rig_open_url(new_url());
    cleanup(foreign_closep) PGconn *foreign = foreign_open(rig->url);
    foreign_run(foreign, lived_in);
    for (size_t i = 0; i < sizeof queries / sizeof *queries; i++) {
        prepare(foreign, queries[i].name, queries[i].sql);
        pages_of(foreign, queries[i].execute);
        long pages = pages_of(foreign, queries[i].execute);
        CHECK(pages > 0 && pages < 40, "%s touches %ld pages", queries[i].name, pages);
    }
}

/* Of a status, of a workflow and of a parent that few have, and these long ago, a list and a count read no more than they
 * answer: also if plans are made for any value, and before and after the first vacuum. */
TEST(lists_and_counts_walk_the_index_of_what_is_asked_for)
{
    static const struct {
        const char *name, *sql, *execute;
    } queries[] = {
        {"by_status", SQL_WALK_INSTANCES_BY_STATUS, "by_status(1, 9000000, 10, 'paused')"},
        {"by_status_in", SQL_WALK_INSTANCES_BY_STATUS,
         "by_status_in(39000, 39005, 10, 'completed')"},
        {"by_workflow", SQL_WALK_INSTANCES_BY_WORKFLOW,
         "by_workflow(1, 9000000, 10, 'paused', 'order')"},
        {"by_workflow_in", SQL_WALK_INSTANCES_BY_WORKFLOW,
         "by_workflow_in(39000, 39005, 10, 'completed', 'order')"},
        {"by_workflow_all", SQL_WALK_INSTANCES_BY_WORKFLOW,
         "by_workflow_all(1, 9000000, 10, 'failed', 'none')"},
        {"children", SQL_WALK_CHILDREN, "children(1, 9000000, 10, '" TWO "')"},
        {"failed_jobs", SQL_WALK_UNSUCCESSFUL_JOBS, "failed_jobs(1, 9000000, 10, 'failed')"},
        {"count", SQL_COUNT_INSTANCES_BY_STATUS, "count('{paused,dlq,completed}', 10)"},
        {"count_of", SQL_COUNT_INSTANCES_BY_WORKFLOW,
         "count_of('{paused,dlq,completed}', 10, 'order')"},
        {"count_of_none", SQL_COUNT_INSTANCES_BY_WORKFLOW,
         "count_of_none('{paused,dlq,completed}', 100, 'none')"},
        {"scan_of", SQL_SCAN_INSTANCES_BY_WORKFLOW,
         "scan_of(1, 9000000, 10, NULL, NULL, NULL, 0, 'order', 'paused')"},
        {"stands", SQL_COUNT_STANDS,
         "stands(1, 9000000, 10, NULL, NULL, NULL, 0, now(), 'order', 'paused')"},
    };
    /* A sample of a large table does not have what few have. */
    static const char *const states[] = {
        "SELECT 1",
        ("ALTER TABLE workflow.workflow_instance ALTER status SET (n_distinct = 1);"
         "ANALYZE workflow.workflow_instance"),
        "VACUUM ANALYZE workflow.workflow_instance"};
    static const char *const modes[] = {"SET plan_cache_mode = force_custom_plan",
                                        "SET plan_cache_mode = force_generic_plan"};
    enum { COUNT = sizeof queries / sizeof *queries };
    cleanup(rig_closep) struct rig *rig = rig_open_url(new_url());
    cleanup(foreign_closep) PGconn *foreign = foreign_open(rig->url);
    foreign_run(foreign, lived_in);
    for (size_t i = 0; i < COUNT; i++)
        prepare(foreign, queries[i].name, queries[i].sql);
    prepare(foreign, "plan_by_values", SQL_PLAN_BY_VALUES);
    for (size_t k = 0; k < 6; k++) {
        foreign_run(foreign, states[k / 2]);
        foreign_run(foreign, modes[k % 2]);
        for (size_t i = 0; i < COUNT; i++) {
            foreign_run(foreign, "BEGIN; EXECUTE plan_by_values"); /* pages_of() rolls back */
            long pages = pages_of(foreign, queries[i].execute);
            CHECK(pages < 40, "%s touches %ld pages after \"%s\", \"%s\"", queries[i].name,
                  pages, states[k / 2], modes[k % 2]);
        }
    }
}

/* A function that waits in a loop has taken thousands of signals, and logged as much. */
TEST(what_a_function_is_done_with_is_not_read_again)
{
    cleanup(rig_closep) struct rig *rig = rig_open_url(new_url());
    cleanup(foreign_closep) PGconn *foreign = foreign_open(rig->url);
    prepare(foreign, "signals", SQL_LIST_SIGNALS);
    prepare(foreign, "logs", SQL_LIST_LOGS);
    pages_of(foreign, "signals('{" ONE "}', 0, 100)");
    pages_of(foreign, "logs('" ONE "', 0, 10)");
    foreign_run(foreign, "INSERT INTO workflow.workflow_signal (instance_id, id, event,"
                         " received_at, taken_by)"
                         " SELECT '" ONE "', i, 'e' || i % 7, now(),"
                         " CASE WHEN i % 4000 = 0 THEN NULL ELSE i END"
                         " FROM generate_series(1, 20000) AS i;"
                         "INSERT INTO workflow.workflow_log (instance_id, level, message,"
                         " attempt, at)"
                         " SELECT '" ONE "', 'info', 'm', 0, now()"
                         " FROM generate_series(1, 20000)");
    pages_of(foreign, "signals('{" ONE "}', 0, 100)");
    long signals = pages_of(foreign, "signals('{" ONE "}', 0, 100)");
    CHECK(signals > 0 && signals < 20, "five signals touch %ld pages", signals);
    long logs = pages_of(foreign, "logs('" ONE "', 15000, 10)");
    CHECK(logs > 0 && logs < 20, "ten logs touch %ld pages", logs);
}

/* However many events wait to be tried again, and however many behind these, a claim touches the same pages. */
TEST(a_claim_of_the_outbox_does_not_read_what_waits)
{
    cleanup(rig_closep) struct rig *rig = rig_open_url(new_url());
    cleanup(foreign_closep) PGconn *foreign = foreign_open(rig->url);
    const char *claim = "claim_outbox('w', now(), now() + interval '1 minute', 10, 110)";
    const char *defer = "defer_outbox(now(), now() + interval '10 minutes', 110)";
    long few[2] = {0};
    foreign_run(foreign, "INSERT INTO workflow.workflow_outbox (instance_id, event,"
                         " created_at) SELECT gen_random_uuid(), 'free', now()"
                         " FROM generate_series(1, 20)");
    prepare(foreign, "claim_outbox", SQL_CLAIM_OUTBOX);
    prepare(foreign, "defer_outbox", SQL_DEFER_OUTBOX);
    for (int round = 0; round < 2; round++) {
        char sql[1024];
        snprintf(sql, sizeof sql,
                 "INSERT INTO workflow.workflow_outbox (instance_id, event, created_at,"
                 " claimed_by, claimed_until)"
                 " SELECT ('00000000-0000-0000-0000-' || lpad(i::text, 12, '0'))::uuid, 'e',"
                 " now(), CASE WHEN n = 1 THEN 'd' END, now() + interval '1 hour'"
                 " FROM generate_series(1, %d) AS i, generate_series(1, 4) AS n",
                 round ? 20000 : 2000);
        foreign_run(foreign, sql);
        foreign_run(foreign, "ANALYZE workflow.workflow_outbox");
        long pages[2] = {pages_of(foreign, claim), pages_of(foreign, defer)};
        for (int i = 0; i < 2; i++) {
            CHECK(round == 0 || pages[i] <= few[i] + few[i] / 2 + 40, "%ld pages, then %ld",
                  few[i], pages[i]);
            few[i] = pages[i];
        }
    }
}
