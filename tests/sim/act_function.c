/* tests/sim/act_function.c - what happens to functions: deployed, and run by workers with bad luck.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "base/buf.h"
#include "function.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void deploy_version(struct sim *sim, const struct program *program, int version)
{
    struct buf text = {0};
    struct request *request = request_new(OP_DEPLOY);
    buf_printf(
        &text, "{\"function\": \"%s\", \"version\": %d, \"dlq\": %s, \"max_attempts\": %d}",
        program->name, version, program->is_dlq ? "true" : "false", (int)program->max_attempts);
    if (!request)
        abort();
    request->in.deploy =
        (struct deploy_input){.file = "sim.json",
                              .text = arena_strndup(&request->arena, buf_text(&text), text.len),
                              .len = text.len};
    buf_done(&text);
    act_submit(sim, 0, request, NULL);
    while (sim_run_engine(sim, 0))
        ;
    act_settle(sim);
}

void act_deploy_function(struct sim *sim, int functions)
{
    struct buf printed = {0};
    struct program *program = &sim->programs[sim->program_count];
    program_make(&sim->rng, sim->program_count++, sim->has_families ? functions : 0, program);
    program_print(program, &printed);
    sim_trace(sim, "deploy %s", buf_text(&printed));
    buf_done(&printed);
    for (int version = 1; version <= VERSIONS; version++)
        deploy_version(sim, program, version);
}

/* ---- which code a worker has ------------------------------------------------------------- */

/* All but functions, and of each function code that accepts some versions. */
void act_claim_versions(struct sim *sim, struct request *request, cairn_claim_options *claim)
{
    static const char *const types[] = {"s%", "u%", "j", "fj"};
    cairn_function_code *codes =
        arena_array(&request->arena, (size_t)sim->program_count, sizeof *codes);
    if (!codes)
        abort();
    for (int i = 0; i < sim->program_count; i++) {
        codes[i] = (cairn_function_code)CAIRN_FUNCTION_CODE_DEFAULTS;
        codes[i].name = sim->programs[i].name;
        codes[i].version = 1 + sim_below(sim, VERSIONS);
        codes[i].from_version = sim_below(sim, codes[i].version + 1); /* 0: its own */
        sim_trace(sim, "  with %s, %d to %d", codes[i].name, (int)codes[i].from_version,
                  (int)codes[i].version);
    }
    claim->types = types;
    claim->type_count = sizeof types / sizeof *types;
    claim->functions = codes;
    claim->function_count = (size_t)sim->program_count;
}

/* Said here once more, so that the engine does not judge itself. */
bool claim_accepts(const cairn_claim_options *claim, const struct seen_instance *instance,
                   const struct step_row *row)
{
    bool is_everything = claim->type_count == 1 && strcmp(claim->types[0], "%") == 0;
    if (is_everything || row->kind != KIND_FUNCTION)
        return true;
    for (size_t i = 0; i < claim->function_count; i++) {
        const cairn_function_code *code = &claim->functions[i];
        int32_t from = code->from_version ? code->from_version : code->version;
        if (strcmp(code->name, row->name) == 0 && instance->row.version >= from &&
            instance->row.version <= code->version)
            return true;
    }
    return false;
}

void law_of_version(struct sim *sim, const cairn_claim_options *claim, const cairn_task *task)
{
    const struct seen_instance *instance = snapshot_find(sim->now, task->instance_id);
    const struct step_row *row = snapshot_step(sim->now, task->id);
    if (instance && row && !claim_accepts(claim, instance, row))
        sim_broken(sim, "%s has no code for version %d of %s, but was given it", claim->worker,
                   (int)instance->row.version, task->type);
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
    if (sim->has_timers && !sim->is_calm && sim_chance(sim, 5)) {
        /* What this engine has leased out is stopped through another. */
        act_control(sim, (runner->giver + 1) % ENGINES,
                    sim_chance(sim, 50) ? OP_PAUSE : OP_CANCEL, runner->instance_id);
        return;
    }
    if (sim_chance(sim, 2))
        atomic_store(&runner->is_stopping, true);
    if (!runner->wanted || runner->is_answered)
        runner_go(runner);
    if (!runner->is_used || !runner->wanted || sim_chance(sim, 15))
        return; /* it takes its time */
    add_claim(sim, runner);
    bool is_faithful =
        sim->has_timers && sim_chance(sim, 70); /* as a worker with one server is */
    runner_submit(runner, is_faithful ? runner->giver : engine);
}
