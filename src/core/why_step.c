/* core/why_step.c - the sentences about steps: those that an instance is at, and all others.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "core/counter.h"
#include "core/why_say.h"

struct task_facts task_of_step(const struct why_step *step, const struct instance_row *instance,
                               int64_t now_us, int64_t opened_us)
{
    const struct step_row *row = step->row;
    bool is_undo = row->status == STEP_COMPENSATION;
    bool was_released = text_is(row->ended_outcome, "release");
    return (struct task_facts){
        .now_us = now_us,
        .opened_us = opened_us,
        .instance = instance,
        .step = step,
        .type = step->type,
        .type_name = row->task_type ? row->task_type : row->handler,
        .is_function = row->kind == KIND_FUNCTION,
        .is_undo = is_undo,
        .name = row->name,
        .worker = row->locked_by,
        .error = is_undo ? row->undo_error : row->error,
        .was_given_back_by = was_released ? row->ended_by : NULL,
        .is_handler_missing = was_released && !row->started_at_us && row->is_effect_begun,
        .started_us = row->started_at_us,
        .locked_until_us = row->locked_until_us,
        .call_until_us = row->call_until_us,
        .next_run_us = row->next_run_at_us,
        .attempts = is_undo ? row->compensation_attempts : row->attempts,
        .max_attempts = is_undo ? step->config->compensation.max_attempts : row->max_attempts,
        .stop = row->stop,
    };
}

bool why_is_shown(const struct step_row *row)
{
    return row->kind == KIND_TASK || row->kind == KIND_SLEEP || row->kind == KIND_WAIT ||
           row->kind == KIND_HUMAN || row->kind == KIND_START || row->kind == KIND_FUNCTION;
}

/* ---- conditions ----------------------------------------------------------------------------- */

static bool is_leased(const struct task_facts *task)
{
    return task->worker != NULL;
}

static bool is_parked(const struct task_facts *task)
{
    return task->step->row->status == STEP_PAUSED;
}

static bool is_held(const struct task_facts *task)
{
    return task->step->row->is_held;
}

static bool is_ready(const struct task_facts *task)
{
    enum step_status status = task->step->row->status;
    return status == STEP_READY || status == STEP_COMPENSATION || status == STEP_RUNNING;
}

static bool is_timer_over(const struct task_facts *task)
{
    int64_t until_us = task->step->row->deadline_at_us;
    return until_us && task->now_us - until_us >= WHY_PATIENCE_US;
}

static bool is_kind(const struct task_facts *task, enum step_kind kind)
{
    return task->step->row->kind == kind && task->step->row->status == STEP_WAITING;
}

static bool is_wait(const struct task_facts *task)
{
    return is_kind(task, KIND_WAIT);
}

static bool is_handler_wait(const struct task_facts *task)
{
    return is_kind(task, KIND_TASK);
}

static bool is_sleep(const struct task_facts *task)
{
    return is_kind(task, KIND_SLEEP);
}

static bool is_child(const struct task_facts *task)
{
    const struct step_row *row = task->step->row;
    bool is_undo = row->status == STEP_COMPENSATION && !row->task_type;
    return row->kind == KIND_START && (row->status == STEP_WAITING || is_undo) &&
           task->step->child;
}

static bool is_mapping(const struct task_facts *task)
{
    const struct step_row *row = task->step->row;
    bool is_undo = row->status == STEP_COMPENSATION && !row->task_type;
    return row->kind == KIND_START && (row->status == STEP_WAITING || is_undo) &&
           task->step->children;
}

static bool is_decision(const struct task_facts *task)
{
    return task->step->row->status == STEP_WAITING_DECISION;
}

/* ---- sentences ------------------------------------------------------------------------------ */

static void say_leased(struct saying *s, const struct task_facts *task)
{
    s->item->since_us = task->started_us;
    saying_rule(s, why_leased_rules, task);
}

static void say_ready(struct saying *s, const struct task_facts *task)
{
    s->item->since_us =
        task->next_run_us > task->now_us ? task->step->row->updated_at_us : task->next_run_us;
    saying_rule(s, why_ready_rules, task);
}

static void say_parked(struct saying *s, const struct task_facts *task)
{
    saying_add(s, "Parked after ");
    saying_calls(s, task->attempts);
    saying_add(s, ": {error}.");
    saying_error(s, "error", task->error);
    if (task->step->record)
        saying_offer(s, "requeue", "record", task->step->record, "cairn dlq requeue %",
                     task->step->record);
}

