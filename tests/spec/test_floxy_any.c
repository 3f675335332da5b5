/* tests/spec/test_floxy_any.c - join any: the first branch that succeeds wins; section 7.2 of
 * floxy-engine.md, and "Forks" of the design.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "saga.h"

#define U(name) "{step: " name ", compensation: {handler: u" name "}}"
#define ANY(branches) "{fork: f, join: any, branches: [" branches "]}"

/* What the join hands on to `fin`, which is then completed. */
static void check_given(struct flow_world *fw, const char *lists)
{
    char wanted[512];
    struct task fin = sg_take(fw, "fin");
    snprintf(wanted, sizeof wanted, "{\"status\": \"success\", \"strategy\": \"any\", %s}",
             lists);
    sg_check_json(fin.input, wanted);
    sg_complete(fw, &fin);
}

TEST(the_first_branch_that_succeeds_wins_and_the_others_are_stopped_and_skipped)
{
    struct flow_world fw;
    wf_begin(&fw,
             FLOW(ANY("[{step: a}, {step: a2}], [{step: b}], [{step: c}]") ", {step: fin}"));
    struct task a = sg_take(&fw, "a");
    sg_do(&fw, "b");
    wf_check_steps(&fw,
                   "f:completed a:skipped a2:skipped b:completed c:skipped f_join:completed "
                   "fin:ready");
    sg_check_stop(&fw, &a, "superseded");
    struct task fin = sg_take(&fw, "fin");
    sg_check_json(fin.input, "{\"status\": \"success\", \"strategy\": \"any\", "
                             "\"completed\": [\"b\"], \"failed\": [], "
                             "\"outputs\": {\"b\": {\"by\": \"b\"}}}");
    sg_check_late(&fw, &a);
    sg_complete(&fw, &fin);
    wf_check_status(&fw, "completed");
    wf_check_nothing_to_take(&fw);
    wf_close(&fw);
}

TEST(a_failing_first_finisher_does_not_fail_the_workflow)
{
    struct flow_world fw;
    wf_begin(&fw,
             FLOW(U("z") ", " ANY("[" U("a") ", {step: a2}], [{step: b}]") ", {step: fin}"));
    sg_do(&fw, "z");
    sg_fail(&fw, "a");
    wf_check_status(&fw, "running");
    wf_check_steps(&fw, "z:completed f:completed a:failed a2:skipped b:ready f_join:pending "
                        "fin:pending");
    sg_do(&fw, "b");
    struct task fin = sg_take(&fw, "fin");
    sg_check_json(fin.input, "{\"status\": \"success\", \"strategy\": \"any\", "
                             "\"completed\": [\"b\"], \"failed\": [\"a\"], "
                             "\"outputs\": {\"b\": {\"by\": \"b\"}}}");
    sg_complete(&fw, &fin);
    wf_check_status(&fw, "completed");
    wf_close(&fw);
}

TEST(when_no_branch_is_left_the_last_failures_policy_applies)
{
    struct flow_world fw;
    wf_begin(&fw, FLOW(U("z") ", " ANY("[{step: a, on_failure: compensate}], "
                                       "[{step: b, on_failure: fail_workflow}]")));
    sg_do(&fw, "z");
    sg_fail(&fw, "a");
    wf_check_status(&fw, "running");
    sg_fail(&fw, "b");
    wf_check_status(&fw, "failed");
    wf_check_steps(&fw, "z:completed f:completed a:failed b:failed f_join:skipped");
    wf_close(&fw);
}

TEST(when_no_branch_is_left_and_it_compensates_all_branches_are_undone)
{
    struct flow_world fw;
    wf_begin(&fw, FLOW(U("z") ", " ANY("[" U("a") ", " U("a2") "], [" U("b") "]")));
    sg_do(&fw, "z");
    sg_do(&fw, "a");
    sg_fail(&fw, "a2");
    wf_check_status(&fw, "running");
    sg_fail(&fw, "b");
    sg_undo_all(&fw, "b a2 a z");
    wf_check_status(&fw, "failed");
    wf_close(&fw);
}

