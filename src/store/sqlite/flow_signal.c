/* store/sqlite/flow_signal.c - messages to instances.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "base/error.h"
#include "base/mem.h"
#include "store/sqlite/flow.h"

#include <assert.h>

cairn_code sqlite_get_signal(struct store_tx *tx, const char *instance_id, const char *id,
                             struct signal_row *ret_row, cairn_error *reterr)
{
    cleanup(query_end) struct query query =
        query_begin(sqlite_session_of(tx), Q_FIND_KNOWN_SIGNAL);
    bind_text(&query, ":instance_id", instance_id);
    bind_text(&query, ":id", id);
    switch (query_step(&query)) {
    case SQLITE_ROW:
        ret_row->seq = sqlite3_column_int64(query.statement, 0);
        ret_row->was_taken = sqlite3_column_int(query.statement, 1) != 0;
        return CAIRN_OK;
    case SQLITE_DONE:
        return CAIRN_E_NOT_FOUND; /* an answer: reterr stays as it was */
    default:
        return query_refused(&query, "find a signal", reterr);
    }
}

cairn_code sqlite_insert_signal(struct store_tx *tx, struct signal_row *row,
                                enum insert_result *ret_result, cairn_error *reterr)
{
    assert(tx->session->kind == SESSION_WRITER);
    sqlite3 *db = sqlite_session_of(tx)->connection->db;
    cleanup(query_end) struct query query = query_begin(sqlite_session_of(tx), Q_INSERT_SIGNAL);
    bind_text(&query, ":instance_id", row->instance_id);
    bind_text(&query, ":id", row->id);
    bind_text(&query, ":event", row->event);
    bind_int(&query, ":received_at", row->received_at_us);
    bind_place(&query, ":taken_by", row->taken_by);
    bind_text(&query, ":payload", row->payload);
    cairn_code code = query_run(&query, "insert a signal", reterr);
    if (code)
        return code;

    *ret_result = sqlite3_changes(db) > 0 ? INSERT_DONE : INSERT_EXISTING;
    if (*ret_result == INSERT_EXISTING)
        return sqlite_get_signal(tx, row->instance_id, row->id, row, reterr);
    row->seq = sqlite3_last_insert_rowid(db);
    return CAIRN_OK;
}

static cairn_code read_signal(struct query *query, struct arena *arena, const char *instance_id,
                              struct signal_row *ret_row, cairn_error *reterr)
{
    struct row_reader reader = {.query = query, .arena = arena};
    *ret_row = (struct signal_row){.taken_by = -1};
    ret_row->seq = read_int(&reader);
    ret_row->id = read_text(&reader);
    ret_row->event = read_text(&reader);
    ret_row->payload = read_text(&reader);
    ret_row->received_at_us = read_int(&reader);
    ret_row->instance_id = arena_strdup(arena, instance_id);
    return reader.failed || !ret_row->instance_id ? fail_memory(reterr) : CAIRN_OK;
}

cairn_code sqlite_find_signal(struct store_tx *tx, const char *instance_id, const char *event,
                              int64_t until_us, struct signal_row *ret_row, cairn_error *reterr)
{
    cleanup(query_end) struct query query = query_begin(sqlite_session_of(tx), Q_FIND_SIGNAL);
    bind_text(&query, ":instance_id", instance_id);
    bind_text(&query, ":event", event);
    bind_int(&query, ":until", until_us);
    switch (query_step(&query)) {
    case SQLITE_ROW:
        return read_signal(&query, tx->arena, instance_id, ret_row, reterr);
    case SQLITE_DONE:
        return CAIRN_E_NOT_FOUND; /* an answer: reterr stays as it was */
    default:
        return query_refused(&query, "find a signal", reterr);
    }
}

cairn_code sqlite_mark_signal(struct store_tx *tx, const char *instance_id, int64_t signal_seq,
                              int32_t taken_by, cairn_error *reterr)
{
    assert(tx->session->kind == SESSION_WRITER);
    cleanup(query_end) struct query query =
        query_begin(sqlite_session_of(tx), signal_seq ? Q_MARK_SIGNAL : Q_UNMARK_SIGNALS);
    bind_text(&query, ":instance_id", instance_id);
    if (signal_seq)
        bind_int(&query, ":seq", signal_seq);
    bind_place(&query, ":taken_by", taken_by);
    return query_run(&query, "mark a signal", reterr);
}

cairn_code sqlite_keep_signal_taken(struct store_tx *tx, const char *instance_id,
                                    int64_t signal_seq, cairn_error *reterr)
{
    assert(tx->session->kind == SESSION_WRITER);
    cleanup(query_end) struct query query =
        query_begin(sqlite_session_of(tx), Q_KEEP_SIGNAL_TAKEN);
    bind_text(&query, ":instance_id", instance_id);
    bind_int(&query, ":seq", signal_seq);
    return query_run(&query, "mark a signal", reterr);
}

static cairn_code list_of_one(struct store_tx *tx, const char *instance_id, int64_t after,
                              struct signal_row *ret_rows, size_t room, size_t *ret_count,
                              cairn_error *reterr)
{
    cleanup(query_end) struct query query = query_begin(sqlite_session_of(tx), Q_LIST_SIGNALS);
    bind_text(&query, ":instance_id", instance_id);
    bind_int(&query, ":after", after);
    bind_size(&query, ":room", room);
    size_t count = 0;
    while (count < room && query_step(&query) == SQLITE_ROW) {
        cairn_code code = read_signal(&query, tx->arena, instance_id, &ret_rows[count], reterr);
        if (code)
            return code;
        count++;
    }
    *ret_count = count;
    return query_ended(&query, "list signals", reterr);
}

cairn_code sqlite_list_signals(struct store_tx *tx, const char *const *ids, size_t count,
                               int64_t after, struct signal_row *ret_rows, size_t room,
                               size_t *ret_count, cairn_error *reterr)
{
    size_t found = 0, more;
    cairn_code code = CAIRN_OK;
    for (size_t i = 0; i < count && found < room && !code; i++, after = 0) {
        more = 0;
        code = list_of_one(tx, ids[i], after, ret_rows + found, room - found, &more, reterr);
        found += more;
    }
    *ret_count = found;
    return code;
}
