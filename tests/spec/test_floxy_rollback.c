/* tests/spec/test_floxy_rollback.c - compensation, the order of the undo, save points: section 5 of
 * floxy-engine.md, and "Rollback order", "Nearest save point" and "Compensation" of the design.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "saga.h"

#define U(name) "{step: " name ", compensation: {handler: u" name "}}"

TEST(a_failure_undoes_what_ran_in_reverse_and_then_fails)
{
    struct flow_world fw;
    wf_begin(&fw, FLOW(U("a") ", " U("b") ", " U("c") ", {step: d}"));
    sg_do(&fw, "a");
    sg_do(&fw, "b");
    sg_fail(&fw, "c");
    wf_check_status(&fw, "compensating");
    wf_check_steps(&fw, "a:completed b:completed c:compensation d:skipped");
    wf_check_current(&fw, "c");
    sg_undo_all(&fw, "c b a");
    wf_check_status(&fw, "failed");
    wf_check_steps(&fw, "a:rolled_back b:rolled_back c:rolled_back d:skipped");
    wf_check_last_error(&fw, "c", "no good", 1);
    CHECK_STR(wf_step(&fw, "c")->error, "no good");
    wf_close(&fw);
}

TEST(a_step_without_compensation_is_rolled_back_without_a_task_and_keeps_its_error)
{
    struct flow_world fw;
    wf_begin(&fw, FLOW(U("a") ", {step: b}, {step: c}"));
    sg_do(&fw, "a");
    sg_do(&fw, "b");
    sg_fail(&fw, "c");
    wf_check_steps(&fw, "a:compensation b:rolled_back c:rolled_back");
    CHECK_STR(wf_step(&fw, "c")->error, "no good");
    CHECK(!wf_step(&fw, "b")->error, "b has an error");
    sg_undo_all(&fw, "a");
    wf_check_status(&fw, "failed");
    wf_check_steps(&fw, "a:rolled_back b:rolled_back c:rolled_back");
    wf_close(&fw);
}

TEST(a_compensation_gets_the_input_and_the_output_of_its_step)
{
    struct flow_world fw;
    wf_begin(&fw, FLOW(U("a") ", " U("b")));
    sg_do(&fw, "a");
    sg_fail(&fw, "b");
    struct task task = sg_take_undo(&fw, "b");
    CHECK_STR(task.type, "ub");
    sg_check_json(task.input, "{\"input\": {\"by\": \"a\"}, \"output\": null}");
    CHECK_DONE(&fw.world, wf_report(&fw, &task, CAIRN_COMPLETE, NULL));
    task = sg_take_undo(&fw, "a");
    CHECK_STR(task.type, "ua");
    CHECK_INT(task.attempt, 1);
    CHECK_INT(task.max_attempts, 3);
    sg_check_json(task.input, "{\"input\": {\"n\": 1}, \"output\": {\"by\": \"a\"}}");
    wf_close(&fw);
}

TEST(the_output_of_a_step_that_was_passed_over_is_null_for_its_compensation)
{
    struct flow_world fw;
    wf_begin(&fw,
             FLOW("{step: a, on_failure: continue, compensation: {handler: ua}}, {step: b}"));
    sg_fail(&fw, "a");
    wf_check_steps(&fw, "a:skipped b:ready");
    sg_fail(&fw, "b");
    struct task task = sg_take_undo(&fw, "a");
    sg_check_json(task.input, "{\"input\": {\"n\": 1}, \"output\": null}");
    wf_close(&fw);
}

TEST(max_attempts_counts_all_calls_of_a_compensation_and_the_rest_is_still_undone)
{
    struct flow_world fw;
    wf_begin(&fw, FLOW(U("a") ", {step: b, compensation: {handler: ub, max_attempts: 2, "
                              "retry: {backoff: fixed, base: 10s}}}, {step: c}"));
    sg_do(&fw, "a");
    sg_do(&fw, "b");
    sg_fail(&fw, "c");
    struct task task = sg_take_undo(&fw, "b");
    CHECK_DONE(&fw.world, wf_report(&fw, &task, CAIRN_FAIL, "no refund"));
    wf_check_steps(&fw, "a:completed b:compensation c:rolled_back");
    CHECK_INT(wf_step(&fw, "b")->compensation_attempts, 1);
    wf_check_nothing_to_take(&fw); /* a delay keeps the order: a waits for b */
    wf_advance(&fw, 9999);
    wf_check_nothing_to_take(&fw);
    wf_advance(&fw, 1);
    task = sg_take_undo(&fw, "b");
    CHECK_INT(task.attempt, 2);
    CHECK_DONE(&fw.world, wf_report(&fw, &task, CAIRN_FAIL, "no refund at all"));

    wf_check_steps(&fw, "a:compensation b:failed c:rolled_back");
    wf_check_status(&fw, "compensating");
    struct record record = sg_record(&fw, "b");
    CHECK_STR(record.reason, "compensation max retries exceeded");
    CHECK_STR(record.error, "no refund at all");
    sg_undo_all(&fw, "a");
    wf_check_status(&fw, "failed");
    wf_check_steps(&fw, "a:rolled_back b:failed c:rolled_back");
    wf_close(&fw);
}

