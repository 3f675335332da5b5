/* engine/batch_lane.c - claims of tasks whose groups take turns.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * A lane is the tasks of one type and group that can be claimed.  A claim goes round: from the group behind the one
 * that was served last to the last one, then from the first one on.  Each lane that all limits allow gives one task;
 * if there is room left after the round, those that are left give another one, and so on.  Within a lane the store
 * decides by priority and age.
 *
 *      limit: 2 for each group         b      c      a      b      c          after it
 *      leased before                   1      2      0      2      2          b 2, c 2, a 1
 *      a claim of 3, served last: a    1st    -      2nd    -      -          a: served last
 *
 * A lane that is listed has at least one task.  One that brings less than it was asked for is exhausted; what it was
 * allowed and did not take goes to the others.
 */
#include "base/error.h"
#include "engine/limit.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A claim that goes round. */
struct round {
    struct batch *batch;
    struct claim_group *group;
    enum claim_kind kind;
    struct step_claim wanted; /* of jobs: base alone */
    struct limits *limits;
    bool is_limited; /* one matters to this claim */
    struct demand *demand;
    LIST(struct lane) lanes;  /* that give something, in turn */
    size_t room, given;       /* given: all quotas */
    size_t shut;              /* lanes whose whole type was refused */
    bool has_last;            /* there is one */
    char last[GROUP_MAX + 1]; /* the group that was served last */
};

enum { LANES_AT_ONCE = 64 };

/* ---- what is remembered ---------------------------------------------------------------------- */

static struct lane_habit *habit_of(const struct batch *batch, const struct demand *demand,
                                   enum claim_kind kind)
{
    return &batch->engine->lane_habits[demand->habit - batch->committer->habits][kind];
}

size_t lanes_part(struct batch *batch, const struct demand *demand, enum claim_kind kind,
                  size_t room)
{
    struct lane_habit *habit = habit_of(batch, demand, kind);
    pthread_mutex_lock(&batch->engine->lock);
    bool is_alone = habit->no_plain_epoch == batch->ready_epochs[kind] &&
                    batch->began.wall_us < habit->no_plain_until_us &&
                    !batch->ready.is_made[kind];
    size_t part = !habit->has_lanes ? 0 : is_alone ? room : (room + habit->is_lanes_turn) / 2;
    habit->is_lanes_turn ^= !is_alone && room % 2;
    pthread_mutex_unlock(&batch->engine->lock);
    return part;
}

bool lanes_are_known(struct batch *batch, const struct demand *demand, enum claim_kind kind)
{
    pthread_mutex_lock(&batch->engine->lock);
    bool answer = habit_of(batch, demand, kind)->has_lanes;
    pthread_mutex_unlock(&batch->engine->lock);
    return answer;
}

void lanes_seen(struct batch *batch, const struct demand *demand, enum claim_kind kind,
                bool has_lanes, bool has_others)
{
    struct lane_habit *habit = habit_of(batch, demand, kind);
    pthread_mutex_lock(&batch->engine->lock);
    habit->has_lanes = has_lanes;
    habit->no_plain_until_us = has_others ? 0 : batch_empty_until_us(batch);
    habit->no_plain_epoch = batch->ready_epochs[kind];
    pthread_mutex_unlock(&batch->engine->lock);
}

/* Where the store keeps the turn; NULL: no limit matters, and each process has its own. */
static struct lane_turn *turn_of(const struct round *round)
{
    const struct batch *batch = round->batch;
    size_t number = (size_t)(round->demand->habit - batch->committer->habits);
    return round->is_limited ? &batch->turns[number * CLAIM_KINDS + round->kind] : NULL;
}

/* What is known before limits are read. */
static void recall(struct round *round)
{
    struct lane_habit *habit = habit_of(round->batch, round->demand, round->kind);
    pthread_mutex_lock(&round->batch->engine->lock);
    round->is_limited = habit->was_limited;
    round->has_last = habit->has_last;
    memcpy(round->last, habit->last_group, sizeof round->last);
    pthread_mutex_unlock(&round->batch->engine->lock);
}

static cairn_code remember(const struct round *round)
{
    struct lane_habit *habit = habit_of(round->batch, round->demand, round->kind);
    struct lane_turn *turn = turn_of(round);
    pthread_mutex_lock(&round->batch->engine->lock);
    habit->was_limited = round->is_limited;
    habit->has_last = round->has_last;
    memcpy(habit->last_group, round->last, sizeof round->last);
    pthread_mutex_unlock(&round->batch->engine->lock);
    if (!turn || !round->given)
        return CAIRN_OK;
    turn->group = arena_strdup(&round->batch->arena, round->last);
    NEED(turn->group, round->batch->error);
    turn->is_changed = true;
    return CAIRN_OK;
}

/* ---- which lanes ----------------------------------------------------------------------------- */

