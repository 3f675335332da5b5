/* store/postgres/flow_log.c - what functions have logged.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "base/error.h"
#include "base/mem.h"
#include "store/postgres/flow.h"

enum { LOG_COLUMNS = 6 };

cairn_code postgres_append_logs(struct store_tx *tx, const struct log_row *rows, size_t count,
                                cairn_error *reterr)
{
    cleanup(columns_done) struct postgres_columns columns = {0};
    size_t i = 0;
    while (i < count) {
        columns_reset(&columns);
        for (; i < count && columns_size(&columns) < POSTGRES_PORTION; i++) {
            column_uuid(&columns, rows[i].instance_id);
            column_text(&columns, rows[i].level);
            column_text(&columns, rows[i].message);
            column_json(&columns, rows[i].data);
            column_text(&columns, rows[i].step);
            column_int(&columns, rows[i].attempt);
            columns_end_row(&columns, LOG_COLUMNS);
        }
        struct postgres_params params = {.arena = tx->arena};
        param_columns(&params, &columns, LOG_COLUMNS);
        param_time(&params, tx->now_us);
        cairn_code code =
            postgres_queue(postgres_session_of(tx), PG_APPEND_LOGS, &params, reterr);
        if (code)
            return code;
    }
    return CAIRN_OK;
}

cairn_code postgres_list_logs(struct store_tx *tx, const char *instance_id, int64_t after,
                              struct log_row *ret_rows, size_t room, size_t *ret_count,
                              cairn_error *reterr)
{
    cleanup(postgres_result_done) PGresult *result = NULL;
    struct postgres_params params = {.arena = tx->arena};
    *ret_count = 0;
    if (!id_is_valid(instance_id))
        return CAIRN_OK;
    param_text(&params, instance_id);
    param_int(&params, after);
    param_int(&params, (int64_t)room);
    cairn_code code =
        postgres_run(postgres_session_of(tx), PG_LIST_LOGS, &params, &result, reterr);
    if (code)
        return code;
    struct postgres_reader reader = {.result = result, .arena = tx->arena};
    for (; reader.row < PQntuples(result); reader.row++)
        ret_rows[reader.row] = (struct log_row){
            .id = value_int(&reader, 0),
            .instance_id = value_text(&reader, 1),
            .level = value_text(&reader, 2),
            .message = value_text(&reader, 3),
            .data = value_text(&reader, 4),
            .step = value_text(&reader, 5),
            .attempt = (int32_t)value_int(&reader, 6),
            .at_us = value_time(&reader, 7),
        };
    *ret_count = (size_t)PQntuples(result);
    return reader.failed ? fail_memory(reterr) : CAIRN_OK;
}
