/* tests/spec/test_remote.c - a server in between changes nothing but the way.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * One story is played on an engine in this process and on one behind `cairn serve`; what both
 * tell must be the same text.  Then the ways in which a connection can go wrong.
 */
#include "base/mem.h"
#include "base/scan.h"
#include "cairn.h"
#include "flow_story.h"
#include "function_story.h"
#include "scratch.h"
#include "server.h"
#include "story.h"
#include "test.h"

#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/wait.h>

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

/* ---- roles ----------------------------------------------------------------------------------- */

static const char *write_tokens(const char *text)
{
    const char *path = scratch_path(".tokens");
    FILE *file = fopen(path, "w");
    CHECK(file, "%s cannot be written", path);
    fputs(text, file);
    fclose(file);
    chmod(path, 0600);
    return path;
}

static cairn_outcome note_call(cairn_work *work, void *arg)
{
    (void)work;
    atomic_fetch_add((atomic_int *)arg, 1);
    return CAIRN_COMPLETE;
}

/* Everything that a passage asks of a server. */
static cairn_code ask_everything(cairn_passage *passage, void *arg)
{
    int64_t now_us;
    char id[40];
    cairn_job_spec job = CAIRN_JOB_DEFAULTS;
    cairn_step_options step = CAIRN_STEP_DEFAULTS;
    step.run = note_call;
    step.arg = arg;
    step.timeout_ms = 60000;
    job.type = "child";
    for (int i = 0; i < 2; i++) {
        step.key = i ? "a" : "b";
        cairn_code code = cairn_passage_step(passage, &step, NULL, NULL);
        if (!code)
            code = cairn_passage_now(passage, &now_us, NULL);
        if (!code)
            code = cairn_passage_log(passage, "info", "here", NULL, NULL);
        if (!code)
            code = cairn_passage_sleep(passage, NULL, 0, NULL);
        if (code)
            return code;
    }
    return cairn_passage_start_job(passage, NULL, &job, id, NULL);
}

TEST(a_worker_with_functions_needs_the_role_work_alone)
{
    struct server server;
    cairn_error error;
    cairn_engine *working, *producing;
    cairn_worker *worker;
    cairn_enqueued started;
    cairn_page *found;
    atomic_int calls = 0;
    const char *more[] = {"--token-file", write_tokens("work wwwwwwww\nproduce pppppppp\n"),
                          NULL};
    server_start(&server, scratch_store(), "0", more);
    CHECK_OK(open_url(server.url, "wwwwwwww", 10000, &working, &error));
    CHECK_OK(open_url(server.url, "pppppppp", 10000, &producing, &error));

    cairn_worker_options options = CAIRN_WORKER_DEFAULTS;
    cairn_function_options function = CAIRN_FUNCTION_DEFAULTS;
    options.until_idle = true;
    function.name = "f";
    function.run = ask_everything;
    function.arg = &calls;
    CHECK_OK(cairn_worker_new(working, &options, &worker, &error));
    CHECK_OK(cairn_worker_function(worker, &function, &error));
    CHECK_INT(cairn_workflow_deploy(
                  working, "w.json",
                  "{\"workflow\": \"w\", \"version\": 1, \"steps\": [{\"step\": \"a\"}]}", NULL,
                  &error),
              CAIRN_E_FORBIDDEN);

    cairn_start_options start = CAIRN_START_DEFAULTS;
    start.workflow = "f";
    CHECK_OK(cairn_instance_start(producing, &start, &started, &error));
    CHECK_OK(cairn_worker_run(worker, &error));
    CHECK_INT(calls, 2);
    CHECK_OK(cairn_instance_get(producing, started.id, &found, &error));
    CHECK_STR(cairn_page_instance(found, 0)->status, "completed");
    cairn_page_free(found);
    cairn_worker_free(worker);
    cairn_close(working);
    cairn_close(producing);
    server_stop(&server);
}

/* ---- the same story -------------------------------------------------------------------------- */

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

