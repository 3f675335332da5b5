/* tests/sim/laws_limit.c - no more is leased than limits allow, and no place is lost.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "sim.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int note_limit(void *arg, int columns, char **values, char **names)
{
    struct sim *sim = arg;
    (void)columns;
    (void)names;
    if (sim->limit_count == SEEN_LIMITS)
        return 1;
    struct limit_seen *limit = &sim->limits[sim->limit_count++];
    *limit = (struct limit_seen){0};
    snprintf(limit->name, sizeof limit->name, "%s", values[0]);
    snprintf(limit->types, sizeof limit->types, "%s", values[1]);
    limit->concurrency = atoi(values[2]);
    limit->rate_n = atoi(values[3]);
    limit->is_per_group = atoi(values[4]);
    limit->rate_per_ms = atoll(values[5]);
    limit->updated_at_us = atoll(values[6]);
    return 0;
}

static bool is_matched(const struct limit_seen *limit, const char *type)
{
    size_t len = strlen(limit->types);
    return limit->types[len - 1] == '%' ? strncmp(limit->types, type, len - 1) == 0
                                        : strcmp(limit->types, type) == 0;
}

/* ---- what counts: jobs and steps ----------------------------------------------------------- */

/* A job or a step, as limits see it. */
struct task_seen {
    const char *id, *type, *group, *token;
    const struct seen_instance *instance; /* a step's */
    int32_t place;
    bool is_leased, is_waiting; /* waiting: it can be claimed */
};

enum { TASKS_SEEN = JOBS_MAX + INSTANCES_MAX * STEPS_MAX };

static struct task_seen see_job(const struct sim *sim, const struct job_row *row)
{
    return (struct task_seen){
        .id = row->id,
        .type = row->type,
        .group = row->group ? row->group : "",
        .token = row->token,
        .is_leased = row->status == JOB_LEASED,
        .is_waiting = row->status == JOB_PENDING && row->run_at_us <= sim->now->now_us,
    };
}

static struct task_seen see_step(const struct seen_instance *instance,
                                 const struct step_row *row)
{
    return (struct task_seen){
        .instance = instance,
        .place = row->seq,
        .id = row->name,
        .type = row->task_type ? row->task_type : "",
        .group = row->group ? row->group : "",
        .token = row->token,
        .is_leased = row->locked_by != NULL,
        .is_waiting = row->is_ready,
    };
}

/* All that are leased or can be claimed. */
static size_t see_tasks(const struct sim *sim, const struct snapshot *from,
                        struct task_seen *ret_tasks)
{
    size_t count = 0;
    for (size_t i = 0; i < from->job_count; i++) {
        ret_tasks[count] = see_job(sim, &from->jobs[i].row);
        count += ret_tasks[count].is_leased || ret_tasks[count].is_waiting;
    }
    for (size_t i = 0; i < from->instance_count; i++)
        for (size_t k = 0; k < from->instances[i].step_count; k++) {
            ret_tasks[count] = see_step(&from->instances[i], &from->instances[i].steps[k]);
            count += ret_tasks[count].is_leased || ret_tasks[count].is_waiting;
        }
    return count;
}

/* How many leases take places of the same count as this task. */
static int count_leased(const struct limit_seen *limit, const struct task_seen *tasks,
                        size_t count, const struct task_seen *with)
{
    int leased = 0;
    for (size_t i = 0; i < count; i++)
        leased += tasks[i].is_leased && is_matched(limit, tasks[i].type) &&
                  (!limit->is_per_group || strcmp(tasks[i].group, with->group) == 0);
    return leased;
}

/* A claim's token is the claim's own; one that was there before is of an older lease. */
static bool is_newly_leased(const struct task_seen *task, const struct task_seen *before,
                            size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (before[i].is_leased && before[i].token && task->token &&
            strcmp(before[i].token, task->token) == 0)
            return false;
    return task->is_leased;
}

enum giving { KEPT, GIVEN, UNCLEAR };

/* Whether what was leased has been released since; unclear: what says so is gone. */
static enum giving how_given(const struct sim *sim, const struct task_seen *task)
{
    const char *token, *ended, *outcome;
    if (!task->instance) {
        const struct seen_job *job = snapshot_job(sim->now, task->id);
        if (!job)
            return UNCLEAR;
        token = job->row.token, ended = job->row.ended_token, outcome = job->row.ended_outcome;
    } else {
        const struct seen_instance *now = snapshot_find(sim->now, task->instance->row.id);
        const struct step_row *row = now ? seen_step(now, task->place) : NULL;
        if (!row || now->row.generation != task->instance->row.generation)
            return UNCLEAR;
        token = row->token, ended = row->ended_token, outcome = row->ended_outcome;
    }
    if (!task->token || (token && strcmp(token, task->token) == 0))
        return KEPT;
    return ended && strcmp(ended, task->token) == 0 && strcmp(outcome, "release") == 0 ? GIVEN
                                                                                       : KEPT;
}

/* ---- the laws ------------------------------------------------------------------------------- */

/* What was leased when a limit was set stays; nothing begins beside it. */
static void law_of_limit(struct sim *sim, const struct limit_seen *limit)
{
    static struct task_seen now[TASKS_SEEN], before[TASKS_SEEN];
    size_t count = see_tasks(sim, sim->now, now);
    size_t before_count = see_tasks(sim, sim->before, before);
    for (size_t i = 0; i < count && limit->concurrency; i++) {
        if (!is_matched(limit, now[i].type) || !is_newly_leased(&now[i], before, before_count))
            continue;
        int leased = count_leased(limit, now, count, &now[i]);
        if (leased > limit->concurrency)
            sim_broken(sim, "task %s was leased as number %d of %s, which allows %d", now[i].id,
                       leased, limit->name, limit->concurrency);
    }
}

