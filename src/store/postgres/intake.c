/* store/postgres/intake.c - starts that plain SQL has written.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "base/error.h"
#include "base/mem.h"
#include "store/postgres/postgres.h"

static cairn_code read_intake(struct store_tx *tx, enum postgres_query query,
                              struct intake_row *ret_rows, size_t room, size_t *ret_count,
                              cairn_error *reterr)
{
    struct postgres_params params = PARAMS(tx, INT(room));
    return postgres_read_rows(tx, query, &params, &intake_row_type, ret_rows, room, ret_count,
                              reterr);
}

cairn_code postgres_find_intake(struct store_tx *tx, struct intake_row *ret_rows, size_t room,
                                size_t *ret_count, cairn_error *reterr)
{
    return read_intake(tx, PG_FIND_INTAKE, ret_rows, room, ret_count, reterr);
}

cairn_code postgres_list_stuck_intake(struct store_tx *tx, struct intake_row *ret_rows,
                                      size_t room, size_t *ret_count, cairn_error *reterr)
{
    return read_intake(tx, PG_LIST_STUCK_INTAKE, ret_rows, room, ret_count, reterr);
}

static cairn_code keep(struct store_tx *tx, const struct intake_row *row, cairn_error *reterr)
{
    struct postgres_params params =
        PARAMS(tx, TEXT(row->id), TEXT(row->instance_id), TEXT(row->error));
    return postgres_queue(postgres_session_of(tx), PG_KEEP_INTAKE, &params, reterr);
}

cairn_code postgres_settle_intake(struct store_tx *tx, const struct intake_row *rows,
                                  size_t count, cairn_error *reterr)
{
    struct postgres_params params = {.arena = tx->arena};
    const char **ids = arena_array(tx->arena, count, sizeof *ids);
    size_t deleted = 0;
    NEED(ids, reterr);
    for (size_t i = 0; i < count; i++) {
        if (rows[i].instance_id || rows[i].error)
            TRY(keep(tx, &rows[i], reterr));
        else
            ids[deleted++] = rows[i].id;
    }
    param_uuids(&params, ids, deleted);
    return postgres_queue(postgres_session_of(tx), PG_DELETE_INTAKE, &params, reterr);
}

cairn_code postgres_get_intake(struct store_tx *tx, const char *id, struct intake_row *ret_row,
                               cairn_error *reterr)
{
    struct postgres_params params = PARAMS(tx, TEXT(id));
    return postgres_read_one(tx, PG_GET_INTAKE, &params, &intake_row_type, ret_row, reterr);
}
