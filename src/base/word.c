/* base/word.c - lists of words, and how similar two words are.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "base/word.h"

#include <stdint.h>
#include <string.h>

size_t word_distance(const char *one, const char *other)
{
    enum { WORD_MAX = 64 };
    size_t rows[3][WORD_MAX + 1];
    size_t one_len = strlen(one), other_len = strlen(other);
    if (one_len > WORD_MAX || other_len > WORD_MAX)
        return SIZE_MAX;
    for (size_t k = 0; k <= other_len; k++)
        rows[0][k] = k;
    for (size_t i = 1; i <= one_len; i++) {
        size_t *row = rows[i % 3], *above = rows[(i - 1) % 3], *over = rows[(i + 1) % 3];
        row[0] = i;
        for (size_t k = 1; k <= other_len; k++) {
            size_t best = above[k - 1] + (one[i - 1] != other[k - 1]);
            if (above[k] + 1 < best)
                best = above[k] + 1;
            if (row[k - 1] + 1 < best)
                best = row[k - 1] + 1;
            if (i > 1 && k > 1 && one[i - 1] == other[k - 2] && one[i - 2] == other[k - 1] &&
                over[k - 2] + 1 < best)
                best = over[k - 2] + 1;
            row[k] = best;
        }
    }
    return rows[one_len % 3][other_len];
}

bool words_are_patterns(const char *words)
{
    for (const char *at = words; (at = strchr(at, '%')); at++)
        if (at[1] && at[1] != ',')
            return false;
    return true;
}

bool words_match(const char *words, const char *word)
{
    while (*words) {
        size_t len = strcspn(words, ",");
        bool is_prefix = len && words[len - 1] == '%';
        size_t compared = is_prefix ? len - 1 : len;
        if (strncmp(words, word, compared) == 0 && (is_prefix || strlen(word) == len))
            return true;
        words += len + (words[len] == ',');
    }
    return false;
}
