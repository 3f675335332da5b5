/* tests/sim/laws_function.c - what must hold of a function and of what it remembers.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "function.h"

#include <stdio.h>
#include <string.h>

static bool is_same(const char *a, const char *b)
{
    return a == b || (a && b && strcmp(a, b) == 0);
}

static bool is_begun_anew(const struct seen_instance *now)
{
    return has_event(now, "workflow_restarted", NULL) ||
           has_event(now, "workflow_retried", NULL) || has_event(now, "dlq_requeued", NULL);
}

/* ---- what a worker is given ------------------------------------------------------------------ */

static bool is_remembered_so(const cairn_step *step, const struct step_row *row)
{
    return is_same(step->name, row->name) &&
           is_same(step->status, step_status_name(row->status)) &&
           is_same(step->kind, step_kind_name(row->kind)) &&
           is_same(step->output, row->output) && is_same(step->error, row->error) &&
           is_same(step->input, row->input) && step->attempts == row->attempts &&
           step->commit_no == row->commit_no && step->deadline_at_us == row->deadline_at_us;
}

/* What a worker has kept and what the claim has brought are together what is in the store, if nothing has
 * happened to the instance since. */
void law_of_memory(struct sim *sim, const cairn_task *task)
{
    const cairn_memory *memory = task->memory;
    const struct seen_instance *now = snapshot_find(sim->now, task->instance_id);
    size_t at = 0;
    if (memory->steps_from != 1)
        sim_broken(sim, "the memory of %s begins at step %d", task->id, memory->steps_from);
    if (!now || now->row.revision != memory->revision)
        return;
    for (size_t i = 0; i < now->step_count; i++) {
        const struct step_row *row = &now->steps[i];
        if (row->seq == 0)
            continue;
        if (at == memory->step_count || memory->steps[at]->seq != row->seq ||
            !is_remembered_so(memory->steps[at], row))
            sim_broken(sim, "%s was not given its step %s as it is", task->id, row->name);
        at++;
    }
    if (at != memory->step_count)
        sim_broken(sim, "%s was given %zu steps, and has %zu", task->id, memory->step_count,
                   at);
}

/* ---- only by a commit -------------------------------------------------------------------- */

/* A commit of this instance that may have been carried out just now; NULL: none (any more). */
static const struct commit_input *next_commit(const struct sim *sim,
                                              const struct seen_instance *now, int *at)
{
    while (*at < OPS_MAX) {
        const struct op *op = &sim->ops[(*at)++];
        if (op->request && op->request->op == OP_COMMIT && op->may_succeed &&
            strncmp(op->held.id, now->row.id, strlen(now->row.id)) == 0)
            return &op->request->in.commit;
    }
    return NULL;
}

static bool has_commit(const struct sim *sim, const struct seen_instance *now)
{
    int at = 0;
    return next_commit(sim, now, &at) != NULL;
}

static bool is_in_commit(const struct sim *sim, const struct seen_instance *now,
                         const char *key)
{
    const struct commit_input *in;
    for (int at = 0; (in = next_commit(sim, now, &at)) != NULL;)
        for (size_t i = 0; i < in->step_count; i++)
            if (strcmp(in->steps[i].key, key) == 0)
                return true;
    return false;
}

static bool is_log_in_commit(const struct sim *sim, const struct seen_instance *now,
                             const char *message)
{
    const struct commit_input *in;
    for (int at = 0; (in = next_commit(sim, now, &at)) != NULL;)
        for (size_t i = 0; i < in->log_count; i++)
            if (strcmp(in->logs[i].message, message) == 0)
                return true;
    return false;
}

/* Rows come with a good commit that says so, and go when somebody begins anew, or accepts other
 * code. */
static void law_of_coming(struct sim *sim, const struct seen_instance *before,
                          const struct seen_instance *now)
{
    for (size_t i = 0; i < now->step_count; i++) {
        const struct step_row *row = &now->steps[i];
        const struct step_row *old = before ? seen_step(before, row->seq) : NULL;
        if (row->seq > 0 && !(old && is_same(old->name, row->name)) &&
            !is_in_commit(sim, now, row->name))
            sim_broken(sim, "%s is remembered, and nobody has said so", row->name);
        for (size_t k = 0; k < i; k++)
            if (strcmp(now->steps[k].name, row->name) == 0)
                sim_broken(sim, "%s is remembered twice", row->name);
        if (row->seq >= now->row.places)
            sim_broken(sim, "%s has a place that is not taken", row->name);
    }
}

