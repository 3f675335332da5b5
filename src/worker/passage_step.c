/* worker/passage_step.c - a step: begun, executed by its code, and ended.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "worker/passage.h"

#include "engine/options.h"

#include "base/json.h"
#include "core/counter.h"
#include "core/effect.h"
#include "definition/element.h"
#include "worker/worker.h"

#include <string.h>

/* ---- what is given ------------------------------------------------------------------------- */

cairn_code passage_check_key(struct cairn_passage *passage, const char *key)
{
    if (!key || !key[0])
        return fail(&passage->last, CAIRN_E_BAD_INPUT, "key is empty");
    if (strchr(key, '#'))
        return fail(&passage->last, CAIRN_E_BAD_INPUT,
                    "key \"%.100s\" has a '#', which numbers the uses of a key", key);
    if (effect_is_reserved(key))
        return fail(
            &passage->last, CAIRN_E_BAD_INPUT,
            "key \"%.100s\" ends in '~' and a number, which tells the effects of a step "
            "apart",
            key);
    if (!utf8_is_valid(key, strlen(key)))
        return fail(&passage->last, CAIRN_E_BAD_INPUT, "key is not UTF-8");
    return CAIRN_OK;
}

cairn_code passage_check_json(struct cairn_passage *passage, const char *text, const char *what)
{
    return text ? json_check_max(text, strlen(text), what, passage->max_payload, &passage->last)
                : CAIRN_OK;
}

static cairn_code check_jitter(struct cairn_passage *passage, double jitter)
{
    if (jitter >= 0 && jitter <= 1)
        return CAIRN_OK;
    return fail(&passage->last, CAIRN_E_BAD_INPUT, "jitter is %g; it must be from 0 to 1",
                jitter);
}

static cairn_code check_numbers(struct cairn_passage *passage,
                                const cairn_step_options *options)
{
    cairn_error *why = &passage->last;
    if (options->retries < 0 || options->retries == INT32_MAX)
        return fail(why, CAIRN_E_BAD_INPUT, "retries is %d; it must be from 0",
                    (int)options->retries);
    if (options->base_ms < 0 || options->max_ms < 0 || options->timeout_ms < 0 ||
        options->compensation_timeout_ms < 0 || options->compensation_base_ms < 0 ||
        options->compensation_max_ms < 0)
        return fail(why, CAIRN_E_BAD_INPUT, "step \"%.100s\" has a negative time",
                    options->key);
    TRY(check_jitter(passage, options->jitter));
    TRY(check_jitter(passage, options->compensation_jitter));
    if (options->compensation_max_attempts < 0)
        return fail(why, CAIRN_E_BAD_INPUT,
                    "compensation_max_attempts is %d; it must be from 0",
                    (int)options->compensation_max_attempts);
    return CAIRN_OK;
}

/* INSTANT_MAX is far beyond any delay, and keeps the product within bounds. */
static int64_t ms_to_us(int64_t ms)
{
    return ms > INSTANT_MAX / US_PER_MS ? INSTANT_MAX : ms * US_PER_MS;
}

static cairn_code read_backoff(struct cairn_passage *passage, const char *name,
                               struct backoff *backoff)
{
    backoff->kind = BACKOFF_EXPONENTIAL;
    if (!name || backoff_from(name, &backoff->kind))
        return CAIRN_OK;
    return fail(&passage->last, CAIRN_E_BAD_INPUT,
                "backoff is \"%.40s\"; it must be fixed, linear, exponential or quadratic",
                name);
}

static cairn_code check_compensation(struct cairn_passage *passage,
                                     const cairn_step_options *options)
{
    if (options->compensation && strlen(options->compensation) > passage->max_name)
        return fail(&passage->last, CAIRN_E_TOO_LARGE,
                    "compensation \"%.60s...\" is too long: %zu bytes are allowed",
                    options->compensation, passage->max_name);
    return metadata_check(options->compensation_metadata, &passage->last);
}

