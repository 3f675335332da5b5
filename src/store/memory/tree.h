/* store/memory/tree.h - rows in order: a treap whose nodes lie inside the rows.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * Adding and removing allocate nothing and cannot fail, so that a rollback cannot either.  A
 * node's weight is drawn from the tree's own counter: the same calls make the same tree.
 */
#ifndef STORE_MEMORY_TREE_H
#define STORE_MEMORY_TREE_H

#include <stddef.h>
#include <stdint.h>

/* The struct around a member. */
#define container_of(pointer, type, member) \
    ((type *)(void *)((char *)(pointer)-offsetof(type, member)))

struct tree_node {
    struct tree_node *parent, *left, *right;
    uint64_t weight; /* never less than that of a child */
};

/* Negative, zero or positive, as in strcmp(); zero only for a node and itself. */
typedef int (*tree_compare)(const struct tree_node *a, const struct tree_node *b);

struct tree {
    struct tree_node *root;
    tree_compare compare;
    size_t count;
    uint64_t seed;
};

void tree_add(struct tree *tree, struct tree_node *node);
void tree_remove(struct tree *tree, struct tree_node *node);

/* NULL: there is none. */
struct tree_node *tree_first(const struct tree *tree);
struct tree_node *tree_next(const struct tree_node *node);

/* Where a node stands to a key: negative, zero or positive; it must never fall from node to
 * node. */
typedef int (*tree_probe)(const struct tree_node *node, const void *key);

/* The first node whose probe is not negative; the last whose probe is not positive. */
struct tree_node *tree_seek(const struct tree *tree, tree_probe probe, const void *key);
struct tree_node *tree_seek_last(const struct tree *tree, tree_probe probe, const void *key);

#endif
