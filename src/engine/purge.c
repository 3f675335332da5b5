/* engine/purge.c - removing history, a portion at a time.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "engine/purge.h"

#include <stdlib.h>
#include <string.h>

/* ---- keys ------------------------------------------------------------------------------------ */

/* What becomes of those that are locked and as they were. */
struct going {
    struct past_row *rows; /* are removed */
    struct key_row *keys;  /* are kept */
    const char **marks;    /* are marked */
    size_t row_count, key_count, mark_count;
};

static cairn_code make_going(struct batch *batch, const struct picked_list *picked,
                             struct going *ret)
{
    size_t count = picked->count;
    *ret = (struct going){.rows = arena_array(&batch->arena, count, sizeof *ret->rows),
                          .keys = arena_array(&batch->arena, count, sizeof *ret->keys),
                          .marks = arena_array(&batch->arena, count, sizeof *ret->marks)};
    NEED(ret->rows && ret->keys && ret->marks, batch->error);
    for (size_t i = 0; i < count; i++)
        ret->rows[i] = picked->items[i].past;
    return CAIRN_OK;
}

/* A key outlives its owner, unless its own time is over, too. */
static bool keeps_key(const struct purge *purge, const struct past_row *row)
{
    int64_t keys_ms = purge->policy.keys;
    return row->key && (keys_ms < 0 ||
                        retention_due_us(keys_ms, row->ended_at_us) > purge->batch->tx->now_us);
}

/* In the room of those that were looked at. */
static void let_go(const struct purge *purge, enum list_kind kind, const struct past_row *row,
                   struct going *going)
{
    if (keeps_key(purge, row))
        going->keys[going->key_count++] =
            (struct key_row){.kind = kind == LIST_JOBS ? "job" : "instance",
                             .workflow = kind == LIST_JOBS ? "" : row->name,
                             .key = row->key,
                             .id = row->id,
                             .ended_at_us = row->ended_at_us};
    going->rows[going->row_count++] = *row;
}

static cairn_code write_going(struct purge *purge, enum list_kind kind,
                              const struct going *going)
{
    struct batch *batch = purge->batch;
    size_t marked = 0;
    if (going->mark_count)
        TRY(STORE(batch, mark_purges, going->marks, going->mark_count, &marked));
    if (going->key_count)
        TRY(STORE(batch, keep_keys, going->keys, going->key_count));
    if (going->row_count)
        TRY(STORE(batch, purge, kind, going->rows, going->row_count));
    purge->purged += going->row_count;
    purge->marked += marked;
    return CAIRN_OK;
}

/* ---- jobs ------------------------------------------------------------------------------------ */

/* Removes those that are still to go. */
static cairn_code purge_jobs(struct purge *purge, const struct picked_list *picked)
{
    struct batch *batch = purge->batch;
    struct going going;
    size_t count = picked->count;
    int64_t due_us;
    TRY(make_going(batch, picked, &going));
    TRY(STORE(batch, lock_past, LIST_JOBS, going.rows, &count));
    for (size_t i = 0; i < count; i++) {
        struct past_row row = going.rows[i];
        if (row.ended_at_us && purge->wants(purge, LIST_JOBS, &row, &due_us))
            let_go(purge, LIST_JOBS, &row, &going);
    }
    return write_going(purge, LIST_JOBS, &going);
}

/* ---- instances ------------------------------------------------------------------------------- */

/* An instance and its family, which go together. */
struct family {
    struct past_row *rows;
    size_t count;
    bool is_whole;
};

static cairn_code read_family(struct batch *batch, const struct past_row *first,
                              struct family *ret)
{
    size_t room = batch->engine->sweeps.family_most, count = 0;
    struct past_row *rows =
        arena_array(&batch->arena, first->has_children ? room + 1 : 1, sizeof *rows);
    NEED(rows, batch->error);
    rows[0] = *first;
    if (first->has_children)
        TRY(STORE(batch, list_family, first->id, rows + 1, room, &count));
    *ret = (struct family){.rows = rows, .count = count + 1, .is_whole = count < room};
    return CAIRN_OK;
}

