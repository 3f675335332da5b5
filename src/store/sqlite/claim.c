/* store/sqlite/claim.c - handing waiting jobs and ready steps to a worker, without walking the
 * backlog.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * The claim indexes hold what can be claimed, by type and then in the order of claiming.  An exact
 * type is one probe; a prefix is one probe for each type that has something waiting.  Of each type
 * only the heads are read, and of all heads the best `room` are kept.
 *
 * Waiting raises a step's priority, so no index holds the order of claiming steps.  But all steps of
 * one type, version and priority gain alike: among them the one that has waited longest leads, and
 * that is the order of the index.  So the winners are among the heads of each type, version and
 * priority, of which a type has 101 at most for each version of a function; what they have gained
 * is computed here.
 */
#include "base/error.h"
#include "base/mem.h"
#include "core/claim_order.h"
#include "core/counter.h"
#include "core/pattern.h"
#include "store/sqlite/known.h"

#include <string.h>

/* A row to claim: lowest rank first, then the earliest, then the lowest id. */
struct head {
    double rank;
    int64_t at_us, id;
};

/* A claim under way. */
struct claiming {
    struct store_tx *tx;
    const struct job_claim *claim;
    cairn_error *reterr;

    /* Finds the next type of a prefix, and offers the heads of a type. */
    enum query_number next_type;
    cairn_code (*collect)(struct claiming *claiming, const char *type);
    const struct step_claim *steps; /* the claim, if it is one of steps */
    const char *group;              /* of steps; NULL: those of types that have no lanes */
    bool is_counted;                /* a limit counts them */
    size_t kept;                    /* places of the room that are for steps in hand */
    struct claim_holder holder;     /* of the row that is being leased */
    int64_t event_id;               /* of its first event */

    struct head *heads; /* the best so far, in order */
    size_t count, room;
};

/* ---- The best heads ---------------------------------------------------------------------- */

static bool is_before(const struct head *a, const struct head *b)
{
    if (a->rank != b->rank)
        return a->rank < b->rank;
    return a->at_us != b->at_us ? a->at_us < b->at_us : a->id < b->id;
}

/* False: it is no better than those that are there. */
static bool offer(struct claiming *claiming, struct head head)
{
    struct head *heads = claiming->heads;
    if (claiming->count == claiming->room && !is_before(&head, &heads[claiming->count - 1]))
        return false;
    if (claiming->count < claiming->room)
        claiming->count++;
    size_t at = claiming->count - 1; /* if there was no room, the last one gives way */
    for (; at > 0 && is_before(&head, &heads[at - 1]); at--)
        heads[at] = heads[at - 1];
    heads[at] = head;
    return true;
}

/* ---- Types ------------------------------------------------------------------------------- */

/* The first type of a range with something to claim; *ret_type NULL: none. */
static cairn_code next_type(const struct claiming *claiming, struct type_range range,
                            const char **ret_type)
{
    cleanup(query_end) struct query query =
        query_begin(claiming->tx, claiming->next_type, claiming->reterr);
    bind_type_range(&query, range);
    *ret_type = query_step(&query) == SQLITE_ROW ? result_text(&query, 0) : NULL;
    return query_ended(&query);
}

/* All types of a prefix, except those that one of the first `done` patterns has covered. */
static cairn_code collect_prefix(struct claiming *claiming, const char *prefix, size_t done)
{
    struct arena *arena = claiming->tx->arena;
    struct type_range range;
    if (!type_range(prefix, arena, &range))
        return fail_memory(claiming->reterr);

    for (;;) {
        const char *type;
        cairn_code code = next_type(claiming, range, &type);
        if (code || !type)
            return code;
        if (!pattern_matches_any(claiming->claim->patterns, done, type))
            TRY(claiming->collect(claiming, type));
        range.from = type_after(type, arena);
        if (!range.from)
            return fail_memory(claiming->reterr);
    }
}

/* Offers the heads of each type that a claim names, each type once: an exact one whether or not it
 * has anything waiting. */
