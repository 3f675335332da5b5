/* trial/work.c - claims and outcomes of a worker whose calls go wrong.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "trial/trial.h"

#include "base/clock.h"
#include "base/mem.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define INJECTED "an injected failure"

/* ---- calls ------------------------------------------------------------------------------------- */

static struct call *find_call(const struct trial *trial, const char *task_id, const char *token)
{
    for (size_t i = trial->calls.count; task_id && token && i-- > 0;) {
        struct call *call = trial->calls.items[i];
        if (strcmp(call->token, token) == 0 && strcmp(call->task_id, task_id) == 0)
            return call;
    }
    return NULL;
}

static size_t count_calls(const struct trial *trial, const struct call *like)
{
    size_t count = 0;
    for (size_t i = 0; i < trial->calls.count; i++)
        count += trial->calls.items[i]->instance == like->instance &&
                 strcmp(trial->calls.items[i]->name, like->name) == 0;
    return count;
}

static const char *call_name(struct trial *trial, const cairn_task *task)
{
    bool is_undo = task->kind_code == CAIRN_TASK_COMPENSATION;
    bool is_step = task->step && task->kind_code != CAIRN_TASK_FUNCTION;
    return arena_printf(&trial->arena, is_undo ? "%s:undo" : "%s",
                        is_step ? task->step : task->type);
}

static struct call *begin_call(struct trial *trial, const char *worker, const cairn_task *task)
{
    struct arena *arena = &trial->arena;
    struct call **place = list_add(arena, &trial->calls);
    struct call *call = arena_zalloc(arena, sizeof *call);
    if (!place || !call)
        return NULL;
    trial->calls.count--; /* not counted among its like yet */
    call->task_id = arena_strdup(arena, task->id);
    call->token = arena_strdup(arena, task->token);
    call->worker = arena_strdup(arena, worker);
    call->name = call->told = call_name(trial, task);
    call->instance = task->instance_id ? trial_instance(trial, task->instance_id) : 0;
    if (call->name && call->instance > 1)
        call->told = arena_printf(arena, "%s of instance %" PRId32, call->name, call->instance);
    if (!call->task_id || !call->token || !call->worker || !call->name || !call->told)
        return NULL;
    call->is_function = task->kind_code == CAIRN_TASK_FUNCTION;
    call->lease_until_us = task->lease_until_us;
    call->deadline_us = task->deadline_us;
    call->number = count_calls(trial, call);
    call->fate = fate_draw(trial, call);
    trial->calls.count++;
    *place = call;
    return call;
}

static void tell_call(struct trial *trial, const struct call *call, const cairn_task *task)
{
    char again[64] = "";
    if (task->attempt > 1)
        snprintf(again, sizeof again, " again, call %" PRId32 " of %" PRId32, task->attempt,
                 task->max_attempts);
    trial_tell(trial, "%s is called%s", call->told, again);
}

/* ---- outcomes that the trial itself sends ------------------------------------------------------ */

/* The code of the one report. */
static cairn_code send(struct trial *trial, const char *worker, cairn_report *report,
                       cairn_reported *ret_reported)
{
    cleanup(request_freep) struct request *request = request_new(OP_REPORT);
    cairn_report copy = *report; /* the engine cuts long texts */
    *ret_reported = (cairn_reported){0};
    if (!request) {
        ret_reported->code = fail_memory(&ret_reported->error);
    } else {
        request->in.report =
            (struct report_input){.worker = worker, .reports = &copy, .count = 1};
        if (trial_forward(trial, request)) {
            ret_reported->code = request->code;
            ret_reported->error = request->error;
        } else {
            *ret_reported = *request->out.reported;
        }
    }
    return ret_reported->code;
}

static void fail_call(struct trial *trial, const struct call *call)
{
    cairn_reported reported;
    cairn_report report = CAIRN_REPORT_DEFAULTS;
    report.task_id = call->task_id;
    report.token = call->token;
    report.outcome = CAIRN_FAIL;
    report.error = INJECTED;
    send(trial, call->worker, &report, &reported);
    trial_tell(trial, "%s fails before it does anything", call->told);
}

