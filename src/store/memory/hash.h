/* store/memory/hash.h - rows by a text: a hash table whose links lie inside the rows.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * Adding cannot fail: when memory for a larger table is not to be had, chains grow longer.
 */
#ifndef STORE_MEMORY_HASH_H
#define STORE_MEMORY_HASH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct hash_link {
    struct hash_link *next;
    const char *key; /* the row's own */
    uint64_t code;
};

struct hash {
    struct hash_link **slots;
    size_t count, room; /* room is a power of two */
};

bool hash_init(struct hash *hash); /* false: memory ran out */
void hash_done(struct hash *hash); /* the rows are the caller's */
void hash_add(struct hash *hash, struct hash_link *link, const char *key);
void hash_remove(struct hash *hash, struct hash_link *link);
struct hash_link *hash_find(const struct hash *hash, const char *key); /* NULL: absent */

#endif
