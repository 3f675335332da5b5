/* engine/purge_family.c - removing an instance with many descendants: from the leaves up, in several commits.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * A portion removes descendants that have no children left, and marks all those above them.  What is marked stays ended
 * (batch_control.c), so that nobody meets an instance of which a part is missing.  A descendant without a mark may still be
 * restarted; then it lives, and the rest waits for its end.
 */
#include "engine/purge.h"

/* How far down one portion looks.  What lies deeper is reached from a mark at that depth. */
enum { LEVELS_MAX = 32, CHILDREN_AT_ONCE = 50, READ_MAX = 2000 };

/* Marks that one portion looks at, until it finds something to do. */
enum { BEGUN_MAX = 20 };

struct portion {
    struct purge *purge;
    struct picked_list picked;
    size_t leaves, read;
};

static bool has_room(const struct portion *portion)
{
    return portion->leaves < portion->purge->batch->engine->sweeps.family_most &&
           portion->read < READ_MAX;
}

/* All of a portion are one family: what is removed below something that has changed would be missed there. */
static cairn_code add(struct portion *portion, const struct past_row *row, bool is_marked)
{
    struct batch *batch = portion->purge->batch;
    struct picked *more = list_add(&batch->arena, &portion->picked);
    NEED(more, batch->error);
    *more = (struct picked){.past = *row, .is_marked = is_marked};
    portion->picked.families = 1;
    portion->leaves += !is_marked;
    return CAIRN_OK;
}

/* Picks leaves below a parent, and the parent if there are some. */
static cairn_code pick_below(struct portion *portion, const struct past_row *parent, int level)
{
    struct batch *batch = portion->purge->batch;
    struct past_row *rows = arena_array(&batch->arena, CHILDREN_AT_ONCE, sizeof *rows);
    size_t before = portion->picked.count, count = 0;
    int64_t after = 0;
    NEED(rows, batch->error);
    if (level == LEVELS_MAX)
        return add(portion, parent, true);
    do {
        TRY(STORE(batch, list_past_children, parent->id, after, rows, CHILDREN_AT_ONCE,
                  &count));
        portion->read += count;
        for (size_t i = 0; i < count && portion->leaves < batch->engine->sweeps.family_most;
             i++) {
            after = rows[i].seq;
            if (why_past_stays(&rows[i], false))
                continue;
            TRY(rows[i].has_children ? pick_below(portion, &rows[i], level + 1)
                                     : add(portion, &rows[i], false));
        }
    } while (count == CHILDREN_AT_ONCE && has_room(portion));
    return portion->picked.count > before ? add(portion, parent, true) : CAIRN_OK;
}

cairn_code purge_large(struct purge *purge, const struct past_row *row, bool *ret_is_left)
{
    struct portion portion = {.purge = purge};
    size_t before = purge->purged;
    *ret_is_left = true;
    TRY(row->has_children ? pick_below(&portion, row, 0) : add(&portion, row, false));
    if (!portion.picked.count)
        return CAIRN_OK;
    TRY(purge_picked(purge, &portion.picked));
    *ret_is_left = row->has_children || purge->purged == before;
    return CAIRN_OK;
}

cairn_code purge_look_at_large(struct purge *purge, const struct past_row *row,
                               const char **ret_why, size_t *ret_members)
{
    struct batch *batch = purge->batch;
    struct family_size size = {0};
    bool is_begun = false;
    TRY(STORE(batch, is_purge_begun, row->id, &is_begun));
    if (is_begun && !purge->is_dry_run) /* it was looked at then */
        return CAIRN_OK;
    TRY(STORE(batch, measure_family, row->id, &size));
    *ret_members = (size_t)size.members + 1;
    if (size.open)
        *ret_why = why_past_stays(&(struct past_row){.status = "running"}, false);
    else if (size.held)
        *ret_why =
            why_past_stays(&(struct past_row){.status = row->status, .is_held = true}, false);
    return CAIRN_OK;
}

cairn_code purge_begun(struct purge *purge, bool *ret_is_left)
{
    struct batch *batch = purge->batch;
    struct past_row *rows = arena_array(&batch->arena, BEGUN_MAX, sizeof *rows);
    size_t count = 0;
    bool is_left = false;
    NEED(rows, batch->error);
    *ret_is_left = false;
    TRY(STORE(batch, list_begun_purges, rows, BEGUN_MAX, &count));
    for (size_t i = 0; i < count && !purge->purged && !purge->marked; i++) {
        TRY(purge_large(purge, &rows[i], &is_left));
        *ret_is_left |= is_left;
    }
    return CAIRN_OK;
}