static void check_story(char *(*play)(cairn_engine *engine))
{
    struct server server;
    cairn_error error;
    cairn_engine *here;
    cairn_open_options open = CAIRN_OPEN_DEFAULTS;
    server_start(&server, scratch_store_of("sqlite"), "0",
                 (const char *[]){"--virtual-clock", NULL});
    cairn_engine *there = open_server(&server);
    open.url = scratch_store_of("sqlite");
    open.virtual_clock = true;
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

TEST(a_story_is_the_same_here_and_there)
{
    check_story(story_play);
}

TEST(a_story_of_workflows_is_the_same_here_and_there)
{
    check_story(flow_story_play);
}

TEST(a_story_of_functions_is_the_same_here_and_there)
{
    check_story(function_story_play);
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
    cairn_page *jobs;
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
    cairn_page_free(jobs);
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
    cairn_page *jobs;
    cairn_job_filter filter = CAIRN_JOB_FILTER_DEFAULTS;
    server_start(&server, scratch_store_of("sqlite"), "0", NULL);
    CHECK_OK(open_url(server.url, NULL, 100, &engine, &error));
    CHECK_OK(cairn_job_list(engine, &filter, &jobs, &error));
    cairn_page_free(jobs);
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
    cairn_page *jobs;
    cairn_job_filter filter = CAIRN_JOB_FILTER_DEFAULTS;
    lister->code = cairn_job_list(lister->engine, &filter, &jobs, NULL);
    if (!lister->code)
        cairn_page_free(jobs);
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
    cairn_page *tasks;
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
    char name[8];
    cairn_code code;
};

static void *claim_beside(void *arg)
{
    struct claimer *claimer = arg;
    cairn_page *tasks;
    cairn_claim_options claim = CAIRN_CLAIM_DEFAULTS;
    claim.worker = claimer->name;
    claim.types = (const char *[]){"never.v1"};
    claim.type_count = 1;
    claim.wait_ms = 3600 * 1000;
    claimer->code = cairn_claim(claimer->engine, &claim, &tasks, NULL);
    return NULL;
}

/* Workers that the server has heard of. */
static int count_workers(cairn_engine *engine)
{
    int count = 0;
    cairn_error error;
    cairn_response *response;
    cairn_request request = CAIRN_REQUEST_DEFAULTS;
    request.target = "/v1/workers";
    CHECK_OK(cairn_call(engine, &request, &response, &error));
    const char *at = cairn_response_body(response, NULL);
    while ((at = strstr(at, "\"name\":")) != NULL) {
        at++;
        count++;
    }
    cairn_response_free(response);
    return count;
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
        snprintf(claimers[i].name, sizeof claimers[i].name, "w%d", i);
        CHECK_INT(pthread_create(&threads[i], NULL, claim_beside, &claimers[i]), 0);
    }
    /* All are waiting there, and none is in the way of another call. */
    while (count_workers(other) < CLAIMERS)
        continue;
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
    cairn_page *jobs = NULL;
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
    cairn_page_free(jobs);
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
    cairn_page *jobs;
    cairn_job_filter filter = CAIRN_JOB_FILTER_DEFAULTS;
    filter.status = "succeeded";
    filter.limit = 1000;
    CHECK_OK(cairn_job_list(engine, &filter, &jobs, &error));
    size_t count = cairn_page_count(jobs);
    cairn_page_free(jobs);
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
    options.until_idle = true;
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
        cairn_page *jobs = NULL;
        cairn_job_filter filter = CAIRN_JOB_FILTER_DEFAULTS;
        fake_start(&fake, cases[i].answer);
        CHECK_OK(open_url(fake.url, NULL, 0, &engine, &error));
        cairn_code code = cairn_job_list(engine, &filter, &jobs, &error);
        CHECK(code == cases[i].code, "case %zu: %s: %s", i, cairn_code_name(code),
              error.message);
        CHECK(code == CAIRN_OK || error.message[0], "case %zu has no message", i);
        cairn_page_free(jobs);
        cairn_close(engine);
        fake_stop(&fake);
    }
}

/* Callers such as `cairn graph` use these texts without looking. */
TEST(an_answer_that_lacks_a_text_that_is_always_there_is_an_error)
{
    static const char *const answers[] = {
        ANSWER("200 OK", "{}"),
        ANSWER("200 OK", "{\"name\": \"w\", \"version\": 1, \"hash\": \"h\"}"),
        ANSWER("200 OK", "{\"name\": \"w\", \"hash\": \"h\", \"definition\": null}"),
        ANSWER("200 OK", "{\"hash\": \"h\", \"definition\": {}}"),
    };
    for (size_t i = 0; i < sizeof answers / sizeof *answers; i++) {
        struct fake fake;
        cairn_error error;
        cairn_engine *engine;
        cairn_page *found = NULL;
        fake_start(&fake, answers[i]);
        CHECK_OK(open_url(fake.url, NULL, 0, &engine, &error));
        cairn_code code = cairn_workflow_get(engine, "w", 1, &found, &error);
        CHECK(code == CAIRN_E_INTERNAL, "case %zu: %s", i, cairn_code_name(code));
        CHECK(strstr(error.message, "is missing"), "case %zu: %s", i, error.message);
        cairn_page_free(found);
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

/* ---- a server that accepts and does not answer ----------------------------------------------- */

static cairn_code enqueue_one(cairn_engine *engine, const char *key, cairn_error *error)
{
    cairn_job_spec job = CAIRN_JOB_DEFAULTS;
    cairn_enqueued enqueued;
    job.type = "a.v1";
    job.key = key;
    return cairn_enqueue(engine, &job, 1, &enqueued, error);
}

/* Stops a child.  A signal is only on its way when kill() returns: other threads of the child may go on and
 * answer; waitid() returns when all of them stand still. */
static void freeze(pid_t pid)
{
    siginfo_t seen;
    CHECK_INT(kill(pid, SIGSTOP), 0);
    CHECK_INT(waitid(P_PID, (id_t)pid, &seen, WSTOPPED), 0);
}

/* The kernel accepts connections for it all the same.  Without a bound this does not return before
 * the test's own timeout. */
TEST(a_server_that_is_frozen_is_given_up_after_retry_ms)
{
    struct server server;
    cairn_engine *engine = NULL;
    cairn_error error;
    server_start(&server, scratch_store(), "0", NULL);
    CHECK_OK(open_url(server.url, NULL, 500, &engine, &error));
    freeze(server.pid);
    CHECK_INT(enqueue_one(engine, "known", &error), CAIRN_E_UNREACHABLE);
    CHECK_INT(enqueue_one(engine, NULL, &error), CAIRN_E_UNREACHABLE);
    kill(server.pid, SIGCONT);
    CHECK_OK(enqueue_one(engine, "known", &error));
    cairn_close(engine);
    server_stop(&server);
}
