/* tests/unit/test_job.c - the laws of a job's life.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * Each law is checked on every cell of the table, with and without a lease, with one and with
 * more attempts left, so that no status or action can be added without keeping them.
 */
#include "base/clock.h"
#include "core/backoff.h"
#include "core/existing.h"
#include "core/job.h"
#include "test.h"

#define NOW INT64_C(1700000000000000)

/* How the row and the caller stand to each other. */
enum holder {
    HELD,
    HELD_TO_THE_LAST,
    RUN_OUT,
    BY_ANOTHER,
    NOT_OURS,
    ENDED_BY_US,
    HOLDER_COUNT
};

struct cell {
    enum job_status status;
    enum job_action action;
    enum holder holder;
    int32_t attempt;
    bool is_deleted;
};

#define for_each_cell(c)                                                                    \
    for (struct cell c = {.status = JOB_NONE + 1}; c.status < JOB_STATUS_COUNT; c.status++) \
        for (c.action = 0; c.action < JOB_ACTION_COUNT; c.action++)                         \
            for (c.holder = 0; c.holder < HOLDER_COUNT; c.holder++)                         \
                for (c.attempt = 0; c.attempt < 3; c.attempt++)                             \
                    for (int deleted_ = 0; (c.is_deleted = deleted_), deleted_ < 2; deleted_++)

static bool is_report(enum job_action action)
{
    return action <= JOB_RELEASE;
}

static struct job_row row_of(struct cell c)
{
    struct job_row row = {.seq = 7,
                          .id = "id",
                          .type = "a.v1",
                          .key = "k",
                          .status = c.status,
                          .priority = 100,
                          .attempt = c.attempt,
                          .max_attempts = 3,
                          .is_ready = c.status == JOB_PENDING,
                          .run_at_us = NOW - 50,
                          .created_at_us = NOW - 100,
                          .updated_at_us = NOW - 10,
                          .deleted_at_us = c.is_deleted ? NOW - 5 : 0,
                          .last_error = "earlier"};
    if (c.holder == ENDED_BY_US) {
        row.ended_by = "w";
        row.ended_token = "t";
    }
    bool has_lease = c.status == JOB_LEASED || c.status == JOB_CANCELLED;
    if (!has_lease || (c.holder == ENDED_BY_US && c.status != JOB_LEASED))
        return row;
    row.leased_by = c.holder == BY_ANOTHER ? "other" : "w";
    row.token = c.holder == NOT_OURS ? NULL : c.holder == ENDED_BY_US ? "next" : "t";
    row.lease_until_us = c.holder == HELD_TO_THE_LAST ? NOW
                         : c.holder == RUN_OUT        ? NOW - 1
                                                      : NOW + US_PER_MIN;
    return row;
}

static bool is_holding(struct cell c)
{
    return (c.status == JOB_LEASED || c.status == JOB_CANCELLED) &&
           (c.holder == HELD || c.holder == HELD_TO_THE_LAST);
}

static struct job_input input_of(enum job_action action)
{
    return (struct job_input){.action = action,
                              .worker = "w",
                              .token = "t",
                              .output = "{\"n\":1}",
                              .error = "boom",
                              .delay_us = -1,
                              .extend_us = US_PER_MIN};
}

static struct job_verdict apply(struct job_row *row, enum job_action action)
{
    struct rng rng;
    rng_init(&rng, 42);
    struct job_input input = input_of(action);
    return job_apply(row, &input, NOW, &rng);
}

static bool is_text_same(const char *a, const char *b)
{
    return a == b || (a && b && strcmp(a, b) == 0);
}

static bool is_lease_same(const struct job_row *a, const struct job_row *b)
{
    return is_text_same(a->leased_by, b->leased_by) && is_text_same(a->token, b->token) &&
           a->lease_until_us == b->lease_until_us;
}

/* All but the lease. */
static bool is_rest_same(const struct job_row *a, const struct job_row *b)
{
    return a->seq == b->seq && a->status == b->status && a->attempt == b->attempt &&
           a->max_attempts == b->max_attempts && a->priority == b->priority &&
           a->is_ready == b->is_ready && is_text_same(a->ended_by, b->ended_by) &&
           is_text_same(a->ended_token, b->ended_token) &&
           is_text_same(a->last_error, b->last_error) && is_text_same(a->result, b->result) &&
           a->run_at_us == b->run_at_us && a->created_at_us == b->created_at_us &&
           a->updated_at_us == b->updated_at_us && a->deleted_at_us == b->deleted_at_us;
}

