/* store/postgres/param.c - values on their way to the database.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * Single values travel as text; instants, and arrays of everything, in PostgreSQL's binary form:
 * neither side has to print and parse a number, an id or an instant for every row.
 */
#include "base/error.h"
#include "store/postgres/postgres.h"

#include <assert.h>
#include <endian.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* ---- single values ------------------------------------------------------------------------- */

static void add_param(struct postgres_params *params, const char *value, size_t len,
                      bool is_binary)
{
    assert(params->count < POSTGRES_PARAMS_MAX);
    params->values[params->count] = value;
    params->lengths[params->count] = (int)len;
    params->formats[params->count++] = is_binary;
}

static void add_copy(struct postgres_params *params, const char *bytes, size_t len,
                     bool is_binary)
{
    char *copy = arena_strndup(params->arena, bytes, len);
    if (!copy)
        params->failed = true;
    add_param(params, copy, len, is_binary);
}

void param_text(struct postgres_params *params, const char *text)
{
    add_param(params, text, 0, false);
}

void param_int(struct postgres_params *params, int64_t value)
{
    char text[24];
    int len = snprintf(text, sizeof text, "%" PRId64, value);
    add_copy(params, text, (size_t)len, false);
}

void param_double(struct postgres_params *params, double value)
{
    char text[32];
    int len = snprintf(text, sizeof text, "%.17g", value); /* every bit of it */
    add_copy(params, text, (size_t)len, false);
}

static uint64_t time_value(int64_t us)
{
    return (uint64_t)(us - POSTGRES_EPOCH_US);
}

void param_time(struct postgres_params *params, int64_t us)
{
    uint64_t value = htobe64(time_value(us));
    add_copy(params, (const char *)&value, sizeof value, true);
}

void param_time_or_ends(struct postgres_params *params, int64_t us)
{
    if (us > 0 && us < INSTANT_MAX)
        param_time(params, us);
    else
        param_text(params, us <= 0 ? "-infinity" : "infinity");
}

struct postgres_params postgres_params(struct store_tx *tx, const struct param_value *values,
                                       size_t count)
{
    struct postgres_params params = {.arena = tx->arena};
    for (const struct param_value *value = values; value < values + count; value++) {
        params.is_absent |= value->kind == PARAM_ID && !id_is_valid(value->text);
        if (value->kind == PARAM_TIME)
            param_time(&params, value->number);
        else if (value->kind == PARAM_INT || (value->kind == PARAM_PLACE && value->number >= 0))
            param_int(&params, value->number);
        else
            param_text(&params, value->text);
    }
    return params;
}

/* ---- arrays -------------------------------------------------------------------------------- */

/* Numbers of the types, which never change. */
enum {
    TYPE_BOOL = 16,
    TYPE_BIGINT = 20,
    TYPE_INT = 23,
    TYPE_TEXT = 25,
    TYPE_JSON = 114,
    TYPE_TIME = 1184, /* timestamptz */
    TYPE_UUID = 2950,
    TYPE_JSONB = 3802,
};

/* In place of the length of an element. */
#define NULL_LENGTH UINT32_MAX

/* The words before the elements: dimensions, whether there are nulls, type, count, first index. */
enum { ARRAY_DIMENSIONS, ARRAY_NULLS, ARRAY_TYPE, ARRAY_COUNT, ARRAY_FIRST, ARRAY_HEAD };

static void add_word(struct buf *array, uint32_t value)
{
    value = htobe32(value);
    buf_add(array, (const char *)&value, sizeof value);
}

/* Most columns are null in all rows, so nulls are written when something else follows. */
static void begin_element(struct postgres_array *array, uint32_t type)
{
    assert(array->null_count == array->count || array->type == type);
    if (array->null_count == array->count) {
        array->type = type;
        for (int i = 0; i < ARRAY_HEAD; i++)
            add_word(&array->bytes, 0); /* end_array() knows what */
        for (uint32_t i = 0; i < array->null_count; i++)
            add_word(&array->bytes, NULL_LENGTH);
    }
    array->count++;
}

static void add_null(struct postgres_array *array)
{
    if (array->null_count < array->count)
        add_word(&array->bytes, NULL_LENGTH);
    array->count++;
    array->null_count++;
}

static void add_element(struct postgres_array *array, uint32_t type, const void *bytes,
                        size_t len)
{
    begin_element(array, type);
    add_word(&array->bytes, (uint32_t)len);
    buf_add(&array->bytes, bytes, len);
}

