/* tests/sim/laws_family.c - parents and children: each call starts one child and is told of its end,
 * once; a stop of the parent reaches the child, and so does its undo.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * A child whose end was told, or that somebody has restarted, is on its own: a parent has not waited
 * for that, and does not stop it.
 */
#include "function.h"

#include <jansson.h>
#include <stdio.h>
#include <string.h>

/* The key of such a wait is the engine's own: no program has one with a colon. */
bool is_end_of_call(const struct step_row *row)
{
    return row->kind == KIND_WAIT && strstr(row->name, ":end") != NULL;
}

static bool is_begun_anew(const struct seen_instance *now)
{
    return has_event(now, "workflow_restarted", NULL) ||
           has_event(now, "workflow_retried", NULL) || has_event(now, "dlq_requeued", NULL);
}

static int find_index(const struct sim *sim, const char *id)
{
    for (size_t i = 0; i < sim->now->instance_count; i++)
        if (strcmp(sim->now->instances[i].row.id, id) == 0)
            return (int)i;
    return -1;
}

static bool is_child_of(const struct seen_instance *child, const struct seen_instance *parent)
{
    return child->row.parent && strcmp(child->row.parent, parent->row.id) == 0;
}

/* ---- ends -------------------------------------------------------------------------------- */

static enum instance_status end_of(const char *type)
{
    static const struct {
        const char *type;
        enum instance_status status;
    } ends[] = {{"workflow_completed", INSTANCE_COMPLETED},
                {"workflow_failed", INSTANCE_FAILED},
                {"workflow_cancelled", INSTANCE_CANCELLED},
                {"workflow_aborted", INSTANCE_ABORTED}};
    for (size_t i = 0; i < sizeof ends / sizeof *ends; i++)
        if (strcmp(ends[i].type, type) == 0)
            return ends[i].status;
    return INSTANCE_NONE;
}

static void follow_end(struct sim *sim, size_t index)
{
    const struct seen_instance *now = &sim->now->instances[index];
    struct family_seen *seen = &sim->families[index];
    int ends = 0;
    seen->is_reopened |= is_begun_anew(now);
    for (size_t i = 0; i < now->event_count; i++) {
        enum instance_status status = end_of(now->events[i].type);
        if (!status)
            continue;
        seen->end = (struct end_seen){.is_there = true, .status = status};
        ends++;
    }
    if (!ends)
        return;
    seen->end.is_sure = ends == 1 && now->row.status == seen->end.status;
    const char *output = now->row.output ? now->row.output : "";
    if (now->row.parent_seq >= 0) /* laws_children.c looks at the output itself */
        output = "";
    if (strlen(output) >= END_TEXT && !sim->has_children)
        sim_broken(sim, "the output of %s is longer than any program's", now->row.id);
    snprintf(seen->end.output, END_TEXT, "%s", output);
}

/* ---- starts ------------------------------------------------------------------------------ */

/* Rows are remembered once under their key, and what they remember never changes: so a call whose row
 * names its child has started no other. */
static void law_of_start(struct sim *sim, size_t index)
{
    const struct seen_instance *child = &sim->now->instances[index];
    const struct seen_instance *parent = snapshot_find(sim->now, child->row.parent);
    if (!parent)
        sim_broken(sim, "%s has a parent that is not there", child->row.id);
    if (child->row.parent_seq >= 0) {
        const struct step_row *step = seen_step(parent, child->row.parent_seq);
        if (!step || !is_parent_step(parent, step))
            sim_broken(sim, "%s was started by something that starts nothing", child->row.id);
        return;
    }
    if (strncmp(child->row.parent_event, "call:", 5) != 0 ||
        strcmp(child->row.parent_event + 5, child->row.id) != 0)
        sim_broken(sim, "%s would end with the event %s", child->row.id,
                   child->row.parent_event);
    bool is_new = !snapshot_find(sim->before, child->row.id);
    if (is_new && !is_begun_anew(parent) && !call_of(parent, child->row.id))
        sim_broken(sim, "%s was started, and no call of its parent remembers it",
                   child->row.id);
}

