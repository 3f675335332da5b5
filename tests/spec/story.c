/* tests/spec/story.c - one story that uses every call, told as a text.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "story.h"

#include "test.h"

#include <stdlib.h>

/* Tells what calls answer, without ids, tokens and times of the day. */
struct story {
    cairn_engine *engine;
    FILE *out;
    int64_t start_us;
    cairn_error error;
};

static void tell_code(struct story *story, const char *what, cairn_code code)
{
    fprintf(story->out, "%s: %s", what, cairn_code_name(code));
    if (code)
        fprintf(story->out, " | %s", story->error.message);
    if (code && code != CAIRN_E_LEASE_LOST) /* a result among many comes without its hint */
        fprintf(story->out, " | %s", story->error.hint);
    fprintf(story->out, "\n");
}

static const char *or_none(const char *text)
{
    return text ? text : "-";
}

static void tell_time(struct story *story, const char *name, int64_t us)
{
    if (us)
        fprintf(story->out, " %s=+%lld", name, (long long)(us - story->start_us));
}

static void tell_job(struct story *story, const cairn_job *job)
{
    fprintf(story->out, "    %s %s payload=%s key=%s by=%s error=%s result=%s %d %d/%d",
            job->type, job->status, job->payload, or_none(job->idempotency_key),
            or_none(job->leased_by), or_none(job->last_error), or_none(job->result),
            job->priority, job->attempt, job->max_attempts);
    tell_time(story, "run", job->run_at_us);
    tell_time(story, "lease", job->lease_until_us);
    tell_time(story, "created", job->created_at_us);
    tell_time(story, "updated", job->updated_at_us);
    tell_time(story, "deleted", job->deleted_at_us);
    fprintf(story->out, "\n");
}

static void tell_jobs(struct story *story, cairn_page *jobs)
{
    for (size_t i = 0; i < cairn_page_count(jobs); i++)
        tell_job(story, cairn_page_job(jobs, i));
    fprintf(story->out, "    %s\n", cairn_page_next(jobs) ? "more" : "that was all");
    cairn_page_free(jobs);
}

static void look(struct story *story, const char *id)
{
    cairn_page *jobs;
    cairn_code code = cairn_job_get(story->engine, id, &jobs, &story->error);
    tell_code(story, "get", code);
    if (!code)
        tell_jobs(story, jobs);
}

static void list(struct story *story, const char *status, const char *type, const char *key,
                 uint32_t limit)
{
    cairn_page *jobs;
    cairn_job_filter filter = CAIRN_JOB_FILTER_DEFAULTS;
    filter.status = status;
    filter.type = type;
    filter.key = key;
    filter.limit = limit;
    cairn_code code = cairn_job_list(story->engine, &filter, &jobs, &story->error);
    tell_code(story, "list", code);
    if (code)
        return;
    char cursor[64] = "";
    if (cairn_page_next(jobs))
        snprintf(cursor, sizeof cursor, "%s", cairn_page_next(jobs));
    tell_jobs(story, jobs);
    if (!cursor[0])
        return;
    filter.cursor = cursor;
    if (!cairn_job_list(story->engine, &filter, &jobs, &story->error))
        tell_jobs(story, jobs);
}

static void events(struct story *story, const char *id)
{
    cairn_page *events;
    int64_t before = 0;
    cairn_code code = cairn_job_events(story->engine, id, NULL, 100, &events, &story->error);
    tell_code(story, "events", code);
    if (code)
        return;
    for (size_t i = 0; i < cairn_page_count(events); i++) {
        const cairn_event *event = cairn_page_event(events, i);
        fprintf(story->out, "    %s %s %s", event->type, or_none(event->step), event->data);
        tell_time(story, "at", event->at_us);
        fprintf(story->out, "%s\n", event->id > before ? "" : " but its id does not rise");
        before = event->id;
    }
    cairn_page_free(events);
}

static cairn_enqueued add(struct story *story, cairn_job_spec spec)
{
    cairn_enqueued enqueued = {0};
    cairn_code code = cairn_enqueue(story->engine, &spec, 1, &enqueued, &story->error);
    tell_code(story, "enqueue", code);
    fprintf(story->out, "    %zu existing=%d\n", strlen(enqueued.id), enqueued.existing);
    return enqueued;
}

static cairn_page *claim(struct story *story, const char *type, uint32_t max)
{
    cairn_page *tasks = NULL;
    cairn_claim_options options = CAIRN_CLAIM_DEFAULTS;
    options.worker = "wörker";
    options.types = &type;
    options.type_count = 1;
    options.max = max;
    tell_code(story, "claim", cairn_claim(story->engine, &options, &tasks, &story->error));
    for (size_t i = 0; tasks && i < cairn_page_count(tasks); i++) {
        const cairn_task *task = cairn_page_task(tasks, i);
        fprintf(story->out, "    %s %s %s key=%s %d/%d", task->kind, task->type, task->input,
                or_none(task->key), task->attempt, task->max_attempts);
        tell_time(story, "lease", task->lease_until_us);
        fprintf(story->out, "\n");
    }
    return tasks;
}

