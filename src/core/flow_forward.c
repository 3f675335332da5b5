/* core/flow_forward.c - tokens, and what each kind of step does with one.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "core/flow_inside.h"

cairn_code token_put(struct flow *flow, const struct flow_token *from)
{
    struct flow_token *token = arena_alloc(flow->arena, sizeof *token);
    struct flow_token **slot = flow->token_slot ? flow->token_slot : &flow->tokens;
    NEED(token, flow->error);
    *token = *from;
    token->next = *slot;
    *slot = token;
    flow->token_slot = &token->next;
    return CAIRN_OK;
}

cairn_code token_add(struct flow *flow, int32_t seq, const char *input, const char *signal,
                     struct flow_step *from)
{
    return token_put(
        flow, &(struct flow_token){.seq = seq, .input = input, .signal = signal, .from = from});
}

/* Sends a token again to a place that has not had one. */
static cairn_code resend(struct flow *flow, struct flow_step *from, int32_t seq,
                         const char *signal, const struct reopened *only)
{
    struct flow_step *to;
    if (only && !reopened_has(only, seq))
        return CAIRN_OK;
    bool is_rerun_first = seq >= 0 && seq + 1 == flow->instance->rerun_from;
    if (is_rerun_first)
        return CAIRN_OK; /* it begins with what it was given, not with this */
    if (seq < 0)
        return token_add(flow, seq, step_passed(&from->row), signal, from);
    TRY(flow->source->step(flow, seq, &to));
    if (to && to->row.status != STEP_PENDING)
        return CAIRN_OK;
    return token_add(flow, seq, step_passed(&from->row), signal, from);
}

/* A rerun that begins inside of a copied condition goes on there, whichever list the condition had taken. */
static bool is_begun_inside(const struct flow *flow, const struct flow_step *condition)
{
    int32_t first = flow->instance->rerun_from - 1;
    return condition->row.is_copied && (place_is_inside(condition->config->then_list, first) ||
                                        place_is_inside(condition->config->else_list, first));
}

cairn_code token_resend(struct flow *flow, struct flow_step *from, const char *signal,
                        const struct reopened *only)
{
    TRY(flow->source->config(flow, from));
    const struct step_config *config = from->config;
    if (from->row.kind == KIND_FORK) {
        for (size_t i = 0; i < config->branch_count; i++)
            TRY(resend(flow, from, config->branches[i].first, signal, only));
        return CAIRN_OK;
    }
    if (from->row.kind != KIND_CONDITION)
        return resend(flow, from, from->row.next, signal, only);

    if (is_begun_inside(flow, from))
        return CAIRN_OK;
    struct place_range lists[2] = {config->then_list, config->else_list};
    bool has_list = false;
    for (int i = 0; i < 2; i++) {
        struct flow_step *first;
        if (lists[i].first < 0)
            continue;
        TRY(flow->source->step(flow, lists[i].first, &first));
        if (!first)
            continue; /* deleted: as if the list were empty */
        bool is_taken = list_is_taken(&first->row);
        has_list |= is_taken;
        if (is_taken)
            TRY(resend(flow, from, lists[i].first, signal, only));
    }
    return has_list ? CAIRN_OK : resend(flow, from, from->row.next, signal, only);
}

/* ---- kinds ---------------------------------------------------------------------------------- */

static cairn_code begin_wait(struct flow *flow, struct flow_step *step, enum step_status status,
                             int64_t timeout_us)
{
    step->row.waiting_event = step->config->event;
    step->row.deadline_at_us = timeout_us ? instant_add(flow->now_us, timeout_us) : 0;
    step_set(flow, step, status);
    TRY(flow_note(
        flow, "step_waiting", step,
        FACTS(.event = step->row.waiting_event, .run_at_us = step->row.deadline_at_us)));
    return step_arm(flow, step);
}

/* The list that is not taken is skipped in the condition's commit. */
static cairn_code skip_list(struct flow *flow, struct place_range list)
{
    struct step_list steps;
    if (list.first < 0)
        return CAIRN_OK;
    TRY(flow->source->between(flow, STEP_PENDING, list.first, list.last, &steps));
    for (size_t i = 0; i < steps.count; i++) {
        step_set(flow, steps.items[i], STEP_SKIPPED);
        TRY(flow_note(flow, "step_skipped", steps.items[i], FACTS(.reason = "condition")));
    }
    return CAIRN_OK;
}

