/* store/sqlite/row.c - whole rows, by the descriptions of core/rows.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * Results and parameters of a statement that have the name of a column are that column, in any
 * order.  The names are looked up once for each statement of a session.
 */
#include "base/error.h"
#include "base/mem.h"
#include "store/sqlite/sqlite.h"

#include <assert.h>
#include <string.h>

static const struct column *find_column(const struct row_type *type, const char *name)
{
    for (size_t i = 0; i < type->count; i++)
        if (strcmp(type->columns[i].name, name) == 0)
            return &type->columns[i];
    return NULL;
}

static const struct column **new_map(struct query *query, int count)
{
    const struct column **map = mem_zalloc((size_t)count * sizeof(struct column *));
    if (!map)
        query->rc = SQLITE_NOMEM;
    return map;
}

/* The length of a column is no column, nor is what a list alone shows; whoever asks for it reads it. */
static bool is_besides(const char *name)
{
    size_t len = strlen(name);
    return (len > 6 && strcmp(name + len - 6, "_bytes") == 0) ||
           strcmp(name, "acknowledged_at") == 0;
}

/* Every other result must be a column, or it would be lost. */
static void map_results(struct query *query, const struct row_type *type)
{
    int count = sqlite3_column_count(query->handle);
    const struct column **map = new_map(query, count);
    query->statement->results = map;
    for (int i = 0; map && i < count; i++) {
        const char *name = sqlite3_column_name(query->handle, i);
        map[i] = name ? find_column(type, name) : NULL;
        assert(map[i] || !name || is_besides(name));
    }
}

static void map_parameters(struct query *query, const struct row_type *type)
{
    int count = sqlite3_bind_parameter_count(query->handle);
    const struct column **map = new_map(query, count);
    query->statement->parameters = map;
    for (int i = 0; map && i < count; i++)
        map[i] = find_column(type, sqlite3_bind_parameter_name(query->handle, i + 1) + 1);
}

/* ---- Reading ----------------------------------------------------------------------------- */

static void read_column(struct query *query, int i, const struct column *column, void *row)
{
    switch (column->kind) {
    case TEXT_COLUMN:
    case JSON_COLUMN:
    case EXACTJSON_COLUMN:
    case UUID_COLUMN:
        member_set_text(column, row, result_text(query, i));
        break;
    case WORD_COLUMN:
        member_set_text(column, row, (const char *)sqlite3_column_text(query->handle, i));
        break;
    case PLACE_COLUMN:
        if (sqlite3_column_type(query->handle, i) == SQLITE_NULL)
            member_set_int(column, row, -1);
        else
            member_set_int(column, row, sqlite3_column_int64(query->handle, i));
        break;
    default:
        member_set_int(column, row, sqlite3_column_int64(query->handle, i)); /* NULL is 0 */
    }
}

void row_read(struct query *query, const struct row_type *type, void *ret_row)
{
    struct statement *statement = query->statement;
    if (!statement->results)
        map_results(query, type);
    memset(ret_row, 0, type->size);
    int count = statement->results ? sqlite3_column_count(query->handle) : 0;
    for (int i = 0; i < count && query->rc == SQLITE_ROW; i++)
        if (statement->results[i])
            read_column(query, i, statement->results[i], ret_row);
}

cairn_code row_find(struct query *query, const struct row_type *type, void *ret_row)
{
    TRY(query_find(query));
    row_read(query, type, ret_row);
    return query_ended(query);
}

cairn_code rows_read(struct query *query, const struct row_type *type, void *ret_rows,
                     size_t room, size_t *ret_count)
{
    size_t count = 0;
    bind_size(query, ":room", room);
    while (count < room && query_step(query) == SQLITE_ROW)
        row_read(query, type, (char *)ret_rows + type->size * count++);
    *ret_count = count;
    return query_ended(query);
}

/* ---- Writing ----------------------------------------------------------------------------- */

struct column_value column_value(const struct column *column, const void *row)
{
    bool may_be_null = column->flags & (COLUMN_NULL | COLUMN_NULL_IN_SQLITE);
    if (column->kind != CODE_COLUMN && column_is_text(column)) {
        const char *text = member_text(column, row);
        if (!text && column->flags & COLUMN_EMPTY)
            text = "";
        return (struct column_value){.text = text, .is_null = !text};
    }
    int64_t number = member_int(column, row);
    return (struct column_value){.number = number,
                                 .is_null = may_be_null &&
                                            number == (column->kind == PLACE_COLUMN ? -1 : 0)};
}

