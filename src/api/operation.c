/* api/operation.c - finds operations, and writes objects by their tables.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "api/operation.h"

#include "base/clock.h"

#include <assert.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

const struct operation *operation_of(enum request_op op)
{
    for (size_t i = 0; i < operation_count; i++)
        if (operations[i].op == op)
            return &operations[i];
    return NULL;
}

static bool is_match(const char *pattern, const char *path, size_t len)
{
    const char *end = path + len;
    while (*pattern) {
        if (*pattern == '{') {
            const char *segment = path;
            while (path < end && *path != '/')
                path++;
            if (path == segment)
                return false;
            pattern = strchr(pattern, '}') + 1;
        } else {
            if (path == end || *path != *pattern)
                return false;
            path++;
            pattern++;
        }
    }
    return path == end;
}

const struct operation *operation_at(const char *target, const struct operation *after)
{
    size_t len = strcspn(target, "?");
    const struct operation *end = operations + operation_count;
    for (const struct operation *it = after ? after + 1 : operations; it < end; it++)
        if (is_match(it->path, target, len))
            return it;
    return NULL;
}

const struct operation *operation_find(const char *method, const char *target)
{
    const struct operation *operation = operation_at(target, NULL);
    while (operation && strcmp(operation->method, method) != 0)
        operation = operation_at(target, operation);
    return operation;
}

const void *field_pointer(const struct field *field, const void *from)
{
    const void *pointer;
    memcpy(&pointer, (const char *)from + field->offset, sizeof pointer);
    return pointer;
}

void field_put_pointer(const struct field *field, void *to, const void *pointer)
{
    memcpy((char *)to + field->offset, &pointer, sizeof pointer);
}

int64_t field_number(const struct field *field, const void *from)
{
    const void *at = (const char *)from + field->offset;
    if (field->size == sizeof(bool))
        return *(const bool *)at;
    if (field->size == sizeof(int64_t))
        return *(const int64_t *)at;
    assert(field->size == sizeof(int32_t));
    return field->kind == FIELD_UINT ? (int64_t) * (const uint32_t *)at : *(const int32_t *)at;
}

double field_fraction(const struct field *field, const void *from)
{
    double fraction;
    memcpy(&fraction, (const char *)from + field->offset, sizeof fraction);
    return fraction;
}

void field_put_fraction(const struct field *field, void *to, double fraction)
{
    memcpy((char *)to + field->offset, &fraction, sizeof fraction);
}

/* What does not fit is cut to the largest that does. */
void field_put_number(const struct field *field, void *to, int64_t number)
{
    void *at = (char *)to + field->offset;
    if (field->size == sizeof(bool))
        *(bool *)at = number != 0;
    else if (field->size == sizeof(int64_t))
        *(int64_t *)at = number;
    else if (field->kind == FIELD_UINT)
        *(uint32_t *)at = number > UINT32_MAX ? UINT32_MAX : (uint32_t)number;
    else
        *(int32_t *)at = (int32_t)number;
}

size_t field_count(const struct field *field, const void *from)
{
    size_t count;
    memcpy(&count, (const char *)from + field->count_offset, sizeof count);
    return count;
}

void field_put_list(const struct field *field, void *to, const void *items, size_t count)
{
    field_put_pointer(field, to, items);
    memcpy((char *)to + field->count_offset, &count, sizeof count);
}

const struct field *field_named(const struct object *object, const char *name, size_t len,
                                size_t *ret_offset)
{
    for (size_t i = 0; i < object->count; i++) {
        const struct field *field = &object->fields[i];
        if (field->name && strlen(field->name) == len && memcmp(field->name, name, len) == 0) {
            *ret_offset = 0;
            return field;
        }
        if (field->name)
            continue;
        const struct field *inner = field_named(field->inner, name, len, ret_offset);
        if (inner) {
            *ret_offset += field->offset;
            return inner;
        }
    }
    return NULL;
}

void instant_format_fine(int64_t us, char text[FINE_INSTANT_TEXT])
{
    char short_text[INSTANT_TEXT];
    instant_format(us, short_text);
    size_t len = strlen(short_text);
    assert(len > 1 && short_text[len - 1] == 'Z');
    snprintf(text, FINE_INSTANT_TEXT, "%.*s%03dZ", (int)len - 1, short_text,
             (int)(us % US_PER_MS));
}

/* An answer's times have milliseconds. */
static void write_time(struct json_out *out, int64_t us, enum writing writing)
{
    char fine[FINE_INSTANT_TEXT];
    if (writing == WRITE_ANSWER) {
        json_time(out, us);
        return;
    }
    instant_format_fine(us, fine);
    json_str(out, fine);
}

static void write_number(struct json_out *out, int64_t number)
{
    char text[24];
    snprintf(text, sizeof text, "%" PRId64, number);
    json_str(out, text);
}

/* Whether an answer says null. */
static bool is_null(const struct field *field, const void *from)
{
    switch (field->kind) {
    case FIELD_TEXT:
    case FIELD_JSON:
    case FIELD_REF:
        return !field_pointer(field, from);
    case FIELD_PLACE:
        return field_number(field, from) < 0;
    case FIELD_TIME:
        return field_number(field, from) == 0;
    case FIELD_TEXTS:
        return !field->is_needed && !field_pointer(field, from);
    default:
        return false;
    }
}

