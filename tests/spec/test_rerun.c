/* tests/spec/test_rerun.c - running an instance again, from the beginning or from a step on.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "saga.h"

static cairn_code try_rerun(struct flow_world *fw, const char *from, const char *input,
                            cairn_enqueued *ret_started)
{
    return cairn_instance_rerun(fw->world.engine, fw->id, from, input, ret_started,
                                &fw->world.error);
}

/* The new instance is the one that the helpers speak of from then on; returns the source. */
static const char *rerun(struct flow_world *fw, const char *from, const char *input)
{
    static char source[40];
    cairn_enqueued started;
    strcpy(source, fw->id);
    CHECK_DONE(&fw->world, try_rerun(fw, from, input, &started));
    CHECK_INT(started.existing, 0);
    CHECK(strcmp(started.id, source) != 0, "it is the same instance");
    strcpy(fw->id, started.id);
    CHECK_STR(wf_instance(fw)->source, source);
    return source;
}

static void check_input(struct flow_world *fw, const char *step, const char *wanted)
{
    struct task task = wf_take_step(fw, step);
    CHECK(is_same_json(task.input, wanted), "the input of %s is %s", step, task.input);
    CHECK_INT(wf_report(fw, &task, CAIRN_COMPLETE, "{}"), CAIRN_OK);
}

TEST(from_the_beginning_it_is_a_new_instance_without_a_key)
{
    struct flow_world fw;
    cairn_start_options start = CAIRN_START_DEFAULTS;
    cairn_enqueued first;
    wf_open(&fw);
    CHECK_INT(wf_deploy(&fw, FLOW("{step: a}, {step: b}")), CAIRN_OK);
    start.workflow = "w";
    start.key = "k";
    start.input = "{\"n\": 1}";
    start.tags = "{\"of\": \"test\"}";
    CHECK_INT(wf_start(&fw, &start, &first), CAIRN_OK);
    strcpy(fw.id, first.id);
    wf_do(&fw, "a");
    wf_do(&fw, "b");
    rerun(&fw, NULL, NULL);
    CHECK(!wf_instance(&fw)->key, "it has a key");
    CHECK(is_same_json(wf_instance(&fw)->tags, "{\"of\": \"test\"}"), "its tags are gone");
    wf_check_steps(&fw, "a:ready b:pending");
    check_input(&fw, "a", "{\"n\": 1}");
    wf_do(&fw, "b");
    rerun(&fw, NULL, "{\"n\": 2}");
    check_input(&fw, "a", "{\"n\": 2}");
    wf_close(&fw);
}

TEST(data_that_the_file_makes_is_made_of_what_was_copied)
{
    struct flow_world fw;
    wf_begin(&fw,
             FLOW("{step: a, output: {a: \"{{ .by }}\"}}, {step: b}, "
                  "{step: c, input: {x: \"{{ $.steps.a.output.a }}\", y: \"{{ .by }}\"}}"));
    wf_do(&fw, "a");
    wf_do(&fw, "b");
    wf_do_badly(&fw, "c");
    rerun(&fw, "c", NULL);
    check_input(&fw, "c", "{\"x\": \"a\", \"y\": \"b\"}");
    wf_check_status(&fw, "completed");
    rerun(&fw, "b", NULL);
    check_input(&fw, "b", "{\"a\": \"a\"}");
    wf_close(&fw);
}

