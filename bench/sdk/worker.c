/* bench/sdk/worker.c - no-op jobs through the library's worker; see bench/sdk/compare.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 *     worker URL COUNT THREADS           prints jobs a second
 *     worker URL COUNT loop              without a worker: one thread claims and reports, BATCH in a call
 */
#include <cairn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { ENQUEUED = 1000, BATCH = 256 };

static cairn_outcome do_nothing(cairn_work *work, void *arg)
{
    (void)arg;
    cairn_work_set_output(work, "null");
    return CAIRN_COMPLETE;
}

static double now(void)
{
    struct timespec at;
    clock_gettime(CLOCK_MONOTONIC, &at);
    return (double)at.tv_sec + (double)at.tv_nsec / 1e9;
}

static cairn_code enqueue(cairn_engine *engine, size_t count, cairn_error *error)
{
    static cairn_job_spec specs[ENQUEUED];
    static cairn_enqueued enqueued[ENQUEUED];
    for (size_t i = 0; i < ENQUEUED; i++) {
        specs[i] = (cairn_job_spec)CAIRN_JOB_DEFAULTS;
        specs[i].type = "noop.v1";
        specs[i].payload = "17";
    }
    for (size_t left = count; left > 0;) {
        size_t some = left < ENQUEUED ? left : ENQUEUED;
        cairn_code code = cairn_enqueue(engine, specs, some, enqueued, error);
        if (code)
            return code;
        left -= some;
    }
    return CAIRN_OK;
}

static cairn_code work(cairn_engine *engine, uint32_t threads, double *ret_seconds,
                       cairn_error *error)
{
    cairn_worker *worker = NULL;
    cairn_worker_options options = CAIRN_WORKER_DEFAULTS;
    options.concurrency = threads;
    options.until_idle = true;
    cairn_code code = cairn_worker_new(engine, &options, &worker, error);
    if (!code)
        code = cairn_worker_handle(worker, "noop.v1", do_nothing, NULL, error);
    double begun = now();
    if (!code)
        code = cairn_worker_run(worker, error);
    *ret_seconds = now() - begun;
    cairn_worker_free(worker);
    return code;
}

/* Reports what was claimed, and claims again, in one call. */
static cairn_code report(cairn_engine *engine, const cairn_claim_options *claim,
                         cairn_page **page, cairn_error *error)
{
    static cairn_report reports[BATCH];
    static cairn_reported reported[BATCH];
    cairn_page *next = NULL;
    size_t count = cairn_page_count(*page);
    for (size_t i = 0; i < count; i++) {
        const cairn_task *task = cairn_page_task(*page, i);
        reports[i] = (cairn_report)CAIRN_REPORT_DEFAULTS;
        reports[i].task_id = task->id;
        reports[i].token = task->token;
        reports[i].outcome = CAIRN_COMPLETE;
        reports[i].output = "null";
    }
    cairn_code code =
        cairn_report_many(engine, claim->worker, reports, count, reported, claim, &next, error);
    cairn_page_free(*page);
    *page = next;
    return code;
}

static cairn_code loop(cairn_engine *engine, double *ret_seconds, cairn_error *error)
{
    const char *types[] = {"noop.v1"};
    cairn_claim_options claim = CAIRN_CLAIM_DEFAULTS;
    cairn_page *page = NULL;
    claim.worker = "loop";
    claim.types = types;
    claim.type_count = 1;
    claim.max = BATCH;
    double begun = now();
    cairn_code code = cairn_claim(engine, &claim, &page, error);
    while (!code && cairn_page_count(page) > 0)
        code = report(engine, &claim, &page, error);
    *ret_seconds = now() - begun;
    cairn_page_free(page);
    return code;
}

int main(int argc, char **argv)
{
    cairn_open_options open = CAIRN_OPEN_DEFAULTS;
    cairn_engine *engine = NULL;
    cairn_error error;
    double seconds = 0;
    if (argc != 4)
        return 2;
    open.url = argv[1];
    size_t count = strtoul(argv[2], NULL, 10);
    cairn_code code = cairn_open(&open, &engine, &error);
    if (!code)
        code = enqueue(engine, count, &error);
    bool is_loop = strcmp(argv[3], "loop") == 0;
    if (!code && is_loop)
        code = loop(engine, &seconds, &error);
    if (!code && !is_loop)
        code = work(engine, (uint32_t)strtoul(argv[3], NULL, 10), &seconds, &error);
    cairn_close(engine);
    if (code) {
        fprintf(stderr, "worker: %s\n", error.message);
        return 1;
    }
    printf("%.0f\n", (double)count / seconds);
    return 0;
}
