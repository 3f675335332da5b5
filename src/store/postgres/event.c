/* store/postgres/event.c - the audit trail.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "base/error.h"
#include "base/mem.h"
#include "store/postgres/postgres.h"

#include <string.h>

enum { EVENT_COLUMNS = 3 };

cairn_code postgres_append_events(struct store_tx *tx, const struct job_event_row *events,
                                  size_t count, cairn_error *reterr)
{
    cleanup(columns_done) struct postgres_columns columns = {0};
    size_t i = 0;
    while (i < count) {
        columns_reset(&columns);
        for (; i < count && columns_size(&columns) < POSTGRES_PORTION; i++) {
            column_uuid(&columns, events[i].job_id);
            column_text(&columns, job_event_name(events[i].type));
            column_json(&columns, events[i].data);
            columns_end_row(&columns, EVENT_COLUMNS);
        }
        struct postgres_params params = {.arena = tx->arena};
        param_columns(&params, &columns, EVENT_COLUMNS);
        param_time(&params, tx->now_us);
        cairn_code code =
            postgres_queue(postgres_session_of(tx), PG_APPEND_EVENTS, &params, reterr);
        if (code)
            return code;
    }
    return CAIRN_OK;
}

cairn_code postgres_list_events(struct store_tx *tx, const char *job_id, int64_t after,
                                struct job_event_row *ret_rows, size_t room, size_t *ret_count,
                                cairn_error *reterr)
{
    cleanup(postgres_result_done) PGresult *result = NULL;
    struct postgres_params params = {.arena = tx->arena};
    *ret_count = 0;
    if (!id_is_valid(job_id))
        return CAIRN_OK;
    param_text(&params, job_id);
    param_int(&params, after);
    param_int(&params, (int64_t)room);
    cairn_code code =
        postgres_run(postgres_session_of(tx), PG_LIST_EVENTS, &params, &result, reterr);
    if (code)
        return code;

    struct postgres_reader reader = {.result = result, .arena = tx->arena};
    for (; reader.row < PQntuples(result); reader.row++) {
        const char *type_name = value_text(&reader, 2);
        ret_rows[(*ret_count)++] = (struct job_event_row){
            .id = value_int(&reader, 0),
            .job_id = value_text(&reader, 1),
            .type = job_event_from(type_name),
            .type_name = type_name,
            .data = value_text(&reader, 3),
            .at_us = value_time(&reader, 4),
        };
    }
    return reader.failed ? fail_memory(reterr) : CAIRN_OK;
}
