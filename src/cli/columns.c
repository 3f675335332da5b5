/* cli/columns.c - prints JSON objects by lists of columns.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "cli/columns.h"

#include "base/mem.h"
#include "cli/print.h"
#include "cli/say.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

static void write_cell(const struct column *column, const struct item *item, struct buf *text)
{
    if (column->write)
        column->write(item, column->key, text);
    else
        buf_str(text, text_of(item->tree, column->key));
}

/* ---- tables and lines ------------------------------------------------------------------- */

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

/* ---- cells ------------------------------------------------------------------------------ */

void cell_int(const struct item *item, const char *key, struct buf *text)
{
    buf_printf(text, "%" PRId64, int_of(item->tree, key));
}

void cell_yes(const struct item *item, const char *key, struct buf *text)
{
    buf_str(text, is_true(item->tree, key) ? "yes" : "no");
}

void cell_ago(const struct item *item, const char *key, struct buf *text)
{
    char relative[RELATIVE_TEXT];
    relative_time(time_of(item->tree, key), item->now_us, relative);
    buf_str(text, relative);
}

void cell_time(const struct item *item, const char *key, struct buf *text)
{
    char both[BOTH_TEXT];
    int64_t at_us = time_of(item->tree, key);
    if (!at_us)
        return;
    both_times(at_us, item->now_us, both);
    buf_str(text, both);
}

void cell_names(const struct item *item, const char *key, struct buf *text)
{
    size_t i;
    json_t *name;
    json_array_foreach(json_object_get(item->tree, key), i, name)
        buf_printf(text, "%s%s", i ? "," : "", json_string_value(name));
    buf_str(text, text->len ? "" : "-");
}

void cell_data(const struct item *item, const char *key, struct buf *text)
{
    const json_t *data = json_object_get(item->tree, key);
    char *json = json_dumps(data, JSON_COMPACT | JSON_ENCODE_ANY | JSON_REAL_PRECISION(15));
    buf_str(text, json && !json_is_null(data) ? json : "");
    free(json);
}

void cell_json(const struct item *item, const char *key, struct buf *text)
{
    size_t len = 0;
    const char *json = body_member(item->answer, key, &len);
    if (json)
        buf_add(text, json, len);
}

void cell_json_if_set(const struct item *item, const char *key, struct buf *text)
{
    if (!json_is_null(json_object_get(item->tree, key)))
        cell_json(item, key, text);
}
