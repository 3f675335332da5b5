/* core/flow_branch.c - branches of a fork that are lost, and that go on again.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * A failure within an `any` that another branch can still win loses its branch and nothing else.  If none can
 * win, and the workflow has a dead letter queue, every step that lost a branch is parked there; one that is taken
 * out again goes on with what its branch had been stopped from.
 */
#include "core/flow_inside.h"

/* ---- rows ----------------------------------------------------------------------------------- */

cairn_code flow_branches(struct flow *flow, struct flow_step *fork,
                         const struct flow_step *join, struct branch_rows *ret_rows)
{
    struct step_list steps;
    TRY(flow->source->config(flow, fork));
    *ret_rows = (struct branch_rows){.fork = fork->row.seq,
                                     .join = join->row.seq,
                                     .is_any = join->config->is_any,
                                     .branches = fork->config->branches,
                                     .branch_count = fork->config->branch_count};
    TRY(flow->source->between(flow, STEP_NONE, fork->row.seq + 1, join->row.seq - 1, &steps));
    ret_rows->items = arena_array(flow->arena, steps.count + 1, sizeof *ret_rows->items);
    NEED(ret_rows->items, flow->error);
    for (size_t i = 0; i < steps.count; i++) {
        enum step_kind kind = steps.items[i]->row.kind;
        if (kind == KIND_CONDITION || kind == KIND_FORK || kind == KIND_JOIN)
            TRY(flow->source->config(flow, steps.items[i]));
        ret_rows->items[ret_rows->count++] =
            (struct branch_row){&steps.items[i]->row, steps.items[i]->config};
    }
    return CAIRN_OK;
}

/* ---- outward -------------------------------------------------------------------------------- */

/* A branch around a step. */
struct around {
    struct flow_step *fork; /* NULL: there is none further out */
    struct flow_step *join; /* NULL: its row was deleted */
    struct place_range branch;
};

static cairn_code go_out(struct flow *flow, const struct step_row *row, struct around *ret_at)
{
    *ret_at = (struct around){.branch = {row->scope_from, row->scope_to}};
    if (row->scope_fork < 0)
        return CAIRN_OK;
    TRY(flow->source->step(flow, row->scope_fork, &ret_at->fork));
    if (!ret_at->fork)
        return CAIRN_OK;
    TRY(flow->source->config(flow, ret_at->fork));
    TRY(flow->source->step(flow, ret_at->fork->config->join, &ret_at->join));
    return ret_at->join ? flow->source->config(flow, ret_at->join) : CAIRN_OK;
}

static bool is_open_any(const struct around *at)
{
    return at->join && at->join->config->is_any && at->join->row.status == STEP_PENDING;
}

static bool is_same(struct place_range a, struct place_range b)
{
    return a.first == b.first && a.last == b.last;
}

/* How many branches can still win, without one of them. */
static int32_t count_open(const struct branch_rows *rows, struct place_range without)
{
    int32_t count = 0;
    for (size_t i = 0; i < rows->branch_count; i++)
        count += !is_same(rows->branches[i], without) &&
                 !branch_loser(rows, rows->branches[i], true);
    return count;
}

cairn_code find_any(struct flow *flow, const struct flow_step *step,
                    struct lost_branch *ret_lost)
{
    *ret_lost = (struct lost_branch){0};
    for (const struct step_row *inner = &step->row; inner;) {
        struct around at;
        struct branch_rows rows;
        TRY(go_out(flow, inner, &at));
        inner = at.fork ? &at.fork->row : NULL;
        if (!is_open_any(&at))
            continue;
        TRY(flow_branches(flow, at.fork, at.join, &rows));
        int32_t open = count_open(&rows, at.branch);
        if (open == 0)
            continue; /* it has failed with this branch: those around it count */
        *ret_lost = (struct lost_branch){at.join, at.branch, open};
        return CAIRN_OK;
    }
    return CAIRN_OK;
}

