/* tests/spec/test_state_machine_pause.c - pause, resume, restart and retry: state-machine.md,
 * and the design's corners about them.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "flow_world.h"

#define AB FLOW("{step: a}, {step: b}")

TEST(a_paused_instance_starts_nothing)
{
    struct flow_world fw;
    wf_begin(&fw, AB);
    CHECK_DONE(&fw.world, wf_pause(&fw));
    wf_check_status(&fw, "paused");
    wf_check_steps(&fw, "a:ready b:pending");
    wf_check_nothing_to_take(&fw);
    wf_advance(&fw, HOUR_MS);
    wf_check_nothing_to_take(&fw);
    CHECK_DONE(&fw.world, wf_resume(&fw));
    wf_check_status(&fw, "running");
    wf_do(&fw, "a");
    wf_do(&fw, "b");
    wf_check_status(&fw, "completed");
    CHECK_INT(wf_count_events(&fw, "workflow_paused"), 1);
    CHECK_INT(wf_count_events(&fw, "workflow_resumed"), 1);
    wf_close(&fw);
}

TEST(a_pause_during_a_step_keeps_its_result_and_starts_nothing)
{
    struct flow_world fw;
    const char *stop = "?";
    wf_begin(&fw, AB);
    struct task task = wf_take_step(&fw, "a");
    CHECK_DONE(&fw.world, wf_pause(&fw));
    wf_check_steps(&fw, "a:running b:pending");
    CHECK_DONE(&fw.world, wf_beat(&fw, &task, 30000, &stop));
    CHECK(!stop, "a step may finish, but was told %s", stop);
    CHECK_DONE(&fw.world, wf_report(&fw, &task, CAIRN_COMPLETE, "7"));
    wf_check_steps(&fw, "a:completed b:pending");
    wf_check_status(&fw, "paused");
    wf_check_nothing_to_take(&fw);
    wf_check_current(&fw, "");
    CHECK_DONE(&fw.world, wf_resume(&fw));
    wf_check_steps(&fw, "a:completed b:ready");
    task = wf_take_step(&fw, "b");
    CHECK_STR(task.input, "7");
    wf_close(&fw);
}

TEST(the_last_result_during_a_pause_completes_at_resume)
{
    struct flow_world fw;
    wf_begin(&fw, FLOW("{step: a}"));
    struct task task = wf_take_step(&fw, "a");
    CHECK_DONE(&fw.world, wf_pause(&fw));
    CHECK_DONE(&fw.world, wf_report(&fw, &task, CAIRN_COMPLETE, "7"));
    wf_check_status(&fw, "paused");
    CHECK_DONE(&fw.world, wf_resume(&fw));
    wf_check_status(&fw, "completed");
    CHECK_STR(wf_instance(&fw)->output, "7");
    wf_close(&fw);
}

TEST(a_failure_during_a_pause_is_applied_at_resume)
{
    struct flow_world fw;
    wf_begin(&fw, AB);
    struct task task = wf_take_step(&fw, "a");
    CHECK_DONE(&fw.world, wf_pause(&fw));
    CHECK_DONE(&fw.world, wf_report(&fw, &task, CAIRN_DEAD, "no"));
    wf_check_steps(&fw, "a:failed b:pending");
    wf_check_status(&fw, "paused");
    CHECK_DONE(&fw.world, wf_resume(&fw));
    wf_check_steps(&fw, "a:failed b:skipped");
    wf_check_status(&fw, "failed");
    wf_close(&fw);
}

TEST(a_retry_during_a_pause_is_held_until_resume)
{
    struct flow_world fw;
    wf_begin(&fw, AB);
    struct task task = wf_take_step(&fw, "a");
    CHECK_DONE(&fw.world, wf_pause(&fw));
    CHECK_DONE(&fw.world, wf_retry(&fw, &task, 60000));
    wf_advance(&fw, MINUTE_MS);
    wf_check_nothing_to_take(&fw);
    CHECK_DONE(&fw.world, wf_resume(&fw));
    CHECK_INT(wf_take_step(&fw, "a").attempt, 2);
    wf_close(&fw);
}

TEST(a_lease_lost_during_a_pause_costs_its_attempt)
{
    struct flow_world fw;
    wf_begin(&fw, FLOW("{step: a, max_attempts: 2}, {step: b}"));
    wf_take_step(&fw, "a");
    CHECK_DONE(&fw.world, wf_pause(&fw));
    wf_advance(&fw, 30 * SECOND_MS + 1);
    wf_check_steps(&fw, "a:ready b:pending");
    wf_check_nothing_to_take(&fw);
    CHECK_DONE(&fw.world, wf_resume(&fw));
    CHECK_INT(wf_take_step(&fw, "a").attempt, 2);
    wf_close(&fw);
}

TEST(a_signal_during_a_pause_is_kept_and_taken_at_resume)
{
    struct flow_world fw;
    wf_begin(&fw, FLOW("{wait: s, event: go}, {step: b}"));
    wf_check_status(&fw, "waiting_signal");
    CHECK_DONE(&fw.world, wf_pause(&fw));
    cairn_signalled signalled = wf_signal(&fw, "go", "5");
    CHECK_INT(signalled.taken, 0);
    CHECK_INT(signalled.kept, 1);
    wf_check_status(&fw, "paused");
    wf_check_steps(&fw, "s:waiting b:pending");
    CHECK_DONE(&fw.world, wf_resume(&fw));
    wf_check_steps(&fw, "s:completed b:ready");
    struct task task = wf_take_step(&fw, "b");
    CHECK(strstr(task.signal, "5"), "the signal is %s", task.signal);
    wf_close(&fw);
}

TEST(timers_go_on_counting_during_a_pause_and_fire_at_resume)
{
    struct flow_world fw;
    wf_begin(&fw, FLOW("{sleep: z, for: 1m}, {step: b}"));
    CHECK_DONE(&fw.world, wf_pause(&fw));
    wf_advance(&fw, HOUR_MS);
    wf_check_steps(&fw, "z:waiting b:pending");
    CHECK_DONE(&fw.world, wf_resume(&fw));
    wf_check_steps(&fw, "z:completed b:ready");
    wf_close(&fw);
}

TEST(a_timer_that_is_not_over_at_resume_goes_on)
{
    struct flow_world fw;
    wf_begin(&fw, FLOW("{sleep: z, for: 1m}, {step: b}"));
    CHECK_DONE(&fw.world, wf_pause(&fw));
    wf_advance(&fw, 40 * SECOND_MS);
    CHECK_DONE(&fw.world, wf_resume(&fw));
    wf_advance(&fw, 20 * SECOND_MS - 1);
    wf_check_steps(&fw, "z:waiting b:pending");
    wf_advance(&fw, 1);
    wf_check_steps(&fw, "z:completed b:ready");
    wf_close(&fw);
}

TEST(a_wait_step_that_ran_out_during_a_pause_fails_at_resume)
{
    struct flow_world fw;
    wf_begin(&fw, FLOW("{wait: s, event: go, timeout: 1m}, {step: b}"));
    CHECK_DONE(&fw.world, wf_pause(&fw));
    wf_advance(&fw, HOUR_MS);
    CHECK_DONE(&fw.world, wf_resume(&fw));
    wf_check_steps(&fw, "s:failed b:skipped");
    wf_check_status(&fw, "failed");
    wf_close(&fw);
}

TEST(a_pause_is_refused_where_nothing_can_be_paused)
{
    struct flow_world fw;
    cairn_start_options options = CAIRN_START_DEFAULTS;
    wf_begin(&fw, AB);
    CHECK_REFUSED(&fw.world, wf_resume(&fw), CAIRN_E_WRONG_STATE);
    CHECK_DONE(&fw.world, wf_pause(&fw));
    CHECK_REFUSED(&fw.world, wf_pause(&fw), CAIRN_E_WRONG_STATE);
    CHECK_DONE(&fw.world, wf_resume(&fw));
    wf_do(&fw, "a");
    wf_do(&fw, "b");
    CHECK_REFUSED(&fw.world, wf_pause(&fw), CAIRN_E_WRONG_STATE);
    CHECK_REFUSED(&fw.world, wf_resume(&fw), CAIRN_E_WRONG_STATE);
    CHECK(strstr(fw.world.error.message, "completed"), "the state is not named: %s",
          fw.world.error.message);
    options.workflow = "w";
    options.start_at_us = START_US + MINUTE_US;
    CHECK_DONE(&fw.world, wf_start(&fw, &options, NULL));
    CHECK_REFUSED(&fw.world, wf_pause(&fw), CAIRN_E_WRONG_STATE);
    wf_close(&fw);
}

/* ---- restart ----------------------------------------------------------------------------- */

