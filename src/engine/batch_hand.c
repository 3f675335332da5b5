/* engine/batch_hand.c - steps for claims: from the store, and those that the batch has in hand.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * A report completes a step, and the next one can be claimed.  If a claim of the same batch asks for it, it
 * is given away before it was ever written as ready: its row is written once, running.
 *
 * The order of claims stays what it is: the highest effective priority goes first.  So the store is asked
 * first for steps that come before those in hand, which mostly brings nothing; then those in hand are given
 * away; then the store is asked for the others.  Among equals those in hand go first.  For a claim of 5:
 *
 *      in the store                            60 50 50     60 50 40     70 60 40
 *      in hand                                 50 50        50           80 50
 *      ----------------------------------------------------------------------------
 *      1. ask for what comes before            60           60           -
 *         give away those in hand              50 50        50           80
 *         others, by the same question         50 50        50 40        -
 *      2. ask for what comes before the next                             70 60
 *         give it away, and so on                                        50, 40
 *
 * The places of those in hand are left free by the question, so that each claim of a group gets what it
 * would get by itself.  The same question tells which of their types the registry blocks.
 */
#include "engine/limit.h"
#include "engine/workset.h"

#include <string.h>

/* Steps in hand that stand together, for one demand: the best that are left. */
struct turn_in_hand {
    struct step_in_hand **steps;
    size_t count;
    struct steps_in_hand told; /* to the store */
    bool has_unknown;          /* the store has not told yet whether a type is blocked */
};

/* ---- types ---------------------------------------------------------------------------------- */

static struct type_in_hand *find_type(struct type_in_hand *types, size_t count,
                                      const char *name)
{
    for (size_t i = 0; i < count; i++)
        if (strcmp(types[i].name, name) == 0)
            return &types[i];
    return NULL;
}

static bool is_blocked(const struct demand *demand, const char *type)
{
    const struct type_in_hand *known =
        find_type(demand->known_types.items, demand->known_types.count, type);
    return known && known->is_blocked;
}

static cairn_code learn_types(struct batch *batch, struct demand *demand,
                              const struct steps_in_hand *told)
{
    for (size_t i = 0; i < told->type_count; i++) {
        if (find_type(demand->known_types.items, demand->known_types.count,
                      told->types[i].name))
            continue;
        struct type_in_hand *known = list_add(&batch->arena, &demand->known_types);
        NEED(known, batch->error);
        *known = told->types[i];
    }
    return CAIRN_OK;
}

/* ---- whose turn it is ----------------------------------------------------------------------- */

static bool is_meant(const struct demand *demand, const struct step_in_hand *in_hand)
{
    const struct step_row *row = &in_hand->step->row;
    return !in_hand->is_given && claim_names(demand->claim, row->task_type, row->version) &&
           !is_blocked(demand, row->task_type);
}

/* Where equals of the store stand behind those in hand. */
static struct claim_key key_of(const struct batch *batch, const struct step_in_hand *in_hand)
{
    return batch->engine->is_order_strict
               ? in_hand->key
               : (struct claim_key){.priority = in_hand->key.priority};
}

static bool is_together(const struct claim_key *a, const struct claim_key *b)
{
    return !claim_is_before(a, b) && !claim_is_before(b, a);
}

static void add_to_turn(const struct demand *demand, struct turn_in_hand *turn,
                        struct step_in_hand *in_hand)
{
    const char *name = in_hand->step->row.task_type;
    struct steps_in_hand *told = &turn->told;
    struct type_in_hand *type = find_type(told->types, told->type_count, name);
    if (!type) {
        type = &told->types[told->type_count++];
        *type = (struct type_in_hand){.name = name};
        turn->has_unknown |=
            !find_type(demand->known_types.items, demand->known_types.count, name);
    }
    type->count++;
    turn->steps[turn->count++] = in_hand;
}

