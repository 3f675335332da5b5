/* store/postgres/bulk.c - actions on many jobs, instances or dead letters.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "base/error.h"
#include "base/mem.h"
#include "base/random.h"
#include "store/postgres/postgres.h"

cairn_code postgres_put_bulk(struct store_tx *tx, const struct bulk_row *row,
                             cairn_error *reterr)
{
    return postgres_write_rows(tx, PG_PUT_BULK, &bulk_row_type, COLUMNS_INSERT, row, 1, reterr);
}

static cairn_code read_bulk(struct store_tx *tx, enum postgres_query query, const char *id,
                            struct bulk_row *ret_row, cairn_error *reterr)
{
    struct postgres_params params = PARAMS(tx, ID(id));
    if (!id_is_valid(id))
        return CAIRN_E_NOT_FOUND;
    return postgres_read_one(tx, query, &params, &bulk_row_type, ret_row, reterr);
}

cairn_code postgres_get_bulk(struct store_tx *tx, const char *id, struct bulk_row *ret_row,
                             cairn_error *reterr)
{
    return read_bulk(tx, PG_GET_BULK, id, ret_row, reterr);
}

cairn_code postgres_lock_bulk(struct store_tx *tx, const char *id, struct bulk_row *ret_row,
                              cairn_error *reterr)
{
    return read_bulk(tx, PG_LOCK_BULK, id, ret_row, reterr);
}

cairn_code postgres_take_bulk(struct store_tx *tx, const char *process,
                              struct bulk_row *ret_row, cairn_error *reterr)
{
    struct postgres_params params = PARAMS(tx, TEXT(process), TIME(tx->now_us));
    return postgres_read_one(tx, PG_TAKE_BULK, &params, &bulk_row_type, ret_row, reterr);
}

cairn_code postgres_next_bulk(struct store_tx *tx, const char *process, int64_t *ret_at_us,
                              cairn_error *reterr)
{
    cleanup(reader_done) struct postgres_reader reader = {0};
    struct postgres_params params = PARAMS(tx, TEXT(process));
    TRY(postgres_ask(tx, PG_NEXT_BULK, &params, &reader, reterr));
    *ret_at_us = value_time(&reader, 0); /* NULL is 0 */
    return CAIRN_OK;
}

cairn_code postgres_list_bulks(struct store_tx *tx, struct bulk_row *ret_rows, size_t room,
                               size_t *ret_count, cairn_error *reterr)
{
    struct postgres_params params = PARAMS(tx, INT(room));
    return postgres_read_rows(tx, PG_LIST_BULKS, &params, &bulk_row_type, ret_rows, room,
                              ret_count, reterr);
}
