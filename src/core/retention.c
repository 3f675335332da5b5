/* core/retention.c - how long history is kept.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "core/retention.h"

#include "base/clock.h"
#include "core/instance.h"
#include "core/job.h"

int64_t *retention_of_job(struct retention_row *policy, enum job_status status)
{
    switch (status) {
    case JOB_SUCCEEDED:
        return &policy->jobs_succeeded;
    case JOB_FAILED:
        return &policy->jobs_failed;
    case JOB_CANCELLED:
        return &policy->jobs_cancelled;
    default:
        return NULL;
    }
}

int64_t *retention_of_instance(struct retention_row *policy, enum instance_status status)
{
    switch (status) {
    case INSTANCE_COMPLETED:
        return &policy->instances_completed;
    case INSTANCE_FAILED:
        return &policy->instances_failed;
    case INSTANCE_CANCELLED:
        return &policy->instances_cancelled;
    case INSTANCE_ABORTED:
        return &policy->instances_aborted;
    default:
        return NULL;
    }
}

int64_t retention_due_us(int64_t age_ms, int64_t ended_us)
{
    if (age_ms < 0 || ended_us <= 0)
        return INT64_MAX;
    if (age_ms > RETENTION_MS_MAX || ended_us > INT64_MAX - age_ms * US_PER_MS)
        return INT64_MAX;
    return ended_us + age_ms * US_PER_MS;
}

static int64_t least(int64_t a, int64_t b)
{
    if (a < 0 || b < 0)
        return a < 0 ? b : a;
    return a < b ? a : b;
}

int64_t retention_least_job(const struct retention_row *policy)
{
    return least(policy->jobs_succeeded, least(policy->jobs_failed, policy->jobs_cancelled));
}

int64_t retention_least_instance(const struct retention_row *policy)
{
    return least(least(policy->instances_completed, policy->instances_failed),
                 least(policy->instances_cancelled, policy->instances_aborted));
}

enum job_status retention_job_end(const struct job_row *row, int64_t *ret_ended_us)
{
    bool is_deleted = row->deleted_at_us && row->status != JOB_LEASED;
    *ret_ended_us = is_deleted                  ? row->deleted_at_us
                    : job_is_final(row->status) ? row->updated_at_us
                                                : 0;
    return is_deleted ? JOB_CANCELLED : row->status;
}
