/* tests/unit/test_condition.c - which way a condition sends a flow.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "core/condition.h"
#include "test.h"

#include <locale.h>
#include <stdlib.h>

static cairn_error error;

static cairn_code evaluate(const char *expression, const char *input, const char *instance_id,
                           const char *step_name, bool *ret_is_true, cairn_error *reterr)
{
    struct expression_scope scope = {
        .data = input, .instance_id = instance_id, .step_name = step_name};
    return condition_evaluate(expression, &scope, ret_is_true, reterr);
}

enum outcome { IS_FALSE, IS_TRUE, IS_REFUSED };

struct expectation {
    const char *expression, *input;
    enum outcome outcome;
    const char *message; /* IS_REFUSED */
};

static void check_all(const struct expectation *list, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        const struct expectation *e = &list[i];
        bool is_true = e->outcome != IS_TRUE;
        cairn_code code = condition_check(e->expression, &error);
        CHECK(!code, "%s: %s", e->expression, error.message);
        code = evaluate(e->expression, e->input, "id-1", "step-1", &is_true, &error);
        if (e->outcome == IS_REFUSED) {
            CHECK(code == CAIRN_E_BAD_INPUT, "%s of %s ends as %s", e->expression, e->input,
                  cairn_code_name(code));
            CHECK(strcmp(error.message, e->message) == 0, "%s of %s: %s", e->expression,
                  e->input, error.message);
        } else {
            CHECK(!code, "%s of %s: %s", e->expression, e->input, error.message);
            CHECK(is_true == (e->outcome == IS_TRUE), "%s of %s is %d", e->expression, e->input,
                  is_true);
        }
    }
}

#define CHECK_ALL(list) check_all(list, sizeof list / sizeof *list)

TEST(the_examples_of_the_requirements_hold)
{
    static const struct expectation list[] = {
        {"{{ gt .inventory_count 0 }}", "{\"inventory_count\":3}", IS_TRUE, 0},
        {"{{ gt .inventory_count 0 }}", "{\"inventory_count\":0}", IS_FALSE, 0},
        {"{{ eq .count 5 }}", "{\"count\":5}", IS_TRUE, 0},
        {"{{ eq .count 5 }}", "{\"count\":6}", IS_FALSE, 0},
        {"{{ ne .status \"active\" }}", "{\"status\":\"active\"}", IS_FALSE, 0},
        {"{{ ne .status \"active\" }}", "{\"status\":\"Active\"}", IS_TRUE, 0},
        {"{{ gt .amount 100 }}", "{\"amount\":100}", IS_FALSE, 0},
        {"{{ gt .amount 100 }}", "{\"amount\":100.5}", IS_TRUE, 0},
        {"{{ lt .price 50 }}", "{\"price\":49.99}", IS_TRUE, 0},
        {"{{ lt .price 50 }}", "{\"price\":50}", IS_FALSE, 0},
        {"{{ ge .age 18 }}", "{\"age\":18}", IS_TRUE, 0},
        {"{{ ge .age 18 }}", "{\"age\":17}", IS_FALSE, 0},
        {"{{ le .count 10 }}", "{\"count\":10}", IS_TRUE, 0},
        {"{{ le .count 10 }}", "{\"count\":11}", IS_FALSE, 0},
        {"{{ ge .user.age 18 }}", "{\"user\":{\"age\":20}}", IS_TRUE, 0},
        {"{{ .field_name }}", "{\"field_name\":true}", IS_TRUE, 0},
        {"{{ eq .instance_id \"id-1\" }}", "{}", IS_TRUE, 0},
        {"{{ eq .step_name \"step-1\" }}", "{}", IS_TRUE, 0},
    };
    CHECK_ALL(list);
}

