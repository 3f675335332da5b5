/* tests/spec/test_state_flow_diagram.c - each box and arrow of the diagram of state-flow.md.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "function_world.h"
#include "worker/passage.h"

static cairn_code a_and_b(cairn_passage *passage, void *arg)
{
    struct function_world *world = arg;
    PASS_ON(fn_step(world, "a"));
    cairn_passage_log(passage, "info", "between", NULL, NULL);
    PASS_ON(fn_step(world, "b"));
    return cairn_passage_set_output(passage, "{\"done\": true}", NULL);
}

static cairn_code a_then_wait(cairn_passage *passage, void *arg)
{
    struct function_world *world = arg;
    PASS_ON(fn_step(world, "a"));
    PASS_ON(cairn_passage_wait_event(passage, NULL, "go", -1, &world->heard, NULL));
    return fn_step(world, "b");
}

static cairn_code a_then_sleep(cairn_passage *passage, void *arg)
{
    struct function_world *world = arg;
    PASS_ON(fn_step(world, "a"));
    return cairn_passage_sleep(passage, NULL, HOUR_MS, NULL);
}

/* ---- A: tick -------------------------------------------------------------------------------- */

TEST(the_tick_finds_a_pending_task)
{
    struct function_world world;
    struct runner runner;
    fn_begin(&world, a_and_b, CAIRN_COMMIT_STEP);
    fn_check_steps(&world, "f:ready");
    CHECK(fn_claim(&world, "w", &runner), "nothing is brought");
    fn_drop(&runner);
    fn_end(&world);
}

TEST(the_tick_finds_an_expired_task)
{
    struct function_world world;
    struct runner runner;
    fn_begin(&world, a_and_b, CAIRN_COMMIT_STEP);
    CHECK(fn_claim(&world, "one", &runner), "nothing is brought");
    fn_drop(&runner);
    wf_advance(&world.flow, LEASE_MS);
    fn_check_idle(&world); /* the lease holds to its last instant */
    wf_advance(&world.flow, 1);
    CHECK(fn_claim(&world, "two", &runner), "nothing is brought");
    CHECK_INT(cairn_passage_task(runner.passage)->attempt, 2);
    CHECK_STR(fn_row(&world, "f")->locked_by, "two");
    fn_drop(&runner);
    fn_end(&world);
}

TEST(the_tick_does_not_find_what_is_not_due_yet)
{
    struct function_world world;
    fn_begin(&world, a_then_sleep, CAIRN_COMMIT_STEP);
    fn_passage(&world, "waiting");
    fn_check_idle(&world);
    wf_advance(&world.flow, HOUR_MS - 1);
    fn_check_idle(&world);
    wf_advance(&world.flow, 1);
    fn_passage(&world, "completed");
    fn_end(&world);
}

TEST(a_tick_that_finds_nothing_writes_nothing)
{
    struct function_world world;
    fn_begin(&world, a_then_sleep, CAIRN_COMMIT_STEP);
    fn_passage(&world, "waiting");
    wf_check_events(&world.flow, "workflow_started step_ready:f step_started:f "
                                 "step_completed:a step_waiting:sleep step_waiting:f");
    fn_check_idle(&world);
    wf_check_events(&world.flow, "workflow_started step_ready:f step_started:f "
                                 "step_completed:a step_waiting:sleep step_waiting:f");
    fn_end(&world);
}

/* ---- B and C: claim ------------------------------------------------------------------------- */

