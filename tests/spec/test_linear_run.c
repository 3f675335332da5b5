/* tests/spec/test_linear_run.c - claiming, completing, retrying, dying, and leases that end:
 * sections "Tick Flow" and "Execution Result Handling" of linear-workflow.md.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "flow_world.h"

#define ABC FLOW("{step: a}, {step: b}, {step: c}")

TEST(a_claim_makes_the_step_running_under_a_lease)
{
    struct flow_world fw;
    wf_begin(&fw, ABC);
    struct task task = wf_take(&fw, "worker-1");
    CHECK_STR(task.kind, "step");
    CHECK_STR(task.type, "a");
    CHECK_STR(task.step, "a");
    CHECK_INT(task.attempt, 1);
    CHECK_INT(task.max_attempts, 3);
    CHECK_INT(task.lease_until_us, START_US + 30 * SECOND_US);
    const cairn_step *step = wf_step(&fw, "a");
    CHECK_STR(step->status, "running");
    CHECK_STR(step->locked_by, "worker-1");
    CHECK_STR(step->id, task.id);
    CHECK_INT(step->locked_until_us, task.lease_until_us);
    CHECK_INT(step->started_at_us, START_US);
    wf_check_status(&fw, "running");
    wf_check_nothing_to_take(&fw);
    wf_close(&fw);
}

TEST(after_each_completion_exactly_one_step_is_ready)
{
    struct flow_world fw;
    struct task tasks[10];
    wf_begin(&fw, ABC);
    const char *const states[] = {
        "a:running b:pending c:pending",
        "a:completed b:running c:pending",
        "a:completed b:completed c:running",
    };
    for (int i = 0; i < 3; i++) {
        CHECK_INT(wf_take_many(&fw, "w", "%", 10, tasks), 1);
        wf_check_steps(&fw, states[i]);
        CHECK_INT(wf_take_many(&fw, "v", "%", 10, tasks + 1), 0);
        CHECK_DONE(&fw.world, wf_report(&fw, &tasks[0], CAIRN_COMPLETE, NULL));
    }
    CHECK_INT(wf_take_many(&fw, "w", "%", 10, tasks), 0);
    wf_check_steps(&fw, "a:completed b:completed c:completed");
    wf_check_status(&fw, "completed");
    wf_close(&fw);
}

static void add_work(struct flow_world *fw, int jobs, int instances)
{
    cairn_start_options options = CAIRN_START_DEFAULTS;
    cairn_enqueued started;
    options.workflow = "w";
    for (int i = 0; i < jobs; i++)
        world_add(&fw->world, "mail");
    for (int i = 0; i < instances; i++)
        CHECK_DONE(&fw->world, wf_start(fw, &options, &started));
}

/* A claim of so many tasks of any kind brings these: j is a job, s a step. */
static void check_kinds(struct flow_world *fw, uint32_t max, const char *wanted)
{
    cairn_claim_options options = CAIRN_CLAIM_DEFAULTS;
    cairn_page *tasks = NULL;
    char kinds[32] = "";
    options.worker = "w";
    options.types = (const char *[]){"%"};
    options.type_count = 1;
    options.max = max;
    CHECK_DONE(&fw->world, cairn_claim(fw->world.engine, &options, &tasks, &fw->world.error));
    for (size_t i = 0; i < cairn_page_count(tasks) && i < sizeof kinds - 1; i++)
        kinds[i] = cairn_page_task(tasks, i)->kind[0];
    cairn_page_free(tasks);
    CHECK_STR(kinds, wanted);
}

