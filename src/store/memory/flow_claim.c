/* store/memory/flow_claim.c - who gets which step of a memory store, and which timers are due.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * Each type keeps its ready steps by (version, priority, next_run_at, instance, seq).  Within one
 * type, version and priority the earliest leads, however long the others have waited, so a claim
 * looks at those heads only: a heap of them, the one to be called next on top.
 */
#include "store/memory/memory.h"

#include "base/error.h"
#include "core/aging.h"
#include "store/memory/block.h"

#include <assert.h>
#include <string.h>

struct head {
    struct step *step;
    int64_t priority; /* effective */
};

struct heap {
    struct head *heads;
    size_t count, room;
    int64_t now_us;
    double aging_rate;
};

static struct step *turn_step(struct tree_node *node)
{
    return node ? container_of(node, struct step, in_type) : NULL;
}

/* ---- the heap ---------------------------------------------------------------------------- */

static bool goes_before(const struct head *a, const struct head *b)
{
    if (a->priority != b->priority)
        return a->priority > b->priority;
    const struct step_row *x = &a->step->now->row, *y = &b->step->now->row;
    int order = compare_int(x->next_run_at_us, y->next_run_at_us);
    order = order ? order : compare_int(x->instance_seq, y->instance_seq);
    return (order ? order : compare_int(x->seq, y->seq)) < 0;
}

/* Lets the head at `at` sink to its place. */
static void sink(struct heap *heap, size_t at)
{
    for (;;) {
        size_t first = at;
        for (size_t child = 2 * at + 1; child <= 2 * at + 2 && child < heap->count; child++)
            if (goes_before(&heap->heads[child], &heap->heads[first]))
                first = child;
        if (first == at)
            return;
        struct head head = heap->heads[at];
        heap->heads[at] = heap->heads[first];
        heap->heads[first] = head;
        at = first;
    }
}

static struct head make_head(const struct heap *heap, struct step *step)
{
    const struct step_row *row = &step->now->row;
    return (struct head){step, step_effective_priority(row->priority, row->next_run_at_us,
                                                       heap->now_us, heap->aging_rate)};
}

static int probe_version(const struct tree_node *node, const void *key)
{
    return container_of(node, struct step, in_type)->now->row.version < *(const int32_t *)key
               ? -1
               : 1;
}

/* Behind all steps of the key's version and priority. */
static int probe_behind(const struct tree_node *node, const void *key)
{
    const struct step_row *row = &container_of(node, struct step, in_type)->now->row;
    const struct step_row *last = key;
    if (row->version != last->version)
        return row->version > last->version ? 1 : -1;
    return row->priority < last->priority ? 1 : -1;
}

/* The first of each version and priority of a range, in the order of the tree; NULL: no more. */
static struct step *range_head(const struct type *type, const struct function_range *range)
{
    return turn_step(tree_seek(&type->ready_steps, probe_version, &range->from));
}

static struct step *next_head(const struct type *type, const struct step *head)
{
    return turn_step(tree_seek(&type->ready_steps, probe_behind, &head->now->row));
}

/* False: memory has run out. */
static bool add_head(struct arena *arena, struct heap *heap, struct step *step)
{
    if (heap->count == heap->room) {
        size_t room = heap->room ? heap->room * 2 : 8;
        struct head *heads = arena_array(arena, room, sizeof *heads);
        if (!heads)
            return false;
        if (heap->count)
            memcpy(heads, heap->heads, heap->count * sizeof *heads);
        heap->heads = heads;
        heap->room = room;
    }
    heap->heads[heap->count++] = make_head(heap, step);
    return true;
}

static bool add_versions(struct store_tx *tx, struct heap *heap, const struct type *type,
                         const struct function_range *range)
{
    for (struct step *head = range_head(type, range);
         head && head->now->row.version <= range->to; head = next_head(type, head))
        if (!add_head(tx->arena, heap, head))
            return false;
    return true;
}

