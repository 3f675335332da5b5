/* store/postgres/definition.c - workflow definitions, which never change.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "base/error.h"
#include "base/mem.h"
#include "store/postgres/postgres.h"

#include <string.h>

cairn_code postgres_put_definition(struct store_tx *tx, const struct definition_row *row,
                                   enum put_result *ret_result, cairn_error *reterr)
{
    cleanup(columns_done) struct postgres_columns columns = {0};
    cleanup(reader_done) struct postgres_reader reader = {0};
    struct postgres_params params = {.arena = tx->arena};
    struct definition_row known;
    columns_row(&columns, &definition_row_type, COLUMNS_INSERT, row);
    param_columns(&params, &columns);
    TRY(postgres_ask(tx, PG_PUT_DEFINITION, &params, &reader, reterr));
    *ret_result = PUT_DONE;
    if (reader.count > 0)
        return CAIRN_OK;

    cairn_code code = postgres_get_definition(tx, row->name, row->version, &known, reterr);
    if (code == CAIRN_E_NOT_FOUND)
        return fail(reterr, CAIRN_E_BUSY,
                    "could not write a definition: another process has just deleted it");
    if (!code)
        *ret_result = strcmp(known.hash, row->hash) == 0 ? PUT_SAME : PUT_OTHER;
    return code;
}

cairn_code postgres_get_definition(struct store_tx *tx, const char *name, int32_t version,
                                   struct definition_row *ret_row, cairn_error *reterr)
{
    struct postgres_params params = PARAMS(tx, TEXT(name), INT(version));
    return postgres_read_one(tx, PG_GET_DEFINITION, &params, &definition_row_type, ret_row,
                             reterr);
}

cairn_code postgres_list_definitions(struct store_tx *tx, const char *after_name,
                                     int32_t after_version, struct definition_row *ret_rows,
                                     size_t room, size_t *ret_count, cairn_error *reterr)
{
    bool is_first = !after_name; /* no name is empty */
    struct postgres_params params = PARAMS(tx, TEXT(is_first ? "" : after_name),
                                           INT(is_first ? 0 : after_version), INT(room));
    return postgres_read_rows(tx, PG_LIST_DEFINITIONS, &params, &definition_row_type, ret_rows,
                              room, ret_count, reterr);
}
