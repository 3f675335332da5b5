/* tests/spec/test_children.c - steps of workflows that start other workflows.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "family.h"

#define U(name) "{step: " name ", compensation: {handler: u" name "}}"
#define START "{start: s, workflow: child}"

/* The parent's first child, whose id is then in ret_id. */
static void find_child(struct flow_world *fw, char ret_id[40])
{
    fam_settle(fw);
    fam_child(fw, fw->id, 0, ret_id);
}

/* ---- forward -------------------------------------------------------------------------------- */

TEST(a_step_completes_with_the_output_of_its_child)
{
    struct flow_world fw;
    char child[40];
    fam_begin(&fw, "{step: a}, " START ", {step: b}", "{step: c}, {step: d}", NULL);
    sg_do(&fw, "a");
    find_child(&fw, child);
    CHECK_INT(fam_count(&fw, fw.id), 1);
    wf_check_steps(&fw, "a:completed s:waiting b:pending");
    wf_check_status(&fw, "running");
    wf_check_current(&fw, "s");
    struct task c = sg_take(&fw, "c");
    sg_check_json(c.input, "{\"by\": \"a\"}"); /* what arrives at the step */
    sg_complete(&fw, &c);
    sg_do(&fw, "d");
    struct task b = sg_take(&fw, "b");
    sg_check_json(b.input, "{\"by\": \"d\"}");
    fam_check(&fw, child, "completed", "c:completed d:completed");
    sg_complete(&fw, &b);
    wf_check_status(&fw, "completed");
    wf_close(&fw);
}

TEST(a_child_gets_input_key_tags_and_version_of_the_file)
{
    struct flow_world fw;
    char child[40];
    fam_begin(&fw,
              "{start: s, workflow: child, version: 1, input: {to: [1, \"{{ $.input.n }}\"]}, "
              "key: k1, "
              "tags: {team: red}}",
              "{step: c}", NULL);
    CHECK_DONE(&fw.world, wf_deploy(&fw, "{workflow: child, version: 2, steps: [{step: no}]}"));
    find_child(&fw, child);
    fam_go(&fw, child);
    sg_check_json(wf_instance(&fw)->input, "{\"to\": [1, 1]}");
    CHECK_STR(wf_instance(&fw)->key, "k1");
    sg_check_json(wf_instance(&fw)->tags, "{\"team\": \"red\"}");
    CHECK_INT(wf_instance(&fw)->version, 1);
    wf_close(&fw);
}

TEST(key_and_tags_of_a_child_are_made_by_expressions)
{
    struct flow_world fw;
    char child[40];
    fam_begin(&fw,
              "{step: a, output: {who: \"{{ .by }}\"}}, {start: s, workflow: child, input: {}, "
              "key: \"{{ .who }}-{{ $.input.n }}\", tags: {n: \"{{ $.input.n }}\", of: \"{{ "
              "$.steps.a.output.who }}\", team: red}}",
              "{step: c}", NULL);
    sg_do(&fw, "a");
    find_child(&fw, child);
    fam_go(&fw, child);
    CHECK_STR(wf_instance(&fw)->key, "a-1");
    sg_check_json(wf_instance(&fw)->tags, "{\"n\": \"1\", \"of\": \"a\", \"team\": \"red\"}");
    wf_close(&fw);
}

TEST(a_key_that_cannot_be_made_fails_the_step)
{
    struct flow_world fw;
    fam_begin(&fw, "{start: s, workflow: child, key: \"{{ .missing }}\"}", "{step: c}", NULL);
    fam_settle(&fw);
    wf_check_status(&fw, "failed");
    wf_check_last_error(&fw, "s", "key: it must be a text, not null, a list or an object", 1);
    wf_close(&fw);
    fam_begin(&fw, "{start: s, workflow: child, tags: {of: \"{{ .missing }}\"}}", "{step: c}",
              NULL);
    fam_settle(&fw);
    wf_check_status(&fw, "failed");
    wf_close(&fw);
}

