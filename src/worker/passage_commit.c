/* worker/passage_commit.c - commits of a run, and the answers to them.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * When something is committed depends on the mode.  In step mode a finished step waits in the
 * buffer until the next step's code is about to be executed: then it is durable before anything
 * else happens, the heartbeat comes for free, and the last step shares its commit with the
 * function's end.  A crash therefore repeats at most one step: the one that was being executed,
 * or the one that had just finished.  Values and starts go the same way, so a step's code never
 * sees a value that a crash could change.  In passage mode everything waits for the end, and at
 * each boundary a heartbeat only asks whether to go on.
 */
#include "worker/passage.h"

#include "base/clock.h"
#include "base/mem.h"

#include <stdio.h>
#include <string.h>

static cairn_code exchange(struct cairn_passage *passage, struct request *request)
{
    return passage->exchange(passage->exchange_arg, request);
}

/* The engine has retried by itself for long enough: the lease will expire, and another run begins. */
static cairn_code give_up(struct cairn_passage *passage, const struct request *request)
{
    return passage_over(passage, request->code, "%s",
                        request->error.message[0] ? request->error.message
                                                  : cairn_code_meaning(request->code));
}

/* ---- committing ---------------------------------------------------------------------------- */

/* How much of the buffer goes along. */
enum parts { ALL, NO_STARTS, NOTHING };

/* Those that no step follows would be logged again by the next run, if there is one. */
static size_t logs_to_send(const struct cairn_passage *passage, enum passage_outcome outcome)
{
    const struct buffer *buffer = &passage->buffer;
    bool goes_on =
        outcome == PASSAGE_GO_ON || outcome == PASSAGE_SUSPEND || outcome == PASSAGE_AGAIN;
    bool is_cancelled = passage->stop && strcmp(passage->stop, "cancelled") == 0;
    if (goes_on && !is_cancelled && !buffer_is_full(buffer))
        return buffer->log_settled;
    return buffer->logs.count;
}

/* The engine may write into what it is given (it cuts long errors), so it gets a copy. */
static void *copy(struct request *request, const void *items, size_t count, size_t size)
{
    void *array = arena_array(&request->arena, count, size);
    if (array && count)
        memcpy(array, items, count * size);
    return array;
}

static bool fill(struct cairn_passage *passage, const struct passage_end *end, enum parts parts,
                 struct request *request)
{
    const struct buffer *buffer = &passage->buffer;
    struct commit_input *in = &request->in.commit;
    *in = (struct commit_input){
        .worker = passage->worker,
        .task_id = passage->task.id,
        .token = passage->task.token,
        .revision = passage->revision,
        .outcome = end->outcome,
        .output = end->output,
        .error = end->error,
        .failed_step = end->failed_step,
        .extend_ms = end->outcome == PASSAGE_GO_ON ? passage->lease_ms : 0,
    };
    if (passage->claim && end->outcome != PASSAGE_GO_ON) {
        in->is_claiming = true;
        in->claim = *passage->claim;
    }
    if (parts == NOTHING)
        return true;
    in->step_count = buffer->steps.count;
    in->log_count = logs_to_send(passage, end->outcome);
    in->job_count = buffer->jobs.count;
    in->start_count = buffer->starts.count;
    in->steps = copy(request, buffer->steps.items, in->step_count, sizeof *in->steps);
    in->logs = copy(request, buffer->logs.items, in->log_count, sizeof *in->logs);
    in->jobs = copy(request, buffer->jobs.items, in->job_count, sizeof *in->jobs);
    in->starts = copy(request, buffer->starts.items, in->start_count, sizeof *in->starts);
    return in->steps && in->logs && in->jobs && in->starts;
}

static cairn_code hear_events(struct cairn_passage *passage,
                              const struct committed_output *committed)
{
    size_t count = committed->event_count;
    cairn_received *events = arena_array(&passage->arena, count, sizeof *events);
    const cairn_received *const *pointers =
        events ? arena_pointers(&passage->arena, events, count, sizeof *events) : NULL;
    if (!pointers)
        return passage_no_memory(passage);
    for (size_t i = 0; i < count; i++) {
        const cairn_received *from = committed->events[i];
        events[i].received_at_us = from->received_at_us;
        TRY(passage_copy(passage, from->id, &events[i].id));
        TRY(passage_copy(passage, from->event, &events[i].event));
        TRY(passage_copy(passage, from->payload, &events[i].payload));
    }
    return memory_replace_events(passage, pointers, count) ? passage_no_memory(passage)
                                                           : CAIRN_OK;
}

