/* tests/spec/test_floxy_dlq.c - the dead letter queue: section 11 of floxy-engine.md, and "DLQ" of
 * the design.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "saga.h"

#define U(name) "{step: " name ", compensation: {handler: u" name "}}"
#define PARKING(elements) "{workflow: w, version: 1, dlq: true, steps: [" elements "]}"

static cairn_code requeue_id(struct flow_world *fw, const char *id)
{
    return cairn_dlq_requeue(fw->world.engine, id, NULL, &fw->world.error);
}

/* ---- parking -------------------------------------------------------------------------------- */

TEST(a_failed_step_is_paused_the_instance_is_dlq_and_nothing_is_undone)
{
    struct flow_world fw;
    wf_begin(&fw, PARKING(U("a") ", {step: b, max_attempts: 2, compensation: {handler: ub}}, "
                                 "{step: c}"));
    sg_do(&fw, "a");
    struct task b = sg_take(&fw, "b");
    CHECK_DONE(&fw.world, wf_retry(&fw, &b, 0));
    wf_check_status(&fw, "running");
    b = sg_take(&fw, "b");
    CHECK_DONE(&fw.world, wf_report(&fw, &b, CAIRN_FAIL, "no funds"));
    wf_check_status(&fw, "dlq");
    wf_check_steps(&fw, "a:completed b:paused c:pending");
    wf_check_current(&fw, "b");
    wf_check_last_error(&fw, "b", "no funds", 2);
    wf_check_nothing_to_take(&fw);
    CHECK_INT(wf_count_events(&fw, "compensation_started"), 0);
    wf_close(&fw);
}

TEST(a_record_has_all_fields_of_the_document)
{
    struct flow_world fw;
    char step_id[64];
    wf_begin(&fw, PARKING("{step: a}, {step: b}"));
    sg_do(&fw, "a");
    wf_advance(&fw, 5000);
    sg_fail(&fw, "b");
    struct record record = sg_record(&fw, "b");
    snprintf(step_id, sizeof step_id, "%s.1", fw.id);
    CHECK_STR(record.instance_id, fw.id);
    CHECK_STR(record.workflow_id, "w/1");
    CHECK_STR(record.step_id, step_id);
    CHECK_STR(record.step_name, "b");
    CHECK_STR(record.step_type, "task");
    sg_check_json(record.input, "{\"by\": \"a\"}");
    CHECK_STR(record.error, "no good");
    CHECK_STR(record.reason, "dlq enabled: rollback/compensation skipped");
    CHECK_INT(record.created_at_us, START_US + 5 * SECOND_US);
    CHECK_INT(record.is_open, 1);
    struct record same = sg_record_of(&fw, record.id);
    CHECK_STR(same.step_name, "b");
    wf_close(&fw);
}

TEST(explicit_continue_beats_dlq_and_other_policies_park)
{
    struct flow_world fw;
    wf_begin(&fw, PARKING("{step: a, on_failure: continue}, "
                          "{step: b, on_failure: pause_workflow}, "
                          "{step: c, on_failure: fail_workflow}, "
                          "{step: d, on_failure: compensate}"));
    static const char *const parking[] = {"b", "c", "d"};
    sg_fail(&fw, "a");
    for (int i = 0; i < 3; i++) {
        sg_fail(&fw, parking[i]);
        wf_check_status(&fw, "dlq");
        CHECK_STR(wf_step(&fw, parking[i])->status, "paused");
        CHECK_DONE(&fw.world, sg_requeue(&fw, parking[i], NULL));
        sg_do(&fw, parking[i]);
    }
    wf_check_status(&fw, "completed");
    wf_close(&fw);
}

TEST(running_steps_may_finish_their_results_are_kept_and_no_new_step_starts)
{
    struct flow_world fw;
    wf_begin(&fw,
             PARKING("{fork: f, join: all, branches: [[{step: a}], [{step: b}, {step: b2}], "
                     "[{step: c}]]}"));
    struct task b = sg_take(&fw, "b");
    sg_fail(&fw, "a");
    wf_check_status(&fw, "dlq");
    wf_check_nothing_to_take(&fw); /* c is ready, but held */
    CHECK_DONE(&fw.world, wf_beat(&fw, &b, 30000, NULL));
    sg_complete(&fw, &b);
    wf_check_steps(&fw, "f:completed a:paused b:completed b2:pending c:ready f_join:pending");
    sg_check_json(wf_step(&fw, "b")->output, "{\"by\": \"b\"}");
    wf_check_nothing_to_take(&fw);
    wf_close(&fw);
}