#define CHECK_CELL(c, claim)                                                       \
    CHECK(claim, "%s on %s, holder %d, attempt %d%s", job_action_name((c).action), \
          job_status_name((c).status), (int)(c).holder, (int)(c).attempt,          \
          (c).is_deleted ? ", deleted" : "")

TEST(only_revival_leaves_a_final_status)
{
    for_each_cell (c) {
        struct job_row row = row_of(c);
        apply(&row, c.action);
        if (job_is_final(c.status) && row.status != c.status)
            CHECK_CELL(c, c.action == JOB_REVIVE && row.status == JOB_PENDING);
    }
}

TEST(where_an_action_leads_is_what_the_table_says)
{
    for_each_cell (c) {
        struct job_row row = row_of(c);
        struct job_verdict verdict = apply(&row, c.action);
        enum job_status to = job_next(c.status, c.action);
        if (verdict.code || !verdict.is_changed) {
            CHECK_CELL(c, row.status == c.status);
            continue;
        }
        /* Where an attempt was to be spent and none was left, the end is failed instead. */
        bool is_spent = to == JOB_PENDING && c.status == JOB_LEASED &&
                        c.action != JOB_RELEASE && c.attempt + 1 >= 3;
        CHECK_CELL(c, to != JOB_NONE);
        CHECK_CELL(c, row.status == (is_spent ? JOB_FAILED : to));
    }
}

TEST(what_has_ended_can_only_be_deleted_or_revived)
{
    for_each_cell (c) {
        bool is_pending = c.status == JOB_PENDING;
        bool is_allowed = c.action == JOB_DEBOUNCE ? is_pending
                          : c.status == JOB_LEASED ? c.action != JOB_REVIVE
                          : c.action == JOB_CANCEL ? is_pending
                          : c.action == JOB_REVIVE
                              ? c.status == JOB_FAILED || c.status == JOB_CANCELLED
                              : c.action == JOB_DELETE;
        CHECK_CELL(c, (job_next(c.status, c.action) != JOB_NONE) == is_allowed);
        struct job_row row = row_of(c);
        if (!is_allowed && !is_report(c.action) && c.action != JOB_HEARTBEAT)
            CHECK_CELL(c, apply(&row, c.action).code == CAIRN_E_WRONG_STATE);
    }
}

TEST(a_debounced_job_waits_from_now_on)
{
    struct job_row row = {.status = JOB_PENDING, .is_ready = true, .run_at_us = NOW};
    struct job_input input = {.action = JOB_DEBOUNCE, .delay_us = 5};
    struct job_verdict verdict = job_apply(&row, &input, NOW, NULL);
    CHECK_INT(verdict.code, CAIRN_OK);
    CHECK_INT(verdict.event, EVENT_DEBOUNCED);
    CHECK_INT(row.run_at_us, NOW + 5);
    CHECK(!row.is_ready && row.status == JOB_PENDING, "it can be claimed");
    row.deleted_at_us = NOW;
    CHECK_INT(job_apply(&row, &input, NOW, NULL).code, CAIRN_E_WRONG_STATE);
}

/* What each word does with each holder of a key: none, a purged one, a job of each status, a deleted one. */
TEST(every_word_about_a_known_key_has_one_meaning_for_each_holder)
{
    enum { FREE = JOB_STATUS_COUNT, PURGED, DELETED, HOLDERS };
    for (enum on_existing word = EXISTING_NONE; word < ON_EXISTING_COUNT; word++)
        for (int holder = JOB_NONE + 1; holder < HOLDERS; holder++) {
            struct job_row row = {.status =
                                      holder < FREE ? (enum job_status)holder : JOB_FAILED,
                                  .deleted_at_us = holder == DELETED};
            struct key_holder seen = key_holder_of_job(&row);
            bool is_purged = holder == PURGED, is_there = holder != FREE;
            bool is_ended = is_purged || job_is_final(row.status);
            bool is_failed = row.status == JOB_FAILED && holder < FREE;
            if (is_purged || !is_there)
                seen = (struct key_holder){.is_there = is_there, .is_purged = is_purged};
            enum existing_act act = existing_decide(word, false, &seen);
            enum existing_act is =
                !is_there                                      ? EXISTING_ACT_START
                : word == EXISTING_FAIL                        ? EXISTING_ACT_REFUSE
                : word == EXISTING_RESTART_FAILED && is_failed ? EXISTING_ACT_RESTART
                : word == EXISTING_RESTART_FAILED && is_purged ? EXISTING_ACT_REPLACE
                : word == EXISTING_NEW_IF_ENDED && is_ended    ? EXISTING_ACT_REPLACE
                                                               : EXISTING_ACT_ANSWER;
            CHECK(act == is, "word %d, holder %d: %d, not %d", word, holder, act, is);
            bool is_moved = existing_decide(word, true, &seen) == EXISTING_ACT_DEBOUNCE;
            CHECK(is_moved == (holder == JOB_PENDING), "word %d, holder %d", word, holder);
        }
}

