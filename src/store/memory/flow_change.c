/* store/memory/flow_change.c - the verbs that change definitions, instances and steps.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "store/memory/memory.h"

#include "base/error.h"
#include "store/memory/block.h"

#include <assert.h>
#include <string.h>

static void assert_writer(const struct store_tx *tx)
{
    assert(tx->session->kind == SESSION_WRITER);
}

static struct flow_table *tx_flow(struct store_tx *tx)
{
    return &tx_table(tx)->flow;
}

/* ---- definitions and instances ----------------------------------------------------------- */

static int probe_definition(const struct tree_node *node, const void *key)
{
    const struct definition_row *row = &container_of(node, struct definition, by_name)->row;
    const struct definition_row *wanted = key;
    int order = strcmp(row->name, wanted->name);
    return order ? order : compare_int(row->version, wanted->version);
}

cairn_code memory_put_definition(struct store_tx *tx, const struct definition_row *row,
                                 enum put_result *ret_result, cairn_error *reterr)
{
    assert_writer(tx);
    struct tree_node *node = tree_seek(&tx_flow(tx)->definitions, probe_definition, row);
    if (node && probe_definition(node, row) == 0) {
        const struct definition *known = container_of(node, struct definition, by_name);
        *ret_result = strcmp(known->row.hash, row->hash) == 0 ? PUT_SAME : PUT_OTHER;
        return CAIRN_OK;
    }
    *ret_result = PUT_DONE;
    return table_put_definition(tx_table(tx), row) ? CAIRN_OK : fail_memory(reterr);
}

static cairn_code insert_instance(struct store_tx *tx, struct instance_row *row,
                                  enum insert_result *ret_result, cairn_error *reterr)
{
    struct flow_table *flow = tx_flow(tx);
    struct instance *known = flow_find_instance(flow, row->id);
    if (known) {
        row->seq = known->now->row.seq;
        *ret_result = INSERT_AGAIN;
        return CAIRN_OK;
    }
    known = row->key ? flow_find_key(flow, row->workflow, row->key) : NULL;
    if (known) {
        row->seq = known->now->row.seq;
        row->id = arena_strdup(tx->arena, known->now->row.id);
        *ret_result = INSERT_EXISTING;
        return row->id ? CAIRN_OK : fail_memory(reterr);
    }
    *ret_result = INSERT_DONE;
    if (!table_insert_instance(tx_table(tx), row))
        return fail_memory(reterr);
    row->seq = (int64_t)flow->instance_count;
    return CAIRN_OK;
}

cairn_code memory_insert_instances(struct store_tx *tx, struct instance_row *rows, size_t count,
                                   enum insert_result *ret_results, cairn_error *reterr)
{
    assert_writer(tx);
    for (size_t i = 0; i < count; i++) {
        cairn_code code = insert_instance(tx, &rows[i], &ret_results[i], reterr);
        if (code)
            return code;
    }
    return CAIRN_OK;
}

cairn_code memory_lock_instances(struct store_tx *tx, const char *const *ids, size_t count,
                                 bool may_wait, struct instance_row *ret_rows,
                                 enum lock_result *ret_results, cairn_error *reterr)
{
    (void)may_wait; /* whoever has the turn holds every row */
    assert_writer(tx);
    for (size_t i = 0; i < count; i++) {
        struct instance *instance = flow_find_instance(tx_flow(tx), ids[i]);
        ret_results[i] = instance ? LOCK_DONE : LOCK_ABSENT;
        if (!instance)
            ret_rows[i] = (struct instance_row){0};
        else if (!memory_copy_instance(tx, instance, &ret_rows[i]))
            return fail_memory(reterr);
    }
    return CAIRN_OK;
}

cairn_code memory_update_instances(struct store_tx *tx, const struct instance_row *rows,
                                   size_t count, cairn_error *reterr)
{
    assert_writer(tx);
    for (size_t i = 0; i < count; i++) {
        struct instance *instance = flow_find_instance(tx_flow(tx), rows[i].id);
        assert(instance);
        if (!table_update_instance(tx_table(tx), instance, &rows[i]))
            return fail_memory(reterr);
    }
    return CAIRN_OK;
}

/* ---- steps ------------------------------------------------------------------------------- */

cairn_code memory_insert_steps(struct store_tx *tx, const struct step_row *rows, size_t count,
                               cairn_error *reterr)
{
    assert_writer(tx);
    struct instance *instance = NULL;
    for (size_t i = 0; i < count; i++) {
        if (!instance || strcmp(instance->now->row.id, rows[i].instance_id) != 0)
            instance = flow_find_instance(tx_flow(tx), rows[i].instance_id);
        if (!instance)
            return fail(reterr, CAIRN_E_STORE,
                        "cannot add a step: instance \"%s\" does not exist",
                        rows[i].instance_id);
        if (instance_step(instance, rows[i].seq))
            return fail(reterr, CAIRN_E_STORE,
                        "cannot add a step: instance \"%s\" has one at place %d",
                        rows[i].instance_id, (int)rows[i].seq);
        if (!table_insert_step(tx_table(tx), instance, &rows[i]))
            return fail_memory(reterr);
    }
    return CAIRN_OK;
}

