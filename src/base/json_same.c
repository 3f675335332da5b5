/* base/json_same.c - whether two JSON texts have the same value.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "base/json.h"
#include "base/number.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* The text of a number of either kind; false: it is none. */
static bool read_number(const json_t *json, char room[24], struct number *ret_number)
{
    size_t len = 0;
    const char *text = json_number_text(json, &len);
    if (!text && json_is_integer(json)) {
        len = (size_t)snprintf(room, 24, "%" PRId64, (int64_t)json_integer_value(json));
        text = room;
    }
    return text && number_read(text, len, ret_number);
}

/* Recursion is as deep as what json_read() takes. */
static bool is_same(const json_t *a, const json_t *b)
{
    char rooms[2][24];
    struct number one, other;
    bool is_number = read_number(a, rooms[0], &one);
    if (is_number != read_number(b, rooms[1], &other))
        return false;
    if (is_number)
        return number_compare(&one, &other) == 0;
    if (json_is_array(a) && json_is_array(b)) {
        bool is_equal = json_array_size(a) == json_array_size(b);
        for (size_t i = 0; is_equal && i < json_array_size(a); i++)
            is_equal = is_same(json_array_get(a, i), json_array_get(b, i));
        return is_equal;
    }
    if (!json_is_object(a) || !json_is_object(b))
        return json_equal(a, b);
    bool is_equal = json_object_size(a) == json_object_size(b);
    const char *key;
    json_t *value;
    json_object_foreach((json_t *)(uintptr_t)a, key, value)
    {
        const json_t *its = json_object_get(b, key);
        is_equal = is_equal && its && is_same(value, its);
    }
    return is_equal;
}

bool json_is_same(const char *a, const char *b)
{
    json_t *one = NULL, *other = NULL;
    if (!a || !b || strcmp(a, b) == 0)
        return a && b ? true : a == b;
    bool is_equal = !json_read(a, strlen(a), "", &one, NULL) &&
                    !json_read(b, strlen(b), "", &other, NULL) && is_same(one, other);
    json_decref(one);
    json_decref(other);
    return is_equal;
}
