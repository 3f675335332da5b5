/* simulate/run.h - what the parts of one run share.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef SIMULATE_RUN_H
#define SIMULATE_RUN_H

#include "base/arena.h"
#include "base/clock.h"
#include "base/random.h"
#include "simulate/world.h"

#define SIM_WORKER "simulation"

/* How a call ends. */
enum fate { FATE_COMPLETE, FATE_FAIL, FATE_CRASH, FATE_TIMEOUT };

/* A call of a handler that has begun. */
struct call {
    int64_t at_us; /* when it is reported */
    enum fate fate;
    bool is_undo;
    int step; /* its number; -1: it is not known */
    char *task_id, *token, *name, *input;
    bool is_over;
};

/* An instance that belongs to the run. */
struct member {
    char *id, *workflow;
    bool *is_expected; /* of each step: somebody has already decided whether to come */
};

/* A signal or a decision that will come. */
struct visit {
    int64_t at_us;
    const char *id; /* of the instance */
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
    LIST(struct member) members; /* the first is the instance that is tried */
    LIST(struct call) calls;
    LIST(struct visit) visits;
    size_t open_calls, open_visits; /* that are not over */
    size_t guess;                   /* the number of the step that is asked for next */
    int *done;        /* of each step of a child: in how many of them it is done */
    bool *is_undoing; /* of each step: by events, its compensation was called */

    struct buf *story;   /* NULL: not told */
    bool is_rolled_back; /* the story has told so */
    int64_t told_to;     /* the last of the engine's events that was told; 0: none yet */
    cairn_error *reterr;
};

/* A page of an instance's steps, no larger than they need. */
cairn_code run_read_steps(const struct run *run, const char *id, const char *cursor,
                          cairn_page **ret_steps);
/* What the rows of an instance's steps say at the end. */
cairn_code run_note_steps(struct run *run, const char *id);
/* A step has completed, or its compensation has. */
cairn_code run_note_success(struct run *run, int step, bool is_undo);

/* members.c: adds an instance. */
cairn_code member_add(struct run *run, const char *id, const char *workflow);
/* The instance itself is the first; looks for others, with this status; ends what has not ended. */
cairn_code members_begin(struct run *run);
cairn_code members_look(struct run *run, const char *status);
cairn_code members_end(struct run *run);
struct member *member_find(const struct run *run, const char *id); /* NULL: it is not known */
/* -1: the workflow of this instance has no such step */
int run_step_number(struct run *run, const char *id, const char *name);

/* There is one step at a time, and no other instance. */
bool run_is_single(const struct run *run);

/* act.c: begins a call of each task; ends those whose time has come.  *ret_is_asked: what there is to claim has
 * come with that. */
cairn_code act_begin(struct run *run, const cairn_page *tasks);
cairn_code act_claim(struct run *run);
cairn_code act_end_due(struct run *run, bool *ret_is_asked);

/* people.c: plans what people do about steps that wait; does what is due. */
cairn_code people_plan(struct run *run);
cairn_code people_visit_due(struct run *run);

/* story.c: a line of the story; and lines for what the engine has done since the last one. */
void tell(struct run *run, const char *format, ...) __attribute__((format(printf, 2, 3)));
cairn_code tell_events(struct run *run);
cairn_code tell_end(struct run *run);
/* What became of the steps of an instance, by its events; with real handlers: of children. */
cairn_code note_events_of(struct run *run, const char *id);
cairn_code note_events_of_children(struct run *run);

#endif