TEST(a_restart_refuses_the_report_of_the_old_run)
{
    struct flow_world fw;
    const char *stop;
    wf_begin(&fw, AB);
    wf_do(&fw, "a");
    struct task old = wf_take_step(&fw, "b");
    CHECK_DONE(&fw.world, wf_restart(&fw));
    wf_check_steps(&fw, "a:ready b:pending");
    wf_check_status(&fw, "running");
    CHECK_INT(wf_instance(&fw)->generation, 2);
    CHECK_REFUSED(&fw.world, wf_report(&fw, &old, CAIRN_COMPLETE, "1"), CAIRN_E_LEASE_LOST);
    CHECK_REFUSED(&fw.world, wf_beat(&fw, &old, 30000, &stop), CAIRN_E_LEASE_LOST);
    wf_check_steps(&fw, "a:ready b:pending");

    struct task task = wf_take_step(&fw, "a");
    CHECK(is_same_json(task.input, "{\"n\": 1}"), "not the original input: %s", task.input);
    CHECK_INT(task.attempt, 1);
    CHECK_DONE(&fw.world, wf_report(&fw, &task, CAIRN_COMPLETE, NULL));
    task = wf_take_step(&fw, "b");
    CHECK_REFUSED(&fw.world, wf_report(&fw, &old, CAIRN_COMPLETE, "1"), CAIRN_E_LEASE_LOST);
    CHECK_DONE(&fw.world, wf_report(&fw, &task, CAIRN_COMPLETE, "2"));
    CHECK_STR(wf_instance(&fw)->output, "2");
    wf_close(&fw);
}

