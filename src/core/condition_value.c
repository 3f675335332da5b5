/* core/condition_value.c - what an expression yields: fields, logic, and who computes the rest.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "core/condition_inside.h"

#include "base/error.h"

#include <assert.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* ---- values --------------------------------------------------------------------------------- */

static const char *const kind_names[] = {
    [VALUE_MISSING] = "a missing field", [VALUE_BOOL] = "a boolean",
    [VALUE_INTEGER] = "a number",        [VALUE_DECIMAL] = "a number",
    [VALUE_TEXT] = "a string",           [VALUE_OBJECT] = "an object",
    [VALUE_ARRAY] = "an array",
};

const char *value_kind_name(enum value_kind kind)
{
    return kind_names[kind];
}

struct value value_of_bool(bool is_true)
{
    return (struct value){.kind = VALUE_BOOL, .is_true = is_true};
}

static struct value value_of_text(const char *text)
{
    if (!text)
        return (struct value){.kind = VALUE_MISSING};
    return (struct value){.kind = VALUE_TEXT, .text = text, .len = strlen(text)};
}

struct value value_of_json(const json_t *json)
{
    size_t len = 0;
    const char *number = json_number_text(json, &len);
    if (!json)
        return (struct value){.kind = VALUE_MISSING};
    if (number)
        return (struct value){.kind = VALUE_DECIMAL, .text = number, .len = len};
    switch (json_typeof(json)) {
    case JSON_OBJECT:
        return (struct value){.kind = VALUE_OBJECT, .json = json};
    case JSON_ARRAY:
        return (struct value){.kind = VALUE_ARRAY, .json = json};
    case JSON_STRING:
        return (struct value){.kind = VALUE_TEXT,
                              .text = json_string_value(json),
                              .len = json_string_length(json)};
    case JSON_INTEGER:
        return (struct value){.kind = VALUE_INTEGER, .integer = json_integer_value(json)};
    case JSON_REAL: /* json_read() makes none */
        break;
    case JSON_TRUE:
        return value_of_bool(true);
    case JSON_FALSE:
        return value_of_bool(false);
    case JSON_NULL:
        break;
    }
    return (struct value){.kind = VALUE_MISSING};
}

/* ---- the evaluation ------------------------------------------------------------------------- */

void evaluation_done(struct evaluation *evaluation)
{
    json_decref(evaluation->data);
    json_decref(evaluation->input);
    json_decref(evaluation->tags);
    for (size_t i = 0; evaluation->outputs && i < evaluation->scope->output_count; i++)
        json_decref(evaluation->outputs[i]);
}

cairn_code evaluation_charge(struct evaluation *evaluation, size_t bytes)
{
    evaluation->work += bytes;
    if (evaluation->work > EXPRESSION_WORK_MAX)
        return fail(evaluation->reterr, CAIRN_E_BAD_INPUT,
                    "the expressions look at more than %d MiB", EXPRESSION_WORK_MAX >> 20);
    return CAIRN_OK;
}

cairn_code evaluation_refuse(const struct evaluation *evaluation, const struct node *node,
                             const char *format, ...)
{
    char message[240];
    va_list args;
    va_start(args, format);
    vsnprintf(message, sizeof message, format, args);
    va_end(args);
    return fail(evaluation->reterr, CAIRN_E_BAD_INPUT, "%s at column %zu", message,
                scan_column(evaluation->text, node->at));
}

/* ---- fields --------------------------------------------------------------------------------- */

/* A text of the scope as a tree, which is read once. */
static cairn_code read_root(const struct evaluation *evaluation, const char *text,
                            const char *what, json_t **root, const json_t **ret_json)
{
    if (text && !*root)
        TRY(json_read(text, strlen(text), what, root, evaluation->reterr));
    *ret_json = *root;
    return CAIRN_OK;
}

static cairn_code read_output(struct evaluation *evaluation, const char *step,
                              const json_t **ret_json)
{
    const struct expression_scope *scope = evaluation->scope;
    size_t i = 0;
    *ret_json = NULL;
    while (i < scope->output_count && strcmp(scope->outputs[i].step, step) != 0)
        i++;
    if (i == scope->output_count)
        return CAIRN_OK;
    if (!evaluation->outputs)
        evaluation->outputs =
            arena_array(evaluation->arena, scope->output_count, sizeof *evaluation->outputs);
    NEED(evaluation->outputs, evaluation->reterr);
    return read_root(evaluation, scope->outputs[i].output, "a step's output",
                     &evaluation->outputs[i], ret_json);
}