static cairn_code collect_types(struct claiming *claiming)
{
    const struct job_claim *claim = claiming->claim;
    for (size_t i = 0; i < claim->pattern_count; i++) {
        const char *pattern = claim->patterns[i];
        if (pattern_is_prefix(pattern))
            TRY(collect_prefix(claiming, pattern, i));
        else if (!pattern_matches_any(claim->patterns, i, pattern))
            TRY(claiming->collect(claiming, pattern));
    }
    return CAIRN_OK;
}

/* ---- Jobs -------------------------------------------------------------------------------- */

/* A type of which nothing was found may have lanes, which are claimed otherwise. */
static cairn_code note_lanes(const struct claiming *claiming, const char *type)
{
    bool is_laned;
    if (!claiming->claim->is_laned || *claiming->claim->is_laned)
        return CAIRN_OK;
    TRY(sqlite_is_laned(claiming->tx, type, claiming->claim->runtime, &is_laned,
                        claiming->reterr));
    *claiming->claim->is_laned = is_laned;
    return CAIRN_OK;
}

static cairn_code collect_jobs(struct claiming *claiming, const char *type)
{
    bool is_empty = true;
    cleanup(query_end) struct query query =
        query_begin(claiming->tx, Q_CLAIM_HEADS, claiming->reterr);
    bind_text(&query, ":type", type);
    bind_text(&query, ":runtime", claiming->claim->runtime);
    bind_size(&query, ":room", claiming->room);
    while (query_step(&query) == SQLITE_ROW) {
        struct head head = {.rank = (double)sqlite3_column_int64(query.handle, 0),
                            .id = sqlite3_column_int64(query.handle, 1)};
        is_empty = false;
        if (!offer(claiming, head))
            return CAIRN_OK; /* and neither are those that come after it */
    }
    TRY(query_ended(&query));
    return is_empty ? note_lanes(claiming, type) : CAIRN_OK;
}

static cairn_code read_head(struct claiming *claiming, enum query_number number, int64_t id,
                            const struct row_type *type, void *ret_row)
{
    cleanup(query_end) struct query query = query_begin(claiming->tx, number, claiming->reterr);
    bind_int(&query, ":id", id);
    if (query_step(&query) != SQLITE_ROW)
        return query_refused(&query);
    row_read(&query, type, ret_row);
    return query_ended(&query);
}

/* Who leases the row with this number, in texts that live as long as the rows. */
static bool keep_holder(struct claiming *claiming, size_t number)
{
    const struct job_claim *claim = claiming->claim;
    struct arena *arena = claiming->tx->arena;
    struct claim_holder *last = &claiming->holder;
    const char *worker = claim->holders ? claim->holders[number].worker : claim->worker;
    const char *token = claim->holders ? claim->holders[number].token : claim->token;
    if (last->token && strcmp(last->token, token) == 0 && strcmp(last->worker, worker) == 0)
        return true;
    claiming->holder = (struct claim_holder){.worker = arena_strdup(arena, worker),
                                             .token = arena_strdup(arena, token)};
    return claiming->holder.worker && claiming->holder.token;
}

/* The best of the one type that a claim names, whole. */
static cairn_code read_type(const struct claiming *claiming, struct job_row *ret_rows,
                            size_t *ret_count)
{
    cleanup(query_end) struct query query =
        query_begin(claiming->tx, Q_CLAIM_ROWS, claiming->reterr);
    bind_text(&query, ":type", claiming->claim->patterns[0]);
    bind_text(&query, ":runtime", claiming->claim->runtime);
    TRY(rows_read(&query, &job_row_type, ret_rows, claiming->room, ret_count));
    return *ret_count ? CAIRN_OK : note_lanes(claiming, claiming->claim->patterns[0]);
}

static cairn_code read_best(struct claiming *claiming, struct job_row *ret_rows,
                            size_t *ret_count)
{
    const struct job_claim *claim = claiming->claim;
    if (claim->pattern_count == 1 && !pattern_is_prefix(claim->patterns[0]))
        return read_type(claiming, ret_rows, ret_count);
    claiming->count = 0;
    TRY(collect_types(claiming));
    for (size_t i = 0; i < claiming->count; i++)
        TRY(read_head(claiming, Q_READ_JOB, claiming->heads[i].id, &job_row_type,
                      &ret_rows[i]));
    *ret_count = claiming->count;
    return CAIRN_OK;
}