static void law_of_going(struct sim *sim, const struct seen_instance *before,
                         const struct seen_instance *now)
{
    for (size_t i = 0; before && i < before->step_count; i++) {
        const struct step_row *old = &before->steps[i];
        const struct step_row *row = seen_step(now, old->seq);
        if (row && is_same(row->name, old->name))
            continue;
        bool has_gaps = before->step_count < (size_t)before->row.places;
        bool is_replaced =
            (now->row.is_forced || has_gaps) && is_in_commit(sim, now, old->name);
        if (!is_begun_anew(now) && !is_replaced)
            sim_broken(sim, "%s was remembered, and is forgotten", old->name);
    }
}

/* A line of the program logs once, however many passages come by, unless people have interfered. */
static void law_of_line(struct sim *sim, const struct seen_instance *now, const char *message)
{
    bool is_undisturbed = now->row.generation == 1 && !now->row.is_forced && !now->row.is_dlq &&
                          now->step_count == (size_t)now->row.places && !sim->is_code_changing;
    char line[32];
    if (message[0] != '@' || !is_undisturbed)
        return;
    snprintf(line, sizeof line, "%.*s:", (int)strcspn(message, ":"), message);
    if (sim_count_logs(sim, now->row.id, line) != 1)
        sim_broken(sim, "the line %s has logged again: %s", line, message);
}

static void law_of_logs(struct sim *sim, const struct seen_instance *now)
{
    for (size_t i = 0; i < now->log_count; i++) {
        const char *message = now->logs[i].message;
        if (!is_log_in_commit(sim, now, message))
            sim_broken(sim, "the log %s is kept, and nobody has committed it", message);
        if (sim_count_logs(sim, now->row.id, message) != 1)
            sim_broken(sim, "the log %s is kept twice", message);
        law_of_line(sim, now, message);
    }
}

/* ---- a row ------------------------------------------------------------------------------- */

static bool is_possible(const struct step_row *row)
{
    bool is_undo = row->status == STEP_COMPENSATION || row->status == STEP_ROLLED_BACK;
    if (row->status == STEP_COMPLETED || is_undo)
        return true;
    switch (row->kind) {
    case KIND_TASK:
        return row->status == STEP_READY || row->status == STEP_FAILED ||
               row->status == STEP_SKIPPED;
    case KIND_SLEEP:
    case KIND_WAIT:
        return row->status == STEP_WAITING || row->status == STEP_SKIPPED;
    case KIND_START:
        return row->status == STEP_FAILED;
    default:
        return false;
    }
}

static void law_of_row(struct sim *sim, const struct step_row *row)
{
    if (!is_possible(row))
        sim_broken(sim, "the %s %s is %s", step_kind_name(row->kind), row->name,
                   step_status_name(row->status));
    bool is_undo = row->status == STEP_COMPENSATION;
    if (!is_undo &&
        (row->is_ready || (row->due_at_us && row->status != STEP_WAITING && !row->locked_by)))
        sim_broken(sim, "%s is only remembered, but could be claimed", row->name);
    bool is_run_out = row->kind == KIND_WAIT && row->status == STEP_SKIPPED && !row->stop;
    if (is_run_out && !is_same(row->error, "WAITING_TIMEOUT"))
        sim_broken(sim, "the wait %s was skipped: %s", row->name, row->error);
    if (row->status == STEP_COMPLETED && !row->commit_no)
        sim_broken(sim, "%s has ended without a commit number", row->name);
}

static void law_of_same(struct sim *sim, const struct step_row *old, const struct step_row *row)
{
    if (old->kind != row->kind || !is_same(old->input, row->input))
        sim_broken(sim, "%s is another step now", row->name);
    if (old->status == STEP_COMPLETED && !is_same(old->output, row->output))
        sim_broken(sim, "%s was remembered as %s, now as %s", row->name, old->output,
                   row->output);
    if (old->commit_no && old->commit_no != row->commit_no)
        sim_broken(sim, "the commit number of %s changed", row->name);
}

/* A wait shows what it took.  The end of a called child is a signal of the engine, whose payload is not
 * the simulator's: laws_family.c knows it. */
