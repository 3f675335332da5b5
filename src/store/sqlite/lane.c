/* store/sqlite/lane.c - claiming from lanes: groups of a type that take turns.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * The claim index has a type's groups one after the other, so the next group with work is one probe away.
 */
#include "base/error.h"
#include "base/mem.h"
#include "core/pattern.h"
#include "store/sqlite/sqlite.h"

#include <stdlib.h>
#include <string.h>

cairn_code sqlite_is_laned(struct store_tx *tx, const char *type, const char *runtime,
                           bool *ret_is_laned, cairn_error *reterr)
{
    cleanup(query_end) struct query query = query_begin(tx, Q_IS_LANED, reterr);
    bind_text(&query, ":type", type);
    bind_text(&query, ":runtime", runtime);
    *ret_is_laned =
        query_step(&query) == SQLITE_ROW && sqlite3_column_int(query.handle, 0) != 0;
    return query_ended(&query);
}

/* ---- which lanes have work --------------------------------------------------------------- */

/* Looking for lanes. */
struct looking {
    struct store_tx *tx;
    const struct job_claim *claim;
    bool is_steps;
    const struct lane_range *range;
    size_t each;
    LIST(struct lane) lanes;
    cairn_error *reterr;
};

/* Versions, as steps have them. */
struct versions {
    int32_t first, last;
};
static const struct versions all_versions = {0, INT32_MAX};

/* The next lane of a type; its group is NULL if there is none. */
static cairn_code next_lane(const struct looking *it, const char *type, const char *from,
                            struct versions versions, struct lane *ret_lane)
{
    enum query_number number = it->is_steps ? Q_NEXT_STEP_LANE : Q_NEXT_JOB_LANE;
    cleanup(query_end) struct query query = query_begin(it->tx, number, it->reterr);
    *ret_lane = (struct lane){.type = type, .first = versions.first, .last = versions.last};
    bind_text(&query, ":type", type);
    bind_text(&query, ":from", from);
    if (it->is_steps) {
        bind_int(&query, ":first", versions.first);
        bind_int(&query, ":last", versions.last);
    }
    if (query_step(&query) == SQLITE_ROW) {
        ret_lane->group = result_text(&query, 0);
        ret_lane->is_void = it->is_steps && !sqlite3_column_int(query.handle, 1);
    }
    return query_ended(&query);
}

static cairn_code add_lanes(struct looking *it, const char *type, struct versions versions)
{
    const char *from = it->range->from;
    bool is_laned;
    TRY(sqlite_is_laned(it->tx, type, it->claim->runtime, &is_laned, it->reterr));
    for (size_t i = 0; is_laned && i < it->each; i++) {
        struct lane found;
        TRY(next_lane(it, type, from, versions, &found));
        if (!found.group || (it->range->to && strcmp(found.group, it->range->to) > 0))
            break;
        struct lane *lane = list_add(it->tx->arena, &it->lanes);
        from = type_after(found.group, it->tx->arena);
        if (!lane || !from)
            return fail_memory(it->reterr);
        *lane = found;
    }
    return CAIRN_OK;
}

/* The types of a prefix, except those that one of the first `done` patterns has covered. */
static cairn_code add_prefix(struct looking *it, const char *prefix, size_t done)
{
    enum query_number number = it->is_steps ? Q_NEXT_TASK_TYPE : Q_NEXT_TYPE;
    struct type_range range;
    if (!type_range(prefix, it->tx->arena, &range))
        return fail_memory(it->reterr);
    for (;;) {
        cleanup(query_end) struct query query = query_begin(it->tx, number, it->reterr);
        bind_type_range(&query, range);
        const char *type = query_step(&query) == SQLITE_ROW ? result_text(&query, 0) : NULL;
        TRY(query_ended(&query));
        if (!type)
            return CAIRN_OK;
        if (!pattern_matches_any(it->claim->patterns, done, type))
            TRY(add_lanes(it, type, all_versions));
        range.from = type_after(type, it->tx->arena);
        if (!range.from)
            return fail_memory(it->reterr);
    }
}

