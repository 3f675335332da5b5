/* tests/fuzz/fuzz_number.c - numbers as decimals.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * The input is a text, a line end, and another.  A text that is a number is one to JSON's reader; its
 * forms are the same value; two numbers stand to each other as they do the other way round, and as
 * doubles do as far as these can tell.
 */
#include "base/json.h"
#include "base/number.h"
#include "fuzz.h"

#include <string.h>

static void hold_forms(const struct number *number, const char *text, size_t len)
{
    struct number same;
    char *room = malloc(len + NUMBER_CANONICAL_ROOM), *again = malloc(len);
    int64_t whole;
    MUST(room && again);
    size_t made = number_normal(text, len, room);
    MUST(made <= len && number_read(room, made, &same) && number_compare(number, &same) == 0);
    MUST(number_fit(&same) == number_fit(number));
    MUST(number_written(&same) == number_written(number));
    MUST(number_normal(room, made, again) == made && memcmp(room, again, made) == 0);
    made = number_canonical(number, room);
    MUST(number_read(room, made, &same) && number_compare(number, &same) == 0);
    MUST(number_whole(number, &whole) == number_whole(&same, &whole));
    free(again);
    free(room);
}

static bool hold(const char *text, size_t len, struct number *ret_number)
{
    cairn_error error;
    size_t grown = 0;
    const char *after = number_skip(text, text + len);
    bool is_number = number_read(text, len, ret_number);
    MUST(is_number == (len > 0 && after == text + len));
    json_t *tree = NULL;
    cairn_code read = json_read(text, len, "text", &tree, &error);
    if (is_number) {
        size_t kept = 0;
        const char *exact = json_number_text(tree, &kept);
        MUST(!read &&
             (exact ? kept == len && memcmp(exact, text, len) == 0 : json_is_integer(tree)));
        cairn_code code = json_check_size(text, len, "text", &grown, &error);
        MUST((code == CAIRN_OK) == (number_fit(ret_number) == NUMBER_FITS));
        MUST(code || json_written(text, len) == number_written(ret_number));
        MUST(code || number_written(ret_number) <= len + grown);
        /* Exponents beyond this are all alike to it; no store has such a number. */
        if (ret_number->exponent > -1000000000 && ret_number->exponent < 1000000000)
            hold_forms(ret_number, text, len);
    } else { /* JSON allows blanks around it */
        MUST(!json_number_text(tree, &grown) || memchr(" \t\r\n", text[0], 4) ||
             memchr(" \t\r\n", text[len - 1], 4));
    }
    json_decref(tree);
    return is_number;
}

static void hold_order(const struct number *a, const struct number *b, const char *one,
                       const char *other)
{
    double left, right;
    int order = number_compare(a, b);
    MUST(number_compare(b, a) == -order);
    if (!fraction_read(one, &left) || !fraction_read(other, &right))
        return;
    MUST(left <= right || order > 0);
    MUST(left >= right || order < 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len)
{
    char *text = malloc(len + 1);
    MUST(text);
    memcpy(text, bytes, len);
    text[len] = '\0';
    char *next = memchr(text, '\n', len);
    size_t first = next ? (size_t)(next - text) : len;
    text[first] = '\0';
    const char *other = next ? next + 1 : text + len;
    struct number a, b;
    bool is_first = hold(text, first, &a),
         is_second = hold(other, len - (size_t)(other - text), &b);
    if (is_first && is_second)
        hold_order(&a, &b, text, other);
    free(text);
    return 0;
}
