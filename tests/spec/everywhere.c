/* tests/spec/everywhere.c - an engine on any URL, a second one on the same store, and threads that wait.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "everywhere.h"

#include "scratch.h"

#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

bool is_kind(const char *kind)
{
    return strcmp(scratch_kind(), kind) == 0;
}

static cairn_engine *open_url(struct world *world, const char *url, bool is_virtual)
{
    cairn_engine *engine = NULL;
    cairn_open_options open = CAIRN_OPEN_DEFAULTS;
    open.url = url;
    open.virtual_clock = is_virtual;
    open.retry_ms = 120000; /* a machine that is busy is no fault of the store */
    CHECK_DONE(world, cairn_open(&open, &engine, &world->error));
    return engine;
}

static const char *open_first(struct world *world, bool is_virtual)
{
    const char *more[] = {is_virtual ? "--virtual-clock" : NULL, NULL};
    *world = (struct world){0};
    const char *url = is_kind("http") ? scratch_store_of("sqlite") : scratch_store();
    if (is_kind("http"))
        server_start(&world->server, url, "0", more);
    world->url = is_kind("http") ? world->server.url : url;
    world->engine = open_url(world, world->url, is_virtual && !is_kind("http"));
    return url;
}

void open_world(struct world *world)
{
    const char *url = open_first(world, false);
    if (!is_kind("memory"))
        world->other = open_url(world, url, false);
}

void open_virtual_world(struct world *world)
{
    open_first(world, true);
}

void close_world(struct world *world)
{
    cairn_close(world->engine);
    cairn_close(world->other);
    if (is_kind("http"))
        server_stop(&world->server);
}

/* ---- work ------------------------------------------------------------------------------------ */

void add_jobs(struct world *world, cairn_enqueued *enqueued, size_t count)
{
    cairn_job_spec specs[64];
    for (size_t i = 0; i < count; i++) {
        specs[i] = (cairn_job_spec)CAIRN_JOB_DEFAULTS;
        specs[i].type = "t.v1";
    }
    CHECK_DONE(world, cairn_enqueue(world->engine, specs, count, enqueued, &world->error));
}

cairn_claim_options claim_by(const char *worker, uint32_t max, uint32_t wait_ms)
{
    static const char *const types[] = {"t.v1"};
    cairn_claim_options claim = CAIRN_CLAIM_DEFAULTS;
    claim.worker = worker;
    claim.types = types;
    claim.type_count = 1;
    claim.max = max;
    claim.wait_ms = wait_ms;
    return claim;
}

void do_jobs(struct world *world, cairn_engine *engine, size_t count)
{
    cairn_claim_options claim = claim_by("w", (uint32_t)count, 0);
    cairn_report reports[64];
    cairn_reported reported[64];
    cairn_page *tasks = NULL;
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

cairn_enqueued start_instance(struct world *world)
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

/* ---- threads --------------------------------------------------------------------------------- */

static void *run_sleeper(void *arg)
{
    struct sleeper *sleeper = arg;
    sleeper->tid = (int)syscall(SYS_gettid);
    sleeper->call(sleeper->arg);
    sleeper->is_over = true;
    return NULL;
}

void sleeper_start(struct sleeper *sleeper, void (*call)(void *arg), void *arg)
{
    *sleeper = (struct sleeper){.call = call, .arg = arg};
    CHECK_INT(pthread_create(&sleeper->thread, NULL, run_sleeper, sleeper), 0);
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

void sleeper_await(struct sleeper *sleeper)
{
    for (int seen = 0; seen < 20; seen = state_of(sleeper->tid) == 'S' ? seen + 1 : 0)
        nanosleep(&(struct timespec){.tv_nsec = 2000 * 1000}, NULL);
}

void sleeper_join(struct sleeper *sleeper)
{
    pthread_join(sleeper->thread, NULL);
}