void column_bind(struct query *query, int i, const struct column *column, const void *row)
{
    struct column_value value = column_value(column, row);
    if (value.text)
        bind_text_at(query, i, value.text);
    else if (!value.is_null)
        bind_int_at(query, i, value.number);
}

void row_bind(struct query *query, const struct row_type *type, const void *row)
{
    struct statement *statement = query->statement;
    if (query->rc == SQLITE_OK && !statement->parameters)
        map_parameters(query, type);
    int count = statement->parameters ? sqlite3_bind_parameter_count(query->handle) : 0;
    for (int i = 0; i < count && query->rc == SQLITE_OK; i++)
        if (statement->parameters[i])
            column_bind(query, i + 1, statement->parameters[i], row);
}

cairn_code rows_write(struct store_tx *tx, enum query_number number,
                      const struct row_type *type, const void *rows, size_t count,
                      cairn_error *reterr)
{
    for (size_t i = 0; i < count; i++) {
        cleanup(query_end) struct query query = query_begin(tx, number, reterr);
        row_bind(&query, type, (const char *)rows + type->size * i);
        TRY(query_run(&query));
    }
    return CAIRN_OK;
}

/* A row that has none writes nothing. */
static cairn_code insert_tags(struct store_tx *tx, const struct row_insert *how,
                              const char *row, cairn_error *reterr)
{
    const char *tags = *(const char *const *)(row + how->tags_offset);
    if (!tags)
        return CAIRN_OK;
    cleanup(query_end) struct query query = query_begin(tx, Q_ADD_TAGS, reterr);
    bind_text(&query, ":tags", tags);
    bind_text(&query, ":kind", how->kind);
    bind_int(&query, ":seq", *(const int64_t *)(row + how->seq_offset));
    return query_run(&query);
}

static cairn_code is_key_kept(struct store_tx *tx, const struct row_insert *how,
                              const char *row, bool *ret_is_kept, cairn_error *reterr)
{
    *ret_is_kept = false;
    if (!*(const char *const *)(row + how->key_offset))
        return CAIRN_OK;
    cleanup(query_end) struct query query = query_begin(tx, how->is_kept, reterr);
    row_bind(&query, how->type, row);
    *ret_is_kept = query_step(&query) == SQLITE_ROW;
    return query_ended(&query);
}

static cairn_code insert_row(struct store_tx *tx, const struct row_insert *how, char *row,
                             enum insert_result *ret_result, cairn_error *reterr)
{
    int64_t *seq = (int64_t *)(row + how->seq_offset);
    const char **id = (const char **)(row + how->id_offset);
    size_t count = 0;
    bool is_kept = false;
    TRY(is_key_kept(tx, how, row, &is_kept, reterr));
    if (!is_kept) {
        cleanup(query_end) struct query insert = query_begin(tx, how->insert, reterr);
        row_bind(&insert, how->type, row);
        TRY(query_change(&insert, &count));
    }
    *ret_result = INSERT_DONE;
    if (count > 0) {
        *seq = sqlite3_last_insert_rowid(sqlite_session_of(tx)->connection->db);
        return insert_tags(tx, how, row, reterr);
    }
    /* Because of its id, or because of its key. */
    cleanup(query_end) struct query find = query_begin(tx, how->find, reterr);
    row_bind(&find, how->type, row);
    if (query_step(&find) != SQLITE_ROW)
        return query_refused(&find);
    const char *known = result_text(&find, 1);
    if (!known)
        return query_refused(&find);
    *ret_result = strcmp(known, *id) == 0 ? INSERT_AGAIN : INSERT_EXISTING;
    *seq = sqlite3_column_int64(find.handle, 0);
    *id = known;
    return CAIRN_OK;
}

cairn_code rows_insert(struct store_tx *tx, const struct row_insert *how, void *rows,
                       size_t count, enum insert_result *ret_results, cairn_error *reterr)
{
    for (size_t i = 0; i < count; i++)
        TRY(insert_row(tx, how, (char *)rows + how->type->size * i, &ret_results[i], reterr));
    return CAIRN_OK;
}
