/* tests/store/test_claim.c - who gets which jobs, in which order.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "rig.h"

/* A job that is due, of this type and priority. */
static const char *add_job(struct rig *rig, const char *type, int32_t priority)
{
    struct job_row row = job_of(rig, type);
    row.priority = priority;
    return add(rig, row);
}

TEST(a_claimed_job_comes_back_whole_and_leased)
{
    cleanup(rig_closep) struct rig *rig = rig_open();
    struct job_row row = job_of(rig, "a");
    row.payload = "{\"n\": [1]}";
    row.key = "k";
    row.attempt = 1;
    row.last_error = "before";
    row.ended_by = "old";
    row.ended_token = "oo";
    row.ended_outcome = "fail";
    begin_write(rig);
    add(rig, row);
    commit(rig);

    pass_us(rig, 5);
    begin_write(rig);
    CLAIM(rig, 4, "a");
    CHECK_ROWS(rig, row.id);
    for (int round = 0; round < 2; round++) { /* as returned, then as stored */
        struct job_row seen = round ? get(rig, row.id) : rig->rows[0];
        CHECK_STR(seen.type, "a");
        CHECK(is_same_json(seen.payload, "{\"n\":[1]}"), "payload is %s", seen.payload);
        CHECK_STR(seen.key, "k");
        CHECK_INT(seen.status, JOB_LEASED);
        CHECK_INT(seen.is_ready, false);
        CHECK_STR(seen.leased_by, "w");
        CHECK_STR(seen.token, "t");
        CHECK_INT(seen.lease_until_us, RIG_START_US + 5 + US_PER_MIN);
        CHECK_INT(seen.updated_at_us, RIG_START_US + 5);
        CHECK_INT(seen.created_at_us, RIG_START_US);
        CHECK_INT(seen.run_at_us, RIG_START_US);
        CHECK_INT(seen.attempt, 1);
        CHECK_INT(seen.max_attempts, 3);
        CHECK_STR(seen.last_error, "before");
        CHECK_STR(seen.ended_by, "old");
        CHECK_STR(seen.ended_token, "oo");
        CHECK_STR(seen.ended_outcome, "fail");
        CHECK(seen.seq > 0, "seq is %lld", (long long)seen.seq);
        CHECK(!seen.result, "result is %s", seen.result);
    }
    commit(rig);

    begin_write(rig);
    CLAIM(rig, 4, "a");
    CHECK_INT(rig->count, 0); /* it is taken */
}

TEST(the_lowest_priority_goes_first_and_among_equals_the_oldest)
{
    cleanup(rig_closep) struct rig *rig = rig_open();
    begin_write(rig);
    const char *d = add_job(rig, "b", 100), *e = add_job(rig, "a", 100);
    const char *b = add_job(rig, "a", 5), *c = add_job(rig, "b", 5);
    const char *a = add_job(rig, "c", -1), *f = add_job(rig, "a", 100);
    commit(rig);
    begin_write(rig);
    CLAIM(rig, ROWS_MAX, "a", "b", "c");
    CHECK_ROWS(rig, a, b, c, d, e, f);
    roll_back(rig);

    begin_write(rig);
    CLAIM(rig, ROWS_MAX, "%");
    CHECK_ROWS(rig, a, b, c, d, e, f);
}

TEST(room_takes_the_best_and_leaves_the_rest)
{
    cleanup(rig_closep) struct rig *rig = rig_open();
    begin_write(rig);
    const char *ids[12];
    for (int i = 0; i < 12; i++) /* types in turns, so that every room cuts across them */
        ids[i] = add_job(rig, (const char *[]){"x", "m", "a"}[i % 3], 10);
    const char *first = add_job(rig, "m", 1);
    commit(rig);

    begin_write(rig);
    CLAIM(rig, 4, "%");
    CHECK_ROWS(rig, first, ids[0], ids[1], ids[2]);
    CLAIM(rig, 1, "%");
    CHECK_ROWS(rig, ids[3]);
    CLAIM(rig, ROWS_MAX, "%");
    check_rows(rig, 8, ids + 4);
}

TEST(no_room_takes_nothing)
{
    cleanup(rig_closep) struct rig *rig = rig_open();
    begin_write(rig);
    const char *id = add_job(rig, "a", 1);
    CLAIM(rig, 0, "a");
    CHECK_INT(rig->count, 0);
    CHECK_INT(get(rig, id).status, JOB_PENDING);
}