static cairn_code add_patterns(struct looking *it)
{
    const struct job_claim *claim = it->claim;
    for (size_t i = 0; i < claim->pattern_count; i++) {
        const char *pattern = claim->patterns[i];
        if (pattern_is_prefix(pattern))
            TRY(add_prefix(it, pattern, i));
        else if (!pattern_matches_any(claim->patterns, i, pattern))
            TRY(add_lanes(it, pattern, all_versions));
    }
    return CAIRN_OK;
}

cairn_code sqlite_list_job_lanes(struct store_tx *tx, const struct job_claim *claim,
                                 const struct lane_range *range, size_t each,
                                 struct lane **ret_lanes, size_t *ret_count,
                                 cairn_error *reterr)
{
    struct looking it = {
        .tx = tx, .claim = claim, .range = range, .each = each, .reterr = reterr};
    TRY(add_patterns(&it));
    *ret_lanes = it.lanes.items;
    *ret_count = it.lanes.count;
    return CAIRN_OK;
}

cairn_code sqlite_list_step_lanes(struct store_tx *tx, const struct step_claim *claim,
                                  const struct lane_range *range, size_t each,
                                  struct lane **ret_lanes, size_t *ret_count,
                                  cairn_error *reterr)
{
    struct looking it = {.tx = tx,
                         .claim = &claim->base,
                         .is_steps = true,
                         .range = range,
                         .each = each,
                         .reterr = reterr};
    TRY(add_patterns(&it));
    for (size_t i = 0; i < claim->function_count; i++) {
        const struct function_range *function = &claim->functions[i];
        TRY(add_lanes(&it, function->name, (struct versions){function->from, function->to}));
    }
    *ret_lanes = it.lanes.items;
    *ret_count = it.lanes.count;
    return CAIRN_OK;
}

/* ---- claiming ---------------------------------------------------------------------------- */

/* A job that was found: its place among those of its lane, and the lane's among the lanes. */
struct found {
    struct job_row row;
    size_t rank, lane;
};

static int compare_found(const void *one, const void *other)
{
    const struct found *a = one, *b = other;
    if (a->rank != b->rank)
        return a->rank < b->rank ? -1 : 1;
    return (a->lane > b->lane) - (a->lane < b->lane);
}

static cairn_code read_lane(struct store_tx *tx, const struct lane *lane,
                            struct job_row *ret_rows, size_t *ret_count, cairn_error *reterr)
{
    cleanup(query_end) struct query query = query_begin(tx, Q_CLAIM_JOB_LANE, reterr);
    bind_text(&query, ":type", lane->type);
    bind_text(&query, ":group", lane->group);
    return rows_read(&query, &job_row_type, ret_rows, lane->quota, ret_count);
}

cairn_code sqlite_claim_job_lanes(struct store_tx *tx, const struct job_claim *claim,
                                  const struct lane *lanes, size_t lane_count,
                                  struct job_row *ret_rows, size_t room, size_t *ret_count,
                                  cairn_error *reterr)
{
    size_t count = 0;
    struct found *found = arena_array(tx->arena, room, sizeof *found);
    struct job_row *rows = arena_array(tx->arena, room, sizeof *rows);
    if (!found || !rows)
        return fail_memory(reterr);
    for (size_t i = 0; i < lane_count; i++) {
        size_t read = 0;
        TRY(read_lane(tx, &lanes[i], rows, &read, reterr));
        for (size_t k = 0; k < read; k++, count++) {
            found[count] = (struct found){.row = rows[k], .rank = k, .lane = i};
            found[count].row.is_counted = lanes[i].is_counted;
        }
    }
    qsort(found, count, sizeof *found, compare_found);
    for (size_t i = 0; i < count; i++)
        rows[i] = found[i].row;
    return sqlite_lease_jobs(tx, claim, rows, count, ret_rows, ret_count, reterr);
}
