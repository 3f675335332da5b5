/* bench/flow_print.c - the figures that only cairn bench workflows has.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "base/clock.h"
#include "bench/flow.h"

#include <inttypes.h>
#include <stdio.h>

/* Bytes for each sleeping instance, beyond its payload and its steps. */
static double bytes_beyond(const struct flow_sleep *sleep)
{
    int64_t bytes = sleep->grown.instances + sleep->grown.events - sleep->payload;
    return (double)bytes / (double)sleep->count;
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

void flow_print_more(const struct bench *base)
{
    const struct flow_bench *bench = (const struct flow_bench *)base;
    if (bench->length.last_us)
        print_length(&bench->length);
    if (bench->sleeping.count)
        print_sleep(&bench->sleeping);
}

static void put_length(struct json_out *out, const struct flow_length *length)
{
    json_key(out, "length");
    json_open(out, '{');
    figure_int(out, "first_step_us", length->first_us);
    figure_int(out, "last_step_us", length->last_us);
    figure_real(out, "ratio", ratio(length->last_us, length->first_us));
    figure_real(out, "first_step_cpu_us", (double)length->first_cpu_us / FLOW_PORTION);
    figure_real(out, "last_step_cpu_us", (double)length->last_cpu_us / FLOW_PORTION);
    figure_real(out, "cpu_ratio", ratio(length->last_cpu_us, length->first_cpu_us));
    figure_known(out, "peak_bytes", length->peak_bytes);
    json_close(out, '}');
}

static void put_sleep(struct json_out *out, const struct flow_sleep *sleep)
{
    json_key(out, "sleeping");
    json_open(out, '{');
    figure_int(out, "instances", (int64_t)sleep->count);
    figure_real(out, "started_per_s", per_second(sleep->count, sleep->start_us));
    figure_known(out, "instance_bytes", sleep->grown.instances);
    figure_known(out, "step_bytes", sleep->grown.steps);
    figure_known(out, "event_bytes", sleep->grown.events);
    if (sleep->grown.instances >= 0)
        figure_real(out, "bytes_beyond", bytes_beyond(sleep));
    figure_int(out, "idle_us", sleep->idle_us);
    figure_int(out, "idle_cpu_us", sleep->cpu_us);
    json_close(out, '}');
}

void flow_put_more(const struct bench *base, struct json_out *out)
{
    const struct flow_bench *bench = (const struct flow_bench *)base;
    if (bench->length.last_us)
        put_length(out, &bench->length);
    if (bench->sleeping.count)
        put_sleep(out, &bench->sleeping);
}
