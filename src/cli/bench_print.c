/* cli/bench_print.c - the figures of cairn bench jobs.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "cli/bench_print.h"

#include "base/clock.h"
#include "base/json.h"
#include "base/mem.h"
#include "cli/call.h"
#include "cli/print.h"

#include <inttypes.h>
#include <stdio.h>

static double per_second(uint64_t count, int64_t us)
{
    return us > 0 ? (double)count * 1e6 / (double)us : 0;
}

static int64_t total_us(const struct bench_cost *cost)
{
    return cost->enqueue_us + cost->work_us;
}

static double ratio(int64_t of, int64_t to)
{
    return to > 0 ? (double)of / (double)to : 0;
}

/* ---- for eyes --------------------------------------------------------------------------- */

static void add_cost(struct grid *grid, const char *name, size_t batch,
                     const struct bench_cost *cost)
{
    char texts[6][32];
    snprintf(texts[0], 32, "%s, batch %zu", name, batch);
    snprintf(texts[1], 32, "%.0f/s", per_second(cost->jobs, cost->enqueue_us));
    snprintf(texts[2], 32, "%.0f/s", per_second(cost->jobs, cost->work_us));
    snprintf(texts[3], 32, "%.0f/s", per_second(cost->jobs, total_us(cost)));
    snprintf(texts[4], 32, "%" PRIu64, cost->commits);
    if (cost->bytes < 0)
        snprintf(texts[5], 32, "-");
    else
        snprintf(texts[5], 32, "%" PRId64 " (%.0f a job)", cost->bytes,
                 (double)cost->bytes / (double)cost->jobs);
    const char *cells[] = {texts[0], texts[1], texts[2], texts[3], texts[4], texts[5]};
    grid_row(grid, cells, 6);
}

static void add_ratio(struct grid *grid, const struct bench_run *run)
{
    char texts[4][32];
    snprintf(texts[0], 32, "engine / raw, batch %zu", run->batch);
    snprintf(texts[1], 32, "%.2f", ratio(run->raw.enqueue_us, run->engine.enqueue_us));
    snprintf(texts[2], 32, "%.2f", ratio(run->raw.work_us, run->engine.work_us));
    snprintf(texts[3], 32, "%.2f", ratio(total_us(&run->raw), total_us(&run->engine)));
    const char *cells[] = {texts[0], texts[1], texts[2], texts[3], "", ""};
    grid_row(grid, cells, 6);
}

static void print_backlog(const struct bench_backlog *backlog)
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

void bench_print_table(const struct bench_report *report)
{
    static const char *const head[] = {"",    "ENQUEUE", "CLAIM+COMPLETE",
                                       "ALL", "COMMITS", "BYTES WRITTEN"};
    const struct bench_latency *latency = &report->latency;
    struct grid grid = {0};
    grid_row(&grid, head, 6);
    for (int i = 0; i < 2; i++) {
        const struct bench_run *run = &report->runs[i];
        add_cost(&grid, "engine", run->batch, &run->engine);
        if (report->is_raw) {
            add_cost(&grid, "raw", run->batch, &run->raw);
            add_ratio(&grid, run);
        }
    }
    printf("%s, %zu worker%s, seed %" PRIu64 "\n\n", cairn_url(report->bench->engine),
           report->bench->workers, report->bench->workers == 1 ? "" : "s", report->bench->seed);
    grid_print(&grid);
    grid_done(&grid);
    printf("\nenqueue to start:   p50 %" PRId64 " us, p99 %" PRId64 " us"
           " (from the answer: p50 %" PRId64 " us, p99 %" PRId64 " us), %zu samples\n",
           latency->call_p50_us, latency->call_p99_us, latency->commit_p50_us,
           latency->commit_p99_us, latency->samples);
    if (report->backlog.many)
        print_backlog(&report->backlog);
}

/* ---- JSON ------------------------------------------------------------------------------- */

