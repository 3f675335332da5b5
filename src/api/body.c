/* api/body.c - reads the fields of a JSON object, strictly.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "api/body.h"

#include "base/clock.h"
#include "base/error.h"

#include <assert.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

enum { FULL_NAME = 240, WORD_LIST = 160 };

static const char *kind_of(const json_t *value)
{
    assert(value);
    switch (json_typeof(value)) {
    case JSON_OBJECT:
        return "an object";
    case JSON_ARRAY:
        return "an array";
    case JSON_STRING:
        return "a string";
    case JSON_INTEGER:
        return "a number";
    case JSON_REAL:
        return "a number with decimals";
    case JSON_NULL:
        return "null";
    default:
        return "a truth value";
    }
}

/* Where an object stands: "claim." or "steps[3].outbound[0]."; its length. */
static size_t place_name(const struct fields *fields, char room[FULL_NAME])
{
    size_t used = fields->parent ? place_name(fields->parent, room) : 0;
    if (!fields->name || used >= FULL_NAME)
        return used;
    if (fields->index < 0)
        used += (size_t)snprintf(room + used, FULL_NAME - used, "%s.", fields->name);
    else
        used += (size_t)snprintf(room + used, FULL_NAME - used, "%s[%ld].", fields->name,
                                 fields->index);
    return used;
}

/* "type", "claim.max", "jobs[3].type" or "steps[3].outbound[0].event". */
static const char *full_name(const struct fields *fields, const char *name,
                             char room[FULL_NAME])
{
    size_t used = place_name(fields, room);
    if (used < FULL_NAME)
        snprintf(room + used, FULL_NAME - used, "%.64s", name);
    return room;
}

/* field "NAME" ...; the first mistake is kept. */
static void refuse_field(struct fields *fields, const char *name, cairn_code code,
                         const char *format, ...) format_like(4, 5);

static void refuse_field(struct fields *fields, const char *name, cairn_code code,
                         const char *format, ...)
{
    struct request *request = fields->request;
    char room[FULL_NAME], why[FULL_NAME];
    va_list args;
    if (request->code)
        return;
    va_start(args, format);
    vsnprintf(why, sizeof why, format, args);
    va_end(args);
    request->code =
        fail(&request->error, code, "field \"%s\" %s", full_name(fields, name, room), why);
}

static void refuse(struct fields *fields, const char *name, const char *wanted,
                   const json_t *value)
{
    refuse_field(fields, name, CAIRN_E_BAD_INPUT, "must be %s, not %s", wanted, kind_of(value));
}

static void refuse_missing(struct fields *fields, const char *name)
{
    if (!fields->request->code)
        fields->missing = name;
    refuse_field(fields, name, CAIRN_E_BAD_INPUT, "is missing");
}

static void refuse_count(struct fields *fields, const char *name, size_t count, size_t least,
                         size_t most)
{
    refuse_field(fields, name, count > most ? CAIRN_E_TOO_LARGE : CAIRN_E_BAD_INPUT,
                 "must have %zu to %zu entries, not %zu", least, most, count);
}

static void no_memory(struct fields *fields)
{
    if (!fields->request->code)
        fields->request->code = fail_memory(&fields->request->error);
}

/* The field as it was sent, null included; NULL: it was not, or there was a mistake before. */
static const json_t *ask_any(struct fields *fields, const char *name)
{
    assert(fields->asked_count < FIELDS_MAX);
    fields->asked[fields->asked_count++] = name;
    if (!fields->object || fields->request->code)
        return NULL;
    const json_t *value = json_object_get(fields->object, name);
    if (value)
        fields->found++;
    return value;
}

/* The same, null counting as left out. */
static const json_t *ask(struct fields *fields, const char *name, enum need need)
{
    const json_t *value = ask_any(fields, name);
    if (value && !json_is_null(value))
        return value;
    if (need == REQUIRED)
        refuse_missing(fields, name);
    return NULL;
}

static bool is_blank(const char *text, size_t len)
{
    for (size_t i = 0; i < len; i++)
        if (text[i] != ' ' && text[i] != '\t' && text[i] != '\n' && text[i] != '\r')
            return false;
    return true;
}

cairn_code body_read(const char *text, size_t len, struct request *request,
                     struct fields *ret_fields, json_t **ret_tree)
{
    *ret_fields = (struct fields){.request = request, .index = -1};
    *ret_tree = NULL;
    if (!text || is_blank(text, len))
        return CAIRN_OK;

