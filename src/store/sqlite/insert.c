/* store/sqlite/insert.c - INSERTs of many rows.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * Most columns of a new row are NULL, 0 or '', and of the others many are alike in all rows of a call.  An INSERT has a
 * parameter for each of these, and for each row those in which rows differ; and it writes many rows, so that its cursors
 * and checks are made ready once for all.
 */
#include "base/error.h"
#include "base/mem.h"
#include "store/sqlite/sqlite.h"

#include <assert.h>
#include <string.h>

static const int sizes[INSERT_SIZES] = {50, 20, 5, 1};

enum { ROW_WORDS = 128 }; /* of the largest struct of a row */

void insert_done(struct insert *insert)
{
    for (int i = 0; i < INSERT_SIZES; i++)
        statement_finalize(&insert->statements[i]);
    *insert = (struct insert){0};
}

static bool may_be_null(const struct column *column)
{
    return column->flags & (COLUMN_NULL | COLUMN_NULL_IN_SQLITE);
}

/* Whether it needs no parameter. */
static bool is_blank(const struct column *column, const void *row)
{
    if (column->kind <= UUID_COLUMN)
        return !member_text(column, row) &&
               (may_be_null(column) || column->flags & COLUMN_EMPTY);
    return column->kind != WORD_COLUMN &&
           member_int(column, row) == (column->kind == PLACE_COLUMN ? -1 : 0);
}

static bool is_left_out(const struct insert_how *how, const struct column *column)
{
    return column->flags & (COLUMN_POSTGRES_ONLY | COLUMN_SERIAL) ||
           (how->is_left_out && how->is_left_out(column));
}

/* Whether its member is all zeros. */
static bool is_zero(const struct column *column, const void *row)
{
    return column->kind <= UUID_COLUMN ? !member_text(column, row)
                                       : member_int(column, row) == 0;
}

/* Lays rows over each other: what bits any of them has, and in what bits any differs from the first. */
static void lay(const struct row_type *type, const char *restrict rows, size_t count,
                uint64_t *restrict all, uint64_t *restrict differ)
{
    size_t words = type->size / sizeof *all;
    for (size_t k = 0; k < count; k++)
        for (size_t i = 0; i < words; i++) {
            uint64_t first, word;
            memcpy(&first, rows + i * sizeof first, sizeof first);
            memcpy(&word, rows + k * type->size + i * sizeof word, sizeof word);
            all[i] |= word;
            differ[i] |= word ^ first;
        }
}

static bool has_value(const struct column *column, const struct row_type *type,
                      const char *rows, size_t count, const void *all)
{
    if (column->kind != PLACE_COLUMN)
        return !is_blank(column, all);
    size_t k = 0;
    while (k < count && is_blank(column, rows + k * type->size))
        k++;
    return k < count;
}

/* The columns in which one of the rows has a value, and those in which all have the same.  A member that is blank in all
 * is all zeros in the rows laid over each other, but for a place.  A text is the same if it is the same pointer. */
static void find_columns(const struct insert_how *how, const void *rows, size_t count,
                         uint64_t *ret_columns, uint64_t *ret_common)
{
    uint64_t all[ROW_WORDS] = {0}, differ[ROW_WORDS] = {0};
    assert(how->type->size % sizeof *all == 0 && how->type->size <= sizeof all);
    lay(how->type, rows, count, all, differ);
    *ret_columns = *ret_common = 0;
    for (size_t i = 0; i < how->type->count; i++) {
        const struct column *column = &how->type->columns[i];
        if (is_left_out(how, column) || !has_value(column, how->type, rows, count, all))
            continue;
        *ret_columns |= UINT64_C(1) << i;
        *ret_common |= (uint64_t)is_zero(column, differ) << i;
    }
}

/* The common parameters first, then for each row those of its head and of its columns, in their order.  OR FAIL as in
 * known.c. */
