/* store/sqlite/job.c - jobs, one row at a time: insert, read, lock, update; and their timers.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "base/error.h"
#include "base/mem.h"
#include "store/sqlite/sqlite.h"

#include <assert.h>
#include <string.h>

/* ---- Reading --------------------------------------------------------------------------------
 */

/* The columns of every query that reads jobs, in their order; the last two may be left out. */
enum { BRIEF_COLUMNS = 20, WHOLE_COLUMNS = 22 };

static void read_columns(struct row_reader *reader, struct job_row *row)
{
    row->seq = read_int(reader);
    row->id = read_text(reader);
    row->type = read_text(reader);
    const char *status = read_text(reader);
    row->status = status ? job_status_from(status) : JOB_NONE;
    row->priority = (int32_t)read_int(reader);
    row->is_ready = read_int(reader) != 0;
    row->run_at_us = read_int(reader);
    row->attempt = (int32_t)read_int(reader);
    row->max_attempts = (int32_t)read_int(reader);
    row->leased_by = read_text(reader);
    row->lease_until_us = read_int(reader);
    row->token = read_text(reader);
    row->ended_by = read_text(reader);
    row->ended_token = read_text(reader);
    row->ended_outcome = read_text(reader);
    row->last_error = read_text(reader);
    row->key = read_text(reader);
    row->created_at_us = read_int(reader);
    row->updated_at_us = read_int(reader);
    row->deleted_at_us = read_int(reader);
}

cairn_code read_job(struct query *query, struct arena *arena, struct job_row *ret_row,
                    cairn_error *reterr)
{
    struct row_reader reader = {.query = query, .arena = arena};
    int columns = sqlite3_column_count(query->statement);
    assert(columns == BRIEF_COLUMNS || columns == WHOLE_COLUMNS);

    *ret_row = (struct job_row){0};
    read_columns(&reader, ret_row);
    if (columns == WHOLE_COLUMNS) {
        ret_row->payload = read_text(&reader);
        ret_row->result = read_text(&reader);
    }
    if (reader.failed)
        return fail_memory(reterr);
    assert(ret_row->status != JOB_NONE); /* the table has a CHECK */
    return CAIRN_OK;
}

cairn_code read_jobs(struct query *query, struct store_tx *tx, const char *what,
                     struct job_row *ret_rows, size_t room, size_t *ret_count,
                     cairn_error *reterr)
{
    size_t count = 0;
    while (count < room && query_step(query) == SQLITE_ROW) {
        cairn_code code = read_job(query, tx->arena, &ret_rows[count], reterr);
        if (code)
            return code;
        count++;
    }
    if (query->rc != SQLITE_OK && query->rc != SQLITE_ROW && query->rc != SQLITE_DONE)
        return query_refused(query, what, reterr);
    *ret_count = count;
    return CAIRN_OK;
}

static cairn_code read_one(struct store_tx *tx, enum query_number number, const char *id,
                           struct job_row *ret_row, cairn_error *reterr)
{
    cleanup(query_end) struct query query = query_begin(sqlite_session_of(tx), number);
    bind_text(&query, ":id", id);
    switch (query_step(&query)) {
    case SQLITE_ROW:
        return read_job(&query, tx->arena, ret_row, reterr);
    case SQLITE_DONE:
        return CAIRN_E_NOT_FOUND; /* an answer: reterr stays as it was */
    default:
        return query_refused(&query, "read a job", reterr);
    }
}

cairn_code sqlite_get_job(struct store_tx *tx, const char *id, struct job_row *ret_row,
                          cairn_error *reterr)
{
    return read_one(tx, Q_GET_JOB, id, ret_row, reterr);
}

cairn_code sqlite_lock_jobs(struct store_tx *tx, const char *const *ids, size_t count,
                            bool may_wait, struct job_row *ret_rows,
                            enum lock_result *ret_results, cairn_error *reterr)
{
    (void)may_wait; /* begin() has waited: nobody else can hold a row now */
    assert(tx->session->kind == SESSION_WRITER);
    for (size_t i = 0; i < count; i++) {
        cairn_code code = read_one(tx, Q_LOCK_JOB, ids[i], &ret_rows[i], reterr);
        if (code && code != CAIRN_E_NOT_FOUND)
            return code;
        ret_results[i] = code ? LOCK_ABSENT : LOCK_DONE;
    }
    return CAIRN_OK;
}

cairn_code sqlite_lock_expired_jobs(struct store_tx *tx, struct job_row *ret_rows, size_t room,
                                    size_t *ret_count, cairn_error *reterr)
{
    assert(tx->session->kind == SESSION_WRITER);
    cleanup(query_end) struct query query =
        query_begin(sqlite_session_of(tx), Q_LOCK_EXPIRED_JOBS);
    bind_int(&query, ":now", tx->now_us);
    bind_size(&query, ":room", room);
    return read_jobs(&query, tx, "find expired leases", ret_rows, room, ret_count, reterr);
}

/* ---- Writing --------------------------------------------------------------------------------
 */

