/* engine/doctor_flow.c - what is wrong with instances and steps.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * Every look is bounded: counts of what is open come from partial indexes, and of instances the
 * newest SAMPLE of a status are read.  A text says so where a sample was full.
 */
#include "engine/read_why.h"
#include "engine/schedule.h"

#include <inttypes.h>
#include <string.h>

enum { SAMPLE = 100, STEPS_SAMPLE = 64, TYPES_SAMPLE = 1000, EVENTS_SAMPLE = 200 };

/* How long something may wait before it is worth a word. */
#define TIMER_LATE_US (60 * US_PER_SEC)
#define READY_LATE_US (600 * US_PER_SEC)
#define FUNCTION_LATE_US (3600 * US_PER_SEC)
#define DECISION_LATE_US (24 * 3600 * US_PER_SEC)

struct flow_doctor {
    struct question *q;
    struct instance_row *instances; /* room for SAMPLE */
    struct step_row *steps;         /* room for STEPS_SAMPLE */
    struct event_row *events;       /* room for EVENTS_SAMPLE */
    size_t instance_count;
};

static const char *or_more(size_t count)
{
    return count == SAMPLE ? " or more" : "";
}

static cairn_code read_instances(struct flow_doctor *doctor, enum instance_status status)
{
    struct list_filter filter = {.statuses = STATUS_BIT(status)};
    struct list_end end;
    TRY(list_instances(doctor->q->tx, &filter, doctor->instances, SAMPLE, &end,
                       doctor->q->error));
    doctor->instance_count = end.count;
    return CAIRN_OK;
}

static cairn_code look_at_timers(struct flow_doctor *doctor)
{
    int64_t first_us, now_us = doctor->q->tx->now_us;
    TRY(question_next_due(doctor->q, &first_us));
    if (first_us && now_us - first_us > TIMER_LATE_US)
        return find(doctor->q, "timers", "warning",
                    "a timer is %" PRId64
                    " s overdue: sleeps, retries, timeouts and lost leases wait "
                    "until an engine applies them; start cairn serve or a worker",
                    (now_us - first_us) / US_PER_SEC);
    return find(doctor->q, "timers", "ok", "no timer is overdue");
}

static cairn_code look_at_dlq(struct flow_doctor *doctor)
{
    size_t count = 0;
    struct dlq_row *rows = arena_array(doctor->q->tx->arena, SAMPLE, sizeof *rows);
    NEED(rows, doctor->q->error);
    TRY(STORE(doctor->q, list_dlq, NULL, 0, rows, SAMPLE, &count));
    if (count)
        return find(doctor->q, "dlq", "warning",
                    "%zu%s record%s open, the newest %" PRId64
                    ": step \"%.64s\" of instance %s, "
                    "%.96s; mend the cause, then run: cairn dlq requeue %" PRId64,
                    count, or_more(count), is_or_are(count), rows[0].id, rows[0].step_name,
                    rows[0].instance_id, rows[0].reason ? rows[0].reason : "no reason given",
                    rows[0].id);
    return find(doctor->q, "dlq", "ok", "no record is open");
}

static cairn_code look_at_intake(struct flow_doctor *doctor)
{
    size_t count = 0;
    struct intake_row *rows = arena_array(doctor->q->tx->arena, SAMPLE, sizeof *rows);
    NEED(rows, doctor->q->error);
    TRY(STORE(doctor->q, list_stuck_intake, rows, SAMPLE, &count));
    if (count)
        return find(
            doctor->q, "intake", "warning",
            "%zu%s starts written by SQL cannot be made, the oldest %s of \"%.64s\": "
            "%.128s; mend the cause and set error to NULL in workflow_intake, or delete "
            "the row",
            count, or_more(count), rows[0].id, rows[0].workflow, rows[0].error);
    return find(doctor->q, "intake", "ok", "every start written by SQL was made");
}