TEST(pause_workflow_inside_an_any_that_can_be_won_fails_only_its_branch)
{
    struct flow_world fw;
    wf_begin(&fw, FLOW(ANY("[{step: a, on_failure: pause_workflow}], "
                           "[{step: b, on_failure: pause_workflow}, {step: b2}]")));
    sg_fail(&fw, "a");
    wf_check_status(&fw, "running");
    sg_fail(&fw, "b");
    wf_check_status(&fw, "paused");
    wf_check_steps(&fw, "f:completed a:failed b:failed b2:pending f_join:pending");
    CHECK_DONE(&fw.world, wf_resume(&fw));
    wf_check_steps(&fw, "f:completed a:failed b:ready b2:pending f_join:pending");
    sg_do(&fw, "b");
    sg_do(&fw, "b2");
    wf_check_status(&fw, "completed");
    wf_close(&fw);
}

TEST(a_continued_failure_inside_an_any_goes_on)
{
    struct flow_world fw;
    wf_begin(&fw, FLOW(ANY("[{step: a, on_failure: continue}], [{step: b}]")));
    sg_fail(&fw, "a");
    wf_check_status(&fw, "completed");
    wf_check_steps(&fw, "f:completed a:skipped b:skipped f_join:completed");
    sg_check_json(wf_instance(&fw)->output,
                  "{\"status\": \"success\", \"strategy\": \"any\", \"completed\": [\"a\"], "
                  "\"failed\": [], \"outputs\": {\"a\": {\"n\": 1}}}");
    wf_close(&fw);
}

TEST(the_other_steps_of_a_branch_that_failed_are_stopped_and_nothing_is_undone)
{
    struct flow_world fw;
    wf_begin(&fw,
             FLOW(ANY("[" U("a") ", {fork: g, join: all, branches: [[{step: c}], "
                                 "[{step: d}], [{step: e}]]}], [{step: b}]") ", {step: fin}"));
    sg_do(&fw, "a");
    struct task d = sg_take(&fw, "d");
    sg_fail(&fw, "c");
    wf_check_status(&fw, "running");
    wf_check_steps(&fw, "f:completed a:completed g:completed c:failed d:skipped e:skipped "
                        "g_join:skipped b:ready f_join:pending fin:pending");
    sg_check_stop(&fw, &d, "superseded");
    sg_do(&fw, "b");
    sg_do(&fw, "fin");
    wf_check_status(&fw, "completed");
    wf_check_steps(&fw, "f:completed a:completed g:completed c:failed d:skipped e:skipped "
                        "g_join:skipped b:completed f_join:completed fin:completed");
    wf_close(&fw);
}

TEST(losers_completed_steps_stay_and_are_undone_only_by_a_later_rollback)
{
    struct flow_world fw;
    wf_begin(&fw, FLOW(ANY("[" U("a") ", " U("a2") "], [" U("b") "]") ", " U("fin")));
    sg_do(&fw, "a");
    struct task a2 = sg_take(&fw, "a2");
    sg_do(&fw, "b");
    wf_check_steps(&fw, "f:completed a:completed a2:skipped b:completed f_join:completed "
                        "fin:ready");
    sg_fail(&fw, "fin");
    wf_check_status(&fw, "compensating");
    wf_check_nothing_to_take(&fw); /* the loser's lease is awaited, too */
    sg_check_stop(&fw, &a2, "superseded");
    sg_check_late(&fw, &a2);
    sg_undo_all(&fw, "fin a2 b a"); /* a2 was called, and ended last */
    wf_check_status(&fw, "failed");
    wf_check_steps(&fw, "f:rolled_back a:rolled_back a2:rolled_back b:rolled_back "
                        "f_join:rolled_back fin:rolled_back");
    wf_close(&fw);
}