TEST(an_exact_name_takes_only_itself)
{
    cleanup(rig_closep) struct rig *rig = rig_open();
    begin_write(rig);
    add_job(rig, "a.bb", 1);
    add_job(rig, "a", 1);
    add_job(rig, "A.B", 1);
    const char *id = add_job(rig, "a.b", 1);
    CLAIM(rig, 9, "a.b");
    CHECK_ROWS(rig, id);
    CLAIM(rig, 9, "nothing", "a.");
    CHECK_INT(rig->count, 0);
}

TEST(a_prefix_takes_what_begins_with_it)
{
    cleanup(rig_closep) struct rig *rig = rig_open();
    begin_write(rig);
    add_job(rig, "billing", 1);
    const char *bare = add_job(rig, "billing.", 1);
    const char *a = add_job(rig, "billing.invoice", 1), *b = add_job(rig, "billing.z", 1);
    const char *c = add_job(rig, "billing.invoice", 1);
    const char *d = add_job(rig, "billing.\xF4\x8F\xBF\xBF", 1); /* the last character */
    add_job(rig, "billing/", 1);
    add_job(rig, "billinG.x", 1);
    add_job(rig, "bill", 1);
    CLAIM(rig, 9, "billing.%");
    CHECK_ROWS(rig, bare, a, b, c, d);
}

TEST(only_a_trailing_percent_sign_is_a_pattern)
{
    cleanup(rig_closep) struct rig *rig = rig_open();
    begin_write(rig);
    const char *odd = add_job(rig, "a%b.c", 1), *under = add_job(rig, "a_b", 1);
    add_job(rig, "axb.c", 1);
    add_job(rig, "axb", 1);
    CLAIM(rig, 9, "a%b.%");
    CHECK_ROWS(rig, odd);
    CLAIM(rig, 9, "a_%");
    CHECK_ROWS(rig, under);
}

TEST(a_type_that_ends_in_a_percent_sign_is_reached_by_its_prefix)
{
    cleanup(rig_closep) struct rig *rig = rig_open();
    begin_write(rig);
    const char *id = add_job(rig, "50%", 1);
    CLAIM(rig, 9, "50%");
    CHECK_ROWS(rig, id);
}

TEST(a_percent_sign_alone_takes_everything)
{
    cleanup(rig_closep) struct rig *rig = rig_open();
    begin_write(rig);
    const char *ids[] = {add_job(rig, "%", 1),    add_job(rig, "a", 1),
                         add_job(rig, "it's", 1), add_job(rig, "\xF0\x9F\x98\x80", 1),
                         add_job(rig, "\x01", 1), add_job(rig, "\xF4\x8F\xBF\xBF", 1)};
    CLAIM(rig, 9, "%");
    check_rows(rig, 6, ids);
}

TEST(overlapping_patterns_take_a_job_once)
{
    static const char *const orders[][3] = {
        {"a.b", "a.%", "%"}, {"%", "a.%", "a.b"}, {"a.%", "a.b", "a.%"}, {"a.b", "%", "a.b"}};
    cleanup(rig_closep) struct rig *rig = rig_open();
    begin_write(rig);
    const char *first = add_job(rig, "a.b", 1), *second = add_job(rig, "a.c", 1);
    const char *third = add_job(rig, "a.b", 2);
    commit(rig);
    for (size_t i = 0; i < sizeof orders / sizeof *orders; i++) {
        begin_write(rig);
        claim(rig, 9, 3, orders[i]);
        CHECK_ROWS(rig, first, second, third);
        roll_back(rig);
    }
}

TEST(strange_names_are_claimed_by_name)
{
    static const char *const names[] = {"_",
                                        "a%b",
                                        "it's",
                                        "\"q\"",
                                        "x'; DELETE FROM t; --",
                                        "\xC3\xA9t\xC3\xA9",
                                        "\xF0\x9F\x98\x80",
                                        "a\\b",
                                        "{a,b}",
                                        "NULL",
                                        " "};
    cleanup(rig_closep) struct rig *rig = rig_open();
    char longest[257];
    memset(longest, 'x', 256);
    longest[256] = '\0';
    size_t count = sizeof names / sizeof *names;
    const char *ids[sizeof names / sizeof *names + 1];
    begin_write(rig);
    for (size_t i = 0; i <= count; i++)
        ids[i] = add_job(rig, i < count ? names[i] : longest, 1);
    for (size_t i = 0; i <= count; i++) {
        CLAIM(rig, 9, i < count ? names[i] : longest);
        CHECK_ROWS(rig, ids[i]);
    }
}

