/* tests/spec/test_floxy_queue.c - priority and aging, workers that serve some handlers only, and
 * calls that are made once: sections 4, 6.2, 6.3 and 12 of floxy-engine.md.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "saga.h"

/* Deploys a workflow of one step and starts an instance of it. */
static void start_one(struct flow_world *fw, const char *name, int priority)
{
    char text[200];
    cairn_start_options options = CAIRN_START_DEFAULTS;
    snprintf(text, sizeof text, "{workflow: %s, version: 1, steps: [{step: %s, priority: %d}]}",
             name, name, priority);
    CHECK_DONE(&fw->world, wf_deploy(fw, text));
    options.workflow = name;
    CHECK_DONE(&fw->world, wf_start(fw, &options, NULL));
}

/* ---- priority ------------------------------------------------------------------------------- */

TEST(a_higher_priority_goes_first_and_among_equals_the_oldest)
{
    struct flow_world fw;
    wf_begin(&fw, FLOW("{fork: f, join: all, branches: [[{step: low, priority: 0}], "
                       "[{step: default1}], [{step: high, priority: 100}], [{step: default2}], "
                       "[{step: above, priority: 51}], [{step: below, priority: 49}]]}"));
    static const char *const order[] = {"high",     "above", "default1",
                                        "default2", "below", "low"};
    for (size_t i = 0; i < sizeof order / sizeof *order; i++)
        wf_do(&fw, order[i]);
    wf_check_status(&fw, "completed");
    wf_close(&fw);
}

/* Priority 10 at rate 0.5 is 60 after 100 s and 100 after 180 s. */
TEST(a_step_that_waits_gains_half_a_point_a_second)
{
    struct flow_world fw;
    wf_open(&fw);
    start_one(&fw, "old", 10);
    wf_advance(&fw, 100 * SECOND_MS - 1);
    start_one(&fw, "sixty", 60);
    wf_do(&fw, "sixty"); /* old has 59 */
    wf_advance(&fw, 1);
    start_one(&fw, "sixty2", 60);
    wf_do(&fw, "old"); /* 60, and older */
    wf_do(&fw, "sixty2");
    wf_close(&fw);
}

TEST(a_step_of_sixty_one_goes_before_one_that_has_aged_to_sixty)
{
    struct flow_world fw;
    wf_open(&fw);
    start_one(&fw, "old", 10);
    wf_advance(&fw, 101 * SECOND_MS); /* floor(50.5) */
    start_one(&fw, "new", 61);
    wf_do(&fw, "new");
    wf_advance(&fw, SECOND_MS);
    start_one(&fw, "new2", 61);
    wf_do(&fw, "old");
    wf_close(&fw);
}

TEST(after_a_hundred_and_eighty_seconds_nothing_goes_before_it)
{
    struct flow_world fw;
    wf_open(&fw);
    start_one(&fw, "old", 10);
    wf_advance(&fw, 180 * SECOND_MS - 1);
    start_one(&fw, "top", 100);
    wf_do(&fw, "top"); /* old has 99 */
    wf_advance(&fw, 1);
    start_one(&fw, "top2", 100);
    wf_do(&fw, "old"); /* 100 is the most */
    wf_advance(&fw, HOUR_MS);
    start_one(&fw, "top3", 100);
    wf_do(&fw, "top2"); /* the older of two at 100 */
    wf_do(&fw, "top3");
    wf_close(&fw);
}

TEST(aging_counts_from_the_time_when_a_step_may_run)
{
    struct flow_world fw;
    wf_open(&fw);
    start_one(&fw, "again", 50);
    struct task task = sg_take(&fw, "again");
    CHECK_DONE(&fw.world, wf_retry(&fw, &task, 1000 * SECOND_MS));
    wf_advance(&fw, 1000 * SECOND_MS);
    start_one(&fw, "new", 51);
    wf_do(&fw, "new");
    wf_do(&fw, "again");
    wf_close(&fw);
}

