/* definition/builder.c - a workflow put together in code.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * The builder writes the JSON form of a workflow file as it goes.  A step's object stays open
 * until the next call, since cairn_builder_compensation() may still add to it.  Only the
 * structure is checked here (what may be begun and ended where); all else is found by reading the
 * finished text as a file is read.
 */
#include "base/clock.h"
#include "base/error.h"
#include "base/json.h"
#include "base/mem.h"
#include "definition/definition.h"
#include "definition/element.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* The kinds of lists that can be open. */
enum opened {
    OPEN_NONE,
    OPEN_THEN,
    OPEN_ELSE,
    OPEN_FORK, /* before its first branch */
    OPEN_BRANCH,
    OPEN_PARALLEL,
    OPEN_MAP,
};

struct cairn_builder {
    struct buf text;
    struct json_out out;
    enum opened open[NESTING_MAX];
    size_t depth;
    bool is_step_open; /* the latest element is a step whose object is not closed yet */
    bool is_dlq;
    struct buf input; /* the members of `input`; empty: none */
    bool is_finished;
    cairn_error error; /* the first; its code is 0 while there is none */
};

static void format_like(3, 4)
    remember(cairn_builder *builder, cairn_code code, const char *format, ...)
{
    char text[sizeof builder->error.message];
    if (builder->error.code)
        return;
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    fail(&builder->error, code, "%s", text);
}

cairn_builder *cairn_builder_new(const char *workflow, int32_t version)
{
    cairn_builder *builder = mem_zalloc(sizeof *builder);
    if (!builder)
        return NULL;
    builder->out.buf = &builder->text;
    json_open(&builder->out, '{');
    json_str(json_key(&builder->out, "workflow"), workflow);
    json_int(json_key(&builder->out, "version"), version);
    json_open(json_key(&builder->out, "steps"), '[');
    if (!workflow)
        remember(builder, CAIRN_E_BAD_INPUT, "the workflow needs a name");
    return builder;
}

void cairn_builder_free(cairn_builder *builder)
{
    if (!builder)
        return;
    buf_done(&builder->text);
    buf_done(&builder->input);
    mem_free(builder);
}

void cairn_builder_dlq(cairn_builder *builder, bool is_on)
{
    builder->is_dlq = is_on;
}

/* Adds a member whose value is JSON.  Whether it is right is found when the whole is read. */
static void add_input(cairn_builder *builder, struct json_out *out, const char *key,
                      const char *json)
{
    json_t *tree;
    cairn_error why;
    if (!json)
        return;
    if (json_read(json, strlen(json), key, &tree, &why)) {
        remember(builder, why.code, "input: %.160s", why.message);
        return;
    }
    json_decref(tree);
    json_raw(json_key(out, key), json);
}

void cairn_builder_input(cairn_builder *builder, const char *schema, const char *example)
{
    buf_reset(&builder->input);
    if (!schema && !example)
        return;
    struct json_out out = {.buf = &builder->input};
    json_open(&out, '{');
    add_input(builder, &out, "schema", schema);
    add_input(builder, &out, "example", example);
    json_close(&out, '}');
}

static void close_step(cairn_builder *builder)
{
    if (builder->is_step_open)
        json_close(&builder->out, '}');
    builder->is_step_open = false;
}

/* Whether the builder still accepts calls. */
static bool may_go_on(cairn_builder *builder)
{
    if (builder->is_finished)
        remember(builder, CAIRN_E_WRONG_STATE, "the workflow's text was already taken");
    return builder->error.code == CAIRN_OK;
}

/* The list that the next element would be added to. */
static enum opened innermost(const cairn_builder *builder)
{
    return builder->depth ? builder->open[builder->depth - 1] : OPEN_NONE;
}

/* Opens the object of an element.  A value that is not NULL becomes its second member.  False: an error
 * is remembered. */
