/* tests/sim/act.c - what workers and people do: requests handed in at random, answers taken.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "base/buf.h"
#include "engine/batch.h"
#include "engine/held.h"
#include "function.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- requests ---------------------------------------------------------------------------- */

static void note_done(struct request *request)
{
    *(bool *)request->arg = true;
}

static struct request *make(enum request_op op)
{
    struct request *request = request_new(op);
    if (!request)
        abort();
    return request;
}

static char *keep(struct request *request, const char *text)
{
    char *copy = arena_strdup(&request->arena, text);
    if (!copy)
        abort();
    return copy;
}

/* Whether a token ends, or has ended, the lease of its task. */
static bool is_good(const struct sim *sim, const struct held *held)
{
    const struct step_row *step = snapshot_step(sim->now, held->id);
    const struct seen_job *job = snapshot_job(sim->now, held->id);
    const char *token = step ? step->token : job ? job->row.token : NULL;
    const char *ended = step ? step->ended_token : job ? job->row.ended_token : NULL;
    int64_t until_us = step ? step->locked_until_us : job ? job->row.lease_until_us : 0;
    bool is_held = token && strcmp(token, held->token) == 0 && until_us >= sim->now->now_us;
    return is_held || (ended && strcmp(ended, held->token) == 0);
}

static void note_stopped(struct sim *sim, const char *id, bool is_stopped);

static void submit_as(struct sim *sim, struct op *op, int engine, struct request *request,
                      const struct held *held)
{
    *op = (struct op){.request = request, .engine = engine};
    if (held) {
        op->held = *held;
        op->may_succeed = is_good(sim, held);
    }
    request->done = note_done;
    request->arg = &op->is_done;
    if (request->op == OP_RESUME || request->op == OP_RETRY)
        note_stopped(sim, request->in.control.id, false);
    lease_asked(sim, request);
    if (sim->has_functions && sim_chance(sim, 70))
        memories_offer(&sim->memories, request);
    struct cairn_engine *base = &sim->engines[engine].engine->base;
    base->ops->submit(base, request);
}

void act_submit(struct sim *sim, int engine, struct request *request, const struct held *held)
{
    int slot = 0;
    while (slot < OPS_MAX && sim->ops[slot].request)
        slot++;
    if (slot == OPS_MAX)
        abort();
    submit_as(sim, &sim->ops[slot], engine, request, held);
}

void act_deploy(struct sim *sim)
{
    char name[16];
    struct buf text = {0};
    snprintf(name, sizeof name, "w%d", sim->workflow_count++);
    workflow_make(&sim->rng, name, sim->has_sagas, sim->has_children ? sim->workflow_count : 0,
                  &text);
    const char *made = buf_text(&text);
    if (strstr(made, "{\"start\"") && strstr(made, "{\"map\"") && strstr(made, "{{ . }}"))
        sim->full |= 1U << (sim->workflow_count - 1);
    struct request *request = make(OP_DEPLOY);
    request->in.deploy = (struct deploy_input){
        .file = "sim.json", .text = keep(request, buf_text(&text)), .len = text.len};
    sim_trace(sim, "deploy %s", buf_text(&text));
    buf_done(&text);
    act_submit(sim, 0, request, NULL);
}

/* Maps run over the list. */
static const char *make_input(struct sim *sim, struct request *request)
{
    struct buf text = {0};
    int n = sim_chance(sim, 50) ? 1 : 2;
    buf_printf(&text, "{\"n\": %d", n);
    int count = sim->has_children ? sim_below(sim, 7) : 0;
    for (int i = 0; i < count; i++)
        buf_printf(&text, "%s{\"n\": %d}", i ? ", " : ", \"list\": [", i);
    buf_str(&text, count ? "]}" : sim->has_children ? ", \"list\": []}" : "}");
    char *input = keep(request, buf_text(&text));
    buf_done(&text);
    return input;
}