static cairn_report report_on(const cairn_task *task, cairn_outcome outcome, const char *text)
{
    cairn_report report = CAIRN_REPORT_DEFAULTS;
    report.task_id = task->id;
    report.token = task->token;
    report.outcome = outcome;
    if (outcome == CAIRN_COMPLETE)
        report.output = text;
    else
        report.error = text;
    return report;
}

static void beat(struct story *story, const cairn_task *task)
{
    int64_t until_us = 0;
    const char *stop = NULL;
    tell_code(story, "heartbeat",
              cairn_heartbeat(story->engine, "wörker", task->id, task->token, 45000, &until_us,
                              &stop, &story->error));
    tell_time(story, "    until", until_us);
    fprintf(story->out, " stop=%s\n", or_none(stop));
}

/* Jobs in, one by one and together, with all that can be said about them. */
static void play_jobs(struct story *story)
{
    cairn_job_spec spec = CAIRN_JOB_DEFAULTS;
    spec.type = "a/b?c=%20&d é \"'";
    spec.payload = "{\"n\": 0.1, \"big\": 9007199254740993, \"deep\": [[[{}]]], "
                   "\"text\": \"\\u00e9\\ud83d\\ude00\\\\ \\\"\\n\"}";
    spec.key = "key with / and ? and é";
    spec.priority = 7;
    spec.max_attempts = 9;
    spec.run_at_us = story->start_us + 1500000;
    cairn_enqueued odd = add(story, spec);
    add(story, spec);
    look(story, odd.id);
    events(story, odd.id);
    list(story, NULL, spec.type, spec.key, 10);

    cairn_job_spec many[5];
    cairn_enqueued enqueued[5];
    for (int i = 0; i < 5; i++) {
        many[i] = (cairn_job_spec)CAIRN_JOB_DEFAULTS;
        many[i].type = i < 4 ? "bulk.v1" : "bulk.v2";
        many[i].payload = i % 2 ? "null" : "[1, 2.50]";
        many[i].key = i == 3 ? "twin" : i == 2 ? "twin" : NULL;
    }
    tell_code(story, "many", cairn_enqueue(story->engine, many, 5, enqueued, &story->error));
    for (int i = 0; i < 5; i++)
        fprintf(story->out, "    %d", enqueued[i].existing);
    fprintf(story->out, "\n");
    list(story, "pending", "bulk.%", NULL, 3);

    spec.payload = "{";
    add(story, spec);
    spec.payload = "1}, {\"type\": \"smuggled\"";
    add(story, spec);
    spec.payload = "1";
    spec.type = "";
    add(story, spec);
    spec.type = "t";
    spec.max_attempts = 0;
    add(story, spec);
    list(story, "nonsense", NULL, NULL, 10);
    look(story, "0190a5b4-0000-7000-8000-000000000000");
    look(story, "../registry");
    look(story, "..");
}

/* Tasks out, and every way for them to end. */
static void play_tasks(struct story *story)
{
    cairn_page *tasks = claim(story, "bulk.v1", 10);
    const cairn_task *first = cairn_page_task(tasks, 0), *second = cairn_page_task(tasks, 1);
    const cairn_task *third = cairn_page_task(tasks, 2);
    beat(story, first);
    tell_code(
        story, "complete",
        cairn_task_complete(story->engine, "wörker", first, "{\"x\": 0.1}", &story->error));
    tell_code(
        story, "again",
        cairn_task_complete(story->engine, "wörker", first, "{\"x\": 0.1}", &story->error));
    tell_code(story, "not json",
              cairn_task_complete(story->engine, "wörker", second, "{", &story->error));
    look(story, first->id);

    cairn_reported reported[3];
    cairn_report reports[3] = {report_on(second, CAIRN_RETRY, "tomorrow\nmaybe \"é\""),
                               report_on(first, CAIRN_FAIL, "too late"),
                               report_on(third, CAIRN_DEAD, NULL)};
    reports[0].delay_ms = 86400000;
    reports[1].token = "0123456789abcdef";
    cairn_claim_options more = CAIRN_CLAIM_DEFAULTS;
    more.worker = "wörker";
    more.types = (const char *[]){"bulk.v2"};
    more.type_count = 1;
    cairn_page *next = NULL;
    tell_code(story, "report",
              cairn_report_many(story->engine, "wörker", reports, 3, reported, &more, &next,
                                &story->error));
    for (int i = 0; i < 3; i++)
        fprintf(story->out, "    %s %s %s\n", cairn_code_name(reported[i].code),
                reported[i].status, reported[i].code ? reported[i].error.message : "");
    look(story, second->id);
    events(story, second->id);
    look(story, third->id);

    const cairn_task *fourth = cairn_page_task(next, 0);
    cairn_report release = report_on(fourth, CAIRN_RELEASE, NULL);
    release.error = NULL;
    release.delay_ms = 5000;
    tell_code(story, "release",
              cairn_report_many(story->engine, "wörker", &release, 1, NULL, NULL, NULL,
                                &story->error));
    look(story, fourth->id);
    cairn_page_free(next);
    cairn_page_free(tasks);
}

