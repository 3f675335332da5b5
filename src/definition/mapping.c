/* definition/mapping.c - reads the values of a mapping, and adds a flaw for each wrong one.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "definition/mapping.h"

#include "base/clock.h"
#include "base/word.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

const char *nearest_word(const char *word, const char *const *known)
{
    const char *nearest = NULL;
    size_t least = strlen(word) < 5 ? 2 : 3; /* a greater distance means another word */
    for (; *known; known++) {
        size_t steps = word_distance(word, *known);
        /* A word that begins with the other one is near as well. */
        size_t len = strlen(word), known_len = strlen(*known),
               shorter = len < known_len ? len : known_len;
        if (steps >= least && shorter >= 3 && strncmp(word, *known, shorter) == 0)
            steps = least - 1;
        if (steps < least) {
            least = steps;
            nearest = *known;
        }
    }
    return nearest;
}

void mapping_flaw(const struct mapping *mapping, struct place at, const char *format, ...)
{
    char text[2 * sizeof((cairn_flaw *)NULL)->message];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    flaw_add(mapping->reading->flaws, at, "%s: %s", mapping->subject, text);
}

static void not_this(const struct mapping *mapping, const struct node *node, const char *key,
                     const char *wanted)
{
    mapping_flaw(mapping, node->at, "%s must be %s, not %s", key, wanted, node_words(node));
}

static bool is_scalar(const struct node *node, enum scalar_kind kind)
{
    return node->kind == NODE_SCALAR && node->scalar == kind;
}

void mapping_check_keys(const struct mapping *mapping, const char *const *known)
{
    for (const struct node *key = mapping->map->first; key; key = key->next->next) {
        const char *const *word = known;
        while (*word && strcmp(*word, key->text) != 0)
            word++;
        if (*word)
            continue;
        char name[QUOTED_TEXT];
        const char *meant = nearest_word(key->text, known);
        quoted(name, key->text);
        if (meant)
            mapping_flaw(mapping, key->at, "unknown key %s; did you mean \"%s\"?", name, meant);
        else
            mapping_flaw(mapping, key->at, "unknown key %s", name);
    }
}

bool mapping_require(const struct mapping *mapping, const char *key)
{
    if (node_find(mapping->map, key))
        return true;
    mapping_flaw(mapping, mapping->map->at, "%s is missing", key);
    return false;
}

static bool text_of(const struct mapping *mapping, const char *key,
                    const struct node **ret_node)
{
    const struct node *node = node_find(mapping->map, key);
    if (!node)
        return false;
    if (node->kind != NODE_SCALAR || node->scalar != SCALAR_TEXT) {
        bool needs_quotes = node->kind == NODE_SCALAR && node->scalar != SCALAR_NULL;
        mapping_flaw(mapping, node->at, "%s must be text, not %s%s", key, node_words(node),
                     needs_quotes ? "; put it in quotes" : "");
        return false;
    }
    if (node->len == 0) {
        mapping_flaw(mapping, node->at, "%s is empty", key);
        return false;
    }
    *ret_node = node;
    return true;
}

static bool keep(const struct mapping *mapping, const struct node *node, const char **ret_text)
{
    struct reading *reading = mapping->reading;
    const char *text =
        reading_got(reading, arena_strndup(reading->arena, node->text, node->len));
    if (text)
        *ret_text = text;
    return text;
}

bool mapping_text(const struct mapping *mapping, const char *key, const char **ret_text)
{
    const struct node *node;
    return text_of(mapping, key, &node) && keep(mapping, node, ret_text);
}

bool mapping_name(const struct mapping *mapping, const char *key, const char **ret_name)
{
    const struct node *node;
    if (!text_of(mapping, key, &node))
        return false;
    if (node->len > NAME_BYTES_MAX) {
        flaw_limit(mapping->reading->flaws, node->at,
                   "%s: %s is too long: %zu bytes, %d are allowed", mapping->subject, key,
                   node->len, NAME_BYTES_MAX);
        return false;
    }
    return keep(mapping, node, ret_name);
}

