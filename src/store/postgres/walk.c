/* store/postgres/walk.c - which parts of an index a claim reads, and what it learns of them.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * Without marks a claim reads whole types.  With them it reads each known pair of type and rank
 * from its mark on, and the gaps between the pairs, where nothing is known, from the beginning: a
 * new type or priority is found at once.  The rank of a job is its priority, that of a step its
 * version and priority.  A gap that holds many dead entries (of pairs that were used up before this
 * process began) is read as seldom as what lies below the marks.
 */
#include "base/error.h"
#include "base/mem.h"
#include "core/pattern.h"
#include "store/postgres/postgres.h"

#include <stdlib.h>
#include <string.h>

/* ---- patterns ------------------------------------------------------------------------------- */

static int compare_texts(const void *one, const void *other)
{
    return strcmp(*(const char *const *)one, *(const char *const *)other);
}

static int compare_types(const void *one, const void *other)
{
    const struct exact_type *a = one, *b = other;
    int order = strcmp(a->name, b->name);
    return order ? order : (a->lowest > b->lowest) - (a->lowest < b->lowest);
}

static bool begins_with(const char *text, const char *prefix)
{
    return strncmp(text, prefix, strlen(prefix)) == 0;
}

/* Of sorted prefixes those that are within another follow it. */
static void drop_inner_prefixes(struct postgres_types *types)
{
    size_t kept = 0;
    for (size_t i = 0; i < types->prefix_count; i++)
        if (kept == 0 || !begins_with(types->prefixes[i], types->prefixes[kept - 1]))
            types->prefixes[kept++] = types->prefixes[i];
    types->prefix_count = kept;
}

/* Repeated ones, and those that a prefix brings: the last prefix that is not greater. */
static void drop_inner_types(struct postgres_types *types)
{
    size_t kept = 0, at = 0;
    for (size_t i = 0; i < types->exact_count; i++) {
        const struct exact_type *type = &types->exact[i];
        while (at < types->prefix_count && strcmp(types->prefixes[at], type->name) <= 0)
            at++;
        bool is_within = at > 0 && begins_with(type->name, types->prefixes[at - 1]);
        bool is_again = kept > 0 && compare_types(type, &types->exact[kept - 1]) == 0;
        if (!is_within && !is_again)
            types->exact[kept++] = *type;
    }
    types->exact_count = kept;
}

cairn_code postgres_sort_patterns(struct arena *arena, const struct job_claim *claim,
                                  const struct exact_type *more, size_t more_count,
                                  struct postgres_types *ret_types, cairn_error *reterr)
{
    size_t count = claim->pattern_count;
    struct postgres_types types = {
        .exact = arena_array(arena, count + more_count, sizeof *types.exact),
        .prefixes = arena_array(arena, count, sizeof *types.prefixes),
    };
    if (!types.exact || !types.prefixes)
        return fail_memory(reterr);
    for (size_t i = 0; i < count; i++) {
        const char *pattern = claim->patterns[i];
        if (!pattern_is_prefix(pattern)) {
            types.exact[types.exact_count++] =
                (struct exact_type){pattern, INT64_MIN, INT64_MAX};
            continue;
        }
        char *prefix = arena_strndup(arena, pattern, strlen(pattern) - 1);
        if (!prefix)
            return fail_memory(reterr);
        types.prefixes[types.prefix_count++] = prefix;
    }
    for (size_t i = 0; i < more_count; i++)
        types.exact[types.exact_count++] = more[i];
    qsort(types.exact, types.exact_count, sizeof *types.exact, compare_types);
    qsort(types.prefixes, types.prefix_count, sizeof *types.prefixes, compare_texts);
    drop_inner_prefixes(&types);
    drop_inner_types(&types);
    *ret_types = types;
    return CAIRN_OK;
}

/* ---- planning ------------------------------------------------------------------------------- */

/* Of 256 bytes: no name with the prefix before it is greater. */
static const char *prefix_end(struct arena *arena, const char *prefix)
{
    enum { BYTES = 256, POINT = 4 };
    size_t len = strlen(prefix);
    char *end = arena_alloc(arena, len + BYTES + 1);
    if (!end)
        return NULL;
    memcpy(end, prefix, len);
    for (size_t i = 0; i < BYTES; i += POINT)
        memcpy(end + len + i, "\xF4\x8F\xBF\xBF", POINT); /* the greatest character */
    end[len + BYTES] = '\0';
    return end;
}

