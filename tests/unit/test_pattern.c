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