static void act_start(struct sim *sim, int engine)
{
    char name[16], key[16];
    struct request *request = make(OP_START);
    int which = sim_below(sim, sim->workflow_count + sim->program_count);
    snprintf(name, sizeof name, "%c%d", which < sim->workflow_count ? 'w' : 'f',
             which < sim->workflow_count ? which : which - sim->workflow_count);
    request->in.start = (cairn_start_options)CAIRN_START_DEFAULTS;
    request->in.start.workflow = keep(request, name);
    if (which >= sim->workflow_count)
        request->in.start.version = sim_below(sim, VERSIONS + 1); /* 0: the latest */
    request->in.start.input = make_input(sim, request);
    if (sim->has_limits)
        request->in.start.group = act_group_name(sim);
    snprintf(key, sizeof key, "k%zu", sim->started++);
    request->in.start.key = keep(request, key); /* a repeated start must find the first */
    if (sim_chance(sim, 15))
        request->in.start.start_at_us =
            clock_now_us(&sim->clock) + sim_below(sim, 5000) * US_PER_MS;
    sim_trace(sim, "engine %d: start %s", engine, name);
    act_submit(sim, engine, request, NULL);
}

static void act_enqueue(struct sim *sim, int engine)
{
    char key[16];
    struct request *request = make(OP_ENQUEUE);
    cairn_job_spec *spec = arena_zalloc(&request->arena, sizeof *spec);
    *spec = (cairn_job_spec)CAIRN_JOB_DEFAULTS;
    spec->type = "j";
    spec->max_attempts = 1 + sim_below(sim, 3);
    if (sim->has_limits)
        act_group(sim, spec);
    snprintf(key, sizeof key, "j%zu", sim->enqueued++);
    spec->key = keep(request, key);
    if (sim_chance(sim, 20))
        spec->run_at_us = clock_now_us(&sim->clock) + sim_below(sim, 5000) * US_PER_MS;
    request->in.enqueue = (struct enqueue_input){.specs = spec, .count = 1};
    sim_trace(sim, "engine %d: enqueue %s", engine, key);
    act_submit(sim, engine, request, NULL);
}

cairn_claim_options act_claim_options(struct sim *sim, struct request *request,
                                      const char *worker)
{
    static const uint32_t leases_ms[] = {1, 800, 5000, 30000};
    const char **types = arena_zalloc(&request->arena, sizeof *types);
    types[0] = "%";
    cairn_claim_options claim = CAIRN_CLAIM_DEFAULTS;
    claim.worker = keep(request, worker);
    claim.types = types;
    claim.type_count = 1;
    claim.max = (uint32_t)(1 + sim_below(sim, 3));
    claim.lease_ms = sim->is_calm ? 30000 : leases_ms[sim_below(sim, 4)];
    if (sim->has_functions && sim_chance(sim, 60))
        act_claim_versions(sim, request, &claim);
    return claim;
}

void act_claim(struct sim *sim, int engine)
{
    char worker[16];
    struct request *request = make(OP_CLAIM);
    snprintf(worker, sizeof worker, "v%d", sim_below(sim, 3));
    request->in.claim = act_claim_options(sim, request, worker);
    bool is_patient = !sim->is_calm && !sim->parked[engine].request && sim_chance(sim, 25);
    sim_trace(sim, "engine %d: claim by %s%s", engine, worker, is_patient ? ", who waits" : "");
    if (!is_patient) {
        act_submit(sim, engine, request, NULL);
        return;
    }
    request->in.claim.wait_ms = 24 * 3600 * 1000; /* real time, which does not pass here */
    submit_as(sim, &sim->parked[engine], engine, request, NULL);
}

