/* tests/spec/test_keeper.c - cairn_keeper: leases that a thread of the library keeps, on every URL.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "everywhere.h"

#include <sched.h>

enum { LEASE_MS = 3000, LOOK_MS = 20, TASKS = 3 };

/* Tasks that are kept. */
struct kept_tasks {
    struct world world;
    cairn_enqueued jobs[TASKS];
    cairn_page *tasks;
    cairn_keeper *keeper;
    uint64_t names[TASKS];
};

static void begin(struct kept_tasks *kept)
{
    struct world *world = &kept->world;
    cairn_claim_options claim = claim_by("w", TASKS, 0);
    open_world(world);
    add_jobs(world, kept->jobs, TASKS);
    claim.lease_ms = LEASE_MS;
    CHECK_DONE(world, cairn_keeper_start(world->engine, "w", LEASE_MS, LOOK_MS, &kept->keeper,
                                         &world->error));
    CHECK_DONE(world, cairn_claim(world->engine, &claim, &kept->tasks, &world->error));
    CHECK_INT(cairn_page_count(kept->tasks), TASKS);
    for (size_t i = 0; i < TASKS; i++) {
        const cairn_task *task = cairn_page_task(kept->tasks, i);
        CHECK_DONE(world, cairn_keeper_add(kept->keeper, task->id, task->token, &kept->names[i],
                                           &world->error));
    }
}

static void end(struct kept_tasks *kept)
{
    cairn_keeper_free(kept->keeper);
    cairn_page_free(kept->tasks);
    close_world(&kept->world);
}

static int64_t lease_of(struct kept_tasks *kept, size_t i)
{
    cairn_page *page;
    struct world *world = &kept->world;
    const char *id = cairn_page_task(kept->tasks, i)->id;
    CHECK_DONE(world, cairn_job_get(world->engine, id, &page, &world->error));
    int64_t until_us = cairn_page_job(page, 0)->lease_until_us;
    cairn_page_free(page);
    return until_us;
}

TEST(leases_are_extended_until_the_task_is_removed)
{
    struct kept_tasks kept;
    struct world *world = &kept.world;
    begin(&kept);
    for (size_t i = 0; i < TASKS; i++) {
        int64_t first_us = cairn_page_task(kept.tasks, i)->lease_until_us;
        while (lease_of(&kept, i) <= first_us)
            sched_yield();
    }
    CHECK(cairn_keeper_remove(kept.keeper, kept.names[0]) > 0, "nothing is left of its lease");
    CHECK_INT(cairn_keeper_remove(kept.keeper, kept.names[0]), 0);
    for (size_t i = 0; i < TASKS; i++)
        CHECK_DONE(world,
                   cairn_task_complete(world->engine, "w", cairn_page_task(kept.tasks, i), "{}",
                                       &world->error));
    end(&kept);
}

TEST(a_stop_is_told_once_and_concerns_its_task_alone)
{
    struct kept_tasks kept;
    struct world *world = &kept.world;
    cairn_kept_stop stops[TASKS];
    begin(&kept);
    const char *id = cairn_page_task(kept.tasks, 1)->id;
    CHECK_DONE(world, cairn_job_cancel(world->engine, id, &world->error));
    CHECK_INT(cairn_keeper_take(kept.keeper, PATIENCE_MS, stops, TASKS), 1);
    CHECK(stops[0].task == kept.names[1], "it is another's");
    CHECK_STR(stops[0].stop, "cancelled");
    CHECK_INT(stops[0].code, CAIRN_OK);
    CHECK_INT(cairn_keeper_take(kept.keeper, 0, stops, TASKS), 0);
    end(&kept);
}

TEST(a_lease_that_is_lost_is_told_with_its_code)
{
    struct kept_tasks kept;
    struct world *world = &kept.world;
    cairn_kept_stop stop;
    uint64_t name;
    begin(&kept);
    CHECK_DONE(world, cairn_keeper_add(kept.keeper, cairn_page_task(kept.tasks, 0)->id, "no",
                                       &name, &world->error));
    CHECK_INT(cairn_keeper_take(kept.keeper, PATIENCE_MS, &stop, 1), 1);
    CHECK(stop.task == name, "it is another's");
    CHECK_STR(stop.stop, "lease_lost");
    CHECK_INT(stop.code, CAIRN_E_LEASE_LOST);
    CHECK_INT(cairn_keeper_add(kept.keeper, NULL, "t", &name, &world->error),
              CAIRN_E_BAD_INPUT);
    end(&kept);
}

static void take_one(void *arg)
{
    struct kept_tasks *kept = arg;
    cairn_kept_stop stop;
    (void)cairn_keeper_take(kept->keeper, PATIENCE_MS, &stop, 1);
}

TEST(a_keeper_that_ends_lets_go_of_those_who_wait)
{
    struct kept_tasks kept;
    struct sleeper sleeper;
    begin(&kept);
    sleeper_start(&sleeper, take_one, &kept);
    sleeper_await(&sleeper);
    cairn_keeper_stop(kept.keeper);
    sleeper_join(&sleeper);
    end(&kept);
}