/* Completes a step whose token goes elsewhere than to `next`. */
static cairn_code complete_here(struct flow *flow, struct flow_step *step)
{
    step->row.output = step->row.input;
    step_set(flow, step, STEP_COMPLETED);
    step_number(flow, step);
    TRY(flow->source->clear_error(flow, &flow->instance->last_error, step->row.name));
    return flow_note(flow, "step_completed", step, FACTS(0));
}

static cairn_code run_condition(struct flow *flow, struct flow_step *step, const char *signal)
{
    const struct step_config *config = step->config;
    bool is_true = false;
    const char *flaw;
    TRY(step_evaluate(flow, step, &is_true, &flaw));
    if (flaw)
        return step_fail(flow, step, flaw, 1);
    struct place_range taken = is_true ? config->then_list : config->else_list;
    TRY(skip_list(flow, is_true ? config->else_list : config->then_list));
    TRY(complete_here(flow, step));
    return token_add(flow, taken.first >= 0 ? taken.first : step->row.next, step->row.input,
                     signal, step);
}

static cairn_code run_fork(struct flow *flow, struct flow_step *step, const char *signal)
{
    TRY(complete_here(flow, step));
    for (size_t i = 0; i < step->config->branch_count; i++)
        TRY(token_add(flow, step->config->branches[i].first, step->row.input, signal, step));
    return CAIRN_OK;
}

static cairn_code fire_join(struct flow *flow, struct flow_step *join)
{
    const char *output;
    TRY(flow->source->join_output(flow, join, true, &output));
    return step_complete(flow, join, output, NULL);
}

/* `any` has been won: whatever else goes on in the fork is no longer wanted. */
static cairn_code stop_losers(struct flow *flow, const struct flow_step *join)
{
    struct step_list steps;
    int32_t fork = join->config->fork;
    TRY(flow->source->between(flow, STEP_NONE, fork + 1, join->row.seq - 1, &steps));
    for (size_t i = 0; i < steps.count; i++)
        TRY(step_supersede(flow, steps.items[i]));
    return CAIRN_OK;
}

/* A branch has arrived; *ret_is_complete: the last one that the join needs. */
static cairn_code arrive(struct flow *flow, struct flow_step *join, bool *ret_is_complete)
{
    join->row.remaining--;
    step_touch(flow, join);
    *ret_is_complete = join->config->is_any || join->row.remaining <= 0;
    return join->config->is_any ? stop_losers(flow, join) : CAIRN_OK;
}

/* What arrives after a join has been completed changes nothing. */
static cairn_code run_join(struct flow *flow, struct flow_step *join)
{
    bool is_complete;
    if (join->row.status != STEP_PENDING)
        return CAIRN_OK;
    if (!join->row.started_at_us)
        join->row.started_at_us = flow->now_us;
    TRY(arrive(flow, join, &is_complete));
    return is_complete ? fire_join(flow, join) : CAIRN_OK;
}

cairn_code join_reached_frozen(struct flow *flow, struct flow_step *step, bool *ret_is_join)
{
    struct flow_step *join = NULL;
    bool is_complete;
    if (step->row.next >= 0)
        TRY(flow->source->step(flow, step->row.next, &join));
    *ret_is_join = join && join->row.kind == KIND_JOIN;
    if (!*ret_is_join || join->row.status != STEP_PENDING)
        return CAIRN_OK;
    TRY(flow->source->config(flow, join));
    TRY(arrive(flow, join, &is_complete));
    if (!is_complete)
        return CAIRN_OK;
    join->row.is_held = true;
    step_set(flow, join, STEP_PAUSED);
    return flow_note(flow, "step_paused", join, FACTS(0));
}

cairn_code join_thaw(struct flow *flow, struct flow_step *join)
{
    TRY(flow->source->config(flow, join));
    join->row.is_held = false;
    return fire_join(flow, join);
}

/* ---- ends ----------------------------------------------------------------------------------- */

static cairn_code complete_instance(struct flow *flow, const char *output)
{
    flow->instance->output = output;
    if (flow->instance->is_function)
        TRY(function_leave(flow));
    if (flow->instance->status == INSTANCE_WAITING_SIGNAL)
        instance_set(flow, INSTANCE_RUNNING, false);
    return flow_finish(flow, INSTANCE_COMPLETED);
}

