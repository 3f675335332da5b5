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
    postgres_session_of(tx)->tx.is_news = true; /* a claim elsewhere may wait for this */
    return postgres_write_rows(tx, PG_PUT_REGISTRY, &registry_row_type, COLUMNS_INSERT, row, 1,
                               reterr);
}

cairn_code postgres_get_registry(struct store_tx *tx, const char *name,
                                 struct registry_row *ret_row, cairn_error *reterr)
{
    struct postgres_params params = PARAMS(tx, TEXT(name));
    return postgres_read_one(tx, PG_GET_REGISTRY, &params, &registry_row_type, ret_row, reterr);
}

cairn_code postgres_list_registry(struct store_tx *tx, const char *after,
                                  struct registry_row *ret_rows, size_t room, size_t *ret_count,
                                  cairn_error *reterr)
{
    const char *last = after ? after : ""; /* no name is empty */
    struct postgres_params params = PARAMS(tx, TEXT(last), INT(room));
    return postgres_read_rows(tx, PG_LIST_REGISTRY, &params, &registry_row_type, ret_rows, room,
                              ret_count, reterr);
}

cairn_code postgres_list_types(struct store_tx *tx, bool is_ready, const char **ret_types,
                               size_t room, size_t *ret_count, cairn_error *reterr)
{
    struct postgres_params params = PARAMS(tx, INT(room), TEXT(is_ready ? "true" : "false"));
    return postgres_read_texts(tx, PG_LIST_TYPES, &params, ret_types, ret_count, reterr);
}