    request->code = json_read(text, len, "body", ret_tree, &request->error);
    if (request->code)
        return request->code;
    if (!json_is_object(*ret_tree)) {
        request->code = fail(&request->error, CAIRN_E_BAD_INPUT,
                             "body must be a JSON object, not %s", kind_of(*ret_tree));
        return request->code;
    }
    ret_fields->object = *ret_tree;
    scan_text(text, len, &ret_fields->text);
    return CAIRN_OK;
}

static const char *copy_text(struct fields *fields, const json_t *value)
{
    const char *copy = arena_strndup(&fields->request->arena, json_string_value(value),
                                     json_string_length(value));
    if (!copy)
        no_memory(fields);
    return copy;
}

const char *field_text(struct fields *fields, const char *name, enum need need)
{
    const json_t *value = ask(fields, name, need);
    if (!value)
        return NULL;
    if (!json_is_string(value)) {
        refuse(fields, name, "a string", value);
        return NULL;
    }
    return copy_text(fields, value);
}

/* "a, b or c" */
static void list_words(const char *const *words, char room[WORD_LIST])
{
    size_t used = 0;
    for (size_t i = 0; words[i] && used < WORD_LIST; i++) {
        const char *before = i == 0 ? "" : words[i + 1] ? ", " : " or ";
        used += (size_t)snprintf(room + used, WORD_LIST - used, "%s%s", before, words[i]);
    }
}

const char *field_word(struct fields *fields, const char *name, const char *const *words,
                       enum need need)
{
    char list[WORD_LIST] = "";
    const char *text = field_text(fields, name, need);
    if (!text)
        return NULL;
    for (size_t i = 0; words[i]; i++)
        if (strcmp(words[i], text) == 0)
            return words[i];
    list_words(words, list);
    refuse_field(fields, name, CAIRN_E_BAD_INPUT, "must be %s, not \"%.64s\"", list, text);
    return NULL;
}

static int64_t to_int(struct fields *fields, const char *name, const json_t *value,
                      int64_t least, int64_t most, int64_t fallback)
{
    if (!json_is_integer(value)) {
        refuse(fields, name, "an integer", value);
        return fallback;
    }
    int64_t number = json_integer_value(value);
    if (number >= least && number <= most)
        return number;
    refuse_field(fields, name, CAIRN_E_BAD_INPUT,
                 "must be from %" PRId64 " to %" PRId64 ", not %" PRId64, least, most, number);
    return fallback;
}

int64_t field_int(struct fields *fields, const char *name, int64_t least, int64_t most,
                  int64_t fallback)
{
    const json_t *value = ask(fields, name, OPTIONAL);
    return value ? to_int(fields, name, value, least, most, fallback) : fallback;
}

int64_t field_int_needed(struct fields *fields, const char *name, int64_t least, int64_t most)
{
    const json_t *value = ask(fields, name, REQUIRED);
    return value ? to_int(fields, name, value, least, most, least) : least;
}

bool field_bool(struct fields *fields, const char *name, bool fallback)
{
    const json_t *value = ask(fields, name, OPTIONAL);
    if (!value)
        return fallback;
    if (!json_is_boolean(value)) {
        refuse(fields, name, "true or false", value);
        return fallback;
    }
    return json_is_true(value);
}

int64_t field_time(struct fields *fields, const char *name)
{
    struct request *request = fields->request;
    int64_t us = 0;
    const json_t *value = ask(fields, name, OPTIONAL);
    if (!value)
        return 0;
    if (!json_is_string(value)) {
        refuse(fields, name, "a time such as \"2026-11-15T06:30:00Z\"", value);
        return 0;
    }
    if (instant_parse(json_string_value(value), &us))
        return us;
    refuse_field(fields, name, CAIRN_E_BAD_INPUT,
                 "must be a time such as \"2026-11-15T06:30:00Z\"");
    fail_detail(&request->error, request->code, "it is \"%.64s\"", json_string_value(value));
    return 0;
}

const char *field_json(struct fields *fields, const char *name)
{
    if (!ask_any(fields, name))
        return NULL;
    struct slice value = scan_find(fields->text, name);
    assert(value.text);
    const char *copy = slice_json(value, &fields->request->arena);
    if (!copy)
        no_memory(fields);
    return copy;
}