TEST(a_child_that_is_not_waited_for_is_left_alone)
{
    struct flow_world fw;
    char child[40];
    fam_begin(&fw, "{start: s, workflow: child, wait: false}, {step: b}", "{step: c}", NULL);
    struct task b = sg_take(&fw, "b");
    CHECK_INT(sscanf(b.input, "{\"id\":%*[ ]\"%39[^\"]", child) == 1 ||
                  sscanf(b.input, "{\"id\":\"%39[^\"]", child) == 1,
              1);
    CHECK_INT(fam_count(&fw, fw.id), 0);
    CHECK_DONE(&fw.world, wf_cancel(&fw));
    sg_check_late(&fw, &b);
    wf_check_status(&fw, "cancelled");
    fam_check(&fw, child, "running", "c:ready");
    sg_do(&fw, "c");
    fam_check(&fw, child, "completed", "c:completed");
    wf_close(&fw);
}

/* Each end is told before the claim is answered, and what follows from it as well. */
TEST(a_long_chain_of_children_that_end_at_once_is_over_before_a_claim_is_answered)
{
    struct flow_world fw;
    char elements[2048] = "";
    for (int i = 0; i < 20; i++)
        snprintf(elements + strlen(elements), sizeof elements - strlen(elements),
                 "{start: s%d, workflow: child}, ", i);
    strcat(elements, "{step: last}");
    fam_begin(&fw, elements, "{save_point: p}", NULL);
    struct task last = sg_take(&fw, "last");
    CHECK_INT(fam_count(&fw, fw.id), 20);
    sg_complete(&fw, &last);
    wf_check_status(&fw, "completed");
    wf_close(&fw);
}

TEST(children_have_children)
{
    struct flow_world fw;
    char child[40], grandchild[40];
    fam_begin(&fw, START, "{start: t, workflow: grandchild}", "{step: g}");
    find_child(&fw, child);
    fam_child(&fw, child, 0, grandchild);
    sg_do(&fw, "g");
    fam_settle(&fw);
    fam_check(&fw, grandchild, "completed", "g:completed");
    fam_check(&fw, child, "completed", "t:completed");
    wf_check_status(&fw, "completed");
    sg_check_json(wf_instance(&fw)->output, "{\"by\": \"g\"}");
    wf_close(&fw);
}

TEST(a_workflow_that_starts_itself_fails_at_a_depth)
{
    struct flow_world fw;
    fam_begin(&fw, "{start: s, workflow: w}", NULL, NULL);
    for (int i = 0; i < 12; i++)
        fam_settle(&fw);
    wf_check_status(&fw, "failed");
    wf_check_last_error(
        &fw, "s", "cannot start workflow \"w\": children are nested more than 32 deep", 1);
    wf_close(&fw);
}

TEST(a_parent_says_which_child_it_waits_for_and_why)
{
    struct flow_world fw;
    char child[40], wanted[200];
    cairn_page *page;
    fam_begin(&fw, START, "{human: h}", NULL);
    find_child(&fw, child);
    CHECK_DONE(&fw.world, cairn_instance_why(fw.world.engine, fw.id, &page, &fw.world.error));
    snprintf(wanted, sizeof wanted, "Waits for child %s: Waits for a person to decide.", child);
    CHECK_STR(cairn_page_why(page, 0)->code, "child");
    CHECK_STR(cairn_page_why(page, 0)->text, wanted);
    CHECK_STR(cairn_page_why(page, 0)->urgency, "person");
    cairn_page_free(page);
    wf_close(&fw);
}

