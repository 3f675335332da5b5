/* base/json_read.c - JSON in: checked, or read into a tree.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * jansson knows numbers of 64 bits and doubles alone.  So it is never shown a number of another kind:
 * where a text is only checked, each number is a 0 to it; where a tree is wanted, a number that is no
 * integer of 64 bits is a string to it, which begins with a NUL.  No string of a user does.
 */
#include "base/json.h"

#include "base/error.h"
#include "base/number.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static bool is_number_start(char c)
{
    return c == '-' || (c >= '0' && c <= '9');
}

static bool is_space(char c)
{
    return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

/* The place behind the string that begins at `at`; the end, if it has none. */
static const char *string_end(const char *at, const char *end)
{
    for (at++; at < end; at++) {
        at = memchr(at, '"', (size_t)(end - at));
        if (!at)
            return end;
        const char *before = at;
        while (before[-1] == '\\')
            before--;
        if ((at - before) % 2 == 0)
            return at + 1;
    }
    return end;
}

/* Whether a string has the escape of U+0000, which is none behind another backslash. */
static bool has_nul_escape(const char *string, const char *end)
{
    static const char escape[] = "\\u0000";
    for (const char *at = string; (at = memmem(at, (size_t)(end - at), escape, 6)); at += 6) {
        const char *before = at;
        while (before[-1] == '\\')
            before--;
        if ((at - before) % 2 == 0)
            return true;
    }
    return false;
}

/* ---- depth ---------------------------------------------------------------------------------- */

static bool is_too_deep(const char *text, size_t len)
{
    int depth = 0;
    const char *end = text + len;
    for (const char *at = text; at < end;) {
        if (*at == '"') {
            at = string_end(at, end);
            continue;
        }
        if ((*at == '{' || *at == '[') && ++depth > JSON_DEPTH_MAX)
            return true;
        depth -= *at == '}' || *at == ']';
        at++;
    }
    return false;
}

/* ---- numbers, before jansson sees them ---------------------------------------------------------- */

struct hiding {
    bool is_marking;      /* else each number becomes a 0 */
    bool has_nul;         /* a string of the text has \u0000 */
    enum number_fit fit;  /* of the first number that does not */
    const char *unfit_at; /* where it is */
    size_t grown;         /* as json_check_size() says */
};

static bool is_integer(const char *text, size_t len)
{
    char digits[24];
    bool is_other = len >= sizeof digits || memchr(text, '.', len) || memchr(text, 'e', len) ||
                    memchr(text, 'E', len) || (len == 2 && memcmp(text, "-0", 2) == 0);
    if (is_other)
        return false;
    memcpy(digits, text, len);
    digits[len] = '\0';
    errno = 0;
    (void)strtoll(digits, NULL, 10);
    return errno == 0;
}

/* What a number is worth to the checks of a value. */
static bool note_number(const char *text, size_t len, enum number_fit *ret_fit, size_t *grown)
{
    struct number number;
    if (!number_read(text, len, &number))
        return false;
    *ret_fit = number_fit(&number);
    if (number.has_exponent && *ret_fit == NUMBER_FITS) {
        size_t written = number_written(&number);
        *grown += written > len ? written - len : 0;
    }
    return true;
}

static void hide_number(struct hiding *hiding, const char *text, size_t len, struct buf *to)
{
    if (hiding->is_marking) {
        if (!is_integer(text, len)) {
            buf_str(to, "\"\\u0000");
            buf_add(to, text, len);
            buf_char(to, '"');
            return;
        }
        buf_add(to, text, len);
        return;
    }
    enum number_fit fit = NUMBER_FITS;
    note_number(text, len, &fit, &hiding->grown);
    if (fit && !hiding->fit) {
        hiding->fit = fit;
        hiding->unfit_at = text;
    }
    char *room = buf_extend(to, len); /* as long, so that places stay what they are */
    if (!room)
        return;
    memset(room, ' ', len);
    *room = '0';
}

static void hide_numbers(struct hiding *hiding, const char *text, size_t len, struct buf *to)
{
    const char *end = text + len, *done = text;
    for (const char *at = text; at < end;) {
        const char *after = *at == '"' ? string_end(at, end) : at + 1;
        if (*at == '"' && hiding->is_marking)
            hiding->has_nul |= has_nul_escape(at, after);
        /* Only where a value may begin: what "--3" is made of is no number. */
        bool may_begin = at == text || is_space(at[-1]) || memchr("[:,", at[-1], 3);
        const char *number = may_begin && is_number_start(*at) ? number_skip(at, end) : NULL;
        if (number) {
            buf_add(to, done, (size_t)(at - done));
            hide_number(hiding, at, (size_t)(number - at), to);
            done = after = number;
        }
        at = after;
    }
    buf_add(to, done, (size_t)(end - done));
}

/* ---- refusals ------------------------------------------------------------------------------- */

static cairn_code refuse(const json_error_t *why, const char *what, cairn_error *reterr)
{
    switch (json_error_code(why)) {
    case json_error_out_of_memory:
        return fail_memory(reterr);
    case json_error_null_character:
    case json_error_null_byte_in_key:
        fail(reterr, CAIRN_E_BAD_JSON, "%s contains \\u0000, which cannot be stored", what);
        break;
    case json_error_duplicate_key:
        fail(reterr, CAIRN_E_BAD_JSON, "%s has the same key twice", what);
        break;
    case json_error_invalid_utf8:
        fail(reterr, CAIRN_E_BAD_JSON, "%s is not UTF-8", what);
        break;
    default:
        fail(reterr, CAIRN_E_BAD_JSON, "%s is not JSON", what);
        break;
    }
    return fail_detail(reterr, CAIRN_E_BAD_JSON, "line %d, column %d: %s", why->line,
                       why->column, why->text);
}

static cairn_code refuse_number(const char *text, const struct hiding *hiding, const char *what,
                                cairn_error *reterr)
{
    int line = 1;
    const char *start = text;
    for (const char *at = text; at < hiding->unfit_at; at++)
        if (*at == '\n') {
            line++;
            start = at + 1;
        }
    bool is_large = hiding->fit == NUMBER_LARGE;
    fail(reterr, CAIRN_E_BAD_JSON, "%s has a number that is too %s", what,
         is_large ? "large" : "fine");
    fail_hint(reterr, CAIRN_E_BAD_JSON, "send such numbers as strings");
    return fail_detail(reterr, CAIRN_E_BAD_JSON, "line %d, column %d: %s", line,
                       (int)(hiding->unfit_at - start) + 1,
                       is_large ? "a double cannot hold it"
                                : "it has more than 16383 digits behind the point");
}

/* ---- trees ---------------------------------------------------------------------------------- */

/* What jansson says to the text without its numbers. */
static cairn_code check_slowly(const char *text, size_t len, const char *what,
                               bool is_fit_needed, size_t *grown, cairn_error *reterr)
{
    struct buf hidden = {0};
    struct hiding hiding = {.is_marking = false};
    json_error_t why;
    if (is_too_deep(text, len))
        return fail(reterr, CAIRN_E_TOO_LARGE, "%s is nested more than %d deep", what,
                    JSON_DEPTH_MAX);
    hide_numbers(&hiding, text, len, &hidden);
    if (buf_failed(&hidden)) {
        buf_done(&hidden);
        return fail_memory(reterr);
    }
    json_t *tree =
        json_loadb(buf_text(&hidden), len, JSON_DECODE_ANY | JSON_REJECT_DUPLICATES, &why);
    buf_done(&hidden);
    if (!tree)
        return refuse(&why, what, reterr);
    json_decref(tree);
    *grown += hiding.grown;
    return hiding.fit && is_fit_needed ? refuse_number(text, &hiding, what, reterr) : CAIRN_OK;
}

static json_t *load_marked(const char *text, size_t len, size_t flags)
{
    struct buf marked = {0};
    struct hiding hiding = {.is_marking = true};
    json_t *tree = NULL;
    hide_numbers(&hiding, text, len, &marked);
    if (!buf_failed(&marked) && !hiding.has_nul)
        tree = json_loadb(buf_text(&marked), marked.len,
                          JSON_DECODE_ANY | JSON_ALLOW_NUL | flags, NULL);
    buf_done(&marked);
    return tree;
}

json_t *json_tree(const char *text, size_t len)
{
    return load_marked(text, len, 0);
}

cairn_code json_read(const char *text, size_t len, const char *what, json_t **ret_tree,
                     cairn_error *reterr)
{
    size_t grown = 0;
    json_t *tree =
        is_too_deep(text, len) ? NULL : load_marked(text, len, JSON_REJECT_DUPLICATES);
    if (!tree) {
        TRY(check_slowly(text, len, what, false, &grown, reterr));
        return fail_memory(reterr);
    }
    *ret_tree = tree;
    return CAIRN_OK;
}

const char *json_number_text(const json_t *json, size_t *ret_len)
{
    const char *text = json_is_string(json) ? json_string_value(json) : NULL;
    if (!text || *text || json_string_length(json) == 0)
        return NULL;
    *ret_len = json_string_length(json) - 1;
    return text + 1;
}

bool json_is_text(const json_t *json)
{
    size_t len;
    return json_is_string(json) && !json_number_text(json, &len);
}

/* Recursion is as deep as what jansson has read. */
static void print_tree(struct json_out *out, const json_t *json)
{
    size_t len = 0;
    const char *key, *number = json_number_text(json, &len);
    json_t *member;
    if (number) {
        json_rawn(out, number, len);
    } else if (json_is_object(json)) {
        json_open(out, '{');
        json_object_foreach((json_t *)json, key, member)
        {
            print_tree(json_key(out, key), member);
        }
        json_close(out, '}');
    } else if (json_is_array(json)) {
        json_open(out, '[');
        for (size_t i = 0; i < json_array_size(json); i++)
            print_tree(out, json_array_get(json, i));
        json_close(out, ']');
    } else if (json_is_string(json)) {
        json_strn(out, json_string_value(json), json_string_length(json));
    } else if (json_is_integer(json)) {
        json_int(out, json_integer_value(json));
    } else if (json_is_boolean(json)) {
        json_bool(out, json_is_true(json));
    } else {
        json_raw(out, NULL);
    }
}

void json_print(struct buf *buf, const json_t *json)
{
    print_tree(&(struct json_out){.buf = buf}, json);
}

/* ---- JSON that is seen to be good ---------------------------------------------------------------
 *
 * Every payload is checked, and most are small and plain.  A text that has no escapes, and objects of few keys, is seen to be JSON as it is read through, without a tree.  What these functions refuse, jansson decides.
 */

enum { GLANCE_DEPTH = 16, GLANCE_KEYS = 16 };

static const char *glance_value(const char *at, const char *end, int depth, size_t *grown);

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

/* Numbers that not every store and reader can keep are for the slow check, too, which tells of them. */
static const char *glance_number(const char *at, const char *end, size_t *grown)
{
    const char *text = at, *start = at += *at == '-';
    enum number_fit fit;
    while (at < end && *at >= '0' && *at <= '9')
        at++;
    bool is_small = at > start && at - start <= 18 && (*start != '0' || at - start == 1);
    if (is_small && (at == end || (*at != '.' && *at != 'e' && *at != 'E')))
        return at;
    at = number_skip(text, end);
    return at && note_number(text, (size_t)(at - text), &fit, grown) && !fit ? at : NULL;
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

static const char *glance_inside(const char *at, const char *end, int depth, size_t *grown)
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
        at = at ? glance_value(at, end, depth + 1, grown) : NULL;
        at = at ? glance_space(at, end) : NULL;
        if (!at || at == end || (*at != ',' && *at != close))
            return NULL;
        if (*at == close)
            return at + 1;
        at = glance_space(at + 1, end);
    }
}