const char *const *field_texts(struct fields *fields, const char *name, size_t least,
                               size_t most, size_t *ret_count)
{
    *ret_count = 0;
    const json_t *array = ask(fields, name, REQUIRED);
    if (!array)
        return NULL;
    if (!json_is_array(array)) {
        refuse(fields, name, "an array of strings", array);
        return NULL;
    }
    size_t count = json_array_size(array);
    if (count < least || count > most) {
        refuse_count(fields, name, count, least, most);
        return NULL;
    }
    const char **texts = arena_array(&fields->request->arena, count, sizeof *texts);
    if (!texts) {
        no_memory(fields);
        return NULL;
    }
    for (size_t i = 0; i < count; i++) {
        const json_t *entry = json_array_get(array, i);
        if (!json_is_string(entry)) {
            refuse(fields, name, "an array of strings", entry);
            return NULL;
        }
        texts[i] = copy_text(fields, entry);
    }
    *ret_count = count;
    return texts;
}

bool field_object(struct fields *fields, const char *name, struct fields *ret_inner)
{
    const json_t *value = ask(fields, name, OPTIONAL);
    if (!value)
        return false;
    if (!json_is_object(value)) {
        refuse(fields, name, "an object", value);
        return false;
    }
    *ret_inner = (struct fields){.request = fields->request,
                                 .max_batch = fields->max_batch,
                                 .object = value,
                                 .text = scan_find(fields->text, name),
                                 .parent = fields,
                                 .name = name,
                                 .index = -1};
    return true;
}

struct field_items field_items(struct fields *fields, const char *name, size_t most,
                               enum need need)
{
    struct field_items items = {.name = name};
    const json_t *array = ask(fields, name, need);
    if (!array)
        return items;
    if (!json_is_array(array)) {
        refuse(fields, name, "an array of objects", array);
        return items;
    }
    size_t count = json_array_size(array);
    if (count > most) {
        refuse_count(fields, name, count, 1, most);
        return items;
    }
    scan_list(scan_find(fields->text, name), &items.texts);
    items.array = array;
    items.count = count;
    return items;
}

bool field_items_next(struct fields *fields, struct field_items *items,
                      struct fields *ret_inner)
{
    if (fields->request->code || items->index == items->count)
        return false;
    const json_t *entry = json_array_get(items->array, items->index);
    if (!json_is_object(entry)) {
        refuse(fields, items->name, "an array of objects", entry);
        return false;
    }
    *ret_inner = (struct fields){.request = fields->request,
                                 .max_batch = fields->max_batch,
                                 .object = entry,
                                 .parent = fields,
                                 .name = items->name,
                                 .index = (long)items->index};
    bool is_there = scan_item(&items->texts, &ret_inner->text);
    assert(is_there);
    items->index++;
    return true;
}

bool field_is_there(const struct fields *fields, const char *name)
{
    return fields->object && json_object_get(fields->object, name);
}

void field_refuse_empty(struct fields *fields, const char *name, size_t most)
{
    if (field_is_there(fields, name))
        refuse_count(fields, name, 0, 1, most);
    else
        refuse_missing(fields, name);
}

/* ---- by tables ---------------------------------------------------------------------------- */

static void read_items(struct fields *fields, const struct field *field, void *to)
{
    size_t most = field->most == MOST_IN_BATCH ? fields->max_batch : (size_t)field->most;
    size_t size = field->inner->size;
    struct fields one;
    struct field_items items =
        field_items(fields, field->name, most, field->is_needed ? REQUIRED : OPTIONAL);
    char *room = arena_array(&fields->request->arena, items.count + 1, size);
    if (!room) {
        no_memory(fields);
        return;
    }
    while (field_items_next(fields, &items, &one)) {
        fields_read(&one, field->inner, room + (items.index - 1) * size);
        fields_end(&one);
    }
    field_put_list(field, to, room, items.count);
}

static void read_texts(struct fields *fields, const struct field *field, void *to)
{
    const char *const *texts = NULL;
    size_t count = 0;
    const json_t *value = fields->object ? json_object_get(fields->object, field->name) : NULL;
    if (field->is_needed || (value && !json_is_null(value)))
        texts =
            field_texts(fields, field->name, (size_t)field->least, (size_t)field->most, &count);
    else
        ask_any(fields, field->name);
    field_put_list(field, to, texts, count);
}

static void read_object(struct fields *fields, const struct field *field, void *to)
{
    struct fields inner;
    if (!field_object(fields, field->name, &inner))
        return;
    fields_read(&inner, field->inner, to);
    fields_end(&inner);
}

