/* tests/spec/test_state_flow_guarantees.c - the guarantees of state-flow.md, and what each of its
 * phases reads and writes.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "function_world.h"

#include <stdio.h>

static cairn_code three(cairn_passage *passage, void *arg)
{
    struct function_world *world = arg;
    PASS_ON(fn_step(world, "a"));
    cairn_passage_log(passage, "info", "one", NULL, NULL);
    PASS_ON(fn_step(world, "b"));
    cairn_passage_log(passage, "info", "two", NULL, NULL);
    return fn_step(world, "c");
}

static cairn_stats stats(struct function_world *world)
{
    cairn_stats stats = {.size = sizeof stats};
    struct world *w = &world->flow.world;
    CHECK_DONE(w, cairn_stats_get(w->engine, &stats, &w->error));
    return stats;
}

/* ---- written once, in the commit ------------------------------------------------------------ */

static void see_nothing_yet(struct function_world *world)
{
    fn_check_steps(world, "f:running");
    fn_check_logs(world, "");
    wf_check_events(&world->flow, "workflow_started step_ready:f step_started:f");
}

TEST(in_passage_mode_all_persistence_waits_for_the_one_commit_at_the_end)
{
    struct function_world world;
    fn_begin(&world, three, CAIRN_COMMIT_PASSAGE);
    fn_during(&world, "b", see_nothing_yet);
    fn_during(&world, "c", see_nothing_yet);
    uint64_t before = stats(&world).passage_commits;
    fn_passage(&world, "completed");
    CHECK_INT(stats(&world).passage_commits - before, 1);
    CHECK_INT(world.costs.commits, 0); /* before its end */
    fn_check_steps(&world, "f:completed a:completed b:completed c:completed");
    fn_check_logs(&world, "info:one info:two");
    CHECK_INT(fn_row(&world, "a")->commit_no, 1);
    CHECK_INT(fn_row(&world, "b")->commit_no, 2);
    CHECK_INT(fn_row(&world, "c")->commit_no, 3);
    fn_end(&world);
}

static void see_a(struct function_world *world)
{
    fn_check_steps(world, "f:running a:completed");
}

static void see_a_and_b(struct function_world *world)
{
    fn_check_steps(world, "f:running a:completed b:completed");
    fn_check_logs(world, "info:one");
}

TEST(in_step_mode_each_finished_step_is_committed_before_the_next_begins)
{
    struct function_world world;
    fn_begin(&world, three, CAIRN_COMMIT_STEP);
    fn_during(&world, "b", see_a);
    fn_during(&world, "c", see_a_and_b);
    uint64_t before = stats(&world).passage_commits;
    fn_passage(&world, "completed");
    CHECK_INT(stats(&world).passage_commits - before, 3); /* the last one with the end */
    CHECK_INT(world.costs.commits, 2);
    CHECK_INT(world.costs.heartbeats, 0);
    fn_end(&world);
}

TEST(a_commit_that_is_refused_writes_nothing_of_the_buffer)
{
    struct function_world world;
    fn_begin(&world, three, CAIRN_COMMIT_PASSAGE);
    fn_during(&world, "c", fn_lose_lease);
    fn_passage_refused(&world, CAIRN_E_LEASE_LOST);
    fn_check_steps(&world, "f:ready");
    fn_check_logs(&world, "");
    wf_check_events(&world.flow, "workflow_started step_ready:f step_started:f step_retry:f");
    fn_end(&world);
}

TEST(the_function_is_told_that_its_lease_is_lost_and_does_nothing_more)
{
    struct function_world world;
    MODES(mode)
    {
        fn_begin(&world, three, mode);
        fn_during(&world, "a", fn_lose_lease);
        fn_passage_refused(&world, CAIRN_E_LEASE_LOST);
        fn_check_calls(&world, "a:1");
        fn_check_steps(&world, "f:ready");
        fn_end(&world);
    }
}

/* ---- decisions use the latest remote state -------------------------------------------------- */

static void pause_and_resume(struct function_world *world)
{
    fn_pause(world);
    CHECK_DONE(&world->flow.world, wf_resume(&world->flow));
}

