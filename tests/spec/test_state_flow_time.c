/* tests/spec/test_state_flow_time.c - sleeps, retries and time limits of durable functions.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "function_world.h"

/* ---- sleeping ------------------------------------------------------------------------------- */

static cairn_code a_sleep_b(cairn_passage *passage, void *arg)
{
    struct function_world *world = arg;
    PASS_ON(fn_step(world, "a"));
    PASS_ON(cairn_passage_sleep(passage, NULL, HOUR_MS, NULL));
    return fn_step(world, "b");
}

TEST(do_a_sleep_an_hour_do_b_calls_a_once_over_all_passages)
{
    struct function_world world;
    MODES(mode)
    {
        fn_begin(&world, a_sleep_b, mode);
        fn_passage(&world, "waiting");
        wf_advance(&world.flow, HOUR_MS);
        fn_check_steps(&world, "f:ready a:completed sleep:completed");
        fn_passage(&world, "completed");
        fn_check_calls(&world, "a:1 b:1");
        CHECK_INT(fn_of(&world, "b")->called_at_us[0], START_US + HOUR_MS * 1000);
        fn_end(&world);
    }
}

TEST(a_wake_one_second_early_does_nothing)
{
    struct function_world world;
    fn_begin(&world, a_sleep_b, CAIRN_COMMIT_STEP);
    fn_passage(&world, "waiting");
    wf_advance(&world.flow, HOUR_MS - SECOND_MS);
    fn_check_idle(&world);
    fn_check_steps(&world, "f:waiting a:completed sleep:waiting");
    wf_signal(&world.flow, "hurry", NULL); /* nobody waits for it */
    fn_check_idle(&world);
    fn_pause(&world);
    CHECK_DONE(&world.flow.world, wf_resume(&world.flow));
    fn_check_idle(&world);
    fn_check_calls(&world, "a:1");
    wf_advance(&world.flow, SECOND_MS);
    fn_passage(&world, "completed");
    fn_end(&world);
}

static cairn_code no_sleep(cairn_passage *passage, void *arg)
{
    PASS_ON(cairn_passage_sleep(passage, NULL, 0, NULL));
    PASS_ON(cairn_passage_sleep_until(passage, "then", START_US, NULL));
    return fn_step(arg, "a");
}

TEST(a_sleep_of_no_time_does_not_suspend)
{
    struct function_world world;
    MODES(mode)
    {
        fn_begin(&world, no_sleep, mode);
        fn_passage(&world, "completed");
        fn_check_steps(&world, "f:completed sleep:completed then:completed a:completed");
        fn_end(&world);
    }
}

static cairn_code until(cairn_passage *passage, void *arg)
{
    PASS_ON(cairn_passage_sleep_until(passage, "dawn", START_US + 7 * MINUTE_US, NULL));
    return fn_step(arg, "a");
}

TEST(sleep_until_ends_at_that_very_time_whenever_it_was_begun)
{
    struct function_world world;
    MODES(mode)
    {
        fn_begin(&world, until, mode);
        wf_advance(&world.flow, 3 * MINUTE_MS);
        fn_passage(&world, "waiting");
        CHECK_INT(fn_row(&world, "dawn")->deadline_at_us, START_US + 7 * MINUTE_US);
        wf_advance(&world.flow, 4 * MINUTE_MS - 1);
        fn_check_idle(&world);
        wf_advance(&world.flow, 1);
        fn_passage(&world, "completed");
        CHECK_INT(fn_of(&world, "a")->called_at_us[0], START_US + 7 * MINUTE_US);
        fn_end(&world);
    }
}

static cairn_code nap(cairn_passage *passage, void *arg)
{
    for (int i = 0; i < 3; i++) {
        PASS_ON(fn_step(arg, "a"));
        PASS_ON(cairn_passage_sleep(passage, NULL, MINUTE_MS, NULL));
    }
    return CAIRN_OK;
}

TEST(each_sleep_of_a_loop_is_slept_once)
{
    struct function_world world;
    fn_begin(&world, nap, CAIRN_COMMIT_PASSAGE);
    for (int i = 0; i < 3; i++) {
        fn_passage(&world, "waiting");
        fn_check_idle(&world);
        wf_advance(&world.flow, MINUTE_MS);
    }
    fn_passage(&world, "completed");
    CHECK_INT(wf_instance(&world.flow)->finished_at_us, START_US + 3 * MINUTE_US);
    fn_check_steps(&world, "f:completed a:completed sleep:completed a#2:completed "
                           "sleep#2:completed a#3:completed sleep#3:completed");
    fn_end(&world);
}

static void take_five_seconds(struct function_world *world)
{
    wf_advance(&world->flow, 5 * SECOND_MS);
}

