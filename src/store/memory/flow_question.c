/* store/memory/flow_question.c - what can be asked of the workflows in a memory store.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "store/memory/memory.h"

#include "base/error.h"
#include "store/memory/block.h"

#include <stdlib.h>
#include <string.h>

bool memory_copy_instance(struct store_tx *tx, const struct instance *instance,
                          struct instance_row *ret_row)
{
    static const size_t texts[] = {
        offsetof(struct instance_row, id),        offsetof(struct instance_row, workflow),
        offsetof(struct instance_row, key),       offsetof(struct instance_row, input),
        offsetof(struct instance_row, output),    offsetof(struct instance_row, last_error),
        offsetof(struct instance_row, stop_by),   offsetof(struct instance_row, stop_reason),
        offsetof(struct instance_row, undo_error)};
    *ret_row = instance->now->row;
    return texts_copy(TEXTS(texts), ret_row, tx->arena);
}

bool memory_copy_step(struct store_tx *tx, const struct step *step, struct step_row *ret_row)
{
    static const size_t texts[] = {
        offsetof(struct step_row, instance_id), offsetof(struct step_row, name),
        offsetof(struct step_row, handler),     offsetof(struct step_row, config),
        offsetof(struct step_row, metadata),    offsetof(struct step_row, input),
        offsetof(struct step_row, output),      offsetof(struct step_row, error),
        offsetof(struct step_row, task_type),   offsetof(struct step_row, locked_by),
        offsetof(struct step_row, token),       offsetof(struct step_row, ended_by),
        offsetof(struct step_row, ended_token), offsetof(struct step_row, ended_outcome),
        offsetof(struct step_row, undo_error),  offsetof(struct step_row, function_effects),
        offsetof(struct step_row, signal),      offsetof(struct step_row, waiting_event)};
    *ret_row = step->now->row;
    return texts_copy(TEXTS(texts), ret_row, tx->arena);
}

/* ---- definitions ------------------------------------------------------------------------- */

struct definition_key {
    const char *name;
    int64_t version;
};

static int probe_definition(const struct tree_node *node, const void *key)
{
    const struct definition_row *row = &container_of(node, struct definition, by_name)->row;
    const struct definition_key *wanted = key;
    int order = strcmp(row->name, wanted->name);
    return order ? order : compare_int(row->version, wanted->version);
}

static bool copy_definition(struct store_tx *tx, const struct tree_node *node,
                            struct definition_row *ret_row)
{
    static const size_t texts[] = {offsetof(struct definition_row, name),
                                   offsetof(struct definition_row, hash),
                                   offsetof(struct definition_row, content)};
    *ret_row = container_of(node, struct definition, by_name)->row;
    return texts_copy(TEXTS(texts), ret_row, tx->arena);
}

cairn_code memory_get_definition(struct store_tx *tx, const char *name, int32_t version,
                                 struct definition_row *ret_row, cairn_error *reterr)
{
    struct definition_key wanted = {name, version ? version : INT32_MAX};
    struct tree_node *node =
        tree_seek_last(&tx_table(tx)->flow.definitions, probe_definition, &wanted);
    if (!node)
        return CAIRN_E_NOT_FOUND;
    const struct definition_row *row = &container_of(node, struct definition, by_name)->row;
    if (strcmp(row->name, name) != 0 || (version && row->version != version))
        return CAIRN_E_NOT_FOUND;
    return copy_definition(tx, node, ret_row) ? CAIRN_OK : fail_memory(reterr);
}

cairn_code memory_list_definitions(struct store_tx *tx, const char *after_name,
                                   int32_t after_version, struct definition_row *ret_rows,
                                   size_t room, size_t *ret_count, cairn_error *reterr)
{
    const struct tree *tree = &tx_table(tx)->flow.definitions;
    struct definition_key first = {after_name, (int64_t)after_version + 1};
    struct tree_node *node =
        after_name ? tree_seek(tree, probe_definition, &first) : tree_first(tree);
    size_t count = 0;
    for (; node && count < room; node = tree_next(node))
        if (!copy_definition(tx, node, &ret_rows[count++]))
            return fail_memory(reterr);
    *ret_count = count;
    return CAIRN_OK;
}

/* ---- instances --------------------------------------------------------------------------- */

cairn_code memory_get_instance(struct store_tx *tx, const char *id,
                               struct instance_row *ret_row, cairn_error *reterr)
{
    struct instance *instance = flow_find_instance(&tx_table(tx)->flow, id);
    if (!instance)
        return CAIRN_E_NOT_FOUND;
    return memory_copy_instance(tx, instance, ret_row) ? CAIRN_OK : fail_memory(reterr);
}

