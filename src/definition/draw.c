/* definition/draw.c - pictures of a workflow: what the three forms share.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "definition/draw.h"

#include "base/clock.h"

#include <string.h>

static bool is_invisible(const unsigned char *at, size_t left)
{
    if (*at < 0x20 || *at == 0x7F)
        return true;
    return *at == 0xC2 && left > 1 && at[1] < 0xA0; /* U+0080 to U+009F */
}

/* Adds a text with a space in place of each control character. */
static void add_visible(struct buf *out, const char *text)
{
    size_t len = strlen(text);
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
    add_visible(lines, text);
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
    if (config->child.workflow)
        add_line(lines, config->child.is_left ? "starts " : "runs ", config->child.workflow);
    if (config->child.over)
        add_line(lines, "for each of ", config->child.over);
    for (const struct element *each = element->each.first; each; each = each->next)
        add_line(lines, "  ", each->name);
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

cairn_code definition_draw(const struct definition *definition, enum graph_form form,
                           struct buf *out, cairn_error *reterr)
{
    static void (*const forms[])(const struct definition *,
                                 struct buf *) = {[GRAPH_DOT] = draw_dot,
                                                  [GRAPH_MERMAID] = draw_mermaid,
                                                  [GRAPH_TERMINAL] = draw_terminal};
    forms[form](definition, out);
    return buf_failed(out) ? fail_memory(reterr) : CAIRN_OK;
}
