/* base/arena.c - memory that goes all at once.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "base/arena.h"

#include "base/mem.h"

#include <stdalign.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

struct arena_block {
    struct arena_block *next;
    size_t used, room;
    alignas(max_align_t) char bytes[];
};

/* Small first, since most requests are; each further block twice the one before. */
enum { FIRST_BLOCK = 1024 - sizeof(struct arena_block), LARGEST_BLOCK = 256 * 1024 };

static struct arena_block *add_block(struct arena *arena, size_t size)
{
    struct arena_block *current = arena->blocks;
    size_t room = current ? current->room * 2 : FIRST_BLOCK;
    if (room > LARGEST_BLOCK)
        room = LARGEST_BLOCK;
    bool is_for_one = room < size;
    if (is_for_one)
        room = size;

    struct arena_block *block = mem_alloc(sizeof *block + room);
    if (!block)
        return NULL;
    /* A piece too large for the next block fills one of its own, behind the one in use, whose
     * rest is still good for small pieces. */
    struct arena_block **at = current && is_for_one ? &current->next : &arena->blocks;
    *block = (struct arena_block){.next = *at, .room = room};
    *at = block;
    return block;
}

void *arena_alloc(struct arena *arena, size_t size)
{
    size_t align = alignof(max_align_t);
    if (size > SIZE_MAX / 4)
        return NULL;
    size = (size + align - 1) & ~(align - 1);

    struct arena_block *block = arena->blocks;
    if (!block || block->room - block->used < size) {
        block = add_block(arena, size);
        if (!block)
            return NULL;
    }
    void *start = block->bytes + block->used;
    block->used += size;
    return start;
}

void *arena_zalloc(struct arena *arena, size_t size)
{
    void *start = arena_alloc(arena, size);
    return start ? memset(start, 0, size) : NULL;
}

void *arena_array(struct arena *arena, size_t count, size_t size)
{
    if (size && count > SIZE_MAX / 4 / size)
        return NULL;
    return arena_zalloc(arena, count * size);
}

void *arena_room(struct arena *arena, size_t count, size_t size)
{
    return size && count > SIZE_MAX / 4 / size ? NULL : arena_alloc(arena, count * size);
}

void *arena_grow(struct arena *arena, void *array, size_t count, size_t more, size_t *room,
                 size_t size)
{
    if (more > SIZE_MAX / 4 - count)
        return NULL;
    if (!array || more > *room - count) {
        size_t larger = count + more < 4 ? 8 : (count + more) * 2;
        void *copy = arena_room(arena, larger, size);
        if (!copy)
            return NULL;
        if (array)
            memcpy(copy, array, count * size);
        *room = larger;
        array = copy;
    }
    memset((char *)array + count * size, 0, more * size);
    return array;
}

void *arena_pointers(struct arena *arena, const void *items, size_t count, size_t size)
{
    const void **pointers = arena_array(arena, count, sizeof *pointers);
    for (size_t i = 0; pointers && i < count; i++)
        pointers[i] = (const char *)items + i * size;
    return pointers;
}

char *arena_strndup(struct arena *arena, const char *text, size_t len)
{
    char *copy = len < SIZE_MAX ? arena_alloc(arena, len + 1) : NULL;
    if (!copy)
        return NULL;
    memcpy(copy, text, len);
    copy[len] = '\0';
    return copy;
}

char *arena_strdup(struct arena *arena, const char *text)
{
    return text ? arena_strndup(arena, text, strlen(text)) : NULL;
}

char *arena_join(struct arena *arena, const char *const *texts)
{
    size_t len = 0;
    for (const char *const *text = texts; *text; text++)
        len += strlen(*text);
    char *joined = arena_alloc(arena, len + 1), *end = joined;
    for (; joined && *texts; texts++)
        end = stpcpy(end, *texts);
    return joined;
}

char *arena_printf(struct arena *arena, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    int len = vsnprintf(NULL, 0, format, args);
    va_end(args);
    if (len < 0)
        return NULL;

    char *text = arena_alloc(arena, (size_t)len + 1);
    if (!text)
        return NULL;
    va_start(args, format);
    vsnprintf(text, (size_t)len + 1, format, args);
    va_end(args);
    return text;
}

void arena_done(struct arena *arena)
{
    for (struct arena_block *block = arena->blocks; block;) {
        struct arena_block *next = block->next;
        mem_free(block);
        block = next;
    }
    arena->blocks = NULL;
}
