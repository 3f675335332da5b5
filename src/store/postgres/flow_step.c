/* store/postgres/flow_step.c - rows of workflow_step: inserted, locked, written, read.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "base/error.h"
#include "base/mem.h"
#include "store/postgres/flow.h"

#include <string.h>

/* ---- writing -------------------------------------------------------------------------------
 */

enum { INSERT_COLUMNS = STEP_COLUMNS + 1, UPDATE_COLUMNS = 34 };

static void add_plan(struct postgres_columns *columns, const struct step_row *row)
{
    column_uuid(columns, row->instance_id);
    column_bigint(columns, row->instance_seq);
    column_int(columns, row->seq);
    column_text(columns, row->name);
    column_text(columns, step_kind_name(row->kind));
    column_text(columns, row->handler);
    column_int(columns, row->max_attempts);
    column_int(columns, row->priority);
    column_int(columns, row->next);
    column_int(columns, row->scope_fork);
    column_int(columns, row->scope_from);
    column_int(columns, row->scope_to);
    column_json(columns, row->config);
    column_json(columns, row->metadata);
}

static void add_progress(struct postgres_columns *columns, const struct step_row *row)
{
    column_text(columns, step_status_name(row->status));
    column_count(columns, row->attempts);
    column_count(columns, row->compensation_attempts);
    column_json(columns, row->input);
    column_json(columns, row->output);
    column_text(columns, row->error);
    column_big_count(columns, row->commit_no);
    column_time_or_null(columns, row->next_run_at_us);
    column_time_or_null(columns, row->started_at_us);
    column_time_or_null(columns, row->finished_at_us);
    column_bool(columns, row->is_ready);
    column_text(columns, row->task_type);
    column_time_or_null(columns, row->due_at_us);
    column_flag(columns, row->is_held);
    column_text(columns, row->locked_by);
    column_text(columns, row->token);
    column_time_or_null(columns, row->locked_until_us);
    column_time_or_null(columns, row->call_until_us);
    column_text(columns, row->ended_by);
    column_text(columns, row->ended_token);
    column_text(columns, step_stop_name(row->stop));
    column_text(columns, row->waiting_event);
    column_time_or_null(columns, row->deadline_at_us);
    column_flag(columns, row->is_timed_out);
    column_json(columns, row->signal);
    column_count(columns, row->remaining);
    column_time(columns, row->updated_at_us);
    column_text(columns, row->ended_outcome);
    column_count(columns, row->past_effects);
    column_flag(columns, row->is_effect_begun);
    column_text(columns, row->function_effects);
    column_text(columns, row->undo_error);
}

static void add_insert_row(struct postgres_columns *columns, const struct step_row *row)
{
    add_plan(columns, row);
    add_progress(columns, row);
    column_count(columns, row->version);
    columns_end_row(columns, INSERT_COLUMNS);
}

static void add_update_row(struct postgres_columns *columns, const struct step_row *row)
{
    column_uuid(columns, row->instance_id);
    column_int(columns, row->seq);
    add_progress(columns, row);
    columns_end_row(columns, UPDATE_COLUMNS);
}

cairn_code postgres_insert_steps(struct store_tx *tx, const struct step_row *rows, size_t count,
                                 cairn_error *reterr)
{
    cleanup(columns_done) struct postgres_columns columns = {0};
    size_t i = 0;
    while (i < count) {
        columns_reset(&columns);
        for (; i < count && columns_size(&columns) < POSTGRES_PORTION; i++) {
            add_insert_row(&columns, &rows[i]);
            postgres_note_step(tx, &rows[i]);
        }
        struct postgres_params params = {.arena = tx->arena};
        param_columns(&params, &columns, INSERT_COLUMNS);
        cairn_code code =
            postgres_queue(postgres_session_of(tx), PG_INSERT_STEPS, &params, reterr);
        if (code)
            return code;
    }
    return CAIRN_OK;
}