TEST(a_lease_is_held_exactly_while_leased_or_until_a_cancelled_worker_reports)
{
    for_each_cell (c) {
        struct job_row before = row_of(c), row = before;
        struct job_verdict verdict = apply(&row, c.action);
        if (verdict.code || !verdict.is_changed)
            continue;
        if (row.status == JOB_LEASED)
            CHECK_CELL(c, row.leased_by && row.lease_until_us > 0);
        else if (row.status == JOB_CANCELLED)
            CHECK_CELL(c, is_lease_same(&row, &before)); /* the heartbeat must find it */
        else
            CHECK_CELL(c, !row.leased_by && !row.token && !row.lease_until_us);
    }
}

TEST(a_report_is_taken_from_the_holder_of_a_standing_lease_only)
{
    for_each_cell (c) {
        if (!is_report(c.action))
            continue;
        struct job_row row = row_of(c);
        struct job_verdict verdict = apply(&row, c.action);
        bool is_taken = c.status == JOB_LEASED && is_holding(c);
        CHECK_CELL(c, (verdict.is_changed && !verdict.code) == is_taken);
        if (!is_taken)
            CHECK_CELL(c, verdict.code ==
                              (c.holder == ENDED_BY_US ? CAIRN_OK : CAIRN_E_LEASE_LOST));
    }
}

TEST(a_refusal_changes_nothing_but_the_lease_of_a_cancelled_job)
{
    for_each_cell (c) {
        struct job_row before = row_of(c), row = before;
        struct job_verdict verdict = apply(&row, c.action);
        if (!verdict.code)
            continue;
        CHECK_CELL(c, verdict.event == EVENT_NONE);
        CHECK_CELL(c, is_rest_same(&row, &before));
        bool may_end = is_report(c.action) && c.status == JOB_CANCELLED && is_holding(c);
        CHECK_CELL(c, verdict.is_changed == may_end);
        CHECK_CELL(c, may_end ? !row.leased_by : is_lease_same(&row, &before));
    }
}

TEST(what_is_not_to_be_written_was_not_changed)
{
    for_each_cell (c) {
        struct job_row before = row_of(c), row = before;
        struct job_verdict verdict = apply(&row, c.action);
        if (verdict.is_changed)
            continue;
        CHECK_CELL(c, is_rest_same(&row, &before) && is_lease_same(&row, &before));
        CHECK_CELL(c, verdict.event == EVENT_NONE);
    }
}

TEST(a_repeated_report_is_accepted_and_changes_nothing)
{
    for_each_cell (c) {
        struct job_row row = row_of(c);
        if (!is_report(c.action) || apply(&row, c.action).code)
            continue;
        struct job_row before = row;
        struct job_verdict verdict = apply(&row, c.action);
        CHECK_CELL(c, verdict.code == CAIRN_OK && !verdict.is_changed &&
                          verdict.event == EVENT_NONE);
        CHECK_CELL(c, is_rest_same(&row, &before) && is_lease_same(&row, &before));
    }
}

