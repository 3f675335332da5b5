/* cli/bench_flow_engine.c - workflows through the engine: deploy, start, then claim and complete.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "base/buf.h"
#include "base/clock.h"
#include "base/mem.h"
#include "cli/bench_flow.h"
#include "cli/call.h"
#include "cli/say.h"

#include <inttypes.h>
#include <stdatomic.h>
#include <sys/resource.h>

int flow_deploy(struct flow_bench *bench)
{
    cleanup(buf_donep) struct buf text = {0};
    cairn_error error = {0};
    buf_printf(&text, "{\"workflow\":\"%s\",\"version\":1,\"steps\":[", bench->workflow);
    for (int32_t i = 0; i < bench->steps; i++)
        buf_printf(&text, "%s{\"step\":\"" RAW_STEP_NAME "\",\"handler\":\"%s\"}", i ? "," : "",
                   (int)i, bench->base.type);
    buf_str(&text, "]}");
    if (buf_failed(&text)) {
        say_error("memory ran out");
        return EXIT_NO;
    }
    return cairn_deploy(bench->base.engine, "bench", buf_text(&text), NULL, &error)
               ? say_failure(&error)
               : EXIT_DONE;
}

/* ---- starting --------------------------------------------------------------------------- */

/* Shared by callers that start one instance after the other; those who call at the same time
 * share a commit. */
struct starting {
    const char *workflow;
    _Atomic uint64_t next;
    uint64_t total;
};

static void *start_some(void *arg)
{
    struct bench_lane *lane = arg;
    struct starting *starting = lane->arg;
    cairn_start_options options = CAIRN_START_DEFAULTS;
    options.workflow = starting->workflow;
    options.version = 1;
    options.input = RAW_PAYLOAD;
    while (!lane->code && atomic_fetch_add(&starting->next, 1) < starting->total) {
        cairn_enqueued started;
        lane->code = cairn_start(lane->bench->engine, &options, &started, &lane->error);
    }
    return NULL;
}

int flow_start_all(struct flow_bench *bench, const char *workflow, uint64_t count,
                   size_t callers)
{
    struct starting starting = {.workflow = workflow, .total = count};
    if (callers > BENCH_LANES_MAX)
        callers = BENCH_LANES_MAX;
    cleanup(mem_freep) struct bench_lane *lanes = mem_zalloc(callers * sizeof *lanes);
    if (!lanes) {
        say_error("memory ran out");
        return EXIT_NO;
    }
    for (size_t i = 0; i < callers; i++)
        lanes[i] = (struct bench_lane){.bench = &bench->base, .arg = &starting};
    return bench_run_lanes(lanes, callers, start_some);
}

/* ---- working ---------------------------------------------------------------------------- */

static int work_all(struct flow_bench *bench, size_t batch, int64_t *stamps)
{
    size_t workers = bench->base.workers;
    cleanup(mem_freep) struct bench_lane *lanes = mem_zalloc(workers * sizeof *lanes);
    cleanup(mem_freep) cairn_report *reports = mem_zalloc(workers * batch * sizeof *reports);
    if (!lanes || !reports) {
        say_error("memory ran out");
        return EXIT_NO;
    }
    for (size_t i = 0; i < workers; i++)
        lanes[i] = (struct bench_lane){.bench = &bench->base,
                                       .batch = batch,
                                       .reports = reports + i * batch,
                                       .output = RAW_PAYLOAD,
                                       .stamps = i == 0 ? stamps : NULL,
                                       .cpu_stamps = stamps ? stamps + bench->steps : NULL,
                                       .stamps_room = (uint64_t)bench->steps};
    return bench_run_lanes(lanes, workers, bench_work_lane);
}

static int64_t peak_bytes(void)
{
    struct rusage usage;
    return getrusage(RUSAGE_SELF, &usage) ? -1 : (int64_t)usage.ru_maxrss * 1024;
}

/* A long instance, its steps one at a time by one worker: when each had ended. */
static bool is_long(const struct flow_bench *bench, uint64_t count, size_t batch)
{
    return bench->steps >= 2 * FLOW_PORTION && count == 1 && batch == 1 &&
           bench->base.workers == 1;
}

/* The median, so that a disk that is busy with something else for a while does not count. */
static int64_t median_step_us(const int64_t *stamps)
{
    int64_t took_us[FLOW_PORTION];
    for (size_t i = 0; i < FLOW_PORTION; i++)
        took_us[i] = stamps[i + 1] - stamps[i];
    return percentile(took_us, FLOW_PORTION, 50);
}

static void note_length(const struct flow_bench *bench, const int64_t *stamps,
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

static int measure(struct flow_bench *bench, uint64_t count, size_t batch, int64_t *stamps,
                   struct flow_cost *cost)
{
    int64_t bytes = bench_bytes(&bench->base);
    uint64_t commits = bench_commits(&bench->base);
    int64_t begin_us = monotonic_us();
    int exit_code = flow_start_all(bench, bench->workflow, count,
                                   batch > bench->base.workers ? batch : bench->base.workers);
    int64_t middle_us = monotonic_us();
    if (!exit_code)
        exit_code = work_all(bench, batch, stamps);
    cost->start_us = middle_us - begin_us;
    cost->work_us = monotonic_us() - middle_us;
    cost->commits = bench_commits(&bench->base) - commits;
    cost->bytes = bytes < 0 ? -1 : bench_bytes(&bench->base) - bytes;
    return exit_code;
}

int flow_engine(struct flow_bench *bench, uint64_t count, size_t batch,
                struct flow_length *ret_length, struct flow_cost *ret_cost)
{
    cleanup(mem_freep) int64_t *stamps = NULL;
    *ret_cost = (struct flow_cost){.instances = count, .steps = count * (uint64_t)bench->steps};
    say_progress("engine: %" PRIu64 " instances in batches of %zu", count, batch);
    if (is_long(bench, count, batch)) {
        stamps = mem_zalloc(2 * (size_t)bench->steps * sizeof *stamps);
        if (!stamps) {
            say_error("memory ran out");
            return EXIT_NO;
        }
    }
    int exit_code = measure(bench, count, batch, stamps, ret_cost);
    if (!exit_code && stamps)
        note_length(bench, stamps, ret_length);
    return exit_code;
}