/* The least text that is greater. */
static const char *text_after(struct arena *arena, const char *text)
{
    return arena_printf(arena, "%s\x01", text);
}

static void add_range(struct claim_walk *walk, const char *type, int64_t lowest,
                      int64_t highest, int64_t mark, bool is_pair)
{
    if (lowest > highest)
        return;
    walk->ranges[walk->range_count++] = (struct walk_range){
        .type = type,
        .lowest = lowest,
        .highest = highest,
        .mark = mark,
        .is_pair = is_pair,
    };
}

static bool add_gap(struct claim_walk *walk, const char *first, const char *before)
{
    if (!first || !before)
        return false;
    if (strcmp(first, before) < 0)
        walk->gaps[walk->gap_count++] = (struct walk_gap){first, before};
    return true;
}

/* The pairs of one type from `at` on, and the gaps between them; answers where the others begin.
 * The type's name stays, though the set may change when it is no longer locked. */
static size_t add_type(struct claim_walk *walk, const struct mark_set *set, size_t at,
                       const struct exact_type *type)
{
    int64_t next = type->lowest;
    for (; at < set->count && strcmp(set->items[at].type, type->name) == 0; at++) {
        int64_t rank = set->items[at].rank;
        if (rank > type->highest)
            break;
        if (walk->has_gaps)
            add_range(walk, type->name, next, rank - 1, 0, false);
        add_range(walk, type->name, rank, rank, set->items[at].mark.low, true);
        next = rank + 1;
    }
    if (walk->has_gaps)
        add_range(walk, type->name, next, type->highest, 0, false);
    return at;
}

static bool add_prefix(struct arena *arena, struct claim_walk *walk, const struct mark_set *set,
                       const char *prefix)
{
    bool is_found, is_done = true;
    const char *first = prefix;
    size_t len = strlen(prefix);
    size_t at = walk->is_marked ? mark_set_find(set, prefix, INT64_MIN, &is_found) : set->count;
    while (at < set->count && strncmp(set->items[at].type, prefix, len) == 0) {
        struct exact_type type = {.name = arena_strdup(arena, set->items[at].type),
                                  .lowest = INT64_MIN,
                                  .highest = INT64_MAX};
        if (!type.name)
            return false;
        if (walk->has_gaps)
            is_done &= add_gap(walk, first, type.name);
        first = text_after(arena, type.name);
        at = add_type(walk, set, at, &type);
        if (!first)
            return false;
    }
    if (walk->has_gaps)
        is_done &= add_gap(walk, first, prefix_end(arena, prefix));
    return is_done;
}

static bool fill_walk(struct arena *arena, const struct mark_set *set,
                      const struct postgres_types *types, struct claim_walk *walk)
{
    size_t pairs = walk->is_marked ? set->count : 0;
    /* A pair is of one pattern alone, and brings at most a gap before it. */
    walk->ranges = arena_array(arena, 3 * pairs + types->exact_count + 1, sizeof *walk->ranges);
    walk->gaps = arena_array(arena, pairs + types->prefix_count + 1, sizeof *walk->gaps);
    if (!walk->ranges || !walk->gaps)
        return false;
    for (size_t i = 0; i < types->exact_count; i++) {
        bool is_found;
        size_t at = walk->is_marked ? mark_set_find(set, types->exact[i].name,
                                                    types->exact[i].lowest, &is_found)
                                    : set->count;
        add_type(walk, set, at, &types->exact[i]);
    }
    for (size_t i = 0; i < types->prefix_count; i++)
        if (!add_prefix(arena, walk, set, types->prefixes[i]))
            return false;
    return true;
}

cairn_code postgres_plan_walk(struct arena *arena, struct mark_set *set, bool is_whole,
                              const struct postgres_types *types, struct claim_walk *ret_walk,
                              cairn_error *reterr)
{
    pthread_mutex_lock(&set->lock);
    *ret_walk = (struct claim_walk){.is_marked = set->pace.is_marking && !is_whole};
    ret_walk->has_gaps = !ret_walk->is_marked || monotonic_us() >= set->gaps_at_us;
    bool is_done = fill_walk(arena, set, types, ret_walk);
    pthread_mutex_unlock(&set->lock);
    return is_done ? CAIRN_OK : fail_memory(reterr);
}

