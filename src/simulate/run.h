/* simulate/run.h - what the parts of one run share.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SIMULATE_RUN_H
#define SIMULATE_RUN_H

#include "base/arena.h"
#include "base/clock.h"
#include "base/random.h"
#include "simulate/simulate.h"

#define SIM_WORKER "simulation"

/* How a call ends. */
enum fate { FATE_COMPLETE, FATE_FAIL, FATE_CRASH, FATE_TIMEOUT };

/* A call of a handler that has begun. */
struct call {
    int64_t at_us; /* when it is reported */
    enum fate fate;
    bool is_undo;
    int step; /* its number; -1: it belongs to a child */
    char *task_id, *token, *name, *input;
    bool is_over;
};

/* A signal or a decision that will come. */
struct visit {
    int64_t at_us;
    int step;
    char *event; /* NULL: a decision */
    bool is_confirmed;
    bool is_over;
};

struct run {
    struct sim_world *world;
    struct sim_end *end;
    struct arena *arena; /* the end's */
    struct rng rng;
    char id[40];
    int64_t began_us, now_us;
    LIST(struct call) calls;
    LIST(struct visit) visits;
    size_t open_calls, open_visits; /* that are not over */
    bool *is_expected; /* of each step: somebody has already decided whether to come */

    struct buf *story; /* NULL: not told */
    int64_t told_to;   /* the last of the engine's events that was told; 0: none yet */
    cairn_error *reterr;
};

void free_pagep(cairn_page **page);
/* A page of the instance's steps, no larger than they need. */
cairn_code run_read_steps(const struct run *run, const char *cursor, cairn_page **ret_steps);
/* A step has completed, or its compensation has. */
cairn_code run_note_success(struct run *run, int step, bool is_undo);
int run_step_number(const struct run *run,
                    const char *name); /* -1: the workflow has no such step */

/* act.c: begins a call of each task; ends those whose time has come.  *ret_is_given: new ones came with it. */
cairn_code act_begin(struct run *run, const cairn_page *tasks);
cairn_code act_claim(struct run *run, bool *ret_is_given);
cairn_code act_end_due(struct run *run, bool *ret_is_given);

/* people.c: plans what people do about steps that wait; does what is due. */
cairn_code people_plan(struct run *run);
cairn_code people_visit_due(struct run *run);

/* story.c: a line of the story; and lines for what the engine has done since the last one. */
void tell(struct run *run, const char *format, ...) __attribute__((format(printf, 2, 3)));
cairn_code tell_events(struct run *run);
cairn_code tell_end(struct run *run);

#endif
