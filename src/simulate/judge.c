/* simulate/judge.c - how an instance has ended, by what the store says, and which laws it breaks.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * Nothing is known of the run but its rows and events: it may have been made by anybody.
 */
#include "simulate/judge.h"

#include "base/error.h"
#include "base/mem.h"
#include "simulate/run.h"
#include "simulate/world.h"

#include <stddef.h>
#include <string.h>

enum { PAGE = 1000 };

static const char ENDS[] = "every instance ends";
static const char UNDONE[] = "what was done is undone when the instance is rolled back";
static const char ONLY_THEN[] = "nothing is undone unless the instance is rolled back";
static const char ONCE[] = "nothing is undone twice";

/* What the laws that always count ask of one instance. */
struct conduct {
    bool is_rolled_back; /* since the last restart or retry */
    bool has_save_points, has_done;
    bool *is_undoing; /* of each step: its compensation was called */
    bool *is_undone;  /* of each step: undone, and not called since */
    bool is_any_undone, is_undone_twice;
};

struct judging {
    struct run run;
    struct sim_world world;
    struct sim_plan plan;
    struct sim_end end;
    bool breaks_ends, breaks_undone, breaks_only_then, breaks_once;
};

/* Calls that nobody makes: with real handlers, what happened is read from the events. */
static cairn_code no_work(void *arg, cairn_engine *engine, cairn_error *reterr)
{
    (void)arg;
    (void)engine;
    (void)reterr;
    return CAIRN_OK;
}

/* ---- who belongs to it ------------------------------------------------------------------------- */

static cairn_code learn_steps(struct judging *judging, const char *id, const char *workflow)
{
    for (char *cursor = NULL;;) {
        cleanup(free_pagep) cairn_page *page = NULL;
        TRY(cairn_instance_steps(judging->world.engine, id, cursor, PAGE, &page,
                                 judging->run.reterr));
        for (size_t i = 0; i < cairn_page_count(page); i++)
            TRY(sim_add_step(&judging->world, workflow, cairn_page_step(page, i)->name,
                             judging->run.reterr));
        if (!cairn_page_next(page))
            return CAIRN_OK;
        cursor = arena_strdup(judging->run.arena, cairn_page_next(page));
        NEED(cursor, judging->run.reterr);
    }
}

static cairn_code add_children(struct judging *judging, const char *id)
{
    cairn_instance_filter filter = CAIRN_INSTANCE_FILTER_DEFAULTS;
    filter.parent = id;
    filter.limit = PAGE;
    for (;;) {
        cleanup(free_pagep) cairn_page *page = NULL;
        TRY(cairn_instance_list(judging->world.engine, &filter, &page, judging->run.reterr));
        for (size_t i = 0; i < cairn_page_count(page); i++) {
            const cairn_instance *child = cairn_page_instance(page, i);
            TRY(member_add(&judging->run, child->id, child->workflow));
        }
        if (!cairn_page_next(page))
            return CAIRN_OK;
        filter.cursor = arena_strdup(judging->run.arena, cairn_page_next(page));
        NEED(filter.cursor, judging->run.reterr);
    }
}

/* Children of children stand behind them in the list, so one walk finds all. */
static cairn_code gather(struct judging *judging, const char *id)
{
    cleanup(free_pagep) cairn_page *page = NULL;
    struct run *run = &judging->run;
    TRY(cairn_instance_get(judging->world.engine, id, &page, run->reterr));
    TRY(member_add(run, id, cairn_page_instance(page, 0)->workflow));
    for (size_t i = 0; i < run->members.count; i++) {
        TRY(learn_steps(judging, run->members.items[i].id, run->members.items[i].workflow));
        if (i == 0)
            judging->world.own_count = judging->world.step_count;
        TRY(add_children(judging, run->members.items[i].id));
    }
    judging->world.workflow = run->members.items[0].workflow;
    return sim_name_steps(&judging->world, run->reterr);
}

/* ---- the laws that always count ---------------------------------------------------------------- */