void param_ranges(struct postgres_params *params, const struct claim_walk *walk)
{
    struct postgres_columns ranges = {.count = 4};
    for (size_t i = 0; i < walk->range_count; i++) {
        columns_text(&ranges, walk->ranges[i].type);
        columns_bigint(&ranges, walk->ranges[i].lowest);
        columns_bigint(&ranges, walk->ranges[i].highest);
        columns_bigint(&ranges, walk->ranges[i].mark);
        columns_end_row(&ranges);
    }
    param_columns_copied(params, &ranges);
}

void param_gaps(struct postgres_params *params, const struct claim_walk *walk)
{
    struct postgres_columns gaps = {.count = 2};
    for (size_t i = 0; i < walk->gap_count; i++) {
        columns_text(&gaps, walk->gaps[i].first);
        columns_text(&gaps, walk->gaps[i].before);
        columns_end_row(&gaps);
    }
    param_columns_copied(params, &gaps);
}

/* ---- learning ------------------------------------------------------------------------------- */

struct walk_told postgres_read_told(struct postgres_reader *reader, const struct mark_set *set)
{
    return (struct walk_told){
        .heads = (size_t)value_int(reader, 0),
        .taken = (size_t)value_int(reader, 1),
        .took_us = value_int(reader, 2),
        .facts = {.open_xid = value_int(reader, 3),
                  .own_xid = value_int(reader, 4),
                  .now_us = monotonic_us(),
                  .settle_us = set->settle_us},
        .end = value_int(reader, 5),
        .work = (size_t)value_int(reader, 6),
        .lows = value_text(reader, 7),
    };
}

struct claimed_key postgres_read_key(struct postgres_reader *reader)
{
    return (struct claimed_key){.type = PQgetvalue(reader->result, reader->row, 9),
                                .rank = value_int(reader, 10),
                                .key = value_int(reader, 11)};
}

/* A row that is seen says nothing of those that come before the end yet. */
static int64_t until_end(int64_t key, const struct walk_told *told)
{
    return key < told->end ? key : told->end;
}

/* What was found in the ranges of known pairs. */
static void note_pairs(struct mark_set *set, struct claim_walk *walk,
                       const struct walk_told *told)
{
    for (size_t i = 0; i < walk->range_count; i++)
        walk->ranges[i].seen = told->end;
    for (const char *at = told->lows; at && *at;) {
        char *end;
        size_t number = strtoul(at, &end, 10);
        int64_t key = strtoll(end, &end, 10);
        if (number >= 1 && number <= walk->range_count)
            walk->ranges[number - 1].seen = until_end(key, told);
        at = end;
    }
    for (size_t i = 0; i < walk->range_count; i++) {
        const struct walk_range *range = &walk->ranges[i];
        bool is_found;
        size_t at = mark_set_find(set, range->type, range->lowest, &is_found);
        if (range->is_pair && is_found)
            mark_saw(&set->items[at].mark, range->mark, range->seen, &told->facts);
    }
}

/* Pairs that were not known, from the rows that were claimed. */
static void learn_pairs(struct mark_set *set, const struct walk_told *told,
                        const struct claimed_key *keys, size_t count)
{
    for (size_t i = 0; i < count && set->pace.is_marking; i++) {
        struct mark *mark = mark_set_add(set, keys[i].type, keys[i].rank);
        if (mark && mark->low == 0)
            mark_saw(mark, 0, until_end(keys[i].key, told), &told->facts);
    }
}

void postgres_walked(struct mark_set *set, struct claim_walk *walk,
                     const struct walk_told *told, bool is_virtual,
                     const struct claimed_key *keys, size_t count)
{
    pthread_mutex_lock(&set->lock);
    if (!walk->is_marked && !set->pace.is_marking && (!is_virtual || set->pace.is_forced))
        pace_walked(&set->pace, told->took_us, told->work);
    if (set->pace.is_marking && walk->is_marked)
        note_pairs(set, walk, told);
    if (set->pace.is_marking)
        learn_pairs(set, told, keys, count);
    if (walk->is_marked && walk->has_gaps && !set->pace.is_forced &&
        walk_is_slow(told->took_us, told->work))
        set->gaps_at_us = told->facts.now_us + 20 * told->took_us;
    pthread_mutex_unlock(&set->lock);
}

