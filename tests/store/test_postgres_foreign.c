/* tests/store/test_postgres_foreign.c - writes from psql: what the triggers keep true, and how the
 * store sees them.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "foreign.h"

static struct rig *new_rig(void)
{
    return rig_open_url(scratch_store_of("postgres"));
}

/* The events of the only job, in order. */
static const char *events(PGconn *foreign)
{
    return foreign_run(foreign, "SELECT string_agg(event_type, ' ' ORDER BY id)"
                                " FROM workflow.workflow_event");
}

TEST(foreign_changes_leave_a_complete_trail)
{
    cleanup(rig_closep) struct rig *rig = new_rig();
    cleanup(foreign_closep) PGconn *foreign = foreign_open(rig->url);
    foreign_run(foreign, "INSERT INTO workflow.workflow_run (type) VALUES ('a')");
    foreign_run(foreign, "UPDATE workflow.workflow_run SET status = 'leased', leased_by = 'x',"
                         " lease_until = now() + interval '1 minute'");
    foreign_run(foreign, "UPDATE workflow.workflow_run SET lease_until = now()");
    foreign_run(foreign, "UPDATE workflow.workflow_run SET leased_by = 'y'");
    foreign_run(foreign, "UPDATE workflow.workflow_run SET status = 'pending', attempt = 1,"
                         " last_error = 'no', run_at = now() + interval '1 minute'");
    CHECK_STR(foreign_run(foreign, "SELECT is_ready FROM workflow.workflow_run"), "f");
    foreign_run(foreign, "UPDATE workflow.workflow_run SET run_at = now()");
    CHECK_STR(foreign_run(foreign, "SELECT is_ready FROM workflow.workflow_run"), "t");
    foreign_run(foreign, "UPDATE workflow.workflow_run SET status = 'leased', leased_by = 'x'");
    CHECK_STR(foreign_run(foreign, "SELECT is_ready FROM workflow.workflow_run"), "f");
    foreign_run(foreign, "UPDATE workflow.workflow_run SET status = 'succeeded'");
    foreign_run(foreign, "UPDATE workflow.workflow_run SET status = 'failed'");
    foreign_run(foreign, "UPDATE workflow.workflow_run SET status = 'cancelled'");
    CHECK_STR(events(foreign),
              "created leased leased retried leased succeeded failed cancelled");
    CHECK_STR(foreign_run(foreign, "SELECT data->>'error' FROM workflow.workflow_event"
                                   " WHERE event_type = 'retried'"),
              "no");
}

TEST(the_engines_own_writes_write_no_event_by_trigger)
{
    cleanup(rig_closep) struct rig *rig = new_rig();
    cleanup(foreign_closep) PGconn *foreign = foreign_open(rig->url);
    begin_write(rig);
    add(rig, job_of(rig, "a"));
    CLAIM(rig, 1, "a");
    commit(rig);
    CHECK_INT(foreign_number(foreign, "SELECT count(*) FROM workflow.workflow_event"), 0);
}

TEST(a_foreign_claim_clears_our_token_and_a_heartbeat_or_cancel_does_not)
{
    cleanup(rig_closep) struct rig *rig = new_rig();
    cleanup(foreign_closep) PGconn *foreign = foreign_open(rig->url);
    begin_write(rig);
    const char *id = add(rig, job_of(rig, "a"));
    CLAIM(rig, 1, "a");
    commit(rig);

    foreign_run(foreign, "UPDATE workflow.workflow_run SET lease_until = now()");
    begin_read(rig);
    CHECK_STR(get(rig, id).token, "t");
    commit(rig);
    foreign_run(foreign, "UPDATE workflow.workflow_run SET status = 'cancelled'");
    begin_read(rig);
    CHECK_STR(get(rig, id).token, "t");
    commit(rig);
    foreign_run(foreign, "UPDATE workflow.workflow_run SET status = 'leased', leased_by = 'w'");
    begin_read(rig);
    CHECK(!get(rig, id).token, "the token is still there");
}

TEST(a_foreign_lease_that_ran_out_is_found_like_any_other)
{
    cleanup(rig_closep) struct rig *rig = new_rig();
    cleanup(foreign_closep) PGconn *foreign = foreign_open(rig->url);
    foreign_run(foreign,
                "INSERT INTO workflow.workflow_run (type, status, leased_by, lease_until)"
                " VALUES ('a', 'leased', 'x', '2020-01-01 00:00:00.000001Z')");
    int64_t due_us;
    begin_write(rig);
    MUST(rig, rig->ops->next_due(rig->tx, &due_us, &rig->error));
    CHECK_INT(due_us, INT64_C(1577836800000002));
    MUST(rig, rig->ops->lock_expired_jobs(rig->tx, rig->rows, 10, &rig->count, &rig->error));
    CHECK_INT(rig->count, 1);
    CHECK_STR(rig->rows[0].leased_by, "x");
}

