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

struct sqlite_session *sqlite_session_of(struct store_tx *tx)
{
    return (struct sqlite_session *)tx->session;
}

void statement_finalize(struct statement *statement)
{
    sqlite3_finalize(statement->handle);
    mem_free(statement->results);
    mem_free(statement->parameters);
    *statement = (struct statement){0};
}

struct query query_open(struct sqlite_session *session, enum query_number number,
                        cairn_error *reterr)
{
    struct statement *statement = &session->statements[number];
    struct query query = {.session = session,
                          .statement = statement,
                          .doing = sql_queries[number].doing,
                          .reterr = reterr,
                          .rc = SQLITE_OK};
    if (!statement->handle) {
        query.rc = sqlite3_prepare_v3(session->connection->db, sql_queries[number].sql, -1,
                                      SQLITE_PREPARE_PERSISTENT, &statement->handle, NULL);
        statement->now = sqlite3_bind_parameter_index(statement->handle, ":now");
    }
    query.handle = statement->handle;
    return query;
}

struct query query_begin(struct store_tx *tx, enum query_number number, cairn_error *reterr)
{
    struct query query = query_open(sqlite_session_of(tx), number, reterr);
    assert(tx->session->kind == SESSION_WRITER || sqlite3_stmt_readonly(query.handle));
    query.arena = tx->arena;
    if (query.rc == SQLITE_OK && query.statement->now)
        query.rc = sqlite3_bind_int64(query.handle, query.statement->now, tx->now_us);
    return query;
}

/* Bound texts are not copied, so nothing may stay bound. */
void query_end(struct query *query)
{
    if (!query->handle)
        return;
    sqlite3_reset(query->handle);
    sqlite3_clear_bindings(query->handle);
}

int query_step(struct query *query)
{
    if (query->rc == SQLITE_OK || query->rc == SQLITE_ROW)
        query->rc = sqlite3_step(query->handle);
    return query->rc;
}

cairn_code query_refused(struct query *query)
{
    struct sqlite_session *session = query->session;
    struct sqlite_store *store = (struct sqlite_store *)session->base.store;
    if (sqlite_is_lost(query->rc))
        session->is_lost = true;
    return sqlite_refused(store->path, session->connection->db, query->rc, query->doing,
                          query->reterr);
}

cairn_code query_ended(struct query *query)
{
    if (query->rc == SQLITE_OK || query->rc == SQLITE_ROW || query->rc == SQLITE_DONE)
        return CAIRN_OK;
    return query_refused(query);
}

cairn_code query_run(struct query *query)
{
    return query_step(query) == SQLITE_DONE ? CAIRN_OK : query_refused(query);
}

cairn_code query_change(struct query *query, size_t *ret_count)
{
    cairn_code code = query_run(query);
    if (!code)
        *ret_count = (size_t)sqlite3_changes64(query->session->connection->db);
    return code;
}

cairn_code query_find(struct query *query)
{
    switch (query_step(query)) {
    case SQLITE_ROW:
        return CAIRN_OK;
    case SQLITE_DONE:
        return CAIRN_E_NOT_FOUND; /* an answer: reterr stays as it was */
    default:
        return query_refused(query);
    }
}

cairn_code query_int(struct query *query, int64_t *ret_value)
{
    cairn_code code = query_find(query);
    if (!code)
        *ret_value = sqlite3_column_int64(query->handle, 0);
    return code;
}

/* ---- Parameters and results by name and number ------------------------------------------- */

void bind_text_at(struct query *query, int parameter, const char *text)
{
    if (query->rc == SQLITE_OK && text) /* a parameter that is not bound is NULL */
        query->rc = sqlite3_bind_text64(query->handle, parameter, text, strlen(text),
                                        SQLITE_STATIC, SQLITE_UTF8);
}

void bind_int_at(struct query *query, int parameter, int64_t value)
{
    if (query->rc == SQLITE_OK)
        query->rc = sqlite3_bind_int64(query->handle, parameter, value);
}

static int find_parameter(struct query *query, const char *name)
{
    int number = sqlite3_bind_parameter_index(query->handle, name);
    assert(number > 0 || query->rc != SQLITE_OK);
    return number;
}

void bind_text(struct query *query, const char *name, const char *text)
{
    if (text)
        bind_text_at(query, find_parameter(query, name), text);
}

void bind_int(struct query *query, const char *name, int64_t value)
{
    bind_int_at(query, find_parameter(query, name), value);
}

void bind_size(struct query *query, const char *name, size_t size)
{
    bind_int(query, name, size > INT64_MAX ? INT64_MAX : (int64_t)size);
}

void bind_bytes(struct query *query, const char *name, const struct buf *bytes)
{
    int parameter = find_parameter(query, name);
    if (query->rc == SQLITE_OK && bytes->len)
        query->rc = sqlite3_bind_blob64(query->handle, parameter, bytes->text, bytes->len,
                                        SQLITE_STATIC);
}

void bind_place(struct query *query, const char *name, int32_t place)
{
    if (place != -1)
        bind_int(query, name, place);
}

void bind_page(struct query *query, const char *owner, int64_t after)
{
    bind_text(query, ":instance_id", owner);
    bind_int(query, ":after", after);
}

const char *result_text(struct query *query, int column)
{
    if (sqlite3_column_type(query->handle, column) == SQLITE_NULL)
        return NULL;
    const void *bytes = sqlite3_column_blob(query->handle, column); /* NULL when empty */
    size_t len = (size_t)sqlite3_column_bytes(query->handle, column);
    char *text = arena_strndup(query->arena, bytes ? bytes : "", len);
    if (!text)
        query->rc = SQLITE_NOMEM;
    return text;
}

cairn_code texts_read(struct query *query, const char **ret_texts, size_t room,
                      size_t *ret_count)
{
    size_t count = 0;
    bind_size(query, ":room", room);
    while (count < room && query_step(query) == SQLITE_ROW)
        ret_texts[count++] = result_text(query, 0);
    *ret_count = count;
    return query_ended(query);
}

/* ---- Types ------------------------------------------------------------------------------- */

/* Every BLOB is greater than every text, so an empty one stands for "no end". */
void bind_type_range(struct query *query, struct type_range range)
{
    bind_text(query, ":from", range.from);
    if (range.below)
        bind_text(query, ":below", range.below);
    else if (query->rc == SQLITE_OK)
        query->rc = sqlite3_bind_zeroblob(query->handle, find_parameter(query, ":below"), 0);
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

void bind_types(struct query *query, const char *pattern)
{
    struct type_range range = {.from = ""};
    if (pattern && !type_range(pattern, query->arena, &range))
        query->rc = SQLITE_NOMEM;
    bind_type_range(query, range);
}
