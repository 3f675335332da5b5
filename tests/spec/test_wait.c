/* tests/spec/test_wait.c - waiting for the end of a job or an instance, on every URL.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "everywhere.h"

#include <stdlib.h>

/* ---- somebody who waits ---------------------------------------------------------------------- */

typedef cairn_code (*wait_call)(cairn_engine *, const char *, int64_t, cairn_page **,
                                cairn_error *);

struct waiter {
    struct sleeper sleeper;
    wait_call call;
    cairn_engine *engine;
    const char *id;
    int64_t timeout_ms;
    cairn_code code;
    cairn_page *page;
    cairn_error error;
};

static void run_waiter(void *arg)
{
    struct waiter *waiter = arg;
    waiter->code = waiter->call(waiter->engine, waiter->id, waiter->timeout_ms, &waiter->page,
                                &waiter->error);
}

static void start_waiter(struct waiter *waiter, wait_call call, cairn_engine *engine,
                         const char *id, int64_t timeout_ms)
{
    *waiter =
        (struct waiter){.call = call, .engine = engine, .id = id, .timeout_ms = timeout_ms};
    sleeper_start(&waiter->sleeper, run_waiter, waiter);
}

static const char *job_status(struct waiter *waiter)
{
    sleeper_join(&waiter->sleeper);
    CHECK(waiter->code == CAIRN_OK, "%s: %s", cairn_code_name(waiter->code),
          waiter->error.message);
    CHECK_INT(cairn_page_count(waiter->page), 1);
    CHECK_STR(cairn_page_job(waiter->page, 0)->id, waiter->id);
    return cairn_page_job(waiter->page, 0)->status;
}

/* ---- jobs ------------------------------------------------------------------------------------ */

TEST(a_job_that_has_ended_is_answered_at_once)
{
    struct world world;
    cairn_enqueued job;
    cairn_page *jobs;
    open_world(&world);
    add_jobs(&world, &job, 1);
    do_jobs(&world, world.engine, 1);
    CHECK_DONE(&world, cairn_job_wait(world.engine, job.id, 0, &jobs, &world.error));
    CHECK_INT(cairn_page_job(jobs, 0)->status_code, CAIRN_JOB_SUCCEEDED);
    cairn_page_free(jobs);
    close_world(&world);
}

TEST(a_wait_ends_with_the_job)
{
    struct world world;
    cairn_enqueued job;
    open_world(&world);
    add_jobs(&world, &job, 1);
    struct waiter waiter;
    start_waiter(&waiter, cairn_job_wait, world.engine, job.id, PATIENCE_MS);
    sleeper_await(&waiter.sleeper);
    do_jobs(&world, world.engine, 1);
    CHECK_STR(job_status(&waiter), "succeeded");
    cairn_page_free(waiter.page);
    close_world(&world);
}

TEST(a_cancelled_job_has_ended)
{
    struct world world;
    cairn_enqueued job;
    open_world(&world);
    add_jobs(&world, &job, 1);
    struct waiter waiter;
    start_waiter(&waiter, cairn_job_wait, world.engine, job.id, -1);
    sleeper_await(&waiter.sleeper);
    CHECK_DONE(&world, cairn_job_cancel(world.engine, job.id, &world.error));
    CHECK_STR(job_status(&waiter), "cancelled");
    cairn_page_free(waiter.page);
    close_world(&world);
}

TEST(a_wait_ends_with_a_job_that_another_process_ends)
{
    struct world world;
    cairn_enqueued job;
    open_world(&world);
    if (world.other) {
        add_jobs(&world, &job, 1);
        struct waiter waiter;
        start_waiter(&waiter, cairn_job_wait, world.engine, job.id, PATIENCE_MS);
        sleeper_await(&waiter.sleeper);
        do_jobs(&world, world.other, 1);
        CHECK_STR(job_status(&waiter), "succeeded");
        cairn_page_free(waiter.page);
    }
    close_world(&world);
}

TEST(each_of_many_waits_ends_with_its_own_job)
{
    enum { JOBS = 24 };
    struct world world;
    cairn_enqueued jobs[JOBS];
    struct waiter waiters[JOBS];
    open_world(&world);
    add_jobs(&world, jobs, JOBS);
    for (int i = 0; i < JOBS; i++) {
        start_waiter(&waiters[i], cairn_job_wait, world.engine, jobs[i].id, PATIENCE_MS);
    }
    sleeper_await(&waiters[JOBS - 1].sleeper);
    CHECK_DONE(&world, cairn_job_cancel(world.engine, jobs[7].id, &world.error));
    CHECK_STR(job_status(&waiters[7]), "cancelled");
    do_jobs(&world, world.engine, JOBS - 1);
    for (int i = 0; i < JOBS; i++) {
        if (i != 7)
            CHECK_STR(job_status(&waiters[i]), "succeeded");
        cairn_page_free(waiters[i].page);
    }
    close_world(&world);
}

