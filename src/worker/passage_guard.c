/* worker/passage_guard.c - a run in the hands of several threads: one call at a time, one end.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * A run belongs to the function's code.  But that code may have left a thread behind which goes on
 * asking after the function has returned.  So each call takes the run and gives it back; the end
 * closes it, and what comes later is told so.  What calls have returned lives until
 * cairn_passage_free() and the last call that is inside.
 */
#include "worker/passage.h"

#include "worker/worker.h"

#include <time.h>

bool guard_init(struct passage_guard *guard)
{
    pthread_condattr_t monotonic;
    if (pthread_mutex_init(&guard->lock, NULL))
        return false;
    pthread_condattr_init(&monotonic);
    pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
    bool is_made = pthread_cond_init(&guard->returned, &monotonic) == 0;
    pthread_condattr_destroy(&monotonic);
    if (!is_made)
        pthread_mutex_destroy(&guard->lock);
    atomic_init(&guard->holders, 1);
    return is_made;
}

static void free_works(struct step_call *calls)
{
    for (struct step_call *call = calls; call; call = call->next)
        work_free(call->work);
}

static void drop(struct cairn_passage *passage)
{
    if (atomic_fetch_sub(&passage->guard.holders, 1) > 1)
        return;
    free_works(passage->calls);
    free_works(passage->left_calls);
    pthread_cond_destroy(&passage->guard.returned);
    pthread_mutex_destroy(&passage->guard.lock);
    arena_done(&passage->arena);
    mem_free(passage);
}

void cairn_passage_free(cairn_passage *passage)
{
    if (passage)
        drop(passage);
}

cairn_code passage_closed(const struct cairn_passage *passage, cairn_error *reterr)
{
    return fail(reterr, CAIRN_E_CLOSED, "the run of \"%.128s\" has ended", passage->task.type);
}

void passage_hold(struct cairn_passage *passage)
{
    atomic_fetch_add(&passage->guard.holders, 1);
    pthread_mutex_lock(&passage->guard.lock);
}

struct cairn_passage *passage_hold_fact(const cairn_passage *passage)
{
    struct cairn_passage *held = (struct cairn_passage *)passage;
    passage_hold(held);
    return held;
}

cairn_code passage_take(struct cairn_passage *passage, cairn_error *reterr)
{
    if (atomic_load(&passage->guard.is_closed))
        return passage_closed(passage, reterr);
    passage_hold(passage);
    if (!atomic_load(&passage->guard.is_closed))
        return CAIRN_OK;
    cairn_code code = passage_closed(passage, reterr);
    passage_give(passage);
    return code;
}

cairn_code passage_take_last(struct cairn_passage *passage, cairn_error *reterr)
{
    if (atomic_exchange(&passage->guard.is_closed, true))
        return passage_closed(passage, reterr);
    passage_hold(passage);
    return CAIRN_OK;
}

void passage_give(struct cairn_passage *passage)
{
    pthread_mutex_unlock(&passage->guard.lock);
    drop(passage);
}

/* ---- the code of a step -------------------------------------------------------------------- */

cairn_outcome passage_run_code(struct cairn_passage *passage, const cairn_step_options *options,
                               struct cairn_work *work)
{
    struct passage_guard *guard = &passage->guard;
    guard->is_calling = true;
    guard->caller = pthread_self();
    pthread_mutex_unlock(&guard->lock);
    cairn_outcome outcome = options->run(work, options->arg);
    pthread_mutex_lock(&guard->lock);
    guard->is_calling = false;
    pthread_cond_broadcast(&guard->returned);
    return outcome;
}

bool passage_outlast_code(struct cairn_passage *passage)
{
    struct passage_guard *guard = &passage->guard;
    bool is_under_way = guard->is_calling;
    if (!is_under_way || pthread_equal(guard->caller, pthread_self()))
        return is_under_way; /* the code of a step that ends its own run has itself to wait for */
    struct timespec until;
    clock_gettime(CLOCK_MONOTONIC, &until);
    until.tv_sec += passage->lease_ms / 1000;
    until.tv_nsec += (long)(passage->lease_ms % 1000) * 1000000;
    if (until.tv_nsec >= 1000000000) {
        until.tv_sec++;
        until.tv_nsec -= 1000000000;
    }
    while (guard->is_calling &&
           pthread_cond_timedwait(&guard->returned, &guard->lock, &until) == 0)
        continue;
    return true;
}

void passage_await_code(struct cairn_passage *passage)
{
    struct passage_guard *guard = &passage->guard;
    pthread_mutex_lock(&guard->lock);
    while (guard->is_calling && !pthread_equal(guard->caller, pthread_self()))
        pthread_cond_wait(&guard->returned, &guard->lock);
    pthread_mutex_unlock(&guard->lock);
}
