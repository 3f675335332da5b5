/* engine/read_history.c - events and logs, also those alone that match a filter.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * No index serves these filters: rows are read in their order, and those that do not match are left out.
 * What one request looks at is bounded; the answer says how far it came, and its cursor goes on there.
 */
#include "base/word.h"
#include "engine/read.h"

#include <stdlib.h>
#include <string.h>

/* Lines of a log may be long, so bytes are bounded, too. */
enum { PORTION = 100, LOOK_MAX = 2000, LOOK_BYTES = 4 << 20 };

/* What a filter asks of a row: of events type and step, of logs the others as well. */
struct facts {
    const char *type, *level, *step, *text, *data;
    int32_t attempt;
    int64_t id, at_us;
};

static struct facts facts_of(const struct question *q, const void *rows, size_t i)
{
    const struct event_row *event = (const struct event_row *)rows + i;
    const struct log_row *log = (const struct log_row *)rows + i;
    if (q->request->op == OP_LOG_LIST)
        return (struct facts){.level = log->level,
                              .step = log->step,
                              .text = log->message,
                              .data = log->data,
                              .attempt = log->attempt,
                              .id = log->id,
                              .at_us = log->at_us};
    return (struct facts){.type = event->type,
                          .step = event->step,
                          .data = event->data,
                          .id = event->id,
                          .at_us = event->at_us};
}

static bool is_wanted(const struct page_input *in, const struct facts *facts)
{
    return (!in->type || words_match(in->type, facts->type)) &&
           (!in->level || words_match(in->level, facts->level)) &&
           (!in->step || (facts->step && strcmp(in->step, facts->step) == 0)) &&
           (!in->attempt || in->attempt == facts->attempt) &&
           (!in->text || (facts->text && strcasestr(facts->text, in->text)));
}

static size_t bytes_of(const struct facts *facts)
{
    return (facts->text ? strlen(facts->text) : 0) + (facts->data ? strlen(facts->data) : 0);
}

static cairn_code read_after(struct question *q, int64_t after, void *rows, size_t room,
                             size_t *ret_count)
{
    const struct page_input *in = &q->request->in.page;
    if (q->request->op == OP_LOG_LIST)
        return STORE(q, list_logs, in->id, after, rows, room, ret_count);
    if (in->is_newest)
        return STORE(q, list_events_before, in->id, after, rows, room, ret_count);
    return STORE(q, list_events, in->id, after, rows, room, ret_count);
}

/* Portion by portion, until there is no room for more, no row is left, or enough were looked at. */
static cairn_code sift(struct question *q, int64_t after, char *rows, size_t room,
                       size_t *ret_count)
{
    const struct page_input *in = &q->request->in.page;
    struct page_output *page = &q->request->out.page;
    size_t size =
        q->request->op == OP_LOG_LIST ? sizeof(struct log_row) : sizeof(struct event_row);
    size_t found = 0, count = PORTION, looked_at = 0, bytes = 0;
    struct facts last = {.id = after};
    char *portion = arena_room(q->arena, PORTION, size);
    NEED(portion, q->error);
    while (count == PORTION && looked_at < LOOK_MAX && bytes < LOOK_BYTES) {
        TRY(read_after(q, last.id, portion, PORTION, &count));
        for (size_t i = 0; i < count && found < room; i++) {
            last = facts_of(q, portion, i);
            bytes += bytes_of(&last);
            if (is_wanted(in, &last))
                memcpy(rows + found++ * size, portion + i * size, size);
        }
        looked_at += count;
    }
    *ret_count = found;
    if (count < PORTION || found == room)
        return CAIRN_OK;
    page->scanned_to_us = last.at_us;
    page->next = arena_printf(q->arena, "%lld", (long long)last.id);
    return page->next ? CAIRN_OK : fail_memory(q->error);
}

cairn_code fetch_history(struct question *q, void *rows, size_t room, size_t *ret_count)
{
    const struct page_input *in = &q->request->in.page;
    int64_t after = in->cursor ? strtoll(in->cursor, NULL, 10) : 0;
    bool is_filtered = in->type || in->level || in->step || in->attempt || in->text;
    return is_filtered ? sift(q, after, rows, room, ret_count)
                       : read_after(q, after, rows, room, ret_count);
}
