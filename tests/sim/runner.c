/* tests/sim/runner.c - workers that run passages, one turn at a time.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "base/error.h"
#include "function.h"
#include "worker/passage.h"
#include "worker/worker.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- turns ------------------------------------------------------------------------------- */

static void wait_for(sem_t *turn)
{
    while (sem_wait(turn))
        ;
}

void runner_rest(struct runner *runner)
{
    sem_post(&runner->back);
    wait_for(&runner->go);
}

static void *run(void *arg)
{
    struct runner *runner = arg;
    wait_for(&runner->go);
    if (runner->raw) {
        fanout_run(runner);
    } else {
        char status[24];
        cairn_code code = function_run(runner);
        cairn_code ended = cairn_passage_end(runner->passage, code, status, NULL);
        cairn_passage_free(runner->passage);
        sim_trace(runner->sim, "    passage of %s returned %s: %s %s", runner->held.id,
                  cairn_code_name(code), cairn_code_name(ended), status);
    }
    runner->is_over = true;
    sem_post(&runner->back);
    return NULL;
}

void runner_go(struct runner *runner)
{
    runner->is_answered = false;
    sem_post(&runner->go);
    wait_for(&runner->back);
    if (!runner->is_over)
        return;
    pthread_join(runner->thread, NULL);
    sem_destroy(&runner->go);
    sem_destroy(&runner->back);
    request_free(runner->again);
    work_free(runner->raw);
    runner->is_used = false;
}

void runner_kill(struct runner *runner)
{
    sim_trace(runner->sim, "%s dies over %s", runner->held.worker, runner->held.id);
    runner->is_dead = true;
    while (runner->is_used)
        runner_go(runner);
}

void runners_kill(struct sim *sim)
{
    for (int i = 0; sim->runners && i < RUNNERS_MAX; i++)
        if (sim->runners[i].is_used)
            runner_kill(&sim->runners[i]);
}

/* ---- beginning --------------------------------------------------------------------------- */

static void choose_code(struct sim *sim, struct runner *runner)
{
    if (!sim->is_code_changing || sim->is_calm || !sim_chance(sim, 25))
        return;
    runner->variant = sim_chance(sim, 50) ? VARIANT_WITHOUT : VARIANT_OTHER_KIND;
    runner->variant_at = sim_below(sim, runner->program->count);
}

static void open_passage(struct sim *sim, struct runner *runner, const cairn_task *task)
{
    struct passage_options options = {
        .exchange = runner_exchange,
        .exchange_arg = runner,
        .worker = runner->held.worker,
        .task = task,
        .commit = runner->program->is_passage_mode ? CAIRN_COMMIT_PASSAGE : CAIRN_COMMIT_STEP,
        .lease_ms = 24 * 3600 * 1000, /* a third of it is real time, which must not count */
        .seed = sim->seed + 1};
    cairn_error error;
    if (runner->program->is_fanout)
        runner->raw = work_new(task);
    else if (passage_new(&options, &runner->passage, &error))
        abort();
    else
        runner->passage->is_stopping = &runner->is_stopping;
}

void runner_start(struct sim *sim, const cairn_task *task, const char *worker)
{
    struct runner *runner = NULL;
    for (int i = 0; i < RUNNERS_MAX; i++)
        if (!sim->runners[i].is_used)
            runner = &sim->runners[i];
    const struct seen_instance *instance = snapshot_find(sim->now, task->instance_id);
    if (!runner || !instance)
        return; /* its lease will run out */
    *runner =
        (struct runner){.is_used = true, .sim = sim, .program = program_find(sim, task->type)};
    if (!runner->program || !task->memory)
        sim_broken(sim, "the task %s of %s has no memory", task->id, task->type);
    snprintf(runner->held.worker, sizeof runner->held.worker, "%s", worker);
    snprintf(runner->held.id, sizeof runner->held.id, "%s", task->id);
    snprintf(runner->held.token, sizeof runner->held.token, "%s", task->token);
    snprintf(runner->instance_id, sizeof runner->instance_id, "%s", task->instance_id);
    runner->generation = instance->row.generation;
    runner->giver = sim->giver;
    choose_code(sim, runner);
    open_passage(sim, runner, task);
    sem_init(&runner->go, 0, 0);
    sem_init(&runner->back, 0, 0);
    if (pthread_create(&runner->thread, NULL, run, runner))
        abort();
    sim_trace(sim, "    %s runs %s of %s with %s%s", worker, task->type, task->id, task->token,
              runner->variant ? ", other code" : "");
}

bool runner_is_any(const struct sim *sim)
{
    for (int i = 0; i < RUNNERS_MAX; i++)
        if (sim->runners[i].is_used && !sim->runners[i].is_submitted)
            return true;
    return false;
}

struct runner *runner_pick(struct sim *sim)
{
    struct runner *found[RUNNERS_MAX];
    int count = 0;
    for (int i = 0; i < RUNNERS_MAX; i++)
        if (sim->runners[i].is_used && !sim->runners[i].is_submitted)
            found[count++] = &sim->runners[i];
    return count ? found[sim_below(sim, count)] : NULL;
}

/* ---- asking ------------------------------------------------------------------------------ */

/* How long the lease is depends on the seed, never on the machine. */
static void tune(struct sim *sim, struct request *request)
{
    static const uint32_t leases_ms[] = {1, 5000, 30000, 30000};
    uint32_t lease_ms = sim->is_calm ? 30000 : leases_ms[sim_below(sim, 4)];
    if (request->op == OP_HEARTBEAT)
        request->in.heartbeat.extend_ms = sim_chance(sim, 50) ? 0 : lease_ms;
    else if (request->in.commit.outcome == PASSAGE_GO_ON)
        request->in.commit.extend_ms = lease_ms;
}

