/* core/backoff.h - how long to wait before a failed call is made again.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef CORE_BACKOFF_H
#define CORE_BACKOFF_H

#include "cairn.h"

#include <stdbool.h>
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

const char *backoff_name(enum backoff_kind kind);
bool backoff_from(const char *name, enum backoff_kind *ret_kind); /* false: no such word */

/* What a job says of its retries, {"backoff", "base_ms", "max_ms", "jitter"}; what is left out is as in
 * backoff_for_jobs.  retry_check() says what is wrong; NULL is right, and is the default. */
cairn_code retry_check(const char *json, cairn_error *reterr);

/* The same of a row.  One that a hand has written and that cannot be read is the default. */
struct backoff retry_of_job(const char *json);

#endif
