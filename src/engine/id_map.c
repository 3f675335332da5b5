/* engine/id_map.c - things by their id.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "engine/id_map.h"

#include "base/hash.h"

#include <string.h>

/* Where an id is, or where it would be put. */
static size_t slot_of(const struct id_map *map, const char *id)
{
    size_t mask = map->slot_count - 1;
    size_t at = hash_text(HASH_START, id) & mask;
    while (map->slots[at] && strcmp(map->entries[map->slots[at] - 1].id, id) != 0)
        at = (at + 1) & mask;
    return at;
}

void *id_map_find(const struct id_map *map, const char *id)
{
    size_t place = map->slot_count ? map->slots[slot_of(map, id)] : 0;
    return place ? map->entries[place - 1].value : NULL;
}

static bool grow_slots(struct id_map *map, struct arena *arena)
{
    size_t count = map->slot_count ? map->slot_count * 2 : 16;
    size_t *slots = arena_array(arena, count, sizeof *slots);
    if (!slots)
        return false;
    map->slots = slots;
    map->slot_count = count;
    for (size_t i = 0; i < map->count; i++)
        slots[slot_of(map, map->entries[i].id)] = i + 1;
    return true;
}

bool id_map_add(struct id_map *map, struct arena *arena, const char *id, void *value)
{
    struct id_entry *entries =
        arena_grow(arena, map->entries, map->count, 1, &map->room, sizeof *entries);
    if (!entries)
        return false;
    map->entries = entries;
    if (map->count * 2 >= map->slot_count && !grow_slots(map, arena))
        return false;
    entries[map->count] = (struct id_entry){.id = id, .value = value};
    map->slots[slot_of(map, id)] = ++map->count;
    return true;
}