cairn_code memory_read_instances(struct store_tx *tx, const char *const *ids, size_t count,
                                 struct instance_row *ret_rows, bool *ret_is_found,
                                 cairn_error *reterr)
{
    for (size_t i = 0; i < count; i++) {
        cairn_code code = memory_get_instance(tx, ids[i], &ret_rows[i], reterr);
        if (code && code != CAIRN_E_NOT_FOUND)
            return code;
        ret_is_found[i] = !code;
    }
    return CAIRN_OK;
}

/* Where a list goes on: before_seq of the filter, made greater than any if there is none. */
static int64_t before_seq(const struct instance_filter *filter)
{
    return filter->before_seq ? filter->before_seq : INT64_MAX;
}

#define INSTANCE_ROW(node, member) (&container_of(node, struct instance, member)->now->row)

/* These find the newest before the filter's; the newest are first in their trees. */
static int probe_status(const struct tree_node *node, const void *key)
{
    const struct instance_row *row = INSTANCE_ROW(node, by_status);
    const struct instance_filter *filter = key;
    int order = compare_int(row->status, filter->status);
    return order ? order : row->seq < before_seq(filter) ? 1 : -1;
}

static int probe_workflow(const struct tree_node *node, const void *key)
{
    const struct instance_row *row = INSTANCE_ROW(node, by_workflow);
    const struct instance_filter *filter = key;
    int order = strcmp(row->workflow, filter->workflow);
    return order ? order : row->seq < before_seq(filter) ? 1 : -1;
}

static int probe_both(const struct tree_node *node, const void *key)
{
    const struct instance_row *row = INSTANCE_ROW(node, by_both);
    const struct instance_filter *filter = key;
    int order = strcmp(row->workflow, filter->workflow);
    order = order ? order : compare_int(row->status, filter->status);
    return order ? order : row->seq < before_seq(filter) ? 1 : -1;
}

static bool is_wanted(const struct instance_row *row, const struct instance_filter *filter)
{
    return row->seq < before_seq(filter) &&
           (filter->status == INSTANCE_NONE || row->status == filter->status) &&
           (!filter->workflow || strcmp(row->workflow, filter->workflow) == 0) &&
           (!filter->key || (row->key && strcmp(row->key, filter->key) == 0));
}

/* A walk over the instances that a filter may want, newest first, by the index that fits. */
struct walk {
    const struct flow_table *flow;
    const struct instance_filter *filter;
    struct tree_node *node; /* of the tree that the filter names */
    size_t at;              /* without a tree: how many of the oldest are left */
};

static void walk_begin(struct walk *walk, const struct flow_table *flow,
                       const struct instance_filter *filter)
{
    *walk = (struct walk){.flow = flow, .filter = filter};
    if (filter->workflow && filter->status != INSTANCE_NONE)
        walk->node = tree_seek(&flow->by_both, probe_both, filter);
    else if (filter->workflow)
        walk->node = tree_seek(&flow->by_workflow, probe_workflow, filter);
    else if (filter->status != INSTANCE_NONE)
        walk->node = tree_seek(&flow->by_status, probe_status, filter);
    else if (before_seq(filter) > (int64_t)flow->instance_count)
        walk->at = flow->instance_count;
    else if (filter->before_seq > 0)
        walk->at = (size_t)filter->before_seq - 1;
}

static struct instance *walk_next(struct walk *walk)
{
    const struct instance_filter *filter = walk->filter;
    struct tree_node *node = walk->node;
    if (!filter->workflow && filter->status == INSTANCE_NONE)
        return walk->at ? walk->flow->instances[--walk->at] : NULL;
    if (!node)
        return NULL;
    walk->node = tree_next(node);
    if (!filter->workflow)
        return container_of(node, struct instance, by_status);
    return filter->status == INSTANCE_NONE ? container_of(node, struct instance, by_workflow)
                                           : container_of(node, struct instance, by_both);
}

static int probe_key(const struct tree_node *node, const void *key)
{
    return strcmp(INSTANCE_ROW(node, by_key)->key, key);
}

static int compare_newest(const void *a, const void *b)
{
    return compare_int((*(struct instance *const *)b)->now->row.seq,
                       (*(struct instance *const *)a)->now->row.seq);
}

/* The same key may stand in several workflows, once in each. */
static cairn_code list_by_key(struct store_tx *tx, const struct instance_filter *filter,
                              struct instance_row *ret_rows, size_t room, size_t *ret_count,
                              cairn_error *reterr)
{
    struct tree_node *first = tree_seek(&tx_table(tx)->flow.keys, probe_key, filter->key);
    size_t known = 0, found = 0;
    for (struct tree_node *node = first; node && probe_key(node, filter->key) == 0;
         node = tree_next(node))
        known++;
    struct instance **list = arena_array(tx->arena, known, sizeof(struct instance *));
    if (!list)
        return fail_memory(reterr);
    for (struct tree_node *node = first; node && probe_key(node, filter->key) == 0;
         node = tree_next(node))
        if (is_wanted(INSTANCE_ROW(node, by_key), filter))
            list[found++] = container_of(node, struct instance, by_key);
    qsort(list, found, sizeof *list, compare_newest);
    *ret_count = found < room ? found : room;
    for (size_t i = 0; i < *ret_count; i++)
        if (!memory_copy_instance(tx, list[i], &ret_rows[i]))
            return fail_memory(reterr);
    return CAIRN_OK;
}

