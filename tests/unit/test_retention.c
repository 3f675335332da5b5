/* tests/unit/test_retention.c - the laws of how long history is kept.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "core/instance.h"
#include "core/job.h"
#include "core/retention.h"
#include "test.h"

TEST(exactly_what_is_final_has_an_age)
{
    struct retention_row policy = {0};
    for (int status = 0; status < JOB_STATUS_COUNT; status++)
        CHECK(!retention_of_job(&policy, (enum job_status)status) ==
                  !job_is_final((enum job_status)status),
              "job status %d", status);
    for (int status = 0; status < INSTANCE_STATUS_COUNT; status++)
        CHECK(!retention_of_instance(&policy, (enum instance_status)status) ==
                  !instance_is_final((enum instance_status)status),
              "instance status %d", status);
}

TEST(what_has_not_ended_or_is_kept_for_ever_is_never_due)
{
    CHECK_INT(retention_due_us(5, 0), INT64_MAX);
    CHECK_INT(retention_due_us(RETENTION_NEVER, 1), INT64_MAX);
    CHECK_INT(retention_due_us(RETENTION_MS_MAX + 1, 1), INT64_MAX);
    CHECK_INT(retention_due_us(1, INT64_MAX), INT64_MAX);
    CHECK_INT(retention_due_us(0, 7), 7);
    CHECK_INT(retention_due_us(2, 7), 2007);
}

TEST(the_least_age_leaves_out_those_that_are_kept)
{
    struct retention_row policy = {.jobs_succeeded = -1,
                                   .jobs_failed = 9,
                                   .jobs_cancelled = 4,
                                   .instances_completed = -1,
                                   .instances_failed = -1,
                                   .instances_cancelled = -1,
                                   .instances_aborted = -1};
    CHECK_INT(retention_least_job(&policy), 4);
    CHECK_INT(retention_least_instance(&policy), RETENTION_NEVER);
    policy.instances_failed = 0;
    CHECK_INT(retention_least_instance(&policy), 0);
}

TEST(a_deleted_job_counts_as_cancelled_unless_it_is_held)
{
    struct job_row row = {.status = JOB_SUCCEEDED, .updated_at_us = 5};
    int64_t ended_us;
    CHECK_INT(retention_job_end(&row, &ended_us), JOB_SUCCEEDED);
    CHECK_INT(ended_us, 5);
    row.deleted_at_us = 9;
    CHECK_INT(retention_job_end(&row, &ended_us), JOB_CANCELLED);
    CHECK_INT(ended_us, 9);
    row.status = JOB_PENDING;
    CHECK_INT(retention_job_end(&row, &ended_us), JOB_CANCELLED);
    CHECK_INT(ended_us, 9);
    row.status = JOB_LEASED;
    CHECK_INT(retention_job_end(&row, &ended_us), JOB_LEASED);
    CHECK_INT(ended_us, 0);
    row = (struct job_row){.status = JOB_PENDING, .updated_at_us = 5};
    retention_job_end(&row, &ended_us);
    CHECK_INT(ended_us, 0);
}