/* What insert and update have in common. */
static void bind_changing(struct query *query, const struct job_row *row)
{
    bind_text(query, ":status", job_status_name(row->status));
    bind_int(query, ":is_ready", row->is_ready);
    bind_int(query, ":run_at", row->run_at_us);
    bind_int(query, ":attempt", row->attempt);
    bind_text(query, ":leased_by", row->leased_by);
    bind_time(query, ":lease_until", row->lease_until_us);
    bind_text(query, ":token", row->token);
    bind_text(query, ":ended_by", row->ended_by);
    bind_text(query, ":ended_token", row->ended_token);
    bind_text(query, ":ended_outcome", row->ended_outcome);
    bind_text(query, ":last_error", row->last_error);
    bind_text(query, ":result", row->result);
    bind_int(query, ":updated_at", row->updated_at_us);
    bind_time(query, ":deleted_at", row->deleted_at_us);
}

/* The row was not inserted: because of its id, or because of its key. */
static cairn_code find_known(struct store_tx *tx, struct job_row *row,
                             enum insert_result *ret_result, cairn_error *reterr)
{
    cleanup(query_end) struct query query =
        query_begin(sqlite_session_of(tx), Q_FIND_KNOWN_JOB);
    bind_text(&query, ":id", row->id);
    bind_text(&query, ":key", row->key);
    if (query_step(&query) != SQLITE_ROW)
        return query_refused(&query, "find the job of a key", reterr);

    struct row_reader reader = {.query = &query, .arena = tx->arena};
    const char *id = read_text(&reader);
    if (!id)
        return fail_memory(reterr);
    *ret_result = strcmp(id, row->id) == 0 ? INSERT_AGAIN : INSERT_EXISTING;
    row->id = id;
    return CAIRN_OK;
}

static cairn_code insert_one(struct store_tx *tx, struct job_row *row,
                             enum insert_result *ret_result, cairn_error *reterr)
{
    struct sqlite_session *session = sqlite_session_of(tx);
    cleanup(query_end) struct query query = query_begin(session, Q_INSERT_JOB);
    bind_text(&query, ":id", row->id);
    bind_text(&query, ":type", row->type);
    bind_text(&query, ":payload", row->payload);
    bind_text(&query, ":key", row->key);
    bind_int(&query, ":priority", row->priority);
    bind_int(&query, ":max_attempts", row->max_attempts);
    bind_int(&query, ":created_at", row->created_at_us);
    bind_changing(&query, row);
    cairn_code code = query_run(&query, "insert a job", reterr);
    if (code)
        return code;
    if (sqlite3_changes(session->connection->db) == 0)
        return find_known(tx, row, ret_result, reterr);

    row->seq = sqlite3_last_insert_rowid(session->connection->db);
    *ret_result = INSERT_DONE;
    return CAIRN_OK;
}

cairn_code sqlite_insert_jobs(struct store_tx *tx, struct job_row *rows, size_t count,
                              enum insert_result *ret_results, cairn_error *reterr)
{
    assert(tx->session->kind == SESSION_WRITER);
    for (size_t i = 0; i < count; i++) {
        cairn_code code = insert_one(tx, &rows[i], &ret_results[i], reterr);
        if (code)
            return code;
    }
    return CAIRN_OK;
}

static cairn_code update_one(struct store_tx *tx, const struct job_row *row,
                             cairn_error *reterr)
{
    cleanup(query_end) struct query query = query_begin(sqlite_session_of(tx), Q_UPDATE_JOB);
    bind_int(&query, ":seq", row->seq);
    bind_changing(&query, row);
    return query_run(&query, "update a job", reterr);
}

cairn_code sqlite_update_jobs(struct store_tx *tx, const struct job_row *rows, size_t count,
                              cairn_error *reterr)
{
    assert(tx->session->kind == SESSION_WRITER);
    for (size_t i = 0; i < count; i++) {
        assert(rows[i].seq > 0); /* it was read in this transaction */
        cairn_code code = update_one(tx, &rows[i], reterr);
        if (code)
            return code;
    }
    return CAIRN_OK;
}

/* ---- Timers ---------------------------------------------------------------------------------
 */

cairn_code sqlite_promote_jobs(struct store_tx *tx, size_t limit, size_t *ret_count,
                               cairn_error *reterr)
{
    assert(tx->session->kind == SESSION_WRITER);
    struct sqlite_session *session = sqlite_session_of(tx);
    cleanup(query_end) struct query query = query_begin(session, Q_PROMOTE_JOBS);
    bind_int(&query, ":now", tx->now_us);
    bind_size(&query, ":limit", limit);
    cairn_code code = query_run(&query, "make due jobs ready", reterr);
    if (!code)
        *ret_count = (size_t)sqlite3_changes64(session->connection->db);
    return code;
}

cairn_code sqlite_next_due(struct store_tx *tx, int64_t *ret_due_us, cairn_error *reterr)
{
    cleanup(query_end) struct query query = query_begin(sqlite_session_of(tx), Q_NEXT_DUE);
    if (query_step(&query) != SQLITE_ROW)
        return query_refused(&query, "find the next timer", reterr);
    *ret_due_us = sqlite3_column_int64(query.statement, 0); /* NULL reads as 0: never */
    return CAIRN_OK;
}
