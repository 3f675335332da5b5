/* store/postgres/event.c - the history of jobs and instances.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "base/error.h"
#include "base/mem.h"
#include "store/event_log.h"
#include "store/postgres/postgres.h"

#include <endian.h>

/* ---- writing -------------------------------------------------------------------------------- */

cairn_code postgres_number_events(struct store_tx *tx, int64_t *ret_first, cairn_error *reterr)
{
    cleanup(reader_done) struct postgres_reader reader = {0};
    if (!tx->is_own_used && tx->own_event == EVENT_OPEN)
        TRY(postgres_settle(postgres_session_of(tx), reterr));
    *ret_first = tx->own_event;
    if (!tx->is_own_used && tx->own_event) {
        tx->is_own_used = true;
        return CAIRN_OK;
    }
    TRY(postgres_ask(tx, PG_NUMBER_EVENTS, NULL, &reader, reterr));
    *ret_first = value_int(&reader, 0) << EVENT_SLOT_BITS;
    return CAIRN_OK;
}

/* The values of a row, as they are sent. */
struct log_values {
    struct buf ids, prev, kinds;
    struct postgres_columns said;
};

static void log_values_done(struct log_values *values)
{
    buf_done(&values->ids);
    buf_done(&values->prev);
    buf_done(&values->kinds);
    columns_done(&values->said);
}

static void add_slot(struct log_values *values, const struct event_log *log, size_t slot)
{
    enum { UNUSED = UINT16_MAX };
    const struct event_row *event = log->events[slot];
    unsigned char id[UUID_BYTES] = {0};
    uint64_t prev = event ? htobe64((uint64_t)event->prev) : 0;
    uint16_t kind = htobe16(event ? log->kinds[slot] : UNUSED);
    if (event)
        uuid_bytes(event->subject_id, id);
    buf_add(&values->ids, (const char *)id, sizeof id);
    if (log->has_prevs)
        buf_add(&values->prev, (const char *)&prev, sizeof prev);
    if (!log->is_plain)
        buf_add(&values->kinds, (const char *)&kind, sizeof kind);
}

static cairn_code append_log(struct store_tx *tx, const struct event_log *log,
                             cairn_error *reterr)
{
    cleanup(log_values_done) struct log_values values = {0};
    struct postgres_params params = PARAMS(tx, INT(log->id));
    for (size_t slot = 0; slot < log->slots; slot++)
        add_slot(&values, log, slot);
    for (size_t i = 0; i < log->said_count; i++) {
        columns_text(&values.said, log->said[i]->type);
        columns_text(&values.said, log->said[i]->step);
        columns_json(&values.said, log->said[i]->data);
        columns_end_row(&values.said);
    }
    param_bytes(&params, &values.ids);
    param_bytes(&params, &values.prev);
    param_bytes(&params, &values.kinds);
    param_columns(&params, &values.said);
    param_time(&params, tx->now_us);
    return postgres_queue(postgres_session_of(tx), PG_APPEND_EVENT_LOG, &params, reterr);
}

static cairn_code append_posts(struct store_tx *tx, const struct event_row *const *events,
                               size_t count, cairn_error *reterr)
{
    cleanup(columns_done) struct postgres_columns columns = {0};
    struct postgres_params params = {.arena = tx->arena};
    for (size_t i = 0; i < count; i++) {
        columns_uuid(&columns, events[i]->subject_id);
        columns_bigint(&columns, events[i]->id);
        columns_end_row(&columns);
    }
    param_columns(&params, &columns);
    return postgres_queue(postgres_session_of(tx), PG_APPEND_POSTS, &params, reterr);
}

static cairn_code append_loose(struct store_tx *tx, const struct event_row *events,
                               size_t count, cairn_error *reterr)
{
    return postgres_write_rows(tx, PG_APPEND_LOOSE, &event_row_type, COLUMNS_INSERT, events,
                               count, reterr);
}

cairn_code postgres_append_events(struct store_tx *tx, const struct event_row *events,
                                  size_t count, cairn_error *reterr)
{
    static const struct event_writer writer = {append_log, append_posts, append_loose};
    return event_log_append(tx, &writer, events, count, reterr);
}

/* ---- reading -------------------------------------------------------------------------------- */

/* Up to which row of the log no transaction can add one any more.  It must be asked before the statement
 * that reads the events begins; see settled_event in event.sql. */
static cairn_code find_settled(struct store_tx *tx, int64_t *ret_id, cairn_error *reterr)
{
    cleanup(reader_done) struct postgres_reader reader = {0};
    TRY(postgres_ask(tx, PG_SETTLED_EVENT, NULL, &reader, reterr));
    *ret_id = value_int(&reader, 0);
    return CAIRN_OK;
}

static cairn_code list_all(struct store_tx *tx, int64_t after, struct event_row *ret_rows,
                           size_t room, size_t *ret_count, cairn_error *reterr)
{
    int64_t settled = 0;
    *ret_count = 0;
    TRY(find_settled(tx, &settled, reterr));
    int64_t before = (settled + 1) << EVENT_SLOT_BITS;
    if (before <= after)
        return CAIRN_OK;
    struct postgres_params params = PARAMS(tx, INT(after), INT(before), INT(room));
    return postgres_read_rows(tx, PG_LIST_ALL_EVENTS, &params, &event_row_type, ret_rows, room,
                              ret_count, reterr);
}

cairn_code postgres_list_events(struct store_tx *tx, const char *subject_id, int64_t after,
                                struct event_row *ret_rows, size_t room, size_t *ret_count,
                                cairn_error *reterr)
{
    if (!subject_id)
        return list_all(tx, after, ret_rows, room, ret_count, reterr);
    return postgres_list_after(tx, PG_LIST_EVENTS, subject_id, after, &event_row_type, ret_rows,
                               room, ret_count, reterr);
}

cairn_code postgres_list_events_before(struct store_tx *tx, const char *subject_id,
                                       int64_t before, struct event_row *ret_rows, size_t room,
                                       size_t *ret_count, cairn_error *reterr)
{
    return postgres_list_after(tx, PG_LIST_EVENTS_BEFORE, subject_id,
                               before ? before : INT64_MAX, &event_row_type, ret_rows, room,
                               ret_count, reterr);
}
