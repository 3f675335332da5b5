/* store/sqlite/purge.c - the retention policy, and what is removed by it.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "base/buf.h"
#include "base/error.h"
#include "base/json.h"
#include "base/mem.h"
#include "store/event_log.h"
#include "store/sqlite/purge_event.h"
#include "store/sqlite/sqlite.h"

/* ---- the policy -------------------------------------------------------------------------- */

cairn_code sqlite_get_retention(struct store_tx *tx, struct retention_row *ret_row,
                                cairn_error *reterr)
{
    cleanup(query_end) struct query query = query_begin(tx, Q_GET_RETENTION, reterr);
    return row_find(&query, &retention_row_type, ret_row);
}

/* A writer is alone. */
cairn_code sqlite_lock_retention(struct store_tx *tx, struct retention_row *ret_row,
                                 cairn_error *reterr)
{
    return sqlite_get_retention(tx, ret_row, reterr);
}

cairn_code sqlite_take_retention(struct store_tx *tx, struct retention_row *ret_row,
                                 cairn_error *reterr)
{
    return sqlite_get_retention(tx, ret_row, reterr);
}

cairn_code sqlite_put_retention(struct store_tx *tx, const struct retention_row *row,
                                cairn_error *reterr)
{
    return rows_write(tx, Q_PUT_RETENTION, &retention_row_type, row, 1, reterr);
}

/* ---- what is old ------------------------------------------------------------------------- */

cairn_code sqlite_scan_past(struct store_tx *tx, enum list_kind kind, int64_t after,
                            struct past_row *ret_rows, size_t room, size_t *ret_count,
                            cairn_error *reterr)
{
    enum query_number number = kind == LIST_JOBS ? Q_SCAN_PAST_JOBS : Q_SCAN_PAST_INSTANCES;
    cleanup(query_end) struct query query = query_begin(tx, number, reterr);
    bind_int(&query, ":after", after);
    return rows_read(&query, &past_row_type, ret_rows, room, ret_count);
}

cairn_code sqlite_list_family(struct store_tx *tx, const char *id, struct past_row *ret_rows,
                              size_t room, size_t *ret_count, cairn_error *reterr)
{
    cleanup(query_end) struct query query = query_begin(tx, Q_LIST_FAMILY, reterr);
    bind_text(&query, ":id", id);
    return rows_read(&query, &past_row_type, ret_rows, room, ret_count);
}

cairn_code sqlite_measure_family(struct store_tx *tx, const char *id,
                                 struct family_size *ret_size, cairn_error *reterr)
{
    cleanup(query_end) struct query query = query_begin(tx, Q_MEASURE_FAMILY, reterr);
    bind_text(&query, ":id", id);
    TRY(query_find(&query));
    ret_size->members = sqlite3_column_int64(query.handle, 0);
    ret_size->open = sqlite3_column_int64(query.handle, 1);
    ret_size->held = sqlite3_column_int64(query.handle, 2);
    return query_ended(&query);
}

cairn_code sqlite_list_past_children(struct store_tx *tx, const char *id, int64_t after,
                                     struct past_row *ret_rows, size_t room, size_t *ret_count,
                                     cairn_error *reterr)
{
    cleanup(query_end) struct query query = query_begin(tx, Q_LIST_PAST_CHILDREN, reterr);
    bind_text(&query, ":id", id);
    bind_int(&query, ":after", after);
    return rows_read(&query, &past_row_type, ret_rows, room, ret_count);
}

cairn_code sqlite_list_begun_purges(struct store_tx *tx, struct past_row *ret_rows, size_t room,
                                    size_t *ret_count, cairn_error *reterr)
{
    cleanup(query_end) struct query query = query_begin(tx, Q_LIST_BEGUN_PURGES, reterr);
    return rows_read(&query, &past_row_type, ret_rows, room, ret_count);
}

