/* tests/spec/test_floxy_fork.c - parallel, fork and join: section 7 of floxy-engine.md, and "Forks"
 * of the design.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "saga.h"

TEST(every_branch_gets_the_forks_input)
{
    struct flow_world fw;
    wf_begin(&fw,
             FLOW("{step: z}, {fork: f, join: all, branches: [[{step: a}], [{step: b}]]}"));
    sg_do(&fw, "z");
    struct task a = sg_take(&fw, "a"), b = sg_take(&fw, "b");
    sg_check_json(a.input, "{\"by\": \"z\"}");
    sg_check_json(b.input, "{\"by\": \"z\"}");
    wf_check_current(&fw, "a b");
    wf_close(&fw);
}

TEST(join_all_waits_for_every_branch_and_hands_on_what_they_gave)
{
    struct flow_world fw;
    wf_begin(&fw,
             FLOW("{fork: f, join: all, branches: [[{step: a}, {step: a2}], [{step: b}]]}, "
                  "{step: fin}"));
    sg_do(&fw, "a");
    sg_do(&fw, "b");
    wf_check_steps(&fw,
                   "f:completed a:completed a2:ready b:completed f_join:pending fin:pending");
    sg_do(&fw, "a2");
    struct task fin = sg_take(&fw, "fin");
    sg_check_json(
        fin.input,
        "{\"status\": \"success\", \"strategy\": \"all\", \"completed\": [\"b\", \"a2\"], "
        "\"failed\": [], \"outputs\": {\"b\": {\"by\": \"b\"}, \"a2\": {\"by\": \"a2\"}}}");
    CHECK_STR(wf_step(&fw, "f_join")->kind, "join");
    sg_complete(&fw, &fin);
    wf_check_status(&fw, "completed");
    wf_close(&fw);
}

TEST(the_step_after_a_join_runs_once)
{
    struct flow_world fw;
    struct task a, b, tasks[4];
    wf_begin(&fw,
             FLOW("{fork: f, join: all, branches: [[{step: a}], [{step: b}]]}, {step: fin}"));
    a = sg_take(&fw, "a");
    b = sg_take(&fw, "b");
    cairn_report reports[2] = {CAIRN_REPORT_DEFAULTS, CAIRN_REPORT_DEFAULTS};
    reports[0].task_id = a.id;
    reports[0].token = a.token;
    reports[1].task_id = b.id;
    reports[1].token = b.token;
    CHECK_DONE(&fw.world, cairn_report_many(fw.world.engine, "w", reports, 2, NULL, NULL, NULL,
                                            &fw.world.error));
    CHECK_INT(wf_take_many(&fw, "w", "%", 4, tasks), 1);
    CHECK_STR(tasks[0].step, "fin");
    CHECK_DONE(&fw.world, wf_report(&fw, &a, CAIRN_COMPLETE, NULL)); /* the answer got lost */
    wf_check_nothing_to_take(&fw);
    CHECK_INT(wf_count_events(&fw, "workflow_completed"), 0);
    sg_complete(&fw, &tasks[0]);
    wf_check_status(&fw, "completed");
    wf_close(&fw);
}

TEST(a_branch_that_fails_once_and_retries_while_the_other_ends_completes)
{
    struct flow_world fw;
    wf_begin(&fw,
             FLOW("{fork: f, join: all, branches: [[{step: a, compensation: {handler: ua}}], "
                  "[{step: b}]]}, {step: fin}"));
    struct task a = sg_take(&fw, "a");
    CHECK_DONE(&fw.world, wf_report(&fw, &a, CAIRN_FAIL, "not yet"));
    wf_check_status(&fw, "running");
    sg_do(&fw, "b");
    wf_check_steps(&fw, "f:completed a:ready b:completed f_join:pending fin:pending");
    wf_advance(&fw, SECOND_MS);
    sg_do(&fw, "a");
    sg_do(&fw, "fin");
    wf_check_status(&fw, "completed");
    wf_close(&fw);
}