/* The steps in hand whose turn it is, at most `room`; none: count is 0. */
static cairn_code choose_turn(struct batch *batch, const struct demand *demand, size_t room,
                              struct turn_in_hand *ret_turn)
{
    size_t most = batch->in_hand.count < room ? batch->in_hand.count : room;
    *ret_turn = (struct turn_in_hand){
        .steps = arena_room(&batch->arena, most, sizeof *ret_turn->steps),
        .told.types = arena_room(&batch->arena, most, sizeof *ret_turn->told.types)};
    NEED(ret_turn->steps && ret_turn->told.types, batch->error);
    for (size_t i = 0; i < batch->in_hand.count; i++) {
        struct step_in_hand *in_hand = &batch->in_hand.items[i];
        struct claim_key key = key_of(batch, in_hand);
        if (!is_meant(demand, in_hand))
            continue;
        if (ret_turn->count == 0)
            ret_turn->told.first = key;
        if (ret_turn->count == room || !is_together(&ret_turn->told.first, &key)) {
            ret_turn->told.is_alone = true;
            break;
        }
        add_to_turn(demand, ret_turn, in_hand);
    }
    ret_turn->told.is_alone |= ret_turn->count == room;
    return CAIRN_OK;
}

/* Whether the store could have something for this turn. */
static bool must_ask(const struct demand *demand, const struct turn_in_hand *turn)
{
    bool has_before = claim_is_before(&demand->none_before, &turn->told.first);
    bool is_empty = demand->none_before.priority == CLAIM_LAST.priority;
    if (turn->count && turn->told.is_alone)
        return turn->has_unknown || has_before;
    return turn->has_unknown || !is_empty;
}

/* ---- a turn --------------------------------------------------------------------------------- */

/* Asks the store, and gives what comes before the turn. */
static cairn_code ask(struct batch *batch, struct claim_group *group, struct turn_in_hand *turn,
                      struct step_row *rows, size_t room, size_t *ret_count, size_t *ret_before)
{
    struct demand *demand = group->shares->request->demand;
    double aging_rate = batch->engine->base.options.aging_rate;
    size_t kept = 0;
    TRY(claim_lease_steps(batch, group, turn->count ? &turn->told : NULL, rows, room,
                          ret_count));
    TRY(learn_types(batch, demand, &turn->told));
    for (size_t i = 0; i < turn->count; i++)
        kept += !is_blocked(demand, turn->steps[i]->step->row.task_type);
    for (*ret_before = 0; turn->count && *ret_before < *ret_count; ++*ret_before) {
        struct claim_key key = claim_key_of(&rows[*ret_before], batch->tx->now_us, aging_rate);
        if (!claim_is_before(&key, &turn->told.first))
            break;
    }
    bool is_all = !turn->told.is_alone && *ret_count + kept < room;
    if (turn->count && turn->told.is_alone) {
        demand->habit->is_hand_known = *ret_count == 0;
        demand->habit->hand_priority = turn->told.first.priority;
    }
    if (is_all)
        demand->none_before = CLAIM_LAST;
    else if (turn->count && *ret_before < room)
        demand->none_before = turn->told.first;
    return claim_give_leased(batch, group, rows, *ret_before);
}

/* ---- ahead ---------------------------------------------------------------------------------------
 *
 * Where one step follows the other, a batch has about as many steps in hand as its claims ask for, and of the
 * priority that those of the batch before had.  So whether the store has something better is asked before they are known,
 * together with the locks.  What turns out otherwise is asked again.
 */

static struct request *first_claim(const struct batch *batch)
{
    for_each_request (request, batch)
        if (!request->code && !request->was_unsure && request_is_claiming(request) &&
            !request_claim(request)->runtime)
            return request;
    return NULL;
}

cairn_code claim_look_ahead(struct batch *batch)
{
    struct request *first = first_claim(batch);
    struct claim_share share = {.request = first, .room = 1};
    struct claim_group group = {.shares = &share, .count = 1, .room = 1};
    struct steps_in_hand *told = &batch->before.told;
    struct step_claim wanted;
    if (!first || batch->engine->is_order_strict || !batch->ops->look_for_tasks)
        return CAIRN_OK;
    TRY(batch_find_demand(batch, first));
    struct demand *demand = first->demand;
    if (!demand->habit->is_hand_known || lanes_are_known(batch, demand, CLAIM_STEPS))
        return CAIRN_OK;
    size_t count = claim_name_count(demand->claim);
    *told =
        (struct steps_in_hand){.first.priority = demand->habit->hand_priority,
                               .types = arena_array(&batch->arena, count, sizeof *told->types),
                               .is_alone = true};
    NEED(told->types, batch->error);
    for (size_t i = 0; i < count; i++)
        if (!find_type(told->types, told->type_count, claim_name(demand->claim, i)))
            told->types[told->type_count++] =
                (struct type_in_hand){.name = claim_name(demand->claim, i)};
    batch->before.demand = demand;
    TRY(claim_want_steps(batch, &group, &wanted));
    wanted.in_hand = told;
    return STORE(batch, look_for_tasks, &wanted, true, &batch->before.is_any);
}

