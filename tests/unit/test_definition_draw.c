/* Workflow files: the examples, the drawings, the builder, and the public calls. */
#include "base/buf.h"
#include "base/error.h"
#include "base/mem.h"
#include "cairn.h"
#include "definition/definition.h"
#include "test.h"

#include <dirent.h>
#include <stdlib.h>

static char *read_file(const char *folder, const char *name)
{
    char path[4096];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE *file = fopen(path, "r");
    CHECK(file, "cannot open %s", path);
    char *text = calloc(1, 64 * 1024);
    CHECK(fread(text, 1, 64 * 1024 - 1, file) > 0, "%s is empty", path);
    fclose(file);
    return text;
}

TEST(every_example_is_valid_and_can_be_drawn)
{
    const char *folder = getenv("EXAMPLES");
    CHECK(folder, "EXAMPLES names the folder");
    DIR *dir = opendir(folder);
    CHECK(dir, "cannot open %s", folder);
    size_t seen = 0;
    for (struct dirent *entry; (entry = readdir(dir));) {
        size_t len = strlen(entry->d_name);
        if (len < 5 || strcmp(entry->d_name + len - 5, ".yaml") != 0)
            continue;
        char *text = read_file(folder, entry->d_name);
        cairn_error error = {0};
        cairn_page *flaws;
        CHECK_OK(cairn_workflow_validate(entry->d_name, text, &flaws, &error));
        CHECK_INT(cairn_page_count(flaws), 0);
        cairn_page_free(flaws);
        static const char *const forms[] = {"dot", "mermaid", "terminal"};
        for (size_t i = 0; i < 3; i++) {
            char *drawn;
            CHECK_OK(cairn_workflow_draw(entry->d_name, text, forms[i], &drawn, &error));
            CHECK(strlen(drawn) > 20, "%s", drawn);
            cairn_text_free(drawn);
        }
        free(text);
        seen++;
    }
    closedir(dir);
    CHECK(seen >= 14, "%zu examples", seen);
}

static const char drawn_file[] = "workflow: w\n"
                                 "version: 2\n"
                                 "dlq: true\n"
                                 "steps:\n"
                                 "  - {step: a, handler: h.v1, compensation: {handler: u}}\n"
                                 "  - condition: c\n"
                                 "    when: '{{ eq .x \"1\" }}'\n"
                                 "    then: [{step: t}]\n"
                                 "  - fork: f\n"
                                 "    join: any\n"
                                 "    branches:\n"
                                 "      - [{step: b1}, {save_point: s}]\n"
                                 "      - [{parallel: p, steps: [{step: p1}]}]\n"
                                 "  - {sleep: z, for: 90s}\n";

static void check_drawing(const char *form, const char *wanted)
{
    cairn_error error;
    char *drawn;
    CHECK_OK(cairn_workflow_draw("f", drawn_file, form, &drawn, &error));
    CHECK_STR(drawn, wanted);
    cairn_text_free(drawn);
}

TEST(a_drawing_for_the_terminal_is_a_tree)
{
    check_drawing("terminal", "w, version 2, failed steps park in the DLQ\n"
                              "├─ step a · h.v1 · undo: u\n"
                              "├─ condition c · {{ eq .x \"1\" }}\n"
                              "│  └─ then\n"
                              "│     └─ step t\n"
                              "├─ fork f\n"
                              "│  ├─ branch 1\n"
                              "│  │  ├─ step b1\n"
                              "│  │  └─ save_point s\n"
                              "│  ├─ branch 2\n"
                              "│  │  └─ parallel p\n"
                              "│  │     ├─ step p1\n"
                              "│  │     └─ join all · p_join\n"
                              "│  └─ join any · f_join\n"
                              "└─ sleep z · for 90s\n");
}

