/* tests/spec/function_story.c - one story of functions that uses every field of a commit.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * Commits are made by hand: a passage of the library would never say some of this.
 */
#include "function_story.h"

#include "engine/calling.h"
#include "test.h"

#include <stdlib.h>
#include <string.h>

#define JOB "11111111-1111-4111-8111-111111111111"
#define JOB_AGAIN "22222222-2222-4222-8222-222222222222"
#define CHILD "33333333-3333-4333-8333-333333333333"

struct story {
    cairn_engine *engine;
    FILE *out;
    int64_t start_us;
    cairn_error error;
    char id[64], task[64], token[64]; /* of the instance and the passage in hand */
    int64_t revision;
};

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

static void tell_code(struct story *story, const char *what, cairn_code code)
{
    fprintf(story->out, "%s: %s", what, cairn_code_name(code));
    if (code && code != CAIRN_E_LEASE_LOST)
        fprintf(story->out, " | %s | %s | %s", story->error.message, story->error.detail,
                story->error.hint);
    fprintf(story->out, "\n");
}

/* ---- tasks ----------------------------------------------------------------------------------- */

static void tell_step(struct story *story, const cairn_step *step)
{
    fprintf(story->out,
            "    %d %s %s %s handler=%s in=%s out=%s error=%s event=%s %d/%d undo=%d "
            "priority=%d commit=%lld",
            step->seq, step->name, step->kind, step->status, or_none(step->handler),
            or_null(step->input), or_null(step->output), or_none(step->error),
            or_none(step->waiting_event), step->attempts, step->max_attempts,
            step->compensation_attempts, step->priority, (long long)step->commit_no);
    tell_time(story, "next", step->next_run_at_us);
    tell_time(story, "started", step->started_at_us);
    tell_time(story, "finished", step->finished_at_us);
    tell_time(story, "deadline", step->deadline_at_us);
    fprintf(story->out, "\n");
}

static void tell_events(struct story *story, const cairn_received *const *events, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        fprintf(story->out, "    event %s %s %s", events[i]->id, events[i]->event,
                events[i]->payload);
        tell_time(story, "received", events[i]->received_at_us);
        fprintf(story->out, "\n");
    }
}

static void tell_task(struct story *story, const cairn_task *task)
{
    const cairn_memory *memory = task->memory;
    fprintf(story->out, "  task %s %s step=%s in=%s %d/%d", task->kind, task->type,
            or_none(task->step), or_null(task->input), task->attempt, task->max_attempts);
    fprintf(story->out, " metadata=%s", or_null(task->metadata));
    tell_time(story, "lease", task->lease_until_us);
    fprintf(story->out, "\n");
    if (!memory)
        return;
    fprintf(story->out, "    version=%d revision=%lld places=%d forced=%d\n", memory->version,
            (long long)memory->revision, memory->places, memory->is_forced);
    for (size_t i = 0; i < memory->step_count; i++)
        tell_step(story, memory->steps[i]);
    tell_events(story, memory->events, memory->event_count);
}

/* Takes the passage into our hands. */
static void hold(struct story *story, const cairn_task *task)
{
    snprintf(story->task, sizeof story->task, "%s", task->id);
    snprintf(story->token, sizeof story->token, "%s", task->token);
    if (task->memory)
        story->revision = task->memory->revision;
}

static void claim(struct story *story, const char *type)
{
    cairn_page *tasks = NULL;
    cairn_claim_options options = CAIRN_CLAIM_DEFAULTS;
    options.worker = "w";
    options.types = &type;
    options.type_count = 1;
    cairn_code code = cairn_claim(story->engine, &options, &tasks, &story->error);
    tell_code(story, "claim", code);
    for (size_t i = 0; !code && i < cairn_page_count(tasks); i++) {
        tell_task(story, cairn_page_task(tasks, i));
        hold(story, cairn_page_task(tasks, i));
    }
    cairn_page_free(tasks);
}

/* ---- commits --------------------------------------------------------------------------------- */

static void tell_committed(struct story *story, const struct request *request)
{
    const struct committed_output *committed = &request->out.committed;
    const struct commit_input *in = &request->in.commit;
    fprintf(story->out, "    %s stop=%s revision=%lld conflict=%d", committed->status,
            or_none(committed->stop), (long long)committed->revision, committed->is_conflict);
    tell_time(story, "lease", committed->lease_until_us);
    fprintf(story->out, "\n");
    tell_events(story, committed->events, committed->event_count);
    for (size_t i = 0; committed->started && i < in->job_count + in->start_count; i++)
        fprintf(story->out, "    started %s existing=%d\n", committed->started[i].id,
                committed->started[i].existing);
    for (size_t i = 0; i < request->out.page.count; i++)
        tell_task(story, &request->out.page.tasks[i]);
}

