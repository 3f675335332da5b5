/* tests/spec/test_heartbeats.c - cairn_heartbeat_many(), on every URL.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "everywhere.h"

enum { JOBS = 3, TASKS = JOBS + 1, MINUTE_MS = 60 * 1000 };

/* Tasks of the worker "w": some jobs and a step. */
struct held {
    struct world world;
    cairn_enqueued jobs[JOBS];
    cairn_page *tasks;
    cairn_beat beats[TASKS];
    int64_t now_us;
};

static void open_held(struct held *held)
{
    struct world *world = &held->world;
    open_virtual_world(world);
    add_jobs(world, held->jobs, JOBS);
    start_instance(world);
    cairn_claim_options claim = claim_by("w", TASKS, 0);
    CHECK_DONE(world, cairn_claim(world->engine, &claim, &held->tasks, &world->error));
    CHECK_INT(cairn_page_count(held->tasks), TASKS);
    CHECK_DONE(world, cairn_clock_now(world->engine, &held->now_us, &world->error));
    for (size_t i = 0; i < TASKS; i++) {
        held->beats[i] = (cairn_beat)CAIRN_BEAT_DEFAULTS;
        held->beats[i].task_id = cairn_page_task(held->tasks, i)->id;
        held->beats[i].token = cairn_page_task(held->tasks, i)->token;
        held->beats[i].extend_ms = MINUTE_MS;
    }
}

static void close_held(struct held *held)
{
    cairn_page_free(held->tasks);
    close_world(&held->world);
}

static void beat(struct held *held)
{
    struct world *world = &held->world;
    CHECK_DONE(world,
               cairn_heartbeat_many(world->engine, "w", held->beats, TASKS, &world->error));
}

static uint64_t commits(struct world *world)
{
    cairn_stats stats = CAIRN_STATS_DEFAULTS;
    CHECK_DONE(world, cairn_stats_get(world->engine, &stats, &world->error));
    return stats.commits;
}

TEST(many_leases_are_extended_in_one_commit)
{
    struct held held;
    open_held(&held);
    uint64_t before = commits(&held.world);
    beat(&held);
    CHECK_INT(commits(&held.world) - before, 1);
    for (size_t i = 0; i < TASKS; i++) {
        CHECK_INT(held.beats[i].size, sizeof(cairn_beat));
        CHECK_INT(held.beats[i].ret_code, CAIRN_OK);
        CHECK_INT(held.beats[i].ret_lease_until_us, held.now_us + MINUTE_MS * 1000);
        CHECK(!held.beats[i].ret_stop, "%s", held.beats[i].ret_stop);
    }
    /* They would have ended after 30 s. */
    CHECK_DONE(&held.world,
               cairn_clock_advance(held.world.engine, 45000, NULL, &held.world.error));
    beat(&held);
    for (size_t i = 0; i < TASKS; i++)
        CHECK_INT(held.beats[i].ret_code, CAIRN_OK);
    close_held(&held);
}

TEST(a_heartbeat_that_extends_nothing_leaves_the_lease)
{
    struct held held;
    open_held(&held);
    for (size_t i = 0; i < TASKS; i++)
        held.beats[i].extend_ms = 0;
    beat(&held);
    for (size_t i = 0; i < TASKS; i++) {
        CHECK_INT(held.beats[i].ret_code, CAIRN_OK);
        CHECK_INT(held.beats[i].ret_lease_until_us, held.now_us + 30 * 1000 * 1000);
    }
    close_held(&held);
}

TEST(a_lost_lease_and_a_cancelled_job_concern_only_themselves)
{
    struct held held;
    struct world *world = &held.world;
    size_t cancelled = TASKS;
    open_held(&held);
    for (size_t i = 0; i < TASKS; i++)
        if (strcmp(held.beats[i].task_id, held.jobs[0].id) == 0)
            cancelled = i;
    size_t lost = cancelled ? 0 : 1;
    held.beats[lost].token = "another";
    CHECK_DONE(world, cairn_job_cancel(world->engine, held.jobs[0].id, &world->error));
    beat(&held);
    for (size_t i = 0; i < TASKS; i++) {
        CHECK_INT(held.beats[i].ret_code, i == lost ? CAIRN_E_LEASE_LOST : CAIRN_OK);
        if (i == cancelled)
            CHECK_STR(held.beats[i].ret_stop, "cancelled");
        else
            CHECK(!held.beats[i].ret_stop, "%s", held.beats[i].ret_stop);
    }
    /* The answer of the time before is not left behind. */
    held.beats[lost].token = cairn_page_task(held.tasks, lost)->token;
    beat(&held);
    CHECK_INT(held.beats[lost].ret_code, CAIRN_OK);
    CHECK_INT(held.beats[lost].ret_lease_until_us, held.now_us + MINUTE_MS * 1000);
    close_held(&held);
}

TEST(unknown_tasks_are_lost_and_no_task_is_refused)
{
    struct held held;
    struct world *world = &held.world;
    open_held(&held);
    held.beats[0].task_id = "00000000-0000-4000-8000-000000000000";
    held.beats[1].task_id = "00000000-0000-4000-8000-000000000000.1";
    held.beats[2].task_id = "nonsense";
    beat(&held);
    for (size_t i = 0; i < 3; i++)
        CHECK_INT(held.beats[i].ret_code, CAIRN_E_LEASE_LOST);
    CHECK_INT(held.beats[3].ret_code, CAIRN_OK);
    CHECK_INT(cairn_heartbeat_many(world->engine, "w", held.beats, 0, &world->error),
              CAIRN_E_BAD_INPUT);
    CHECK_INT(cairn_heartbeat_many(world->engine, "", held.beats, TASKS, &world->error),
              CAIRN_E_BAD_INPUT);
    held.beats[3].size--;
    CHECK_INT(cairn_heartbeat_many(world->engine, "w", held.beats, TASKS, &world->error),
              CAIRN_E_BAD_INPUT);
    close_held(&held);
}
