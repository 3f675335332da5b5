/* tests/unit/test_json.c - which JSON is taken, and how JSON is written.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "base/error.h"
#include "base/json.h"
#include "base/mem.h"
#include "base/random.h"
#include "test.h"

static cairn_error error;

TEST(json_of_every_kind_is_taken)
{
    static const char *const texts[] = {
        "{}",
        "[]",
        "null",
        "true",
        "false",
        "0",
        "-0",
        "-1.5e-3",
        "\"\"",
        " \t\r\n{ } \n",
        "{\"a\":{\"a\":1},\"b\":[1,2,{}]}",
        "9223372036854775807",
        "-9223372036854775808",
        "1e308",
        "1e-400",
        "0.1234567890123456789012345678901234567890",
        "9223372036854775808",
        "[-123456789012345678901234567890, 1.7976931348623157e308]",
        "{\"a\\t\":12345678901234567890,\"b\":1e-16383,\"c\":0e99999999999999999999}",
        "\"\\u0001\\ud83d\\ude00\\\"\\\\\\/\\b\\f\\n\\r\\t\"",
        "\"\xc3\xa4\xe2\x82\xac\xf0\x9f\x98\x80\"",
        "{\"\":1}",
    };
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        cairn_code code = json_check(texts[i], strlen(texts[i]), "payload", &error);
        CHECK(!code, "%s: %s (%s)", texts[i], error.message, error.detail);
    }
}

#define TEXT(literal) literal, sizeof literal - 1

TEST(what_no_store_could_keep_is_refused_and_named)
{
    static const struct {
        const char *text;
        size_t len;
        const char *message;
    } cases[] = {
        {TEXT(""), "payload is not JSON"},
        {TEXT(" "), "payload is not JSON"},
        {TEXT("{"), "payload is not JSON"},
        {TEXT("{}}"), "payload is not JSON"},
        {TEXT("{} {}"), "payload is not JSON"},
        {TEXT("{a:1}"), "payload is not JSON"},
        {TEXT("{\"a\":1,}"), "payload is not JSON"},
        {TEXT("[1,]"), "payload is not JSON"},
        {TEXT("'a'"), "payload is not JSON"},
        {TEXT("01"), "payload is not JSON"},
        {TEXT("+1"), "payload is not JSON"},
        {TEXT(".5"), "payload is not JSON"},
        {TEXT("1."), "payload is not JSON"},
        {TEXT("NaN"), "payload is not JSON"},
        {TEXT("Infinity"), "payload is not JSON"},
        {TEXT("nul"), "payload is not JSON"},
        {TEXT("// x\n1"), "payload is not JSON"},
        {TEXT("\"a\nb\""), "payload is not JSON"},
        {TEXT("\"\\x41\""), "payload is not JSON"},
        {TEXT("\"\\ud800\""), "payload is not JSON"},
        {TEXT("\"\\udc00\\ud800\""), "payload is not JSON"},
        {TEXT("{}\0"), "payload is not JSON"},
        {TEXT("\"a\0b\""), "payload is not JSON"},
        {TEXT("\xef\xbb\xbf{}"), "payload is not JSON"},
        {TEXT("{\"a\":1,\"a\":2}"), "payload has the same key twice"},
        {TEXT("{\"a\":1,\"\\u0061\":2}"), "payload has the same key twice"},
        {TEXT("[{\"x\":{\"a\":1,\"b\":1,\"a\":1}}]"), "payload has the same key twice"},
        {TEXT("\"\\u0000\""), "payload contains \\u0000, which cannot be stored"},
        {TEXT("{\"a\\u0000b\":1}"), "payload contains \\u0000, which cannot be stored"},
        {TEXT("[1e400]"), "payload has a number that is too large"},
        {TEXT("[1,\n -1.8e308]"), "payload has a number that is too large"},
        {TEXT("{\"a\\n\":1e309}"), "payload has a number that is too large"},
        {TEXT("1e-16384"), "payload has a number that is too fine"},
        {TEXT("[0e-16384]"), "payload has a number that is too fine"},
        {TEXT("\"\xff\""), "payload is not UTF-8"},
        {TEXT("\"\xc0\x80\""), "payload is not UTF-8"},
        {TEXT("\"\xed\xa0\x80\""), "payload is not UTF-8"},
        {TEXT("\"\xf4\x90\x80\x80\""), "payload is not UTF-8"},
        {TEXT("\"\xe2\x82\""), "payload is not UTF-8"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        cairn_code code = json_check(cases[i].text, cases[i].len, "payload", &error);
        CHECK(code == CAIRN_E_BAD_JSON, "%zu: %s ends as %s", i, cases[i].text,
              cairn_code_name(code));
        CHECK(strcmp(error.message, cases[i].message) == 0, "%s: \"%s\" (%s)", cases[i].text,
              error.message, error.detail);
        CHECK(error.code == code && strstr(error.detail, "line "), "%s", error.detail);
        CHECK(utf8_is_valid(error.detail, strlen(error.detail)), "%zu: %s", i, error.detail);
    }
}

static char *nested(int depth, char open, char close)
{
    struct buf buf = {0};
    for (int i = 0; i < depth; i++)
        buf_str(&buf, open == '{' && i < depth - 1 ? "{\"a\":" : (char[]){open, '\0'});
    for (int i = 0; i < depth; i++)
        buf_char(&buf, close);
    return buf_take(&buf, NULL);
}

TEST(nesting_ends_at_64)
{
    for (int depth = 63; depth <= 66; depth++) {
        cleanup(mem_freep) char *lists = nested(depth, '[', ']');
        cleanup(mem_freep) char *objects = nested(depth, '{', '}');
        cairn_code wanted = depth <= JSON_DEPTH_MAX ? CAIRN_OK : CAIRN_E_TOO_LARGE;
        CHECK(json_check(lists, strlen(lists), "x", &error) == wanted, "%d lists", depth);
        CHECK(json_check(objects, strlen(objects), "x", &error) == wanted, "%d objects", depth);
    }
    cleanup(mem_freep) char *abyss = nested(100000, '[', ']');
    CHECK_INT(json_check(abyss, strlen(abyss), "x", &error), CAIRN_E_TOO_LARGE);
}

TEST(brackets_in_strings_and_side_by_side_are_not_nesting)
{
    struct buf buf = {0};
    buf_str(&buf, "[\"\\\\\",\"\\\"");
    for (int i = 0; i < 200; i++)
        buf_char(&buf, '[');
    buf_str(&buf, "\"");
    for (int i = 0; i < 200; i++)
        buf_str(&buf, ",[{}]");
    buf_str(&buf, "]");
    CHECK_OK(json_check(buf_text(&buf), buf.len, "x", &error));
    buf_done(&buf);
}

TEST(a_text_is_read_whole)
{
    json_t *tree;
    CHECK_OK(json_read(TEXT("{\"a\":[1,2]}"), "body", &tree, &error));
    CHECK_INT(json_array_size(json_object_get(tree, "a")), 2);
    json_decref(tree);
    CHECK_INT(json_check(TEXT("{"), "body", NULL), CAIRN_E_BAD_JSON);
}

TEST(utf8_is_told_from_what_only_looks_like_it)
{
    static const struct {
        const char *text;
        size_t len;
        bool is_valid;
    } cases[] = {
        {TEXT(""), true},
        {TEXT("plain"), true},
        {TEXT("\x7f"), true},
        {TEXT("\xc2\x80"), true},
        {TEXT("\xdf\xbf"), true},
        {TEXT("\xe0\xa0\x80"), true},
        {TEXT("\xed\x9f\xbf"), true},
        {TEXT("\xee\x80\x80"), true},
        {TEXT("\xef\xbf\xbf"), true},
        {TEXT("\xf0\x90\x80\x80"), true},
        {TEXT("\xf4\x8f\xbf\xbf"), true},
        {TEXT("a\xc3\xa4z"), true},
        {TEXT("a\0b"), false},
        {TEXT("\0"), false},
        {TEXT("\x80"), false},
        {TEXT("\xbf"), false},
        {TEXT("\xc0\x80"), false},
        {TEXT("\xc1\xbf"), false},
        {TEXT("\xc2"), false},
        {TEXT("\xc2z"), false},
        {TEXT("\xe0\x9f\xbf"), false},
        {TEXT("\xe2\x82"), false},
        {TEXT("\xe2\x82z"), false},
        {TEXT("\xed\xa0\x80"), false},
        {TEXT("\xf0\x8f\xbf\xbf"), false},
        {TEXT("\xf0\x90\x80"), false},
        {TEXT("\xf4\x90\x80\x80"), false},
        {TEXT("\xf5\x80\x80\x80"), false},
        {TEXT("\xff"), false},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        /* A block of its own size, so that reading past the end is noticed. */
        char *text = mem_alloc(cases[i].len);
        memcpy(text, cases[i].text, cases[i].len);
        bool is_valid = utf8_is_valid(text, cases[i].len);
        mem_free(text);
        CHECK(is_valid == cases[i].is_valid, "case %zu", i);
    }
}

