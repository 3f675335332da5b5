/* store/postgres/job.c - rows of workflow_run.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "base/error.h"
#include "base/mem.h"
#include "core/pattern.h"
#include "store/postgres/postgres.h"

#include <string.h>

static void add_keys(struct postgres_columns *columns, const void *row)
{
    const struct job_row *job = row;
    columns_uuid(columns, job->id);
    columns_text(columns, job->key);
}

static const struct keyed_rows jobs = {
    .type = &job_row_type,
    .noun = "jobs",
    .id_offset = offsetof(struct job_row, id),
    .key_offset = offsetof(struct job_row, key),
    .seq_offset = offsetof(struct job_row, seq),
    .insert = PG_INSERT_JOBS,
    .find_existing = PG_FIND_EXISTING_JOBS,
    .refuse_kept = PG_REFUSE_KEPT_JOBS,
    .lock = PG_LOCK_JOBS,
    .lock_waiting = PG_LOCK_JOBS_WAITING,
    .find = PG_FIND_JOBS,
    .add_keys = add_keys,
    .note = postgres_note_job,
};

/* Every job that is leased is in a lease row that is due when its lease ends, or earlier.  A claim
 * writes one itself; this is for rows that are leased in another way, or until an earlier time. */
static cairn_code add_leases(struct store_tx *tx, const struct job_row *rows, size_t count,
                             cairn_error *reterr)
{
    struct postgres_columns columns = {0};
    struct postgres_params params = {.arena = tx->arena};
    for (size_t i = 0; i < count; i++) {
        if (rows[i].status != JOB_LEASED)
            continue;
        columns_uuid(&columns, rows[i].id);
        columns_time(&columns, rows[i].lease_until_us);
        columns_end_row(&columns);
    }
    if (columns.count == 0)
        return CAIRN_OK;
    param_columns_copied(&params, &columns);
    return postgres_queue(postgres_session_of(tx), PG_ADD_LEASES, &params, reterr);
}

cairn_code postgres_insert_jobs(struct store_tx *tx, struct job_row *rows, size_t count,
                                enum insert_result *ret_results, cairn_error *reterr)
{
    postgres_session_of(tx)->tx.announced = (struct announced_jobs){0}; /* it is these */
    TRY(add_leases(tx, rows, count, reterr));
    return postgres_insert_keyed(tx, &jobs, rows, count, ret_results, reterr);
}

cairn_code postgres_replace_payloads(struct store_tx *tx, const struct job_row *rows,
                                     size_t count, cairn_error *reterr)
{
    struct postgres_columns columns = {0};
    struct postgres_params params = {.arena = tx->arena};
    for (size_t i = 0; i < count; i++) {
        columns_uuid(&columns, rows[i].id);
        columns_text(&columns, rows[i].payload);
        columns_end_row(&columns);
    }
    param_columns_copied(&params, &columns);
    return postgres_queue(postgres_session_of(tx), PG_REPLACE_PAYLOADS, &params, reterr);
}

cairn_code postgres_send_new_jobs(struct store_tx *tx, struct job_row *rows, size_t count,
                                  bool *ret_is_sent, cairn_error *reterr)
{
    return postgres_send_keyed(tx, &jobs, rows, count, ret_is_sent, reterr);
}

cairn_code postgres_lock_jobs(struct store_tx *tx, const char *const *ids, size_t count,
                              bool may_wait, struct job_row *ret_rows,
                              enum lock_result *ret_results, cairn_error *reterr)
{
    return postgres_lock_keyed(tx, &jobs, ids, count, may_wait, ret_rows, ret_results, reterr);
}

/* One look at this many lease rows.  *ret_is_all: there were no more. */
static cairn_code lock_expired(struct store_tx *tx, size_t lease_rows, struct job_row *ret_rows,
                               size_t room, size_t *ret_count, bool *ret_is_all,
                               cairn_error *reterr)
{
    cleanup(reader_done) struct postgres_reader reader = {0};
    struct postgres_params params = PARAMS(tx, TIME(tx->now_us), INT(room));
    param_timer_from(&params, tx, TIMER_JOB_LEASE);
    param_int(&params, (int64_t)lease_rows);
    TRY(postgres_ask(tx, PG_LOCK_EXPIRED_JOBS, &params, &reader, reterr));
    *ret_is_all = (size_t)value_int(&reader, 0) < lease_rows;
    *ret_count = 0;
    for (; reader.row < reader.count && !PQgetisnull(reader.result, reader.row, 1);
         reader.row++)
        postgres_read_row(&reader, 1, &job_row_type, &ret_rows[(*ret_count)++]);
    return reader.failed ? fail_memory(reterr) : CAIRN_OK;
}

