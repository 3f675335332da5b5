/* store/sqlite/outbox.c - events that handlers want others to hear of.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "base/error.h"
#include "base/mem.h"
#include "store/sqlite/sqlite.h"

cairn_code sqlite_append_outbox(struct store_tx *tx, const struct outbox_row *rows,
                                size_t count, cairn_error *reterr)
{
    return rows_write(tx, Q_APPEND_OUTBOX, &outbox_row_type, rows, count, reterr);
}

/* What a claim looks at beyond what it takes, how often it passes over such that wait behind others, and until when those
 * are left alone at most. */
enum { LOOKS = 100, DEFERRALS = 20, FREED = 1000 };
#define DEFER_MOST_US (10 * US_PER_MIN)

/* Lets claims pass by what waits behind others. */
static cairn_code defer(struct store_tx *tx, size_t room, cairn_error *reterr)
{
    size_t count = room;
    for (int i = 0; i < DEFERRALS && count >= room; i++) {
        cleanup(query_end) struct query query = query_begin(tx, Q_DEFER_OUTBOX, reterr);
        bind_int(&query, ":most", tx->now_us + DEFER_MOST_US);
        bind_int(&query, ":room", (int64_t)room);
        TRY(query_change(&query, &count));
    }
    return CAIRN_OK;
}

/* First all are found, then all are claimed: a claim changes the rows that the search reads. */
cairn_code sqlite_claim_outbox(struct store_tx *tx, const char *worker, int64_t until_us,
                               struct outbox_row *ret_rows, size_t room, size_t *ret_count,
                               cairn_error *reterr)
{
    const char *own_worker = arena_strdup(tx->arena, worker); /* lives as long as the rows */
    if (!own_worker)
        return fail_memory(reterr);
    TRY(defer(tx, room + LOOKS, reterr));
    cleanup(query_end) struct query query = query_begin(tx, Q_FIND_OUTBOX, reterr);
    bind_int(&query, ":looks", (int64_t)room + LOOKS);
    TRY(rows_read(&query, &outbox_row_type, ret_rows, room, ret_count));
    for (size_t i = 0; i < *ret_count; i++) {
        ret_rows[i].claimed_by = own_worker;
        ret_rows[i].claimed_until_us = until_us;
    }
    query_end(&query); /* nothing may read while the rows are written */
    return rows_write(tx, Q_CLAIM_OUTBOX, &outbox_row_type, ret_rows, *ret_count, reterr);
}

static cairn_code free_later(struct store_tx *tx, int64_t id, cairn_error *reterr)
{
    size_t count = 0;
    cleanup(query_end) struct query query = query_begin(tx, Q_FREE_OUTBOX, reterr);
    bind_int(&query, ":id", id);
    bind_int(&query, ":room", FREED);
    return query_change(&query, &count);
}

cairn_code sqlite_ack_outbox(struct store_tx *tx, int64_t id, int64_t *ret_earlier,
                             cairn_error *reterr)
{
    size_t count = 0;
    cleanup(query_end) struct query query = query_begin(tx, Q_ACK_OUTBOX, reterr);
    bind_int(&query, ":id", id);
    cairn_code code = query_change(&query, &count);
    *ret_earlier = 0;
    query_end(&query);
    if (code || count > 0)
        return code ? code : free_later(tx, id, reterr);
    cleanup(query_end) struct query earlier = query_begin(tx, Q_FIND_OUTBOX_EARLIER, reterr);
    bind_int(&earlier, ":id", id);
    return query_int(&earlier, ret_earlier);
}

/* Rows whose last result is when they were acknowledged. */
static cairn_code read_events(struct query *query, struct outbox_row *ret_rows,
                              size_t *ret_count)
{
    int last = sqlite3_column_count(query->handle) - 1;
    size_t count = 0;
    while (query_step(query) == SQLITE_ROW) {
        row_read(query, &outbox_row_type, &ret_rows[count]);
        ret_rows[count++].acked_at_us = sqlite3_column_int64(query->handle, last);
    }
    *ret_count = count;
    return query_ended(query);
}

cairn_code sqlite_list_outbox(struct store_tx *tx, const char *instance_id, int64_t after,
                              struct outbox_row *ret_rows, size_t room, size_t *ret_count,
                              cairn_error *reterr)
{
    cleanup(query_end) struct query query = query_begin(tx, Q_LIST_OUTBOX, reterr);
    bind_page(&query, instance_id, after);
    bind_int(&query, ":room", (int64_t)room);
    return read_events(&query, ret_rows, ret_count);
}

cairn_code sqlite_list_open_outbox(struct store_tx *tx, bool is_dead, int64_t after,
                                   struct outbox_row *ret_rows, size_t room, size_t *ret_count,
                                   cairn_error *reterr)
{
    cleanup(query_end) struct query query =
        query_begin(tx, is_dead ? Q_LIST_DEAD_OUTBOX : Q_LIST_OPEN_OUTBOX, reterr);
    bind_int(&query, ":after", after);
    bind_int(&query, ":room", (int64_t)room);
    return read_events(&query, ret_rows, ret_count);
}

cairn_code sqlite_lock_outbox(struct store_tx *tx, int64_t id, struct outbox_row *ret_row,
                              cairn_error *reterr)
{
    size_t count = 0;
    cleanup(query_end) struct query query = query_begin(tx, Q_LOCK_OUTBOX, reterr);
    bind_int(&query, ":id", id);
    TRY(read_events(&query, ret_row, &count));
    return count ? CAIRN_OK : CAIRN_E_NOT_FOUND;
}

cairn_code sqlite_release_outbox(struct store_tx *tx, const struct outbox_row *row,
                                 cairn_error *reterr)
{
    TRY(rows_write(tx, Q_RELEASE_OUTBOX, &outbox_row_type, row, 1, reterr));
    return row->dead_at_us
               ? free_later(tx, row->id, reterr)
               : rows_write(tx, Q_RELEASE_OUTBOX_LATER, &outbox_row_type, row, 1, reterr);
}