static void fill_report(struct sim *sim, cairn_report *report)
{
    static const int64_t delays_ms[] = {-1, 0, 300, 4000};
    static const int64_t timeouts_ms[] = {-1, 0, 700, 6000};
    switch (report->outcome) {
    case CAIRN_COMPLETE:
        report->output = sim_chance(sim, 50) ? "{\"n\": 1}" : "{\"n\": 2}";
        break;
    case CAIRN_WAIT:
        report->event = sim_chance(sim, 50) ? "e0" : "e1";
        report->timeout_ms = timeouts_ms[sim_below(sim, 4)];
        break;
    case CAIRN_RELEASE:
        report->delay_ms = delays_ms[sim_below(sim, 4)];
        break;
    default:
        report->error = "oops";
        if (report->outcome == CAIRN_RETRY)
            report->delay_ms = delays_ms[sim_below(sim, 4)];
    }
}

void act_report(struct sim *sim, int engine, struct held *held, cairn_outcome outcome)
{
    struct request *request = make(OP_REPORT);
    cairn_report *report = arena_zalloc(&request->arena, sizeof *report);
    *report = (cairn_report)CAIRN_REPORT_DEFAULTS;
    report->task_id = keep(request, held->id);
    report->token = keep(request, held->token);
    report->outcome = outcome;
    fill_report(sim, report);
    request->in.report = (struct report_input){
        .worker = keep(request, held->worker), .reports = report, .count = 1};
    if (!sim->is_calm && sim_chance(sim, 40)) {
        request->in.report.is_claiming = true;
        request->in.report.claim = act_claim_options(sim, request, held->worker);
    }
    held->is_reported = true;
    sim_trace(sim, "engine %d: %s reports %d on %s with %s", engine, held->worker, outcome,
              held->id, held->token);
    act_submit(sim, engine, request, held);
}

static void act_heartbeats(struct sim *sim, int engine, const struct held *held)
{
    struct request *request = make(OP_HEARTBEATS);
    struct heartbeats_input *in = &request->in.heartbeats;
    cairn_beat *beat = arena_zalloc(&request->arena, sizeof *beat);
    if (!beat)
        abort();
    *in = (struct heartbeats_input){
        .worker = keep(request, held->worker), .beats = beat, .count = 1};
    *beat = (cairn_beat){.task_id = keep(request, held->id),
                         .token = keep(request, held->token),
                         .extend_ms = 5000};
    sim_trace(sim, "engine %d: %s beats on %s, as one of many", engine, held->worker, held->id);
    act_submit(sim, engine, request, held);
}

void act_heartbeat(struct sim *sim, int engine, const struct held *held)
{
    if (sim->round % 2) { /* not by chance, so that seeds keep their histories */
        act_heartbeats(sim, engine, held);
        return;
    }
    struct request *request = make(OP_HEARTBEAT);
    request->in.heartbeat = (struct heartbeat_input){.worker = keep(request, held->worker),
                                                     .task_id = keep(request, held->id),
                                                     .token = keep(request, held->token),
                                                     .extend_ms = 5000};
    sim_trace(sim, "engine %d: %s beats on %s", engine, held->worker, held->id);
    act_submit(sim, engine, request, held);
}

void act_signal(struct sim *sim, int engine, const char *id, const char *event)
{
    char name[24], payload[40];
    struct request *request = make(OP_SIGNAL);
    request->in.signal = (cairn_signal_options)CAIRN_SIGNAL_DEFAULTS;
    request->in.signal.instance_id = keep(request, id);
    request->in.signal.event = event;
    int number = sim->signals_sent && sim_chance(sim, 15) ? sim_below(sim, sim->signals_sent)
                                                          : sim->signals_sent++;
    snprintf(name, sizeof name, "m%d", number);
    request->in.signal.id = keep(request, name);
    sim_payload(name, payload);
    request->in.signal.payload = keep(request, payload);
    request->in.signal.no_latch = sim_chance(sim, 10);
    sim_trace(sim, "engine %d: signal %s %s to %s", engine, event, name, id);
    act_submit(sim, engine, request, NULL);
}

void sim_payload(const char *id, char ret_payload[40])
{
    snprintf(ret_payload, 40, "{\"m\":\"%.24s\"}", id);
}

