/* Workflow files that are functions: what is wrong with them, what they mean, how they look. */
#include "base/mem.h"
#include "file_rig.h"

#define HEAD "function: f\nversion: 1\n"

/* Each has this one flaw. */
static const struct bad {
    const char *text;
    int line, column;
    const char *message;
} bad_files[] = {
    {"function: f\n", 1, 1, "function \"f\": version is missing"},
    {"function: f\nversion: 0\n", 2, 10,
     "function \"f\": version must be a whole number from 1"},
    {"function: ''\nversion: 1\n", 1, 11, "function: function is empty"},
    {"function:\nversion: 1\n", 1, 1, "function: function must be text, not nothing"},
    {"function: 7\nversion: 1\n", 1, 11,
     "function \"7\": function must be text, not a number; put it in quotes"},
    {"function: [f]\nversion: 1\n", 1, 11, "function: function must be text, not a list"},
    {"function: \"a\\eb\"\nversion: 1\n", 1, 11,
     "function \"a b\": the name contains a control character"},
    {HEAD "max_attempts: 0\n", 3, 15,
     "function \"f\": max_attempts must be a whole number from 1"},
    {HEAD "max_attempts: many\n", 3, 15,
     "function \"f\": max_attempts must be a whole number from 1"},
    {HEAD "dlq: yes\n", 3, 6, "function \"f\": dlq must be true or false, not text"},
    {HEAD "max_attempt: 4\n", 3, 1,
     "function \"f\": unknown key \"max_attempt\"; did you mean \"max_attempts\"?"},
    {HEAD "priority: 4\n", 3, 1, "function \"f\": unknown key \"priority\""},
    {HEAD "workflow: w\n", 3, 1,
     "function \"f\": workflow cannot stand beside function; a function's steps are code"},
    {"steps: [{step: a}]\n" HEAD, 1, 1,
     "function \"f\": steps cannot stand beside function; a function's steps are code"},
    /* A function only as a whole file: */
    {"workflow: w\nversion: 1\nmax_attempts: 3\nsteps: [{step: a}]\n", 3, 1,
     "workflow \"w\": unknown key \"max_attempts\""},
    {"workflow: w\nversion: 1\nsteps: [{step: a}]\nfuntion: f\n", 4, 1,
     "workflow \"w\": unknown key \"funtion\"; did you mean \"function\"?"},
    {"workflow: w\nversion: 1\nsteps:\n  - function: f\n", 4, 5,
     "an element needs one of the keys step, save_point, condition, fork, parallel, human, "
     "wait, sleep, start, map"},
};

TEST(each_flaw_of_a_function_is_told_with_line_and_column)
{
    for (size_t i = 0; i < sizeof bad_files / sizeof *bad_files; i++) {
        const struct bad *bad = &bad_files[i];
        cleanup(read_done) struct read read = read_text(bad->text);
        CHECK(read.code == CAIRN_E_BAD_INPUT, "%s was taken", bad->text);
        CHECK_INT(read.count, 1);
        CHECK_STR(read.errors[0].message, bad->message);
        CHECK(read.errors[0].line == bad->line && read.errors[0].column == bad->column,
              "%s: %d:%d", bad->message, read.errors[0].line, read.errors[0].column);
    }
}

TEST(all_flaws_of_a_function_are_told_in_order)
{
    cleanup(read_done) struct read read =
        read_text("function: f\nworkflow: w\nversion: x\nmax_attempts: -1\nsteps: []\n");
    CHECK_INT(read.code, CAIRN_E_BAD_INPUT);
    CHECK_INT(read.count, 4);
    for (size_t i = 0; i < 4; i++)
        CHECK_INT(read.errors[i].line, i + 2);
    CHECK_STR(read.error.message, "f.yaml:2:1: function \"f\": workflow cannot stand beside "
                                  "function; a function's steps are code");
}

TEST(a_function_is_valid_by_the_public_call)
{
    cairn_error error = {0};
    cairn_page *flaws;
    CHECK_OK(cairn_workflow_validate("f", HEAD, &flaws, &error));
    CHECK_INT(cairn_page_count(flaws), 0);
    cairn_page_free(flaws);
    CHECK_INT(cairn_workflow_validate("f", HEAD "steps: []\n", &flaws, &error),
              CAIRN_E_BAD_INPUT);
    CHECK_INT(cairn_page_count(flaws), 1);
    CHECK_INT(cairn_page_flaw(flaws, 0)->line, 3);
    CHECK(!cairn_page_flaw(flaws, 1), "there is a second flaw");
    CHECK(!cairn_page_job(flaws, 0), "a flaw is given as a job");
    cairn_page_free(flaws);
}