TEST(a_pause_that_was_taken_back_before_the_boundary_stops_nothing)
{
    struct function_world world;
    MODES(mode)
    {
        fn_begin(&world, three, mode);
        fn_during(&world, "a", pause_and_resume);
        fn_passage(&world, "completed");
        CHECK_INT(world.passages, 1);
        fn_check_calls(&world, "a:1 b:1 c:1");
        fn_end(&world);
    }
}

TEST(a_pause_in_the_last_step_is_heard_by_the_commit_itself)
{
    struct function_world world;
    MODES(mode)
    {
        fn_begin(&world, three, mode);
        fn_during(&world, "c", fn_pause);
        fn_passage(&world, "completed");
        fn_check_status(&world, "paused"); /* its completion is held */
        CHECK(!wf_instance(&world.flow)->finished_at_us, "it has finished");
        CHECK_DONE(&world.flow.world, wf_resume(&world.flow));
        fn_check_status(&world, "completed");
        fn_check_calls(&world, "a:1 b:1 c:1");
        fn_end(&world);
    }
}

TEST(terminating_in_the_middle_stops_the_function_at_the_boundary)
{
    struct function_world world;
    MODES(mode)
    {
        fn_begin(&world, three, mode);
        fn_during(&world, "a", fn_abort);
        fn_passage_refused(&world, CAIRN_E_LEASE_LOST);
        fn_check_calls(&world, "a:1");
        fn_check_status(&world, "aborted");
        fn_end(&world);
    }
}

/* ---- optimistic concurrency ----------------------------------------------------------------- */

static void send_something(struct function_world *world)
{
    wf_signal(&world->flow, "something", NULL);
}

TEST(a_commit_that_meets_another_version_than_it_read_is_a_conflict_and_is_decided_anew)
{
    struct function_world world;
    MODES(mode)
    {
        fn_begin(&world, three, mode);
        fn_during(&world, "b", send_something);
        uint64_t before = stats(&world).passage_conflicts;
        fn_passage(&world, "completed"); /* nothing in it hurts */
        CHECK_INT(stats(&world).passage_conflicts - before, 1);
        fn_check_steps(&world, "f:completed a:completed b:completed c:completed");
        fn_end(&world);
    }
}

TEST(a_commit_that_meets_the_version_it_read_is_no_conflict)
{
    struct function_world world;
    MODES(mode)
    {
        fn_begin(&world, three, mode);
        fn_passage(&world, "completed");
        CHECK_INT(stats(&world).passage_conflicts, 0);
        fn_end(&world);
    }
}

TEST(the_conflict_fallback_pauses_and_keeps_the_buffered_writes)
{
    struct function_world world;
    MODES(mode)
    {
        fn_begin(&world, three, mode);
        fn_during(&world, "b", fn_pause);
        fn_passage(&world, "ready");
        fn_check_status(&world, "paused");
        fn_check_steps(&world, "f:ready a:completed b:completed");
        fn_check_logs(&world, "info:one");
        CHECK(stats(&world).passage_conflicts >= 1, "there was no conflict");
        fn_end(&world);
    }
}

static void rise(struct function_world *world, int64_t *last)
{
    struct runner runner;
    CHECK(fn_claim(world, "w", &runner), "nothing is brought");
    int64_t revision = cairn_passage_task(runner.passage)->memory->revision;
    CHECK(revision > *last, "the revision is %lld after %lld", (long long)revision,
          (long long)*last);
    *last = revision;
    fn_play(world, &runner);
    CHECK_DONE(&world->flow.world, fn_finish(world, &runner, NULL));
}

static cairn_code sleepy(cairn_passage *passage, void *arg)
{
    (void)arg;
    for (int i = 0; i < 3; i++)
        PASS_ON(cairn_passage_sleep(passage, NULL, 1000, NULL));
    return CAIRN_OK;
}

TEST(the_version_rises_with_every_commit)
{
    struct function_world world;
    int64_t last = -1;
    fn_begin(&world, sleepy, CAIRN_COMMIT_PASSAGE);
    for (int i = 0; i < 4; i++) {
        rise(&world, &last);
        wf_advance(&world.flow, SECOND_MS);
    }
    fn_check_status(&world, "completed");
    fn_end(&world);
}

