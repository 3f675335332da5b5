/* bench/lane.c - threads that do the same, and what the machine says of them.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "base/clock.h"
#include "base/mem.h"
#include "bench/bench.h"
#include "bench/raw.h"
#include "cli/say.h"

#include <inttypes.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

int bench_no_memory(void)
{
    say_error("memory ran out");
    return EXIT_NO;
}

int bench_run_lanes(struct bench_lane *lanes, size_t count, void *(*run)(void *))
{
    pthread_t threads[BENCH_LANES_MAX];
    size_t started = 0;
    while (started < count && !pthread_create(&threads[started], NULL, run, &lanes[started]))
        started++;
    for (size_t i = 0; i < started; i++)
        pthread_join(threads[i], NULL);
    if (started < count) {
        say_error("could not start a thread");
        return EXIT_NO;
    }
    for (size_t i = 0; i < count; i++)
        if (lanes[i].code)
            return say_failure(&lanes[i].error);
    return EXIT_DONE;
}

/* ---- claim and complete --------------------------------------------------------------------- */

static size_t make_reports(const cairn_page *tasks, const char *output, cairn_report *reports)
{
    size_t count = tasks ? cairn_page_count(tasks) : 0;
    for (size_t i = 0; i < count; i++) {
        const cairn_task *task = cairn_page_task(tasks, i);
        reports[i] = (cairn_report)CAIRN_REPORT_DEFAULTS;
        reports[i].task_id = task->id;
        reports[i].token = task->token;
        reports[i].output = output;
    }
    return count;
}

static void stamp(struct bench_lane *lane, size_t count)
{
    int64_t now_us = lane->stamps ? monotonic_us() : 0;
    int64_t cpu_us = lane->stamps ? bench_cpu_us() : 0;
    for (size_t i = 0; lane->stamps && i < count && lane->done + i < lane->stamps_room; i++) {
        lane->stamps[lane->done + i] = now_us;
        lane->cpu_stamps[lane->done + i] = cpu_us;
    }
    lane->done += count;
}

cairn_code bench_claim_if_none(struct bench *bench, const cairn_claim_options *claim,
                               cairn_page **tasks, cairn_error *reterr)
{
    if (*tasks && cairn_page_count(*tasks) > 0)
        return CAIRN_OK;
    cairn_page_free(*tasks);
    *tasks = NULL;
    return cairn_claim(bench->engine, claim, tasks, reterr);
}

static cairn_code work_share(struct bench_lane *lane)
{
    struct bench *bench = lane->bench;
    cairn_page *tasks = NULL;
    cairn_claim_options claim = CAIRN_CLAIM_DEFAULTS;
    claim.worker = BENCH_WORKER;
    claim.types = (const char *[]){bench->type};
    claim.type_count = 1;
    claim.max = (uint32_t)lane->batch;

    cairn_code code = cairn_claim(bench->engine, &claim, &tasks, &lane->error);
    while (!code && cairn_page_count(tasks) > 0) {
        cairn_page *next = NULL;
        size_t count = make_reports(tasks, lane->output, lane->reports);
        code = cairn_report_many(bench->engine, BENCH_WORKER, lane->reports, count, NULL,
                                 &claim, &next, &lane->error);
        cairn_page_free(tasks);
        tasks = next;
        stamp(lane, count);
        if (!code)
            code = bench_claim_if_none(bench, &claim, &tasks, &lane->error);
    }
    cairn_page_free(tasks);
    return code;
}

static void *run_claims(void *arg)
{
    struct bench_lane *lane = arg;
    lane->code = work_share(lane);
    return NULL;
}

int bench_drain_tasks(struct bench *bench, const struct bench_order *order,
                      struct bench_share *ret_share)
{
    size_t count = order->lanes, batch = order->batch;
    cleanup(mem_freep) struct bench_lane *lanes = mem_zalloc(count * sizeof *lanes);
    cleanup(mem_freep) cairn_report *reports = mem_zalloc(count * batch * sizeof *reports);
    if (!lanes || !reports)
        return bench_no_memory();
    for (size_t i = 0; i < count; i++)
        lanes[i] = (struct bench_lane){.bench = bench,
                                       .batch = batch,
                                       .reports = reports + i * batch,
                                       .output = bench->kind->has_steps ? BENCH_PAYLOAD : NULL,
                                       .stamps = i == 0 ? order->stamps : NULL,
                                       .cpu_stamps =
                                           order->stamps ? order->stamps + bench->steps : NULL,
                                       .stamps_room = (uint64_t)bench->steps};
    int exit_code = bench_run_lanes(lanes, count, run_claims);
    for (size_t i = 0; i < count; i++)
        ret_share->done += lanes[i].done;
    return exit_code;
}

/* ---- starting instances --------------------------------------------------------------------- */

int bench_deploy(struct bench *bench, const char *text)
{
    cairn_error error = {0};
    return cairn_workflow_deploy(bench->engine, "bench", text, NULL, &error)
               ? say_failure(&error)
               : EXIT_DONE;
}

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
    options.input = BENCH_PAYLOAD;
    while (!lane->code && atomic_fetch_add(&starting->next, 1) < starting->total) {
        cairn_enqueued started;
        lane->code =
            cairn_instance_start(lane->bench->engine, &options, &started, &lane->error);
    }
    return NULL;
}

int bench_start_all(struct bench *bench, const char *workflow, uint64_t count, size_t callers)
{
    struct starting starting = {.workflow = workflow, .total = count};
    if (callers > BENCH_LANES_MAX)
        callers = BENCH_LANES_MAX;
    cleanup(mem_freep) struct bench_lane *lanes = mem_zalloc(callers * sizeof *lanes);
    if (!lanes)
        return bench_no_memory();
    for (size_t i = 0; i < callers; i++)
        lanes[i] = (struct bench_lane){.bench = bench, .arg = &starting};
    return bench_run_lanes(lanes, callers, start_some);
}

/* ---- what the machine says ------------------------------------------------------------------ */

int64_t bench_bytes(const struct bench *bench)
{
    return strncmp(bench->url, "postgres", 8) == 0 ? raw_postgres_written(bench->url)
                                                   : bench_own_bytes(bench);
}

int64_t bench_own_bytes(const struct bench *bench)
{
    if (strncmp(bench->url, "sqlite:", 7) != 0)
        return -1;
    FILE *file = fopen("/proc/self/io", "re");
    char line[128];
    int64_t bytes = -1;
    while (file && fgets(line, sizeof line, file))
        if (sscanf(line, "write_bytes: %" SCNd64, &bytes) == 1)
            break;
    if (file)
        fclose(file);
    return bytes;
}

uint64_t bench_commits(const struct bench *bench)
{
    cairn_stats stats = {.size = sizeof stats};
    return cairn_stats_get(bench->engine, &stats, NULL) ? 0 : stats.commits;
}

int64_t bench_cpu_us(void)
{
    struct rusage usage;
    if (getrusage(RUSAGE_SELF, &usage))
        return 0;
    return ((int64_t)usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) * US_PER_SEC +
           usage.ru_utime.tv_usec + usage.ru_stime.tv_usec;
}

static int compare(const void *one, const void *other)
{
    int64_t a = *(const int64_t *)one, b = *(const int64_t *)other;
    return (a > b) - (a < b);
}

int64_t percentile(int64_t *values, size_t count, int percent)
{
    if (count == 0)
        return 0;
    qsort(values, count, sizeof *values, compare);
    size_t at = count * (size_t)percent / 100;
    return values[at < count ? at : count - 1];
}
