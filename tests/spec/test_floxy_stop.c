/* tests/spec/test_floxy_stop.c - cancel and abort: section 9 of floxy-engine.md, and "Stopping" of
 * the design.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "saga.h"

#define U(name) "{step: " name ", compensation: {handler: u" name "}}"

TEST(a_cancel_with_nothing_to_undo_and_no_lease_out_answers_cancelled)
{
    struct flow_world fw;
    wf_begin(&fw, FLOW("{step: a}, {step: b}"));
    CHECK_DONE(&fw.world, wf_cancel(&fw));
    wf_check_status(&fw, "cancelled");
    wf_check_steps(&fw, "a:skipped b:skipped");
    CHECK_STR(wf_step(&fw, "a")->error, "Stopped due to workflow cancellation");
    wf_check_nothing_to_take(&fw);
    wf_close(&fw);
}

TEST(a_cancel_stops_undoes_all_the_way_and_ends_cancelled)
{
    struct flow_world fw;
    wf_begin(&fw, FLOW(U("a") ", {save_point: s}, " U("b") ", " U("c")));
    sg_do(&fw, "a");
    sg_do(&fw, "b");
    CHECK_DONE(&fw.world, wf_cancel(&fw));
    wf_check_status(&fw, "compensating");
    wf_check_steps(&fw, "a:completed s:completed b:compensation c:skipped");
    sg_undo_all(&fw, "b a"); /* cancel ignores save points */
    wf_check_status(&fw, "cancelled");
    wf_check_steps(&fw, "a:rolled_back s:rolled_back b:rolled_back c:skipped");
    wf_close(&fw);
}

TEST(a_cancel_with_a_slow_undo_is_compensating_then_cancelled_never_failed)
{
    struct flow_world fw;
    wf_begin(&fw, FLOW(U("a") ", {step: b}"));
    sg_do(&fw, "a");
    CHECK_DONE(&fw.world, wf_cancel(&fw));
    struct task task = sg_take_undo(&fw, "a");
    for (int i = 0; i < 10; i++) {
        wf_advance(&fw, 20 * SECOND_MS);
        CHECK_DONE(&fw.world, wf_beat(&fw, &task, 30000, NULL));
        wf_check_status(&fw, "compensating");
    }
    CHECK_DONE(&fw.world, wf_report(&fw, &task, CAIRN_FAIL, "not yet"));
    wf_check_status(&fw, "compensating");
    wf_advance(&fw, SECOND_MS);
    sg_undo_all(&fw, "a");
    wf_check_status(&fw, "cancelled");
    CHECK_INT(wf_count_events(&fw, "workflow_failed"), 0);
    wf_close(&fw);
}

TEST(a_cancel_of_which_an_undo_fails_ends_failed)
{
    struct flow_world fw;
    wf_begin(&fw, FLOW(U("a") ", {step: b, compensation: {handler: ub, max_attempts: 1}}, "
                              "{step: c}"));
    sg_do(&fw, "a");
    sg_do(&fw, "b");
    CHECK_DONE(&fw.world, wf_cancel(&fw));
    struct task task = sg_take_undo(&fw, "b");
    CHECK_DONE(&fw.world, wf_report(&fw, &task, CAIRN_FAIL, "no"));
    sg_undo_all(&fw, "a");
    wf_check_status(&fw, "failed");
    wf_check_steps(&fw, "a:rolled_back b:failed c:skipped");
    wf_close(&fw);
}

TEST(a_running_step_is_skipped_told_and_awaited_before_the_undo)
{
    struct flow_world fw;
    wf_begin(&fw, FLOW(U("a") ", " U("b") ", {step: c}"));
    sg_do(&fw, "a");
    struct task b = sg_take(&fw, "b");
    CHECK_DONE(&fw.world, wf_cancel(&fw));
    wf_check_steps(&fw, "a:completed b:skipped c:skipped");
    wf_check_status(&fw, "compensating");
    wf_check_nothing_to_take(&fw);
    sg_check_stop(&fw, &b, "cancelled");
    sg_check_stop(&fw, &b, "cancelled"); /* as often as it asks */
    sg_check_late(&fw, &b);              /* which ends the lease, and changes nothing else */
    CHECK(!wf_step(&fw, "b")->output, "the late output was kept");
    struct task task = sg_take_undo(&fw, "b");
    sg_check_json(task.input, "{\"input\": {\"by\": \"a\"}, \"output\": null}");
    CHECK_DONE(&fw.world, wf_report(&fw, &task, CAIRN_COMPLETE, NULL));
    sg_undo_all(&fw, "a");
    wf_check_status(&fw, "cancelled");
    wf_check_steps(&fw, "a:rolled_back b:rolled_back c:skipped");
    wf_close(&fw);
}