TEST(a_compensation_is_claimed_with_its_steps_priority)
{
    struct flow_world fw;
    wf_begin(&fw, FLOW("{step: a, priority: 80, compensation: {handler: ua}}, {step: b}"));
    sg_do(&fw, "a");
    sg_fail(&fw, "b");
    start_one(&fw, "other", 79);
    struct task task = wf_take(&fw, "w");
    CHECK_STR(task.kind, "compensation");
    wf_close(&fw);
}

/* ---- distributed mode ----------------------------------------------------------------------- */

TEST(workers_that_serve_some_handlers_share_one_queue)
{
    struct flow_world fw;
    struct task task;
    wf_begin(&fw,
             FLOW("{step: pay, handler: billing.pay.v1, compensation: "
                  "{handler: billing.refund.v1}}, {step: ship, handler: shipping.ship.v1}"));
    CHECK_INT(wf_take_many(&fw, "shipping", "shipping.%", 1, &task), 0);
    CHECK_INT(wf_take_many(&fw, "billing", "billing.%", 1, &task), 1);
    CHECK_STR(task.type, "billing.pay.v1");
    sg_complete(&fw, &task);
    CHECK_INT(wf_take_many(&fw, "billing", "billing.%", 1, &task), 0);
    CHECK_INT(wf_take_many(&fw, "shipping", "shipping.%", 1, &task), 1);
    CHECK_DONE(&fw.world, wf_report(&fw, &task, CAIRN_DEAD, "no boxes"));
    CHECK_INT(wf_take_many(&fw, "shipping", "shipping.%", 1, &task), 0);
    CHECK_INT(wf_take_many(&fw, "billing", "billing.refund.v1", 1, &task), 1);
    CHECK_STR(task.kind, "compensation");
    wf_close(&fw);
}

static cairn_code release(struct flow_world *fw, const struct task *task, int64_t delay_ms)
{
    cairn_report report = CAIRN_REPORT_DEFAULTS;
    report.outcome = CAIRN_RELEASE;
    report.delay_ms = delay_ms;
    report.is_missing_handler = true;
    return wf_report_as(fw, task, &report);
}

TEST(a_worker_without_the_handler_gives_the_step_back_at_no_cost_of_an_attempt)
{
    struct flow_world fw;
    wf_begin(&fw, FLOW("{step: a, max_attempts: 1}, {step: b}"));
    for (int i = 0; i < 5; i++) {
        struct task task = sg_take(&fw, "a");
        CHECK_INT(task.attempt, 1);
        CHECK_DONE(&fw.world, release(&fw, &task, 5000));
        wf_check_steps(&fw, "a:ready b:pending");
        wf_check_nothing_to_take(&fw); /* the cooldown */
        wf_advance(&fw, 4999);
        wf_check_nothing_to_take(&fw);
        wf_advance(&fw, 1);
    }
    CHECK_INT(wf_step(&fw, "a")->attempts, 0);
    CHECK_INT(wf_count_events(&fw, "step_skipped_missing_handler"), 1); /* once a minute */
    wf_advance(&fw, 60000);
    struct task again = sg_take(&fw, "a");
    CHECK_DONE(&fw.world, release(&fw, &again, 0));
    CHECK_INT(wf_count_events(&fw, "step_skipped_missing_handler"), 2);
    sg_check_event(
        &fw, "step_skipped_missing_handler", "a",
        "{\"worker\": \"w\", \"status\": \"ready\", \"reason\": \"missing_handler\"}");
    sg_do(&fw, "a");
    wf_check_steps(&fw, "a:completed b:ready");
    wf_close(&fw);
}

/* One event says that the step was claimed, one that it is ready again: the louder one now and
 * then, the quiet one else.  Both carry the status, so the events tell every change. */
TEST(giving_a_step_back_is_told_by_one_event)
{
    struct flow_world fw;
    wf_begin(&fw, FLOW("{step: a}"));
    for (int i = 0; i < 2; i++) {
        struct task task = sg_take(&fw, "a");
        CHECK_DONE(&fw.world, release(&fw, &task, 0));
    }
    wf_check_events(&fw, "workflow_started step_ready:a step_started:a "
                         "step_skipped_missing_handler:a step_started:a step_ready:a");
    wf_close(&fw);
}

