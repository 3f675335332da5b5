/* Workflow files: what is wrong with them, what they mean, and the rows they become. */
#include "base/clock.h"
#include "base/mem.h"
#include "file_rig.h"

#include <stdlib.h>

#define HEAD "workflow: w\nversion: 1\n"
#define STEP HEAD "steps:\n  - step: a\n"

struct bad {
    const char *text;
    int line, column;
    const char *message;
};

/* The first flaw of each. */
static const struct bad bad_files[] = {
    {"", 0, 0, "the file is empty"},
    {"# nothing\n", 0, 0, "the file is empty"},
    {"- a\n", 1, 1,
     "a workflow file must be a mapping with workflow, version and steps, not a list"},
    {"hello", 1, 1,
     "a workflow file must be a mapping with workflow, version and steps, not text"},
    {"workflow: w\nversion: 1\n", 1, 1, "workflow \"w\": steps is missing"},
    {"version: 1\nsteps: [{step: a}]\n", 1, 1, "workflow: workflow is missing"},
    {"workflow: w\nsteps: [{step: a}]\n", 1, 1, "workflow \"w\": version is missing"},
    {"workflow: ''\nversion: 1\nsteps: [{step: a}]\n", 1, 11, "workflow: workflow is empty"},
    {"workflow: w\nversion: 0\nsteps: [{step: a}]\n", 2, 10,
     "workflow \"w\": version must be a whole number from 1"},
    {"workflow: w\nversion: 1.5\nsteps: [{step: a}]\n", 2, 10,
     "workflow \"w\": version must be a whole number from 1"},
    {"workflow: w\nversion: '1'\nsteps: [{step: a}]\n", 2, 10,
     "workflow \"w\": version must be a whole number from 1"},
    {"workflow: w\nversion: 2147483648\nsteps: [{step: a}]\n", 2, 10,
     "workflow \"w\": version must be a whole number from 1"},
    {HEAD "dql: true\nsteps: [{step: a}]\n", 3, 1,
     "workflow \"w\": unknown key \"dql\"; did you mean \"dlq\"?"},
    {HEAD "dlq: yes\nsteps: [{step: a}]\n", 3, 6,
     "workflow \"w\": dlq must be true or false, not text"},
    {HEAD "steps: []\n", 3, 8, "workflow \"w\": steps is empty"},
    {HEAD "steps:\n", 3, 1, "workflow \"w\": steps must be a list, not nothing"},
    {HEAD "steps: {step: a}\n", 3, 8, "workflow \"w\": steps must be a list, not a mapping"},
    {HEAD "steps:\n  - a\n", 4, 5,
     "an element must be a mapping such as {step: NAME}, not text"},
    {HEAD "steps:\n  - {}\n", 4, 5,
     "an element needs one of the keys step, save_point, condition, fork, parallel, human, "
     "wait, sleep, start, map"},
    {HEAD "steps:\n  - stp: a\n", 4, 5,
     "unknown kind of element \"stp\"; did you mean \"step\"?"},
    {HEAD "steps:\n  - savepoint: a\n", 4, 5,
     "unknown kind of element \"savepoint\"; did you mean \"save_point\"?"},
    {HEAD "steps:\n  - step: a\n    wait: b\n", 4, 5,
     "an element is of one kind, but this one has the keys step and wait"},
    {HEAD "steps:\n  - step: ''\n", 4, 11, "step: step is empty"},
    {HEAD "steps:\n  - step: 12\n", 4, 11,
     "step \"12\": step must be text, not a number; put it in quotes"},
    {HEAD "steps:\n  - step:\n", 4, 5, "step: step must be text, not nothing"},
    {HEAD "steps:\n  - step: cond#a\n", 4, 11,
     "step \"cond#a\": names that begin with cond# are reserved"},
    {HEAD "steps:\n  - step: \"a\\eb\"\n", 4, 11,
     "step \"a b\": the name contains a control character"},
    {STEP "  - sleep: a\n    for: 1s\n", 5, 12,
     "sleep \"a\": the name is already used in line 4"},
    {HEAD "steps:\n  - step: pay~2\n", 4, 11,
     "step \"pay~2\": a name cannot end in \"~\" and a number, which tells the effects of a "
     "step apart"},
    {"workflow: w~2\nversion: 1\nsteps: [{step: a}]\n", 1, 11,
     "workflow \"w~2\": a name cannot end in \"~\" and a number, which tells the effects of a "
     "step apart"},
    {"function: f~2\nversion: 1\n", 1, 11,
     "function \"f~2\": a name cannot end in \"~\" and a number, which tells the effects of a "
     "step apart"},
    {HEAD "steps:\n  - map: a\n    steps: [{step: b}]\n", 4, 5, "map \"a\": over is missing"},
    {HEAD "steps:\n  - map: a\n    over: '{{ .x }}'\n", 4, 5, "map \"a\": steps is missing"},
    {HEAD "steps:\n  - map: a\n    over: .x\n    steps: [{step: b}]\n", 5, 11,
     "map \"a\": over must be one expression, such as \"{{ .items }}\""},
    {HEAD "steps:\n  - map: a\n    over: 'x {{ .x }}'\n    steps: [{step: b}]\n", 5, 11,
     "map \"a\": over must be one expression, such as \"{{ .items }}\""},
    {HEAD " dlq: true\nsteps: [{step: a}]\n", 2, 10,
     "this value goes on in the next line, which is indented too far or should be part of it"},
    {HEAD "steps:\n  - step: a\n   handler: b\n", 5, 4,
     "the indentation of this line fits no line above"},
    {HEAD "steps:\n- step: a\n - step: b\n", 5, 2,
     "the indentation of this line fits no line above"},
    {HEAD "steps: [{step: a}\ndlq: true\n", 4, 1, "a \"]\" is missing before this line"},
    {HEAD "steps:\n  - map: a\n    over: '{{ .x }}'\n    join: {least: 1}\n"
          "    steps: [{step: b}]\n",
     6, 11, "map \"a\": join: at_least is missing"},
    {HEAD "steps:\n  - map: a\n    over: '{{ .x }}'\n    max_parallel: 0\n"
          "    steps: [{step: b}]\n",
     6, 19, "map \"a\": max_parallel must be a whole number from 1 to 1000"},
    {HEAD "steps:\n  - map: a\n    over: '{{ .x }}'\n    steps: [{step: a}]\n", 6, 20,
     "step \"a\": the name is already used in line 4"},
    {HEAD "steps:\n  - start: a\n", 4, 5, "start \"a\": workflow is missing"},
    {HEAD "steps:\n  - start: a\n    workflow: ''\n", 5, 15, "start \"a\": workflow is empty"},
    {HEAD "steps:\n  - start: a\n    workflow: b\n    version: 0\n", 6, 14,
     "start \"a\": version must be a whole number from 1"},
    {HEAD "steps:\n  - start: a\n    workflow: b\n    wait: soon\n", 6, 11,
     "start \"a\": wait must be true or false, not text"},
    {HEAD "steps:\n  - start: a\n    workflow: b\n    tags: {t: 1}\n", 6, 11,
     "start \"a\": tags: the value of the tag \"t\" is not a text"},
    {HEAD "steps:\n  - start: a\n    workflow: b\n    handler: h\n", 6, 5,
     "start \"a\": unknown key \"handler\""},
    {STEP "    max_attempt: 3\n", 5, 5,
     "step \"a\": unknown key \"max_attempt\"; did you mean \"max_attempts\"?"},
    {STEP "    colour: red\n", 5, 5, "step \"a\": unknown key \"colour\""},
    {STEP "    for: 1s\n", 5, 5, "step \"a\": unknown key \"for\""},
    {STEP "    max_attempts: 0\n", 5, 19,
     "step \"a\": max_attempts must be a whole number from 1"},
    {STEP "    handler: ''\n", 5, 14, "step \"a\": handler is empty"},
    {STEP "    handler: [x]\n", 5, 14, "step \"a\": handler must be text, not a list"},
    {STEP "    priority: 101\n", 5, 15,
     "step \"a\": priority must be a whole number from 0 to 100"},
    {STEP "    priority: -1\n", 5, 15,
     "step \"a\": priority must be a whole number from 0 to 100"},
    {STEP "    timeout: 30\n", 5, 14,
     "step \"a\": timeout must be a whole number with ms, s, m, h or d, such as 30s"},
    {STEP "    timeout: 1.5s\n", 5, 14,
     "step \"a\": timeout must be a whole number with ms, s, m, h or d, such as 30s"},
    {STEP "    timeout: 0s\n", 5, 14, "step \"a\": timeout must be longer than 0"},
    {STEP "    timeout: 99999999999999d\n", 5, 14,
     "step \"a\": timeout must be a whole number with ms, s, m, h or d, such as 30s"},
    {STEP "    retry: fixed\n", 5, 12, "step \"a\": retry must be a mapping, not text"},
    {STEP "    retry: {backoff: random}\n", 5, 22,
     "step \"a\": retry: backoff must be fixed, linear, exponential or quadratic"},
    {STEP "    retry: {bse: 1s}\n", 5, 13,
     "step \"a\": retry: unknown key \"bse\"; did you mean \"base\"?"},
    {STEP "    retry: {jitter: 1.1}\n", 5, 21,
     "step \"a\": retry: jitter must be a number from 0 to 1"},
    {STEP "    retry: {jitter: .nan}\n", 5, 21,
     "step \"a\": retry: jitter must be a number from 0 to 1"},
    {STEP "    retry: {max: 0s}\n", 5, 18, "step \"a\": retry: max must be longer than 0"},
    {STEP "    on_failure: stop\n", 5, 17,
     "step \"a\": on_failure must be fail_workflow, pause_workflow, continue or compensate"},
    {STEP "    idempotent: no\n", 5, 17,
     "step \"a\": idempotent must be true or false, not text"},
    {STEP "    idempotent: false\n    max_attempts: 3\n", 6, 19,
     "step \"a\": max_attempts must be 1, since idempotent: false allows one call"},
    {STEP "    compensation: undo\n", 5, 19,
     "step \"a\": compensation must be a mapping: {handler: \"undo\"}"},
    {STEP "    compensation: [undo]\n", 5, 19,
     "step \"a\": compensation must be a mapping, not a list"},
    {STEP "    compensation: {max_attempts: 1}\n", 5, 19,
     "step \"a\": compensation: handler is missing"},
    {STEP "    compensation: {handler: x, max_attempts: -1}\n", 5, 46,
     "step \"a\": compensation: max_attempts must be a whole number from 0"},
    {STEP "    compensation: {handler: x, priority: 1}\n", 5, 32,
     "step \"a\": compensation: unknown key \"priority\""},
    {STEP "    compensation: {handler: x, idempotent: false, max_attempts: 2}\n", 5, 65,
     "step \"a\": compensation: max_attempts must be 1, since idempotent: false allows one "
     "call"},
    {STEP "    metadata: [1]\n", 5, 15, "step \"a\": metadata must be a mapping, not a list"},
    {STEP "    metadata: {n: 0xFFFFFFFFFFFFFFFFF}\n", 5, 19,
     "step \"a\": metadata has a number that is too large; write it as text"},
    {STEP "    metadata: {n: .inf}\n", 5, 19,
     "step \"a\": metadata has a number that JSON cannot hold; write it as text"},
    {STEP "    metadata: {n: 1e400}\n", 5, 19,
     "step \"a\": metadata has a number that JSON cannot hold; write it as text"},
    {STEP "  - condition: c\n    when: ''\n    then: [{step: b}]\n", 6, 11,
     "condition \"c\": when is empty"},
    {STEP "  - condition: c\n    when: '{{ }}'\n    then: [{step: b}]\n", 6, 11,
     "condition \"c\": when: the expression is empty"},
    {STEP "  - condition: c\n    when: gt .x 0\n    then: [{step: b}]\n", 6, 11,
     "condition \"c\": when: the expression must stand in {{ and }}: \"{{\" is missing at "
     "column "
     "1"},
    {STEP "  - condition: c\n    when: '{{ foo .x }}'\n    then: [{step: b}]\n", 6, 11,
     "condition \"c\": when: unknown function \"foo\" at column 4"},
    {STEP "  - condition: c\n    when: {{ gt .x 0 }}\n    then: [{step: b}]\n", 6, 12,
     "a key must be text, not a mapping; an expression {{ ... }} stands in quotes"},
    {STEP "  - condition: c\n    then: [{step: b}]\n", 5, 5,
     "condition \"c\": when is missing"},
    {STEP "  - condition: c\n    when: '{{ .x }}'\n", 5, 16,
     "condition \"c\": neither then nor else has an element"},
    {STEP "  - fork: f\n    join: some\n    branches: [[{step: b}]]\n", 6, 11,
     "fork \"f\": join must be all or any"},
    {STEP "  - fork: f\n", 5, 5, "fork \"f\": branches is missing"},
    {STEP "  - fork: f\n    branches: []\n", 6, 15, "fork \"f\": branches is empty"},
    {STEP "  - fork: f\n    branches: [[{step: b}], []]\n", 6, 29,
     "fork \"f\": branch 2 is empty"},
    {STEP "  - fork: f\n    branches: [{step: b}]\n", 6, 16,
     "fork \"f\": branch 1 must be a list of elements, not a mapping"},
    {STEP "  - fork: f\n    branches: [[{step: b}]]\n  - step: c\n", 5, 11,
     "fork \"f\": without join it must be the last element of its list; add join: all or "
     "join: any"},
    {STEP "  - step: f_join\n  - fork: f\n    branches: [[{step: b}]]\n", 5, 11,
     "step \"f_join\": the join of fork \"f\" has this name"},
    {STEP "  - parallel: p\n    steps: [{sleep: s, for: 1s}]\n", 6, 21,
     "parallel \"p\": only steps may stand in parallel, not a sleep; use a fork"},
    {STEP "  - parallel: p\n    steps: []\n", 6, 12, "parallel \"p\": steps is empty"},
    {STEP "  - wait: x\n", 5, 5, "wait \"x\": event is missing"},
    {STEP "  - wait: x\n    event: ''\n", 6, 12, "wait \"x\": event is empty"},
    {STEP "  - wait: x\n    event: e\n    on_timeout: continue\n", 7, 17,
     "wait \"x\": on_timeout needs a timeout"},
    {STEP "  - human: x\n    timeout: 1d\n    on_timeout: stop\n", 7, 17,
     "human \"x\": on_timeout must be fail or continue"},
    {STEP "  - sleep: x\n", 5, 5, "sleep \"x\": for is missing"},
    {STEP "  - sleep: x\n    for: -1s\n", 6, 10,
     "sleep \"x\": for must be a whole number with ms, s, m, h or d, such as 30s"},

    /* YAML and JSON themselves. */
    {STEP "    priority: 1\n    priority: 2\n", 6, 5,
     "the key \"priority\" is already given in line 5"},
    {STEP "    metadata: {b: 1, 'b': 2}\n", 5, 22, "the key \"b\" is already given in line 5"},
    {STEP "---\nworkflow: x\n", 5, 1,
     "the file holds a second document; one workflow per file"},
    {HEAD "steps: &x [{step: a}]\n", 3, 11,
     "anchors (&name) are not allowed in a workflow file"},
    {HEAD "steps: *x\n", 3, 8, "aliases (*name) are not allowed in a workflow file"},
    {HEAD "steps: !!seq [{step: a}]\n", 3, 14,
     "tags (!name) are not allowed in a workflow file"},
    {"%YAML 1.2\n---\n" STEP, 1, 1, "directives (%NAME) are not allowed in a workflow file"},
    {"{\"workflow\": \"w\", \"version\": 1, \"steps\": [{\"step\": \"a\\u0000b\"}]}", 1, 52,
     "the text contains a character that cannot be stored"},
    {"workflow: w\nversion: \xff\n", 2, 10, "the text is not UTF-8, or contains a NUL"},
    {"{\"workflow\": \"w\"", 2, 1, NULL}, /* the words are libfyaml's */
    {"workflow: w\n  version: 1\n", 1, 11, NULL},
    {"\tworkflow: w\n", 1, 1, NULL},
};