/* If its key was known, the id is that of the existing job or instance. */
static void hear_started(struct cairn_passage *passage, const struct request *request)
{
    const cairn_enqueued *started = request->out.committed.started;
    const struct commit_input *in = &request->in.commit;
    if (!passage->started_id || !started || in->job_count + in->start_count == 0)
        return;
    size_t index =
        passage->is_started_job ? in->job_count - 1 : in->job_count + in->start_count - 1;
    snprintf(passage->started_id, ID_TEXT, "%s", started[index].id);
}

static cairn_code hear(struct cairn_passage *passage, const struct request *request)
{
    const struct committed_output *committed = &request->out.committed;
    hear_started(passage, request);
    passage->revision = committed->revision;
    passage->stop = committed->stop;
    passage->is_released = committed->lease_until_us == 0;
    passage->extended_at_us = monotonic_us(); /* or a little less, see lease_is_fresh() */
    passage->has_run = false;
    snprintf(passage->status, sizeof passage->status, "%s",
             committed->status ? committed->status : "");
    buffer_clear(&passage->buffer, request->in.commit.log_count);
    return committed->is_conflict ? hear_events(passage, committed) : CAIRN_OK;
}

/* CAIRN_OK, or the engine's code; *ret_why says more. */
static cairn_code try_commit(struct cairn_passage *passage, const struct passage_end *end,
                             enum parts parts, cairn_error *ret_why)
{
    cleanup(request_freep) struct request *request = request_new(OP_COMMIT);
    error_clear(ret_why);
    NEED(request && fill(passage, end, parts, request), ret_why);
    passage->costs.commits++;
    if (exchange(passage, request)) {
        *ret_why = request->error;
        return ret_why->code = request->code;
    }
    cairn_code code = hear(passage, request);
    if (request->in.commit.is_claiming) {
        passage->claimed = request;
        request = NULL;
    }
    return code;
}

/* Something in it cannot be committed, now or later. */
static bool is_refusal(cairn_code code)
{
    return code == CAIRN_E_NOT_FOUND || code == CAIRN_E_BAD_INPUT ||
           code == CAIRN_E_TOO_LARGE || code == CAIRN_E_CONFLICT || code == CAIRN_E_BAD_JSON;
}

/* What was done cannot be kept as it is: it counts as failed, so that it can be undone. */
static void spoil(struct commit_step *step, const char *why)
{
    step->status = "failed";
    step->output = NULL;
    step->error = why;
    step->outbound = NULL;
    step->outbound_count = 0;
}

/* One step of the buffer, alone; false: nothing more can be committed. */
static bool save_step(struct cairn_passage *passage, struct commit_step *step, const char *why)
{
    struct passage_end end = {.outcome = PASSAGE_GO_ON};
    struct buffer *buffer = &passage->buffer;
    cairn_error again;
    cairn_code code = CAIRN_OK;
    for (int tries = 0; tries < 3; tries++) {
        buffer->steps.items = step;
        buffer->steps.count = buffer->steps.room = 1;
        code = try_commit(passage, &end, NO_STARTS, &again);
        if (!is_refusal(code))
            break;
        if (tries == 1)
            step->input = NULL;
        spoil(step, why);
    }
    return !code && !passage->is_released;
}

/* Something in the buffer was rejected, and the error does not say what: each step is committed
 * alone.  Steps that were executed must be recorded, or they would never be undone. */
static void save_steps(struct cairn_passage *passage, const char *why)
{
    struct buffer *buffer = &passage->buffer;
    struct commit_step *steps = buffer->steps.items;
    size_t count = buffer->steps.count;
    buffer->log_settled = 0;
    for (size_t i = 0; i < count; i++)
        if (strcmp(steps[i].status, "waiting") != 0 && !save_step(passage, &steps[i], why))
            break;
    buffer->steps.count = 0;
}

