/* tests/unit/test_limit.c - places and tokens: laws of core/limit.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "base/clock.h"
#include "base/random.h"
#include "core/limit.h"
#include "test.h"

static const struct limit_row two_in_ten_seconds = {
    .name = "l", .types = "t.%", .rate_n = 2, .rate_per_ms = 10000};

TEST(a_full_bucket_has_all_its_tokens)
{
    CHECK_INT(bucket_tokens(&two_in_ten_seconds, 0), 2);
    CHECK_INT(bucket_wait_us(&two_in_ten_seconds, 0), 0);
}

TEST(a_bucket_is_filled_evenly)
{
    const struct limit_row *limit = &two_in_ten_seconds;
    int64_t empty = 2 * 10000 * US_PER_MS;
    CHECK_INT(bucket_tokens(limit, empty), 0);
    CHECK_INT(bucket_wait_us(limit, empty), 5000 * US_PER_MS);
    CHECK_INT(bucket_tokens(limit, bucket_level(limit, empty, 0, 5000 * US_PER_MS - 1)), 0);
    CHECK_INT(bucket_tokens(limit, bucket_level(limit, empty, 0, 5000 * US_PER_MS)), 1);
    CHECK_INT(bucket_level(limit, empty, 0, 10000 * US_PER_MS), 0);
    CHECK_INT(bucket_level(limit, empty, 100, 50), empty);
    CHECK_INT(bucket_level(limit, 1, 0, INT64_MAX), 0);
}

/* Whatever the rate: a token is there after the wait, and not a microsecond before it. */
TEST(a_wait_ends_when_there_is_a_token)
{
    struct rng rng;
    rng_init(&rng, 7);
    for (int i = 0; i < 10000; i++) {
        struct limit_row limit = {.rate_n = (int32_t)(1 + rng_next(&rng) % 1000),
                                  .rate_per_ms = (int64_t)(1 + rng_next(&rng) % 100000)};
        int64_t empty = limit.rate_n * limit.rate_per_ms * US_PER_MS;
        int64_t level = (int64_t)(rng_next(&rng) % (uint64_t)(empty + 1));
        int64_t wait_us = bucket_wait_us(&limit, level);
        CHECK(bucket_tokens(&limit, bucket_level(&limit, level, 0, wait_us)) >= 1,
              "no token after the wait");
        CHECK(wait_us == 0 ||
                  bucket_tokens(&limit, bucket_level(&limit, level, 0, wait_us - 1)) == 0,
              "a token before the end of the wait");
    }
}

TEST(the_largest_rate_fits)
{
    struct limit_row limit = {.rate_n = LIMIT_N_MAX, .rate_per_ms = LIMIT_PER_MAX_MS};
    int64_t empty = limit.rate_n * limit.rate_per_ms * US_PER_MS;
    CHECK(empty > 0 && empty < INT64_MAX / 2, "a level does not fit");
    CHECK_INT(bucket_tokens(&limit, 0), LIMIT_N_MAX);
    CHECK(bucket_wait_us(&limit, empty) > 0, "an empty bucket has a token");
}

/* Random claims and ends: no limit is ever exceeded, and what has been given back can be taken. */
TEST(limits_are_never_exceeded_and_never_leak)
{
    static const char *const types[] = {"a.x", "a.y", "b"}, *const groups[] = {"", "g", "h"};
    static const struct limit_row rows[] = {
        {.name = "1", .types = "a.%", .concurrency = 3},
        {.name = "2", .types = "%", .concurrency = 2, .is_per_group = true},
        {.name = "3", .types = "b", .concurrency = 1}};
    struct arena arena = {0};
    struct limits limits;
    struct rng rng;
    int leased[3][3] = {{0}};
    rng_init(&rng, 3);
    CHECK(limits_begin(&limits, &arena, rows, 3, 0), "memory");
    for (int i = 0; i < 20000; i++) {
        size_t t = rng_next(&rng) % 3, g = rng_next(&rng) % 3;
        int of_a = 0, of_group = 0, of_b = 0;
        for (size_t k = 0; k < 3; k++) {
            of_a += leased[0][k] + leased[1][k];
            of_b += leased[2][k];
            of_group += leased[k][g];
        }
        bool is_full = of_group >= 2 || (t < 2 ? of_a >= 3 : of_b >= 1);
        const struct limit_row *limit;
        int64_t wait_us;
        CHECK(limits_refuse(&limits, types[t], groups[g], &limit, &wait_us), "memory");
        CHECK_INT(limit != NULL, is_full);
        CHECK_INT(wait_us, 0);
        if (!limit && rng_next(&rng) % 2) {
            CHECK(limits_take(&limits, types[t], groups[g]), "memory");
            leased[t][g]++;
        } else if (leased[t][g]) {
            CHECK(limits_untake(&limits, types[t], groups[g]), "memory");
            leased[t][g]--;
        }
    }
    arena_done(&arena);
}

TEST(what_is_spent_is_written_once)
{
    struct arena arena = {0};
    struct limits limits;
    struct bucket_row row;
    size_t at = 0;
    CHECK(limits_begin(&limits, &arena, &two_in_ten_seconds, 1, 1000), "memory");
    CHECK(!limits_next_spent(&limits, &at, &row), "nothing was spent");
    CHECK(limits_take(&limits, "t.v1", "g"), "memory");
    at = 0;
    CHECK(limits_next_spent(&limits, &at, &row), "a token was spent");
    CHECK_STR(row.group, ""); /* the limit is the whole store's */
    CHECK_INT(row.level, 10000 * US_PER_MS);
    CHECK_INT(row.at_us, 1000);
    CHECK(!limits_next_spent(&limits, &at, &row), "it was told twice");
    CHECK(limits_give_token(&limits, "t.v1", "g"), "memory");
    at = 0;
    CHECK(limits_next_spent(&limits, &at, &row) && row.level == 0, "the row is to be removed");
    arena_done(&arena);
}