static void lease_row(struct claiming *claiming, struct job_row *row)
{
    row->status = JOB_LEASED;
    row->is_ready = false;
    row->leased_by = claiming->holder.worker;
    row->token = claiming->holder.token;
    row->lease_until_us = claiming->claim->lease_until_us;
    row->updated_at_us = claiming->tx->now_us;
    row->prev_event = row->last_event;
    row->event_count = counter_of((int64_t)row->event_count + claiming->claim->events_each);
    claiming->event_id += claiming->claim->events_each;
    if (claiming->claim->events_each)
        row->last_event = claiming->event_id - 1;
}

/* Leases the best that are due, in memory, and puts the others aside, which somebody inserted as ready
 * before their time. */
static cairn_code lease_rows(struct claiming *claiming, const struct job_row *best,
                             size_t count, struct job_row *ret_rows, size_t *leased)
{
    struct store_tx *tx = claiming->tx;
    for (size_t i = 0; i < count; i++) {
        if (best[i].run_at_us > tx->now_us) {
            TRY(rows_write(tx, Q_POSTPONE_JOB, &job_row_type, &best[i], 1, claiming->reterr));
            continue;
        }
        if (!keep_holder(claiming, *leased))
            return fail_memory(claiming->reterr);
        ret_rows[*leased] = best[i];
        lease_row(claiming, &ret_rows[(*leased)++]);
    }
    return CAIRN_OK;
}

/* Of rows that were leased: how many of the first follow each other and are written alike, for the same
 * holder, whose texts keep_holder() has once. */
static size_t run_of(const struct job_row *rows, size_t count)
{
    size_t run = 1;
    while (run < count && rows[run].seq == rows[0].seq + (int64_t)run &&
           rows[run].token == rows[0].token && rows[run].is_counted == rows[0].is_counted)
        run++;
    return run;
}

static cairn_code write_run(const struct claiming *claiming, const struct job_row *rows,
                            size_t count)
{
    cleanup(query_end) struct query query =
        query_begin(claiming->tx, Q_LEASE_JOBS, claiming->reterr);
    row_bind(&query, &job_row_type, &rows[0]);
    bind_int(&query, ":last_seq", rows[count - 1].seq);
    bind_int(&query, ":event_id", rows[0].last_event);
    bind_int(&query, ":each", claiming->claim->events_each);
    return query_run(&query);
}

/* Leases rows that were found, in memory and in the store. */
static cairn_code lease_found(struct claiming *claiming, const struct job_row *found,
                              size_t found_count, struct job_row *ret_rows, size_t *count)
{
    size_t before = *count;
    TRY(lease_rows(claiming, found, found_count, ret_rows, count));
    for (size_t i = before, run; i < *count; i += run) {
        run = run_of(&ret_rows[i], *count - i);
        TRY(write_run(claiming, &ret_rows[i], run));
    }
    return CAIRN_OK;
}

cairn_code sqlite_lease_jobs(struct store_tx *tx, const struct job_claim *claim,
                             const struct job_row *found, size_t found_count,
                             struct job_row *ret_rows, size_t *ret_count, cairn_error *reterr)
{
    struct claiming claiming = {
        .tx = tx, .claim = claim, .event_id = claim->event_id, .reterr = reterr};
    *ret_count = 0;
    return lease_found(&claiming, found, found_count, ret_rows, ret_count);
}

/* One round: the best are leased.  *ret_again: some were not, so look again. */
static cairn_code claim_round(struct claiming *claiming, struct job_row *ret_rows, size_t room,
                              size_t *count, bool *ret_again)
{
    size_t found = 0, before = *count;
    claiming->room = room - before;
    struct job_row *best = arena_room(claiming->tx->arena, claiming->room, sizeof *best);
    if (!best)
        return fail_memory(claiming->reterr);
    TRY(read_best(claiming, best, &found));
    TRY(lease_found(claiming, best, found, ret_rows, count));
    *ret_again = *count < before + found;
    return CAIRN_OK;
}