TEST(a_restart_forgets_everything_but_the_input)
{
    struct flow_world fw;
    wf_begin(&fw, AB);
    wf_do_badly(&fw, "a");
    wf_check_status(&fw, "failed");
    wf_advance(&fw, 1000);
    CHECK_DONE(&fw.world, wf_restart(&fw));
    const cairn_instance *instance = wf_instance(&fw);
    CHECK_STR(instance->status, "running");
    CHECK(!instance->last_error && !instance->output, "something is left");
    CHECK_INT(instance->finished_at_us, 0);
    CHECK_INT(instance->started_at_us, START_US + SECOND_US);
    const cairn_step *step = wf_step(&fw, "a");
    CHECK_INT(step->attempts, 0);
    CHECK(!step->error && !step->output, "something is left");
    wf_do(&fw, "a");
    wf_do(&fw, "b");
    wf_check_status(&fw, "completed");
    wf_close(&fw);
}

TEST(a_restart_works_from_every_state_but_two)
{
    struct flow_world fw;
    cairn_start_options options = CAIRN_START_DEFAULTS;
    wf_begin(&fw,
             FLOW("{step: a, compensation: {handler: u}}, {wait: s, event: go}, {step: b}"));
    CHECK_DONE(&fw.world, wf_restart(&fw)); /* running */
    CHECK_DONE(&fw.world, wf_pause(&fw));
    CHECK_DONE(&fw.world, wf_restart(&fw)); /* paused */
    wf_do(&fw, "a");
    wf_check_status(&fw, "waiting_signal");
    CHECK_DONE(&fw.world, wf_restart(&fw));
    wf_do(&fw, "a");
    CHECK_DONE(&fw.world, wf_cancel(&fw));
    wf_check_status(&fw, "compensating");
    CHECK_REFUSED(&fw.world, wf_restart(&fw), CAIRN_E_WRONG_STATE);
    wf_undo(&fw, "a");
    wf_check_status(&fw, "cancelled");
    CHECK_DONE(&fw.world, wf_restart(&fw));
    CHECK_DONE(&fw.world, wf_abort(&fw));
    CHECK_DONE(&fw.world, wf_restart(&fw));
    wf_do(&fw, "a");
    wf_signal(&fw, "go", NULL);
    wf_do(&fw, "b");
    wf_check_status(&fw, "completed");
    CHECK_DONE(&fw.world, wf_restart(&fw));
    CHECK_INT(wf_instance(&fw)->generation, 7);

    options.workflow = "w";
    options.start_at_us = START_US + MINUTE_US;
    CHECK_DONE(&fw.world, wf_start(&fw, &options, NULL));
    CHECK_REFUSED(&fw.world, wf_restart(&fw), CAIRN_E_WRONG_STATE);
    wf_close(&fw);
}

TEST(a_signal_taken_before_a_restart_counts_as_not_taken)
{
    struct flow_world fw;
    wf_begin(&fw, FLOW("{wait: s, event: go}, {step: b}"));
    CHECK_INT(wf_signal(&fw, "go", "5").taken, 1);
    wf_check_steps(&fw, "s:completed b:ready");
    CHECK_DONE(&fw.world, wf_restart(&fw));
    wf_check_steps(&fw, "s:completed b:ready");
    CHECK(strstr(wf_take_step(&fw, "b").signal, "5"), "the signal is lost");
    wf_close(&fw);
}

/* ---- retry ------------------------------------------------------------------------------- */