void act_control(struct sim *sim, int engine, enum request_op op, const char *id)
{
    struct request *request = make(op);
    request->in.control =
        (struct control_input){.id = keep(request, id), .by = "ann", .reason = "why not"};
    request->in.control.is_forced =
        sim->is_code_changing && op == OP_RESUME && (sim->is_calm || sim_chance(sim, 50));
    sim_trace(sim, "engine %d: %s %s", engine, request_op_name(op), id);
    act_submit(sim, engine, request, NULL);
}

void act_decide(struct sim *sim, int engine, const char *id, const char *step,
                bool is_confirmed)
{
    struct request *request = make(OP_DECIDE);
    request->in.decide = (struct decide_input){.id = keep(request, id),
                                               .step = keep(request, step),
                                               .by = "ann",
                                               .is_confirmed = is_confirmed};
    sim_trace(sim, "engine %d: decide about %s", engine, step);
    act_submit(sim, engine, request, NULL);
}

void act_requeue(struct sim *sim, int engine, const struct dlq_row *record)
{
    char id[24];
    struct request *request = make(OP_DLQ_REQUEUE);
    snprintf(id, sizeof id, "%lld", (long long)record->id);
    request->in.requeue = (struct requeue_input){
        .record = keep(request, id), .input = sim_chance(sim, 30) ? "{\"n\": 2}" : NULL};
    sim_trace(sim, "engine %d: requeue record %s, %s of %s", engine, id, record->step_name,
              record->instance_id);
    act_submit(sim, engine, request, NULL);
}

/* ---- a round ----------------------------------------------------------------------------- */

/* Functions and sagas start others, so anybody's may be meant. */
static const char *some_instance(struct sim *sim)
{
    if ((!sim->has_functions && !sim->has_children) || !sim->now->instance_count)
        return sim->instances[sim_below(sim, (int)sim->instance_count)];
    return sim->now->instances[sim_below(sim, (int)sim->now->instance_count)].row.id;
}

/* Mostly from a step on. */
static void act_rerun(struct sim *sim, int engine)
{
    const char *id = some_instance(sim);
    const struct seen_instance *source = snapshot_find(sim->now, id);
    struct request *request = make(OP_RERUN);
    request->in.rerun.id = keep(request, id);
    if (source && source->step_count && sim_chance(sim, 85)) {
        int place = sim_below(sim, (int)source->step_count);
        request->in.rerun.from = keep(request, source->steps[place].name);
    }
    if (sim_chance(sim, 40))
        request->in.rerun.input = "{\"n\": 2, \"list\": [{\"n\": 0}]}";
    sim->rerun++;
    sim_trace(sim, "engine %d: rerun %s from %s", engine, id,
              request->in.rerun.from ? request->in.rerun.from : "the beginning");
    act_submit(sim, engine, request, NULL);
}

/* What is asked again stays from one round to the next. */
static bool has_free_slot(const struct sim *sim)
{
    for (int i = 0; i < OPS_MAX; i++)
        if (!sim->ops[i].request)
            return true;
    return false;
}

/* Whatever begins anew starts things anew. */
static bool is_crowded(const struct sim *sim)
{
    size_t crowd = sim->has_families || sim->has_children ? CROWD_OF_FAMILIES : CROWD;
    return sim->now->instance_count > crowd || sim->now->job_count + 16 > JOBS_MAX;
}

static void control_something(struct sim *sim, int engine)
{
    static const enum request_op controls[] = {OP_PAUSE,   OP_PAUSE,  OP_RESUME,
                                               OP_RESUME,  OP_RESUME, OP_RETRY,
                                               OP_RESTART, OP_CANCEL, OP_ABORT};
    enum request_op op = controls[sim_below(sim, 9)];
    if ((op == OP_RESTART || op == OP_RETRY) && is_crowded(sim))
        return;
    const char *id = some_instance(sim);
    act_control(sim, engine, op, id);
    bool is_followed =
        (sim->has_families || sim->has_children) && op == OP_ABORT && !is_crowded(sim);
    if (is_followed && has_free_slot(sim) && sim_chance(sim, 30))
        act_control(sim, engine, OP_RESTART, id); /* before its children can be told */
}

