/* tests/spec/test_mapping.c - where data comes from: `input` and `output` of steps, and what expressions see.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * The language itself is tested in tests/unit/test_template.c.
 */
#include "saga.h"

/* The instance's input is {"n": 1}; sg_do() completes a step with {"by": "<step>"}. */

static void check_input(struct flow_world *fw, const char *step, const char *wanted)
{
    struct task task = sg_take(fw, step);
    sg_check_json(task.input, wanted);
    sg_complete(fw, &task);
}

static void answer(struct flow_world *fw, const char *step, const char *output)
{
    struct task task = sg_take(fw, step);
    CHECK_DONE(&fw->world, wf_report(fw, &task, CAIRN_COMPLETE, output));
}

TEST(a_steps_input_is_made_of_what_arrives_the_instance_and_outputs)
{
    struct flow_world fw;
    cairn_start_options start = CAIRN_START_DEFAULTS;
    cairn_enqueued started;
    wf_open(&fw);
    CHECK_DONE(
        &fw.world,
        wf_deploy(
            &fw,
            FLOW("{step: a}, {step: b}, {step: c, input: {n: '{{ $.input.n }}', a: '{{ "
                 "$.steps.a.output.by }}', before: '{{ .by }}', id: '{{ $.instance_id }}', "
                 "key: '{{ $.key }}', tag: '{{ $.tags.tenant }}', text: 'a {{ .by }} b', "
                 "none: '{{ .nothing.at.all }}', later: '{{ $.steps.d.output }}', fixed: "
                 "[1, {x: y}], braces: '{{ \"{{\" }}'}}, {step: d}")));
    start.workflow = "w";
    start.input = "{\"n\": 1}";
    start.key = "k-1";
    start.tags = "{\"tenant\": \"acme\"}";
    CHECK_DONE(&fw.world, wf_start(&fw, &start, &started));
    sg_do(&fw, "a");
    sg_do(&fw, "b");
    char wanted[512];
    snprintf(wanted, sizeof wanted,
             "{\"n\": 1, \"a\": \"a\", \"before\": \"b\", \"id\": \"%s\", \"key\": \"k-1\", "
             "\"tag\": \"acme\", \"text\": \"a b b\", \"none\": null, \"later\": null, "
             "\"fixed\": [1, {\"x\": \"y\"}], \"braces\": \"{{\"}",
             fw.id);
    check_input(&fw, "c", wanted);
    sg_check_json(wf_step(&fw, "c")->input, wanted);
    check_input(&fw, "d", "{\"by\": \"c\"}");
    wf_check_status(&fw, "completed");
    wf_close(&fw);
}

TEST(the_first_step_and_a_single_expression_keep_types)
{
    struct flow_world fw;
    wf_begin(&fw,
             FLOW("{step: a, input: '{{ .n }}'}, {step: b, input: '{{ gt $.input.n 0 }}'}, "
                  "{step: c, input: ['{{ $.input }}']}, {step: d, input: 'n={{ $.input.n "
                  "}}'}, {step: e, input: '{{ .absent }}'}"));
    check_input(&fw, "a", "1");
    check_input(&fw, "b", "true");
    check_input(&fw, "c", "[{\"n\": 1}]");
    check_input(&fw, "d", "\"n=1\"");
    check_input(&fw, "e", "null");
    wf_check_status(&fw, "completed");
    wf_close(&fw);
}

TEST(output_makes_what_goes_on_and_the_step_keeps_its_answer)
{
    struct flow_world fw;
    wf_begin(&fw,
             FLOW("{step: a, output: {card: '{{ .card.id }}', n: '{{ $.input.n }}'}}, {step: "
                  "b, input: {got: '{{ . }}', again: '{{ $.steps.a.output }}'}}, {step: z, "
                  "output: '{{ .total }}'}"));
    answer(&fw, "a", "{\"card\": {\"id\": 7, \"secret\": \"x\"}}");
    sg_check_json(wf_step(&fw, "a")->output, "{\"card\": {\"id\": 7, \"secret\": \"x\"}}");
    check_input(&fw, "b",
                "{\"got\": {\"card\": 7, \"n\": 1}, \"again\": {\"card\": 7, \"n\": 1}}");
    answer(&fw, "z", "{\"total\": 12.5}");
    wf_check_status(&fw, "completed");
    sg_check_json(wf_instance(&fw)->output, "12.5");
    sg_check_json(wf_step(&fw, "z")->output, "{\"total\": 12.5}");
    wf_close(&fw);
}

