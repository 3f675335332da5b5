/* tests/spec/test_state_flow_control.c - pause, cancel, terminate, restart and retry of durable
 * functions, the DLQ, also in the middle of a passage.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "saga.h"

#include "function_world.h"

static cairn_code two_steps(cairn_passage *passage, void *arg)
{
    struct function_world *world = arg;
    (void)passage;
    PASS_ON(fn_step_undoable(world, "a"));
    return fn_step_undoable(world, "b");
}

static cairn_code a_wait_b(cairn_passage *passage, void *arg)
{
    struct function_world *world = arg;
    PASS_ON(fn_step_undoable(world, "a"));
    PASS_ON(cairn_passage_wait_event(passage, NULL, "go", HOUR_MS, &world->heard, NULL));
    return fn_step_undoable(world, "b");
}

static void resume(struct function_world *world)
{
    CHECK_DONE(&world->flow.world, wf_resume(&world->flow));
}

/* ---- pause ---------------------------------------------------------------------------------- */

TEST(pause_during_step_1_of_2_keeps_it_and_resume_goes_on)
{
    struct function_world world;
    MODES(mode)
    {
        fn_begin(&world, two_steps, mode);
        fn_during(&world, "a", fn_pause);
        fn_passage(&world, "ready");
        fn_check_status(&world, "paused");
        fn_check_steps(&world, "f:ready a:completed");
        fn_check_idle(&world);
        resume(&world);
        fn_check_status(&world, "running");
        fn_passage(&world, "completed");
        fn_check_calls(&world, "a:1 b:1");
        fn_end(&world);
    }
}

TEST(a_paused_passage_that_crashes_is_not_claimed_until_resume)
{
    struct function_world world;
    fn_begin(&world, two_steps, CAIRN_COMMIT_STEP);
    fn_during(&world, "b", fn_pause);
    fn_passage_crashed(&world);
    fn_check_idle(&world);
    fn_check_status(&world, "paused");
    fn_check_steps(&world, "f:ready a:completed");
    resume(&world);
    fn_passage(&world, "completed");
    fn_check_calls(&world, "a:1 b:2");
    fn_end(&world);
}

TEST(a_failure_while_paused_is_applied_by_resume)
{
    struct function_world world;
    MODES(mode)
    {
        fn_begin(&world, two_steps, mode);
        fn_during(&world, "b", fn_pause);
        fn_fails(&world, "b", CAIRN_DEAD, 1);
        fn_passage(&world, "failed");
        fn_check_status(&world, "paused");
        fn_check_idle(&world);
        resume(&world);
        fn_undo_all(&world, "b a");
        fn_check_status(&world, "failed");
        fn_end(&world);
    }
}

TEST(a_wait_that_is_begun_while_paused_takes_its_event_at_resume)
{
    struct function_world world;
    MODES(mode)
    {
        fn_begin(&world, a_wait_b, mode);
        fn_during(&world, "a", fn_pause);
        fn_passage(&world, "waiting");
        fn_check_status(&world, "paused");
        wf_signal(&world.flow, "go", NULL);
        fn_check_idle(&world);
        resume(&world);
        fn_passage(&world, "completed");
        fn_check_calls(&world, "a:1 b:1");
        fn_end(&world);
    }
}

TEST(a_retry_that_falls_due_while_paused_is_called_after_resume)
{
    struct function_world world;
    fn_begin(&world, two_steps, CAIRN_COMMIT_STEP);
    fn_fails(&world, "a", CAIRN_FAIL, 1);
    fn_passage(&world, "ready");
    fn_pause(&world);
    wf_advance(&world.flow, HOUR_MS);
    fn_check_idle(&world);
    resume(&world);
    fn_passage(&world, "completed");
    fn_check_calls(&world, "a:2 b:1");
    fn_end(&world);
}

TEST(a_deadline_counts_on_while_paused)
{
    struct function_world world;
    fn_begin(&world, a_wait_b, CAIRN_COMMIT_STEP);
    fn_passage(&world, "waiting");
    fn_pause(&world);
    wf_advance(&world.flow, 2 * HOUR_MS);
    fn_check_idle(&world);
    fn_check_steps(&world, "f:waiting a:completed go:waiting");
    resume(&world);
    fn_check_steps(&world, "f:ready a:completed go:skipped");
    fn_passage(&world, "rolled_back"); /* nobody caught that nothing came in time */
    fn_undo_all(&world, "a");
    fn_check_status(&world, "failed");
    fn_end(&world);
}

/* ---- cancel --------------------------------------------------------------------------------- */

TEST(cancel_during_a_passage_keeps_finished_steps_and_undoes_them_in_reverse)
{
    struct function_world world;
    struct runner runner;
    MODES(mode)
    {
        fn_begin(&world, two_steps, mode);
        fn_during(&world, "b", fn_cancel);
        CHECK(fn_claim(&world, "w", &runner), "nothing is brought");
        fn_play(&world, &runner);
        fn_check_status(&world, "compensating");
        fn_check_idle(&world); /* no undo before the lease has ended */
        CHECK_DONE(&world.flow.world, fn_finish(&world, &runner, NULL));
        fn_undo_all(&world, "b a");
        fn_check_status(&world, "cancelled");
        fn_check_steps(&world, "f:skipped a:rolled_back b:rolled_back");
        fn_check_calls(&world, "a:1 b:1");
        fn_end(&world);
    }
}

