/* core/job.c - the life of a job, as a table and a few rules about its lease.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "core/job.h"

#include "base/clock.h"
#include "core/backoff.h"
#include "core/counter.h"

#include <assert.h>
#include <string.h>

/* Rows are where a job is, entries what can happen to it there, with an attempt left.  A pair
 * left out is refused. */
static const enum job_status next[JOB_STATUS_COUNT][JOB_ACTION_COUNT] = {
    [JOB_PENDING] = {[JOB_CANCEL] = JOB_CANCELLED,
                     [JOB_DELETE] = JOB_CANCELLED,
                     [JOB_DEBOUNCE] = JOB_PENDING},
    [JOB_LEASED] = {[JOB_COMPLETE] = JOB_SUCCEEDED,
                    [JOB_FAIL] = JOB_PENDING,
                    [JOB_RETRY] = JOB_PENDING,
                    [JOB_DEAD] = JOB_FAILED,
                    [JOB_RELEASE] = JOB_PENDING,
                    [JOB_HEARTBEAT] = JOB_LEASED,
                    [JOB_EXPIRE] = JOB_PENDING,
                    [JOB_CANCEL] = JOB_CANCELLED,
                    [JOB_DELETE] = JOB_CANCELLED},
    [JOB_SUCCEEDED] = {[JOB_DELETE] = JOB_SUCCEEDED},
    [JOB_FAILED] = {[JOB_DELETE] = JOB_FAILED, [JOB_REVIVE] = JOB_PENDING},
    [JOB_CANCELLED] = {[JOB_DELETE] = JOB_CANCELLED, [JOB_REVIVE] = JOB_PENDING},
};

bool job_is_final(enum job_status status)
{
    return status == JOB_SUCCEEDED || status == JOB_FAILED || status == JOB_CANCELLED;
}

enum job_status job_next(enum job_status status, enum job_action action)
{
    assert(status > JOB_NONE && status < JOB_STATUS_COUNT);
    assert(action < JOB_ACTION_COUNT);
    return next[status][action];
}

/* The lease stands, and it is this worker's. */
static bool is_holder(const struct job_row *row, const struct job_input *input, int64_t now_us)
{
    return text_is(row->leased_by, input->worker) && text_is(row->token, input->token) &&
           row->lease_until_us >= now_us;
}

/* This token ended the latest lease. */
static bool is_ender(const struct job_row *row, const struct job_input *input)
{
    return text_is(row->ended_by, input->worker) && text_is(row->ended_token, input->token);
}

/* With the same outcome, so that only its answer can have got lost; a lease that an earlier version
 * has ended does not say how. */
static bool is_repeated(const struct job_row *row, const struct job_input *input)
{
    return is_ender(row, input) &&
           (!row->ended_outcome ||
            strcmp(row->ended_outcome, job_action_name(input->action)) == 0);
}

static void drop_lease(struct job_row *row)
{
    row->leased_by = NULL;
    row->token = NULL;
    row->lease_until_us = 0;
    row->call_until_us = 0;
}

static void end_lease(struct job_row *row, const struct job_input *input)
{
    row->ended_by = input->worker;
    row->ended_token = input->token;
    row->ended_outcome = job_action_name(input->action);
    drop_lease(row);
}

static void make_pending(struct job_row *row, int64_t run_at_us, int64_t now_us)
{
    row->status = JOB_PENDING;
    row->run_at_us = run_at_us;
    row->is_ready = run_at_us <= now_us;
}

/* One more call has failed: again later, or the end. */
static enum job_event spend_attempt(struct job_row *row, const char *error, int64_t run_at_us,
                                    int64_t now_us)
{
    row->attempt = counter_after(row->attempt);
    row->last_error = error;
    if (row->attempt >= row->max_attempts) {
        row->status = JOB_FAILED;
        row->is_ready = false;
        return EVENT_FAILED;
    }
    make_pending(row, run_at_us, now_us);
    return EVENT_RETRIED;
}

