/* cli/show_plan.c - the steps as a tree, as the definition nests them.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * Steps stand in the order of the file: an element's step, then those of its lists, then, for a
 * fork or a parallel, its join.  So one walk over the definition meets them all, in order.  The
 * depth is bounded by that of the JSON, which the parser bounds.
 */
#include "cli/show.h"

#include "base/mem.h"

#include <assert.h>
#include <string.h>

struct walk {
    struct arena *arena;
    const json_t *steps;
    size_t at;     /* the next step */
    bool is_unfit; /* the definition is not that of the steps, or memory has run out */
};

struct show_node *show_node_add(struct arena *arena, struct show_node *parent)
{
    struct show_node *node = arena_zalloc(arena, sizeof *node);
    if (!node)
        return NULL;
    if (parent->last)
        parent->last->next = node;
    else
        parent->first = node;
    parent->last = node;
    return node;
}

static struct show_node *take_step(struct walk *walk, struct show_node *parent,
                                   const char *name, const char *suffix)
{
    const json_t *step = json_array_get(walk->steps, walk->at);
    const char *step_name = text_of(step, "name");
    size_t len = strlen(name);
    bool is_it = step && strncmp(step_name, name, len) == 0 && !strcmp(step_name + len, suffix);
    struct show_node *node = is_it ? show_node_add(walk->arena, parent) : NULL;
    if (!node) {
        walk->is_unfit = true;
        return NULL;
    }
    node->step = step;
    walk->at++;
    return node;
}

static struct show_node *add_label(struct walk *walk, struct show_node *parent,
                                   const char *label)
{
    struct show_node *node = show_node_add(walk->arena, parent);
    if (node)
        node->label = arena_strdup(walk->arena, label);
    if (!node || !node->label) {
        walk->is_unfit = true;
        return NULL;
    }
    return node;
}

/* The element's name: the value of the key that is its kind. */
static const char *element_name(const json_t *element, const char **ret_kind)
{
    static const char *const kinds[] = {"step",  "save_point", "condition", "fork",  "parallel",
                                        "human", "wait",       "sleep",     "start", "map"};
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        const char *name = json_string_value(json_object_get(element, kinds[i]));
        if (name) {
            *ret_kind = kinds[i];
            return name;
        }
    }
    return NULL;
}

static void walk_list(struct walk *walk, struct show_node *parent, const json_t *list);

/* The list that is not taken is skipped in the condition's own commit. */
static bool is_untaken(const json_t *condition, const struct show_node *list)
{
    const json_t *first = list->first ? list->first->step : NULL;
    int64_t decided_us = time_of(condition, "finished_at");
    return decided_us && first && strcmp(text_of(first, "status"), "skipped") == 0 &&
           !time_of(first, "started_at") && time_of(first, "finished_at") == decided_us;
}

static void walk_choice(struct walk *walk, struct show_node *condition, const char *name)
{
    const json_t *list = json_object_get(condition->element, name);
    struct show_node *label = json_array_size(list) ? add_label(walk, condition, name) : NULL;
    if (!label)
        return;
    walk_list(walk, label, list);
    label->is_untaken = is_untaken(condition->step, label);
}

/* A branch of a single element needs no label. */
static void walk_branches(struct walk *walk, struct show_node *fork)
{
    size_t i;
    json_t *branch;
    json_array_foreach(json_object_get(fork->element, "branches"), i, branch)
    {
        char name[32];
        snprintf(name, sizeof name, "branch %zu", i + 1);
        bool is_single = json_array_size(branch) == 1;
        struct show_node *parent = is_single ? fork : add_label(walk, fork, name);
        if (walk->is_unfit)
            return;
        walk_list(walk, parent, branch);
    }
}

static void walk_join(struct walk *walk, struct show_node *fork, const char *name)
{
    struct show_node *join = walk->is_unfit ? NULL : take_step(walk, fork, name, "_join");
    fork->has_branches = true;
    if (join)
        join->element = fork->element;
}

static void walk_element(struct walk *walk, struct show_node *parent, const json_t *element)
{
    const char *kind = "", *name = element_name(element, &kind);
    if (!name)
        name = ""; /* an element of a kind that this version does not know */
    struct show_node *node = take_step(walk, parent, name, "");
    if (!node)
        return;
    node->element = element;
    if (strcmp(kind, "condition") == 0) {
        walk_choice(walk, node, "then");
        walk_choice(walk, node, "else");
    } else if (strcmp(kind, "fork") == 0) {
        walk_branches(walk, node);
        walk_join(walk, node, name);
    } else if (strcmp(kind, "parallel") == 0) {
        walk_list(walk, node, json_object_get(element, "steps"));
        walk_join(walk, node, name);
    }
}

static void walk_list(struct walk *walk, struct show_node *parent, const json_t *list)
{
    size_t i;
    json_t *element;
    json_array_foreach(list, i, element)
    {
        if (walk->is_unfit)
            return;
        walk_element(walk, parent, element);
    }
}

/* Without nesting; the steps of a function are below its first row. */
static struct show_node *flat(struct arena *arena, const json_t *steps, bool is_function)
{
    struct show_node *root = arena_zalloc(arena, sizeof *root), *parent = root;
    size_t i;
    json_t *step;
    json_array_foreach(steps, i, step)
    {
        struct show_node *node = parent ? show_node_add(arena, parent) : NULL;
        if (!node)
            return NULL;
        node->step = step;
        if (is_function && i == 0)
            parent = node;
    }
    return root;
}

struct show_node *show_plan(struct arena *arena, const json_t *steps, const json_t *contents)
{
    if (step_is_function(json_array_get(steps, 0)))
        return flat(arena, steps, true);
    struct walk walk = {.arena = arena, .steps = steps};
    struct show_node *root = arena_zalloc(arena, sizeof *root);
    if (!root)
        return NULL;
    walk_list(&walk, root, json_object_get(contents, "steps"));
    bool is_whole = !walk.is_unfit && walk.at == json_array_size(steps);
    return is_whole ? root : flat(arena, steps, false);
}

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
        if (look_at(urgency)->needs_attention && urgent++ < BRANCHES_URGENT)
            continue;
        node->is_hidden = true;
        counts[urgency]++;
    }
    if (last)
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
