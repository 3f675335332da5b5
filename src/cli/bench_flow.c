/* cli/bench_flow.c - cairn bench workflows: what a step costs.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "cli/bench_flow.h"

#include "base/mem.h"
#include "cli/bench_scratch.h"
#include "cli/call.h"
#include "cli/say.h"

#include <inttypes.h>
#include <string.h>

enum { ROUNDS = 5, SINGLES_MAX = 200 };

const struct raw_flow_ops *raw_flow_for(const char *url)
{
    if (strncmp(url, "sqlite:", 7) == 0)
        return &raw_flow_sqlite;
    return strncmp(url, "postgres", 8) == 0 ? &raw_flow_postgres : NULL;
}

static void add_cost(struct flow_cost *sum, const struct flow_cost *more)
{
    sum->instances += more->instances;
    sum->steps += more->steps;
    sum->start_us += more->start_us;
    sum->work_us += more->work_us;
    sum->commits += more->commits;
    sum->bytes = more->bytes < 0 ? -1 : sum->bytes + more->bytes;
}

/* Engine and raw take turns, so that what else happens on the machine meets both alike. */
static int run_pair(struct flow_bench *bench, uint64_t count, size_t batch,
                    struct flow_report *report)
{
    struct flow_run *run = &report->runs[report->run_count++];
    uint64_t rounds = count >= ROUNDS * batch ? ROUNDS : 1;
    run->batch = batch;
    for (uint64_t i = 0; i < rounds; i++) {
        struct flow_cost cost;
        uint64_t share = count / rounds + (i < count % rounds);
        int exit_code = flow_engine(bench, share, batch, &report->length, &cost);
        if (exit_code)
            return exit_code;
        add_cost(&run->engine, &cost);
        if (!bench->raw_ops)
            continue;
        exit_code = flow_raw(bench, share, batch, &cost);
        if (exit_code)
            return exit_code;
        add_cost(&run->raw, &cost);
    }
    return EXIT_DONE;
}

static int measure(const struct args *args, struct flow_bench *bench, bool is_own,
                   struct flow_report *report)
{
    uint64_t count = (uint64_t)args_number(args, "count", 2000);
    uint64_t sleeping = (uint64_t)args_number(args, "sleeping", 0);
    size_t batch = (size_t)args_number(args, "batch", 100);
    if (batch > count)
        batch = (size_t)count; /* no more steps than instances are ready at once */
    int exit_code = flow_deploy(bench);
    if (!exit_code)
        exit_code = run_pair(bench, count < SINGLES_MAX ? count : SINGLES_MAX, 1, report);
    if (!exit_code && batch > 1)
        exit_code = run_pair(bench, count, batch, report);
    if (!exit_code && sleeping)
        exit_code = flow_sleep(bench, sleeping, is_own, &report->sleeping);
    return exit_code;
}

static int run_on(const struct args *args, struct flow_bench *bench, bool is_own)
{
    struct flow_report report = {.bench = bench, .is_raw = bench->raw_ops != NULL};
    struct bench *base = &bench->base;
    cleanup(store_closep) cairn_engine *engine = NULL;
    cairn_error error = {0};
    cairn_open_options options = CAIRN_OPEN_DEFAULTS;
    options.url = base->url;
    if (cairn_open(&options, &engine, &error))
        return say_unopened(base->url, &error);
    base->engine = engine;
    snprintf(base->type, sizeof base->type, "bench.%" PRIx64 ".noop", base->seed);
    snprintf(bench->workflow, sizeof bench->workflow, "bench.%" PRIx64, base->seed);
    snprintf(bench->sleeper, sizeof bench->sleeper, "bench.%" PRIx64 ".sleeper", base->seed);
    if (!is_own)
        fprintf(stderr,
                "Using %s: its own work stays as it is; instances of workflow %s stay behind, "
                "ended.\n",
                cairn_url(engine), bench->workflow);

    int exit_code = measure(args, bench, is_own, &report);
    end_progress();
    if (exit_code)
        return exit_code;
    if (args_wants(args, "json"))
        flow_print_json(&report);
    else
        flow_print_table(&report);
    return EXIT_DONE;
}

static int run_bench(const struct args *args)
{
    cleanup(scratch_done) struct scratch scratch = {0};
    const char *url = args_text(args, "url");
    struct flow_bench bench = {
        .base = {.seed = bench_seed(args), .workers = (size_t)args_number(args, "workers", 1)},
        .steps = (int32_t)args_number(args, "steps", 5),
    };
    if (args_has(args, "raw") && url && !raw_flow_for(url)) {
        say_error("--raw cannot be used with \"%s\": it speaks to sqlite: and postgres: only",
                  url);
        return EXIT_USAGE;
    }
    if (!scratch_make(&scratch, url))
        return EXIT_NO;
    bench.base.url = url ? url : scratch.url;
    if (args_has(args, "raw")) {
        bench.raw_ops = raw_flow_for(bench.base.url);
        bench.base.raw_url =
            bench.raw_ops == &raw_flow_sqlite ? scratch.raw_url : bench.base.url;
    }
    return run_on(args, &bench, url == NULL);
}

static const struct option bench_options[] = {
    {.name = "steps",
     .kind = OPTION_INT,
     .value = "N",
     .help = "steps of the workflow, one after the other; 5 if not given",
     .min = 1,
     .max = 10000},
    {.name = "count",
     .kind = OPTION_INT,
     .value = "N",
     .help = "so many instances in batches; 2000 if not given; at most 200 one at a time",
     .min = 1,
     .max = 10000000},
    {.name = "batch",
     .kind = OPTION_INT,
     .value = "N",
     .help = "steps in one call; 100 if not given",
     .min = 1,
     .max = BENCH_BATCH_MAX},
    {.name = "workers",
     .kind = OPTION_INT,
     .value = "N",
     .help = "so many threads at once; 1 if not given",
     .min = 1,
     .max = 64},
    {.name = "sleeping",
     .kind = OPTION_INT,
     .value = "N",
     .help = "also start N instances that sleep, and tell what they cost",
     .min = 1,
     .max = 100000000},
    {.name = "raw",
     .kind = OPTION_FLAG,
     .help = "also do the same row changes with bare statements, and print engine / raw"},
    {.name = "seed",
     .kind = OPTION_INT,
     .value = "N",
     .help = "for names; chosen if not given",
     .min = 1,
     .max = INT64_MAX},
    {0},
};

const struct command command_bench_workflows = {
    .name = "bench workflows",
    .summary = "measure how fast workflows are started and their steps executed",
    .about =
        "Deploys a workflow of steps that do nothing, starts instances of it, then claims and "
        "completes their steps: one at a time, and in batches. A plan of 2000 steps or more "
        "also shows what its first and its last thousand steps cost. Without --url a fresh "
        "SQLite file in $TMPDIR or /var/tmp is used and removed; $CAIRN_URL does not count "
        "here. With --url the workflows have names of their own, bench.SEED, and their "
        "instances stay in the store, ended.",
    .example = "cairn bench workflows --raw --steps 5\n"
               "cairn bench workflows --steps 10000 --count 1\n"
               "cairn bench workflows --sleeping 1000000 -o json",
    .options = bench_options,
    .outputs = "table json",
    .has_url = true,
    .run = run_bench,
};
