/* bench/mixed.c - cairn bench mixed: jobs, workflows and functions at the same time.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * Each kind is that of its own bench.  A thread for each of them starts its items, then all of them
 * work at the same time, in this process or in each worker process.
 */
#include "base/clock.h"
#include "bench/flow.h"
#include "bench/function.h"
#include "bench/jobs.h"

#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>

enum { JOBS, WORKFLOWS, FUNCTIONS, LOADS };

struct mixed_bench {
    struct bench base;
    struct bench loads[LOADS]; /* of each its names and steps */
    uint64_t counts[LOADS];
    size_t batch;
    struct bench_cost all; /* of all together */
};

static const struct bench_kind task_kind = {.has_steps = false};
static const struct bench_kind step_kind = {.has_steps = true};

/* ---- one of them ---------------------------------------------------------------------------- */

/* What a thread does for one load, and how long that took. */
struct load {
    struct mixed_bench *bench;
    int which;
    const struct bench_order *order; /* NULL: it starts the items */
    struct bench_share share;
    int64_t took_us;
    int exit_code;
};

static int start_load(struct mixed_bench *bench, int which)
{
    struct bench *load = &bench->loads[which];
    return which == JOBS
               ? job_enqueue_all(load, bench->counts[which], bench->batch)
               : bench_start_all(load, load->workflow, bench->counts[which], bench->batch);
}

static int drain_load(struct load *load)
{
    struct bench *bench = &load->bench->loads[load->which];
    struct bench_order order = *load->order;
    if (load->which == FUNCTIONS)
        return function_drain(bench, &order, &load->share);
    order.lanes = 1;
    return bench_drain_tasks(bench, &order, &load->share);
}

static void *run_load(void *arg)
{
    struct load *load = arg;
    int64_t begin_us = monotonic_us();
    load->exit_code = load->order ? drain_load(load) : start_load(load->bench, load->which);
    load->took_us = monotonic_us() - begin_us;
    return NULL;
}

/* All of them at the same time; answers an exit code. */
static int run_loads(struct mixed_bench *bench, const struct bench_order *order,
                     struct load loads[LOADS])
{
    pthread_t threads[LOADS];
    int started = 0, exit_code = EXIT_DONE;
    for (int i = 0; i < LOADS; i++) {
        loads[i] = (struct load){.bench = bench, .which = i, .order = order};
        bench->loads[i].engine = bench->base.engine;
        bench->loads[i].url = bench->base.url;
    }
    while (started < LOADS &&
           !pthread_create(&threads[started], NULL, run_load, &loads[started]))
        started++;
    for (int i = 0; i < started; i++) {
        pthread_join(threads[i], NULL);
        if (!exit_code)
            exit_code = loads[i].exit_code;
    }
    return started < LOADS ? bench_no_memory() : exit_code;
}

/* ---- all of them ---------------------------------------------------------------------------- */

/* How long each load took is what a share has more; of several processes it is their sum. */
static int drain(struct bench *base, const struct bench_order *order,
                 struct bench_share *ret_share)
{
    struct load loads[LOADS];
    int exit_code = run_loads((struct mixed_bench *)base, order, loads);
    for (int i = 0; i < LOADS; i++) {
        ret_share->done += loads[i].share.done;
        ret_share->more[i] = (uint64_t)loads[i].took_us;
    }
    return exit_code;
}

static int start_all(void *arg)
{
    struct mixed_bench *bench = arg;
    struct load loads[LOADS];
    int exit_code = run_loads(bench, NULL, loads);
    for (int i = 0; i < LOADS; i++)
        bench->base.runs[0].costs[i].start_us = loads[i].took_us;
    return exit_code;
}

static int work_all(void *arg)
{
    struct mixed_bench *bench = arg;
    size_t processes = bench->base.worker_count ? bench->base.worker_count : 1;
    struct bench_order order = {.batch = bench->batch,
                                .lanes = (bench->batch + processes - 1) / processes,
                                .mode = FUNCTION_BY_STEP};
    struct bench_share share;
    int exit_code = bench_work(&bench->base, &order, &share);
    for (int i = 0; i < LOADS; i++)
        bench->base.runs[0].costs[i].work_us = (int64_t)(share.more[i] / processes);
    return exit_code;
}

