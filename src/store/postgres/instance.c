/* store/postgres/instance.c - rows of workflow_instance.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "base/error.h"
#include "base/mem.h"
#include "store/postgres/postgres.h"

#include <string.h>

static void add_keys(struct postgres_columns *columns, const void *row)
{
    const struct instance_row *instance = row;
    columns_uuid(columns, instance->id);
    columns_text(columns, instance->workflow);
    columns_text(columns, instance->key);
}

static const struct keyed_rows instances = {
    .type = &instance_row_type,
    .noun = "instances",
    .id_offset = offsetof(struct instance_row, id),
    .key_offset = offsetof(struct instance_row, key),
    .seq_offset = offsetof(struct instance_row, seq),
    .insert = PG_INSERT_INSTANCES,
    .find_existing = PG_FIND_EXISTING_INSTANCES,
    .refuse_kept = PG_REFUSE_KEPT_INSTANCES,
    .lock = PG_LOCK_INSTANCES,
    .lock_waiting = PG_LOCK_INSTANCES_WAITING,
    .find = PG_FIND_INSTANCES,
    .add_keys = add_keys,
    .note = postgres_note_instance,
};

cairn_code postgres_insert_instances(struct store_tx *tx, struct instance_row *rows,
                                     size_t count, enum insert_result *ret_results,
                                     cairn_error *reterr)
{
    return postgres_insert_keyed(tx, &instances, rows, count, ret_results, reterr);
}

cairn_code postgres_lock_instances(struct store_tx *tx, const char *const *ids, size_t count,
                                   bool may_wait, struct instance_row *ret_rows,
                                   enum lock_result *ret_results, cairn_error *reterr)
{
    return postgres_lock_keyed(tx, &instances, ids, count, may_wait, ret_rows, ret_results,
                               reterr);
}

cairn_code postgres_update_instances(struct store_tx *tx, const struct instance_row *rows,
                                     size_t count, cairn_error *reterr)
{
    for (size_t i = 0; i < count; i++)
        postgres_note_instance(tx, &rows[i]);
    return postgres_write_rows(tx, PG_UPDATE_INSTANCES, &instance_row_type, COLUMNS_UPDATE,
                               rows, count, reterr);
}

cairn_code postgres_get_instance(struct store_tx *tx, const char *id,
                                 struct instance_row *ret_row, cairn_error *reterr)
{
    struct postgres_params params = PARAMS(tx, ID(id));
    return postgres_read_one(tx, PG_GET_INSTANCE, &params, &instance_row_type, ret_row, reterr);
}

cairn_code postgres_read_instances(struct store_tx *tx, const char *const *ids, size_t count,
                                   struct instance_row *ret_rows, bool *ret_is_found,
                                   cairn_error *reterr)
{
    cleanup(reader_done) struct postgres_reader reader = {0};
    struct postgres_params params = {.arena = tx->arena};
    if (count == 0)
        return CAIRN_OK;
    param_uuids(&params, ids, count);
    TRY(postgres_take_or_ask(tx, PG_READ_INSTANCES, &params, &reader, reterr));
    memset(ret_is_found, 0, count * sizeof *ret_is_found);
    for (; reader.row < reader.count; reader.row++) {
        size_t place = (size_t)value_int(&reader, 0) - 1;
        postgres_read_row(&reader, 2, &instance_row_type, &ret_rows[place]);
        ret_rows[place].row_version = value_int(&reader, 1);
        ret_is_found[place] = true;
    }
    return reader.failed ? fail_memory(reterr) : CAIRN_OK;
}

/* ---- rows that are known -------------------------------------------------------------------- */

cairn_code postgres_send_lock_known(struct store_tx *tx, const struct known_instance *known,
                                    size_t count, cairn_error *reterr)
{
    struct postgres_columns columns = {0};
    struct postgres_params params = {.arena = tx->arena};
    for (size_t i = 0; i < count; i++) {
        columns_uuid(&columns, known[i].id);
        columns_int(&columns, (int32_t)(uint32_t)known[i].version); /* as wide as xmin */
        columns_bool(&columns, known[i].with_runner);
        columns_end_row(&columns);
    }
    param_columns_copied(&params, &columns);
    return postgres_send(postgres_session_of(tx), PG_LOCK_KNOWN, &params, reterr);
}

cairn_code postgres_take_lock_known(struct store_tx *tx, struct known_instance *known,
                                    cairn_error *reterr)
{
    cleanup(reader_done) struct postgres_reader reader = {0};
    TRY(postgres_take(tx, PG_LOCK_KNOWN, &reader, reterr));
    for (; reader.row < reader.count; reader.row++) {
        postgres_move_clock(tx, &reader);
        struct known_instance *held = &known[value_int(&reader, 1) - 1];
        held->is_held = true;
        held->is_runner_held = value_bool(&reader, 2);
    }
    return CAIRN_OK;
}

cairn_code postgres_advance_instances(struct store_tx *tx, const struct instance_row *rows,
                                      size_t count, cairn_error *reterr)
{
    struct postgres_columns columns = {0};
    struct postgres_params params = {.arena = tx->arena};
    for (size_t i = 0; i < count; i++) {
        columns_uuid(&columns, rows[i].id);
        columns_int(&columns, (int32_t)(uint32_t)rows[i].row_version);
        columns_bigint(&columns, rows[i].commits);
        columns_bigint(&columns, rows[i].revision);
        columns_int(&columns, rows[i].places);
        columns_int(&columns, rows[i].event_count);
        columns_int(&columns, (int32_t)(rows[i].last_event & (EVENT_SLOTS - 1)));
        columns_end_row(&columns);
    }
    param_columns_copied(&params, &columns);
    param_time(&params, tx->now_us);
    return postgres_queue(postgres_session_of(tx), PG_ADVANCE_INSTANCES, &params, reterr);
}

