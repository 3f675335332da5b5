/* api/raw.c - finds a value's own bytes in a JSON text.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "api/raw.h"

#include <string.h>

static const char *skip_space(const char *at, const char *end)
{
    while (at < end && (*at == ' ' || *at == '\t' || *at == '\n' || *at == '\r'))
        at++;
    return at;
}

/* `at` is the opening quote; the answer is behind the closing one. */
static const char *skip_string(const char *at, const char *end)
{
    for (at++; at < end && *at != '"'; at++)
        if (*at == '\\')
            at++;
    return at < end ? at + 1 : end;
}

/* `at` is the opening bracket.  The text is valid, so brackets outside strings need only be
 * counted, whichever kind they are. */
static const char *skip_nested(const char *at, const char *end)
{
    int depth = 0;
    while (at < end) {
        char c = *at;
        if (c == '"') {
            at = skip_string(at, end);
            continue;
        }
        at++;
        if (c == '{' || c == '[')
            depth++;
        else if ((c == '}' || c == ']') && --depth == 0)
            break;
    }
    return at;
}

static const char *skip_scalar(const char *at, const char *end)
{
    while (at < end && !memchr(",]} \t\n\r", *at, 7))
        at++;
    return at;
}

static const char *skip_value(const char *at, const char *end)
{
    if (at >= end)
        return end;
    if (*at == '"')
        return skip_string(at, end);
    return *at == '{' || *at == '[' ? skip_nested(at, end) : skip_scalar(at, end);
}

static int hex_digit(char c)
{
    return c >= '0' && c <= '9' ? c - '0' : (c | 0x20) - 'a' + 10;
}

/* The character that the escape at `at` (behind its backslash) stands for, or -1 if it is not
 * ASCII, which none of our keys contains; *ret_after is behind it. */
static int read_escape(const char *at, const char **ret_after)
{
    static const char from[] = "\"\\/bfnrt", to[] = "\"\\/\b\f\n\r\t";
    if (*at != 'u') {
        *ret_after = at + 1;
        const char *found = strchr(from, *at);
        return found ? to[found - from] : -1;
    }
    int value = 0;
    for (int i = 1; i <= 4; i++)
        value = value * 16 + hex_digit(at[i]);
    *ret_after = at + 5;
    return value < 0x80 ? value : -1;
}

/* Whether the string (with its quotes) says `key`. */
static bool is_key(const char *at, const char *end, const char *key)
{
    at++;
    end--;
    for (; at < end; key++) {
        int c = (unsigned char)*at;
        if (c == '\\')
            c = read_escape(at + 1, &at);
        else
            at++;
        if (c != (unsigned char)*key || !*key)
            return false;
    }
    return *key == '\0';
}

struct raw raw_of(const char *text, size_t len)
{
    const char *end = text + len;
    const char *start = skip_space(text, end);
    return (struct raw){start, (size_t)(skip_value(start, end) - start)};
}

bool raw_member(struct raw object, const char *key, struct raw *ret_value)
{
    const char *end = object.text + object.len;
    const char *at = skip_space(object.text + 1, end);
    while (at < end && *at == '"') {
        const char *name = at;
        const char *name_end = at = skip_string(at, end);
        at = skip_space(at, end) + 1; /* the colon */
        at = skip_space(at, end);
        const char *value = at;
        at = skip_value(at, end);
        if (is_key(name, name_end, key)) {
            *ret_value = (struct raw){value, (size_t)(at - value)};
            return true;
        }
        at = skip_space(at, end) + 1; /* the comma, or the closing bracket */
        at = skip_space(at, end);
    }
    return false;
}

struct raw_items raw_items_of(struct raw array)
{
    const char *end = array.text + array.len;
    return (struct raw_items){skip_space(array.text + 1, end), end};
}

bool raw_items_next(struct raw_items *items, struct raw *ret_item)
{
    const char *at = items->at, *end = items->end;
    if (at >= end || *at == ']')
        return false;
    const char *start = at;
    at = skip_value(at, end);
    *ret_item = (struct raw){start, (size_t)(at - start)};
    at = skip_space(at, end);
    items->at = at < end && *at == ',' ? skip_space(at + 1, end) : end;
    return true;
}
