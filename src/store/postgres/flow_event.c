/* store/postgres/flow_event.c - the audit trail of instances, and of everything.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "base/error.h"
#include "base/mem.h"
#include "store/postgres/flow.h"

#include <string.h>

enum { EVENT_COLUMNS = 4 };

/* ---- events that say the same ---------------------------------------------------------------
 */

/* "{"status":"ready"}" and the like: what most events of a batch say, however many they are. */
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

/* Queues as many of the first events as have data in common, if it is worth it. */
static cairn_code append_alike(struct store_tx *tx, const struct flow_event_row *events,
                               size_t count, size_t *ret_count, cairn_error *reterr)
{
    cleanup(columns_done) struct postgres_columns columns = {0};
    struct postgres_params params = {.arena = tx->arena};
    struct alike alike = {0};
    size_t done = 0;
    for (; done < count && columns_size(&columns) < POSTGRES_PORTION; done++) {
        const struct flow_event_row *event = &events[done];
        int32_t place = place_of(&alike, event->data ? event->data : "{}");
        if (place == 0)
            break;
        column_uuid(&columns, event->instance_id);
        column_text(&columns, event->type);
        column_text(&columns, event->step);
        column_int(&columns, place);
        columns_end_row(&columns, EVENT_COLUMNS);
    }
    *ret_count = done < 2 * alike.count ? 0 : done;
    if (*ret_count == 0)
        return CAIRN_OK;
    param_columns(&params, &columns, EVENT_COLUMNS);
    param_jsons(&params, alike.data, alike.count);
    param_time(&params, tx->now_us);
    return postgres_queue(postgres_session_of(tx), PG_APPEND_ALIKE_EVENTS, &params, reterr);
}

/* ---- all of them ----------------------------------------------------------------------------
 */

static cairn_code append_each(struct store_tx *tx, const struct flow_event_row *events,
                              size_t count, cairn_error *reterr)
{
    cleanup(columns_done) struct postgres_columns columns = {0};
    size_t i = 0;
    while (i < count) {
        columns_reset(&columns);
        for (; i < count && columns_size(&columns) < POSTGRES_PORTION; i++) {
            column_uuid(&columns, events[i].instance_id);
            column_text(&columns, events[i].type);
            column_text(&columns, events[i].step);
            column_json(&columns, events[i].data);
            columns_end_row(&columns, EVENT_COLUMNS);
        }
        struct postgres_params params = {.arena = tx->arena};
        param_columns(&params, &columns, EVENT_COLUMNS);
        param_time(&params, tx->now_us);
        cairn_code code =
            postgres_queue(postgres_session_of(tx), PG_APPEND_FLOW_EVENTS, &params, reterr);
        if (code)
            return code;
    }
    return CAIRN_OK;
}

cairn_code postgres_append_flow_events(struct store_tx *tx, const struct flow_event_row *events,
                                       size_t count, cairn_error *reterr)
{
    size_t done = 0;
    cairn_code code = append_alike(tx, events, count, &done, reterr);
    if (!code && done < count)
        code = append_each(tx, events + done, count - done, reterr);
    return code;
}

/* Up to which event nothing can come in between any more.  It must be asked before the statement
 * that reads the events begins; see settled_event.sql. */
static cairn_code find_settled(struct store_tx *tx, int64_t *ret_id, cairn_error *reterr)
{
    cleanup(postgres_result_done) PGresult *result = NULL;
    cairn_code code =
        postgres_run(postgres_session_of(tx), PG_SETTLED_EVENT, NULL, &result, reterr);
    if (!code)
        *ret_id = value_int(&(struct postgres_reader){.result = result}, 0);
    return code;
}

static cairn_code run_list(struct store_tx *tx, enum postgres_query query,
                           const struct postgres_params *params,
                           struct flow_event_row *ret_rows, size_t *ret_count,
                           cairn_error *reterr)
{
    cleanup(postgres_result_done) PGresult *result = NULL;
    cairn_code code = postgres_run(postgres_session_of(tx), query, params, &result, reterr);
    if (code)
        return code;
    struct postgres_reader reader = {.result = result, .arena = tx->arena};
    for (; reader.row < PQntuples(result); reader.row++)
        ret_rows[reader.row] = (struct flow_event_row){
            .id = value_int(&reader, 0),
            .instance_id = value_text(&reader, 1),
            .type = value_text(&reader, 2),
            .step = value_text(&reader, 3),
            .data = value_text(&reader, 4),
            .at_us = value_time(&reader, 5),
        };
    *ret_count = (size_t)PQntuples(result);
    return reader.failed ? fail_memory(reterr) : CAIRN_OK;
}

static cairn_code list_all(struct store_tx *tx, int64_t after, struct flow_event_row *ret_rows,
                           size_t room, size_t *ret_count, cairn_error *reterr)
{
    struct postgres_params params = {.arena = tx->arena};
    int64_t settled = 0;
    cairn_code code = find_settled(tx, &settled, reterr);
    if (code || settled <= after)
        return code;
    param_int(&params, after);
    param_int(&params, settled);
    param_int(&params, (int64_t)room);
    return run_list(tx, PG_LIST_ALL_EVENTS, &params, ret_rows, ret_count, reterr);
}

cairn_code postgres_list_flow_events(struct store_tx *tx, const char *instance_id,
                                     int64_t after, struct flow_event_row *ret_rows,
                                     size_t room, size_t *ret_count, cairn_error *reterr)
{
    struct postgres_params params = {.arena = tx->arena};
    *ret_count = 0;
    if (!instance_id)
        return list_all(tx, after, ret_rows, room, ret_count, reterr);
    if (!id_is_valid(instance_id))
        return CAIRN_OK;
    param_text(&params, instance_id);
    param_int(&params, after);
    param_int(&params, (int64_t)room);
    return run_list(tx, PG_LIST_FLOW_EVENTS, &params, ret_rows, ret_count, reterr);
}
