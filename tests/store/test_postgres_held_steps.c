/* tests/store/test_postgres_held_steps.c - claims of steps while somebody holds an old snapshot: what
 * they read, and that nothing is passed for ever.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * As test_postgres_held.c, for steps: marks are forced, and pages are counted, not time.
 */
#include "flow_rig.h"
#include "foreign.h"
#include "store/postgres/postgres.h"
#include "store/postgres/postgres_sql.h"

static struct mark_set *marks_of(struct rig *rig)
{
    return &((struct postgres_store *)rig->store)->step_marks;
}

static struct rig *new_rig(const char *url)
{
    struct rig *rig = rig_open_url(url);
    marks_of(rig)->pace.is_forced = marks_of(rig)->pace.is_marking = true;
    marks_of(rig)->settle_us = -1; /* other tests' transactions do not hold back a mark */
    return rig;
}

static PGconn *hold_snapshot(const char *url)
{
    PGconn *conn = foreign_open(url);
    foreign_run(conn, "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY");
    foreign_run(conn, "SELECT count(*) FROM workflow.workflow_step");
    return conn;
}

/* Steps of one instance each, which are ready one millisecond after the other; `instance_seq` is 1
 * for the first. */
static void load(PGconn *conn, int count, const char *type, int version, int priority)
{
    char sql[1024];
    snprintf(
        sql, sizeof sql,
        "INSERT INTO workflow.workflow_step (instance_id, instance_seq, seq, name, kind,"
        " max_attempts, priority, next, scope_fork, scope_from, scope_to, status, attempts,"
        " compensation_attempts, commit_no, next_run_at, is_ready, task_type, is_held,"
        " is_timed_out, remaining, updated_at, version)"
        " SELECT gen_random_uuid(), i, 0, 's', 'task', 3, %d, -1, -1, 0, 0, 'ready', 0, 0, 0,"
        " timestamptz '2026-11-15 06:00:00 UTC' + i * interval '1 millisecond', true, '%s',"
        " false, false, 0, now(), %d FROM generate_series(1, %d) AS i",
        priority, type, version, count);
    foreign_run(conn, sql);
}

/* Claims so many in turns of 50, each in a transaction of its own. */
static void consume(struct rig *rig, int count)
{
    for (int i = 0; i < count; i += 50) {
        begin_write(rig);
        CHECK_INT(claim_steps(rig, 50, "a")->count, 50);
        commit(rig);
    }
}

static int64_t first_mark(struct rig *rig)
{
    CHECK(marks_of(rig)->count > 0, "there is no mark");
    return marks_of(rig)->items[0].mark.low;
}

/* The pages that a claim of type a touches when it begins at this mark. */
static long claim_pages(PGconn *conn, int64_t mark)
{
    char sql[400];
    long pages = 0;
    const char *wait = "1000ms";
    foreign_run(conn, "BEGIN");
    PQclear(PQexecParams(conn, SQL_BEGIN_SETTINGS, 1, NULL, &wait, NULL, NULL, 0));
    snprintf(sql, sizeof sql,
             "EXPLAIN (ANALYZE, BUFFERS, COSTS OFF, TIMING OFF) EXECUTE claim_steps('{a}',"
             " '{50}', '{50}', '{%lld}', NULL, now(), 18, 10, '{w}', '{t}',"
             " now() + interval '1 minute', 0)",
             (long long)mark);
    PGresult *result = PQexec(conn, sql);
    CHECK(PQresultStatus(result) == PGRES_TUPLES_OK, "%s", PQerrorMessage(conn));
    for (int i = 0; i < PQntuples(result) && pages == 0; i++) {
        const char *hit = strstr(PQgetvalue(result, i, 0), "shared hit=");
        pages = hit ? atol(hit + 11) : 0;
    }
    PQclear(result);
    foreign_run(conn, "ROLLBACK");
    return pages;
}

