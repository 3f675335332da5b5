/* tests/spec/test_state_flow_children.c - functions and their children are undone together: what a
 * function has called, and a function that a step has started.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "family.h"

#include "function_world.h"

#include <stdio.h>
#include <string.h>

#define CHILD(more)                                                              \
    "{workflow: w, version: 1, steps: [{step: a, compensation: {handler: undo.a" \
    "}}, {save_point: p}, {step: b, compensation: {handler: undo.b" more "}}]}"

static int64_t patience_ms;
static bool is_good, is_plain;

/* first, a child between two steps, and then a bad end or another wait. */
static cairn_code shop(cairn_passage *passage, void *arg)
{
    struct function_world *world = arg;
    cairn_start_options child = CAIRN_START_DEFAULTS;
    child.workflow = "w";
    child.input = "{\"n\": 2}";
    PASS_ON(fn_step_undoable(world, "first"));
    cairn_code code = is_plain
                          ? cairn_passage_start_workflow(passage, "ask", &child, NULL, NULL)
                          : cairn_passage_call(passage, "ask", &child, patience_ms, NULL, NULL);
    if (code != CAIRN_E_TIMED_OUT)
        PASS_ON(code);
    PASS_ON(fn_step_undoable(world, "last"));
    if (is_good)
        return cairn_passage_wait_event(passage, NULL, "more", -1, NULL, NULL);
    cairn_passage_set_error(passage, "the end is bad");
    return CAIRN_E_INTERNAL;
}

static void begin_as(struct function_world *world, cairn_commit_mode mode, const char *child)
{
    patience_ms = -1;
    is_good = is_plain = false;
    fn_begin(world, shop, mode);
    CHECK_DONE(&world->flow.world, wf_deploy(&world->flow, child));
}

static void begin(struct function_world *world, cairn_commit_mode mode)
{
    begin_as(world, mode, CHILD(""));
}

/* The first run, and all of the child. */
static void do_child(struct function_world *world)
{
    fn_passage(world, "waiting");
    wf_do(&world->flow, "a");
    wf_do(&world->flow, "b");
}

static void check_child(struct function_world *world, size_t number, const char *status,
                        const char *steps)
{
    char id[40];
    fam_child(&world->flow, world->flow.id, number, id);
    fam_check(&world->flow, id, status, steps);
}

/* Beside other work that there is. */
static void complete_one(struct function_world *world, const char *type)
{
    struct task task;
    CHECK_INT(wf_take_many(&world->flow, "w", type, 1, &task), 1);
    CHECK_DONE(&world->flow.world, wf_report(&world->flow, &task, CAIRN_COMPLETE, "1"));
}

/* Then it is the child's turn. */
static void undo_last(struct function_world *world)
{
    wf_undo(&world->flow, "last");
    fam_settle(&world->flow);
}

#define UNDONE "a:rolled_back p:rolled_back b:rolled_back"

TEST(a_function_that_fails_rolls_back_the_child_of_a_call_at_its_place)
{
    struct function_world world;
    char child[40];
    MODES(mode)
    {
        begin(&world, mode);
        do_child(&world);
        fn_passage(&world, "rolled_back");
        undo_last(&world);
        check_child(&world, 0, "compensating", "a:completed p:completed b:compensation");
        fn_check_steps(&world, "f:rolled_back first:completed ask:compensation "
                               "ask:end:rolled_back last:rolled_back");
        fn_undo_all(&world, "b a first"); /* all of it, and then what was before */
        fn_check_status(&world, "failed");
        wf_check_last_error(&world.flow, "f", "the end is bad", 1);
        fn_check_steps(&world, "f:rolled_back first:rolled_back ask:rolled_back "
                               "ask:end:rolled_back last:rolled_back");
        check_child(&world, 0, "cancelled", UNDONE);
        fam_child(&world.flow, world.flow.id, 0, child);
        fam_go(&world.flow, child);
        CHECK_INT(wf_instance(&world.flow)->generation, 2);
        fn_end(&world);
    }
}