static struct step *find_step(struct store_tx *tx, const char *instance_id, int32_t seq)
{
    struct instance *instance = flow_find_instance(tx_flow(tx), instance_id);
    return instance ? instance_step(instance, seq) : NULL;
}

cairn_code memory_lock_steps(struct store_tx *tx, const struct step_ref *refs, size_t count,
                             struct step_row *ret_rows, bool *ret_is_found, cairn_error *reterr)
{
    assert_writer(tx);
    return memory_read_steps(tx, refs, count, ret_rows, ret_is_found, reterr);
}

cairn_code memory_read_steps(struct store_tx *tx, const struct step_ref *refs, size_t count,
                             struct step_row *ret_rows, bool *ret_is_found, cairn_error *reterr)
{
    for (size_t i = 0; i < count; i++) {
        struct step *step = find_step(tx, refs[i].instance_id, refs[i].seq);
        ret_is_found[i] = step;
        if (!step)
            ret_rows[i] = (struct step_row){0};
        else if (!memory_copy_step(tx, step, &ret_rows[i]))
            return fail_memory(reterr);
    }
    return CAIRN_OK;
}

static int probe_after_current(const struct tree_node *node, const void *key)
{
    int32_t seq = container_of(node, struct step, in_current)->now->row.seq;
    return seq > *(const int32_t *)key ? 1 : -1;
}

cairn_code memory_lock_current_steps(struct store_tx *tx, const char *instance_id,
                                     int32_t after, struct step_row *ret_rows, size_t room,
                                     size_t *ret_count, cairn_error *reterr)
{
    assert_writer(tx);
    struct instance *instance = flow_find_instance(tx_flow(tx), instance_id);
    struct tree_node *node =
        instance ? tree_seek(&instance->current, probe_after_current, &after) : NULL;
    size_t count = 0;
    for (; node && count < room; node = tree_next(node))
        if (!memory_copy_step(tx, container_of(node, struct step, in_current),
                              &ret_rows[count++]))
            return fail_memory(reterr);
    *ret_count = count;
    return CAIRN_OK;
}

cairn_code memory_lock_steps_between(struct store_tx *tx, const char *instance_id,
                                     enum step_status status, int32_t from, int32_t to,
                                     struct step_row *ret_rows, size_t room, size_t *ret_count,
                                     cairn_error *reterr)
{
    assert_writer(tx);
    struct instance *instance = flow_find_instance(tx_flow(tx), instance_id);
    struct step *first = instance ? instance_step_from(instance, from) : NULL;
    size_t count = 0;
    for (struct tree_node *node = first ? &first->by_place : NULL; node && count < room;
         node = tree_next(node)) {
        struct step *step = container_of(node, struct step, by_place);
        if (step->now->row.seq > to)
            break;
        if (status != STEP_NONE && step->now->row.status != status)
            continue;
        if (!memory_copy_step(tx, step, &ret_rows[count++]))
            return fail_memory(reterr);
    }
    *ret_count = count;
    return CAIRN_OK;
}

/* The highest commit number comes first in this tree. */
static int probe_commit_below(const struct tree_node *node, const void *key)
{
    int64_t commit_no = container_of(node, struct step, in_committed)->now->row.commit_no;
    return commit_no < *(const int64_t *)key ? 1 : -1;
}

cairn_code memory_lock_committed_steps(struct store_tx *tx, const char *instance_id,
                                       int64_t below, int32_t from, int32_t to,
                                       struct step_row *ret_rows, size_t room,
                                       size_t *ret_count, cairn_error *reterr)
{
    assert_writer(tx);
    struct instance *instance = flow_find_instance(tx_flow(tx), instance_id);
    struct tree_node *node =
        instance ? tree_seek(&instance->committed, probe_commit_below, &below) : NULL;
    size_t count = 0;
    for (; node && count < room; node = tree_next(node)) {
        struct step *step = container_of(node, struct step, in_committed);
        if (step->now->row.seq < from || step->now->row.seq > to)
            continue;
        if (!memory_copy_step(tx, step, &ret_rows[count++]))
            return fail_memory(reterr);
    }
    *ret_count = count;
    return CAIRN_OK;
}

cairn_code memory_update_steps(struct store_tx *tx, const struct step_row *rows, size_t count,
                               cairn_error *reterr)
{
    assert_writer(tx);
    for (size_t i = 0; i < count; i++) {
        struct step *step = find_step(tx, rows[i].instance_id, rows[i].seq);
        assert(step);
        if (!table_update_step(tx_table(tx), step, &rows[i]))
            return fail_memory(reterr);
    }
    return CAIRN_OK;
}

cairn_code memory_delete_steps(struct store_tx *tx, const struct step_ref *refs, size_t count,
                               cairn_error *reterr)
{
    assert_writer(tx);
    for (size_t i = 0; i < count; i++) {
        struct step *step = find_step(tx, refs[i].instance_id, refs[i].seq);
        if (step && !table_delete_step(tx_table(tx), step))
            return fail_memory(reterr);
    }
    return CAIRN_OK;
}
