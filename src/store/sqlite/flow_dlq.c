/* store/sqlite/flow_dlq.c - failed steps that a person must look at.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "base/error.h"
#include "base/mem.h"
#include "store/sqlite/flow.h"

#include <assert.h>

static cairn_code append_one(struct store_tx *tx, const struct dlq_row *row,
                             cairn_error *reterr)
{
    cleanup(query_end) struct query query = query_begin(sqlite_session_of(tx), Q_APPEND_DLQ);
    bind_text(&query, ":instance_id", row->instance_id);
    bind_text(&query, ":workflow", row->workflow);
    bind_int(&query, ":version", row->version);
    bind_int(&query, ":step_seq", row->step_seq);
    bind_text(&query, ":step_name", row->step_name);
    bind_text(&query, ":step_type", row->step_type);
    bind_text(&query, ":reason", row->reason);
    bind_int(&query, ":created_at", row->created_at_us);
    bind_int(&query, ":is_open", row->is_open);
    bind_text(&query, ":error", row->error);
    bind_text(&query, ":input", row->input);
    return query_run(&query, "record a failed step", reterr);
}

cairn_code sqlite_append_dlq(struct store_tx *tx, const struct dlq_row *rows, size_t count,
                             cairn_error *reterr)
{
    assert(tx->session->kind == SESSION_WRITER);
    for (size_t i = 0; i < count; i++) {
        cairn_code code = append_one(tx, &rows[i], reterr);
        if (code)
            return code;
    }
    return CAIRN_OK;
}

cairn_code sqlite_close_dlq(struct store_tx *tx, const char *instance_id, int32_t seq,
                            cairn_error *reterr)
{
    assert(tx->session->kind == SESSION_WRITER);
    cleanup(query_end) struct query query = query_begin(sqlite_session_of(tx), Q_CLOSE_DLQ);
    bind_text(&query, ":instance_id", instance_id);
    bind_place(&query, ":step_seq", seq);
    return query_run(&query, "close records of failed steps", reterr);
}

static cairn_code read_record(struct query *query, struct arena *arena, struct dlq_row *ret_row,
                              cairn_error *reterr)
{
    struct row_reader reader = {.query = query, .arena = arena};
    *ret_row = (struct dlq_row){0};
    ret_row->id = read_int(&reader);
    ret_row->instance_id = read_text(&reader);
    ret_row->workflow = read_text(&reader);
    ret_row->version = (int32_t)read_int(&reader);
    ret_row->step_seq = (int32_t)read_int(&reader);
    ret_row->step_name = read_text(&reader);
    ret_row->step_type = read_text(&reader);
    ret_row->reason = read_text(&reader);
    ret_row->created_at_us = read_int(&reader);
    ret_row->is_open = read_int(&reader) != 0;
    ret_row->error = read_text(&reader);
    ret_row->input = read_text(&reader);
    return reader.failed ? fail_memory(reterr) : CAIRN_OK;
}

cairn_code sqlite_list_dlq(struct store_tx *tx, const char *instance_id, int64_t before_id,
                           struct dlq_row *ret_rows, size_t room, size_t *ret_count,
                           cairn_error *reterr)
{
    cleanup(query_end) struct query query =
        query_begin(sqlite_session_of(tx), instance_id ? Q_LIST_DLQ_OF_INSTANCE : Q_LIST_DLQ);
    if (instance_id)
        bind_text(&query, ":instance_id", instance_id);
    bind_int(&query, ":before", before_id ? before_id : INT64_MAX);
    bind_size(&query, ":room", room);

    size_t count = 0;
    while (count < room && query_step(&query) == SQLITE_ROW) {
        cairn_code code = read_record(&query, tx->arena, &ret_rows[count], reterr);
        if (code)
            return code;
        count++;
    }
    *ret_count = count;
    return query_ended(&query, "list records of failed steps", reterr);
}

cairn_code sqlite_get_dlq(struct store_tx *tx, int64_t id, struct dlq_row *ret_row,
                          cairn_error *reterr)
{
    cleanup(query_end) struct query query = query_begin(sqlite_session_of(tx), Q_GET_DLQ);
    bind_int(&query, ":id", id);
    switch (query_step(&query)) {
    case SQLITE_ROW:
        return read_record(&query, tx->arena, ret_row, reterr);
    case SQLITE_DONE:
        return CAIRN_E_NOT_FOUND; /* an answer: reterr stays as it was */
    default:
        return query_refused(&query, "read a record of a failed step", reterr);
    }
}
