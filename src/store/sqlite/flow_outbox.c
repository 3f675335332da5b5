/* store/sqlite/flow_outbox.c - what handlers want others to hear of.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "base/error.h"
#include "base/mem.h"
#include "store/sqlite/flow.h"

#include <assert.h>

static cairn_code append_one(struct store_tx *tx, const struct outbox_row *row,
                             cairn_error *reterr)
{
    cleanup(query_end) struct query query = query_begin(sqlite_session_of(tx), Q_APPEND_OUTBOX);
    bind_text(&query, ":instance_id", row->instance_id);
    bind_text(&query, ":step", row->step);
    bind_text(&query, ":event", row->event);
    bind_int(&query, ":created_at", row->created_at_us);
    bind_text(&query, ":claimed_by", row->claimed_by);
    bind_time(&query, ":claimed_until", row->claimed_until_us);
    bind_text(&query, ":payload", row->payload);
    return query_run(&query, "append to the outbox", reterr);
}

cairn_code sqlite_append_outbox(struct store_tx *tx, const struct outbox_row *rows,
                                size_t count, cairn_error *reterr)
{
    assert(tx->session->kind == SESSION_WRITER);
    for (size_t i = 0; i < count; i++) {
        cairn_code code = append_one(tx, &rows[i], reterr);
        if (code)
            return code;
    }
    return CAIRN_OK;
}

static cairn_code read_event(struct query *query, struct arena *arena,
                             struct outbox_row *ret_row, cairn_error *reterr)
{
    struct row_reader reader = {.query = query, .arena = arena};
    *ret_row = (struct outbox_row){0};
    ret_row->id = read_int(&reader);
    ret_row->instance_id = read_text(&reader);
    ret_row->step = read_text(&reader);
    ret_row->event = read_text(&reader);
    ret_row->payload = read_text(&reader);
    ret_row->created_at_us = read_int(&reader);
    return reader.failed ? fail_memory(reterr) : CAIRN_OK;
}

static cairn_code find_free(struct store_tx *tx, struct outbox_row *ret_rows, size_t room,
                            size_t *ret_count, cairn_error *reterr)
{
    cleanup(query_end) struct query query = query_begin(sqlite_session_of(tx), Q_FIND_OUTBOX);
    bind_int(&query, ":now", tx->now_us);
    bind_size(&query, ":room", room);
    size_t count = 0;
    while (count < room && query_step(&query) == SQLITE_ROW) {
        cairn_code code = read_event(&query, tx->arena, &ret_rows[count], reterr);
        if (code)
            return code;
        count++;
    }
    *ret_count = count;
    return query_ended(&query, "find outbox events", reterr);
}

static cairn_code write_claim(struct store_tx *tx, const struct outbox_row *row,
                              cairn_error *reterr)
{
    cleanup(query_end) struct query query = query_begin(sqlite_session_of(tx), Q_CLAIM_OUTBOX);
    bind_int(&query, ":id", row->id);
    bind_text(&query, ":worker", row->claimed_by);
    bind_int(&query, ":until", row->claimed_until_us);
    return query_run(&query, "claim an outbox event", reterr);
}

/* First all are found, then all are claimed: a claim changes what the search looks at. */
cairn_code sqlite_claim_outbox(struct store_tx *tx, const char *worker, int64_t until_us,
                               struct outbox_row *ret_rows, size_t room, size_t *ret_count,
                               cairn_error *reterr)
{
    assert(tx->session->kind == SESSION_WRITER);
    const char *own_worker = arena_strdup(tx->arena, worker); /* lives as long as the rows */
    if (!own_worker)
        return fail_memory(reterr);
    cairn_code code = find_free(tx, ret_rows, room, ret_count, reterr);
    for (size_t i = 0; !code && i < *ret_count; i++) {
        ret_rows[i].claimed_by = own_worker;
        ret_rows[i].claimed_until_us = until_us;
        code = write_claim(tx, &ret_rows[i], reterr);
    }
    return code;
}

static cairn_code find_earlier(struct store_tx *tx, int64_t id, int64_t *ret_earlier,
                               cairn_error *reterr)
{
    cleanup(query_end) struct query query =
        query_begin(sqlite_session_of(tx), Q_FIND_OUTBOX_EARLIER);
    bind_int(&query, ":id", id);
    switch (query_step(&query)) {
    case SQLITE_ROW:
        *ret_earlier = sqlite3_column_int64(query.statement, 0);
        return CAIRN_OK;
    case SQLITE_DONE:
        return CAIRN_E_NOT_FOUND; /* an answer: reterr stays as it was */
    default:
        return query_refused(&query, "find an outbox event", reterr);
    }
}

cairn_code sqlite_ack_outbox(struct store_tx *tx, int64_t id, int64_t *ret_earlier,
                             cairn_error *reterr)
{
    assert(tx->session->kind == SESSION_WRITER);
    struct sqlite_session *session = sqlite_session_of(tx);
    cleanup(query_end) struct query query = query_begin(session, Q_ACK_OUTBOX);
    bind_int(&query, ":id", id);
    bind_int(&query, ":now", tx->now_us);
    cairn_code code = query_run(&query, "acknowledge an outbox event", reterr);
    *ret_earlier = 0;
    if (!code && sqlite3_changes(session->connection->db) == 0)
        code = find_earlier(tx, id, ret_earlier, reterr);
    return code;
}
