/* cli/job_control.c - cairn job cancel, retry, delete.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "cli/control.h"

static int run_control(const struct args *args, const char *method, const char *suffix,
                       const char *done)
{
    struct control control = {
        .path = "/v1/jobs/", .method = method, .suffix = suffix, .done = done};
    return control_run(args, &control);
}

static int run_cancel(const struct args *args)
{
    return run_control(args, "POST", "/cancel", "cancelled");
}

static int run_retry(const struct args *args)
{
    return run_control(args, "POST", "/retry", "pending");
}

static int run_delete(const struct args *args)
{
    return run_control(args, "DELETE", "", "deleted");
}

#define MANY_IDS CONTROL_MANY("job")

const struct command command_job_cancel = {
    .name = "job cancel",
    .operands = "ID...",
    .min_operands = 1,
    .max_operands = -1,
    .summary = "cancel jobs that have not ended",
    .about =
        "A job is cancelled at once: no later result of its worker can change that, and "
        "the worker is told at its next heartbeat. A job that has ended is refused." MANY_IDS,
    .example = "cairn job cancel 0192f0c1-7d5e-7c3a-9a4e-2f6d8b1c3e5f\n"
               "cairn job list --type 'mail.%' --status pending -o ids | cairn job cancel -",
    .outputs = "table json ids",
    .has_url = true,
    .run = run_cancel,
};

const struct command command_job_retry = {
    .name = "job retry",
    .operands = "ID...",
    .min_operands = 1,
    .max_operands = -1,
    .summary = "make failed or cancelled jobs pending again",
    .about = "The job starts with fresh attempts. Only failed and cancelled jobs can be "
             "retried." MANY_IDS,
    .example = "cairn job list -o ids --status failed | cairn job retry -",
    .outputs = "table json ids",
    .has_url = true,
    .run = run_retry,
};

const struct command command_job_delete = {
    .name = "job delete",
    .operands = "ID...",
    .min_operands = 1,
    .max_operands = -1,
    .summary = "delete jobs: neither claimed nor listed again",
    .about =
        "The row stays, marked as deleted, and is still shown by its id. A job that had not "
        "ended is cancelled. Deleting twice is the same as once." MANY_IDS,
    .example = "cairn job delete 0192f0c1-7d5e-7c3a-9a4e-2f6d8b1c3e5f",
    .outputs = "table json ids",
    .has_url = true,
    .run = run_delete,
};