static void law_of_count(struct sim *sim, const struct seen_instance *parent)
{
    int count = 0;
    for (size_t i = 0; i < sim->now->instance_count; i++)
        count +=
            is_child_of(&sim->now->instances[i], parent) && !sim->now->instances[i].row.is_told;
    if (count != parent->row.child_count)
        sim_broken(sim, "%s has %d children that have not ended, it counts %d", parent->row.id,
                   count, parent->row.child_count);
}

/* ---- what the parent is told ------------------------------------------------------------- */

static void law_of_telling(struct sim *sim, size_t index)
{
    const struct seen_instance *parent = &sim->now->instances[index];
    for (size_t i = 0; i < parent->event_count; i++) {
        const struct event_row *event = &parent->events[i];
        const char *call = strstr(event->data, "\"call:");
        char id[ID_TEXT];
        if (strcmp(event->type, "signal_received") != 0 || !call)
            continue;
        snprintf(id, sizeof id, "%.36s", call + 6);
        int child = find_index(sim, id);
        if (child < 0 || !is_child_of(&sim->now->instances[child], parent))
            sim_broken(sim, "%s is told of %s, which is not its child", parent->row.id, id);
        if (!sim->families[child].end.is_there)
            sim_broken(sim, "%s is told of the end of %s, which has not ended", parent->row.id,
                       id);
        sim->families[child].told = sim->families[child].end;
    }
}

static bool is_same_json(json_t *value, const char *text)
{
    json_t *other = text[0] ? json_loads(text, JSON_DECODE_ANY, NULL) : json_null();
    bool is_same = other && json_equal(value, other);
    json_decref(other);
    return is_same;
}

static void check_payload(struct sim *sim, const struct seen_instance *parent,
                          const struct step_row *row, json_t *payload)
{
    const char *id = json_string_value(json_object_get(payload, "id"));
    const char *status = json_string_value(json_object_get(payload, "status"));
    int child = id ? find_index(sim, id) : -1;
    if (child < 0 || !is_child_of(&sim->now->instances[child], parent))
        sim_broken(sim, "%s shows %s, which is not the end of a child", row->name, row->output);
    const struct end_seen *told = &sim->families[child].told;
    if (!told->is_there || !status || instance_status_from(status) != told->status)
        sim_broken(sim, "%s shows %s, the child was %s", row->name, row->output,
                   instance_status_name(told->status));
    if (told->is_sure && !is_same_json(json_object_get(payload, "output"), told->output))
        sim_broken(sim, "%s shows %s, the output of the child was %s", row->name, row->output,
                   told->output);
}

/* The end of a call shows how its child ended. */
static void law_of_ends_shown(struct sim *sim, const struct seen_instance *parent)
{
    const struct seen_instance *before = snapshot_find(sim->before, parent->row.id);
    for (size_t i = 1; i < parent->step_count; i++) {
        const struct step_row *row = &parent->steps[i];
        const struct step_row *old = before ? seen_step(before, row->seq) : NULL;
        if (!is_end_of_call(row) || row->status != STEP_COMPLETED ||
            (old && old->status == STEP_COMPLETED))
            continue;
        json_t *payload = json_loads(row->output, 0, NULL);
        check_payload(sim, parent, row, payload);
        json_decref(payload);
    }
}

