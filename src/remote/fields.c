/* remote/fields.c - objects of an answer, read by the tables of api/operation.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "remote/remote.h"

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

static cairn_code about_field(struct reader *reader, const struct field *field,
                              const char *what)
{
    char text[96];
    snprintf(text, sizeof text, "\"%s\" %s", field->name, what);
    return not_understood(reader, text);
}

static cairn_code put_text(struct reader *reader, const struct field *field, void *to,
                           const char *text)
{
    if (!text)
        return fail_memory(reader->error);
    field_put_pointer(field, to, text);
    return CAIRN_OK;
}

/* A number may also be sent as a string. */
static bool read_number(struct slice value, const struct field *field, void *to)
{
    int64_t number;
    uint64_t large;
    if (field->size == sizeof(int64_t) && slice_is_string(value))
        value = (struct slice){value.text + 1, value.len - 2};
    if (field->kind == FIELD_UINT && slice_uint(value, &large)) {
        field_put_number(field, to, (int64_t)large);
        return true;
    }
    if (!slice_int(value, &number) || field->kind == FIELD_UINT ||
        (field->size == sizeof(int32_t) && (number < INT32_MIN || number > INT32_MAX)))
        return false;
    field_put_number(field, to, number);
    return true;
}

static bool read_bool(struct slice value, const struct field *field, void *to)
{
    bool is_true = slice_is(value, "true");
    field_put_number(field, to, is_true);
    return is_true || slice_is(value, "false");
}

static bool read_time(struct slice value, const struct field *field, void *to)
{
    char text[64];
    int64_t us;
    if (!slice_unescape(value, text, sizeof text) || !instant_parse(text, &us))
        return false;
    field_put_number(field, to, us);
    return true;
}

static cairn_code read_texts(struct reader *reader, const struct field *field,
                             struct slice list, void *to)
{
    struct scan scan;
    struct slice item;
    size_t count = 0;
    if (!scan_list(list, &scan))
        return about_field(reader, field, "is of the wrong type");
    const char **texts = arena_array(reader->arena, scan_count(list), sizeof *texts);
    if (!texts)
        return fail_memory(reader->error);
    while (scan_item(&scan, &item)) {
        if (!slice_is_string(item))
            return about_field(reader, field, "is of the wrong type");
        texts[count] = slice_string(item, reader->arena);
        if (!texts[count++])
            return fail_memory(reader->error);
    }
    field_put_list(field, to, texts, count);
    return CAIRN_OK;
}

static cairn_code read_items(struct reader *reader, const struct field *field,
                             struct slice list, void *to)
{
    void *items = NULL;
    size_t count = 0;
    TRY(read_list(reader, list, field->inner, &items, &count));
    if (field->kind == FIELD_POINTERS)
        items = arena_pointers(reader->arena, items, count, field->inner->size);
    field_put_list(field, to, items, count);
    return items ? CAIRN_OK : fail_memory(reader->error);
}

static cairn_code read_field(struct reader *reader, const struct field *field,
                             struct slice value, void *to)
{
    char word[64];
    bool is_good = false;
    if (field->is_echo || (slice_is(value, "null") && field->kind != FIELD_VALUE))
        return CAIRN_OK;
    switch (field->kind) {
    case FIELD_TEXT:
        if (slice_is_string(value))
            return put_text(reader, field, to, slice_string(value, reader->arena));
        break;
    case FIELD_JSON:
    case FIELD_VALUE:
        return put_text(reader, field, to, slice_json(value, reader->arena));
    case FIELD_CHARS:
        is_good = slice_unescape(value, (char *)to + field->offset, field->size);
        break;
    case FIELD_WORD:
        if (slice_unescape(value, word, sizeof word))
            return put_text(reader, field, to, remote_word(reader->engine, word));
        break;
    case FIELD_INT:
    case FIELD_UINT:
    case FIELD_NUMBER:
        is_good = read_number(value, field, to);
        break;
    case FIELD_BOOL:
        is_good = read_bool(value, field, to);
        break;
    case FIELD_TIME:
        is_good = read_time(value, field, to);
        break;
    case FIELD_TEXTS:
        return read_texts(reader, field, value, to);
    case FIELD_LIST:
    case FIELD_POINTERS:
        return read_items(reader, field, value, to);
    default:
        break; /* of requests only */
    }
    return is_good ? CAIRN_OK : about_field(reader, field, "is of the wrong type");
}

/* Callers use these without looking, so an answer without one is refused here. */
static bool is_missing(const struct field *field, const char *from)
{
    if (field->kind == FIELD_CHARS)
        return from[field->offset] == '\0';
    if (field->kind == FIELD_TIME)
        return field_number(field, from) == 0;
    return !field_pointer(field, from);
}

static cairn_code check_needed(struct reader *reader, const struct object *object,
                               const char *from)
{
    for (size_t i = 0; i < object->count; i++) {
        const struct field *field = &object->fields[i];
        if (field->kind == FIELD_FIELDS)
            TRY(check_needed(reader, field->inner, from + field->offset));
        else if (field->is_needed && !field->is_echo && is_missing(field, from))
            return about_field(reader, field, "is missing");
    }
    return CAIRN_OK;
}

/* The enums beside words. */
static void fill_codes(const struct object *object, char *to)
{
    for (size_t i = 0; i < object->count; i++) {
        const struct field *field = &object->fields[i];
        if (field->kind == FIELD_FIELDS)
            fill_codes(field->inner, to + field->offset);
        if (!field->coded)
            continue;
        int code = word_from(field->coded, field_pointer(field, to));
        memcpy(to + field->code_offset, &code, sizeof code);
    }
}

cairn_code read_object(struct reader *reader, struct slice value, const struct object *object,
                       void *ret)
{
    struct scan scan;
    struct slice key, inner;
    if (!scan_object(value, &scan))
        return not_understood(reader, "something is not an object");
    while (scan_member(&scan, &key, &inner)) {
        size_t offset = 0;
        const struct field *field = field_named(object, key.text, key.len, &offset);
        if (field)
            TRY(read_field(reader, field, inner, (char *)ret + offset));
    }
    fill_codes(object, ret);
    return check_needed(reader, object, ret);
}

cairn_code read_list(struct reader *reader, struct slice list, const struct object *object,
                     void **ret_items, size_t *ret_count)
{
    struct scan scan;
    struct slice item;
    if (!scan_list(list, &scan))
        return not_understood(reader, "a list is missing");
    char *items = arena_array(reader->arena, scan_count(list), object->size);
    if (!items)
        return fail_memory(reader->error);
    *ret_items = items;
    *ret_count = 0;
    for (; scan_item(&scan, &item); (*ret_count)++)
        TRY(read_object(reader, item, object, items + *ret_count * object->size));
    return CAIRN_OK;
}