/* After one more failed call, by the job's own backoff. */
static int64_t backoff_at_us(const struct job_row *row, int64_t now_us, struct rng *rng)
{
    struct backoff retry = retry_of_job(row->retry);
    return instant_add(now_us,
                       backoff_delay_us(&retry, counter_after(row->attempt), rng_unit(rng)));
}

static int64_t retry_at_us(const struct job_row *row, const struct job_input *input,
                           int64_t now_us, struct rng *rng)
{
    if (input->action != JOB_RETRY || input->delay_us < 0)
        return backoff_at_us(row, now_us, rng);
    return instant_add(now_us, input->delay_us);
}

/* When the call is over, whatever the heartbeats; 0: no limit.  A lease never reaches past it: one that does
 * was taken in another way, by plain SQL or an earlier version, and has no limit. */
static int64_t call_end_us(const struct job_row *row)
{
    return row->token && row->call_until_us >= row->lease_until_us ? row->call_until_us : 0;
}

bool job_claimed(struct job_row *row, int64_t now_us)
{
    if (!row->timeout_ms)
        return false;
    int64_t timeout_ms =
        row->timeout_ms < INSTANT_MAX / US_PER_MS ? row->timeout_ms : INSTANT_MAX / US_PER_MS;
    row->call_until_us = instant_add(now_us, timeout_ms < 0 ? 0 : timeout_ms * US_PER_MS);
    if (row->lease_until_us > row->call_until_us)
        row->lease_until_us = row->call_until_us;
    return true;
}

void job_complete(struct job_row *row, const struct job_input *input, int64_t now_us)
{
    end_lease(row, input);
    row->status = JOB_SUCCEEDED;
    row->result = input->output;
    row->is_ready = false;
    row->updated_at_us = now_us;
}

static enum job_event apply_report(struct job_row *row, const struct job_input *input,
                                   int64_t now_us, struct rng *rng)
{
    int64_t at_us;
    end_lease(row, input);
    switch (input->action) {
    case JOB_COMPLETE:
        job_complete(row, input, now_us);
        return EVENT_SUCCEEDED;
    case JOB_DEAD:
        row->attempt = counter_after(row->attempt);
        row->last_error = input->error;
        row->status = JOB_FAILED;
        row->is_ready = false;
        return EVENT_FAILED;
    case JOB_RELEASE:
        at_us = input->delay_us > 0 ? instant_add(now_us, input->delay_us) : now_us;
        make_pending(row, at_us, now_us);
        return EVENT_RETRIED;
    default:
        assert(input->action == JOB_FAIL || input->action == JOB_RETRY);
        at_us = retry_at_us(row, input, now_us, rng);
        return spend_attempt(row, input->error, at_us, now_us);
    }
}

static struct job_verdict report(struct job_row *row, const struct job_input *input,
                                 int64_t now_us, struct rng *rng)
{
    bool is_holding = is_holder(row, input, now_us);
    if (row->status == JOB_LEASED && is_holding) {
        row->updated_at_us = now_us;
        return (struct job_verdict){.is_changed = true,
                                    .event = apply_report(row, input, now_us, rng)};
    }
    if (is_repeated(row, input))
        return (struct job_verdict){.code = CAIRN_OK};
    if (is_holding) {
        /* Cancelled while it ran: the worker has now stopped, so its lease has ended too. */
        drop_lease(row);
        return (struct job_verdict){.code = CAIRN_E_LEASE_LOST, .is_changed = true};
    }
    return (struct job_verdict){.code = CAIRN_E_LEASE_LOST,
                                .ended_outcome =
                                    is_ender(row, input) ? row->ended_outcome : NULL};
}

