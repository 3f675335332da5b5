/* tests/sim/main.c - plays many seeds, and says how to see a broken one again.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 *     sim [--from SEED] [--seeds COUNT] [--rounds COUNT] [--sagas | --functions] [--alone]
 *         [--timers | --retention] [--trace]
 *
 * With --sagas the workflows are graphs of all kinds: forks, conditions, human steps, a DLQ, others that
 * they start, maps.  With --functions most instances are random functions, run by the real runner.  With
 * --alone neither have children, and functions no steps side by side.  With --timers engines keep the timers by themselves, and
 * now and then they are restarted and left alone.  With --retention the end of each life is that engines
 * purge it.  Without --rounds the seed says how many there are.
 */
#include "function.h"

#include <malloc.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char *program;

bool sim_chance(struct sim *sim, int percent)
{
    return sim_below(sim, 100) < percent;
}

int sim_below(struct sim *sim, int bound)
{
    return (int)rng_below(&sim->rng, (uint64_t)bound);
}

void sim_trace(const struct sim *sim, const char *format, ...)
{
    if (!sim->is_tracing)
        return;
    va_list args;
    va_start(args, format);
    printf("# %3d  ", sim->round);
    vprintf(format, args);
    printf("\n");
    va_end(args);
}

static void print_rows(const struct snapshot *snapshot)
{
    for (size_t i = 0; i < snapshot->instance_count; i++) {
        const struct seen_instance *instance = &snapshot->instances[i];
        fprintf(stderr, "  %s %s goal %d, active %d wait %d sleep %d awaited %d\n",
                instance->row.id, instance_status_name(instance->row.status),
                instance->row.goal, instance->row.active_count, instance->row.wait_count,
                instance->row.sleep_count, instance->row.awaited_count);
        for (size_t k = 0; k < instance->step_count; k++) {
            const struct step_row *step = &instance->steps[k];
            fprintf(
                stderr,
                "    %-4s %-12s attempts %d/%d undo %d token %s until %lld due %lld%s%s "
                "stop %d\n",
                step->name, step_status_name(step->status), step->attempts, step->max_attempts,
                step->compensation_attempts, step->token ? step->token : "-",
                (long long)(step->locked_until_us ? step->locked_until_us - SIM_START_US : 0),
                (long long)(step->due_at_us ? step->due_at_us - SIM_START_US : 0),
                step->is_ready ? " ready" : "", step->is_held ? " held" : "", step->stop);
        }
        for (size_t k = 0; k < instance->event_count; k++)
            fprintf(stderr, "    + %s %s %s\n", instance->events[k].type,
                    instance->events[k].step ? instance->events[k].step : "",
                    instance->events[k].data);
    }
}

void sim_broken(const struct sim *sim, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    fflush(stdout);
    fprintf(stderr, "seed %llu, round %d: ", (unsigned long long)sim->seed, sim->round);
    vfprintf(stderr, format, args);
    fprintf(stderr, "\nbefore:\n");
    print_rows(sim->before);
    fprintf(stderr, "now, %lld us:\n", (long long)(sim->now->now_us - SIM_START_US));
    print_rows(sim->now);
    fprintf(stderr, "replay: %s --from %llu --seeds 1 --rounds %d%s%s%s --trace\n", program,
            (unsigned long long)sim->seed, sim->rounds,
            sim->has_children    ? " --sagas"
            : sim->has_sagas     ? " --sagas --alone"
            : sim->has_families  ? " --functions"
            : sim->has_functions ? " --functions --alone"
                                 : "",
            sim->has_timers ? " --timers" : "", sim->has_retention ? " --retention" : "");
    fflush(stderr);
    va_end(args);
    _exit(1);
}

/* ---- the end ----------------------------------------------------------------------------- */

/* What a person does about an instance that waits for one. */
static bool help_instance(struct sim *sim, const struct seen_instance *instance)
{
    const char *id = instance->row.id;
    switch (instance->row.status) {
    case INSTANCE_PAUSED:
        /* A step whose child fails each time would go on for ever. */
        act_control(sim, 0, sim->has_children && sim_chance(sim, 30) ? OP_CANCEL : OP_RESUME,
                    id);
        return true;
    case INSTANCE_DLQ:
        if (instance->record_count && sim_chance(sim, 70) && sim->round < 2 * sim->rounds)
            act_requeue(sim, 0, &instance->records[0]);
        else
            act_control(sim, 0, OP_CANCEL, id);
        return true;
    default:
        break;
    }
    for (size_t i = 0; i < instance->step_count; i++) {
        const struct step_row *step = &instance->steps[i];
        if (step->status == STEP_WAITING && step->waiting_event && !is_end_of_call(step)) {
            act_signal(sim, 0, id, strcmp(step->waiting_event, "e0") == 0 ? "e0" : "e1");
            return true;
        }
        if (step->status == STEP_WAITING_DECISION) {
            act_decide(sim, 0, id, step->name, !sim->has_sagas || sim_chance(sim, 85));
            return true;
        }
    }
    return false;
}

