/* bench/flow.c - cairn bench workflows: what a step costs.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "bench/flow.h"

#include <inttypes.h>
#include <stdio.h>

enum { SINGLES_MAX = 200 };

static int measure(struct bench *base, const struct args *args)
{
    struct flow_bench *bench = (struct flow_bench *)base;
    uint64_t count = (uint64_t)args_number(args, "count", 2000);
    uint64_t sleeping = (uint64_t)args_number(args, "sleeping", 0);
    size_t batch = (size_t)args_number(args, "batch", 100);
    snprintf(bench->sleeper, sizeof bench->sleeper, "bench.%" PRIx64 ".sleeper", base->seed);
    if (batch > count)
        batch = (size_t)count; /* no more steps than instances are ready at once */
    int exit_code = flow_deploy(base);
    if (!exit_code)
        exit_code = bench_take_turns(base, count < SINGLES_MAX ? count : SINGLES_MAX, 1);
    if (!exit_code && batch > 1)
        exit_code = bench_take_turns(base, count, batch);
    if (!exit_code && sleeping)
        exit_code = flow_sleep(bench, sleeping);
    return exit_code;
}

static int raw_way(struct bench *bench, uint64_t count, size_t batch,
                   struct bench_cost *ret_cost)
{
    return bench_raw(bench, bench->steps, count, batch, ret_cost);
}

static const struct bench_kind kind = {
    .ways = {{.name = "engine", .key = "engine", .run = flow_engine},
             {.name = "raw", .key = "raw", .is_raw = true, .run = raw_way}},
    .way_count = 2,
    .pairs = {{.name = "engine / raw", .of = 0, .to = 1}},
    .pair_count = 1,
    .raw_sqlite = &raw_flow_sqlite,
    .raw_postgres = &raw_flow_postgres,
    .has_steps = true,
    BENCH_INSTANCE_WORDS,
    .measure = measure,
    .drain = bench_drain_tasks,
    .print_more = flow_print_more,
    .put_more = flow_put_more,
};

int bench_workflows(const struct args *args)
{
    struct flow_bench bench = {.base = {.steps = (int32_t)args_number(args, "steps", 5),
                                        .threads = (size_t)args_number(args, "threads", 1)}};
    return bench_main(&bench.base, &kind, args);
}
