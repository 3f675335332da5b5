/* core/instance.h - the states of instances and steps, and which may follow which.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * The tables are the law: flow.c changes a state only through instance_may() and step_may(), and
 * docs/states.md is printed from them.
 */
#ifndef CORE_INSTANCE_H
#define CORE_INSTANCE_H

#include "core/rows.h"

#include <stdbool.h>

/* Values of undo_first that are no place. */
enum { UNDO_FIRST_NONE = -1, UNDO_OF_CANCEL = -2 };

/* The reason of a pause that the engine has made, and no person. */
#define PAUSED_BY_FAILURE "on_failure: pause_workflow"
#define PAUSED_BY_MISMATCH "version_mismatch"

bool instance_is_final(enum instance_status status);

/* A step that has ended. */
bool step_is_ended(enum step_status status);

/* Counts for current_steps: ready, running, waiting, waiting_decision, paused, compensation. */
bool step_is_current(enum step_status status);

/* Whether the tables allow it.  By restart, retry and requeue alone: is_reopening. */
bool instance_may(enum instance_status from, enum instance_status to, bool is_reopening);
bool step_may(enum step_status from, enum step_status to, bool is_reopening);

#endif
