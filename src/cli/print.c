/* cli/print.c - human-readable output.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "cli/print.h"

#include "base/clock.h"
#include "base/mem.h"
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
        const char *escape, *words;
    } colours[] = {
        {"\033[31m", "failed error aborted rejected dlq"},
        {"\033[32m", "succeeded completed confirmed ok"},
        {"\033[33m", "pending ready waiting waiting_signal waiting_decision paused warning"},
        {"\033[35m", "compensating compensation rolled_back"},
        {"\033[36m", "leased running"},
        {COLOUR_DIM, "cancelled skipped"},
    };
    for (size_t i = 0; i < sizeof colours / sizeof *colours; i++)
        if (word_in(colours[i].words, word))
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

void calls_text(int64_t failed, bool is_called, int64_t max, char text[CALLS_TEXT])
{
    snprintf(text, CALLS_TEXT, "%" PRId64 "/%" PRId64, failed + is_called, max);
}

/* A wait of the handler itself belongs to the same call. */
bool step_is_called(const json_t *step)
{
    const char *status = text_of(step, "status");
    return word_in("running completed waiting", status) ||
           (word_in("rolled_back compensation", status) && !*text_of(step, "error"));
}

void write_cell(const struct column *column, const struct item *item, struct buf *text)
{
    if (column->write)
        column->write(item, column->key, text);
    else
        buf_str(text, text_of(item->tree, column->key));
}

static void add_row(struct grid *grid, const struct column *columns, const struct item *item)
{
    struct buf texts[GRID_COLUMNS] = {0};
    const char *cells[GRID_COLUMNS] = {0};
    size_t count = 0;
    for (; columns[count].head; count++) {
        if (item)
            write_cell(&columns[count], item, &texts[count]);
        cells[count] = item ? buf_text(&texts[count]) : columns[count].head;
    }
    grid_row(grid, cells, count);
    for (size_t i = 0; i < count; i++)
        buf_done(&texts[i]);
}

void print_rows(const struct column *columns, const json_t *items, int64_t now_us,
                bool has_head)
{
    size_t i;
    json_t *tree;
    struct grid grid = {0};
    if (has_head)
        add_row(&grid, columns, NULL);
    json_array_foreach(items, i, tree)
    {
        struct item item = {.tree = tree, .now_us = now_us};
        add_row(&grid, columns, &item);
    }
    grid_print(&grid);
    grid_done(&grid);
}

void print_object(const struct column *columns, const struct item *item)
{
    for (; columns->head; columns++) {
        cleanup(buf_donep) struct buf text = {0};
        write_cell(columns, item, &text);
        print_field(columns->head, buf_text(&text), text.len);
    }
}

void print_parts(const struct column *columns, const struct item *item, const char *start)
{
    cleanup(buf_donep) struct buf line = {0}, clean = {0};
    buf_str(&line, start ? start : "");
    for (size_t i = 0; columns[i].head; i++) {
        cleanup(buf_donep) struct buf text = {0};
        write_cell(&columns[i], item, &text);
        buf_printf(&line, "%s%-*s", i || start ? "  " : "", columns[i].width, buf_text(&text));
    }
    buf_clean(&clean, buf_text(&line), line.len);
    while (clean.len && clean.text[clean.len - 1] == ' ')
        clean.text[--clean.len] = '\0';
    puts(buf_text(&clean));
}
