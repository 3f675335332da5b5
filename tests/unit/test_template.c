/* tests/unit/test_template.c - JSON whose strings hold expressions.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "base/buf.h"
#include "base/json.h"
#include "base/mem.h"
#include "base/random.h"
#include "core/template.h"
#include "test.h"

#include <stdlib.h>

static cairn_error error;

static const struct expression_output outputs[] = {
    {"charge", "{\"card\":\"visa\",\"cents\":1299,\"tries\":[1,2.5,true,null]}"},
    {"charge-card", "{\"card\":\"amex\"}"},
    {"later", NULL},
};

static const struct expression_scope scope = {
    .data = "{\"email\":\"ann@example.com\",\"n\":3,\"zero\":0,\"none\":null,\"yes\":true,"
            "\"list\":[\"a\",\"b\",{\"c\":[10,20]}],\"empty\":\"\",\"z\":{\"b\":1,\"a\":2},"
            "\"instance_id\":\"mine\",\"real\":0.1,\"text\":\"a \\\"b\\\"\"}",
    .input = "{\"order_id\":42,\"items\":[{\"sku\":\"x\"},{\"sku\":\"y\"}]}",
    .instance_id = "0195-id",
    .key = "order-7",
    .tags = "{\"tenant\":\"acme\"}",
    .outputs = outputs,
    .output_count = 3,
};

enum { ROOM = 4096 };

struct expectation {
    const char *template, *result; /* the message if it is refused or fails */
};

#define COUNT(list) (sizeof list / sizeof *list)

static cairn_code make(const char *template, struct arena *arena, const char **ret_json)
{
    *ret_json = "";
    return template_make(template, &scope, ROOM, arena, ret_json, &error);
}

static void check_made(const struct expectation *list, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        cleanup(arena_done) struct arena arena = {0};
        const char *template = list[i].template, *json;
        CHECK(!template_check(template, &error), "%s: %s", template, error.message);
        CHECK(!make(template, &arena, &json), "%s: %s", template, error.message);
        CHECK(strcmp(json, list[i].result) == 0, "%s makes %s, not %s", template, json,
              list[i].result);
    }
}

static void check_message(const struct expectation *expected)
{
    CHECK(strcmp(error.message, expected->result) == 0, "%s: \"%s\", not \"%s\"",
          expected->template, error.message, expected->result);
}

static void check_failing(const struct expectation *list, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        cleanup(arena_done) struct arena arena = {0};
        const char *template = list[i].template, *json;
        CHECK(!template_check(template, &error), "%s: %s", template, error.message);
        CHECK(make(template, &arena, &json) == CAIRN_E_BAD_INPUT, "%s makes %s", template,
              json);
        check_message(&list[i]);
    }
}

static void check_refused(const struct expectation *list, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        cleanup(arena_done) struct arena arena = {0};
        const char *template = list[i].template, *json;
        CHECK(template_check(template, &error) == CAIRN_E_BAD_INPUT, "%s", template);
        check_message(&list[i]);
        CHECK_INT(make(template, &arena, &json), CAIRN_E_BAD_INPUT);
        check_message(&list[i]);
    }
}

TEST(one_expression_keeps_its_type)
{
    static const struct expectation list[] = {
        {"\"{{ .n }}\"", "3"},
        {"\"{{ .real }}\"", "0.1"},
        {"\"{{ .yes }}\"", "true"},
        {"\"{{ .email }}\"", "\"ann@example.com\""},
        {"\"{{ .text }}\"", "\"a \\\"b\\\"\""},
        {"\"{{ .z }}\"", "{\"b\":1,\"a\":2}"},
        {"\"{{ .list }}\"", "[\"a\",\"b\",{\"c\":[10,20]}]"},
        {"\"{{ .none }}\"", "null"},
        {"\"{{ .absent.deeper }}\"", "null"},
        {"\"{{ gt .n 2 }}\"", "true"},
        {"\"{{ .instance_id }}\"", "\"mine\""}, /* of the data: only conditions hide it */
        {"\"{{ 5 }}\"", "5"},
        {"\"{{ \\\"x\\\" }}\"", "\"x\""},
        {"{\"order\":\"{{ $.input.order_id }}\",\"card\":\"{{ $.steps.charge.output.card }}\","
         "\"to\":\"{{ .email }}\"}",
         "{\"order\":42,\"card\":\"visa\",\"to\":\"ann@example.com\"}"},
    };
    check_made(list, COUNT(list));
}

