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
    foreign_run(foreign, "UPDATE workflow.workflow_run SET status = 'pending'");
    foreign_run(foreign, "UPDATE workflow.workflow_run SET status = 'leased', leased_by = 'x'");
    foreign_run(foreign, "UPDATE workflow.workflow_run SET status = 'failed'");
    foreign_run(foreign, "UPDATE workflow.workflow_run SET status = 'pending'");
    foreign_run(foreign, "UPDATE workflow.workflow_run SET status = 'cancelled'");
    CHECK_STR(events(foreign), "created leased leased retried leased succeeded retried leased"
                               " failed retried cancelled");
    CHECK_STR(foreign_run(foreign, "SELECT data->>'error' FROM workflow.workflow_event"
                                   " WHERE event_type = 'retried' ORDER BY id LIMIT 1"),
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
    foreign_run(foreign, "UPDATE workflow.workflow_run SET status = 'pending'");
    foreign_run(foreign, "UPDATE workflow.workflow_run SET status = 'leased', leased_by = 'w'");
    begin_read(rig);
    CHECK(!get(rig, id).token, "the token is still there");
}

/* Rows are what a run is, columns what a stranger sets: DESIGN's list of what may be moved. */
enum { PENDING, LEASED, SUCCEEDED, FAILED, CANCELLED, STATUSES };
static const char *const statuses[STATUSES] = {"pending", "leased", "succeeded", "failed",
                                               "cancelled"};
static const bool may_become[STATUSES][STATUSES] = {
    [PENDING] = {[PENDING] = true, [LEASED] = true, [CANCELLED] = true},
    [LEASED] = {true, true, true, true, true},
    [SUCCEEDED] = {[PENDING] = true, [SUCCEEDED] = true},
    [FAILED] = {[PENDING] = true, [FAILED] = true},
    [CANCELLED] = {[PENDING] = true, [CANCELLED] = true},
};

/* One pair: whether it is taken, and if not, that the text names the run and both statuses, says why
 * and what to do, and that nothing was written. */
static void check_move(PGconn *foreign, int from, int to)
{
    char sql[512], id[40];
    snprintf(sql, sizeof sql,
             "INSERT INTO workflow.workflow_run (type, status) VALUES ('a', '%s') RETURNING id",
             statuses[from]);
    snprintf(id, sizeof id, "%s", foreign_run(foreign, sql));
    snprintf(sql, sizeof sql, "UPDATE workflow.workflow_run SET status = '%s' WHERE id = '%s'",
             statuses[to], id);
    PGresult *result = PQexec(foreign, sql);
    bool is_taken = PQresultStatus(result) == PGRES_COMMAND_OK;
    CHECK(is_taken == may_become[from][to], "%s to %s: %s", statuses[from], statuses[to],
          is_taken ? "taken" : PQresultErrorMessage(result));
    if (!is_taken) {
        char wanted[160];
        snprintf(wanted, sizeof wanted, "workflow run %s is %s and cannot become %s", id,
                 statuses[from], statuses[to]);
        CHECK_STR(PQresultErrorField(result, PG_DIAG_SQLSTATE), "55000");
        CHECK_STR(PQresultErrorField(result, PG_DIAG_MESSAGE_PRIMARY), wanted);
        CHECK(PQresultErrorField(result, PG_DIAG_MESSAGE_DETAIL), "it does not say why");
        CHECK(PQresultErrorField(result, PG_DIAG_MESSAGE_HINT), "it does not say what to do");
    }
    PQclear(result);
    snprintf(sql, sizeof sql, "SELECT status FROM workflow.workflow_run WHERE id = '%s'", id);
    CHECK_STR(foreign_run(foreign, sql), statuses[is_taken ? to : from]);
}

TEST(a_stranger_moves_a_run_only_as_its_life_goes)
{
    cleanup(rig_closep) struct rig *rig = new_rig();
    cleanup(foreign_closep) PGconn *foreign = foreign_open(rig->url);
    for (int from = 0; from < STATUSES; from++)
        for (int to = 0; to < STATUSES; to++)
            check_move(foreign, from, to);
}

TEST(a_foreign_lease_always_has_an_end)
{
    cleanup(rig_closep) struct rig *rig = new_rig();
    cleanup(foreign_closep) PGconn *foreign = foreign_open(rig->url);
    static const char left[] = "SELECT lease_until - now() BETWEEN interval '20 seconds' AND"
                               " interval '30 seconds' FROM workflow.workflow_run";
    foreign_run(foreign,
                "INSERT INTO workflow.workflow_run (type, status) VALUES ('a', 'leased')");
    CHECK_STR(foreign_run(foreign, left), "t");
    foreign_run(foreign,
                "UPDATE workflow.workflow_run SET status = 'pending', lease_until = NULL");
    foreign_run(foreign, "UPDATE workflow.workflow_run SET status = 'leased', leased_by = 'x'");
    CHECK_STR(foreign_run(foreign, left), "t");
    foreign_run(foreign, "UPDATE workflow.workflow_run SET lease_until = NULL");
    CHECK_STR(foreign_run(foreign, left), "t");

    /* Where no trigger fires, the table itself refuses. */
    PGresult *result = PQexec(foreign, "ALTER TABLE workflow.workflow_run DISABLE TRIGGER USER;"
                                       "UPDATE workflow.workflow_run SET lease_until = NULL");
    CHECK_STR(PQresultErrorField(result, PG_DIAG_SQLSTATE), "23514");
    PQclear(result);
}

TEST(a_foreign_lease_that_ran_out_is_found_like_any_other)
{
    cleanup(rig_closep) struct rig *rig = new_rig();
    cleanup(foreign_closep) PGconn *foreign = foreign_open(rig->url);
    foreign_run(foreign,
                "INSERT INTO workflow.workflow_run (type, status, leased_by, lease_until)"
                " VALUES ('a', 'leased', 'x', '2020-01-01 00:00:00.000001Z')");
    begin_write(rig);
    CHECK_INT(next_due(rig).job_us, INT64_C(1577836800000002));
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
    list(rig, (struct list_filter){0}, 10);
    CHECK_INT(rig->count, 2);
    CHECK_INT(rig->rows[1].run_at_us, INSTANT_MAX);
    CHECK_INT(rig->rows[1].created_at_us, INSTANT_MIN); /* 0 is no time */
    CHECK_INT(rig->rows[0].run_at_us, INT64_C(-28502755200000000));
    CHECK_INT(rig->rows[0].created_at_us, INSTANT_MIN);
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