TEST(cancel_during_step_1_of_2_does_not_begin_step_2)
{
    struct function_world world;
    MODES(mode)
    {
        fn_begin(&world, two_steps, mode);
        fn_during(&world, "a", fn_cancel);
        fn_passage(&world, "skipped");
        fn_check_calls(&world, "a:1");
        fn_undo_all(&world, "a");
        fn_check_status(&world, "cancelled");
        fn_end(&world);
    }
}

TEST(a_cancelled_passage_that_never_comes_back_is_undone_when_its_lease_ends)
{
    struct function_world world;
    fn_begin(&world, two_steps, CAIRN_COMMIT_STEP);
    fn_during(&world, "b", fn_cancel);
    fn_passage_crashed(&world);
    fn_undo_all(&world, "a"); /* nobody knows of b */
    fn_check_status(&world, "cancelled");
    fn_end(&world);
}

TEST(cancel_while_it_waits_undoes_at_once)
{
    struct function_world world;
    fn_begin(&world, a_wait_b, CAIRN_COMMIT_STEP);
    fn_passage(&world, "waiting");
    fn_cancel(&world);
    fn_undo_all(&world, "a");
    fn_check_status(&world, "cancelled");
    fn_check_steps(&world, "f:skipped a:rolled_back go:skipped");
    fn_end(&world);
}

TEST(cancel_while_a_step_awaits_its_retry_undoes_that_call_too)
{
    struct function_world world;
    fn_begin(&world, two_steps, CAIRN_COMMIT_STEP);
    fn_fails(&world, "b", CAIRN_FAIL, 1);
    fn_passage(&world, "ready");
    fn_cancel(&world);
    struct task task = wf_take_undo(&world.flow, "b");
    sg_check_json(task.input, "{\"input\": null, \"output\": null}");
    CHECK_DONE(&world.flow.world, wf_report(&world.flow, &task, CAIRN_COMPLETE, NULL));
    fn_undo_all(&world, "a");
    fn_check_status(&world, "cancelled");
    fn_end(&world);
}

TEST(cancel_takes_what_the_last_commit_brings_and_ignores_how_it_ended)
{
    struct function_world world;
    MODES(mode)
    {
        fn_begin(&world, two_steps, mode);
        fn_during(&world, "b", fn_cancel);
        fn_fails(&world, "b", CAIRN_FAIL, 1); /* called, and to be called again: never */
        fn_passage(&world, "skipped");
        wf_advance(&world.flow, HOUR_MS);
        fn_undo_all(&world, "b a");
        fn_check_status(&world, "cancelled");
        fn_end(&world);
    }
}

/* ---- terminate and restart ------------------------------------------------------------------ */

TEST(terminate_during_a_passage_refuses_the_old_commit_and_drops_its_buffer)
{
    struct function_world world;
    MODES(mode)
    {
        fn_begin(&world, two_steps, mode);
        fn_during(&world, "b", fn_abort);
        fn_passage_refused(&world, CAIRN_E_LEASE_LOST);
        fn_check_status(&world, "aborted");
        fn_check_steps(&world,
                       mode == CAIRN_COMMIT_STEP ? "f:skipped a:completed" : "f:skipped");
        wf_advance(&world.flow, HOUR_MS);
        fn_check_idle(&world); /* nothing is undone */
        fn_check_status(&world, "aborted");
        fn_end(&world);
    }
}

TEST(restart_during_a_passage_refuses_the_old_commit_and_drops_its_buffer)
{
    struct function_world world;
    MODES(mode)
    {
        fn_begin(&world, two_steps, mode);
        fn_during(&world, "b", fn_restart);
        fn_passage_refused(&world, CAIRN_E_LEASE_LOST);
        fn_check_steps(&world, "f:ready");
        fn_check_status(&world, "running");
        CHECK_INT(wf_instance(&world.flow)->generation, 2);
        fn_passage(&world, "completed");
        fn_check_calls(&world, "a:2 b:2");
        fn_check_steps(&world, "f:completed a:completed b:completed");
        fn_end(&world);
    }
}

TEST(restart_between_passages_forgets_everything_and_gives_signals_back)
{
    struct function_world world;
    fn_begin(&world, a_wait_b, CAIRN_COMMIT_STEP);
    wf_signal(&world.flow, "go", "{\"x\": 1}");
    fn_passage(&world, "completed");
    fn_restart(&world);
    fn_check_steps(&world, "f:ready");
    fn_passage(&world, "completed");
    fn_check_calls(&world, "a:2 b:2");
    sg_check_json(fn_row(&world, "go")->output, "{\"x\": 1}");
    fn_end(&world);
}

