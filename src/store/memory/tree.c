/* store/memory/tree.c - rows in order.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "store/memory/tree.h"

#include <assert.h>
#include <stdbool.h>

/* Weights that look random, so that the tree is shallow whatever the order of rows. */
static uint64_t draw_weight(struct tree *tree)
{
    uint64_t z = (tree->seed += UINT64_C(0x9E3779B97F4A7C15));
    z = (z ^ (z >> 30)) * UINT64_C(0xBF58476D1CE4E5B9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94D049BB133111EB);
    return z ^ (z >> 31);
}

/* Puts `by` (or nothing) where `node` hangs. */
static void replace(struct tree *tree, struct tree_node *node, struct tree_node *by)
{
    if (!node->parent)
        tree->root = by;
    else if (node->parent->left == node)
        node->parent->left = by;
    else
        node->parent->right = by;
    if (by)
        by->parent = node->parent;
}

/* Lifts a node above its parent; the order of rows stays. */
static void lift(struct tree *tree, struct tree_node *node)
{
    struct tree_node *parent = node->parent;
    struct tree_node *moved;
    replace(tree, parent, node);
    if (parent->left == node) {
        moved = node->right;
        parent->left = moved;
        node->right = parent;
    } else {
        moved = node->left;
        parent->right = moved;
        node->left = parent;
    }
    parent->parent = node;
    if (moved)
        moved->parent = parent;
}

void tree_add(struct tree *tree, struct tree_node *node)
{
    struct tree_node *parent = NULL;
    struct tree_node **at = &tree->root;
    while (*at) {
        parent = *at;
        int order = tree->compare(node, parent);
        assert(order != 0);
        at = order < 0 ? &parent->left : &parent->right;
    }
    *node = (struct tree_node){.parent = parent, .weight = draw_weight(tree)};
    *at = node;
    tree->count++;
    while (node->parent && node->parent->weight < node->weight)
        lift(tree, node);
}

void tree_remove(struct tree *tree, struct tree_node *node)
{
    while (node->left && node->right)
        lift(tree, node->left->weight > node->right->weight ? node->left : node->right);
    replace(tree, node, node->left ? node->left : node->right);
    *node = (struct tree_node){0};
    tree->count--;
}

struct tree_node *tree_first(const struct tree *tree)
{
    struct tree_node *node = tree->root;
    while (node && node->left)
        node = node->left;
    return node;
}

struct tree_node *tree_next(const struct tree_node *node)
{
    if (node->right) {
        struct tree_node *next = node->right;
        while (next->left)
            next = next->left;
        return next;
    }
    while (node->parent && node->parent->right == node)
        node = node->parent;
    return node->parent;
}

struct tree_node *tree_seek(const struct tree *tree, tree_probe probe, const void *key)
{
    struct tree_node *found = NULL;
    for (struct tree_node *node = tree->root; node;) {
        bool is_before = probe(node, key) < 0;
        if (!is_before)
            found = node;
        node = is_before ? node->right : node->left;
    }
    return found;
}

struct tree_node *tree_seek_last(const struct tree *tree, tree_probe probe, const void *key)
{
    struct tree_node *found = NULL;
    for (struct tree_node *node = tree->root; node;) {
        bool is_behind = probe(node, key) > 0;
        if (!is_behind)
            found = node;
        node = is_behind ? node->left : node->right;
    }
    return found;
}
