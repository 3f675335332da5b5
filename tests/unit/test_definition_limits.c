/* Workflow files: limits, hostile texts, and memory that runs out. */
#include "base/buf.h"
#include "base/error.h"
#include "base/mem.h"
#include "base/random.h"
#include "definition/definition.h"
#include "test.h"

#include <dirent.h>
#include <stdlib.h>

#define HEAD "workflow: w\nversion: 1\n"

static cairn_code read_code(const char *text, size_t len, cairn_flaw *ret_first)
{
    struct arena arena = {0};
    struct definition definition;
    size_t count;
    cairn_error error;
    cairn_flaw ignored;
    cairn_code code = definition_read(&arena, "f", text, len, &definition,
                                      ret_first ? ret_first : &ignored, 1, &count, &error);
    CHECK(code == CAIRN_OK || code == CAIRN_E_OUT_OF_MEMORY || count == 1,
          "a refusal has a reason: %s", error.message);
    arena_done(&arena);
    return code;
}

/* `depth` constructs inside each other, forks and conditions in turn. */
static void write_nested(struct buf *buf, int depth)
{
    buf_reset(buf);
    buf_str(buf, "{\"workflow\":\"w\",\"version\":1,\"steps\":[");
    for (int i = 0; i < depth; i++)
        buf_printf(buf,
                   i % 2 ? "{\"condition\":\"c%d\",\"when\":\"{{ .x }}\",\"then\":["
                         : "{\"fork\":\"f%d\",\"branches\":[[",
                   i);
    buf_str(buf, "{\"step\":\"s\"}");
    for (int i = depth - 1; i >= 0; i--)
        buf_str(buf, i % 2 ? "]}" : "]]}");
    buf_str(buf, "]}");
}

static void write_nested_forks(struct buf *buf, int depth)
{
    buf_reset(buf);
    buf_str(buf, HEAD "steps: [");
    for (int i = 0; i < depth; i++)
        buf_printf(buf, "{fork: f%d, branches: [[", i);
    buf_str(buf, "{step: s}");
    for (int i = 0; i < depth; i++)
        buf_str(buf, "]]}");
    buf_str(buf, "]\n");
}

/* LeakSanitizer looks at what is left when the program ends. */
TEST(quoted_texts_of_many_pieces_leave_no_memory_behind)
{
    static const char *const pieces[] = {"''", "a''", "\\n", "\\u00e9x", "\n", " \n\n b"};
    cleanup(buf_done) struct buf buf = {0};
    for (size_t i = 0; i < sizeof pieces / sizeof *pieces; i++)
        for (int form = 0; form < 3; form++) {
            static const char *const quotes[] = {"'", "\"", ""};
            buf_reset(&buf);
            buf_printf(&buf, "steps: %s", quotes[form]);
            for (int n = 0; n < 1000; n++)
                buf_str(&buf, pieces[i]);
            buf_printf(&buf, "%s\n", quotes[form]);
            CHECK(read_code(buf.text, buf.len, NULL), "%.20s is accepted", buf.text);
        }
}

TEST(a_million_quotes_leave_no_memory_behind)
{
    cleanup(buf_done) struct buf buf = {0};
    buf_str(&buf, "steps: ");
    for (int n = 0; n < 1000000; n++)
        buf_char(&buf, '\'');
    CHECK(read_code(buf.text, buf.len, NULL), "accepted");
}

TEST(sixty_four_may_nest_and_no_more)
{
    cleanup(buf_done) struct buf buf = {0};
    cairn_flaw first;
    write_nested(&buf, 64);
    CHECK_INT(read_code(buf.text, buf.len, &first), CAIRN_OK);
    write_nested_forks(&buf, 64);
    CHECK_INT(read_code(buf.text, buf.len, &first), CAIRN_OK);
    write_nested(&buf, 65);
    CHECK_INT(read_code(buf.text, buf.len, &first), CAIRN_E_TOO_LARGE);
    CHECK_STR(first.message, "conditions, forks and parallels are nested more than 64 deep");
    write_nested_forks(&buf, 5000);
    CHECK_INT(read_code(buf.text, buf.len, &first), CAIRN_E_TOO_LARGE);
}

static void write_steps(struct buf *buf, int count)
{
    buf_reset(buf);
    buf_str(buf, HEAD "steps:\n");
    for (int i = 0; i < count; i++)
        buf_printf(buf, "  - step: s%d\n", i);
}

