/* tests/unit/test_number.c - the laws of numbers as decimals.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * A number is drawn as its digits and the place of its point, written in a way that is drawn as well, and
 * held against what the digits say.
 */
#include "base/json.h"
#include "base/number.h"
#include "base/random.h"
#include "test.h"

#include <math.h>
#include <stdlib.h>

enum { ROOM = 40000, ROUNDS = 20000 };

static struct number number_of(const char *text)
{
    struct number number;
    CHECK(number_read(text, strlen(text), &number), "%s is no number", text);
    return number;
}

/* ---- the syntax ----------------------------------------------------------------------------- */

TEST(what_is_a_number_is_what_jansson_takes_for_one)
{
    static const char letters[] = "0011259--.+eE ";
    struct rng rng;
    size_t taken = 0;
    rng_init(&rng, 20261118);
    for (int round = 0; round < 300000; round++) {
        char text[16] = "";
        size_t len = 1 + rng_below(&rng, 9);
        for (size_t i = 0; i < len; i++)
            text[i] = letters[rng_below(&rng, sizeof letters - 1)];
        struct number number;
        json_error_t why;
        json_t *tree = json_loadb(text, len, JSON_DECODE_ANY, &why);
        bool is_number = (tree && text[0] != ' ' && text[len - 1] != ' ') ||
                         (!tree && json_error_code(&why) == json_error_numeric_overflow &&
                          !strchr(text, ' ') && number_skip(text, text + len) == text + len);
        CHECK(number_read(text, len, &number) == is_number, "\"%s\"", text);
        taken += is_number;
        json_decref(tree);
    }
    CHECK(taken > 10000, "only %zu were numbers", taken);
}

/* ---- drawn numbers -------------------------------------------------------------------------- */

/* 0.DIGITS times ten to the power of `point`; no zero at either end. */
struct drawn {
    char digits[64];
    int point;
    bool is_negative;
};

static struct drawn draw(struct rng *rng, int reach)
{
    struct drawn drawn = {.is_negative = rng_below(rng, 2)};
    size_t count = 1 + rng_below(rng, rng_below(rng, 3) ? 4 : 40);
    for (size_t i = 0; i < count; i++)
        drawn.digits[i] = (char)('0' + rng_below(rng, rng_below(rng, 2) ? 10 : 2));
    drawn.digits[0] = (char)('1' + rng_below(rng, 9));
    drawn.digits[count - 1] = (char)('1' + rng_below(rng, 9));
    drawn.point = (int)rng_below(rng, (uint64_t)reach * 2) - reach;
    return drawn;
}

/* The digits with a point behind the first `at` of them, which may be fewer than none or more than all. */
static void write_digits(const char *digits, int at, char *to)
{
    int count = (int)strlen(digits), last = at > count ? at : count;
    for (int i = at < 1 ? at - 1 : 0; i < last; i++) {
        if (i == at && i > (at < 1 ? at - 1 : 0))
            *to++ = '.';
        *to++ = i >= 0 && i < count ? digits[i] : '0';
    }
    *to = '\0';
}

/* In one of the many ways that mean it. */
static void write_somehow(const struct drawn *drawn, struct rng *rng, char *to)
{
    char digits[128];
    size_t zeros = rng_below(rng, 4);
    snprintf(digits, sizeof digits, "%s%.*s", drawn->digits, (int)zeros, "000");
    int shift = (int)rng_below(rng, 60) - 30;
    if (drawn->is_negative)
        *to++ = '-';
    write_digits(digits, drawn->point + shift, to);
    static const char *const marks[] = {"e", "E"};
    to += strlen(to);
    if (shift || rng_below(rng, 2))
        snprintf(to, 32, "%s%s%d", marks[rng_below(rng, 2)],
                 -shift >= 0 && rng_below(rng, 2) ? "+" : "", -shift);
}

static void write_plainly(const struct drawn *drawn, char *to)
{
    if (drawn->is_negative)
        *to++ = '-';
    write_digits(drawn->digits, drawn->point, to);
}

static int compare_drawn(const struct drawn *a, const struct drawn *b)
{
    int sign = a->is_negative ? -1 : 1;
    if (a->is_negative != b->is_negative)
        return sign;
    if (a->point != b->point)
        return a->point < b->point ? -sign : sign;
    int order = strcmp(a->digits, b->digits);
    return sign * ((order > 0) - (order < 0));
}

static char one[ROOM], other[ROOM], made[ROOM], again[ROOM];

TEST(numbers_compare_as_their_digits_do_however_they_are_written)
{
    struct rng rng;
    rng_init(&rng, 1);
    for (int round = 0; round < ROUNDS; round++) {
        int reach = rng_below(&rng, 2) ? 3 : 400;
        struct drawn a = draw(&rng, reach), b = draw(&rng, reach);
        if (rng_below(&rng, 3) == 0)
            b = a;
        write_somehow(&a, &rng, one);
        write_somehow(&b, &rng, other);
        struct number left = number_of(one), right = number_of(other);
        CHECK(number_compare(&left, &right) == compare_drawn(&a, &b), "%s and %s", one, other);
        CHECK(number_compare(&right, &left) == compare_drawn(&b, &a), "%s and %s", other, one);
    }
}

