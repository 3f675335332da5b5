/* api/tasks.c - /v1/tasks: claim, report, commit.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * By hand, because a claim may stand beside reports and commits, the fields of a report depend on
 * its outcome, and the fields of a task on its kind.  What fits together in a commit is the
 * engine's to say (engine/check_commit.c).
 */
#include "api/api.h"
#include "base/error.h"

#include <string.h>

extern const struct object complete_fields_object, fail_fields_object, retry_fields_object;
extern const struct object release_fields_object, wait_fields_object;

/* A field that belongs to another outcome is unknown, so that a mixed-up report is noticed instead
 * of half kept. */
const struct outcome outcomes[] = {
    {"complete", CAIRN_COMPLETE, &complete_fields_object},
    {"fail", CAIRN_FAIL, &fail_fields_object},
    {"retry", CAIRN_RETRY, &retry_fields_object},
    {"dead", CAIRN_DEAD, &fail_fields_object},
    {"release", CAIRN_RELEASE, &release_fields_object},
    {"wait", CAIRN_WAIT, &wait_fields_object},
    {0},
};

static const struct outcome *find_outcome(const char *name)
{
    for (const struct outcome *outcome = outcomes; outcome->name; outcome++)
        if (strcmp(outcome->name, name) == 0)
            return outcome;
    return NULL;
}

static void finish_claim(struct fields *fields, cairn_claim_options *claim)
{
    if (claim->type_count == 0 && claim->function_count == 0)
        field_refuse_empty(fields, "types", TYPES_MAX);
    if (claim->wait_ms > WAIT_MS_MAX)
        claim->wait_ms = WAIT_MS_MAX;
}

void read_claim(struct call *call, struct request *request)
{
    fields_read(&call->body, &claim_spec_object, &request->in.claim);
    finish_claim(&call->body, &request->in.claim);
}

/* The field `claim` of a report or commit, by the worker that makes it; false: there is none. */
static bool read_claim_beside(struct call *call, const char *worker, cairn_claim_options *claim)
{
    struct fields inner;
    if (!field_object(&call->body, "claim", &inner))
        return false;
    fields_read(&inner, &claim_besides_object, claim);
    finish_claim(&inner, claim);
    claim->worker = worker;
    fields_end(&inner);
    return true;
}

static void write_tasks(struct json_out *out, const struct page_output *page)
{
    json_open(json_key(out, "tasks"), '[');
    for (size_t i = 0; i < page->count; i++) {
        const cairn_task *task = &page->tasks[i];
        json_open(out, '{');
        fields_write(out, &task_object, task, WRITE_ANSWER);
        if (task->memory)
            fields_write(out, &memory_object, task->memory, WRITE_ANSWER);
        json_close(out, '}');
    }
    json_close(out, ']');
}

void write_claimed(const struct request *request, struct answer *answer)
{
    json_open(&answer->out, '{');
    write_tasks(&answer->out, &request->out.page);
    json_close(&answer->out, '}');
}

/* Here, and not before, the whole request is known to be good. */
void write_woken(const struct request *request, struct answer *answer)
{
    const struct call *call = request->arg;
    const char *worker = request->in.wake.worker;
    cairn_error error;
    if (!*worker) {
        fail(&error, CAIRN_E_BAD_INPUT, "worker is empty");
        answer_error(answer, &error);
        return;
    }
    call->engine->ops->wake(call->engine, worker);
    json_open(&answer->out, '{');
    json_str(json_key(&answer->out, "worker"), worker);
    json_close(&answer->out, '}');
}

static const cairn_report defaults = CAIRN_REPORT_DEFAULTS;

/* POST /v1/tasks/{id}/complete and the others: the path says which. */
void read_report_one(struct call *call, struct request *request)
{
    const struct outcome *outcome = find_outcome(call->target.segments[3]);
    cairn_report *report = arena_zalloc(&request->arena, sizeof *report);
    if (!report) {
        request->code = fail_memory(&request->error);
        return;
    }
    *report = defaults;
    request->in.report = (struct report_input){.reports = report, .count = 1};
    request->in.report.worker = field_text(&call->body, "worker", REQUIRED);
    report->task_id = call->target.segments[2];
    report->token = field_text(&call->body, "token", REQUIRED);
    report->outcome = outcome->outcome;
    fields_read(&call->body, outcome->fields, report);
}

/* An entry of a batch that was refused. */
static void write_refused(struct json_out *out, const char *id, cairn_code code,
                          const char *why)
{
    json_open(out, '{');
    json_str(json_key(out, "id"), id);
    json_str(json_key(out, "code"), cairn_code_name(code));
    json_error_text(out, "message", why);
    json_close(out, '}');
}