TEST(ten_thousand_steps_and_no_more)
{
    cleanup(buf_done) struct buf buf = {0};
    cairn_flaw first;
    write_steps(&buf, 10000);
    CHECK_INT(read_code(buf.text, buf.len, &first), CAIRN_OK);
    write_steps(&buf, 10001);
    CHECK_INT(read_code(buf.text, buf.len, &first), CAIRN_E_TOO_LARGE);
    CHECK_INT(first.line, 3 + 10001);
    write_steps(&buf, 9998);
    buf_str(&buf, "  - parallel: p\n    steps: [{step: x}]\n"); /* three rows, with its join */
    CHECK_INT(read_code(buf.text, buf.len, &first), CAIRN_E_TOO_LARGE);
}

TEST(names_have_256_bytes_and_no_more)
{
    cleanup(buf_done) struct buf buf = {0};
    cairn_flaw first;
    static const struct {
        const char *format;
        int len;
        cairn_code code;
    } cases[] = {
        {HEAD "steps: [{step: %0*d_}]", 255, CAIRN_OK},
        {HEAD "steps: [{step: %0*d_}]", 256, CAIRN_E_TOO_LARGE},
        {HEAD "steps: [{fork: %0*d_, branches: [[{step: s}]]}]", 250, CAIRN_OK},
        {HEAD "steps: [{fork: %0*d_, branches: [[{step: s}]]}]", 251, CAIRN_E_TOO_LARGE},
        {HEAD "steps: [{step: s, handler: %0*d_}]", 256, CAIRN_E_TOO_LARGE},
        {HEAD "steps: [{wait: s, event: %0*d_}]", 256, CAIRN_E_TOO_LARGE},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        buf_reset(&buf);
        char text[512];
        int len = snprintf(text, sizeof text, cases[i].format, cases[i].len, 0);
        CHECK(read_code(text, (size_t)len, &first) == cases[i].code, "%zu: %s", i,
              first.message);
    }
}

TEST(a_file_has_one_mebibyte_and_no_more)
{
    size_t len = 1024 * 1024;
    char *text = malloc(len + 1);
    memset(text, ' ', len + 1);
    memcpy(text, HEAD "steps: [{step: a}]\n", strlen(HEAD "steps: [{step: a}]\n"));
    cairn_flaw first;
    CHECK_INT(read_code(text, len, &first), CAIRN_OK);
    CHECK_INT(read_code(text, len + 1, &first), CAIRN_E_TOO_LARGE);
    free(text);
}

TEST(metadata_is_64_deep_and_no_more)
{
    cleanup(buf_done) struct buf buf = {0};
    cairn_flaw first;
    for (int depth = 64; depth <= 65; depth++) {
        buf_reset(&buf);
        buf_str(&buf, HEAD "steps: [{step: a, metadata: {a: ");
        for (int i = 1; i < depth; i++)
            buf_char(&buf, '[');
        for (int i = 1; i < depth; i++)
            buf_char(&buf, ']');
        buf_str(&buf, "}}]");
        CHECK_INT(read_code(buf.text, buf.len, &first),
                  depth == 64 ? CAIRN_OK : CAIRN_E_TOO_LARGE);
    }
}

/* Texts that make a careless reader slow, or overflow its stack. */
TEST(hostile_texts_are_refused)
{
    static const char *const parts[] = {"[",   "{",    "- ",   "? ",   "{\"a\":", "[[],", "&a ",
                                        "!a ", "*a\n", "\"\n", "a:\n", "#\n",     "%\n",  "% "};
    size_t len = 200 * 1000;
    char *text = malloc(len);
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
        cairn_flaw first;
        size_t part = strlen(parts[i]);
        for (size_t k = 0; k < len; k++)
            text[k] = parts[i][k % part];
        CHECK(read_code(text, len, &first) != CAIRN_OK, "%s", parts[i]);
    }
    free(text);
}

static char *read_example(const char *name, size_t *ret_len)
{
    char path[4096];
    snprintf(path, sizeof path, "%s/%s", getenv("EXAMPLES"), name);
    FILE *file = fopen(path, "r");
    CHECK(file, "cannot open %s", path);
    char *text = malloc(64 * 1024);
    *ret_len = fread(text, 1, 64 * 1024, file);
    fclose(file);
    return text;
}

