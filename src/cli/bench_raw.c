/* cli/bench_raw.c - the same jobs with bare statements, in the same batches.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "base/clock.h"
#include "base/mem.h"
#include "cli/bench.h"
#include "cli/command.h"
#include "cli/say.h"

#include <inttypes.h>
#include <string.h>

static size_t batch_at(uint64_t count, uint64_t from, size_t batch)
{
    return count - from < batch ? (size_t)(count - from) : batch;
}

static bool insert_all(struct bench *bench, void *raw, struct raw_job *jobs, uint64_t count,
                       size_t batch, uint64_t *commits)
{
    for (uint64_t at = 0; at < count; at += batch_at(count, at, batch), ++*commits)
        if (!bench->raw_ops->insert(raw, jobs + at, batch_at(count, at, batch)))
            return false;
    return true;
}

/* As the engine: lease the first batch; complete one and lease the next; complete the last. */
static bool work_all(struct bench *bench, void *raw, struct raw_job *jobs, uint64_t count,
                     size_t batch, uint64_t *commits)
{
    const struct raw_job *done = NULL;
    size_t done_count = 0;
    for (uint64_t at = 0; at < count || done_count; ++*commits) {
        size_t next_count = batch_at(count, at, batch);
        if (!bench->raw_ops->turn(raw, done, done_count, jobs + at, next_count))
            return false;
        done = jobs + at;
        done_count = next_count;
        at += next_count;
    }
    return true;
}

static bool measure(struct bench *bench, void *raw, struct raw_job *jobs, uint64_t count,
                    size_t batch, struct bench_cost *cost)
{
    int64_t bytes = bench_bytes(bench);
    int64_t begin_us = monotonic_us();
    if (!insert_all(bench, raw, jobs, count, batch, &cost->commits))
        return false;
    int64_t middle_us = monotonic_us();
    if (!work_all(bench, raw, jobs, count, batch, &cost->commits))
        return false;
    cost->enqueue_us = middle_us - begin_us;
    cost->work_us = monotonic_us() - middle_us;
    cost->bytes = bytes < 0 ? -1 : bench_bytes(bench) - bytes;
    return true;
}

/* Ids and tokens are made beforehand: they cost the engine time, and are no row changes. */
static void make_jobs(struct raw_job *jobs, uint64_t count, size_t batch)
{
    struct rng rng;
    struct clock clock;
    clock_init_real(&clock);
    rng_init(&rng, 0);
    for (uint64_t i = 0; i < count; i++) {
        id_make(&rng, clock_now_us(&clock), jobs[i].id);
        if (i % batch == 0)
            token_make(&rng, jobs[i].token);
        else
            memcpy(jobs[i].token, jobs[i - 1].token, sizeof jobs[i].token);
    }
}

int bench_raw(struct bench *bench, uint64_t count, size_t batch, struct bench_cost *ret_cost)
{
    void *raw = NULL;
    cleanup(mem_freep) struct raw_job *jobs = mem_zalloc((size_t)count * sizeof *jobs);
    if (!jobs) {
        say_error("memory ran out");
        return EXIT_NO;
    }
    say_progress("raw: %" PRIu64 " jobs in batches of %zu", count, batch);
    make_jobs(jobs, count, batch);
    if (!bench->raw_ops->open(bench->raw_url, bench->type, &raw))
        return EXIT_STORE;
    *ret_cost = (struct bench_cost){.jobs = count};
    bool is_done = measure(bench, raw, jobs, count, batch, ret_cost);
    bench->raw_ops->close(raw);
    return is_done ? EXIT_DONE : EXIT_STORE;
}
