/* store/memory/flow_table.c - instances and steps of a memory store, and their order.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "store/memory/flow_table.h"

#include "base/mem.h"
#include "store/memory/block.h"
#include "store/memory/table.h"

#include <assert.h>
#include <string.h>

static const size_t instance_fixed[] = {
    offsetof(struct instance_row, id), offsetof(struct instance_row, workflow),
    offsetof(struct instance_row, key), offsetof(struct instance_row, input)};
static const size_t instance_changing[] = {
    offsetof(struct instance_row, output), offsetof(struct instance_row, last_error),
    offsetof(struct instance_row, undo_error), offsetof(struct instance_row, stop_by),
    offsetof(struct instance_row, stop_reason)};
static const size_t step_fixed[] = {
    offsetof(struct step_row, name), offsetof(struct step_row, handler),
    offsetof(struct step_row, config), offsetof(struct step_row, metadata)};
static const size_t step_changing[] = {
    offsetof(struct step_row, input),         offsetof(struct step_row, output),
    offsetof(struct step_row, error),         offsetof(struct step_row, task_type),
    offsetof(struct step_row, locked_by),     offsetof(struct step_row, token),
    offsetof(struct step_row, ended_by),      offsetof(struct step_row, ended_token),
    offsetof(struct step_row, ended_outcome), offsetof(struct step_row, function_effects),
    offsetof(struct step_row, undo_error),    offsetof(struct step_row, waiting_event),
    offsetof(struct step_row, signal)};

/* ---- order of instances ------------------------------------------------------------------ */

#define INSTANCE_ROW(node, member) (&container_of(node, struct instance, member)->now->row)

static int compare_key(const struct tree_node *a, const struct tree_node *b)
{
    const struct instance_row *x = INSTANCE_ROW(a, by_key), *y = INSTANCE_ROW(b, by_key);
    int order = strcmp(x->key, y->key);
    return order ? order : strcmp(x->workflow, y->workflow);
}

static int compare_status(const struct tree_node *a, const struct tree_node *b)
{
    const struct instance_row *x = INSTANCE_ROW(a, by_status), *y = INSTANCE_ROW(b, by_status);
    int order = compare_int(x->status, y->status);
    return order ? order : compare_int(y->seq, x->seq);
}

static int compare_workflow(const struct tree_node *a, const struct tree_node *b)
{
    const struct instance_row *x = INSTANCE_ROW(a, by_workflow);
    const struct instance_row *y = INSTANCE_ROW(b, by_workflow);
    int order = strcmp(x->workflow, y->workflow);
    return order ? order : compare_int(y->seq, x->seq);
}

static int compare_both(const struct tree_node *a, const struct tree_node *b)
{
    const struct instance_row *x = INSTANCE_ROW(a, by_both), *y = INSTANCE_ROW(b, by_both);
    int order = strcmp(x->workflow, y->workflow);
    order = order ? order : compare_int(x->status, y->status);
    return order ? order : compare_int(y->seq, x->seq);
}

static int compare_start(const struct tree_node *a, const struct tree_node *b)
{
    const struct instance_row *x = INSTANCE_ROW(a, by_start), *y = INSTANCE_ROW(b, by_start);
    int order = compare_int(x->start_at_us, y->start_at_us);
    return order ? order : compare_int(x->seq, y->seq);
}

static bool is_starting(const struct instance_row *row)
{
    return row->status == INSTANCE_PENDING && row->start_at_us;
}

static void enter_instance(struct flow_table *flow, struct instance *instance)
{
    const struct instance_row *row = &instance->now->row;
    tree_add(&flow->by_status, &instance->by_status);
    tree_add(&flow->by_both, &instance->by_both);
    if (is_starting(row))
        tree_add(&flow->starting, &instance->by_start);
    flow->status_counts[row->status]++;
}

static void leave_instance(struct flow_table *flow, struct instance *instance)
{
    const struct instance_row *row = &instance->now->row;
    tree_remove(&flow->by_status, &instance->by_status);
    tree_remove(&flow->by_both, &instance->by_both);
    if (is_starting(row))
        tree_remove(&flow->starting, &instance->by_start);
    flow->status_counts[row->status]--;
}

/* ---- order of steps ---------------------------------------------------------------------- */

#define STEP_ROW(node, member) (&container_of(node, struct step, member)->now->row)

static int compare_place(const struct step_row *x, const struct step_row *y)
{
    int order = compare_int(x->instance_seq, y->instance_seq);
    return order ? order : compare_int(x->seq, y->seq);
}

static int compare_turn(const struct step_row *x, const struct step_row *y)
{
    int order = compare_int(y->priority, x->priority);
    order = order ? order : compare_int(x->next_run_at_us, y->next_run_at_us);
    return order ? order : compare_place(x, y);
}

