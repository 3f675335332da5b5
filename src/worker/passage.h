/* worker/passage.h - one run of a durable function, from the top.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * A run has everything in memory: the claimed instance (task), what it remembers (keys), the
 * signals that have not been taken (events), what is to be written (the buffer), and what the engine
 * has last said about it (the remote state).  It meets the engine only through `exchange`, with
 * OP_COMMIT, OP_HEARTBEAT and OP_CLOCK_NOW, so that a single thread can drive both sides.
 *
 *                       ask(key, kind)
 *     the code's call ------------------> remembered? ---- yes ----> answer from memory
 *                                              | no
 *                                              v
 *                          boundary: commit, or heartbeat; stopped? ---> over
 *                                              |
 *                                              v
 *                              execute, buffer, answer or suspend
 *
 * Once a call has ended the run it is `over`: every later call answers the same code and does
 * nothing, and so does the end, whatever the function returns.
 */
#ifndef WORKER_PASSAGE_H
#define WORKER_PASSAGE_H

#include "base/error.h"
#include "core/backoff.h"
#include "engine/id_map.h"
#include "engine/request.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>

/* Carries out a request, waiting for its end; answers request->code. */
typedef cairn_code (*passage_exchange)(void *arg, struct request *request);

/* A buffer beyond any of these is committed at once. */
enum { BUFFER_STEPS = 500, BUFFER_LOGS = 500, BUFFER_BYTES = 1 << 20 };

/* A key of a step, and what is remembered under it. */
struct key {
    const char *text;
    uint32_t uses;         /* in this run, of keys without "#" */
    const cairn_step *row; /* NULL: nothing */
    bool is_visited;       /* the code has asked for it in this run */
};

/* A step that has begun.  Those that have ended wait here until all that began before them have: then
 * they are buffered, in the order of their places. */
struct step_call {
    struct step_call *next;
    struct cairn_work *work; /* NULL: it has ended */
    struct commit_step result;
    bool is_ended; /* result is set */
    const char *key, *input;
    int32_t seq;
    bool is_new;      /* nothing is remembered under its key */
    int32_t attempts; /* calls that failed before this one */
    int32_t max_attempts;
    struct backoff backoff;
    int64_t timeout_ms, began_us;
    struct commit_step undo; /* its members that say how the step is undone */
};

/* What is written with the next commit. */
struct buffer {
    LIST(struct commit_step) steps;
    LIST(struct commit_log) logs;
    size_t log_settled; /* those before a buffered step: they are not repeated once it is
                         * remembered; the others would be, so they wait for the next step */
    LIST(struct commit_job) jobs;
    LIST(struct commit_start) starts;
    size_t bytes;
};

/* One call at a time, whichever thread makes it. */
struct passage_guard {
    pthread_mutex_t lock; /* held during each call, but not while a step's code is executed */
    pthread_cond_t returned; /* the code of a step has */
    atomic_uint holders;     /* calls that are inside, and the owner */
    atomic_bool is_closed;   /* it has ended, or is about to: no call is let in */
    bool is_calling;         /* the code of a step, from cairn_passage_step() */
    pthread_t caller;        /* the thread that does */
};

struct cairn_passage {
    struct passage_guard guard;
    struct arena arena;
    passage_exchange exchange;
    void *exchange_arg;
    const char *worker;
    cairn_task task;
    cairn_commit_mode commit;
    uint32_t lease_ms;
    size_t max_name, max_payload;
    struct rng rng;
    int64_t clock_us; /* the latest time that the engine told; 0: none yet */

    /* What is remembered. */
    struct id_map keys;         /* struct key by its text */
    const struct key *frontier; /* the one remembered last; NULL: nothing is */
    size_t unvisited;           /* rows of memory that the code has not asked for */
    bool has_gaps; /* rows were forgotten by a retry, or a step was dropped: the code may take
                    * another way */
    bool has_new;  /* the code has asked for something that was not remembered */
    int32_t places;
    int64_t revision;

    /* Signals that have not been taken, oldest first; and those that this run took. */
    const cairn_received *const *events;
    bool *is_taken; /* of each */
    size_t event_count;
    LIST(const char *) taken;

    struct buffer buffer;
    struct step_call *calls, **last_call; /* in the order in which they began */
    struct step_call *left_calls; /* that the end has left behind; their code may still run */
    const char *misuse;           /* a call that was refused beside a step's code; or NULL */
    char *
        started_id; /* where the commit under way tells what the latest start became; or NULL */
    bool is_started_job; /* that is a job */
    bool has_run;        /* a step's code, since the last request to the engine */

