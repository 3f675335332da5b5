/* tests/spec/test_simple_workflow_retry.c - failure and retry: section 8 of simple-workflow.md.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "world.h"

static cairn_enqueued add_with_attempts(struct world *world, int32_t max_attempts)
{
    cairn_job_spec spec = CAIRN_JOB_DEFAULTS;
    spec.type = "t";
    spec.max_attempts = max_attempts;
    return world_add_spec(world, &spec);
}

/* Moves the clock to the first whole millisecond at which the job is due. */
static void advance_to_run_at(struct world *world, const char *id)
{
    int64_t left_us = world_job(world, id)->run_at_us - world_now_us(world);
    world_advance(world, (left_us + 999) / 1000);
}

/* Fails the job until no attempt is left and notes each delay. */
static void collect_delays(uint64_t seed, int32_t calls, int64_t *ret_delays_us)
{
    struct world world;
    world_open_seeded(&world, seed);
    cairn_enqueued job = add_with_attempts(&world, calls + 1);
    for (int32_t n = 1; n <= calls; n++) {
        struct held held = world_take(&world, "w");
        CHECK_INT(held.attempt, n);
        int64_t now_us = world_now_us(&world);
        CHECK_DONE(&world, world_report(&world, &held, CAIRN_FAIL, "no luck"));
        CHECK_INT(world_job(&world, job.id)->attempt, n);
        ret_delays_us[n - 1] = world_job(&world, job.id)->run_at_us - now_us;
        advance_to_run_at(&world, job.id);
    }
    world_close(&world);
}

TEST(backoff_is_attempt_squared_minutes_and_at_most_a_tenth_more)
{
    enum { CALLS = 12 };
    int64_t delays_us[CALLS];
    collect_delays(42, CALLS, delays_us);
    for (int n = 1; n <= CALLS; n++) {
        int64_t base_us = (int64_t)n * n * MINUTE_US;
        CHECK(delays_us[n - 1] >= base_us, "after call %d: %lld us are too short", n,
              (long long)delays_us[n - 1]);
        CHECK(delays_us[n - 1] < base_us + base_us / 10, "after call %d: %lld us are too long",
              n, (long long)delays_us[n - 1]);
    }
}

TEST(backoff_repeats_with_the_same_seed)
{
    enum { CALLS = 6 };
    int64_t first[CALLS], again[CALLS], other[CALLS];
    collect_delays(7, CALLS, first);
    collect_delays(7, CALLS, again);
    collect_delays(8, CALLS, other);
    for (int i = 0; i < CALLS; i++)
        CHECK_INT(again[i], first[i]);
    CHECK(memcmp(first, other, sizeof first) != 0, "another seed has the same chances");
}

TEST(jitter_keeps_jobs_that_failed_together_from_coming_back_together)
{
    enum { COUNT = 50 };
    struct held held[COUNT];
    cairn_report reports[COUNT];
    cairn_reported reported[COUNT];
    int64_t low_us = INT64_MAX, high_us = 0;
    struct world world;
    world_open(&world);
    for (int i = 0; i < COUNT; i++)
        world_add(&world, "t");
    CHECK_INT(world_take_many(&world, "w", "t", COUNT, held), COUNT);
    for (int i = 0; i < COUNT; i++) {
        reports[i] = (cairn_report)CAIRN_REPORT_DEFAULTS;
        reports[i].task_id = held[i].id;
        reports[i].token = held[i].token;
        reports[i].outcome = CAIRN_FAIL;
        reports[i].error = "all at once";
    }
    CHECK_DONE(&world, cairn_report_many(world.engine, "w", reports, COUNT, reported, NULL,
                                         NULL, &world.error));
    for (int i = 0; i < COUNT; i++) {
        int64_t run_at_us = world_job(&world, held[i].id)->run_at_us;
        low_us = run_at_us < low_us ? run_at_us : low_us;
        high_us = run_at_us > high_us ? run_at_us : high_us;
    }
    CHECK(low_us >= START_US + MINUTE_US && high_us < START_US + MINUTE_US + 6 * SECOND_US,
          "between %lld and %lld", (long long)low_us, (long long)high_us);
    CHECK(high_us - low_us > 3 * SECOND_US, "all within %lld us",
          (long long)(high_us - low_us));
    world_close(&world);
}