TEST(what_is_missing_is_the_zero_of_the_other_side)
{
    static const struct expectation list[] = {
        {"{{ eq .a 0 }}", "{}", IS_TRUE, 0},
        {"{{ eq .a 0.0 }}", "{}", IS_TRUE, 0},
        {"{{ eq 0 .a }}", "{\"a\":null}", IS_TRUE, 0},
        {"{{ gt .a 0 }}", "{}", IS_FALSE, 0},
        {"{{ gt .a -1 }}", "{}", IS_TRUE, 0},
        {"{{ lt .a 0.5 }}", "null", IS_TRUE, 0},
        {"{{ eq .a \"\" }}", "{}", IS_TRUE, 0},
        {"{{ lt .a \"x\" }}", "{}", IS_TRUE, 0},
        {"{{ eq .a false }}", "{}", IS_TRUE, 0},
        {"{{ eq .a true }}", "{}", IS_FALSE, 0},
        {"{{ eq .a .b }}", "{}", IS_TRUE, 0},
        {"{{ ne .a .b }}", "{\"a\":null}", IS_FALSE, 0},
        {"{{ ge .a .b }}", "{}", IS_TRUE, 0},
        {"{{ gt .a .b }}", "{}", IS_FALSE, 0},
        {"{{ .a }}", "{}", IS_FALSE, 0},
        {"{{ not .a }}", "{}", IS_TRUE, 0},
        {"{{ and .a true }}", "{}", IS_FALSE, 0},
        {"{{ or .a true }}", "{}", IS_TRUE, 0},
        {"{{ eq .a.b.c 0 }}", "{\"a\":{\"b\":null}}", IS_TRUE, 0},
        {"{{ eq .a.b 0 }}", "{\"a\":\"text\"}", IS_TRUE, 0},
        {"{{ eq .a 0 }}", "[1,2]", IS_TRUE, 0},
        {"{{ eq .a 0 }}", "7", IS_TRUE, 0},
        {"{{ eq .a 0 }}", NULL, IS_TRUE, 0},
        {"{{ . }}", NULL, IS_FALSE, 0},
    };
    CHECK_ALL(list);
}

TEST(fields_are_found_where_they_stand)
{
    static const struct expectation list[] = {
        {"{{ eq .a.b.c 1 }}", "{\"a\":{\"b\":{\"c\":1}}}", IS_TRUE, 0},
        {"{{ eq .a .a.b }}", "{\"a\":1}", IS_FALSE, 0},
        {"{{ eq ._x1 1 }}", "{\"_x1\":1}", IS_TRUE, 0},
        {"{{ eq .größe.名前 1 }}", "{\"größe\":{\"名前\":1}}", IS_TRUE, 0},
        {"{{ eq .true 1 }}", "{\"true\":1}", IS_TRUE, 0},
        {"{{ eq .gt 1 }}", "{\"gt\":1}", IS_TRUE, 0},
        {"{{ . }}", "true", IS_TRUE, 0},
        {"{{ gt . 5 }}", "7", IS_TRUE, 0},
        {"{{ eq . \"ok\" }}", "\"ok\"", IS_TRUE, 0},
        /* the context wins */
        {"{{ eq .instance_id \"mine\" }}", "{\"instance_id\":\"mine\"}", IS_FALSE, 0},
        {"{{ eq .step_name 5 }}", "{\"step_name\":5}", IS_FALSE, 0},
        {"{{ eq .a.instance_id 5 }}", "{\"a\":{\"instance_id\":5}}", IS_TRUE, 0},
        {"{{ eq .instance_id.x 0 }}", "{\"instance_id\":{\"x\":1}}", IS_TRUE, 0},
        {"{{ eq .instance_ids 5 }}", "{\"instance_ids\":5}", IS_TRUE, 0},
    };
    CHECK_ALL(list);
}