TEST(parallel_is_a_fork_of_single_steps_joined_by_all)
{
    struct flow_world fw;
    wf_begin(&fw, FLOW("{parallel: p, steps: [{step: a}, {step: b}, {step: c}]}, {step: fin}"));
    sg_do(&fw, "c");
    sg_do(&fw, "a");
    wf_check_steps(&fw,
                   "p:completed a:completed b:ready c:completed p_join:pending fin:pending");
    sg_do(&fw, "b");
    struct task fin = sg_take(&fw, "fin");
    sg_check_json(fin.input,
                  "{\"status\": \"success\", \"strategy\": \"all\", "
                  "\"completed\": [\"c\", \"a\", \"b\"], \"failed\": [], \"outputs\": "
                  "{\"a\": {\"by\": \"a\"}, \"b\": {\"by\": \"b\"}, "
                  "\"c\": {\"by\": \"c\"}}}");
    wf_close(&fw);
}

TEST(a_fork_without_join_ends_its_list_when_all_branches_have)
{
    struct flow_world fw;
    wf_begin(&fw,
             FLOW("{step: z}, {fork: f, branches: [[{step: a}], [{step: b}, {step: b2}]]}"));
    sg_do(&fw, "z");
    sg_do(&fw, "a");
    sg_do(&fw, "b");
    wf_check_status(&fw, "running");
    sg_do(&fw, "b2");
    wf_check_status(&fw, "completed");
    sg_check_json(
        wf_instance(&fw)->output,
        "{\"status\": \"success\", \"strategy\": \"all\", \"completed\": [\"a\", \"b2\"], "
        "\"failed\": [], \"outputs\": {\"a\": {\"by\": \"a\"}, \"b2\": {\"by\": \"b2\"}}}");
    wf_close(&fw);
}

TEST(a_fork_without_join_fails_as_under_all)
{
    struct flow_world fw;
    wf_begin(&fw, FLOW("{fork: f, branches: [[{step: a}], [{step: b}]]}"));
    struct task b = sg_take(&fw, "b");
    sg_fail(&fw, "a");
    wf_check_status(&fw, "running");
    sg_complete(&fw, &b);
    wf_check_status(&fw, "failed");
    wf_close(&fw);
}

TEST(a_fork_without_join_must_be_the_last_of_its_list)
{
    struct flow_world fw;
    wf_open(&fw);
    CHECK_INT(
        wf_deploy(&fw, FLOW("{fork: f, branches: [[{step: a}], [{step: b}]]}, {step: c}")),
        CAIRN_E_BAD_INPUT);
    CHECK_DONE(&fw.world,
               wf_deploy(&fw, FLOW("{fork: f, join: all, branches: [[{step: a}, {fork: g, "
                                   "branches: [[{step: x}], [{step: y}]]}], [{step: b}]]}, "
                                   "{step: c}")));
    wf_close(&fw);
}

TEST(a_name_that_clashes_with_a_join_or_begins_with_cond_is_refused)
{
    struct flow_world fw;
    wf_open(&fw);
    CHECK_INT(wf_deploy(&fw, FLOW("{fork: f, join: all, branches: [[{step: a}], [{step: b}]]}, "
                                  "{step: f_join}")),
              CAIRN_E_BAD_INPUT);
    CHECK_INT(wf_deploy(&fw, FLOW("{step: 'cond#a'}")), CAIRN_E_BAD_INPUT);
    wf_close(&fw);
}

TEST(the_keys_of_a_join_are_the_last_elements_of_the_branches)
{
    struct flow_world fw;
    wf_begin(&fw, FLOW("{fork: f, join: all, branches: ["
                       "[{fork: g, join: all, branches: [[{step: a}], [{step: b}]]}], "
                       "[{condition: c, when: '{{ eq .n 1 }}', then: [{step: d}, {step: e}], "
                       "else: [{step: x}]}], "
                       "[{step: h}, {condition: i, when: '{{ eq .n 1 }}', then: [{step: y}]}], "
                       "[{save_point: s}], "
                       "[{step: k, on_failure: continue}]]}, {step: fin}"));
    sg_do(&fw, "a");
    sg_do(&fw, "d");
    sg_do(&fw, "h");
    sg_fail(&fw, "k");
    sg_do(&fw, "e");
    sg_do(&fw, "b");
    struct task fin = sg_take(&fw, "fin");
    sg_check_json(
        fin.input,
        "{\"status\": \"success\", \"strategy\": \"all\", "
        "\"completed\": [\"s\", \"i\", \"k\", \"e\", \"g_join\"], \"failed\": [], \"outputs\": "
        "{"
        "\"s\": {\"n\": 1}, \"i\": {\"by\": \"h\"}, \"k\": {\"n\": 1}, \"e\": {\"by\": \"e\"}, "
        "\"g_join\": {\"status\": \"success\", \"strategy\": \"all\", "
        "\"completed\": [\"a\", \"b\"], \"failed\": [], "
        "\"outputs\": {\"a\": {\"by\": \"a\"}, \"b\": {\"by\": \"b\"}}}}}");
    wf_close(&fw);
}

