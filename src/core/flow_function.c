/* core/flow_function.c - a function: what its runs leave behind, and when the next one begins.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * Place 0 is the function itself, the *runner*: claimed and leased like a task.  What it remembers
 * stands at the places behind it.  Sleeps and waits among those are carried out like those of a
 * workflow; their token goes to place 0 and wakes the runner.
 */
#include "core/effect.h"
#include "core/flow_inside.h"

#include <assert.h>
#include <string.h>

/* ---- waking --------------------------------------------------------------------------------- */

cairn_code function_wake(struct flow *flow, struct flow_step *runner, const char *input)
{
    switch (runner->row.status) {
    case STEP_PENDING:
        runner->row.input = input;
        return step_make_ready(flow, runner, flow->now_us, NULL);
    case STEP_READY:
        if (runner->row.next_run_at_us <= flow->now_us)
            return CAIRN_OK;
        return step_make_ready(flow, runner, flow->now_us, "woken");
    case STEP_WAITING:
        return step_make_ready(flow, runner, flow->now_us, "woken");
    case STEP_RUNNING: /* the run may have read its memory before: another one will see it */
        flow->instance->is_woken = true;
        flow->is_dirty = true;
        return CAIRN_OK;
    default:
        return CAIRN_OK;
    }
}

/* Without its row a function cannot go on, nor end. */
cairn_code function_runner(struct flow *flow, struct flow_step **ret_runner)
{
    TRY(flow->source->step(flow, 0, ret_runner));
    if (*ret_runner)
        return CAIRN_OK;
    return fail(flow->error, CAIRN_E_INTERNAL, "function %s has no row of its own",
                flow->instance->id);
}

/* ---- remembering ---------------------------------------------------------------------------- */

/* A sleep or a wait that is there belongs to the engine, what has ended stays as it is, and a call
 * that failed is counted once: a commit that comes twice changes nothing. */
static bool is_settled(const struct step_row *row, const struct memo *memo)
{
    bool is_counted = row->status == STEP_READY && memo->status == STEP_READY &&
                      memo->attempts <= row->attempts;
    return is_counted || step_is_ended(row->status) || row->kind == KIND_SLEEP ||
           row->kind == KIND_WAIT;
}

static cairn_code note_ended(struct flow *flow, struct flow_step *step, enum step_status status)
{
    if (step->row.status == STEP_READY)
        step_set(flow, step, STEP_RUNNING); /* it was called once more */
    step_set(flow, step, status);
    step_number(flow, step);
    if (status == STEP_COMPLETED)
        TRY(flow->source->clear_error(flow, &flow->instance->last_error, step->row.name));
    return flow_note(flow, status == STEP_FAILED ? "step_failed" : "step_completed", step,
                     FACTS(.error = step->row.error, .has_retry_count = step->row.attempts > 0,
                           .retry_count = step->row.attempts));
}

/* The run took the oldest signal of this event that its claim had brought.  No other run takes
 * signals while it holds the lease, so it is still the oldest. */
static cairn_code take_again(struct flow *flow, struct flow_step *step, const struct memo *memo)
{
    struct taken_signal signal;
    TRY(flow->source->take_signal(flow, step, memo->event, INT64_MAX, &signal));
    if (!signal.json || strcmp(signal.id, memo->signal_id) != 0)
        return fail(flow->error, CAIRN_E_CONFLICT,
                    "step \"%.64s\" cannot take signal \"%.64s\": it is not the oldest of its "
                    "event",
                    memo->key, memo->signal_id);
    step->row.output = signal.payload;
    return CAIRN_OK;
}

static cairn_code remember_failed(struct flow *flow, struct flow_step *step,
                                  const struct memo *memo)
{
    int32_t attempt = memo->attempts ? memo->attempts : 1;
    TRY(flow->source->set_error(flow, &flow->instance->last_error, memo->key, memo->error,
                                attempt));
    return note_ended(flow, step, STEP_FAILED);
}

/* It will be called again, in a run that begins then. */
static cairn_code remember_retry(struct flow *flow, struct flow_step *step,
                                 const struct memo *memo)
{
    TRY(flow->source->set_error(flow, &flow->instance->last_error, memo->key, memo->error,
                                memo->attempts));
    step->row.next_run_at_us = instant_add(flow->now_us, memo->delay_us);
    if (step->row.status != STEP_READY)
        step_set(flow, step, STEP_READY);
    return flow_note(flow, "step_retry", step,
                     FACTS(.error = memo->error, .has_retry_count = true,
                           .retry_count = memo->attempts,
                           .run_at_us = step->row.next_run_at_us));
}

