/* cli/bench_flow_print.c - the figures of cairn bench workflows.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "base/clock.h"
#include "base/json.h"
#include "base/mem.h"
#include "cli/bench_flow.h"
#include "cli/call.h"
#include "cli/print.h"

#include <inttypes.h>
#include <stdio.h>

static double per_second(uint64_t count, int64_t us)
{
    return us > 0 ? (double)count * 1e6 / (double)us : 0;
}

static int64_t total_us(const struct flow_cost *cost)
{
    return cost->start_us + cost->work_us;
}

static double ratio(int64_t of, int64_t to)
{
    return to > 0 ? (double)of / (double)to : 0;
}

/* Bytes for each sleeping instance, beyond its payload and its steps. */
static double bytes_beyond(const struct flow_sleep *sleep)
{
    int64_t bytes = sleep->grown.instances + sleep->grown.events - sleep->payload;
    return (double)bytes / (double)sleep->count;
}

/* ---- for eyes --------------------------------------------------------------------------- */

static void add_cost(struct grid *grid, const char *name, size_t batch,
                     const struct flow_cost *cost)
{
    char texts[6][40];
    snprintf(texts[0], 40, "%s, batch %zu", name, batch);
    snprintf(texts[1], 40, "%.0f/s", per_second(cost->instances, cost->start_us));
    snprintf(texts[2], 40, "%.0f/s", per_second(cost->steps, cost->work_us));
    snprintf(texts[3], 40, "%.0f/s", per_second(cost->instances, total_us(cost)));
    snprintf(texts[4], 40, "%" PRIu64, cost->commits);
    if (cost->bytes < 0)
        snprintf(texts[5], 40, "-");
    else
        snprintf(texts[5], 40, "%" PRId64 " (%.0f a step)", cost->bytes,
                 (double)cost->bytes / (double)cost->steps);
    const char *cells[] = {texts[0], texts[1], texts[2], texts[3], texts[4], texts[5]};
    grid_row(grid, cells, 6);
}

static void add_ratio(struct grid *grid, const struct flow_run *run)
{
    char texts[4][32];
    snprintf(texts[0], 32, "engine / raw, batch %zu", run->batch);
    snprintf(texts[1], 32, "%.2f", ratio(run->raw.start_us, run->engine.start_us));
    snprintf(texts[2], 32, "%.2f", ratio(run->raw.work_us, run->engine.work_us));
    snprintf(texts[3], 32, "%.2f", ratio(total_us(&run->raw), total_us(&run->engine)));
    const char *cells[] = {texts[0], texts[1], texts[2], texts[3], "", ""};
    grid_row(grid, cells, 6);
}

static void print_length(const struct flow_length *length)
{
    printf("\ncost of a step:     %" PRId64 " us in the first thousand, %" PRId64
           " us in the last: %.2f times (medians)\n",
           length->first_us, length->last_us, ratio(length->last_us, length->first_us));
    printf(
        "CPU of a step:      %.1f us in the first thousand, %.1f us in the last: %.2f times\n",
        (double)length->first_cpu_us / FLOW_PORTION, (double)length->last_cpu_us / FLOW_PORTION,
        ratio(length->last_cpu_us, length->first_cpu_us));
    printf("peak memory:        %.1f MB\n", (double)length->peak_bytes / 1e6);
}

static void print_sleep(const struct flow_sleep *sleep)
{
    double count = (double)sleep->count;
    printf("\nsleeping:           %" PRIu64 " instances, %.0f started/s\n", sleep->count,
           per_second(sleep->count, sleep->start_us));
    if (sleep->grown.instances >= 0)
        printf("database:           %.0f bytes an instance beyond its payload and steps "
               "(row %.0f, events %.0f), and %.0f for its step\n",
               bytes_beyond(sleep), (double)sleep->grown.instances / count,
               (double)sleep->grown.events / count, (double)sleep->grown.steps / count);
    printf("idle:               %" PRId64 " us of CPU in %.1f s\n", sleep->cpu_us,
           (double)sleep->idle_us / US_PER_SEC);
}

