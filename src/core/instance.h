/* core/instance.h - the states of instances and steps, and which may follow which.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * The tables are the law: flow.c changes a state only through instance_may() and step_may(), and
 * docs/states.md is printed from them.
 */
#ifndef CORE_INSTANCE_H
#define CORE_INSTANCE_H

#include <stdbool.h>
#include <stdint.h>

enum instance_status {
    INSTANCE_NONE, /* zeroed memory is not a status */
    INSTANCE_PENDING,
    INSTANCE_RUNNING,
    INSTANCE_WAITING_SIGNAL,
    INSTANCE_PAUSED,
    INSTANCE_COMPENSATING,
    INSTANCE_DLQ,
    INSTANCE_COMPLETED,
    INSTANCE_FAILED,
    INSTANCE_CANCELLED,
    INSTANCE_ABORTED,
    INSTANCE_STATUS_COUNT
};

enum step_status {
    STEP_NONE,
    STEP_PENDING,
    STEP_READY,
    STEP_RUNNING,
    STEP_WAITING,
    STEP_WAITING_DECISION,
    STEP_COMPLETED,
    STEP_CONFIRMED,
    STEP_REJECTED,
    STEP_FAILED,
    STEP_PAUSED,
    STEP_COMPENSATION,
    STEP_ROLLED_BACK,
    STEP_SKIPPED,
    STEP_STATUS_COUNT
};

enum step_kind {
    KIND_NONE,
    KIND_TASK,
    KIND_SLEEP,
    KIND_WAIT,
    KIND_SAVE_POINT,
    KIND_CONDITION,
    KIND_FORK, /* parallel is a fork, too */
    KIND_JOIN,
    KIND_HUMAN,
    KIND_FUNCTION, /* place 0 of a function: the passage.  What it remembers is a task without
                    * handler, a sleep, a wait, or one of: */
    KIND_VALUE,    /* a time, a random number, a UUID */
    KIND_START,    /* a job or an instance that it started */
    STEP_KIND_COUNT
};

const char *instance_status_name(enum instance_status status);
enum instance_status instance_status_from(const char *name); /* NONE: no such word */
const char *step_status_name(enum step_status status);
enum step_status step_status_from(const char *name);
const char *step_kind_name(enum step_kind kind);
enum step_kind step_kind_from(const char *name);

bool instance_is_final(enum instance_status status);

/* A step that has come to its end and needs nobody any more. */
bool step_is_ended(enum step_status status);

/* Counts for current_steps: ready, running, waiting, waiting_decision, paused, compensation. */
bool step_is_current(enum step_status status);

/* Whether the tables allow it.  By restart, retry and requeue alone: is_reopening. */
bool instance_may(enum instance_status from, enum instance_status to, bool is_reopening);
bool step_may(enum step_status from, enum step_status to, bool is_reopening);

#endif
