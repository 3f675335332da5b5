/* cli/show_follow.c - an instance, drawn again whenever it has changed, until it has ended.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * On a terminal the picture is redrawn in place: the cursor goes up to its first line, every line
 * is overwritten and its rest wiped, all in one write, so that nothing flickers.  Lines never wrap,
 * which would spoil the count of lines.  A picture that is too high is cut around the active step.
 * Elsewhere a line is printed for every step that has changed.
 */
#include "base/clock.h"
#include "base/mem.h"
#include "cli/say.h"
#include "cli/show.h"

#include <string.h>

enum { LOOK_MS = 1000, ROWS_MIN = 6 };

struct following {
    struct show_source *source;
    const char *id;
    struct screen screen;
    struct picture before; /* the picture on the terminal, before it is cut */
    size_t lines;          /* of it on the screen */
    json_t *steps;         /* as they were */
    char status[32];       /* of the instance, as it was */
    struct buf text;       /* JSON as it was */
};

static void following_done(struct following *following)
{
    buf_done(&following->before.text);
    buf_done(&following->text);
    json_decref(following->steps);
}

static const char *skip_lines(const char *text, size_t count)
{
    for (; count > 0 && *text; count--)
        text += strcspn(text, "\n") + 1;
    return text;
}

static void add_lines(struct buf *out, const char *text, size_t count)
{
    for (; count > 0 && *text; count--) {
        size_t len = strcspn(text, "\n");
        buf_add(out, text, len);
        buf_str(out, "\033[K\n");
        text += len + 1;
    }
}

static size_t add_hidden(struct buf *out, size_t count, const char *where)
{
    if (count)
        buf_printf(out, "... %zu lines %s\033[K\n", count, where);
    return count > 0;
}

/* Adds as many lines as there is room for, with the active step among them; answers how many. */
static size_t add_window(struct buf *out, const struct picture *picture, size_t rows)
{
    if (rows < ROWS_MIN || picture->lines < rows) {
        add_lines(out, buf_text(&picture->text), picture->lines);
        return picture->lines;
    }
    size_t room = rows - 3; /* one for the cursor, two for the counts of hidden lines */
    size_t middle = picture->active == SIZE_MAX ? 0 : picture->active;
    size_t first = middle > room / 2 ? middle - room / 2 : 0;
    if (first + room > picture->lines)
        first = picture->lines - room;
    size_t above = add_hidden(out, first, "above");
    add_lines(out, skip_lines(buf_text(&picture->text), first), room);
    return above + room + add_hidden(out, picture->lines - first - room, "below");
}

/* Moves to the first line of the picture; if the screen was resized, clears it. */
static void add_start(struct following *following, struct buf *out, bool is_resized)
{
    buf_str(out, "\033[?2026h\033[?7l"); /* shown at once, where that is known; no wrapping */
    if (is_resized)
        buf_str(out, "\033[H\033[2J");
    else if (following->lines)
        buf_printf(out, "\r\033[%zuA", following->lines);
}

static void redraw(struct following *following, struct picture *picture, bool is_resized,
                   bool is_last)
{
    cleanup(buf_donep) struct buf out = {0};
    add_start(following, &out, is_resized);
    following->lines = add_window(&out, picture, is_last ? 0 : following->screen.rows);
    buf_str(&out, "\033[J\033[?7h\033[?2026l");
    fwrite(buf_text(&out), 1, out.len, stdout);
    fflush(stdout);
}

static int follow_in_place(struct following *following, const struct show_state *state)
{
    struct picture picture = {0};
    bool is_last = show_is_ended(state);
    struct screen was = following->screen;
    screen_look(&following->screen);
    bool is_resized =
        was.columns != following->screen.columns || was.rows != following->screen.rows;
    if (!show_draw(state, &following->screen, &picture)) {
        buf_done(&picture.text);
        return say_undrawn();
    }
    bool is_same = strcmp(buf_text(&picture.text), buf_text(&following->before.text)) == 0;
    if (is_last || is_resized || !is_same)
        redraw(following, &picture, is_resized, is_last);
    buf_done(&following->before.text);
    following->before = picture;
    return EXIT_DONE;
}

