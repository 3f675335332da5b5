/* bench/jobs_latency.c - how long from enqueue to start, with a worker that waits in a claim.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "base/clock.h"
#include "base/mem.h"
#include "bench/jobs.h"
#include "cli/say.h"

#include <pthread.h>
#include <semaphore.h>
#include <time.h>

struct waiter {
    struct bench *bench;
    size_t samples;
    int64_t *started_us; /* monotonic, one for each sample */
    sem_t done;          /* a job has been completed */
    cairn_code code;
    cairn_error error;
};

static cairn_code take_one(struct waiter *waiter, int64_t *ret_started_us)
{
    cairn_page *tasks = NULL;
    cairn_claim_options claim = CAIRN_CLAIM_DEFAULTS;
    claim.worker = BENCH_WORKER;
    claim.types = (const char *[]){waiter->bench->type};
    claim.type_count = 1;
    claim.wait_ms = 20000;
    cairn_code code = cairn_claim(waiter->bench->engine, &claim, &tasks, &waiter->error);
    if (code)
        return code;
    *ret_started_us = monotonic_us();
    if (cairn_page_count(tasks) == 0)
        code = fail(&waiter->error, CAIRN_E_NOT_FOUND,
                    "a job was enqueued and did not reach a waiting claim in 20 s");
    else
        code = cairn_task_complete(waiter->bench->engine, BENCH_WORKER,
                                   cairn_page_task(tasks, 0), NULL, &waiter->error);
    cairn_page_free(tasks);
    return code;
}

static void *wait_for_jobs(void *arg)
{
    struct waiter *waiter = arg;
    for (size_t i = 0; i < waiter->samples && !waiter->code; i++) {
        waiter->code = take_one(waiter, &waiter->started_us[i]);
        sem_post(&waiter->done);
    }
    return NULL;
}

/* Long enough for the waiter to be waiting again. */
static void pause_for_claim(void)
{
    nanosleep(&(struct timespec){.tv_nsec = 3000000}, NULL);
}

/* Enqueues one job after the other; call_us and answer_us become latencies. */
static cairn_code enqueue_samples(struct waiter *waiter, int64_t *call_us, int64_t *answer_us,
                                  cairn_error *reterr)
{
    cairn_job_spec spec = CAIRN_JOB_DEFAULTS;
    spec.type = waiter->bench->type;
    spec.payload = BENCH_PAYLOAD;
    for (size_t i = 0; i < waiter->samples; i++) {
        cairn_enqueued enqueued;
        pause_for_claim();
        int64_t begin_us = monotonic_us();
        cairn_code code = cairn_enqueue(waiter->bench->engine, &spec, 1, &enqueued, reterr);
        int64_t end_us = monotonic_us();
        if (code)
            return code;
        sem_wait(&waiter->done);
        if (waiter->code)
            return CAIRN_OK; /* the waiter's own error is told instead */
        call_us[i] = waiter->started_us[i] - begin_us;
        /* One commit answers both, so the worker may even be told first. */
        answer_us[i] = waiter->started_us[i] > end_us ? waiter->started_us[i] - end_us : 0;
        if (i % 20 == 0)
            say_progress("latency: %zu of %zu", i, waiter->samples);
    }
    return CAIRN_OK;
}

int job_latency(struct job_bench *bench, size_t samples)
{
    cairn_error error = {0};
    pthread_t thread;
    cleanup(mem_freep) int64_t *times = mem_zalloc(3 * samples * sizeof *times);
    struct waiter waiter = {.bench = &bench->base, .samples = samples, .started_us = times};
    if (!times || sem_init(&waiter.done, 0, 0) ||
        pthread_create(&thread, NULL, wait_for_jobs, &waiter)) {
        say_error("could not start a thread");
        return EXIT_NO;
    }
    int64_t *call_us = times + samples, *answer_us = times + 2 * samples;
    cairn_code code = enqueue_samples(&waiter, call_us, answer_us, &error);
    pthread_join(thread, NULL);
    sem_destroy(&waiter.done);
    if (code || waiter.code)
        return say_failure(code ? &error : &waiter.error);

    bench->latency = (struct job_latency){
        .samples = samples,
        .call_p50_us = percentile(call_us, samples, 50),
        .call_p99_us = percentile(call_us, samples, 99),
        .commit_p50_us = percentile(answer_us, samples, 50),
        .commit_p99_us = percentile(answer_us, samples, 99),
    };
    return EXIT_DONE;
}
