/* tests/sim/fanout.c - a client of its own, which runs all strands of a function at once.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * As a binding for a language with promises would: waits and sleeps are committed while the
 * passage goes on, steps are called meanwhile, and it suspends when nothing is left to do.  What
 * ends in between is seen by the next passage.  Now and then it says something that is refused.
 */
#include "function.h"
#include "worker/worker.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum strand_state { STRAND_NEW, STRAND_WAITING, STRAND_LATER, STRAND_ENDED };

struct strand {
    enum strand_state state;
    int32_t seq, attempts; /* seq 0: it has none yet */
    int64_t due_us;
};

struct fanout {
    struct runner *runner;
    struct sim *sim;
    const cairn_task *task;
    struct strand strands[PROGRAM_OPS_MAX];
    int count;
    int32_t places;
    int64_t revision;
    struct commit_step steps[PROGRAM_OPS_MAX]; /* to be committed */
    size_t step_count;
    char outputs[PROGRAM_OPS_MAX][24];
    bool is_over;
};

/* ---- what it knows ----------------------------------------------------------------------- */

static void read_row(struct fanout *fanout, const cairn_step *row)
{
    struct strand *strand = NULL;
    for (int i = 0; i < fanout->count; i++)
        if (strcmp(fanout->runner->program->ops[i].key, row->name) == 0)
            strand = &fanout->strands[i];
    if (!strand)
        return;
    strand->seq = row->seq;
    strand->attempts = row->attempts;
    strand->due_us = row->next_run_at_us;
    strand->state = strcmp(row->status, "waiting") == 0 ? STRAND_WAITING
                    : strcmp(row->status, "ready") == 0 ? STRAND_LATER
                                                        : STRAND_ENDED;
}

static void read_memory(struct fanout *fanout)
{
    const cairn_memory *memory = fanout->task->memory;
    fanout->places = memory->places;
    fanout->revision = memory->revision;
    for (size_t i = 0; i < memory->step_count; i++)
        read_row(fanout, memory->steps[i]);
}

/* ---- committing -------------------------------------------------------------------------- */

static void fill(struct fanout *fanout, struct request *request, enum passage_outcome outcome)
{
    struct commit_input *in = &request->in.commit;
    struct commit_log *log = arena_zalloc(&request->arena, sizeof *log);
    struct commit_step *steps =
        arena_array(&request->arena, fanout->step_count + 1, sizeof *steps);
    char message[24];
    memcpy(steps, fanout->steps, fanout->step_count * sizeof *steps);
    snprintf(message, sizeof message, "raw%d.0:%d", fanout->sim->logs, fanout->sim->logs);
    fanout->sim->logs++;
    log->level = "info";
    log->message = arena_strdup(&request->arena, message);
    *in = (struct commit_input){.worker = fanout->runner->held.worker,
                                .task_id = fanout->runner->held.id,
                                .token = fanout->runner->held.token,
                                .revision = fanout->revision,
                                .steps = steps,
                                .step_count = fanout->step_count,
                                .logs = log,
                                .log_count = fanout->step_count > 0,
                                .outcome = outcome,
                                .output = outcome == PASSAGE_COMPLETE ? "{\"n\":1}" : NULL,
                                .error = outcome == PASSAGE_FAIL ? "it gave up" : NULL};
}

static void commit(struct fanout *fanout, enum passage_outcome outcome)
{
    struct request *request = request_new(OP_COMMIT);
    if (!request)
        abort();
    fill(fanout, request, outcome);
    cairn_code code = runner_exchange(fanout->runner, request);
    fanout->step_count = 0;
    bool is_ended = !request->out.committed.lease_until_us;
    fanout->is_over =
        code || outcome != PASSAGE_GO_ON || request->out.committed.stop || is_ended;
    fanout->revision = request->out.committed.revision;
    if (!code && outcome == PASSAGE_GO_ON && request->out.committed.stop && !is_ended)
        outcome = PASSAGE_AGAIN; /* one last word, if it is welcome */
    else
        outcome = PASSAGE_NONE;
    request_free(request);
    if (outcome && !fanout->runner->is_dead)
        commit(fanout, outcome);
}

/* A commit that must be refused, whoever sends it: law_of_commit() sees that. */
static void say_nonsense(struct fanout *fanout)
{
    struct request *request = request_new(OP_COMMIT);
    struct commit_step step = {.key = "nonsense",
                               .kind = "value",
                               .status = "completed",
                               .max_attempts = 1,
                               .timeout_ms = -1};
    int what = sim_below(fanout->sim, 4);
    step.seq = what == 0 ? fanout->places + 1 + sim_below(fanout->sim, 3) : fanout->places;
    if (what == 1)
        step.status = "running";
    if (what == 2) {
        step.kind = "wait";
        step.event = "e0";
        step.signal_id = "unheard";
    }
    if (what == 3) {
        step.seq = fanout->places > 1 ? 1 : 7; /* which is another key's, or nobody's */
        step.kind = "sleep";
    }
    if (!request)
        abort();
    fanout->steps[0] = step;
    fanout->step_count = 1;
    fill(fanout, request, PASSAGE_GO_ON);
    runner_exchange(fanout->runner, request);
    if (request->code != CAIRN_E_BAD_INPUT && request->code != CAIRN_E_CONFLICT)
        fanout->is_over = true;
    if (request->code == CAIRN_OK)
        sim_broken(fanout->sim, "nonsense was committed");
    fanout->step_count = 0;
    request_free(request);
}