TEST(a_wait_whose_time_is_over_says_so)
{
    struct world world;
    cairn_enqueued job;
    cairn_page *jobs = NULL;
    open_world(&world);
    add_jobs(&world, &job, 1);
    for (int64_t timeout_ms = 0; timeout_ms <= 60; timeout_ms += 30)
        CHECK_INT(cairn_job_wait(world.engine, job.id, timeout_ms, &jobs, &world.error),
                  CAIRN_E_TIMED_OUT);
    CHECK(strstr(world.error.message, "pending"), "%s", world.error.message);
    CHECK(!jobs, "written on success only");
    close_world(&world);
}

TEST(a_wait_for_nothing_is_refused)
{
    struct world world;
    cairn_page *page = NULL;
    const char *none = "00000000-0000-4000-8000-000000000000";
    open_world(&world);
    CHECK_INT(cairn_job_wait(world.engine, none, -1, &page, &world.error), CAIRN_E_NOT_FOUND);
    CHECK_INT(cairn_instance_wait(world.engine, none, -1, &page, &world.error),
              CAIRN_E_NOT_FOUND);
    CHECK_INT(cairn_job_wait(world.engine, none, -2, &page, &world.error), CAIRN_E_BAD_INPUT);
    close_world(&world);
}

TEST(closing_the_engine_ends_the_wait)
{
    struct world world;
    cairn_enqueued job;
    open_world(&world);
    add_jobs(&world, &job, 1);
    struct waiter waiter;
    start_waiter(&waiter, cairn_job_wait, world.engine, job.id, -1);
    sleeper_await(&waiter.sleeper);
    cairn_close(world.engine);
    world.engine = NULL;
    sleeper_join(&waiter.sleeper);
    CHECK_INT(waiter.code, CAIRN_E_CLOSED);
    close_world(&world);
}

/* ---- instances ------------------------------------------------------------------------------- */

/* Also that the words and the codes say the same, on the way through the store and a server. */
static void do_step(struct world *world, const char *id)
{
    const char *types[] = {"t.v1"};
    cairn_claim_options claim = CAIRN_CLAIM_DEFAULTS;
    cairn_page *tasks, *steps;
    claim.worker = "w";
    claim.types = types;
    claim.type_count = 1;
    CHECK_DONE(world, cairn_claim(world->engine, &claim, &tasks, &world->error));
    const cairn_task *task = cairn_page_task(tasks, 0);
    CHECK_STR(task->kind, "step");
    CHECK_INT(task->kind_code, CAIRN_TASK_STEP);
    CHECK_DONE(world, cairn_instance_steps(world->engine, id, NULL, 10, &steps, &world->error));
    CHECK_STR(cairn_page_step(steps, 0)->status, "running");
    CHECK_INT(cairn_page_step(steps, 0)->status_code, CAIRN_STEP_RUNNING);
    CHECK_STR(cairn_page_step(steps, 0)->kind, "task");
    CHECK_INT(cairn_page_step(steps, 0)->kind_code, CAIRN_STEP_KIND_TASK);
    cairn_page_free(steps);
    CHECK_DONE(world, cairn_task_complete(world->engine, "w", task, "{}", &world->error));
    cairn_page_free(tasks);
}

TEST(a_wait_ends_with_the_instance)
{
    struct world world;
    open_world(&world);
    cairn_enqueued started = start_instance(&world);
    struct waiter waiter;
    start_waiter(&waiter, cairn_instance_wait, world.engine, started.id, PATIENCE_MS);
    sleeper_await(&waiter.sleeper);
    do_step(&world, started.id);
    sleeper_join(&waiter.sleeper);
    CHECK(waiter.code == CAIRN_OK, "%s", waiter.error.message);
    CHECK_STR(cairn_page_instance(waiter.page, 0)->status, "completed");
    CHECK_INT(cairn_page_instance(waiter.page, 0)->status_code, CAIRN_INSTANCE_COMPLETED);
    cairn_page_free(waiter.page);
    close_world(&world);
}

TEST(a_wait_ends_with_an_instance_that_another_process_aborts)
{
    struct world world;
    open_world(&world);
    if (world.other) {
        cairn_enqueued started = start_instance(&world);
        struct waiter waiter;
        start_waiter(&waiter, cairn_instance_wait, world.engine, started.id, PATIENCE_MS);
        sleeper_await(&waiter.sleeper);
        CHECK_DONE(&world,
                   cairn_instance_abort(world.other, started.id, "me", "why", &world.error));
        sleeper_join(&waiter.sleeper);
        CHECK(waiter.code == CAIRN_OK, "%s", waiter.error.message);
        CHECK_STR(cairn_page_instance(waiter.page, 0)->status, "aborted");
        cairn_page_free(waiter.page);
    }
    close_world(&world);
}

TEST(an_instance_that_is_paused_has_not_ended)
{
    struct world world;
    cairn_page *page;
    open_world(&world);
    cairn_enqueued started = start_instance(&world);
    CHECK_DONE(&world, cairn_instance_pause(world.engine, started.id, &world.error));
    CHECK_INT(cairn_instance_wait(world.engine, started.id, 30, &page, &world.error),
              CAIRN_E_TIMED_OUT);
    CHECK(strstr(world.error.message, "paused"), "%s", world.error.message);
    close_world(&world);
}