TEST(numbers_compare_exactly_whatever_their_type)
{
    static const struct expectation list[] = {
        {"{{ eq .n 5.0 }}", "{\"n\":5}", IS_TRUE, 0},
        {"{{ eq .n 5 }}", "{\"n\":5.0}", IS_TRUE, 0},
        {"{{ eq .n 1000 }}", "{\"n\":1e3}", IS_TRUE, 0},
        {"{{ eq .n 1e3 }}", "{\"n\":1000}", IS_TRUE, 0},
        {"{{ eq .n +5 }}", "{\"n\":5}", IS_TRUE, 0},
        {"{{ eq .n -2.5E-1 }}", "{\"n\":-0.25}", IS_TRUE, 0},
        {"{{ eq .n 0 }}", "{\"n\":-0.0}", IS_TRUE, 0},
        {"{{ lt .n -4 }}", "{\"n\":-5}", IS_TRUE, 0},
        {"{{ lt .n -5 }}", "{\"n\":-5.5}", IS_TRUE, 0},
        {"{{ gt .n -5 }}", "{\"n\":-4.5}", IS_TRUE, 0},
        {"{{ gt .n 5 }}", "{\"n\":5.5}", IS_TRUE, 0},
        {"{{ lt 5 .n }}", "{\"n\":5.5}", IS_TRUE, 0},
        {"{{ gt .n 0 }}", "{\"n\":1e-300}", IS_TRUE, 0},
        {"{{ lt .n 0 }}", "{\"n\":-1e-300}", IS_TRUE, 0},
        /* beyond 2^53 doubles have gaps */
        {"{{ eq .n 9007199254740992.0 }}", "{\"n\":9007199254740993}", IS_FALSE, 0},
        {"{{ gt .n 9007199254740992.0 }}", "{\"n\":9007199254740993}", IS_TRUE, 0},
        {"{{ lt .n 9007199254740993 }}", "{\"n\":9007199254740992.0}", IS_TRUE, 0},
        {"{{ eq .n 9007199254740993 }}", "{\"n\":9007199254740992}", IS_FALSE, 0},
        {"{{ eq .n 9223372036854775807 }}", "{\"n\":9223372036854775807}", IS_TRUE, 0},
        {"{{ eq .n 9223372036854775808.0 }}", "{\"n\":9223372036854775807}", IS_FALSE, 0},
        {"{{ lt .n 9223372036854775808.0 }}", "{\"n\":9223372036854775807}", IS_TRUE, 0},
        {"{{ eq .n -9223372036854775808 }}", "{\"n\":-9223372036854775808.0}", IS_TRUE, 0},
        {"{{ gt .n -1e300 }}", "{\"n\":-9223372036854775808}", IS_TRUE, 0},
        {"{{ lt .n 1e300 }}", "{\"n\":9223372036854775807}", IS_TRUE, 0},
        {"{{ lt .n 1.5 }}", "{\"n\":1.25}", IS_TRUE, 0},
        /* beyond 64 bits, and finer than a double */
        {"{{ eq .n 12345678901234567890 }}", "{\"n\":12345678901234567890}", IS_TRUE, 0},
        {"{{ lt .n 12345678901234567890 }}", "{\"n\":12345678901234567889}", IS_TRUE, 0},
        {"{{ eq .n 602000000000000000000000 }}", "{\"n\":6.02e23}", IS_TRUE, 0},
        {"{{ gt .n 6.02e23 }}", "{\"n\":602000000000000000000001}", IS_TRUE, 0},
        {"{{ eq .n 0.1 }}", "{\"n\":0.10000000000000000000001}", IS_FALSE, 0},
        {"{{ eq .n 0.1 }}", "{\"n\":0.1000000000000000000000}", IS_TRUE, 0},
        {"{{ gt .n 1e308 }}", "{\"n\":1e400}", IS_TRUE, 0}, /* as plain SQL may store it */
    };
    CHECK_ALL(list);
}

TEST(strings_compare_byte_by_byte)
{
    static const struct expectation list[] = {
        {"{{ eq .s \"a\" }}", "{\"s\":\"a\"}", IS_TRUE, 0},
        {"{{ lt .s \"b\" }}", "{\"s\":\"a\"}", IS_TRUE, 0},
        {"{{ lt .s \"a\" }}", "{\"s\":\"B\"}", IS_TRUE, 0},
        {"{{ gt .s \"a\" }}", "{\"s\":\"ab\"}", IS_TRUE, 0},
        {"{{ gt .s \"ab\" }}", "{\"s\":\"a\"}", IS_FALSE, 0},
        {"{{ gt .s \"z\" }}", "{\"s\":\"ä\"}", IS_TRUE, 0},
        {"{{ le .s \"a\" }}", "{\"s\":\"a\"}", IS_TRUE, 0},
        {"{{ ge .s \"b\" }}", "{\"s\":\"a\"}", IS_FALSE, 0},
        {"{{ eq .s \"5\" }}", "{\"s\":\"5\"}", IS_TRUE, 0},
        {"{{ eq .s \"a\\x00\" }}", "{\"s\":\"a\"}", IS_FALSE, 0},
        {"{{ gt \"a\\x00b\" \"a\\x00a\" }}", "{}", IS_TRUE, 0},
        {"{{ eq .s \"\\a\\b\\f\\n\\r\\t\\v\\\\\\\"\" }}",
         "{\"s\":\"\\u0007\\b\\f\\n\\r\\t\\u000b\\\\\\\"\"}", IS_TRUE, 0},
        {"{{ eq .s \"\\101\\x42\\u00e4\\u20AC\\U0001f600\" }}", "{\"s\":\"ABä€😀\"}", IS_TRUE,
         0},
        {"{{ eq .s \"\\303\\xa4\" }}", "{\"s\":\"ä\"}", IS_TRUE, 0},
        {"{{ eq .s `a\\n\"b` }}", "{\"s\":\"a\\\\n\\\"b\"}", IS_TRUE, 0},
        {"{{ eq .s `a\r\nb` }}", "{\"s\":\"a\\nb\"}", IS_TRUE, 0},
        {"{{ eq .s `` }}", "{\"s\":\"\"}", IS_TRUE, 0},
        {"{{ eq .s \"}} {{\" }}", "{\"s\":\"}} {{\"}", IS_TRUE, 0},
        {"{{ eq .s \"(\" }}", "{\"s\":\"(\"}", IS_TRUE, 0},
    };
    CHECK_ALL(list);
}

