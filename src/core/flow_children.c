/* core/flow_children.c - steps that start other instances and wait for them.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * A step that begins to wait for children only says so (is_telling): the engine then starts as many as
 * are wanted, tells of each end, and rolls them back when the step is undone (engine/batch_family.c).
 * What became of them is counted in a row of its own, since the step's has the data.
 *
 *     waiting        children are started, their ends counted; what they decide follows when all that
 *                    were started have ended
 *     is_ending      it is decided, or the step was stopped: those that live are cancelled
 *     compensation   those that completed are rolled back, the last first
 *
 * What a function has started is remembered as done at once, and it waits for a signal; so all that is
 * here of its children is their undo.
 */
#include "base/scan.h"
#include "core/counter.h"
#include "core/flow_inside.h"

#include <string.h>

static struct instance_row *ask_engine(struct flow *flow)
{
    flow->instance->is_telling = true;
    flow->is_dirty = true;
    return flow->instance;
}

bool step_is_parent(const struct flow *flow, const struct flow_step *step)
{
    return step->row.kind == KIND_START && !flow->instance->is_function;
}

/* Its config is read, as that of a map. */
static bool step_is_call(const struct flow *flow, const struct flow_step *step)
{
    return flow->instance->is_function && step->row.kind == KIND_START &&
           step->config->child.is_own;
}

static bool step_is_map(const struct flow_step *step)
{
    return step->config->child.over != NULL;
}

bool step_was_called(const struct flow *flow, const struct flow_step *step)
{
    bool is_called = step->row.kind == KIND_TASK || step_is_parent(flow, step);
    return is_called && step->row.started_at_us;
}

/* ---- forward -------------------------------------------------------------------------------- */

/* How many must complete. */
static int32_t needed(const struct flow_step *step, const struct children_row *row)
{
    int32_t at_least = step->config->child.at_least;
    return at_least && row->size ? at_least : row->size;
}

static bool is_won(const struct flow_step *step, const struct children_row *row)
{
    return row->done >= needed(step, row);
}

static bool is_too_large(const struct flow *flow, const struct flow_step *step,
                         const struct children_row *row)
{
    bool is_collecting = step_is_map(step) && !step->config->child.is_counted;
    return is_collecting && (size_t)row->bytes + (size_t)row->done + 1 > flow->max_bytes;
}

static bool is_lost(const struct flow *flow, const struct flow_step *step,
                    const struct children_row *row)
{
    return row->failed > row->size - needed(step, row) || is_too_large(flow, step, row);
}

static cairn_code make_output(struct flow *flow, const struct flow_step *step,
                              const struct children_row *row, const char **output)
{
    if (!step_is_map(step))
        return CAIRN_OK;
    if (!step->config->child.is_counted)
        return flow->source->collect(flow, row, output);
    *output = arena_printf(flow->arena, "{\"count\":%d,\"completed\":%d,\"failed\":%d}",
                           (int)row->size, (int)row->done, (int)row->failed);
    return *output ? CAIRN_OK : fail_memory(flow->error);
}

static cairn_code make_error(const struct flow *flow, const struct flow_step *step,
                             const struct children_row *row, const char **ret_error)
{
    *ret_error = row->error;
    if (step_is_map(step) && is_won(step, row))
        *ret_error = arena_printf(flow->arena,
                                  "its output has more than %zu bytes; collect: false gives "
                                  "counts instead",
                                  flow->max_bytes);
    else if (!row->error)
        *ret_error = arena_printf(flow->arena, "%d must complete, and there are %d elements",
                                  (int)needed(step, row), (int)row->size);
    return *ret_error ? CAIRN_OK : fail_memory(flow->error);
}

/* All that were started have ended, and no more are wanted. */
static cairn_code conclude(struct flow *flow, struct flow_step *step,
                           const struct children_row *row, const char *output)
{
    const char *error;
    if (is_won(step, row) && !is_too_large(flow, step, row)) {
        TRY(make_output(flow, step, row, &output));
        if (!step_is_map(step) || strlen(output) <= flow->max_bytes)
            return step_complete(flow, step, output, NULL);
    }
    TRY(make_error(flow, step, row, &error));
    return step_fail(flow, step, error, 1);
}