/* Where the flow goes on when the list that a place belongs to has ended: at the join of the
 * innermost branch around it, or behind the innermost condition.  -1: it is the instance's. */
static cairn_code after_list(struct flow *flow, int32_t place, int32_t *ret_next)
{
    struct step_list steps;
    *ret_next = -1;
    if (place == 0)
        return CAIRN_OK;
    TRY(flow->source->between(flow, STEP_NONE, 0, place - 1, &steps));
    for (size_t i = steps.count; i > 0; i--) {
        const struct flow_step *around = steps.items[i - 1];
        TRY(flow->source->config(flow, steps.items[i - 1]));
        const struct step_config *config = around->config;
        if (around->row.kind == KIND_CONDITION && (place_is_inside(config->then_list, place) ||
                                                   place_is_inside(config->else_list, place))) {
            *ret_next = around->row.next;
            return CAIRN_OK;
        }
        for (size_t k = 0; around->row.kind == KIND_FORK && k < config->branch_count; k++)
            if (place_is_inside(config->branches[k], place)) {
                *ret_next = config->join;
                return CAIRN_OK;
            }
    }
    return CAIRN_OK;
}

static bool is_under_way(const struct flow *flow)
{
    const struct instance_row *instance = flow->instance;
    return flow->tokens || instance->active_count + instance->wait_count +
                                   instance->sleep_count + instance->decision_count +
                                   instance->parked_count >
                               0;
}

/* The row that a token was to come to is not there: its list ends before it.  Without the row of a
 * join several branches end so; the last one of them ends the instance. */
static cairn_code end_list(struct flow *flow, const struct flow_token *token)
{
    int32_t next;
    TRY(after_list(flow, token->seq, &next));
    if (next >= 0)
        return token_add(flow, next, token->input, token->signal, token->from);
    return is_under_way(flow) ? CAIRN_OK : complete_instance(flow, token->input);
}

/* Its input is what has arrived, or what its template makes of that. */
static cairn_code take_input(struct flow *flow, struct flow_step *step,
                             const struct flow_token *token, const char **ret_flaw)
{
    *ret_flaw = NULL;
    if (token->is_made && step->config->input) {
        step->row.passed = token->arrived ? token->arrived : step_arrived(step);
        step->row.input = token->input;
        return CAIRN_OK;
    }
    step->row.input = token->input;
    step->row.passed = NULL;
    return step_make_input(flow, step, ret_flaw);
}

cairn_code token_move(struct flow *flow, const struct flow_token *token)
{
    struct flow_step *step;
    const char *flaw;
    if (token->seq < 0)
        return complete_instance(flow, token->input);
    TRY(flow->source->step(flow, token->seq, &step));
    if (!step)
        return end_list(flow, token);
    if (step->row.kind == KIND_FUNCTION)
        return function_wake(flow, step, token->input);
    TRY(flow->source->config(flow, step));
    if (step->row.kind == KIND_JOIN)
        return run_join(flow, step);
    if (step->row.status != STEP_PENDING)
        return CAIRN_OK; /* its branch was lost while the token was on its way */

    step->row.signal = token->signal; /* for the next handler, and for a retry from here */
    if (step->row.kind != KIND_TASK)
        step->row.started_at_us = flow->now_us;
    TRY(take_input(flow, step, token, &flaw));
    if (!flaw)
        TRY(step_make_group(flow, step, &flaw));
    if (flaw)
        return step_fail(flow, step, flaw, 0);
    switch (step->row.kind) {
    case KIND_TASK:
        return step_make_ready(flow, step, flow->now_us, NULL);
    case KIND_SLEEP:
        return begin_wait(flow, step, STEP_WAITING, step->config->for_us);
    case KIND_WAIT:
        return begin_wait(flow, step, STEP_WAITING, step->config->timeout_us);
    case KIND_HUMAN:
        return begin_wait(flow, step, STEP_WAITING_DECISION, step->config->timeout_us);
    case KIND_START:
        return children_begin(flow, step);
    case KIND_CONDITION:
        return run_condition(flow, step, token->signal);
    case KIND_FORK:
        return run_fork(flow, step, token->signal);
    case KIND_SAVE_POINT:
        return step_complete(flow, step, step->row.input, token->signal);
    default:
        return fail(flow->error, CAIRN_E_INTERNAL, "step \"%s\" is of no kind", step->row.name);
    }
}
