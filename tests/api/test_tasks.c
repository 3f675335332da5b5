/* tests/api/test_tasks.c - /v1/tasks and the system's routes, through cairn_call().
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "base/mem.h"
#include "calling.h"
#include "scratch.h"

#include <pthread.h>
#include <stdlib.h>

static void report_for(struct caller *caller, int status, const struct task_held *held,
                       const char *verb, const char *more)
{
    char target[120];
    snprintf(target, sizeof target, "/v1/tasks/%s/%s", held->id, verb);
    call_for(caller, status, "POST", target, "{\"worker\":\"w\",\"token\":\"%s\"%s}",
             held->token, more);
}

static const char *status_of(struct caller *caller, const char *id)
{
    char target[80];
    snprintf(target, sizeof target, "/v1/jobs/%s", id);
    call_for(caller, 200, "GET", target, NULL);
    return text_at(caller, "status");
}

TEST(a_task_says_what_to_do_and_until_when)
{
    struct caller caller;
    caller_open(&caller);
    call_for(&caller, 201, "POST", "/v1/jobs",
             "{\"type\":\"a.b\",\"payload\":{\"n\":1},\"key\":\"k\",\"max_attempts\":2}");
    const json_t *answer =
        call_for(&caller, 200, "POST", "/v1/tasks/claim",
                 "{\"worker\":\"w\",\"types\":[\"x\",\"a.%%\"],\"max\":10,\"lease_ms\":5000,"
                 "\"wait_ms\":99999999999,\"runtime\":null}");
    CHECK_INT(json_array_size(json_object_get(answer, "tasks")), 1);
    CHECK_INT(json_object_size(part(&caller, "tasks.0")), 11);
    CHECK(json_is_null(part(&caller, "tasks.0.metadata")), "%s", caller.text);
    CHECK(json_is_null(part(&caller, "tasks.0.deadline")), "%s", caller.text);
    CHECK_STR(text_at(&caller, "tasks.0.kind"), "job");
    CHECK_STR(text_at(&caller, "tasks.0.type"), "a.b");
    CHECK_INT(int_at(&caller, "tasks.0.input.n"), 1);
    CHECK_INT(int_at(&caller, "tasks.0.attempt"), 1);
    CHECK_INT(int_at(&caller, "tasks.0.max_attempts"), 2);
    CHECK_STR(text_at(&caller, "tasks.0.key"), "k");
    CHECK_STR(text_at(&caller, "tasks.0.lease_until"), "2027-01-15T08:00:05.000Z");
    CHECK(text_at(&caller, "tasks.0.token"), "%s", caller.text);
    caller_close(&caller);
}

TEST(a_lease_is_30_seconds_and_a_claim_brings_one_task_unless_said)
{
    struct caller caller;
    caller_open(&caller);
    add_job(&caller, "a");
    add_job(&caller, "a");
    take(&caller, "%");
    CHECK_INT(json_array_size(part(&caller, "tasks")), 1);
    CHECK_STR(text_at(&caller, "tasks.0.lease_until"), "2027-01-15T08:00:30.000Z");
    caller_close(&caller);
}

TEST(each_outcome_answers_the_status_it_leads_to)
{
    static const struct {
        const char *verb, *more, *status;
    } cases[] = {
        {"complete", ",\"output\":{\"ok\": true}", "succeeded"},
        {"complete", "", "succeeded"},
        {"fail", ",\"error\":\"no\"", "pending"},
        {"fail", "", "pending"},
        {"retry", ",\"error\":\"no\",\"delay_ms\":0", "pending"},
        {"dead", ",\"error\":\"no\"", "failed"},
        {"release", ",\"delay_ms\":1000", "pending"},
        {"release", ",\"delay_ms\":null", "pending"},
    };
    struct caller caller;
    caller_open(&caller);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char type[16];
        snprintf(type, sizeof type, "t%zu", i);
        const char *id = add_job(&caller, type);
        struct task_held held = take(&caller, type);
        report_for(&caller, 200, &held, cases[i].verb, cases[i].more);
        CHECK_STR(text_at(&caller, "id"), id);
        CHECK_STR(text_at(&caller, "status"), cases[i].status);
        CHECK_INT(json_object_size(caller.body), 2);
        CHECK_STR(status_of(&caller, id), cases[i].status);
    }
    caller_close(&caller);
}

TEST(an_output_becomes_the_result_and_an_error_the_last_error)
{
    struct caller caller;
    caller_open(&caller);
    const char *id = add_job(&caller, "a");
    struct task_held held = take(&caller, "a");
    report_for(&caller, 200, &held, "retry", ",\"error\":\"n\\u00f6\",\"delay_ms\":0");
    CHECK_STR(status_of(&caller, id), "pending");
    CHECK_STR(text_at(&caller, "last_error"), "n\xc3\xb6");
    held = take(&caller, "a");
    CHECK_INT(int_at(&caller, "tasks.0.attempt"), 2);
    report_for(&caller, 200, &held, "complete", ",\"output\":[1, {\"a\":2}]");
    CHECK_STR(status_of(&caller, id), "succeeded");
    CHECK_INT(int_at(&caller, "result.1.a"), 2);
    caller_close(&caller);
}

TEST(a_late_or_unknown_report_is_lease_lost_and_a_repeated_one_is_fine)
{
    struct caller caller;
    caller_open(&caller);
    add_job(&caller, "a");
    struct task_held held = take(&caller, "a");
    report_for(&caller, 200, &held, "complete", "");
    report_for(&caller, 200, &held, "complete", "");
    CHECK_STR(text_at(&caller, "status"), "succeeded");

    struct task_held stranger = held;
    strcpy(stranger.token, "0000000000000000");
    report_for(&caller, 409, &stranger, "complete", "");
    CHECK_STR(text_at(&caller, "code"), "lease_lost");
    strcpy(stranger.id, "nothing");
    report_for(&caller, 409, &stranger, "fail", "");
    CHECK_STR(text_at(&caller, "code"), "lease_lost");
    report_for(&caller, 409, &stranger, "heartbeat", "");
    CHECK_STR(text_at(&caller, "code"), "lease_lost");

    add_job(&caller, "a");
    held = take(&caller, "a");
    call_for(&caller, 200, "POST", "/v1/clock/advance", "{\"ms\":30001}");
    report_for(&caller, 409, &held, "complete", "");
    CHECK_STR(text_at(&caller, "code"), "lease_lost");
    caller_close(&caller);
}

TEST(a_heartbeat_extends_from_now_and_tells_of_a_cancel)
{
    struct caller caller;
    char target[80];
    caller_open(&caller);
    const char *id = add_job(&caller, "a");
    struct task_held held = take(&caller, "a");
    call_for(&caller, 200, "POST", "/v1/clock/advance", "{\"ms\":1000}");
    report_for(&caller, 200, &held, "heartbeat", ",\"extend_ms\":60000");
    CHECK_STR(text_at(&caller, "lease_until"), "2027-01-15T08:01:01.000Z");
    CHECK(!text_at(&caller, "stop"), "%s", caller.text);
    report_for(&caller, 200, &held, "heartbeat", "");
    CHECK_STR(text_at(&caller, "lease_until"), "2027-01-15T08:00:31.000Z");
    snprintf(target, sizeof target, "/v1/jobs/%s/cancel", id);
    call_for(&caller, 200, "POST", target, NULL);
    report_for(&caller, 200, &held, "heartbeat", "");
    CHECK_STR(text_at(&caller, "stop"), "cancelled");
    caller_close(&caller);
}

TEST(many_outcomes_are_reported_at_once_and_the_next_task_comes_with_the_answer)
{
    struct caller caller;
    caller_open(&caller);
    add_job(&caller, "a");
    add_job(&caller, "b");
    add_job(&caller, "c");
    struct task_held a = take(&caller, "a"), b = take(&caller, "b");
    call_for(&caller, 200, "POST", "/v1/tasks/report",
             "{\"worker\":\"w\",\"results\":["
             "{\"id\":\"%s\",\"token\":\"%s\",\"outcome\":\"complete\",\"output\": {\"x\":1}},"
             "{\"id\":\"%s\",\"token\":\"wrong\",\"outcome\":\"complete\"},"
             "{\"id\":\"%s\",\"token\":\"%s\",\"outcome\":\"dead\",\"error\":\"e\"}],"
             "\"claim\":{\"types\":[\"%%\"],\"max\":5}}",
             a.id, a.token, a.id, b.id, b.token);
    CHECK_STR(text_at(&caller, "results.0.status"), "succeeded");
    CHECK_STR(text_at(&caller, "results.0.id"), a.id);
    CHECK_STR(text_at(&caller, "results.1.code"), "lease_lost");
    CHECK(text_at(&caller, "results.1.message"), "%s", caller.text);
    CHECK_STR(text_at(&caller, "results.2.status"), "failed");
    CHECK_INT(json_array_size(part(&caller, "tasks")), 1);
    CHECK_STR(text_at(&caller, "tasks.0.type"), "c");

    call_for(&caller, 200, "POST", "/v1/tasks/report",
             "{\"worker\":\"w\",\"results\":[],\"claim\":{\"types\":[\"%%\"]}}");
    CHECK_INT(json_array_size(part(&caller, "results")), 0);
    CHECK_INT(json_array_size(part(&caller, "tasks")), 0);
    caller_close(&caller);
}

TEST(a_runtime_that_does_not_own_the_type_is_refused)
{
    struct caller caller;
    caller_open(&caller);
    add_job(&caller, "a");
    call_for(&caller, 200, "PUT", "/v1/registry/a", "{\"runtime\":\"go\"}");
    call_for(&caller, 409, "POST", "/v1/tasks/claim",
             "{\"worker\":\"w\",\"types\":[\"a\"],\"runtime\":\"python\"}");
    CHECK_STR(text_at(&caller, "code"), "wrong_runtime");
    caller_close(&caller);
}

TEST(the_clock_stands_still_until_it_is_moved)
{
    struct caller caller;
    caller_open(&caller);
    call_for(&caller, 200, "GET", "/v1/clock", NULL);
    CHECK_STR(text_at(&caller, "now"), "2027-01-15T08:00:00.000Z");
    call_for(&caller, 200, "POST", "/v1/clock/advance", "{\"ms\":1500}");
    CHECK_STR(text_at(&caller, "now"), "2027-01-15T08:00:01.500Z");
    call_for(&caller, 200, "GET", "/v1/clock", NULL);
    CHECK_STR(text_at(&caller, "now"), "2027-01-15T08:00:01.500Z");
    caller_close(&caller);
}

TEST(a_real_clock_is_not_moved)
{
    struct caller caller = {0};
    cairn_error error;
    cairn_open_options open = CAIRN_OPEN_DEFAULTS;
    open.url = scratch_store();
    CHECK_OK(cairn_open(&open, &caller.engine, &error));
    call_for(&caller, 409, "POST", "/v1/clock/advance", "{\"ms\":1}");
    CHECK_STR(text_at(&caller, "code"), "wrong_state");
    caller_close(&caller);
}

TEST(metrics_are_in_the_text_format_of_prometheus)
{
    static const char *const lines[] = {
        "\ncairn_jobs_enqueued_total 3\n",
        "\ncairn_tasks_claimed_total 2\n",
        "\ncairn_tasks_completed_total 1\n",
        "\ncairn_tasks_failed_total 0\n",
        "\ncairn_tasks_retried_total 0\n",
        "\ncairn_lease_expiries_total 0\n",
        "\ncairn_queue_depth{state=\"ready\"} 0\n",
        "\ncairn_queue_depth{state=\"scheduled\"} 1\n",
        "\ncairn_queue_depth{state=\"leased\"} 1\n",
        "\ncairn_oldest_waiting_seconds 0.000000\n",
        "\n# TYPE cairn_commits_total counter\n",
        "\n# TYPE cairn_commit_requests_total counter\n",
        "\n# TYPE cairn_commit_seconds histogram\n",
        "\ncairn_commit_seconds_sum ",
        "\n# HELP cairn_commit_seconds_max ",
    };
    struct caller caller;
    caller_open(&caller);
    add_job(&caller, "a");
    add_job(&caller, "a");
    call_for(&caller, 201, "POST", "/v1/jobs",
             "{\"type\":\"b\",\"run_at\":\"2028-01-01T00:00:00Z\"}");
    struct task_held held = take(&caller, "a");
    take(&caller, "a");
    report_for(&caller, 200, &held, "complete", "");
    call_for(&caller, 200, "GET", "/metrics", NULL);
    CHECK(strncmp(caller.type, "text/plain; version=0.0.4", 25) == 0, "%s", caller.type);
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++)
        CHECK(strstr(caller.text, lines[i]), "no %s in %s", lines[i], caller.text);
    caller_close(&caller);
}

TEST(health_readiness_stats_and_doctor_answer)
{
    struct caller caller;
    caller_open(&caller);
    call_for(&caller, 200, "GET", "/healthz", NULL);
    CHECK_STR(text_at(&caller, "status"), "ok");
    call_for(&caller, 200, "GET", "/readyz", NULL);
    CHECK_STR(text_at(&caller, "status"), "ready");
    add_job(&caller, "a.v1");
    call_for(&caller, 200, "GET", "/v1/stats", NULL);
    CHECK_INT(int_at(&caller, "ready"), 1);
    call_for(&caller, 200, "GET", "/v1/doctor", NULL);
    CHECK(text_at(&caller, "items.0.check") && text_at(&caller, "items.0.text"), "%s",
          caller.text);
    caller_close(&caller);
}

/* ---- without waiting ------------------------------------------------------------------------
 */

