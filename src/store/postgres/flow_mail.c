/* store/postgres/flow_mail.c - what comes in and goes out: signals, decisions, the outbox, the DLQ.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "base/error.h"
#include "base/mem.h"
#include "store/postgres/flow.h"

/* ---- signals -------------------------------------------------------------------------------
 */

static void param_place(struct postgres_params *params, int32_t place)
{
    if (place < 0)
        param_text(params, NULL);
    else
        param_int(params, place);
}

cairn_code postgres_get_signal(struct store_tx *tx, const char *instance_id, const char *id,
                               struct signal_row *ret_row, cairn_error *reterr)
{
    cleanup(postgres_result_done) PGresult *result = NULL;
    struct postgres_params params = {.arena = tx->arena};
    if (!id_is_valid(instance_id))
        return CAIRN_E_NOT_FOUND;
    param_text(&params, instance_id);
    param_text(&params, id);
    cairn_code code =
        postgres_run(postgres_session_of(tx), PG_FIND_SIGNAL_ID, &params, &result, reterr);
    if (code)
        return code;
    if (PQntuples(result) == 0)
        return CAIRN_E_NOT_FOUND;
    struct postgres_reader reader = {.result = result};
    ret_row->seq = value_int(&reader, 0);
    ret_row->was_taken = value_bool(&reader, 1);
    return CAIRN_OK;
}

cairn_code postgres_insert_signal(struct store_tx *tx, struct signal_row *row,
                                  enum insert_result *ret_result, cairn_error *reterr)
{
    cleanup(postgres_result_done) PGresult *result = NULL;
    struct postgres_params params = {.arena = tx->arena};
    param_text(&params, row->instance_id);
    param_text(&params, row->id);
    param_text(&params, row->event);
    param_text(&params, row->payload);
    param_time(&params, row->received_at_us);
    param_place(&params, row->taken_by);
    cairn_code code =
        postgres_run(postgres_session_of(tx), PG_INSERT_SIGNAL, &params, &result, reterr);
    if (code)
        return code;
    *ret_result = PQntuples(result) > 0 ? INSERT_DONE : INSERT_EXISTING;
    if (*ret_result == INSERT_EXISTING)
        return postgres_get_signal(tx, row->instance_id, row->id, row, reterr);
    row->seq = value_int(&(struct postgres_reader){.result = result}, 0);
    return CAIRN_OK;
}

static struct signal_row read_untaken(struct postgres_reader *reader)
{
    return (struct signal_row){
        .seq = value_int(reader, 0),
        .instance_id = value_text(reader, 1),
        .id = value_text(reader, 2),
        .event = value_text(reader, 3),
        .payload = value_text(reader, 4),
        .received_at_us = value_time(reader, 5),
        .taken_by = -1,
    };
}

cairn_code postgres_find_signal(struct store_tx *tx, const char *instance_id, const char *event,
                                int64_t until_us, struct signal_row *ret_row,
                                cairn_error *reterr)
{
    cleanup(postgres_result_done) PGresult *result = NULL;
    struct postgres_params params = {.arena = tx->arena};
    if (!id_is_valid(instance_id))
        return CAIRN_E_NOT_FOUND;
    param_text(&params, instance_id);
    param_text(&params, event);
    param_time(&params, until_us);
    cairn_code code =
        postgres_run(postgres_session_of(tx), PG_FIND_SIGNAL, &params, &result, reterr);
    if (code)
        return code;
    if (PQntuples(result) == 0)
        return CAIRN_E_NOT_FOUND;
    struct postgres_reader reader = {.result = result, .arena = tx->arena};
    *ret_row = read_untaken(&reader);
    return reader.failed ? fail_memory(reterr) : CAIRN_OK;
}

cairn_code postgres_list_signals(struct store_tx *tx, const char *const *ids, size_t count,
                                 int64_t after, struct signal_row *ret_rows, size_t room,
                                 size_t *ret_count, cairn_error *reterr)
{
    cleanup(postgres_result_done) PGresult *result = NULL;
    struct postgres_params params = {.arena = tx->arena};
    param_uuids(&params, ids, count);
    param_int(&params, after);
    param_int(&params, (int64_t)room);
    *ret_count = 0;
    cairn_code code =
        postgres_run(postgres_session_of(tx), PG_LIST_SIGNALS, &params, &result, reterr);
    if (code)
        return code;
    struct postgres_reader reader = {.result = result, .arena = tx->arena};
    for (; reader.row < PQntuples(result); reader.row++)
        ret_rows[reader.row] = read_untaken(&reader);
    *ret_count = (size_t)PQntuples(result);
    return reader.failed ? fail_memory(reterr) : CAIRN_OK;
}

cairn_code postgres_mark_signal(struct store_tx *tx, const char *instance_id,
                                int64_t signal_seq, int32_t taken_by, cairn_error *reterr)
{
    struct postgres_params params = {.arena = tx->arena};
    if (!id_is_valid(instance_id))
        return CAIRN_OK;
    param_text(&params, instance_id);
    if (signal_seq)
        param_int(&params, signal_seq);
    param_place(&params, taken_by);
    return postgres_queue(postgres_session_of(tx),
                          signal_seq ? PG_MARK_SIGNAL : PG_UNTAKE_SIGNALS, &params, reterr);
}