TEST(text_around_it_makes_a_string)
{
    static const struct expectation list[] = {
        {"\"n is {{ .n }}\"", "\"n is 3\""},
        {"\"{{ .n }}{{ .n }}\"", "\"33\""},
        {"\" {{ .n }}\"", "\" 3\""},
        {"\"{{ .none }}.\"", "\".\""},
        {"\"{{ .z }}!\"", "\"{\\\"a\\\":2,\\\"b\\\":1}!\""},
        {"\"a {{- .n -}} b\"", "\"a3b\""},
        {"\"a {{ .n }} b {{- .n }} c\"", "\"a 3 b3 c\""},
        {"\"{{ .email }}, {{ .yes }}\"", "\"ann@example.com, true\""},
        {"\"no action\"", "\"no action\""},
        {"\"{ single } braces }}\"", "\"{ single } braces }}\""},
        {"\"\"", "\"\""},
        {"\"{{ \\\"{{\\\" }} .n }}\"", "\"{{ .n }}\""},
        {"\"{{ \\\"{{\\\" }}\"", "\"{{\""},
    };
    check_made(list, COUNT(list));
}

TEST(what_holds_no_expression_stays)
{
    static const struct expectation list[] = {
        {"{\"a\":[1,2.5,-3,true,null,\"x\"],\"b\":{}}",
         "{\"a\":[1,2.5,-3,true,null,\"x\"],\"b\":{}}"},
        {"[]", "[]"},
        {"null", "null"},
        {"{\"{{ .n }}\":1}", "{\"{{ .n }}\":1}"}, /* keys are not expressions */
    };
    check_made(list, COUNT(list));
}

TEST(everything_about_the_instance_can_be_named)
{
    static const struct expectation list[] = {
        {"\"{{ $.instance_id }}\"", "\"0195-id\""},
        {"\"{{ $.key }}\"", "\"order-7\""},
        {"\"{{ $.key.x }}\"", "null"},
        {"\"{{ $.tags }}\"", "{\"tenant\":\"acme\"}"},
        {"\"{{ $.tags.tenant }}\"", "\"acme\""},
        {"\"{{ $.input }}\"", "{\"order_id\":42,\"items\":[{\"sku\":\"x\"},{\"sku\":\"y\"}]}"},
        {"\"{{ $.steps.charge.output.cents }}\"", "1299"},
        {"\"{{ $.steps.later.output }}\"", "null"},
        {"\"{{ $.steps.unknown.output }}\"", "null"}, /* deploy knows the names */
        {"\"{{ (index $.steps \\\"charge-card\\\").output.card }}\"", "\"amex\""},
        {"\"{{ index $.steps \\\"charge-card\\\" \\\"output\\\" \\\"card\\\" }}\"", "\"amex\""},
        {"\"{{ index $.steps \\\"charge-card\\\" \\\"output\\\" }}\"", "{\"card\":\"amex\"}"},
        {"\"{{ index $.steps.charge.output.tries 1 }}\"", "2.5"},
    };
    check_made(list, COUNT(list));
}