const char *why_past_stays(const struct past_row *row, bool is_first)
{
    if (!instance_is_final(instance_status_from(row->status)))
        return is_first ? "has not ended" : "has a child that has not ended";
    if (row->is_held)
        return is_first
                   ? "has an open dead letter, or an outbox event that was not acknowledged"
                   : "has a child with an open dead letter, or with an outbox event that was "
                     "not acknowledged";
    if (is_first && row->is_child)
        return "is waited for by an instance that is still there, and goes with that one";
    return NULL;
}

/* Adds an instance and its family to those that go; *ret_why: why it must stay.  *ret_is_large: its family must go in
 * several commits, and nothing was added. */
static cairn_code pick_instance(struct purge *purge, const struct past_row *row,
                                struct picked_list *picked, const char **ret_why,
                                bool *ret_is_large)
{
    struct family family = {0};
    *ret_is_large = false;
    *ret_why = why_past_stays(row, true);
    if (*ret_why)
        return CAIRN_OK;
    TRY(read_family(purge->batch, row, &family));
    *ret_is_large = !family.is_whole;
    if (*ret_is_large)
        return CAIRN_OK;
    for (size_t i = 0; i < family.count && !*ret_why; i++)
        *ret_why = why_past_stays(&family.rows[i], i == 0);
    for (size_t i = 0; i < family.count && !*ret_why; i++) {
        struct picked *more = list_add(&purge->batch->arena, picked);
        NEED(more, purge->batch->error);
        *more = (struct picked){.past = family.rows[i], .family = picked->families};
    }
    picked->families += !*ret_why;
    return CAIRN_OK;
}

static int compare_picked(const void *a, const void *b)
{
    return strcmp(((const struct picked *)a)->past.id, ((const struct picked *)b)->past.id);
}

/* Families of which a member has changed or is held by others stay. */
cairn_code purge_picked(struct purge *purge, struct picked_list *picked)
{
    struct batch *batch = purge->batch;
    size_t count = picked->count, locked = count;
    bool *is_broken = arena_array(&batch->arena, picked->families, sizeof *is_broken);
    struct going going;
    NEED(is_broken, batch->error);
    qsort(picked->items, count, sizeof *picked->items, compare_picked);
    TRY(make_going(batch, picked, &going));
    TRY(STORE(batch, lock_past, LIST_INSTANCES, going.rows, &locked));
    for (size_t i = 0, at = 0; i < count; i++) {
        struct past_row *was = &picked->items[i].past, *row = &going.rows[at];
        bool is_there = at < locked && strcmp(row->id, was->id) == 0;
        at += is_there;
        if (!is_there || strcmp(row->status, was->status) != 0 ||
            row->ended_at_us != was->ended_at_us || row->is_held)
            is_broken[picked->items[i].family] = true;
        else
            *was = *row;
    }
    for (size_t i = 0; i < count; i++) {
        const struct picked *item = &picked->items[i];
        if (is_broken[item->family])
            continue;
        if (item->is_marked)
            going.marks[going.mark_count++] = item->past.id;
        else
            let_go(purge, LIST_INSTANCES, &item->past, &going);
    }
    return write_going(purge, LIST_INSTANCES, &going);
}

cairn_code purge_instance(struct purge *purge, const struct past_row *row, const char **ret_why,
                          bool *ret_is_left)
{
    struct picked_list picked = {0};
    bool is_large;
    size_t members;
    *ret_is_left = false;
    TRY(pick_instance(purge, row, &picked, ret_why, &is_large));
    if (is_large)
        TRY(purge_look_at_large(purge, row, ret_why, &members));
    if (*ret_why)
        return CAIRN_OK;
    TRY(is_large ? purge_large(purge, row, ret_is_left) : purge_picked(purge, &picked));
    if (!purge->purged && !purge->marked)
        *ret_why = "is being changed";
    return CAIRN_OK;
}

/* ---- a portion ------------------------------------------------------------------------------- */

static void note_left(struct purge *purge, int64_t due_us)
{
    purge->seen++;
    if (due_us < purge->earliest_us)
        purge->earliest_us = due_us;
}

