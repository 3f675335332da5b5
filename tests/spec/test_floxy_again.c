/* tests/spec/test_floxy_again.c - restart, retry and resume of sagas, and what a pause holds:
 * "Restart, retry, resume" and "Paused" of the design, and section 12 of floxy-engine.md.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "saga.h"

#define U(name) "{step: " name ", compensation: {handler: u" name "}}"

/* ---- retry ---------------------------------------------------------------------------------- */

TEST(retry_sets_failed_rolled_back_and_stop_skipped_steps_to_pending)
{
    struct flow_world fw;
    wf_begin(&fw, FLOW(U("a") ", {save_point: s}, " U("b") ", " U("c") ", {step: d}"));
    sg_do(&fw, "a");
    sg_do(&fw, "b");
    sg_fail(&fw, "c");
    sg_undo_all(&fw, "c b");
    CHECK_DONE(&fw.world, wf_again(&fw));
    wf_check_status(&fw, "running");
    wf_check_steps(&fw, "a:completed s:completed b:ready c:pending d:pending");
    CHECK_INT(wf_step(&fw, "c")->attempts, 0);
    CHECK_INT(wf_step(&fw, "c")->compensation_attempts, 0);
    CHECK_INT(wf_instance(&fw)->generation, 2);
    struct task b = sg_take(&fw, "b");
    sg_check_json(b.input, "{\"by\": \"a\"}");
    sg_complete(&fw, &b);
    sg_do(&fw, "c");
    sg_do(&fw, "d");
    wf_check_status(&fw, "completed");
    wf_close(&fw);
}

TEST(retry_is_for_failed_instances_only)
{
    struct flow_world fw;
    wf_begin(&fw, FLOW("{step: a}"));
    CHECK_INT(wf_again(&fw), CAIRN_E_WRONG_STATE);
    CHECK_DONE(&fw.world, wf_abort(&fw));
    CHECK_INT(wf_again(&fw), CAIRN_E_WRONG_STATE);
    wf_close(&fw);
}

TEST(retry_inside_a_fork_starts_what_has_a_completed_predecessor_and_joins_once)
{
    struct flow_world fw;
    wf_begin(&fw, FLOW("{fork: f, join: all, branches: [[{step: a}, {step: a2}], "
                       "[{step: b}, {step: b2}], [{step: c}]]}, {step: fin}"));
    sg_do(&fw, "c");
    sg_do(&fw, "a");
    struct task b = sg_take(&fw, "b");
    sg_fail(&fw, "a2");
    sg_complete(&fw, &b);
    wf_check_status(&fw, "failed");
    wf_check_steps(&fw, "f:completed a:completed a2:failed b:completed b2:skipped c:completed "
                        "f_join:skipped fin:skipped");
    CHECK_DONE(&fw.world, wf_again(&fw));
    wf_check_steps(&fw, "f:completed a:completed a2:ready b:completed b2:ready c:completed "
                        "f_join:pending fin:pending");
    sg_do(&fw, "b2");
    wf_check_steps(&fw, "f:completed a:completed a2:ready b:completed b2:completed c:completed "
                        "f_join:pending fin:pending");
    sg_do(&fw, "a2");
    sg_do(&fw, "fin");
    wf_check_status(&fw, "completed");
    wf_close(&fw);
}

TEST(retry_of_a_rolled_back_fork_executes_it_whole)
{
    struct flow_world fw;
    wf_begin(&fw,
             FLOW("{fork: f, join: all, branches: [[" U("a") "], [" U("b") "]]}, {step: fin}"));
    sg_do(&fw, "a");
    sg_do(&fw, "b");
    sg_fail(&fw, "fin");
    sg_undo_all(&fw, "b a");
    CHECK_DONE(&fw.world, wf_again(&fw));
    wf_check_steps(&fw, "f:completed a:ready b:ready f_join:pending fin:pending");
    sg_do(&fw, "a");
    sg_do(&fw, "b");
    sg_do(&fw, "fin");
    wf_check_status(&fw, "completed");
    wf_close(&fw);
}