TEST(zeros_are_equal)
{
    static const char *const zeros[] = {"0",   "-0",      "0.00",
                                        "0e5", "-0.0e-7", "0e99999999999999999"};
    struct number small = number_of("1e-300"), less = number_of("-1e-300");
    for (size_t i = 0; i < sizeof zeros / sizeof *zeros; i++) {
        struct number zero = number_of(zeros[i]), plain = number_of("0");
        CHECK(number_compare(&zero, &plain) == 0, "%s", zeros[i]);
        CHECK(number_compare(&zero, &small) < 0 && number_compare(&less, &zero) < 0, "%s",
              zeros[i]);
        made[number_canonical(&zero, made)] = '\0';
        CHECK_STR(made, "0");
    }
}

TEST(the_same_value_has_the_same_canonical_text_which_is_that_value)
{
    struct rng rng;
    rng_init(&rng, 2);
    for (int round = 0; round < ROUNDS; round++) {
        struct drawn a = draw(&rng, rng_below(&rng, 2) ? 24 : 400);
        write_somehow(&a, &rng, one);
        write_somehow(&a, &rng, other);
        struct number left = number_of(one), right = number_of(other);
        made[number_canonical(&left, made)] = '\0';
        again[number_canonical(&right, again)] = '\0';
        CHECK(strcmp(made, again) == 0, "%s is %s, %s is %s", one, made, other, again);
        CHECK(strlen(made) <= left.count + NUMBER_CANONICAL_ROOM, "%s", made);
        right = number_of(made);
        CHECK(number_compare(&left, &right) == 0, "%s is not %s", made, one);
    }
}

TEST(the_length_of_a_number_is_that_of_its_digits_without_an_exponent)
{
    struct rng rng;
    rng_init(&rng, 3);
    for (int round = 0; round < ROUNDS; round++) {
        struct drawn a = draw(&rng, 400);
        int shift = (int)rng_below(&rng, 800) - 400;
        write_plainly(&a, one);
        struct drawn moved = a;
        moved.point += shift;
        write_plainly(&moved, made);
        snprintf(other, sizeof other, "%se%d", one, shift);
        struct number number = number_of(other);
        /* Zeros that were written stay: 0.10e1 is 1.0. */
        size_t zeros =
            strlen(one) - (size_t)a.is_negative > strlen(a.digits) && strchr(one, '.')
                ? 0
                : strlen(one) - (size_t)a.is_negative - strlen(a.digits);
        size_t kept = shift < 0 && !strchr(one, '.') && zeros > 0 ? 1 : 0;
        CHECK(number_written(&number) == strlen(made) ||
                  (kept && number_written(&number) >= strlen(made)),
              "%s has %zu bytes, not %zu: %s", other, number_written(&number), strlen(made),
              made);
    }
}

TEST(what_fits_is_what_a_double_can_hold)
{
    struct rng rng;
    rng_init(&rng, 4);
    for (int round = 0; round < ROUNDS; round++) {
        struct drawn a = draw(&rng, 400);
        if (rng_below(&rng, 2)) {
            a.point = 309;
            memcpy(a.digits, "17976931348623158", 1 + rng_below(&rng, 17));
        }
        write_somehow(&a, &rng, one);
        struct number number = number_of(one);
        CHECK((number_fit(&number) == NUMBER_FITS) == (bool)isfinite(strtod(one, NULL)), "%s",
              one);
    }
    struct number edge =
        number_of("179769313486231580793728971405303415079934132710037826936173"
                  "778980444968292764750946649017977587207096330286416692887910"
                  "946555547851940402630657488671505820681908902000708383676273"
                  "854845817711531764475730270069855571366959622842914819860834"
                  "936475292719074168444365510704342711559699508093042880177904"
                  "174497792");
    CHECK_INT(number_fit(&edge), NUMBER_LARGE);
    edge = number_of("179769313486231580793728971405303415079934132710037826936173"
                     "778980444968292764750946649017977587207096330286416692887910"
                     "946555547851940402630657488671505820681908902000708383676273"
                     "854845817711531764475730270069855571366959622842914819860834"
                     "936475292719074168444365510704342711559699508093042880177904"
                     "174497791.999999999");
    CHECK_INT(number_fit(&edge), NUMBER_FITS);
}

/* ---- the normal form ------------------------------------------------------------------------ */

static void normal_of(const char *text, char *to)
{
    to[number_normal(text, strlen(text), to)] = '\0';
}

