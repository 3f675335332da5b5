/* store/postgres/registry.c - which runtime owns a type, and whether it may be claimed.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "base/error.h"
#include "base/mem.h"
#include "store/postgres/postgres.h"

cairn_code postgres_put_registry(struct store_tx *tx, const struct registry_row *row,
                                 cairn_error *reterr)
{
    struct postgres_session *session = postgres_session_of(tx);
    struct postgres_params params = {.arena = tx->arena};
    param_text(&params, row->name);
    param_text(&params, row->intent_type);
    param_text(&params, row->runtime);
    param_text(&params, row->description);
    param_bool(&params, row->is_enabled);
    param_time(&params, row->created_at_us);
    param_time(&params, row->updated_at_us);
    session->tx.is_news = true; /* a claim elsewhere may be waiting for just this */
    return postgres_run(session, PG_PUT_REGISTRY, &params, NULL, reterr);
}

static cairn_code read_registry(struct store_tx *tx, const PGresult *result,
                                struct registry_row *ret_rows, size_t *ret_count,
                                cairn_error *reterr)
{
    struct postgres_reader reader = {.result = result, .arena = tx->arena};
    for (; reader.row < PQntuples(result); reader.row++)
        ret_rows[reader.row] = (struct registry_row){
            .name = value_text(&reader, 0),
            .intent_type = value_text(&reader, 1),
            .runtime = value_text(&reader, 2),
            .description = value_text(&reader, 3),
            .is_enabled = value_bool(&reader, 4),
            .created_at_us = value_time(&reader, 5),
            .updated_at_us = value_time(&reader, 6),
        };
    *ret_count = (size_t)PQntuples(result);
    return reader.failed ? fail_memory(reterr) : CAIRN_OK;
}

cairn_code postgres_get_registry(struct store_tx *tx, const char *name,
                                 struct registry_row *ret_row, cairn_error *reterr)
{
    cleanup(postgres_result_done) PGresult *result = NULL;
    struct postgres_params params = {.arena = tx->arena};
    size_t count = 0;
    param_text(&params, name);
    cairn_code code =
        postgres_run(postgres_session_of(tx), PG_GET_REGISTRY, &params, &result, reterr);
    if (!code)
        code = read_registry(tx, result, ret_row, &count, reterr);
    return code ? code : count ? CAIRN_OK : CAIRN_E_NOT_FOUND;
}

cairn_code postgres_list_registry(struct store_tx *tx, const char *after,
                                  struct registry_row *ret_rows, size_t room, size_t *ret_count,
                                  cairn_error *reterr)
{
    cleanup(postgres_result_done) PGresult *result = NULL;
    struct postgres_params params = {.arena = tx->arena};
    param_text(&params, after ? after : ""); /* no name is empty */
    param_int(&params, (int64_t)room);
    cairn_code code =
        postgres_run(postgres_session_of(tx), PG_LIST_REGISTRY, &params, &result, reterr);
    return code ? code : read_registry(tx, result, ret_rows, ret_count, reterr);
}

cairn_code postgres_list_types(struct store_tx *tx, const char **ret_types, size_t room,
                               size_t *ret_count, cairn_error *reterr)
{
    cleanup(postgres_result_done) PGresult *result = NULL;
    struct postgres_params params = {.arena = tx->arena};
    param_int(&params, (int64_t)room);
    cairn_code code =
        postgres_run(postgres_session_of(tx), PG_LIST_TYPES, &params, &result, reterr);
    if (code)
        return code;

    struct postgres_reader reader = {.result = result, .arena = tx->arena};
    for (; reader.row < PQntuples(result); reader.row++)
        ret_types[reader.row] = value_text(&reader, 0);
    *ret_count = (size_t)PQntuples(result);
    return reader.failed ? fail_memory(reterr) : CAIRN_OK;
}