/* Its texts are those of the options.  A retry policy that is the default is not given. */
static cairn_code read_undo(struct cairn_passage *passage, const cairn_step_options *options,
                            struct commit_step *ret_undo)
{
    struct backoff retry = {.base_us = ms_to_us(options->compensation_base_ms),
                            .max_us = ms_to_us(options->compensation_max_ms),
                            .jitter = options->compensation_jitter};
    int32_t calls = options->compensation_max_attempts;
    TRY(check_compensation(passage, options));
    TRY(read_backoff(passage, options->compensation_backoff, &retry));
    *ret_undo = (struct commit_step){
        .compensation = options->compensation,
        .compensation_max_attempts = options->compensation_once && calls > 1 ? 1 : calls,
        .compensation_timeout_ms = options->compensation_timeout_ms,
        .is_compensation_idempotent = !options->compensation_once,
        .compensation_metadata = options->compensation_metadata,
    };
    if (!options->compensation || backoff_is_default(&retry))
        return CAIRN_OK;
    ret_undo->compensation_backoff = backoff_name(retry.kind);
    ret_undo->compensation_base_ms = retry.base_us / US_PER_MS;
    ret_undo->compensation_max_ms = retry.max_us / US_PER_MS;
    ret_undo->compensation_jitter = retry.jitter;
    return CAIRN_OK;
}

/* Everything that the end of the call needs, while the caller's options are gone. */
static cairn_code read_options(struct cairn_passage *passage, const cairn_step_options *given,
                               cairn_step_options *ret_options, struct step_call *ret_call)
{
    TRY(options_take(OPTIONS_STEP, ret_options, given, &passage->last));
    *ret_call = (struct step_call){.max_attempts = ret_options->retries + 1,
                                   .timeout_ms = ret_options->timeout_ms,
                                   .backoff = {.base_us = ms_to_us(ret_options->base_ms),
                                               .max_us = ms_to_us(ret_options->max_ms),
                                               .jitter = ret_options->jitter}};
    TRY(passage_check_key(passage, ret_options->key));
    TRY(check_numbers(passage, ret_options));
    TRY(read_backoff(passage, ret_options->backoff, &ret_call->backoff));
    TRY(passage_check_json(passage, ret_options->input, "input"));
    return read_undo(passage, ret_options, &ret_call->undo);
}

/* ---- beginning ----------------------------------------------------------------------------- */

cairn_code passage_step_failed(struct cairn_passage *passage, const char *key,
                               const char *error, int32_t calls)
{
    passage->last_text = error && error[0] ? error : "it did not say why";
    passage->last_step = key;
    fail(&passage->last, CAIRN_E_STEP_FAILED, "%s", passage->last_text);
    return fail_detail(&passage->last, CAIRN_E_STEP_FAILED, "step \"%.100s\", call %d", key,
                       (int)calls);
}

/* The engine starts a run when the retry is due; a run that began for another reason suspends. */
static cairn_code check_due(struct cairn_passage *passage, const cairn_step *row)
{
    int64_t now_us;
    TRY(passage_clock(passage, &now_us));
    if (row->next_run_at_us <= now_us)
        return CAIRN_OK;
    return passage_over(passage, CAIRN_E_SUSPENDED, "step \"%.100s\" is called again later",
                        row->name);
}

/* It awaits a retry, but the code allows fewer calls now than were made: it has failed. */
static cairn_code use_up(struct cairn_passage *passage, const struct step_call *call,
                         const cairn_step *row)
{
    TRY(passage_make_room(passage));
    struct commit_step *step = buffer_step(passage, call->key, "task", "failed", row->seq);
    if (!step)
        return passage->over;
    step->attempts = row->attempts;
    step->max_attempts = call->max_attempts;
    step->error = row->error;
    buffer_weigh(&passage->buffer, row->error);
    return passage_step_failed(passage, call->key, row->error, row->attempts);
}

