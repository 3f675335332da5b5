/* tests/spec/test_map.c - steps of workflows that run a list of steps for each element of a list.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "family.h"

#include <stdlib.h>

#define U(name) "{step: " name ", compensation: {handler: u" name "}}"

static void begin(struct flow_world *fw, const char *elements, const char *input)
{
    cairn_start_options options = CAIRN_START_DEFAULTS;
    char text[4000];
    wf_open(fw);
    snprintf(text, sizeof text, "{workflow: w, version: 1, steps: [%s]}", elements);
    CHECK_DONE(&fw->world, wf_deploy(fw, text));
    options.workflow = "w";
    options.input = input;
    CHECK_DONE(&fw->world, wf_start(fw, &options, NULL));
}

/* A task of a type, which must be there; completed with this output. */
static void complete(struct flow_world *fw, const struct task *task, const char *output)
{
    CHECK_DONE(&fw->world, wf_report(fw, task, CAIRN_COMPLETE, output));
}

TEST(the_output_is_in_the_order_of_the_elements)
{
    struct flow_world fw;
    struct task tasks[5];
    begin(&fw, "{map: m, over: \"{{ .to }}\", steps: [{step: c}]}, {step: z}",
          "{\"to\": [1, \"b\", {\"c\": [2]}, null]}");
    CHECK_INT(wf_take_many(&fw, "w", "c", 5, tasks), 4);
    CHECK_INT(fam_count(&fw, fw.id), 4);
    sg_check_json(tasks[0].input, "1");
    sg_check_json(tasks[2].input, "{\"c\": [2]}");
    sg_check_json(tasks[3].input, "null");
    complete(&fw, &tasks[3], "\"four\"");
    complete(&fw, &tasks[1], "{\"two\": 2}");
    complete(&fw, &tasks[2], "[3]");
    fam_settle(&fw);
    wf_check_steps(&fw, "m:waiting z:pending");
    complete(&fw, &tasks[0], "1.5");
    struct task z = sg_take(&fw, "z");
    sg_check_json(z.input, "[1.5, {\"two\": 2}, [3], \"four\"]");
    wf_close(&fw);
}

TEST(so_many_run_at_one_time)
{
    struct flow_world fw;
    struct task tasks[8];
    begin(&fw, "{map: m, over: \"{{ . }}\", max_parallel: 2, steps: [{step: c}]}",
          "[1, 2, 3, 4, 5]");
    CHECK_INT(wf_take_many(&fw, "w", "c", 8, tasks), 2);
    CHECK_INT(fam_count(&fw, fw.id), 2);
    complete(&fw, &tasks[1], "20");
    CHECK_INT(wf_take_many(&fw, "w", "c", 8, tasks + 2), 1);
    sg_check_json(tasks[2].input, "3");
    complete(&fw, &tasks[0], "10");
    complete(&fw, &tasks[2], "30");
    CHECK_INT(wf_take_many(&fw, "w", "c", 8, tasks + 3), 2);
    complete(&fw, &tasks[4], "50");
    complete(&fw, &tasks[3], "40");
    fam_settle(&fw);
    wf_check_status(&fw, "completed");
    sg_check_json(wf_instance(&fw)->output, "[10, 20, 30, 40, 50]");
    wf_close(&fw);
}

TEST(an_empty_list_gives_an_empty_one_and_what_is_no_list_fails_the_step)
{
    struct flow_world fw;
    begin(&fw, "{map: m, over: \"{{ .to }}\", steps: [{step: c}]}", "{\"to\": []}");
    fam_settle(&fw);
    wf_check_status(&fw, "completed");
    CHECK_STR(wf_instance(&fw)->output, "[]");
    wf_close(&fw);
    begin(&fw, "{map: m, over: \"{{ .to }}\", steps: [{step: c}]}", "{\"to\": 3}");
    fam_settle(&fw);
    wf_check_status(&fw, "failed");
    wf_check_last_error(&fw, "m", "over is not a list", 0);
    wf_close(&fw);
}