TEST(a_claim_does_not_read_steps_that_were_claimed_before)
{
    const char *url = scratch_store_of("postgres");
    cleanup(rig_closep) struct rig *rig = new_rig(url);
    cleanup(foreign_closep) PGconn *foreign = foreign_open(url);
    cleanup(foreign_closep) PGconn *holder = NULL;
    char sql[sizeof SQL_CLAIM_STEPS + 64];
    snprintf(sql, sizeof sql, "PREPARE claim_steps AS %s", SQL_CLAIM_STEPS);
    foreign_run(foreign, "ALTER TABLE workflow.workflow_step SET (autovacuum_enabled = off)");
    foreign_run(foreign, sql);
    load(foreign, 12000, "a", 0, 50);
    holder = hold_snapshot(url);
    consume(rig, 500);
    claim_pages(foreign, first_mark(rig));
    long few = claim_pages(foreign, first_mark(rig));
    consume(rig, 11000);
    long many = claim_pages(foreign, first_mark(rig)), all = claim_pages(foreign, 0);
    CHECK(many < few * 2, "%ld pages after 500 claims, %ld after 11,500", few, many);
    CHECK(all > many * 3 / 2, "%ld pages from the beginning, %ld from the mark", all, many);
}

TEST(dead_steps_of_another_type_or_version_are_not_read)
{
    const char *url = scratch_store_of("postgres");
    cleanup(rig_closep) struct rig *rig = new_rig(url);
    CHECK(rig, "the store has its tables");
    cleanup(foreign_closep) PGconn *foreign = foreign_open(url);
    cleanup(foreign_closep) PGconn *holder = NULL;
    char sql[sizeof SQL_CLAIM_STEPS + 64];
    snprintf(sql, sizeof sql, "PREPARE claim_steps AS %s", SQL_CLAIM_STEPS);
    foreign_run(foreign, "ALTER TABLE workflow.workflow_step SET (autovacuum_enabled = off)");
    foreign_run(foreign, sql);
    load(foreign, 100, "a", 0, 50);
    claim_pages(foreign, 0);
    long few = claim_pages(foreign, 0);
    load(foreign, 5000, "a", 0, 60);
    load(foreign, 5000, "a", 1, 50);
    load(foreign, 5000, "b", 0, 50);
    holder = hold_snapshot(url);
    foreign_run(foreign,
                "UPDATE workflow.workflow_step SET is_ready = false WHERE task_type = 'b'"
                " OR version = 1 OR priority = 60");
    long many = claim_pages(foreign, 0);
    CHECK(many < few * 2, "%ld pages, and %ld beside 15,000 dead entries", few, many);
}

#define GIVE_BACK                                                                            \
    "UPDATE workflow.workflow_step SET status = 'ready', is_ready = true, locked_by = NULL," \
    " token = NULL, locked_until = NULL, due_at = NULL WHERE instance_seq = 3"

TEST(a_step_that_plain_sql_gives_back_below_the_mark_is_found_by_the_next_short_claim)
{
    const char *url = scratch_store_of("postgres");
    cleanup(rig_closep) struct rig *rig = new_rig(url);
    cleanup(foreign_closep) PGconn *foreign = foreign_open(url);
    cleanup(foreign_closep) PGconn *holder = NULL;
    load(foreign, 2000, "a", 0, 50);
    holder = hold_snapshot(url);
    consume(rig, 2000);
    CHECK(first_mark(rig) > 0, "the mark has not risen");
    foreign_run(foreign, GIVE_BACK);
    begin_write(rig);
    struct steps *steps = claim_steps(rig, 10, "a");
    CHECK_INT(steps->count, 1);
    CHECK_INT(steps->rows[0].instance_seq, 3);
}

TEST(a_step_without_a_time_is_found_below_the_mark)
{
    const char *url = scratch_store_of("postgres");
    cleanup(rig_closep) struct rig *rig = new_rig(url);
    cleanup(foreign_closep) PGconn *foreign = foreign_open(url);
    load(foreign, 200, "a", 0, 50);
    consume(rig, 200);
    CHECK(first_mark(rig) > 0, "the mark has not risen");
    foreign_run(foreign, GIVE_BACK);
    foreign_run(foreign,
                "UPDATE workflow.workflow_step SET next_run_at = NULL WHERE instance_seq = 3");
    begin_write(rig);
    struct steps *steps = claim_steps(rig, 10, "a");
    CHECK_INT(steps->count, 1);
    CHECK_INT(steps->rows[0].instance_seq, 3);
}

