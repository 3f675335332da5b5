/* store/postgres/dlq.c - the dead letter queue.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "base/error.h"
#include "base/mem.h"
#include "store/postgres/postgres.h"

cairn_code postgres_append_dlq(struct store_tx *tx, const struct dlq_row *rows, size_t count,
                               cairn_error *reterr)
{
    return postgres_write_rows(tx, PG_APPEND_DLQ, &dlq_row_type, COLUMNS_INSERT, rows, count,
                               reterr);
}

cairn_code postgres_close_dlq(struct store_tx *tx, const char *instance_id, int32_t seq,
                              cairn_error *reterr)
{
    struct postgres_params params = PARAMS(tx, ID(instance_id), PLACE(seq));
    return postgres_queue(postgres_session_of(tx), PG_CLOSE_DLQ, &params, reterr);
}

cairn_code postgres_list_dlq(struct store_tx *tx, const char *instance_id, int64_t before_id,
                             struct dlq_row *ret_rows, size_t room, size_t *ret_count,
                             cairn_error *reterr)
{
    int64_t before = before_id ? before_id : INT64_MAX;
    struct postgres_params params = instance_id
                                        ? PARAMS(tx, INT(before), INT(room), ID(instance_id))
                                        : PARAMS(tx, INT(before), INT(room));
    return postgres_read_rows(tx, instance_id ? PG_LIST_DLQ_OF_INSTANCE : PG_LIST_DLQ, &params,
                              &dlq_row_type, ret_rows, room, ret_count, reterr);
}

cairn_code postgres_scan_dlq(struct store_tx *tx, int64_t before_id, struct dlq_row *ret_rows,
                             size_t room, size_t *ret_count, cairn_error *reterr)
{
    cleanup(reader_done) struct postgres_reader reader = {0};
    struct postgres_params params =
        PARAMS(tx, INT(before_id ? before_id : INT64_MAX), INT(room));
    TRY(postgres_ask(tx, PG_SCAN_DLQ, &params, &reader, reterr));
    for (; reader.row < reader.count; reader.row++) {
        struct dlq_row *row = &ret_rows[reader.row];
        postgres_read_row(&reader, 0, &dlq_row_type, row);
        row->input_bytes = value_int(&reader, (int)dlq_row_type.count);
    }
    *ret_count = (size_t)reader.count;
    return reader.failed ? fail_memory(reterr) : CAIRN_OK;
}

cairn_code postgres_get_dlq(struct store_tx *tx, int64_t id, struct dlq_row *ret_row,
                            cairn_error *reterr)
{
    struct postgres_params params = PARAMS(tx, INT(id));
    return postgres_read_one(tx, PG_GET_DLQ, &params, &dlq_row_type, ret_row, reterr);
}

cairn_code postgres_count_halts(struct store_tx *tx, struct halt_counts *ret_counts,
                                cairn_error *reterr)
{
    cleanup(reader_done) struct postgres_reader reader = {0};
    struct postgres_params params = PARAMS(tx, INT(HALTS_MAX));
    TRY(postgres_ask(tx, PG_COUNT_HALTS, &params, &reader, reterr));
    *ret_counts = (struct halt_counts){.failed = value_int(&reader, 0),
                                       .mismatched = value_int(&reader, 1),
                                       .undo_failed = value_int(&reader, 2)};
    return CAIRN_OK;
}

cairn_code postgres_count_needs(struct store_tx *tx, struct need_counts *ret_counts,
                                cairn_error *reterr)
{
    cleanup(reader_done) struct postgres_reader reader = {0};
    struct postgres_params params = PARAMS(tx, INT(NEED_COUNT_MAX));
    TRY(postgres_ask(tx, PG_COUNT_NEEDS, &params, &reader, reterr));
    *ret_counts =
        (struct need_counts){.approvals = value_int(&reader, 0), .dead = value_int(&reader, 1)};
    return CAIRN_OK;
}