cairn_code sqlite_is_purge_begun(struct store_tx *tx, const char *id, bool *ret_is_begun,
                                 cairn_error *reterr)
{
    cleanup(query_end) struct query query = query_begin(tx, Q_IS_PURGE_BEGUN, reterr);
    int64_t found = 0;
    bind_text(&query, ":id", id);
    TRY(query_int(&query, &found));
    *ret_is_begun = found != 0;
    return CAIRN_OK;
}

/* ---- purging ----------------------------------------------------------------------------- */

/* What was read in this transaction cannot change: a writer is alone. */
cairn_code sqlite_lock_past(struct store_tx *tx, enum list_kind kind, struct past_row *rows,
                            size_t *count, cairn_error *reterr)
{
    (void)tx, (void)kind, (void)rows, (void)count, (void)reterr;
    return CAIRN_OK;
}

/* Of all subjects at once. */
static cairn_code delete_by_ids(struct store_tx *tx, enum query_number number, const char *ids,
                                cairn_error *reterr)
{
    cleanup(query_end) struct query query = query_begin(tx, number, reterr);
    bind_text(&query, ":ids", ids);
    return query_run(&query);
}

/* A JSON array of their ids; of those alone that have so many events. */
static const char *ids_of(struct store_tx *tx, const struct past_row *rows, size_t count,
                          int events_least)
{
    struct buf ids = {0};
    struct json_out out = {.buf = &ids};
    json_open(&out, '[');
    for (size_t i = 0; i < count; i++)
        if (rows[i].event_count >= events_least)
            json_str(&out, rows[i].id);
    json_close(&out, ']');
    return buf_keep(&ids, tx->arena);
}

/* Numbers that follow each other go at once; in the order of ids, which begin with a time, most do. */
static cairn_code delete_by_seqs(struct store_tx *tx, enum query_number number,
                                 const int64_t *seqs, size_t count, cairn_error *reterr)
{
    for (size_t i = 0, next; i < count; i = next) {
        for (next = i + 1; next < count && seqs[next] == seqs[next - 1] + 1;)
            next++;
        cleanup(query_end) struct query query = query_begin(tx, number, reterr);
        bind_int(&query, ":first", seqs[i]);
        bind_int(&query, ":last", seqs[next - 1]);
        TRY(query_run(&query));
    }
    return CAIRN_OK;
}

cairn_code sqlite_purge(struct store_tx *tx, enum list_kind kind, const struct past_row *rows,
                        size_t count, cairn_error *reterr)
{
    static const enum query_number parts[] = {
        Q_PURGE_SIGNALS, Q_PURGE_OUTBOX, Q_PURGE_DECISIONS,     Q_PURGE_DLQ,     Q_PURGE_LOGS,
        Q_PURGE_INTAKE,  Q_PURGE_MARKS,  Q_PURGE_STEP_CHILDREN, Q_PURGE_ELEMENTS};
    bool is_job = kind == LIST_JOBS;
    int64_t *seqs = arena_array(tx->arena, count, sizeof *seqs);
    int64_t *events = arena_array(tx->arena, count, sizeof *events);
    const char *ids = ids_of(tx, rows, count, 0);
    const char *long_ids = ids_of(tx, rows, count, EVENTS_A_POST);
    if (!seqs || !events || !ids || !long_ids)
        return fail_memory(reterr);
    sqlite_session_of(tx)->is_purging = true;
    for (size_t i = 0; i < count; i++) {
        seqs[i] = rows[i].seq;
        events[i] = rows[i].last_event;
    }
    for (size_t i = 0; i < sizeof parts / sizeof *parts && !is_job; i++)
        TRY(delete_by_ids(tx, parts[i], ids, reterr));
    TRY(delete_by_ids(tx, Q_PURGE_LOOSE, ids, reterr));
    TRY(delete_by_ids(tx, Q_PURGE_POSTS, long_ids, reterr));
    if (!is_job)
        TRY(delete_by_seqs(tx, Q_PURGE_STEPS, seqs, count, reterr));
    TRY(delete_by_seqs(tx, is_job ? Q_PURGE_JOB_TAGS : Q_PURGE_INSTANCE_TAGS, seqs, count,
                       reterr));
    TRY(delete_by_seqs(tx, is_job ? Q_PURGE_JOBS : Q_PURGE_INSTANCES, seqs, count, reterr));
    return sqlite_purge_events(tx, events, count, reterr);
}

