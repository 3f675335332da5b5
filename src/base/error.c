/* base/error.c - fills in a cairn_error: the code for programs, message, detail and hint for people.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "base/error.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

struct code_row {
    const char *name;
    int http_status;
    const char *meaning;
};

static const struct code_row codes[] = {
#include "cairn_codes_table.h"
};

static const struct code_row *code_row(cairn_code code)
{
    size_t count = sizeof codes / sizeof *codes;
    return &codes[(size_t)code < count ? (size_t)code : CAIRN_E_INTERNAL];
}

const char *cairn_code_name(cairn_code code)
{
    return code_row(code)->name;
}

int cairn_code_http_status(cairn_code code)
{
    return code_row(code)->http_status;
}

const char *cairn_code_meaning(cairn_code code)
{
    return code_row(code)->meaning;
}

/* A text that does not fit is cut at a character's border, so that it stays UTF-8. */
static void put(char *text, size_t room, const char *format, va_list args)
{
    int wanted = vsnprintf(text, room, format, args);
    if (wanted < 0 || (size_t)wanted < room)
        return;
    size_t end = room - 1;
    size_t start = end;
    while (start > 0 && ((unsigned char)text[start - 1] & 0xC0) == 0x80)
        start--;
    if (start > 0 && (unsigned char)text[start - 1] >= 0xC0) {
        unsigned char lead = (unsigned char)text[start - 1];
        size_t length = lead >= 0xF0 ? 4 : lead >= 0xE0 ? 3 : 2;
        if (start - 1 + length > end)
            end = start - 1;
    }
    text[end] = '\0';
}

cairn_code fail(cairn_error *reterr, cairn_code code, const char *format, ...)
{
    if (!reterr)
        return code;
    va_list args;
    va_start(args, format);
    put(reterr->message, sizeof reterr->message, format, args);
    va_end(args);
    reterr->code = code;
    reterr->detail[0] = '\0';
    reterr->hint[0] = '\0';
    return code;
}

cairn_code fail_detail(cairn_error *reterr, cairn_code code, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    if (reterr)
        put(reterr->detail, sizeof reterr->detail, format, args);
    va_end(args);
    return code;
}

cairn_code fail_hint(cairn_error *reterr, cairn_code code, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    if (reterr)
        put(reterr->hint, sizeof reterr->hint, format, args);
    va_end(args);
    return code;
}

cairn_code fail_memory(cairn_error *reterr)
{
    return fail(reterr, CAIRN_E_OUT_OF_MEMORY, "memory ran out");
}

void error_clear(cairn_error *error)
{
    if (error)
        memset(error, 0, sizeof *error);
}
