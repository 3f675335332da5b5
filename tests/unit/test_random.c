/* tests/unit/test_random.c - chance, ids and tokens.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "base/random.h"
#include "test.h"

TEST(a_seed_repeats_everything)
{
    struct rng a, b, other;
    char one[ID_TEXT], two[ID_TEXT];
    rng_init(&a, 7);
    rng_init(&b, 7);
    rng_init(&other, 8);
    for (int i = 0; i < 100; i++) {
        uint64_t drawn = rng_next(&a);
        CHECK(drawn == rng_next(&b), "draw %d differs", i);
        CHECK(drawn != rng_next(&other), "draw %d is the same for another seed", i);
    }
    id_make(&a, 1234567, one);
    id_make(&b, 1234567, two);
    CHECK_STR(one, two);
    token_make(&a, one);
    token_make(&b, two);
    CHECK_STR(one, two);
}

TEST(without_a_seed_nothing_repeats)
{
    struct rng a, b;
    rng_init(&a, 0);
    rng_init(&b, 0);
    CHECK(rng_next(&a) != rng_next(&b), "two streams begin alike");
}

TEST(units_and_bounds_are_kept)
{
    struct rng rng;
    rng_init(&rng, 1);
    double sum = 0;
    for (int i = 0; i < 10000; i++) {
        double unit = rng_unit(&rng);
        CHECK(unit >= 0 && unit < 1, "%f", unit);
        sum += unit;
        CHECK(rng_below(&rng, 3) < 3, "beyond the bound");
        CHECK_INT(rng_below(&rng, 1), 0);
    }
    CHECK(sum > 4800 && sum < 5200, "the mean is %f", sum / 10000);
}

TEST(an_id_is_a_uuid_of_version_7_that_carries_its_time)
{
    struct rng rng;
    char id[ID_TEXT];
    rng_init(&rng, 1);
    id_make(&rng, INT64_C(0x0123456789AB) * 1000, id);
    CHECK(strncmp(id, "01234567-89ab-7", 15) == 0, "%s", id);
    CHECK(strchr("89ab", id[19]), "variant in %s", id);
    for (int i = 0; i < 1000; i++) {
        id_make(&rng, (int64_t)rng_below(&rng, INT64_C(253402300799999999)), id);
        CHECK(id_is_valid(id), "%s", id);
        CHECK(id[14] == '7' && strchr("89ab", id[19]), "%s", id);
    }
}

TEST(ids_made_later_sort_later)
{
    struct rng rng;
    char last[ID_TEXT] = "", id[ID_TEXT];
    rng_init(&rng, 1);
    for (int64_t us = INT64_C(1700000000000000); us < INT64_C(1700000000005000); us++) {
        id_make(&rng, us, id);
        CHECK(strcmp(last, id) < 0, "%s is not before %s", last, id);
        memcpy(last, id, sizeof last);
    }
}

TEST(ids_of_one_instant_differ)
{
    struct rng rng;
    char last[ID_TEXT] = "", id[ID_TEXT];
    rng_init(&rng, 1);
    for (int i = 0; i < 1000; i++) {
        id_make(&rng, 5, id);
        CHECK(strcmp(last, id) != 0, "%s twice", id);
        memcpy(last, id, sizeof last);
    }
}

TEST(only_lower_case_uuids_have_the_form_of_an_id)
{
    static const char *const bad[] = {
        "",
        "0",
        "01234567-89ab-7def-8123-456789abcde",
        "01234567-89ab-7def-8123-456789abcdef0",
        "01234567-89AB-7def-8123-456789abcdef",
        "01234567-89ab-7def-8123-456789abcdeg",
        "0123456789ab-7def-8123-456789abcdef-",
        "01234567x89ab-7def-8123-456789abcdef",
        "01234567-89ab-7def-8123-456789abcde'",
        "{1234567-89ab-7def-8123-456789abcde}",
    };
    CHECK(id_is_valid("01234567-89ab-7def-8123-456789abcdef"), "a good one");
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        CHECK(!id_is_valid(bad[i]), "\"%s\"", bad[i]);
}

TEST(a_token_is_sixteen_digits)
{
    struct rng rng;
    char token[TOKEN_TEXT];
    rng_init(&rng, 1);
    for (int i = 0; i < 100; i++) {
        token_make(&rng, token);
        CHECK(strlen(token) == 16 && strspn(token, "0123456789abcdef") == 16, "%s", token);
    }
}
