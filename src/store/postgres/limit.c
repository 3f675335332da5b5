/* store/postgres/limit.c - limits, what is spent of their rates, and leases that count; lanes, which are
 * groups of a type that take turns.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "base/error.h"
#include "base/mem.h"
#include "store/postgres/postgres.h"

/* A statement by itself: those that follow see what the one before has committed, even if they are sent with it. */
static cairn_code lock(struct store_tx *tx, cairn_error *reterr)
{
    struct postgres_params params = {.arena = tx->arena};
    return postgres_queue(postgres_session_of(tx), PG_LOCK_LIMITS, &params, reterr);
}

cairn_code postgres_put_limit(struct store_tx *tx, const struct limit_row *row,
                              cairn_error *reterr)
{
    struct postgres_params jobs = PARAMS(tx, TEXT(row->types));
    struct postgres_params steps = PARAMS(tx, TEXT(row->types));
    postgres_session_of(tx)->tx.is_news = true; /* others may have to look again */
    TRY(lock(tx, reterr));
    TRY(postgres_write_rows(tx, PG_PUT_LIMIT, &limit_row_type, COLUMNS_INSERT, row, 1, reterr));
    TRY(postgres_queue(postgres_session_of(tx), PG_COUNT_LEASED_STEPS, &steps, reterr));
    return postgres_queue(postgres_session_of(tx), PG_COUNT_LEASED_JOBS, &jobs, reterr);
}

cairn_code postgres_get_limit(struct store_tx *tx, const char *name, struct limit_row *ret_row,
                              cairn_error *reterr)
{
    struct postgres_params params = PARAMS(tx, TEXT(name));
    return postgres_read_one(tx, PG_GET_LIMIT, &params, &limit_row_type, ret_row, reterr);
}

cairn_code postgres_list_limits(struct store_tx *tx, const char *after,
                                struct limit_row *ret_rows, size_t room, size_t *ret_count,
                                cairn_error *reterr)
{
    const char *last = after ? after : ""; /* no name is empty */
    struct postgres_params params = PARAMS(tx, TEXT(last), INT(room));
    return postgres_read_rows(tx, PG_LIST_LIMITS, &params, &limit_row_type, ret_rows, room,
                              ret_count, reterr);
}

cairn_code postgres_delete_limit(struct store_tx *tx, const char *name, cairn_error *reterr)
{
    struct postgres_params params = PARAMS(tx, TEXT(name));
    postgres_session_of(tx)->tx.is_news = true;
    TRY(lock(tx, reterr));
    return postgres_queue(postgres_session_of(tx), PG_DELETE_LIMIT, &params, reterr);
}

cairn_code postgres_count_leases(struct store_tx *tx, bool is_locking,
                                 struct lane_use **ret_uses, size_t *ret_count,
                                 cairn_error *reterr)
{
    cleanup(reader_done) struct postgres_reader reader = {0};
    struct postgres_params params = {.arena = tx->arena};
    if (is_locking)
        TRY(lock(tx, reterr));
    TRY(postgres_ask(tx, PG_COUNT_LEASES, &params, &reader, reterr));
    struct lane_use *uses = arena_array(tx->arena, (size_t)reader.count, sizeof *uses);
    if (!uses)
        return fail_memory(reterr);
    for (; reader.row < reader.count; reader.row++)
        uses[reader.row] = (struct lane_use){.type = value_text(&reader, 0),
                                             .group = value_text(&reader, 1),
                                             .count = value_int(&reader, 2)};
    *ret_uses = uses;
    *ret_count = (size_t)reader.count;
    return reader.failed ? fail_memory(reterr) : CAIRN_OK;
}

cairn_code postgres_list_buckets(struct store_tx *tx, const char *name,
                                 struct bucket_row **ret_rows, size_t *ret_count,
                                 cairn_error *reterr)
{
    cleanup(reader_done) struct postgres_reader reader = {0};
    struct postgres_params params = PARAMS(tx, TEXT(name));
    TRY(postgres_ask(tx, PG_LIST_BUCKETS, &params, &reader, reterr));
    struct bucket_row *rows = arena_array(tx->arena, (size_t)reader.count, sizeof *rows);
    if (!rows)
        return fail_memory(reterr);
    for (; reader.row < reader.count; reader.row++)
        postgres_read_row(&reader, 0, &bucket_row_type, &rows[reader.row]);
    *ret_rows = rows;
    *ret_count = (size_t)reader.count;
    return reader.failed ? fail_memory(reterr) : CAIRN_OK;
}

cairn_code postgres_put_buckets(struct store_tx *tx, const struct bucket_row *rows,
                                size_t count, cairn_error *reterr)
{
    return postgres_write_rows(tx, PG_PUT_BUCKETS, &bucket_row_type, COLUMNS_INSERT, rows,
                               count, reterr);
}

cairn_code postgres_put_turns(struct store_tx *tx, const struct turn_row *rows, size_t count,
                              cairn_error *reterr)
{
    return postgres_write_rows(tx, PG_PUT_TURNS, &turn_row_type, COLUMNS_INSERT, rows, count,
                               reterr);
}

cairn_code postgres_add_group_types(struct store_tx *tx, const char *const *types, size_t count,
                                    cairn_error *reterr)
{
    struct postgres_params params = {.arena = tx->arena};
    param_texts(&params, types, count);
    return postgres_queue(postgres_session_of(tx), PG_ADD_GROUP_TYPES, &params, reterr);
}

/* ---- lanes ---------------------------------------------------------------------------------- */

