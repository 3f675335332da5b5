/* simulate/world.c - an engine in memory with a virtual clock, and the workflows that are tried in it.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "simulate/world.h"

#include "base/clock.h"
#include "base/error.h"
#include "base/mem.h"
#include "base/scan.h"

#include <string.h>

/* A failure in a long list is that of a short one; more would only make a run slow. */
enum { MAP_ELEMENTS = 5 };

static cairn_code open_engine(struct sim_world *world, cairn_error *reterr)
{
    cairn_open_options options = CAIRN_OPEN_DEFAULTS;
    options.url = "memory:";
    options.virtual_clock = true;
    options.start_us = WORLD_BEGINS_US;
    options.no_timers = true; /* they are applied when the clock is moved */
    options.seed = 1;
    options.map_elements = MAP_ELEMENTS;
    options.solo = world->plan->work == NULL; /* real handlers have a worker's threads */
    return cairn_open(&options, &world->engine, reterr);
}

/* The input that is given, else the file's "input": {"example": ...}. */
static cairn_code choose_input(struct sim_world *world, const cairn_workflow *workflow,
                               cairn_error *reterr)
{
    struct slice content = {0};
    scan_text(workflow->content, strlen(workflow->content), &content);
    struct slice example = scan_find(scan_find(content, "input"), "example");
    if (world->plan->input)
        world->input = arena_strdup(&world->arena, world->plan->input);
    else
        world->input = example.text ? slice_json(example, &world->arena)
                                    : arena_strdup(&world->arena, "{}");
    NEED(world->input, reterr);
    return CAIRN_OK;
}

/* The first file's workflow is alone in the store when its name is asked for. */
static cairn_code deploy(struct sim_world *world, cairn_error *reterr)
{
    const struct sim_plan *plan = world->plan;
    cleanup(free_pagep) cairn_page *page = NULL;
    TRY(cairn_workflow_deploy(world->engine, plan->files[0], plan->texts[0], NULL, reterr));
    TRY(cairn_workflow_list(world->engine, NULL, 1, &page, reterr));
    const cairn_workflow *workflow = cairn_page_workflow(page, 0);
    world->workflow = arena_strdup(&world->arena, workflow->name);
    world->version = workflow->version;
    NEED(world->workflow, reterr);
    TRY(choose_input(world, workflow, reterr));
    for (size_t i = 1; i < plan->file_count; i++)
        TRY(cairn_workflow_deploy(world->engine, plan->files[i], plan->texts[i], NULL, reterr));
    return CAIRN_OK;
}

static cairn_code deploy_and_learn(struct sim_world *world, cairn_error *reterr)
{
    TRY(deploy(world, reterr));
    return sim_learn(world, reterr);
}

cairn_code sim_world_open(struct sim_world *world, const struct sim_plan *plan,
                          cairn_error *reterr)
{
    *world = (struct sim_world){.plan = plan};
    cairn_code code = open_engine(world, reterr);
    if (!code)
        code = deploy_and_learn(world, reterr);
    if (code)
        sim_world_close(world);
    return code;
}

void sim_world_close(struct sim_world *world)
{
    cairn_close(world->engine);
    arena_done(&world->arena);
    *world = (struct sim_world){0};
}
