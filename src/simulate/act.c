/* simulate/act.c - invented handlers: each call takes some time and completes, fails, hangs or dies with its worker.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "simulate/run.h"

#include "base/error.h"
#include "base/mem.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* A large claim costs memory for all that it might bring. */
enum { CALL_MS_MAX = 2000, LEASE_MS = 30000, CLAIM_MAX = 64, CLAIM_FEW = 2 };

/* ---- chance ------------------------------------------------------------------------------------ */

static enum fate draw_fate(struct run *run, const char *name)
{
    const struct sim_plan *plan = run->world->plan;
    double drawn = rng_unit(&run->rng);
    double fail = sim_fail_rate(plan->rates, plan->rate_count, name, plan->fail);
    if (drawn < fail)
        return FATE_FAIL;
    drawn = (drawn - fail) / (1 - fail);
    if (drawn < plan->crash)
        return FATE_CRASH;
    return drawn < plan->crash + plan->timeout ? FATE_TIMEOUT : FATE_COMPLETE;
}

/* Within the time that the call has. */
static int64_t draw_end(struct run *run, const cairn_task *task)
{
    int64_t us = (1 + (int64_t)rng_below(&run->rng, CALL_MS_MAX)) * US_PER_MS;
    int64_t left_us = task->deadline_us ? (task->deadline_us - run->now_us) / 2 : us;
    return run->now_us + (us < left_us ? us : left_us);
}

/* ---- a call begins ----------------------------------------------------------------------------- */

static void tell_call(struct run *run, const struct call *call, const cairn_task *task)
{
    char count[48] = "";
    if (task->attempt > 1)
        snprintf(count, sizeof count, " again, call %" PRId32 " of %" PRId32, task->attempt,
                 task->max_attempts);
    tell(run, "%s is called%s", call->name, count);
    if (call->fate == FATE_CRASH)
        tell(run, "the worker crashes during %s", call->name);
    else if (call->fate == FATE_TIMEOUT)
        tell(run, "%s does not answer", call->name);
}

/* A call that hangs keeps its lease: nothing but its timeout ends it. */
static cairn_code hang(struct run *run, const cairn_task *task)
{
    int64_t ms = (task->deadline_us - run->now_us) / US_PER_MS;
    if (ms <= LEASE_MS)
        return CAIRN_OK;
    return cairn_heartbeat(run->world->engine, SIM_WORKER, task->id, task->token,
                           ms < UINT32_MAX ? (uint32_t)ms : UINT32_MAX, NULL, NULL,
                           run->reterr);
}

static cairn_code begin_call(struct run *run, const cairn_task *task)
{
    bool is_undo = task->kind_code == CAIRN_TASK_COMPENSATION;
    if (!member_find(run, task->instance_id))
        TRY(members_look(run, "active"));
    int step = run_step_number(run, task->instance_id, task->step);
    const char *name = step >= 0 ? run->world->steps[step] : task->step;
    struct call call = {.is_undo = is_undo,
                        .step = step,
                        .name = arena_printf(run->arena, is_undo ? "%s:undo" : "%s", name),
                        .task_id = arena_strdup(run->arena, task->id),
                        .token = arena_strdup(run->arena, task->token),
                        .input = arena_strdup(run->arena, task->input ? task->input : "null")};
    NEED(call.name && call.task_id && call.token && call.input, run->reterr);
    call.fate = draw_fate(run, call.name);
    call.at_us = draw_end(run, task);
    if (call.step >= 0 && !is_undo)
        run->end->steps[call.step].is_called = true;
    tell_call(run, &call, task);
    if (call.fate == FATE_CRASH)
        return CAIRN_OK;
    if (call.fate == FATE_TIMEOUT && task->deadline_us)
        return hang(run, task);
    struct call *kept = list_add(run->arena, &run->calls);
    NEED(kept, run->reterr);
    *kept = call;
    run->open_calls++;
    return CAIRN_OK;
}

cairn_code act_begin(struct run *run, const cairn_page *tasks)
{
    for (size_t i = 0; i < cairn_page_count(tasks); i++)
        TRY(begin_call(run, cairn_page_task(tasks, i)));
    return CAIRN_OK;
}

static cairn_claim_options claim_options(const struct run *run)
{
    static const char *const everything[] = {"%"};
    cairn_claim_options options = CAIRN_CLAIM_DEFAULTS;
    options.worker = SIM_WORKER;
    options.types = everything;
    options.type_count = 1;
    options.max = run_is_single(run) ? CLAIM_FEW : CLAIM_MAX;
    options.lease_ms = LEASE_MS;
    return options;
}

cairn_code act_claim(struct run *run)
{
    cleanup(free_pagep) cairn_page *tasks = NULL;
    cairn_claim_options options = claim_options(run);
    TRY(cairn_claim(run->world->engine, &options, &tasks, run->reterr));
    TRY(tell_events(run));
    return act_begin(run, tasks);
}

/* ---- a call ends ------------------------------------------------------------------------------- */

/* What handlers answer is their input; of a compensation it does not matter. */
static cairn_report make_report(const struct call *call)
{
    cairn_report report = CAIRN_REPORT_DEFAULTS;
    report.task_id = call->task_id;
    report.token = call->token;
    if (call->fate == FATE_COMPLETE) {
        report.output = call->is_undo ? NULL : call->input;
    } else {
        report.outcome = CAIRN_FAIL;
        report.error =
            call->fate == FATE_TIMEOUT ? "the call timed out" : "an invented failure";
    }
    return report;
}

/* A report that comes too late, because the step was stopped meanwhile, is nobody's fault. */
static cairn_code end_call(struct run *run, const struct call *call, bool *ret_is_asked)
{
    cleanup(free_pagep) cairn_page *tasks = NULL;
    cairn_claim_options claim = claim_options(run);
    cairn_report report = make_report(call);
    cairn_reported reported;
    TRY(cairn_report_many(run->world->engine, SIM_WORKER, &report, 1, &reported, &claim, &tasks,
                          run->reterr));
    if (reported.code == CAIRN_E_LEASE_LOST)
        tell(run, "%s answers too late: nobody waits for it any more", call->name);
    else if (reported.code)
        return fail(run->reterr, reported.code, "%s", reported.error.message);
    else if (call->fate == FATE_COMPLETE)
        tell(run, "%s completes", call->name);
    else
        tell(run, "%s fails: %s", call->name, report.error);
    if (!reported.code && call->fate == FATE_COMPLETE && call->step >= 0)
        TRY(run_note_success(run, call->step, call->is_undo));
    TRY(tell_events(run));
    *ret_is_asked |= run_is_single(run) || (tasks && cairn_page_count(tasks) > 0);
    return tasks ? act_begin(run, tasks) : CAIRN_OK;
}

/* Calls that begin meanwhile are at the end of the list, and are not due yet. */
cairn_code act_end_due(struct run *run, bool *ret_is_asked)
{
    *ret_is_asked = false;
    for (size_t i = 0; i < run->calls.count; i++) {
        struct call call = run->calls.items[i];
        if (call.is_over || call.at_us > run->now_us)
            continue;
        run->calls.items[i].is_over = true;
        run->open_calls--;
        TRY(end_call(run, &call, ret_is_asked));
    }
    if (run->open_calls == 0)
        run->calls.count = 0;
    return CAIRN_OK;
}