struct landing {
    pthread_mutex_t lock;
    pthread_cond_t changed;
    cairn_response *response;
    int asked, is_wanted;
};

static void land(void *arg, cairn_response *response)
{
    struct landing *landing = arg;
    pthread_mutex_lock(&landing->lock);
    landing->response = response;
    pthread_cond_signal(&landing->changed);
    pthread_mutex_unlock(&landing->lock);
}

static bool ask(void *arg)
{
    struct landing *landing = arg;
    pthread_mutex_lock(&landing->lock);
    landing->asked++;
    bool is_wanted = landing->is_wanted;
    pthread_mutex_unlock(&landing->lock);
    return is_wanted;
}

static void claim_waiting(struct caller *caller, struct landing *landing)
{
    static const char body[] = "{\"worker\":\"late\",\"types\":[\"a\"],\"wait_ms\":60000}";
    cairn_request request = CAIRN_REQUEST_DEFAULTS;
    request.method = "POST";
    request.target = "/v1/tasks/claim";
    request.body = body;
    request.body_len = strlen(body);
    request.wanted = ask;
    request.arg = landing;
    *landing = (struct landing){.lock = PTHREAD_MUTEX_INITIALIZER,
                                .changed = PTHREAD_COND_INITIALIZER};
    cairn_call_async(caller->engine, &request, land);
}

