/* simulate/run.c - one run: from one thing that is due to the next, until the instance has ended or nothing is due.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "simulate/run.h"

#include "base/error.h"
#include "base/mem.h"

#include <string.h>

/* A run that goes on for longer, or that does more, never ends. */
#define HORIZON_US (INT64_C(10) * 366 * 24 * 60 * US_PER_MIN)
enum { TURNS_MAX = 100000 };

void free_pagep(cairn_page **page)
{
    cairn_page_free(*page);
}

cairn_code run_read_steps(const struct run *run, const char *id, const char *cursor,
                          cairn_page **ret_steps)
{
    size_t count = run->world->step_count;
    return cairn_instance_steps(run->world->engine, id, cursor,
                                count < 1000 ? (uint32_t)count : 1000, ret_steps, run->reterr);
}

cairn_code run_note_success(struct run *run, int step, bool is_undo)
{
    struct sim_end *end = run->end;
    size_t room = end->undone_count;
    run->done[step] += is_undo ? -1 : 1;
    end->steps[step].is_done =
        (size_t)step < run->world->own_count ? !is_undo : run->done[step] > 0;
    /* The elements of a map are undone in any order: of each step the first one stands for all. */
    bool is_listed = (size_t)step >= run->world->own_count && end->steps[step].is_undone;
    end->steps[step].is_undone |= is_undo;
    if (!is_undo || is_listed)
        return CAIRN_OK;
    int *undone =
        arena_grow(run->arena, end->undone, end->undone_count, 1, &room, sizeof *undone);
    NEED(undone, run->reterr);
    undone[end->undone_count++] = step;
    end->undone = undone;
    return CAIRN_OK;
}

/* ---- time -------------------------------------------------------------------------------------- */

static cairn_code move_clock(struct run *run, int64_t to_us)
{
    int64_t ms = to_us > run->now_us ? (to_us - run->now_us + US_PER_MS - 1) / US_PER_MS : 0;
    return cairn_clock_advance(run->world->engine, ms, &run->now_us, run->reterr);
}

static void take_earlier(int64_t *at_us, int64_t other_us)
{
    if (other_us && (*at_us == 0 || other_us < *at_us))
        *at_us = other_us;
}

bool run_is_single(const struct run *run)
{
    return !run->world->has_forks && !run->world->has_children;
}

/* A call ends before its timeout, so nothing else can happen while it is alone. */
static bool is_call_alone(const struct run *run)
{
    return run->open_calls == 1 && run->open_visits == 0 && run_is_single(run);
}

/* When the next thing happens; 0: nothing will. */
static cairn_code find_next(struct run *run, int64_t *ret_at_us)
{
    if (!is_call_alone(run))
        TRY(cairn_clock_next(run->world->engine, ret_at_us, run->reterr));
    for (size_t i = 0; i < run->calls.count; i++)
        if (!run->calls.items[i].is_over)
            take_earlier(ret_at_us, run->calls.items[i].at_us);
    for (size_t i = 0; i < run->visits.count; i++)
        if (!run->visits.items[i].is_over)
            take_earlier(ret_at_us, run->visits.items[i].at_us);
    return CAIRN_OK;
}

/* ---- the instance ------------------------------------------------------------------------------ */

static bool has_ended(cairn_instance_status status)
{
    return status == CAIRN_INSTANCE_COMPLETED || status == CAIRN_INSTANCE_FAILED ||
           status == CAIRN_INSTANCE_CANCELLED || status == CAIRN_INSTANCE_ABORTED;
}

static cairn_code read_status(struct run *run, bool *ret_has_ended)
{
    cleanup(free_pagep) cairn_page *page = NULL;
    TRY(cairn_instance_get(run->world->engine, run->id, &page, run->reterr));
    const cairn_instance *instance = cairn_page_instance(page, 0);
    *ret_has_ended = has_ended(instance->status_code);
    run->end->status = *ret_has_ended ? instance->status_code : 0;
    run->end->word = arena_strdup(run->arena, instance->status);
    NEED(run->end->word, run->reterr);
    return CAIRN_OK;
}

/* Each run begins at a full second, so that rounding is the same in all. */
static cairn_code begin(struct run *run, uint64_t seed)
{
    cairn_engine *engine = run->world->engine;
    cairn_start_options options = CAIRN_START_DEFAULTS;
    cairn_enqueued started;
    TRY(cairn_clock_now(engine, &run->now_us, run->reterr));
    TRY(move_clock(run, (run->now_us / US_PER_SEC + 1) * US_PER_SEC));
    TRY(cairn_clock_reseed(engine, seed, run->reterr));
    run->began_us = run->now_us;
    options.workflow = run->world->workflow;
    options.version = run->world->version;
    options.input = run->world->input;
    TRY(cairn_instance_start(engine, &options, &started, run->reterr));
    memcpy(run->id, started.id, sizeof run->id);
    TRY(members_begin(run));
    tell(run, "%s starts with the input %s", run->world->workflow, options.input);
    return CAIRN_OK;
}

/* ---- turns ------------------------------------------------------------------------------------- */

