/* engine/doctor_flow.c - what is wrong with instances and steps.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * Every look is bounded: counts of what is open come from partial indexes, and of instances the
 * newest SAMPLE of a status are read.  A text says so where a sample was full.
 */
#include "base/error.h"
#include "engine/doctor.h"

#include <inttypes.h>
#include <string.h>

enum { SAMPLE = 100, STEPS_SAMPLE = 64 };

/* How long something may wait before it is worth a word. */
#define TIMER_LATE_US (60 * US_PER_SEC)
#define READY_LATE_US (600 * US_PER_SEC)
#define DECISION_LATE_US (24 * 3600 * US_PER_SEC)

struct flow_doctor {
    const struct store_ops *ops;
    struct store_tx *tx;
    struct doctor_output *out;
    struct instance_row *instances; /* room for SAMPLE */
    struct step_row *steps;         /* room for STEPS_SAMPLE */
    size_t instance_count;
};

static const char *or_more(size_t count)
{
    return count == SAMPLE ? " or more" : "";
}

static cairn_code read_instances(struct flow_doctor *doctor, enum instance_status status,
                                 cairn_error *reterr)
{
    struct instance_filter filter = {.status = status};
    return doctor->ops->list_instances(doctor->tx, &filter, doctor->instances, SAMPLE,
                                       &doctor->instance_count, reterr);
}

static cairn_code look_at_timers(struct flow_doctor *doctor, cairn_error *reterr)
{
    int64_t job_us = 0, flow_us = 0, now_us = doctor->tx->now_us;
    cairn_code code = doctor->ops->next_due(doctor->tx, &job_us, reterr);
    if (!code)
        code = doctor->ops->next_flow_due(doctor->tx, &flow_us, reterr);
    if (code)
        return code;
    int64_t first_us = !job_us || (flow_us && flow_us < job_us) ? flow_us : job_us;
    if (first_us && now_us - first_us > TIMER_LATE_US)
        find(doctor->out, "timers", "warning",
             "a timer is %" PRId64 " s overdue: sleeps, retries, timeouts and lost leases wait "
             "until an engine applies them; start cairn serve or a worker",
             (now_us - first_us) / US_PER_SEC);
    else
        find(doctor->out, "timers", "ok", "no timer is overdue");
    return CAIRN_OK;
}

static cairn_code look_at_dlq(struct flow_doctor *doctor, cairn_error *reterr)
{
    size_t count = 0;
    struct dlq_row *rows = arena_array(doctor->tx->arena, SAMPLE, sizeof *rows);
    if (!rows)
        return fail_memory(reterr);
    cairn_code code = doctor->ops->list_dlq(doctor->tx, NULL, 0, rows, SAMPLE, &count, reterr);
    if (code)
        return code;
    if (count)
        find(doctor->out, "dlq", "warning",
             "%zu%s records are open, the newest %" PRId64 ": step \"%.64s\" of instance %s, "
             "%.96s; mend the cause, then run: cairn dlq requeue %" PRId64,
             count, or_more(count), rows[0].id, rows[0].step_name, rows[0].instance_id,
             rows[0].reason ? rows[0].reason : "no reason given", rows[0].id);
    else
        find(doctor->out, "dlq", "ok", "no record is open");
    return CAIRN_OK;
}

static cairn_code look_at_paused(struct flow_doctor *doctor, cairn_error *reterr)
{
    size_t mismatched = 0;
    const char *example = NULL;
    cairn_code code = read_instances(doctor, INSTANCE_PAUSED, reterr);
    for (size_t i = 0; i < doctor->instance_count && !code; i++) {
        const struct instance_row *row = &doctor->instances[i];
        bool is_mismatch = row->last_error && strstr(row->last_error, "version_mismatch");
        if (is_mismatch && mismatched++ == 0)
            example = row->id;
    }
    if (code)
        return code;
    size_t count = doctor->instance_count;
    if (mismatched)
        find(doctor->out, "versions", "warning",
             "%zu%s functions are paused with version_mismatch, such as %s: their code has "
             "changed; deploy the old code again, or accept the new: cairn resume %s --force",
             mismatched, or_more(count), example, example);
    else
        find(doctor->out, "versions", "ok", "no function is paused with version_mismatch");
    if (count)
        find(doctor->out, "paused", "warning",
             "%zu%s instances are paused, the newest %s of \"%.64s\": nothing of them runs until "
             "cairn resume",
             count, or_more(count), doctor->instances[0].id, doctor->instances[0].workflow);
    return CAIRN_OK;
}