static void decide_something(struct sim *sim, int engine)
{
    for (size_t i = 0; i < sim->now->instance_count; i++) {
        const struct seen_instance *instance = &sim->now->instances[i];
        for (size_t k = 0; k < instance->step_count; k++)
            if (instance->steps[k].status == STEP_WAITING_DECISION) {
                act_decide(sim, engine, instance->row.id, instance->steps[k].name,
                           sim_chance(sim, 80));
                return;
            }
    }
}

static void requeue_something(struct sim *sim, int engine)
{
    for (size_t i = 0; i < sim->now->instance_count && !is_crowded(sim); i++) {
        const struct seen_instance *instance = &sim->now->instances[i];
        if (instance->record_count == 0 || sim_chance(sim, 30))
            continue;
        size_t which = (size_t)sim_below(sim, (int)instance->record_count);
        act_requeue(sim, engine, &instance->records[which]);
        return;
    }
}

static void work_something(struct sim *sim, int engine)
{
    static const cairn_outcome outcomes[] = {
        CAIRN_COMPLETE, CAIRN_COMPLETE, CAIRN_COMPLETE, CAIRN_COMPLETE, CAIRN_COMPLETE,
        CAIRN_COMPLETE, CAIRN_FAIL,     CAIRN_FAIL,     CAIRN_RETRY,    CAIRN_DEAD,
        CAIRN_RELEASE,  CAIRN_WAIT,     CAIRN_WAIT};
    /* Mostly the latest; an old one is a late or repeated report. */
    size_t back = sim_chance(sim, 60) ? 1 : 1 + (size_t)sim_below(sim, (int)sim->held_count);
    struct held *held = &sim->held[sim->held_count - back];
    if (held->is_function) {
        sim->has_released = true;
        act_report(sim, engine, held, CAIRN_RELEASE);
    } else if (sim_chance(sim, 16))
        act_heartbeat(sim, engine, held);
    else
        act_report(sim, engine, held, outcomes[sim_below(sim, 13)]);
}

static void act_one(struct sim *sim, int engine)
{
    int what = sim_below(sim, 100);
    bool may_claim = sim->held_count + 12 < HELD_MAX;
    if (sim->has_functions && runner_is_any(sim) && sim_chance(sim, 60))
        act_passage(sim, engine);
    else if (sim->started == 0 || (what < 6 && sim->started < STARTS_MAX && !is_crowded(sim)))
        act_start(sim, engine);
    else if (sim->has_reruns && sim->instance_count && sim->rerun < RERUNS_MAX &&
             !is_crowded(sim) && sim_chance(sim, 4))
        act_rerun(sim, engine);
    else if (sim->has_limits && sim_chance(sim, 4))
        act_limit(sim, engine);
    else if (what < (sim->has_limits ? 14 : 10) &&
             sim->enqueued < (sim->has_limits ? LIMITED_MAX : ENQUEUES_MAX))
        act_enqueue(sim, engine);
    else if (what < 45 && sim->held_count)
        work_something(sim, engine);
    else if (what < 58 && sim->instance_count)
        act_signal(sim, engine, some_instance(sim), sim_chance(sim, 50) ? "e0" : "e1");
    else if (what < 68 && sim->instance_count)
        control_something(sim, engine);
    else if (what < 74 && sim->has_sagas)
        decide_something(sim, engine);
    else if (what < 79 && (sim->has_sagas || sim->has_functions))
        requeue_something(sim, engine);
    else if (may_claim)
        act_claim(sim, engine);
}

