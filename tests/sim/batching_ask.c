/* tests/sim/batching_ask.c - the requests of a round, drawn by chance.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "batching.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define below batching_below
#define chance batching_chance

/* ---- models ------------------------------------------------------------------------------ */

static struct request *add_ask(struct batching *batching, enum request_op op)
{
    struct ask *ask = &batching->asks[batching->ask_count++];
    *ask = (struct ask){.model = request_new(op)};
    if (!ask->model)
        abort();
    return ask->model;
}

static void *room(struct request *model, size_t count, size_t size)
{
    void *items = arena_array(&model->arena, count, size);
    if (!items)
        abort();
    return items;
}

__attribute__((format(printf, 2, 3))) static const char *text(struct request *model,
                                                              const char *format, ...)
{
    char buf[256];
    va_list args;
    va_start(args, format);
    vsnprintf(buf, sizeof buf, format, args);
    va_end(args);
    const char *copy = arena_strdup(&model->arena, buf);
    if (!copy)
        abort();
    return copy;
}

static const char *make_id(struct batching *batching, struct request *model)
{
    char id[ID_TEXT];
    id_make(&batching->rng, batching->now_us, id);
    return text(model, "%s", id);
}

/* The ids that the engine would make. */
static void give_ids(struct batching *batching, struct request *model, size_t count)
{
    model->out.enqueued = room(model, count, sizeof(cairn_enqueued));
    for (size_t i = 0; i < count; i++)
        id_make(&batching->rng, batching->now_us, model->out.enqueued[i].id);
}

static const char *some_instance(struct batching *batching, const char *focus)
{
    if (focus && chance(batching, 60))
        return focus;
    return batching->instances[below(batching, (int)batching->instance_count)];
}

/* Mostly a late one; often one of the instance that this round is about. */
static struct batching_task *some_task(struct batching *batching, const char *focus)
{
    size_t count = batching->task_count;
    for (size_t i = count; focus && i > 0; i--)
        if (strncmp(batching->tasks[i - 1].id, focus, strlen(focus)) == 0 &&
            chance(batching, 50))
            return &batching->tasks[i - 1];
    size_t back = chance(batching, 70) ? 6 : count;
    back = 1 + (size_t)below(batching, (int)(back < count ? back : count));
    return &batching->tasks[count - back];
}

/* ---- producers --------------------------------------------------------------------------- */

/* What becomes of a key that is known. */
static const char *draw_on_existing(struct batching *batching)
{
    static const char *const words[] = {NULL, "return", "fail", "restart_failed",
                                        "new_if_ended"};
    return words[below(batching, sizeof words / sizeof *words)];
}

static void fill_spec(struct batching *batching, struct request *model, cairn_job_spec *spec)
{
    *spec = (cairn_job_spec)CAIRN_JOB_DEFAULTS;
    spec->type = below(batching, 2) ? "j.a" : "j.b";
    spec->max_attempts = 1 + below(batching, 3);
    spec->key = below(batching, 3) ? NULL : text(model, "k%d", below(batching, 6));
    if (below(batching, 5) == 0)
        spec->run_at_us = batching->now_us + (1 + below(batching, 5000)) * US_PER_MS;
}

static void fill_keyed(struct batching *batching, struct request *model, cairn_job_spec *spec)
{
    fill_spec(batching, model, spec);
    if (!spec->key)
        return;
    spec->on_existing = draw_on_existing(batching);
    if (spec->run_at_us || below(batching, 4))
        return;
    spec->debounce_ms = 1000 * (1 + below(batching, 4));
    spec->payload = text(model, "%d", below(batching, 100));
}

static void ask_enqueue(struct batching *batching)
{
    struct request *model = add_ask(batching, OP_ENQUEUE);
    size_t count = 1 + (size_t)below(batching, 2);
    cairn_job_spec *specs = room(model, count, sizeof *specs);
    for (size_t i = 0; i < count; i++)
        fill_keyed(batching, model, &specs[i]);
    model->in.enqueue = (struct enqueue_input){.specs = specs, .count = count};
    give_ids(batching, model, count);
}

static const char *some_workflow(struct batching *batching, struct request *model)
{
    int which = below(batching, batching->workflows + batching->functions);
    return which < batching->workflows ? text(model, "w%d", which)
                                       : text(model, "f%d", which - batching->workflows);
}