static bool begin(cairn_builder *builder, enum element_kind kind, const char *name,
                  const char *key, const char *value)
{
    if (!may_go_on(builder))
        return false;
    char text[QUOTED_TEXT];
    const char *word = element_kind_name(kind);
    if (!name)
        remember(builder, CAIRN_E_BAD_INPUT, "a %s needs a name", word);
    else if (innermost(builder) == OPEN_FORK)
        remember(
            builder, CAIRN_E_BAD_INPUT,
            "%s %s: a fork's elements stand in branches; call cairn_builder_branch() first",
            word, quoted(text, name));
    if (builder->error.code)
        return false;
    close_step(builder);
    json_open(&builder->out, '{');
    json_str(json_key(&builder->out, word), name);
    if (value)
        json_str(json_key(&builder->out, key), value);
    return true;
}

/* Copies the members of a JSON object into the open one. */
static void add_options(cairn_builder *builder, const char *name, const char *options)
{
    char text[QUOTED_TEXT];
    json_t *tree;
    if (!options)
        return;
    quoted(text, name);
    cairn_error why;
    if (json_read(options, strlen(options), "options", &tree, &why)) {
        remember(builder, why.code, "%s: %.160s", text, why.message);
        return;
    }
    if (!json_is_object(tree))
        remember(builder, CAIRN_E_BAD_INPUT, "%s: options must be a JSON object", text);
    else if (json_object_size(tree) > 0) {
        const char *inside = strchr(options, '{') + 1, *end = strrchr(options, '}');
        buf_char(builder->out.buf, ',');
        buf_add(builder->out.buf, inside, (size_t)(end - inside));
    }
    json_decref(tree);
}

void cairn_builder_step(cairn_builder *builder, const char *name, const char *handler,
                        const char *options)
{
    if (!begin(builder, ELEMENT_STEP, name, "handler", handler))
        return;
    add_options(builder, name, options);
    builder->is_step_open = true;
}

void cairn_builder_start(cairn_builder *builder, const char *name, const char *workflow,
                         const char *options)
{
    if (!begin(builder, ELEMENT_START, name, "workflow", workflow))
        return;
    add_options(builder, name, options);
    builder->is_step_open = true;
}

void cairn_builder_compensation(cairn_builder *builder, const char *handler,
                                const char *options)
{
    if (!may_go_on(builder))
        return;
    if (!builder->is_step_open || !handler) {
        remember(builder, CAIRN_E_BAD_INPUT, "%s",
                 handler ? "a compensation must follow its step"
                         : "a compensation needs a handler");
        return;
    }
    json_open(json_key(&builder->out, "compensation"), '{');
    json_str(json_key(&builder->out, "handler"), handler);
    add_options(builder, handler, options);
    json_close(&builder->out, '}');
}

/* Adds an element whose object is closed at once. */
static void add_whole(cairn_builder *builder, enum element_kind kind, const char *name,
                      const char *key, const char *value, const char *options)
{
    if (!begin(builder, kind, name, key, value))
        return;
    add_options(builder, name, options);
    json_close(&builder->out, '}');
}

void cairn_builder_sleep(cairn_builder *builder, const char *name, int64_t for_ms)
{
    char text[DURATION_TEXT];
    snprintf(text, sizeof text, "%" PRId64 "ms", for_ms);
    add_whole(builder, ELEMENT_SLEEP, name, "for", text, NULL);
}

void cairn_builder_wait(cairn_builder *builder, const char *name, const char *event,
                        const char *options)
{
    add_whole(builder, ELEMENT_WAIT, name, "event", event, options);
}

void cairn_builder_save_point(cairn_builder *builder, const char *name)
{
    add_whole(builder, ELEMENT_SAVE_POINT, name, NULL, NULL, NULL);
}

void cairn_builder_human(cairn_builder *builder, const char *name, const char *options)
{
    add_whole(builder, ELEMENT_HUMAN, name, NULL, NULL, options);
}

/* Opens a list in the open object. */
static void open_list(cairn_builder *builder, enum opened what, const char *key)
{
    if (builder->depth == NESTING_MAX) {
        remember(builder, CAIRN_E_TOO_LARGE,
                 "conditions, forks and parallels are nested more than %d deep", NESTING_MAX);
        return;
    }
    builder->open[builder->depth++] = what;
    json_open(json_key(&builder->out, key), '[');
}

