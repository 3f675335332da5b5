/* tests/spec/test_floxy_events.c - what is written down of a saga: sections 6.4 and 9.7 of
 * floxy-engine.md.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "saga.h"

#define U(name) "{step: " name ", compensation: {handler: u" name "}}"

TEST(a_rollback_tells_all_of_it_in_order)
{
    struct flow_world fw;
    wf_begin(&fw, FLOW("{step: a, compensation: {handler: ua, max_attempts: 2, "
                       "retry: {backoff: fixed, base: 1s}}}, {step: b}, {step: c}"));
    sg_do(&fw, "a");
    struct task b = sg_take(&fw, "b");
    CHECK_DONE(&fw.world, wf_retry(&fw, &b, 0));
    sg_fail(&fw, "b");
    struct task undo = sg_take_undo(&fw, "a");
    CHECK_DONE(&fw.world, wf_report(&fw, &undo, CAIRN_FAIL, "not yet"));
    sg_check_event(
        &fw, "compensation_retry", "a",
        "{\"status\": \"compensation\", \"retry_count\": 1, \"error\": \"not yet\"}");
    wf_advance(&fw, SECOND_MS);
    sg_undo_all(&fw, "a");
    wf_check_events(&fw,
                    "workflow_started step_ready:a step_started:a step_completed:a "
                    "step_ready:b step_started:b step_retry:b step_started:b step_failed:b "
                    "workflow_compensating step_skipped:c compensation_success:b "
                    "compensation_started:a "
                    "step_started:a compensation_retry:a step_started:a "
                    "compensation_success:a workflow_failed");
    sg_check_event(&fw, "step_retry", "b",
                   "{\"retry_count\": 1, \"error\": \"later, please\"}");
    sg_check_event(&fw, "step_failed", "b",
                   "{\"status\": \"failed\", \"retry_count\": 2, \"error\": \"no good\"}");
    sg_check_event(&fw, "compensation_started", "a",
                   "{\"status\": \"compensation\", \"retry_count\": 0}");
    sg_check_event(&fw, "compensation_success", "a",
                   "{\"status\": \"rolled_back\", \"retry_count\": 1}");
    sg_check_event(&fw, "step_skipped", "c",
                   "{\"status\": \"skipped\", \"reason\": \"workflow_stopped\"}");
    sg_check_event(&fw, "workflow_failed", NULL, "{\"status\": \"failed\"}");
    wf_close(&fw);
}

TEST(an_exhausted_compensation_says_so)
{
    struct flow_world fw;
    wf_begin(&fw, FLOW("{step: a, compensation: {handler: ua, max_attempts: 1}}, {step: b}"));
    sg_do(&fw, "a");
    sg_fail(&fw, "b");
    struct task undo = sg_take_undo(&fw, "a");
    CHECK_DONE(&fw.world, wf_report(&fw, &undo, CAIRN_FAIL, "no"));
    sg_check_event(&fw, "compensation_max_retries_exceeded", "a",
                   "{\"status\": \"failed\", \"retry_count\": 1, \"error\": \"no\"}");
    wf_close(&fw);
}

TEST(a_cancel_tells_who_asked_and_why_and_what_was_stopped)
{
    struct flow_world fw;
    wf_begin(&fw, FLOW(U("a") ", {step: b}, {step: c}"));
    sg_do(&fw, "a");
    struct task b = sg_take(&fw, "b");
    CHECK_DONE(&fw.world, wf_cancel(&fw));
    sg_check_event(&fw, "cancellation_started", NULL,
                   "{\"status\": \"compensating\", \"requested_by\": \"ann\", "
                   "\"reason\": \"not needed\"}");
    sg_check_event(
        &fw, "step_failed", "b",
        "{\"step_name\": \"b\", \"reason\": \"workflow_stopped\", "
        "\"status\": \"skipped\", \"error\": \"Stopped due to workflow cancellation\"}");
    sg_check_late(&fw, &b);
    sg_undo_all(&fw, "a");
    sg_check_event(&fw, "workflow_cancelled", NULL,
                   "{\"requested_by\": \"ann\", \"reason\": \"not needed\"}");
    wf_check_events(&fw, "workflow_started step_ready:a step_started:a step_completed:a "
                         "step_ready:b step_started:b cancellation_started "
                         "workflow_compensating step_failed:b step_skipped:c "
                         "compensation_started:a step_started:a "
                         "compensation_success:a workflow_cancelled");
    wf_close(&fw);
}

TEST(an_abort_tells_who_asked_and_why_and_what_was_stopped)
{
    struct flow_world fw;
    wf_begin(&fw, FLOW(U("a") ", {step: b}"));
    sg_take(&fw, "a");
    CHECK_DONE(&fw.world, wf_abort(&fw));
    sg_check_event(
        &fw, "abort_started", NULL,
        "{\"status\": \"aborted\", \"requested_by\": \"bob\", \"reason\": \"hopeless\"}");
    sg_check_event(&fw, "step_failed", "a",
                   "{\"step_name\": \"a\", \"reason\": \"workflow_stopped\", "
                   "\"error\": \"Stopped due to workflow abort\"}");
    sg_check_event(&fw, "workflow_aborted", NULL,
                   "{\"requested_by\": \"bob\", \"reason\": \"hopeless\"}");
    wf_check_events(&fw, "workflow_started step_ready:a step_started:a abort_started "
                         "step_failed:a step_skipped:b workflow_aborted");
    wf_close(&fw);
}

TEST(parking_and_requeueing_are_told)
{
    struct flow_world fw;
    wf_begin(&fw, "{workflow: w, version: 1, dlq: true, steps: [{step: a}]}");
    sg_fail(&fw, "a");
    CHECK_DONE(&fw.world, sg_requeue(&fw, "a", NULL));
    sg_do(&fw, "a");
    wf_check_events(&fw, "workflow_started step_ready:a step_started:a step_failed:a "
                         "step_paused:a workflow_dlq dlq_requeued:a step_pending:a "
                         "workflow_running step_ready:a step_started:a "
                         "step_completed:a workflow_completed");
    sg_check_event(&fw, "step_paused", "a", "{\"status\": \"paused\", \"error\": \"no good\"}");
    wf_close(&fw);
}

TEST(a_decision_is_told_with_who_made_it)
{
    struct flow_world fw;
    wf_begin(&fw, FLOW("{human: h}, {step: a}"));
    CHECK_DONE(&fw.world, sg_decide(&fw, "h", true));
    wf_check_events(&fw, "workflow_started step_waiting:h human_decision:h step_completed:h "
                         "step_ready:a");
    wf_close(&fw);

    wf_begin(&fw, FLOW("{human: h}, {step: a}"));
    CHECK_DONE(&fw.world, sg_decide(&fw, "h", false));
    sg_check_event(
        &fw, "human_decision", "h",
        "{\"status\": \"rejected\", \"decision\": \"rejected\", \"decided_by\": \"ann\"}");
    sg_check_event(&fw, "workflow_aborted", NULL, "{\"requested_by\": \"ann\"}");
    wf_check_events(&fw, "workflow_started step_waiting:h human_decision:h step_skipped:a "
                         "workflow_aborted");
    wf_close(&fw);
}

TEST(a_fork_that_is_won_tells_who_lost)
{
    struct flow_world fw;
    wf_begin(&fw, FLOW("{fork: f, join: any, branches: [[{step: a}], [{step: b}]]}"));
    sg_do(&fw, "b");
    wf_check_events(&fw, "workflow_started step_completed:f step_ready:a step_ready:b "
                         "step_started:b step_completed:b step_skipped:a step_completed:f_join "
                         "workflow_completed");
    sg_check_event(&fw, "step_skipped", "a", "{\"reason\": \"superseded\"}");
    wf_close(&fw);
}

TEST(a_late_write_changes_nothing_not_even_an_event)
{
    struct flow_world fw;
    wf_begin(&fw,
             FLOW("{fork: f, join: any, branches: [[{step: a}], [{step: b}]]}, {step: c}"));
    struct task a = sg_take(&fw, "a");
    sg_do(&fw, "b");
    size_t started = wf_count_events(&fw, "step_started");
    size_t completed = wf_count_events(&fw, "step_completed");
    sg_check_stop(&fw, &a, "superseded");
    sg_check_late(&fw, &a);
    sg_check_late(&fw, &a);
    CHECK_INT(wf_count_events(&fw, "step_started"), started);
    CHECK_INT(wf_count_events(&fw, "step_completed"), completed);
    CHECK(!wf_step(&fw, "a")->output, "the late output was kept");
    wf_close(&fw);
}

/* ---- one status in a commit -------------------------------------------------------------------- */

