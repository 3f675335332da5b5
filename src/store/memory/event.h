/* store/memory/event.h - the audit trail of a memory store.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef STORE_MEMORY_EVENT_H
#define STORE_MEMORY_EVENT_H

#include "core/instance.h"
#include "core/job.h"

#include <stddef.h>

/* Of a job or of an instance: both count on one sequence of ids. */
struct event {
    struct flow_event_row row; /* instance_id: the job's, or the instance's, own text */
    enum job_event job_type;   /* EVENT_NONE: not a job's */
};

struct event_list {
    struct event **events; /* oldest first */
    size_t count, room;
};

/* The index of the first event with a greater id. */
size_t event_after(const struct event_list *list, int64_t after);

#endif
