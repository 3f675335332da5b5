/* base/number.c - numbers of JSON as decimals.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "base/number.h"

#include <assert.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* No text is so long that its digits make up for such an exponent. */
#define EXPONENT_MOST INT64_C(1000000000000000)

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static const char *skip_digits(const char *at, const char *end)
{
    while (at < end && is_digit(*at))
        at++;
    return at;
}

/* ---- reading -------------------------------------------------------------------------------- */

/* The places between the parts of a number; NULL: it has no such part. */
struct parts {
    const char *digits, *point, *mark, *end; /* mark: the e of the exponent */
};

static bool find_parts(const char *at, const char *end, struct parts *ret)
{
    *ret = (struct parts){.digits = at += at < end && *at == '-'};
    at = skip_digits(at, end);
    if (at == ret->digits || (*ret->digits == '0' && at - ret->digits > 1))
        return false;
    if (at < end && *at == '.') {
        ret->point = at++;
        at = skip_digits(at, end);
        if (at - ret->point < 2)
            return false;
    }
    if (at < end && (*at == 'e' || *at == 'E')) {
        ret->mark = at++;
        at += at < end && (*at == '+' || *at == '-');
        const char *digits = at;
        at = skip_digits(at, end);
        if (at == digits)
            return false;
    }
    ret->end = at;
    return true;
}

const char *number_skip(const char *at, const char *end)
{
    struct parts parts;
    return find_parts(at, end, &parts) ? parts.end : NULL;
}

static int64_t read_exponent(const char *at, const char *end)
{
    bool is_negative = *at == '-';
    int64_t value = 0;
    for (at += *at == '-' || *at == '+'; at < end && value < EXPONENT_MOST; at++)
        value = value * 10 + (*at - '0');
    value = value > EXPONENT_MOST ? EXPONENT_MOST : value;
    return is_negative ? -value : value;
}

/* The digit at a place; those that the text does not have are 0. */
static char digit_at(const struct number *number, size_t place)
{
    if (place >= number->count)
        return '0';
    return number->digits[place < number->whole ? place : place + 1]; /* behind the point */
}

bool number_read(const char *text, size_t len, struct number *ret_number)
{
    struct parts parts;
    if (!find_parts(text, text + len, &parts) || parts.end != text + len)
        return false;
    const char *end = parts.mark ? parts.mark : parts.end;
    struct number number = {.digits = parts.digits,
                            .whole = (size_t)((parts.point ? parts.point : end) - parts.digits),
                            .is_negative = *text == '-',
                            .has_exponent = parts.mark != NULL};
    number.count = (size_t)(end - parts.digits) - (parts.point != NULL);
    if (parts.mark)
        number.exponent = read_exponent(parts.mark + 1, parts.end);
    while (number.first < number.count && digit_at(&number, number.first) == '0')
        number.first++;
    *ret_number = number;
    return true;
}

/* ---- values --------------------------------------------------------------------------------- */

static bool is_zero(const struct number *number)
{
    return number->first == number->count;
}

/* The power of ten that its first digit stands for: 2 for 150, -3 for 0.001. */
static int64_t top_of(const struct number *number)
{
    return (int64_t)number->whole - 1 - (int64_t)number->first + number->exponent;
}

/* The digits behind the point when it is written out. */
static int64_t fraction_of(const struct number *number)
{
    int64_t fraction = (int64_t)(number->count - number->whole) - number->exponent;
    return fraction > 0 ? fraction : 0;
}

static int compare_sizes(const struct number *a, const struct number *b)
{
    int64_t one = top_of(a), other = top_of(b);
    if (one != other)
        return one < other ? -1 : 1;
    size_t left = a->count - a->first, right = b->count - b->first;
    for (size_t i = 0; i < left || i < right; i++) {
        char x = digit_at(a, a->first + i), y = digit_at(b, b->first + i);
        if (x != y)
            return x < y ? -1 : 1;
    }
    return 0;
}

int number_compare(const struct number *a, const struct number *b)
{
    int one = is_zero(a) ? 0 : a->is_negative ? -1 : 1;
    int other = is_zero(b) ? 0 : b->is_negative ? -1 : 1;
    if (one != other || one == 0)
        return (one > other) - (one < other);
    return one * compare_sizes(a, b);
}

/* 2^1024 - 2^970: from here on what is nearest is no double. */
static const char beyond_doubles[] =
    "17976931348623158079372897140530341507993413271003782693617377898044496829276475094664"
    "90179775872070963302864166928879109465555478519404026306574886715058206819089020007083"
    "83676273854845817711531764475730270069855571366959622842914819860834936475292719074168"
    "444365510704342711559699508093042880177904174497792";