TEST(a_step_that_was_called_but_has_no_compensation_stays_skipped)
{
    struct flow_world fw;
    wf_begin(&fw, FLOW(U("a") ", {step: b}"));
    sg_do(&fw, "a");
    struct task b = sg_take(&fw, "b");
    CHECK_DONE(&fw.world, wf_cancel(&fw));
    CHECK_INT(wf_report(&fw, &b, CAIRN_RELEASE, NULL), CAIRN_E_LEASE_LOST);
    sg_undo_all(&fw, "a");
    wf_check_steps(&fw, "a:rolled_back b:skipped");
    wf_close(&fw);
}

TEST(a_silent_worker_is_awaited_until_its_lease_ends_and_heartbeats_do_not_extend_it)
{
    struct flow_world fw;
    wf_begin(&fw, FLOW(U("a") ", {step: b}"));
    sg_do(&fw, "a");
    struct task b = sg_take(&fw, "b");
    CHECK_DONE(&fw.world, wf_cancel(&fw));
    wf_advance(&fw, 30 * SECOND_MS);
    sg_check_stop(&fw, &b, "cancelled");
    wf_check_nothing_to_take(&fw);
    wf_advance(&fw, 1);
    CHECK_INT(wf_beat(&fw, &b, 1000, NULL), CAIRN_E_LEASE_LOST);
    sg_undo_all(&fw, "a");
    wf_check_status(&fw, "cancelled");
    wf_close(&fw);
}

TEST(all_parallel_steps_are_cancelled_at_once_and_the_join_is_skipped)
{
    struct flow_world fw;
    wf_begin(&fw, FLOW(U("start") ", {fork: f, join: all, branches: [[" U("p1") "], [" U(
                      "p2") "]]}, "
                            "{step: final}"));
    sg_do(&fw, "start");
    struct task p1 = sg_take(&fw, "p1"), p2 = sg_take(&fw, "p2");
    CHECK_DONE(&fw.world, wf_cancel(&fw));
    wf_check_steps(&fw, "start:completed f:completed p1:skipped p2:skipped f_join:skipped "
                        "final:skipped");
    sg_check_stop(&fw, &p1, "cancelled");
    sg_check_stop(&fw, &p2, "cancelled");
    sg_check_late(&fw, &p2);
    wf_check_nothing_to_take(&fw);
    sg_check_late(&fw, &p1);
    sg_undo_all(&fw, "p1 p2 start"); /* p1 ended last */
    wf_check_status(&fw, "cancelled");
    wf_check_steps(&fw, "start:rolled_back f:rolled_back p1:rolled_back p2:rolled_back "
                        "f_join:skipped final:skipped");
    wf_close(&fw);
}

TEST(abort_stops_everything_and_undoes_nothing)
{
    struct flow_world fw;
    wf_begin(&fw,
             FLOW(U("a") ", {fork: f, join: all, branches: [[" U("b") "], [" U("c") "]]}"));
    sg_do(&fw, "a");
    struct task b = sg_take(&fw, "b");
    CHECK_DONE(&fw.world, wf_abort(&fw));
    wf_check_status(&fw, "aborted");
    wf_check_steps(&fw, "a:completed f:completed b:skipped c:skipped f_join:skipped");
    CHECK_STR(wf_step(&fw, "b")->error, "Stopped due to workflow abort");
    sg_check_stop(&fw, &b, "aborted");
    sg_check_late(&fw, &b);
    wf_check_nothing_to_take(&fw);
    wf_advance(&fw, HOUR_MS);
    wf_check_status(&fw, "aborted");
    wf_close(&fw);
}

TEST(abort_during_an_undo_makes_the_step_being_undone_failed)
{
    struct flow_world fw;
    wf_begin(&fw, FLOW(U("a") ", " U("b") ", {step: c}"));
    sg_do(&fw, "a");
    sg_do(&fw, "b");
    sg_fail(&fw, "c");
    struct task task = sg_take_undo(&fw, "b");
    CHECK_DONE(&fw.world, wf_abort(&fw));
    wf_check_status(&fw, "aborted");
    wf_check_steps(&fw, "a:completed b:failed c:rolled_back");
    sg_check_stop(&fw, &task, "aborted");
    sg_check_late(&fw, &task);
    wf_check_nothing_to_take(&fw);
    CHECK_INT(sg_count_records(&fw), 0);
    wf_close(&fw);
}

