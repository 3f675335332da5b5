/* worker/outcome.c - what an answer to a report means.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * An outcome is lost only with its lease.  Until then a report is repeated after errors that may
 * pass; one that is rejected (its output is too large) becomes a failed attempt with that error.
 */
#include "worker/worker.h"

enum { FIRST_REST_US = 50 * 1000, LONGEST_REST_US = 5 * 1000 * 1000 };

int64_t rest_longer(int64_t rest_us)
{
    if (rest_us == 0)
        return FIRST_REST_US;
    return rest_us * 2 > LONGEST_REST_US ? LONGEST_REST_US : rest_us * 2;
}

void rest_begin(struct rest *rest)
{
    rest->length_us = rest_longer(rest->length_us);
    rest->until_us = monotonic_us() + rest->length_us;
}

bool code_is_retryable(cairn_code code)
{
    return code == CAIRN_E_UNREACHABLE || code == CAIRN_E_BUSY || code == CAIRN_E_TOO_MANY ||
           code == CAIRN_E_STORE_FULL || code == CAIRN_E_OUT_OF_MEMORY;
}

/* The server or engine accepts nothing from this worker any more. */
static bool is_shut_out(cairn_code code)
{
    return code == CAIRN_E_UNAUTHORIZED || code == CAIRN_E_FORBIDDEN || code == CAIRN_E_CLOSED;
}

static bool is_lost(cairn_code code)
{
    return code == CAIRN_E_LEASE_LOST || code == CAIRN_E_WRONG_STATE ||
           code == CAIRN_E_NOT_FOUND;
}

static bool is_bad(cairn_code code)
{
    return code == CAIRN_E_BAD_INPUT || code == CAIRN_E_BAD_JSON || code == CAIRN_E_TOO_LARGE;
}

void worker_fail(struct cairn_worker *worker, cairn_code code, const cairn_error *why)
{
    if (!worker->code) {
        worker->code = code;
        worker->error = *why;
        worker->error.code = code;
    }
    worker->is_ending = true;
}

static void work_end(struct cairn_work *work)
{
    if (work->is_heartbeat_out)
        work->is_over = true;
    else
        work_free(work);
}

/* A lost run begins anew when its lease has run out; only a rejected token or a closed
 * engine ends the worker. */
void passage_ended(struct cairn_worker *worker, struct cairn_work *work)
{
    if (work->end_error && is_shut_out(work->end_error->code))
        worker_fail(worker, work->end_error->code, work->end_error);
    work_end(work);
}

/* What became of one outcome, which has the call's code if the call failed.  True: it is to be
 * tried again later. */
static bool settle(struct cairn_worker *worker, struct cairn_work *work, cairn_code code,
                   const cairn_error *why)
{
    bool is_hopeless = code == CAIRN_OK || is_lost(code) || is_shut_out(code) ||
                       monotonic_us() > work->lease_until_us;
    if (is_shut_out(code))
        worker_fail(worker, code, why);
    if (is_hopeless || (is_bad(code) && work->is_refused)) {
        work_end(work);
        return false;
    }
    if (is_bad(code))
        work_set_refused(work, why->message);
    works_push(&worker->unreported, work);
    return !is_bad(code);
}

/* One bad outcome, or the claim, made the whole call fail: each is sent alone. */
static bool is_to_be_split(const struct call *call)
{
    cairn_code code = call->request->code;
    return code && !code_is_retryable(code) && !is_shut_out(code) &&
           (call->works.count > 1 || call->slots);
}

void report_answered(struct cairn_worker *worker, struct call *call)
{
    const struct request *request = call->request;
    bool is_split = is_to_be_split(call), is_late = false;
    struct cairn_work *work;

    for (size_t i = 0; (work = works_pop(&call->works)); i++) {
        if (is_split) {
            work->is_alone = true;
            works_push(&worker->unreported, work);
        } else if (request->code) {
            is_late |= settle(worker, work, request->code, &request->error);
        } else {
            const cairn_reported *reported = &request->out.reported[i];
            is_late |= settle(worker, work, reported->code, &reported->error);
        }
    }
    if (is_late)
        rest_begin(&worker->report_rest);
    else
        worker->report_rest = (struct rest){0};
}
