/* engine/task_id.h - a task's id: a job's, or "<instance id>.<place>" of a step.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ENGINE_TASK_ID_H
#define ENGINE_TASK_ID_H

#include "base/arena.h"
#include "core/job.h"

#include <stdbool.h>
#include <stdint.h>

/* Ids of jobs have no dot. */
bool is_step_id(const char *task_id);

/* False: no step can have this id. */
bool step_id_split(const char *task_id, char instance_id[ID_TEXT], int32_t *ret_seq);
char *step_id_make(struct arena *arena, const char *instance_id, int32_t seq);

/* The number that an event or record has as its id.  False: none has this one. */
bool number_id_read(const char *id, int64_t *ret_number);

#endif