static int compare_groups(const void *one, const void *other)
{
    const struct lane *a = one, *b = other;
    int order = strcmp(a->group, b->group);
    return order ? order : strcmp(a->type, b->type);
}

static int compare_types(const void *one, const void *other)
{
    const struct lane *a = one, *b = other;
    int order = strcmp(a->type, b->type);
    return order ? order : strcmp(a->group, b->group);
}

/* Lets a lane give one more task, if all limits allow it. */
static cairn_code allow(struct round *round, const struct lane *lane, bool *ret_is_allowed)
{
    const struct limit_row *limit;
    struct demand *demand = round->demand;
    int64_t wait_us;
    NEED(limits_refuse(round->limits, lane->type, lane->group, &limit, &wait_us),
         round->batch->error);
    *ret_is_allowed = !limit;
    if (limit) {
        demand->is_limited[round->kind] = true;
        round->shut += !limit->is_per_group;
        if (wait_us && (!demand->token_in_us || wait_us < demand->token_in_us))
            demand->token_in_us = wait_us;
        return CAIRN_OK;
    }
    round->given++;
    NEED(limits_take(round->limits, lane->type, lane->group), round->batch->error);
    return CAIRN_OK;
}

static cairn_code add_lane(struct round *round, const struct lane *found)
{
    bool is_allowed = false;
    if (!found->is_void)
        TRY(allow(round, found, &is_allowed));
    if (!is_allowed)
        return CAIRN_OK;
    struct lane *lane = list_add(&round->batch->arena, &round->lanes);
    NEED(lane, round->batch->error);
    *lane = *found;
    lane->quota = 1;
    lane->is_counted = limits_match(round->limits, found->type);
    round->has_last = true;
    snprintf(round->last, sizeof round->last, "%s", found->group);
    return CAIRN_OK;
}

/* Without any, there is no list either. */
static void sort_lanes(struct lane *lanes, size_t count,
                       int (*compare)(const void *, const void *))
{
    if (count)
        qsort(lanes, count, sizeof *lanes, compare);
}

/* Of types that have more lanes than were listed, the groups behind the last one of each are not known yet.  The
 * first such group; NULL: all lanes were listed.  They are in order of type and group. */
static const char *cut_of(const struct lane *lanes, size_t count, size_t each)
{
    const char *cut = NULL;
    for (size_t i = 0, of_type = 0; i < count; i++) {
        bool is_same = i > 0 && strcmp(lanes[i].type, lanes[i - 1].type) == 0;
        of_type = is_same ? of_type + 1 : 1;
        if (of_type == each && (!cut || strcmp(lanes[i].group, cut) < 0))
            cut = lanes[i].group;
    }
    return cut;
}

static cairn_code list(struct round *round, const struct lane_range *range, size_t each,
                       struct lane **ret_lanes, size_t *ret_count)
{
    if (round->kind == CLAIM_STEPS)
        return STORE(round->batch, list_step_lanes, &round->wanted, range, each, ret_lanes,
                     ret_count);
    return STORE(round->batch, list_job_lanes, &round->wanted.base, range, each, ret_lanes,
                 ret_count);
}

/* The lanes of a range of groups, until there is no room.  Each type that has more is among those that were listed; so
 * if limits of the whole store refuse all of these, those that follow are not looked at. */
static cairn_code walk(struct round *round, const char *from, const char *to)
{
    size_t each = round->room > LANES_AT_ONCE ? round->room : LANES_AT_ONCE;
    struct lane_range range = {.from = from, .to = to};
    while (range.from && round->given < round->room) {
        struct lane *lanes = NULL;
        size_t count = 0, shut = round->shut;
        TRY(list(round, &range, each, &lanes, &count));
        sort_lanes(lanes, count, compare_types);
        const char *cut = cut_of(lanes, count, each);
        sort_lanes(lanes, count, compare_groups);
        for (size_t i = 0; i < count && round->given < round->room; i++)
            if (!cut || strcmp(lanes[i].group, cut) <= 0)
                TRY(add_lane(round, &lanes[i]));
        if (round->shut - shut == count) /* or there are none */
            return CAIRN_OK;
        range.from = cut ? arena_printf(&round->batch->arena, "%s\x01", cut) : NULL;
        NEED(!cut || range.from, round->batch->error);
    }
    return CAIRN_OK;
}

/* One task of each lane, beginning behind the group that was served last. */
static cairn_code go_round(struct round *round)
{
    struct arena *arena = &round->batch->arena;
    if (!round->has_last)
        return walk(round, "", NULL);
    const char *last = arena_strdup(arena, round->last);
    const char *next = arena_printf(arena, "%s\x01", round->last);
    NEED(last && next, round->batch->error);
    TRY(walk(round, next, NULL));
    return walk(round, "", last);
}

