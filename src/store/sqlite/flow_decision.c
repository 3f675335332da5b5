/* store/sqlite/flow_decision.c - what people decided about human steps.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "base/error.h"
#include "base/mem.h"
#include "store/sqlite/flow.h"

#include <assert.h>

cairn_code sqlite_insert_decision(struct store_tx *tx, const struct decision_row *row,
                                  cairn_error *reterr)
{
    assert(tx->session->kind == SESSION_WRITER);
    cleanup(query_end) struct query query =
        query_begin(sqlite_session_of(tx), Q_INSERT_DECISION);
    bind_text(&query, ":instance_id", row->instance_id);
    bind_int(&query, ":step_seq", row->step_seq);
    bind_text(&query, ":step_name", row->step_name);
    bind_text(&query, ":decided_by", row->decided_by);
    bind_text(&query, ":decision", row->decision);
    bind_text(&query, ":comment", row->comment);
    bind_int(&query, ":decided_at", row->decided_at_us);
    return query_run(&query, "record a decision", reterr);
}

static cairn_code read_decision(struct query *query, struct arena *arena,
                                struct decision_row *ret_row, cairn_error *reterr)
{
    struct row_reader reader = {.query = query, .arena = arena};
    *ret_row = (struct decision_row){0};
    ret_row->id = read_int(&reader);
    ret_row->instance_id = read_text(&reader);
    ret_row->step_seq = (int32_t)read_int(&reader);
    ret_row->step_name = read_text(&reader);
    ret_row->decided_by = read_text(&reader);
    ret_row->decision = read_text(&reader);
    ret_row->comment = read_text(&reader);
    ret_row->decided_at_us = read_int(&reader);
    return reader.failed ? fail_memory(reterr) : CAIRN_OK;
}

cairn_code sqlite_list_decisions(struct store_tx *tx, const char *instance_id, int64_t after,
                                 struct decision_row *ret_rows, size_t room, size_t *ret_count,
                                 cairn_error *reterr)
{
    cleanup(query_end) struct query query =
        query_begin(sqlite_session_of(tx), Q_LIST_DECISIONS);
    bind_text(&query, ":instance_id", instance_id);
    bind_int(&query, ":after", after);
    bind_size(&query, ":room", room);
    size_t count = 0;
    while (count < room && query_step(&query) == SQLITE_ROW) {
        cairn_code code = read_decision(&query, tx->arena, &ret_rows[count], reterr);
        if (code)
            return code;
        count++;
    }
    *ret_count = count;
    return query_ended(&query, "list decisions", reterr);
}