TEST(an_earlier_output_can_be_run_over)
{
    struct flow_world fw;
    struct task a, tasks[3];
    begin(&fw,
          "{step: a, output: \"{{ .list }}\"}, {step: b}, {map: m, over: \"{{ $.steps.a.output "
          "}}\", steps: [{step: c}]}",
          "{}");
    a = sg_take(&fw, "a");
    complete(&fw, &a, "{\"list\": [7, 8]}");
    sg_do(&fw, "b");
    CHECK_INT(wf_take_many(&fw, "w", "c", 3, tasks), 2);
    sg_check_json(tasks[1].input, "8");
    wf_close(&fw);
}

/* ---- its input ------------------------------------------------------------------------------ */

#define INPUT "input: {who: \"{{ $.input.to }}\", by: \"{{ .by }}\"}"

TEST(over_and_group_see_the_input_that_a_map_makes)
{
    struct flow_world fw;
    struct task tasks[3];
    char child[40];
    begin(&fw,
          "{step: a}, {map: m, " INPUT
          ", over: \"{{ .who }}\", group: \"of {{ .by }}{{ len .who "
          "}}\", compensation: {handler: um}, steps: [{step: c}]}, {step: z}",
          "{\"to\": [1, 2]}");
    sg_do(&fw, "a");
    CHECK_INT(wf_take_many(&fw, "w", "c", 3, tasks), 2);
    sg_check_json(tasks[1].input, "2");
    sg_check_json(wf_step(&fw, "m")->input, "{\"who\": [1, 2], \"by\": \"a\"}");
    fam_child(&fw, fw.id, 0, child);
    fam_go(&fw, child);
    CHECK_STR(wf_instance(&fw)->group, "of a2");
    snprintf(child, sizeof child, "%s", wf_instance(&fw)->parent);
    fam_go(&fw, child);
    complete(&fw, &tasks[0], "10");
    complete(&fw, &tasks[1], "20");
    sg_fail(&fw, "z"); /* undone with the input that was made */
    struct task undo = sg_take_undo(&fw, "m");
    sg_check_json(undo.input,
                  "{\"input\": {\"who\": [1, 2], \"by\": \"a\"}, \"output\": [10, 20]}");
    wf_close(&fw);
}

TEST(input_and_over_of_a_map_name_other_steps)
{
    struct flow_world fw;
    struct task tasks[3];
    begin(&fw,
          "{step: a, output: [1, 2]}, {step: b, output: [3]}, {map: m, input: {x: \"{{ "
          "$.steps.a.output }}\"}, over: \"{{ $.steps.b.output }}\", steps: [{step: c}]}",
          "{}");
    sg_do(&fw, "a");
    sg_do(&fw, "b");
    CHECK_INT(wf_take_many(&fw, "w", "c", 3, tasks), 1);
    sg_check_json(tasks[0].input, "3");
    sg_check_json(wf_step(&fw, "m")->input, "{\"x\": [1, 2]}");
    wf_close(&fw);
}

TEST(a_map_whose_input_cannot_be_made_fails_and_passes_on_what_arrived)
{
    struct flow_world fw;
    begin(&fw, "{map: m, input: \"{{ len .n }}\", over: \"{{ . }}\", steps: [{step: c}]}",
          "{\"n\": 5}");
    fam_settle(&fw);
    wf_check_status(&fw, "failed");
    wf_check_last_error(&fw, "m", "input: a number has no length at column 8", 0);
    CHECK_INT(fam_count(&fw, fw.id), 0);
    wf_close(&fw);
    begin(
        &fw,
        "{map: m, input: \"{{ .n }}\", over: \"{{ . }}\", on_failure: continue, steps: [{step: "
        "c}]}, {step: z}",
        "{\"n\": 5}");
    sg_check_json(sg_take(&fw, "z").input, "{\"n\": 5}"); /* 5 is no list */
    wf_close(&fw);
}

TEST(a_map_that_is_tried_again_makes_its_input_anew)
{
    struct flow_world fw;
    struct task tasks[3];
    begin(&fw,
          "{step: a}, {map: m, input: [\"{{ .by }}\", \"{{ $.input.n }}\"], over: \"{{ . }}\", "
          "steps: [{step: c, max_attempts: 1}]}",
          "{\"n\": 5}");
    sg_do(&fw, "a");
    for (int run = 1; run <= 2; run++) {
        CHECK_INT(wf_take_many(&fw, "w", "c", 3, tasks), 2);
        sg_check_json(tasks[0].input, "\"a\"");
        sg_check_json(tasks[1].input, "5");
        CHECK_DONE(&fw.world, wf_report(&fw, &tasks[1], CAIRN_COMPLETE, "1"));
        CHECK_DONE(&fw.world, wf_report(&fw, &tasks[0], CAIRN_FAIL, "no"));
        fam_settle(&fw);
        wf_check_status(&fw, "failed");
        if (run == 1)
            CHECK_DONE(&fw.world, wf_again(&fw));
    }
    wf_close(&fw);
}

