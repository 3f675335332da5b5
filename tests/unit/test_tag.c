/* tests/unit/test_tag.c - which tags are accepted, and what has them.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "base/mem.h"
#include "core/tag.h"
#include "test.h"

#include <stdio.h>
#include <string.h>

/* A name or a value of so many bytes. */
static const char *long_text(size_t len)
{
    static char text[400];
    memset(text, 'x', len);
    text[len] = '\0';
    return text;
}

static cairn_code check_format(const char *format, size_t len)
{
    static char json[1024];
    snprintf(json, sizeof json, format, long_text(len));
    return tags_check(json, NULL);
}

static const char *many_tags(int count)
{
    static char json[512];
    size_t used = 0;
    for (int i = 0; i < count; i++)
        used += (size_t)snprintf(json + used, sizeof json - used, "%s\"n%d\":\"v\"",
                                 i ? "," : "{", i);
    snprintf(json + used, sizeof json - used, "}");
    return json;
}

TEST(tags_are_an_object_of_few_short_texts)
{
    static const char *const good[] = {NULL,
                                       "{}",
                                       " { \"a\" : \"b\" } ",
                                       "{\"a\":\"\"}",
                                       "{\"a\":\"b:c=d\",\"b\":\"\xC3\xA9\"}",
                                       "{\"customer id\":\"4711\"}"};
    static const char *const bad[] = {"[]",
                                      "1",
                                      "null",
                                      "\"a\"",
                                      "{\"a\":1}",
                                      "{\"a\":null}",
                                      "{\"a\":{}}",
                                      "{\"a\":[\"b\"]}",
                                      "{\"\":\"b\"}",
                                      "{\"a:b\":\"c\"}",
                                      "{\"a=b\":\"c\"}"};
    for (size_t i = 0; i < sizeof good / sizeof *good; i++)
        CHECK(tags_check(good[i], NULL) == CAIRN_OK, "%s is refused", good[i]);
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        CHECK(tags_check(bad[i], NULL) == CAIRN_E_BAD_INPUT, "%s is accepted", bad[i]);
    CHECK(tags_check("{\"a\":\"b\",\"a\":\"c\"}", NULL) != CAIRN_OK, "a name twice");
    CHECK_INT(tags_check("{", NULL), CAIRN_E_BAD_JSON);
}

TEST(the_limits_of_tags_count_bytes)
{
    CHECK_INT(check_format("{\"%s\":\"v\"}", TAG_NAME_MAX), CAIRN_OK);
    CHECK_INT(check_format("{\"%s\":\"v\"}", TAG_NAME_MAX + 1), CAIRN_E_BAD_INPUT);
    CHECK_INT(check_format("{\"n\":\"%s\"}", TAG_VALUE_MAX), CAIRN_OK);
    CHECK_INT(check_format("{\"n\":\"%s\"}", TAG_VALUE_MAX + 1), CAIRN_E_BAD_INPUT);
    CHECK_INT(tags_check(many_tags(TAGS_MAX), NULL), CAIRN_OK);
    CHECK_INT(tags_check(many_tags(TAGS_MAX + 1), NULL), CAIRN_E_BAD_INPUT);
}

TEST(no_tags_are_null)
{
    CHECK(!tags_or_null(NULL), "NULL");
    CHECK(!tags_or_null("{}") && !tags_or_null(" { } "), "an empty object");
    CHECK(tags_or_null("{\"a\":\"b\"}"), "one tag");
}

TEST(a_tag_of_a_filter_is_a_name_and_a_value)
{
    cleanup(arena_done) struct arena arena = {0};
    struct tag tag;
    CHECK_INT(tag_read("customer:47:11", &arena, &tag, NULL), CAIRN_OK);
    CHECK_STR(tag.name, "customer");
    CHECK_STR(tag.value, "47:11");
    CHECK_INT(tag_read("a:", &arena, &tag, NULL), CAIRN_OK);
    CHECK_STR(tag.value, "");
    CHECK_INT(tag_read("customer", &arena, &tag, NULL), CAIRN_E_BAD_INPUT);
    CHECK_INT(tag_read(":x", &arena, &tag, NULL), CAIRN_E_BAD_INPUT);
    CHECK_INT(tag_read("a=b:x", &arena, &tag, NULL), CAIRN_E_BAD_INPUT);
    CHECK_INT(tag_read("", &arena, &tag, NULL), CAIRN_E_BAD_INPUT);
}

TEST(all_tags_must_be_there_with_their_values)
{
    static const char json[] = "{\"a\":\"1\",\"\\u0062\":\"\\u0032\",\"c\":\"12\"}";
    CHECK(tags_have(json, (struct tag[]){{"a", "1"}, {"b", "2"}}, 2), "both are there");
    CHECK(!tags_have(json, (struct tag[]){{"a", "1"}, {"b", "1"}}, 2), "another value");
    CHECK(!tags_have(json, (struct tag[]){{"c", "1"}}, 1), "only the beginning");
    CHECK(!tags_have(json, (struct tag[]){{"d", ""}}, 1), "another name");
    CHECK(!tags_have(NULL, (struct tag[]){{"a", "1"}}, 1), "no tags");
    CHECK(tags_have(NULL, NULL, 0), "nothing is asked for");
}
