/* store/postgres/job.c - rows of workflow_run: inserted, locked, written, read.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "base/error.h"
#include "base/mem.h"
#include "core/pattern.h"
#include "store/postgres/postgres.h"

#include <assert.h>
#include <string.h>

/* ---- inserting -----------------------------------------------------------------------------
 */

enum { INSERT_COLUMNS = 21, UPDATE_COLUMNS = 15, LOCK_CLOCK = 22 };

static void add_insert_row(struct postgres_columns *columns, const struct job_row *row)
{
    column_uuid(columns, row->id);
    column_text(columns, row->type);
    column_json(columns, row->payload);
    column_text(columns, row->key);
    column_text(columns, job_status_name(row->status));
    column_int(columns, row->priority);
    column_int(columns, row->attempt);
    column_int(columns, row->max_attempts);
    column_bool(columns, row->is_ready);
    column_text(columns, row->leased_by);
    column_text(columns, row->token);
    column_text(columns, row->ended_by);
    column_text(columns, row->ended_token);
    column_text(columns, row->last_error);
    column_json(columns, row->result);
    column_time(columns, row->run_at_us);
    column_time_or_null(columns, row->lease_until_us);
    column_time(columns, row->created_at_us);
    column_time(columns, row->updated_at_us);
    column_time_or_null(columns, row->deleted_at_us);
    column_text(columns, row->ended_outcome);
    columns_end_row(columns, INSERT_COLUMNS);
}

/* Notes which rows were new.  They come back in the order sent, which nobody promises: so the
 * search goes on where it last succeeded, and around. */
static cairn_code note_inserted(struct store_tx *tx, const PGresult *result,
                                struct job_row *rows, size_t count, bool *ret_is_new,
                                cairn_error *reterr)
{
    struct postgres_reader reader = {.result = result, .arena = tx->arena};
    size_t at = 0;
    for (reader.row = 0; reader.row < PQntuples(result); reader.row++) {
        const char *id = PQgetvalue(result, reader.row, 0);
        size_t looked = 0;
        while (looked++ < count && strcmp(rows[at].id, id) != 0)
            at = (at + 1) % count;
        if (strcmp(rows[at].id, id) != 0)
            return fail(reterr, CAIRN_E_STORE, "could not insert jobs: id %s is unknown", id);
        rows[at].seq = value_int(&reader, 1);
        ret_is_new[at] = true;
        at = (at + 1) % count;
    }
    return CAIRN_OK;
}

/* Inserts those rows that are not yet known to be new or to exist. */
static cairn_code insert_open(struct store_tx *tx, struct job_row *rows, size_t count,
                              bool *is_new, const bool *is_settled, cairn_error *reterr)
{
    cleanup(columns_done) struct postgres_columns columns = {0};
    size_t i = 0;
    while (i < count) {
        size_t sent = 0;
        columns_reset(&columns);
        for (; i < count && columns_size(&columns) < POSTGRES_PORTION; i++) {
            if (is_settled[i])
                continue;
            add_insert_row(&columns, &rows[i]);
            sent++;
        }
        if (sent == 0)
            break;

        cleanup(postgres_result_done) PGresult *result = NULL;
        struct postgres_params params = {.arena = tx->arena};
        param_columns(&params, &columns, INSERT_COLUMNS);
        cairn_code code =
            postgres_run(postgres_session_of(tx), PG_INSERT_JOBS, &params, &result, reterr);
        if (!code)
            code = note_inserted(tx, result, rows, count, is_new, reterr);
        if (code)
            return code;
    }
    return CAIRN_OK;
}

/* What stands in the way of rows that were left out; *ret_open counts those for which nothing
 * does any more, because somebody has just deleted it. */
static cairn_code find_existing(struct store_tx *tx, struct job_row *rows, size_t count,
                                bool *is_settled, enum insert_result *ret_results,
                                size_t *ret_open, cairn_error *reterr)
{
    cleanup(columns_done) struct postgres_columns columns = {0};
    cleanup(postgres_result_done) PGresult *result = NULL;
    struct postgres_params params = {.arena = tx->arena};
    size_t *places = arena_array(tx->arena, count, sizeof *places);
    if (!places)
        return fail_memory(reterr);

    size_t asked = 0;
    for (size_t i = 0; i < count; i++) {
        if (is_settled[i])
            continue;
        places[asked++] = i;
        column_uuid(&columns, rows[i].id);
        column_text(&columns, rows[i].key);
        columns_end_row(&columns, 2);
    }
    *ret_open = asked;
    if (asked == 0)
        return CAIRN_OK;
    param_columns(&params, &columns, 2);
    cairn_code code =
        postgres_run(postgres_session_of(tx), PG_FIND_EXISTING, &params, &result, reterr);
    if (code)
        return code;

    struct postgres_reader reader = {.result = result, .arena = tx->arena};
    for (reader.row = 0; reader.row < PQntuples(result); reader.row++) {
        size_t place = places[value_int(&reader, 0) - 1];
        const char *id = value_text(&reader, 2);
        bool is_again = value_bool(&reader, 1);
        if (!is_again && !id)
            continue;
        ret_results[place] = is_again ? INSERT_AGAIN : INSERT_EXISTING;
        if (!is_again)
            rows[place].id = id;
        is_settled[place] = true;
        (*ret_open)--;
    }
    return reader.failed ? fail_memory(reterr) : CAIRN_OK;
}