TEST(a_drawing_for_mermaid_has_a_box_for_every_row)
{
    check_drawing("mermaid", "flowchart TD\n"
                             "    s0[\"a<br/>h.v1<br/>undo: u\"]\n"
                             "    s1{\"condition<br/>c<br/>{{ eq .x #quot;1#quot; }}\"}\n"
                             "    s2[\"t\"]\n"
                             "    s3[/\"fork<br/>f\"\\]\n"
                             "    s4[\"b1\"]\n"
                             "    s5([\"save_point<br/>s\"])\n"
                             "    s6[/\"parallel<br/>p\"\\]\n"
                             "    s7[\"p1\"]\n"
                             "    s8[\\\"join all<br/>p_join\"/]\n"
                             "    s9[\\\"join any<br/>f_join\"/]\n"
                             "    s10((\"sleep<br/>z<br/>for 90s\"))\n"
                             "    begin((\" \")) --> s0\n"
                             "    s0 --> s1\n"
                             "    s1 -->|then| s2\n"
                             "    s2 --> s3\n"
                             "    s1 -->|else| s3\n"
                             "    s3 --> s4\n"
                             "    s4 --> s5\n"
                             "    s5 --> s9\n"
                             "    s3 --> s6\n"
                             "    s6 --> s7\n"
                             "    s7 --> s8\n"
                             "    s8 --> s9\n"
                             "    s9 --> s10\n"
                             "    s10 --> finish(((\" \")))\n");
}

TEST(a_drawing_for_graphviz_escapes_what_would_end_a_label)
{
    cairn_error error;
    char *drawn;
    CHECK_OK(cairn_workflow_draw("f", drawn_file, "dot", &drawn, &error));
    CHECK(strstr(drawn, "label=\"condition\\nc\\n{{ eq .x \\\"1\\\" }}\"];\n"), "%s", drawn);
    CHECK(strstr(drawn, "    s1 -> s3 [label=\"else\"];\n"), "%s", drawn);
    CHECK(strstr(drawn, "    s10 -> end;\n}\n"), "%s", drawn);
    cairn_text_free(drawn);
}

TEST(a_drawing_shows_nothing_that_commands_a_terminal)
{
    cairn_error error;
    char *drawn;
    CHECK_OK(cairn_workflow_draw(
        "f",
        "{\"workflow\": \"w\", \"version\": 1, \"steps\": [{\"step\": \"a\", "
        "\"handler\": \"x\\u001b[2J\\u009b1m\\ny\"}]}",
        "terminal", &drawn, &error));
    CHECK_STR(drawn, "w, version 1\n└─ step a · x [2J 1m y\n");
    cairn_text_free(drawn);
}

TEST(the_public_calls_refuse_what_is_missing)
{
    cairn_error error;
    cairn_page *flaws;
    char *drawn = NULL;
    CHECK_INT(cairn_workflow_validate("f", NULL, NULL, &error), CAIRN_E_BAD_INPUT);
    CHECK_INT(cairn_workflow_draw("f", NULL, "dot", &drawn, &error), CAIRN_E_BAD_INPUT);
    CHECK_INT(cairn_workflow_draw("f", drawn_file, "jpeg", &drawn, &error), CAIRN_E_BAD_INPUT);
    CHECK_STR(error.message, "form must be dot, mermaid or terminal");
    CHECK_INT(cairn_workflow_draw("f", "workflow: w\n", "dot", &drawn, &error),
              CAIRN_E_BAD_INPUT);
    CHECK(!drawn, "written on success only");
    CHECK_INT(cairn_workflow_validate("f.yaml", "workflow: w\nversion: x\n", &flaws, &error),
              CAIRN_E_BAD_INPUT);
    CHECK_INT(cairn_page_count(flaws), 2);
    CHECK_INT(cairn_page_flaw(flaws, 1)->line, 2);
    CHECK_INT(cairn_page_flaw(flaws, 1)->column, 10);
    cairn_page_free(flaws);
    cairn_text_free(NULL);
}