static cairn_code answer_step(struct cairn_passage *passage, const struct step_call *call,
                              const cairn_step *row, bool *ret_is_answered,
                              const char **ret_output)
{
    *ret_is_answered = true;
    if (strcmp(row->status, "completed") == 0) {
        *ret_output = row->output ? row->output : "null";
        return CAIRN_OK;
    }
    if (strcmp(row->status, "failed") == 0)
        return passage_step_failed(passage, row->name, row->error, row->attempts);
    if (row->attempts >= call->max_attempts)
        return use_up(passage, call, row);
    *ret_is_answered = false;
    return check_due(passage, row);
}

static struct cairn_work *make_work(struct cairn_passage *passage, const struct step_call *call)
{
    struct arena arena = {0};
    const cairn_task *task = &passage->task;
    cairn_task step = {
        .id = arena_printf(&arena, "%s.%d", task->instance_id, (int)call->seq),
        .token = task->token,
        .kind = "step",
        .type = call->key,
        .input = call->input ? call->input : "null",
        .key = effect_key(&arena, task->instance_id, call->key,
                          memory_past_effects(passage, call->key), false),
        .attempt = counter_after(call->attempts),
        .max_attempts = call->max_attempts,
        .lease_until_us = task->lease_until_us,
        .instance_id = task->instance_id,
        .step = call->key,
        .metadata = task->metadata,
        .deadline_us =
            call->timeout_ms ? instant_add(call->began_us, ms_to_us(call->timeout_ms)) : 0,
    };
    struct cairn_work *work = step.id && step.key ? work_new(&step) : NULL;
    arena_done(&arena);
    if (work)
        work->host = passage->host;
    return work;
}

/* Copied, since the caller's options are gone when it ends. */
static cairn_code begin_call(struct cairn_passage *passage, const struct step_call *given,
                             const cairn_step_options *options, struct cairn_work **ret_work)
{
    TRY(passage_boundary(passage));
    struct step_call *call = arena_alloc(&passage->arena, sizeof *call);
    if (!call)
        return passage_no_memory(passage);
    *call = *given;
    TRY(passage_copy(passage, options->input, &call->input));
    TRY(passage_copy(passage, options->compensation, &call->undo.compensation));
    TRY(passage_copy(passage, options->compensation_metadata,
                     &call->undo.compensation_metadata));
    if (call->timeout_ms)
        TRY(passage_clock(passage, &call->began_us));
    call->work = *ret_work = make_work(passage, call);
    if (!call->work)
        return passage_no_memory(passage);
    *passage->last_call = call;
    passage->last_call = &call->next;
    return CAIRN_OK;
}

static cairn_code begin_step(struct cairn_passage *passage, const cairn_step_options *given,
                             struct cairn_work **ret_work, const char **ret_output)
{
    cairn_step_options options;
    struct step_call call;
    struct asked asked;
    bool is_answered = false;
    TRY(passage_enter_step(passage, given->key));
    TRY(read_options(passage, given, &options, &call));
    TRY(memory_ask(passage, options.key, "task", &asked));
    call.key = asked.key;
    call.seq = asked.seq;
    call.is_new = !asked.row;
    if (asked.row) {
        call.attempts = asked.row->attempts;
        TRY(answer_step(passage, &call, asked.row, &is_answered, ret_output));
    }
    return is_answered ? CAIRN_OK : begin_call(passage, &call, &options, ret_work);
}

cairn_code cairn_passage_begin_step(cairn_passage *passage, const cairn_step_options *options,
                                    cairn_work **ret_work, const char **ret_output,
                                    cairn_error *reterr)
{
    const char *output = NULL;
    *ret_work = NULL;
    TRY(passage_take(passage, reterr));
    cairn_code code = begin_step(passage, options, ret_work, &output);
    if (!code && !*ret_work && ret_output)
        *ret_output = output;
    return passage_tell(passage, code, reterr);
}

