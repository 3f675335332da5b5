/* tests/spec/flow_story.c - one story of workflows that uses every call, told as a text.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "flow_story.h"

#include "test.h"

#include <stdlib.h>
#include <string.h>

struct story {
    cairn_engine *engine;
    FILE *out;
    int64_t start_us;
    cairn_error error;
    char id[64]; /* of the instance in hand */
};

static const char flow[] =
    "workflow: order\nversion: 1\nsteps:\n"
    "  - step: reserve\n    handler: billing.reserve.v1\n    priority: 70\n"
    "    metadata: {team: orders}\n    compensation: {handler: billing.refund.v1}\n"
    "  - fork: both\n    join: all\n    branches: [[{step: left}], [{step: right}]]\n"
    "  - wait: settled\n    event: paid\n    timeout: 1h\n"
    "  - step: close\n    max_attempts: 1\n";

#define CHECK_STORY(call)                                                      \
    do {                                                                       \
        cairn_code code_ = (call);                                             \
        CHECK(!code_, "%s: %s", cairn_code_name(code_), story->error.message); \
    } while (0)

static void tell(struct story *story, const char *what, cairn_code code)
{
    fprintf(story->out, "%s: %s", what, cairn_code_name(code));
    if (code && code != CAIRN_E_LEASE_LOST && code != CAIRN_E_WRONG_STATE)
        fprintf(story->out, " | %s | %s | %s", story->error.message, story->error.detail,
                story->error.hint);
    fprintf(story->out, "\n");
}

static const char *or_none(const char *text)
{
    return text ? text : "-";
}

/* null and none are the same in an answer. */
static const char *or_null(const char *json)
{
    return json ? json : "null";
}

static void tell_time(struct story *story, const char *name, int64_t us)
{
    if (us)
        fprintf(story->out, " %s=+%lld", name, (long long)(us - story->start_us));
}

/* ---- workflows ------------------------------------------------------------------------------ */

static void deploy(struct story *story, const char *file, const char *text)
{
    bool is_existing = false;
    tell(story, "deploy",
         cairn_workflow_deploy(story->engine, file, text, &is_existing, &story->error));
    fprintf(story->out, "    existing=%d\n", is_existing);
}

static void tell_definitions(struct story *story, cairn_code code, cairn_page **given)
{
    cairn_page *found = *given; /* now, after the call that brought it */
    tell(story, "definitions", code);
    if (code)
        return;
    for (size_t i = 0; i < cairn_page_count(found); i++) {
        const cairn_workflow *at = cairn_page_workflow(found, i);
        fprintf(story->out, "    %s %d %s %s", at->name, at->version, at->hash, at->content);
        tell_time(story, "created", at->created_at_us);
        fprintf(story->out, "\n");
    }
    CHECK(!cairn_page_workflow(found, cairn_page_count(found)), "past the end");
    fprintf(story->out, "    next=%s\n", or_none(cairn_page_next(found)));
    cairn_page_free(found);
}

static void tell_workflows(struct story *story)
{
    cairn_engine *engine = story->engine;
    cairn_page *found = NULL;
    deploy(story, "order.yaml", flow);
    deploy(story, "order.yaml", flow);
    deploy(story, "other.yaml",
           "{\"workflow\": \"order\", \"version\": 1, \"steps\": [{\"step\": \"x\"}]}");
    deploy(story, "bad.yaml", "workflow: w\nversion: 0\nsteps: []\n");
    deploy(story, NULL, "workflow: a\nversion: 3\nsteps: [{step: s}]\n");
    tell_definitions(story, cairn_workflow_get(engine, "order", 0, &found, &story->error),
                     &found);
    tell_definitions(story, cairn_workflow_get(engine, "order", 2, &found, &story->error),
                     &found);
    tell_definitions(story, cairn_workflow_list(engine, NULL, 1, &found, &story->error),
                     &found);
    tell_definitions(story, cairn_workflow_list(engine, NULL, 10, &found, &story->error),
                     &found);
}

/* ---- instances ------------------------------------------------------------------------------ */