/* The outermost `any` around a step that is not won. */
static cairn_code outermost_any(struct flow *flow, const struct flow_step *step,
                                struct around *ret_found)
{
    *ret_found = (struct around){0};
    for (const struct step_row *inner = &step->row; inner;) {
        struct around at;
        TRY(go_out(flow, inner, &at));
        inner = at.fork ? &at.fork->row : NULL;
        if (is_open_any(&at))
            *ret_found = at;
    }
    return CAIRN_OK;
}

/* ---- lost ----------------------------------------------------------------------------------- */

/* A join that is skipped because its fork has failed says how its branches have ended. */
static cairn_code tell_lost(struct flow *flow, const struct around *at, bool *ret_is_lost)
{
    struct branch_rows rows;
    *ret_is_lost = false;
    if (!at->join || at->join->row.status != STEP_SKIPPED)
        return CAIRN_OK;
    *ret_is_lost = at->join->row.output != NULL;
    if (*ret_is_lost)
        return CAIRN_OK;
    TRY(flow_branches(flow, at->fork, at->join, &rows));
    *ret_is_lost = fork_loser(&rows, false) != NULL;
    if (!*ret_is_lost)
        return CAIRN_OK;
    TRY(flow->source->join_output(flow, at->join, false, &at->join->row.output));
    step_touch(flow, at->join);
    return CAIRN_OK;
}

cairn_code joins_tell_lost(struct flow *flow, const struct flow_step *failed)
{
    bool is_lost = true;
    for (const struct step_row *inner = &failed->row; inner && is_lost;) {
        struct around at;
        TRY(go_out(flow, inner, &at));
        inner = at.fork ? &at.fork->row : NULL;
        TRY(tell_lost(flow, &at, &is_lost));
    }
    return CAIRN_OK;
}

cairn_code joins_tell_all_lost(struct flow *flow)
{
    struct step_list steps;
    TRY(flow->source->between(flow, STEP_FAILED, 0, INT32_MAX, &steps));
    for (size_t i = 0; i < steps.count; i++)
        TRY(joins_tell_lost(flow, steps.items[i]));
    return CAIRN_OK;
}

cairn_code lose_branch(struct flow *flow, const struct flow_step *failed,
                       const struct lost_branch *lost)
{
    struct step_list steps;
    lost->join->row.remaining = lost->open_count;
    step_touch(flow, lost->join);
    TRY(flow->source->between(flow, STEP_NONE, lost->branch.first, lost->branch.last, &steps));
    for (size_t i = 0; i < steps.count; i++) {
        TRY(step_supersede(flow, steps.items[i]));
        if (steps.items[i]->row.status == STEP_FAILED && steps.items[i]->row.is_held) {
            steps.items[i]->row.is_held = false; /* it fails nothing more than its branch */
            step_touch(flow, steps.items[i]);
        }
    }
    return joins_tell_lost(flow, failed);
}

/* ---- the dead letter queue ------------------------------------------------------------------ */

cairn_code step_park(struct flow *flow, struct flow_step *step)
{
    step_set(flow, step, STEP_PAUSED);
    step->row.finished_at_us = 0;
    TRY(flow_note(flow, "step_paused", step, FACTS(.error = step->row.error)));
    return flow->source->park(flow, step, "dlq enabled: rollback/compensation skipped");
}

cairn_code park_lost(struct flow *flow, const struct flow_step *last)
{
    struct around at;
    struct branch_rows rows;
    TRY(outermost_any(flow, last, &at));
    if (!at.fork)
        return CAIRN_OK;
    TRY(flow_branches(flow, at.fork, at.join, &rows));
    for (size_t i = 0; i < rows.count; i++) {
        const struct step_row *row = rows.items[i].row;
        struct flow_step *step;
        if (row->status != STEP_FAILED || row->is_held || row->seq == last->row.seq ||
            branch_is_won(&rows, row->seq))
            continue;
        TRY(flow->source->step(flow, row->seq, &step));
        TRY(step_park(flow, step));
    }
    return CAIRN_OK;
}