/* ---- ending -------------------------------------------------------------------------------- */

/* Why a value of a call cannot be kept, or NULL. */
static const char *excess_of(struct cairn_passage *passage, const char *what, const char *text)
{
    cairn_error why = {0};
    size_t max = passage->max_payload;
    if (!text || json_check_max(text, strlen(text), what, max, &why) != CAIRN_E_TOO_LARGE)
        return NULL;
    const char *told = arena_printf(&passage->arena, "%s: %s", why.message, why.detail);
    return told ? told : "output is too large";
}

/* Why the output or an event of a call cannot be kept, or NULL. */
static const char *find_excess(struct cairn_passage *passage, const struct cairn_work *work)
{
    char what[100];
    const char *excess = excess_of(passage, "output", work->output);
    for (size_t i = 0; i < work->outbound.count && !excess; i++) {
        const cairn_outbound *event = &work->outbound.items[i];
        snprintf(what, sizeof what, "payload of event \"%.60s\"", event->event);
        excess = excess_of(passage, what, event->payload);
    }
    return excess;
}

/* Why a call did not complete, or NULL; *outcome becomes the failure that it is. */
static const char *find_fault(struct cairn_passage *passage, const struct cairn_work *work,
                              cairn_outcome *outcome)
{
    const char *fault;
    switch (*outcome) {
    case CAIRN_COMPLETE:
        fault = work->bad_output ? work->bad_output : find_excess(passage, work);
        if (fault)
            *outcome = CAIRN_FAIL;
        return fault;
    case CAIRN_FAIL:
    case CAIRN_RETRY:
    case CAIRN_DEAD:
        return work->error ? work->error : "";
    case CAIRN_WAIT:
        *outcome = CAIRN_DEAD;
        return "the code of a function's step cannot wait; the function itself can, with "
               "cairn_passage_wait_event()";
    case CAIRN_RELEASE:
        *outcome = CAIRN_DEAD;
        return "the code of a function's step cannot be released; it can say CAIRN_RETRY";
    }
    *outcome = CAIRN_FAIL;
    return "the handler returned no outcome";
}

/* A call that took too long has failed; its output is not used. */
static cairn_code measure(struct cairn_passage *passage, const struct step_call *call,
                          cairn_outcome *outcome, const char **fault)
{
    int64_t now_us;
    if (!call->timeout_ms)
        return CAIRN_OK;
    TRY(passage_clock(passage, &now_us));
    if (now_us - call->began_us > ms_to_us(call->timeout_ms)) {
        *outcome = CAIRN_FAIL;
        *fault = "TIMEOUT";
    }
    return CAIRN_OK;
}

static int64_t retry_delay_ms(struct cairn_passage *passage, const struct step_call *call,
                              cairn_outcome outcome)
{
    if (outcome == CAIRN_RETRY && call->work->delay_ms >= 0)
        return call->work->delay_ms;
    int64_t delay_us = backoff_delay_us(&call->backoff, counter_after(call->attempts),
                                        rng_unit(&passage->rng));
    return delay_us / US_PER_MS;
}

static struct commit_step result_of(const struct step_call *call, const char *status)
{
    struct commit_step result = call->undo;
    result.seq = call->seq;
    result.key = call->key;
    result.kind = "task";
    result.status = status;
    result.timeout_ms = -1;
    result.input = call->input;
    result.attempts = call->attempts;
    result.max_attempts = call->max_attempts;
    return result;
}

/* Copied, since the work goes at the end of the call. */
static cairn_code copy_outbound(struct cairn_passage *passage, const struct cairn_work *work,
                                struct commit_step *step)
{
    cairn_outbound *copies = arena_array(&passage->arena, work->outbound.count, sizeof *copies);
    if (!copies)
        return passage_no_memory(passage);
    for (size_t i = 0; i < work->outbound.count; i++) {
        copies[i] = work->outbound.items[i];
        TRY(passage_copy(passage, work->outbound.items[i].event, &copies[i].event));
        TRY(passage_copy(passage, work->outbound.items[i].payload, &copies[i].payload));
    }
    step->outbound = copies;
    step->outbound_count = work->outbound.count;
    return CAIRN_OK;
}