/* Makes a leased step ready again, as it was. */
static void release(struct rig *rig, struct step_row row)
{
    row.status = STEP_READY;
    row.is_ready = true;
    row.locked_by = row.token = NULL;
    row.locked_until_us = row.due_at_us = 0;
    update_step(rig, row);
}

TEST(a_step_that_another_engine_gives_back_below_the_mark_is_found_too)
{
    const char *url = scratch_store_of("postgres");
    cleanup(rig_closep) struct rig *rig = new_rig(url);
    cleanup(rig_closep) struct rig *other = new_rig(url);
    cleanup(foreign_closep) PGconn *foreign = foreign_open(url);
    load(foreign, 1000, "a", 0, 50);
    consume(rig, 450);
    begin_write(other);
    struct step_row row = claim_steps(other, 50, "a")->rows[7];
    commit(other);
    consume(rig, 500);
    begin_write(other);
    release(other, row);
    commit(other);
    begin_write(rig);
    struct steps *steps = claim_steps(rig, 10, "a");
    CHECK_INT(steps->count, 1);
    CHECK_INT(steps->rows[0].instance_seq, row.instance_seq);
}

/* The claims below are full, so that nothing is looked for below the marks. */

TEST(what_this_engine_makes_ready_comes_first_again)
{
    const char *url = scratch_store_of("postgres");
    cleanup(rig_closep) struct rig *rig = new_rig(url);
    cleanup(foreign_closep) PGconn *foreign = foreign_open(url);
    load(foreign, 1000, "a", 0, 50);
    begin_write(rig);
    struct step_row row = claim_steps(rig, 1, "a")->rows[0];
    commit(rig);
    consume(rig, 500);
    begin_write(rig);
    release(rig, row);
    CHECK_INT(claim_steps(rig, 1, "a")->rows[0].instance_seq, row.instance_seq);
    commit(rig);
}

TEST(a_step_that_is_due_again_comes_first_again)
{
    const char *url = scratch_store_of("postgres");
    cleanup(rig_closep) struct rig *rig = new_rig(url);
    cleanup(foreign_closep) PGconn *foreign = foreign_open(url);
    size_t count = 0;
    load(foreign, 1000, "a", 0, 50);
    begin_write(rig);
    struct step_row row = claim_steps(rig, 1, "a")->rows[0];
    row.status = STEP_READY;
    row.locked_by = row.token = NULL;
    row.locked_until_us = 0;
    row.due_at_us = RIG_START_US;
    update_step(rig, row);
    commit(rig);
    consume(rig, 500);
    begin_write(rig);
    MUST(rig, rig->ops->promote_steps(rig->tx, 10, &count, &rig->error));
    CHECK_INT(count, 1);
    CHECK_INT(claim_steps(rig, 1, "a")->rows[0].instance_seq, row.instance_seq);
    commit(rig);
}

static struct steps *claim_function(struct rig *rig, size_t room)
{
    static const struct function_range range = {"a", 2, 3};
    return claim_steps_by(rig, room,
                          (struct step_claim){.functions = &range, .function_count = 1});
}

TEST(a_function_that_is_ready_again_comes_first_though_its_row_does_not_know_its_version)
{
    const char *url = scratch_store_of("postgres");
    cleanup(rig_closep) struct rig *rig = new_rig(url);
    cleanup(foreign_closep) PGconn *foreign = foreign_open(url);
    load(foreign, 200, "a", 2, 50);
    foreign_run(foreign, "UPDATE workflow.workflow_step SET kind = 'function'");
    begin_write(rig);
    struct step_row row = claim_function(rig, 1)->rows[0];
    commit(rig);
    for (int i = 0; i < 3; i++) {
        begin_write(rig);
        CHECK_INT(claim_function(rig, 50)->count, 50);
        commit(rig);
    }
    CHECK(first_mark(rig) > row.next_run_at_us, "the mark has not risen");
    begin_write(rig);
    row = lock_step(rig, row.instance_id, 0);
    row.version = 0;
    release(rig, row);
    CHECK_INT(claim_function(rig, 1)->rows[0].instance_seq, row.instance_seq);
    commit(rig);
}

