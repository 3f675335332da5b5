/* tests/store/test_postgres_begin.c - a transaction that begins without waiting for the database: what it knows
 * before the first answer, and after it.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "foreign.h"
#include "rig.h"
#include "store/postgres/postgres.h"

/* Begins ahead of the answer, which needs a connection that was in use a moment ago: on a slow machine
 * that takes several tries. */
static void begin_ahead(struct rig *rig)
{
    begin_write(rig);
    for (int tries = 0; rig->tx->own_event != EVENT_OPEN; tries++) {
        CHECK(tries < 100, "each begin has waited for the database");
        commit(rig);
        begin_write(rig);
    }
}

static struct rig *open_rig(void)
{
    return rig_open_url(scratch_store_of("postgres"));
}

static struct job_row open_job(struct rig *rig, const char *type, int64_t slot)
{
    struct job_row row = job_of(rig, type);
    row.last_event = EVENT_OPEN + slot;
    row.event_count = 1;
    return row;
}

TEST(the_first_transaction_of_a_connection_waits_and_the_next_one_does_not)
{
    cleanup(rig_closep) struct rig *rig = open_rig();
    begin_write(rig);
    CHECK(rig->tx->own_event && rig->tx->own_event != EVENT_OPEN, "it has not waited");
    commit(rig);
    begin_ahead(rig);
    commit(rig);
    begin_read(rig);
    CHECK_INT(rig->tx->own_event, 0); /* a reader has no number */
}

TEST(open_events_of_an_insert_are_of_the_transactions_own_row)
{
    cleanup(rig_closep) struct rig *rig = open_rig();
    begin_ahead(rig);
    const char *first = add(rig, open_job(rig, "a", 0));
    int64_t own = rig->tx->own_event;
    CHECK(own && own < EVENT_OPEN, "the answer has told the number");
    const char *other = add(rig, open_job(rig, "a", 7));
    CHECK_INT(get(rig, first).last_event, own);
    CHECK_INT(get(rig, other).last_event, own + 7);
    commit(rig);

    begin_ahead(rig);
    const char *later = add(rig, open_job(rig, "a", 0));
    CHECK(get(rig, later).last_event > own + 7, "numbers rise");
    CHECK_INT(get(rig, later).last_event, rig->tx->own_event);
}

TEST(open_events_of_claims_and_completions_are_told)
{
    cleanup(rig_closep) struct rig *rig = open_rig();
    const char *pattern = "a";
    struct job_row rows[3];
    bool is_done[3];
    size_t count;
    begin_ahead(rig);
    for (int i = 0; i < 3; i++)
        add(rig, open_job(rig, "a", i));
    commit(rig);

    begin_ahead(rig);
    struct job_claim claim = {.worker = "w",
                              .token = "t",
                              .patterns = &pattern,
                              .pattern_count = 1,
                              .lease_until_us = rig->tx->now_us + US_PER_MIN,
                              .event_id = EVENT_OPEN + 4,
                              .events_each = 2};
    MUST(rig, rig->ops->claim_jobs(rig->tx, &claim, rows, 3, &count, &rig->error));
    CHECK_INT(count, 3);
    for (int i = 0; i < 3; i++)
        CHECK_INT(rows[i].last_event, rig->tx->own_event + 5 + 2 * i);
    commit(rig);

    begin_ahead(rig);
    for (int i = 0; i < 3; i++)
        rows[i] = (struct job_row){.id = rows[i].id,
                                   .status = JOB_SUCCEEDED,
                                   .ended_by = "w",
                                   .ended_token = "t",
                                   .ended_outcome = "complete",
                                   .result = "1",
                                   .last_event = EVENT_OPEN + i};
    MUST(rig, rig->ops->complete_jobs(rig->tx, rows, 3, is_done, &rig->error));
    for (int i = 0; i < 3; i++) {
        CHECK(is_done[i], "job %d was not completed", i);
        CHECK_INT(rows[i].last_event, rig->tx->own_event + i);
    }
}

TEST(the_number_that_came_with_the_begin_is_given_once)
{
    cleanup(rig_closep) struct rig *rig = open_rig();
    int64_t first, second;
    begin_ahead(rig);
    MUST(rig, rig->ops->number_events(rig->tx, &first, &rig->error));
    CHECK_INT(first, rig->tx->own_event);
    MUST(rig, rig->ops->number_events(rig->tx, &second, &rig->error));
    CHECK(second > first && second < EVENT_OPEN, "another one, and greater");
    commit(rig);

    begin_ahead(rig);
    rig->tx->is_own_used = true;
    MUST(rig, rig->ops->number_events(rig->tx, &first, &rig->error));
    CHECK(first > rig->tx->own_event && rig->tx->own_event > second, "its own one is in use");
}