static void ask_start(struct batching *batching)
{
    struct request *model = add_ask(batching, OP_START);
    cairn_start_options *start = &model->in.start;
    *start = (cairn_start_options)CAIRN_START_DEFAULTS;
    start->workflow = below(batching, 12) ? some_workflow(batching, model) : "late";
    start->input = below(batching, 2) ? "{\"n\": 1}" : "{\"n\": 2}";
    start->key = below(batching, 3) ? NULL : text(model, "k%d", below(batching, 4));
    start->on_existing = start->key ? draw_on_existing(batching) : NULL;
    if (below(batching, 6) == 0)
        start->start_at_us = batching->now_us + (1 + below(batching, 5000)) * US_PER_MS;
    if (batching->has_families && batching->instance_count && below(batching, 3) == 0) {
        start->tell_instance = text(model, "%s", some_instance(batching, NULL));
        start->tell_event = below(batching, 2) ? "e0" : "e1";
    }
    give_ids(batching, model, 1);
}

static void deploy_text(struct request *model, const char *content)
{
    model->in.deploy = (struct deploy_input){
        .file = "w.json", .text = text(model, "%s", content), .len = strlen(content)};
}

/* A workflow that nobody has deployed yet, a new version of one, or the same or another content
 * again. */
static void ask_deploy(struct batching *batching)
{
    char content[200];
    struct request *model = add_ask(batching, OP_DEPLOY);
    int version = below(batching, 3) ? 2 + batching->versions++ : 2;
    snprintf(content, sizeof content,
             "{\"workflow\": \"%s\", \"version\": %d, \"steps\": [{\"step\": \"s%d\"}]}",
             below(batching, 3) ? "w0" : "late", version, below(batching, 2));
    deploy_text(model, content);
}

void batching_draw_deployments(struct batching *batching)
{
    batching->workflows = 3;
    batching->functions = 2;
    for (int i = 0; i < batching->workflows; i++) {
        char name[16];
        struct buf content = {0};
        struct request *model = add_ask(batching, OP_DEPLOY);
        snprintf(name, sizeof name, "w%d", i);
        workflow_make(&batching->rng, name, i > 0, 0, &content);
        model->in.deploy.file = "w.json";
        model->in.deploy.len = content.len;
        model->in.deploy.text = arena_strdup(&model->arena, buf_text(&content));
        buf_done(&content);
    }
    for (int i = 0; i < batching->functions; i++) {
        char content[128];
        snprintf(content, sizeof content,
                 "{\"function\": \"f%d\", \"version\": 1, \"dlq\": %s, \"max_attempts\": 2}", i,
                 i ? "true" : "false");
        deploy_text(add_ask(batching, OP_DEPLOY), content);
    }
}

static void ask_registry(struct batching *batching)
{
    static const char *const types[] = {"j.a", "j.b", "s0"};
    struct request *model = add_ask(batching, OP_REGISTRY_PUT);
    model->in.registry = (cairn_registry_spec){.size = sizeof(cairn_registry_spec),
                                               .workflow_name = types[below(batching, 3)],
                                               .runtime = below(batching, 2) ? "go" : "c",
                                               .is_enabled = below(batching, 4) > 0};
}

/* ---- workers ----------------------------------------------------------------------------- */

static void fill_claim(struct batching *batching, struct request *model,
                       cairn_claim_options *claim, bool may_name_runtime)
{
    static const char *const all[] = {"%"}, *const jobs[] = {"j.a", "j.%"},
                             *const one[] = {"j.a"};
    static const char *const steps[] = {"s%", "u%"};
    static const char *const workers[] = {"v0", "v1", "v2"};
    int what = below(batching, 10);
    *claim = (cairn_claim_options)CAIRN_CLAIM_DEFAULTS;
    claim->worker = workers[below(batching, 3)];
    claim->types = what < 6 ? all : what < 7 ? jobs : what < 8 ? one : steps;
    claim->type_count = what < 6 ? 1 : what == 7 ? 1 : 2;
    claim->max = (uint32_t)(1 + below(batching, 4));
    claim->lease_ms = below(batching, 3) ? 30000 : 1000;
    if (may_name_runtime && below(batching, 5) == 0)
        claim->runtime = "go";
    token_make(&batching->rng, model->token);
}

