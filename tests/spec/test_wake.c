/* tests/spec/test_wake.c - cairn_wake(): calls that wait are ended from another thread, on every URL.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "everywhere.h"

#include <time.h>

/* ---- a claim that waits ---------------------------------------------------------------------- */

struct claimer {
    struct sleeper sleeper;
    cairn_engine *engine;
    cairn_claim_options claim;
    cairn_report report; /* sent with the claim, if it has a task */
    cairn_reported reported;
    cairn_code code;
    cairn_page *tasks;
    cairn_error error;
};

static void run_claimer(void *arg)
{
    struct claimer *claimer = arg;
    if (claimer->report.task_id)
        claimer->code = cairn_report_many(claimer->engine, claimer->claim.worker,
                                          &claimer->report, 1, &claimer->reported,
                                          &claimer->claim, &claimer->tasks, &claimer->error);
    else
        claimer->code =
            cairn_claim(claimer->engine, &claimer->claim, &claimer->tasks, &claimer->error);
}

static void start_claimer(struct claimer *claimer, struct world *world, const char *worker)
{
    *claimer =
        (struct claimer){.engine = world->engine, .claim = claim_by(worker, 1, PATIENCE_MS)};
    sleeper_start(&claimer->sleeper, run_claimer, claimer);
}

static void check_empty(struct claimer *claimer)
{
    sleeper_join(&claimer->sleeper);
    CHECK(claimer->code == CAIRN_OK, "%s: %s", cairn_code_name(claimer->code),
          claimer->error.message);
    CHECK_INT(cairn_page_count(claimer->tasks), 0);
    cairn_page_free(claimer->tasks);
}

TEST(the_waiting_claims_of_a_worker_end_and_those_of_others_do_not)
{
    struct world world;
    struct claimer mine[2], theirs;
    open_world(&world);
    start_claimer(&theirs, &world, "theirs");
    sleeper_await(&theirs.sleeper);
    for (int i = 0; i < 2; i++)
        start_claimer(&mine[i], &world, "mine");
    for (int i = 0; i < 2; i++)
        sleeper_await(&mine[i].sleeper);
    cairn_wake(world.engine, "mine");
    for (int i = 0; i < 2; i++)
        check_empty(&mine[i]);
    CHECK(!theirs.sleeper.is_over, "the claim of another worker was ended");
    cairn_wake(world.engine, NULL);
    check_empty(&theirs);
    close_world(&world);
}

/* Over HTTP the two take different ways to the server. */
TEST(a_claim_that_has_just_been_made_ends_too)
{
    struct world world;
    open_world(&world);
    for (int i = 0; i < 20; i++) {
        struct claimer claimer;
        start_claimer(&claimer, &world, "mine");
        while (!claimer.sleeper.is_over) {
            cairn_wake(world.engine, i % 2 ? "mine" : NULL);
            nanosleep(&(struct timespec){.tv_nsec = 1000 * 1000}, NULL);
        }
        check_empty(&claimer);
    }
    close_world(&world);
}

TEST(a_report_that_waits_for_tasks_ends_with_its_result)
{
    struct world world;
    cairn_enqueued job;
    cairn_page *tasks;
    open_world(&world);
    add_jobs(&world, &job, 1);
    cairn_claim_options claim = claim_by("mine", 1, 0);
    CHECK_DONE(&world, cairn_claim(world.engine, &claim, &tasks, &world.error));

    struct claimer claimer = {.engine = world.engine,
                              .claim = claim_by("mine", 1, PATIENCE_MS),
                              .report = CAIRN_REPORT_DEFAULTS};
    claimer.report.task_id = cairn_page_task(tasks, 0)->id;
    claimer.report.token = cairn_page_task(tasks, 0)->token;
    sleeper_start(&claimer.sleeper, run_claimer, &claimer);
    sleeper_await(&claimer.sleeper);
    cairn_wake(world.engine, "mine");
    check_empty(&claimer);
    CHECK_INT(claimer.reported.code, CAIRN_OK);
    CHECK_STR(claimer.reported.status, "succeeded");
    cairn_page_free(tasks);
    close_world(&world);
}