cairn_code postgres_insert_jobs(struct store_tx *tx, struct job_row *rows, size_t count,
                                enum insert_result *ret_results, cairn_error *reterr)
{
    enum { TRIES = 3 };
    size_t open = count;
    bool *is_new = arena_array(tx->arena, count, sizeof *is_new);
    bool *is_settled = arena_array(tx->arena, count, sizeof *is_settled);
    if (!is_new || !is_settled)
        return fail_memory(reterr);

    for (int try = 0; open > 0 && try < TRIES; try++) {
        cairn_code code = insert_open(tx, rows, count, is_new, is_settled, reterr);
        if (code)
            return code;
        for (size_t i = 0; i < count; i++) {
            if (is_settled[i] || !is_new[i])
                continue;
            is_settled[i] = true;
            ret_results[i] = INSERT_DONE;
            postgres_note_row(tx, &rows[i]);
        }
        code = find_existing(tx, rows, count, is_settled, ret_results, &open, reterr);
        if (code)
            return code;
    }
    if (open > 0)
        return fail(reterr, CAIRN_E_BUSY,
                    "could not insert jobs: others keep inserting and deleting the same keys");
    return CAIRN_OK;
}

/* ---- locking and writing -------------------------------------------------------------------
 */

void postgres_move_on(struct store_tx *tx, struct postgres_reader *reader, int column)
{
    int64_t now_us = value_time(reader, column);
    if (!tx->session->store->clock->is_virtual && now_us > tx->now_us)
        tx->now_us = now_us;
}

cairn_code postgres_tell_busy(struct store_tx *tx, enum postgres_query query,
                              const char *const *ids, size_t count, enum lock_result *results,
                              cairn_error *reterr)
{
    cleanup(postgres_result_done) PGresult *result = NULL;
    struct postgres_params params = {.arena = tx->arena};
    const char **missing = arena_array(tx->arena, count, sizeof *missing);
    size_t missing_count = 0;
    if (!missing)
        return fail_memory(reterr);
    for (size_t i = 0; i < count; i++)
        if (results[i] != LOCK_DONE)
            missing[missing_count++] = ids[i];
    if (missing_count == 0)
        return CAIRN_OK;

    param_uuids(&params, missing, missing_count);
    cairn_code code = postgres_run(postgres_session_of(tx), query, &params, &result, reterr);
    if (code)
        return code;
    /* Both in order of id. */
    int row = 0;
    for (size_t i = 0; i < count && row < PQntuples(result); i++) {
        if (results[i] == LOCK_DONE || strcmp(ids[i], PQgetvalue(result, row, 0)) != 0)
            continue;
        results[i] = LOCK_BUSY;
        row++;
    }
    return CAIRN_OK;
}

cairn_code postgres_lock_jobs(struct store_tx *tx, const char *const *ids, size_t count,
                              bool may_wait, struct job_row *ret_rows,
                              enum lock_result *ret_results, cairn_error *reterr)
{
    cleanup(postgres_result_done) PGresult *result = NULL;
    struct postgres_params params = {.arena = tx->arena};
    if (count == 0)
        return CAIRN_OK;
    param_uuids(&params, ids, count);
    cairn_code code =
        postgres_run(postgres_session_of(tx), may_wait ? PG_LOCK_JOBS_WAITING : PG_LOCK_JOBS,
                     &params, &result, reterr);
    if (code)
        return code;

    struct postgres_reader reader = {.result = result, .arena = tx->arena};
    for (size_t i = 0; i < count; i++) {
        ret_results[i] = LOCK_ABSENT;
        if (reader.row >= PQntuples(result) ||
            strcmp(ids[i], PQgetvalue(result, reader.row, 1)) != 0)
            continue;
        postgres_read_job(&reader, 0, &ret_rows[i]);
        postgres_move_on(tx, &reader, LOCK_CLOCK);
        ret_results[i] = LOCK_DONE;
        reader.row++;
    }
    if (reader.failed)
        return fail_memory(reterr);
    return postgres_tell_busy(tx, PG_FIND_JOBS, ids, count, ret_results, reterr);
}

cairn_code postgres_lock_expired_jobs(struct store_tx *tx, struct job_row *ret_rows,
                                      size_t room, size_t *ret_count, cairn_error *reterr)
{
    cleanup(postgres_result_done) PGresult *result = NULL;
    struct postgres_params params = {.arena = tx->arena};
    param_time(&params, tx->now_us);
    param_int(&params, (int64_t)room);
    param_timer_from(&params, tx, TIMER_JOB_LEASE);
    cairn_code code =
        postgres_run(postgres_session_of(tx), PG_LOCK_EXPIRED_JOBS, &params, &result, reterr);
    return code ? code : postgres_read_jobs(tx, result, ret_rows, room, ret_count, reterr);
}