/* Whether a step is in a branch that stays lost when another step goes on: of an `any` within the rows that
 * was won, or a lost one that the other step is not in. */
static bool stays_lost(const struct branch_rows *rows, int32_t place, int32_t other)
{
    if (branch_is_won(rows, place))
        return true;
    for (size_t i = 0; i < rows->count && rows->items[i].row->seq < place; i++) {
        const struct branch_row *at = &rows->items[i];
        if (at->row->kind != KIND_FORK || at->config->join <= place)
            continue;
        struct branch_rows inner = branch_rows_of(rows, at);
        for (size_t k = 0; inner.is_any && k < inner.branch_count; k++)
            if (place_is_inside(inner.branches[k], place) &&
                !place_is_inside(inner.branches[k], other) &&
                branch_loser(&inner, inner.branches[k], true))
                return true;
    }
    return false;
}

static cairn_code reopen_rows(struct flow *flow, const struct branch_rows *rows,
                              struct place_range branch, int32_t place,
                              struct reopened *reopened)
{
    struct flow_step **stopped = arena_array(flow->arena, rows->count + 1, sizeof *stopped);
    size_t count = 0;
    NEED(stopped, flow->error);
    for (size_t i = 0; i < rows->count; i++) { /* all are judged before the first one changes */
        const struct step_row *row = rows->items[i].row;
        if (place_is_inside(branch, row->seq) && row->status == STEP_SKIPPED &&
            row->stop == STOP_SUPERSEDED && !stays_lost(rows, row->seq, place))
            TRY(flow->source->step(flow, row->seq, &stopped[count++]));
    }
    for (size_t i = 0; i < count; i++) {
        reopened->is_open[stopped[i]->row.seq - branch.first] = true;
        if (stopped[i]->row.started_at_us)
            TRY(flow->source->untake_signals(flow, stopped[i]));
        TRY(step_reset(flow, stopped[i], false));
    }
    return CAIRN_OK;
}

cairn_code branch_reopen(struct flow *flow, const struct flow_step *step,
                         struct reopened *ret_reopened)
{
    struct around at;
    struct branch_rows rows;
    *ret_reopened = (struct reopened){.branch = {-1, -1}};
    TRY(outermost_any(flow, step, &at));
    if (!at.fork)
        return CAIRN_OK;
    TRY(flow_branches(flow, at.fork, at.join, &rows));
    ret_reopened->branch = at.branch;
    ret_reopened->is_open =
        arena_zalloc(flow->arena, (size_t)(at.branch.last - at.branch.first) + 1);
    NEED(ret_reopened->is_open, flow->error);
    at.join->row.remaining = count_open(&rows, at.branch) + 1;
    step_touch(flow, at.join);
    return reopen_rows(flow, &rows, at.branch, step->row.seq, ret_reopened);
}

bool reopened_has(const struct reopened *reopened, int32_t place)
{
    return place_is_inside(reopened->branch, place) &&
           reopened->is_open[place - reopened->branch.first];
}

/* What ended well before the branch was stopped had sent its token on to a step that has forgotten it. */
cairn_code branch_resend(struct flow *flow, const struct reopened *reopened)
{
    struct step_list steps;
    if (reopened->branch.first < 0)
        return CAIRN_OK;
    TRY(flow->source->between(flow, STEP_NONE, reopened->branch.first, reopened->branch.last,
                              &steps));
    for (size_t i = 0; i < steps.count; i++) {
        struct flow_step *from = steps.items[i];
        if (step_has_passed(&from->row) && !from->row.is_held) /* else it is sent by thawing */
            TRY(token_resend(flow, from, step_passed_signal(&from->row), reopened));
    }
    return CAIRN_OK;
}