TEST(a_step_of_a_transaction_that_ends_late_is_not_passed)
{
    const char *url = scratch_store_of("postgres");
    cleanup(rig_closep) struct rig *rig = new_rig(url);
    cleanup(foreign_closep) PGconn *foreign = foreign_open(url);
    cleanup(foreign_closep) PGconn *late = foreign_open(url);
    marks_of(rig)->settle_us = INT64_MAX;
    load(foreign, 2000, "a", 0, 50);
    begin_write(rig);
    CHECK_INT(claim_steps(rig, 3, "a")->count, 3);
    commit(rig);
    foreign_run(late, "BEGIN");
    foreign_run(late, GIVE_BACK);
    consume(rig, 1500);
    foreign_run(late, "COMMIT");
    begin_write(rig);
    CHECK_INT(claim_steps(rig, 50, "a")->rows[0].instance_seq, 3);
    commit(rig);
}

TEST(new_types_versions_and_priorities_of_steps_are_found_at_once)
{
    const char *url = scratch_store_of("postgres");
    cleanup(rig_closep) struct rig *rig = new_rig(url);
    cleanup(foreign_closep) PGconn *foreign = foreign_open(url);
    load(foreign, 120, "a", 0, 50);
    consume(rig, 100);
    load(foreign, 1, "a", 0, 90);
    load(foreign, 1, "a", 4, 80);
    load(foreign, 1, "ab", 0, 70);
    load(foreign, 1, "a", 0, 0);
    begin_write(rig);
    struct steps *steps = claim_steps(rig, 24, "a%");
    CHECK_INT(steps->count, 24);
    CHECK_INT(steps->rows[0].priority, 90);
    CHECK_INT(steps->rows[1].priority, 80);
    CHECK_STR(steps->rows[2].task_type, "ab");
    CHECK_INT(steps->rows[23].priority, 0);
    commit(rig);

    load(foreign, 1, "a", 3, 50);
    begin_write(rig);
    CHECK_INT(claim_function(rig, 1)->count, 1);
    commit(rig);
}

/* Their first round finds no mark that has risen, and must not end them. */
TEST(marks_outlast_the_claim_that_makes_them)
{
    const char *url = scratch_store_of("postgres");
    cleanup(rig_closep) struct rig *rig = new_rig(url);
    cleanup(foreign_closep) PGconn *foreign = foreign_open(url);
    marks_of(rig)->pace.is_forced = false;
    load(foreign, 200, "a", 0, 50);
    consume(rig, 50);
    CHECK(marks_of(rig)->pace.is_marking, "marks are no longer used");
    CHECK_INT(marks_of(rig)->count, 1);
}

TEST(a_final_claim_overlooks_no_step)
{
    const char *url = scratch_store_of("postgres"), *pattern = "b%";
    cleanup(rig_closep) struct rig *rig = new_rig(url);
    cleanup(foreign_closep) PGconn *foreign = foreign_open(url);
    load(foreign, 3, "b", 0, 50);
    marks_of(rig)->pace = (struct mark_pace){
        .is_marking = true, .is_in_round = true, .checked_at_us = INT64_MAX / 2};
    marks_of(rig)->gaps_at_us = INT64_MAX;
    begin_write(rig);
    CHECK_INT(claim_steps(rig, 5, pattern)->count, 0);
    struct step_claim claim = {
        .base = {.patterns = &pattern, .pattern_count = 1, .is_final = true}};
    CHECK_INT(claim_steps_by(rig, 5, claim)->count, 3);
    commit(rig);
}