TEST(jobs_and_steps_take_turns_and_get_what_the_other_leaves)
{
    struct flow_world fw;
    wf_open(&fw);
    CHECK_DONE(&fw.world, wf_deploy(&fw, FLOW("{step: a}")));
    add_work(&fw, 10, 10);
    check_kinds(&fw, 5, "jsjsj"); /* the odd one belongs to each in turn */
    check_kinds(&fw, 5, "sjsjs");
    check_kinds(&fw, 4, "jsjs");
    check_kinds(&fw, 1, "j");
    check_kinds(&fw, 1, "s");
    check_kinds(&fw, 1, "j");
    check_kinds(&fw, 9, "sjs");
    check_kinds(&fw, 9, "");

    add_work(&fw, 6, 0);
    check_kinds(&fw, 1, "j"); /* whoever's turn it is */
    check_kinds(&fw, 1, "j");
    check_kinds(&fw, 4, "jjjj");
    add_work(&fw, 0, 6);
    check_kinds(&fw, 1, "s");
    check_kinds(&fw, 1, "s");
    check_kinds(&fw, 4, "ssss");

    add_work(&fw, 1, 5); /* whoever brought less before is not passed over */
    check_kinds(&fw, 6, "jsssss");
    add_work(&fw, 5, 1);
    check_kinds(&fw, 6, "jsjjjj");
    add_work(&fw, 4, 4);
    check_kinds(&fw, 8, "jsjsjsjs");
    wf_close(&fw);
}

TEST(the_next_step_is_ready_in_the_commit_of_the_result)
{
    struct flow_world fw;
    wf_begin(&fw, ABC);
    wf_advance(&fw, 700);
    wf_do(&fw, "a");
    wf_check_steps(&fw, "a:completed b:ready c:pending");
    wf_check_current(&fw, "b");
    CHECK_INT(wf_step(&fw, "b")->next_run_at_us, START_US + 700 * 1000);
    CHECK_INT(wf_step(&fw, "a")->finished_at_us, START_US + 700 * 1000);
    CHECK(is_same_json(wf_step(&fw, "a")->output, "{\"by\": \"a\"}"), "%s",
          wf_step(&fw, "a")->output);
    CHECK(!wf_step(&fw, "a")->locked_by, "still leased");
    wf_close(&fw);
}

TEST(a_report_brings_the_next_step_along)
{
    struct flow_world fw;
    wf_begin(&fw, ABC);
    struct task task = wf_take_step(&fw, "a");
    cairn_claim_options claim = CAIRN_CLAIM_DEFAULTS;
    cairn_report report = CAIRN_REPORT_DEFAULTS;
    cairn_reported reported;
    cairn_page *tasks = NULL;
    const char *all = "%";
    claim.worker = "w";
    claim.types = &all;
    claim.type_count = 1;
    report.task_id = task.id;
    report.token = task.token;
    CHECK_DONE(&fw.world, cairn_report_many(fw.world.engine, "w", &report, 1, &reported, &claim,
                                            &tasks, &fw.world.error));
    CHECK_STR(reported.status, "completed");
    CHECK_INT(cairn_page_count(tasks), 1);
    CHECK_STR(cairn_page_task(tasks, 0)->step, "b");
    cairn_page_free(tasks);
    wf_check_steps(&fw, "a:completed b:running c:pending");
    wf_close(&fw);
}

TEST(the_last_completion_completes_the_instance)
{
    struct flow_world fw;
    wf_begin(&fw, FLOW("{step: a}"));
    wf_advance(&fw, 5000);
    wf_do(&fw, "a");
    wf_check_status(&fw, "completed");
    CHECK_INT(wf_instance(&fw)->finished_at_us, START_US + 5 * SECOND_US);
    wf_check_current(&fw, "");
    wf_check_events(&fw, "workflow_started step_ready:a step_started:a step_completed:a "
                         "workflow_completed");
    wf_close(&fw);
}

TEST(the_events_of_a_life_are_complete_and_in_order)
{
    struct flow_world fw;
    wf_begin(&fw, FLOW("{step: a}, {step: b}"));
    struct task task = wf_take_step(&fw, "a");
    CHECK_DONE(&fw.world, wf_retry(&fw, &task, 0));
    wf_do(&fw, "a");
    task = wf_take_step(&fw, "b");
    CHECK_DONE(&fw.world, wf_report(&fw, &task, CAIRN_DEAD, "no"));
    wf_check_events(&fw, "workflow_started step_ready:a step_started:a step_retry:a "
                         "step_started:a step_completed:a step_ready:b step_started:b "
                         "step_failed:b workflow_failed");
    wf_close(&fw);
}

