/* store/memory/hash.c - rows by a text.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "store/memory/hash.h"

#include "base/mem.h"

#include <assert.h>
#include <string.h>

enum { FIRST_ROOM = 64 };

/* FNV-1a. */
static uint64_t code_of(const char *key)
{
    uint64_t code = UINT64_C(0xCBF29CE484222325);
    for (const unsigned char *c = (const unsigned char *)key; *c; c++)
        code = (code ^ *c) * UINT64_C(0x100000001B3);
    return code;
}

static struct hash_link **slot_of(const struct hash *hash, uint64_t code)
{
    return &hash->slots[(code ^ (code >> 32)) & (hash->room - 1)];
}

bool hash_init(struct hash *hash)
{
    *hash = (struct hash){.room = FIRST_ROOM};
    hash->slots = mem_zalloc(FIRST_ROOM * sizeof *hash->slots);
    return hash->slots;
}

void hash_done(struct hash *hash)
{
    mem_free(hash->slots);
    *hash = (struct hash){0};
}

static void grow(struct hash *hash)
{
    struct hash larger = {.count = hash->count, .room = hash->room * 2};
    larger.slots = mem_zalloc(larger.room * sizeof *larger.slots);
    if (!larger.slots)
        return;
    for (size_t i = 0; i < hash->room; i++) {
        for (struct hash_link *link = hash->slots[i]; link;) {
            struct hash_link *next = link->next;
            struct hash_link **slot = slot_of(&larger, link->code);
            link->next = *slot;
            *slot = link;
            link = next;
        }
    }
    mem_free(hash->slots);
    *hash = larger;
}

void hash_add(struct hash *hash, struct hash_link *link, const char *key)
{
    if (hash->count >= hash->room)
        grow(hash);
    link->key = key;
    link->code = code_of(key);
    struct hash_link **slot = slot_of(hash, link->code);
    link->next = *slot;
    *slot = link;
    hash->count++;
}

void hash_remove(struct hash *hash, struct hash_link *link)
{
    struct hash_link **at = slot_of(hash, link->code);
    while (*at != link) {
        assert(*at);
        at = &(*at)->next;
    }
    *at = link->next;
    hash->count--;
}

struct hash_link *hash_find(const struct hash *hash, const char *key)
{
    uint64_t code = code_of(key);
    for (struct hash_link *link = *slot_of(hash, code); link; link = link->next)
        if (link->code == code && strcmp(link->key, key) == 0)
            return link;
    return NULL;
}
