/* store/sqlite/event.c - the audit trail.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "base/error.h"
#include "base/mem.h"
#include "store/sqlite/sqlite.h"

#include <assert.h>
#include <string.h>

enum { LINES_AT_ONCE = 16 }; /* as append_events.sql has it */

static cairn_code append_some(struct store_tx *tx, enum query_number number,
                              const struct event_line *lines, size_t count, cairn_error *reterr)
{
    cleanup(query_end) struct query query = query_begin(sqlite_session_of(tx), number);
    struct row_writer writer = {.query = &query};
    for (size_t i = 0; i < count; i++) {
        write_text(&writer, lines[i].subject);
        write_text(&writer, lines[i].type);
        write_text(&writer, lines[i].step);
        write_text(&writer, lines[i].data);
        write_int(&writer, tx->now_us);
    }
    write_end(&writer);
    return query_run(&query, "append events", reterr);
}

cairn_code append_lines(struct store_tx *tx, struct event_line (*line_of)(const void *, size_t),
                        const void *events, size_t count, cairn_error *reterr)
{
    struct event_line lines[LINES_AT_ONCE];
    cairn_code code = CAIRN_OK;
    for (size_t at = 0; at < count && !code;) {
        bool is_full = count - at >= LINES_AT_ONCE;
        size_t portion = is_full ? LINES_AT_ONCE : 1;
        for (size_t i = 0; i < portion; i++)
            lines[i] = line_of(events, at + i);
        code =
            append_some(tx, is_full ? Q_APPEND_EVENTS : Q_APPEND_EVENT, lines, portion, reterr);
        at += portion;
    }
    return code;
}

static struct event_line job_line(const void *events, size_t index)
{
    const struct job_event_row *event = (const struct job_event_row *)events + index;
    return (struct event_line){
        .subject = event->job_id, .type = job_event_name(event->type), .data = event->data};
}

cairn_code sqlite_append_events(struct store_tx *tx, const struct job_event_row *events,
                                size_t count, cairn_error *reterr)
{
    assert(tx->session->kind == SESSION_WRITER);
    return append_lines(tx, job_line, events, count, reterr);
}

/* EVENT_NONE: somebody else's word. */
static enum job_event event_from(const char *name)
{
    for (enum job_event event = EVENT_NONE + 1; event < JOB_EVENT_COUNT; event++)
        if (strcmp(job_event_name(event), name) == 0)
            return event;
    return EVENT_NONE;
}

static cairn_code read_event(struct query *query, struct arena *arena,
                             struct job_event_row *ret_row, cairn_error *reterr)
{
    struct row_reader reader = {.query = query, .arena = arena};
    ret_row->id = read_int(&reader);
    ret_row->job_id = read_text(&reader);
    ret_row->type_name = read_text(&reader);
    ret_row->data = read_text(&reader);
    ret_row->at_us = read_int(&reader);
    if (reader.failed)
        return fail_memory(reterr);
    ret_row->type = event_from(ret_row->type_name);
    return CAIRN_OK;
}

cairn_code sqlite_list_events(struct store_tx *tx, const char *job_id, int64_t after,
                              struct job_event_row *ret_rows, size_t room, size_t *ret_count,
                              cairn_error *reterr)
{
    cleanup(query_end) struct query query = query_begin(sqlite_session_of(tx), Q_LIST_EVENTS);
    bind_text(&query, ":job_id", job_id);
    bind_int(&query, ":after", after);
    bind_size(&query, ":room", room);

    size_t count = 0;
    while (count < room && query_step(&query) == SQLITE_ROW) {
        cairn_code code = read_event(&query, tx->arena, &ret_rows[count], reterr);
        if (code)
            return code;
        count++;
    }
    if (query.rc != SQLITE_OK && query.rc != SQLITE_ROW && query.rc != SQLITE_DONE)
        return query_refused(&query, "list events", reterr);
    *ret_count = count;
    return CAIRN_OK;
}
