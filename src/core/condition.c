/* core/condition.c - what a condition yields for an input.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "core/condition.h"

#include "base/error.h"
#include "base/json.h"
#include "base/mem.h"
#include "core/condition_inside.h"

#include <string.h>

struct evaluation {
    const json_t *input;
    const char *instance_id;
    const char *step_name;
    cairn_error *reterr;
};

static cairn_code evaluate(const struct evaluation *evaluation, const struct node *node,
                           struct value *ret_value);

/* ---- values --------------------------------------------------------------------------------- */

static const char *const kind_names[] = {
    [VALUE_MISSING] = "a missing field", [VALUE_BOOL] = "a boolean",
    [VALUE_INTEGER] = "a number",        [VALUE_REAL] = "a number",
    [VALUE_TEXT] = "a string",           [VALUE_OBJECT] = "an object",
    [VALUE_ARRAY] = "an array",
};

static struct value value_of_bool(bool is_true)
{
    return (struct value){.kind = VALUE_BOOL, .is_true = is_true};
}

static struct value value_of_text(const char *text)
{
    if (!text)
        return (struct value){.kind = VALUE_MISSING};
    return (struct value){.kind = VALUE_TEXT, .text = text, .len = strlen(text)};
}

static struct value value_of_json(const json_t *json)
{
    if (!json)
        return (struct value){.kind = VALUE_MISSING};
    switch (json_typeof(json)) {
    case JSON_OBJECT:
        return (struct value){.kind = VALUE_OBJECT};
    case JSON_ARRAY:
        return (struct value){.kind = VALUE_ARRAY};
    case JSON_STRING:
        return (struct value){.kind = VALUE_TEXT,
                              .text = json_string_value(json),
                              .len = json_string_length(json)};
    case JSON_INTEGER:
        return (struct value){.kind = VALUE_INTEGER, .integer = json_integer_value(json)};
    case JSON_REAL:
        return (struct value){.kind = VALUE_REAL, .real = json_real_value(json)};
    case JSON_TRUE:
        return value_of_bool(true);
    case JSON_FALSE:
        return value_of_bool(false);
    case JSON_NULL:
        break;
    }
    return (struct value){.kind = VALUE_MISSING};
}

static struct value look_up(const struct evaluation *evaluation, const char *path)
{
    if (strcmp(path, "instance_id") == 0 || strcmp(path, "step_name") == 0) {
        bool is_id = *path == 'i';
        bool is_all = path[strlen(path) + 1] == '\0'; /* a string has no fields */
        return value_of_text(!is_all ? NULL
                             : is_id ? evaluation->instance_id
                                     : evaluation->step_name);
    }
    const json_t *json = evaluation->input;
    for (; *path && json; path += strlen(path) + 1)
        json = json_object_get(json, path); /* NULL for what is no object */
    return value_of_json(json);
}

/* ---- comparing ------------------------------------------------------------------------------ */

/* An integer and a real exactly: neither is rounded to the other's type. */
static int order_mixed(int64_t integer, double real)
{
    if (real >= 0x1p63)
        return -1;
    if (real < -0x1p63)
        return 1;
    int64_t whole = (int64_t)real;
    if (integer != whole)
        return integer < whole ? -1 : 1;
    double rest = real - (double)whole;
    return (rest < 0) - (rest > 0);
}

static int order_numbers(const struct value *a, const struct value *b)
{
    if (a->kind == VALUE_INTEGER && b->kind == VALUE_INTEGER)
        return (a->integer > b->integer) - (a->integer < b->integer);
    if (a->kind == VALUE_INTEGER)
        return order_mixed(a->integer, b->real);
    if (b->kind == VALUE_INTEGER)
        return -order_mixed(b->integer, a->real);
    return (a->real > b->real) - (a->real < b->real);
}

static int order_texts(const struct value *a, const struct value *b)
{
    int order = memcmp(a->text, b->text, a->len < b->len ? a->len : b->len);
    return order ? order : (a->len > b->len) - (a->len < b->len);
}

static bool is_number(const struct value *value)
{
    return value->kind == VALUE_INTEGER || value->kind == VALUE_REAL;
}

/* What is missing becomes the zero of the other side's type. */
static void fill_missing(struct value *value, const struct value *other)
{
    if (value->kind != VALUE_MISSING)
        return;
    *value = (struct value){.kind = other->kind == VALUE_MISSING ? VALUE_INTEGER : other->kind,
                            .text = ""};
}

static bool is_comparable(const struct value *a, const struct value *b)
{
    if (is_number(a))
        return is_number(b);
    return a->kind == b->kind && (a->kind == VALUE_TEXT || a->kind == VALUE_BOOL);
}

/* A number beside a string. */
static bool is_mixed(const struct value *a, const struct value *b)
{
    return (is_number(a) && b->kind == VALUE_TEXT) || (a->kind == VALUE_TEXT && is_number(b));
}

/* The string is not a number: they are different, and have no order. */
static cairn_code compare_unlike(const struct evaluation *evaluation, const struct node *call,
                                 const struct value *a, const struct value *b, int *ret_order)
{
    char left[VALUE_NAME_ROOM], right[VALUE_NAME_ROOM];
    *ret_order = 1; /* anything but 0 */
    if (call->function == FUNCTION_EQ || call->function == FUNCTION_NE)
        return CAIRN_OK;
    value_name(a, left);
    value_name(b, right);
    return fail(evaluation->reterr, CAIRN_E_BAD_INPUT,
                "cannot order %s and %s: the string is not a number: \"%s\" at column %zu",
                left, right, function_name(call->function), call->column);
}