/* What others hold, and what is no longer leased, may be followed by more. */
cairn_code postgres_lock_expired_jobs(struct store_tx *tx, struct job_row *ret_rows,
                                      size_t room, size_t *ret_count, cairn_error *reterr)
{
    enum { LEASE_ROWS = 8 };
    bool is_all = false;
    *ret_count = 0;
    TRY(postgres_settle_leases(tx, NULL, reterr));
    for (size_t rows = LEASE_ROWS; *ret_count < room && !is_all; rows *= LEASE_ROWS)
        TRY(lock_expired(tx, rows, ret_rows, room, ret_count, &is_all, reterr));
    return CAIRN_OK;
}

/* Members of all rows, in order; one is enough if they are alike. */
struct alike_texts {
    const char **texts;
    size_t count;
};

static cairn_code gather_texts(struct store_tx *tx, const struct job_row *rows, size_t count,
                               size_t offset, struct alike_texts *ret, cairn_error *reterr)
{
    bool is_alike = true;
    *ret = (struct alike_texts){arena_array(tx->arena, count, sizeof *ret->texts), count};
    if (!ret->texts)
        return fail_memory(reterr);
    for (size_t i = 0; i < count; i++) {
        ret->texts[i] = *(const char *const *)((const char *)&rows[i] + offset);
        is_alike = is_alike && text_is(ret->texts[i], ret->texts[0]);
    }
    ret->count = is_alike ? 1 : count;
    return CAIRN_OK;
}

static cairn_code completion_params(struct store_tx *tx, const struct job_row *rows,
                                    size_t count, struct postgres_params *ret_params,
                                    cairn_error *reterr)
{
    struct postgres_params params = {.arena = tx->arena};
    struct alike_texts ids, workers, tokens, results;
    TRY(gather_texts(tx, rows, count, offsetof(struct job_row, id), &ids, reterr));
    TRY(gather_texts(tx, rows, count, offsetof(struct job_row, ended_by), &workers, reterr));
    TRY(gather_texts(tx, rows, count, offsetof(struct job_row, ended_token), &tokens, reterr));
    TRY(gather_texts(tx, rows, count, offsetof(struct job_row, result), &results, reterr));
    param_uuids(&params, ids.texts, ids.count);
    param_texts(&params, workers.texts, workers.count);
    param_texts(&params, tokens.texts, tokens.count);
    param_jsons(&params, results.texts, results.count);
    param_time(&params, tx->now_us);
    param_text(&params, tx->session->store->clock->is_virtual ? "t" : "f");
    param_text(&params, job_status_name(rows->status));
    param_text(&params, rows->ended_outcome);
    param_int(&params, rows->last_event);
    *ret_params = params;
    return CAIRN_OK;
}

/* The answer: sent for before, or asked for now. */
static cairn_code ask_completed(struct store_tx *tx, const struct job_row *rows, size_t count,
                                struct postgres_reader *ret_reader, cairn_error *reterr)
{
    struct postgres_params params;
    if (postgres_is_sent(postgres_session_of(tx), PG_COMPLETE_JOBS))
        return postgres_take(tx, PG_COMPLETE_JOBS, ret_reader, reterr);
    TRY(completion_params(tx, rows, count, &params, reterr));
    return postgres_ask(tx, PG_COMPLETE_JOBS, &params, ret_reader, reterr);
}

