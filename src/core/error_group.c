/* core/error_group.c - which errors are alike.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "core/error_group.h"

#include "base/clock.h"
#include "base/scan.h"

#include <ctype.h>
#include <nettle/sha2.h>
#include <stdio.h>
#include <string.h>

enum { UUID_LEN = 36, HEX_LEAST = 8 };

/* ---- patterns ------------------------------------------------------------------------------- */

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static bool is_hex(char c)
{
    return isxdigit((unsigned char)c) != 0;
}

/* Letters, digits, what is not ASCII, and the sign that stands for them. */
static bool is_word(char c)
{
    return isalnum((unsigned char)c) || (unsigned char)c >= 0x80 || c == '_' || c == '#';
}

static bool is_space(char c)
{
    return (unsigned char)c <= ' ' || c == 0x7F;
}

static size_t uuid_len(const char *at, size_t left)
{
    static const char shape[] = "xxxxxxxx-xxxx-xxxx-xxxx-xxxxxxxxxxxx";
    if (left < UUID_LEN)
        return 0;
    for (size_t i = 0; i < UUID_LEN; i++)
        if (shape[i] == '-' ? at[i] != '-' : !is_hex(at[i]))
            return 0;
    return left > UUID_LEN && is_word(at[UUID_LEN]) ? 0 : UUID_LEN;
}

/* At the beginning of a word: 0x and hexadecimal digits, or at least HEX_LEAST of them. */
static size_t hex_len(const char *at, size_t left)
{
    size_t prefix = left > 2 && at[0] == '0' && (at[1] | 0x20) == 'x' ? 2 : 0, len = prefix;
    while (len < left && is_hex(at[len]))
        len++;
    bool is_long = len - prefix >= (prefix ? 1 : HEX_LEAST);
    return is_long && (len == left || !is_word(at[len])) ? len : 0;
}

static size_t number_len(const char *at, size_t left)
{
    size_t len = 0;
    while (len < left && is_digit(at[len]))
        len++;
    return len;
}

static const char quotes[] = "\"'`";

/* From one quote to the next.  An apostrophe is a quote only if no word stands before the first one and
 * behind the second one.  A kind of which no second one follows is noted, and not looked for again. */
static size_t quoted_len(const char *at, size_t left, char before, bool *is_open)
{
    const char *kind = strchr(quotes, *at);
    bool is_single = *at == '\'';
    if (!kind || is_open[kind - quotes] || (is_single && is_word(before)))
        return 0;
    for (size_t i = 1; i < left; i++)
        if (at[i] == *at && (!is_single || i + 1 == left || !is_word(at[i + 1])))
            return i + 1;
    is_open[kind - quotes] = true;
    return 0;
}

static size_t replaced_len(const char *at, size_t left, char before, bool *is_open)
{
    size_t len = quoted_len(at, left, before, is_open);
    if (!len && !is_word(before))
        len = uuid_len(at, left);
    if (!len && !is_word(before))
        len = hex_len(at, left);
    return len ? len : number_len(at, left);
}

/* How many of the bytes are whole characters. */
static size_t whole_len(const char *text, size_t len)
{
    size_t at = len;
    while (at > 0 && ((unsigned char)text[at - 1] & 0xC0) == 0x80)
        at--;
    if (at == 0)
        return 0;
    unsigned char first = (unsigned char)text[at - 1];
    size_t wanted = first < 0x80 ? 1 : first < 0xE0 ? 2 : first < 0xF0 ? 3 : 4;
    return len - (at - 1) < wanted ? at - 1 : len;
}

/* One round; true: the result differs from the text. */
static bool replace(const char *text, size_t len, char pattern[ERROR_PATTERN_TEXT])
{
    size_t used = 0;
    bool is_spaced = false, is_open[sizeof quotes - 1] = {false};
    for (size_t at = 0; at < len;) {
        if (is_space(text[at])) {
            is_spaced = used > 0;
            at++;
            continue;
        }
        size_t replaced = replaced_len(text + at, len - at, at ? text[at - 1] : ' ', is_open);
        if (used + is_spaced + 1 >= ERROR_PATTERN_TEXT)
            break;
        if (is_spaced)
            pattern[used++] = ' ';
        is_spaced = false;
        pattern[used++] = replaced ? '#' : text[at];
        at += replaced ? replaced : 1;
    }
    used = whole_len(pattern, used);
    pattern[used] = '\0';
    return used != len || memcmp(pattern, text, len) != 0;
}

