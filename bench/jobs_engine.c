/* bench/jobs_engine.c - jobs through the engine: enqueue, then claim and complete.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "base/mem.h"
#include "bench/jobs.h"

static cairn_code enqueue_share(struct bench_lane *lane)
{
    struct bench *bench = lane->bench;
    cairn_job_spec specs[BENCH_BATCH_MAX];
    cairn_enqueued enqueued[BENCH_BATCH_MAX];
    for (size_t i = 0; i < lane->batch; i++) {
        specs[i] = (cairn_job_spec)CAIRN_JOB_DEFAULTS;
        specs[i].type = bench->type;
        specs[i].payload = BENCH_PAYLOAD;
    }
    for (uint64_t left = lane->count; left > 0;) {
        size_t count = left < lane->batch ? (size_t)left : lane->batch;
        cairn_code code = cairn_enqueue(bench->engine, specs, count, enqueued, &lane->error);
        if (code)
            return code;
        left -= count;
    }
    return CAIRN_OK;
}

static void *run_enqueue(void *arg)
{
    struct bench_lane *lane = arg;
    lane->code = enqueue_share(lane);
    return NULL;
}

int job_enqueue_all(struct bench *bench, uint64_t count, size_t batch)
{
    size_t threads = bench->threads;
    cleanup(mem_freep) struct bench_lane *lanes = mem_zalloc(threads * sizeof *lanes);
    if (!lanes)
        return bench_no_memory();
    for (size_t i = 0; i < threads; i++)
        lanes[i] = (struct bench_lane){
            .bench = bench,
            .count = count / threads + (i < count % threads),
            .batch = batch,
        };
    return bench_run_lanes(lanes, threads, run_enqueue);
}

struct job_work {
    struct bench *bench;
    uint64_t count;
    size_t batch;
};

static int enqueue_all(void *arg)
{
    struct job_work *work = arg;
    return job_enqueue_all(work->bench, work->count, work->batch);
}

static int work_all(void *arg)
{
    struct job_work *work = arg;
    struct bench_order order = {.batch = work->batch, .lanes = work->bench->threads};
    struct bench_share share;
    return bench_work(work->bench, &order, &share);
}

int job_engine(struct bench *bench, uint64_t count, size_t batch, struct bench_cost *ret_cost)
{
    struct job_work work = {.bench = bench, .count = count, .batch = batch};
    return bench_measure(bench, enqueue_all, work_all, &work, ret_cost);
}