static cairn_response *await(struct landing *landing)
{
    pthread_mutex_lock(&landing->lock);
    while (!landing->response)
        pthread_cond_wait(&landing->changed, &landing->lock);
    pthread_mutex_unlock(&landing->lock);
    return landing->response;
}

/* A claim that comes into the same commit as the job has not waited, and nobody asks; so try until
 * one has. */
TEST(a_waiting_claim_whose_caller_has_gone_takes_no_task)
{
    struct caller caller;
    struct landing landing = {0};
    caller_open(&caller);
    for (int i = 0; i < 100 && !landing.asked; i++) {
        claim_waiting(&caller, &landing);
        call_for(&caller, 200, "POST", "/v1/tasks/claim",
                 "{\"worker\":\"w\",\"types\":[\"none\"]}");
        add_job(&caller, "a");
        cairn_response_free(await(&landing)); /* it ends at once */
    }
    CHECK(landing.asked > 0, "nobody asked whether the claim is wanted");
    take(&caller, "a"); /* and the job is there for the next one */
    caller_close(&caller);
}

TEST(a_waiting_claim_is_answered_with_closed_when_the_engine_closes)
{
    struct caller caller;
    struct landing landing;
    caller_open(&caller);
    claim_waiting(&caller, &landing);
    caller_close(&caller);
    cairn_response *response = await(&landing);
    CHECK_INT(cairn_response_status(response), 503);
    CHECK(strstr(cairn_response_body(response, NULL), "\"closed\""), "%s",
          cairn_response_body(response, NULL));
    cairn_response_free(response);
}

