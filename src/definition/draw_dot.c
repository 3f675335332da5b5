/* definition/draw_dot.c - a workflow for Graphviz.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "definition/draw.h"

#include <string.h>

static const char *const shapes[ELEMENT_KIND_COUNT] = {
    [ELEMENT_STEP] = "box",           [ELEMENT_SAVE_POINT] = "tab",
    [ELEMENT_CONDITION] = "diamond",  [ELEMENT_FORK] = "trapezium",
    [ELEMENT_PARALLEL] = "trapezium", [ELEMENT_HUMAN] = "house",
    [ELEMENT_WAIT] = "cds",           [ELEMENT_SLEEP] = "octagon",
    [ELEMENT_FUNCTION] = "component",
};

/* Inside quotes: a line break is \n, and what would end the text is escaped. */
static void add_label(struct buf *out, const char *text)
{
    for (; *text; text++) {
        if (*text == '\n') {
            buf_str(out, "\\n");
            continue;
        }
        if (*text == '"' || *text == '\\')
            buf_char(out, '\\');
        buf_char(out, *text);
    }
}

static void write_box(struct buf *out, const struct element *element, const char *lines)
{
    buf_printf(out, "    s%d [shape=%s, label=\"", element->place, shapes[element->kind]);
    if (element->kind != ELEMENT_STEP)
        buf_printf(out, "%s\\n", element_kind_name(element->kind));
    add_label(out, element->name);
    if (*lines)
        buf_str(out, "\\n");
    add_label(out, lines);
    buf_str(out, "\"];\n");
}

static void write_join(struct buf *out, const struct element *fork)
{
    buf_printf(out, "    s%d [shape=invtrapezium, label=\"join %s\\n", fork->join_place,
               join_name(fork->join));
    add_label(out, fork->join_name);
    buf_str(out, "\"];\n");
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
    write_end(out, arrow->from, "start");
    buf_str(out, " -> ");
    write_end(out, arrow->to, "end");
    if (arrow->label)
        buf_printf(out, " [label=\"%s\"]", arrow->label);
    buf_str(out, ";\n");
}

void draw_dot(const struct definition *definition, struct buf *out)
{
    static const struct graph_pen pen = {write_box, write_join, write_arrow};
    buf_str(out, "digraph \"");
    add_label(out, definition->name);
    buf_str(out, "\" {\n    label=\"");
    add_label(out, definition->name);
    buf_printf(out, ", version %d\";\n", definition->version);
    buf_str(out, "    node [fontname=\"sans-serif\"];\n"
                 "    start [shape=circle, label=\"\", width=0.2];\n"
                 "    end [shape=doublecircle, label=\"\", width=0.15];\n");
    graph_write(definition, &pen, out);
    buf_str(out, "}\n");
}