TEST(what_is_wrong_with_a_file_is_told_with_its_place_and_reason)
{
    for (size_t i = 0; i < sizeof bad_files / sizeof *bad_files; i++) {
        const struct bad *bad = &bad_files[i];
        cleanup(read_done) struct read read = read_text(bad->text);
        CHECK(read.code == CAIRN_E_BAD_INPUT, "code %d for:\n%s", read.code, bad->text);
        CHECK(read.count >= 1, "no flaw for:\n%s", bad->text);
        const cairn_flaw *first = &read.errors[0];
        CHECK(first->line == bad->line && first->column == bad->column,
              "%d:%d instead of %d:%d (%s) for:\n%s", first->line, first->column, bad->line,
              bad->column, first->message, bad->text);
        if (bad->message)
            CHECK_STR(first->message, bad->message);
        char wanted[sizeof read.error.message];
        if (bad->line)
            snprintf(wanted, sizeof wanted, "f.yaml:%d:%d: %.200s", bad->line, bad->column,
                     first->message);
        else
            snprintf(wanted, sizeof wanted, "f.yaml: %.200s", first->message);
        CHECK_STR(read.error.message, wanted);
    }
}

TEST(all_flaws_of_a_file_are_told_in_its_order)
{
    cleanup(read_done) struct read read =
        read_text("workflow: w\n"
                  "version: x\n"
                  "steps:\n"
                  "  - step: f_join\n"
                  "    max_attempts: 0\n"
                  "    retry: {base: 1}\n"
                  "  - fork: f\n"
                  "    branches: [[{step: f_join, priorty: 1}]]\n"
                  "  - sleep: s\n");
    static const int lines[] = {2, 4, 5, 6, 7, 8, 8, 9};
    CHECK_INT(read.count, sizeof lines / sizeof *lines);
    for (size_t i = 0; i < read.count; i++)
        CHECK(read.errors[i].line == lines[i], "%zu: line %d: %s", i, read.errors[i].line,
              read.errors[i].message);
    CHECK(strstr(read.error.detail, "9:5: ") || strlen(read.error.detail) > 400,
          "the detail has the others: %s", read.error.detail);
}

