/* definition/draw.c - pictures of a workflow: what the three forms share.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "definition/draw.h"

#include "base/mem.h"

#include <stdio.h>
#include <string.h>

static bool is_invisible(const unsigned char *at, size_t left)
{
    if (*at < 0x20 || *at == 0x7F)
        return true;
    return *at == 0xC2 && left > 1 && at[1] < 0xA0; /* U+0080 to U+009F */
}

void add_visible(struct buf *out, const char *text, size_t len)
{
    for (size_t i = 0; i < len; i++) {
        if (!is_invisible((const unsigned char *)text + i, len - i)) {
            buf_char(out, text[i]);
            continue;
        }
        buf_char(out, ' ');
        i += (unsigned char)text[i] == 0xC2;
    }
}

static void add_line(struct buf *lines, const char *what, const char *text)
{
    if (lines->len)
        buf_char(lines, '\n');
    buf_str(lines, what);
    add_visible(lines, text, strlen(text));
}

static void add_duration(struct buf *lines, const char *what, int64_t us)
{
    char text[DURATION_TEXT];
    duration_format(us, text);
    add_line(lines, what, text);
}

void element_describe(const struct element *element, struct buf *lines)
{
    const struct step_config *config = &element->config;
    if (element->handler && strcmp(element->handler, element->name) != 0)
        add_line(lines, "", element->handler);
    if (element->kind == ELEMENT_FUNCTION)
        add_line(lines, "", "its steps are code");
    if (config->when)
        add_line(lines, "", config->when);
    if (config->event)
        add_line(lines, "for ", config->event);
    if (element->kind == ELEMENT_SLEEP)
        add_duration(lines, "for ", config->for_us);
    if (config->timeout_us)
        add_duration(lines, "timeout ", config->timeout_us);
    if (config->is_timeout_continue)
        add_line(lines, "on timeout: ", "continue");
    if (!config->is_idempotent)
        add_line(lines, "", "at most once");
    if (config->compensation.handler)
        add_line(lines, "undo: ", config->compensation.handler);
    if (config->on_failure != POLICY_DEFAULT)
        add_line(lines, "on failure: ", policy_name(config->on_failure));
}

static void write_boxes(const struct element_list *list, const struct graph_pen *pen,
                        struct buf *out, struct buf *lines)
{
    for (const struct element *element = list->first; element; element = element->next) {
        buf_reset(lines);
        element_describe(element, lines);
        out->failed = out->failed || buf_failed(lines);
        pen->box(out, element, buf_text(lines));
        for (size_t i = 0; i < element->list_count; i++)
            write_boxes(&element->lists[i], pen, out, lines);
        if (element_is_fork(element))
            pen->join(out, element);
    }
}

struct arrows {
    const struct step_row *plan;
    const struct graph_pen *pen;
    struct buf *out;
};

static void arrow(const struct arrows *arrows, int32_t from, int32_t to, const char *label)
{
    arrows->pen->arrow(arrows->out, &(struct arrow){from, to, label});
}

static void write_arrows(const struct arrows *arrows, const struct element_list *list)
{
    static const char *const sides[] = {"then", "else"};
    for (const struct element *element = list->first; element; element = element->next) {
        int32_t from = element->place, next = arrows->plan[from].next;
        bool is_fork = element_is_fork(element);
        if (element->list_count == 0)
            arrow(arrows, from, next, NULL);
        for (size_t i = 0; i < element->list_count; i++) {
            const struct element *first = element->lists[i].first;
            arrow(arrows, from, first ? first->place : next, is_fork ? NULL : sides[i]);
            write_arrows(arrows, &element->lists[i]);
        }
        if (is_fork)
            arrow(arrows, element->join_place, arrows->plan[element->join_place].next, NULL);
    }
}

void graph_write(const struct definition *definition, const struct graph_pen *pen,
                 struct buf *out)
{
    const struct element_list *elements = &definition->workflow->elements;
    cleanup(buf_done) struct buf lines = {0};
    write_boxes(elements, pen, out, &lines);
    struct arrows arrows = {definition->plan, pen, out};
    arrow(&arrows, -1, 0, NULL);
    write_arrows(&arrows, elements);
}

cairn_code definition_draw(const struct definition *definition, enum graph_form form,
                           struct buf *out, cairn_error *reterr)
{
    switch (form) {
    case GRAPH_DOT:
        draw_dot(definition, out);
        break;
    case GRAPH_MERMAID:
        draw_mermaid(definition, out);
        break;
    case GRAPH_TERMINAL:
        draw_terminal(definition, out);
        break;
    }
    return buf_failed(out) ? fail_memory(reterr) : CAIRN_OK;
}