TEST(a_step_is_given_exactly_the_input_of_the_rerun)
{
    struct flow_world fw;
    wf_begin(&fw, FLOW("{step: a}, {step: b, input: {x: \"{{ .by }}\"}, group: \"{{ .by }}\", "
                       "on_failure: continue, max_attempts: 1}, {step: c}"));
    wf_do(&fw, "a");
    wf_do(&fw, "b");
    wf_do(&fw, "c");
    rerun(&fw, "b", "{\"by\": \"hand\"}");
    check_input(&fw, "b", "{\"by\": \"hand\"}");
    wf_do(&fw, "c");
    rerun(&fw, "b", NULL); /* of the rerun, so with that */
    check_input(&fw, "b", "{\"by\": \"hand\"}");
    wf_do(&fw, "c");
    rerun(&fw, "b", "[1]");
    struct task b = wf_take_step(&fw, "b");
    CHECK(is_same_json(b.input, "[1]"), "the input is %s", b.input);
    CHECK(is_same_json(wf_step(&fw, "b")->input, "[1]"), "it shows %s",
          wf_step(&fw, "b")->input);
    CHECK_DONE(&fw.world, wf_report(&fw, &b, CAIRN_DEAD, "no"));
    check_input(&fw, "c", "{\"by\": \"a\"}"); /* what had arrived at b */
    wf_close(&fw);
}

TEST(the_input_of_a_rerun_is_kept_by_retry_restart_requeue_and_resume)
{
    struct flow_world fw;
    wf_begin(&fw, FLOW("{step: a}, {step: b, input: {x: \"{{ .by }}\"}, max_attempts: 1}"));
    wf_do(&fw, "a");
    wf_do(&fw, "b");
    rerun(&fw, "b", "{\"mine\": 1}");
    wf_do_badly(&fw, "b");
    CHECK_DONE(&fw.world, wf_again(&fw));
    check_input(&fw, "b", "{\"mine\": 1}");
    CHECK_DONE(&fw.world, wf_restart(&fw));
    check_input(&fw, "b", "{\"mine\": 1}");
    wf_close(&fw);
    wf_begin(&fw,
             "{workflow: w, version: 1, dlq: true, steps: [{step: a}, {step: b, input: {x: "
             "\"{{ .by }}\"}, max_attempts: 1}]}");
    wf_do(&fw, "a");
    wf_do(&fw, "b");
    rerun(&fw, "b", "{\"mine\": 2}");
    wf_do_badly(&fw, "b");
    CHECK_DONE(&fw.world, sg_requeue(&fw, "b", NULL));
    check_input(&fw, "b", "{\"mine\": 2}");
    wf_close(&fw);
    wf_begin(&fw,
             FLOW("{step: a}, {human: b, input: {x: \"{{ .by }}\"}, timeout: 1h, on_failure: "
                  "pause_workflow}"));
    wf_do(&fw, "a");
    CHECK_DONE(&fw.world, wf_abort(&fw));
    rerun(&fw, "b", "{\"mine\": 3}");
    wf_advance(&fw, HOUR_MS);
    wf_check_status(&fw, "paused");
    CHECK_DONE(&fw.world, wf_resume(&fw));
    wf_check_steps(&fw, "a:completed b:waiting_decision");
    CHECK(is_same_json(wf_step(&fw, "b")->input, "{\"mine\": 3}"), "it has %s",
          wf_step(&fw, "b")->input);
    wf_close(&fw);
}

