/* definition/draw_terminal.c - a workflow as a tree, for a terminal.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 *     order, version 1
 *     ├─ step reserve · billing.reserve.v1 · undo: billing.refund.v1
 *     ├─ condition in_stock · {{ gt .count 0 }}
 *     │  ├─ then
 *     │  │  └─ step pick
 *     │  └─ else
 *     │     └─ step restock
 *     └─ step close
 */
#include "base/mem.h"
#include "definition/draw.h"

#include <stdio.h>
#include <string.h>

struct tree {
    struct buf *out;
    struct buf prefix; /* written before each line: one column for each open list */
    struct buf lines;
};

/* Begins the line of an element; lines until leave() are its children. */
static size_t enter(struct tree *tree, bool is_last)
{
    size_t len = tree->prefix.len;
    buf_str(tree->out, buf_text(&tree->prefix));
    buf_str(tree->out, is_last ? "└─ " : "├─ ");
    buf_str(&tree->prefix, is_last ? "   " : "│  ");
    return len;
}

static void leave(struct tree *tree, size_t len)
{
    if (tree->prefix.text) {
        tree->prefix.len = len;
        tree->prefix.text[len] = '\0';
    }
}

static void draw_list(struct tree *tree, const struct element_list *list, bool is_followed);

static void draw_named_list(struct tree *tree, const char *name,
                            const struct element_list *list, bool is_last)
{
    size_t before = enter(tree, is_last);
    buf_printf(tree->out, "%s\n", name);
    draw_list(tree, list, false);
    leave(tree, before);
}

static void draw_condition(struct tree *tree, const struct element *element)
{
    const struct element_list *then_list = &element->lists[0], *else_list = &element->lists[1];
    if (then_list->count)
        draw_named_list(tree, "then", then_list, else_list->count == 0);
    if (else_list->count)
        draw_named_list(tree, "else", else_list, true);
}

static void draw_fork(struct tree *tree, const struct element *element)
{
    for (size_t i = 0; i < element->list_count; i++) {
        char name[32];
        snprintf(name, sizeof name, "branch %zu", i + 1);
        if (element->kind == ELEMENT_PARALLEL)
            draw_list(tree, &element->lists[i], true);
        else
            draw_named_list(tree, name, &element->lists[i], false);
    }
    size_t before = enter(tree, true);
    buf_printf(tree->out, "join %s · %s\n", join_name(element->join), element->join_name);
    leave(tree, before);
}

static void draw_line(struct tree *tree, const struct element *element)
{
    buf_printf(tree->out, "%s %s", element_kind_name(element->kind), element->name);
    buf_reset(&tree->lines);
    element_describe(element, &tree->lines);
    for (const char *line = buf_text(&tree->lines); *line;) {
        size_t len = strcspn(line, "\n");
        buf_str(tree->out, " · ");
        buf_add(tree->out, line, len);
        line += len + (line[len] == '\n');
    }
    buf_char(tree->out, '\n');
}

static void draw_list(struct tree *tree, const struct element_list *list, bool is_followed)
{
    for (const struct element *element = list->first; element; element = element->next) {
        size_t before = enter(tree, !element->next && !is_followed);
        draw_line(tree, element);
        if (element->kind == ELEMENT_CONDITION)
            draw_condition(tree, element);
        if (element_is_fork(element))
            draw_fork(tree, element);
        leave(tree, before);
    }
}

static void tree_done(struct tree *tree)
{
    buf_done(&tree->prefix);
    buf_done(&tree->lines);
}

static const char *dlq_words(const struct definition *definition)
{
    if (!definition->is_dlq)
        return "";
    return definition->is_function ? ", parks in the DLQ when it fails"
                                   : ", failed steps park in the DLQ";
}

void draw_terminal(const struct definition *definition, struct buf *out)
{
    cleanup(tree_done) struct tree tree = {.out = out};
    buf_printf(out, "%s, version %d%s\n", definition->name, definition->version,
               dlq_words(definition));
    draw_list(&tree, &definition->workflow->elements, false);
    if (buf_failed(&tree.prefix) || buf_failed(&tree.lines))
        out->failed = true;
}
