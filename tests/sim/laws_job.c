/* tests/sim/laws_job.c - what must hold of jobs after every commit.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "sim.h"

#include <string.h>

static bool has_job_event(const struct seen_job *job, enum job_event type)
{
    for (size_t i = 0; i < job->event_count; i++)
        if (job_event_from(job->events[i].type) == type)
            return true;
    return false;
}

/* What its events say, from what it was before: each type stands for a status, or none. */
static enum job_status replay(const struct seen_job *seen, enum job_status status)
{
    static const enum job_status told[JOB_EVENT_COUNT] = {
        [EVENT_CREATED] = JOB_PENDING,   [EVENT_RETRIED] = JOB_PENDING,
        [EVENT_LEASED] = JOB_LEASED,     [EVENT_STARTED] = JOB_LEASED,
        [EVENT_HEARTBEAT] = JOB_LEASED,  [EVENT_SUCCEEDED] = JOB_SUCCEEDED,
        [EVENT_FAILED] = JOB_FAILED,     [EVENT_CANCELLED] = JOB_CANCELLED,
        [EVENT_DEBOUNCED] = JOB_PENDING,
    };
    for (size_t i = 0; i < seen->event_count; i++) {
        enum job_event event = job_event_from(seen->events[i].type);
        status = event == EVENT_DELETED && job_is_final(status) ? status : told[event];
    }
    return status;
}

static void law_of_change(struct sim *sim, const struct job_row *before,
                          const struct seen_job *seen)
{
    const struct job_row *now = &seen->row;
    if (job_is_final(before->status) && before->status != now->status)
        sim_broken(sim, "job %s was %s and is %s", now->id, job_status_name(before->status),
                   job_status_name(now->status));
    if (before->result && (!now->result || strcmp(before->result, now->result) != 0))
        sim_broken(sim, "the result of job %s changed", now->id);
    int more = now->attempt - before->attempt;
    if (more < 0 || more > 1)
        sim_broken(sim, "one call of job %s counts as %d", now->id, more);
    bool is_gone = before->token && (!now->token || strcmp(before->token, now->token) != 0);
    if (!is_gone || before->lease_until_us < sim->now->now_us)
        return;
    for (int i = 0; i < OPS_MAX; i++)
        if (sim->ops[i].request && strcmp(sim->ops[i].held.token, before->token) == 0)
            return;
    sim_broken(sim, "job %s lost a lease that was good", now->id);
}

void laws_of_jobs(struct sim *sim)
{
    for (size_t i = 0; i < sim->now->job_count; i++) {
        const struct seen_job *seen = &sim->now->jobs[i];
        const struct seen_job *before = snapshot_job(sim->before, seen->row.id);
        const struct job_row *now = &seen->row;
        if (now->attempt > now->max_attempts)
            sim_broken(sim, "job %s was called %d times, %d are allowed", now->id, now->attempt,
                       now->max_attempts);
        if ((now->status == JOB_LEASED) != (now->leased_by != NULL))
            sim_broken(sim, "job %s is %s, leased by %s", now->id, job_status_name(now->status),
                       now->leased_by);
        enum job_status told = replay(seen, before ? before->row.status : JOB_NONE);
        if (told != now->status)
            sim_broken(sim, "job %s is %s, but its events say %s", now->id,
                       job_status_name(now->status), told ? job_status_name(told) : "nothing");
        if (before)
            law_of_change(sim, &before->row, seen);
        else if (!has_job_event(seen, EVENT_CREATED))
            sim_broken(sim, "no event tells of the new job %s", now->id);
    }
}
