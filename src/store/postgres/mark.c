/* store/postgres/mark.c - where the walk of an index may begin.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "store/postgres/mark.h"

#include "base/clock.h"
#include "base/mem.h"

#include <string.h>

/* A walk is slow if it took longer than this, and than this for each row that it brought.  One may be
 * slow because the machine is busy; so it takes a few in a row. */
enum { SLOW_US = 400, SLOW_ROW_US = 4, SLOW_WALKS = 3 };

/* What a portion should take, and the strides that are tried for it. */
enum { PORTION_SHORT_US = 1000, PORTION_LONG_US = 4000, STRIDE_FIRST = 64 };
#define STRIDE_MAX (INT64_C(1) << 60)

#define ROUND_EVERY_US US_PER_SEC

/* How long nothing is checked after a portion, in what it took. */
enum { REST_FULL = 20, REST_SHORT = 4 };

enum { PAIRS_MAX = 4096 };

/* ---- one mark ------------------------------------------------------------------------------- */

void mark_init(struct mark *mark)
{
    *mark = (struct mark){.stride = STRIDE_FIRST};
}

static bool is_settled(const struct mark *mark, const struct walk_facts *facts)
{
    bool have_ended = mark->next_xid && facts->open_xid >= mark->next_xid;
    return have_ended || facts->now_us - mark->next_at_us > facts->settle_us;
}

void mark_saw(struct mark *mark, int64_t from, int64_t seen, const struct walk_facts *facts)
{
    if (from > mark->low)
        return; /* lowered since: the walk has not seen what lies in between */
    if (mark->has_next && seen < mark->next)
        mark->next = seen;
    if (mark->has_next && !mark->next_xid && facts->own_xid > mark->seen_xid)
        mark->next_xid = facts->own_xid;
    if (mark->has_next && is_settled(mark, facts)) {
        if (mark->next > mark->low)
            mark->low = mark->next;
        mark->has_next = false;
    }
    if (!mark->has_next) {
        mark->has_next = true;
        mark->next = seen;
        mark->next_xid = 0;
        mark->seen_xid = facts->own_xid;
        mark->next_at_us = facts->now_us;
    }
}

void mark_lower(struct mark *mark, int64_t key)
{
    if (key < mark->low)
        mark->low = key;
    if (key < mark->checked)
        mark->checked = key;
    if (mark->has_next && key < mark->next)
        mark->next = key;
}

void mark_begin_round(struct mark *mark)
{
    mark->checked = mark->low;
    mark->stride = STRIDE_FIRST; /* that of the last round's end is for keys without entries */
}

bool mark_portion(const struct mark *mark, int64_t *ret_from, int64_t *ret_to)
{
    if (mark->checked <= 0)
        return false;
    *ret_to = mark->checked;
    *ret_from = mark->checked > mark->stride ? mark->checked - mark->stride : 0;
    return true;
}

void mark_checked(struct mark *mark, int64_t from, int64_t to, int64_t took_us)
{
    if (mark->checked != to)
        return; /* another thread was quicker */
    mark->checked = from;
    if (took_us > PORTION_LONG_US && mark->stride > 1)
        mark->stride /= 2;
    else if (took_us < PORTION_SHORT_US && mark->stride < STRIDE_MAX)
        mark->stride *= 4;
}

/* ---- when marks are used -------------------------------------------------------------------- */

bool walk_is_slow(int64_t took_us, size_t rows)
{
    return took_us > SLOW_US + SLOW_ROW_US * (int64_t)rows;
}

void pace_walked(struct mark_pace *pace, int64_t took_us, size_t rows)
{
    pace->slow_walks = walk_is_slow(took_us, rows) ? pace->slow_walks + 1 : 0;
    if (pace->is_forced || pace->slow_walks >= SLOW_WALKS)
        *pace = (struct mark_pace){.is_marking = true, .is_forced = pace->is_forced};
}

bool pace_may_check(const struct mark_pace *pace, bool is_short, int64_t now_us)
{
    if (pace->is_forced && is_short)
        return true;
    int64_t rest_us = (is_short ? REST_SHORT : REST_FULL) * pace->portion_us;
    if (!pace->is_in_round && !is_short && now_us - pace->began_at_us < ROUND_EVERY_US)
        return false;
    return now_us - pace->checked_at_us >= rest_us;
}