static int prepare(const struct insert_how *how, const struct insert *insert, int rows,
                   sqlite3 *db, sqlite3_stmt **ret_handle)
{
    cleanup(buf_done) struct buf sql = {0};
    int common = __builtin_popcountll(insert->common), parameter = common;
    buf_printf(&sql, "INSERT OR FAIL INTO %s (", how->type->table);
    for (int row = -1; row < rows; row++) {
        const char *comma = "";
        int shared = 0;
        buf_str(&sql, row < 0 ? "" : row == 0 ? ") VALUES (" : "), (");
        for (size_t i = 0; i < INSERT_HEAD && how->head[i]; i++, comma = ", ")
            if (row < 0)
                buf_printf(&sql, "%s%s", comma, how->head[i]);
            else
                buf_printf(&sql, "%s?%d", comma, ++parameter);
        for (size_t i = 0; i < how->type->count; i++) {
            const struct column *column = &how->type->columns[i];
            bool has_value = insert->columns >> i & 1;
            if (is_left_out(how, column) || (!has_value && may_be_null(column)))
                continue;
            if (row < 0)
                buf_printf(&sql, "%s\"%s\"", comma, column->name);
            else if (has_value)
                buf_printf(&sql, "%s?%d", comma,
                           insert->common >> i & 1 ? ++shared : ++parameter);
            else
                buf_printf(&sql, "%s%s", comma, column->kind <= UUID_COLUMN ? "''" : "0");
            comma = ", ";
        }
    }
    buf_printf(&sql, ")%s", how->tail);
    if (buf_failed(&sql))
        return SQLITE_NOMEM;
    return sqlite3_prepare_v3(db, sql.text, -1, SQLITE_PREPARE_PERSISTENT, ret_handle, NULL);
}

static struct insert *find_insert(struct sqlite_session *session, const struct row_type *type,
                                  uint64_t columns, uint64_t common)
{
    for (size_t i = 0; i < INSERTS_MAX; i++)
        if (session->inserts[i].type == type && session->inserts[i].columns == columns)
            return &session->inserts[i];
    struct insert *insert = &session->inserts[session->next_insert];
    session->next_insert = (session->next_insert + 1) % INSERTS_MAX;
    insert_done(insert);
    insert->type = type;
    insert->columns = columns;
    insert->common = common;
    return insert;
}

/* A column in which rows differed once has parameters of its own from then on, so that a statement is made again a few
 * times at most. */
static struct insert *shape_insert(struct sqlite_session *session, const struct insert_how *how,
                                   const void *rows, size_t count)
{
    uint64_t columns, common;
    find_columns(how, rows, count, &columns, &common);
    struct insert *insert = find_insert(session, how->type, columns, common);
    common &= insert->common;
    if (common == insert->common)
        return insert;
    insert_done(insert);
    *insert = (struct insert){.type = how->type, .columns = columns, .common = common};
    return insert;
}

static void bind_row(struct query *query, const struct row_type *type, uint64_t columns,
                     const void *row, int *parameter)
{
    for (; columns; columns &= columns - 1)
        column_bind(query, (*parameter)++, &type->columns[__builtin_ctzll(columns)], row);
}

/* As many of the rows as one INSERT takes. */
static cairn_code insert_some(struct sqlite_session *session, const struct insert_how *how,
                              struct insert *insert, const char *rows, size_t left,
                              size_t *ret_count, size_t *ret_inserted, cairn_error *reterr)
{
    int size = 0, parameter = 1, rc = SQLITE_OK;
    while ((size_t)sizes[size] > left)
        size++;
    *ret_count = (size_t)sizes[size];
    struct statement *statement = &insert->statements[size];
    if (!statement->handle)
        rc = prepare(how, insert, sizes[size], session->connection->db, &statement->handle);
    cleanup(query_end) struct query query = {.session = session,
                                             .statement = statement,
                                             .handle = statement->handle,
                                             .doing = how->doing,
                                             .reterr = reterr,
                                             .rc = rc};
    bind_row(&query, how->type, insert->common, rows, &parameter);
    for (size_t k = 0; k < *ret_count; k++) {
        const char *row = rows + k * how->type->size;
        for (size_t i = 0; i < INSERT_HEAD && how->head[i]; i++)
            bind_int_at(&query, parameter++, how->head_value(row, i));
        bind_row(&query, how->type, insert->columns & ~insert->common, row, &parameter);
    }
    return query_change(&query, ret_inserted);
}

cairn_code insert_rows(struct store_tx *tx, const struct insert_how *how, const void *rows,
                       size_t count, size_t *ret_inserted, cairn_error *reterr)
{
    *ret_inserted = 0;
    assert(how->type->count <= 64);
    if (count == 0)
        return CAIRN_OK;
    struct sqlite_session *session = sqlite_session_of(tx);
    struct insert *insert = shape_insert(session, how, rows, count);
    size_t some = 0, inserted = 0;
    for (size_t i = 0; i < count; i += some, *ret_inserted += inserted)
        TRY(insert_some(session, how, insert, (const char *)rows + i * how->type->size,
                        count - i, &some, &inserted, reterr));
    return CAIRN_OK;
}
