/* tests/sim/laws_end.c - what must hold of the steps of an instance that has ended.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * The structure is read from the rows' configurations, not from what the engine made of it.
 */
#include "sim.h"

#include <jansson.h>
#include <string.h>

/* What the files say of the places of an instance. */
struct shape {
    const struct seen_instance *instance;
    json_t *configs[STEPS_MAX];
    int branch_fork[STEPS_MAX], branch_from[STEPS_MAX], branch_to[STEPS_MAX]; /* innermost */
    bool is_conditional[STEPS_MAX]; /* in a list of a condition */
};

static bool read_range(const json_t *range, int *ret_from, int *ret_to)
{
    *ret_from = (int)json_integer_value(json_array_get(range, 0));
    *ret_to = (int)json_integer_value(json_array_get(range, 1));
    return json_is_array(range) && *ret_from >= 0;
}

static void note_condition(struct shape *shape, size_t place)
{
    static const char *const lists[] = {"then", "else"};
    int from, to;
    for (int i = 0; i < 2; i++)
        if (read_range(json_object_get(shape->configs[place], lists[i]), &from, &to))
            for (int k = from; k <= to; k++)
                shape->is_conditional[k] = true;
}

/* Inner forks come later in the order of the file. */
static void note_fork(struct shape *shape, size_t place)
{
    size_t i;
    json_t *range;
    int from, to;
    json_array_foreach(json_object_get(shape->configs[place], "branches"), i, range)
    {
        if (!read_range(range, &from, &to))
            continue;
        for (int k = from; k <= to; k++) {
            shape->branch_fork[k] = (int)place;
            shape->branch_from[k] = from;
            shape->branch_to[k] = to;
        }
    }
}

static void shape_read(struct shape *shape, const struct seen_instance *instance)
{
    *shape = (struct shape){.instance = instance};
    int last = (int)instance->step_count - 1;
    for (size_t i = 0; i < instance->step_count; i++) {
        shape->branch_fork[i] = -1;
        shape->branch_to[i] = last;
        const char *config = instance->steps[i].config;
        shape->configs[i] = config ? json_loads(config, 0, NULL) : NULL;
    }
    for (size_t i = 0; i < instance->step_count; i++)
        if (instance->steps[i].kind == KIND_FORK)
            note_fork(shape, i);
        else if (instance->steps[i].kind == KIND_CONDITION)
            note_condition(shape, i);
}

static void shape_done(struct shape *shape)
{
    for (size_t i = 0; i < shape->instance->step_count; i++)
        json_decref(shape->configs[i]);
}

/* ---- completed --------------------------------------------------------------------------- */

/* Done, confirmed, or skipped by a condition or a policy. */
static bool is_fine(const struct shape *shape, int place)
{
    const struct step_row *step = &shape->instance->steps[place];
    bool is_passed_over = step->status == STEP_SKIPPED && !step->stop &&
                          (step->commit_no || shape->is_conditional[place]);
    return step->is_copied || step->status == STEP_COMPLETED ||
           step->status == STEP_CONFIRMED || is_passed_over;
}

static int find_bad(const struct shape *shape, int from, int to);

/* A branch in which all is well; -1: there is one, else a place that is not. */
static int find_bad_in_any(const struct shape *shape, int fork)
{
    size_t i;
    json_t *range;
    int from, to, bad = fork;
    json_array_foreach(json_object_get(shape->configs[fork], "branches"), i, range)
    {
        read_range(range, &from, &to);
        bad = find_bad(shape, from, to);
        if (bad < 0)
            return -1;
    }
    return bad;
}

/* A place that is neither well nor in a lost branch of an `any`; -1: none. */
static int find_bad(const struct shape *shape, int from, int to)
{
    for (int i = from; i <= to; i++) {
        if (!is_fine(shape, i))
            return i;
        if (shape->instance->steps[i].kind != KIND_FORK)
            continue;
        int join = (int)json_integer_value(json_object_get(shape->configs[i], "join"));
        if (!json_is_true(json_object_get(shape->configs[join], "any")))
            continue;
        int bad = find_bad_in_any(shape, i);
        if (bad >= 0)
            return bad;
        i = join - 1;
    }
    return -1;
}

/* ---- undone ------------------------------------------------------------------------------ */

