/* core/flow.h - how an instance moves: what follows from a result, a signal, a timer, a command.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * Core decides on rows that the engine has read and locked.  It asks for the rows it needs
 * through a flow_source, changes them in memory, and notes events; the engine then writes all of it
 * in one transaction.  A call that returns a code has changed nothing that may be written.
 *
 * Results move an instance forward by tokens: a step that ends well passes its output to `next`.
 * While an instance is frozen (paused, dlq) what ends is held: it passes its token on when the
 * instance thaws.  Once an instance has a goal (fail, undo, cancel) nothing new starts; when the
 * last lease has ended, the engine acts on the goal.
 */
#ifndef CORE_FLOW_H
#define CORE_FLOW_H

#include "base/arena.h"
#include "base/random.h"
#include "cairn.h"
#include "core/branch.h"
#include "core/instance.h"
#include "core/passage.h"
#include "core/step_config.h"

/* A step of the instance in hand. */
struct flow_step {
    struct step_row row;
    struct step_config *config; /* read when it is first asked for */
    bool is_dirty;              /* must be written */
    bool is_new;                /* its row is to be inserted */
    bool is_gone;               /* forgotten: there is no such step any more */
    bool is_offered;            /* the store has it as one that can be claimed */
    bool is_leased;             /* the store has it as leased */
    bool has_place;             /* and as one that limits count */
};

/* What an event says; what is not set is left out.  status: that of the step, or of the instance,
 * after what the event tells; NULL: the one that it has now. */
struct flow_facts {
    const char *status, *error, *worker, *reason, *by, *event, *signal_id, *decision, *comment;
    const char *token;     /* the name of the one that the request came with */
    const char *step_name; /* of a step that was stopped */
    const char *schedule;  /* of an event of a schedule: its name */
    bool has_retry_count;
    int32_t retry_count;
    int64_t run_at_us;
};

#define NO_FACTS ((struct flow_facts){0})
#define FACTS(...) (&(struct flow_facts){__VA_ARGS__})

/* What became of a step's children. */
struct step_children {
    struct children_row row;
    bool is_dirty;
};

/* How a child has ended, for the step that it is a child of. */
struct child_end {
    enum instance_status status;
    int32_t round; /* of the step, in which it was started */
    int32_t element;
    const char *output; /* completed */
    const char *error;  /* else */
};

struct flow;

/* Steps that a question found. */
struct step_list {
    struct flow_step **items;
    size_t count, room;
};

struct taken_signal {
    const char *json; /* {id, event, payload} */
    const char *id, *payload;
};

/* Where the rows come from.  Steps are handed out by reference, always the same for a place. */
struct flow_source {
    /* NULL: its row was deleted. */
    cairn_code (*step)(struct flow *flow, int32_t seq, struct flow_step **ret_step);

    /* All that are current, hold a lease or are held (store: lock_current_steps). */
    cairn_code (*current)(struct flow *flow, struct step_list *ret_steps);

    /* Those of a status (NONE: any) between two places. */
    cairn_code (*between)(struct flow *flow, enum step_status status, int32_t from, int32_t to,
                          struct step_list *ret_steps);

    /* Those with a commit number below this one, between two places, the latest first; a
     * portion of them. */
    cairn_code (*committed)(struct flow *flow, int64_t below, int32_t from, int32_t to,
                            struct step_list *ret_steps);

    cairn_code (*config)(struct flow *flow, struct flow_step *step);

    /* Always the same for a step; all 0 if it has had none. */
    cairn_code (*children)(struct flow *flow, const struct flow_step *step,
                           struct step_children **ret_children);

    /* Keeps the list that a map runs over in portions, for its present round; how many there are.
     * *ret_flaw: why there is none; else NULL. */
    cairn_code (*elements)(struct flow *flow, const struct flow_step *step,
                           const struct children_row *row, const char *list, int32_t *ret_count,
                           const char **ret_flaw);

    /* The array of its children's outputs, null for those that did not complete. */
    cairn_code (*collect)(struct flow *flow, const struct children_row *row,
                          const char **ret_output);

    /* A row that was not planned: something that a function remembers. */
    cairn_code (*insert)(struct flow *flow, const struct step_row *row,
                         struct flow_step **ret_step);

    /* Their rows are deleted. */
    cairn_code (*forget)(struct flow *flow, struct flow_step **steps, size_t count);

    /* The oldest untaken signal of an event that came at or before until_us, now taken by this
     * step.  json NULL: none. */
    cairn_code (*take_signal)(struct flow *flow, struct flow_step *step, const char *event,
                              int64_t until_us, struct taken_signal *ret_signal);