static void ask_claim(struct batching *batching)
{
    struct request *model = add_ask(batching, OP_CLAIM);
    fill_claim(batching, model, &model->in.claim, true);
}

static void fill_report(struct batching *batching, struct request *model,
                        const struct batching_task *task, cairn_report *report)
{
    static const cairn_outcome outcomes[] = {
        CAIRN_COMPLETE, CAIRN_COMPLETE, CAIRN_COMPLETE, CAIRN_COMPLETE, CAIRN_FAIL,
        CAIRN_RETRY,    CAIRN_DEAD,     CAIRN_DEAD,     CAIRN_RELEASE,  CAIRN_WAIT};
    *report = (cairn_report)CAIRN_REPORT_DEFAULTS;
    report->task_id = text(model, "%s", task->id);
    report->token = text(model, "%s", task->token);
    report->outcome = outcomes[below(batching, 10)];
    switch (report->outcome) {
    case CAIRN_COMPLETE:
        report->output = text(model, "{\"n\": %d}", below(batching, 3));
        break;
    case CAIRN_WAIT:
        report->event = below(batching, 2) ? "e0" : "e1";
        report->timeout_ms = below(batching, 2) ? -1 : 1 + below(batching, 3000);
        break;
    case CAIRN_RELEASE:
        report->delay_ms = below(batching, 2) ? -1 : below(batching, 900);
        break;
    default:
        report->error = text(model, "oops %d", batching->outputs++);
        if (report->outcome == CAIRN_RETRY)
            report->delay_ms = below(batching, 3) - 1;
    }
    bool may_emit = report->outcome == CAIRN_COMPLETE || report->outcome == CAIRN_WAIT;
    if (may_emit && strchr(task->id, '.') && below(batching, 3) == 0) {
        cairn_outbound *outbound = room(model, 1, sizeof *outbound);
        *outbound = (cairn_outbound)CAIRN_OUTBOUND_DEFAULTS;
        outbound->event = text(model, "told%d", batching->outputs++);
        report->outbound = outbound;
        report->outbound_count = 1;
    }
}

static void ask_report(struct batching *batching, const char *focus)
{
    struct request *model = add_ask(batching, OP_REPORT);
    const struct batching_task *task = some_task(batching, focus);
    size_t count = 1 + (below(batching, 5) == 0);
    cairn_report *reports = room(model, count, sizeof *reports);
    for (size_t i = 0; i < count; i++)
        fill_report(batching, model, i ? some_task(batching, focus) : task, &reports[i]);
    model->in.report = (struct report_input){
        .worker = text(model, "%s", task->worker), .reports = reports, .count = count};
    if (below(batching, 6) == 0 && !batching->has_families) {
        model->in.report.is_claiming = true;
        fill_claim(batching, model, &model->in.report.claim, false);
    }
}

/* Some tasks at once, perhaps the same one twice. */
static void ask_heartbeats(struct batching *batching, const char *focus)
{
    struct request *model = add_ask(batching, OP_HEARTBEATS);
    const struct batching_task *task = some_task(batching, focus);
    struct heartbeats_input *in = &model->in.heartbeats;
    in->worker = text(model, "%s", task->worker);
    in->count = (size_t)(1 + below(batching, 3));
    in->beats = room(model, in->count, sizeof *in->beats);
    for (size_t i = 0; i < in->count; i++, task = some_task(batching, focus))
        in->beats[i] = (cairn_beat){
            .task_id = text(model, "%s", task->id),
            .token = text(model, "%s", task->token),
            .extend_ms = (uint32_t)below(batching, 9000),
        };
}

static void ask_heartbeat(struct batching *batching, const char *focus)
{
    if (below(batching, 3) == 0) {
        ask_heartbeats(batching, focus);
        return;
    }
    struct request *model = add_ask(batching, OP_HEARTBEAT);
    const struct batching_task *task = some_task(batching, focus);
    model->in.heartbeat = (struct heartbeat_input){
        .worker = text(model, "%s", task->worker),
        .task_id = text(model, "%s", task->id),
        .token = text(model, "%s", task->token),
        .extend_ms = (uint32_t)(1 + below(batching, 9000)),
    };
}