/* Why the next run of a schedule would fail; NULL: it would not. */
static cairn_code schedule_flaw(struct flow_doctor *doctor, const struct schedule_row *row,
                                const char **ret_flaw)
{
    struct question *q = doctor->q;
    cleanup(schedule_clock_close) struct schedule_clock clock = {0};
    struct definition_row definition;
    cairn_error error = {0};
    cairn_code code = CAIRN_OK;
    *ret_flaw = NULL;
    if (schedule_clock_open(row, &clock, &error))
        *ret_flaw = arena_strdup(q->tx->arena, error.message);
    else if (row->workflow)
        code = STORE(q, get_definition, row->workflow, row->version, &definition);
    if (code == CAIRN_E_NOT_FOUND)
        *ret_flaw =
            arena_printf(q->tx->arena, "workflow \"%.64s\" does not exist", row->workflow);
    NEED(*ret_flaw || (code != CAIRN_E_NOT_FOUND && !error.code), q->error);
    return code == CAIRN_E_NOT_FOUND ? CAIRN_OK : code;
}

static cairn_code look_at_schedules(struct flow_doctor *doctor)
{
    size_t count = 0, bad = 0;
    struct schedule_row *rows = arena_array(doctor->q->tx->arena, SAMPLE, sizeof *rows);
    const char *flaw, *example = NULL, *why = NULL;
    NEED(rows, doctor->q->error);
    TRY(STORE(doctor->q, list_schedules, NULL, rows, SAMPLE, &count));
    for (size_t i = 0; i < count; i++) {
        TRY(schedule_flaw(doctor, &rows[i], &flaw));
        if (flaw && bad++ == 0)
            example = rows[i].name, why = flaw;
    }
    if (bad)
        return find(doctor->q, "schedules", "warning",
                    "%zu of %zu%s schedules cannot start anything, such as \"%.64s\": %.128s; "
                    "deploy the "
                    "workflow, install tzdata, or change it with: cairn schedule set",
                    bad, count, or_more(count), example, why);
    return find(doctor->q, "schedules", "ok",
                "%zu%s schedules, and all can start what they name", count, or_more(count));
}

static cairn_code look_at_paused(struct flow_doctor *doctor)
{
    size_t mismatched = 0;
    const char *example = NULL;
    TRY(read_instances(doctor, INSTANCE_PAUSED));
    for (size_t i = 0; i < doctor->instance_count; i++) {
        const struct instance_row *row = &doctor->instances[i];
        bool is_mismatch = row->last_error && strstr(row->last_error, "version_mismatch");
        if (is_mismatch && mismatched++ == 0)
            example = row->id;
    }
    size_t count = doctor->instance_count;
    if (mismatched)
        find(doctor->q, "versions", "warning",
             "%zu%s function%s paused with version_mismatch, such as %s: their code has "
             "changed; deploy the old code again, or accept the new: cairn resume %s --force",
             mismatched, or_more(count), is_or_are(mismatched), example, example);
    else
        find(doctor->q, "versions", "ok", "no function is paused with version_mismatch");
    if (count)
        find(doctor->q, "paused", "warning",
             "%zu%s instance%s paused, the newest %s of \"%.64s\": nothing of them runs "
             "until cairn resume",
             count, or_more(count), is_or_are(count), doctor->instances[0].id,
             doctor->instances[0].workflow);
    return CAIRN_OK;
}

static cairn_code look_at_undone(struct flow_doctor *doctor)
{
    size_t count = 0;
    const char *example = NULL;
    TRY(read_instances(doctor, INSTANCE_FAILED));
    for (size_t i = 0; i < doctor->instance_count; i++)
        if (doctor->instances[i].is_undo_failed && count++ == 0)
            example = doctor->instances[i].id;
    if (count)
        return find(
            doctor->q, "undo", "warning",
            "%zu of the newest %zu failed instances have a compensation that failed, such as "
            "%s: what it should have undone still stands; see cairn show, then cairn dlq "
            "requeue",
            count, doctor->instance_count, example);
    return find(doctor->q, "undo", "ok", "of the newest %zu failed instances all are undone",
                doctor->instance_count);
}

/* ---- steps without a worker------------------------------------------------------------------ */

/* Those of one kind that have waited for too long. */
struct late_types {
    size_t count;
    const struct ready_type *oldest;
};

static void add_late(struct late_types *late, const struct ready_type *type)
{
    late->count++;
    if (!late->oldest || type->since_us < late->oldest->since_us)
        late->oldest = type;
}

