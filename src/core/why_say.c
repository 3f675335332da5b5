/* core/why_say.c - puts a sentence together: template, values, text and actions.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "core/why_say.h"

#include "base/json.h"
#include "base/scan.h"

#include <assert.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

enum { ERROR_BYTES_MAX = 300 };

void saying_begin(struct saying *saying, const char *code, enum urgency urgency)
{
    saying->item->code = code;
    saying->item->urgency = urgency_name(urgency);
    saying->item->urgency_code = (cairn_urgency)urgency;
}

void saying_add(struct saying *saying, const char *template)
{
    buf_str(&saying->template, template);
}

static void add_value(struct saying *saying, const char *name, char *text, bool is_number)
{
    assert(saying->count < SAID_VALUES_MAX);
    saying->failed |= !text;
    saying->values[saying->count++] =
        (struct said_value){.name = name, .text = text, .is_number = is_number};
}

void saying_text(struct saying *saying, const char *name, const char *text)
{
    add_value(saying, name, arena_strdup(saying->arena, text ? text : ""), false);
}

/* How many bytes of a text there are up to `most`, cut between two characters. */
static size_t cut_at(const char *text, size_t len, size_t most)
{
    if (len <= most)
        return len;
    while (most > 0 && ((unsigned char)text[most] & 0xC0) == 0x80)
        most--;
    return most;
}

void saying_error(struct saying *saying, const char *name, const char *error)
{
    const char *text = error ? error : "";
    size_t whole = strcspn(text, "\r\n"), len = cut_at(text, whole, ERROR_BYTES_MAX);
    const char *more = len < whole ? "…" : "";
    while (!*more && len > 0 && strchr(". \t", text[len - 1]))
        len--;
    if (len == 0)
        add_value(saying, name, arena_strdup(saying->arena, "no error was given"), false);
    else
        add_value(saying, name, arena_printf(saying->arena, "%.*s%s", (int)len, text, more),
                  false);
}

void saying_int(struct saying *saying, const char *name, int64_t value)
{
    add_value(saying, name, arena_printf(saying->arena, "%" PRId64, value), true);
}

void saying_time(struct saying *saying, const char *name, int64_t at_us)
{
    char text[INSTANT_TEXT];
    instant_format(at_us, text);
    saying_text(saying, name, text);
}

void saying_span(struct saying *saying, const char *name, int64_t us)
{
    struct buf text = {0};
    buf_duration(&text, us);
    add_value(saying, name, buf_keep(&text, saying->arena), false);
}

void saying_calls(struct saying *saying, int64_t count)
{
    saying_add(saying, count == 1 ? "{n} call" : "{n} calls");
    saying_int(saying, "n", count);
}

void saying_by(struct saying *saying, const char *by)
{
    if (!by || !*by)
        return;
    saying_add(saying, " by {by}");
    saying_text(saying, "by", by);
}

void saying_reason(struct saying *saying, const char *reason)
{
    if (!reason || !*reason)
        return;
    saying_add(saying, ": {reason}");
    saying_error(saying, "reason", reason);
}

static char *write_command(struct arena *arena, const char *cli, va_list words)
{
    struct buf text = {0};
    for (; *cli; cli++) {
        if (*cli != '%') {
            buf_char(&text, *cli);
            continue;
        }
        const char *word = va_arg(words, const char *);
        buf_shell(&text, word ? word : "");
    }
    return buf_keep(&text, arena);
}

static char *write_needs(struct arena *arena, const char *name, const char *value)
{
    struct buf text = {0};
    struct json_out out = {.buf = &text};
    json_open(&out, '{');
    if (name)
        json_str(json_key(&out, name), value);
    json_close(&out, '}');
    return buf_keep(&text, arena);
}

void saying_offer(struct saying *saying, const char *action, const char *name,
                  const char *value, const char *cli, ...)
{
    cairn_why *item = saying->item;
    va_list words;
    assert(item->action_count < WHY_ACTIONS_MAX);
    saying->failed |= !cli; /* it was put together */
    if (!cli)
        return;
    if (!saying->actions)
        item->actions = saying->actions =
            arena_array(saying->arena, WHY_ACTIONS_MAX, sizeof *saying->actions);
    va_start(words, cli);
    cairn_why_action made = {.action = action,
                             .values = write_needs(saying->arena, name, value),
                             .cli = write_command(saying->arena, cli, words)};
    va_end(words);
    saying->failed |= !saying->actions || !made.values || !made.cli;
    if (saying->actions)
        saying->actions[item->action_count++] = made;
}

static const struct said_value *find_value(const struct saying *saying, const char *name,
                                           size_t len)
{
    for (size_t i = 0; i < saying->count; i++)
        if (strlen(saying->values[i].name) == len &&
            memcmp(saying->values[i].name, name, len) == 0)
            return &saying->values[i];
    return NULL;
}

/* Values are put in as they are: braces within them mean nothing. */
static char *fill(const struct saying *saying)
{
    struct buf text = {0};
    for (const char *at = buf_text(&saying->template); *at;) {
        size_t plain = strcspn(at, "{");
        buf_add(&text, at, plain);
        at += plain;
        if (!*at)
            break;
        size_t len = strcspn(at + 1, "}");
        const struct said_value *value = find_value(saying, at + 1, len);
        assert(value && at[1 + len] == '}');
        buf_str(&text, value->text);
        at += len + 2;
    }
    return buf_keep(&text, saying->arena);
}

static char *write_values(const struct saying *saying)
{
    struct buf text = {0};
    struct json_out out = {.buf = &text};
    json_open(&out, '{');
    for (size_t i = 0; i < saying->count; i++) {
        const struct said_value *value = &saying->values[i];
        json_key(&out, value->name);
        if (value->is_number)
            json_raw(&out, value->text);
        else
            json_str(&out, value->text);
    }
    json_close(&out, '}');
    return buf_keep(&text, saying->arena);
}

bool saying_done(struct saying *saying)
{
    cairn_why *item = saying->item;
    saying->failed |= buf_failed(&saying->template);
    if (!saying->failed) {
        item->text = fill(saying);
        item->values = write_values(saying);
        item->sentence = arena_strdup(saying->arena, buf_text(&saying->template));
    }
    buf_done(&saying->template);
    return !saying->failed && item->text && item->values && item->sentence;
}

struct told_error told_error_read(struct arena *arena, const char *json)
{
    struct told_error told = {.step = "", .message = ""};
    struct slice object = {json, json ? strlen(json) : 0}, at;
    char instant[INSTANT_TEXT] = "";
    if (!json || !scan_text(json, object.len, &object))
        return told;
    char *step = slice_is_string(scan_find(object, "step"))
                     ? slice_string(scan_find(object, "step"), arena)
                     : NULL;
    char *message = slice_is_string(scan_find(object, "message"))
                        ? slice_string(scan_find(object, "message"), arena)
                        : NULL;
    at = scan_find(object, "at");
    told.step = step ? step : "";
    told.message = message ? message : "";
    slice_int(scan_find(object, "attempt"), &told.attempt);
    if (slice_is_string(at) && slice_unescape(at, instant, sizeof instant))
        instant_parse(instant, &told.at_us);
    return told;
}