TEST(in_a_fork_with_pending_and_running_siblings_a_requeue_lets_everything_go_on)
{
    struct flow_world fw;
    wf_begin(&fw, PARKING("{fork: f, join: all, branches: [[{step: a}, {step: a2}], "
                          "[{step: b}, {step: b2}], [{step: c}], [{step: d}]]}, {step: fin}"));
    struct task b = sg_take(&fw, "b"), d = sg_take(&fw, "d");
    sg_fail(&fw, "a");
    sg_complete(&fw, &b);
    wf_check_nothing_to_take(&fw);
    CHECK_DONE(&fw.world, sg_requeue(&fw, "a", NULL));
    wf_check_status(&fw, "running");
    wf_check_steps(&fw, "f:completed a:ready a2:pending b:completed b2:ready c:ready d:running "
                        "f_join:pending fin:pending");
    sg_complete(&fw, &d);
    sg_do(&fw, "a");
    sg_do(&fw, "a2");
    sg_do(&fw, "b2");
    sg_do(&fw, "c");
    sg_do(&fw, "fin");
    wf_check_status(&fw, "completed");
    CHECK_INT(sg_count_records(&fw), 0);
    wf_close(&fw);
}

TEST(a_join_reached_in_the_meantime_is_paused_and_goes_on_after_the_requeue)
{
    struct flow_world fw;
    wf_begin(&fw,
             PARKING("{fork: f, join: all, branches: ["
                     "[{fork: g, join: all, branches: [[{step: a}], [{step: b}]]}, {step: z}], "
                     "[{step: c}]]}, {step: fin}"));
    struct task a = sg_take(&fw, "a"), b = sg_take(&fw, "b");
    sg_fail(&fw, "c");
    sg_complete(&fw, &a);
    wf_check_steps(&fw,
                   "f:completed g:completed a:completed b:running g_join:pending z:pending "
                   "c:paused f_join:pending fin:pending");
    sg_complete(&fw, &b);
    wf_check_steps(&fw,
                   "f:completed g:completed a:completed b:completed g_join:paused z:pending "
                   "c:paused f_join:pending fin:pending");
    wf_check_current(&fw, "c");
    CHECK_DONE(&fw.world, sg_requeue(&fw, "c", NULL));
    wf_check_steps(&fw, "f:completed g:completed a:completed b:completed g_join:completed "
                        "z:ready c:ready f_join:pending fin:pending");
    sg_do(&fw, "c");
    sg_do(&fw, "z");
    sg_do(&fw, "fin");
    wf_check_status(&fw, "completed");
    wf_close(&fw);
}

TEST(in_dlq_retries_and_lost_leases_stay_ready_but_held)
{
    struct flow_world fw;
    wf_begin(
        &fw,
        PARKING("{fork: f, join: all, branches: [[{step: a}], [{step: b}], [{step: c}]]}"));
    struct task b = sg_take(&fw, "b");
    sg_take(&fw, "c");
    sg_fail(&fw, "a");
    CHECK_DONE(&fw.world, wf_retry(&fw, &b, 1000));
    wf_advance(&fw, 30 * SECOND_MS + 1);
    wf_check_steps(&fw, "f:completed a:paused b:ready c:ready f_join:pending");
    CHECK_INT(wf_step(&fw, "b")->attempts, 1);
    CHECK_INT(wf_step(&fw, "c")->attempts, 1);
    wf_check_nothing_to_take(&fw);
    CHECK_DONE(&fw.world, sg_requeue(&fw, "a", NULL));
    sg_do(&fw, "a");
    sg_do(&fw, "b");
    sg_do(&fw, "c");
    wf_check_status(&fw, "completed");
    wf_close(&fw);
}

TEST(in_dlq_a_step_that_fails_gets_a_record_of_its_own_and_decisions_are_accepted)
{
    struct flow_world fw;
    wf_begin(&fw, PARKING("{fork: f, join: all, branches: [[{step: a}], "
                          "[{step: b, idempotent: false}], [{human: h}, {step: c}]]}"));
    sg_take(&fw, "b");
    sg_fail(&fw, "a");
    CHECK_DONE(&fw.world, sg_decide(&fw, "h", true));
    wf_advance(&fw, 30 * SECOND_MS + 1); /* b was called, and is not called again */
    wf_check_steps(&fw, "f:completed a:paused b:paused h:confirmed c:pending f_join:pending");
    CHECK_INT(sg_count_records(&fw), 2);
    CHECK_STR(sg_record(&fw, "b").error, "LEASE_EXPIRED");
    CHECK_DONE(&fw.world, sg_requeue(&fw, "a", NULL));
    wf_check_status(&fw, "running");
    wf_check_steps(&fw, "f:completed a:ready b:paused h:confirmed c:ready f_join:pending");
    sg_do(&fw, "c");
    wf_check_status(&fw, "running");
    sg_do(&fw, "a");
    wf_check_status(&fw, "dlq"); /* b's record is open, and nothing else is to be done */
    CHECK_DONE(&fw.world, sg_requeue(&fw, "b", NULL));
    sg_do(&fw, "b");
    wf_check_status(&fw, "completed");
    wf_close(&fw);
}