TEST(an_instance_without_a_parent_is_told_from_children_in_lists)
{
    struct flow_world fw;
    cairn_instance_filter filter = CAIRN_INSTANCE_FILTER_DEFAULTS;
    cairn_page *page;
    fam_begin(&fw, START, "{human: h}", NULL);
    filter.parent = "none";
    CHECK_DONE(&fw.world,
               cairn_instance_list(fw.world.engine, &filter, &page, &fw.world.error));
    CHECK_INT(cairn_page_count(page), 1);
    CHECK_STR(cairn_page_instance(page, 0)->id, fw.id);
    cairn_page_free(page);
    filter.parent = "nobody";
    CHECK_INT(cairn_instance_list(fw.world.engine, &filter, &page, &fw.world.error),
              CAIRN_E_BAD_INPUT);
    wf_close(&fw);
}

/* ---- failure -------------------------------------------------------------------------------- */

TEST(a_step_fails_when_its_child_does)
{
    struct flow_world fw;
    fam_begin(&fw, U("a") ", " START, "{step: c}", NULL);
    sg_do(&fw, "a");
    sg_fail(&fw, "c");
    sg_undo_all(&fw, "a");
    wf_check_status(&fw, "failed");
    wf_check_steps(&fw, "a:rolled_back s:rolled_back");
    wf_check_last_error(&fw, "s", "no good", 1);
    wf_close(&fw);
}

TEST(a_child_that_is_cancelled_or_aborted_fails_the_step_with_that_word)
{
    for (int i = 0; i < 2; i++) {
        struct flow_world fw;
        char child[40], parent[40];
        fam_begin(&fw, START, "{step: c}", NULL);
        find_child(&fw, child);
        snprintf(parent, sizeof parent, "%s", fw.id);
        fam_go(&fw, child);
        CHECK_DONE(&fw.world, i ? wf_abort(&fw) : wf_cancel(&fw));
        fam_go(&fw, parent);
        fam_settle(&fw);
        wf_check_status(&fw, "failed");
        wf_check_last_error(&fw, "s", i ? "aborted" : "cancelled", 1);
        wf_close(&fw);
    }
}

TEST(a_workflow_that_does_not_exist_fails_the_step)
{
    struct flow_world fw;
    fam_begin(&fw, "{start: s, workflow: nobody, on_failure: continue}, {step: b}", NULL, NULL);
    sg_do(&fw, "b");
    wf_check_status(&fw, "completed");
    wf_check_steps(&fw, "s:skipped b:completed");
    CHECK_STR(wf_step(&fw, "s")->error, "workflow \"nobody\" does not exist");
    wf_close(&fw);
}

TEST(a_key_of_another_instance_fails_the_step)
{
    struct flow_world fw;
    cairn_start_options options = CAIRN_START_DEFAULTS;
    char first[40];
    fam_begin(&fw, "{step: a}, {start: s, workflow: child, key: k}", "{step: c}", NULL);
    snprintf(first, sizeof first, "%s", fw.id);
    options.workflow = "child";
    options.key = "k";
    CHECK_DONE(&fw.world, wf_start(&fw, &options, NULL));
    fam_go(&fw, first);
    sg_do(&fw, "a");
    fam_settle(&fw);
    wf_check_status(&fw, "failed");
    wf_close(&fw);
}

TEST(while_a_child_is_paused_or_parked_its_parent_waits)
{
    struct flow_world fw;
    char child[40], parent[40];
    wf_open(&fw);
    CHECK_DONE(&fw.world,
               wf_deploy(&fw, "{workflow: child, version: 1, dlq: true, steps: [{step: c}]}"));
    CHECK_DONE(&fw.world, wf_deploy(&fw, FLOW(START)));
    cairn_start_options options = CAIRN_START_DEFAULTS;
    options.workflow = "w";
    CHECK_DONE(&fw.world, wf_start(&fw, &options, NULL));
    find_child(&fw, child);
    snprintf(parent, sizeof parent, "%s", fw.id);
    fam_go(&fw, child);
    CHECK_DONE(&fw.world, wf_pause(&fw));
    fam_settle(&fw);
    fam_check(&fw, parent, "running", "s:waiting");
    CHECK_DONE(&fw.world, wf_resume(&fw));
    sg_fail(&fw, "c");
    fam_settle(&fw);
    wf_check_status(&fw, "dlq");
    fam_check(&fw, parent, "running", "s:waiting");
    CHECK_DONE(&fw.world, sg_requeue(&fw, "c", NULL));
    sg_do(&fw, "c");
    fam_settle(&fw);
    fam_check(&fw, parent, "completed", "s:completed");
    wf_close(&fw);
}