/* every-element.yaml, built in code. */
static cairn_builder *build_order(void)
{
    cairn_builder *b = cairn_builder_new("order", 1);
    if (!b)
        return NULL;
    cairn_builder_dlq(b, false);
    cairn_builder_input(b, "[]", NULL); /* the next one counts */
    cairn_builder_input(
        b,
        "{\"type\": \"object\", \"properties\": {\"inventory_count\": {\"type\": \"integer\","
        " \"minimum\": 0}, \"order\": {\"minimum\": 1, \"type\": \"integer\"}}, \"required\": "
        "[\"order\", \"inventory_count\"]}",
        " {\"order\": 1001, \"inventory_count\": 3}");
    cairn_builder_step(b, "reserve_funds", "billing.reserve.v1",
                       "{\"retry\": {\"backoff\": \"exponential\", \"base\": \"1s\", \"max\": "
                       "\"1m\"}, \"timeout\": \"30s\"}");
    cairn_builder_compensation(b, "billing.refund.v1", "{\"max_attempts\": 3}");
    cairn_builder_save_point(b, "after_reserve");
    cairn_builder_condition(b, "in_stock", "{{ gt .inventory_count 0 }}");
    cairn_builder_step(b, "pick", NULL, NULL);
    cairn_builder_else(b);
    cairn_builder_step(b, "restock", NULL, " { \"on_failure\" : \"continue\" } ");
    cairn_builder_end(b);
    cairn_builder_fork(b, "fulfilment", "all");
    cairn_builder_branch(b);
    cairn_builder_step(b, "ship", NULL, "{}");
    cairn_builder_compensation(b, "cancel_shipment", NULL);
    cairn_builder_branch(b);
    cairn_builder_step(b, "invoice", NULL, "{\"idempotent\": false, \"priority\": 80}");
    cairn_builder_end(b);
    cairn_builder_parallel(b, "tell");
    cairn_builder_step(b, "mail", NULL, NULL);
    cairn_builder_step(b, "sms", NULL, NULL);
    cairn_builder_end(b);
    cairn_builder_human(b, "approval", "{\"timeout\": \"3d\"}");
    cairn_builder_wait(b, "settled", "payment.settled", "{\"timeout\": \"1h\"}");
    cairn_builder_sleep(b, "cool_off", 600000);
    cairn_builder_step(b, "close", NULL, "{\"metadata\": {\"team\": \"orders\"}}");
    return b;
}

static void hash_of(const char *text, char hash[65])
{
    struct arena arena = {0};
    struct definition definition;
    cairn_error error;
    CHECK_OK(
        definition_read(&arena, "f", text, strlen(text), &definition, NULL, 0, NULL, &error));
    memcpy(hash, definition.hash, 65);
    arena_done(&arena);
}

TEST(the_builder_makes_what_the_file_says)
{
    cairn_error error;
    const char *text, *again;
    char built[65], written[65];
    cairn_builder *builder = build_order();
    CHECK_OK(cairn_builder_text(builder, &text, &error));
    CHECK_OK(cairn_builder_text(builder, &again, &error));
    CHECK(text == again, "asking twice is the same as once");
    hash_of(text, built);
    char *file = read_file(getenv("EXAMPLES"), "every-element.yaml");
    hash_of(file, written);
    CHECK_STR(built, written);
    free(file);
    cairn_builder_free(builder);
    cairn_builder_free(NULL);
}