TEST(in_dlq_a_rejection_aborts_and_closes_the_records)
{
    struct flow_world fw;
    wf_begin(&fw, PARKING("{fork: f, join: all, branches: [[{step: a}], [{human: h}]]}"));
    sg_fail(&fw, "a");
    CHECK_DONE(&fw.world, sg_decide(&fw, "h", false));
    wf_check_status(&fw, "aborted");
    CHECK_INT(sg_count_records(&fw), 0);
    wf_close(&fw);
}

TEST(in_dlq_signals_are_kept_and_timers_go_on_counting)
{
    struct flow_world fw;
    wf_begin(&fw,
             PARKING("{fork: f, join: all, branches: [[{step: a}], [{wait: w, event: go}], "
                     "[{sleep: s, for: 1m}], [{human: h, timeout: 1m}]]}"));
    sg_fail(&fw, "a");
    CHECK_INT(wf_signal(&fw, "go", NULL).kept, 1);
    wf_advance(&fw, HOUR_MS);
    wf_check_steps(&fw, "f:completed a:paused w:waiting s:waiting h:waiting_decision "
                        "f_join:pending");
    CHECK_DONE(&fw.world, sg_requeue(&fw, "a", NULL));
    wf_check_steps(&fw, "f:completed a:ready w:completed s:completed h:paused f_join:pending");
    CHECK_STR(sg_record(&fw, "h").error, "DECISION_TIMEOUT");
    CHECK_STR(sg_record(&fw, "h").step_type, "human");
    wf_check_status(&fw, "dlq"); /* the human step failed in that commit */
    CHECK_DONE(&fw.world, sg_requeue(&fw, "h", NULL));
    wf_check_steps(&fw, "f:completed a:ready w:completed s:completed h:waiting_decision "
                        "f_join:pending");
    CHECK_DONE(&fw.world, sg_decide(&fw, "h", true));
    sg_do(&fw, "a");
    wf_check_status(&fw, "completed");
    wf_close(&fw);
}

TEST(pause_and_resume_of_a_parked_instance_are_refused)
{
    struct flow_world fw;
    wf_begin(&fw, PARKING("{step: a}"));
    sg_fail(&fw, "a");
    CHECK_INT(wf_pause(&fw), CAIRN_E_WRONG_STATE);
    CHECK_INT(wf_resume(&fw), CAIRN_E_WRONG_STATE);
    CHECK_INT(wf_again(&fw), CAIRN_E_WRONG_STATE);
    wf_close(&fw);
}

TEST(a_failure_while_paused_is_parked_in_resumes_commit)
{
    struct flow_world fw;
    wf_begin(&fw, PARKING("{step: a, on_failure: pause_workflow}, {step: b}"));
    struct task a = sg_take(&fw, "a");
    CHECK_DONE(&fw.world, wf_pause(&fw));
    CHECK_DONE(&fw.world, wf_report(&fw, &a, CAIRN_DEAD, "no good"));
    wf_check_status(&fw, "paused");
    CHECK_INT(sg_count_records(&fw), 0);
    CHECK_DONE(&fw.world, wf_resume(&fw));
    wf_check_status(&fw, "dlq");
    wf_check_steps(&fw, "a:paused b:pending");
    CHECK_DONE(&fw.world, sg_requeue(&fw, "a", NULL));
    sg_do(&fw, "a");
    sg_do(&fw, "b");
    wf_check_status(&fw, "completed");
    wf_close(&fw);
}

/* ---- any ------------------------------------------------------------------------------------ */

