/* core/why_instance.c - the sentences about instances.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * An instance that is running or waits for a signal has no sentence of its own unless something is odd:
 * its steps speak.
 */
#include "core/why_say.h"

#include <assert.h>
#include <stdlib.h>

struct instance_rule {
    const char *code; /* NULL: the steps speak */
    enum urgency urgency;
    bool (*fits)(const struct why_facts *facts);
    void (*say)(struct saying *s, const struct why_facts *facts);
};

/* ---- what the facts say --------------------------------------------------------------------- */

static enum instance_status status_of(const struct why_facts *facts)
{
    return facts->instance->status;
}

/* When it should begin. */
static int64_t start_us(const struct why_facts *facts)
{
    const struct instance_row *row = facts->instance;
    return row->start_at_us ? row->start_at_us : row->created_at_us;
}

/* The first step with a lease; NULL: none. */
static const struct why_step *leased_step(const struct why_facts *facts)
{
    for (size_t i = 0; i < facts->step_count; i++)
        if (facts->steps[i].row->locked_by)
            return &facts->steps[i];
    return NULL;
}

static size_t held_count(const struct why_facts *facts)
{
    size_t count = 0;
    for (size_t i = 0; i < facts->step_count; i++)
        count += facts->steps[i].row->is_held;
    return count;
}

static const struct why_step *undone_step(const struct why_facts *facts)
{
    for (size_t i = 0; i < facts->step_count; i++)
        if (facts->steps[i].row->status == STEP_COMPENSATION)
            return &facts->steps[i];
    return NULL;
}

/* A function that waits is not under way itself: what it has begun to wait for is. */
static bool speaks(const struct why_facts *facts, const struct why_step *step)
{
    const struct step_row *row = step->row, *runner = facts->steps[0].row;
    if (!why_is_shown(row) || (!step_is_current(row->status) && !row->locked_by))
        return false;
    if (runner->kind != KIND_FUNCTION)
        return true;
    bool is_waiting = runner->status == STEP_WAITING && !runner->locked_by;
    bool is_later = runner->status == STEP_READY && !runner->is_held &&
                    runner->next_run_at_us > facts->now_us && runner->attempts == 0 &&
                    !text_is(runner->ended_outcome, "release");
    bool is_runner = row->kind == KIND_FUNCTION;
    bool is_retry_over = row->status == STEP_READY && !row->handler &&
                         row->next_run_at_us <= facts->now_us && !row->is_held;
    if (row->status == STEP_COMPENSATION || row->locked_by)
        return true;
    return is_waiting || is_later ? !is_runner && !is_retry_over : is_runner;
}

static bool is_any_speaking(const struct why_facts *facts)
{
    for (size_t i = 0; i < facts->step_count; i++)
        if (speaks(facts, &facts->steps[i]))
            return true;
    return false;
}

static bool is_version_mismatch(const struct why_facts *facts)
{
    const char *error = facts->instance->last_error;
    return error && strstr(error, "version_mismatch") != NULL;
}

/* A row from before pauses were recorded has no time. */
static bool is_failure_held(const struct why_facts *facts)
{
    for (size_t i = 0; i < facts->step_count; i++)
        if (facts->steps[i].row->status == STEP_FAILED && facts->steps[i].row->is_held)
            return true;
    return false;
}

/* ---- conditions ----------------------------------------------------------------------------- */

#define IS(name, condition)                         \
    static bool name(const struct why_facts *facts) \
    {                                               \
        return condition;                           \
    }

IS(starts_later, status_of(facts) == INSTANCE_PENDING && start_us(facts) > facts->now_us)
IS(is_start_due,
   status_of(facts) == INSTANCE_PENDING && facts->now_us - start_us(facts) < WHY_PATIENCE_US)
IS(is_start_overdue, status_of(facts) == INSTANCE_PENDING)
IS(is_mismatched, status_of(facts) == INSTANCE_PAUSED && !facts->instance->paused_by &&
                      is_version_mismatch(facts))
IS(is_paused_by_failure, status_of(facts) == INSTANCE_PAUSED && !facts->instance->paused_by &&
                             (text_is(facts->instance->paused_reason, PAUSED_BY_FAILURE) ||
                              (!facts->instance->paused_at_us && is_failure_held(facts))))
