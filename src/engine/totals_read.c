/* engine/totals_read.c - the totals of all processes, added up.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "engine/read.h"
#include "engine/totals.h"

#include <stdlib.h>
#include <string.h>

enum { ROWS_MAX = 16384, SUMS_MAX = TOTAL_KINDS * (TOTAL_NAMES_MAX + 1) };

static struct total_sum *find_sum(struct total_sums *sums, enum total_kind kind,
                                  const char *name)
{
    for (size_t i = 0; i < sums->count; i++)
        if (sums->items[i].kind == kind && strcmp(sums->items[i].name, name) == 0)
            return &sums->items[i];
    sums->items[sums->count] = (struct total_sum){.kind = kind, .name = name};
    return &sums->items[sums->count++];
}

static int compare_sums(const void *a, const void *b)
{
    const struct total_sum *one = a, *behind = b;
    if (one->kind != behind->kind)
        return one->kind < behind->kind ? -1 : 1;
    return strcmp(one->name, behind->name);
}

cairn_code totals_sum(struct question *q, struct total_sums *ret_sums)
{
    struct total_row *rows = arena_array(q->arena, ROWS_MAX, sizeof *rows);
    size_t count = 0;
    *ret_sums = (struct total_sums){0};
    ret_sums->items = arena_array(q->arena, SUMS_MAX, sizeof *ret_sums->items);
    NEED(rows && ret_sums->items, q->error);
    TRY(STORE(q, list_totals, rows, ROWS_MAX, &count));
    total_names_of(rows, count, &ret_sums->names);
    find_sum(ret_sums, TOTAL_ALL, "");
    for (size_t i = 0; i < count; i++) {
        enum total_kind kind = (enum total_kind)rows[i].kind;
        struct total one;
        if (kind >= TOTAL_KINDS)
            continue;
        const char *name =
            kind == TOTAL_ALL ? "" : total_label(&ret_sums->names, kind, rows[i].name);
        total_of_row(&rows[i], &one);
        total_add(&find_sum(ret_sums, kind, name)->total, &one);
    }
    qsort(ret_sums->items, ret_sums->count, sizeof *ret_sums->items, compare_sums);
    return CAIRN_OK;
}