static void write_reported(struct json_out *out, const char *id, const cairn_reported *reported)
{
    if (reported->code) {
        write_refused(out, id, reported->code, reported->error.message);
        return;
    }
    json_open(out, '{');
    json_str(json_key(out, "id"), id);
    json_str(json_key(out, "status"), reported->status);
    json_close(out, '}');
}

void write_report_one(const struct request *request, struct answer *answer)
{
    const cairn_reported *reported = request->out.reported;
    if (reported->code) {
        cairn_error error = reported->error;
        error.code = reported->code;
        answer_error(answer, &error);
    } else {
        write_reported(&answer->out, request->in.report.reports[0].task_id, reported);
    }
}

static void read_result(struct fields *fields, const struct object *object, void *to)
{
    (void)object; /* it depends on the outcome */
    struct request *request = fields->request;
    cairn_report *report = to;
    *report = defaults;
    report->task_id = field_text(fields, "id", REQUIRED);
    report->token = field_text(fields, "token", REQUIRED);
    const char *name = field_text(fields, "outcome", REQUIRED);
    const struct outcome *outcome = name ? find_outcome(name) : NULL;
    fields->is_partial = !outcome;
    if (outcome) {
        report->outcome = outcome->outcome;
        fields_read(fields, outcome->fields, report);
    } else if (!request->code) {
        request->code =
            fail(&request->error, CAIRN_E_BAD_INPUT,
                 "field \"results[%ld].outcome\" is unknown: \"%.64s\"", fields->index, name);
        fail_hint(&request->error, request->code,
                  "an outcome is complete, fail, retry, dead, release or wait");
    }
}

void read_report_many(struct call *call, struct request *request)
{
    static const struct list_reader reader = {sizeof(cairn_report), read_result, NULL};
    struct report_input *in = &request->in.report;
    in->worker = field_text(&call->body, "worker", REQUIRED);
    in->reports =
        field_list(&call->body, "results", REQUIRED, call->body.max_batch, &reader, &in->count);
    in->is_claiming = read_claim_beside(call, in->worker, &in->claim);
}

void write_report_many(const struct request *request, struct answer *answer)
{
    const struct report_input *in = &request->in.report;
    json_open(&answer->out, '{');
    json_open(json_key(&answer->out, "results"), '[');
    for (size_t i = 0; i < in->count; i++)
        write_reported(&answer->out, in->reports[i].task_id, &request->out.reported[i]);
    json_close(&answer->out, ']');
    write_tasks(&answer->out, &request->out.page);
    json_close(&answer->out, '}');
}

void write_heartbeats(const struct request *request, struct answer *answer)
{
    const struct heartbeats_input *in = &request->in.heartbeats;
    struct json_out *out = &answer->out;
    json_open(out, '{');
    json_open(json_key(out, "tasks"), '[');
    for (size_t i = 0; i < in->count; i++) {
        const cairn_beat *beat = &in->beats[i];
        if (beat->ret_code)
            write_refused(out, beat->task_id, beat->ret_code, request->out.whys[i]);
        else
            object_write(out, &beat_object, beat, WRITE_ANSWER);
    }
    json_close(out, ']');
    json_close(out, '}');
}

void read_commit(struct call *call, struct request *request)
{
    struct commit_input *in = &request->in.commit;
    fields_read(&call->body, &commit_spec_object, in);
    in->is_claiming = read_claim_beside(call, in->worker, &in->claim);
}

/* What a commit started is not known any more if the commit had been taken before. */
void write_committed(const struct request *request, struct answer *answer)
{
    const struct commit_input *in = &request->in.commit;
    const cairn_enqueued *started = request->out.committed.started;
    json_open(&answer->out, '{');
    fields_write(&answer->out, &committed_object, &request->out.committed, WRITE_ANSWER);
    list_write(&answer->out, "started", &enqueued_object, started,
               started ? in->job_count + in->start_count : 0, WRITE_ANSWER);
    if (in->is_claiming)
        write_tasks(&answer->out, &request->out.page);
    json_close(&answer->out, '}');
}

void write_context(const struct request *request, struct answer *answer)
{
    const struct context_output *context = &request->out.context;
    json_open(&answer->out, '{');
    json_raw(json_key(&answer->out, "input"), context->input);
    json_open(json_key(&answer->out, "outputs"), '{');
    for (size_t i = 0; i < context->count; i++)
        json_raw(json_key(&answer->out, context->items[i].step), context->items[i].output);
    json_close(&answer->out, '}');
    json_close(&answer->out, '}');
}
