/* tests/spec/test_state_flow_call.c - functions that call children: started once, waited for, stopped
 * with their parent; and steps side by side.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "function_world.h"

#include <stdio.h>
#include <string.h>

#define CHILD                                                                        \
    "{workflow: w, version: 1, steps: [{step: a, compensation: {handler: undo.a}}, " \
    "{step: b, max_attempts: 1}]}"

static int64_t patience_ms;

static cairn_code ask(cairn_passage *passage, void *arg)
{
    struct function_world *world = arg;
    cairn_start_options child = CAIRN_START_DEFAULTS;
    const char *output = NULL;
    cairn_error error;
    child.workflow = "w";
    child.input = "{\"n\": 2}";
    PASS_ON(fn_step(world, "first"));
    cairn_code code = cairn_passage_call(passage, "ask", &child, patience_ms, &output, &error);
    static char heard[300];
    snprintf(heard, sizeof heard, "%s", code ? error.message : output);
    world->heard = heard;
    if (code == CAIRN_E_TIMED_OUT)
        return fn_step(world, "late");
    PASS_ON(code);
    PASS_ON(fn_step(world, "last"));
    return cairn_passage_set_output(passage, output, NULL);
}

static void begin(struct function_world *world, cairn_commit_mode mode)
{
    patience_ms = -1;
    fn_begin(world, ask, mode);
    CHECK_DONE(&world->flow.world, wf_deploy(&world->flow, CHILD));
}

/* How many children the parent has; *ret_id: the newest. */
static size_t count_children(struct function_world *world, char ret_id[40])
{
    cairn_page *page = NULL;
    struct world *w = &world->flow.world;
    size_t count = 0;
    CHECK_DONE(w, cairn_instance_list(w->engine, NULL, &page, &w->error));
    for (size_t i = 0; i < cairn_page_count(page); i++) {
        const cairn_instance *instance = cairn_page_instance(page, i);
        if (!instance->parent)
            continue;
        CHECK_STR(instance->parent, world->flow.id);
        if (count++ == 0)
            snprintf(ret_id, 40, "%s", instance->id);
    }
    cairn_page_free(page);
    return count;
}

/* The id of the only child of the parent. */
static const char *child_of(struct function_world *world)
{
    static char id[40];
    CHECK_INT(count_children(world, id), 1);
    return id;
}

static void check_instance(struct function_world *world, const char *id, const char *status)
{
    cairn_page *page = NULL;
    struct world *w = &world->flow.world;
    CHECK_DONE(w, cairn_instance_get(w->engine, id, &page, &w->error));
    CHECK_STR(cairn_page_instance(page, 0)->status, status);
    cairn_page_free(page);
}

static void check_child(struct function_world *world, const char *status)
{
    check_instance(world, child_of(world), status);
}

TEST(a_call_answers_with_the_output_of_the_child)
{
    struct function_world world;
    MODES(mode)
    {
        begin(&world, mode);
        fn_passage(&world, "waiting");
        fn_check_status(&world, "waiting_signal");
        struct task task = wf_take_step(&world.flow, "a");
        CHECK(is_same_json(task.input, "{\"n\": 2}"), "the input is %s", task.input);
        CHECK_DONE(&world.flow.world, wf_report(&world.flow, &task, CAIRN_COMPLETE, "1"));
        fn_check_status(&world, "waiting_signal");
        wf_do(&world.flow, "b");
        fn_passage(&world, "completed");
        CHECK(is_same_json(wf_instance(&world.flow)->output, "{\"by\": \"b\"}"), "%s",
              wf_instance(&world.flow)->output);
        check_child(&world, "completed");
        fn_check_calls(&world, "first:1 last:1");
        fn_check_steps(&world, "f:completed first:completed ask:completed ask:end:completed "
                               "last:completed");
        fn_end(&world);
    }
}

TEST(a_child_is_started_once_through_crashes)
{
    struct function_world world;
    MODES(mode)
    {
        begin(&world, mode);
        fn_during(&world, "first", fn_crash);
        fn_passage_crashed(&world);
        fn_passage_crashed(&world);
        fn_passage(&world, "waiting");
        child_of(&world);
        world_reopen(&world.flow.world);
        wf_do(&world.flow, "a");
        wf_do(&world.flow, "b");
        fn_during(&world, "last", fn_crash);
        fn_passage_crashed(&world);
        fn_passage(&world, "completed");
        child_of(&world);
        fn_end(&world);
    }
}

