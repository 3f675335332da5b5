/* cli/bench_jobs.c - cairn bench jobs: what this machine can do.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "cli/bench_jobs.h"

#include "cli/bench_raw.h"

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
    .print_more = job_print_more,
    .put_more = job_put_more,
};

static int run_bench(const struct args *args)
{
    struct job_bench bench = {
        .base = {.steps = 1, .workers = (size_t)args_number(args, "workers", 1)}};
    return bench_main(&bench.base, &kind, args);
}

static const struct option bench_options[] = {
    {.name = "count",
     .kind = OPTION_INT,
     .value = "N",
     .help = "so many jobs in batches; 10000 if not given; at most 1000 one at a time",
     .min = 1,
     .max = 10000000},
    {.name = "batch",
     .kind = OPTION_INT,
     .value = "N",
     .help = "jobs in one call; 100 if not given",
     .min = 1,
     .max = BENCH_BATCH_MAX},
    BENCH_OPTION_WORKERS,
    {.name = "backlog",
     .kind = OPTION_INT,
     .value = "N",
     .help = "also compare what a claim costs with 1000 and with N jobs waiting",
     .min = 1000,
     .max = 100000000},
    BENCH_OPTION_RAW,
    BENCH_OPTION_SEED,
    BENCH_OPTION_URL,
    {0},
};

const struct command command_bench_jobs = {
    .name = "bench jobs",
    .summary = "measure how fast jobs are recorded, claimed and completed",
    .about =
        "Enqueues jobs that do nothing, then claims and completes them: one at a time, and "
        "in batches. Then one job after the other reaches a worker that waits: the latency "
        "from enqueue to start. Without --url a fresh SQLite file in $TMPDIR or /var/tmp is "
        "used and removed; $CAIRN_URL is not used. With --url the jobs have types of "
        "their own, bench.SEED.*, and stay in the store, finished.",
    .example = "cairn bench jobs --raw --count 20000\n"
               "cairn bench jobs --backlog 1000000\n"
               "cairn bench jobs --url postgres://localhost/test --workers 4 -o json",
    .options = bench_options,
    .outputs = "table json",
    .run = run_bench,
};
