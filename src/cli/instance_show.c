/* cli/instance_show.c - cairn show, cairn events.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "base/clock.h"
#include "base/mem.h"
#include "cli/call.h"
#include "cli/events.h"
#include "cli/ids.h"
#include "cli/print.h"
#include "cli/say.h"

#include <string.h>
#include <unistd.h>

struct showing {
    const struct args *args;
    cairn_engine *engine;
    int64_t now_us;
    size_t count; /* shown so far */
};

/* An instance and all of its steps: the document that -o json prints. */
struct state {
    struct answer instance;
    struct buf steps; /* a JSON array, as it came */
};

static void state_done(struct state *state)
{
    answer_done(&state->instance);
    buf_done(&state->steps);
}

static int read_steps(cairn_engine *engine, const char *id, struct buf *steps)
{
    char cursor[64] = "";
    buf_char(steps, '[');
    do {
        cleanup(buf_donep) struct buf target = {0};
        cleanup(answer_done) struct answer answer = {0};
        size_t len = 0;
        buf_str(&target, "/v1/instances/");
        target_path(&target, id);
        buf_str(&target, "/steps?limit=1000");
        target_add(&target, "cursor", *cursor ? cursor : NULL);
        int exit_code = call(engine, "GET", buf_text(&target), NULL, &answer);
        if (exit_code)
            return exit_code;
        const char *items = body_member(&answer, "items", &len);
        if (items && len > 2) {
            if (steps->len > 1)
                buf_char(steps, ',');
            buf_add(steps, items + 1, len - 2);
        }
        snprintf(cursor, sizeof cursor, "%s", text_of(answer.tree, "next"));
    } while (*cursor);
    buf_char(steps, ']');
    return EXIT_DONE;
}

static int read_state(cairn_engine *engine, const char *id, struct state *state)
{
    cleanup(buf_donep) struct buf target = {0};
    buf_str(&target, "/v1/instances/");
    target_path(&target, id);
    int exit_code = call(engine, "GET", buf_text(&target), NULL, &state->instance);
    return exit_code ? exit_code : read_steps(engine, id, &state->steps);
}

/* {the instance's members, "steps": [...]} */
static void print_state_json(const struct state *state)
{
    fwrite(state->instance.body, 1, state->instance.len - 1, stdout);
    printf(",\"steps\":%s}", buf_text(&state->steps));
}

/* ---- for eyes --------------------------------------------------------------------------- */

static void print_time(const json_t *object, const char *key, int64_t now_us)
{
    char text[BOTH_TEXT];
    int64_t at_us = time_of(object, key);
    if (!at_us)
        return;
    both_times(at_us, now_us, text);
    print_line(key, text);
}

static void print_json(const struct answer *answer, const char *key)
{
    size_t len = 0;
    const char *text = body_member(answer, key, &len);
    if (text && !(len == 4 && memcmp(text, "null", 4) == 0))
        print_field(key, text, len);
}

static void print_last_error(const json_t *error)
{
    cleanup(buf_donep) struct buf text = {0};
    if (!json_is_object(error))
        return;
    buf_printf(&text, "%s: %s (call %lld)", text_of(error, "step"), text_of(error, "message"),
               (long long)int_of(error, "attempt"));
    print_line("last_error", buf_text(&text));
}

static void print_instance(const struct answer *answer, int64_t now_us)
{
    static const char *const times[] = {"created_at", "start_at", "started_at", "finished_at"};
    const json_t *instance = answer->tree;
    char number[32];
    print_line("id", text_of(instance, "id"));
    print_line("workflow", text_of(instance, "workflow"));
    snprintf(number, sizeof number, "%lld", (long long)int_of(instance, "version"));
    print_line("version", number);
    print_line("status", text_of(instance, "status"));
    print_line("key", text_of(instance, "key"));
    snprintf(number, sizeof number, "%lld", (long long)int_of(instance, "generation"));
    print_line("generation", number);
    for (size_t i = 0; i < sizeof times / sizeof *times; i++)
        print_time(instance, times[i], now_us);
    print_last_error(json_object_get(instance, "last_error"));
    print_json(answer, "input");
    print_json(answer, "output");
}

/* "1.204s": how long a step took, or takes until now. */
static void took_text(const json_t *step, int64_t now_us, char text[32])
{
    int64_t from_us = time_of(step, "started_at"), to_us = time_of(step, "finished_at");
    bool is_running = strcmp(text_of(step, "status"), "running") == 0;
    if (!from_us || (!to_us && !is_running)) {
        snprintf(text, 32, "-");
        return;
    }
    int64_t ms = ((to_us ? to_us : now_us) - from_us) / US_PER_MS;
    snprintf(text, 32, "%lld.%03llds", (long long)(ms / 1000), (long long)(ms % 1000));
}

/* What a person would ask next: the error, what is waited for, when it goes on. */
static void note_text(const json_t *step, int64_t now_us, struct buf *text)
{
    char relative[RELATIVE_TEXT];
    int64_t next_us = time_of(step, "next_run_at"), deadline_us = time_of(step, "deadline_at");
    const char *event = text_of(step, "waiting_event"), *error = text_of(step, "error");
    bool is_waiting = strcmp(text_of(step, "status"), "waiting") == 0;
    if (is_waiting && *event)
        buf_printf(text, "for %s", event);
    if (is_waiting && deadline_us) {
        relative_time(deadline_us, now_us, relative);
        buf_printf(text, "%suntil %s", text->len ? ", " : "", relative);
    }
    if (strcmp(text_of(step, "status"), "ready") == 0 && next_us > now_us) {
        relative_time(next_us, now_us, relative);
        buf_printf(text, "again %s", relative);
    }
    if (*error)
        buf_printf(text, "%s%s", text->len ? "; " : "", error);
}