TEST(conditions_waits_and_decisions_see_the_instance_too)
{
    struct flow_world fw;
    wf_begin(&fw,
             FLOW("{step: a}, {condition: c, when: '{{ and (eq $.input.n 1) (eq "
                  "$.steps.a.output.by `a`) }}', then: [{step: t}]}, {human: h, input: {ask: "
                  "'{{ $.input.n }}'}}, {wait: w, event: go, input: {by: '{{ "
                  "$.steps.t.output.by }}', ask: '{{ .ask }}'}}, {step: z}"));
    sg_do(&fw, "a");
    sg_do(&fw, "t");
    sg_check_json(wf_step(&fw, "h")->input, "{\"ask\": 1}");
    CHECK_DONE(&fw.world, sg_decide(&fw, "h", true));
    sg_check_json(wf_step(&fw, "w")->input, "{\"by\": \"t\", \"ask\": 1}");
    wf_signal(&fw, "go", "{}");
    check_input(&fw, "z", "{\"by\": \"t\", \"ask\": 1}");
    wf_check_status(&fw, "completed");
    wf_close(&fw);
}

TEST(branches_and_joins_hand_on_what_is_made)
{
    struct flow_world fw;
    wf_begin(&fw,
             FLOW("{fork: f, join: all, branches: [[{step: a, output: '{{ .by }}'}], [{step: "
                  "b, input: {n: '{{ .n }}'}}]]}, {step: z, input: {a: '{{ "
                  ".outputs.a }}', b: '{{ $.steps.b.output.by }}', join: '{{ "
                  "$.steps.f_join.output.status }}'}}"));
    sg_do(&fw, "a");
    check_input(&fw, "b", "{\"n\": 1}");
    check_input(&fw, "z", "{\"a\": \"a\", \"b\": \"b\", \"join\": \"success\"}");
    wf_close(&fw);
}

TEST(an_undo_gets_the_made_input_and_the_answer)
{
    struct flow_world fw;
    wf_begin(&fw, FLOW("{step: a, input: {of: '{{ .n }}'}, output: {short: '{{ .by }}'}, "
                       "compensation: {handler: un_a}}, {step: z}"));
    check_input(&fw, "a", "{\"of\": 1}");
    sg_fail(&fw, "z");
    struct task undo = sg_take_undo(&fw, "a");
    sg_check_json(undo.input, "{\"input\": {\"of\": 1}, \"output\": {\"by\": \"a\"}}");
    sg_complete(&fw, &undo);
    wf_check_status(&fw, "failed");
    wf_close(&fw);
}

/* ---- failures ------------------------------------------------------------------------------- */

#define BAD "'{{ len .n }}'"
#define WHY_INPUT "input: a number has no length at column 8"
#define WHY_OUTPUT "output: a string has no elements at column 14"

TEST(an_expression_that_fails_is_a_failed_step_without_a_call)
{
    struct flow_world fw;
    wf_begin(&fw, FLOW("{step: a, input: " BAD "}, {step: z}"));
    wf_check_nothing_to_take(&fw);
    wf_check_steps(&fw, "a:failed z:skipped");
    wf_check_status(&fw, "failed");
    CHECK_STR(wf_step(&fw, "a")->error, WHY_INPUT);
    CHECK_INT(wf_step(&fw, "a")->attempts, 0);
    wf_check_last_error(&fw, "a", WHY_INPUT, 0);
    sg_check_json(wf_step(&fw, "a")->input, "{\"n\": 1}");
    wf_close(&fw);
}