TEST(a_failed_step_whose_own_undo_failed_is_not_undone_twice)
{
    struct flow_world fw;
    wf_begin(&fw, FLOW(U("a") ", {step: b, compensation: {handler: ub, max_attempts: 1}}"));
    sg_do(&fw, "a");
    sg_fail(&fw, "b");
    struct task task = sg_take_undo(&fw, "b");
    CHECK_DONE(&fw.world, wf_report(&fw, &task, CAIRN_FAIL, "no refund"));
    sg_undo_all(&fw, "a");
    wf_check_status(&fw, "failed");
    wf_check_steps(&fw, "a:rolled_back b:failed");
    CHECK_INT(sg_count_records(&fw), 1);
    wf_close(&fw);
}

TEST(a_compensation_with_no_attempts_is_never_called_and_goes_straight_to_the_dlq)
{
    struct flow_world fw;
    wf_begin(&fw, FLOW("{step: charge, compensation: {handler: refund, max_attempts: 0}}, "
                       "{step: ship}"));
    sg_do(&fw, "charge");
    sg_fail(&fw, "ship");
    wf_check_nothing_to_take(&fw);
    wf_check_status(&fw, "failed");
    wf_check_steps(&fw, "charge:failed ship:rolled_back");
    struct record record = sg_record(&fw, "charge");
    CHECK_STR(record.reason, "compensation max retries exceeded");
    sg_check_json(record.input, "{\"n\": 1}");
    wf_close(&fw);
}

TEST(dead_and_a_lost_lease_of_a_non_idempotent_compensation_exhaust_it)
{
    struct flow_world fw;
    wf_begin(&fw, FLOW("{step: a, compensation: {handler: ua, idempotent: false}}, " U(
                      "b") ", "
                           "{step: c}"));
    sg_do(&fw, "a");
    sg_do(&fw, "b");
    sg_fail(&fw, "c");
    struct task task = sg_take_undo(&fw, "b");
    CHECK_DONE(&fw.world, wf_report(&fw, &task, CAIRN_DEAD, "never"));
    wf_check_steps(&fw, "a:compensation b:failed c:rolled_back");
    task = sg_take_undo(&fw, "a");
    wf_advance(&fw, 30 * SECOND_MS + 1);
    wf_check_nothing_to_take(&fw);
    wf_check_steps(&fw, "a:failed b:failed c:rolled_back");
    wf_check_status(&fw, "failed");
    CHECK_INT(sg_count_records(&fw), 2);
    sg_check_late(&fw, &task);
    wf_close(&fw);
}

TEST(a_lost_lease_costs_a_compensation_an_attempt_and_it_is_ready_at_once)
{
    struct flow_world fw;
    wf_begin(&fw, FLOW(U("a") ", {step: b}"));
    sg_do(&fw, "a");
    sg_fail(&fw, "b");
    struct task lost = sg_take_undo(&fw, "a");
    wf_advance(&fw, 30 * SECOND_MS + 1);
    struct task task = sg_take_undo(&fw, "a");
    CHECK_INT(task.attempt, 2);
    sg_check_late(&fw, &lost);
    CHECK_DONE(&fw.world, wf_report(&fw, &task, CAIRN_COMPLETE, NULL));
    wf_check_status(&fw, "failed");
    wf_close(&fw);
}

TEST(idempotent_is_not_inherited_by_the_compensation)
{
    struct flow_world fw;
    wf_begin(&fw, FLOW("{step: a, idempotent: false, compensation: {handler: ua}}"));
    sg_fail(&fw, "a");
    struct task task = sg_take_undo(&fw, "a");
    CHECK_INT(task.max_attempts, 3);
    CHECK_DONE(&fw.world, wf_report(&fw, &task, CAIRN_FAIL, "once more"));
    wf_check_steps(&fw, "a:compensation");
    wf_close(&fw);
}