TEST(a_function_that_is_cancelled_rolls_back_what_its_calls_have_done)
{
    struct function_world world;
    begin(&world, CAIRN_COMMIT_STEP);
    is_good = true;
    do_child(&world);
    fn_passage(&world, "waiting");
    fn_cancel(&world);
    fn_undo_all(&world, "last b a first");
    fn_check_status(&world, "cancelled");
    check_child(&world, 0, "cancelled", UNDONE);
    fn_end(&world);
}

TEST(a_child_that_had_completed_before_its_parent_heard_of_it_is_rolled_back)
{
    struct function_world world;
    begin(&world, CAIRN_COMMIT_STEP);
    fn_passage(&world, "waiting");
    wf_do(&world.flow, "a");
    struct task b = wf_take_step(&world.flow, "b");
    CHECK_DONE(&world.flow.world, wf_report(&world.flow, &b, CAIRN_COMPLETE, "1"));
    fn_cancel(&world);
    fn_undo_all(&world, "b a first");
    fn_check_status(&world, "cancelled");
    check_child(&world, 0, "cancelled", UNDONE);
    fn_end(&world);
}

TEST(a_why_says_which_child_is_being_undone)
{
    struct function_world world;
    struct world *w = &world.flow.world;
    cairn_page *page = NULL;
    begin(&world, CAIRN_COMMIT_STEP);
    do_child(&world);
    fn_passage(&world, "rolled_back");
    undo_last(&world);
    CHECK_DONE(w, cairn_instance_why(w->engine, world.flow.id, &page, &w->error));
    CHECK_STR(cairn_page_why(page, 0)->code, "child");
    CHECK_STR(cairn_page_why(page, 0)->step, "ask");
    cairn_page_free(page);
    fn_end(&world);
}

TEST(a_child_that_a_call_no_longer_waited_for_is_cancelled_by_the_undo)
{
    struct function_world world;
    begin(&world, CAIRN_COMMIT_STEP);
    patience_ms = 1000;
    fn_passage(&world, "waiting");
    wf_do(&world.flow, "a");
    wf_advance(&world.flow, 1000);
    fn_passage(&world, "rolled_back");
    check_child(&world, 0, "running", "a:completed p:completed b:ready");
    complete_one(&world, "undo.last");
    fn_undo_all(&world, "a first");
    fn_check_status(&world, "failed");
    check_child(&world, 0, "cancelled", "a:rolled_back p:rolled_back b:skipped");
    fn_end(&world);
}

TEST(what_a_function_has_only_started_is_left_alone)
{
    struct function_world world;
    cairn_page *page = NULL;
    struct world *w = &world.flow.world;
    begin(&world, CAIRN_COMMIT_STEP);
    is_plain = true;
    fn_passage(&world, "rolled_back");
    complete_one(&world, "a");
    complete_one(&world, "b");
    fn_undo_all(&world, "last first");
    fn_check_status(&world, "failed");
    CHECK_DONE(w, cairn_instance_list(w->engine, NULL, &page, &w->error));
    CHECK_STR(cairn_page_instance(page, 0)->status, "completed");
    cairn_page_free(page);
    fn_end(&world);
}

