/* store/postgres/flow_claim.c - leasing steps that are ready, and finding those that are due.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * As for jobs: claim_steps.sql looks at heads and locks as many as are wanted, skipping what
 * others hold; when too few are left and there may be more behind, it looks twice as far.
 */
#include "base/error.h"
#include "base/mem.h"
#include "store/postgres/flow.h"

#include <string.h>

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

/* Which steps: types in every version, and functions in some. */
struct wanted {
    struct postgres_types types; /* functions are among the exact ones */
    int32_t *from, *to;          /* versions of each exact one */
};

static cairn_code sort_wanted(struct arena *arena, const struct step_claim *claim,
                              struct wanted *ret_wanted, cairn_error *reterr)
{
    struct postgres_types *types = &ret_wanted->types;
    cairn_code code = postgres_sort_patterns(arena, &claim->base, types, reterr);
    if (code)
        return code;
    size_t count = types->exact_count + claim->function_count;
    const char **exact = arena_array(arena, count, sizeof *exact);
    ret_wanted->from = arena_array(arena, count, sizeof *ret_wanted->from);
    ret_wanted->to = arena_array(arena, count, sizeof *ret_wanted->to);
    if (!exact || !ret_wanted->from || !ret_wanted->to)
        return fail_memory(reterr);
    for (size_t i = 0; i < types->exact_count; i++) {
        exact[i] = types->exact[i];
        ret_wanted->from[i] = 0;
        ret_wanted->to[i] = INT32_MAX;
    }
    for (size_t i = 0; i < claim->function_count; i++) {
        const struct function_range *range = &claim->functions[i];
        exact[types->exact_count] = range->name;
        ret_wanted->from[types->exact_count] = range->from;
        ret_wanted->to[types->exact_count++] = range->to;
    }
    types->exact = exact;
    return CAIRN_OK;
}

static struct postgres_params claim_params(struct store_tx *tx, const struct step_claim *claim,
                                           const struct wanted *wanted, size_t heads,
                                           size_t room)
{
    const struct postgres_types *types = &wanted->types;
    struct postgres_params params = {.arena = tx->arena};
    struct step_holder one = {claim->base.worker, claim->base.token};
    const struct step_holder *holders = claim->holders ? claim->holders : &one;
    size_t holder_count = claim->holders ? room : 1;
    param_texts(&params, types->exact, types->exact_count);
    param_texts(&params, types->prefixes, types->prefix_count);
    param_text(&params, claim->base.runtime);
    param_time(&params, tx->now_us);
    param_int(&params, (int64_t)heads);
    param_int(&params, (int64_t)room);
    param_holders(&params, holders, holder_count, false);
    param_holders(&params, holders, holder_count, true);
    param_time(&params, claim->base.lease_until_us);
    param_double(&params, claim->aging_rate);
    param_ints(&params, wanted->from, types->exact_count);
    param_ints(&params, wanted->to, types->exact_count);
    return params;
}

cairn_code postgres_send_step_claim(struct store_tx *tx, const struct step_claim *claim,
                                    size_t room, cairn_error *reterr)
{
    struct wanted wanted = {0};
    cairn_code code = sort_wanted(tx->arena, claim, &wanted, reterr);
    if (code)
        return code;
    struct postgres_params params =
        claim_params(tx, claim, &wanted, room + POSTGRES_SPARE_HEADS, room);
    return postgres_send(postgres_session_of(tx), PG_CLAIM_STEPS, &params, reterr);
}

