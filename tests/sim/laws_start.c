/* tests/sim/laws_start.c - what functions start: once for each remembered start, and nothing else.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "function.h"

#include <stdio.h>
#include <string.h>

/* Whether a start that was remembered just now names this job or instance. */
static bool is_named(const struct sim *sim, const char *id)
{
    for (size_t i = 0; i < sim->now->instance_count; i++) {
        const struct seen_instance *now = &sim->now->instances[i];
        const struct seen_instance *before = snapshot_find(sim->before, now->row.id);
        for (size_t k = 1; k < now->step_count; k++) {
            const struct step_row *row = &now->steps[k];
            bool is_new = !before || !seen_step(before, row->seq) ||
                          now->row.generation != before->row.generation;
            if (is_new && row->kind == KIND_START && row->output && strstr(row->output, id))
                return true;
        }
    }
    return false;
}

/* A commit and a restart may have come together: then nobody remembers. */
static bool is_anybody_restarted(const struct sim *sim)
{
    for (size_t i = 0; i < sim->now->instance_count; i++)
        if (has_event(&sim->now->instances[i], "workflow_restarted", NULL) ||
            has_event(&sim->now->instances[i], "workflow_retried", NULL))
            return true;
    return false;
}

static void law_of_row(struct sim *sim, const struct step_row *row)
{
    char id[ID_TEXT];
    if (row->kind != KIND_START || row->status != STEP_COMPLETED)
        return;
    if (sscanf(row->output, "{\"id\":\"%39[^\"]", id) != 1 ||
        (!snapshot_job(sim->now, id) && !snapshot_find(sim->now, id)))
        sim_broken(sim, "%s remembers %s, which is not there", row->name, row->output);
}

void laws_of_starts(struct sim *sim)
{
    for (size_t i = 0; i < sim->now->instance_count; i++) {
        const struct seen_instance *instance = &sim->now->instances[i];
        for (size_t k = 1; instance->row.is_function && k < instance->step_count; k++)
            law_of_row(sim, &instance->steps[k]);
        bool is_started = !instance->row.key || strcmp(instance->row.key, "shared") == 0;
        if (is_started && !snapshot_find(sim->before, instance->row.id) &&
            !is_named(sim, instance->row.id) && !is_anybody_restarted(sim))
            sim_broken(sim, "nobody remembers to have started %s", instance->row.id);
    }
    for (size_t i = 0; i < sim->now->job_count; i++) {
        const struct job_row *job = &sim->now->jobs[i].row;
        if (strcmp(job->type, "fj") == 0 && !snapshot_job(sim->before, job->id) &&
            !is_named(sim, job->id) && !is_anybody_restarted(sim))
            sim_broken(sim, "nobody remembers to have started the job %s", job->id);
    }
}