TEST(a_function_with_one_meaning_has_one_text_and_one_hash)
{
    static const char *const same[] = {
        "{\"function\":\"order\",\"version\":1}",
        "# a comment\nversion: 0x1\nmax_attempts: 3\ndlq: false\nfunction: 'order'\n",
        "{\"max_attempts\": 3, \"version\": 1, \"function\": \"\\u006frder\"}",
    };
    for (size_t i = 0; i < sizeof same / sizeof *same; i++) {
        cleanup(read_done) struct read read = read_text(same[i]);
        CHECK(read.code == CAIRN_OK, "%zu: %s", i, read.error.message);
        CHECK_STR(read.definition.content, same[0]);
        CHECK_STR(read.definition.hash,
                  "9d0f26040d55bd92bfa95866f242e3f438f4cb6fbfdd6d1ce3cd270a8dab85f5");
    }
    cleanup(read_done) struct read full =
        read_text("max_attempts: 5\ndlq: true\nfunction: order\nversion: 2\n");
    CHECK(full.code == CAIRN_OK, "%s", full.error.message);
    CHECK_STR(full.definition.content,
              "{\"function\":\"order\",\"version\":2,\"dlq\":true,\"max_attempts\":5}");
    cleanup(read_done) struct read again = read_text(full.definition.content);
    CHECK(again.code == CAIRN_OK, "%s", again.error.message);
    CHECK_STR(again.definition.content, full.definition.content);
    CHECK_STR(again.definition.hash, full.definition.hash);
}

static void check_row(const struct definition *definition, const char *name,
                      int32_t max_attempts)
{
    CHECK_INT(definition->plan_count, 1);
    const struct step_row *row = definition->plan;
    CHECK_INT(row->seq, 0);
    CHECK_INT(row->kind, KIND_FUNCTION);
    CHECK_STR(row->name, name);
    CHECK_STR(row->handler, name);
    CHECK_INT(row->max_attempts, max_attempts);
    CHECK_INT(row->priority, 50);
    CHECK_INT(row->next, -1);
    CHECK_INT(row->scope_fork, -1);
    CHECK_INT(row->scope_from, 0);
    CHECK_INT(row->scope_to, 0);
    CHECK_INT(row->status, STEP_PENDING);
    CHECK(!row->config && !row->metadata, "config %s", row->config);
}

TEST(the_plan_of_a_function_is_one_row)
{
    cleanup(read_done) struct read plain = read_text("function: a.b\nversion: 3\n");
    CHECK(plain.code == CAIRN_OK, "%s", plain.error.message);
    CHECK_STR(plain.definition.name, "a.b");
    CHECK_INT(plain.definition.version, 3);
    CHECK(plain.definition.is_function && !plain.definition.is_dlq, "flags");
    check_row(&plain.definition, "a.b", 3);

    cleanup(read_done) struct read full = read_text(HEAD "dlq: true\nmax_attempts: 2147483647");
    CHECK(full.code == CAIRN_OK, "%s", full.error.message);
    CHECK(full.definition.is_function && full.definition.is_dlq, "flags");
    check_row(&full.definition, "f", INT32_MAX);

    cleanup(read_done) struct read workflow =
        read_text("workflow: f\nversion: 1\nsteps: [{step: f}]\n");
    CHECK(workflow.code == CAIRN_OK, "%s", workflow.error.message);
    CHECK(!workflow.definition.is_function, "it has steps");
    CHECK(strcmp(workflow.definition.content, plain.definition.content) != 0, "one text");
}

static void check_drawing(const char *text, const char *form, const char *wanted)
{
    cairn_error error;
    char *drawn;
    CHECK_OK(cairn_workflow_draw("f", text, form, &drawn, &error));
    CHECK_STR(drawn, wanted);
    cairn_text_free(drawn);
}

TEST(a_drawing_of_a_function_is_one_box_that_says_why)
{
    check_drawing(HEAD, "terminal", "f, version 1\n└─ function f · its steps are code\n");
    check_drawing(HEAD "dlq: true\n", "terminal",
                  "f, version 1, parks in the DLQ when it fails\n"
                  "└─ function f · its steps are code\n");
    check_drawing(HEAD, "mermaid",
                  "flowchart TD\n"
                  "    s0[[\"function<br/>f<br/>its steps are code\"]]\n"
                  "    begin((\" \")) --> s0\n"
                  "    s0 --> finish(((\" \")))\n");
    check_drawing(HEAD, "dot",
                  "digraph \"f\" {\n"
                  "    label=\"f, version 1\";\n"
                  "    node [fontname=\"sans-serif\"];\n"
                  "    start [shape=circle, label=\"\", width=0.2];\n"
                  "    end [shape=doublecircle, label=\"\", width=0.15];\n"
                  "    s0 [shape=component, label=\"function\\nf\\nits steps are code\"];\n"
                  "    start -> s0;\n"
                  "    s0 -> end;\n"
                  "}\n");
}

TEST(memory_that_runs_out_reading_a_function_is_told)
{
    static const char text[] = HEAD "dlq: true\nmax_attempts: 7\n";
    for (long after = 0;; after++) {
        CHECK(after < 1000, "does not end");
        struct arena arena = {0};
        struct definition definition;
        struct buf out = {0};
        cairn_error error;
        mem_fail_after(after);
        cairn_code code = definition_read(&arena, "f", text, strlen(text), &definition, NULL, 0,
                                          NULL, &error);
        for (enum graph_form form = GRAPH_DOT; !code && form <= GRAPH_TERMINAL; form++)
            code = definition_draw(&definition, form, &out, &error);
        mem_fail_after(-1);
        buf_done(&out);
        arena_done(&arena);
        CHECK(code == CAIRN_OK || code == CAIRN_E_OUT_OF_MEMORY, "%s", error.message);
        if (!code)
            break;
    }
}
