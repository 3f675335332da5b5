/* definition/draw_graph.c - a workflow for Graphviz, and as a Mermaid flowchart.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "base/mem.h"
#include "definition/draw.h"

#include <stdio.h>

/* The text before and after the quoted text of a box. */
struct box {
    const char *open, *close;
};

/* The syntax of a language for graphs. */
struct graph_style {
    struct box boxes[ELEMENT_KIND_COUNT], join;
    const char *start, *end; /* the ends of the graph, in arrows */
    const char *arrow, *line_end;
    bool is_label_first; /* the label of an arrow comes before its target */

    /* The text that replaces a character of a label; NULL: the character itself. */
    const char *(*escape)(char c);
};

struct graph {
    const struct definition *definition;
    const struct graph_style *style;
    struct buf *out;
    struct buf lines; /* of the box that is written */
};

static void add_label(struct graph *graph, const char *text)
{
    for (; *text; text++) {
        const char *instead = graph->style->escape(*text);
        if (instead)
            buf_str(graph->out, instead);
        else
            buf_char(graph->out, *text);
    }
}

/* `kind` and `lines` may be "". */
static void write_box(struct graph *graph, int32_t place, const struct box *box,
                      const char *kind, const char *name, const char *lines)
{
    buf_printf(graph->out, "    s%d%s\"", place, box->open);
    add_label(graph, kind);
    if (*kind)
        add_label(graph, "\n");
    add_label(graph, name);
    if (*lines)
        add_label(graph, "\n");
    add_label(graph, lines);
    buf_printf(graph->out, "\"%s\n", box->close);
}

static void write_boxes(struct graph *graph, const struct element_list *list)
{
    for (const struct element *element = list->first; element; element = element->next) {
        const char *kind =
            element->kind == ELEMENT_STEP ? "" : element_kind_name(element->kind);
        buf_reset(&graph->lines);
        element_describe(element, &graph->lines);
        graph->out->failed |= buf_failed(&graph->lines);
        write_box(graph, element->place, &graph->style->boxes[element->kind], kind,
                  element->name, buf_text(&graph->lines));
        for (size_t i = 0; i < element->list_count; i++)
            write_boxes(graph, &element->lists[i]);
        if (element_is_fork(element)) {
            char join[16];
            snprintf(join, sizeof join, "join %s", join_name(element->join));
            write_box(graph, element->join_place, &graph->style->join, join, element->join_name,
                      "");
        }
    }
}

/* A place of the plan; -1: the start or the end of the graph. */
static void write_place(struct graph *graph, int32_t place, const char *otherwise)
{
    if (place < 0)
        buf_str(graph->out, otherwise);
    else
        buf_printf(graph->out, "s%d", place);
}

static void write_arrow(struct graph *graph, int32_t from, int32_t to, const char *label)
{
    const struct graph_style *style = graph->style;
    buf_str(graph->out, "    ");
    write_place(graph, from, style->start);
    buf_printf(graph->out, " %s", style->arrow);
    if (label && style->is_label_first)
        buf_printf(graph->out, "|%s|", label);
    buf_char(graph->out, ' ');
    write_place(graph, to, style->end);
    if (label && !style->is_label_first)
        buf_printf(graph->out, " [label=\"%s\"]", label);
    buf_printf(graph->out, "%s\n", style->line_end);
}

static void write_arrows(struct graph *graph, const struct element_list *list)
{
    static const char *const sides[] = {"then", "else"};
    const struct step_row *plan = graph->definition->plan;
    for (const struct element *element = list->first; element; element = element->next) {
        int32_t from = element->place, next = plan[from].next;
        bool is_fork = element_is_fork(element);
        if (element->list_count == 0)
            write_arrow(graph, from, next, NULL);
        for (size_t i = 0; i < element->list_count; i++) {
            const struct element *first = element->lists[i].first;
            write_arrow(graph, from, first ? first->place : next,
                        is_fork || i > 1 ? NULL : sides[i]);
            write_arrows(graph, &element->lists[i]);
        }
        if (is_fork)
            write_arrow(graph, element->join_place, plan[element->join_place].next, NULL);
    }
}

