/* store/memory/block.h - a row and its texts in one block of memory.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef STORE_MEMORY_BLOCK_H
#define STORE_MEMORY_BLOCK_H

#include "base/arena.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

static inline int compare_int(int64_t a, int64_t b)
{
    return (a > b) - (a < b);
}

static inline size_t text_size(const char *text)
{
    return text ? strlen(text) + 1 : 0;
}

/* Copies a text to *at, which moves past it. */
static inline const char *put_text(char **at, const char *text)
{
    if (!text)
        return NULL;
    size_t size = strlen(text) + 1;
    char *copy = (char *)memcpy(*at, text, size);
    *at += size;
    return copy;
}

/* Which members of a struct are texts, by their offsets. */
struct texts {
    const size_t *offsets;
    size_t count;
};

#define TEXTS(array) ((struct texts){array, sizeof(array) / sizeof *(array)})

size_t texts_size(struct texts texts, const void *row);

/* Copies the row's texts to `at`, and lets the row point there. */
void texts_put(struct texts texts, void *row, char *at);

/* Copies them into an arena.  False: memory ran out. */
bool texts_copy(struct texts texts, void *row, struct arena *arena);

/* A new block that begins with a copy of the row; its texts follow.  NULL: memory ran out. */
void *block_new(const void *row, size_t size, struct texts texts);

#endif
