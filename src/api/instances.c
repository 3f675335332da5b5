/* api/instances.c - /v1/instances: start, look, signal, decide, control.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "api/api.h"
#include "base/error.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* ---- starting -------------------------------------------------------------------------------
 */

void read_start_spec(struct fields *fields, cairn_start_options *ret_start)
{
    static const cairn_start_options defaults = CAIRN_START_DEFAULTS;
    *ret_start = defaults;
    ret_start->workflow = field_text(fields, "workflow", REQUIRED);
    ret_start->version = (int32_t)field_int(fields, "version", 1, INT32_MAX, 0);
    ret_start->input = field_json(fields, "input");
    ret_start->key = field_text(fields, "key", OPTIONAL);
    ret_start->start_at_us = field_time(fields, "start_at");
}

static void read_start(struct call *call, struct request *request)
{
    read_start_spec(&call->body, &request->in.start);
}

static void write_started(const struct call *call, const struct request *request,
                          struct answer *answer)
{
    (void)call;
    answer->status = request->out.enqueued->existing ? 200 : 201;
    write_created(&answer->out, request->out.enqueued);
}

/* ---- looking --------------------------------------------------------------------------------
 */

static void write_instance(struct json_out *out, const cairn_instance *instance)
{
    json_open(out, '{');
    json_key(out, "id");
    json_str(out, instance->id);
    json_key(out, "workflow");
    json_str(out, instance->workflow);
    json_key(out, "version");
    json_int(out, instance->version);
    json_key(out, "status");
    json_str(out, instance->status);
    json_key(out, "current_steps");
    json_open(out, '[');
    for (size_t i = 0; i < instance->current_step_count; i++)
        json_str(out, instance->current_steps[i]);
    json_close(out, ']');
    json_key(out, "input");
    json_raw(out, instance->input);
    json_key(out, "output");
    json_raw(out, instance->output);
    json_key(out, "last_error");
    json_raw(out, instance->last_error);
    json_key(out, "undo_error");
    json_raw(out, instance->undo_error);
    json_key(out, "key");
    json_str(out, instance->key);
    json_key(out, "generation");
    json_int(out, instance->generation);
    json_key(out, "created_at");
    json_time(out, instance->created_at_us);
    json_key(out, "start_at");
    json_time(out, instance->start_at_us);
    json_key(out, "started_at");
    json_time(out, instance->started_at_us);
    json_key(out, "finished_at");
    json_time(out, instance->finished_at_us);
    json_close(out, '}');
}

static void read_id(struct call *call, struct request *request)
{
    request->in.id = route_param(call);
}

void write_instance_now(const struct call *call, const struct request *request,
                        struct answer *answer)
{
    (void)call;
    write_instance(&answer->out, request->out.page.instances);
}

static const char *const list_params[] = {"status", "workflow", "key", "limit", "cursor", NULL};

static void read_list(struct call *call, struct request *request)
{
    static const cairn_instance_filter defaults = CAIRN_INSTANCE_FILTER_DEFAULTS;
    cairn_instance_filter *filter = &request->in.instance_list;
    *filter = defaults;
    filter->status = target_param(&call->target, "status");
    filter->workflow = target_param(&call->target, "workflow");
    filter->key = target_param(&call->target, "key");
    filter->cursor = target_param(&call->target, "cursor");
    target_limit(&call->target, request, &filter->limit);
}

static void write_list(const struct call *call, const struct request *request,
                       struct answer *answer)
{
    (void)call;
    const struct page_output *page = &request->out.page;
    json_open(&answer->out, '{');
    json_key(&answer->out, "items");
    json_open(&answer->out, '[');
    for (size_t i = 0; i < page->count; i++)
        write_instance(&answer->out, &page->instances[i]);
    json_close(&answer->out, ']');
    write_next(&answer->out, page->next);
    json_close(&answer->out, '}');
}

/* ---- steps ----------------------------------------------------------------------------------
 */

static void write_step_times(struct json_out *out, const cairn_step *step)
{
    json_key(out, "next_run_at");
    json_time(out, step->next_run_at_us);
    json_key(out, "started_at");
    json_time(out, step->started_at_us);
    json_key(out, "finished_at");
    json_time(out, step->finished_at_us);
}