cairn_code sqlite_mark_purges(struct store_tx *tx, const char *const *ids, size_t count,
                              size_t *ret_new, cairn_error *reterr)
{
    *ret_new = 0;
    for (size_t i = 0; i < count; i++) {
        cleanup(query_end) struct query query = query_begin(tx, Q_MARK_PURGE, reterr);
        size_t changed = 0;
        bind_text(&query, ":id", ids[i]);
        TRY(query_change(&query, &changed));
        *ret_new += changed;
    }
    return CAIRN_OK;
}

cairn_code sqlite_drop_bulks(struct store_tx *tx, int64_t before_us, size_t limit,
                             size_t *ret_count, cairn_error *reterr)
{
    struct past_row *rows = arena_array(tx->arena, limit, sizeof *rows);
    if (!rows)
        return fail_memory(reterr);
    {
        cleanup(query_end) struct query query = query_begin(tx, Q_FIND_OLD_BULKS, reterr);
        bind_int(&query, ":before", before_us);
        TRY(rows_read(&query, &past_row_type, rows, limit, ret_count));
    }
    const char *ids = ids_of(tx, rows, *ret_count, 0);
    if (!ids)
        return fail_memory(reterr);
    TRY(delete_by_ids(tx, Q_PURGE_LOOSE, ids, reterr));
    return delete_by_ids(tx, Q_PURGE_BULKS, ids, reterr);
}

/* ---- keys -------------------------------------------------------------------------------- */

cairn_code sqlite_keep_keys(struct store_tx *tx, const struct key_row *rows, size_t count,
                            cairn_error *reterr)
{
    return rows_write(tx, Q_KEEP_KEY, &key_row_type, rows, count, reterr);
}

cairn_code sqlite_drop_keys(struct store_tx *tx, int64_t before_us, size_t limit,
                            size_t *ret_count, cairn_error *reterr)
{
    cleanup(query_end) struct query query = query_begin(tx, Q_DROP_KEYS, reterr);
    bind_int(&query, ":before", before_us);
    bind_size(&query, ":limit", limit);
    return query_change(&query, ret_count);
}

cairn_code sqlite_first_key(struct store_tx *tx, int64_t *ret_ended_us, cairn_error *reterr)
{
    cleanup(query_end) struct query query = query_begin(tx, Q_FIRST_KEY, reterr);
    return query_int(&query, ret_ended_us);
}

/* ---- space ------------------------------------------------------------------------------- */

/* Few free pages are left in the file: they are used again soon. */
enum { FREE_PAGES_KEPT = 64 };

/* Only a file that was made with auto_vacuum can be cut. */
cairn_code sqlite_shrink(struct store_tx *tx, size_t pages, bool *ret_is_more,
                         cairn_error *reterr)
{
    enum { INCREMENTAL = 2 };
    struct sqlite_session *session = sqlite_session_of(tx);
    struct sqlite_store *store = (struct sqlite_store *)session->base.store;
    struct connection *connection = session->connection;
    char sql[64];
    *ret_is_more = false;
    if (connection_int(connection, "PRAGMA auto_vacuum", 0) != INCREMENTAL)
        return CAIRN_OK;
    int64_t free = connection_int(connection, "PRAGMA freelist_count", 0) - FREE_PAGES_KEPT;
    if (free <= 0)
        return CAIRN_OK;
    int64_t cut = free < (int64_t)pages ? free : (int64_t)pages;
    sqlite3_snprintf(sizeof sql, sql, "PRAGMA incremental_vacuum(%lld)", (long long)cut);
    int rc = connection_exec(connection, sql);
    if (rc != SQLITE_OK)
        return sqlite_refused(store->path, connection->db, rc, "return free space", reterr);
    *ret_is_more = free > cut;
    return CAIRN_OK;
}
