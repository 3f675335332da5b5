/* store/sqlite/heads.c - which types a claim means, and the best of what they have waiting.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "store/sqlite/heads.h"

#include "base/error.h"
#include "base/mem.h"
#include "core/pattern.h"

#include <stdlib.h>

/* ---- The best -------------------------------------------------------------------------------
 */

static int compare_heads(const void *left, const void *right)
{
    const struct head *a = left, *b = right;
    if (a->rank != b->rank)
        return a->rank < b->rank ? -1 : 1;
    if (a->at_us != b->at_us)
        return a->at_us < b->at_us ? -1 : 1;
    return (a->id > b->id) - (a->id < b->id);
}

static void swap_heads(struct head *a, struct head *b)
{
    struct head kept = *a;
    *a = *b;
    *b = kept;
}

static void rise(struct heads *heads, size_t i)
{
    while (i > 0 && compare_heads(&heads->items[i], &heads->items[(i - 1) / 2]) > 0) {
        swap_heads(&heads->items[i], &heads->items[(i - 1) / 2]);
        i = (i - 1) / 2;
    }
}

static void sink(struct heads *heads)
{
    size_t i = 0;
    for (size_t child = 1; child < heads->count; child = 2 * i + 1) {
        if (child + 1 < heads->count &&
            compare_heads(&heads->items[child + 1], &heads->items[child]) > 0)
            child++;
        if (compare_heads(&heads->items[i], &heads->items[child]) >= 0)
            return;
        swap_heads(&heads->items[i], &heads->items[child]);
        i = child;
    }
}

bool heads_offer(struct heads *heads, struct head head)
{
    if (heads->count < heads->room) {
        heads->items[heads->count] = head;
        rise(heads, heads->count++);
        return true;
    }
    if (compare_heads(&head, &heads->items[0]) >= 0)
        return false;
    heads->items[0] = head;
    sink(heads);
    return true;
}

void heads_sort(struct heads *heads)
{
    qsort(heads->items, heads->count, sizeof(struct head), compare_heads);
}

/* ---- Types ----------------------------------------------------------------------------------
 */

struct visiting {
    struct store_tx *tx;
    const struct job_claim *claim;
    enum query_number next_type;
    cairn_code (*visit)(void *arg, const char *type);
    void *arg;
    cairn_error *reterr;
};

/* The first type of a range with something to claim; *ret_type NULL: none. */
static cairn_code next_type(const struct visiting *visiting, struct type_range range,
                            const char **ret_type)
{
    cleanup(query_end) struct query query =
        query_begin(sqlite_session_of(visiting->tx), visiting->next_type);
    bind_type_range(&query, range);
    struct row_reader reader = {.query = &query, .arena = visiting->tx->arena};
    *ret_type = NULL;
    if (query_step(&query) == SQLITE_ROW)
        *ret_type = read_text(&reader);
    else if (query.rc != SQLITE_DONE)
        return query_refused(&query, "find waiting types", visiting->reterr);
    return reader.failed ? fail_memory(visiting->reterr) : CAIRN_OK;
}

/* All types of a prefix, except those that one of the first `done` patterns has covered. */
static cairn_code visit_prefix(const struct visiting *visiting, const char *prefix, size_t done)
{
    struct arena *arena = visiting->tx->arena;
    struct type_range range;
    if (!type_range(prefix, arena, &range))
        return fail_memory(visiting->reterr);

    for (;;) {
        const char *type;
        cairn_code code = next_type(visiting, range, &type);
        if (code || !type)
            return code;
        if (!pattern_matches_any(visiting->claim->patterns, done, type))
            code = visiting->visit(visiting->arg, type);
        if (code)
            return code;
        range.from = type_after(type, arena);
        if (!range.from)
            return fail_memory(visiting->reterr);
    }
}

cairn_code heads_visit_types(struct store_tx *tx, const struct job_claim *claim,
                             enum query_number query,
                             cairn_code (*visit)(void *arg, const char *type), void *arg,
                             cairn_error *reterr)
{
    struct visiting visiting = {tx, claim, query, visit, arg, reterr};
    for (size_t i = 0; i < claim->pattern_count; i++) {
        const char *pattern = claim->patterns[i];
        cairn_code code = CAIRN_OK;
        if (pattern_is_prefix(pattern))
            code = visit_prefix(&visiting, pattern, i);
        else if (!pattern_matches_any(claim->patterns, i, pattern))
            code = visit(arg, pattern);
        if (code)
            return code;
    }
    return CAIRN_OK;
}