cairn_code postgres_update_steps(struct store_tx *tx, const struct step_row *rows, size_t count,
                                 cairn_error *reterr)
{
    cleanup(columns_done) struct postgres_columns columns = {0};
    size_t i = 0;
    while (i < count) {
        columns_reset(&columns);
        for (; i < count && columns_size(&columns) < POSTGRES_PORTION; i++) {
            add_update_row(&columns, &rows[i]);
            postgres_note_step(tx, &rows[i]);
        }
        struct postgres_params params = {.arena = tx->arena};
        param_columns(&params, &columns, UPDATE_COLUMNS);
        cairn_code code =
            postgres_queue(postgres_session_of(tx), PG_UPDATE_STEPS, &params, reterr);
        if (code)
            return code;
    }
    return CAIRN_OK;
}

/* Portions are not needed: a place is a few bytes. */
cairn_code postgres_delete_steps(struct store_tx *tx, const struct step_ref *refs, size_t count,
                                 cairn_error *reterr)
{
    cleanup(columns_done) struct postgres_columns columns = {0};
    struct postgres_params params = {.arena = tx->arena};
    if (count == 0)
        return CAIRN_OK;
    for (size_t i = 0; i < count; i++) {
        column_uuid(&columns, refs[i].instance_id);
        column_int(&columns, refs[i].seq);
        columns_end_row(&columns, 2);
    }
    param_columns(&params, &columns, 2);
    return postgres_queue(postgres_session_of(tx), PG_DELETE_STEPS, &params, reterr);
}

/* ---- locking -------------------------------------------------------------------------------
 */

/* How many refs from `refs` on are neighbours: places of one instance, one after the other. */
static size_t count_neighbours(const struct step_ref *refs, size_t count)
{
    size_t run = 1;
    while (run < count && refs[run].seq == refs[run - 1].seq + 1 &&
           strcmp(refs[run].instance_id, refs[0].instance_id) == 0)
        run++;
    return run;
}

/* The steps at these places, by a query whose first column says of which range a row is. */
static cairn_code run_places(struct store_tx *tx, enum postgres_query query,
                             const struct step_ref *refs, size_t count,
                             struct step_row *ret_rows, bool *ret_is_found, cairn_error *reterr)
{
    cleanup(columns_done) struct postgres_columns columns = {0};
    cleanup(postgres_result_done) PGresult *result = NULL;
    struct postgres_params params = {.arena = tx->arena};
    size_t *firsts = arena_array(tx->arena, count, sizeof *firsts), range = 0; /* refs */
    if (count == 0)
        return CAIRN_OK;
    if (!firsts)
        return fail_memory(reterr);
    for (size_t i = 0, run; i < count; i += run) {
        run = count_neighbours(refs + i, count - i);
        column_uuid(&columns, refs[i].instance_id);
        column_int(&columns, refs[i].seq);
        column_int(&columns, refs[i + run - 1].seq);
        columns_end_row(&columns, 3);
        firsts[range++] = i;
    }
    memset(ret_is_found, 0, count * sizeof *ret_is_found);
    param_columns(&params, &columns, 3);
    cairn_code code = postgres_run(postgres_session_of(tx), query, &params, &result, reterr);
    if (code)
        return code;

    struct postgres_reader reader = {.result = result, .arena = tx->arena};
    for (; reader.row < PQntuples(result); reader.row++) {
        struct step_row row;
        size_t first = firsts[value_int(&reader, 0) - 1];
        postgres_read_step(&reader, 1, &row);
        size_t place = first + (size_t)(row.seq - refs[first].seq);
        ret_rows[place] = row;
        ret_is_found[place] = true;
    }
    return reader.failed ? fail_memory(reterr) : CAIRN_OK;
}

cairn_code postgres_lock_steps(struct store_tx *tx, const struct step_ref *refs, size_t count,
                               struct step_row *ret_rows, bool *ret_is_found,
                               cairn_error *reterr)
{
    return run_places(tx, PG_LOCK_STEPS, refs, count, ret_rows, ret_is_found, reterr);
}

