/* base/number.h - numbers of JSON as what they are: decimals, whose digits are kept.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * No number of a user goes through a 64-bit integer or a double: it is taken apart where it lies, and
 * its own digits are compared, counted and written.  Nothing here allocates, or asks the locale.
 */
#ifndef BASE_NUMBER_H
#define BASE_NUMBER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A number within a text.  Its digits are those before and behind the point, in one row. */
struct number {
    const char *digits; /* without the sign */
    size_t whole;       /* digits before the point */
    size_t count;       /* all of them */
    size_t first;       /* the first that is not 0; `count`: the number is 0 */
    int64_t exponent;   /* held within what no text reaches */
    bool is_negative;
    bool has_exponent;
};

/* The place behind the number that begins at `at`; NULL: none does. */
const char *number_skip(const char *at, const char *end);

/* False: the text is not a number, or not only one. */
bool number_read(const char *text, size_t len, struct number *ret_number);

/* How one stands to another, as strcmp() says it.  Exactly: -0 is 0, 1e2 is 100.00. */
int number_compare(const struct number *a, const struct number *b);

/* Whether every store and every reader can keep it. */
enum number_fit {
    NUMBER_FITS,
    NUMBER_LARGE, /* beyond what a double holds: 1e309 */
    NUMBER_FINE,  /* more than NUMBER_FRACTION_MAX digits behind the point when written out */
};
enum { NUMBER_FRACTION_MAX = 16383 }; /* of PostgreSQL's numeric */
enum number_fit number_fit(const struct number *number);

/* False: it has a fraction.  What has more than 18 digits is the least or the most of 64 bits. */
bool number_whole(const struct number *number, int64_t *ret_value);

/* Its bytes without an exponent: 1.5e3 has 4. */
size_t number_written(const struct number *number);

/* The normal form: a number of more than NUMBER_PLAIN_DIGITS digits whose exponent form is shorter is
 * written so, with its own digits; every other one as it is.  `to` has room for `len` bytes, and is not
 * `text`.  The length of what was written. */
enum { NUMBER_PLAIN_DIGITS = 19 };
size_t number_normal(const char *text, size_t len, char *to);

/* The same text for the same value, however it was written: 1.50, 15e-1 and 1.5 are 1.5.  `to` has
 * room for NUMBER_CANONICAL_ROOM bytes more than the number has digits. */
enum { NUMBER_CANONICAL_ROOM = 48 };
size_t number_canonical(const struct number *number, char *to);

#endif
