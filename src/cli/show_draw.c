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
#include "cli/show.h"

#include "base/mem.h"
#include "cli/cells.h"
#include "cli/print.h"
#include "cli/say.h"

#include <inttypes.h>
#include <langinfo.h>
#include <locale.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>
#include <wchar.h>

/* Writes one line at a time.  Whatever is written is cleaned of control characters. */
struct pen {
    struct picture *picture;
    const struct screen *screen;
    size_t column; /* of the next character */
    bool is_dim;   /* the whole line, instead of other colours */
};

enum {
    COLUMNS_OF_FILE = 1000, /* a file has no edge, but a payload may have a megabyte */
    COLUMNS_MIN = 40,
    CHARACTER_MAX = 4 /* bytes, in UTF-8 */
};

/* Makes the user's character set that of this thread, so that widths are known. */
static bool use_locale(void)
{
    locale_t locale = newlocale(LC_CTYPE_MASK, "", (locale_t)0);
    if (!locale)
        return false;
    uselocale(locale);
    return strcmp(nl_langinfo(CODESET), "UTF-8") == 0;
}

static void look_at_size(struct screen *screen)
{
    struct winsize size = {0};
    screen->columns = COLUMNS_OF_FILE;
    screen->rows = SIZE_MAX;
    if (!screen->is_terminal || ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) || !size.ws_col)
        return;
    /* Not the last column: wiping the rest of a line that ends there would wipe its end. */
    screen->columns = size.ws_col <= COLUMNS_MIN ? COLUMNS_MIN : size.ws_col - 1U;
    screen->rows = size.ws_row ? size.ws_row : SIZE_MAX;
}

void screen_look(struct screen *screen)
{
    bool is_first = screen->columns == 0;
    screen->is_terminal = isatty(STDOUT_FILENO);
    screen->is_coloured = wants_colour();
    if (is_first)
        screen->is_utf8 = use_locale();
    look_at_size(screen);
}

/* The bytes of the next character, and the columns that it takes. */
static size_t next_character(const struct screen *screen, const char *text, size_t *ret_columns)
{
    wchar_t wide = 0;
    mbstate_t state = {0};
    *ret_columns = 1;
    if (!screen->is_utf8)
        return 1;
    size_t bytes = mbrtowc(&wide, text, strnlen(text, CHARACTER_MAX), &state);
    if (bytes == 0 || bytes > CHARACTER_MAX)
        return 1;
    int columns = wcwidth(wide);
    *ret_columns = columns < 0 ? 1 : (size_t)columns;
    return bytes;
}

static size_t text_columns(const struct screen *screen, const char *text)
{
    size_t total = 0, columns = 0;
    while (*text) {
        text += next_character(screen, text, &columns);
        total += columns;
    }
    return total;
}

/* How many bytes fit into `room` columns. */
static size_t bytes_within(const struct screen *screen, const char *text, size_t room)
{
    size_t len = 0, used = 0, columns = 0;
    while (text[len]) {
        size_t bytes = next_character(screen, text + len, &columns);
        if (used + columns > room)
            break;
        used += columns;
        len += bytes;
    }
    return len;
}

static void put(struct pen *pen, const char *colour, const char *text, size_t len)
{
    struct buf *out = &pen->picture->text;
    const char *used = !pen->screen->is_coloured ? "" : pen->is_dim ? COLOUR_DIM : colour;
    if (len == 0)
        return;
    buf_str(out, used);
    buf_add(out, text, len);
    buf_str(out, *used ? COLOUR_END : "");
}

static void pen_text(struct pen *pen, const char *colour, const char *text)
{
    cleanup(buf_donep) struct buf clean = {0};
    buf_clean(&clean, text, strlen(text));
    put(pen, colour, buf_text(&clean), clean.len);
    pen->column += text_columns(pen->screen, buf_text(&clean));
}

static void pen_pad(struct pen *pen, size_t column)
{
    for (; pen->column < column; pen->column++)
        buf_char(&pen->picture->text, ' ');
}

static size_t room_left(const struct pen *pen)
{
    return pen->column < pen->screen->columns ? pen->screen->columns - pen->column : 0;
}

/* As much as fits. */
static void pen_cut(struct pen *pen, const char *colour, const char *text)
{
    cleanup(buf_donep) struct buf clean = {0};
    const char *more = pen->screen->is_utf8 ? "…" : "...";
    size_t room = room_left(pen), more_columns = text_columns(pen->screen, more);
    buf_clean(&clean, text, strlen(text));
    if (text_columns(pen->screen, buf_text(&clean)) <= room) {
        pen_text(pen, colour, buf_text(&clean));
        return;
    }
    if (room <= more_columns)
        return;
    size_t len = bytes_within(pen->screen, buf_text(&clean), room - more_columns);
    put(pen, colour, buf_text(&clean), len);
    put(pen, colour, more, strlen(more));
    pen->column = pen->screen->columns;
}

static void pen_end(struct pen *pen)
{
    buf_char(&pen->picture->text, '\n');
    pen->picture->lines++;
    pen->column = 0;
    pen->is_dim = false;
}

/* ---- the picture ------------------------------------------------------------------------- */

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
        if (!node->step && !node->child)
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
    if (node->step || node->child)
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
    if (!show_children_add(&arena, state, root))
        return false;
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
