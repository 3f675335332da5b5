/* engine/totals.c - counts what batches do since the process began, and makes rows of it.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "engine/totals.h"

#include "base/hash.h"
#include "base/mem.h"
#include "base/random.h"
#include "engine/batch.h"
#include "engine/figures.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define REST_US (30 * US_PER_MIN)
#define GONE_US (60 * US_PER_MIN)

static const char other[] = "other";

/* Rows that are read or folded at once: of some eighty processes with as many names as they may have. */
enum { FOLD_MAX = 4096, ROWS_MAX = 16384 };

/* A process that has the number and host of an earlier one, as in a container, is another one. */
void totals_init(struct totals *totals, const char *process)
{
    struct rng rng;
    rng_init(&rng, 0);
    snprintf(totals->process, sizeof totals->process, "%s:%08x:0", process,
             (unsigned)rng_below(&rng, UINT32_MAX));
}

static void next_life(struct totals *totals)
{
    char *end = strrchr(totals->process, ':');
    size_t room = sizeof totals->process - (size_t)(end - totals->process);
    snprintf(end, room, ":%d", ++totals->life);
}

void totals_done(struct totals *totals)
{
    for (size_t i = 0; i < TOTAL_BUCKETS; i++)
        for (struct total_kept *it = totals->buckets[i], *next; it; it = next) {
            next = it->next;
            mem_free(it->name);
            mem_free(it);
        }
}

/* ---- counting -------------------------------------------------------------------------------- */

static struct total_kept **bucket_of(struct totals *totals, enum total_kind kind,
                                     const char *name)
{
    return &totals->buckets[hash_text(HASH_START + kind, name) % TOTAL_BUCKETS];
}

static struct total_kept *find(struct totals *totals, enum total_kind kind, const char *name)
{
    for (struct total_kept *it = *bucket_of(totals, kind, name); it; it = it->next)
        if (it->kind == kind && strcmp(it->name, name) == 0)
            return it;
    return NULL;
}

/* NULL: memory ran out. */
static struct total_kept *add(struct totals *totals, enum total_kind kind, const char *name)
{
    struct total_kept **bucket = bucket_of(totals, kind, name);
    struct total_kept *made = mem_zalloc(sizeof *made);
    if (!made)
        return NULL;
    made->kind = kind;
    made->name = mem_strdup(name);
    if (!made->name) {
        mem_free(made);
        return NULL;
    }
    made->next = *bucket;
    *bucket = made;
    totals->counts[kind]++;
    return made;
}

/* What counts under a name; NULL: memory ran out. */
static struct total *total_of(struct totals *totals, enum total_kind kind, const char *name)
{
    struct total_kept *kept = find(totals, kind, name);
    if (!kept && totals->counts[kind] >= TOTAL_NAMES_MAX) {
        name = other;
        kept = find(totals, kind, name);
    }
    if (!kept)
        kept = add(totals, kind, name);
    if (kept)
        kept->is_changed = true;
    return kept ? &kept->now : NULL;
}

static void count_took(struct total *total, int64_t us)
{
    if (us < 0)
        return;
    histogram_add(&total->took, us);
    total->took_us += us;
}

/* Which number a note adds to; TOTAL_COUNTS: none. */
static enum total_count count_of(const struct figure_note *note)
{
    switch (note->kind) {
    case NOTE_STARTED:
        return TOTAL_BEGUN;
    case NOTE_COMPLETED:
        return TOTAL_ENDED_WELL;
    case NOTE_FAILED:
        return TOTAL_ENDED_FAILED;
    case NOTE_CANCELLED:
        return TOTAL_ENDED_CANCELLED;
    case NOTE_ABORTED:
        return TOTAL_ENDED_ABORTED;
    case NOTE_ENDED:
        return note->is_failed ? TOTAL_CALLS_FAILED : TOTAL_CALLS_WELL;
    case NOTE_RETRIED:
        return TOTAL_CALLS_RETRIED;
    case NOTE_CLAIMED:
    case NOTE_LOST:
        break;
    }
    return TOTAL_COUNTS;
}

void totals_count(struct totals *totals, const struct figure_note *note, const char *type,
                  int64_t took_us)
{
    enum total_kind kind = note->workflow ? TOTAL_WORKFLOW : TOTAL_TYPE;
    const char *name = note->workflow ? note->workflow : type ? type : other;
    struct total *total = total_of(totals, kind, name);
    enum total_count count = count_of(note);
    if (!total)
        return;
    if (count < TOTAL_COUNTS)
        total->n[count]++;
    if (note->kind == NOTE_CLAIMED && note->us >= 0) {
        histogram_add(&total->waited, note->us);
        total->waited_us += note->us;
    }
    if (note->kind != NOTE_CLAIMED && note->kind != NOTE_STARTED)
        count_took(total, took_us);
}