static cairn_code complete(struct cairn_passage *passage, struct step_call *call,
                           const char **ret_output)
{
    struct commit_step *result = &call->result;
    *result = result_of(call, "completed");
    TRY(passage_copy(passage, call->work->output, &result->output));
    TRY(copy_outbound(passage, call->work, result));
    call->is_ended = true;
    *ret_output = result->output ? result->output : "null";
    return CAIRN_OK;
}

static cairn_code fail_call(struct cairn_passage *passage, struct step_call *call,
                            cairn_outcome outcome, const char *fault)
{
    struct commit_step *result = &call->result;
    int32_t attempts = counter_after(call->attempts);
    bool is_last = outcome == CAIRN_DEAD || attempts >= call->max_attempts;
    *result = result_of(call, is_last ? "failed" : "ready");
    result->attempts = attempts;
    TRY(passage_copy(passage, fault, &result->error));
    call->is_ended = true;
    if (is_last)
        return passage_step_failed(passage, call->key, result->error, attempts);
    result->delay_ms = retry_delay_ms(passage, call, outcome);
    return passage_over(passage, CAIRN_E_SUSPENDED, "step \"%.100s\" is called again later",
                        call->key);
}

static bool buffer_result(struct cairn_passage *passage, const struct commit_step *result)
{
    struct buffer *buffer = &passage->buffer;
    struct commit_step *step =
        buffer_step(passage, result->key, result->kind, result->status, result->seq);
    if (!step)
        return false;
    *step = *result;
    buffer_weigh(buffer, step->input);
    buffer_weigh(buffer, step->output);
    buffer_weigh(buffer, step->error);
    for (size_t i = 0; i < step->outbound_count; i++)
        buffer_weigh(buffer, step->outbound[i].payload);
    return true;
}

/* The first one leaves the list.  What its code may still use stays. */
static bool settle_first(struct cairn_passage *passage)
{
    struct step_call *call = passage->calls;
    passage->calls = call->next;
    if (!passage->calls)
        passage->last_call = &passage->calls;
    if (call->work) {
        call->next = passage->left_calls;
        passage->left_calls = call;
    }
    return buffer_result(passage, &call->result);
}

cairn_code passage_settle_calls(struct cairn_passage *passage)
{
    const struct step_call *last = NULL;
    for (const struct step_call *call = passage->calls; call; call = call->next)
        last = call->is_ended ? call : last;
    for (bool is_left = last; is_left;) {
        struct step_call *call = passage->calls;
        is_left = call != last;
        if (!call->is_ended) {
            call->result = result_of(call, "ready");
            call->result.error = "its call was not ended";
        }
        if (!settle_first(passage))
            return passage->over;
    }
    return CAIRN_OK;
}

/* Those that nothing which began before them holds back are buffered. */
static cairn_code settle_ended(struct cairn_passage *passage)
{
    while (passage->calls && passage->calls->is_ended)
        if (!settle_first(passage))
            return passage->over;
    return CAIRN_OK;
}

static cairn_code end_call(struct cairn_passage *passage, struct step_call *call,
                           cairn_outcome outcome, const char **ret_output)
{
    const char *fault = find_fault(passage, call->work, &outcome);
    TRY(measure(passage, call, &outcome, &fault));
    passage->has_run = true;
    cairn_code code =
        fault ? fail_call(passage, call, outcome, fault) : complete(passage, call, ret_output);
    work_free(call->work);
    call->work = NULL;
    cairn_code settled = settle_ended(passage);
    return settled ? settled : code;
}