TEST(inside_an_any_nothing_parks_until_no_branch_can_win)
{
    struct flow_world fw;
    wf_begin(&fw, PARKING("{fork: f, join: any, branches: [[{step: a}, {step: a2}], "
                          "[{step: b}, {step: b2}]]}, {step: fin}"));
    sg_fail(&fw, "a");
    wf_check_status(&fw, "running");
    CHECK_INT(sg_count_records(&fw), 0);
    sg_fail(&fw, "b");
    wf_check_status(&fw, "dlq");
    wf_check_steps(&fw, "f:completed a:paused a2:skipped b:paused b2:pending f_join:pending "
                        "fin:pending");
    CHECK_INT(sg_count_records(&fw), 2);
    CHECK_DONE(&fw.world, sg_requeue(&fw, "b", NULL));
    sg_fail(&fw, "b"); /* again */
    wf_check_status(&fw, "dlq");
    CHECK_DONE(&fw.world, sg_requeue(&fw, "b", NULL));
    sg_do(&fw, "b");
    sg_do(&fw, "b2");
    wf_check_steps(&fw, "f:completed a:skipped a2:skipped b:completed b2:completed "
                        "f_join:completed fin:ready");
    CHECK_INT(sg_count_records(&fw), 0); /* that of the branch which was not needed is closed */
    sg_do(&fw, "fin");
    wf_check_status(&fw, "completed");
    wf_close(&fw);
}

TEST(each_branch_that_lost_an_any_can_be_requeued_and_win)
{
    struct flow_world fw;
    wf_begin(&fw,
             PARKING("{fork: f, join: any, branches: ["
                     "[{step: p}, {fork: g, join: all, branches: [[{step: a}, {step: a2}], "
                     "[{step: y}], [{step: z}]]}, {step: a3}], "
                     "[{step: b}, {step: b2}], [{step: c}]]}, {step: fin}"));
    sg_do(&fw, "p");
    sg_do(&fw, "y");
    sg_fail(&fw, "a");
    sg_fail(&fw, "b");
    sg_fail(&fw, "c");
    wf_check_status(&fw, "dlq");
    wf_check_steps(&fw, "f:completed p:completed g:completed a:paused a2:skipped y:completed "
                        "z:skipped g_join:skipped a3:skipped b:paused b2:skipped c:paused "
                        "f_join:pending fin:pending");
    CHECK_INT(sg_count_records(&fw), 3);
    CHECK_DONE(&fw.world, sg_requeue(&fw, "a", NULL));
    wf_check_status(&fw, "running");
    wf_check_steps(&fw, "f:completed p:completed g:completed a:ready a2:pending y:completed "
                        "z:ready g_join:pending a3:pending b:paused b2:skipped c:paused "
                        "f_join:pending fin:pending");
    CHECK_DONE(&fw.world, sg_requeue(&fw, "b", NULL));
    sg_do(&fw, "a");
    sg_do(&fw, "a2");
    sg_fail(&fw, "b"); /* the first branch goes on, so that this one is only lost */
    wf_check_status(&fw, "running");
    sg_do(&fw, "z");
    sg_do(&fw, "a3");
    struct task fin = sg_take(&fw, "fin");
    sg_check_json(fin.input,
                  "{\"status\": \"success\", \"strategy\": \"any\", \"completed\": [\"a3\"], "
                  "\"failed\": [\"b\"], \"outputs\": {\"a3\": {\"by\": \"a3\"}}}");
    sg_complete(&fw, &fin);
    wf_check_status(&fw, "completed");
    CHECK_INT(sg_count_records(&fw), 0);
    wf_close(&fw);
}

TEST(a_requeued_branch_that_fails_again_is_parked_beside_the_others)
{
    struct flow_world fw;
    wf_begin(&fw, PARKING("{fork: f, join: any, branches: [[{step: a}], [{fork: g, join: any, "
                          "branches: [[{step: b}], [{step: c}]]}, {step: d}]]}, {step: fin}"));
    sg_fail(&fw, "b");
    sg_fail(&fw, "c");
    sg_fail(&fw, "a");
    wf_check_steps(&fw, "f:completed a:paused g:completed b:paused c:paused g_join:skipped "
                        "d:skipped f_join:pending fin:pending");
    CHECK_INT(sg_count_records(&fw), 3);
    CHECK_DONE(&fw.world, sg_requeue(&fw, "b", NULL));
    sg_fail(&fw, "b");
    wf_check_status(&fw, "dlq");
    CHECK_DONE(&fw.world, sg_requeue(&fw, "c", NULL));
    sg_do(&fw, "c");
    wf_check_steps(&fw,
                   "f:completed a:paused g:completed b:skipped c:completed g_join:completed "
                   "d:ready f_join:pending fin:pending");
    sg_do(&fw, "d");
    sg_do(&fw, "fin");
    wf_check_status(&fw, "completed");
    wf_close(&fw);
}

