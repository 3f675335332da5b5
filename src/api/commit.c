/* api/commit.c - POST /v1/tasks/{id}/commit: what a passage of a function has done, and how it
 * goes on.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * Types and words are checked here, with the field's place in the error; what fits together is
 * the engine's to say (engine/check.c).
 */
#include "api/api.h"
#include "base/error.h"

/* An array with room for each entry of a field; NULL: memory ran out.  What is sent is bounded by
 * field_items() before anything is allocated for it. */
static void *room_for(struct request *request, const struct field_items *items, size_t size)
{
    void *room = arena_array(&request->arena, items->count + 1, size);
    if (!room && !request->code)
        request->code = fail_memory(&request->error);
    return room;
}

static struct field_items items_of(struct call *call, const char *name)
{
    return field_items(&call->body, name, call->engine->options.max_batch, OPTIONAL);
}

/* ---- steps ------------------------------------------------------------------------------------
 */

static void read_compensation(struct fields *fields, struct commit_step *step)
{
    struct fields inner;
    if (!field_object(fields, "compensation", &inner))
        return;
    step->compensation = field_text(&inner, "handler", REQUIRED);
    step->compensation_max_attempts =
        (int32_t)field_int(&inner, "max_attempts", 0, INT32_MAX, 3);
    step->compensation_timeout_ms = field_int(&inner, "timeout_ms", 0, DURATION_MS_MAX, 0);
    fields_end(&inner);
}

/* What a sleep, a wait and a step that is called again wait for. */
static void read_waiting(struct fields *fields, struct commit_step *step)
{
    step->delay_ms = field_int(fields, "delay_ms", 0, DURATION_MS_MAX, 0);
    step->until_us = field_time(fields, "until");
    step->event = field_text(fields, "event", OPTIONAL);
    step->timeout_ms = field_int(fields, "timeout_ms", 0, DURATION_MS_MAX, -1);
    step->signal_id = field_text(fields, "signal_id", OPTIONAL);
}

static void read_step(struct call *call, struct fields *fields, struct commit_step *step)
{
    static const char *const kinds[] = {"task", "sleep", "wait", "value", "start", NULL};
    static const char *const statuses[] = {"completed", "failed",    "ready",
                                           "waiting",   "forgotten", NULL};
    step->seq = (int32_t)field_int_needed(fields, "seq", 1, INT32_MAX);
    step->key = field_text(fields, "key", REQUIRED);
    step->kind = field_word(fields, "kind", kinds, REQUIRED);
    step->status = field_word(fields, "status", statuses, REQUIRED);
    step->input = field_json(fields, "input");
    step->output = field_json(fields, "output");
    step->error = field_text(fields, "error", OPTIONAL);
    step->attempts = (int32_t)field_int(fields, "attempts", 0, INT32_MAX, 0);
    step->max_attempts = (int32_t)field_int(fields, "max_attempts", 1, INT32_MAX, 1);
    read_waiting(fields, step);
    read_compensation(fields, step);
    step->outbound = read_outbound(call, fields, &step->outbound_count);
}

static void read_steps(struct call *call, struct request *request)
{
    struct commit_input *in = &request->in.commit;
    struct fields one;
    struct field_items items = items_of(call, "steps");
    in->steps = room_for(request, &items, sizeof *in->steps);
    in->step_count = items.count;
    while (field_items_next(&call->body, &items, &one)) {
        read_step(call, &one, &in->steps[items.index - 1]);
        fields_end(&one);
    }
}

/* ---- logs, jobs, instances --------------------------------------------------------------------
 */

static void read_log(struct fields *fields, struct commit_log *log)
{
    static const char *const levels[] = {"debug", "info", "warn", "error", NULL};
    log->level = field_word(fields, "level", levels, REQUIRED);
    log->message = field_text(fields, "message", REQUIRED);
    log->data = field_json(fields, "data");
    log->step = field_text(fields, "step", OPTIONAL);
    log->attempt = (int32_t)field_int(fields, "attempt", 0, INT32_MAX, 0);
}

static void read_logs(struct call *call, struct request *request)
{
    struct commit_input *in = &request->in.commit;
    struct fields one;
    struct field_items items = items_of(call, "logs");
    in->logs = room_for(request, &items, sizeof *in->logs);
    in->log_count = items.count;
    while (field_items_next(&call->body, &items, &one)) {
        read_log(&one, &in->logs[items.index - 1]);
        fields_end(&one);
    }
}

static void read_jobs(struct call *call, struct request *request)
{
    struct commit_input *in = &request->in.commit;
    struct fields one;
    struct field_items items = items_of(call, "jobs");
    in->jobs = room_for(request, &items, sizeof *in->jobs);
    in->job_count = items.count;
    while (field_items_next(&call->body, &items, &one)) {
        struct commit_job *job = &in->jobs[items.index - 1];
        job->id = field_text(&one, "id", REQUIRED);
        job->seq = (int32_t)field_int_needed(&one, "seq", 1, INT32_MAX);
        read_job_spec(&one, &job->spec);
        fields_end(&one);
    }
}

