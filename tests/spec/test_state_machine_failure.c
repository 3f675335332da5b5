/* tests/spec/test_state_machine_failure.c - the four failure policies, and the end of a call:
 * section "Failure Policy" of state-machine.md.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "flow_world.h"

TEST(fail_workflow_fails_the_instance_and_undoes_nothing)
{
    struct flow_world fw;
    wf_begin(&fw, FLOW("{step: a, compensation: {handler: u}}, "
                       "{step: b, on_failure: fail_workflow}, {step: c}"));
    wf_do(&fw, "a");
    wf_do_badly(&fw, "b");
    wf_check_steps(&fw, "a:completed b:failed c:skipped");
    wf_check_status(&fw, "failed");
    wf_check_last_error(&fw, "b", "no good", 1);
    wf_check_nothing_to_take(&fw);
    wf_close(&fw);
}

TEST(without_any_compensation_a_failure_fails_the_instance)
{
    struct flow_world fw;
    wf_begin(&fw, FLOW("{step: a}, {step: b}"));
    wf_do(&fw, "a");
    wf_do_badly(&fw, "b");
    wf_check_steps(&fw, "a:completed b:failed");
    wf_check_status(&fw, "failed");
    wf_close(&fw);
}

TEST(pause_workflow_pauses_and_resume_tries_again_with_fresh_attempts)
{
    struct flow_world fw;
    wf_begin(&fw, FLOW("{step: a, max_attempts: 2, on_failure: pause_workflow}, {step: b}"));
    struct task task = wf_take_step(&fw, "a");
    CHECK_DONE(&fw.world, wf_retry(&fw, &task, 0));
    task = wf_take_step(&fw, "a");
    CHECK_DONE(&fw.world, wf_retry(&fw, &task, 0));
    wf_check_status(&fw, "paused");
    wf_check_steps(&fw, "a:failed b:pending");
    wf_check_last_error(&fw, "a", "later, please", 2);
    wf_check_nothing_to_take(&fw);

    CHECK_DONE(&fw.world, wf_resume(&fw));
    wf_check_status(&fw, "running");
    wf_check_steps(&fw, "a:ready b:pending");
    CHECK_INT(wf_step(&fw, "a")->attempts, 0);
    CHECK_INT(wf_take_step(&fw, "a").attempt, 1);
    wf_advance(&fw, 30 * SECOND_MS + 1);
    task = wf_take_step(&fw, "a");
    CHECK_INT(task.attempt, 2);
    CHECK_DONE(&fw.world, wf_report(&fw, &task, CAIRN_COMPLETE, NULL));
    wf_do(&fw, "b");
    wf_check_status(&fw, "completed");
    wf_close(&fw);
}

TEST(a_wait_that_paused_the_instance_waits_again_after_resume)
{
    struct flow_world fw;
    wf_begin(&fw, FLOW("{wait: s, event: go, timeout: 1m, on_failure: pause_workflow}, "
                       "{step: b}"));
    wf_advance(&fw, MINUTE_MS);
    wf_check_status(&fw, "paused");
    wf_check_steps(&fw, "s:failed b:pending");
    CHECK_DONE(&fw.world, wf_resume(&fw));
    wf_check_steps(&fw, "s:waiting b:pending");
    wf_check_status(&fw, "waiting_signal");
    CHECK_INT(wf_step(&fw, "s")->deadline_at_us, START_US + 2 * MINUTE_US);
    CHECK_INT(wf_signal(&fw, "go", NULL).taken, 1);
    wf_do(&fw, "b");
    wf_check_status(&fw, "completed");
    wf_close(&fw);
}

TEST(continue_skips_the_step_and_goes_on_with_its_input)
{
    struct flow_world fw;
    wf_begin(&fw, FLOW("{step: a}, {step: b, on_failure: continue}, {step: c}"));
    wf_do(&fw, "a");
    wf_do_badly(&fw, "b");
    wf_check_steps(&fw, "a:completed b:skipped c:ready");
    CHECK_STR(wf_step(&fw, "b")->error, "no good");
    wf_check_status(&fw, "running");
    struct task task = wf_take_step(&fw, "c");
    CHECK(is_same_json(task.input, "{\"by\": \"a\"}"), "the input is %s", task.input);
    CHECK_DONE(&fw.world, wf_report(&fw, &task, CAIRN_COMPLETE, NULL));
    wf_check_status(&fw, "completed");
    wf_close(&fw);
}

TEST(continue_at_the_end_completes_the_instance)
{
    struct flow_world fw;
    wf_begin(&fw, FLOW("{step: a, on_failure: continue}"));
    wf_do_badly(&fw, "a");
    wf_check_status(&fw, "completed");
    CHECK(is_same_json(wf_instance(&fw)->output, "{\"n\": 1}"), "%s", wf_instance(&fw)->output);
    wf_close(&fw);
}

/* ---- compensate -------------------------------------------------------------------------- */

#define SAGA                                                           \
    FLOW("{step: a, compensation: {handler: undo_a}}, {step: b}, "     \
         "{step: c, compensation: {handler: undo_c, max_attempts: 2, " \
         "retry: {backoff: fixed, base: 1s}}}, {step: d}")