TEST(a_step_that_was_not_called_is_not_undone)
{
    struct flow_world fw;
    wf_begin(&fw,
             FLOW("{step: a, compensation: {handler: un_a}}, {step: b, input: '{{ len 5 }}', "
                  "compensation: {handler: un_b}}"));
    sg_do(&fw, "a");
    sg_undo_all(&fw, "a");
    wf_check_status(&fw, "failed");
    wf_check_steps(&fw, "a:rolled_back b:rolled_back");
    wf_close(&fw);
}

TEST(a_step_that_was_passed_over_without_a_call_is_not_undone_later)
{
    struct flow_world fw;
    wf_begin(&fw,
             FLOW("{step: a, input: " BAD ", on_failure: continue, compensation: {handler: "
                  "un_a}}, {step: b, compensation: {handler: un_b}}, {step: z}"));
    sg_do(&fw, "b");
    sg_fail(&fw, "z");
    sg_undo_all(&fw, "b");
    wf_check_status(&fw, "failed");
    wf_check_steps(&fw, "a:skipped b:rolled_back z:rolled_back");
    wf_close(&fw);
}

TEST(continue_passes_on_what_arrived)
{
    struct flow_world fw;
    wf_begin(&fw,
             FLOW("{step: a, input: {x: '{{ .n }}'}, on_failure: continue, max_attempts: 1}, "
                  "{step: b, input: " BAD ", on_failure: continue}, {wait: w, event: go, "
                  "timeout: 1s, on_timeout: continue, input: 5}, {step: z}"));
    struct task a = sg_take(&fw, "a");
    sg_check_json(a.input, "{\"x\": 1}");
    CHECK_DONE(&fw.world, wf_report(&fw, &a, CAIRN_FAIL, "no"));
    wf_check_steps(&fw, "a:skipped b:skipped w:waiting z:pending");
    sg_check_json(wf_step(&fw, "w")->input, "5");
    wf_advance(&fw, 1000);
    check_input(&fw, "z", "{\"n\": 1}");
    wf_check_status(&fw, "completed");
    wf_close(&fw);
}

TEST(an_output_that_fails_fails_the_step_and_its_answer_is_undone)
{
    struct flow_world fw;
    wf_begin(
        &fw,
        FLOW("{step: a, input: {x: '{{ .n }}'}, output: '{{ index .by 1 }}', compensation: "
             "{handler: un_a}}, {step: z}"));
    sg_do(&fw, "a");
    CHECK_STR(wf_step(&fw, "a")->error, WHY_OUTPUT);
    wf_check_last_error(&fw, "a", WHY_OUTPUT, 1);
    struct task undo = sg_take_undo(&fw, "a");
    sg_check_json(undo.input, "{\"input\": {\"x\": 1}, \"output\": {\"by\": \"a\"}}");
    sg_complete(&fw, &undo);
    wf_check_status(&fw, "failed");
    wf_close(&fw);
}

TEST(an_output_that_fails_passes_on_what_arrived_if_so_told)
{
    struct flow_world fw;
    wf_begin(&fw,
             FLOW("{step: a, input: {x: '{{ .n }}'}, output: '{{ index .by 1 }}', on_failure: "
                  "continue}, {step: z}"));
    sg_do(&fw, "a");
    check_input(&fw, "z", "{\"n\": 1}");
    wf_close(&fw);
}

TEST(an_output_that_fails_while_others_are_awaited_is_undone_with_its_answer)
{
    struct flow_world fw;
    wf_begin(&fw,
             FLOW("{fork: f, join: all, branches: [[{step: a, output: '{{ index .by 1 }}', "
                  "compensation: {handler: un_a}}], [{step: b}]]}"));
    struct task a = sg_take(&fw, "a");
    sg_fail(&fw, "b");
    wf_check_status(&fw, "compensating");
    sg_complete(&fw, &a);
    CHECK_STR(wf_step(&fw, "a")->error, WHY_OUTPUT);
    struct task undo = sg_take_undo(&fw, "a");
    sg_check_json(undo.input, "{\"input\": {\"n\": 1}, \"output\": {\"by\": \"a\"}}");
    sg_complete(&fw, &undo);
    wf_check_status(&fw, "failed");
    wf_close(&fw);
}

