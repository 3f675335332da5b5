/* cli/show_draw.c - draws an instance: the head, then its steps as a tree.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 *     ✓ reserve                   completed  412ms
 *     ✓ in_stock (condition)      completed         {{ gt .count 0 }}
 *     ├─ then
 *     │  └─ ● pick                running    1.2s   1/3 failed, by shop:4711:8f3a0c11
 *     └─ else, not taken
 *        └─ – restock             skipped
 *     ○ close                     pending
 */
#include "base/mem.h"
#include "cli/cells.h"
#include "cli/show.h"

#include <inttypes.h>
#include <string.h>

enum { HEAD_COLUMN = 13, NAME_COLUMNS_MAX = 44, TREE_COLUMNS = 3, GAP = 2 };

struct drawing {
    const struct show_state *state;
    const struct screen *screen;
    struct pen pen;
    struct buf prefix;                  /* before each line of the list */
    size_t status_at, took_at, note_at; /* columns */
};

/* ---- head -------------------------------------------------------------------------------- */

static void head_line(struct pen *pen, const char *name, const char *value)
{
    if (!*value)
        return;
    pen_text(pen, "", name);
    pen_pad(pen, HEAD_COLUMN);
    pen_cut(pen, colour_of(value), value);
    pen_end(pen);
}

static void draw_head(struct drawing *drawing)
{
    const struct show_state *state = drawing->state;
    struct item item = {state->instance.tree, &state->instance, state->now_us};
    for (const struct column *column = columns_instance; column->head; column++) {
        cleanup(buf_donep) struct buf text = {0};
        write_cell(column, &item, &text);
        head_line(&drawing->pen, column->head, buf_text(&text));
    }
    pen_end(&drawing->pen);
}

/* ---- columns ----------------------------------------------------------------------------- */

static void widen(size_t *width, size_t columns)
{
    if (*width < columns)
        *width = columns;
}

static size_t symbol_columns(const struct screen *screen)
{
    return screen->is_utf8 ? 2 : 0;
}

/* How wide names, states and durations are; _at hold widths until they are added up. */
static void measure(struct drawing *drawing, const struct show_node *list, size_t indent)
{
    for (const struct show_node *node = list->first; node; node = node->next) {
        if (node->is_hidden)
            continue;
        measure(drawing, node, indent + TREE_COLUMNS);
        if (!node->step)
            continue;
        cleanup(buf_donep) struct buf name = {0};
        cleanup(buf_donep) struct buf took = {0};
        shown_name(node, &name);
        shown_took(drawing->state, node->step, &took);
        widen(&drawing->status_at, indent + symbol_columns(drawing->screen) +
                                       text_columns(drawing->screen, buf_text(&name)));
        widen(&drawing->took_at, strlen(shown_status(drawing->state, node)));
        widen(&drawing->note_at, took.len);
    }
}

static void set_columns(struct drawing *drawing, const struct show_node *root)
{
    measure(drawing, root, 0);
    if (drawing->status_at > NAME_COLUMNS_MAX)
        drawing->status_at = NAME_COLUMNS_MAX;
    drawing->status_at += GAP;
    drawing->took_at += drawing->status_at + GAP;
    drawing->note_at += drawing->took_at + (drawing->note_at ? GAP : 0);
}

/* ---- tree -------------------------------------------------------------------------------- */

/* A part of the tree, in ASCII if the terminal does not use UTF-8. */
static const char *bar(const struct drawing *drawing, const char *utf8, const char *ascii)
{
    return drawing->screen->is_utf8 ? utf8 : ascii;
}

/* Moves to a column, with at least one blank before it. */
static void go_to(struct pen *pen, size_t column)
{
    if (pen->column && pen->column >= column)
        column = pen->column + 1;
    pen_pad(pen, column);
}

/* A further line about the step above. */
static void draw_more(struct drawing *drawing, const struct show_node *node, bool is_dim,
                      const char *colour, const char *text)
{
    struct pen *pen = &drawing->pen;
    pen->is_dim = is_dim;
    pen_text(pen, COLOUR_DIM, buf_text(&drawing->prefix));
    pen_text(pen, COLOUR_DIM, node->first ? bar(drawing, "│ ", "| ") : "  ");
    pen_cut(pen, colour, text);
    pen_end(pen);
}

/* Why a step was skipped is no alarm. */
static const char *error_colour(const json_t *step)
{
    return is_word(step, "status", "skipped") ? COLOUR_DIM : "\033[31m";
}

static const char *shown_error(const struct show_state *state, const json_t *step)
{
    return step_is_function(step) ? function_error(state, step) : text_of(step, "error");
}

/* Adds to the line what fits on it; false: it needs a line of its own. */
static bool draw_behind(struct drawing *drawing, const char *colour, const char *text)
{
    struct pen *pen = &drawing->pen;
    size_t at = pen->column + GAP > drawing->note_at ? pen->column + GAP : drawing->note_at;
    if (!*text)
        return true;
    if (at + text_columns(drawing->screen, text) > drawing->screen->columns)
        return false;
    pen_pad(pen, at);
    pen_text(pen, colour, text);
    return true;
}

static void note_active(struct drawing *drawing, const char *status)
{
    struct picture *picture = drawing->pen.picture;
    if (picture->active == SIZE_MAX &&
        word_in("running compensation ready waiting waiting_decision", status))
        picture->active = picture->lines;
}

