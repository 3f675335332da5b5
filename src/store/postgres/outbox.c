/* store/postgres/outbox.c - events for others, until they are acknowledged.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "base/error.h"
#include "base/mem.h"
#include "store/postgres/postgres.h"

cairn_code postgres_append_outbox(struct store_tx *tx, const struct outbox_row *rows,
                                  size_t count, cairn_error *reterr)
{
    return postgres_write_rows(tx, PG_APPEND_OUTBOX, &outbox_row_type, COLUMNS_INSERT, rows,
                               count, reterr);
}

/* What a claim looks at beyond what it takes, how often it passes over such that wait behind others, and until when those
 * are left alone at most. */
enum { LOOKS = 100, DEFERRALS = 20 };
#define DEFER_MOST_US (10 * US_PER_MIN)

/* Lets claims pass by what waits behind others. */
static cairn_code defer(struct store_tx *tx, size_t room, cairn_error *reterr)
{
    size_t count = room;
    for (int i = 0; i < DEFERRALS && count >= room; i++) {
        cleanup(reader_done) struct postgres_reader reader = {0};
        struct postgres_params params =
            PARAMS(tx, TIME(tx->now_us), TIME(tx->now_us + DEFER_MOST_US), INT(room));
        TRY(postgres_ask(tx, PG_DEFER_OUTBOX, &params, &reader, reterr));
        count = (size_t)value_int(&reader, 0);
    }
    return CAIRN_OK;
}

cairn_code postgres_claim_outbox(struct store_tx *tx, const char *worker, int64_t until_us,
                                 struct outbox_row *ret_rows, size_t room, size_t *ret_count,
                                 cairn_error *reterr)
{
    struct postgres_params params = PARAMS(tx, TEXT(worker), TIME(tx->now_us), TIME(until_us),
                                           INT(room), INT(room + LOOKS));
    TRY(defer(tx, room + LOOKS, reterr));
    return postgres_read_rows(tx, PG_CLAIM_OUTBOX, &params, &outbox_row_type, ret_rows, room,
                              ret_count, reterr);
}

cairn_code postgres_ack_outbox(struct store_tx *tx, int64_t id, int64_t *ret_earlier,
                               cairn_error *reterr)
{
    cleanup(reader_done) struct postgres_reader reader = {0};
    struct postgres_params params = PARAMS(tx, INT(id), TIME(tx->now_us));
    TRY(postgres_ask(tx, PG_ACK_OUTBOX, &params, &reader, reterr));
    if (reader.count == 0)
        return CAIRN_E_NOT_FOUND;
    *ret_earlier = value_int(&reader, 0);
    return CAIRN_OK;
}

/* Rows whose last result is when they were acknowledged. */
static cairn_code read_events(struct store_tx *tx, enum postgres_query query,
                              const struct postgres_params *params, struct outbox_row *ret_rows,
                              size_t *ret_count, cairn_error *reterr)
{
    cleanup(reader_done) struct postgres_reader reader = {0};
    TRY(postgres_ask(tx, query, params, &reader, reterr));
    for (; reader.row < reader.count; reader.row++) {
        struct outbox_row *row = &ret_rows[reader.row];
        postgres_read_row(&reader, 0, &outbox_row_type, row);
        row->acked_at_us = value_time(&reader, (int)outbox_row_type.count);
    }
    *ret_count = (size_t)reader.count;
    return reader.failed ? fail_memory(reterr) : CAIRN_OK;
}

cairn_code postgres_list_outbox(struct store_tx *tx, const char *instance_id, int64_t after,
                                struct outbox_row *ret_rows, size_t room, size_t *ret_count,
                                cairn_error *reterr)
{
    struct postgres_params params = PARAMS(tx, ID(instance_id), INT(after), INT(room));
    return read_events(tx, PG_LIST_OUTBOX, &params, ret_rows, ret_count, reterr);
}

cairn_code postgres_list_open_outbox(struct store_tx *tx, bool is_dead, int64_t after,
                                     struct outbox_row *ret_rows, size_t room,
                                     size_t *ret_count, cairn_error *reterr)
{
    struct postgres_params params = PARAMS(tx, INT(after), INT(room));
    return read_events(tx, is_dead ? PG_LIST_DEAD_OUTBOX : PG_LIST_OPEN_OUTBOX, &params,
                       ret_rows, ret_count, reterr);
}

cairn_code postgres_lock_outbox(struct store_tx *tx, int64_t id, struct outbox_row *ret_row,
                                cairn_error *reterr)
{
    size_t count = 0;
    struct postgres_params params = PARAMS(tx, INT(id));
    TRY(read_events(tx, PG_LOCK_OUTBOX, &params, ret_row, &count, reterr));
    return count ? CAIRN_OK : CAIRN_E_NOT_FOUND;
}

static void param_time_or_null(struct postgres_params *params, int64_t us)
{
    if (us)
        param_time(params, us);
    else
        param_text(params, NULL);
}

cairn_code postgres_release_outbox(struct store_tx *tx, const struct outbox_row *row,
                                   cairn_error *reterr)
{
    struct postgres_params params = PARAMS(tx, INT(row->id));
    param_time_or_null(&params, row->claimed_until_us);
    param_int(&params, row->attempts);
    param_text(&params, row->last_error);
    param_time_or_null(&params, row->dead_at_us);
    return postgres_queue(postgres_session_of(tx), PG_RELEASE_OUTBOX, &params, reterr);
}