TEST(a_cancel_with_nothing_to_undo_never_says_that_it_compensates)
{
    struct flow_world fw;
    wf_begin(&fw, FLOW("{step: a}, {step: b}"));
    CHECK_DONE(&fw.world, wf_cancel(&fw));
    wf_check_events(&fw, "workflow_started step_ready:a cancellation_started step_skipped:a "
                         "step_skipped:b workflow_cancelled");
    sg_check_event(&fw, "cancellation_started", NULL,
                   "{\"status\": \"cancelled\", \"requested_by\": \"ann\"}");
    wf_close(&fw);
}

TEST(a_cancel_that_rolls_back_without_a_handler_says_cancelled)
{
    struct flow_world fw;
    wf_begin(&fw, FLOW("{step: a}, {step: b}"));
    sg_do(&fw, "a");
    CHECK_DONE(&fw.world, wf_cancel(&fw));
    wf_check_events(&fw, "workflow_started step_ready:a step_started:a step_completed:a "
                         "step_ready:b cancellation_started step_skipped:b "
                         "compensation_success:a workflow_cancelled");
    sg_check_event(&fw, "cancellation_started", NULL, "{\"status\": \"cancelled\"}");
    wf_close(&fw);
}

TEST(a_wait_that_times_out_and_fails_the_instance_never_says_that_it_runs)
{
    struct flow_world fw;
    wf_begin(&fw, FLOW("{wait: w, event: e, timeout: 1s}, {step: a}"));
    wf_advance(&fw, SECOND_MS);
    wf_check_status(&fw, "failed");
    wf_check_events(&fw, "workflow_started step_waiting:w workflow_waiting step_failed:w "
                         "step_skipped:a workflow_failed");
    sg_check_event(&fw, "workflow_started", NULL, "{\"status\": \"waiting_signal\"}");
    wf_close(&fw);
}