IS(is_draining, status_of(facts) == INSTANCE_PAUSED && leased_step(facts))
IS(is_paused, status_of(facts) == INSTANCE_PAUSED)
IS(is_parked, status_of(facts) == INSTANCE_DLQ)
IS(is_stopping, !instance_is_final(status_of(facts)) && facts->instance->goal &&
                    facts->instance->awaited_count > 0)
IS(is_undoing, status_of(facts) == INSTANCE_COMPENSATING && undone_step(facts))
IS(is_undo_gap, status_of(facts) == INSTANCE_COMPENSATING)
IS(is_settling, !instance_is_final(status_of(facts)) && !is_any_speaking(facts) &&
                    facts->now_us - facts->instance->updated_at_us <= WHY_PATIENCE_US)
IS(is_settled_oddly, !instance_is_final(status_of(facts)) && !is_any_speaking(facts))
IS(is_going, !instance_is_final(status_of(facts)))
IS(is_undo_failed, status_of(facts) == INSTANCE_FAILED && facts->undo_record)
IS(is_completed, status_of(facts) == INSTANCE_COMPLETED)
IS(is_failed, status_of(facts) == INSTANCE_FAILED)
IS(is_cancelled, status_of(facts) == INSTANCE_CANCELLED)
IS(is_rejected, status_of(facts) == INSTANCE_ABORTED && facts->is_rejected)
IS(is_aborted, status_of(facts) != INSTANCE_NONE)
#undef IS

/* ---- actions -------------------------------------------------------------------------------- */

/* An action on the instance that needs nothing more. */
static void offer_control(struct saying *s, const struct why_facts *facts, const char *action)
{
    saying_offer(s, action, NULL, NULL, arena_printf(s->arena, "cairn %s %%", action),
                 facts->instance->id);
}

/* The same of one that asks for who and why. */
static void offer_stop(struct saying *s, const struct why_facts *facts, const char *action)
{
    saying_offer(s, action, NULL, NULL,
                 arena_printf(s->arena, "cairn %s %% --by WHO --reason WHY", action),
                 facts->instance->id);
}

static void offer_about(struct saying *s)
{
    saying_offer(s, "about", NULL, NULL, "cairn doctor");
}

/* ---- sentences ------------------------------------------------------------------------------ */

static void say_starts_later(struct saying *s, const struct why_facts *facts)
{
    saying_add(s, "Starts {start_at}.");
    saying_time(s, "start_at", start_us(facts));
    s->item->since_us = facts->instance->created_at_us;
    offer_stop(s, facts, "cancel");
}

static void say_next_commit(struct saying *s, const struct why_facts *facts)
{
    (void)facts;
    saying_add(s, "Goes on with the next commit.");
}

static void say_start_due(struct saying *s, const struct why_facts *facts)
{
    saying_add(s, "Starts with the next commit.");
    s->item->since_us = start_us(facts);
}

static void say_start_overdue(struct saying *s, const struct why_facts *facts)
{
    saying_add(s,
               "Should have started {start_at}. No process runs timers: is a server or worker "
               "up?");
    saying_time(s, "start_at", start_us(facts));
    s->item->since_us = start_us(facts);
    offer_about(s);
}

/* `remembered is the step "a", but the code asks for the step "b"`, as the library says it; workers in
 * other languages may say something else. */
static bool split_mismatch(struct arena *arena, const char *message, char **ret_remembered,
                           char **ret_asked)
{
    static const char first[] = "remembered is ", second[] = ", but the code asks for ";
    const char *a = strstr(message, first), *b = a ? strstr(a, second) : NULL;
    if (!b)
        return false;
    a += strlen(first);
    *ret_remembered = arena_strndup(arena, a, (size_t)(b - a));
    *ret_asked = arena_strdup(arena, b + strlen(second));
    return *ret_remembered && *ret_asked;
}

static void say_paused_mismatch(struct saying *s, const struct why_facts *facts)
{
    struct told_error told = told_error_read(s->arena, facts->instance->last_error);
    char *remembered, *asked;
    if (split_mismatch(s->arena, told.message, &remembered, &asked)) {
        saying_add(s, "Paused: the code asks for {asked}, remembered is {remembered}.");
        saying_error(s, "asked", asked);
        saying_text(s, "remembered", remembered);
    } else {
        saying_add(s, "Paused: the code does not match what is remembered: {error}.");
        saying_error(s, "error", told.message);
    }
    offer_control(s, facts, "resume");
    saying_offer(s, "resume-force", NULL, NULL, "cairn resume % --force", facts->instance->id);
}

