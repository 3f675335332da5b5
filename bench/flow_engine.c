/* bench/flow_engine.c - workflows through the engine: deploy, start, then claim and complete.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "base/buf.h"
#include "base/mem.h"
#include "bench/flow.h"
#include "cli/call.h"

#include <sys/resource.h>

int flow_deploy(struct bench *base)
{
    cleanup(buf_donep) struct buf text = {0};
    buf_printf(&text, "{\"workflow\":\"%s\",\"version\":1,\"steps\":[", base->workflow);
    for (int32_t i = 0; i < base->steps; i++)
        buf_printf(&text, "%s{\"step\":\"" RAW_STEP_NAME "\",\"handler\":\"%s\"}", i ? "," : "",
                   (int)i, base->type);
    buf_str(&text, "]}");
    return buf_failed(&text) ? bench_no_memory() : bench_deploy(base, buf_text(&text));
}

struct flow_work {
    struct flow_bench *bench;
    uint64_t count;
    size_t batch;
    int64_t *stamps; /* NULL: not kept */
};

static int start_all(void *arg)
{
    struct flow_work *work = arg;
    struct bench *base = &work->bench->base;
    return bench_start_all(base, base->workflow, work->count,
                           work->batch > base->threads ? work->batch : base->threads);
}

static int work_all(void *arg)
{
    struct flow_work *work = arg;
    struct bench *base = &work->bench->base;
    struct bench_order order = {
        .batch = work->batch, .lanes = base->threads, .stamps = work->stamps};
    struct bench_share share;
    return bench_work(base, &order, &share);
}

static int64_t peak_bytes(void)
{
    struct rusage usage;
    return getrusage(RUSAGE_SELF, &usage) ? -1 : (int64_t)usage.ru_maxrss * 1024;
}

/* A long instance, its steps one at a time by one worker: when each had ended. */
static bool is_long(const struct bench *bench, uint64_t count, size_t batch)
{
    return bench->steps >= 2 * FLOW_PORTION && count == 1 && batch == 1 &&
           bench->threads == 1 && !bench->workers;
}

/* The median, so that a disk that is busy with something else for a while does not count. */
static int64_t median_step_us(const int64_t *stamps)
{
    int64_t took_us[FLOW_PORTION];
    for (size_t i = 0; i < FLOW_PORTION; i++)
        took_us[i] = stamps[i + 1] - stamps[i];
    return percentile(took_us, FLOW_PORTION, 50);
}

static void note_length(const struct bench *bench, const int64_t *stamps,
                        struct flow_length *length)
{
    size_t last = (size_t)bench->steps - 1, from = last - FLOW_PORTION;
    const int64_t *cpu = stamps + bench->steps;
    *length = (struct flow_length){.first_us = median_step_us(stamps),
                                   .last_us = median_step_us(stamps + from),
                                   .first_cpu_us = cpu[FLOW_PORTION] - cpu[0],
                                   .last_cpu_us = cpu[last] - cpu[from],
                                   .peak_bytes = peak_bytes()};
}

int flow_engine(struct bench *base, uint64_t count, size_t batch, struct bench_cost *ret_cost)
{
    struct flow_bench *bench = (struct flow_bench *)base;
    cleanup(mem_freep) int64_t *stamps = NULL;
    if (is_long(base, count, batch)) {
        stamps = mem_zalloc(2 * (size_t)base->steps * sizeof *stamps);
        if (!stamps)
            return bench_no_memory();
    }
    struct flow_work work = {.bench = bench, .count = count, .batch = batch, .stamps = stamps};
    int exit_code = bench_measure(base, start_all, work_all, &work, ret_cost);
    if (!exit_code && stamps)
        note_length(base, stamps, &bench->length);
    return exit_code;
}
