/* base/random.c - xoshiro256**, and the ids made with it.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "base/random.h"

#include "base/clock.h"

#include <stdio.h>
#include <string.h>
#include <sys/random.h>

/* splitmix64: spreads one number over the whole state. */
static uint64_t spread(uint64_t *seed)
{
    uint64_t z = (*seed += UINT64_C(0x9E3779B97F4A7C15));
    z = (z ^ (z >> 30)) * UINT64_C(0xBF58476D1CE4E5B9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94D049BB133111EB);
    return z ^ (z >> 31);
}

void rng_init(struct rng *rng, uint64_t seed)
{
    if (seed == 0 && getrandom(rng->state, sizeof rng->state, 0) == sizeof rng->state)
        return;
    if (seed == 0)
        seed = (uint64_t)monotonic_us() ^ (uint64_t)(uintptr_t)rng;
    for (int i = 0; i < 4; i++)
        rng->state[i] = spread(&seed);
}

static uint64_t rotate(uint64_t x, int bits)
{
    return (x << bits) | (x >> (64 - bits));
}

uint64_t rng_next(struct rng *rng)
{
    uint64_t *s = rng->state;
    uint64_t result = rotate(s[1] * 5, 7) * 9;
    uint64_t t = s[1] << 17;
    s[2] ^= s[0];
    s[3] ^= s[1];
    s[1] ^= s[2];
    s[0] ^= s[3];
    s[2] ^= t;
    s[3] = rotate(s[3], 45);
    return result;
}

double rng_unit(struct rng *rng)
{
    return (double)(rng_next(rng) >> 11) * 0x1.0p-53;
}

uint64_t rng_below(struct rng *rng, uint64_t bound)
{
    return rng_next(rng) % bound;
}

void id_make(struct rng *rng, int64_t now_us, char id[ID_TEXT])
{
    /* The 12 bits after the milliseconds are the part of one that has passed (RFC 9562, 6.2,
     * method 3), so that ids made within a millisecond sort as well. */
    uint64_t ms = (uint64_t)(now_us / US_PER_MS) & UINT64_C(0xFFFFFFFFFFFF);
    uint64_t part = (uint64_t)(now_us % US_PER_MS) * 4096 / US_PER_MS;
    uint64_t high = (ms << 16) | 0x7000 | (part & 0x0FFF);
    uint64_t low =
        (rng_next(rng) & UINT64_C(0x3FFFFFFFFFFFFFFF)) | UINT64_C(0x8000000000000000);
    snprintf(id, ID_TEXT, "%08x-%04x-%04x-%04x-%012llx", (unsigned)(high >> 32),
             (unsigned)(high >> 16) & 0xFFFF, (unsigned)high & 0xFFFF, (unsigned)(low >> 48),
             (unsigned long long)(low & UINT64_C(0xFFFFFFFFFFFF)));
}

static bool is_hex_digit(char c)
{
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f');
}

int id_is_valid(const char *text)
{
    static const char form[] = "xxxxxxxx-xxxx-xxxx-xxxx-xxxxxxxxxxxx";
    if (strlen(text) != sizeof form - 1)
        return 0;
    for (size_t i = 0; form[i]; i++)
        if (form[i] == '-' ? text[i] != '-' : !is_hex_digit(text[i]))
            return 0;
    return 1;
}

void token_make(struct rng *rng, char token[TOKEN_TEXT])
{
    snprintf(token, TOKEN_TEXT, "%016llx", (unsigned long long)rng_next(rng));
}
