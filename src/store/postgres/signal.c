/* store/postgres/signal.c - messages to instances.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "base/error.h"
#include "base/mem.h"
#include "store/postgres/postgres.h"

cairn_code postgres_get_signal(struct store_tx *tx, const char *instance_id, const char *id,
                               struct signal_row *ret_row, cairn_error *reterr)
{
    cleanup(reader_done) struct postgres_reader reader = {0};
    struct postgres_params params = PARAMS(tx, ID(instance_id), TEXT(id));
    TRY(postgres_ask(tx, PG_FIND_KNOWN_SIGNAL, &params, &reader, reterr));
    if (reader.count == 0)
        return CAIRN_E_NOT_FOUND;
    ret_row->seq = value_int(&reader, 0);
    ret_row->was_taken = value_bool(&reader, 1);
    return CAIRN_OK;
}

cairn_code postgres_insert_signal(struct store_tx *tx, struct signal_row *row,
                                  enum insert_result *ret_result, cairn_error *reterr)
{
    cleanup(columns_done) struct postgres_columns columns = {0};
    cleanup(reader_done) struct postgres_reader reader = {0};
    struct postgres_params params = {.arena = tx->arena};
    columns_row(&columns, &signal_row_type, COLUMNS_INSERT, row);
    param_columns(&params, &columns);
    TRY(postgres_ask(tx, PG_INSERT_SIGNAL, &params, &reader, reterr));
    *ret_result = reader.count > 0 ? INSERT_DONE : INSERT_EXISTING;
    if (*ret_result == INSERT_EXISTING)
        return postgres_get_signal(tx, row->instance_id, row->id, row, reterr);
    row->seq = value_int(&reader, 0);
    return CAIRN_OK;
}

cairn_code postgres_find_signal(struct store_tx *tx, const char *instance_id, const char *event,
                                int64_t until_us, struct signal_row *ret_row,
                                cairn_error *reterr)
{
    struct postgres_params params = PARAMS(tx, ID(instance_id), TEXT(event), TIME(until_us));
    return postgres_read_one(tx, PG_FIND_SIGNAL, &params, &signal_row_type, ret_row, reterr);
}

static struct postgres_params untaken_params(struct store_tx *tx, const char *const *ids,
                                             size_t count, int64_t after, size_t room)
{
    struct postgres_params params = {.arena = tx->arena};
    param_uuids(&params, ids, count);
    param_int(&params, after);
    param_int(&params, (int64_t)room);
    return params;
}

cairn_code postgres_send_memories(struct store_tx *tx, const char *const *ids, size_t count,
                                  const char *const *signal_ids, size_t signal_count,
                                  size_t room, cairn_error *reterr)
{
    struct postgres_session *session = postgres_session_of(tx);
    struct postgres_params named = {.arena = tx->arena};
    struct postgres_params untaken = untaken_params(tx, signal_ids, signal_count, 0, room);
    param_uuids(&named, ids, count);
    TRY(postgres_send(session, PG_READ_INSTANCES, &named, reterr));
    return postgres_send(session, PG_LIST_SIGNALS, &untaken, reterr);
}

/* Those that were sent for are too old. */
cairn_code postgres_drop_signals(struct store_tx *tx, cairn_error *reterr)
{
    cleanup(reader_done) struct postgres_reader reader = {0};
    return postgres_is_sent(postgres_session_of(tx), PG_LIST_SIGNALS)
               ? postgres_take(tx, PG_LIST_SIGNALS, &reader, reterr)
               : CAIRN_OK;
}

cairn_code postgres_list_signals(struct store_tx *tx, const char *const *ids, size_t count,
                                 int64_t after, struct signal_row *ret_rows, size_t room,
                                 size_t *ret_count, cairn_error *reterr)
{
    struct postgres_params params = untaken_params(tx, ids, count, after, room);
    *ret_count = 0;
    return postgres_read_rows(tx, PG_LIST_SIGNALS, &params, &signal_row_type, ret_rows, room,
                              ret_count, reterr);
}

cairn_code postgres_mark_signal(struct store_tx *tx, const char *instance_id,
                                int64_t signal_seq, int32_t taken_by, cairn_error *reterr)
{
    struct postgres_params params =
        signal_seq ? PARAMS(tx, ID(instance_id), INT(signal_seq), PLACE(taken_by))
                   : PARAMS(tx, ID(instance_id), PLACE(taken_by));
    return postgres_queue(postgres_session_of(tx),
                          signal_seq ? PG_MARK_SIGNAL : PG_UNMARK_SIGNALS, &params, reterr);
}

cairn_code postgres_keep_signal_taken(struct store_tx *tx, const char *instance_id,
                                      int64_t signal_seq, cairn_error *reterr)
{
    struct postgres_params params = PARAMS(tx, ID(instance_id), INT(signal_seq));
    return postgres_queue(postgres_session_of(tx), PG_KEEP_SIGNAL_TAKEN, &params, reterr);
}

cairn_code postgres_list_all_signals(struct store_tx *tx, const char *instance_id,
                                     int64_t after, struct signal_row *ret_rows, size_t room,
                                     size_t *ret_count, cairn_error *reterr)
{
    return postgres_list_after(tx, PG_LIST_ALL_SIGNALS, instance_id, after, &signal_row_type,
                               ret_rows, room, ret_count, reterr);
}
