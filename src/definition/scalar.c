/* definition/scalar.c - the type of an unquoted word of YAML (its core schema).
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * "yes", "no", "on" and "off" are text, as in YAML 1.2.
 */
#include "base/json.h"
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