/* "{step} has failed for good after {n} calls: {error}." */
static void say_failed_for_good(struct saying *s, const char *json)
{
    struct told_error told = told_error_read(s->arena, json);
    saying_add(s, "{step} has failed for good after ");
    saying_text(s, "step", told.step);
    saying_calls(s, told.attempt);
    saying_add(s, ": {error}.");
    saying_error(s, "error", told.message);
    s->item->since_us = told.at_us;
}

static void say_paused_failure(struct saying *s, const struct why_facts *facts)
{
    saying_add(s, "Paused: ");
    say_failed_for_good(s, facts->instance->last_error);
    saying_add(s, " Resume calls it again.");
    offer_control(s, facts, "resume");
}

static void say_paused_draining(struct saying *s, const struct why_facts *facts)
{
    const struct step_row *row = leased_step(facts)->row;
    saying_add(s, "Paused");
    saying_by(s, facts->instance->paused_by);
    saying_add(s, ". {worker} still works on {step}; its result will be kept.");
    saying_text(s, "worker", row->locked_by);
    saying_text(s, "step", row->name);
    offer_control(s, facts, "resume");
}

static void say_paused_by(struct saying *s, const struct why_facts *facts)
{
    const struct instance_row *row = facts->instance;
    size_t held = held_count(facts);
    saying_add(s, "Paused");
    saying_by(s, row->paused_by);
    if (row->paused_at_us) {
        saying_add(s, " {at}");
        saying_time(s, "at", row->paused_at_us);
    }
    saying_reason(s, row->paused_reason);
    saying_add(s, held == 1 ? ". {n} step is held." : ". {n} steps are held.");
    saying_int(s, "n", (int64_t)held);
    offer_control(s, facts, "resume");
}

/* The record of the step that was parked last. */
static const char *record_of(const struct why_facts *facts, const char *name)
{
    const char *any = NULL;
    for (size_t i = 0; i < facts->step_count; i++) {
        if (!facts->steps[i].record)
            continue;
        any = facts->steps[i].record;
        if (text_is(facts->steps[i].row->name, name))
            return any;
    }
    return any;
}

static void offer_requeue(struct saying *s, const char *record)
{
    if (!record)
        return;
    saying_offer(s, "requeue", "record", record, "cairn dlq requeue %", record);
}

static void say_parked(struct saying *s, const struct why_facts *facts)
{
    struct told_error told = told_error_read(s->arena, facts->instance->last_error);
    const char *record = record_of(facts, told.step);
    saying_add(s, "Parked: ");
    say_failed_for_good(s, facts->instance->last_error);
    offer_requeue(s, record);
    if (record)
        saying_offer(s, "edit", "record", record, "cairn dlq requeue % --input @FILE", record);
}

/* Why it is stopped or undone: "it was cancelled by ada: wrong address", "ship failed: no carrier". */
static const char *cause_of(struct saying *s, const struct why_facts *facts)
{
    const struct instance_row *row = facts->instance;
    struct told_error told = told_error_read(s->arena, row->last_error);
    struct buf text = {0};
    bool is_cancel = row->goal == GOAL_CANCEL || row->undo_first == UNDO_OF_CANCEL;
    if (is_cancel && row->goal != GOAL_FAIL) {
        buf_str(&text, "it was cancelled");
        if (row->stop_by && *row->stop_by)
            buf_printf(&text, " by %s", row->stop_by);
        if (row->stop_reason && *row->stop_reason)
            buf_printf(&text, ": %s", row->stop_reason);
    } else if (*told.step) {
        buf_printf(&text, "%s failed: %s", told.step, told.message);
    } else {
        buf_str(&text, "a step failed");
    }
    const char *cause = buf_keep(&text, s->arena);
    s->failed |= !cause;
    return cause;
}