/* A parent that fails lets what was called end, and keeps its results. */
static cairn_code record(struct flow *flow, struct flow_step *step,
                         const struct children_row *row, const char *output)
{
    bool is_done = is_won(step, row) && !is_too_large(flow, step, row);
    if (is_done)
        TRY(make_output(flow, step, row, &output));
    step->row.output = is_done ? output : NULL;
    step->row.error = is_done ? NULL : row->error;
    step_set(flow, step, is_done ? STEP_COMPLETED : STEP_SKIPPED);
    if (!is_done)
        step_set_stop(flow, step, STOP_ROLLBACK);
    step_number(flow, step);
    return flow_note(flow, is_done ? "step_completed" : "step_skipped", step,
                     FACTS(.error = step->row.error));
}

/* What follows from the counts.  Held while the instance is frozen. */
static cairn_code follow(struct flow *flow, struct flow_step *step,
                         struct step_children *children, const char *output)
{
    struct children_row *row = &children->row;
    if (step->row.status != STEP_WAITING || flow_is_frozen(flow))
        return CAIRN_OK;
    if (flow->instance->goal)
        return row->living == 0 ? record(flow, step, row, output) : CAIRN_OK;
    if (!row->is_ending && (is_won(step, row) || is_lost(flow, step, row))) {
        row->is_ending = true;
        children->is_dirty = true;
    }
    if (row->living == 0 && (row->is_ending || row->begun == row->size))
        return conclude(flow, step, row, output);
    if (row->is_ending || row->begun < row->size)
        ask_engine(flow);
    return CAIRN_OK;
}

static cairn_code begin_map(struct flow *flow, const struct flow_step *step,
                            struct children_row *row, const char **ret_flaw)
{
    const char *list = NULL;
    TRY(step_make_list(flow, step, &list, ret_flaw));
    return *ret_flaw ? CAIRN_OK
                     : flow->source->elements(flow, step, row, list, &row->size, ret_flaw);
}

cairn_code children_begin(struct flow *flow, struct flow_step *step)
{
    struct step_children *children;
    const char *flaw = NULL;
    TRY(flow->source->children(flow, step, &children));
    children->row = (struct children_row){.instance_id = children->row.instance_id,
                                          .seq = children->row.seq,
                                          .round = children->row.round + 1,
                                          .size = 1};
    children->is_dirty = true;
    if (step_is_map(step))
        TRY(begin_map(flow, step, &children->row, &flaw));
    if (flaw)
        return step_fail(flow, step, flaw, 0);
    step_set(flow, step, STEP_WAITING);
    TRY(flow_note(flow, "step_waiting", step, FACTS(.reason = "child")));
    return follow(flow, step, children, NULL);
}

cairn_code children_thaw(struct flow *flow, struct flow_step *step)
{
    struct step_children *children;
    TRY(flow->source->config(flow, step));
    TRY(flow->source->children(flow, step, &children));
    return follow(flow, step, children, step->row.output);
}

cairn_code flow_children_wanted(struct flow *flow, struct flow_step *step, int32_t *ret_count)
{
    struct step_children *children;
    *ret_count = 0;
    if (!step_is_parent(flow, step) || step->row.status != STEP_WAITING || step->row.is_held ||
        flow->instance->goal || flow_is_frozen(flow))
        return CAIRN_OK;
    TRY(flow->source->config(flow, step));
    TRY(flow->source->children(flow, step, &children));
    int32_t left = children->row.size - children->row.begun;
    int32_t room = step->config->child.max_parallel - children->row.living;
    if (!children->row.is_ending && room > 0)
        *ret_count = left < room ? left : room;
    return CAIRN_OK;
}

cairn_code flow_child_started(struct flow *flow, struct flow_step *step, const char *id)
{
    struct step_children *children;
    TRY(flow->source->children(flow, step, &children));
    children->row.begun++;
    children->is_dirty = true;
    if (!step->config->child.is_left) {
        children->row.living++;
        /* A portion of the elements is at an end, perhaps. */
        if (children->row.begun < children->row.size &&
            children->row.living < step->config->child.max_parallel)
            ask_engine(flow);
        return CAIRN_OK;
    }
    const char *output = arena_printf(flow->arena, "{\"id\":\"%s\"}", id);
    NEED(output, flow->error);
    children->row.done++;
    TRY(follow(flow, step, children, output));
    return flow_settle(flow);
}

static void count_failed(struct children_row *row, const char *error)
{
    row->failed++;
    if (!row->error)
        row->error = error;
}