void flow_print_table(const struct flow_report *report)
{
    static const char *const head[] = {"",          "INSTANCES STARTED", "STEPS",
                                       "INSTANCES", "COMMITS",           "BYTES WRITTEN"};
    const struct bench *base = &report->bench->base;
    struct grid grid = {0};
    grid_row(&grid, head, 6);
    for (size_t i = 0; i < report->run_count; i++) {
        const struct flow_run *run = &report->runs[i];
        add_cost(&grid, "engine", run->batch, &run->engine);
        if (report->is_raw) {
            add_cost(&grid, "raw", run->batch, &run->raw);
            add_ratio(&grid, run);
        }
    }
    printf("%s, %d step%s, %zu worker%s, seed %" PRIu64 "\n\n", cairn_url(base->engine),
           (int)report->bench->steps, report->bench->steps == 1 ? "" : "s", base->workers,
           base->workers == 1 ? "" : "s", base->seed);
    grid_print(&grid);
    grid_done(&grid);
    if (report->length.last_us)
        print_length(&report->length);
    if (report->sleeping.count)
        print_sleep(&report->sleeping);
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

/* -1: nobody knows. */
static void put_known(struct json_out *out, const char *key, int64_t value)
{
    json_key(out, key);
    if (value < 0)
        json_raw(out, NULL);
    else
        json_int(out, value);
}

static void put_cost(struct json_out *out, const char *key, const struct flow_cost *cost)
{
    json_key(out, key);
    json_open(out, '{');
    put_real(out, "started_per_s", per_second(cost->instances, cost->start_us));
    put_real(out, "steps_per_s", per_second(cost->steps, cost->work_us));
    put_real(out, "instances_per_s", per_second(cost->instances, total_us(cost)));
    put_int(out, "start_us", cost->start_us);
    put_int(out, "work_us", cost->work_us);
    put_int(out, "commits", (int64_t)cost->commits);
    put_known(out, "bytes_written", cost->bytes);
    json_close(out, '}');
}

static void put_run(struct json_out *out, const struct flow_run *run, bool is_raw)
{
    json_open(out, '{');
    put_int(out, "batch", (int64_t)run->batch);
    put_int(out, "instances", (int64_t)run->engine.instances);
    put_int(out, "steps", (int64_t)run->engine.steps);
    put_cost(out, "engine", &run->engine);
    if (is_raw) {
        put_cost(out, "raw", &run->raw);
        put_real(out, "start_ratio", ratio(run->raw.start_us, run->engine.start_us));
        put_real(out, "work_ratio", ratio(run->raw.work_us, run->engine.work_us));
        put_real(out, "ratio", ratio(total_us(&run->raw), total_us(&run->engine)));
    }
    json_close(out, '}');
}

static void put_length(struct json_out *out, const struct flow_length *length)
{
    json_key(out, "length");
    json_open(out, '{');
    put_int(out, "first_step_us", length->first_us);
    put_int(out, "last_step_us", length->last_us);
    put_real(out, "ratio", ratio(length->last_us, length->first_us));
    put_real(out, "first_step_cpu_us", (double)length->first_cpu_us / FLOW_PORTION);
    put_real(out, "last_step_cpu_us", (double)length->last_cpu_us / FLOW_PORTION);
    put_real(out, "cpu_ratio", ratio(length->last_cpu_us, length->first_cpu_us));
    put_known(out, "peak_bytes", length->peak_bytes);
    json_close(out, '}');
}

static void put_sleep(struct json_out *out, const struct flow_sleep *sleep)
{
    json_key(out, "sleeping");
    json_open(out, '{');
    put_int(out, "instances", (int64_t)sleep->count);
    put_real(out, "started_per_s", per_second(sleep->count, sleep->start_us));
    put_known(out, "instance_bytes", sleep->grown.instances);
    put_known(out, "step_bytes", sleep->grown.steps);
    put_known(out, "event_bytes", sleep->grown.events);
    if (sleep->grown.instances >= 0)
        put_real(out, "bytes_beyond", bytes_beyond(sleep));
    put_int(out, "idle_us", sleep->idle_us);
    put_int(out, "idle_cpu_us", sleep->cpu_us);
    json_close(out, '}');
}

void flow_print_json(const struct flow_report *report)
{
    cleanup(buf_donep) struct buf text = {0};
    struct json_out out = {.buf = &text};
    const struct bench *base = &report->bench->base;
    json_open(&out, '{');
    json_key(&out, "url");
    json_str(&out, cairn_url(base->engine));
    put_int(&out, "seed", (int64_t)base->seed);
    put_int(&out, "workers", (int64_t)base->workers);
    put_int(&out, "steps", report->bench->steps);
    json_key(&out, "runs");
    json_open(&out, '[');
    for (size_t i = 0; i < report->run_count; i++)
        put_run(&out, &report->runs[i], report->is_raw);
    json_close(&out, ']');
    if (report->length.last_us)
        put_length(&out, &report->length);
    if (report->sleeping.count)
        put_sleep(&out, &report->sleeping);
    json_close(&out, '}');
    puts(buf_text(&text));
}