TEST(a_failed_job_is_not_early_and_comes_back_when_it_is_due)
{
    struct world world;
    world_open(&world);
    cairn_enqueued job = world_add(&world, "t");
    struct held held = world_take(&world, "w");
    CHECK_DONE(&world, world_report(&world, &held, CAIRN_FAIL, "mail server says 451"));
    const cairn_job *row = world_job(&world, job.id);
    CHECK_STR(row->status, "pending");
    CHECK_STR(row->last_error, "mail server says 451");
    CHECK(!row->leased_by && !row->lease_until_us, "the lease is still there");

    int64_t left_us = row->run_at_us - START_US;
    world_check_nothing_to_take(&world);
    world_advance(&world, (left_us - 1) / 1000);
    world_check_nothing_to_take(&world);
    world_advance(&world, 1);
    CHECK_INT(world_take(&world, "w").attempt, 2);
    world_close(&world);
}

TEST(three_attempts_are_three_calls_and_a_fourth_never_comes)
{
    struct world world;
    world_open(&world);
    cairn_enqueued job = world_add(&world, "t");
    for (int call = 1; call <= 3; call++) {
        struct held held = world_take(&world, "w");
        CHECK_INT(held.attempt, call);
        CHECK_INT(held.max_attempts, 3);
        CHECK_DONE(&world, world_report(&world, &held, CAIRN_FAIL, "no"));
        if (call < 3)
            advance_to_run_at(&world, job.id);
    }
    world_check_status(&world, job.id, "failed");
    CHECK_INT(world_job(&world, job.id)->attempt, 3);
    world_advance(&world, 365 * 24 * HOUR_MS);
    world_check_nothing_to_take(&world);
    world_reopen(&world);
    world_check_nothing_to_take(&world);
    world_close(&world);
}

TEST(one_attempt_is_one_call)
{
    struct world world;
    world_open(&world);
    cairn_enqueued job = add_with_attempts(&world, 1);
    struct held held = world_take(&world, "w");
    CHECK_DONE(&world, world_report(&world, &held, CAIRN_FAIL, "no"));
    world_check_status(&world, job.id, "failed");
    CHECK_STR(world_job(&world, job.id)->last_error, "no");
    world_close(&world);
}

TEST(failures_and_lost_leases_share_one_count)
{
    struct world world;
    world_open(&world);
    cairn_enqueued job = world_add(&world, "t");
    struct held held = world_take(&world, "w");
    CHECK_DONE(&world, world_report(&world, &held, CAIRN_FAIL, "no"));
    advance_to_run_at(&world, job.id);
    CHECK_INT(world_take(&world, "crashes").attempt, 2);
    world_advance(&world, 30 * SECOND_MS + 1);
    held = world_take(&world, "w");
    CHECK_INT(held.attempt, 3);
    CHECK_DONE(&world, world_report(&world, &held, CAIRN_FAIL, "no again"));
    world_check_status(&world, job.id, "failed");
    world_close(&world);
}

TEST(a_worker_may_name_the_delay_itself)
{
    struct world world;
    world_open(&world);
    cairn_enqueued job = world_add(&world, "t");
    struct held held = world_take(&world, "w");
    CHECK_DONE(&world, world_retry(&world, &held, CAIRN_RETRY, 90 * SECOND_MS));
    const cairn_job *row = world_job(&world, job.id);
    CHECK_INT(row->run_at_us, START_US + 90 * SECOND_US);
    CHECK_INT(row->attempt, 1);
    CHECK_STR(row->last_error, "later, please");
    world_advance(&world, 90 * SECOND_MS - 1);
    world_check_nothing_to_take(&world);
    world_advance(&world, 1);
    held = world_take(&world, "w");
    CHECK_INT(held.attempt, 2);

    CHECK_DONE(&world, world_retry(&world, &held, CAIRN_RETRY, 0));
    CHECK_INT(world_take(&world, "w").attempt, 3);
    world_close(&world);
}

TEST(a_retry_without_a_delay_waits_for_the_backoff)
{
    struct world world;
    world_open(&world);
    cairn_enqueued job = world_add(&world, "t");
    struct held held = world_take(&world, "w");
    CHECK_DONE(&world, world_retry(&world, &held, CAIRN_RETRY, -1));
    int64_t delay_us = world_job(&world, job.id)->run_at_us - START_US;
    CHECK(delay_us >= MINUTE_US && delay_us < MINUTE_US + 6 * SECOND_US, "%lld us",
          (long long)delay_us);
    world_close(&world);
}

