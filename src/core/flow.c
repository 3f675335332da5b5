/* core/flow.c - the single door through which states change, and how an instance comes to rest.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "core/counter.h"
#include "core/flow_inside.h"

#include <assert.h>
#include <string.h>

/* ---- states --------------------------------------------------------------------------------- */

/* Which of the instance's counts a step belongs to; NULL: none. */
static int32_t *count_of(struct flow *flow, const struct step_row *row)
{
    struct instance_row *instance = flow->instance;
    switch (row->status) {
    case STEP_READY:
        return &instance->active_count;
    case STEP_RUNNING:
        return row->stop ? NULL : &instance->active_count;
    case STEP_WAITING:
        if (row->kind == KIND_FUNCTION)
            return NULL; /* what it waits for is counted */
        return row->kind == KIND_WAIT ? &instance->wait_count : &instance->sleep_count;
    case STEP_WAITING_DECISION:
        return &instance->decision_count;
    case STEP_PAUSED:
        return &instance->parked_count;
    default:
        return NULL;
    }
}

static void count(struct flow *flow, const struct step_row *row, int32_t by)
{
    int32_t *which = count_of(flow, row);
    if (which) {
        *which += by;
        assert(*which >= 0);
        flow->is_dirty = true;
    }
}

void step_touch(struct flow *flow, struct flow_step *step)
{
    step->is_dirty = true;
    step->row.updated_at_us = flow->now_us;
}

/* Workers may still have the memory of a function: a step that had ended was thought to stay so. */
static void change_remembered(struct flow *flow)
{
    flow->instance->revision = revision_of_next_edition(flow->instance->revision);
    flow->is_dirty = true;
}

static void change_status(struct flow *flow, struct flow_step *step, enum step_status to)
{
    if (flow->instance->is_function && step->row.seq > 0 && step_is_ended(step->row.status))
        change_remembered(flow);
    count(flow, &step->row, -1);
    step->row.status = to;
    count(flow, &step->row, +1);
    if (step_is_ended(to) && !step->row.finished_at_us)
        step->row.finished_at_us = flow->now_us;
    step_touch(flow, step);
}

void step_set(struct flow *flow, struct flow_step *step, enum step_status to)
{
    assert(step_may(step->row.status, to, false));
    change_status(flow, step, to);
}

void step_reopen(struct flow *flow, struct flow_step *step, enum step_status to)
{
    assert(step_may(step->row.status, to, true));
    change_status(flow, step, to);
}

void step_set_stop(struct flow *flow, struct flow_step *step, enum step_stop stop)
{
    count(flow, &step->row, -1);
    step->row.stop = stop;
    count(flow, &step->row, +1);
    step_touch(flow, step);
}

void step_drop_lease(struct flow_step *step)
{
    step->row.locked_by = NULL;
    step->row.token = NULL;
    step->row.locked_until_us = 0;
    step->row.call_until_us = 0;
    step->row.due_at_us = 0;
}

bool step_has_lease(const struct flow_step *step)
{
    return step->row.locked_by != NULL;
}

void step_stop_waiting(struct flow_step *step)
{
    step->row.is_ready = step->row.is_held = false;
    step->row.waiting_event = NULL;
    step->row.deadline_at_us = 0;
    step->row.due_at_us = step_has_lease(step) ? step->row.locked_until_us + 1 : 0;
}

void step_number(struct flow *flow, struct flow_step *step)
{
    step->row.commit_no = flow->instance->commits = counter_after64(flow->instance->commits);
    flow->is_dirty = true;
    step_touch(flow, step);
}

void instance_set(struct flow *flow, enum instance_status to, bool is_reopening)
{
    assert(instance_may(flow->instance->status, to, is_reopening));
    (void)is_reopening; /* without assertions */
    flow->instance->status = to;
    flow->instance->paused_by = flow->instance->paused_reason = NULL;
    flow->instance->paused_at_us = to == INSTANCE_PAUSED ? flow->now_us : 0;
    flow->is_dirty = true;
}

bool flow_is_frozen(const struct flow *flow)
{
    return flow->instance->status == INSTANCE_PAUSED || flow->instance->status == INSTANCE_DLQ;
}

cairn_code flow_note(struct flow *flow, const char *type, const struct flow_step *step,
                     const struct flow_facts *facts)
{
    return flow->source->note(flow, type, step, facts);
}

cairn_code instance_turn(struct flow *flow, enum instance_status to, const char *type)
{
    instance_set(flow, to, false);
    return flow_note(flow, type, NULL, FACTS(0));
}

/* ---- ready ---------------------------------------------------------------------------------- */