TEST(a_sleep_counts_from_its_commit)
{
    struct function_world world;
    fn_begin(&world, a_sleep_b, CAIRN_COMMIT_STEP);
    fn_during(&world, "a", take_five_seconds);
    fn_passage(&world, "waiting");
    CHECK_INT(fn_row(&world, "sleep")->deadline_at_us,
              START_US + 5 * SECOND_US + HOUR_MS * 1000);
    fn_end(&world);
}

/* ---- retries -------------------------------------------------------------------------------- */

static cairn_code retrying(cairn_passage *passage, void *arg)
{
    struct function_world *world = arg;
    cairn_step_options options = CAIRN_STEP_DEFAULTS;
    (void)passage;
    PASS_ON(fn_step(world, "first"));
    options.key = "a";
    options.retries = 2;
    options.base_ms = 10 * SECOND_MS;
    options.backoff = "exponential";
    PASS_ON(fn_step_as(world, &options, NULL));
    return fn_step(world, "last");
}

TEST(retries_2_with_10_s_exponential_call_at_0_10_and_30_seconds_then_it_is_errored)
{
    struct function_world world;
    MODES(mode)
    {
        fn_begin(&world, retrying, mode);
        fn_fails(&world, "a", CAIRN_FAIL, 3);
        fn_passage(&world, "ready");
        fn_check_status(&world, "running");
        fn_check_steps(&world, "f:ready first:completed a:ready");
        CHECK_INT(fn_row(&world, "a")->attempts, 1);
        CHECK_STR(fn_row(&world, "a")->error, "a is broken");
        wf_check_last_error(&world.flow, "a", "a is broken", 1);
        wf_advance(&world.flow, 10 * SECOND_MS - 1);
        fn_check_idle(&world);
        wf_advance(&world.flow, 1);
        fn_passage(&world, "ready");
        wf_advance(&world.flow, 20 * SECOND_MS - 1);
        fn_check_idle(&world);
        wf_advance(&world.flow, 1);
        fn_passage(&world, "failed");
        fn_check_calls(&world, "a:3 first:1");
        const struct fn_step *a = fn_of(&world, "a");
        CHECK_INT(a->called_at_us[0], START_US);
        CHECK_INT(a->called_at_us[1], START_US + 10 * SECOND_US);
        CHECK_INT(a->called_at_us[2], START_US + 30 * SECOND_US);
        CHECK_INT(a->attempts[0], 1);
        CHECK_INT(a->attempts[2], 3);
        fn_check_status(&world, "failed");
        fn_check_steps(&world, "f:failed first:completed a:failed");
        wf_check_last_error(&world.flow, "a", "a is broken", 3);
        CHECK_INT(fn_row(&world, "a")->attempts, 3);
        CHECK_INT(fn_count_events(&world, "step_retry", "a"), 2);
        CHECK_INT(fn_count_events(&world, "step_failed", "a"), 1);
        fn_check_idle(&world);
        fn_end(&world);
    }
}

TEST(a_retry_that_goes_well_goes_on)
{
    struct function_world world;
    MODES(mode)
    {
        fn_begin(&world, retrying, mode);
        fn_fails(&world, "a", CAIRN_FAIL, 1);
        fn_passage(&world, "ready");
        wf_advance(&world.flow, 10 * SECOND_MS);
        fn_passage(&world, "completed");
        fn_check_calls(&world, "a:2 first:1 last:1");
        fn_check_steps(&world, "f:completed first:completed a:completed last:completed");
        CHECK_INT(fn_row(&world, "a")->attempts, 1);
        CHECK(!fn_row(&world, "a")->error, "the error is %s", fn_row(&world, "a")->error);
        CHECK_INT(fn_count_events(&world, "step_completed", "a"), 1);
        fn_end(&world);
    }
}

TEST(a_step_that_fails_non_retryably_is_called_once)
{
    struct function_world world;
    MODES(mode)
    {
        fn_begin(&world, retrying, mode);
        fn_fails(&world, "a", CAIRN_DEAD, 1);
        fn_passage(&world, "failed");
        fn_check_calls(&world, "a:1 first:1");
        fn_check_status(&world, "failed");
        fn_check_idle(&world);
        fn_end(&world);
    }
}

static cairn_outcome later(cairn_work *work, void *arg)
{
    struct function_world *world = arg;
    struct fn_step *step = fn_of(world, "own");
    step->called_at_us[step->calls++] = fn_now_us(world);
    cairn_work_set_delay(work, 7 * SECOND_MS);
    cairn_work_set_error(work, "not yet");
    return step->calls < 2 ? CAIRN_RETRY : CAIRN_COMPLETE;
}

static cairn_code own_delay(cairn_passage *passage, void *arg)
{
    cairn_step_options options = CAIRN_STEP_DEFAULTS;
    (void)passage;
    options.key = "own";
    options.run = later;
    return fn_step_as(arg, &options, NULL);
}