TEST(only_as_many_flaws_are_told_as_there_is_room_for)
{
    struct arena arena = {0};
    struct definition definition;
    cairn_flaw errors[2];
    size_t count;
    cairn_error error;
    const char *text = "a: 1\nb: 2\nc: 3\n";
    CHECK_INT(definition_read(&arena, "f", text, strlen(text), &definition, errors, 2, &count,
                              &error),
              CAIRN_E_BAD_INPUT);
    CHECK_INT(count, 2);
    CHECK_INT(
        definition_read(&arena, NULL, text, strlen(text), &definition, NULL, 0, NULL, NULL),
        CAIRN_E_BAD_INPUT);
    arena_done(&arena);
}

static const char *const same_files[] = {
    "workflow: w\n"
    "version: 1\n"
    "steps:\n"
    "  - step: a\n"
    "    timeout: 60s\n"
    "    retry: {base: 2000ms}\n"
    "    metadata: {b: 1.50, a: [true, ~, \"x\"]}\n"
    "  - sleep: s\n"
    "    for: 24h\n",
    /* defaults written out, other order, comments, other units */
    "# a comment\n"
    "---\n"
    "steps:\n"
    "- metadata:\n"
    "    a:\n"
    "    - true\n"
    "    - null\n"
    "    - x\n"
    "    b: 15e-1\n"
    "  retry: {jitter: 0, max: 5m, base: 2s, backoff: exponential}\n"
    "  priority: 50\n"
    "  handler: a\n"
    "  idempotent: true\n"
    "  max_attempts: 3\n"
    "  timeout: 1m   # here as well\n"
    "  step: 'a'\n"
    "- {for: 1d, sleep: s, metadata: {}}\n"
    "dlq: false\n"
    "version: 0x1\n"
    "workflow: \"w\"\n",
    /* JSON, with tabs */
    "{\n\t\"steps\": [\n"
    "\t\t{\"step\": \"\\u0061\", \"timeout\": \"60000ms\",\n"
    "\t\t \"retry\": {\"base\": \"2s\"}, \"metadata\": {\"a\": [true, null, \"x\"], \"b\": "
    "1.5}},\n"
    "\t\t{\"sleep\": \"s\", \"for\": \"1440m\"}\n\t],\n"
    "\t\"version\": 1, \"workflow\": \"w\"\n}\n",
    "{\"workflow\":\"w\",\"version\":1,\"steps\":[{\"step\":\"a\",\"retry\":{\"backoff\":"
    "\"exponential\",\"base\":\"2s\",\"max\":\"5m\"},\"timeout\":\"1m\",\"metadata\":{\"a\":["
    "true,"
    "null,\"x\"],\"b\":1.5}},{\"sleep\":\"s\",\"for\":\"1d\"}]}",
};