static int64_t wait_deadline(const struct flow *flow, const struct memo *memo)
{
    if (memo->kind == KIND_SLEEP)
        return memo->until_us ? memo->until_us : instant_add(flow->now_us, memo->delay_us);
    return memo->timeout_us < 0 ? 0 : instant_add(flow->now_us, memo->timeout_us);
}

static cairn_code remember_waiting(struct flow *flow, struct flow_step *step,
                                   const struct memo *memo)
{
    step->row.waiting_event = memo->event;
    step->row.deadline_at_us = wait_deadline(flow, memo);
    step_set(flow, step, STEP_WAITING);
    TRY(flow_note(flow, "step_waiting", step,
                  FACTS(.event = memo->event, .run_at_us = step->row.deadline_at_us)));
    return step_arm(flow, step);
}

static cairn_code insert_memo(struct flow *flow, const struct memo *memo,
                              struct flow_step **ret_step)
{
    struct flow_step *runner;
    TRY(function_runner(flow, &runner));
    bool is_waking = memo->kind == KIND_SLEEP || memo->kind == KIND_WAIT;
    struct step_row row = {
        .instance_id = flow->instance->id,
        .instance_seq = flow->instance->seq,
        .seq = memo->seq,
        .name = memo->key,
        .kind = memo->kind,
        .max_attempts = memo->max_attempts,
        .priority = 50,
        .next = is_waking ? 0 : -1,
        .scope_fork = -1,
        .config = memo->config,
        .instance_metadata = memo->has_compensation ? flow->instance->metadata : NULL,
        .group = flow->instance->group,
        .status = STEP_PENDING,
        .input = memo->input ? memo->input : "null",
        .past_effects =
            effect_find(runner->row.function_effects, memo->key, runner->row.past_effects),
    };
    flow->instance->places = memo->seq + 1;
    flow->instance->has_compensation |= memo->has_compensation;
    flow->is_dirty = true;
    return flow->source->insert(flow, &row, ret_step);
}

static cairn_code forget_one(struct flow *flow, struct flow_step *step)
{
    if (step->row.kind == KIND_WAIT)
        TRY(flow->source->untake_signals(flow, step));
    TRY(step_plan_again(flow, step)); /* leaves the counts */
    return flow->source->forget(flow, &step, 1);
}

/* *ret_is_news: it was not known. */
static cairn_code remember(struct flow *flow, const struct memo *memo, bool *ret_is_news)
{
    struct flow_step *step = NULL;
    bool is_new = memo->seq == flow->instance->places;
    *ret_is_news = is_new;
    if (is_new && memo->status == STEP_NONE) {
        flow->instance->places = memo->seq + 1;
        flow->is_dirty = true;
        return CAIRN_OK;
    }
    if (is_new)
        TRY(insert_memo(flow, memo, &step));
    else
        TRY(flow->source->step(flow, memo->seq, &step)); /* NULL: it was forgotten */
    *ret_is_news = step != NULL;
    if (memo->status == STEP_NONE)
        return step ? forget_one(flow, step) : CAIRN_OK;
    assert(step); /* by find_flaw() */
    *ret_is_news = is_new || !is_settled(&step->row, memo);
    if (!*ret_is_news)
        return CAIRN_OK;

    struct step_row *row = &step->row;
    row->is_held = false; /* it awaited its retry when the instance was paused */
    row->attempts = memo->attempts;
    row->error = memo->status == STEP_COMPLETED ? NULL : memo->error;
    row->output = memo->status == STEP_COMPLETED ? memo->output ? memo->output : "null" : NULL;
    if (!row->started_at_us)
        row->started_at_us = flow->now_us;
    step_touch(flow, step);
    switch (memo->status) {
    case STEP_FAILED:
        return remember_failed(flow, step, memo);
    case STEP_READY:
        return remember_retry(flow, step, memo);
    case STEP_WAITING:
        return remember_waiting(flow, step, memo);
    default:
        if (memo->kind == KIND_WAIT)
            TRY(take_again(flow, step, memo));
        return note_ended(flow, step, STEP_COMPLETED);
    }
}

/* ---- what may be committed ------------------------------------------------------------------ */

static bool is_forgotten_before(const struct passage_commit *commit, size_t index)
{
    for (size_t i = 0; i < index; i++)
        if (commit->memos[i].seq == commit->memos[index].seq &&
            commit->memos[i].status == STEP_NONE)
            return true;
    return false;
}

/* Places are known ones, or the next, in order; one that the commit forgets is not used again.  A new one
 * may be forgotten as well: the code has given that step up, and its place stays free. */
