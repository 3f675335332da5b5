/* store/sqlite/flow_claim.c - handing ready steps to a worker, without walking the backlog.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * Waiting raises a step's priority, so no index holds the order of claiming.  But all steps of
 * one type, version and priority gain alike: among them the one that has waited longest leads, and
 * that is the order of the claim index.  So the winners are among the heads of each type, version
 * and priority, of which a type has 101 at most for each version of a function; what they have
 * gained is computed here.
 */
#include "base/error.h"
#include "base/mem.h"
#include "core/aging.h"
#include "store/sqlite/flow.h"
#include "store/sqlite/heads.h"

#include <assert.h>

/* What every part of a claim needs. */
struct claiming {
    struct store_tx *tx;
    const struct job_claim *claim;
    const struct step_holder *holders; /* NULL: `own` for all */
    struct step_holder own;            /* its texts live as long as the rows */
    double aging_rate;
    struct heads heads;
    cairn_error *reterr;
};

/* Steps that wait for the same workers and gain alike. */
struct turn {
    const char *type;
    int64_t version, priority;
};

/* The highest version and priority, up to those of *turn, that its type has something of; version
 * -1: none. */
static cairn_code next_turn(struct claiming *claiming, int64_t from_version, struct turn *turn)
{
    cleanup(query_end) struct query query =
        query_begin(sqlite_session_of(claiming->tx), Q_NEXT_STEP_TURN);
    bind_text(&query, ":type", turn->type);
    bind_text(&query, ":runtime", claiming->claim->runtime);
    bind_int(&query, ":version", turn->version);
    bind_int(&query, ":priority", turn->priority);
    bind_int(&query, ":from_version", from_version);
    turn->version = -1;
    if (query_step(&query) == SQLITE_ROW) {
        turn->version = sqlite3_column_int64(query.statement, 0);
        turn->priority = sqlite3_column_int64(query.statement, 1);
    }
    return query_ended(&query, "find ready steps", claiming->reterr);
}

static cairn_code collect_turn(struct claiming *claiming, const struct turn *turn)
{
    cleanup(query_end) struct query query =
        query_begin(sqlite_session_of(claiming->tx), Q_CLAIM_STEP_HEADS);
    bind_text(&query, ":type", turn->type);
    bind_int(&query, ":version", turn->version);
    bind_int(&query, ":priority", turn->priority);
    bind_size(&query, ":room", claiming->heads.room);
    while (query_step(&query) == SQLITE_ROW) {
        struct row_reader reader = {.query = &query};
        struct head head = {.at_us = read_int(&reader)};
        head.id = read_int(&reader);
        head.rank = -step_effective_priority((int32_t)turn->priority, head.at_us,
                                             claiming->tx->now_us, claiming->aging_rate);
        if (!heads_offer(&claiming->heads, head))
            return CAIRN_OK; /* and neither is what comes after it */
    }
    return query_ended(&query, "find ready steps", claiming->reterr);
}

/* Offers the best of some versions of a type. */
static cairn_code collect_versions(struct claiming *claiming, const char *type, int64_t from,
                                   int64_t to)
{
    struct turn turn = {.type = type, .version = to, .priority = INT64_MAX};
    for (;; turn.priority--) {
        cairn_code code = next_turn(claiming, from, &turn);
        if (code || turn.version < 0)
            return code;
        code = collect_turn(claiming, &turn);
        if (code)
            return code;
    }
}

/* For heads_visit_types(): offers the best of one type. */
static cairn_code collect_type(void *arg, const char *type)
{
    return collect_versions(arg, type, 0, INT32_MAX);
}

static cairn_code read_head(struct claiming *claiming, int64_t id, struct step_row *ret_row)
{
    cleanup(query_end) struct query query =
        query_begin(sqlite_session_of(claiming->tx), Q_READ_CLAIMED_STEP);
    bind_int(&query, ":id", id);
    if (query_step(&query) != SQLITE_ROW)
        return query_refused(&query, "read a ready step", claiming->reterr);
    return read_step(&query, claiming->tx->arena, NULL, ret_row, claiming->reterr);
}

static cairn_code write_lease(struct claiming *claiming, int64_t id,
                              const struct step_holder *holder)
{
    const struct job_claim *claim = claiming->claim;
    cleanup(query_end) struct query query =
        query_begin(sqlite_session_of(claiming->tx), Q_LEASE_STEP);
    bind_int(&query, ":id", id);
    bind_text(&query, ":worker", holder->worker);
    bind_text(&query, ":token", holder->token);
    bind_int(&query, ":lease_until", claim->lease_until_us);
    bind_int(&query, ":now", claiming->tx->now_us);
    return query_run(&query, "lease a step", claiming->reterr);
}