/* ---- functions --------------------------------------------------------------------------- */

static void fill_child(struct batching *batching, struct request *model,
                       struct commit_step *step)
{
    struct commit_input *in = &model->in.commit;
    const char *id = make_id(batching, model);
    step->output = text(model, "{\"id\": \"%s\"}", id);
    if (below(batching, 2)) {
        struct commit_job *job = &in->jobs[in->job_count++];
        *job = (struct commit_job){.id = id, .seq = step->seq};
        fill_spec(batching, model, &job->spec);
    } else {
        struct commit_start *start = &in->starts[in->start_count++];
        *start =
            (struct commit_start){.id = id, .seq = step->seq, .options = CAIRN_START_DEFAULTS};
        start->options.workflow = below(batching, 8) ? some_workflow(batching, model) : "late";
        start->options.key = below(batching, 3) ? NULL : text(model, "k%d", below(batching, 4));
        if (batching->has_families && below(batching, 2)) {
            start->options.tell_instance =
                text(model, "%.*s", (int)strcspn(in->task_id, "."), in->task_id);
            start->options.tell_event = below(batching, 2) ? "e0" : "e1";
        }
    }
}

static void fill_step(struct batching *batching, struct request *model,
                      struct commit_step *step, int32_t seq)
{
    static const char *const kinds[] = {"task", "task", "wait", "sleep", "value", "start"};
    *step = (struct commit_step){.seq = seq,
                                 .kind = kinds[below(batching, 6)],
                                 .status = "completed",
                                 .max_attempts = 1 + below(batching, 3),
                                 .timeout_ms = -1};
    step->key = text(model, "q%d", batching->outputs++);
    step->output = text(model, "{\"n\": %d}", batching->outputs);
    if (strcmp(step->kind, "wait") == 0 || strcmp(step->kind, "sleep") == 0) {
        step->status = "waiting";
        step->output = NULL;
        step->delay_ms = 1 + below(batching, 3000);
    }
    if (strcmp(step->kind, "wait") == 0) {
        step->event = below(batching, 2) ? "e0" : "e1";
        step->timeout_ms = below(batching, 2) ? -1 : 1 + below(batching, 3000);
    }
    if (strcmp(step->kind, "start") == 0)
        fill_child(batching, model, step);
    if (strcmp(step->kind, "task") == 0 && below(batching, 3) == 0) {
        step->compensation = "u0";
        step->compensation_max_attempts = 1 + below(batching, 2);
        step->is_compensation_idempotent = true;
    }
    if (strcmp(step->kind, "task") == 0 && below(batching, 4) == 0) {
        step->status = below(batching, 2) ? "failed" : "ready";
        step->error = "no";
        step->attempts = 1;
        step->delay_ms = 1 + below(batching, 900);
    }
}

/* Its revision may be an old one, if something has happened since. */
static void ask_commit(struct batching *batching, const struct batching_task *task)
{
    static const enum passage_outcome outcomes[] = {
        PASSAGE_GO_ON,   PASSAGE_GO_ON,    PASSAGE_GO_ON, PASSAGE_SUSPEND,
        PASSAGE_SUSPEND, PASSAGE_COMPLETE, PASSAGE_FAIL,  PASSAGE_MISMATCH};
    struct request *model = add_ask(batching, OP_COMMIT);
    struct commit_input *in = &model->in.commit;
    size_t count = (size_t)below(batching, 3);
    in->steps = room(model, count + 1, sizeof *in->steps);
    in->jobs = room(model, count + 1, sizeof *in->jobs);
    in->starts = room(model, count + 1, sizeof *in->starts);
    in->logs = room(model, 1, sizeof *in->logs);
    in->logs[0] = (struct commit_log){.level = "info",
                                      .message = text(model, "said %d", batching->outputs++)};
    in->log_count = (size_t)below(batching, 2);
    in->worker = text(model, "%s", task->worker);
    in->task_id = text(model, "%s", task->id);
    in->token = text(model, "%s", task->token);
    in->revision = task->revision;
    in->step_count = count;
    for (size_t i = 0; i < count; i++)
        fill_step(batching, model, &in->steps[i], task->places + (int32_t)i);
    in->outcome = outcomes[below(batching, 8)];
    in->output = in->outcome == PASSAGE_COMPLETE ? "{\"z\": 1}" : NULL;
    in->error = in->outcome == PASSAGE_FAIL || in->outcome == PASSAGE_MISMATCH ? "no" : NULL;
    in->extend_ms = in->outcome == PASSAGE_GO_ON ? 1 + (uint32_t)below(batching, 9000) : 0;
    if (below(batching, 6) == 0 && !batching->has_families) {
        in->is_claiming = true;
        fill_claim(batching, model, &in->claim, false);
    }
}

