/* store/sqlite/event.c - the history of jobs, instances and steps.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "base/error.h"
#include "base/json.h"
#include "base/mem.h"
#include "store/event_log.h"
#include "store/sqlite/event_digits.h"
#include "store/sqlite/sqlite.h"

#include <assert.h>

/* ---- Writing ----------------------------------------------------------------------------- */

cairn_code sqlite_number_events(struct store_tx *tx, int64_t *ret_first, cairn_error *reterr)
{
    struct sqlite_session *session = sqlite_session_of(tx);
    cleanup(query_end) struct query query = query_begin(tx, Q_NUMBER_EVENTS, reterr);
    int64_t number = 0;
    TRY(query_int(&query, &number));
    if (number <= session->log_id) /* of a row that is not written yet */
        number = session->log_id + 1;
    session->log_id = number;
    *ret_first = number << EVENT_SLOT_BITS;
    return CAIRN_OK;
}

/* The values of a row, as they are bound. */
struct log_values {
    struct buf kinds, prev, said, ids;
};

static void log_values_done(struct log_values *values)
{
    buf_done(&values->kinds);
    buf_done(&values->prev);
    buf_done(&values->said);
    buf_done(&values->ids);
}

static void add_said(struct json_out *out, const struct event_row *event)
{
    json_open(out, '[');
    json_str(out, event->type);
    json_str(out, event->step);
    json_raw(out, event->data);
    json_close(out, ']');
}

/* As printf("%0*lld") has it, which costs more than the rest of a slot. */
static void add_digits(struct buf *buf, int64_t value, size_t width)
{
    char digits[20];
    size_t at = sizeof digits;
    assert(value >= 0 && width <= sizeof digits);
    for (; value > 0 || at > sizeof digits - width; value /= 10)
        digits[--at] = (char)('0' + value % 10);
    buf_add(buf, digits + at, sizeof digits - at);
}

/* Of a row that says what no id can be, the chain ends here. */
static int64_t prev_of(const struct event_row *event)
{
    static const int64_t beyond = INT64_C(10000000000000000); /* PREV_DIGITS of them */
    return event && event->prev >= 0 && event->prev < beyond ? event->prev : 0;
}

static void make_values(struct log_values *values, const struct event_log *log)
{
    struct json_out said = {.buf = &values->said}, ids = {.buf = &values->ids};
    json_open(&said, '[');
    for (size_t i = 0; i < log->said_count; i++)
        add_said(&said, log->said[i]);
    json_close(&said, ']');
    json_open(&ids, '[');
    for (size_t slot = 0; slot < log->slots; slot++) {
        const struct event_row *event = log->events[slot];
        json_str(&ids, event ? event->subject_id : NULL);
        if (!log->is_plain)
            add_digits(&values->kinds, log->kinds[slot], KIND_DIGITS);
        if (log->has_prevs)
            add_digits(&values->prev, prev_of(event), PREV_DIGITS);
    }
    json_close(&ids, ']');
}

static cairn_code append_log(struct store_tx *tx, const struct event_log *log,
                             cairn_error *reterr)
{
    cleanup(log_values_done) struct log_values values = {0};
    cleanup(query_end) struct query query = query_begin(tx, Q_APPEND_EVENT_LOG, reterr);
    make_values(&values, log);
    if (buf_failed(&values.kinds) || buf_failed(&values.prev) || buf_failed(&values.said) ||
        buf_failed(&values.ids))
        return fail_memory(reterr);
    bind_int(&query, ":id", log->id);
    bind_bytes(&query, ":kinds", &values.kinds);
    bind_bytes(&query, ":prev", &values.prev);
    bind_text(&query, ":said", values.said.text);
    bind_text(&query, ":ids", values.ids.text);
    return query_run(&query);
}

static cairn_code append_posts(struct store_tx *tx, const struct event_row *const *events,
                               size_t count, cairn_error *reterr)
{
    for (size_t i = 0; i < count; i++)
        TRY(rows_write(tx, Q_APPEND_POST, &event_row_type, events[i], 1, reterr));
    return CAIRN_OK;
}

/* Of a claim of many steps each has one, so that many are written by one statement. */
enum { LOOSE_AT_ONCE = 20 };

static int prepare_loose(sqlite3 *db, sqlite3_stmt **ret_handle)
{
    cleanup(buf_done) struct buf sql = {0};
    buf_str(&sql, "INSERT OR FAIL INTO workflow_event_loose"
                  " (id, workflow_id, event_type, step, data, created_at) VALUES");
    for (int i = 0; i < LOOSE_AT_ONCE; i++)
        buf_str(&sql, i ? ", (?, ?, ?, ?, ?, ?)" : " (?, ?, ?, ?, ?, ?)");
    return buf_failed(&sql) ? SQLITE_NOMEM
                            : sqlite3_prepare_v3(db, sql.text, -1, SQLITE_PREPARE_PERSISTENT,
                                                 ret_handle, NULL);
}

static cairn_code append_many_loose(struct store_tx *tx, const struct event_row *events,
                                    int64_t id, cairn_error *reterr)
{
    struct sqlite_session *session = sqlite_session_of(tx);
    struct statement *statement = &session->loose_insert;
    int parameter = 0, rc = SQLITE_OK;
    if (!statement->handle)
        rc = prepare_loose(session->connection->db, &statement->handle);
    cleanup(query_end) struct query query = {.session = session,
                                             .statement = statement,
                                             .handle = statement->handle,
                                             .doing = "append events",
                                             .reterr = reterr,
                                             .rc = rc};
    for (int i = 0; i < LOOSE_AT_ONCE; i++) {
        bind_int_at(&query, ++parameter, id + i);
        bind_text_at(&query, ++parameter, events[i].subject_id);
        bind_text_at(&query, ++parameter, events[i].type);
        bind_text_at(&query, ++parameter, events[i].step);
        bind_text_at(&query, ++parameter, events[i].data);
        bind_int_at(&query, ++parameter, tx->now_us);
    }
    return query_run(&query);
}

static cairn_code append_loose(struct store_tx *tx, const struct event_row *events,
                               size_t count, cairn_error *reterr)
{
    int64_t first = 0;
    for (size_t i = 0; i < count;) {
        size_t slot = i % EVENT_SLOTS;
        if (slot == 0)
            TRY(sqlite_number_events(tx, &first, reterr));
        if (count - i >= LOOSE_AT_ONCE && slot + LOOSE_AT_ONCE <= EVENT_SLOTS) {
            TRY(append_many_loose(tx, &events[i], first + (int64_t)slot, reterr));
            i += LOOSE_AT_ONCE;
            continue;
        }
        struct event_row event = events[i++];
        event.id = first + (int64_t)slot;
        TRY(rows_write(tx, Q_APPEND_LOOSE, &event_row_type, &event, 1, reterr));
    }
    return CAIRN_OK;
}

cairn_code sqlite_append_events(struct store_tx *tx, const struct event_row *events,
                                size_t count, cairn_error *reterr)
{
    static const struct event_writer writer = {append_log, append_posts, append_loose};
    return event_log_append(tx, &writer, events, count, reterr);
}
