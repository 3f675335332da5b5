/* store/sqlite/total.c - what processes have counted.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "base/error.h"
#include "base/mem.h"
#include "store/sqlite/sqlite.h"

cairn_code sqlite_put_totals(struct store_tx *tx, const struct total_row *rows, size_t count,
                             cairn_error *reterr)
{
    return rows_write(tx, Q_PUT_TOTAL, &total_row_type, rows, count, reterr);
}

/* There is a single writer, so nobody else takes some meanwhile. */
cairn_code sqlite_take_totals(struct store_tx *tx, int64_t before_us,
                              struct total_row *ret_rows, size_t room, size_t *ret_count,
                              cairn_error *reterr)
{
    cleanup(query_end) struct query find = query_begin(tx, Q_FIND_GONE_TOTALS, reterr);
    bind_int(&find, ":before", before_us);
    TRY(rows_read(&find, &total_row_type, ret_rows, room, ret_count));
    if (!*ret_count)
        return CAIRN_OK;
    cleanup(query_end) struct query drop = query_begin(tx, Q_DROP_GONE_TOTALS, reterr);
    bind_int(&drop, ":before", before_us);
    bind_int(&drop, ":room", (int64_t)*ret_count);
    return query_run(&drop);
}

cairn_code sqlite_list_totals(struct store_tx *tx, struct total_row *ret_rows, size_t room,
                              size_t *ret_count, cairn_error *reterr)
{
    cleanup(query_end) struct query query = query_begin(tx, Q_LIST_TOTALS, reterr);
    return rows_read(&query, &total_row_type, ret_rows, room, ret_count);
}