TEST(abort_between_two_tries_of_an_undo)
{
    struct flow_world fw;
    wf_begin(&fw, FLOW(U("a") ", {step: c}"));
    sg_do(&fw, "a");
    CHECK_DONE(&fw.world, wf_cancel(&fw));
    struct task task = sg_take_undo(&fw, "a");
    CHECK_DONE(&fw.world, wf_report(&fw, &task, CAIRN_FAIL, "not yet"));
    CHECK_DONE(&fw.world, wf_abort(&fw));
    wf_check_steps(&fw, "a:failed c:skipped");
    wf_advance(&fw, HOUR_MS);
    wf_check_nothing_to_take(&fw);
    wf_check_status(&fw, "aborted");
    wf_close(&fw);
}

TEST(abort_while_siblings_are_awaited)
{
    struct flow_world fw;
    wf_begin(&fw, FLOW("{fork: f, join: all, branches: [[" U("a") "], [" U("b") "]]}"));
    struct task b = sg_take(&fw, "b");
    sg_fail(&fw, "a");
    CHECK_DONE(&fw.world, wf_abort(&fw));
    wf_check_status(&fw, "aborted");
    sg_check_stop(&fw, &b, "aborted");
    sg_check_late(&fw, &b);
    wf_check_nothing_to_take(&fw);
    wf_check_status(&fw, "aborted");
    wf_close(&fw);
}

TEST(cancel_and_abort_act_at_once_on_a_parked_instance)
{
    struct flow_world fw;
    wf_begin(&fw, "{workflow: w, version: 1, dlq: true, steps: [{step: a}, {step: b}]}");
    sg_do(&fw, "a");
    sg_fail(&fw, "b");
    wf_check_status(&fw, "dlq");
    struct record record = sg_record(&fw, "b");
    CHECK_DONE(&fw.world, wf_cancel(&fw));
    wf_check_status(&fw, "cancelled");
    wf_check_steps(&fw, "a:rolled_back b:skipped");
    CHECK_INT(sg_count_records(&fw), 0);
    CHECK_INT(sg_record_of(&fw, record.id).is_open, 0);
    CHECK_INT(cairn_dlq_requeue(fw.world.engine, record.id, NULL, &fw.world.error),
              CAIRN_E_WRONG_STATE);
    wf_close(&fw);

    wf_begin(&fw, "{workflow: w, version: 1, dlq: true, steps: [{step: a}]}");
    sg_fail(&fw, "a");
    CHECK_DONE(&fw.world, wf_abort(&fw));
    wf_check_status(&fw, "aborted");
    wf_check_steps(&fw, "a:skipped");
    CHECK_INT(sg_count_records(&fw), 0);
    wf_close(&fw);
}

TEST(a_parked_step_is_undone_by_a_cancel_in_the_order_in_which_it_ended)
{
    struct flow_world fw;
    wf_begin(&fw,
             "{workflow: w, version: 1, dlq: true, steps: [{fork: f, join: all, branches: ["
             "[" U("a") "], [" U("b") "]]}]}");
    struct task b = sg_take(&fw, "b");
    sg_fail(&fw, "a");
    sg_complete(&fw, &b);
    wf_check_status(&fw, "dlq");
    CHECK_DONE(&fw.world, wf_cancel(&fw));
    sg_undo_all(&fw, "b a");
    wf_check_status(&fw, "cancelled");
    wf_close(&fw);
}

TEST(cancel_and_abort_act_at_once_on_one_that_waits_for_a_decision)
{
    struct flow_world fw;
    wf_begin(&fw, FLOW("{human: h}, {step: a}"));
    CHECK_DONE(&fw.world, wf_cancel(&fw));
    wf_check_status(&fw, "cancelled");
    wf_check_steps(&fw, "h:skipped a:skipped");
    CHECK_INT(sg_decide(&fw, "h", true), CAIRN_E_WRONG_STATE);
    wf_close(&fw);

    wf_begin(&fw, FLOW("{human: h}, {step: a}"));
    CHECK_DONE(&fw.world, wf_abort(&fw));
    wf_check_status(&fw, "aborted");
    wf_close(&fw);
}

TEST(a_confirmed_step_is_rolled_back_by_a_cancel)
{
    struct flow_world fw;
    wf_begin(&fw, FLOW("{human: h}, {step: a}"));
    CHECK_DONE(&fw.world, sg_decide(&fw, "h", true));
    CHECK_DONE(&fw.world, wf_cancel(&fw));
    wf_check_steps(&fw, "h:rolled_back a:skipped");
    wf_check_status(&fw, "cancelled");
    wf_close(&fw);
}