static void law_of_taken(struct sim *sim, size_t index, const struct step_row *row)
{
    if (row->kind != KIND_WAIT || row->status != STEP_COMPLETED || is_end_of_call(row))
        return;
    int shown = 0;
    for (size_t i = 0; i < sim->signal_counts[index]; i++) {
        const struct signal_seen *signal = &sim->signals[index][i];
        char payload[40];
        if (!signal->is_taken || !is_same(signal->by, row->name))
            continue;
        sim_payload(signal->id, payload);
        shown += is_same(payload, row->output);
    }
    if (shown != 1)
        sim_broken(sim, "%s shows %s, which it has taken %d times", row->name, row->output,
                   shown);
}

/* ---- the runner -------------------------------------------------------------------------- */

static int count_lost(const struct seen_instance *now, const char *name)
{
    int count = 0;
    for (size_t i = 0; i < now->event_count; i++) {
        const struct event_row *event = &now->events[i];
        count +=
            event->step && strcmp(event->step, name) == 0 &&
            strstr(event->data, "LEASE_EXPIRED") != NULL &&
            (strcmp(event->type, "step_retry") == 0 || strcmp(event->type, "step_failed") == 0);
    }
    return count;
}

/* Lost leases count in a row; a commit, and nothing else, begins the count anew. */
static void law_of_lost_leases(struct sim *sim, const struct seen_instance *before,
                               const struct seen_instance *now)
{
    const struct step_row *runner = &now->steps[0];
    int lost = count_lost(now, runner->name);
    if (is_begun_anew(now) || has_event(now, "workflow_resumed", NULL))
        return;
    int expected = (before ? before->steps[0].attempts : 0) + lost;
    bool is_reset = has_commit(sim, now) && runner->attempts <= lost;
    if (runner->attempts != expected && !is_reset)
        sim_broken(sim, "%s has lost %d leases, it counts %d", runner->name, expected,
                   runner->attempts);
    bool is_going = runner->status == STEP_READY || runner->status == STEP_RUNNING;
    if (is_going && runner->attempts >= runner->max_attempts)
        sim_broken(sim, "%s goes on after %d lost leases", runner->name, runner->attempts);
}

/* Waits for something that will come.  A retry that was due when the latest run began was passed over by
 * it, because the code suspends at an earlier step: the next run may begin later than that. */
static void law_of_suspension(struct sim *sim, const struct seen_instance *before,
                              const struct seen_instance *now)
{
    const struct step_row *runner = &now->steps[0];
    int waiting = 0;
    int64_t retry_us = INT64_MAX, coming_us = INT64_MAX;
    int64_t begun_us = before ? before->steps[0].next_run_at_us : 0;
    for (size_t i = 1; i < now->step_count; i++) {
        const struct step_row *row = &now->steps[i];
        waiting += row->status == STEP_WAITING;
        if (row->status == STEP_READY && row->next_run_at_us < retry_us)
            retry_us = row->next_run_at_us;
        if (row->status == STEP_READY && row->next_run_at_us < coming_us &&
            row->next_run_at_us > begun_us)
            coming_us = row->next_run_at_us;
    }
    bool is_going =
        now->row.status == INSTANCE_RUNNING || now->row.status == INSTANCE_WAITING_SIGNAL;
    if (!is_going || now->row.goal)
        return;
    if (runner->status == STEP_WAITING && !waiting)
        sim_broken(sim, "%s waits, and for nothing", runner->name);
    if (runner->status == STEP_WAITING && retry_us != INT64_MAX)
        sim_broken(sim, "%s waits, and forgets what is to be called again", runner->name);
    bool is_late = runner->status == STEP_READY && runner->next_run_at_us > sim->now->now_us &&
                   runner->next_run_at_us > coming_us && !sim->has_released;
    if (is_late)
        sim_broken(sim, "%s would begin after what is to be called again", runner->name);
}

static bool has_said_something(const struct sim *sim, const struct seen_instance *now)
{
    const struct commit_input *in;
    for (int at = 0; (in = next_commit(sim, now, &at)) != NULL;)
        if (in->step_count)
            return true;
    return false;
}

/* A run that has come to nothing, because a step awaits its retry, is not followed by another one before
 * something is due that was not due for it. */
