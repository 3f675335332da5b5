/* simulate/people.c - signals and decisions: whether they come, when, and what they say.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "simulate/run.h"

#include "base/error.h"
#include "base/mem.h"

/* How long somebody takes who is given no deadline. */
#define PATIENCE_US (60 * US_PER_MIN)

static bool is_waiting(const cairn_step *step)
{
    return step->status_code == CAIRN_STEP_WAITING_DECISION ||
           (step->status_code == CAIRN_STEP_WAITING && step->waiting_event);
}

/* Before the deadline: who comes at all comes in time. */
static int64_t draw_time(struct run *run, const cairn_step *step)
{
    int64_t left_us = step->deadline_at_us ? step->deadline_at_us - run->now_us : PATIENCE_US;
    int64_t left_ms = left_us / US_PER_MS;
    return run->now_us +
           (left_ms > 1 ? (int64_t)rng_below(&run->rng, (uint64_t)left_ms) * US_PER_MS : 0);
}

static cairn_code plan_visit(struct run *run, const char *id, int number,
                             const cairn_step *step)
{
    const char *name = run->world->steps[number];
    bool is_decision = step->status_code == CAIRN_STEP_WAITING_DECISION;
    bool comes = is_decision || rng_unit(&run->rng) < run->world->plan->signal;
    if (!comes) {
        tell(run, "%s waits for the event %s, which does not come", name, step->waiting_event);
        return CAIRN_OK;
    }
    tell(run, is_decision ? "%s waits for a decision" : "%s waits for the event %s", name,
         step->waiting_event);
    struct visit *visit = list_add(run->arena, &run->visits);
    NEED(visit, run->reterr);
    *visit = (struct visit){.id = id, .step = number, .at_us = draw_time(run, step)};
    if (is_decision)
        visit->is_confirmed = rng_unit(&run->rng) < run->world->plan->confirm;
    else
        visit->event = arena_strdup(run->arena, step->waiting_event);
    NEED(is_decision || visit->event, run->reterr);
    run->open_visits++;
    return CAIRN_OK;
}

static cairn_code plan_page(struct run *run, struct member *member, const cairn_page *page)
{
    for (size_t i = 0; i < cairn_page_count(page); i++) {
        const cairn_step *step = cairn_page_step(page, i);
        int number = run_step_number(run, member->id, step->name);
        if (number < 0)
            continue;
        bool was_expected = member->is_expected[number];
        member->is_expected[number] = is_waiting(step);
        if (member->is_expected[number] && !was_expected)
            TRY(plan_visit(run, member->id, number, step));
    }
    return CAIRN_OK;
}

static cairn_code plan_member(struct run *run, struct member *member)
{
    for (char *cursor = NULL;;) {
        cleanup(free_pagep) cairn_page *page = NULL;
        TRY(run_read_steps(run, member->id, cursor, &page));
        TRY(plan_page(run, member, page));
        if (!cairn_page_next(page))
            return CAIRN_OK;
        cursor = arena_strdup(run->arena, cairn_page_next(page));
        NEED(cursor, run->reterr);
    }
}

cairn_code people_plan(struct run *run)
{
    TRY(members_look(run, "active"));
    for (size_t i = 0; i < run->members.count; i++)
        TRY(plan_member(run, &run->members.items[i]));
    return CAIRN_OK;
}

static cairn_code send_signal(struct run *run, const struct visit *visit)
{
    cairn_signal_options options = CAIRN_SIGNAL_DEFAULTS;
    options.instance_id = visit->id;
    options.event = visit->event;
    options.no_latch = true;
    tell(run, "the event %s arrives", visit->event);
    return cairn_instance_signal(run->world->engine, &options, NULL, run->reterr);
}

static cairn_code decide(struct run *run, const struct visit *visit)
{
    const char *step = run->world->known[visit->step].name;
    tell(run, "somebody %s %s", visit->is_confirmed ? "confirms" : "rejects",
         run->world->steps[visit->step]);
    return cairn_instance_decide(run->world->engine, visit->id, step, visit->is_confirmed,
                                 "somebody", NULL, run->reterr);
}

cairn_code people_visit_due(struct run *run)
{
    for (size_t i = 0; i < run->visits.count; i++) {
        struct visit *visit = &run->visits.items[i];
        if (visit->is_over || visit->at_us > run->now_us)
            continue;
        visit->is_over = true;
        run->open_visits--;
        /* What was waited for may be over by now. */
        cairn_code code = visit->event ? send_signal(run, visit) : decide(run, visit);
        if (code && code != CAIRN_E_WRONG_STATE)
            return code;
        TRY(tell_events(run));
    }
    if (run->open_visits == 0)
        run->visits.count = 0;
    return CAIRN_OK;
}