cairn_code postgres_send_version(struct store_tx *tx, cairn_error *reterr)
{
    tx->row_version = 0;
    return tx->is_version_wanted
               ? postgres_send(postgres_session_of(tx), PG_OWN_VERSION, NULL, reterr)
               : CAIRN_OK;
}

void postgres_take_version(struct store_tx *tx)
{
    cleanup(reader_done) struct postgres_reader reader = {0};
    cairn_error ignored;
    if (tx->is_version_wanted && !postgres_take(tx, PG_OWN_VERSION, &reader, &ignored))
        tx->row_version = value_int(&reader, 0);
}

cairn_code postgres_count_instances(struct store_tx *tx, uint64_t *ret_counts,
                                    cairn_error *reterr)
{
    cleanup(reader_done) struct postgres_reader reader = {0};
    TRY(postgres_ask(tx, PG_COUNT_INSTANCES, NULL, &reader, reterr));
    memset(ret_counts, 0, INSTANCE_STATUS_COUNT * sizeof *ret_counts);
    for (; reader.row < reader.count; reader.row++)
        ret_counts[instance_status_from(PQgetvalue(reader.result, reader.row, 0))] =
            (uint64_t)value_int(&reader, 1);
    return CAIRN_OK;
}

/* ---- children ------------------------------------------------------------------------------- */

cairn_code postgres_find_telling(struct store_tx *tx, struct instance_row *ret_rows,
                                 size_t room, size_t *ret_count, cairn_error *reterr)
{
    struct postgres_params params = PARAMS(tx, INT(room));
    return postgres_read_rows(tx, PG_FIND_TELLING, &params, &instance_row_type, ret_rows, room,
                              ret_count, reterr);
}

cairn_code postgres_list_children(struct store_tx *tx, const char *parent, int32_t seq,
                                  bool is_compensating, const char **ret_ids, size_t room,
                                  size_t *ret_count, cairn_error *reterr)
{
    struct postgres_params params =
        PARAMS(tx, ID(parent), INT(seq), INT(is_compensating), INT(room));
    return postgres_read_texts(tx, PG_LIST_CHILDREN, &params, ret_ids, ret_count, reterr);
}

cairn_code postgres_list_done_children(struct store_tx *tx, const struct children_row *step,
                                       const char **ret_ids, size_t room, size_t *ret_count,
                                       cairn_error *reterr)
{
    struct postgres_params params = PARAMS(tx, ID(step->instance_id), INT(step->seq),
                                           INT(step->round), INT(step->undo_below), INT(room));
    return postgres_read_texts(tx, PG_LIST_DONE_CHILDREN, &params, ret_ids, ret_count, reterr);
}

cairn_code postgres_get_step_children(struct store_tx *tx, const char *instance_id, int32_t seq,
                                      struct children_row *ret_row, cairn_error *reterr)
{
    struct postgres_params params = PARAMS(tx, ID(instance_id), INT(seq));
    return postgres_read_one(tx, PG_GET_STEP_CHILDREN, &params, &children_row_type, ret_row,
                             reterr);
}

cairn_code postgres_put_step_children(struct store_tx *tx, const struct children_row *rows,
                                      size_t count, cairn_error *reterr)
{
    return postgres_write_rows(tx, PG_PUT_STEP_CHILDREN, &children_row_type, COLUMNS_INSERT,
                               rows, count, reterr);
}

cairn_code postgres_count_untold(struct store_tx *tx, const char *id, int64_t *ret_count,
                                 cairn_error *reterr)
{
    cleanup(reader_done) struct postgres_reader reader = {0};
    struct postgres_params params = PARAMS(tx, ID(id));
    TRY(postgres_ask(tx, PG_COUNT_UNTOLD, &params, &reader, reterr));
    *ret_count = value_int(&reader, 0);
    return CAIRN_OK;
}

cairn_code postgres_find_ending_children(struct store_tx *tx, const char *instance_id,
                                         struct children_row *ret_rows, size_t room,
                                         size_t *ret_count, cairn_error *reterr)
{
    struct postgres_params params = PARAMS(tx, ID(instance_id), INT(room));
    return postgres_read_rows(tx, PG_FIND_ENDING_CHILDREN, &params, &children_row_type,
                              ret_rows, room, ret_count, reterr);
}

cairn_code postgres_put_elements(struct store_tx *tx, const struct elements_row *rows,
                                 size_t count, cairn_error *reterr)
{
    return postgres_write_rows(tx, PG_PUT_ELEMENTS, &elements_row_type, COLUMNS_INSERT, rows,
                               count, reterr);
}

cairn_code postgres_get_elements(struct store_tx *tx, const struct children_row *step,
                                 int32_t first, struct elements_row *ret_row,
                                 cairn_error *reterr)
{
    struct postgres_params params =
        PARAMS(tx, ID(step->instance_id), INT(step->seq), INT(step->round), INT(first));
    return postgres_read_one(tx, PG_GET_ELEMENTS, &params, &elements_row_type, ret_row, reterr);
}

cairn_code postgres_list_child_outputs(struct store_tx *tx, const struct children_row *step,
                                       int64_t after, struct child_output_row *ret_rows,
                                       size_t room, size_t *ret_count, cairn_error *reterr)
{
    struct postgres_params params = PARAMS(tx, ID(step->instance_id), INT(step->seq),
                                           INT(step->round), INT(after), INT(room));
    return postgres_read_rows(tx, PG_LIST_CHILD_OUTPUTS, &params, &child_output_row_type,
                              ret_rows, room, ret_count, reterr);
}