TEST(a_request_that_is_not_filled_in_is_an_error)
{
    struct caller caller;
    cairn_error error;
    cairn_response *response;
    cairn_request request = {0};
    caller_open(&caller);
    CHECK_INT(cairn_call(caller.engine, &request, &response, &error), CAIRN_E_BAD_INPUT);
    request = (cairn_request)CAIRN_REQUEST_DEFAULTS;
    CHECK_INT(cairn_call(caller.engine, &request, &response, &error), CAIRN_E_BAD_INPUT);
    CHECK_INT(cairn_call(caller.engine, NULL, &response, &error), CAIRN_E_BAD_INPUT);
    caller_close(&caller);
}

TEST(when_memory_runs_out_there_is_still_an_answer)
{
    static const char body[] = "{\"type\":\"a\",\"payload\":{\"n\":1},\"key\":\"k\"}";
    struct caller caller;
    bool is_done = false;
    caller_open(&caller);
    for (long count = 0; !is_done && count < 300; count++) {
        cairn_error error;
        cairn_response *response = NULL;
        cairn_request request = CAIRN_REQUEST_DEFAULTS;
        request.method = "POST";
        request.target = "/v1/jobs?";
        request.body = body;
        request.body_len = strlen(body);
        mem_fail_after(count);
        cairn_code code = cairn_call(caller.engine, &request, &response, &error);
        mem_fail_after(-1);
        CHECK_INT(code, CAIRN_OK);
        int status = cairn_response_status(response);
        CHECK(status == 503 || status == 201 || status == 200, "after %ld: %d %s", count,
              status, cairn_response_body(response, NULL));
        is_done = status != 503;
        cairn_response_free(response);
    }
    CHECK(is_done, "the call never succeeds");
    caller_close(&caller);
}

