/* worker/passage.c - a run: opening it, and what ends it early.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "worker/passage.h"

#include "base/json.h"
#include "engine/calling.h"
#include "worker/worker.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* ---- opening ------------------------------------------------------------------------------- */

static cairn_code check_options(const struct passage_options *options, cairn_error *reterr)
{
    const cairn_task *task = options->task;
    if (!options->worker || !options->worker[0])
        return fail(reterr, CAIRN_E_BAD_INPUT, "worker is empty");
    if (!task || !task->memory || strcmp(task->kind, "function") != 0)
        return fail(reterr, CAIRN_E_BAD_INPUT, "task %s is not a function's",
                    task ? task->id : "NULL");
    if (task->memory->steps_from > 1)
        return fail(reterr, CAIRN_E_BAD_INPUT,
                    "the memory of task %s is not whole: it begins at step %d", task->id,
                    (int)task->memory->steps_from);
    if (options->commit != CAIRN_COMMIT_STEP && options->commit != CAIRN_COMMIT_PASSAGE)
        return fail(reterr, CAIRN_E_BAD_INPUT, "commit is %d, which is no commit mode",
                    (int)options->commit);
    if (options->lease_ms < 1)
        return fail(reterr, CAIRN_E_BAD_INPUT, "lease_ms is 0; it must be from 1");
    return CAIRN_OK;
}

static uint64_t mix(uint64_t seed, const char *text)
{
    for (const char *c = text; *c; c++)
        seed = (seed ^ (unsigned char)*c) * UINT64_C(0x100000001B3);
    return seed;
}

/* With a seed, the same task of the same claim gets the same values.  Tasks that are claimed together
 * share a token; the ids that they make must differ. */
static uint64_t mix_seed(uint64_t seed, const cairn_task *task)
{
    if (seed == 0)
        return 0;
    seed = mix(mix(seed, task->token), task->id);
    return seed ? seed : 1;
}

static bool take_task(struct cairn_passage *passage, const struct passage_options *options)
{
    passage->worker = options->worker;
    passage->task = *options->task;
    if (options->is_borrowed)
        return true;
    passage->worker = arena_strdup(&passage->arena, options->worker);
    return passage->worker && task_copy(&passage->arena, options->task, &passage->task);
}

cairn_code passage_new(const struct passage_options *options,
                       struct cairn_passage **ret_passage, cairn_error *reterr)
{
    static const cairn_open_options limits = CAIRN_OPEN_DEFAULTS;
    error_clear(reterr);
    TRY(check_options(options, reterr));
    struct cairn_passage *passage = mem_zalloc(sizeof *passage);
    NEED(passage, reterr);
    if (!guard_init(&passage->guard)) {
        mem_free(passage);
        return fail_memory(reterr);
    }
    passage->exchange = options->exchange;
    passage->exchange_arg = options->exchange_arg;
    passage->commit = options->commit;
    passage->lease_ms = options->lease_ms;
    passage->max_name = options->max_name ? options->max_name : limits.max_name;
    passage->max_payload = options->max_payload ? options->max_payload : limits.max_payload;
    passage->extended_at_us = monotonic_us();
    passage->last_call = &passage->calls;
    passage->costs.size = sizeof passage->costs;
    if (!take_task(passage, options) || memory_fill(passage)) {
        cairn_passage_free(passage);
        return fail_memory(reterr);
    }
    rng_init(&passage->rng, mix_seed(options->seed, &passage->task));
    *ret_passage = passage;
    return CAIRN_OK;
}

static cairn_code exchange_with_engine(void *arg, struct request *request)
{
    return engine_run(arg, request);
}

cairn_code passage_open(cairn_engine *engine, struct passage_options *options,
                        struct cairn_passage **ret_passage, cairn_error *reterr)
{
    options->exchange = exchange_with_engine;
    options->exchange_arg = engine;
    options->seed = engine->options.seed;
    options->max_name = engine->options.max_name;
    options->max_payload = engine->options.max_payload;
    return passage_new(options, ret_passage, reterr);
}