/* With as many committers as the store can use. */
TEST(a_missing_handler_is_told_once_however_many_committers_there_are)
{
    struct flow_world fw;
    cairn_open_options options = CAIRN_OPEN_DEFAULTS;
    cairn_start_options start = CAIRN_START_DEFAULTS;
    wf_open_as(&fw, options);
    CHECK_DONE(&fw.world, wf_deploy(&fw, FLOW("{step: a}")));
    start.workflow = "w";
    CHECK_DONE(&fw.world, wf_start(&fw, &start, NULL));
    for (int i = 0; i < 40; i++) {
        struct task task = sg_take(&fw, "a");
        CHECK_DONE(&fw.world, release(&fw, &task, 0));
    }
    CHECK_INT(wf_count_events(&fw, "step_skipped_missing_handler"), 1);
    wf_close(&fw);
}

/* The options of section 6.2. */
TEST(the_cooldown_its_jitter_and_the_throttle_can_be_set)
{
    struct flow_world fw;
    cairn_open_options options = CAIRN_OPEN_DEFAULTS;
    cairn_start_options start = CAIRN_START_DEFAULTS;
    options.seed = 42;
    options.missing_cooldown_ms = 60000;
    options.missing_jitter = 0;
    options.missing_throttle_ms = 0;
    wf_open_as(&fw, options);
    CHECK_DONE(&fw.world, wf_deploy(&fw, FLOW("{step: a}")));
    start.workflow = "w";
    CHECK_DONE(&fw.world, wf_start(&fw, &start, NULL));
    for (int i = 0; i < 3; i++) {
        struct task task = sg_take(&fw, "a");
        CHECK_DONE(&fw.world, release(&fw, &task, -1)); /* the worker leaves it to the engine */
        wf_advance(&fw, 59999);
        wf_check_nothing_to_take(&fw);
        wf_advance(&fw, 1);
    }
    CHECK_INT(wf_count_events(&fw, "step_skipped_missing_handler"), 3);
    wf_close(&fw);
}

TEST(the_cooldown_varies_by_its_jitter)
{
    struct flow_world fw;
    cairn_open_options options = CAIRN_OPEN_DEFAULTS;
    cairn_start_options start = CAIRN_START_DEFAULTS;
    int64_t least = INT64_MAX, most = 0;
    options.seed = 42;
    wf_open_as(&fw, options);
    CHECK_DONE(&fw.world, wf_deploy(&fw, FLOW("{step: a}")));
    start.workflow = "w";
    CHECK_DONE(&fw.world, wf_start(&fw, &start, NULL));
    for (int i = 0; i < 20; i++) {
        struct task task = sg_take(&fw, "a");
        CHECK_DONE(&fw.world, release(&fw, &task, -1));
        int64_t rest_us = wf_step(&fw, "a")->next_run_at_us - world_now_us(&fw.world);
        least = rest_us < least ? rest_us : least;
        most = rest_us > most ? rest_us : most;
        wf_advance(&fw, 6 * SECOND_MS);
    }
    CHECK(least >= 4000 * 1000 && most <= 6000 * 1000, "from %lld to %lld us", (long long)least,
          (long long)most);
    CHECK(most - least > 100 * 1000, "from %lld to %lld us", (long long)least, (long long)most);
    wf_close(&fw);
}

TEST(a_jitter_beyond_one_is_refused)
{
    cairn_open_options options = CAIRN_OPEN_DEFAULTS;
    cairn_engine *engine = NULL;
    cairn_error error = {0};
    const double bad[] = {-0.1, 1.1};
    options.url = "memory:";
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        options.missing_jitter = bad[i];
        CHECK_INT(cairn_open(&options, &engine, &error), CAIRN_E_BAD_INPUT);
    }
}

