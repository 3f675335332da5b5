/* base/json.c - JSON out.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "base/json.h"

#include "base/clock.h"
#include "base/error.h"

#include <limits.h>
#include <locale.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

bool utf8_is_valid(const char *text, size_t len)
{
    const unsigned char *s = (const unsigned char *)text;
    for (size_t i = 0; i < len;) {
        unsigned char c = s[i];
        size_t more = c < 0x80 ? 0 : c >= 0xF0 ? 3 : c >= 0xE0 ? 2 : 1;
        if (c == 0 || (c >= 0x80 && c < 0xC2) || c > 0xF4 || i + more >= len + (more == 0))
            return false;
        for (size_t k = 1; k <= more; k++)
            if ((s[i + k] & 0xC0) != 0x80)
                return false;
        if ((c == 0xE0 && s[i + 1] < 0xA0) || (c == 0xED && s[i + 1] > 0x9F) ||
            (c == 0xF0 && s[i + 1] < 0x90) || (c == 0xF4 && s[i + 1] > 0x8F))
            return false;
        i += more + 1;
    }
    return true;
}

static void before_value(struct json_out *out)
{
    if (out->needs_comma)
        buf_char(out->buf, ',');
    out->needs_comma = true;
}

void json_open(struct json_out *out, char bracket)
{
    before_value(out);
    buf_char(out->buf, bracket);
    out->needs_comma = false;
}

void json_close(struct json_out *out, char bracket)
{
    buf_char(out->buf, bracket);
    out->needs_comma = true;
}

static void add_escaped(struct buf *buf, unsigned char c)
{
    static const char *const short_forms[UCHAR_MAX + 1] = {
        ['"'] = "\\\"", ['\\'] = "\\\\", ['\n'] = "\\n", ['\r'] = "\\r", ['\t'] = "\\t"};
    if (short_forms[c])
        buf_str(buf, short_forms[c]);
    else
        buf_printf(buf, "\\u%04x", c);
}

static bool is_plain(unsigned char c)
{
    return c >= 0x20 && c != '"' && c != '\\' && c != 0x7F;
}

/* Where a byte of a word is zero, and perhaps behind such a byte, its highest bit is set. */
static uint64_t zero_bytes(uint64_t word)
{
    return (word - UINT64_C(0x0101010101010101)) & ~word & UINT64_C(0x8080808080808080);
}

/* How many of the first bytes need no escape: eight at a time, as long as all of them are plain. */
static size_t plain_length(const char *text, size_t len)
{
    const uint64_t each = UINT64_C(0x0101010101010101);
    size_t i = 0;
    for (uint64_t word; len - i >= sizeof word; i += sizeof word) {
        memcpy(&word, text + i, sizeof word);
        if (zero_bytes(word & each * 0xE0) | zero_bytes(word ^ each * '"') |
            zero_bytes(word ^ each * '\\') | zero_bytes(word ^ each * 0x7F))
            break;
    }
    while (i < len && is_plain((unsigned char)text[i]))
        i++;
    return i;
}

static void add_string(struct buf *buf, const char *text, size_t len)
{
    size_t plain = plain_length(text, len);
    char *at = buf_extend(buf, plain + 1);
    if (!at)
        return;
    *at = '"';
    memcpy(at + 1, text, plain);
    while (plain < len) {
        text += plain;
        len -= plain;
        add_escaped(buf, (unsigned char)*text++);
        plain = plain_length(text, --len);
        buf_add(buf, text, plain);
    }
    buf_char(buf, '"');
}

struct json_out *json_key(struct json_out *out, const char *key)
{
    before_value(out);
    add_string(out->buf, key, strlen(key));
    buf_char(out->buf, ':');
    out->needs_comma = false;
    return out;
}

void json_strn(struct json_out *out, const char *text, size_t len)
{
    before_value(out);
    add_string(out->buf, text, len);
}

void json_str(struct json_out *out, const char *text)
{
    if (text)
        json_strn(out, text, strlen(text));
    else
        json_raw(out, NULL);
}

void json_int(struct json_out *out, int64_t value)
{
    before_value(out);
    buf_int(out->buf, value);
}

void json_bool(struct json_out *out, bool value)
{
    json_raw(out, value ? "true" : "false");
}

void json_raw(struct json_out *out, const char *json)
{
    before_value(out);
    buf_str(out->buf, json ? json : "null");
}

void json_rawn(struct json_out *out, const char *json, size_t len)
{
    before_value(out);
    buf_add(out->buf, json, len);
}

void json_time(struct json_out *out, int64_t us)
{
    char text[INSTANT_TEXT];
    if (us == 0) {
        json_raw(out, NULL);
        return;
    }
    instant_format(us, text);
    json_str(out, text);
}

/* In glibc the C locale is a constant: asking for it takes no memory and cannot fail. */
static locale_t c_locale(void)
{
    return newlocale(LC_ALL_MASK, "C", (locale_t)0);
}

bool fraction_read(const char *text, double *ret_value)
{
    char *end;
    double value = strtod_l(text, &end, c_locale());
    if (end == text || *end || !isfinite(value))
        return false;
    *ret_value = value;
    return true;
}

void json_fraction(struct json_out *out, double value)
{
    char text[40];
    locale_t before = uselocale(c_locale());
    for (int digits = 1; digits <= 17; digits++) {
        double again;
        snprintf(text, sizeof text, "%.*g", digits, value);
        if (fraction_read(text, &again) && again == value)
            break;
    }
    uselocale(before);
    json_raw(out, text);
    if (!strpbrk(text, ".e"))
        buf_str(out->buf, ".0");
}

void json_error_text(struct json_out *out, const char *key, const char *text)
{
    char copy[sizeof((cairn_error *)NULL)->detail];
    size_t len = strlen(text);
    json_key(out, key);
    if (utf8_is_valid(text, len)) {
        json_strn(out, text, len);
        return;
    }
    len = len < sizeof copy ? len : sizeof copy;
    for (size_t i = 0; i < len; i++)
        copy[i] = (unsigned char)text[i] < 0x80 ? text[i] : '?';
    json_strn(out, copy, len);
}

void json_error(struct json_out *out, const cairn_error *error)
{
    json_open(out, '{');
    json_str(json_key(out, "code"), cairn_code_name(error->code));
    json_error_text(out, "message", error->message);
    json_error_text(out, "detail", error->detail);
    json_error_text(out, "hint", error->hint);
    json_close(out, '}');
}