static void commit(struct story *story, struct commit_input in)
{
    struct request *request = request_new(OP_COMMIT);
    in.worker = "w";
    in.task_id = story->task;
    in.token = story->token;
    in.revision = story->revision;
    request->in.commit = in;
    cairn_code code = run_request(story->engine, request, &story->error);
    tell_code(story, passage_outcome_name(in.outcome), code);
    if (!code) {
        story->revision = request->out.committed.revision;
        tell_committed(story, request);
        if (request->out.page.count)
            hold(story, &request->out.page.tasks[0]);
    }
    request_free(request);
}

#define COUNT(list) (sizeof(list) / sizeof *(list))

static struct commit_step step(int32_t seq, const char *key, const char *kind,
                               const char *status)
{
    return (struct commit_step){
        .seq = seq, .key = key, .kind = kind, .status = status, .timeout_ms = -1};
}

/* ---- the story ------------------------------------------------------------------------------- */

static void start(struct story *story, const char *input)
{
    cairn_start_options options = CAIRN_START_DEFAULTS;
    cairn_enqueued started;
    options.workflow = "order";
    options.input = input;
    tell_code(story, "start",
              cairn_instance_start(story->engine, &options, &started, &story->error));
    snprintf(story->id, sizeof story->id, "%s", started.id);
}

static void send(struct story *story, const char *event, const char *id, const char *payload)
{
    cairn_signal_options options = CAIRN_SIGNAL_DEFAULTS;
    options.instance_id = story->id;
    options.event = event;
    options.id = id;
    options.payload = payload;
    tell_code(story, "signal",
              cairn_instance_signal(story->engine, &options, NULL, &story->error));
}

static void tell_instance(struct story *story)
{
    cairn_page *found = NULL;
    cairn_code code = cairn_instance_get(story->engine, story->id, &found, &story->error);
    tell_code(story, "instance", code);
    if (code)
        return;
    const cairn_instance *at = cairn_page_instance(found, 0);
    fprintf(story->out, "    %s out=%s error=%s:", at->status, or_null(at->output),
            or_null(at->last_error));
    for (size_t i = 0; i < at->current_step_count; i++)
        fprintf(story->out, " %s", at->current_steps[i]);
    fprintf(story->out, "\n");
    cairn_page_free(found);
}

static void tell_outbox(struct story *story)
{
    cairn_page *events = NULL;
    cairn_code code = cairn_outbox_claim(story->engine, "d", 10, 30000, &events, &story->error);
    tell_code(story, "outbox", code);
    for (size_t i = 0; !code && i < cairn_page_count(events); i++) {
        const cairn_outbox_event *event = cairn_page_outbox_event(events, i);
        fprintf(story->out, "    %s %s %s\n", event->step, event->event, event->payload);
    }
    cairn_page_free(events);
}

static void tell_job(struct story *story)
{
    cairn_page *jobs = NULL;
    cairn_code code = cairn_job_get(story->engine, JOB, &jobs, &story->error);
    tell_code(story, "job", code);
    if (code)
        return;
    const cairn_job *job = cairn_page_job(jobs, 0);
    fprintf(story->out, "    %s %s key=%s %d %d", job->type, job->payload,
            or_none(job->idempotency_key), job->priority, job->max_attempts);
    tell_time(story, "run_at", job->run_at_us);
    fprintf(story->out, "\n");
    cairn_page_free(jobs);
}