TEST(three_attempts_are_three_calls)
{
    struct flow_world fw;
    wf_begin(&fw, FLOW("{step: a, max_attempts: 3}, {step: b}"));
    for (int call = 1; call <= 3; call++) {
        struct task task = wf_take_step(&fw, "a");
        CHECK_INT(task.attempt, call);
        CHECK_INT(wf_step(&fw, "a")->attempts, call - 1);
        CHECK_DONE(&fw.world, wf_retry(&fw, &task, 1000));
        if (call < 3) {
            CHECK_STR(wf_step(&fw, "a")->status, "ready");
            CHECK_INT(wf_step(&fw, "a")->next_run_at_us, START_US + call * SECOND_US);
            wf_check_status(&fw, "running");
            wf_check_nothing_to_take(&fw);
            wf_advance(&fw, 999);
            wf_check_nothing_to_take(&fw);
            wf_advance(&fw, 1);
        }
    }
    wf_check_steps(&fw, "a:failed b:skipped");
    wf_check_status(&fw, "failed");
    CHECK_INT(wf_step(&fw, "a")->attempts, 3);
    wf_check_last_error(&fw, "a", "later, please", 3);
    wf_advance(&fw, HOUR_MS);
    wf_check_nothing_to_take(&fw);
    wf_close(&fw);
}

TEST(a_failed_attempt_waits_for_its_backoff)
{
    struct flow_world fw;
    wf_begin(&fw, FLOW("{step: a, max_attempts: 4, retry: {backoff: linear, base: 2s}}"));
    int64_t at_us = START_US;
    for (int call = 1; call <= 3; call++) {
        struct task task = wf_take_step(&fw, "a");
        CHECK_DONE(&fw.world, wf_report(&fw, &task, CAIRN_FAIL, "oops"));
        CHECK_INT(wf_step(&fw, "a")->next_run_at_us, at_us + 2 * call * SECOND_US);
        CHECK_STR(wf_step(&fw, "a")->error, "oops");
        wf_advance(&fw, 2000 * call);
        at_us += 2 * call * SECOND_US;
    }
    wf_do(&fw, "a");
    wf_check_status(&fw, "completed");
    wf_close(&fw);
}

TEST(without_a_retry_rule_the_backoff_is_exponential_from_one_second)
{
    struct flow_world fw;
    wf_begin(&fw, FLOW("{step: a, max_attempts: 5}"));
    static const int delays_ms[] = {1000, 2000, 4000, 8000};
    for (int i = 0; i < 4; i++) {
        struct task task = wf_take_step(&fw, "a");
        CHECK_DONE(&fw.world, wf_report(&fw, &task, CAIRN_FAIL, "oops"));
        wf_advance(&fw, delays_ms[i] - 1);
        wf_check_nothing_to_take(&fw);
        wf_advance(&fw, 1);
    }
    CHECK_INT(wf_take_step(&fw, "a").attempt, 5);
    wf_close(&fw);
}

TEST(awaiting_a_retry_is_not_failing)
{
    struct flow_world fw;
    wf_begin(&fw, ABC);
    struct task task = wf_take_step(&fw, "a");
    CHECK_DONE(&fw.world, wf_report(&fw, &task, CAIRN_FAIL, "timeout"));
    wf_check_status(&fw, "running");
    wf_check_steps(&fw, "a:ready b:pending c:pending");
    wf_check_current(&fw, "a");
    wf_check_last_error(&fw, "a", "timeout", 1);
    wf_close(&fw);
}

TEST(dead_ends_the_step_whatever_attempts_are_left)
{
    struct flow_world fw;
    wf_begin(&fw, FLOW("{step: a, max_attempts: 9}, {step: b}"));
    struct task task = wf_take_step(&fw, "a");
    CHECK_DONE(&fw.world, wf_report(&fw, &task, CAIRN_DEAD, "unknown card"));
    wf_check_steps(&fw, "a:failed b:skipped");
    wf_check_status(&fw, "failed");
    CHECK_INT(wf_step(&fw, "a")->attempts, 1);
    CHECK_STR(wf_step(&fw, "a")->error, "unknown card");
    CHECK_INT(wf_instance(&fw)->finished_at_us, START_US);
    wf_check_nothing_to_take(&fw);
    wf_close(&fw);
}