/* Plans what people do, and looks whether the instance has ended.  What it has started may go on after it. */
static cairn_code look_around(struct run *run, bool *ret_is_over)
{
    bool is_quiet = run->open_calls == 0 && run->open_visits == 0;
    bool may_go_on = run->world->has_children;
    *ret_is_over = false;
    if (is_quiet && !may_go_on)
        TRY(read_status(run, ret_is_over));
    if (*ret_is_over)
        return CAIRN_OK;
    /* One step that is called leaves nobody to wait for, unless there are others beside it. */
    if (run->world->has_people && (run->open_calls == 0 || !run_is_single(run)))
        TRY(people_plan(run));
    is_quiet = run->open_calls == 0 && run->open_visits == 0;
    return is_quiet && may_go_on ? read_status(run, ret_is_over) : CAIRN_OK;
}

/* *ret_is_over: the instance has ended, or nothing will happen any more. */
static cairn_code turn(struct run *run, bool *is_asked, bool *ret_is_over)
{
    int64_t next_us = 0;
    *ret_is_over = false;
    if (run->world->plan->work) {
        TRY(run->world->plan->work(run->world->plan->work_arg, run->world->engine,
                                   run->reterr));
        TRY(tell_events(run));
    } else if (!*is_asked) {
        TRY(act_claim(run));
    }
    TRY(look_around(run, ret_is_over));
    if (*ret_is_over)
        return CAIRN_OK;
    TRY(find_next(run, &next_us));
    if (next_us == 0 || next_us - run->began_us > HORIZON_US) {
        *ret_is_over = true;
        return CAIRN_OK;
    }
    TRY(move_clock(run, next_us));
    TRY(tell_events(run));
    TRY(act_end_due(run, is_asked));
    size_t expected = run->open_visits;
    TRY(people_visit_due(run));
    *is_asked &= run->open_visits == expected;
    return CAIRN_OK;
}

/* Of calls the run itself knows what they did; undoing a start rolls back what it has started.  Of steps of
 * children a fact is true if it is in one of them. */
static void note_step(struct run *run, size_t number, const cairn_step *step)
{
    struct law_step *facts = &run->end->steps[number];
    bool is_own = number < run->world->own_count;
    bool is_done =
        step->status_code == CAIRN_STEP_COMPLETED || step->status_code == CAIRN_STEP_CONFIRMED;
    run->end->is_reached[number] |=
        facts->is_called ||
        (step->status_code != CAIRN_STEP_PENDING && step->status_code != CAIRN_STEP_SKIPPED);
    facts->is_save_point = step->kind_code == CAIRN_STEP_KIND_SAVE_POINT;
    if (step->kind_code == CAIRN_STEP_KIND_START)
        facts->is_undone |= step->status_code == CAIRN_STEP_ROLLED_BACK;
    if (step->kind_code != CAIRN_STEP_KIND_TASK)
        facts->is_done = is_done || (!is_own && facts->is_done);
}

cairn_code run_note_steps(struct run *run, const char *id)
{
    for (char *cursor = NULL;;) {
        cleanup(free_pagep) cairn_page *page = NULL;
        TRY(run_read_steps(run, id, cursor, &page));
        for (size_t i = 0; i < cairn_page_count(page); i++) {
            const cairn_step *step = cairn_page_step(page, i);
            int number = run_step_number(run, id, step->name);
            if (number >= 0)
                note_step(run, (size_t)number, step);
        }
        if (!cairn_page_next(page))
            return CAIRN_OK;
        cursor = arena_strdup(run->arena, cairn_page_next(page));
        NEED(cursor, run->reterr);
    }
}

/* What never ends must not be in the way of the next run. */
static cairn_code finish(struct run *run)
{
    bool is_ended = run->end->status != 0;
    if (!is_ended)
        TRY(read_status(run, &is_ended));
    TRY(members_look(run, NULL));
    TRY(note_events_of_children(run));
    for (size_t i = 0; i < run->members.count; i++)
        TRY(run_note_steps(run, run->members.items[i].id));
    TRY(tell_events(run));
    TRY(tell_end(run));
    return is_ended && !run->world->has_children ? CAIRN_OK : members_end(run);
}

cairn_code sim_run(struct sim_world *world, uint64_t seed, struct buf *story,
                   struct sim_end *ret_end, cairn_error *reterr)
{
    *ret_end = (struct sim_end){0};
    struct run run = {.world = world,
                      .end = ret_end,
                      .arena = &ret_end->arena,
                      .story = story,
                      .reterr = reterr};
    rng_init(&run.rng, seed);
    ret_end->steps = arena_array(run.arena, world->step_count, sizeof *ret_end->steps);
    ret_end->is_reached =
        arena_array(run.arena, world->step_count, sizeof *ret_end->is_reached);
    run.done = arena_array(run.arena, world->step_count, sizeof *run.done);
    run.is_undoing = arena_array(run.arena, world->step_count, sizeof *run.is_undoing);
    NEED(ret_end->steps && ret_end->is_reached && run.done && run.is_undoing, reterr);
    TRY(begin(&run, seed));
    bool is_asked = false, is_over = false;
    for (int i = 0; i < TURNS_MAX && !is_over; i++)
        TRY(turn(&run, &is_asked, &is_over));
    return finish(&run);
}

void sim_end_done(struct sim_end *end)
{
    arena_done(&end->arena);
    *end = (struct sim_end){0};
}
