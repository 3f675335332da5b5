/* engine/batch_limit.c - what is free of limits, while a batch is applied.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * A batch that claims from lanes with limits holds a lock of the store for it until its commit.  It counts the
 * leases once; what it leases itself is added in memory.
 */
#include "base/error.h"
#include "core/pattern.h"
#include "engine/limit.h"
#include "engine/workset.h"

#include <string.h>

/* turns: NULL: nothing is locked. */
static cairn_code read_all(const struct store_ops *ops, struct store_tx *tx,
                           struct limits *limits, struct lane_turn *turns, cairn_error *reterr)
{
    struct lane_use *uses = NULL;
    struct limit_row *all = NULL;
    size_t count = 0, limit_count = 0;
    TRY(ops->count_leases(tx, turns, &uses, &count, reterr));
    TRY(limits_list(ops, tx, &all, &limit_count, reterr));
    NEED(limits_begin(limits, tx->arena, all, limit_count, tx->now_us), reterr);
    for (size_t i = 0; i < count; i++) {
        if (uses[i].type)
            NEED(limits_add_leases(limits, uses[i].type, uses[i].group, uses[i].count), reterr);
        else if (turns && uses[i].count >= 0 && uses[i].count < TURNS)
            turns[uses[i].count].group = uses[i].group;
    }
    for (size_t i = 0; i < limits->count; i++) {
        struct limit_state *limit = &limits->items[i];
        struct bucket_row *rows = NULL;
        if (!limit->row->rate_n)
            continue;
        TRY(ops->list_buckets(tx, limit->row->name, &rows, &count, reterr));
        for (size_t k = 0; k < count; k++)
            NEED(limits_add_bucket(limits, limit, &rows[k]), reterr);
    }
    return CAIRN_OK;
}

cairn_code limits_read(const struct store_ops *ops, struct store_tx *tx, struct limits *limits,
                       cairn_error *reterr)
{
    return read_all(ops, tx, limits, NULL, reterr);
}

/* ---- the limits of a batch ------------------------------------------------------------------- */

static bool is_overlapping(const struct limit_row *row, const cairn_claim_options *claim)
{
    for (size_t i = 0; i < claim_name_count(claim); i++)
        if (pattern_overlaps(row->types, claim_name(claim, i)))
            return true;
    return false;
}

static bool is_released(const struct batch *batch, const struct limit_row *row)
{
    for (size_t i = 0; row->rate_n && i < batch->released.count; i++)
        if (pattern_matches(row->types, batch->released.items[i].type))
            return true;
    return false;
}

/* claim: NULL if it is about tokens that went back alone. */
static cairn_code must_lock(struct batch *batch, const cairn_claim_options *claim,
                            bool *ret_must)
{
    struct limit_row *rows = NULL;
    size_t count = 0;
    TRY(limits_list(batch->ops, batch->tx, &rows, &count, batch->error));
    *ret_must = false;
    for (size_t i = 0; i < count && !*ret_must; i++)
        *ret_must = is_released(batch, &rows[i]) || (claim && is_overlapping(&rows[i], claim));
    return CAIRN_OK;
}

/* Waits for whoever counts now; what that one has committed is seen by the questions that follow. */
static cairn_code lock_all(struct batch *batch)
{
    struct limits *limits = arena_zalloc(&batch->arena, sizeof *limits);
    struct lane_turn *turns = arena_zalloc(&batch->arena, TURNS * sizeof *turns);
    NEED(limits && turns, batch->error);
    if (batch->has_places_back)
        TRY(workset_write_early(batch));
    TRY(read_all(batch->ops, batch->tx, limits, turns, batch->error));
    batch->limits = limits;
    batch->turns = turns;
    return CAIRN_OK;
}

static cairn_code give_tokens(struct batch *batch)
{
    for (size_t i = 0; i < batch->released.count; i++)
        NEED(limits_give_token(batch->limits, batch->released.items[i].type,
                               batch->released.items[i].group),
             batch->error);
    batch->released.count = 0;
    return CAIRN_OK;
}

static cairn_code need_limits(struct batch *batch, const cairn_claim_options *claim,
                              bool is_expected)
{
    bool must = !batch->limits && is_expected;
    if (!batch->limits && !must)
        TRY(must_lock(batch, claim, &must));
    if (must)
        TRY(lock_all(batch));
    return batch->limits ? give_tokens(batch) : CAIRN_OK;
}

cairn_code batch_limits_for_claim(struct batch *batch, const cairn_claim_options *claim,
                                  bool *is_limited, struct limits **ret_limits)
{
    static struct limits none;
    TRY(need_limits(batch, claim, *is_limited));
    *ret_limits = batch->limits ? batch->limits : &none;
    *is_limited = false;
    for (size_t i = 0; i < (*ret_limits)->count; i++)
        *is_limited |= is_overlapping((*ret_limits)->items[i].row, claim);
    return CAIRN_OK;
}

/* ---- what a batch changes -------------------------------------------------------------------- */

void batch_note_free(struct batch *batch)
{
    batch->ready.is_place = true;
}

cairn_code batch_note_place(struct batch *batch, const char *type, const char *group,
                            bool is_released)
{
    batch_note_free(batch);
    if (!is_released)
        return CAIRN_OK;
    struct lane_name *lane = list_add(&batch->arena, &batch->released);
    NEED(lane, batch->error);
    *lane = (struct lane_name){.type = type, .group = group};
    return CAIRN_OK;
}

static cairn_code write_turns(struct batch *batch)
{
    LIST(struct turn_row) rows = {0};
    for (int32_t i = 0; batch->turns && i < TURNS; i++) {
        if (!batch->turns[i].is_changed)
            continue;
        struct turn_row *row = list_add(&batch->arena, &rows);
        NEED(row, batch->error);
        *row = (struct turn_row){.number = i, .group = batch->turns[i].group};
    }
    return rows.count ? STORE(batch, put_turns, rows.items, rows.count) : CAIRN_OK;
}

cairn_code batch_write_limits(struct batch *batch)
{
    LIST(struct bucket_row) rows = {0};
    struct bucket_row row;
    size_t at = 0;
    if (batch->released.count)
        TRY(need_limits(batch, NULL, false));
    TRY(write_turns(batch));
    while (batch->limits && limits_next_spent(batch->limits, &at, &row)) {
        struct bucket_row *added = list_add(&batch->arena, &rows);
        NEED(added, batch->error);
        *added = row;
    }
    return rows.count ? STORE(batch, put_buckets, rows.items, rows.count) : CAIRN_OK;
}