cairn_code memory_list_instances(struct store_tx *tx, const struct instance_filter *filter,
                                 struct instance_row *ret_rows, size_t room, size_t *ret_count,
                                 cairn_error *reterr)
{
    if (filter->key)
        return list_by_key(tx, filter, ret_rows, room, ret_count, reterr);
    struct walk walk;
    struct instance *instance;
    size_t count = 0;
    walk_begin(&walk, &tx_table(tx)->flow, filter);
    while (count < room && (instance = walk_next(&walk)) &&
           is_wanted(&instance->now->row, filter))
        if (!memory_copy_instance(tx, instance, &ret_rows[count++]))
            return fail_memory(reterr);
    *ret_count = count;
    return CAIRN_OK;
}

cairn_code memory_count_instances(struct store_tx *tx, uint64_t *ret_counts,
                                  cairn_error *reterr)
{
    (void)reterr;
    const struct flow_table *flow = &tx_table(tx)->flow;
    ret_counts[INSTANCE_NONE] = 0;
    for (enum instance_status status = INSTANCE_PENDING; status < INSTANCE_STATUS_COUNT;
         status++)
        ret_counts[status] = instance_is_final(status) ? 0 : flow->status_counts[status];
    return CAIRN_OK;
}

/* ---- steps ------------------------------------------------------------------------------- */

static int probe_after_place(const struct tree_node *node, const void *key)
{
    int32_t seq = container_of(node, struct step, by_place)->now->row.seq;
    return seq > *(const int32_t *)key ? 1 : -1;
}

static int probe_after_current(const struct tree_node *node, const void *key)
{
    int32_t seq = container_of(node, struct step, in_current)->now->row.seq;
    return seq > *(const int32_t *)key ? 1 : -1;
}

/* Of those in the tree of current steps some are there for their lease alone, or are held. */
static bool is_current_status(enum step_status status)
{
    return status == STEP_READY || status == STEP_RUNNING || status == STEP_WAITING ||
           status == STEP_WAITING_DECISION || status == STEP_PAUSED ||
           status == STEP_COMPENSATION;
}

cairn_code memory_list_steps(struct store_tx *tx, const char *instance_id, int32_t after,
                             bool is_current, struct step_row *ret_rows, size_t room,
                             size_t *ret_count, cairn_error *reterr)
{
    struct instance *instance = flow_find_instance(&tx_table(tx)->flow, instance_id);
    struct tree_node *node = NULL;
    size_t count = 0;
    if (instance)
        node = is_current ? tree_seek(&instance->current, probe_after_current, &after)
                          : tree_seek(&instance->steps, probe_after_place, &after);
    for (; node && count < room; node = tree_next(node)) {
        struct step *step = is_current ? container_of(node, struct step, in_current)
                                       : container_of(node, struct step, by_place);
        if (is_current && !is_current_status(step->now->row.status))
            continue;
        if (!memory_copy_step(tx, step, &ret_rows[count++]))
            return fail_memory(reterr);
    }
    *ret_count = count;
    return CAIRN_OK;
}

cairn_code memory_list_memos(struct store_tx *tx, const char *const *ids, size_t count,
                             int32_t after, struct step_row *ret_rows, size_t room,
                             size_t *ret_count, cairn_error *reterr)
{
    size_t found = 0, more;
    cairn_code code = CAIRN_OK;
    for (size_t i = 0; i < count && found < room && !code; i++, after = 0) {
        more = 0;
        code = memory_list_steps(tx, ids[i], after, false, ret_rows + found, room - found,
                                 &more, reterr);
        found += more;
    }
    *ret_count = found;
    return code;
}

cairn_code memory_count_steps(struct store_tx *tx, struct step_counts *ret_counts,
                              cairn_error *reterr)
{
    (void)reterr;
    *ret_counts = tx_table(tx)->flow.step_counts;
    return CAIRN_OK;
}

static int probe_name(const struct tree_node *node, const void *key)
{
    return strcmp(container_of(node, struct step, by_name)->now->row.name, key);
}

cairn_code memory_get_step(struct store_tx *tx, const char *instance_id, const char *name,
                           struct step_row *ret_row, cairn_error *reterr)
{
    struct instance *instance = flow_find_instance(&tx_table(tx)->flow, instance_id);
    struct tree_node *node = instance ? tree_seek(&instance->names, probe_name, name) : NULL;
    if (!node || probe_name(node, name) != 0)
        return CAIRN_E_NOT_FOUND;
    return memory_copy_step(tx, container_of(node, struct step, by_name), ret_row)
               ? CAIRN_OK
               : fail_memory(reterr);
}
