/* tests/sim/laws_saga.c - what must hold while an instance is undone, and after it has ended.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "sim.h"

#include <string.h>

static bool is_type(const struct event_row *event, const char *type)
{
    return strcmp(event->type, type) == 0;
}

static int place_of(const struct seen_instance *instance, const char *name)
{
    const struct step_row *row = name ? seen_key(instance, name) : NULL;
    return row ? row->seq : -1;
}

/* ---- rows -------------------------------------------------------------------------------- */

/* One compensation at a time, and none while anybody else has a lease. */
static void law_of_undoing(struct sim *sim, const struct seen_instance *now)
{
    const struct step_row *undone = NULL, *leased = NULL;
    for (size_t i = 0; i < now->step_count; i++) {
        const struct step_row *step = &now->steps[i];
        bool is_undo = step->status == STEP_COMPENSATION;
        if (is_undo && !step->is_held && undone)
            sim_broken(sim, "%s and %s are undone at once", undone->name, step->name);
        if (is_undo && !step->is_held)
            undone = step;
        if (step->locked_by && (!is_undo || step->is_held))
            leased = step;
    }
    if (undone && leased)
        sim_broken(sim, "%s is undone while %s has a lease", undone->name, leased->name);
}

/* Nothing starts any more. */
static void law_of_stopping(struct sim *sim, const struct seen_instance *now)
{
    bool is_final = instance_is_final(now->row.status);
    bool is_undoing = now->row.status == INSTANCE_COMPENSATING;
    for (size_t i = 0; i < now->step_count && (is_final || now->row.goal); i++) {
        const struct step_row *step = &now->steps[i];
        bool is_undo = step->status == STEP_COMPENSATION;
        if (step->is_ready && (is_final || !is_undo))
            sim_broken(sim, "%s is claimable, but its instance is %s", step->name,
                       instance_status_name(now->row.status));
        if (step->locked_by && !step->stop && (is_final || (is_undoing && !is_undo)))
            sim_broken(sim, "the worker of %s is not told to stop", step->name);
        bool is_in_passage = now->row.is_function && step->seq > 0 && now->steps[0].locked_by &&
                             step->status == STEP_READY && now->row.goal == GOAL_CANCEL;
        if (is_in_passage)
            continue; /* it may be called right now: the passage's last commit tells */
        if (is_parent_step(now, step) && step->status == STEP_WAITING &&
            now->row.goal == GOAL_FAIL && now->row.own_child_count)
            continue; /* its children go on to their ends, which are kept */
        if (step->status == STEP_PENDING ||
            (!is_undo && step->status != STEP_RUNNING && step_is_current(step->status)))
            sim_broken(sim, "%s is %s, but its instance has been stopped", step->name,
                       step_status_name(step->status));
    }
}

/* ---- events ------------------------------------------------------------------------------ */

static bool is_forward_or_undo(const struct event_row *event)
{
    static const char *const types[] = {"step_ready",  "step_started", "step_completed",
                                        "step_retry",  "step_waiting", "step_paused",
                                        "step_failed", "signal_taken"};
    for (size_t i = 0; i < sizeof types / sizeof *types; i++)
        if (is_type(event, types[i]))
            return true;
    return strncmp(event->type, "compensation_", 13) == 0;
}

/* First the step that failed, then the others by descending commit numbers. */
static void law_of_order(struct sim *sim, const struct seen_instance *now,
                         struct saga_seen *saga, int place)
{
    const struct step_row *step = seen_step(now, place);
    bool is_first = !saga->is_undoing;
    saga->is_undoing = true;
    if (is_first && now->row.undo_first >= 0) {
        if (place != now->row.undo_first)
            sim_broken(sim, "%s is undone before %s, which failed", step->name,
                       seen_step(now, now->row.undo_first)->name);
        saga->undone_no = INT64_MAX;
        return;
    }
    if (!step->commit_no)
        sim_broken(sim, "%s is undone and has no commit number", step->name);
    if (!is_first && step->commit_no >= saga->undone_no)
        sim_broken(sim, "%s, commit %lld, is undone after commit %lld", step->name,
                   (long long)step->commit_no, (long long)saga->undone_no);
    saga->undone_no = step->commit_no;
}