static void hear_event(struct judging *judging, const char *id, const cairn_event *event,
                       struct conduct *conduct)
{
    int step = event->step ? run_step_number(&judging->run, id, event->step) : -1;
    /* A rollback that ends in its own commit is told by what it has rolled back. */
    if (strcmp(event->type, "workflow_compensating") == 0 ||
        strcmp(event->type, "cancellation_started") == 0 ||
        strcmp(event->type, "compensation_success") == 0)
        conduct->is_rolled_back = true;
    if (strcmp(event->type, "workflow_restarted") == 0 ||
        strcmp(event->type, "workflow_retried") == 0)
        conduct->is_rolled_back = false;
    if (step < 0)
        return;
    if (strcmp(event->type, "step_started") == 0)
        conduct->is_undone[step] = false;
    if (strcmp(event->type, "compensation_started") == 0)
        conduct->is_undoing[step] = true;
    if (strcmp(event->type, "compensation_success") == 0 && conduct->is_undoing[step]) {
        conduct->is_undoing[step] = false;
        conduct->is_undone_twice |= conduct->is_undone[step];
        conduct->is_undone[step] = conduct->is_any_undone = true;
    }
}

static cairn_code hear_events(struct judging *judging, const char *id, struct conduct *conduct)
{
    for (char *cursor = NULL;;) {
        cleanup(free_pagep) cairn_page *page = NULL;
        TRY(cairn_instance_events(judging->world.engine, id, cursor, PAGE, &page,
                                  judging->run.reterr));
        for (size_t i = 0; i < cairn_page_count(page); i++)
            hear_event(judging, id, cairn_page_event(page, i), conduct);
        if (!cairn_page_next(page))
            return CAIRN_OK;
        cursor = arena_strdup(judging->run.arena, cairn_page_next(page));
        NEED(cursor, judging->run.reterr);
    }
}

static cairn_code look_at_steps(struct judging *judging, const char *id,
                                struct conduct *conduct)
{
    for (char *cursor = NULL;;) {
        cleanup(free_pagep) cairn_page *page = NULL;
        TRY(cairn_instance_steps(judging->world.engine, id, cursor, PAGE, &page,
                                 judging->run.reterr));
        for (size_t i = 0; i < cairn_page_count(page); i++) {
            const cairn_step *step = cairn_page_step(page, i);
            conduct->has_save_points |= step->kind_code == CAIRN_STEP_KIND_SAVE_POINT;
            conduct->has_done |= step->kind_code == CAIRN_STEP_KIND_TASK &&
                                 step->status_code == CAIRN_STEP_COMPLETED;
        }
        if (!cairn_page_next(page))
            return CAIRN_OK;
        cursor = arena_strdup(judging->run.arena, cairn_page_next(page));
        NEED(cursor, judging->run.reterr);
    }
}

static bool has_ended(cairn_instance_status status)
{
    return status == CAIRN_INSTANCE_COMPLETED || status == CAIRN_INSTANCE_FAILED ||
           status == CAIRN_INSTANCE_CANCELLED || status == CAIRN_INSTANCE_ABORTED;
}

/* An abort stops an undo where it is. */
static cairn_code judge_member(struct judging *judging, const char *id,
                               cairn_instance_status *ret_status)
{
    cleanup(free_pagep) cairn_page *page = NULL;
    struct run *run = &judging->run;
    struct conduct conduct = {0};
    size_t count = judging->world.step_count + 1;
    conduct.is_undone = arena_array(run->arena, count, sizeof *conduct.is_undone);
    conduct.is_undoing = arena_array(run->arena, count, sizeof *conduct.is_undoing);
    NEED(conduct.is_undone && conduct.is_undoing, run->reterr);
    TRY(cairn_instance_get(judging->world.engine, id, &page, run->reterr));
    cairn_instance_status status = cairn_page_instance(page, 0)->status_code;
    TRY(hear_events(judging, id, &conduct));
    TRY(look_at_steps(judging, id, &conduct));
    bool is_whole = (status == CAIRN_INSTANCE_FAILED || status == CAIRN_INSTANCE_CANCELLED) &&
                    conduct.is_rolled_back && !conduct.has_save_points;
    judging->breaks_ends |= !has_ended(status);
    judging->breaks_undone |= is_whole && conduct.has_done;
    judging->breaks_only_then |=
        conduct.is_any_undone && !conduct.is_rolled_back && status == CAIRN_INSTANCE_COMPLETED;
    judging->breaks_once |= conduct.is_undone_twice;
    *ret_status = status;
    return CAIRN_OK;
}

/* ---- the verdict ------------------------------------------------------------------------------- */