TEST(the_same_meaning_is_the_same_text_whatever_the_form)
{
    const char *content = same_files[3]; /* what is canonical is a file, too */
    for (size_t i = 0; i < sizeof same_files / sizeof *same_files; i++) {
        cleanup(read_done) struct read read = read_text(same_files[i]);
        CHECK(read.code == CAIRN_OK, "%zu: %s", i, read.error.message);
        CHECK_STR(read.definition.content, content);
        CHECK_STR(read.definition.hash,
                  "8651415b8bcec32d8429d088649284436653a2e584869872ad4c726d1c8ad4e9");
    }
}

TEST(another_meaning_is_another_hash)
{
    static const char *const others[] = {
        STEP,
        STEP "    max_attempts: 4\n",
        STEP "    priority: 51\n",
        STEP "    handler: b\n",
        STEP "    on_failure: compensate\n",
        STEP "    idempotent: false\n",
        STEP "    timeout: 1s\n",
        STEP "    timeout: 1ms\n",
        STEP "    compensation: {handler: x}\n",
        STEP "    compensation: {handler: x, max_attempts: 0}\n",
        STEP "    metadata: {a: 1}\n",
        STEP "    metadata: {a: 1.0}\n",
        STEP "    metadata: {a: '1'}\n",
        STEP "dlq: true\n",
        "workflow: w\nversion: 2\nsteps: [{step: a}]\n",
        "workflow: v\nversion: 1\nsteps: [{step: a}]\n",
    };
    enum { COUNT = sizeof others / sizeof *others };
    char hashes[COUNT][65];
    for (size_t i = 0; i < COUNT; i++) {
        cleanup(read_done) struct read read = read_text(others[i]);
        CHECK(read.code == CAIRN_OK, "%s", read.error.message);
        CHECK_INT(strlen(read.definition.hash), 64);
        memcpy(hashes[i], read.definition.hash, 65);
        for (size_t k = 0; k < i; k++)
            CHECK(strcmp(hashes[i], hashes[k]) != 0, "%zu and %zu have one hash", i, k);
    }
}