TEST(functions_yield_values)
{
    static const struct expectation list[] = {
        {"\"{{ len .list }}\"", "3"},
        {"\"{{ len .email }}\"", "15"},
        {"\"{{ len . }}\"", "11"},
        {"\"{{ len .absent }}\"", "0"},
        {"\"{{ index .list 1 }}\"", "\"b\""},
        {"\"{{ index .list 2 \\\"c\\\" 1 }}\"", "20"},
        {"\"{{ (index .list 2).c }}\"", "[10,20]"},
        {"\"{{ index .list 9 }}\"", "null"},
        {"\"{{ index .list -1 }}\"", "null"},
        {"\"{{ index .absent 9 \\\"x\\\" }}\"", "null"},
        {"\"{{ index $.input.items 1 \\\"sku\\\" }}\"", "\"y\""},
        {"\"{{ contains \\\"@\\\" .email }}\"", "true"},
        {"\"{{ contains \\\"#\\\" .email }}\"", "false"},
        {"\"{{ contains \\\"b\\\" .list }}\"", "true"},
        {"\"{{ contains \\\"c\\\" .list }}\"", "false"},
        {"\"{{ contains 2.5 $.steps.charge.output.tries }}\"", "true"},
        {"\"{{ contains 2 $.steps.charge.output.tries }}\"", "false"},
        {"\"{{ contains \\\"x\\\" .absent }}\"", "false"},
        {"\"{{ contains \\\"\\\" .absent }}\"", "true"},
        {"\"{{ hasPrefix \\\"ann\\\" .email }}\"", "true"},
        {"\"{{ hasPrefix \\\"bob\\\" .email }}\"", "false"},
        {"\"{{ hasSuffix \\\".com\\\" .email }}\"", "true"},
        {"\"{{ hasSuffix .email \\\".com\\\" }}\"", "false"},
        {"\"{{ default 5 .absent }}\"", "5"},
        {"\"{{ default 5 .zero }}\"", "0"}, /* it is there */
        {"\"{{ default 5 .empty }}\"", "\"\""},
        {"\"{{ default .list .none }}\"", "[\"a\",\"b\",{\"c\":[10,20]}]"},
        {"\"{{ json .z }}\"", "\"{\\\"a\\\":2,\\\"b\\\":1}\""},
        {"\"{{ json .email }}\"", "\"\\\"ann@example.com\\\"\""},
        {"\"{{ json .absent }}\"", "\"null\""},
        {"\"{{ json 1e3 }} {{ json 0.5 }}\"", "\"1000 0.5\""},
        {"\"{{ json 15e-1 }} {{ json 1.50 }} {{ json -0.0 }}\"", "\"1.5 1.5 0\""},
        {"\"{{ json 1e23 }} {{ json 100000000000000000000000 }}\"", "\"1e23 1e23\""},
        {"\"{{ 12345678901234567890 }}\"", "12345678901234567890"},
        {"[6.02e23,0.10,\"{{ 6.02e23 }}\"]", "[6.02e23,0.10,6.02e23]"},
        {"\"{{ index .list 1e0 }}\"", "\"b\""},
    };
    check_made(list, COUNT(list));
}

TEST(a_pipe_gives_the_last_argument)
{
    static const struct expectation list[] = {
        {"\"{{ .absent | default 5 }}\"", "5"},
        {"\"{{ .email | hasSuffix \\\".com\\\" | not }}\"", "false"},
        {"\"{{ .list | len | gt 5 }}\"", "true"}, /* gt 5 3 */
        {"\"{{ len (.absent | default \\\"four\\\") }}\"", "4"},
        {"\"{{ .z|json|len }}\"", "13"},
        {"\"{{ (.absent | default .z).a }}\"", "2"},
        {"\"{{ 1 | index .list }}\"", "\"b\""},
    };
    check_made(list, COUNT(list));
}

#define NO_VARIABLES "variables are not supported, only fields such as $.input: found \"$\""
#define NO_SUCH_FIELD \
    "$ has the fields input, steps, instance_id, key and tags: found another one or none"
#define ONE_STEP "one step's output must be named, as in $.steps.NAME.output: found less"
#define ITS_OUTPUT \
    "of a step only its output is known, as in $.steps.NAME.output: found something else"