TEST(a_call_of_a_compensation_ends_at_its_own_timeout)
{
    struct flow_world fw;
    wf_begin(&fw, FLOW("{step: a, timeout: 20s, compensation: {handler: ua, timeout: 5s, "
                       "max_attempts: 1}}, {step: b}"));
    sg_do(&fw, "a");
    sg_fail(&fw, "b");
    struct task task = sg_take_undo(&fw, "a");
    CHECK_INT(task.lease_until_us, START_US + 5 * SECOND_US);
    CHECK_DONE(&fw.world, wf_beat(&fw, &task, MINUTE_MS, NULL));
    wf_advance(&fw, 5001);
    wf_check_steps(&fw, "a:failed b:rolled_back");
    CHECK_STR(wf_step(&fw, "a")->undo_error, "TIMEOUT");
    wf_check_status(&fw, "failed");
    wf_close(&fw);
}

TEST(a_compensation_cannot_wait_but_may_be_released)
{
    struct flow_world fw;
    wf_begin(&fw, FLOW(U("a") ", {step: b}"));
    sg_do(&fw, "a");
    sg_fail(&fw, "b");
    struct task task = sg_take_undo(&fw, "a");
    CHECK_INT(wf_wait(&fw, &task, "go", -1), CAIRN_E_BAD_INPUT);
    CHECK_DONE(&fw.world, wf_report(&fw, &task, CAIRN_RELEASE, NULL));
    task = sg_take_undo(&fw, "a");
    CHECK_INT(task.attempt, 1);
    CHECK_DONE(&fw.world, wf_retry(&fw, &task, 5000));
    wf_advance(&fw, 4999);
    wf_check_nothing_to_take(&fw);
    wf_advance(&fw, 1);
    CHECK_INT(sg_take_undo(&fw, "a").attempt, 2);
    wf_close(&fw);
}

TEST(the_undo_stops_at_the_nearest_save_point)
{
    struct flow_world fw;
    wf_begin(&fw, FLOW(U("a") ", {save_point: s}, " U("b") ", " U("c")));
    sg_do(&fw, "a");
    sg_do(&fw, "b");
    sg_fail(&fw, "c");
    sg_undo_all(&fw, "c b");
    wf_check_status(&fw, "failed");
    wf_check_steps(&fw, "a:completed s:completed b:rolled_back c:rolled_back");
    wf_close(&fw);
}

TEST(the_last_save_point_before_the_failed_step_counts_and_a_later_one_does_not)
{
    struct flow_world fw;
    wf_begin(&fw, FLOW(U("a") ", {save_point: s1}, " U("b") ", {save_point: s2}, " U(
                      "c") ", "
                           "{save_point: s3}, " U("d")));
    sg_do(&fw, "a");
    sg_do(&fw, "b");
    sg_fail(&fw, "c");
    sg_undo_all(&fw, "c");
    wf_check_steps(&fw, "a:completed s1:completed b:completed s2:completed c:rolled_back "
                        "s3:skipped d:skipped");
    wf_check_status(&fw, "failed");
    wf_close(&fw);
}

TEST(a_save_point_in_a_taken_condition_counts_as_inline)
{
    struct flow_world fw;
    wf_begin(&fw, FLOW(U("a") ", {condition: c, when: '{{ eq .by \"a\" }}', "
                              "then: [{save_point: s}], else: [{save_point: t}]}, " U("b")));
    sg_do(&fw, "a");
    sg_fail(&fw, "b");
    sg_undo_all(&fw, "b");
    wf_check_status(&fw, "failed");
    wf_check_steps(&fw, "a:completed c:completed s:completed t:skipped b:rolled_back");
    wf_close(&fw);
}

TEST(a_save_point_in_a_list_that_was_not_taken_is_none)
{
    struct flow_world fw;
    wf_begin(&fw, FLOW(U("a") ", {condition: c, when: '{{ eq .by \"z\" }}', "
                              "then: [{save_point: s}]}, " U("b")));
    sg_do(&fw, "a");
    sg_fail(&fw, "b");
    sg_undo_all(&fw, "b a");
    wf_check_steps(&fw, "a:rolled_back c:rolled_back s:skipped b:rolled_back");
    wf_close(&fw);
}