/* Section 7.2.1. */
TEST(a_join_waits_for_the_list_that_each_condition_takes)
{
    struct flow_world fw;
    wf_begin(
        &fw,
        FLOW(
            "{fork: parallel_branch, join: all, branches: ["
            "[{step: branch1_step1}, {condition: branch1_condition, when: '{{ gt .count 5 }}', "
            "then: [{step: branch1_next}], else: [{step: branch1_else}]}], "
            "[{step: branch2_step1}, {condition: branch2_condition, when: '{{ lt .count 3 }}', "
            "then: [{step: branch2_next}], else: [{step: branch2_else}]}]]}, {step: fin}"));
    struct task one = sg_take(&fw, "branch1_step1"), two = sg_take(&fw, "branch2_step1");
    CHECK_DONE(&fw.world, wf_report(&fw, &one, CAIRN_COMPLETE, "{\"count\": 6}"));
    CHECK_DONE(&fw.world, wf_report(&fw, &two, CAIRN_COMPLETE, "{\"count\": 6}"));
    sg_do(&fw, "branch1_next");
    wf_check_steps(&fw,
                   "parallel_branch:completed branch1_step1:completed "
                   "branch1_condition:completed branch1_next:completed branch1_else:skipped "
                   "branch2_step1:completed branch2_condition:completed "
                   "branch2_next:skipped branch2_else:ready parallel_branch_join:pending "
                   "fin:pending");
    sg_do(&fw, "branch2_else");
    sg_do(&fw, "fin");
    wf_check_status(&fw, "completed");
    wf_close(&fw);
}

TEST(forks_are_first_and_last_and_nested_without_anything_between)
{
    struct flow_world fw;
    wf_begin(&fw, FLOW("{fork: f, join: all, branches: [[{fork: g, join: all, branches: "
                       "[[{fork: h, branches: [[{step: a}], [{step: b}]]}], [{step: c}]]}], "
                       "[{save_point: s}]]}"));
    sg_do(&fw, "c");
    sg_do(&fw, "b");
    sg_do(&fw, "a");
    wf_check_status(&fw, "completed");
    wf_close(&fw);
}

TEST(branches_of_save_points_alone_complete_at_once)
{
    struct flow_world fw;
    wf_begin(&fw,
             FLOW("{fork: f, join: all, branches: [[{save_point: s}], [{save_point: t}]]}"));
    wf_check_status(&fw, "completed");
    wf_check_steps(&fw, "f:completed s:completed t:completed f_join:completed");
    wf_close(&fw);
}

TEST(waits_sleeps_and_people_hold_their_branch_only)
{
    struct flow_world fw;
    wf_begin(&fw, FLOW("{fork: f, join: all, branches: [[{wait: w, event: go}, {step: a}], "
                       "[{sleep: s, for: 1m}], [{human: h}], [{step: b}]]}, {step: fin}"));
    wf_check_status(&fw, "running");
    sg_do(&fw, "b");
    wf_check_current(&fw, "w s h");
    wf_check_status(&fw, "running"); /* it sleeps */
    wf_advance(&fw, MINUTE_MS);
    wf_check_status(&fw, "waiting_signal");
    CHECK_DONE(&fw.world, sg_decide(&fw, "h", true));
    wf_check_status(&fw, "waiting_signal");
    wf_signal(&fw, "go", "{\"x\": 2}");
    struct task a = sg_take(&fw, "a");
    CHECK(strstr(a.signal, "\"go\""), "the signal is %s", a.signal);
    sg_complete(&fw, &a);
    sg_do(&fw, "fin");
    wf_check_status(&fw, "completed");
    wf_close(&fw);
}

