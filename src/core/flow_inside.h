/* core/flow_inside.h - what the files of the flow share.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef CORE_FLOW_INSIDE_H
#define CORE_FLOW_INSIDE_H

#include "base/clock.h"
#include "base/error.h"
#include "core/flow.h"

/* A value on its way to a place. */
struct flow_token {
    int32_t seq;
    const char *input, *signal;
    bool is_made;        /* the input is the step's own, whatever its template says */
    const char *arrived; /* is_made: what its template would be given; NULL: as its row says */
    struct flow_step *from; /* NULL: the instance's input */
    struct flow_token *next;
};

/* flow.c */
bool flow_is_frozen(const struct flow *flow);
void step_touch(struct flow *flow, struct flow_step *step);
void step_set(struct flow *flow, struct flow_step *step, enum step_status to);
void step_reopen(struct flow *flow, struct flow_step *step, enum step_status to);
void step_set_stop(struct flow *flow, struct flow_step *step, enum step_stop stop);
void step_drop_lease(struct flow_step *step);
void step_number(struct flow *flow, struct flow_step *step); /* its commit number */
void instance_set(struct flow *flow, enum instance_status to, bool is_reopening);
/* Sets it and tells so, where no other event does. */
cairn_code instance_turn(struct flow *flow, enum instance_status to, const char *type);
bool step_has_lease(const struct flow_step *step);
void step_stop_waiting(struct flow_step *step); /* for a worker, a signal or its time */

/* What was asked for does not go with the status: nothing was changed. */
static inline cairn_code flow_refuse(cairn_code *ret_verdict)
{
    *ret_verdict = CAIRN_E_WRONG_STATE;
    return CAIRN_OK;
}

cairn_code flow_note(struct flow *flow, const char *type, const struct flow_step *step,
                     const struct flow_facts *facts);

/* Makes a step, or its compensation, claimable at a time; held while the instance is frozen.  With
 * TOLD_BY_CALLER as the reason no event is noted. */
#define TOLD_BY_CALLER ""
cairn_code step_make_ready(struct flow *flow, struct flow_step *step, int64_t at_us,
                           const char *reason);

/* The step has ended well: its token goes on, now or when the instance thaws. */
cairn_code step_pass(struct flow *flow, struct flow_step *step, const char *signal);
cairn_code step_complete(struct flow *flow, struct flow_step *step, const char *output,
                         const char *signal);

/* Moves all tokens until each has come to rest, then lets the status follow. */
cairn_code flow_settle(struct flow *flow);
cairn_code flow_finish(struct flow *flow, enum instance_status status);

/* Arms what waits: takes a signal that is there, or sets the timer. */
cairn_code step_arm(struct flow *flow, struct flow_step *step);

/* flow_report.c: leases. */
bool lease_is_held_by(const struct step_row *row, const char *worker, const char *token,
                      int64_t now_us);
/* Of a token that no longer holds the lease: whether it has ended the task with this outcome, which
 * is then repeated, or with another one, or not at all. */
void lease_judge_late(const struct step_row *row, const char *worker, const char *token,
                      const char *outcome, struct flow_verdict *verdict);
void lease_extend(struct step_row *row, int64_t until_us);
void lease_end(struct flow *flow, struct flow_step *step, const char *worker, const char *token,
               const char *outcome);
bool step_is_stopped(const struct flow_step *step); /* its lease stands, and nothing else */
cairn_code step_end_stopped(struct flow *flow, struct flow_step *step);

/* flow_report.c: as flow_timer(), without letting the instance come to rest. */
cairn_code step_timer(struct flow *flow, struct flow_step *step);

/* flow_forward.c: behind those that the same step has sent, before those that were there when its own token was
 * moved. */
cairn_code token_put(struct flow *flow, const struct flow_token *token);
cairn_code token_add(struct flow *flow, int32_t seq, const char *input, const char *signal,
                     struct flow_step *from);
/* Sends the token of a step that has ended well once more, to places that have not had it; of those only to
 * such as are open again (NULL: to all). */
struct reopened;
cairn_code token_resend(struct flow *flow, struct flow_step *from, const char *signal,
                        const struct reopened *only);
/* A step ended in the DLQ before a join: the branch has arrived, the join waits, paused. */
cairn_code join_reached_frozen(struct flow *flow, struct flow_step *step, bool *ret_is_join);
cairn_code join_thaw(struct flow *flow, struct flow_step *join);
cairn_code token_move(struct flow *flow, const struct flow_token *token);

/* flow_data.c: what expressions make of data.  *ret_flaw: why they fail; NULL: they do not. */
cairn_code step_make_input(struct flow *flow, struct flow_step *step, const char **ret_flaw);
/* Its group: what its template makes of the data that has arrived, or of a map's input; else the instance's. */
cairn_code step_make_group(struct flow *flow, struct flow_step *step, const char **ret_flaw);
/* What a map runs over; not yet known to be a list. */
cairn_code step_make_list(struct flow *flow, const struct flow_step *step,
                          const char **ret_list, const char **ret_flaw);
cairn_code step_make_output(struct flow *flow, struct flow_step *step, const char **ret_flaw);
cairn_code step_evaluate(struct flow *flow, struct flow_step *step, bool *ret_is_true,
                         const char **ret_flaw);
/* The data that has arrived at a step which has not ended. */
const char *step_arrived(const struct flow_step *step);
/* Its input is still to be made, since an expression has failed. */
bool step_is_unmade(const struct flow_step *step);
/* It has ended without a call for that reason, so that there is nothing to undo. */
bool step_is_uncalled(const struct flow_step *step);

/* flow_failure.c: a step has failed for good. */
cairn_code step_fail(struct flow *flow, struct flow_step *step, const char *error,
                     int32_t attempt);
