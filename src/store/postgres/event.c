/* store/postgres/event.c - the history of jobs and instances.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "base/error.h"
#include "base/mem.h"
#include "store/postgres/postgres.h"

#include <string.h>

/* ---- writing -------------------------------------------------------------------------------- */

/* Data such as {"status":"ready"} that many events of a batch share. */
enum { DATA_MAX = 12 };
struct alike {
    const char *data[DATA_MAX];
    size_t count;
};

/* The place of an event's data, from 1; 0: there is no room for more. */
static int32_t place_of(struct alike *alike, const char *data)
{
    for (size_t i = 0; i < alike->count; i++)
        if (strcmp(alike->data[i], data) == 0)
            return (int32_t)i + 1;
    if (alike->count == DATA_MAX)
        return 0;
    alike->data[alike->count++] = data;
    return (int32_t)alike->count;
}

/* Queues as many of the first events as have data in common, if that saves something.  Their data
 * are sent, and parsed by the server, once. */
static cairn_code append_alike(struct store_tx *tx, const struct event_row *events,
                               size_t count, size_t *ret_count, cairn_error *reterr)
{
    cleanup(columns_done) struct postgres_columns columns = {0};
    struct postgres_params params = {.arena = tx->arena};
    struct alike alike = {0};
    size_t done = 0;
    for (; done < count && columns_size(&columns) < POSTGRES_PORTION; done++) {
        const struct event_row *event = &events[done];
        int32_t place = place_of(&alike, event->data ? event->data : "{}");
        if (place == 0)
            break;
        columns_uuid(&columns, event->subject_id);
        columns_text(&columns, event->type);
        columns_text(&columns, event->step);
        columns_int(&columns, place);
        columns_end_row(&columns);
    }
    *ret_count = done < 2 * alike.count ? 0 : done;
    if (*ret_count == 0)
        return CAIRN_OK;
    param_columns(&params, &columns);
    param_jsons(&params, alike.data, alike.count);
    param_time(&params, tx->now_us);
    return postgres_queue(postgres_session_of(tx), PG_APPEND_ALIKE_EVENTS, &params, reterr);
}

cairn_code postgres_append_events(struct store_tx *tx, const struct event_row *events,
                                  size_t count, cairn_error *reterr)
{
    size_t done = 0;
    TRY(append_alike(tx, events, count, &done, reterr));
    return postgres_write_rows(tx, PG_APPEND_EVENTS, &event_row_type, COLUMNS_INSERT,
                               events + done, count - done, reterr);
}

/* ---- reading -------------------------------------------------------------------------------- */

/* Up to which event no transaction can add one any more.  It must be asked before the statement
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
    cairn_code code = find_settled(tx, &settled, reterr);
    if (code || settled <= after)
        return code;
    struct postgres_params params = PARAMS(tx, INT(after), INT(settled), INT(room));
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