cairn_code sqlite_claim_jobs(struct store_tx *tx, const struct job_claim *claim,
                             struct job_row *ret_rows, size_t room, size_t *ret_count,
                             cairn_error *reterr)
{
    struct claiming claiming = {.tx = tx,
                                .claim = claim,
                                .event_id = claim->event_id,
                                .reterr = reterr,
                                .next_type = Q_NEXT_TYPE,
                                .collect = collect_jobs,
                                .heads = arena_room(tx->arena, room, sizeof(struct head))};
    if (!claiming.heads)
        return fail_memory(reterr);

    *ret_count = 0;
    for (bool again = true; again && *ret_count < room;)
        TRY(claim_round(&claiming, ret_rows, room, ret_count, &again));
    return CAIRN_OK;
}

/* ---- Steps ------------------------------------------------------------------------------- */

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
        query_begin(claiming->tx, Q_NEXT_STEP_TURN, claiming->reterr);
    bind_text(&query, ":type", turn->type);
    bind_text(&query, ":runtime", claiming->claim->runtime);
    bind_text(&query, ":group", claiming->group ? claiming->group : "");
    bind_int(&query, ":is_lane", claiming->group != NULL);
    bind_int(&query, ":version", turn->version);
    bind_int(&query, ":priority", turn->priority);
    bind_int(&query, ":from_version", from_version);
    turn->version = -1;
    if (query_step(&query) == SQLITE_ROW) {
        turn->version = sqlite3_column_int64(query.handle, 0);
        turn->priority = sqlite3_column_int64(query.handle, 1);
    }
    return query_ended(&query);
}

/* Whether a row comes before the steps in hand, if there are any. */
static bool is_before_hand(const struct claiming *claiming, const struct head *head)
{
    const struct steps_in_hand *in_hand = claiming->steps->in_hand;
    struct claim_key key = {.priority = -(int64_t)head->rank,
                            .since_us = head->at_us,
                            .instance_seq = head->id / PLACES_MAX,
                            .seq = (int32_t)(head->id % PLACES_MAX)};
    return !in_hand || claim_is_before(&key, &in_hand->first);
}

static cairn_code collect_turn(struct claiming *claiming, const struct turn *turn)
{
    size_t behind = 0; /* those in hand, and there is no place for more of them */
    cleanup(query_end) struct query query =
        query_begin(claiming->tx, Q_CLAIM_STEP_HEADS, claiming->reterr);
    bind_text(&query, ":type", turn->type);
    bind_text(&query, ":group", claiming->group ? claiming->group : "");
    bind_int(&query, ":version", turn->version);
    bind_int(&query, ":priority", turn->priority);
    bind_size(&query, ":room", claiming->room);
    while (query_step(&query) == SQLITE_ROW) {
        struct head head = {.at_us = sqlite3_column_int64(query.handle, 0),
                            .id = sqlite3_column_int64(query.handle, 1)};
        head.rank =
            (double)-step_effective_priority((int32_t)turn->priority, head.at_us,
                                             claiming->tx->now_us, claiming->steps->aging_rate);
        behind += !is_before_hand(claiming, &head);
        if (behind > claiming->room - claiming->kept || !offer(claiming, head))
            return CAIRN_OK; /* and neither are those that come after it */
    }
    return query_ended(&query);
}

/* Offers the best of some versions of a type. */
static cairn_code collect_versions(struct claiming *claiming, const char *type, int64_t from,
                                   int64_t to)
{
    struct turn turn = {.type = type, .version = to, .priority = INT64_MAX};
    for (bool is_empty = true;; turn.priority--, is_empty = false) {
        TRY(next_turn(claiming, from, &turn));
        if (turn.version < 0)
            return is_empty ? note_lanes(claiming, type) : CAIRN_OK;
        TRY(collect_turn(claiming, &turn));
    }
}

