/* tests/sim/function.c - executes a program as the code of a function.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "function.h"
#include "base/error.h"
#include "worker/passage.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct use {
    char key[KEY_TEXT];
    int count;
};

/* A passage of a program. */
struct run {
    struct runner *runner;
    struct sim *sim;
    cairn_passage *passage;
    int64_t value, now_us; /* what was remembered last; the latest `now` */
    struct use uses[USES_MAX];
    int use_count;
    int log_uses[PROGRAM_OPS_MAX];
    bool is_done; /* it completes early */
};

struct call_arg {
    struct run *run;
    const struct program_op *op;
};

/* ---- keys -------------------------------------------------------------------------------- */

/* The second use of a key is "key#2", counted here anew. */
static void next_key(struct run *run, const char *key, char ret_key[KEY_TEXT])
{
    int i = 0;
    while (i < run->use_count && strcmp(run->uses[i].key, key) != 0)
        i++;
    if (i == USES_MAX)
        abort();
    if (i == run->use_count)
        snprintf(run->uses[run->use_count++].key, KEY_TEXT, "%s", key);
    if (++run->uses[i].count == 1)
        snprintf(ret_key, KEY_TEXT, "%s", key);
    else
        snprintf(ret_key, KEY_TEXT, "%.8s#%d", key, run->uses[i].count);
    struct runner *runner = run->runner;
    if (runner->asked_count < CALLS_MAX)
        snprintf(runner->asked[runner->asked_count++], KEY_TEXT, "%s", ret_key);
}

/* Something that every passage of this generation is told the same way. */
static void learn(struct run *run, const char *key, const char *kind, const char *text)
{
    law_of_told(run->runner, key, kind, text);
    int64_t sum = 0;
    for (; *text; text++)
        sum += *text;
    run->value = sum;
}

/* ---- steps ------------------------------------------------------------------------------- */

static cairn_outcome draw_outcome(struct sim *sim)
{
    int what = sim_below(sim, 100);
    if (what < (sim->is_calm ? 88 : 66))
        return CAIRN_COMPLETE;
    if (sim->is_calm)
        return CAIRN_FAIL;
    return what < 84 ? CAIRN_FAIL : what < 94 ? CAIRN_RETRY : CAIRN_DEAD;
}

static void log_something(struct run *run, const char *where, int number)
{
    char message[48];
    snprintf(message, sizeof message, "%s.%d:%d", where, number, run->sim->logs++);
    cairn_passage_log(run->passage, "info", message, NULL, NULL);
}

static cairn_outcome call_step(cairn_work *work, void *arg)
{
    struct run *run = ((struct call_arg *)arg)->run;
    const struct program_op *op = ((struct call_arg *)arg)->op;
    struct sim *sim = run->sim;
    const cairn_task *task = cairn_work_task(work);
    char output[40];
    law_of_call(run->runner, task->type, task->attempt, op->retries + 1);
    if (runner_has_lease(run->runner))
        law_of_called_key(sim, task->instance_id, task->step, task->key);
    if (sim_chance(sim, 10))
        log_something(run, task->type, sim->logs);
    if (!sim->is_calm && sim_chance(sim, 40))
        runner_rest(run->runner);
    cairn_outcome outcome = draw_outcome(sim);
    sim_trace(sim, "      %s of %s, call %d: %d", task->type, run->runner->instance_id,
              task->attempt, outcome);
    if (outcome == CAIRN_COMPLETE) {
        snprintf(output, sizeof output, "{\"n\":%d}", sim->outputs++);
        cairn_work_set_output(work, output);
        if (sim_chance(sim, 10))
            cairn_work_emit(work, "told", output);
        return outcome;
    }
    cairn_work_set_error(work, "oops");
    if (outcome == CAIRN_RETRY && sim_chance(sim, 50))
        cairn_work_set_delay(work, sim_below(sim, 4000));
    return outcome;
}