static void put_int(struct json_out *out, const char *key, int64_t value)
{
    json_key(out, key);
    json_int(out, value);
}

static void put_real(struct json_out *out, const char *key, double value)
{
    char text[48];
    snprintf(text, sizeof text, "%.3f", value);
    json_key(out, key);
    json_raw(out, text);
}

static void put_cost(struct json_out *out, const char *key, const struct bench_cost *cost)
{
    json_key(out, key);
    json_open(out, '{');
    put_real(out, "enqueue_per_s", per_second(cost->jobs, cost->enqueue_us));
    put_real(out, "work_per_s", per_second(cost->jobs, cost->work_us));
    put_real(out, "jobs_per_s", per_second(cost->jobs, total_us(cost)));
    put_int(out, "enqueue_us", cost->enqueue_us);
    put_int(out, "work_us", cost->work_us);
    put_int(out, "commits", (int64_t)cost->commits);
    json_key(out, "bytes_written");
    if (cost->bytes < 0)
        json_raw(out, NULL);
    else
        json_int(out, cost->bytes);
    json_close(out, '}');
}

static void put_run(struct json_out *out, const struct bench_run *run, bool is_raw)
{
    json_open(out, '{');
    put_int(out, "batch", (int64_t)run->batch);
    put_int(out, "jobs", (int64_t)run->engine.jobs);
    put_cost(out, "engine", &run->engine);
    if (is_raw) {
        put_cost(out, "raw", &run->raw);
        put_real(out, "enqueue_ratio", ratio(run->raw.enqueue_us, run->engine.enqueue_us));
        put_real(out, "work_ratio", ratio(run->raw.work_us, run->engine.work_us));
        put_real(out, "ratio", ratio(total_us(&run->raw), total_us(&run->engine)));
    }
    json_close(out, '}');
}

static void put_latency(struct json_out *out, const struct bench_latency *latency)
{
    json_key(out, "latency");
    json_open(out, '{');
    put_int(out, "samples", (int64_t)latency->samples);
    put_int(out, "p50_us", latency->call_p50_us);
    put_int(out, "p99_us", latency->call_p99_us);
    put_int(out, "from_answer_p50_us", latency->commit_p50_us);
    put_int(out, "from_answer_p99_us", latency->commit_p99_us);
    json_close(out, '}');
}

static void put_backlog(struct json_out *out, const struct bench_backlog *backlog)
{
    json_key(out, "backlog");
    json_open(out, '{');
    put_int(out, "few", (int64_t)backlog->few);
    put_int(out, "many", (int64_t)backlog->many);
    put_int(out, "claim_one_few_us", backlog->one_few_us);
    put_int(out, "claim_one_many_us", backlog->one_many_us);
    put_real(out, "claim_one_ratio", ratio(backlog->one_many_us, backlog->one_few_us));
    put_int(out, "claim_batch_few_us", backlog->batch_few_us);
    put_int(out, "claim_batch_many_us", backlog->batch_many_us);
    put_real(out, "claim_batch_ratio", ratio(backlog->batch_many_us, backlog->batch_few_us));
    json_close(out, '}');
}

void bench_print_json(const struct bench_report *report)
{
    cleanup(buf_donep) struct buf text = {0};
    struct json_out out = {.buf = &text};
    json_open(&out, '{');
    json_key(&out, "url");
    json_str(&out, cairn_url(report->bench->engine));
    put_int(&out, "seed", (int64_t)report->bench->seed);
    put_int(&out, "workers", (int64_t)report->bench->workers);
    json_key(&out, "runs");
    json_open(&out, '[');
    for (int i = 0; i < 2; i++)
        put_run(&out, &report->runs[i], report->is_raw);
    json_close(&out, ']');
    put_latency(&out, &report->latency);
    if (report->backlog.many)
        put_backlog(&out, &report->backlog);
    json_close(&out, '}');
    puts(buf_text(&text));
}