cairn_code cairn_passage_open(cairn_engine *engine, const char *worker, const cairn_task *task,
                              cairn_commit_mode commit, uint32_t lease_ms,
                              cairn_passage **ret_passage, cairn_error *reterr)
{
    struct passage_options options = {
        .worker = worker, .task = task, .commit = commit, .lease_ms = lease_ms};
    return passage_open(engine, &options, ret_passage, reterr);
}

/* ---- being over ---------------------------------------------------------------------------- */

cairn_code passage_over(struct cairn_passage *passage, cairn_code code, const char *format, ...)
{
    char text[2 * sizeof passage->over_error.message]; /* fail() cuts it as UTF-8 */
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    if (passage->over) /* the first reason stands */
        return passage->over;
    passage->over = fail(&passage->over_error, code, "%s", text);
    passage->last = passage->over_error;
    return code;
}

cairn_code passage_no_memory(struct cairn_passage *passage)
{
    return passage_over(passage, CAIRN_E_OUT_OF_MEMORY, "memory ran out");
}

static const char *stop_word(const struct cairn_passage *passage)
{
    if (passage->stop)
        return passage->stop;
    const char *stop = passage->host ? atomic_load(&passage->host->stop) : NULL;
    if (!stop && passage->is_stopping && atomic_load(passage->is_stopping))
        stop = "stopping";
    return stop;
}

/* After a pause, a cancellation or the end of the worker, finished steps are still committed; after
 * anything else nothing is. */
cairn_code passage_look(struct cairn_passage *passage)
{
    const char *stop = stop_word(passage);
    if (passage->over || !stop)
        return passage->over;
    passage->is_cut_short = true;
    if (strcmp(stop, "paused") == 0 || strcmp(stop, "cancelled") == 0)
        return passage_over(passage, CAIRN_E_SUSPENDED, "the instance is %s", stop);
    if (strcmp(stop, "stopping") == 0)
        return passage_over(passage, CAIRN_E_SUSPENDED, "the worker ends");
    passage->is_dismissed = strcmp(stop, "lease_lost") != 0;
    return passage_over(passage, CAIRN_E_LEASE_LOST, "the passage is not wanted any more: %s",
                        stop);
}

static void begin_answer(struct cairn_passage *passage)
{
    error_clear(&passage->last);
    passage->last_text = passage->last_step = NULL;
}

cairn_code passage_enter(struct cairn_passage *passage)
{
    begin_answer(passage);
    if (passage->calls)
        return fail(
            &passage->last, CAIRN_E_WRONG_STATE,
            "step \"%.100s\" is being executed; end it before anything else is asked for",
            passage->calls->key);
    return passage_look(passage);
}

/* Should the function end before that code does, it has failed for this. */
static cairn_code refuse_step(struct cairn_passage *passage, const char *key)
{
    fail(&passage->last, CAIRN_E_WRONG_STATE,
         "step \"%.100s\" is asked for while step \"%.100s\" is being executed", key,
         passage->calls->key);
    if (!passage->misuse)
        passage->misuse = arena_strdup(&passage->arena, passage->last.message);
    return CAIRN_E_WRONG_STATE;
}

cairn_code passage_enter_step(struct cairn_passage *passage, const char *key)
{
    begin_answer(passage);
    if (passage->guard.is_calling)
        return refuse_step(passage, key ? key : "");
    return passage_look(passage);
}

cairn_code passage_tell(struct cairn_passage *passage, cairn_code code, cairn_error *reterr)
{
    if (code && code == passage->over)
        passage->last = passage->over_error;
    passage->last.code = code;
    if (code) {
        passage->failure = passage->last;
        passage->failure_text = passage->last_text;
        passage->failure_step = passage->last_step;
    }
    if (reterr)
        *reterr = passage->last;
    passage_give(passage);
    return code;
}