static void work(struct batching *batching, const char *focus)
{
    const struct batching_task *task = some_task(batching, focus);
    if (task->is_function && below(batching, 8))
        ask_commit(batching, task);
    else if (below(batching, 3) == 0)
        ask_heartbeat(batching, focus);
    else
        ask_report(batching, focus);
}

/* ---- people ------------------------------------------------------------------------------ */

static void ask_signal(struct batching *batching, const char *instance)
{
    struct request *model = add_ask(batching, OP_SIGNAL);
    cairn_signal_options *signal = &model->in.signal;
    *signal = (cairn_signal_options)CAIRN_SIGNAL_DEFAULTS;
    signal->instance_id = text(model, "%s", instance);
    signal->event = below(batching, 2) ? "e0" : "e1";
    signal->payload = text(model, "{\"p\": %d}", batching->signals++);
    signal->no_latch = below(batching, 6) == 0;
    if (below(batching, 4) == 0)
        signal->id =
            text(model, "m%d", below(batching, 3) ? batching->signals : below(batching, 9));
    else
        snprintf(model->signal_id, sizeof model->signal_id, "%s", make_id(batching, model));
}

static void ask_control(struct batching *batching, const char *instance)
{
    static const enum request_op controls[] = {OP_PAUSE,  OP_PAUSE,   OP_PAUSE, OP_RESUME,
                                               OP_RESUME, OP_RESUME,  OP_RETRY, OP_RETRY,
                                               OP_CANCEL, OP_RESTART, OP_ABORT};
    struct request *model = add_ask(batching, controls[below(batching, 11)]);
    model->in.control =
        (struct control_input){.id = text(model, "%s", instance),
                               .by = "ann",
                               .reason = text(model, "r%d", batching->outputs++),
                               .is_forced = below(batching, 3) == 0};
}

/* From the beginning, or from a step that the workflow may have. */
static void ask_rerun(struct batching *batching, const char *instance)
{
    static const char kinds[] = "sswzhfc";
    struct request *model = add_ask(batching, OP_RERUN);
    char kind = kinds[below(batching, sizeof kinds - 1)];
    bool has_input = below(batching, 2) == 0;
    model->in.rerun = (struct rerun_input){
        .id = text(model, "%s", instance),
        .from = below(batching, 5) ? text(model, "%c%d", kind, below(batching, 6)) : NULL,
        .input = has_input ? "{\"n\": 2}" : NULL};
    give_ids(batching, model, 1);
}

static void ask_decide(struct batching *batching, const char *instance)
{
    struct request *model = add_ask(batching, OP_DECIDE);
    model->in.decide = (struct decide_input){.id = text(model, "%s", instance),
                                             .step = text(model, "h%d", below(batching, 12)),
                                             .by = "eve",
                                             .comment = "so",
                                             .is_confirmed = below(batching, 4) > 0};
}

static void ask_requeue(struct batching *batching)
{
    struct request *model = add_ask(batching, OP_DLQ_REQUEUE);
    batching->asks[batching->ask_count - 1].record = below(batching, 3);
    model->in.requeue.input = below(batching, 3) ? NULL : "{\"n\": 2}";
}

static void ask_acknowledge(struct batching *batching)
{
    add_ask(batching, OP_OUTBOX_ACK);
    batching->asks[batching->ask_count - 1].record =
        below(batching, (int)batching->sides[0].outbox_count + 1);
}

static void ask_outbox(struct batching *batching)
{
    struct request *model = add_ask(batching, OP_OUTBOX_CLAIM);
    model->in.outbox = (struct outbox_input){.worker = below(batching, 2) ? "d0" : "d1",
                                             .max = (uint32_t)(1 + below(batching, 3)),
                                             .lease_ms = 2000};
}