static void add_string(struct postgres_array *array, uint32_t type, const char *text)
{
    if (text)
        add_element(array, type, text, strlen(text));
    else
        add_null(array);
}

static void add_text(struct postgres_array *array, const char *text)
{
    add_string(array, TYPE_TEXT, text);
}

static void add_int(struct postgres_array *array, int32_t value)
{
    uint32_t bytes = htobe32((uint32_t)value);
    add_element(array, TYPE_INT, &bytes, sizeof bytes);
}

/* Eight bytes: TYPE_BIGINT or TYPE_TIME. */
static void add_bigint(struct postgres_array *array, uint32_t type, uint64_t value)
{
    uint64_t bytes = htobe64(value);
    add_element(array, type, &bytes, sizeof bytes);
}

static void add_json(struct postgres_array *array, const char *json)
{
    if (!json) {
        add_null(array);
        return;
    }
    size_t len = strlen(json);
    begin_element(array, TYPE_JSONB);
    add_word(&array->bytes, (uint32_t)len + 1);
    buf_char(&array->bytes, 1); /* the version of the form, which is text */
    buf_add(&array->bytes, json, len);
}

static unsigned hex_value(char digit)
{
    return (unsigned)(digit <= '9' ? digit - '0' : digit - 'a' + 10);
}

void uuid_bytes(const char *id, unsigned char ret_bytes[UUID_BYTES])
{
    for (size_t i = 0; i < UUID_BYTES; i++, id += 2) {
        id += *id == '-';
        ret_bytes[i] = (unsigned char)(hex_value(id[0]) << 4 | hex_value(id[1]));
    }
}

static void add_uuid(struct postgres_array *array, const char *id)
{
    unsigned char bytes[UUID_BYTES];
    if (!id || !id_is_valid(id)) {
        add_null(array);
        return;
    }
    uuid_bytes(id, bytes);
    add_element(array, TYPE_UUID, bytes, sizeof bytes);
}

/* Writes the head, now that the elements are known. */
static void end_array(struct postgres_array *array)
{
    uint32_t head[ARRAY_HEAD] = {
        [ARRAY_DIMENSIONS] = htobe32(1),     [ARRAY_NULLS] = htobe32(array->null_count > 0),
        [ARRAY_TYPE] = htobe32(array->type), [ARRAY_COUNT] = htobe32(array->count),
        [ARRAY_FIRST] = htobe32(1),
    };
    if (!buf_failed(&array->bytes))
        memcpy(array->bytes.text, head, sizeof head);
}

static void reset_array(struct postgres_array *array)
{
    buf_reset(&array->bytes);
    array->count = array->null_count = 0;
}

/* Null stands for an array without rows, and for one of nulls: unnest() makes as many nulls as other
 * arrays have rows.  The bytes must live until the parameters are used. */
static void param_array(struct postgres_params *params, struct postgres_array *array)
{
    if (array->null_count == array->count) {
        param_text(params, NULL);
        return;
    }
    end_array(array);
    params->failed |= buf_failed(&array->bytes);
    add_param(params, buf_text(&array->bytes), array->bytes.len, true);
}

static void param_array_copy(struct postgres_params *params, struct postgres_array *array)
{
    param_array(params, array);
    int last = params->count - 1;
    if (params->values[last])
        params->values[last] =
            arena_strndup(params->arena, params->values[last], array->bytes.len);
    params->failed |= array->null_count < array->count && !params->values[last];
    buf_done(&array->bytes);
}

void param_uuids(struct postgres_params *params, const char *const *ids, size_t count)
{
    struct postgres_array array = {0};
    for (size_t i = 0; i < count; i++)
        add_uuid(&array, ids[i]);
    param_array_copy(params, &array);
}

void param_texts(struct postgres_params *params, const char *const *texts, size_t count)
{
    struct postgres_array array = {0};
    for (size_t i = 0; i < count; i++)
        add_text(&array, texts[i]);
    param_array_copy(params, &array);
}

void param_jsons(struct postgres_params *params, const char *const *jsons, size_t count)
{
    struct postgres_array array = {0};
    for (size_t i = 0; i < count; i++)
        add_json(&array, jsons[i]);
    param_array_copy(params, &array);
}

void param_bytes(struct postgres_params *params, const struct buf *bytes)
{
    params->failed |= buf_failed(bytes);
    add_param(params, bytes->text, bytes->len, true);
}

/* ---- columns ------------------------------------------------------------------------------- */

