/* tests/spec/test_floxy_human.c - steps that a person decides about: section 8 of floxy-engine.md,
 * and "Human steps", "Waiting" and "Paused" of the design.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "saga.h"

TEST(a_human_step_waits_without_a_worker_and_the_instance_is_running)
{
    struct flow_world fw;
    wf_begin(&fw, FLOW("{step: a}, {human: h}, {step: b}"));
    sg_do(&fw, "a");
    wf_check_steps(&fw, "a:completed h:waiting_decision b:pending");
    wf_check_status(&fw, "running");
    wf_check_current(&fw, "h");
    wf_check_nothing_to_take(&fw);
    wf_advance(&fw, 1000 * HOUR_MS);
    wf_check_steps(&fw, "a:completed h:waiting_decision b:pending");
    wf_close(&fw);
}

TEST(approval_starts_the_next_step_in_the_same_commit_with_the_same_input_and_once)
{
    struct flow_world fw;
    struct task tasks[3];
    wf_begin(&fw, FLOW("{step: a}, {human: h}, {step: b}"));
    sg_do(&fw, "a");
    CHECK_DONE(&fw.world, sg_decide(&fw, "h", true));
    wf_check_steps(&fw, "a:completed h:confirmed b:ready");
    CHECK_INT(sg_decide(&fw, "h", true), CAIRN_E_WRONG_STATE);
    CHECK_INT(sg_decide(&fw, "h", false), CAIRN_E_WRONG_STATE);
    CHECK_INT(wf_take_many(&fw, "w", "%", 3, tasks), 1);
    CHECK_STR(tasks[0].step, "b");
    sg_check_json(tasks[0].input, "{\"by\": \"a\"}");
    sg_complete(&fw, &tasks[0]);
    wf_check_status(&fw, "completed");
    wf_close(&fw);
}

TEST(rejection_aborts_the_instance_and_nothing_more_is_executed_or_undone)
{
    struct flow_world fw;
    wf_begin(&fw, FLOW("{step: a, compensation: {handler: ua}}, {human: h}, {step: b}"));
    sg_do(&fw, "a");
    CHECK_DONE(&fw.world, sg_decide(&fw, "h", false));
    wf_check_status(&fw, "aborted");
    wf_check_steps(&fw, "a:completed h:rejected b:skipped");
    wf_check_nothing_to_take(&fw);
    CHECK_INT(sg_decide(&fw, "h", true), CAIRN_E_WRONG_STATE);
    wf_close(&fw);
}

TEST(rejection_stops_running_siblings)
{
    struct flow_world fw;
    wf_begin(&fw,
             FLOW("{fork: f, join: all, branches: [[{human: h}], [{step: a}, {step: b}]]}"));
    struct task a = sg_take(&fw, "a");
    CHECK_DONE(&fw.world, sg_decide(&fw, "h", false));
    wf_check_status(&fw, "aborted");
    wf_check_steps(&fw, "f:completed h:rejected a:skipped b:skipped f_join:skipped");
    sg_check_stop(&fw, &a, "aborted");
    sg_check_late(&fw, &a);
    wf_close(&fw);
}

TEST(every_decision_is_kept_with_who_made_it_and_when)
{
    struct flow_world fw;
    long long count = 0;
    wf_begin(&fw, FLOW("{human: h}"));
    wf_advance(&fw, 5000);
    CHECK_DONE(&fw.world, sg_decide(&fw, "h", true));
    sg_check_event(
        &fw, "human_decision", "h",
        "{\"decision\": \"confirmed\", \"decided_by\": \"ann\", \"comment\": \"well\"}");
    if (wf_sql(&fw,
               "SELECT count(*) FROM {workflow_human_decision} WHERE step_name = 'h' "
               "AND decided_by = 'ann' AND decision = 'confirmed' AND comment = 'well' "
               "AND decided_at IS NOT NULL",
               &count))
        CHECK_INT(count, 1);
    wf_close(&fw);
}

TEST(a_decision_needs_somebody_a_step_that_waits_and_an_instance)
{
    struct flow_world fw;
    wf_begin(&fw, FLOW("{step: a}, {human: h}"));
    cairn_engine *engine = fw.world.engine;
    CHECK_INT(sg_decide(&fw, "h", true), CAIRN_E_WRONG_STATE); /* not yet */
    CHECK_INT(sg_decide(&fw, "a", true), CAIRN_E_WRONG_STATE);
    CHECK_INT(sg_decide(&fw, "nobody", true), CAIRN_E_NOT_FOUND);
    CHECK_INT(cairn_instance_decide(engine, "nobody", "h", 1, "ann", NULL, NULL),
              CAIRN_E_NOT_FOUND);
    sg_do(&fw, "a");
    CHECK_INT(cairn_instance_decide(engine, fw.id, "h", 1, "", NULL, NULL), CAIRN_E_BAD_INPUT);
    CHECK_INT(cairn_instance_decide(engine, fw.id, "h", 1, NULL, NULL, NULL),
              CAIRN_E_BAD_INPUT);
    CHECK_INT(cairn_instance_decide(engine, fw.id, NULL, 1, "ann", NULL, NULL),
              CAIRN_E_BAD_INPUT);
    CHECK_INT(cairn_instance_decide(engine, NULL, "h", 1, "ann", NULL, NULL),
              CAIRN_E_BAD_INPUT);
    CHECK_DONE(&fw.world,
               cairn_instance_decide(engine, fw.id, "h", 1, "ann", NULL, &fw.world.error));
    wf_check_status(&fw, "completed");
    wf_close(&fw);
}

