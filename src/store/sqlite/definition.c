/* store/sqlite/definition.c - workflow files, as they were deployed.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "base/mem.h"
#include "store/sqlite/sqlite.h"

#include <assert.h>
#include <string.h>

cairn_code sqlite_get_definition(struct store_tx *tx, const char *name, int32_t version,
                                 struct definition_row *ret_row, cairn_error *reterr)
{
    cleanup(query_end) struct query query =
        query_begin(tx, version ? Q_GET_DEFINITION : Q_GET_LATEST_DEFINITION, reterr);
    bind_text(&query, ":name", name);
    if (version)
        bind_int(&query, ":version", version);
    return row_find(&query, &definition_row_type, ret_row);
}

cairn_code sqlite_put_definition(struct store_tx *tx, const struct definition_row *row,
                                 enum put_result *ret_result, cairn_error *reterr)
{
    size_t count = 0;
    struct definition_row known;
    cleanup(query_end) struct query query = query_begin(tx, Q_PUT_DEFINITION, reterr);
    row_bind(&query, &definition_row_type, row);
    cairn_code code = query_change(&query, &count);
    *ret_result = PUT_DONE;
    if (code || count > 0)
        return code;
    code = sqlite_get_definition(tx, row->name, row->version, &known, reterr);
    assert(code != CAIRN_E_NOT_FOUND); /* it is why the insert did nothing */
    if (!code)
        *ret_result = strcmp(known.hash, row->hash) == 0 ? PUT_SAME : PUT_OTHER;
    return code;
}

cairn_code sqlite_list_definitions(struct store_tx *tx, const char *after_name,
                                   int32_t after_version, struct definition_row *ret_rows,
                                   size_t room, size_t *ret_count, cairn_error *reterr)
{
    cleanup(query_end) struct query query = query_begin(tx, Q_LIST_DEFINITIONS, reterr);
    bind_text(&query, ":after_name", after_name ? after_name : ""); /* names are not empty */
    bind_int(&query, ":after_version", after_name ? after_version : 0);
    return rows_read(&query, &definition_row_type, ret_rows, room, ret_count);
}
