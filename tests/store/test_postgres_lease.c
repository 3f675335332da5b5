/* tests/store/test_postgres_lease.c - the tables beside workflow_run: lease rows, and the order of
 * insertion.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "foreign.h"
#include "store/postgres/postgres_sql.h"

enum { MIGRATIONS = sizeof migrations / sizeof *migrations };

static struct rig *new_rig(void)
{
    return rig_open_url(scratch_store_of("postgres"));
}

/* The laws: a leased job is in a lease row that is due when its lease ends, or earlier; and every job
 * has its place in the order of insertion. */
static void check_laws(PGconn *foreign)
{
    CHECK_INT(foreign_number(foreign,
                             "SELECT count(*) FROM workflow.workflow_run AS r"
                             " WHERE r.status = 'leased' AND NOT EXISTS (SELECT FROM"
                             " workflow.workflow_run_lease AS l WHERE r.id = ANY (l.ids)"
                             " AND l.until <= r.lease_until)"),
              0);
    CHECK_INT(foreign_number(foreign,
                             "SELECT count(*) FROM workflow.workflow_run AS r"
                             " FULL JOIN workflow.workflow_run_order AS o USING (seq, id)"
                             " WHERE r.id IS NULL OR o.id IS NULL"),
              0);
}

static long lease_rows(PGconn *foreign)
{
    return foreign_number(foreign, "SELECT count(*) FROM workflow.workflow_run_lease");
}

/* Looks at the timers, as a batch does; how many leases have run out. */
static size_t look(struct rig *rig)
{
    begin_write(rig);
    next_due(rig);
    MUST(rig,
         rig->ops->lock_expired_jobs(rig->tx, rig->rows, ROWS_MAX, &rig->count, &rig->error));
    commit(rig);
    return rig->count;
}

static void write_job(struct rig *rig, const struct job_row *row)
{
    MUST(rig, rig->ops->update_jobs(rig->tx, row, 1, &rig->error));
}

/* ---- claims and heartbeats ------------------------------------------------------------------ */

TEST(a_claim_writes_one_lease_row_for_a_hundred_jobs)
{
    enum { JOBS = 230 };
    cleanup(rig_closep) struct rig *rig = new_rig();
    cleanup(foreign_closep) PGconn *foreign = foreign_open(rig->url);
    static struct job_row rows[JOBS];
    static const char *all = "%";
    size_t count = 0;
    begin_write(rig);
    for (int i = 0; i < JOBS; i++)
        add(rig, job_of(rig, "a"));
    struct job_claim wish = {.worker = "w",
                             .token = "t",
                             .patterns = &all,
                             .pattern_count = 1,
                             .lease_until_us = rig->tx->now_us + US_PER_MIN};
    MUST(rig, rig->ops->claim_jobs(rig->tx, &wish, rows, JOBS, &count, &rig->error));
    CHECK_INT(count, JOBS);
    commit(rig);
    CHECK_STR(foreign_run(foreign, "SELECT string_agg(cardinality(ids)::text, ' ' ORDER BY id)"
                                   " FROM workflow.workflow_run_lease"),
              "100 100 30");
    check_laws(foreign);

    begin_write(rig);
    CLAIM(rig, 5, "a");
    CHECK_INT(rig->count, 0);
    commit(rig);
    CHECK_INT(lease_rows(foreign), 3);
}

TEST(a_lease_that_was_extended_is_looked_at_in_time)
{
    cleanup(rig_closep) struct rig *rig = new_rig();
    cleanup(foreign_closep) PGconn *foreign = foreign_open(rig->url);
    begin_write(rig);
    const char *id = add(rig, job_of(rig, "a"));
    CLAIM(rig, 1, "a");
    struct job_row row = lock_one(rig, id);
    row.lease_until_us += 5 * US_PER_MIN;
    write_job(rig, &row);
    CHECK_INT(next_due(rig).job_us, row.lease_until_us + 1); /* of a virtual clock, exactly */
    commit(rig);
    CHECK_INT(lease_rows(foreign), 1);
    check_laws(foreign);

    pass_us(rig, 2 * US_PER_MIN); /* the row is due, the lease is not */
    CHECK_INT(look(rig), 0);
    CHECK_INT(lease_rows(foreign), 1);
    CHECK_INT(foreign_number(foreign, "SELECT count(*) FROM workflow.workflow_run_lease AS l"
                                      " JOIN workflow.workflow_run AS r"
                                      " ON r.id = ANY (l.ids) AND l.until = r.lease_until"),
              1);
    pass_us(rig, 5 * US_PER_MIN);
    CHECK_INT(look(rig), 1);
}

