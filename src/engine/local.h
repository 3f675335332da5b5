/* engine/local.h - the engine on a store in this process: its queues, its threads, its timers.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * Requests that change something go to `writes` and are taken by a committer, a batch at a
 * time; the others go to `reads`.  A claim that found nothing and may wait is parked.
 *
 *                 submit            take                 commit
 *     caller ---------------> writes ----> committer ---------------> done
 *                               ^              |  nothing to claim
 *                               |  wake        v
 *                               '---------- parked ----------------> done (its time is over)
 *
 * All fields below `lock` are guarded by it.  It is not held during a call of the store.
 */
#ifndef ENGINE_LOCAL_H
#define ENGINE_LOCAL_H

#include "core/limit.h"
#include "definition/definition.h"
#include "engine/engine.h"
#include "engine/figures.h"
#include "engine/known_lease.h"
#include "engine/workers.h"
#include "store/store.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>

/* What commits count, as cairn_stats calls it. */
/* clang-format off */
#define COUNTERS(X)                                                                     \
    X(enqueued) X(claimed) X(completed) X(failed) X(retried) X(cancelled) X(released)   \
    X(heartbeats) X(lease_expiries) X(late_reports) X(started)                          \
    X(passages) X(passage_commits) X(passage_conflicts)
/* clang-format on */

/* Counted without the lock. */
#define ATOMIC_COUNTER(name) _Atomic uint64_t name;
struct counters {
    COUNTERS(ATOMIC_COUNTER)
    _Atomic uint64_t commits, commit_requests, commit_us, commit_us_max;
};

/* plans.c: plans of workflows that were started lately.  A zeroed struct is empty. */
struct plans {
    struct kept_plan *first;
    size_t count, rows;
};

/* Forgets all if the bound is reached.  Between batches only: what was found is used until then. */
void plans_trim(struct plans *plans);
void plans_done(struct plans *plans);

/* NULL: not kept.  What comes back has no content and no elements. */
const struct definition *plans_find(const struct plans *plans, const char *name,
                                    int32_t version, const char *hash);

/* Keeps a copy under the hash that the store knows, if there is room and memory for it. */
void plans_keep(struct plans *plans, const struct definition *definition, const char *hash);

enum { WAIT_BUCKETS = 512 };

/* waits.c: requests that wait for the end of a job or an instance. */
struct end_waits {
    struct request_queue buckets[WAIT_BUCKETS]; /* by the hash of the id */
    size_t count;
    uint64_t epoch;   /* rises whenever something may have ended */
    int64_t first_us; /* monotonic: no time is over before this; 0: none waits */

    /* When to ask the store which of them have ended: monotonic; 0: not by the clock. */
    int64_t look_us;
    int64_t looked_us;    /* when all of them were asked for, and not only the young ones */
    int64_t hearing_us;   /* since when other processes tell of ends */
    size_t hearing_looks; /* looks after that which are done */
    bool is_watched;      /* the watcher knows that somebody waits */
};

/* bulk.c: when this process looks for the next portion of a bulk action; with the lock held. */
struct bulks {
    bool is_busy;    /* a portion is under way */
    int64_t look_us; /* monotonic; 0: at once; INT64_MAX: not before there is news */
};

/* retention.c: when this process makes the next portion of the sweep, or looks for it; with the lock held. */
struct sweeps {
    bool is_busy;       /* a portion is under way */
    int64_t look_us;    /* monotonic; 0: at once */
    size_t family_most; /* PURGE_FAMILY; tests have smaller families */
    int64_t worked_us;  /* monotonic: when the last portion was ready to be committed */
    int64_t commit_us;  /* how long that took */
};
enum { READY_TYPES_MAX = 16 };

enum claim_kind { CLAIM_JOBS, CLAIM_STEPS, CLAIM_KINDS };

/* Of which types jobs and steps became claimable, so that only those are woken who wait for them. */
struct ready_types {
    char names[READY_TYPES_MAX][64];   /* longer ones count as any */
    int32_t versions[READY_TYPES_MAX]; /* of functions; else 0 */
    size_t count;
    bool is_any;
    bool is_made[CLAIM_KINDS]; /* whether there were jobs, and steps */
    bool is_place;             /* a lease that limits count has ended */
};

