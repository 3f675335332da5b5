/* engine/figures_fold.c - figures as rows, and rows of longer times made of shorter ones.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "engine/batch.h"
#include "engine/figures.h"

#include <stdlib.h>
#include <string.h>

/* Rows that are folded at once: those of one time and all types. */
enum { FOLD_MAX = 8192 };

void figure_add(struct figure *to, const struct figure *from)
{
    to->started += from->started;
    to->completed += from->completed;
    to->failed += from->failed;
    to->tasks += from->tasks;
    to->retried += from->retried;
    histogram_merge(&to->took, &from->took);
    histogram_merge(&to->wait, &from->wait);
}

void figure_of_row(const struct figure_row *row, struct figure *ret_figure)
{
    *ret_figure = (struct figure){.started = row->started,
                                  .completed = row->completed,
                                  .failed = row->failed,
                                  .tasks = row->tasks,
                                  .retried = row->retried};
    histogram_read(row->took, &ret_figure->took);
    histogram_read(row->waited, &ret_figure->wait);
}

cairn_code figure_to_row(struct arena *arena, const struct figure *figure,
                         struct figure_row *row, cairn_error *reterr)
{
    char text[HISTOGRAM_TEXT];
    row->started = figure->started;
    row->completed = figure->completed;
    row->failed = figure->failed;
    row->tasks = figure->tasks;
    row->retried = figure->retried;
    histogram_write(&figure->took, text);
    row->took = arena_strdup(arena, text);
    histogram_write(&figure->wait, text);
    row->waited = arena_strdup(arena, text);
    NEED(row->took && row->waited, reterr);
    return CAIRN_OK;
}

static int compare_rows(const void *a, const void *b)
{
    const struct figure_row *one = a, *other = b;
    int order = strcmp(one->type, other->type);
    return order ? order : strcmp(one->process, other->process);
}

/* Adds up rows of the same type and process; how many are left. */
static cairn_code join_rows(struct batch *batch, struct figure_row *rows, size_t count,
                            size_t *ret_count)
{
    size_t kept = 0;
    if (count)
        qsort(rows, count, sizeof *rows, compare_rows);
    for (size_t i = 0; i < count;) {
        struct figure sum = {0}, one;
        struct figure_row row = rows[i];
        for (; i < count && compare_rows(&row, &rows[i]) == 0; i++) {
            figure_of_row(&rows[i], &one);
            figure_add(&sum, &one);
        }
        TRY(figure_to_row(&batch->arena, &sum, &row, batch->error));
        rows[kept++] = row;
    }
    *ret_count = kept;
    return CAIRN_OK;
}

/* The oldest rows of this width that begin before a time become rows of the other width, with what there is of
 * these already. */
static cairn_code fold(struct batch *batch, int32_t from, int32_t to, int64_t before_us)
{
    int64_t oldest_us, width_us = to * US_PER_SEC;
    size_t count = 0, more = 0;
    before_us -= before_us % width_us;
    cairn_code code = STORE(batch, oldest_figure, from, before_us, &oldest_us);
    if (code)
        return code == CAIRN_E_NOT_FOUND ? CAIRN_OK : code;
    int64_t at_us = oldest_us - oldest_us % width_us;
    struct figure_row *rows = arena_room(&batch->arena, 2 * (size_t)FOLD_MAX, sizeof *rows);
    NEED(rows, batch->error);
    TRY(STORE(batch, take_figures, from, at_us, at_us + width_us, rows, FOLD_MAX, &count));
    TRY(STORE(batch, take_figures, to, at_us, at_us + 1, rows + count, FOLD_MAX, &more));
    TRY(join_rows(batch, rows, count + more, &count));
    for (size_t i = 0; i < count; i++) {
        rows[i].resolution = to;
        rows[i].at_us = at_us;
    }
    return count ? STORE(batch, put_figures, rows, count) : CAIRN_OK;
}

cairn_code figures_fold(struct batch *batch)
{
    int64_t now_us = batch->tx->now_us;
    TRY(fold(batch, FIGURES_MINUTE, FIGURES_TEN_MINUTES, now_us - FIGURES_KEPT_MINUTES));
    TRY(fold(batch, FIGURES_TEN_MINUTES, FIGURES_HOUR, now_us - FIGURES_KEPT_TENS));
    return STORE(batch, drop_figures, FIGURES_HOUR, now_us - FIGURES_KEPT_HOURS);
}