TEST(a_failure_inside_a_condition_finds_the_save_point_before_it)
{
    struct flow_world fw;
    wf_begin(&fw, FLOW(U("a") ", {save_point: s}, " U(
                      "b") ", {condition: c, "
                           "when: '{{ eq .by \"b\" }}', then: [" U("d") "], "
                                                                        "else: [" U("e") "]}"));
    sg_do(&fw, "a");
    sg_do(&fw, "b");
    sg_fail(&fw, "d");
    sg_undo_all(&fw, "d b");
    wf_check_steps(&fw, "a:completed s:completed b:rolled_back c:rolled_back d:rolled_back "
                        "e:skipped");
    wf_close(&fw);
}

TEST(a_save_point_in_a_branch_of_a_joined_fork_is_none_for_what_comes_after)
{
    struct flow_world fw;
    wf_begin(&fw, FLOW(U("a") ", {fork: f, join: all, branches: [[" U(
                      "b") ", {save_point: s}], [" U("c") "]]}, " U("d")));
    sg_do(&fw, "a");
    sg_do(&fw, "b");
    sg_do(&fw, "c");
    sg_fail(&fw, "d");
    sg_undo_all(&fw, "d c b a");
    wf_check_steps(&fw, "a:rolled_back f:rolled_back b:rolled_back s:rolled_back c:rolled_back "
                        "f_join:rolled_back d:rolled_back");
    wf_close(&fw);
}

TEST(after_a_save_point_in_its_own_branch_a_sibling_keeps_what_it_has_completed)
{
    struct flow_world fw;
    wf_begin(&fw, FLOW(U("a") ", {fork: f, join: all, branches: ["
                              "[" U("b") ", {save_point: s}, " U("b2") ", " U(
                                  "b3") "], "
                                        "[" U("c") ", " U("c2") ", " U("c3") "]]}"));
    sg_do(&fw, "a");
    sg_do(&fw, "b");
    sg_do(&fw, "c");
    sg_do(&fw, "b2");
    struct task running = sg_take(&fw, "c2");
    sg_fail(&fw, "b3");
    wf_check_status(&fw, "compensating");
    wf_check_nothing_to_take(&fw); /* c2 is awaited */
    sg_complete(&fw, &running);
    sg_undo_all(&fw, "b3 b2");
    wf_check_status(&fw, "failed");
    wf_check_steps(&fw, "a:completed f:completed b:completed s:completed b2:rolled_back "
                        "b3:rolled_back c:completed c2:completed c3:skipped f_join:skipped");
    wf_close(&fw);
}

TEST(a_failure_in_a_branch_without_save_point_goes_back_to_the_one_before_the_fork)
{
    struct flow_world fw;
    wf_begin(&fw, FLOW(U("a") ", {save_point: s}, {fork: f, join: all, branches: ["
                              "[" U("b") "], [" U("c") ", {save_point: t}]]}"));
    sg_do(&fw, "a");
    sg_do(&fw, "c");
    sg_fail(&fw, "b");
    sg_undo_all(&fw, "b c");
    wf_check_steps(&fw, "a:completed s:completed f:rolled_back b:rolled_back c:rolled_back "
                        "t:rolled_back f_join:skipped");
    wf_close(&fw);
}

TEST(branches_are_undone_by_commit_number_not_by_place)
{
    struct flow_world fw;
    wf_begin(&fw, FLOW("{fork: f, join: all, branches: [[" U("a") ", " U(
                      "a2") "], "
                            "[" U("b") ", " U("b2") "]]}, " U("fin")));
    sg_do(&fw, "b");
    sg_do(&fw, "a");
    sg_do(&fw, "a2");
    sg_do(&fw, "b2");
    sg_fail(&fw, "fin");
    sg_undo_all(&fw, "fin b2 a2 a b");
    wf_check_status(&fw, "failed");
    wf_close(&fw);
}

TEST(the_failed_step_is_undone_first_though_a_sibling_ended_later)
{
    struct flow_world fw;
    wf_begin(&fw, FLOW("{fork: f, join: all, branches: [[" U("a") "], [" U("b") "]]}"));
    struct task b = sg_take(&fw, "b");
    sg_fail(&fw, "a");
    sg_check_stop(&fw, &b, "rollback");
    sg_complete(&fw, &b); /* its commit number is the higher one */
    sg_undo_all(&fw, "a b");
    wf_check_steps(&fw, "f:rolled_back a:rolled_back b:rolled_back f_join:skipped");
    wf_close(&fw);
}

