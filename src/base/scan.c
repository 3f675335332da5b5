/* base/scan.c - reads JSON where it lies.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "base/scan.h"

#include "base/json.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* A payload as deep as may be, inside an item of a list of an answer. */
enum { DEPTH_MAX = JSON_DEPTH_MAX + 8 };

static const char *skip_space(const char *at, const char *end)
{
    while (at < end && (*at == ' ' || *at == '\t' || *at == '\n' || *at == '\r'))
        at++;
    return at;
}

/* The skip_ functions answer the place after a value, or NULL if there is none. */
static const char *skip_string(const char *at, const char *end)
{
    for (at++; at < end; at++) {
        if ((unsigned char)*at < 0x20)
            return NULL;
        if (*at == '\\')
            at++;
        else if (*at == '"')
            return at + 1;
    }
    return NULL;
}

static const char *skip_word(const char *at, const char *end, const char *word)
{
    size_t len = strlen(word);
    return (size_t)(end - at) >= len && memcmp(at, word, len) == 0 ? at + len : NULL;
}

static const char *skip_number(const char *at, const char *end)
{
    const char *start = at;
    while (at < end && *at && strchr("+-.eE0123456789", *at))
        at++;
    return at > start ? at : NULL;
}

static const char *skip_value(const char *at, const char *end, int depth);

static const char *skip_key(const char *at, const char *end)
{
    if (at == end || *at != '"')
        return NULL;
    at = skip_string(at, end);
    if (!at)
        return NULL;
    at = skip_space(at, end);
    return at < end && *at == ':' ? skip_space(at + 1, end) : NULL;
}

static const char *skip_inside(const char *at, const char *end, int depth)
{
    char close = *at == '{' ? '}' : ']';
    at = skip_space(at + 1, end);
    if (at < end && *at == close)
        return at + 1;
    while (at && at < end) {
        if (close == '}')
            at = skip_key(at, end);
        if (at)
            at = skip_value(at, end, depth + 1);
        if (!at)
            return NULL;
        at = skip_space(at, end);
        if (at < end && *at == close)
            return at + 1;
        if (at == end || *at != ',')
            return NULL;
        at = skip_space(at + 1, end);
    }
    return NULL;
}

static const char *skip_value(const char *at, const char *end, int depth)
{
    if (at == end || depth > DEPTH_MAX)
        return NULL;
    switch (*at) {
    case '{':
    case '[':
        return skip_inside(at, end, depth);
    case '"':
        return skip_string(at, end);
    case 't':
        return skip_word(at, end, "true");
    case 'f':
        return skip_word(at, end, "false");
    case 'n':
        return skip_word(at, end, "null");
    default:
        return skip_number(at, end);
    }
}

bool scan_text(const char *text, size_t len, struct slice *ret_value)
{
    if (!text || !utf8_is_valid(text, len))
        return false;
    const char *end = text + len;
    const char *start = skip_space(text, end);
    const char *after = skip_value(start, end, 0);
    if (!after || skip_space(after, end) != end)
        return false;
    *ret_value = (struct slice){start, (size_t)(after - start)};
    return true;
}

static bool enter(struct slice value, char bracket, struct scan *ret_scan)
{
    if (value.len == 0 || value.text[0] != bracket)
        return false;
    const char *end = value.text + value.len - 1;
    *ret_scan = (struct scan){skip_space(value.text + 1, end), end};
    return true;
}

bool scan_object(struct slice value, struct scan *ret_scan)
{
    return enter(value, '{', ret_scan);
}

bool scan_list(struct slice value, struct scan *ret_scan)
{
    return enter(value, '[', ret_scan);
}

bool scan_item(struct scan *scan, struct slice *ret_value)
{
    if (scan->at >= scan->end)
        return false;
    const char *after = skip_value(scan->at, scan->end, 0);
    assert(after); /* scan_text() has seen it */
    *ret_value = (struct slice){scan->at, (size_t)(after - scan->at)};
    after = skip_space(after, scan->end);
    if (after < scan->end)
        after = skip_space(after + 1, scan->end);
    scan->at = after;
    return true;
}

bool scan_member(struct scan *scan, struct slice *ret_key, struct slice *ret_value)
{
    if (scan->at >= scan->end)
        return false;
    const char *after = skip_string(scan->at, scan->end);
    assert(after);
    *ret_key = (struct slice){scan->at + 1, (size_t)(after - scan->at) - 2};
    scan->at = skip_key(scan->at, scan->end);
    assert(scan->at);
    return scan_item(scan, ret_value);
}

size_t scan_count(struct slice list)
{
    struct scan scan;
    struct slice item;
    size_t count = 0;
    if (scan_list(list, &scan))
        while (scan_item(&scan, &item))
            count++;
    return count;
}

/* Whether a key says this, though it may be written with escapes. */
static bool is_key(struct slice key, const char *wanted)
{
    char text[64];
    if (!memchr(key.text, '\\', key.len))
        return slice_is(key, wanted);
    struct slice quoted = {key.text - 1, key.len + 2};
    return slice_unescape(quoted, text, sizeof text) && strcmp(text, wanted) == 0;
}

