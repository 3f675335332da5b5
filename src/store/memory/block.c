/* store/memory/block.c - a row and its texts in one block of memory.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "store/memory/block.h"

#include "base/mem.h"

static const char **text_at(void *row, size_t offset)
{
    return (const char **)(void *)((char *)row + offset);
}

size_t texts_size(struct texts texts, const void *row)
{
    size_t size = 0;
    for (size_t i = 0; i < texts.count; i++) {
        const char *text;
        memcpy(&text, (const char *)row + texts.offsets[i], sizeof text);
        size += text_size(text);
    }
    return size;
}

void texts_put(struct texts texts, void *row, char *at)
{
    for (size_t i = 0; i < texts.count; i++) {
        const char **text = text_at(row, texts.offsets[i]);
        *text = put_text(&at, *text);
    }
}

bool texts_copy(struct texts texts, void *row, struct arena *arena)
{
    for (size_t i = 0; i < texts.count; i++) {
        const char **text = text_at(row, texts.offsets[i]);
        if (*text && !(*text = arena_strdup(arena, *text)))
            return false;
    }
    return true;
}

void *block_new(const void *row, size_t size, struct texts texts)
{
    char *block = mem_alloc(size + texts_size(texts, row));
    if (!block)
        return NULL;
    memcpy(block, row, size);
    texts_put(texts, block, block + size);
    return block;
}