static void tell_late(struct flow_doctor *doctor, const struct late_types *steps,
                      const struct late_types *functions)
{
    int64_t now_us = doctor->q->tx->now_us;
    if (steps->count)
        find(doctor->q, "steps", "warning",
             "steps of %zu types and priorities have been ready for more than 10 minutes, such "
             "as type \"%.100s\" for %" PRId64
             " s, of instance %s: start a worker that claims it",
             steps->count, steps->oldest->name, (now_us - steps->oldest->since_us) / US_PER_SEC,
             steps->oldest->instance_id);
    else
        find(doctor->q, "steps", "ok", "no step has waited for a worker for long");
    if (functions->count)
        find(doctor->q, "functions", "warning",
             "%zu versions of functions wait, such as version %d of \"%.100s\" for %" PRId64
             " s: does any worker have code for it?",
             functions->count, (int)functions->oldest->version, functions->oldest->name,
             (now_us - functions->oldest->since_us) / US_PER_SEC);
}

static cairn_code look_at_ready(struct flow_doctor *doctor)
{
    size_t count = 0;
    struct late_types steps = {0}, functions = {0};
    struct ready_type *types = arena_array(doctor->q->tx->arena, TYPES_SAMPLE, sizeof *types);
    NEED(types, doctor->q->error);
    TRY(STORE(doctor->q, list_ready_types, types, TYPES_SAMPLE, &count));
    for (size_t i = 0; i < count; i++) {
        int64_t waited_us = doctor->q->tx->now_us - types[i].since_us;
        if (types[i].version && waited_us > FUNCTION_LATE_US)
            add_late(&functions, &types[i]);
        else if (!types[i].version && waited_us > READY_LATE_US)
            add_late(&steps, &types[i]);
    }
    tell_late(doctor, &steps, &functions);
    return CAIRN_OK;
}

/* ---- types without a worker ------------------------------------------------------------------ */

/* Types that have something to claim, and no live worker that would be given it. */
struct unserved {
    size_t count;
    const char *example;
};

static cairn_code look_at_type(struct flow_doctor *doctor, const char *name, int32_t version,
                               struct unserved *unserved)
{
    struct why_type type;
    TRY(question_type(doctor->q, name, version, &type));
    if (!type.is_judged || type.is_off || type.live)
        return CAIRN_OK;
    if (unserved->count++ == 0)
        unserved->example = name;
    return CAIRN_OK;
}

static cairn_code look_at_unserved(struct flow_doctor *doctor)
{
    struct unserved unserved = {0};
    size_t count = 0;
    const char **names = arena_array(doctor->q->arena, TYPES_SAMPLE, sizeof *names);
    struct ready_type *types = arena_array(doctor->q->arena, TYPES_SAMPLE, sizeof *types);
    NEED(names && types, doctor->q->error);
    TRY(STORE(doctor->q, list_types, true, names, TYPES_SAMPLE, &count));
    for (size_t i = 0; i < count; i++)
        TRY(look_at_type(doctor, names[i], 0, &unserved));
    TRY(STORE(doctor->q, list_ready_types, types, TYPES_SAMPLE, &count));
    for (size_t i = 0; i < count; i++)
        TRY(look_at_type(doctor, types[i].name, types[i].version, &unserved));
    if (unserved.count)
        return find(doctor->q, "workers", "warning",
                    "tasks of %zu type%s are ready and no live worker serves them, such as "
                    "\"%.100s\": start one; see cairn types and cairn workers",
                    unserved.count, unserved.count == 1 ? "" : "s", unserved.example);
    return find(doctor->q, "workers", "ok", "every type that has a task to claim is served");
}

/* ---- what steps of running instances wait for ------------------------------------------------ */

struct waits {
    size_t undecided, overdue, bounced;
    struct step_row decision, bounce; /* the ones that have waited longest */
    int64_t bounce_us;
};

static void look_at_decision(struct waits *waits, const struct step_row *row, int64_t now_us)
{
    bool is_overdue = row->deadline_at_us && row->deadline_at_us < now_us;
    if (!is_overdue && now_us - row->updated_at_us < DECISION_LATE_US)
        return;
    waits->overdue += is_overdue;
    if (waits->undecided++ == 0 || row->updated_at_us < waits->decision.updated_at_us)
        waits->decision = *row;
}