cairn_code postgres_lock_current_steps(struct store_tx *tx, const char *instance_id,
                                       int32_t after, struct step_row *ret_rows, size_t room,
                                       size_t *ret_count, cairn_error *reterr)
{
    struct postgres_params params = {.arena = tx->arena};
    *ret_count = 0;
    if (!id_is_valid(instance_id))
        return CAIRN_OK;
    param_text(&params, instance_id);
    param_int(&params, after);
    param_int(&params, (int64_t)room);
    return postgres_run_steps(tx, PG_LOCK_CURRENT_STEPS, &params, ret_rows, room, ret_count,
                              reterr);
}

cairn_code postgres_lock_steps_between(struct store_tx *tx, const char *instance_id,
                                       enum step_status status, int32_t from, int32_t to,
                                       struct step_row *ret_rows, size_t room,
                                       size_t *ret_count, cairn_error *reterr)
{
    struct postgres_params params = {.arena = tx->arena};
    *ret_count = 0;
    if (!id_is_valid(instance_id))
        return CAIRN_OK;
    param_text(&params, instance_id);
    param_text(&params, status ? step_status_name(status) : NULL);
    param_int(&params, from);
    param_int(&params, to);
    param_int(&params, (int64_t)room);
    return postgres_run_steps(tx, PG_LOCK_STEPS_BETWEEN, &params, ret_rows, room, ret_count,
                              reterr);
}

cairn_code postgres_lock_committed_steps(struct store_tx *tx, const char *instance_id,
                                         int64_t below, int32_t from, int32_t to,
                                         struct step_row *ret_rows, size_t room,
                                         size_t *ret_count, cairn_error *reterr)
{
    struct postgres_params params = {.arena = tx->arena};
    *ret_count = 0;
    if (!id_is_valid(instance_id))
        return CAIRN_OK;
    param_text(&params, instance_id);
    param_int(&params, below);
    param_int(&params, from);
    param_int(&params, to);
    param_int(&params, (int64_t)room);
    return postgres_run_steps(tx, PG_LOCK_COMMITTED_STEPS, &params, ret_rows, room, ret_count,
                              reterr);
}

/* ---- reading -------------------------------------------------------------------------------
 */

cairn_code postgres_list_steps(struct store_tx *tx, const char *instance_id, int32_t after,
                               bool is_current, struct step_row *ret_rows, size_t room,
                               size_t *ret_count, cairn_error *reterr)
{
    struct postgres_params params = {.arena = tx->arena};
    *ret_count = 0;
    if (!id_is_valid(instance_id))
        return CAIRN_OK;
    param_text(&params, instance_id);
    param_int(&params, after);
    param_int(&params, (int64_t)room);
    return postgres_run_steps(tx, is_current ? PG_LIST_CURRENT_STEPS : PG_LIST_STEPS, &params,
                              ret_rows, room, ret_count, reterr);
}

cairn_code postgres_read_steps(struct store_tx *tx, const struct step_ref *refs, size_t count,
                               struct step_row *ret_rows, bool *ret_is_found,
                               cairn_error *reterr)
{
    return run_places(tx, PG_READ_STEPS, refs, count, ret_rows, ret_is_found, reterr);
}

cairn_code postgres_list_memos(struct store_tx *tx, const char *const *ids, size_t count,
                               int32_t after, struct step_row *ret_rows, size_t room,
                               size_t *ret_count, cairn_error *reterr)
{
    struct postgres_params params = {.arena = tx->arena};
    param_uuids(&params, ids, count);
    param_int(&params, after);
    param_int(&params, (int64_t)room);
    *ret_count = 0;
    return postgres_run_steps(tx, PG_LIST_MEMOS, &params, ret_rows, room, ret_count, reterr);
}

cairn_code postgres_get_step(struct store_tx *tx, const char *instance_id, const char *name,
                             struct step_row *ret_row, cairn_error *reterr)
{
    struct postgres_params params = {.arena = tx->arena};
    size_t count = 0;
    if (!id_is_valid(instance_id))
        return CAIRN_E_NOT_FOUND;
    param_text(&params, instance_id);
    param_text(&params, name);
    cairn_code code = postgres_run_steps(tx, PG_GET_STEP, &params, ret_row, 1, &count, reterr);
    return code ? code : count ? CAIRN_OK : CAIRN_E_NOT_FOUND;
}