/* Types for which a batch has just found that there is no more: a claim for them that waits would find nothing, so it
 * waits without asking.  Whatever would wake such a claim ends that, and so does a short time. */
enum { NOTHING_MAX = 4 };
struct nothing {
    struct ready_types types; /* exact ones and prefixes, as claims name them */
    int64_t until_us;         /* monotonic; 0: not so */
};

/* How often the trail tells of a handler that is missing: once in missing_throttle_ms for a type,
 * give or take types that share an entry. */
enum { MISSING_NOTED = 256 };

/* Rise whenever jobs, or steps, may have become claimable, and places of limits free. */
enum { EPOCH_PLACES = CLAIM_KINDS, EPOCHS };

/* What is remembered of claims that are alike; others share it, too, if chance will have it. */
enum { HABITS = 64 };

struct claim_habit {
    bool is_steps_turn; /* who goes first in a claim that takes jobs and steps */
    /* The store had none of a kind.  That holds for a moment, and as long as this process makes none. */
    struct {
        int64_t until_us; /* 0: it had some */
        uint64_t epoch;   /* the engine's ready_epochs of that time */
        bool is_limited;  /* it had some, and limits have refused them */
        uint64_t place_epoch;
    } empty[CLAIM_KINDS];
    /* Steps in hand have filled a claim, and the store had none that came before them. */
    bool is_hand_known;
    double hand_priority;
};

/* What is remembered of claims that are alike and ask for lanes; by all committers, since groups take turns among
 * all claims.  Under a limit the store remembers which group was served last, for all processes. */
struct lane_habit {
    bool has_lanes;     /* there were types that have lanes */
    bool is_lanes_turn; /* lanes get the larger half */
    bool was_limited;   /* a limit mattered */
    bool has_last;      /* last_group says something */
    /* There was nothing of types without lanes.  That holds for a moment, as in claim_habit. */
    int64_t no_plain_until_us;
    uint64_t no_plain_epoch;
    char last_group[GROUP_MAX + 1]; /* of the lane that was served last, if no limit matters */
};

/* Wake-ups are counted by hash of the worker's name; the first count is that of waits for an end. */
enum { WAKE_COUNTS = 64 };

enum { WRITERS_MAX = 4, BATCH_MAX = 1000 };

/* aside.c: what timers do, each kind with its own question to the store. */
enum timer_kind {
    TIMER_LOST_JOBS,
    TIMER_DUE_JOBS,
    TIMER_DUE_STEPS,
    TIMER_INTAKE,
    TIMER_SCHEDULES,
    TIMER_STARTS,
    TIMER_STEPS,
    TIMER_FAMILIES,
    TIMER_KINDS
};

/* Which timers a batch applies, and how many rows of a kind; zeroed: all of them, a portion of each. */
struct timing {
    bool is_off;
    unsigned kinds; /* 1 << enum timer_kind; 0: all */
    size_t most;    /* 0: a portion */
};

/* Jobs and instances that the store refused to write when their time came.  Timers pass over them for a while. */
enum { ASIDE_MAX = 64 };
struct aside {
    char id[ID_TEXT];
    int64_t until_us; /* monotonic */
    char why[200];
};
struct asides {
    struct aside rows[ASIDE_MAX];
    size_t count;
    int64_t told_us; /* monotonic: when the operator was told; 0: never */
    int64_t rest_us; /* monotonic: until when no timers are applied */
};

/* Owns one connection and commits what waits.  The thread only calls committer_run_once(), so a
 * simulator can call it instead. */
struct committer {
    struct local_engine *engine;
    struct store_session *session; /* NULL: not open yet */
    struct rng rng;
    struct plans plans;
    struct claim_habit habits[HABITS];
    struct timing timing;
    int locked_batches;    /* how many to come lock all their rows */
    bool has_few_steps;    /* the latest claim of jobs and steps found fewer steps than jobs */
    int index;             /* 0 also keeps the timers and the parked claims */
    int64_t backoff_us;    /* how long a store is left alone that could not be reached */
    int64_t rest_until_us; /* monotonic: until when it is */
    pthread_t thread;
};