TEST(what_is_malformed_is_refused_with_its_place)
{
    static const struct expectation list[] = {
        {"\"{{ .n\"", "\"}}\" is missing at column 6"},
        {"{\"a\":[1,{\"b\":\"x {{ y }}\"}]}", "a[1].b: unknown function \"y\" at column 6"},
        {"[\"{{ len }}\"]", "[0]: function \"len\" takes 1 argument, not 0, at column 4"},
        {"\"{{ index .a }}\"",
         "function \"index\" takes 2 or more arguments, not 1, at column 4"},
        {"\"{{ .a | len 1 }}\"", "function \"len\" takes 1 argument, not 2, at column 9"},
        {"\"{{ default 1 }}\"", "function \"default\" takes 2 arguments, not 1, at column 4"},
        {"\"{{ .a | }}\"", "a pipe leads to a function: found something else at column 9"},
        {"\"{{ .a | .b }}\"", "a pipe leads to a function: found something else at column 9"},
        {"\"{{ | len }}\"", "a value is missing at column 4"},
        {"\"{{}}\"", "the expression is empty"},
        {"\"{{ range .a }}\"", "the action \"range\" is not supported at column 4"},
        {"\"{{ $ }}\"", NO_VARIABLES " at column 4"},
        {"\"{{ $. }}\"", NO_SUCH_FIELD " at column 4"},
        {"\"{{ $.inptu }}\"", NO_SUCH_FIELD " at column 4"},
        {"\"{{ $.steps }}\"", ONE_STEP " at column 4"},
        {"\"{{ len $.steps }}\"", ONE_STEP " at column 8"},
        {"\"{{ $.steps | len }}\"", ONE_STEP " at column 4"},
        {"\"{{ ($.steps).a }}\"", ONE_STEP " at column 5"},
        {"\"{{ $.steps.a }}\"", ITS_OUTPUT " at column 4"},
        {"\"{{ $.steps.a.input }}\"", ITS_OUTPUT " at column 4"},
        {"\"{{ index $.steps .name }}\"",
         "the name of a step must be written as a string: found something else at column 18"},
        {"\"{{ index $.steps \\\"a\\\" }}\"", ONE_STEP " at column 10"},
        {"\"{{ index .a $.steps }}\"", ONE_STEP " at column 13"},
        {"\"{{ (index $.steps \\\"a\\\").input }}\"",
         "of a step only its output is known: found another field at column 23"},
        {"\"{{ index $.steps \\\"a\\\" \\\"input\\\" }}\"",
         "of a step only its \"output\" is known: found something else at column 22"},
    };
    check_refused(list, COUNT(list));
}

#define NO_UTF8 "the expression makes a string that is not UTF-8 or contains a NUL"

TEST(what_fails_is_said_with_its_place)
{
    static const struct expectation list[] = {
        {"{\"a\":\"{{ len .n }}\"}", "a: a number has no length at column 8"},
        {"\"{{ index .n 1 }}\"", "a number has no elements at column 13"},
        {"\"{{ index .list \\\"a\\\" }}\"",
         "an array is indexed by a whole number, not by a string at column 16"},
        {"\"{{ index .z 1 }}\"",
         "an object is indexed by a string, not by a number at column 13"},
        {"\"{{ hasPrefix 1 .email }}\"",
         "\"hasPrefix\" takes strings, not a number at column 14"},
        {"\"{{ hasSuffix \\\"x\\\" .list }}\"",
         "\"hasSuffix\" takes strings, not an array at column 18"},
        {"\"{{ contains \\\"x\\\" .z }}\"",
         "\"contains\" takes strings, not an object at column 17"},
        {"\"{{ gt .list 1 }}\"", "cannot compare an array with a number: \"gt\" at column 4"},
        {"\"{{ \\\"\\\\xff\\\" }}\"", NO_UTF8},
        {"\"a{{ \\\"\\\\x00\\\" }}\"", NO_UTF8},
    };
    check_failing(list, COUNT(list));
}