static enum passage_outcome read_outcome(struct fields *fields, const char *name)
{
    const char *words[PASSAGE_OUTCOME_COUNT] = {0};
    for (int i = PASSAGE_NONE + 1; i < PASSAGE_OUTCOME_COUNT; i++)
        words[i - 1] = passage_outcome_name((enum passage_outcome)i);
    const char *word = field_word(fields, name, words, REQUIRED);
    return word ? passage_outcome_from(word) : PASSAGE_NONE;
}

static int64_t read_int(struct fields *fields, const struct field *field)
{
    int64_t most = field->most == MOST_IN_BATCH ? (int64_t)fields->max_batch : field->most;
    if (field->is_needed)
        return field_int_needed(fields, field->name, field->least, most);
    return field_int(fields, field->name, field->least, most, field->fallback);
}

static void read_value(struct fields *fields, const struct field *field, void *to)
{
    const char *name = field->name, *word;
    enum need need = field->is_needed ? REQUIRED : OPTIONAL;
    switch (field->kind) {
    case FIELD_TEXT:
        field_put_pointer(field, to, field_text(fields, name, need));
        break;
    case FIELD_JSON:
        field_put_pointer(field, to, field_json(fields, name));
        break;
    case FIELD_CHOICE:
        field_put_pointer(field, to, field_word(fields, name, field->words, need));
        break;
    case FIELD_FLAG:
        word = field_word(fields, name, field->words, need);
        field_put_number(field, to, word && word == field->words[0]);
        break;
    case FIELD_INT:
    case FIELD_UINT:
        field_put_number(field, to, read_int(fields, field));
        break;
    case FIELD_BOOL:
        field_put_number(field, to, field_bool(fields, name, field->fallback != 0));
        break;
    case FIELD_TIME:
        field_put_number(field, to, field_time(fields, name));
        break;
    case FIELD_OUTCOME:
        field_put_number(field, to, read_outcome(fields, name));
        break;
    case FIELD_TEXTS:
        read_texts(fields, field, to);
        break;
    case FIELD_LIST:
        read_items(fields, field, to);
        break;
    case FIELD_OBJECT:
        read_object(fields, field, to);
        break;
    default:
        assert(field->kind == FIELD_FIELDS);
        fields_read(fields, field->inner, (char *)to + field->offset);
        break;
    }
}

void fields_read(struct fields *fields, const struct object *object, void *to)
{
    for (size_t i = 0; i < object->count; i++)
        read_value(fields, &object->fields[i], to);
}

/* ---- the end ------------------------------------------------------------------------------ */

static bool is_asked(const struct fields *fields, const char *name)
{
    for (size_t i = 0; i < fields->asked_count; i++)
        if (strcmp(fields->asked[i], name) == 0)
            return true;
    return false;
}

/* "the fields here are: type, payload" */
static void hint_fields(const struct fields *fields)
{
    struct request *request = fields->request;
    char known[256] = "";
    if (fields->asked_count == 0) {
        fail_hint(&request->error, request->code, "no fields are expected here");
        return;
    }
    for (size_t i = 0, used = 0; i < fields->asked_count && used < sizeof known; i++)
        used += (size_t)snprintf(known + used, sizeof known - used, "%s%s", i ? ", " : "",
                                 fields->asked[i]);
    fail_hint(&request->error, request->code, "the fields here are: %s", known);
}

static const char *find_unknown(const struct fields *fields)
{
    const char *name;
    json_t *value;
    json_object_foreach((json_t *)fields->object, name, value)
    {
        if (!is_asked(fields, name))
            return name;
    }
    return NULL;
}

/* A field is often missing because its name is spelled differently, so both are named. */
cairn_code fields_end(struct fields *fields)
{
    struct request *request = fields->request;
    char unknown[FULL_NAME], missing[FULL_NAME];
    bool is_failed = request->code != CAIRN_OK;
    if (!fields->object || (is_failed && (!fields->missing || fields->is_partial)) ||
        (!is_failed && json_object_size(fields->object) == fields->found))
        return request->code;
    const char *name = find_unknown(fields);
    if (!name)
        return request->code;
    full_name(fields, name, unknown);
    if (fields->missing)
        request->code = fail(&request->error, CAIRN_E_BAD_INPUT,
                             "field \"%s\" is missing, and field \"%s\" is unknown",
                             full_name(fields, fields->missing, missing), unknown);
    else
        request->code =
            fail(&request->error, CAIRN_E_BAD_INPUT, "field \"%s\" is unknown", unknown);
    hint_fields(fields);
    return request->code;
}