TEST(a_loser_that_waits_for_its_retry_has_not_arrived)
{
    struct flow_world fw;
    wf_begin(&fw, FLOW(ANY("[{step: a}], [{step: b}], [{wait: w, event: go}], "
                           "[{sleep: s, for: 1m}], [{human: h}]") ", {step: fin}"));
    struct task a = sg_take(&fw, "a");
    CHECK_DONE(&fw.world, wf_retry(&fw, &a, 60000));
    sg_do(&fw, "b");
    wf_check_steps(&fw, "f:completed a:skipped b:completed w:skipped s:skipped h:skipped "
                        "f_join:completed fin:ready");
    wf_check_status(&fw, "running");
    struct task fin = sg_take(&fw, "fin");
    sg_check_json(fin.input, "{\"status\": \"success\", \"strategy\": \"any\", "
                             "\"completed\": [\"b\"], \"failed\": [], "
                             "\"outputs\": {\"b\": {\"by\": \"b\"}}}");
    wf_advance(&fw, 10 * SECOND_MS);
    CHECK_INT(wf_signal(&fw, "go", NULL).taken, 0);
    CHECK_INT(sg_decide(&fw, "h", true), CAIRN_E_WRONG_STATE);
    sg_complete(&fw, &fin);
    wf_check_status(&fw, "completed");
    wf_advance(&fw, HOUR_MS);
    wf_check_status(&fw, "completed");
    wf_close(&fw);
}

TEST(an_any_inside_an_any_that_fails_loses_the_outer_branch)
{
    struct flow_world fw;
    wf_begin(&fw, FLOW(ANY("[{fork: g, join: any, branches: [[{step: a}], [{step: b}]]}, "
                           "{step: c}], [{step: d}]") ", {step: fin}"));
    sg_fail(&fw, "a");
    sg_fail(&fw, "b");
    wf_check_status(&fw, "running");
    wf_check_steps(&fw, "f:completed g:completed a:failed b:failed g_join:skipped c:skipped "
                        "d:ready f_join:pending fin:pending");
    sg_do(&fw, "d");
    struct task fin = sg_take(&fw, "fin");
    sg_check_json(fin.input, "{\"status\": \"success\", \"strategy\": \"any\", "
                             "\"completed\": [\"d\"], \"failed\": [\"b\"], "
                             "\"outputs\": {\"d\": {\"by\": \"d\"}}}");
    wf_close(&fw);
}

TEST(an_any_that_has_failed_inside_an_all_fails_the_workflow)
{
    struct flow_world fw;
    wf_begin(&fw, FLOW("{fork: g, join: all, branches: [[" ANY(
                      "[{step: a}], [{step: b}]") "], "
                                                  "[" U("c") "]]}"));
    sg_do(&fw, "c");
    sg_fail(&fw, "a");
    wf_check_status(&fw, "running");
    sg_fail(&fw, "b");
    sg_undo_all(&fw, "c");
    wf_check_status(&fw, "failed");
    wf_close(&fw);
}

TEST(a_branch_that_needs_no_worker_wins_at_once_and_stops_what_had_begun)
{
    struct flow_world fw;
    wf_begin(
        &fw,
        FLOW(ANY("[{step: a}], [{save_point: s}], "
                 "[{condition: c, when: '{{ eq .n 1 }}', then: [{step: x}]}]") ", "
                                                                               "{step: fin}"));
    wf_check_steps(&fw, "f:completed a:skipped s:completed c:skipped x:skipped "
                        "f_join:completed fin:ready");
    check_given(&fw,
                "\"completed\": [\"s\"], \"failed\": [], \"outputs\": {\"s\": {\"n\": 1}}");
    wf_check_status(&fw, "completed");
    wf_close(&fw);
}