TEST(an_output_of_the_commit_that_started_the_instance_can_be_run_over)
{
    struct flow_world fw;
    begin(&fw,
          "{map: m, over: \"{{ . }}\", steps: [{step: c}]}, "
          "{map: n, over: \"{{ $.steps.m.output }}\", steps: [{step: d}]}",
          "[]");
    fam_settle(&fw);
    wf_check_status(&fw, "completed");
    CHECK_STR(wf_instance(&fw)->output, "[]");
    wf_close(&fw);
}

TEST(counts_can_be_given_in_place_of_the_outputs)
{
    struct flow_world fw;
    struct task tasks[3];
    begin(
        &fw,
        "{map: m, over: \"{{ . }}\", collect: false, join: {at_least: 2}, steps: [{step: c}]}",
        "[1, 2, 3]");
    CHECK_INT(wf_take_many(&fw, "w", "c", 3, tasks), 3);
    CHECK_DONE(&fw.world, wf_report(&fw, &tasks[0], CAIRN_DEAD, "no"));
    complete(&fw, &tasks[1], "1");
    complete(&fw, &tasks[2], "1");
    fam_settle(&fw);
    sg_check_json(wf_instance(&fw)->output, "{\"count\": 3, \"completed\": 2, \"failed\": 1}");
    wf_close(&fw);
}

TEST(one_failure_stops_the_others_and_what_is_done_is_rolled_back)
{
    struct flow_world fw;
    struct task tasks[4], undo;
    char first[40], third[40];
    begin(&fw,
          "{map: m, over: \"{{ . }}\", max_parallel: 3, on_failure: compensate, steps: [" U(
              "c") "]}",
          "[1, 2, 3, 4]");
    CHECK_INT(wf_take_many(&fw, "w", "c", 3, tasks), 3);
    fam_child(&fw, fw.id, 0, first);
    fam_child(&fw, fw.id, 2, third);
    complete(&fw, &tasks[0], "1");
    CHECK_DONE(&fw.world, wf_report(&fw, &tasks[1], CAIRN_DEAD, "no"));
    CHECK_INT(wf_take_many(&fw, "w", "uc", 1, &undo), 1); /* the second's own */
    complete(&fw, &undo, NULL);
    fam_settle(&fw);
    wf_check_steps(&fw,
                   "m:waiting"); /* until the third, and the fourth if it began, are undone */
    fam_go(&fw, third);
    sg_check_stop(&fw, &tasks[2], "cancelled");
    sg_check_late(&fw, &tasks[2]);
    fam_go(&fw, wf_instance(&fw)->parent);
    while (wf_take_many(&fw, "w", "uc", 1, &undo))
        complete(&fw, &undo, NULL);
    fam_settle(&fw);
    wf_check_status(&fw, "failed");
    wf_check_steps(&fw, "m:rolled_back");
    wf_check_last_error(&fw, "m", "no", 1);
    fam_check(&fw, first, "cancelled", "c:rolled_back");
    fam_check(&fw, third, "cancelled", "c:rolled_back");
    wf_close(&fw);
}

TEST(the_first_that_completes_is_enough_for_any)
{
    struct flow_world fw;
    struct task tasks[3];
    begin(&fw, "{map: m, over: \"{{ . }}\", join: any, steps: [{step: c}]}", "[1, 2, 3]");
    CHECK_INT(wf_take_many(&fw, "w", "c", 3, tasks), 3);
    CHECK_DONE(&fw.world, wf_report(&fw, &tasks[0], CAIRN_DEAD, "no"));
    complete(&fw, &tasks[1], "2");
    fam_settle(&fw);
    sg_check_late(&fw, &tasks[2]);
    fam_settle(&fw);
    wf_check_status(&fw, "completed");
    sg_check_json(wf_instance(&fw)->output, "[null, 2, null]");
    wf_close(&fw);
}