struct slice scan_find(struct slice object, const char *key)
{
    struct scan scan;
    struct slice name, value;
    if (scan_object(object, &scan))
        while (scan_member(&scan, &name, &value))
            if (is_key(name, key))
                return value;
    return (struct slice){0};
}

bool slice_is(struct slice slice, const char *text)
{
    return slice.len == strlen(text) && memcmp(slice.text, text, slice.len) == 0;
}

bool slice_is_string(struct slice value)
{
    return value.len >= 2 && value.text[0] == '"';
}

/* Four hexadecimal digits; -1 if they are not. */
static long read_hex(const char *at, const char *end)
{
    long number = 0;
    if (end - at < 4)
        return -1;
    for (int i = 0; i < 4; i++) {
        const char *digits = "0123456789abcdef";
        const char *digit = at[i] ? strchr(digits, at[i] | 0x20) : NULL;
        if (!digit)
            return -1;
        number = number * 16 + (digit - digits);
    }
    return number;
}

static size_t put_utf8(long c, char to[4])
{
    static const long leads[] = {0, 0xC0, 0xE0, 0xF0};
    int more = c < 0x80 ? 0 : c < 0x800 ? 1 : c < 0x10000 ? 2 : 3;
    to[0] = (char)(leads[more] | c >> 6 * more);
    for (int i = 1; i <= more; i++)
        to[i] = (char)(0x80 | (c >> 6 * (more - i) & 0x3F));
    return (size_t)more + 1;
}

/* A \u escape, whose digits begin at *at; half a surrogate pair, and \u0000, become U+FFFD. */
static long read_unicode(const char **at, const char *end)
{
    long c = read_hex(*at, end);
    if (c < 0)
        return 0xFFFD;
    *at += 4;
    if (c < 0xD800 || c > 0xDFFF)
        return c ? c : 0xFFFD;
    if (c > 0xDBFF || end - *at < 6 || (*at)[0] != '\\' || (*at)[1] != 'u')
        return 0xFFFD;
    long low = read_hex(*at + 2, end);
    if (low < 0xDC00 || low > 0xDFFF)
        return 0xFFFD;
    *at += 6;
    return 0x10000 + ((c - 0xD800) << 10) + (low - 0xDC00);
}

/* One character at *at, which moves on; as UTF-8. */
static size_t read_character(const char **at, const char *end, char to[4])
{
    unsigned char c = (unsigned char)*(*at)++;
    if (c == '\\' && *at < end) {
        static const char from[] = "bfnrt", into[] = "\b\f\n\r\t";
        char escape = *(*at)++;
        if (escape == 'u')
            return put_utf8(read_unicode(at, end), to);
        const char *known = strchr(from, escape);
        to[0] = known ? into[known - from] : escape;
        return 1;
    }
    size_t len = c < 0xC0 ? 1 : c < 0xE0 ? 2 : c < 0xF0 ? 3 : 4;
    to[0] = (char)c;
    for (size_t i = 1; i < len; i++)
        to[i] = *(*at)++;
    return len;
}

bool slice_unescape(struct slice value, char *to, size_t room)
{
    if (!slice_is_string(value))
        return false;
    const char *at = value.text + 1, *end = value.text + value.len - 1;
    size_t len = 0;
    while (at < end) {
        char character[4];
        size_t size = read_character(&at, end, character);
        if (len + size >= room)
            break;
        memcpy(to + len, character, size);
        len += size;
    }
    to[len] = '\0';
    return true;
}

char *slice_string(struct slice value, struct arena *arena)
{
    assert(slice_is_string(value));
    /* No escape is shorter than what it stands for. */
    char *text = arena_alloc(arena, value.len);
    if (text)
        slice_unescape(value, text, value.len);
    return text;
}

char *slice_json(struct slice value, struct arena *arena)
{
    return arena_strndup(arena, value.text, value.len);
}

/* Room for the longest 64-bit number. */
static bool copy_number(struct slice value, char digits[24])
{
    if (value.len == 0 || value.len >= 24 || strspn(value.text, "-0123456789") < value.len)
        return false;
    memcpy(digits, value.text, value.len);
    digits[value.len] = '\0';
    return true;
}

bool slice_int(struct slice value, int64_t *ret_number)
{
    char digits[24], *end;
    if (!copy_number(value, digits))
        return false;
    errno = 0;
    long long number = strtoll(digits, &end, 10);
    if (errno || *end || end == digits)
        return false;
    *ret_number = number;
    return true;
}

bool slice_uint(struct slice value, uint64_t *ret_number)
{
    char digits[24], *end;
    if (!copy_number(value, digits) || digits[0] == '-')
        return false;
    errno = 0;
    unsigned long long number = strtoull(digits, &end, 10);
    if (errno || *end || end == digits)
        return false;
    *ret_number = number;
    return true;
}
