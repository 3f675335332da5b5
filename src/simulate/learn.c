/* simulate/learn.c - which steps there are: of the workflow that is tried, of those that it may start, and of maps.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "simulate/world.h"

#include "base/error.h"
#include "base/mem.h"
#include "base/scan.h"

#include <string.h>

enum { WORKFLOWS_MAX = 1000 };

static bool is_known(const struct sim_world *world, const char *workflow, const char *name)
{
    for (size_t i = 0; i < world->step_count; i++)
        if (strcmp(world->known[i].workflow, workflow) == 0 &&
            strcmp(world->known[i].name, name) == 0)
            return true;
    return false;
}

cairn_code sim_add_step(struct sim_world *world, const char *workflow, const char *name,
                        cairn_error *reterr)
{
    size_t room = world->step_count;
    if (is_known(world, workflow, name))
        return CAIRN_OK;
    struct sim_step *known = arena_grow(&world->arena, world->known, world->step_count, 1,
                                        &room, sizeof *world->known);
    NEED(known, reterr);
    world->known = known;
    struct sim_step *step = &known[world->step_count++];
    step->workflow = arena_strdup(&world->arena, workflow);
    step->name = arena_strdup(&world->arena, name);
    NEED(step->workflow && step->name, reterr);
    return CAIRN_OK;
}

/* ---- what the engine makes of a file --------------------------------------------------------- */

static cairn_code add_steps(struct sim_world *world, const char *workflow,
                            const cairn_page *page, cairn_error *reterr)
{
    for (size_t i = 0; i < cairn_page_count(page); i++) {
        const cairn_step *step = cairn_page_step(page, i);
        cairn_step_kind kind = step->kind_code;
        if (kind == CAIRN_STEP_KIND_FUNCTION)
            return fail(reterr, CAIRN_E_BAD_INPUT,
                        "cannot try %s: it is a function, whose steps only its code knows",
                        workflow);
        TRY(sim_add_step(world, workflow, step->name, reterr));
        world->has_forks |= kind == CAIRN_STEP_KIND_FORK;
        world->has_people |= kind == CAIRN_STEP_KIND_WAIT || kind == CAIRN_STEP_KIND_HUMAN;
        world->has_children |= kind == CAIRN_STEP_KIND_START;
    }
    return CAIRN_OK;
}

/* The steps stand in the store from the start of an instance on; this one begins in a thousand years. */
static cairn_code learn_steps(struct sim_world *world, const char *workflow, int32_t version,
                              cairn_error *reterr)
{
    cairn_start_options options = CAIRN_START_DEFAULTS;
    cairn_enqueued started;
    char *cursor = NULL;
    options.workflow = workflow;
    options.version = version;
    options.start_at_us = WORLD_BEGINS_US + 1000 * 365 * 24 * 60 * US_PER_MIN;
    TRY(cairn_instance_start(world->engine, &options, &started, reterr));
    for (;;) {
        cleanup(free_pagep) cairn_page *page = NULL;
        TRY(cairn_instance_steps(world->engine, started.id, cursor, 1000, &page, reterr));
        TRY(add_steps(world, workflow, page, reterr));
        if (!cairn_page_next(page))
            break;
        cursor = arena_strdup(&world->arena, cairn_page_next(page));
        NEED(cursor, reterr);
    }
    return cairn_instance_abort(world->engine, started.id, "simulation", "learned", reterr);
}

/* ---- what only the file says ----------------------------------------------------------------- */

static cairn_code walk_list(struct sim_world *world, const char *workflow, bool is_map,
                            struct slice list, cairn_error *reterr);

/* A workflow that is not there would let every run fail, and nobody would look for that reason. */
static cairn_code check_start(struct sim_world *world, const char *workflow, const char *name,
                              struct slice element, cairn_error *reterr)
{
    cleanup(free_pagep) cairn_page *page = NULL;
    int64_t version = 0;
    const char *started = slice_string(scan_find(element, "workflow"), &world->arena);
    NEED(started, reterr);
    slice_int(scan_find(element, "version"), &version);
    cairn_code code =
        cairn_workflow_get(world->engine, started, (int32_t)version, &page, reterr);
    if (code != CAIRN_E_NOT_FOUND)
        return code;
    fail(reterr, code,
         "%s: the step %s starts the workflow %s%s, which is in none of the files", workflow,
         name, started, version ? " in another version" : "");
    return fail_hint(reterr, code, "name the file of %s behind the first one", started);
}

/* The steps of a map are those of a workflow of its own, which nobody else can start. */
static cairn_code walk_map(struct sim_world *world, const char *workflow, const char *name,
                           struct slice element, cairn_error *reterr)
{
    const char *own = arena_printf(&world->arena, "%s:%s", workflow, name);
    NEED(own, reterr);
    return walk_list(world, own, true, scan_find(element, "steps"), reterr);
}

