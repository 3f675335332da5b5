/* store/postgres/purge.c - the retention policy, and what is removed by it.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "base/error.h"
#include "base/mem.h"
#include "store/postgres/postgres.h"

/* ---- the policy -------------------------------------------------------------------------- */

cairn_code postgres_get_retention(struct store_tx *tx, struct retention_row *ret_row,
                                  cairn_error *reterr)
{
    return postgres_read_one(tx, PG_GET_RETENTION, NULL, &retention_row_type, ret_row, reterr);
}

cairn_code postgres_lock_retention(struct store_tx *tx, struct retention_row *ret_row,
                                   cairn_error *reterr)
{
    return postgres_read_one(tx, PG_LOCK_RETENTION, NULL, &retention_row_type, ret_row, reterr);
}

cairn_code postgres_take_retention(struct store_tx *tx, struct retention_row *ret_row,
                                   cairn_error *reterr)
{
    return postgres_read_one(tx, PG_TAKE_RETENTION, NULL, &retention_row_type, ret_row, reterr);
}

cairn_code postgres_put_retention(struct store_tx *tx, const struct retention_row *row,
                                  cairn_error *reterr)
{
    return postgres_write_rows(tx, PG_PUT_RETENTION, &retention_row_type, COLUMNS_UPDATE, row,
                               1, reterr);
}

/* ---- what is old ------------------------------------------------------------------------- */

cairn_code postgres_scan_past(struct store_tx *tx, enum list_kind kind, int64_t after,
                              struct past_row *ret_rows, size_t room, size_t *ret_count,
                              cairn_error *reterr)
{
    struct postgres_params params = PARAMS(tx, INT(after), INT(room));
    return postgres_read_rows(tx,
                              kind == LIST_JOBS ? PG_SCAN_PAST_JOBS : PG_SCAN_PAST_INSTANCES,
                              &params, &past_row_type, ret_rows, room, ret_count, reterr);
}

cairn_code postgres_list_family(struct store_tx *tx, const char *id, struct past_row *ret_rows,
                                size_t room, size_t *ret_count, cairn_error *reterr)
{
    struct postgres_params params = PARAMS(tx, ID(id), INT(room));
    return postgres_read_rows(tx, PG_LIST_FAMILY, &params, &past_row_type, ret_rows, room,
                              ret_count, reterr);
}

cairn_code postgres_measure_family(struct store_tx *tx, const char *id,
                                   struct family_size *ret_size, cairn_error *reterr)
{
    cleanup(reader_done) struct postgres_reader reader = {0};
    struct postgres_params params = PARAMS(tx, ID(id));
    TRY(postgres_ask(tx, PG_MEASURE_FAMILY, &params, &reader, reterr));
    *ret_size = (struct family_size){.members = value_int(&reader, 0),
                                     .open = value_int(&reader, 1),
                                     .held = value_int(&reader, 2)};
    return CAIRN_OK;
}

cairn_code postgres_list_past_children(struct store_tx *tx, const char *id, int64_t after,
                                       struct past_row *ret_rows, size_t room,
                                       size_t *ret_count, cairn_error *reterr)
{
    struct postgres_params params = PARAMS(tx, ID(id), INT(after), INT(room));
    return postgres_read_rows(tx, PG_LIST_PAST_CHILDREN, &params, &past_row_type, ret_rows,
                              room, ret_count, reterr);
}

cairn_code postgres_list_begun_purges(struct store_tx *tx, struct past_row *ret_rows,
                                      size_t room, size_t *ret_count, cairn_error *reterr)
{
    struct postgres_params params = PARAMS(tx, INT(room));
    return postgres_read_rows(tx, PG_LIST_BEGUN_PURGES, &params, &past_row_type, ret_rows, room,
                              ret_count, reterr);
}

cairn_code postgres_is_purge_begun(struct store_tx *tx, const char *id, bool *ret_is_begun,
                                   cairn_error *reterr)
{
    cleanup(reader_done) struct postgres_reader reader = {0};
    struct postgres_params params = PARAMS(tx, ID(id));
    TRY(postgres_ask(tx, PG_IS_PURGE_BEGUN, &params, &reader, reterr));
    *ret_is_begun = value_bool(&reader, 0);
    return CAIRN_OK;
}

/* ---- purging ----------------------------------------------------------------------------- */

static void param_bigints(struct postgres_params *params, struct postgres_columns *columns,
                          const int64_t *values, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        columns_bigint(columns, values[i]);
        columns_end_row(columns);
    }
    param_columns(params, columns);
}

static cairn_code run_on_logs(struct store_tx *tx, enum postgres_query query,
                              const int64_t *logs, size_t count, cairn_error *reterr)
{
    cleanup(columns_done) struct postgres_columns columns = {0};
    struct postgres_params params = {.arena = tx->arena};
    param_bigints(&params, &columns, logs, count);
    return postgres_run(postgres_session_of(tx), query, &params, NULL, reterr);
}

