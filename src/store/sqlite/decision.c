/* store/sqlite/decision.c - decisions of people about human steps.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "base/mem.h"
#include "store/sqlite/sqlite.h"

cairn_code sqlite_insert_decision(struct store_tx *tx, const struct decision_row *row,
                                  cairn_error *reterr)
{
    return rows_write(tx, Q_INSERT_DECISION, &decision_row_type, row, 1, reterr);
}

cairn_code sqlite_list_decisions(struct store_tx *tx, const char *instance_id, int64_t after,
                                 struct decision_row *ret_rows, size_t room, size_t *ret_count,
                                 cairn_error *reterr)
{
    cleanup(query_end) struct query query = query_begin(tx, Q_LIST_DECISIONS, reterr);
    bind_page(&query, instance_id, after);
    return rows_read(&query, &decision_row_type, ret_rows, room, ret_count);
}
