/* cli/show_pen.c - lines of text: colours, columns, cutting.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "base/mem.h"
#include "cli/print.h"
#include "cli/say.h"
#include "cli/show.h"

#include <langinfo.h>
#include <locale.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>
#include <wchar.h>

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

size_t text_columns(const struct screen *screen, const char *text)
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

void pen_text(struct pen *pen, const char *colour, const char *text)
{
    cleanup(buf_donep) struct buf clean = {0};
    buf_clean(&clean, text, strlen(text));
    put(pen, colour, buf_text(&clean), clean.len);
    pen->column += text_columns(pen->screen, buf_text(&clean));
}

void pen_pad(struct pen *pen, size_t column)
{
    for (; pen->column < column; pen->column++)
        buf_char(&pen->picture->text, ' ');
}

static size_t room_left(const struct pen *pen)
{
    return pen->column < pen->screen->columns ? pen->screen->columns - pen->column : 0;
}

void pen_cut(struct pen *pen, const char *colour, const char *text)
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

void pen_end(struct pen *pen)
{
    buf_char(&pen->picture->text, '\n');
    pen->picture->lines++;
    pen->column = 0;
    pen->is_dim = false;
}
