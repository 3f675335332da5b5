/* core/flow_row.h - the rows of workflow_instance and workflow_step, as plain structs.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * Texts that are not set are NULL, times 0, places in the plan -1.  Everything that progress needs
 * stands in these rows; the definition is only read when an instance starts.
 */
#ifndef CORE_FLOW_ROW_H
#define CORE_FLOW_ROW_H

#include "core/instance.h"

#include <stdbool.h>
#include <stdint.h>

/* What an instance is on its way to, while others still have to end. */
enum instance_goal {
    GOAL_NONE,   /* forward */
    GOAL_FAIL,   /* fail_workflow: as soon as nobody runs */
    GOAL_UNDO,   /* compensate, then failed */
    GOAL_CANCEL, /* compensate, then cancelled */
    GOAL_REDO,   /* compensations requeued from the DLQ */
    GOAL_COUNT
};

/* Why a running step is no longer wanted; its worker is told at the next heartbeat. */
enum step_stop {
    STOP_NONE,
    STOP_CANCELLED,
    STOP_ABORTED,
    STOP_ROLLBACK,
    STOP_SUPERSEDED,
    STOP_PAUSED, /* functions only: one last commit is welcome */
    STOP_COUNT
};

/* Values of undo_first that are no place. */
enum { UNDO_FIRST_NONE = -1, UNDO_OF_CANCEL = -2 };

struct instance_row {
    int64_t seq; /* order of insertion */
    const char *id, *workflow, *key, *input, *output;
    int32_t version;
    enum instance_status status;
    int32_t generation;     /* from 1; rises at a restart and when a terminal one is reopened */
    const char *last_error; /* JSON {step, message, attempt, at}; NULL: none */
    const char *undo_error; /* the same, of the latest compensation that failed */
    int64_t start_at_us;    /* pending until then; 0: started at once */
    int64_t created_at_us, updated_at_us, started_at_us, finished_at_us;

    bool is_dlq;           /* failed steps park */
    bool has_compensation; /* any step declares one: what on_failure is when it is not given */

    enum instance_goal goal;
    bool is_undo_failed; /* a compensation ran out of attempts */
    int32_t undo_first; /* the step whose failure began it, undone first; or one of the above */
    int32_t undo_from, undo_to; /* places whose steps are undone */
    int64_t undo_below; /* those with a commit number below this are still to be undone */
    const char *stop_by, *stop_reason; /* who cancelled or aborted, and why */

    int64_t commits; /* the latest commit number */

    /* How many steps are in which situation: they decide the status without looking at steps.
     * A claim changes none of them, so that it need not touch the instance. */
    int32_t active_count;   /* ready, now or later, or running and wanted */
    int32_t wait_count;     /* in a wait step */
    int32_t sleep_count;    /* in a sleep, or in a handler's own wait */
    int32_t decision_count; /* waiting for a human */
    int32_t parked_count;   /* paused in the DLQ */
    int32_t awaited_count;  /* leases whose end must come before the goal is gone for */

    /* Of functions. */
    bool is_function;
    int64_t revision; /* rises with everything that happens to it */
    int32_t places;   /* the next place for what is remembered; used again only by a restart */
    bool is_forced;   /* its code was accepted, though it does not match what is remembered */
    bool is_woken;    /* something came while a passage was running: another one is due */
};

struct step_row {
    /* Planned at the start, never changed. */
    const char *instance_id;
    int64_t instance_seq;
    int32_t seq; /* place in the plan, in the order of the file, from 0 */
    const char *name;
    enum step_kind kind;
    const char *handler; /* KIND_TASK, KIND_FUNCTION; NULL: a remembered step, never claimed */
    int32_t max_attempts;
    int32_t priority;
    int32_t next;                 /* where the flow goes on; -1: the end */
    int32_t scope_fork;           /* the fork whose branch this is in; -1: none */
    int32_t scope_from, scope_to; /* first and last place of that branch, or of the instance */
    const char *config;           /* JSON: what the file says beyond this; NULL: nothing */
    const char *metadata;         /* JSON; NULL: none */
    int32_t
        version; /* KIND_FUNCTION: its instance's, else 0; is written and claimed by, and may
                      * be 0 in a row that was read */