/* ---- the function's own -------------------------------------------------------------------- */

const cairn_task *cairn_passage_task(const cairn_passage *passage)
{
    return &passage->task;
}

const char *cairn_passage_stop(const cairn_passage *passage)
{
    struct cairn_passage *held = passage_hold_fact(passage);
    const char *stop = stop_word(held);
    passage_give(held);
    return stop;
}

static cairn_code set_output(struct cairn_passage *passage, const char *json,
                             cairn_error *reterr)
{
    const char *copy;
    if (json)
        TRY(json_check(json, strlen(json), "output", reterr));
    if (passage_copy(passage, json, &copy))
        return fail_memory(reterr);
    passage->output = copy;
    return CAIRN_OK;
}

cairn_code cairn_passage_set_output(cairn_passage *passage, const char *json,
                                    cairn_error *reterr)
{
    error_clear(reterr);
    TRY(passage_take(passage, reterr));
    cairn_code code = set_output(passage, json, reterr);
    passage_give(passage);
    return code;
}

cairn_code cairn_passage_set_error(cairn_passage *passage, const char *text)
{
    const char *copy = NULL;
    TRY(passage_take(passage, NULL));
    cairn_code code = passage_copy(passage, text, &copy);
    if (!code)
        passage->error = copy;
    passage_give(passage);
    return code ? CAIRN_E_OUT_OF_MEMORY : CAIRN_OK;
}

cairn_code cairn_passage_costs_get(const cairn_passage *passage, cairn_passage_costs *ret_costs,
                                   cairn_error *reterr)
{
    error_clear(reterr);
    struct cairn_passage *held = passage_hold_fact(passage);
    cairn_code code = options_give(OPTIONS_COSTS, ret_costs, &held->costs, reterr);
    passage_give(held);
    return code;
}

/* ---- the end ------------------------------------------------------------------------------- */

/* Why the function failed: the error that it set, else that of the call whose code it returned. */
static const char *tell_failure(const struct cairn_passage *passage, cairn_code code,
                                const char **ret_step)
{
    bool is_passed_on = code == passage->failure.code;
    *ret_step = NULL;
    if (passage->error)
        return passage->error;
    if (code == CAIRN_E_SUSPENDED)
        return "the function returned suspended, but nothing suspends it";
    if (is_passed_on && passage->failure_text) {
        *ret_step = passage->failure_step;
        return passage->failure_text;
    }
    if (is_passed_on && passage->failure.message[0])
        return passage->failure.message;
    return cairn_code_meaning(code);
}

static cairn_code end_early(struct cairn_passage *passage);

static cairn_code commit_end(struct cairn_passage *passage, cairn_code code)
{
    if (!code && memory_check_complete(passage))
        return end_early(passage);
    struct passage_end end = {.outcome = PASSAGE_COMPLETE, .output = passage->output};
    if (code) {
        end = (struct passage_end){.outcome = PASSAGE_FAIL};
        end.error = tell_failure(passage, code, &end.failed_step);
    }
    return passage_commit(passage, &end);
}

/* The engine is told that it is suspended or does not match; anything else has ended it already. */
static cairn_code end_early(struct cairn_passage *passage)
{
    char text[sizeof passage->over_error.message + 32];
    struct passage_end end = {.outcome =
                                  passage->is_cut_short ? PASSAGE_AGAIN : PASSAGE_SUSPEND};
    if (passage->over == CAIRN_E_VERSION_MISMATCH) {
        snprintf(text, sizeof text, "version_mismatch: %s", passage->over_error.message);
        end = (struct passage_end){
            .outcome = PASSAGE_MISMATCH, .error = text, .failed_step = passage->over_step};
    } else if (passage->over != CAIRN_E_SUSPENDED) {
        if (passage->is_dismissed)
            passage_leave(passage);
        return passage->over;
    } else if (!stop_word(passage) && memory_forget_retries(passage)) {
        return CAIRN_E_OUT_OF_MEMORY;
    }
    passage->over = CAIRN_OK; /* it has done its part: what counts now is the commit */
    return passage_commit(passage, &end);
}

