/* store/sqlite/flow_event.c - the audit trail of instances, and of everything together.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "base/error.h"
#include "base/mem.h"
#include "store/sqlite/flow.h"

#include <assert.h>

static struct event_line flow_line(const void *events, size_t index)
{
    const struct flow_event_row *event = (const struct flow_event_row *)events + index;
    return (struct event_line){.subject = event->instance_id,
                               .type = event->type,
                               .step = event->step,
                               .data = event->data};
}

cairn_code sqlite_append_flow_events(struct store_tx *tx, const struct flow_event_row *events,
                                     size_t count, cairn_error *reterr)
{
    assert(tx->session->kind == SESSION_WRITER);
    return append_lines(tx, flow_line, events, count, reterr);
}

static cairn_code read_event(struct query *query, struct arena *arena,
                             struct flow_event_row *ret_row, cairn_error *reterr)
{
    struct row_reader reader = {.query = query, .arena = arena};
    *ret_row = (struct flow_event_row){0};
    ret_row->id = read_int(&reader);
    ret_row->instance_id = read_text(&reader);
    ret_row->type = read_text(&reader);
    ret_row->step = read_text(&reader);
    ret_row->data = read_text(&reader);
    ret_row->at_us = read_int(&reader);
    return reader.failed ? fail_memory(reterr) : CAIRN_OK;
}

cairn_code sqlite_list_flow_events(struct store_tx *tx, const char *instance_id, int64_t after,
                                   struct flow_event_row *ret_rows, size_t room,
                                   size_t *ret_count, cairn_error *reterr)
{
    cleanup(query_end) struct query query = query_begin(
        sqlite_session_of(tx), instance_id ? Q_LIST_FLOW_EVENTS : Q_LIST_ALL_EVENTS);
    if (instance_id)
        bind_text(&query, ":instance_id", instance_id);
    bind_int(&query, ":after", after);
    bind_size(&query, ":room", room);

    size_t count = 0;
    while (count < room && query_step(&query) == SQLITE_ROW) {
        cairn_code code = read_event(&query, tx->arena, &ret_rows[count], reterr);
        if (code)
            return code;
        count++;
    }
    *ret_count = count;
    return query_ended(&query, "list events", reterr);
}
