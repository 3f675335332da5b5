/* tests/spec/test_floxy_condition.c - conditions in a flow: section 10 of floxy-engine.md, and
 * "Conditions" of the design.  What an expression yields is tested in tests/unit.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "saga.h"

/* n is 1. */
#define IF(when, rest) "{condition: c, when: '" when "', " rest "}"

TEST(true_takes_then_and_false_takes_else_and_both_go_on_with_the_next_element)
{
    struct flow_world fw;
    wf_begin(&fw,
             FLOW(IF("{{ gt .n 0 }}", "then: [{step: t}], else: [{step: e}]") ", {step: z}"));
    wf_check_steps(&fw, "c:completed t:ready e:skipped z:pending");
    struct task t = sg_take(&fw, "t");
    sg_check_json(t.input, "{\"n\": 1}");
    sg_complete(&fw, &t);
    sg_do(&fw, "z");
    wf_check_status(&fw, "completed");
    wf_close(&fw);

    wf_begin(&fw, FLOW(IF("{{ gt .n 1 }}",
                          "then: [{step: t}, {step: t2}], else: [{step: e}]") ", "
                                                                              "{step: z}"));
    wf_check_steps(&fw, "c:completed t:skipped t2:skipped e:ready z:pending");
    sg_do(&fw, "e");
    sg_do(&fw, "z");
    wf_check_status(&fw, "completed");
    wf_close(&fw);
}

TEST(false_without_else_passes_through)
{
    struct flow_world fw;
    wf_begin(&fw, FLOW(IF("{{ eq .n 2 }}", "then: [{step: t}]") ", {step: z}"));
    wf_check_steps(&fw, "c:completed t:skipped z:ready");
    sg_check_json(sg_take(&fw, "z").input, "{\"n\": 1}");
    wf_close(&fw);
}

TEST(a_condition_may_be_last)
{
    struct flow_world fw;
    wf_begin(&fw, FLOW("{step: a}, " IF("{{ eq .by \"b\" }}", "then: [{step: t}]")));
    sg_do(&fw, "a");
    wf_check_status(&fw, "completed");
    sg_check_json(wf_instance(&fw)->output, "{\"by\": \"a\"}");
    wf_close(&fw);
}

TEST(a_condition_sees_the_output_of_the_step_before_and_whose_it_is)
{
    struct flow_world fw;
    wf_begin(&fw, FLOW("{step: a}, " IF("{{ and (eq .by \"a\") (eq .step_name \"c\") "
                                        "(ne .instance_id \"\") }}",
                                        "then: [{step: t}]")));
    sg_do(&fw, "a");
    sg_do(&fw, "t");
    wf_check_status(&fw, "completed");
    wf_close(&fw);
}

TEST(a_missing_field_is_zero)
{
    struct flow_world fw;
    wf_begin(&fw, FLOW(IF("{{ eq .nothing.at.all 0 }}", "then: [{step: t}]")));
    wf_check_steps(&fw, "c:completed t:ready");
    wf_close(&fw);
}

TEST(the_list_that_is_not_taken_is_skipped_whole_in_the_conditions_commit)
{
    struct flow_world fw;
    wf_begin(
        &fw,
        FLOW(IF("{{ eq .n 1 }}",
                "then: [{step: t}], else: [{step: e}, {fork: f, join: all, branches: "
                "[[{step: x}], [{condition: d, when: '{{ true }}', then: [{step: y}]}]]}, "
                "{wait: w, event: go}, {human: h}, {sleep: s, for: 1m}, {save_point: p}]")));
    wf_check_steps(&fw, "c:completed t:ready e:skipped f:skipped x:skipped d:skipped y:skipped "
                        "f_join:skipped w:skipped h:skipped s:skipped p:skipped");
    wf_check_events(&fw, "workflow_started step_skipped:e step_skipped:f step_skipped:x "
                         "step_skipped:d step_skipped:y step_skipped:f_join step_skipped:w "
                         "step_skipped:h step_skipped:s step_skipped:p step_completed:c "
                         "step_ready:t");
    sg_do(&fw, "t");
    wf_check_status(&fw, "completed");
    wf_close(&fw);
}

