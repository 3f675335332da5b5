/* tests/unit/test_condition_refused.c - conditions refused at deploy, and hostile ones.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * The seeded tests hold for any bytes: nothing crashes (under the sanitizers), every call ends,
 * and what the check refuses cannot be evaluated either.
 */
#include "base/buf.h"
#include "base/json.h"
#include "base/mem.h"
#include "base/random.h"
#include "core/condition.h"
#include "test.h"

#include <stdlib.h>

static cairn_error error;

static cairn_code evaluate(const char *expression, const char *input, const char *instance_id,
                           const char *step_name, bool *ret_is_true, cairn_error *reterr)
{
    struct expression_scope scope = {
        .data = input, .instance_id = instance_id, .step_name = step_name};
    return condition_evaluate(expression, &scope, ret_is_true, reterr);
}

TEST(what_is_malformed_is_refused_with_its_column)
{
    static const struct {
        const char *expression, *message;
    } cases[] = {
        {"", "the expression is empty"},
        {" \n", "the expression is empty"},
        {"{{}}", "the expression is empty"},
        {"{{  }}", "the expression is empty"},
        {"{{- -}}", "the expression is empty"},
        {"gt .a 0", "the expression must stand in {{ and }}: \"{{\" is missing at column 1"},
        {"x {{ .a }}", "the expression must stand in {{ and }}: \"{{\" is missing at column 1"},
        {"{ .a }", "the expression must stand in {{ and }}: \"{{\" is missing at column 1"},
        /* braces */
        {"{{ .a", "\"}}\" is missing at column 6"},
        {"{{", "\"}}\" is missing at column 3"},
        {"{{ .a }", "unexpected \"}\" at column 7"},
        {"{{ .a }} x", "unexpected text after \"}}\" at column 10"},
        {"{{ .a }}}", "unexpected text after \"}}\" at column 9"},
        {"{{ .a }}{{ .b }}", "a condition is one action: found a second \"{{\" at column 9"},
        {"{{ {{ .a }} }}", "unexpected \"{\" at column 4"},
        {"{{-}}", "unexpected \"-\" at column 3"},
        {"{{ .a-}}", "unexpected \"-\" at column 6"},
        /* parentheses */
        {"{{ (eq .a 1 }}", "\")\" is missing for the \"(\" at column 4"},
        {"{{ eq .a 1) }}", "unexpected \")\" at column 11"},
        {"{{ ) }}", "a value is missing at column 4"},
        {"{{ () }}", "a value is missing at column 5"},
        {"{{ not () }}", "a value is missing at column 9"},
        {"{{ (eq .a 1", "\"}}\" is missing at column 12"},
        {"{{ not(.a) }}", "white space is missing at column 7"},
        {"{{ and (.a)(.b) }}", "white space is missing at column 12"},
        {"{{ and (.a)$.input .c }}", "white space is missing at column 12"},
        {"{{ and (.a). .c }}", "white space is missing at column 12"},
        {"{{ eq \"a\"\"b\" }}", "white space is missing at column 10"},
        /* functions and their arguments */
        {"{{ gtt .a 1 }}", "unknown function \"gtt\" at column 4"},
        {"{{ GT .a 1 }}", "unknown function \"GT\" at column 4"},
        {"{{ printf .a }}", "unknown function \"printf\" at column 4"},
        {"{{ not (x) }}", "unknown function \"x\" at column 9"},
        {"{{ größer .a }}", "unknown function \"größer\" at column 4"},
        {"{{ not gt .a 1 }}", "function \"gt\" must begin a pair of parentheses "
                              "to be an argument at column 8"},
        {"{{ eq }}", "function \"eq\" takes 2 or more arguments, not 0, at "
                     "column 4"},
        {"{{ eq 1 }}", "function \"eq\" takes 2 or more arguments, not 1, at "
                       "column 4"},
        {"{{ gt .a }}", "function \"gt\" takes 2 arguments, not 1, at column 4"},
        {"{{ gt .a 1 2 }}", "function \"gt\" takes 2 arguments, not 3, at column "
                            "4"},
        {"{{ ne 1 2 3 }}", "function \"ne\" takes 2 arguments, not 3, at column "
                           "4"},
        {"{{ and .a }}", "function \"and\" takes 2 or more arguments, not 1, at "
                         "column 4"},
        {"{{ or }}", "function \"or\" takes 2 or more arguments, not 0, at column "
                     "4"},
        {"{{ not }}", "function \"not\" takes 1 argument, not 0, at column 4"},
        {"{{ and .a (not .b .c) }}", "function \"not\" takes 1 argument, not 2, at column 12"},
        {"{{ .a .b }}", "a value without a function takes no arguments: found one at column 7"},
        {"{{ .a gt 1 }}",
         "a value without a function takes no arguments: found one at column 7"},
        /* what Go has and we do not */
        {"{{ $x }}", "variables are not supported, only fields such as $.input: found \"$\" at "
                     "column 4"},
        {"{{ $x := 1 }}",
         "variables are not supported, only fields such as $.input: found \"$\" "
         "at column 4"},
        {"{{ if .a }}", "the action \"if\" is not supported at column 4"},
        {"{{ range .a }}", "the action \"range\" is not supported at column 4"},
        {"{{ template \"x\" }}", "the action \"template\" is not supported at column 4"},
        {"{{ eq .a nil }}", "\"nil\" is not supported, a missing field is 0, "
                            "\"\" or false: found at column 10"},
        {"{{/* a */}}", "unexpected \"/\" at column 3"},
        {"{{ eq .a 'x' }}", "strings stand in \" or ` quotes: found a single "
                            "quote at column 10"},
        {"{{ eq .a, 1 }}", "unexpected \",\" at column 9"},
        {"{{ .a == 1 }}", "a comparison is written as eq a b: found \"=\" at column 7"},
        {"{{ .a > 1 }}",
         "a comparison is written as gt a b, or ge a b: found \">\" at column 7"},
        {"{{ .a <= 1 }}",
         "a comparison is written as lt a b, or le a b: found \"<\" at column 7"},
        {"{{ !.a }}", "a negation is written as ne a b, or not a: found \"!\" at column 4"},
        {"{{ .a && .b }}", "both are asked for with and a b: found \"&\" at column 7"},
        /* fields */
        {"{{ .. }}", "a field's name is missing after \".\" at column 4"},
        {"{{ .a..b }}", "a field's name is missing after \".\" at column 6"},
        {"{{ .a. }}", "a field's name is missing after \".\" at column 6"},
        {"{{ eq .5 1 }}", "a name begins with a letter, a number with a digit: "
                          "found \".5\" at column 7"},
        {"{{ eq .a.5 1 }}", "a name begins with a letter, a number with a digit: "
                            "found \".5\" at column 9"},
        {"{{ .a-b }}", "unexpected \"-\" at column 6"},
        {"{{ .a\xc2\xa0}}", "unexpected character U+00A0 at column 6"},
        {"{{ eq .a “x” }}", "unexpected character U+201C at column 10"},
        /* numbers */
        {"{{ eq .a 010 }}", "\"010\" is not a number at column 10"},
        {"{{ eq .a 0x10 }}", "\"0x10\" is not a number at column 10"},
        {"{{ eq .a 1_000 }}", "\"1_000\" is not a number at column 10"},
        {"{{ eq .a 1. }}", "\"1.\" is not a number at column 10"},
        {"{{ eq .a 1.2.3 }}", "\"1.2.3\" is not a number at column 10"},
        {"{{ eq .a 1e }}", "\"1e\" is not a number at column 10"},
        {"{{ eq .a -1e+ }}", "\"-1e+\" is not a number at column 10"},
        {"{{ eq .a 5x }}", "\"5x\" is not a number at column 10"},
        {"{{ eq .a +-5 }}", "unexpected \"+\" at column 10"},
        {"{{ eq .a - 5 }}", "unexpected \"-\" at column 10"},
        {"{{ eq .a 5-3 }}", "white space is missing at column 11"},
        {"{{ eq .a 1e-20000 }}", "\"1e-20000\" is too fine at column 10"},
        {"{{ eq .a 1e400 }}", "\"1e400\" is too large at column 10"},
        /* strings */
        {"{{ eq .a \"x }}", "the string has no end: it begins at column 10"},
        {"{{ eq .a \"x\n\" }}", "the string has no end: it begins at column 10"},
        {"{{ eq .a `x }}", "the string has no end: it begins at column 10"},
        {"{{ eq .a \"x\\", "the string has no end: it begins at column 10"},
        {"{{ eq .a \"x\\\" }}", "the string has no end: it begins at column 10"},
        {"{{ eq .a \"x\\q\" }}", "broken escape in a string at column 12"},
        {"{{ eq .a \"\\'\" }}", "broken escape in a string at column 11"},
        {"{{ eq .a \"\\x4\" }}", "broken escape in a string at column 11"},
        {"{{ eq .a \"\\xg0\" }}", "broken escape in a string at column 11"},
        {"{{ eq .a \"\\400\" }}", "broken escape in a string at column 11"},
        {"{{ eq .a \"\\08\" }}", "broken escape in a string at column 11"},
        {"{{ eq .a \"\\ud800\" }}", "broken escape in a string at column 11"},
        {"{{ eq .a \"\\U00110000\" }}", "broken escape in a string at column 11"},
        {"{{ eq .ä \"\\q\" }}", "broken escape in a string at column 11"},
        /* characters */
        {"{{ .a \x01 }}", "unexpected character U+0001 at column 7"},
        {"{{ .ä \xff }}", "the expression has broken UTF-8 at column 7"},
        {"{{ .a }}\xe2\x82", "the expression has broken UTF-8 at column 9"},
        {"{{ eq .a \"\xc0\x80\" }}", "the expression has broken UTF-8 at column 11"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        cairn_code code = condition_check(cases[i].expression, &error);
        CHECK(code == CAIRN_E_BAD_INPUT, "%s ends as %s", cases[i].expression,
              cairn_code_name(code));
        CHECK(strcmp(error.message, cases[i].message) == 0, "%s: \"%s\", not \"%s\"",
              cases[i].expression, error.message, cases[i].message);
        bool is_true;
        code = evaluate(cases[i].expression, "{}", "", "", &is_true, &error);
        CHECK(code == CAIRN_E_BAD_INPUT && strcmp(error.message, cases[i].message) == 0,
              "%s: %s", cases[i].expression, error.message);
    }
    CHECK_INT(condition_check("{{ x }}", NULL), CAIRN_E_BAD_INPUT);
    CHECK_INT(condition_check(NULL, &error), CAIRN_E_BAD_INPUT);
}

/* "{{ ((( true ))) }}" */
static char *nested(int depth)
{
    struct buf buf = {0};
    buf_str(&buf, "{{ ");
    for (int i = 0; i < depth; i++)
        buf_str(&buf, i % 2 ? "(" : "(not ");
    buf_str(&buf, "true");
    for (int i = 0; i < depth; i++)
        buf_char(&buf, ')');
    buf_str(&buf, " }}");
    return buf_take(&buf, NULL);
}

TEST(parentheses_nest_64_deep_and_no_deeper)
{
    cleanup(mem_freep) char *deepest = nested(64), *deeper = nested(65), *abyss = nested(600);
    bool is_true = false;
    CHECK_OK(evaluate(deepest, "{}", "", "", &is_true, &error));
    CHECK(is_true, "32 times not");
    CHECK_INT(condition_check(deeper, &error), CAIRN_E_BAD_INPUT);
    CHECK(strstr(error.message, "parentheses are nested more than 64 deep at column"), "%s",
          error.message);
    CHECK_INT(condition_check(abyss, &error), CAIRN_E_BAD_INPUT);
}

TEST(parentheses_side_by_side_are_not_nesting)
{
    struct buf buf = {0};
    buf_str(&buf, "{{ and true");
    for (int i = 0; i < 300; i++)
        buf_str(&buf, " (eq 1 1)");
    buf_str(&buf, " }}");
    bool is_true = false;
    CHECK_OK(evaluate(buf_text(&buf), "{}", "", "", &is_true, &error));
    CHECK(is_true, "all of them");
    buf_done(&buf);
}

TEST(an_expression_has_4096_bytes_and_no_more)
{
    char text[4098];
    memset(text, ' ', sizeof text);
    memcpy(text, "{{ true }}", 10);
    text[4096] = '\0';
    CHECK_OK(condition_check(text, &error));
    text[4096] = ' ';
    text[4097] = '\0';
    CHECK_INT(condition_check(text, &error), CAIRN_E_BAD_INPUT);
    CHECK_STR(error.message, "the expression is longer than 4096 bytes");
}

TEST(a_long_word_is_cut_between_characters)
{
    for (int before = 1; before <= 4; before++) {
        struct buf buf = {0};
        buf_str(&buf, "{{ ");
        for (int i = 0; i < before; i++)
            buf_char(&buf, 'x');
        for (int i = 0; i < 500; i++)
            buf_str(&buf, "語");
        buf_str(&buf, " }}");
        CHECK_INT(condition_check(buf_text(&buf), &error), CAIRN_E_BAD_INPUT);
        CHECK(utf8_is_valid(error.message, strlen(error.message)), "%s", error.message);
        CHECK(strstr(error.message, "at column 4"), "%s", error.message);
        buf_done(&buf);
    }
}

/* ---- any bytes ------------------------------------------------------------------------------ */

static const char *const seeds[] = {
    "{{ gt .inventory_count 0 }}",
    "{{- and (gt .a 0) (or (lt .a.b 1.5e3) (eq .s \"x\\n\\u00e4\" `raw`)) -}}",
    "{{ not (eq .instance_id .step_name) }}",
    "{{ eq . -12 9223372036854775807 1e-3 true false }}",
    "{{ ne .größe \"\\x41\\101\\U0001F600\" }}",
    "{{ .is_vip }}",
    "{{ ((((not (.a))))) }}",
};
static const char *const pieces[] = {
    "{{",
    "}}",
    "(",
    ")",
    " ",
    " -}}",
    "{{- ",
    ".",
    ".a",
    ".a.b",
    "eq ",
    "ne",
    "gt ",
    " lt",
    "and",
    "or ",
    "not ",
    "true",
    "\"",
    "`",
    "\\",
    "\\u",
    "-",
    "1",
    "1.5e3",
    "0",
    "\n",
    "|",
    "$",
    "nil",
    "ä",
    "\xff",
    "\xc2\xa0",
    "e+",
    "\\x4",
    "if",
    "\t",
    "\x01",
    "'",
    "{",
    "}",
    "語",
    "9999999999999999999",
};
static const char *const inputs[] = {
    "{}", "null", "{\"a\":1,\"s\":\"x\",\"is_vip\":true}", "{\"a\":{\"b\":2.5}}", "[]", "true",
};
#define COUNT(list) (sizeof(list) / sizeof *(list))
enum { TEXT_MAX = 200 };

/* Takes bytes out at a place and puts others in. */
static void splice(char text[TEXT_MAX], size_t at, size_t out, const char *in, size_t in_len)
{
    size_t len = strlen(text);
    if (out > len - at)
        out = len - at;
    if (len - out + in_len >= TEXT_MAX)
        return;
    memmove(text + at + in_len, text + at + out, len - at - out + 1);
    memcpy(text + at, in, in_len);
}

static void mutate(struct rng *rng, char text[TEXT_MAX])
{
    size_t at = rng_below(rng, strlen(text) + 1);
    char byte = (char)(1 + rng_below(rng, 255));
    const char *piece = pieces[rng_below(rng, COUNT(pieces))];
    switch (rng_below(rng, 4)) {
    case 0:
        splice(text, at, 1, &byte, 1);
        break;
    case 1:
        splice(text, at, 1 + rng_below(rng, 5), "", 0);
        break;
    case 2:
        splice(text, at, 0, piece, strlen(piece));
        break;
    default:
        splice(text, at, strlen(piece), piece, strlen(piece));
        break;
    }
}

/* What well-formed expressions may be refused for. */
static bool is_about_values(const char *message)
{
    return strncmp(message, "cannot compare ", 15) == 0 ||
           strstr(message, " takes booleans, ") || strncmp(message, "cannot order ", 13) == 0 ||
           strncmp(message, "the condition yields ", 21) == 0;
}

/* Whether it was taken. */
static bool check_any(const char *text, const char *input)
{
    cairn_error why = {0};
    bool is_true;
    cairn_code checked = condition_check(text, &why);
    CHECK(!checked || checked == CAIRN_E_BAD_INPUT, "%s ends as %s", text,
          cairn_code_name(checked));
    CHECK(!checked || *why.message, "%s is refused without a word", text);
    CHECK(utf8_is_valid(why.message, strlen(why.message)), "%s", text);
    cairn_code code = evaluate(text, input, "id", "step", &is_true, &error);
    CHECK(!code || code == CAIRN_E_BAD_INPUT, "%s ends as %s", text, cairn_code_name(code));
    if (checked)
        CHECK(code && strcmp(error.message, why.message) == 0, "%s: %s, then %s", text,
              why.message, error.message);
    else
        CHECK(!code || is_about_values(error.message), "%s: %s", text, error.message);
    return !checked;
}

TEST(mutated_expressions_never_crash_and_check_agrees_with_evaluate)
{
    struct rng rng;
    rng_init(&rng, 20240517);
    size_t taken = 0, refused = 0;
    for (int i = 0; i < 60000; i++) {
        char text[TEXT_MAX];
        snprintf(text, sizeof text, "%s", seeds[rng_below(&rng, COUNT(seeds))]);
        for (uint64_t n = 1 + rng_below(&rng, 4); n > 0; n--)
            mutate(&rng, text);
        /* A copy of its own size, so that the sanitizer sees every byte too far. */
        cleanup(mem_freep) char *exact = mem_strdup(text);
        if (check_any(exact, inputs[rng_below(&rng, COUNT(inputs))]))
            taken++;
        else
            refused++;
    }
    CHECK(taken > 1000 && refused > 1000, "%zu taken, %zu refused", taken, refused);
}

TEST(random_bytes_and_random_pieces_never_crash)
{
    struct rng rng;
    rng_init(&rng, 4711);
    for (int i = 0; i < 40000; i++) {
        char text[TEXT_MAX] = "";
        bool is_piecewise = i % 2;
        if (is_piecewise)
            strcpy(text, "{{ ");
        for (uint64_t n = rng_below(&rng, 30); n > 0; n--) {
            char byte = (char)(1 + rng_below(&rng, 255));
            const char *piece = pieces[rng_below(&rng, COUNT(pieces))];
            splice(text, strlen(text), 0, is_piecewise ? piece : &byte,
                   is_piecewise ? strlen(piece) : 1);
        }
        if (is_piecewise)
            splice(text, strlen(text), 0, " }}", 3);
        cleanup(mem_freep) char *exact = mem_strdup(text);
        check_any(exact, inputs[rng_below(&rng, COUNT(inputs))]);
    }
}

/* ---- no memory ------------------------------------------------------------------------------ */

TEST(when_memory_runs_out_that_is_said)
{
    char text[4000] = "{{ and true";
    for (int i = 0; i < 200; i++) /* more than one block of the arena */
        strcat(text, " (eq .a \"x\")");
    strcat(text, " }}");
    bool is_true, was_refused = false;
    for (long allowed = 0;; allowed++) {
        mem_fail_after(allowed);
        cairn_code checked = condition_check(text, &error);
        mem_fail_after(allowed);
        cairn_code code = evaluate(text, "{\"a\":\"x\"}", "", "", &is_true, &error);
        mem_fail_after(-1);
        CHECK(!checked || code, "%s", error.message); /* the data need memory, too */
        if (!code)
            break;
        was_refused = true;
        CHECK_INT(code, CAIRN_E_OUT_OF_MEMORY);
        CHECK_INT(error.code, CAIRN_E_OUT_OF_MEMORY);
        CHECK(allowed < 1000, "it never ends");
    }
    CHECK(was_refused && is_true, "nothing was allocated");
}