static struct value find_field(const json_t *json, const char *path)
{
    for (; *path && json; path += strlen(path) + 1)
        json = json_object_get(json, path); /* NULL for what is no object */
    return value_of_json(json);
}

/* A string has no fields. */
static struct value find_in_text(const char *text, const char *path)
{
    return value_of_text(*path ? NULL : text);
}

static cairn_code look_up(struct evaluation *evaluation, const struct node *field,
                          struct value *ret_value)
{
    const struct expression_scope *scope = evaluation->scope;
    const char *path = field->path;
    const json_t *json = NULL;
    if (field->root == ROOT_INSTANCE_ID || field->root == ROOT_KEY) {
        bool is_key = field->root == ROOT_KEY;
        *ret_value = find_in_text(is_key ? scope->key : scope->instance_id, path);
        return CAIRN_OK;
    }
    bool is_id = strcmp(path, "instance_id") == 0;
    if (evaluation->is_condition && field->root == ROOT_DATA &&
        (is_id || strcmp(path, "step_name") == 0)) {
        *ret_value = find_in_text(is_id ? scope->instance_id : scope->step_name,
                                  path + strlen(path) + 1);
        return CAIRN_OK;
    }
    if (field->root == ROOT_DATA)
        TRY(read_root(evaluation, scope->data, "input", &evaluation->data, &json));
    else if (field->root == ROOT_INPUT)
        TRY(read_root(evaluation, scope->input, "the instance's input", &evaluation->input,
                      &json));
    else if (field->root == ROOT_TAGS)
        TRY(read_root(evaluation, scope->tags, "tags", &evaluation->tags, &json));
    else
        TRY(read_output(evaluation, field->step, &json));
    *ret_value = find_field(json, path);
    return CAIRN_OK;
}

/* ---- logic ---------------------------------------------------------------------------------- */

static cairn_code evaluate_truth(struct evaluation *evaluation, const struct node *call,
                                 const struct node *argument, bool *ret_is_true)
{
    struct value value;
    TRY(evaluate(evaluation, argument, &value));
    if (value.kind != VALUE_BOOL && value.kind != VALUE_MISSING)
        return evaluation_refuse(evaluation, argument, "\"%s\" takes booleans, not %s",
                                 function_name(call->function), kind_names[value.kind]);
    *ret_is_true = value.kind == VALUE_BOOL && value.is_true;
    return CAIRN_OK;
}

/* "and" ends at the first false, "or" at the first true; "not" has one argument. */
static cairn_code evaluate_logic(struct evaluation *evaluation, const struct node *call,
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

static cairn_code evaluate_call(struct evaluation *evaluation, const struct node *call,
                                struct value *ret_value)
{
    bool is_true = false;
    switch (call->function) {
    case FUNCTION_AND:
    case FUNCTION_OR:
    case FUNCTION_NOT:
        TRY(evaluate_logic(evaluation, call, &is_true));
        break;
    case FUNCTION_LEN:
        return evaluate_len(evaluation, call, ret_value);
    case FUNCTION_INDEX:
        return evaluate_index(evaluation, call, ret_value);
    case FUNCTION_CONTAINS:
    case FUNCTION_HAS_PREFIX:
    case FUNCTION_HAS_SUFFIX:
        return evaluate_search(evaluation, call, ret_value);
    case FUNCTION_DEFAULT:
        return evaluate_default(evaluation, call, ret_value);
    case FUNCTION_JSON:
        return evaluate_json(evaluation, call, ret_value);
    case FUNCTION_EQ:
    case FUNCTION_NE:
    case FUNCTION_GT:
    case FUNCTION_LT:
    case FUNCTION_GE:
    case FUNCTION_LE:
        TRY(evaluate_comparison(evaluation, call, &is_true));
        break;
    case FUNCTION_COUNT:
        assert(false);
    }
    *ret_value = value_of_bool(is_true);
    return CAIRN_OK;
}

/* Recursion is as deep as parentheses and pipes, which the parser limits. */
cairn_code evaluate(struct evaluation *evaluation, const struct node *node,
                    struct value *ret_value)
{
    switch (node->kind) {
    case NODE_VALUE:
        *ret_value = node->value;
        return CAIRN_OK;
    case NODE_FIELD:
        return look_up(evaluation, node, ret_value);
    case NODE_ACCESS:
        TRY(evaluate(evaluation, node->arguments, ret_value));
        *ret_value = find_field(ret_value->json, node->path);
        return CAIRN_OK;
    case NODE_CALL:
        break;
    }
    return evaluate_call(evaluation, node, ret_value);
}
