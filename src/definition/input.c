/* definition/input.c - what a file says about the input of its instances: a schema, an example.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * The schema is a JSON Schema; forms and people read it, the engine does not hold inputs against
 * it.  Its common words are checked for their type, so that a typing mistake is not found by the
 * first person who opens the form, and the example is checked against them.  Other words of JSON
 * Schema are kept as they are.
 */
#include "definition/mapping.h"

#include <stdio.h>
#include <string.h>

enum { ENUM_MAX = 1000 };

enum wanted {
    WANT_TEXT,
    WANT_NUMBER,
    WANT_COUNT,
    WANT_TEXTS,
    WANT_VALUES,
    WANT_TYPE,
    WANT_SCHEMA,
    WANT_SCHEMAS,
};

static const struct schema_word {
    const char *name;
    enum wanted wanted;
} schema_words[] = {
    {"type", WANT_TYPE},       {"title", WANT_TEXT},      {"description", WANT_TEXT},
    {"format", WANT_TEXT},     {"pattern", WANT_TEXT},    {"enum", WANT_VALUES},
    {"required", WANT_TEXTS},  {"minimum", WANT_NUMBER},  {"maximum", WANT_NUMBER},
    {"minLength", WANT_COUNT}, {"maxLength", WANT_COUNT}, {"minItems", WANT_COUNT},
    {"maxItems", WANT_COUNT},  {"items", WANT_SCHEMA},    {"properties", WANT_SCHEMAS},
};

static const char *const wanted_words[] = {
    [WANT_TEXT] = "text",
    [WANT_NUMBER] = "a number",
    [WANT_COUNT] = "a whole number from 0",
    [WANT_TEXTS] = "a list of text",
    [WANT_VALUES] = "a list of 1 to 1000 values",
    [WANT_TYPE] = "object, array, string, number, integer, boolean or null, or a list of them",
    [WANT_SCHEMA] = "a mapping",
    [WANT_SCHEMAS] = "a mapping of mappings",
};

static const char *const types[] = {"object",  "array",   "string", "number",
                                    "integer", "boolean", "null",   NULL};

/* A mapping inside the schema or the example, and the name of the place that it describes. */
static struct mapping inside(const struct mapping *outer, const char *what, const char *name,
                             const struct node *map)
{
    struct mapping inner = {.reading = outer->reading, .map = map};
    char text[QUOTED_TEXT];
    snprintf(inner.subject, sizeof inner.subject, "input.%s%s%s", what, name ? " " : "",
             name ? quoted(text, name) : "");
    return inner;
}

static bool is_scalar(const struct node *node, enum scalar_kind kind)
{
    return node->kind == NODE_SCALAR && node->scalar == kind;
}

static bool is_number(const struct node *node, double *ret_value)
{
    int64_t whole;
    if (is_scalar(node, SCALAR_INT) && node_int(node, &whole)) {
        *ret_value = (double)whole;
        return true;
    }
    return is_scalar(node, SCALAR_FLOAT) && node_float(node, ret_value);
}

static bool is_type_word(const struct node *node)
{
    const char *const *type = types;
    if (!is_scalar(node, SCALAR_TEXT))
        return false;
    while (*type && strcmp(*type, node->text) != 0)
        type++;
    return *type;
}

static bool is_list_of(const struct node *list, bool (*is_one)(const struct node *))
{
    if (list->kind != NODE_LIST)
        return false;
    for (const struct node *item = list->first; item; item = item->next)
        if (!is_one(item))
            return false;
    return true;
}

static bool is_text(const struct node *node)
{
    return is_scalar(node, SCALAR_TEXT);
}

static bool is_map_of_maps(const struct node *map)
{
    if (map->kind != NODE_MAP)
        return false;
    for (const struct node *key = map->first; key; key = key->next->next)
        if (key->next->kind != NODE_MAP)
            return false;
    return true;
}