TEST(a_condition_that_fails_loses_its_branch_and_what_it_had_under_way)
{
    struct flow_world fw;
    wf_begin(&fw, FLOW(ANY("[{fork: g, join: all, branches: [[{condition: c, when: '{{ .n }}', "
                           "then: [{step: x}]}], [{step: y}]]}], [{step: b}]")));
    wf_check_status(&fw, "running");
    wf_check_steps(&fw, "f:completed g:completed c:failed x:skipped y:skipped g_join:skipped "
                        "b:ready f_join:pending");
    sg_do(&fw, "b");
    wf_check_status(&fw, "completed");
    wf_close(&fw);
}

TEST(a_lost_lease_of_a_loser_changes_nothing)
{
    struct flow_world fw;
    wf_begin(&fw, FLOW(ANY("[{step: a}], [{step: b}]") ", {step: fin}"));
    struct task a = sg_take(&fw, "a");
    sg_do(&fw, "b");
    wf_advance(&fw, 30 * SECOND_MS + 1);
    wf_check_steps(&fw, "f:completed a:skipped b:completed f_join:completed fin:ready");
    sg_check_late(&fw, &a);
    sg_do(&fw, "fin");
    wf_check_status(&fw, "completed");
    wf_close(&fw);
}

TEST(a_winner_while_paused_is_applied_at_resume)
{
    struct flow_world fw;
    wf_begin(&fw, FLOW(ANY("[{step: a}], [{step: b}]") ", {step: fin}"));
    struct task a = sg_take(&fw, "a"), b = sg_take(&fw, "b");
    CHECK_DONE(&fw.world, wf_pause(&fw));
    CHECK_DONE(&fw.world, wf_report(&fw, &a, CAIRN_DEAD, "no good"));
    sg_complete(&fw, &b);
    wf_check_steps(&fw, "f:completed a:failed b:completed f_join:pending fin:pending");
    CHECK_DONE(&fw.world, wf_resume(&fw));
    wf_check_steps(&fw, "f:completed a:failed b:completed f_join:completed fin:ready");
    wf_close(&fw);
}
/* ---- branches that end in a condition --------------------------------------------------------- */

#define WON_BY_FAST(failed)                           \
    "\"completed\": [\"fast\"], \"failed\": [" failed \
    "], \"outputs\": {\"fast\": {\"by\": \"fast\"}}"
#define K(lists) "{condition: k, when: '{{ eq .n 1 }}', " lists "}"
#define AGAINST_FAST(branch) FLOW(ANY("[" branch "], [{step: fast}]") ", {step: fin}")

TEST(a_branch_whose_taken_list_failed_has_not_arrived)
{
    struct flow_world fw;
    wf_begin(&fw, AGAINST_FAST(K("then: [{step: slow, max_attempts: 1}]")));
    sg_fail(&fw, "slow");
    sg_do(&fw, "fast");
    check_given(&fw, WON_BY_FAST("\"slow\""));
    wf_check_status(&fw, "completed");
    wf_close(&fw);
}

TEST(a_branch_whose_taken_list_was_only_stopped_is_in_neither_list)
{
    static const char *const branches[] = {
        AGAINST_FAST(K("then: [{step: slow}]")),
        AGAINST_FAST(K("then: [{human: slow}]")),
        AGAINST_FAST(K("then: [{wait: slow, event: e}]")),
        AGAINST_FAST(K("then: [{save_point: s}, {step: slow}]")),
        AGAINST_FAST(K("then: ["
                       "{condition: l, when: '{{ eq .n 2 }}', "
                       "then: [{step: no}], else: [{step: slow}]}]")),
        AGAINST_FAST("{step: before}, " K("then: [{step: slow}]")),
    };
    for (size_t i = 0; i < sizeof branches / sizeof *branches; i++) {
        struct flow_world fw;
        wf_begin(&fw, branches[i]);
        sg_do(&fw, "fast");
        check_given(&fw, WON_BY_FAST(""));
        wf_close(&fw);
    }
}

