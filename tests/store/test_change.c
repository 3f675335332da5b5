/* tests/store/test_change.c - locking, updating, timers.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "rig.h"

#include <stdlib.h>

static int compare_texts(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

TEST(locking_reads_everything_but_payload_and_result)
{
    cleanup(rig_closep) struct rig *rig = rig_open();
    struct job_row row = job_of(rig, "a");
    row.payload = "{\"n\": 1}";
    row.status = JOB_LEASED;
    row.is_ready = false;
    row.key = "k";
    row.priority = 5;
    row.attempt = 1;
    row.leased_by = "me";
    row.token = "tt";
    row.ended_by = "you";
    row.ended_token = "uu";
    row.ended_outcome = "retry";
    row.last_error = "no";
    row.lease_until_us = RIG_START_US + 7;
    begin_write(rig);
    add(rig, row);
    struct job_row seen = lock_one(rig, row.id);
    CHECK(seen.seq > 0, "seq is %lld", (long long)seen.seq);
    CHECK_STR(seen.id, row.id);
    CHECK_STR(seen.type, "a");
    CHECK_STR(seen.key, "k");
    CHECK_INT(seen.status, JOB_LEASED);
    CHECK_INT(seen.is_ready, false);
    CHECK_INT(seen.priority, 5);
    CHECK_INT(seen.attempt, 1);
    CHECK_INT(seen.max_attempts, 3);
    CHECK_STR(seen.leased_by, "me");
    CHECK_STR(seen.token, "tt");
    CHECK_STR(seen.ended_by, "you");
    CHECK_STR(seen.ended_token, "uu");
    CHECK_STR(seen.ended_outcome, "retry");
    CHECK_STR(seen.last_error, "no");
    CHECK_INT(seen.lease_until_us, RIG_START_US + 7);
    CHECK_INT(seen.run_at_us, RIG_START_US);
    CHECK_INT(seen.created_at_us, RIG_START_US);
    CHECK_INT(seen.updated_at_us, RIG_START_US);
    CHECK_INT(seen.deleted_at_us, 0);
}

TEST(each_lock_result_belongs_to_its_id)
{
    cleanup(rig_closep) struct rig *rig = rig_open();
    struct job_row absent = job_of(rig, "x");
    begin_write(rig);
    const char *ids[3] = {add(rig, job_of(rig, "a")), absent.id, add(rig, job_of(rig, "c"))};
    qsort(ids, 3, sizeof *ids, compare_texts);
    commit(rig);

    begin_write(rig);
    struct job_row rows[3];
    enum lock_result results[3];
    MUST(rig, rig->ops->lock_jobs(rig->tx, ids, 3, true, rows, results, &rig->error));
    for (int i = 0; i < 3; i++) {
        bool is_absent = strcmp(ids[i], absent.id) == 0;
        CHECK_INT(results[i], is_absent ? LOCK_ABSENT : LOCK_DONE);
        if (!is_absent)
            CHECK_STR(rows[i].id, ids[i]);
    }
    MUST(rig, rig->ops->lock_jobs(rig->tx, NULL, 0, false, NULL, NULL, &rig->error));
}

TEST(a_row_that_another_writer_holds_is_busy)
{
    cleanup(rig_closep) struct rig *rig = rig_open();
    if (rig->ops->writers == 1)
        return; /* one writer at a time: the second waits at begin */

    struct store_session *second;
    struct store_tx *tx;
    struct job_row row;
    enum lock_result result;
    begin_write(rig);
    const char *id = add(rig, job_of(rig, "a"));
    commit(rig);

    begin_write(rig);
    lock_one(rig, id);
    MUST(rig, rig->ops->session_open(rig->store, SESSION_WRITER, &second, &rig->error));
    MUST(rig, rig->ops->begin(second, &rig->arena, &tx, &rig->error));
    MUST(rig, rig->ops->lock_jobs(tx, &id, 1, false, &row, &result, &rig->error));
    CHECK_INT(result, LOCK_BUSY);
    CHECK_INT(rig->ops->lock_jobs(tx, &id, 1, true, &row, &result, &rig->error), CAIRN_E_BUSY);
    rig->ops->rollback(tx);

    /* Nor is it claimed, nor found expired. */
    MUST(rig, rig->ops->begin(second, &rig->arena, &tx, &rig->error));
    struct store_tx *first = rig->tx;
    rig->tx = tx;
    CLAIM(rig, 5, "%");
    CHECK_INT(rig->count, 0);
    rig->tx = first;
    rig->ops->rollback(tx);
    rig->ops->session_close(second);
}

