/* core/tag.c - tags: names and texts by which a job or an instance is found.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "core/tag.h"

#include "base/error.h"
#include "base/json.h"
#include "base/scan.h"

#include <string.h>

/* ---- what is given ------------------------------------------------------------------------- */

static cairn_code check_name(const char *name, cairn_error *reterr)
{
    size_t len = strlen(name);
    if (len > 0 && len <= TAG_NAME_MAX && !strpbrk(name, ":="))
        return CAIRN_OK;
    return fail(reterr, CAIRN_E_BAD_INPUT,
                "the name \"%.64s\" of a tag must have 1 to %d bytes, without : and =", name,
                (int)TAG_NAME_MAX);
}

static cairn_code check_value(const char *name, const char *value, cairn_error *reterr)
{
    if (!value)
        return fail(reterr, CAIRN_E_BAD_INPUT, "the value of the tag \"%.64s\" is not a text",
                    name);
    if (strlen(value) <= TAG_VALUE_MAX)
        return CAIRN_OK;
    return fail(reterr, CAIRN_E_BAD_INPUT,
                "the value of the tag \"%.64s\" has more than %d bytes", name,
                (int)TAG_VALUE_MAX);
}

static cairn_code check_tree(json_t *tree, cairn_error *reterr)
{
    const char *name;
    json_t *value;
    if (!json_is_object(tree))
        return fail(reterr, CAIRN_E_BAD_INPUT, "tags is not a JSON object");
    size_t count = json_object_size(tree);
    if (count > TAGS_MAX)
        return fail(reterr, CAIRN_E_BAD_INPUT, "there are %zu tags; %d are allowed", count,
                    (int)TAGS_MAX);
    json_object_foreach(tree, name, value)
    {
        TRY(check_name(name, reterr));
        TRY(check_value(name, json_is_text(value) ? json_string_value(value) : NULL, reterr));
    }
    return CAIRN_OK;
}

cairn_code tags_check(const char *json, cairn_error *reterr)
{
    enum { BYTES_MAX = TAGS_MAX * 6 * (TAG_NAME_MAX + TAG_VALUE_MAX + 8) }; /* all escaped */
    json_t *tree = NULL;
    if (!json)
        return CAIRN_OK;
    size_t len = strnlen(json, BYTES_MAX + 1);
    if (len > BYTES_MAX)
        return fail(reterr, CAIRN_E_BAD_INPUT, "tags is too large");
    TRY(json_read(json, len, "tags", &tree, reterr));
    cairn_code code = check_tree(tree, reterr);
    json_decref(tree);
    return code;
}

const char *tags_or_null(const char *json)
{
    struct slice object, key, value;
    struct scan scan;
    if (!json || !scan_text(json, strlen(json), &object) || !scan_object(object, &scan))
        return NULL;
    return scan_member(&scan, &key, &value) ? json : NULL;
}

/* ---- what is asked for --------------------------------------------------------------------- */

cairn_code tag_read(const char *text, struct arena *arena, struct tag *ret_tag,
                    cairn_error *reterr)
{
    const char *colon = strchr(text, ':');
    if (!colon)
        return fail(reterr, CAIRN_E_BAD_INPUT, "tag \"%.64s\" is not name:value", text);
    *ret_tag = (struct tag){.name = arena_strndup(arena, text, (size_t)(colon - text)),
                            .value = arena_strdup(arena, colon + 1)};
    NEED(ret_tag->name && ret_tag->value, reterr);
    TRY(check_name(ret_tag->name, reterr));
    return check_value(ret_tag->name, ret_tag->value, reterr);
}

static bool has_tag(struct slice object, const struct tag *tag)
{
    char text[TAG_VALUE_MAX + 1];
    struct slice value = scan_find(object, tag->name);
    return value.len && slice_unescape(value, text, sizeof text) &&
           strcmp(text, tag->value) == 0;
}

bool tags_have(const char *json, const struct tag *tags, size_t count)
{
    struct slice object = {0};
    bool has_all = count == 0 || (json && scan_text(json, strlen(json), &object));
    for (size_t i = 0; has_all && i < count; i++)
        has_all = has_tag(object, &tags[i]);
    return has_all;
}