static void ask_job_control(struct batching *batching)
{
    static const enum request_op controls[] = {OP_JOB_CANCEL, OP_JOB_RETRY, OP_JOB_DELETE};
    struct request *model = add_ask(batching, controls[below(batching, 3)]);
    model->in.id = text(model, "%s", batching->jobs[below(batching, (int)batching->job_count)]);
}

/* ---- a round ----------------------------------------------------------------------------- */

static void draw_one(struct batching *batching, const char *focus)
{
    int what = below(batching, 100);
    if (!focus || (what < 7 && batching->instance_count + 8 < KNOWN_IDS_MAX))
        ask_start(batching);
    else if (what < 14 && batching->job_count + 8 < KNOWN_IDS_MAX)
        ask_enqueue(batching);
    else if (what < 54 && batching->task_count)
        work(batching, focus);
    else if (what < 66)
        ask_signal(batching, some_instance(batching, focus));
    else if (what < 68 && batching->instance_count + 8 < KNOWN_IDS_MAX)
        ask_rerun(batching, some_instance(batching, focus));
    else if (what < 79)
        ask_control(batching, some_instance(batching, focus));
    else if (what < 83)
        ask_decide(batching, some_instance(batching, focus));
    else if (what < 87)
        ask_requeue(batching);
    else if (what < 94 && batching->job_count)
        ask_job_control(batching);
    else if (what < 96)
        ask_deploy(batching);
    else if (what < 97)
        ask_registry(batching);
    else
        ask_acknowledge(batching);
}

void batching_draw(struct batching *batching)
{
    char focus[ID_TEXT] = "";
    if (batching->instance_count)
        snprintf(focus, sizeof focus, "%s",
                 batching->instances[below(batching, (int)batching->instance_count)]);
    bool is_apart = batching->has_families && batching->instance_count;
    bool is_claiming_only = is_apart && batching->round % 2;
    int count = is_claiming_only ? 0 : 2 + below(batching, 10);
    for (int i = 0; i < count; i++)
        draw_one(batching, focus[0] ? focus : NULL);
    if (is_apart && !is_claiming_only)
        return;
    for (int i = 1 + below(batching, 3); i > 0; i--)
        ask_claim(batching);
    if (below(batching, 3) == 0)
        ask_outbox(batching);
}

/* ---- each side's own --------------------------------------------------------------------- */

static void note_done(struct request *request)
{
    *(bool *)request->arg = true;
}

static size_t given_ids(const struct request *model)
{
    return model->op == OP_ENQUEUE ? model->in.enqueue.count
                                   : model->op == OP_START || model->op == OP_RERUN;
}

struct request *batching_clone(const struct batching *batching, const struct ask *ask, int side)
{
    struct request *model = ask->model;
    struct request *request = request_new(model->op);
    if (!request)
        abort();
    request->in = model->in;
    memcpy(request->token, model->token, sizeof model->token);
    memcpy(request->signal_id, model->signal_id, sizeof model->signal_id);
    if (model->out.enqueued) {
        size_t count = given_ids(model);
        request->out.enqueued = room(request, count, sizeof(cairn_enqueued));
        memcpy(request->out.enqueued, model->out.enqueued, count * sizeof(cairn_enqueued));
    }
    if (model->op == OP_HEARTBEATS) { /* the answers stand in it */
        size_t count = model->in.heartbeats.count;
        request->in.heartbeats.beats = room(request, count, sizeof(cairn_beat));
        memcpy(request->in.heartbeats.beats, model->in.heartbeats.beats,
               count * sizeof(cairn_beat));
    }
    if (model->op == OP_DLQ_REQUEUE) {
        char id[24] = "0";
        batching_find_record(batching, side, ask->record, id);
        request->in.requeue.record = text(request, "%s", id);
    }
    if (model->op == OP_OUTBOX_ACK) {
        const struct side *own = &batching->sides[side];
        bool is_known = (size_t)ask->record < own->outbox_count;
        request->in.id = text(request, "%s", is_known ? own->outbox[ask->record] : "0");
    }
    request->done = note_done;
    request->arg = room(request, 1, sizeof(bool));
    return request;
}
