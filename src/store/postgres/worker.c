/* store/postgres/worker.c - what processes have seen of workers, what these hold, and what waits for them.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "base/clock.h"
#include "base/error.h"
#include "base/mem.h"
#include "store/postgres/postgres.h"

cairn_code postgres_put_workers(struct store_tx *tx, const char *rows, cairn_error *reterr)
{
    cleanup(reader_done) struct postgres_reader reader = {0};
    struct postgres_params params = PARAMS(tx, TEXT(rows), TIME(tx->now_us - WORKER_KEPT_US));
    return postgres_ask(tx, PG_PUT_WORKERS, &params, &reader, reterr);
}

cairn_code postgres_forget_workers(struct store_tx *tx, const char *process,
                                   cairn_error *reterr)
{
    cleanup(reader_done) struct postgres_reader reader = {0};
    struct postgres_params params = PARAMS(tx, TEXT(process));
    return postgres_ask(tx, PG_FORGET_WORKERS, &params, &reader, reterr);
}

cairn_code postgres_list_workers(struct store_tx *tx, struct worker_row *ret_rows, size_t room,
                                 size_t *ret_count, cairn_error *reterr)
{
    struct postgres_params params = PARAMS(tx, INT(room));
    return postgres_read_rows(tx, PG_LIST_WORKERS, &params, &worker_row_type, ret_rows, room,
                              ret_count, reterr);
}

cairn_code postgres_list_held_jobs(struct store_tx *tx, const char *worker,
                                   struct job_row *ret_rows, size_t room, size_t *ret_count,
                                   cairn_error *reterr)
{
    struct postgres_params params = PARAMS(tx, TEXT(worker), INT(room));
    return postgres_read_rows(tx, PG_LIST_HELD_JOBS, &params, &job_row_type, ret_rows, room,
                              ret_count, reterr);
}

cairn_code postgres_list_held_steps(struct store_tx *tx, const char *worker,
                                    struct step_row *ret_rows, size_t room, size_t *ret_count,
                                    cairn_error *reterr)
{
    struct postgres_params params = PARAMS(tx, TEXT(worker), INT(room));
    return postgres_read_rows(tx, PG_LIST_HELD_STEPS, &params, &step_row_type, ret_rows, room,
                              ret_count, reterr);
}

/* No index of jobs has their time: of so many it is read. */
enum { OLDEST_LOOK = 500 };

cairn_code postgres_count_ready(struct store_tx *tx, const char *const *types, size_t count,
                                struct ready_count *ret_counts, cairn_error *reterr)
{
    cleanup(reader_done) struct postgres_reader reader = {0};
    struct postgres_params params = {.arena = tx->arena};
    if (!count)
        return CAIRN_OK;
    param_texts(&params, types, count);
    param_int(&params, TYPE_COUNT_MAX + 1);
    param_int(&params, OLDEST_LOOK);
    TRY(postgres_ask(tx, PG_COUNT_READY, &params, &reader, reterr));
    for (; reader.row < reader.count; reader.row++) {
        int64_t values[4] = {value_int(&reader, 0), value_int(&reader, 1),
                             value_time(&reader, 2), value_time(&reader, 3)};
        ret_counts[reader.row] = ready_count_of(values);
    }
    return CAIRN_OK;
}

cairn_code postgres_count_unready(struct store_tx *tx, size_t most,
                                  struct unready_count *ret_rows, size_t room,
                                  size_t *ret_count, cairn_error *reterr)
{
    cleanup(reader_done) struct postgres_reader reader = {0};
    struct postgres_params params = PARAMS(tx, INT(most), INT(room));
    TRY(postgres_ask(tx, PG_COUNT_UNREADY, &params, &reader, reterr));
    for (; reader.row < reader.count; reader.row++)
        ret_rows[reader.row] = (struct unready_count){.type = value_text(&reader, 0),
                                                      .later = value_int(&reader, 1),
                                                      .leased = value_int(&reader, 2),
                                                      .leased_steps = value_int(&reader, 3)};
    *ret_count = (size_t)reader.count;
    return reader.failed ? fail_memory(reterr) : CAIRN_OK;
}
