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

/* ---- keys -------------------------------------------------------------------------------- */

/* The second use of a key is "key#2", counted here anew. */
void run_next_key(struct run *run, const char *key, char ret_key[KEY_TEXT])
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

void run_value(struct run *run, const char *text)
{
    int64_t sum = 0;
    for (; *text; text++)
        sum += *text;
    run->value = sum;
}

void run_learn(struct run *run, const char *key, const char *kind, const char *text)
{
    law_of_told(run->runner, key, kind, text);
    run_value(run, text);
}

/* ---- what waits, and values -------------------------------------------------------------------------- */

static cairn_code do_sleep(struct run *run, const struct program_op *op, const char *given)
{
    char key[KEY_TEXT];
    cairn_code code;
    run_next_key(run, given ? given : "sleep", key);
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
    run_next_key(run, given ? given : op->event, key);
    cairn_code code = cairn_passage_wait_event(run->passage, given, op->event, op->timeout_ms,
                                               &payload, NULL);
    if (code == CAIRN_OK)
        run_learn(run, key, "wait", payload);
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
    run_next_key(run, names[op->kind], key);
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
    run_learn(run, key, "value", text);
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
        return run_step(run, op);
    case P_SLEEP:
    case P_SLEEP_UNTIL:
        return do_sleep(run, op, given);
    case P_WAIT:
        return do_wait(run, op, given);
    case P_LOG:
        snprintf(where, sizeof where, "@%d", at);
        run_log(run, where, run->log_uses[at]++);
        return CAIRN_OK;
    case P_NOW:
    case P_RANDOM:
    case P_UUID:
        return do_value(run, op);
    case P_JOB:
    case P_FLOW:
        return run_start(run, op, given);
    case P_CALL:
        return run_call(run, op, given);
    case P_GROUP:
        return run_group(run, at);
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
        if (op->kind == P_LOOP || op->kind == P_GROUP)
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
