/* tests/store/test_postgres_held_timers.c - timers while somebody holds an old snapshot: what a look
 * at them reads, and that none is passed for ever.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * Marks are forced, and pages are counted, not time.
 */
#include "flow_rig.h"
#include "foreign.h"
#include "store/postgres/postgres.h"
#include "store/postgres/postgres_sql.h"

static struct mark_set *timer_of(struct rig *rig, enum postgres_timer timer)
{
    return &((struct postgres_store *)rig->store)->timers[timer];
}

static struct rig *new_rig(const char *url)
{
    struct rig *rig = rig_open_url(url);
    for (int i = 0; i < POSTGRES_TIMER_COUNT; i++)
        timer_of(rig, (enum postgres_timer)i)->pace =
            (struct mark_pace){.is_forced = true, .is_marking = true};
    return rig;
}

/* Looks until all marks are a second before now. */
static void raise_marks(struct rig *rig)
{
    begin_write(rig);
    next_due(rig);
    commit(rig);
    for (int i = 0; i < POSTGRES_TIMER_COUNT; i++)
        CHECK_INT(timer_of(rig, (enum postgres_timer)i)->items[0].mark.low,
                  RIG_START_US - US_PER_SEC);
}

/* The pages that a look at the leases of jobs touches from this time on. */
static long look_pages(PGconn *conn, const char *from)
{
    char sql[400];
    long pages = -1;
    const char *wait = "1000ms";
    foreign_run(conn, "BEGIN");
    PQclear(PQexecParams(conn, SQL_BEGIN_SETTINGS, 1, NULL, &wait, NULL, NULL, 0));
    snprintf(sql, sizeof sql,
             "EXPLAIN (ANALYZE, BUFFERS, COSTS OFF, TIMING OFF) EXECUTE next_due('-infinity',"
             " 'infinity', '%s', 'infinity', '-infinity', 'infinity', '-infinity', 'infinity',"
             " '-infinity', 'infinity', '-infinity', 'infinity', false)",
             from);
    PGresult *result = PQexec(conn, sql);
    CHECK(PQresultStatus(result) == PGRES_TUPLES_OK, "%s", PQerrorMessage(conn));
    for (int i = 0; i < PQntuples(result) && pages < 0; i++) {
        const char *hit = strstr(PQgetvalue(result, i, 0), "shared hit=");
        pages = hit ? atol(hit + 11) : -1;
    }
    PQclear(result);
    foreign_run(conn, "ROLLBACK");
    return pages;
}

TEST(a_look_from_the_mark_does_not_read_leases_that_have_ended)
{
    const char *url = scratch_store_of("postgres");
    cleanup(rig_closep) struct rig *rig = new_rig(url);
    CHECK(rig, "the store has its tables");
    cleanup(foreign_closep) PGconn *foreign = foreign_open(url);
    cleanup(foreign_closep) PGconn *holder = foreign_open(url);
    char sql[sizeof SQL_NEXT_DUE + 64];
    snprintf(sql, sizeof sql, "PREPARE next_due AS %s", SQL_NEXT_DUE);
    foreign_run(foreign,
                "ALTER TABLE workflow.workflow_run_lease SET (autovacuum_enabled = off)");
    foreign_run(foreign, sql);
    foreign_run(
        foreign,
        "BEGIN; SELECT set_config('cairn.engine', '1', true);"
        "INSERT INTO workflow.workflow_run (type, status, leased_by, lease_token,"
        " lease_until) SELECT 'a', 'leased', 'w', 't', timestamptz '2026-11-15 06:00:00 UTC'"
        " + i * interval '1 second' FROM generate_series(1, 5000) AS i; COMMIT");
    foreign_run(holder, "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY");
    foreign_run(holder, "SELECT count(*) FROM workflow.workflow_run");
    foreign_run(foreign,
                "BEGIN; SELECT set_config('cairn.engine', '1', true);"
                "UPDATE workflow.workflow_run SET status = 'succeeded', leased_by = NULL,"
                " lease_token = NULL, lease_until = NULL"
                " WHERE lease_until < '2026-11-15 07:00:00 UTC';"
                "DELETE FROM workflow.workflow_run_lease"
                " WHERE until < '2026-11-15 07:00:00 UTC'; COMMIT");
    look_pages(foreign, "2026-11-15 07:00:00 UTC");
    long from_mark = look_pages(foreign, "2026-11-15 07:00:00 UTC");
    long all = look_pages(foreign, "-infinity");
    CHECK(from_mark < 20 && all > 2 * from_mark,
          "%ld pages from the mark, %ld from the beginning", from_mark, all);
}

TEST(a_look_goes_no_further_than_a_second_and_wants_to_look_again)
{
    cleanup(rig_closep) struct rig *rig = new_rig(scratch_store_of("postgres"));
    begin_write(rig);
    CHECK_INT(next_due(rig).job_us, RIG_START_US + US_PER_SEC);
    CHECK_INT(next_due(rig).flow_us, RIG_START_US + US_PER_SEC);
    commit(rig);
}