void cairn_builder_condition(cairn_builder *builder, const char *name, const char *when)
{
    if (!begin(builder, ELEMENT_CONDITION, name, NULL, NULL))
        return;
    json_str(json_key(&builder->out, "when"), when);
    open_list(builder, OPEN_THEN, "then");
}

void cairn_builder_else(cairn_builder *builder)
{
    if (!may_go_on(builder))
        return;
    if (innermost(builder) != OPEN_THEN) {
        remember(builder, CAIRN_E_BAD_INPUT, "else without a condition");
        return;
    }
    close_step(builder);
    json_close(&builder->out, ']');
    json_open(json_key(&builder->out, "else"), '[');
    builder->open[builder->depth - 1] = OPEN_ELSE;
}

void cairn_builder_fork(cairn_builder *builder, const char *name, const char *join)
{
    if (begin(builder, ELEMENT_FORK, name, "join", join))
        open_list(builder, OPEN_FORK, "branches");
}

void cairn_builder_branch(cairn_builder *builder)
{
    if (!may_go_on(builder))
        return;
    enum opened in = innermost(builder);
    if (in != OPEN_FORK && in != OPEN_BRANCH) {
        remember(builder, CAIRN_E_BAD_INPUT, "branch without a fork");
        return;
    }
    close_step(builder);
    if (in == OPEN_BRANCH)
        json_close(&builder->out, ']');
    json_open(&builder->out, '[');
    builder->open[builder->depth - 1] = OPEN_BRANCH;
}

void cairn_builder_parallel(cairn_builder *builder, const char *name)
{
    if (begin(builder, ELEMENT_PARALLEL, name, NULL, NULL))
        open_list(builder, OPEN_PARALLEL, "steps");
}

void cairn_builder_map(cairn_builder *builder, const char *name, const char *over,
                       const char *options)
{
    if (!begin(builder, ELEMENT_MAP, name, "over", over))
        return;
    add_options(builder, name, options);
    open_list(builder, OPEN_MAP, "steps");
}

void cairn_builder_end(cairn_builder *builder)
{
    if (!may_go_on(builder))
        return;
    if (builder->depth == 0) {
        remember(builder, CAIRN_E_BAD_INPUT,
                 "end without a condition, fork or parallel that is open");
        return;
    }
    close_step(builder);
    if (builder->open[--builder->depth] == OPEN_BRANCH)
        json_close(&builder->out, ']');
    json_close(&builder->out, ']');
    json_close(&builder->out, '}');
}

/* Closes the text.  Errors are told by what they concern; lines of a generated text
 * would say nothing. */
static void finish(cairn_builder *builder)
{
    if (builder->depth > 0) {
        remember(builder, CAIRN_E_BAD_INPUT, "%zu of condition, fork and parallel have no end",
                 builder->depth);
        return;
    }
    close_step(builder);
    json_close(&builder->out, ']');
    if (builder->is_dlq)
        json_bool(json_key(&builder->out, "dlq"), true);
    if (builder->input.len)
        json_raw(json_key(&builder->out, "input"), buf_text(&builder->input));
    json_close(&builder->out, '}');
    if (buf_failed(&builder->text) || buf_failed(&builder->input)) {
        remember(builder, CAIRN_E_OUT_OF_MEMORY, "memory ran out");
        return;
    }
    cleanup(arena_done) struct arena arena = {0};
    struct definition definition;
    cairn_flaw flaw;
    size_t count;
    cairn_error why;
    cairn_code code = definition_read(&arena, "builder", builder->text.text, builder->text.len,
                                      &definition, &flaw, 1, &count, &why);
    if (code)
        remember(builder, code, "%s", count ? flaw.message : why.message);
}

cairn_code cairn_builder_text(cairn_builder *builder, const char **ret_text,
                              cairn_error *reterr)
{
    if (!builder->is_finished && !builder->error.code)
        finish(builder);
    builder->is_finished = true;
    if (builder->error.code)
        return fail(reterr, builder->error.code, "%s", builder->error.message);
    *ret_text = builder->text.text;
    return CAIRN_OK;
}
