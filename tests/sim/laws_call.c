/* tests/sim/laws_call.c - what must hold when a step's code is called, is told what is remembered,
 * or hears of its commit.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * Whoever has lost the lease may still call one step, if nobody has told it yet: what it says
 * about that is refused.  So these laws are about those who have it.
 */
#include "function.h"
#include "worker/passage.h"

#include <stdio.h>
#include <string.h>

bool runner_has_lease(const struct runner *runner)
{
    struct sim *sim = runner->sim;
    const struct step_row *row = snapshot_step(sim->now, runner->held.id);
    return !runner->is_dead && row && row->token && row->status == STEP_RUNNING &&
           strcmp(row->token, runner->held.token) == 0 &&
           row->locked_until_us >= clock_now_us(&sim->clock);
}

/* In step mode what was finished is remembered before anything else is called; but for the steps that
 * run side by side with it: one of them may be executed still, and those behind it wait for that. */
static void law_of_earlier_calls(struct runner *runner, const struct seen_instance *instance)
{
    size_t earlier = runner->is_in_group ? runner->group_from : runner->call_count;
    for (size_t i = 0; i < earlier; i++) {
        const struct step_row *row = seen_key(instance, runner->calls[i].key);
        if (!row || !step_is_ended(row->status))
            sim_broken(runner->sim, "%s was called, and the next one before it is remembered",
                       runner->calls[i].key);
    }
}

static struct call_seen *find_call(struct runner *runner, const char *key)
{
    for (size_t i = 0; i < runner->call_count; i++)
        if (strcmp(runner->calls[i].key, key) == 0)
            return &runner->calls[i];
    return NULL;
}

void law_of_call(struct runner *runner, const char *key, int32_t attempt, int32_t max_attempts)
{
    struct sim *sim = runner->sim;
    const struct seen_instance *instance = snapshot_find(sim->now, runner->instance_id);
    if (runner_has_lease(runner)) {
        const struct step_row *row = seen_key(instance, key);
        if (row && row->kind != KIND_TASK && instance->row.is_forced)
            row = NULL; /* it is forgotten with the next commit */
        if (row && row->status != STEP_READY)
            sim_broken(sim, "%s is called, but it is %s already", key,
                       step_status_name(row->status));
        if (row && row->next_run_at_us > clock_now_us(&sim->clock))
            sim_broken(sim, "%s is called again too early", key);
        if (attempt != (row ? row->attempts : 0) + 1)
            sim_broken(sim, "%s is told that this is call %d", key, attempt);
        bool is_step_mode = !runner->program->is_passage_mode && !runner->program->is_fanout;
        if (is_step_mode)
            law_of_earlier_calls(runner, instance);
        if (runner->is_told_to_stop)
            sim_broken(sim, "%s is called, although its worker was told to stop", key);
    }
    if (attempt > max_attempts)
        sim_broken(sim, "%s is called %d times, %d are allowed", key, attempt, max_attempts);
    if (find_call(runner, key))
        sim_broken(sim, "%s is called twice in one passage", key);
    if (runner->call_count == CALLS_MAX)
        sim_broken(sim, "more was called than there is room for");
    struct call_seen *call = &runner->calls[runner->call_count++];
    *call = (struct call_seen){.attempt = attempt};
    snprintf(call->key, KEY_TEXT, "%s", key);
}

/* output NULL: it has failed. */
void law_of_call_end(struct runner *runner, const char *key, const char *output)
{
    struct call_seen *call = find_call(runner, key);
    if (!call || call->is_ended)
        sim_broken(runner->sim, "the call of %s ends %s", key, call ? "twice" : "unheard of");
    call->is_ended = true;
    call->is_completed = output != NULL;
    snprintf(call->output, sizeof call->output, "%s", output ? output : "");
}

/* told NULL: that it has failed, or run out; of a sleep: that it is over. */
void law_of_told(struct runner *runner, const char *key, const char *kind, const char *told)
{
    struct sim *sim = runner->sim;
    const struct seen_instance *instance = snapshot_find(sim->now, runner->instance_id);
    const struct step_row *row = instance ? seen_key(instance, key) : NULL;
    if (!row || !runner_has_lease(runner) || instance->row.is_forced)
        return;
    if (strcmp(step_kind_name(row->kind), kind) != 0)
        sim_broken(sim, "%s is remembered as a %s, told as a %s", key,
                   step_kind_name(row->kind), kind);
    if (row->status == STEP_READY)
        return; /* it was called again just now, and is not remembered yet */
    bool is_completed = row->status == STEP_COMPLETED;
    if (is_completed != (told != NULL || row->kind == KIND_SLEEP))
        sim_broken(sim, "%s is %s, the code is told %s", key, step_status_name(row->status),
                   told ? told : "otherwise");
    if (told && strcmp(row->output, told) != 0)
        sim_broken(sim, "%s is remembered as %s, the code is told %s", key, row->output, told);
}

static bool is_asked_for(const struct runner *runner, const char *key)
{
    for (size_t i = 0; i < runner->asked_count; i++)
        if (strcmp(runner->asked[i], key) == 0)
            return true;
    return runner->asked_count == CALLS_MAX;
}

