/* cli/columns.h - how the members of a JSON object are printed: as the columns of a table, as
 * lines "name value", or as the parts of one line.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef CLI_COLUMNS_H
#define CLI_COLUMNS_H

#include "cli/call.h"

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

/* Prints an array as a table, with a head if wanted. */
void print_rows(const struct column *columns, const json_t *items, int64_t now_us,
                bool has_head);
/* Prints "name value" lines; empty values are left out. */
void print_object(const struct column *columns, const struct item *item);
/* Prints the cells on one line, after `start` if that is not NULL. */
void print_parts(const struct column *columns, const struct item *item, const char *start);

void cell_int(const struct item *item, const char *key, struct buf *text);
void cell_yes(const struct item *item, const char *key, struct buf *text);   /* yes or no */
void cell_ago(const struct item *item, const char *key, struct buf *text);   /* "2m ago" */
void cell_time(const struct item *item, const char *key, struct buf *text);  /* both forms */
void cell_names(const struct item *item, const char *key, struct buf *text); /* "a,b" or "-" */
void cell_data(const struct item *item, const char *key, struct buf *text); /* JSON; not null */
void cell_json(const struct item *item, const char *key, struct buf *text); /* its own bytes */
/* The same, nothing for null. */
void cell_json_if_set(const struct item *item, const char *key, struct buf *text);

#endif