static void say_stopping(struct saying *s, const struct why_facts *facts)
{
    const struct why_step *leased = leased_step(facts);
    int32_t count = facts->instance->awaited_count;
    saying_add(s, "Is being stopped ({cause}). Waits for ");
    saying_add(s, count == 1 ? "{n} running step" : "{n} running steps");
    saying_error(s, "cause", cause_of(s, facts));
    saying_int(s, "n", count);
    if (leased) {
        saying_add(s, ": {step} at {worker}, lease until {locked_until}");
        saying_text(s, "step", leased->row->name);
        saying_text(s, "worker", leased->row->locked_by);
        saying_time(s, "locked_until", leased->row->locked_until_us);
    }
    saying_add(s, ".");
    offer_stop(s, facts, "abort");
}

static void say_undoing(struct saying *s, const struct why_facts *facts)
{
    saying_add(s, "Being undone because {cause}");
    saying_error(s, "cause", cause_of(s, facts));
    if (facts->to_undo > 0) {
        saying_add(s, ": {k} of {n} steps undone");
        saying_int(s, "k", facts->undone);
        saying_int(s, "n", facts->to_undo);
    }
    saying_add(s, ".");
    offer_stop(s, facts, "abort");
}

static void say_undo_gap(struct saying *s, const struct why_facts *facts)
{
    saying_add(s, "Being undone because {cause}; the next step follows with the next commit.");
    saying_error(s, "cause", cause_of(s, facts));
}

static void say_settled_oddly(struct saying *s, const struct why_facts *facts)
{
    (void)facts;
    saying_add(s, "Nothing is under way, and it has not ended. This is a bug in Cairn; `cairn "
                  "doctor` may say more.");
    saying_offer(s, "doctor", NULL, NULL, "cairn doctor");
}

static void say_undo_failed(struct saying *s, const struct why_facts *facts)
{
    struct told_error told = told_error_read(s->arena, facts->instance->undo_error);
    saying_add(s, "Ended, but {step} could not be undone: {error}. A person must look.");
    saying_text(s, "step", *told.step ? told.step : "a step");
    saying_error(s, "error", told.message);
    offer_requeue(s, facts->undo_record);
}

/* A long input is not repeated: it is to be given as a file. */
enum { INPUT_SHOWN = 200 };

static void say_completed(struct saying *s, const struct why_facts *facts)
{
    const struct instance_row *row = facts->instance;
    const char *input = row->input ? row->input : "{}";
    saying_add(s, "Completed in {took}.");
    saying_span(s, "took", row->finished_at_us - row->started_at_us);
    saying_offer(s, "start-again", "workflow", row->workflow,
                 "cairn start % --version % --input %", row->workflow,
                 arena_printf(s->arena, "%d", (int)row->version),
                 strlen(input) <= INPUT_SHOWN ? input : "@FILE");
}

static void say_failed(struct saying *s, const struct why_facts *facts)
{
    const struct instance_row *row = facts->instance;
    struct told_error told = told_error_read(s->arena, row->last_error);
    if (*told.step) {
        saying_add(s, "Failed at {step} after ");
        saying_text(s, "step", told.step);
        saying_calls(s, told.attempt);
        saying_add(s, ": {error}. ");
        saying_error(s, "error", told.message);
    } else {
        saying_add(s, "Failed. ");
    }
    if (facts->save_point) {
        saying_add(s, "Undone back to {save_point}.");
        saying_text(s, "save_point", facts->save_point);
    } else {
        saying_add(s, row->undo_first == UNDO_FIRST_NONE ? "Nothing was undone."
                                                         : "What was done was undone.");
    }
    offer_control(s, facts, "retry");
}

static void say_cancelled(struct saying *s, const struct why_facts *facts)
{
    const struct instance_row *row = facts->instance;
    saying_add(s, "Cancelled");
    saying_by(s, row->stop_by);
    saying_reason(s, row->stop_reason);
    saying_add(s, row->started_at_us ? ". What was done was undone." : ". It had not begun.");
    offer_control(s, facts, "restart");
}

static void say_rejected(struct saying *s, const struct why_facts *facts)
{
    saying_add(s, "Rejected");
    saying_by(s, facts->instance->stop_by);
    if (facts->instance->stop_reason && *facts->instance->stop_reason) {
        saying_add(s, ": {comment}");
        saying_error(s, "comment", facts->instance->stop_reason);
    }
    saying_add(s, ".");
    offer_control(s, facts, "restart");
}