TEST(a_lease_that_was_shortened_has_a_row_for_its_new_end)
{
    cleanup(rig_closep) struct rig *rig = new_rig();
    cleanup(foreign_closep) PGconn *foreign = foreign_open(rig->url);
    begin_write(rig);
    const char *id = add(rig, job_of(rig, "a"));
    CLAIM(rig, 1, "a");
    struct job_row row = lock_one(rig, id);
    row.lease_until_us = RIG_START_US + 10;
    write_job(rig, &row);
    commit(rig);
    check_laws(foreign);
    pass_us(rig, 11);
    CHECK_INT(look(rig), 1);
}

TEST(a_lease_row_goes_when_no_job_of_it_is_leased)
{
    cleanup(rig_closep) struct rig *rig = new_rig();
    cleanup(foreign_closep) PGconn *foreign = foreign_open(rig->url);
    begin_write(rig);
    const char *ids[2] = {add(rig, job_of(rig, "a")), add(rig, job_of(rig, "a"))};
    CLAIM(rig, 2, "a");
    struct job_row row = lock_one(rig, ids[0]);
    row.status = JOB_FAILED;
    row.lease_until_us = 0;
    write_job(rig, &row);
    commit(rig);
    pass_us(rig, 2 * US_PER_MIN);
    CHECK_INT(look(rig), 1);
    CHECK_INT(lease_rows(foreign), 1);

    begin_write(rig);
    row = lock_one(rig, ids[1]);
    row.status = JOB_PENDING;
    row.is_ready = true;
    row.lease_until_us = 0;
    write_job(rig, &row);
    commit(rig);
    CHECK_INT(look(rig), 0);
    CHECK_INT(lease_rows(foreign), 0);
    begin_write(rig);
    CHECK_INT(next_due(rig).job_us, 0);
}

/* A writer with the real clock; virtual ones look when the lease ends. */
struct real_rig {
    struct clock clock;
    struct store *store;
    struct store_session *session;
    struct arena arena;
    struct store_tx *tx;
    cairn_error error;
};

static void real_begin(struct real_rig *real, const char *url)
{
    if (!real->store) {
        clock_init_real(&real->clock);
        struct store_config config = {.url = url, .clock = &real->clock, .lock_wait_ms = 1000};
        MUST(real, store_open(&config, &real->store, &real->error));
        MUST(real, real->store->ops->session_open(real->store, SESSION_WRITER, &real->session,
                                                  &real->error));
    }
    MUST(real, real->store->ops->begin(real->session, &real->arena, &real->tx, &real->error));
}

static void real_commit(struct real_rig *real)
{
    MUST(real, real->store->ops->commit(real->tx, true, &real->error));
}

static void real_done(struct real_rig *real)
{
    real->store->ops->session_close(real->session);
    real->store->ops->close(real->store);
    arena_done(&real->arena);
}