TEST(text_beyond_ascii_and_escapes_survive)
{
    cleanup(read_done) struct read read =
        read_text("{\"workflow\": \"\\ud83d\\ude00 \\\"q\\\" \\/\", \"version\": 1, \"steps\": "
                  "[{\"step\": \"größe\"}]}");
    CHECK(read.code == CAIRN_OK, "%s", read.error.message);
    CHECK_STR(read.definition.name, "😀 \"q\" /");
    CHECK_STR(read.definition.plan[0].name, "größe");
    cleanup(read_done) struct read again = read_text(read.definition.content);
    CHECK(again.code == CAIRN_OK, "%s", again.error.message);
    CHECK_STR(again.definition.hash, read.definition.hash);
}

struct wanted_row {
    const char *name;
    enum step_kind kind;
    int32_t next, scope_fork, scope_from, scope_to;
    const char *config;
};

static void check_plan(const struct definition *definition, const struct wanted_row *wanted,
                       size_t count)
{
    CHECK_INT(definition->plan_count, count);
    for (size_t i = 0; i < count; i++) {
        const struct step_row *row = &definition->plan[i];
        CHECK_INT(row->seq, i);
        CHECK_STR(row->name, wanted[i].name);
        CHECK(row->kind == wanted[i].kind, "%s: kind %d", row->name, row->kind);
        CHECK(row->next == wanted[i].next, "%s: next %d", row->name, row->next);
        CHECK(
            row->scope_fork == wanted[i].scope_fork &&
                row->scope_from == wanted[i].scope_from && row->scope_to == wanted[i].scope_to,
            "%s: scope %d [%d,%d]", row->name, row->scope_fork, row->scope_from, row->scope_to);
        CHECK_INT(row->status, STEP_PENDING);
        if (wanted[i].config)
            CHECK_STR(row->config, wanted[i].config);
        else
            CHECK(!row->config, "%s: config %s", row->name, row->config);
    }
}

