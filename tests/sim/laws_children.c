/* tests/sim/laws_children.c - steps of workflows that start others: one child for each element, in the
 * order of the list; what is undone is undone with its children.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * laws_family.c has what holds of all parents and children.
 */
#include "sim.h"

#include <jansson.h>
#include <string.h>

bool is_parent_step(const struct seen_instance *instance, const struct step_row *row)
{
    return row->kind == KIND_START && !instance->row.is_function;
}

bool is_call_step(const struct seen_instance *instance, const struct step_row *row)
{
    return row->kind == KIND_START && instance->row.is_function && row->config &&
           strstr(row->config, "\"child\"");
}

/* Its parent's step is undone: so it was done, and no longer is. */
bool is_rolled_back_child(const struct seen_instance *child)
{
    return child->row.parent && has_event(child, "cancellation_started", NULL);
}

/* The call of a function that has started it. */
const struct step_row *call_of(const struct seen_instance *parent, const char *id)
{
    for (size_t i = 1; i < parent->step_count; i++) {
        const struct step_row *row = &parent->steps[i];
        if (row->kind == KIND_START && row->output && strstr(row->output, id))
            return row;
    }
    return NULL;
}

bool is_being_undone(const struct sim *sim, const struct seen_instance *child)
{
    const struct seen_instance *parent =
        child->row.parent ? snapshot_find(sim->now, child->row.parent) : NULL;
    const struct step_row *step = !parent ? NULL
                                  : child->row.parent_seq < 0
                                      ? call_of(parent, child->row.id)
                                      : seen_step(parent, child->row.parent_seq);
    return step && step->status == STEP_COMPENSATION;
}

/* What the file says of a step. */
struct parent_config {
    bool is_map, is_left, is_counted, has_compensation;
};

static struct parent_config config_of(const struct step_row *step)
{
    json_t *tree = step->config ? json_loads(step->config, 0, NULL) : NULL;
    struct parent_config config = {
        .is_map = json_object_get(tree, "over") != NULL,
        .is_left = json_is_false(json_object_get(tree, "wait")),
        .is_counted = json_is_false(json_object_get(tree, "collect")),
        .has_compensation = json_object_get(tree, "compensation") != NULL};
    json_decref(tree);
    return config;
}

static bool is_of_step(const struct seen_instance *child, const struct seen_instance *parent,
                       const struct step_row *step)
{
    return child->row.parent && strcmp(child->row.parent, parent->row.id) == 0 &&
           child->row.parent_seq == step->seq;
}

static int32_t latest_round(const struct sim *sim, const struct seen_instance *parent,
                            const struct step_row *step)
{
    int32_t round = 0;
    for (size_t i = 0; i < sim->now->instance_count; i++) {
        const struct seen_instance *child = &sim->now->instances[i];
        if (is_of_step(child, parent, step) && child->row.parent_round > round)
            round = child->row.parent_round;
    }
    return round;
}

/* The child of an element in the latest round, and its place; NULL: none was started. */
static const struct seen_instance *child_of(struct sim *sim, const struct seen_instance *parent,
                                            const struct step_row *step, int32_t element,
                                            size_t *ret_index)
{
    const struct seen_instance *found = NULL;
    int32_t round = latest_round(sim, parent, step);
    for (size_t i = 0; i < sim->now->instance_count; i++) {
        const struct seen_instance *child = &sim->now->instances[i];
        if (!is_of_step(child, parent, step) || child->row.parent_round != round ||
            child->row.element != element)
            continue;
        if (found)
            sim_broken(sim, "element %d of %s has two children, %s and %s", element, step->name,
                       found->row.id, child->row.id);
        found = child;
        *ret_index = i;
    }
    return found;
}

static bool is_json(const json_t *value, const char *text)
{
    json_t *other = text ? json_loads(text, JSON_DECODE_ANY, NULL) : json_null();
    bool is_same = json_equal(value, other);
    json_decref(other);
    return is_same;
}

/* ---- what a step has made of its children -------------------------------------------------- */