cairn_code flow_child_refused(struct flow *flow, struct flow_step *step, const char *error)
{
    struct step_children *children;
    TRY(flow->source->children(flow, step, &children));
    children->row.begun++;
    children->is_dirty = true;
    count_failed(&children->row, error);
    TRY(follow(flow, step, children, NULL));
    return flow_settle(flow);
}

/* ---- stopping ------------------------------------------------------------------------------- */

cairn_code children_live(struct flow *flow, struct flow_step *step, bool *ret_is_living)
{
    struct step_children *children;
    *ret_is_living = false;
    if (!step_is_parent(flow, step) || step->row.status != STEP_WAITING)
        return CAIRN_OK;
    TRY(flow->source->children(flow, step, &children));
    *ret_is_living = children->row.living > 0;
    return CAIRN_OK;
}

cairn_code children_supersede(struct flow *flow, struct flow_step *step)
{
    struct step_children *children;
    if (!step_is_parent(flow, step) || step->row.status != STEP_WAITING)
        return CAIRN_OK;
    TRY(flow->source->children(flow, step, &children));
    children->row.is_ending = true;
    children->is_dirty = true;
    ask_engine(flow);
    return CAIRN_OK;
}

/* ---- undo ----------------------------------------------------------------------------------- */

cairn_code children_are_done(struct flow *flow, struct flow_step *step, bool *ret_are_done)
{
    struct step_children *children;
    *ret_are_done = step_is_call(flow, step) && step->row.output;
    if (!step_is_parent(flow, step) || step->config->compensation.handler ||
        step->config->child.is_left)
        return CAIRN_OK;
    TRY(flow->source->children(flow, step, &children));
    *ret_are_done = children->row.done > 0;
    return CAIRN_OK;
}

cairn_code children_undo(struct flow *flow, struct flow_step *step)
{
    struct step_children *children;
    TRY(flow->source->children(flow, step, &children));
    if (step_is_call(flow, step)) /* the place may have been another call's before a restart */
        children->row = (struct children_row){.instance_id = children->row.instance_id,
                                              .seq = children->row.seq,
                                              .size = 1,
                                              .begun = 1};
    children->row.undo_below = INT64_MAX;
    children->row.is_undo_failed = false;
    children->row.error = NULL;
    children->is_dirty = true;
    ask_engine(flow);
    return CAIRN_OK;
}

static cairn_code end_undo(struct flow *flow, struct flow_step *step,
                           const struct children_row *row)
{
    if (row->undo_below && !row->living)
        ask_engine(flow); /* for the next portion */
    if (row->living || row->undo_below)
        return CAIRN_OK;
    if (!row->is_undo_failed)
        return undo_succeeded(flow, step);
    step->row.undo_error = row->error;
    TRY(flow->source->set_error(flow, &flow->instance->undo_error, step->row.name, row->error,
                                1));
    return undo_exhausted(flow, step);
}

cairn_code flow_undo_wanted(struct flow *flow, struct flow_step *step,
                            const struct children_row **ret_row)
{
    struct step_children *children;
    *ret_row = NULL;
    if (step->row.kind != KIND_START || step->row.status != STEP_COMPENSATION ||
        step->row.task_type)
        return CAIRN_OK;
    TRY(flow->source->children(flow, step, &children));
    if (children->row.undo_below)
        *ret_row = &children->row;
    return CAIRN_OK;
}

void flow_child_counted(struct flow *flow, int32_t by)
{
    flow->instance->child_count += by;
    flow->instance->own_child_count += by;
    flow->is_dirty = true;
}

cairn_code flow_child_rolling(struct flow *flow, struct flow_step *step,
                              const struct instance_row *child)
{
    struct step_children *children;
    TRY(flow->source->children(flow, step, &children));
    children->is_dirty = true;
    children->row.undo_below = child->seq;
    children->row.living++;
    flow->is_dirty = true;
    if (!flow->instance->is_function)
        flow_child_counted(flow, 1);
    else
        flow->instance->child_count += child->is_told; /* else it is counted */
    return CAIRN_OK;
}

cairn_code flow_child_passed_over(struct flow *flow, struct flow_step *step, int64_t seq,
                                  const char *error)
{
    struct step_children *children;
    TRY(flow->source->children(flow, step, &children));
    children->is_dirty = true;
    children->row.undo_below = seq;
    if (error) {
        children->row.is_undo_failed = true;
        children->row.error = error;
    }
    return CAIRN_OK;
}