/* The row as lease_step.sql leaves it. */
static void apply_lease(const struct claiming *claiming, const struct step_holder *holder,
                        struct step_row *row)
{
    const struct job_claim *claim = claiming->claim;
    if (row->status == STEP_READY)
        row->status = STEP_RUNNING;
    row->is_ready = false;
    row->locked_by = holder->worker;
    row->token = holder->token;
    row->locked_until_us = claim->lease_until_us;
    row->due_at_us = claim->lease_until_us + 1;
    if (!row->started_at_us)
        row->started_at_us = claiming->tx->now_us;
    row->updated_at_us = claiming->tx->now_us;
}

/* For whom the index-th row is. */
static bool find_holder(const struct claiming *claiming, size_t index,
                        struct step_holder *ret_holder)
{
    if (!claiming->holders) {
        *ret_holder = claiming->own;
        return true;
    }
    ret_holder->worker = arena_strdup(claiming->tx->arena, claiming->holders[index].worker);
    ret_holder->token = arena_strdup(claiming->tx->arena, claiming->holders[index].token);
    return ret_holder->worker && ret_holder->token;
}

/* Leases the heads, the best first. */
static cairn_code take_heads(struct claiming *claiming, struct step_row *ret_rows)
{
    heads_sort(&claiming->heads);
    for (size_t i = 0; i < claiming->heads.count; i++) {
        int64_t id = claiming->heads.items[i].id;
        struct step_holder holder;
        if (!find_holder(claiming, i, &holder))
            return fail_memory(claiming->reterr);
        cairn_code code = read_head(claiming, id, &ret_rows[i]);
        if (!code)
            code = write_lease(claiming, id, &holder);
        if (code)
            return code;
        apply_lease(claiming, &holder, &ret_rows[i]);
    }
    return CAIRN_OK;
}

cairn_code sqlite_claim_steps(struct store_tx *tx, const struct step_claim *claim,
                              struct step_row *ret_rows, size_t room, size_t *ret_count,
                              cairn_error *reterr)
{
    assert(tx->session->kind == SESSION_WRITER);
    struct claiming claiming = {.tx = tx,
                                .claim = &claim->base,
                                .holders = claim->holders,
                                .aging_rate = claim->aging_rate,
                                .heads = {.room = room},
                                .reterr = reterr};
    claiming.heads.items = arena_array(tx->arena, room, sizeof(struct head));
    if (!claim->holders)
        claiming.own =
            (struct step_holder){.worker = arena_strdup(tx->arena, claim->base.worker),
                                 .token = arena_strdup(tx->arena, claim->base.token)};
    bool is_known = claim->holders || (claiming.own.worker && claiming.own.token);
    if (!is_known || !claiming.heads.items)
        return fail_memory(reterr);

    *ret_count = 0;
    if (room == 0)
        return CAIRN_OK;
    cairn_code code =
        heads_visit_types(tx, &claim->base, Q_NEXT_TASK_TYPE, collect_type, &claiming, reterr);
    for (size_t i = 0; i < claim->function_count && !code; i++) {
        const struct function_range *range = &claim->functions[i];
        code = collect_versions(&claiming, range->name, range->from, range->to);
    }
    if (!code)
        code = take_heads(&claiming, ret_rows);
    if (!code)
        *ret_count = claiming.heads.count;
    return code;
}

cairn_code sqlite_find_claimed_steps(struct store_tx *tx, const char *worker, const char *token,
                                     struct step_row *ret_rows, size_t room, size_t *ret_count,
                                     cairn_error *reterr)
{
    cleanup(query_end) struct query query =
        query_begin(sqlite_session_of(tx), Q_FIND_CLAIMED_STEPS);
    bind_text(&query, ":worker", worker);
    bind_text(&query, ":token", token);
    bind_size(&query, ":room", room);
    return read_steps(&query, tx, NULL, "find what a claim took", ret_rows, room, ret_count,
                      reterr);
}

cairn_code sqlite_list_ready_types(struct store_tx *tx, struct ready_type *ret_types,
                                   size_t room, size_t *ret_count, cairn_error *reterr)
{
    cleanup(query_end) struct query query =
        query_begin(sqlite_session_of(tx), Q_LIST_READY_TYPES);
    size_t count = 0;
    bind_size(&query, ":room", room);
    while (count < room && query_step(&query) == SQLITE_ROW) {
        struct row_reader reader = {.query = &query, .arena = tx->arena};
        ret_types[count].name = read_text(&reader);
        ret_types[count].version = (int32_t)read_int(&reader);
        ret_types[count].since_us = read_int(&reader);
        ret_types[count++].instance_id = read_text(&reader);
        if (reader.failed)
            return fail_memory(reterr);
    }
    if (query.rc != SQLITE_OK && query.rc != SQLITE_ROW && query.rc != SQLITE_DONE)
        return query_refused(&query, "list ready types", reterr);
    *ret_count = count;
    return CAIRN_OK;
}
