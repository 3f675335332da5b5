/* core/why_ready.c - the sentences about tasks: held by a worker, or waiting for one.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "core/counter.h"
#include "core/why_say.h"

#include <assert.h>

void saying_rule(struct saying *s, const struct task_rule *rules, const struct task_facts *task)
{
    const struct task_rule *rule = rules;
    while (!rule->fits(task))
        rule++;
    saying_begin(s, rule->code, rule->urgency);
    if (task->is_undo) {
        saying_add(s, "Undoing {undone}: ");
        saying_text(s, "undone", task->name);
    }
    rule->say(s, task);
}

static bool fits_always(const struct task_facts *task)
{
    (void)task;
    return true;
}

/* ---- a lease -------------------------------------------------------------------------------- */

static int64_t overdue_us(const struct task_facts *task)
{
    return task->now_us - task->locked_until_us;
}

static bool is_told_to_stop(const struct task_facts *task)
{
    return task->stop != STOP_NONE;
}

static bool is_lease_valid(const struct task_facts *task)
{
    return overdue_us(task) <= 0;
}

static bool is_lease_just_over(const struct task_facts *task)
{
    return overdue_us(task) < WHY_PATIENCE_US;
}

static void say_told_to_stop(struct saying *s, const struct task_facts *task)
{
    saying_add(s,
               "{worker} has been told to stop ({stop}) and has not answered; its lease ends "
               "{locked_until}.");
    saying_text(s, "worker", task->worker);
    saying_text(s, "stop", step_stop_name(task->stop));
    saying_time(s, "locked_until", task->locked_until_us);
}

static void say_working(struct saying *s, const struct task_facts *task)
{
    saying_add(s, "{worker} works on {step}");
    saying_text(s, "worker", task->worker);
    saying_text(s, "step", task->name);
    if (task->started_us) {
        saying_add(s, " since {started_at}");
        saying_time(s, "started_at", task->started_us);
    }
    saying_add(s, ", call {n} of {max}");
    saying_int(s, "n", counter_after(task->attempts));
    saying_int(s, "max", task->max_attempts);
    if (task->call_until_us) {
        saying_add(s, "; must end by {call_until}");
        saying_time(s, "call_until", task->call_until_us);
    }
    saying_add(s, ".");
}

static void say_silent(struct saying *s, const struct task_facts *task)
{
    saying_add(s, "{worker} has not been heard of since {locked_until}");
    saying_text(s, "worker", task->worker);
    saying_time(s, "locked_until", task->locked_until_us);
    s->item->since_us = task->locked_until_us;
}

static void say_lease_over(struct saying *s, const struct task_facts *task)
{
    say_silent(s, task);
    saying_add(s, "; another worker gets it now.");
}

static void say_lease_stuck(struct saying *s, const struct task_facts *task)
{
    say_silent(s, task);
    saying_add(s, ", and no process collects it: is a server or worker up?");
    saying_offer(s, "about", NULL, NULL, "cairn doctor");
}

const struct task_rule why_leased_rules[] = {
    {"told_to_stop", URGENCY_WORKS, is_told_to_stop, say_told_to_stop},
    {"working", URGENCY_WORKS, is_lease_valid, say_working},
    {"lease_over", URGENCY_WORKS, is_lease_just_over, say_lease_over},
    {"lease_stuck", URGENCY_STUCK, fits_always, say_lease_stuck},
};

/* ---- ready ---------------------------------------------------------------------------------- */

static bool is_later(const struct task_facts *task)
{
    return task->next_run_us > task->now_us;
}

static int64_t age_us(const struct task_facts *task)
{
    return task->next_run_us ? task->now_us - task->next_run_us : 0;
}

static bool is_retried_later(const struct task_facts *task)
{
    return is_later(task) && task->attempts > 0;
}

static bool is_type_off(const struct task_facts *task)
{
    return task->type && task->type->is_off;
}

static bool is_runtime_missing(const struct task_facts *task)
{
    const struct why_type *type = task->type;
    return type && type->runtime && type->is_judged && !type->is_runtime_there;
}

static bool is_not_known(const struct task_facts *task)
{
    return !task->type || (!task->type->is_judged && task->type->live == 0);
}

static bool is_unserved(const struct task_facts *task)
{
    return task->type->live == 0;
}

static bool is_limited(const struct task_facts *task)
{
    return task->type->limit != NULL;
}

static bool is_about_to(const struct task_facts *task)
{
    return task->type->roomy && age_us(task) < WHY_PATIENCE_US;
}

static bool is_busy(const struct task_facts *task)
{
    return !task->type->roomy;
}

static void offer_workers(struct saying *s)
{
    saying_offer(s, "workers", NULL, NULL, "cairn workers");
}

static void say_retry_later(struct saying *s, const struct task_facts *task)
{
    saying_add(s, "Call {n} of {max} failed: {error}. The next one is {next_run_at}.");
    saying_int(s, "n", task->attempts);
    saying_int(s, "max", task->max_attempts);
    saying_error(s, "error", task->error);
    saying_time(s, "next_run_at", task->next_run_us);
}