/* What a function remembers has no type: it is called within a run, never claimed. */
static void make_claimable(const struct flow *flow, struct flow_step *step)
{
    struct step_row *row = &step->row;
    row->is_ready = row->next_run_at_us <= flow->now_us && row->task_type;
    row->due_at_us = row->is_ready || !row->task_type ? 0 : row->next_run_at_us;
}

cairn_code step_make_ready(struct flow *flow, struct flow_step *step, int64_t at_us,
                           const char *reason)
{
    struct step_row *row = &step->row;
    bool is_undo = row->status == STEP_COMPENSATION;
    row->next_run_at_us = at_us;
    if (!is_undo) {
        row->task_type = row->handler;
        if (row->status != STEP_READY)
            step_set(flow, step, STEP_READY);
    }
    row->is_held = !is_undo && flow_is_frozen(flow);
    if (row->is_held) {
        row->is_ready = false;
        row->due_at_us = 0;
    } else {
        make_claimable(flow, step);
    }
    step_touch(flow, step);
    if (is_undo || (row->attempts && !reason) || (reason && !*reason))
        return CAIRN_OK; /* compensation_ and step_retry events tell it, or the caller does */
    return flow_note(flow, "step_ready", step, FACTS(.reason = reason));
}

/* ---- ending well ---------------------------------------------------------------------------- */

cairn_code step_pass(struct flow *flow, struct flow_step *step, const char *signal)
{
    bool has_arrived = false;
    step->row.is_held = false;
    if (flow->instance->status == INSTANCE_DLQ)
        TRY(join_reached_frozen(flow, step, &has_arrived));
    if (has_arrived)
        return CAIRN_OK;
    if (flow_is_frozen(flow)) {
        step->row.is_held = true;
        step->row.signal = signal;
        step_touch(flow, step);
        return CAIRN_OK;
    }
    return token_add(flow, step->row.next, step_passed(&step->row), signal, step);
}

cairn_code step_complete(struct flow *flow, struct flow_step *step, const char *output,
                         const char *signal)
{
    bool is_human = step->row.kind == KIND_HUMAN;
    const char *flaw;
    step->row.output = output;
    TRY(step_make_output(flow, step, &flaw));
    if (flaw)
        return step_fail(flow, step, flaw, counter_after(step->row.attempts));
    step->row.error = NULL;
    step->row.signal = signal;
    if (step->row.status != STEP_CONFIRMED)
        step_set(flow, step, is_human ? STEP_CONFIRMED : STEP_COMPLETED);
    step_number(flow, step);
    TRY(flow->source->clear_error(flow, &flow->instance->last_error, step->row.name));
    TRY(flow_note(flow, "step_completed", step, FACTS(0)));
    return step_pass(flow, step, signal);
}

/* ---- coming to rest ------------------------------------------------------------------------- */

static const char *end_event(enum instance_status status)
{
    switch (status) {
    case INSTANCE_COMPLETED:
        return "workflow_completed";
    case INSTANCE_CANCELLED:
        return "workflow_cancelled";
    case INSTANCE_ABORTED:
        return "workflow_aborted";
    default:
        return "workflow_failed";
    }
}

cairn_code flow_finish(struct flow *flow, enum instance_status status)
{
    struct instance_row *instance = flow->instance;
    instance_set(flow, status, false);
    instance->goal = GOAL_NONE;
    instance->finished_at_us = flow->now_us;
    bool is_stopped = status == INSTANCE_CANCELLED || status == INSTANCE_ABORTED;
    instance->is_telling |=
        (instance->parent && !instance->is_told) || (is_stopped && instance->child_count);
    return flow_note(flow, end_event(status), NULL,
                     FACTS(.by = instance->stop_by, .reason = instance->stop_reason));
}

/* Something is parked, and nothing else is to be done: dlq (again). */
static cairn_code follow_parked(struct flow *flow)
{
    const struct instance_row *instance = flow->instance;
    bool is_idle = !instance->active_count && !instance->wait_count && !instance->sleep_count &&
                   !instance->decision_count;
    if (instance->status != INSTANCE_RUNNING || instance->goal || !is_idle ||
        !instance->parked_count)
        return CAIRN_OK;
    return instance_turn(flow, INSTANCE_DLQ, "workflow_dlq");
}

/* A wait step waits, and nothing else is to be done: waiting_signal. */
static cairn_code follow_counts(struct flow *flow)
{
    const struct instance_row *instance = flow->instance;
    bool is_waiting =
        instance->wait_count > 0 && instance->active_count == 0 && instance->sleep_count == 0;
    if (instance->status == INSTANCE_RUNNING && is_waiting && !instance->goal)
        return instance_turn(flow, INSTANCE_WAITING_SIGNAL, "workflow_waiting");
    if (instance->status == INSTANCE_WAITING_SIGNAL && !is_waiting)
        return instance_turn(flow, INSTANCE_RUNNING, "workflow_running");
    return CAIRN_OK;
}