TEST(both_are_allowed_from_every_state_that_has_not_ended)
{
    struct flow_world fw;
    cairn_start_options later = CAIRN_START_DEFAULTS;
    for (int is_abort = 0; is_abort < 2; is_abort++) {
        const char *end = is_abort ? "aborted" : "cancelled";
        cairn_code (*stop)(struct flow_world *) = is_abort ? wf_abort : wf_cancel;
        wf_begin(&fw, FLOW("{wait: w, event: go}, {step: a}"));
        wf_check_status(&fw, "waiting_signal");
        CHECK_DONE(&fw.world, stop(&fw));
        wf_check_status(&fw, end);

        later.workflow = "w";
        later.start_at_us = START_US + HOUR_MS * 1000;
        CHECK_DONE(&fw.world, wf_start(&fw, &later, NULL));
        wf_check_status(&fw, "pending");
        CHECK_DONE(&fw.world, stop(&fw));
        wf_check_status(&fw, end);
        wf_check_steps(&fw, "w:skipped a:skipped");

        later.start_at_us = 0;
        CHECK_DONE(&fw.world, wf_start(&fw, &later, NULL));
        CHECK_DONE(&fw.world, wf_pause(&fw));
        CHECK_DONE(&fw.world, stop(&fw));
        wf_check_status(&fw, end);
        CHECK_INT(wf_cancel(&fw), CAIRN_E_WRONG_STATE);
        CHECK_INT(wf_abort(&fw), CAIRN_E_WRONG_STATE);
        wf_advance(&fw, 2 * HOUR_MS);
        wf_check_status(&fw, end);
        wf_close(&fw);
    }
}

TEST(on_an_instance_that_has_ended_they_are_an_error)
{
    struct flow_world fw;
    wf_begin(&fw, FLOW("{step: a}"));
    sg_do(&fw, "a");
    CHECK_INT(wf_cancel(&fw), CAIRN_E_WRONG_STATE);
    CHECK_INT(wf_abort(&fw), CAIRN_E_WRONG_STATE);
    wf_check_status(&fw, "completed");
    CHECK_INT(cairn_instance_cancel(fw.world.engine, "nobody", "ann", "why", &fw.world.error),
              CAIRN_E_NOT_FOUND);
    wf_close(&fw);
}

TEST(a_cancel_undoes_what_completed_while_paused)
{
    struct flow_world fw;
    wf_begin(&fw, FLOW(U("a") ", {step: b}"));
    struct task a = sg_take(&fw, "a");
    CHECK_DONE(&fw.world, wf_pause(&fw));
    sg_complete(&fw, &a);
    CHECK_DONE(&fw.world, wf_cancel(&fw));
    sg_undo_all(&fw, "a");
    wf_check_status(&fw, "cancelled");
    wf_close(&fw);
}

TEST(a_cancel_of_one_that_pause_workflow_paused_undoes_the_failed_step_too)
{
    struct flow_world fw;
    wf_begin(&fw, FLOW(U("a") ", {step: b, on_failure: pause_workflow, "
                              "compensation: {handler: ub}}"));
    sg_do(&fw, "a");
    sg_fail(&fw, "b");
    wf_check_status(&fw, "paused");
    CHECK_DONE(&fw.world, wf_cancel(&fw));
    sg_undo_all(&fw, "b a");
    wf_check_status(&fw, "cancelled");
    wf_close(&fw);
}

TEST(a_step_that_was_ready_but_never_called_is_not_undone)
{
    struct flow_world fw;
    wf_begin(&fw, FLOW(U("a")));
    CHECK_DONE(&fw.world, wf_cancel(&fw));
    wf_check_status(&fw, "cancelled");
    wf_check_steps(&fw, "a:skipped");
    wf_close(&fw);
}

TEST(a_handler_that_waits_counts_as_having_run)
{
    struct flow_world fw;
    wf_begin(&fw, FLOW(U("a")));
    struct task a = sg_take(&fw, "a");
    CHECK_DONE(&fw.world, wf_wait(&fw, &a, "go", -1));
    CHECK_DONE(&fw.world, wf_cancel(&fw));
    wf_check_steps(&fw, "a:compensation");
    sg_undo_all(&fw, "a");
    wf_check_status(&fw, "cancelled");
    wf_close(&fw);
}