cairn_code postgres_keep_signal_taken(struct store_tx *tx, const char *instance_id,
                                      int64_t signal_seq, cairn_error *reterr)
{
    struct postgres_params params = {.arena = tx->arena};
    param_text(&params, instance_id);
    param_int(&params, signal_seq);
    return postgres_queue(postgres_session_of(tx), PG_KEEP_SIGNAL_TAKEN, &params, reterr);
}

/* ---- decisions -----------------------------------------------------------------------------
 */

cairn_code postgres_insert_decision(struct store_tx *tx, const struct decision_row *row,
                                    cairn_error *reterr)
{
    struct postgres_params params = {.arena = tx->arena};
    param_text(&params, row->instance_id);
    param_int(&params, row->step_seq);
    param_text(&params, row->step_name);
    param_text(&params, row->decided_by);
    param_text(&params, row->decision);
    param_text(&params, row->comment);
    param_time(&params, row->decided_at_us);
    return postgres_queue(postgres_session_of(tx), PG_INSERT_DECISION, &params, reterr);
}

cairn_code postgres_list_decisions(struct store_tx *tx, const char *instance_id, int64_t after,
                                   struct decision_row *ret_rows, size_t room,
                                   size_t *ret_count, cairn_error *reterr)
{
    cleanup(postgres_result_done) PGresult *result = NULL;
    struct postgres_params params = {.arena = tx->arena};
    *ret_count = 0;
    if (!id_is_valid(instance_id))
        return CAIRN_OK;
    param_text(&params, instance_id);
    param_int(&params, after);
    param_int(&params, (int64_t)room);
    cairn_code code =
        postgres_run(postgres_session_of(tx), PG_LIST_DECISIONS, &params, &result, reterr);
    if (code)
        return code;
    struct postgres_reader reader = {.result = result, .arena = tx->arena};
    for (; reader.row < PQntuples(result); reader.row++)
        ret_rows[reader.row] = (struct decision_row){
            .id = value_int(&reader, 0),
            .instance_id = value_text(&reader, 1),
            .step_seq = (int32_t)value_int(&reader, 2),
            .step_name = value_text(&reader, 3),
            .decided_by = value_text(&reader, 4),
            .decision = value_text(&reader, 5),
            .comment = value_text(&reader, 6),
            .decided_at_us = value_time(&reader, 7),
        };
    *ret_count = (size_t)PQntuples(result);
    return reader.failed ? fail_memory(reterr) : CAIRN_OK;
}

/* ---- the outbox ----------------------------------------------------------------------------
 */

enum { OUTBOX_COLUMNS = 5, DLQ_COLUMNS = 11 };

cairn_code postgres_append_outbox(struct store_tx *tx, const struct outbox_row *rows,
                                  size_t count, cairn_error *reterr)
{
    cleanup(columns_done) struct postgres_columns columns = {0};
    size_t i = 0;
    while (i < count) {
        columns_reset(&columns);
        for (; i < count && columns_size(&columns) < POSTGRES_PORTION; i++) {
            column_uuid(&columns, rows[i].instance_id);
            column_text(&columns, rows[i].step);
            column_text(&columns, rows[i].event);
            column_json(&columns, rows[i].payload);
            column_time(&columns, rows[i].created_at_us);
            columns_end_row(&columns, OUTBOX_COLUMNS);
        }
        struct postgres_params params = {.arena = tx->arena};
        param_columns(&params, &columns, OUTBOX_COLUMNS);
        cairn_code code =
            postgres_queue(postgres_session_of(tx), PG_APPEND_OUTBOX, &params, reterr);
        if (code)
            return code;
    }
    return CAIRN_OK;
}

cairn_code postgres_claim_outbox(struct store_tx *tx, const char *worker, int64_t until_us,
                                 struct outbox_row *ret_rows, size_t room, size_t *ret_count,
                                 cairn_error *reterr)
{
    cleanup(postgres_result_done) PGresult *result = NULL;
    struct postgres_params params = {.arena = tx->arena};
    param_text(&params, worker);
    param_time(&params, tx->now_us);
    param_time(&params, until_us);
    param_int(&params, (int64_t)room);
    cairn_code code =
        postgres_run(postgres_session_of(tx), PG_CLAIM_OUTBOX, &params, &result, reterr);
    if (code)
        return code;
    struct postgres_reader reader = {.result = result, .arena = tx->arena};
    for (; reader.row < PQntuples(result); reader.row++)
        ret_rows[reader.row] = (struct outbox_row){
            .id = value_int(&reader, 0),
            .instance_id = value_text(&reader, 1),
            .step = value_text(&reader, 2),
            .event = value_text(&reader, 3),
            .payload = value_text(&reader, 4),
            .created_at_us = value_time(&reader, 5),
            .claimed_by = value_text(&reader, 6),
            .claimed_until_us = value_time(&reader, 7),
        };
    *ret_count = (size_t)PQntuples(result);
    return reader.failed ? fail_memory(reterr) : CAIRN_OK;
}

