/* tests/sim/laws_step.c - what must hold of a step after every commit.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "sim.h"

#include <string.h>

static bool can_become(enum step_status from, enum step_status to, bool is_reopened, int steps)
{
    if (from == to)
        return true;
    for (enum step_status next = STEP_NONE + 1; steps && next < STEP_STATUS_COUNT; next++)
        if (next != from && step_may(from, next, is_reopened) &&
            can_become(next, to, is_reopened, steps - 1))
            return true;
    return false;
}

static bool is_undo_state(enum step_status status)
{
    return status == STEP_COMPENSATION || status == STEP_ROLLED_BACK || status == STEP_FAILED;
}

static void law_of_status(struct sim *sim, const struct step_row *before,
                          const struct step_row *now, bool is_reopened)
{
    enum step_status from = before ? before->status : STEP_PENDING, to = now->status;
    bool is_allowed = can_become(from, to, is_reopened, is_reopened ? 4 : 3);
    if (step_is_ended(from) && from != STEP_FAILED && !is_reopened && from != to)
        is_allowed = is_undo_state(to);
    if (!is_allowed)
        sim_broken(sim, "%s went from %s to %s", now->name, step_status_name(from),
                   step_status_name(to));
}

static bool is_same(const char *a, const char *b)
{
    return a && b && strcmp(a, b) == 0;
}

/* A lease ends by its holder's report, by its time, or by a restart. */
static void law_of_leases(struct sim *sim, const struct step_row *before,
                          const struct step_row *now, bool is_reopened)
{
    if (!before->token || is_same(before->token, now->token) || is_reopened)
        return;
    if (before->locked_until_us < sim->now->now_us)
        return;
    for (int i = 0; i < OPS_MAX; i++)
        if (sim->ops[i].request && is_same(sim->ops[i].held.token, before->token))
            return;
    sim_broken(sim, "%s lost the lease of %s while it was good", now->name, before->locked_by);
}

static void law_of_shape(struct sim *sim, const struct seen_instance *instance,
                         const struct step_row *now)
{
    bool is_leased = now->locked_by != NULL;
    bool is_frozen =
        instance->row.status == INSTANCE_PAUSED || instance->row.status == INSTANCE_DLQ;
    if (is_leased && (!now->token || now->due_at_us != now->locked_until_us + 1))
        sim_broken(sim, "%s has a lease that nothing ends", now->name);
    if (!is_leased && (now->token || now->locked_until_us))
        sim_broken(sim, "%s has half a lease", now->name);
    if ((now->status == STEP_RUNNING) > is_leased)
        sim_broken(sim, "%s is running without a lease", now->name);
    if (is_leased && now->status != STEP_RUNNING && now->status != STEP_COMPENSATION &&
        !now->stop)
        sim_broken(sim, "%s is %s and has a lease", now->name, step_status_name(now->status));
    bool is_memory = instance->row.is_function && now->seq > 0;
    bool is_callable =
        (now->status == STEP_READY && !is_memory) || now->status == STEP_COMPENSATION;
    if (now->is_ready && (!is_callable || is_leased || now->is_held || !now->task_type ||
                          now->next_run_at_us > sim->now->now_us || now->due_at_us))
        sim_broken(sim, "%s is claimable and should not be", now->name);
    if (now->is_ready && is_frozen)
        sim_broken(sim, "%s is claimable while its instance is frozen", now->name);
    bool is_of_children =
        (is_parent_step(instance, now) || is_call_step(instance, now)) && !now->task_type;
    if (is_callable && !is_of_children && !is_leased && !now->is_held && !now->is_ready &&
        !now->due_at_us)
        sim_broken(sim, "%s will never be claimable", now->name);
    if (now->status == STEP_WAITING && !now->is_held && now->due_at_us != now->deadline_at_us)
        sim_broken(sim, "the timer of %s is not its deadline", now->name);
    if (now->attempts > now->max_attempts && !(is_memory && sim->is_code_changing))
        sim_broken(sim, "%s was called %d times, %d are allowed", now->name, now->attempts,
                   now->max_attempts);
}

static void law_of_attempts(struct sim *sim, const struct seen_instance *instance,
                            const struct step_row *before, const struct step_row *now,
                            bool is_reopened)
{
    int more = now->attempts - before->attempts;
    int undos = now->compensation_attempts - before->compensation_attempts;
    bool is_called_inside = instance->row.is_function && now->seq > 0; /* of a passage */
    if (is_reopened)
        return;
    if (now->kind == KIND_FUNCTION && more < 0)
        more = 0; /* a commit, which laws_function.c asks for */
    if (more < 0 || more > 1 || undos < 0 || undos > 1)
        sim_broken(sim, "one call of %s counts as %d", now->name, more ? more : undos);
    bool was_called = before->locked_by || (is_called_inside && more);
    if ((more || undos) && !was_called)
        sim_broken(sim, "an attempt of %s was counted without a call", now->name);
}

/* Nothing happens before its time. */
static void law_of_time(struct sim *sim, const struct step_row *before,
                        const struct step_row *now, bool is_reopened)
{
    int64_t now_us = sim->now->now_us;
    bool is_moved = before->status != now->status && !is_reopened;
    bool was_waiting = before->status == STEP_WAITING && before->deadline_at_us > now_us;
    if (is_moved && was_waiting && before->kind == KIND_SLEEP && now->status == STEP_COMPLETED)
        sim_broken(sim, "%s slept too little", now->name);
    if (was_waiting && now->is_timed_out && !before->is_timed_out && !is_reopened)
        sim_broken(sim, "the wait of %s ended early", now->name);
    if (is_moved && was_waiting && is_same(now->error, "WAITING_TIMEOUT"))
        sim_broken(sim, "%s waited too little", now->name);
    if (is_moved && before->status == STEP_READY && now->status == STEP_RUNNING &&
        before->next_run_at_us > now_us)
        sim_broken(sim, "%s was called early", now->name);
    if (now->attempts > before->attempts && before->locked_until_us >= now_us && !is_reopened &&
        (is_same(now->error, "LEASE_EXPIRED") || is_same(now->error, "TIMEOUT")))
        sim_broken(sim, "the lease of %s was ended early", now->name);
}

static void law_of_results(struct sim *sim, const struct step_row *before,
                           const struct step_row *now, bool is_reopened)
{
    /* What is skipped has its input as output; what has failed may have an answer of which nothing could be
     * made. */
    bool is_result =
        before->output && before->status != STEP_SKIPPED && before->status != STEP_FAILED;
    /* A child has ended while its parent was paused. */
    bool is_kept = before->kind == KIND_START && before->status == STEP_WAITING;
    if (!is_result || is_kept || is_reopened)
        return;
    if (!is_same(before->output, now->output))
        sim_broken(sim, "the result of %s changed from %s to %s", now->name, before->output,
                   now->output);
}

void laws_of_step(struct sim *sim, const struct seen_instance *instance,
                  const struct step_row *before, const struct step_row *now, bool is_reopened)
{
    law_of_status(sim, before, now, is_reopened);
    law_of_shape(sim, instance, now);
    law_of_data(sim, instance, before, now);
    if (!before)
        return;
    law_of_leases(sim, before, now, is_reopened);
    law_of_attempts(sim, instance, before, now, is_reopened);
    bool is_woken = now->kind == KIND_FUNCTION && has_event(instance, "step_ready", now->name);
    law_of_time(sim, before, now, is_reopened || is_woken);
    law_of_results(sim, before, now, is_reopened);
}