static void say_aborted(struct saying *s, const struct why_facts *facts)
{
    saying_add(s, "Aborted");
    saying_by(s, facts->instance->stop_by);
    saying_reason(s, facts->instance->stop_reason);
    saying_add(s, ". Nothing was undone.");
    offer_control(s, facts, "restart");
}

static const struct instance_rule rules[] = {
    {"starts_later", URGENCY_WAITS, starts_later, say_starts_later},
    {"start_due", URGENCY_WORKS, is_start_due, say_start_due},
    {"start_overdue", URGENCY_STUCK, is_start_overdue, say_start_overdue},
    {"paused_mismatch", URGENCY_PERSON, is_mismatched, say_paused_mismatch},
    {"paused_failure", URGENCY_PERSON, is_paused_by_failure, say_paused_failure},
    {"paused_draining", URGENCY_WORKS, is_draining, say_paused_draining},
    {"paused_by", URGENCY_PERSON, is_paused, say_paused_by},
    {"parked", URGENCY_PERSON, is_parked, say_parked},
    {"stopping", URGENCY_WORKS, is_stopping, say_stopping},
    {"undoing", URGENCY_WORKS, is_undoing, say_undoing},
    {"undo_gap", URGENCY_WORKS, is_undo_gap, say_undo_gap},
    {"settling", URGENCY_WORKS, is_settling, say_next_commit},
    {"settled_oddly", URGENCY_STUCK, is_settled_oddly, say_settled_oddly},
    {NULL, URGENCY_NONE, is_going, NULL},
    {"undo_failed", URGENCY_PERSON, is_undo_failed, say_undo_failed},
    {"completed", URGENCY_ENDED, is_completed, say_completed},
    {"failed", URGENCY_FAILING, is_failed, say_failed},
    {"cancelled", URGENCY_ENDED, is_cancelled, say_cancelled},
    {"rejected", URGENCY_ENDED, is_rejected, say_rejected},
    {"aborted", URGENCY_ENDED, is_aborted, say_aborted},
};

static int64_t default_since(const struct instance_row *row)
{
    if (instance_is_final(row->status))
        return row->finished_at_us;
    return row->status == INSTANCE_PAUSED && row->paused_at_us ? row->paused_at_us
                                                               : row->updated_at_us;
}

static bool add_own(struct arena *arena, const struct why_facts *facts, struct why_list *list)
{
    const struct instance_rule *rule = rules;
    while (!rule->fits(facts))
        rule++;
    if (!rule->code)
        return true;
    cairn_why *item = list_add(arena, list);
    if (!item)
        return false;
    *item = (cairn_why){.seq = -1, .since_us = default_since(facts->instance)};
    struct saying s = {.arena = arena, .item = item};
    saying_begin(&s, rule->code, rule->urgency);
    rule->say(&s, facts);
    return saying_done(&s);
}

static bool add_steps(struct arena *arena, const struct why_facts *facts, struct why_list *list)
{
    for (size_t i = 0; i < facts->step_count; i++) {
        if (!speaks(facts, &facts->steps[i]))
            continue;
        cairn_why *item = list_add(arena, list);
        struct task_facts task =
            task_of_step(&facts->steps[i], facts->instance, facts->now_us, facts->opened_us);
        if (!item || !why_current_step(arena, &task, item))
            return false;
    }
    return true;
}

/* The instance before its steps, these by place. */
static int compare_items(const void *a, const void *b)
{
    const cairn_why *one = a, *other = b;
    if (one->urgency_code != other->urgency_code)
        return one->urgency_code < other->urgency_code ? -1 : 1;
    return (one->seq > other->seq) - (one->seq < other->seq);
}

bool why_instance(struct arena *arena, const struct why_facts *facts, struct why_list *ret_list)
{
    *ret_list = (struct why_list){0};
    if (!add_own(arena, facts, ret_list))
        return false;
    if (!instance_is_final(status_of(facts)) && status_of(facts) != INSTANCE_PENDING &&
        !add_steps(arena, facts, ret_list))
        return false;
    assert(ret_list->count > 0);
    qsort(ret_list->items, ret_list->count, sizeof *ret_list->items, compare_items);
    return true;
}
