/* core/branch.c - how the branches of a fork have ended, as their rows say.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "core/branch.h"

/* The first one at this place or behind it. */
static size_t find_from(const struct branch_rows *rows, int32_t place)
{
    size_t low = 0, high = rows->count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (rows->items[middle].row->seq < place)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static const struct branch_row *find(const struct branch_rows *rows, int32_t place)
{
    size_t at = find_from(rows, place);
    bool is_there = at < rows->count && rows->items[at].row->seq == place;
    return is_there ? &rows->items[at] : NULL;
}

/* ---- ends ----------------------------------------------------------------------------------- */

bool list_is_taken(const struct step_row *first)
{
    return first->status != STEP_SKIPPED || first->stop ||
           first->commit_no; /* its failure was passed over */
}

/* The last element of a list that goes on with the join.  If it is a condition, the lists in it go on there,
 * too, but stand behind it. */
static const struct branch_row *last_of(const struct branch_rows *rows, struct place_range list)
{
    for (size_t i = find_from(rows, list.first); i < rows->count; i++) {
        const struct step_row *row = rows->items[i].row;
        if (row->seq > list.last)
            break;
        if (row->next == rows->join && row->scope_fork == rows->fork)
            return &rows->items[i];
    }
    return NULL;
}

/* A condition that was rolled back had been decided.  One that was copied is not executed: a rerun may begin in
 * one of its lists, whatever had become of it. */
bool branch_is_decided(const struct branch_row *end)
{
    const struct step_row *row = end->row;
    bool was_completed = row->status == STEP_COMPLETED || row->status == STEP_ROLLED_BACK;
    return row->kind != KIND_CONDITION || row->is_copied || (row->commit_no && was_completed);
}

/* Whether a list of a condition that was copied has steps which were not. */
static bool begins_in(const struct branch_rows *rows, struct place_range list)
{
    for (size_t i = find_from(rows, list.first); i < rows->count; i++) {
        if (rows->items[i].row->seq > list.last)
            break;
        if (!rows->items[i].row->is_copied)
            return true;
    }
    return false;
}

static struct place_range taken_list(const struct branch_rows *rows,
                                     const struct branch_row *condition)
{
    const struct place_range lists[] = {condition->config->then_list,
                                        condition->config->else_list};
    for (int i = 0; i < 2; i++)
        if (condition->row->is_copied && lists[i].first >= 0 && begins_in(rows, lists[i]))
            return lists[i];
    for (int i = 0; i < 2; i++) {
        const struct branch_row *first = lists[i].first < 0 ? NULL : find(rows, lists[i].first);
        if (first && list_is_taken(first->row))
            return lists[i];
    }
    return (struct place_range){-1, -1};
}

const struct branch_row *branch_end(const struct branch_rows *rows, struct place_range branch)
{
    const struct branch_row *end = last_of(rows, branch);
    while (end && end->row->kind == KIND_CONDITION && branch_is_decided(end)) {
        struct place_range taken = taken_list(rows, end);
        const struct branch_row *last = taken.first < 0 ? NULL : last_of(rows, taken);
        if (!last)
            break;
        end = last;
    }
    return end;
}

/* ---- failures ------------------------------------------------------------------------------- */

/* What failed while the instance was paused has not lost anything yet: it may be tried again. */
static bool has_failed(const struct step_row *row, bool is_parked)
{
    return (row->status == STEP_FAILED && !row->is_held) ||
           (is_parked && row->status == STEP_PAUSED && row->kind != KIND_JOIN);
}

static bool is_passed(const struct branch_row *join)
{
    return join && join->row->commit_no && join->row->status != STEP_FAILED;
}

struct branch_rows branch_rows_of(const struct branch_rows *rows, const struct branch_row *fork)
{
    const struct branch_row *join = find(rows, fork->config->join);
    struct branch_rows inner = *rows;
    inner.fork = fork->row->seq;
    inner.join = fork->config->join;
    inner.is_any = join && join->config->is_any;
    inner.branches = fork->config->branches;
    inner.branch_count = fork->config->branch_count;
    return inner;
}

const struct step_row *branch_loser(const struct branch_rows *rows, struct place_range branch,
                                    bool is_parked)
{
    const struct step_row *loser = NULL;
    for (size_t i = find_from(rows, branch.first); i < rows->count; i++) {
        const struct branch_row *at = &rows->items[i];
        const struct step_row *failed = NULL;
        if (at->row->seq > branch.last)
            break;
        if (at->row->scope_fork != rows->fork)
            continue;
        if (has_failed(at->row, is_parked)) {
            failed = at->row;
        } else if (at->row->kind == KIND_FORK) {
            struct branch_rows inner = branch_rows_of(rows, at);
            bool is_over = is_passed(find(rows, inner.join));
            failed = is_over ? NULL : fork_loser(&inner, is_parked);
        }
        if (failed && (!loser || failed->commit_no < loser->commit_no))
            loser = failed;
    }
    return loser;
}

const struct step_row *fork_loser(const struct branch_rows *rows, bool is_parked)
{
    const struct step_row *loser = NULL;
    for (size_t i = 0; i < rows->branch_count; i++) {
        const struct step_row *failed = branch_loser(rows, rows->branches[i], is_parked);
        if (!failed && rows->is_any)
            return NULL;
        if (failed && (!loser || (failed->commit_no > loser->commit_no) == rows->is_any))
            loser = failed;
    }
    return loser;
}

bool branch_is_won(const struct branch_rows *rows, int32_t place)
{
    for (size_t i = 0; i < rows->count && rows->items[i].row->seq < place; i++) {
        const struct branch_row *at = &rows->items[i];
        if (at->row->kind != KIND_FORK ||
            !place_is_inside((struct place_range){at->row->seq + 1, at->config->join - 1},
                             place))
            continue;
        const struct branch_row *join = find(rows, at->config->join);
        if (is_passed(join) && join->config->is_any)
            return true;
    }
    return false;
}