TEST(a_long_lease_is_looked_at_before_it_ends_and_is_not_due_then)
{
    cleanup(rig_closep) struct rig *rig = new_rig();
    cleanup(foreign_closep) PGconn *foreign = foreign_open(rig->url);
    cleanup(real_done) struct real_rig real = {0};
    cleanup(real_done) struct real_rig later = {
        0}; /* the answer of a look holds for a moment */
    static const char *all = "%";
    struct due_times due;
    struct job_row row;
    size_t count = 0;
    foreign_run(foreign, "INSERT INTO workflow.workflow_run (type) VALUES ('a')");
    real_begin(&real, rig->url);
    struct job_claim wish = {.worker = "w",
                             .token = "t",
                             .patterns = &all,
                             .pattern_count = 1,
                             .lease_until_us = real.tx->now_us + 60 * US_PER_MIN};
    MUST(&real, real.store->ops->claim_jobs(real.tx, &wish, &row, 1, &count, &real.error));
    CHECK_INT(count, 1);
    real_commit(&real);
    check_laws(foreign);
    CHECK_STR(foreign_run(foreign, "SELECT until < lease_until - interval '49 minutes'"
                                   " FROM workflow.workflow_run, workflow.workflow_run_lease"),
              "t");

    /* Its time has come, as if ten seconds had passed. */
    foreign_run(foreign,
                "UPDATE workflow.workflow_run_lease SET until = now() - interval '1 s'");
    real_begin(&real, rig->url);
    MUST(&real, real.store->ops->next_due(real.tx, &due, &real.error));
    CHECK(due.job_us > real.tx->now_us, "nothing has run out");
    CHECK(due.job_us < row.lease_until_us, "it is not looked at again before the end");
    real_commit(&real);
    check_laws(foreign);
    begin_read(rig); /* a reader is told the end of the lease */
    CHECK_INT(next_due(rig).job_us, row.lease_until_us + 1);
    commit(rig);

    foreign_run(foreign,
                "UPDATE workflow.workflow_run SET status = 'succeeded';"
                "UPDATE workflow.workflow_run_lease SET until = now() - interval '1 s'");
    real_begin(&later, rig->url);
    MUST(&later, later.store->ops->next_due(later.tx, &due, &later.error));
    CHECK_INT(due.job_us, 0);
    real_commit(&later);
    CHECK_INT(lease_rows(foreign), 0);
}

TEST(leases_that_others_hold_do_not_hide_those_behind_them)
{
    cleanup(rig_closep) struct rig *rig = new_rig();
    cleanup(foreign_closep) PGconn *foreign = foreign_open(rig->url);
    foreign_run(foreign, "INSERT INTO workflow.workflow_run (type, status, lease_until)"
                         " SELECT 'a', 'leased', timestamptz '2020-01-01' + i * interval '1 s'"
                         " FROM generate_series(1, 30) AS i");
    foreign_run(foreign, "BEGIN; SELECT id FROM workflow.workflow_run"
                         " ORDER BY lease_until LIMIT 20 FOR UPDATE");
    CHECK_INT(look(rig), 10);
    foreign_run(foreign, "ROLLBACK");
    CHECK_INT(look(rig), 30);
}

/* ---- plain SQL ------------------------------------------------------------------------------ */

TEST(leases_of_plain_sql_are_watched)
{
    cleanup(rig_closep) struct rig *rig = new_rig();
    cleanup(foreign_closep) PGconn *foreign = foreign_open(rig->url);
    foreign_run(foreign, "INSERT INTO workflow.workflow_run (type, status) VALUES"
                         " ('a', 'leased'), ('b', 'pending')");
    check_laws(foreign);
    foreign_run(foreign, "UPDATE workflow.workflow_run SET status = 'leased', leased_by = 'x',"
                         " lease_until = '2026-11-15 07:00 UTC' WHERE type = 'b'");
    check_laws(foreign);
    /* A heartbeat, and another worker. */
    foreign_run(foreign,
                "UPDATE workflow.workflow_run SET lease_until = '2026-11-15 08:00 UTC',"
                " leased_by = 'y' WHERE type = 'b'");
    CHECK_INT(lease_rows(foreign), 2);
    check_laws(foreign);
    /* Earlier than anybody would look. */
    foreign_run(foreign, "UPDATE workflow.workflow_run SET lease_until = '2026-11-15 06:20 UTC'"
                         " WHERE type = 'b'");
    CHECK_INT(lease_rows(foreign), 3);
    check_laws(foreign);
    CHECK_INT(look(rig), 1);
    CHECK_STR(rig->rows[0].type, "b");

    /* Given back and taken again. */
    foreign_run(foreign, "UPDATE workflow.workflow_run SET status = 'pending'");
    foreign_run(foreign, "UPDATE workflow.workflow_run SET status = 'leased'");
    check_laws(foreign);
}