TEST(without_a_cooldown_the_step_is_free_at_once_for_another)
{
    struct flow_world fw;
    wf_begin(&fw, FLOW("{step: a}"));
    struct task task = sg_take(&fw, "a");
    CHECK_DONE(&fw.world, release(&fw, &task, 0));
    sg_do(&fw, "a");
    wf_check_status(&fw, "completed");
    wf_close(&fw);
}

TEST(a_step_that_no_worker_could_call_is_not_undone)
{
    struct flow_world fw;
    wf_begin(&fw, FLOW("{step: a, compensation: {handler: ua}}"));
    struct task task = sg_take(&fw, "a");
    CHECK_DONE(&fw.world, release(&fw, &task, 5000));
    CHECK_DONE(&fw.world, wf_cancel(&fw));
    wf_check_status(&fw, "cancelled");
    wf_check_steps(&fw, "a:skipped");
    wf_close(&fw);
}

TEST(a_compensation_is_given_back_likewise)
{
    struct flow_world fw;
    wf_begin(&fw, FLOW("{step: a, compensation: {handler: ua, max_attempts: 1}}, {step: b}"));
    sg_do(&fw, "a");
    sg_fail(&fw, "b");
    struct task task = sg_take_undo(&fw, "a");
    CHECK_DONE(&fw.world, release(&fw, &task, 5000));
    wf_check_nothing_to_take(&fw);
    wf_advance(&fw, 5000);
    sg_undo_all(&fw, "a");
    wf_check_steps(&fw, "a:rolled_back b:rolled_back");
    wf_close(&fw);
}

/* ---- calls ---------------------------------------------------------------------------------- */

TEST(max_attempts_is_the_total_number_of_calls)
{
    struct flow_world fw;
    wf_begin(&fw, FLOW("{step: a, max_attempts: 3, retry: {backoff: fixed, base: 1s}}"));
    for (int i = 1; i <= 3; i++) {
        struct task task = sg_take(&fw, "a");
        CHECK_INT(task.attempt, i);
        CHECK_DONE(&fw.world, wf_report(&fw, &task, CAIRN_FAIL, "no good"));
        wf_advance(&fw, SECOND_MS);
    }
    wf_check_status(&fw, "failed");
    CHECK_INT(wf_step(&fw, "a")->attempts, 3);
    wf_check_nothing_to_take(&fw);
    wf_close(&fw);
}

TEST(a_non_idempotent_step_whose_lease_was_lost_in_the_call_is_called_once)
{
    struct flow_world fw;
    wf_begin(&fw, FLOW("{step: a, idempotent: false}, {step: b}"));
    struct task a = sg_take(&fw, "a");
    wf_advance(&fw, 30 * SECOND_MS + 1);
    wf_check_nothing_to_take(&fw);
    wf_check_status(&fw, "failed");
    wf_check_steps(&fw, "a:failed b:skipped");
    CHECK_STR(wf_step(&fw, "a")->error, "LEASE_EXPIRED");
    sg_check_late(&fw, &a);
    wf_advance(&fw, HOUR_MS);
    wf_check_nothing_to_take(&fw);
    CHECK_INT(wf_count_events(&fw, "step_started"), 1);
    wf_close(&fw);
}

TEST(a_non_idempotent_step_that_fails_is_not_called_again)
{
    struct flow_world fw;
    wf_begin(&fw, FLOW("{step: a, idempotent: false}"));
    struct task a = sg_take(&fw, "a");
    CHECK_INT(a.max_attempts, 1);
    CHECK_DONE(&fw.world, wf_retry(&fw, &a, 0));
    wf_check_status(&fw, "failed");
    wf_check_nothing_to_take(&fw);
    wf_close(&fw);
}

TEST(a_task_that_kills_every_worker_ends_failed)
{
    struct flow_world fw;
    wf_begin(&fw, FLOW("{step: a}"));
    for (int i = 0; i < 3; i++) {
        sg_take(&fw, "a");
        wf_advance(&fw, 30 * SECOND_MS + 1);
    }
    wf_check_nothing_to_take(&fw);
    wf_check_status(&fw, "failed");
    wf_check_last_error(&fw, "a", "LEASE_EXPIRED", 3);
    wf_close(&fw);
}