static bool is_over(const struct sim *sim)
{
    for (size_t i = 0; i < sim->now->instance_count; i++)
        if (!instance_is_final(sim->now->instances[i].row.status))
            return false;
    for (size_t i = 0; i < sim->now->job_count; i++)
        if (!job_is_final(sim->now->jobs[i].row.status))
            return false;
    return true;
}

/* Workers take what there is; time goes from one timer to the next.  Only sagas still fail now and
 * then, so that long ones are undone, too. */
static void finish_one(struct sim *sim)
{
    size_t known = sim->held_count;
    int64_t asked_us = clock_now_us(&sim->clock);
    act_claim(sim, sim_below(sim, ENGINES));
    act_run(sim);
    if (sim->has_functions && runner_is_any(sim)) {
        runners_finish(sim);
        return;
    }
    if (sim->held_count > known) {
        for (size_t i = sim->held_count; i > known; i--) {
            bool is_failing = sim->has_sagas && sim_chance(sim, 15);
            act_report(sim, sim_below(sim, ENGINES), &sim->held[i - 1],
                       is_failing ? CAIRN_FAIL : CAIRN_COMPLETE);
            act_run(sim);
        }
        sim->held_count = known;
        return;
    }
    for (size_t i = 0; i < sim->now->instance_count; i++)
        if (help_instance(sim, &sim->now->instances[i])) {
            act_run(sim);
            return;
        }
    if (clock_now_us(&sim->clock) > asked_us)
        return; /* time has gone on since, and there may be more to claim */
    int64_t wait_us = sim->has_limits ? law_of_places(sim) : 0;
    int64_t due_us = sim_next_due(sim);
    if (wait_us) /* tokens are nobody's timer; a claim of that instant must get one */
        sim_set_clock(sim, asked_us + wait_us);
    else if (due_us > asked_us)
        sim_set_clock(sim, due_us);
}

static void finish_rest(struct sim *sim)
{
    for (int i = 0; !is_over(sim); i++, sim->round++) {
        if (i == 3000)
            sim_broken(sim, "something is stuck: it does not end");
        finish_one(sim);
    }
}

/* Somebody looks at the undos that have failed. */
static void redo_some(struct sim *sim)
{
    for (size_t i = 0; i < sim->now->instance_count; i++) {
        const struct seen_instance *instance = &sim->now->instances[i];
        if (instance->record_count == 0 || sim_chance(sim, 50))
            continue;
        act_requeue(sim, 0, &instance->records[0]);
        if (instance->record_count > 1)
            act_requeue(sim, 1, &instance->records[instance->record_count - 1]);
        act_run(sim);
    }
}

static void finish_all(struct sim *sim)
{
    sim->is_calm = true;
    for (int i = 0; i < ENGINES; i++)
        faulty_calm(sim->engines[i].faulty);
    if (sim->held_count > HELD_MAX / 2)
        sim->held_count = HELD_MAX / 2;
    act_run(sim);
    if (sim->has_functions && sim_chance(sim, 50))
        runners_kill(sim);
    finish_rest(sim);
    if (!sim->has_sagas && !sim->has_functions)
        return;
    redo_some(sim);
    finish_rest(sim);
}

/* ---- a life ------------------------------------------------------------------------------ */

static void deploy_all(struct sim *sim)
{
    int workflows = 1 + sim_below(sim, sim->has_children ? 3 : 2);
    for (int i = 0; i < (sim->has_functions ? 1 : workflows); i++)
        act_deploy(sim);
    int functions = sim->has_functions ? 1 + sim_below(sim, FUNCTIONS_MAX) : 0;
    for (int i = 0; i < functions; i++)
        act_deploy_function(sim, functions);
    sim->is_code_changing = sim->has_functions && sim_chance(sim, 35);
}

static bool has_ops(const struct sim *sim)
{
    for (int i = 0; i < OPS_MAX; i++)
        if (sim->ops[i].request)
            return true;
    return false;
}