TEST(jobs_of_later_are_not_claimed_before_their_time)
{
    cleanup(rig_closep) struct rig *rig = rig_open();
    struct job_row row = job_of(rig, "a");
    row.is_ready = false;
    row.run_at_us = RIG_START_US + 1;
    begin_write(rig);
    add(rig, row);
    const char *due = add_job(rig, "a", 100);
    CLAIM(rig, 9, "%");
    CHECK_ROWS(rig, due);
    CHECK_INT(get(rig, row.id).status, JOB_PENDING);
}

TEST(only_pending_and_undeleted_jobs_are_claimed)
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
    struct job_row deleted = job_of(rig, "a");
    deleted.deleted_at_us = RIG_START_US;
    add(rig, deleted);
    CLAIM(rig, 9, "a", "%");
    CHECK_INT(rig->count, 0);
}

static void register_type(struct rig *rig, const char *name, const char *runtime, bool enabled)
{
    struct registry_row row = {
        .name = name, .intent_type = "workflow", .runtime = runtime, .is_enabled = enabled};
    MUST(rig, rig->ops->put_registry(rig->tx, &row, &rig->error));
}

TEST(a_disabled_type_is_not_claimed_until_it_is_enabled)
{
    cleanup(rig_closep) struct rig *rig = rig_open();
    begin_write(rig);
    const char *off = add_job(rig, "off", 1), *on = add_job(rig, "on", 1);
    register_type(rig, "off", "go", false);
    CLAIM(rig, 9, "off", "%");
    CHECK_ROWS(rig, on);
    CHECK_INT(get(rig, off).status, JOB_PENDING);
    register_type(rig, "off", "go", true);
    CLAIM(rig, 9, "%");
    CHECK_ROWS(rig, off);
}

TEST(a_runtime_gets_its_own_types_and_those_of_nobody)
{
    cleanup(rig_closep) struct rig *rig = rig_open();
    begin_write(rig);
    register_type(rig, "g", "go", true);
    register_type(rig, "p", "python", true);
    const char *go = add_job(rig, "g", 1), *python = add_job(rig, "p", 1);
    const char *free_one = add_job(rig, "x", 1);
    commit(rig);

    begin_write(rig);
    claim_as(rig, 9, "%", "go");
    CHECK_ROWS(rig, go, free_one);
    roll_back(rig);
    begin_write(rig);
    claim_as(rig, 9, "%", "python");
    CHECK_ROWS(rig, python, free_one);
    roll_back(rig);
    begin_write(rig);
    claim_as(rig, 9, "p", "go");
    CHECK_INT(rig->count, 0);
    claim_as(rig, 9, "%", NULL);
    CHECK_ROWS(rig, go, python, free_one);
}

TEST(the_registry_knows_names_not_patterns)
{
    cleanup(rig_closep) struct rig *rig = rig_open();
    begin_write(rig);
    register_type(rig, "a.%", "go", false);
    const char *id = add_job(rig, "a.b", 1);
    CLAIM(rig, 9, "a.%");
    CHECK_ROWS(rig, id);
}

TEST(a_claim_of_many_keeps_its_order)
{
    cleanup(rig_closep) struct rig *rig = rig_open();
    static const char *const types[] = {"q", "a", "z", "k", "b"};
    begin_write(rig);
    for (int i = 0; i < 60; i++)
        add_job(rig, types[i % 5], (i * 37) % 11);
    CLAIM(rig, 40, "%");
    CHECK_INT(rig->count, 40);
    for (size_t i = 1; i < rig->count; i++) {
        const struct job_row *a = &rig->rows[i - 1], *b = &rig->rows[i];
        CHECK(a->priority < b->priority || (a->priority == b->priority && a->seq < b->seq),
              "row %zu comes after one that should follow it", i);
    }
    int32_t worst = rig->rows[39].priority;
    CLAIM(rig, ROWS_MAX, "%");
    CHECK_INT(rig->count, 20);
    CHECK(rig->rows[0].priority >= worst, "a better job was left");
}

