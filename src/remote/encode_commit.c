/* remote/encode_commit.c - what a passage of a function has done, as JSON.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "remote/encode.h"

#include <string.h>

static void put_compensation(struct json_out *out, const struct commit_step *step)
{
    if (!step->compensation)
        return;
    json_key(out, "compensation");
    json_open(out, '{');
    put_text(out, "handler", step->compensation);
    put_int(out, "max_attempts", step->compensation_max_attempts);
    put_int(out, "timeout_ms", step->compensation_timeout_ms);
    json_close(out, '}');
}

/* Fields that say what they say when they are left out are left out. */
static void put_waiting(struct json_out *out, const struct commit_step *step)
{
    if (step->delay_ms)
        put_int(out, "delay_ms", step->delay_ms);
    put_instant(out, "until", step->until_us);
    put_text(out, "event", step->event);
    if (step->event && step->timeout_ms >= 0)
        put_int(out, "timeout_ms", step->timeout_ms);
    put_text(out, "signal_id", step->signal_id);
}

static void add_step(struct json_out *out, const struct commit_step *step)
{
    json_open(out, '{');
    put_int(out, "seq", step->seq);
    put_text(out, "key", step->key);
    put_text(out, "kind", step->kind);
    put_text(out, "status", step->status);
    put_json(out, "input", step->input);
    put_json(out, "output", step->output);
    put_text(out, "error", step->error);
    if (step->attempts)
        put_int(out, "attempts", step->attempts);
    if (step->max_attempts > 1)
        put_int(out, "max_attempts", step->max_attempts);
    put_waiting(out, step);
    put_compensation(out, step);
    put_outbound(out, step->outbound, step->outbound_count);
    json_close(out, '}');
}

static void add_log(struct json_out *out, const struct commit_log *log)
{
    json_open(out, '{');
    put_text(out, "level", log->level);
    put_text(out, "message", log->message);
    put_json(out, "data", log->data);
    put_text(out, "step", log->step);
    if (log->attempt)
        put_int(out, "attempt", log->attempt);
    json_close(out, '}');
}

static void put_steps_and_logs(struct json_out *out, const struct commit_input *in)
{
    json_key(out, "steps");
    json_open(out, '[');
    for (size_t i = 0; i < in->step_count; i++)
        add_step(out, &in->steps[i]);
    json_close(out, ']');
    json_key(out, "logs");
    json_open(out, '[');
    for (size_t i = 0; i < in->log_count; i++)
        add_log(out, &in->logs[i]);
    json_close(out, ']');
}

static void put_started(struct json_out *out, const struct commit_input *in)
{
    json_key(out, "jobs");
    json_open(out, '[');
    for (size_t i = 0; i < in->job_count; i++) {
        json_open(out, '{');
        put_text(out, "id", in->jobs[i].id);
        put_int(out, "seq", in->jobs[i].seq);
        put_job_spec(out, &in->jobs[i].spec);
        json_close(out, '}');
    }
    json_close(out, ']');
    json_key(out, "instances");
    json_open(out, '[');
    for (size_t i = 0; i < in->start_count; i++) {
        json_open(out, '{');
        put_text(out, "id", in->starts[i].id);
        put_int(out, "seq", in->starts[i].seq);
        put_start_spec(out, &in->starts[i].options);
        json_close(out, '}');
    }
    json_close(out, ']');
}

/* A commit that ends the lease is recognised by its token, one that goes on by its steps having
 * ended; any other would be made twice. */
static bool is_repeatable(const struct commit_input *in)
{
    if (in->is_claiming)
        return false;
    if (in->outcome != PASSAGE_GO_ON)
        return true;
    for (size_t i = 0; i < in->step_count; i++)
        if (strcmp(in->steps[i].status, "completed") != 0 &&
            strcmp(in->steps[i].status, "failed") != 0)
            return false;
    return in->step_count > 0;
}

void encode_commit(const struct commit_input *in, struct transfer *transfer,
                   struct json_out *out)
{
    aim_at(transfer, "POST", "/v1/tasks/", in->task_id, "/commit");
    transfer->is_repeatable = is_repeatable(in);
    json_open(out, '{');
    put_text(out, "worker", in->worker);
    put_text(out, "token", in->token);
    put_int(out, "revision", in->revision);
    put_text(out, "outcome", passage_outcome_name(in->outcome));
    put_json(out, "output", in->output);
    put_text(out, "error", in->error);
    put_text(out, "failed_step", in->failed_step);
    if (in->outcome == PASSAGE_GO_ON)
        put_int(out, "extend_ms", in->extend_ms);
    put_steps_and_logs(out, in);
    put_started(out, in);
    if (in->is_claiming)
        put_claim(out, &in->claim, transfer);
    json_close(out, '}');
}