/* The call of this work, which is under way; NULL: there is none, as passage->last says. */
static struct step_call *find_call(struct cairn_passage *passage, const cairn_work *work)
{
    struct step_call *call = passage->calls;
    error_clear(&passage->last);
    passage->last_text = passage->last_step = NULL;
    while (call && (!work || call->work != work))
        call = call->next;
    if (!call)
        fail(&passage->last, CAIRN_E_BAD_INPUT, "this step is not being executed");
    return call;
}

static cairn_code end_step(struct cairn_passage *passage, const struct cairn_work *work,
                           cairn_outcome outcome, const char **ret_output)
{
    const char *output = NULL;
    struct step_call *call = find_call(passage, work);
    if (!call)
        return CAIRN_E_BAD_INPUT;
    cairn_code code = end_call(passage, call, outcome, &output);
    if (!code)
        code = passage->over; /* a log of its code may have ended the run */
    if (!code && ret_output)
        *ret_output = output;
    return code;
}

cairn_code cairn_passage_end_step(cairn_passage *passage, cairn_work *work,
                                  cairn_outcome outcome, const char **ret_output,
                                  cairn_error *reterr)
{
    TRY(passage_take(passage, reterr));
    return passage_tell(passage, end_step(passage, work, outcome, ret_output), reterr);
}

/* Begins it, calls its code unless it is remembered, and ends it.  CAIRN_E_CLOSED: the run has ended
 * meanwhile, and does not want what the code has done. */
static cairn_code run_step(struct cairn_passage *passage, const cairn_step_options *options,
                           const char **ret_output)
{
    struct cairn_work *work = NULL;
    const char *output = NULL;
    if (!options->run) {
        TRY(passage_enter_step(passage, options->key));
        return fail(&passage->last, CAIRN_E_BAD_INPUT, "step \"%.100s\" has no code",
                    options->key ? options->key : "");
    }
    TRY(begin_step(passage, options, &work, &output));
    if (!work) {
        if (ret_output)
            *ret_output = output;
        return CAIRN_OK;
    }
    cairn_outcome outcome = passage_run_code(passage, options, work);
    if (atomic_load(&passage->guard.is_closed))
        return CAIRN_E_CLOSED;
    return end_step(passage, work, outcome, ret_output);
}

/* It is told to the engine in its turn, as a place that stays free. */
static void leave_place(struct step_call *call)
{
    call->result = (struct commit_step){
        .key = call->key, .kind = "task", .status = "forgotten", .seq = call->seq};
    call->is_ended = true;
    work_free(call->work);
    call->work = NULL;
}

static void remove_call(struct cairn_passage *passage, struct step_call *call)
{
    struct step_call **link = &passage->calls;
    while (*link != call)
        link = &(*link)->next;
    *link = call->next;
    if (!*link)
        passage->last_call = link;
    work_free(call->work);
}

cairn_code cairn_passage_drop_step(cairn_passage *passage, cairn_work *work,
                                   cairn_error *reterr)
{
    TRY(passage_take(passage, reterr));
    struct step_call *call = find_call(passage, work);
    if (!call)
        return passage_tell(passage, CAIRN_E_BAD_INPUT, reterr);
    passage->has_run = true;
    memory_unask(passage, call->key);
    if (call->is_new)
        leave_place(call);
    else
        remove_call(passage, call);
    cairn_code code = settle_ended(passage);
    return passage_tell(passage, code ? code : passage->over, reterr);
}

cairn_code cairn_passage_step(cairn_passage *passage, const cairn_step_options *options,
                              const char **ret_output, cairn_error *reterr)
{
    TRY(passage_take(passage, reterr));
    cairn_code code = run_step(passage, options, ret_output);
    if (code != CAIRN_E_CLOSED || !atomic_load(&passage->guard.is_closed))
        return passage_tell(passage, code, reterr);
    passage_closed(passage, reterr);
    passage_give(passage);
    return code;
}
