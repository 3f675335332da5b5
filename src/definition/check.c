/* definition/check.c - what concerns a workflow file as a whole: its names.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "base/mem.h"
#include "core/effect.h"
#include "definition/element.h"

#include <stdlib.h>
#include <string.h>

/* The name of a row of the plan. */
struct used_name {
    const char *name;
    const struct element *element;
    const struct element *map; /* that it is inside of; NULL: none */
    bool is_join;
};

struct used_names {
    struct used_name *list;
    size_t count;
};

static void add_names(struct used_names *names, const struct element_list *list,
                      const struct element *map)
{
    for (const struct element *element = list->first; element; element = element->next) {
        if (element->name)
            names->list[names->count++] =
                (struct used_name){element->name, element, map, false};
        if (element->join_name)
            names->list[names->count++] =
                (struct used_name){element->join_name, element, map, true};
        for (size_t i = 0; i < element->list_count; i++)
            add_names(names, &element->lists[i], map);
        add_names(names, &element->each, element);
    }
}

/* Sorts by name; among equal names joins come first, then the order of the file decides. */
static int compare(const void *left, const void *right)
{
    const struct used_name *a = left, *b = right;
    int order = strcmp(a->name, b->name);
    if (order == 0)
        order = b->is_join - a->is_join;
    if (order == 0)
        order = a->element->at.line - b->element->at.line;
    return order ? order : a->element->at.column - b->element->at.column;
}

static void refuse(struct reading *reading, const struct used_name *first,
                   const struct used_name *second)
{
    char name[QUOTED_TEXT], fork[QUOTED_TEXT];
    const char *kind = element_kind_name(second->element->kind);
    quoted(name, second->name);
    if (first->is_join)
        flaw_add(reading->flaws, second->element->at, "%s %s: the join of %s %s has this name",
                 kind, name, element_kind_name(first->element->kind),
                 quoted(fork, first->element->name));
    else
        flaw_add(reading->flaws, second->element->at,
                 "%s %s: the name is already used in line %d", kind, name,
                 first->element->at.line);
}

/* "pay~2" is how the second key of step "pay" is written. */
void refuse_reserved(struct reading *reading, struct place at, const char *kind,
                     const char *name)
{
    char text[QUOTED_TEXT];
    if (effect_is_reserved(name))
        flaw_add(reading->flaws, at,
                 "%s %s: a name cannot end in \"~\" and a number, which tells the effects of a "
                 "step apart",
                 kind, quoted(text, name));
}

/* ---- names in expressions ------------------------------------------------------------------- */

static int compare_name(const void *key, const void *used)
{
    return strcmp(key, ((const struct used_name *)used)->name);
}

static void find_named(struct reading *reading, const struct used_names *names,
                       const struct element *map, const struct element *element,
                       const struct named_steps *steps)
{
    char name[QUOTED_TEXT], subject[QUOTED_TEXT];
    for (size_t i = 0; i < steps->count; i++) {
        struct named_step *step = &steps->items[i];
        const struct used_name *used =
            bsearch(step->name, names->list, names->count, sizeof *used, compare_name);
        if (used && used->map == map) { /* an element of a map is an instance of its own */
            step->element = used->element;
            step->is_join = used->is_join;
            continue;
        }
        flaw_add(reading->flaws, steps->at, "%s %s: %s: the workflow has no step %s",
                 element_kind_name(element->kind),
                 quoted(subject, element->name ? element->name : ""), steps->key,
                 quoted(name, step->name));
    }
}

static void find_all_named(struct reading *reading, const struct used_names *names,
                           const struct element *map, const struct element_list *list)
{
    for (const struct element *element = list->first; element; element = element->next) {
        find_named(reading, names, map, element, &element->reads);
        find_named(reading, names, map, element, &element->output_reads);
        find_named(reading, names, map, element, &element->group_reads);
        find_named(reading, names, map, element, &element->key_reads);
        find_named(reading, names, map, element, &element->tags_reads);
        find_named(reading, names, map, element, &element->over_reads);
        for (size_t i = 0; i < element->list_count; i++)
            find_all_named(reading, names, map, &element->lists[i]);
        find_all_named(reading, names, element, &element->each);
    }
}

void workflow_check_names(struct reading *reading, struct workflow *workflow)
{
    size_t room = (size_t)workflow->rows;
    cleanup(mem_freep) struct used_name *list =
        reading_got(reading, mem_alloc(room * sizeof *list));
    if (!list)
        return;
    struct used_names names = {.list = list};
    add_names(&names, &workflow->elements, NULL);
    for (size_t i = 0; i < names.count; i++)
        if (!list[i].is_join)
            refuse_reserved(reading, list[i].element->at,
                            element_kind_name(list[i].element->kind), list[i].name);
    qsort(list, names.count, sizeof *list, compare);
    for (size_t i = 1, first = 0; i < names.count; i++) {
        if (strcmp(list[i].name, list[first].name) == 0)
            refuse(reading, &list[first], &list[i]);
        else
            first = i;
    }
    find_all_named(reading, &names, NULL, &workflow->elements);
}