/* The function has failed, and says why; as much of the buffer is kept as is accepted. */
static cairn_code fail_refused(struct cairn_passage *passage, const cairn_error *why)
{
    cairn_error again;
    const char *text = arena_printf(&passage->arena, "the commit was refused: %s%s%s",
                                    why->message, why->detail[0] ? ": " : "", why->detail);
    struct passage_end end = {.outcome = PASSAGE_FAIL, .error = text ? text : why->message};
    buffer_drop_starts(passage, end.error);
    cairn_code code = try_commit(passage, &end, NO_STARTS, &again);
    if (is_refusal(code)) {
        save_steps(passage, end.error);
        if (!passage->is_released)
            code = try_commit(passage, &end, NO_STARTS, &again); /* the logs are left */
        if (is_refusal(code))
            code = try_commit(passage, &end, NOTHING, &again);
    }
    return passage_over(passage, why->code, "%s", why->message);
}

cairn_code passage_commit(struct cairn_passage *passage, const struct passage_end *end)
{
    cairn_error why;
    cairn_code code = try_commit(passage, end, ALL, &why);
    if (is_refusal(code) && passage->claim) { /* it may be the claim, which is not its fault */
        passage->claim = NULL;
        code = try_commit(passage, end, ALL, &why);
    }
    if (is_refusal(code))
        return fail_refused(passage, &why);
    if (code)
        return passage_over(passage, code, "%s",
                            why.message[0] ? why.message : cairn_code_meaning(code));
    return CAIRN_OK;
}

void passage_leave(struct cairn_passage *passage)
{
    cairn_error why;
    struct passage_end end = {.outcome = PASSAGE_SUSPEND};
    (void)try_commit(passage, &end, NOTHING, &why); /* refused, which ends the lease */
    passage->is_released = false;
}

/* ---- boundaries ---------------------------------------------------------------------------- */

cairn_code passage_flush(struct cairn_passage *passage)
{
    struct passage_end end = {.outcome = PASSAGE_GO_ON};
    TRY(passage_commit(passage, &end));
    TRY(passage_look(passage));
    if (passage->is_released)
        return passage_over(passage, CAIRN_E_LEASE_LOST, "the lease has ended");
    return CAIRN_OK;
}

/* While the lease is fresh it only asks, which writes nothing. */
static cairn_code heartbeat(struct cairn_passage *passage)
{
    int64_t now_us = monotonic_us();
    int64_t third_us = passage->lease_ms * US_PER_MS / 3;
    bool is_due = now_us - passage->extended_at_us >= third_us;
    cleanup(request_freep) struct request *request = request_new(OP_HEARTBEAT);
    if (!request)
        return passage_no_memory(passage);
    request->in.heartbeat =
        (struct heartbeat_input){.worker = passage->worker,
                                 .task_id = passage->task.id,
                                 .token = passage->task.token,
                                 .extend_ms = is_due ? passage->lease_ms : 0};
    passage->costs.heartbeats++;
    if (exchange(passage, request))
        return give_up(passage, request);
    passage->stop = request->out.heartbeat.stop;
    passage->has_run = false;
    if (is_due)
        passage->extended_at_us = now_us;
    return passage_look(passage);
}

cairn_code passage_boundary(struct cairn_passage *passage)
{
    bool is_step_mode = passage->commit == CAIRN_COMMIT_STEP;
    if (buffer_is_full(&passage->buffer) || (is_step_mode && passage->buffer.steps.count))
        return passage_flush(passage);
    return passage->has_run ? heartbeat(passage) : CAIRN_OK;
}

cairn_code passage_make_room(struct cairn_passage *passage)
{
    return buffer_is_full(&passage->buffer) ? passage_flush(passage) : CAIRN_OK;
}

/* ---- time ---------------------------------------------------------------------------------- */

cairn_code passage_clock(struct cairn_passage *passage, int64_t *ret_now_us)
{
    cleanup(request_freep) struct request *request = request_new(OP_CLOCK_NOW);
    if (!request)
        return passage_no_memory(passage);
    if (exchange(passage, request))
        return give_up(passage, request);
    passage->clock_us = *ret_now_us = request->out.now_us;
    return CAIRN_OK;
}
