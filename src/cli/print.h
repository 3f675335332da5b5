/* cli/print.h - human-readable output: tables, lines, colours, times.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef CLI_PRINT_H
#define CLI_PRINT_H

#include "base/arena.h"
#include "cli/call.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { GRID_COLUMNS = 10 };

/* Rows collected to learn the widths, then printed.  A zeroed struct is an empty table. */
struct grid {
    struct arena arena;
    struct grid_row *first, *last;
    size_t width[GRID_COLUMNS];
    size_t columns;
};

/* Adds a row of as many texts as the first row had; they are copied.  The first is the head. */
void grid_row(struct grid *grid, const char *const *cells, size_t count);
void grid_print(const struct grid *grid); /* to standard output */
void grid_done(struct grid *grid);

/* Standard output is a terminal, and NO_COLOR is not set. */
bool wants_colour(void);

/* A word such as a status, in its colour; on a plain output as it is. */
const char *colour_of(const char *word); /* the escape before it; "" for none */
#define COLOUR_END "\033[0m"
#define COLOUR_DIM "\033[2m"

/* "2m ago", "in 5s", "now". */
enum { RELATIVE_TEXT = 24, BOTH_TEXT = 64 };
void relative_time(int64_t at_us, int64_t now_us, char text[RELATIVE_TEXT]);
/* "2026-11-15T06:30:00.000Z (2m ago)" */
void both_times(int64_t at_us, int64_t now_us, char text[BOTH_TEXT]);

/* "1/3": how often a handler was called, of how often it may be.  The columns count calls that
 * failed; `is_called` adds the one that is under way, or that succeeded. */
enum { CALLS_TEXT = 48 };
void calls_text(int64_t failed, bool is_called, int64_t max, char text[CALLS_TEXT]);
bool step_is_called(const json_t *step);

/* "name       value", control characters made visible; nothing for an empty value. */
void print_field(const char *name, const char *value, size_t len);

/* ---- columns ---------------------------------------------------------------------------- */

/* An object that is printed. */
struct item {
    const json_t *tree;
    const struct answer *answer; /* whose tree it is; NULL: it is part of a list */
    int64_t now_us;
};

/* Writes the member with this key, or a text that follows from several members. */
typedef void (*cell_writer)(const struct item *item, const char *key, struct buf *text);

struct column {
    const char *head; /* of the column, or the name in a line; NULL ends a list of columns */
    const char *key;
    cell_writer write; /* NULL: the member is a string */
    int width;         /* in a line of parts: the text is padded to it */
};

/* Writes one cell. */
void write_cell(const struct column *column, const struct item *item, struct buf *text);

/* Prints an array as a table, with a head if wanted. */
void print_rows(const struct column *columns, const json_t *items, int64_t now_us,
                bool has_head);
/* Prints "name value" lines; empty values are left out. */
void print_object(const struct column *columns, const struct item *item);
/* Prints the cells on one line, after `start` if that is not NULL. */
void print_parts(const struct column *columns, const struct item *item, const char *start);

#endif
