/* cli/bench_print.h - the figures of cairn bench jobs, for eyes and as JSON.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef CLI_BENCH_PRINT_H
#define CLI_BENCH_PRINT_H

#include "cli/bench.h"

struct bench_report {
    const struct bench *bench;
    bool is_raw;
    struct bench_run runs[2]; /* one at a time, in batches */
    struct bench_latency latency;
    struct bench_backlog backlog; /* many 0: not measured */
};

void bench_print_table(const struct bench_report *report);
void bench_print_json(const struct bench_report *report);

#endif