TEST(an_any_won_in_dlq_is_paused_and_its_losers_are_stopped)
{
    struct flow_world fw;
    wf_begin(&fw, PARKING("{fork: f, join: all, branches: [[{fork: g, join: any, branches: "
                          "[[{step: a}], [{step: b}]]}, {step: z}], [{step: c}]]}"));
    struct task a = sg_take(&fw, "a"), b = sg_take(&fw, "b");
    sg_fail(&fw, "c");
    sg_complete(&fw, &a);
    sg_check_stop(&fw, &b, "superseded");
    sg_check_late(&fw, &b);
    wf_check_steps(&fw, "f:completed g:completed a:completed b:skipped g_join:paused z:pending "
                        "c:paused f_join:pending");
    CHECK_INT(sg_count_records(&fw), 1);
    CHECK_DONE(&fw.world, sg_requeue(&fw, "c", NULL));
    sg_do(&fw, "z");
    sg_do(&fw, "c");
    wf_check_status(&fw, "completed");
    wf_close(&fw);
}

/* ---- requeueing ----------------------------------------------------------------------------- */

TEST(a_requeue_resets_the_step_and_closes_the_record)
{
    struct flow_world fw;
    wf_begin(&fw, PARKING("{step: a, max_attempts: 1}, {step: b}"));
    sg_fail(&fw, "a");
    struct record record = sg_record(&fw, "a");
    CHECK_DONE(&fw.world, sg_requeue(&fw, "a", NULL));
    wf_check_status(&fw, "running");
    const cairn_step *step = wf_step(&fw, "a");
    CHECK_STR(step->status, "ready");
    CHECK_INT(step->attempts, 0);
    CHECK(!step->error, "the error is still %s", step->error);
    CHECK_INT(step->started_at_us, 0);
    CHECK_INT(step->finished_at_us, 0);
    sg_check_json(step->input, "{\"n\": 1}");
    CHECK_INT(sg_record_of(&fw, record.id).is_open, 0);
    CHECK_INT(requeue_id(&fw, record.id), CAIRN_E_WRONG_STATE); /* twice is an error */
    CHECK_INT(requeue_id(&fw, "999999"), CAIRN_E_NOT_FOUND);
    CHECK_INT(requeue_id(&fw, "nonsense"), CAIRN_E_NOT_FOUND);
    struct task a = sg_take(&fw, "a");
    CHECK_INT(a.attempt, 1);
    sg_complete(&fw, &a);
    sg_do(&fw, "b");
    wf_check_status(&fw, "completed");
    CHECK_INT(wf_instance(&fw)->generation, 1);
    wf_close(&fw);
}

TEST(a_requeue_may_give_new_input)
{
    struct flow_world fw;
    wf_begin(&fw, PARKING("{step: a}, {step: b}"));
    sg_do(&fw, "a");
    sg_fail(&fw, "b");
    CHECK_INT(sg_requeue(&fw, "b", "{no json"), CAIRN_E_BAD_JSON);
    CHECK_DONE(&fw.world, sg_requeue(&fw, "b", "{\"status\": \"fixed\"}"));
    struct task b = sg_take(&fw, "b");
    sg_check_json(b.input, "{\"status\": \"fixed\"}");
    wf_close(&fw);
}

TEST(a_non_idempotent_step_is_called_again_only_by_a_requeue)
{
    struct flow_world fw;
    wf_begin(&fw, PARKING("{step: a, idempotent: false}"));
    struct task a = sg_take(&fw, "a");
    CHECK_DONE(&fw.world, wf_retry(&fw, &a, 0));
    wf_check_status(&fw, "dlq");
    wf_check_nothing_to_take(&fw);
    CHECK_DONE(&fw.world, sg_requeue(&fw, "a", NULL));
    sg_do(&fw, "a");
    wf_check_status(&fw, "completed");
    wf_close(&fw);
}

