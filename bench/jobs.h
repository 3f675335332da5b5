/* bench/jobs.h - the parts of cairn bench jobs.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef BENCH_JOBS_H
#define BENCH_JOBS_H

#include "bench/bench.h"

struct job_latency {
    size_t samples;
    int64_t call_p50_us, call_p99_us;     /* from the call that enqueues to the start */
    int64_t commit_p50_us, commit_p99_us; /* from its answer to the start */
};

/* What a claim costs with few and with many jobs waiting: medians. */
struct job_backlog {
    uint64_t few, many;                  /* many 0: not measured */
    int64_t one_few_us, one_many_us;     /* a claim of one */
    int64_t batch_few_us, batch_many_us; /* a claim of a batch */
};

struct job_bench {
    struct bench base;
    char backlog_type[BENCH_TYPE];
    struct job_latency latency;
    struct job_backlog backlog;
};

#define RAW_CLAIM_DATA "{\"attempt\":1,\"worker\":\"" BENCH_WORKER "\"}"

/* Each answers an exit code. */
int job_enqueue_all(struct bench *bench, uint64_t count, size_t batch);
int job_engine(struct bench *bench, uint64_t count, size_t batch, struct bench_cost *ret_cost);
int job_latency(struct job_bench *bench, size_t samples);
int job_backlog(struct job_bench *bench, uint64_t many, size_t batch);
int job_drain(struct job_bench *bench); /* completes what a backlog has left */

void job_print_more(const struct bench *bench);
void job_put_more(const struct bench *bench, struct json_out *out);

#endif