/* ---- time ---------------------------------------------------------------------------------- */

static int64_t database_us(PGconn *conn)
{
    return foreign_number(conn,
                          "SELECT (extract(epoch FROM clock_timestamp()) * 1000000)::bigint");
}

TEST(a_transaction_that_does_not_wait_guesses_the_databases_time)
{
    cleanup(rig_closep) struct rig *rig = open_rig();
    cleanup(foreign_closep) PGconn *conn = foreign_open(rig->url);
    struct job_row row;
    clock_init_real(&rig->clock);
    begin_ahead(rig);
    int64_t guess_us = rig->tx->now_us, before_us = database_us(conn);
    CHECK(guess_us <= before_us, "it is %lld us ahead", (long long)(guess_us - before_us));
    CHECK(guess_us > before_us - (60 * US_PER_MIN), "it is no time of the database's");
    rig->ops->get_job(rig->tx, "00000000-0000-7000-8000-000000000000", &row, &rig->error);
    CHECK(rig->tx->now_us >= guess_us, "time has gone back");
    CHECK(rig->tx->now_us >= before_us, "the answer has told the time");
}

TEST(a_claim_finds_what_is_later_than_the_guess)
{
    cleanup(rig_closep) struct rig *rig = open_rig();
    cleanup(foreign_closep) PGconn *conn = foreign_open(rig->url);
    clock_init_real(&rig->clock);
    foreign_run(conn, "INSERT INTO workflow.workflow_run (type) VALUES ('a')");
    begin_write(rig);
    rig->tx->now_us -= (60 * US_PER_MIN);
    CLAIM(rig, 1, "a");
    CHECK_INT(rig->count, 1);
}

static struct postgres_clock clock_at(int64_t ahead_us)
{
    struct postgres_clock clock = {.lock = PTHREAD_MUTEX_INITIALIZER};
    int64_t now_us = monotonic_us();
    postgres_clock_read(&clock, now_us, now_us + ahead_us);
    return clock;
}

TEST(a_guess_keeps_within_what_the_last_answer_allows)
{
    int64_t guess_us, asked_us = monotonic_us();
    struct postgres_clock never = {.lock = PTHREAD_MUTEX_INITIALIZER};
    CHECK(!postgres_clock_guess(&never, &guess_us), "nothing was told yet");

    /* Forward: no less than what was told is the time now. */
    struct postgres_clock clock = clock_at((1440 * US_PER_MIN));
    int64_t told_us = monotonic_us() + 2 * (1440 * US_PER_MIN);
    postgres_clock_read(&clock, asked_us, told_us);
    postgres_clock_guess(&clock, &guess_us);
    CHECK(guess_us >= told_us, "%lld us behind", (long long)(told_us - guess_us));

    /* Back: the database told it after it was asked. */
    asked_us = monotonic_us();
    told_us = asked_us + (1440 * US_PER_MIN);
    postgres_clock_read(&clock, asked_us, told_us);
    postgres_clock_guess(&clock, &guess_us);
    CHECK(guess_us <= monotonic_us() + (1440 * US_PER_MIN), "it is ahead of the database");
}

TEST(a_guess_needs_a_fresh_answer_and_clocks_that_agree)
{
    int64_t guess_us;
    struct postgres_clock clock = clock_at(0);
    clock.read_us -= 2 * US_PER_SEC;
    CHECK(!postgres_clock_guess(&clock, &guess_us), "the answer is old");
    clock = clock_at(0);
    clock.apart_us += US_PER_MIN;
    CHECK(!postgres_clock_guess(&clock, &guess_us), "the machine's clock was set");
}

/* ---- errors -------------------------------------------------------------------------------- */

TEST(an_error_behind_a_begin_that_was_not_waited_for_names_what_failed)
{
    cleanup(rig_closep) struct rig *rig = open_rig();
    cleanup(foreign_closep) PGconn *conn = foreign_open(rig->url);
    struct job_row row = job_of(rig, "a");
    enum insert_result result;
    begin_write(rig);
    commit(rig);
    foreign_run(conn, "ALTER TABLE workflow.workflow_run RENAME TO moved");
    begin_ahead(rig);
    CHECK_INT(rig->ops->insert_jobs(rig->tx, &row, 1, &result, &rig->error), CAIRN_E_STORE);
    CHECK(strstr(rig->error.message, "insert jobs"), "%s", rig->error.message);
    roll_back(rig);
    foreign_run(conn, "ALTER TABLE workflow.moved RENAME TO workflow_run");
    begin_ahead(rig);
    add(rig, row);
    commit(rig);
}