static cairn_code add_found(struct sim_world *world, const char *workflow, const char *kind,
                            const char *name, cairn_error *reterr)
{
    bool is_fork = strcmp(kind, "fork") == 0 || strcmp(kind, "parallel") == 0;
    world->has_people |= strcmp(kind, "wait") == 0 || strcmp(kind, "human") == 0;
    TRY(sim_add_step(world, workflow, name, reterr));
    const char *join = is_fork ? arena_printf(&world->arena, "%s_join", name) : NULL;
    NEED(join || !is_fork, reterr);
    return is_fork ? sim_add_step(world, workflow, join, reterr) : CAIRN_OK;
}

static cairn_code walk_element(struct sim_world *world, const char *workflow, bool is_map,
                               struct slice element, cairn_error *reterr)
{
    static const char *const kinds[] = {"step",  "save_point", "condition", "fork",  "parallel",
                                        "human", "wait",       "sleep",     "start", "map"};
    static const char *const lists[] = {"then", "else", "branches", "steps"};
    bool has_map = scan_find(element, "map").text != NULL;
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        struct slice value = scan_find(element, kinds[i]);
        const char *name = slice_is_string(value) ? slice_string(value, &world->arena) : NULL;
        if (!name)
            continue;
        if (is_map)
            TRY(add_found(world, workflow, kinds[i], name, reterr));
        if (strcmp(kinds[i], "start") == 0)
            TRY(check_start(world, workflow, name, element, reterr));
        if (strcmp(kinds[i], "map") == 0)
            TRY(walk_map(world, workflow, name, element, reterr));
    }
    for (size_t i = 0; !has_map && i < sizeof lists / sizeof *lists; i++)
        TRY(walk_list(world, workflow, is_map, scan_find(element, lists[i]), reterr));
    return CAIRN_OK;
}

/* is_map: the steps are not known yet.  The branches of a fork are a list of lists. */
static cairn_code walk_list(struct sim_world *world, const char *workflow, bool is_map,
                            struct slice list, cairn_error *reterr)
{
    struct scan scan, inner;
    struct slice item;
    if (!list.text || !scan_list(list, &scan))
        return CAIRN_OK;
    while (scan_item(&scan, &item))
        TRY(scan_list(item, &inner) ? walk_list(world, workflow, is_map, item, reterr)
                                    : walk_element(world, workflow, is_map, item, reterr));
    return CAIRN_OK;
}

static cairn_code learn_from_file(struct sim_world *world, const cairn_workflow *workflow,
                                  cairn_error *reterr)
{
    struct slice content = {0};
    const char *name = arena_strdup(&world->arena, workflow->name);
    NEED(name, reterr);
    scan_text(workflow->content, strlen(workflow->content), &content);
    return walk_list(world, name, false, scan_find(content, "steps"), reterr);
}

/* ---- names ----------------------------------------------------------------------------------- */

static bool is_ambiguous(const struct sim_world *world, size_t number)
{
    for (size_t i = 0; i < world->step_count; i++)
        if (i != number && strcmp(world->known[i].name, world->known[number].name) == 0)
            return true;
    return false;
}

/* Those of the workflow that is tried keep their names. */
cairn_code sim_name_steps(struct sim_world *world, cairn_error *reterr)
{
    world->steps = arena_array(&world->arena, world->step_count + 1, sizeof *world->steps);
    NEED(world->steps, reterr);
    for (size_t i = 0; i < world->step_count; i++) {
        const struct sim_step *step = &world->known[i];
        bool is_long = i >= world->own_count && is_ambiguous(world, i);
        world->steps[i] = is_long
                              ? arena_printf(&world->arena, "%s.%s", step->workflow, step->name)
                              : step->name;
        NEED(world->steps[i], reterr);
    }
    return CAIRN_OK;
}

cairn_code sim_learn(struct sim_world *world, cairn_error *reterr)
{
    cleanup(free_pagep) cairn_page *all = NULL;
    TRY(learn_steps(world, world->workflow, world->version, reterr));
    world->own_count = world->step_count;
    TRY(cairn_workflow_list(world->engine, NULL, WORKFLOWS_MAX, &all, reterr));
    for (size_t i = 0; i < cairn_page_count(all); i++) {
        const cairn_workflow *workflow = cairn_page_workflow(all, i);
        if (strcmp(workflow->name, world->workflow) != 0)
            TRY(learn_steps(world, workflow->name, workflow->version, reterr));
    }
    for (size_t i = 0; i < cairn_page_count(all); i++)
        TRY(learn_from_file(world, cairn_page_workflow(all, i), reterr));
    return sim_name_steps(world, reterr);
}