TEST(a_plan_says_where_the_flow_goes_on)
{
    cleanup(read_done) struct read read = read_text(
        HEAD
        "steps:\n"
        "  - condition: c1\n"
        "    when: '{{ .x }}'\n"
        "    then:\n"
        "      - step: t1\n"
        "      - condition: c2\n"
        "        when: '{{ .y }}'\n"
        "        else: [{step: e2}]\n"
        "  - fork: f1\n"
        "    join: any\n"
        "    branches:\n"
        "      - - step: b1\n"
        "        - fork: f2\n"
        "          branches:\n"
        "            - [{step: g1}, {condition: c3, when: '{{ .z }}', then: [{step: t3}]}]\n"
        "            - [{save_point: sp}]\n"
        "      - - parallel: p\n"
        "          steps: [{step: p1}, {step: p2}]\n"
        "        - human: h\n"
        "  - step: last\n");
    CHECK(read.code == CAIRN_OK, "%s", read.error.message);
    static const struct wanted_row wanted[] = {
        {"c1", KIND_CONDITION, 4, -1, 0, 18, "{\"when\":\"{{ .x }}\",\"then\":[1,3]}"},
        {"t1", KIND_TASK, 2, -1, 0, 18, NULL},
        {"c2", KIND_CONDITION, 4, -1, 0, 18, "{\"when\":\"{{ .y }}\",\"else\":[3,3]}"},
        {"e2", KIND_TASK, 4, -1, 0, 18, NULL},
        {"f1", KIND_FORK, 17, -1, 0, 18, "{\"branches\":[[5,11],[12,16]],\"join\":17}"},
        {"b1", KIND_TASK, 6, 4, 5, 11, NULL},
        {"f2", KIND_FORK, 11, 4, 5, 11, "{\"branches\":[[7,9],[10,10]],\"join\":11}"},
        {"g1", KIND_TASK, 8, 6, 7, 9, NULL},
        {"c3", KIND_CONDITION, 11, 6, 7, 9, "{\"when\":\"{{ .z }}\",\"then\":[9,9]}"},
        {"t3", KIND_TASK, 11, 6, 7, 9, NULL},
        {"sp", KIND_SAVE_POINT, 11, 6, 10, 10, NULL},
        {"f2_join", KIND_JOIN, 17, 4, 5, 11, "{\"fork\":6,\"wait_for\":[\"cond#c3\",\"sp\"]}"},
        {"p", KIND_FORK, 15, 4, 12, 16, "{\"branches\":[[13,13],[14,14]],\"join\":15}"},
        {"p1", KIND_TASK, 15, 12, 13, 13, NULL},
        {"p2", KIND_TASK, 15, 12, 14, 14, NULL},
        {"p_join", KIND_JOIN, 16, 4, 12, 16, "{\"fork\":12,\"wait_for\":[\"p1\",\"p2\"]}"},
        {"h", KIND_HUMAN, 17, 4, 12, 16, NULL},
        {"f1_join", KIND_JOIN, 18, -1, 0, 18,
         "{\"any\":true,\"fork\":4,\"wait_for\":[\"f2_join\",\"h\"]}"},
        {"last", KIND_TASK, -1, -1, 0, 18, NULL},
    };
    check_plan(&read.definition, wanted, sizeof wanted / sizeof *wanted);
}