TEST(an_update_writes_what_may_change_and_nothing_else)
{
    cleanup(rig_closep) struct rig *rig = rig_open();
    struct job_row row = job_of(rig, "a");
    row.payload = "[1]";
    row.key = "k";
    begin_write(rig);
    add(rig, row);
    struct job_row changed = lock_one(rig, row.id);
    int64_t seq = changed.seq;
    changed.status = JOB_FAILED;
    changed.is_ready = false;
    changed.attempt = 3;
    changed.leased_by = "me";
    changed.token = "tt";
    changed.ended_by = "you";
    changed.ended_token = "uu";
    changed.ended_outcome = "dead";
    changed.last_error = "it's \"broken\"";
    changed.result = "{\"a\": 1}";
    changed.run_at_us = RIG_START_US + 1;
    changed.lease_until_us = RIG_START_US + 2;
    changed.updated_at_us = RIG_START_US + 3;
    changed.deleted_at_us = RIG_START_US + 4;
    changed.type = "other";
    changed.payload = "[2]";
    changed.key = "other";
    changed.priority = 1;
    changed.max_attempts = 1;
    changed.created_at_us = 1;
    MUST(rig, rig->ops->update_jobs(rig->tx, &changed, 1, &rig->error));
    commit(rig);

    begin_read(rig);
    struct job_row seen = get(rig, row.id);
    CHECK_INT(seen.status, JOB_FAILED);
    CHECK_INT(seen.is_ready, false);
    CHECK_INT(seen.attempt, 3);
    CHECK_STR(seen.leased_by, "me");
    CHECK_STR(seen.token, "tt");
    CHECK_STR(seen.ended_by, "you");
    CHECK_STR(seen.ended_token, "uu");
    CHECK_STR(seen.ended_outcome, "dead");
    CHECK_STR(seen.last_error, "it's \"broken\"");
    CHECK(is_same_json(seen.result, "{\"a\":1}"), "result is %s", seen.result);
    CHECK_INT(seen.run_at_us, RIG_START_US + 1);
    CHECK_INT(seen.lease_until_us, RIG_START_US + 2);
    CHECK_INT(seen.updated_at_us, RIG_START_US + 3);
    CHECK_INT(seen.deleted_at_us, RIG_START_US + 4);
    CHECK_INT(seen.seq, seq);
    CHECK_STR(seen.type, "a");
    CHECK(is_same_json(seen.payload, "[1]"), "payload is %s", seen.payload);
    CHECK_STR(seen.key, "k");
    CHECK_INT(seen.priority, 100);
    CHECK_INT(seen.max_attempts, 3);
    CHECK_INT(seen.created_at_us, RIG_START_US);
}

TEST(an_update_clears_what_is_not_set_but_keeps_the_result)
{
    cleanup(rig_closep) struct rig *rig = rig_open();
    struct job_row row = job_of(rig, "a");
    row.status = JOB_LEASED;
    row.is_ready = false;
    row.leased_by = "me";
    row.token = "tt";
    row.ended_by = "you";
    row.ended_token = "uu";
    row.last_error = "";
    row.result = "[7]";
    row.lease_until_us = RIG_START_US + 9;
    row.deleted_at_us = RIG_START_US;
    begin_write(rig);
    add(rig, row);
    CHECK_STR(get(rig, row.id).last_error, ""); /* which is not NULL */

    struct job_row changed = lock_one(rig, row.id);
    changed.status = JOB_PENDING;
    changed.is_ready = true;
    changed.leased_by = changed.token = changed.ended_by = changed.ended_token = NULL;
    changed.last_error = NULL;
    changed.result = NULL;
    changed.lease_until_us = changed.deleted_at_us = 0;
    MUST(rig, rig->ops->update_jobs(rig->tx, &changed, 1, &rig->error));
    struct job_row seen = get(rig, row.id);
    CHECK(!seen.leased_by && !seen.token && !seen.ended_by && !seen.ended_token &&
              !seen.last_error,
          "a text is still set");
    CHECK_INT(seen.lease_until_us, 0);
    CHECK_INT(seen.deleted_at_us, 0);
    CHECK(is_same_json(seen.result, "[7]"), "result is %s", seen.result);
}