TEST(a_claim_brings_task_instance_steps_and_events)
{
    struct function_world world;
    struct runner runner;
    fn_begin(&world, a_then_wait, CAIRN_COMMIT_STEP);
    fn_passage(&world, "waiting");
    wf_signal(&world.flow, "other", "{\"x\": 2}");
    wf_signal(&world.flow, "go", "{\"x\": 1}");
    wf_signal(&world.flow, "go", "{\"x\": 3}");
    CHECK(fn_claim(&world, "w", &runner), "nothing is brought");
    const cairn_task *task = cairn_passage_task(runner.passage);
    const cairn_memory *memory = task->memory;
    CHECK_STR(task->kind, "function");
    CHECK_STR(task->type, "f");
    CHECK_STR(task->instance_id, world.flow.id);
    CHECK(is_same_json(task->input, "{\"n\": 1}"), "the input is %s", task->input);
    CHECK_INT(task->attempt, 1);
    CHECK_INT(task->lease_until_us, fn_now_us(&world) + LEASE_MS * 1000);
    CHECK_INT(memory->version, 1);
    CHECK_INT(memory->places, 3);
    CHECK_INT(memory->is_forced, 0);
    CHECK(memory->revision > 0, "the revision is %lld", (long long)memory->revision);
    CHECK_INT(memory->step_count, 2);
    CHECK_STR(memory->steps[0]->name, "a");
    CHECK_STR(memory->steps[0]->kind, "task");
    CHECK_STR(memory->steps[0]->status, "completed");
    CHECK(is_same_json(memory->steps[0]->output, "{\"by\": \"a\"}"), "%s",
          memory->steps[0]->output);
    CHECK_STR(memory->steps[1]->name, "go");
    CHECK_STR(memory->steps[1]->kind, "wait");
    CHECK_STR(memory->steps[1]->status, "completed");
    CHECK(is_same_json(memory->steps[1]->output, "{\"x\": 1}"), "%s", memory->steps[1]->output);
    CHECK_INT(memory->event_count, 2); /* what nobody has taken, oldest first */
    CHECK_STR(memory->events[0]->event, "other");
    CHECK_STR(memory->events[1]->event, "go");
    CHECK(is_same_json(memory->events[1]->payload, "{\"x\": 3}"), "%s",
          memory->events[1]->payload);
    CHECK_INT(memory->events[1]->received_at_us, fn_now_us(&world));
    fn_drop(&runner);
    fn_end(&world);
}

TEST(a_claim_sets_processing_and_the_lease)
{
    struct function_world world;
    struct runner runner;
    fn_begin(&world, a_and_b, CAIRN_COMMIT_STEP);
    CHECK(fn_claim(&world, "w", &runner), "nothing is brought");
    const cairn_step *row = fn_row(&world, "f");
    CHECK_STR(row->status, "running");
    CHECK_STR(row->kind, "function");
    CHECK_STR(row->locked_by, "w");
    CHECK_INT(row->locked_until_us, START_US + LEASE_MS * 1000);
    fn_check_status(&world, "running");
    wf_check_events(&world.flow, "workflow_started step_ready:f step_started:f");
    fn_drop(&runner);
    fn_end(&world);
}

/* ---- Z: skip -------------------------------------------------------------------------------- */

TEST(a_task_that_another_runner_holds_is_skipped)
{
    struct function_world world;
    struct runner one, two;
    fn_begin(&world, a_and_b, CAIRN_COMMIT_STEP);
    CHECK(fn_claim(&world, "one", &one), "nothing is brought");
    CHECK(!fn_claim(&world, "two", &two), "it is given to two runners");
    fn_drop(&one);
    fn_end(&world);
}

TEST(the_task_of_a_paused_instance_is_skipped)
{
    struct function_world world;
    fn_begin(&world, a_and_b, CAIRN_COMMIT_STEP);
    fn_pause(&world);
    fn_check_idle(&world);
    CHECK_DONE(&world.flow.world, wf_resume(&world.flow));
    fn_passage(&world, "completed");
    fn_end(&world);
}

TEST(the_task_of_an_instance_that_has_ended_is_gone)
{
    struct function_world world;
    fn_begin(&world, a_and_b, CAIRN_COMMIT_STEP);
    fn_abort(&world);
    fn_check_idle(&world);
    wf_advance(&world.flow, 24 * HOUR_MS);
    fn_check_idle(&world);
    fn_check_steps(&world, "f:skipped");
    fn_end(&world);
}

/* ---- D and E: the runner's state ------------------------------------------------------------ */

TEST(the_runner_state_is_created_from_what_the_claim_brought)
{
    struct function_world world;
    struct runner runner;
    fn_begin(&world, a_then_wait, CAIRN_COMMIT_STEP);
    fn_passage(&world, "waiting");
    wf_signal(&world.flow, "go", "{\"x\": 1}");
    fn_during(&world, "b", fn_crash);
    CHECK(fn_claim(&world, "w", &runner), "nothing is brought");
    fn_play(&world, &runner);
    CHECK(world.is_crashed, "b was not reached");
    CHECK_INT(runner.code, CAIRN_OK);
    cairn_passage_costs costs = {.size = sizeof costs};
    cairn_passage_costs_get(runner.passage, &costs, NULL);
    CHECK_INT(costs.commits + costs.heartbeats, 0); /* a and go answered from memory */
    fn_check_calls(&world, "a:1 b:1");
    fn_drop(&runner);
    fn_end(&world);
}

