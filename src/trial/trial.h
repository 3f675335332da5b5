/* trial/trial.h - an engine for tests: passes requests on to a real one, and lets calls of handlers go wrong.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 *     worker --- claim, report ---> trial --- what is left of it ---> engine
 *
 * A trial is a cairn_engine of its own kind, so every binding works with it as it is.  All requests pass through
 * trial_forward(), which waits for the answer: so the engine behind it can be replaced while none is under way.
 */
#ifndef TRIAL_TRIAL_H
#define TRIAL_TRIAL_H

#include "base/buf.h"
#include "engine/engine.h"
#include "simulate/simulate.h"

#include <pthread.h>

/* What happens to a call.  FIRST: before its handler is called.  LAST: after it. */
enum fate {
    FATE_NONE,
    FATE_FAIL_FIRST,
    FATE_FAIL_LAST,
    FATE_CRASH_FIRST,
    FATE_CRASH_LAST,
    FATE_TIMEOUT,
    FATE_LATE,
    FATE_TWICE
};

/* A call of a handler. */
struct call {
    const char *task_id, *token, *worker;
    const char *name; /* of the step, with ":undo" of a compensation; of a job its type */
    const char *told; /* the same for the story: with the instance, if it is not the first */
    int32_t instance; /* its number, from 1; 0: a job */
    size_t number;    /* how often it was called before */
    size_t commits;   /* of a run of a function, so far */
    enum fate fate;
    bool is_function;
    bool is_crashed; /* its worker is gone: nothing that comes from it counts */
    int64_t lease_until_us, deadline_us;
};

/* An outcome that arrives later. */
struct late {
    int64_t at_us;
    const struct call *call;
    cairn_report report;
    bool is_over;
};

struct trial {
    struct cairn_engine base;
    cairn_engine *inner;  /* NULL: it could not be opened again */
    cairn_error why_gone; /* then */
    pthread_rwlock_t
        gate; /* held for reading during a request, for writing while `inner` is replaced */
    cairn_open_options options;
    char *url, *folder; /* of `inner`; the folder goes with it, NULL: none */
    cairn_trial_options rates;
    struct sim_rate *fail_of;
    size_t fail_of_count;

    pthread_mutex_t lock; /* of all below */
    struct arena arena;
    LIST(struct call *) calls;
    LIST(struct late) lates;
    LIST(const char *) instances; /* ids, in the order in which they were seen */
    LIST(const char *) broken;    /* what the engine itself did wrong */
    uint64_t restarts, reports;
    int64_t began_us, now_us;
    struct buf story;
    int64_t told_to; /* the last event that was told */
};

static inline struct trial *to_trial(cairn_engine *engine)
{
    return (struct trial *)engine;
}

/* trial.c: the request's own done() is not called. */
cairn_code trial_forward(struct trial *trial, struct request *request);
/* Closes the engine and opens it again; not while another request is under way. */
void trial_restart(struct trial *trial);
/* A law of the engine itself is broken. */
void trial_blame(struct trial *trial, const char *law);

/* fate.c: what happens to this call; whether its worker crashes before this commit of a run of a function; whether
 * the engine is restarted now. */
enum fate fate_draw(const struct trial *trial, const struct call *call);
bool fate_crashes_commit(const struct trial *trial, struct call *call);
bool fate_restarts(struct trial *trial);

/* work.c: claims and outcomes. */
void trial_claim(struct trial *trial, struct request *request);
void trial_report(struct trial *trial, struct request *request);
void trial_commit(struct trial *trial, struct request *request);
void trial_idle(struct trial *trial, struct request *request);

/* late.c: time, and what arrives late. */
cairn_code trial_keep_late(struct trial *trial, const struct call *call,
                           const cairn_report *report, cairn_error *reterr);
void trial_advance(struct trial *trial, struct request *request);
void trial_clock(struct trial *trial, struct request *request);

/* story.c: the lock is held. */
void trial_tell(struct trial *trial, const char *format, ...) format_like(2, 3);
void trial_tell_events(struct trial *trial);
int32_t trial_instance(struct trial *trial, const char *id); /* its number */

#endif