/* Everything that one commit can say. */
static void remember_much(struct story *story)
{
    const cairn_outbound outbound[] = {
        {.size = sizeof *outbound, .event = "reserved", .payload = "[1, 0.10]"},
        {.size = sizeof *outbound, .event = "told"}};
    struct commit_step steps[] = {
        step(1, "reserve", "task", "completed"), step(2, "uuid", "value", "completed"),
        step(3, "mail", "start", "completed"), step(4, "mail#2", "start", "completed"),
        step(5, "order", "start", "completed")};
    struct commit_log logs[] = {{"info", "reserved \"it\"", "{\"shelf\": 4}", "reserve", 2},
                                {"debug", "", NULL, NULL, 0}};
    struct commit_job jobs[] = {{JOB, 3, CAIRN_JOB_DEFAULTS, NULL},
                                {JOB_AGAIN, 4, CAIRN_JOB_DEFAULTS, NULL}};
    struct commit_start starts[] = {{CHILD, 5, CAIRN_START_DEFAULTS, NULL}};
    steps[0].input = "{\"order\": 17}";
    steps[0].output = "{\"shelf\": 0.10}";
    steps[0].attempts = 1;
    steps[0].max_attempts = 4;
    steps[0].compensation = "put_back";
    steps[0].compensation_max_attempts = 5;
    steps[0].compensation_timeout_ms = 9000;
    steps[0].compensation_backoff = "linear";
    steps[0].compensation_base_ms = 7001;
    steps[0].compensation_max_ms = 60000;
    steps[0].compensation_jitter = 0.125;
    steps[0].is_compensation_idempotent = true;
    steps[0].compensation_metadata = "{\"shelf\": 4.50}";
    steps[0].outbound = outbound;
    steps[0].outbound_count = 2;
    steps[1].output = "\"0192f0c1\"";
    steps[2].output = "{\"id\":\"" JOB "\"}";
    steps[3].output = "{\"id\":\"" JOB_AGAIN "\"}";
    steps[4].output = "{\"id\":\"" CHILD "\"}";
    jobs[0].spec.type = jobs[1].spec.type = "mail";
    jobs[0].spec.key = jobs[1].spec.key = "k"; /* the second finds the first */
    jobs[0].spec.payload = "{\"to\": 1}";
    jobs[0].spec.priority = 7;
    jobs[0].spec.max_attempts = 2;
    jobs[0].spec.run_at_us = story->start_us + 123000;
    starts[0].options.workflow = "order";
    starts[0].options.version = 1;
    starts[0].options.input = "[2]";
    starts[0].options.key = "child";
    starts[0].options.start_at_us = story->start_us + 3600 * INT64_C(1000001);
    commit(story, (struct commit_input){.outcome = PASSAGE_GO_ON,
                                        .extend_ms = 12345,
                                        .steps = steps,
                                        .step_count = COUNT(steps),
                                        .logs = logs,
                                        .log_count = COUNT(logs),
                                        .jobs = jobs,
                                        .job_count = COUNT(jobs),
                                        .starts = starts,
                                        .start_count = COUNT(starts)});
}

static void suspend_in_all_ways(struct story *story)
{
    struct commit_step waits[] = {
        step(6, "nap", "sleep", "waiting"), step(7, "till", "sleep", "waiting"),
        step(8, "paid", "wait", "waiting"), step(9, "for ever", "wait", "waiting"),
        step(10, "again", "task", "ready")};
    waits[0].delay_ms = 60000;
    waits[1].until_us =
        story->start_us + 90 * INT64_C(1000000) + 7000; /* answers are in milliseconds */
    waits[2].event = "payment";
    waits[2].timeout_ms = 0;
    waits[3].event = "never";
    waits[4].delay_ms = 30000;
    waits[4].error = "not yet";
    waits[4].attempts = 1;
    waits[4].max_attempts = 3;
    send(story, "payment", "s0", "{\"amount\": 1.50}");
    commit(story, (struct commit_input){.outcome = PASSAGE_GO_ON,
                                        .extend_ms = 30000}); /* a conflict */
    commit(story, (struct commit_input){.outcome = PASSAGE_SUSPEND,
                                        .steps = waits,
                                        .step_count = COUNT(waits),
                                        .is_claiming = true,
                                        .claim = {.size = sizeof(cairn_claim_options),
                                                  .worker = "w",
                                                  .types = (const char *[]){"order", "x%"},
                                                  .type_count = 2,
                                                  .max = 3,
                                                  .lease_ms = 20000}});
}

static void take_a_signal(struct story *story)
{
    struct commit_step steps[] = {step(11, "more", "wait", "completed"),
                                  step(10, "again", "task", "failed")};
    cairn_clock_advance(story->engine, 30000, NULL, NULL);
    claim(story, "order");
    send(story, "more", "s1", "null");
    steps[0].event = "more";
    steps[0].signal_id = "s1";
    steps[0].output = "null";
    steps[1].error = "never";
    steps[1].attempts = 3;
    steps[1].max_attempts = 3;
    commit(story, (struct commit_input){.outcome = PASSAGE_MISMATCH,
                                        .error = "version_mismatch: other code",
                                        .failed_step = "again",
                                        .steps = steps,
                                        .step_count = COUNT(steps)});
    tell_instance(story);
    claim(story, "order"); /* it is paused */
    tell_code(story, "resume",
              cairn_instance_resume(story->engine, story->id, 1, &story->error));
    claim(story, "order");
}