TEST(retry_of_a_rolled_back_condition_may_take_the_other_list)
{
    struct flow_world fw;
    wf_begin(&fw, FLOW("{step: a}, {condition: c, when: '{{ .ok }}', then: [" U(
                      "t") "], "
                           "else: [" U("e") ", {fork: g, join: all, branches: [[{step: x}], "
                                            "[{step: y}]]}]}, {step: z}"));
    struct task a = sg_take(&fw, "a");
    CHECK_DONE(&fw.world, wf_report(&fw, &a, CAIRN_COMPLETE, "{\"ok\": true}"));
    sg_do(&fw, "t");
    sg_fail(&fw, "z");
    sg_undo_all(&fw, "t");
    CHECK_DONE(&fw.world, wf_again(&fw));
    a = sg_take(&fw, "a");
    CHECK_DONE(&fw.world, wf_report(&fw, &a, CAIRN_COMPLETE, "{\"ok\": false}"));
    wf_check_steps(&fw,
                   "a:completed c:completed t:skipped e:ready g:pending x:pending y:pending "
                   "g_join:pending z:pending");
    sg_do(&fw, "e");
    sg_do(&fw, "x");
    sg_do(&fw, "y");
    sg_do(&fw, "z");
    wf_check_status(&fw, "completed");
    wf_close(&fw);
}

TEST(retry_leaves_the_list_that_a_completed_condition_did_not_take)
{
    struct flow_world fw;
    wf_begin(&fw, FLOW("{condition: c, when: '{{ eq .n 1 }}', then: [{step: t}, {step: t2}], "
                       "else: [{step: e}]}, {step: z}"));
    sg_do(&fw, "t");
    sg_fail(&fw, "t2");
    wf_check_status(&fw, "failed");
    CHECK_DONE(&fw.world, wf_again(&fw));
    wf_check_steps(&fw, "c:completed t:completed t2:ready e:skipped z:pending");
    wf_close(&fw);
}

TEST(retry_of_an_any_that_no_branch_won_tries_all_branches_again)
{
    struct flow_world fw;
    wf_begin(&fw,
             FLOW("{fork: f, join: any, branches: [[{step: a}, {step: a2}], [{step: b}]]}, "
                  "{step: fin}"));
    sg_fail(&fw, "a");
    sg_fail(&fw, "b");
    wf_check_status(&fw, "failed");
    CHECK_DONE(&fw.world, wf_again(&fw));
    wf_check_steps(&fw, "f:completed a:ready a2:pending b:ready f_join:pending fin:pending");
    sg_fail(&fw, "b");
    sg_do(&fw, "a");
    sg_do(&fw, "a2");
    sg_do(&fw, "fin");
    wf_check_status(&fw, "completed");
    wf_close(&fw);
}

TEST(retry_after_an_any_was_won_leaves_the_lost_branches_lost)
{
    struct flow_world fw;
    wf_begin(&fw, FLOW("{fork: f, join: any, branches: [[{step: a}], [{step: b}], "
                       "[{step: c}, {step: c2}]]}, {step: fin}"));
    sg_fail(&fw, "a");
    sg_do(&fw, "c");
    sg_do(&fw, "b");
    sg_fail(&fw, "fin");
    wf_check_status(&fw, "failed");
    CHECK_DONE(&fw.world, wf_again(&fw));
    wf_check_steps(&fw, "f:completed a:failed b:completed c:completed c2:skipped "
                        "f_join:completed fin:ready");
    sg_do(&fw, "fin");
    wf_check_status(&fw, "completed");
    wf_close(&fw);
}

TEST(retry_of_a_rolled_back_any_executes_all_its_branches)
{
    struct flow_world fw;
    wf_begin(&fw,
             FLOW("{fork: f, join: any, branches: [[" U("a") "], [" U("b") ", {step: b2}]]}, "
                                                                           "{step: fin}"));
    sg_do(&fw, "b");
    sg_do(&fw, "a");
    sg_fail(&fw, "fin");
    sg_undo_all(&fw, "a b");
    CHECK_DONE(&fw.world, wf_again(&fw));
    wf_check_steps(&fw, "f:completed a:ready b:ready b2:pending f_join:pending fin:pending");
    sg_do(&fw, "b");
    sg_do(&fw, "b2");
    sg_do(&fw, "fin");
    wf_check_status(&fw, "completed");
    wf_close(&fw);
}