static void write_step_rest(struct json_out *out, const cairn_step *step)
{
    json_key(out, "priority");
    json_int(out, step->priority);
    json_key(out, "metadata");
    json_raw(out, step->metadata);
    json_key(out, "waiting_event");
    json_str(out, step->waiting_event);
    json_key(out, "deadline_at");
    json_time(out, step->deadline_at_us);
    json_key(out, "locked_by");
    json_str(out, step->locked_by);
    json_key(out, "locked_until");
    json_time(out, step->locked_until_us);
    json_key(out, "compensation_attempts");
    json_int(out, step->compensation_attempts);
    json_key(out, "commit_no");
    json_int(out, step->commit_no);
}

void write_step(struct json_out *out, const cairn_step *step)
{
    json_open(out, '{');
    json_key(out, "id");
    json_str(out, step->id);
    json_key(out, "seq");
    json_int(out, step->seq);
    json_key(out, "name");
    json_str(out, step->name);
    json_key(out, "kind");
    json_str(out, step->kind);
    json_key(out, "handler");
    json_str(out, step->handler);
    json_key(out, "status");
    json_str(out, step->status);
    json_key(out, "attempts");
    json_int(out, step->attempts);
    json_key(out, "max_attempts");
    json_int(out, step->max_attempts);
    json_key(out, "input");
    json_raw(out, step->input);
    json_key(out, "output");
    json_raw(out, step->output);
    json_key(out, "error");
    json_str(out, step->error);
    json_key(out, "undo_error");
    json_str(out, step->undo_error);
    write_step_times(out, step);
    write_step_rest(out, step);
    json_close(out, '}');
}

static void write_steps(const struct call *call, const struct request *request,
                        struct answer *answer)
{
    (void)call;
    const struct page_output *page = &request->out.page;
    json_open(&answer->out, '{');
    json_key(&answer->out, "items");
    json_open(&answer->out, '[');
    for (size_t i = 0; i < page->count; i++)
        write_step(&answer->out, &page->steps[i]);
    json_close(&answer->out, ']');
    write_next(&answer->out, page->next);
    json_close(&answer->out, '}');
}

/* ---- signals --------------------------------------------------------------------------------
 */

/* "on", "off", or a truth value. */
static bool read_latch(struct fields *fields)
{
    struct request *request = fields->request;
    if (!json_is_string(json_object_get(fields->object, "latch")))
        return field_bool(fields, "latch", true);
    const char *text = field_text(fields, "latch", OPTIONAL);
    bool is_off = text && strcmp(text, "off") == 0;
    if (text && !is_off && strcmp(text, "on") != 0 && !request->code)
        request->code = fail(&request->error, CAIRN_E_BAD_INPUT,
                             "field \"latch\" must be \"on\" or \"off\", not \"%.64s\"", text);
    return !is_off;
}

static void read_signal(struct call *call, struct request *request)
{
    static const cairn_signal_options defaults = CAIRN_SIGNAL_DEFAULTS;
    cairn_signal_options *signal = &request->in.signal;
    *signal = defaults;
    signal->instance_id = route_param(call);
    signal->event = field_text(&call->body, "event", REQUIRED);
    signal->payload = field_json(&call->body, "payload");
    signal->id = field_text(&call->body, "id", OPTIONAL);
    signal->no_latch = !read_latch(&call->body);
}

static void write_signalled(const struct call *call, const struct request *request,
                            struct answer *answer)
{
    (void)call;
    const cairn_signalled *signalled = &request->out.signalled;
    answer->status = signalled->existing ? 200 : 201;
    json_open(&answer->out, '{');
    json_key(&answer->out, "id");
    json_str(&answer->out, request->in.signal.id);
    json_key(&answer->out, "existing");
    json_bool(&answer->out, signalled->existing);
    json_key(&answer->out, "taken");
    json_bool(&answer->out, signalled->taken);
    json_key(&answer->out, "kept");
    json_bool(&answer->out, signalled->kept);
    json_close(&answer->out, '}');
}

/* ---- control --------------------------------------------------------------------------------
 */

static void read_control(struct call *call, struct request *request)
{
    request->in.control = (struct control_input){.id = route_param(call)};
}

static void read_resume(struct call *call, struct request *request)
{
    read_control(call, request);
    request->in.control.is_forced = field_bool(&call->body, "force", false);
}