/* ---- limits --------------------------------------------------------------------------------- */

static cairn_code make_from(const char *template, const char *data, size_t max)
{
    cleanup(arena_done) struct arena arena = {0};
    struct expression_scope large = {.data = data};
    const char *json;
    cairn_code code = template_make(template, &large, max, &arena, &json, &error);
    CHECK(code || strlen(json) <= max, "%zu bytes", strlen(json));
    return code;
}

/* `before`, `count` times `unit`, `after`. */
static char *repeated(const char *before, const char *unit, size_t count, const char *after)
{
    struct buf buf = {0};
    buf_str(&buf, before);
    for (size_t i = 0; i < count; i++)
        buf_str(&buf, unit);
    buf_str(&buf, after);
    return buf_take(&buf, NULL);
}

TEST(a_result_is_limited)
{
    CHECK_OK(make_from("\"{{ .a }}\"", "{\"a\":\"12345678\"}", 10));
    CHECK_INT(make_from("\"{{ .a }}\"", "{\"a\":\"123456789\"}", 10), CAIRN_E_BAD_INPUT);
    CHECK_STR(error.message, "the value is larger than 10 bytes");
    CHECK_INT(make_from("[\"{{ .a }}\",\"{{ .a }}\"]", "{\"a\":\"1234\"}", 10),
              CAIRN_E_BAD_INPUT);
    CHECK_INT(make_from("\"{{ .a }}{{ .a }}\"", "{\"a\":\"12345\"}", 10), CAIRN_E_BAD_INPUT);
    CHECK_INT(make_from("{\"0123456789\":1}", "{}", 10), CAIRN_E_BAD_INPUT);
    CHECK_INT(make_from("[[[[[[]]]]]]", "{}", 10), CAIRN_E_BAD_INPUT);
}

TEST(work_is_limited)
{
    cleanup(mem_freep) char *data = repeated("{\"a\":\"", "0123456789abcdef", 65536, "\"}");
    cleanup(mem_freep) char *search = repeated("[", "\"{{ contains `x` .a }}\",", 1000, "0]");
    cleanup(mem_freep) char *print = repeated("[", "\"{{ len (json .a) }}\",", 1000, "0]");
    cleanup(mem_freep) char *doubled = repeated("\"{{ .a ", "| json ", 60, "| len }}\"");
    cleanup(mem_freep) char *same = repeated("[", "\"{{ eq .a .a }}\",", 1000, "0]");
    const char *const hostile[] = {search, print, doubled, same};
    for (size_t i = 0; i < COUNT(hostile); i++) {
        CHECK_INT(make_from(hostile[i], data, 1 << 20), CAIRN_E_BAD_INPUT);
        CHECK(strstr(error.message, "MiB") || strstr(error.message, "is larger than"), "%s",
              error.message);
    }
}

TEST(nesting_is_limited)
{
    cleanup(mem_freep) char *deep = repeated("", "[", 64, "");
    cleanup(mem_freep) char *data = repeated(deep, "]", 64, "");
    CHECK_OK(make_from("\"{{ . }}\"", data, 1000));
    CHECK_INT(make_from("[\"{{ . }}\"]", data, 1000), CAIRN_E_BAD_INPUT);
    CHECK_STR(error.message, "[0]: the value is nested more than 64 deep");
    cleanup(mem_freep) char *pipes = repeated("\"{{ .a ", "| not ", 64, "}}\"");
    cleanup(mem_freep) char *more = repeated("\"{{ .a ", "| not ", 65, "}}\"");
    CHECK_OK(template_check(pipes, &error));
    CHECK_INT(template_check(more, &error), CAIRN_E_BAD_INPUT);
    CHECK(strstr(error.message, "more than 64 pipes"), "%s", error.message);
}