/* A string that is a JSON number stands for that number beside a number. */
TEST(a_string_that_is_a_number_compares_with_a_number_as_that_number)
{
    static const struct expectation list[] = {
        {"{{ gt .a 5 }}", "{\"a\":\"7\"}", IS_TRUE, 0},
        {"{{ gt .a 50 }}", "{\"a\":\"7\"}", IS_FALSE, 0}, /* as texts it would be greater */
        {"{{ eq 5 .a }}", "{\"a\":\"5\"}", IS_TRUE, 0},
        {"{{ ne 5 .a }}", "{\"a\":\"5.0\"}", IS_FALSE, 0},
        {"{{ eq .a 1500 }}", "{\"a\":\"1.5e3\"}", IS_TRUE, 0},
        {"{{ eq .a -1.5 }}", "{\"a\":\"-15E-1\"}", IS_TRUE, 0},
        {"{{ eq .a 0 }}", "{\"a\":\"-0\"}", IS_TRUE, 0},
        {"{{ eq \"7\" .a }}", "{\"a\":7}", IS_TRUE, 0},
        {"{{ le \"7\" .a }}", "{\"a\":6.5}", IS_FALSE, 0},
        {"{{ eq .a 9007199254740993 }}", "{\"a\":\"9007199254740993\"}", IS_TRUE, 0},
        {"{{ eq .a 9007199254740992 }}", "{\"a\":\"9007199254740993\"}", IS_FALSE, 0},
        {"{{ gt .a 9223372036854775807 }}", "{\"a\":\"9223372036854775808\"}", IS_TRUE, 0},
        {"{{ lt .a -9223372036854775807 }}", "{\"a\":\"-99999999999999999999\"}", IS_TRUE, 0},
        {"{{ gt .a 1e308 }}", "{\"a\":\"1e400\"}", IS_TRUE, 0},
        {"{{ lt .a -1e308 }}", "{\"a\":\"-1e400\"}", IS_TRUE, 0},
        {"{{ eq .a \"5.0\" }}", "{\"a\":\"5\"}", IS_FALSE, 0}, /* two strings are strings */
        {"{{ eq 1 .a .b }}", "{\"a\":\"x\",\"b\":\"1\"}", IS_TRUE, 0},
    };
    CHECK_ALL(list);
}

TEST(any_other_string_is_not_equal_to_a_number)
{
    static const char *const others[] = {"",         " 5", "5 ",  "05",   "+5",   "0x5",
                                         "5.",       ".5", "5e",  "1_0",  "five", "NaN",
                                         "Infinity", "-",  "[5]", "true", "5 5"};
    char input[64];
    bool is_true;
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
        snprintf(input, sizeof input, "{\"a\":\"%s\"}", others[i]);
        CHECK_OK(evaluate("{{ eq .a 5 }}", input, "", "", &is_true, &error));
        CHECK(!is_true, "%s equals 5", input);
        CHECK_OK(evaluate("{{ ne 5 .a }}", input, "", "", &is_true, &error));
        CHECK(is_true, "%s does not differ from 5", input);
        CHECK_INT(evaluate("{{ ge .a 5 }}", input, "", "", &is_true, &error),
                  CAIRN_E_BAD_INPUT);
        CHECK(strncmp(error.message, "cannot order \"", 14) == 0, "%s", error.message);
    }
    CHECK_OK(evaluate("{{ eq \"5\\x00\" 5 }}", "{}", "", "", &is_true, &error));
    CHECK(!is_true, "a NUL ends the number");
}