/* Whatever the kind of the step is. */
TEST(waits_decisions_children_maps_and_conditions_are_given_the_input_of_the_rerun)
{
    static const struct {
        const char *element, *input, *step, *seen;
    } cases[] = {
        {"{wait: s, event: e, input: {x: 1}}", "{\"n\": 2}", "s", "{\"n\": 2}"},
        {"{human: s, input: {x: 1}}", "{\"n\": 2}", "s", "{\"n\": 2}"},
        {"{start: s, workflow: child, input: {x: 1}}", "{\"n\": 2}", "c", "{\"n\": 2}"},
        {"{map: s, input: {l: []}, over: \"{{ .l }}\", steps: [{step: c}]}", "{\"l\": [3]}",
         "c", "3"},
        {"{condition: s, when: \"{{ gt .n 1 }}\", then: [{step: c}]}", "{\"n\": 2}", "c",
         "{\"n\": 2}"},
        {"{save_point: s}, {step: c}", "{\"n\": 2}", "c", "{\"n\": 2}"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct flow_world fw;
        char text[300];
        snprintf(text, sizeof text, "{workflow: w, version: 1, steps: [{step: a}, %s]}",
                 cases[i].element);
        wf_begin(&fw, text);
        CHECK_DONE(&fw.world,
                   wf_deploy(&fw, "{workflow: child, version: 1, steps: [{step: c}]}"));
        wf_do(&fw, "a");
        (void)wf_abort(&fw); /* unless it has ended */
        rerun(&fw, "s", cases[i].input);
        if (strcmp(cases[i].step, "s") != 0)
            check_input(&fw, cases[i].step, cases[i].seen);
        CHECK(is_same_json(wf_step(&fw, "s")->input, cases[i].input), "%s shows %s",
              cases[i].element, wf_step(&fw, "s")->input);
        wf_close(&fw);
    }
}

TEST(what_comes_before_the_step_is_copied_and_not_called_again)
{
    struct flow_world fw;
    wf_begin(&fw,
             FLOW("{step: a}, {sleep: s, for: 1h}, {step: b}, {save_point: p}, {step: c}"));
    wf_do(&fw, "a");
    wf_advance(&fw, HOUR_MS);
    wf_do(&fw, "b");
    wf_do_badly(&fw, "c");
    wf_check_status(&fw, "failed");
    rerun(&fw, "c", NULL);
    wf_check_status(&fw, "running");
    wf_check_steps(&fw, "a:completed s:completed b:completed p:completed c:ready");
    CHECK(is_same_json(wf_step(&fw, "b")->output, "{\"by\": \"b\"}"), "its output is gone");
    wf_check_events(&fw, "workflow_started step_copied:a step_copied:s step_copied:b "
                         "step_copied:p step_ready:c");
    check_input(&fw, "c", "{\"by\": \"b\"}");
    wf_check_status(&fw, "completed");
    wf_check_nothing_to_take(&fw);
    rerun(&fw, "b", "{\"other\": true}");
    wf_check_steps(&fw, "a:completed s:completed b:ready p:pending c:pending");
    check_input(&fw, "b", "{\"other\": true}");
    wf_do(&fw, "c");
    wf_check_status(&fw, "completed");
    wf_close(&fw);
}

TEST(copied_steps_are_never_undone)
{
    struct flow_world fw;
    wf_begin(&fw, FLOW("{step: a, compensation: {handler: undo_a}}, "
                       "{step: b, compensation: {handler: undo_b}}, {step: c}"));
    wf_do(&fw, "a");
    wf_do(&fw, "b");
    wf_do(&fw, "c");
    rerun(&fw, "b", NULL);
    wf_do(&fw, "b");
    wf_do_badly(&fw, "c");
    wf_undo(&fw, "b");
    wf_check_status(&fw, "failed");
    wf_check_steps(&fw, "a:completed b:rolled_back c:rolled_back");
    CHECK_INT(wf_again(&fw), CAIRN_OK); /* retry: from the step that it began at */
    wf_check_steps(&fw, "a:completed b:ready c:pending");
    check_input(&fw, "b", "{\"by\": \"a\"}");
    wf_do(&fw, "c");
    wf_check_status(&fw, "completed");
    CHECK_INT(wf_restart(&fw), CAIRN_OK); /* and so does a restart */
    wf_check_steps(&fw, "a:completed b:ready c:pending");
    check_input(&fw, "b", "{\"by\": \"a\"}");
    CHECK_INT(wf_cancel(&fw), CAIRN_OK);
    wf_undo(&fw, "b");
    wf_check_status(&fw, "cancelled");
    wf_check_nothing_to_take(&fw);
    wf_close(&fw);
}

TEST(steps_of_other_branches_are_executed)
{
    struct flow_world fw;
    wf_begin(&fw, FLOW("{step: a}, {fork: f, join: all, branches: [[{step: b}, {step: c}], "
                       "[{step: d}, {step: e}]]}, {step: g}"));
    wf_do(&fw, "a");
    wf_do(&fw, "b");
    wf_do(&fw, "c");
    wf_do(&fw, "d");
    wf_do(&fw, "e");
    wf_do(&fw, "g");
    rerun(&fw, "e", NULL);
    wf_check_steps(&fw, "a:completed f:completed b:ready c:pending d:completed e:ready "
                        "f_join:pending g:pending");
    check_input(&fw, "b", "{\"by\": \"a\"}");
    wf_do(&fw, "c");
    check_input(&fw, "e", "{\"by\": \"d\"}");
    struct task task = wf_take_step(&fw, "g");
    CHECK(strstr(task.input, "\"success\"") && strstr(task.input, "\"c\"") &&
              strstr(task.input, "\"e\""),
          "its input is %s", task.input);
    CHECK_INT(wf_report(&fw, &task, CAIRN_COMPLETE, "1"), CAIRN_OK);
    wf_check_status(&fw, "completed");
    rerun(&fw, "g", NULL);
    wf_check_steps(&fw, "a:completed f:completed b:completed c:completed d:completed "
                        "e:completed f_join:completed g:ready");
    rerun(&fw, "f", NULL);
    wf_check_steps(&fw, "a:completed f:completed b:ready c:pending d:ready e:pending "
                        "f_join:pending g:pending");
    wf_close(&fw);
}

TEST(the_list_that_a_condition_did_not_take_stays_skipped)
{
    struct flow_world fw;
    wf_begin(&fw, FLOW("{condition: x, when: '{{ eq .n 1 }}', then: [{step: a}, {step: b}], "
                       "else: [{step: c}]}, {step: d}"));
    wf_do(&fw, "a");
    wf_do(&fw, "b");
    wf_do(&fw, "d");
    rerun(&fw, "b", NULL);
    wf_check_steps(&fw, "x:completed a:completed b:ready c:skipped d:pending");
    wf_do(&fw, "b");
    wf_do(&fw, "d");
    wf_check_status(&fw, "completed");
    rerun(&fw, "c", "{\"n\": 2}"); /* into the other list, with an input of its own */
    wf_check_steps(&fw, "x:completed a:skipped b:skipped c:ready d:pending");
    wf_do(&fw, "c");
    wf_do(&fw, "d");
    wf_check_status(&fw, "completed");
    wf_close(&fw);
}

TEST(a_retry_of_a_rerun_inside_of_a_condition_goes_on_there_alone)
{
    struct flow_world fw;
    wf_begin(&fw, FLOW("{condition: x, when: '{{ eq .n 1 }}', then: [{step: a}], "
                       "else: [{step: b}, {step: c}]}, {step: d}"));
    wf_do(&fw, "a");
    wf_do(&fw, "d");
    rerun(&fw, "c", "{\"n\": 2}"); /* into the list that was not taken, behind its first step */
    wf_check_steps(&fw, "x:completed a:skipped b:skipped c:ready d:pending");
    wf_do_badly(&fw, "c");
    wf_check_status(&fw, "failed");
    CHECK_INT(wf_again(&fw), CAIRN_OK);
    wf_check_steps(&fw, "x:completed a:skipped b:skipped c:ready d:pending");
    wf_do(&fw, "c");
    wf_do(&fw, "d");
    wf_check_status(&fw, "completed");
    wf_close(&fw);
}

TEST(a_retry_of_a_rerun_inside_of_the_last_condition_does_not_complete_it)
{
    struct flow_world fw;
    wf_begin(&fw, FLOW("{condition: x, when: '{{ eq .n 1 }}', then: [{step: a}], "
                       "else: [{step: b}, {step: c}]}"));
    wf_do(&fw, "a");
    rerun(&fw, "c", "{\"n\": 2}");
    wf_do_badly(&fw, "c");
    CHECK_INT(wf_again(&fw), CAIRN_OK);
    wf_check_status(&fw, "running");
    wf_do(&fw, "c");
    wf_check_status(&fw, "completed");
    wf_close(&fw);
}

TEST(waits_and_decisions_are_copied_as_they_ended)
{
    struct flow_world fw;
    wf_begin(&fw, FLOW("{human: h}, {wait: s, event: go}, {step: a}, {step: b}"));
    CHECK_DONE(&fw.world, cairn_instance_decide(fw.world.engine, fw.id, "h", true, "ann", NULL,
                                                &fw.world.error));
    wf_signal(&fw, "go", "{\"x\": 1}");
    wf_do(&fw, "a");
    wf_do(&fw, "b");
    rerun(&fw, "a", NULL);
    wf_check_steps(&fw, "h:confirmed s:completed a:ready b:pending");
    struct task task = wf_take_step(&fw, "a");
    CHECK(strstr(task.signal, "\"x\""), "its signal is %s", task.signal);
    CHECK_INT(wf_report(&fw, &task, CAIRN_COMPLETE, "1"), CAIRN_OK);
    rerun(&fw, "s", NULL);
    wf_check_steps(&fw, "h:confirmed s:waiting a:pending b:pending");
    rerun(&fw, "h", NULL);
    wf_check_steps(&fw, "h:waiting_decision s:pending a:pending b:pending");
    wf_close(&fw);
}

TEST(what_had_not_ended_is_skipped_and_needs_an_input_behind_it)
{
    struct flow_world fw;
    cairn_enqueued started;
    wf_begin(&fw, FLOW("{step: a}, {step: b}, {step: c}"));
    wf_do(&fw, "a");
    CHECK_REFUSED(&fw.world, try_rerun(&fw, "c", NULL, &started), CAIRN_E_BAD_INPUT);
    wf_take_step(&fw, "b"); /* it runs */
    rerun(&fw, "c", "{\"by\": \"hand\"}");
    wf_check_steps(&fw, "a:completed b:skipped c:ready");
    check_input(&fw, "c", "{\"by\": \"hand\"}");
    wf_check_status(&fw, "completed");
    wf_close(&fw);
}

TEST(what_cannot_be_run_again_is_refused)
{
    struct flow_world fw;
    cairn_enqueued started;
    wf_begin(&fw,
             FLOW("{step: a}, {fork: f, join: all, branches: [[{step: b}], [{step: c}]]}"));
    CHECK_REFUSED(&fw.world, try_rerun(&fw, "none", NULL, &started), CAIRN_E_NOT_FOUND);
    CHECK_REFUSED(&fw.world, try_rerun(&fw, "f_join", NULL, &started), CAIRN_E_BAD_INPUT);
    CHECK_REFUSED(&fw.world, try_rerun(&fw, "b", "1", &started), CAIRN_E_WRONG_STATE);
    CHECK_REFUSED(&fw.world, try_rerun(&fw, NULL, "{", &started), CAIRN_E_BAD_JSON);
    strcpy(fw.id, "01900000-0000-7000-8000-000000000000");
    CHECK_REFUSED(&fw.world, try_rerun(&fw, NULL, NULL, &started), CAIRN_E_NOT_FOUND);
    CHECK_INT(wf_deploy(&fw, "{function: fn, version: 1}"), CAIRN_OK);
    cairn_start_options start = CAIRN_START_DEFAULTS;
    start.workflow = "fn";
    CHECK_INT(wf_start(&fw, &start, &started), CAIRN_OK);
    strcpy(fw.id, started.id);
    CHECK_REFUSED(&fw.world, try_rerun(&fw, "a", NULL, &started), CAIRN_E_BAD_INPUT);
    rerun(&fw, NULL, NULL);
    wf_check_status(&fw, "running");
    wf_close(&fw);
}
