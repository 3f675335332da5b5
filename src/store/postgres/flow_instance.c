/* store/postgres/flow_instance.c - rows of workflow_instance: inserted, locked, written, read.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "base/error.h"
#include "base/mem.h"
#include "store/postgres/flow.h"

#include <string.h>

/* ---- inserting -----------------------------------------------------------------------------
 */

enum { INSERT_COLUMNS = 37, UPDATE_COLUMNS = 32, LOCK_CLOCK = INSTANCE_COLUMNS };

/* From is_dlq on, in this order in both statements. */
static void add_progress(struct postgres_columns *columns, const struct instance_row *row)
{
    column_flag(columns, row->is_dlq);
    column_flag(columns, row->has_compensation);
    column_text(columns, instance_goal_name(row->goal));
    column_flag(columns, row->is_undo_failed);
    column_int(columns, row->undo_first);
    column_count(columns, row->undo_from);
    column_count(columns, row->undo_to);
    column_big_count(columns, row->undo_below);
    column_text(columns, row->stop_by);
    column_text(columns, row->stop_reason);
    column_bigint(columns, row->commits);
    column_int(columns, row->active_count);
    column_count(columns, row->wait_count);
    column_count(columns, row->sleep_count);
    column_count(columns, row->decision_count);
    column_count(columns, row->parked_count);
    column_count(columns, row->awaited_count);
    column_flag(columns, row->is_function);
    column_big_count(columns, row->revision);
    column_count(columns, row->places);
    column_flag(columns, row->is_forced);
    column_flag(columns, row->is_woken);
    column_json(columns, row->undo_error);
}

static void add_insert_row(struct postgres_columns *columns, const struct instance_row *row)
{
    column_uuid(columns, row->id);
    column_text(columns, row->workflow);
    column_int(columns, row->version);
    column_text(columns, row->key);
    column_json(columns, row->input);
    column_json(columns, row->output);
    column_text(columns, instance_status_name(row->status));
    column_int(columns, row->generation);
    column_json(columns, row->last_error);
    column_time_or_null(columns, row->start_at_us);
    column_time(columns, row->created_at_us);
    column_time(columns, row->updated_at_us);
    column_time_or_null(columns, row->started_at_us);
    column_time_or_null(columns, row->finished_at_us);
    add_progress(columns, row);
    columns_end_row(columns, INSERT_COLUMNS);
}

/* What is known of each row while they are inserted. */
struct inserting {
    struct instance_row *rows;
    size_t count;
    enum insert_result *results;
    bool *is_settled;
    size_t open; /* how many are not */
};

/* Notes which rows were new.  They come back in the order sent, which nobody promises: so the
 * search goes on where it last succeeded, and around. */
static cairn_code note_inserted(struct store_tx *tx, const PGresult *result,
                                struct inserting *in, cairn_error *reterr)
{
    struct postgres_reader reader = {.result = result, .arena = tx->arena};
    size_t at = 0;
    for (; reader.row < PQntuples(result); reader.row++) {
        const char *id = PQgetvalue(result, reader.row, 0);
        size_t looked = 0;
        while (looked++ < in->count && (in->is_settled[at] || strcmp(in->rows[at].id, id) != 0))
            at = (at + 1) % in->count;
        if (strcmp(in->rows[at].id, id) != 0)
            return fail(reterr, CAIRN_E_STORE, "could not insert instances: id %s is unknown",
                        id);
        in->rows[at].seq = value_int(&reader, 1);
        in->results[at] = INSERT_DONE;
        in->is_settled[at] = true;
        in->open--;
        postgres_note_instance(tx, &in->rows[at]);
    }
    return CAIRN_OK;
}

