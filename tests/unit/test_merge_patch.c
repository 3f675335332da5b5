/* tests/unit/test_merge_patch.c - RFC 7396: the table of its appendix, and what is kept byte for byte.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "core/merge_patch.h"
#include "test.h"

static void check_patch(const char *target, const char *patch, const char *expected)
{
    struct buf out = {0};
    CHECK(merge_patch(target, patch, &out), "%s with %s", target, patch);
    CHECK_STR(buf_text(&out), expected);
    buf_done(&out);
}

TEST(the_examples_of_the_rfc)
{
    static const char *const rows[][3] = {
        {"{\"a\":\"b\"}", "{\"a\":\"c\"}", "{\"a\":\"c\"}"},
        {"{\"a\":\"b\"}", "{\"b\":\"c\"}", "{\"a\":\"b\",\"b\":\"c\"}"},
        {"{\"a\":\"b\"}", "{\"a\":null}", "{}"},
        {"{\"a\":\"b\",\"b\":\"c\"}", "{\"a\":null}", "{\"b\":\"c\"}"},
        {"{\"a\":[\"b\"]}", "{\"a\":\"c\"}", "{\"a\":\"c\"}"},
        {"{\"a\":\"c\"}", "{\"a\":[\"b\"]}", "{\"a\":[\"b\"]}"},
        {"{\"a\":{\"b\":\"c\"}}", "{\"a\":{\"b\":\"d\",\"c\":null}}", "{\"a\":{\"b\":\"d\"}}"},
        {"{\"a\":[{\"b\":\"c\"}]}", "{\"a\":[1]}", "{\"a\":[1]}"},
        {"[\"a\",\"b\"]", "[\"c\",\"d\"]", "[\"c\",\"d\"]"},
        {"{\"a\":\"b\"}", "[\"c\"]", "[\"c\"]"},
        {"{\"a\":\"foo\"}", "null", "null"},
        {"{\"a\":\"foo\"}", "\"bar\"", "\"bar\""},
        {"{\"e\":null}", "{\"a\":1}", "{\"e\":null,\"a\":1}"},
        {"[1,2]", "{\"a\":\"b\",\"c\":null}", "{\"a\":\"b\"}"},
        {"{}", "{\"a\":{\"bb\":{\"ccc\":null}}}", "{\"a\":{\"bb\":{}}}"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        check_patch(rows[i][0], rows[i][1], rows[i][2]);
}

TEST(what_is_not_changed_keeps_its_bytes)
{
    check_patch("{ \"n\" : 9007199254740993 , \"f\": 1.10, \"x\": {\"y\": 1e400} }",
                "{\"a\": 0.10}",
                "{\"n\":9007199254740993,\"f\":1.10,\"x\":{\"y\": 1e400},\"a\":0.10}");
    check_patch("{\"\\u0061\":1,\"b\":2}", "{\"a\":3,\"b\":null}", "{\"\\u0061\":3}");
}

TEST(what_is_no_json_is_refused)
{
    struct buf out = {0};
    CHECK(!merge_patch("{", "{}", &out), "a target that is no JSON");
    CHECK(!merge_patch("{}", "{a}", &out), "a patch that is no JSON");
    buf_done(&out);
}