TEST(a_remembered_step_answers_with_its_output_and_is_not_called)
{
    struct function_world world;
    MODES(mode)
    {
        fn_begin(&world, a_then_wait, mode);
        fn_passage(&world, "waiting");
        wf_signal(&world.flow, "go", "{\"x\": 1}");
        fn_passage(&world, "completed");
        fn_check_calls(&world, "a:1 b:1");
        CHECK_INT(world.passages, 2);
        fn_end(&world);
    }
}

/* ---- F, G, H: boundaries -------------------------------------------------------------------- */

static void look_at_stop(struct function_world *world)
{
    fn_pause(world);
    CHECK(cairn_passage_stop(world->passage) == NULL, "told before the boundary");
}

TEST(a_boundary_refreshes_the_remote_state)
{
    struct function_world world;
    struct runner runner;
    MODES(mode)
    {
        fn_begin(&world, a_and_b, mode);
        fn_during(&world, "a", look_at_stop);
        CHECK(fn_claim(&world, "w", &runner), "nothing is brought");
        fn_play(&world, &runner);
        CHECK_INT(runner.code, CAIRN_E_SUSPENDED);
        CHECK_STR(cairn_passage_stop(runner.passage), "paused");
        fn_check_calls(&world, "a:1");
        CHECK_DONE(&world.flow.world, fn_finish(&world, &runner, NULL));
        CHECK_INT(world.costs.commits, mode == CAIRN_COMMIT_STEP ? 1 : 0);
        CHECK_INT(world.costs.heartbeats, mode == CAIRN_COMMIT_STEP ? 0 : 1);
        fn_end(&world);
    }
}

static void take_20_seconds(struct function_world *world)
{
    wf_advance(&world->flow, 20 * SECOND_MS);
}

static void look_at_lease(struct function_world *world)
{
    CHECK_INT(fn_row(world, "f")->locked_until_us, fn_now_us(world) + LEASE_MS * 1000);
    take_20_seconds(world);
}

TEST(in_step_mode_a_boundary_commits_and_extends_the_lease)
{
    struct function_world world;
    fn_begin(&world, a_and_b, CAIRN_COMMIT_STEP);
    fn_during(&world, "a", take_20_seconds);
    fn_during(&world, "b", look_at_lease);
    fn_passage(&world, "completed");
    CHECK_INT(world.costs.heartbeats, 0); /* the commit is the heartbeat */
    fn_check_calls(&world, "a:1 b:1");
    fn_end(&world);
}

/* As if 2 ms of real time had passed since the lease was extended. */
static void let_real_time_pass(struct function_world *world)
{
    world->passage->extended_at_us -= 2000;
}

static void look_at_short_lease(struct function_world *world)
{
    CHECK_INT(fn_row(world, "f")->locked_until_us, START_US + 1000);
}

/* A third of a lease of 1 ms has passed after 2 ms of real time. */
TEST(in_passage_mode_a_boundary_extends_the_lease_once_a_third_of_it_has_passed)
{
    struct function_world world;
    fn_begin(&world, a_and_b, CAIRN_COMMIT_PASSAGE);
    world.lease_ms = 1;
    fn_during(&world, "a", let_real_time_pass);
    fn_during(&world, "b", look_at_short_lease);
    fn_passage(&world, "completed");
    CHECK_INT(world.costs.heartbeats, 1);
    CHECK_INT(world.costs.commits, 0);
    fn_check_calls(&world, "a:1 b:1");
    fn_end(&world);
}

static void look_at_unchanged_lease(struct function_world *world)
{
    CHECK_INT(fn_row(world, "f")->locked_until_us, START_US + LEASE_MS * 1000);
}

TEST(in_passage_mode_a_boundary_only_looks_while_the_lease_is_fresh)
{
    struct function_world world;
    fn_begin(&world, a_and_b, CAIRN_COMMIT_PASSAGE);
    world.lease_ms = HOUR_MS;
    fn_during(&world, "b", look_at_unchanged_lease);
    fn_passage(&world, "completed");
    CHECK_INT(world.costs.heartbeats, 1);
    fn_check_calls(&world, "a:1 b:1");
    fn_end(&world);
}

/* ---- J, K, L, M: the four outcomes ---------------------------------------------------------- */

static void check_task_is_gone(struct function_world *world)
{
    CHECK(fn_row(world, "f")->locked_by == NULL, "the lease is still there");
    CHECK_INT(fn_row(world, "f")->locked_until_us, 0);
    fn_check_idle(world);
    wf_advance(&world->flow, 24 * HOUR_MS);
    fn_check_idle(world);
}