/* A token that is stopped: the step that sent it holds it, else the step that would receive it.  With
 * a goal it is dropped. */
static cairn_code token_stop(struct flow *flow, const struct flow_token *token)
{
    struct flow_step *step = token->from;
    if (!flow_is_frozen(flow))
        return CAIRN_OK;
    if (!step) {
        TRY(flow->source->step(flow, token->seq, &step));
        if (!step)
            return CAIRN_OK; /* deleted: no step can hold it */
        step->row.input = token->input;
    }
    step->row.is_held = true;
    step->row.signal = token->signal;
    step_touch(flow, step);
    return CAIRN_OK;
}

/* What a token sends on goes before those that were there: one branch is walked until it rests, then the
 * next one in the file. */
cairn_code flow_settle(struct flow *flow)
{
    struct flow_token *token;
    while ((token = flow->tokens) != NULL) {
        flow->tokens = token->next;
        flow->token_slot = &flow->tokens;
        bool is_stopped = flow->instance->goal || flow_is_frozen(flow);
        TRY(is_stopped ? token_stop(flow, token) : token_move(flow, token));
    }
    flow->token_slot = NULL;
    TRY(follow_counts(flow));
    return follow_parked(flow);
}

cairn_code flow_start(struct flow *flow)
{
    struct instance_row *instance = flow->instance;
    instance->started_at_us = flow->now_us;
    TRY(instance_turn(flow, INSTANCE_RUNNING, "workflow_started"));
    TRY(flow_begin(flow));
    return flow_settle(flow);
}

/* ---- waiting -------------------------------------------------------------------------------- */

static const char *awaited_event(const struct flow_step *step)
{
    return step->row.status == STEP_WAITING && step->row.kind != KIND_SLEEP
               ? step->row.waiting_event
               : NULL;
}

/* A signal has come for a step that waits: the wait step ends, a handler is called again. */
static cairn_code wake(struct flow *flow, struct flow_step *step,
                       const struct taken_signal *signal)
{
    step_stop_waiting(step);
    if (flow->instance->is_function)
        return step_complete(flow, step, signal->payload, NULL);
    if (step->row.kind == KIND_WAIT)
        return step_complete(flow, step, step->row.input, signal->json);
    step->row.signal = signal->json;
    return step_make_ready(flow, step, flow->now_us, "signal");
}

cairn_code step_arm(struct flow *flow, struct flow_step *step)
{
    struct step_row *row = &step->row;
    const char *event = awaited_event(step);
    row->is_held = flow_is_frozen(flow);
    row->due_at_us = row->is_held ? 0 : row->deadline_at_us;
    step_touch(flow, step);
    if (!event || row->is_held)
        return CAIRN_OK;

    struct taken_signal signal;
    int64_t until_us = row->deadline_at_us ? row->deadline_at_us : INT64_MAX;
    TRY(flow->source->take_signal(flow, step, event, until_us, &signal));
    return signal.json ? wake(flow, step, &signal) : CAIRN_OK;
}

cairn_code flow_is_awaited(struct flow *flow, const char *event, bool *ret_is_awaited)
{
    struct step_list steps;
    *ret_is_awaited = false;
    TRY(flow->source->current(flow, &steps));
    for (size_t i = 0; i < steps.count; i++) {
        const char *awaited = awaited_event(steps.items[i]);
        bool is_in_time = !steps.items[i]->row.deadline_at_us ||
                          flow->now_us <= steps.items[i]->row.deadline_at_us;
        if (awaited && is_in_time && strcmp(awaited, event) == 0)
            *ret_is_awaited = true;
    }
    return CAIRN_OK;
}

cairn_code flow_signal(struct flow *flow, const char *event, bool *ret_is_taken)
{
    struct step_list steps;
    *ret_is_taken = false;
    if (flow_is_frozen(flow) || flow->instance->goal ||
        flow->instance->wait_count + flow->instance->sleep_count == 0)
        return CAIRN_OK;
    TRY(flow->source->current(flow, &steps));
    for (size_t i = 0; i < steps.count && !*ret_is_taken; i++) {
        const char *awaited = awaited_event(steps.items[i]);
        if (!awaited || strcmp(awaited, event) != 0)
            continue;
        TRY(step_arm(flow, steps.items[i]));
        *ret_is_taken = steps.items[i]->row.status != STEP_WAITING;
    }
    return flow_settle(flow);
}