TEST(a_timeout_fails_the_step_and_then_a_decision_is_too_late)
{
    struct flow_world fw;
    wf_begin(&fw, FLOW("{step: a, compensation: {handler: ua}}, {human: h, timeout: 1h}"));
    sg_do(&fw, "a");
    CHECK_INT(wf_step(&fw, "h")->deadline_at_us, START_US + HOUR_MS * 1000);
    wf_advance(&fw, HOUR_MS - 1);
    wf_check_steps(&fw, "a:completed h:waiting_decision");
    wf_advance(&fw, 1); /* at now >= deadline */
    wf_check_status(&fw, "compensating");
    CHECK_STR(wf_step(&fw, "h")->error, "DECISION_TIMEOUT");
    CHECK_INT(sg_decide(&fw, "h", true), CAIRN_E_WRONG_STATE);
    sg_undo_all(&fw, "a");
    wf_check_status(&fw, "failed");
    wf_close(&fw);
}

TEST(on_timeout_continue_skips_the_step_and_passes_its_input_on)
{
    struct flow_world fw;
    wf_begin(&fw, FLOW("{human: h, timeout: 1h, on_timeout: continue}, {step: a}"));
    wf_advance(&fw, HOUR_MS);
    wf_check_steps(&fw, "h:skipped a:ready");
    sg_check_json(sg_take(&fw, "a").input, "{\"n\": 1}");
    wf_close(&fw);
}

TEST(a_decision_before_the_deadline_wins)
{
    struct flow_world fw;
    wf_begin(&fw, FLOW("{human: h, timeout: 1h}, {step: a}"));
    wf_advance(&fw, HOUR_MS - 1);
    CHECK_DONE(&fw.world, sg_decide(&fw, "h", true));
    wf_advance(&fw, HOUR_MS);
    wf_check_steps(&fw, "h:confirmed a:ready");
    wf_close(&fw);
}

TEST(while_paused_an_approval_is_recorded_and_applied_at_resume)
{
    struct flow_world fw;
    wf_begin(&fw, FLOW("{human: h}, {step: a}"));
    CHECK_DONE(&fw.world, wf_pause(&fw));
    CHECK_DONE(&fw.world, sg_decide(&fw, "h", true));
    wf_check_steps(&fw, "h:confirmed a:pending");
    wf_check_status(&fw, "paused");
    CHECK_INT(sg_decide(&fw, "h", false), CAIRN_E_WRONG_STATE);
    CHECK_DONE(&fw.world, wf_resume(&fw));
    wf_check_steps(&fw, "h:confirmed a:ready");
    wf_close(&fw);
}

TEST(while_paused_a_rejection_aborts)
{
    struct flow_world fw;
    wf_begin(&fw, FLOW("{human: h}, {step: a}"));
    CHECK_DONE(&fw.world, wf_pause(&fw));
    CHECK_DONE(&fw.world, sg_decide(&fw, "h", false));
    wf_check_status(&fw, "aborted");
    wf_check_steps(&fw, "h:rejected a:skipped");
    wf_close(&fw);
}

TEST(a_timeout_while_paused_is_applied_in_resumes_commit)
{
    struct flow_world fw;
    wf_begin(&fw, FLOW("{human: h, timeout: 1h}, {step: a}"));
    CHECK_DONE(&fw.world, wf_pause(&fw));
    wf_advance(&fw, 2 * HOUR_MS);
    wf_check_steps(&fw, "h:waiting_decision a:pending");
    CHECK_DONE(&fw.world, wf_resume(&fw));
    wf_check_status(&fw, "failed");
    wf_check_steps(&fw, "h:failed a:skipped");
    wf_close(&fw);
}