TEST(with_another_record_open_and_nothing_to_do_the_instance_is_dlq_again_in_that_commit)
{
    struct flow_world fw;
    wf_begin(&fw, PARKING("{fork: f, join: all, branches: [[{step: a}], [{condition: c, "
                          "when: '{{ .n }}', then: [{step: t}]}]]}, {step: fin}"));
    wf_check_status(&fw, "dlq"); /* the condition failed when the instance started */
    CHECK_STR(sg_record(&fw, "c").step_type, "condition");
    wf_check_steps(&fw, "f:completed a:ready c:paused t:pending f_join:pending fin:pending");
    wf_check_nothing_to_take(&fw);
    CHECK_DONE(&fw.world, sg_requeue(&fw, "c", NULL)); /* fails again, a is held again */
    wf_check_status(&fw, "dlq");
    CHECK_DONE(&fw.world, sg_requeue(&fw, "c", "{\"n\": true}"));
    wf_check_status(&fw, "running");
    sg_fail(&fw, "a");
    wf_check_status(&fw, "dlq");
    CHECK_INT(sg_count_records(&fw), 1);
    CHECK_DONE(&fw.world, sg_requeue(&fw, "a", NULL));
    sg_do(&fw, "t");
    sg_do(&fw, "a");
    sg_do(&fw, "fin");
    wf_check_status(&fw, "completed");
    wf_close(&fw);
}

TEST(a_requeued_condition_that_only_reaches_the_join_leaves_the_instance_parked)
{
    struct flow_world fw;
    wf_begin(&fw, PARKING("{fork: f, join: all, branches: [[{condition: c, when: '{{ .n }}', "
                          "then: [{step: t}]}], [{condition: d, when: '{{ .n }}', "
                          "then: [{step: u}]}]]}, {step: fin}"));
    wf_check_steps(&fw, "f:completed c:paused t:pending d:pending u:pending f_join:pending "
                        "fin:pending");
    CHECK_DONE(&fw.world, sg_requeue(&fw, "c", "{\"n\": false}"));
    wf_check_status(&fw, "dlq"); /* d goes on, and fails in that commit */
    wf_check_steps(&fw, "f:completed c:completed t:skipped d:paused u:pending f_join:pending "
                        "fin:pending");
    CHECK_DONE(&fw.world, sg_requeue(&fw, "d", "{\"n\": false}"));
    wf_check_status(&fw, "running");
    sg_do(&fw, "fin");
    wf_check_status(&fw, "completed");
    wf_close(&fw);
}

TEST(what_was_held_in_the_middle_of_a_commit_goes_on)
{
    struct flow_world fw;
    wf_begin(&fw, PARKING("{step: z}, {fork: f, join: all, branches: [[{condition: c, "
                          "when: '{{ .by }}', then: [{step: t}]}], [{step: a}], "
                          "[{condition: d, when: '{{ true }}', then: [{step: u}]}]]}"));
    sg_do(&fw, "z");
    wf_check_status(&fw, "dlq");
    wf_check_nothing_to_take(&fw);
    CHECK_DONE(&fw.world, sg_requeue(&fw, "c", "{\"by\": true}"));
    wf_check_steps(&fw,
                   "z:completed f:completed c:completed t:ready a:ready d:completed u:ready "
                   "f_join:pending");
    sg_check_json(sg_take(&fw, "a").input, "{\"by\": \"z\"}");
    sg_check_json(sg_take(&fw, "t").input, "{\"by\": true}");
    wf_close(&fw);
}

TEST(a_signal_taken_by_a_requeued_step_counts_as_not_taken)
{
    struct flow_world fw;
    wf_begin(&fw, PARKING("{step: a}"));
    struct task a = sg_take(&fw, "a");
    CHECK_DONE(&fw.world, wf_wait(&fw, &a, "go", -1));
    CHECK_INT(wf_signal(&fw, "go", "1").taken, 1);
    sg_fail(&fw, "a");
    CHECK_DONE(&fw.world, sg_requeue(&fw, "a", NULL));
    a = sg_take(&fw, "a");
    CHECK_STR(a.signal, "");
    CHECK_DONE(&fw.world, wf_wait(&fw, &a, "go", -1));
    a = sg_take(&fw, "a");
    CHECK(strstr(a.signal, "\"go\""), "the signal is %s", a.signal);
    wf_close(&fw);
}

TEST(restart_closes_open_records)
{
    struct flow_world fw;
    wf_begin(&fw, PARKING("{step: a}"));
    sg_fail(&fw, "a");
    struct record record = sg_record(&fw, "a");
    CHECK_DONE(&fw.world, wf_restart(&fw));
    wf_check_status(&fw, "running");
    CHECK_INT(sg_count_records(&fw), 0);
    CHECK_INT(requeue_id(&fw, record.id), CAIRN_E_WRONG_STATE);
    sg_do(&fw, "a");
    wf_check_status(&fw, "completed");
    wf_close(&fw);
}