/* Since when the step's instance tells of it; 0: not among its first events. */
static cairn_code find_first_event(struct flow_doctor *doctor, const struct step_row *row,
                                   int64_t *ret_us)
{
    size_t count = 0;
    *ret_us = 0;
    TRY(STORE(doctor->q, list_events, row->instance_id, 0, doctor->events, EVENTS_SAMPLE,
              &count));
    for (size_t i = 0; i < count && !*ret_us; i++)
        if (doctor->events[i].step && strcmp(doctor->events[i].step, row->name) == 0)
            *ret_us = doctor->events[i].at_us;
    return CAIRN_OK;
}

/* Workers claim such a step and give it back: it was not called, although its key was handed out. */
static cairn_code look_at_bounce(struct flow_doctor *doctor, struct waits *waits,
                                 const struct step_row *row)
{
    int64_t since_us;
    bool is_released = row->ended_outcome && strcmp(row->ended_outcome, "release") == 0;
    if (!is_released || row->started_at_us || !row->is_effect_begun)
        return CAIRN_OK;
    TRY(find_first_event(doctor, row, &since_us));
    if (!since_us || doctor->q->tx->now_us - since_us <= READY_LATE_US)
        return CAIRN_OK;
    if (waits->bounced++ == 0 || since_us < waits->bounce_us) {
        waits->bounce = *row;
        waits->bounce_us = since_us;
    }
    return CAIRN_OK;
}

static void tell_waits(struct flow_doctor *doctor, const struct waits *waits)
{
    if (waits->bounced)
        find(doctor->q, "handlers", "warning",
             "%zu steps of the newest %zu running instances are claimed and given back again "
             "and again, such as \"%.64s\" of %s for %" PRId64
             " s: no worker that claims the type "
             "\"%.64s\" has a handler for it",
             waits->bounced, doctor->instance_count, waits->bounce.name,
             waits->bounce.instance_id, (doctor->q->tx->now_us - waits->bounce_us) / US_PER_SEC,
             waits->bounce.task_type ? waits->bounce.task_type : "");
    else
        find(doctor->q, "handlers", "ok", "no step lacks a handler");
    if (waits->undecided)
        find(doctor->q, "decisions", "warning",
             "%zu steps have waited for a decision for more than a day, %zu are past their "
             "deadline, such as \"%.64s\" of %s; run: cairn approve %s %.64s, or cairn reject",
             waits->undecided, waits->overdue, waits->decision.name,
             waits->decision.instance_id, waits->decision.instance_id, waits->decision.name);
    else
        find(doctor->q, "decisions", "ok", "no decision is long awaited");
}

static cairn_code look_at_waits(struct flow_doctor *doctor)
{
    struct waits waits = {0};
    TRY(read_instances(doctor, INSTANCE_RUNNING));
    for (size_t i = 0; i < doctor->instance_count; i++) {
        size_t count = 0;
        TRY(STORE(doctor->q, list_steps, doctor->instances[i].id, -1, true, doctor->steps,
                  STEPS_SAMPLE, &count));
        for (size_t k = 0; k < count; k++) {
            const struct step_row *row = &doctor->steps[k];
            if (row->status == STEP_WAITING_DECISION)
                look_at_decision(&waits, row, doctor->q->tx->now_us);
            else if (row->status == STEP_READY)
                TRY(look_at_bounce(doctor, &waits, row));
        }
    }
    tell_waits(doctor, &waits);
    return CAIRN_OK;
}

cairn_code doctor_flow(struct question *q)
{
    struct flow_doctor doctor = {
        .q = q,
        .instances = arena_array(q->arena, SAMPLE, sizeof *doctor.instances),
        .steps = arena_array(q->arena, STEPS_SAMPLE, sizeof *doctor.steps),
        .events = arena_array(q->arena, EVENTS_SAMPLE, sizeof *doctor.events),
    };
    NEED(doctor.instances && doctor.steps && doctor.events, q->error);
    TRY(look_at_timers(&doctor));
    TRY(look_at_ready(&doctor));
    TRY(look_at_unserved(&doctor));
    TRY(look_at_waits(&doctor));
    TRY(look_at_dlq(&doctor));
    TRY(look_at_intake(&doctor));
    TRY(look_at_schedules(&doctor));
    TRY(look_at_paused(&doctor));
    return look_at_undone(&doctor);
}