enum number_fit number_fit(const struct number *number)
{
    enum { TOP = sizeof beyond_doubles - 2 };
    if (fraction_of(number) > NUMBER_FRACTION_MAX)
        return NUMBER_FINE;
    if (is_zero(number) || top_of(number) < TOP)
        return NUMBER_FITS;
    struct number limit;
    bool is_read = number_read(beyond_doubles, sizeof beyond_doubles - 1, &limit);
    assert(is_read);
    (void)is_read;
    return compare_sizes(number, &limit) < 0 ? NUMBER_FITS : NUMBER_LARGE;
}

bool number_whole(const struct number *number, int64_t *ret_value)
{
    size_t end = number->count;
    while (end > number->first && digit_at(number, end - 1) == '0')
        end--;
    int64_t top = is_zero(number) ? 0 : top_of(number);
    if (top < (int64_t)(end - number->first) - 1)
        return false;
    *ret_value = number->is_negative ? INT64_MIN : INT64_MAX;
    if (top > 17) /* all of 18 digits fit */
        return true;
    int64_t value = 0;
    for (int64_t i = 0; i <= top; i++)
        value = value * 10 + (digit_at(number, number->first + (size_t)i) - '0');
    *ret_value = number->is_negative ? -value : value;
    return true;
}

/* ---- writing -------------------------------------------------------------------------------- */

size_t number_written(const struct number *number)
{
    int64_t fraction = fraction_of(number), top = is_zero(number) ? 0 : top_of(number);
    return (size_t)number->is_negative + (top > 0 ? (size_t)top + 1 : 1) +
           (fraction > 0 ? (size_t)fraction + 1 : 0);
}

/* d.ddde-n, with the digits from `first` up to `end`. */
static size_t write_scientific(const struct number *number, size_t first, size_t end,
                               int64_t top, char *to)
{
    char exponent[24];
    int more = snprintf(exponent, sizeof exponent, "e%" PRId64, top);
    size_t len = 0;
    if (number->is_negative)
        to[len++] = '-';
    for (size_t i = first; i < end; i++) {
        if (i == first + 1)
            to[len++] = '.';
        to[len++] = digit_at(number, i);
    }
    memcpy(to + len, exponent, (size_t)more);
    return len + (size_t)more;
}

static size_t scientific_length(const struct number *number, size_t digits, int64_t top)
{
    return (size_t)number->is_negative + digits + (digits > 1) +
           (size_t)snprintf(NULL, 0, "e%" PRId64, top);
}

size_t number_normal(const char *text, size_t len, char *to)
{
    struct number number;
    if (len > NUMBER_PLAIN_DIGITS && number_read(text, len, &number) && !number.has_exponent &&
        number.count > NUMBER_PLAIN_DIGITS) {
        /* The zeros at the end of a fraction are digits that somebody wrote; those at the end of a
         * whole number only say how large it is. */
        size_t end = number.count, first = is_zero(&number) ? end - 1 : number.first;
        while (number.whole == number.count && end > first + 1 &&
               digit_at(&number, end - 1) == '0')
            end--;
        int64_t top = (int64_t)number.whole - 1 - (int64_t)first;
        if (scientific_length(&number, end - first, top) < len)
            return write_scientific(&number, first, end, top, to);
    }
    memcpy(to, text, len);
    return len;
}

static size_t write_plain(const struct number *number, size_t end, int64_t top, char *to)
{
    size_t len = 0;
    if (number->is_negative)
        to[len++] = '-';
    int64_t last = top - (int64_t)(end - number->first) + 1; /* power of the last digit */
    for (int64_t power = top > 0 ? top : 0; power >= 0 || power >= last; power--) {
        if (power == -1)
            to[len++] = '.';
        to[len++] = power > top ? '0' : digit_at(number, number->first + (size_t)(top - power));
    }
    return len;
}

size_t number_canonical(const struct number *number, char *to)
{
    enum { PLAIN_LEAST = -7, PLAIN_MOST = 20 };
    size_t end = number->count;
    if (is_zero(number)) {
        *to = '0';
        return 1;
    }
    while (digit_at(number, end - 1) == '0')
        end--;
    int64_t top = top_of(number);
    if (top < PLAIN_LEAST || top > PLAIN_MOST)
        return write_scientific(number, number->first, end, top, to);
    return write_plain(number, end, top, to);
}