TEST(records_are_listed_newest_first_page_by_page)
{
    struct flow_world fw;
    cairn_page *page = NULL;
    wf_begin(
        &fw,
        PARKING("{fork: f, join: all, branches: [[{step: a}], [{step: b}], [{step: c}]]}"));
    struct task b = sg_take(&fw, "b"), c = sg_take(&fw, "c");
    sg_fail(&fw, "a");
    CHECK_DONE(&fw.world, wf_report(&fw, &b, CAIRN_DEAD, "x"));
    CHECK_DONE(&fw.world, wf_report(&fw, &c, CAIRN_DEAD, "x"));
    cairn_engine *engine = fw.world.engine;
    CHECK_DONE(&fw.world, cairn_dlq_list(engine, NULL, 2, &page, &fw.world.error));
    CHECK_INT(cairn_page_count(page), 2);
    CHECK_STR(cairn_page_dlq_record(page, 0)->step_name, "c");
    CHECK_STR(cairn_page_dlq_record(page, 1)->step_name, "b");
    char cursor[40];
    snprintf(cursor, sizeof cursor, "%s", cairn_page_next(page));
    cairn_page_free(page);
    CHECK_DONE(&fw.world, cairn_dlq_list(engine, cursor, 2, &page, &fw.world.error));
    CHECK_INT(cairn_page_count(page), 1);
    CHECK_STR(cairn_page_dlq_record(page, 0)->step_name, "a");
    CHECK(!cairn_page_next(page), "there is more");
    cairn_page_free(page);
    CHECK_INT(cairn_dlq_list(engine, NULL, 0, &page, NULL), CAIRN_E_BAD_INPUT);
    CHECK_INT(cairn_dlq_list(engine, "x", 1, &page, NULL), CAIRN_E_BAD_INPUT);
    CHECK_INT(cairn_dlq_get(engine, "77", &page, NULL), CAIRN_E_NOT_FOUND);
    CHECK_INT(cairn_dlq_get(engine, NULL, &page, NULL), CAIRN_E_BAD_INPUT);
    wf_close(&fw);
}

/* ---- compensations -------------------------------------------------------------------------- */

#define UNDO_ONCE(name) "{step: " name ", compensation: {handler: u" name ", max_attempts: 1}}"

static void fail_undo(struct flow_world *fw, const char *step)
{
    struct task task = sg_take_undo(fw, step);
    CHECK_DONE(&fw->world, wf_report(fw, &task, CAIRN_FAIL, "no refund"));
}

TEST(a_record_of_a_failed_compensation_requeues_that_compensation)
{
    struct flow_world fw;
    wf_begin(&fw, FLOW(UNDO_ONCE("a") ", {step: b}"));
    sg_do(&fw, "a");
    sg_fail(&fw, "b");
    fail_undo(&fw, "a");
    wf_check_status(&fw, "failed");
    struct record record = sg_record(&fw, "a");
    CHECK_DONE(&fw.world, sg_requeue(&fw, "a", NULL));
    wf_check_status(&fw, "compensating");
    CHECK_INT(wf_instance(&fw)->generation, 2);
    CHECK_INT(wf_step(&fw, "a")->compensation_attempts, 0);
    struct task task = sg_take_undo(&fw, "a");
    sg_check_json(task.input, "{\"input\": {\"n\": 1}, \"output\": {\"by\": \"a\"}}");
    CHECK_INT(requeue_id(&fw, record.id), CAIRN_E_WRONG_STATE);
    CHECK_DONE(&fw.world, wf_report(&fw, &task, CAIRN_COMPLETE, NULL));
    wf_check_status(&fw, "failed"); /* the failure is not undone by this */
    wf_check_steps(&fw, "a:rolled_back b:rolled_back");
    CHECK_INT(sg_count_records(&fw), 0);
    wf_close(&fw);
}

TEST(requeued_compensations_run_one_at_a_time_and_a_cancel_then_ends_cancelled)
{
    struct flow_world fw;
    wf_begin(&fw, FLOW(UNDO_ONCE("a") ", " UNDO_ONCE("b") ", " UNDO_ONCE("c") ", {step: d}"));
    sg_do(&fw, "a");
    sg_do(&fw, "b");
    sg_do(&fw, "c");
    CHECK_DONE(&fw.world, wf_cancel(&fw));
    fail_undo(&fw, "c");
    fail_undo(&fw, "b");
    fail_undo(&fw, "a");
    wf_check_status(&fw, "failed");
    CHECK_INT(sg_count_records(&fw), 3);
    CHECK_DONE(&fw.world, sg_requeue(&fw, "a", NULL));
    CHECK_DONE(&fw.world, sg_requeue(&fw, "c", NULL));
    sg_undo(&fw, "a");
    sg_undo(&fw, "c");
    wf_check_status(&fw, "failed"); /* b is left */
    wf_check_steps(&fw, "a:rolled_back b:failed c:rolled_back d:skipped");
    CHECK_DONE(&fw.world, sg_requeue(&fw, "b", NULL));
    sg_undo(&fw, "b");
    wf_check_status(&fw, "cancelled");
    wf_close(&fw);
}