    /* The remote state. */
    const char *stop;               /* as commits and heartbeats told; NULL: go on */
    const struct cairn_work *host;  /* whose stop the dispatcher writes; NULL: none */
    const atomic_bool *is_stopping; /* the worker is asked to end; NULL: no worker */
    int64_t extended_at_us;         /* monotonic: when the lease was last extended */
    bool is_cut_short;              /* stopped while there was work left: another run goes on */
    bool is_dismissed;              /* nothing more is accepted, but its lease has not ended */
    bool is_released;               /* the lease has ended: nothing more is sent */
    char status[24];                /* of the function, as the latest commit told */

    cairn_code over; /* 0: it goes on */
    cairn_error over_error;
    const char *over_step; /* whose; NULL: the function's own */

    /* What the call under way says; of a failed step also the whole text, and its key. */
    cairn_error last;
    const char *last_text, *last_step;

    /* The same of the latest call that failed, should the function return that. */
    cairn_error failure;
    const char *failure_text, *failure_step;

    const char *output, *error; /* what the function has set */

    const cairn_claim_options *claim; /* to be made with the commit that ends it; NULL: none */
    struct request *claimed;          /* that commit, once it has been made */
    cairn_passage_costs costs;
};

struct passage_options {
    passage_exchange exchange;
    void *exchange_arg;
    const char *worker;
    const cairn_task *task; /* of the kind "function", with its memory */
    bool is_borrowed;       /* worker and task outlive the run: they are not copied */
    cairn_commit_mode commit;
    uint32_t lease_ms;
    uint64_t seed;                /* of the engine; 0: the system's randomness */
    size_t max_name, max_payload; /* the engine's limits; 0: the defaults */
};

/* ---- passage.c ----------------------------------------------------------------------------- */

cairn_code passage_new(const struct passage_options *options,
                       struct cairn_passage **ret_passage, cairn_error *reterr);

/* The same with this engine's limits, and with the engine at the other end. */
cairn_code passage_open(cairn_engine *engine, struct passage_options *options,
                        struct cairn_passage **ret_passage, cairn_error *reterr);

/* What every call begins with, once it has taken the passage: CAIRN_OK, or why it can do nothing.  A
 * step may begin beside others. */
cairn_code passage_enter(struct cairn_passage *passage);
cairn_code passage_enter_step(struct cairn_passage *passage, const char *key);

/* What every call ends with: tells the caller, remembers a failure, and gives the passage back. */
cairn_code passage_tell(struct cairn_passage *passage, cairn_code code, cairn_error *reterr);

/* Ends it with a code that every later call answers. */
cairn_code passage_over(struct cairn_passage *passage, cairn_code code, const char *format, ...)
    format_like(3, 4);
cairn_code passage_no_memory(struct cairn_passage *passage);

/* Over, if it is stopped; CAIRN_OK: it goes on. */
cairn_code passage_look(struct cairn_passage *passage);

/* ---- passage_guard.c ----------------------------------------------------------------------- */

bool guard_init(struct passage_guard *guard);

/* Takes the passage for a call, which gives it back; CAIRN_E_CLOSED: it has ended, and was not
 * taken.  passage_hold(): whether it has ended or not.  passage_take_last(): for the end, after which
 * nobody takes it; calls that want in at the same time do not keep it waiting. */
cairn_code passage_take(struct cairn_passage *passage, cairn_error *reterr);
cairn_code passage_take_last(struct cairn_passage *passage, cairn_error *reterr);
void passage_hold(struct cairn_passage *passage);
void passage_give(struct cairn_passage *passage);

/* For what is asked of a passage whether or not it has ended.  It is held all the same, since a commit under
 * way may write that; what the caller sees of it does not change. */
struct cairn_passage *passage_hold_fact(const cairn_passage *passage);
cairn_code passage_closed(const struct cairn_passage *passage, cairn_error *reterr);

/* Executes a step's code, meanwhile letting others in; the caller looks whether it has ended. */
cairn_outcome passage_run_code(struct cairn_passage *passage, const cairn_step_options *options,
                               struct cairn_work *work);

/* Waits for the code of a step that another thread executes, but not beyond the lease; answers whether
 * there was one. */
bool passage_outlast_code(struct cairn_passage *passage);

