/* engine/batch_children.c - the children of workflows' steps: started, cancelled and rolled back.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * A parent is locked when its children are, and new ones are in no other transaction's hands.  All
 * that are wanted in one round are started by the statements of one start.
 */
#include "engine/workset.h"

#include <stdio.h>
#include <string.h>

enum { AT_ONCE = 256, DEPTH_MAX = 32 };

/* A child that is to be started. */
struct wish {
    struct workset_instance *parent;
    struct flow_step *step;
    struct child child;
    const char *flaw; /* why it cannot be */
};

struct wishes {
    struct batch *batch;
    struct plan *plans;
    LIST(struct wish) list;
};

cairn_code batch_begin_wishes(struct batch *batch, struct wishes **ret_wishes)
{
    *ret_wishes = arena_zalloc(&batch->arena, sizeof **ret_wishes);
    NEED(*ret_wishes, batch->error);
    (*ret_wishes)->batch = batch;
    return CAIRN_OK;
}

/* ---- starting ------------------------------------------------------------------------------- */

/* A step that begins again wants another instance, so another key. */
static cairn_code name_child(struct batch *batch, const struct wish *wish, int32_t round,
                             cairn_start_options *options, const char **ret_flaw)
{
    TRY(flow_child_names(&wish->parent->flow, wish->step, &options->key, &options->tags,
                         ret_flaw));
    if (!options->key || round == 1)
        return CAIRN_OK;
    options->key = arena_printf(&batch->arena, "%s~%d", options->key, (int)round);
    return options->key ? CAIRN_OK : fail_memory(batch->error);
}

/* input: the element of a map; NULL: as the step says */
static cairn_code plan_wish(struct wishes *wishes, struct wish *wish, int32_t element,
                            const char *input)
{
    struct batch *batch = wishes->batch;
    const struct instance_row *parent = &wish->parent->row;
    const struct child_config *config = &wish->step->config->child;
    struct step_children *children;
    TRY(workset_source.children(&wish->parent->flow, wish->step, &children));
    struct lineage *of = arena_zalloc(&batch->arena, sizeof *of);
    char *id = arena_zalloc(&batch->arena, ID_TEXT);
    NEED(of && id, batch->error);
    id_make(&batch->committer->rng, batch->tx->now_us, id);
    *of = (struct lineage){.parent = config->is_left ? NULL : parent->id,
                           .seq = config->is_left ? -1 : wish->step->row.seq,
                           .round = children->row.round,
                           .element = element,
                           .depth = parent->depth + 1};
    cairn_start_options options = CAIRN_START_DEFAULTS;
    bool is_map = config->over != NULL;
    options.workflow = is_map ? parent->workflow : config->workflow;
    options.version = is_map ? parent->version : config->version;
    options.input = input ? input : wish->step->row.input;
    const char *unnamed;
    TRY(name_child(batch, wish, children->row.round, &options, &unnamed));
    options.metadata = parent->metadata;
    options.group = wish->step->row.group;
    wish->child.step = of;
    TRY(batch_plan_child(batch, &wishes->plans, &options, is_map ? wish->step->row.name : NULL,
                         id, &wish->child, &wish->flaw));
    if (unnamed)
        wish->flaw = unnamed;
    if (!wish->flaw && of->depth > DEPTH_MAX)
        wish->flaw = arena_printf(&batch->arena,
                                  "cannot start workflow \"%.64s\": children are nested more "
                                  "than %d deep",
                                  options.workflow, DEPTH_MAX);
    return CAIRN_OK;
}

static cairn_code add_starts(struct wishes *wishes, struct workset_instance *parent,
                             struct flow_step *step)
{
    struct step_children *children;
    int32_t wanted;
    TRY(flow_children_wanted(&parent->flow, step, &wanted));
    if (wanted == 0)
        return CAIRN_OK;
    TRY(workset_source.children(&parent->flow, step, &children));
    const char **items = arena_array(&wishes->batch->arena, (size_t)wanted, sizeof *items);
    NEED(items, wishes->batch->error);
    bool is_map = step->config->child.over != NULL;
    if (is_map)
        TRY(map_read(wishes->batch, &children->row, children->row.begun, items, wanted,
                     &wanted));
    for (int32_t i = 0; i < wanted; i++) {
        struct wish *wish = list_add(&wishes->batch->arena, &wishes->list);
        NEED(wish, wishes->batch->error);
        *wish = (struct wish){.parent = parent, .step = step};
        TRY(plan_wish(wishes, wish, children->row.begun + i, is_map ? items[i] : NULL));
    }
    return CAIRN_OK;
}