TEST(a_failed_parent_starts_another_child_at_retry)
{
    struct flow_world fw;
    char second[40];
    fam_begin(&fw, "{start: s, workflow: child, key: k}", "{step: c}", NULL);
    sg_fail(&fw, "c");
    fam_settle(&fw);
    wf_check_status(&fw, "failed");
    CHECK_DONE(&fw.world, wf_again(&fw));
    sg_do(&fw, "c");
    fam_settle(&fw);
    wf_check_status(&fw, "completed");
    CHECK_INT(fam_count(&fw, fw.id), 2);
    fam_child(&fw, fw.id, 1, second);
    fam_go(&fw, second);
    CHECK_STR(wf_instance(&fw)->key, "k~2"); /* another effect */
    wf_close(&fw);
}

TEST(a_parent_that_fails_lets_its_child_end_and_keeps_the_result)
{
    struct flow_world fw;
    char child[40];
    fam_begin(&fw, "{fork: f, join: all, branches: [[" START "], [{step: b}]]}", "{step: c}",
              NULL);
    find_child(&fw, child);
    sg_fail(&fw, "b");
    fam_settle(&fw);
    wf_check_status(&fw, "running");
    sg_do(&fw, "c");
    fam_settle(&fw);
    wf_check_status(&fw, "failed");
    wf_check_steps(&fw, "f:completed s:completed b:failed f_join:skipped");
    fam_check(&fw, child, "completed", "c:completed");
    wf_close(&fw);
}

TEST(a_parent_that_is_rolled_back_cancels_its_child_first)
{
    struct flow_world fw;
    char child[40];
    fam_begin(&fw, U("a") ", {fork: f, join: all, branches: [[" START "], [{step: b}]]}",
              U("c") ", {step: d}", NULL);
    sg_do(&fw, "a");
    find_child(&fw, child);
    sg_do(&fw, "c");
    sg_fail(&fw, "b");
    wf_check_status(&fw, "compensating");
    sg_undo_all(&fw, "c a");
    wf_check_status(&fw, "failed");
    wf_check_steps(&fw, "a:rolled_back f:rolled_back s:skipped b:rolled_back f_join:skipped");
    fam_check(&fw, child, "cancelled", "c:rolled_back d:skipped");
    wf_close(&fw);
}

TEST(the_child_of_a_branch_that_lost_is_cancelled)
{
    struct flow_world fw;
    char child[40];
    fam_begin(&fw, "{fork: f, join: any, branches: [[" START "], [{step: b}]]}, {step: z}",
              U("c") ", {step: d}", NULL);
    find_child(&fw, child);
    sg_do(&fw, "c");
    sg_do(&fw, "b");
    sg_do(&fw, "z");
    wf_check_status(&fw, "completed");
    fam_go(&fw, child);
    sg_undo(&fw, "c");
    fam_check(&fw, child, "cancelled", "c:rolled_back d:skipped");
    wf_close(&fw);
}

/* ---- pause ---------------------------------------------------------------------------------- */

TEST(a_paused_parent_does_not_pause_its_child_whose_end_takes_effect_at_resume)
{
    struct flow_world fw;
    char child[40];
    fam_begin(&fw, START ", {step: b}", "{step: c}", NULL);
    find_child(&fw, child);
    CHECK_DONE(&fw.world, wf_pause(&fw));
    sg_do(&fw, "c");
    fam_settle(&fw);
    fam_check(&fw, child, "completed", "c:completed");
    wf_check_steps(&fw, "s:waiting b:pending");
    CHECK_DONE(&fw.world, wf_resume(&fw));
    struct task b = sg_take(&fw, "b");
    sg_check_json(b.input, "{\"by\": \"c\"}");
    wf_close(&fw);
}

