/* store/sqlite/intake.c - starts that plain SQL has written.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "base/error.h"
#include "base/mem.h"
#include "store/sqlite/sqlite.h"

static cairn_code read_intake(struct store_tx *tx, enum query_number number,
                              struct intake_row *ret_rows, size_t room, size_t *ret_count,
                              cairn_error *reterr)
{
    cleanup(query_end) struct query query = query_begin(tx, number, reterr);
    return rows_read(&query, &intake_row_type, ret_rows, room, ret_count);
}

cairn_code sqlite_find_intake(struct store_tx *tx, struct intake_row *ret_rows, size_t room,
                              size_t *ret_count, cairn_error *reterr)
{
    return read_intake(tx, Q_FIND_INTAKE, ret_rows, room, ret_count, reterr);
}

cairn_code sqlite_list_stuck_intake(struct store_tx *tx, struct intake_row *ret_rows,
                                    size_t room, size_t *ret_count, cairn_error *reterr)
{
    return read_intake(tx, Q_LIST_STUCK_INTAKE, ret_rows, room, ret_count, reterr);
}

cairn_code sqlite_settle_intake(struct store_tx *tx, const struct intake_row *rows,
                                size_t count, cairn_error *reterr)
{
    for (size_t i = 0; i < count; i++) {
        bool is_kept = rows[i].instance_id || rows[i].error;
        TRY(rows_write(tx, is_kept ? Q_KEEP_INTAKE : Q_DELETE_INTAKE, &intake_row_type,
                       &rows[i], 1, reterr));
    }
    return CAIRN_OK;
}

cairn_code sqlite_get_intake(struct store_tx *tx, const char *id, struct intake_row *ret_row,
                             cairn_error *reterr)
{
    cleanup(query_end) struct query query = query_begin(tx, Q_GET_INTAKE, reterr);
    bind_text(&query, ":id", id);
    return row_find(&query, &intake_row_type, ret_row);
}