static void fill_costs(struct mixed_bench *bench)
{
    struct bench_run *run = &bench->base.runs[0];
    run->batch = bench->batch;
    bench->base.run_count = 1;
    for (int i = 0; i < LOADS; i++) {
        run->costs[i].items = bench->counts[i];
        run->costs[i].steps = bench->counts[i] * (uint64_t)bench->loads[i].steps;
        run->costs[i].bytes = -1; /* nobody knows whose they are */
        bench->all.items += run->costs[i].items;
        bench->all.steps += run->costs[i].steps;
    }
}

static int measure(struct bench *base, const struct args *args)
{
    struct mixed_bench *bench = (struct mixed_bench *)base;
    uint64_t count = (uint64_t)args_number(args, "count", 1000);
    bench->batch = (size_t)args_number(args, "batch", 100);
    bench->counts[JOBS] = count * (uint64_t)base->steps;
    bench->counts[WORKFLOWS] = bench->counts[FUNCTIONS] = count;
    for (int i = 0; i < LOADS; i++)
        bench->loads[i].engine = base->engine;
    int exit_code = flow_deploy(&bench->loads[WORKFLOWS]);
    if (!exit_code)
        exit_code = function_deploy(&bench->loads[FUNCTIONS]);
    fill_costs(bench);
    return exit_code ? exit_code : bench_measure(base, start_all, work_all, bench, &bench->all);
}

static void name_loads(struct bench *base)
{
    struct mixed_bench *bench = (struct mixed_bench *)base;
    for (int i = 0; i < LOADS; i++) {
        struct bench *load = &bench->loads[i];
        *load = (struct bench){.kind = i == JOBS ? &task_kind : &step_kind,
                               .steps = i == JOBS ? 1 : base->steps,
                               .threads = 1,
                               .seed = base->seed};
        snprintf(load->type, sizeof load->type, "bench.%" PRIx64 ".%s", base->seed,
                 i == JOBS        ? "job"
                 : i == WORKFLOWS ? "step"
                                  : "function");
        snprintf(load->workflow, sizeof load->workflow, "bench.%" PRIx64 ".%s", base->seed,
                 i == WORKFLOWS ? "workflow" : "function");
    }
}

/* ---- printing ------------------------------------------------------------------------------- */

static double steps_per_s(const struct bench_cost *all)
{
    return per_second(all->steps, all->start_us + all->work_us);
}

static void print_more(const struct bench *base)
{
    const struct mixed_bench *bench = (const struct mixed_bench *)base;
    printf("\ntogether: %.0f jobs and steps/s, %" PRIu64 " commits", steps_per_s(&bench->all),
           bench->all.commits);
    if (bench->all.bytes >= 0)
        printf(", %.0f bytes written for each",
               ratio(bench->all.bytes, (int64_t)bench->all.steps));
    printf("\n");
}

static void put_more(const struct bench *base, struct json_out *out)
{
    const struct bench_cost *all = &((const struct mixed_bench *)base)->all;
    json_open(json_key(out, "together"), '{');
    figure_real(out, "steps_per_s", steps_per_s(all));
    figure_int(out, "start_us", all->start_us);
    figure_int(out, "work_us", all->work_us);
    figure_int(out, "commits", (int64_t)all->commits);
    figure_known(out, "bytes_written", all->bytes);
    json_close(out, '}');
}

static const struct bench_kind kind = {
    .ways = {[JOBS] = {.name = "jobs", .key = "jobs"},
             [WORKFLOWS] = {.name = "workflows", .key = "workflows"},
             [FUNCTIONS] = {.name = "functions", .key = "functions"}},
    .way_count = LOADS,
    .has_steps = true,
    BENCH_INSTANCE_WORDS,
    .name_more = name_loads,
    .measure = measure,
    .drain = drain,
    .print_more = print_more,
    .put_more = put_more,
};

int bench_mixed(const struct args *args)
{
    struct mixed_bench bench = {.base = {.steps = (int32_t)args_number(args, "steps", 5)}};
    return bench_main(&bench.base, &kind, args);
}
