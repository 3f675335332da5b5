/* core/aging.h - how waiting raises a step's priority: one formula for every store.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef CORE_AGING_H
#define CORE_AGING_H

#include <stdint.h>

/* min(100, priority + floor(seconds since next_run_at * rate)).  Instants are below 2^53 us, so
 * a double holds them exactly, and a rate such as 0.5 makes no error at all. */
static inline int64_t step_effective_priority(int32_t priority, int64_t next_run_at_us,
                                              int64_t now_us, double aging_rate)
{
    double points = ((double)now_us - (double)next_run_at_us) * aging_rate / 1e6;
    if (!(points < 1e10)) /* far beyond any priority, so that it fits the integer below */
        points = 1e10;
    if (points < -1e10)
        points = -1e10;
    int64_t whole = (int64_t)points;
    if ((double)whole > points)
        whole--;
    return priority + whole < 100 ? priority + whole : 100;
}

#endif
