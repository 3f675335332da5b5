/* tests/unit/test_backoff.c - how long a failed call waits.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "base/clock.h"
#include "core/backoff.h"
#include "test.h"

TEST(each_kind_follows_its_formula)
{
    static const int64_t wanted[][4] = {
        [BACKOFF_FIXED] = {10, 10, 10, 10},
        [BACKOFF_LINEAR] = {10, 20, 30, 40},
        [BACKOFF_EXPONENTIAL] = {10, 20, 40, 80},
        [BACKOFF_QUADRATIC] = {10, 40, 90, 160},
    };
    for (enum backoff_kind kind = BACKOFF_FIXED; kind <= BACKOFF_QUADRATIC; kind++)
        for (int n = 1; n <= 4; n++)
            CHECK_INT(backoff_delay_us(&(struct backoff){.kind = kind, .base_us = 10}, n, 0.5),
                      wanted[kind][n - 1]);
}

TEST(jobs_wait_n_squared_minutes_and_up_to_a_tenth_more)
{
    CHECK_INT(backoff_delay_us(&backoff_for_jobs, 1, 0), US_PER_MIN);
    CHECK_INT(backoff_delay_us(&backoff_for_jobs, 2, 0), 4 * US_PER_MIN);
    CHECK_INT(backoff_delay_us(&backoff_for_jobs, 3, 0), 9 * US_PER_MIN);
    CHECK_INT(backoff_delay_us(&backoff_for_jobs, 1, 0.5), US_PER_MIN + 3 * US_PER_SEC);
    CHECK_INT(backoff_delay_us(&backoff_for_jobs, 2, 0.25), 4 * US_PER_MIN + 6 * US_PER_SEC);
    int64_t longest = backoff_delay_us(&backoff_for_jobs, 1, 0x1.fffffffffffffp-1);
    CHECK(longest < US_PER_MIN + 6 * US_PER_SEC, "%lld", (long long)longest);
    CHECK(longest == US_PER_MIN + 5999999, "%lld", (long long)longest - US_PER_MIN);
}

TEST(steps_wait_powers_of_two_seconds_up_to_five_minutes)
{
    CHECK_INT(backoff_delay_us(&backoff_for_steps, 1, 0.9), US_PER_SEC);
    CHECK_INT(backoff_delay_us(&backoff_for_steps, 9, 0.9), 256 * US_PER_SEC);
    CHECK_INT(backoff_delay_us(&backoff_for_steps, 10, 0.9), 5 * US_PER_MIN);
    CHECK_INT(backoff_delay_us(&backoff_for_steps, INT32_MAX, 0.9), 5 * US_PER_MIN);
}

TEST(the_limit_holds_before_jitter_is_added)
{
    struct backoff backoff = {
        .kind = BACKOFF_LINEAR, .base_us = 100, .max_us = 150, .jitter = 0.5};
    CHECK_INT(backoff_delay_us(&backoff, 1, 0), 100);
    CHECK_INT(backoff_delay_us(&backoff, 2, 0), 150);
    CHECK_INT(backoff_delay_us(&backoff, 2, 0.5), 150 + 37);
}

TEST(no_delay_overflows_or_shrinks_as_calls_fail)
{
    static const int32_t counts[] = {1, 2, 3, 31, 32, 61, 62, 63, 64, 65, 1000, INT32_MAX};
    static const int64_t bases[] = {0, 1, US_PER_MIN, INSTANT_MAX, INT64_MAX};
    for (enum backoff_kind kind = BACKOFF_FIXED; kind <= BACKOFF_QUADRATIC; kind++)
        for (size_t b = 0; b < sizeof bases / sizeof *bases; b++) {
            int64_t last = 0;
            for (size_t i = 0; i < sizeof counts / sizeof *counts; i++) {
                struct backoff backoff = {.kind = kind, .base_us = bases[b], .jitter = 1};
                int64_t delay = backoff_delay_us(&backoff, counts[i], 0.75);
                CHECK(delay >= last && delay <= INSTANT_MAX, "kind %d, base %lld, %d calls",
                      kind, (long long)bases[b], (int)counts[i]);
                last = delay;
            }
        }
}

TEST(what_a_job_leaves_out_of_its_retry_is_the_default_of_jobs)
{
    struct backoff retry = retry_of_job("{\"base_ms\": 250}");
    CHECK_INT(retry.kind, BACKOFF_QUADRATIC);
    CHECK_INT(retry.base_us, 250 * US_PER_MS);
    CHECK_INT(retry.max_us, 0);
    CHECK(retry.jitter == 0.1, "%f", retry.jitter);
    retry = retry_of_job("{\"backoff\":\"fixed\",\"base_ms\":0,\"max_ms\":7,\"jitter\":0.25}");
    CHECK_INT(retry.kind, BACKOFF_FIXED);
    CHECK_INT(retry.base_us, 0);
    CHECK_INT(retry.max_us, 7 * US_PER_MS);
    CHECK(retry.jitter == 0.25, "%f", retry.jitter);
    CHECK_INT(retry_of_job(NULL).base_us, US_PER_MIN);
    CHECK_INT(retry_of_job("{\"base_ms\": 5, \"odd\": 1}").base_us, US_PER_MIN);
}

TEST(a_retry_that_means_nothing_is_refused)
{
    static const char *const good[] = {NULL, "{}", "{\"jitter\": 1}", "{\"jitter\": 0}",
                                       "{\"max_ms\": 253402300799999}"};
    static const char *const bad[] = {"[]",
                                      "1",
                                      "{\"backoff\":\"random\"}",
                                      "{\"backoff\":1}",
                                      "{\"base_ms\":-1}",
                                      "{\"base_ms\":1.5}",
                                      "{\"base_ms\":\"1\"}",
                                      "{\"base_ms\":null}",
                                      "{\"max_ms\":253402300800000}",
                                      "{\"jitter\":1.01}",
                                      "{\"jitter\":-0.1}",
                                      "{\"jitter\":true}",
                                      "{\"base\":\"1s\"}"};
    for (size_t i = 0; i < sizeof good / sizeof *good; i++)
        CHECK(retry_check(good[i], NULL) == CAIRN_OK, "%s is refused", good[i]);
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        CHECK(retry_check(bad[i], NULL) == CAIRN_E_BAD_INPUT, "%s is accepted", bad[i]);
    CHECK_INT(retry_check("{", NULL), CAIRN_E_BAD_JSON);
}