bool mapping_bool(const struct mapping *mapping, const char *key, bool *ret_value)
{
    const struct node *node = node_find(mapping->map, key);
    if (!node)
        return false;
    if (!is_scalar(node, SCALAR_BOOL)) {
        not_this(mapping, node, key, "true or false");
        return false;
    }
    *ret_value = node_bool(node);
    return true;
}

bool mapping_int(const struct mapping *mapping, const char *key, int32_t min, int32_t max,
                 int32_t *ret_value)
{
    const struct node *node = node_find(mapping->map, key);
    if (!node)
        return false;
    int64_t value;
    if (is_scalar(node, SCALAR_INT) && node_int(node, &value) && value >= min && value <= max) {
        *ret_value = (int32_t)value;
        return true;
    }
    if (max == INT32_MAX)
        mapping_flaw(mapping, node->at, "%s must be a whole number from %d", key, min);
    else
        mapping_flaw(mapping, node->at, "%s must be a whole number from %d to %d", key, min,
                     max);
    return false;
}

bool mapping_fraction(const struct mapping *mapping, const char *key, double *ret_value)
{
    const struct node *node = node_find(mapping->map, key);
    if (!node)
        return false;
    double value;
    bool is_number = is_scalar(node, SCALAR_INT) || is_scalar(node, SCALAR_FLOAT);
    if (!is_number || !node_float(node, &value) || !(value >= 0 && value <= 1)) {
        mapping_flaw(mapping, node->at, "%s must be a number from 0 to 1", key);
        return false;
    }
    *ret_value = value;
    return true;
}

bool mapping_duration(const struct mapping *mapping, const char *key, bool is_zero_allowed,
                      int64_t *ret_us)
{
    const struct node *node = node_find(mapping->map, key);
    if (!node)
        return false;
    int64_t ms;
    if (!is_scalar(node, SCALAR_TEXT) || strlen(node->text) != node->len ||
        !duration_parse(node->text, &ms)) {
        mapping_flaw(mapping, node->at,
                     "%s must be a whole number with ms, s, m, h or d, such as 30s", key);
        return false;
    }
    if (ms == 0 && !is_zero_allowed) {
        mapping_flaw(mapping, node->at, "%s must be longer than 0", key);
        return false;
    }
    *ret_us = ms * US_PER_MS;
    return true;
}

static void say_words(const struct mapping *mapping, const struct node *node, const char *key,
                      const char *const *words)
{
    char list[160] = "";
    for (size_t i = 0; words[i]; i++) {
        if (i)
            strncat(list, words[i + 1] ? ", " : " or ", sizeof list - strlen(list) - 1);
        strncat(list, words[i], sizeof list - strlen(list) - 1);
    }
    mapping_flaw(mapping, node->at, "%s must be %s", key, list);
}

bool mapping_word(const struct mapping *mapping, const char *key, const char *const *words,
                  size_t *ret_index)
{
    const struct node *node = node_find(mapping->map, key);
    if (!node)
        return false;
    for (size_t i = 0; is_scalar(node, SCALAR_TEXT) && words[i]; i++)
        if (strcmp(node->text, words[i]) == 0) {
            *ret_index = i;
            return true;
        }
    say_words(mapping, node, key, words);
    return false;
}

static const struct node *find_of_kind(const struct mapping *mapping, const char *key,
                                       enum node_kind kind, const char *wanted)
{
    const struct node *node = node_find(mapping->map, key);
    if (!node || node->kind == kind)
        return node;
    not_this(mapping, node, key, wanted);
    return NULL;
}

const struct node *mapping_list(const struct mapping *mapping, const char *key)
{
    return find_of_kind(mapping, key, NODE_LIST, "a list");
}

const struct node *mapping_map(const struct mapping *mapping, const char *key)
{
    return find_of_kind(mapping, key, NODE_MAP, "a mapping");
}