void postgres_note_ready(struct mark_set *set, const char *type, int64_t rank, int64_t key)
{
    pthread_mutex_lock(&set->lock);
    mark_set_lower(set, type, rank, key);
    pthread_mutex_unlock(&set->lock);
}

void postgres_note_ready_type(struct mark_set *set, const char *type, int64_t key)
{
    bool is_found;
    pthread_mutex_lock(&set->lock);
    for (size_t at = mark_set_find(set, type, INT64_MIN, &is_found);
         at < set->count && strcmp(set->items[at].type, type) == 0; at++)
        mark_lower(&set->items[at].mark, key);
    pthread_mutex_unlock(&set->lock);
}

/* ---- looking below the marks ---------------------------------------------------------------- */

struct portion {
    const char *type;
    int64_t rank, from, to;
};

/* The portion to look at now; false: there is none, or it is not yet time. */
static bool next_portion(struct arena *arena, struct mark_set *set, bool is_short,
                         struct portion *ret_portion)
{
    struct pair_mark *pair;
    bool is_next = false;
    pthread_mutex_lock(&set->lock);
    if (set->pace.is_marking && pace_may_check(&set->pace, is_short, monotonic_us())) {
        is_next = mark_set_portion(set, &pair, &ret_portion->from, &ret_portion->to);
        if (is_next) {
            ret_portion->type = arena_strdup(arena, pair->type);
            ret_portion->rank = pair->rank;
        } else {
            /* If no mark has risen yet, the round says nothing of how many dead entries there are. */
            bool is_telling = set->pace.is_in_round || set->count == 0;
            if (!set->pace.is_in_round)
                pace_checked(&set->pace, 0, monotonic_us());
            pace_round_ended(&set->pace, is_telling);
            if (!set->pace.is_marking)
                mark_set_clear(set);
        }
    }
    pthread_mutex_unlock(&set->lock);
    return is_next && ret_portion->type;
}

static void note_checked(struct mark_set *set, const struct portion *portion, bool is_found,
                         int64_t key, int64_t took_us)
{
    bool is_known;
    pthread_mutex_lock(&set->lock);
    size_t at = mark_set_find(set, portion->type, portion->rank, &is_known);
    pace_checked(&set->pace, took_us, monotonic_us());
    if (is_known && is_found)
        mark_lower(&set->items[at].mark, key);
    else if (is_known)
        mark_checked(&set->items[at].mark, portion->from, portion->to, took_us);
    pthread_mutex_unlock(&set->lock);
}

cairn_code postgres_check_below(struct store_tx *tx, struct mark_set *set,
                                enum postgres_query query, bool is_short, bool *ret_is_found,
                                cairn_error *reterr)
{
    int64_t budget_us = set->pace.is_forced ? INT64_MAX : is_short ? 20 * US_PER_MS : US_PER_MS;
    struct portion portion;
    /* A round that is under way does not look again at where it has been; a claim that waits wants
     * a whole one. */
    bool is_whole = !is_short || !set->pace.is_in_round;
    *ret_is_found = false;
    for (int64_t spent_us = 0; spent_us < budget_us;) {
        cleanup(reader_done) struct postgres_reader reader = {0};
        struct postgres_params params = {.arena = tx->arena};
        if (!next_portion(tx->arena, set, is_short, &portion)) {
            if (is_whole)
                return CAIRN_OK;
            is_whole = true;
            continue;
        }
        if (*portion.type)
            param_text(&params, portion.type);
        param_int(&params, portion.rank);
        param_int(&params, portion.from);
        param_int(&params, portion.to);
        TRY(postgres_ask(tx, query, &params, &reader, reterr));
        bool is_found = !PQgetisnull(reader.result, 0, 0);
        int64_t took_us = value_int(&reader, 1);
        note_checked(set, &portion, is_found, value_int(&reader, 0), took_us);
        *ret_is_found |= is_found;
        spent_us += took_us + 1;
    }
    return CAIRN_OK;
}
