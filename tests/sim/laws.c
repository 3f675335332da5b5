/* tests/sim/laws.c - what must hold of an instance after every commit.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "sim.h"

#include <string.h>

/* Whether a state can be reached from another in a few steps of the table. */
static bool can_become(enum instance_status from, enum instance_status to, bool is_reopened,
                       int steps)
{
    if (from == to)
        return true;
    for (enum instance_status next = INSTANCE_NONE + 1; steps && next < INSTANCE_STATUS_COUNT;
         next++)
        if (next != from && instance_may(from, next, is_reopened) &&
            can_become(next, to, is_reopened, steps - 1))
            return true;
    return false;
}

static void law_of_status(struct sim *sim, const struct seen_instance *before,
                          const struct seen_instance *now, bool is_reopened)
{
    enum instance_status from = before ? before->row.status : INSTANCE_PENDING;
    enum instance_status to = now->row.status;
    const char *id = now->row.id;
    if (!can_become(from, to, is_reopened, 3))
        sim_broken(sim, "%s went from %s to %s", id, instance_status_name(from),
                   instance_status_name(to));
    if (before && instance_is_final(from) && !is_reopened && from != to)
        sim_broken(sim, "%s was %s and is %s", id, instance_status_name(from),
                   instance_status_name(to));
    if (before && now->row.generation < before->row.generation)
        sim_broken(sim, "the generation of %s falls", id);
    bool is_begun =
        to != INSTANCE_PENDING && to != INSTANCE_CANCELLED && to != INSTANCE_ABORTED;
    bool is_waiting =
        now->row.start_at_us > sim->now->now_us; /* unless cancelled, then restarted */
    if (from == INSTANCE_PENDING && is_begun && is_waiting && !is_reopened)
        sim_broken(sim, "%s was started early", id);
    if (instance_is_final(to) != (now->row.finished_at_us != 0))
        sim_broken(sim, "%s is %s, finished at %lld", id, instance_status_name(to),
                   (long long)now->row.finished_at_us);
}

static void law_of_counts(struct sim *sim, const struct seen_instance *now)
{
    int active = 0, wait = 0, sleep = 0, decision = 0, parked = 0, leases = 0;
    bool undone = false; /* children are */
    for (size_t i = 0; i < now->step_count; i++) {
        const struct step_row *step = &now->steps[i];
        bool is_wanted_call = step->status == STEP_RUNNING && !step->stop;
        active += step->status == STEP_READY || is_wanted_call;
        wait += step->status == STEP_WAITING && step->kind == KIND_WAIT;
        sleep += step->status == STEP_WAITING && step->kind != KIND_WAIT &&
                 step->kind != KIND_FUNCTION;
        decision += step->status == STEP_WAITING_DECISION;
        parked += step->status == STEP_PAUSED;
        undone |= step->kind == KIND_START && step->status == STEP_COMPENSATION;
        leases += step->locked_by && step->status != STEP_COMPENSATION;
    }
    const struct instance_row *row = &now->row;
    if (active != row->active_count || wait != row->wait_count || sleep != row->sleep_count ||
        decision != row->decision_count || parked != row->parked_count)
        sim_broken(sim, "the counts of %s are not those of its steps", row->id);
    int awaited = leases + (row->goal == GOAL_CANCEL ? row->child_count : row->own_child_count);
    if (undone) /* their undo is not waited for before this one */
        awaited = leases;
    if (row->goal && !instance_is_final(row->status) && row->awaited_count != awaited)
        sim_broken(sim, "%s awaits %d leases and children, there are %d", row->id,
                   row->awaited_count, awaited);
    bool is_idle = wait > 0 && active == 0 && sleep == 0 && !row->goal;
    bool is_going = row->status == INSTANCE_RUNNING || row->status == INSTANCE_WAITING_SIGNAL;
    if (is_going && is_idle != (row->status == INSTANCE_WAITING_SIGNAL))
        sim_broken(sim, "%s is %s", row->id, instance_status_name(row->status));
}

/* Somebody, some time or some timer will move it on. */
static bool is_moved_by_something(const struct step_row *step)
{
    switch (step->status) {
    case STEP_READY:
    case STEP_COMPENSATION:
        return step->is_ready || step->due_at_us;
    case STEP_RUNNING:
        return step->due_at_us;
    case STEP_WAITING:
        return step->due_at_us || (step->waiting_event && !step->deadline_at_us);
    case STEP_WAITING_DECISION:
        return true;
    default:
        return step->locked_by && step->due_at_us; /* stopped; its lease ends */
    }
}