static bool is_same_limit(const struct limit_seen *a, const struct limit_seen *b)
{
    return strcmp(a->name, b->name) == 0 && strcmp(a->types, b->types) == 0 &&
           a->concurrency == b->concurrency && a->rate_n == b->rate_n &&
           a->rate_per_ms == b->rate_per_ms && a->is_per_group == b->is_per_group;
}

/* In the commit that begins an instance anew, one of its steps may have been claimed before: no row knows of it. */
static void note_unseen(struct sim *sim, const struct limit_seen *limit)
{
    for (size_t i = 0; i < sim->now->instance_count; i++) {
        const struct seen_instance *now = &sim->now->instances[i];
        bool is_anew = has_event(now, "workflow_restarted", NULL) ||
                       has_event(now, "workflow_retried", NULL);
        for (size_t k = 0; k < now->step_count && is_anew; k++) {
            struct task_seen task = see_step(now, &now->steps[k]);
            if (is_matched(limit, task.type))
                rate_note(sim, limit, task.group, false, false);
        }
    }
}

/* What has begun between two snapshots, and what was given back.  Unless the limit has stood all that time, its tokens may
 * be those of another bucket. */
static void note_tokens(struct sim *sim, const struct limit_seen *limit, bool is_sure)
{
    static struct task_seen now[TASKS_SEEN], before[TASKS_SEEN];
    size_t count = see_tasks(sim, sim->now, now);
    size_t before_count = see_tasks(sim, sim->before, before);
    for (size_t i = 0; i < before_count; i++) {
        enum giving giving = is_matched(limit, before[i].type) && before[i].is_leased
                                 ? how_given(sim, &before[i])
                                 : KEPT;
        if (giving != KEPT)
            rate_note(sim, limit, before[i].group, true, is_sure && giving == GIVEN);
    }
    for (size_t i = 0; i < count; i++)
        if (is_matched(limit, now[i].type) && is_newly_leased(&now[i], before, before_count))
            rate_note(sim, limit, now[i].group, false, is_sure);
    note_unseen(sim, limit);
    for (size_t i = 0; i < count; i++)
        law_of_rate(sim, limit, now[i].group);
}

/* Children, maps, data and limits in one program: main() says how often this happened. */
static void note_full(struct sim *sim, const struct limit_seen *limit)
{
    for (size_t i = 0; i < sim->now->instance_count && is_matched(limit, "s0"); i++) {
        const struct instance_row *row = &sim->now->instances[i].row;
        bool is_full =
            row->workflow[0] == 'w' && (sim->full >> strtoul(row->workflow + 1, NULL, 10) & 1);
        sim->was_full |= is_full && row->status == INSTANCE_RUNNING;
    }
}

void laws_of_limits(struct sim *sim)
{
    struct limit_seen before[SEEN_LIMITS];
    size_t count = sim->limit_count;
    memcpy(before, sim->limits, sizeof before);
    sim->limit_count = 0;
    sim_ask(sim,
            "SELECT name, types, concurrency, rate_n, is_per_group, rate_per_ms, updated_at "
            "FROM workflow_limit ORDER BY name",
            note_limit, sim);
    for (size_t i = 0; i < sim->limit_count; i++) {
        const struct limit_seen *limit = &sim->limits[i];
        note_full(sim, limit);
        bool is_sure = false; /* one that is new may have come after the leases */
        for (size_t k = 0; k < count; k++)
            if (is_same_limit(&before[k], limit)) {
                law_of_limit(sim, limit);
                is_sure = before[k].updated_at_us == limit->updated_at_us &&
                          limit->updated_at_us < sim->now->now_us;
            }
        if (!is_sure) /* in one instant it may have been removed and set again */
            rate_doubt(sim, limit->name);
        note_tokens(sim, limit, is_sure);
    }
}

/* Whether a limit keeps a task back; *ret_wait_us: for so long, if it is a matter of time. */
static bool is_held_back(struct sim *sim, const struct task_seen *tasks, size_t count,
                         const struct task_seen *task, int64_t *ret_wait_us)
{
    *ret_wait_us = 0;
    for (size_t i = 0; i < sim->limit_count; i++) {
        const struct limit_seen *limit = &sim->limits[i];
        if (!is_matched(limit, task->type))
            continue;
        if (limit->concurrency &&
            count_leased(limit, tasks, count, task) >= limit->concurrency) {
            *ret_wait_us = 0;
            return true;
        }
        int64_t wait_us = rate_wait_us(sim, limit, task->group);
        *ret_wait_us = wait_us > *ret_wait_us ? wait_us : *ret_wait_us;
    }
    return *ret_wait_us > 0;
}

bool step_is_held_back(struct sim *sim, const struct step_row *row)
{
    static struct task_seen tasks[TASKS_SEEN];
    int64_t wait_us;
    struct task_seen task = see_step(NULL, row);
    return is_held_back(sim, tasks, see_tasks(sim, sim->now, tasks), &task, &wait_us);
}

int64_t law_of_places(struct sim *sim)
{
    static struct task_seen tasks[TASKS_SEEN];
    int64_t least_us = 0, wait_us;
    size_t count = see_tasks(sim, sim->now, tasks);
    for (size_t i = 0; i < count; i++) {
        if (!tasks[i].is_waiting)
            continue;
        if (!is_held_back(sim, tasks, count, &tasks[i], &wait_us)) {
            if (!sim->has_functions) /* their claims differ; what no claim is given never ends */
                sim_broken(sim, "task %s has a place, and nobody is given it", tasks[i].id);
        } else if (wait_us && (!least_us || wait_us < least_us)) {
            least_us = wait_us;
        }
    }
    return least_us;
}