static void tell_instances(struct story *story, cairn_code code, cairn_page *found)
{
    tell(story, "instances", code);
    if (code)
        return;
    for (size_t i = 0; i < cairn_page_count(found); i++) {
        const cairn_instance *at = cairn_page_instance(found, i);
        fprintf(story->out,
                "    %s %d %s key=%s in=%s out=%s generation=%d error=%s:", at->workflow,
                at->version, at->status, or_none(at->key), or_null(at->input),
                or_null(at->output), at->generation, at->last_error ? "yes" : "no");
        for (size_t k = 0; k < at->current_step_count; k++)
            fprintf(story->out, " %s", at->current_steps[k]);
        tell_time(story, "created", at->created_at_us);
        tell_time(story, "start", at->start_at_us);
        tell_time(story, "started", at->started_at_us);
        tell_time(story, "finished", at->finished_at_us);
        fprintf(story->out, "\n");
    }
    fprintf(story->out, "    %s\n", cairn_page_next(found) ? "more" : "that was all");
    cairn_page_free(found);
}

static void look(struct story *story)
{
    cairn_page *found = NULL;
    cairn_code code = cairn_instance_get(story->engine, story->id, &found, &story->error);
    tell_instances(story, code, found);
}

static void tell_steps(struct story *story, uint32_t limit)
{
    cairn_page *found = NULL;
    cairn_code code =
        cairn_instance_steps(story->engine, story->id, NULL, limit, &found, &story->error);
    tell(story, "steps", code);
    if (code)
        return;
    for (size_t i = 0; i < cairn_page_count(found); i++) {
        const cairn_step *at = cairn_page_step(found, i);
        CHECK(strncmp(at->id, story->id, strlen(story->id)) == 0, "%s", at->id);
        fprintf(story->out,
                "    %d %s %s %s %s %d/%d undo=%d priority=%d commit=%lld in=%s out=%s "
                "error=%s metadata=%s event=%s by=%s",
                at->seq, at->name, at->kind, or_none(at->handler), at->status, at->attempts,
                at->max_attempts, at->compensation_attempts, at->priority,
                (long long)at->commit_no, or_null(at->input), or_null(at->output),
                or_none(at->error), or_none(at->metadata), or_none(at->waiting_event),
                or_none(at->locked_by));
        tell_time(story, "next", at->next_run_at_us);
        tell_time(story, "started", at->started_at_us);
        tell_time(story, "finished", at->finished_at_us);
        tell_time(story, "deadline", at->deadline_at_us);
        tell_time(story, "locked", at->locked_until_us);
        fprintf(story->out, "\n");
    }
    fprintf(story->out, "    next=%s\n", or_none(cairn_page_next(found)));
    cairn_page_free(found);
}

static void start(struct story *story, const char *workflow, const char *key, int64_t at_us)
{
    cairn_start_options options = CAIRN_START_DEFAULTS;
    cairn_enqueued started = {.existing = -1};
    options.workflow = workflow;
    options.input = "{\"n\": 1.50}";
    options.key = key;
    options.start_at_us = at_us;
    tell(story, "start",
         cairn_instance_start(story->engine, &options, &started, &story->error));
    fprintf(story->out, "    existing=%d\n", started.existing);
    if (started.id[0])
        snprintf(story->id, sizeof story->id, "%s", started.id);
}

static void list(struct story *story, const char *status, const char *workflow, uint32_t limit)
{
    cairn_page *found = NULL;
    cairn_instance_filter filter = CAIRN_INSTANCE_FILTER_DEFAULTS;
    filter.status = status;
    filter.workflow = workflow;
    filter.limit = limit;
    cairn_code code = cairn_instance_list(story->engine, &filter, &found, &story->error);
    tell_instances(story, code, found);
}

/* ---- work ----------------------------------------------------------------------------------- */

/* Claims one task and ends it so. */
static void work(struct story *story, const char *type, cairn_report report)
{
    cairn_page *tasks = NULL;
    cairn_claim_options claim = CAIRN_CLAIM_DEFAULTS;
    claim.worker = "w";
    claim.types = &type;
    claim.type_count = 1;
    CHECK_STORY(cairn_claim(story->engine, &claim, &tasks, &story->error));
    fprintf(story->out, "%s brings %zu\n", type, cairn_page_count(tasks));
    const cairn_task *task = cairn_page_task(tasks, 0);
    if (task) {
        fprintf(story->out, "    %s %s in=%s %d/%d step=%s metadata=%s reason=%s signal=%s\n",
                task->kind, task->type, task->input, task->attempt, task->max_attempts,
                or_none(task->step), or_none(task->metadata), or_none(task->reason),
                or_none(task->signal));
        CHECK_STR(task->instance_id, story->id);
        report.task_id = task->id;
        report.token = task->token;
        cairn_reported reported;
        CHECK_STORY(cairn_report_many(story->engine, "w", &report, 1, &reported, NULL, NULL,
                                      &story->error));
        fprintf(story->out, "    reported: %s %s\n", cairn_code_name(reported.code),
                reported.status);
    }
    cairn_page_free(tasks);
}

