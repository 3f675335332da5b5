/* store/postgres/decision.c - decisions about human steps.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "base/error.h"
#include "base/mem.h"
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

cairn_code postgres_list_latest_decisions(struct store_tx *tx, int64_t before,
                                          struct decision_row *ret_rows, size_t room,
                                          size_t *ret_count, cairn_error *reterr)
{
    struct postgres_params params = PARAMS(tx, INT(before ? before : INT64_MAX), INT(room));
    return postgres_read_rows(tx, PG_LIST_LATEST_DECISIONS, &params, &decision_row_type,
                              ret_rows, room, ret_count, reterr);
}

cairn_code postgres_list_undecided(struct store_tx *tx, bool has_deadline,
                                   const struct step_row *after, struct step_row *ret_rows,
                                   size_t room, size_t *ret_count, cairn_error *reterr)
{
    static const struct step_row first = {.deadline_at_us = 1, .seq = -1};
    const struct step_row *behind = after ? after : &first;
    struct postgres_params params =
        has_deadline ? PARAMS(tx, TIME(behind->deadline_at_us), INT(behind->instance_seq),
                              INT(behind->seq), INT(room))
                     : PARAMS(tx, INT(behind->instance_seq), INT(behind->seq), INT(room));
    return postgres_read_rows(tx,
                              has_deadline ? PG_LIST_UNDECIDED : PG_LIST_UNDECIDED_WITHOUT_END,
                              &params, &step_row_type, ret_rows, room, ret_count, reterr);
}

cairn_code postgres_count_undecided(struct store_tx *tx, const char *workflow, size_t most,
                                    size_t *ret_count, cairn_error *reterr)
{
    cleanup(reader_done) struct postgres_reader reader = {0};
    struct postgres_params params = PARAMS(tx, TEXT(workflow), INT(most));
    TRY(postgres_ask(tx, PG_COUNT_UNDECIDED, &params, &reader, reterr));
    *ret_count = (size_t)value_int(&reader, 0);
    return CAIRN_OK;
}
