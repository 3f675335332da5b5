/* store/sqlite/limit.c - limits, what is spent of their rates, and leases that count.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "base/error.h"
#include "base/mem.h"
#include "store/sqlite/sqlite.h"

/* What is leased counts from now on. */
static cairn_code count_leased(struct store_tx *tx, enum query_number number, const char *types,
                               cairn_error *reterr)
{
    cleanup(query_end) struct query query = query_begin(tx, number, reterr);
    bind_types(&query, types);
    return query_run(&query);
}

cairn_code sqlite_put_limit(struct store_tx *tx, const struct limit_row *row,
                            cairn_error *reterr)
{
    TRY(rows_write(tx, Q_PUT_LIMIT, &limit_row_type, row, 1, reterr));
    TRY(count_leased(tx, Q_COUNT_LEASED_JOBS, row->types, reterr));
    return count_leased(tx, Q_COUNT_LEASED_STEPS, row->types, reterr);
}

cairn_code sqlite_get_limit(struct store_tx *tx, const char *name, struct limit_row *ret_row,
                            cairn_error *reterr)
{
    cleanup(query_end) struct query query = query_begin(tx, Q_GET_LIMIT, reterr);
    bind_text(&query, ":name", name);
    return row_find(&query, &limit_row_type, ret_row);
}

cairn_code sqlite_list_limits(struct store_tx *tx, const char *after,
                              struct limit_row *ret_rows, size_t room, size_t *ret_count,
                              cairn_error *reterr)
{
    cleanup(query_end) struct query query = query_begin(tx, Q_LIST_LIMITS, reterr);
    bind_text(&query, ":after", after ? after : ""); /* no name is empty */
    return rows_read(&query, &limit_row_type, ret_rows, room, ret_count);
}

static cairn_code remove_named(struct store_tx *tx, enum query_number number, const char *name,
                               cairn_error *reterr)
{
    cleanup(query_end) struct query query = query_begin(tx, number, reterr);
    bind_text(&query, ":name", name);
    return query_run(&query);
}

cairn_code sqlite_delete_limit(struct store_tx *tx, const char *name, cairn_error *reterr)
{
    TRY(remove_named(tx, Q_DELETE_BUCKETS, name, reterr));
    return remove_named(tx, Q_DELETE_LIMIT, name, reterr);
}

cairn_code sqlite_count_leases(struct store_tx *tx, bool is_locking, struct lane_use **ret_uses,
                               size_t *ret_count, cairn_error *reterr)
{
    (void)is_locking; /* a writer is alone */
    LIST(struct lane_use) uses = {0};
    cleanup(query_end) struct query query = query_begin(tx, Q_COUNT_LEASES, reterr);
    while (query_step(&query) == SQLITE_ROW) {
        struct lane_use *use = list_add(tx->arena, &uses);
        if (!use)
            return fail_memory(reterr);
        *use = (struct lane_use){.type = result_text(&query, 0),
                                 .group = result_text(&query, 1),
                                 .count = sqlite3_column_int64(query.handle, 2)};
    }
    *ret_uses = uses.items;
    *ret_count = uses.count;
    return query_ended(&query);
}

cairn_code sqlite_list_buckets(struct store_tx *tx, const char *name,
                               struct bucket_row **ret_rows, size_t *ret_count,
                               cairn_error *reterr)
{
    LIST(struct bucket_row) rows = {0};
    cleanup(query_end) struct query query = query_begin(tx, Q_LIST_BUCKETS, reterr);
    bind_text(&query, ":name", name);
    while (query_step(&query) == SQLITE_ROW) {
        struct bucket_row *row = list_add(tx->arena, &rows);
        if (!row)
            return fail_memory(reterr);
        row_read(&query, &bucket_row_type, row);
    }
    *ret_rows = rows.items;
    *ret_count = rows.count;
    return query_ended(&query);
}

cairn_code sqlite_put_buckets(struct store_tx *tx, const struct bucket_row *rows, size_t count,
                              cairn_error *reterr)
{
    for (size_t i = 0; i < count; i++)
        TRY(rows_write(tx, rows[i].level > 0 ? Q_PUT_BUCKET : Q_DELETE_BUCKET, &bucket_row_type,
                       &rows[i], 1, reterr));
    return CAIRN_OK;
}

cairn_code sqlite_put_turns(struct store_tx *tx, const struct turn_row *rows, size_t count,
                            cairn_error *reterr)
{
    return rows_write(tx, Q_PUT_TURN, &turn_row_type, rows, count, reterr);
}

cairn_code sqlite_add_group_types(struct store_tx *tx, const char *const *types, size_t count,
                                  cairn_error *reterr)
{
    for (size_t i = 0; i < count; i++) {
        cleanup(query_end) struct query query = query_begin(tx, Q_ADD_GROUP_TYPE, reterr);
        bind_text(&query, ":type", types[i]);
        TRY(query_run(&query));
    }
    return CAIRN_OK;
}
