/* core/condition_number.c - strings that are numbers, and how values are named in errors.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "base/json.h"
#include "core/condition_inside.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

/* JSON's reader allows white space around a number; a number has none. */
static bool may_be_number(const struct value *text)
{
    return text->kind == VALUE_TEXT && text->len > 0 &&
           (is_digit(text->text[0]) || text->text[0] == '-') &&
           is_digit(text->text[text->len - 1]);
}

/* NULL: it is none, or *ret_is_large. */
static json_t *read_number(const struct value *text, size_t flags, bool *ret_is_large)
{
    json_error_t why;
    json_t *number = json_loadb(text->text, text->len, JSON_DECODE_ANY | flags, &why);
    *ret_is_large = !number && json_error_code(&why) == json_error_numeric_overflow;
    return number;
}

bool value_read_number(struct value *value)
{
    bool is_large;
    if (!may_be_number(value))
        return false;
    json_t *number = read_number(value, 0, &is_large);
    if (is_large) /* an integer beyond 64 bits is a real */
        number = read_number(value, JSON_DECODE_INT_AS_REAL, &is_large);
    if (!number && !is_large)
        return false;
    if (json_is_integer(number))
        *value = (struct value){.kind = VALUE_INTEGER, .integer = json_integer_value(number)};
    else if (number)
        *value = (struct value){.kind = VALUE_REAL, .real = json_real_value(number)};
    else /* beyond every real */
        *value = (struct value){.kind = VALUE_REAL,
                                .real = value->text[0] == '-' ? -INFINITY : INFINITY};
    json_decref(number);
    return true;
}

enum { NAMED_BYTES = 48 };

/* At most so many bytes of a string, without cutting a character; what cannot be printed is "?". */
static void name_text(const struct value *value, char *ret_name, size_t room)
{
    char part[NAMED_BYTES + 1];
    size_t len = value->len < NAMED_BYTES ? value->len : NAMED_BYTES;
    while (len < value->len && len > 0 && ((unsigned char)value->text[len] & 0xC0) == 0x80)
        len--;
    memcpy(part, value->text, len);
    part[len] = '\0';
    for (size_t i = 0; i < len; i++)
        if ((unsigned char)part[i] < 0x20 || part[i] == 0x7F)
            part[i] = '?';
    if (!utf8_is_valid(part, len)) /* an escape of the expression made other bytes */
        for (size_t i = 0; i < len; i++)
            if ((unsigned char)part[i] >= 0x80)
                part[i] = '?';
    snprintf(ret_name, room, "\"%s%s\"", part, len < value->len ? "..." : "");
}

void value_name(const struct value *value, char ret_name[VALUE_NAME_ROOM])
{
    if (value->kind == VALUE_INTEGER)
        snprintf(ret_name, VALUE_NAME_ROOM, "%lld", (long long)value->integer);
    else if (value->kind == VALUE_REAL)
        snprintf(ret_name, VALUE_NAME_ROOM, "%.15g", value->real);
    else
        name_text(value, ret_name, VALUE_NAME_ROOM);
}
