/* definition/definition.h - reads workflow files, checks them, plans their rows and draws them.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * YAML and JSON are one format (docs/workflow-files.md).  A file is read into a tree of elements
 * with their lines and columns; a function is a single element, because its steps are code.  The
 * canonical JSON text that is stored and hashed, the rows that an instance starts with, and the
 * drawings are made from the tree.
 */
#ifndef DEFINITION_DEFINITION_H
#define DEFINITION_DEFINITION_H

#include "base/arena.h"
#include "base/buf.h"
#include "cairn.h"
#include "core/instance.h"
#include "core/step_config.h"

#include <stdbool.h>
#include <stddef.h>

/* A workflow without errors. */
struct definition {
    const char *name;
    int32_t version;
    bool is_function; /* its plan is one row; the rest is code */
    bool is_dlq;
    bool has_compensation;
    char hash[65];             /* SHA-256 of content, hexadecimal */
    const char *input_example; /* canonical JSON; NULL: the file has none */
    const char *content;   /* canonical JSON: the same for YAML and JSON of the same meaning */
    struct step_row *plan; /* the planned part of every row, in order of place */
    size_t plan_count;
    const struct workflow *workflow; /* the elements, for drawing (definition/element.h) */
};

/* Reads a file's text (YAML or JSON).  `file` is its name, for errors.  Reports all errors, up to
 * `room`; the first one is in reterr as "FILE:LINE:COLUMN: reason". */
cairn_code definition_read(struct arena *arena, const char *file, const char *text, size_t len,
                           struct definition *ret_definition, cairn_flaw *ret_errors,
                           size_t room, size_t *ret_count, cairn_error *reterr);

/* What a map of a workflow does for each element: a workflow of its own, called WORKFLOW:MAP. */
cairn_code definition_of_map(struct arena *arena, const struct definition *whole,
                             const char *map, struct definition *ret_definition,
                             cairn_error *reterr);

/* Reads a step's config back. */
cairn_code step_config_read(struct arena *arena, const char *config,
                            struct step_config *ret_config, cairn_error *reterr);

/* Drawings of a definition: Graphviz, Mermaid, and for a terminal. */
enum graph_form { GRAPH_DOT, GRAPH_MERMAID, GRAPH_TERMINAL };
cairn_code definition_draw(const struct definition *definition, enum graph_form form,
                           struct buf *out, cairn_error *reterr);

#endif
