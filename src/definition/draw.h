/* definition/draw.h - drawings of a workflow.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef DEFINITION_DRAW_H
#define DEFINITION_DRAW_H

#include "base/buf.h"
#include "definition/element.h"

/* Describes an element beside its name, one fact in each line. */
void element_describe(const struct element *element, struct buf *lines);

void draw_dot(const struct definition *definition, struct buf *out);
void draw_mermaid(const struct definition *definition, struct buf *out);
void draw_terminal(const struct definition *definition, struct buf *out);

#endif
