/* Workflow files: where the data of steps comes from. */
#include "base/buf.h"
#include "file_rig.h"

#define HEAD "workflow: w\nversion: 1\nsteps:\n"

TEST(input_and_output_are_part_of_the_content)
{
    struct read read =
        read_text(HEAD "- step: a\n"
                       "  output: '{{ .x }}'\n"
                       "  input: {b: '{{ $.input.b }}', a: [1.50, 'x {{ .y }}']}\n"
                       "- {human: h, input: 5}\n"
                       "- {wait: w, event: e, input: [{}]}\n");
    CHECK_INT(read.code, CAIRN_OK);
    CHECK_STR(
        read.definition.content,
        "{\"workflow\":\"w\",\"version\":1,\"steps\":[{\"step\":\"a\",\"input\":{\"a\":[1.5,"
        "\"x {{ .y }}\"],\"b\":\"{{ $.input.b }}\"},\"output\":\"{{ .x }}\"},{\"human\":"
        "\"h\",\"input\":5},{\"wait\":\"w\",\"event\":\"e\",\"input\":[{}]}]}");
    struct read again = read_text(read.definition.content);
    CHECK_STR(again.definition.hash, read.definition.hash);
    read_done(&again);
    read_done(&read);
}

/* What is wrong, and where. */
static const struct {
    const char *text;
    int line, column;
    const char *message;
} bad[] = {
    {HEAD "- step: a\n  input: {x: '{{ foo }}'}\n", 5, 10,
     "step \"a\": input: x: unknown function \"foo\" at column 4"},
    {HEAD "- step: a\n  output: '{{ len 1 2 }}'\n", 5, 11,
     "step \"a\": output: function \"len\" takes 1 argument, not 2, at column 4"},
    {HEAD "- step: a\n- step: b\n  input: '{{ $.steps.aa.output }}'\n", 6, 10,
     "step \"b\": input: the workflow has no step \"aa\""},
    {HEAD "- step: a\n  output: '{{ (index $.steps `b-c`).output }}'\n", 5, 11,
     "step \"a\": output: the workflow has no step \"b-c\""},
    {HEAD "- condition: c\n  when: '{{ $.steps.x.output }}'\n  then: [{step: a}]\n", 5, 9,
     "condition \"c\": when: the workflow has no step \"x\""},
    {HEAD "- parallel: p\n  steps: [{step: a, input: '{{ $.steps.q_join.output }}'}]\n", 5, 28,
     "step \"a\": input: the workflow has no step \"q_join\""},
    {HEAD "- human: h\n  input: '{{ .a'\n", 5, 10,
     "human \"h\": input: \"}}\" is missing at column 6"},
    {HEAD "- step: a\n  input:\n", 5, 3, "step \"a\": input is null; leave it out"},
    {HEAD "- {sleep: s, for: 1s, input: 1}\n", 4, 23, "sleep \"s\": unknown key \"input\""},
    {HEAD "- {human: h, output: 1}\n", 4, 14, "human \"h\": unknown key \"output\""},
};

TEST(what_is_wrong_is_told_with_its_place)
{
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        struct read read = read_text(bad[i].text);
        CHECK(read.code == CAIRN_E_BAD_INPUT && read.count == 1, "%s: %zu flaws", bad[i].text,
              read.count);
        CHECK(strstr(read.errors[0].message, bad[i].message), "%s: %s", bad[i].text,
              read.errors[0].message);
        CHECK(read.errors[0].line == bad[i].line, "%s: line %d", bad[i].text,
              read.errors[0].line);
        if (i != 7) /* libfyaml has no column for what is empty */
            CHECK(read.errors[0].column == bad[i].column, "%s: column %d", bad[i].text,
                  read.errors[0].column);
        read_done(&read);
    }
}

TEST(a_template_is_limited)
{
    struct buf buf = {0};
    buf_str(&buf, HEAD "- step: a\n  input: '");
    for (int i = 0; i < 65537; i++)
        buf_char(&buf, 'x');
    buf_str(&buf, "'\n");
    struct read read = read_text(buf_text(&buf));
    CHECK_INT(read.code, CAIRN_E_TOO_LARGE);
    CHECK(strstr(read.errors[0].message, "input is larger than 65536 bytes"), "%s",
          read.errors[0].message);
    read_done(&read);
    buf_done(&buf);
}
