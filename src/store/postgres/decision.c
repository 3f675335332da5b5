/* store/postgres/decision.c - decisions about human steps.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "store/postgres/postgres.h"

cairn_code postgres_insert_decision(struct store_tx *tx, const struct decision_row *row,
                                    cairn_error *reterr)
{
    return postgres_write_rows(tx, PG_INSERT_DECISION, &decision_row_type, COLUMNS_INSERT, row,
                               1, reterr);
}

cairn_code postgres_list_decisions(struct store_tx *tx, const char *instance_id, int64_t after,
                                   struct decision_row *ret_rows, size_t room,
                                   size_t *ret_count, cairn_error *reterr)
{
    return postgres_list_after(tx, PG_LIST_DECISIONS, instance_id, after, &decision_row_type,
                               ret_rows, room, ret_count, reterr);
}
