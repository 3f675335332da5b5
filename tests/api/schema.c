/* tests/api/schema.c - whether a JSON value is what a schema says.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "schema.h"

#include <stdio.h>
#include <string.h>

enum { WHY = 300 };

const json_t *schema_resolve(const json_t *document, const json_t *schema)
{
    const char *reference;
    while (schema && (reference = json_string_value(json_object_get(schema, "$ref")))) {
        char path[200];
        snprintf(path, sizeof path, "%s", reference + 2);
        char *rest = path;
        schema = document;
        for (char *step; schema && (step = strsep(&rest, "/"));)
            schema = json_object_get(schema, step);
    }
    return schema;
}

static bool complain(char *why, const char *text, const json_t *value)
{
    char *shown = json_dumps(value, JSON_ENCODE_ANY | JSON_COMPACT);
    snprintf(why, WHY, "%s: %.200s", text, shown ? shown : "?");
    free(shown);
    return false;
}

static bool is_type(const char *name, const json_t *value)
{
    return strcmp(name, "object") == 0    ? json_is_object(value)
           : strcmp(name, "array") == 0   ? json_is_array(value)
           : strcmp(name, "string") == 0  ? json_is_string(value)
           : strcmp(name, "integer") == 0 ? json_is_integer(value)
           : strcmp(name, "boolean") == 0 ? json_is_boolean(value)
           : strcmp(name, "null") == 0    ? json_is_null(value)
                                          : false;
}

static bool fits_type(const json_t *type, const json_t *value)
{
    if (json_is_string(type))
        return is_type(json_string_value(type), value);
    for (size_t i = 0; i < json_array_size(type); i++)
        if (is_type(json_string_value(json_array_get(type, i)), value))
            return true;
    return false;
}

static bool is_in(const json_t *list, const json_t *value)
{
    for (size_t i = 0; i < json_array_size(list); i++)
        if (json_equal(json_array_get(list, i), value))
            return true;
    return false;
}

static bool fits_object(const json_t *document, const json_t *schema, const json_t *value,
                        char *why)
{
    const json_t *properties = json_object_get(schema, "properties");
    const json_t *required = json_object_get(schema, "required");
    const char *name;
    json_t *entry;
    for (size_t i = 0; i < json_array_size(required); i++)
        if (!json_object_get(value, json_string_value(json_array_get(required, i))))
            return complain(why, json_string_value(json_array_get(required, i)), value);
    json_object_foreach((json_t *)value, name, entry)
    {
        const json_t *inner = json_object_get(properties, name);
        if (!inner && json_is_false(json_object_get(schema, "additionalProperties")))
            return complain(why, name, value);
        if (inner && !schema_fits(document, inner, entry, why))
            return false;
    }
    return true;
}

static bool fits_array(const json_t *document, const json_t *schema, const json_t *value,
                       char *why)
{
    const json_t *items = json_object_get(schema, "items");
    const json_t *least = json_object_get(schema, "minItems");
    const json_t *most = json_object_get(schema, "maxItems");
    long long count = (long long)json_array_size(value);
    if ((least && count < json_integer_value(least)) ||
        (most && count > json_integer_value(most)))
        return complain(why, "count", value);
    for (size_t i = 0; items && i < json_array_size(value); i++)
        if (!schema_fits(document, items, json_array_get(value, i), why))
            return false;
    return true;
}

static bool fits_range(const json_t *schema, const json_t *value, char *why)
{
    const json_t *least = json_object_get(schema, "minimum");
    const json_t *most = json_object_get(schema, "maximum");
    long long number = json_integer_value(value);
    if ((least && number < json_integer_value(least)) ||
        (most && number > json_integer_value(most)))
        return complain(why, "range", value);
    return true;
}

static bool fits_one(const json_t *document, const json_t *choices, const json_t *value,
                     char *why)
{
    int fitting = 0;
    for (size_t i = 0; i < json_array_size(choices); i++)
        fitting += schema_fits(document, json_array_get(choices, i), value, why);
    return fitting == 1 || complain(why, "not exactly one of", value);
}

/* "2027-01-15T08:00:00.000Z" */
static bool is_time(const char *text)
{
    static const char form[] = "dddd-dd-ddTdd:dd:dd.dddZ";
    for (size_t i = 0; i < sizeof form; i++)
        if (form[i] == 'd' ? text[i] < '0' || text[i] > '9' : text[i] != form[i])
            return false;
    return true;
}

static bool knows_all_words(const json_t *schema, char *why)
{
    static const char *const known[] = {
        "type",    "properties",  "required", "additionalProperties",
        "items",   "minItems",    "maxItems", "minimum",
        "maximum", "minLength",   "enum",     "oneOf",
        "format",  "description", "default"};
    const char *word;
    json_t *entry;
    json_object_foreach((json_t *)schema, word, entry)
    {
        bool is_known = false;
        for (size_t i = 0; i < sizeof known / sizeof *known; i++)
            is_known = is_known || strcmp(word, known[i]) == 0;
        if (!is_known)
            return complain(why, "an unknown word in the schema", schema);
    }
    return true;
}

bool schema_fits(const json_t *document, const json_t *schema, const json_t *value, char *why)
{
    schema = schema_resolve(document, schema);
    if (!schema)
        return complain(why, "no schema for", value);
    const json_t *type = json_object_get(schema, "type");
    const json_t *choices = json_object_get(schema, "oneOf");
    const json_t *words = json_object_get(schema, "enum");
    if (!knows_all_words(schema, why))
        return false;
    if (type && !fits_type(type, value))
        return complain(why, "type", value);
    if (words && !is_in(words, value))
        return complain(why, "enum", value);
    if (choices && !fits_one(document, choices, value, why))
        return false;
    if (json_object_get(schema, "format") && json_is_string(value) &&
        !is_time(json_string_value(value)))
        return complain(why, "time", value);
    if (json_is_integer(value))
        return fits_range(schema, value, why);
    if (json_is_object(value))
        return fits_object(document, schema, value, why);
    return json_is_array(value) ? fits_array(document, schema, value, why) : true;
}

static json_t *sample_object(const json_t *document, const json_t *schema)
{
    json_t *value = json_object();
    const json_t *required = json_object_get(schema, "required");
    for (size_t i = 0; i < json_array_size(required); i++) {
        const char *name = json_string_value(json_array_get(required, i));
        const json_t *inner = json_object_get(json_object_get(schema, "properties"), name);
        json_object_set_new(value, name, schema_sample(document, inner));
    }
    return value;
}

json_t *schema_sample(const json_t *document, const json_t *schema)
{
    schema = schema_resolve(document, schema);
    const json_t *choices = json_object_get(schema, "oneOf");
    const json_t *words = json_object_get(schema, "enum");
    const char *type = json_string_value(json_object_get(schema, "type"));
    if (choices)
        return schema_sample(document, json_array_get(choices, 0));
    if (words)
        return json_deep_copy(json_array_get(words, 0));
    if (!type)
        return json_null();
    if (strcmp(type, "object") == 0)
        return sample_object(document, schema);
    if (strcmp(type, "array") == 0) {
        json_t *list = json_array();
        if (json_object_get(schema, "minItems"))
            json_array_append_new(list,
                                  schema_sample(document, json_object_get(schema, "items")));
        return list;
    }
    if (strcmp(type, "integer") == 0)
        return json_integer(json_integer_value(json_object_get(schema, "minimum")));
    return strcmp(type, "boolean") == 0 ? json_true() : json_string("x");
}