TEST(a_fork_passes_the_signal_of_the_wait_before_it_to_its_branches)
{
    struct flow_world fw;
    wf_begin(&fw, FLOW("{wait: w, event: go}, {fork: f, join: all, branches: [[{step: a}], "
                       "[{save_point: s}, {step: b}]]}"));
    wf_signal(&fw, "go", "{\"x\": 2}");
    CHECK(strstr(sg_take(&fw, "a").signal, "\"go\""), "a has no signal");
    CHECK(strstr(sg_take(&fw, "b").signal, "\"go\""), "b has no signal");
    wf_close(&fw);
}

/* ---- what a join waits for, and tells of a fork that failed ------------------------------------ */

static void check_wait_for(struct flow_world *fw, const char *join, const char *wanted)
{
    char names[200] = "";
    const cairn_step *step = wf_step(fw, join);
    for (size_t i = 0; i < step->wait_for_count; i++)
        snprintf(names + strlen(names), sizeof names - strlen(names), "%s%s", i ? " " : "",
                 step->wait_for[i]);
    CHECK_STR(names, wanted);
}

TEST(a_join_says_what_it_waits_for_and_other_steps_say_nothing)
{
    struct flow_world fw;
    wf_begin(
        &fw,
        FLOW(
            "{step: p}, {fork: f, join: all, branches: ["
            "[{step: a}, {condition: x, when: '{{ eq .n 1 }}', then: [{step: b}, {step: c}]}], "
            "[{step: d}, {condition: y, when: '{{ eq .n 1 }}', then: [{step: e}]}], "
            "[{fork: g, join: any, branches: [[{step: h}], [{step: i}]]}]]}"));
    CHECK(!wf_step(&fw, "p")->wait_for && !wf_step(&fw, "f")->wait_for, "they are no joins");
    check_wait_for(&fw, "f_join", "cond#x cond#y g_join");
    check_wait_for(&fw, "g_join", "h i");
    sg_do(&fw, "p");
    struct task a = sg_take(&fw, "a");
    CHECK_DONE(&fw.world, wf_report(&fw, &a, CAIRN_COMPLETE, "{\"n\": 1}"));
    check_wait_for(&fw, "f_join",
                   "c cond#y g_join"); /* decided: the end of the list that is taken */
    struct task d = sg_take(&fw, "d");
    CHECK_DONE(&fw.world, wf_report(&fw, &d, CAIRN_COMPLETE, "{\"n\": 2}"));
    check_wait_for(&fw, "f_join", "c y g_join"); /* there is none */
    sg_fail(&fw, "h");
    check_wait_for(&fw, "g_join", "h i");
    sg_fail(&fw, "b");
    wf_check_status(&fw, "failed");
    check_wait_for(&fw, "f_join", "b y g_join");
    wf_close(&fw);
}

TEST(a_nested_condition_is_the_one_that_is_yet_to_be_decided)
{
    struct flow_world fw;
    wf_begin(&fw, FLOW("{fork: f, join: any, branches: [[{condition: x, when: '{{ eq .n 1 }}', "
                       "then: [{step: a}, {condition: y, when: '{{ eq .by \"a\" }}', else: "
                       "[{step: b}]}]}], [{step: c}]]}"));
    check_wait_for(&fw, "f_join", "cond#y c");
    sg_do(&fw, "a");
    wf_check_status(&fw, "completed");
    check_wait_for(&fw, "f_join", "y c");
    wf_close(&fw);
}

#define FAILED_ALL(completed, failed, outputs)                                   \
    "{\"status\": \"failed\", \"strategy\": \"all\", \"completed\": [" completed \
    "], \"failed\": [" failed "], \"outputs\": {" outputs "}}"