TEST(a_runner_from_before_a_restart_cannot_commit_into_the_new_life)
{
    struct function_world world;
    struct runner old, new;
    fn_begin(&world, two_steps, CAIRN_COMMIT_PASSAGE);
    CHECK(fn_claim(&world, "old", &old), "nothing is brought");
    fn_play(&world, &old);
    fn_restart(&world);
    CHECK(fn_claim(&world, "new", &new), "nothing is brought");
    CHECK_REFUSED(&world.flow.world, fn_finish(&world, &old, NULL), CAIRN_E_LEASE_LOST);
    fn_check_steps(&world, "f:running");
    fn_play(&world, &new);
    CHECK_DONE(&world.flow.world, fn_finish(&world, &new, NULL));
    fn_check_status(&world, "completed");
    CHECK_INT(fn_count_events(&world, "step_completed", "a"), 1);
    fn_end(&world);
}

/* ---- retry ---------------------------------------------------------------------------------- */

static cairn_code plain(cairn_passage *passage, void *arg)
{
    struct function_world *world = arg;
    PASS_ON(fn_step(world, "a"));
    PASS_ON(cairn_passage_sleep(passage, NULL, 1000, NULL));
    PASS_ON(fn_step(world, "b"));
    return fn_step(world, "c");
}

static void fail_plain(struct function_world *world, cairn_commit_mode mode, const char *more)
{
    fn_begin_with(world, plain, mode, more);
    fn_passage(world, "waiting");
    wf_advance(&world->flow, SECOND_MS);
    fn_fails(world, "b", CAIRN_DEAD, 1);
}

TEST(retry_of_a_failed_function_keeps_what_went_well)
{
    struct function_world world;
    MODES(mode)
    {
        fail_plain(&world, mode, "");
        fn_passage(&world, "failed");
        CHECK_DONE(&world.flow.world, wf_again(&world.flow));
        fn_check_status(&world, "running");
        fn_passage(&world, "completed");
        fn_check_calls(&world, "a:1 b:2 c:1");
        CHECK_INT(fn_of(&world, "b")->attempts[1], 1); /* fresh attempts */
        CHECK_INT(wf_instance(&world.flow)->generation, 2);
        fn_end(&world);
    }
}

TEST(retry_after_a_rollback_does_everything_again)
{
    struct function_world world;
    fn_begin(&world, two_steps, CAIRN_COMMIT_STEP);
    fn_fails(&world, "b", CAIRN_DEAD, 1);
    fn_passage(&world, "rolled_back");
    fn_undo_all(&world, "b a");
    CHECK_DONE(&world.flow.world, wf_again(&world.flow));
    fn_passage(&world, "completed");
    fn_check_calls(&world, "a:2 b:2");
    fn_end(&world);
}

TEST(retry_of_a_function_that_did_not_fail_is_refused)
{
    struct function_world world;
    fn_begin(&world, two_steps, CAIRN_COMMIT_STEP);
    CHECK_REFUSED(&world.flow.world, wf_again(&world.flow), CAIRN_E_WRONG_STATE);
    fn_passage(&world, "completed");
    CHECK_REFUSED(&world.flow.world, wf_again(&world.flow), CAIRN_E_WRONG_STATE);
    fn_end(&world);
}

/* ---- the DLQ -------------------------------------------------------------------------------- */

TEST(with_dlq_a_failed_function_parks_and_requeue_goes_on)
{
    struct function_world world;
    MODES(mode)
    {
        fail_plain(&world, mode, ", \"dlq\": true");
        fn_passage(&world, "paused");
        fn_check_status(&world, "dlq");
        struct record record = sg_record(&world.flow, "f");
        CHECK_STR(record.error, "b is broken");
        CHECK_STR(record.instance_id, world.flow.id);
        CHECK_STR(record.workflow_id, "f/1");
        fn_check_idle(&world);
        CHECK_DONE(&world.flow.world, sg_requeue(&world.flow, "f", NULL));
        fn_check_status(&world, "running");
        fn_passage(&world, "completed");
        fn_check_calls(&world, "a:1 b:2 c:1");
        CHECK_INT(sg_count_records(&world.flow), 0);
        fn_end(&world);
    }
}

TEST(requeue_may_give_the_function_another_input)
{
    struct function_world world;
    struct runner runner;
    fail_plain(&world, CAIRN_COMMIT_STEP, ", \"dlq\": true");
    fn_passage(&world, "paused");
    CHECK_DONE(&world.flow.world, sg_requeue(&world.flow, "f", "{\"n\": 2}"));
    CHECK(fn_claim(&world, "w", &runner), "nothing is brought");
    sg_check_json(cairn_passage_task(runner.passage)->input, "{\"n\": 2}");
    fn_drop(&runner);
    fn_end(&world);
}

TEST(cancel_of_a_parked_function_undoes_it)
{
    struct function_world world;
    fn_begin_with(&world, two_steps, CAIRN_COMMIT_STEP, ", \"dlq\": true");
    fn_fails(&world, "b", CAIRN_DEAD, 1);
    fn_passage(&world, "paused");
    fn_cancel(&world);
    fn_undo_all(&world, "b a");
    fn_check_status(&world, "cancelled");
    CHECK_INT(sg_count_records(&world.flow), 0);
    fn_end(&world);
}