TEST(a_child_that_cannot_be_undone_fails_the_call_and_the_rest_is_undone)
{
    struct function_world world;
    struct flow_world *fw = &world.flow;
    char child[40], parent[40];
    begin_as(&world, CAIRN_COMMIT_STEP, CHILD(", max_attempts: 1"));
    do_child(&world);
    fn_passage(&world, "rolled_back");
    undo_last(&world);
    struct task undo = wf_take_undo(fw, "b");
    CHECK_DONE(&fw->world, wf_report(fw, &undo, CAIRN_FAIL, "stuck"));
    fn_undo_all(&world, "a first");
    fn_check_status(&world, "failed");
    fn_check_steps(&world, "f:rolled_back first:rolled_back ask:failed "
                           "ask:end:rolled_back last:rolled_back");
    check_child(&world, 0, "failed", "a:rolled_back p:rolled_back b:failed");

    /* The call can be undone once its child has been. */
    fam_child(fw, fw->id, 0, child);
    snprintf(parent, sizeof parent, "%s", fw->id);
    CHECK_DONE(&fw->world, sg_requeue(fw, "ask", NULL));
    fam_settle(fw);
    CHECK_STR(fn_row(&world, "ask")->status, "failed");
    fam_go(fw, child);
    CHECK_DONE(&fw->world, sg_requeue(fw, "b", NULL));
    wf_undo(fw, "b");
    wf_check_status(fw, "cancelled");
    fam_go(fw, parent);
    CHECK_DONE(&fw->world, sg_requeue(fw, "ask", NULL));
    fam_settle(fw);
    CHECK_STR(fn_row(&world, "ask")->status, "rolled_back");
    fn_check_status(&world, "failed");
    fn_end(&world);
}

TEST(a_child_that_is_restarted_before_the_function_knows_of_its_undo_is_undone_again)
{
    struct function_world world;
    struct flow_world *fw = &world.flow;
    char child[40], parent[40];
    begin(&world, CAIRN_COMMIT_STEP);
    do_child(&world);
    fn_passage(&world, "rolled_back");
    undo_last(&world);
    wf_undo(fw, "b");
    wf_undo(fw, "a");
    fam_child(fw, fw->id, 0, child);
    snprintf(parent, sizeof parent, "%s", fw->id);
    fam_go(fw, child);
    CHECK_DONE(&fw->world, wf_restart(fw));
    wf_do(fw, "a");
    wf_do(fw, "b");
    fam_go(fw, parent);
    fn_undo_all(&world, "b a first");
    fn_check_status(&world, "failed");
    check_child(&world, 0, "cancelled", UNDONE);
    fn_end(&world);
}

TEST(a_retry_after_the_undo_calls_another_child)
{
    struct function_world world;
    begin(&world, CAIRN_COMMIT_STEP);
    do_child(&world);
    fn_passage(&world, "rolled_back");
    fn_undo_all(&world, "last b a first");
    CHECK_DONE(&world.flow.world, wf_again(&world.flow));
    is_good = true;
    do_child(&world);
    fn_passage(&world, "waiting");
    check_child(&world, 0, "cancelled", UNDONE);
    check_child(&world, 1, "completed", "a:completed p:completed b:completed");
    fn_cancel(&world); /* and that one is undone in its turn */
    fn_undo_all(&world, "last b a first");
    check_child(&world, 1, "cancelled", UNDONE);
    fn_end(&world);
}

TEST(an_abort_during_the_undo_aborts_the_child_and_a_restart_calls_another)
{
    struct function_world world;
    begin(&world, CAIRN_COMMIT_STEP);
    do_child(&world);
    fn_passage(&world, "rolled_back");
    undo_last(&world);
    fn_abort(&world);
    fam_settle(&world.flow);
    fn_check_status(&world, "aborted");
    check_child(&world, 0, "aborted", "a:completed p:completed b:failed");
    fn_restart(&world);
    do_child(&world);
    fn_passage(&world, "rolled_back");
    fn_undo_all(&world, "last b a first");
    fn_check_status(&world, "failed");
    check_child(&world, 0, "aborted", "a:completed p:completed b:failed");
    check_child(&world, 1, "cancelled", UNDONE);
    fn_end(&world);
}

/* ---- functions as children ------------------------------------------------------------------ */

/* A function that calls itself once, with another input. */
static cairn_code nest(cairn_passage *passage, void *arg)
{
    struct function_world *world = arg;
    cairn_start_options child = CAIRN_START_DEFAULTS;
    const char *input = cairn_passage_task(passage)->input;
    child.workflow = strstr(input, "n") ? "f" : "w";
    child.input = "{}";
    PASS_ON(fn_step_undoable(world, strstr(input, "n") ? "outer" : "inner"));
    PASS_ON(cairn_passage_call(passage, "ask", &child, -1, NULL, NULL));
    if (strstr(input, "n"))
        return cairn_passage_wait_event(passage, NULL, "more", -1, NULL, NULL);
    return CAIRN_OK;
}