TEST(a_heartbeat_of_plain_sql_does_not_end_a_lease_of_ours_early)
{
    cleanup(rig_closep) struct rig *rig = new_rig();
    cleanup(foreign_closep) PGconn *foreign = foreign_open(rig->url);
    begin_write(rig);
    add(rig, job_of(rig, "a"));
    CLAIM(rig, 1, "a");
    commit(rig);
    foreign_run(foreign,
                "UPDATE workflow.workflow_run SET lease_until = '2026-11-15 08:00 UTC'");
    CHECK_INT(lease_rows(foreign), 1);
    pass_us(rig, 5 * US_PER_MIN);
    CHECK_INT(look(rig), 0);
    check_laws(foreign);
    pass_us(rig, 2 * 60 * US_PER_MIN);
    CHECK_INT(look(rig), 1);
}

/* An engine of an earlier version sets cairn.engine and nothing else. */
TEST(what_an_earlier_engine_writes_is_watched_and_listed)
{
    cleanup(rig_closep) struct rig *rig = new_rig();
    cleanup(foreign_closep) PGconn *foreign = foreign_open(rig->url);
    foreign_run(foreign,
                "BEGIN; SELECT set_config('cairn.engine', '1', true);"
                "INSERT INTO workflow.workflow_run (type) VALUES ('a'), ('b');"
                "UPDATE workflow.workflow_run SET status = 'leased', leased_by = 'w',"
                " lease_token = 't', lease_until = '2026-11-15 06:20 UTC' WHERE type = 'a';"
                "COMMIT");
    check_laws(foreign);
    CHECK_INT(look(rig), 1);
    begin_read(rig);
    list(rig, (struct list_filter){0}, 10);
    CHECK_INT(rig->count, 2);
    CHECK_STR(rig->rows[0].type, "b");
}

TEST(the_order_of_insertion_follows_what_plain_sql_does)
{
    cleanup(rig_closep) struct rig *rig = new_rig();
    cleanup(foreign_closep) PGconn *foreign = foreign_open(rig->url);
    begin_write(rig);
    const char *first = add(rig, job_of(rig, "a"));
    commit(rig);
    foreign_run(foreign, "INSERT INTO workflow.workflow_run (type, idempotency_key)"
                         " VALUES ('b', 'k'), ('c', NULL)");
    foreign_run(foreign, "INSERT INTO workflow.workflow_run (type, idempotency_key)"
                         " VALUES ('b', 'k') ON CONFLICT (idempotency_key) DO NOTHING");
    check_laws(foreign);
    begin_write(rig);
    const char *last = add(rig, job_of(rig, "d"));
    commit(rig);
    check_laws(foreign);

    begin_read(rig);
    list(rig, (struct list_filter){0}, 10);
    CHECK_INT(rig->count, 4);
    CHECK_STR(rig->rows[0].id, last);
    CHECK_STR(rig->rows[1].type, "c");
    CHECK_STR(rig->rows[2].type, "b");
    CHECK_STR(rig->rows[3].id, first);
    list(rig, (struct list_filter){.before_seq = rig->rows[1].seq}, 1);
    CHECK_STR(rig->rows[0].type, "b");
    commit(rig);

    foreign_run(foreign, "DELETE FROM workflow.workflow_run WHERE type IN ('a', 'c')");
    check_laws(foreign);
    foreign_run(foreign, "UPDATE workflow.workflow_run SET seq = 1 WHERE type = 'd'");
    check_laws(foreign);
    foreign_run(foreign, "UPDATE workflow.workflow_run SET status = 'leased' WHERE type = 'b';"
                         "UPDATE workflow.workflow_run SET id = gen_random_uuid()");
    check_laws(foreign);
    PGresult *result =
        PQexec(foreign, "INSERT INTO workflow.workflow_run (type, seq) VALUES ('e', 1)");
    CHECK_STR(PQresultErrorField(result, PG_DIAG_SQLSTATE), "23505");
    PQclear(result);
    foreign_run(foreign, "TRUNCATE workflow.workflow_run");
    check_laws(foreign);
    CHECK_INT(lease_rows(foreign), 0);
}

