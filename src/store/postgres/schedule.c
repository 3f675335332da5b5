/* store/postgres/schedule.c - schedules, and what became of their times.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "base/error.h"
#include "base/mem.h"
#include "store/postgres/postgres.h"

cairn_code postgres_put_schedule(struct store_tx *tx, const struct schedule_row *row,
                                 cairn_error *reterr)
{
    postgres_session_of(tx)->tx.is_news = true; /* engines that listen set a timer */
    if (row->due_at_us)
        postgres_note_flow_due(tx, row->due_at_us);
    return postgres_write_rows(tx, PG_PUT_SCHEDULE, &schedule_row_type, COLUMNS_INSERT, row, 1,
                               reterr);
}

static cairn_code read_schedule(struct store_tx *tx, enum postgres_query query,
                                const char *name, struct schedule_row *ret_row,
                                cairn_error *reterr)
{
    struct postgres_params params = PARAMS(tx, TEXT(name));
    return postgres_read_one(tx, query, &params, &schedule_row_type, ret_row, reterr);
}

cairn_code postgres_get_schedule(struct store_tx *tx, const char *name,
                                 struct schedule_row *ret_row, cairn_error *reterr)
{
    return read_schedule(tx, PG_GET_SCHEDULE, name, ret_row, reterr);
}

cairn_code postgres_lock_schedule(struct store_tx *tx, const char *name,
                                  struct schedule_row *ret_row, cairn_error *reterr)
{
    return read_schedule(tx, PG_LOCK_SCHEDULE, name, ret_row, reterr);
}

cairn_code postgres_list_schedules(struct store_tx *tx, const char *after,
                                   struct schedule_row *ret_rows, size_t room,
                                   size_t *ret_count, cairn_error *reterr)
{
    const char *last = after ? after : ""; /* no name is empty */
    struct postgres_params params = PARAMS(tx, TEXT(last), INT(room));
    return postgres_read_rows(tx, PG_LIST_SCHEDULES, &params, &schedule_row_type, ret_rows,
                              room, ret_count, reterr);
}

cairn_code postgres_delete_schedule(struct store_tx *tx, const char *name, cairn_error *reterr)
{
    struct postgres_params params = PARAMS(tx, TEXT(name));
    return postgres_queue(postgres_session_of(tx), PG_DELETE_SCHEDULE, &params, reterr);
}

cairn_code postgres_find_due_schedules(struct store_tx *tx, struct schedule_row *ret_rows,
                                       size_t room, size_t *ret_count, cairn_error *reterr)
{
    struct postgres_params params = PARAMS(tx, TIME(tx->now_us), INT(room));
    return postgres_read_rows(tx, PG_FIND_DUE_SCHEDULES, &params, &schedule_row_type, ret_rows,
                              room, ret_count, reterr);
}

cairn_code postgres_put_schedule_runs(struct store_tx *tx, const struct schedule_run_row *rows,
                                      size_t count, cairn_error *reterr)
{
    return postgres_write_rows(tx, PG_PUT_SCHEDULE_RUNS, &schedule_run_row_type, COLUMNS_INSERT,
                               rows, count, reterr);
}

cairn_code postgres_drop_schedule_runs(struct store_tx *tx, const char *name, size_t keep,
                                       cairn_error *reterr)
{
    struct postgres_params params = PARAMS(tx, TEXT(name), INT(keep));
    return postgres_queue(postgres_session_of(tx), PG_DROP_SCHEDULE_RUNS, &params, reterr);
}

cairn_code postgres_list_schedule_runs(struct store_tx *tx, const char *name, bool is_open,
                                       struct schedule_run_row *ret_rows, size_t room,
                                       size_t *ret_count, cairn_error *reterr)
{
    struct postgres_params params =
        PARAMS(tx, TEXT(name), TEXT(is_open ? "t" : "f"), INT(room));
    return postgres_read_rows(tx, PG_LIST_SCHEDULE_RUNS, &params, &schedule_run_row_type,
                              ret_rows, room, ret_count, reterr);
}