TEST(a_result_is_as_large_as_a_payload_at_most)
{
    struct flow_world fw;
    cairn_start_options start = CAIRN_START_DEFAULTS;
    cairn_enqueued started;
    wf_open_limited(&fw, 100);
    CHECK_DONE(&fw.world, wf_deploy(&fw, FLOW("{step: a, input: ['{{ .s }}', '{{ .s }}']}")));
    start.workflow = "w";
    start.input = "{\"s\": \"01234567890123456789012345678901234567890123456789\"}";
    CHECK_DONE(&fw.world, wf_start(&fw, &start, &started));
    wf_check_status(&fw, "failed");
    CHECK_STR(wf_step(&fw, "a")->error, "input: [1]: the value is larger than 100 bytes");
    wf_close(&fw);
}

/* ---- again ---------------------------------------------------------------------------------- */

TEST(a_retry_makes_the_input_anew_from_what_went_on)
{
    struct flow_world fw;
    wf_begin(&fw,
             FLOW("{step: a, output: {short: '{{ .by }}'}}, {step: b, input: {s: '{{ .short "
                  "}}', a: '{{ $.steps.a.output.short }}'}, on_failure: fail_workflow}"));
    sg_do(&fw, "a");
    sg_fail(&fw, "b");
    wf_check_status(&fw, "failed");
    CHECK_DONE(&fw.world, wf_again(&fw));
    check_input(&fw, "b", "{\"s\": \"a\", \"a\": \"a\"}");
    wf_check_status(&fw, "completed");
    CHECK_DONE(&fw.world, wf_restart(&fw));
    sg_do(&fw, "a");
    check_input(&fw, "b", "{\"s\": \"a\", \"a\": \"a\"}");
    wf_close(&fw);
}

TEST(a_resumed_step_keeps_its_input_and_one_that_was_not_called_makes_it_again)
{
    struct flow_world fw;
    wf_begin(&fw,
             FLOW("{step: a, input: {x: '{{ .n }}'}, on_failure: pause_workflow}, {step: b, "
                  "input: '{{ index .by 1 }}', on_failure: pause_workflow}"));
    sg_fail(&fw, "a");
    wf_check_status(&fw, "paused");
    CHECK_DONE(&fw.world, wf_resume(&fw));
    check_input(&fw, "a", "{\"x\": 1}");
    wf_check_status(&fw, "paused");
    CHECK_DONE(&fw.world, wf_resume(&fw)); /* it fails again: nothing has changed */
    wf_check_status(&fw, "paused");
    wf_check_nothing_to_take(&fw);
    CHECK_STR(wf_step(&fw, "b")->error, "input: a string has no elements at column 14");
    wf_close(&fw);
}

TEST(what_ends_while_paused_goes_on_as_made)
{
    struct flow_world fw;
    wf_begin(
        &fw,
        FLOW("{step: a, output: {short: '{{ .by }}'}}, {step: b, input: {got: '{{ . }}'}}"));
    struct task a = sg_take(&fw, "a");
    CHECK_DONE(&fw.world, wf_pause(&fw));
    sg_complete(&fw, &a);
    CHECK_DONE(&fw.world, wf_resume(&fw));
    check_input(&fw, "b", "{\"got\": {\"short\": \"a\"}}");
    wf_check_status(&fw, "completed");
    wf_close(&fw);
}

