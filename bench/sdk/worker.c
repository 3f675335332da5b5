/* bench/sdk/worker.c - no-op jobs through the library's worker; see bench/sdk/compare.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 *     worker URL COUNT THREADS      prints jobs a second
 */
#include <cairn.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { BATCH = 1000 };

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
    static cairn_job_spec specs[BATCH];
    static cairn_enqueued enqueued[BATCH];
    for (size_t i = 0; i < BATCH; i++) {
        specs[i] = (cairn_job_spec)CAIRN_JOB_DEFAULTS;
        specs[i].type = "noop.v1";
        specs[i].payload = "17";
    }
    for (size_t left = count; left > 0;) {
        size_t some = left < BATCH ? left : BATCH;
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
    if (!code)
        code = work(engine, (uint32_t)strtoul(argv[3], NULL, 10), &seconds, &error);
    cairn_close(engine);
    if (code) {
        fprintf(stderr, "worker: %s\n", error.message);
        return 1;
    }
    printf("%.0f\n", (double)count / seconds);
    return 0;
}