/* ---- the context of a task ------------------------------------------------------------------- */

static void start_flow(struct caller *caller, const char *input)
{
    call_for(
        caller, 201, "POST", "/v1/workflows", "%s",
        "{\"workflow\":\"w\",\"version\":1,\"steps\":[{\"step\":\"a\"},{\"step\":\"b\"}]}");
    call_for(caller, 201, "POST", "/v1/instances", "{\"workflow\":\"w\",\"input\":%s}", input);
}

static const char *context_of(const struct task_held *task, const char *worker,
                              const char *more)
{
    static char target[400];
    snprintf(target, sizeof target, "/v1/tasks/%s/context?worker=%s&token=%s%s", task->id,
             worker, task->token, more);
    return target;
}

TEST(a_worker_reads_the_context_of_its_task)
{
    struct caller caller;
    caller_open(&caller);
    start_flow(&caller, "{\"n\":1}");
    struct task_held a = take(&caller, "a");
    call_for(&caller, 200, "GET", context_of(&a, "w", ""), NULL);
    CHECK_INT(int_at(&caller, "input.n"), 1);
    CHECK_INT(json_object_size(part(&caller, "outputs")), 0); /* a itself has not finished */
    char complete[200];
    snprintf(complete, sizeof complete, "/v1/tasks/%s/complete", a.id);
    call_for(&caller, 200, "POST", complete,
             "{\"worker\":\"w\",\"token\":\"%s\",\"output\":{\"x\":2}}", a.token);

    struct task_held b = take(&caller, "b");
    call_for(&caller, 200, "GET", context_of(&b, "w", ""), NULL);
    CHECK_INT(int_at(&caller, "outputs.a.x"), 2);
    call_for(&caller, 200, "GET", context_of(&b, "w", "&step=a"), NULL);
    CHECK_INT(int_at(&caller, "outputs.a.x"), 2);
    call_for(&caller, 200, "GET", context_of(&b, "w", "&step=b"), NULL);
    CHECK_INT(json_object_size(part(&caller, "outputs")), 0);
    call_for(&caller, 404, "GET", context_of(&b, "w", "&step=none"), NULL);
    call_for(&caller, 409, "GET", context_of(&b, "x", ""), NULL);
    CHECK_STR(text_at(&caller, "code"), "lease_lost");
    call_for(&caller, 409, "GET", context_of(&a, "w", ""), NULL); /* its lease has ended */
    struct task_held wrong = b;
    wrong.token[0] ^= 1;
    call_for(&caller, 409, "GET", context_of(&wrong, "w", ""), NULL);
    call_for(&caller, 400, "GET", context_of(&b, "", ""), NULL);
    call_for(&caller, 200, "POST", "/v1/clock/advance", "{\"ms\":30001}");
    call_for(&caller, 409, "GET", context_of(&b, "w", ""), NULL);
    caller_close(&caller);
}