static void say_given_back(struct saying *s, const struct task_facts *task)
{
    if (task->was_given_back_by) {
        saying_add(s, "{worker} gave it back");
        saying_text(s, "worker", task->was_given_back_by);
    } else {
        saying_add(s, "It was given back");
    }
    if (task->is_handler_missing) {
        saying_add(s, ": it has no handler for {type}");
        saying_text(s, "type", task->type_name);
    }
    saying_add(s, ". Offered again {next_run_at}.");
    saying_time(s, "next_run_at", task->next_run_us);
    offer_workers(s);
}

static void say_type_off(struct saying *s, const struct task_facts *task)
{
    saying_add(s, "Nobody may take {type}: it is switched off in the registry.");
    saying_text(s, "type", task->type_name);
    saying_offer(s, "type-enable", "type", task->type_name,
                 "cairn registry set % --runtime % --enable", task->type_name,
                 task->type->runtime);
}

static void say_no_runtime(struct saying *s, const struct task_facts *task)
{
    saying_add(s, "{type} belongs to the runtime {runtime}, and no worker of it is there.");
    saying_text(s, "type", task->type_name);
    saying_text(s, "runtime", task->type->runtime);
    offer_workers(s);
}

static void say_unknown(struct saying *s, const struct task_facts *task)
{
    saying_add(s,
               "Ready since {ready_at}. Which workers are there is not known yet: the server "
               "started {started_at}.");
    saying_time(s, "ready_at", task->next_run_us ? task->next_run_us : task->now_us);
    saying_time(s, "started_at", task->opened_us ? task->opened_us : task->now_us);
}

static void say_unserved(struct saying *s, const struct task_facts *task)
{
    saying_add(s, task->is_function ? "No worker that runs the function {type} is there"
                                    : "No worker that serves {type} is there");
    saying_text(s, "type", task->type_name);
    if (task->type->last) {
        saying_add(s, "; the last was {worker}, {last_seen}");
        saying_text(s, "worker", task->type->last);
        saying_time(s, "last_seen", task->type->last_seen_us);
    }
    saying_add(s, ".");
    if (task->is_function)
        offer_workers(s);
    else
        saying_offer(s, "work", "type", task->type_name, "cairn work --handle %",
                     arena_printf(s->arena, "%s=COMMAND", task->type_name));
}

static void say_limited(struct saying *s, const struct task_facts *task)
{
    const struct limit_row *limit = task->type->limit;
    if (!task->type->is_limit_rate) {
        saying_add(s, "Waits for a place: {limit} allows {n} at a time");
        saying_text(s, "limit", limit->name);
        saying_int(s, "n", limit->concurrency);
    } else {
        saying_add(s, "Waits for its time: {limit} lets {n} begin in {per}");
        saying_text(s, "limit", limit->name);
        saying_int(s, "n", limit->rate_n);
        saying_span(s, "per", limit->rate_per_ms * US_PER_MS);
    }
    if (task->type->limit_group) {
        saying_add(s, " for {group}");
        saying_text(s, "group", task->type->limit_group);
    }
    saying_add(s, ".");
    saying_offer(s, "limit", "limit", limit->name, "cairn limit show %", limit->name);
}

static void say_about_to(struct saying *s, const struct task_facts *task)
{
    (void)task;
    saying_add(s, "Is about to be taken.");
}

static void say_busy(struct saying *s, const struct task_facts *task)
{
    const struct why_type *type = task->type;
    saying_add(s, type->live == 1 ? "{workers} worker serves {type}, and it is busy; "
                                  : "{workers} workers serve {type}, and all are busy; ");
    saying_add(s, type->ahead == 0   ? "nothing is ahead"
                  : type->ahead == 1 ? "{ahead} task is ahead"
                                     : "{ahead} tasks are ahead");
    saying_int(s, "workers", type->live);
    saying_text(s, "type", task->type_name);
    if (type->ahead > 0)
        saying_int(s, "ahead", type->ahead);
    if (type->ahead > 0 && type->oldest_us) {
        saying_add(s, ", the oldest for {age}");
        saying_span(s, "age", task->now_us - type->oldest_us);
    }
    saying_add(s, ".");
    offer_workers(s);
}

static void say_unclaimed(struct saying *s, const struct task_facts *task)
{
    saying_add(s,
               "Ready for {age}, though {worker} serves {type} and has room. Look at its log.");
    saying_span(s, "age", age_us(task));
    saying_text(s, "worker", task->type->roomy);
    saying_text(s, "type", task->type_name);
    offer_workers(s);
}

const struct task_rule why_ready_rules[] = {
    {"retry_later", URGENCY_FAILING, is_retried_later, say_retry_later},
    {"given_back", URGENCY_WAITS, is_later, say_given_back},
    {"type_off", URGENCY_STUCK, is_type_off, say_type_off},
    {"no_runtime", URGENCY_STUCK, is_runtime_missing, say_no_runtime},
    {"unknown", URGENCY_WAITS, is_not_known, say_unknown},
    {"unserved", URGENCY_STUCK, is_unserved, say_unserved},
    {"limited", URGENCY_WAITS, is_limited, say_limited},
    {"about_to", URGENCY_WORKS, is_about_to, say_about_to},
    {"busy", URGENCY_WAITS, is_busy, say_busy},
    {"unclaimed", URGENCY_STUCK, fits_always, say_unclaimed},
};