static cairn_code insert_portion(struct store_tx *tx, struct inserting *in,
                                 struct postgres_columns *columns, cairn_error *reterr)
{
    cleanup(postgres_result_done) PGresult *result = NULL;
    struct postgres_params params = {.arena = tx->arena};
    param_columns(&params, columns, INSERT_COLUMNS);
    cairn_code code =
        postgres_run(postgres_session_of(tx), PG_INSERT_INSTANCES, &params, &result, reterr);
    return code ? code : note_inserted(tx, result, in, reterr);
}

/* Inserts those rows that are not settled. */
static cairn_code insert_open(struct store_tx *tx, struct inserting *in, cairn_error *reterr)
{
    cleanup(columns_done) struct postgres_columns columns = {0};
    size_t i = 0;
    while (i < in->count) {
        columns_reset(&columns);
        for (; i < in->count && columns_size(&columns) < POSTGRES_PORTION; i++)
            if (!in->is_settled[i])
                add_insert_row(&columns, &in->rows[i]);
        if (columns_size(&columns) == 0)
            break;
        cairn_code code = insert_portion(tx, in, &columns, reterr);
        if (code)
            return code;
    }
    return CAIRN_OK;
}

/* The answer for one row that was left out; nothing may stand in its way any more. */
static void settle_existing(struct inserting *in, size_t place, struct postgres_reader *reader)
{
    bool is_again = !PQgetisnull(reader->result, reader->row, 1);
    if (!is_again && PQgetisnull(reader->result, reader->row, 2))
        return;
    if (!is_again)
        in->rows[place].id = value_text(reader, 2);
    in->rows[place].seq = value_int(reader, is_again ? 1 : 3);
    in->results[place] = is_again ? INSERT_AGAIN : INSERT_EXISTING;
    in->is_settled[place] = true;
    in->open--;
}

/* What stands in the way of rows that were left out. */
static cairn_code find_existing(struct store_tx *tx, struct inserting *in, cairn_error *reterr)
{
    cleanup(columns_done) struct postgres_columns columns = {0};
    cleanup(postgres_result_done) PGresult *result = NULL;
    struct postgres_params params = {.arena = tx->arena};
    size_t *places = arena_array(tx->arena, in->count, sizeof *places), asked = 0;
    if (!places)
        return fail_memory(reterr);
    for (size_t i = 0; i < in->count; i++) {
        if (in->is_settled[i])
            continue;
        places[asked++] = i;
        column_uuid(&columns, in->rows[i].id);
        column_text(&columns, in->rows[i].workflow);
        column_text(&columns, in->rows[i].key);
        columns_end_row(&columns, 3);
    }
    param_columns(&params, &columns, 3);
    cairn_code code = postgres_run(postgres_session_of(tx), PG_FIND_EXISTING_INSTANCES, &params,
                                   &result, reterr);
    if (code)
        return code;

    struct postgres_reader reader = {.result = result, .arena = tx->arena};
    for (; reader.row < PQntuples(result); reader.row++)
        settle_existing(in, places[value_int(&reader, 0) - 1], &reader);
    return reader.failed ? fail_memory(reterr) : CAIRN_OK;
}

cairn_code postgres_insert_instances(struct store_tx *tx, struct instance_row *rows,
                                     size_t count, enum insert_result *ret_results,
                                     cairn_error *reterr)
{
    enum { TRIES = 3 };
    struct inserting in = {.rows = rows, .count = count, .results = ret_results, .open = count};
    in.is_settled = arena_array(tx->arena, count, sizeof *in.is_settled);
    if (!in.is_settled)
        return fail_memory(reterr);
    for (int try = 0; in.open > 0 && try < TRIES; try++) {
        cairn_code code = insert_open(tx, &in, reterr);
        if (!code && in.open > 0)
            code = find_existing(tx, &in, reterr);
        if (code)
            return code;
    }
    if (in.open > 0)
        return fail(reterr, CAIRN_E_BUSY,
                    "could not insert instances: others keep inserting and deleting the same "
                    "keys");
    return CAIRN_OK;
}

/* ---- locking and writing -------------------------------------------------------------------
 */