/* The engine has a seed here, from which ids are made. */
TEST(parents_that_are_claimed_together_have_a_child_each)
{
    struct function_world world;
    struct world *w = &world.flow.world;
    cairn_page *tasks = NULL, *page = NULL;
    cairn_claim_options claim = CAIRN_CLAIM_DEFAULTS;
    cairn_start_options child = CAIRN_START_DEFAULTS;
    size_t children = 0;
    begin(&world, CAIRN_COMMIT_STEP);
    fn_start(&world, "f", 1);
    const char *type = "f";
    claim.worker = "w";
    claim.types = &type;
    claim.type_count = 1;
    claim.max = 2;
    child.workflow = "w";
    CHECK_DONE(w, cairn_claim(w->engine, &claim, &tasks, &w->error));
    CHECK_INT(cairn_page_count(tasks), 2);
    for (size_t i = 0; i < 2; i++) {
        cairn_passage *passage;
        CHECK_DONE(w, cairn_passage_open(w->engine, "w", cairn_page_task(tasks, i),
                                         CAIRN_COMMIT_STEP, LEASE_MS, &passage, &w->error));
        CHECK_INT(cairn_passage_call(passage, "ask", &child, -1, NULL, NULL),
                  CAIRN_E_SUSPENDED);
        CHECK_DONE(w, cairn_passage_end(passage, CAIRN_E_SUSPENDED, NULL, &w->error));
        cairn_passage_free(passage);
    }
    cairn_page_free(tasks);
    CHECK_DONE(w, cairn_instance_list(w->engine, NULL, &page, &w->error));
    for (size_t i = 0; i < cairn_page_count(page); i++)
        children += cairn_page_instance(page, i)->parent != NULL;
    CHECK_INT(children, 2);
    cairn_page_free(page);
    fn_end(&world);
}

TEST(a_child_that_fails_fails_the_call)
{
    struct function_world world;
    begin(&world, CAIRN_COMMIT_STEP);
    fn_passage(&world, "waiting");
    wf_do(&world.flow, "a");
    wf_do_badly(&world.flow, "b");
    check_child(&world, "compensating");
    fn_check_status(&world, "waiting_signal"); /* the child is undone first */
    wf_undo(&world.flow, "a");
    check_child(&world, "failed");
    fn_passage(&world, "failed");
    CHECK_STR(world.heard, "no good");
    fn_check_status(&world, "failed");
    fn_end(&world);
}

TEST(a_child_that_is_stopped_fails_the_call_with_that_word)
{
    struct function_world world;
    struct world *w = &world.flow.world;
    begin(&world, CAIRN_COMMIT_STEP);
    fn_passage(&world, "waiting");
    CHECK_DONE(w, cairn_instance_abort(w->engine, child_of(&world), "me", "why", &w->error));
    fn_passage(&world, "failed");
    CHECK_STR(world.heard, "aborted");
    fn_end(&world);
    begin(&world, CAIRN_COMMIT_STEP);
    fn_passage(&world, "waiting");
    CHECK_DONE(w, cairn_instance_cancel(w->engine, child_of(&world), "me", "why", &w->error));
    fn_passage(&world, "failed");
    CHECK_STR(world.heard, "cancelled");
    fn_end(&world);
}

TEST(cancelling_the_parent_cancels_the_child_and_waits_for_its_undo)
{
    struct function_world world;
    begin(&world, CAIRN_COMMIT_STEP);
    fn_passage(&world, "waiting");
    wf_do(&world.flow, "a");
    fn_cancel(&world);
    fn_check_status(&world, "compensating");
    struct task task = wf_take_undo(&world.flow, "a");
    check_child(&world, "compensating");
    fn_check_status(&world, "compensating");
    CHECK_DONE(&world.flow.world, wf_report(&world.flow, &task, CAIRN_COMPLETE, NULL));
    wf_check_nothing_to_take(&world.flow);
    check_child(&world, "cancelled");
    fn_check_status(&world, "cancelled");
    fn_end(&world);
}

TEST(aborting_the_parent_aborts_the_child)
{
    struct function_world world;
    begin(&world, CAIRN_COMMIT_STEP);
    fn_passage(&world, "waiting");
    wf_do(&world.flow, "a");
    fn_abort(&world);
    wf_check_nothing_to_take(&world.flow);
    check_child(&world, "aborted");
    fn_check_status(&world, "aborted");
    fn_end(&world);
}