/* The first step whose code has not returned; NULL: none. */
static const struct step_call *find_under_way(const struct cairn_passage *passage)
{
    const struct step_call *call = passage->calls;
    while (call && call->is_ended)
        call = call->next;
    return call;
}

/* A function that returns beside the code of one of its steps has failed: it does not wait for what it
 * has asked for.  Whoever ends a run early, for another reason, leaves such steps to the next one. */
static cairn_code check_returned(struct cairn_passage *passage, cairn_code code,
                                 bool is_under_way)
{
    const struct step_call *call = find_under_way(passage);
    if (!call || (!is_under_way && code))
        return code;
    const char *why = passage->misuse
                          ? passage->misuse
                          : arena_printf(&passage->arena,
                                         "the function ended while step \"%.100s\" was being "
                                         "executed",
                                         call->key);
    passage->error = why ? why : "the function ended while one of its steps was being executed";
    return CAIRN_E_WRONG_STATE;
}

static cairn_code end_passage(struct cairn_passage *passage, cairn_code code)
{
    cairn_code ended = CAIRN_OK;
    code = check_returned(passage, code, passage_outlast_code(passage));
    if (passage->calls && passage_settle_calls(passage))
        return CAIRN_E_OUT_OF_MEMORY;
    if (!passage->is_released)
        ended = passage->over ? end_early(passage) : commit_end(passage, code);
    if (passage->is_released)
        ended =
            CAIRN_OK; /* the engine knows, if only that it failed because the rest was rejected */
    return ended;
}

/* The tasks that the last commit has claimed; NULL: none was asked for, or there was no commit. */
static cairn_page *give_tasks(struct cairn_passage *passage, cairn_page *tasks)
{
    if (!passage->claimed || !tasks) {
        cairn_page_free(tasks);
        return NULL;
    }
    page_take(tasks, &passage->claimed);
    return tasks;
}

/* From now on only what the passage has itself is used. */
static void release_borrowed(struct cairn_passage *passage)
{
    passage->stop = stop_word(passage); /* a fact that stays readable */
    passage->host = NULL;
    passage->is_stopping = NULL;
    passage->claim = NULL;
}

cairn_code cairn_passage_end_claim(cairn_passage *passage, cairn_code code,
                                   const cairn_claim_options *claim, char ret_status[24],
                                   cairn_page **ret_tasks, cairn_error *reterr)
{
    cairn_claim_options known = CAIRN_CLAIM_DEFAULTS;
    cairn_error why = {0};
    cairn_code refused = CAIRN_OK; /* of the claim; the run ends all the same */
    cairn_page *tasks = NULL;
    TRY(passage_take_last(passage, reterr));
    if (claim && ret_tasks) {
        tasks = page_new(PAGE_TASK);
        refused = tasks ? take_claim(&passage->arena, &known, claim, &why) : fail_memory(&why);
        if (!refused)
            passage->claim = &known; /* cppcheck-suppress autoVariables ; cleared below */
    }
    cairn_code ended = end_passage(passage, code);
    if (reterr) {
        error_clear(reterr);
        if (ended || refused)
            *reterr = ended ? passage->over_error : why;
    }
    if (ret_status)
        memcpy(ret_status, ended ? "" : passage->status, ended ? 1 : sizeof passage->status);
    if (ret_tasks)
        *ret_tasks = give_tasks(passage, tasks);
    release_borrowed(passage);
    passage_give(passage);
    return ended ? ended : refused;
}

cairn_code cairn_passage_end(cairn_passage *passage, cairn_code code, char ret_status[24],
                             cairn_error *reterr)
{
    return cairn_passage_end_claim(passage, code, NULL, ret_status, NULL, reterr);
}
