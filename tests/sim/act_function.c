/* tests/sim/act_function.c - what happens to functions: deployed, and run by workers with bad luck.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "base/buf.h"
#include "function.h"

#include <stdio.h>
#include <stdlib.h>

void act_deploy_function(struct sim *sim)
{
    struct buf text = {0}, printed = {0};
    struct program *program = &sim->programs[sim->program_count];
    program_make(&sim->rng, sim->program_count++, program);
    struct request *request = request_new(OP_DEPLOY);
    buf_printf(&text,
               "{\"function\": \"%s\", \"version\": 1, \"dlq\": %s, \"max_attempts\": %d}",
               program->name, program->is_dlq ? "true" : "false", (int)program->max_attempts);
    if (!request)
        abort();
    request->in.deploy =
        (struct deploy_input){.file = "sim.json",
                              .text = arena_strndup(&request->arena, buf_text(&text), text.len),
                              .len = text.len};
    program_print(program, &printed);
    sim_trace(sim, "deploy %s", buf_text(&printed));
    buf_done(&printed);
    buf_done(&text);
    act_submit(sim, 0, request, NULL);
}

/* The last commit may bring the next task. */
static void add_claim(struct sim *sim, struct runner *runner)
{
    struct request *request = runner->wanted;
    if (request->op != OP_COMMIT || request->in.commit.outcome == PASSAGE_GO_ON ||
        !sim_chance(sim, 25))
        return;
    request->in.commit.is_claiming = true;
    request->in.commit.claim = act_claim_options(sim, request, runner->held.worker);
}

void act_passage(struct sim *sim, int engine)
{
    struct runner *runner = runner_pick(sim);
    if (!runner)
        return;
    if (sim_chance(sim, 4)) {
        runner_kill(runner);
        return;
    }
    if (sim_chance(sim, 4)) {
        act_heartbeat(sim, engine, &runner->held); /* as the dispatcher does beside it */
        return;
    }
    if (sim_chance(sim, 2))
        atomic_store(&runner->is_stopping, true);
    if (!runner->wanted || runner->is_answered)
        runner_go(runner);
    if (!runner->is_used || !runner->wanted || sim_chance(sim, 15))
        return; /* it takes its time */
    add_claim(sim, runner);
    runner_submit(runner, engine);
}