TEST(a_requeued_compensation_that_fails_again_has_a_new_record)
{
    struct flow_world fw;
    wf_begin(&fw, FLOW(UNDO_ONCE("a") ", {step: b}"));
    sg_do(&fw, "a");
    CHECK_DONE(&fw.world, wf_cancel(&fw));
    fail_undo(&fw, "a");
    struct record first = sg_record(&fw, "a");
    CHECK_DONE(&fw.world, sg_requeue(&fw, "a", NULL));
    fail_undo(&fw, "a");
    wf_check_status(&fw, "failed");
    CHECK(strcmp(sg_record(&fw, "a").id, first.id) != 0, "it is the same record");
    CHECK_INT(requeue_id(&fw, first.id), CAIRN_E_WRONG_STATE);
    wf_close(&fw);
}

TEST(a_compensation_that_was_never_to_be_called_is_called_when_somebody_requeues_it)
{
    struct flow_world fw;
    wf_begin(&fw, FLOW("{step: a, compensation: {handler: ua, max_attempts: 0}}, {step: b}"));
    sg_do(&fw, "a");
    sg_fail(&fw, "b");
    wf_check_status(&fw, "failed");
    CHECK_DONE(&fw.world, sg_requeue(&fw, "a", NULL));
    sg_undo(&fw, "a");
    wf_check_status(&fw, "failed");
    wf_check_steps(&fw, "a:rolled_back b:rolled_back");
    wf_close(&fw);
}

TEST(while_compensating_a_failed_compensation_cannot_be_requeued_yet)
{
    struct flow_world fw;
    wf_begin(&fw, FLOW(UNDO_ONCE("a") ", " UNDO_ONCE("b") ", {step: c}"));
    sg_do(&fw, "a");
    sg_do(&fw, "b");
    sg_fail(&fw, "c");
    fail_undo(&fw, "b");
    CHECK_INT(sg_requeue(&fw, "b", NULL), CAIRN_E_WRONG_STATE);
    CHECK_INT(sg_record(&fw, "b").is_open, 1);
    sg_undo_all(&fw, "a");
    CHECK_DONE(&fw.world, sg_requeue(&fw, "b", NULL));
    sg_undo_all(&fw, "b");
    wf_check_status(&fw, "failed");
    wf_close(&fw);
}

TEST(abort_while_a_requeued_compensation_runs_closes_all_records)
{
    struct flow_world fw;
    wf_begin(&fw, FLOW(UNDO_ONCE("a") ", " UNDO_ONCE("b") ", {step: c}"));
    sg_do(&fw, "a");
    sg_do(&fw, "b");
    sg_fail(&fw, "c");
    fail_undo(&fw, "b");
    fail_undo(&fw, "a");
    CHECK_DONE(&fw.world, sg_requeue(&fw, "a", NULL));
    CHECK_DONE(&fw.world, wf_abort(&fw));
    wf_check_status(&fw, "aborted");
    wf_check_steps(&fw, "a:failed b:failed c:rolled_back");
    CHECK_INT(sg_count_records(&fw), 0);
    wf_check_nothing_to_take(&fw);
    wf_close(&fw);
}

TEST(retry_of_a_failed_instance_closes_records_and_starts_forward_again)
{
    struct flow_world fw;
    wf_begin(&fw, FLOW(UNDO_ONCE("a") ", {step: b}"));
    sg_do(&fw, "a");
    sg_fail(&fw, "b");
    fail_undo(&fw, "a");
    struct record record = sg_record(&fw, "a");
    CHECK_DONE(&fw.world, wf_again(&fw));
    CHECK_INT(sg_count_records(&fw), 0);
    CHECK_INT(requeue_id(&fw, record.id), CAIRN_E_WRONG_STATE);
    wf_check_steps(&fw, "a:ready b:pending");
    sg_do(&fw, "a");
    sg_do(&fw, "b");
    wf_check_status(&fw, "completed");
    wf_close(&fw);
}