TEST(a_step_may_name_its_own_delay)
{
    struct function_world world;
    fn_begin(&world, own_delay, CAIRN_COMMIT_STEP);
    fn_passage(&world, "ready");
    wf_advance(&world.flow, 7 * SECOND_MS - 1);
    fn_check_idle(&world);
    wf_advance(&world.flow, 1);
    fn_passage(&world, "completed");
    CHECK_INT(fn_of(&world, "own")->called_at_us[1], START_US + 7 * SECOND_US);
    fn_end(&world);
}

/* The passage that another thing woke finds that the retry's time has not come. */
TEST(a_passage_before_its_time_does_not_call_a_step_that_awaits_its_retry)
{
    struct function_world world;
    fn_begin(&world, retrying, CAIRN_COMMIT_STEP);
    fn_fails(&world, "a", CAIRN_FAIL, 1);
    fn_passage(&world, "ready");
    wf_advance(&world.flow, 5 * SECOND_MS);
    fn_pause(&world);
    wf_advance(&world.flow, SECOND_MS);
    CHECK_DONE(&world.flow.world, wf_resume(&world.flow));
    fn_check_idle(&world);
    fn_check_calls(&world, "a:1 first:1");
    wf_advance(&world.flow, 4 * SECOND_MS);
    fn_passage(&world, "completed");
    fn_check_calls(&world, "a:2 first:1 last:1");
    fn_end(&world);
}

/* ---- failing, and going on ------------------------------------------------------------------ */

static cairn_code catching(cairn_passage *passage, void *arg)
{
    struct function_world *world = arg;
    cairn_error error;
    cairn_step_options options = CAIRN_STEP_DEFAULTS;
    options.key = "a";
    options.retries = 0;
    options.run = NULL;
    cairn_code code = fn_step_as(world, &options, NULL);
    error = world->flow.world.error;
    if (code == CAIRN_E_STEP_FAILED) {
        CHECK_STR(error.message, "a is broken");
        PASS_ON(fn_step(world, "instead"));
    } else {
        PASS_ON(code);
    }
    PASS_ON(cairn_passage_sleep(passage, NULL, MINUTE_MS, NULL));
    return fn_step(world, "b");
}

TEST(a_step_that_failed_may_be_caught_and_the_function_goes_on)
{
    struct function_world world;
    MODES(mode)
    {
        fn_begin(&world, catching, mode);
        fn_fails(&world, "a", CAIRN_FAIL, 1);
        fn_passage(&world, "waiting");
        fn_check_steps(&world, "f:waiting a:failed instead:completed sleep:waiting");
        wf_advance(&world.flow, MINUTE_MS);
        fn_passage(&world, "completed"); /* the failure is remembered, and caught once more */
        fn_check_calls(&world, "a:1 b:1 instead:1");
        fn_check_status(&world, "completed");
        fn_end(&world);
    }
}

static cairn_code own_error(cairn_passage *passage, void *arg)
{
    PASS_ON(fn_step(arg, "a"));
    cairn_passage_set_error(passage, "the stars are wrong");
    return CAIRN_E_INTERNAL;
}

TEST(a_function_that_returns_an_error_of_its_own_has_failed_with_its_text)
{
    struct function_world world;
    MODES(mode)
    {
        fn_begin(&world, own_error, mode);
        fn_passage(&world, "failed");
        fn_check_steps(&world, "f:failed a:completed");
        wf_check_last_error(&world.flow, "f", "the stars are wrong", 1);
        fn_end(&world);
    }
}

/* ---- time limits ---------------------------------------------------------------------------- */

static cairn_code limited(cairn_passage *passage, void *arg)
{
    struct function_world *world = arg;
    cairn_step_options options = CAIRN_STEP_DEFAULTS;
    (void)passage;
    options.key = "a";
    options.retries = 1;
    options.timeout_ms = 5 * SECOND_MS;
    return fn_step_as(world, &options, NULL);
}

static void take_too_long(struct function_world *world)
{
    wf_advance(&world->flow, 5 * SECOND_MS + 1);
}

TEST(a_call_that_took_longer_than_its_timeout_has_failed)
{
    struct function_world world;
    MODES(mode)
    {
        fn_begin(&world, limited, mode);
        fn_during(&world, "a", take_too_long);
        fn_passage(&world, "ready");
        CHECK_STR(fn_row(&world, "a")->error, "TIMEOUT");
        CHECK_INT(fn_row(&world, "a")->attempts, 1);
        wf_advance(&world.flow, SECOND_MS);
        fn_during(&world, "a", take_too_long);
        fn_passage(&world, "failed");
        wf_check_last_error(&world.flow, "a", "TIMEOUT", 2);
        fn_end(&world);
    }
}

TEST(a_call_that_took_exactly_its_timeout_counts)
{
    struct function_world world;
    fn_begin(&world, limited, CAIRN_COMMIT_STEP);
    fn_during(&world, "a", take_five_seconds);
    fn_passage(&world, "completed");
    fn_check_calls(&world, "a:1");
    fn_end(&world);
}
