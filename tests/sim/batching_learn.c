/* tests/sim/batching_learn.c - what the answers of a round tell: ids, tasks, revisions.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "batching.h"

#include <stdio.h>
#include <string.h>

static void learn_id(char ids[][ID_TEXT], size_t *count, const cairn_enqueued *made)
{
    if (!made->existing && *count < KNOWN_IDS_MAX)
        snprintf(ids[(*count)++], ID_TEXT, "%s", made->id);
}

static void learn_tasks(struct batching *batching, const struct request *request,
                        const char *worker)
{
    for (size_t i = 0; i < request->out.page.count; i++) {
        const cairn_task *given = &request->out.page.tasks[i];
        if (batching->task_count == KNOWN_TASKS_MAX)
            memmove(batching->tasks, batching->tasks + 1,
                    --batching->task_count * sizeof *batching->tasks);
        struct batching_task *task = &batching->tasks[batching->task_count++];
        *task = (struct batching_task){.is_function = given->memory != NULL, .places = 1};
        snprintf(task->worker, sizeof task->worker, "%s", worker);
        snprintf(task->id, sizeof task->id, "%s", given->id);
        snprintf(task->token, sizeof task->token, "%s", given->token);
        if (given->memory) {
            task->revision = given->memory->revision;
            task->places = given->memory->places;
        }
    }
}

static void learn_commit(struct batching *batching, const struct request *request)
{
    const struct commit_input *in = &request->in.commit;
    const struct committed_output *out = &request->out.committed;
    for (size_t i = 0; out->started && i < in->job_count; i++)
        learn_id(batching->jobs, &batching->job_count, &out->started[i]);
    for (size_t i = 0; out->started && i < in->start_count; i++)
        learn_id(batching->instances, &batching->instance_count,
                 &out->started[in->job_count + i]);
    for (size_t i = 0; i < batching->task_count; i++) {
        struct batching_task *task = &batching->tasks[i];
        if (strcmp(task->id, in->task_id) || strcmp(task->token, in->token))
            continue;
        task->revision = out->revision;
        if (in->step_count && in->steps[0].seq == task->places)
            task->places += (int32_t)in->step_count;
    }
}

static void learn_outbox(struct side *side, const struct request *request)
{
    for (size_t i = 0; i < request->out.page.count; i++) {
        if (side->outbox_count == KNOWN_OUTBOX_MAX)
            memmove(side->outbox, side->outbox + 1,
                    --side->outbox_count * sizeof *side->outbox);
        snprintf(side->outbox[side->outbox_count++], sizeof *side->outbox, "%s",
                 request->out.page.outbox[i].id);
    }
}

static void learn_one(struct batching *batching, const struct ask *ask)
{
    const struct request *request = ask->requests[0];
    if (request->code)
        return;
    for (size_t i = 0; request->op == OP_ENQUEUE && i < request->in.enqueue.count; i++)
        learn_id(batching->jobs, &batching->job_count, &request->out.enqueued[i]);
    if (request->op == OP_START || request->op == OP_RERUN)
        learn_id(batching->instances, &batching->instance_count, request->out.enqueued);
    if (request->op == OP_COMMIT)
        learn_commit(batching, request);
    if (request->op == OP_CLAIM)
        learn_tasks(batching, request, request->in.claim.worker);
    if (ask->claims[0])
        learn_tasks(batching, ask->claims[0], ask->claims[0]->in.claim.worker);
}

void batching_learn(struct batching *batching)
{
    for (size_t i = 0; i < batching->ask_count; i++) {
        const struct ask *ask = &batching->asks[i];
        learn_one(batching, ask);
        for (int k = 0; k < BATCHING_SIDES; k++)
            if (ask->model->op == OP_OUTBOX_CLAIM && !ask->requests[k]->code)
                learn_outbox(&batching->sides[k], ask->requests[k]);
    }
}