cairn_code claim_looked_ahead(struct batch *batch)
{
    struct demand *demand = batch->before.demand;
    if (!demand || batch->before.is_any)
        return CAIRN_OK;
    demand->none_before = batch->before.told.first;
    return learn_types(batch, demand, &batch->before.told);
}

static cairn_code take_turn(struct batch *batch, struct claim_group *group,
                            struct turn_in_hand *turn, size_t room)
{
    const struct demand *demand = group->shares->request->demand;
    size_t count = 0, before = 0;
    struct step_row *rows = arena_room(&batch->arena, room, sizeof *rows);
    NEED(rows, batch->error);
    if (must_ask(demand, turn))
        TRY(ask(batch, group, turn, rows, room, &count, &before));
    size_t left = room - count;
    for (size_t i = 0; i < turn->count && left > 0; i++) {
        if (is_blocked(demand, turn->steps[i]->step->row.task_type))
            continue;
        TRY(claim_give_in_hand(batch, group, turn->steps[i]));
        left--;
    }
    return claim_give_leased(batch, group, rows + before, count - before);
}

/* What is leased already to a claim whose commit had an unknown end. */
static cairn_code find_leased(struct batch *batch, struct claim_group *group, size_t room)
{
    size_t count = 0;
    struct step_row *rows = arena_room(&batch->arena, room, sizeof *rows);
    NEED(rows, batch->error);
    TRY(claim_lease_steps(batch, group, NULL, rows, room, &count));
    return claim_give_leased(batch, group, rows, count);
}

/* ---- lanes ---------------------------------------------------------------------------------- */

static bool is_laned(const struct demand *demand, const struct step_in_hand *in_hand)
{
    const struct step_row *row = &in_hand->step->row;
    const struct type_in_hand *known =
        find_type(demand->known_types.items, demand->known_types.count, row->task_type);
    return !in_hand->is_given && ((row->group && *row->group) || (known && known->is_laned));
}

cairn_code claim_put_laned(struct batch *batch, const struct demand *demand)
{
    bool is_any = false;
    for (size_t i = 0; i < batch->in_hand.count; i++) {
        const struct step_in_hand *in_hand = &batch->in_hand.items[i];
        struct workset_instance *instance =
            is_laned(demand, in_hand) ? workset_find(batch, in_hand->step->row.instance_id)
                                      : NULL;
        if (instance)
            is_any = instance->is_early = true;
    }
    return is_any ? workset_write_early(batch) : CAIRN_OK;
}

/* Steps of types that have no lanes. */
static cairn_code take_plain(struct batch *batch, struct claim_group *group, size_t end)
{
    const struct request *first = group->shares->request;
    for (bool is_more = true; is_more && group->taken[CLAIM_STEPS] < end;) {
        struct turn_in_hand turn;
        TRY(choose_turn(batch, first->demand, end - group->taken[CLAIM_STEPS], &turn));
        TRY(take_turn(batch, group, &turn, end - group->taken[CLAIM_STEPS]));
        is_more = turn.count > 0;
    }
    return CAIRN_OK;
}

/* As for jobs: types with lanes and others share the room, and what one part leaves goes to the other. */
cairn_code claim_take_steps(struct batch *batch, struct claim_group *group, size_t room)
{
    const struct request *first = group->shares->request;
    size_t end = group->taken[CLAIM_STEPS] + room;
    if (first->was_unsure)
        return find_leased(batch, group, room);
    size_t part = lanes_part(batch, first->demand, CLAIM_STEPS, room);
    TRY(claim_take_lanes(batch, group, CLAIM_STEPS, part));
    if (group->taken[CLAIM_STEPS] == end)
        return CAIRN_OK;
    size_t before = group->taken[CLAIM_STEPS];
    TRY(take_plain(batch, group, end));
    lanes_seen(batch, first->demand, CLAIM_STEPS, first->demand->has_step_lanes,
               group->taken[CLAIM_STEPS] > before);
    if (!first->demand->has_step_lanes)
        return CAIRN_OK;
    return claim_take_lanes(batch, group, CLAIM_STEPS, end - group->taken[CLAIM_STEPS]);
}