TEST(a_child_that_failed_while_its_parent_was_paused_fails_it_at_resume)
{
    struct flow_world fw;
    fam_begin(&fw, START, "{step: c}", NULL);
    fam_settle(&fw);
    CHECK_DONE(&fw.world, wf_pause(&fw));
    sg_fail(&fw, "c");
    fam_settle(&fw);
    wf_check_status(&fw, "paused");
    CHECK_DONE(&fw.world, wf_resume(&fw));
    wf_check_status(&fw, "failed");
    wf_close(&fw);
}

TEST(a_parent_that_was_paused_before_the_start_starts_its_child_at_resume)
{
    struct flow_world fw;
    fam_begin(&fw, "{step: a}, " START, "{step: c}", NULL);
    struct task a = sg_take(&fw, "a");
    CHECK_DONE(&fw.world, wf_pause(&fw));
    sg_complete(&fw, &a);
    fam_settle(&fw);
    CHECK_INT(fam_count(&fw, fw.id), 0);
    CHECK_DONE(&fw.world, wf_resume(&fw));
    sg_do(&fw, "c");
    fam_settle(&fw);
    wf_check_status(&fw, "completed");
    wf_close(&fw);
}

/* ---- cancel and abort ----------------------------------------------------------------------- */

TEST(a_cancelled_parent_cancels_its_child_and_waits_for_its_undo)
{
    struct flow_world fw;
    char child[40];
    fam_begin(&fw, U("a") ", " START, U("c") ", {step: d}", NULL);
    sg_do(&fw, "a");
    sg_do(&fw, "c");
    find_child(&fw, child);
    CHECK_DONE(&fw.world, wf_cancel(&fw));
    wf_check_status(&fw, "compensating");
    sg_undo_all(&fw, "c a");
    wf_check_status(&fw, "cancelled");
    wf_check_steps(&fw, "a:rolled_back s:skipped");
    fam_check(&fw, child, "cancelled", "c:rolled_back d:skipped");
    wf_close(&fw);
}

TEST(a_child_that_had_just_completed_is_rolled_back_by_a_cancel)
{
    struct flow_world fw;
    char child[40];
    fam_begin(&fw, START ", {step: b}", U("c"), NULL);
    find_child(&fw, child);
    struct task c = sg_take(&fw, "c");
    CHECK_DONE(&fw.world, wf_pause(&fw));
    sg_complete(&fw, &c); /* the parent is told, and cannot go on */
    fam_settle(&fw);
    CHECK_DONE(&fw.world, wf_cancel(&fw));
    sg_undo_all(&fw, "c");
    wf_check_status(&fw, "cancelled");
    wf_check_steps(&fw, "s:rolled_back b:skipped");
    fam_check(&fw, child, "cancelled", "c:rolled_back");
    wf_close(&fw);
}

TEST(an_aborted_parent_aborts_its_child)
{
    struct flow_world fw;
    char child[40];
    fam_begin(&fw, START, U("c") ", {step: d}", NULL);
    sg_do(&fw, "c");
    find_child(&fw, child);
    CHECK_DONE(&fw.world, wf_abort(&fw));
    fam_settle(&fw);
    wf_check_status(&fw, "aborted");
    fam_check(&fw, child, "aborted", "c:completed d:skipped");
    wf_check_nothing_to_take(&fw);
    wf_close(&fw);
}

