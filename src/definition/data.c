/* definition/data.c - where the data of an element comes from: templates and conditions.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "core/condition.h"
#include "core/template.h"
#include "definition/mapping.h"

#include <string.h>

/* False: it has a flaw. */
static bool is_well_formed(const struct mapping *mapping, const struct node *node,
                           const char *key, cairn_code code, const cairn_error *why)
{
    if (code == CAIRN_E_OUT_OF_MEMORY)
        mapping->reading->is_out_of_memory = true;
    else if (code)
        mapping_flaw(mapping, node->at, "%s: %s", key, why->message);
    return !code;
}

static void name_steps(const struct mapping *mapping, const struct node *node, const char *key,
                       const struct expression_steps *steps, struct named_steps *ret_steps)
{
    struct reading *reading = mapping->reading;
    *ret_steps = (struct named_steps){.at = node->at, .key = key};
    if (steps->count == 0)
        return;
    ret_steps->items = reading_got(
        reading, arena_array(reading->arena, steps->count, sizeof *ret_steps->items));
    for (size_t i = 0; ret_steps->items && i < steps->count; i++)
        ret_steps->items[ret_steps->count++].name = steps->items[i];
}

void data_parse_template(const struct mapping *mapping, const char *key, const char **ret_json,
                         struct named_steps *ret_steps)
{
    struct expression_steps steps = {0};
    const struct node *node = node_find(mapping->map, key);
    cairn_error why = {0};
    if (!node)
        return;
    if (node->kind == NODE_SCALAR && node->scalar == SCALAR_NULL) {
        mapping_flaw(mapping, node->at, "%s is null; leave it out", key);
        return;
    }
    const char *json = mapping_json(mapping, key, node);
    if (!json)
        return;
    if (strlen(json) > TEMPLATE_BYTES_MAX) {
        flaw_limit(mapping->reading->flaws, node->at, "%s: %s is larger than %d bytes",
                   mapping->subject, key, TEMPLATE_BYTES_MAX);
        return;
    }
    cairn_code code = template_steps(json, mapping->reading->arena, &steps, &why);
    if (!is_well_formed(mapping, node, key, code, &why))
        return;
    *ret_json = json;
    name_steps(mapping, node, key, &steps, ret_steps);
}

void data_parse_when(const struct mapping *mapping, struct element *element)
{
    struct expression_steps steps = {0};
    const struct node *node = node_find(mapping->map, "when");
    const char **when = &element->config.when;
    cairn_error why = {0};
    if (!mapping_require(mapping, "when") || !mapping_text(mapping, "when", when))
        return;
    cairn_code code = condition_steps(*when, mapping->reading->arena, &steps, &why);
    if (is_well_formed(mapping, node, "when", code, &why))
        name_steps(mapping, node, "when", &steps, &element->reads);
}

/* A text. */
void data_parse_group(const struct mapping *mapping, struct element *element)
{
    const char *text = NULL;
    if (mapping_text(mapping, "group", &text))
        data_parse_template(mapping, "group", &element->config.group, &element->group_reads);
}