TEST(a_wake_is_not_remembered)
{
    struct world world;
    cairn_enqueued job;
    struct claimer claimer;
    open_world(&world);
    cairn_wake(world.engine, "mine");
    cairn_wake(world.engine, NULL);
    start_claimer(&claimer, &world, "mine");
    sleeper_await(&claimer.sleeper);
    if (is_kind("http")) /* there the wake may come after the claim */
        cairn_wake(world.engine, "mine");
    else
        add_jobs(&world, &job, 1);
    sleeper_join(&claimer.sleeper);
    CHECK_INT(cairn_page_count(claimer.tasks), is_kind("http") ? 0 : 1);
    cairn_page_free(claimer.tasks);
    close_world(&world);
}

/* ---- nothing is lost ------------------------------------------------------------------------- */

struct taker {
    struct world *world;
    size_t wanted;
    atomic_size_t taken;
    cairn_code code;
};

static void run_taker(void *arg)
{
    struct taker *taker = arg;
    cairn_claim_options claim = claim_by("mine", 1, PATIENCE_MS);
    claim.lease_ms = 3600 * 1000;
    while (taker->taken < taker->wanted && !taker->code) {
        cairn_page *tasks = NULL;
        taker->code = cairn_claim(taker->world->engine, &claim, &tasks, NULL);
        taker->taken += tasks ? cairn_page_count(tasks) : 0;
        cairn_page_free(tasks);
    }
}

TEST(no_task_is_lost_between_a_claim_and_a_wake)
{
    enum { JOBS = 60 };
    struct world world;
    struct sleeper sleeper;
    cairn_enqueued job;
    open_world(&world);
    struct taker taker = {.world = &world, .wanted = JOBS};
    sleeper_start(&sleeper, run_taker, &taker);
    for (int i = 0; i < JOBS; i++) {
        add_jobs(&world, &job, 1);
        cairn_wake(world.engine, "mine");
    }
    sleeper_join(&sleeper);
    CHECK_INT(taker.code, CAIRN_OK);
    CHECK_INT(taker.taken, JOBS);
    close_world(&world);
}

/* ---- other calls that wait ------------------------------------------------------------------- */

struct waiter {
    struct sleeper sleeper;
    struct world *world;
    const char *job, *instance; /* one of them */
    cairn_code code;
    cairn_error error;
};

static void run_waiter(void *arg)
{
    struct waiter *waiter = arg;
    cairn_page *page;
    waiter->code = waiter->job ? cairn_job_wait(waiter->world->engine, waiter->job, -1, &page,
                                                &waiter->error)
                               : cairn_instance_wait(waiter->world->engine, waiter->instance,
                                                     PATIENCE_MS, &page, &waiter->error);
}

TEST(waits_for_an_end_are_over_when_everything_is_woken)
{
    struct world world;
    cairn_enqueued job;
    open_world(&world);
    add_jobs(&world, &job, 1);
    cairn_enqueued instance = start_instance(&world);
    struct waiter waiters[] = {{.world = &world, .job = job.id},
                               {.world = &world, .instance = instance.id}};
    for (int i = 0; i < 2; i++)
        sleeper_start(&waiters[i].sleeper, run_waiter, &waiters[i]);
    for (int i = 0; i < 2; i++)
        sleeper_await(&waiters[i].sleeper);
    cairn_wake(world.engine, "mine");
    CHECK(!waiters[0].sleeper.is_over && !waiters[1].sleeper.is_over, "they are no claims");
    cairn_wake(world.engine, NULL);
    for (int i = 0; i < 2; i++) {
        sleeper_join(&waiters[i].sleeper);
        CHECK_INT(waiters[i].code, CAIRN_E_TIMED_OUT);
    }
    CHECK(strstr(waiters[0].error.message, "pending"), "%s", waiters[0].error.message);
    close_world(&world);
}