static const char *glance_value(const char *at, const char *end, int depth, size_t *grown)
{
    if (at == end || depth > GLANCE_DEPTH)
        return NULL;
    switch (*at) {
    case '{':
    case '[':
        return glance_inside(at, end, depth, grown);
    case '"':
        return glance_string(at, end);
    case 't':
        return glance_word(at, end, "true");
    case 'f':
        return glance_word(at, end, "false");
    case 'n':
        return glance_word(at, end, "null");
    default:
        return glance_number(at, end, grown);
    }
}

static bool is_plainly_json(const char *text, size_t len, size_t *grown)
{
    const char *end = text + len;
    const char *after = glance_value(glance_space(text, end), end, 0, grown);
    return after && glance_space(after, end) == end && utf8_is_valid(text, len);
}

cairn_code json_check_size(const char *text, size_t len, const char *what, size_t *ret_grown,
                           cairn_error *reterr)
{
    *ret_grown = 0;
    if (is_plainly_json(text, len, ret_grown))
        return CAIRN_OK;
    *ret_grown = 0;
    return check_slowly(text, len, what, true, ret_grown, reterr);
}

cairn_code json_check(const char *text, size_t len, const char *what, cairn_error *reterr)
{
    size_t grown;
    return json_check_size(text, len, what, &grown, reterr);
}