TEST(an_action_has_4096_bytes_and_a_text_more)
{
    cleanup(mem_freep) char *action = repeated("\"{{ 1", " ", 4090, "}}\"");
    cleanup(mem_freep) char *longer = repeated("\"{{ 1", " ", 4091, "}}\"");
    cleanup(mem_freep) char *text = repeated("\"", "{{ 1 }} and ", 2000, "\"");
    CHECK_OK(template_check(action, &error));
    CHECK_INT(template_check(longer, &error), CAIRN_E_BAD_INPUT);
    CHECK_OK(template_check(text, &error));
}

/* ---- what it asks for ----------------------------------------------------------------------- */

TEST(the_steps_that_a_template_asks_for_are_known)
{
    cleanup(arena_done) struct arena arena = {0};
    struct expression_steps steps = {0};
    CHECK_OK(template_steps("{\"a\":\"{{ $.steps.one.output }} {{ len $.steps.two.output }}\","
                            "\"b\":[\"{{ $.steps.one.output.x | default .y }}\","
                            "\"{{ (index $.steps \\\"th-ree\\\").output }}\"],"
                            "\"$.steps.no.output\":\"$.steps.no.output\"}",
                            &arena, &steps, &error));
    CHECK_INT(steps.count, 3);
    CHECK_STR(steps.items[0], "one");
    CHECK_STR(steps.items[1], "two");
    CHECK_STR(steps.items[2], "th-ree");
}

/* ---- any bytes ------------------------------------------------------------------------------ */

static const char *const pieces[] = {
    "{{",        "}}",  " ",         ".n",    ".list", "$.input", "$.steps.charge.output",
    "$.key",     "|",   "len",       "index", "json",  "default", "contains",
    "\\\"a\\\"", "(",   ")",         "5",     "-1.5",  "text",    "$.steps",
    ".",         "not", "hasPrefix", "eq",    "-",     ").c",     "hasSuffix",
};

static char *random_template(struct rng *rng)
{
    struct buf buf = {0};
    buf_str(&buf, "\"{{ ");
    for (uint64_t n = rng_below(rng, 9); n > 0; n--) {
        buf_str(&buf, pieces[rng_below(rng, COUNT(pieces))]);
        if (rng_below(rng, 3))
            buf_char(&buf, ' ');
    }
    buf_str(&buf, " }}\"");
    return buf_take(&buf, NULL);
}

TEST(random_pieces_never_crash_and_check_agrees_with_make)
{
    struct rng rng;
    size_t made = 0, refused = 0;
    rng_init(&rng, 815);
    for (int i = 0; i < 40000; i++) {
        cleanup(arena_done) struct arena arena = {0};
        cleanup(mem_freep) char *text = random_template(&rng);
        const char *json;
        cairn_code checked = template_check(text, &error);
        cairn_code code = make(text, &arena, &json);
        CHECK(!checked || code == checked, "%s is refused, then made: %s", text, json);
        CHECK(!code || code == CAIRN_E_BAD_INPUT, "%s: %s", text, error.message);
        CHECK(!code || utf8_is_valid(error.message, strlen(error.message)), "%s", text);
        if (!code)
            CHECK_OK(json_check(json, strlen(json), "the result", &error));
        *(code ? &refused : &made) += 1;
    }
    CHECK(made > 300 && refused > 1000, "%zu made, %zu refused", made, refused);
}

TEST(when_memory_runs_out_that_is_said)
{
    static const char template[] =
        "{\"a\":\"{{ .list }} {{ json .z }}\",\"b\":\"{{ len $.input }}\","
        "\"c\":[\"{{ $.steps.charge.output }}\"]}";
    for (long allowed = 0;; allowed++) {
        struct arena arena = {0};
        const char *json;
        mem_fail_after(allowed);
        cairn_code code = make(template, &arena, &json);
        mem_fail_after(-1);
        arena_done(&arena);
        if (!code)
            break;
        CHECK_INT(code, CAIRN_E_OUT_OF_MEMORY);
        CHECK(allowed < 1000, "it never ends");
    }
}
