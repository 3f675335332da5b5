/* definition/scalar.c - the type of an unquoted word of YAML (its core schema).
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * "yes", "no", "on" and "off" are text, as in YAML 1.2.
 */
#include "base/json.h"
#include "base/number.h"
#include "definition/node.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define DIGITS "0123456789"

static bool is_one_of(const char *text, const char *const *words)
{
    for (; *words; words++)
        if (strcmp(text, *words) == 0)
            return true;
    return false;
}

static const char *skip_sign(const char *at)
{
    return *at == '+' || *at == '-' ? at + 1 : at;
}

static bool is_int(const char *text)
{
    if (text[0] == '0' && text[1] == 'x')
        return text[2] && text[2 + strspn(text + 2, "0123456789abcdefABCDEF")] == '\0';
    if (text[0] == '0' && text[1] == 'o')
        return text[2] && text[2 + strspn(text + 2, "01234567")] == '\0';
    const char *digits = skip_sign(text);
    return *digits && digits[strspn(digits, DIGITS)] == '\0';
}

static bool is_float(const char *text)
{
    static const char *const words[] = {".inf", ".Inf", ".INF", ".nan", ".NaN", ".NAN", NULL};
    const char *at = skip_sign(text);
    if (is_one_of(at, words))
        return true;
    size_t whole = strspn(at, DIGITS), part = 0;
    at += whole;
    if (*at == '.') {
        part = strspn(at + 1, DIGITS);
        at += part + 1;
    }
    if (whole + part == 0)
        return false;
    if (*at != 'e' && *at != 'E')
        return *at == '\0';
    at = skip_sign(at + 1);
    return *at && at[strspn(at, DIGITS)] == '\0';
}

enum scalar_kind scalar_kind_of(const char *text)
{
    static const char *const nulls[] = {"", "~", "null", "Null", "NULL", NULL};
    static const char *const bools[] = {"true",  "True",  "TRUE", "false",
                                        "False", "FALSE", NULL};
    if (is_one_of(text, nulls))
        return SCALAR_NULL;
    if (is_one_of(text, bools))
        return SCALAR_BOOL;
    if (is_int(text))
        return SCALAR_INT;
    return is_float(text) ? SCALAR_FLOAT : SCALAR_TEXT;
}

bool node_bool(const struct node *scalar)
{
    return scalar->text[0] == 't' || scalar->text[0] == 'T';
}

bool node_int(const struct node *scalar, int64_t *ret_value)
{
    const char *text = scalar->text;
    int base = 10;
    if (text[0] == '0' && (text[1] == 'x' || text[1] == 'o')) {
        base = text[1] == 'x' ? 16 : 8;
        text += 2;
    }
    errno = 0;
    *ret_value = strtoll(text, NULL, base);
    return errno == 0;
}

bool node_float(const struct node *scalar, double *ret_value)
{
    return fraction_read(scalar->text, ret_value);
}

/* The number as JSON writes it: YAML allows a plus, zeros before it, and a point with nothing on one side. */
static void add_json_number(const char *text, struct buf *buf)
{
    if (*text == '-')
        buf_char(buf, '-');
    text = skip_sign(text);
    while (*text == '0' && strchr(DIGITS, text[1]) && text[1])
        text++;
    if (*text == '.')
        buf_char(buf, '0');
    size_t whole = strspn(text, DIGITS);
    buf_add(buf, text, whole);
    text += whole;
    if (*text == '.' && text[1] && strchr(DIGITS, text[1]))
        buf_char(buf, '.');
    buf_str(buf, *text == '.' ? text + 1 : text);
}

/* Doubles are written as ever, so that what a file means stays the same text; a number that none of them
 * is has its own digits. */
bool node_decimal(const struct node *scalar, struct json_out *out)
{
    struct buf given = {0}, shortest = {0}, made = {0};
    struct number number, other;
    double fraction;
    add_json_number(scalar->text, &given);
    bool is_good = !buf_failed(&given) && number_read(buf_text(&given), given.len, &number) &&
                   number_fit(&number) == NUMBER_FITS;
    if (is_good && fraction_read(buf_text(&given), &fraction))
        json_fraction(&(struct json_out){.buf = &shortest}, fraction);
    bool is_double = scalar->scalar == SCALAR_FLOAT && is_good &&
                     number_read(buf_text(&shortest), shortest.len, &other) &&
                     number_compare(&number, &other) == 0;
    char *room = is_good ? buf_extend(&made, given.len + NUMBER_CANONICAL_ROOM) : NULL;
    if (is_double)
        json_raw(out, buf_text(&shortest));
    else if (room)
        json_rawn(out, room, number_canonical(&number, room));
    else
        is_good = false;
    buf_done(&given);
    buf_done(&shortest);
    buf_done(&made);
    return is_good;
}

const char *node_words(const struct node *node)
{
    static const char *const scalars[] = {[SCALAR_NULL] = "nothing",
                                          [SCALAR_BOOL] = "true or false",
                                          [SCALAR_INT] = "a number",
                                          [SCALAR_FLOAT] = "a number",
                                          [SCALAR_TEXT] = "text"};
    if (node->kind == NODE_SCALAR)
        return scalars[node->scalar];
    return node->kind == NODE_LIST ? "a list" : "a mapping";
}