/* ---- sizes and forms ------------------------------------------------------------------------ */

size_t json_written(const char *text, size_t len)
{
    const char *end = text + len;
    size_t written = 0;
    for (const char *at = text, *after; at < end; at = after) {
        struct number number;
        after = *at == '"'             ? string_end(at, end)
                : is_number_start(*at) ? number_skip(at, end)
                                       : NULL;
        bool is_number = after && *at != '"' && number_read(at, (size_t)(after - at), &number);
        after = after ? after : at + 1;
        written += is_number       ? number_written(&number)
                   : is_space(*at) ? 0
                                   : (size_t)(after - at);
    }
    return written;
}

cairn_code json_check_max(const char *text, size_t len, const char *what, size_t max,
                          cairn_error *reterr)
{
    size_t grown = 0, written = 0;
    if (len <= max) {
        TRY(json_check_size(text, len, what, &grown, reterr));
        written = len + grown > max ? json_written(text, len) : 0;
        if (written <= max)
            return CAIRN_OK;
    }
    fail(reterr, CAIRN_E_TOO_LARGE, "%s is too large", what);
    if (len > max)
        return fail_detail(reterr, CAIRN_E_TOO_LARGE, "%zu bytes, %zu are allowed", len, max);
    return fail_detail(reterr, CAIRN_E_TOO_LARGE,
                       "its numbers written out make %zu bytes, %zu are allowed", written, max);
}

/* A number of few digits is what it is, and most are. */
static size_t copy_number(const char *text, size_t len, bool is_normal, char *to)
{
    if (is_normal && len > NUMBER_PLAIN_DIGITS)
        return number_normal(text, len, to);
    memcpy(to, text, len);
    return len;
}

static size_t copy_form(const char *text, size_t len, bool is_normal, char *to)
{
    const char *end = text + len;
    char *made = to;
    for (const char *at = text, *after; at < end; at = after) {
        if (*at == '"') {
            after = string_end(at, end);
            memcpy(made, at, (size_t)(after - at));
            made += after - at;
            continue;
        }
        after = is_number_start(*at) ? number_skip(at, end) : NULL;
        if (after) {
            made += copy_number(at, (size_t)(after - at), is_normal, made);
            continue;
        }
        if (!is_space(*at))
            *made++ = *at;
        after = at + 1;
    }
    return (size_t)(made - to);
}

size_t json_normal(const char *text, size_t len, char *to)
{
    return copy_form(text, len, true, to);
}

size_t json_compact(const char *text, size_t len, char *to)
{
    return copy_form(text, len, false, to);
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