int step_order_turn(const struct step *a, const struct step *b)
{
    return compare_turn(&a->now->row, &b->now->row);
}

int step_compare_turn(const struct tree_node *a, const struct tree_node *b)
{
    const struct step_row *x = STEP_ROW(a, in_type), *y = STEP_ROW(b, in_type);
    int order = compare_int(x->version, y->version);
    return order ? order : compare_turn(x, y);
}

static int compare_seq(const struct tree_node *a, const struct tree_node *b)
{
    return compare_int(STEP_ROW(a, by_place)->seq, STEP_ROW(b, by_place)->seq);
}

static int compare_name(const struct tree_node *a, const struct tree_node *b)
{
    const struct step_row *x = STEP_ROW(a, by_name), *y = STEP_ROW(b, by_name);
    int order = strcmp(x->name, y->name);
    return order ? order : compare_int(x->seq, y->seq);
}

static int compare_current(const struct tree_node *a, const struct tree_node *b)
{
    return compare_int(STEP_ROW(a, in_current)->seq, STEP_ROW(b, in_current)->seq);
}

static int compare_committed(const struct tree_node *a, const struct tree_node *b)
{
    const struct step_row *x = STEP_ROW(a, in_committed), *y = STEP_ROW(b, in_committed);
    int order = compare_int(y->commit_no, x->commit_no);
    return order ? order : compare_int(y->seq, x->seq);
}

static int compare_due(const struct tree_node *a, const struct tree_node *b)
{
    const struct step_row *x = STEP_ROW(a, in_due), *y = STEP_ROW(b, in_due);
    int order = compare_int(x->due_at_us, y->due_at_us);
    return order ? order : compare_place(x, y);
}

static int compare_lease(const struct tree_node *a, const struct tree_node *b)
{
    const struct step_row *x = STEP_ROW(a, in_lease), *y = STEP_ROW(b, in_lease);
    int order = strcmp(x->token, y->token);
    order = order ? order : strcmp(x->locked_by, y->locked_by);
    return order ? order : compare_turn(x, y);
}

static bool is_current(const struct step_row *row)
{
    switch (row->status) {
    case STEP_READY:
    case STEP_RUNNING:
    case STEP_WAITING:
    case STEP_WAITING_DECISION:
    case STEP_PAUSED:
    case STEP_COMPENSATION:
        return true;
    default:
        return row->locked_by || row->is_held;
    }
}

static bool is_leased(const struct step_row *row)
{
    return row->locked_by && row->token &&
           (row->status == STEP_RUNNING || row->status == STEP_COMPENSATION);
}

/* The tree of timers that it is in; NULL: none. */
static struct tree *due_tree(struct flow_table *flow, const struct step_row *row)
{
    if (!row->due_at_us)
        return NULL;
    bool is_startable = row->status == STEP_READY || row->status == STEP_COMPENSATION;
    return is_startable && !row->locked_by && !row->is_held ? &flow->promotable : &flow->timers;
}

static void enter_step(struct flow_table *flow, struct step *step)
{
    const struct step_row *row = &step->now->row;
    struct tree *due = due_tree(flow, row);
    if (step->now->type)
        tree_add(&step->now->type->ready_steps, &step->in_type);
    if (due)
        tree_add(due, &step->in_due);
    if (is_leased(row))
        tree_add(&flow->leased, &step->in_lease);
    if (is_current(row))
        tree_add(&step->instance->current, &step->in_current);
    if (row->commit_no > 0)
        tree_add(&step->instance->committed, &step->in_committed);
    flow->step_counts.ready += step->now->type != NULL;
    flow->step_counts.leased += row->locked_by != NULL;
}

static void leave_step(struct flow_table *flow, struct step *step)
{
    const struct step_row *row = &step->now->row;
    struct tree *due = due_tree(flow, row);
    if (step->now->type)
        tree_remove(&step->now->type->ready_steps, &step->in_type);
    if (due)
        tree_remove(due, &step->in_due);
    if (is_leased(row))
        tree_remove(&flow->leased, &step->in_lease);
    if (is_current(row))
        tree_remove(&step->instance->current, &step->in_current);
    if (row->commit_no > 0)
        tree_remove(&step->instance->committed, &step->in_committed);
    flow->step_counts.ready -= step->now->type != NULL;
    flow->step_counts.leased -= row->locked_by != NULL;
}

/* ---- making and freeing ------------------------------------------------------------------ */

bool flow_init(struct flow_table *flow)
{
    *flow = (struct flow_table){.keys.compare = compare_key,
                                .by_status.compare = compare_status,
                                .by_workflow.compare = compare_workflow,
                                .by_both.compare = compare_both,
                                .starting.compare = compare_start,
                                .promotable.compare = compare_due,
                                .timers.compare = compare_due,
                                .leased.compare = compare_lease};
    flow_init_messages(flow);
    return hash_init(&flow->by_id);
}