TEST(an_awaited_sibling_that_does_not_complete_is_skipped_and_never_retried)
{
    struct flow_world fw;
    wf_begin(&fw, FLOW("{fork: f, join: all, branches: [[" U("a") "], [" U("b") "], [" U(
                      "c") "], "
                           "[{step: d}], [" U("e") "], [" U("g") "]]}"));
    struct task b = sg_take(&fw, "b"), c = sg_take(&fw, "c"), d = sg_take(&fw, "d");
    sg_take(&fw, "e");
    struct task failed = sg_take(&fw, "a");
    wf_advance(&fw, SECOND_MS);
    struct task g = sg_take(&fw, "g");
    CHECK_DONE(&fw.world, wf_report(&fw, &failed, CAIRN_DEAD, "no good"));
    wf_check_steps(&fw,
                   "f:completed a:failed b:running c:running d:running e:running g:running "
                   "f_join:skipped");
    CHECK_DONE(&fw.world, wf_report(&fw, &b, CAIRN_FAIL, "b, too"));
    CHECK_DONE(&fw.world, wf_wait(&fw, &c, "go", -1));
    CHECK_DONE(&fw.world, wf_retry(&fw, &d, 0));
    wf_check_nothing_to_take(&fw);
    wf_advance(&fw, 29 * SECOND_MS + 1); /* e's lease ends, and g's is left */
    wf_check_steps(&fw,
                   "f:completed a:failed b:skipped c:skipped d:skipped e:skipped g:running "
                   "f_join:skipped");
    CHECK_STR(wf_step(&fw, "b")->error, "b, too");
    CHECK_INT(wf_step(&fw, "b")->attempts, 1);
    CHECK_INT(wf_step(&fw, "c")->attempts, 0);
    CHECK_INT(wf_step(&fw, "e")->attempts, 1);
    CHECK_STR(wf_step(&fw, "e")->error, "LEASE_EXPIRED");
    wf_check_nothing_to_take(&fw);
    wf_check_last_error(&fw, "a", "no good", 1);
    sg_complete(&fw, &g);
    sg_undo_all(&fw, "a g e c b"); /* called, so that they count as having run */
    wf_check_steps(&fw, "f:rolled_back a:rolled_back b:rolled_back c:rolled_back d:skipped "
                        "e:rolled_back g:rolled_back f_join:skipped");
    wf_check_status(&fw, "failed");
    wf_close(&fw);
}

TEST(a_step_that_waits_for_its_retry_counts_as_having_run)
{
    struct flow_world fw;
    wf_begin(&fw, FLOW("{fork: f, join: all, branches: [[" U("a") "], [" U("b") "], [" U(
                      "c") "]]}"));
    struct task b = sg_take(&fw, "b");
    CHECK_DONE(&fw.world, wf_retry(&fw, &b, 60000));
    sg_fail(&fw, "a");
    wf_check_steps(&fw, "f:completed a:compensation b:skipped c:skipped f_join:skipped");
    struct task task = sg_take_undo(&fw, "a");
    CHECK_DONE(&fw.world, wf_report(&fw, &task, CAIRN_COMPLETE, NULL));
    task = sg_take_undo(&fw, "b");
    sg_check_json(task.input, "{\"input\": {\"n\": 1}, \"output\": null}");
    CHECK_DONE(&fw.world, wf_report(&fw, &task, CAIRN_COMPLETE, NULL));
    wf_check_nothing_to_take(&fw); /* c was never called */
    wf_check_status(&fw, "failed");
    wf_close(&fw);
}