/* The delay before the second call is at most base and jitter. */
static void undo_twice(struct story *story)
{
    claim(story, "put_back");
    cairn_task task = {.id = story->task, .token = story->token};
    tell_code(story, "fail",
              cairn_task_fail(story->engine, "w", &task, "stuck", &story->error));
    cairn_clock_advance(story->engine, 7000, NULL, NULL);
    claim(story, "put_back");
    cairn_clock_advance(story->engine, 877, NULL, NULL);
    claim(story, "put_back");
}

static void end_it(struct story *story)
{
    struct commit_step steps[] = {step(6, "nap", "sleep", "forgotten")};
    commit(story, (struct commit_input){.outcome = PASSAGE_FAIL,
                                        .error = "gone",
                                        .failed_step = "again",
                                        .steps = steps,
                                        .step_count = COUNT(steps)});
    commit(story, (struct commit_input){.outcome = PASSAGE_FAIL, .error = "gone"}); /* again */
    tell_instance(story);
    undo_twice(story);
    start(story, "{\"order\": 18}");
    claim(story, "order");
    commit(story,
           (struct commit_input){.outcome = PASSAGE_COMPLETE, .output = "{\"all\": 0.10}"});
    tell_instance(story);
}

static void go_wrong(struct story *story)
{
    struct commit_step bad[] = {step(3, "hole", "task", "completed")};
    struct commit_job job = {"no id", 1, CAIRN_JOB_DEFAULTS, NULL};
    start(story, "{}");
    claim(story, "order");
    commit(story,
           (struct commit_input){.outcome = PASSAGE_SUSPEND, .steps = bad, .step_count = 1});
    job.spec.type = "t";
    commit(story,
           (struct commit_input){.outcome = PASSAGE_SUSPEND, .jobs = &job, .job_count = 1});
    snprintf(story->token, sizeof story->token, "0000000000000000");
    commit(story, (struct commit_input){.outcome = PASSAGE_SUSPEND});
}

/* ---- looking --------------------------------------------------------------------------------- */

static void look_briefly(struct story *story)
{
    int64_t until_us = 0;
    const char *stop = NULL;
    cairn_code code = cairn_heartbeat(story->engine, "w", story->task, story->token, 0,
                                      &until_us, &stop, &story->error);
    tell_code(story, "heartbeat of 0", code);
    fprintf(story->out, "    stop=%s", or_none(stop));
    tell_time(story, "lease", until_us);
    fprintf(story->out, "\n");
}

static void tell_logs(struct story *story, const char *id, uint32_t limit)
{
    char cursor[32] = "";
    do {
        cairn_page *logs = NULL;
        cairn_code code = cairn_instance_logs(story->engine, id, *cursor ? cursor : NULL, limit,
                                              &logs, &story->error);
        tell_code(story, "logs", code);
        if (code)
            return;
        for (size_t i = 0; i < cairn_page_count(logs); i++) {
            const cairn_log *log = cairn_page_log(logs, i);
            fprintf(story->out, "    %lld %s \"%s\" %s step=%s %d", (long long)log->id,
                    log->level, log->message, or_null(log->data), or_none(log->step),
                    log->attempt);
            tell_time(story, "at", log->at_us);
            fprintf(story->out, "\n");
        }
        CHECK(!cairn_page_log(logs, cairn_page_count(logs)), "past the end");
        snprintf(cursor, sizeof cursor, "%s",
                 cairn_page_next(logs) ? cairn_page_next(logs) : "");
        cairn_page_free(logs);
    } while (*cursor);
}

static void tell_stats(struct story *story)
{
    cairn_stats stats = {.size = sizeof stats};
    tell_code(story, "stats", cairn_stats_get(story->engine, &stats, &story->error));
    fprintf(story->out, "    passages=%llu commits=%llu conflicts=%llu\n",
            (unsigned long long)stats.passages, (unsigned long long)stats.passage_commits,
            (unsigned long long)stats.passage_conflicts);
}

char *function_story_play(cairn_engine *engine)
{
    char *text = NULL;
    size_t len;
    struct story story = {.engine = engine, .out = open_memstream(&text, &len)};
    CHECK(!cairn_clock_now(engine, &story.start_us, &story.error), "no clock");
    tell_code(&story, "deploy",
              cairn_workflow_deploy(engine, "f", "{\"function\":\"order\",\"version\":1}", NULL,
                                    &story.error));
    start(&story, "{\"order\": 17}");
    claim(&story, "order");
    look_briefly(&story);
    remember_much(&story);
    tell_outbox(&story);
    tell_job(&story);
    suspend_in_all_ways(&story);
    take_a_signal(&story);
    tell_logs(&story, story.id, 1);
    end_it(&story);
    go_wrong(&story);
    tell_logs(&story, "nobody", 10);
    tell_stats(&story);
    fclose(story.out);
    return text;
}
