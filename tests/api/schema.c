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
           : strcmp(name, "number") == 0  ? json_is_number(value)
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

static size_t count_fitting(const json_t *document, const json_t *choices, const json_t *value,
                            char *why)
{
    size_t fitting = 0;
    for (size_t i = 0; i < json_array_size(choices); i++)
        fitting += schema_fits(document, json_array_get(choices, i), value, why);
    return fitting;
}

static bool fits_choices(const json_t *document, const json_t *schema, const json_t *value,
                         char *why)
{
    const json_t *one = json_object_get(schema, "oneOf");
    const json_t *any = json_object_get(schema, "anyOf");
    if (one && count_fitting(document, one, value, why) != 1)
        return complain(why, "not exactly one of", value);
    return !any || count_fitting(document, any, value, why) > 0 ||
           complain(why, "none of", value);
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
        "format",  "description", "default",  "anyOf",
        "readOnly"};
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
    const json_t *words = json_object_get(schema, "enum");
    if (!knows_all_words(schema, why))
        return false;
    if (type && !fits_type(type, value))
        return complain(why, "type", value);
    if (words && !is_in(words, value))
        return complain(why, "enum", value);
    if (!fits_choices(document, schema, value, why))
        return false;
    if (json_is_string(value) &&
        json_string_length(value) <
            (size_t)json_integer_value(json_object_get(schema, "minLength")))
        return complain(why, "too short", value);
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

/* ---- any value that fits --------------------------------------------------------------------- */

static unsigned draw(unsigned *seed, unsigned below)
{
    *seed = *seed * 1664525U + 1013904223U;
    return (*seed >> 8) % below;
}

/* The word of a type, one of a list; NULL: any JSON. */
static const char *draw_type(const json_t *schema, unsigned *seed)
{
    const json_t *type = json_object_get(schema, "type");
    if (json_is_array(type))
        type = json_array_get(type, draw(seed, (unsigned)json_array_size(type)));
    return json_string_value(type);
}

static json_t *draw_integer(const json_t *schema, unsigned *seed)
{
    const json_t *least = json_object_get(schema, "minimum");
    const json_t *most = json_object_get(schema, "maximum");
    const json_t *usual = json_object_get(schema, "default");
    json_int_t low = json_integer_value(least);
    switch (draw(seed, 4)) {
    case 0:
        return json_integer(most ? json_integer_value(most) : low + 1000000);
    case 1:
        return json_integer(usual ? json_integer_value(usual) : low);
    case 2:
        return json_integer(!most || low < json_integer_value(most) ? low + 1 : low);
    default:
        return json_integer(low);
    }
}

static json_t *draw_any(unsigned *seed)
{
    static const char *const values[] = {"null", "0",  "true",        "\"s\"",
                                         "{}",   "[]", "{\"a\": [1]}"};
    return json_loads(values[draw(seed, sizeof values / sizeof *values)], JSON_DECODE_ANY,
                      NULL);
}

static json_t *draw_object(const json_t *document, const json_t *schema,
                           const char *(*text_of)(const char *name, unsigned turn),
                           unsigned *seed)
{
    json_t *value = json_object();
    const json_t *required = json_object_get(schema, "required");
    const char *name;
    json_t *inner;
    json_object_foreach(json_object_get(schema, "properties"), name, inner)
    {
        json_t *word = json_string(name);
        if (is_in(required, word) || draw(seed, 3) == 0)
            json_object_set_new(value, name, schema_draw(document, inner, name, text_of, seed));
        json_decref(word);
    }
    return value;
}

static json_t *draw_array(const json_t *document, const json_t *schema, const char *name,
                          const char *(*text_of)(const char *name, unsigned turn),
                          unsigned *seed)
{
    json_t *list = json_array();
    const json_t *most = json_object_get(schema, "maxItems");
    json_int_t count = json_integer_value(json_object_get(schema, "minItems")) + draw(seed, 3);
    if (most && count > json_integer_value(most))
        count = json_integer_value(most);
    for (json_int_t i = 0; i < count; i++)
        json_array_append_new(
            list, schema_draw(document, json_object_get(schema, "items"), name, text_of, seed));
    return list;
}

static json_t *draw_once(const json_t *document, const json_t *schema, const char *name,
                         const char *(*text_of)(const char *name, unsigned turn),
                         unsigned *seed)
{
    const json_t *choices = json_object_get(schema, "oneOf");
    const json_t *words = json_object_get(schema, "enum");
    if (choices)
        return schema_draw(
            document, json_array_get(choices, draw(seed, (unsigned)json_array_size(choices))),
            name, text_of, seed);
    if (words)
        return json_deep_copy(
            json_array_get(words, draw(seed, (unsigned)json_array_size(words))));
    const char *type = draw_type(schema, seed);
    if (!type)
        return draw_any(seed);
    if (strcmp(type, "object") == 0)
        return draw_object(document, schema, text_of, seed);
    if (strcmp(type, "array") == 0)
        return draw_array(document, schema, name, text_of, seed);
    if (strcmp(type, "integer") == 0)
        return draw(seed, 8) == 0 && json_object_get(schema, "anyOf")
                   ? json_integer(0)
                   : draw_integer(schema, seed);
    if (strcmp(type, "number") == 0)
        return json_real(0.5);
    if (strcmp(type, "boolean") == 0)
        return json_boolean(draw(seed, 2));
    if (strcmp(type, "string") == 0 && json_object_get(schema, "format"))
        return json_string("2027-01-15T08:00:00.000Z");
    return strcmp(type, "null") == 0 ? json_null() : json_string(text_of(name, draw(seed, 16)));
}

json_t *schema_draw(const json_t *document, const json_t *schema, const char *name,
                    const char *(*text_of)(const char *name, unsigned turn), unsigned *seed)
{
    char why[WHY];
    schema = schema_resolve(document, schema);
    if (strcmp(name, "wait_ms") == 0)
        return json_integer(0); /* it is real time */
    for (;;) {
        json_t *value = draw_once(document, schema, name, text_of, seed);
        if (schema_fits(document, schema, value, why))
            return value;
        json_decref(value);
    }
}