TEST(work_inserted_for_later_is_not_claimed_before)
{
    cleanup(rig_closep) struct rig *rig = new_rig();
    cleanup(foreign_closep) PGconn *foreign = foreign_open(rig->url);
    foreign_run(foreign, "INSERT INTO workflow.workflow_run (type, run_at)"
                         " VALUES ('a', now() + interval '1 hour')");
    /* Ready by the database's clock, but not yet by ours, which is virtual. */
    foreign_run(foreign, "INSERT INTO workflow.workflow_run (type, run_at, is_ready)"
                         " VALUES ('a', '2000-01-01', false), ('a', now(), true)");
    begin_write(rig);
    CLAIM(rig, 10, "a");
    CHECK_INT(rig->count, rig->tx->now_us < RIG_START_US ? 0 : 1);
    CHECK_INT(rig->rows[0].run_at_us, INT64_C(946684800000000));
}

TEST(times_beyond_ours_are_held_within)
{
    cleanup(rig_closep) struct rig *rig = new_rig();
    cleanup(foreign_closep) PGconn *foreign = foreign_open(rig->url);
    foreign_run(
        foreign,
        "INSERT INTO workflow.workflow_run (type, run_at, created_at)"
        " VALUES ('never', 'infinity', '-infinity'), ('old', '1066-10-14', '0001-01-01')");
    begin_read(rig);
    list(rig, (struct job_filter){0}, 10);
    CHECK_INT(rig->count, 2);
    CHECK_INT(rig->rows[1].run_at_us, INSTANT_MAX);
    CHECK_INT(rig->rows[1].created_at_us, 0);
    CHECK_INT(rig->rows[0].run_at_us, 0);
}

TEST(times_are_exact_to_the_microsecond)
{
    cleanup(rig_closep) struct rig *rig = new_rig();
    cleanup(foreign_closep) PGconn *foreign = foreign_open(rig->url);
    struct job_row row = job_of(rig, "a");
    row.run_at_us = INSTANT_MAX;
    row.created_at_us = INT64_C(1794724200123457);
    begin_write(rig);
    add(rig, row);
    CHECK_INT(get(rig, row.id).run_at_us, INSTANT_MAX);
    CHECK_INT(get(rig, row.id).created_at_us, INT64_C(1794724200123457));
    commit(rig);
    CHECK_STR(foreign_run(foreign,
                          "SET TimeZone = 'UTC'; SELECT created_at FROM workflow.workflow_run"),
              "2026-11-15 06:30:00.123457+00");
}

TEST(an_event_of_a_job_that_does_not_exist_is_refused)
{
    cleanup(rig_closep) struct rig *rig = new_rig();
    cleanup(foreign_closep) PGconn *foreign = foreign_open(rig->url);
    PGresult *result =
        PQexec(foreign, "INSERT INTO workflow.workflow_event (workflow_id, event_type)"
                        " VALUES (gen_random_uuid(), 'heartbeat')");
    CHECK_STR(PQresultErrorField(result, PG_DIAG_SQLSTATE), "23503");
    PQclear(result);
}

TEST(a_producer_needs_the_right_to_insert_and_no_other)
{
    cleanup(rig_closep) struct rig *rig = new_rig();
    cleanup(foreign_closep) PGconn *foreign = foreign_open(rig->url);
    char sql[512], role[64];
    snprintf(role, sizeof role, "producer_of_%s", PQdb(foreign));
    snprintf(sql, sizeof sql,
             "CREATE ROLE %s; GRANT USAGE ON SCHEMA workflow TO %s;"
             "GRANT INSERT ON workflow.workflow_run TO %s; SET ROLE %s",
             role, role, role, role);
    foreign_run(foreign, sql);
    foreign_run(foreign, "INSERT INTO workflow.workflow_run (type) VALUES ('a')");
    snprintf(sql, sizeof sql, "RESET ROLE; DROP OWNED BY %s; DROP ROLE %s", role, role);
    foreign_run(foreign, sql);
    CHECK_STR(events(foreign), "created");
}