TEST(a_decision_taken_by_a_step_that_is_reset_counts_as_not_taken)
{
    struct flow_world fw;
    wf_begin(&fw, FLOW("{human: h}, {step: a}"));
    CHECK_DONE(&fw.world, sg_decide(&fw, "h", true));
    CHECK_DONE(&fw.world, wf_restart(&fw));
    wf_check_steps(&fw, "h:waiting_decision a:pending");
    CHECK_DONE(&fw.world, sg_decide(&fw, "h", true));
    sg_do(&fw, "a");
    wf_check_status(&fw, "completed");
    wf_close(&fw);
}

TEST(a_rejected_instance_can_be_restarted)
{
    struct flow_world fw;
    wf_begin(&fw, FLOW("{human: h}, {step: a}"));
    CHECK_DONE(&fw.world, sg_decide(&fw, "h", false));
    CHECK_DONE(&fw.world, wf_restart(&fw));
    wf_check_status(&fw, "running");
    wf_check_steps(&fw, "h:waiting_decision a:pending");
    CHECK_INT(wf_instance(&fw)->generation, 2);
    wf_close(&fw);
}

/* ---- what was decided ------------------------------------------------------------------------ */

static cairn_page *decisions_of(struct flow_world *fw, const char *cursor, uint32_t limit)
{
    cairn_page *decisions = NULL;
    CHECK_DONE(&fw->world, cairn_instance_decisions(fw->world.engine, fw->id, cursor, limit,
                                                    &decisions, &fw->world.error));
    return decisions;
}

TEST(what_was_decided_is_listed_with_its_instance)
{
    struct flow_world fw;
    wf_begin(&fw, FLOW("{human: h1}, {human: h2}, {step: z}"));
    cairn_page *none = decisions_of(&fw, NULL, 10);
    CHECK_INT(cairn_page_count(none), 0);
    CHECK(!cairn_page_decision(none, 0), "there is one");
    cairn_page_free(none);

    wf_advance(&fw, 1000);
    CHECK_DONE(&fw.world, cairn_instance_decide(fw.world.engine, fw.id, "h1", 1, "ann",
                                                "looks \"fine\"", &fw.world.error));
    CHECK_DONE(&fw.world, cairn_instance_decide(fw.world.engine, fw.id, "h2", 0, "bob", NULL,
                                                &fw.world.error));
    cairn_page *first = decisions_of(&fw, NULL, 1);
    CHECK_INT(cairn_page_count(first), 1);
    const cairn_decision *decision = cairn_page_decision(first, 0);
    CHECK_STR(decision->step, "h1");
    CHECK_STR(decision->decision, "confirmed");
    CHECK_STR(decision->by, "ann");
    CHECK_STR(decision->comment, "looks \"fine\"");
    CHECK_INT(decision->at_us, START_US + 1000 * 1000);
    CHECK(cairn_page_next(first), "there is no next page");
    cairn_page *second = decisions_of(&fw, cairn_page_next(first), 1);
    CHECK_INT(cairn_page_count(second), 1);
    CHECK(!cairn_page_next(second), "there is another page");
    decision = cairn_page_decision(second, 0);
    CHECK_STR(decision->step, "h2");
    CHECK_STR(decision->decision, "rejected");
    CHECK_STR(decision->by, "bob");
    CHECK(!decision->comment, "the comment is %s", decision->comment);
    cairn_page_free(first);
    cairn_page_free(second);
    wf_close(&fw);
}

TEST(a_step_that_was_decided_again_has_both_decisions)
{
    struct flow_world fw;
    wf_begin(&fw, FLOW("{human: h}"));
    CHECK_DONE(&fw.world, cairn_instance_decide(fw.world.engine, fw.id, "h", 1, "ann", NULL,
                                                &fw.world.error));
    CHECK_DONE(&fw.world, wf_restart(&fw));
    CHECK_DONE(&fw.world, cairn_instance_decide(fw.world.engine, fw.id, "h", 0, "bob", NULL,
                                                &fw.world.error));
    cairn_page *both = decisions_of(&fw, NULL, 10);
    CHECK_INT(cairn_page_count(both), 2);
    CHECK_STR(cairn_page_decision(both, 1)->by, "bob");
    cairn_page_free(both);
    wf_close(&fw);
}

TEST(decisions_of_an_instance_that_does_not_exist_are_not_found)
{
    struct flow_world fw;
    cairn_page *decisions = NULL;
    wf_open(&fw);
    CHECK_REFUSED(&fw.world,
                  cairn_instance_decisions(fw.world.engine,
                                           "00000000-0000-4000-8000-000000000001", NULL, 10,
                                           &decisions, &fw.world.error),
                  CAIRN_E_NOT_FOUND);
    CHECK_REFUSED(&fw.world,
                  cairn_instance_decisions(fw.world.engine,
                                           "00000000-0000-4000-8000-000000000001", "x", 10,
                                           &decisions, &fw.world.error),
                  CAIRN_E_BAD_INPUT);
    wf_close(&fw);
}