/* Until no code of a step runs that could use what the run has borrowed. */
void passage_await_code(struct cairn_passage *passage);

/* ---- passage_memory.c ---------------------------------------------------------------------- */

cairn_code memory_fill(struct cairn_passage *passage);

/* What is remembered under the next use of a key. */
struct asked {
    const char *key;       /* with its number */
    const cairn_step *row; /* NULL: it is new */
    int32_t seq;           /* its place */
};

/* CAIRN_E_BAD_INPUT if it cannot be a key, CAIRN_E_TOO_LARGE if it cannot be kept; over with
 * CAIRN_E_VERSION_MISMATCH if it cannot be here. */
cairn_code memory_ask(struct cairn_passage *passage, const char *key, const char *kind,
                      struct asked *ret_asked);

/* The code has given up what it asked for: as if it had not asked. */
void memory_unask(struct cairn_passage *passage, const char *key);

/* Of code that may take another way than the one remembered (it was accepted though it does not
 * match, or a retry has forgotten some): a call that was to be repeated, and that the code has not
 * asked for before it suspends, would have the next run begin at once, for ever. */
cairn_code memory_forget_retries(struct cairn_passage *passage);

/* Effects of a step that were undone, or left behind by a restart: its key counts them. */
int32_t memory_past_effects(const struct cairn_passage *passage, const char *key);

/* Before the function completes: over with CAIRN_E_VERSION_MISMATCH if its code has left out
 * something that is remembered. */
cairn_code memory_check_complete(struct cairn_passage *passage);

/* Whether the code has passed everything that earlier runs have done. */
bool memory_is_passed(const struct cairn_passage *passage);

/* Takes the oldest signal of that type that has not been taken; NULL: none. */
cairn_code memory_take_event(struct cairn_passage *passage, const char *event,
                             const cairn_received **ret_event);
cairn_code memory_replace_events(struct cairn_passage *passage,
                                 const cairn_received *const *events, size_t count);

/* ---- passage_buffer.c ---------------------------------------------------------------------- */

/* Makes room for a step; NULL: memory ran out, and the run is over. */
struct commit_step *buffer_step(struct cairn_passage *passage, const char *key,
                                const char *kind, const char *status, int32_t seq);
void buffer_weigh(struct buffer *buffer, const char *text); /* NULL counts as empty */
bool buffer_is_full(const struct buffer *buffer);
void buffer_clear(struct buffer *buffer, size_t logs_sent);
void buffer_drop_starts(struct cairn_passage *passage, const char *why);

/* A copy that lives as long as the run; NULL for NULL.  A code: over, memory ran out. */
cairn_code passage_copy(struct cairn_passage *passage, const char *text, const char **ret_copy);

/* ---- passage_commit.c ---------------------------------------------------------------------- */

struct passage_end {
    enum passage_outcome outcome;
    const char *output, *error, *failed_step;
};

cairn_code passage_commit(struct cairn_passage *passage, const struct passage_end *end);

/* Ends the lease of a run whose results are not accepted: others may wait for that. */
void passage_leave(struct cairn_passage *passage);
cairn_code passage_clock(struct cairn_passage *passage, int64_t *ret_now_us);

/* Commits what is buffered, and goes on. */
cairn_code passage_flush(struct cairn_passage *passage);

/* Right before a step's code is executed. */
cairn_code passage_boundary(struct cairn_passage *passage);

/* Before something is buffered that suspends nothing. */
cairn_code passage_make_room(struct cairn_passage *passage);

/* ---- passage_step.c ------------------------------------------------------------------------ */

/* At the end of the passage: what has ended is buffered, behind what began before it, which is to be
 * called again. */
cairn_code passage_settle_calls(struct cairn_passage *passage);

cairn_code passage_check_key(struct cairn_passage *passage, const char *key);
/* JSON, or NULL, that the engine can keep. */
cairn_code passage_check_json(struct cairn_passage *passage, const char *text,
                              const char *what);
/* The answer of a remembered failure. */
cairn_code passage_step_failed(struct cairn_passage *passage, const char *key,
                               const char *error, int32_t calls);

/* ---- passage_wait.c ------------------------------------------------------------------------ */

cairn_code passage_wait_event(struct cairn_passage *passage, const char *key, const char *event,
                              int64_t timeout_ms, const char **ret_payload);

/* ---- passage_value.c ----------------------------------------------------------------------- */

cairn_code passage_make_id(struct cairn_passage *passage, char ret_id[ID_TEXT]);

#endif
