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

static const char *group_of(const struct job_row *row)
{
    return row->group ? row->group : "";
}

/* Whether two jobs take places of the same count. */
static bool is_counted(const struct limit_seen *limit, const struct job_row *row,
                       const struct job_row *with)
{
    return is_matched(limit, row->type) &&
           (!limit->is_per_group || strcmp(group_of(row), group_of(with)) == 0);
}

static int count_leased(const struct sim *sim, const struct limit_seen *limit,
                        const struct job_row *with)
{
    int count = 0;
    for (size_t i = 0; i < sim->now->job_count; i++) {
        const struct job_row *row = &sim->now->jobs[i].row;
        count += row->status == JOB_LEASED && is_counted(limit, row, with);
    }
    return count;
}

static bool is_newly_leased(const struct sim *sim, const struct job_row *now)
{
    const struct seen_job *before = snapshot_job(sim->before, now->id);
    bool was_leased =
        before && before->row.token && now->token && strcmp(before->row.token, now->token) == 0;
    return now->status == JOB_LEASED && !was_leased;
}

/* What was leased when a limit was set stays; nothing begins beside it. */
static void law_of_limit(struct sim *sim, const struct limit_seen *limit)
{
    for (size_t i = 0; i < sim->now->job_count && limit->concurrency; i++) {
        const struct job_row *row = &sim->now->jobs[i].row;
        if (!is_matched(limit, row->type) || !is_newly_leased(sim, row))
            continue;
        int count = count_leased(sim, limit, row);
        if (count > limit->concurrency)
            sim_broken(sim, "job %s was leased as number %d of %s, which allows %d", row->id,
                       count, limit->name, limit->concurrency);
    }
}

static bool is_same_limit(const struct limit_seen *a, const struct limit_seen *b)
{
    return strcmp(a->name, b->name) == 0 && strcmp(a->types, b->types) == 0 &&
           a->concurrency == b->concurrency && a->rate_n == b->rate_n &&
           a->is_per_group == b->is_per_group;
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
    for (size_t i = 0; i < sim->limit_count; i++)
        for (size_t k = 0; k < count; k++) /* one that is new may have come after the leases */
            if (is_same_limit(&before[k], &sim->limits[i]))
                law_of_limit(sim, &sim->limits[i]);
}

bool law_of_places(struct sim *sim)
{
    bool is_rated = false;
    for (size_t i = 0; i < sim->now->job_count; i++) {
        const struct job_row *row = &sim->now->jobs[i].row;
        bool is_refused = row->status != JOB_PENDING || row->run_at_us > sim->now->now_us;
        for (size_t k = 0; k < sim->limit_count && !is_refused; k++) {
            const struct limit_seen *limit = &sim->limits[k];
            bool has_rate = limit->rate_n && is_matched(limit, row->type);
            is_rated |= has_rate;
            is_refused = has_rate || (limit->concurrency && is_matched(limit, row->type) &&
                                      count_leased(sim, limit, row) >= limit->concurrency);
        }
        if (!is_refused)
            sim_broken(sim, "job %s has a place, and nobody is given it", row->id);
    }
    return is_rated;
}
