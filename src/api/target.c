/* api/target.c - takes a request's target apart: path segments and query parameters.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "api/target.h"

#include "base/clock.h"
#include "base/error.h"
#include "base/json.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int hex_digit(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    c |= 0x20;
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* Decodes percent signs in place (and, in a query, the plus that stands for a space).  False if
 * a percent sign is not followed by two digits, or the result is no text. */
static bool decode(char *text, bool is_query)
{
    char *to = text;
    for (const char *from = text; *from; from++) {
        if (*from == '%') {
            int high = hex_digit(from[1]);
            int low = high < 0 ? -1 : hex_digit(from[2]);
            if (low < 0)
                return false;
            *to++ = (char)(high * 16 + low);
            from += 2;
        } else {
            *to++ = is_query && *from == '+' ? ' ' : *from;
        }
    }
    *to = '\0';
    return utf8_is_valid(text, (size_t)(to - text));
}

static cairn_code refuse_encoding(struct request *request, const char *what)
{
    return request->code = fail(&request->error, CAIRN_E_BAD_INPUT,
                                "the %s is not percent-encoded UTF-8 (or contains %%00)", what);
}

static cairn_code read_path(char *path, struct request *request, struct target *target)
{
    char *rest = *path == '/' ? path + 1 : NULL; /* anything else is no route's path */
    while (rest) {
        char *segment = strsep(&rest, "/");
        if (!decode(segment, false))
            return refuse_encoding(request, "path");
        if (target->segment_count < SEGMENTS_MAX)
            target->segments[target->segment_count] = segment;
        if (target->segment_count <= SEGMENTS_MAX)
            target->segment_count++;
    }
    return CAIRN_OK;
}

static cairn_code add_param(char *name, char *value, struct request *request,
                            struct target *target)
{
    if (!decode(name, true) || !decode(value, true))
        return refuse_encoding(request, "query");
    if (target->param_count == PARAMS_MAX)
        return request->code = fail(&request->error, CAIRN_E_BAD_INPUT,
                                    "the query has more than %d parameters", (int)PARAMS_MAX);
    target->params[target->param_count++] = (struct param){name, value};
    return CAIRN_OK;
}

static cairn_code read_query(char *query, struct request *request, struct target *target)
{
    while (query) {
        char *value = strsep(&query, "&");
        char *name = strsep(&value, "=");
        if (!*name && !value)
            continue;
        TRY(add_param(name, value ? value : name + strlen(name), request, target));
    }
    return CAIRN_OK;
}

cairn_code target_read(const char *text, struct request *request, struct target *ret_target)
{
    *ret_target = (struct target){0};
    char *query = arena_strdup(&request->arena, text);
    if (!query)
        return request->code = fail_memory(&request->error);
    char *path = strsep(&query, "?");
    TRY(read_path(path, request, ret_target));
    return read_query(query, request, ret_target);
}

const char *target_param(const struct target *target, const char *name)
{
    for (size_t i = 0; i < target->param_count; i++)
        if (strcmp(target->params[i].name, name) == 0)
            return target->params[i].value[0] ? target->params[i].value : NULL;
    return NULL;
}

static int64_t read_number(const struct field *field, const char *text, struct request *request)
{
    if (!text)
        return field->fallback;
    size_t digits = strspn(text, "0123456789");
    long long value =
        digits > 0 && digits <= 18 && !text[digits] ? strtoll(text, NULL, 10) : -1;
    if (value < field->least || value > field->most)
        request->code =
            fail(&request->error, CAIRN_E_BAD_INPUT,
                 "query parameter \"%s\" must be an integer from %lld to %lld, not \"%.64s\"",
                 field->name, (long long)field->least, (long long)field->most, text);
    return value;
}

static int64_t read_time(const struct field *field, const char *text, struct request *request)
{
    int64_t us = 0;
    if (text && !instant_parse(text, &us))
        request->code = fail(&request->error, CAIRN_E_BAD_INPUT,
                             "query parameter \"%s\" must be a time such as "
                             "2026-11-15T06:30:00Z, not \"%.64s\"",
                             field->name, text);
    return us;
}

static bool read_flag(const struct field *field, const char *text, struct request *request)
{
    const char *other = field->words[1];
    bool is_first = text && strcmp(text, field->words[0]) == 0;
    if (text && !is_first && !(other && strcmp(text, other) == 0))
        request->code =
            fail(&request->error, CAIRN_E_BAD_INPUT,
                 "query parameter \"%s\" must be %s%s%s, not \"%.64s\"", field->name,
                 field->words[0], other ? " or " : "", other ? other : "", text);
    return is_first;
}

/* A parameter that may be given more than once. */
static void read_texts(const struct target *target, struct request *request,
                       const struct field *field, void *to)
{
    size_t count = 0;
    const char **texts = arena_array(&request->arena, PARAMS_MAX, sizeof *texts);
    if (!texts) {
        request->code = fail_memory(&request->error);
        return;
    }
    for (size_t i = 0; i < target->param_count; i++)
        if (strcmp(target->params[i].name, field->name) == 0 && target->params[i].value[0])
            texts[count++] = target->params[i].value;
    field_put_list(field, to, texts, count);
}

void target_read_query(const struct target *target, struct request *request,
                       const struct object *query, void *to)
{
    for (size_t i = 0; i < query->count; i++) {
        const struct field *field = &query->fields[i];
        const char *text = target_param(target, field->name);
        if (field->kind == FIELD_TEXT)
            field_put_pointer(field, to, text);
        else if (field->kind == FIELD_TEXTS)
            read_texts(target, request, field, to);
        else if (field->kind == FIELD_FLAG)
            field_put_number(field, to, read_flag(field, text, request));
        else if (field->kind == FIELD_TIME)
            field_put_number(field, to, read_time(field, text, request));
        else
            field_put_number(field, to, read_number(field, text, request));
    }
}

static void hint_names(struct request *request, const struct object *query)
{
    char known[256] = "";
    size_t used = 0;
    if (!query) {
        fail_hint(&request->error, request->code, "this route has no query parameters");
        return;
    }
    for (size_t i = 0; i < query->count && used < sizeof known; i++)
        used += (size_t)snprintf(known + used, sizeof known - used, "%s%s", i ? ", " : "",
                                 query->fields[i].name);
    fail_hint(&request->error, request->code, "the parameters here are: %s", known);
}

static bool is_given_before(const struct target *target, size_t index)
{
    for (size_t i = 0; i < index; i++)
        if (strcmp(target->params[i].name, target->params[index].name) == 0)
            return true;
    return false;
}

cairn_code target_allow(const struct target *target, struct request *request,
                        const struct object *query)
{
    for (size_t i = 0; i < target->param_count; i++) {
        const char *name = target->params[i].name;
        size_t offset;
        const struct field *field =
            query ? field_named(query, name, strlen(name), &offset) : NULL;
        if (field && field->kind != FIELD_TEXTS && is_given_before(target, i))
            return request->code = fail(&request->error, CAIRN_E_BAD_INPUT,
                                        "query parameter \"%.64s\" is given twice", name);
        if (field)
            continue;
        request->code = fail(&request->error, CAIRN_E_BAD_INPUT,
                             "query parameter \"%.64s\" is unknown", name);
        hint_names(request, query);
        return request->code;
    }
    return CAIRN_OK;
}
