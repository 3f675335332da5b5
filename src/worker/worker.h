/* worker/worker.h - the callback style: handlers, the threads that run them, and the
 * dispatcher.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * The thread that called cairn_worker_run() is the dispatcher.  It never waits for the store:
 * claims, reports and heartbeats are requests that it sends off, and it sleeps until one of
 * them is answered, a handler has finished, or a timer is due.  So an outcome is reported at
 * once even while a claim waits for work.
 *
 *             claim                take                 finish
 *     store -------> waiting --------------> a thread ----------> finished
 *       ^                                                            |
 *       '------------------- report, and claim in the same call -----'
 *
 * At most `concurrency` tasks are claimed and not finished, so each starts the moment it comes.
 * Everything without a note belongs to the dispatcher alone.
 */
#ifndef WORKER_WORKER_H
#define WORKER_WORKER_H

#include "base/clock.h"
#include "base/mem.h"
#include "engine/engine.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

struct handler {
    const char *pattern;
    cairn_handler run;
    void *arg;
};

/* A durable function, in one version. */
struct function {
    const char *name;
    int32_t version, from_version; /* the highest and the lowest that its code accepts */
    cairn_function run;
    void *arg;
    cairn_commit_mode commit;
};

/* A task that this worker holds. */
struct cairn_work {
    struct cairn_work *next;
    struct arena arena; /* the task's texts */
    cairn_task task;
    const struct handler *handler;
    const struct function *function; /* instead of handler: the task is a run of it */
    const struct cairn_work *host;   /* of a function's step: the run; its stop is ours, too */
    struct cairn_worker *worker;     /* whose it is; NULL: of a run outside a worker */
    _Atomic(const char *) stop;      /* written by the dispatcher, read by the handler */

    /* The handler's while it runs, then the dispatcher's. */
    cairn_outcome outcome;
    char *output, *error;
    char *bad_output; /* why the output is not JSON; NULL: it is */
    int64_t delay_ms;
    const char *event; /* what it waits for; in the arena */
    int64_t timeout_ms;
    LIST(cairn_outbound) outbound;

    bool is_missing_handler;
    bool is_settled;        /* a run, which has made its commits itself: no report */
    cairn_error *end_error; /* why those were not accepted; in the arena; NULL: they were */
    int64_t lease_until_us; /* monotonic, as far as we know */
    int64_t heartbeat_at_us;
    bool is_heartbeat_out;
    bool is_over;    /* to be freed with the answer of its heartbeat */
    bool is_alone;   /* to be reported by itself: together it was refused */
    bool is_refused; /* its outcome was refused, and is now a failure that says so */
};

struct work_list {
    struct cairn_work *first, *last;
    size_t count;
};

enum call_kind { CALL_CLAIM, CALL_REPORT, CALL_HEARTBEAT, CALL_IDLE };
enum call_state { CALL_WAITING, CALL_ANSWERED, CALL_ABANDONED };

/* A request that is under way. */
struct call {
    struct call *next;
    enum call_kind kind;
    struct cairn_worker *worker;
    cairn_engine *engine;
    struct request *request;
    uint32_t slots;          /* threads that its tasks are for */
    bool is_patient;         /* a claim sent while handlers were running */
    struct work_list works;  /* what is reported */
    struct cairn_work *work; /* whose heartbeat */
    atomic_int state;        /* of enum call_state; decides who frees it */
};

/* After a failure: how long nothing is sent, longer each time; a zeroed struct is none. */
struct rest {
    int64_t length_us, until_us;
};

struct cairn_worker {
    cairn_engine *engine;
    struct arena arena;         /* of names, handlers and functions */
    const char *name, *runtime; /* runtime NULL: any */
    uint32_t concurrency, lease_ms, wait_ms;
    bool is_until_idle;
    struct rng rng; /* jitter */
    LIST(struct handler) handlers;
    LIST(struct function) functions;

    int wake_fd;             /* readable: there is something to look at */
    atomic_bool is_stopping; /* set by any thread */

    pthread_mutex_t lock; /* guards down to is_quitting */
    pthread_cond_t has_waiting;
    struct work_list waiting, finished;
    struct call *answered;
    bool is_quitting;

    pthread_t *threads;
    uint32_t thread_count;
    struct cairn_work **running; /* thread_count of them, at most */
    uint32_t running_count;
    uint32_t slots_promised; /* to claims under way */
    struct work_list unreported;

    struct call *claim_out; /* NULL: none */
    bool is_report_out, is_check_out;
    uint32_t heartbeats_out;

    struct rest claim_rest, report_rest;
    int64_t wake_at_us; /* the next timer */

    bool is_empty;     /* the latest claim brought nothing */
    uint32_t pause_ms; /* until_idle: how long the next claim waits */

    bool is_ending; /* nothing more is claimed */
    cairn_code code;
    cairn_error error;
};

/* ---- work.c -------------------------------------------------------------------------------- */

struct cairn_work *work_new(const cairn_task *task); /* NULL: memory ran out */
bool task_copy(struct arena *arena, const cairn_task *task, cairn_task *ret_copy);
void work_free(struct cairn_work *work);
void work_set_refused(struct cairn_work *work, const char *why);

void works_push(struct work_list *list, struct cairn_work *work);
struct cairn_work *works_pop(struct work_list *list);              /* NULL: empty */
void works_append(struct work_list *list, struct work_list *more); /* more is emptied */

/* ---- pool.c -------------------------------------------------------------------------------- */

cairn_code pool_start(struct cairn_worker *worker, cairn_error *reterr);
void pool_stop(struct cairn_worker *worker);
void pool_run(struct cairn_worker *worker, struct cairn_work *work); /* starts at once */

/* ---- call.c -------------------------------------------------------------------------------- */

/* What a worker sends, without waiting.  Answers come to dispatch.c. */
bool send_claim(struct cairn_worker *worker, uint32_t slots, uint32_t wait_ms);
bool send_report(struct cairn_worker *worker, struct work_list *works, uint32_t slots);
bool send_heartbeat(struct cairn_worker *worker, struct cairn_work *work);
bool send_idle(struct cairn_worker *worker);

/* Stops waiting for the claim: tasks that it may still bring are given back. */
void abandon_claim(struct cairn_worker *worker);
void call_free(struct call *call);

/* ---- dispatch.c ---------------------------------------------------------------------------- */

void worker_dispatch(struct cairn_worker *worker);

/* ---- worker.c ------------------------------------------------------------------------------ */

/* Tells the dispatcher that there is something to look at. */
void worker_wake(struct cairn_worker *worker);
const struct handler *worker_find(const struct cairn_worker *worker, const char *type);

/* ---- function.c ---------------------------------------------------------------------------- */

/* The instance's own version of a function, else the highest that accepts it; NULL: none does. */
const struct function *worker_find_function(const struct cairn_worker *worker,
                                            const cairn_task *task);
void run_function(struct cairn_worker *worker, struct cairn_work *work);

/* ---- outcome.c: what an answer to a report means ------------------------------------------- */

void report_answered(struct cairn_worker *worker, struct call *call);
void passage_ended(struct cairn_worker *worker, struct cairn_work *work); /* work is freed */
bool code_is_retryable(cairn_code code); /* may be over when tried again later */
void worker_fail(struct cairn_worker *worker, cairn_code code, const cairn_error *why);
int64_t rest_longer(int64_t rest_us);
void rest_begin(struct rest *rest);

#endif
