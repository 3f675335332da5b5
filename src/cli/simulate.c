/* cli/simulate.c - cairn simulate: tries a workflow file against many failures.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "cli/simulate.h"

#include "base/json.h"
#include "base/mem.h"
#include "cli/args.h"
#include "cli/call.h"
#include "cli/input.h"
#include "cli/say.h"

#include <inttypes.h>
#include <string.h>

enum { SEEDS_DEFAULT = 1000, LAWS_MAX = 100 };

/* Everything that the command line names. */
struct simulation {
    const struct args *args;
    struct arena arena;
    struct sim_plan plan;
    struct law *laws;
    size_t law_count;
    struct sim_told *told;
    size_t told_count;
    struct sim_real *real; /* of --handlers; NULL: handlers are invented */
};

bool is_endless(const char *word)
{
    return !status_is_final(word);
}

static void simulation_done(struct simulation *simulation)
{
    for (size_t i = 0; i < simulation->told_count; i++)
        buf_done(&simulation->told[i].story);
    real_end(simulation->real);
    arena_done(&simulation->arena);
}

static void world_closep(struct sim_world *world)
{
    sim_world_close(world);
}

static int no_memory(void)
{
    say_error("memory ran out");
    return EXIT_NO;
}

/* ---- the command line -------------------------------------------------------------------------- */

static int read_files(struct simulation *simulation)
{
    const struct args *args = simulation->args;
    const char **texts = arena_array(&simulation->arena, args->operand_count, sizeof *texts);
    if (!texts)
        return no_memory();
    for (size_t i = 0; i < args->operand_count; i++) {
        struct buf text = {0};
        if (!file_read(args->operands[i], &text)) {
            buf_done(&text);
            return EXIT_USAGE;
        }
        bool is_text = strlen(buf_text(&text)) == text.len;
        texts[i] = buf_keep(&text, &simulation->arena);
        if (!is_text) {
            say_error("%s has a NUL byte: it is no text", args->operands[i]);
            return EXIT_NO;
        }
        if (!texts[i])
            return no_memory();
    }
    simulation->plan.files = args->operands;
    simulation->plan.texts = texts;
    simulation->plan.file_count = args->operand_count;
    return EXIT_DONE;
}

static int read_input(struct simulation *simulation)
{
    struct buf text = {0};
    cairn_error error = {0};
    if (!args_has(simulation->args, "input"))
        return EXIT_DONE;
    bool is_read = source_read(args_text(simulation->args, "input"), &text);
    bool is_json = is_read && !json_check(buf_text(&text), text.len, "--input", &error);
    simulation->plan.input = buf_keep(&text, &simulation->arena);
    if (is_read && !is_json)
        say_failure(&error);
    if (!is_json)
        return EXIT_USAGE;
    return simulation->plan.input ? EXIT_DONE : no_memory();
}

static int read_rates(struct simulation *simulation)
{
    const char *given = args_text(simulation->args, "fail");
    struct sim_rate *rates = NULL;
    cairn_error error = {0};
    if (given && sim_rates_read(given, &simulation->arena, &rates, &simulation->plan.rate_count,
                                &error)) {
        say_error("--fail: %s", error.message);
        return EXIT_USAGE;
    }
    simulation->plan.rates = rates;
    return EXIT_DONE;
}

/* A rate for a step that does not exist would be without effect, and nobody would notice. */
static bool is_step(const struct sim_world *world, const char *name)
{
    size_t len = strlen(name);
    size_t undo = strlen(":undo");
    for (size_t i = 0; i < world->step_count; i++) {
        const char *step = world->steps[i];
        if (strcmp(step, name) == 0 ||
            (name[len - 1] == '%' && strncmp(step, name, len - 1) == 0))
            return true;
        if (len > undo && strlen(step) == len - undo && strncmp(step, name, len - undo) == 0 &&
            strcmp(name + len - undo, ":undo") == 0)
            return true;
    }
    return false;
}

static int check_rates(const struct simulation *simulation, const struct sim_world *world)
{
    for (size_t i = 0; i < simulation->plan.rate_count; i++)
        if (!is_step(world, simulation->plan.rates[i].step)) {
            say_error("--fail: %s%s has no step \"%s\"", world->workflow,
                      world->has_children ? ", with its children," : "",
                      simulation->plan.rates[i].step);
            return EXIT_USAGE;
        }
    return EXIT_DONE;
}

static int read_laws(struct simulation *simulation, const struct sim_world *world)
{
    const struct args *args = simulation->args;
    if (args->many_count > LAWS_MAX) {
        say_error("--expect is given more than %d times", LAWS_MAX);
        return EXIT_USAGE;
    }
    simulation->laws =
        arena_array(&simulation->arena, args->many_count + 1, sizeof *simulation->laws);
    if (!simulation->laws)
        return no_memory();
    for (size_t i = 0; i < args->many_count; i++) {
        cairn_error error = {0};
        if (law_read(args->many[i], world->steps, world->step_count, &simulation->laws[i],
                     &error)) {
            say_failure(&error);
            return EXIT_USAGE;
        }
    }
    simulation->law_count = args->many_count;
    return EXIT_DONE;
}