static void law_of_life(struct sim *sim, const struct seen_instance *now)
{
    int current = 0;
    int moved = now->row.goal == GOAL_CANCEL && now->row.child_count; /* their ends move it */
    moved += now->row.own_child_count || now->row.is_telling;
    for (size_t i = 0; i < now->step_count; i++) {
        const struct step_row *step = &now->steps[i];
        moved += is_moved_by_something(step);
        moved += is_call_step(now, step) && step->status == STEP_COMPENSATION &&
                 now->row.child_count; /* the child's end moves it */
        current += step_is_current(step->status);
    }
    enum instance_status status = now->row.status;
    bool is_going = status == INSTANCE_RUNNING || status == INSTANCE_WAITING_SIGNAL ||
                    status == INSTANCE_COMPENSATING;
    if (is_going && !moved)
        sim_broken(sim, "%s is %s, and nothing will ever move it", now->row.id,
                   instance_status_name(status));
    if (instance_is_final(status) && current)
        sim_broken(sim, "%s has ended, but a step has not", now->row.id);
    if (!sim->has_sagas && !sim->has_functions && current > 1)
        sim_broken(sim, "%d steps of a linear instance at once", current);
}

static void law_of_commits(struct sim *sim, const struct seen_instance *now)
{
    for (size_t i = 0; i < now->step_count; i++) {
        int64_t number = now->steps[i].commit_no;
        if (number > now->row.commits)
            sim_broken(sim, "the commit number of %s is too high", now->steps[i].name);
        for (size_t k = 0; k < i && number; k++)
            if (now->steps[k].commit_no == number)
                sim_broken(sim, "%s and %s have the same commit number", now->steps[i].name,
                           now->steps[k].name);
    }
}

/* A signal that is there is taken by whoever waits for it. */
static void law_of_waits(struct sim *sim, const struct seen_instance *now)
{
    bool is_going =
        now->row.status == INSTANCE_RUNNING || now->row.status == INSTANCE_WAITING_SIGNAL;
    for (size_t i = 0; i < now->step_count && is_going && !now->row.goal; i++) {
        const struct step_row *step = &now->steps[i];
        if (step->status != STEP_WAITING || !step->waiting_event)
            continue;
        int64_t until_us = step->deadline_at_us ? step->deadline_at_us : INT64_MAX;
        if (sim_has_signal(sim, now->row.id, step->waiting_event, until_us))
            sim_broken(sim, "%s waits for %s, which has come", step->name, step->waiting_event);
    }
}

bool has_event(const struct seen_instance *instance, const char *type, const char *step)
{
    for (size_t i = 0; i < instance->event_count; i++) {
        const struct event_row *event = &instance->events[i];
        bool is_of_step = !step || (event->step && strcmp(event->step, step) == 0);
        if (is_of_step && strcmp(event->type, type) == 0)
            return true;
    }
    return false;
}

static bool is_reopened(const struct seen_instance *now)
{
    return has_event(now, "workflow_restarted", NULL) ||
           has_event(now, "workflow_retried", NULL) ||
           has_event(now, "workflow_resumed", NULL) || has_event(now, "dlq_requeued", NULL);
}

static bool is_terminal_reopened(const struct seen_instance *now)
{
    return is_rolled_back_child(now) || has_event(now, "workflow_restarted", NULL) ||
           has_event(now, "workflow_retried", NULL) || has_event(now, "dlq_requeued", NULL);
}

/* What has not changed keeps the laws that it has kept; but a signal may have come that it waits for. */
static void laws_of_instance(struct sim *sim, size_t index)
{
    const struct seen_instance *now = &sim->now->instances[index];
    if (!now->is_changed && sim->now->has_signals)
        law_of_waits(sim, now);
    if (!now->is_changed)
        return;
    const struct seen_instance *before = snapshot_find(sim->before, now->row.id);
    law_of_status(sim, before, now, is_terminal_reopened(now));
    laws_of_rerun(sim, before, now);
    for (size_t i = 0; i < now->step_count; i++)
        if (!now->steps[i].is_copied)
            laws_of_step(sim, now, before ? seen_step(before, now->steps[i].seq) : NULL,
                         &now->steps[i], is_reopened(now));
    law_of_counts(sim, now);
    law_of_life(sim, now);
    law_of_commits(sim, now);
    law_of_waits(sim, now);
    if (!now->row.is_function)
        laws_of_joins(sim, before, now);
    laws_of_events(sim, index, before, is_reopened(now));
    if (now->row.is_function)
        laws_of_function(sim, index, before);
    laws_of_saga(sim, index, before);
}

void laws_check(struct sim *sim, bool has_claimed)
{
    if (sim->now->instance_count < sim->before->instance_count ||
        sim->now->job_count < sim->before->job_count)
        sim_broken(sim, "something was lost");
    for (size_t i = 0; i < sim->now->instance_count; i++)
        laws_of_instance(sim, i);
    laws_of_jobs(sim);
    if (sim->has_limits)
        laws_of_limits(sim);
    laws_of_leases(sim);
    if (sim->has_functions)
        laws_of_starts(sim);
    if (sim->has_families || sim->has_children)
        laws_of_families(sim, has_claimed);
}
