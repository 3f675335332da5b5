/* tests/spec/test_state_machine_wait.c - sleep and wait steps, `waiting_signal`, and the fields
 * of an instance: state-machine.md.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "flow_world.h"

TEST(a_sleep_ends_when_its_time_has_come_and_not_before)
{
    struct flow_world fw;
    wf_begin(&fw, FLOW("{step: a}, {sleep: z, for: 10m}, {step: b}"));
    wf_do(&fw, "a");
    wf_check_steps(&fw, "a:completed z:waiting b:pending");
    wf_check_status(&fw, "running");
    wf_check_current(&fw, "z");
    CHECK_INT(wf_step(&fw, "z")->deadline_at_us, START_US + 10 * MINUTE_US);
    wf_check_nothing_to_take(&fw);
    wf_advance(&fw, 10 * MINUTE_MS - 1);
    wf_check_steps(&fw, "a:completed z:waiting b:pending");
    wf_advance(&fw, 1);
    wf_check_steps(&fw, "a:completed z:completed b:ready");
    struct task task = wf_take_step(&fw, "b");
    CHECK(is_same_json(task.input, "{\"by\": \"a\"}"), "the input is %s", task.input);
    wf_close(&fw);
}

TEST(an_advance_applies_each_timer_at_its_own_time)
{
    struct flow_world fw;
    wf_begin(&fw, FLOW("{sleep: x, for: 1s}, {sleep: y, for: 1s}, {sleep: z, for: 1s}"));
    wf_advance(&fw, HOUR_MS);
    wf_check_status(&fw, "completed");
    CHECK_INT(wf_step(&fw, "x")->finished_at_us, START_US + SECOND_US);
    CHECK_INT(wf_step(&fw, "y")->finished_at_us, START_US + 2 * SECOND_US);
    CHECK_INT(wf_instance(&fw)->finished_at_us, START_US + 3 * SECOND_US);
    wf_close(&fw);
}

TEST(a_wait_step_with_nothing_else_makes_the_instance_waiting_signal)
{
    struct flow_world fw;
    wf_begin(&fw, FLOW("{step: a}, {wait: s, event: go, timeout: 1h}, {step: b}"));
    wf_check_status(&fw, "running");
    wf_do(&fw, "a");
    wf_check_status(&fw, "waiting_signal");
    wf_check_current(&fw, "s");
    CHECK_STR(wf_step(&fw, "s")->waiting_event, "go");
    CHECK_INT(wf_signal(&fw, "stop", NULL).taken, 0);
    wf_check_status(&fw, "waiting_signal");
    CHECK_INT(wf_signal(&fw, "go", "{\"x\": 1}").taken, 1);
    wf_check_status(&fw, "running");
    wf_check_steps(&fw, "a:completed s:completed b:ready");
    struct task task = wf_take_step(&fw, "b");
    CHECK(is_same_json(task.input, "{\"by\": \"a\"}"), "a wait adds nothing: %s", task.input);
    CHECK(strstr(task.signal, "\"go\"") && strstr(task.signal, "\"x\""), "the signal is %s",
          task.signal);
    wf_close(&fw);
}

TEST(a_signal_goes_on_to_the_next_handler_through_what_lies_between)
{
    struct flow_world fw;
    wf_begin(&fw, FLOW("{wait: s, event: go}, {sleep: z, for: 1s}, {wait: t, event: more, "
                       "timeout: 1s, on_timeout: continue}, {step: b}, {step: c}"));
    wf_signal(&fw, "go", "{\"x\": 1}");
    wf_advance(&fw, 2 * SECOND_MS);
    struct task task = wf_take_step(&fw, "b");
    CHECK(strstr(task.signal, "\"x\""), "the signal is %s", task.signal);
    CHECK_INT(wf_report(&fw, &task, CAIRN_COMPLETE, "1"), CAIRN_OK);
    task = wf_take_step(&fw, "c");
    CHECK_STR(task.signal, "");
    wf_close(&fw);
}

TEST(a_step_that_is_retried_gets_its_signal_again)
{
    struct flow_world fw;
    wf_begin(&fw, FLOW("{wait: s, event: go}, {save_point: p}, {step: b}"));
    wf_signal(&fw, "go", "{\"x\": 1}");
    wf_do_badly(&fw, "b");
    wf_check_status(&fw, "failed");
    CHECK_INT(wf_again(&fw), CAIRN_OK);
    struct task task = wf_take_step(&fw, "b");
    CHECK(strstr(task.signal, "\"x\""), "the signal is %s", task.signal);
    wf_close(&fw);
}

TEST(a_wait_step_takes_a_signal_that_is_already_there)
{
    struct flow_world fw;
    wf_begin(&fw, FLOW("{step: a}, {wait: s, event: go}, {wait: t, event: go}, {step: b}"));
    wf_signal(&fw, "go", NULL);
    wf_do(&fw, "a");
    wf_check_steps(&fw, "a:completed s:completed t:waiting b:pending");
    wf_check_status(&fw, "waiting_signal");
    wf_signal(&fw, "go", NULL);
    wf_check_steps(&fw, "a:completed s:completed t:completed b:ready");
    wf_close(&fw);
}

TEST(a_wait_step_that_runs_out_fails)
{
    struct flow_world fw;
    wf_begin(&fw, FLOW("{wait: s, event: go, timeout: 1h}, {step: b}"));
    wf_advance(&fw, HOUR_MS - 1);
    wf_check_status(&fw, "waiting_signal");
    wf_advance(&fw, 1);
    wf_check_steps(&fw, "s:failed b:skipped");
    wf_check_status(&fw, "failed");
    wf_check_last_error(&fw, "s", "WAITING_TIMEOUT", 1);
    wf_close(&fw);
}

TEST(a_wait_step_may_go_on_when_it_runs_out)
{
    struct flow_world fw;
    wf_begin(&fw, FLOW("{wait: s, event: go, timeout: 1h, on_timeout: continue}, {step: b}"));
    wf_advance(&fw, HOUR_MS);
    wf_check_steps(&fw, "s:skipped b:ready");
    wf_check_status(&fw, "running");
    struct task task = wf_take_step(&fw, "b");
    CHECK(is_same_json(task.input, "{\"n\": 1}"), "the input is %s", task.input);
    CHECK_STR(task.signal, "");
    wf_close(&fw);
}

TEST(a_wait_step_at_the_end_completes_the_instance)
{
    struct flow_world fw;
    wf_begin(&fw, FLOW("{wait: s, event: go}"));
    wf_signal(&fw, "go", NULL);
    wf_check_status(&fw, "completed");
    CHECK(is_same_json(wf_instance(&fw)->output, "{\"n\": 1}"), "%s", wf_instance(&fw)->output);
    wf_close(&fw);
}

TEST(waits_sleeps_and_steps_survive_a_crash)
{
    struct flow_world fw;
    wf_begin(&fw, FLOW("{step: a}, {sleep: z, for: 1m}, {wait: s, event: go}, {step: b}"));
    world_reopen(&fw.world);
    wf_do(&fw, "a");
    world_reopen(&fw.world);
    wf_advance(&fw, MINUTE_MS);
    world_reopen(&fw.world);
    wf_check_status(&fw, "waiting_signal");
    wf_signal(&fw, "go", NULL);
    world_reopen(&fw.world);
    wf_do(&fw, "b");
    wf_check_status(&fw, "completed");
    wf_close(&fw);
}

/* ---- fields ------------------------------------------------------------------------------ */