void pace_checked(struct mark_pace *pace, int64_t took_us, int64_t now_us)
{
    if (!pace->is_in_round) {
        pace->is_in_round = true;
        pace->round_us = 0;
        pace->began_at_us = now_us;
    }
    pace->round_us += took_us;
    pace->portion_us = took_us;
    pace->checked_at_us = now_us;
}

void pace_round_ended(struct mark_pace *pace, bool is_telling)
{
    pace->is_in_round = false;
    pace->last_round_us = pace->round_us;
    pace->round_us = 0;
    if (is_telling && !pace->is_forced && !walk_is_slow(pace->last_round_us, 0))
        *pace = (struct mark_pace){0}; /* few dead entries are left: walk from the beginning */
}

/* ---- marks of types and ranks ---------------------------------------------------------- */

void mark_set_init(struct mark_set *set)
{
    *set = (struct mark_set){.settle_us = US_PER_SEC};
    pthread_mutex_init(&set->lock, NULL);
}

void mark_set_clear(struct mark_set *set)
{
    for (size_t i = 0; i < set->count; i++)
        mem_free(set->items[i].type);
    set->count = set->turn = 0;
    set->gaps_at_us = 0;
    set->pace = (struct mark_pace){.is_forced = set->pace.is_forced};
}

void mark_set_done(struct mark_set *set)
{
    mark_set_clear(set);
    mem_free(set->items);
    pthread_mutex_destroy(&set->lock);
}

size_t mark_set_find(const struct mark_set *set, const char *type, int64_t rank,
                     bool *ret_is_found)
{
    size_t low = 0, high = set->count;
    while (low < high) {
        size_t middle = (low + high) / 2;
        const struct pair_mark *item = &set->items[middle];
        int order = strcmp(item->type, type);
        if (!order)
            order = (item->rank > rank) - (item->rank < rank);
        if (order == 0) {
            *ret_is_found = true;
            return middle;
        }
        if (order < 0)
            low = middle + 1;
        else
            high = middle;
    }
    *ret_is_found = false;
    return low;
}

static bool make_room(struct mark_set *set)
{
    if (set->count < set->room)
        return true;
    size_t room = set->room ? set->room * 2 : 16;
    if (set->count >= PAIRS_MAX)
        return false;
    struct pair_mark *items = mem_realloc(set->items, room * sizeof *items);
    if (!items)
        return false;
    set->items = items;
    set->room = room;
    return true;
}

struct mark *mark_set_add(struct mark_set *set, const char *type, int64_t rank)
{
    bool is_found;
    size_t at = mark_set_find(set, type, rank, &is_found);
    if (is_found)
        return &set->items[at].mark;
    char *copy = make_room(set) ? mem_strdup(type) : NULL;
    if (!copy) {
        mark_set_clear(set);
        return NULL;
    }
    memmove(set->items + at + 1, set->items + at, (set->count - at) * sizeof *set->items);
    set->count++;
    set->items[at] = (struct pair_mark){.type = copy, .rank = rank};
    mark_init(&set->items[at].mark);
    if (at <= set->turn)
        set->turn++;
    return &set->items[at].mark;
}

void mark_set_lower(struct mark_set *set, const char *type, int64_t rank, int64_t key)
{
    if (!set->pace.is_marking)
        return;
    struct mark *mark = mark_set_add(set, type, rank);
    if (mark)
        mark_lower(mark, key);
}

bool mark_set_portion(struct mark_set *set, struct pair_mark **ret_pair, int64_t *ret_from,
                      int64_t *ret_to)
{
    if (!set->pace.is_in_round) {
        set->turn = 0;
        for (size_t i = 0; i < set->count; i++)
            mark_begin_round(&set->items[i].mark);
    }
    for (; set->turn < set->count; set->turn++) {
        *ret_pair = &set->items[set->turn];
        if (mark_portion(&set->items[set->turn].mark, ret_from, ret_to))
            return true;
    }
    return false;
}