static struct instance_version *instance_version_new(const struct instance_row *row)
{
    struct instance_version version = {.row = *row};
    return block_new(&version, sizeof version, TEXTS(instance_changing));
}

static void step_free(struct step *step)
{
    mem_free(step->now);
    mem_free(step);
}

static void instance_free(struct instance *instance)
{
    struct tree_node *node;
    while ((node = tree_first(&instance->steps))) {
        tree_remove(&instance->steps, node);
        step_free(container_of(node, struct step, by_place));
    }
    instance_free_messages(instance);
    mem_free(instance->events.events); /* the events are the table's */
    mem_free(instance->now);
    mem_free(instance);
}

/* The row as the instance's own: what never changes is copied into it. */
static struct instance *instance_new(const struct instance_row *row)
{
    struct instance *instance =
        mem_zalloc(sizeof *instance + texts_size(TEXTS(instance_fixed), row));
    if (!instance)
        return NULL;
    struct instance_row own = *row;
    texts_put(TEXTS(instance_fixed), &own, instance->text);
    instance->steps.compare = compare_seq;
    instance->names.compare = compare_name;
    instance->current.compare = compare_current;
    instance->committed.compare = compare_committed;
    instance_init_messages(instance);
    instance->now = instance_version_new(&own);
    if (instance->now)
        return instance;
    mem_free(instance);
    return NULL;
}

/* Knows its type if it is to be claimed. */
static struct step_version *step_version_new(struct table *table, const struct step_row *row)
{
    struct step_version version = {.row = *row};
    if (row->is_ready && row->task_type) {
        version.type = table_intern_type(table, row->task_type);
        if (!version.type)
            return NULL;
    }
    return block_new(&version, sizeof version, TEXTS(step_changing));
}

static struct step *step_new(struct table *table, struct instance *instance,
                             const struct step_row *row)
{
    struct step *step = mem_zalloc(sizeof *step + texts_size(TEXTS(step_fixed), row));
    if (!step)
        return NULL;
    struct step_row own = *row;
    texts_put(TEXTS(step_fixed), &own, step->text);
    own.instance_id = instance->now->row.id;
    step->instance = instance;
    step->now = step_version_new(table, &own);
    if (step->now)
        return step;
    mem_free(step);
    return NULL;
}

void flow_done(struct flow_table *flow)
{
    for (size_t i = 0; i < flow->instance_count; i++)
        instance_free(flow->instances[i]);
    flow_done_messages(flow);
    mem_free(flow->instances);
    hash_done(&flow->by_id);
}

/* ---- changes ----------------------------------------------------------------------------- */

bool table_insert_instance(struct table *table, const struct instance_row *row)
{
    struct flow_table *flow = &table->flow;
    if (!table_make_undo_room(table) ||
        !array_make_room(&flow->instances, flow->instance_count, &flow->instance_room,
                         sizeof *flow->instances))
        return false;
    struct instance *instance = instance_new(row);
    if (!instance)
        return false;
    flow->instances[flow->instance_count++] = instance;
    instance->now->row.seq = (int64_t)flow->instance_count;
    hash_add(&flow->by_id, &instance->by_id, instance->now->row.id);
    if (row->key)
        tree_add(&flow->keys, &instance->by_key);
    tree_add(&flow->by_workflow, &instance->by_workflow);
    enter_instance(flow, instance);
    table_note(table, (struct undo){.kind = UNDO_INSTANCE, .instance = instance});
    return true;
}

bool table_update_instance(struct table *table, struct instance *instance,
                           const struct instance_row *row)
{
    const struct instance_row *old = &instance->now->row;
    struct instance_row next = *row;
    next.seq = old->seq;
    next.id = old->id;
    next.workflow = old->workflow;
    next.version = old->version;
    next.key = old->key;
    next.input = old->input;
    next.created_at_us = old->created_at_us;

    struct instance_version *version =
        table_make_undo_room(table) ? instance_version_new(&next) : NULL;
    if (!version)
        return false;
    table_note(table, (struct undo){.kind = UNDO_INSTANCE_UPDATE,
                                    .instance = instance,
                                    .before = instance->now});
    leave_instance(&table->flow, instance);
    instance->now = version;
    enter_instance(&table->flow, instance);
    return true;
}

static void add_step(struct flow_table *flow, struct step *step)
{
    tree_add(&step->instance->steps, &step->by_place);
    tree_add(&step->instance->names, &step->by_name);
    enter_step(flow, step);
}

static void remove_step(struct flow_table *flow, struct step *step)
{
    leave_step(flow, step);
    tree_remove(&step->instance->names, &step->by_name);
    tree_remove(&step->instance->steps, &step->by_place);
}