TEST(json_is_written_with_commas_and_escapes)
{
    struct buf buf = {0};
    struct json_out out = {.buf = &buf};
    json_open(&out, '{');
    json_key(&out, "a\"b");
    json_str(&out, "\"\\\n\r\t\x01\x1f\x7f\xc3\xa4/");
    json_key(&out, "n");
    json_int(&out, INT64_MIN);
    json_key(&out, "list");
    json_open(&out, '[');
    json_bool(&out, true);
    json_bool(&out, false);
    json_str(&out, NULL);
    json_open(&out, '{');
    json_close(&out, '}');
    json_open(&out, '[');
    json_close(&out, ']');
    json_strn(&out, "abc", 2);
    json_close(&out, ']');
    json_key(&out, "raw");
    json_raw(&out, "{\"x\": 1}");
    json_key(&out, "none");
    json_raw(&out, NULL);
    json_key(&out, "at");
    json_time(&out, INT64_C(1794724200000000));
    json_key(&out, "never");
    json_time(&out, 0);
    json_close(&out, '}');
    CHECK_STR(buf_text(&buf),
              "{\"a\\\"b\":\"\\\"\\\\\\n\\r\\t\\u0001\\u001f\\u007f\xc3\xa4/\","
              "\"n\":-9223372036854775808,\"list\":[true,false,null,{},[],\"ab\"],"
              "\"raw\":{\"x\": 1},\"none\":null,\"at\":\"2026-11-15T06:30:00.000Z\","
              "\"never\":null}");
    buf_done(&buf);
}