static void move_clock(struct sim *sim)
{
    int64_t now_us = clock_now_us(&sim->clock), due_us = sim_next_due(sim);
    int what = sim_below(sim, 100);
    if (what < 40)
        return;
    if (what < 60 && due_us > now_us)
        now_us = due_us - (what < 46); /* to the instant, or just before it */
    else if (what < 90)
        now_us += sim_below(sim, 2000) * US_PER_MS;
    else
        now_us += sim_below(sim, 40000) * US_PER_MS;
    sim_set_clock(sim, now_us);
    sim_trace(sim, "it is %lld us", (long long)(now_us - SIM_START_US));
}

/* Several workers speak at once: one extends its lease while another reports. */
static void work_together(struct sim *sim, int engine)
{
    int count = 2 + sim_below(sim, 2);
    for (int i = 0; i < count && sim->held_count; i++) {
        size_t back =
            1 + (size_t)sim_below(sim, (int)(sim->held_count < 5 ? sim->held_count : 5));
        struct held *held = &sim->held[sim->held_count - back];
        if (!has_free_slot(sim) || held->is_function)
            return;
        if (sim_chance(sim, 50))
            act_heartbeat(sim, engine, held);
        else
            act_report(sim, engine, held, sim_chance(sim, 50) ? CAIRN_DEAD : CAIRN_COMPLETE);
    }
}

void act_round(struct sim *sim)
{
    move_clock(sim);
    int count = sim_chance(sim, 65) ? 1 : 2 + sim_below(sim, OPS_MAX - 1);
    int engine = sim_below(sim, ENGINES);
    bool is_shared = sim_chance(sim, 60); /* so that they share a commit */
    if (sim->held_count > 1 && sim_chance(sim, 8))
        work_together(sim, engine);
    for (int i = 0; i < count && has_free_slot(sim); i++)
        act_one(sim, is_shared ? engine : sim_below(sim, ENGINES));
}

/* ---- answers ----------------------------------------------------------------------------- */

static void learn_instance(struct sim *sim, const char *id)
{
    for (size_t i = 0; i < sim->instance_count; i++)
        if (strcmp(sim->instances[i], id) == 0)
            return;
    if (!snapshot_find(sim->now, id))
        sim_broken(sim, "instance %s was promised and is not there", id);
    snprintf(sim->instances[sim->instance_count++], ID_TEXT, "%s", id);
}

static void learn_tasks(struct sim *sim, struct request *request, const char *worker)
{
    memories_complete(&sim->memories, request);
    for (size_t i = 0; i < request->out.page.count; i++) {
        const cairn_task *task = &request->out.page.tasks[i];
        if (strcmp(task->kind, "function") == 0)
            law_of_version(sim, request_claim(request), task);
        if (task->memory)
            law_of_memory(sim, task);
        if (task->instance_id)
            law_of_key(sim, task);
        if (sim_chance(sim, 10) && !sim->is_calm)
            continue; /* the worker dies with it in its hands */
        if (strcmp(task->kind, "function") == 0 && (sim->is_calm || sim_chance(sim, 96))) {
            runner_start(sim, task, worker);
            continue;
        }
        if (sim->held_count == HELD_MAX)
            memmove(sim->held, sim->held + 1, (--sim->held_count) * sizeof *sim->held);
        struct held *held = &sim->held[sim->held_count++];
        *held = (struct held){0};
        snprintf(held->worker, sizeof held->worker, "%s", worker);
        snprintf(held->id, sizeof held->id, "%s", task->id);
        snprintf(held->token, sizeof held->token, "%s", task->token);
        held->is_function = strcmp(task->kind, "function") == 0;
    }
}

static void check_report(struct sim *sim, const struct op *op, cairn_code code)
{
    if (code == CAIRN_OK && !op->may_succeed)
        sim_broken(sim, "a report on %s with the token %s was accepted, which had no lease",
                   op->held.id, op->held.token);
}

