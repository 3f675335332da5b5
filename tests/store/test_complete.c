/* tests/store/test_complete.c - complete_jobs(): it leaves what core leaves, in every situation, and
 * passes over what core would not complete.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "rig.h"

#include <stdlib.h>

/* How a job may be when worker "w" reports its success under token "t". */
static const struct situation {
    const char *name;
    struct job_row row; /* over a pending job */
} situations[] = {
    {"leased to it",
     {.status = JOB_LEASED,
      .leased_by = "w",
      .token = "t",
      .lease_until_us = RIG_START_US + US_PER_MIN}},
    {"leased to the last instant",
     {.status = JOB_LEASED, .leased_by = "w", .token = "t", .lease_until_us = RIG_START_US}},
    {"leased for the third time",
     {.status = JOB_LEASED,
      .leased_by = "w",
      .token = "t",
      .lease_until_us = RIG_START_US + 1,
      .attempt = 2,
      .last_error = "no",
      .ended_by = "v",
      .ended_token = "s",
      .ended_outcome = "fail",
      .result = "[1]"}},
    {"leased and deleted",
     {.status = JOB_LEASED,
      .leased_by = "w",
      .token = "t",
      .lease_until_us = RIG_START_US + 1,
      .deleted_at_us = RIG_START_US - 1}},
    {"its lease has ended",
     {.status = JOB_LEASED,
      .leased_by = "w",
      .token = "t",
      .lease_until_us = RIG_START_US - 1}},
    {"leased under another token",
     {.status = JOB_LEASED,
      .leased_by = "w",
      .token = "u",
      .lease_until_us = RIG_START_US + US_PER_MIN}},
    {"leased to another worker",
     {.status = JOB_LEASED,
      .leased_by = "v",
      .token = "t",
      .lease_until_us = RIG_START_US + US_PER_MIN}},
    {"leased without a token",
     {.status = JOB_LEASED, .leased_by = "w", .lease_until_us = RIG_START_US + US_PER_MIN}},
    {"cancelled meanwhile",
     {.status = JOB_CANCELLED,
      .leased_by = "w",
      .token = "t",
      .lease_until_us = RIG_START_US + US_PER_MIN}},
    {"reported before",
     {.status = JOB_SUCCEEDED,
      .ended_by = "w",
      .ended_token = "t",
      .ended_outcome = "complete",
      .result = "1"}},
    {"reported before, otherwise",
     {.status = JOB_PENDING,
      .is_ready = true,
      .attempt = 1,
      .ended_by = "w",
      .ended_token = "t",
      .ended_outcome = "fail"}},
    {"pending", {.status = JOB_PENDING, .is_ready = true}},
    {"failed", {.status = JOB_FAILED, .attempt = 3, .last_error = "no"}},
};
enum { SITUATIONS = sizeof situations / sizeof *situations };

static const char *add_in(struct rig *rig, const struct situation *situation)
{
    struct job_row row = job_of(rig, "a"), given = situation->row;
    given.id = row.id;
    given.type = row.type;
    given.payload = row.payload;
    given.priority = row.priority;
    given.max_attempts = row.max_attempts;
    given.run_at_us = row.run_at_us - 7;
    given.created_at_us = row.created_at_us - 8;
    given.updated_at_us = row.updated_at_us - 9;
    return add(rig, given);
}

static const struct job_input success = {
    .action = JOB_COMPLETE, .worker = "w", .token = "t", .output = "{\"done\": true}"};

/* The long way: read, decide, write.  Whether it was completed. */
static bool complete_by_core(struct rig *rig, const char *id)
{
    struct job_row row = lock_one(rig, id);
    struct job_verdict verdict = job_apply(&row, &success, rig->tx->now_us, &rig->rng);
    if (verdict.is_changed && verdict.event == EVENT_SUCCEEDED)
        MUST(rig, rig->ops->update_jobs(rig->tx, &row, 1, &rig->error));
    return verdict.event == EVENT_SUCCEEDED;
}

static struct job_row completed(struct rig *rig, const char *id)
{
    struct job_row row = {.id = id};
    job_complete(&row, &success, rig->tx->now_us);
    return row;
}

/* Every column but those that tell two jobs apart. */
static void check_alike(const struct job_row *one, const struct job_row *other,
                        const char *situation)
{
    for (size_t i = 0; i < job_row_type.count; i++) {
        const struct column *column = &job_row_type.columns[i];
        if (strcmp(column->name, "id") == 0 || strcmp(column->name, "seq") == 0)
            continue;
        if (column_is_text(column)) {
            const char *a = member_text(column, one), *b = member_text(column, other);
            CHECK((!a && !b) || (a && b && strcmp(a, b) == 0), "%s: %s is %s and %s", situation,
                  column->name, a ? a : "null", b ? b : "null");
        } else {
            CHECK(member_int(column, one) == member_int(column, other),
                  "%s: %s is %lld and %lld", situation, column->name,
                  (long long)member_int(column, one), (long long)member_int(column, other));
        }
    }
}