TEST(retry_passes_over_what_was_continued)
{
    struct flow_world fw;
    wf_begin(&fw,
             FLOW("{condition: c, when: '{{ eq .n 1 }}', "
                  "then: [{step: a, on_failure: continue}], else: [{step: e}]}, {step: b}"));
    sg_fail(&fw, "a");
    sg_fail(&fw, "b");
    wf_check_status(&fw, "failed");
    CHECK_DONE(&fw.world, wf_again(&fw));
    wf_check_steps(&fw, "c:completed a:skipped e:skipped b:ready");
    sg_check_json(sg_take(&fw, "b").input, "{\"n\": 1}");
    wf_close(&fw);
}

TEST(retry_makes_signals_of_reset_steps_available_again)
{
    struct flow_world fw;
    wf_begin(&fw, FLOW(U("a") ", {wait: w, event: go}, {step: b}"));
    sg_do(&fw, "a");
    wf_signal(&fw, "go", "7");
    sg_fail(&fw, "b");
    sg_undo_all(&fw, "a");
    CHECK_DONE(&fw.world, wf_again(&fw));
    sg_do(&fw, "a");
    wf_check_steps(&fw, "a:completed w:completed b:ready");
    CHECK(strstr(sg_take(&fw, "b").signal, "\"go\""), "b has no signal");
    wf_close(&fw);
}

TEST(retry_calls_a_non_idempotent_step_again)
{
    struct flow_world fw;
    wf_begin(&fw, FLOW("{step: a, idempotent: false}"));
    sg_take(&fw, "a");
    wf_advance(&fw, 30 * SECOND_MS + 1);
    wf_check_status(&fw, "failed");
    CHECK_DONE(&fw.world, wf_again(&fw));
    sg_do(&fw, "a");
    wf_check_status(&fw, "completed");
    wf_close(&fw);
}

TEST(retry_can_fail_and_be_undone_again)
{
    struct flow_world fw;
    wf_begin(&fw, FLOW(U("a") ", {fork: f, join: all, branches: [[" U("b") "], [" U(
                      "c") "]]}, "
                           "{step: d}"));
    for (int i = 0; i < 3; i++) {
        sg_do(&fw, "a");
        sg_do(&fw, "c");
        sg_do(&fw, "b");
        sg_fail(&fw, "d");
        sg_undo_all(&fw, "b c a");
        wf_check_status(&fw, "failed");
        CHECK_DONE(&fw.world, wf_again(&fw));
    }
    CHECK_INT(wf_instance(&fw)->generation, 4);
    wf_close(&fw);
}

/* ---- restart -------------------------------------------------------------------------------- */

TEST(restart_begins_anew_from_the_original_input_and_undoes_nothing)
{
    struct flow_world fw;
    wf_begin(&fw, FLOW(U("a") ", {fork: f, join: all, branches: [[" U("b") "], [{step: c}]]}"));
    sg_do(&fw, "a");
    struct task b = sg_take(&fw, "b");
    CHECK_DONE(&fw.world, wf_restart(&fw));
    wf_check_status(&fw, "running");
    wf_check_steps(&fw, "a:ready f:pending b:pending c:pending f_join:pending");
    CHECK_INT(wf_instance(&fw)->generation, 2);
    sg_check_late(&fw, &b); /* of an older generation */
    CHECK_INT(wf_beat(&fw, &b, 1000, NULL), CAIRN_E_LEASE_LOST);
    CHECK_INT(wf_count_events(&fw, "compensation_started"), 0);
    struct task a = sg_take(&fw, "a");
    sg_check_json(a.input, "{\"n\": 1}");
    sg_complete(&fw, &a);
    sg_do(&fw, "b");
    sg_do(&fw, "c");
    wf_check_status(&fw, "completed");
    CHECK_DONE(&fw.world, wf_restart(&fw));
    wf_check_status(&fw, "running");
    CHECK(!wf_instance(&fw)->output, "there is still an output");
    wf_close(&fw);
}

