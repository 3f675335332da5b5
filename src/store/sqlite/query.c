/* store/sqlite/query.c - statements: prepared once in a session, used again and again.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "base/error.h"
#include "base/mem.h"
#include "core/pattern.h"
#include "store/sqlite/sqlite.h"
#include "store/sqlite/sqlite_sql.h"

#include <assert.h>
#include <string.h>

struct query query_begin(struct sqlite_session *session, enum query_number number)
{
    struct query query = {.session = session, .rc = SQLITE_OK};
    sqlite3_stmt **place = &session->statements[number];
    if (!*place)
        query.rc = sqlite3_prepare_v3(session->connection->db, sql_queries[number].sql, -1,
                                      SQLITE_PREPARE_PERSISTENT, place, NULL);
    query.statement = *place;
    return query;
}

/* Bound texts are not copied, so nothing may stay bound. */
void query_end(struct query *query)
{
    if (!query->statement)
        return;
    sqlite3_reset(query->statement);
    sqlite3_clear_bindings(query->statement);
}

int query_step(struct query *query)
{
    if (query->rc == SQLITE_OK || query->rc == SQLITE_ROW)
        query->rc = sqlite3_step(query->statement);
    return query->rc;
}

cairn_code query_refused(struct query *query, const char *what, cairn_error *reterr)
{
    struct sqlite_session *session = query->session;
    struct sqlite_store *store = (struct sqlite_store *)session->base.store;
    if (sqlite_is_lost(query->rc))
        session->is_lost = true;
    return sqlite_refused(store->path, session->connection->db, query->rc, what, reterr);
}

cairn_code query_ended(struct query *query, const char *what, cairn_error *reterr)
{
    if (query->rc == SQLITE_OK || query->rc == SQLITE_ROW || query->rc == SQLITE_DONE)
        return CAIRN_OK;
    return query_refused(query, what, reterr);
}

cairn_code query_run(struct query *query, const char *what, cairn_error *reterr)
{
    if (query_step(query) == SQLITE_DONE)
        return CAIRN_OK;
    return query_refused(query, what, reterr);
}

static int parameter(struct query *query, const char *name)
{
    int index = sqlite3_bind_parameter_index(query->statement, name);
    assert(index > 0);
    return index;
}

void bind_text(struct query *query, const char *name, const char *text)
{
    if (query->rc != SQLITE_OK || !text)
        return; /* what is not bound is NULL */
    query->rc = sqlite3_bind_text64(query->statement, parameter(query, name), text,
                                    strlen(text), SQLITE_STATIC, SQLITE_UTF8);
}

void bind_int(struct query *query, const char *name, int64_t value)
{
    if (query->rc == SQLITE_OK)
        query->rc = sqlite3_bind_int64(query->statement, parameter(query, name), value);
}

void bind_time(struct query *query, const char *name, int64_t us)
{
    if (us)
        bind_int(query, name, us);
}

void bind_size(struct query *query, const char *name, size_t size)
{
    bind_int(query, name, size > INT64_MAX ? INT64_MAX : (int64_t)size);
}

void bind_place(struct query *query, const char *name, int32_t place)
{
    if (place != -1)
        bind_int(query, name, place);
}

void write_text(struct row_writer *writer, const char *text)
{
    struct query *query = writer->query;
    writer->parameter++;
    if (query->rc == SQLITE_OK && text)
        query->rc = sqlite3_bind_text64(query->statement, writer->parameter, text, strlen(text),
                                        SQLITE_STATIC, SQLITE_UTF8);
}

void write_int(struct row_writer *writer, int64_t value)
{
    struct query *query = writer->query;
    writer->parameter++;
    if (query->rc == SQLITE_OK)
        query->rc = sqlite3_bind_int64(query->statement, writer->parameter, value);
}

void write_time(struct row_writer *writer, int64_t us)
{
    if (us)
        write_int(writer, us);
    else
        writer->parameter++;
}

void write_place(struct row_writer *writer, int32_t place)
{
    if (place != -1)
        write_int(writer, place);
    else
        writer->parameter++;
}

void write_end(struct row_writer *writer)
{
    assert(!writer->query->statement ||
           writer->parameter == sqlite3_bind_parameter_count(writer->query->statement));
}

/* Every BLOB is greater than every text, so an empty one stands for "no end". */
void bind_type_range(struct query *query, struct type_range range)
{
    bind_text(query, ":from", range.from);
    if (range.below)
        bind_text(query, ":below", range.below);
    else if (query->rc == SQLITE_OK)
        query->rc = sqlite3_bind_zeroblob(query->statement, parameter(query, ":below"), 0);
}

/* The least text that is greater than all that begin with `prefix`, bytewise: the last byte
 * that can be raised is.  NULL: there is none. */
static char *prefix_end(char *prefix)
{
    for (size_t len = strlen(prefix); len > 0; len--) {
        unsigned char last = (unsigned char)prefix[len - 1];
        if (last < 0xFF) {
            prefix[len - 1] = (char)(last + 1);
            prefix[len] = '\0';
            return prefix;
        }
    }
    return NULL;
}

char *type_after(const char *type, struct arena *arena)
{
    /* No text without NUL bytes lies between a type and the type followed by \1. */
    return arena_printf(arena, "%s\1", type);
}

bool type_range(const char *pattern, struct arena *arena, struct type_range *ret_range)
{
    *ret_range = (struct type_range){.from = pattern};
    if (!pattern_is_prefix(pattern)) {
        ret_range->below = type_after(pattern, arena);
        return ret_range->below;
    }
    char *from = arena_strndup(arena, pattern, strlen(pattern) - 1);
    char *below = arena_strndup(arena, pattern, strlen(pattern) - 1);
    if (!from || !below)
        return false;
    *ret_range = (struct type_range){.from = from, .below = prefix_end(below)};
    return true;
}

void bind_types(struct query *query, const char *pattern, struct arena *arena)
{
    struct type_range range = {.from = ""};
    if (pattern && !type_range(pattern, arena, &range))
        query->rc = SQLITE_NOMEM;
    bind_type_range(query, range);
}

const char *read_text(struct row_reader *reader)
{
    sqlite3_stmt *statement = reader->query->statement;
    int column = reader->column++;
    if (sqlite3_column_type(statement, column) == SQLITE_NULL)
        return NULL;
    const void *bytes = sqlite3_column_blob(statement, column); /* NULL when empty */
    size_t len = (size_t)sqlite3_column_bytes(statement, column);
    char *text = arena_strndup(reader->arena, bytes ? bytes : "", len);
    if (!text)
        reader->failed = true;
    return text;
}

int64_t read_int(struct row_reader *reader)
{
    return sqlite3_column_int64(reader->query->statement, reader->column++);
}

int32_t read_place(struct row_reader *reader)
{
    if (sqlite3_column_type(reader->query->statement, reader->column) != SQLITE_NULL)
        return (int32_t)read_int(reader);
    reader->column++;
    return -1;
}
