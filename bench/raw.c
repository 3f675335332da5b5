/* bench/raw.c - the same work with bare statements, in the same batches.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "bench/raw.h"

#include "base/clock.h"
#include "base/mem.h"

struct raw_run {
    const struct raw_ops *ops;
    void *raw;
    uint64_t count, total;
    size_t batch;
    uint64_t commits;
};

static struct raw_range batch_at(const struct raw_run *run, uint64_t at, uint64_t end)
{
    return (struct raw_range){.at = at,
                              .count = end - at < run->batch ? (size_t)(end - at) : run->batch};
}

static int start_all(void *arg)
{
    struct raw_run *run = arg;
    for (uint64_t at = 0; at < run->count; run->commits++) {
        struct raw_range items = batch_at(run, at, run->count);
        if (!run->ops->start(run->raw, items))
            return EXIT_STORE;
        at += items.count;
    }
    return EXIT_DONE;
}

/* As the engine: lease the first batch; complete one and lease the next; complete the last. */
static int work_all(void *arg)
{
    struct raw_run *run = arg;
    struct raw_range done = {0};
    for (uint64_t at = 0; at < run->total || done.count; run->commits++) {
        struct raw_range next = batch_at(run, at, run->total);
        if (!run->ops->turn(run->raw, done, next))
            return EXIT_STORE;
        done = next;
        at += next.count;
    }
    return EXIT_DONE;
}

/* Ids are made beforehand: they cost the engine time, and are no row changes. */
static void make_ids(struct raw_item *items, uint64_t count)
{
    struct rng rng;
    struct clock clock;
    clock_init_real(&clock);
    rng_init(&rng, 0);
    for (uint64_t i = 0; i < count; i++)
        id_make(&rng, clock_now_us(&clock), items[i].id);
}

int bench_raw(struct bench *bench, int32_t pieces, uint64_t count, size_t batch,
              struct bench_cost *ret_cost)
{
    cleanup(mem_freep) struct raw_item *items = mem_zalloc((size_t)count * sizeof *items);
    const struct raw_ops *ops = bench->raw_ops;
    struct raw_run run = {
        .ops = ops, .count = count, .total = count * (uint64_t)pieces, .batch = batch};
    if (!items)
        return bench_no_memory();
    struct raw_plan plan = {.workflow = bench->workflow,
                            .type = bench->type,
                            .steps = bench->steps,
                            .pieces = pieces,
                            .items = items,
                            .count = count,
                            .batch = batch};
    make_ids(items, count);
    if (!ops->open(bench->raw_url, &plan, bench->raw_changes, &run.raw))
        return EXIT_STORE;
    int exit_code = bench_measure(bench, start_all, work_all, &run, ret_cost);
    ret_cost->commits = run.commits;
    ops->close(run.raw);
    return exit_code;
}