/* One look at `heads` rows.  *ret_is_all: there was nothing behind them. */
static cairn_code try_claim(struct store_tx *tx, const struct step_claim *claim,
                            const struct wanted *wanted, size_t heads,
                            struct step_row *ret_rows, size_t room, size_t *ret_count,
                            bool *ret_is_all, cairn_error *reterr)
{
    cleanup(postgres_result_done) PGresult *result = NULL;
    struct postgres_session *session = postgres_session_of(tx);
    cairn_code code;
    if (session->sent == PG_CLAIM_STEPS) {
        code = postgres_take(session, &result, reterr);
    } else {
        struct postgres_params params = claim_params(tx, claim, wanted, heads, room);
        code = postgres_run(session, PG_CLAIM_STEPS, &params, &result, reterr);
    }
    if (code)
        return code;

    struct postgres_reader reader = {.result = result, .arena = tx->arena};
    size_t count = 0, looked = (size_t)value_int(&reader, 0);
    size_t taken = (size_t)value_int(&reader, 1);
    for (; reader.row < PQntuples(result); reader.row++)
        if (!PQgetisnull(result, reader.row, 2))
            postgres_read_step(&reader, 2, &ret_rows[count++]);
    *ret_is_all = looked < heads && taken == count;
    *ret_count = count;
    return reader.failed ? fail_memory(reterr) : CAIRN_OK;
}

static bool is_held_by(const struct step_row *row, const struct step_holder *holder)
{
    return strcmp(row->token, holder->token) == 0 &&
           strcmp(row->locked_by, holder->worker) == 0;
}

/* Those of `room` holders that have got none of these rows, in order: a row that changed meanwhile
 * was passed over, and so was its holder. */
static cairn_code drop_holders(struct store_tx *tx, struct step_claim *claim, size_t room,
                               const struct step_row *rows, size_t count, cairn_error *reterr)
{
    size_t left = 0, at = 0;
    struct step_holder *holders = arena_array(tx->arena, room, sizeof *holders);
    bool *is_seen = arena_array(tx->arena, count, sizeof *is_seen);
    if (!holders || !is_seen)
        return fail_memory(reterr);
    for (size_t i = 0; i < room; i++) {
        for (at = 0; at < count; at++)
            if (!is_seen[at] && is_held_by(&rows[at], &claim->holders[i]))
                break;
        if (at < count)
            is_seen[at] = true;
        else
            holders[left++] = claim->holders[i];
    }
    claim->holders = holders;
    return CAIRN_OK;
}

cairn_code postgres_claim_steps(struct store_tx *tx, const struct step_claim *claim,
                                struct step_row *ret_rows, size_t room, size_t *ret_count,
                                cairn_error *reterr)
{
    struct wanted wanted = {0};
    struct step_claim rest = *claim;
    size_t count = 0;
    bool is_all = false;
    cairn_code code = sort_wanted(tx->arena, claim, &wanted, reterr);
    for (size_t heads = room + POSTGRES_SPARE_HEADS; !code && count < room && !is_all;
         heads *= 2) {
        size_t more = 0;
        code = try_claim(tx, &rest, &wanted, heads, ret_rows + count, room - count, &more,
                         &is_all, reterr);
        bool is_more = !code && count + more < room && !is_all;
        if (is_more && rest.holders)
            code = drop_holders(tx, &rest, room - count, ret_rows + count, more, reterr);
        count += more;
    }
    if (count > 0)
        postgres_note_flow_due(tx, claim->base.lease_until_us + 1);
    *ret_count = count;
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

cairn_code postgres_list_ready_functions(struct store_tx *tx, struct ready_function *ret_functions,
                                      size_t room, size_t *ret_count, cairn_error *reterr)
{
    cleanup(postgres_result_done) PGresult *result = NULL;
    struct postgres_params params = {.arena = tx->arena};
    param_int(&params, (int64_t)room);
    cairn_code code = postgres_run(postgres_session_of(tx), PG_LIST_READY_FUNCTIONS, &params,
                                   &result, reterr);
    if (code)
        return code;
    struct postgres_reader reader = {.result = result, .arena = tx->arena};
    for (; reader.row < PQntuples(result); reader.row++)
        ret_functions[reader.row] = (struct ready_function){
            .name = value_text(&reader, 0),
            .version = (int32_t)value_int(&reader, 1),
            .since_us = value_time(&reader, 2),
        };
    *ret_count = (size_t)PQntuples(result);
    return reader.failed ? fail_memory(reterr) : CAIRN_OK;
}