TEST(a_restart_leaves_the_child_behind_aborted_and_starts_another)
{
    struct flow_world fw;
    char child[40], second[40];
    fam_begin(&fw, START, U("c") ", {step: d}", NULL);
    sg_do(&fw, "c");
    find_child(&fw, child);
    CHECK_DONE(&fw.world, wf_restart(&fw));
    fam_settle(&fw);
    fam_check(&fw, child, "aborted", "c:completed d:skipped");
    sg_do(&fw, "c");
    sg_do(&fw, "d");
    fam_settle(&fw);
    wf_check_status(&fw, "completed");
    fam_child(&fw, fw.id, 1, second);
    fam_check(&fw, second, "completed", "c:completed d:completed");
    CHECK_INT(fam_count(&fw, fw.id), 2);
    wf_close(&fw);
}

/* ---- undo ----------------------------------------------------------------------------------- */

TEST(undoing_a_completed_child_step_rolls_the_child_back)
{
    struct flow_world fw;
    char child[40];
    fam_begin(&fw, U("a") ", " START ", {step: b}", U("c") ", {save_point: p}, " U("d"), NULL);
    sg_do(&fw, "a");
    sg_do(&fw, "c");
    sg_do(&fw, "d");
    sg_fail(&fw, "b");
    find_child(&fw, child);
    fam_check(&fw, child, "compensating", "c:completed p:completed d:compensation");
    wf_check_steps(&fw, "a:completed s:compensation b:rolled_back");
    sg_undo_all(&fw, "d c a"); /* all of it, and then what was before */
    wf_check_status(&fw, "failed");
    wf_check_steps(&fw, "a:rolled_back s:rolled_back b:rolled_back");
    fam_check(&fw, child, "cancelled", "c:rolled_back p:rolled_back d:rolled_back");
    fam_go(&fw, child);
    CHECK_INT(wf_instance(&fw)->generation, 2);
    wf_close(&fw);
}

TEST(a_step_with_a_compensation_of_its_own_leaves_its_child_done)
{
    struct flow_world fw;
    char child[40];
    fam_begin(&fw, "{start: s, workflow: child, compensation: {handler: us}}, {step: b}",
              U("c"), NULL);
    sg_do(&fw, "c");
    sg_fail(&fw, "b");
    struct task undo = sg_take_undo(&fw, "s");
    sg_check_json(undo.input, "{\"input\": {\"n\": 1}, \"output\": {\"by\": \"c\"}}");
    sg_complete(&fw, &undo);
    wf_check_status(&fw, "failed");
    wf_check_nothing_to_take(&fw);
    find_child(&fw, child);
    fam_check(&fw, child, "completed", "c:completed");
    wf_close(&fw);
}

TEST(an_undo_goes_down_to_grandchildren)
{
    struct flow_world fw;
    char child[40], grandchild[40];
    fam_begin(&fw, START ", {step: b, on_failure: compensate}",
              U("c") ", {start: t, workflow: grandchild}, " U("d"), U("g"));
    sg_do(&fw, "c");
    sg_do(&fw, "g");
    sg_do(&fw, "d");
    find_child(&fw, child);
    fam_child(&fw, child, 0, grandchild);
    sg_fail(&fw, "b");
    sg_undo_all(&fw, "d g c");
    wf_check_status(&fw, "failed");
    fam_check(&fw, child, "cancelled", "c:rolled_back t:rolled_back d:rolled_back");
    fam_check(&fw, grandchild, "cancelled", "g:rolled_back");
    wf_close(&fw);
}

