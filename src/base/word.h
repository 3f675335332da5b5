/* base/word.h - how similar two words are, to suggest the one that was meant.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef BASE_WORD_H
#define BASE_WORD_H

#include <stddef.h>

/* How many letters must change to make one word the other; two neighbours that are swapped count as
 * one change.  SIZE_MAX: a word has more than 64 letters. */
size_t word_distance(const char *one, const char *other);

#endif