static void begin_saga(struct flow_world *fw)
{
    wf_begin(fw, SAGA);
    wf_do(fw, "a");
    wf_do(fw, "b");
    wf_do(fw, "c");
    wf_do_badly(fw, "d");
}

TEST(compensate_undoes_in_reverse_order)
{
    struct flow_world fw;
    begin_saga(&fw);
    wf_check_status(&fw, "compensating");
    wf_check_steps(&fw, "a:completed b:completed c:compensation d:rolled_back");
    wf_check_current(&fw, "c");
    struct task task = wf_take_undo(&fw, "c");
    CHECK_STR(task.type, "undo_c");
    CHECK_INT(task.attempt, 1);
    CHECK_INT(task.max_attempts, 2);
    CHECK(is_same_json(task.input, "{\"input\": {\"by\": \"b\"}, \"output\": {\"by\": \"c\"}}"),
          "the input is %s", task.input);
    wf_check_nothing_to_take(&fw);
    CHECK_DONE(&fw.world, wf_report(&fw, &task, CAIRN_COMPLETE, NULL));
    wf_check_steps(&fw, "a:compensation b:rolled_back c:rolled_back d:rolled_back");
    wf_undo(&fw, "a");
    wf_check_steps(&fw, "a:rolled_back b:rolled_back c:rolled_back d:rolled_back");
    wf_check_status(&fw, "failed");
    CHECK_STR(wf_step(&fw, "d")->error, "no good");
    wf_check_last_error(&fw, "d", "no good", 1);
    wf_check_nothing_to_take(&fw);
    wf_close(&fw);
}

TEST(the_failed_step_is_undone_first_if_it_says_how)
{
    struct flow_world fw;
    wf_begin(&fw, FLOW("{step: a, compensation: {handler: u}}, "
                       "{step: b, compensation: {handler: v}}"));
    wf_do(&fw, "a");
    wf_do_badly(&fw, "b");
    struct task task = wf_take_undo(&fw, "b");
    CHECK(is_same_json(task.input, "{\"input\": {\"by\": \"a\"}, \"output\": null}"),
          "the input is %s", task.input);
    CHECK_DONE(&fw.world, wf_report(&fw, &task, CAIRN_COMPLETE, NULL));
    wf_undo(&fw, "a");
    wf_check_status(&fw, "failed");
    wf_close(&fw);
}

TEST(an_undo_is_tried_again_after_its_backoff)
{
    struct flow_world fw;
    begin_saga(&fw);
    struct task task = wf_take_undo(&fw, "c");
    CHECK_DONE(&fw.world, wf_report(&fw, &task, CAIRN_FAIL, "not now"));
    wf_check_steps(&fw, "a:completed b:completed c:compensation d:rolled_back");
    CHECK_INT(wf_step(&fw, "c")->compensation_attempts, 1);
    CHECK_INT(wf_step(&fw, "c")->attempts, 0);
    wf_advance(&fw, 999);
    wf_check_nothing_to_take(&fw);
    wf_advance(&fw, 1);
    task = wf_take_undo(&fw, "c");
    CHECK_INT(task.attempt, 2);
    CHECK_DONE(&fw.world, wf_report(&fw, &task, CAIRN_COMPLETE, NULL));
    wf_undo(&fw, "a");
    wf_check_status(&fw, "failed");
    CHECK_INT(wf_count_events(&fw, "compensation_retry"), 1);
    CHECK_INT(wf_count_events(&fw, "compensation_started"), 2);
    wf_close(&fw);
}

TEST(an_undo_without_attempts_left_goes_to_the_dlq_and_the_rest_is_still_undone)
{
    struct flow_world fw;
    long long count = 0;
    begin_saga(&fw);
    struct task task = wf_take_undo(&fw, "c");
    CHECK_DONE(&fw.world, wf_retry(&fw, &task, 0));
    task = wf_take_undo(&fw, "c");
    CHECK_DONE(&fw.world, wf_retry(&fw, &task, 0));
    wf_check_steps(&fw, "a:compensation b:rolled_back c:failed d:rolled_back");
    CHECK_INT(wf_count_events(&fw, "compensation_max_retries_exceeded"), 1);
    wf_check_status(&fw, "compensating");
    wf_undo(&fw, "a");
    wf_check_steps(&fw, "a:rolled_back b:rolled_back c:failed d:rolled_back");
    wf_check_status(&fw, "failed");
    if (wf_sql(&fw,
               "SELECT count(*) FROM {workflow_dlq} WHERE "
               "reason = 'compensation max retries exceeded'",
               &count))
        CHECK_INT(count, 1);
    wf_check_nothing_to_take(&fw);
    wf_close(&fw);
}

TEST(an_undo_with_no_attempts_is_never_called)
{
    struct flow_world fw;
    wf_begin(&fw, FLOW("{step: a, compensation: {handler: u, max_attempts: 0}}, {step: b}"));
    wf_do(&fw, "a");
    wf_do_badly(&fw, "b");
    wf_check_nothing_to_take(&fw);
    wf_check_steps(&fw, "a:failed b:rolled_back");
    wf_check_status(&fw, "failed");
    CHECK_INT(wf_count_events(&fw, "compensation_max_retries_exceeded"), 1);
    wf_close(&fw);
}