TEST(a_run_that_is_cancelled_starts_no_child)
{
    struct function_world world;
    char id[40];
    MODES(mode)
    {
        begin(&world, mode);
        fn_during(&world, "first", fn_cancel);
        fn_passage(&world, "skipped");
        wf_check_nothing_to_take(&world.flow);
        fn_check_status(&world, "cancelled");
        CHECK_INT(count_children(&world, id), 0);
        fn_end(&world);
    }
}

TEST(a_parent_that_is_restarted_after_an_abort_leaves_no_child_behind)
{
    struct function_world world;
    char old[40], id[40];
    begin(&world, CAIRN_COMMIT_STEP);
    fn_passage(&world, "waiting");
    snprintf(old, sizeof old, "%s", child_of(&world));
    fn_abort(&world);
    fn_restart(&world);
    check_instance(&world, old, "aborted");
    fn_passage(&world, "waiting");
    check_instance(&world, old, "aborted");
    CHECK_INT(count_children(&world, id), 2);
    check_instance(&world, id, "running");
    wf_do(&world.flow, "a");
    wf_do(&world.flow, "b");
    fn_passage(&world, "completed");
    fn_end(&world);
}

TEST(a_child_goes_on_while_its_parent_is_paused)
{
    struct function_world world;
    begin(&world, CAIRN_COMMIT_STEP);
    fn_passage(&world, "waiting");
    fn_pause(&world);
    wf_do(&world.flow, "a");
    wf_do(&world.flow, "b");
    fn_check_idle(&world);
    fn_check_status(&world, "paused");
    check_child(&world, "completed");
    CHECK_DONE(&world.flow.world, wf_resume(&world.flow));
    fn_passage(&world, "completed");
    fn_end(&world);
}

TEST(a_call_that_times_out_leaves_the_child_alone)
{
    struct function_world world;
    begin(&world, CAIRN_COMMIT_STEP);
    patience_ms = 1000;
    fn_passage(&world, "waiting");
    wf_advance(&world.flow, 1000);
    fn_passage(&world, "completed");
    check_child(&world, "running");
    wf_do(&world.flow, "a");
    wf_do(&world.flow, "b");
    wf_check_nothing_to_take(&world.flow);
    check_child(&world, "completed");
    fn_check_status(&world, "completed");
    fn_end(&world);
}

static cairn_code listen(cairn_passage *passage, void *arg)
{
    struct function_world *world = arg;
    return cairn_passage_wait_event(passage, NULL, "told", -1, &world->heard, NULL);
}

static cairn_code listen_twice(cairn_passage *passage, void *arg)
{
    PASS_ON(listen(passage, arg));
    return listen(passage, arg);
}

TEST(an_end_is_told_once_though_the_child_is_restarted)
{
    struct function_world world;
    struct world *w = &world.flow.world;
    cairn_enqueued started;
    cairn_start_options child = CAIRN_START_DEFAULTS;
    fn_begin(&world, listen_twice, CAIRN_COMMIT_STEP);
    CHECK_DONE(w, wf_deploy(&world.flow, "{workflow: w, version: 1, steps: [{step: a}]}"));
    child.workflow = "w";
    child.tell_instance = world.flow.id;
    child.tell_event = "told";
    fn_passage(&world, "waiting");
    CHECK_DONE(w, cairn_instance_start(w->engine, &child, &started, &w->error));
    wf_do(&world.flow, "a");
    fn_passage(&world, "waiting");
    CHECK_DONE(w, cairn_instance_restart(w->engine, started.id, &w->error));
    wf_do(&world.flow, "a");
    fn_check_idle(&world);
    fn_check_status(&world, "waiting_signal");
    check_instance(&world, started.id, "completed");
    CHECK_INT(fn_count_events(&world, "signal_received", NULL), 1);
    fn_end(&world);
}