/* When the engine must look at the store's timers.  They belong to the store: others set them, too,
 * so what is known here is when to ask again, at the latest. */
struct timer_watch {
    uint64_t news; /* rises when the store must be asked: at opening, after news from others */
    uint64_t answered; /* the news that an answer has come for; others: ask at once */
    int64_t due_us;    /* monotonic: when to ask again; 0: not before there is news */
    uint64_t noted;    /* rises with each timer that was noted without asking */
};

/* Requests wait for more of them before a batch begins (committer.c). */
struct gathering {
    size_t wanted;     /* rows: requests for so many need not wait */
    int64_t until_us;  /* monotonic: how long at most */
    int64_t commit_us; /* what the latest commit took */
    int at_work;       /* committers that have a batch */
};

/* prober.c; a server has it. */
struct prober {
    bool is_there; /* its thread is running */
    pthread_t thread;
    pthread_cond_t work;
    struct request_queue asked;
    struct store_session *session; /* its own; NULL: not open yet */
};

struct local_engine {
    struct cairn_engine base; /* first */
    struct store *store;
    struct clock clock;
    struct counters counters;
    struct known_leases known_leases;
    struct workers workers;
    struct bulks bulks;
    struct sweeps sweeps;
    struct figures figures;
    _Atomic size_t value_largest; /* bytes of the longest value that came in or went out */
    _Atomic bool has_handed_out;  /* a claim: until then any value may be in the store */
    int64_t clock_opened_us;      /* the clock when it was opened */
    _Atomic int64_t opened_us;    /* the same in the store's time; 0: nobody has asked yet */

    struct committer committers[WRITERS_MAX];
    int committer_count;
    pthread_t reader, watcher;
    bool has_reader, has_watcher; /* threads that are running */

    /* For questions: the reader's, or that of a caller who asks while the reader has nothing to do. */
    struct store_session *read_session; /* NULL: not open yet */
    pthread_mutex_t read_lock;          /* of it; taken before `lock` */

    int threads_running; /* committers' */
    bool has_threads;    /* set before they start; false: somebody else runs the committer */
    int stop_fd;         /* readable once the engine stops */
    int wake_fd;         /* of the watcher: see struct store */

    pthread_mutex_t advance_lock; /* of who moves a virtual clock; taken before `lock` */
    pthread_mutex_t lock;
    pthread_cond_t write_work, read_work, watch_work;
    struct request_queue writes, reads, parked;
    struct request_queue held; /* held.h: committed, and answered later */
    uint32_t looks;            /* of cairn_end_unwanted() */
    struct nothing nothings[NOTHING_MAX];
    bool
        may_park_unasked; /* asking takes a round trip, and there are threads that wake what waits */
    struct gathering gathering;
    uint64_t ready_epochs[EPOCHS];
    struct lane_habit lane_habits[HABITS][CLAIM_KINDS];
    int64_t
        park_deadline_us; /* monotonic: when the first parked claim's time is over; 0: none */
    uint32_t wakes[WAKE_COUNTS]; /* so that a call that a thread works on learns of it, too */
    struct timer_watch timers;
    struct end_waits waits;
    bool is_foreign_news; /* another process may have changed the store */
    bool
        is_order_strict; /* for tests: a step in hand does not go before older ones of its priority */
    /* For tests: how many times what a batch has gathered is written after each of its requests; NULL: not before its
     * end. */
    int (*count_flushes)(void *arg);
    void *flush_arg;
    int64_t
        missing_noted_us[MISSING_NOTED]; /* when it was told, by hash of the type; 0: never */
    bool is_stopping;

    /* The latest try to commit did not reach the store.  The first committer then tries until it
     * does, so that the engine knows when it is back. */
    bool is_in_trouble;
    int64_t trouble_us; /* monotonic: since when */
    cairn_error trouble;

