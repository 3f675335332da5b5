/* core/retention.h - how long history is kept.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * Pure.  Age counts from the end.  What has not ended has no age, and stays.
 */
#ifndef CORE_RETENTION_H
#define CORE_RETENTION_H

#include "core/rows.h"

enum { RETENTION_NEVER = -1 }; /* an age: it is never removed */

/* No age is greater: a hundred years, in milliseconds. */
#define RETENTION_MS_MAX (INT64_C(36525) * 24 * 3600 * 1000)

/* The member of a policy for what has ended so; NULL: that is no end. */
int64_t *retention_of_job(struct retention_row *policy, enum job_status status);
int64_t *retention_of_instance(struct retention_row *policy, enum instance_status status);

/* When something goes that ended at ended_us; INT64_MAX: never. */
int64_t retention_due_us(int64_t age_ms, int64_t ended_us);

/* The least of the ages of jobs, or of instances; RETENTION_NEVER: all are kept. */
int64_t retention_least_job(const struct retention_row *policy);
int64_t retention_least_instance(const struct retention_row *policy);

/* How a job counts: a deleted one as cancelled, from when it was deleted, unless somebody still holds it.
 * *ret_ended_us is 0 if it has not ended. */
enum job_status retention_job_end(const struct job_row *row, int64_t *ret_ended_us);

#endif
