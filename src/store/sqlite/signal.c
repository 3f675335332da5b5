/* store/sqlite/signal.c - messages to instances.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "base/error.h"
#include "base/mem.h"
#include "store/sqlite/sqlite.h"

/* Only seq and was_taken are filled in, of a row that may be in use. */
cairn_code sqlite_get_signal(struct store_tx *tx, const char *instance_id, const char *id,
                             struct signal_row *ret_row, cairn_error *reterr)
{
    cleanup(query_end) struct query query = query_begin(tx, Q_FIND_KNOWN_SIGNAL, reterr);
    bind_text(&query, ":instance_id", instance_id);
    bind_text(&query, ":id", id);
    TRY(query_find(&query));
    ret_row->seq = sqlite3_column_int64(query.handle, 0);
    ret_row->was_taken = sqlite3_column_int(query.handle, 1) != 0;
    return CAIRN_OK;
}

cairn_code sqlite_insert_signal(struct store_tx *tx, struct signal_row *row,
                                enum insert_result *ret_result, cairn_error *reterr)
{
    size_t count = 0;
    cleanup(query_end) struct query query = query_begin(tx, Q_INSERT_SIGNAL, reterr);
    row_bind(&query, &signal_row_type, row);
    TRY(query_change(&query, &count));
    *ret_result = count ? INSERT_DONE : INSERT_EXISTING;
    if (!count)
        return sqlite_get_signal(tx, row->instance_id, row->id, row, reterr);
    row->seq = sqlite3_last_insert_rowid(query.session->connection->db);
    return CAIRN_OK;
}

cairn_code sqlite_find_signal(struct store_tx *tx, const char *instance_id, const char *event,
                              int64_t until_us, struct signal_row *ret_row, cairn_error *reterr)
{
    cleanup(query_end) struct query query = query_begin(tx, Q_FIND_SIGNAL, reterr);
    bind_text(&query, ":instance_id", instance_id);
    bind_text(&query, ":event", event);
    bind_int(&query, ":until", until_us);
    return row_find(&query, &signal_row_type, ret_row);
}

cairn_code sqlite_mark_signal(struct store_tx *tx, const char *instance_id, int64_t signal_seq,
                              int32_t taken_by, cairn_error *reterr)
{
    cleanup(query_end) struct query query =
        query_begin(tx, signal_seq ? Q_MARK_SIGNAL : Q_UNMARK_SIGNALS, reterr);
    bind_text(&query, ":instance_id", instance_id);
    if (signal_seq)
        bind_int(&query, ":seq", signal_seq);
    bind_place(&query, ":taken_by", taken_by);
    return query_run(&query);
}

cairn_code sqlite_keep_signal_taken(struct store_tx *tx, const char *instance_id,
                                    int64_t signal_seq, cairn_error *reterr)
{
    cleanup(query_end) struct query query = query_begin(tx, Q_KEEP_SIGNAL_TAKEN, reterr);
    bind_text(&query, ":instance_id", instance_id);
    bind_int(&query, ":seq", signal_seq);
    return query_run(&query);
}

cairn_code sqlite_list_signals(struct store_tx *tx, const char *const *ids, size_t count,
                               int64_t after, struct signal_row *ret_rows, size_t room,
                               size_t *ret_count, cairn_error *reterr)
{
    size_t found = 0, more = 0;
    cairn_code code = CAIRN_OK;
    for (size_t i = 0; i < count && found < room && !code; i++, after = 0, found += more) {
        cleanup(query_end) struct query query = query_begin(tx, Q_LIST_SIGNALS, reterr);
        bind_page(&query, ids[i], after);
        code = rows_read(&query, &signal_row_type, ret_rows + found, room - found, &more);
    }
    *ret_count = found;
    return code;
}

cairn_code sqlite_list_all_signals(struct store_tx *tx, const char *instance_id, int64_t after,
                                   struct signal_row *ret_rows, size_t room, size_t *ret_count,
                                   cairn_error *reterr)
{
    cleanup(query_end) struct query query = query_begin(tx, Q_LIST_ALL_SIGNALS, reterr);
    bind_page(&query, instance_id, after);
    return rows_read(&query, &signal_row_type, ret_rows, room, ret_count);
}