    /* Those that this step took (NULL: all of the instance's) count as not taken. */
    cairn_code (*untake_signals)(struct flow *flow, const struct flow_step *step);

    /* step NULL: an event of the instance. */
    cairn_code (*note)(struct flow *flow, const char *type, const struct flow_step *step,
                       const struct flow_facts *facts);
    cairn_code (*park)(struct flow *flow, const struct flow_step *step,
                       const char *reason);                     /* a DLQ record */
    cairn_code (*unpark)(struct flow *flow, int32_t seq);       /* -1: all */
    cairn_code (*has_parked)(struct flow *flow, bool *ret_has); /* open */

    /* error: the instance's last_error, which tells why the step of that name failed, or its
     * undo_error, which tells why its compensation did.  Each stays until what failed has
     * succeeded; clearing it does nothing if it is another step's. */
    cairn_code (*set_error)(struct flow *flow, const char **error, const char *step_name,
                            const char *message, int32_t attempt);
    cairn_code (*clear_error)(struct flow *flow, const char **error, const char *step_name);

    /* Reads steps ahead, all in one question, so that step() finds them. */
    cairn_code (*read_ahead)(struct flow *flow, const int32_t *places, size_t count);

    /* A join's output, from the steps that arrived; is_won: it goes on, else its fork has failed. */
    cairn_code (*join_output)(struct flow *flow, const struct flow_step *join, bool is_won,
                              const char **ret_output);
};

struct flow {
    const struct flow_source *source;
    cairn_error *error; /* says why a call returns a code */
    struct instance_row *instance;
    bool is_dirty; /* the instance's row must be written */
    int64_t now_us;
    size_t max_bytes; /* of an output */
    struct rng *rng;
    struct arena *arena;
    size_t value_max;               /* bytes of what an expression may make */
    struct flow_token *tokens;      /* on their way, in the order in which they are moved */
    struct flow_token **token_slot; /* where the next one is put; NULL: there are none */
};

/* What a worker says of a task.  COMPLETE, FAIL, RETRY, DEAD, RELEASE or WAIT. */
struct flow_report {
    cairn_outcome outcome;
    const char *worker, *token, *output, *error, *event;
    int64_t delay_us;        /* -1: backoff, or at once */
    int64_t timeout_us;      /* WAIT; -1: no limit */
    bool is_missing_handler; /* RELEASE: the worker cannot execute it */
};

/* What became of it. */
struct flow_verdict {
    cairn_code code;  /* CAIRN_OK, CAIRN_E_LEASE_LOST, CAIRN_E_WRONG_STATE, BAD_INPUT */
    const char *flaw; /* BAD_INPUT: what is wrong */
    const char *ended_outcome; /* LEASE_LOST: this token has ended the task with this outcome */
    const char *stop;          /* heartbeat: why it is no longer wanted */
    bool is_repeated;          /* a report that had been taken before: nothing changed */
};

/* flow.c: the instance begins. */
cairn_code flow_start(struct flow *flow);

/* flow_report.c */
const char *flow_outcome_name(cairn_outcome outcome);
cairn_code flow_report(struct flow *flow, struct flow_step *step,
                       const struct flow_report *report, struct flow_verdict *ret_verdict);

/* Needs the step alone, not the instance; changes the lease only (extend_us 0: nothing). */
struct flow_verdict flow_heartbeat(struct flow_step *step, const char *worker,
                                   const char *token, int64_t extend_us, int64_t now_us);

/* Whether most of what the lease would be extended to is left, and no more than that. */
bool lease_is_fresh(const struct step_row *row, int64_t extend_us, int64_t now_us);

/* flow_function.c: what a run has done, and how it goes on.  verdict->stop: why the run is
 * to end, if it does not end with this. */
cairn_code flow_commit(struct flow *flow, struct flow_step *runner,
                       const struct passage_commit *commit, struct flow_verdict *ret_verdict);

/* flow_data.c: whether it has ended so that others may read its output, and what goes on from it, which
 * is also what they read; NULL is as good as null. */
bool step_is_readable(const struct step_row *row);
const char *step_passed(const struct step_row *row);

/* A claimed step: its call's limit shortens the lease.  Needs the step alone. */
void flow_claimed(struct flow_step *step, int64_t now_us);

/* The step's due time has come: a lease, a wait, a sleep or a decision is over. */
cairn_code flow_timer(struct flow *flow, struct flow_step *step);
/* Whether the lease ends since the call may not take longer; else nobody has renewed it. */
bool lease_ends_call(const struct step_row *row);

/* Who asks, and why; each may be NULL. */
struct flow_who {
    const char *by, *reason;
    const char *token; /* the name of the token that the request came with */
};