static void take_answer(struct sim *sim, struct op *op)
{
    struct request *request = op->request;
    cairn_code code = request->code;
    sim->giver = op->engine;
    if (!code && (request->op == OP_START || request->op == OP_RERUN))
        learn_instance(sim, request->out.enqueued[0].id);
    if (!code && request->op == OP_CLAIM)
        learn_tasks(sim, request, request->in.claim.worker);
    if (!code && request->op == OP_REPORT) {
        code = request->out.reported[0].code;
        check_report(sim, op, code);
        learn_tasks(sim, request, request->in.report.worker);
    }
    if (!code && request->op == OP_COMMIT && request->out.page.count)
        learn_tasks(sim, request, request->in.commit.worker);
    if (!code && request->op == OP_HEARTBEATS)
        code = request->in.heartbeats.beats[0].ret_code;
    if (request->op == OP_HEARTBEAT || request->op == OP_HEARTBEATS)
        check_report(sim, op, code);
    if (request->op == OP_DEPLOY && code == CAIRN_E_BAD_INPUT)
        sim_broken(sim, "a workflow was refused: %s", request->error.message);
    if (code == CAIRN_E_INTERNAL || code == CAIRN_E_STORE || code == CAIRN_E_OUT_OF_MEMORY)
        sim_broken(sim, "%s: %s", request_op_name(request->op), request->error.message);
    sim_trace(sim, "    %s: %s", request_op_name(request->op), cairn_code_name(code));
    if (op->runner) {
        runner_answered(sim, op);
        return;
    }
    request_free(request);
    *op = (struct op){0};
}

void act_settle(struct sim *sim)
{
    for (int i = 0; i < OPS_MAX; i++)
        if (sim->ops[i].request && sim->ops[i].is_done)
            take_answer(sim, &sim->ops[i]);
    for (int i = 0; i < ENGINES; i++)
        if (sim->parked[i].request && sim->parked[i].is_done)
            take_answer(sim, &sim->parked[i]);
}

static bool is_waiting(const struct sim *sim, int engine)
{
    for (int i = 0; i < OPS_MAX; i++)
        if (sim->ops[i].request && !sim->ops[i].is_done && sim->ops[i].engine == engine)
            return true;
    return false;
}

static bool is_control(const struct request *request, bool is_stop)
{
    enum request_op op = request->op;
    return is_stop ? op == OP_PAUSE || op == OP_CANCEL || op == OP_ABORT || op == OP_RESTART
                   : op == OP_RESUME || op == OP_RETRY;
}

/* Somebody lets the instance go on, and nobody knows yet whether that comes before or after. */
static bool may_go_on(const struct sim *sim, const char *id)
{
    for (int i = 0; i < OPS_MAX; i++) {
        const struct request *request = sim->ops[i].request;
        if (request && is_control(request, false) && strcmp(request->in.control.id, id) == 0)
            return true;
    }
    return false;
}

/* No engine answers from memory that the run may go on. */
static void law_of_known(struct sim *sim, const struct runner *runner)
{
    for (int i = 0; i < ENGINES; i++) {
        struct request *look = make(OP_HEARTBEAT);
        look->in.heartbeat = (struct heartbeat_input){.worker = runner->held.worker,
                                                      .task_id = runner->held.id,
                                                      .token = runner->held.token};
        if (known_lease_answer(sim->engines[i].engine, look) && !look->out.heartbeat.stop)
            sim_broken(sim, "a stop of %s was answered, and engine %d lets its run go on",
                       runner->instance_id, i);
        request_free(look);
    }
}

/* From now on no look of a run of this instance says that it may go on.  A virtual clock does not move by itself, and with it
 * what another engine knows: so this holds where engines have clocks. */
static void note_stopped(struct sim *sim, const char *id, bool is_stopped)
{
    for (int i = 0; i < RUNNERS_MAX && sim->has_timers; i++)
        if (sim->runners[i].is_used && strcmp(sim->runners[i].instance_id, id) == 0) {
            sim->runners[i].must_stop = is_stopped;
            if (is_stopped)
                law_of_known(sim, &sim->runners[i]);
        }
}