    struct asides asides;
    struct prober prober;
    int64_t refusal_us,
        refusals_untold; /* when a refusal to write was told: monotonic; 0: never */
};

/* prober.c: its thread; and a question whether the store answers, with the lock held. */
void *run_prober(void *arg);
void prober_add(struct local_engine *engine, struct request *request);

/* watcher.c: the thread that listens for other processes. */
void *run_watcher(void *arg);

/* local.c: with `lock` held; INT64_MAX: without end. */
void wait_until(pthread_cond_t *cond, pthread_mutex_t *lock, int64_t until_us);

/* Puts an engine together on an open store (which it then owns), without threads. */
cairn_code local_engine_new(const cairn_open_options *options, struct store *store,
                            struct local_engine **ret_engine, cairn_error *reterr);
cairn_code local_engine_start(struct local_engine *engine,
                              cairn_error *reterr); /* the threads */

/* committer.c: takes what waits and commits it.  Returns false if there was nothing to do. */
bool committer_run_once(struct committer *committer);

/* When there is something to do for it: 0: now; else monotonic, INT64_MAX: nothing in sight.
 * Call with the lock held. */
int64_t committer_next_us(const struct committer *committer);

/* Jobs and steps may have become claimable.  With the lock held. */
static inline void note_any_ready(struct local_engine *engine)
{
    for (int i = 0; i < EPOCHS; i++)
        engine->ready_epochs[i]++;
}

/* A request has come.  With the lock held. */
void committer_wake(struct local_engine *engine);

/* By when the store must have answered: the earliest end of patience among the requests that have
 * some left, and retry_ms from now at the latest.  Monotonic. */
int64_t store_deadline_us(const struct local_engine *engine,
                          const struct request_queue *requests);

/* retention.c: when it opens. */
void retention_open(struct local_engine *engine);

/* timer_watch.c; all with the lock held. */
bool keeps_timers(const struct local_engine *engine); /* by itself, not only before a claim */
bool is_solo(const struct local_engine *engine);      /* its caller's thread is the only one */
bool timers_are_due(const struct local_engine *engine);
/* Monotonic: when timers_are_due() will be true; INT64_MAX: not in sight. */
int64_t timers_next_us(const struct local_engine *engine);
struct batch_result;
void timers_ask(struct local_engine *engine); /* as soon as possible */
/* After a commit; `before` is what was known when it began. */
void timers_note(struct local_engine *engine, const struct batch_result *result,
                 const struct timer_watch *before);

/* The store may answer a later try. */
static inline bool code_is_transient(cairn_code code)
{
    return code == CAIRN_E_UNREACHABLE || code == CAIRN_E_BUSY;
}

/* waits.c; all with the lock held. */

/* A request that was read while the epoch was `epoch` waits, or is read again at once. */
void waits_add(struct local_engine *engine, struct request *request, uint64_t epoch);

/* Ids of what has ended; they are read again. */
void waits_ended(struct local_engine *engine, const char *const *ids, size_t count);
void waits_look(struct local_engine *engine);    /* at all, as soon as possible */
void waits_hearing(struct local_engine *engine); /* from now on other processes tell of ends */

/* Asks the store which have ended, if it is time to; the lock is not held meanwhile.  By the reader. */
void waits_ask(struct local_engine *engine);
void waits_end(struct local_engine *engine); /* their time is over */

/* When waits_run() has something to do: monotonic; INT64_MAX: nothing in sight. */
int64_t waits_next_us(const struct local_engine *engine);
void waits_run(struct local_engine *engine);

/* When the engine closes: takes all. */
void waits_take(struct local_engine *engine, struct request_queue *ret_all);

/* park.c; all with the lock held. */
void park_add(struct local_engine *engine, struct request *request);
/* Notes that there is no more for these types; whether a new claim is parked because of it. */
void park_note_nothing(struct local_engine *engine, const struct ready_types *types);
bool park_unasked(struct local_engine *engine, struct request *request);
/* Takes those who wait for these types (NULL: all), in order, with room for so many tasks. */
void park_take(struct local_engine *engine, const struct ready_types *ready, size_t room,
               struct request_queue *ret_taken);
