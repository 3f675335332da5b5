/* remote/fields.c - objects of an answer, read by tables of fields.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "remote/fields.h"

#include "base/clock.h"
#include "base/error.h"

#include <stdio.h>
#include <string.h>

cairn_code not_understood(struct reader *reader, const char *what)
{
    fail(reader->error, CAIRN_E_INTERNAL, "cannot read the answer of %s: %s",
         reader->engine->base.url, what);
    return fail_hint(reader->error, CAIRN_E_INTERNAL,
                     "is it a Cairn server, and of a version like %s?", CAIRN_VERSION);
}

cairn_code put_pointer(struct reader *reader, void *to, const void *pointer)
{
    if (!pointer)
        return fail_memory(reader->error);
    memcpy(to, &pointer, sizeof pointer);
    return CAIRN_OK;
}

bool read_time(struct slice value, int64_t *ret_us)
{
    char text[64];
    return slice_unescape(value, text, sizeof text) && instant_parse(text, ret_us);
}

static bool read_number(struct slice value, int64_t *ret_number)
{
    if (slice_is_string(value))
        value = (struct slice){value.text + 1, value.len - 2};
    return slice_int(value, ret_number);
}

static bool read_int32(struct slice value, int32_t *ret_number)
{
    int64_t number;
    if (!slice_int(value, &number) || number < INT32_MIN || number > INT32_MAX)
        return false;
    *ret_number = (int32_t)number;
    return true;
}

static bool read_bool(struct slice value, int *ret_bool)
{
    *ret_bool = slice_is(value, "true");
    return *ret_bool || slice_is(value, "false");
}

static cairn_code read_field(struct reader *reader, const struct field *field,
                             struct slice value, void *to)
{
    char word[64];
    bool is_good = true;
    if (slice_is(value, "null") && field->kind != FIELD_VALUE)
        return CAIRN_OK; /* all structs begin zeroed */
    switch (field->kind) {
    case FIELD_TEXT:
        if (slice_is_string(value))
            return put_pointer(reader, to, slice_string(value, reader->arena));
        is_good = false;
        break;
    case FIELD_JSON:
    case FIELD_VALUE:
        return put_pointer(reader, to, slice_json(value, reader->arena));
    case FIELD_CHARS:
        is_good = slice_unescape(value, to, field->size);
        break;
    case FIELD_WORD:
        if (slice_unescape(value, word, sizeof word))
            return put_pointer(reader, to, remote_word(reader->engine, word));
        is_good = false;
        break;
    case FIELD_INT32:
        is_good = read_int32(value, to);
        break;
    case FIELD_UINT64:
        is_good = slice_uint(value, to);
        break;
    case FIELD_NUMBER:
        is_good = read_number(value, to);
        break;
    case FIELD_BOOL:
        is_good = read_bool(value, to);
        break;
    case FIELD_TIME:
        is_good = read_time(value, to);
        break;
    }
    if (is_good)
        return CAIRN_OK;
    char what[96];
    snprintf(what, sizeof what, "\"%s\" is of the wrong type", field->name);
    return not_understood(reader, what);
}

/* Callers use these texts without looking, so an answer without one is refused here. */
static cairn_code check_needed(struct reader *reader, const struct field *fields,
                               const char *object)
{
    static const char none[sizeof(const char *)];
    for (const struct field *field = fields; field->name; field++) {
        bool is_chars = field->kind == FIELD_CHARS;
        if (!field->is_needed ||
            memcmp(object + field->offset, none, is_chars ? 1 : sizeof none) != 0)
            continue;
        char what[96];
        snprintf(what, sizeof what, "\"%s\" is missing", field->name);
        return not_understood(reader, what);
    }
    return CAIRN_OK;
}

cairn_code read_object(struct reader *reader, struct slice object, const struct field *fields,
                       void *ret)
{
    struct scan scan;
    struct slice key, value;
    if (!scan_object(object, &scan))
        return not_understood(reader, "something is not an object");
    while (scan_member(&scan, &key, &value)) {
        const struct field *field = fields;
        while (field->name && !slice_is(key, field->name))
            field++;
        if (!field->name)
            continue;
        cairn_code code = read_field(reader, field, value, (char *)ret + field->offset);
        if (code)
            return code;
    }
    return check_needed(reader, fields, ret);
}

cairn_code read_list(struct reader *reader, struct slice list, struct objects objects)
{
    struct scan scan;
    struct slice item;
    if (!scan_list(list, &scan))
        return not_understood(reader, "a list is missing");
    size_t count = scan_count(list);
    char *items = arena_array(reader->arena, count, objects.size);
    if (!items)
        return fail_memory(reader->error);
    for (size_t i = 0; scan_item(&scan, &item); i++) {
        cairn_code code = read_object(reader, item, objects.fields, items + i * objects.size);
        if (code)
            return code;
    }
    *objects.count = count;
    return put_pointer(reader, objects.items, items);
}

cairn_code read_page(struct reader *reader, struct slice answer, struct objects objects,
                     const char **ret_next)
{
    struct slice next = scan_find(answer, "next");
    *ret_next = NULL;
    if (slice_is_string(next)) {
        *ret_next = slice_string(next, reader->arena);
        if (!*ret_next)
            return fail_memory(reader->error);
    }
    return read_list(reader, scan_find(answer, "items"), objects);
}

cairn_code read_single(struct reader *reader, struct slice answer, struct objects objects)
{
    void *item = arena_zalloc(reader->arena, objects.size);
    cairn_code code = put_pointer(reader, objects.items, item);
    *objects.count = 1;
    return code ? code : read_object(reader, answer, objects.fields, item);
}
