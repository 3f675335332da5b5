/* cli/instance_show.c - cairn show, cairn events.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "base/mem.h"
#include "cli/events.h"
#include "cli/ids.h"
#include "cli/say.h"
#include "cli/show.h"

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

/* ---- show ------------------------------------------------------------------------------- */

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

static int run_show(const struct args *args)
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

static const struct option show_options[] = {
    {.name = "follow",
     .letter = 'f',
     .kind = OPTION_FLAG,
     .help = "show it again whenever it has changed, until it has ended"},
    {0},
};

const struct command command_show = {
    .name = "show",
    .operands = "ID...",
    .min_operands = 1,
    .max_operands = -1,
    .summary = "show instances and their steps",
    .about =
        "Steps are drawn as the workflow nests them, with their states, how long they took, "
        "how often they were called of how often they may be, and errors. Of very many "
        "branches "
        "only some are drawn. Of a function, what it remembers is drawn below it, in order.\n\n"
        "--follow draws in place on a terminal; elsewhere it prints a line for every step that "
        "has changed. It ends with the instance: exit code 0 if it completed, else 1.\n\n"
        "Below stands what was decided about human steps, and by whom.\n\n"
        "With -o json one id gives the instance with its steps in \"steps\" and what was "
        "decided "
        "in \"decisions\"; several, or "
        "\"-\", "
        "give {\"items\": [...], \"next\": null} with those that were found.",
    .example = "cairn show 0192f0c1-7d5e-7c3a-9a4e-2f6d8b1c3e5f --follow\n"
               "cairn show 0192f0c1-7d5e-7c3a-9a4e-2f6d8b1c3e5f -o json > state.json",
    .options = show_options,
    .outputs = "table json ids",
    .has_url = true,
    .run = run_show,
};

/* ---- events ----------------------------------------------------------------------------- */

static int run_events(const struct args *args)
{
    return feed_run(args, &instance_events);
}

const struct command command_events = {
    .name = "events",
    .operands = "ID",
    .min_operands = 1,
    .max_operands = 1,
    .summary = "tell what happened to an instance, oldest first",
    .example = "cairn events 0192f0c1-7d5e-7c3a-9a4e-2f6d8b1c3e5f --follow",
    .options = feed_options,
    .outputs = "table json ids",
    .has_url = true,
    .run = run_events,
};
