/* tests/store/test_announce.c - new jobs and a claim that comes before their answer: rows, leases and chains are
 * those of one call after the other.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "rig.h"

enum { NEW = 3 };

static const char *const type_a[] = {"a"};

/* Inserts the rows, which are new, and claims jobs of type "a" for these holders: the rows are announced where the store
 * knows how, else inserted first. */
static void add_and_claim(struct rig *rig, struct job_row *rows, size_t count,
                          const struct claim_holder *holders, size_t room, int64_t event_id)
{
    enum insert_result results[ROWS_MAX];
    bool is_sent = false;
    struct job_claim claim = {.holders = holders,
                              .patterns = type_a,
                              .pattern_count = 1,
                              .lease_until_us = rig->tx->now_us + US_PER_MIN,
                              .event_id = event_id,
                              .events_each = event_id ? 2 : 0};
    if (rig->ops->send_insert_jobs)
        MUST(rig, rig->ops->send_insert_jobs(rig->tx, rows, count, &is_sent, &rig->error));
    if (!is_sent)
        MUST(rig, rig->ops->insert_jobs(rig->tx, rows, count, results, &rig->error));
    MUST(rig, rig->ops->claim_jobs(rig->tx, &claim, rig->rows, room, &rig->count, &rig->error));
    if (is_sent)
        MUST(rig, rig->ops->insert_jobs(rig->tx, rows, count, results, &rig->error));
    for (size_t i = 0; i < count; i++)
        CHECK_INT(results[i], INSERT_DONE);
}

static const struct claim_holder holders[] = {{"w1", "t1"}, {"w2", "t2"}, {"w3", "t3"}};

/* The other one in the same transaction. */
static void claim_rest(struct rig *rig, size_t count, const char *const *ids)
{
    claim(rig, ROWS_MAX, 1, type_a);
    check_rows(rig, count, ids);
}

/* The row that was inserted as `row`, as returned or as stored. */
static void check_leased(struct job_row seen, const struct job_row *row)
{
    CHECK_STR(seen.type, "a");
    CHECK(is_same_json(seen.payload, row->payload), "payload is %s", seen.payload);
    CHECK(is_same_json(seen.metadata, row->metadata), "metadata is %s", seen.metadata);
    CHECK_STR(seen.key, "k");
    CHECK_INT(seen.status, JOB_LEASED);
    CHECK_INT(seen.is_ready, false);
    CHECK_STR(seen.leased_by, "w1");
    CHECK_STR(seen.token, "t1");
    CHECK_INT(seen.lease_until_us, RIG_START_US + US_PER_MIN);
    CHECK_INT(seen.timeout_ms, 70);
    CHECK_INT(seen.last_event, row->last_event + 2);
    CHECK_INT(seen.event_count, 3);
    CHECK_INT(seen.seq, row->seq);
}

TEST(a_new_row_is_leased_whole_and_its_chain_goes_on)
{
    cleanup(rig_closep) struct rig *rig = rig_open();
    struct job_row row = job_of(rig, "a"), later = job_of(rig, "a"), other = job_of(rig, "b");
    int64_t first;
    later.is_ready = false;
    later.run_at_us += US_PER_MIN;
    row.payload = "{\"n\":  [1]}";
    row.metadata = "{\"m\":  1}";
    row.key = "k";
    row.timeout_ms = 70;
    row.event_count = 1;
    begin_write(rig);
    MUST(rig, rig->ops->number_events(rig->tx, &first, &rig->error));
    row.last_event = first;
    struct job_row rows[NEW] = {later, row, other};
    add_and_claim(rig, rows, NEW, holders, NEW, first + 1);
    CHECK_ROWS(rig, row.id);
    CHECK_INT(rig->rows[0].prev_event, first);
    row.seq = rows[1].seq;
    check_leased(rig->rows[0], &row);
    check_leased(get(rig, row.id), &row);
    CHECK(rows[0].seq < rows[1].seq && rows[1].seq < rows[2].seq, "they are out of order");
    CHECK_INT(get(rig, later.id).status, JOB_PENDING);
    CHECK_INT(get(rig, other.id).is_ready, true);
    commit(rig);

    pass_us(rig, US_PER_MIN + 1); /* its lease is found when it ends */
    begin_write(rig);
    MUST(rig,
         rig->ops->lock_expired_jobs(rig->tx, rig->rows, ROWS_MAX, &rig->count, &rig->error));
    CHECK_ROWS(rig, row.id);
}

TEST(an_older_job_goes_before_new_rows)
{
    cleanup(rig_closep) struct rig *rig = rig_open();
    struct job_row row = job_of(rig, "a");
    begin_write(rig);
    const char *older = add(rig, job_of(rig, "a"));
    commit(rig);
    begin_write(rig);
    add_and_claim(rig, &row, 1, holders, 1, 0);
    CHECK_ROWS(rig, older);
    CHECK_STR(rig->rows[0].token, "t1");
    claim_rest(rig, 1, &row.id);
    commit(rig);
}

TEST(of_new_rows_the_most_urgent_go_first)
{
    cleanup(rig_closep) struct rig *rig = rig_open();
    struct job_row rows[NEW];
    for (int i = 0; i < NEW; i++) {
        rows[i] = job_of(rig, "a");
        rows[i].priority = i == 1 ? -1 : 7;
    }
    begin_write(rig);
    add_and_claim(rig, rows, NEW, holders, NEW - 1, 0);
    CHECK_ROWS(rig, rows[1].id, rows[0].id);
    claim_rest(rig, 1, &rows[2].id);
    roll_back(rig);

    begin_write(rig);
    add_and_claim(rig, rows, NEW, holders, NEW, 0);
    CHECK_ROWS(rig, rows[1].id, rows[0].id, rows[2].id);
    for (int i = 0; i < NEW; i++)
        CHECK_STR(rig->rows[i].token, holders[i].token);
    commit(rig);
}

TEST(new_rows_of_a_type_that_cannot_be_claimed_wait)
{
    struct registry_row off = {.name = "a", .intent_type = "workflow", .runtime = "c"};
    struct limit_row limit = {.name = "l",
                              .types = "a%",
                              .concurrency = 1,
                              .created_at_us = RIG_START_US,
                              .updated_at_us = RIG_START_US};
    for (int way = 0; way < 3; way++) {
        cleanup(rig_closep) struct rig *rig = rig_open();
        struct job_row row = job_of(rig, "a");
        begin_write(rig);
        if (way == 0)
            MUST(rig, rig->ops->put_registry(rig->tx, &off, &rig->error));
        else if (way == 1)
            MUST(rig, rig->ops->put_limit(rig->tx, &limit, &rig->error));
        else
            MUST(rig, rig->ops->add_group_types(rig->tx, type_a, 1, &rig->error));
        add_and_claim(rig, &row, 1, holders, 1, 0);
        CHECK_INT(rig->count, 0);
        CHECK_INT(get(rig, row.id).status, JOB_PENDING);
        CHECK_INT(get(rig, row.id).is_ready, true);
    }
}