static bool is_as_wanted(const struct node *value, enum wanted wanted)
{
    int64_t whole = -1;
    double number;
    switch (wanted) {
    case WANT_TEXT:
        return is_text(value);
    case WANT_NUMBER:
        return is_number(value, &number);
    case WANT_COUNT:
        return is_scalar(value, SCALAR_INT) && node_int(value, &whole) && whole >= 0;
    case WANT_TEXTS:
        return is_list_of(value, is_text);
    case WANT_VALUES:
        return value->kind == NODE_LIST && value->count > 0 && value->count <= ENUM_MAX;
    case WANT_TYPE:
        return is_type_word(value) || (is_list_of(value, is_type_word) && value->count > 0);
    case WANT_SCHEMA:
        return value->kind == NODE_MAP;
    case WANT_SCHEMAS:
        return is_map_of_maps(value);
    }
    return false;
}

static void check_schema(const struct mapping *schema);

static void check_inner_schemas(const struct mapping *schema, const struct node *properties)
{
    for (const struct node *key = properties->first; key; key = key->next->next) {
        struct mapping inner = inside(schema, "schema", key->text, key->next);
        check_schema(&inner);
    }
}

/* The depth is bounded: the schema was written as JSON before. */
static void check_schema(const struct mapping *schema)
{
    for (size_t i = 0; i < sizeof schema_words / sizeof *schema_words; i++) {
        const struct schema_word *word = &schema_words[i];
        const struct node *value = node_find(schema->map, word->name);
        if (!value)
            continue;
        if (!is_as_wanted(value, word->wanted)) {
            mapping_flaw(schema, value->at, "%s must be %s", word->name,
                         wanted_words[word->wanted]);
        } else if (word->wanted == WANT_SCHEMA) {
            struct mapping inner = inside(schema, "schema", word->name, value);
            check_schema(&inner);
        } else if (word->wanted == WANT_SCHEMAS) {
            check_inner_schemas(schema, value);
        }
    }
}

static bool is_of_type(const struct node *value, const char *type)
{
    if (strcmp(type, "object") == 0)
        return value->kind == NODE_MAP;
    if (strcmp(type, "array") == 0)
        return value->kind == NODE_LIST;
    if (strcmp(type, "string") == 0)
        return is_scalar(value, SCALAR_TEXT);
    if (strcmp(type, "integer") == 0)
        return is_scalar(value, SCALAR_INT);
    if (strcmp(type, "number") == 0)
        return is_scalar(value, SCALAR_INT) || is_scalar(value, SCALAR_FLOAT);
    return is_scalar(value, strcmp(type, "null") == 0 ? SCALAR_NULL : SCALAR_BOOL);
}

static bool is_of_types(const struct node *value, const struct node *type)
{
    if (type->kind == NODE_SCALAR)
        return is_of_type(value, type->text);
    for (const struct node *item = type->first; item; item = item->next)
        if (is_of_type(value, item->text))
            return true;
    return false;
}

/* Scalars are compared; a list or mapping in the enum is taken for the value. */
static bool is_one_of(const struct node *value, const struct node *list)
{
    for (const struct node *item = list->first; item; item = item->next)
        if (item->kind != NODE_SCALAR ||
            (is_scalar(value, item->scalar) && item->len == value->len &&
             memcmp(item->text, value->text, item->len) == 0))
            return true;
    return false;
}

static size_t characters(const struct node *text)
{
    size_t count = 0;
    for (size_t i = 0; i < text->len; i++)
        count += ((unsigned char)text->text[i] & 0xC0) != 0x80;
    return count;
}

/* One bound of a value; a bound that does not concern its kind holds. */
static void check_bound(const struct mapping *at, const struct node *value, const char *word,
                        double size, bool is_most)
{
    double bound;
    const struct node *given = node_find(at->map, word);
    if (given && is_number(given, &bound) && (is_most ? size > bound : size < bound))
        mapping_flaw(at, value->at, "does not fit %s: %s", word, given->text);
}

