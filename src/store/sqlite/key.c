/* store/sqlite/key.c - who has a key.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "base/error.h"
#include "base/mem.h"
#include "store/sqlite/sqlite.h"

#include <string.h>

static bool is_of_job(const struct key_row *row)
{
    return strcmp(row->kind, "job") == 0;
}

static cairn_code find_key(struct store_tx *tx, struct key_row *row, cairn_error *reterr)
{
    cleanup(query_end) struct query query =
        query_begin(tx, is_of_job(row) ? Q_FIND_JOB_KEY : Q_FIND_INSTANCE_KEY, reterr);
    struct key_row found;
    bind_text(&query, ":workflow", row->workflow);
    bind_text(&query, ":key", row->key);
    cairn_code code = row_find(&query, &key_row_type, &found);
    row->id = code ? NULL : found.id;
    row->ended_at_us = code ? 0 : found.ended_at_us;
    return code == CAIRN_E_NOT_FOUND ? CAIRN_OK : code;
}

cairn_code sqlite_find_keys(struct store_tx *tx, struct key_row *rows, size_t count,
                            cairn_error *reterr)
{
    for (size_t i = 0; i < count; i++)
        TRY(find_key(tx, &rows[i], reterr));
    return CAIRN_OK;
}

cairn_code sqlite_free_keys(struct store_tx *tx, const struct key_row *rows, size_t count,
                            cairn_error *reterr)
{
    for (size_t i = 0; i < count; i++)
        TRY(rows_write(tx, is_of_job(&rows[i]) ? Q_FREE_JOB_KEY : Q_FREE_INSTANCE_KEY,
                       &key_row_type, &rows[i], 1, reterr));
    return rows_write(tx, Q_DROP_KEY, &key_row_type, rows, count, reterr);
}
