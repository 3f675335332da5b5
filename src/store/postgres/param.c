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

/* ---- single values --------------------------------------------------------------------------
 */

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

void param_bool(struct postgres_params *params, bool value)
{
    add_param(params, value ? "t" : "f", 0, false);
}

static uint64_t time_value(int64_t us)
{
    return htobe64((uint64_t)(us - POSTGRES_EPOCH_US));
}

void param_time(struct postgres_params *params, int64_t us)
{
    uint64_t value = time_value(us);
    add_copy(params, (const char *)&value, sizeof value, true);
}

void param_time_or_ends(struct postgres_params *params, int64_t us)
{
    if (us > 0 && us < INSTANT_MAX)
        param_time(params, us);
    else
        param_text(params, us <= 0 ? "-infinity" : "infinity");
}

/* ---- arrays ---------------------------------------------------------------------------------
 */

/* Numbers of the types, which never change. */
enum {
    TYPE_BOOL = 16,
    TYPE_BIGINT = 20,
    TYPE_INT = 23,
    TYPE_TEXT = 25,
    TYPE_TIME = 1184, /* timestamptz */
    TYPE_UUID = 2950,
    TYPE_JSON = 3802, /* jsonb */
};

/* What stands before the elements: dimensions (1, or 0 of an empty array), whether there are nulls,
 * type, count, first index. */
enum { ARRAY_DIMENSIONS, ARRAY_NULLS, ARRAY_TYPE, ARRAY_COUNT, ARRAY_FIRST, ARRAY_HEAD };
enum { ARRAY_EMPTY_HEAD = ARRAY_COUNT };

static void add_word(struct buf *array, uint32_t value)
{
    value = htobe32(value);
    buf_add(array, (const char *)&value, sizeof value);
}

static void begin_element(struct postgres_array *array, uint32_t type)
{
    assert(array->count == 0 || array->type == type);
    if (array->count++ == 0) {
        array->type = type;
        for (int i = 0; i < ARRAY_HEAD; i++)
            add_word(&array->bytes, 0); /* end_array() knows what */
    }
}

static void add_null(struct postgres_array *array, uint32_t type)
{
    begin_element(array, type);
    array->null_count++;
    add_word(&array->bytes, UINT32_MAX);
}

static void add_element(struct postgres_array *array, uint32_t type, const void *bytes,
                        size_t len)
{
    begin_element(array, type);
    add_word(&array->bytes, (uint32_t)len);
    buf_add(&array->bytes, bytes, len);
}

static void add_text(struct postgres_array *array, const char *text)
{
    if (text)
        add_element(array, TYPE_TEXT, text, strlen(text));
    else
        add_null(array, TYPE_TEXT);
}

static void add_json(struct postgres_array *array, const char *json)
{
    if (!json) {
        add_null(array, TYPE_JSON);
        return;
    }
    size_t len = strlen(json);
    begin_element(array, TYPE_JSON);
    add_word(&array->bytes, (uint32_t)len + 1);
    buf_char(&array->bytes, 1); /* the version of the form, which is text */
    buf_add(&array->bytes, json, len);
}

static unsigned hex_value(char digit)
{
    return (unsigned)(digit <= '9' ? digit - '0' : digit - 'a' + 10);
}

static void add_uuid(struct postgres_array *array, const char *id)
{
    unsigned char bytes[16];
    if (!id || !id_is_valid(id)) {
        add_null(array, TYPE_UUID);
        return;
    }
    for (size_t i = 0; i < sizeof bytes; i++, id += 2) {
        id += *id == '-';
        bytes[i] = (unsigned char)(hex_value(id[0]) << 4 | hex_value(id[1]));
    }
    add_element(array, TYPE_UUID, bytes, sizeof bytes);
}

/* Says what the elements are, now that they are known. */
static void end_array(struct postgres_array *array, uint32_t type)
{
    uint32_t head[ARRAY_HEAD] = {
        [ARRAY_DIMENSIONS] = htobe32(array->count > 0),
        [ARRAY_NULLS] = htobe32(array->null_count > 0),
        [ARRAY_TYPE] = htobe32(type),
        [ARRAY_COUNT] = htobe32(array->count),
        [ARRAY_FIRST] = htobe32(1),
    };
    if (array->count == 0)
        buf_add(&array->bytes, (const char *)head, ARRAY_EMPTY_HEAD * sizeof *head);
    else if (!buf_failed(&array->bytes))
        memcpy(array->bytes.text, head, sizeof head);
}

static void reset_array(struct postgres_array *array)
{
    buf_reset(&array->bytes);
    array->count = array->null_count = 0;
}

static void param_array(struct postgres_params *params, struct postgres_array *array,
                        uint32_t type)
{
    end_array(array, type);
    if (buf_failed(&array->bytes))
        params->failed = true;
    add_param(params, buf_text(&array->bytes), array->bytes.len, true);
}