static void law_of_element(struct sim *sim, const struct seen_instance *parent,
                           const struct step_row *step, int32_t element, const json_t *value)
{
    size_t index = 0;
    const struct seen_instance *child = child_of(sim, parent, step, element, &index);
    if (child && sim->families[index].is_reopened)
        return; /* by somebody else, and its output is another one */
    bool is_done = child && child->row.status == INSTANCE_COMPLETED;
    if (!is_json(value, is_done ? child->row.output : NULL))
        sim_broken(sim, "%s has another output of its child %d: %s", step->name, element,
                   step->output);
}

static void law_of_map(struct sim *sim, const struct seen_instance *parent,
                       const struct step_row *step, const json_t *output)
{
    bool is_made = strstr(step->config, "\"input\"");
    json_t *input =
        json_loads(is_made ? step->input : parent->row.input, JSON_DECODE_ANY, NULL);
    json_t *item;
    json_t *list = json_object_get(input, "list");
    size_t i, index;
    if (json_array_size(output) != json_array_size(list) || !json_is_array(output))
        sim_broken(sim, "%s ran over %zu elements and answers %s", step->name,
                   json_array_size(list), step->output);
    json_array_foreach(list, i, item)
    {
        const struct seen_instance *child = child_of(sim, parent, step, (int32_t)i, &index);
        if (child && !is_json(item, child->row.input))
            sim_broken(sim, "%s is element %zu of %s and was given %s", child->row.id, i,
                       step->name, child->row.input);
        law_of_element(sim, parent, step, (int32_t)i, json_array_get(output, i));
    }
    json_decref(input);
}

static void law_of_done(struct sim *sim, const struct seen_instance *parent,
                        const struct step_row *step)
{
    struct parent_config config = config_of(step);
    if (config.is_left || config.is_counted)
        return;
    json_t *output = step->output ? json_loads(step->output, JSON_DECODE_ANY, NULL) : NULL;
    if (config.is_map)
        law_of_map(sim, parent, step, output);
    else
        law_of_element(sim, parent, step, 0, output);
    json_decref(output);
}

/* ---- undo ---------------------------------------------------------------------------------- */

/* Of a step that was undone no child is done any more, or lives. */
static void law_of_rolled_back(struct sim *sim, const struct seen_instance *parent,
                               const struct step_row *step)
{
    struct parent_config config = config_of(step);
    int32_t round = latest_round(sim, parent, step);
    if (config.is_left || config.has_compensation)
        return;
    for (size_t i = 0; i < sim->now->instance_count; i++) {
        const struct seen_instance *child = &sim->now->instances[i];
        bool is_meant = is_of_step(child, parent, step) && child->row.parent_round == round &&
                        !sim->families[i].is_reopened;
        if (is_meant &&
            (child->row.status == INSTANCE_COMPLETED || !instance_is_final(child->row.status)))
            sim_broken(sim, "%s was undone, and its child %s is %s", step->name, child->row.id,
                       instance_status_name(child->row.status));
    }
}

/* ---- stops --------------------------------------------------------------------------------- */

/* Once everything is told, nothing lives of what an abort has stopped. */
static void law_of_abort(struct sim *sim, const struct seen_instance *parent)
{
    if (parent->row.status != INSTANCE_ABORTED || parent->row.is_telling)
        return;
    for (size_t i = 0; i < sim->now->instance_count; i++) {
        const struct seen_instance *child = &sim->now->instances[i];
        bool is_child = child->row.parent && strcmp(child->row.parent, parent->row.id) == 0;
        if (is_child && !child->row.is_told && !sim->families[i].is_reopened &&
            !instance_is_final(child->row.status))
            sim_broken(sim, "%s was aborted and has told so, and its child %s is %s",
                       parent->row.id, child->row.id, instance_status_name(child->row.status));
    }
}

void laws_of_children(struct sim *sim, size_t index)
{
    const struct seen_instance *now = &sim->now->instances[index];
    const struct seen_instance *before = snapshot_find(sim->before, now->row.id);
    law_of_abort(sim, now);
    for (size_t i = 0; i < now->step_count; i++) {
        const struct step_row *step = &now->steps[i];
        const struct step_row *old = before ? seen_step(before, step->seq) : NULL;
        if (!is_parent_step(now, step) || step->is_copied ||
            (old && old->status == step->status))
            continue;
        if (step->status == STEP_COMPLETED)
            law_of_done(sim, now, step);
        else if (step->status == STEP_ROLLED_BACK)
            law_of_rolled_back(sim, now, step);
    }
}
