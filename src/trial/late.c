/* trial/late.c - time: it stops where an outcome arrives late.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "trial/trial.h"

#include "base/clock.h"
#include "base/mem.h"

/* How long after the end of its lease. */
#define LATE_BY_US US_PER_SEC

static struct late *next_late(struct trial *trial)
{
    struct late *first = NULL;
    for (size_t i = 0; i < trial->lates.count; i++) {
        struct late *late = &trial->lates.items[i];
        if (!late->is_over && (!first || late->at_us < first->at_us))
            first = late;
    }
    return first;
}

cairn_code trial_keep_late(struct trial *trial, const struct call *call,
                           const cairn_report *report, cairn_error *reterr)
{
    struct arena *arena = &trial->arena;
    struct late *late = list_add(arena, &trial->lates);
    NEED(late, reterr);
    *late = (struct late){
        .at_us = call->lease_until_us + LATE_BY_US, .call = call, .report = *report};
    late->report.task_id = call->task_id;
    late->report.token = call->token;
    late->report.output = arena_strdup(arena, report->output);
    late->report.error = arena_strdup(arena, report->error);
    late->report.event = arena_strdup(arena, report->event);
    late->report.outbound = NULL; /* it is refused: nothing of it is kept */
    late->report.outbound_count = 0;
    return CAIRN_OK;
}

/* Nobody waits for it any more: it must change nothing. */
static void deliver(struct trial *trial, struct late *late)
{
    cleanup(request_freep) struct request *request = request_new(OP_REPORT);
    late->is_over = true;
    if (!request)
        return;
    request->in.report = (struct report_input){
        .worker = late->call->worker, .reports = &late->report, .count = 1};
    if (trial_forward(trial, request))
        return;
    trial_tell(trial, "the outcome of %s arrives late, and is refused", late->call->told);
    if (!request->out.reported->code)
        trial_blame(trial, "an outcome that arrives after its lease is refused");
}

static cairn_code move(struct trial *trial, int64_t to_us, cairn_error *reterr)
{
    cleanup(request_freep) struct request *request = request_new(OP_CLOCK_ADVANCE);
    NEED(request, reterr);
    int64_t us = to_us > trial->now_us ? to_us - trial->now_us : 0;
    request->in.advance.ms = (us + US_PER_MS - 1) / US_PER_MS;
    if (trial_forward(trial, request)) {
        *reterr = request->error;
        return reterr->code = request->code;
    }
    trial->now_us = request->out.now_us;
    return CAIRN_OK;
}

void trial_advance(struct trial *trial, struct request *request)
{
    int64_t ms = request->in.advance.ms;
    pthread_mutex_lock(&trial->lock);
    int64_t end_us =
        ms > 0 && ms < INT64_MAX / (2 * US_PER_MS) ? trial->now_us + ms * US_PER_MS : 0;
    for (struct late *late = next_late(trial); late && late->at_us <= end_us;
         late = next_late(trial)) {
        request->code = move(trial, late->at_us, &request->error);
        if (request->code)
            break;
        deliver(trial, late);
    }
    if (!request->code) {
        if (end_us)
            request->in.advance.ms = (end_us - trial->now_us) / US_PER_MS;
        if (!trial_forward(trial, request))
            trial->now_us = request->out.now_us;
    }
    trial_tell_events(trial);
    pthread_mutex_unlock(&trial->lock);
}

void trial_clock(struct trial *trial, struct request *request)
{
    if (trial_forward(trial, request) || !request->in.clock.is_next_wanted)
        return;
    pthread_mutex_lock(&trial->lock);
    const struct late *late = next_late(trial);
    if (late && (!request->out.next_us || late->at_us < request->out.next_us))
        request->out.next_us = late->at_us;
    pthread_mutex_unlock(&trial->lock);
}