TEST(a_lease_that_plain_sql_ends_below_the_mark_is_found)
{
    const char *url = scratch_store_of("postgres");
    cleanup(rig_closep) struct rig *rig = new_rig(url);
    cleanup(foreign_closep) PGconn *foreign = foreign_open(url);
    size_t count = 0;
    raise_marks(rig);
    foreign_run(foreign,
                "INSERT INTO workflow.workflow_run (type, status, leased_by, lease_token,"
                " lease_until) VALUES ('a', 'leased', 'w', 't',"
                " '2026-11-15 06:00:00 UTC')");
    begin_write(rig);
    CHECK_INT(next_due(rig).job_us, RIG_START_US - 30 * US_PER_MIN + 1);
    MUST(rig, rig->ops->lock_expired_jobs(rig->tx, rig->rows, ROWS_MAX, &count, &rig->error));
    CHECK_INT(count, 1);
    commit(rig);
}

/* Timers of steps, as plain SQL writes them; a wait that has a lock is a lease. */
static void put_step(PGconn *conn, const char *status, const char *locked_by)
{
    char sql[1024];
    snprintf(
        sql, sizeof sql,
        "INSERT INTO workflow.workflow_step (instance_id, instance_seq, seq, name, kind,"
        " max_attempts, priority, next, scope_fork, scope_from, scope_to, status, attempts,"
        " compensation_attempts, commit_no, is_ready, task_type, is_held, is_timed_out, "
        "remaining,"
        " updated_at, due_at, locked_by) VALUES (gen_random_uuid(), 1, 0, 's', 'task', 3, 50, "
        "-1,"
        " -1, 0, 0, '%s', 0, 0, 0, false, 'a', false, false, 0, now(), '2026-11-15 06:00:00 "
        "UTC',"
        " %s)",
        status, locked_by);
    foreign_run(conn, sql);
}

TEST(timers_of_steps_that_plain_sql_sets_below_the_mark_are_found)
{
    static const char *const cases[][2] = {
        {"running", "'w'"}, {"waiting", "NULL"}, {"ready", "NULL"}};
    for (size_t i = 0; i < 3; i++) {
        const char *url = scratch_store_of("postgres");
        cleanup(rig_closep) struct rig *rig = new_rig(url);
        cleanup(foreign_closep) PGconn *foreign = foreign_open(url);
        struct step_ref refs[4];
        size_t count = 0;
        raise_marks(rig);
        put_step(foreign, cases[i][0], cases[i][1]);
        begin_write(rig);
        CHECK_INT(next_due(rig).flow_us, RIG_START_US - 30 * US_PER_MIN);
        if (i < 2)
            MUST(rig, rig->ops->find_due_steps(rig->tx, refs, 4, &count, &rig->error));
        else
            MUST(rig, rig->ops->promote_steps(rig->tx, 4, &count, &rig->error));
        CHECK_INT(count, 1);
        commit(rig);
    }
}

TEST(a_timer_that_this_engine_sets_below_the_mark_lowers_it)
{
    cleanup(rig_closep) struct rig *rig = new_rig(scratch_store_of("postgres"));
    struct step_ref refs[4];
    size_t count = 0;
    raise_marks(rig);
    begin_write(rig);
    struct instance_row instance = new_instance(rig, "w");
    struct step_row row = step_of(&instance, 0);
    row.status = STEP_RUNNING;
    row.due_at_us = RIG_START_US - US_PER_MIN;
    add_step(rig, row);
    /* Nobody has looked below the mark since. */
    MUST(rig, rig->ops->find_due_steps(rig->tx, refs, 4, &count, &rig->error));
    CHECK_INT(count, 1);
    commit(rig);
}

TEST(a_delayed_start_below_the_mark_is_found)
{
    cleanup(rig_closep) struct rig *rig = new_rig(scratch_store_of("postgres"));
    cleanup(foreign_closep) PGconn *foreign = foreign_open(rig->url);
    const char *id;
    size_t count = 0;
    begin_write(rig);
    struct instance_row instance = instance_of(rig, "w");
    instance.status = INSTANCE_PENDING;
    instance.start_at_us = RIG_START_US + US_PER_MIN;
    add_instance(rig, instance);
    commit(rig);
    raise_marks(rig);
    foreign_run(foreign,
                "UPDATE workflow.workflow_instance SET start_at = '2026-11-15 06:00:00 UTC'");
    begin_write(rig);
    CHECK_INT(next_due(rig).flow_us, RIG_START_US - 30 * US_PER_MIN);
    MUST(rig, rig->ops->find_due_instances(rig->tx, &id, 1, &count, &rig->error));
    CHECK_INT(count, 1);
    commit(rig);
}
