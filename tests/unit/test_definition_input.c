/* Workflow files: what they say about the input of instances. */
#include "base/buf.h"
#include "file_rig.h"

#define HEAD "workflow: w\nversion: 1\n"
#define STEPS "\nsteps: [{step: a}]\n"
#define SCHEMA(text) HEAD "input: {schema: " text "}" STEPS
#define BOTH(schema, example) HEAD "input:\n  schema: " schema "\n  example: " example STEPS

TEST(schema_and_example_are_part_of_the_content)
{
    static const char *const same[] = {
        BOTH("{type: object, required: [b, a], properties: {b: {type: number, minimum: 0.5}}}",
             "{b: 1.5, a: [x, null]}"),
        "{\"steps\": [{\"step\": \"a\"}], \"version\": 1, \"workflow\": \"w\", \"input\": "
        "{\"example\": {\"a\": [\"x\", null], \"b\": 1.5}, \"schema\": {\"required\": [\"b\", "
        "\"a\"], \"properties\": {\"b\": {\"minimum\": 0.5, \"type\": \"number\"}}, \"type\": "
        "\"object\"}}}",
    };
    for (size_t i = 0; i < 2; i++) {
        struct read read = read_text(same[i]);
        CHECK_INT(read.code, CAIRN_OK);
        CHECK_STR(read.definition.content,
                  "{\"workflow\":\"w\",\"version\":1,\"input\":{\"schema\":{\"properties\":{"
                  "\"b\":{\"minimum\":0.5,\"type\":\"number\"}},\"required\":[\"b\",\"a\"],"
                  "\"type\":\"object\"},\"example\":{\"a\":[\"x\",null],\"b\":1.5}},"
                  "\"steps\":[{\"step\":\"a\"}]}");
        CHECK_STR(read.definition.input_example, "{\"a\":[\"x\",null],\"b\":1.5}");
        struct read again = read_text(read.definition.content);
        CHECK_STR(again.definition.hash, read.definition.hash);
        read_done(&again);
        read_done(&read);
    }
}

TEST(either_of_them_is_enough_and_a_function_has_them_too)
{
    static const char *const texts[] = {
        HEAD "input: {example: 7}" STEPS,
        HEAD "input: {schema: {}}" STEPS,
        "function: f\nversion: 1\ninput: {example: [1]}\n",
    };
    static const char *const parts[] = {"\"input\":{\"example\":7}",
                                        "\"input\":{\"schema\":{}}",
                                        "\"input\":{\"example\":[1]}"};
    for (size_t i = 0; i < 3; i++) {
        struct read read = read_text(texts[i]);
        CHECK_INT(read.code, CAIRN_OK);
        CHECK(strstr(read.definition.content, parts[i]), "%s", read.definition.content);
        read_done(&read);
    }
    struct read none = read_text(HEAD STEPS);
    CHECK(!none.definition.input_example, "there is none");
    read_done(&none);
}

