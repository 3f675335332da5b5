/* base/json.c - JSON in and out.
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

/* jansson reads numbers as int64 and double and refuses those that do not fit, though we only
 * hand them on; and it limits depth at 2048.  So depth is counted here, before, and numbers are
 * read as text would be: a refusal for size alone is said as such. */
static bool is_too_deep(const char *text, size_t len)
{
    int depth = 0;
    bool in_string = false;
    for (size_t i = 0; i < len; i++) {
        char c = text[i];
        if (in_string) {
            if (c == '\\')
                i++;
            else if (c == '"')
                in_string = false;
        } else if (c == '"') {
            in_string = true;
        } else if ((c == '{' || c == '[') && ++depth > JSON_DEPTH_MAX) {
            return true;
        } else if (c == '}' || c == ']') {
            depth--;
        }
    }
    return false;
}

cairn_code json_read(const char *text, size_t len, const char *what, json_t **ret_tree,
                     cairn_error *reterr)
{
    if (is_too_deep(text, len))
        return fail(reterr, CAIRN_E_TOO_LARGE, "%s is nested more than %d deep", what,
                    JSON_DEPTH_MAX);

    json_error_t why;
    json_t *tree = json_loadb(text, len, JSON_DECODE_ANY | JSON_REJECT_DUPLICATES, &why);
    if (tree) {
        *ret_tree = tree;
        return CAIRN_OK;
    }
    switch (json_error_code(&why)) {
    case json_error_out_of_memory:
        return fail_memory(reterr);
    case json_error_null_character:
    case json_error_null_byte_in_key:
        fail(reterr, CAIRN_E_BAD_JSON, "%s contains \\u0000, which cannot be stored", what);
        break;
    case json_error_duplicate_key:
        fail(reterr, CAIRN_E_BAD_JSON, "%s has the same key twice", what);
        break;
    case json_error_numeric_overflow:
        fail(reterr, CAIRN_E_BAD_JSON, "%s has a number that is too large", what);
        fail_hint(reterr, CAIRN_E_BAD_JSON, "send large numbers as strings");
        break;
    case json_error_invalid_utf8:
        fail(reterr, CAIRN_E_BAD_JSON, "%s is not UTF-8", what);
        break;
    default:
        fail(reterr, CAIRN_E_BAD_JSON, "%s is not JSON", what);
        break;
    }
    return fail_detail(reterr, CAIRN_E_BAD_JSON, "line %d, column %d: %s", why.line, why.column,
                       why.text);
}

/* ---- JSON that is seen to be good ---------------------------------------------------------------
 *
 * Every payload is checked, and most are small and plain.  A text that has no escapes, only small integers, and objects of
 * few keys is seen to be JSON as it is read through, without a tree.  What these functions refuse, jansson decides.
 */

enum { GLANCE_DEPTH = 16, GLANCE_KEYS = 16 };

static const char *glance_value(const char *at, const char *end, int depth);

static const char *glance_space(const char *at, const char *end)
{
    while (at < end && (*at == ' ' || *at == '\t' || *at == '\n' || *at == '\r'))
        at++;
    return at;
}

/* All of these answer the place after what they have seen, or NULL. */
static const char *glance_string(const char *at, const char *end)
{
    if (at == end || *at++ != '"')
        return NULL;
    while (at < end && (unsigned char)*at >= 0x20 && *at != '"' && *at != '\\')
        at++;
    return at < end && *at == '"' ? at + 1 : NULL;
}

static const char *glance_number(const char *at, const char *end)
{
    const char *start = at += *at == '-';
    while (at < end && *at >= '0' && *at <= '9')
        at++;
    bool is_small = at > start && at - start <= 18 && (*start != '0' || at - start == 1);
    return is_small ? at : NULL;
}

static const char *glance_word(const char *at, const char *end, const char *word)
{
    size_t len = strlen(word);
    return (size_t)(end - at) >= len && memcmp(at, word, len) == 0 ? at + len : NULL;
}

/* A key, whose text lies between `at` and what is answered, is not one of those before it. */
static const char *glance_key(const char *at, const char *end, const char **keys, size_t count)
{
    const char *after = glance_string(at, end);
    if (!after || count == GLANCE_KEYS)
        return NULL;
    for (size_t i = 0; i < count; i++) /* up to the quote behind it */
        if (memcmp(keys[i], at, (size_t)(after - at)) == 0)
            return NULL;
    keys[count] = at;
    after = glance_space(after, end);
    return after < end && *after == ':' ? glance_space(after + 1, end) : NULL;
}

static const char *glance_inside(const char *at, const char *end, int depth)
{
    const char *keys[GLANCE_KEYS];
    size_t count = 0;
    char close = *at == '{' ? '}' : ']';
    at = glance_space(at + 1, end);
    if (at < end && *at == close)
        return at + 1;
    for (;;) {
        if (close == '}')
            at = glance_key(at, end, keys, count++);
        at = at ? glance_value(at, end, depth + 1) : NULL;
        at = at ? glance_space(at, end) : NULL;
        if (!at || at == end || (*at != ',' && *at != close))
            return NULL;
        if (*at == close)
            return at + 1;
        at = glance_space(at + 1, end);
    }
}

static const char *glance_value(const char *at, const char *end, int depth)
{
    if (at == end || depth > GLANCE_DEPTH)
        return NULL;
    switch (*at) {
    case '{':
    case '[':
        return glance_inside(at, end, depth);
    case '"':
        return glance_string(at, end);
    case 't':
        return glance_word(at, end, "true");
    case 'f':
        return glance_word(at, end, "false");
    case 'n':
        return glance_word(at, end, "null");
    default:
        return glance_number(at, end);
    }
}

static bool is_plainly_json(const char *text, size_t len)
{
    const char *end = text + len;
    const char *after = glance_value(glance_space(text, end), end, 0);
    return after && glance_space(after, end) == end && utf8_is_valid(text, len);
}

cairn_code json_check(const char *text, size_t len, const char *what, cairn_error *reterr)
{
    if (is_plainly_json(text, len))
        return CAIRN_OK;
    json_t *tree = NULL;
    cairn_code code = json_read(text, len, what, &tree, reterr);
    if (!code)
        json_decref(tree);
    return code;
}

cairn_code metadata_check(const char *text, cairn_error *reterr)
{
    size_t len = text ? strlen(text) : 0;
    if (!text)
        return CAIRN_OK;
    if (len > METADATA_MAX) {
        fail(reterr, CAIRN_E_TOO_LARGE, "metadata is too large");
        return fail_detail(reterr, CAIRN_E_TOO_LARGE, "%zu bytes, %d are allowed", len,
                           METADATA_MAX);
    }
    TRY(json_check(text, len, "metadata", reterr));
    if (text[strspn(text, " \t\r\n")] != '{')
        return fail(reterr, CAIRN_E_BAD_INPUT, "metadata is not a JSON object");
    return CAIRN_OK;
}

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
