/* tests/store/test_postgres_held.c - claims while somebody holds an old snapshot: what they read, and
 * that nothing is passed for ever.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * Marks are forced, since a test's tables are too small to be slow.  Pages are counted, not time.
 */
#include "foreign.h"
#include "store/postgres/postgres.h"
#include "store/postgres/postgres_sql.h"

static struct mark_set *marks_of(struct rig *rig)
{
    return &((struct postgres_store *)rig->store)->job_marks;
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
    foreign_run(conn, "SELECT count(*) FROM workflow.workflow_run");
    return conn;
}

static void load(PGconn *conn, int count)
{
    char sql[256];
    snprintf(sql, sizeof sql,
             "BEGIN; SELECT set_config('cairn.engine', '1', true);"
             "INSERT INTO workflow.workflow_run (type, run_at) SELECT 'a', '2000-01-01'"
             " FROM generate_series(1, %d); COMMIT",
             count);
    foreign_run(conn, sql);
}

/* Claims so many in turns of 50, each in a transaction of its own. */
static void consume(struct rig *rig, int count)
{
    for (int i = 0; i < count; i += 50) {
        begin_write(rig);
        CLAIM(rig, 50, "a");
        CHECK_INT(rig->count, 50);
        commit(rig);
    }
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
             "EXPLAIN (ANALYZE, BUFFERS, COSTS OFF, TIMING OFF) EXECUTE claim_jobs(NULL,"
             " now(), 18, 10, '{w}', '{t}', now() + interval '1 minute',"
             " now() + interval '1 minute', 0, 2, false, '{a}', '{100}', '{100}', '{%lld}',"
             " '{}', '{}', false)",
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

TEST(a_claim_does_not_read_what_was_claimed_before)
{
    const char *url = scratch_store_of("postgres");
    cleanup(rig_closep) struct rig *rig = new_rig(url);
    cleanup(foreign_closep) PGconn *foreign = foreign_open(url);
    cleanup(foreign_closep) PGconn *holder = NULL;
    char sql[sizeof SQL_CLAIM_JOBS + 64];
    snprintf(sql, sizeof sql, "PREPARE claim_jobs AS %s", SQL_CLAIM_JOBS);
    foreign_run(foreign, "ALTER TABLE workflow.workflow_run SET (autovacuum_enabled = off)");
    foreign_run(foreign, sql);
    load(foreign, 12000);
    holder = hold_snapshot(url);
    consume(rig, 500);
    claim_pages(foreign, marks_of(rig)->items[0].mark.low);
    long few = claim_pages(foreign, marks_of(rig)->items[0].mark.low);
    consume(rig, 11000);
    int64_t mark = marks_of(rig)->items[0].mark.low;
    long many = claim_pages(foreign, mark), all = claim_pages(foreign, 0);
    CHECK(many < few * 2, "%ld pages after 500 claims, %ld after 11,500", few, many);
    CHECK(all > many * 3 / 2, "%ld pages from the beginning, %ld from the mark", all, many);
}

TEST(what_plain_sql_gives_back_below_the_mark_is_found_by_the_next_short_claim)
{
    const char *url = scratch_store_of("postgres");
    cleanup(rig_closep) struct rig *rig = new_rig(url);
    cleanup(foreign_closep) PGconn *foreign = foreign_open(url);
    cleanup(foreign_closep) PGconn *holder = NULL;
    load(foreign, 2000);
    holder = hold_snapshot(url);
    consume(rig, 2000);
    CHECK(marks_of(rig)->items[0].mark.low > 0, "there is no mark");
    foreign_run(foreign, "UPDATE workflow.workflow_run SET status = 'pending', run_at = "
                         "'2000-01-01' WHERE seq = 3");
    begin_write(rig);
    CLAIM(rig, 10, "a");
    CHECK_INT(rig->count, 1);
    CHECK_INT(rig->rows[0].seq, 3);
}

TEST(what_another_engine_gives_back_below_the_mark_is_found_too)
{
    const char *url = scratch_store_of("postgres");
    cleanup(rig_closep) struct rig *rig = new_rig(url);
    cleanup(rig_closep) struct rig *other = new_rig(url);
    cleanup(foreign_closep) PGconn *foreign = foreign_open(url);
    load(foreign, 1000);
    consume(rig, 500);
    consume(other, 500);
    begin_write(other);
    struct job_row row = other->rows[0];
    row.status = JOB_PENDING;
    row.is_ready = true;
    row.leased_by = row.token = NULL;
    row.lease_until_us = 0;
    MUST(other, other->ops->update_jobs(other->tx, &row, 1, &other->error));
    commit(other);
    begin_write(rig);
    CLAIM(rig, 10, "a");
    CHECK_INT(rig->count, 1);
    CHECK_INT(rig->rows[0].seq, row.seq);
}

TEST(a_transaction_that_ends_late_is_not_passed)
{
    const char *url = scratch_store_of("postgres");
    cleanup(rig_closep) struct rig *rig = new_rig(url);
    cleanup(foreign_closep) PGconn *foreign = foreign_open(url);
    cleanup(foreign_closep) PGconn *late = foreign_open(url);
    marks_of(rig)->settle_us = INT64_MAX;
    foreign_run(foreign, "SELECT nextval('workflow.workflow_run_seq_seq')");
    load(foreign, 2000);
    foreign_run(late, "BEGIN"); /* no transaction that ends is younger */
    foreign_run(late, "INSERT INTO workflow.workflow_run (seq, type, run_at)"
                      " OVERRIDING SYSTEM VALUE VALUES (1, 'a', '2000-01-01')");
    consume(rig, 1500);
    foreign_run(late, "COMMIT");
    /* A full claim, so that nothing is looked for below the mark: the late one goes first. */
    begin_write(rig);
    CLAIM(rig, 50, "a");
    CHECK_INT(rig->count, 50);
    CHECK_INT(rig->rows[0].seq, 1);
}

TEST(new_types_and_priorities_are_found_at_once)
{
    const char *url = scratch_store_of("postgres");
    cleanup(rig_closep) struct rig *rig = new_rig(url);
    cleanup(foreign_closep) PGconn *foreign = foreign_open(url);
    load(foreign, 120);
    consume(rig, 100);
    foreign_run(foreign, "INSERT INTO workflow.workflow_run (type, priority, run_at) VALUES"
                         " ('a', 7, '2000-01-01'), ('ab', 8, '2000-01-01'),"
                         " ('a', 200, '2000-01-01')");
    begin_write(rig);
    CLAIM(rig, 64, "a%");
    CHECK_INT(rig->count, 23);
    CHECK_INT(rig->rows[0].priority, 7);
    CHECK_STR(rig->rows[1].type, "ab");
    CHECK_INT(rig->rows[22].priority, 200);
}

/* Marks in use that are far too high, of types that are looked for once in a while. */
static void mislead(struct mark_set *set)
{
    set->pace = (struct mark_pace){
        .is_marking = true, .is_in_round = true, .checked_at_us = INT64_MAX / 2};
    set->gaps_at_us = INT64_MAX;
    mark_set_add(set, "a", 100)->low = INT64_C(1) << 60;
}

static void claim_final(struct rig *rig, const char *pattern)
{
    struct job_claim claim = {.worker = "w",
                              .token = "t",
                              .patterns = &pattern,
                              .pattern_count = 1,
                              .lease_until_us = rig->tx->now_us + US_PER_MIN,
                              .is_final = true};
    MUST(rig, rig->ops->claim_jobs(rig->tx, &claim, rig->rows, 10, &rig->count, &rig->error));
}

TEST(a_final_claim_overlooks_nothing)
{
    const char *url = scratch_store_of("postgres");
    cleanup(rig_closep) struct rig *rig = new_rig(url);
    cleanup(foreign_closep) PGconn *foreign = foreign_open(url);
    load(foreign, 1);
    foreign_run(foreign,
                "INSERT INTO workflow.workflow_run (type, run_at) VALUES ('b', '2000-01-01')");
    mislead(marks_of(rig));
    begin_write(rig);
    CLAIM(rig, 10, "a", "b%");
    CHECK_INT(rig->count, 0);
    claim_final(rig, "a");
    CHECK_INT(rig->count, 1);
    claim_final(rig, "b%");
    CHECK_INT(rig->count, 1);
    commit(rig);
}
