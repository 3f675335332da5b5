/* engine/id_map.h - things by their id, in the order in which they were added.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ENGINE_ID_MAP_H
#define ENGINE_ID_MAP_H

#include "base/arena.h"

#include <stdbool.h>

struct id_entry {
    const char *id; /* the caller's: it outlives the map */
    void *value;
};

/* A zeroed struct is empty.  Its memory is an arena's. */
struct id_map {
    struct id_entry *entries;
    size_t count, room;
    size_t *slots; /* a hash table: 1 + the index of an entry, or 0 */
    size_t slot_count;
};

void *id_map_find(const struct id_map *map, const char *id); /* NULL: it is not there */

/* The id must not be there yet.  False: memory ran out. */
bool id_map_add(struct id_map *map, struct arena *arena, const char *id, void *value);

#endif
