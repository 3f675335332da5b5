/* store/postgres/key.c - who has a key.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "base/error.h"
#include "base/mem.h"
#include "store/postgres/postgres.h"

cairn_code postgres_find_keys(struct store_tx *tx, struct key_row *rows, size_t count,
                              cairn_error *reterr)
{
    cleanup(columns_done) struct postgres_columns columns = {0};
    cleanup(reader_done) struct postgres_reader reader = {0};
    struct postgres_params params = {.arena = tx->arena};
    if (count == 0)
        return CAIRN_OK;
    for (size_t i = 0; i < count; i++) {
        columns_text(&columns, rows[i].kind);
        columns_text(&columns, rows[i].workflow);
        columns_text(&columns, rows[i].key);
        columns_end_row(&columns);
    }
    param_columns(&params, &columns);
    TRY(postgres_ask(tx, PG_FIND_KEYS, &params, &reader, reterr));
    for (; reader.row < reader.count; reader.row++) {
        struct key_row *row = &rows[value_int(&reader, 0) - 1];
        row->id = value_text(&reader, 1);
        row->ended_at_us = value_time(&reader, 2);
    }
    return reader.failed ? fail_memory(reterr) : CAIRN_OK;
}

cairn_code postgres_free_keys(struct store_tx *tx, const struct key_row *rows, size_t count,
                              cairn_error *reterr)
{
    return postgres_write_rows(tx, PG_FREE_KEYS, &key_row_type, COLUMNS_INSERT, rows, count,
                               reterr);
}