TEST(many_rows_are_updated_each_with_its_own_values)
{
    cleanup(rig_closep) struct rig *rig = rig_open();
    struct job_row rows[10];
    begin_write(rig);
    for (int i = 0; i < 10; i++)
        rows[i] = lock_one(rig, add(rig, job_of(rig, "a")));
    for (int i = 0; i < 10; i++) {
        rows[i].attempt = i;
        rows[i].last_error = i % 2 ? "odd" : NULL;
    }
    MUST(rig, rig->ops->update_jobs(rig->tx, rows, 10, &rig->error));
    MUST(rig, rig->ops->update_jobs(rig->tx, NULL, 0, &rig->error));
    for (int i = 0; i < 10; i++) {
        struct job_row seen = get(rig, rows[i].id);
        CHECK_INT(seen.attempt, i);
        CHECK(!!seen.last_error == (i % 2), "row %d has the error of another", i);
    }
}

/* A leased job whose lease runs out `us` after the start. */
static const char *add_leased(struct rig *rig, int64_t us)
{
    struct job_row row = job_of(rig, "a");
    row.status = JOB_LEASED;
    row.is_ready = false;
    row.leased_by = "me";
    row.token = "tt";
    row.lease_until_us = RIG_START_US + us;
    return add(rig, row);
}

static void lock_expired(struct rig *rig, size_t room)
{
    rig->count = SIZE_MAX;
    MUST(rig, rig->ops->lock_expired_jobs(rig->tx, rig->rows, room, &rig->count, &rig->error));
}

TEST(a_lease_has_expired_when_its_last_instant_has_passed)
{
    cleanup(rig_closep) struct rig *rig = rig_open();
    begin_write(rig);
    const char *late = add_leased(rig, 20), *soon = add_leased(rig, 10);
    commit(rig);

    pass_us(rig, 10);
    begin_write(rig);
    lock_expired(rig, 5);
    CHECK_INT(rig->count, 0);
    roll_back(rig);

    pass_us(rig, 1);
    begin_write(rig);
    lock_expired(rig, 5);
    CHECK_ROWS(rig, soon);
    CHECK_STR(rig->rows[0].token, "tt");
    roll_back(rig);

    pass_us(rig, 100);
    begin_write(rig);
    lock_expired(rig, 5);
    CHECK_ROWS(rig, soon, late); /* the earliest first */
    lock_expired(rig, 1);
    CHECK_ROWS(rig, soon);
}

TEST(an_expired_lease_is_found_on_a_deleted_job_too)
{
    cleanup(rig_closep) struct rig *rig = rig_open();
    begin_write(rig);
    const char *id = add_leased(rig, 0);
    struct job_row row = lock_one(rig, id);
    row.deleted_at_us = RIG_START_US;
    MUST(rig, rig->ops->update_jobs(rig->tx, &row, 1, &rig->error));
    commit(rig);
    pass_us(rig, 1);
    begin_write(rig);
    lock_expired(rig, 5);
    CHECK_ROWS(rig, id);
}

TEST(only_leased_jobs_expire)
{
    cleanup(rig_closep) struct rig *rig = rig_open();
    begin_write(rig);
    struct job_row row = lock_one(rig, add_leased(rig, 0));
    row.status = JOB_CANCELLED; /* keeps its lease, for the worker to be told */
    MUST(rig, rig->ops->update_jobs(rig->tx, &row, 1, &rig->error));
    commit(rig);
    pass_us(rig, US_PER_MIN);
    begin_write(rig);
    lock_expired(rig, 5);
    CHECK_INT(rig->count, 0);
}

/* A pending job that is due `us` after the start. */
static const char *add_planned(struct rig *rig, const char *type, int64_t us)
{
    struct job_row row = job_of(rig, type);
    row.is_ready = false;
    row.run_at_us = RIG_START_US + us;
    return add(rig, row);
}