TEST(a_branch_with_half_of_its_taken_list_done_or_running_has_not_arrived)
{
    struct flow_world fw;
    wf_begin(&fw, AGAINST_FAST(K("then: [{step: s1}, {step: s2}]")));
    sg_do(&fw, "s1");
    struct task s2 = sg_take(&fw, "s2");
    sg_do(&fw, "fast");
    check_given(&fw, WON_BY_FAST(""));
    sg_check_late(&fw, &s2);
    wf_close(&fw);
}

TEST(a_branch_is_named_by_the_end_of_the_taken_list_or_by_its_condition_if_there_is_none)
{
    static const struct {
        const char *text, *by;
    } cases[] = {
        {FLOW(ANY("[{step: a}], [" K("then: [{save_point: s}]") "]") ", {step: fin}"), "s"},
        {FLOW(ANY("[{step: a}], [" K("else: [{step: x}]") "]") ", {step: fin}"), "k"},
        {FLOW(ANY("[{step: a}], [" K("then: [{condition: l, when: '{{ eq .n 2 }}', then: "
                                     "[{step: x}]}]") "]") ", {step: fin}"),
         "l"},
        {FLOW(
             ANY("[{step: a}], [{save_point: s}, " K("else: [{step: x}]") "]") ", {step: fin}"),
         "k"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct flow_world fw;
        char lists[200];
        snprintf(lists, sizeof lists,
                 "\"completed\": [\"%s\"], \"failed\": [], \"outputs\": {\"%s\": {\"n\": 1}}",
                 cases[i].by, cases[i].by);
        wf_begin(&fw, cases[i].text);
        check_given(&fw, lists);
        wf_check_status(&fw, "completed");
        wf_close(&fw);
    }
}

TEST(branches_without_workers_are_walked_in_the_order_of_the_file)
{
    struct flow_world fw;
    wf_begin(&fw, FLOW(ANY("[{save_point: s1}, {save_point: s2}, {save_point: s3}], "
                           "[{save_point: t}]") ", {step: fin}"));
    wf_check_steps(&fw, "f:completed s1:completed s2:completed s3:completed t:skipped "
                        "f_join:completed fin:ready");
    check_given(&fw,
                "\"completed\": [\"s3\"], \"failed\": [], \"outputs\": {\"s3\": {\"n\": 1}}");
    wf_close(&fw);
}

TEST(a_lost_branch_of_an_inner_any_that_was_won_does_not_lose_the_outer_branch)
{
    struct flow_world fw;
    wf_begin(&fw, FLOW(ANY("[{fork: g, join: any, branches: [[{step: a}], [{step: b}]]}, "
                           "{step: c}], [{step: fast}]") ", {step: fin}"));
    sg_fail(&fw, "a");
    sg_do(&fw, "b");
    sg_do(&fw, "fast");
    check_given(&fw, WON_BY_FAST(""));
    wf_close(&fw);
}

TEST(two_failures_of_one_branch_while_paused_lose_it_once)
{
    struct flow_world fw;
    wf_begin(&fw, FLOW(ANY("[{fork: g, join: all, branches: [[{step: a}], [{step: b}]]}], "
                           "[{step: fast}]") ", {step: fin}"));
    struct task a = sg_take(&fw, "a"), b = sg_take(&fw, "b");
    CHECK_DONE(&fw.world, wf_pause(&fw));
    CHECK_DONE(&fw.world, wf_report(&fw, &a, CAIRN_DEAD, "no"));
    CHECK_DONE(&fw.world, wf_report(&fw, &b, CAIRN_DEAD, "no"));
    CHECK_DONE(&fw.world, wf_resume(&fw));
    wf_check_status(&fw, "running");
    sg_do(&fw, "fast");
    check_given(&fw, WON_BY_FAST("\"a\""));
    wf_close(&fw);
}
