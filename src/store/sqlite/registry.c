/* store/sqlite/registry.c - which runtime owns a type, and whether it is enabled.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "base/mem.h"
#include "store/sqlite/sqlite.h"

cairn_code sqlite_put_registry(struct store_tx *tx, const struct registry_row *row,
                               cairn_error *reterr)
{
    struct registry_row now = *row;
    if (!now.intent_type)
        now.intent_type = "workflow";
    now.created_at_us = now.updated_at_us = tx->now_us;
    return rows_write(tx, Q_PUT_REGISTRY, &registry_row_type, &now, 1, reterr);
}

cairn_code sqlite_get_registry(struct store_tx *tx, const char *name,
                               struct registry_row *ret_row, cairn_error *reterr)
{
    cleanup(query_end) struct query query = query_begin(tx, Q_GET_REGISTRY, reterr);
    bind_text(&query, ":name", name);
    return row_find(&query, &registry_row_type, ret_row);
}

cairn_code sqlite_list_registry(struct store_tx *tx, const char *after,
                                struct registry_row *ret_rows, size_t room, size_t *ret_count,
                                cairn_error *reterr)
{
    cleanup(query_end) struct query query = query_begin(tx, Q_LIST_REGISTRY, reterr);
    bind_text(&query, ":after", after ? after : ""); /* names are not empty */
    return rows_read(&query, &registry_row_type, ret_rows, room, ret_count);
}
