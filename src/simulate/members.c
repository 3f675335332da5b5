/* simulate/members.c - the instances of a run: the one that is tried, and all that came of it.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * At the end of a run nothing is left that goes on, so whatever has not ended belongs to the run.
 */
#include "simulate/run.h"

#include "base/error.h"
#include "base/mem.h"

#include <string.h>

enum { PAGE = 1000 };

struct member *member_find(const struct run *run, const char *id)
{
    for (size_t i = 0; i < run->members.count; i++)
        if (strcmp(run->members.items[i].id, id) == 0)
            return &run->members.items[i];
    return NULL;
}

cairn_code member_add(struct run *run, const char *id, const char *workflow)
{
    struct member *member = list_add(run->arena, &run->members);
    NEED(member, run->reterr);
    *member = (struct member){.id = arena_strdup(run->arena, id),
                              .workflow = arena_strdup(run->arena, workflow),
                              .is_expected = arena_array(run->arena, run->world->step_count + 1,
                                                         sizeof *member->is_expected)};
    NEED(member->id && member->workflow && member->is_expected, run->reterr);
    return CAIRN_OK;
}

cairn_code members_begin(struct run *run)
{
    return member_add(run, run->id, run->world->workflow);
}

static cairn_code take_page(struct run *run, const cairn_page *page)
{
    for (size_t i = cairn_page_count(page); i-- > 0;) { /* the oldest first */
        const cairn_instance *instance = cairn_page_instance(page, i);
        if (!member_find(run, instance->id))
            TRY(member_add(run, instance->id, instance->workflow));
    }
    return CAIRN_OK;
}

cairn_code members_look(struct run *run, const char *status)
{
    cleanup(free_pagep) cairn_page *page = NULL;
    cairn_instance_filter filter = CAIRN_INSTANCE_FILTER_DEFAULTS;
    if (!run->world->has_children)
        return CAIRN_OK;
    filter.status = status;
    filter.created_from_us = run->began_us;
    filter.limit = PAGE;
    TRY(cairn_instance_list(run->world->engine, &filter, &page, run->reterr));
    return take_page(run, page);
}

static bool is_step(const struct run *run, size_t number, const char *workflow,
                    const char *name)
{
    const struct sim_step *step = &run->world->known[number];
    return strcmp(step->name, name) == 0 && strcmp(step->workflow, workflow) == 0;
}

/* Where the steps of the workflow that is tried are asked for in their order, the first guess is right. */
int run_step_number(struct run *run, const char *id, const char *name)
{
    const struct member *member = member_find(run, id);
    size_t count = run->world->step_count;
    for (size_t i = 0; member && i < count; i++) {
        size_t number = (run->guess + i) % count;
        if (!is_step(run, number, member->workflow, name))
            continue;
        run->guess = number + 1;
        return (int)number;
    }
    return -1;
}

cairn_code members_end(struct run *run)
{
    for (size_t i = 0; i < run->members.count; i++) {
        cairn_code code = cairn_instance_abort(run->world->engine, run->members.items[i].id,
                                               SIM_WORKER, "the run is over", run->reterr);
        if (code &&
            code != CAIRN_E_WRONG_STATE) /* it has ended by itself, or with its parent */
            return code;
    }
    return CAIRN_OK;
}
