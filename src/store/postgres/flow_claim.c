/* store/postgres/flow_claim.c - leasing steps that are ready, and finding those that are due.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * As for jobs: claim_steps.sql looks at heads and locks as many as are wanted, skipping what
 * others hold; when too few are left and there may be more behind, it looks twice as far.  walk.c
 * says where it looks.
 */
#include "base/error.h"
#include "base/mem.h"
#include "store/postgres/flow.h"

#include <string.h>

/* How long after its begin another process's transaction usually has written its rows. */
#define STEP_WRITE_US (100 * US_PER_MS)

/* The workers, or the tokens, of the holders. */
static void param_holders(struct postgres_params *params, const struct step_holder *holders,
                          size_t count, bool is_token)
{
    const char **texts = arena_array(params->arena, count, sizeof *texts);
    for (size_t i = 0; texts && i < count; i++)
        texts[i] = is_token ? holders[i].token : holders[i].worker;
    params->failed |= !texts;
    param_texts(params, texts, texts ? count : 0);
}

/* What a claim has got so far. */
struct taking {
    struct step_claim claim; /* its holders: those that have got no row */
    struct postgres_types types;
    struct step_row *rows;
    size_t room, count;
    size_t served; /* rows whose holders are no longer among the claim's */
};

/* Functions are of one type in some versions. */
static cairn_code sort_types(struct arena *arena, const struct step_claim *claim,
                             struct postgres_types *ret_types, cairn_error *reterr)
{
    struct exact_type *more = arena_array(arena, claim->function_count, sizeof *more);
    if (!more)
        return fail_memory(reterr);
    for (size_t i = 0; i < claim->function_count; i++) {
        const struct function_range *range = &claim->functions[i];
        more[i] = (struct exact_type){
            .name = range->name,
            .lowest = step_rank(range->from, 0),
            .highest = step_rank(range->to, STEP_PRIORITY_MASK),
        };
    }
    return postgres_sort_patterns(arena, &claim->base, more, claim->function_count, ret_types,
                                  reterr);
}

static struct mark_set *marks_of(const struct store_tx *tx)
{
    return &postgres_store_of(tx->session)->step_marks;
}

static struct postgres_params claim_params(struct store_tx *tx, const struct step_claim *claim,
                                           const struct claim_walk *walk, size_t heads,
                                           size_t room)
{
    struct postgres_params params = {.arena = tx->arena};
    struct step_holder one = {claim->base.worker, claim->base.token};
    const struct step_holder *holders = claim->holders ? claim->holders : &one;
    size_t holder_count = claim->holders ? room : 1;
    param_walk(&params, walk);
    param_text(&params, claim->base.runtime);
    param_time(&params, tx->now_us);
    param_int(&params, (int64_t)heads);
    param_int(&params, (int64_t)room);
    param_holders(&params, holders, holder_count, false);
    param_holders(&params, holders, holder_count, true);
    param_time(&params, claim->base.lease_until_us);
    param_double(&params, claim->aging_rate);
    return params;
}

cairn_code postgres_send_step_claim(struct store_tx *tx, const struct step_claim *claim,
                                    size_t room, cairn_error *reterr)
{
    struct postgres_session *session = postgres_session_of(tx);
    struct postgres_types types = {0};
    struct claim_walk *walk = arena_zalloc(tx->arena, sizeof *walk);
    if (!walk)
        return fail_memory(reterr);
    cairn_code code = sort_types(tx->arena, claim, &types, reterr);
    if (!code)
        code = postgres_plan_walk(tx->arena, marks_of(tx), &types, walk, reterr);
    if (code)
        return code;
    struct postgres_params params =
        claim_params(tx, claim, walk, room + POSTGRES_SPARE_HEADS, room);
    session->tx.step_walk = walk;
    return postgres_send(session, PG_CLAIM_STEPS, &params, reterr);
}

/* ---- one look ------------------------------------------------------------------------------- */