static struct job_verdict heartbeat(struct job_row *row, const struct job_input *input,
                                    int64_t now_us)
{
    if (!is_holder(row, input, now_us))
        return (struct job_verdict){.code = CAIRN_E_LEASE_LOST};
    if (row->status == JOB_CANCELLED)
        return (struct job_verdict){.stop = "cancelled"};
    if (row->status != JOB_LEASED)
        return (struct job_verdict){.code = CAIRN_E_LEASE_LOST};
    if (input->extend_us == 0)
        return (struct job_verdict){.code = CAIRN_OK}; /* it only looks */

    int64_t until_us = instant_add(now_us, input->extend_us), end_us = call_end_us(row);
    row->lease_until_us = end_us && until_us > end_us ? end_us : until_us;
    row->updated_at_us = now_us;
    return (struct job_verdict){.is_changed = true, .event = EVENT_HEARTBEAT};
}

/* A call that took too long has failed, and is made again after the backoff; a lost lease is ready at once. */
static struct job_verdict expire(struct job_row *row, int64_t now_us, struct rng *rng)
{
    if (row->status != JOB_LEASED || row->lease_until_us >= now_us)
        return (struct job_verdict){.code = CAIRN_E_WRONG_STATE};
    bool is_timeout = call_end_us(row) && call_end_us(row) < now_us;
    int64_t at_us = is_timeout ? backoff_at_us(row, now_us, rng) : now_us;
    drop_lease(row);
    row->updated_at_us = now_us;
    return (struct job_verdict){
        .is_changed = true,
        .event = spend_attempt(row, is_timeout ? "TIMEOUT" : "LEASE_EXPIRED", at_us, now_us)};
}

static struct job_verdict control(struct job_row *row, enum job_action action, int64_t now_us)
{
    enum job_status to = job_next(row->status, action);
    if (to == JOB_NONE)
        return (struct job_verdict){.code = CAIRN_E_WRONG_STATE};
    if (action == JOB_DELETE && row->deleted_at_us)
        return (struct job_verdict){.code = CAIRN_OK};
    if (action == JOB_REVIVE && row->deleted_at_us)
        return (struct job_verdict){.code = CAIRN_E_WRONG_STATE};

    struct job_verdict verdict = {.is_changed = true};
    if (to == JOB_CANCELLED && row->status != JOB_CANCELLED) {
        /* The lease stays, so that the worker's heartbeat can be told. */
        row->status = JOB_CANCELLED;
        row->is_ready = false;
        verdict.event = EVENT_CANCELLED;
    } else if (to == JOB_PENDING) {
        drop_lease(row);
        row->attempt = 0;
        make_pending(row, now_us, now_us);
        verdict.event = EVENT_RETRIED;
    } else {
        verdict.event = EVENT_DELETED; /* nothing else tells who hid what had ended */
    }
    if (action == JOB_DELETE)
        row->deleted_at_us = now_us;
    row->updated_at_us = now_us;
    return verdict;
}

/* Asked for once more while it waits: it runs this long after the latest of those that asked. */
static struct job_verdict debounce(struct job_row *row, int64_t delay_us, int64_t now_us)
{
    if (job_next(row->status, JOB_DEBOUNCE) == JOB_NONE || row->deleted_at_us)
        return (struct job_verdict){.code = CAIRN_E_WRONG_STATE};
    make_pending(row, instant_add(now_us, delay_us), now_us);
    row->updated_at_us = now_us;
    return (struct job_verdict){.is_changed = true, .event = EVENT_DEBOUNCED};
}

struct job_verdict job_apply(struct job_row *row, const struct job_input *input, int64_t now_us,
                             struct rng *rng)
{
    switch (input->action) {
    case JOB_HEARTBEAT:
        return heartbeat(row, input, now_us);
    case JOB_EXPIRE:
        return expire(row, now_us, rng);
    case JOB_CANCEL:
    case JOB_DELETE:
    case JOB_REVIVE:
        return control(row, input->action, now_us);
    case JOB_DEBOUNCE:
        return debounce(row, input->delay_us, now_us);
    default:
        return report(row, input, now_us, rng);
    }
}