static void mutate(struct rng *rng, char *text, size_t *len, size_t room)
{
    static const char bits[] = "{}[]:,-?&*!|>%@`\"'# \n\t\\0aZ\xc3\xff";
    for (uint64_t left = 1 + rng_below(rng, 4); left > 0; left--) {
        size_t at = *len ? rng_below(rng, *len) : 0;
        size_t size = 1 + rng_below(rng, 20);
        switch (rng_below(rng, 4)) {
        case 0: /* another character */
            if (*len)
                text[at] = bits[rng_below(rng, sizeof bits - 1)];
            break;
        case 1: /* a piece left out */
            size = at + size > *len ? *len - at : size;
            memmove(text + at, text + at + size, *len - at - size);
            *len -= size;
            break;
        case 2: /* a piece twice */
            size = at + size > *len ? *len - at : size;
            if (*len + size > room)
                break;
            memmove(text + at + size, text + at, *len - at);
            *len += size;
            break;
        default: /* cut off */
            if (rng_below(rng, 10) == 0)
                *len = at;
            break;
        }
    }
}

/* Seeded, so that a failure can be repeated.  What is accepted must be accepted again in its
 * canonical form, with the same hash. */
static void check_mutant(const char *text, size_t len)
{
    struct arena arena = {0};
    struct definition definition, again;
    cairn_flaw errors[4];
    size_t count;
    cairn_error error;
    cairn_code code =
        definition_read(&arena, "f", text, len, &definition, errors, 4, &count, &error);
    if (code) {
        CHECK(count > 0 && errors[0].message[0], "a refusal has a reason: %s", error.message);
    } else {
        CHECK_OK(definition_read(&arena, "f", definition.content, strlen(definition.content),
                                 &again, NULL, 0, NULL, &error));
        CHECK_STR(again.hash, definition.hash);
        for (enum graph_form form = GRAPH_DOT; form <= GRAPH_TERMINAL; form++) {
            struct buf out = {0};
            CHECK_OK(definition_draw(&definition, form, &out, &error));
            buf_done(&out);
        }
    }
    arena_done(&arena);
}

TEST(mutated_examples_are_read_or_refused_and_never_more)
{
    static const char *const names[] = {"every-element.yaml", "any-of-two-services.yaml",
                                        "join-after-conditions.yaml"};
    struct rng rng;
    rng_init(&rng, 20260);
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        size_t len, room = 16 * 1024;
        char *text = read_example(names[i], &len);
        char *mutant = malloc(room);
        for (int round = 0; round < 1500; round++) {
            size_t mutant_len = len;
            memcpy(mutant, text, len);
            mutate(&rng, mutant, &mutant_len, room);
            check_mutant(mutant, mutant_len);
        }
        free(mutant);
        free(text);
    }
}

/* Every allocation in turn is the first to fail: the answer is out of memory, and the address
 * sanitizer sees that nothing is left behind. */
TEST(memory_that_runs_out_is_told_and_nothing_leaks)
{
    size_t len;
    char *text = read_example("every-element.yaml", &len);
    for (long after = 0;; after++) {
        CHECK(after < 10000, "does not end");
        struct arena arena = {0};
        struct definition definition;
        struct buf out = {0};
        cairn_error error;
        mem_fail_after(after);
        cairn_code code =
            definition_read(&arena, "f", text, len, &definition, NULL, 0, NULL, &error);
        for (enum graph_form form = GRAPH_DOT; !code && form <= GRAPH_TERMINAL; form++)
            code = definition_draw(&definition, form, &out, &error);
        struct step_config config;
        for (size_t i = 0; !code && i < definition.plan_count; i++)
            code = step_config_read(&arena, definition.plan[i].config, &config, &error);
        mem_fail_after(-1);
        buf_done(&out);
        arena_done(&arena);
        CHECK(code == CAIRN_OK || code == CAIRN_E_OUT_OF_MEMORY, "%s", error.message);
        if (!code)
            break;
    }
    free(text);
}

TEST(memory_that_runs_out_among_flaws_is_told)
{
    static const char text[] = "a: 1\nb: 2\nsteps: [{step: x, y: 1}, {fork: z}, [], {step: x}]";
    for (long after = 0;; after++) {
        struct arena arena = {0};
        struct definition definition;
        cairn_flaw errors[10];
        size_t count;
        cairn_error error;
        mem_fail_after(after);
        cairn_code code = definition_read(&arena, "f", text, strlen(text), &definition, errors,
                                          10, &count, &error);
        mem_fail_after(-1);
        arena_done(&arena);
        if (code == CAIRN_E_BAD_INPUT)
            break;
        CHECK_INT(code, CAIRN_E_OUT_OF_MEMORY);
    }
}