static void play(struct sim *sim)
{
    rng_init(&sim->rng, sim->seed + 1);
    rng_init(&sim->flush_rng, sim->seed + 3);
    static const double chances[] = {0, 0.004, 0.02, 0.06};
    sim->fault_chance = chances[sim_below(sim, 4)];
    sim_open(sim);
    deploy_all(sim);
    while (has_ops(sim))
        sim_run_engine(sim, 0), act_settle(sim);
    snapshot_take(sim);
    for (sim->round = 1; sim->round <= sim->rounds; sim->round++) {
        act_round(sim);
        act_run(sim);
    }
    if (sim->has_retention)
        retention_play(sim);
    else
        finish_all(sim);
    snapshot_check_chains(sim);
    sim_close(sim);
}

/* Small worlds are soon over, so that many can be tried; large ones have more in them that can meet. */
static int draw_rounds(uint64_t seed, const struct sim *settings)
{
    static const int parts[] = {8, 8, 8, 8, 6, 4, 4, 2, 2, 1};
    struct rng rng;
    rng_init(&rng, ~seed);
    return (settings->has_functions ? 72 : 40) / parts[rng_below(&rng, 10)];
}

/* Whether a workflow with children, maps and expressions was executed below a limit. */
static bool play_seed(uint64_t seed, const struct sim *settings)
{
    struct sim *sim = calloc(1, sizeof *sim); /* large, and mostly left alone */
    if (!sim)
        abort();
    sim->seed = seed;
    sim->rounds = settings->rounds ? settings->rounds : draw_rounds(seed, settings);
    sim->is_tracing = settings->is_tracing;
    sim->has_sagas = settings->has_sagas;
    sim->has_functions = settings->has_functions;
    sim->has_families = settings->has_families;
    sim->has_children = settings->has_children;
    sim->has_limits = settings->has_limits;
    sim->has_reruns = settings->has_reruns;
    sim->has_timers = settings->has_timers;
    sim->has_retention = settings->has_retention;
    play(sim);
    bool was_full = sim->was_full;
    free(sim);
    return was_full;
}

static long long number(const char *text)
{
    char *end;
    long long value = strtoll(text, &end, 10);
    if (!text[0] || *end || value < 0) {
        fprintf(stderr, "\"%s\" is not a number\n", text);
        exit(2);
    }
    return value;
}

static int refuse_arguments(void)
{
    fprintf(stderr,
            "usage: %s [--from SEED] [--seeds COUNT] [--rounds COUNT] "
            "[--sagas | --functions] [--alone] [--timers | --retention] [--trace]\n",
            program);
    return 2;
}

int main(int argc, char **argv)
{
    static struct sim settings;
    long long from = 1, seeds = 200;
    bool is_alone = false;
    program = argv[0];
    mallopt(M_MMAP_THRESHOLD,
            1 << 20); /* so that what is not used of a world is never cleared */
    for (int i = 1; i < argc; i++) {
        bool has_value = i + 1 < argc;
        if (strcmp(argv[i], "--trace") == 0)
            settings.is_tracing = true;
        else if (strcmp(argv[i], "--timers") == 0)
            settings.has_timers = true;
        else if (strcmp(argv[i], "--retention") == 0)
            settings.has_retention = true;
        else if (strcmp(argv[i], "--sagas") == 0)
            settings.has_sagas = true;
        else if (strcmp(argv[i], "--functions") == 0)
            settings.has_functions = true;
        else if (strcmp(argv[i], "--alone") == 0)
            is_alone = true;
        else if (strcmp(argv[i], "--from") == 0 && has_value)
            from = number(argv[++i]);
        else if (strcmp(argv[i], "--seeds") == 0 && has_value)
            seeds = number(argv[++i]);
        else if (strcmp(argv[i], "--rounds") == 0 && has_value)
            settings.rounds = (int)number(argv[++i]);
        else
            return refuse_arguments();
    }
    settings.has_families = settings.has_functions && !is_alone;
    settings.has_limits = true;
    settings.has_reruns = !settings.has_functions;
    settings.has_children = settings.has_sagas && !is_alone;
    printf("TAP version 13\n1..1\n");
    long long full = 0;
    for (long long i = 0; i < seeds; i++)
        full += play_seed((uint64_t)(from + i), &settings);
    if (settings.has_children)
        printf("# children, a map, expressions and a limit together: %lld of %lld seeds\n",
               full, seeds);
    printf("ok 1 - seeds %lld to %lld keep the laws\n", from, from + seeds - 1);
    return 0;
}