/* A child that is waited for is its parent's alone. */
static cairn_code settle_wish(struct wishes *wishes, struct wish *wish,
                              const cairn_enqueued *started)
{
    struct flow *flow = &wish->parent->flow;
    if (!wish->flaw && started->existing && wish->child.step->parent) {
        wish->flaw = arena_printf(
            &wishes->batch->arena,
            "cannot start workflow \"%.64s\": its key \"%.64s\" is that of "
            "instance %s",
            wish->child.start->options.workflow, wish->child.start->options.key, started->id);
        NEED(wish->flaw, wishes->batch->error);
    }
    workset_revise(wish->parent);
    return wish->flaw ? flow_child_refused(flow, wish->step, wish->flaw)
                      : flow_child_started(flow, wish->step, started->id);
}

cairn_code batch_grant_wishes(struct wishes *wishes)
{
    struct batch *batch = wishes->batch;
    size_t count = wishes->list.count;
    if (count == 0)
        return CAIRN_OK;
    struct child *children = arena_array(&batch->arena, count, sizeof *children);
    cairn_enqueued *started = arena_array(&batch->arena, count, sizeof *started);
    NEED(children && started, batch->error);
    for (size_t i = 0; i < count; i++) {
        children[i] = wishes->list.items[i].child;
        children[i].is_unwanted = wishes->list.items[i].flaw != NULL;
    }
    TRY(batch_start_children(batch, children, count, started));
    for (size_t i = 0; i < count; i++)
        TRY(settle_wish(wishes, &wishes->list.items[i], &started[i]));
    return CAIRN_OK;
}

/* ---- rolling back --------------------------------------------------------------------------- */

/* Why a child that failed while it was undone keeps the step from being undone; NULL: it had failed
 * before, and was not done. */
static cairn_code stuck_error(struct batch *batch, const struct instance_row *child,
                              const char **ret_error)
{
    bool is_stuck = child->undo_first == UNDO_OF_CANCEL && child->is_undo_failed;
    *ret_error =
        is_stuck ? arena_printf(&batch->arena,
                                "child %s could not be undone: requeue its dead letters first",
                                child->id)
                 : NULL;
    return is_stuck && !*ret_error ? fail_memory(batch->error) : CAIRN_OK;
}

static cairn_code roll_back_one(struct batch *batch, struct workset_instance *parent,
                                struct flow_step *step, struct workset_instance *child)
{
    const struct flow_who who = {.by = parent->row.stop_by, .reason = "its parent is undone"};
    const char *error = NULL;
    enum instance_status status = child->row.status;
    if (instance_is_final(status) && status != INSTANCE_COMPLETED) {
        if (status == INSTANCE_FAILED)
            TRY(stuck_error(batch, &child->row, &error));
        return flow_child_passed_over(&parent->flow, step, child->row.seq, error);
    }
    TRY(flow_child_rolling(&parent->flow, step, &child->row));
    TRY(flow_roll_back(&child->flow, &who));
    workset_revise(child);
    return CAIRN_OK;
}

/* A key that was known names an instance of somebody else, perhaps. */
static bool is_child_of(const struct workset_instance *child,
                        const struct workset_instance *parent)
{
    return child && child->row.parent && strcmp(child->row.parent, parent->row.id) == 0;
}

/* Of a function's step there is one, which the step names. */
static cairn_code roll_back_call(struct batch *batch, struct workset_instance *parent,
                                 struct flow_step *step, bool *ret_is_done)
{
    const char *id;
    TRY(call_child(&batch->arena, &step->row, &id, batch->error));
    TRY(workset_load(batch, &id, id ? 1 : 0));
    struct workset_instance *child = id ? workset_find(batch, id) : NULL;
    if (child && child->is_busy) {
        *ret_is_done = false;
        return CAIRN_OK;
    }
    if (is_child_of(child, parent))
        TRY(roll_back_one(batch, parent, step, child));
    workset_revise(parent);
    return flow_undo_listed(&parent->flow, step);
}