    enum step_status status;
    int32_t attempts;              /* calls that ended in error, retry, timeout or lost lease */
    int32_t compensation_attempts; /* the same, of the compensation */
    const char *input, *output, *error;
    const char *undo_error; /* why its compensation failed; error keeps the step's own */
    int64_t commit_no;      /* the order in which called steps ended; 0: not yet */
    int64_t next_run_at_us, started_at_us, finished_at_us;

    bool is_ready;         /* claimable now: the claim index holds nothing else */
    const char *task_type; /* the handler to be called: its own, or its compensation's */
    int64_t due_at_us;     /* when a timer must look at it; 0: never */
    bool is_held;          /* ready but not claimable, or ended without its consequences */

    const char *locked_by, *token; /* the lease */
    int64_t locked_until_us;
    int64_t call_until_us; /* the call is over then, whatever the heartbeats; 0: no limit */
    const char *ended_by, *ended_token; /* who ended the latest lease */
    const char *ended_outcome;          /* and how: a word of a report or of a commit */
    enum step_stop stop;

    const char *waiting_event; /* what a waiting step, or its handler, waits for */
    int64_t deadline_at_us;
    bool is_timed_out;  /* the next call is made as WAITING_TIMEOUT */
    const char *signal; /* JSON {id, event, payload} that ended the wait; for the next call */

    /* The step's key names an effect (core/effect.h). */
    int32_t past_effects;         /* how many were undone, or left behind by a restart */
    bool is_effect_begun;         /* it was called for this one before the latest retry */
    const char *function_effects; /* KIND_FUNCTION: of what it remembers, where it is more */

    int32_t remaining; /* KIND_JOIN: branches that have not arrived */
    int64_t updated_at_us;
};

/* A message to an instance.  Taken once, oldest first. */
struct signal_row {
    int64_t seq; /* order of arrival within the store */
    const char *instance_id, *id, *event, *payload;
    int64_t received_at_us;
    int32_t taken_by; /* the step's place; -1: not taken */
    bool was_taken;   /* the sender was told that it was taken on arrival */
};

/* What a handler wants others to hear of, delivered at least once. */
struct outbox_row {
    int64_t id;
    const char *instance_id, *step, *event, *payload;
    int64_t created_at_us;
    const char *claimed_by;
    int64_t claimed_until_us;
};

/* What somebody decided about a human step. */
struct decision_row {
    int64_t id; /* rises within an instance; set by the store */
    const char *instance_id, *step_name, *decided_by, *decision, *comment;
    int32_t step_seq;
    int64_t decided_at_us;
};

/* A failed step, or a failed compensation, that a person must look at. */
struct dlq_row {
    int64_t id;
    const char *instance_id, *workflow;
    int32_t version;
    int32_t step_seq;
    const char *step_name, *step_type, *input, *error, *reason;
    int64_t created_at_us;
    bool is_open; /* until requeued, or closed by cancel, abort, restart or retry */
};

/* Something that happened to an instance or to one of its steps. */
struct flow_event_row {
    int64_t id;
    const char *instance_id;
    const char *type; /* a word of spec/events.txt */
    const char *step; /* its name; NULL: the instance's own */
    const char *data; /* JSON */
    int64_t at_us;
};

/* What a function has logged. */
struct log_row {
    int64_t id;
    const char *instance_id, *level, *message;
    const char *data; /* JSON; NULL: none */
    const char *step; /* NULL: the function itself */
    int32_t attempt;  /* 0: the function itself */
    int64_t at_us;
};

struct definition_row {
    const char *name;
    int32_t version;
    const char *hash;    /* of the content, 64 hexadecimal digits */
    const char *content; /* the canonical JSON text */
    int64_t created_at_us;
};

#endif