void park_wake(struct local_engine *engine, const struct ready_types *ready); /* NULL: all */
void park_expire(struct local_engine *engine, struct request_queue *ret_expired);
/* cairn_wake(): takes the claims that wait, and counts so that those under way do not begin to. */
void park_end(struct local_engine *engine, const char *worker, struct request_queue *ret_ended);
uint32_t park_wakes(const struct local_engine *engine, const struct request *request);

/* unwanted.c: takes what waits and is not wanted any more; ends it, without the lock; and whether a request that is about
 * to wait is not wanted, if somebody has looked since it came. */
void unwanted_take(struct local_engine *engine, struct request_queue *ret_ended);
void unwanted_end(struct request_queue *ended);
bool unwanted_since(struct local_engine *engine, struct request *request);

/* operation.c: what the engine does with each kind of request. */
struct batch;
struct check;
struct question;
struct engine_operation {
    const char *name; /* as messages say it */

    /* Whether the request keeps within the limits; also cuts error texts and fills in defaults. */
    cairn_code (*check)(struct check *check);

    /* Changes rows, at the request's turn in a batch.  A refusal is request->code; a code that is
     * returned ends the transaction.  NULL: a read; or a claim, which comes after all others. */
    cairn_code (*apply)(struct batch *batch, struct request *request);

    /* Answers the request, in a transaction: a read, or a control after its change was written. */
    cairn_code (*answer)(struct question *question);
};

const struct engine_operation *engine_operation_of(enum request_op op);

/* A verb of the store, in the transaction of a batch or a question. */
#define STORE(of, verb, ...) ((of)->ops->verb((of)->tx, __VA_ARGS__, (of)->error))

/* batch.c: applies requests in one transaction and commits.  Those that are refused carry their
 * own code; the answer is the whole batch's. */
struct batch_result {
    bool is_unsure;         /* commit ended in CAIRN_E_UNREACHABLE */
    bool is_begin_failed;   /* not even begun */
    bool is_timed;          /* timers were due and have been applied, or were tried */
    size_t timed_count;     /* of a single kind: how many rows */
    char timed_id[ID_TEXT]; /* the latest of them; "": the kind does not tell */
    bool is_due_known;      /* the store was asked: due_in_us is all there is */
    bool is_stuck;     /* what is due could not be had, so looking again at once is of no use */
    int64_t due_in_us; /* until the next timer; -1: none */
    struct ready_types ready;
    struct ready_types nothing; /* for these there is no more; none: it is not known */
    struct request_queue empty; /* claims that found nothing and may wait */
    struct request_queue busy;  /* to be tried alone: another transaction holds their row */
    struct request_queue held;  /* not to be answered yet */
};

cairn_code batch_commit(struct committer *committer, struct request_queue *requests,
                        bool is_alone, struct batch_result *ret_result, cairn_error *reterr);

/* aside.c: the store has refused what timers have made.  Finds the rows that it refuses, by halving, and sets them
 * aside; all others that are due are committed. */
void timers_take_care(struct committer *committer);
bool aside_has(struct local_engine *engine, const char *id);
size_t aside_count(struct local_engine *engine); /* also forgets those whose time is over */

/* batch_timer.c: applies what is due in one bounded portion.  *ret_due_us: when the next is (0:
 * never). */
cairn_code timers_apply(struct batch *batch, int64_t *ret_due_us);

/* advance.c: OP_CLOCK_ADVANCE, which has its own transactions. */
cairn_code clock_advance(struct committer *committer, struct request *request);

/* lease_check.c: a heartbeat that extends nothing. */
bool request_is_lease_check(const struct request *request);
/* Several at once.  A code: none of them has an answer; else each has its own. */
cairn_code lease_checks_run(struct local_engine *engine, struct store_session *session,
                            struct request_queue *checks, cairn_error *reterr);
/* read.c: carries out a request that changes nothing. */
cairn_code read_run(struct local_engine *engine, struct store_session *session,
                    struct request *request);

#endif