static void complete(struct story *story, const char *type, const char *output)
{
    cairn_report report = CAIRN_REPORT_DEFAULTS;
    report.output = output;
    work(story, type, report);
}

static void wait_and_emit(struct story *story, const char *type)
{
    cairn_outbound events[2] = {CAIRN_OUTBOUND_DEFAULTS, CAIRN_OUTBOUND_DEFAULTS};
    cairn_report report = CAIRN_REPORT_DEFAULTS;
    events[0].event = "first";
    events[0].payload = "{\"a\": [1]}";
    events[1].event = "second";
    report.outcome = CAIRN_WAIT;
    report.event = "go";
    report.timeout_ms = 60000;
    report.outbound = events;
    report.outbound_count = 2;
    work(story, type, report);
}

static void release(struct story *story, const char *type)
{
    cairn_report report = CAIRN_REPORT_DEFAULTS;
    report.outcome = CAIRN_RELEASE;
    report.is_missing_handler = true;
    report.delay_ms = 1000;
    work(story, type, report);
    CHECK_STORY(cairn_clock_advance(story->engine, 1000, NULL, &story->error));
}

static void send_signal(struct story *story, const char *event, const char *id, int no_latch)
{
    cairn_signal_options options = CAIRN_SIGNAL_DEFAULTS;
    cairn_signalled signalled = {-1, -1, -1};
    options.instance_id = story->id;
    options.event = event;
    options.payload = "{\"amount\": 12}";
    options.id = id;
    options.no_latch = no_latch;
    tell(story, "signal",
         cairn_instance_signal(story->engine, &options, &signalled, &story->error));
    fprintf(story->out, "    existing=%d taken=%d kept=%d\n", signalled.existing,
            signalled.taken, signalled.kept);
}

static void tell_outbox(struct story *story)
{
    cairn_page *found = NULL;
    cairn_code code = cairn_outbox_claim(story->engine, "d", 10, 1000, &found, &story->error);
    tell(story, "outbox", code);
    for (size_t i = 0; !code && i < cairn_page_count(found); i++) {
        const cairn_outbox_event *at = cairn_page_outbox_event(found, i);
        fprintf(story->out, "    %s %s %s", at->step, at->event, at->payload);
        tell_time(story, "created", at->created_at_us);
        fprintf(story->out, "\n");
        tell(story, "ack", cairn_outbox_ack(story->engine, at->id, &story->error));
    }
    cairn_page_free(found);
    tell(story, "ack", cairn_outbox_ack(story->engine, "none", &story->error));
}

static void tell_events(struct story *story)
{
    cairn_page *found = NULL;
    cairn_code code =
        cairn_instance_events(story->engine, story->id, NULL, 1000, &found, &story->error);
    tell(story, "events", code);
    for (size_t i = 0; !code && i < cairn_page_count(found); i++) {
        const cairn_event *at = cairn_page_event(found, i);
        fprintf(story->out, "    %s %s", at->type, or_none(at->step));
        tell_time(story, "at", at->at_us);
        fprintf(story->out, "\n");
    }
    cairn_page_free(found);
}

static void tell_figures(struct story *story)
{
    cairn_stats stats = {.size = sizeof stats};
    tell(story, "stats", cairn_stats_get(story->engine, &stats, &story->error));
    const uint64_t figures[] = {stats.steps_ready,
                                stats.steps_leased,
                                stats.instances_pending,
                                stats.instances_running,
                                stats.instances_waiting_signal,
                                stats.instances_paused,
                                stats.instances_compensating,
                                stats.instances_dlq,
                                stats.started};
    for (size_t i = 0; i < sizeof figures / sizeof *figures; i++)
        fprintf(story->out, "    %llu", (unsigned long long)figures[i]);
    fprintf(story->out, "\n");
}

static void control(struct story *story)
{
    cairn_engine *engine = story->engine;
    cairn_error *error = &story->error;
    const char *id = story->id;
    tell(story, "pause", cairn_instance_pause(engine, id, error));
    look(story);
    tell_figures(story);
    tell(story, "retry", cairn_instance_retry(engine, id, error));
    tell(story, "resume", cairn_instance_resume(engine, id, 1, error));
    tell(story, "cancel", cairn_instance_cancel(engine, id, "ann", NULL, error));
    tell(story, "cancel", cairn_instance_cancel(engine, id, "ann", "twice", error));
    look(story);
    tell(story, "abort", cairn_instance_abort(engine, id, "ann", "no", error));
    tell(story, "restart", cairn_instance_restart(engine, id, error));
    tell(story, "abort", cairn_instance_abort(engine, id, "ann", "no", error));
    look(story);
    tell(story, "pause", cairn_instance_pause(engine, "none", error));
}

