/* store/sqlite/event.c - the history of jobs, instances and steps.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "base/error.h"
#include "base/mem.h"
#include "store/sqlite/sqlite.h"

enum { LINES_AT_ONCE = 16, LINE_PARAMETERS = 5 }; /* as append_events has it */

static cairn_code append_full(struct store_tx *tx, const struct event_row *lines,
                              cairn_error *reterr)
{
    cleanup(query_end) struct query query = query_begin(tx, Q_APPEND_EVENTS, reterr);
    for (int i = 0; i < LINES_AT_ONCE; i++) {
        int first = i * LINE_PARAMETERS + 1;
        bind_text_at(&query, first, lines[i].subject_id);
        bind_text_at(&query, first + 1, lines[i].type);
        bind_text_at(&query, first + 2, lines[i].step);
        bind_text_at(&query, first + 3, lines[i].data);
        bind_int_at(&query, first + 4, tx->now_us);
    }
    return query_run(&query);
}

cairn_code sqlite_append_events(struct store_tx *tx, const struct event_row *events,
                                size_t count, cairn_error *reterr)
{
    for (; count >= LINES_AT_ONCE; count -= LINES_AT_ONCE, events += LINES_AT_ONCE)
        TRY(append_full(tx, events, reterr));
    return rows_write(tx, Q_APPEND_EVENT, &event_row_type, events, count, reterr);
}

cairn_code sqlite_list_events(struct store_tx *tx, const char *subject_id, int64_t after,
                              struct event_row *ret_rows, size_t room, size_t *ret_count,
                              cairn_error *reterr)
{
    cleanup(query_end) struct query query =
        query_begin(tx, subject_id ? Q_LIST_EVENTS : Q_LIST_ALL_EVENTS, reterr);
    bind_page(&query, subject_id, after);
    return rows_read(&query, &event_row_type, ret_rows, room, ret_count);
}
