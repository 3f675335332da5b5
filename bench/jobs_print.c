/* bench/jobs_print.c - the figures that only cairn bench jobs has.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "bench/jobs.h"

#include <inttypes.h>
#include <stdio.h>

static void print_backlog(const struct job_backlog *backlog)
{
    printf("claim of one:       %" PRId64 " us with %" PRIu64 " waiting, %" PRId64
           " us with %" PRIu64 ": %.2f times\n",
           backlog->one_few_us, backlog->few, backlog->one_many_us, backlog->many,
           ratio(backlog->one_many_us, backlog->one_few_us));
    printf("claim of a batch:   %" PRId64 " us with %" PRIu64 " waiting, %" PRId64
           " us with %" PRIu64 ": %.2f times\n",
           backlog->batch_few_us, backlog->few, backlog->batch_many_us, backlog->many,
           ratio(backlog->batch_many_us, backlog->batch_few_us));
}

void job_print_more(const struct bench *base)
{
    const struct job_bench *bench = (const struct job_bench *)base;
    const struct job_latency *latency = &bench->latency;
    printf("\nenqueue to start:   p50 %" PRId64 " us, p99 %" PRId64 " us"
           " (from the answer: p50 %" PRId64 " us, p99 %" PRId64 " us), %zu samples\n",
           latency->call_p50_us, latency->call_p99_us, latency->commit_p50_us,
           latency->commit_p99_us, latency->samples);
    if (bench->backlog.many)
        print_backlog(&bench->backlog);
}

static void put_latency(struct json_out *out, const struct job_latency *latency)
{
    json_key(out, "latency");
    json_open(out, '{');
    figure_int(out, "samples", (int64_t)latency->samples);
    figure_int(out, "p50_us", latency->call_p50_us);
    figure_int(out, "p99_us", latency->call_p99_us);
    figure_int(out, "from_answer_p50_us", latency->commit_p50_us);
    figure_int(out, "from_answer_p99_us", latency->commit_p99_us);
    json_close(out, '}');
}

static void put_backlog(struct json_out *out, const struct job_backlog *backlog)
{
    json_key(out, "backlog");
    json_open(out, '{');
    figure_int(out, "few", (int64_t)backlog->few);
    figure_int(out, "many", (int64_t)backlog->many);
    figure_int(out, "claim_one_few_us", backlog->one_few_us);
    figure_int(out, "claim_one_many_us", backlog->one_many_us);
    figure_real(out, "claim_one_ratio", ratio(backlog->one_many_us, backlog->one_few_us));
    figure_int(out, "claim_batch_few_us", backlog->batch_few_us);
    figure_int(out, "claim_batch_many_us", backlog->batch_many_us);
    figure_real(out, "claim_batch_ratio", ratio(backlog->batch_many_us, backlog->batch_few_us));
    json_close(out, '}');
}

void job_put_more(const struct bench *base, struct json_out *out)
{
    const struct job_bench *bench = (const struct job_bench *)base;
    put_latency(out, &bench->latency);
    if (bench->backlog.many)
        put_backlog(out, &bench->backlog);
}