TEST(an_undo_that_is_lost_costs_an_attempt)
{
    struct flow_world fw;
    begin_saga(&fw);
    struct task task = wf_take_undo(&fw, "c");
    wf_advance(&fw, 30 * SECOND_MS + 1);
    CHECK_REFUSED(&fw.world, wf_report(&fw, &task, CAIRN_COMPLETE, NULL), CAIRN_E_LEASE_LOST);
    CHECK_INT(wf_take_undo(&fw, "c").attempt, 2);
    wf_close(&fw);
}

TEST(an_undo_cannot_wait)
{
    struct flow_world fw;
    begin_saga(&fw);
    struct task task = wf_take_undo(&fw, "c");
    CHECK_REFUSED(&fw.world, wf_wait(&fw, &task, "go", 1000), CAIRN_E_BAD_INPUT);
    CHECK_DONE(&fw.world, wf_report(&fw, &task, CAIRN_COMPLETE, NULL));
    wf_close(&fw);
}

TEST(while_an_instance_is_undone_only_abort_is_allowed)
{
    struct flow_world fw;
    begin_saga(&fw);
    CHECK_REFUSED(&fw.world, wf_pause(&fw), CAIRN_E_WRONG_STATE);
    CHECK_REFUSED(&fw.world, wf_resume(&fw), CAIRN_E_WRONG_STATE);
    CHECK_REFUSED(&fw.world, wf_restart(&fw), CAIRN_E_WRONG_STATE);
    CHECK_REFUSED(&fw.world, wf_again(&fw), CAIRN_E_WRONG_STATE);
    CHECK_REFUSED(&fw.world, wf_cancel(&fw), CAIRN_E_WRONG_STATE);
    CHECK_DONE(&fw.world, wf_abort(&fw));
    wf_check_status(&fw, "aborted");
    wf_close(&fw);
}

TEST(steps_that_never_ran_are_not_undone)
{
    struct flow_world fw;
    wf_begin(&fw, FLOW("{step: a, on_failure: compensate}, "
                       "{step: b, compensation: {handler: u}}"));
    wf_do_badly(&fw, "a");
    wf_check_steps(&fw, "a:rolled_back b:skipped");
    wf_check_status(&fw, "failed");
    wf_check_nothing_to_take(&fw);
    wf_close(&fw);
}

/* ---- timeout ----------------------------------------------------------------------------- */

TEST(a_call_that_takes_too_long_has_failed)
{
    struct flow_world fw;
    const char *stop;
    wf_begin(&fw, FLOW("{step: a, timeout: 10s, max_attempts: 2, "
                       "retry: {backoff: fixed, base: 1s}}"));
    struct task task = wf_take_step(&fw, "a");
    CHECK_INT(task.lease_until_us, START_US + 10 * SECOND_US);
    wf_advance(&fw, 6000);
    CHECK_DONE(&fw.world, wf_beat(&fw, &task, 30000, &stop));
    CHECK_INT(wf_step(&fw, "a")->locked_until_us, START_US + 10 * SECOND_US);
    wf_advance(&fw, 4001);
    CHECK_STR(wf_step(&fw, "a")->error, "TIMEOUT");
    CHECK_INT(wf_step(&fw, "a")->attempts, 1);
    wf_check_last_error(&fw, "a", "TIMEOUT", 1);
    CHECK_REFUSED(&fw.world, wf_report(&fw, &task, CAIRN_COMPLETE, "1"), CAIRN_E_LEASE_LOST);
    CHECK_REFUSED(&fw.world, wf_beat(&fw, &task, 30000, &stop), CAIRN_E_LEASE_LOST);
    wf_check_nothing_to_take(&fw);
    wf_advance(&fw, 1000);
    CHECK_INT(wf_take_step(&fw, "a").attempt, 2);
    wf_advance(&fw, 10001);
    wf_check_status(&fw, "failed");
    wf_close(&fw);
}

TEST(a_result_at_the_last_instant_of_the_timeout_counts)
{
    struct flow_world fw;
    wf_begin(&fw, FLOW("{step: a, timeout: 10s}"));
    struct task task = wf_take_step(&fw, "a");
    wf_advance(&fw, 10000);
    CHECK_DONE(&fw.world, wf_report(&fw, &task, CAIRN_COMPLETE, "1"));
    wf_check_status(&fw, "completed");
    wf_close(&fw);
}

TEST(a_lease_shorter_than_the_timeout_is_lost_as_ever)
{
    struct flow_world fw;
    wf_begin(&fw, FLOW("{step: a, timeout: 10m}"));
    wf_take_step(&fw, "a");
    wf_advance(&fw, 30 * SECOND_MS + 1);
    CHECK_STR(wf_step(&fw, "a")->error, "LEASE_EXPIRED");
    CHECK_STR(wf_step(&fw, "a")->status, "ready");
    wf_close(&fw);
}
