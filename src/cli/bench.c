/* cli/bench.c - cairn bench jobs: what this machine can do.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "cli/bench.h"

#include "base/mem.h"
#include "cli/bench_print.h"
#include "cli/bench_scratch.h"
#include "cli/call.h"
#include "cli/say.h"

#include <inttypes.h>
#include <string.h>

enum { ROUNDS = 5, SINGLES_MAX = 1000, LATENCY_SAMPLES = 300 };

/* Which back end the bare statements speak to; NULL: there is none for this URL. */
static const struct raw_ops *raw_for(const char *url)
{
    if (strncmp(url, "sqlite:", 7) == 0)
        return &raw_sqlite;
    return strncmp(url, "postgres", 8) == 0 ? &raw_postgres : NULL;
}

static void add_cost(struct bench_cost *sum, const struct bench_cost *more)
{
    sum->jobs += more->jobs;
    sum->enqueue_us += more->enqueue_us;
    sum->work_us += more->work_us;
    sum->commits += more->commits;
    sum->bytes = more->bytes < 0 ? -1 : sum->bytes + more->bytes;
}

/* Engine and raw take turns, so that what else happens on the machine meets both alike. */
static int run_pair(struct bench *bench, uint64_t count, size_t batch,
                    struct bench_run *ret_run)
{
    uint64_t rounds = count >= ROUNDS * batch ? ROUNDS : 1;
    ret_run->batch = batch;
    for (uint64_t i = 0; i < rounds; i++) {
        struct bench_cost cost;
        uint64_t share = count / rounds + (i < count % rounds);
        int exit_code = bench_engine(bench, share, batch, &cost);
        if (exit_code)
            return exit_code;
        add_cost(&ret_run->engine, &cost);
        if (!bench->raw_ops)
            continue;
        exit_code = bench_raw(bench, share, batch, &cost);
        if (exit_code)
            return exit_code;
        add_cost(&ret_run->raw, &cost);
    }
    return EXIT_DONE;
}

static int measure(const struct args *args, struct bench *bench, bool is_own,
                   struct bench_report *report)
{
    uint64_t count = (uint64_t)args_number(args, "count", 10000);
    uint64_t many = (uint64_t)args_number(args, "backlog", 0);
    size_t batch = (size_t)args_number(args, "batch", 100);
    int exit_code =
        run_pair(bench, count < SINGLES_MAX ? count : SINGLES_MAX, 1, &report->runs[0]);
    if (!exit_code)
        exit_code = run_pair(bench, count, batch, &report->runs[1]);
    if (!exit_code)
        exit_code = bench_latency(bench, LATENCY_SAMPLES, &report->latency);
    if (!exit_code && many) {
        exit_code = bench_backlog(bench, many, batch, &report->backlog);
        if (!is_own)
            exit_code = bench_drain(bench) ? EXIT_STORE : exit_code;
    }
    return exit_code;
}

static int run_on(const struct args *args, struct bench *bench, bool is_own)
{
    struct bench_report report = {.bench = bench, .is_raw = bench->raw_ops != NULL};
    cleanup(store_closep) cairn_engine *engine = NULL;
    cairn_error error = {0};
    cairn_open_options options = CAIRN_OPEN_DEFAULTS;
    options.url = bench->url;
    if (cairn_open(&options, &engine, &error))
        return say_unopened(bench->url, &error);
    bench->engine = engine;
    snprintf(bench->type, sizeof bench->type, "bench.%" PRIx64 ".noop", bench->seed);
    snprintf(bench->backlog, sizeof bench->backlog, "bench.%" PRIx64 ".backlog", bench->seed);
    if (!is_own)
        fprintf(stderr,
                "Using %s: its own jobs stay as they are; those of type %s stay behind, "
                "finished.\n",
                cairn_url(engine), bench->type);

    int exit_code = measure(args, bench, is_own, &report);
    end_progress();
    if (exit_code)
        return exit_code;
    if (args_wants(args, "json"))
        bench_print_json(&report);
    else
        bench_print_table(&report);
    return EXIT_DONE;
}

static int run_bench(const struct args *args)
{
    cleanup(scratch_done) struct scratch scratch = {0};
    const char *url = args_text(args, "url");
    struct bench bench = {
        .seed = bench_seed(args),
        .workers = (size_t)args_number(args, "workers", 1),
    };
    if (args_has(args, "raw") && url && !raw_for(url)) {
        say_error("--raw cannot be used with \"%s\": it speaks to sqlite: and postgres: only",
                  url);
        return EXIT_USAGE;
    }
    if (!scratch_make(&scratch, url))
        return EXIT_NO;
    bench.url = url ? url : scratch.url;
    if (args_has(args, "raw")) {
        bench.raw_ops = raw_for(bench.url);
        bench.raw_url = bench.raw_ops == &raw_sqlite ? scratch.raw_url : bench.url;
    }
    return run_on(args, &bench, url == NULL);
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
    {.name = "workers",
     .kind = OPTION_INT,
     .value = "N",
     .help = "so many threads at once; 1 if not given",
     .min = 1,
     .max = 64},
    {.name = "backlog",
     .kind = OPTION_INT,
     .value = "N",
     .help = "also compare what a claim costs with 1000 and with N jobs waiting",
     .min = 1000,
     .max = 100000000},
    {.name = "raw",
     .kind = OPTION_FLAG,
     .help = "also do the same row changes with bare statements, and print engine / raw"},
    {.name = "seed",
     .kind = OPTION_INT,
     .value = "N",
     .help = "for types and priorities; chosen if not given",
     .min = 1,
     .max = INT64_MAX},
    {0},
};

const struct command command_bench_jobs = {
    .name = "bench jobs",
    .summary = "measure how fast jobs are recorded, claimed and completed",
    .about =
        "Enqueues jobs that do nothing, then claims and completes them: one at a time, and "
        "in batches. Then one job after the other reaches a worker that waits: the latency "
        "from enqueue to start. Without --url a fresh SQLite file in $TMPDIR or /var/tmp is "
        "used and removed; $CAIRN_URL does not count here. With --url the jobs have types of "
        "their own, bench.SEED.*, and stay in the store, finished.",
    .example = "cairn bench jobs --raw --count 20000\n"
               "cairn bench jobs --backlog 1000000\n"
               "cairn bench jobs --url postgres://localhost/test --workers 4 -o json",
    .options = bench_options,
    .outputs = "table json",
    .has_url = true,
    .run = run_bench,
};