TEST(a_report_that_contradicts_the_first_is_refused_and_changes_nothing)
{
    for_each_cell (c) {
        struct job_row row = row_of(c);
        if (!is_report(c.action) || c.holder == ENDED_BY_US || apply(&row, c.action).code)
            continue;
        struct job_row before = row;
        for (enum job_action other = JOB_COMPLETE; other <= JOB_RELEASE; other++) {
            struct job_verdict verdict = apply(&row, other);
            bool is_same = other == c.action;
            CHECK_CELL(c, verdict.code == (is_same ? CAIRN_OK : CAIRN_E_LEASE_LOST));
            CHECK_CELL(c, is_same ||
                              is_text_same(verdict.ended_outcome, job_action_name(c.action)));
            CHECK_CELL(c, !verdict.is_changed && is_rest_same(&row, &before));
        }
    }
}

TEST(a_change_of_status_writes_its_event)
{
    static const enum job_event events[JOB_STATUS_COUNT] = {[JOB_PENDING] = EVENT_RETRIED,
                                                            [JOB_SUCCEEDED] = EVENT_SUCCEEDED,
                                                            [JOB_FAILED] = EVENT_FAILED,
                                                            [JOB_CANCELLED] = EVENT_CANCELLED};
    for_each_cell (c) {
        struct job_row row = row_of(c);
        struct job_verdict verdict = apply(&row, c.action);
        if (row.status != c.status)
            CHECK_CELL(c, verdict.event == events[row.status] && row.updated_at_us == NOW);
    }
}

TEST(attempts_never_pass_the_maximum_and_release_is_free)
{
    for_each_cell (c) {
        struct job_row row = row_of(c);
        struct job_verdict verdict = apply(&row, c.action);
        CHECK_CELL(c, row.attempt <= row.max_attempts);
        if (verdict.code || !verdict.is_changed)
            continue;
        bool costs = c.action == JOB_FAIL || c.action == JOB_RETRY || c.action == JOB_DEAD ||
                     c.action == JOB_EXPIRE;
        int32_t wanted = c.action == JOB_REVIVE ? 0 : c.attempt + (costs ? 1 : 0);
        CHECK_CELL(c, row.attempt == wanted);
        if (costs)
            CHECK_CELL(c, (row.status == JOB_FAILED) ==
                              (row.attempt == 3 || c.action == JOB_DEAD));
    }
}

TEST(ready_means_pending_and_due)
{
    for_each_cell (c) {
        struct job_row row = row_of(c);
        apply(&row, c.action);
        CHECK_CELL(c, row.is_ready == (row.status == JOB_PENDING && row.run_at_us <= NOW));
    }
}

TEST(a_lease_expires_only_after_its_last_microsecond)
{
    for_each_cell (c) {
        if (c.action != JOB_EXPIRE)
            continue;
        struct job_row row = row_of(c);
        struct job_verdict verdict = apply(&row, c.action);
        bool has_run_out = c.status == JOB_LEASED && c.holder == RUN_OUT;
        CHECK_CELL(c, verdict.code == (has_run_out ? CAIRN_OK : CAIRN_E_WRONG_STATE));
        if (!has_run_out)
            continue;
        CHECK_CELL(c, strcmp(row.last_error, "LEASE_EXPIRED") == 0);
        CHECK_CELL(c, !row.ended_by && !row.ended_token); /* nobody ended it: no repetition */
        if (row.status == JOB_PENDING)
            CHECK_CELL(c, row.run_at_us == NOW);
    }
}

TEST(a_heartbeat_extends_a_lease_and_tells_of_a_cancel)
{
    for_each_cell (c) {
        if (c.action != JOB_HEARTBEAT)
            continue;
        struct job_row row = row_of(c);
        struct job_verdict verdict = apply(&row, c.action);
        if (!is_holding(c)) {
            CHECK_CELL(c, verdict.code == CAIRN_E_LEASE_LOST);
        } else if (c.status == JOB_LEASED) {
            CHECK_CELL(c, verdict.is_changed && verdict.event == EVENT_HEARTBEAT);
            CHECK_CELL(c, !verdict.stop && row.lease_until_us == NOW + US_PER_MIN);
        } else {
            CHECK_CELL(c, !verdict.is_changed && verdict.stop);
            CHECK_STR(verdict.stop, "cancelled");
        }
    }
}