static cairn_code do_step(struct run *run, const struct program_op *op)
{
    struct call_arg arg = {run, op};
    char key[KEY_TEXT];
    const char *output = NULL;
    cairn_step_options options = CAIRN_STEP_DEFAULTS;
    options.key = op->key;
    options.run = call_step;
    options.arg = &arg;
    options.input = "{\"n\": 1}";
    options.retries = op->retries;
    options.backoff = op->backoff;
    options.base_ms = op->ms;
    options.max_ms = 30000;
    options.timeout_ms = op->timeout_ms;
    options.compensation = op->compensation[0] ? op->compensation : NULL;
    options.compensation_max_attempts = op->compensation_max_attempts;
    next_key(run, op->key, key);
    cairn_code code = cairn_passage_step(run->passage, &options, &output, NULL);
    if (code == CAIRN_OK)
        learn(run, key, "task", output);
    if (code == CAIRN_E_STEP_FAILED)
        law_of_told(run->runner, key, "task", NULL);
    return code == CAIRN_E_STEP_FAILED && op->is_tolerant ? CAIRN_OK : code;
}

/* ---- the others -------------------------------------------------------------------------- */

static cairn_code do_sleep(struct run *run, const struct program_op *op, const char *given)
{
    char key[KEY_TEXT];
    cairn_code code;
    next_key(run, given ? given : "sleep", key);
    if (op->kind == P_SLEEP_UNTIL) {
        int64_t from_us = run->now_us ? run->now_us : SIM_START_US;
        code =
            cairn_passage_sleep_until(run->passage, given, from_us + op->ms * US_PER_MS, NULL);
    } else {
        code = cairn_passage_sleep(run->passage, given, op->ms, NULL);
    }
    if (!code)
        law_of_told(run->runner, key, "sleep", NULL);
    return code;
}

static cairn_code do_wait(struct run *run, const struct program_op *op, const char *given)
{
    char key[KEY_TEXT];
    const char *payload = NULL;
    next_key(run, given ? given : op->event, key);
    cairn_code code = cairn_passage_wait_event(run->passage, given, op->event, op->timeout_ms,
                                               &payload, NULL);
    if (code == CAIRN_OK)
        learn(run, key, "wait", payload);
    if (code != CAIRN_E_TIMED_OUT)
        return code;
    law_of_told(run->runner, key, "wait", NULL);
    run->value = 0;
    return CAIRN_OK;
}

static cairn_code do_value(struct run *run, const struct program_op *op)
{
    static const char *const names[] = {
        [P_NOW] = "now", [P_RANDOM] = "random", [P_UUID] = "uuid"};
    char key[KEY_TEXT], text[64], id[40];
    double number;
    int64_t now_us;
    cairn_code code;
    next_key(run, names[op->kind], key);
    if (op->kind == P_NOW) {
        code = cairn_passage_now(run->passage, &now_us, NULL);
        if (code)
            return code;
        run->now_us = now_us;
        snprintf(text, sizeof text, "%lld", (long long)now_us);
    } else if (op->kind == P_RANDOM) {
        code = cairn_passage_random(run->passage, &number, NULL);
        if (code)
            return code;
        snprintf(text, sizeof text, "%.17g", number);
    } else {
        code = cairn_passage_uuid(run->passage, id, NULL);
        if (code)
            return code;
        snprintf(text, sizeof text, "\"%s\"", id);
    }
    learn(run, key, "value", text);
    return CAIRN_OK;
}

