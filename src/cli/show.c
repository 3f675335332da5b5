/* cli/show.c - cairn show: an instance as it is now, with all that its drawing needs.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "cli/show.h"

#include "base/mem.h"
#include "cli/input.h"
#include "cli/say.h"

#include <string.h>

enum { DLQ_LOOK = 100 }; /* at most this many of the newest records are read */

const char *show_status(const struct show_state *state)
{
    return text_of(state->instance.tree, "status");
}

bool show_is_ended(const struct show_state *state)
{
    return status_is_final(show_status(state));
}

void show_state_done(struct show_state *state)
{
    answer_done(&state->instance);
    buf_done(&state->steps_text);
    buf_done(&state->decisions_text);
    json_decref(state->steps);
    json_decref(state->dlq);
    json_decref(state->children);
}

void show_source_done(struct show_source *source)
{
    json_decref(source->contents);
    mem_free(source->workflow);
}

/* All items of a list that belongs to the instance, as a JSON array. */
static int read_list(cairn_engine *engine, const char *path, const char *id, struct buf *all)
{
    char cursor[64] = "";
    buf_char(all, '[');
    do {
        cleanup(buf_donep) struct buf target = {0};
        cleanup(answer_done) struct answer answer = {0};
        size_t len = 0;
        target_path(&target, path, id, NULL);
        buf_param(&target, "limit", "1000");
        buf_param(&target, "cursor", *cursor ? cursor : NULL);
        TRY(call(engine, "GET", buf_text(&target), NULL, &answer));
        const char *items = body_member(&answer, "items", &len);
        if (items && len > 2) {
            if (all->len > 1)
                buf_char(all, ',');
            buf_add(all, items + 1, len - 2);
        }
        snprintf(cursor, sizeof cursor, "%s", text_of(answer.tree, "next"));
    } while (*cursor);
    buf_char(all, ']');
    return EXIT_DONE;
}

/* Only human steps have any. */
static int read_decisions(struct show_source *source, const char *id, struct show_state *state)
{
    if (strstr(buf_text(&state->steps_text), "\"kind\":\"human\""))
        return read_list(source->engine, "/v1/instances/{}/decisions", id,
                         &state->decisions_text);
    buf_str(&state->decisions_text, "[]");
    return EXIT_DONE;
}

int say_undrawn(void)
{
    say_error("could not draw the instance: out of memory");
    return EXIT_STORE;
}

int show_state_read(struct show_source *source, const char *id, struct show_state *state)
{
    cleanup(buf_donep) struct buf target = {0};
    target_path(&target, "/v1/instances/{}", id, NULL);
    int exit_code = call(source->engine, "GET", buf_text(&target), NULL, &state->instance);
    if (!exit_code)
        exit_code = read_list(source->engine, "/v1/instances/{}/steps", id, &state->steps_text);
    return exit_code ? exit_code : read_decisions(source, id, state);
}

/* {the instance's members, "steps": [...], "decisions": [...]} */
void show_print_json(const struct show_state *state)
{
    fwrite(state->instance.body, 1, state->instance.len - 1, stdout);
    printf(",\"steps\":%s,\"decisions\":%s}", buf_text(&state->steps_text),
           buf_text(&state->decisions_text));
}

static bool is_known(const struct show_source *source, const char *workflow, int64_t version)
{
    return source->workflow && source->version == version &&
           strcmp(source->workflow, workflow) == 0;
}

/* A version never changes, so it is read once.  One that is gone is no failure. */
static const json_t *read_contents(struct show_source *source, const char *workflow,
                                   int64_t version)
{
    cairn_page *found = NULL;
    if (is_known(source, workflow, version))
        return source->contents;
    show_source_done(source);
    source->contents = NULL;
    source->version = version;
    source->workflow = mem_strdup(workflow);
    if (cairn_workflow_get(source->engine, workflow, (int32_t)version, &found, NULL))
        return NULL;
    source->contents = json_loads(cairn_page_workflow(found, 0)->content, 0, NULL);
    cairn_page_free(found);
    return source->contents;
}

/* Whether one of the steps may have a record. */
static bool may_be_parked(const json_t *steps)
{
    size_t i;
    json_t *step;
    json_array_foreach(steps, i, step)
    {
        if (word_in("paused failed", text_of(step, "status")))
            return true;
    }
    return false;
}