TEST(a_child_that_cannot_be_undone_makes_child_and_step_failed)
{
    struct flow_world fw;
    char child[40], parent[40];
    fam_begin(&fw, U("a") ", " START ", {step: b}",
              "{step: c, compensation: {handler: uc, max_attempts: 1}}", NULL);
    sg_do(&fw, "a");
    sg_do(&fw, "c");
    find_child(&fw, child);
    sg_fail(&fw, "b");
    struct task undo = sg_take_undo(&fw, "c");
    CHECK_DONE(&fw.world, wf_report(&fw, &undo, CAIRN_FAIL, "stuck"));
    sg_undo_all(&fw, "a");
    wf_check_status(&fw, "failed");
    wf_check_steps(&fw, "a:rolled_back s:failed b:rolled_back");
    fam_check(&fw, child, "failed", "c:failed");

    /* The step can be undone once its child has been. */
    snprintf(parent, sizeof parent, "%s", fw.id);
    CHECK_DONE(&fw.world, sg_requeue(&fw, "s", NULL));
    fam_settle(&fw);
    wf_check_steps(&fw, "a:rolled_back s:failed b:rolled_back");
    fam_go(&fw, child);
    CHECK_DONE(&fw.world, sg_requeue(&fw, "c", NULL));
    sg_undo(&fw, "c");
    wf_check_status(&fw, "cancelled");
    fam_go(&fw, parent);
    CHECK_DONE(&fw.world, sg_requeue(&fw, "s", NULL));
    fam_settle(&fw);
    wf_check_steps(&fw, "a:rolled_back s:rolled_back b:rolled_back");
    wf_check_status(&fw, "failed");
    wf_close(&fw);
}

TEST(only_the_child_of_the_latest_run_of_a_step_is_rolled_back)
{
    struct flow_world fw;
    char first[40], second[40];
    fam_begin(&fw, START ", {step: b}", U("c"), NULL);
    sg_do(&fw, "c");
    struct task b = sg_take(&fw, "b");
    CHECK_DONE(&fw.world, wf_restart(&fw)); /* undoes nothing */
    sg_check_late(&fw, &b);
    sg_do(&fw, "c");
    fam_settle(&fw);
    fam_child(&fw, fw.id, 0, first);
    fam_child(&fw, fw.id, 1, second);
    CHECK_DONE(&fw.world, wf_cancel(&fw));
    sg_undo_all(&fw, "c");
    fam_check(&fw, first, "completed", "c:completed");
    fam_check(&fw, second, "cancelled", "c:rolled_back");
    wf_close(&fw);
}

/* Between the end of its undo and the commit in which the parent is told, a child can be restarted. */
TEST(a_child_that_is_restarted_before_its_parent_knows_of_the_undo_is_undone_again)
{
    struct flow_world fw;
    char child[40], parent[40];
    fam_begin(&fw, U("a") ", " START ", {step: b}", U("c"), NULL);
    snprintf(parent, sizeof parent, "%s", fw.id);
    sg_do(&fw, "a");
    sg_do(&fw, "c");
    find_child(&fw, child);
    sg_fail(&fw, "b");
    sg_undo(&fw, "c");
    fam_go(&fw, child);
    CHECK_DONE(&fw.world, wf_restart(&fw));
    sg_do(&fw, "c");
    fam_settle(&fw);
    fam_check(&fw, child, "compensating", "c:compensation");
    fam_check(&fw, parent, "compensating", "a:completed s:compensation b:rolled_back");
    fam_go(&fw, parent);
    sg_undo_all(&fw, "c a");
    fam_check(&fw, child, "cancelled", "c:rolled_back");
    fam_check(&fw, parent, "failed", "a:rolled_back s:rolled_back b:rolled_back");
    wf_close(&fw);
}

TEST(an_abort_during_the_undo_aborts_the_child)
{
    struct flow_world fw;
    char child[40];
    fam_begin(&fw, START ", {step: b, on_failure: compensate}", U("c"), NULL);
    sg_do(&fw, "c");
    sg_fail(&fw, "b");
    find_child(&fw, child);
    wf_check_steps(&fw, "s:compensation b:rolled_back");
    CHECK_DONE(&fw.world, wf_abort(&fw));
    fam_settle(&fw);
    wf_check_status(&fw, "aborted");
    fam_check(&fw, child, "aborted", "c:failed");
    wf_check_nothing_to_take(&fw);
    wf_close(&fw);
}
