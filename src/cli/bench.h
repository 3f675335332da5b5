/* cli/bench.h - limits of the options of cairn bench, which cairn-bench relies on.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef CLI_BENCH_H
#define CLI_BENCH_H

enum { BENCH_BATCH_MAX = 1000, BENCH_LANES_MAX = 256, BENCH_WORKERS_MAX = 16 };

#endif
