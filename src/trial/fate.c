/* trial/fate.c - what happens to a call.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * It follows from the seed, the instance's number, the step and how often it was called, and not from what else has
 * happened: so a test that is changed in one place goes on as before in the others.
 */
#include "trial/trial.h"

#include "base/random.h"

#include <string.h>

static uint64_t mix(uint64_t hash, const void *bytes, size_t count)
{
    for (size_t i = 0; i < count; i++)
        hash = (hash ^ ((const unsigned char *)bytes)[i]) * UINT64_C(0x100000001b3);
    return hash;
}

static struct rng source(const struct trial *trial, const char *what, int32_t instance,
                         uint64_t count)
{
    struct rng rng;
    uint64_t hash = UINT64_C(0xcbf29ce484222325);
    hash = mix(hash, &trial->rates.seed, sizeof trial->rates.seed);
    hash = mix(hash, what, strlen(what));
    hash = mix(hash, &instance, sizeof instance);
    hash = mix(hash, &count, sizeof count);
    rng_init(&rng, hash ? hash : 1);
    return rng;
}

/* Whether it falls into the next part of [0, 1), which is so wide. */
static bool is_within(double *drawn, double rate)
{
    *drawn -= rate;
    return *drawn < 0;
}

enum fate fate_draw(const struct trial *trial, const struct call *call)
{
    const cairn_trial_options *rates = &trial->rates;
    struct rng rng = source(trial, call->name, call->instance, call->number);
    double drawn = rng_unit(&rng);
    bool is_first = rng_next(&rng) >> 63;
    double fail = sim_fail_rate(trial->fail_of, trial->fail_of_count, call->name, rates->fail);
    if (call->is_function)
        return is_within(&drawn, rates->crash / 2) ? FATE_CRASH_FIRST : FATE_NONE;
    if (is_within(&drawn, fail))
        return is_first ? FATE_FAIL_FIRST : FATE_FAIL_LAST;
    drawn /= 1 - fail; /* of those that do not fail */
    if (is_within(&drawn, rates->crash))
        return is_first ? FATE_CRASH_FIRST : FATE_CRASH_LAST;
    if (is_within(&drawn, rates->timeout))
        return FATE_TIMEOUT;
    if (is_within(&drawn, rates->late))
        return FATE_LATE;
    return is_within(&drawn, rates->twice) ? FATE_TWICE : FATE_NONE;
}

bool fate_crashes_commit(const struct trial *trial, struct call *call)
{
    uint64_t number = ((uint64_t)call->number << 32) + ++call->commits;
    struct rng rng = source(trial, call->name, call->instance, number);
    return rng_unit(&rng) < trial->rates.crash / 2;
}

bool fate_restarts(struct trial *trial)
{
    struct rng rng = source(trial, "restart", 0, trial->reports++);
    return rng_unit(&rng) < trial->rates.restart;
}