TEST(current_steps_names_what_the_instance_is_at)
{
    struct flow_world fw;
    wf_begin(&fw, FLOW("{step: a}, {sleep: z, for: 1s}, {wait: s, event: go}, {step: b}"));
    wf_check_current(&fw, "a");
    struct task task = wf_take_step(&fw, "a");
    wf_check_current(&fw, "a");
    CHECK_DONE(&fw.world, wf_wait(&fw, &task, "x", -1));
    wf_check_current(&fw, "a");
    wf_signal(&fw, "x", NULL);
    wf_do(&fw, "a");
    wf_check_current(&fw, "z");
    wf_advance(&fw, 1000);
    wf_check_current(&fw, "s");
    wf_signal(&fw, "go", NULL);
    wf_check_current(&fw, "b");
    wf_do(&fw, "b");
    wf_check_current(&fw, "");
    wf_close(&fw);
}

TEST(last_error_is_the_latest_failed_call)
{
    struct flow_world fw;
    wf_begin(&fw, FLOW("{step: a}, {step: b}"));
    CHECK(!wf_instance(&fw)->last_error, "%s", wf_instance(&fw)->last_error);
    struct task task = wf_take_step(&fw, "a");
    CHECK_DONE(&fw.world, wf_retry(&fw, &task, 0));
    wf_check_last_error(&fw, "a", "later, please", 1);
    task = wf_take_step(&fw, "a");
    CHECK_DONE(&fw.world, wf_report(&fw, &task, CAIRN_FAIL, "again"));
    wf_check_last_error(&fw, "a", "again", 2);
    wf_advance(&fw, HOUR_MS);
    wf_do(&fw, "a");
    wf_do_badly(&fw, "b");
    wf_check_last_error(&fw, "b", "no good", 1);
    wf_close(&fw);
}

static size_t count_listed(struct flow_world *fw, const char *status, const char *workflow)
{
    cairn_instance_filter filter = CAIRN_INSTANCE_FILTER_DEFAULTS;
    size_t count = 0;
    filter.status = status;
    filter.workflow = workflow;
    filter.limit = 2;
    char cursor[200] = "";
    for (bool is_more = true; is_more;) {
        cairn_page *page = NULL;
        filter.cursor = cursor[0] ? cursor : NULL;
        CHECK_DONE(&fw->world,
                   cairn_instance_list(fw->world.engine, &filter, &page, &fw->world.error));
        count += cairn_page_count(page);
        is_more = cairn_page_next(page);
        snprintf(cursor, sizeof cursor, "%s", is_more ? cairn_page_next(page) : "");
        cairn_page_free(page);
    }
    return count;
}

TEST(instances_are_listed_by_status_and_workflow)
{
    struct flow_world fw;
    cairn_start_options options = CAIRN_START_DEFAULTS;
    wf_begin(&fw, FLOW("{step: a}"));
    wf_do(&fw, "a");
    CHECK_DONE(&fw.world, wf_deploy(&fw, "{workflow: v, version: 1, steps: [{step: b}]}"));
    for (int i = 0; i < 4; i++) {
        options.workflow = i == 3 ? "v" : "w";
        CHECK_DONE(&fw.world, wf_start(&fw, &options, NULL));
    }
    CHECK_INT(count_listed(&fw, NULL, NULL), 5);
    CHECK_INT(count_listed(&fw, "running", NULL), 4);
    CHECK_INT(count_listed(&fw, "completed", "w"), 1);
    CHECK_INT(count_listed(&fw, NULL, "v"), 1);
    CHECK_INT(count_listed(&fw, "failed", NULL), 0);
    wf_close(&fw);
}