static cairn_code roll_back(struct batch *batch, struct workset_instance *parent,
                            struct flow_step *step, bool *ret_is_done)
{
    const struct children_row *row;
    size_t count = 0;
    TRY(flow_undo_wanted(&parent->flow, step, &row));
    if (!row)
        return CAIRN_OK;
    if (parent->row.is_function)
        return roll_back_call(batch, parent, step, ret_is_done);
    const char **ids = arena_array(&batch->arena, AT_ONCE, sizeof *ids);
    NEED(ids, batch->error);
    TRY(STORE(batch, list_done_children, row, ids, AT_ONCE, &count));
    TRY(workset_load(batch, ids, count));
    for (size_t i = 0; i < count; i++) {
        struct workset_instance *child = workset_find(batch, ids[i]);
        if (!child || child->is_busy) {
            *ret_is_done = false;
            return CAIRN_OK;
        }
        TRY(roll_back_one(batch, parent, step, child));
    }
    return count < AT_ONCE ? flow_undo_listed(&parent->flow, step) : CAIRN_OK;
}

/* ---- both ----------------------------------------------------------------------------------- */

cairn_code batch_add_starts(struct wishes *wishes, struct workset_instance *parent,
                            bool *ret_is_any)
{
    struct step_list steps;
    size_t before = wishes->list.count;
    TRY(workset_source.current(&parent->flow, &steps));
    for (size_t i = 0; i < steps.count; i++)
        TRY(add_starts(wishes, parent, steps.items[i]));
    *ret_is_any = wishes->list.count > before;
    return CAIRN_OK;
}

cairn_code batch_add_wishes(struct wishes *wishes, struct workset_instance *parent,
                            bool *ret_is_done)
{
    struct step_list steps;
    *ret_is_done = true;
    TRY(workset_source.current(&parent->flow, &steps));
    for (size_t i = 0; i < steps.count; i++) {
        TRY(add_starts(wishes, parent, steps.items[i]));
        TRY(roll_back(wishes->batch, parent, steps.items[i], ret_is_done));
    }
    return CAIRN_OK;
}

/* ---- cancelling ----------------------------------------------------------------------------- */

static cairn_code cancel_of(struct batch *batch, const struct children_row *step,
                            bool *ret_is_done)
{
    const struct flow_who who = {.reason = "its parent no longer waits for it"};
    size_t count = 0;
    const char **ids = arena_array(&batch->arena, AT_ONCE, sizeof *ids);
    NEED(ids, batch->error);
    TRY(STORE(batch, list_children, step->instance_id, step->seq, false, ids, AT_ONCE, &count));
    TRY(workset_load(batch, ids, count));
    *ret_is_done &= count < AT_ONCE;
    for (size_t i = 0; i < count; i++) {
        struct workset_instance *child = workset_find(batch, ids[i]);
        cairn_code verdict = CAIRN_OK;
        if (!child || child->is_busy) {
            *ret_is_done = false;
            continue;
        }
        if (child->row.parent_round != step->round)
            continue; /* of an earlier round, and aborted */
        TRY(flow_cancel(&child->flow, &who, &verdict));
        if (!verdict)
            workset_revise(child);
    }
    return CAIRN_OK;
}

cairn_code batch_end_children(struct batch *batch, struct workset_instance *parent,
                              bool *ret_is_done)
{
    size_t count = 0;
    struct children_row *rows = arena_array(&batch->arena, AT_ONCE, sizeof *rows);
    NEED(rows, batch->error);
    *ret_is_done = true;
    TRY(STORE(batch, find_ending_children, parent->row.id, rows, AT_ONCE, &count));
    for (size_t i = 0; i < count; i++)
        TRY(cancel_of(batch, &rows[i], ret_is_done));
    return CAIRN_OK;
}
