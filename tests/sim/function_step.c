/* tests/sim/function_step.c - the steps of a program: one after the other, or side by side.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "function.h"

#include <stdio.h>

struct call_arg {
    struct run *run;
    const struct program_op *op;
};

/* ---- the code of a step ------------------------------------------------------------------ */

static cairn_outcome draw_outcome(struct sim *sim)
{
    int what = sim_below(sim, 100);
    if (what < (sim->is_calm ? 88 : 66))
        return CAIRN_COMPLETE;
    if (sim->is_calm)
        return CAIRN_FAIL;
    return what < 84 ? CAIRN_FAIL : what < 94 ? CAIRN_RETRY : CAIRN_DEAD;
}

void run_log(struct run *run, const char *where, int number)
{
    char message[48];
    snprintf(message, sizeof message, "%s.%d:%d", where, number, run->sim->logs++);
    cairn_passage_log(run->passage, "info", message, NULL, NULL);
}

static void begin_code(struct run *run, const struct program_op *op, cairn_work *work)
{
    struct sim *sim = run->sim;
    const cairn_task *task = cairn_work_task(work);
    law_of_call(run->runner, task->type, task->attempt, op->retries + 1);
    if (runner_has_lease(run->runner))
        law_of_called_key(sim, task->instance_id, task->step, task->key);
    if (sim_chance(sim, 10))
        run_log(run, task->type, sim->logs);
    if (!sim->is_calm && sim_chance(sim, 40))
        runner_rest(run->runner);
}

static cairn_outcome end_code(struct run *run, cairn_work *work)
{
    struct sim *sim = run->sim;
    const cairn_task *task = cairn_work_task(work);
    char output[40];
    cairn_outcome outcome = draw_outcome(sim);
    sim_trace(sim, "      %s of %s, call %d: %d", task->type, run->runner->instance_id,
              task->attempt, outcome);
    if (outcome == CAIRN_COMPLETE) {
        snprintf(output, sizeof output, "{\"n\":%d}", sim->outputs++);
        cairn_work_set_output(work, output);
        law_of_call_end(run->runner, task->type, output);
        if (sim_chance(sim, 10))
            cairn_work_emit(work, "told", output);
        return outcome;
    }
    law_of_call_end(run->runner, task->type, NULL);
    cairn_work_set_error(work, "oops");
    if (outcome == CAIRN_RETRY && sim_chance(sim, 50))
        cairn_work_set_delay(work, sim_below(sim, 4000));
    return outcome;
}

static cairn_outcome call_step(cairn_work *work, void *arg)
{
    struct run *run = ((struct call_arg *)arg)->run;
    begin_code(run, ((struct call_arg *)arg)->op, work);
    return end_code(run, work);
}

/* ---- a step ------------------------------------------------------------------------------ */

static cairn_step_options options_of(const struct program_op *op)
{
    cairn_step_options options = CAIRN_STEP_DEFAULTS;
    options.key = op->key;
    options.input = "{\"n\": 1}";
    options.retries = op->retries;
    options.backoff = op->backoff;
    options.base_ms = op->ms;
    options.max_ms = 30000;
    options.timeout_ms = op->timeout_ms;
    options.compensation = op->compensation[0] ? op->compensation : NULL;
    options.compensation_max_attempts = op->compensation_max_attempts;
    return options;
}

/* What the code is told of a step that has ended; it may go on after one that failed. */
static cairn_code hear_step(struct run *run, const struct program_op *op, const char *key,
                            cairn_code code, const char *output)
{
    if (code == CAIRN_OK)
        run_learn(run, key, "task", output);
    if (code == CAIRN_E_STEP_FAILED)
        law_of_told(run->runner, key, "task", NULL);
    return code == CAIRN_E_STEP_FAILED && op->is_tolerant ? CAIRN_OK : code;
}

cairn_code run_step(struct run *run, const struct program_op *op)
{
    struct call_arg arg = {run, op};
    char key[KEY_TEXT];
    const char *output = NULL;
    cairn_step_options options = options_of(op);
    options.run = call_step;
    options.arg = &arg;
    run_next_key(run, op->key, key);
    cairn_code code = cairn_passage_step(run->passage, &options, &output, NULL);
    return hear_step(run, op, key, code, output);
}

/* ---- side by side ------------------------------------------------------------------------ */

enum { MEMBERS_MAX = 4 };

struct member {
    const struct program_op *op;
    char key[KEY_TEXT];
    cairn_work *work; /* NULL: it has ended */
};

struct group {
    struct run *run;
    struct member members[MEMBERS_MAX];
    int count, running;
    cairn_code code; /* the first that is not good */
    int64_t values;
};

static void note_code(struct group *group, const struct member *member, cairn_code code,
                      const char *output)
{
    code = hear_step(group->run, member->op, member->key, code, output);
    if (!group->code)
        group->code = code;
    group->values += group->run->value; /* in whatever order they end */
}

static void begin_member(struct group *group, const struct program_op *op)
{
    struct member *member = &group->members[group->count++];
    const char *output = NULL;
    cairn_step_options options = options_of(op);
    member->op = op;
    run_next_key(group->run, op->key, member->key);
    group->run->value = 0;
    cairn_code code =
        cairn_passage_begin_step(group->run->passage, &options, &member->work, &output, NULL);
    if (code || !member->work) {
        note_code(group, member, code, output);
        return;
    }
    group->running++;
    begin_code(group->run, op, member->work);
}

/* Any of those that have begun. */
static void end_member(struct group *group)
{
    int which = sim_below(group->run->sim, group->running);
    struct member *member = group->members;
    const char *output = NULL;
    while (!member->work || which-- > 0)
        member++;
    group->run->value = 0;
    cairn_outcome outcome = end_code(group->run, member->work);
    cairn_code code =
        cairn_passage_end_step(group->run->passage, member->work, outcome, &output, NULL);
    member->work = NULL;
    group->running--;
    note_code(group, member, code, output);
}

/* The code begins them in their order, until one tells that the passage is over; and ends them as it
 * happens.  Once it must return anyway, it may leave some without an end. */
cairn_code run_group(struct run *run, int at)
{
    const struct program_op *ops = run->runner->program->ops;
    struct group group = {.run = run};
    struct sim *sim = run->sim;
    run->runner->is_in_group = true;
    run->runner->group_from = run->runner->call_count;
    for (int i = 1; i <= ops[at].count; i++) {
        bool is_missing = run->runner->variant && run->runner->variant_at == at + i;
        if (is_missing || (group.code && group.code != CAIRN_E_STEP_FAILED))
            continue;
        begin_member(&group, &ops[at + i]);
        if (group.running && sim_chance(sim, 15))
            end_member(&group);
    }
    while (group.running && !(group.code && sim_chance(sim, 20)))
        end_member(&group);
    run->runner->is_in_group = false;
    run->value = group.values;
    return group.code;
}