TEST(an_undo_goes_down_through_functions_to_their_children)
{
    struct function_world world;
    char inner[40];
    fn_begin(&world, nest, CAIRN_COMMIT_STEP);
    CHECK_DONE(&world.flow.world, wf_deploy(&world.flow, CHILD("")));
    fn_passage(&world, "waiting");
    do_child(&world);
    fn_passage(&world, "completed");
    fn_passage(&world, "waiting");
    fam_child(&world.flow, world.flow.id, 0, inner);
    fn_cancel(&world);
    fn_undo_all(&world, "b a inner outer");
    fn_check_status(&world, "cancelled");
    fam_check(&world.flow, inner, "cancelled",
              "f:rolled_back inner:rolled_back ask:rolled_back ask:end:rolled_back");
    fn_end(&world);
}

static cairn_code two_steps(cairn_passage *passage, void *arg)
{
    (void)passage;
    PASS_ON(fn_step_undoable(arg, "one"));
    PASS_ON(fn_step(arg, "plain"));
    return fn_step_undoable(arg, "two");
}

/* A workflow whose step starts the function. */
static void begin_parent(struct function_world *world, const char *elements)
{
    char text[400];
    cairn_start_options start = CAIRN_START_DEFAULTS;
    fn_begin(world, two_steps, CAIRN_COMMIT_STEP);
    fn_passage(world, "completed"); /* one of nobody's, which stays so */
    snprintf(text, sizeof text, "{workflow: p, version: 1, steps: [%s]}", elements);
    CHECK_DONE(&world->flow.world, wf_deploy(&world->flow, text));
    start.workflow = "p";
    CHECK_DONE(&world->flow.world, wf_start(&world->flow, &start, NULL));
}

TEST(undoing_a_step_rolls_back_the_function_that_it_has_started)
{
    struct function_world world;
    char function[40];
    begin_parent(&world, "{step: a, compensation: {handler: undo.a}}, {start: s, workflow: f}, "
                         "{step: b, max_attempts: 1}");
    wf_do(&world.flow, "a");
    fn_passage(&world, "completed");
    fam_child(&world.flow, world.flow.id, 0, function);
    fam_check(&world.flow, function, "completed",
              "f:completed one:completed plain:completed two:completed");
    wf_do_badly(&world.flow, "b");
    fn_undo_all(&world, "two one a");
    wf_check_status(&world.flow, "failed");
    wf_check_steps(&world.flow, "a:rolled_back s:rolled_back b:rolled_back");
    fam_check(&world.flow, function, "cancelled",
              "f:rolled_back one:rolled_back plain:rolled_back two:rolled_back");
    fam_go(&world.flow, function);
    CHECK_INT(wf_instance(&world.flow)->generation, 2);
    fn_end(&world);
}

TEST(a_function_that_cannot_be_undone_fails_the_step_that_has_started_it)
{
    struct function_world world;
    char function[40];
    begin_parent(&world, "{start: s, workflow: f}, {wait: more, event: more}");
    fn_passage(&world, "completed");
    fam_settle(&world.flow);
    fam_child(&world.flow, world.flow.id, 0, function);
    CHECK_DONE(&world.flow.world, wf_cancel(&world.flow));
    for (int call = 1; call <= 3; call++) {
        struct task undo = wf_take_undo(&world.flow, "two");
        CHECK_INT(undo.attempt, call);
        CHECK_DONE(&world.flow.world, wf_report(&world.flow, &undo, CAIRN_FAIL, "stuck"));
        wf_advance(&world.flow, MINUTE_MS);
    }
    fn_undo_all(&world, "one");
    wf_check_status(&world.flow, "failed");
    wf_check_steps(&world.flow, "s:failed more:skipped");
    fam_check(&world.flow, function, "failed",
              "f:rolled_back one:rolled_back plain:rolled_back two:failed");
    fn_end(&world);
}