TEST(eq_takes_several_and_asks_whether_any_fits)
{
    static const struct expectation list[] = {
        {"{{ eq .s \"a\" \"b\" \"c\" }}", "{\"s\":\"c\"}", IS_TRUE, 0},
        {"{{ eq .s \"a\" \"b\" \"c\" }}", "{\"s\":\"d\"}", IS_FALSE, 0},
        {"{{ eq 1 2 3 3 }}", "{}", IS_FALSE, 0},
        /* Compared until one fits, worked out to the end. */
        {"{{ eq 1 1 \"x\" }}", "{}", IS_TRUE, 0},
        {"{{ eq 1 \"x\" 1 }}", "{}", IS_TRUE, 0},
        {"{{ eq 1 true 1 }}", "{}", IS_REFUSED,
         "cannot compare a number with a boolean: \"eq\" at column 4"},
        {"{{ eq true true (gt \"x\" 1) }}", "{}", IS_REFUSED,
         "cannot order \"x\" and 1: the string is not a number: \"gt\" at column 18"},
    };
    CHECK_ALL(list);
}

TEST(logic_takes_booleans_and_stops_when_it_knows)
{
    static const struct expectation list[] = {
        {"{{ and true true }}", "{}", IS_TRUE, 0},
        {"{{ and true false }}", "{}", IS_FALSE, 0},
        {"{{ and true true false }}", "{}", IS_FALSE, 0},
        {"{{ or false false }}", "{}", IS_FALSE, 0},
        {"{{ or false false true }}", "{}", IS_TRUE, 0},
        {"{{ not false }}", "{}", IS_TRUE, 0},
        {"{{ not true }}", "{}", IS_FALSE, 0},
        {"{{ not (not .a) }}", "{\"a\":true}", IS_TRUE, 0},
        {"{{ and (gt .n 0) (lt .n 10) }}", "{\"n\":5}", IS_TRUE, 0},
        {"{{ and (gt .n 0) (or (lt .n 3) (eq .n 7 8)) }}", "{\"n\":8}", IS_TRUE, 0},
        {"{{ and (gt .n 0) (or (lt .n 3) (eq .n 7 8)) }}", "{\"n\":9}", IS_FALSE, 0},
        {"{{ eq (gt .n 0) .positive }}", "{\"n\":1,\"positive\":true}", IS_TRUE, 0},
        /* what comes after the answer is not looked at */
        {"{{ and false 5 }}", "{}", IS_FALSE, 0},
        {"{{ or true (gt \"a\" 1) }}", "{}", IS_TRUE, 0},
        {"{{ and true 5 }}", "{}", IS_REFUSED,
         "\"and\" takes booleans, not a number at column 13"},
        {"{{ or false \"true\" }}", "{}", IS_REFUSED,
         "\"or\" takes booleans, not a string at column 13"},
        {"{{ not . }}", "{}", IS_REFUSED, "\"not\" takes booleans, not an object at column 8"},
        {"{{ and 1 true }}", "{}", IS_REFUSED,
         "\"and\" takes booleans, not a number at column 8"},
    };
    CHECK_ALL(list);
}

TEST(what_cannot_be_compared_is_said)
{
    static const struct expectation list[] = {
        {"{{ gt .a 5 }}", "{\"a\":\"many\"}", IS_REFUSED,
         "cannot order \"many\" and 5: the string is not a number: \"gt\" at column 4"},
        {"{{ le 1.5 .a }}", "{\"a\":\"\"}", IS_REFUSED,
         "cannot order 1.5 and \"\": the string is not a number: \"le\" at column 4"},
        {"{{ lt .a -3 }}",
         "{\"a\":\"ten bytes ten bytes ten bytes ten bytes ten \u00e4\u00e4\u00e4 and more\"}",
         IS_REFUSED,
         "cannot order \"ten bytes ten bytes ten bytes ten bytes ten \u00e4\u00e4...\" and -3: "
         "the "
         "string is not a number: \"lt\" at column 4"},
        {"{{ ne .a true }}", "{\"a\":1.5}", IS_REFUSED,
         "cannot compare a number with a boolean: \"ne\" at column 4"},
        {"{{ eq .a \"\" }}", "{\"a\":false}", IS_REFUSED,
         "cannot compare a boolean with a string: \"eq\" at column 4"},
        {"{{ eq .a .a }}", "{\"a\":{}}", IS_REFUSED,
         "cannot compare an object with an object: \"eq\" at column 4"},
        {"{{ eq .a .b }}", "{\"a\":[]}", IS_REFUSED,
         "cannot compare an array with a missing field: \"eq\" at column 4"},
        {"{{ eq .b .a }}", "{\"a\":{}}", IS_REFUSED,
         "cannot compare a missing field with an object: \"eq\" at column 4"},
        {"{{ eq . 1 }}", "[1]", IS_REFUSED,
         "cannot compare an array with a number: \"eq\" at column 4"},
        {"{{ gt true false }}", "{}", IS_REFUSED, "cannot order booleans: \"gt\" at column 4"},
        {"{{ le .a false }}", "{}", IS_REFUSED, "cannot order booleans: \"le\" at column 4"},
        {"{{ .a }}", "{\"a\":1}", IS_REFUSED, "the condition yields a number, not a boolean"},
        {"{{ .a }}", "{\"a\":\"true\"}", IS_REFUSED,
         "the condition yields a string, not a boolean"},
        {"{{ . }}", "{}", IS_REFUSED, "the condition yields an object, not a boolean"},
        {"{{ . }}", "[]", IS_REFUSED, "the condition yields an array, not a boolean"},
        {"{{ 1 }}", "{}", IS_REFUSED, "the condition yields a number, not a boolean"},
    };
    CHECK_ALL(list);
}