cairn_code postgres_ack_outbox(struct store_tx *tx, int64_t id, int64_t *ret_earlier,
                               cairn_error *reterr)
{
    cleanup(postgres_result_done) PGresult *result = NULL;
    struct postgres_params params = {.arena = tx->arena};
    param_int(&params, id);
    param_time(&params, tx->now_us);
    cairn_code code =
        postgres_run(postgres_session_of(tx), PG_ACK_OUTBOX, &params, &result, reterr);
    if (code)
        return code;
    if (PQntuples(result) == 0)
        return CAIRN_E_NOT_FOUND;
    *ret_earlier = value_int(&(struct postgres_reader){.result = result}, 0);
    return CAIRN_OK;
}

/* ---- the DLQ -------------------------------------------------------------------------------
 */

static void add_dlq_row(struct postgres_columns *columns, const struct dlq_row *row)
{
    column_uuid(columns, row->instance_id);
    column_text(columns, row->workflow);
    column_int(columns, row->version);
    column_int(columns, row->step_seq);
    column_text(columns, row->step_name);
    column_text(columns, row->step_type);
    column_json(columns, row->input);
    column_text(columns, row->error);
    column_text(columns, row->reason);
    column_time(columns, row->created_at_us);
    column_bool(columns, row->is_open);
    columns_end_row(columns, DLQ_COLUMNS);
}

cairn_code postgres_append_dlq(struct store_tx *tx, const struct dlq_row *rows, size_t count,
                               cairn_error *reterr)
{
    cleanup(columns_done) struct postgres_columns columns = {0};
    size_t i = 0;
    while (i < count) {
        columns_reset(&columns);
        for (; i < count && columns_size(&columns) < POSTGRES_PORTION; i++)
            add_dlq_row(&columns, &rows[i]);
        struct postgres_params params = {.arena = tx->arena};
        param_columns(&params, &columns, DLQ_COLUMNS);
        cairn_code code =
            postgres_queue(postgres_session_of(tx), PG_APPEND_DLQ, &params, reterr);
        if (code)
            return code;
    }
    return CAIRN_OK;
}

cairn_code postgres_close_dlq(struct store_tx *tx, const char *instance_id, int32_t seq,
                              cairn_error *reterr)
{
    struct postgres_params params = {.arena = tx->arena};
    if (!id_is_valid(instance_id))
        return CAIRN_OK;
    param_text(&params, instance_id);
    param_place(&params, seq);
    return postgres_queue(postgres_session_of(tx), PG_CLOSE_DLQ, &params, reterr);
}

static cairn_code run_dlq(struct store_tx *tx, enum postgres_query query,
                          const struct postgres_params *params, struct dlq_row *ret_rows,
                          size_t *ret_count, cairn_error *reterr)
{
    cleanup(postgres_result_done) PGresult *result = NULL;
    cairn_code code = postgres_run(postgres_session_of(tx), query, params, &result, reterr);
    if (code)
        return code;
    struct postgres_reader reader = {.result = result, .arena = tx->arena};
    for (; reader.row < PQntuples(result); reader.row++)
        ret_rows[reader.row] = (struct dlq_row){
            .id = value_int(&reader, 0),
            .instance_id = value_text(&reader, 1),
            .workflow = value_text(&reader, 2),
            .version = (int32_t)value_int(&reader, 3),
            .step_seq = (int32_t)value_int(&reader, 4),
            .step_name = value_text(&reader, 5),
            .step_type = value_text(&reader, 6),
            .input = value_text(&reader, 7),
            .error = value_text(&reader, 8),
            .reason = value_text(&reader, 9),
            .created_at_us = value_time(&reader, 10),
            .is_open = value_bool(&reader, 11),
        };
    *ret_count = (size_t)PQntuples(result);
    return reader.failed ? fail_memory(reterr) : CAIRN_OK;
}

cairn_code postgres_list_dlq(struct store_tx *tx, const char *instance_id, int64_t before_id,
                             struct dlq_row *ret_rows, size_t room, size_t *ret_count,
                             cairn_error *reterr)
{
    struct postgres_params params = {.arena = tx->arena};
    *ret_count = 0;
    if (instance_id && !id_is_valid(instance_id))
        return CAIRN_OK;
    param_int(&params, before_id ? before_id : INT64_MAX);
    param_int(&params, (int64_t)room);
    if (instance_id)
        param_text(&params, instance_id);
    return run_dlq(tx, instance_id ? PG_LIST_DLQ_OF_INSTANCE : PG_LIST_DLQ, &params, ret_rows,
                   ret_count, reterr);
}

cairn_code postgres_get_dlq(struct store_tx *tx, int64_t id, struct dlq_row *ret_row,
                            cairn_error *reterr)
{
    struct postgres_params params = {.arena = tx->arena};
    size_t count = 0;
    param_int(&params, id);
    cairn_code code = run_dlq(tx, PG_GET_DLQ, &params, ret_row, &count, reterr);
    return code ? code : count ? CAIRN_OK : CAIRN_E_NOT_FOUND;
}