TEST(a_retry_with_no_attempt_left_is_accepted_and_ends_failed)
{
    cairn_report report = CAIRN_REPORT_DEFAULTS;
    cairn_reported reported;
    struct world world;
    world_open(&world);
    cairn_enqueued job = add_with_attempts(&world, 1);
    struct held held = world_take(&world, "w");
    report.task_id = held.id;
    report.token = held.token;
    report.outcome = CAIRN_RETRY;
    report.error = "once more, please";
    report.delay_ms = 5;
    CHECK_DONE(&world, cairn_report_many(world.engine, "w", &report, 1, &reported, NULL, NULL,
                                         &world.error));
    CHECK_INT(reported.code, CAIRN_OK);
    CHECK_STR(reported.status, "failed");
    CHECK_STR(world_job(&world, job.id)->last_error, "once more, please");
    world_advance(&world, HOUR_MS);
    world_check_nothing_to_take(&world);
    world_close(&world);
}

TEST(dead_ends_a_job_whatever_attempts_are_left)
{
    struct world world;
    world_open(&world);
    cairn_enqueued job = add_with_attempts(&world, 100);
    struct held held = world_take(&world, "w");
    CHECK_DONE(&world, world_report(&world, &held, CAIRN_DEAD, "no such customer"));
    const cairn_job *row = world_job(&world, job.id);
    CHECK_STR(row->status, "failed");
    CHECK_STR(row->last_error, "no such customer");
    CHECK_INT(row->attempt, 1);
    world_advance(&world, HOUR_MS);
    world_check_nothing_to_take(&world);
    world_close(&world);
}

TEST(a_success_after_failures_keeps_the_count_and_the_last_error)
{
    struct world world;
    world_open(&world);
    cairn_enqueued job = world_add(&world, "t");
    struct held held = world_take(&world, "w");
    CHECK_DONE(&world, world_report(&world, &held, CAIRN_FAIL, "at first"));
    advance_to_run_at(&world, job.id);
    held = world_take(&world, "w");
    CHECK_DONE(&world, world_report(&world, &held, CAIRN_COMPLETE, "1"));
    const cairn_job *row = world_job(&world, job.id);
    CHECK_STR(row->status, "succeeded");
    CHECK_INT(row->attempt, 1);
    CHECK_STR(row->last_error, "at first");
    world_close(&world);
}

TEST(a_failed_job_is_revived_with_fresh_attempts)
{
    struct world world;
    world_open(&world);
    cairn_enqueued job = world_add(&world, "t");
    struct held held = world_take(&world, "w");
    CHECK_DONE(&world, world_report(&world, &held, CAIRN_DEAD, "no"));
    world_advance(&world, 1000);
    CHECK_DONE(&world, cairn_job_retry(world.engine, job.id, &world.error));
    const cairn_job *row = world_job(&world, job.id);
    CHECK_STR(row->status, "pending");
    CHECK_INT(row->attempt, 0);
    CHECK_INT(row->run_at_us, START_US + SECOND_US);
    CHECK_INT(world_take(&world, "w").attempt, 1);
    world_close(&world);
}

TEST(only_failed_and_cancelled_jobs_are_revived)
{
    struct world world;
    world_open(&world);
    cairn_enqueued job = world_add(&world, "t");
    CHECK_REFUSED(&world, cairn_job_retry(world.engine, job.id, &world.error),
                  CAIRN_E_WRONG_STATE);
    struct held held = world_take(&world, "w");
    CHECK_REFUSED(&world, cairn_job_retry(world.engine, job.id, &world.error),
                  CAIRN_E_WRONG_STATE);
    CHECK_DONE(&world, world_report(&world, &held, CAIRN_COMPLETE, NULL));
    CHECK_REFUSED(&world, cairn_job_retry(world.engine, job.id, &world.error),
                  CAIRN_E_WRONG_STATE);
    world_check_events(&world, job.id, "created leased started succeeded");

    job = world_add(&world, "t");
    CHECK_DONE(&world, cairn_job_cancel(world.engine, job.id, &world.error));
    CHECK_DONE(&world, cairn_job_retry(world.engine, job.id, &world.error));
    CHECK_STR(world_take(&world, "w").id, job.id);
    CHECK_REFUSED(
        &world,
        cairn_job_retry(world.engine, "00000000-0000-7000-8000-000000000000", &world.error),
        CAIRN_E_NOT_FOUND);
    world_close(&world);
}
