/* definition/metadata.c - a user's own values, as canonical JSON.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * Keys are sorted and numbers written in one way, so that the same meaning is the same text
 * whether the file is YAML or JSON.
 */
#include "base/json.h"
#include "base/mem.h"
#include "definition/mapping.h"

struct writing {
    const struct mapping *mapping;
    const char *what; /* for messages */
    struct json_out out;
    bool is_bad;
};

static void refuse(struct writing *writing, const struct node *node, const char *why)
{
    mapping_flaw(writing->mapping, node->at, "%s %s", writing->what, why);
    writing->is_bad = true;
}

static void write_scalar(struct writing *writing, const struct node *node)
{
    int64_t number;
    double fraction;
    switch (node->scalar) {
    case SCALAR_NULL:
        json_raw(&writing->out, NULL);
        break;
    case SCALAR_BOOL:
        json_bool(&writing->out, node_bool(node));
        break;
    case SCALAR_INT:
        if (node_int(node, &number))
            json_int(&writing->out, number);
        else if (!node_decimal(node, &writing->out))
            refuse(writing, node, "has a number that is too large; write it as text");
        break;
    case SCALAR_FLOAT:
        if (!node_float(node, &fraction) || !node_decimal(node, &writing->out))
            refuse(writing, node, "has a number that JSON cannot hold; write it as text");
        break;
    case SCALAR_TEXT:
        json_strn(&writing->out, node->text, node->len);
        break;
    }
}

static void write_node(struct writing *writing, const struct node *node, int depth);

static void write_map(struct writing *writing, const struct node *map, int depth)
{
    cleanup(mem_freep) const struct node **keys =
        reading_got(writing->mapping->reading, node_sort_keys(map));
    json_open(&writing->out, '{');
    for (size_t i = 0; keys && i < map->count; i++) {
        json_key(&writing->out, keys[i]->text);
        write_node(writing, keys[i]->next, depth + 1);
    }
    json_close(&writing->out, '}');
}

static void write_node(struct writing *writing, const struct node *node, int depth)
{
    if (writing->is_bad || writing->mapping->reading->is_out_of_memory)
        return;
    if (node->kind == NODE_SCALAR) {
        write_scalar(writing, node);
        return;
    }
    if (depth > JSON_DEPTH_MAX) {
        flaw_limit(writing->mapping->reading->flaws, node->at,
                   "%s: %s is nested more than %d deep", writing->mapping->subject,
                   writing->what, JSON_DEPTH_MAX);
        writing->is_bad = true;
        return;
    }
    if (node->kind == NODE_MAP) {
        write_map(writing, node, depth);
        return;
    }
    json_open(&writing->out, '[');
    for (const struct node *item = node->first; item; item = item->next)
        write_node(writing, item, depth + 1);
    json_close(&writing->out, ']');
}

const char *mapping_json(const struct mapping *mapping, const char *what,
                         const struct node *node)
{
    struct reading *reading = mapping->reading;
    cleanup(buf_done) struct buf buf = {0};
    struct writing writing = {.mapping = mapping, .what = what, .out = {.buf = &buf}};
    write_node(&writing, node, 1);
    return writing.is_bad ? NULL : reading_got(reading, buf_keep(&buf, reading->arena));
}

bool mapping_metadata(const struct mapping *mapping, const char **ret_json)
{
    const struct node *map = mapping_map(mapping, "metadata");
    if (!map || map->count == 0)
        return false;
    const char *json = mapping_json(mapping, "metadata", map);
    if (json)
        *ret_json = json;
    return json;
}
