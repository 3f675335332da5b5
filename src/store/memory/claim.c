/* store/memory/claim.c - who gets which job of a memory store.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * Each type keeps its ready jobs in order, so a claim looks at heads only: a heap of the types
 * that it may take from, the one with the earliest head on top.
 */
#include "store/memory/memory.h"

#include "base/error.h"
#include "core/pattern.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

struct heap {
    struct type **types;
    size_t count;
};

static bool is_earlier(const struct type *a, const struct type *b)
{
    return job_compare_turn(type_head(a), type_head(b)) < 0;
}

/* Lets the type at `at` sink to its place. */
static void sink(struct heap *heap, size_t at)
{
    for (;;) {
        size_t least = at;
        for (size_t child = 2 * at + 1; child <= 2 * at + 2 && child < heap->count; child++)
            if (is_earlier(heap->types[child], heap->types[least]))
                least = child;
        if (least == at)
            return;
        struct type *type = heap->types[at];
        heap->types[at] = heap->types[least];
        heap->types[least] = type;
        at = least;
    }
}

static bool is_allowed(const struct type *type, const struct job_claim *claim)
{
    if (!type->registry)
        return true;
    const struct registry_row *entry = &type->registry->row;
    if (!entry->is_enabled)
        return false;
    return !claim->runtime || !entry->runtime || strcmp(claim->runtime, entry->runtime) == 0;
}

/* Sets aside jobs at the head that somebody inserted as ready before their time. */
static bool postpone(struct store_tx *tx, struct type *type)
{
    struct job *head;
    while ((head = type_head(type)) && head->now->row.run_at_us > tx->now_us) {
        struct job_row row = head->now->row;
        row.is_ready = false;
        if (!table_update_job(tx_table(tx), head, &row))
            return false;
    }
    return true;
}

struct type *memory_find_type(struct store_tx *tx, const struct job_claim *claim,
                              const char *name)
{
    struct type *type = table_find_type(tx_table(tx), name);
    return type && is_allowed(type, claim) ? type : NULL;
}

struct choice {
    const struct job_claim *claim;
    uint64_t number;
    struct type **types;
    size_t count;
};

/* Once, though several patterns may match it. */
static void choose(struct choice *choice, struct type *type)
{
    if (type->chosen_by == choice->number || !is_allowed(type, choice->claim))
        return;
    type->chosen_by = choice->number;
    choice->types[choice->count++] = type;
}

static bool choose_prefix(struct store_tx *tx, struct choice *choice, const char *pattern)
{
    size_t len = strlen(pattern) - 1;
    char *prefix = arena_strndup(tx->arena, pattern, len);
    if (!prefix)
        return false;
    for (struct type *type = table_seek_type(tx_table(tx), prefix);
         type && strncmp(type->name, prefix, len) == 0; type = type_next(type))
        choose(choice, type);
    return true;
}

bool memory_choose_types(struct store_tx *tx, const struct job_claim *claim,
                         struct type ***ret_types, size_t *ret_count)
{
    struct table *table = tx_table(tx);
    struct choice choice = {.claim = claim, .number = ++table->claim_count};
    choice.types = arena_array(tx->arena, table->types.count, sizeof(struct type *));
    if (!choice.types)
        return false;
    for (size_t i = 0; i < claim->pattern_count; i++) {
        const char *pattern = claim->patterns[i];
        if (pattern_is_prefix(pattern)) {
            if (!choose_prefix(tx, &choice, pattern))
                return false;
            continue;
        }
        struct type *type = table_find_type(table, pattern);
        if (type)
            choose(&choice, type);
    }
    *ret_types = choice.types;
    *ret_count = choice.count;
    return true;
}

/* A heap of the chosen types that have something due.  False: memory ran out. */
static bool fill_heap(struct store_tx *tx, const struct job_claim *claim, struct heap *heap)
{
    size_t count;
    if (!memory_choose_types(tx, claim, &heap->types, &count))
        return false;
    heap->count = 0;
    for (size_t i = 0; i < count; i++) {
        struct type *type = heap->types[i];
        if (!postpone(tx, type))
            return false;
        if (type_head(type))
            heap->types[heap->count++] = type;
    }
    for (size_t i = heap->count / 2; i-- > 0;)
        sink(heap, i);
    return true;
}

static bool lease(struct store_tx *tx, struct job *job, const struct job_claim *claim)
{
    struct job_row row = job->now->row;
    row.status = JOB_LEASED;
    row.is_ready = false;
    row.leased_by = claim->worker;
    row.token = claim->token;
    row.lease_until_us = claim->lease_until_us;
    row.updated_at_us = tx->now_us;
    return table_update_job(tx_table(tx), job, &row);
}

cairn_code memory_claim_jobs(struct store_tx *tx, const struct job_claim *claim,
                             struct job_row *ret_rows, size_t room, size_t *ret_count,
                             cairn_error *reterr)
{
    assert(tx->session->kind == SESSION_WRITER);
    struct heap heap = {0};
    size_t count = 0;
    if (!fill_heap(tx, claim, &heap))
        return fail_memory(reterr);
    while (count < room && heap.count) {
        struct job *job = type_head(heap.types[0]);
        if (!lease(tx, job, claim) || !memory_copy_job(tx, job, ROW_WHOLE, &ret_rows[count]))
            return fail_memory(reterr);
        count++;
        if (!postpone(tx, heap.types[0]))
            return fail_memory(reterr);
        if (!type_head(heap.types[0]))
            heap.types[0] = heap.types[--heap.count];
        sink(&heap, 0);
    }
    *ret_count = count;
    return CAIRN_OK;
}

static int compare_turns(const void *a, const void *b)
{
    return job_compare_turn(*(struct job *const *)a, *(struct job *const *)b);
}

static bool is_claimed_by(const struct job *job, const char *worker, const char *token)
{
    const struct job_row *row = &job->now->row;
    return row->leased_by && row->token && strcmp(row->token, token) == 0 &&
           strcmp(row->leased_by, worker) == 0;
}

cairn_code memory_find_claimed(struct store_tx *tx, const char *worker, const char *token,
                               struct job_row *ret_rows, size_t room, size_t *ret_count,
                               cairn_error *reterr)
{
    struct tree *leased = &tx_table(tx)->leased;
    struct job **found = arena_array(tx->arena, leased->count, sizeof(struct job *));
    size_t count = 0;
    if (!found)
        return fail_memory(reterr);
    for (struct job *job = timed_first(leased); job; job = timed_next(job))
        if (is_claimed_by(job, worker, token))
            found[count++] = job;
    qsort(found, count, sizeof *found, compare_turns);
    if (count > room)
        count = room;
    for (size_t i = 0; i < count; i++)
        if (!memory_copy_job(tx, found[i], ROW_WHOLE, &ret_rows[i]))
            return fail_memory(reterr);
    *ret_count = count;
    return CAIRN_OK;
}
