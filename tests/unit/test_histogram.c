/* tests/unit/test_histogram.c - how long things took, counted in steps of two.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "core/histogram.h"
#include "test.h"

#include <string.h>

static struct histogram of(const char *text)
{
    struct histogram histogram;
    histogram_read(text, &histogram);
    return histogram;
}

static void check_text(const struct histogram *histogram, const char *expected)
{
    char text[HISTOGRAM_TEXT];
    histogram_write(histogram, text);
    CHECK_STR(text, expected);
}

TEST(a_time_counts_in_the_bucket_of_its_power_of_two)
{
    struct histogram histogram = {0};
    check_text(&histogram, "");
    static const int64_t times[] = {-1, 0, 1, 2, 3, 4, 1023, 1024, 2047, 2048, INT64_MAX};
    for (size_t i = 0; i < sizeof times / sizeof *times; i++)
        histogram_add(&histogram, times[i]);
    check_text(&histogram, "0:3,1:2,2:1,9:1,10:2,11:1,39:1");
}

TEST(a_histogram_is_read_as_it_was_written)
{
    struct histogram histogram = of("0:3,12:5,39:9223372036854775000");
    check_text(&histogram, "0:3,12:5,39:9223372036854775000");
    histogram = of("");
    check_text(&histogram, "");
    histogram = of(NULL);
    check_text(&histogram, "");
    histogram = of("-1:4,40:4,7:-1,8:2x,9:1");
    check_text(&histogram, "8:2");
}

TEST(histograms_are_added)
{
    struct histogram one = of("1:1,5:2"), other = of("5:3,7:1");
    histogram_merge(&one, &other);
    check_text(&one, "1:1,5:5,7:1");
}

TEST(a_share_is_found_within_its_bucket)
{
    struct histogram histogram = {0};
    CHECK_INT(histogram_quantile(&histogram, 0.5), -1);
    histogram = of("10:4");
    CHECK_INT(histogram_quantile(&histogram, 0.5), 1536);
    CHECK_INT(histogram_quantile(&histogram, 1), 2048);
    CHECK_INT(histogram_quantile(&histogram, 0), 1024);
    histogram = of("0:2");
    CHECK_INT(histogram_quantile(&histogram, 0.5), 1);
    histogram = of("4:90,10:10");
    CHECK_INT(histogram_quantile(&histogram, 0.9), 32);
    CHECK_INT(histogram_quantile(&histogram, 0.95), 1536);
}

/* Whatever the times are, the answer is at most twice the true one, and at least half of it. */
TEST(a_share_is_right_within_a_factor_of_two)
{
    for (int64_t step = 1; step < 1000000; step = step * 3 + 1) {
        struct histogram histogram = {0};
        for (int64_t i = 1; i <= 1000; i++)
            histogram_add(&histogram, i * step);
        for (int share = 1; share < 100; share++) {
            int64_t found = histogram_quantile(&histogram, share / 100.0);
            int64_t exact = share * 10 * step;
            CHECK(found <= 2 * exact + 1 && 2 * found + 1 >= exact, "%d%% of %lld: %lld", share,
                  (long long)step, (long long)found);
        }
    }
}
