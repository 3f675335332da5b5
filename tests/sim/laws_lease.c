/* tests/sim/laws_lease.c - a lease that was confirmed to a worker holds until the time that it was
 * told, unless the worker itself ends it, or the instance begins anew.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * A stop does not end a lease: the worker may go on until its time is over, and no undo of the
 * instance begins before.
 */
#include "sim.h"

#include <stdio.h>
#include <string.h>

static struct lease_seen *find_lease(struct sim *sim, const char *id, const char *token)
{
    for (size_t i = 0; i < sim->lease_count; i++)
        if (strcmp(sim->leases[i].id, id) == 0 && strcmp(sim->leases[i].token, token) == 0)
            return &sim->leases[i];
    return NULL;
}

static void end_lease(struct sim *sim, const char *id, const char *token)
{
    struct lease_seen *lease = find_lease(sim, id, token);
    if (lease)
        lease->is_over = true;
}

/* From now on it may be as short as this. */
static void shorten_lease(struct sim *sim, const char *id, const char *token,
                          uint32_t extend_ms)
{
    struct lease_seen *lease = find_lease(sim, id, token);
    int64_t until_us = clock_now_us(&sim->clock) + extend_ms * US_PER_MS;
    if (!lease)
        return;
    if (until_us < lease->until_us)
        lease->until_us = until_us;
    if (lease->beat_round != sim->round || extend_ms < lease->beat_ms)
        lease->beat_ms = extend_ms;
    lease->beat_round = sim->round;
}

/* A worker that sends two requests at once does not know which of them comes last: the shortest
 * heartbeat of this round may shorten what the others were answered. */
static int64_t at_least_until(struct sim *sim, const struct lease_seen *lease, int64_t until_us)
{
    int64_t beat_us = clock_now_us(&sim->clock) + lease->beat_ms * US_PER_MS;
    bool may_be_less = lease->beat_ms && lease->beat_round == sim->round;
    return may_be_less && beat_us < until_us ? beat_us : until_us;
}

void lease_asked(struct sim *sim, const struct request *request)
{
    const struct commit_input *commit = &request->in.commit;
    const struct heartbeat_input *beat = &request->in.heartbeat;
    switch (request->op) {
    case OP_REPORT:
        for (size_t i = 0; i < request->in.report.count; i++)
            end_lease(sim, request->in.report.reports[i].task_id,
                      request->in.report.reports[i].token);
        return;
    case OP_COMMIT:
        end_lease(sim, commit->task_id, commit->token); /* a stopped one ends in any case */
        return;
    case OP_HEARTBEAT:
        if (beat->extend_ms)
            shorten_lease(sim, beat->task_id, beat->token, beat->extend_ms);
        return;
    case OP_HEARTBEATS:
        for (size_t i = 0; i < request->in.heartbeats.count; i++)
            if (request->in.heartbeats.beats[i].extend_ms)
                shorten_lease(sim, request->in.heartbeats.beats[i].task_id,
                              request->in.heartbeats.beats[i].token,
                              request->in.heartbeats.beats[i].extend_ms);
        return;
    default:
        return;
    }
}

static int32_t generation_of(const struct snapshot *snapshot, const char *task_id)
{
    char id[ID_TEXT];
    snprintf(id, sizeof id, "%.*s", (int)strcspn(task_id, "."), task_id);
    const struct seen_instance *instance = snapshot_find(snapshot, id);
    return instance ? instance->row.generation : 0;
}

static void add_lease(struct sim *sim, const cairn_task *task)
{
    if (sim->lease_count == LEASES_MAX)
        memmove(sim->leases, sim->leases + 1, --sim->lease_count * sizeof *sim->leases);
    struct lease_seen *lease = &sim->leases[sim->lease_count++];
    *lease = (struct lease_seen){.until_us = task->lease_until_us, .is_fresh = true};
    snprintf(lease->id, sizeof lease->id, "%s", task->id);
    snprintf(lease->token, sizeof lease->token, "%s", task->token);
    /* If it began anew in the same run, the lease may be one of before or of after that. */
    lease->generation = generation_of(sim->before, task->id);
    if (!lease->generation)
        lease->generation = generation_of(sim->now, task->id);
}

