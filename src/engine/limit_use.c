/* engine/limit_use.c - how much of limits is used now, and what waits for them.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "base/error.h"
#include "core/pattern.h"
#include "engine/limit.h"
#include "engine/read.h"
#include "engine/totals.h"
#include "engine/workers.h"

#include <inttypes.h>
#include <string.h>

enum { TYPES_MAX = 4096, READY_MAX = 1000 };
#define FULL_LATE_US (60 * US_PER_MIN)

/* ---- figures --------------------------------------------------------------------------------- */

typedef LIST(const char *) name_list;

static cairn_code add_name(struct arena *arena, name_list *names, const char *name,
                           const struct limit_row *rows, size_t count, cairn_error *reterr)
{
    bool is_meant = false;
    for (size_t i = 0; i < count && !is_meant; i++)
        is_meant = pattern_matches(rows[i].types, name);
    for (size_t i = 0; i < names->count && is_meant; i++)
        is_meant = strcmp(names->items[i], name) != 0;
    if (!is_meant)
        return CAIRN_OK;
    const char **added = list_add(arena, names);
    NEED(added, reterr);
    *added = name;
    return CAIRN_OK;
}

/* The types that a limit matches and that have something to claim. */
static cairn_code find_ready(struct question *q, const struct limit_row *rows, size_t count,
                             name_list *ret_names)
{
    size_t found = 0;
    const char **types = arena_array(q->arena, TYPES_MAX, sizeof *types);
    struct ready_type *ready = arena_array(q->arena, READY_MAX, sizeof *ready);
    NEED(types && ready, q->error);
    TRY(STORE(q, list_types, true, types, TYPES_MAX, &found));
    for (size_t i = 0; i < found; i++)
        TRY(add_name(q->arena, ret_names, types[i], rows, count, q->error));
    TRY(STORE(q, list_ready_types, ready, READY_MAX, &found));
    for (size_t i = 0; i < found; i++)
        TRY(add_name(q->arena, ret_names, ready[i].name, rows, count, q->error));
    return CAIRN_OK;
}

static cairn_code add_waiting(struct question *q, const struct limit_row *rows, size_t count,
                              struct limit_figures *figures)
{
    name_list names = {0};
    TRY(find_ready(q, rows, count, &names));
    if (!names.count)
        return CAIRN_OK;
    struct ready_count *ready = arena_array(q->arena, names.count, sizeof *ready);
    NEED(ready, q->error);
    TRY(STORE(q, count_ready, names.items, names.count, ready));
    for (size_t i = 0; i < count; i++)
        for (size_t k = 0; k < names.count; k++) {
            int64_t oldest_us = ready[k].oldest_us;
            if (!pattern_matches(rows[i].types, names.items[k]))
                continue;
            figures[i].waiting += ready[k].count;
            if (oldest_us && (!figures[i].oldest_us || oldest_us < figures[i].oldest_us))
                figures[i].oldest_us = oldest_us;
        }
    return CAIRN_OK;
}

cairn_code question_limits(struct question *q, const struct limit_row *rows, size_t count,
                           struct limit_figures *ret_figures)
{
    struct lane_use *uses = NULL;
    struct limits limits;
    size_t use_count = 0;
    memset(ret_figures, 0, count * sizeof *ret_figures);
    if (!count)
        return CAIRN_OK;
    TRY(STORE(q, count_leases, false, &uses, &use_count));
    NEED(limits_begin(&limits, q->arena, rows, count, q->tx->now_us), q->error);
    for (size_t i = 0; i < use_count; i++)
        if (uses[i].type)
            NEED(limits_add_leases(&limits, uses[i].type, uses[i].group, uses[i].count),
                 q->error);
    for (size_t i = 0; i < count; i++)
        limit_sum(&limits.items[i], &ret_figures[i].taken, &ret_figures[i].is_full);
    return add_waiting(q, rows, count, ret_figures);
}

/* ---- metrics --------------------------------------------------------------------------------- */