/* How a stands to b: less than, equal to or greater than 0, as strcmp() says it. */
static cairn_code compare(const struct evaluation *evaluation, const struct node *call,
                          struct value a, struct value b, int *ret_order)
{
    enum value_kind left = a.kind, right = b.kind;
    fill_missing(&a, &b);
    fill_missing(&b, &a);
    if (is_mixed(&a, &b) && !value_read_number(a.kind == VALUE_TEXT ? &a : &b))
        return compare_unlike(evaluation, call, &a, &b, ret_order);
    if (!is_comparable(&a, &b))
        return fail(evaluation->reterr, CAIRN_E_BAD_INPUT,
                    "cannot compare %s with %s: \"%s\" at column %zu", kind_names[left],
                    kind_names[right], function_name(call->function), call->column);
    bool is_order = call->function != FUNCTION_EQ && call->function != FUNCTION_NE;
    if (a.kind == VALUE_BOOL && is_order)
        return fail(evaluation->reterr, CAIRN_E_BAD_INPUT,
                    "cannot order booleans: \"%s\" at column %zu",
                    function_name(call->function), call->column);
    *ret_order = is_number(&a)          ? order_numbers(&a, &b)
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
static cairn_code evaluate_comparison(const struct evaluation *evaluation,
                                      const struct node *call, bool *ret_is_true)
{
    struct value first, other;
    *ret_is_true = false;
    TRY(evaluate(evaluation, call->arguments, &first));
    for (const struct node *n = call->arguments->next; n; n = n->next) {
        int order = 0;
        TRY(evaluate(evaluation, n, &other));
        if (*ret_is_true)
            continue;
        TRY(compare(evaluation, call, first, other, &order));
        *ret_is_true = is_so[call->function][(order > 0) - (order < 0) + 1];
    }
    return CAIRN_OK;
}

/* ---- logic ---------------------------------------------------------------------------------- */

static cairn_code evaluate_truth(const struct evaluation *evaluation, const struct node *call,
                                 const struct node *argument, bool *ret_is_true)
{
    struct value value;
    TRY(evaluate(evaluation, argument, &value));
    if (value.kind != VALUE_BOOL && value.kind != VALUE_MISSING)
        return fail(evaluation->reterr, CAIRN_E_BAD_INPUT,
                    "\"%s\" takes booleans, not %s at column %zu",
                    function_name(call->function), kind_names[value.kind], argument->column);
    *ret_is_true = value.kind == VALUE_BOOL && value.is_true;
    return CAIRN_OK;
}

/* "and" ends at the first false, "or" at the first true; "not" has one argument. */
static cairn_code evaluate_logic(const struct evaluation *evaluation, const struct node *call,
                                 bool *ret_is_true)
{
    bool is_true = false;
    bool goes_on_with = call->function == FUNCTION_AND;
    for (const struct node *n = call->arguments; n; n = n->next) {
        TRY(evaluate_truth(evaluation, call, n, &is_true));
        if (is_true != goes_on_with)
            break;
    }
    *ret_is_true = call->function == FUNCTION_NOT ? !is_true : is_true;
    return CAIRN_OK;
}

/* ---- the whole ------------------------------------------------------------------------------ */

static bool is_logic(enum function function)
{
    return function == FUNCTION_AND || function == FUNCTION_OR || function == FUNCTION_NOT;
}

/* Recursion is as deep as the parentheses, which the parser limits. */
static cairn_code evaluate(const struct evaluation *evaluation, const struct node *node,
                           struct value *ret_value)
{
    if (node->kind == NODE_VALUE) {
        *ret_value = node->value;
        return CAIRN_OK;
    }
    if (node->kind == NODE_FIELD) {
        *ret_value = look_up(evaluation, node->path);
        return CAIRN_OK;
    }
    bool is_true;
    TRY(is_logic(node->function) ? evaluate_logic(evaluation, node, &is_true)
                                 : evaluate_comparison(evaluation, node, &is_true));
    *ret_value = value_of_bool(is_true);
    return CAIRN_OK;
}

cairn_code condition_check(const char *expression, cairn_error *reterr)
{
    cleanup(arena_done) struct arena arena = {0};
    struct node *tree;
    return condition_parse(expression, &arena, &tree, reterr);
}

static void release_json(json_t **tree)
{
    json_decref(*tree);
}

cairn_code condition_evaluate(const char *expression, const char *input,
                              const char *instance_id, const char *step_name, bool *ret_is_true,
                              cairn_error *reterr)
{
    cleanup(arena_done) struct arena arena = {0};
    cleanup(release_json) json_t *tree_of_input = NULL;
    struct node *tree;
    TRY(condition_parse(expression, &arena, &tree, reterr));
    if (input)
        TRY(json_read(input, strlen(input), "input", &tree_of_input, reterr));
    struct evaluation evaluation = {.input = tree_of_input,
                                    .instance_id = instance_id,
                                    .step_name = step_name,
                                    .reterr = reterr};
    struct value value;
    TRY(evaluate(&evaluation, tree, &value));
    if (value.kind != VALUE_BOOL && value.kind != VALUE_MISSING)
        return fail(reterr, CAIRN_E_BAD_INPUT, "the condition yields %s, not a boolean",
                    kind_names[value.kind]);
    *ret_is_true = value.kind == VALUE_BOOL && value.is_true;
    return CAIRN_OK;
}
