/* tests/spec/function_world.h - durable functions in a world of their own: passages, and what may
 * happen in the middle of one.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * A function is C code that is given its world.  It is run by the calls that a binding would make:
 * cairn_claim(), cairn_passage_open(), the code, cairn_passage_end().
 */
#ifndef SPEC_FUNCTION_WORLD_H
#define SPEC_FUNCTION_WORLD_H

#include "flow_world.h"

#define LEASE_MS (30 * SECOND_MS)

enum { FN_STEPS_MAX = 32, FN_CALLS_MAX = 32 };

struct function_world;

/* Something that happens in the middle. */
typedef void (*fn_act)(struct function_world *world);

/* A step of the function: how its code behaves, and how it was called. */
struct fn_step {
    char key[64];
    cairn_outcome outcome; /* of the next calls; 0: it completes with {"by": "<key>"} */
    int outcome_count;
    fn_act during; /* happens once, while its code runs; NULL: nothing */
    int calls;
    int64_t called_at_us[FN_CALLS_MAX];
    int32_t attempts[FN_CALLS_MAX];
    char call_key[160]; /* the key of the latest call */
};

struct function_world {
    struct flow_world flow;
    cairn_function run;
    cairn_commit_mode mode;
    uint32_t lease_ms; /* that passages keep extending by; LEASE_MS */
    struct fn_step steps[FN_STEPS_MAX];
    size_t step_count;
    cairn_passage *passage;    /* the one whose code runs */
    bool is_crashed;           /* the process has ended: its passage says nothing more */
    int passages;              /* that were run */
    cairn_passage_costs costs; /* of the latest passage that has ended */
    const char *heard;         /* for a test's own code: what it was told */
    void *mine;
    struct store *faulty; /* fn_begin_faulty() */
};

/* A passage in a worker's hands. */
struct runner {
    char worker[32];
    cairn_page *tasks;
    cairn_passage *passage;
    cairn_code code; /* what the function has returned */
};

/* Leaves a function's code with what a call returned. */
#define PASS_ON(call)              \
    do {                           \
        cairn_code code_ = (call); \
        if (code_)                 \
            return code_;          \
    } while (0)

#define MODES(mode)                                                                \
    for (cairn_commit_mode mode = CAIRN_COMMIT_STEP; mode <= CAIRN_COMMIT_PASSAGE; \
         mode = (cairn_commit_mode)(mode + 1))

/* Opens a world, deploys the function "f" (version 1; more: further keys of its file, such as
 * ", \"dlq\": true") and starts one instance with the input {"n": 1}. */
void fn_begin(struct function_world *world, cairn_function run, cairn_commit_mode mode);
void fn_begin_with(struct function_world *world, cairn_function run, cairn_commit_mode mode,
                   const char *more);
/* On a store that fails on cue; a call waits for it for so long. */
void fn_begin_faulty(struct function_world *world, cairn_function run, cairn_commit_mode mode,
                     uint32_t retry_ms);
void fn_start(struct function_world *world, const char *name, int32_t version);
void fn_end(struct function_world *world);

/* ---- what its code says ---------------------------------------------------------------------
 */

/* A step that behaves as the world says. */
cairn_code fn_step(struct function_world *world, const char *key);
cairn_code fn_step_as(struct function_world *world, cairn_step_options *options,
                      const char **ret_output);
/* The same with a compensation of the type "undo.<key>". */
cairn_code fn_step_undoable(struct function_world *world, const char *key);

/* ---- how its steps behave -------------------------------------------------------------------
 */

struct fn_step *fn_of(struct function_world *world, const char *key); /* made if it is new */
void fn_fails(struct function_world *world, const char *key, cairn_outcome outcome, int times);
void fn_during(struct function_world *world, const char *key, fn_act act);
void fn_check_calls(struct function_world *world, const char *wanted); /* "a:1 b:2", sorted */

/* Acts. */
void fn_crash(struct function_world *world);      /* the process ends here */
void fn_lose_lease(struct function_world *world); /* its time passes, and 1 ms */
void fn_pause(struct function_world *world);
void fn_cancel(struct function_world *world);
void fn_abort(struct function_world *world);
void fn_restart(struct function_world *world);

/* ---- passages -------------------------------------------------------------------------------
 */

/* Claims, runs and ends one passage, which must be there; then this is what has become of the
 * function: "completed", "waiting", ... */
void fn_passage(struct function_world *world, const char *status);
/* The same, but its end is refused with this code. */
void fn_passage_refused(struct function_world *world, cairn_code code);
/* One whose process ends in its middle (fn_crash), or before its end: nobody hears of it; then its
 * lease runs out. */
void fn_passage_crashed(struct function_world *world);
/* Nothing to be claimed. */
void fn_check_idle(struct function_world *world);

/* The parts of it.  fn_claim: false: there is nothing. */
bool fn_claim(struct function_world *world, const char *worker, struct runner *ret_runner);
void fn_play(struct function_world *world, struct runner *runner);
cairn_code fn_finish(struct function_world *world, struct runner *runner, char ret_status[24]);
void fn_drop(struct runner *runner);

/* ---- looking --------------------------------------------------------------------------------
 */

int64_t fn_now_us(struct function_world *world);
void fn_check_steps(struct function_world *world, const char *wanted);
void fn_check_status(struct function_world *world, const char *wanted);
const cairn_step *fn_row(struct function_world *world, const char *key);
size_t fn_count_events(struct function_world *world, const char *type, const char *step);

/* "info:hello warn:there": levels and messages, oldest first. */
void fn_check_logs(struct function_world *world, const char *wanted);

/* Undoes "b a" in this order, one at a time; then there is nothing left. */
void fn_undo_all(struct function_world *world, const char *keys);

#endif
