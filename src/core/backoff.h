/* core/backoff.h - how long to wait before a failed call is made again.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef CORE_BACKOFF_H
#define CORE_BACKOFF_H

#include <stdint.h>

enum backoff_kind { BACKOFF_FIXED, BACKOFF_LINEAR, BACKOFF_EXPONENTIAL, BACKOFF_QUADRATIC };

struct backoff {
    enum backoff_kind kind;
    int64_t base_us;
    int64_t max_us; /* 0: no limit */
    double jitter;  /* the part of the delay that chance may add: 0.1 is up to 10 % */
};

extern const struct backoff backoff_for_jobs;  /* quadratic, 1 minute, jitter 0.1 */
extern const struct backoff backoff_for_steps; /* exponential, 1 s, at most 5 min, no jitter */

/* The delay before call n+1 after n failed calls (n >= 1): base; base*n; base*2^(n-1);
 * base*n^2. chance is in [0, 1).  The limit holds before jitter is added.  Never overflows. */
int64_t backoff_delay_us(const struct backoff *backoff, int32_t failed_calls, double chance);

#endif