static void check_bounds(const struct mapping *at, const struct node *value)
{
    double number;
    if (is_number(value, &number)) {
        check_bound(at, value, "minimum", number, false);
        check_bound(at, value, "maximum", number, true);
    } else if (is_text(value)) {
        check_bound(at, value, "minLength", (double)characters(value), false);
        check_bound(at, value, "maxLength", (double)characters(value), true);
    } else if (value->kind == NODE_LIST) {
        check_bound(at, value, "minItems", (double)value->count, false);
        check_bound(at, value, "maxItems", (double)value->count, true);
    }
}

/* Further flaws would be dropped; a hostile file could have millions. */
static bool is_enough(const struct mapping *at)
{
    return at->reading->flaws->count >= FLAWS_MAX;
}

static void check_example(const struct mapping *at, const struct node *value);

static void check_members(const struct mapping *at, const struct node *value)
{
    char name[QUOTED_TEXT];
    const struct node *required = node_find(at->map, "required");
    for (const struct node *item = required ? required->first : NULL; item && !is_enough(at);
         item = item->next)
        if (!node_find(value, item->text))
            mapping_flaw(at, value->at, "%s is required and missing", quoted(name, item->text));
    const struct node *properties = node_find(at->map, "properties");
    for (const struct node *key = properties ? properties->first : NULL; key;
         key = key->next->next) {
        const struct node *member = node_find(value, key->text);
        if (!member)
            continue;
        struct mapping inner = inside(at, "example", key->text, key->next);
        check_example(&inner, member);
    }
}

/* `at` has the schema of the value. */
static void check_example(const struct mapping *at, const struct node *value)
{
    const struct node *type = node_find(at->map, "type"), *list = node_find(at->map, "enum"),
                      *items = node_find(at->map, "items");
    if (type && !is_of_types(value, type)) {
        mapping_flaw(at, value->at, "is %s, which its schema does not allow",
                     node_words(value));
        return;
    }
    if (list && !is_one_of(value, list))
        mapping_flaw(at, value->at, "is none of the values of enum");
    check_bounds(at, value);
    if (value->kind == NODE_MAP)
        check_members(at, value);
    if (value->kind == NODE_LIST && items) {
        struct mapping inner = inside(at, "example", "items", items);
        for (const struct node *item = value->first; item && !is_enough(at); item = item->next)
            check_example(&inner, item);
    }
}

/* A key of `input` as JSON; NULL: it is not there, or has a flaw. */
static const char *parse_part(const struct mapping *input, const char *key)
{
    const struct node *value = node_find(input->map, key);
    if (!value)
        return NULL;
    if (is_scalar(value, SCALAR_NULL)) {
        mapping_flaw(input, value->at, "%s has no value", key);
        return NULL;
    }
    const char *json = mapping_json(input, key, value);
    if (json && strlen(json) > INPUT_BYTES_MAX) {
        flaw_limit(input->reading->flaws, value->at,
                   "%s: %s has %zu bytes as JSON, %d are allowed", input->subject, key,
                   strlen(json), INPUT_BYTES_MAX);
        return NULL;
    }
    return json;
}

void input_parse(const struct mapping *mapping, struct workflow *workflow)
{
    static const char *const known[] = {"schema", "example", NULL};
    const struct node *map = mapping_map(mapping, "input");
    if (!map)
        return;
    struct mapping input = {.reading = mapping->reading, .map = map, .subject = "input"};
    mapping_check_keys(&input, known);
    if (map->count == 0)
        mapping_flaw(&input, map->at, "neither schema nor example is there");
    const struct node *schema = mapping_map(&input, "schema");
    workflow->input_schema = schema ? parse_part(&input, "schema") : NULL;
    workflow->input_example = parse_part(&input, "example");

    size_t flaws = mapping->reading->flaws->count;
    if (!workflow->input_schema)
        return;
    struct mapping at = inside(&input, "schema", NULL, schema);
    check_schema(&at);
    at = inside(&input, "example", NULL, schema);
    if (workflow->input_example && mapping->reading->flaws->count == flaws)
        check_example(&at, node_find(map, "example"));
}