static cairn_code find_flaw(struct flow *flow, const struct passage_commit *commit,
                            const char **ret_flaw)
{
    int32_t next = flow->instance->places;
    *ret_flaw = NULL;
    for (size_t i = 0; i < commit->memo_count && !*ret_flaw; i++) {
        const struct memo *memo = &commit->memos[i];
        struct flow_step *step = NULL;
        *ret_flaw = memo_flaw(memo);
        if (*ret_flaw)
            continue;
        if (memo->seq >= flow->instance->places) {
            if (memo->seq != next++)
                *ret_flaw = "a new step has the next place";
            continue;
        }
        TRY(flow->source->step(flow, memo->seq, &step));
        if (!step && memo->status == STEP_NONE)
            continue; /* forgotten already: the commit has come twice */
        if (memo->status && is_forgotten_before(commit, i))
            *ret_flaw = "a step that was forgotten in this commit is named again";
        bool is_other = !step || strcmp(step->row.name, memo->key) != 0 ||
                        (memo->status && step->row.kind != memo->kind);
        if (is_other)
            *ret_flaw = "another step is remembered at this place, or none";
    }
    return CAIRN_OK;
}

/* ---- how it goes on ------------------------------------------------------------------------- */

static const struct memo *find_key(const struct passage_commit *commit, const char *key)
{
    for (size_t i = 0; i < commit->memo_count; i++)
        if (strcmp(commit->memos[i].key, key) == 0)
            return &commit->memos[i];
    return NULL;
}

/* last_error names the step whose error it is, though the function is what failed. */
static cairn_code blame(struct flow *flow, const struct passage_commit *commit)
{
    if (!commit->failed_step)
        return CAIRN_OK;
    const struct memo *memo = find_key(commit, commit->failed_step);
    return flow->source->set_error(flow, &flow->instance->last_error, commit->failed_step,
                                   commit->error, memo && memo->attempts ? memo->attempts : 1);
}

/* The earliest retry among what is remembered; INT64_MAX: there is none.  One that was due before this run
 * began was passed over by it, since the code suspends at an earlier step whose retry is not due, and
 * would be by the next run: it waits for the others, if there are any. */
static cairn_code next_retry(struct flow *flow, const struct flow_step *runner,
                             const struct passage_commit *commit, int64_t *ret_at_us)
{
    struct step_list steps;
    size_t known = 0;
    int64_t passed_us = INT64_MAX;
    size_t others = (size_t)flow->instance->active_count - 1; /* beside the runner */
    *ret_at_us = INT64_MAX;
    for (size_t i = 0; i < commit->memo_count; i++) {
        if (commit->memos[i].status != STEP_READY)
            continue;
        int64_t at_us = instant_add(flow->now_us, commit->memos[i].delay_us);
        if (at_us < *ret_at_us)
            *ret_at_us = at_us;
        known++;
    }
    if (known >= others)
        return CAIRN_OK;
    TRY(flow->source->current(flow, &steps));
    for (size_t i = 0; i < steps.count; i++) {
        const struct step_row *row = &steps.items[i]->row;
        if (row->seq == 0 || row->status != STEP_READY)
            continue;
        int64_t *at_us =
            row->next_run_at_us <= runner->row.next_run_at_us ? &passed_us : ret_at_us;
        if (row->next_run_at_us < *at_us)
            *at_us = row->next_run_at_us;
    }
    if (*ret_at_us == INT64_MAX)
        *ret_at_us = passed_us;
    return CAIRN_OK;
}

static cairn_code suspend(struct flow *flow, struct flow_step *runner,
                          const struct passage_commit *commit)
{
    struct instance_row *instance = flow->instance;
    int64_t at_us;
    bool is_woken = instance->is_woken;
    TRY(next_retry(flow, runner, commit, &at_us));
    bool is_waiting = instance->wait_count + instance->sleep_count > 0 || flow->tokens;
    instance->is_woken = false;
    flow->is_dirty = true;
    /* Forced code may have left a wait behind that is not what it was paused for. */
    bool is_unsure = instance->is_forced && flow_is_frozen(flow);
    if (is_woken || is_unsure || (at_us == INT64_MAX && !is_waiting))
        return step_make_ready(flow, runner, flow->now_us, "woken");
    if (at_us != INT64_MAX)
        return step_make_ready(flow, runner, at_us, "retry");
    runner->row.next_run_at_us = 0;
    step_set(flow, runner, STEP_WAITING);
    return flow_note(flow, "step_waiting", runner, FACTS(0));
}