static size_t promote(struct rig *rig, size_t limit)
{
    size_t count = SIZE_MAX;
    MUST(rig, rig->ops->promote_jobs(rig->tx, limit, &count, &rig->error));
    return count;
}

TEST(jobs_become_ready_when_their_time_has_come_the_earliest_first)
{
    cleanup(rig_closep) struct rig *rig = rig_open();
    begin_write(rig);
    const char *third = add_planned(rig, "a", 30), *first = add_planned(rig, "a", 10);
    const char *second = add_planned(rig, "a", 20);
    CHECK_INT(promote(rig, 10), 0);
    commit(rig);

    pass_us(rig, 20);
    begin_write(rig);
    CHECK_INT(promote(rig, 1), 1);
    CHECK_INT(get(rig, first).is_ready, true);
    CHECK_INT(get(rig, second).is_ready, false);
    CHECK_INT(promote(rig, 10), 1);
    CHECK_INT(get(rig, second).is_ready, true);
    CHECK_INT(get(rig, third).is_ready, false);
    CHECK_INT(promote(rig, 10), 0);
    CHECK_INT(get(rig, first).run_at_us, RIG_START_US + 10);
    CLAIM(rig, 5, "a");
    CHECK_ROWS(rig, first, second);
}

TEST(only_pending_jobs_become_ready)
{
    cleanup(rig_closep) struct rig *rig = rig_open();
    begin_write(rig);
    for (enum job_status status = JOB_LEASED; status < JOB_STATUS_COUNT; status++) {
        struct job_row row = job_of(rig, "a");
        row.status = status;
        row.is_ready = false;
        row.lease_until_us = status == JOB_LEASED ? RIG_START_US + 5 : 0;
        add(rig, row);
    }
    CHECK_INT(promote(rig, 10), 0);
}

TEST(the_next_timer_is_the_earliest_of_planned_jobs_and_leases)
{
    cleanup(rig_closep) struct rig *rig = rig_open();
    begin_write(rig);
    CHECK_INT(next_due(rig).job_us, 0);
    add(rig, job_of(rig, "a")); /* ready: no timer */
    CHECK_INT(next_due(rig).job_us, 0);
    add_planned(rig, "a", 50);
    CHECK_INT(next_due(rig).job_us, RIG_START_US + 50);
    add_leased(rig, 30);
    CHECK_INT(next_due(rig).job_us, RIG_START_US + 31);
    add_planned(rig, "a", 20);
    CHECK_INT(next_due(rig).job_us, RIG_START_US + 20);
    add_leased(rig, -5);
    CHECK_INT(next_due(rig).job_us, RIG_START_US - 4);
    commit(rig);
    begin_read(rig);
    CHECK_INT(next_due(rig).job_us, RIG_START_US - 4);
}

/* ---- claims that are made together --------------------------------------------------------- */

TEST(each_holder_of_a_claim_gets_a_job_of_its_own)
{
    cleanup(rig_closep) struct rig *rig = rig_open();
    static const char *all = "%";
    static const struct claim_holder holders[] = {
        {"me", "t1"}, {"me", "t1"}, {"you", "t2"}, {"he", "t3"}, {"she", "t4"}};
    begin_write(rig);
    for (int i = 0; i < 4; i++)
        add(rig, job_of(rig, "a"));
    struct job_claim claim = {.holders = holders,
                              .patterns = &all,
                              .pattern_count = 1,
                              .lease_until_us = rig->tx->now_us + US_PER_MIN};
    MUST(rig, rig->ops->claim_jobs(rig->tx, &claim, rig->rows, 5, &rig->count, &rig->error));
    CHECK_INT(rig->count, 4);
    for (size_t i = 0; i < 4; i++) {
        CHECK_STR(rig->rows[i].leased_by, holders[i].worker);
        CHECK_STR(rig->rows[i].token, holders[i].token);
    }
    commit(rig);

    begin_write(rig);
    MUST(rig, rig->ops->find_claimed(rig->tx, "me", "t1", rig->rows, ROWS_MAX, &rig->count,
                                     &rig->error));
    CHECK_INT(rig->count, 2);
    MUST(rig, rig->ops->find_claimed(rig->tx, "he", "t3", rig->rows, ROWS_MAX, &rig->count,
                                     &rig->error));
    CHECK_INT(rig->count, 1);
}