static cairn_code do_start(struct run *run, const struct program_op *op, const char *given)
{
    char key[KEY_TEXT], id[40], text[64];
    cairn_code code;
    if (op->kind == P_JOB) {
        cairn_job_spec spec = CAIRN_JOB_DEFAULTS;
        spec.type = "fj";
        spec.max_attempts = 2;
        spec.key = op->has_name ? "shared" : NULL;
        next_key(run, given ? given : spec.type, key);
        code = cairn_passage_start_job(run->passage, given, &spec, id, NULL);
    } else {
        cairn_start_options options = CAIRN_START_DEFAULTS;
        options.workflow = "w0";
        options.input = "{\"n\": 1}";
        options.key = op->has_name ? "shared" : NULL;
        next_key(run, given ? given : options.workflow, key);
        code = cairn_passage_start_workflow(run->passage, given, &options, id, NULL);
    }
    if (code)
        return code;
    if (!op->has_name) { /* a known one's id is only told by the next passage */
        snprintf(text, sizeof text, "{\"id\":\"%s\"}", id);
        law_of_told(run->runner, key, "start", text);
    }
    return CAIRN_OK;
}

static cairn_code do_end(struct run *run, const struct program_op *op)
{
    char output[32];
    if (op->kind == P_FAIL) {
        cairn_passage_set_error(run->passage, "it gave up");
        return CAIRN_E_STEP_FAILED;
    }
    snprintf(output, sizeof output, "{\"value\":%lld}", (long long)run->value);
    cairn_passage_set_output(run->passage, output, NULL);
    run->is_done = true;
    return CAIRN_OK;
}

/* ---- the program ------------------------------------------------------------------------- */

static cairn_code do_list(struct run *run, int from, int to);

static cairn_code do_branch(struct run *run, const struct program_op *op, int at)
{
    int from = at + 1, other = from + op->count;
    return run->value % 2 ? do_list(run, from, other) : do_list(run, other, other + op->other);
}

static cairn_code do_loop(struct run *run, const struct program_op *op, int at)
{
    cairn_code code = CAIRN_OK;
    for (int i = 0; i < op->other && !code && !run->is_done; i++)
        code = do_list(run, at + 1, at + 1 + op->count);
    return code;
}

static cairn_code do_op(struct run *run, const struct program_op *op, int at)
{
    const char *given = op->key[0] ? op->key : NULL;
    char where[16];
    switch (op->kind) {
    case P_STEP:
        return do_step(run, op);
    case P_SLEEP:
    case P_SLEEP_UNTIL:
        return do_sleep(run, op, given);
    case P_WAIT:
        return do_wait(run, op, given);
    case P_LOG:
        snprintf(where, sizeof where, "@%d", at);
        log_something(run, where, run->log_uses[at]++);
        return CAIRN_OK;
    case P_NOW:
    case P_RANDOM:
    case P_UUID:
        return do_value(run, op);
    case P_JOB:
    case P_FLOW:
        return do_start(run, op, given);
    case P_BRANCH:
        return do_branch(run, op, at);
    case P_LOOP:
        return do_loop(run, op, at);
    default:
        return do_end(run, op);
    }
}

/* Other code: an op is missing, or its key stands for a sleep. */
static cairn_code do_variant(struct run *run, const struct program_op *op, int at)
{
    if (run->runner->variant == VARIANT_NONE || run->runner->variant_at != at)
        return do_op(run, op, at);
    if (run->runner->variant == VARIANT_WITHOUT || !op->key[0])
        return CAIRN_OK;
    struct program_op other = {.kind = P_SLEEP, .ms = 5};
    return do_sleep(run, &other, op->key);
}

static cairn_code do_list(struct run *run, int from, int to)
{
    cairn_code code = CAIRN_OK;
    for (int i = from; i < to && !code && !run->is_done; i++) {
        const struct program_op *op = &run->runner->program->ops[i];
        code = do_variant(run, op, i);
        if (op->kind == P_BRANCH)
            i += op->count + op->other;
        if (op->kind == P_LOOP)
            i += op->count;
    }
    return code;
}

cairn_code function_run(struct runner *runner)
{
    struct run run = {.runner = runner, .sim = runner->sim, .passage = runner->passage};
    cairn_code code = do_list(&run, 0, runner->program->count);
    if (!code && !run.is_done)
        code = do_end(&run, &(struct program_op){.kind = P_COMPLETE});
    return code;
}