TEST(a_cancel_undoes_every_element)
{
    struct flow_world fw;
    struct task tasks[3];
    char id[40];
    begin(&fw, "{map: m, over: \"{{ . }}\", steps: [" U("c") ", {step: d}]}", "[1, 2]");
    CHECK_INT(wf_take_many(&fw, "w", "c", 3, tasks), 2);
    complete(&fw, &tasks[0], "1");
    sg_do(&fw, "d");
    complete(&fw, &tasks[1], "2");
    fam_settle(&fw);
    CHECK_DONE(&fw.world, wf_cancel(&fw));
    for (struct task undo; wf_take_many(&fw, "w", "uc", 1, &undo);)
        complete(&fw, &undo, NULL);
    fam_settle(&fw);
    wf_check_status(&fw, "cancelled");
    for (size_t i = 0; i < 2; i++) {
        fam_child(&fw, fw.id, i, id);
        fam_go(&fw, id);
        wf_check_status(&fw, "cancelled");
        fam_go(&fw, wf_instance(&fw)->parent);
    }
    wf_close(&fw);
}

/* One that lost could not be undone; somebody sees to it while the map is undone, once more. */
TEST(an_element_that_lost_may_be_undone_together_with_those_that_completed)
{
    struct flow_world fw;
    struct task tasks[2], d[2];
    char parent[40], loser[40];
    begin(
        &fw,
        "{map: m, over: \"{{ . }}\", join: any, steps: [{step: c, compensation: {handler: uc, "
        "max_attempts: 1}}, {step: d}]}, {step: z, on_failure: compensate}",
        "[1, 2]");
    snprintf(parent, sizeof parent, "%s", fw.id);
    CHECK_INT(wf_take_many(&fw, "w", "c", 2, tasks), 2);
    complete(&fw, &tasks[0], "1");
    complete(&fw, &tasks[1], "2");
    CHECK_INT(wf_take_many(&fw, "w", "d", 2, d), 2);
    complete(&fw, &d[0], "1");
    fam_settle(&fw);
    sg_check_late(&fw, &d[1]);
    struct task undo = sg_take_undo(&fw, "c");
    CHECK_DONE(&fw.world, wf_report(&fw, &undo, CAIRN_FAIL, "stuck"));
    fam_child(&fw, parent, 1, loser);
    sg_fail(&fw, "z");
    sg_undo(&fw, "c"); /* of the one that completed */
    fam_settle(&fw);
    wf_check_steps(&fw, "m:failed z:rolled_back");
    fam_go(&fw, loser);
    CHECK_DONE(&fw.world, sg_requeue(&fw, "c", NULL));
    fam_go(&fw, parent);
    CHECK_DONE(&fw.world, sg_requeue(&fw, "m", NULL));
    fam_settle(&fw);
    sg_undo(&fw, "c");
    fam_settle(&fw);
    wf_check_steps(&fw, "m:rolled_back z:rolled_back");
    fam_check(&fw, loser, "cancelled", "c:rolled_back d:skipped");
    wf_close(&fw);
}

TEST(an_array_beyond_the_limit_of_outputs_fails_the_step)
{
    struct flow_world fw;
    struct task tasks[3];
    cairn_start_options options = CAIRN_START_DEFAULTS;
    wf_open_limited(&fw, 200);
    CHECK_DONE(&fw.world,
               wf_deploy(&fw, FLOW("{map: m, over: \"{{ . }}\", steps: [{step: c}]}")));
    options.workflow = "w";
    options.input = "[1, 2, 3]";
    CHECK_DONE(&fw.world, wf_start(&fw, &options, NULL));
    CHECK_INT(wf_take_many(&fw, "w", "c", 3, tasks), 3);
    for (int i = 0; i < 2; i++)
        complete(&fw, &tasks[i],
                 "\"01234567890123456789012345678901234567890123456789"
                 "01234567890123456789012345678901234567890123456789\"");
    fam_settle(&fw);
    sg_check_late(&fw, &tasks[2]); /* as soon as it is passed */
    fam_settle(&fw);
    wf_check_status(&fw, "failed");
    wf_close(&fw);
}