static void law_of_spinning(struct sim *sim, const struct seen_instance *before,
                            const struct seen_instance *now)
{
    const struct step_row *runner = &now->steps[0];
    bool is_again = false, is_any_later = false;
    if (!before || before->steps[0].status != STEP_RUNNING || runner->status != STEP_READY ||
        runner->next_run_at_us > before->steps[0].next_run_at_us ||
        has_said_something(sim, now) || is_begun_anew(now))
        return;
    for (size_t i = 0; i < now->event_count; i++)
        is_again |= strcmp(now->events[i].type, "step_ready") == 0 &&
                    is_same(now->events[i].step, runner->name) &&
                    strstr(now->events[i].data, "\"retry\"");
    for (size_t i = 1; i < now->step_count; i++)
        is_any_later |= now->steps[i].status == STEP_READY &&
                        now->steps[i].next_run_at_us > runner->next_run_at_us;
    if (is_again && is_any_later)
        sim_broken(sim, "%s runs again at once, as if it could come any further", runner->name);
}

/* What has ended since the latest passage began is seen by another one. */
static void law_of_waking(struct sim *sim, size_t index)
{
    const struct seen_instance *now = &sim->now->instances[index];
    struct function_seen *seen = &sim->functions[index];
    for (size_t i = 0; i < now->event_count; i++) {
        const struct event_row *event = &now->events[i];
        const struct step_row *row = event->step ? seen_key(now, event->step) : NULL;
        bool is_end = strcmp(event->type, "step_completed") == 0 ||
                      strcmp(event->type, "step_skipped") == 0;
        if (strcmp(event->type, "workflow_restarted") == 0 ||
            strcmp(event->type, "workflow_retried") == 0)
            *seen = (struct function_seen){0};
        if (!row)
            continue;
        if (row->seq == 0 && strcmp(event->type, "step_started") == 0)
            seen->has_unseen = false;
        if (row->seq == 0)
            continue;
        if (strcmp(event->type, "step_waiting") == 0)
            seen->is_waiting[row->seq] = true;
        if (is_end && seen->is_waiting[row->seq]) {
            seen->is_waiting[row->seq] = false;
            seen->has_unseen = true;
        }
    }
    bool is_going =
        now->row.status == INSTANCE_RUNNING || now->row.status == INSTANCE_WAITING_SIGNAL;
    if (is_going && !now->row.goal && seen->has_unseen && now->steps[0].status == STEP_WAITING)
        sim_broken(sim, "%s was not woken", now->steps[0].name);
}

static bool has_changed(const struct seen_instance *before, const struct seen_instance *now)
{
    if (before->row.status != now->row.status || before->row.goal != now->row.goal ||
        before->row.active_count != now->row.active_count ||
        before->row.commits != now->row.commits || before->row.places != now->row.places ||
        before->step_count != now->step_count)
        return true;
    for (size_t i = 1; i < now->step_count; i++)
        if (before->steps[i].seq != now->steps[i].seq ||
            before->steps[i].status != now->steps[i].status)
            return true;
    return false;
}

static void law_of_revision(struct sim *sim, const struct seen_instance *before,
                            const struct seen_instance *now)
{
    int64_t more = now->row.revision - before->row.revision;
    bool is_begun = before->row.status == INSTANCE_PENDING;
    if (more < 0 || (more == 0 && !is_begun && has_changed(before, now)))
        sim_broken(sim, "%s has changed, its revision is %lld as before", now->row.id,
                   (long long)now->row.revision);
    if (now->row.places < before->row.places && !has_event(now, "workflow_restarted", NULL))
        sim_broken(sim, "%s uses places again", now->row.id);
}

/* ---- all of it --------------------------------------------------------------------------- */

void laws_of_function(struct sim *sim, size_t index, const struct seen_instance *before)
{
    const struct seen_instance *now = &sim->now->instances[index];
    law_of_coming(sim, before, now);
    law_of_going(sim, before, now);
    law_of_logs(sim, now);
    for (size_t i = 1; i < now->step_count; i++) {
        const struct step_row *row = &now->steps[i];
        const struct step_row *old = before ? seen_step(before, row->seq) : NULL;
        law_of_row(sim, row);
        law_of_taken(sim, index, row);
        if (old && is_same(old->name, row->name) && !is_begun_anew(now))
            law_of_same(sim, old, row);
    }
    law_of_lost_leases(sim, before, now);
    law_of_suspension(sim, before, now);
    law_of_spinning(sim, before, now);
    law_of_waking(sim, index);
    if (before)
        law_of_revision(sim, before, now);
}
