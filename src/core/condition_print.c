/* core/condition_print.c - values as JSON, and as parts of strings.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "core/condition_inside.h"

#include "base/error.h"
#include "base/number.h"

#include <stdlib.h>
#include <string.h>

cairn_code print_check(const struct printing *printing)
{
    cairn_error *reterr = printing->evaluation->reterr;
    if (buf_failed(printing->buf))
        return fail_memory(reterr);
    if (printing->buf->len > printing->max)
        return fail(reterr, CAIRN_E_BAD_INPUT, "the value is larger than %zu bytes",
                    printing->max);
    return CAIRN_OK;
}

/* As it came; sorted, the same text for the same value. */
static void print_decimal(struct printing *printing, const struct value *value)
{
    struct number number;
    if (!printing->is_sorted || !number_read(value->text, value->len, &number)) {
        buf_add(printing->buf, value->text, value->len);
        return;
    }
    struct buf *buf = printing->buf;
    size_t room = value->len + NUMBER_CANONICAL_ROOM;
    char *at = buf_extend(buf, room);
    if (!at)
        return;
    buf->len -= room - number_canonical(&number, at);
    buf->text[buf->len] = '\0';
}

/* Escapes of an expression make any bytes; what comes from JSON is UTF-8. */
static cairn_code check_text(const struct printing *printing, const struct value *value)
{
    if (utf8_is_valid(value->text, value->len))
        return CAIRN_OK;
    return fail(printing->evaluation->reterr, CAIRN_E_BAD_INPUT,
                "the expression makes a string that is not UTF-8 or contains a NUL");
}

static int compare_keys(const void *left, const void *right)
{
    const char *const *a = left, *const *b = right;
    return strcmp(*a, *b);
}

static cairn_code print_members(struct printing *printing, const json_t *object, int depth)
{
    struct arena *arena = printing->evaluation->arena;
    size_t count = json_object_size(object), used = 0;
    const char **keys = arena_room(arena, count ? count : 1, sizeof *keys);
    const char *key;
    json_t *member;
    NEED(keys, printing->evaluation->reterr);
    json_object_foreach((json_t *)object, key, member) keys[used++] = key;
    if (printing->is_sorted && used > 0)
        qsort(keys, used, sizeof *keys, compare_keys);
    for (size_t i = 0; i < used; i++) {
        struct json_out out = {.buf = printing->buf, .needs_comma = i > 0};
        json_key(&out, keys[i]);
        struct value value = value_of_json(json_object_get(object, keys[i]));
        TRY(print_json(printing, &value, depth));
    }
    return CAIRN_OK;
}

static cairn_code print_items(struct printing *printing, const json_t *array, int depth)
{
    for (size_t i = 0; i < json_array_size(array); i++) {
        struct value value = value_of_json(json_array_get(array, i));
        if (i > 0)
            buf_char(printing->buf, ',');
        TRY(print_json(printing, &value, depth));
    }
    return CAIRN_OK;
}

static cairn_code print_nested(struct printing *printing, const struct value *value, int depth)
{
    bool is_object = value->kind == VALUE_OBJECT;
    if (depth > JSON_DEPTH_MAX)
        return fail(printing->evaluation->reterr, CAIRN_E_BAD_INPUT,
                    "the value is nested more than %d deep", JSON_DEPTH_MAX);
    buf_char(printing->buf, is_object ? '{' : '[');
    TRY(is_object ? print_members(printing, value->json, depth + 1)
                  : print_items(printing, value->json, depth + 1));
    buf_char(printing->buf, is_object ? '}' : ']');
    return CAIRN_OK;
}

cairn_code print_json(struct printing *printing, const struct value *value, int depth)
{
    struct json_out out = {.buf = printing->buf};
    switch (value->kind) {
    case VALUE_MISSING:
        json_raw(&out, NULL);
        break;
    case VALUE_BOOL:
        json_bool(&out, value->is_true);
        break;
    case VALUE_INTEGER:
        json_int(&out, value->integer);
        break;
    case VALUE_DECIMAL:
        print_decimal(printing, value);
        break;
    case VALUE_TEXT:
        TRY(check_text(printing, value));
        json_strn(&out, value->text, value->len);
        break;
    case VALUE_OBJECT:
    case VALUE_ARRAY:
        TRY(print_nested(printing, value, depth));
        break;
    }
    return print_check(printing);
}

cairn_code print_text(struct printing *printing, const struct value *value)
{
    if (value->kind == VALUE_MISSING)
        return CAIRN_OK;
    if (value->kind != VALUE_TEXT)
        return print_json(printing, value, 1);
    TRY(check_text(printing, value));
    buf_add(printing->buf, value->text, value->len);
    return print_check(printing);
}
