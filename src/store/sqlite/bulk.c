/* store/sqlite/bulk.c - actions on many jobs, instances or dead letters.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "base/error.h"
#include "base/mem.h"
#include "store/sqlite/sqlite.h"

cairn_code sqlite_put_bulk(struct store_tx *tx, const struct bulk_row *row, cairn_error *reterr)
{
    return rows_write(tx, Q_PUT_BULK, &bulk_row_type, row, 1, reterr);
}

cairn_code sqlite_get_bulk(struct store_tx *tx, const char *id, struct bulk_row *ret_row,
                           cairn_error *reterr)
{
    cleanup(query_end) struct query query = query_begin(tx, Q_GET_BULK, reterr);
    bind_text(&query, ":id", id);
    return row_find(&query, &bulk_row_type, ret_row);
}

cairn_code sqlite_lock_bulk(struct store_tx *tx, const char *id, struct bulk_row *ret_row,
                            cairn_error *reterr)
{
    return sqlite_get_bulk(tx, id, ret_row, reterr); /* a writer is alone */
}

cairn_code sqlite_take_bulk(struct store_tx *tx, const char *process, struct bulk_row *ret_row,
                            cairn_error *reterr)
{
    cleanup(query_end) struct query query = query_begin(tx, Q_TAKE_BULK, reterr);
    bind_text(&query, ":process", process);
    return row_find(&query, &bulk_row_type, ret_row);
}

cairn_code sqlite_next_bulk(struct store_tx *tx, const char *process, int64_t *ret_at_us,
                            cairn_error *reterr)
{
    cleanup(query_end) struct query query = query_begin(tx, Q_NEXT_BULK, reterr);
    bind_text(&query, ":process", process);
    if (query_step(&query) != SQLITE_ROW)
        return query_refused(&query);
    *ret_at_us = sqlite3_column_int64(query.handle, 0); /* NULL is 0 */
    return CAIRN_OK;
}

cairn_code sqlite_list_bulks(struct store_tx *tx, struct bulk_row *ret_rows, size_t room,
                             size_t *ret_count, cairn_error *reterr)
{
    cleanup(query_end) struct query query = query_begin(tx, Q_LIST_BULKS, reterr);
    return rows_read(&query, &bulk_row_type, ret_rows, room, ret_count);
}