TEST(any_start_can_tell_an_instance_of_its_end)
{
    struct function_world world;
    struct world *w = &world.flow.world;
    cairn_enqueued started;
    cairn_start_options child = CAIRN_START_DEFAULTS;
    char parent[40];
    fn_begin(&world, listen, CAIRN_COMMIT_STEP);
    CHECK_DONE(w, wf_deploy(&world.flow, "{workflow: w, version: 1, steps: [{step: a}]}"));
    snprintf(parent, sizeof parent, "%s", world.flow.id);
    child.workflow = "w";
    child.tell_instance = parent;
    CHECK_REFUSED(w, cairn_instance_start(w->engine, &child, &started, &w->error),
                  CAIRN_E_BAD_INPUT);
    child.tell_event = "told";
    CHECK_DONE(w, cairn_instance_start(w->engine, &child, &started, &w->error));
    fn_passage(&world, "waiting");
    wf_do(&world.flow, "a");
    fn_passage(&world, "completed");
    CHECK_REFUSED(w, cairn_instance_start(w->engine, &child, &started, &w->error),
                  CAIRN_E_WRONG_STATE);
    child.tell_instance = "0192f0c1-7d5e-7c3a-9a4e-2f6d8b1c3e5f";
    CHECK_REFUSED(w, cairn_instance_start(w->engine, &child, &started, &w->error),
                  CAIRN_E_NOT_FOUND);
    fn_end(&world);
}

/* ---- steps side by side ----------------------------------------------------------------------- */

enum { X, Y, Z };

static int64_t delays_ms[3];
static fn_act before_x; /* happens when the others have ended; NULL: nothing */
static bool is_x_left;  /* without an end, if the run is over by then */
static char outputs[3][40];

static cairn_code begin_all(cairn_passage *passage, const char *const keys[3],
                            cairn_work *ret_works[3])
{
    for (int i = X; i <= Z; i++) {
        cairn_step_options options = CAIRN_STEP_DEFAULTS;
        const char *output = "";
        options.key = keys[i];
        options.base_ms = delays_ms[i];
        PASS_ON(cairn_passage_begin_step(passage, &options, &ret_works[i], &output, NULL));
        if (!ret_works[i])
            snprintf(outputs[i], sizeof outputs[i], "%s", output);
    }
    return CAIRN_OK;
}

static cairn_code end_one(struct function_world *world, cairn_passage *passage, const char *key,
                          cairn_work *work, char ret_output[40])
{
    struct fn_step *step = fn_of(world, key);
    char text[40];
    const char *output = "";
    bool is_failing = step->outcome_count > 0;
    step->outcome_count -= is_failing;
    step->calls++;
    snprintf(text, sizeof text, "{\"by\":\"%s\"}", key);
    cairn_work_set_output(work, text);
    cairn_code code = cairn_passage_end_step(
        passage, work, is_failing ? step->outcome : CAIRN_COMPLETE, &output, NULL);
    snprintf(ret_output, 40, "%s", output);
    return code;
}

/* Begins three steps, and ends them in another order. */
static cairn_code gather(cairn_passage *passage, void *arg)
{
    static const char *const keys[] = {"x", "y", "z"};
    struct function_world *world = arg;
    cairn_work *works[3];
    cairn_code code = CAIRN_OK;
    PASS_ON(begin_all(passage, keys, works));
    for (int i = Z; i >= X; i--) {
        if (i == X && before_x)
            before_x(world);
        if (i == X && (world->is_crashed || (is_x_left && code)))
            return code;
        if (!works[i])
            continue;
        cairn_code ended = end_one(world, passage, keys[i], works[i], outputs[i]);
        code = ended ? ended : code;
    }
    return code;
}

static void check_outputs(struct function_world *world)
{
    static const char *const keys[] = {"x", "y", "z"};
    for (int i = X; i <= Z; i++) {
        char wanted[40];
        snprintf(wanted, sizeof wanted, "{\"by\":\"%s\"}", keys[i]);
        CHECK(is_same_json(outputs[i], wanted), "%s was told %s", keys[i], outputs[i]);
        CHECK(is_same_json(fn_row(world, keys[i])->output, wanted), "%s: %s", keys[i],
              fn_row(world, keys[i])->output);
    }
}

static void begin_gather(struct function_world *world, cairn_commit_mode mode, int64_t x_ms)
{
    delays_ms[X] = x_ms;
    delays_ms[Y] = delays_ms[Z] = 1000;
    before_x = NULL;
    is_x_left = false;
    memset(outputs, 0, sizeof outputs);
    fn_begin(world, gather, mode);
}