TEST(conditions_nest)
{
    struct flow_world fw;
    wf_begin(&fw, FLOW(IF("{{ eq .n 1 }}",
                          "then: [{condition: d, when: '{{ eq .n 2 }}', then: [{step: x}], "
                          "else: [{condition: e, when: '{{ not (eq .n 2) }}', "
                          "then: [{step: y}]}]}], else: [{step: z}]") ", {step: fin}"));
    wf_check_steps(&fw, "c:completed d:completed x:skipped e:completed y:ready z:skipped "
                        "fin:pending");
    sg_do(&fw, "y");
    sg_do(&fw, "fin");
    wf_check_status(&fw, "completed");
    wf_close(&fw);
}

TEST(a_malformed_expression_is_refused_at_deploy)
{
    static const char *const malformed[] = {
        "", "{{ }}", "{{ eq .a }}", "{{ like .a 1 }}", "{{ gt .a 1 2 }}", "{{ eq .a 1", ".a"};
    char text[300];
    struct flow_world fw;
    wf_open(&fw);
    for (size_t i = 0; i < sizeof malformed / sizeof *malformed; i++) {
        snprintf(text, sizeof text, FLOW("{condition: c, when: '%s', then: [{step: t}]}"),
                 malformed[i]);
        cairn_code code = wf_deploy(&fw, text);
        CHECK(code == CAIRN_E_BAD_INPUT, "\"%s\": %d", malformed[i], code);
    }
    wf_close(&fw);
}

TEST(one_that_yields_no_boolean_fails_the_step)
{
    struct flow_world fw;
    wf_begin(&fw, FLOW("{step: a, compensation: {handler: ua}}, " IF(
                      "{{ .by }}", "then: [{step: t}]") ", {step: z}"));
    sg_do(&fw, "a");
    wf_check_status(&fw, "compensating");
    sg_undo_all(&fw, "a");
    wf_check_status(&fw, "failed");
    wf_check_steps(&fw, "a:rolled_back c:rolled_back t:skipped z:skipped");
    CHECK(strlen(wf_step(&fw, "c")->error) > 0, "the condition has no error");
    CHECK(strstr(wf_instance(&fw)->last_error, "\"c\""), "last_error is %s",
          wf_instance(&fw)->last_error);
    CHECK(strstr(wf_instance(&fw)->last_error, "\"attempt\": 1") ||
              strstr(wf_instance(&fw)->last_error, "\"attempt\":1"),
          "last_error is %s", wf_instance(&fw)->last_error);
    wf_close(&fw);
}

/* Whoever sends amounts as strings need not change them. */
TEST(a_numeric_string_is_a_number_beside_a_number)
{
    struct flow_world fw;
    wf_begin(&fw, FLOW("{step: a}, " IF("{{ gt .amount 5 }}", "then: [{step: t}]")));
    struct task a = sg_take(&fw, "a");
    CHECK_DONE(&fw.world, wf_report(&fw, &a, CAIRN_COMPLETE, "{\"amount\": \"10\"}"));
    wf_check_steps(&fw, "a:completed c:completed t:ready");
    wf_close(&fw);
}

TEST(an_order_of_a_number_and_another_string_fails_the_step_and_names_both)
{
    struct flow_world fw;
    wf_begin(&fw, FLOW("{step: a}, " IF("{{ gt .amount 5 }}", "then: [{step: t}]")));
    struct task a = sg_take(&fw, "a");
    CHECK_DONE(&fw.world, wf_report(&fw, &a, CAIRN_COMPLETE, "{\"amount\": \"ten\"}"));
    wf_check_status(&fw, "failed");
    const char *error = wf_step(&fw, "c")->error;
    CHECK(strstr(error, "\"ten\"") && strstr(error, " 5"), "%s", error);
    wf_close(&fw);
}

TEST(a_condition_that_fails_when_the_instance_starts_undoes_what_was_before)
{
    struct flow_world fw;
    wf_begin(&fw, FLOW("{fork: f, join: all, branches: [[{save_point: s}], [{step: a, "
                       "compensation: {handler: ua}}], [{condition: c, when: '{{ .n }}', "
                       "then: [{step: t}]}]]}"));
    wf_check_status(&fw, "failed");
    wf_check_steps(&fw, "f:rolled_back s:rolled_back a:skipped c:rolled_back t:skipped "
                        "f_join:skipped");
    wf_check_nothing_to_take(&fw);
    wf_close(&fw);
}
