/* store/sqlite/worker.c - what processes have seen of workers, what these hold, and what waits for them.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "base/clock.h"
#include "base/error.h"
#include "base/mem.h"
#include "store/sqlite/sqlite.h"

cairn_code sqlite_put_workers(struct store_tx *tx, const char *rows, cairn_error *reterr)
{
    cleanup(query_end) struct query drop = query_begin(tx, Q_DROP_OLD_WORKERS, reterr);
    bind_int(&drop, ":before", tx->now_us - WORKER_KEPT_US);
    TRY(query_run(&drop));
    cleanup(query_end) struct query put = query_begin(tx, Q_PUT_WORKERS, reterr);
    bind_text(&put, ":rows", rows);
    return query_run(&put);
}

cairn_code sqlite_forget_workers(struct store_tx *tx, const char *process, cairn_error *reterr)
{
    cleanup(query_end) struct query query = query_begin(tx, Q_FORGET_WORKERS, reterr);
    bind_text(&query, ":process", process);
    return query_run(&query);
}

cairn_code sqlite_list_workers(struct store_tx *tx, struct worker_row *ret_rows, size_t room,
                               size_t *ret_count, cairn_error *reterr)
{
    cleanup(query_end) struct query query = query_begin(tx, Q_LIST_WORKERS, reterr);
    return rows_read(&query, &worker_row_type, ret_rows, room, ret_count);
}

cairn_code sqlite_list_held_jobs(struct store_tx *tx, const char *worker,
                                 struct job_row *ret_rows, size_t room, size_t *ret_count,
                                 cairn_error *reterr)
{
    cleanup(query_end) struct query query = query_begin(tx, Q_LIST_HELD_JOBS, reterr);
    bind_text(&query, ":worker", worker);
    return rows_read(&query, &job_row_type, ret_rows, room, ret_count);
}

cairn_code sqlite_list_held_steps(struct store_tx *tx, const char *worker,
                                  struct step_row *ret_rows, size_t room, size_t *ret_count,
                                  cairn_error *reterr)
{
    cleanup(query_end) struct query query = query_begin(tx, Q_LIST_HELD_STEPS, reterr);
    bind_text(&query, ":worker", worker);
    return rows_read(&query, &step_row_type, ret_rows, room, ret_count);
}

/* How many there are, and since when the oldest is ready. */
static cairn_code count_of_type(struct store_tx *tx, enum query_number number, const char *type,
                                int64_t *ret_count, int64_t *ret_oldest_us, cairn_error *reterr)
{
    cleanup(query_end) struct query query = query_begin(tx, number, reterr);
    bind_text(&query, ":type", type);
    bind_int(&query, ":most", TYPE_COUNT_MAX + 1);
    if (query_step(&query) != SQLITE_ROW)
        return query_refused(&query);
    *ret_count = sqlite3_column_int64(query.handle, 0);
    *ret_oldest_us = sqlite3_column_int64(query.handle, 1);
    return CAIRN_OK;
}

cairn_code sqlite_count_ready(struct store_tx *tx, const char *const *types, size_t count,
                              struct ready_count *ret_counts, cairn_error *reterr)
{
    for (size_t i = 0; i < count; i++) {
        int64_t values[4] = {0};
        TRY(count_of_type(tx, Q_COUNT_READY_JOBS, types[i], &values[0], &values[2], reterr));
        TRY(count_of_type(tx, Q_COUNT_READY_STEPS, types[i], &values[1], &values[3], reterr));
        ret_counts[i] = ready_count_of(values);
    }
    return CAIRN_OK;
}

cairn_code sqlite_count_unready(struct store_tx *tx, size_t most,
                                struct unready_count *ret_rows, size_t room, size_t *ret_count,
                                cairn_error *reterr)
{
    cleanup(query_end) struct query query = query_begin(tx, Q_COUNT_UNREADY, reterr);
    size_t count = 0;
    bind_size(&query, ":most", most);
    bind_size(&query, ":room", room);
    for (; count < room && query_step(&query) == SQLITE_ROW; count++)
        ret_rows[count] =
            (struct unready_count){.type = result_text(&query, 0),
                                   .later = sqlite3_column_int64(query.handle, 1),
                                   .leased = sqlite3_column_int64(query.handle, 2),
                                   .leased_steps = sqlite3_column_int64(query.handle, 3)};
    *ret_count = count;
    return query_ended(&query);
}