static void read_instances(struct call *call, struct request *request)
{
    struct commit_input *in = &request->in.commit;
    struct fields one;
    struct field_items items = items_of(call, "instances");
    in->starts = room_for(request, &items, sizeof *in->starts);
    in->start_count = items.count;
    while (field_items_next(&call->body, &items, &one)) {
        struct commit_start *start = &in->starts[items.index - 1];
        start->id = field_text(&one, "id", REQUIRED);
        start->seq = (int32_t)field_int_needed(&one, "seq", 1, INT32_MAX);
        read_start_spec(&one, &start->options);
        fields_end(&one);
    }
}

/* ---- the whole --------------------------------------------------------------------------------
 */

static enum passage_outcome read_outcome(struct fields *fields)
{
    const char *words[PASSAGE_OUTCOME_COUNT] = {0};
    for (int i = PASSAGE_NONE + 1; i < PASSAGE_OUTCOME_COUNT; i++)
        words[i - 1] = passage_outcome_name((enum passage_outcome)i);
    const char *word = field_word(fields, "outcome", words, REQUIRED);
    return word ? passage_outcome_from(word) : PASSAGE_NONE;
}

static void read_commit(struct call *call, struct request *request)
{
    struct commit_input *in = &request->in.commit;
    in->task_id = route_param(call);
    in->worker = field_text(&call->body, "worker", REQUIRED);
    in->token = field_text(&call->body, "token", REQUIRED);
    in->revision = field_int_needed(&call->body, "revision", 0, INT64_MAX);
    in->outcome = read_outcome(&call->body);
    in->output = field_json(&call->body, "output");
    in->error = field_text(&call->body, "error", OPTIONAL);
    in->failed_step = field_text(&call->body, "failed_step", OPTIONAL);
    in->extend_ms = (uint32_t)field_int(&call->body, "extend_ms", 1, UINT32_MAX, 30000);
    read_steps(call, request);
    read_logs(call, request);
    read_jobs(call, request);
    read_instances(call, request);
    in->is_claiming = read_claim_beside(call, in->worker, &in->claim);
}

/* ---- answers ----------------------------------------------------------------------------------
 */

/* Signals that nobody has taken. */
static void write_received(struct json_out *out, const cairn_received *events, size_t count)
{
    json_key(out, "events");
    json_open(out, '[');
    for (size_t i = 0; i < count; i++) {
        json_open(out, '{');
        json_key(out, "id");
        json_str(out, events[i].id);
        json_key(out, "event");
        json_str(out, events[i].event);
        json_key(out, "payload");
        json_raw(out, events[i].payload);
        json_key(out, "received_at");
        json_time(out, events[i].received_at_us);
        json_close(out, '}');
    }
    json_close(out, ']');
}

void write_memory(struct json_out *out, const cairn_memory *memory)
{
    json_key(out, "version");
    json_int(out, memory->version);
    json_key(out, "revision");
    json_int(out, memory->revision);
    json_key(out, "places");
    json_int(out, memory->places);
    json_key(out, "forced");
    json_bool(out, memory->is_forced);
    json_key(out, "steps");
    json_open(out, '[');
    for (size_t i = 0; i < memory->step_count; i++)
        write_step(out, &memory->steps[i]);
    json_close(out, ']');
    write_received(out, memory->events, memory->event_count);
    json_key(out, "effect");
    json_int(out, memory->effect);
    json_key(out, "effects");
    json_open(out, '[');
    for (size_t i = 0; i < memory->effect_count; i++) {
        json_open(out, '{');
        json_key(out, "step");
        json_str(out, memory->effects[i].step);
        json_key(out, "effect");
        json_int(out, memory->effects[i].effect);
        json_close(out, '}');
    }
    json_close(out, ']');
}

/* Of a commit that had been taken before nobody knows any more: an empty list. */
static void write_started(struct json_out *out, const struct request *request)
{
    const struct commit_input *in = &request->in.commit;
    const cairn_enqueued *started = request->out.committed.started;
    size_t count = started ? in->job_count + in->start_count : 0;
    json_key(out, "started");
    json_open(out, '[');
    for (size_t i = 0; i < count; i++)
        write_created(out, &started[i]);
    json_close(out, ']');
}

static void write_committed(const struct call *call, const struct request *request,
                            struct answer *answer)
{
    (void)call;
    const struct committed_output *committed = &request->out.committed;
    struct json_out *out = &answer->out;
    json_open(out, '{');
    json_key(out, "status");
    json_str(out, committed->status);
    json_key(out, "stop");
    json_str(out, committed->stop);
    json_key(out, "lease_until");
    json_time(out, committed->lease_until_us);
    json_key(out, "revision");
    json_int(out, committed->revision);
    json_key(out, "conflict");
    json_bool(out, committed->is_conflict);
    write_received(out, committed->events, committed->event_count);
    write_started(out, request);
    if (request->in.commit.is_claiming)
        write_tasks(out, &request->out.page);
    json_close(out, '}');
}

static const struct route routes[] = {
    {"POST", "/v1/tasks/{id}/commit", OP_COMMIT, NULL, read_commit, write_committed, 0},
};

const struct route_list commit_routes = {routes, sizeof routes / sizeof *routes};
