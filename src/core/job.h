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
#include "core/rows.h"

#include <stdbool.h>
#include <stdint.h>

bool job_is_final(enum job_status status);

/* What is asked of a job. */
struct job_input {
    enum job_action action;
    const char *worker, *token; /* reports and heartbeats */
    const char *token_name;     /* of the access token of who asks */
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

/* The status that follows `action` while attempts are left; JOB_NONE: not allowed. */
enum job_status job_next(enum job_status status, enum job_action action);

/* A claim has leased it: the call ends in time, and the lease with it.  False: it has no timeout, and nothing
 * was changed. */
bool job_claimed(struct job_row *row, int64_t now_us);

/* A success that is reported by the holder of the lease: what is left of its row, but for attempt, run_at,
 * last_error and deleted_at, which stay as they are.  It needs no member of the row. */
void job_complete(struct job_row *row, const struct job_input *input, int64_t now_us);

struct job_verdict job_apply(struct job_row *row, const struct job_input *input, int64_t now_us,
                             struct rng *rng);

#endif
