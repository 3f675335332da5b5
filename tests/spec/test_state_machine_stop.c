/* tests/spec/test_state_machine_stop.c - cancel and abort: the states `cancelled` and
 * `compensating` of state-machine.md, and the design's corner "Stopping".
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "flow_world.h"

#define SAGA FLOW("{step: a, compensation: {handler: u}}, {step: b}, {step: c}")

TEST(a_cancel_with_nothing_to_undo_is_cancelled_at_once)
{
    struct flow_world fw;
    wf_begin(&fw, SAGA);
    CHECK_DONE(&fw.world, wf_cancel(&fw));
    wf_check_status(&fw, "cancelled");
    wf_check_steps(&fw, "a:skipped b:skipped c:skipped");
    wf_check_current(&fw, "");
    wf_check_nothing_to_take(&fw);
    CHECK_STR(wf_step(&fw, "a")->error, "Stopped due to workflow cancellation");
    CHECK_INT(wf_instance(&fw)->finished_at_us, START_US);
    wf_check_events(&fw, "workflow_started step_ready:a cancellation_started "
                         "step_skipped:a step_skipped:b step_skipped:c workflow_cancelled");
    wf_close(&fw);
}

TEST(a_cancel_undoes_what_is_completed)
{
    struct flow_world fw;
    wf_begin(&fw, SAGA);
    wf_do(&fw, "a");
    CHECK_DONE(&fw.world, wf_cancel(&fw));
    wf_check_status(&fw, "compensating");
    wf_check_steps(&fw, "a:compensation b:skipped c:skipped");
    wf_undo(&fw, "a");
    wf_check_steps(&fw, "a:rolled_back b:skipped c:skipped");
    wf_check_status(&fw, "cancelled");
    wf_close(&fw);
}

TEST(a_cancel_whose_undo_fails_ends_failed)
{
    struct flow_world fw;
    wf_begin(&fw, SAGA);
    wf_do(&fw, "a");
    CHECK_DONE(&fw.world, wf_cancel(&fw));
    struct task task = wf_take_undo(&fw, "a");
    CHECK_DONE(&fw.world, wf_report(&fw, &task, CAIRN_DEAD, "gone"));
    wf_check_steps(&fw, "a:failed b:skipped c:skipped");
    wf_check_status(&fw, "failed");
    wf_close(&fw);
}

TEST(a_cancel_during_a_step_tells_its_worker_and_waits_for_it)
{
    struct flow_world fw;
    const char *stop = NULL;
    wf_begin(&fw, SAGA);
    wf_do(&fw, "a");
    struct task task = wf_take_step(&fw, "b");
    CHECK_DONE(&fw.world, wf_cancel(&fw));
    wf_check_status(&fw, "compensating");
    wf_check_steps(&fw, "a:completed b:skipped c:skipped");
    wf_check_nothing_to_take(&fw);

    wf_advance(&fw, 1000);
    CHECK_DONE(&fw.world, wf_beat(&fw, &task, 60000, &stop));
    CHECK_STR(stop, "cancelled");
    CHECK_INT(wf_step(&fw, "b")->locked_until_us, START_US + 30 * SECOND_US);
    wf_check_nothing_to_take(&fw);

    CHECK_REFUSED(&fw.world, wf_report(&fw, &task, CAIRN_COMPLETE, "1"), CAIRN_E_LEASE_LOST);
    CHECK(!wf_step(&fw, "b")->output, "its output was kept");
    wf_undo(&fw, "a");
    wf_check_status(&fw, "cancelled");
    wf_check_steps(&fw, "a:rolled_back b:skipped c:skipped");
    wf_close(&fw);
}

TEST(a_cancel_during_a_step_goes_on_when_its_lease_ends)
{
    struct flow_world fw;
    wf_begin(&fw, SAGA);
    wf_do(&fw, "a");
    struct task task = wf_take_step(&fw, "b");
    CHECK_DONE(&fw.world, wf_cancel(&fw));
    wf_advance(&fw, 30 * SECOND_MS);
    wf_check_nothing_to_take(&fw);
    wf_advance(&fw, 1);
    wf_undo(&fw, "a");
    wf_check_status(&fw, "cancelled");
    CHECK_REFUSED(&fw.world, wf_report(&fw, &task, CAIRN_COMPLETE, "1"), CAIRN_E_LEASE_LOST);
    wf_close(&fw);
}

TEST(a_step_that_was_called_but_did_not_complete_counts_as_having_run)
{
    struct flow_world fw;
    wf_begin(&fw, SAGA);
    struct task task = wf_take_step(&fw, "a");
    CHECK_DONE(&fw.world, wf_cancel(&fw));
    wf_check_status(&fw, "compensating");
    CHECK_REFUSED(&fw.world, wf_report(&fw, &task, CAIRN_COMPLETE, "1"), CAIRN_E_LEASE_LOST);
    task = wf_take_undo(&fw, "a");
    CHECK(is_same_json(task.input, "{\"input\": {\"n\": 1}, \"output\": null}"),
          "the input is %s", task.input);
    CHECK_DONE(&fw.world, wf_report(&fw, &task, CAIRN_COMPLETE, NULL));
    wf_check_status(&fw, "cancelled");
    wf_close(&fw);
}

TEST(a_cancel_reaches_what_waits_sleeps_and_is_paused)
{
    struct flow_world fw;
    wf_begin(&fw, FLOW("{wait: s, event: go}, {sleep: z, for: 1h}, {step: b}"));
    CHECK_DONE(&fw.world, wf_cancel(&fw));
    wf_check_status(&fw, "cancelled");
    CHECK_DONE(&fw.world, wf_restart(&fw));
    wf_signal(&fw, "go", NULL);
    CHECK_DONE(&fw.world, wf_cancel(&fw));
    wf_check_status(&fw, "cancelled");
    wf_check_steps(&fw, "s:rolled_back z:skipped b:skipped");
    CHECK_DONE(&fw.world, wf_restart(&fw));
    CHECK_DONE(&fw.world, wf_pause(&fw));
    CHECK_DONE(&fw.world, wf_cancel(&fw));
    wf_check_status(&fw, "cancelled");
    wf_advance(&fw, 2 * HOUR_MS);
    wf_check_status(&fw, "cancelled");
    wf_check_nothing_to_take(&fw);
    wf_close(&fw);
}

TEST(a_start_that_is_still_to_come_can_be_cancelled_and_aborted)
{
    struct flow_world fw;
    cairn_start_options options = CAIRN_START_DEFAULTS;
    wf_begin(&fw, SAGA);
    options.workflow = "w";
    options.start_at_us = START_US + MINUTE_US;
    CHECK_DONE(&fw.world, wf_start(&fw, &options, NULL));
    CHECK_DONE(&fw.world, wf_cancel(&fw));
    wf_check_status(&fw, "cancelled");
    wf_check_steps(&fw, "a:skipped b:skipped c:skipped");
    CHECK_STR(wf_step(&fw, "a")->error, "Stopped due to workflow cancellation");
    wf_advance(&fw, HOUR_MS);
    wf_check_status(&fw, "cancelled");
    options.start_at_us = START_US + 2 * HOUR_MS * 1000;
    CHECK_DONE(&fw.world, wf_start(&fw, &options, NULL));
    CHECK_DONE(&fw.world, wf_abort(&fw));
    wf_check_status(&fw, "aborted");
    wf_close(&fw);
}

TEST(an_abort_undoes_nothing)
{
    struct flow_world fw;
    const char *stop = NULL;
    wf_begin(&fw, SAGA);
    wf_do(&fw, "a");
    struct task task = wf_take_step(&fw, "b");
    CHECK_DONE(&fw.world, wf_abort(&fw));
    wf_check_status(&fw, "aborted");
    wf_check_steps(&fw, "a:completed b:skipped c:skipped");
    CHECK_STR(wf_step(&fw, "b")->error, "Stopped due to workflow abort");
    CHECK_DONE(&fw.world, wf_beat(&fw, &task, 30000, &stop));
    CHECK_STR(stop, "aborted");
    CHECK_REFUSED(&fw.world, wf_report(&fw, &task, CAIRN_COMPLETE, "1"), CAIRN_E_LEASE_LOST);
    wf_check_status(&fw, "aborted");
    wf_check_steps(&fw, "a:completed b:skipped c:skipped");
    wf_check_nothing_to_take(&fw);
    wf_close(&fw);
}

TEST(an_abort_ends_an_undo)
{
    struct flow_world fw;
    const char *stop = NULL;
    wf_begin(&fw, SAGA);
    wf_do(&fw, "a");
    wf_do(&fw, "b");
    CHECK_DONE(&fw.world, wf_cancel(&fw));
    struct task task = wf_take_undo(&fw, "a");
    CHECK_DONE(&fw.world, wf_abort(&fw));
    wf_check_status(&fw, "aborted");
    CHECK_STR(wf_step(&fw, "a")->status, "failed");
    CHECK_DONE(&fw.world, wf_beat(&fw, &task, 30000, &stop));
    CHECK_STR(stop, "aborted");
    CHECK_REFUSED(&fw.world, wf_report(&fw, &task, CAIRN_COMPLETE, NULL), CAIRN_E_LEASE_LOST);
    wf_advance(&fw, HOUR_MS);
    wf_check_nothing_to_take(&fw);
    wf_check_status(&fw, "aborted");
    wf_close(&fw);
}

TEST(what_has_ended_can_neither_be_cancelled_nor_aborted)
{
    struct flow_world fw;
    wf_begin(&fw, FLOW("{step: a}"));
    wf_do(&fw, "a");
    CHECK_REFUSED(&fw.world, wf_cancel(&fw), CAIRN_E_WRONG_STATE);
    CHECK_REFUSED(&fw.world, wf_abort(&fw), CAIRN_E_WRONG_STATE);
    wf_check_status(&fw, "completed");
    CHECK_DONE(&fw.world, wf_restart(&fw));
    CHECK_DONE(&fw.world, wf_cancel(&fw));
    CHECK_REFUSED(&fw.world, wf_cancel(&fw), CAIRN_E_WRONG_STATE);
    CHECK_REFUSED(&fw.world, wf_abort(&fw), CAIRN_E_WRONG_STATE);
    wf_check_status(&fw, "cancelled");
    wf_close(&fw);
}