/* The nearest save point: before the step in its own list, else in those around it. */
static void find_range(const struct shape *shape, int failed, int *ret_from, int *ret_to)
{
    const struct step_row *steps = shape->instance->steps;
    for (int at = failed; at >= 0; at = shape->branch_fork[at])
        for (int i = at - 1; i >= shape->branch_from[at]; i--)
            if (steps[i].kind == KIND_SAVE_POINT && steps[i].status == STEP_COMPLETED &&
                shape->branch_fork[i] == shape->branch_fork[at]) {
                *ret_from = i + 1;
                *ret_to = shape->branch_to[at];
                return;
            }
    *ret_from = 0;
    *ret_to = (int)shape->instance->step_count - 1;
}

static bool has_record(const struct seen_instance *instance, int place)
{
    for (size_t i = 0; i < instance->record_count; i++)
        if (instance->records[i].step_seq == place)
            return true;
    return false;
}

static void law_of_undone(struct sim *sim, const struct shape *shape,
                          const struct saga_seen *saga, int place)
{
    const struct seen_instance *instance = shape->instance;
    const struct step_row *step = &instance->steps[place];
    bool is_failed = step->status == STEP_FAILED && instance->row.status == INSTANCE_FAILED &&
                     has_record(instance, step->seq);
    bool has_undo = json_object_get(shape->configs[place], "compensation") != NULL;
    bool is_left = step->status == STEP_SKIPPED && !(has_undo && saga->has_run[step->seq]);
    if (step->is_copied)
        return;
    if (step->status != STEP_ROLLED_BACK && !is_failed && !is_left)
        sim_broken(sim, "%s is %s: it should have been undone", step->name,
                   step_status_name(step->status));
}

static void law_of_rollback(struct sim *sim, const struct shape *shape,
                            const struct saga_seen *saga)
{
    const struct seen_instance *instance = shape->instance;
    int first = instance->row.undo_first, count = (int)instance->step_count;
    int from = 0, to = count - 1;
    if (first >= 0)
        find_range(shape, first, &from, &to);
    else if (first == UNDO_FIRST_NONE)
        from = count; /* fail_workflow: nothing is undone */
    for (int i = 0; i < count; i++) {
        if (i >= from && i <= to)
            law_of_undone(sim, shape, saga, i);
        else if (saga->undone[i])
            sim_broken(sim, "%s was undone, it is outside of %d to %d", instance->steps[i].name,
                       from, to);
    }
}

/* All that a function remembers is undone, unless nothing is. */
static void law_of_function_end(struct sim *sim, size_t index)
{
    const struct seen_instance *instance = &sim->now->instances[index];
    const struct saga_seen *saga = &sim->sagas[index];
    bool is_undone = instance->row.undo_first != UNDO_FIRST_NONE &&
                     instance->row.status != INSTANCE_COMPLETED;
    struct shape shape;
    shape_read(&shape, instance);
    for (size_t i = 0; i < instance->step_count; i++)
        if (is_undone)
            law_of_undone(sim, &shape, saga, (int)i);
        else if (saga->undone[instance->steps[i].seq])
            sim_broken(sim, "%s was undone for nothing", instance->steps[i].name);
    shape_done(&shape);
    if (instance->row.status == INSTANCE_COMPLETED &&
        instance->steps[0].status != STEP_COMPLETED)
        sim_broken(sim, "%s is completed, its function is not", instance->row.id);
}

void law_of_ends(struct sim *sim, size_t index)
{
    const struct seen_instance *instance = &sim->now->instances[index];
    enum instance_status status = instance->row.status;
    struct shape shape;
    if (instance->row.is_function) {
        if (status != INSTANCE_ABORTED)
            law_of_function_end(sim, index);
        return;
    }
    shape_read(&shape, instance);
    if (status == INSTANCE_COMPLETED) {
        int bad = find_bad(&shape, 0, (int)instance->step_count - 1);
        if (bad >= 0)
            sim_broken(sim, "%s is completed, but %s is %s", instance->row.id,
                       instance->steps[bad].name,
                       step_status_name(instance->steps[bad].status));
    } else if (status == INSTANCE_FAILED || status == INSTANCE_CANCELLED) {
        law_of_rollback(sim, &shape, &sim->sagas[index]);
    }
    shape_done(&shape);
}
