/* cli/bench_flow_raw.c - the same workflows with bare statements, in the same batches.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "base/clock.h"
#include "base/mem.h"
#include "cli/bench_flow.h"
#include "cli/command.h"
#include "cli/say.h"

#include <inttypes.h>

static size_t batch_at(uint64_t count, uint64_t from, size_t batch)
{
    return count - from < batch ? (size_t)(count - from) : batch;
}

static bool start_all(const struct raw_flow_ops *ops, void *raw, uint64_t count, size_t batch,
                      uint64_t *commits)
{
    for (uint64_t at = 0; at < count; at += batch_at(count, at, batch), ++*commits)
        if (!ops->start(raw, at, batch_at(count, at, batch)))
            return false;
    return true;
}

/* As the engine: lease the first batch; complete one and lease the next; complete the last. */
static bool work_all(const struct raw_flow_ops *ops, void *raw, uint64_t total, size_t batch,
                     uint64_t *commits)
{
    struct raw_steps done = {0};
    for (uint64_t at = 0; at < total || done.count; ++*commits) {
        struct raw_steps next = {.at = at, .count = batch_at(total, at, batch)};
        if (!ops->turn(raw, done, next))
            return false;
        done = next;
        at += next.count;
    }
    return true;
}

static bool measure(struct flow_bench *bench, void *raw, size_t batch, struct flow_cost *cost)
{
    int64_t bytes = bench_bytes(&bench->base);
    int64_t begin_us = monotonic_us();
    if (!start_all(bench->raw_ops, raw, cost->instances, batch, &cost->commits))
        return false;
    int64_t middle_us = monotonic_us();
    if (!work_all(bench->raw_ops, raw, cost->steps, batch, &cost->commits))
        return false;
    cost->start_us = middle_us - begin_us;
    cost->work_us = monotonic_us() - middle_us;
    cost->bytes = bytes < 0 ? -1 : bench_bytes(&bench->base) - bytes;
    return true;
}

/* Ids are made beforehand: they cost the engine time, and are no row changes. */
static void make_ids(struct raw_instance *instances, uint64_t count)
{
    struct rng rng;
    struct clock clock;
    clock_init_real(&clock);
    rng_init(&rng, 0);
    for (uint64_t i = 0; i < count; i++)
        id_make(&rng, clock_now_us(&clock), instances[i].id);
}

int flow_raw(struct flow_bench *bench, uint64_t count, size_t batch, struct flow_cost *ret_cost)
{
    void *raw = NULL;
    cleanup(mem_freep) struct raw_instance *instances =
        mem_zalloc((size_t)count * sizeof *instances);
    if (!instances) {
        say_error("memory ran out");
        return EXIT_NO;
    }
    struct raw_plan plan = {.workflow = bench->workflow,
                            .type = bench->base.type,
                            .steps = bench->steps,
                            .instances = instances,
                            .count = count};
    say_progress("raw: %" PRIu64 " instances in batches of %zu", count, batch);
    make_ids(instances, count);
    if (!bench->raw_ops->open(bench->base.raw_url, &plan, &raw))
        return EXIT_STORE;
    *ret_cost = (struct flow_cost){.instances = count, .steps = count * (uint64_t)bench->steps};
    bool is_done = measure(bench, raw, batch, ret_cost);
    bench->raw_ops->close(raw);
    return is_done ? EXIT_DONE : EXIT_STORE;
}