TEST(a_task_row_has_what_the_file_says_or_the_defaults)
{
    cleanup(read_done) struct read read = read_text(
        STEP
        "  - step: b\n"
        "    handler: h.v1\n"
        "    max_attempts: 7\n"
        "    priority: 0\n"
        "    timeout: 2s\n"
        "    on_failure: pause_workflow\n"
        "    retry: {backoff: quadratic, base: 1h, jitter: 0.25}\n"
        "    compensation:\n"
        "      handler: undo\n"
        "      max_attempts: 0\n"
        "      timeout: 1m\n"
        "      retry: {backoff: fixed, base: 0s}\n"
        "      metadata: {k: [1, {z: 2, a: 3}]}\n"
        "    metadata: {z: 1, a: {}}\n"
        "  - {step: c, idempotent: false, compensation: {handler: u, idempotent: false}}\n");
    CHECK(read.code == CAIRN_OK, "%s", read.error.message);
    CHECK(read.definition.has_compensation && !read.definition.is_dlq, "flags");
    const struct step_row *row = read.definition.plan;
    CHECK_STR(row[0].handler, "a");
    CHECK_INT(row[0].max_attempts, 3);
    CHECK_INT(row[0].priority, 50);
    CHECK(!row[0].config && !row[0].metadata, "nothing beyond the defaults");
    CHECK_STR(row[1].handler, "h.v1");
    CHECK_INT(row[1].max_attempts, 7);
    CHECK_INT(row[1].priority, 0);
    CHECK_STR(row[1].metadata, "{\"a\":{},\"z\":1}");
    CHECK_INT(row[2].max_attempts, 1);

    cairn_error error;
    struct step_config config;
    CHECK_OK(step_config_read(&read.arena, row[1].config, &config, &error));
    CHECK_INT(config.timeout_us, 2 * US_PER_SEC);
    CHECK_INT(config.on_failure, POLICY_PAUSE);
    CHECK(config.is_idempotent, "by default");
    CHECK_INT(config.retry.kind, BACKOFF_QUADRATIC);
    CHECK_INT(config.retry.base_us, 60 * US_PER_MIN);
    CHECK_INT(config.retry.max_us, 60 * US_PER_MIN); /* never below the base */
    CHECK(config.retry.jitter == 0.25, "jitter %f", config.retry.jitter);
    const struct compensation_config *undo = &config.compensation;
    CHECK_STR(undo->handler, "undo");
    CHECK_INT(undo->max_attempts, 0);
    CHECK_INT(undo->timeout_us, US_PER_MIN);
    CHECK_INT(undo->retry.kind, BACKOFF_FIXED);
    CHECK_INT(undo->retry.base_us, 0);
    CHECK_STR(undo->metadata, "{\"k\":[1,{\"a\":3,\"z\":2}]}");

    CHECK_OK(step_config_read(&read.arena, row[2].config, &config, &error));
    CHECK(!config.is_idempotent && !config.compensation.is_idempotent, "at most once");
    CHECK_INT(config.compensation.max_attempts, 1);

    CHECK_OK(step_config_read(&read.arena, NULL, &config, &error));
    CHECK(config.is_idempotent && config.compensation.is_idempotent, "by default");
    CHECK_INT(config.retry.kind, backoff_for_steps.kind);
    CHECK_INT(config.retry.base_us, backoff_for_steps.base_us);
    CHECK_INT(config.retry.max_us, backoff_for_steps.max_us);
    CHECK_INT(config.compensation.max_attempts, 3);
    CHECK(!config.compensation.handler, "none declared");
}

