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

cairn_code postgres_count_type(struct store_tx *tx, const char *type,
                               struct type_counts *ret_counts, cairn_error *reterr)
{
    cleanup(reader_done) struct postgres_reader reader = {0};
    struct postgres_params params = PARAMS(tx, TEXT(type), INT(TYPE_COUNT_MAX + 1));
    TRY(postgres_ask(tx, PG_COUNT_TYPE, &params, &reader, reterr));
    int64_t values[6] = {value_int(&reader, 0),  value_int(&reader, 1), value_time(&reader, 2),
                         value_time(&reader, 3), value_int(&reader, 4), value_int(&reader, 5)};
    *ret_counts = type_counts_of(values);
    return CAIRN_OK;
}
