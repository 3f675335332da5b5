/* store/postgres/row.c - values and rows that come back, in PostgreSQL's binary form.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "base/error.h"
#include "base/json.h"
#include "base/mem.h"
#include "base/scan.h"
#include "store/postgres/postgres.h"

#include <assert.h>
#include <endian.h>
#include <string.h>

void reader_done(struct postgres_reader *reader)
{
    PQclear(reader->result);
    reader->result = NULL;
}

/* ---- values --------------------------------------------------------------------------------- */

const char *value_text(struct postgres_reader *reader, int column)
{
    if (PQgetisnull(reader->result, reader->row, column))
        return NULL;
    const char *text = PQgetvalue(reader->result, reader->row, column);
    size_t len = (size_t)PQgetlength(reader->result, reader->row, column);
    char *copy = arena_strndup(reader->arena, text, len);
    if (!copy)
        reader->failed = true;
    return copy;
}

/* jsonb sorts members by the length of their names; objects of our own have an order. */
static const struct own_object {
    const char *column;
    const char *members[5];
} own_objects[] = {
    {"last_error", {"step", "message", "attempt", "at"}},
    {"undo_error", {"step", "message", "attempt", "at"}},
    {"signal", {"id", "event", "payload"}},
    {"retry", {"backoff", "base_ms", "max_ms", "jitter"}},
};

static const struct own_object *own_object(const char *column)
{
    for (size_t i = 0; i < sizeof own_objects / sizeof *own_objects; i++)
        if (strcmp(own_objects[i].column, column) == 0)
            return &own_objects[i];
    return NULL;
}

static bool is_own_member(const struct own_object *own, struct slice name)
{
    for (const char *const *member = own->members; *member; member++)
        if (slice_is(name, *member))
            return true;
    return false;
}

/* The same object with its members in their order; anything else, and an object that has other members
 * as well, as it is. */
static const char *put_in_order(struct postgres_reader *reader, const struct own_object *own,
                                const char *json)
{
    struct slice object, name, value;
    struct scan scan;
    struct buf buf = {0};
    struct json_out out = {.buf = &buf};
    if (!json || !scan_text(json, strlen(json), &object) || !scan_object(object, &scan))
        return json;
    while (scan_member(&scan, &name, &value))
        if (!is_own_member(own, name))
            return json;
    json_open(&out, '{');
    for (const char *const *member = own->members; *member; member++) {
        value = scan_find(object, *member);
        if (value.len)
            json_rawn(json_key(&out, *member), value.text, value.len);
    }
    json_close(&out, '}');
    const char *made = buf_keep(&buf, reader->arena);
    reader->failed |= !made;
    return made;
}

/* jsonb writes blanks, and numbers without exponents; what is handed on has neither. */
static const char *value_json(struct postgres_reader *reader, int column)
{
    if (PQgetisnull(reader->result, reader->row, column))
        return NULL;
    size_t len = (size_t)PQgetlength(reader->result, reader->row, column);
    char *copy = arena_alloc(reader->arena, len + 1);
    if (!copy) {
        reader->failed = true;
        return NULL;
    }
    copy[json_normal(PQgetvalue(reader->result, reader->row, column), len, copy)] = '\0';
    return copy;
}

static const char *value_of_column(struct postgres_reader *reader, int at, const char *column)
{
    const char *json = value_json(reader, at);
    const struct own_object *own = json ? own_object(column) : NULL;
    return own ? put_in_order(reader, own, json) : json;
}

int64_t value_int(struct postgres_reader *reader, int column)
{
    if (PQgetisnull(reader->result, reader->row, column))
        return 0;
    const char *bytes = PQgetvalue(reader->result, reader->row, column);
    if (PQgetlength(reader->result, reader->row, column) == 4) {
        uint32_t value;
        memcpy(&value, bytes, sizeof value);
        return (int32_t)be32toh(value);
    }
    assert(PQgetlength(reader->result, reader->row, column) == 8);
    uint64_t value;
    memcpy(&value, bytes, sizeof value);
    return (int64_t)be64toh(value);
}

bool value_bool(struct postgres_reader *reader, int column)
{
    return !PQgetisnull(reader->result, reader->row, column) &&
           PQgetvalue(reader->result, reader->row, column)[0] != 0;
}

/* Held within what an instant can be: SQL knows infinity, and the years before the first.  0 is no time at all, so
 * the beginning of 1970 is a microsecond later. */
int64_t value_time(struct postgres_reader *reader, int column)
{
    int64_t us = 0;
    if (PQgetisnull(reader->result, reader->row, column))
        return 0;
    if (__builtin_add_overflow(value_int(reader, column), POSTGRES_EPOCH_US, &us))
        return INSTANT_MAX;
    return us == 0 ? 1 : instant_held(us);
}