TEST(a_lease_that_no_timer_knows_of_is_noticed)
{
    cleanup(rig_closep) struct rig *rig = new_rig();
    cleanup(foreign_closep) PGconn *foreign = foreign_open(rig->url);
    struct store_facts facts;
    foreign_run(foreign, "INSERT INTO workflow.workflow_run (type, status) VALUES"
                         " ('a', 'leased'), ('b', 'pending')");
    begin_read(rig);
    MUST(rig, rig->ops->inspect(rig->tx, &facts, &rig->error));
    CHECK_INT(facts.unwatched_leases, 0);
    commit(rig);
    foreign_run(foreign, "ALTER TABLE workflow.workflow_run DISABLE TRIGGER USER;"
                         "UPDATE workflow.workflow_run SET status = 'leased',"
                         " lease_until = now() WHERE type = 'b';"
                         "ALTER TABLE workflow.workflow_run ENABLE TRIGGER USER");
    begin_read(rig);
    MUST(rig, rig->ops->inspect(rig->tx, &facts, &rig->error));
    CHECK_INT(facts.unwatched_leases, 1);
    commit(rig);
    /* As doctor says. */
    foreign_run(foreign, "UPDATE workflow.workflow_run SET status = 'pending'");
    check_laws(foreign);
}

/* ---- the migration -------------------------------------------------------------------------- */

/* The tables as the migrations before this one leave them. */
static void make_old(PGconn *foreign)
{
    char sql[128];
    foreign_run(foreign, "CREATE SCHEMA workflow; CREATE TABLE workflow.cairn_schema (version"
                         " integer PRIMARY KEY, name text NOT NULL, applied_at timestamptz NOT"
                         " NULL DEFAULT now())");
    for (int i = 0; i < MIGRATIONS && migrations[i].number < 12; i++) {
        foreign_run(foreign, migrations[i].sql);
        snprintf(sql, sizeof sql, "INSERT INTO workflow.cairn_schema VALUES (%d, '%s')",
                 migrations[i].number, migrations[i].name);
        foreign_run(foreign, sql);
    }
}

TEST(jobs_of_an_earlier_version_are_listed_claimed_and_expired_as_before)
{
    const char *url = scratch_store_of("postgres");
    cleanup(foreign_closep) PGconn *foreign = foreign_open(url);
    make_old(foreign);
    foreign_run(foreign, "INSERT INTO workflow.workflow_run (type, status, run_at, lease_until,"
                         " leased_by, deleted_at) VALUES"
                         " ('pending', 'pending', '2026-01-01', NULL, NULL, NULL),"
                         " ('expired', 'leased', '2026-01-01', '2026-01-02', 'x', NULL),"
                         " ('leased', 'leased', '2026-01-01', '2036-01-01', 'x', NULL),"
                         " ('delayed', 'pending', '2036-01-01', NULL, NULL, NULL),"
                         " ('ended', 'succeeded', '2026-01-01', NULL, NULL, NULL),"
                         " ('deleted', 'pending', '2026-01-01', NULL, NULL, now())");
    foreign_run(foreign, "INSERT INTO workflow.workflow_run (type, status, lease_until)"
                         " SELECT 'many', 'leased', '2036-01-02' FROM generate_series(1, 150)");

    cleanup(rig_closep) struct rig *rig = rig_open_url(url);
    check_laws(foreign);
    begin_read(rig);
    list(rig, (struct list_filter){.before_seq = 7}, 10);
    CHECK_INT(rig->count, 5);
    static const char *const types[] = {"ended", "delayed", "leased", "expired", "pending"};
    for (size_t i = 0; i < 5; i++)
        CHECK_STR(rig->rows[i].type, types[i]);
    list(rig, (struct list_filter){.statuses = STATUS_BIT(JOB_LEASED), .before_seq = 7}, 10);
    CHECK_INT(rig->count, 2);
    struct job_counts counts;
    MUST(rig, rig->ops->count_jobs(rig->tx, &counts, &rig->error));
    CHECK_INT(counts.leased, 152);
    CHECK_INT(counts.pending, 2);
    commit(rig);

    CHECK_INT(look(rig), 1);
    CHECK_STR(rig->rows[0].type, "expired");
    begin_write(rig);
    CLAIM(rig, 10, "%");
    CHECK_INT(rig->count, 1);
    CHECK_STR(rig->rows[0].type, "pending");
    commit(rig);
    check_laws(foreign);
}
