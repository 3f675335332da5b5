/* store/sqlite/job.c - jobs: insert, read, lock, update, list, count.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "base/error.h"
#include "base/mem.h"
#include "core/counter.h"
#include "store/sqlite/sqlite.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

/* ---- Reading ----------------------------------------------------------------------------- */

static cairn_code find_job(struct store_tx *tx, enum query_number number, const char *id,
                           struct job_row *ret_row, cairn_error *reterr)
{
    cleanup(query_end) struct query query = query_begin(tx, number, reterr);
    bind_text(&query, ":id", id);
    return row_find(&query, &job_row_type, ret_row);
}

cairn_code sqlite_get_job(struct store_tx *tx, const char *id, struct job_row *ret_row,
                          cairn_error *reterr)
{
    return find_job(tx, Q_GET_JOB, id, ret_row, reterr);
}

cairn_code sqlite_find_ended(struct store_tx *tx, const char *const *ids, size_t count,
                             bool *ret_is_ended, cairn_error *reterr)
{
    for (size_t i = 0; i < count; i++) {
        int64_t is_ended = 0;
        cleanup(query_end) struct query query = query_begin(tx, Q_IS_ENDED, reterr);
        bind_text(&query, ":id", ids[i]);
        TRY(query_int(&query, &is_ended));
        ret_is_ended[i] = is_ended != 0;
    }
    return CAIRN_OK;
}

cairn_code sqlite_lock_jobs(struct store_tx *tx, const char *const *ids, size_t count,
                            bool may_wait, struct job_row *ret_rows,
                            enum lock_result *ret_results, cairn_error *reterr)
{
    (void)may_wait; /* begin() has waited: no other process can hold a row now */
    for (size_t i = 0; i < count; i++) {
        cairn_code code = find_job(tx, Q_LOCK_JOB, ids[i], &ret_rows[i], reterr);
        if (code && code != CAIRN_E_NOT_FOUND)
            return code;
        ret_results[i] = code ? LOCK_ABSENT : LOCK_DONE;
    }
    return CAIRN_OK;
}

cairn_code sqlite_lock_expired_jobs(struct store_tx *tx, struct job_row *ret_rows, size_t room,
                                    size_t *ret_count, cairn_error *reterr)
{
    cleanup(query_end) struct query query = query_begin(tx, Q_LOCK_EXPIRED_JOBS, reterr);
    return rows_read(&query, &job_row_type, ret_rows, room, ret_count);
}

/* ---- Writing ----------------------------------------------------------------------------- */

cairn_code sqlite_insert_jobs(struct store_tx *tx, struct job_row *rows, size_t count,
                              enum insert_result *ret_results, cairn_error *reterr)
{
    static const struct row_insert how = {.type = &job_row_type,
                                          .insert = Q_INSERT_JOB,
                                          .find = Q_FIND_KNOWN_JOB,
                                          .is_kept = Q_IS_JOB_KEY_KEPT,
                                          .kind = "job",
                                          .seq_offset = offsetof(struct job_row, seq),
                                          .id_offset = offsetof(struct job_row, id),
                                          .key_offset = offsetof(struct job_row, key),
                                          .tags_offset = offsetof(struct job_row, tags)};
    return rows_insert(tx, &how, rows, count, ret_results, reterr);
}

cairn_code sqlite_update_jobs(struct store_tx *tx, const struct job_row *rows, size_t count,
                              cairn_error *reterr)
{
    for (size_t i = 0; i < count; i++)
        assert(rows[i].seq > 0); /* it was read in this transaction */
    return rows_write(tx, Q_UPDATE_JOB, &job_row_type, rows, count, reterr);
}

cairn_code sqlite_replace_payloads(struct store_tx *tx, const struct job_row *rows,
                                   size_t count, cairn_error *reterr)
{
    return rows_write(tx, Q_REPLACE_PAYLOAD, &job_row_type, rows, count, reterr);
}

/* What the holder of a lease has completed: its number, and the end of its chain. */
static cairn_code find_completable(struct store_tx *tx, struct job_row *row, bool *ret_is_found,
                                   cairn_error *reterr)
{
    cleanup(query_end) struct query query = query_begin(tx, Q_FIND_COMPLETABLE, reterr);
    struct job_row found;
    row_bind(&query, &job_row_type, row);
    cairn_code code = row_find(&query, &job_row_type, &found);
    *ret_is_found = !code;
    if (code)
        return code == CAIRN_E_NOT_FOUND ? CAIRN_OK : code;
    row->seq = found.seq;
    row->type = found.type;
    row->schedule = found.schedule;
    row->is_counted = found.is_counted;
    row->attempt = found.attempt;
    row->prev_event = found.last_event;
    row->event_count =
        row->last_event != 0 ? counter_after(found.event_count) : found.event_count;
    if (!row->last_event)
        row->last_event = found.last_event;
    return CAIRN_OK;
}

