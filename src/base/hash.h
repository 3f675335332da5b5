/* base/hash.h - a hash of texts, for tables in memory.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef BASE_HASH_H
#define BASE_HASH_H

#include <stdint.h>
#include <string.h>

#define HASH_START 2166136261u

static inline uint64_t hash_word(uint64_t hash, uint64_t word)
{
    hash = (hash ^ word) * UINT64_C(0x9E3779B97F4A7C15);
    return hash ^ hash >> 32;
}

/* Adds a text to a hash, which begins as HASH_START.  text may be NULL.  Eight bytes at a time: most texts are ids. */
static inline uint32_t hash_text(uint32_t start, const char *text)
{
    size_t len = text ? strlen(text) : 0, at = 0;
    uint64_t hash = hash_word(start, len), word = 0;
    for (; len - at >= sizeof word; at += sizeof word) {
        memcpy(&word, text + at, sizeof word);
        hash = hash_word(hash, word);
    }
    word = 0;
    for (; at < len; at++)
        word = word << 8 | (unsigned char)text[at];
    return (uint32_t)hash_word(hash, word);
}

#endif