/* ---- decisions and the DLQ ------------------------------------------------------------------ */

static void decide(struct story *story, const char *step, int is_confirmed, const char *by)
{
    tell(story, "decide",
         cairn_instance_decide(story->engine, story->id, step, is_confirmed, by, "well",
                               &story->error));
    look(story);
}

static void tell_record(struct story *story, const cairn_dlq_record *record)
{
    fprintf(story->out, "record: %s %s %s at %s, %s, %s, open %d", record->workflow_id,
            record->step_name, or_none(record->step_type), strchr(record->step_id, '.'),
            or_none(record->error), or_none(record->reason), record->is_open);
    tell_time(story, "created", record->created_at_us);
    fprintf(story->out, " %s %s\n", or_null(record->input),
            strcmp(record->instance_id, story->id) == 0 ? "its own" : "another's");
}

static void tell_dlq(struct story *story)
{
    cairn_page *page = NULL;
    char id[32];
    CHECK_STORY(cairn_dlq_list(story->engine, NULL, 1, &page, &story->error));
    fprintf(story->out, "%zu records%s\n", cairn_page_count(page),
            cairn_page_next(page) ? " and more" : "");
    tell_record(story, cairn_page_dlq_record(page, 0));
    snprintf(id, sizeof id, "%s", cairn_page_dlq_record(page, 0)->id);
    cairn_page_free(page);
    tell(story, "requeue", cairn_dlq_requeue(story->engine, id, "{\"n\": 2}", &story->error));
    look(story);
    tell(story, "requeue", cairn_dlq_requeue(story->engine, id, NULL, &story->error));
    CHECK_STORY(cairn_dlq_get(story->engine, id, &page, &story->error));
    tell_record(story, cairn_page_dlq_record(page, 0));
    cairn_page_free(page);
    tell(story, "record", cairn_dlq_get(story->engine, "none", &page, &story->error));
}

static void people(struct story *story)
{
    deploy(story, "h.yaml",
           "workflow: h\nversion: 1\ndlq: true\n"
           "steps: [{human: a b, timeout: 1h}, {step: h, max_attempts: 1}]\n");
    start(story, "h", NULL, 0);
    decide(story, "a b", 1, "ann");
    decide(story, "a b", 0, "ann");
    cairn_report bad = CAIRN_REPORT_DEFAULTS;
    bad.outcome = CAIRN_FAIL;
    bad.error = "bad";
    work(story, "h", bad);
    look(story);
    tell_dlq(story);
    complete(story, "h", "1");
    start(story, "h", NULL, 0);
    decide(story, "a b", 0, "ann");
}

char *flow_story_play(cairn_engine *engine)
{
    char *text = NULL;
    size_t len = 0;
    struct story told = {.engine = engine, .out = open_memstream(&text, &len)}, *story = &told;
    CHECK_STORY(cairn_clock_now(engine, &story->start_us, &story->error));
    tell_workflows(story);
    start(story, "none", NULL, 0);
    start(story, "order", "k", 0);
    start(story, "order", "k", 0);
    look(story);
    tell_steps(story, 2);
    wait_and_emit(story, "billing.%");
    tell_steps(story, 1000);
    send_signal(story, "go", "s1", 0);
    send_signal(story, "go", "s1", 0);
    send_signal(story, "never", NULL, 1);
    complete(story, "billing.%", "{\"m\": 0.1}");
    release(story, "left");
    complete(story, "left", NULL);
    complete(story, "right", "[1,2]");
    look(story);
    send_signal(story, "paid", "s2", 0);
    complete(story, "close", "\"end\"");
    look(story);
    send_signal(story, "paid", NULL, 0);
    tell_steps(story, 1000);
    tell_outbox(story);
    tell_events(story);
    start(story, "a", NULL, story->start_us + INT64_C(3600000000));
    start(story, "a", NULL, 0);
    list(story, NULL, NULL, 2);
    list(story, "pending", "a", 10);
    list(story, "odd", NULL, 10);
    control(story);
    people(story);
    fclose(story->out);
    return text;
}