/* fork(A -> A2 | B -> B2) -> join -> fin, where A2 fails for good while B is running. */
TEST(a_failure_in_one_branch_stops_the_other_before_the_first_undo)
{
    struct flow_world fw;
    wf_begin(&fw, FLOW("{fork: f, join: all, branches: [[" U("A") ", " U(
                      "A2") "], "
                            "[" U("B") ", " U("B2") "]]}, " U("fin")));
    sg_do(&fw, "A");
    struct task b = sg_take(&fw, "B");
    sg_fail(&fw, "A2");
    wf_check_status(&fw, "compensating");
    wf_check_steps(&fw, "f:completed A:completed A2:failed B:running B2:skipped f_join:skipped "
                        "fin:skipped");
    sg_check_stop(&fw, &b, "rollback");
    wf_check_nothing_to_take(&fw);
    sg_complete(&fw, &b);
    sg_undo_all(&fw, "A2 B A");
    wf_check_status(&fw, "failed");
    wf_check_steps(&fw, "f:rolled_back A:rolled_back A2:rolled_back B:rolled_back B2:skipped "
                        "f_join:skipped fin:skipped");
    wf_advance(&fw, HOUR_MS);
    wf_check_nothing_to_take(&fw);
    CHECK_INT(wf_count_events(&fw, "workflow_failed"), 1);
    wf_close(&fw);
}

TEST(the_undo_waits_for_the_end_of_a_silent_siblings_lease)
{
    struct flow_world fw;
    wf_begin(&fw, FLOW("{fork: f, join: all, branches: [[" U("a") "], [" U("b") "]]}"));
    struct task b = sg_take(&fw, "b");
    sg_fail(&fw, "a");
    wf_advance(&fw, 30 * SECOND_MS);
    wf_check_nothing_to_take(&fw);
    wf_advance(&fw, 1);
    sg_check_late(&fw, &b);
    sg_undo_all(&fw, "a b");
    wf_close(&fw);
}

TEST(fail_workflow_waits_for_siblings_keeps_their_results_and_skips_the_rest)
{
    struct flow_world fw;
    wf_begin(&fw, FLOW("{fork: f, join: all, branches: ["
                       "[{step: a, on_failure: fail_workflow, compensation: {handler: ua}}], "
                       "[{step: b}, {step: b2}], [{step: c}], [{step: d}]]}, {step: fin}"));
    struct task b = sg_take(&fw, "b"), c = sg_take(&fw, "c");
    sg_fail(&fw, "a");
    wf_check_status(&fw, "running");
    wf_check_nothing_to_take(&fw);
    CHECK_DONE(&fw.world, wf_beat(&fw, &b, 60000, NULL)); /* may finish */
    sg_complete(&fw, &b);
    wf_check_status(&fw, "running");
    CHECK_INT(wf_pause(&fw), CAIRN_E_WRONG_STATE);
    CHECK_DONE(&fw.world, wf_report(&fw, &c, CAIRN_FAIL, "c, too"));
    wf_check_status(&fw, "failed");
    wf_check_steps(&fw, "f:completed a:failed b:completed b2:skipped c:skipped d:skipped "
                        "f_join:skipped fin:skipped");
    sg_check_json(wf_step(&fw, "b")->output, "{\"by\": \"b\"}");
    wf_check_nothing_to_take(&fw);
    wf_close(&fw);
}

TEST(a_cancel_wins_while_fail_workflow_waits)
{
    struct flow_world fw;
    wf_begin(&fw, FLOW(U("z") ", {fork: f, join: all, branches: ["
                              "[{step: a, on_failure: fail_workflow}], [" U("b") "]]}"));
    sg_do(&fw, "z");
    struct task b = sg_take(&fw, "b");
    sg_fail(&fw, "a");
    CHECK_DONE(&fw.world, wf_cancel(&fw));
    wf_check_status(&fw, "compensating");
    sg_check_stop(&fw, &b, "cancelled");
    sg_check_late(&fw, &b);
    sg_undo_all(&fw, "b z");
    wf_check_status(&fw, "cancelled");
    wf_close(&fw);
}

TEST(the_first_failures_policy_decides)
{
    struct flow_world fw;
    wf_begin(&fw, FLOW(U("z") ", {fork: f, join: all, branches: ["
                              "[{step: a, on_failure: fail_workflow}], "
                              "[{step: b, on_failure: compensate}]]}"));
    sg_do(&fw, "z");
    struct task b = sg_take(&fw, "b");
    sg_fail(&fw, "a");
    CHECK_DONE(&fw.world, wf_report(&fw, &b, CAIRN_DEAD, "second"));
    wf_check_status(&fw, "failed");
    wf_check_steps(&fw, "z:completed f:completed a:failed b:skipped f_join:skipped");
    wf_close(&fw);
}

