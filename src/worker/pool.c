/* worker/pool.c - the threads that run handlers.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "worker/worker.h"

#include <assert.h>
#include <string.h>

/* Why an outcome cannot be reported; NULL: it can. */
static const char *find_fault(const struct cairn_work *work, cairn_outcome outcome)
{
    if (outcome < CAIRN_COMPLETE || outcome > CAIRN_WAIT)
        return "the handler returned no outcome";
    if (outcome == CAIRN_COMPLETE && work->bad_output)
        return work->bad_output;
    if (outcome == CAIRN_WAIT && !work->event)
        return "the handler waits, but did not say for which event";
    return NULL;
}

/* Whatever the handler did, the outcome can then be reported. */
static void run_handler(struct cairn_work *work)
{
    cairn_outcome outcome = work->handler->run(work, work->handler->arg);
    const char *fault = find_fault(work, outcome);
    if (fault) {
        cairn_work_set_error(work, fault);
        outcome = CAIRN_FAIL;
    }
    work->outcome = outcome;
}

static void *run(void *arg)
{
    struct cairn_worker *worker = arg;
    pthread_mutex_lock(&worker->lock);
    while (!worker->is_quitting) {
        struct cairn_work *work = works_pop(&worker->waiting);
        if (!work) {
            pthread_cond_wait(&worker->has_waiting, &worker->lock);
            continue;
        }
        pthread_mutex_unlock(&worker->lock);
        if (work->function)
            run_function(worker, work);
        else
            run_handler(work);
        pthread_mutex_lock(&worker->lock);
        bool is_first = worker->finished.count == 0;
        works_push(&worker->finished, work);
        if (is_first)
            worker_wake(worker);
    }
    pthread_mutex_unlock(&worker->lock);
    return NULL;
}

cairn_code pool_start(struct cairn_worker *worker, cairn_error *reterr)
{
    worker->threads = mem_zalloc(worker->concurrency * sizeof *worker->threads);
    worker->running = mem_zalloc(worker->concurrency * sizeof *worker->running);
    NEED(worker->threads && worker->running, reterr);

    int failed = 0;
    worker->is_quitting = false;
    while (worker->thread_count < worker->concurrency && !failed) {
        failed = pthread_create(&worker->threads[worker->thread_count], NULL, run, worker);
        if (!failed)
            worker->thread_count++;
    }
    if (failed)
        return fail(reterr, CAIRN_E_TOO_MANY, "could not start %u threads: %s",
                    worker->concurrency, strerror(failed));
    return CAIRN_OK;
}

void pool_stop(struct cairn_worker *worker)
{
    pthread_mutex_lock(&worker->lock);
    worker->is_quitting = true;
    pthread_cond_broadcast(&worker->has_waiting);
    pthread_mutex_unlock(&worker->lock);
    while (worker->thread_count)
        pthread_join(worker->threads[--worker->thread_count], NULL);
    mem_free(worker->threads);
    mem_free(worker->running);
    worker->threads = NULL;
    worker->running = NULL;
}

void pool_run(struct cairn_worker *worker, struct cairn_work *work)
{
    assert(worker->running_count < worker->thread_count);
    worker->running[worker->running_count++] = work;
    pthread_mutex_lock(&worker->lock);
    works_push(&worker->waiting, work);
    pthread_cond_signal(&worker->has_waiting);
    pthread_mutex_unlock(&worker->lock);
}
