/* core/backoff.c - how long to wait before a failed call is made again.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "core/backoff.h"

#include "base/clock.h"

#include <assert.h>
#include <string.h>

const struct backoff backoff_for_jobs = {
    .kind = BACKOFF_QUADRATIC, .base_us = US_PER_MIN, .jitter = 0.1};
const struct backoff backoff_for_steps = {
    .kind = BACKOFF_EXPONENTIAL, .base_us = US_PER_SEC, .max_us = 5 * US_PER_MIN};

static const char *const names[] = {
    [BACKOFF_FIXED] = "fixed",
    [BACKOFF_LINEAR] = "linear",
    [BACKOFF_EXPONENTIAL] = "exponential",
    [BACKOFF_QUADRATIC] = "quadratic",
};

const char *backoff_name(enum backoff_kind kind)
{
    return names[kind];
}

bool backoff_from(const char *name, enum backoff_kind *ret_kind)
{
    for (size_t kind = 0; kind < sizeof names / sizeof *names; kind++)
        if (strcmp(names[kind], name) == 0) {
            *ret_kind = (enum backoff_kind)kind;
            return true;
        }
    return false;
}

/* a*b, held at INSTANT_MAX, beyond which no delay means anything. */
static int64_t times(int64_t a, int64_t b)
{
    int64_t product;
    if (__builtin_mul_overflow(a, b, &product) || product > INSTANT_MAX)
        return INSTANT_MAX;
    return product;
}

static int64_t factor(enum backoff_kind kind, int64_t n)
{
    switch (kind) {
    case BACKOFF_FIXED:
        return 1;
    case BACKOFF_LINEAR:
        return n;
    case BACKOFF_EXPONENTIAL:
        return n > 62 ? INSTANT_MAX : INT64_C(1) << (n - 1);
    case BACKOFF_QUADRATIC:
        return times(n, n);
    }
    assert(!"a kind of backoff that does not exist");
    return 1;
}

int64_t backoff_delay_us(const struct backoff *backoff, int32_t failed_calls, double chance)
{
    assert(chance >= 0 && chance < 1);

    int64_t calls = failed_calls < 1 ? 1 : failed_calls; /* a row may hold any number */
    int64_t delay = times(backoff->base_us, factor(backoff->kind, calls));
    if (backoff->max_us && delay > backoff->max_us)
        delay = backoff->max_us;
    int64_t jitter = (int64_t)((double)delay * backoff->jitter * chance);
    return instant_add(delay, jitter);
}