TEST(a_long_list_is_run_in_portions)
{
    enum { MANY = 600 };
    struct flow_world fw;
    static struct task tasks[MANY];
    char *input = malloc(MANY * 8), *at = input;
    for (int i = 0; i < MANY; i++)
        at += sprintf(at, "%c%d", i ? ',' : '[', i);
    strcpy(at, "]");
    begin(&fw, "{map: m, over: \"{{ . }}\", max_parallel: 1000, steps: [{step: c}]}", input);
    size_t count = 0;
    for (int i = 0; i < 8 && count < MANY; i++)
        count += wf_take_many(&fw, "w", "c", MANY, tasks + count);
    CHECK_INT(count, MANY);
    for (size_t i = count; i > 0; i--)
        complete(&fw, &tasks[i - 1], tasks[i - 1].input);
    for (int i = 0; i < 4; i++)
        fam_settle(&fw);
    wf_check_status(&fw, "completed");
    sg_check_json(wf_instance(&fw)->output, input);
    free(input);
    wf_close(&fw);
}

TEST(a_list_of_more_than_100000_elements_fails_the_step)
{
    enum { MANY = 100001 };
    struct flow_world fw;
    char *input = malloc(MANY * 2 + 2), *at = input;
    for (int i = 0; i < MANY; i++)
        at += sprintf(at, "%c0", i ? ',' : '[');
    strcpy(at, "]");
    begin(&fw, "{map: m, over: \"{{ . }}\", steps: [{step: c}]}", input);
    fam_settle(&fw);
    wf_check_status(&fw, "failed");
    wf_check_last_error(&fw, "m", "over has 100001 elements; 100000 are allowed", 0);
    CHECK_INT(fam_count(&fw, fw.id), 0);
    free(input);
    wf_close(&fw);
}

TEST(a_parent_says_how_many_elements_are_done)
{
    struct flow_world fw;
    struct task tasks[3];
    cairn_page *page;
    begin(&fw, "{map: m, over: \"{{ . }}\", steps: [{step: c}]}", "[1, 2, 3]");
    CHECK_INT(wf_take_many(&fw, "w", "c", 3, tasks), 3);
    complete(&fw, &tasks[0], "1");
    fam_settle(&fw);
    CHECK_DONE(&fw.world, cairn_instance_why(fw.world.engine, fw.id, &page, &fw.world.error));
    CHECK_STR(cairn_page_why(page, 0)->code, "mapping");
    CHECK_STR(cairn_page_why(page, 0)->text, "1 of 3 elements done, 0 failed.");
    cairn_page_free(page);
    wf_close(&fw);
}

TEST(an_element_is_run_again_by_itself)
{
    struct flow_world fw;
    struct task tasks[2];
    cairn_enqueued again;
    begin(&fw, "{map: m, over: \"{{ .to }}\", steps: [{step: b}, {step: c}]}, {step: z}",
          "{\"to\": [{\"n\": 1}, {\"n\": 2}]}");
    CHECK_INT(wf_take_many(&fw, "w", "b", 2, tasks), 2);
    char second[40];
    snprintf(second, sizeof second, "%.36s", tasks[1].id);
    complete(&fw, &tasks[0], "{\"b\": 1}");
    complete(&fw, &tasks[1], "{\"b\": 2}");
    CHECK_INT(wf_take_many(&fw, "w", "c", 2, tasks), 2);
    complete(&fw, &tasks[0], "1");
    complete(&fw, &tasks[1], "2");
    complete(&fw, (struct task[]){sg_take(&fw, "z")}, "3");
    wf_check_status(&fw, "completed");
    CHECK_DONE(&fw.world, cairn_instance_rerun(fw.world.engine, second, "c", NULL, &again,
                                               &fw.world.error));
    struct task c = sg_take(&fw, "c");
    sg_check_json(c.input, "{\"b\": 2}");
    complete(&fw, &c, "4");
    CHECK_DONE(&fw.world, cairn_instance_rerun(fw.world.engine, second, NULL, "{\"n\": 5}",
                                               &again, &fw.world.error));
    sg_check_json(sg_take(&fw, "b").input, "{\"n\": 5}");
    wf_check_status(&fw, "completed");
    wf_close(&fw);
}
