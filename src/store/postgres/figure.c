/* store/postgres/figure.c - how much happened, by type and time.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "base/error.h"
#include "base/mem.h"
#include "store/postgres/postgres.h"

cairn_code postgres_put_figures(struct store_tx *tx, const struct figure_row *rows,
                                size_t count, cairn_error *reterr)
{
    return postgres_write_rows(tx, PG_PUT_FIGURES, &figure_row_type, COLUMNS_INSERT, rows,
                               count, reterr);
}

cairn_code postgres_take_figures(struct store_tx *tx, int32_t resolution, int64_t from_us,
                                 int64_t before_us, struct figure_row *ret_rows, size_t room,
                                 size_t *ret_count, cairn_error *reterr)
{
    struct postgres_params params =
        PARAMS(tx, INT(resolution), TIME(from_us), TIME(before_us), INT(room));
    return postgres_read_rows(tx, PG_TAKE_FIGURES, &params, &figure_row_type, ret_rows, room,
                              ret_count, reterr);
}

cairn_code postgres_drop_figures(struct store_tx *tx, int32_t resolution, int64_t before_us,
                                 cairn_error *reterr)
{
    struct postgres_params params = PARAMS(tx, INT(resolution), TIME(before_us));
    return postgres_queue(postgres_session_of(tx), PG_DROP_FIGURES, &params, reterr);
}

cairn_code postgres_oldest_figure(struct store_tx *tx, int32_t resolution, int64_t before_us,
                                  int64_t *ret_at_us, cairn_error *reterr)
{
    cleanup(reader_done) struct postgres_reader reader = {0};
    struct postgres_params params = PARAMS(tx, INT(resolution), TIME(before_us));
    TRY(postgres_ask(tx, PG_OLDEST_FIGURE, &params, &reader, reterr));
    if (reader.count == 0)
        return CAIRN_E_NOT_FOUND;
    *ret_at_us = value_time(&reader, 0);
    return CAIRN_OK;
}

cairn_code postgres_list_figures(struct store_tx *tx, const char *type, int64_t from_us,
                                 struct figure_row *ret_rows, size_t room, size_t *ret_count,
                                 cairn_error *reterr)
{
    struct postgres_params params = PARAMS(tx, TEXT(type), TIME(from_us), INT(room));
    return postgres_read_rows(tx, PG_LIST_FIGURES, &params, &figure_row_type, ret_rows, room,
                              ret_count, reterr);
}