bool table_insert_step(struct table *table, struct instance *instance,
                       const struct step_row *row)
{
    struct step *step = table_make_undo_room(table) ? step_new(table, instance, row) : NULL;
    if (!step)
        return false;
    add_step(&table->flow, step);
    table_note(table, (struct undo){.kind = UNDO_STEP, .step = step});
    return true;
}

bool table_update_step(struct table *table, struct step *step, const struct step_row *row)
{
    const struct step_row *old = &step->now->row;
    struct step_row next = *row;
    next.instance_id = old->instance_id;
    next.instance_seq = old->instance_seq;
    next.seq = old->seq;
    next.name = old->name;
    next.kind = old->kind;
    next.handler = old->handler;
    next.max_attempts = old->max_attempts;
    next.priority = old->priority;
    next.next = old->next;
    next.scope_fork = old->scope_fork;
    next.scope_from = old->scope_from;
    next.scope_to = old->scope_to;
    next.version = old->version;
    next.config = old->config;
    next.metadata = old->metadata;

    struct step_version *version =
        table_make_undo_room(table) ? step_version_new(table, &next) : NULL;
    if (!version)
        return false;
    table_note(table,
               (struct undo){.kind = UNDO_STEP_UPDATE, .step = step, .before = step->now});
    leave_step(&table->flow, step);
    step->now = version;
    enter_step(&table->flow, step);
    return true;
}

bool table_delete_step(struct table *table, struct step *step)
{
    if (!table_make_undo_room(table))
        return false;
    table_note(table, (struct undo){.kind = UNDO_STEP_DELETE, .step = step});
    remove_step(&table->flow, step);
    return true;
}

void flow_keep(struct undo *undo)
{
    if (undo->kind == UNDO_STEP_DELETE)
        step_free(undo->step);
}

/* ---- undoing ----------------------------------------------------------------------------- */

static void undo_instance(struct flow_table *flow, struct instance *instance)
{
    assert(flow->instances[flow->instance_count - 1] == instance);
    flow->instance_count--;
    leave_instance(flow, instance);
    tree_remove(&flow->by_workflow, &instance->by_workflow);
    if (instance->now->row.key)
        tree_remove(&flow->keys, &instance->by_key);
    hash_remove(&flow->by_id, &instance->by_id);
    instance_free(instance);
}

void flow_undo(struct flow_table *flow, struct undo *undo)
{
    switch (undo->kind) {
    case UNDO_INSTANCE:
        undo_instance(flow, undo->instance);
        break;
    case UNDO_INSTANCE_UPDATE:
        leave_instance(flow, undo->instance);
        mem_free(undo->instance->now);
        undo->instance->now = undo->before;
        enter_instance(flow, undo->instance);
        break;
    case UNDO_STEP:
        remove_step(flow, undo->step);
        step_free(undo->step);
        break;
    case UNDO_STEP_DELETE:
        add_step(flow, undo->step);
        break;
    case UNDO_STEP_UPDATE:
        leave_step(flow, undo->step);
        mem_free(undo->step->now);
        undo->step->now = undo->before;
        enter_step(flow, undo->step);
        break;
    default:
        flow_undo_message(flow, undo);
    }
}

/* ---- finding ----------------------------------------------------------------------------- */

struct instance *flow_find_instance(const struct flow_table *flow, const char *id)
{
    struct hash_link *link = hash_find(&flow->by_id, id);
    return link ? container_of(link, struct instance, by_id) : NULL;
}

static int probe_key(const struct tree_node *node, const void *key)
{
    const struct instance_row *row = INSTANCE_ROW(node, by_key), *wanted = key;
    int order = strcmp(row->key, wanted->key);
    return order ? order : strcmp(row->workflow, wanted->workflow);
}

struct instance *flow_find_key(const struct flow_table *flow, const char *workflow,
                               const char *key)
{
    struct instance_row wanted = {.workflow = workflow, .key = key};
    struct tree_node *node = tree_seek(&flow->keys, probe_key, &wanted);
    if (!node || probe_key(node, &wanted) != 0)
        return NULL;
    return container_of(node, struct instance, by_key);
}

static int probe_place(const struct tree_node *node, const void *key)
{
    return compare_int(STEP_ROW(node, by_place)->seq, *(const int32_t *)key);
}

struct step *instance_step_from(const struct instance *instance, int32_t from)
{
    struct tree_node *node = tree_seek(&instance->steps, probe_place, &from);
    return node ? container_of(node, struct step, by_place) : NULL;
}

struct step *instance_step(const struct instance *instance, int32_t seq)
{
    struct step *step = instance_step_from(instance, seq);
    return step && step->now->row.seq == seq ? step : NULL;
}
