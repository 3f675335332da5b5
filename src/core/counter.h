/* core/counter.h - counters of rows, which stop at the greatest value that their column holds.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * Plain SQL can write any value into a row.  A counter that would pass its column's range stays at the end of it: the row
 * can be written, and whatever has a limit has reached it.
 */
#ifndef CORE_COUNTER_H
#define CORE_COUNTER_H

#include <stdint.h>

static inline int32_t counter_after(int32_t count)
{
    return count < INT32_MAX ? count + 1 : count;
}

static inline int64_t counter_after64(int64_t count)
{
    return count < INT64_MAX ? count + 1 : count;
}

/* A value that a column holds, as a counter. */
static inline int32_t counter_of(int64_t value)
{
    return value > INT32_MAX ? INT32_MAX : value < INT32_MIN ? INT32_MIN : (int32_t)value;
}

#endif
