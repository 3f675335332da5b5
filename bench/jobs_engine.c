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

static int enqueue_all(void *arg)
{
    struct bench_lane *lanes = arg;
    return bench_run_lanes(lanes, lanes->bench->workers, run_enqueue);
}

static int work_all(void *arg)
{
    struct bench_lane *lanes = arg;
    return bench_run_lanes(lanes, lanes->bench->workers, bench_work_lane);
}

int job_engine(struct bench *bench, uint64_t count, size_t batch, struct bench_cost *ret_cost)
{
    size_t workers = bench->workers;
    cleanup(mem_freep) struct bench_lane *lanes = mem_zalloc(workers * sizeof *lanes);
    cleanup(mem_freep) cairn_report *reports = mem_zalloc(workers * batch * sizeof *reports);
    if (!lanes || !reports)
        return bench_no_memory();
    for (size_t i = 0; i < workers; i++)
        lanes[i] = (struct bench_lane){
            .bench = bench,
            .count = count / workers + (i < count % workers),
            .batch = batch,
            .reports = reports + i * batch,
        };
    return bench_measure(bench, enqueue_all, work_all, lanes, ret_cost);
}
