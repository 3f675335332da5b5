/* tests/spec/test_state_flow_events.c - events that a durable function waits for: none is lost, none
 * is taken twice.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "function_world.h"

enum { WAIT_MS = 60 * 1000 };

static void send_go(struct function_world *world)
{
    wf_signal(&world->flow, "go", "{\"x\": 1}");
}

static void send_other(struct function_world *world)
{
    wf_signal(&world->flow, "other", NULL);
}

/* Remembers what each wait was told, in world->mine: char[3][40]. */
static cairn_code two_waits(cairn_passage *passage, void *arg)
{
    struct function_world *world = arg;
    char(*told)[40] = world->mine;
    for (int i = 0; i < 2; i++) {
        const char *payload = NULL;
        PASS_ON(cairn_passage_wait_event(passage, "w", "go", -1, &payload, NULL));
        snprintf(told[i], sizeof told[i], "%s", payload);
    }
    return fn_step(world, "b");
}

TEST(two_events_and_two_waits_are_first_in_first_out_each_once)
{
    struct function_world world;
    char told[3][40];
    MODES(mode)
    {
        fn_begin(&world, two_waits, mode);
        world.mine = told;
        wf_signal(&world.flow, "go", "1");
        wf_signal(&world.flow, "go", "2");
        fn_passage(&world, "completed");
        CHECK_STR(told[0], "1");
        CHECK_STR(told[1], "2");
        CHECK_INT(fn_count_events(&world, "signal_taken", NULL), 2);
        fn_check_steps(&world, "f:completed w:completed w#2:completed b:completed");
        fn_end(&world);
    }
}

TEST(two_waits_and_then_two_events_are_first_in_first_out_each_once)
{
    struct function_world world;
    char told[3][40];
    MODES(mode)
    {
        fn_begin(&world, two_waits, mode);
        world.mine = told;
        fn_passage(&world, "waiting");
        CHECK_INT(wf_signal(&world.flow, "go", "1").taken, 1);
        CHECK_INT(wf_signal(&world.flow, "go", "2").taken, 0); /* nobody waits now: kept */
        fn_passage(&world, "completed");
        CHECK_STR(told[0], "1");
        CHECK_STR(told[1], "2");
        CHECK_INT(fn_count_events(&world, "signal_taken", NULL), 2);
        fn_end(&world);
    }
}

TEST(an_event_that_was_taken_is_not_brought_again)
{
    struct function_world world;
    char told[3][40];
    MODES(mode)
    {
        fn_begin(&world, two_waits, mode);
        world.mine = told;
        wf_signal(&world.flow, "go", "1");
        fn_passage(&world, "waiting"); /* the first has it, the second waits */
        fn_check_steps(&world, "f:waiting w:completed w#2:waiting");
        fn_check_idle(&world);
        wf_signal(&world.flow, "go", "2");
        fn_passage(&world, "completed");
        CHECK_STR(told[0], "1");
        CHECK_STR(told[1], "2");
        fn_end(&world);
    }
}

TEST(an_event_that_comes_twice_under_one_id_is_one_event)
{
    struct function_world world;
    char told[3][40];
    cairn_signalled signalled;
    fn_begin(&world, two_waits, CAIRN_COMMIT_STEP);
    world.mine = told;
    CHECK_DONE(&world.flow.world, wf_signal_as(&world.flow, "go", "id-1", &signalled));
    CHECK_DONE(&world.flow.world, wf_signal_as(&world.flow, "go", "id-1", &signalled));
    CHECK_INT(signalled.existing, 1);
    fn_passage(&world, "waiting");
    fn_check_steps(&world, "f:waiting w:completed w#2:waiting");
    fn_end(&world);
}

static cairn_code a_wait_b(cairn_passage *passage, void *arg)
{
    struct function_world *world = arg;
    PASS_ON(fn_step(world, "a"));
    cairn_code code =
        cairn_passage_wait_event(passage, NULL, "go", WAIT_MS, &world->heard, NULL);
    if (code == CAIRN_E_TIMED_OUT)
        return fn_step(world, "too_late");
    PASS_ON(code);
    return fn_step(world, "b");
}

/* ---- in the middle of a passage ------------------------------------------------------------- */

TEST(an_event_in_the_middle_of_a_passage_is_seen_by_it_or_wakes_the_next_at_once)
{
    struct function_world world;
    MODES(mode)
    {
        fn_begin(&world, a_wait_b, mode);
        fn_during(&world, "a", send_go);
        struct runner runner;
        char status[24];
        CHECK(fn_claim(&world, "w", &runner), "nothing is brought");
        fn_play(&world, &runner);
        CHECK_DONE(&world.flow.world, fn_finish(&world, &runner, status));
        if (strcmp(status, "completed") != 0)
            fn_passage(&world, "completed");
        fn_check_calls(&world, "a:1 b:1");
        fn_check_steps(&world, "f:completed a:completed go:completed b:completed");
        CHECK_INT(fn_count_events(&world, "signal_taken", NULL), 1);
        CHECK_INT(wf_instance(&world.flow)->finished_at_us, START_US);
        fn_end(&world);
    }
}

