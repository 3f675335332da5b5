/* store/postgres/param.c - values on their way to the database, as text.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "base/error.h"
#include "store/postgres/postgres.h"

#include <assert.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

enum { TIME_TEXT = 40 };

/* ISO 8601 with six decimals: exact, and read alike under every DateStyle and TimeZone. */
static void format_time(int64_t us, char text[TIME_TEXT])
{
    time_t seconds = (time_t)(us / US_PER_SEC);
    struct tm parts;
    gmtime_r(&seconds, &parts);
    size_t len = strftime(text, TIME_TEXT, "%Y-%m-%dT%H:%M:%S", &parts);
    snprintf(text + len, TIME_TEXT - len, ".%06dZ", (int)(us % US_PER_SEC));
}

static void add_param(struct postgres_params *params, const char *value)
{
    assert(params->count < POSTGRES_PARAMS_MAX);
    params->values[params->count++] = value;
}

static void add_copy(struct postgres_params *params, const char *text)
{
    char *copy = arena_strdup(params->arena, text);
    if (!copy)
        params->failed = true;
    add_param(params, copy);
}

void param_text(struct postgres_params *params, const char *text)
{
    add_param(params, text);
}

void param_int(struct postgres_params *params, int64_t value)
{
    char text[24];
    snprintf(text, sizeof text, "%" PRId64, value);
    add_copy(params, text);
}

void param_double(struct postgres_params *params, double value)
{
    char text[32];
    snprintf(text, sizeof text, "%.17g", value); /* every bit of it */
    add_copy(params, text);
}

void param_bool(struct postgres_params *params, bool value)
{
    add_param(params, value ? "t" : "f");
}

void param_time(struct postgres_params *params, int64_t us)
{
    char text[TIME_TEXT];
    format_time(us, text);
    add_copy(params, text);
}

/* An element of an array literal: quoted, so that only quotes and backslashes need care. */
static void add_element(struct buf *array, const char *text)
{
    buf_char(array, array->len ? ',' : '{');
    if (!text) {
        buf_str(array, "NULL");
        return;
    }
    buf_char(array, '"');
    for (;;) {
        size_t len = strcspn(text, "\"\\");
        buf_add(array, text, len);
        text += len;
        if (!*text)
            break;
        buf_char(array, '\\');
        buf_char(array, *text++);
    }
    buf_char(array, '"');
}

static void end_array(struct buf *array)
{
    buf_str(array, array->len ? "}" : "{}");
}

void param_texts(struct postgres_params *params, const char *const *texts, size_t count)
{
    struct buf array = {0};
    for (size_t i = 0; i < count; i++)
        add_element(&array, texts[i]);
    end_array(&array);
    if (buf_failed(&array))
        params->failed = true;
    add_copy(params, buf_text(&array));
    buf_done(&array);
}

void columns_done(struct postgres_columns *columns)
{
    for (int i = 0; i < POSTGRES_PARAMS_MAX; i++)
        buf_done(&columns->columns[i]);
}

void columns_reset(struct postgres_columns *columns)
{
    for (int i = 0; i < POSTGRES_PARAMS_MAX; i++)
        buf_reset(&columns->columns[i]);
    columns->next = 0;
}

void column_text(struct postgres_columns *columns, const char *text)
{
    assert(columns->next < POSTGRES_PARAMS_MAX);
    add_element(&columns->columns[columns->next++], text);
}

void column_int(struct postgres_columns *columns, int64_t value)
{
    char text[24];
    snprintf(text, sizeof text, "%" PRId64, value);
    column_text(columns, text);
}

void column_bool(struct postgres_columns *columns, bool value)
{
    column_text(columns, value ? "t" : "f");
}

void column_time(struct postgres_columns *columns, int64_t us)
{
    char text[TIME_TEXT];
    format_time(us, text);
    column_text(columns, text);
}

void column_time_or_null(struct postgres_columns *columns, int64_t us)
{
    if (us)
        column_time(columns, us);
    else
        column_text(columns, NULL);
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
        size += columns->columns[i].len;
    return size;
}

void param_columns(struct postgres_params *params, struct postgres_columns *columns, int count)
{
    for (int i = 0; i < count; i++) {
        end_array(&columns->columns[i]);
        if (buf_failed(&columns->columns[i]))
            params->failed = true;
        add_param(params, buf_text(&columns->columns[i]));
    }
}
