/* engine/purge.c - removing history, a portion at a time.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "engine/purge.h"

#include <stdlib.h>
#include <string.h>

/* The children of an instance, theirs and so on, that are looked at; one with more stays. */
enum { FAMILY_FIRST = 256, FAMILY_STEP = 8, FAMILY_MAX = 131072 };

/* When to look again at one that is old and must stay: what holds it may end at any time. */
#define HELD_AGAIN_US (60 * US_PER_MIN)

/* What is to go. */
struct picked {
    struct past_row past;
    size_t family; /* instances of one family go together */
};
struct picked_list {
    struct picked *items;
    size_t count, room;
    size_t families;
};

static int compare_ids(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* ---- keys ------------------------------------------------------------------------------------ */

/* A key outlives its owner, unless its own time is over, too. */
static bool keeps_key(const struct purge *purge, const char *key, int64_t ended_us)
{
    int64_t keys_ms = purge->policy.keys;
    return key &&
           (keys_ms < 0 || retention_due_us(keys_ms, ended_us) > purge->batch->tx->now_us);
}

/* ---- jobs ------------------------------------------------------------------------------------ */

/* Removes those that are still as they were read.  ids are valid. */
static cairn_code purge_jobs(struct purge *purge, const struct picked_list *picked)
{
    struct batch *batch = purge->batch;
    size_t count = picked->count;
    const char **ids = arena_array(&batch->arena, count, sizeof *ids);
    struct job_row *rows = arena_array(&batch->arena, count, sizeof *rows);
    enum lock_result *results = arena_array(&batch->arena, count, sizeof *results);
    struct key_row *keys = arena_array(&batch->arena, count, sizeof *keys);
    size_t locked = 0, kept = 0;
    NEED(ids && rows && results && keys, batch->error);
    for (size_t i = 0; i < count; i++)
        ids[i] = picked->items[i].past.id;
    qsort(ids, count, sizeof *ids, compare_ids);
    TRY(STORE(batch, lock_jobs, ids, count, false, rows, results));
    for (size_t i = 0; i < count; i++) {
        struct past_row now = {.id = ids[i]};
        int64_t due_us;
        if (results[i] != LOCK_DONE)
            continue;
        now.name = rows[i].type;
        now.status = job_status_name(retention_job_end(&rows[i], &now.ended_at_us));
        if (!now.ended_at_us || !purge->wants(purge, LIST_JOBS, &now, &due_us))
            continue;
        if (keeps_key(purge, rows[i].key, now.ended_at_us))
            keys[kept++] = (struct key_row){.kind = "job",
                                            .workflow = "",
                                            .key = rows[i].key,
                                            .id = rows[i].id,
                                            .ended_at_us = now.ended_at_us};
        rows[locked++] = rows[i];
    }
    purge->purged += locked;
    if (kept)
        TRY(STORE(batch, keep_keys, keys, kept));
    return locked ? STORE(batch, purge_jobs, rows, locked) : CAIRN_OK;
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
    size_t room = FAMILY_FIRST / FAMILY_STEP, count = 0;
    do {
        room *= FAMILY_STEP;
        struct past_row *rows =
            arena_array(&batch->arena, first->has_children ? room + 1 : 1, sizeof *rows);
        NEED(rows, batch->error);
        rows[0] = *first;
        if (first->has_children)
            TRY(STORE(batch, list_family, first->id, rows + 1, room, &count));
        *ret = (struct family){.rows = rows, .count = count + 1, .is_whole = count < room};
    } while (!ret->is_whole && room < FAMILY_MAX);
    return CAIRN_OK;
}

static const char *why_stays(const struct past_row *row, bool is_first)
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

/* NULL: no member of the family must stay. */
static const char *why_family_stays(const struct family *family)
{
    const char *why = family->is_whole ? NULL : "has too many children";
    for (size_t i = 0; i < family->count && !why; i++)
        why = why_stays(&family->rows[i], i == 0);
    return why;
}

/* Adds an instance and its family to those that go; *ret_why: why it must stay. */
static cairn_code pick_instance(struct purge *purge, const struct past_row *row,
                                struct picked_list *picked, const char **ret_why)
{
    struct family family = {0};
    *ret_why = why_stays(row, true);
    if (*ret_why)
        return CAIRN_OK;
    TRY(read_family(purge->batch, row, &family));
    *ret_why = why_family_stays(&family);
    for (size_t i = 0; i < family.count && !*ret_why; i++) {
        struct picked *more = list_add(&purge->batch->arena, picked);
        NEED(more, purge->batch->error);
        *more = (struct picked){.past = family.rows[i], .family = picked->families};
    }
    picked->families += !*ret_why;
    return CAIRN_OK;
}

/* Whether it is still as it was read; others may have changed it before it was locked. */
static bool is_unchanged(const struct past_row *past, const struct instance_row *row,
                         enum lock_result result)
{
    return result == LOCK_DONE && row->status == instance_status_from(past->status) &&
           row->finished_at_us == past->ended_at_us && !row->is_telling;
}

static int compare_picked(const void *a, const void *b)
{
    return strcmp(((const struct picked *)a)->past.id, ((const struct picked *)b)->past.id);
}

/* Removes the families of which no member has changed. */
static cairn_code remove_families(struct purge *purge, struct picked_list *picked)
{
    struct batch *batch = purge->batch;
    size_t count = picked->count, going = 0, kept = 0;
    const char **ids = arena_array(&batch->arena, count, sizeof *ids);
    struct instance_row *rows = arena_array(&batch->arena, count, sizeof *rows);
    enum lock_result *results = arena_array(&batch->arena, count, sizeof *results);
    struct key_row *keys = arena_array(&batch->arena, count, sizeof *keys);
    bool *is_broken = arena_array(&batch->arena, picked->families, sizeof *is_broken);
    NEED(ids && rows && results && keys && is_broken, batch->error);
    qsort(picked->items, count, sizeof *picked->items, compare_picked);
    for (size_t i = 0; i < count; i++)
        ids[i] = picked->items[i].past.id;
    TRY(STORE(batch, lock_instances, ids, count, false, rows, results));
    for (size_t i = 0; i < count; i++)
        is_broken[picked->items[i].family] |=
            !is_unchanged(&picked->items[i].past, &rows[i], results[i]);
    for (size_t i = 0; i < count; i++) {
        const struct instance_row *row = &rows[i];
        if (is_broken[picked->items[i].family])
            continue;
        if (keeps_key(purge, row->key, row->finished_at_us))
            keys[kept++] = (struct key_row){.kind = "instance",
                                            .workflow = row->workflow,
                                            .key = row->key,
                                            .id = row->id,
                                            .ended_at_us = row->finished_at_us};
        rows[going++] = *row;
    }
    purge->purged += going;
    if (kept)
        TRY(STORE(batch, keep_keys, keys, kept));
    return going ? STORE(batch, purge_instances, rows, going) : CAIRN_OK;
}

cairn_code purge_instance(struct purge *purge, const struct past_row *row, const char **ret_why)
{
    struct picked_list picked = {0};
    TRY(pick_instance(purge, row, &picked, ret_why));
    if (*ret_why)
        return CAIRN_OK;
    TRY(remove_families(purge, &picked));
    if (!purge->purged)
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

/* Of the rows that were read, those that are to go; the others are left. */
static cairn_code pick(struct purge *purge, enum list_kind kind, const struct past_row *row,
                       struct picked_list *picked)
{
    int64_t due_us = INT64_MAX;
    const char *why = NULL;
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
    TRY(pick_instance(purge, row, picked, &why));
    if (why)
        note_left(purge, purge->batch->tx->now_us + HELD_AGAIN_US);
    return CAIRN_OK;
}

cairn_code purge_portion(struct purge *purge, enum list_kind kind, int64_t *place,
                         bool *ret_is_over)
{
    struct batch *batch = purge->batch;
    struct past_row *rows = arena_array(&batch->arena, PURGE_SCAN, sizeof *rows);
    struct picked_list picked = {0};
    size_t most = kind == LIST_JOBS ? PURGE_JOBS : PURGE_INSTANCES;
    size_t count = 0, at = 0;
    NEED(rows, batch->error);
    purge->created_us = INT64_MAX;
    TRY(STORE(batch, scan_past, kind, *place, rows, PURGE_SCAN, &count));
    for (; at < count && (purge->is_dry_run || picked.count < most); at++) {
        TRY(pick(purge, kind, &rows[at], &picked));
        *place = rows[at].seq;
    }
    purge->read += at;
    *ret_is_over = at == count && count < PURGE_SCAN;
    if (purge->is_dry_run || !picked.count) {
        purge->purged += picked.count;
        return CAIRN_OK;
    }
    return kind == LIST_JOBS ? purge_jobs(purge, &picked) : remove_families(purge, &picked);
}