static int compare_rows(const void *a, const void *b)
{
    return strcmp(((const struct job_row *)a)->id, ((const struct job_row *)b)->id);
}

TEST(a_completion_leaves_what_core_leaves)
{
    cleanup(rig_closep) struct rig *rig = rig_open();
    for (size_t i = 0; i < SITUATIONS; i++) {
        bool is_done = false;
        begin_write(rig);
        const char *one = add_in(rig, &situations[i]), *other = add_in(rig, &situations[i]);
        commit(rig);
        begin_write(rig);
        struct job_row row = completed(rig, one);
        MUST(rig, rig->ops->complete_jobs(rig->tx, &row, 1, &is_done, &rig->error));
        bool is_wanted = complete_by_core(rig, other);
        CHECK(is_done == is_wanted, "%s: %d", situations[i].name, is_done);
        commit(rig);
        begin_read(rig);
        struct job_row left = get(rig, one), right = get(rig, other);
        check_alike(&left, &right, situations[i].name);
        CHECK(!is_done || row.attempt == left.attempt, "%s: the attempt is %d",
              situations[i].name, row.attempt);
        if (is_done)
            CHECK_STR(row.type, left.type);
        commit(rig);
    }
}

TEST(completions_of_one_call_are_told_apart)
{
    cleanup(rig_closep) struct rig *rig = rig_open();
    struct job_row rows[SITUATIONS + 1];
    bool is_done[SITUATIONS + 1], is_wanted[SITUATIONS + 1];
    char results[SITUATIONS + 1][32];
    begin_write(rig);
    for (size_t i = 0; i < SITUATIONS; i++)
        rows[i] = completed(rig, add_in(rig, &situations[i]));
    rows[SITUATIONS] = completed(rig, job_of(rig, "a").id); /* it does not exist */
    commit(rig);
    qsort(rows, SITUATIONS + 1, sizeof *rows, compare_rows);
    begin_write(rig);
    for (size_t i = 0; i <= SITUATIONS; i++) {
        struct job_row seen;
        snprintf(results[i], sizeof results[i], "%zu", i);
        rows[i].result = results[i];
        is_wanted[i] =
            !rig->ops->get_job(rig->tx, rows[i].id, &seen, &rig->error) &&
            job_apply(&seen, &success, rig->tx->now_us, &rig->rng).event == EVENT_SUCCEEDED;
    }
    MUST(rig, rig->ops->complete_jobs(rig->tx, rows, SITUATIONS + 1, is_done, &rig->error));
    MUST(rig, rig->ops->complete_jobs(rig->tx, NULL, 0, NULL, &rig->error));
    for (size_t i = 0; i <= SITUATIONS; i++) {
        CHECK(is_done[i] == is_wanted[i], "row %zu: %d", i, is_done[i]);
        if (is_done[i])
            CHECK_STR(get(rig, rows[i].id).result, results[i]);
    }
    /* Again: each has been done. */
    MUST(rig, rig->ops->complete_jobs(rig->tx, rows, SITUATIONS + 1, is_done, &rig->error));
    for (size_t i = 0; i <= SITUATIONS; i++)
        CHECK(!is_done[i], "row %zu was completed twice", i);
}

TEST(a_completion_undone_is_none)
{
    cleanup(rig_closep) struct rig *rig = rig_open();
    bool is_done = false;
    begin_write(rig);
    const char *id = add_in(rig, &situations[0]);
    commit(rig);
    begin_write(rig);
    struct job_row row = completed(rig, id);
    MUST(rig, rig->ops->complete_jobs(rig->tx, &row, 1, &is_done, &rig->error));
    CHECK(is_done, "it was not completed");
    roll_back(rig);
    begin_read(rig);
    CHECK_INT(get(rig, id).status, JOB_LEASED);
}

/* ---- sent ahead ------------------------------------------------------------------------------ */

static bool send(struct rig *rig, struct job_row *row)
{
    bool is_sent = false;
    if (rig->ops->send_complete_jobs)
        MUST(rig, rig->ops->send_complete_jobs(rig->tx, row, 1, &is_sent, &rig->error));
    return is_sent;
}

