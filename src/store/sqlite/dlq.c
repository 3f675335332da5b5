/* store/sqlite/dlq.c - failed steps that a person must look at.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "base/mem.h"
#include "store/sqlite/sqlite.h"

cairn_code sqlite_append_dlq(struct store_tx *tx, const struct dlq_row *rows, size_t count,
                             cairn_error *reterr)
{
    return rows_write(tx, Q_APPEND_DLQ, &dlq_row_type, rows, count, reterr);
}

cairn_code sqlite_close_dlq(struct store_tx *tx, const char *instance_id, int32_t seq,
                            cairn_error *reterr)
{
    cleanup(query_end) struct query query = query_begin(tx, Q_CLOSE_DLQ, reterr);
    bind_text(&query, ":instance_id", instance_id);
    bind_place(&query, ":step_seq", seq);
    return query_run(&query);
}

cairn_code sqlite_list_dlq(struct store_tx *tx, const char *instance_id, int64_t before_id,
                           struct dlq_row *ret_rows, size_t room, size_t *ret_count,
                           cairn_error *reterr)
{
    cleanup(query_end) struct query query =
        query_begin(tx, instance_id ? Q_LIST_DLQ_OF_INSTANCE : Q_LIST_DLQ, reterr);
    bind_text(&query, ":instance_id", instance_id);
    bind_int(&query, ":before", before_id ? before_id : INT64_MAX);
    return rows_read(&query, &dlq_row_type, ret_rows, room, ret_count);
}

cairn_code sqlite_scan_dlq(struct store_tx *tx, int64_t before_id, struct dlq_row *ret_rows,
                           size_t room, size_t *ret_count, cairn_error *reterr)
{
    cleanup(query_end) struct query query = query_begin(tx, Q_SCAN_DLQ, reterr);
    size_t count = 0;
    bind_int(&query, ":before", before_id ? before_id : INT64_MAX);
    bind_int(&query, ":room", (int64_t)room);
    int length = sqlite3_column_count(query.handle) - 1;
    while (query_step(&query) == SQLITE_ROW) {
        row_read(&query, &dlq_row_type, &ret_rows[count]);
        ret_rows[count++].input_bytes = sqlite3_column_int64(query.handle, length);
    }
    *ret_count = count;
    return query_ended(&query);
}

cairn_code sqlite_get_dlq(struct store_tx *tx, int64_t id, struct dlq_row *ret_row,
                          cairn_error *reterr)
{
    cleanup(query_end) struct query query = query_begin(tx, Q_GET_DLQ, reterr);
    bind_int(&query, ":id", id);
    return row_find(&query, &dlq_row_type, ret_row);
}

cairn_code sqlite_count_halts(struct store_tx *tx, struct halt_counts *ret_counts,
                              cairn_error *reterr)
{
    cleanup(query_end) struct query query = query_begin(tx, Q_COUNT_HALTS, reterr);
    bind_int(&query, ":most", HALTS_MAX);
    if (query_step(&query) != SQLITE_ROW)
        return query_refused(&query);
    *ret_counts = (struct halt_counts){.failed = sqlite3_column_int64(query.handle, 0),
                                       .mismatched = sqlite3_column_int64(query.handle, 1),
                                       .undo_failed = sqlite3_column_int64(query.handle, 2)};
    return CAIRN_OK;
}

cairn_code sqlite_count_needs(struct store_tx *tx, struct need_counts *ret_counts,
                              cairn_error *reterr)
{
    cleanup(query_end) struct query query = query_begin(tx, Q_COUNT_NEEDS, reterr);
    bind_int(&query, ":most", NEED_COUNT_MAX);
    if (query_step(&query) != SQLITE_ROW)
        return query_refused(&query);
    *ret_counts = (struct need_counts){.approvals = sqlite3_column_int64(query.handle, 0),
                                       .dead = sqlite3_column_int64(query.handle, 1)};
    return CAIRN_OK;
}