cairn_code postgres_lock_instances(struct store_tx *tx, const char *const *ids, size_t count,
                                   bool may_wait, struct instance_row *ret_rows,
                                   enum lock_result *ret_results, cairn_error *reterr)
{
    cleanup(postgres_result_done) PGresult *result = NULL;
    struct postgres_params params = {.arena = tx->arena};
    if (count == 0)
        return CAIRN_OK;
    param_uuids(&params, ids, count);
    cairn_code code = postgres_run(postgres_session_of(tx),
                                   may_wait ? PG_LOCK_INSTANCES_WAITING : PG_LOCK_INSTANCES,
                                   &params, &result, reterr);
    if (code)
        return code;

    struct postgres_reader reader = {.result = result, .arena = tx->arena};
    for (size_t i = 0; i < count; i++) {
        ret_results[i] = LOCK_ABSENT;
        if (reader.row >= PQntuples(result) ||
            strcmp(ids[i], PQgetvalue(result, reader.row, 1)) != 0)
            continue;
        postgres_read_instance(&reader, 0, &ret_rows[i]);
        postgres_move_on(tx, &reader, LOCK_CLOCK);
        ret_results[i] = LOCK_DONE;
        reader.row++;
    }
    if (reader.failed)
        return fail_memory(reterr);
    return postgres_tell_busy(tx, PG_FIND_INSTANCES, ids, count, ret_results, reterr);
}

static void add_update_row(struct postgres_columns *columns, const struct instance_row *row)
{
    column_uuid(columns, row->id);
    column_json(columns, row->output);
    column_text(columns, instance_status_name(row->status));
    column_int(columns, row->generation);
    column_json(columns, row->last_error);
    column_time_or_null(columns, row->start_at_us);
    column_time(columns, row->updated_at_us);
    column_time_or_null(columns, row->started_at_us);
    column_time_or_null(columns, row->finished_at_us);
    add_progress(columns, row);
    columns_end_row(columns, UPDATE_COLUMNS);
}

cairn_code postgres_update_instances(struct store_tx *tx, const struct instance_row *rows,
                                     size_t count, cairn_error *reterr)
{
    cleanup(columns_done) struct postgres_columns columns = {0};
    size_t i = 0;
    while (i < count) {
        columns_reset(&columns);
        for (; i < count && columns_size(&columns) < POSTGRES_PORTION; i++) {
            add_update_row(&columns, &rows[i]);
            postgres_note_instance(tx, &rows[i]);
        }
        struct postgres_params params = {.arena = tx->arena};
        param_columns(&params, &columns, UPDATE_COLUMNS);
        cairn_code code =
            postgres_queue(postgres_session_of(tx), PG_UPDATE_INSTANCES, &params, reterr);
        if (code)
            return code;
    }
    return CAIRN_OK;
}

/* ---- reading -------------------------------------------------------------------------------
 */

cairn_code postgres_find_due_instances(struct store_tx *tx, const char **ret_ids, size_t room,
                                       size_t *ret_count, cairn_error *reterr)
{
    cleanup(postgres_result_done) PGresult *result = NULL;
    struct postgres_params params = {.arena = tx->arena};
    param_time(&params, tx->now_us);
    param_int(&params, (int64_t)room);
    param_timer_from(&params, tx, TIMER_START);
    cairn_code code =
        postgres_run(postgres_session_of(tx), PG_FIND_DUE_INSTANCES, &params, &result, reterr);
    if (code)
        return code;
    struct postgres_reader reader = {.result = result, .arena = tx->arena};
    for (; reader.row < PQntuples(result); reader.row++)
        ret_ids[reader.row] = value_text(&reader, 0);
    *ret_count = (size_t)PQntuples(result);
    return reader.failed ? fail_memory(reterr) : CAIRN_OK;
}

