/* store/postgres/total.c - what processes have counted.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "base/error.h"
#include "base/mem.h"
#include "store/postgres/postgres.h"

cairn_code postgres_put_totals(struct store_tx *tx, const struct total_row *rows, size_t count,
                               cairn_error *reterr)
{
    return postgres_write_rows(tx, PG_PUT_TOTALS, &total_row_type, COLUMNS_INSERT, rows, count,
                               reterr);
}

cairn_code postgres_take_totals(struct store_tx *tx, int64_t before_us,
                                struct total_row *ret_rows, size_t room, size_t *ret_count,
                                cairn_error *reterr)
{
    struct postgres_params params = PARAMS(tx, TIME(before_us), INT(room));
    return postgres_read_rows(tx, PG_TAKE_TOTALS, &params, &total_row_type, ret_rows, room,
                              ret_count, reterr);
}

cairn_code postgres_list_totals(struct store_tx *tx, struct total_row *ret_rows, size_t room,
                                size_t *ret_count, cairn_error *reterr)
{
    struct postgres_params params = PARAMS(tx, INT(room));
    return postgres_read_rows(tx, PG_LIST_TOTALS, &params, &total_row_type, ret_rows, room,
                              ret_count, reterr);
}

cairn_code postgres_measure(struct store_tx *tx, uint64_t *ret_bytes, cairn_error *reterr)
{
    cleanup(reader_done) struct postgres_reader reader = {0};
    struct postgres_params params = {.arena = tx->arena};
    TRY(postgres_ask(tx, PG_MEASURE, &params, &reader, reterr));
    *ret_bytes = (uint64_t)value_int(&reader, 0);
    return CAIRN_OK;
}