/* ---- the phases ----------------------------------------------------------------------------- */

TEST(a_heartbeat_changes_the_lease_and_nothing_else)
{
    struct function_world world;
    struct runner runner;
    struct world *w = &world.flow.world;
    fn_begin(&world, three, CAIRN_COMMIT_PASSAGE);
    CHECK(fn_claim(&world, "w", &runner), "nothing is brought");
    const cairn_task *task = cairn_passage_task(runner.passage);
    const char *stop = "unset";
    wf_advance(&world.flow, SECOND_MS);
    CHECK_DONE(w, cairn_heartbeat(w->engine, "w", task->id, task->token, 60000, NULL, &stop,
                                  &w->error));
    CHECK(!stop, "told to stop: %s", stop);
    CHECK_INT(fn_row(&world, "f")->locked_until_us, START_US + 61 * SECOND_US);
    wf_check_events(&world.flow, "workflow_started step_ready:f step_started:f");
    fn_play(&world, &runner);
    CHECK_DONE(w, fn_finish(&world, &runner, NULL));
    CHECK_INT(stats(&world).passage_conflicts, 0); /* the version stayed */
    fn_end(&world);
}

TEST(a_heartbeat_of_no_extension_only_looks)
{
    struct function_world world;
    struct runner runner;
    struct world *w = &world.flow.world;
    int64_t until_us = 0;
    const char *stop = NULL;
    fn_begin(&world, three, CAIRN_COMMIT_PASSAGE);
    CHECK(fn_claim(&world, "w", &runner), "nothing is brought");
    const cairn_task *task = cairn_passage_task(runner.passage);
    wf_advance(&world.flow, SECOND_MS);
    uint64_t before = stats(&world).heartbeats;
    CHECK_DONE(w, cairn_heartbeat(w->engine, "w", task->id, task->token, 0, &until_us, &stop,
                                  &w->error));
    CHECK_INT(until_us, START_US + LEASE_MS * 1000);
    CHECK_INT(stats(&world).heartbeats, before);
    fn_pause(&world);
    CHECK_DONE(
        w, cairn_heartbeat(w->engine, "w", task->id, task->token, 0, NULL, &stop, &w->error));
    CHECK_STR(stop, "paused");
    fn_drop(&runner);
    fn_end(&world);
}

TEST(a_stopped_passage_extends_its_lease_no_more)
{
    struct function_world world;
    struct runner runner;
    struct world *w = &world.flow.world;
    const char *stop = NULL;
    fn_begin(&world, three, CAIRN_COMMIT_PASSAGE);
    CHECK(fn_claim(&world, "w", &runner), "nothing is brought");
    const cairn_task *task = cairn_passage_task(runner.passage);
    fn_cancel(&world);
    CHECK_DONE(w, cairn_heartbeat(w->engine, "w", task->id, task->token, 3600000, NULL, &stop,
                                  &w->error));
    CHECK_STR(stop, "cancelled");
    CHECK_INT(fn_row(&world, "f")->locked_until_us, START_US + LEASE_MS * 1000);
    fn_drop(&runner);
    fn_end(&world);
}

TEST(a_passage_costs_claim_and_commit_and_the_heartbeats_of_its_boundaries)
{
    struct function_world world;
    fn_begin(&world, three, CAIRN_COMMIT_PASSAGE);
    cairn_stats before = stats(&world);
    fn_passage(&world, "completed");
    cairn_stats after = stats(&world);
    CHECK_INT(after.passages - before.passages, 1);
    CHECK_INT(after.passage_commits - before.passage_commits, 1);
    CHECK_INT(after.heartbeats - before.heartbeats, 0); /* they only looked */
    CHECK_INT(after.commits - before.commits, 2);       /* claim and end: a look is none */
    CHECK_INT(world.costs.heartbeats, 2);
    fn_end(&world);
}

