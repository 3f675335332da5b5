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

cairn_code sqlite_count_type(struct store_tx *tx, const char *type,
                             struct type_counts *ret_counts, cairn_error *reterr)
{
    cleanup(query_end) struct query query = query_begin(tx, Q_COUNT_TYPE, reterr);
    int64_t values[6];
    bind_text(&query, ":type", type);
    bind_int(&query, ":most", TYPE_COUNT_MAX + 1);
    if (query_step(&query) != SQLITE_ROW)
        return query_refused(&query);
    for (int i = 0; i < 6; i++)
        values[i] = sqlite3_column_int64(query.handle, i);
    *ret_counts = type_counts_of(values);
    return CAIRN_OK;
}