/* Keeps the lease until the call has timed out. */
static void hang(struct trial *trial, struct call *call)
{
    cleanup(request_freep) struct request *request = request_new(OP_HEARTBEAT);
    int64_t ms = (call->deadline_us - trial->now_us) / US_PER_MS;
    trial_tell(trial, "%s has done its work, and does not answer until its timeout",
               call->told);
    call->is_crashed = true;
    if (!request || ms <= 0)
        return;
    request->in.heartbeat =
        (struct heartbeat_input){.worker = call->worker,
                                 .task_id = call->task_id,
                                 .token = call->token,
                                 .extend_ms = ms < UINT32_MAX ? (uint32_t)ms : UINT32_MAX};
    if (!trial_forward(trial, request))
        call->lease_until_us = request->out.heartbeat.lease_until_us;
}

/* ---- claims ------------------------------------------------------------------------------------ */

/* Whether the worker is given the task. */
static bool give(struct trial *trial, const char *worker, const cairn_task *task)
{
    struct call *call = begin_call(trial, worker, task);
    if (!call)
        return true;
    tell_call(trial, call, task);
    if (call->fate == FATE_FAIL_FIRST)
        fail_call(trial, call);
    if (call->fate == FATE_CRASH_FIRST)
        trial_tell(trial, "the worker crashes before %s does anything", call->told);
    call->is_crashed = call->fate == FATE_CRASH_FIRST;
    return call->fate != FATE_FAIL_FIRST && call->fate != FATE_CRASH_FIRST;
}

static void give_some(struct trial *trial, const char *worker, struct page_output *page)
{
    size_t kept = 0;
    for (size_t i = 0; i < page->count; i++)
        if (give(trial, worker, &page->tasks[i]))
            page->tasks[kept++] = page->tasks[i];
    page->count = kept;
}

/* An empty answer means that there is nothing, so it is asked again for what was kept back. */
void trial_claim(struct trial *trial, struct request *request)
{
    for (;;) {
        if (trial_forward(trial, request) || request->out.page.count == 0)
            break;
        pthread_mutex_lock(&trial->lock);
        trial_tell_events(trial);
        give_some(trial, request->in.claim.worker, &request->out.page);
        trial_tell_events(trial);
        pthread_mutex_unlock(&trial->lock);
        if (request->out.page.count)
            break;
        request->token[0] = '\0';
        request->wait_until_us = 0;
    }
}

static bool is_any_lost(const struct trial *trial)
{
    for (size_t i = 0; i < trial->calls.count; i++)
        if (trial->calls.items[i]->is_crashed &&
            trial->calls.items[i]->lease_until_us >= trial->now_us)
            return true;
    return false;
}

/* A lease that nobody holds any more is not waited for: only the clock ends it. */
void trial_idle(struct trial *trial, struct request *request)
{
    if (trial_forward(trial, request) || request->out.is_idle)
        return;
    pthread_mutex_lock(&trial->lock);
    request->out.is_idle = is_any_lost(trial);
    pthread_mutex_unlock(&trial->lock);
}

/* ---- outcomes ---------------------------------------------------------------------------------- */

static void tell_outcome(struct trial *trial, const struct call *call,
                         const cairn_report *report)
{
    if (report->outcome == CAIRN_COMPLETE)
        trial_tell(trial, "%s completes", call->told);
    else if (report->outcome == CAIRN_RELEASE)
        trial_tell(trial, "%s is given back", call->told);
    else if (report->outcome == CAIRN_WAIT)
        trial_tell(trial, "%s waits for the event %s", call->told, report->event);
    else
        trial_tell(trial, "%s fails: %s", call->told, report->error ? report->error : "");
}

/* After its handler has succeeded. */
static void spoil(struct trial *trial, const struct call *call, cairn_report *report,
                  const char *error)
{
    trial_tell(trial, "%s has done its work, and fails then", call->told);
    report->outcome = CAIRN_FAIL;
    report->error = error;
    report->output = NULL;
    report->outbound_count = 0;
}