TEST(an_instance_that_ends_in_the_commit_that_starts_it_says_only_how)
{
    struct flow_world fw;
    wf_begin(&fw, FLOW("{save_point: s}"));
    sg_check_event(&fw, "workflow_started", NULL, "{\"status\": \"completed\"}");
    wf_close(&fw);
    wf_begin(&fw, FLOW("{condition: c, when: '{{ .n }}', then: [" U("a") "]}"));
    wf_check_status(&fw, "failed");
    wf_check_events(&fw, "workflow_started step_failed:c step_skipped:a "
                         "compensation_success:c workflow_failed");
    sg_check_event(&fw, "workflow_started", NULL, "{\"status\": \"failed\"}");
    wf_close(&fw);
}

TEST(a_requeued_step_that_is_parked_again_at_once_never_says_that_it_runs)
{
    struct flow_world fw;
    wf_begin(&fw,
             "{workflow: w, version: 1, dlq: true, steps: [{condition: c, when: '{{ .n }}', "
             "then: [{step: a}]}]}");
    wf_check_status(&fw, "dlq");
    CHECK_DONE(&fw.world, sg_requeue(&fw, "c", NULL));
    wf_check_status(&fw, "dlq");
    CHECK_INT(wf_count_events(&fw, "workflow_running"), 0);
    wf_close(&fw);
}
