/* store/sqlite/list.c - lists and counts of jobs.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "base/error.h"
#include "base/mem.h"
#include "store/sqlite/sqlite.h"

/* Up to here sorting what is pending is quicker than walking past what is done. */
enum { FEW_PENDING = 10000 };

static cairn_code is_few_pending(struct store_tx *tx, bool *ret_few, cairn_error *reterr)
{
    cleanup(query_end) struct query query =
        query_begin(sqlite_session_of(tx), Q_COUNT_FEW_PENDING);
    bind_int(&query, ":limit", FEW_PENDING + 1);
    if (query_step(&query) != SQLITE_ROW)
        return query_refused(&query, "count jobs", reterr);
    *ret_few = sqlite3_column_int64(query.statement, 0) <= FEW_PENDING;
    return CAIRN_OK;
}

/* The query whose index fits the filter best. */
static cairn_code choose_query(struct store_tx *tx, const struct job_filter *filter,
                               enum query_number *ret_number, cairn_error *reterr)
{
    bool is_few = false;
    cairn_code code = CAIRN_OK;
    *ret_number = Q_LIST_JOBS;
    if (filter->key)
        *ret_number = Q_LIST_JOBS_BY_KEY;
    else if (filter->status == JOB_FAILED || filter->status == JOB_CANCELLED)
        *ret_number = Q_LIST_UNSUCCESSFUL_JOBS;
    else if (filter->status == JOB_LEASED)
        *ret_number = Q_LIST_LEASED_JOBS;
    else if (filter->status == JOB_PENDING)
        code = is_few_pending(tx, &is_few, reterr);
    if (is_few)
        *ret_number = Q_LIST_FEW_PENDING_JOBS;
    return code;
}

/* Those whose query says the status in its own words do not ask for it. */
static bool has_status(enum query_number number)
{
    return number != Q_LIST_LEASED_JOBS && number != Q_LIST_FEW_PENDING_JOBS;
}

cairn_code sqlite_list_jobs(struct store_tx *tx, const struct job_filter *filter,
                            struct job_row *ret_rows, size_t room, size_t *ret_count,
                            cairn_error *reterr)
{
    enum query_number number;
    cairn_code code = choose_query(tx, filter, &number, reterr);
    if (code)
        return code;

    cleanup(query_end) struct query query = query_begin(sqlite_session_of(tx), number);
    if (has_status(number) && filter->status != JOB_NONE)
        bind_text(&query, ":status", job_status_name(filter->status));
    if (filter->key)
        bind_text(&query, ":key", filter->key);
    bind_types(&query, filter->pattern, tx->arena);
    bind_int(&query, ":before", filter->before_seq ? filter->before_seq : INT64_MAX);
    bind_size(&query, ":room", room);
    return read_jobs(&query, tx, "list jobs", ret_rows, room, ret_count, reterr);
}

cairn_code sqlite_count_jobs(struct store_tx *tx, struct job_counts *ret_counts,
                             cairn_error *reterr)
{
    cleanup(query_end) struct query query = query_begin(sqlite_session_of(tx), Q_COUNT_JOBS);
    bind_int(&query, ":now", tx->now_us);
    if (query_step(&query) != SQLITE_ROW)
        return query_refused(&query, "count jobs", reterr);
    struct row_reader reader = {.query = &query};
    ret_counts->pending = (uint64_t)read_int(&reader);
    ret_counts->ready = (uint64_t)read_int(&reader);
    ret_counts->leased = (uint64_t)read_int(&reader);
    ret_counts->oldest_ready_us = read_int(&reader);
    return CAIRN_OK;
}

cairn_code sqlite_list_types(struct store_tx *tx, const char **ret_types, size_t room,
                             size_t *ret_count, cairn_error *reterr)
{
    cleanup(query_end) struct query query = query_begin(sqlite_session_of(tx), Q_LIST_TYPES);
    bind_size(&query, ":room", room);
    size_t count = 0;
    while (count < room && query_step(&query) == SQLITE_ROW) {
        struct row_reader reader = {.query = &query, .arena = tx->arena};
        ret_types[count++] = read_text(&reader);
        if (reader.failed)
            return fail_memory(reterr);
    }
    if (query.rc != SQLITE_OK && query.rc != SQLITE_ROW && query.rc != SQLITE_DONE)
        return query_refused(&query, "list types", reterr);
    *ret_count = count;
    return CAIRN_OK;
}