/* Of the rows that were read, those that are to go; the others are left.  *ret_is_large: as in pick_instance(). */
static cairn_code pick(struct purge *purge, enum list_kind kind, const struct past_row *row,
                       struct picked_list *picked, bool *ret_is_large)
{
    int64_t due_us = INT64_MAX;
    const char *why = NULL;
    *ret_is_large = false;
    if (row->created_at_us < purge->created_us)
        purge->created_us = row->created_at_us;
    if (!row->ended_at_us || !purge->wants(purge, kind, row, &due_us)) {
        note_left(purge, due_us);
        return CAIRN_OK;
    }
    if (kind == LIST_JOBS) {
        struct picked *more = list_add(&purge->batch->arena, picked);
        NEED(more, purge->batch->error);
        *more = (struct picked){.past = *row};
        return CAIRN_OK;
    }
    TRY(pick_instance(purge, row, picked, &why, ret_is_large));
    if (why && !row->is_child) /* a child goes with its parent, which was looked at, too */
        note_left(purge, purge->batch->tx->now_us + PURGE_HELD_AGAIN_US);
    return CAIRN_OK;
}

/* One with a large family has a commit of its own.  *ret_is_left: it is still there, and less of it. */
static cairn_code take_large(struct purge *purge, const struct past_row *row, bool *ret_is_left)
{
    const char *why = NULL;
    size_t members = 0;
    *ret_is_left = false;
    TRY(purge_look_at_large(purge, row, &why, &members));
    if (!why && purge->is_dry_run)
        purge->purged += members;
    else if (!why)
        TRY(purge_large(purge, row, ret_is_left));
    *ret_is_left &= purge->purged || purge->marked;
    if (why || (!purge->purged && !purge->marked))
        note_left(purge, purge->batch->tx->now_us + PURGE_HELD_AGAIN_US);
    return CAIRN_OK;
}

/* Looks at rows behind the number *place, which moves on.  *ret_is_full: the rest belongs to the next portion. */
static cairn_code pick_rows(struct purge *purge, enum list_kind kind,
                            const struct past_row *rows, size_t count, int64_t *place,
                            struct picked_list *picked, bool *ret_is_full)
{
    size_t most = kind == LIST_JOBS ? PURGE_JOBS : PURGE_INSTANCES;
    bool is_large = false, is_left = false;
    *ret_is_full = false;
    for (size_t at = 0; at < count && !*ret_is_full; at++) {
        TRY(pick(purge, kind, &rows[at], picked, &is_large));
        *ret_is_full = is_large && picked->count && !purge->is_dry_run;
        if (*ret_is_full)
            break; /* what was found so far goes first */
        if (is_large)
            TRY(take_large(purge, &rows[at], &is_left));
        purge->read++;
        *ret_is_full = is_left || (is_large && !purge->is_dry_run && purge->purged) ||
                       (picked->count >= most && !purge->is_dry_run);
        if (!is_left)
            *place = rows[at].seq;
    }
    return CAIRN_OK;
}

cairn_code purge_portion(struct purge *purge, enum list_kind kind, int64_t *place,
                         bool *ret_is_over)
{
    struct batch *batch = purge->batch;
    size_t room = kind == LIST_JOBS ? PURGE_JOBS : PURGE_INSTANCES, count = 0;
    size_t most = purge->read + PURGE_SCAN;
    struct past_row *rows = arena_array(&batch->arena, room, sizeof *rows);
    struct picked_list picked = {0};
    bool is_full = false;
    NEED(rows, batch->error);
    purge->created_us = INT64_MAX;
    do {
        TRY(STORE(batch, scan_past, kind, *place, rows, room, &count));
        TRY(pick_rows(purge, kind, rows, count, place, &picked, &is_full));
    } while (!is_full && count == room && purge->read < most);
    *ret_is_over = count < room && (count == 0 || *place == rows[count - 1].seq);
    if (purge->is_dry_run || !picked.count) {
        purge->purged += picked.count;
        return CAIRN_OK;
    }
    return kind == LIST_JOBS ? purge_jobs(purge, &picked) : purge_picked(purge, &picked);
}
