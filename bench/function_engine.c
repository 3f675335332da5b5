/* bench/function_engine.c - functions through the engine: start, then claim and run passages.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "base/mem.h"
#include "bench/function.h"

#include <stdio.h>

enum { LEASE_MS = 30000 };

int function_deploy(struct bench *bench)
{
    char text[BENCH_TYPE + 64];
    snprintf(text, sizeof text, "{\"function\":\"%s\",\"version\":1}", bench->workflow);
    return bench_deploy(bench, text);
}

/* ---- passages ------------------------------------------------------------------------------- */

/* One of those that run passages, one after the other. */
struct runner {
    struct bench *bench;
    cairn_commit_mode commit;
    struct function_trips trips;
};

static cairn_outcome do_nothing(cairn_work *work, void *arg)
{
    (void)arg;
    return cairn_work_set_output(work, BENCH_PAYLOAD) ? CAIRN_FAIL : CAIRN_COMPLETE;
}

static cairn_code run_steps(cairn_passage *passage, int32_t count, cairn_error *reterr)
{
    char key[16];
    cairn_step_options step = CAIRN_STEP_DEFAULTS;
    cairn_code code = CAIRN_OK;
    step.key = key;
    step.run = do_nothing;
    for (int32_t i = 0; i < count && !code; i++) {
        snprintf(key, sizeof key, RAW_STEP_NAME, (int)i + 1);
        code = cairn_passage_step(passage, &step, NULL, reterr);
    }
    return code ? code : cairn_passage_set_output(passage, BENCH_PAYLOAD, reterr);
}

static cairn_claim_options claim_options(const struct runner *runner, const char *types[1])
{
    cairn_claim_options claim = CAIRN_CLAIM_DEFAULTS;
    types[0] = runner->bench->type;
    claim.worker = BENCH_WORKER;
    claim.types = types;
    claim.type_count = 1;
    claim.lease_ms = LEASE_MS;
    return claim;
}

/* Runs a passage, and claims the next in the commit that ends it. */
static cairn_code run_passage(struct runner *runner, const cairn_task *task,
                              cairn_page **ret_next, cairn_error *reterr)
{
    const char *types[1];
    cairn_claim_options claim = claim_options(runner, types);
    cairn_passage *passage;
    cairn_passage_costs costs = {.size = sizeof costs};
    cairn_error why;
    cairn_code code = cairn_passage_open(runner->bench->engine, BENCH_WORKER, task,
                                         runner->commit, LEASE_MS, &passage, reterr);
    if (code)
        return code;
    code = run_steps(passage, runner->bench->steps, reterr);
    cairn_passage_costs_get(passage, &costs, NULL);
    cairn_code ended =
        cairn_passage_end_claim(passage, code, &claim, NULL, ret_next, code ? &why : reterr);
    cairn_passage_free(passage);
    runner->trips.passages++;
    runner->trips.commits += costs.commits + 1; /* its end is one */
    runner->trips.heartbeats += costs.heartbeats;
    return code ? code : ended;
}

static cairn_code run_all(struct runner *runner, cairn_error *reterr)
{
    const char *types[1];
    cairn_claim_options claim = claim_options(runner, types);
    cairn_page *tasks = NULL;
    cairn_code code = cairn_claim(runner->bench->engine, &claim, &tasks, reterr);
    runner->trips.claims++;
    while (!code && tasks && cairn_page_count(tasks) > 0) {
        cairn_page *next = NULL;
        code = run_passage(runner, cairn_page_task(tasks, 0), &next, reterr);
        cairn_page_free(tasks);
        tasks = next;
        if (!code)
            code = bench_claim_if_none(runner->bench, &claim, &tasks, reterr);
    }
    cairn_page_free(tasks);
    return code;
}

static void *run_lane(void *arg)
{
    struct bench_lane *lane = arg;
    lane->code = run_all(lane->arg, &lane->error);
    return NULL;
}

/* ---- measuring ------------------------------------------------------------------------------ */

struct passages {
    struct function_bench *bench;
    uint64_t count;
    size_t batch;
    int mode;
};

static int start_all(void *arg)
{
    struct passages *passages = arg;
    struct bench *base = &passages->bench->base;
    return bench_start_all(base, base->workflow, passages->count, passages->batch);
}

static void add_trips(struct function_trips *sum, const struct function_trips *more)
{
    sum->passages += more->passages;
    sum->claims += more->claims;
    sum->commits += more->commits;
    sum->heartbeats += more->heartbeats;
}

/* The trips are the numbers that a share has more. */
static void put_trips(struct bench_share *share, const struct function_trips *trips)
{
    share->more[0] = trips->passages;
    share->more[1] = trips->claims;
    share->more[2] = trips->commits;
    share->more[3] = trips->heartbeats;
}

int function_drain(struct bench *bench, const struct bench_order *order,
                   struct bench_share *ret_share)
{
    size_t count = order->lanes;
    struct function_trips trips = {0};
    cleanup(mem_freep) struct bench_lane *lanes = mem_zalloc(count * sizeof *lanes);
    cleanup(mem_freep) struct runner *runners = mem_zalloc(count * sizeof *runners);
    if (!lanes || !runners)
        return bench_no_memory();
    for (size_t i = 0; i < count; i++) {
        runners[i] =
            (struct runner){.bench = bench,
                            .commit = order->mode == FUNCTION_BY_STEP ? CAIRN_COMMIT_STEP
                                                                      : CAIRN_COMMIT_PASSAGE};
        lanes[i] = (struct bench_lane){.bench = bench, .arg = &runners[i]};
    }
    int exit_code = bench_run_lanes(lanes, count, run_lane);
    for (size_t i = 0; i < count; i++)
        add_trips(&trips, &runners[i].trips);
    put_trips(ret_share, &trips);
    ret_share->done = trips.passages * (uint64_t)bench->steps;
    return exit_code;
}

/* As many in flight as without worker processes. */
static int work_all(void *arg)
{
    struct passages *passages = arg;
    struct bench *base = &passages->bench->base;
    size_t processes = base->worker_count ? base->worker_count : 1;
    struct bench_order order = {.lanes = (passages->batch + processes - 1) / processes,
                                .mode = passages->mode};
    struct bench_share share;
    int exit_code = bench_work(base, &order, &share);
    struct function_trips trips = {.passages = share.more[0],
                                   .claims = share.more[1],
                                   .commits = share.more[2],
                                   .heartbeats = share.more[3]};
    add_trips(&passages->bench->trips[base->run_count - 1][passages->mode], &trips);
    return exit_code;
}

static int run_mode(struct bench *bench, uint64_t count, size_t batch, int mode,
                    struct bench_cost *ret_cost)
{
    struct passages passages = {
        .bench = (struct function_bench *)bench, .count = count, .batch = batch, .mode = mode};
    return bench_measure(bench, start_all, work_all, &passages, ret_cost);
}

int function_by_step(struct bench *bench, uint64_t count, size_t batch,
                     struct bench_cost *ret_cost)
{
    return run_mode(bench, count, batch, FUNCTION_BY_STEP, ret_cost);
}

int function_by_passage(struct bench *bench, uint64_t count, size_t batch,
                        struct bench_cost *ret_cost)
{
    return run_mode(bench, count, batch, FUNCTION_BY_PASSAGE, ret_cost);
}
