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

static struct task_seen see_step(const struct step_row *row)
{
    return (struct task_seen){
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
            ret_tasks[count] = see_step(&from->instances[i].steps[k]);
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
           a->is_per_group == b->is_per_group;
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
            "SELECT name, types, concurrency, rate_n, is_per_group FROM workflow_limit "
            "ORDER BY name",
            note_limit, sim);
    for (size_t i = 0; i < sim->limit_count; i++) {
        note_full(sim, &sim->limits[i]);
        for (size_t k = 0; k < count; k++) /* one that is new may have come after the leases */
            if (is_same_limit(&before[k], &sim->limits[i]))
                law_of_limit(sim, &sim->limits[i]);
    }
}

/* Whether a limit may keep a task back; *is_rated is set if it is a matter of time. */
static bool is_held_back(const struct sim *sim, const struct task_seen *tasks, size_t count,
                         const struct task_seen *task, bool *is_rated)
{
    bool answer = false;
    for (size_t i = 0; i < sim->limit_count && !answer; i++) {
        const struct limit_seen *limit = &sim->limits[i];
        if (!is_matched(limit, task->type))
            continue;
        *is_rated |= limit->rate_n > 0;
        answer =
            limit->rate_n || (limit->concurrency &&
                              count_leased(limit, tasks, count, task) >= limit->concurrency);
    }
    return answer;
}

bool step_is_held_back(const struct sim *sim, const struct step_row *row)
{
    static struct task_seen tasks[TASKS_SEEN];
    bool is_rated = false;
    struct task_seen task = see_step(row);
    return is_held_back(sim, tasks, see_tasks(sim, sim->now, tasks), &task, &is_rated);
}

bool law_of_places(struct sim *sim)
{
    static struct task_seen tasks[TASKS_SEEN];
    bool is_rated = false;
    size_t count = see_tasks(sim, sim->now, tasks);
    for (size_t i = 0; i < count; i++)
        if (tasks[i].is_waiting && !is_held_back(sim, tasks, count, &tasks[i], &is_rated) &&
            !sim->has_functions) /* their claims differ; what no claim is given never ends */
            sim_broken(sim, "task %s has a place, and nobody is given it", tasks[i].id);
    return is_rated;
}