cairn_code flow_undo_listed(struct flow *flow, struct flow_step *step)
{
    struct step_children *children;
    TRY(flow->source->children(flow, step, &children));
    children->is_dirty = true;
    children->row.undo_below = 0;
    TRY(end_undo(flow, step, &children->row));
    return flow_settle(flow);
}

cairn_code flow_roll_back(struct flow *flow, const struct flow_who *who)
{
    struct instance_row *instance = flow->instance;
    cairn_code verdict = CAIRN_OK;
    instance->is_told = false;
    flow->is_dirty = true;
    if (instance->status == INSTANCE_COMPENSATING)
        return CAIRN_OK; /* it ends, and then tells */
    if (instance->status == INSTANCE_COMPLETED) {
        instance->generation = counter_after(instance->generation);
        instance->finished_at_us = 0;
        instance_set(flow, INSTANCE_RUNNING,
                     true); /* not seen: it is compensating right after */
    }
    return flow_cancel(flow, who, &verdict);
}

/* ---- ends ----------------------------------------------------------------------------------- */

static cairn_code count_end(struct flow *flow, struct flow_step *step,
                            struct step_children *children, const struct child_end *end)
{
    struct children_row *row = &children->row;
    bool is_undo = step->row.status == STEP_COMPENSATION;
    children->is_dirty = true;
    row->living--;
    if (end->status == INSTANCE_COMPLETED && is_undo) {
        /* It was begun anew after its undo, before this was told: those that are done are looked for again. */
        row->undo_below = INT64_MAX;
    } else if (end->status == INSTANCE_COMPLETED) {
        row->done++;
        row->bytes += end->output ? (int64_t)strlen(end->output) : 0;
    } else if (!is_undo) {
        count_failed(row, end->error);
    } else if (end->status == INSTANCE_CANCELLED) {
        /* One that was counted as failed, because its own undo had, may be undone by now. */
        row->done -= row->done > 0;
    } else {
        row->is_undo_failed = true;
        row->error = end->error;
    }
    if (is_undo)
        return end_undo(flow, step, row);
    /* Kept where the thaw finds it. */
    if (flow_is_frozen(flow) && step->row.status == STEP_WAITING && !step_is_map(step)) {
        step->row.output = end->output;
        step_touch(flow, step);
    }
    return follow(flow, step, children, end->output);
}

cairn_code flow_child_told(struct flow *flow, struct flow_step *step,
                           const struct child_end *end)
{
    struct instance_row *instance = flow->instance;
    bool is_awaited = instance->goal && instance->awaited_count > 0;
    struct step_children *children = NULL;
    flow_child_counted(flow, -1);
    if (step && step->row.status != STEP_PENDING) {
        TRY(flow->source->config(flow, step));
        TRY(flow->source->children(flow, step, &children));
        if (children->row.round == end->round && children->row.living > 0)
            TRY(count_end(flow, step, children, end));
    }
    if (is_awaited) {
        instance->awaited_count--;
        TRY(goal_go_on(flow));
    }
    return flow_settle(flow);
}

/* ---- of functions --------------------------------------------------------------------------- */

cairn_code call_child(struct arena *arena, const struct step_row *row, const char **ret_id,
                      cairn_error *reterr)
{
    struct slice output = {0};
    *ret_id = NULL;
    if (!row->output || !scan_text(row->output, strlen(row->output), &output))
        return CAIRN_OK;
    struct slice id = scan_find(output, "id");
    if (!id.text || *id.text != '"')
        return CAIRN_OK;
    *ret_id = slice_string(id, arena);
    return *ret_id ? CAIRN_OK : fail_memory(reterr);
}

cairn_code flow_call_told(struct flow *flow, const char *id, const struct child_end *end)
{
    struct step_list steps;
    if (!flow->instance->is_function || flow->instance->status != INSTANCE_COMPENSATING)
        return CAIRN_OK;
    TRY(flow->source->current(flow, &steps));
    for (size_t i = 0; i < steps.count; i++) {
        struct flow_step *step = steps.items[i];
        struct step_children *children;
        const char *own;
        if (step->row.kind != KIND_START || step->row.status != STEP_COMPENSATION)
            continue;
        TRY(call_child(flow->arena, &step->row, &own, flow->error));
        TRY(flow->source->children(flow, step, &children));
        if (own && strcmp(own, id) == 0 && children->row.living > 0) {
            TRY(flow->source->config(flow, step));
            TRY(count_end(flow, step, children, end));
            return flow_settle(flow);
        }
    }
    return CAIRN_OK;
}