/* A round may bring texts together, or cut one, so that another one finds more.  None makes it longer, or
 * makes a number or a quote. */
void error_pattern(const char *error, char ret_pattern[ERROR_PATTERN_TEXT])
{
    char before[ERROR_PATTERN_TEXT];
    bool is_changed = replace(error, strcspn(error, "\r\n"), ret_pattern);
    while (is_changed) {
        memcpy(before, ret_pattern, sizeof before);
        is_changed = replace(before, strlen(before), ret_pattern);
    }
}

/* ---- groups --------------------------------------------------------------------------------- */

static void add_text(struct sha256_ctx *context, const char *text)
{
    const char *known = text ? text : "";
    sha256_update(context, strlen(known) + 1, (const uint8_t *)known);
}

void error_group(const struct error_place *place, const char *pattern,
                 char ret_group[ERROR_GROUP_TEXT])
{
    struct sha256_ctx context;
    uint8_t digest[SHA256_DIGEST_SIZE];
    sha256_init(&context);
    add_text(&context, place->workflow ? place->workflow : place->type);
    add_text(&context, place->step);
    add_text(&context, place->is_undo ? "undo" : "");
    add_text(&context, pattern);
    sha256_digest(&context, sizeof digest, digest);
    for (int i = 0; i < 6; i++)
        snprintf(ret_group + 2 * i, 3, "%02x", digest[i]);
}

void error_group_of(const struct error_place *place, char ret_group[ERROR_GROUP_TEXT])
{
    char pattern[ERROR_PATTERN_TEXT];
    ret_group[0] = '\0';
    if (!place->error)
        return;
    error_pattern(place->error, pattern);
    error_group(place, pattern, ret_group);
}

bool error_is_in(const struct error_place *place, const char *group)
{
    char own[ERROR_GROUP_TEXT];
    error_group_of(place, own);
    return strcmp(own, group) == 0;
}

/* ---- rows ----------------------------------------------------------------------------------- */

struct error_place error_of_job(const struct job_row *row)
{
    return (struct error_place){
        .type = row->type, .error = row->last_error, .at_us = row->updated_at_us};
}

struct error_place error_of_record(const struct dlq_row *row)
{
    return (struct error_place){.workflow = row->workflow,
                                .step = row->step_name,
                                .type = row->step_type,
                                .is_undo = row->reason &&
                                           strncmp(row->reason, "compensation", 12) == 0,
                                .error = row->error ? row->error : "",
                                .at_us = row->created_at_us};
}

static bool read_member(struct arena *arena, struct slice error, const char *name,
                        const char **ret_text)
{
    struct slice value = scan_find(error, name);
    *ret_text = NULL;
    if (!value.text || !slice_is_string(value))
        return true;
    *ret_text = slice_string(value, arena);
    return *ret_text != NULL;
}

bool error_of_instance(struct arena *arena, const struct instance_row *row,
                       struct error_place *ret_place)
{
    const char *json = row->last_error ? row->last_error : row->undo_error, *at = NULL;
    struct slice error;
    *ret_place = (struct error_place){.workflow = row->workflow,
                                      .is_undo = json && json != row->last_error,
                                      .at_us = row->finished_at_us};
    if (!json || !scan_text(json, strlen(json), &error))
        return true;
    if (!read_member(arena, error, "step", &ret_place->step) ||
        !read_member(arena, error, "message", &ret_place->error) ||
        !read_member(arena, error, "at", &at))
        return false;
    if (at && !ret_place->at_us)
        instant_parse(at, &ret_place->at_us);
    return true;
}