static void build_nothing(cairn_builder *b)
{
    (void)b;
}
static void build_end(cairn_builder *b)
{
    cairn_builder_end(b);
}
static void build_else(cairn_builder *b)
{
    cairn_builder_fork(b, "f", "all");
    cairn_builder_branch(b);
    cairn_builder_else(b);
}
static void build_else_twice(cairn_builder *b)
{
    cairn_builder_condition(b, "c", "{{ .x }}");
    cairn_builder_else(b);
    cairn_builder_else(b);
}
static void build_branch(cairn_builder *b)
{
    cairn_builder_branch(b);
}
static void build_open(cairn_builder *b)
{
    cairn_builder_condition(b, "c", "{{ .x }}");
    cairn_builder_step(b, "a", NULL, NULL);
}
static void build_no_branch(cairn_builder *b)
{
    cairn_builder_fork(b, "f", "all");
    cairn_builder_step(b, "a", NULL, NULL);
}
static void build_list(cairn_builder *b)
{
    cairn_builder_step(b, "a", NULL, "[1]");
}
static void build_no_json(cairn_builder *b)
{
    cairn_builder_human(b, "a", "{");
}
static void build_twice(cairn_builder *b)
{
    cairn_builder_step(b, "a", "h", "{\"handler\": \"g\"}");
}
static void build_no_name(cairn_builder *b)
{
    cairn_builder_save_point(b, NULL);
}
static void build_late_undo(cairn_builder *b)
{
    cairn_builder_step(b, "a", NULL, NULL);
    cairn_builder_sleep(b, "s", 1);
    cairn_builder_compensation(b, "u", NULL);
}
static void build_no_undo(cairn_builder *b)
{
    cairn_builder_step(b, "a", NULL, NULL);
    cairn_builder_compensation(b, NULL, NULL);
}
static void build_unknown(cairn_builder *b)
{
    cairn_builder_step(b, "a", NULL, "{\"timeot\": \"1s\"}");
}
static void build_negative(cairn_builder *b)
{
    cairn_builder_sleep(b, "s", -1);
}
static void build_deep(cairn_builder *b)
{
    for (int i = 0; i < 65; i++) {
        char name[16];
        snprintf(name, sizeof name, "c%d", i);
        cairn_builder_condition(b, name, "{{ .x }}");
    }
}
static void build_no_schema(cairn_builder *b)
{
    cairn_builder_input(b, "{", NULL);
    cairn_builder_step(b, "a", NULL, NULL);
}
static void build_no_example(cairn_builder *b)
{
    cairn_builder_input(b, "{\"type\": \"object\"}", "[1]");
    cairn_builder_step(b, "a", NULL, NULL);
}
static void build_no_event(cairn_builder *b)
{
    cairn_builder_wait(b, "w", NULL, NULL);
}

TEST(the_builder_remembers_the_first_error)
{
    static const struct {
        void (*build)(cairn_builder *);
        const char *message;
    } cases[] = {
        {build_nothing, "workflow \"w\": steps is empty"},
        {build_no_schema, "input: schema is not JSON"},
        {build_no_example, "input.example: is a list, which its schema does not allow"},
        {build_end, "end without a condition, fork or parallel that is open"},
        {build_else, "else without a condition"},
        {build_else_twice, "else without a condition"},
        {build_branch, "branch without a fork"},
        {build_open, "1 of condition, fork and parallel have no end"},
        {build_no_branch, "step \"a\": a fork's elements stand in branches; call "
                          "cairn_builder_branch() first"},
        {build_list, "\"a\": options must be a JSON object"},
        {build_no_json, "\"a\": options is not JSON"},
        {build_twice, "the key \"handler\" is already given in line 1"},
        {build_no_name, "a save_point needs a name"},
        {build_late_undo, "a compensation must follow its step"},
        {build_no_undo, "a compensation needs a handler"},
        {build_unknown, "step \"a\": unknown key \"timeot\"; did you mean \"timeout\"?"},
        {build_negative, "sleep \"s\": for must be a whole number with ms, s, m, h or d, such "
                         "as 30s"},
        {build_deep, "conditions, forks and parallels are nested more than 64 deep"},
        {build_no_event, "wait \"w\": event is missing"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        cairn_error error = {0};
        const char *text = NULL;
        cairn_builder *builder = cairn_builder_new("w", 1);
        cases[i].build(builder);
        CHECK(cairn_builder_text(builder, &text, &error) != CAIRN_OK, "%s", text);
        CHECK_STR(error.message, cases[i].message);
        CHECK(!text, "written on success only");
        cairn_builder_end(builder); /* changes nothing any more */
        CHECK(cairn_builder_text(builder, &text, &error) != CAIRN_OK, "still wrong");
        CHECK_STR(error.message, cases[i].message);
        cairn_builder_free(builder);
    }
}

TEST(the_builder_tells_that_memory_ran_out)
{
    for (long after = 0;; after++) {
        cairn_error error = {0};
        const char *text;
        mem_fail_after(after);
        cairn_builder *builder = build_order();
        cairn_code code = CAIRN_E_OUT_OF_MEMORY;
        if (builder)
            code = cairn_builder_text(builder, &text, &error);
        mem_fail_after(-1);
        cairn_builder_free(builder);
        if (!code)
            break;
        CHECK(code == CAIRN_E_OUT_OF_MEMORY, "%s: %s", cairn_code_name(code), error.message);
    }
}