/* What is wrong, and where. */
static const struct {
    const char *text;
    int line, column;
    const char *message;
} bad[] = {
    {HEAD "input: 1" STEPS, 3, 8, "workflow \"w\": input must be a mapping, not a number"},
    {HEAD "input: {}" STEPS, 3, 8, "input: neither schema nor example is there"},
    {HEAD "input: {exampel: 1}" STEPS, 3, 9,
     "input: unknown key \"exampel\"; did you mean \"example\"?"},
    {HEAD "input: {example: null}" STEPS, 3, 18, "input: example has no value"},
    {HEAD "input: {example: 1e400}" STEPS, 3, 18,
     "input: example has a number that JSON cannot hold; write it as text"},
    {SCHEMA("[]"), 3, 17, "input: schema must be a mapping, not a list"},
    {SCHEMA("{type: strin}"), 3, 24,
     "input.schema: type must be object, array, string, number, integer, boolean or null, or a "
     "list of them"},
    {SCHEMA("{type: []}"), 3, 24,
     "input.schema: type must be object, array, string, number, integer, boolean or null, or a "
     "list of them"},
    {SCHEMA("{title: 1}"), 3, 25, "input.schema: title must be text"},
    {SCHEMA("{enum: []}"), 3, 24, "input.schema: enum must be a list of 1 to 1000 values"},
    {SCHEMA("{required: a}"), 3, 28, "input.schema: required must be a list of text"},
    {SCHEMA("{required: [1]}"), 3, 28, "input.schema: required must be a list of text"},
    {SCHEMA("{minimum: '1'}"), 3, 27, "input.schema: minimum must be a number"},
    {SCHEMA("{maxLength: -1}"), 3, 29, "input.schema: maxLength must be a whole number from 0"},
    {SCHEMA("{items: [1]}"), 3, 25, "input.schema: items must be a mapping"},
    {SCHEMA("{properties: {a: true}}"), 3, 30,
     "input.schema: properties must be a mapping of mappings"},
    {SCHEMA("{properties: {a: {items: {properties: {b: {type: x}}}}}}"), 3, 66,
     "input.schema \"b\": type must be object, array, string, number, integer, boolean or "
     "null, "
     "or a list of them"},
    {BOTH("{type: object}", "[1]"), 5, 12,
     "input.example: is a list, which its schema does not allow"},
    {BOTH("{properties: {a: {type: integer}}}", "{a: 1.5}"), 5, 16,
     "input.example \"a\": is a number, which its schema does not allow"},
    {BOTH("{properties: {a: {type: [string, boolean]}}}", "{a: 1}"), 5, 16,
     "input.example \"a\": is a number, which its schema does not allow"},
    {BOTH("{required: [a, b]}", "{a: 1}"), 5, 12,
     "input.example: \"b\" is required and missing"},
    {BOTH("{properties: {a: {enum: [x, 1]}}}", "{a: '1'}"), 5, 16,
     "input.example \"a\": is none of the values of enum"},
    {BOTH("{minimum: 2}", "1"), 5, 12, "input.example: does not fit minimum: 2"},
    {BOTH("{maximum: 2}", "2.5"), 5, 12, "input.example: does not fit maximum: 2"},
    {BOTH("{minLength: 2}", "ä"), 5, 12, "input.example: does not fit minLength: 2"},
    {BOTH("{maxLength: 1}", "ab"), 5, 12, "input.example: does not fit maxLength: 1"},
    {BOTH("{minItems: 1}", "[]"), 5, 12, "input.example: does not fit minItems: 1"},
    {BOTH("{maxItems: 1}", "[1, 2]"), 5, 12, "input.example: does not fit maxItems: 1"},
    {BOTH("{items: {type: string}}", "[a, 1]"), 5, 16,
     "input.example \"items\": is a number, which its schema does not allow"},
};

TEST(what_is_wrong_is_told_with_its_place)
{
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        struct read read = read_text(bad[i].text);
        CHECK_INT(read.code, CAIRN_E_BAD_INPUT);
        CHECK_INT(read.count, 1);
        CHECK_STR(read.errors[0].message, bad[i].message);
        CHECK_INT(read.errors[0].line, bad[i].line);
        CHECK_INT(read.errors[0].column, bad[i].column);
        read_done(&read);
    }
}

TEST(what_fits_is_taken)
{
    static const char *const good[] = {
        BOTH("{type: integer, minimum: 1, maximum: 1}", "1"),
        BOTH("{minLength: 2, maxLength: 2, enum: ['äö']}", "äö"),
        BOTH("{type: array, minItems: 1, maxItems: 1, items: {type: boolean}}", "[true]"),
        BOTH("{type: ['null', object], required: [a], properties: {a: {type: 'null'}}}",
             "{a: null, more: 1}"),
        BOTH("{enum: [{a: 1}]}", "{a: 2}"),
        BOTH("{oneOf: [{type: string}], x-own: [1], pattern: '^[', default: 5}", "7"),
    };
    for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
        struct read read = read_text(good[i]);
        CHECK(read.code == CAIRN_OK, "%s: %s", good[i], read.error.message);
        read_done(&read);
    }
}

/* A file of `count` parts between a beginning and an end. */
static struct read read_many(const char *begin, const char *part, size_t count, const char *end)
{
    struct buf buf = {0};
    buf_str(&buf, begin);
    for (size_t i = 0; i < count; i++)
        buf_printf(&buf, part, i);
    buf_str(&buf, end);
    struct read read = read_text(buf_text(&buf));
    buf_done(&buf);
    return read;
}

TEST(their_size_is_bounded)
{
    struct read read = read_many(HEAD "input: {example: \"", "%05zu...", 8191, "\"}" STEPS);
    CHECK_INT(read.code, CAIRN_OK);
    read_done(&read);
    read = read_many(HEAD "input: {example: \"", "%05zu...", 8192, "\"}" STEPS);
    CHECK_INT(read.code, CAIRN_E_TOO_LARGE);
    CHECK_STR(read.errors[0].message,
              "input: example has 65538 bytes as JSON, 65536 are allowed");
    read_done(&read);
    read = read_many(HEAD "input: {schema: {enum: [", "%zu, ", 1001, "1]}}" STEPS);
    CHECK_STR(read.errors[0].message, "input.schema: enum must be a list of 1 to 1000 values");
    read_done(&read);
    read = read_many(HEAD "input: {schema: {items: {required: [b, c]}}, example: [",
                     "{a%zu: 1}, ", 5000, "{}]}" STEPS);
    CHECK_INT(read.code, CAIRN_E_BAD_INPUT);
    CHECK_INT(read.count, ROOM);
    read_done(&read);
}
