/* definition/node.h - a YAML or JSON text as a tree of nodes that know their place.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * The only user of libfyaml.  Rejects the parts of YAML that make a file hard to trust: anchors,
 * aliases, tags, directives, several documents, duplicate keys, keys that are not text, and depth
 * beyond NODE_DEPTH_MAX.
 */
#ifndef DEFINITION_NODE_H
#define DEFINITION_NODE_H

#include "definition/flaw.h"

/* A fork takes three levels (its mapping, the branches, a branch), and 64 of them may nest with
 * metadata of 64 levels inside. */
enum { NODE_DEPTH_MAX = 300 };

enum node_kind { NODE_SCALAR, NODE_LIST, NODE_MAP };

/* The type of a scalar by YAML's core schema, which agrees with JSON. */
enum scalar_kind { SCALAR_NULL, SCALAR_BOOL, SCALAR_INT, SCALAR_FLOAT, SCALAR_TEXT };

struct node {
    enum node_kind kind;
    enum scalar_kind scalar;
    struct place at;
    const char *text; /* of a scalar, ends with NUL */
    size_t len;
    struct node *first; /* of a list: its items; of a map: key, value, key, value, ... */
    struct node *next;  /* the next one in the same list or map */
    size_t count;       /* of items, or of keys */
};

/* Adds flaws; *ret_root is NULL if the text cannot be read further. */
cairn_code node_read(struct arena *arena, const char *text, size_t len, struct flaws *flaws,
                     struct node **ret_root, cairn_error *reterr);

/* The value of a key; NULL: not there. */
const struct node *node_find(const struct node *map, const char *key);

/* The keys of a map in order, for mem_free(); NULL: memory ran out. */
const struct node **node_sort_keys(const struct node *map);

bool node_bool(const struct node *scalar);
bool node_int(const struct node *scalar, int64_t *ret_value); /* false: beyond 64 bits */
struct json_out;
bool node_decimal(const struct node *scalar, struct json_out *out); /* written as JSON, exactly;
                                                                      * false: it cannot be */
bool node_float(const struct node *scalar, double *ret_value);      /* false: beyond a double */

enum scalar_kind scalar_kind_of(const char *text); /* of a word without quotes */

/* Its type, for messages: "a list", "a number". */
const char *node_words(const struct node *node);

#endif