TEST(a_release_is_free)
{
    struct flow_world fw;
    wf_begin(&fw, FLOW("{step: a, max_attempts: 1}"));
    for (int i = 0; i < 5; i++) {
        struct task task = wf_take_step(&fw, "a");
        CHECK_INT(task.attempt, 1);
        CHECK_DONE(&fw.world, wf_report(&fw, &task, CAIRN_RELEASE, NULL));
    }
    wf_do(&fw, "a");
    wf_check_status(&fw, "completed");
    wf_close(&fw);
}

TEST(a_missing_handler_is_told_and_costs_nothing)
{
    struct flow_world fw;
    cairn_report report = CAIRN_REPORT_DEFAULTS;
    wf_begin(&fw, FLOW("{step: a, max_attempts: 1}"));
    struct task task = wf_take_step(&fw, "a");
    report.outcome = CAIRN_RELEASE;
    report.delay_ms = 5000;
    report.is_missing_handler = true;
    CHECK_DONE(&fw.world, wf_report_as(&fw, &task, &report));
    CHECK_INT(wf_count_events(&fw, "step_skipped_missing_handler"), 1);
    wf_check_nothing_to_take(&fw);
    wf_advance(&fw, 5000);
    CHECK_INT(wf_take_step(&fw, "a").attempt, 1);
    wf_close(&fw);
}

TEST(a_lost_lease_makes_the_step_ready_at_once)
{
    struct flow_world fw;
    wf_begin(&fw, ABC);
    wf_take(&fw, "crashed");
    wf_advance(&fw, 30 * SECOND_MS);
    wf_check_nothing_to_take(&fw);
    wf_check_steps(&fw, "a:running b:pending c:pending");
    wf_advance(&fw, 1);
    const cairn_step *step = wf_step(&fw, "a");
    CHECK_STR(step->status, "ready");
    CHECK_INT(step->attempts, 1);
    CHECK_STR(step->error, "LEASE_EXPIRED");
    CHECK(!step->locked_by, "still leased by %s", step->locked_by);
    CHECK_INT(step->locked_until_us, 0);
    CHECK_INT(wf_take_step(&fw, "a").attempt, 2);
    wf_close(&fw);
}

TEST(a_lease_that_is_lost_every_time_ends_the_step_and_the_instance)
{
    struct flow_world fw;
    wf_begin(&fw, FLOW("{step: a, max_attempts: 3}, {step: b}"));
    for (int call = 1; call <= 3; call++) {
        CHECK_INT(wf_take_step(&fw, "a").attempt, call);
        wf_advance(&fw, 30 * SECOND_MS + 1);
    }
    wf_check_nothing_to_take(&fw);
    wf_check_steps(&fw, "a:failed b:skipped");
    wf_check_status(&fw, "failed");
    wf_check_last_error(&fw, "a", "LEASE_EXPIRED", 3);
    wf_close(&fw);
}

TEST(a_worker_that_stalls_past_its_lease_changes_nothing)
{
    struct flow_world fw;
    const char *stop = NULL;
    wf_begin(&fw, ABC);
    struct task first = wf_take(&fw, "worker-1");
    wf_advance(&fw, 30 * SECOND_MS + 1);
    struct task second = wf_take(&fw, "worker-2");
    CHECK(strcmp(first.token, second.token) != 0, "both claims have the token %s", first.token);
    const char *so_far = "workflow_started step_ready:a step_started:a step_retry:a "
                         "step_started:a";
    wf_check_events(&fw, so_far);
    CHECK_REFUSED(&fw.world, wf_beat(&fw, &first, 30000, &stop), CAIRN_E_LEASE_LOST);
    CHECK_REFUSED(&fw.world, wf_report(&fw, &first, CAIRN_COMPLETE, "1"), CAIRN_E_LEASE_LOST);
    CHECK_REFUSED(&fw.world, wf_report(&fw, &first, CAIRN_FAIL, "no"), CAIRN_E_LEASE_LOST);
    CHECK_REFUSED(&fw.world, wf_report(&fw, &first, CAIRN_DEAD, "no"), CAIRN_E_LEASE_LOST);
    CHECK_REFUSED(&fw.world, wf_report(&fw, &first, CAIRN_RELEASE, NULL), CAIRN_E_LEASE_LOST);
    CHECK_REFUSED(&fw.world, wf_retry(&fw, &first, 5), CAIRN_E_LEASE_LOST);
    CHECK_REFUSED(&fw.world, wf_wait(&fw, &first, "go", 5), CAIRN_E_LEASE_LOST);
    wf_check_events(&fw, so_far);
    CHECK_STR(wf_step(&fw, "a")->locked_by, "worker-2");

    CHECK_DONE(&fw.world, wf_report(&fw, &second, CAIRN_COMPLETE, "2"));
    CHECK_REFUSED(&fw.world, wf_report(&fw, &first, CAIRN_COMPLETE, "1"), CAIRN_E_LEASE_LOST);
    CHECK_STR(wf_step(&fw, "a")->output, "2");
    wf_close(&fw);
}