static void write_graph(struct graph *graph)
{
    const struct element_list *elements = &graph->definition->workflow->elements;
    write_boxes(graph, elements);
    write_arrow(graph, -1, 0, NULL);
    write_arrows(graph, elements);
    buf_done(&graph->lines);
}

/* ---- Graphviz ----------------------------------------------------------------------------- */

static const char *escape_dot(char c)
{
    return c == '"' ? "\\\"" : c == '\\' ? "\\\\" : c == '\n' ? "\\n" : NULL;
}

#define DOT(shape) " [shape=" shape ", label=", "];"
static const struct graph_style dot_style = {
    .boxes = {[ELEMENT_STEP] = {DOT("box")},
              [ELEMENT_SAVE_POINT] = {DOT("tab")},
              [ELEMENT_CONDITION] = {DOT("diamond")},
              [ELEMENT_FORK] = {DOT("trapezium")},
              [ELEMENT_PARALLEL] = {DOT("trapezium")},
              [ELEMENT_HUMAN] = {DOT("house")},
              [ELEMENT_WAIT] = {DOT("cds")},
              [ELEMENT_SLEEP] = {DOT("octagon")},
              [ELEMENT_START] = {DOT("box3d")},
              [ELEMENT_MAP] = {DOT("box3d")},
              [ELEMENT_FUNCTION] = {DOT("component")}},
    .join = {DOT("invtrapezium")},
    .start = "start",
    .end = "end",
    .arrow = "->",
    .line_end = ";",
    .escape = escape_dot,
};

void draw_dot(const struct definition *definition, struct buf *out)
{
    struct graph graph = {.definition = definition, .style = &dot_style, .out = out};
    buf_str(out, "digraph \"");
    add_label(&graph, definition->name);
    buf_str(out, "\" {\n    label=\"");
    add_label(&graph, definition->name);
    buf_printf(out, ", version %d\";\n", definition->version);
    buf_str(out, "    node [fontname=\"sans-serif\"];\n"
                 "    start [shape=circle, label=\"\", width=0.2];\n"
                 "    end [shape=doublecircle, label=\"\", width=0.15];\n");
    write_graph(&graph);
    buf_str(out, "}\n");
}

/* ---- Mermaid ------------------------------------------------------------------------------ */

/* Mermaid escapes a character with its name or number between # and ;. */
static const char *escape_mermaid(char c)
{
    static const char *const entities[128] = {
        ['"'] = "#quot;", ['#'] = "#35;", ['&'] = "#amp;", ['<'] = "#lt;",
        ['>'] = "#gt;",   ['`'] = "#96;", ['\\'] = "#92;", ['\n'] = "<br/>",
    };
    return (unsigned char)c < 128 ? entities[(unsigned char)c] : NULL;
}

static const struct graph_style mermaid_style = {
    .boxes = {[ELEMENT_STEP] = {"[", "]"},
              [ELEMENT_SAVE_POINT] = {"([", "])"},
              [ELEMENT_CONDITION] = {"{", "}"},
              [ELEMENT_FORK] = {"[/", "\\]"},
              [ELEMENT_PARALLEL] = {"[/", "\\]"},
              [ELEMENT_HUMAN] = {"[\\", "\\]"},
              [ELEMENT_WAIT] = {"{{", "}}"},
              [ELEMENT_SLEEP] = {"((", "))"},
              [ELEMENT_START] = {"[[", "]]"},
              [ELEMENT_MAP] = {"[[", "]]"},
              [ELEMENT_FUNCTION] = {"[[", "]]"}},
    .join = {"[\\", "/]"},
    .start = "begin((\" \"))",
    .end = "finish(((\" \")))", /* "end" is a keyword of Mermaid */
    .arrow = "-->",
    .line_end = "",
    .is_label_first = true,
    .escape = escape_mermaid,
};

void draw_mermaid(const struct definition *definition, struct buf *out)
{
    struct graph graph = {.definition = definition, .style = &mermaid_style, .out = out};
    buf_str(out, "flowchart TD\n");
    write_graph(&graph);
}