static void law_of_undo_event(struct sim *sim, const struct seen_instance *now,
                              struct saga_seen *saga, const struct event_row *event,
                              bool is_begun_anew)
{
    int place = place_of(now, event->step);
    bool is_nothing = is_type(event, "compensation_success") &&
                      strstr(event->data, "nothing to undo") != NULL;
    if (!is_type(event, "compensation_started") && !is_nothing)
        return;
    saga->undone[place]++;
    if (saga->undone[place] > 1 + saga->requeued[place])
        sim_broken(sim, "%s is undone again", event->step);
    /* One whose input could not be made is rolled back without a call. */
    if (seen_step(now, place)->kind == KIND_TASK && !saga->has_run[place] && !is_nothing)
        sim_broken(sim, "%s is undone and was never called", event->step);
    if (!saga->requeued[place] && !is_begun_anew)
        law_of_order(sim, now, saga, place);
}

static void follow_instance_event(struct saga_seen *saga, const struct event_row *event)
{
    if (is_type(event, "workflow_completed") || is_type(event, "workflow_failed") ||
        is_type(event, "workflow_cancelled") || is_type(event, "workflow_aborted"))
        saga->is_over = true;
    else if (is_type(event, "cancellation_started"))
        saga->is_over = false; /* of a child that was done: law_of_status lets no other */
    else if (is_type(event, "dlq_requeued"))
        saga->is_over = false; /* whether or not its step is still remembered */
}

static void follow_event(struct sim *sim, const struct seen_instance *now,
                         struct saga_seen *saga, const struct event_row *event,
                         bool is_begun_anew)
{
    int place = place_of(now, event->step);
    bool is_undo = strstr(event->data, "\"compensation\"") != NULL;
    if (saga->is_over && is_forward_or_undo(event))
        sim_broken(sim, "%s of %s after the end", event->type, event->step);
    if (is_type(event, "workflow_restarted") || is_type(event, "workflow_retried")) {
        bool has_run[STEPS_MAX];
        memcpy(has_run, saga->has_run, sizeof has_run);
        *saga = (struct saga_seen){0};
        memcpy(saga->has_run, has_run, sizeof has_run);
    } else if (place < 0) {
        follow_instance_event(saga, event); /* or of a step that is forgotten */
    } else if (is_type(event, "dlq_requeued")) {
        follow_instance_event(saga, event);
        saga->requeued[place] += is_undo;
    } else if (is_type(event, "step_pending") && now->steps[0].kind == KIND_FUNCTION) {
        saga->completed[place] = 0; /* its code forgot the step, and may remember another one */
    } else if (is_type(event, "step_started")) {
        saga->has_run[place] |= !is_undo;
    } else if (is_type(event, "step_completed") && ++saga->completed[place] > 1) {
        sim_broken(sim, "%s was completed twice", event->step);
    } else if (strncmp(event->type, "compensation_", 13) == 0) {
        law_of_undo_event(sim, now, saga, event, is_begun_anew);
    }
}

/* What is remembered has been called within a passage; a place that is free again has not. */
static void follow_memory(const struct seen_instance *now, const struct seen_instance *before,
                          struct saga_seen *saga)
{
    for (size_t i = 0; before && i < before->step_count; i++)
        if (!seen_step(now, before->steps[i].seq)) {
            int32_t place = before->steps[i].seq;
            saga->completed[place] = saga->undone[place] = saga->requeued[place] = 0;
            saga->has_run[place] = false;
        }
    for (size_t i = 1; i < now->step_count; i++)
        saga->has_run[now->steps[i].seq] = true;
}

void laws_of_saga(struct sim *sim, size_t index, const struct seen_instance *before)
{
    const struct seen_instance *now = &sim->now->instances[index];
    struct saga_seen *saga = &sim->sagas[index];
    size_t anew = 0; /* events before it are of steps that have begun anew since */
    for (size_t i = 0; i < now->event_count; i++)
        if (is_type(&now->events[i], "workflow_restarted") ||
            is_type(&now->events[i], "workflow_retried"))
            anew = i;
    law_of_undoing(sim, now);
    law_of_stopping(sim, now);
    if (now->row.is_function)
        follow_memory(now, before, saga);
    for (size_t i = 0; i < now->event_count; i++)
        follow_event(sim, now, saga, &now->events[i], i < anew);
    for (size_t i = 0; i < now->step_count; i++)
        if (!now->steps[i].started_at_us)
            saga->has_run[now->steps[i].seq] = false; /* as planned again */
    if (instance_is_final(now->row.status) != saga->is_over)
        sim_broken(sim, "%s is %s, its events say otherwise", now->row.id,
                   instance_status_name(now->row.status));
    if (saga->is_over && (now->event_count || !before))
        law_of_ends(sim, index);
}