static int compare_seqs(const void *a, const void *b)
{
    const struct job_row *one = *(struct job_row *const *)a;
    const struct job_row *other = *(struct job_row *const *)b;
    return (one->seq > other->seq) - (one->seq < other->seq);
}

static bool is_same(const char *a, const char *b)
{
    return a == b || (a && b && strcmp(a, b) == 0);
}

/* Whether the statement that completes `first` can complete the job that is `at` places behind it. */
static bool is_of_run(const struct job_row *first, const struct job_row *row, size_t at)
{
    return row->seq == first->seq + (int64_t)at &&
           row->last_event == first->last_event + (int64_t)at &&
           row->event_count == first->event_count && is_same(row->ended_by, first->ended_by) &&
           is_same(row->ended_token, first->ended_token) && is_same(row->result, first->result);
}

static cairn_code complete_run(struct store_tx *tx, const struct job_row *first, size_t count,
                               cairn_error *reterr)
{
    if (count == 1)
        return rows_write(tx, Q_COMPLETE_JOB, &job_row_type, first, 1, reterr);
    cleanup(query_end) struct query query = query_begin(tx, Q_COMPLETE_JOBS, reterr);
    row_bind(&query, &job_row_type, first);
    bind_int(&query, ":last_seq", first->seq + (int64_t)count - 1);
    return query_run(&query);
}

/* Jobs that were enqueued together are often completed together: in the order of their numbers they get
 * the events that were meant for them, one after the other. */
static cairn_code sort_by_seq(struct store_tx *tx, struct job_row **rows, size_t count,
                              cairn_error *reterr)
{
    bool are_told = true;
    int64_t *events = arena_array(tx->arena, count, sizeof *events);
    if (!events)
        return fail_memory(reterr);
    for (size_t i = 0; i < count; i++) {
        events[i] = rows[i]->last_event;
        are_told &= rows[i]->last_event != rows[i]->prev_event;
    }
    qsort(rows, count, sizeof(struct job_row *), compare_seqs);
    for (size_t i = 0; i < count && are_told; i++)
        rows[i]->last_event = events[i];
    return CAIRN_OK;
}

static cairn_code complete_found(struct store_tx *tx, struct job_row **rows, size_t count,
                                 cairn_error *reterr)
{
    TRY(sort_by_seq(tx, rows, count, reterr));
    for (size_t i = 0, next; i < count; i = next) {
        for (next = i + 1; next < count && is_of_run(rows[i], rows[next], next - i); next++)
            ;
        TRY(complete_run(tx, rows[i], next - i, reterr));
    }
    return CAIRN_OK;
}

cairn_code sqlite_complete_jobs(struct store_tx *tx, struct job_row *rows, size_t count,
                                bool *ret_is_done, cairn_error *reterr)
{
    size_t found_count = 0;
    struct job_row **found = arena_array(tx->arena, count, sizeof(struct job_row *));
    if (!found)
        return fail_memory(reterr);
    for (size_t i = 0; i < count; i++) {
        TRY(find_completable(tx, &rows[i], &ret_is_done[i], reterr));
        if (ret_is_done[i])
            found[found_count++] = &rows[i];
    }
    return found_count ? complete_found(tx, found, found_count, reterr) : CAIRN_OK;
}

/* ---- Lists and counts -------------------------------------------------------------------- */

cairn_code sqlite_count_jobs(struct store_tx *tx, struct job_counts *ret_counts,
                             cairn_error *reterr)
{
    cleanup(query_end) struct query query = query_begin(tx, Q_COUNT_JOBS, reterr);
    if (query_step(&query) != SQLITE_ROW)
        return query_refused(&query);
    ret_counts->pending = (uint64_t)sqlite3_column_int64(query.handle, 0);
    ret_counts->ready = (uint64_t)sqlite3_column_int64(query.handle, 1);
    ret_counts->leased = (uint64_t)sqlite3_column_int64(query.handle, 2);
    ret_counts->oldest_ready_us = sqlite3_column_int64(query.handle, 3);
    return CAIRN_OK;
}

/* Each is read from the table, since their index has no types. */
enum { LATER_LOOK = 1000 };

cairn_code sqlite_list_types(struct store_tx *tx, bool is_ready, const char **ret_types,
                             size_t room, size_t *ret_count, cairn_error *reterr)
{
    cleanup(query_end) struct query query = query_begin(tx, Q_LIST_TYPES, reterr);
    bind_int(&query, ":is_ready", is_ready);
    bind_int(&query, ":most", LATER_LOOK);
    return texts_read(&query, ret_types, room, ret_count);
}