/* The answer of a call is how its child ended, and never comes before. */
void law_of_answer(const struct runner *runner, const char *key, const char *end_key,
                   const char *output)
{
    struct sim *sim = runner->sim;
    char id[ID_TEXT];
    const struct seen_instance *parent = snapshot_find(sim->now, runner->instance_id);
    const struct step_row *start = parent ? seen_key(parent, key) : NULL;
    const struct step_row *end = parent ? seen_key(parent, end_key) : NULL;
    if (!parent || parent->row.is_forced || !runner_has_lease(runner))
        return;
    if (!start || start->kind != KIND_START || sscanf(start->output, "{\"id\":\"%36s", id) != 1)
        sim_broken(sim, "the call %s is answered, and remembers no child", key);
    if (end && end->status != STEP_COMPLETED)
        sim_broken(sim, "the call %s is answered, its end is %s", key,
                   step_status_name(end->status));
    int child = find_index(sim, id);
    const struct end_seen *told = child < 0 ? NULL : &sim->families[child].told;
    if (!told || !told->is_there)
        sim_broken(sim, "the call %s is answered, its child has not ended", key);
    if ((told->status == INSTANCE_COMPLETED) != (output != NULL))
        sim_broken(sim, "the call %s is answered with %s, its child was %s", key,
                   output ? output : "a failure", instance_status_name(told->status));
    json_t *value = output ? json_loads(output, JSON_DECODE_ANY, NULL) : NULL;
    if (value && told->is_sure && !is_same_json(value, told->output))
        sim_broken(sim, "the call %s is answered with %s, the output of its child was %s", key,
                   output, told->output);
    json_decref(value);
}

/* ---- stops ------------------------------------------------------------------------------- */

static bool is_dependent(const struct sim *sim, size_t index)
{
    const struct seen_instance *child = &sim->now->instances[index];
    return !child->row.is_told && !sim->families[index].is_reopened;
}

/* Everything in it that goes forward has ended, or its end has begun. */
static bool is_stopped(const struct seen_instance *child)
{
    return instance_is_final(child->row.status) || child->row.status == INSTANCE_COMPENSATING;
}

/* Before a claim is answered, children of a parent that was stopped are stopped, and an end is told. */
static void law_of_orders(struct sim *sim, size_t index, bool has_claimed)
{
    const struct seen_instance *child = &sim->now->instances[index];
    struct family_seen *seen = &sim->families[index];
    bool is_done = seen->must_end ? instance_is_final(child->row.status) : is_stopped(child);
    if (!is_dependent(sim, index) || is_done)
        seen->must_stop = seen->must_end = seen->is_ordered = false;
    if (has_claimed && seen->is_ordered)
        sim_broken(sim, "a claim was answered, and %s goes on though its parent was stopped",
                   child->row.id);
    bool is_ended = instance_is_final(child->row.status) && is_dependent(sim, index);
    if (is_ended && !child->row.is_telling)
        sim_broken(sim, "%s has ended, and will never tell", child->row.id);
    if (has_claimed && seen->is_untold && is_ended)
        sim_broken(sim, "a claim was answered, and nobody told the parent of %s of its end",
                   child->row.id);
    seen->is_untold = is_ended;
}

static void give_orders(struct sim *sim, const struct seen_instance *parent)
{
    bool is_aborted =
        parent->row.status == INSTANCE_ABORTED || has_event(parent, "workflow_aborted", NULL);
    bool is_cancelled = parent->row.goal == GOAL_CANCEL ||
                        parent->row.status == INSTANCE_CANCELLED ||
                        has_event(parent, "cancellation_started", NULL);
    for (size_t i = 0; i < sim->now->instance_count; i++) {
        const struct seen_instance *child = &sim->now->instances[i];
        struct family_seen *seen = &sim->families[i];
        if (!is_child_of(child, parent) || !is_dependent(sim, i) ||
            instance_is_final(child->row.status))
            continue;
        if (child->row.parent_seq >= 0 && is_begun_anew(parent) &&
            !snapshot_find(sim->before, child->row.id))
            continue; /* started after that */
        seen->must_end |= is_aborted;
        seen->must_stop |= is_aborted || (is_cancelled && !is_stopped(child));
        seen->is_ordered = seen->must_stop;
    }
}

