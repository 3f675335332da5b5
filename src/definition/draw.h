/* definition/draw.h - pictures of a workflow: what the three forms share.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef DEFINITION_DRAW_H
#define DEFINITION_DRAW_H

#include "base/buf.h"
#include "definition/element.h"

/* An arrow of a graph; -1 stands for the start, or for the end. */
struct arrow {
    int32_t from, to;
    const char *label; /* NULL: none */
};

/* How a form of graph writes its parts. */
struct graph_pen {
    void (*box)(struct buf *out, const struct element *element, const char *lines);
    void (*join)(struct buf *out, const struct element *fork);
    void (*arrow)(struct buf *out, const struct arrow *arrow);
};

/* Every box, then every arrow, in order of place. */
void graph_write(const struct definition *definition, const struct graph_pen *pen,
                 struct buf *out);

/* What is worth saying of an element beside its name, one thing to a line. */
void element_describe(const struct element *element, struct buf *lines);

/* The text with characters that would do something, rather than show something, left out. */
void add_visible(struct buf *out, const char *text, size_t len);

void draw_dot(const struct definition *definition, struct buf *out);
void draw_mermaid(const struct definition *definition, struct buf *out);
void draw_terminal(const struct definition *definition, struct buf *out);

#endif
