/* definition/child.c - the keys of an element that starts other workflows.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "base/json.h"
#include "core/tag.h"
#include "definition/mapping.h"

#include <string.h>

/* As they are checked when an instance is started. */
static void parse_tags(const struct mapping *mapping, const char **ret_tags)
{
    const struct node *map = mapping_map(mapping, "tags");
    const char *json = map && map->count ? mapping_json(mapping, "tags", map) : NULL;
    cairn_error why;
    if (!json)
        return;
    if (tags_check(json, &why))
        mapping_flaw(mapping, map->at, "tags: %s", why.message);
    *ret_tags = json;
}

void start_parse(const struct mapping *mapping, struct element *element)
{
    struct step_config *config = &element->config;
    bool is_waited = true;
    if (mapping_require(mapping, "workflow"))
        mapping_name(mapping, "workflow", &config->child.workflow);
    mapping_int(mapping, "version", 1, INT32_MAX, &config->child.version);
    data_parse_template(mapping, "input", &config->input, &element->reads);
    mapping_name(mapping, "key", &config->child.key);
    parse_tags(mapping, &config->child.tags);
    mapping_bool(mapping, "wait", &is_waited);
    config->child.is_left = !is_waited;
    policy_parse(mapping, element);
    compensation_parse(mapping, &config->compensation);
}