TEST(a_report_needs_the_worker_and_the_token_of_the_claim)
{
    struct flow_world fw;
    wf_begin(&fw, ABC);
    struct task task = wf_take(&fw, "worker-1");
    struct task thief = task, forger = task;
    strcpy(thief.worker, "worker-2");
    strcpy(forger.token, "0123456789abcdef");
    CHECK_REFUSED(&fw.world, wf_report(&fw, &thief, CAIRN_COMPLETE, "1"), CAIRN_E_LEASE_LOST);
    CHECK_REFUSED(&fw.world, wf_report(&fw, &forger, CAIRN_COMPLETE, "1"), CAIRN_E_LEASE_LOST);
    CHECK_DONE(&fw.world, wf_report(&fw, &task, CAIRN_COMPLETE, "1"));
    wf_close(&fw);
}

TEST(a_report_on_a_step_that_does_not_exist_is_a_lost_lease)
{
    struct flow_world fw;
    wf_begin(&fw, ABC);
    struct task task = wf_take(&fw, "w");
    struct task elsewhere = task;
    snprintf(elsewhere.id, sizeof elsewhere.id, "%s.99", fw.id);
    CHECK_REFUSED(&fw.world, wf_report(&fw, &elsewhere, CAIRN_COMPLETE, NULL),
                  CAIRN_E_LEASE_LOST);
    strcpy(elsewhere.id, "01234567-89ab-7def-8123-456789abcdef.0");
    CHECK_REFUSED(&fw.world, wf_report(&fw, &elsewhere, CAIRN_COMPLETE, NULL),
                  CAIRN_E_LEASE_LOST);
    wf_close(&fw);
}

TEST(a_repeated_report_is_accepted_and_changes_nothing)
{
    struct flow_world fw;
    wf_begin(&fw, FLOW("{step: a}, {step: b}"));
    struct task task = wf_take_step(&fw, "a");
    CHECK_DONE(&fw.world, wf_report(&fw, &task, CAIRN_COMPLETE, "1"));
    size_t before = wf_count_events(&fw, "step_ready");
    CHECK_DONE(&fw.world, wf_report(&fw, &task, CAIRN_COMPLETE, "2"));
    CHECK_STR(wf_step(&fw, "a")->output, "1");
    CHECK_INT(wf_count_events(&fw, "step_ready"), before);
    wf_check_steps(&fw, "a:completed b:ready");
    wf_close(&fw);
}

TEST(a_report_that_contradicts_the_first_is_refused_and_changes_nothing)
{
    static const cairn_outcome outcomes[] = {CAIRN_COMPLETE, CAIRN_FAIL, CAIRN_RETRY,
                                             CAIRN_DEAD, CAIRN_RELEASE};
    enum { OUTCOMES = sizeof outcomes / sizeof *outcomes };
    for (int first = 0; first < OUTCOMES; first++) {
        struct flow_world fw;
        wf_begin(&fw, FLOW("{step: a}, {step: b}"));
        struct task task = wf_take_step(&fw, "a");
        CHECK_DONE(&fw.world, wf_report(&fw, &task, outcomes[first], "1"));
        char status[24];
        snprintf(status, sizeof status, "%s", wf_step(&fw, "a")->status);
        for (int second = 0; second < OUTCOMES; second++) {
            cairn_code code = wf_report(&fw, &task, outcomes[second], "1");
            CHECK(code == (first == second ? CAIRN_OK : CAIRN_E_LEASE_LOST),
                  "%d after %d is %s", second, first, cairn_code_name(code));
        }
        CHECK_STR(wf_step(&fw, "a")->status, status);
        wf_close(&fw);
    }
}

