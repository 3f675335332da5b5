/* definition/draw_mermaid.c - a workflow as a Mermaid flowchart.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "definition/draw.h"

#include <string.h>

static const struct {
    const char *open, *close;
} shapes[ELEMENT_KIND_COUNT] = {
    [ELEMENT_STEP] = {"[", "]"},        [ELEMENT_SAVE_POINT] = {"([", "])"},
    [ELEMENT_CONDITION] = {"{", "}"},   [ELEMENT_FORK] = {"[/", "\\]"},
    [ELEMENT_PARALLEL] = {"[/", "\\]"}, [ELEMENT_HUMAN] = {"[\\", "\\]"},
    [ELEMENT_WAIT] = {"{{", "}}"},      [ELEMENT_SLEEP] = {"((", "))"},
    [ELEMENT_FUNCTION] = {"[[", "]]"},
};

/* Mermaid knows characters by name or number between # and ;. */
static const char *entity(char c)
{
    switch (c) {
    case '"':
        return "#quot;";
    case '#':
        return "#35;";
    case '&':
        return "#amp;";
    case '<':
        return "#lt;";
    case '>':
        return "#gt;";
    case '`':
        return "#96;";
    case '\\':
        return "#92;";
    case '\n':
        return "<br/>";
    default:
        return NULL;
    }
}

static void add_label(struct buf *out, const char *text)
{
    for (; *text; text++) {
        const char *instead = entity(*text);
        if (instead)
            buf_str(out, instead);
        else
            buf_char(out, *text);
    }
}

static void write_box(struct buf *out, const struct element *element, const char *lines)
{
    buf_printf(out, "    s%d%s\"", element->place, shapes[element->kind].open);
    if (element->kind != ELEMENT_STEP)
        buf_printf(out, "%s<br/>", element_kind_name(element->kind));
    add_label(out, element->name);
    if (*lines)
        buf_str(out, "<br/>");
    add_label(out, lines);
    buf_printf(out, "\"%s\n", shapes[element->kind].close);
}

static void write_join(struct buf *out, const struct element *fork)
{
    buf_printf(out, "    s%d[\\\"join %s<br/>", fork->join_place, join_name(fork->join));
    add_label(out, fork->join_name);
    buf_str(out, "\"/]\n");
}

static void write_end(struct buf *out, int32_t place, const char *word)
{
    if (place < 0)
        buf_str(out, word);
    else
        buf_printf(out, "s%d", place);
}

static void write_arrow(struct buf *out, const struct arrow *arrow)
{
    buf_str(out, "    ");
    write_end(out, arrow->from, "begin((\" \"))");
    if (arrow->label)
        buf_printf(out, " -->|%s| ", arrow->label);
    else
        buf_str(out, " --> ");
    write_end(out, arrow->to, "finish(((\" \")))"); /* "end" is a word of Mermaid's own */
    buf_char(out, '\n');
}

void draw_mermaid(const struct definition *definition, struct buf *out)
{
    static const struct graph_pen pen = {write_box, write_join, write_arrow};
    buf_str(out, "flowchart TD\n");
    graph_write(definition, &pen, out);
}