/* Code completes if it has asked for all that is remembered, or was accepted as it is. */
void law_of_complete(const struct runner *runner, const struct commit_input *in)
{
    if (!runner->passage || in->outcome != PASSAGE_COMPLETE)
        return;
    const cairn_memory *memory = runner->passage->task.memory;
    bool has_gaps = memory->step_count + 1 < (size_t)memory->places;
    for (size_t i = 0; i < memory->step_count && !memory->is_forced && !has_gaps; i++)
        if (!is_asked_for(runner, memory->steps[i]->name))
            sim_broken(runner->sim, "%s completes without having asked for %s", runner->held.id,
                       memory->steps[i]->name);
}

/* ---- results ----------------------------------------------------------------------------- */

static bool is_limited(const struct runner *runner, const char *key)
{
    size_t len = strcspn(key, "#");
    for (int i = 0; i < runner->program->count; i++) {
        const struct program_op *op = &runner->program->ops[i];
        if (op->timeout_ms > 0 && strlen(op->key) == len && strncmp(op->key, key, len) == 0)
            return true;
    }
    return false;
}

/* What is committed of a step is what its own code has said, whichever of several ended first. */
static void law_of_result(const struct runner *runner, const struct call_seen *call,
                          const struct commit_step *step, bool is_last)
{
    struct sim *sim = runner->sim;
    bool is_completed = strcmp(step->status, "completed") == 0;
    bool is_ready = strcmp(step->status, "ready") == 0;
    if (!call->is_ended && (!is_last || !is_ready || step->attempts != call->attempt - 1))
        sim_broken(sim, "%s is committed as %s while it is executed", step->key, step->status);
    if (!call->is_ended)
        return;
    if (is_completed && (!call->is_completed || strcmp(step->output, call->output) != 0))
        sim_broken(sim, "%s is committed with %s, its code said %s", step->key, step->output,
                   call->is_completed ? call->output : "that it failed");
    if (!is_completed && call->is_completed && !is_limited(runner, call->key))
        sim_broken(sim, "%s is committed as %s, its code said %s", step->key, step->status,
                   call->output);
}

/* Of what was called in this passage; and none goes before one that began earlier. */
void law_of_results(const struct runner *runner, const struct commit_input *in)
{
    size_t settled = 0;
    for (size_t i = 0; i < in->step_count && runner->passage; i++) {
        const struct commit_step *step = &in->steps[i];
        size_t at = 0;
        bool is_news =
            strcmp(step->kind, "task") == 0 && strcmp(step->status, "forgotten") != 0;
        while (at < runner->call_count && strcmp(runner->calls[at].key, step->key) != 0)
            at++;
        if (is_news && at == runner->call_count && strcmp(step->status, "failed") != 0)
            sim_broken(runner->sim, "%s is committed, and was not called", step->key);
        if (!is_news || at == runner->call_count)
            continue;
        law_of_result(runner, &runner->calls[at], step, in->outcome != PASSAGE_GO_ON);
        for (size_t k = 0; k < at && in->outcome == PASSAGE_GO_ON; k++)
            if (!runner->calls[k].is_ended)
                sim_broken(runner->sim, "%s is committed before %s has ended", step->key,
                           runner->calls[k].key);
        if (at < settled)
            sim_broken(runner->sim, "%s is committed after what began later", step->key);
        settled = at;
    }
}

/* ---- answers ----------------------------------------------------------------------------- */

static int count_logs(struct sim *sim, const char *instance_id, const char *message)
{
    const struct seen_instance *instance = snapshot_find(sim->now, instance_id);
    return instance ? sim_count_logs(sim, instance_id, message) : 0;
}

/* All of it, or nothing. */
void law_of_commit(struct sim *sim, const struct op *op)
{
    const struct commit_input *in = &op->request->in.commit;
    const struct runner *runner = op->runner;
    cairn_code code = op->request->code;
    bool is_unsure = code == CAIRN_E_CLOSED || code == CAIRN_E_UNREACHABLE ||
                     code == CAIRN_E_BUSY || code == CAIRN_E_TOO_MANY;
    bool is_again = op->request != runner->wanted;
    if (code == CAIRN_OK && !op->may_succeed)
        sim_broken(sim, "a commit on %s with the token %s was accepted, which had no lease",
                   runner->held.id, runner->held.token);
    for (size_t i = 0; i < in->log_count && !is_unsure; i++) {
        int count = count_logs(sim, runner->instance_id, in->logs[i].message);
        if (count != (code == CAIRN_OK) && !(is_again && count < 2))
            sim_broken(sim,
                       "the log %s of a commit that was answered with %s is there %d times",
                       in->logs[i].message, cairn_code_name(code), count);
    }
    const struct step_row *row = snapshot_step(sim->now, runner->held.id);
    bool is_held = row && row->token && strcmp(row->token, runner->held.token) == 0;
    if (code == CAIRN_OK && is_held && row->attempts)
        sim_broken(sim, "%s still counts %d lost leases after a commit", row->name,
                   row->attempts);
    if (code == CAIRN_E_CONFLICT && !strstr(op->request->error.message, "unheard"))
        sim_broken(sim, "a commit was refused: %s", op->request->error.message);
    if (code == CAIRN_E_BAD_INPUT &&
        (in->step_count != 1 || strcmp(in->steps[0].key, "nonsense")))
        sim_broken(sim, "a commit was refused: %s", op->request->error.message);
}