#define ADD(name) all->n[TOTAL_##name] += (int64_t)batch->tally.name;
void totals_count_batch(struct batch *batch)
{
    struct total *all = total_of(&batch->engine->figures.totals, TOTAL_ALL, "");
    if (!all)
        return;
    COUNTERS(ADD)
}

void totals_count_commit(struct totals *totals, size_t requests, int64_t took_us)
{
    struct total *all = total_of(totals, TOTAL_ALL, "");
    if (!all)
        return;
    all->n[TOTAL_commits]++;
    all->n[TOTAL_commit_requests] += (int64_t)requests;
    if (took_us > all->n[TOTAL_commit_us_max])
        all->n[TOTAL_commit_us_max] = took_us;
    count_took(all, took_us);
}

/* ---- rows ------------------------------------------------------------------------------------ */

static void add_numbers(int64_t *to, const int64_t *from, int count, int sign)
{
    for (int i = 0; i < count; i++)
        to[i] += sign * from[i];
}

static void add_signed(struct total *to, const struct total *from, int sign)
{
    add_numbers(to->n, from->n, TOTAL_COUNTS, sign);
    add_numbers(to->took.n, from->took.n, HISTOGRAM_BUCKETS, sign);
    add_numbers(to->waited.n, from->waited.n, HISTOGRAM_BUCKETS, sign);
    to->took_us += sign * from->took_us;
    to->waited_us += sign * from->waited_us;
}

void total_add(struct total *to, const struct total *from)
{
    int64_t longest_us = to->n[TOTAL_commit_us_max];
    add_signed(to, from, 1);
    to->n[TOTAL_commit_us_max] =
        from->n[TOTAL_commit_us_max] > longest_us ? from->n[TOTAL_commit_us_max] : longest_us;
}

void total_of_row(const struct total_row *row, struct total *ret_total)
{
    *ret_total = (struct total){.took_us = row->took_us, .waited_us = row->waited_us};
    numbers_read(row->counts, ret_total->n, TOTAL_COUNTS);
    histogram_read(row->took, &ret_total->took);
    histogram_read(row->waited, &ret_total->waited);
}

static cairn_code total_to_row(struct arena *arena, const struct total *total,
                               struct total_row *row, cairn_error *reterr)
{
    char text[HISTOGRAM_TEXT];
    row->took_us = total->took_us;
    row->waited_us = total->waited_us;
    numbers_write(total->n, TOTAL_COUNTS, text);
    row->counts = arena_strdup(arena, text);
    histogram_write(&total->took, text);
    row->took = arena_strdup(arena, text);
    histogram_write(&total->waited, text);
    row->waited = arena_strdup(arena, text);
    NEED(row->counts && row->took && row->waited, reterr);
    return CAIRN_OK;
}

/* ---- writing --------------------------------------------------------------------------------- */

#define for_each_kept(it, totals)                                \
    for (size_t bucket_ = 0; bucket_ < TOTAL_BUCKETS; bucket_++) \
        for (struct total_kept *it = (totals)->buckets[bucket_]; it; it = it->next)

/* What the store has under the old name of the process stays there. */
static void begin_life(struct totals *totals)
{
    next_life(totals);
    for_each_kept(it, totals)
    {
        int64_t longest_us = it->now.n[TOTAL_commit_us_max];
        add_signed(&it->now, &it->stored, -1);
        it->now.n[TOTAL_commit_us_max] = longest_us;
        it->stored = (struct total){0};
        it->is_stored = false;
    }
}

cairn_code totals_take(struct local_engine *engine, struct arena *arena, int64_t now_us,
                       struct total_row **ret_rows, size_t *ret_count, cairn_error *reterr)
{
    struct totals *totals = &engine->figures.totals;
    size_t count = 0;
    if (totals->written_us && now_us - totals->written_us >= REST_US)
        begin_life(totals);
    for_each_kept(it, totals) count += it->is_changed;
    *ret_count = 0;
    *ret_rows = arena_array(arena, count, sizeof **ret_rows);
    char *process = arena_strdup(arena, totals->process);
    NEED(*ret_rows && process, reterr);
    for_each_kept(it, totals)
    {
        if (!it->is_changed)
            continue;
        struct total_row *row = &(*ret_rows)[*ret_count];
        if (!it->first_us)
            it->first_us = now_us;
        *row = (struct total_row){.process = process,
                                  .kind = it->kind,
                                  .name = it->name,
                                  .first_at_us = it->first_us,
                                  .written_at_us = now_us};
        TRY(total_to_row(arena, &it->now, row, reterr));
        ++*ret_count;
    }
    for_each_kept(it, totals) it->is_changed = false;
    return CAIRN_OK;
}

