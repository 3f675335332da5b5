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
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct table_row {
    struct table_row *next;
    const char *cells[TABLE_COLUMNS];
};

/* Characters, not bytes; good enough for aligning. */
static size_t text_width(const char *text)
{
    size_t width = 0;
    for (; *text; text++)
        width += ((unsigned char)*text & 0xc0) != 0x80;
    return width;
}

void table_row(struct table *table, const char *const *cells, size_t count)
{
    assert(count <= TABLE_COLUMNS);
    struct table_row *row = arena_zalloc(&table->arena, sizeof *row);
    if (!row)
        return;
    table->columns = count;
    for (size_t i = 0; i < count; i++) {
        cleanup(buf_donep) struct buf clean = {0};
        buf_clean(&clean, cells[i], strlen(cells[i]));
        const char *text = arena_strdup(&table->arena, buf_text(&clean));
        row->cells[i] = text ? text : "";
        size_t width = text_width(row->cells[i]);
        if (width > table->width[i])
            table->width[i] = width;
    }
    if (table->last)
        table->last->next = row;
    else
        table->first = row;
    table->last = row;
}

void table_print(const struct table *table)
{
    bool is_coloured = wants_colour();
    for (const struct table_row *row = table->first; row; row = row->next) {
        for (size_t i = 0; i < table->columns; i++) {
            const char *colour = is_coloured ? colour_of(row->cells[i]) : "";
            if (row == table->first && is_coloured)
                colour = "\033[1m";
            size_t gap =
                i + 1 < table->columns ? table->width[i] - text_width(row->cells[i]) + 2 : 0;
            printf("%s%s%s%*s", colour, row->cells[i], *colour ? COLOUR_END : "", (int)gap, "");
        }
        putchar('\n');
    }
}

void table_done(struct table *table)
{
    arena_done(&table->arena);
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
        {"pending", "\033[33m"}, {"leased", "\033[36m"},   {"succeeded", "\033[32m"},
        {"failed", "\033[31m"},  {"cancelled", "\033[2m"}, {"ok", "\033[32m"},
        {"warning", "\033[33m"}, {"error", "\033[31m"},
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