static cairn_code note_facts(struct judging *judging)
{
    struct run *run = &judging->run;
    size_t count = judging->world.step_count + 1;
    run->end->steps = arena_array(run->arena, count, sizeof *run->end->steps);
    run->end->is_reached = arena_array(run->arena, count, sizeof *run->end->is_reached);
    run->done = arena_array(run->arena, count, sizeof *run->done);
    run->is_undoing = arena_array(run->arena, count, sizeof *run->is_undoing);
    NEED(run->end->steps && run->end->is_reached && run->done && run->is_undoing, run->reterr);
    for (size_t i = 0; i < run->members.count; i++) {
        cairn_instance_status status = 0;
        const char *id = run->members.items[i].id;
        TRY(note_events_of(run, id));
        TRY(run_note_steps(run, id));
        TRY(judge_member(judging, id, &status));
        if (i == 0)
            run->end->status = has_ended(status) ? status : 0;
    }
    return CAIRN_OK;
}

static void write_steps(const struct judging *judging, struct json_out *out, const char *key,
                        size_t fact)
{
    json_open(json_key(out, key), '[');
    for (size_t i = 0; i < judging->world.step_count; i++)
        if (*(const bool *)((const char *)&judging->end.steps[i] + fact))
            json_str(out, judging->world.steps[i]);
    json_close(out, ']');
}

static cairn_code write_broken(struct judging *judging, const char *const *laws,
                               size_t law_count, const struct sim_blame *blame,
                               struct json_out *out)
{
    const struct {
        bool is_broken;
        const char *law;
    } always[] = {{judging->breaks_ends, ENDS},
                  {judging->breaks_undone, UNDONE},
                  {judging->breaks_only_then, ONLY_THEN},
                  {judging->breaks_once, ONCE}};
    struct law *law = arena_zalloc(judging->run.arena, sizeof *law);
    NEED(law, judging->run.reterr);
    json_open(json_key(out, "broken"), '[');
    for (size_t i = 0; i < blame->count; i++)
        json_str(out, blame->laws[i]);
    for (size_t i = 0; i < sizeof always / sizeof *always; i++)
        if (always[i].is_broken)
            json_str(out, always[i].law);
    for (size_t i = 0; i < law_count; i++) {
        TRY(law_read(laws[i], judging->world.steps, judging->world.step_count, law,
                     judging->run.reterr));
        if (!law_holds(law, judging->end.steps, judging->end.status))
            json_str(out, laws[i]);
    }
    json_close(out, ']');
    return CAIRN_OK;
}

static cairn_code judge(struct judging *judging, const char *id, const char *const *laws,
                        size_t law_count, const struct sim_blame *blame, struct json_out *out)
{
    cleanup(free_pagep) cairn_page *page = NULL;
    TRY(gather(judging, id));
    TRY(note_facts(judging));
    TRY(cairn_instance_get(judging->world.engine, id, &page, judging->run.reterr));
    json_str(json_key(out, "workflow"), judging->world.workflow);
    json_str(json_key(out, "status"), cairn_page_instance(page, 0)->status);
    write_steps(judging, out, "called", offsetof(struct law_step, is_called));
    write_steps(judging, out, "done", offsetof(struct law_step, is_done));
    write_steps(judging, out, "undone", offsetof(struct law_step, is_undone));
    return write_broken(judging, laws, law_count, blame, out);
}

void sim_write_blame(const struct sim_blame *blame, struct json_out *out)
{
    json_open(json_key(out, "broken"), '[');
    for (size_t i = 0; i < blame->count; i++)
        json_str(out, blame->laws[i]);
    json_close(out, ']');
}

cairn_code sim_judge(cairn_engine *engine, const char *id, const char *const *laws,
                     size_t law_count, const struct sim_blame *blame, struct json_out *out,
                     cairn_error *reterr)
{
    struct judging judging = {.plan = {.work = no_work}, .world = {.engine = engine}};
    judging.world.plan = &judging.plan;
    judging.run = (struct run){.world = &judging.world,
                               .end = &judging.end,
                               .arena = &judging.end.arena,
                               .reterr = reterr};
    cairn_code code = judge(&judging, id, laws, law_count, blame, out);
    sim_end_done(&judging.end);
    arena_done(&judging.world.arena);
    return code;
}