cairn_code question_limit_items(struct question *q, struct limit_item **ret_items,
                                size_t *ret_count)
{
    struct limit_row *rows = NULL;
    size_t count = 0;
    TRY(limits_list(q->ops, q->tx, &rows, &count, q->error));
    struct limit_figures *figures = arena_array(q->arena, count, sizeof *figures);
    struct limit_item *items = arena_zalloc(q->arena, (TOTAL_NAMES_MAX + 1) * sizeof *items);
    NEED(figures && items, q->error);
    TRY(question_limits(q, rows, count, figures));
    for (size_t i = 0; i < count; i++) {
        struct limit_item *item = &items[i < TOTAL_NAMES_MAX ? i : TOTAL_NAMES_MAX];
        item->name = i < TOTAL_NAMES_MAX ? rows[i].name : "other";
        item->taken += figures[i].taken;
        item->waiting += figures[i].waiting;
        item->is_full += figures[i].is_full;
    }
    *ret_items = items;
    *ret_count = count < TOTAL_NAMES_MAX + 1 ? count : TOTAL_NAMES_MAX + 1;
    return CAIRN_OK;
}

/* ---- the doctor ------------------------------------------------------------------------------ */

/* Whether a task that has not ended, or a live worker, has a type that it matches. */
static cairn_code is_used(struct question *q, const struct limit_row *row,
                          const struct limit_figures *figures,
                          const struct known_workers *workers, bool *ret_is_used)
{
    size_t count = 0;
    const char **types = arena_array(q->arena, TYPES_MAX, sizeof *types);
    NEED(types, q->error);
    *ret_is_used = figures->taken || figures->waiting;
    if (*ret_is_used)
        return CAIRN_OK;
    TRY(STORE(q, list_types, false, types, TYPES_MAX, &count));
    for (size_t i = 0; i < count && !*ret_is_used; i++)
        *ret_is_used = pattern_matches(row->types, types[i]);
    for (size_t i = 0; i < workers->count && !*ret_is_used; i++) {
        const char *const *names = NULL;
        if (worker_state(&workers->items[i], q->tx->now_us) == WORKER_GONE)
            continue;
        TRY(worker_types(q, &workers->items[i], &names, &count));
        for (size_t k = 0; k < count && !*ret_is_used; k++)
            *ret_is_used = pattern_overlaps(row->types, names[k]);
    }
    return CAIRN_OK;
}

/* Tells of the limit that has kept a task waiting longest, and of the first that matches nothing. */
cairn_code doctor_limits(struct question *q)
{
    struct limit_row *rows = NULL;
    struct known_workers workers;
    size_t count = 0, full = 0, unused = 0, longest = 0, first_unused = 0;
    TRY(limits_list(q->ops, q->tx, &rows, &count, q->error));
    struct limit_figures *figures = arena_array(q->arena, count, sizeof *figures);
    NEED(figures, q->error);
    TRY(question_limits(q, rows, count, figures));
    TRY(workers_known(q, &workers));
    for (size_t i = 0; i < count; i++) {
        int64_t since_us = figures[i].oldest_us;
        bool is_in_use = true;
        TRY(is_used(q, &rows[i], &figures[i], &workers, &is_in_use));
        if (!is_in_use && unused++ == 0)
            first_unused = i;
        if (!figures[i].is_full || !since_us || q->tx->now_us - since_us < FULL_LATE_US)
            continue;
        if (full++ == 0 || since_us < figures[longest].oldest_us)
            longest = i;
    }
    if (full)
        find(q, "limits", "warning",
             "%zu limit%s full and tasks wait for long, such as \"%.64s\": %" PRId64
             " tasks have places, %" PRId64 " wait, the oldest for %" PRId64
             " s; let it allow more, or look whether its tasks hang (cairn limit show)",
             full, is_or_are(full), rows[longest].name, figures[longest].taken,
             figures[longest].waiting,
             (q->tx->now_us - figures[longest].oldest_us) / US_PER_SEC);
    if (unused)
        find(q, "limits", "warning",
             "%zu limit%s for types that no task and no live worker has, such as \"%.64s\" "
             "for \"%.100s\": is the name of the type right?",
             unused, is_or_are(unused), rows[first_unused].name, rows[first_unused].types);
    if (count && !full && !unused)
        find(q, "limits", "ok", "%zu limit%s set, none full for long", count, is_or_are(count));
    return CAIRN_OK;
}