TEST(smart_rollback_leaves_the_branch_that_was_not_taken_alone)
{
    struct flow_world fw;
    wf_begin(&fw, FLOW("{fork: f, join: all, branches: [[{condition: check, "
                       "when: '{{ gt .n 5 }}', then: [" U("next") "], else: [" U(
                           "other") "]}], "
                                    "[" U("action") "]]}, " U("fin")));
    sg_do(&fw, "other");
    sg_do(&fw, "action");
    sg_fail(&fw, "fin");
    sg_undo_all(&fw, "fin action other");
    wf_check_steps(&fw, "f:rolled_back check:rolled_back next:skipped other:rolled_back "
                        "action:rolled_back f_join:rolled_back fin:rolled_back");
    wf_close(&fw);
}

TEST(nested_forks_three_deep_with_conditions_and_a_save_point)
{
    struct flow_world fw;
    wf_begin(&fw, FLOW(U("a") ", {fork: f1, join: all, branches: [[" U(
                      "b") ", {fork: f2, join: all, branches: [["
                           "{condition: c, when: '{{ eq .by \"b\" }}', then: [{save_point: s}, "
                           "{fork: f3, join: all, branches: [[" U("d") ", " U("d2") "], [" U(
                               "e") "]]}], "
                                    "else: [" U("x") "]}], [" U("g") "]]}], [" U("h") "]]}, " U(
                                        "fin")));
    sg_do(&fw, "a");
    sg_do(&fw, "h");
    sg_do(&fw, "b");
    sg_do(&fw, "e");
    sg_do(&fw, "g");
    sg_do(&fw, "d");
    sg_fail(&fw, "d2");
    sg_undo_all(&fw, "d2 d e"); /* back to s; g, h, b and a stay */
    wf_check_status(&fw, "failed");
    wf_check_steps(&fw, "a:completed f1:completed b:completed f2:completed c:completed "
                        "s:completed f3:rolled_back d:rolled_back d2:rolled_back e:rolled_back "
                        "f3_join:skipped x:skipped g:completed f2_join:skipped h:completed "
                        "f1_join:skipped fin:skipped");
    wf_close(&fw);
}

TEST(nested_forks_three_deep_complete)
{
    struct flow_world fw;
    wf_begin(
        &fw,
        FLOW("{fork: f1, join: all, branches: [[{step: b}, {fork: f2, join: any, branches: ["
             "[{condition: c, when: '{{ eq .by \"b\" }}', then: [{fork: f3, join: all, "
             "branches: "
             "[[{step: d}], [{step: e}]]}]}], [{step: g}]]}], [{step: h}]]}, {step: fin}"));
    sg_do(&fw, "b");
    sg_do(&fw, "h");
    sg_do(&fw, "d");
    sg_do(&fw, "e");
    wf_check_steps(&fw, "f1:completed b:completed f2:completed c:completed f3:completed "
                        "d:completed e:completed f3_join:completed g:skipped f2_join:completed "
                        "h:completed f1_join:completed fin:ready");
    sg_do(&fw, "fin");
    wf_check_status(&fw, "completed");
    wf_close(&fw);
}

TEST(nothing_runs_after_the_instance_has_failed)
{
    struct flow_world fw;
    wf_begin(&fw, FLOW(U("a") ", {step: b}"));
    sg_do(&fw, "a");
    sg_fail(&fw, "b");
    sg_undo_all(&fw, "a");
    wf_check_status(&fw, "failed");
    wf_advance(&fw, 24 * HOUR_MS);
    wf_check_nothing_to_take(&fw);
    CHECK_INT(wf_cancel(&fw), CAIRN_E_WRONG_STATE);
    CHECK_INT(wf_abort(&fw), CAIRN_E_WRONG_STATE);
    wf_close(&fw);
}

TEST(while_compensating_only_abort_is_allowed)
{
    struct flow_world fw;
    wf_begin(&fw, FLOW(U("a") ", {step: b}"));
    sg_do(&fw, "a");
    sg_fail(&fw, "b");
    CHECK_INT(wf_cancel(&fw), CAIRN_E_WRONG_STATE);
    CHECK_INT(wf_pause(&fw), CAIRN_E_WRONG_STATE);
    CHECK_INT(wf_resume(&fw), CAIRN_E_WRONG_STATE);
    CHECK_INT(wf_restart(&fw), CAIRN_E_WRONG_STATE);
    CHECK_INT(wf_again(&fw), CAIRN_E_WRONG_STATE);
    CHECK_DONE(&fw.world, wf_abort(&fw));
    wf_check_status(&fw, "aborted");
    wf_close(&fw);
}