static cairn_code collect_steps(struct claiming *claiming, const char *type)
{
    return collect_versions(claiming, type, 0, INT32_MAX);
}

/* Leases a step in memory. */
static cairn_code lease_head(struct claiming *claiming, const struct head *head,
                             struct step_row *ret_row)
{
    struct store_tx *tx = claiming->tx;
    if (!known_step(tx, head->id, ret_row) || !ret_row->instance_id) {
        TRY(read_head(claiming, Q_READ_CLAIMED_STEP, head->id, &step_row_type, ret_row));
        known_put_step(tx, ret_row);
    }
    step_lease(ret_row, claiming->holder.worker, claiming->holder.token,
               claiming->claim->lease_until_us, tx->now_us);
    ret_row->is_counted = claiming->is_counted;
    return CAIRN_OK;
}

/* Leases the heads, the best first, each to its holder.  Behind those that come before the steps in hand
 * are the places of these. */
static cairn_code take_steps(struct claiming *claiming, struct step_row *ret_rows,
                             size_t *ret_count)
{
    for (size_t i = 0; i < claiming->count; i++) {
        const struct head *head = &claiming->heads[i];
        size_t place = i + (is_before_hand(claiming, head) ? 0 : claiming->kept);
        if (place >= claiming->room)
            break;
        if (!keep_holder(claiming, place))
            return fail_memory(claiming->reterr);
        TRY(lease_head(claiming, head, &ret_rows[i]));
        *ret_count = i + 1;
    }
    return sqlite_update_steps(claiming->tx, ret_rows, *ret_count, claiming->reterr);
}

/* ---- Steps in hand ----------------------------------------------------------------------- */

static cairn_code ask_registry(const struct claiming *claiming, struct type_in_hand *type)
{
    cleanup(query_end) struct query query =
        query_begin(claiming->tx, Q_IS_BLOCKED, claiming->reterr);
    bind_text(&query, ":type", type->name);
    bind_text(&query, ":runtime", claiming->claim->runtime);
    if (query_step(&query) == SQLITE_ROW) {
        bool is_barred = sqlite3_column_int(query.handle, 0) != 0;
        type->is_laned = !is_barred && sqlite3_column_int(query.handle, 1) != 0;
        type->is_blocked = is_barred || type->is_laned;
    }
    if (type->is_laned && claiming->claim->is_laned)
        *claiming->claim->is_laned = true;
    return query_ended(&query);
}

static cairn_code keep_places(struct claiming *claiming)
{
    struct steps_in_hand *in_hand = claiming->steps->in_hand;
    for (size_t i = 0; in_hand && i < in_hand->type_count; i++) {
        TRY(ask_registry(claiming, &in_hand->types[i]));
        if (!in_hand->types[i].is_blocked)
            claiming->kept += in_hand->types[i].count;
    }
    if (in_hand && (in_hand->is_alone || claiming->kept > claiming->room))
        claiming->kept = claiming->room;
    return CAIRN_OK;
}

cairn_code sqlite_claim_steps(struct store_tx *tx, const struct step_claim *claim,
                              struct step_row *ret_rows, size_t room, size_t *ret_count,
                              cairn_error *reterr)
{
    struct claiming claiming = {.tx = tx,
                                .claim = &claim->base,
                                .steps = claim,
                                .reterr = reterr,
                                .next_type = Q_NEXT_TASK_TYPE,
                                .collect = collect_steps,
                                .heads = arena_room(tx->arena, room, sizeof(struct head)),
                                .room = room};
    *ret_count = 0;
    if (!claiming.heads)
        return fail_memory(reterr);
    if (room == 0)
        return CAIRN_OK;
    TRY(keep_places(&claiming));
    TRY(collect_types(&claiming));
    for (size_t i = 0; i < claim->function_count; i++) {
        const struct function_range *range = &claim->functions[i];
        TRY(collect_versions(&claiming, range->name, range->from, range->to));
    }
    return take_steps(&claiming, ret_rows, ret_count);
}