TEST(a_deleted_job_is_never_revived_and_a_delete_cancels_what_is_unfinished)
{
    for_each_cell (c) {
        struct job_row row = row_of(c);
        struct job_verdict verdict = apply(&row, c.action);
        if (c.action == JOB_REVIVE && c.is_deleted)
            CHECK_CELL(c, verdict.code == CAIRN_E_WRONG_STATE);
        if (c.action != JOB_DELETE)
            continue;
        CHECK_CELL(c, verdict.code == CAIRN_OK && verdict.is_changed == !c.is_deleted);
        if (!c.is_deleted)
            CHECK_CELL(c, row.deleted_at_us == NOW && job_is_final(row.status));
        enum job_event told = c.is_deleted             ? EVENT_NONE
                              : job_is_final(c.status) ? EVENT_DELETED
                                                       : EVENT_CANCELLED;
        CHECK_CELL(c, verdict.event == told);
    }
}

TEST(a_success_keeps_its_result_and_a_failure_its_error)
{
    struct cell c = {.status = JOB_LEASED, .holder = HELD};
    struct job_row row = row_of(c);
    apply(&row, JOB_COMPLETE);
    CHECK_STR(row.result, "{\"n\":1}");
    CHECK_STR(row.ended_by, "w");
    CHECK_STR(row.ended_token, "t");
    for (enum job_action action = JOB_FAIL; action <= JOB_DEAD; action++) {
        row = row_of(c);
        apply(&row, action);
        CHECK_STR(row.last_error, "boom");
        CHECK(!row.result, "a failed call left a result");
    }
}

/* The formula of the requirement: n squared minutes, and up to a tenth more. */
TEST(backoff_is_exactly_the_formula_with_the_given_chance)
{
    for (int32_t attempt = 0; attempt < 2; attempt++) {
        struct cell c = {.status = JOB_LEASED, .holder = HELD, .attempt = attempt};
        struct job_row row = row_of(c);
        struct rng rng;
        rng_init(&rng, 42);
        double chance = rng_unit(&rng);
        apply(&row, JOB_FAIL); /* seeds its own in the same way */
        int64_t base = (attempt == 0 ? 1 : 4) * US_PER_MIN;
        CHECK_INT(row.run_at_us, NOW + base + (int64_t)((double)base * 0.1 * chance));
        CHECK(row.run_at_us < NOW + base + base / 10, "more than a tenth was added");
        CHECK(!row.is_ready, "ready before its time");
    }
}

TEST(a_named_delay_is_taken_as_it_is_by_retry_and_release_only)
{
    static const int64_t delays[] = {0, 1, US_PER_MIN};
    for (enum job_action action = JOB_FAIL; action <= JOB_RELEASE; action++) {
        for (size_t i = 0; i < sizeof delays / sizeof *delays; i++) {
            struct cell c = {.status = JOB_LEASED, .holder = HELD};
            struct job_row row = row_of(c);
            struct job_input input = input_of(action);
            input.delay_us = delays[i];
            struct rng rng;
            rng_init(&rng, 42);
            job_apply(&row, &input, NOW, &rng);
            if (action == JOB_RETRY || action == JOB_RELEASE)
                CHECK_INT(row.run_at_us, NOW + delays[i]);
            else if (action == JOB_FAIL)
                CHECK(row.run_at_us >= NOW + US_PER_MIN, "a failure came back too early");
        }
    }
}

TEST(a_delay_beyond_all_time_stays_a_time)
{
    struct cell c = {.status = JOB_LEASED, .holder = HELD};
    struct job_row row = row_of(c);
    struct job_input input = input_of(JOB_RETRY);
    input.delay_us = INT64_MAX;
    struct rng rng;
    rng_init(&rng, 42);
    job_apply(&row, &input, NOW, &rng);
    CHECK_INT(row.run_at_us, INSTANT_MAX);
}

TEST(names_lead_back_to_what_they_name)
{
    for (enum job_status status = JOB_NONE + 1; status < JOB_STATUS_COUNT; status++)
        CHECK_INT(job_status_from(job_status_name(status)), status);
    CHECK_INT(job_status_from("running"), JOB_NONE);
    CHECK_INT(job_status_from(""), JOB_NONE);
    for (enum job_event event = EVENT_NONE + 1; event < JOB_EVENT_COUNT; event++)
        CHECK(job_event_name(event), "event %d has no name", event);
    for (enum job_action action = 0; action < JOB_ACTION_COUNT; action++)
        CHECK(job_action_name(action), "action %d has no name", action);
}

/* ---- calls with a limit ---------------------------------------------------------------------- */