TEST(what_a_claim_took_can_be_found_again)
{
    cleanup(rig_closep) struct rig *rig = rig_open();
    begin_write(rig);
    const char *c = add_job(rig, "b", 9), *a = add_job(rig, "a", 1), *b = add_job(rig, "b", 5);
    CLAIM(rig, 9, "%");
    CHECK_INT(rig->count, 3);
    commit(rig);

    begin_write(rig);
    MUST(rig,
         rig->ops->find_claimed(rig->tx, "w", "t", rig->rows, 9, &rig->count, &rig->error));
    CHECK_ROWS(rig, a, b, c);
    CHECK(is_same_json(rig->rows[0].payload, "{}"), "it is not whole");
    MUST(rig,
         rig->ops->find_claimed(rig->tx, "w", "t", rig->rows, 2, &rig->count, &rig->error));
    CHECK_ROWS(rig, a, b);
    MUST(rig,
         rig->ops->find_claimed(rig->tx, "w", "u", rig->rows, 9, &rig->count, &rig->error));
    CHECK_INT(rig->count, 0);
    MUST(rig,
         rig->ops->find_claimed(rig->tx, "v", "t", rig->rows, 9, &rig->count, &rig->error));
    CHECK_INT(rig->count, 0);

    struct job_row row = lock_one(rig, b);
    row.status = JOB_CANCELLED;
    MUST(rig, rig->ops->update_jobs(rig->tx, &row, 1, &rig->error));
    MUST(rig,
         rig->ops->find_claimed(rig->tx, "w", "t", rig->rows, 9, &rig->count, &rig->error));
    CHECK_ROWS(rig, a, c); /* leased, not stopped */
}

TEST(a_released_job_can_be_claimed_again)
{
    cleanup(rig_closep) struct rig *rig = rig_open();
    begin_write(rig);
    const char *id = add_job(rig, "a", 1);
    CLAIM(rig, 9, "a");
    struct job_row row = lock_one(rig, id);
    row.status = JOB_PENDING;
    row.is_ready = true;
    row.leased_by = row.token = NULL;
    row.lease_until_us = 0;
    MUST(rig, rig->ops->update_jobs(rig->tx, &row, 1, &rig->error));
    CLAIM(rig, 9, "a");
    CHECK_ROWS(rig, id);
}

/* ---- runs: jobs that follow each other ------------------------------------------------------ */

/* Two holders, in the middle of what the first one gets a job that is not due, and one of another type. */
TEST(a_claim_of_neighbours_keeps_to_its_rows)
{
    cleanup(rig_closep) struct rig *rig = rig_open();
    enum { JOBS = 9, EARLY = 2, OTHER = 4, TAKEN = JOBS - 2 };
    static const char *const types[] = {"a"};
    static const struct claim_holder holders[] = {{"me", "1"},  {"me", "1"},  {"me", "1"},
                                                  {"me", "1"},  {"you", "2"}, {"you", "2"},
                                                  {"you", "2"}, {"you", "2"}};
    const char *ids[JOBS], *wanted[TAKEN];
    size_t count = 0;
    int64_t first;
    begin_write(rig);
    for (int i = 0; i < JOBS; i++) {
        struct job_row row = job_of(rig, i == OTHER ? "b" : "a");
        row.run_at_us += i == EARLY ? US_PER_MIN : 0;
        row.event_count = i;
        ids[i] = add(rig, row);
        if (i != EARLY && i != OTHER)
            wanted[count++] = ids[i];
    }
    MUST(rig, rig->ops->number_events(rig->tx, &first, &rig->error));
    struct job_claim claim = {.holders = holders,
                              .patterns = types,
                              .pattern_count = 1,
                              .lease_until_us = rig->tx->now_us + US_PER_MIN,
                              .event_id = first,
                              .events_each = 2};
    MUST(rig, rig->ops->claim_jobs(rig->tx, &claim, rig->rows, sizeof holders / sizeof *holders,
                                   &rig->count, &rig->error));
    check_rows(rig, TAKEN, wanted);
    for (size_t i = 0; i < TAKEN; i++) {
        struct job_row seen = get(rig, rig->rows[i].id);
        CHECK_INT(seen.status, JOB_LEASED);
        CHECK_STR(seen.leased_by, rig->rows[i].leased_by);
        CHECK_STR(seen.token, rig->rows[i].token);
        CHECK_STR(seen.token, holders[i].token);
        CHECK_INT(seen.last_event, first + 2 * (int64_t)i + 1);
        CHECK_INT(rig->rows[i].last_event, seen.last_event);
        CHECK_INT(rig->rows[i].event_count, seen.event_count);
    }
    CHECK_INT(get(rig, ids[EARLY]).status, JOB_PENDING);
    CHECK_INT(get(rig, ids[OTHER]).status, JOB_PENDING);
    CHECK_INT(get(rig, ids[OTHER]).is_ready, true);
    CHECK_INT(get(rig, ids[JOBS - 1]).event_count, JOBS - 1 + 2);
}
