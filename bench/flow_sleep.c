/* bench/flow_sleep.c - what instances cost that sleep.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "base/buf.h"
#include "base/clock.h"
#include "base/mem.h"
#include "bench/flow.h"
#include "cli/call.h"
#include "cli/say.h"

#include <inttypes.h>
#include <string.h>
#include <time.h>

enum { CALLERS = 200, IDLE_SECONDS = 3 };

static int deploy(struct flow_bench *bench)
{
    char text[512];
    snprintf(text, sizeof text,
             "{\"workflow\":\"%s\",\"version\":1,\"steps\":"
             "[{\"sleep\":\"long\",\"for\":\"1000d\"}]}",
             bench->sleeper);
    return bench_deploy(&bench->base, text);
}

static struct flow_sizes sizes_now(const struct flow_bench *bench)
{
    struct flow_sizes sizes = {.instances = -1, .steps = -1, .events = -1};
    const char *url = bench->base.url;
    if (strncmp(url, "sqlite:", 7) == 0)
        flow_sizes_sqlite(url, &sizes);
    else if (strncmp(url, "postgres", 8) == 0)
        flow_sizes_postgres(url, &sizes);
    return sizes;
}

static void watch_idle(struct flow_sleep *sleep)
{
    int64_t began_us = monotonic_us(), before_us = bench_cpu_us();
    nanosleep(&(struct timespec){.tv_sec = IDLE_SECONDS}, NULL);
    sleep->idle_us = monotonic_us() - began_us;
    sleep->cpu_us = bench_cpu_us() - before_us;
}

static void note_growth(struct flow_sleep *sleep, struct flow_sizes before,
                        struct flow_sizes after)
{
    if (before.instances < 0 || after.instances < 0) {
        sleep->grown = (struct flow_sizes){-1, -1, -1};
        return;
    }
    sleep->grown = (struct flow_sizes){.instances = after.instances - before.instances,
                                       .steps = after.steps - before.steps,
                                       .events = after.events - before.events};
}

/* In a store that the user named, everything that is left has ended. */
static int end_all(struct flow_bench *bench)
{
    cairn_error error = {0};
    cairn_instance_filter filter = CAIRN_INSTANCE_FILTER_DEFAULTS;
    filter.workflow = bench->sleeper;
    filter.status = "running";
    filter.limit = 1000;
    for (uint64_t ended = 0;;) {
        cairn_page *page = NULL;
        cairn_code code = cairn_instance_list(bench->base.engine, &filter, &page, &error);
        size_t count = code ? 0 : cairn_page_count(page);
        for (size_t i = 0; i < count && !code; i++)
            code = cairn_instance_abort(bench->base.engine, cairn_page_instance(page, i)->id,
                                        "bench", "the bench is over", &error);
        cairn_page_free(page);
        if (code)
            return say_failure(&error);
        if (!count)
            return EXIT_DONE;
        ended += count;
        say_progress("sleeping: %" PRIu64 " ended", ended);
    }
}

int flow_sleep(struct flow_bench *bench, uint64_t count)
{
    struct flow_sleep sleep = {.count = count,
                               .payload = (int64_t)(count * strlen(BENCH_PAYLOAD))};
    struct flow_sizes before = sizes_now(bench);
    int exit_code = deploy(bench);
    if (exit_code)
        return exit_code;
    say_progress("sleeping: starting %" PRIu64, count);
    int64_t began_us = monotonic_us();
    exit_code = bench_start_all(&bench->base, bench->sleeper, count, CALLERS);
    sleep.start_us = monotonic_us() - began_us;
    if (exit_code)
        return exit_code;
    watch_idle(&sleep);
    note_growth(&sleep, before, sizes_now(bench));
    bench->sleeping = sleep;
    return bench->base.is_own ? EXIT_DONE : end_all(bench);
}