/* Asks for lanes.  Those of steps have versions. */
static cairn_code list_lanes(struct store_tx *tx, enum postgres_query query,
                             const struct job_claim *claim, const struct postgres_types *types,
                             const struct lane_range *range, size_t each,
                             struct lane **ret_lanes, size_t *ret_count, cairn_error *reterr)
{
    cleanup(reader_done) struct postgres_reader reader = {0};
    bool is_steps = query == PG_LIST_STEP_LANES;
    struct postgres_store *store = postgres_store_of(tx->session);
    struct mark_set *marks = is_steps ? &store->step_marks : &store->job_marks;
    struct postgres_params params = {.arena = tx->arena};
    struct claim_walk walk;
    TRY(postgres_plan_walk(tx->arena, marks, true, types, &walk, reterr));
    param_ranges(&params, &walk);
    param_gaps(&params, &walk);
    param_text(&params, claim->runtime);
    param_text(&params, range->from);
    param_text(&params, range->to);
    param_int(&params, (int64_t)each);
    TRY(postgres_ask(tx, query, &params, &reader, reterr));
    struct lane *lanes = arena_array(tx->arena, (size_t)reader.count, sizeof *lanes);
    if (!lanes)
        return fail_memory(reterr);
    for (; reader.row < reader.count; reader.row++) {
        struct lane *lane = &lanes[reader.row];
        *lane = (struct lane){.type = value_text(&reader, 0), .group = value_text(&reader, 1)};
        if (!is_steps)
            continue;
        lane->first = (int32_t)value_int(&reader, 2);
        lane->last = (int32_t)value_int(&reader, 3);
        lane->is_void = !value_bool(&reader, 4);
    }
    *ret_lanes = lanes;
    *ret_count = (size_t)reader.count;
    return reader.failed ? fail_memory(reterr) : CAIRN_OK;
}

cairn_code postgres_list_job_lanes(struct store_tx *tx, const struct job_claim *claim,
                                   const struct lane_range *range, size_t each,
                                   struct lane **ret_lanes, size_t *ret_count,
                                   cairn_error *reterr)
{
    struct postgres_types types;
    TRY(postgres_sort_patterns(tx->arena, claim, NULL, 0, &types, reterr));
    return list_lanes(tx, PG_LIST_JOB_LANES, claim, &types, range, each, ret_lanes, ret_count,
                      reterr);
}

cairn_code postgres_list_step_lanes(struct store_tx *tx, const struct step_claim *claim,
                                    const struct lane_range *range, size_t each,
                                    struct lane **ret_lanes, size_t *ret_count,
                                    cairn_error *reterr)
{
    struct postgres_types types;
    TRY(postgres_sort_step_patterns(tx->arena, claim, &types, reterr));
    return list_lanes(tx, PG_LIST_STEP_LANES, &claim->base, &types, range, each, ret_lanes,
                      ret_count, reterr);
}

static void add_lanes(struct postgres_params *params, const struct lane *lanes, size_t count,
                      bool is_steps)
{
    struct postgres_columns columns = {.count = is_steps ? 6 : 4};
    for (size_t i = 0; i < count; i++) {
        columns_text(&columns, lanes[i].type);
        columns_text(&columns, lanes[i].group);
        columns_bigint(&columns, (int64_t)lanes[i].quota);
        columns_bigint(&columns, lanes[i].is_counted);
        if (is_steps) {
            columns_bigint(&columns, lanes[i].first);
            columns_bigint(&columns, lanes[i].last);
        }
        columns_end_row(&columns);
    }
    param_columns_copied(params, &columns);
}

cairn_code postgres_claim_job_lanes(struct store_tx *tx, const struct job_claim *claim,
                                    const struct lane *lanes, size_t lane_count,
                                    struct job_row *ret_rows, size_t room, size_t *ret_count,
                                    cairn_error *reterr)
{
    cleanup(reader_done) struct postgres_reader reader = {0};
    struct postgres_params params = {.arena = tx->arena};
    add_lanes(&params, lanes, lane_count, false);
    param_time(&params, tx->now_us);
    param_holders(&params, claim, room);
    param_time(&params, postgres_lease_look(tx, LEASE_FIRST_LOOK_US, claim->lease_until_us));
    param_int(&params, claim->event_id);
    param_int(&params, claim->events_each);
    param_text(&params, tx->session->store->clock->is_virtual ? "t" : "f");
    TRY(postgres_ask(tx, PG_CLAIM_JOB_LANES, &params, &reader, reterr));
    for (; reader.row < reader.count; reader.row++) {
        struct job_row *row = &ret_rows[reader.row];
        postgres_read_row(&reader, 0, &job_row_type, row);
        row->prev_event = value_int(&reader, PQnfields(reader.result) - 1);
    }
    *ret_count = (size_t)reader.count;
    if (reader.count > 0)
        postgres_note_due(tx, claim->lease_until_us + 1);
    return reader.failed ? fail_memory(reterr) : CAIRN_OK;
}

cairn_code postgres_claim_step_lanes(struct store_tx *tx, const struct step_claim *claim,
                                     const struct lane *lanes, size_t lane_count,
                                     struct step_row *ret_rows, size_t room, size_t *ret_count,
                                     cairn_error *reterr)
{
    cleanup(reader_done) struct postgres_reader reader = {0};
    struct postgres_params params = {.arena = tx->arena};
    add_lanes(&params, lanes, lane_count, true);
    param_time(&params, tx->now_us);
    param_holders(&params, &claim->base, room);
    param_double(&params, claim->aging_rate);
    TRY(postgres_ask(tx, PG_CLAIM_STEP_LANES, &params, &reader, reterr));
    for (; reader.row < reader.count; reader.row++)
        postgres_read_row(&reader, 0, &step_row_type, &ret_rows[reader.row]);
    *ret_count = (size_t)reader.count;
    if (reader.count > 0)
        postgres_note_flow_due(tx, claim->base.lease_until_us + 1);
    return reader.failed ? fail_memory(reterr) : CAIRN_OK;
}
