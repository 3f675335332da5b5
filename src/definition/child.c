/* definition/child.c - the keys of an element that starts other workflows.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "base/json.h"
#include "core/tag.h"
#include "definition/mapping.h"

#include <stdio.h>
#include <string.h>

/* As it is checked when an instance is started, which what its expressions make is as well. */
static void parse_key(const struct mapping *mapping, struct element *element)
{
    const char *text = NULL;
    if (mapping_name(mapping, "key", &text))
        data_parse_template(mapping, "key", &element->config.child.key, &element->key_reads);
}

static void parse_tags(const struct mapping *mapping, struct element *element)
{
    const struct node *map = mapping_map(mapping, "tags");
    const char *json = map && map->count ? mapping_json(mapping, "tags", map) : NULL;
    cairn_error why;
    if (!json)
        return;
    if (tags_check(json, &why))
        mapping_flaw(mapping, map->at, "tags: %s", why.message);
    else
        data_parse_template(mapping, "tags", &element->config.child.tags, &element->tags_reads);
}

void start_parse(const struct mapping *mapping, struct element *element)
{
    struct step_config *config = &element->config;
    bool is_waited = true;
    if (mapping_require(mapping, "workflow"))
        mapping_name(mapping, "workflow", &config->child.workflow);
    mapping_int(mapping, "version", 1, INT32_MAX, &config->child.version);
    data_parse_template(mapping, "input", &config->input, &element->reads);
    parse_key(mapping, element);
    parse_tags(mapping, element);
    data_parse_group(mapping, element);
    mapping_bool(mapping, "wait", &is_waited);
    config->child.is_left = !is_waited;
    policy_parse(mapping, element);
    compensation_parse(mapping, &config->compensation);
}

/* ---- map ------------------------------------------------------------------------------------ */

/* A text that is one expression, kept as the JSON of a template. */
static void parse_over(const struct mapping *mapping, struct element *element)
{
    const char *text = NULL;
    if (!mapping_require(mapping, "over") || !mapping_text(mapping, "over", &text))
        return;
    size_t len = strlen(text);
    if (len < 4 || strncmp(text, "{{", 2) != 0 || strcmp(text + len - 2, "}}") != 0) {
        mapping_flaw(mapping, node_find(mapping->map, "over")->at,
                     "over must be one expression, such as \"{{ .items }}\"");
        return;
    }
    data_parse_template(mapping, "over", &element->config.child.over, &element->over_reads);
}

/* all, any or {at_least: N}. */
static void parse_join(const struct mapping *mapping, int32_t *ret_at_least)
{
    static const char *const words[] = {"all", "any", NULL}, *const known[] = {"at_least",
                                                                               NULL};
    const struct node *join = node_find(mapping->map, "join");
    size_t word = 0;
    if (!join)
        return;
    if (join->kind != NODE_MAP) {
        if (mapping_word(mapping, "join", words, &word))
            *ret_at_least = (int32_t)word;
        return;
    }
    struct mapping inner = {.reading = mapping->reading, .map = join};
    snprintf(inner.subject, sizeof inner.subject, "%.130s: join", mapping->subject);
    mapping_check_keys(&inner, known);
    if (mapping_require(&inner, "at_least"))
        mapping_int(&inner, "at_least", 1, INT32_MAX, ret_at_least);
}

void map_parse(const struct mapping *mapping, struct element *element)
{
    struct step_config *config = &element->config;
    bool is_collected = true;
    config->child.max_parallel = PARALLEL_DEFAULT;
    data_parse_template(mapping, "input", &config->input, &element->reads);
    parse_over(mapping, element);
    mapping_int(mapping, "max_parallel", 1, PARALLEL_MAX, &config->child.max_parallel);
    parse_join(mapping, &config->child.at_least);
    mapping_bool(mapping, "collect", &is_collected);
    config->child.is_counted = !is_collected;
    data_parse_group(mapping, element);
    policy_parse(mapping, element);
    compensation_parse(mapping, &config->compensation);
}
