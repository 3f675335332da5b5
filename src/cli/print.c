/* cli/print.c - printing for eyes.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "cli/print.h"

#include "base/clock.h"
#include "base/mem.h"
#include "cli/call.h"
#include "cli/say.h"

#include <assert.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct grid_row {
    struct grid_row *next;
    const char *cells[GRID_COLUMNS];
};

/* Characters, not bytes; good enough for aligning. */
static size_t text_width(const char *text)
{
    size_t width = 0;
    for (; *text; text++)
        width += ((unsigned char)*text & 0xc0) != 0x80;
    return width;
}

void grid_row(struct grid *grid, const char *const *cells, size_t count)
{
    assert(count <= GRID_COLUMNS);
    struct grid_row *row = arena_zalloc(&grid->arena, sizeof *row);
    if (!row)
        return;
    grid->columns = count;
    for (size_t i = 0; i < count; i++) {
        cleanup(buf_donep) struct buf clean = {0};
        buf_clean(&clean, cells[i], strlen(cells[i]));
        const char *text = arena_strdup(&grid->arena, buf_text(&clean));
        row->cells[i] = text ? text : "";
        size_t width = text_width(row->cells[i]);
        if (width > grid->width[i])
            grid->width[i] = width;
    }
    if (grid->last)
        grid->last->next = row;
    else
        grid->first = row;
    grid->last = row;
}

/* How many cells to print: what follows the last that has a text would only be blanks. */
static size_t cell_count(const struct grid *grid, const struct grid_row *row)
{
    size_t count = grid->columns;
    while (count > 0 && !*row->cells[count - 1])
        count--;
    return count;
}

void grid_print(const struct grid *grid)
{
    bool is_coloured = wants_colour();
    for (const struct grid_row *row = grid->first; row; row = row->next) {
        size_t count = cell_count(grid, row);
        for (size_t i = 0; i < count; i++) {
            const char *colour = is_coloured ? colour_of(row->cells[i]) : "";
            size_t gap = grid->width[i] - text_width(row->cells[i]) + 2;
            printf("%s%s%s%*s", colour, row->cells[i], *colour ? COLOUR_END : "",
                   i + 1 < count ? (int)gap : 0, "");
        }
        putchar('\n');
    }
}

void grid_done(struct grid *grid)
{
    arena_done(&grid->arena);
}

bool wants_colour(void)
{
    const char *no = getenv("NO_COLOR");
    return isatty(STDOUT_FILENO) && (!no || !*no);
}

const char *colour_of(const char *word)
{
    static const struct {
        const char *word, *escape;
    } colours[] = {
        {"pending", "\033[33m"},
        {"leased", "\033[36m"},
        {"succeeded", "\033[32m"},
        {"failed", "\033[31m"},
        {"cancelled", "\033[2m"},
        {"ok", "\033[32m"},
        {"warning", "\033[33m"},
        {"error", "\033[31m"},
        {"completed", "\033[32m"},
        {"running", "\033[36m"},
        {"ready", "\033[33m"},
        {"waiting", "\033[33m"},
        {"waiting_signal", "\033[33m"},
        {"waiting_decision", "\033[33m"},
        {"paused", "\033[33m"},
        {"aborted", "\033[31m"},
        {"compensating", "\033[35m"},
        {"compensation", "\033[35m"},
        {"rolled_back", "\033[35m"},
        {"skipped", "\033[2m"},
        {"dlq", "\033[31m"},
        {"confirmed", "\033[32m"},
        {"rejected", "\033[31m"},
    };
    for (size_t i = 0; i < sizeof colours / sizeof *colours; i++)
        if (strcmp(colours[i].word, word) == 0)
            return colours[i].escape;
    return "";
}

void relative_time(int64_t at_us, int64_t now_us, char text[RELATIVE_TEXT])
{
    static const struct {
        int64_t us;
        const char *unit;
    } units[] = {{86400 * US_PER_SEC, "d"},
                 {3600 * US_PER_SEC, "h"},
                 {US_PER_MIN, "m"},
                 {US_PER_SEC, "s"}};
    int64_t distance = at_us > now_us ? at_us - now_us : now_us - at_us;
    for (size_t i = 0; i < sizeof units / sizeof *units; i++) {
        if (distance >= units[i].us) {
            snprintf(text, RELATIVE_TEXT, at_us > now_us ? "in %lld%s" : "%lld%s ago",
                     (long long)(distance / units[i].us), units[i].unit);
            return;
        }
    }
    snprintf(text, RELATIVE_TEXT, "now");
}

void both_times(int64_t at_us, int64_t now_us, char text[BOTH_TEXT])
{
    char instant[INSTANT_TEXT], relative[RELATIVE_TEXT];
    instant_format(at_us, instant);
    relative_time(at_us, now_us, relative);
    snprintf(text, BOTH_TEXT, "%s (%s)", instant, relative);
}

void print_field(const char *name, const char *value, size_t len)
{
    if (len == 0)
        return;
    cleanup(buf_donep) struct buf clean = {0};
    buf_clean(&clean, value, len);
    const char *colour = wants_colour() ? colour_of(buf_text(&clean)) : "";
    printf("%-12s %s%s%s\n", name, colour, buf_text(&clean), *colour ? COLOUR_END : "");
}

void print_line(const char *name, const char *value)
{
    print_field(name, value, strlen(value));
}

void calls_text(int64_t failed, bool is_called, int64_t max, char text[CALLS_TEXT])
{
    snprintf(text, CALLS_TEXT, "%" PRId64 "/%" PRId64, failed + is_called, max);
}