static bool fill_heap(struct store_tx *tx, const struct step_claim *claim, struct heap *heap)
{
    static const struct function_range all = {.from = 0, .to = INT32_MAX};
    struct type **types;
    size_t type_count;
    *heap = (struct heap){.now_us = tx->now_us, .aging_rate = claim->aging_rate};
    if (!memory_choose_types(tx, &claim->base, &types, &type_count))
        return false;
    for (size_t i = 0; i < type_count; i++)
        if (!add_versions(tx, heap, types[i], &all))
            return false;
    for (size_t i = 0; i < claim->function_count; i++) {
        const struct function_range *range = &claim->functions[i];
        const struct type *type = memory_find_type(tx, &claim->base, range->name);
        if (type && !add_versions(tx, heap, type, range))
            return false;
    }
    for (size_t i = heap->count / 2; i-- > 0;)
        sink(heap, i);
    return true;
}

/* Takes the first step; the one behind it of the same type, version and priority is the new head. */
static struct step *take_first(struct heap *heap)
{
    struct step *step = heap->heads[0].step;
    struct step *next = turn_step(tree_next(&step->in_type));
    bool is_alike = next && next->now->row.version == step->now->row.version &&
                    next->now->row.priority == step->now->row.priority;
    if (is_alike)
        heap->heads[0] = make_head(heap, next);
    else
        heap->heads[0] = heap->heads[--heap->count];
    sink(heap, 0);
    return step;
}

/* ---- claims ------------------------------------------------------------------------------ */

static bool lease(struct store_tx *tx, struct step *step, const struct job_claim *claim,
                  const struct step_holder *holder)
{
    struct step_row row = step->now->row;
    if (row.status == STEP_READY)
        row.status = STEP_RUNNING;
    row.is_ready = false;
    row.locked_by = holder->worker;
    row.token = holder->token;
    row.locked_until_us = claim->lease_until_us;
    row.due_at_us = instant_add(claim->lease_until_us, 1);
    if (!row.started_at_us)
        row.started_at_us = tx->now_us;
    row.updated_at_us = tx->now_us;
    return table_update_step(tx_table(tx), step, &row);
}

cairn_code memory_claim_steps(struct store_tx *tx, const struct step_claim *claim,
                              struct step_row *ret_rows, size_t room, size_t *ret_count,
                              cairn_error *reterr)
{
    assert(tx->session->kind == SESSION_WRITER);
    struct heap heap;
    struct step_holder one = {claim->base.worker, claim->base.token};
    size_t count = 0;
    if (!fill_heap(tx, claim, &heap))
        return fail_memory(reterr);
    while (count < room && heap.count) {
        struct step *step = take_first(&heap);
        if (!lease(tx, step, &claim->base, claim->holders ? &claim->holders[count] : &one) ||
            !memory_copy_step(tx, step, &ret_rows[count]))
            return fail_memory(reterr);
        count++;
    }
    *ret_count = count;
    return CAIRN_OK;
}

cairn_code memory_list_ready_types(struct store_tx *tx, struct ready_type *ret_types,
                                   size_t room, size_t *ret_count, cairn_error *reterr)
{
    static const struct function_range versions = {.to = INT32_MAX};
    size_t count = 0;
    for (struct type *type = table_seek_type(tx_table(tx), ""); type; type = type_next(type)) {
        for (struct step *head = range_head(type, &versions); head && count < room;
             head = next_head(type, head)) {
            const struct step_row *row = &head->now->row;
            struct ready_type *ready = &ret_types[count++];
            *ready = (struct ready_type){
                .name = arena_strdup(tx->arena, type->name),
                .version = row->version,
                .since_us = row->next_run_at_us,
                .instance_id = arena_strdup(tx->arena, row->instance_id),
            };
            if (!ready->name || !ready->instance_id)
                return fail_memory(reterr);
        }
    }
    *ret_count = count;
    return CAIRN_OK;
}

static int probe_lease(const struct tree_node *node, const void *key)
{
    const struct step_row *row = &container_of(node, struct step, in_lease)->now->row;
    const struct step_row *wanted = key;
    int order = strcmp(row->token, wanted->token);
    return order ? order : strcmp(row->locked_by, wanted->locked_by);
}