TEST(a_retry_tries_the_failed_step_again_with_fresh_attempts)
{
    struct flow_world fw;
    wf_begin(&fw, FLOW("{step: a}, {step: b, max_attempts: 2}, {step: c}"));
    wf_do(&fw, "a");
    struct task task = wf_take_step(&fw, "b");
    CHECK_DONE(&fw.world, wf_retry(&fw, &task, 0));
    task = wf_take_step(&fw, "b");
    CHECK_DONE(&fw.world, wf_retry(&fw, &task, 0));
    wf_check_steps(&fw, "a:completed b:failed c:skipped");
    wf_check_status(&fw, "failed");
    struct task old = task;

    CHECK_DONE(&fw.world, wf_again(&fw));
    wf_check_status(&fw, "running");
    wf_check_steps(&fw, "a:completed b:ready c:pending");
    CHECK_INT(wf_instance(&fw)->generation, 2);
    CHECK_INT(wf_instance(&fw)->finished_at_us, 0);
    task = wf_take_step(&fw, "b");
    CHECK_INT(task.attempt, 1);
    CHECK(is_same_json(task.input, "{\"by\": \"a\"}"), "the input is %s", task.input);
    CHECK_REFUSED(&fw.world, wf_report(&fw, &old, CAIRN_COMPLETE, "1"), CAIRN_E_LEASE_LOST);
    CHECK_DONE(&fw.world, wf_report(&fw, &task, CAIRN_COMPLETE, NULL));
    wf_do(&fw, "c");
    wf_check_status(&fw, "completed");
    CHECK_INT(wf_count_events(&fw, "workflow_retried"), 1);
    wf_close(&fw);
}

TEST(only_a_failed_instance_is_retried)
{
    struct flow_world fw;
    wf_begin(&fw, AB);
    CHECK_REFUSED(&fw.world, wf_again(&fw), CAIRN_E_WRONG_STATE);
    CHECK_DONE(&fw.world, wf_pause(&fw));
    CHECK_REFUSED(&fw.world, wf_again(&fw), CAIRN_E_WRONG_STATE);
    CHECK_DONE(&fw.world, wf_abort(&fw));
    CHECK_REFUSED(&fw.world, wf_again(&fw), CAIRN_E_WRONG_STATE);
    wf_close(&fw);
}

TEST(a_retry_after_an_undo_starts_where_the_undo_ended)
{
    struct flow_world fw;
    wf_begin(&fw, FLOW("{step: a, compensation: {handler: u}}, {step: b}"));
    wf_do(&fw, "a");
    wf_do_badly(&fw, "b");
    wf_undo(&fw, "a");
    wf_check_steps(&fw, "a:rolled_back b:rolled_back");
    wf_check_status(&fw, "failed");
    CHECK_DONE(&fw.world, wf_again(&fw));
    wf_check_steps(&fw, "a:ready b:pending");
    wf_do(&fw, "a");
    wf_do(&fw, "b");
    wf_check_status(&fw, "completed");
    wf_close(&fw);
}

TEST(a_signal_taken_by_a_step_that_is_tried_again_counts_as_not_taken)
{
    struct flow_world fw;
    wf_begin(&fw, FLOW("{wait: s, event: go}, {step: b}"));
    CHECK_INT(wf_signal(&fw, "go", "1").taken, 1);
    struct task task = wf_take_step(&fw, "b");
    CHECK_DONE(&fw.world, wf_wait(&fw, &task, "go", -1));
    CHECK_INT(wf_signal(&fw, "go", "2").taken, 1);
    wf_do_badly(&fw, "b");
    CHECK_DONE(&fw.world, wf_again(&fw));
    wf_check_steps(&fw, "s:completed b:ready");
    task = wf_take_step(&fw, "b");
    CHECK_DONE(&fw.world, wf_wait(&fw, &task, "go", -1));
    task = wf_take_step(&fw, "b");
    CHECK(strstr(task.signal, "2"), "the signal is %s", task.signal);
    wf_close(&fw);
}

TEST(a_retry_after_an_undo_tries_skipped_steps_again_too)
{
    struct flow_world fw;
    wf_begin(&fw,
             FLOW("{step: a, compensation: {handler: u}}, {step: b, on_failure: continue}, "
                  "{step: c}"));
    wf_do(&fw, "a");
    wf_do_badly(&fw, "b");
    wf_do_badly(&fw, "c");
    wf_undo(&fw, "a");
    wf_check_steps(&fw, "a:rolled_back b:skipped c:rolled_back");
    CHECK_DONE(&fw.world, wf_again(&fw));
    wf_check_steps(&fw, "a:ready b:pending c:pending");
    wf_do(&fw, "a");
    wf_do(&fw, "b");
    wf_do(&fw, "c");
    wf_check_status(&fw, "completed");
    wf_close(&fw);
}
