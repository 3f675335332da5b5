/* store/postgres/log.c - what functions have logged.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "store/postgres/postgres.h"

cairn_code postgres_append_logs(struct store_tx *tx, const struct log_row *rows, size_t count,
                                cairn_error *reterr)
{
    return postgres_write_rows(tx, PG_APPEND_LOGS, &log_row_type, COLUMNS_INSERT, rows, count,
                               reterr);
}

cairn_code postgres_list_logs(struct store_tx *tx, const char *instance_id, int64_t after,
                              struct log_row *ret_rows, size_t room, size_t *ret_count,
                              cairn_error *reterr)
{
    return postgres_list_after(tx, PG_LIST_LOGS, instance_id, after, &log_row_type, ret_rows,
                               room, ret_count, reterr);
}