static cairn_code refuse(struct request *request, cairn_code code)
{
    return request->code = fail(&request->error, code, "the worker is gone");
}

cairn_code runner_exchange(void *arg, struct request *request)
{
    struct runner *runner = arg;
    struct sim *sim = runner->sim;
    if (runner->is_dead)
        return refuse(request, CAIRN_E_CLOSED);
    if (request->op == OP_CLOCK_NOW) {
        if (!sim->is_calm && sim_chance(sim, 20))
            runner_rest(runner);
        request->out.now_us = clock_now_us(&sim->clock);
        return runner->is_dead ? refuse(request, CAIRN_E_CLOSED) : CAIRN_OK;
    }
    tune(sim, request);
    if (request->op == OP_COMMIT) {
        law_of_complete(runner, &request->in.commit);
        law_of_results(runner, &request->in.commit);
    }
    runner->wanted = request;
    runner_rest(runner);
    runner->wanted = NULL;
    if (request->op == OP_COMMIT)
        request->in.commit.is_claiming = false; /* what it brought is in other hands */
    return runner->is_dead ? refuse(request, CAIRN_E_CLOSED) : request->code;
}

static const char *word_for(const struct request *request)
{
    return request->op == OP_COMMIT ? passage_outcome_name(request->in.commit.outcome) : "beat";
}

static void trace_request(struct sim *sim, const struct runner *runner, int engine,
                          const struct request *request)
{
    sim_trace(sim, "engine %d: %s: %s on %s with %s", engine, runner->held.worker,
              word_for(request), runner->held.id, runner->held.token);
    for (size_t i = 0; request->op == OP_COMMIT && i < request->in.commit.step_count; i++) {
        const struct commit_step *step = &request->in.commit.steps[i];
        sim_trace(sim, "      %d %s %s %s %s", step->seq, step->key, step->kind, step->status,
                  step->output ? step->output : "");
    }
}

static void submit(struct runner *runner, int engine, struct request *request)
{
    struct sim *sim = runner->sim;
    runner->is_submitted = true;
    runner->engine = engine;
    trace_request(sim, runner, engine, request);
    act_submit(sim, engine, request, &runner->held);
    for (int i = 0; i < OPS_MAX; i++)
        if (sim->ops[i].request == request) {
            sim->ops[i].runner = runner;
            sim->ops[i].must_stop = runner->must_stop;
        }
}

void runner_submit(struct runner *runner, int engine)
{
    submit(runner, engine, runner->wanted);
}

/* ---- answers ----------------------------------------------------------------------------- */

/* The request is sent once more, as after an answer that got lost, and the passage is given the
 * answer to that. */
static void ask_again(struct runner *runner)
{
    struct sim *sim = runner->sim;
    request_free(runner->again);
    runner->again = request_new(OP_COMMIT);
    if (!runner->again)
        abort();
    runner->again->in.commit = runner->wanted->in.commit;
    runner->again->in.commit.is_claiming = false;
    sim_trace(sim, "    and once more:");
    submit(runner, sim_below(sim, ENGINES), runner->again);
}

static void take_over(struct runner *runner, const struct request *again)
{
    runner->wanted->out = again->out;
    runner->wanted->code = again->code;
    runner->wanted->error = again->error;
}

static bool may_be_asked_again(const struct runner *runner, const struct request *request)
{
    return request->op == OP_COMMIT && request == runner->wanted &&
           (!request->code || request->code == CAIRN_E_CLOSED);
}

void runner_answered(struct sim *sim, struct op *op)
{
    struct runner *runner = op->runner;
    struct request *request = op->request;
    runner->is_submitted = false;
    runner->is_answered = true;
    if (request->op == OP_COMMIT)
        law_of_commit(sim, op);
    if (request->op == OP_HEARTBEAT && op->must_stop && runner->must_stop && !request->code &&
        !request->out.heartbeat.stop)
        sim_broken(sim, "a stop of %s was answered, and its run may go on",
                   runner->instance_id);
    if (request != runner->wanted)
        take_over(runner, request);
    if (!sim->is_calm && may_be_asked_again(runner, request) && sim_chance(sim, 12)) {
        *op = (struct op){0};
        ask_again(runner);
        return;
    }
    *op = (struct op){0};
    request = runner->wanted;
    if (!sim->is_calm && !request->code && sim_chance(sim, 6)) {
        sim_trace(sim, "    the answer is lost");
        fail(&request->error, CAIRN_E_UNREACHABLE, "the answer is lost");
        request->code = CAIRN_E_UNREACHABLE;
    }
    bool is_stopped = request->op == OP_COMMIT ? request->out.committed.stop != NULL
                                               : request->out.heartbeat.stop != NULL;
    if (!request->code)
        runner->is_told_to_stop = is_stopped;
}

/* ---- the end ----------------------------------------------------------------------------- */

void runners_finish(struct sim *sim)
{
    for (;;) {
        struct runner *runner = runner_pick(sim);
        if (!runner)
            return;
        if (runner->wanted && !runner->is_answered) {
            runner_submit(runner, sim_below(sim, ENGINES));
            act_run(sim);
        }
        if (!runner->is_submitted)
            runner_go(runner);
    }
}