static void param_copied(struct postgres_params *params, struct postgres_array *array,
                         uint32_t type)
{
    end_array(array, type);
    if (buf_failed(&array->bytes))
        params->failed = true;
    add_copy(params, buf_text(&array->bytes), array->bytes.len, true);
    buf_done(&array->bytes);
}

void param_texts(struct postgres_params *params, const char *const *texts, size_t count)
{
    struct postgres_array array = {0};
    for (size_t i = 0; i < count; i++)
        add_text(&array, texts[i]);
    param_copied(params, &array, TYPE_TEXT);
}

void param_ints(struct postgres_params *params, const int32_t *values, size_t count)
{
    struct postgres_array array = {0};
    for (size_t i = 0; i < count; i++) {
        uint32_t bytes = htobe32((uint32_t)values[i]);
        add_element(&array, TYPE_INT, &bytes, sizeof bytes);
    }
    param_copied(params, &array, TYPE_INT);
}

void param_uuids(struct postgres_params *params, const char *const *ids, size_t count)
{
    struct postgres_array array = {0};
    for (size_t i = 0; i < count; i++)
        add_uuid(&array, ids[i]);
    param_copied(params, &array, TYPE_UUID);
}

void param_jsons(struct postgres_params *params, const char *const *jsons, size_t count)
{
    struct postgres_array array = {0};
    for (size_t i = 0; i < count; i++)
        add_json(&array, jsons[i]);
    param_copied(params, &array, TYPE_JSON);
}

void param_bigints(struct postgres_params *params, const int64_t *values, size_t count)
{
    struct postgres_array array = {0};
    for (size_t i = 0; i < count; i++) {
        uint64_t value = htobe64((uint64_t)values[i]);
        add_element(&array, TYPE_BIGINT, &value, sizeof value);
    }
    param_copied(params, &array, TYPE_BIGINT);
}

/* ---- columns --------------------------------------------------------------------------------
 */

void columns_done(struct postgres_columns *columns)
{
    for (int i = 0; i < POSTGRES_PARAMS_MAX; i++)
        buf_done(&columns->arrays[i].bytes);
}

void columns_reset(struct postgres_columns *columns)
{
    for (int i = 0; i < POSTGRES_PARAMS_MAX; i++)
        reset_array(&columns->arrays[i]);
    columns->next = 0;
}

static struct postgres_array *next_column(struct postgres_columns *columns)
{
    assert(columns->next < POSTGRES_PARAMS_MAX);
    return &columns->arrays[columns->next++];
}

void column_text(struct postgres_columns *columns, const char *text)
{
    add_text(next_column(columns), text);
}

void column_uuid(struct postgres_columns *columns, const char *id)
{
    add_uuid(next_column(columns), id);
}

void column_json(struct postgres_columns *columns, const char *json)
{
    add_json(next_column(columns), json);
}

void column_int(struct postgres_columns *columns, int32_t value)
{
    uint32_t bytes = htobe32((uint32_t)value);
    add_element(next_column(columns), TYPE_INT, &bytes, sizeof bytes);
}

void column_bigint(struct postgres_columns *columns, int64_t value)
{
    uint64_t bytes = htobe64((uint64_t)value);
    add_element(next_column(columns), TYPE_BIGINT, &bytes, sizeof bytes);
}

void column_bool(struct postgres_columns *columns, bool value)
{
    add_element(next_column(columns), TYPE_BOOL, value ? "\1" : "\0", 1);
}

void column_count(struct postgres_columns *columns, int32_t value)
{
    if (value)
        column_int(columns, value);
    else
        add_null(next_column(columns), TYPE_INT);
}

void column_big_count(struct postgres_columns *columns, int64_t value)
{
    if (value)
        column_bigint(columns, value);
    else
        add_null(next_column(columns), TYPE_BIGINT);
}

void column_flag(struct postgres_columns *columns, bool value)
{
    if (value)
        column_bool(columns, value);
    else
        add_null(next_column(columns), TYPE_BOOL);
}

void column_time(struct postgres_columns *columns, int64_t us)
{
    uint64_t bytes = time_value(us);
    add_element(next_column(columns), TYPE_TIME, &bytes, sizeof bytes);
}

void column_time_or_null(struct postgres_columns *columns, int64_t us)
{
    if (us)
        column_time(columns, us);
    else
        add_null(next_column(columns), TYPE_TIME);
}

void columns_end_row(struct postgres_columns *columns, int count)
{
    assert(columns->next == count);
    (void)count;
    columns->next = 0;
}

size_t columns_size(const struct postgres_columns *columns)
{
    size_t size = 0;
    for (int i = 0; i < POSTGRES_PARAMS_MAX; i++)
        size += columns->arrays[i].bytes.len;
    return size;
}

void param_columns(struct postgres_params *params, struct postgres_columns *columns, int count)
{
    for (int i = 0; i < count; i++) {
        struct postgres_array *array = &columns->arrays[i];
        assert(array->count > 0);
        if (array->null_count == array->count)
            reset_array(array); /* unnest() fills up the shorter ones with nulls */
        param_array(params, array, array->type);
    }
}