TEST(steps_side_by_side_are_stored_in_their_order_and_retried_alone)
{
    struct function_world world;
    MODES(mode)
    {
        begin_gather(&world, mode, 1000);
        fn_fails(&world, "y", CAIRN_FAIL, 1);
        fn_passage(&world, "ready");
        fn_check_steps(&world, "f:ready x:completed y:ready z:completed");
        wf_advance(&world.flow, 1000);
        fn_passage(&world, "completed");
        fn_check_steps(&world, "f:completed x:completed y:completed z:completed");
        fn_check_calls(&world, "x:1 y:2 z:1");
        check_outputs(&world);
        fn_end(&world);
    }
}

TEST(a_step_is_stored_when_all_that_began_before_it_have_ended)
{
    struct function_world world;
    begin_gather(&world, CAIRN_COMMIT_STEP, 1000);
    before_x = fn_crash;
    fn_passage_crashed(&world);
    fn_check_steps(&world, "f:ready");
    before_x = fn_lose_lease;
    fn_passage_refused(&world, CAIRN_E_LEASE_LOST);
    fn_check_steps(&world, "f:ready");
    before_x = NULL;
    fn_passage(&world, "completed");
    fn_check_calls(&world, "x:2 y:3 z:3");
    check_outputs(&world);
    fn_end(&world);
}

/* The third begins when the second has ended, and the first has not. */
static cairn_code stagger(cairn_passage *passage, void *arg)
{
    static const char *const keys[] = {"x", "y", "z"};
    static const int order[] = {Z, X};
    struct function_world *world = arg;
    cairn_work *works[3];
    cairn_step_options options = CAIRN_STEP_DEFAULTS;
    for (int i = X; i <= Z; i++) {
        options.key = keys[i];
        PASS_ON(cairn_passage_begin_step(passage, &options, &works[i], NULL, NULL));
        if (i == Y && works[Y])
            PASS_ON(end_one(world, passage, "y", works[Y], outputs[Y]));
    }
    if (before_x)
        before_x(world);
    for (int i = 0; i < 2 && !world->is_crashed; i++)
        PASS_ON(end_one(world, passage, keys[order[i]], works[order[i]], outputs[order[i]]));
    return CAIRN_OK;
}

TEST(a_step_that_begins_late_stores_nothing_out_of_order)
{
    struct function_world world;
    fn_begin(&world, stagger, CAIRN_COMMIT_STEP);
    before_x = fn_crash;
    fn_passage_crashed(&world);
    fn_check_steps(&world, "f:ready");
    before_x = NULL;
    fn_passage(&world, "completed");
    fn_check_steps(&world, "f:completed x:completed y:completed z:completed");
    fn_check_calls(&world, "x:1 y:2 z:1");
    check_outputs(&world);
    fn_end(&world);
}

TEST(a_step_that_was_not_ended_is_called_again)
{
    struct function_world world;
    MODES(mode)
    {
        begin_gather(&world, mode, 1000);
        fn_fails(&world, "y", CAIRN_FAIL, 1);
        is_x_left = true;
        fn_passage(&world, "ready");
        fn_check_steps(&world, "f:ready x:ready y:ready z:completed");
        CHECK_INT(fn_row(&world, "x")->attempts, 0);
        CHECK_INT(fn_row(&world, "y")->attempts, 1);
        wf_advance(&world.flow, 1000);
        fn_passage(&world, "completed");
        fn_check_calls(&world, "x:1 y:2 z:1");
        check_outputs(&world);
        fn_end(&world);
    }
}

/* The run of the second step's retry cannot come past the first step, and must not be repeated until
 * that one is due. */
TEST(a_retry_that_waits_for_a_step_before_it_starts_no_run_after_another)
{
    struct function_world world;
    MODES(mode)
    {
        begin_gather(&world, mode, 20000);
        fn_fails(&world, "x", CAIRN_FAIL, 1);
        fn_fails(&world, "y", CAIRN_FAIL, 1);
        fn_passage(&world, "ready");
        wf_advance(&world.flow, 1000);
        fn_passage(&world, "ready");
        fn_check_idle(&world);
        fn_check_steps(&world, "f:ready x:ready y:ready z:completed");
        wf_advance(&world.flow, 19000);
        fn_passage(&world, "completed");
        fn_check_calls(&world, "x:2 y:2 z:1");
        fn_end(&world);
    }
}