TEST(a_requeued_step_is_given_what_is_said_or_what_its_template_makes)
{
    struct flow_world fw;
    wf_begin(&fw, "{workflow: w, version: 1, dlq: true, steps: [{step: a, input: {x: '{{ .n "
                  "}}'}, max_attempts: 1}, {step: b, input: '{{ index .by 1 }}'}, {step: z}]}");
    sg_fail(&fw, "a");
    sg_check_json(sg_record(&fw, "a").input, "{\"x\": 1}");
    CHECK_DONE(&fw.world, sg_requeue(&fw, "a", NULL));
    struct task again = sg_take(&fw, "a");
    sg_check_json(again.input, "{\"x\": 1}");
    CHECK_DONE(&fw.world, wf_report(&fw, &again, CAIRN_DEAD, "no"));
    CHECK_DONE(&fw.world, sg_requeue(&fw, "a", "{\"mine\": true}"));
    check_input(&fw, "a", "{\"mine\": true}");
    wf_check_status(&fw, "dlq"); /* b cannot be made */
    sg_check_json(sg_record(&fw, "b").input, "{\"by\": \"a\"}");
    CHECK_DONE(&fw.world, sg_requeue(&fw, "b", "[1, 2]"));
    check_input(&fw, "b", "[1, 2]");
    check_input(&fw, "z", "{\"by\": \"b\"}");
    wf_check_status(&fw, "completed");
    wf_close(&fw);
}

TEST(a_lost_lease_keeps_the_input)
{
    struct flow_world fw;
    wf_begin(&fw, FLOW("{step: a, input: {x: '{{ .n }}'}}"));
    sg_take(&fw, "a");
    wf_advance(&fw, 31000);
    struct task again = sg_take(&fw, "a");
    CHECK_INT(again.attempt, 2);
    sg_check_json(again.input, "{\"x\": 1}");
    wf_close(&fw);
}

/* ---- deploying ------------------------------------------------------------------------------ */

TEST(what_cannot_work_is_refused_at_deploy)
{
    static const struct {
        const char *text, *why;
    } cases[] = {
        {FLOW("{step: a, input: '{{ $.steps.b.output }}'}"), "the workflow has no step \"b\""},
        {FLOW("{step: a, output: ['{{ $.steps.bb.output }}']}"),
         "output: the workflow has no step \"bb\""},
        {FLOW("{condition: c, when: '{{ eq $.steps.x.output 1 }}', then: [{step: a}]}"),
         "when: the workflow has no step \"x\""},
        {FLOW("{step: a, input: {x: [1, '{{ foo .a }}']}}"),
         "input: x[1]: unknown function \"foo\" at column 4"},
        {FLOW("{step: a, input: '{{ len }}'}"), "function \"len\" takes 1 argument, not 0"},
        {FLOW("{human: h, input: '{{ .a '}"), "\"}}\" is missing"},
        {FLOW("{wait: h, event: e, input: '{{ $.nothing }}'}"), "$ has the fields"},
        {FLOW("{step: a, input: null}"), "input is null; leave it out"},
        {FLOW("{sleep: s, for: 1s, input: 1}"), "unknown key \"input\""},
        {FLOW("{human: h, output: 1}"), "unknown key \"output\""},
        {FLOW("{map: m, input: '{{ $.steps.x.output }}', over: '{{ . }}', steps: [{step: a}]}"),
         "input: the workflow has no step \"x\""},
        {FLOW("{map: m, input: 1, over: '{{ $.steps.x.output }}', steps: [{step: a}]}"),
         "over: the workflow has no step \"x\""},
        {FLOW("{map: m, output: 1, over: '{{ . }}', steps: [{step: a}]}"),
         "unknown key \"output\""},
    };
    struct flow_world fw;
    wf_open(&fw);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        CHECK_INT(wf_deploy(&fw, cases[i].text), CAIRN_E_BAD_INPUT);
        CHECK(strstr(fw.world.error.message, cases[i].why), "%s: %s", cases[i].text,
              fw.world.error.message);
    }
    CHECK_DONE(&fw.world,
               wf_deploy(&fw, FLOW("{step: a, input: '{{ $.steps.f_join.output }}{{ "
                                   "$.steps.h.output }}'}, {human: h}, {parallel: f, steps: "
                                   "[{step: b}]}")));
    wf_close(&fw);
}