static struct job_row limited_row(int64_t timeout_ms)
{
    struct job_row row = row_of((struct cell){.status = JOB_LEASED});
    row.timeout_ms = timeout_ms;
    job_claimed(&row, NOW);
    return row;
}

TEST(a_claim_ends_the_lease_with_the_call)
{
    struct job_row row = limited_row(0);
    CHECK_INT(row.call_until_us, 0);
    CHECK_INT(row.lease_until_us, NOW + US_PER_MIN);
    row = limited_row(10 * 1000);
    CHECK_INT(row.call_until_us, NOW + 10 * US_PER_SEC);
    CHECK_INT(row.lease_until_us, NOW + 10 * US_PER_SEC);
    row = limited_row(100 * 1000);
    CHECK_INT(row.call_until_us, NOW + 100 * US_PER_SEC);
    CHECK_INT(row.lease_until_us, NOW + US_PER_MIN);
}

TEST(no_heartbeat_reaches_past_the_end_of_the_call)
{
    struct job_row row = limited_row(100 * 1000);
    struct job_input input = input_of(JOB_HEARTBEAT);
    struct rng rng;
    rng_init(&rng, 42);
    input.extend_us = 99 * US_PER_SEC;
    CHECK_INT(job_apply(&row, &input, NOW, &rng).code, CAIRN_OK);
    CHECK_INT(row.lease_until_us, NOW + 99 * US_PER_SEC);
    input.extend_us = 1000 * US_PER_SEC;
    CHECK_INT(job_apply(&row, &input, NOW, &rng).code, CAIRN_OK);
    CHECK_INT(row.lease_until_us, NOW + 100 * US_PER_SEC);
}

/* How an expired lease ends, with a backoff of 5 s. */
static void check_expiry(struct job_row row, int64_t now_us, const char *error,
                         int64_t delay_us)
{
    struct job_input input = {.action = JOB_EXPIRE};
    struct rng rng;
    rng_init(&rng, 42);
    row.retry = "{\"backoff\":\"fixed\",\"base_ms\":5000,\"jitter\":0}";
    CHECK_INT(job_apply(&row, &input, now_us, &rng).code, CAIRN_OK);
    CHECK_STR(row.last_error, error);
    CHECK_INT(row.run_at_us, now_us + delay_us);
    CHECK_INT(row.call_until_us, 0);
    CHECK_INT(row.attempt, 1);
}

TEST(a_call_that_took_too_long_waits_for_its_backoff_and_a_lost_lease_does_not)
{
    check_expiry(limited_row(10 * 1000), NOW + 10 * US_PER_SEC + 1, "TIMEOUT", 5 * US_PER_SEC);
    check_expiry(limited_row(100 * 1000), NOW + US_PER_MIN + 1, "LEASE_EXPIRED", 0);
    check_expiry(limited_row(0), NOW + US_PER_MIN + 1, "LEASE_EXPIRED", 0);
}

TEST(a_limit_that_another_claim_left_behind_means_nothing)
{
    struct job_row row = limited_row(10 * 1000);
    row.token = NULL; /* a claim by plain SQL */
    check_expiry(row, NOW + 10 * US_PER_SEC + 1, "LEASE_EXPIRED", 0);
    row = limited_row(10 * 1000);
    row.lease_until_us = NOW + US_PER_MIN; /* a claim by an earlier version */
    check_expiry(row, NOW + US_PER_MIN + 1, "LEASE_EXPIRED", 0);
    struct job_input input = input_of(JOB_HEARTBEAT);
    struct rng rng;
    rng_init(&rng, 42);
    CHECK_INT(job_apply(&row, &input, NOW + 30 * US_PER_SEC, &rng).code, CAIRN_OK);
    CHECK_INT(row.lease_until_us, NOW + 90 * US_PER_SEC);
}

TEST(a_failed_call_is_made_again_after_the_jobs_own_backoff)
{
    for (int32_t attempt = 0; attempt < 2; attempt++) {
        struct job_row row = row_of((struct cell){.status = JOB_LEASED, .attempt = attempt});
        row.retry = "{\"backoff\":\"linear\",\"base_ms\":300,\"jitter\":0}";
        apply(&row, JOB_FAIL);
        CHECK_INT(row.run_at_us, NOW + (attempt + 1) * 300 * US_PER_MS);
    }
}
