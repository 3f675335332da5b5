/* tests/sim/engines.c - several engines on one memory store, each with faults of its own.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "function.h"

#include <stdlib.h>
#include <string.h>

/* What an engine gets instead of the memory store: the same verbs and sessions, but closing it
 * leaves the store open for the others. */
struct shared_store {
    struct store base;
    struct store_ops ops;
    struct store *memory;
};

static cairn_code shared_session_open(struct store *store, enum session_kind kind,
                                      struct store_session **ret_session, cairn_error *reterr)
{
    struct store *memory = ((struct shared_store *)store)->memory;
    return memory->ops->session_open(memory, kind, ret_session, reterr);
}

static void shared_close(struct store *store)
{
    free(store);
}

static struct store *share(struct store *memory)
{
    struct shared_store *shared = calloc(1, sizeof *shared);
    if (!shared)
        abort();
    shared->memory = memory;
    shared->ops = *memory->ops;
    shared->ops.session_open = shared_session_open;
    shared->ops.close = shared_close;
    shared->base = (struct store){.ops = &shared->ops, .clock = memory->clock};
    return &shared->base;
}

static int64_t sim_time(void *arg)
{
    return clock_now_us(&((struct sim *)arg)->clock);
}

static void give_clock(struct sim *sim, struct local_engine *engine)
{
    if (sim->has_timers)
        clock_init_source(
            &engine->clock,
            &(struct clock_source){.wall_us = sim_time, .monotonic_us = sim_time, .arg = sim});
    else
        clock_set_us(&engine->clock, clock_now_us(&sim->clock));
}

void engine_open(struct sim *sim, int index)
{
    struct sim_engine *own = &sim->engines[index];
    cairn_error error;
    cairn_open_options options = CAIRN_OPEN_DEFAULTS;
    options.virtual_clock = !sim->has_timers;
    options.start_us = SIM_START_US;
    options.seed = rng_next(&sim->rng) | 1;
    options.retry_ms = 24 * 3600 * 1000; /* real time must not decide anything */
    double chance = sim->is_calm ? 0 : sim->fault_chance;
    own->faulty = faulty_wrap(share(sim->memory), rng_next(&sim->rng) | 1, chance);
    if (!own->faulty || local_engine_new(&options, own->faulty, &own->engine, &error))
        abort();
    give_clock(sim, own->engine);
}

void engine_crash(struct sim *sim, int index)
{
    sim_trace(sim, "engine %d crashes", index);
    cairn_close(&sim->engines[index].engine->base);
    engine_open(sim, index);
}

/* The simulator tells of news only when there is some. */
static bool is_changed(struct store_session *session)
{
    (void)session;
    return true;
}

void sim_open(struct sim *sim)
{
    static struct store_ops ops;
    cairn_error error;
    clock_init_virtual(&sim->clock, SIM_START_US);
    struct store_config config = {.url = "memory:", .clock = &sim->clock};
    if (memory_store_ops.open(&config, &sim->memory, &error) ||
        memory_store_ops.session_open(sim->memory, SESSION_READER, &sim->reader, &error))
        abort();
    ops = *sim->memory->ops;
    ops.is_changed_elsewhere = is_changed;
    sim->memory->ops = &ops;
    for (int i = 0; i < ENGINES; i++)
        engine_open(sim, i);
    sim->before = calloc(1, sizeof *sim->before);
    sim->now = calloc(1, sizeof *sim->now);
    sim->programs = calloc(FUNCTIONS_MAX, sizeof *sim->programs);
    sim->runners = calloc(RUNNERS_MAX, sizeof *sim->runners);
    if (!sim->before || !sim->now || !sim->programs || !sim->runners)
        abort();
}

void sim_close(struct sim *sim)
{
    runners_kill(sim);
    for (int i = 0; i < ENGINES; i++)
        cairn_close(&sim->engines[i].engine->base);
    for (int i = 0; i < ENGINES; i++)
        request_free(sim->parked[i].request);
    memory_store_ops.session_close(sim->reader);
    memory_store_ops.close(sim->memory);
    arena_done(&sim->before->arena);
    arena_done(&sim->now->arena);
    free(sim->programs);
    free(sim->runners);
    free(sim->before);
    free(sim->now);
}

void sim_set_clock(struct sim *sim, int64_t now_us)
{
    clock_set_us(&sim->clock, now_us);
    for (int i = 0; i < ENGINES && !sim->has_timers; i++)
        clock_set_us(&sim->engines[i].engine->clock, now_us);
}

/* As watch() does, in a process of its own. */
static void tell_others(struct sim *sim, int index)
{
    for (int i = 0; i < ENGINES; i++)
        if (i != index)
            sim->engines[i].engine->is_foreign_news = true;
}

/* A committer that rests is woken early: how long it would rest is real time. */
bool sim_run_engine(struct sim *sim, int index)
{
    struct committer *committer = &sim->engines[index].engine->committers[0];
    committer->rest_until_us = 0;
    int64_t due_us = sim->has_timers ? sim_next_due(sim) : 0;
    bool has_run = committer_run_once(committer);
    if (sim->has_timers && sim_next_due(sim) != due_us)
        tell_others(sim, index);
    return has_run;
}

int64_t sim_engine_wakes(struct sim *sim, int index)
{
    struct local_engine *engine = sim->engines[index].engine;
    pthread_mutex_lock(&engine->lock);
    int64_t next_us = committer_next_us(&engine->committers[0]);
    pthread_mutex_unlock(&engine->lock);
    return next_us;
}
