/* tests/fuzz/fuzz_normal.c - the normal form of JSON, and what a value may become in a store.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * The input is a text.  If it can be stored, so can its normal form, which is the same value, no longer
 * than its bytes or than what it is written out, and a fixed point; and its tree prints that value.
 */
#include "base/json.h"
#include "base/number.h"
#include "fuzz.h"

#include <stdbool.h>
#include <string.h>

static bool is_same_number(const json_t *a, const json_t *b)
{
    char room[2][24];
    const json_t *both[2] = {a, b};
    struct number numbers[2];
    for (int i = 0; i < 2; i++) {
        size_t len;
        const char *text = json_number_text(both[i], &len);
        if (!text && !json_is_integer(both[i]))
            return false;
        if (!text) {
            snprintf(room[i], sizeof room[i], "%lld", (long long)json_integer_value(both[i]));
            text = room[i];
            len = strlen(text);
        }
        MUST(number_read(text, len, &numbers[i]));
    }
    return number_compare(&numbers[0], &numbers[1]) == 0;
}

static bool is_same(const json_t *a, const json_t *b)
{
    const char *key;
    json_t *member;
    if (json_is_array(a) && json_is_array(b)) {
        bool is_equal = json_array_size(a) == json_array_size(b);
        for (size_t i = 0; is_equal && i < json_array_size(a); i++)
            is_equal = is_same(json_array_get(a, i), json_array_get(b, i));
        return is_equal;
    }
    if (json_is_object(a) && json_is_object(b)) {
        bool is_equal = json_object_size(a) == json_object_size(b);
        json_object_foreach((json_t *)a, key, member)
        {
            is_equal = is_equal && is_same(member, json_object_get(b, key));
        }
        return is_equal;
    }
    return is_same_number(a, b) || json_equal(a, b);
}

static void hold(const char *text, size_t len, size_t grown)
{
    char *normal = malloc(len + 1), *again = malloc(len + 1);
    cairn_error error;
    json_t *tree = NULL, *other = NULL, *printed = NULL;
    struct buf buf = {0};
    MUST(normal && again);
    size_t made = json_normal(text, len, normal), more = 0;
    bool may_have_exponents = memchr(text, 'e', len) || memchr(text, 'E', len);
    MUST(made <= len && (may_have_exponents || made <= json_written(text, len)));
    MUST(json_written(text, len) <= len + grown);
    MUST(!json_check_size(normal, made, "normal form", &more, &error));
    MUST(json_written(normal, made) <= json_written(text, len));
    MUST(json_normal(normal, made, again) == made && memcmp(normal, again, made) == 0);
    MUST(!json_read(text, len, "text", &tree, &error));
    MUST(!json_read(normal, made, "normal form", &other, &error));
    MUST(is_same(tree, other));
    json_print(&buf, tree);
    printed = json_tree(buf_text(&buf), buf.len);
    MUST(printed && is_same(tree, printed));
    buf_done(&buf);
    json_decref(printed);
    json_decref(other);
    json_decref(tree);
    free(again);
    free(normal);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len)
{
    cairn_error error;
    size_t grown = 0;
    char *copy = malloc(len + 1); /* whatever it is, nothing is read or written beyond it */
    MUST(copy);
    MUST(json_normal((const char *)bytes, len, copy) <= len);
    MUST(json_compact((const char *)bytes, len, copy) <= len);
    free(copy);
    if (!json_check_size((const char *)bytes, len, "text", &grown, &error))
        hold((const char *)bytes, len, grown);
    return 0;
}