void totals_settle(struct totals *totals, const struct total_row *rows, size_t count,
                   int64_t now_us, bool is_committed)
{
    for (size_t i = 0; i < count; i++) {
        struct total_kept *kept = find(totals, (enum total_kind)rows[i].kind, rows[i].name);
        if (!kept)
            continue;
        if (!is_committed) {
            kept->is_changed = true;
            if (!kept->is_stored)
                kept->first_us = 0;
            continue;
        }
        total_of_row(&rows[i], &kept->stored);
        kept->is_stored = true;
    }
    if (is_committed && count)
        totals->written_us = now_us;
}

/* ---- processes that are gone ----------------------------------------------------------------- */

void total_names_of(const struct total_row *rows, size_t count, struct total_names *ret_names)
{
    *ret_names = (struct total_names){0};
    for (size_t i = 0; i < count; i++) {
        enum total_kind kind = (enum total_kind)rows[i].kind;
        if (kind < TOTAL_KINDS && ret_names->counts[kind] < TOTAL_NAMES_MAX &&
            total_label(ret_names, kind, rows[i].name) == other &&
            strcmp(rows[i].name, other) != 0)
            ret_names->names[kind][ret_names->counts[kind]++] = rows[i].name;
    }
}

const char *total_label(const struct total_names *names, enum total_kind kind, const char *name)
{
    for (size_t i = 0; i < names->counts[kind]; i++)
        if (strcmp(names->names[kind][i], name) == 0)
            return names->names[kind][i];
    return other;
}

/* The row of the process "" that a row of another one is added to. */
static struct total_row *find_target(struct total_row *rows, size_t *count, int32_t kind,
                                     const char *name)
{
    for (size_t i = 0; i < *count; i++)
        if (rows[i].kind == kind && strcmp(rows[i].name, name) == 0)
            return &rows[i];
    rows[*count] = (struct total_row){.process = "", .kind = kind, .name = name};
    return &rows[(*count)++];
}

static cairn_code add_gone(struct batch *batch, struct total_row *to,
                           const struct total_row *from)
{
    struct total sum, one;
    total_of_row(to, &sum);
    total_of_row(from, &one);
    total_add(&sum, &one);
    sum.n[TOTAL_commit_us_max] = 0;
    if (!to->first_at_us || from->first_at_us < to->first_at_us)
        to->first_at_us = from->first_at_us;
    to->written_at_us = batch->tx->now_us;
    return total_to_row(&batch->arena, &sum, to, batch->error);
}

static int compare_firsts(const void *a, const void *b)
{
    const struct total_row *one = a, *before = b;
    if (one->first_at_us != before->first_at_us)
        return one->first_at_us < before->first_at_us ? -1 : 1;
    if (one->kind != before->kind)
        return one->kind < before->kind ? -1 : 1;
    return strcmp(one->name, before->name);
}

/* Nothing is gone most of the time, and then nothing else is read. */
cairn_code totals_fold(struct batch *batch)
{
    size_t gone = 0, left = 0, count = 0;
    struct total_row *rows =
        arena_room(&batch->arena, FOLD_MAX + (size_t)ROWS_MAX, sizeof *rows);
    struct total_names *names = arena_zalloc(&batch->arena, sizeof *names);
    NEED(rows && names, batch->error);
    TRY(STORE(batch, take_totals, batch->tx->now_us - GONE_US, rows, FOLD_MAX, &gone));
    if (!gone)
        return CAIRN_OK;
    TRY(STORE(batch, list_totals, rows + gone, ROWS_MAX, &left));
    struct total_row *sums = arena_array(&batch->arena, gone + left, sizeof *sums);
    struct total_row *all = arena_array(&batch->arena, gone + left, sizeof *all);
    NEED(sums && all, batch->error);
    memcpy(all, rows, (gone + left) * sizeof *all);
    qsort(all, gone + left, sizeof *all, compare_firsts);
    total_names_of(all, gone + left, names);
    for (size_t i = gone; i < gone + left; i++)
        if (!*rows[i].process)
            sums[count++] = rows[i];
    for (size_t i = 0; i < gone; i++) {
        const char *label =
            rows[i].kind ? total_label(names, (enum total_kind)rows[i].kind, rows[i].name)
                         : rows[i].name;
        struct total_row *sum = find_target(sums, &count, rows[i].kind, label);
        TRY(add_gone(batch, sum, &rows[i]));
    }
    return STORE(batch, put_totals, sums, count);
}
