/* tests/sim/function.h - random functions, and the workers that run their passages.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * A function is a small program drawn from the seed.  Each passage of it is executed by the real
 * runner (worker/passage.h) in a thread of its own, but never at the same time as anything else:
 * the simulator hands the one turn to it and gets it back whenever the passage wants something of
 * the engine, or rests inside a step.  So a passage can be left alone for as long as it pleases
 * the seed, while its lease runs out, others claim what it has, and people interfere.
 */
#ifndef SIM_FUNCTION_H
#define SIM_FUNCTION_H

#include "sim.h"

#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>

enum { KEY_TEXT = 24, CALLS_MAX = 64, USES_MAX = 32, TOLD_TEXT = 96 };

/* ---- programs ---------------------------------------------------------------------------- */

enum program_op_kind {
    P_STEP,
    P_SLEEP,
    P_SLEEP_UNTIL, /* so long after a remembered time */
    P_WAIT,
    P_LOG,
    P_NOW,
    P_RANDOM,
    P_UUID,
    P_JOB,
    P_FLOW,
    P_CALL,   /* of a child: it is started, and its end waited for */
    P_GROUP,  /* the `count` steps behind it, side by side */
    P_BRANCH, /* on what was remembered last: `count` ops, or else the `other` ones behind */
    P_LOOP,   /* the `count` ops behind it, `other` times */
    P_FAIL,
    P_COMPLETE
};

struct program_op {
    enum program_op_kind kind;
    char key[16]; /* empty: the call's own */
    int count, other;
    int32_t retries;
    int64_t ms, timeout_ms;
    const char *backoff, *event;
    char compensation[8]; /* empty: none */
    int32_t compensation_max_attempts;
    bool is_tolerant; /* goes on after a step that failed */
    bool has_name;    /* JOB, FLOW: with an idempotency key that others use, too */
    char child[8];    /* CALL: the workflow or function */
};

struct program {
    char name[8];
    bool is_fanout; /* everything at once, by a client of its own: fanout.c */
    bool is_passage_mode, is_dlq;
    int32_t max_attempts;
    struct program_op ops[PROGRAM_OPS_MAX];
    int count;
};

/* How the code of a worker differs from what was deployed. */
enum variant { VARIANT_NONE, VARIANT_WITHOUT, VARIANT_OTHER_KIND };

/* program.c; one that calls others calls those after it, of so many.  0: it calls none, and executes no
 * steps side by side. */
void program_make(struct rng *rng, int number, int functions, struct program *ret_program);
void program_print(const struct program *program, struct buf *out);
const struct program *program_find(const struct sim *sim, const char *name); /* NULL: none */

/* ---- runners ----------------------------------------------------------------------------- */

/* A call of a step's code. */
struct call_seen {
    char key[KEY_TEXT], output[40];
    int32_t attempt;
    bool is_ended, is_completed;
};

/* One passage. */
struct runner {
    bool is_used;
    struct sim *sim;
    pthread_t thread;
    sem_t go, back;
    bool is_over; /* the thread has ended */
    bool is_dead; /* the worker has: nothing of it reaches the engine any more */
    atomic_bool is_stopping;
    int engine;

    struct cairn_passage *passage; /* NULL: a raw one */
    struct cairn_work *raw;        /* that one's task */
    const struct program *program;
    enum variant variant;
    int variant_at;
    cairn_commit_mode commit;
    struct held held;
    char instance_id[ID_TEXT];
    int32_t generation;

    struct request *wanted; /* what the passage asks of the engine; NULL: it rests */
    struct request *again;  /* the same once more, whose answer it was given */
    bool is_submitted, is_answered;
    bool is_told_to_stop;
    bool must_stop; /* who stopped its instance was answered */
    int giver;      /* the engine that has leased it out */

    struct call_seen calls[CALLS_MAX]; /* of steps, in this passage */
    size_t call_count;
    bool is_in_group;
    size_t group_from; /* the first call that runs side by side with the next one */
    char asked[CALLS_MAX][KEY_TEXT]; /* keys that the code has asked for, in this passage */
    size_t asked_count;
};

/* act_function.c: claims that name functions, and what they may be given. */
void act_claim_versions(struct sim *sim, struct request *request, cairn_claim_options *claim);
bool claim_accepts(const cairn_claim_options *claim, const struct seen_instance *instance,
                   const struct step_row *row);
void law_of_version(struct sim *sim, const cairn_claim_options *claim, const cairn_task *task);
void law_of_memory(struct sim *sim, const cairn_task *task);

/* runner.c */
void runner_start(struct sim *sim, const cairn_task *task, const char *worker);
void runner_go(struct runner *runner); /* until it wants something, rests, or is over */
void runner_kill(struct runner *runner);
void runner_submit(struct runner *runner, int engine);
void runner_answered(struct sim *sim, struct op *op);
void runner_rest(struct runner *runner); /* by the passage: gives the turn away */
cairn_code runner_exchange(void *arg, struct request *request);
bool runner_is_any(const struct sim *sim);   /* that is not waiting for an answer */
struct runner *runner_pick(struct sim *sim); /* one of these; NULL: none */
void runners_finish(struct sim *sim);        /* each to its end, and then another */
void runners_kill(struct sim *sim);

/* function.c, fanout.c: the code of a passage; what it returns is its end. */
cairn_code function_run(struct runner *runner);
void fanout_run(struct runner *runner);

struct use {
    char key[KEY_TEXT];
    int count;
};

/* A passage of a program. */
struct run {
    struct runner *runner;
    struct sim *sim;
    cairn_passage *passage;
    int64_t value, now_us; /* what was remembered last; the latest `now` */
    struct use uses[USES_MAX];
    int use_count;
    int log_uses[PROGRAM_OPS_MAX];
    bool is_done; /* it completes early */
};

/* function.c, for the files of single operations: the key of the next use of a key, and what to do
 * with something that every passage of this generation is told the same way. */
void run_next_key(struct run *run, const char *key, char ret_key[KEY_TEXT]);
void run_value(struct run *run, const char *text); /* that the program branches on */
void run_learn(struct run *run, const char *key, const char *kind, const char *text);

/* function_step.c: steps, alone and side by side. */
cairn_code run_step(struct run *run, const struct program_op *op);
cairn_code run_group(struct run *run, int at);
void run_log(struct run *run, const char *where, int number);

/* function_start.c: jobs and instances, and children that are waited for. */
cairn_code run_start(struct run *run, const struct program_op *op, const char *given);
cairn_code run_call(struct run *run, const struct program_op *op, const char *given);

/* laws_call.c: what must hold when a step's code is called, or is told what is remembered. */
bool runner_has_lease(const struct runner *runner);
void law_of_call(struct runner *runner, const char *key, int32_t attempt, int32_t max_attempts);
void law_of_call_end(struct runner *runner, const char *key, const char *output);
void law_of_told(struct runner *runner, const char *key, const char *kind, const char *told);
void law_of_complete(const struct runner *runner, const struct commit_input *in);
void law_of_results(const struct runner *runner, const struct commit_input *in);
void law_of_commit(struct sim *sim, const struct op *op);

/* laws_family.c: the code is told of the end of a child.  output NULL: that it did not complete. */
void law_of_answer(const struct runner *runner, const char *key, const char *end_key,
                   const char *output);

#endif
