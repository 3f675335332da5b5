/* store/sqlite/log.c - lines that functions log.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "base/mem.h"
#include "store/sqlite/sqlite.h"

cairn_code sqlite_append_logs(struct store_tx *tx, const struct log_row *rows, size_t count,
                              cairn_error *reterr)
{
    return rows_write(tx, Q_APPEND_LOG, &log_row_type, rows, count, reterr);
}

cairn_code sqlite_list_logs(struct store_tx *tx, const char *instance_id, int64_t after,
                            struct log_row *ret_rows, size_t room, size_t *ret_count,
                            cairn_error *reterr)
{
    cleanup(query_end) struct query query = query_begin(tx, Q_LIST_LOGS, reterr);
    bind_page(&query, instance_id, after);
    return rows_read(&query, &log_row_type, ret_rows, room, ret_count);
}
