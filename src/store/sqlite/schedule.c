/* store/sqlite/schedule.c - schedules, and what became of their times.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "base/error.h"
#include "base/mem.h"
#include "store/sqlite/sqlite.h"

cairn_code sqlite_put_schedule(struct store_tx *tx, const struct schedule_row *row,
                               cairn_error *reterr)
{
    return rows_write(tx, Q_PUT_SCHEDULE, &schedule_row_type, row, 1, reterr);
}

cairn_code sqlite_get_schedule(struct store_tx *tx, const char *name,
                               struct schedule_row *ret_row, cairn_error *reterr)
{
    cleanup(query_end) struct query query = query_begin(tx, Q_GET_SCHEDULE, reterr);
    bind_text(&query, ":name", name);
    return row_find(&query, &schedule_row_type, ret_row);
}

cairn_code sqlite_lock_schedule(struct store_tx *tx, const char *name,
                                struct schedule_row *ret_row, cairn_error *reterr)
{
    return sqlite_get_schedule(tx, name, ret_row, reterr); /* a writer is alone */
}

cairn_code sqlite_list_schedules(struct store_tx *tx, const char *after,
                                 struct schedule_row *ret_rows, size_t room, size_t *ret_count,
                                 cairn_error *reterr)
{
    cleanup(query_end) struct query query = query_begin(tx, Q_LIST_SCHEDULES, reterr);
    bind_text(&query, ":after", after ? after : ""); /* no name is empty */
    bind_size(&query, ":room", room);
    return rows_read(&query, &schedule_row_type, ret_rows, room, ret_count);
}

static cairn_code remove_named(struct store_tx *tx, enum query_number number, const char *name,
                               cairn_error *reterr)
{
    cleanup(query_end) struct query query = query_begin(tx, number, reterr);
    bind_text(&query, ":name", name);
    return query_run(&query);
}

cairn_code sqlite_delete_schedule(struct store_tx *tx, const char *name, cairn_error *reterr)
{
    TRY(remove_named(tx, Q_DELETE_SCHEDULE_RUNS, name, reterr));
    return remove_named(tx, Q_DELETE_SCHEDULE, name, reterr);
}

cairn_code sqlite_find_due_schedules(struct store_tx *tx, struct schedule_row *ret_rows,
                                     size_t room, size_t *ret_count, cairn_error *reterr)
{
    cleanup(query_end) struct query query = query_begin(tx, Q_FIND_DUE_SCHEDULES, reterr);
    bind_size(&query, ":room", room);
    return rows_read(&query, &schedule_row_type, ret_rows, room, ret_count);
}

cairn_code sqlite_put_schedule_runs(struct store_tx *tx, const struct schedule_run_row *rows,
                                    size_t count, cairn_error *reterr)
{
    return rows_write(tx, Q_PUT_SCHEDULE_RUN, &schedule_run_row_type, rows, count, reterr);
}

cairn_code sqlite_drop_schedule_runs(struct store_tx *tx, const char *name, size_t keep,
                                     cairn_error *reterr)
{
    cleanup(query_end) struct query query = query_begin(tx, Q_DROP_SCHEDULE_RUNS, reterr);
    bind_text(&query, ":name", name);
    bind_size(&query, ":keep", keep);
    return query_run(&query);
}

cairn_code sqlite_list_schedule_runs(struct store_tx *tx, const char *name, bool is_open,
                                     struct schedule_run_row *ret_rows, size_t room,
                                     size_t *ret_count, cairn_error *reterr)
{
    cleanup(query_end) struct query query = query_begin(tx, Q_LIST_SCHEDULE_RUNS, reterr);
    bind_text(&query, ":name", name);
    bind_int(&query, ":is_open", is_open);
    bind_size(&query, ":room", room);
    return rows_read(&query, &schedule_run_row_type, ret_rows, room, ret_count);
}
