/* base/word.h - lists of words, and how similar two words are, to suggest the one that was meant.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef BASE_WORD_H
#define BASE_WORD_H

#include <stdbool.h>
#include <stddef.h>

/* How many letters must change to make one word the other; two neighbours that are swapped count as
 * one change.  SIZE_MAX: a word has more than 64 letters. */
size_t word_distance(const char *one, const char *other);

/* Patterns of words with commas between them: a % at the end of one stands for anything. */
bool words_are_patterns(const char *words); /* a % stands at the end of a pattern, or nowhere */
bool words_match(const char *words, const char *word);

#endif