/* What is left of the room goes to lanes that may give more. */
static cairn_code go_on(struct round *round)
{
    for (bool is_more = true; is_more && round->given < round->room;) {
        is_more = false;
        for (size_t i = 0; i < round->lanes.count && round->given < round->room; i++) {
            bool is_allowed = false;
            TRY(allow(round, &round->lanes.items[i], &is_allowed));
            round->lanes.items[i].quota += is_allowed;
            is_more |= is_allowed;
        }
    }
    return CAIRN_OK;
}

/* ---- what they bring ------------------------------------------------------------------------- */

/* A task that was leased. */
struct leased {
    const char *type, *group;
    int32_t version; /* of a function; else 0 */
};

static bool is_of(const struct lane *lane, const struct leased *task)
{
    return lane->quota && strcmp(lane->group, task->group) == 0 &&
           strcmp(lane->type, task->type) == 0 && lane->first <= task->version &&
           task->version <= lane->last;
}

/* Gives back what a lane was allowed and has not brought.  Tasks come in turns, so the search goes on where it
 * ended. */
static cairn_code settle(struct round *round, const struct leased *tasks, size_t count)
{
    struct lane *lanes = round->lanes.items;
    for (size_t i = 0, at = 0; i < count && round->lanes.count; i++) {
        for (size_t k = 0; k < round->lanes.count; k++, at = (at + 1) % round->lanes.count)
            if (is_of(&lanes[at], &tasks[i]))
                break;
        lanes[at].quota--;
        at = (at + 1) % round->lanes.count;
    }
    for (size_t i = 0; i < round->lanes.count; i++)
        for (; lanes[i].quota; lanes[i].quota--)
            NEED(limits_untake(round->limits, lanes[i].type, lanes[i].group),
                 round->batch->error);
    return CAIRN_OK;
}

static cairn_code lease_jobs(struct round *round, struct leased *tasks, size_t *ret_count)
{
    struct batch *batch = round->batch;
    struct job_row *rows = arena_array(&batch->arena, round->given, sizeof *rows);
    NEED(rows, batch->error);
    TRY(claim_lease_job_lanes(batch, round->group, round->lanes.items, round->lanes.count, rows,
                              round->given, ret_count));
    for (size_t i = 0; i < *ret_count; i++)
        tasks[i] = (struct leased){.type = rows[i].type, .group = rows[i].group};
    return CAIRN_OK;
}

static cairn_code lease_steps(struct round *round, struct leased *tasks, size_t *ret_count)
{
    struct batch *batch = round->batch;
    struct step_row *rows = arena_array(&batch->arena, round->given, sizeof *rows);
    NEED(rows, batch->error);
    TRY(claim_lease_step_lanes(batch, round->group, &round->wanted, round->lanes.items,
                               round->lanes.count, rows, round->given, ret_count));
    for (size_t i = 0; i < *ret_count; i++)
        tasks[i] = (struct leased){
            .type = rows[i].task_type, .group = rows[i].group, .version = rows[i].version};
    return CAIRN_OK;
}

/* One round, of at most round->room tasks; how many were leased. */
static cairn_code take_round(struct round *round, size_t *ret_count)
{
    struct batch *batch = round->batch;
    const struct lane_turn *turn = turn_of(round);
    *ret_count = 0;
    if (turn) {
        round->has_last = turn->group;
        snprintf(round->last, sizeof round->last, "%s", turn->group ? turn->group : "");
    }
    TRY(go_round(round));
    TRY(remember(round));
    TRY(go_on(round));
    if (!round->given)
        return CAIRN_OK;
    struct leased *tasks = arena_array(&batch->arena, round->given, sizeof *tasks);
    NEED(tasks, batch->error);
    TRY(round->kind == CLAIM_STEPS ? lease_steps(round, tasks, ret_count)
                                   : lease_jobs(round, tasks, ret_count));
    return settle(round, tasks, *ret_count);
}

cairn_code claim_take_lanes(struct batch *batch, struct claim_group *group,
                            enum claim_kind kind, size_t room)
{
    struct demand *demand = group->shares->request->demand;
    size_t end = group->taken[kind] + room;
    for (bool is_more = room > 0; is_more;) {
        size_t count = 0;
        struct round round = {.batch = batch,
                              .group = group,
                              .kind = kind,
                              .demand = demand,
                              .room = end - group->taken[kind]};
        recall(&round);
        TRY(batch_limits_for_claim(batch, demand->claim, &round.is_limited, &round.limits));
        if (kind == CLAIM_STEPS)
            TRY(claim_put_laned(batch, demand));
        TRY(claim_want_steps(batch, group, &round.wanted));
        TRY(take_round(&round, &count));
        /* What some have not brought may go to others; if all have, there is nothing more. */
        is_more = count > 0 && count < round.given;
    }
    return CAIRN_OK;
}