static void hear_stop(struct sim *sim, const struct request *request)
{
    if (request->code || !is_control(request, true))
        return;
    law_of_answered_stop(sim, request->in.control.id);
    if (!may_go_on(sim, request->in.control.id))
        note_stopped(sim, request->in.control.id, true);
}

/* Whether a claim was answered. */
static bool hear(struct sim *sim, struct op *op)
{
    bool is_new = op->request && op->is_done && !op->is_heard;
    if (is_new)
        lease_answered(sim, op->request);
    op->is_heard = op->is_done;
    return is_new && !op->request->code && request_is_claiming(op->request);
}

/* After each run of a committer all rows are looked at. */
/* Those that may change an instance by what they ask for. */
static int count_asked(const struct sim *sim, int engine)
{
    int count = 0;
    for (int i = 0; i < OPS_MAX; i++) {
        const struct op *op = &sim->ops[i];
        count +=
            op->request && !op->is_done && op->engine == engine && op->request->op != OP_CLAIM;
    }
    return count;
}

bool act_run_one(struct sim *sim, int engine)
{
    sim->asked = count_asked(sim, engine);
    if (!sim_run_engine(sim, engine))
        return false;
    snapshot_take(sim);
    for (int i = 0; i < OPS_MAX; i++)
        if (sim->ops[i].request && !sim->ops[i].may_succeed)
            sim->ops[i].may_succeed = is_good(sim, &sim->ops[i].held);
    bool has_claimed = false, is_new[OPS_MAX];
    for (int i = 0; i < OPS_MAX; i++) {
        is_new[i] = sim->ops[i].request && sim->ops[i].is_done && !sim->ops[i].is_heard;
        has_claimed |= hear(sim, &sim->ops[i]);
    }
    for (int i = 0; i < ENGINES; i++) /* one that has waited joins others, whatever is due */
        hear(sim, &sim->parked[i]);
    laws_check(sim, has_claimed);
    for (int i = 0; i < OPS_MAX; i++)
        if (is_new[i])
            hear_stop(sim, sim->ops[i].request);
    return true;
}

/* Answers that are held for a time. */
static bool wait_for_held(struct sim *sim, int engine)
{
    int64_t until_us = held_next_us(sim->engines[engine].engine);
    if (!sim->has_timers || until_us == INT64_MAX)
        return false;
    if (until_us > clock_now_us(&sim->clock))
        sim_set_clock(sim, until_us);
    return true;
}

/* False: time has passed meanwhile, so that there may be more to do for the others. */
static bool run_all(struct sim *sim, int first)
{
    bool is_still = true;

    for (int i = 0; i < ENGINES; i++) {
        int engine = (first + i) % ENGINES;
        uint64_t ready[INSTANCES_MAX];
        const struct request *parked = sim->parked[engine].request;
        /* a claim that no limit has refused learns by the news of another engine of what one holds back */
        list_ready(sim, NULL, !parked || !parked->is_limited, ready);
        for (int tries = 0;; tries++) {
            if (tries == 50)
                faulty_calm(sim->engines[engine].faulty);
            if (tries == 100)
                sim_broken(sim, "engine %d does not answer", engine);
            if (!sim->is_calm && is_waiting(sim, engine) && sim_chance(sim, 2))
                engine_crash(sim, engine);
            else if (!act_run_one(sim, engine)) {
                if (!wait_for_held(sim, engine))
                    break;
                is_still = false;
            }
        }
        if (is_waiting(sim, engine))
            sim_broken(sim, "engine %d rests, but has not answered", engine);
        law_of_wakes(sim, engine, ready);
    }
    return is_still;
}

void act_run(struct sim *sim)
{
    int first = sim_below(sim, ENGINES);
    while (!run_all(sim, first)) {
    }
    act_settle(sim);
    law_of_due(sim);
    if (!sim->is_calm && sim_chance(sim, 2))
        engine_crash(sim, sim_below(sim, ENGINES));
    if (sim->has_timers && sim_chance(sim, 4))
        law_of_quiet(sim);
}
