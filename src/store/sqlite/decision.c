/* store/sqlite/decision.c - decisions of people about human steps.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "base/error.h"
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

cairn_code sqlite_list_latest_decisions(struct store_tx *tx, int64_t before,
                                        struct decision_row *ret_rows, size_t room,
                                        size_t *ret_count, cairn_error *reterr)
{
    cleanup(query_end) struct query query = query_begin(tx, Q_LIST_LATEST_DECISIONS, reterr);
    bind_int(&query, ":before", before ? before : INT64_MAX);
    return rows_read(&query, &decision_row_type, ret_rows, room, ret_count);
}

cairn_code sqlite_list_undecided(struct store_tx *tx, bool has_deadline,
                                 const struct step_row *after, struct step_row *ret_rows,
                                 size_t room, size_t *ret_count, cairn_error *reterr)
{
    cleanup(query_end) struct query query =
        query_begin(tx, has_deadline ? Q_LIST_UNDECIDED : Q_LIST_UNDECIDED_WITHOUT_END, reterr);
    if (has_deadline)
        bind_int(&query, ":deadline", after ? after->deadline_at_us : 0);
    bind_int(&query, ":instance_seq", after ? after->instance_seq : 0);
    bind_int(&query, ":seq", after ? after->seq : -1);
    return rows_read(&query, &step_row_type, ret_rows, room, ret_count);
}

cairn_code sqlite_count_undecided(struct store_tx *tx, const char *workflow, size_t most,
                                  size_t *ret_count, cairn_error *reterr)
{
    cleanup(query_end) struct query query = query_begin(tx, Q_COUNT_UNDECIDED, reterr);
    int64_t count = 0;
    bind_text(&query, ":workflow", workflow);
    bind_int(&query, ":most", (int64_t)most);
    TRY(query_int(&query, &count));
    *ret_count = (size_t)count;
    return CAIRN_OK;
}