TEST(configs_of_other_kinds_are_read_back)
{
    cleanup(read_done) struct read read =
        read_text(HEAD "steps:\n"
                       "  - {sleep: s, for: 250ms}\n"
                       "  - {wait: w1, event: 'e \"1\"', timeout: 1h, on_timeout: continue}\n"
                       "  - {human: h, timeout: 1d, on_timeout: fail, on_failure: continue}\n"
                       "  - {condition: c, when: '{{ .a }}', else: [{step: x}]}\n"
                       "  - {fork: f, join: any, branches: [[{step: y}], [{step: z}]]}\n");
    CHECK(read.code == CAIRN_OK, "%s", read.error.message);
    cairn_error error;
    struct step_config config;
    const struct step_row *row = read.definition.plan;
    CHECK_OK(step_config_read(&read.arena, row[0].config, &config, &error));
    CHECK_INT(config.for_us, 250 * US_PER_MS);
    CHECK_OK(step_config_read(&read.arena, row[1].config, &config, &error));
    CHECK_STR(config.event, "e \"1\"");
    CHECK(config.is_timeout_continue, "on_timeout");
    CHECK_OK(step_config_read(&read.arena, row[2].config, &config, &error));
    CHECK(!config.is_timeout_continue, "on_timeout");
    CHECK_INT(config.on_failure, POLICY_CONTINUE);
    CHECK_OK(step_config_read(&read.arena, row[3].config, &config, &error));
    CHECK_STR(config.when, "{{ .a }}");
    CHECK_INT(config.then_list.first, -1);
    CHECK_INT(config.else_list.first, 4);
    CHECK_INT(config.else_list.last, 4);
    CHECK_OK(step_config_read(&read.arena, row[5].config, &config, &error));
    CHECK_INT(config.branch_count, 2);
    CHECK_INT(config.branches[1].first, 7);
    CHECK_INT(config.join, 8);
    CHECK_OK(step_config_read(&read.arena, row[8].config, &config, &error));
    CHECK(config.is_any, "join any");
    CHECK_INT(config.fork, 5);
    CHECK_INT(row[8].remaining, 2);
}

TEST(a_config_that_somebody_changed_is_refused)
{
    static const char *const texts[] = {
        "",
        "x",
        "[]",
        "{\"timeout_ms\":\"1\"}",
        "{\"timeout_ms\":-1}",
        "{\"timeout_ms\":9223372036854775807}",
        "{\"on_failure\":\"perhaps\"}",
        "{\"retry\":1}",
        "{\"retry\":{\"backoff\":\"x\"}}",
        "{\"retry\":{\"jitter\":2}}",
        "{\"branches\":[[1]]}",
        "{\"branches\":{}}",
        "{\"compensation\":[]}",
        "{\"join\":4294967296}",
        "{\"when\":1}",
        "{\"idempotent\":0}",
        "{\"then\":[1,2}",
    };
    struct arena arena = {0};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        struct step_config config;
        cairn_error error;
        CHECK(step_config_read(&arena, texts[i], &config, &error) == CAIRN_E_STORE, "%s",
              texts[i]);
    }
    arena_done(&arena);
}
