/* bench/jobs_backlog.c - what a claim costs when few jobs wait, and when very many do.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * What was claimed is released again, so the number of waiting jobs stays what it is called.
 */
#include "base/clock.h"
#include "base/mem.h"
#include "bench/jobs.h"
#include "cli/say.h"

#include <inttypes.h>
#include <stdio.h>

enum { FEW = 1000, TYPES = 8, ONE_SAMPLES = 300, BATCH_SAMPLES = 50 };

/* Jobs of several types and three priorities, so that a claim by prefix has something to merge.
 */
static cairn_code fill(struct job_bench *bench, struct rng *rng, uint64_t from, uint64_t to,
                       cairn_error *reterr)
{
    char types[TYPES][BENCH_TYPE + 16];
    cairn_job_spec specs[BENCH_BATCH_MAX];
    cairn_enqueued enqueued[BENCH_BATCH_MAX];
    for (int i = 0; i < TYPES; i++)
        snprintf(types[i], sizeof types[i], "%s.%d", bench->backlog_type, i);
    while (from < to) {
        size_t count = to - from < BENCH_BATCH_MAX ? (size_t)(to - from) : BENCH_BATCH_MAX;
        for (size_t i = 0; i < count; i++) {
            specs[i] = (cairn_job_spec)CAIRN_JOB_DEFAULTS;
            specs[i].type = types[rng_below(rng, TYPES)];
            specs[i].payload = BENCH_PAYLOAD;
            specs[i].priority = 50 * (1 + (int32_t)rng_below(rng, 3));
        }
        cairn_code code = cairn_enqueue(bench->base.engine, specs, count, enqueued, reterr);
        if (code)
            return code;
        from += count;
        say_progress("backlog: %" PRIu64 " of %" PRIu64, from, to);
    }
    return CAIRN_OK;
}

static cairn_code finish_tasks(struct job_bench *bench, const cairn_page *tasks,
                               cairn_outcome outcome, cairn_error *reterr)
{
    cairn_report reports[BENCH_BATCH_MAX];
    size_t count = cairn_page_count(tasks);
    for (size_t i = 0; i < count; i++) {
        reports[i] = (cairn_report)CAIRN_REPORT_DEFAULTS;
        reports[i].task_id = cairn_page_task(tasks, i)->id;
        reports[i].token = cairn_page_task(tasks, i)->token;
        reports[i].outcome = outcome;
    }
    return cairn_report_many(bench->base.engine, BENCH_WORKER, reports, count, NULL, NULL, NULL,
                             reterr);
}

static cairn_code claim_some(struct job_bench *bench, size_t max, cairn_page **ret_tasks,
                             cairn_error *reterr)
{
    char pattern[BENCH_TYPE + 16];
    snprintf(pattern, sizeof pattern, "%s.%%", bench->backlog_type);
    cairn_claim_options claim = CAIRN_CLAIM_DEFAULTS;
    claim.worker = BENCH_WORKER;
    claim.types = (const char *[]){pattern};
    claim.type_count = 1;
    claim.max = (uint32_t)max;
    claim.lease_ms = 600000;
    return cairn_claim(bench->base.engine, &claim, ret_tasks, reterr);
}

static cairn_code time_claims(struct job_bench *bench, size_t max, size_t samples,
                              int64_t *ret_median_us, cairn_error *reterr)
{
    int64_t times[ONE_SAMPLES];
    for (size_t i = 0; i < samples; i++) {
        cairn_page *tasks = NULL;
        int64_t begin_us = monotonic_us();
        cairn_code code = claim_some(bench, max, &tasks, reterr);
        times[i] = monotonic_us() - begin_us;
        if (!code)
            code = finish_tasks(bench, tasks, CAIRN_RELEASE, reterr);
        cairn_page_free(tasks);
        if (code)
            return code;
    }
    *ret_median_us = percentile(times, samples, 50);
    return CAIRN_OK;
}

static cairn_code time_both(struct job_bench *bench, size_t batch, int64_t *ret_one_us,
                            int64_t *ret_batch_us, cairn_error *reterr)
{
    say_progress("backlog: claiming");
    cairn_code code = time_claims(bench, 1, ONE_SAMPLES, ret_one_us, reterr);
    return code ? code : time_claims(bench, batch, BATCH_SAMPLES, ret_batch_us, reterr);
}

int job_backlog(struct job_bench *bench, uint64_t many, size_t batch)
{
    cairn_error error = {0};
    struct rng rng;
    struct job_backlog found = {.few = FEW, .many = many};
    rng_init(&rng, bench->base.seed);
    cairn_code code = fill(bench, &rng, 0, FEW, &error);
    if (!code)
        code = time_both(bench, batch, &found.one_few_us, &found.batch_few_us, &error);
    if (!code)
        code = fill(bench, &rng, FEW, many, &error);
    if (!code)
        code = time_both(bench, batch, &found.one_many_us, &found.batch_many_us, &error);
    if (code)
        return say_failure(&error);
    bench->backlog = found;
    return EXIT_DONE;
}

int job_drain(struct job_bench *bench)
{
    cairn_error error = {0};
    for (uint64_t total = 0;;) {
        cairn_page *tasks = NULL;
        cairn_code code = claim_some(bench, BENCH_BATCH_MAX, &tasks, &error);
        size_t count = code ? 0 : cairn_page_count(tasks);
        if (count)
            code = finish_tasks(bench, tasks, CAIRN_COMPLETE, &error);
        cairn_page_free(tasks);
        if (code)
            return say_failure(&error);
        if (!count)
            return EXIT_DONE;
        total += count;
        say_progress("backlog: %" PRIu64 " completed", total);
    }
}
