/* tests/engine/test_worker.c - which requests a worker has under way at the same time.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * The engine's own submit() is wrapped: a report is held back until the test lets it go.
 */
#include "cairn.h"
#include "engine/engine.h"
#include "engine/request.h"
#include "test.h"

#include <pthread.h>
#include <stdatomic.h>
#include <time.h>

enum { PATIENCE_S = 60 };

static const struct engine_ops *inner;
static _Atomic(struct request *) held; /* the first report */
static atomic_int quick_calls, slow_calls, is_released;

static void hold_first_report(cairn_engine *engine, struct request *request)
{
    struct request *none = NULL;
    if (request->op == OP_REPORT && atomic_compare_exchange_strong(&held, &none, request))
        return;
    inner->submit(engine, request);
}

static cairn_outcome run_quick(cairn_work *work, void *arg)
{
    (void)work;
    (void)arg;
    atomic_fetch_add(&quick_calls, 1);
    return CAIRN_COMPLETE;
}

static bool is_late(time_t since)
{
    return time(NULL) - since > PATIENCE_S;
}

static cairn_outcome run_slow(cairn_work *work, void *arg)
{
    (void)work;
    (void)arg;
    atomic_fetch_add(&slow_calls, 1);
    for (time_t since = time(NULL); !atomic_load(&is_released) && !is_late(since);)
        sched_yield();
    return CAIRN_COMPLETE;
}

static void *run_worker(void *worker)
{
    cairn_error error;
    CHECK_INT(cairn_worker_run(worker, &error), CAIRN_OK);
    return NULL;
}

static void add_job(cairn_engine *engine, const char *type)
{
    cairn_job_spec spec = CAIRN_JOB_DEFAULTS;
    cairn_enqueued added;
    cairn_error error;
    spec.type = type;
    CHECK_INT(cairn_enqueue(engine, &spec, 1, &added, &error), CAIRN_OK);
}

static bool await_calls(atomic_int *calls, int count)
{
    for (time_t since = time(NULL); atomic_load(calls) < count;) {
        if (is_late(since))
            return false;
        sched_yield();
    }
    return true;
}

TEST(a_worker_with_a_free_thread_waits_for_jobs_while_it_reports)
{
    cairn_open_options open = CAIRN_OPEN_DEFAULTS;
    cairn_worker_options options = CAIRN_WORKER_DEFAULTS;
    cairn_engine *engine;
    cairn_worker *worker;
    cairn_error error;
    pthread_t thread;
    open.url = "memory:";
    options.concurrency = 3;
    CHECK_INT(cairn_open(&open, &engine, &error), CAIRN_OK);
    inner = engine->ops;
    struct engine_ops ops = *inner;
    ops.submit = hold_first_report;
    engine->ops = &ops;
    CHECK_INT(cairn_worker_new(engine, &options, &worker, &error), CAIRN_OK);
    CHECK_INT(cairn_worker_handle(worker, "quick", run_quick, NULL, &error), CAIRN_OK);
    CHECK_INT(cairn_worker_handle(worker, "slow", run_slow, NULL, &error), CAIRN_OK);
    pthread_create(&thread, NULL, run_worker, worker);

    add_job(engine, "quick");
    for (time_t since = time(NULL); !atomic_load(&held);)
        CHECK(!is_late(since), "it never reports");
    add_job(engine, "slow"); /* for the claim that was sent before the report */
    CHECK(await_calls(&slow_calls, 1), "the second job is not run");
    add_job(engine, "quick"); /* for one that is sent while the report is under way */
    CHECK(await_calls(&quick_calls, 2), "the third job is not run while the first is reported");

    inner->submit(engine, atomic_load(&held));
    atomic_store(&is_released, 1);
    cairn_worker_stop(worker);
    pthread_join(thread, NULL);
    engine->ops = inner;
    cairn_worker_free(worker);
    cairn_close(engine);
}