/* ---- rows ----------------------------------------------------------------------------------- */

static void read_member(struct postgres_reader *reader, int at, const struct column *column,
                        void *row)
{
    bool is_null = PQgetisnull(reader->result, reader->row, at);
    switch (column->kind) {
    case WORD_COLUMN:
    case CODE_COLUMN:
        member_set_text(column, row, PQgetvalue(reader->result, reader->row, at));
        break;
    case JSON_COLUMN:
        member_set_text(column, row, value_of_column(reader, at, column->name));
        break;
    case TEXT_COLUMN:
    case EXACTJSON_COLUMN:
    case UUID_COLUMN:
        member_set_text(column, row, value_text(reader, at));
        break;
    case TIME_COLUMN:
        member_set_int(column, row, value_time(reader, at));
        break;
    case BOOL_COLUMN:
        member_set_int(column, row, value_bool(reader, at));
        break;
    case PLACE_COLUMN:
        member_set_int(column, row, is_null ? -1 : value_int(reader, at));
        break;
    default:
        member_set_int(column, row, value_int(reader, at));
    }
}

void postgres_read_row(struct postgres_reader *reader, int first, const struct row_type *type,
                       void *ret_row)
{
    int count = PQnfields(reader->result) - first;
    memset(ret_row, 0, type->size);
    for (int i = 0; i < count && i < (int)type->count; i++)
        read_member(reader, first + i, &type->columns[i], ret_row);
}

cairn_code postgres_read_rows(struct store_tx *tx, enum postgres_query query,
                              const struct postgres_params *params, const struct row_type *type,
                              void *ret_rows, size_t room, size_t *ret_count,
                              cairn_error *reterr)
{
    cleanup(reader_done) struct postgres_reader reader = {0};
    TRY(postgres_take_or_ask(tx, query, params, &reader, reterr));
    assert((size_t)reader.count <= room);
    (void)room;
    for (char *row = ret_rows; reader.row < reader.count; reader.row++, row += type->size)
        postgres_read_row(&reader, 0, type, row);
    *ret_count = (size_t)reader.count;
    return reader.failed ? fail_memory(reterr) : CAIRN_OK;
}

cairn_code postgres_read_one(struct store_tx *tx, enum postgres_query query,
                             const struct postgres_params *params, const struct row_type *type,
                             void *ret_row, cairn_error *reterr)
{
    size_t count = 0;
    cairn_code code = postgres_read_rows(tx, query, params, type, ret_row, 1, &count, reterr);
    return code ? code : count ? CAIRN_OK : CAIRN_E_NOT_FOUND;
}

cairn_code postgres_read_texts(struct store_tx *tx, enum postgres_query query,
                               const struct postgres_params *params, const char **ret_texts,
                               size_t *ret_count, cairn_error *reterr)
{
    cleanup(reader_done) struct postgres_reader reader = {0};
    TRY(postgres_ask(tx, query, params, &reader, reterr));
    for (; reader.row < reader.count; reader.row++)
        ret_texts[reader.row] = value_text(&reader, 0);
    *ret_count = (size_t)reader.count;
    return reader.failed ? fail_memory(reterr) : CAIRN_OK;
}

cairn_code postgres_list_after(struct store_tx *tx, enum postgres_query query, const char *id,
                               int64_t after, const struct row_type *type, void *ret_rows,
                               size_t room, size_t *ret_count, cairn_error *reterr)
{
    struct postgres_params params = PARAMS(tx, ID(id), INT(after), INT(room));
    return postgres_read_rows(tx, query, &params, type, ret_rows, room, ret_count, reterr);
}

static bool has_time_of_tx(const struct row_type *type)
{
    for (size_t i = 0; i < type->count; i++)
        if (type->columns[i].flags & COLUMN_NOW)
            return true;
    return false;
}

cairn_code postgres_write_rows(struct store_tx *tx, enum postgres_query query,
                               const struct row_type *type, unsigned written, const void *rows,
                               size_t count, cairn_error *reterr)
{
    cleanup(columns_done) struct postgres_columns columns = {0};
    const char *row = rows, *end = row + count * type->size;
    while (row < end) {
        struct postgres_params params = {.arena = tx->arena};
        columns_reset(&columns);
        for (; row < end && columns_size(&columns) < POSTGRES_PORTION; row += type->size)
            columns_row(&columns, type, written, row);
        param_columns(&params, &columns);
        if (has_time_of_tx(type))
            param_time(&params, tx->now_us);
        TRY(postgres_queue(postgres_session_of(tx), query, &params, reterr));
    }
    return CAIRN_OK;
}