static void write_texts(struct json_out *out, const char *const *texts, size_t count)
{
    json_open(out, '[');
    for (size_t i = 0; i < count; i++)
        json_str(out, texts[i]);
    json_close(out, ']');
}

static void write_items(struct json_out *out, const struct object *object, const void *items,
                        size_t count, enum writing writing)
{
    json_open(out, '[');
    for (size_t i = 0; i < count; i++)
        object_write(out, object, (const char *)items + i * object->size, writing);
    json_close(out, ']');
}

static void write_pointers(struct json_out *out, const struct object *object,
                           const void *const *items, size_t count)
{
    json_open(out, '[');
    for (size_t i = 0; i < count; i++)
        object_write(out, object, items[i], WRITE_ANSWER);
    json_close(out, ']');
}

static void write_value(struct json_out *out, const struct field *field, const void *from,
                        enum writing writing)
{
    switch (field->kind) {
    case FIELD_TEXT:
    case FIELD_WORD:
    case FIELD_CHOICE:
        json_str(out, field_pointer(field, from));
        break;
    case FIELD_JSON:
    case FIELD_VALUE:
        json_raw(out, field_pointer(field, from));
        break;
    case FIELD_CHARS:
        json_str(out, (const char *)from + field->offset);
        break;
    case FIELD_FLAG:
        json_str(out, field->words[field_number(field, from) ? 0 : 1]);
        break;
    case FIELD_OUTCOME:
        json_str(out, passage_outcome_name((enum passage_outcome)field_number(field, from)));
        break;
    case FIELD_INT:
    case FIELD_UINT:
        json_int(out, field_number(field, from));
        break;
    case FIELD_PLACE:
        if (field_number(field, from) < 0)
            json_raw(out, NULL);
        else
            json_int(out, field_number(field, from));
        break;
    case FIELD_MAYBE:
        if (field_number(field, from) < 0)
            json_raw(out, NULL);
        else
            json_bool(out, field_number(field, from) != 0);
        break;
    case FIELD_NUMBER:
        write_number(out, field_number(field, from));
        break;
    case FIELD_BOOL:
        json_bool(out, field_number(field, from) != 0);
        break;
    case FIELD_FRACTION:
        json_fraction(out, field_fraction(field, from));
        break;
    case FIELD_TIME:
        write_time(out, field_number(field, from), writing);
        break;
    case FIELD_TEXTS:
        if (is_null(field, from))
            json_raw(out, NULL);
        else
            write_texts(out, field_pointer(field, from), field_count(field, from));
        break;
    case FIELD_LIST:
        write_items(out, field->inner, field_pointer(field, from), field_count(field, from),
                    writing);
        break;
    case FIELD_POINTERS:
        write_pointers(out, field->inner, field_pointer(field, from), field_count(field, from));
        break;
    case FIELD_REF:
        if (field_pointer(field, from))
            object_write(out, field->inner, field_pointer(field, from), writing);
        else
            json_raw(out, NULL);
        break;
    default:
        assert(field->kind == FIELD_OBJECT);
        object_write(out, field->inner, from, writing);
        break;
    }
}

/* Whether a request says the same without it.  0 where 0 is not allowed is not set: the engine
 * has refused it already where it must be given. */
static bool is_left_out(const struct field *field, const void *from)
{
    switch (field->kind) {
    case FIELD_TEXT:
    case FIELD_JSON:
    case FIELD_CHOICE:
        return !field_pointer(field, from);
    case FIELD_MAYBE:
        return field_number(field, from) < 0;
    case FIELD_INT:
    case FIELD_UINT:
    case FIELD_BOOL: {
        int64_t number = field_number(field, from);
        return !field->is_needed &&
               (number == field->fallback || (number == 0 && field->least > 0));
    }
    case FIELD_FLAG:
        return !field->is_needed && !field_number(field, from);
    case FIELD_FRACTION:
        return field_fraction(field, from) == 0;
    case FIELD_TIME:
        return field_number(field, from) == 0;
    case FIELD_TEXTS:
    case FIELD_LIST:
        return !field->is_needed && field_count(field, from) == 0;
    case FIELD_OBJECT:
        return is_left_out(&field->inner->fields[0], from);
    default:
        return false;
    }
}

void fields_write(struct json_out *out, const struct object *object, const void *from,
                  enum writing writing)
{
    for (size_t i = 0; i < object->count; i++) {
        const struct field *field = &object->fields[i];
        if (!field->name) {
            bool is_part = field->kind == FIELD_PART;
            if (!is_part || field_pointer(&field->inner->fields[0], from))
                fields_write(out, field->inner, (const char *)from + field->offset, writing);
            continue;
        }
        if ((writing == WRITE_REQUEST && is_left_out(field, from)) ||
            (field->is_rare && is_null(field, from)))
            continue;
        json_key(out, field->name);
        write_value(out, field, from, writing);
    }
}

void object_write(struct json_out *out, const struct object *object, const void *from,
                  enum writing writing)
{
    json_open(out, '{');
    fields_write(out, object, from, writing);
    json_close(out, '}');
}

void list_write(struct json_out *out, const char *name, const struct object *object,
                const void *items, size_t count, enum writing writing)
{
    json_key(out, name);
    write_items(out, object, items, count, writing);
}