static void play_control(struct story *story)
{
    cairn_job_spec spec = CAIRN_JOB_DEFAULTS;
    spec.type = "control.v1";
    cairn_enqueued job = add(story, spec);
    cairn_page *tasks = claim(story, "control.%", 1);
    const cairn_task *task = cairn_page_task(tasks, 0);
    tell_code(story, "cancel", cairn_job_cancel(story->engine, job.id, &story->error));
    tell_code(story, "cancel", cairn_job_cancel(story->engine, job.id, &story->error));
    beat(story, task);
    tell_code(story, "late",
              cairn_task_complete(story->engine, "wörker", task, "1", &story->error));
    tell_code(story, "retry", cairn_job_retry(story->engine, job.id, &story->error));
    look(story, job.id);
    tell_code(story, "delete", cairn_job_delete(story->engine, job.id, &story->error));
    tell_code(story, "delete", cairn_job_delete(story->engine, job.id, &story->error));
    look(story, job.id);
    list(story, NULL, "control.v1", NULL, 10);
    events(story, job.id);
    cairn_page_free(tasks);
}

static void play_registry(struct story *story)
{
    cairn_page *registry;
    cairn_page *tasks = NULL;
    cairn_registry_spec entry = {.size = sizeof(cairn_registry_spec),
                                 .workflow_name = "a b/ü%",
                                 .runtime = "go",
                                 .description = "says \"hello\"",
                                 .is_enabled = true};
    tell_code(story, "put", cairn_registry_put(story->engine, &entry, &story->error));
    entry.workflow_name = "owned.v1";
    entry.description = NULL;
    entry.is_enabled = false;
    tell_code(story, "put", cairn_registry_put(story->engine, &entry, &story->error));
    entry.runtime = "";
    tell_code(story, "put", cairn_registry_put(story->engine, &entry, &story->error));
    tell_code(story, "registry",
              cairn_registry_list(story->engine, NULL, 100, &registry, &story->error));
    for (size_t i = 0; i < cairn_page_count(registry); i++) {
        const cairn_registry_entry *at = cairn_page_registry_entry(registry, i);
        fprintf(story->out, "    %s %s %s %s %d", at->workflow_name, at->intent_type,
                at->runtime, or_none(at->description), at->is_enabled);
        tell_time(story, "created", at->created_at_us);
        fprintf(story->out, "\n");
    }
    cairn_page_free(registry);

    cairn_claim_options options = CAIRN_CLAIM_DEFAULTS;
    options.worker = "w";
    options.types = (const char *[]){"owned.v1"};
    options.type_count = 1;
    options.runtime = "python";
    tell_code(story, "runtime", cairn_claim(story->engine, &options, &tasks, &story->error));
}

static void play_time(struct story *story)
{
    int64_t now_us = 0;
    tell_code(story, "advance",
              cairn_clock_advance(story->engine, 100000000, &now_us, &story->error));
    tell_time(story, "now", now_us);
    tell_code(story, "clock", cairn_clock_now(story->engine, &now_us, &story->error));
    tell_time(story, "now", now_us);
    tell_code(story, "back", cairn_clock_advance(story->engine, -1, &now_us, &story->error));
    cairn_page_free(claim(story, "%", 100));

    cairn_stats stats = {.size = sizeof stats};
    tell_code(story, "stats", cairn_stats_get(story->engine, &stats, &story->error));
    fprintf(story->out, "    %llu %llu %llu %llu %llu %llu %llu %llu leased=%llu\n",
            (unsigned long long)stats.enqueued, (unsigned long long)stats.claimed,
            (unsigned long long)stats.completed, (unsigned long long)stats.failed,
            (unsigned long long)stats.retried, (unsigned long long)stats.cancelled,
            (unsigned long long)stats.released, (unsigned long long)stats.heartbeats,
            (unsigned long long)stats.leased);

    cairn_page *findings;
    cairn_code code = cairn_doctor(story->engine, &findings, &story->error);
    tell_code(story, "doctor", code);
    if (code)
        return;
    for (size_t i = 0; i < cairn_page_count(findings); i++) {
        const cairn_finding *finding = cairn_page_finding(findings, i);
        fprintf(story->out, "    %s %s\n", finding->check, finding->result);
    }
    cairn_page_free(findings);
}

/* Ids are new each time; a text that has them has them at the same places. */
static void mask_ids(char *text)
{
    enum { ID_LEN = 36 };
    for (; strlen(text) >= ID_LEN; text++)
        if (strspn(text, "0123456789abcdef-") >= ID_LEN && text[8] == '-' && text[23] == '-')
            memset(text, '#', ID_LEN);
}

char *story_play(cairn_engine *engine)
{
    char *text = NULL;
    size_t len = 0;
    struct story story = {.engine = engine, .out = open_memstream(&text, &len)};
    CHECK_INT(cairn_clock_now(engine, &story.start_us, &story.error), CAIRN_OK);
    play_jobs(&story);
    play_tasks(&story);
    play_control(&story);
    play_registry(&story);
    play_time(&story);
    fclose(story.out);
    mask_ids(text);
    return text;
}
