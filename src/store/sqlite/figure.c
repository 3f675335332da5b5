/* store/sqlite/figure.c - how much happened, by type and time.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "base/error.h"
#include "base/mem.h"
#include "store/sqlite/sqlite.h"

cairn_code sqlite_put_figures(struct store_tx *tx, const struct figure_row *rows, size_t count,
                              cairn_error *reterr)
{
    return rows_write(tx, Q_PUT_FIGURE, &figure_row_type, rows, count, reterr);
}

static void bind_time(struct query *query, int32_t resolution, int64_t from_us,
                      int64_t before_us)
{
    bind_int(query, ":resolution", resolution);
    bind_int(query, ":from", from_us);
    bind_int(query, ":before", before_us);
}

cairn_code sqlite_take_figures(struct store_tx *tx, int32_t resolution, int64_t from_us,
                               int64_t before_us, struct figure_row *ret_rows, size_t room,
                               size_t *ret_count, cairn_error *reterr)
{
    cleanup(query_end) struct query find = query_begin(tx, Q_FIND_FIGURES, reterr);
    bind_time(&find, resolution, from_us, before_us);
    TRY(rows_read(&find, &figure_row_type, ret_rows, room, ret_count));
    cleanup(query_end) struct query drop = query_begin(tx, Q_DROP_FIGURES, reterr);
    bind_time(&drop, resolution, from_us, before_us);
    bind_int(&drop, ":room", (int64_t)*ret_count);
    return query_run(&drop);
}

cairn_code sqlite_drop_figures(struct store_tx *tx, int32_t resolution, int64_t before_us,
                               cairn_error *reterr)
{
    cleanup(query_end) struct query drop = query_begin(tx, Q_DROP_FIGURES, reterr);
    bind_time(&drop, resolution, 0, before_us);
    bind_int(&drop, ":room", -1);
    return query_run(&drop);
}

cairn_code sqlite_oldest_figure(struct store_tx *tx, int32_t resolution, int64_t before_us,
                                int64_t *ret_at_us, cairn_error *reterr)
{
    cleanup(query_end) struct query query = query_begin(tx, Q_OLDEST_FIGURE, reterr);
    bind_int(&query, ":resolution", resolution);
    bind_int(&query, ":before", before_us);
    TRY(query_find(&query));
    *ret_at_us = sqlite3_column_int64(query.handle, 0);
    return CAIRN_OK;
}

cairn_code sqlite_list_figures(struct store_tx *tx, const char *type, int64_t from_us,
                               struct figure_row *ret_rows, size_t room, size_t *ret_count,
                               cairn_error *reterr)
{
    cleanup(query_end) struct query query = query_begin(tx, Q_LIST_FIGURES, reterr);
    bind_text(&query, ":type", type);
    bind_int(&query, ":from", from_us);
    return rows_read(&query, &figure_row_type, ret_rows, room, ret_count);
}
