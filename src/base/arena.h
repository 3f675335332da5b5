/* base/arena.h - memory that goes all at once: one arena per request or transaction.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * Allocations answer NULL when memory has run out; the arena stays usable.  Not for two threads
 * at a time.  A zeroed struct is an empty arena.
 */
#ifndef BASE_ARENA_H
#define BASE_ARENA_H

#include <stddef.h>

struct arena {
    struct arena_block *blocks; /* the one in use first */
};

void arena_done(struct arena *arena);                /* frees everything in it */
void *arena_alloc(struct arena *arena, size_t size); /* aligned for anything */
void *arena_zalloc(struct arena *arena, size_t size);
void *arena_array(struct arena *arena, size_t count, size_t size); /* zeroed; checks overflow */
/* The same, not zeroed: for what is written whole before it is read. */
void *arena_room(struct arena *arena, size_t count, size_t size);
/* An array with room for `more` entries behind the `count` that it holds: the array itself, or a
 * larger copy of it; those entries are zeroed.  *room is how many entries fit. */
void *arena_grow(struct arena *arena, void *array, size_t count, size_t more, size_t *room,
                 size_t size);

/* A list whose items live in an arena; a zeroed one is empty.  list_add() makes room for one more
 * item and returns it; NULL: memory ran out, and the list is as it was. */
#define LIST(type)          \
    struct {                \
        type *items;        \
        size_t count, room; \
    }
#define list_add(arena, list)                                                            \
    __extension__({                                                                      \
        void *items_ = arena_grow(arena, (list)->items, (list)->count, 1, &(list)->room, \
                                  sizeof *(list)->items);                                \
        if (items_)                                                                      \
            (list)->items = items_;                                                      \
        items_ ? &(list)->items[(list)->count++] : NULL;                                 \
    })

void *arena_pointers(struct arena *arena, const void *items, size_t count,
                     size_t size); /* an array of pointers to each of them */
char *arena_strdup(struct arena *arena, const char *text); /* NULL for NULL text, too */
char *arena_strndup(struct arena *arena, const char *text, size_t len);
/* Texts one behind the other. */
#define arena_concat(arena, ...) arena_join((arena), (const char *const[]){__VA_ARGS__, NULL})
char *arena_join(struct arena *arena, const char *const *texts); /* up to NULL */
char *arena_printf(struct arena *arena, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

#endif