/* Runs a passage and ends it, claiming so many in the same commit. */
static cairn_page *end_and_claim(struct function_world *world, uint32_t max)
{
    static const char *const types[] = {"f"};
    cairn_claim_options claim = CAIRN_CLAIM_DEFAULTS;
    struct world *w = &world->flow.world;
    struct runner runner;
    cairn_page *next = NULL;
    char status[24];
    claim.worker = "w";
    claim.types = types;
    claim.type_count = 1;
    claim.max = max;
    CHECK(fn_claim(world, "w", &runner), "nothing is brought");
    fn_play(world, &runner);
    CHECK_DONE(w, cairn_passage_end_claim(runner.passage, runner.code, &claim, status, &next,
                                          &w->error));
    cairn_passage_free(runner.passage);
    CHECK_STR(status, "completed");
    cairn_page_free(runner.tasks);
    return next;
}

TEST(the_commit_that_ends_a_passage_can_claim_the_next_one)
{
    struct function_world world;
    fn_begin(&world, three, CAIRN_COMMIT_PASSAGE);
    fn_start(&world, "f", 1);
    cairn_stats before = stats(&world);
    cairn_page *next = end_and_claim(&world, 1);
    CHECK_INT(cairn_page_count(next), 1);
    CHECK_STR(cairn_page_task(next, 0)->kind, "function");
    CHECK(cairn_page_task(next, 0)->memory, "it brings no memory");
    cairn_stats after = stats(&world);
    CHECK_INT(after.passages - before.passages, 2);
    CHECK_INT(after.commits - before.commits, 2); /* the first claim, and the end */
    cairn_page_free(next);
    fn_end(&world);
}

TEST(a_claim_that_is_refused_does_not_fail_the_function_that_ends)
{
    struct function_world world;
    fn_begin(&world, three, CAIRN_COMMIT_PASSAGE);
    cairn_page *next = end_and_claim(&world, 0); /* no claim takes none */
    CHECK(!next, "something was claimed");
    fn_check_status(&world, "completed");
    fn_end(&world);
}

TEST(only_a_commit_ends_the_task_of_a_function)
{
    static const cairn_outcome outcomes[] = {CAIRN_COMPLETE, CAIRN_FAIL, CAIRN_RETRY,
                                             CAIRN_DEAD};
    struct function_world world;
    struct runner runner;
    char status[24];
    fn_begin(&world, three, CAIRN_COMMIT_PASSAGE);
    CHECK(fn_claim(&world, "w", &runner), "nothing is brought");
    const cairn_task *task = cairn_page_task(runner.tasks, 0);
    struct task held = {.worker = "w"};
    snprintf(held.id, sizeof held.id, "%s", task->id);
    snprintf(held.token, sizeof held.token, "%s", task->token);
    for (size_t i = 0; i < sizeof outcomes / sizeof *outcomes; i++)
        CHECK_REFUSED(&world.flow.world, wf_report(&world.flow, &held, outcomes[i], "1"),
                      CAIRN_E_BAD_INPUT);
    fn_play(&world, &runner); /* its lease stands */
    CHECK_DONE(&world.flow.world, fn_finish(&world, &runner, status));
    CHECK_STR(status, "completed");
    fn_end(&world);
}

/* The worker has not heard the answer, and says it again. */
TEST(a_commit_that_is_repeated_is_accepted_and_changes_nothing)
{
    struct function_world world;
    struct runner runner, again;
    struct world *w = &world.flow.world;
    char status[24];
    fn_begin(&world, three, CAIRN_COMMIT_PASSAGE);
    CHECK(fn_claim(&world, "w", &runner), "nothing is brought");
    again = (struct runner){.worker = "w"};
    CHECK_DONE(w, cairn_passage_open(w->engine, "w", cairn_page_task(runner.tasks, 0),
                                     world.mode, LEASE_MS, &again.passage, &w->error));
    fn_play(&world, &again); /* does the same, before the first has ended */
    fn_play(&world, &runner);
    CHECK_DONE(w, fn_finish(&world, &runner, status));
    CHECK_DONE(w, fn_finish(&world, &again, status));
    CHECK_STR(status, "completed");
    CHECK_INT(fn_count_events(&world, "step_completed", "a"), 1);
    CHECK_INT(fn_count_events(&world, "step_completed", NULL), 4);
    fn_check_logs(&world, "info:one info:two");
    fn_end(&world);
}