/* Symbol, name, status, duration. */
static void draw_start(struct drawing *drawing, const struct show_node *node)
{
    cleanup(buf_donep) struct buf name = {0}, took = {0};
    struct pen *pen = &drawing->pen;
    const char *status = shown_status(drawing->state, node);
    const struct look *look = look_at(look_urgency(status));
    shown_name(node, &name);
    shown_took(drawing->state, node->step, &took);
    if (!node->has_branches && !step_is_function(node->step))
        note_active(drawing, status);
    if (drawing->screen->is_utf8) {
        pen_text(pen, look->colour, look->symbol);
        pen_text(pen, "", " ");
    }
    pen_cut(pen, strcmp(status, "pending") ? "" : COLOUR_DIM, buf_text(&name));
    go_to(pen, drawing->status_at);
    pen_cut(pen, look->colour, status);
    if (took.len) {
        go_to(pen, drawing->took_at);
        pen_cut(pen, "", buf_text(&took));
    }
}

/* Beside the reason why the step failed, which it keeps. */
static void draw_undo_error(struct drawing *drawing, const struct show_node *node, bool is_dim,
                            const char *colour)
{
    cleanup(buf_donep) struct buf text = {0};
    const char *error = text_of(node->step, "undo_error");
    if (!*error)
        return;
    buf_printf(&text, "undo: %s", error);
    draw_more(drawing, node, is_dim, colour, buf_text(&text));
}

static void draw_step(struct drawing *drawing, const struct show_node *node, bool is_dim)
{
    cleanup(buf_donep) struct buf note = {0}, hint = {0};
    const char *error = shown_error(drawing->state, node->step);
    const char *colour = error_colour(node->step);
    shown_note(drawing->state, node, &note);
    shown_hint(drawing->state, node, &hint);
    draw_start(drawing, node);
    bool is_noted = draw_behind(drawing, COLOUR_DIM, buf_text(&note));
    bool is_told = is_noted && draw_behind(drawing, colour, error);
    pen_end(&drawing->pen);
    if (!is_noted)
        draw_more(drawing, node, is_dim, COLOUR_DIM, buf_text(&note));
    if (!is_told && *error)
        draw_more(drawing, node, is_dim, colour, error);
    draw_undo_error(drawing, node, is_dim, colour);
    if (hint.len)
        draw_more(drawing, node, is_dim, "\033[33m", buf_text(&hint));
}

static void draw_label(struct drawing *drawing, const struct show_node *node)
{
    struct pen *pen = &drawing->pen;
    if (!node->first)
        pen_text(pen, COLOUR_DIM, bar(drawing, "… ", "... "));
    pen_cut(pen, COLOUR_DIM, node->label);
    if (node->is_untaken)
        pen_cut(pen, COLOUR_DIM, ", not taken");
    pen_end(pen);
}

static void draw_list(struct drawing *drawing, const struct show_node *list, bool is_dim,
                      bool is_top);

static bool is_last(const struct show_node *node)
{
    for (node = node->next; node; node = node->next)
        if (!node->is_hidden)
            return false;
    return true;
}

static void draw_node(struct drawing *drawing, const struct show_node *node, bool is_dim,
                      bool is_top)
{
    struct buf *prefix = &drawing->prefix;
    size_t len = prefix->len;
    drawing->pen.is_dim = is_dim;
    if (!is_top) {
        pen_text(&drawing->pen, COLOUR_DIM, buf_text(prefix));
        pen_text(&drawing->pen, COLOUR_DIM,
                 is_last(node) ? bar(drawing, "└─ ", "`- ") : bar(drawing, "├─ ", "|- "));
        buf_str(prefix, is_last(node) ? "   " : bar(drawing, "│  ", "|  "));
    }
    if (node->step)
        draw_step(drawing, node, is_dim);
    else
        draw_label(drawing, node);
    draw_list(drawing, node, is_dim || node->is_untaken, false);
    if (prefix->text) {
        prefix->len = len;
        prefix->text[len] = '\0';
    }
}

static void draw_list(struct drawing *drawing, const struct show_node *list, bool is_dim,
                      bool is_top)
{
    for (const struct show_node *node = list->first; node; node = node->next)
        if (!node->is_hidden)
            draw_node(drawing, node, is_dim, is_top);
}

bool show_draw(const struct show_state *state, const struct screen *screen,
               struct picture *picture)
{
    cleanup(arena_done) struct arena arena = {0};
    struct drawing drawing = {
        .state = state, .screen = screen, .pen = {.picture = picture, .screen = screen}};
    struct show_node *root = show_plan(&arena, state->steps, state->contents);
    picture->active = SIZE_MAX;
    if (!root)
        return false;
    show_shorten(&arena, root);
    set_columns(&drawing, root);
    draw_head(&drawing);
    draw_list(&drawing, root, false, true);
    /* A function continues after its history. */
    if (picture->active == SIZE_MAX && step_is_function(json_array_get(state->steps, 0)))
        picture->active = picture->lines - 1;
    bool is_drawn = !buf_failed(&picture->text) && !buf_failed(&drawing.prefix);
    buf_done(&drawing.prefix);
    return is_drawn;
}