static void add_update_row(struct postgres_columns *columns, const struct job_row *row)
{
    column_uuid(columns, row->id);
    column_text(columns, job_status_name(row->status));
    column_int(columns, row->attempt);
    column_bool(columns, row->is_ready);
    column_text(columns, row->leased_by);
    column_text(columns, row->token);
    column_text(columns, row->ended_by);
    column_text(columns, row->ended_token);
    column_text(columns, row->last_error);
    column_json(columns, row->result);
    column_time(columns, row->run_at_us);
    column_time_or_null(columns, row->lease_until_us);
    column_time(columns, row->updated_at_us);
    column_time_or_null(columns, row->deleted_at_us);
    column_text(columns, row->ended_outcome);
    columns_end_row(columns, UPDATE_COLUMNS);
}

cairn_code postgres_update_jobs(struct store_tx *tx, const struct job_row *rows, size_t count,
                                cairn_error *reterr)
{
    struct postgres_session *session = postgres_session_of(tx);
    cleanup(columns_done) struct postgres_columns columns = {0};
    size_t i = 0;
    while (i < count) {
        columns_reset(&columns);
        for (; i < count && columns_size(&columns) < POSTGRES_PORTION; i++) {
            add_update_row(&columns, &rows[i]);
            postgres_note_row(tx, &rows[i]);
        }
        struct postgres_params params = {.arena = tx->arena};
        param_columns(&params, &columns, UPDATE_COLUMNS);
        cairn_code code = postgres_queue(session, PG_UPDATE_JOBS, &params, reterr);
        if (code)
            return code;
    }
    return CAIRN_OK;
}

/* ---- reading -------------------------------------------------------------------------------
 */

cairn_code postgres_get_job(struct store_tx *tx, const char *id, struct job_row *ret_row,
                            cairn_error *reterr)
{
    cleanup(postgres_result_done) PGresult *result = NULL;
    struct postgres_params params = {.arena = tx->arena};
    size_t count = 0;
    if (!id_is_valid(id))
        return CAIRN_E_NOT_FOUND;
    param_text(&params, id);
    cairn_code code =
        postgres_run(postgres_session_of(tx), PG_GET_JOB, &params, &result, reterr);
    if (!code)
        code = postgres_read_jobs(tx, result, ret_row, 1, &count, reterr);
    return code ? code : count ? CAIRN_OK : CAIRN_E_NOT_FOUND;
}

/* Sets $n (exact type) and $n+1 (prefix). */
static void param_pattern(struct postgres_params *params, const char *pattern)
{
    if (!pattern || !pattern_is_prefix(pattern)) {
        param_text(params, pattern);
        param_text(params, NULL);
        return;
    }
    char *prefix = arena_strndup(params->arena, pattern, strlen(pattern) - 1);
    if (!prefix)
        params->failed = true;
    param_text(params, NULL);
    param_text(params, prefix);
}

cairn_code postgres_list_jobs(struct store_tx *tx, const struct job_filter *filter,
                              struct job_row *ret_rows, size_t room, size_t *ret_count,
                              cairn_error *reterr)
{
    cleanup(postgres_result_done) PGresult *result = NULL;
    struct postgres_params params = {.arena = tx->arena};
    enum postgres_query query = filter->key ? PG_LIST_JOBS_BY_KEY : PG_LIST_JOBS;
    param_text(&params, filter->status ? job_status_name(filter->status) : NULL);
    param_pattern(&params, filter->pattern);
    param_int(&params, filter->before_seq ? filter->before_seq : INT64_MAX);
    param_int(&params, (int64_t)room);
    if (filter->key)
        param_text(&params, filter->key);
    cairn_code code = postgres_run(postgres_session_of(tx), query, &params, &result, reterr);
    return code ? code : postgres_read_jobs(tx, result, ret_rows, room, ret_count, reterr);
}

cairn_code postgres_count_jobs(struct store_tx *tx, struct job_counts *ret_counts,
                               cairn_error *reterr)
{
    cleanup(postgres_result_done) PGresult *result = NULL;
    struct postgres_params params = {.arena = tx->arena};
    param_time(&params, tx->now_us);
    cairn_code code =
        postgres_run(postgres_session_of(tx), PG_COUNT_JOBS, &params, &result, reterr);
    if (code)
        return code;
    struct postgres_reader reader = {.result = result};
    *ret_counts = (struct job_counts){
        .pending = (uint64_t)value_int(&reader, 0),
        .ready = (uint64_t)value_int(&reader, 1),
        .leased = (uint64_t)value_int(&reader, 2),
        .oldest_ready_us = value_time(&reader, 3),
    };
    return CAIRN_OK;
}