TEST(complete_commits_the_instance_the_task_and_the_buffer)
{
    struct function_world world;
    MODES(mode)
    {
        fn_begin(&world, a_and_b, mode);
        fn_passage(&world, "completed");
        const cairn_instance *instance = wf_instance(&world.flow);
        CHECK_STR(instance->status, "completed");
        CHECK(is_same_json(instance->output, "{\"done\": true}"), "%s", instance->output);
        CHECK_INT(instance->finished_at_us, START_US);
        CHECK(!instance->last_error, "last_error is %s", instance->last_error);
        fn_check_steps(&world, "f:completed a:completed b:completed");
        fn_check_logs(&world, "info:between");
        wf_check_events(&world.flow,
                        "workflow_started step_ready:f step_started:f step_completed:a "
                        "step_completed:b step_completed:f workflow_completed");
        check_task_is_gone(&world);
        fn_end(&world);
    }
}

TEST(a_function_that_sets_no_output_completes_with_null)
{
    struct function_world world;
    fn_begin(&world, a_then_sleep, CAIRN_COMMIT_PASSAGE);
    fn_passage(&world, "waiting");
    wf_advance(&world.flow, HOUR_MS);
    fn_passage(&world, "completed");
    CHECK_STR(wf_instance(&world.flow)->output, "null");
    fn_end(&world);
}

TEST(pause_commits_the_instance_the_task_and_the_buffer)
{
    struct function_world world;
    MODES(mode)
    {
        fn_begin(&world, a_and_b, mode);
        fn_during(&world, "a", fn_pause);
        fn_passage(&world, "ready");
        fn_check_status(&world, "paused");
        fn_check_steps(&world, "f:ready a:completed");
        wf_check_events(&world.flow,
                        "workflow_started step_ready:f step_started:f workflow_paused "
                        "step_completed:a step_ready:f");
        check_task_is_gone(&world);
        fn_end(&world);
    }
}

TEST(wait_commits_the_instance_waiting_and_schedules_the_task)
{
    struct function_world world;
    MODES(mode)
    {
        fn_begin(&world, a_then_wait, mode);
        fn_passage(&world, "waiting");
        fn_check_status(&world, "waiting_signal");
        fn_check_steps(&world, "f:waiting a:completed go:waiting");
        CHECK_STR(fn_row(&world, "go")->waiting_event, "go");
        wf_check_current(&world.flow, "go");
        wf_check_events(&world.flow,
                        "workflow_started step_ready:f step_started:f step_completed:a "
                        "step_waiting:go step_waiting:f workflow_waiting");
        check_task_is_gone(&world);
        CHECK_INT(wf_signal(&world.flow, "go", NULL).taken, 1);
        fn_check_status(&world, "running");
        fn_check_steps(&world, "f:ready a:completed go:completed");
        fn_passage(&world, "completed");
        fn_end(&world);
    }
}

TEST(sleep_commits_the_instance_running_and_schedules_the_task)
{
    struct function_world world;
    MODES(mode)
    {
        fn_begin(&world, a_then_sleep, mode);
        fn_passage(&world, "waiting");
        fn_check_status(&world, "running");
        fn_check_steps(&world, "f:waiting a:completed sleep:waiting");
        CHECK_INT(fn_row(&world, "sleep")->deadline_at_us, START_US + HOUR_MS * 1000);
        CHECK(fn_row(&world, "f")->locked_by == NULL, "the lease is still there");
        fn_end(&world);
    }
}

TEST(error_commits_the_instance_the_task_and_the_buffer)
{
    struct function_world world;
    MODES(mode)
    {
        fn_begin(&world, a_and_b, mode);
        fn_fails(&world, "b", CAIRN_DEAD, 1);
        fn_passage(&world, "failed");
        fn_check_status(&world, "failed");
        fn_check_steps(&world, "f:failed a:completed b:failed");
        fn_check_logs(&world, "info:between");
        wf_check_last_error(&world.flow, "b", "b is broken", 1);
        CHECK_STR(fn_row(&world, "f")->error, "b is broken");
        CHECK_INT(wf_instance(&world.flow)->finished_at_us, START_US);
        wf_check_events(&world.flow,
                        "workflow_started step_ready:f step_started:f step_completed:a "
                        "step_failed:b step_failed:f workflow_failed");
        check_task_is_gone(&world);
        fn_end(&world);
    }
}