/* The claim's result: sent before, or asked for now.  *ret_walk: what it has read. */
static cairn_code run_claim(struct store_tx *tx, const struct taking *taking, size_t heads,
                            struct claim_walk *ret_walk, PGresult **ret_result,
                            cairn_error *reterr)
{
    struct postgres_session *session = postgres_session_of(tx);
    if (session->sent == PG_CLAIM_STEPS) {
        *ret_walk = *session->tx.step_walk;
        return postgres_take(session, ret_result, reterr);
    }
    cairn_code code =
        postgres_plan_walk(tx->arena, marks_of(tx), &taking->types, ret_walk, reterr);
    if (code)
        return code;
    struct postgres_params params =
        claim_params(tx, &taking->claim, ret_walk, heads, taking->room - taking->count);
    return postgres_run(session, PG_CLAIM_STEPS, &params, ret_result, reterr);
}

/* What the walk says to the marks.  Another process's transaction may have taken its time before the
 * walk and write only now: so nothing is known of the last moment. */
static cairn_code note_walk(struct store_tx *tx, struct claim_walk *walk,
                            struct walk_told *told, const struct step_row *rows, size_t count,
                            cairn_error *reterr)
{
    enum { ROWS_PER_TURN = 4 }; /* the work of a probe */
    struct claimed_key *keys = arena_array(tx->arena, count + 1, sizeof *keys);
    if (!keys)
        return fail_memory(reterr);
    for (size_t i = 0; i < count; i++)
        keys[i] = (struct claimed_key){rows[i].task_type,
                                       step_rank(rows[i].version, rows[i].priority),
                                       step_key(rows[i].next_run_at_us)};
    told->end = step_key(tx->now_us - STEP_WRITE_US);
    postgres_walked(marks_of(tx), walk, told, tx->session->store->clock->is_virtual,
                    told->heads + ROWS_PER_TURN * (size_t)told->extra, keys, count);
    return CAIRN_OK;
}

static bool is_held_by(const struct step_row *row, const struct step_holder *holder)
{
    return strcmp(row->token, holder->token) == 0 &&
           strcmp(row->locked_by, holder->worker) == 0;
}

/* Leaves the holders that have got no row, in order: a row that changed meanwhile was passed over,
 * and so was its holder. */
static cairn_code drop_holders(struct store_tx *tx, struct taking *taking, cairn_error *reterr)
{
    const struct step_row *rows = taking->rows + taking->served;
    size_t count = taking->count - taking->served, room = taking->room - taking->served;
    size_t left = 0, at = 0;
    if (count == 0 || !taking->claim.holders)
        return CAIRN_OK;
    struct step_holder *holders = arena_array(tx->arena, room, sizeof *holders);
    bool *is_seen = arena_array(tx->arena, count, sizeof *is_seen);
    if (!holders || !is_seen)
        return fail_memory(reterr);
    for (size_t i = 0; i < room; i++) {
        for (at = 0; at < count; at++)
            if (!is_seen[at] && is_held_by(&rows[at], &taking->claim.holders[i]))
                break;
        if (at < count)
            is_seen[at] = true;
        else
            holders[left++] = taking->claim.holders[i];
    }
    taking->claim.holders = holders;
    taking->served = taking->count;
    return CAIRN_OK;
}

/* One look at `heads` rows.  *ret_is_all: there was nothing behind them. */
static cairn_code try_claim(struct store_tx *tx, struct taking *taking, size_t heads,
                            bool *ret_is_all, cairn_error *reterr)
{
    cleanup(postgres_result_done) PGresult *result = NULL;
    struct claim_walk walk;
    cairn_code code = drop_holders(tx, taking, reterr);
    if (!code)
        code = run_claim(tx, taking, heads, &walk, &result, reterr);
    if (code)
        return code;

    struct postgres_reader reader = {.result = result, .arena = tx->arena};
    struct step_row *rows = taking->rows + taking->count;
    size_t count = 0;
    struct walk_told told = postgres_read_told(&reader, marks_of(tx));
    for (; reader.row < PQntuples(result); reader.row++) {
        if (PQgetisnull(result, reader.row, WALK_COLUMNS))
            continue;
        postgres_read_step(&reader, WALK_COLUMNS + 1, &rows[count]);
        rows[count++].version = (int32_t)value_int(&reader, WALK_COLUMNS);
    }
    *ret_is_all = told.heads < heads && told.taken == count;
    taking->count += count;
    return reader.failed ? fail_memory(reterr)
                         : note_walk(tx, &walk, &told, rows, count, reterr);
}

