/* store/postgres/flow_definition.c - workflow definitions, which never change.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "base/error.h"
#include "base/mem.h"
#include "store/postgres/flow.h"

#include <string.h>

cairn_code postgres_put_definition(struct store_tx *tx, const struct definition_row *row,
                                   enum put_result *ret_result, cairn_error *reterr)
{
    cleanup(postgres_result_done) PGresult *result = NULL;
    struct postgres_params params = {.arena = tx->arena};
    struct definition_row known;
    param_text(&params, row->name);
    param_int(&params, row->version);
    param_text(&params, row->hash);
    param_text(&params, row->content);
    param_time(&params, row->created_at_us);
    cairn_code code =
        postgres_run(postgres_session_of(tx), PG_PUT_DEFINITION, &params, &result, reterr);
    if (code)
        return code;
    *ret_result = PUT_DONE;
    if (PQntuples(result) > 0)
        return CAIRN_OK;

    code = postgres_get_definition(tx, row->name, row->version, &known, reterr);
    if (code == CAIRN_E_NOT_FOUND)
        return fail(reterr, CAIRN_E_BUSY,
                    "could not write a definition: somebody has just deleted it");
    if (!code)
        *ret_result = strcmp(known.hash, row->hash) == 0 ? PUT_SAME : PUT_OTHER;
    return code;
}

static cairn_code read_definitions(struct store_tx *tx, const PGresult *result,
                                   struct definition_row *ret_rows, size_t *ret_count,
                                   cairn_error *reterr)
{
    struct postgres_reader reader = {.result = result, .arena = tx->arena};
    for (; reader.row < PQntuples(result); reader.row++)
        ret_rows[reader.row] = (struct definition_row){
            .name = value_text(&reader, 0),
            .version = (int32_t)value_int(&reader, 1),
            .hash = value_text(&reader, 2),
            .content = value_text(&reader, 3),
            .created_at_us = value_time(&reader, 4),
        };
    *ret_count = (size_t)PQntuples(result);
    return reader.failed ? fail_memory(reterr) : CAIRN_OK;
}

cairn_code postgres_get_definition(struct store_tx *tx, const char *name, int32_t version,
                                   struct definition_row *ret_row, cairn_error *reterr)
{
    cleanup(postgres_result_done) PGresult *result = NULL;
    struct postgres_params params = {.arena = tx->arena};
    size_t count = 0;
    param_text(&params, name);
    param_int(&params, version);
    cairn_code code =
        postgres_run(postgres_session_of(tx), PG_GET_DEFINITION, &params, &result, reterr);
    if (!code)
        code = read_definitions(tx, result, ret_row, &count, reterr);
    return code ? code : count ? CAIRN_OK : CAIRN_E_NOT_FOUND;
}

cairn_code postgres_list_definitions(struct store_tx *tx, const char *after_name,
                                     int32_t after_version, struct definition_row *ret_rows,
                                     size_t room, size_t *ret_count, cairn_error *reterr)
{
    cleanup(postgres_result_done) PGresult *result = NULL;
    struct postgres_params params = {.arena = tx->arena};
    param_text(&params, after_name ? after_name : ""); /* no name is empty */
    param_int(&params, after_name ? after_version : 0);
    param_int(&params, (int64_t)room);
    cairn_code code =
        postgres_run(postgres_session_of(tx), PG_LIST_DEFINITIONS, &params, &result, reterr);
    return code ? code : read_definitions(tx, result, ret_rows, ret_count, reterr);
}