/* Its code is another than the one that is remembered: a person decides. */
static cairn_code pause_mismatched(struct flow *flow, struct flow_step *runner,
                                   const struct passage_commit *commit)
{
    TRY(flow->source->set_error(flow, &flow->instance->last_error, runner->row.name,
                                commit->error, 1));
    TRY(blame(flow, commit));
    if (flow->instance->status != INSTANCE_PAUSED) {
        instance_set(flow, INSTANCE_PAUSED, false);
        flow->instance->paused_reason = PAUSED_BY_MISMATCH;
        TRY(flow_note(flow, "workflow_paused", NULL,
                      FACTS(.reason = PAUSED_BY_MISMATCH, .error = commit->error)));
    }
    TRY(step_make_ready(flow, runner, flow->now_us, PAUSED_BY_MISMATCH));
    return flow_freeze(flow);
}

static cairn_code go_on(struct flow *flow, struct flow_step *runner,
                        const struct passage_commit *commit)
{
    switch (commit->outcome) {
    case PASSAGE_COMPLETE:
        return step_complete(flow, runner, commit->output, NULL);
    case PASSAGE_FAIL:
        TRY(step_fail(flow, runner, commit->error, 1));
        return blame(flow, commit);
    case PASSAGE_AGAIN: /* there is work left, whatever else it waits for */
        flow->instance->is_woken = false;
        return step_make_ready(flow, runner, flow->now_us, "again");
    case PASSAGE_MISMATCH:
        return pause_mismatched(flow, runner, commit);
    default:
        return suspend(flow, runner, commit);
    }
}

/* ---- the commit ----------------------------------------------------------------------------- */

/* is_last: it was cancelled while it ran.  Steps that have finished are taken, so that they can be
 * undone; one that was called counts as having run.  Nothing begins any more: no wait, and no child. */
static cairn_code remember_all(struct flow *flow, const struct passage_commit *commit,
                               bool is_last, bool *ret_is_repeated)
{
    size_t news = 0;
    for (size_t i = 0; i < commit->memo_count; i++) {
        struct memo memo = commit->memos[i];
        bool is_news;
        if (is_last && (memo.status == STEP_WAITING || memo.is_child)) {
            news += memo.seq >= flow->instance->places; /* new, but not remembered */
            continue;
        }
        if (memo.seq >= flow->instance->places)
            memo.seq = flow->instance->places; /* those that were left out are a gap */
        TRY(remember(flow, &memo, &is_news));
        news += is_news;
    }
    *ret_is_repeated = commit->memo_count > 0 && news == 0;
    return CAIRN_OK;
}

static cairn_code commit_stopped(struct flow *flow, struct flow_step *runner,
                                 const struct passage_commit *commit,
                                 struct flow_verdict *verdict)
{
    bool is_welcome = runner->row.stop == STOP_CANCELLED && flow->instance->goal == GOAL_CANCEL;
    if (is_welcome) {
        verdict->stop = step_stop_name(STOP_CANCELLED);
        TRY(remember_all(flow, commit, true, &verdict->is_repeated));
        runner->row.ended_by = commit->worker;
        runner->row.ended_token = commit->token;
        runner->row.ended_outcome = passage_outcome_name(commit->outcome);
    } else {
        verdict->code = CAIRN_E_LEASE_LOST;
    }
    TRY(step_end_stopped(flow, runner));
    return flow_settle(flow);
}

cairn_code flow_commit(struct flow *flow, struct flow_step *runner,
                       const struct passage_commit *commit, struct flow_verdict *ret_verdict)
{
    struct step_row *row = &runner->row;
    *ret_verdict = (struct flow_verdict){0};
    if (row->kind != KIND_FUNCTION) {
        ret_verdict->code = CAIRN_E_BAD_INPUT;
        ret_verdict->flaw = "the task is not a function's";
        return CAIRN_OK;
    }
    if (!lease_is_held_by(row, commit->worker, commit->token, flow->now_us)) {
        lease_judge_late(row, commit->worker, commit->token,
                         passage_outcome_name(commit->outcome), ret_verdict);
        return CAIRN_OK;
    }
    TRY(find_flaw(flow, commit, &ret_verdict->flaw));
    if (ret_verdict->flaw) {
        ret_verdict->code = CAIRN_E_BAD_INPUT;
        return CAIRN_OK;
    }
    if (step_is_stopped(runner))
        return commit_stopped(flow, runner, commit, ret_verdict);

    if (row->attempts || row->error) {
        row->attempts = 0; /* leases lost in a row */
        row->error = NULL;
        step_touch(flow, runner);
    }
    flow->is_dirty = true;
    TRY(flow->source->clear_error(flow, &flow->instance->last_error, row->name));
    bool is_repeated;
    TRY(remember_all(flow, commit, false, &is_repeated));
    if (commit->outcome == PASSAGE_GO_ON) {
        ret_verdict->is_repeated = is_repeated;
        ret_verdict->stop = row->stop ? step_stop_name(row->stop) : NULL; /* paused, if any */
        if (commit->extend_us && !lease_is_fresh(row, commit->extend_us, flow->now_us)) {
            lease_extend(row, instant_add(flow->now_us, commit->extend_us));
            step_touch(flow, runner);
        }
    } else {
        lease_end(flow, runner, commit->worker, commit->token,
                  passage_outcome_name(commit->outcome));
        TRY(go_on(flow, runner, commit));
    }
    return flow_settle(flow);
}