static void say_held(struct saying *s, const struct task_facts *task)
{
    saying_add(s, "Held while the instance is paused; it was {was}.");
    saying_text(s, "was", step_status_name(task->step->row->status));
    if (task->instance->status == INSTANCE_PAUSED)
        saying_offer(s, "resume", NULL, NULL, "cairn resume %", task->instance->id);
}

static void say_timer_over(struct saying *s, const struct task_facts *task)
{
    saying_add(
        s, "Its time was over {until}, and no process has noticed: is a server or worker up?");
    saying_time(s, "until", task->step->row->deadline_at_us);
    saying_offer(s, "about", NULL, NULL, "cairn doctor");
}

/* " until {until}, then fails" */
static void say_until(struct saying *s, const struct task_facts *task)
{
    if (!task->step->row->deadline_at_us)
        return;
    saying_add(s, " until {until}");
    saying_time(s, "until", task->step->row->deadline_at_us);
    saying_add(s, task->step->config->is_timeout_continue ? ", then goes on" : ", then fails");
}

static void offer_signal(struct saying *s, const struct task_facts *task)
{
    const char *event = task->step->row->waiting_event;
    saying_offer(s, "signal", "event", event, "cairn signal % %", task->instance->id, event);
}

static void say_event(struct saying *s, const struct task_facts *task)
{
    const struct step_row *row = task->step->row;
    saying_add(s, "Waits for the event {event}");
    saying_text(s, "event", row->waiting_event);
    /* What a function makes of it is known by its code alone. */
    if (task->instance->is_function && row->deadline_at_us) {
        saying_add(s, " until {until}");
        saying_time(s, "until", row->deadline_at_us);
    } else {
        say_until(s, task);
    }
    saying_add(s, row->deadline_at_us ? "." : ", without limit.");
    offer_signal(s, task);
}

static void say_handler_event(struct saying *s, const struct task_facts *task)
{
    const struct step_row *row = task->step->row;
    saying_add(s, "Its handler waits for the event {event}");
    saying_text(s, "event", row->waiting_event);
    if (row->deadline_at_us) {
        saying_add(s, " until {until}");
        saying_time(s, "until", row->deadline_at_us);
    }
    saying_add(s, " and is called again then.");
    offer_signal(s, task);
}

static void say_sleep(struct saying *s, const struct task_facts *task)
{
    saying_add(s, "Sleeps until {until}.");
    saying_time(s, "until", task->step->row->deadline_at_us);
}

/* As urgent as what the child waits for. */
static void say_child(struct saying *s, const struct task_facts *task)
{
    const struct instance_row *child = task->step->child;
    const cairn_why *why = task->step->child_why;
    bool is_ended = !why || why->urgency_code == CAIRN_URGENCY_ENDED;
    saying_begin(s, "child", is_ended ? URGENCY_WORKS : (enum urgency)why->urgency_code);
    if (task->is_undo) {
        saying_add(s, "Undoing {undone}: ");
        saying_text(s, "undone", task->name);
    }
    saying_add(s, "Waits for {workflow} {id}");
    saying_text(s, "workflow", child->workflow);
    saying_text(s, "id", child->id);
    saying_add(s, why ? ": {why}" : ".");
    if (why)
        saying_text(s, "why", why->text);
}

static void say_mapping(struct saying *s, const struct task_facts *task)
{
    const struct children_row *row = task->step->children;
    if (task->is_undo) {
        saying_add(s, "Undoing {undone}: ");
        saying_text(s, "undone", task->name);
    }
    saying_add(s, "{done} of {n} elements done, {failed} failed.");
    saying_int(s, "done", row->done);
    saying_int(s, "n", row->size);
    saying_int(s, "failed", row->failed);
}

static void say_decision(struct saying *s, const struct task_facts *task)
{
    const char *step = task->name;
    saying_add(s, "Waits for a person to decide");
    say_until(s, task);
    saying_add(s, ".");
    saying_offer(s, "approve", "step", step, "cairn approve % % --by WHO", task->instance->id,
                 step);
    saying_offer(s, "reject", "step", step, "cairn reject % % --by WHO", task->instance->id,
                 step);
}

static bool fits_always(const struct task_facts *task)
{
    (void)task;
    return true;
}

static void say_settling(struct saying *s, const struct task_facts *task)
{
    (void)task;
    saying_add(s, "Goes on with the next commit.");
}