/* ---- Steps of lanes ---------------------------------------------------------------------- */

/* What of a lane is claimed next, best first. */
static cairn_code read_lane(struct claiming *claiming, const struct lane *lane,
                            struct head **ret_heads)
{
    claiming->heads = arena_room(claiming->tx->arena, lane->quota, sizeof(struct head));
    if (!claiming->heads)
        return fail_memory(claiming->reterr);
    claiming->count = 0;
    claiming->room = lane->quota;
    claiming->group = lane->group;
    *ret_heads = claiming->heads;
    return collect_versions(claiming, lane->type, lane->first, lane->last);
}

cairn_code sqlite_claim_step_lanes(struct store_tx *tx, const struct step_claim *claim,
                                   const struct lane *lanes, size_t lane_count,
                                   struct step_row *ret_rows, size_t room, size_t *ret_count,
                                   cairn_error *reterr)
{
    struct claiming claiming = {
        .tx = tx, .claim = &claim->base, .steps = claim, .reterr = reterr};
    struct head **heads = arena_array(tx->arena, lane_count, sizeof *heads);
    size_t *counts = arena_array(tx->arena, lane_count, sizeof *counts), left = 0;
    if (!heads || !counts)
        return fail_memory(reterr);
    for (size_t i = 0; i < lane_count; i++) {
        TRY(read_lane(&claiming, &lanes[i], &heads[i]));
        counts[i] = claiming.count;
        left += counts[i];
    }
    *ret_count = 0;
    for (size_t rank = 0; left > 0 && *ret_count < room; rank++)
        for (size_t i = 0; i < lane_count; i++) {
            if (rank >= counts[i])
                continue;
            if (!keep_holder(&claiming, *ret_count))
                return fail_memory(reterr);
            claiming.is_counted = lanes[i].is_counted;
            TRY(lease_head(&claiming, &heads[i][rank], &ret_rows[*ret_count]));
            ++*ret_count;
            left--;
        }
    return sqlite_update_steps(tx, ret_rows, *ret_count, reterr);
}

/* ---- Claims that were made, and types that have something waiting ------------------------ */

static cairn_code find_claimed(struct store_tx *tx, enum query_number number,
                               const char *worker, const char *token,
                               const struct row_type *type, void *ret_rows, size_t room,
                               size_t *ret_count, cairn_error *reterr)
{
    cleanup(query_end) struct query query = query_begin(tx, number, reterr);
    bind_text(&query, ":worker", worker);
    bind_text(&query, ":token", token);
    return rows_read(&query, type, ret_rows, room, ret_count);
}

cairn_code sqlite_find_claimed(struct store_tx *tx, const char *worker, const char *token,
                               struct job_row *ret_rows, size_t room, size_t *ret_count,
                               cairn_error *reterr)
{
    return find_claimed(tx, Q_FIND_CLAIMED, worker, token, &job_row_type, ret_rows, room,
                        ret_count, reterr);
}

cairn_code sqlite_find_claimed_steps(struct store_tx *tx, const char *worker, const char *token,
                                     struct step_row *ret_rows, size_t room, size_t *ret_count,
                                     cairn_error *reterr)
{
    return find_claimed(tx, Q_FIND_CLAIMED_STEPS, worker, token, &step_row_type, ret_rows, room,
                        ret_count, reterr);
}

cairn_code sqlite_list_ready_types(struct store_tx *tx, struct ready_type *ret_types,
                                   size_t room, size_t *ret_count, cairn_error *reterr)
{
    size_t count = 0;
    cleanup(query_end) struct query query = query_begin(tx, Q_LIST_READY_TYPES, reterr);
    bind_size(&query, ":room", room);
    for (; count < room && query_step(&query) == SQLITE_ROW; count++)
        ret_types[count] =
            (struct ready_type){.name = result_text(&query, 0),
                                .version = sqlite3_column_int(query.handle, 1),
                                .since_us = sqlite3_column_int64(query.handle, 2),
                                .instance_id = result_text(&query, 3)};
    *ret_count = count;
    return query_ended(&query);
}