/* ---- strands ----------------------------------------------------------------------------- */

static struct commit_step *add(struct fanout *fanout, int index, const char *kind,
                               const char *status)
{
    struct strand *strand = &fanout->strands[index];
    struct commit_step *step = &fanout->steps[fanout->step_count++];
    if (!strand->seq)
        strand->seq = fanout->places++;
    *step = (struct commit_step){.seq = strand->seq,
                                 .key = fanout->runner->program->ops[index].key,
                                 .kind = kind,
                                 .status = status,
                                 .attempts = strand->attempts,
                                 .max_attempts = 1,
                                 .timeout_ms = -1};
    return step;
}

static void begin_waiting(struct fanout *fanout, int index)
{
    const struct program_op *op = &fanout->runner->program->ops[index];
    bool is_wait = op->kind == P_WAIT;
    struct commit_step *step = add(fanout, index, is_wait ? "wait" : "sleep", "waiting");
    fanout->strands[index].state = STRAND_WAITING;
    step->event = is_wait ? op->event : NULL;
    step->timeout_ms = is_wait ? op->timeout_ms : -1;
    step->delay_ms = is_wait ? 0 : op->ms;
}

static void call(struct fanout *fanout, int index)
{
    struct sim *sim = fanout->sim;
    const struct program_op *op = &fanout->runner->program->ops[index];
    struct strand *strand = &fanout->strands[index];
    law_of_call(fanout->runner, op->key, strand->attempts + 1, op->retries + 1);
    if (!sim->is_calm && sim_chance(sim, 60))
        runner_rest(fanout->runner);
    bool is_good = sim_chance(sim, sim->is_calm ? 88 : 60);
    if (!is_good)
        strand->attempts++;
    bool is_last = strand->attempts > op->retries;
    struct commit_step *step = add(fanout, index, "task",
                                   is_good   ? "completed"
                                   : is_last ? "failed"
                                             : "ready");
    strand->state = is_good || is_last ? STRAND_ENDED : STRAND_LATER;
    strand->due_us = INT64_MAX; /* in another passage */
    step->max_attempts = op->retries + 1;
    step->compensation = op->compensation[0] ? op->compensation : NULL;
    step->compensation_max_attempts = op->compensation_max_attempts;
    step->is_compensation_idempotent = true;
    step->delay_ms = op->ms;
    step->error = is_good ? NULL : "oops";
    snprintf(fanout->outputs[index], sizeof fanout->outputs[index], "{\"n\":%d}",
             sim->outputs++);
    step->output = is_good ? fanout->outputs[index] : NULL;
}

static void run_strands(struct fanout *fanout)
{
    struct sim *sim = fanout->sim;
    for (int i = 0; i < fanout->count; i++)
        if (fanout->strands[i].state == STRAND_NEW &&
            fanout->runner->program->ops[i].kind != P_STEP)
            begin_waiting(fanout, i);
    if (fanout->step_count && sim_chance(sim, 80))
        commit(fanout, PASSAGE_GO_ON);
    for (int i = 0; i < fanout->count && !fanout->is_over; i++) {
        const struct strand *strand = &fanout->strands[i];
        bool is_due =
            strand->state == STRAND_NEW ||
            (strand->state == STRAND_LATER && strand->due_us <= clock_now_us(&sim->clock));
        if (!is_due || fanout->runner->program->ops[i].kind != P_STEP)
            continue;
        call(fanout, i);
        if (sim_chance(sim, 60))
            commit(fanout, PASSAGE_GO_ON);
    }
}

static enum passage_outcome find_outcome(const struct fanout *fanout)
{
    const struct program *program = fanout->runner->program;
    for (int i = 0; i < fanout->count; i++)
        if (fanout->strands[i].state != STRAND_ENDED)
            return PASSAGE_SUSPEND;
    return program->ops[program->count - 1].kind == P_FAIL ? PASSAGE_FAIL : PASSAGE_COMPLETE;
}

void fanout_run(struct runner *runner)
{
    struct fanout fanout = {.runner = runner, .sim = runner->sim, .task = &runner->raw->task};
    while (fanout.count < runner->program->count &&
           runner->program->ops[fanout.count].kind != P_FAIL)
        fanout.count++;
    read_memory(&fanout);
    if (!runner->sim->is_calm && sim_chance(runner->sim, 15))
        say_nonsense(&fanout);
    if (!fanout.is_over)
        run_strands(&fanout);
    if (!fanout.is_over && !runner->is_dead)
        commit(&fanout, find_outcome(&fanout));
}