TEST(a_heartbeat_keeps_the_lease)
{
    struct flow_world fw;
    const char *stop = "?";
    wf_begin(&fw, ABC);
    struct task task = wf_take_step(&fw, "a");
    for (int i = 0; i < 5; i++) {
        wf_advance(&fw, 20 * SECOND_MS);
        CHECK_DONE(&fw.world, wf_beat(&fw, &task, 30000, &stop));
        CHECK(!stop, "it is to stop: %s", stop);
    }
    CHECK_INT(wf_step(&fw, "a")->locked_until_us, START_US + 130 * SECOND_US);
    CHECK_INT(wf_step(&fw, "a")->attempts, 0);
    CHECK_DONE(&fw.world, wf_report(&fw, &task, CAIRN_COMPLETE, NULL));
    wf_close(&fw);
}

TEST(one_bad_report_does_not_disturb_the_others_of_its_batch)
{
    struct flow_world fw;
    struct task tasks[3];
    cairn_start_options options = CAIRN_START_DEFAULTS;
    wf_begin(&fw, FLOW("{step: a}"));
    options.workflow = "w";
    CHECK_DONE(&fw.world, wf_start(&fw, &options, NULL));
    CHECK_DONE(&fw.world, wf_start(&fw, &options, NULL));
    CHECK_INT(wf_take_many(&fw, "w", "%", 3, tasks), 3);
    cairn_report reports[3];
    cairn_reported reported[3];
    for (int i = 0; i < 3; i++) {
        reports[i] = (cairn_report)CAIRN_REPORT_DEFAULTS;
        reports[i].task_id = tasks[i].id;
        reports[i].token = i == 1 ? "0123456789abcdef" : tasks[i].token;
    }
    CHECK_DONE(&fw.world, cairn_report_many(fw.world.engine, "w", reports, 3, reported, NULL,
                                            NULL, &fw.world.error));
    CHECK_INT(reported[0].code, CAIRN_OK);
    CHECK_INT(reported[1].code, CAIRN_E_LEASE_LOST);
    CHECK_INT(reported[2].code, CAIRN_OK);
    wf_check_status(&fw, "completed");
    wf_close(&fw);
}

TEST(steps_are_brought_by_priority_then_by_age)
{
    struct flow_world fw;
    struct task tasks[4];
    cairn_start_options options = CAIRN_START_DEFAULTS;
    wf_open(&fw);
    CHECK_DONE(&fw.world,
               wf_deploy(&fw, "{workflow: low, version: 1, steps: [{step: l, priority: 10}]}"));
    CHECK_DONE(
        &fw.world,
        wf_deploy(&fw, "{workflow: high, version: 1, steps: [{step: h, priority: 90}]}"));
    options.workflow = "low";
    CHECK_DONE(&fw.world, wf_start(&fw, &options, NULL));
    CHECK_DONE(&fw.world, wf_start(&fw, &options, NULL));
    options.workflow = "high";
    CHECK_DONE(&fw.world, wf_start(&fw, &options, NULL));
    CHECK_INT(wf_take_many(&fw, "w", "%", 4, tasks), 3);
    CHECK_STR(tasks[0].step, "h");
    CHECK(strcmp(tasks[1].id, tasks[2].id) < 0, "the younger came first");
    wf_close(&fw);
}

TEST(a_claim_brings_only_what_it_names)
{
    struct flow_world fw;
    struct task task;
    wf_begin(&fw, FLOW("{step: a, handler: billing.reserve.v1}"));
    CHECK_INT(wf_take_many(&fw, "w", "shipping.%", 1, &task), 0);
    CHECK_INT(wf_take_many(&fw, "w", "a", 1, &task), 0);
    CHECK_INT(wf_take_many(&fw, "w", "billing.%", 1, &task), 1);
    wf_close(&fw);
}