TEST(every_character_that_is_written_is_read_as_itself)
{
    struct buf buf = {0};
    struct json_out out = {.buf = &buf};
    char text[128];
    for (int c = 1; c < 128; c++)
        text[c - 1] = (char)c;
    text[127] = '\0';
    json_str(&out, text);
    json_t *tree;
    CHECK_OK(json_read(buf_text(&buf), buf.len, "text", &tree, &error));
    CHECK_STR(json_string_value(tree), text);
    json_decref(tree);
    buf_done(&buf);
}

/* Texts are looked through eight bytes at a time. */
TEST(a_character_is_escaped_wherever_it_stands)
{
    static const char odd[] = {'"', '\\', '\n', 0x01, 0x1f, 0x7f};
    for (size_t len = 1; len <= 20; len++)
        for (size_t at = 0; at < len; at++)
            for (size_t i = 0; i < sizeof odd; i++) {
                char text[24];
                struct buf buf = {0}, wanted = {0};
                struct json_out out = {.buf = &buf};
                memset(text, 0x80 | 0x20,
                       len); /* no neighbour is taken for one that it resembles */
                text[at] = odd[i];
                json_strn(&out, text, len);
                buf_str(&wanted, "\"");
                buf_add(&wanted, text, at);
                if (odd[i] == '"' || odd[i] == '\\')
                    buf_printf(&wanted, "\\%c", odd[i]);
                else if (odd[i] == '\n')
                    buf_str(&wanted, "\\n");
                else
                    buf_printf(&wanted, "\\u%04x", odd[i]);
                buf_add(&wanted, text + at + 1, len - at - 1);
                buf_str(&wanted, "\"");
                CHECK_STR(buf_text(&buf), buf_text(&wanted));
                buf_done(&buf);
                buf_done(&wanted);
            }
}