static cairn_code look_at_undone(struct flow_doctor *doctor, cairn_error *reterr)
{
    size_t count = 0;
    const char *example = NULL;
    cairn_code code = read_instances(doctor, INSTANCE_FAILED, reterr);
    for (size_t i = 0; i < doctor->instance_count && !code; i++)
        if (doctor->instances[i].is_undo_failed && count++ == 0)
            example = doctor->instances[i].id;
    if (code)
        return code;
    if (count)
        find(doctor->out, "undo", "warning",
             "%zu of the newest %zu failed instances have a compensation that failed, such as %s: "
             "what it should have undone still stands; see cairn show, then cairn dlq requeue",
             count, doctor->instance_count, example);
    else
        find(doctor->out, "undo", "ok", "of the newest %zu failed instances all are undone",
             doctor->instance_count);
    return CAIRN_OK;
}

/* What the steps of running instances wait for. */
struct waits {
    size_t unclaimed, undecided, overdue;
    struct step_row ready, decision; /* the ones that have waited longest */
};

static void look_at_step(struct waits *waits, const struct step_row *row, int64_t now_us)
{
    bool is_late = row->is_ready && now_us - row->next_run_at_us > READY_LATE_US;
    if (is_late && (waits->unclaimed++ == 0 || row->next_run_at_us < waits->ready.next_run_at_us))
        waits->ready = *row;
    if (row->status != STEP_WAITING_DECISION)
        return;
    bool is_overdue = row->deadline_at_us && row->deadline_at_us < now_us;
    if (!is_overdue && now_us - row->updated_at_us < DECISION_LATE_US)
        return;
    waits->overdue += is_overdue;
    if (waits->undecided++ == 0 || row->updated_at_us < waits->decision.updated_at_us)
        waits->decision = *row;
}

static cairn_code look_at_waits(struct flow_doctor *doctor, cairn_error *reterr)
{
    struct waits waits = {0};
    int64_t now_us = doctor->tx->now_us;
    cairn_code code = read_instances(doctor, INSTANCE_RUNNING, reterr);
    for (size_t i = 0; i < doctor->instance_count && !code; i++) {
        size_t count = 0;
        code = doctor->ops->list_steps(doctor->tx, doctor->instances[i].id, -1, true,
                                       doctor->steps, STEPS_SAMPLE, &count, reterr);
        for (size_t k = 0; k < count && !code; k++)
            look_at_step(&waits, &doctor->steps[k], now_us);
    }
    if (code)
        return code;
    if (waits.unclaimed)
        find(doctor->out, "steps", "warning",
             "%zu steps of the newest %zu running instances have been ready for more than 10 "
             "minutes, such as \"%.64s\" of %s: no worker claims the type \"%.64s\"; start one "
             "that does",
             waits.unclaimed, doctor->instance_count, waits.ready.name, waits.ready.instance_id,
             waits.ready.task_type ? waits.ready.task_type : "");
    else
        find(doctor->out, "steps", "ok",
             "of the newest %zu running instances no step has waited for a worker for long",
             doctor->instance_count);
    if (waits.undecided)
        find(doctor->out, "decisions", "warning",
             "%zu steps have waited for a decision for more than a day, %zu are past their "
             "deadline, such as \"%.64s\" of %s; run: cairn approve %s %.64s, or cairn reject",
             waits.undecided, waits.overdue, waits.decision.name, waits.decision.instance_id,
             waits.decision.instance_id, waits.decision.name);
    else
        find(doctor->out, "decisions", "ok", "no decision is long awaited");
    return CAIRN_OK;
}

cairn_code doctor_flow(const struct store_ops *ops, struct store_tx *tx,
                       struct doctor_output *out, cairn_error *reterr)
{
    struct flow_doctor doctor = {
        .ops = ops,
        .tx = tx,
        .out = out,
        .instances = arena_array(tx->arena, SAMPLE, sizeof *doctor.instances),
        .steps = arena_array(tx->arena, STEPS_SAMPLE, sizeof *doctor.steps),
    };
    if (!doctor.instances || !doctor.steps)
        return fail_memory(reterr);
    cairn_code code = look_at_timers(&doctor, reterr);
    if (!code)
        code = look_at_waits(&doctor, reterr);
    if (!code)
        code = look_at_dlq(&doctor, reterr);
    if (!code)
        code = look_at_paused(&doctor, reterr);
    if (!code)
        code = look_at_undone(&doctor, reterr);
    return code;
}
