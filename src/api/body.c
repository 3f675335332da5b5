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

enum { FULL_NAME = 240, WORD_LIST = 160, INSTANT_ROOM = 256 };

static bool has_decimals(struct slice number)
{
    return memchr(number.text, '.', number.len) || memchr(number.text, 'e', number.len) ||
           memchr(number.text, 'E', number.len);
}

static const char *kind_of(struct slice value)
{
    switch (value.text[0]) {
    case '{':
        return "an object";
    case '[':
        return "an array";
    case '"':
        return "a string";
    case 'n':
        return "null";
    case 't':
    case 'f':
        return "a truth value";
    default:
        return has_decimals(value) ? "a number with decimals" : "a number";
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
                   struct slice value)
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

/* What was allocated; NULL is noted. */
static const void *allocated(struct fields *fields, const void *memory)
{
    if (!memory && !fields->request->code)
        fields->request->code = fail_memory(&fields->request->error);
    return memory;
}

static bool is_blank(const char *text, size_t len)
{
    while (len > 0 && memchr(" \t\n\r", text[len - 1], 4))
        len--;
    return len == 0;
}

cairn_code body_read(const char *text, size_t len, struct request *request,
                     struct fields *ret_fields)
{
    struct slice body;
    *ret_fields = (struct fields){.request = request, .index = -1};
    if (!text || is_blank(text, len))
        return CAIRN_OK;
    request->code = json_check(text, len, "body", &request->error);
    if (request->code)
        return request->code;
    scan_text(text, len, &body);
    if (body.text[0] != '{')
        return request->code = fail(&request->error, CAIRN_E_BAD_INPUT,
                                    "body must be a JSON object, not %s", kind_of(body));
    ret_fields->object = body;
    return CAIRN_OK;
}

/* ---- single fields ------------------------------------------------------------------------ */

/* The field as it was sent, null included; none: it was not, or there was a mistake before. */
static struct slice find_any(struct fields *fields, const char *name)
{
    assert(fields->asked_count < FIELDS_MAX);
    fields->asked[fields->asked_count++] = name;
    return fields->request->code ? (struct slice){0} : scan_find(fields->object, name);
}

/* The same, null counting as left out.  False: there is none. */
static bool find_field(struct fields *fields, const char *name, enum need need,
                       struct slice *ret_value)
{
    *ret_value = find_any(fields, name);
    if (ret_value->len && !slice_is(*ret_value, "null"))
        return true;
    if (need == REQUIRED)
        refuse_missing(fields, name);
    return false;
}

/* The same, refused if it does not begin as a value of the wanted type does. */
static bool find_typed(struct fields *fields, const char *name, enum need need,
                       const char *begins, const char *wanted, struct slice *ret_value)
{
    if (!find_field(fields, name, need, ret_value))
        return false;
    bool is_wanted = strchr(begins, ret_value->text[0]) != NULL;
    if (!is_wanted)
        refuse(fields, name, wanted, *ret_value);
    return is_wanted;
}

const char *field_text(struct fields *fields, const char *name, enum need need)
{
    struct slice value;
    if (!find_typed(fields, name, need, "\"", "a string", &value))
        return NULL;
    return allocated(fields, slice_string(value, &fields->request->arena));
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

/* One of the words, which end with NULL. */
static const char *read_word(struct fields *fields, const char *name, const char *const *words,
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

static int64_t read_int(struct fields *fields, const struct field *field)
{
    struct slice value;
    int64_t most = field->most == MOST_IN_BATCH ? (int64_t)fields->max_batch : field->most;
    int64_t number = field->fallback;
    if (!find_field(fields, field->name, field->is_needed ? REQUIRED : OPTIONAL, &value))
        return number;
    if (!slice_int(value, &number))
        refuse(fields, field->name, "an integer", value);
    else if ((number < field->least || number > most) &&
             !(field->takes_unset && number == field->fallback))
        refuse_field(fields, field->name, CAIRN_E_BAD_INPUT,
                     "must be from %" PRId64 " to %" PRId64 ", not %" PRId64, field->least,
                     most, number);
    return number;
}

bool field_bool(struct fields *fields, const char *name, bool fallback)
{
    struct slice value;
    bool is_given = find_typed(fields, name, OPTIONAL, "tf", "true or false", &value);
    return is_given ? value.text[0] == 't' : fallback;
}

/* -1: left out. */
static int64_t read_maybe(struct fields *fields, const char *name)
{
    struct slice value;
    bool is_given = find_typed(fields, name, OPTIONAL, "tf", "true or false", &value);
    return is_given ? value.text[0] == 't' : -1;
}

static double read_fraction(struct fields *fields, const struct field *field)
{
    struct slice value;
    char text[FULL_NAME] = "";
    double fraction = 0;
    if (!find_typed(fields, field->name, OPTIONAL, "-0123456789", "a number", &value))
        return 0;
    if (value.len < sizeof text)
        memcpy(text, value.text, value.len);
    if (!fraction_read(text, &fraction) || fraction < 0 || fraction > 1)
        refuse_field(fields, field->name, CAIRN_E_BAD_INPUT, "must be from 0 to 1");
    return fraction;
}

static int64_t read_time(struct fields *fields, const char *name)
{
    static const char wanted[] = "a time such as \"2026-11-15T06:30:00Z\"";
    struct request *request = fields->request;
    struct slice value;
    char text[INSTANT_ROOM];
    int64_t us = 0;
    if (!find_typed(fields, name, OPTIONAL, "\"", wanted, &value))
        return 0;
    slice_unescape(value, text, sizeof text);
    if (instant_parse(text, &us))
        return us;
    refuse_field(fields, name, CAIRN_E_BAD_INPUT, "must be %s", wanted);
    fail_detail(&request->error, request->code, "it is \"%.64s\"", text);
    return 0;
}

static const char *read_json(struct fields *fields, const struct field *field)
{
    struct slice value = find_any(fields, field->name);
    if (!value.len || (field->is_object && slice_is(value, "null")))
        return NULL;
    return allocated(fields, slice_json(value, &fields->request->arena));
}

/* ---- fields that have more inside --------------------------------------------------------- */

static void read_texts(struct fields *fields, const struct field *field, void *to)
{
    static const char wanted[] = "an array of strings";
    enum need need = field->is_needed ? REQUIRED : OPTIONAL;
    struct slice list, entry;
    struct scan scan;
    field_put_list(field, to, NULL, 0);
    if (!find_typed(fields, field->name, need, "[", wanted, &list))
        return;
    size_t count = scan_count(list);
    if (count < (size_t)field->least || count > (size_t)field->most) {
        refuse_count(fields, field->name, count, (size_t)field->least, (size_t)field->most);
        return;
    }
    const char **texts = arena_array(&fields->request->arena, count + 1, sizeof *texts);
    scan_list(list, &scan);
    for (size_t i = 0; allocated(fields, texts) && scan_item(&scan, &entry); i++) {
        if (!slice_is_string(entry)) {
            refuse(fields, field->name, wanted, entry);
            return;
        }
        texts[i] = allocated(fields, slice_string(entry, &fields->request->arena));
    }
    field_put_list(field, to, texts, count);
}

/* The fields of an object within others. */
static struct fields inner_fields(const struct fields *fields, struct slice object,
                                  const char *name, long index)
{
    return (struct fields){.request = fields->request,
                           .max_batch = fields->max_batch,
                           .object = object,
                           .parent = fields,
                           .name = name,
                           .index = index};
}

bool field_object(struct fields *fields, const char *name, struct fields *ret_inner)
{
    struct slice value;
    if (!find_typed(fields, name, OPTIONAL, "{", "an object", &value))
        return false;
    *ret_inner = inner_fields(fields, value, name, -1);
    return true;
}

void *field_list(struct fields *fields, const char *name, enum need need, size_t most,
                 const struct list_reader *reader, size_t *ret_count)
{
    static const char wanted[] = "an array of objects";
    struct slice list = {0}, entry;
    struct scan scan = {0};
    if (find_typed(fields, name, need, "[", wanted, &list))
        scan_list(list, &scan);
    size_t count = scan_count(list);
    if (count > most) {
        refuse_count(fields, name, count, 1, most);
        count = 0;
    }
    char *items = arena_array(&fields->request->arena, count + 1, reader->size);
    allocated(fields, items);
    for (long i = 0; !fields->request->code && scan_item(&scan, &entry); i++) {
        if (entry.text[0] == '{') {
            struct fields one = inner_fields(fields, entry, name, i);
            reader->read(&one, reader->object, items + (size_t)i * reader->size);
            fields_end(&one);
        } else {
            refuse(fields, name, wanted, entry);
        }
    }
    *ret_count = count;
    return items;
}

bool field_is_there(const struct fields *fields, const char *name)
{
    return scan_find(fields->object, name).len > 0;
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
    struct list_reader reader = {field->inner->size, fields_read, field->inner};
    size_t count;
    const void *items = field_list(fields, field->name, field->is_needed ? REQUIRED : OPTIONAL,
                                   most, &reader, &count);
    field_put_list(field, to, items, count);
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
    const char *word = read_word(fields, name, words, REQUIRED);
    return word ? passage_outcome_from(word) : PASSAGE_NONE;
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
        field_put_pointer(field, to, read_json(fields, field));
        break;
    case FIELD_CHOICE:
        field_put_pointer(field, to, read_word(fields, name, field->words, need));
        break;
    case FIELD_FLAG:
        word = read_word(fields, name, field->words, need);
        field_put_number(field, to, word && word == field->words[0]);
        break;
    case FIELD_INT:
    case FIELD_UINT:
        field_put_number(field, to, read_int(fields, field));
        break;
    case FIELD_BOOL:
        field_put_number(field, to, field_bool(fields, name, field->fallback != 0));
        break;
    case FIELD_MAYBE:
        field_put_number(field, to, read_maybe(fields, name));
        break;
    case FIELD_FRACTION:
        field_put_fraction(field, to, read_fraction(fields, field));
        break;
    case FIELD_TIME:
        field_put_number(field, to, read_time(fields, name));
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
    if (object->ignored)
        fields->ignored = object->ignored;
    for (size_t i = 0; i < object->count; i++)
        read_value(fields, &object->fields[i], to);
}

/* ---- the end ------------------------------------------------------------------------------ */

static bool is_asked(const struct fields *fields, const char *name)
{
    for (size_t i = 0; i < fields->asked_count; i++)
        if (strcmp(fields->asked[i], name) == 0)
            return true;
    for (const char *const *it = fields->ignored; it && *it; it++)
        if (strcmp(*it, name) == 0)
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

/* The first member that was not asked for; false: there is none. */
static bool find_unknown(const struct fields *fields, char name[FULL_NAME])
{
    struct scan scan;
    struct slice key, value;
    if (!scan_object(fields->object, &scan))
        return false;
    while (scan_member(&scan, &key, &value)) {
        slice_unescape((struct slice){key.text - 1, key.len + 2}, name, FULL_NAME);
        if (!is_asked(fields, name))
            return true;
    }
    return false;
}

/* A field is often missing because its name is spelled differently, so both are named. */
cairn_code fields_end(struct fields *fields)
{
    struct request *request = fields->request;
    char name[FULL_NAME], unknown[FULL_NAME], missing[FULL_NAME];
    if ((request->code && (!fields->missing || fields->is_partial)) ||
        !find_unknown(fields, name))
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