TEST(the_normal_form_of_some_numbers)
{
    static const struct {
        const char *text, *normal;
    } cases[] = {
        {"0", "0"},
        {"100000", "100000"},
        {"9223372036854775807", "9223372036854775807"},
        {"1000000000000000000", "1000000000000000000"},
        {"10000000000000000000", "1e19"},
        {"100000000000000000000", "1e20"},
        {"-602000000000000000000000", "-6.02e23"},
        {"12345678901234567890", "12345678901234567890"},
        {"123456789012345678900000000", "1.234567890123456789e26"},
        {"0.0000000000000000000000005", "5e-25"},
        {"0.00000000000000000000000050", "5.0e-25"},
        {"0.00000000000000000000000000", "0e-26"},
        {"0.1234567890123456789012345678", "0.1234567890123456789012345678"},
        {"1.50", "1.50"},
        {"1e400", "1e400"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        normal_of(cases[i].text, made);
        CHECK_STR(made, cases[i].normal);
    }
}

TEST(the_normal_form_is_the_same_value_no_longer_and_a_fixed_point)
{
    struct rng rng;
    rng_init(&rng, 5);
    for (int round = 0; round < ROUNDS; round++) {
        struct drawn a = draw(&rng, rng_below(&rng, 2) ? 30 : 400);
        write_plainly(&a, one);
        if (strchr(one, '.') && rng_below(&rng, 3) == 0)
            strcat(one, "000");
        normal_of(one, made);
        struct number left = number_of(one), right = number_of(made);
        CHECK(number_compare(&left, &right) == 0, "%s is not %s", made, one);
        CHECK(strlen(made) <= strlen(one), "%s is longer than %s", made, one);
        CHECK(number_written(&right) == strlen(one), "%s is not as long as %s", made, one);
        CHECK(left.count > NUMBER_PLAIN_DIGITS || strcmp(one, made) == 0, "%s became %s", one,
              made);
        normal_of(made, again);
        CHECK_STR(again, made);
    }
}

TEST(a_whole_number_counts_and_one_with_a_fraction_does_not)
{
    static const struct {
        const char *text;
        int64_t whole;
        bool is_whole;
    } cases[] = {
        {"0", 0, true},
        {"-0.0", 0, true},
        {"1e0", 1, true},
        {"150e-1", 15, true},
        {"1.0", 1, true},
        {"1.5", 0, false},
        {"15e-1", 0, false},
        {"-3", -3, true},
        {"1e18", INT64_MAX, true},
        {"-1e99", INT64_MIN, true},
        {"1e-999999999999", 0, false},
        {"123456789012345678", 123456789012345678, true},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct number number = number_of(cases[i].text);
        int64_t whole = 0;
        CHECK(number_whole(&number, &whole) == cases[i].is_whole, "%s", cases[i].text);
        CHECK(whole == cases[i].whole, "%s is %lld", cases[i].text, (long long)whole);
    }
}

/* ---- whole texts ---------------------------------------------------------------------------- */

TEST(the_normal_form_of_a_text_has_no_blanks_and_strings_as_they_are)
{
    static const char text[] = " { \"a 1e5 , \\\" \" : [ 1 , 100000000000000000000 , \"\\\\\" "
                               ", true ] , \"b\":\"\" }\n";
    made[json_normal(text, sizeof text - 1, made)] = '\0';
    CHECK_STR(made, "{\"a 1e5 , \\\" \":[1,1e20,\"\\\\\",true],\"b\":\"\"}");
    made[json_compact(text, sizeof text - 1, made)] = '\0';
    CHECK_STR(made, "{\"a 1e5 , \\\" \":[1,100000000000000000000,\"\\\\\",true],\"b\":\"\"}");
    CHECK_INT(json_written(text, sizeof text - 1), strlen(made));
    static const char grown[] = "[1e5, -2.5e-3,0e9, \"1e9\"]";
    size_t by = 0;
    cairn_error error;
    CHECK_OK(json_check_size(grown, sizeof grown - 1, "text", &by, &error));
    CHECK_INT(by, strlen("100000") - strlen("1e5"));
    CHECK_INT(json_written(grown, sizeof grown - 1), strlen("[100000,-0.0025,0,\"1e9\"]"));
}

TEST(a_tree_keeps_the_text_of_its_numbers)
{
    static const char *const texts[] = {
        "[1,-0,1.50,6.02e23,12345678901234567890,1E+2]",
        "[9223372036854775807,-9223372036854775808]",
        "{\"a\":{\"b\":[0.1,1e400,\"\\\\u0000\",\"1.5\",null,true,false,{}]}}",
        "123456789012345678901234567890",
        "\"\"",
    };
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        struct buf buf = {0};
        json_t *tree = NULL;
        cairn_error error;
        CHECK_OK(json_read(texts[i], strlen(texts[i]), "text", &tree, &error));
        json_print(&buf, tree);
        CHECK_STR(buf_text(&buf), texts[i]);
        buf_done(&buf);
        json_decref(tree);
    }
    json_t *tree = json_tree("[1.5,\"1.5\",1]", 13);
    size_t len = 0;
    CHECK(!json_is_text(json_array_get(tree, 0)) && json_is_text(json_array_get(tree, 1)),
          "kinds");
    CHECK(json_number_text(json_array_get(tree, 0), &len) && len == 3, "%zu", len);
    CHECK(!json_number_text(json_array_get(tree, 2), &len), "an integer is jansson's");
    json_decref(tree);
    CHECK(!json_tree("[1.5", 4), "half a list");
    CHECK(!json_tree("\"\\u0000\"", 8), "a NUL of a user");
}