cairn_code postgres_get_instance(struct store_tx *tx, const char *id,
                                 struct instance_row *ret_row, cairn_error *reterr)
{
    struct postgres_params params = {.arena = tx->arena};
    size_t count = 0;
    if (!id_is_valid(id))
        return CAIRN_E_NOT_FOUND;
    param_text(&params, id);
    cairn_code code =
        postgres_run_instances(tx, PG_GET_INSTANCE, &params, ret_row, 1, &count, reterr);
    return code ? code : count ? CAIRN_OK : CAIRN_E_NOT_FOUND;
}

cairn_code postgres_read_instances(struct store_tx *tx, const char *const *ids, size_t count,
                                   struct instance_row *ret_rows, bool *ret_is_found,
                                   cairn_error *reterr)
{
    cleanup(postgres_result_done) PGresult *result = NULL;
    struct postgres_params params = {.arena = tx->arena};
    if (count == 0)
        return CAIRN_OK;
    param_uuids(&params, ids, count);
    cairn_code code =
        postgres_run(postgres_session_of(tx), PG_READ_INSTANCES, &params, &result, reterr);
    if (code)
        return code;
    for (size_t i = 0; i < count; i++)
        ret_is_found[i] = false;
    struct postgres_reader reader = {.result = result, .arena = tx->arena};
    for (; reader.row < PQntuples(result); reader.row++) {
        size_t place = (size_t)value_int(&reader, 0) - 1;
        postgres_read_instance(&reader, 1, &ret_rows[place]);
        ret_is_found[place] = true;
    }
    return reader.failed ? fail_memory(reterr) : CAIRN_OK;
}

/* The narrowest index that fits: plans are kept, so each has a statement of its own. */
static enum postgres_query list_query(const struct instance_filter *filter)
{
    if (filter->key)
        return PG_LIST_INSTANCES_BY_KEY;
    if (filter->status)
        return PG_LIST_INSTANCES_BY_STATUS;
    return filter->workflow ? PG_LIST_INSTANCES_BY_WORKFLOW : PG_LIST_INSTANCES;
}

cairn_code postgres_list_instances(struct store_tx *tx, const struct instance_filter *filter,
                                   struct instance_row *ret_rows, size_t room,
                                   size_t *ret_count, cairn_error *reterr)
{
    struct postgres_params params = {.arena = tx->arena};
    param_text(&params, filter->status ? instance_status_name(filter->status) : NULL);
    param_text(&params, filter->workflow);
    param_int(&params, filter->before_seq ? filter->before_seq : INT64_MAX);
    param_int(&params, (int64_t)room);
    if (filter->key)
        param_text(&params, filter->key);
    return postgres_run_instances(tx, list_query(filter), &params, ret_rows, room, ret_count,
                                  reterr);
}

cairn_code postgres_count_instances(struct store_tx *tx, uint64_t *ret_counts,
                                    cairn_error *reterr)
{
    cleanup(postgres_result_done) PGresult *result = NULL;
    cairn_code code =
        postgres_run(postgres_session_of(tx), PG_COUNT_INSTANCES, NULL, &result, reterr);
    if (code)
        return code;
    memset(ret_counts, 0, INSTANCE_STATUS_COUNT * sizeof *ret_counts);
    struct postgres_reader reader = {.result = result};
    for (; reader.row < PQntuples(result); reader.row++)
        ret_counts[instance_status_from(PQgetvalue(result, reader.row, 0))] =
            (uint64_t)value_int(&reader, 1);
    return CAIRN_OK;
}

cairn_code postgres_count_steps(struct store_tx *tx, struct step_counts *ret_counts,
                                cairn_error *reterr)
{
    cleanup(postgres_result_done) PGresult *result = NULL;
    cairn_code code =
        postgres_run(postgres_session_of(tx), PG_COUNT_STEPS, NULL, &result, reterr);
    if (code)
        return code;
    struct postgres_reader reader = {.result = result};
    *ret_counts = (struct step_counts){.ready = (uint64_t)value_int(&reader, 0),
                                       .leased = (uint64_t)value_int(&reader, 1)};
    return CAIRN_OK;
}