/* A claim, more than are sent at once, and a question in between change nothing. */
TEST(a_completion_that_was_sent_is_what_it_is_otherwise)
{
    cleanup(rig_closep) struct rig *rig = rig_open();
    bool is_done = false;
    begin_write(rig);
    const char *id = add_in(rig, &situations[0]);
    const char *next = add(rig, job_of(rig, "a"));
    commit(rig);
    begin_write(rig);
    struct job_row row = completed(rig, id), other = job_of(rig, "b");
    bool is_sent = send(rig, &row);
    if (is_sent) {
        claim(rig, 2, 1, (const char *[]){"a"});
        check_rows(rig, 1, (const char *[]){next});
    }
    for (int i = 0; is_sent && i < 100; i++)
        MUST(rig, rig->ops->update_jobs(rig->tx, &rig->rows[0], 1, &rig->error));
    add(rig, other);
    MUST(rig, rig->ops->complete_jobs(rig->tx, &row, 1, &is_done, &rig->error));
    CHECK(is_done, "it was not completed");
    commit(rig);
    begin_read(rig);
    CHECK_INT(get(rig, id).status, JOB_SUCCEEDED);
    CHECK_INT(get(rig, next).status, is_sent ? JOB_LEASED : JOB_PENDING);
}

TEST(what_was_sent_and_rolled_back_has_done_nothing)
{
    cleanup(rig_closep) struct rig *rig = rig_open();
    begin_write(rig);
    const char *id = add_in(rig, &situations[0]);
    commit(rig);
    begin_write(rig);
    struct job_row row = completed(rig, id);
    send(rig, &row);
    roll_back(rig);
    begin_write(rig);
    bool is_done = false;
    MUST(rig, rig->ops->complete_jobs(rig->tx, &row, 1, &is_done, &rig->error));
    CHECK(is_done, "it was completed before");
    commit(rig);
}

/* ---- runs: jobs that follow each other, as those of one batch often do ---------------------- */

enum { RUN = 12, ODD = 5 };

/* Leased under "t" with a chain of `events` events, or under another token. */
static struct job_row leased(struct rig *rig, int32_t events, bool is_other)
{
    struct job_row row = job_of(rig, "a");
    row.status = JOB_LEASED;
    row.is_ready = false;
    row.leased_by = "w";
    row.token = is_other ? "u" : "t";
    row.lease_until_us = rig->tx->now_us + US_PER_MIN;
    row.last_event = 100 + events;
    row.event_count = events;
    row.result = events == 9 ? "9" : NULL; /* of before */
    add(rig, row);
    return row;
}

/* One lies between the others that is not to be completed, some differ in what they have and get. */
TEST(completions_of_neighbours_keep_to_their_rows)
{
    cleanup(rig_closep) struct rig *rig = rig_open();
    static const char *const results[RUN] = {NULL, NULL, NULL, "1",  "1",  NULL,
                                             NULL, "2",  "3",  NULL, NULL, NULL};
    struct job_row before[RUN], rows[RUN];
    bool is_done[RUN];
    int64_t first;
    begin_write(rig);
    MUST(rig, rig->ops->number_events(rig->tx, &first, &rig->error));
    for (int i = 0; i < RUN; i++)
        before[i] = leased(rig, i == RUN - 2 ? 9 : 3, i == ODD);
    commit(rig);
    begin_write(rig);
    MUST(rig, rig->ops->number_events(rig->tx, &first, &rig->error));
    for (int i = 0; i < RUN; i++) {
        rows[i] = completed(rig, before[i].id);
        rows[i].result = results[i];
    }
    qsort(rows, RUN, sizeof *rows, compare_rows);
    for (int i = 0; i < RUN; i++)
        rows[i].last_event = first + i;
    MUST(rig, rig->ops->complete_jobs(rig->tx, rows, RUN, is_done, &rig->error));
    bool is_used[RUN] = {false};
    for (int i = 0; i < RUN; i++) {
        int at = 0;
        while (strcmp(before[at].id, rows[i].id) != 0)
            at++;
        struct job_row seen = get(rig, rows[i].id);
        CHECK_INT(is_done[i], at != ODD);
        CHECK_INT(seen.status, at == ODD ? JOB_LEASED : JOB_SUCCEEDED);
        const char *result = results[at] ? results[at] : before[at].result;
        CHECK_STR(seen.result ? seen.result : "-", result ? result : "-");
        CHECK_INT(seen.event_count, before[at].event_count + (at != ODD));
        if (!is_done[i])
            continue;
        CHECK_INT(rows[i].prev_event, before[at].last_event);
        CHECK_INT(rows[i].event_count, seen.event_count);
        CHECK_INT(rows[i].last_event, seen.last_event);
        int64_t slot = seen.last_event - first;
        CHECK(slot >= 0 && slot < RUN && !is_used[slot], "event %lld is not its own",
              (long long)slot);
        is_used[slot] = true;
    }
}
