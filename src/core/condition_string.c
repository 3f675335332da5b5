/* core/condition_string.c - strings in conditions: "with \n escapes" and `raw`, as in Go.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "core/condition_inside.h"

#include "base/error.h"

#include <string.h>

/* Reads digits of a base (8 or 16) until `count` were read; false: one is none. */
static bool read_digits(const char *text, size_t len, size_t count, unsigned base,
                        uint32_t *ret_number)
{
    if (count > len)
        return false;
    uint32_t number = 0;
    for (size_t i = 0; i < count; i++) {
        char c = text[i];
        unsigned digit = c >= '0' && c <= '9'   ? (unsigned)(c - '0')
                         : c >= 'a' && c <= 'f' ? (unsigned)(c - 'a') + 10
                         : c >= 'A' && c <= 'F' ? (unsigned)(c - 'A') + 10
                                                : base;
        if (digit >= base)
            return false;
        number = number * base + digit;
    }
    *ret_number = number;
    return true;
}

/* Writes a code point in UTF-8 and says how many bytes that took; 0: it is no character. */
static size_t write_character(uint32_t code, char *to)
{
    if (code > 0x10FFFF || (code >= 0xD800 && code <= 0xDFFF))
        return 0;
    if (code < 0x80) {
        to[0] = (char)code;
        return 1;
    }
    size_t size = code < 0x800 ? 2 : code < 0x10000 ? 3 : 4;
    for (size_t i = size - 1; i > 0; i--, code >>= 6)
        to[i] = (char)(0x80 | (code & 0x3F));
    static const unsigned char marks[] = {0, 0, 0xC0, 0xE0, 0xF0};
    to[0] = (char)(marks[size] | code);
    return size;
}

/* The escape behind a backslash: writes what it means, which is never longer than itself, and
 * says how many bytes it has (`ret_read`) and how many were written; 0 written: it is
 * broken. */
static size_t decode_escape(const char *text, size_t len, char *to, size_t *ret_read)
{
    static const char plain[] = "abfnrtv\\\"", meanings[] = "\a\b\f\n\r\t\v\\\"";
    *ret_read = 1;
    if (len == 0)
        return 0;
    const char *found = text[0] ? strchr(plain, text[0]) : NULL;
    if (found) {
        *to = meanings[found - plain];
        return 1;
    }
    uint32_t code;
    if (text[0] >= '0' && text[0] <= '7') {
        *ret_read = 3;
        if (!read_digits(text, len, 3, 8, &code) || code > 0xFF)
            return 0;
        *to = (char)code;
        return 1;
    }
    size_t digits = text[0] == 'x' ? 2 : text[0] == 'u' ? 4 : text[0] == 'U' ? 8 : 0;
    *ret_read = digits + 1;
    if (digits == 0 || !read_digits(text + 1, len - 1, digits, 16, &code))
        return 0;
    if (text[0] == 'x') {
        *to = (char)code;
        return 1;
    }
    return write_character(code, to);
}

/* Between back quotes only carriage returns are dropped. */
static void copy_raw(const char *text, size_t len, char *to, size_t *ret_len)
{
    size_t used = 0;
    for (size_t i = 0; i < len; i++)
        if (text[i] != '\r')
            to[used++] = text[i];
    *ret_len = used;
}

cairn_code scan_quoted(struct scanner *scanner, struct token *token)
{
    const char *quoted = scanner->text + token->at;
    const char *text = quoted + 1;
    size_t len = token->len - 2, used = 0;
    char *bytes = arena_alloc(scanner->arena, len + 1);
    NEED(bytes, scanner->reterr);
    if (*quoted == '`') {
        copy_raw(text, len, bytes, &used);
        len = 0;
    }
    for (size_t i = 0; i < len;) {
        if (text[i] != '\\') {
            bytes[used++] = text[i++];
            continue;
        }
        size_t read, written = decode_escape(text + i + 1, len - i - 1, bytes + used, &read);
        if (written == 0)
            return scan_refuse(scanner, token->at + 1 + i, "broken escape in a string");
        used += written;
        i += read + 1;
    }
    bytes[used] = '\0';
    token->value = (struct value){.kind = VALUE_TEXT, .text = bytes, .len = used};
    return CAIRN_OK;
}