static bool is_changed(const json_t *before, const json_t *step)
{
    static const char *const keys[] = {"status", "attempts",      "compensation_attempts",
                                       "error",  "waiting_event", "locked_by"};
    if (!before)
        return strcmp(text_of(step, "status"), "pending") != 0;
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
        if (!json_equal(json_object_get(before, keys[i]), json_object_get(step, keys[i])))
            return true;
    return false;
}

static void print_change(const struct show_state *state, const char *name, const char *status,
                         const char *note, const char *error)
{
    char at[INSTANT_TEXT];
    cleanup(buf_donep) struct buf line = {0}, clean = {0};
    instant_format(state->now_us, at);
    buf_printf(&line, "%s  %s  %s%s%s%s%s", at, name, status, *note ? "  " : "", note,
               *error ? "  " : "", error);
    buf_clean(&clean, buf_text(&line), line.len);
    puts(buf_text(&clean));
}

static void print_step(const struct show_state *state, const struct show_node *node)
{
    cleanup(buf_donep) struct buf note = {0};
    shown_note(state, node, &note);
    print_change(state, text_of(node->step, "name"), text_of(node->step, "status"),
                 buf_text(&note), text_of(node->step, "error"));
}

/* The step of this place.  Places rise; only those that a function has forgotten are skipped,
 * so that it is at that index or before it. */
static const json_t *step_at(const json_t *steps, int64_t place)
{
    size_t count = json_array_size(steps);
    size_t at = (size_t)place < count ? (size_t)place + 1 : count;
    while (at > 0 && int_of(json_array_get(steps, at - 1), "seq") > place)
        at--;
    const json_t *step = at ? json_array_get(steps, at - 1) : NULL;
    return int_of(step, "seq") == place ? step : NULL;
}

/* In the order of the file, which is that of their places. */
static void print_changed(const struct following *following, const struct show_state *state,
                          const struct show_node *list)
{
    for (const struct show_node *node = list->first; node; node = node->next) {
        int64_t place = int_of(node->step, "seq");
        if (node->step && is_changed(step_at(following->steps, place), node->step))
            print_step(state, node);
        print_changed(following, state, node);
    }
}

static int follow_lines(struct following *following, struct show_state *state)
{
    cleanup(arena_done) struct arena arena = {0};
    const struct show_node *root = show_plan(&arena, state->steps, state->contents);
    if (!root)
        return say_undrawn();
    print_changed(following, state, root);
    if (strcmp(following->status, show_status(state)) != 0)
        print_change(state, following->id, show_status(state), "", "");
    snprintf(following->status, sizeof following->status, "%s", show_status(state));
    json_decref(following->steps);
    following->steps = json_incref(state->steps);
    fflush(stdout);
    return EXIT_DONE;
}

static int follow_json(struct following *following, const struct show_state *state)
{
    cleanup(buf_donep) struct buf now = {0};
    buf_add(&now, state->instance.body, state->instance.len);
    buf_str(&now, buf_text(&state->steps_text));
    if (strcmp(buf_text(&following->text), buf_text(&now)) == 0)
        return EXIT_DONE;
    buf_reset(&following->text);
    buf_add(&following->text, buf_text(&now), now.len);
    show_print_json(state);
    putchar('\n');
    fflush(stdout);
    return EXIT_DONE;
}

static int look_once(struct following *following, bool is_json, bool *ret_ended)
{
    cleanup(show_state_done) struct show_state state = {0};
    TRY(show_state_read(following->source, following->id, &state));
    *ret_ended = show_is_ended(&state);
    if (!is_json)
        show_state_complete(following->source, &state);
    int exit_code = is_json                         ? follow_json(following, &state)
                    : following->screen.is_terminal ? follow_in_place(following, &state)
                                                    : follow_lines(following, &state);
    if (exit_code || !*ret_ended)
        return exit_code;
    return strcmp(show_status(&state), "completed") == 0 ? EXIT_DONE : EXIT_NO;
}

int show_follow(struct show_source *source, const char *id, bool is_json)
{
    cleanup(following_done) struct following following = {.source = source, .id = id};
    screen_look(&following.screen);
    for (bool is_ended = false;;) {
        int exit_code = look_once(&following, is_json, &is_ended);
        if (exit_code || is_ended)
            return exit_code;
        pause_ms(LOOK_MS);
    }
}