static void add_step(struct grid *grid, const json_t *step, int64_t now_us)
{
    char attempts[48], took[32];
    cleanup(buf_donep) struct buf note = {0};
    bool is_task = *text_of(step, "handler") != '\0';
    snprintf(attempts, sizeof attempts, "%lld/%lld", (long long)int_of(step, "attempts"),
             (long long)int_of(step, "max_attempts"));
    took_text(step, now_us, took);
    note_text(step, now_us, &note);
    const char *cells[] = {text_of(step, "name"),
                           text_of(step, "kind"),
                           text_of(step, "status"),
                           is_task ? attempts : "-",
                           took,
                           buf_text(&note)};
    grid_row(grid, cells, 6);
}

static void print_steps(const struct buf *text, int64_t now_us)
{
    static const char *const head[] = {"STEP", "KIND", "STATUS", "FAILED", "TOOK", "NOTE"};
    json_t *steps = json_loadb(buf_text(text), text->len, 0, NULL), *step;
    struct grid grid = {0};
    size_t i;
    grid_row(&grid, head, 6);
    json_array_foreach(steps, i, step) add_step(&grid, step, now_us);
    putchar('\n');
    grid_print(&grid);
    grid_done(&grid);
    json_decref(steps);
}

static void print_state(struct showing *showing, const struct state *state)
{
    cairn_clock_now(showing->engine, &showing->now_us, NULL);
    print_instance(&state->instance, showing->now_us);
    print_steps(&state->steps, showing->now_us);
}

/* ---- show ------------------------------------------------------------------------------- */

static int show_one(const char *id, void *arg)
{
    struct showing *showing = arg;
    cleanup(state_done) struct state state = {0};
    int exit_code = read_state(showing->engine, id, &state);
    if (exit_code)
        return exit_code;
    bool is_next = showing->count++ > 0;
    if (args_wants(showing->args, "json")) {
        fputs(is_next ? "," : "", stdout);
        print_state_json(&state);
    } else if (args_wants(showing->args, "ids")) {
        puts(text_of(state.instance.tree, "id"));
    } else {
        fputs(is_next ? "\n" : "", stdout);
        print_state(showing, &state);
    }
    return EXIT_DONE;
}

/* Whether it looks as it did; remembers how it looks. */
static bool is_same(struct buf *before, const struct state *state)
{
    cleanup(buf_donep) struct buf now = {0};
    buf_add(&now, state->instance.body, state->instance.len);
    buf_str(&now, buf_text(&state->steps));
    bool is_equal = strcmp(buf_text(before), buf_text(&now)) == 0;
    buf_reset(before);
    buf_add(before, buf_text(&now), now.len);
    return is_equal;
}

/* Shows it whenever it has changed, until it has ended.  JSON: one document on a line. */
static int follow(struct showing *showing, const char *id)
{
    cleanup(buf_donep) struct buf before = {0};
    bool is_json = args_wants(showing->args, "json");
    for (;;) {
        cleanup(state_done) struct state state = {0};
        int exit_code = read_state(showing->engine, id, &state);
        if (exit_code)
            return exit_code;
        if (!is_same(&before, &state)) {
            if (is_json)
                print_state_json(&state);
            else if (isatty(STDOUT_FILENO))
                fputs("\033[H\033[2J", stdout);
            else if (showing->count)
                putchar('\n');
            showing->count++;
            if (is_json)
                putchar('\n');
            else
                print_state(showing, &state);
            fflush(stdout);
        }
        if (status_is_final(text_of(state.instance.tree, "status")))
            return EXIT_DONE;
        pause_ms(500);
    }
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
    struct showing showing = {.args = args, .engine = engine};
    if (args_has(args, "follow"))
        return follow(&showing, args->operands[0]);
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
        "FAILED counts calls that ended in an error, of those that are allowed. With -o json "
        "one id gives the instance with its steps in \"steps\"; several, or \"-\", give "
        "{\"items\": [...], \"next\": null} with those that were found.",
    .example = "cairn show 0192f0c1-7d5e-7c3a-9a4e-2f6d8b1c3e5f\n"
               "cairn show 0192f0c1-7d5e-7c3a-9a4e-2f6d8b1c3e5f -o json > state.json",
    .options = show_options,
    .outputs = "table json ids",
    .has_url = true,
    .run = run_show,
};

/* ---- events ----------------------------------------------------------------------------- */

static int run_events(const struct args *args)
{
    return events_run(args, "/v1/instances/");
}

const struct command command_events = {
    .name = "events",
    .operands = "ID",
    .min_operands = 1,
    .max_operands = 1,
    .summary = "tell what happened to an instance, oldest first",
    .example = "cairn events 0192f0c1-7d5e-7c3a-9a4e-2f6d8b1c3e5f --follow",
    .options = events_options,
    .outputs = "table json ids",
    .has_url = true,
    .run = run_events,
};