/* The first two stand for the rows of their tables. */
static const struct task_rule current_rules[] = {
    {NULL, URGENCY_NONE, is_leased, say_leased},
    {"parked_step", URGENCY_PERSON, is_parked, say_parked},
    {"held", URGENCY_WAITS, is_held, say_held},
    {"child", URGENCY_WAITS, is_child, say_child},
    {"mapping", URGENCY_WORKS, is_mapping, say_mapping},
    {NULL, URGENCY_NONE, is_ready, say_ready},
    {"timer_over", URGENCY_STUCK, is_timer_over, say_timer_over},
    {"event", URGENCY_WAITS, is_wait, say_event},
    {"handler_event", URGENCY_WAITS, is_handler_wait, say_handler_event},
    {"sleep", URGENCY_WAITS, is_sleep, say_sleep},
    {"decision", URGENCY_PERSON, is_decision, say_decision},
    {"settling", URGENCY_WORKS, fits_always, say_settling},
};

static struct saying saying_of_step(struct arena *arena, const struct step_row *row,
                                    cairn_why *item)
{
    *item = (cairn_why){.step = row->name, .seq = row->seq, .since_us = row->updated_at_us};
    return (struct saying){.arena = arena, .item = item};
}

static void say_current(struct saying *s, const struct task_facts *task)
{
    const struct task_rule *rule = current_rules;
    while (!rule->fits(task))
        rule++;
    saying_begin(s, rule->code, rule->urgency);
    rule->say(s, task);
}

bool why_current_step(struct arena *arena, const struct task_facts *task, cairn_why *ret_item)
{
    struct saying s = saying_of_step(arena, task->step->row, ret_item);
    say_current(&s, task);
    return saying_done(&s);
}

/* ---- other steps ---------------------------------------------------------------------------- */

struct other_rule {
    const char *code;
    enum urgency urgency;
    bool (*fits)(const struct why_other *facts);
    void (*say)(struct saying *s, const struct why_other *facts);
};

#define IS(name, condition)                            \
    static bool name(const struct why_other *facts)    \
    {                                                  \
        const struct step_row *row = facts->step->row; \
        return condition;                              \
    }
IS(is_joining, row->kind == KIND_JOIN &&
                   (row->status == STEP_PENDING || row->status == STEP_PAUSED) &&
                   facts->branch_count > 0)
IS(is_pending, row->status == STEP_PENDING)
IS(is_not_taken, row->status == STEP_SKIPPED && facts->condition)
IS(is_superseded, row->status == STEP_SKIPPED && row->stop == STOP_SUPERSEDED)
IS(has_gone_on, row->status == STEP_SKIPPED && row->error && row->stop == STOP_NONE)
IS(is_stopped, row->status == STEP_SKIPPED)
IS(is_failed, row->status == STEP_FAILED)
IS(is_undone, row->status == STEP_ROLLED_BACK)
IS(is_decided, row->status == STEP_CONFIRMED || row->status == STEP_REJECTED)
IS(is_completed, row->status == STEP_COMPLETED)
IS(is_current, row->status != STEP_NONE)
#undef IS

static void say_not_yet(struct saying *s, const struct why_other *facts)
{
    if (!facts->previous) {
        saying_add(s, "Is the first to begin.");
        return;
    }
    saying_add(s, "Comes after {previous}.");
    saying_text(s, "previous", facts->previous);
}

static void say_joining(struct saying *s, const struct why_other *facts)
{
    if (facts->step->config->is_any) {
        saying_add(s, "Goes on with the first branch that succeeds.");
        return;
    }
    saying_add(s, "Waits for {n} of {m} branches: {names}.");
    saying_int(s, "n", facts->step->row->remaining);
    saying_int(s, "m", facts->branch_count);
    saying_text(s, "names", facts->branches);
}

static void say_not_taken(struct saying *s, const struct why_other *facts)
{
    saying_add(s, "{condition} was {value}, so this list was not taken.");
    saying_text(s, "condition", facts->condition);
    saying_text(s, "value", facts->is_condition_true ? "true" : "false");
}

static void say_superseded(struct saying *s, const struct why_other *facts)
{
    (void)facts;
    saying_add(s, "Another branch was first.");
}