static void keep_record(json_t *dlq, const cairn_dlq_record *record)
{
    bool is_undo = record->reason && strncmp(record->reason, "compensation", 12) == 0;
    json_object_set_new(dlq, record->step_id,
                        json_pack("{s:s, s:b}", "id", record->id, "is_undo", is_undo ? 1 : 0));
}

static json_t *read_dlq(cairn_engine *engine, const char *id)
{
    json_t *dlq = json_object();
    cairn_page *page = NULL;
    if (!dlq || cairn_dlq_list(engine, NULL, DLQ_LOOK, &page, NULL))
        return dlq;
    for (size_t i = 0; i < cairn_page_count(page); i++) {
        const cairn_dlq_record *record = cairn_page_dlq_record(page, i);
        if (strcmp(record->instance_id, id) == 0)
            keep_record(dlq, record);
    }
    cairn_page_free(page);
    return dlq;
}

void show_state_complete(struct show_source *source, struct show_state *state)
{
    const json_t *instance = state->instance.tree;
    cairn_clock_now(source->engine, &state->now_us, NULL);
    state->steps = json_tree(buf_text(&state->steps_text), state->steps_text.len);
    state->contents =
        read_contents(source, text_of(instance, "workflow"), int_of(instance, "version"));
    if (may_be_parked(state->steps))
        state->dlq = read_dlq(source->engine, text_of(instance, "id"));
    show_children_read(source->engine, state);
}

struct showing {
    const struct args *args;
    struct show_source *source;
    struct screen screen;
    size_t count; /* shown so far */
};

/* approval: confirmed by ann, 2026-11-15T07:10:47.589Z: looks fine */
static void print_decisions(const struct show_state *state)
{
    json_t *decisions = json_tree(buf_text(&state->decisions_text), state->decisions_text.len),
           *decision;
    size_t i;
    json_array_foreach(decisions, i, decision)
    {
        const char *comment = text_of(decision, "comment");
        printf("%s: %s by %s, %s%s%s\n", text_of(decision, "step"),
               text_of(decision, "decision"), text_of(decision, "by"), text_of(decision, "at"),
               *comment ? ": " : "", comment);
    }
    json_decref(decisions);
}

static int print_picture(struct showing *showing, struct show_state *state)
{
    struct picture picture = {0};
    show_state_complete(showing->source, state);
    bool is_drawn = show_draw(state, &showing->screen, &picture);
    fwrite(buf_text(&picture.text), 1, picture.text.len, stdout);
    buf_done(&picture.text);
    print_decisions(state);
    return is_drawn ? EXIT_DONE : say_undrawn();
}

static int show_one(const char *id, void *arg)
{
    struct showing *showing = arg;
    cleanup(show_state_done) struct show_state state = {0};
    TRY(show_state_read(showing->source, id, &state));
    int exit_code = EXIT_DONE;
    bool is_next = showing->count++ > 0;
    if (args_wants(showing->args, "json")) {
        fputs(is_next ? "," : "", stdout);
        show_print_json(&state);
    } else if (args_wants(showing->args, "ids")) {
        puts(text_of(state.instance.tree, "id"));
    } else {
        fputs(is_next ? "\n" : "", stdout);
        exit_code = print_picture(showing, &state);
    }
    return exit_code;
}

int run_show(const struct args *args)
{
    bool is_json = args_wants(args, "json"), is_many = ids_are_many(args);
    if (args_has(args, "follow") && is_many) {
        say_error("--follow takes one id");
        return EXIT_USAGE;
    }
    cleanup(store_closep) cairn_engine *engine = NULL;
    TRY(store_open_for(args, &engine));
    cleanup(show_source_done) struct show_source source = {.engine = engine};
    struct showing showing = {.args = args, .source = &source};
    if (args_has(args, "follow"))
        return show_follow(&source, args->operands[0], is_json);
    screen_look(&showing.screen);
    fputs(is_json && is_many ? "{\"items\":[" : "", stdout);
    int exit_code = ids_each(args, show_one, &showing);
    fputs(is_json && is_many ? "],\"next\":null}" : "", stdout);
    fputs(is_json && (is_many || showing.count) ? "\n" : "", stdout);
    return exit_code;
}