TEST(a_suspend_after_an_event_wakes_the_next_passage_at_once)
{
    struct function_world world;
    fn_begin(&world, a_wait_b, CAIRN_COMMIT_PASSAGE);
    fn_during(&world, "a", send_go);
    fn_passage(&world, "ready");
    fn_check_steps(&world, "f:ready a:completed go:completed");
    fn_check_status(&world, "running");
    fn_passage(&world, "completed");
    fn_end(&world);
}

static cairn_code a_b_wait(cairn_passage *passage, void *arg)
{
    struct function_world *world = arg;
    PASS_ON(fn_step(world, "a"));
    PASS_ON(fn_step(world, "b"));
    return cairn_passage_wait_event(passage, NULL, "go", WAIT_MS, &world->heard, NULL);
}

/* The commit at the boundary meets a conflict, and its answer carries the event. */
TEST(in_step_mode_an_event_is_seen_by_the_passage_that_runs)
{
    struct function_world world;
    fn_begin(&world, a_b_wait, CAIRN_COMMIT_STEP);
    fn_during(&world, "a", send_go);
    fn_passage(&world, "completed");
    CHECK_INT(world.passages, 1);
    fn_end(&world);
}

static void wait_for_go_and_claim(struct function_world *world)
{
    wf_advance(&world->flow, SECOND_MS);
    send_go(world);
}

/* The code runs from the top again while the event that ends the wait comes. */
static cairn_code wait_then_two(cairn_passage *passage, void *arg)
{
    struct function_world *world = arg;
    PASS_ON(cairn_passage_wait_event(passage, "one", "first", -1, &world->heard, NULL));
    PASS_ON(fn_step(world, "a"));
    PASS_ON(cairn_passage_wait_event(passage, "two", "go", -1, &world->heard, NULL));
    return fn_step(world, "b");
}

TEST(an_event_while_a_later_passage_runs_is_not_lost)
{
    struct function_world world;
    MODES(mode)
    {
        fn_begin(&world, wait_then_two, mode);
        fn_passage(&world, "waiting");
        wf_signal(&world.flow, "first", NULL);
        fn_during(&world, "a", wait_for_go_and_claim);
        struct runner runner;
        char status[24];
        CHECK(fn_claim(&world, "w", &runner), "nothing is brought");
        fn_play(&world, &runner);
        CHECK_DONE(&world.flow.world, fn_finish(&world, &runner, status));
        if (strcmp(status, "completed") != 0)
            fn_passage(&world, "completed");
        fn_check_calls(&world, "a:1 b:1");
        fn_end(&world);
    }
}

TEST(an_event_of_another_type_in_the_middle_of_a_passage_wakes_nobody)
{
    struct function_world world;
    MODES(mode)
    {
        fn_begin(&world, a_wait_b, mode);
        fn_during(&world, "a", send_other);
        fn_passage(&world, "waiting");
        fn_check_status(&world, "waiting_signal");
        fn_check_idle(&world);
        fn_end(&world);
    }
}

/* ---- before anybody waits ------------------------------------------------------------------- */

TEST(an_event_before_the_function_has_begun_is_kept_and_taken)
{
    struct function_world world;
    MODES(mode)
    {
        fn_begin(&world, a_wait_b, mode);
        send_go(&world);
        fn_passage(&world, "completed");
        CHECK(is_same_json(fn_row(&world, "go")->output, "{\"x\": 1}"), "the output is %s",
              fn_row(&world, "go")->output);
        fn_end(&world);
    }
}

/* A claim brings a thousand of them; those behind are found by the commit. */
TEST(an_event_behind_a_thousand_others_is_found)
{
    struct function_world world;
    fn_begin(&world, a_wait_b, CAIRN_COMMIT_STEP);
    for (int i = 0; i < 1001; i++)
        send_other(&world);
    send_go(&world);
    fn_passage(&world, "ready");
    fn_passage(&world, "completed");
    fn_check_calls(&world, "a:1 b:1");
    fn_end(&world);
}

/* ---- deadlines ------------------------------------------------------------------------------ */

TEST(a_wait_without_an_event_times_out_and_the_function_is_told)
{
    struct function_world world;
    MODES(mode)
    {
        fn_begin(&world, a_wait_b, mode);
        fn_passage(&world, "waiting");
        CHECK_INT(fn_row(&world, "go")->deadline_at_us, START_US + WAIT_MS * 1000);
        wf_advance(&world.flow, WAIT_MS - 1);
        fn_check_idle(&world);
        wf_advance(&world.flow, 1);
        fn_passage(&world, "completed");
        fn_check_calls(&world, "a:1 too_late:1");
        fn_check_steps(&world, "f:completed a:completed go:skipped too_late:completed");
        CHECK_STR(fn_row(&world, "go")->error, "WAITING_TIMEOUT");
        fn_end(&world);
    }
}

