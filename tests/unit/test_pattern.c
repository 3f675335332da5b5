/* tests/unit/test_pattern.c - which types a worker takes.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "core/pattern.h"
#include "test.h"

TEST(only_a_trailing_percent_sign_makes_a_prefix)
{
    CHECK(pattern_is_prefix("%"), "a lone %%");
    CHECK(pattern_is_prefix("billing.%"), "billing.%%");
    CHECK(!pattern_is_prefix(""), "nothing");
    CHECK(!pattern_is_prefix("billing"), "billing");
    CHECK(!pattern_is_prefix("%.v1"), "%%.v1");
}

TEST(a_percent_sign_stands_at_the_end_or_nowhere)
{
    static const char *const good[] = {"%", "billing.%", "billing", "a_b", "50%"};
    static const char *const bad[] = {"%.v1", "a%b", "a.%.v1", "%%", "50%%", "a%b%"};
    for (size_t i = 0; i < sizeof good / sizeof *good; i++)
        CHECK(pattern_is_valid(good[i]), "%s", good[i]);
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        CHECK(!pattern_is_valid(bad[i]), "%s", bad[i]);
}

TEST(patterns_match_what_they_say_and_nothing_else)
{
    static const struct {
        const char *pattern, *type;
        bool matches;
    } cases[] = {
        {"billing.%", "billing.invoice.v1", true},
        {"billing.%", "billing.", true},
        {"billing.%", "billing", false},
        {"billing.%", "billings.v1", false},
        {"billing.%", "abilling.v1", false},
        {"billing.%", "Billing.v1", false},
        {"%", "anything", true},
        {"billing", "billing", true},
        {"billing", "billing.v1", false},
        {"a%b", "a%b", true},
        {"a%b", "axb", false},
        {"a_c.%", "abc.v1", false}, /* unlike LIKE */
        {"50%%", "50%.v1", true},
        {"50%%", "500.v1", false},
        {"", "a", false},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        CHECK(pattern_matches(cases[i].pattern, cases[i].type) == cases[i].matches,
              "\"%s\" and \"%s\"", cases[i].pattern, cases[i].type);
}

TEST(one_of_several_patterns_is_enough)
{
    const char *patterns[] = {"a.v1", "b.%"};
    CHECK(pattern_matches_any(patterns, 2, "a.v1"), "a.v1");
    CHECK(pattern_matches_any(patterns, 2, "b.x"), "b.x");
    CHECK(!pattern_matches_any(patterns, 2, "a.v2"), "a.v2");
    CHECK(!pattern_matches_any(patterns, 0, "a.v1"), "no patterns");
}

TEST(patterns_overlap_if_a_type_could_match_both)
{
    static const struct {
        const char *a, *b;
        bool overlaps;
    } cases[] = {
        {"a.v1", "a.v1", true},  {"a.v1", "a.v2", false}, {"a.%", "a.v1", true},
        {"a.%", "b.v1", false},  {"a.%", "a.b.%", true},  {"a.b.%", "a.c.%", false},
        {"%", "anything", true}, {"%", "a.%", true},      {"a.%", "a", false},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        CHECK(pattern_overlaps(cases[i].a, cases[i].b) == cases[i].overlaps,
              "\"%s\" and \"%s\"", cases[i].a, cases[i].b);
        CHECK(pattern_overlaps(cases[i].b, cases[i].a) == cases[i].overlaps,
              "\"%s\" and \"%s\"", cases[i].b, cases[i].a);
    }
}

/* ---- versions of functions ------------------------------------------------------------------ */

/* Whether one of them has this version of "f"; how many have is added to *count. */
static bool covers(const struct function_range *ranges, size_t count, int32_t version,
                   size_t *ret_count)
{
    *ret_count = 0;
    for (size_t i = 0; i < count; i++)
        *ret_count += strcmp(ranges[i].name, "f") == 0 && ranges[i].from <= version &&
                      version <= ranges[i].to;
    return *ret_count > 0;
}

/* All pairs of ranges within 1 to 5: joined they have the same versions, each once. */
TEST(joined_ranges_have_the_same_versions_each_once)
{
    for (int32_t n = 0; n < 5 * 5 * 5 * 5; n++) {
        struct function_range given[] = {
            {"f", 1 + n % 5, 1 + n / 5 % 5}, {"g", 1, 9}, {"f", 1 + n / 25 % 5, 1 + n / 125}};
        struct function_range joined[] = {given[0], given[1], given[2]};
        if (given[0].from > given[0].to || given[2].from > given[2].to)
            continue;
        size_t count = function_ranges_join(joined, 3, NULL, 0), before, after;
        for (int32_t version = 0; version < 7; version++) {
            bool is_wanted = covers(given, 3, version, &before);
            CHECK_INT(covers(joined, count, version, &after), is_wanted);
            CHECK_INT(after, is_wanted);
        }
    }
}

TEST(a_function_that_a_pattern_matches_needs_no_range)
{
    static const char *const patterns[] = {"f", "mail.%"};
    struct function_range ranges[] = {
        {"mail.send", 1, 2}, {"g", INT32_MAX, INT32_MAX}, {"f", 1, 1}};
    CHECK_INT(function_ranges_join(ranges, 3, patterns, 2), 1);
    CHECK_STR(ranges[0].name, "g");
    CHECK_INT(function_ranges_join(ranges, 0, patterns, 2), 0);
}

TEST(a_runtime_is_a_small_letter_and_what_may_follow)
{
    static const char *const good[] = {
        "c", "go", "python3.11", "a_b-c.d",
        "a23456789_123456789.123456789-123456789_123456789_123456789_1234"};
    static const char *const bad[] = {
        "",    "Go",
        "9",   "_a",
        ".",   "-c",
        "go ", "a/b",
        "a\n", "caf\xc3\xa9",
        "*",   "a23456789_123456789.123456789-123456789_123456789_123456789_12345"};
    for (size_t i = 0; i < sizeof good / sizeof *good; i++)
        CHECK(runtime_is_valid(good[i]), "%s", good[i]);
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        CHECK(!runtime_is_valid(bad[i]), "%s", bad[i]);
}