/* Removes chains of events, and writes anew what has become small. */
static cairn_code purge_events(struct store_tx *tx, const int64_t *events, size_t count,
                               cairn_error *reterr)
{
    cleanup(columns_done) struct postgres_columns columns = {0};
    cleanup(reader_done) struct postgres_reader reader = {0};
    struct postgres_params params = {.arena = tx->arena};
    param_bigints(&params, &columns, events, count);
    TRY(postgres_ask(tx, PG_PURGE_EVENTS, &params, &reader, reterr));
    if (reader.count == 0)
        return CAIRN_OK;
    int64_t *logs = arena_array(tx->arena, (size_t)reader.count, sizeof *logs);
    if (!logs)
        return fail_memory(reterr);
    for (; reader.row < reader.count; reader.row++)
        logs[reader.row] = value_int(&reader, 0);
    TRY(run_on_logs(tx, PG_REWRITE_EVENT_LOGS, logs, (size_t)reader.count, reterr));
    return run_on_logs(tx, PG_UNMARK_EVENT_LOGS, logs, (size_t)reader.count, reterr);
}

static const char **past_ids(struct store_tx *tx, const struct past_row *rows, size_t count)
{
    const char **ids = arena_array(tx->arena, count, sizeof *ids);
    for (size_t i = 0; ids && i < count; i++)
        ids[i] = rows[i].id;
    return ids;
}

cairn_code postgres_lock_past(struct store_tx *tx, enum list_kind kind, struct past_row *rows,
                              size_t *count, cairn_error *reterr)
{
    struct postgres_params params = {.arena = tx->arena};
    const char **ids = past_ids(tx, rows, *count);
    if (!ids)
        return fail_memory(reterr);
    param_uuids(&params, ids, *count);
    return postgres_read_rows(tx,
                              kind == LIST_JOBS ? PG_LOCK_PAST_JOBS : PG_LOCK_PAST_INSTANCES,
                              &params, &past_row_type, rows, *count, count, reterr);
}

cairn_code postgres_purge(struct store_tx *tx, enum list_kind kind, const struct past_row *rows,
                          size_t count, cairn_error *reterr)
{
    struct postgres_params params = {.arena = tx->arena};
    const char **ids = past_ids(tx, rows, count);
    int64_t *events = arena_array(tx->arena, count, sizeof *events);
    if (!ids || !events)
        return fail_memory(reterr);
    for (size_t i = 0; i < count; i++)
        events[i] = rows[i].last_event;
    param_uuids(&params, ids, count);
    TRY(postgres_queue(postgres_session_of(tx),
                       kind == LIST_JOBS ? PG_PURGE_JOBS : PG_PURGE_INSTANCES, &params,
                       reterr));
    return purge_events(tx, events, count, reterr);
}

cairn_code postgres_mark_purges(struct store_tx *tx, const char *const *ids, size_t count,
                                size_t *ret_new, cairn_error *reterr)
{
    cleanup(reader_done) struct postgres_reader reader = {0};
    struct postgres_params params = {.arena = tx->arena};
    param_uuids(&params, ids, count);
    TRY(postgres_ask(tx, PG_MARK_PURGES, &params, &reader, reterr));
    *ret_new = (size_t)value_int(&reader, 0);
    return CAIRN_OK;
}

static cairn_code drop(struct store_tx *tx, enum postgres_query query, int64_t before_us,
                       size_t limit, size_t *ret_count, cairn_error *reterr)
{
    cleanup(reader_done) struct postgres_reader reader = {0};
    struct postgres_params params = PARAMS(tx, TIME(before_us), INT(limit));
    TRY(postgres_ask(tx, query, &params, &reader, reterr));
    *ret_count = (size_t)value_int(&reader, 0);
    return CAIRN_OK;
}

cairn_code postgres_drop_bulks(struct store_tx *tx, int64_t before_us, size_t limit,
                               size_t *ret_count, cairn_error *reterr)
{
    return drop(tx, PG_DROP_BULKS, before_us, limit, ret_count, reterr);
}

/* ---- keys -------------------------------------------------------------------------------- */

cairn_code postgres_keep_keys(struct store_tx *tx, const struct key_row *rows, size_t count,
                              cairn_error *reterr)
{
    return postgres_write_rows(tx, PG_KEEP_KEYS, &key_row_type, COLUMNS_INSERT, rows, count,
                               reterr);
}

cairn_code postgres_drop_keys(struct store_tx *tx, int64_t before_us, size_t limit,
                              size_t *ret_count, cairn_error *reterr)
{
    return drop(tx, PG_DROP_KEYS, before_us, limit, ret_count, reterr);
}

cairn_code postgres_first_key(struct store_tx *tx, int64_t *ret_ended_us, cairn_error *reterr)
{
    cleanup(reader_done) struct postgres_reader reader = {0};
    TRY(postgres_ask(tx, PG_FIRST_KEY, NULL, &reader, reterr));
    if (reader.count == 0)
        return CAIRN_E_NOT_FOUND;
    *ret_ended_us = value_time(&reader, 0);
    return CAIRN_OK;
}

/* ---- space ------------------------------------------------------------------------------- */

/* Autovacuum makes room for new rows in the same tables. */
cairn_code postgres_shrink(struct store_tx *tx, size_t pages, bool *ret_is_more,
                           cairn_error *reterr)
{
    (void)tx, (void)pages, (void)reterr;
    *ret_is_more = false;
    return CAIRN_OK;
}
