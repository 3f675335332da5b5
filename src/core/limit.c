/* core/limit.c - how many tasks may begin: places of a concurrency, tokens of a rate.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "core/limit.h"

#include "base/clock.h"
#include "base/hash.h"
#include "core/pattern.h"

#include <string.h>

/* ---- buckets --------------------------------------------------------------------------------- */

static int64_t per_us(const struct limit_row *limit)
{
    return limit->rate_per_ms * US_PER_MS;
}

int64_t bucket_level(const struct limit_row *limit, int64_t level, int64_t at_us,
                     int64_t now_us)
{
    int64_t passed_us = now_us - at_us;
    if (passed_us <= 0) /* a clock that was set back fills nothing */
        return level;
    if (passed_us >= level / limit->rate_n + 1)
        return 0;
    return level - passed_us * limit->rate_n;
}

int64_t bucket_tokens(const struct limit_row *limit, int64_t level)
{
    int64_t free = limit->rate_n * per_us(limit) - level;
    return free > 0 ? free / per_us(limit) : 0;
}

int64_t bucket_wait_us(const struct limit_row *limit, int64_t level)
{
    int64_t over = level + per_us(limit) - limit->rate_n * per_us(limit);
    return over > 0 ? (over + limit->rate_n - 1) / limit->rate_n : 0;
}

/* ---- who uses what --------------------------------------------------------------------------- */

bool limits_begin(struct limits *limits, struct arena *arena, const struct limit_row *rows,
                  size_t count, int64_t now_us)
{
    *limits = (struct limits){.arena = arena,
                              .now_us = now_us,
                              .items = arena_array(arena, count, sizeof *limits->items),
                              .count = count};
    for (size_t i = 0; limits->items && i < count; i++)
        limits->items[i] = (struct limit_state){.row = &rows[i]};
    return limits->items;
}

static struct limit_use **find_slot(struct limit_use **slots, size_t count, const char *group)
{
    size_t at = hash_text(HASH_START, group) & (count - 1);
    while (slots[at] && strcmp(slots[at]->group, group) != 0)
        at = (at + 1) & (count - 1);
    return &slots[at];
}

static bool grow(struct arena *arena, struct limit_state *limit)
{
    size_t count = limit->slot_count ? 2 * limit->slot_count : 16;
    struct limit_use **slots = arena_zalloc(arena, count * sizeof(struct limit_use *));
    for (size_t i = 0; slots && i < limit->slot_count; i++)
        if (limit->slots[i])
            *find_slot(slots, count, limit->slots[i]->group) = limit->slots[i];
    if (!slots)
        return false;
    limit->slots = slots;
    limit->slot_count = count;
    return true;
}

/* What is used by a group, or by all; NULL: memory ran out. */
static struct limit_use *use_of(struct limits *limits, struct limit_state *limit,
                                const char *group)
{
    const char *name = limit->row->is_per_group ? group : "";
    if (2 * limit->use_count >= limit->slot_count && !grow(limits->arena, limit))
        return NULL;
    struct limit_use **slot = find_slot(limit->slots, limit->slot_count, name);
    if (*slot)
        return *slot;
    struct limit_use *use = arena_zalloc(limits->arena, sizeof *use);
    char *copy = arena_strdup(limits->arena, name);
    if (!use || !copy)
        return NULL;
    use->group = copy;
    limit->use_count++;
    return *slot = use;
}

bool limits_match(const struct limits *limits, const char *type)
{
    for (size_t i = 0; i < limits->count; i++)
        if (pattern_matches(limits->items[i].row->types, type))
            return true;
    return false;
}

/* Adds to what is used by a task's group, of every limit that matches. */
static bool add(struct limits *limits, const char *type, const char *group, int64_t places,
                int64_t tokens)
{
    for (size_t i = 0; i < limits->count; i++) {
        struct limit_state *limit = &limits->items[i];
        if (!pattern_matches(limit->row->types, type))
            continue;
        struct limit_use *use = use_of(limits, limit, group);
        if (!use)
            return false;
        use->leased += places;
        if (!limit->row->rate_n || !tokens)
            continue;
        use->level += tokens * per_us(limit->row);
        if (use->level < 0)
            use->level = 0;
        use->is_spent = true;
    }
    return true;
}

bool limits_add_leases(struct limits *limits, const char *type, const char *group,
                       int64_t count)
{
    return add(limits, type, group, count, 0);
}

bool limits_add_bucket(struct limits *limits, struct limit_state *limit,
                       const struct bucket_row *row)
{
    struct limit_use *use = use_of(limits, limit, row->group);
    if (!use)
        return false;
    use->level = bucket_level(limit->row, row->level, row->at_us, limits->now_us);
    use->is_stored = true;
    use->is_spent = use->level == 0; /* a row that says nothing goes */
    return true;
}

bool limits_refuse(struct limits *limits, const char *type, const char *group,
                   const struct limit_row **ret_limit, int64_t *ret_wait_us)
{
    *ret_limit = NULL;
    *ret_wait_us = 0;
    for (size_t i = 0; i < limits->count; i++) {
        struct limit_state *limit = &limits->items[i];
        const struct limit_row *row = limit->row;
        if (!pattern_matches(row->types, type))
            continue;
        const struct limit_use *use = use_of(limits, limit, group);
        if (!use)
            return false;
        if (row->concurrency && use->leased >= row->concurrency) {
            *ret_limit = row;
            *ret_wait_us = 0;
            return true;
        }
        int64_t wait_us = row->rate_n ? bucket_wait_us(row, use->level) : 0;
        if (wait_us > *ret_wait_us) {
            *ret_limit = row;
            *ret_wait_us = wait_us;
        }
    }
    return true;
}

bool limits_take(struct limits *limits, const char *type, const char *group)
{
    return add(limits, type, group, 1, 1);
}

bool limits_untake(struct limits *limits, const char *type, const char *group)
{
    return add(limits, type, group, -1, -1);
}

bool limits_give_token(struct limits *limits, const char *type, const char *group)
{
    return add(limits, type, group, 0, -1);
}

void limit_sum(const struct limit_state *limit, int64_t *ret_taken, bool *ret_is_full)
{
    *ret_taken = 0;
    *ret_is_full = false;
    for (size_t i = 0; i < limit->slot_count; i++) {
        const struct limit_use *use = limit->slots[i];
        if (!use)
            continue;
        *ret_taken += use->leased;
        *ret_is_full |= limit->row->concurrency && use->leased >= limit->row->concurrency;
    }
}

bool limits_next_spent(struct limits *limits, size_t *at, struct bucket_row *ret_row)
{
    size_t before = 0;
    for (size_t i = 0; i < limits->count; before += limits->items[i++].slot_count) {
        const struct limit_state *limit = &limits->items[i];
        while (*at < before + limit->slot_count) {
            struct limit_use *use = limit->slots[(*at)++ - before];
            if (!use || !use->is_spent || (use->level == 0 && !use->is_stored))
                continue;
            use->is_spent = false;
            use->is_stored = use->level > 0;
            *ret_row = (struct bucket_row){.limit_name = limit->row->name,
                                           .group = use->group,
                                           .level = use->level,
                                           .at_us = limits->now_us};
            return true;
        }
    }
    return false;
}
