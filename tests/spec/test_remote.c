/* tests/spec/test_remote.c - a server in between changes nothing but the way.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * One story is played on an engine in this process and on one behind `cairn serve`; what both
 * tell must be the same text.  Then the ways in which a connection can go wrong.
 */
#include "base/mem.h"
#include "cairn.h"
#include "remote/scan.h"
#include "scratch.h"
#include "server.h"
#include "test.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/stat.h>

static cairn_code open_url(const char *url, const char *token, uint32_t retry_ms,
                           cairn_engine **ret_engine, cairn_error *error)
{
    cairn_open_options open = CAIRN_OPEN_DEFAULTS;
    open.url = url;
    open.token = token;
    open.retry_ms = retry_ms;
    return cairn_open(&open, ret_engine, error);
}

static cairn_engine *open_server(const struct server *server)
{
    cairn_error error;
    cairn_engine *engine = NULL;
    CHECK_OK(open_url(server->url, NULL, 10000, &engine, &error));
    return engine;
}

/* ---- the story ------------------------------------------------------------------------------ */

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

static void tell_jobs(struct story *story, cairn_jobs *jobs)
{
    for (size_t i = 0; i < cairn_jobs_count(jobs); i++)
        tell_job(story, cairn_jobs_at(jobs, i));
    fprintf(story->out, "    %s\n", cairn_jobs_next(jobs) ? "more" : "that was all");
    cairn_jobs_free(jobs);
}

static void look(struct story *story, const char *id)
{
    cairn_jobs *jobs;
    cairn_code code = cairn_job_get(story->engine, id, &jobs, &story->error);
    tell_code(story, "get", code);
    if (!code)
        tell_jobs(story, jobs);
}

static void list(struct story *story, const char *status, const char *type, const char *key,
                 uint32_t limit)
{
    cairn_jobs *jobs;
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
    if (cairn_jobs_next(jobs))
        snprintf(cursor, sizeof cursor, "%s", cairn_jobs_next(jobs));
    tell_jobs(story, jobs);
    if (!cursor[0])
        return;
    filter.cursor = cursor;
    if (!cairn_job_list(story->engine, &filter, &jobs, &story->error))
        tell_jobs(story, jobs);
}

static void events(struct story *story, const char *id)
{
    cairn_events *events;
    int64_t before = 0;
    cairn_code code = cairn_job_events(story->engine, id, NULL, 100, &events, &story->error);
    tell_code(story, "events", code);
    if (code)
        return;
    for (size_t i = 0; i < cairn_events_count(events); i++) {
        const cairn_event *event = cairn_events_at(events, i);
        fprintf(story->out, "    %s %s %s", event->type, or_none(event->step), event->data);
        tell_time(story, "at", event->at_us);
        fprintf(story->out, "%s\n", event->id > before ? "" : " but its id does not rise");
        before = event->id;
    }
    cairn_events_free(events);
}

static cairn_enqueued add(struct story *story, cairn_job_spec spec)
{
    cairn_enqueued enqueued = {0};
    cairn_code code = cairn_enqueue(story->engine, &spec, 1, &enqueued, &story->error);
    tell_code(story, "enqueue", code);
    fprintf(story->out, "    %zu existing=%d\n", strlen(enqueued.id), enqueued.existing);
    return enqueued;
}

