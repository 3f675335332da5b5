/* simulate/world.c - an engine in memory with a virtual clock, and the workflows that are tried in it.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "simulate/simulate.h"

#include "base/clock.h"
#include "base/error.h"
#include "base/mem.h"
#include "base/scan.h"

#include <string.h>

/* 2030-01-01, so that a story does not depend on the day on which it is told. */
#define WORLD_BEGINS_US (INT64_C(1893456000) * US_PER_SEC)

static void free_pagep(cairn_page **page)
{
    cairn_page_free(*page);
}

static cairn_code open_engine(struct sim_world *world, cairn_error *reterr)
{
    cairn_open_options options = CAIRN_OPEN_DEFAULTS;
    options.url = "memory:";
    options.virtual_clock = true;
    options.start_us = WORLD_BEGINS_US;
    options.no_timers = true; /* they are applied when the clock is moved */
    options.seed = 1;
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

static cairn_code add_steps(struct sim_world *world, const cairn_page *page,
                            cairn_error *reterr)
{
    for (size_t i = 0; i < cairn_page_count(page); i++) {
        const cairn_step *step = cairn_page_step(page, i);
        size_t room = world->step_count;
        if (step->kind_code == CAIRN_STEP_KIND_FUNCTION)
            return fail(reterr, CAIRN_E_BAD_INPUT,
                        "cannot try %s: it is a function, whose steps only its code knows",
                        world->workflow);
        const char **steps = arena_grow(&world->arena, world->steps, world->step_count, 1,
                                        &room, sizeof *world->steps);
        NEED(steps, reterr);
        world->steps = steps;
        steps[world->step_count] = arena_strdup(&world->arena, step->name);
        NEED(steps[world->step_count], reterr);
        world->step_count++;
        world->has_forks |= step->kind_code == CAIRN_STEP_KIND_FORK;
        world->has_people |=
            step->kind_code == CAIRN_STEP_KIND_WAIT || step->kind_code == CAIRN_STEP_KIND_HUMAN;
    }
    return CAIRN_OK;
}

/* The steps stand in the store from the start of an instance on; this one begins in a thousand years. */
static cairn_code learn_steps(struct sim_world *world, cairn_error *reterr)
{
    cairn_start_options options = CAIRN_START_DEFAULTS;
    cairn_enqueued started;
    char *cursor = NULL;
    options.workflow = world->workflow;
    options.version = world->version;
    options.start_at_us = WORLD_BEGINS_US + 1000 * 365 * 24 * 60 * US_PER_MIN;
    TRY(cairn_instance_start(world->engine, &options, &started, reterr));
    for (;;) {
        cleanup(free_pagep) cairn_page *page = NULL;
        TRY(cairn_instance_steps(world->engine, started.id, cursor, 1000, &page, reterr));
        TRY(add_steps(world, page, reterr));
        if (!cairn_page_next(page))
            break;
        cursor = arena_strdup(&world->arena, cairn_page_next(page));
        NEED(cursor, reterr);
    }
    return cairn_instance_abort(world->engine, started.id, "simulation", "learned", reterr);
}

cairn_code sim_world_open(struct sim_world *world, const struct sim_plan *plan,
                          cairn_error *reterr)
{
    *world = (struct sim_world){.plan = plan};
    cairn_code code = open_engine(world, reterr);
    if (!code)
        code = deploy(world, reterr);
    if (!code)
        code = learn_steps(world, reterr);
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