TEST(the_join_of_a_fork_that_failed_tells_how_when_its_siblings_have_ended)
{
    struct flow_world fw;
    wf_begin(&fw, FLOW("{fork: f, join: all, branches: [[{step: a}], [{step: b}], [{step: c}], "
                       "[{step: d}, {step: e}]]}, {step: fin}"));
    sg_do(&fw, "a");
    struct task c = sg_take(&fw, "c"), d = sg_take(&fw, "d");
    sg_fail(&fw, "b");
    CHECK(!wf_step(&fw, "f_join")->output, "its siblings have not ended");
    check_wait_for(&fw, "f_join", "a b c e");
    sg_complete(&fw, &d);
    CHECK(!wf_step(&fw, "f_join")->output, "a sibling has not ended");
    sg_complete(&fw, &c);
    wf_check_status(&fw, "failed");
    CHECK_STR(wf_step(&fw, "f_join")->status, "skipped");
    sg_check_json(
        wf_step(&fw, "f_join")->output,
        FAILED_ALL("\"a\", \"c\"", "\"b\"", "\"a\": {\"by\": \"a\"}, \"c\": {\"by\": \"c\"}"));
    CHECK_DONE(&fw.world, wf_again(&fw));
    CHECK(!wf_step(&fw, "f_join")->output, "a retry clears it");
    sg_do(&fw, "b");
    sg_do(&fw, "e");
    sg_do(&fw, "fin");
    wf_check_status(&fw, "completed");
    wf_close(&fw);
}

TEST(a_rollback_changes_nothing_of_what_lost_joins_say)
{
    struct flow_world fw;
    wf_begin(&fw,
             FLOW("{fork: f, join: all, branches: [[{step: a, compensation: {handler: ua}}], "
                  "[{fork: g, join: all, branches: [[{step: b}], [{step: c}]]}, {step: d}]]}"));
    sg_do(&fw, "a");
    sg_fail(&fw, "b");
    for (int i = 0; i < 2; i++) {
        sg_check_json(wf_step(&fw, "f_join")->output,
                      FAILED_ALL("\"a\"", "\"b\"", "\"a\": {\"by\": \"a\"}"));
        sg_check_json(wf_step(&fw, "g_join")->output, FAILED_ALL("", "\"b\"", ""));
        check_wait_for(&fw, "f_join", "a b");
        check_wait_for(&fw, "g_join", "b c");
        if (i == 0)
            sg_undo_all(&fw, "a");
    }
    wf_check_status(&fw, "failed");
    wf_close(&fw);
}

TEST(an_any_that_no_branch_won_and_a_fork_in_a_lost_branch_tell_how)
{
    struct flow_world fw;
    wf_begin(&fw, FLOW("{fork: f, join: any, branches: [[{fork: g, join: all, branches: "
                       "[[{step: a}], [{step: b}]]}], [{step: c}]]}"));
    sg_do(&fw, "a");
    sg_fail(&fw, "b");
    wf_check_status(&fw, "running");
    sg_check_json(wf_step(&fw, "g_join")->output,
                  FAILED_ALL("\"a\"", "\"b\"", "\"a\": {\"by\": \"a\"}"));
    check_wait_for(&fw, "f_join", "b c");
    sg_fail(&fw, "c");
    wf_check_status(&fw, "failed");
    sg_check_json(wf_step(&fw, "f_join")->output,
                  "{\"status\": \"failed\", \"strategy\": \"any\", \"completed\": [], "
                  "\"failed\": [\"b\", \"c\"], \"outputs\": {}}");
    wf_close(&fw);
}

TEST(a_join_that_was_only_stopped_says_nothing)
{
    struct flow_world fw;
    wf_begin(&fw, FLOW("{fork: f, join: all, branches: [[{step: a}], [{fork: g, join: all, "
                       "branches: [[{step: b}], [{step: c}]]}]]}"));
    sg_fail(&fw, "a");
    wf_check_status(&fw, "failed");
    CHECK(!wf_step(&fw, "g_join")->output, "nothing of it has failed");
    wf_close(&fw);
    wf_begin(&fw, FLOW("{fork: f, join: all, branches: [[{step: a}], [{step: b}]]}"));
    sg_do(&fw, "a");
    CHECK_DONE(&fw.world, wf_cancel(&fw));
    CHECK(!wf_step(&fw, "f_join")->output, "it was cancelled");
    wf_close(&fw);
}