TEST(at_most_once_is_one_call_ever)
{
    struct flow_world fw;
    wf_begin(&fw, FLOW("{step: a, idempotent: false}"));
    wf_take(&fw, "crashed");
    wf_advance(&fw, 30 * SECOND_MS + 1);
    wf_check_nothing_to_take(&fw);
    wf_check_steps(&fw, "a:failed");
    wf_check_status(&fw, "failed");
    wf_close(&fw);
}

static cairn_stats figures(struct flow_world *fw)
{
    cairn_stats stats = {.size = sizeof stats};
    CHECK_DONE(&fw->world, cairn_stats_get(fw->world.engine, &stats, &fw->world.error));
    return stats;
}

TEST(the_figures_say_where_steps_and_instances_stand)
{
    struct flow_world fw;
    wf_begin(&fw, ABC);
    cairn_stats stats = figures(&fw);
    CHECK_INT(stats.started, 1);
    CHECK_INT(stats.instances_running, 1);
    CHECK_INT(stats.steps_ready, 1);
    CHECK_INT(stats.steps_leased, 0);
    CHECK_INT(stats.ready + stats.pending + stats.leased, 0); /* jobs */

    struct task task = wf_take(&fw, "w");
    cairn_start_options later = CAIRN_START_DEFAULTS;
    later.workflow = "w";
    later.start_at_us = START_US + HOUR_MS * 1000;
    CHECK_DONE(&fw.world, wf_start(&fw, &later, NULL));
    stats = figures(&fw);
    CHECK_INT(stats.started, 2);
    CHECK_INT(stats.instances_pending, 1);
    CHECK_INT(stats.instances_running, 1);
    CHECK_INT(stats.steps_ready, 0);
    CHECK_INT(stats.steps_leased, 1);

    CHECK_DONE(&fw.world, wf_report(&fw, &task, CAIRN_COMPLETE, NULL));
    CHECK_DONE(&fw.world, wf_abort(&fw)); /* the one for later: what has ended is not counted */
    stats = figures(&fw);
    CHECK_INT(stats.instances_pending, 0);
    CHECK_INT(stats.instances_running, 1);
    CHECK_INT(stats.steps_ready, 1);
    CHECK_INT(stats.steps_leased, 0);
    wf_close(&fw);
}

TEST(the_figures_tell_instances_that_are_held_up_apart)
{
    struct flow_world fw;
    wf_begin(&fw, "{workflow: w, version: 1, dlq: true, steps: [{step: a}]}");
    wf_do_badly(&fw, "a");
    CHECK_DONE(&fw.world, wf_deploy(&fw, "{workflow: p, version: 1, steps: [{step: a}]}"));
    CHECK_DONE(&fw.world, wf_deploy(&fw, "{workflow: s, version: 1, steps:"
                                         " [{wait: a, event: e}]}"));
    CHECK_DONE(&fw.world,
               wf_deploy(&fw, "{workflow: u, version: 1, steps:"
                              " [{step: x, compensation: {handler: y}}, {step: z}]}"));
    cairn_start_options options = CAIRN_START_DEFAULTS;
    options.workflow = "u";
    CHECK_DONE(&fw.world, wf_start(&fw, &options, NULL));
    wf_do(&fw, "x");
    CHECK_DONE(&fw.world, wf_cancel(&fw));
    options.workflow = "s";
    CHECK_DONE(&fw.world, wf_start(&fw, &options, NULL));
    options.workflow = "p";
    CHECK_DONE(&fw.world, wf_start(&fw, &options, NULL));
    CHECK_DONE(&fw.world, wf_pause(&fw));
    cairn_stats stats = figures(&fw);
    CHECK_INT(stats.instances_dlq, 1);
    CHECK_INT(stats.instances_compensating, 1);
    CHECK_INT(stats.instances_waiting_signal, 1);
    CHECK_INT(stats.instances_paused, 1);
    CHECK_INT(stats.instances_running, 0);
    CHECK_INT(stats.steps_ready, 1); /* the undo */
    wf_close(&fw);
}
