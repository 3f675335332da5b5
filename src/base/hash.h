/* base/hash.h - FNV-1a, for tables in memory.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef BASE_HASH_H
#define BASE_HASH_H

#include <stdint.h>

#define HASH_START 2166136261u

/* Adds a text to a hash, which begins as HASH_START.  text may be NULL. */
static inline uint32_t hash_text(uint32_t hash, const char *text)
{
    for (; text && *text; text++)
        hash = (hash ^ (unsigned char)*text) * 16777619u;
    return hash;
}

#endif
