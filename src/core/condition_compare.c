/* core/condition_compare.c - eq ne gt lt ge le.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "core/condition_inside.h"

#include "base/error.h"

#include <string.h>

static int order_texts(const struct value *a, const struct value *b)
{
    size_t len = a->len < b->len ? a->len : b->len;
    int order = a->text && b->text ? memcmp(a->text, b->text, len) : 0;
    return order ? order : (a->len > b->len) - (a->len < b->len);
}

/* What is missing becomes the zero of the other side's type. */
static void fill_missing(struct value *value, const struct value *other)
{
    if (value->kind != VALUE_MISSING)
        return;
    bool is_zero = other->kind == VALUE_MISSING || value_is_number(other);
    *value = (struct value){.kind = is_zero ? VALUE_INTEGER : other->kind, .text = ""};
}

static bool is_comparable(const struct value *a, const struct value *b)
{
    if (value_is_number(a))
        return value_is_number(b);
    return a->kind == b->kind && (a->kind == VALUE_TEXT || a->kind == VALUE_BOOL);
}

/* A number beside a string. */
static bool is_mixed(const struct value *a, const struct value *b)
{
    return (value_is_number(a) && b->kind == VALUE_TEXT) ||
           (a->kind == VALUE_TEXT && value_is_number(b));
}

static bool is_equality(enum function function)
{
    return function == FUNCTION_EQ || function == FUNCTION_NE || function == FUNCTION_CONTAINS;
}

/* The string is not a number: they are different, and have no order. */
static cairn_code compare_unlike(struct evaluation *evaluation, const struct node *call,
                                 const struct value *a, const struct value *b, int *ret_order)
{
    char left[VALUE_NAME_ROOM], right[VALUE_NAME_ROOM];
    *ret_order = 1; /* anything but 0 */
    if (is_equality(call->function))
        return CAIRN_OK;
    value_name(a, left);
    value_name(b, right);
    return evaluation_refuse(evaluation, call,
                             "cannot order %s and %s: the string is not a number: \"%s\"", left,
                             right, function_name(call->function));
}

cairn_code value_compare(struct evaluation *evaluation, const struct node *call, struct value a,
                         struct value b, int *ret_order)
{
    enum value_kind left = a.kind, right = b.kind;
    if (a.text && b.text)
        TRY(evaluation_charge(evaluation, a.len < b.len ? a.len : b.len));
    fill_missing(&a, &b);
    fill_missing(&b, &a);
    if (is_mixed(&a, &b) && !value_read_number(a.kind == VALUE_TEXT ? &a : &b))
        return compare_unlike(evaluation, call, &a, &b, ret_order);
    if (!is_comparable(&a, &b))
        return evaluation_refuse(evaluation, call, "cannot compare %s with %s: \"%s\"",
                                 value_kind_name(left), value_kind_name(right),
                                 function_name(call->function));
    bool is_order = !is_equality(call->function);
    if (a.kind == VALUE_BOOL && is_order)
        return evaluation_refuse(evaluation, call, "cannot order booleans: \"%s\"",
                                 function_name(call->function));
    *ret_order = value_is_number(&a)    ? value_order_numbers(&a, &b)
                 : a.kind == VALUE_TEXT ? order_texts(&a, &b)
                                        : a.is_true - b.is_true;
    return CAIRN_OK;
}

/* Whether a comparison holds if a is less than b, equal to it, greater. */
static const bool is_so[FUNCTION_COUNT][3] = {
    [FUNCTION_EQ] = {0, 1, 0}, [FUNCTION_NE] = {1, 0, 1}, [FUNCTION_GT] = {0, 0, 1},
    [FUNCTION_LT] = {1, 0, 0}, [FUNCTION_GE] = {0, 1, 1}, [FUNCTION_LE] = {1, 1, 0},
};

/* The first argument with each of the others, until one fits (only eq takes several).  The rest
 * are evaluated, too, as Go does, so that errors in them do not depend on the input. */
cairn_code evaluate_comparison(struct evaluation *evaluation, const struct node *call,
                               bool *ret_is_true)
{
    struct value first, other;
    *ret_is_true = false;
    TRY(evaluate(evaluation, call->arguments, &first));
    for (const struct node *n = call->arguments->next; n; n = n->next) {
        int order = 0;
        TRY(evaluate(evaluation, n, &other));
        if (*ret_is_true)
            continue;
        TRY(value_compare(evaluation, call, first, other, &order));
        *ret_is_true = is_so[call->function][(order > 0) - (order < 0) + 1];
    }
    return CAIRN_OK;
}