/* json_check() takes plain texts without building a tree, which json_read() builds. */
TEST(what_is_checked_is_what_can_be_read)
{
    static const char *const pieces[] = {"{",
                                         "}",
                                         "[",
                                         "]",
                                         ",",
                                         ":",
                                         "\"a\"",
                                         "\"b\"",
                                         "\"ab\"",
                                         "\"\"",
                                         "\"\\n\"",
                                         "\"\xc3\xa4\"",
                                         "\"\xc3",
                                         "0",
                                         "-",
                                         "1",
                                         "12",
                                         "-3",
                                         "0.5",
                                         "1e3",
                                         "true",
                                         "false",
                                         "null",
                                         " ",
                                         "\n",
                                         "\"a",
                                         "x",
                                         "\x7f",
                                         "\t",
                                         "123456789012345678",
                                         "1234567890123456789",
                                         "12345678901234567890"};
    struct rng rng;
    size_t taken = 0;
    rng_init(&rng, 20261117);
    for (int round = 0; round < 200000; round++) {
        char text[400] = "";
        bool is_object = rng_below(&rng, 2), is_list = rng_below(&rng, 2);
        size_t count = rng_below(&rng, 8), depth = rng_below(&rng, 3);
        for (size_t i = 0; i < depth; i++)
            strcat(text, is_object ? "{\"b\":" : "[");
        for (size_t i = 0; i < count; i++)
            strcat(text, pieces[rng_below(&rng, sizeof pieces / sizeof *pieces)]);
        for (size_t i = 0; i < depth; i++)
            strcat(text, is_object && !is_list ? "}" : "]");
        json_t *tree = NULL;
        cairn_code read = json_read(text, strlen(text), "text", &tree, &error);
        cairn_code checked = json_check(text, strlen(text), "text", &error);
        if (read || strncmp(error.message, "text has a number that is too", 29) != 0)
            CHECK(checked == read, "%s: %d, %d", text, checked, read);
        taken += !read;
        json_decref(tree);
    }
    CHECK(taken > 2000, "only %zu were JSON", taken);
}

TEST(an_object_with_many_keys_may_have_none_twice)
{
    for (int count = 1; count <= 40; count++)
        for (int twice = 0; twice <= 1; twice++) {
            struct buf buf = {0};
            for (int i = 0; i < count; i++)
                buf_printf(&buf, "%c\"k%d\" : %d", i ? ',' : '{', i, i);
            buf_printf(&buf, ", \"k%d\":0}", twice ? count / 2 : count);
            cairn_code code = json_check(buf_text(&buf), buf.len, "text", &error);
            CHECK_INT(code, twice ? CAIRN_E_BAD_JSON : CAIRN_OK);
            buf_done(&buf);
        }
}

TEST(what_is_nested_is_checked_as_deep_as_it_is)
{
    for (int depth = 1; depth < JSON_DEPTH_MAX + 3; depth++) {
        struct buf buf = {0};
        for (int i = 0; i < depth; i++)
            buf_char(&buf, '[');
        for (int i = 0; i < depth; i++)
            buf_char(&buf, ']');
        cairn_code code = json_check(buf_text(&buf), buf.len, "text", &error);
        CHECK_INT(code, depth > JSON_DEPTH_MAX ? CAIRN_E_TOO_LARGE : CAIRN_OK);
        buf_done(&buf);
    }
}