/* Whether the outcome gets lost on its way.  What was given back is no fault's business. */
static bool gets_lost(struct trial *trial, struct call *call, cairn_report *report)
{
    cairn_error error;
    if (report->outcome == CAIRN_RELEASE)
        return false;
    if (call->fate == FATE_CRASH_LAST) {
        trial_tell(trial, "the worker crashes after %s has done its work", call->told);
    } else if (call->fate == FATE_LATE && !trial_keep_late(trial, call, report, &error)) {
        trial_tell(trial, "%s has done its work, and its outcome is delayed", call->told);
    } else if (call->fate == FATE_TIMEOUT && call->deadline_us) {
        hang(trial, call);
    } else {
        return false;
    }
    call->is_crashed = true;
    return true;
}

static void pass_on(struct trial *trial, const char *worker, struct call *call,
                    cairn_report *report, cairn_reported *ret_reported)
{
    bool is_complete = report->outcome == CAIRN_COMPLETE;
    if (gets_lost(trial, call, report))
        return; /* who would be told of it is gone */
    if (is_complete && call->fate == FATE_FAIL_LAST)
        spoil(trial, call, report, INJECTED);
    else if (is_complete && call->fate == FATE_TIMEOUT)
        spoil(trial, call, report, "the call timed out");
    tell_outcome(trial, call, report);
    send(trial, worker, report, ret_reported);
    if (call->fate == FATE_TWICE && !ret_reported->code) {
        cairn_reported again;
        trial_tell(trial, "the outcome of %s arrives a second time", call->told);
        if (send(trial, worker, report, &again))
            trial_blame(trial, "an outcome that arrives twice is accepted twice");
    }
}

/* The claim beside reports comes after them, as one of its own. */
static void claim_beside(struct trial *trial, struct request *request)
{
    struct report_input in = request->in.report;
    request->op = OP_CLAIM;
    request->in.claim = in.claim;
    trial_claim(trial, request);
    request->op = OP_REPORT;
    request->in.report = in;
}

void trial_report(struct trial *trial, struct request *request)
{
    struct report_input *in = &request->in.report;
    request->out.page = (struct page_output){0};
    request->out.reported = arena_array(&request->arena, in->count + 1, sizeof(cairn_reported));
    if (!request->out.reported) {
        request->code = fail_memory(&request->error);
        return;
    }
    pthread_mutex_lock(&trial->lock);
    if (fate_restarts(trial))
        trial_restart(trial);
    for (size_t i = 0; i < in->count; i++) {
        cairn_report *report = &in->reports[i];
        cairn_reported *reported = &request->out.reported[i];
        struct call *call = find_call(trial, report->task_id, report->token);
        if (call)
            pass_on(trial, in->worker, call, report, reported);
        else
            send(trial, in->worker, report, reported);
    }
    trial_tell_events(trial);
    pthread_mutex_unlock(&trial->lock);
    if (in->is_claiming)
        claim_beside(trial, request);
}

/* ---- functions --------------------------------------------------------------------------------- */

/* The worker is gone before what it has done is committed; it learns of it as if the lease had ended. */
static void crash_commit(struct trial *trial, struct call *call, struct request *request)
{
    const struct commit_input *in = &request->in.commit;
    if (!call->is_crashed)
        trial_tell(trial, "the worker crashes before %s of %s is committed",
                   in->step_count ? in->steps[in->step_count - 1].key : "the end", call->told);
    call->is_crashed = true;
    request->code =
        fail(&request->error, CAIRN_E_LEASE_LOST, "the trial has crashed this worker");
}

void trial_commit(struct trial *trial, struct request *request)
{
    struct commit_input *in = &request->in.commit;
    in->is_claiming = false; /* as with reports */
    pthread_mutex_lock(&trial->lock);
    struct call *call = find_call(trial, in->task_id, in->token);
    if (call && (call->is_crashed || fate_crashes_commit(trial, call)))
        crash_commit(trial, call, request);
    else
        trial_forward(trial, request);
    trial_tell_events(trial);
    pthread_mutex_unlock(&trial->lock);
}