/* flow_control.c: each sets the verdict to CAIRN_E_WRONG_STATE where the status does not allow it. */
cairn_code flow_pause(struct flow *flow, const struct flow_who *who, cairn_code *ret_verdict);
/* is_forced: a function goes on with whatever code it has now. */
cairn_code flow_resume(struct flow *flow, const struct flow_who *who, bool is_forced,
                       cairn_code *ret_verdict);
cairn_code flow_restart(struct flow *flow, const struct flow_who *who, cairn_code *ret_verdict);
/* Begins a new instance, in place of flow_start(): its steps before the one that it begins at
 * (instance->rerun_from) are copied from those of another instance of the same workflow, by place (NULL: the row
 * is missing), as they ended there.  Those that had not ended, and those of a list that is not taken, are
 * skipped; steps of other branches are executed. */
cairn_code flow_rerun(struct flow *flow, const struct flow_who *who,
                      const struct step_row *const *source, size_t count);
/* Whether a step has ended well, so that the flow has gone on behind it. */
bool step_has_passed(const struct step_row *row);
/* What the step behind it is given with its input: a task has used the signal itself. */
const char *step_passed_signal(const struct step_row *row);
cairn_code flow_retry(struct flow *flow, const struct flow_who *who, cairn_code *ret_verdict);
cairn_code flow_cancel(struct flow *flow, const struct flow_who *who, cairn_code *ret_verdict);
cairn_code flow_abort(struct flow *flow, const struct flow_who *who, cairn_code *ret_verdict);

/* flow_branch.c: the rows of a fork's branches.  The join's config has been read. */
cairn_code flow_branches(struct flow *flow, struct flow_step *fork,
                         const struct flow_step *join, struct branch_rows *ret_rows);

/* flow_undo.c: a child has ended, which a cancel may wait for. */
cairn_code flow_child_ended(struct flow *flow);

/* flow_children.c, of a step of a workflow.  How many children it wants to be started now. */
cairn_code flow_children_wanted(struct flow *flow, struct flow_step *step, int32_t *ret_count);
/* flow_data.c: the key and the tags that a child of a start gets; NULL: none.  *ret_flaw: why they cannot be
 * made; else NULL. */
cairn_code flow_child_names(struct flow *flow, const struct flow_step *step,
                            const char **ret_key, const char **ret_tags, const char **ret_flaw);
/* One of them was started, or cannot be. */
cairn_code flow_child_started(struct flow *flow, struct flow_step *step, const char *id);
cairn_code flow_child_refused(struct flow *flow, struct flow_step *step, const char *error);
/* One has ended.  step: NULL if its row was deleted. */
cairn_code flow_child_told(struct flow *flow, struct flow_step *step,
                           const struct child_end *end);
/* Whether children are to be rolled back; NULL: none. */
cairn_code flow_undo_wanted(struct flow *flow, struct flow_step *step,
                            const struct children_row **ret_row);
/* One of them is being rolled back (flow_roll_back()); or is not, because it did not complete, or
 * cannot be (error).  Then: that was all. */
cairn_code flow_child_rolling(struct flow *flow, struct flow_step *step,
                              const struct instance_row *child);
cairn_code flow_child_passed_over(struct flow *flow, struct flow_step *step, int64_t seq,
                                  const char *error);
cairn_code flow_undo_listed(struct flow *flow, struct flow_step *step);
/* Of a step of a function: the instance that it has started; NULL: none. */
cairn_code call_child(struct arena *arena, const struct step_row *row, const char **ret_id,
                      cairn_error *reterr);
/* A child of a function has ended, which a step that is undone may wait for. */
cairn_code flow_call_told(struct flow *flow, const char *id, const struct child_end *end);
/* So many more of its steps' children live. */
void flow_child_counted(struct flow *flow, int32_t by);
/* A child that has completed is undone, all of it; one that goes on is cancelled. */
cairn_code flow_roll_back(struct flow *flow, const struct flow_who *who);

/* A signal of this event was recorded: wakes the step that waits for it. */
cairn_code flow_signal(struct flow *flow, const char *event, bool *ret_is_taken);

/* A person decides about a human step; who->reason is the comment. */
cairn_code flow_decide(struct flow *flow, struct flow_step *step, bool is_confirmed,
                       const struct flow_who *who, cairn_code *ret_verdict);

/* A parked step, or a compensation that could not be done, is tried again; input NULL: its own. */
cairn_code flow_requeue(struct flow *flow, struct flow_step *step, bool is_undo,
                        const char *input, const struct flow_who *who, cairn_code *ret_verdict);

/* Whether a step waits for it now. */
cairn_code flow_is_awaited(struct flow *flow, const char *event, bool *ret_is_awaited);

#endif
