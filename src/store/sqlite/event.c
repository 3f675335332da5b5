/* store/sqlite/event.c - the history of jobs, instances and steps.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "base/mem.h"
#include "store/sqlite/sqlite.h"

enum { LINES_AT_ONCE = 16, LINE_PARAMETERS = 5 }; /* as append_events has it */

static cairn_code append_full(struct store_tx *tx, const struct flow_event_row *lines,
                              cairn_error *reterr)
{
    cleanup(query_end) struct query query = query_begin(tx, Q_APPEND_EVENTS, reterr);
    for (int i = 0; i < LINES_AT_ONCE; i++) {
        int first = i * LINE_PARAMETERS + 1;
        bind_text_at(&query, first, lines[i].instance_id);
        bind_text_at(&query, first + 1, lines[i].type);
        bind_text_at(&query, first + 2, lines[i].step);
        bind_text_at(&query, first + 3, lines[i].data);
        bind_int_at(&query, first + 4, tx->now_us);
    }
    return query_run(&query);
}

cairn_code sqlite_append_flow_events(struct store_tx *tx, const struct flow_event_row *events,
                                     size_t count, cairn_error *reterr)
{
    cairn_code code = CAIRN_OK;
    for (; count >= LINES_AT_ONCE && !code; count -= LINES_AT_ONCE, events += LINES_AT_ONCE)
        code = append_full(tx, events, reterr);
    return code ? code : rows_write(tx, Q_APPEND_EVENT, &event_row_type, events, count, reterr);
}

cairn_code sqlite_append_events(struct store_tx *tx, const struct job_event_row *events,
                                size_t count, cairn_error *reterr)
{
    struct flow_event_row lines[LINES_AT_ONCE];
    cairn_code code = CAIRN_OK;
    for (size_t at = 0; at < count && !code;) {
        size_t portion = 0;
        for (; portion < LINES_AT_ONCE && at < count; at++)
            lines[portion++] = (struct flow_event_row){.instance_id = events[at].job_id,
                                                       .type = job_event_name(events[at].type),
                                                       .data = events[at].data};
        code = sqlite_append_flow_events(tx, lines, portion, reterr);
    }
    return code;
}

cairn_code sqlite_list_events(struct store_tx *tx, const char *job_id, int64_t after,
                              struct job_event_row *ret_rows, size_t room, size_t *ret_count,
                              cairn_error *reterr)
{
    size_t count = 0;
    cleanup(query_end) struct query query = query_begin(tx, Q_LIST_EVENTS, reterr);
    bind_page(&query, job_id, after, room);
    while (count < room && query_step(&query) == SQLITE_ROW) {
        struct flow_event_row line;
        row_read(&query, &event_row_type, &line);
        ret_rows[count++] = (struct job_event_row){.id = line.id,
                                                   .job_id = line.instance_id,
                                                   .type = job_event_from(line.type),
                                                   .type_name = line.type,
                                                   .data = line.data,
                                                   .at_us = line.at_us};
    }
    *ret_count = count;
    return query_ended(&query);
}

cairn_code sqlite_list_flow_events(struct store_tx *tx, const char *instance_id, int64_t after,
                                   struct flow_event_row *ret_rows, size_t room,
                                   size_t *ret_count, cairn_error *reterr)
{
    cleanup(query_end) struct query query =
        query_begin(tx, instance_id ? Q_LIST_FLOW_EVENTS : Q_LIST_ALL_EVENTS, reterr);
    bind_page(&query, instance_id, after, room);
    return rows_read(&query, &event_row_type, ret_rows, room, ret_count);
}