TEST(the_context_has_what_a_step_has_handed_on)
{
    struct caller caller;
    caller_open(&caller);
    call_for(&caller, 201, "POST", "/v1/workflows", "%s",
             "{\"workflow\":\"w\",\"version\":1,\"steps\":[{\"step\":\"a\",\"output\":{\"y\":"
             "\"{{ .x }}\"}},{\"step\":\"b\"}]}");
    call_for(&caller, 201, "POST", "/v1/instances", "{\"workflow\":\"w\"}");
    struct task_held a = take(&caller, "a");
    char complete[200];
    snprintf(complete, sizeof complete, "/v1/tasks/%s/complete", a.id);
    call_for(&caller, 200, "POST", complete,
             "{\"worker\":\"w\",\"token\":\"%s\",\"output\":{\"x\":2}}", a.token);
    struct task_held b = take(&caller, "b");
    call_for(&caller, 200, "GET", context_of(&b, "w", ""), NULL);
    CHECK_INT(int_at(&caller, "outputs.a.y"), 2);
    CHECK_INT(json_object_size(part(&caller, "outputs.a")), 1);
    call_for(&caller, 200, "GET", context_of(&b, "w", "&step=a"), NULL);
    CHECK_INT(int_at(&caller, "outputs.a.y"), 2);
    caller_close(&caller);
}

TEST(a_job_has_no_context)
{
    struct caller caller;
    caller_open(&caller);
    add_job(&caller, "j");
    struct task_held job = take(&caller, "j");
    call_for(&caller, 400, "GET", context_of(&job, "w", ""), NULL);
    caller_close(&caller);
}

/* 17 outputs of a MiB are too many at once; one by one they can be read. */
TEST(a_context_beyond_sixteen_mebibytes_is_read_step_by_step)
{
    enum { STEPS = 17, BYTES = (1 << 20) - 64 };
    struct caller caller;
    char *text = malloc(BYTES + 1), definition[1200] = "", complete[200];
    memset(text, 'x', BYTES);
    text[BYTES] = '\0';
    caller_open(&caller);
    for (int i = 0; i <= STEPS; i++)
        sprintf(definition + strlen(definition), "%s{\"step\":\"s%d\",\"handler\":\"h\"}",
                i ? "," : "", i);
    call_for(&caller, 201, "POST", "/v1/workflows",
             "{\"workflow\":\"w\",\"version\":1,\"steps\":[%s]}", definition);
    call_for(&caller, 201, "POST", "/v1/instances", "{\"workflow\":\"w\"}");
    for (int i = 0; i < STEPS; i++) {
        struct task_held task = take(&caller, "h");
        snprintf(complete, sizeof complete, "/v1/tasks/%s/complete", task.id);
        call_for(&caller, 200, "POST", complete,
                 "{\"worker\":\"w\",\"token\":\"%s\",\"output\":\"%s\"}", task.token, text);
    }
    struct task_held last = take(&caller, "h");
    call_for(&caller, 413, "GET", context_of(&last, "w", ""), NULL);
    call_for(&caller, 200, "GET", context_of(&last, "w", "&step=s16"), NULL);
    CHECK_INT(strlen(text_at(&caller, "outputs.s16")), BYTES);
    free(text);
    caller_close(&caller);
}

TEST(a_wake_names_its_worker)
{
    struct caller caller;
    caller_open(&caller);
    call_for(&caller, 200, "POST", "/v1/tasks/wake", "{\"worker\":\"w\"}");
    CHECK_STR(text_at(&caller, "worker"), "w");
    call_for(&caller, 400, "POST", "/v1/tasks/wake", "{}");
    call_for(&caller, 400, "POST", "/v1/tasks/wake", "{\"worker\":\"\"}");
    call_for(&caller, 400, "POST", "/v1/tasks/wake", "{\"worker\":\"w\",\"max\":1}");
    caller_close(&caller);
}
