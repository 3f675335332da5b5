/* tests/spec/test_wait.c - waiting for the end of a job or an instance, on every URL.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * $CAIRN_TEST_STORE is a kind of store, or "http": a server on a SQLite file.  Another process that
 * ends a job is played by a second engine on the same store.
 */
#include "cairn.h"
#include "scratch.h"
#include "server.h"
#include "test.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum { PATIENCE_MS = 60000 };

#define CHECK_DONE(world, call)                                                             \
    do {                                                                                    \
        cairn_code code_ = (call);                                                          \
        CHECK(code_ == CAIRN_OK, "%s: %s", cairn_code_name(code_), (world)->error.message); \
    } while (0)

struct world {
    struct server server;
    cairn_engine *engine,
        *other; /* other: on the same store; NULL: it belongs to one process */
    cairn_error error;
};

static bool is_kind(const char *kind)
{
    return strcmp(scratch_kind(), kind) == 0;
}

static cairn_engine *open_url(struct world *world, const char *url)
{
    cairn_engine *engine = NULL;
    cairn_open_options open = CAIRN_OPEN_DEFAULTS;
    open.url = url;
    CHECK_DONE(world, cairn_open(&open, &engine, &world->error));
    return engine;
}

static void open_world(struct world *world)
{
    *world = (struct world){0};
    const char *url = is_kind("http") ? scratch_store_of("sqlite") : scratch_store();
    if (is_kind("http"))
        server_start(&world->server, url, "0", NULL);
    world->engine = open_url(world, is_kind("http") ? world->server.url : url);
    if (!is_kind("memory"))
        world->other = open_url(world, url);
}

static void close_world(struct world *world)
{
    cairn_close(world->engine);
    cairn_close(world->other);
    if (is_kind("http"))
        server_stop(&world->server);
}

/* ---- somebody who waits ---------------------------------------------------------------------- */

typedef cairn_code (*wait_call)(cairn_engine *, const char *, int64_t, cairn_page **,
                                cairn_error *);

struct waiter {
    wait_call call;
    cairn_engine *engine;
    const char *id;
    int64_t timeout_ms;
    pthread_t thread;
    atomic_int tid; /* set right before the call */
    cairn_code code;
    cairn_page *page;
    cairn_error error;
};

static void *run_waiter(void *arg)
{
    struct waiter *waiter = arg;
    waiter->tid = (int)syscall(SYS_gettid);
    waiter->code = waiter->call(waiter->engine, waiter->id, waiter->timeout_ms, &waiter->page,
                                &waiter->error);
    return NULL;
}

static void start_waiter(struct waiter *waiter, wait_call call, cairn_engine *engine,
                         const char *id, int64_t timeout_ms)
{
    *waiter =
        (struct waiter){.call = call, .engine = engine, .id = id, .timeout_ms = timeout_ms};
    CHECK_INT(pthread_create(&waiter->thread, NULL, run_waiter, waiter), 0);
}

static char state_of(int tid)
{
    char path[64], state = '?';
    snprintf(path, sizeof path, "/proc/self/task/%d/stat", tid);
    FILE *file = fopen(path, "r");
    if (file && fscanf(file, "%*d (%*[^)]) %c", &state) != 1)
        state = '?';
    if (file)
        fclose(file);
    return state;
}

/* Until the thread sleeps in its call. */
static void await_sleep(struct waiter *waiter)
{
    for (int seen = 0; seen < 20; seen = state_of(waiter->tid) == 'S' ? seen + 1 : 0)
        nanosleep(&(struct timespec){.tv_nsec = 2000 * 1000}, NULL);
}

static const char *job_status(struct waiter *waiter)
{
    pthread_join(waiter->thread, NULL);
    CHECK(waiter->code == CAIRN_OK, "%s: %s", cairn_code_name(waiter->code),
          waiter->error.message);
    CHECK_INT(cairn_page_count(waiter->page), 1);
    CHECK_STR(cairn_page_job(waiter->page, 0)->id, waiter->id);
    return cairn_page_job(waiter->page, 0)->status;
}

/* ---- jobs ------------------------------------------------------------------------------------ */

static void add_jobs(struct world *world, cairn_enqueued *enqueued, size_t count)
{
    cairn_job_spec specs[64];
    for (size_t i = 0; i < count; i++) {
        specs[i] = (cairn_job_spec)CAIRN_JOB_DEFAULTS;
        specs[i].type = "t.v1";
    }
    CHECK_DONE(world, cairn_enqueue(world->engine, specs, count, enqueued, &world->error));
}

/* Claims all jobs, and completes them in one commit. */
static void do_jobs(struct world *world, cairn_engine *engine, size_t count)
{
    const char *types[] = {"t.v1"};
    cairn_claim_options claim = CAIRN_CLAIM_DEFAULTS;
    cairn_report reports[64];
    cairn_reported reported[64];
    cairn_page *tasks = NULL;
    claim.worker = "w";
    claim.types = types;
    claim.type_count = 1;
    claim.max = (uint32_t)count;
    CHECK_DONE(world, cairn_claim(engine, &claim, &tasks, &world->error));
    CHECK_INT(cairn_page_count(tasks), count);
    for (size_t i = 0; i < count; i++) {
        CHECK_INT(cairn_page_task(tasks, i)->kind_code, CAIRN_TASK_JOB);
        reports[i] = (cairn_report)CAIRN_REPORT_DEFAULTS;
        reports[i].task_id = cairn_page_task(tasks, i)->id;
        reports[i].token = cairn_page_task(tasks, i)->token;
    }
    CHECK_DONE(world, cairn_report_many(engine, "w", reports, count, reported, NULL, NULL,
                                        &world->error));
    for (size_t i = 0; i < count; i++)
        CHECK_INT(reported[i].code, CAIRN_OK);
    cairn_page_free(tasks);
}

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
    await_sleep(&waiter);
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
    await_sleep(&waiter);
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
        await_sleep(&waiter);
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
    await_sleep(&waiters[JOBS - 1]);
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
    await_sleep(&waiter);
    cairn_close(world.engine);
    world.engine = NULL;
    pthread_join(waiter.thread, NULL);
    CHECK_INT(waiter.code, CAIRN_E_CLOSED);
    close_world(&world);
}

/* ---- instances ------------------------------------------------------------------------------- */

static cairn_enqueued start_instance(struct world *world)
{
    cairn_start_options start = CAIRN_START_DEFAULTS;
    cairn_enqueued started;
    CHECK_DONE(world, cairn_workflow_deploy(
                          world->engine, "w",
                          "{workflow: w, version: 1, steps: [{step: a, handler: t.v1}]}", NULL,
                          &world->error));
    start.workflow = "w";
    CHECK_DONE(world, cairn_instance_start(world->engine, &start, &started, &world->error));
    return started;
}

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
    await_sleep(&waiter);
    do_step(&world, started.id);
    pthread_join(waiter.thread, NULL);
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
        await_sleep(&waiter);
        CHECK_DONE(&world,
                   cairn_instance_abort(world.other, started.id, "me", "why", &world.error));
        pthread_join(waiter.thread, NULL);
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