static void say_went_on(struct saying *s, const struct why_other *facts)
{
    saying_add(s, "Failed after ");
    saying_calls(s, facts->step->row->attempts);
    saying_add(s, " ({error}) and was passed over, as its file says.");
    saying_error(s, "error", facts->step->row->error);
}

static void say_stopped(struct saying *s, const struct why_other *facts)
{
    if (!facts->step->row->error) {
        saying_add(s, "Was not needed.");
        return;
    }
    saying_add(s, "Stopped: {error}.");
    saying_error(s, "error", facts->step->row->error);
}

static void say_failure(struct saying *s, const struct step_row *row)
{
    saying_add(s, "Failed after ");
    saying_calls(s, row->attempts);
    saying_add(s, ": {error}.");
    saying_error(s, "error", row->error ? row->error : row->undo_error);
}

static void say_step_failed(struct saying *s, const struct why_other *facts)
{
    say_failure(s, facts->step->row);
    if (facts->instance->status == INSTANCE_FAILED)
        saying_offer(s, "retry", NULL, NULL, "cairn retry %", facts->instance->id);
}

static void say_undone(struct saying *s, const struct why_other *facts)
{
    const struct step_row *row = facts->step->row;
    const struct child_config *child = &facts->step->config->child;
    bool has_child = facts->instance->is_function ? child->is_own : !child->is_left;
    if (row->kind == KIND_START && row->output && !row->task_type && has_child) {
        saying_add(s, "Its child was rolled back.");
        return;
    }
    if (row->error) {
        say_failure(s, row);
        saying_add(s, " ");
    }
    if (!row->task_type || !facts->step->config->compensation.handler) {
        saying_add(s, "Had nothing to undo.");
        return;
    }
    saying_add(s, "Undone by {handler} {at}.");
    saying_text(s, "handler", facts->step->config->compensation.handler);
    saying_time(s, "at", row->finished_at_us ? row->finished_at_us : row->updated_at_us);
}

static void say_decided(struct saying *s, const struct why_other *facts)
{
    bool is_confirmed = facts->step->row->status == STEP_CONFIRMED;
    saying_add(s, is_confirmed ? "Approved" : "Rejected");
    saying_by(s, facts->decided_by);
    if (facts->decided_us) {
        saying_add(s, " {at}");
        saying_time(s, "at", facts->decided_us);
    }
    if (facts->comment && *facts->comment) {
        saying_add(s, ": {comment}");
        saying_error(s, "comment", facts->comment);
    }
    saying_add(s, ".");
}

static void say_step_done(struct saying *s, const struct why_other *facts)
{
    const struct step_row *row = facts->step->row;
    if (row->started_at_us && row->finished_at_us) {
        saying_add(s, "Completed in {took}");
        saying_span(s, "took", row->finished_at_us - row->started_at_us);
    } else {
        saying_add(s, "Completed");
    }
    if (row->attempts > 0) {
        saying_add(s, " at call {n}");
        saying_int(s, "n", counter_after(row->attempts));
    }
    saying_add(s, ".");
}

static void say_as_current(struct saying *s, const struct why_other *facts)
{
    struct task_facts task =
        task_of_step(facts->step, facts->instance, facts->now_us, facts->opened_us);
    say_current(s, &task);
}

static const struct other_rule other_rules[] = {
    {"joining", URGENCY_WAITS, is_joining, say_joining},
    {"not_yet", URGENCY_WAITS, is_pending, say_not_yet},
    {"not_taken", URGENCY_ENDED, is_not_taken, say_not_taken},
    {"superseded", URGENCY_ENDED, is_superseded, say_superseded},
    {"went_on", URGENCY_ENDED, has_gone_on, say_went_on},
    {"stopped", URGENCY_ENDED, is_stopped, say_stopped},
    {"step_failed", URGENCY_FAILING, is_failed, say_step_failed},
    {"undone", URGENCY_ENDED, is_undone, say_undone},
    {"decided", URGENCY_ENDED, is_decided, say_decided},
    {"step_done", URGENCY_ENDED, is_completed, say_step_done},
    {NULL, URGENCY_NONE, is_current, say_as_current},
};

bool why_step(struct arena *arena, const struct why_other *facts, cairn_why *ret_item)
{
    struct saying s = saying_of_step(arena, facts->step->row, ret_item);
    const struct other_rule *rule = other_rules;
    while (!rule->fits(facts))
        rule++;
    saying_begin(&s, rule->code, rule->urgency);
    rule->say(&s, facts);
    return saying_done(&s);
}
