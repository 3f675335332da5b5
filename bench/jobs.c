/* bench/jobs.c - cairn bench jobs: what this machine can do.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "bench/jobs.h"

#include "bench/raw.h"

#include <inttypes.h>
#include <stdio.h>

enum { SINGLES_MAX = 1000, LATENCY_SAMPLES = 300 };

static int measure(struct bench *base, const struct args *args)
{
    struct job_bench *bench = (struct job_bench *)base;
    uint64_t count = (uint64_t)args_number(args, "count", 10000);
    uint64_t many = (uint64_t)args_number(args, "backlog", 0);
    size_t batch = (size_t)args_number(args, "batch", 100);
    snprintf(bench->backlog_type, sizeof bench->backlog_type, "bench.%" PRIx64 ".backlog",
             base->seed);
    int exit_code = bench_take_turns(base, count < SINGLES_MAX ? count : SINGLES_MAX, 1);
    if (!exit_code)
        exit_code = bench_take_turns(base, count, batch);
    if (!exit_code)
        exit_code = job_latency(bench, LATENCY_SAMPLES);
    if (!exit_code && many) {
        exit_code = job_backlog(bench, many, batch);
        if (!base->is_own)
            exit_code = job_drain(bench) ? EXIT_STORE : exit_code;
    }
    return exit_code;
}

static int raw_way(struct bench *bench, uint64_t count, size_t batch,
                   struct bench_cost *ret_cost)
{
    return bench_raw(bench, 1, count, batch, ret_cost);
}

static const struct bench_kind kind = {
    .ways = {{.name = "engine", .key = "engine", .run = job_engine},
             {.name = "raw", .key = "raw", .is_raw = true, .run = raw_way}},
    .way_count = 2,
    .pairs = {{.name = "engine / raw", .of = 0, .to = 1}},
    .pair_count = 1,
    .raw_sqlite = &raw_jobs_sqlite,
    .raw_postgres = &raw_jobs_postgres,
    .start_head = "ENQUEUE",
    .work_head = "CLAIM+COMPLETE",
    .all_head = "ALL",
    .unit = "job",
    .own_words = "jobs stay as they are; those of type",
    .ended_word = "finished",
    .items_key = "jobs",
    .start_key = "enqueue_per_s",
    .work_key = "work_per_s",
    .all_key = "jobs_per_s",
    .start_us_key = "enqueue_us",
    .start_ratio_key = "enqueue_ratio",
    .measure = measure,
    .drain = bench_drain_tasks,
    .print_more = job_print_more,
    .put_more = job_put_more,
};

int bench_jobs(const struct args *args)
{
    struct job_bench bench = {
        .base = {.steps = 1, .threads = (size_t)args_number(args, "threads", 1)}};
    return bench_main(&bench.base, &kind, args);
}