cairn_code function_skip_retries(struct flow *flow)
{
    struct step_list steps;
    if (flow->instance->active_count == 0)
        return CAIRN_OK;
    TRY(flow->source->current(flow, &steps));
    for (size_t i = 0; i < steps.count; i++)
        if (steps.items[i]->row.seq > 0 && steps.items[i]->row.status == STEP_READY)
            TRY(step_skip(flow, steps.items[i], STOP_CANCELLED,
                          "Stopped due to workflow cancellation"));
    return CAIRN_OK;
}

/* ---- leaving and forgetting ----------------------------------------------------------------- */

cairn_code function_leave(struct flow *flow)
{
    const struct instance_row *instance = flow->instance;
    struct step_list steps;
    if (instance->active_count + instance->wait_count + instance->sleep_count == 0)
        return CAIRN_OK;
    TRY(flow->source->current(flow, &steps));
    for (size_t i = 0; i < steps.count; i++)
        if (steps.items[i]->row.seq > 0 && step_is_current(steps.items[i]->row.status))
            TRY(step_skip(flow, steps.items[i], STOP_SUPERSEDED, "The function has completed"));
    return CAIRN_OK;
}

static bool is_forgettable(const struct step_row *row)
{
    return row->status == STEP_FAILED || row->status == STEP_ROLLED_BACK ||
           (row->status == STEP_SKIPPED && row->stop);
}

/* A restart wants every effect anew: also that of a step whose call was never committed, so that all
 * steps count one more, those that are not remembered as well (step_reset() of the function). */
static cairn_code count_all_effects(struct flow *flow, struct flow_step *runner)
{
    const char *at = runner->row.function_effects, *entries = at;
    struct effect_entry entry;
    while (effect_next(&at, &entry)) {
        const char *name = arena_strndup(flow->arena, entry.step, entry.step_len);
        NEED(name && effect_put(flow->arena, &entries, name, entry.past_effects + 1),
             flow->error);
    }
    runner->row.function_effects = entries;
    step_touch(flow, runner);
    return CAIRN_OK;
}

/* Its row goes, the count stays with the function. */
static cairn_code count_undone(struct flow *flow, struct flow_step *runner,
                               struct flow_step *step)
{
    TRY(flow->source->config(flow, step));
    if (!step_is_undone(step))
        return CAIRN_OK;
    step_touch(flow, runner);
    NEED(effect_put(flow->arena, &runner->row.function_effects, step->row.name,
                    step->row.past_effects + 1),
         flow->error);
    return CAIRN_OK;
}

cairn_code function_forget(struct flow *flow, bool is_all)
{
    struct step_list steps;
    struct flow_step *runner;
    size_t chosen = 0;
    TRY(function_runner(flow, &runner));
    TRY(flow->source->between(flow, STEP_NONE, 1, INT32_MAX, &steps));
    for (size_t i = 0; i < steps.count; i++) {
        if (!is_all && !is_forgettable(&steps.items[i]->row))
            continue;
        if (steps.items[i]->row.kind == KIND_WAIT)
            TRY(flow->source->untake_signals(flow, steps.items[i]));
        if (!is_all)
            TRY(count_undone(flow, runner, steps.items[i]));
        TRY(step_plan_again(flow, steps.items[i])); /* leaves the counts */
        steps.items[chosen++] = steps.items[i];
    }
    if (is_all) {
        TRY(count_all_effects(flow, runner));
        flow->instance->places = 1;
        flow->instance->is_forced = false;
    }
    flow->instance->is_woken = false;
    flow->is_dirty = true;
    return chosen ? flow->source->forget(flow, steps.items, chosen) : CAIRN_OK;
}