static void confirm_lease(struct sim *sim, const char *id, const char *token, int64_t until_us)
{
    struct lease_seen *lease = find_lease(sim, id, token);
    if (lease)
        lease->until_us = at_least_until(sim, lease, until_us);
}

/* It goes on after all. */
static void renew_lease(struct sim *sim, const char *id, const char *token, int64_t until_us)
{
    struct lease_seen *lease = find_lease(sim, id, token);
    confirm_lease(sim, id, token, until_us);
    if (lease)
        lease->is_over = false;
}

void lease_answered(struct sim *sim, const struct request *request)
{
    if (request->code)
        return;
    if (request->op == OP_CLAIM || request->op == OP_REPORT || request->op == OP_COMMIT)
        for (size_t i = 0; i < request->out.page.count; i++)
            add_lease(sim, &request->out.page.tasks[i]);
    if (request->op == OP_HEARTBEAT)
        confirm_lease(sim, request->in.heartbeat.task_id, request->in.heartbeat.token,
                      request->out.heartbeat.lease_until_us);
    for (size_t i = 0; request->op == OP_HEARTBEATS && i < request->in.heartbeats.count; i++) {
        const cairn_beat *beat = &request->in.heartbeats.beats[i];
        if (!beat->ret_code)
            confirm_lease(sim, beat->task_id, beat->token, beat->ret_lease_until_us);
    }
    if (request->op == OP_COMMIT && request->out.committed.lease_until_us)
        renew_lease(sim, request->in.commit.task_id, request->in.commit.token,
                    request->out.committed.lease_until_us);
}

static bool is_live(const struct sim *sim, const struct lease_seen *lease)
{
    return !lease->is_over && lease->until_us >= sim->now->now_us &&
           generation_of(sim->now, lease->id) == lease->generation;
}

static void law_of_lease(struct sim *sim, const struct lease_seen *lease)
{
    const struct step_row *step = snapshot_step(sim->now, lease->id);
    const struct seen_job *job = snapshot_job(sim->now, lease->id);
    const char *token = step ? step->token : job ? job->row.token : NULL;
    int64_t until_us = step ? step->locked_until_us : job ? job->row.lease_until_us : 0;
    if (!token || strcmp(token, lease->token) != 0)
        sim_broken(sim, "%s was taken from the worker that had it under %s until %lld",
                   lease->id, lease->token, (long long)(lease->until_us - SIM_START_US));
    if (until_us < lease->until_us)
        sim_broken(sim, "the lease of %s under %s was confirmed until %lld, and ends at %lld",
                   lease->id, lease->token, (long long)(lease->until_us - SIM_START_US),
                   (long long)(until_us - SIM_START_US));
}

/* One that is held comes later: of requeued undos there is one at a time. */
static bool is_undone(const struct step_row *step)
{
    return step && step->status == STEP_COMPENSATION && !step->is_held;
}

static bool is_undo_begun(const struct sim *sim, const struct seen_instance *now)
{
    const struct seen_instance *before = snapshot_find(sim->before, now->row.id);
    for (size_t i = 0; i < now->step_count; i++) {
        const struct step_row *old = before ? seen_step(before, now->steps[i].seq) : NULL;
        if (is_undone(&now->steps[i]) && !is_undone(old))
            return true;
    }
    return false;
}

/* One that was claimed in this very run may be the undo itself. */
static void law_of_undo(struct sim *sim, const struct seen_instance *now)
{
    for (size_t i = 0; i < sim->lease_count; i++) {
        const struct lease_seen *lease = &sim->leases[i];
        size_t len = strlen(now->row.id);
        if (strncmp(lease->id, now->row.id, len) == 0 && lease->id[len] == '.' &&
            !lease->is_fresh && is_live(sim, lease))
            sim_broken(sim, "an undo begins while a worker has %s", lease->id);
    }
}

void laws_of_leases(struct sim *sim)
{
    for (size_t i = 0; i < sim->lease_count; i++)
        if (is_live(sim, &sim->leases[i]))
            law_of_lease(sim, &sim->leases[i]);
    for (size_t i = 0; i < sim->now->instance_count; i++)
        if (is_undo_begun(sim, &sim->now->instances[i]))
            law_of_undo(sim, &sim->now->instances[i]);
    for (size_t i = 0; i < sim->lease_count; i++)
        sim->leases[i].is_fresh = false;
}