/* ---- the claim ------------------------------------------------------------------------------ */

static cairn_code claim_from_marks(struct store_tx *tx, struct taking *taking,
                                   cairn_error *reterr)
{
    cairn_code code = CAIRN_OK;
    bool is_all = false;
    for (size_t heads = taking->room - taking->count + POSTGRES_SPARE_HEADS;
         !code && taking->count < taking->room && !is_all; heads *= 2)
        code = try_claim(tx, taking, heads, &is_all, reterr);
    return code;
}

cairn_code postgres_claim_steps(struct store_tx *tx, const struct step_claim *claim,
                                struct step_row *ret_rows, size_t room, size_t *ret_count,
                                cairn_error *reterr)
{
    struct taking taking = {.claim = *claim, .rows = ret_rows, .room = room};
    cairn_code code = sort_types(tx->arena, claim, &taking.types, reterr);
    for (bool is_more = true; !code && is_more;) {
        is_more = false;
        code = claim_from_marks(tx, &taking, reterr);
        if (!code)
            code = postgres_check_below(tx, marks_of(tx), PG_CHECK_STEPS, taking.count < room,
                                        &is_more, reterr);
        is_more &= taking.count < room;
    }
    if (taking.count > 0)
        postgres_note_flow_due(tx, claim->base.lease_until_us + 1);
    *ret_count = taking.count;
    return code;
}

cairn_code postgres_find_claimed_steps(struct store_tx *tx, const char *worker,
                                       const char *token, struct step_row *ret_rows,
                                       size_t room, size_t *ret_count, cairn_error *reterr)
{
    struct postgres_params params = {.arena = tx->arena};
    param_text(&params, worker);
    param_text(&params, token);
    param_int(&params, (int64_t)room);
    return postgres_run_steps(tx, PG_FIND_CLAIMED_STEPS, &params, ret_rows, room, ret_count,
                              reterr);
}

cairn_code postgres_find_due_steps(struct store_tx *tx, struct step_ref *ret_refs, size_t room,
                                   size_t *ret_count, cairn_error *reterr)
{
    cleanup(postgres_result_done) PGresult *result = NULL;
    struct postgres_params params = {.arena = tx->arena};
    param_time(&params, tx->now_us);
    param_int(&params, (int64_t)room);
    param_timer_from(&params, tx, TIMER_STEP_LEASE);
    param_timer_from(&params, tx, TIMER_STEP_WAIT);
    cairn_code code =
        postgres_run(postgres_session_of(tx), PG_FIND_DUE_STEPS, &params, &result, reterr);
    if (code)
        return code;
    struct postgres_reader reader = {.result = result, .arena = tx->arena};
    for (; reader.row < PQntuples(result); reader.row++)
        ret_refs[reader.row] = (struct step_ref){
            .instance_id = value_text(&reader, 0),
            .seq = (int32_t)value_int(&reader, 1),
        };
    *ret_count = (size_t)PQntuples(result);
    return reader.failed ? fail_memory(reterr) : CAIRN_OK;
}

cairn_code postgres_list_ready_types(struct store_tx *tx, struct ready_type *ret_types,
                                     size_t room, size_t *ret_count, cairn_error *reterr)
{
    cleanup(postgres_result_done) PGresult *result = NULL;
    struct postgres_params params = {.arena = tx->arena};
    param_int(&params, (int64_t)room);
    cairn_code code =
        postgres_run(postgres_session_of(tx), PG_LIST_READY_TYPES, &params, &result, reterr);
    if (code)
        return code;
    struct postgres_reader reader = {.result = result, .arena = tx->arena};
    for (; reader.row < PQntuples(result); reader.row++)
        ret_types[reader.row] = (struct ready_type){
            .name = value_text(&reader, 0),
            .version = (int32_t)value_int(&reader, 1),
            .since_us = value_time(&reader, 2),
            .instance_id = value_text(&reader, 3),
        };
    *ret_count = (size_t)PQntuples(result);
    return reader.failed ? fail_memory(reterr) : CAIRN_OK;
}
