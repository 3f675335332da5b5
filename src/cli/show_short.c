/* cli/show_short.c - a fork of a thousand branches, on one screen.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * The first few branches are drawn, and of the others the first few that need somebody; the rest
 * is counted:  "… 990 more: 980 completed, 10 running".
 */
#include "base/mem.h"
#include "cli/show.h"

#include <assert.h>
#include <string.h>

enum { BRANCHES_WHOLE = 12, BRANCHES_FIRST = 5, BRANCHES_URGENT = 5, LOOKS_MAX = 32 };

/* The most urgent status in a branch. */
static size_t urgency_of(const struct show_node *node)
{
    size_t most = node->step ? look_urgency(text_of(node->step, "status")) : look_count() - 1;
    for (const struct show_node *child = node->first; child; child = child->next) {
        size_t urgency = urgency_of(child);
        if (urgency < most)
            most = urgency;
    }
    return most;
}

/* Every child but the last, which is the join. */
static size_t branch_count(const struct show_node *fork)
{
    size_t count = 0;
    for (const struct show_node *node = fork->first; node && node->next; node = node->next)
        count++;
    return count;
}

/* Puts a label behind the last branch. */
static void add_count(struct arena *arena, struct show_node *last,
                      const size_t counts[LOOKS_MAX])
{
    cleanup(buf_donep) struct buf text = {0};
    size_t total = 0;
    for (size_t i = 0; i < look_count(); i++)
        total += counts[i];
    buf_printf(&text, "%zu more", total);
    for (size_t i = 0, told = 0; i < look_count(); i++)
        if (counts[i])
            buf_printf(&text, "%s%zu %s", told++ ? ", " : ": ", counts[i], look_at(i)->status);
    struct show_node *label = arena_zalloc(arena, sizeof *label);
    const char *copy = arena_strdup(arena, buf_text(&text));
    if (!label || !copy)
        return;
    label->label = copy;
    label->next = last->next;
    last->next = label;
}

static void shorten_branches(struct arena *arena, struct show_node *fork)
{
    size_t counts[LOOKS_MAX] = {0}, index = 0, urgent = 0;
    struct show_node *last = NULL;
    assert(look_count() <= LOOKS_MAX);
    for (struct show_node *node = fork->first; node->next; node = node->next, index++) {
        size_t urgency = urgency_of(node);
        last = node;
        if (index < BRANCHES_FIRST)
            continue;
        if (look_at(urgency)->needs_somebody && urgent++ < BRANCHES_URGENT)
            continue;
        node->is_hidden = true;
        counts[urgency]++;
    }
    add_count(arena, last, counts);
}

void show_shorten(struct arena *arena, struct show_node *root)
{
    if (root->has_branches && branch_count(root) > BRANCHES_WHOLE)
        shorten_branches(arena, root);
    for (struct show_node *child = root->first; child; child = child->next)
        if (!child->is_hidden)
            show_shorten(arena, child);
}
