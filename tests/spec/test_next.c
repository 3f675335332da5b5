/* tests/spec/test_next.c - cairn_clock_next(): when the next thing is due, on every URL.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "everywhere.h"

#include <dirent.h>

#define SECOND_US (INT64_C(1000) * 1000)

static int64_t next(struct world *world)
{
    int64_t due_us = -1;
    CHECK_DONE(world, cairn_clock_next(world->engine, &due_us, &world->error));
    return due_us;
}

static int64_t now(struct world *world)
{
    int64_t now_us = 0;
    CHECK_DONE(world, cairn_clock_now(world->engine, &now_us, &world->error));
    return now_us;
}

static void advance(struct world *world, int64_t ms)
{
    CHECK_DONE(world, cairn_clock_advance(world->engine, ms, NULL, &world->error));
}

static void add_job_at(struct world *world, int64_t at_us)
{
    cairn_job_spec spec = CAIRN_JOB_DEFAULTS;
    spec.type = "t.v1";
    spec.run_at_us = at_us;
    CHECK_DONE(world, cairn_enqueue(world->engine, &spec, 1, NULL, &world->error));
}

TEST(nothing_is_due_in_an_empty_store_nor_what_can_be_claimed)
{
    struct world world;
    cairn_enqueued job;
    open_virtual_world(&world);
    CHECK_INT(next(&world), 0);
    add_jobs(&world, &job, 1);
    CHECK_INT(next(&world), 0);
    close_world(&world);
}

TEST(the_earliest_of_jobs_leases_starts_and_sleeps_is_next)
{
    struct world world;
    cairn_enqueued enqueued;
    cairn_page *tasks;
    cairn_start_options start = CAIRN_START_DEFAULTS;
    open_virtual_world(&world);
    int64_t begin_us = now(&world);
    add_job_at(&world, begin_us + 90 * SECOND_US);
    CHECK_INT(next(&world), begin_us + 90 * SECOND_US);

    CHECK_DONE(&world, cairn_workflow_deploy(
                           world.engine, "s",
                           "{workflow: s, version: 1, steps: [{sleep: nap, for: 20s}]}", NULL,
                           &world.error));
    start.workflow = "s";
    start.start_at_us = begin_us + 60 * SECOND_US;
    CHECK_DONE(&world, cairn_instance_start(world.engine, &start, &enqueued, &world.error));
    CHECK_INT(next(&world), begin_us + 60 * SECOND_US);

    add_jobs(&world, &enqueued, 1);
    cairn_claim_options claim = claim_by("w", 1, 0);
    CHECK_DONE(&world, cairn_claim(world.engine, &claim, &tasks, &world.error));
    cairn_page_free(tasks);
    CHECK_INT(next(&world), begin_us + 30 * SECOND_US + 1000); /* just after the lease's end */

    advance(&world, 30001);
    CHECK_INT(next(&world), begin_us + 60 * SECOND_US);
    advance(&world, (next(&world) - now(&world)) / 1000);
    CHECK_INT(next(&world), begin_us + 80 * SECOND_US);
    advance(&world, (next(&world) - now(&world)) / 1000);
    CHECK_INT(next(&world), begin_us + 90 * SECOND_US);
    advance(&world, (next(&world) - now(&world)) / 1000);
    CHECK_INT(next(&world), 0);
    close_world(&world);
}

TEST(a_time_between_two_milliseconds_is_rounded_up)
{
    struct world world;
    open_virtual_world(&world);
    add_job_at(&world, now(&world) + 1500);
    CHECK_INT(next(&world), now(&world) + 2000);
    advance(&world, 2);
    CHECK_INT(next(&world), 0);
    close_world(&world);
}

/* ---- an engine of one thread ------------------------------------------------------------------- */

static int count_threads(void)
{
    int count = 0;
    DIR *tasks = opendir("/proc/self/task");
    CHECK(tasks, "cannot list this process's threads");
    for (const struct dirent *entry; (entry = readdir(tasks)) != NULL;)
        count += entry->d_name[0] != '.';
    closedir(tasks);
    return count;
}

/* As cairn simulate opens one for each of its threads. */
TEST(a_solo_engine_is_executed_by_its_caller_waits_for_nothing_and_purges_nothing)
{
    struct world world = {0};
    cairn_enqueued job;
    cairn_page *page = NULL;
    cairn_reported reported;
    cairn_open_options options = CAIRN_OPEN_DEFAULTS;
    int threads = count_threads();
    options.url = "memory:";
    options.virtual_clock = options.solo = true;
    options.seed = 1;
    CHECK_DONE(&world, cairn_open(&options, &world.engine, &world.error));
    CHECK(count_threads() <= threads,
          "it has begun a thread"); /* those of earlier tests may end */

    add_jobs(&world, &job, 1);
    CHECK_INT(cairn_job_wait(world.engine, job.id, -1, &page, &world.error), CAIRN_E_TIMED_OUT);
    cairn_claim_options claim = claim_by("w", 1, 0);
    CHECK_DONE(&world, cairn_claim(world.engine, &claim, &page, &world.error));
    cairn_report report = CAIRN_REPORT_DEFAULTS;
    report.task_id = cairn_page_task(page, 0)->id;
    report.token = cairn_page_task(page, 0)->token;
    CHECK_DONE(&world, cairn_report_many(world.engine, "w", &report, 1, &reported, NULL, NULL,
                                         &world.error));
    CHECK_INT(reported.code, CAIRN_OK);
    cairn_page_free(page);
    advance(&world, INT64_C(400) * 24 * 60 * 60 * 1000);
    CHECK_DONE(&world, cairn_job_get(world.engine, job.id, &page, &world.error));
    CHECK_STR(cairn_page_job(page, 0)->status, "succeeded");
    cairn_page_free(page);
    cairn_close(world.engine);
}