TEST(white_space_and_trim_markers_are_free)
{
    static const struct expectation list[] = {
        {"{{true}}", "{}", IS_TRUE, 0},
        {" \t\r\n{{\n\teq\r.a \n 1\t}}\n", "{\"a\":1}", IS_TRUE, 0},
        {"{{- eq .a 1 -}}", "{\"a\":1}", IS_TRUE, 0},
        {"{{-\ttrue\n-}}", "{}", IS_TRUE, 0},
        {"{{- true}}", "{}", IS_TRUE, 0},
        {"{{true -}}", "{}", IS_TRUE, 0},
        {"{{eq -1 -1}}", "{}", IS_TRUE, 0},
        {"{{( ( true ) )}}", "{}", IS_TRUE, 0},
        {"{{and (eq .a 1) (eq .b 2)}}", "{\"a\":1,\"b\":2}", IS_TRUE, 0},
    };
    CHECK_ALL(list);
    bool is_true;
    CHECK_INT(evaluate("{{-1}}", "{}", "", "", &is_true, &error), CAIRN_E_BAD_INPUT);
    CHECK_STR(error.message, "the condition yields a number, not a boolean");
}

TEST(an_input_that_is_not_json_is_refused)
{
    bool is_true;
    CHECK_INT(evaluate("{{ .a }}", "{", "", "", &is_true, &error), CAIRN_E_BAD_JSON);
    CHECK_INT(evaluate("{{ .a }}", "", "", "", &is_true, NULL), CAIRN_E_BAD_JSON);
    CHECK_OK(evaluate("{{ eq .step_name .x }}", "{}", NULL, NULL, &is_true, &error));
    CHECK(is_true, "a name that nobody gave is missing");
}

TEST(a_condition_sees_the_instance)
{
    static const struct expression_output outputs[] = {{"charge", "{\"card\":\"visa\"}"}};
    static const struct expression_scope scope = {.data = "{\"email\":\"a@b.c\"}",
                                                  .input = "{\"items\":[1,2,3]}",
                                                  .instance_id = "id-1",
                                                  .key = "key-1",
                                                  .outputs = outputs,
                                                  .output_count = 1};
    static const char *const all_true[] = {
        "{{ gt (len $.input.items) 2 }}",      "{{ eq $.steps.charge.output.card `visa` }}",
        "{{ .email | hasSuffix `.c` }}",       "{{ eq $.key `key-1` }}",
        "{{ eq $.instance_id .instance_id }}", "{{ not $.tags.urgent }}",
        "{{ eq (index $.input.items 1) 2 }}",  "{{ eq $.steps.later.output .absent }}",
    };
    for (size_t i = 0; i < sizeof all_true / sizeof *all_true; i++) {
        bool is_true = false;
        CHECK_OK(condition_evaluate(all_true[i], &scope, &is_true, &error));
        CHECK(is_true, "%s", all_true[i]);
    }
}

TEST(numbers_are_read_the_same_in_every_locale)
{
    static const char *const names[] = {"de_DE.UTF-8", "de_DE.utf8", "fr_FR.UTF-8"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        setlocale(LC_NUMERIC, names[i]); /* as far as the machine has them */
    bool is_true = false;
    cairn_code code = evaluate("{{ and (gt .n 1.25) (lt .n 1.75) }}", "{\"n\":1.5}", "", "",
                               &is_true, &error);
    setlocale(LC_NUMERIC, "C");
    CHECK(!code && is_true, "%s", error.message);
}
