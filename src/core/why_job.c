/* core/why_job.c - the sentences about jobs.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "core/why_say.h"

struct job_rule {
    const char *code;
    enum urgency urgency; /* of a job that has not ended: the task's */
    bool (*fits)(const struct why_job_facts *facts);
    void (*say)(struct saying *s, const struct why_job_facts *facts);
};

static struct task_facts task_of_job(const struct why_job_facts *facts)
{
    const struct job_row *row = facts->job;
    return (struct task_facts){
        .now_us = facts->now_us,
        .opened_us = facts->opened_us,
        .type = facts->type,
        .type_name = row->type,
        .name = row->type,
        .worker = row->leased_by,
        .error = row->last_error,
        .locked_until_us = row->lease_until_us,
        .call_until_us = row->call_until_us >= row->lease_until_us ? row->call_until_us : 0,
        .next_run_us = row->run_at_us,
        .attempts = row->attempt,
        .max_attempts = row->max_attempts,
    };
}

#define IS(name, condition)                             \
    static bool name(const struct why_job_facts *facts) \
    {                                                   \
        const struct job_row *row = facts->job;         \
        return condition;                               \
    }
IS(is_deleted, row->deleted_at_us != 0)
IS(is_leased, row->status == JOB_LEASED)
IS(is_later, row->status == JOB_PENDING && row->run_at_us > facts->now_us && row->attempt == 0)
IS(is_retried_later, row->status == JOB_PENDING && row->run_at_us > facts->now_us)
IS(is_pending, row->status == JOB_PENDING)
IS(is_succeeded, row->status == JOB_SUCCEEDED)
IS(is_failed, row->status == JOB_FAILED)
IS(is_cancelled, row->status != JOB_NONE)
#undef IS

static void offer_job(struct saying *s, const struct why_job_facts *facts, const char *action,
                      const char *cli)
{
    saying_offer(s, action, NULL, NULL, cli, facts->job->id);
}

static void say_deleted(struct saying *s, const struct why_job_facts *facts)
{
    saying_add(s, "Deleted {at}.");
    saying_time(s, "at", facts->job->deleted_at_us);
    s->item->since_us = facts->job->deleted_at_us;
}

static void offer_cancel(struct saying *s, const struct why_job_facts *facts)
{
    offer_job(s, facts, "job-cancel", "cairn job cancel %");
}

static void say_later(struct saying *s, const struct why_job_facts *facts)
{
    saying_add(s, "Runs {run_at}.");
    saying_time(s, "run_at", facts->job->run_at_us);
    s->item->since_us = facts->job->created_at_us;
    offer_cancel(s, facts);
}

/* The sentence and its urgency are those of a task; the code says that it is a job's. */
static void say_as_task(struct saying *s, const struct why_job_facts *facts,
                        const struct task_rule *rules)
{
    struct task_facts task = task_of_job(facts);
    const char *code = s->item->code;
    saying_rule(s, rules, &task);
    s->item->code = code;
    offer_cancel(s, facts);
}

static void say_leased(struct saying *s, const struct why_job_facts *facts)
{
    say_as_task(s, facts, why_leased_rules);
}

static void say_retry(struct saying *s, const struct why_job_facts *facts)
{
    say_as_task(s, facts, why_ready_rules);
}

static void say_ready(struct saying *s, const struct why_job_facts *facts)
{
    s->item->since_us = facts->job->run_at_us;
    say_as_task(s, facts, why_ready_rules);
}

static void say_succeeded(struct saying *s, const struct why_job_facts *facts)
{
    saying_add(s, "Succeeded in {took}.");
    saying_span(s, "took", facts->job->updated_at_us - facts->job->created_at_us);
}

static void say_failed(struct saying *s, const struct why_job_facts *facts)
{
    saying_add(s, "Failed after ");
    saying_calls(s, facts->job->attempt);
    saying_add(s, ": {error}.");
    saying_error(s, "error", facts->job->last_error);
    offer_job(s, facts, "job-retry", "cairn job retry %");
}

static void say_cancelled(struct saying *s, const struct why_job_facts *facts)
{
    saying_add(s, "Cancelled {at}.");
    saying_time(s, "at", facts->job->updated_at_us);
    offer_job(s, facts, "job-retry", "cairn job retry %");
}

static const struct job_rule rules[] = {
    {"job_deleted", URGENCY_ENDED, is_deleted, say_deleted},
    {"job_leased", URGENCY_WORKS, is_leased, say_leased},
    {"job_later", URGENCY_WAITS, is_later, say_later},
    {"job_retry", URGENCY_FAILING, is_retried_later, say_retry},
    {"job_ready", URGENCY_WAITS, is_pending, say_ready},
    {"job_succeeded", URGENCY_ENDED, is_succeeded, say_succeeded},
    {"job_failed", URGENCY_FAILING, is_failed, say_failed},
    {"job_cancelled", URGENCY_ENDED, is_cancelled, say_cancelled},
};

bool why_job(struct arena *arena, const struct why_job_facts *facts, cairn_why *ret_item)
{
    const struct job_rule *rule = rules;
    while (!rule->fits(facts))
        rule++;
    *ret_item = (cairn_why){.seq = -1, .since_us = facts->job->updated_at_us};
    struct saying s = {.arena = arena, .item = ret_item};
    saying_begin(&s, rule->code, rule->urgency);
    rule->say(&s, facts);
    return saying_done(&s);
}