TEST(an_event_one_millisecond_before_the_deadline_is_taken)
{
    struct function_world world;
    fn_begin(&world, a_wait_b, CAIRN_COMMIT_STEP);
    fn_passage(&world, "waiting");
    wf_advance(&world.flow, WAIT_MS - 1);
    CHECK_INT(wf_signal(&world.flow, "go", NULL).taken, 1);
    wf_advance(&world.flow, HOUR_MS); /* the passage comes late: it does not matter */
    fn_passage(&world, "completed");
    fn_check_calls(&world, "a:1 b:1");
    fn_end(&world);
}

/* Nothing is processed while an instance is paused, so what came in time is processed late. */
TEST(an_event_exactly_at_the_deadline_is_taken)
{
    struct function_world world;
    MODES(mode)
    {
        fn_begin(&world, a_wait_b, mode);
        fn_passage(&world, "waiting");
        fn_pause(&world);
        wf_advance(&world.flow, WAIT_MS);
        CHECK_INT(wf_signal(&world.flow, "go", NULL).kept, 1);
        wf_advance(&world.flow, HOUR_MS);
        CHECK_DONE(&world.flow.world, wf_resume(&world.flow));
        fn_passage(&world, "completed");
        fn_check_calls(&world, "a:1 b:1");
        fn_end(&world);
    }
}

TEST(an_event_one_millisecond_after_the_deadline_is_not_taken_and_stays)
{
    struct function_world world;
    struct runner runner;
    MODES(mode)
    {
        fn_begin(&world, a_wait_b, mode);
        fn_passage(&world, "waiting");
        fn_pause(&world);
        wf_advance(&world.flow, WAIT_MS + 1);
        CHECK_INT(wf_signal(&world.flow, "go", "{\"x\": 9}").taken, 0);
        CHECK_DONE(&world.flow.world, wf_resume(&world.flow));
        CHECK(fn_claim(&world, "w", &runner), "nothing is brought");
        const cairn_memory *memory = cairn_passage_task(runner.passage)->memory;
        CHECK_INT(memory->event_count, 1); /* it stays */
        CHECK(is_same_json(memory->events[0]->payload, "{\"x\": 9}"), "%s",
              memory->events[0]->payload);
        fn_play(&world, &runner);
        CHECK_DONE(&world.flow.world, fn_finish(&world, &runner, NULL));
        fn_check_calls(&world, "a:1 too_late:1");
        CHECK_INT(fn_count_events(&world, "signal_taken", NULL), 0);
        fn_end(&world);
    }
}

static cairn_code wait_twice(cairn_passage *passage, void *arg)
{
    struct function_world *world = arg;
    cairn_code code =
        cairn_passage_wait_event(passage, "one", "go", WAIT_MS, &world->heard, NULL);
    if (code != CAIRN_E_TIMED_OUT)
        return code ? code : CAIRN_E_INTERNAL;
    return cairn_passage_wait_event(passage, "two", "go", WAIT_MS, &world->heard, NULL);
}

TEST(an_event_that_came_too_late_for_one_wait_is_taken_by_the_next)
{
    struct function_world world;
    MODES(mode)
    {
        fn_begin(&world, wait_twice, mode);
        fn_passage(&world, "waiting");
        wf_advance(&world.flow, WAIT_MS + 1);
        CHECK_INT(wf_signal(&world.flow, "go", NULL).taken, 0);
        fn_passage(&world, "completed");
        fn_check_steps(&world, "f:completed one:skipped two:completed");
        fn_end(&world);
    }
}

TEST(a_timeout_is_remembered_though_the_event_comes_afterwards)
{
    struct function_world world;
    fn_begin(&world, a_wait_b, CAIRN_COMMIT_STEP);
    fn_passage(&world, "waiting");
    wf_advance(&world.flow, WAIT_MS);
    fn_during(&world, "too_late", fn_crash);
    fn_passage_crashed(&world);
    wf_signal(&world.flow, "go", NULL);
    fn_passage(&world, "completed");
    fn_check_calls(&world, "a:1 too_late:2");
    fn_end(&world);
}

static cairn_code wait_no_time(cairn_passage *passage, void *arg)
{
    struct function_world *world = arg;
    cairn_code code = cairn_passage_wait_event(passage, NULL, "go", 0, &world->heard, NULL);
    return code == CAIRN_E_TIMED_OUT ? CAIRN_OK : code ? code : CAIRN_E_INTERNAL;
}

TEST(a_wait_of_no_time_times_out_without_anybody_moving_the_clock)
{
    struct function_world world;
    MODES(mode)
    {
        fn_begin(&world, wait_no_time, mode);
        for (int i = 0; i < 3 && strcmp(wf_instance(&world.flow)->status, "completed"); i++) {
            struct runner runner;
            CHECK(fn_claim(&world, "w", &runner), "nothing is brought");
            fn_play(&world, &runner);
            CHECK_DONE(&world.flow.world, fn_finish(&world, &runner, NULL));
        }
        fn_check_status(&world, "completed");
        fn_end(&world);
    }
}