void columns_done(struct postgres_columns *columns)
{
    for (int i = 0; i < POSTGRES_PARAMS_MAX; i++)
        buf_done(&columns->arrays[i].bytes);
}

void columns_reset(struct postgres_columns *columns)
{
    for (int i = 0; i < columns->count; i++)
        reset_array(&columns->arrays[i]);
    columns->next = 0;
}

static struct postgres_array *next_column(struct postgres_columns *columns)
{
    assert(columns->next < POSTGRES_PARAMS_MAX);
    return &columns->arrays[columns->next++];
}

void columns_text(struct postgres_columns *columns, const char *text)
{
    add_text(next_column(columns), text);
}

void columns_uuid(struct postgres_columns *columns, const char *id)
{
    add_uuid(next_column(columns), id);
}

void columns_json(struct postgres_columns *columns, const char *json)
{
    add_json(next_column(columns), json);
}

void columns_int(struct postgres_columns *columns, int32_t value)
{
    add_int(next_column(columns), value);
}

/* False is null, as in rows. */
void columns_bool(struct postgres_columns *columns, bool value)
{
    struct postgres_array *array = next_column(columns);
    if (value)
        add_element(array, TYPE_BOOL, "\1", 1);
    else
        add_null(array);
}

void columns_bigint(struct postgres_columns *columns, int64_t value)
{
    add_bigint(next_column(columns), TYPE_BIGINT, (uint64_t)value);
}

void columns_time(struct postgres_columns *columns, int64_t us)
{
    add_bigint(next_column(columns), TYPE_TIME, time_value(us));
}

static uint32_t number_type(enum column_kind kind)
{
    switch (kind) {
    case BOOL_COLUMN:
        return TYPE_BOOL;
    case TIME_COLUMN:
        return TYPE_TIME;
    case INT64_COLUMN:
        return TYPE_BIGINT;
    default:
        return TYPE_INT;
    }
}

/* A 0 or false travels as null, and the SQL turns it back: what no row has costs nothing.  Not so in
 * a key, with which rows are found. */
static bool is_sent_as_null(const struct column *column, int64_t value)
{
    if (column->flags & COLUMN_KEY)
        return false;
    if (column->kind == PLACE_COLUMN)
        return value < 0 && column->flags & COLUMN_NULL;
    return value == 0 && (column->kind != TIME_COLUMN || column->flags & COLUMN_NULL);
}

static void add_number(struct postgres_array *array, const struct column *column, int64_t value)
{
    uint32_t type = number_type(column->kind);
    if (is_sent_as_null(column, value))
        add_null(array);
    else if (type == TYPE_BOOL)
        add_element(array, type, "\1", 1);
    else if (type == TYPE_INT)
        add_int(array, (int32_t)value);
    else
        add_bigint(array, type, type == TYPE_TIME ? time_value(value) : (uint64_t)value);
}

static void add_member(struct postgres_array *array, const struct column *column,
                       const void *row)
{
    switch (column->kind) {
    case TEXT_COLUMN:
    case WORD_COLUMN:
    case CODE_COLUMN:
        add_text(array, member_text(column, row));
        break;
    case JSON_COLUMN:
        add_json(array, member_text(column, row));
        break;
    case EXACTJSON_COLUMN:
        add_string(array, TYPE_JSON, member_text(column, row));
        break;
    case UUID_COLUMN:
        add_uuid(array, member_text(column, row));
        break;
    default:
        add_number(array, column, member_int(column, row));
    }
}

void columns_row(struct postgres_columns *columns, const struct row_type *type,
                 unsigned written, const void *row)
{
    for (size_t i = 0; i < type->count; i++)
        if (type->columns[i].flags & written && !(type->columns[i].flags & COLUMN_NOW))
            add_member(next_column(columns), &type->columns[i], row);
    columns_end_row(columns);
}

void columns_end_row(struct postgres_columns *columns)
{
    assert(columns->count == 0 || columns->next == columns->count);
    columns->count = columns->next;
    columns->next = 0;
}

size_t columns_size(const struct postgres_columns *columns)
{
    size_t size = 0;
    for (int i = 0; i < columns->count; i++)
        size += columns->arrays[i].bytes.len;
    return size;
}

void param_columns(struct postgres_params *params, struct postgres_columns *columns)
{
    for (int i = 0; i < columns->count; i++)
        param_array(params, &columns->arrays[i]);
}

void param_columns_copied(struct postgres_params *params, struct postgres_columns *columns)
{
    for (int i = 0; i < columns->count; i++)
        param_array_copy(params, &columns->arrays[i]);
}