/* Who stops an instance says so, and why. */
static void read_stop(struct call *call, struct request *request)
{
    read_control(call, request);
    request->in.control.by = field_text(&call->body, "by", REQUIRED);
    request->in.control.reason = field_text(&call->body, "reason", REQUIRED);
}

/* ---- decisions ------------------------------------------------------------------------------
 */

static bool read_decision(struct fields *fields)
{
    struct request *request = fields->request;
    const char *text = field_text(fields, "decision", REQUIRED);
    bool is_confirmed = text && strcmp(text, "confirmed") == 0;
    if (text && !is_confirmed && strcmp(text, "rejected") != 0 && !request->code)
        request->code = fail(&request->error, CAIRN_E_BAD_INPUT,
                             "field \"decision\" must be \"confirmed\" or \"rejected\", not "
                             "\"%.64s\"",
                             text);
    return is_confirmed;
}

static void read_decide(struct call *call, struct request *request)
{
    request->in.decide = (struct decide_input){
        .id = call->target.segments[2],
        .step = call->target.segments[4],
        .is_confirmed = read_decision(&call->body),
        .by = field_text(&call->body, "by", REQUIRED),
        .comment = field_text(&call->body, "comment", OPTIONAL),
    };
}

/* Ids are strings here, since not every reader has 64-bit integers. */
static void write_decision(struct json_out *out, const cairn_decision *decision)
{
    char id[24];
    snprintf(id, sizeof id, "%" PRId64, decision->id);
    json_open(out, '{');
    json_key(out, "id");
    json_str(out, id);
    json_key(out, "step");
    json_str(out, decision->step);
    json_key(out, "decision");
    json_str(out, decision->decision);
    json_key(out, "by");
    json_str(out, decision->by);
    json_key(out, "comment");
    json_str(out, decision->comment);
    json_key(out, "at");
    json_time(out, decision->at_us);
    json_close(out, '}');
}

static void write_decisions(const struct call *call, const struct request *request,
                            struct answer *answer)
{
    (void)call;
    const struct page_output *page = &request->out.page;
    json_open(&answer->out, '{');
    json_key(&answer->out, "items");
    json_open(&answer->out, '[');
    for (size_t i = 0; i < page->count; i++)
        write_decision(&answer->out, &page->decisions[i]);
    json_close(&answer->out, ']');
    write_next(&answer->out, page->next);
    json_close(&answer->out, '}');
}

#define INSTANCE "/v1/instances/{id}"
#define DECISION INSTANCE "/steps/{step}/decision"

static const struct route routes[] = {
    {"POST", "/v1/instances", OP_START, NULL, read_start, write_started, 0},
    {"GET", "/v1/instances", OP_INSTANCE_LIST, list_params, read_list, write_list, 0},
    {"GET", INSTANCE, OP_INSTANCE_GET, NULL, read_id, write_instance_now, 0},
    {"GET", INSTANCE "/steps", OP_STEP_LIST, page_params, read_events, write_steps, 0},
    {"GET", INSTANCE "/events", OP_INSTANCE_EVENTS, page_params, read_events, write_events, 0},
    {"GET", INSTANCE "/logs", OP_LOG_LIST, page_params, read_events, write_logs, 0},
    {"GET", INSTANCE "/decisions", OP_DECISION_LIST, page_params, read_events, write_decisions,
     0},
    {"POST", INSTANCE "/signal", OP_SIGNAL, NULL, read_signal, write_signalled, 0},
    {"POST", DECISION, OP_DECIDE, NULL, read_decide, write_instance_now, 0},
    {"POST", INSTANCE "/pause", OP_PAUSE, NULL, read_control, write_instance_now, 0},
    {"POST", INSTANCE "/resume", OP_RESUME, NULL, read_resume, write_instance_now, 0},
    {"POST", INSTANCE "/restart", OP_RESTART, NULL, read_control, write_instance_now, 0},
    {"POST", INSTANCE "/retry", OP_RETRY, NULL, read_control, write_instance_now, 0},
    {"POST", INSTANCE "/cancel", OP_CANCEL, NULL, read_stop, write_instance_now, 0},
    {"POST", INSTANCE "/abort", OP_ABORT, NULL, read_stop, write_instance_now, 0},
};

const struct route_list instance_routes = {routes, sizeof routes / sizeof *routes};