cairn_code memory_find_claimed_steps(struct store_tx *tx, const char *worker, const char *token,
                                     struct step_row *ret_rows, size_t room, size_t *ret_count,
                                     cairn_error *reterr)
{
    struct step_row wanted = {.locked_by = worker, .token = token};
    size_t count = 0;
    for (struct tree_node *node = tree_seek(&tx_table(tx)->flow.leased, probe_lease, &wanted);
         node && count < room && probe_lease(node, &wanted) == 0; node = tree_next(node))
        if (!memory_copy_step(tx, container_of(node, struct step, in_lease),
                              &ret_rows[count++]))
            return fail_memory(reterr);
    *ret_count = count;
    return CAIRN_OK;
}

/* ---- timers ------------------------------------------------------------------------------ */

static struct step *due_step(struct tree_node *node)
{
    return node ? container_of(node, struct step, in_due) : NULL;
}

cairn_code memory_promote_steps(struct store_tx *tx, size_t limit, size_t *ret_count,
                                cairn_error *reterr)
{
    assert(tx->session->kind == SESSION_WRITER);
    struct table *table = tx_table(tx);
    size_t count = 0;
    for (; count < limit; count++) {
        struct step *step = due_step(tree_first(&table->flow.promotable));
        if (!step || step->now->row.due_at_us > tx->now_us)
            break;
        struct step_row row = step->now->row;
        row.is_ready = true;
        row.due_at_us = 0;
        if (!table_update_step(table, step, &row))
            return fail_memory(reterr);
    }
    *ret_count = count;
    return CAIRN_OK;
}

cairn_code memory_find_due_steps(struct store_tx *tx, struct step_ref *ret_refs, size_t room,
                                 size_t *ret_count, cairn_error *reterr)
{
    size_t count = 0;
    for (struct tree_node *node = tree_first(&tx_table(tx)->flow.timers); node && count < room;
         node = tree_next(node)) {
        const struct step_row *row = &due_step(node)->now->row;
        if (row->due_at_us > tx->now_us)
            break;
        ret_refs[count] = (struct step_ref){
            .instance_id = arena_strdup(tx->arena, row->instance_id), .seq = row->seq};
        if (!ret_refs[count++].instance_id)
            return fail_memory(reterr);
    }
    *ret_count = count;
    return CAIRN_OK;
}

uint64_t memory_count_expired_steps(struct store_tx *tx)
{
    uint64_t count = 0;
    for (struct tree_node *node = tree_first(&tx_table(tx)->flow.timers);
         node && due_step(node)->now->row.due_at_us <= tx->now_us; node = tree_next(node))
        count += due_step(node)->now->row.locked_by != NULL;
    return count;
}

cairn_code memory_find_due_instances(struct store_tx *tx, const char **ret_ids, size_t room,
                                     size_t *ret_count, cairn_error *reterr)
{
    size_t count = 0;
    for (struct tree_node *node = tree_first(&tx_table(tx)->flow.starting);
         node && count < room; node = tree_next(node)) {
        const struct instance_row *row =
            &container_of(node, struct instance, by_start)->now->row;
        if (row->start_at_us > tx->now_us)
            break;
        ret_ids[count] = arena_strdup(tx->arena, row->id);
        if (!ret_ids[count++])
            return fail_memory(reterr);
    }
    *ret_count = count;
    return CAIRN_OK;
}

static void take_earlier(int64_t *due_us, int64_t at_us)
{
    if (!*due_us || at_us < *due_us)
        *due_us = at_us;
}

cairn_code memory_next_flow_due(struct store_tx *tx, int64_t *ret_due_us, cairn_error *reterr)
{
    (void)reterr;
    const struct flow_table *flow = &tx_table(tx)->flow;
    struct step *step = due_step(tree_first(&flow->promotable));
    struct step *timer = due_step(tree_first(&flow->timers));
    struct tree_node *start = tree_first(&flow->starting);
    int64_t due_us = 0;
    if (step)
        take_earlier(&due_us, step->now->row.due_at_us);
    if (timer)
        take_earlier(&due_us, timer->now->row.due_at_us);
    if (start)
        take_earlier(&due_us,
                     container_of(start, struct instance, by_start)->now->row.start_at_us);
    *ret_due_us = due_us;
    return CAIRN_OK;
}
