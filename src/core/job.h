/* core/job.h - the life of a job: what may happen to it, and what follows.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * Pure: no clock, no store, no memory.  job_apply() changes a row that the engine has read (and
 * locked); the engine then has the store write row and event in one transaction.
 *
 *                 claim                 complete
 *     pending ------------> leased -----------------> succeeded
 *        ^  ^                | | |     fail, dead
 *        |  '----------------' | '------------------> failed
 *        |   fail, retry,      |       cancel
 *        |   release, expire   '--------------------> cancelled   (also from pending)
 *        '---- revive: from failed and cancelled
 */
#ifndef CORE_JOB_H
#define CORE_JOB_H

#include "base/random.h"
#include "cairn.h"

#include <stdbool.h>
#include <stdint.h>

enum job_status {
    JOB_NONE, /* zeroed memory is not a status */
    JOB_PENDING,
    JOB_LEASED,
    JOB_SUCCEEDED,
    JOB_FAILED,
    JOB_CANCELLED,
    JOB_STATUS_COUNT
};

enum job_event {
    EVENT_NONE,
    EVENT_CREATED,
    EVENT_LEASED,
    EVENT_STARTED,
    EVENT_HEARTBEAT,
    EVENT_SUCCEEDED,
    EVENT_FAILED,
    EVENT_RETRIED,
    EVENT_CANCELLED,
    JOB_EVENT_COUNT
};

enum job_action {
    JOB_COMPLETE, /* the worker's reports */
    JOB_FAIL,
    JOB_RETRY,
    JOB_DEAD,
    JOB_RELEASE,
    JOB_HEARTBEAT,
    JOB_EXPIRE, /* the lease ran out */
    JOB_CANCEL, /* somebody asked */
    JOB_DELETE,
    JOB_REVIVE,
    JOB_ACTION_COUNT
};

const char *job_status_name(enum job_status status);
enum job_status job_status_from(const char *name); /* JOB_NONE: no such word */
const char *job_event_name(enum job_event event);
const char *job_action_name(enum job_action action);
bool job_is_final(enum job_status status);

/* A row of workflow_run.  Texts that are not set are NULL, times 0. */
struct job_row {
    int64_t seq; /* order of insertion; decides among equals */
    const char *id, *type, *payload, *key;
    enum job_status status;
    int32_t priority, attempt, max_attempts;
    bool is_ready; /* pending, and run_at has come; false until the timer says so */
    const char *leased_by, *token;      /* who holds it; token NULL: not one of our claims */
    const char *ended_by, *ended_token; /* who ended the latest lease, for a repeated report */
    const char *ended_outcome;          /* and with which report: a job_action_name() */
    const char *last_error, *result;
    int64_t run_at_us, lease_until_us, created_at_us, updated_at_us, deleted_at_us;
};

/* What is asked of a job. */
struct job_input {
    enum job_action action;
    const char *worker, *token; /* reports and heartbeats */
    const char *output;         /* JOB_COMPLETE: JSON */
    const char *error;          /* JOB_FAIL, JOB_RETRY, JOB_DEAD */
    int64_t delay_us;           /* JOB_RETRY, JOB_RELEASE; -1: backoff, or at once */
    int64_t extend_us;          /* JOB_HEARTBEAT */
};

/* What it means.  With a code the row is as it was, except that a refused report ends the lease
 * that a cancelled job still had (is_changed). */
struct job_verdict {
    cairn_code code;           /* CAIRN_OK, CAIRN_E_LEASE_LOST, CAIRN_E_WRONG_STATE */
    bool is_changed;           /* the row must be written */
    enum job_event event;      /* EVENT_NONE: nothing for the audit trail */
    const char *ended_outcome; /* LEASE_LOST: this token has ended it, with this report */
    const char *stop;          /* heartbeat: why the work is no longer wanted; NULL: go on */
};

/* The cell of the transition table: where `action` leads from `status` when attempts are left;
 * JOB_NONE: not allowed there. */
enum job_status job_next(enum job_status status, enum job_action action);

struct job_verdict job_apply(struct job_row *row, const struct job_input *input, int64_t now_us,
                             struct rng *rng);

#endif