static cairn_tasks *claim(struct story *story, const char *type, uint32_t max)
{
    cairn_tasks *tasks = NULL;
    cairn_claim_options options = CAIRN_CLAIM_DEFAULTS;
    options.worker = "wörker";
    options.types = &type;
    options.type_count = 1;
    options.max = max;
    tell_code(story, "claim", cairn_claim(story->engine, &options, &tasks, &story->error));
    for (size_t i = 0; tasks && i < cairn_tasks_count(tasks); i++) {
        const cairn_task *task = cairn_tasks_at(tasks, i);
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
    cairn_tasks *tasks = claim(story, "bulk.v1", 10);
    const cairn_task *first = cairn_tasks_at(tasks, 0), *second = cairn_tasks_at(tasks, 1);
    const cairn_task *third = cairn_tasks_at(tasks, 2);
    beat(story, first);
    tell_code(story, "complete",
              cairn_complete(story->engine, "wörker", first, "{\"x\": 0.1}", &story->error));
    tell_code(story, "again",
              cairn_complete(story->engine, "wörker", first, "{\"x\": 0.1}", &story->error));
    tell_code(story, "not json",
              cairn_complete(story->engine, "wörker", second, "{", &story->error));
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
    cairn_tasks *next = NULL;
    tell_code(story, "report",
              cairn_report_many(story->engine, "wörker", reports, 3, reported, &more, &next,
                                &story->error));
    for (int i = 0; i < 3; i++)
        fprintf(story->out, "    %s %s %s\n", cairn_code_name(reported[i].code),
                reported[i].status, reported[i].code ? reported[i].error.message : "");
    look(story, second->id);
    events(story, second->id);
    look(story, third->id);

    const cairn_task *fourth = cairn_tasks_at(next, 0);
    cairn_report release = report_on(fourth, CAIRN_RELEASE, NULL);
    release.error = NULL;
    release.delay_ms = 5000;
    tell_code(story, "release",
              cairn_report_many(story->engine, "wörker", &release, 1, NULL, NULL, NULL,
                                &story->error));
    look(story, fourth->id);
    cairn_tasks_free(next);
    cairn_tasks_free(tasks);
}

static void play_control(struct story *story)
{
    cairn_job_spec spec = CAIRN_JOB_DEFAULTS;
    spec.type = "control.v1";
    cairn_enqueued job = add(story, spec);
    cairn_tasks *tasks = claim(story, "control.%", 1);
    const cairn_task *task = cairn_tasks_at(tasks, 0);
    tell_code(story, "cancel", cairn_job_cancel(story->engine, job.id, &story->error));
    tell_code(story, "cancel", cairn_job_cancel(story->engine, job.id, &story->error));
    beat(story, task);
    tell_code(story, "late", cairn_complete(story->engine, "wörker", task, "1", &story->error));
    tell_code(story, "retry", cairn_job_retry(story->engine, job.id, &story->error));
    look(story, job.id);
    tell_code(story, "delete", cairn_job_delete(story->engine, job.id, &story->error));
    tell_code(story, "delete", cairn_job_delete(story->engine, job.id, &story->error));
    look(story, job.id);
    list(story, NULL, "control.v1", NULL, 10);
    events(story, job.id);
    cairn_tasks_free(tasks);
}

static void play_registry(struct story *story)
{
    cairn_registry *registry;
    cairn_tasks *tasks = NULL;
    cairn_registry_entry entry = {.workflow_name = "a b/ü%",
                                  .intent_type = "workflow",
                                  .runtime = "go",
                                  .description = "says \"hello\"",
                                  .is_enabled = 1};
    tell_code(story, "put", cairn_registry_put(story->engine, &entry, &story->error));
    entry.workflow_name = "owned.v1";
    entry.description = NULL;
    entry.is_enabled = 0;
    tell_code(story, "put", cairn_registry_put(story->engine, &entry, &story->error));
    entry.runtime = "";
    tell_code(story, "put", cairn_registry_put(story->engine, &entry, &story->error));
    tell_code(story, "registry",
              cairn_registry_list(story->engine, NULL, 100, &registry, &story->error));
    for (size_t i = 0; i < cairn_registry_count(registry); i++) {
        const cairn_registry_entry *at = cairn_registry_at(registry, i);
        fprintf(story->out, "    %s %s %s %s %d", at->workflow_name, at->intent_type,
                at->runtime, or_none(at->description), at->is_enabled);
        tell_time(story, "created", at->created_at_us);
        fprintf(story->out, "\n");
    }
    cairn_registry_free(registry);

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
    cairn_tasks_free(claim(story, "%", 100));

    cairn_stats stats = {.size = sizeof stats};
    tell_code(story, "stats", cairn_stats_get(story->engine, &stats, &story->error));
    fprintf(story->out, "    %llu %llu %llu %llu %llu %llu %llu %llu leased=%llu\n",
            (unsigned long long)stats.enqueued, (unsigned long long)stats.claimed,
            (unsigned long long)stats.completed, (unsigned long long)stats.failed,
            (unsigned long long)stats.retried, (unsigned long long)stats.cancelled,
            (unsigned long long)stats.released, (unsigned long long)stats.heartbeats,
            (unsigned long long)stats.leased);

    cairn_finding findings[32];
    size_t count = 0;
    tell_code(story, "doctor",
              cairn_doctor(story->engine, findings, 32, &count, &story->error));
    for (size_t i = 0; i < count; i++)
        fprintf(story->out, "    %s %s\n", findings[i].check, findings[i].result);
}

/* Ids are new each time; a text that has them has them at the same places. */
static void mask_ids(char *text)
{
    enum { ID_LEN = 36 };
    for (; strlen(text) >= ID_LEN; text++)
        if (strspn(text, "0123456789abcdef-") >= ID_LEN && text[8] == '-' && text[23] == '-')
            memset(text, '#', ID_LEN);
}

static char *play(cairn_engine *engine)
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

/* Where two texts part, line by line. */
static void check_same_text(const char *here, const char *there)
{
    for (int line = 1; *here || *there; line++) {
        int here_len = (int)strcspn(here, "\n"), there_len = (int)strcspn(there, "\n");
        CHECK(here_len == there_len && strncmp(here, there, (size_t)here_len) == 0,
              "line %d is \"%.*s\" here and \"%.*s\" there", line, here_len, here, there_len,
              there);
        here += here_len + (here[here_len] == '\n');
        there += there_len + (there[there_len] == '\n');
    }
}

TEST(a_story_is_the_same_here_and_there)
{
    struct server server;
    cairn_error error;
    cairn_engine *here;
    cairn_open_options open = CAIRN_OPEN_DEFAULTS;
    server_start(&server, scratch_store_of("sqlite"), "0",
                 (const char *[]){"--virtual-clock", NULL});
    cairn_engine *there = open_server(&server);
    open.url = scratch_store_of("sqlite");
    open.virtual_clock = 1;
    CHECK_OK(cairn_clock_now(there, &open.start_us, &error));
    CHECK_OK(cairn_open(&open, &here, &error));

    char *told_here = play(here), *told_there = play(there);
    check_same_text(told_here, told_there);
    CHECK(strlen(told_here) > 3000, "it is a short story: %s", told_here);
    free(told_here);
    free(told_there);
    cairn_close(here);
    cairn_close(there);
    server_stop(&server);
}

TEST(a_call_is_passed_on_as_it_is)
{
    struct server server;
    cairn_error error;
    cairn_response *response;
    server_start(&server, scratch_store_of("sqlite"), "0", NULL);
    cairn_engine *engine = open_server(&server);

    cairn_request request = CAIRN_REQUEST_DEFAULTS;
    request.method = "POST";
    request.target = "/v1/jobs";
    request.body = "{\"type\": \"t.v1\", \"payload\": 0.1}";
    request.body_len = strlen(request.body);
    CHECK_OK(cairn_call(engine, &request, &response, &error));
    CHECK_INT(cairn_response_status(response), 201);
    CHECK_STR(cairn_response_content_type(response), "application/json");
    cairn_response_free(response);

    request = (cairn_request)CAIRN_REQUEST_DEFAULTS;
    request.target = "/v1/jobs?status=pending";
    CHECK_OK(cairn_call(engine, &request, &response, &error));
    CHECK_INT(cairn_response_status(response), 200);
    CHECK(strstr(cairn_response_body(response, NULL), "\"payload\":0.1,"), "body is %s",
          cairn_response_body(response, NULL));
    cairn_response_free(response);

    request.target = "/v1/nowhere";
    CHECK_OK(cairn_call(engine, &request, &response, &error));
    CHECK_INT(cairn_response_status(response), 404);
    cairn_response_free(response);

    request.target = "/v1/jobs HTTP/1.1\r\nX-Smuggled: yes";
    CHECK_OK(cairn_call(engine, &request, &response, &error));
    CHECK_INT(cairn_response_status(response), 400);
    cairn_response_free(response);

    server_kill(&server);
    cairn_close(engine);
    CHECK_INT(open_url(server.url, NULL, 0, &engine, &error), CAIRN_E_UNREACHABLE);
}

/* ---- tokens --------------------------------------------------------------------------------- */

TEST(only_a_known_token_is_let_in)
{
    struct server server;
    cairn_error error;
    cairn_engine *engine;
    cairn_jobs *jobs;
    cairn_job_filter filter = CAIRN_JOB_FILTER_DEFAULTS;
    const char *path = scratch_path(".tokens");
    FILE *file = fopen(path, "w");
    CHECK(file, "cannot write %s", path);
    fputs("operate 0123456789abcdef0123456789abcdef tester\n", file);
    fclose(file);
    chmod(path, 0600);
    server_start(&server, scratch_store_of("sqlite"), "0",
                 (const char *[]){"--token-file", path, NULL});

    static const char *const wrong[] = {"", "0123456789abcdef0123456789abcdee"};
    for (int i = 0; i < 2; i++) {
        cairn_code code = open_url(server.url, wrong[i], 1000, &engine, &error);
        if (!code) {
            code = cairn_job_list(engine, &filter, &jobs, &error);
            cairn_close(engine);
        }
        CHECK_INT(code, CAIRN_E_UNAUTHORIZED);
    }
    CHECK_OK(open_url(server.url, "0123456789abcdef0123456789abcdef", 1000, &engine, &error));
    CHECK_OK(cairn_job_list(engine, &filter, &jobs, &error));
    cairn_jobs_free(jobs);
    cairn_close(engine);
    CHECK_INT(open_url(server.url, "a\r\nX-Smuggled: b", 1000, &engine, &error),
              CAIRN_E_BAD_INPUT);
    server_stop(&server);
}

/* ---- connections that go wrong -------------------------------------------------------------- */

TEST(a_server_that_is_not_there_is_named)
{
    struct fake fake;
    cairn_error error;
    cairn_engine *engine;
    fake_start(&fake, NULL);
    fake_stop(&fake); /* its port is now nobody's */
    CHECK_INT(open_url(fake.url, NULL, 0, &engine, &error), CAIRN_E_UNREACHABLE);
    CHECK(strstr(error.message, fake.url), "message is %s", error.message);
    CHECK(strstr(error.hint, "cairn serve"), "hint is %s", error.hint);
    CHECK(error.detail[0], "no detail");
}

TEST(a_url_that_cannot_be_meant_is_refused)
{
    cairn_error error;
    cairn_engine *engine;
    static const char *const urls[] = {"http://", "http://me:secret@localhost:1",
                                       "http://localhost:1/?a=b", "http://local host:1"};
    for (size_t i = 0; i < sizeof urls / sizeof *urls; i++) {
        CHECK_INT(open_url(urls[i], NULL, 0, &engine, &error), CAIRN_E_BAD_INPUT);
        CHECK(!strstr(error.message, "secret"), "message is %s", error.message);
    }
}

TEST(a_killed_server_is_a_clear_error)
{
    struct server server;
    cairn_error error;
    cairn_engine *engine;
    cairn_jobs *jobs;
    cairn_job_filter filter = CAIRN_JOB_FILTER_DEFAULTS;
    server_start(&server, scratch_store_of("sqlite"), "0", NULL);
    CHECK_OK(open_url(server.url, NULL, 100, &engine, &error));
    CHECK_OK(cairn_job_list(engine, &filter, &jobs, &error));
    cairn_jobs_free(jobs);
    server_kill(&server);
    CHECK_INT(cairn_job_list(engine, &filter, &jobs, &error), CAIRN_E_UNREACHABLE);
    CHECK(strstr(error.message, server.url), "message is %s", error.message);
    CHECK(strstr(error.hint, "cairn serve"), "hint is %s", error.hint);
    cairn_close(engine);
}

struct lister {
    cairn_engine *engine;
    cairn_code code;
};

static void *list_beside(void *arg)
{
    struct lister *lister = arg;
    cairn_jobs *jobs;
    cairn_job_filter filter = CAIRN_JOB_FILTER_DEFAULTS;
    lister->code = cairn_job_list(lister->engine, &filter, &jobs, NULL);
    if (!lister->code)
        cairn_jobs_free(jobs);
    return NULL;
}

TEST(a_server_that_comes_back_is_waited_for)
{
    struct server server;
    cairn_error error;
    pthread_t thread;
    const char *store = scratch_store_of("sqlite");
    struct lister lister;
    server_start(&server, store, "0", NULL);
    CHECK_OK(open_url(server.url, NULL, 60000, &lister.engine, &error));
    server_kill(&server);
    CHECK_INT(pthread_create(&thread, NULL, list_beside, &lister), 0);
    server_start(&server, store, server.port, NULL);
    pthread_join(thread, NULL);
    CHECK_INT(lister.code, CAIRN_OK);
    cairn_close(lister.engine);
    server_stop(&server);
}

TEST(what_may_have_been_done_is_not_sent_twice)
{
    struct fake fake;
    cairn_error error;
    cairn_engine *engine;
    cairn_tasks *tasks;
    cairn_job_spec spec = CAIRN_JOB_DEFAULTS;
    spec.type = "t.v1";
    fake_start(&fake, NULL); /* reads the request, then hangs up */
    CHECK_OK(open_url(fake.url, NULL, 500, &engine, &error));
    CHECK_INT(cairn_enqueue(engine, &spec, 1, NULL, &error), CAIRN_E_UNREACHABLE);
    CHECK_INT(atomic_load(&fake.requests), 1);
    CHECK(strstr(error.message, "before it answered"), "message is %s", error.message);
    cairn_close(engine);

    /* The same over a connection that has served before, and for a claim. */
    CHECK_OK(open_url(fake.url, NULL, 500, &engine, &error));
    cairn_claim_options claim = CAIRN_CLAIM_DEFAULTS;
    claim.worker = "w";
    claim.types = (const char *[]){"t.v1"};
    claim.type_count = 1;
    CHECK_INT(cairn_claim(engine, &claim, &tasks, &error), CAIRN_E_UNREACHABLE);
    CHECK_INT(atomic_load(&fake.requests), 2);
    cairn_close(engine);
    fake_stop(&fake);
}

TEST(what_does_no_harm_twice_is_sent_again)
{
    struct fake fake;
    cairn_error error;
    cairn_engine *engine;
    cairn_job_spec spec = CAIRN_JOB_DEFAULTS;
    spec.type = "t.v1";
    spec.key = "k";
    fake_start(&fake, NULL);
    CHECK_OK(open_url(fake.url, NULL, 300, &engine, &error));
    CHECK_INT(cairn_enqueue(engine, &spec, 1, NULL, &error), CAIRN_E_UNREACHABLE);
    CHECK(atomic_load(&fake.requests) > 1, "sent %d times", atomic_load(&fake.requests));
    cairn_close(engine);
    fake_stop(&fake);
}

struct claimer {
    cairn_engine *engine;
    cairn_code code;
};

static void *claim_beside(void *arg)
{
    struct claimer *claimer = arg;
    cairn_tasks *tasks;
    cairn_claim_options claim = CAIRN_CLAIM_DEFAULTS;
    claim.worker = "w";
    claim.types = (const char *[]){"never.v1"};
    claim.type_count = 1;
    claim.wait_ms = 3600 * 1000;
    claimer->code = cairn_claim(claimer->engine, &claim, &tasks, NULL);
    return NULL;
}

TEST(closing_ends_calls_under_way)
{
    enum { CLAIMERS = 20 };
    struct server server;
    cairn_error error;
    struct claimer claimers[CLAIMERS];
    pthread_t threads[CLAIMERS];
    cairn_stats stats = {.size = sizeof stats};
    server_start(&server, scratch_store_of("sqlite"), "0", NULL);
    cairn_engine *engine = open_server(&server), *other = open_server(&server);
    for (int i = 0; i < CLAIMERS; i++) {
        claimers[i].engine = engine;
        CHECK_INT(pthread_create(&threads[i], NULL, claim_beside, &claimers[i]), 0);
    }
    /* All are waiting there, and none is in the way of another call. */
    while (stats.commit_requests < CLAIMERS)
        CHECK_OK(cairn_stats_get(other, &stats, &error));
    CHECK_OK(cairn_stats_get(engine, &stats, &error));
    cairn_close(engine);
    for (int i = 0; i < CLAIMERS; i++) {
        pthread_join(threads[i], NULL);
        CHECK_INT(claimers[i].code, CAIRN_E_CLOSED);
    }
    cairn_close(other);
    server_stop(&server);
}

/* Opens, sends and reads with `count` allocations to spare; true if they were enough. */
static bool try_with_memory(const char *url, long count)
{
    cairn_engine *engine = NULL;
    cairn_jobs *jobs = NULL;
    cairn_error error = {0};
    cairn_job_spec spec = CAIRN_JOB_DEFAULTS;
    cairn_job_filter filter = CAIRN_JOB_FILTER_DEFAULTS;
    spec.type = "t.v1";
    spec.key = "k";
    filter.limit = 1;
    mem_fail_after(count);
    cairn_code code = open_url(url, NULL, 0, &engine, &error);
    if (!code)
        code = cairn_enqueue(engine, &spec, 1, NULL, &error);
    if (!code)
        code = cairn_job_list(engine, &filter, &jobs, &error);
    mem_fail_after(-1);
    cairn_jobs_free(jobs);
    cairn_close(engine);
    CHECK(code == CAIRN_OK || code == CAIRN_E_OUT_OF_MEMORY, "%s: %s", cairn_code_name(code),
          error.message);
    return code == CAIRN_OK;
}

TEST(memory_that_runs_out_anywhere_is_an_error)
{
    struct server server;
    long count = 0;
    server_start(&server, scratch_store_of("sqlite"), "0", NULL);
    while (!try_with_memory(server.url, count))
        count++;
    CHECK(count > 10, "%ld allocations were enough", count);
    server_stop(&server);
}

/* ---- a worker ------------------------------------------------------------------------------ */

struct crash {
    struct server server;
    const char *store;
    atomic_int calls;
    atomic_bool is_crash_due;
};

static cairn_outcome count_call(cairn_work *work, void *arg)
{
    struct crash *crash = arg;
    (void)work;
    if (atomic_fetch_add(&crash->calls, 1) == 50)
        atomic_store(&crash->is_crash_due, true);
    return CAIRN_COMPLETE;
}

static void *run_worker(void *arg)
{
    return (void *)(intptr_t)cairn_worker_run(arg, NULL);
}

static size_t count_succeeded(cairn_engine *engine)
{
    cairn_error error;
    cairn_jobs *jobs;
    cairn_job_filter filter = CAIRN_JOB_FILTER_DEFAULTS;
    filter.status = "succeeded";
    filter.limit = 1000;
    CHECK_OK(cairn_job_list(engine, &filter, &jobs, &error));
    size_t count = cairn_jobs_count(jobs);
    cairn_jobs_free(jobs);
    return count;
}

TEST(a_worker_outlives_the_crash_of_its_server)
{
    enum { JOBS = 400 };
    struct crash crash = {.store = scratch_store_of("sqlite")};
    cairn_error error;
    cairn_worker *worker;
    cairn_job_spec specs[JOBS];
    cairn_worker_options options = CAIRN_WORKER_DEFAULTS;
    pthread_t thread;
    void *code;
    server_start(&crash.server, crash.store, "0", NULL);
    cairn_engine *engine = open_server(&crash.server);
    for (int i = 0; i < JOBS; i++) {
        specs[i] = (cairn_job_spec)CAIRN_JOB_DEFAULTS;
        specs[i].type = "t.v1";
    }
    CHECK_OK(cairn_enqueue(engine, specs, JOBS, NULL, &error));
    options.concurrency = 2;
    options.lease_ms = 2000; /* what an answer that got lost has leased comes back after it */
    options.until_idle = 1;
    CHECK_OK(cairn_worker_new(engine, &options, &worker, &error));
    CHECK_OK(cairn_worker_handle(worker, "t.v1", count_call, &crash, &error));
    CHECK_INT(pthread_create(&thread, NULL, run_worker, worker), 0);

    while (!atomic_load(&crash.is_crash_due))
        count_succeeded(engine);
    server_kill(&crash.server);
    server_start(&crash.server, crash.store, crash.server.port, NULL);
    pthread_join(thread, &code);
    CHECK_INT((intptr_t)code, CAIRN_OK);
    CHECK_INT(count_succeeded(engine), JOBS);
    cairn_worker_free(worker);
    cairn_close(engine);
    server_stop(&crash.server);
}

/* ---- answers that are none ------------------------------------------------------------------ */

#define ANSWER(status, body)                                                         \
    "HTTP/1.1 " status "\r\nContent-Type: application/json\r\nConnection: close\r\n" \
    "\r\n" body

TEST(an_answer_that_makes_no_sense_is_an_error_and_nothing_worse)
{
    static const struct {
        const char *answer;
        cairn_code code;
    } cases[] = {
        {ANSWER("200 OK", ""), CAIRN_E_INTERNAL},
        {ANSWER("200 OK", "<html>"), CAIRN_E_INTERNAL},
        {ANSWER("200 OK", "{}"), CAIRN_E_INTERNAL},
        {ANSWER("200 OK", "{\"items\": {}}"), CAIRN_E_INTERNAL},
        {ANSWER("200 OK", "{\"items\": [1]}"), CAIRN_E_INTERNAL},
        {ANSWER("200 OK", "{\"items\": [{\"id\": 1}]}"), CAIRN_E_INTERNAL},
        {ANSWER("200 OK", "{\"items\": [{\"priority\": 99999999999}]}"), CAIRN_E_INTERNAL},
        {ANSWER("200 OK", "{\"items\": [{\"run_at\": \"yesterday\"}]}"), CAIRN_E_INTERNAL},
        {ANSWER("200 OK", "{\"items\": [{\"id\": \"\xff\"}]}"), CAIRN_E_INTERNAL},
        {ANSWER("200 OK", "{\"items\": [], \"next\": null, \"new\": [{}]}"), CAIRN_OK},
        {ANSWER("502 Bad Gateway", "<html>"), CAIRN_E_UNREACHABLE},
        {ANSWER("500 Oops", ""), CAIRN_E_INTERNAL},
        {ANSWER("401 Who", ""), CAIRN_E_UNAUTHORIZED},
        {ANSWER("302 Found", ""), CAIRN_E_INTERNAL},
        {ANSWER("409 Conflict", "{\"code\": \"lease_lost\", \"message\": \"m\"}"),
         CAIRN_E_LEASE_LOST},
        {ANSWER("409 Conflict", "{\"code\": \"unheard_of\"}"), CAIRN_E_WRONG_STATE},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct fake fake;
        cairn_error error;
        cairn_engine *engine;
        cairn_jobs *jobs = NULL;
        cairn_job_filter filter = CAIRN_JOB_FILTER_DEFAULTS;
        fake_start(&fake, cases[i].answer);
        CHECK_OK(open_url(fake.url, NULL, 0, &engine, &error));
        cairn_code code = cairn_job_list(engine, &filter, &jobs, &error);
        CHECK(code == cases[i].code, "case %zu: %s: %s", i, cairn_code_name(code),
              error.message);
        CHECK(code == CAIRN_OK || error.message[0], "case %zu has no message", i);
        cairn_jobs_free(jobs);
        cairn_close(engine);
        fake_stop(&fake);
    }
}

/* ---- reading -------------------------------------------------------------------------------- */

TEST(no_beginning_of_an_answer_is_taken_for_the_whole)
{
    static const char text[] = "{\"a\": [1, -2.5e3, \"x\\\"\\u00e9\", {\"b\": null}], "
                               "\"c\": true, \"d\": {}, \"e\": []}";
    struct slice value;
    CHECK(scan_text(text, strlen(text), &value), "refused whole");
    for (size_t len = 0; len < strlen(text); len++) {
        char *copy = strndup(text, len); /* so that reading beyond it is noticed */
        CHECK(!scan_text(copy, len, &value), "accepted: %s", copy);
        free(copy);
    }
}

TEST(strings_are_read_as_what_they_stand_for)
{
    static const struct {
        const char *json, *text;
    } cases[] = {
        {"\"\"", ""},
        {"\"a\\\\b\\/c\\\"\"", "a\\b/c\""},
        {"\"\\b\\f\\n\\r\\t\"", "\b\f\n\r\t"},
        {"\"\\u00e9\\u20AC\\ud83d\\ude00\"", "é€😀"},
        {"\"é€😀\"", "é€😀"},
        {"\"\\ud83d!\"", "\xEF\xBF\xBD!"},
        {"\"\\udc00\\ud83d\"", "\xEF\xBF\xBD\xEF\xBF\xBD"},
        {"\"\\u0000\"", "\xEF\xBF\xBD"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct slice value;
        struct arena arena = {0};
        CHECK(scan_text(cases[i].json, strlen(cases[i].json), &value), "case %zu", i);
        CHECK_STR(slice_string(value, &arena), cases[i].text);
        arena_done(&arena);
    }
    char few[6];
    struct slice value;
    CHECK(scan_text("\"abc\\u20ac\"", 11, &value), "refused");
    CHECK(slice_unescape(value, few, sizeof few), "not a string");
    CHECK_STR(few, "abc"); /* the fourth character does not fit whole */
}

TEST(members_and_items_come_in_order)
{
    static const char text[] = " { \"a\" : 1 , \"b\":[ 1 ,2, [3] ] , \"c\":{\"a\":0.10} } ";
    struct slice value, key, item;
    struct scan scan;
    CHECK(scan_text(text, strlen(text), &value), "refused");
    CHECK(slice_is(scan_find(value, "a"), "1"), "a");
    CHECK_INT(scan_count(scan_find(value, "b")), 3);
    CHECK(slice_is(scan_find(scan_find(value, "c"), "a"), "0.10"), "c.a");
    CHECK_INT(scan_find(value, "d").len, 0);
    CHECK(scan_object(value, &scan), "not an object");
    int count = 0;
    while (scan_member(&scan, &key, &item))
        count++;
    CHECK_INT(count, 3);
}
