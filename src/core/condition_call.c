/* core/condition_call.c - len, index, contains, hasPrefix, hasSuffix, default, json.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "core/condition_inside.h"

#include "base/error.h"

#include <string.h>

/* ---- arguments ------------------------------------------------------------------------------ */

static cairn_code evaluate_two(struct evaluation *evaluation, const struct node *call,
                               struct value *ret_first, struct value *ret_second)
{
    TRY(evaluate(evaluation, call->arguments, ret_first));
    return evaluate(evaluation, call->arguments->next, ret_second);
}

/* What is missing is an empty string. */
static cairn_code need_text(const struct evaluation *evaluation, const struct node *call,
                            const struct node *argument, struct value *value)
{
    if (value->kind == VALUE_MISSING)
        *value = (struct value){.kind = VALUE_TEXT, .text = ""};
    if (value->kind == VALUE_TEXT)
        return CAIRN_OK;
    return evaluation_refuse(evaluation, argument, "\"%s\" takes strings, not %s",
                             function_name(call->function), value_kind_name(value->kind));
}

/* ---- functions ------------------------------------------------------------------------------ */

cairn_code evaluate_len(struct evaluation *evaluation, const struct node *call,
                        struct value *ret_value)
{
    struct value value;
    size_t len = 0;
    TRY(evaluate(evaluation, call->arguments, &value));
    if (value.kind == VALUE_TEXT)
        len = value.len;
    else if (value.kind == VALUE_ARRAY)
        len = json_array_size(value.json);
    else if (value.kind == VALUE_OBJECT)
        len = json_object_size(value.json);
    else if (value.kind != VALUE_MISSING)
        return evaluation_refuse(evaluation, call->arguments, "%s has no length",
                                 value_kind_name(value.kind));
    *ret_value = (struct value){.kind = VALUE_INTEGER, .integer = (int64_t)len};
    return CAIRN_OK;
}

/* An element or a member; what is not there is missing. */
static cairn_code index_one(struct evaluation *evaluation, const struct node *argument,
                            struct value *value)
{
    struct value key;
    TRY(evaluate(evaluation, argument, &key));
    if (value->kind == VALUE_MISSING)
        return CAIRN_OK;
    bool is_object = value->kind == VALUE_OBJECT;
    if (!is_object && value->kind != VALUE_ARRAY)
        return evaluation_refuse(evaluation, argument, "%s has no elements",
                                 value_kind_name(value->kind));
    int64_t place = 0;
    if (is_object ? key.kind != VALUE_TEXT : !value_whole(&key, &place))
        return evaluation_refuse(evaluation, argument, "%s is indexed by %s, not by %s",
                                 value_kind_name(value->kind),
                                 is_object ? "a string" : "a whole number",
                                 value_kind_name(key.kind));
    if (is_object)
        *value = value_of_json(
            strlen(key.text) == key.len ? json_object_get(value->json, key.text) : NULL);
    else
        *value = value_of_json(place < 0 ? NULL : json_array_get(value->json, (size_t)place));
    return CAIRN_OK;
}

cairn_code evaluate_index(struct evaluation *evaluation, const struct node *call,
                          struct value *ret_value)
{
    TRY(evaluate(evaluation, call->arguments, ret_value));
    for (const struct node *n = call->arguments->next; n; n = n->next)
        TRY(index_one(evaluation, n, ret_value));
    return CAIRN_OK;
}

/* Objects and arrays are equal to nothing. */
static cairn_code search_array(struct evaluation *evaluation, const struct node *call,
                               const struct value *wanted, const json_t *array,
                               bool *ret_is_found)
{
    TRY(evaluation_charge(evaluation, json_array_size(array)));
    for (size_t i = 0; i < json_array_size(array) && !*ret_is_found; i++) {
        struct value item = value_of_json(json_array_get(array, i));
        bool is_alike =
            value_is_number(wanted) ? value_is_number(&item) : item.kind == wanted->kind;
        int order = 1;
        if (!is_alike || item.kind == VALUE_OBJECT || item.kind == VALUE_ARRAY)
            continue;
        TRY(value_compare(evaluation, call, *wanted, item, &order));
        *ret_is_found = order == 0;
    }
    return CAIRN_OK;
}

static bool is_found(enum function function, const struct value *wanted,
                     const struct value *text)
{
    if (wanted->len > text->len)
        return false;
    if (function == FUNCTION_CONTAINS)
        return memmem(text->text, text->len, wanted->text, wanted->len);
    size_t at = function == FUNCTION_HAS_PREFIX ? 0 : text->len - wanted->len;
    return memcmp(text->text + at, wanted->text, wanted->len) == 0;
}

cairn_code evaluate_search(struct evaluation *evaluation, const struct node *call,
                           struct value *ret_value)
{
    struct value wanted, text;
    TRY(evaluate_two(evaluation, call, &wanted, &text));
    *ret_value = value_of_bool(false);
    if (call->function == FUNCTION_CONTAINS && text.kind == VALUE_ARRAY)
        return search_array(evaluation, call, &wanted, text.json, &ret_value->is_true);
    TRY(need_text(evaluation, call, call->arguments->next, &text));
    TRY(need_text(evaluation, call, call->arguments, &wanted));
    TRY(evaluation_charge(evaluation, text.len + wanted.len));
    ret_value->is_true = is_found(call->function, &wanted, &text);
    return CAIRN_OK;
}

cairn_code evaluate_default(struct evaluation *evaluation, const struct node *call,
                            struct value *ret_value)
{
    struct value otherwise;
    TRY(evaluate_two(evaluation, call, &otherwise, ret_value));
    if (ret_value->kind == VALUE_MISSING)
        *ret_value = otherwise;
    return CAIRN_OK;
}

cairn_code evaluate_json(struct evaluation *evaluation, const struct node *call,
                         struct value *ret_value)
{
    struct value value;
    struct buf buf = {0};
    TRY(evaluate(evaluation, call->arguments, &value));
    struct printing printing = {.evaluation = evaluation,
                                .buf = &buf,
                                .max = EXPRESSION_WORK_MAX - evaluation->work,
                                .is_sorted = true};
    cairn_code code = print_json(&printing, &value, 1);
    if (!code)
        code = evaluation_charge(evaluation, buf.len);
    if (code) {
        buf_done(&buf);
        return code;
    }
    size_t len = buf.len;
    const char *text = buf_keep(&buf, evaluation->arena);
    NEED(text, evaluation->reterr);
    *ret_value = (struct value){.kind = VALUE_TEXT, .text = text, .len = len};
    return CAIRN_OK;
}