TEST(restart_after_a_won_any_and_a_taken_condition_starts_with_everything_as_planned)
{
    struct flow_world fw;
    wf_begin(&fw, FLOW("{fork: f, join: any, branches: [[{step: a}], [{step: b}]]}, "
                       "{condition: c, when: '{{ eq .strategy \"any\" }}', then: [{step: t}], "
                       "else: [{step: e}]}"));
    sg_do(&fw, "a");
    sg_do(&fw, "t");
    wf_check_status(&fw, "completed");
    CHECK_DONE(&fw.world, wf_restart(&fw));
    wf_check_steps(&fw,
                   "f:completed a:ready b:ready f_join:pending c:pending t:pending e:pending");
    sg_do(&fw, "b");
    sg_do(&fw, "t");
    wf_check_status(&fw, "completed");
    wf_close(&fw);
}

TEST(restart_of_a_pending_instance_is_refused)
{
    struct flow_world fw;
    cairn_start_options later = CAIRN_START_DEFAULTS;
    wf_begin(&fw, FLOW("{step: a}"));
    later.workflow = "w";
    later.start_at_us = START_US + HOUR_MS * 1000;
    CHECK_DONE(&fw.world, wf_start(&fw, &later, NULL));
    CHECK_INT(wf_restart(&fw), CAIRN_E_WRONG_STATE);
    CHECK_INT(wf_pause(&fw), CAIRN_E_WRONG_STATE);
    wf_close(&fw);
}

TEST(restart_while_cancelled_lets_the_old_worker_be_late)
{
    struct flow_world fw;
    wf_begin(&fw, FLOW("{step: a}, {step: b}"));
    struct task a = sg_take(&fw, "a");
    CHECK_DONE(&fw.world, wf_abort(&fw));
    CHECK_DONE(&fw.world, wf_restart(&fw));
    struct task again = sg_take(&fw, "a");
    sg_check_late(&fw, &a);
    sg_complete(&fw, &again);
    wf_check_steps(&fw, "a:completed b:ready");
    wf_close(&fw);
}

/* ---- paused --------------------------------------------------------------------------------- */

TEST(what_ends_in_a_pause_is_kept_and_goes_on_at_resume_through_joins)
{
    struct flow_world fw;
    wf_begin(&fw,
             FLOW("{fork: f, join: all, branches: [[{step: a}], [{step: b}]]}, {step: fin}"));
    struct task a = sg_take(&fw, "a"), b = sg_take(&fw, "b");
    CHECK_DONE(&fw.world, wf_pause(&fw));
    sg_complete(&fw, &a);
    sg_complete(&fw, &b);
    wf_check_status(&fw, "paused");
    wf_check_steps(&fw, "f:completed a:completed b:completed f_join:pending fin:pending");
    CHECK_DONE(&fw.world, wf_resume(&fw));
    wf_check_steps(&fw, "f:completed a:completed b:completed f_join:completed fin:ready");
    wf_close(&fw);
}

TEST(a_failure_in_a_pause_is_undone_in_resumes_commit)
{
    struct flow_world fw;
    wf_begin(&fw, FLOW(U("a") ", {fork: f, join: all, branches: [[{step: b}], [" U("c") "]]}"));
    sg_do(&fw, "a");
    struct task b = sg_take(&fw, "b"), c = sg_take(&fw, "c");
    CHECK_DONE(&fw.world, wf_pause(&fw));
    sg_complete(&fw, &c);
    CHECK_DONE(&fw.world, wf_report(&fw, &b, CAIRN_DEAD, "no good"));
    wf_check_status(&fw, "paused");
    wf_check_steps(&fw, "a:completed f:completed b:failed c:completed f_join:pending");
    wf_check_nothing_to_take(&fw);
    CHECK_DONE(&fw.world, wf_resume(&fw));
    wf_check_status(&fw, "compensating");
    sg_undo_all(&fw, "c a");
    wf_check_status(&fw, "failed");
    wf_check_steps(&fw,
                   "a:rolled_back f:rolled_back b:rolled_back c:rolled_back f_join:skipped");
    wf_close(&fw);
}

TEST(the_last_step_that_ends_in_a_pause_completes_the_instance_at_resume)
{
    struct flow_world fw;
    wf_begin(&fw, FLOW("{step: a}"));
    struct task a = sg_take(&fw, "a");
    CHECK_DONE(&fw.world, wf_pause(&fw));
    sg_complete(&fw, &a);
    wf_check_status(&fw, "paused");
    CHECK_DONE(&fw.world, wf_resume(&fw));
    wf_check_status(&fw, "completed");
    wf_close(&fw);
}