static cairn_code complete_portion(struct store_tx *tx, struct job_row *rows, size_t count,
                                   bool *ret_is_done, cairn_error *reterr)
{
    cleanup(reader_done) struct postgres_reader reader = {0};
    TRY(ask_completed(tx, rows, count, &reader, reterr));
    postgres_move_clock(tx, &reader);
    for (; reader.row < reader.count; reader.row++) {
        size_t number = (size_t)value_int(&reader, 1);
        if (number < 1 || number > count)
            continue;
        ret_is_done[number - 1] = true;
        rows[number - 1].attempt = (int32_t)value_int(&reader, 2);
        rows[number - 1].prev_event = value_int(&reader, 3);
        rows[number - 1].last_event = value_int(&reader, 4);
        rows[number - 1].event_count = (int32_t)value_int(&reader, 5);
        rows[number - 1].type = value_text(&reader, 6);
        rows[number - 1].schedule = value_text(&reader, 7);
        rows[number - 1].is_counted = value_bool(&reader, 8);
        postgres_note_run_ended(tx, rows[number - 1].schedule);
    }
    return reader.failed ? fail_memory(reterr) : CAIRN_OK;
}

/* How many rows go at once. */
static size_t portion_of(const struct job_row *rows, size_t count)
{
    size_t end = 0;
    for (size_t bytes = 0; end < count && bytes < POSTGRES_PORTION; end++)
        bytes += rows[end].result ? strlen(rows[end].result) : 0;
    return end;
}

cairn_code postgres_send_complete_jobs(struct store_tx *tx, struct job_row *rows, size_t count,
                                       bool *ret_is_sent, cairn_error *reterr)
{
    struct postgres_params params;
    *ret_is_sent = portion_of(rows, count) == count;
    if (!*ret_is_sent)
        return CAIRN_OK;
    TRY(completion_params(tx, rows, count, &params, reterr));
    return postgres_send(postgres_session_of(tx), PG_COMPLETE_JOBS, &params, reterr);
}

cairn_code postgres_complete_jobs(struct store_tx *tx, struct job_row *rows, size_t count,
                                  bool *ret_is_done, cairn_error *reterr)
{
    for (size_t i = 0; i < count; i++)
        ret_is_done[i] = false;
    for (size_t begin = 0, end = 0; begin < count; begin = end) {
        end = begin + portion_of(rows + begin, count - begin);
        TRY(complete_portion(tx, rows + begin, end - begin, ret_is_done + begin, reterr));
    }
    return CAIRN_OK;
}

cairn_code postgres_update_jobs(struct store_tx *tx, const struct job_row *rows, size_t count,
                                cairn_error *reterr)
{
    for (size_t i = 0; i < count; i++)
        postgres_note_job(tx, &rows[i]);
    TRY(add_leases(tx, rows, count, reterr));
    return postgres_write_rows(tx, PG_UPDATE_JOBS, &job_row_type, COLUMNS_UPDATE, rows, count,
                               reterr);
}

cairn_code postgres_find_ended(struct store_tx *tx, const char *const *ids, size_t count,
                               bool *ret_is_ended, cairn_error *reterr)
{
    cleanup(reader_done) struct postgres_reader reader = {0};
    struct postgres_params params = {.arena = tx->arena};
    param_uuids(&params, ids, count);
    TRY(postgres_ask(tx, PG_FIND_ENDED, &params, &reader, reterr));
    for (size_t i = 0; i < count; i++)
        ret_is_ended[i] = true;
    for (; reader.row < reader.count; reader.row++)
        ret_is_ended[value_int(&reader, 0) - 1] = false;
    return CAIRN_OK;
}

cairn_code postgres_get_job(struct store_tx *tx, const char *id, struct job_row *ret_row,
                            cairn_error *reterr)
{
    struct postgres_params params = PARAMS(tx, ID(id));
    return postgres_read_one(tx, PG_GET_JOB, &params, &job_row_type, ret_row, reterr);
}

cairn_code postgres_count_jobs(struct store_tx *tx, struct job_counts *ret_counts,
                               cairn_error *reterr)
{
    cleanup(reader_done) struct postgres_reader reader = {0};
    struct postgres_params params = PARAMS(tx, TIME(tx->now_us));
    TRY(postgres_ask(tx, PG_COUNT_JOBS, &params, &reader, reterr));
    *ret_counts = (struct job_counts){
        .pending = (uint64_t)value_int(&reader, 0),
        .ready = (uint64_t)value_int(&reader, 1),
        .leased = (uint64_t)value_int(&reader, 2),
        .oldest_ready_us = value_time(&reader, 3),
    };
    return CAIRN_OK;
}