cairn_code step_supersede(struct flow *flow, struct flow_step *step);
cairn_code timeout_apply(struct flow *flow, struct flow_step *step, const char *error);
/* Whether resume tries a failed step again, instead of applying its policy. */
cairn_code failure_is_tried_again(struct flow *flow, struct flow_step *step, bool *ret_is);
cairn_code failure_apply(struct flow *flow, struct flow_step *step);

/* flow_branch.c: the innermost branch around a step whose join is an `any` that can still be won without it.
 * An `any` of which this is the last branch has failed with it, so that those around it count. */
struct lost_branch {
    struct flow_step *join; /* NULL: there is none */
    struct place_range branch;
    int32_t open_count; /* of the branches that can still win */
};
cairn_code find_any(struct flow *flow, const struct flow_step *step,
                    struct lost_branch *ret_lost);
/* The branch is lost, and nothing else: its other steps are stopped, nothing is undone. */
cairn_code lose_branch(struct flow *flow, const struct flow_step *failed,
                       const struct lost_branch *lost);
/* The joins around a step, or around all steps, that failed and took their forks with them: their outputs. */
cairn_code joins_tell_lost(struct flow *flow, const struct flow_step *failed);
cairn_code joins_tell_all_lost(struct flow *flow);
/* Into the dead letter queue; then the same for those that lost the other branches of the `any` around it. */
cairn_code step_park(struct flow *flow, struct flow_step *step);
cairn_code park_lost(struct flow *flow, const struct flow_step *last);
/* A parked step is about to be reset: so is what its branch was stopped from. */
struct reopened {
    struct place_range branch; /* first -1: none */
    bool *is_open;             /* by place in it */
};
cairn_code branch_reopen(struct flow *flow, const struct flow_step *step,
                         struct reopened *ret_reopened);
bool reopened_has(const struct reopened *reopened, int32_t place);
cairn_code branch_resend(struct flow *flow, const struct reopened *reopened);

/* flow_again.c: as planned, as if nothing had happened to it; but its key names another effect if
 * the latest one was undone, or if everything begins anew (is_restart). */
cairn_code step_reset(struct flow *flow, struct flow_step *step, bool is_restart);
/* flow_rerun.c: sends the first tokens of an instance: to place 0, or to the step that a rerun begins at and to
 * the other branches of the forks around it. */
cairn_code flow_begin(struct flow *flow);
/* To the step that a rerun begins at. */
cairn_code rerun_send(struct flow *flow);
/* To a step that failed, what had arrived at it, or the input that a rerun has given to it. */
cairn_code step_send_again(struct flow *flow, const struct flow_step *step);
/* The input that a rerun has given to a step; NULL: none. */
const char *rerun_given(const struct flow *flow, const struct flow_step *step);

/* Planned again, and told so. */
cairn_code step_plan_again(struct flow *flow, struct flow_step *step);
/* Whether a call for an effect has been undone. */
bool step_is_undone(const struct flow_step *step);

/* flow_control.c: the instance's own events; the second tells who asked for what it says. */
cairn_code flow_note_status(struct flow *flow, const char *type);
cairn_code flow_note_asked(struct flow *flow, const char *type, const struct flow_who *who);

/* flow_undo.c */
cairn_code goal_begin(struct flow *flow, enum instance_goal goal, struct flow_step *failed,
                      enum step_stop stop);
cairn_code flow_stop_for_abort(struct flow *flow);
cairn_code flow_stop_unbegun(struct flow *flow); /* cancelled before it began */
cairn_code goal_go_on(struct flow *flow);
cairn_code lease_awaited_ended(struct flow *flow, struct flow_step *step);
cairn_code redo_begin(struct flow *flow, struct flow_step *step);
cairn_code undo_succeeded(struct flow *flow, struct flow_step *step);
cairn_code undo_exhausted(struct flow *flow, struct flow_step *step);

cairn_code step_skip(struct flow *flow, struct flow_step *step, enum step_stop stop,
                     const char *text);

/* flow_function.c: place 0, which is there. */
cairn_code function_runner(struct flow *flow, struct flow_step **ret_runner);
/* Something has come for a function, or it begins. */
cairn_code function_wake(struct flow *flow, struct flow_step *runner, const char *input);
/* Cancelled, and its last run is over: nothing is called again. */
cairn_code function_skip_retries(struct flow *flow);
/* It has completed: whatever it had begun to wait for is skipped. */
cairn_code function_leave(struct flow *flow);
/* What failed or was undone is forgotten (is_all: everything), so that it is done again. */
cairn_code function_forget(struct flow *flow, bool is_all);

/* flow_children.c: a step of a workflow that starts instances. */
bool step_is_parent(const struct flow *flow, const struct flow_step *step);
/* Something was called for it, or started, that may have had an effect. */
bool step_was_called(const struct flow *flow, const struct flow_step *step);
cairn_code children_begin(struct flow *flow, struct flow_step *step);
cairn_code children_thaw(struct flow *flow, struct flow_step *step);
/* Whether some of a waiting step's live, which a parent that fails waits for. */
cairn_code children_live(struct flow *flow, struct flow_step *step, bool *ret_is_living);
/* They are no longer wanted: cancels those that live. */
cairn_code children_supersede(struct flow *flow, struct flow_step *step);
/* Whether a step that is undone has children to roll back. */
cairn_code children_are_done(struct flow *flow, struct flow_step *step, bool *ret_are_done);
cairn_code children_undo(struct flow *flow, struct flow_step *step);

/* flow_freeze.c */
cairn_code flow_freeze(struct flow *flow);
cairn_code flow_thaw(struct flow *flow);

#endif
