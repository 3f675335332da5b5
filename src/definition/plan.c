/* definition/plan.c - the rows that an instance starts with.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * Rows stand in the order of the file.  A condition's row is followed by the rows of `then` and of
 * `else`; a fork's by those of its branches and by its join:
 *
 *     0 a          next 1
 *     1 condition  next 4    then [2,2], else [3,3]
 *     2   b        next 4
 *     3   c        next 4
 *     4 fork       next 7    branches [5,5] [6,6], join 7
 *     5   d        next 7    scope: fork 4, 5 to 5
 *     6   e        next 7    scope: fork 4, 6 to 6
 *     7 fork_join  next -1
 */
#include "base/clock.h"
#include "base/json.h"
#include "base/mem.h"
#include "definition/element.h"

static void place_list(struct element_list *list, int32_t *next_place)
{
    for (struct element *element = list->first; element; element = element->next) {
        element->place = (*next_place)++;
        for (size_t i = 0; i < element->list_count; i++)
            place_list(&element->lists[i], next_place);
        element->join_place = element_is_fork(element) ? (*next_place)++ : -1;
        element->last = *next_place - 1;
    }
}

void plan_places(struct workflow *workflow)
{
    int32_t next_place = 0;
    place_list(&workflow->elements, &next_place);
    workflow->rows = next_place; /* without those of maps */
}

/* The branch that the rows of a list are in. */
struct scope {
    int32_t fork, from, to;
};

struct planning {
    struct arena *arena;
    struct step_row *rows;
    struct buf buf; /* for configs, one after the other */
    bool is_out_of_memory;
};

static const enum step_kind row_kinds[ELEMENT_KIND_COUNT] = {
    [ELEMENT_STEP] = KIND_TASK,           [ELEMENT_SAVE_POINT] = KIND_SAVE_POINT,
    [ELEMENT_CONDITION] = KIND_CONDITION, [ELEMENT_FORK] = KIND_FORK,
    [ELEMENT_PARALLEL] = KIND_FORK,       [ELEMENT_HUMAN] = KIND_HUMAN,
    [ELEMENT_WAIT] = KIND_WAIT,           [ELEMENT_SLEEP] = KIND_SLEEP,
    [ELEMENT_MAP] = KIND_START,           [ELEMENT_START] = KIND_START,
    [ELEMENT_FUNCTION] = KIND_FUNCTION,
};

static struct step_row *new_row(struct planning *planning, int32_t place,
                                const struct scope *scope)
{
    struct step_row *row = &planning->rows[place];
    *row = (struct step_row){
        .seq = place,
        .max_attempts = 1,
        .priority = PRIORITY_DEFAULT,
        .next = -1,
        .scope_fork = scope->fork,
        .scope_from = scope->from,
        .scope_to = scope->to,
        .status = STEP_PENDING,
    };
    return row;
}

/* Takes the text of the buf; NULL if it is empty. */
static const char *take_config(struct planning *planning)
{
    struct buf *buf = &planning->buf;
    const char *config =
        buf->len ? arena_strndup(planning->arena, buf_text(buf), buf->len) : NULL;
    planning->is_out_of_memory |= buf_failed(buf) || (buf->len && !config);
    buf_reset(buf);
    return config;
}

static void plan_list(struct planning *planning, const struct element_list *list, int32_t after,
                      const struct scope *scope);

static void plan_join(struct planning *planning, const struct element *element, int32_t after,
                      const struct scope *scope)
{
    struct step_row *row = new_row(planning, element->join_place, scope);
    row->name = element->join_name;
    row->kind = KIND_JOIN;
    row->next = after;
    row->remaining = (int32_t)element->list_count;
    config_write_join(&planning->buf, element);
    row->config = take_config(planning);
}

static void plan_element(struct planning *planning, const struct element *element,
                         int32_t after, const struct scope *scope)
{
    bool is_fork = element_is_fork(element);
    struct step_row *row = new_row(planning, element->place, scope);
    row->name = element->name;
    row->kind = row_kinds[element->kind];
    row->handler = element->handler;
    row->max_attempts = element->max_attempts;
    row->priority = element->priority;
    row->next = is_fork ? element->join_place : after;
    row->metadata = element->metadata;
    config_write(&planning->buf, element);
    row->config = take_config(planning);

    for (size_t i = 0; i < element->list_count; i++) {
        const struct element_list *list = &element->lists[i];
        struct scope branch = *scope;
        if (is_fork)
            branch = (struct scope){element->place, list->first->place, list->last->last};
        plan_list(planning, list, row->next, &branch);
    }
    if (is_fork)
        plan_join(planning, element, after, scope);
}

static void plan_list(struct planning *planning, const struct element_list *list, int32_t after,
                      const struct scope *scope)
{
    for (const struct element *element = list->first; element; element = element->next)
        plan_element(planning, element, element->next ? element->next->place : after, scope);
}

cairn_code plan_rows(struct arena *arena, const struct workflow *workflow,
                     struct step_row **ret_rows, cairn_error *reterr)
{
    struct planning planning = {.arena = arena};
    planning.rows = arena_array(arena, (size_t)workflow->rows, sizeof *planning.rows);
    if (!planning.rows)
        return fail_memory(reterr);
    struct scope whole = {-1, 0, workflow->rows - 1};
    plan_list(&planning, &workflow->elements, -1, &whole);
    buf_done(&planning.buf);
    if (planning.is_out_of_memory)
        return fail_memory(reterr);
    *ret_rows = planning.rows;
    return CAIRN_OK;
}