/* ---- one run, and many ------------------------------------------------------------------------- */

static int tell_run(struct sim_world *world, uint64_t seed, struct buf *story,
                    struct sim_end *ret_end)
{
    cairn_error error = {0};
    if (sim_run(world, seed, story, ret_end, &error))
        return say_failure(&error);
    return buf_failed(story) ? no_memory() : EXIT_DONE;
}

static int add_told(struct simulation *simulation, struct sim_world *world, const char *why,
                    uint64_t seed)
{
    struct sim_told *told = &simulation->told[simulation->told_count++];
    struct sim_end end = {0};
    *told = (struct sim_told){.why = why, .seed = seed};
    int exit_code = tell_run(world, seed, &told->story, &end);
    sim_end_done(&end);
    return exit_code;
}

/* The stories of the smallest seed of each broken law, and of each way of not ending. */
static int tell_all(struct simulation *simulation, struct sim_world *world,
                    const struct sim_tally *tally)
{
    simulation->told = arena_array(&simulation->arena, tally->law_count + tally->ends.count + 1,
                                   sizeof *simulation->told);
    if (!simulation->told)
        return no_memory();
    for (size_t i = 0; i < tally->law_count; i++)
        if (tally->broken[i].n)
            TRY(add_told(simulation, world, tally->broken[i].what, tally->broken[i].seed));
    for (size_t i = 0; i < tally->ends.count; i++)
        if (is_endless(tally->ends.items[i].what))
            TRY(add_told(simulation, world, tally->ends.items[i].what,
                         tally->ends.items[i].seed));
    return EXIT_DONE;
}

static void show_progress(uint64_t done, uint64_t count)
{
    say_progress("%" PRIu64 " of %" PRIu64 " runs", done, count);
}

static bool is_any_broken(const struct sim_tally *tally)
{
    for (size_t i = 0; i < tally->law_count; i++)
        if (tally->broken[i].n)
            return true;
    return false;
}

static int run_many(struct simulation *simulation, struct sim_world *world, uint64_t first,
                    uint64_t count)
{
    cleanup(sim_tally_done) struct sim_tally tally = {0};
    cairn_error error = {0};
    cairn_code code = sim_tally_runs(&tally, world, simulation->laws, simulation->law_count,
                                     first, count, show_progress, &error);
    end_progress();
    if (code)
        return say_failure(&error);
    TRY(tell_all(simulation, world, &tally));
    if (args_wants(simulation->args, "json"))
        print_simulation_json(&tally, simulation->told, simulation->told_count);
    else
        print_simulation(&tally, simulation->told, simulation->told_count);
    return is_any_broken(&tally) ? EXIT_NO : EXIT_DONE;
}

/* The run of --seed has its story told, whatever came of it. */
static int run_one(struct simulation *simulation, struct sim_world *world, uint64_t seed)
{
    cleanup(buf_donep) struct buf story = {0};
    cleanup(sim_end_done) struct sim_end end = {0};
    TRY(tell_run(world, seed, &story, &end));
    print_story(&story, "");
    bool is_broken = false;
    for (size_t i = 0; i < simulation->law_count; i++)
        if (!law_holds(&simulation->laws[i], end.steps, end.status)) {
            printf("Broken: %s\n", simulation->laws[i].text);
            is_broken = true;
        }
    return is_broken ? EXIT_NO : EXIT_DONE;
}

int run_simulate(const struct args *args)
{
    cleanup(simulation_done) struct simulation simulation = {
        .args = args,
        .plan = {.fail = 0.1, .crash = 0.02, .timeout = 0.02, .signal = 0.8, .confirm = 0.7}};
    cleanup(world_closep) struct sim_world world = {0};
    cairn_error error = {0};
    TRY(read_files(&simulation));
    TRY(read_input(&simulation));
    TRY(read_rates(&simulation));
    if (args_has(args, "handlers")) /* before the first thread, which the engine has */
        TRY(real_begin(args_text(args, "handlers"), &simulation.plan, &simulation.real));
    if (sim_world_open(&world, &simulation.plan, &error)) {
        say_failure(&error);
        return error.code == CAIRN_E_NOT_FOUND ? EXIT_USAGE : EXIT_NO;
    }
    TRY(check_rates(&simulation, &world));
    TRY(read_laws(&simulation, &world));
    bool is_one = args_has(args, "seed") || simulation.real;
    uint64_t first = (uint64_t)args_number(args, "seed", 1);
    if (is_one && !args_wants(args, "json"))
        return run_one(&simulation, &world, first);
    return run_many(&simulation, &world, first,
                    is_one ? 1 : (uint64_t)args_number(args, "seeds", SEEDS_DEFAULT));
}