/* Who has stopped an instance was answered: all its descendants are stopped. */
static void law_of_stopped(struct sim *sim, const struct seen_instance *parent)
{
    for (size_t i = 0; i < sim->now->instance_count; i++) {
        const struct seen_instance *child = &sim->now->instances[i];
        if (!is_child_of(child, parent) || !is_dependent(sim, i))
            continue;
        if (!is_stopped(child))
            sim_broken(sim, "a stop was answered, and %s below it is %s", child->row.id,
                       instance_status_name(child->row.status));
        law_of_stopped(sim, child);
    }
}

void law_of_answered_stop(struct sim *sim, const char *id)
{
    const struct seen_instance *instance = snapshot_find(sim->now, id);
    if (instance &&
        (instance->row.status == INSTANCE_ABORTED || instance->row.goal == GOAL_CANCEL ||
         instance->row.status == INSTANCE_CANCELLED))
        law_of_stopped(sim, instance);
}

/* A parent that was cancelled is undone after its children, and ends after them. */
static void law_of_waiting(struct sim *sim, const struct seen_instance *parent)
{
    bool is_undone = parent->row.status == INSTANCE_CANCELLED;
    for (size_t i = 0; i < parent->step_count && parent->row.goal == GOAL_CANCEL; i++)
        is_undone |= parent->steps[i].status == STEP_COMPENSATION;
    for (size_t i = 0; i < sim->now->instance_count && is_undone; i++)
        if (is_child_of(&sim->now->instances[i], parent) && is_dependent(sim, i) &&
            !is_being_undone(sim, &sim->now->instances[i]) &&
            !instance_is_final(sim->now->instances[i].row.status))
            sim_broken(sim, "%s was cancelled and is undone before its child %s",
                       parent->row.id, sim->now->instances[i].row.id);
}

/* ---- undo -------------------------------------------------------------------------------- */

/* Of a call that was undone no child is done any more, or lives; and a cancel undoes all of them. */
static void law_of_undone_calls(struct sim *sim, const struct seen_instance *parent)
{
    const struct seen_instance *before = snapshot_find(sim->before, parent->row.id);
    for (size_t i = 1; i < parent->step_count; i++) {
        const struct step_row *row = &parent->steps[i];
        const struct step_row *old = before ? seen_step(before, row->seq) : NULL;
        char id[ID_TEXT];
        if (!is_call_step(parent, row) || !row->output)
            continue;
        if (parent->row.status == INSTANCE_CANCELLED && row->status == STEP_COMPLETED)
            sim_broken(sim, "%s was cancelled, and its call %s is not undone", parent->row.id,
                       row->name);
        if (row->status != STEP_ROLLED_BACK || (old && old->status == STEP_ROLLED_BACK) ||
            sscanf(row->output, "{\"id\":\"%36s", id) != 1)
            continue;
        int child = find_index(sim, id);
        if (child < 0 || is_begun_anew(&sim->now->instances[child]))
            continue;
        enum instance_status status = sim->now->instances[child].row.status;
        if (status == INSTANCE_COMPLETED || !instance_is_final(status))
            sim_broken(sim, "%s was undone, and its child %s is %s", row->name, id,
                       instance_status_name(status));
    }
}

/* ---- all of it --------------------------------------------------------------------------- */

void laws_of_families(struct sim *sim, bool has_claimed)
{
    size_t count = sim->now->instance_count;
    for (size_t i = 0; i < count; i++)
        follow_end(sim, i);
    for (size_t i = 0; i < count; i++) {
        const struct seen_instance *now = &sim->now->instances[i];
        law_of_count(sim, now);
        law_of_telling(sim, i);
        law_of_ends_shown(sim, now);
        law_of_waiting(sim, now);
        law_of_undone_calls(sim, now);
        if (sim->has_children)
            laws_of_children(sim, i);
        if (!now->row.parent)
            continue;
        law_of_start(sim, i);
        law_of_orders(sim, i, has_claimed);
    }
    for (size_t i = 0; i < count; i++)
        give_orders(sim, &sim->now->instances[i]);
}
