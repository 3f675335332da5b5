/* core/condition_number.c - strings that are numbers, and how values are named in errors.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "base/number.h"
#include "core/condition_inside.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

bool value_is_number(const struct value *value)
{
    return value->kind == VALUE_INTEGER || value->kind == VALUE_DECIMAL;
}

bool value_read_number(struct value *value)
{
    struct number number;
    if (value->kind != VALUE_TEXT || !number_read(value->text, value->len, &number))
        return false;
    value->kind = VALUE_DECIMAL;
    return true;
}

/* `room` keeps the digits of an integer. */
static struct number number_of(const struct value *value, char room[INT_TEXT])
{
    const char *text = value->text;
    size_t len = value->len;
    struct number number;
    if (value->kind == VALUE_INTEGER) {
        text = int_text(value->integer, room);
        len = strlen(text);
    }
    bool is_read = number_read(text, len, &number);
    assert(is_read);
    (void)is_read;
    return number;
}

int value_order_numbers(const struct value *a, const struct value *b)
{
    char left[INT_TEXT], right[INT_TEXT];
    if (a->kind == VALUE_INTEGER && b->kind == VALUE_INTEGER)
        return (a->integer > b->integer) - (a->integer < b->integer);
    struct number one = number_of(a, left), other = number_of(b, right);
    return number_compare(&one, &other);
}

bool value_whole(const struct value *value, int64_t *ret_whole)
{
    char room[INT_TEXT];
    if (!value_is_number(value))
        return false;
    *ret_whole = value->integer;
    if (value->kind == VALUE_INTEGER)
        return true;
    struct number number = number_of(value, room);
    return number_whole(&number, ret_whole);
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
    else if (value->kind == VALUE_DECIMAL)
        snprintf(ret_name, VALUE_NAME_ROOM, "%.*s%s",
                 (int)(value->len < NAMED_BYTES ? value->len : NAMED_BYTES), value->text,
                 value->len > NAMED_BYTES ? "..." : "");
    else
        name_text(value, ret_name, VALUE_NAME_ROOM);
}
