/* tests/api/test_jobs.c - /v1/jobs and /v1/registry, through cairn_call() on a real engine.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "calling.h"
#include "scratch.h"

#include <stdlib.h>

TEST(a_new_job_answers_201_and_a_known_key_200)
{
    struct caller caller;
    caller_open(&caller);
    call_for(&caller, 201, "POST", "/v1/jobs", "{\"type\":\"a.v1\",\"key\":\"k\"}");
    char *id = strdup(text_at(&caller, "id"));
    CHECK(json_is_false(part(&caller, "existing")), "%s", caller.text);
    call_for(&caller, 200, "POST", "/v1/jobs", "{\"type\":\"b.v1\",\"key\":\"k\"}");
    CHECK_STR(text_at(&caller, "id"), id);
    CHECK(json_is_true(part(&caller, "existing")), "%s", caller.text);
    free(id);
    caller_close(&caller);
}

TEST(a_known_key_can_be_refused_moved_or_taken)
{
    struct caller caller;
    char target[80];
    caller_open(&caller);
    call_for(&caller, 201, "POST", "/v1/jobs",
             "{\"type\":\"a.v1\",\"key\":\"k\",\"debounce_ms\":1000,\"payload\":1}");
    snprintf(target, sizeof target, "/v1/jobs/%s", text_at(&caller, "id"));
    call_for(&caller, 409, "POST", "/v1/jobs",
             "{\"type\":\"a.v1\",\"key\":\"k\",\"on_existing\":\"fail\"}");
    CHECK_STR(text_at(&caller, "code"), "conflict");
    call_for(&caller, 409, "POST", "/v1/jobs",
             "{\"jobs\":[{\"type\":\"a.v1\",\"key\":\"l\"},"
             "{\"type\":\"a.v1\",\"key\":\"k\",\"on_existing\":\"fail\"}]}");
    call_for(&caller, 200, "POST", "/v1/jobs",
             "{\"type\":\"a.v1\",\"key\":\"k\",\"debounce_ms\":1000,\"payload\":2}");
    call_for(&caller, 200, "GET", target, NULL);
    CHECK_INT(int_at(&caller, "payload"), 2);
    call_for(&caller, 400, "POST", "/v1/jobs", "{\"type\":\"a.v1\",\"debounce_ms\":1000}");
    call_for(&caller, 400, "POST", "/v1/jobs",
             "{\"type\":\"a.v1\",\"key\":\"k\",\"on_existing\":\"replace\"}");
    call_for(&caller, 200, "DELETE", target, NULL);
    call_for(&caller, 201, "POST", "/v1/jobs",
             "{\"type\":\"a.v1\",\"key\":\"k\",\"on_existing\":\"new_if_ended\"}");
    call_for(&caller, 200, "GET", "/v1/jobs", NULL);
    CHECK_INT(json_array_size(part(&caller, "items")), 1);
    caller_close(&caller);
}

TEST(a_job_has_the_columns_of_the_table)
{
    struct caller caller;
    char target[80];
    caller_open(&caller);
    call_for(&caller, 201, "POST", "/v1/jobs",
             "{\"type\":\"a.v1\",\"payload\":{\"n\":1},\"key\":\"k\",\"priority\":7,"
             "\"run_at\":\"2027-01-15T10:30:00.5+01:00\",\"max_attempts\":9,"
             "\"metadata\":{\"t\":1},\"timeout_ms\":1500,\"retry\":{\"jitter\":0}}");
    snprintf(target, sizeof target, "/v1/jobs/%s", text_at(&caller, "id"));
    const json_t *job = call_for(&caller, 200, "GET", target, NULL);
    static const char *const names[] = {
        "id",           "type",       "payload",    "status",
        "priority",     "run_at",     "attempt",    "leased_by",
        "last_error",   "result",     "created_at", "lease_until",
        "max_attempts", "updated_at", "deleted_at", "idempotency_key",
        "metadata",     "why",        "tags",       "timeout_ms",
        "retry",        "schedule",   "group",      "error_group"};
    CHECK_INT(json_object_size(job), sizeof names / sizeof *names);
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        CHECK(json_object_get(job, names[i]), "no %s in %s", names[i], caller.text);
    CHECK_STR(text_at(&caller, "type"), "a.v1");
    CHECK_INT(int_at(&caller, "metadata.t"), 1);
    CHECK_INT(int_at(&caller, "timeout_ms"), 1500);
    CHECK_INT(int_at(&caller, "retry.jitter"), 0);
    CHECK_INT(int_at(&caller, "payload.n"), 1);
    CHECK_STR(text_at(&caller, "status"), "pending");
    CHECK_INT(int_at(&caller, "priority"), 7);
    CHECK_STR(text_at(&caller, "run_at"), "2027-01-15T09:30:00.500Z");
    CHECK_STR(text_at(&caller, "created_at"), "2027-01-15T08:00:00.000Z");
    CHECK_STR(text_at(&caller, "idempotency_key"), "k");
    CHECK_INT(int_at(&caller, "attempt"), 0);
    CHECK_INT(int_at(&caller, "max_attempts"), 9);
    CHECK(!text_at(&caller, "leased_by") && !text_at(&caller, "lease_until") &&
              !text_at(&caller, "last_error") && !text_at(&caller, "deleted_at"),
          "%s", caller.text);
    caller_close(&caller);
}

/* PostgreSQL keeps payloads as jsonb: there only the value is promised, and 1e2 is 100. */
TEST(a_payload_comes_back_as_it_was_sent)
{
    static const size_t flags = JSON_DECODE_ANY | JSON_DECODE_INT_AS_REAL;
    static const char *const payloads[] = {
        "{\"b\": 0.10,\n \"a\":25e-2 , \"\\u0061a\":\"\\u00fc \xc3\xbc\"}",
        "[ 1,2 , {} ]",
        "null",
        "\"} , \\\" \"",
        "-0.0",
        "9007199254740993",
    };
    struct caller caller;
    caller_open(&caller);
    for (size_t i = 0; i < sizeof payloads / sizeof *payloads; i++) {
        char target[80], wanted[200];
        call_for(&caller, 201, "POST", "/v1/jobs", "{\"type\":\"a\",\"p\\u0061yload\" : %s }",
                 payloads[i]);
        snprintf(target, sizeof target, "/v1/jobs/%s", text_at(&caller, "id"));
        call_for(&caller, 200, "GET", target, NULL);
        json_t *sent = json_loads(payloads[i], flags, NULL);
        json_t *job = json_loads(caller.text, flags, NULL);
        CHECK(json_equal(json_object_get(job, "payload"), sent), "%s became %s", payloads[i],
              caller.text);
        json_decref(sent);
        json_decref(job);
        snprintf(wanted, sizeof wanted, "\"payload\":%s,", payloads[i]);
        CHECK(strcmp(scratch_kind(), "postgres") == 0 || strstr(caller.text, wanted),
              "%s became %s", payloads[i], caller.text);
    }
    caller_close(&caller);
}

TEST(many_jobs_go_in_together_or_not_at_all)
{
    struct caller caller;
    caller_open(&caller);
    call_for(&caller, 201, "POST", "/v1/jobs",
             "{\"jobs\":[{\"type\":\"a\",\"payload\":[1]},{\"type\":\"b\",\"key\":\"k\"},"
             "{\"type\":\"c\",\"key\":\"k\"}]}");
    CHECK_INT(json_array_size(part(&caller, "items")), 3);
    CHECK(json_is_false(part(&caller, "items.1.existing")), "%s", caller.text);
    CHECK(json_is_true(part(&caller, "items.2.existing")), "%s", caller.text);

    call_for(&caller, 400, "POST", "/v1/jobs",
             "{\"jobs\":[{\"type\":\"a\"},{\"type\":\"a\",\"priority\":-2147483649}]}");
    CHECK(strstr(text_at(&caller, "message"), "\"jobs[1].priority\""), "%s", caller.text);
    call_for(&caller, 400, "POST", "/v1/jobs", "{\"jobs\":[{\"type\":\"a\"},{\"type\":\"\"}]}");
    call_for(&caller, 200, "GET", "/v1/jobs", NULL);
    CHECK_INT(json_array_size(part(&caller, "items")), 2);
    caller_close(&caller);
}

TEST(a_list_is_paged_by_cursor_newest_first)
{
    struct caller caller;
    char target[200];
    int seen = 5;
    caller_open(&caller);
    for (int i = 1; i <= 5; i++) {
        char type[16];
        snprintf(type, sizeof type, "t.%d", i);
        add_job(&caller, type);
    }
    snprintf(target, sizeof target, "/v1/jobs?limit=2&cursor=");
    for (;;) {
        call_for(&caller, 200, "GET", target, NULL);
        size_t count = json_array_size(part(&caller, "items"));
        for (size_t i = 0; i < count; i++) {
            char path[32], type[16];
            snprintf(path, sizeof path, "items.%zu.type", i);
            snprintf(type, sizeof type, "t.%d", seen--);
            CHECK_STR(text_at(&caller, path), type);
        }
        const char *next = text_at(&caller, "next");
        if (!next)
            break;
        snprintf(target, sizeof target, "/v1/jobs?limit=2&cursor=%s", next);
    }
    CHECK_INT(seen, 0);
    caller_close(&caller);
}

TEST(a_list_is_filtered_by_status_type_and_key)
{
    struct caller caller;
    caller_open(&caller);
    add_job(&caller, "billing.a");
    add_job(&caller, "billing.b");
    call_for(&caller, 201, "POST", "/v1/jobs", "{\"type\":\"mail\",\"key\":\"a b/ü\"}");
    take(&caller, "billing.a");
    static const struct {
        const char *target;
        size_t count;
    } cases[] = {
        {"/v1/jobs", 3},
        {"/v1/jobs?status=leased", 1},
        {"/v1/jobs?status=pending&type=billing.%25", 1},
        {"/v1/jobs?type=billing.b", 1},
        {"/v1/jobs?type=billing", 0},
        {"/v1/jobs?key=a+b%2F%C3%BC", 1},
        {"/v1/jobs?key=%27%20OR%201%3D1%20--", 0},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        call_for(&caller, 200, "GET", cases[i].target, NULL);
        CHECK(json_array_size(part(&caller, "items")) == cases[i].count, "%s: %s",
              cases[i].target, caller.text);
    }
    caller_close(&caller);
}

TEST(events_are_listed_oldest_first_with_ids_that_are_strings)
{
    struct caller caller;
    char target[200], next[100];
    caller_open(&caller);
    const char *id = add_job(&caller, "a");
    take(&caller, "a");
    snprintf(target, sizeof target, "/v1/jobs/%s/events?limit=1", id);
    const json_t *page = call_for(&caller, 200, "GET", target, NULL);
    CHECK_INT(json_array_size(json_object_get(page, "items")), 1);
    CHECK_STR(text_at(&caller, "items.0.type"), "created");
    CHECK(text_at(&caller, "items.0.id"), "%s", caller.text);
    CHECK(!text_at(&caller, "items.0.step"), "%s", caller.text);
    CHECK_STR(text_at(&caller, "items.0.at"), "2027-01-15T08:00:00.000Z");
    CHECK(json_is_object(part(&caller, "items.0.data")), "%s", caller.text);
    snprintf(next, sizeof next, "%s", text_at(&caller, "next"));
    snprintf(target, sizeof target, "/v1/jobs/%s/events?cursor=%s", id, next);
    call_for(&caller, 200, "GET", target, NULL);
    CHECK_STR(text_at(&caller, "items.0.type"), "leased");
    CHECK(!text_at(&caller, "next"), "%s", caller.text);
    caller_close(&caller);
}

TEST(cancel_retry_and_delete_answer_the_job_as_it_is_now)
{
    struct caller caller;
    char target[80], cancel[120], retry[120];
    caller_open(&caller);
    const char *id = add_job(&caller, "a");
    snprintf(target, sizeof target, "/v1/jobs/%s", id);
    snprintf(cancel, sizeof cancel, "%s/cancel", target);
    snprintf(retry, sizeof retry, "%s/retry", target);

    call_for(&caller, 409, "POST", retry, NULL);
    CHECK_STR(text_at(&caller, "code"), "wrong_state");
    call_for(&caller, 200, "POST", cancel, NULL);
    CHECK_STR(text_at(&caller, "status"), "cancelled");
    call_for(&caller, 409, "POST", cancel, "{}");
    call_for(&caller, 200, "POST", retry, "{}");
    CHECK_STR(text_at(&caller, "status"), "pending");
    call_for(&caller, 200, "DELETE", target, NULL);
    CHECK_STR(text_at(&caller, "status"), "cancelled");
    CHECK(text_at(&caller, "deleted_at"), "%s", caller.text);
    call_for(&caller, 200, "GET", target, NULL);
    call_for(&caller, 200, "GET", "/v1/jobs", NULL);
    CHECK_INT(json_array_size(part(&caller, "items")), 0);
    caller_close(&caller);
}

TEST(a_job_that_does_not_exist_is_404)
{
    static const char *const ids[] = {"01a1de0a-e1f5-7b4e-b2be-fdfb5296b2dc", "x",
                                      "%27%3B%20DROP%20TABLE%20workflow_run%3B--", "%C3%BC"};
    struct caller caller;
    char target[120];
    caller_open(&caller);
    for (size_t i = 0; i < 4; i++) {
        snprintf(target, sizeof target, "/v1/jobs/%s", ids[i]);
        call_for(&caller, 404, "GET", target, NULL);
        CHECK_STR(text_at(&caller, "code"), "not_found");
        call_for(&caller, 404, "DELETE", target, NULL);
        snprintf(target, sizeof target, "/v1/jobs/%s/cancel", ids[i]);
        call_for(&caller, 404, "POST", target, NULL);
        snprintf(target, sizeof target, "/v1/jobs/%s/events", ids[i]);
        call_for(&caller, 404, "GET", target, NULL);
    }
    caller_close(&caller);
}

TEST(the_registry_keeps_one_entry_a_name)
{
    struct caller caller;
    caller_open(&caller);
    call_for(&caller, 200, "PUT", "/v1/registry/b%2Fc",
             "{\"runtime\":\"go\",\"description\":\"x\"}");
    CHECK_STR(text_at(&caller, "workflow_name"), "b/c");
    CHECK_STR(text_at(&caller, "intent_type"), "workflow");
    CHECK(json_is_true(part(&caller, "is_enabled")), "%s", caller.text);
    call_for(&caller, 200, "PUT", "/v1/registry/b%2Fc",
             "{\"runtime\":\"python\",\"is_enabled\":false}");
    CHECK_STR(text_at(&caller, "runtime"), "python");
    CHECK(json_is_false(part(&caller, "is_enabled")), "%s", caller.text);
    call_for(&caller, 200, "PUT", "/v1/registry/a", "{\"runtime\":\"c\"}");
    call_for(&caller, 200, "GET", "/v1/registry?limit=1", NULL);
    CHECK_STR(text_at(&caller, "items.0.workflow_name"), "a");
    char target[100];
    snprintf(target, sizeof target, "/v1/registry?cursor=%s", text_at(&caller, "next"));
    call_for(&caller, 200, "GET", target, NULL);
    CHECK_STR(text_at(&caller, "items.0.workflow_name"), "b/c");
    CHECK(!text_at(&caller, "next"), "%s", caller.text);
    caller_close(&caller);
}

/* ---- what is refused, and writes nothing ---------------------------------------------------
 */

static const struct {
    const char *method, *target, *body;
    int status;
    const char *says; /* in the message */
} refused[] = {
    {"POST", "/v1/jobs", NULL, 400, "field \"type\" is missing"},
    {"POST", "/v1/jobs", "", 400, "field \"type\" is missing"},
    {"POST", "/v1/jobs", "{", 400, "body is not JSON"},
    {"POST", "/v1/jobs", "{\"type\":\"a\"", 400, "body is not JSON"},
    {"POST", "/v1/jobs", "[{\"type\":\"a\"}]", 400, "body must be a JSON object"},
    {"POST", "/v1/jobs", "{\"type\":\"\xc3\"}", 400, "body is not UTF-8"},
    {"POST", "/v1/jobs", "{\"type\":\"\xed\xa0\x80\"}", 400, "body is not UTF-8"},
    {"POST", "/v1/jobs", "{\"type\":\"a\\u0000b\"}", 400, "u0000"},
    {"POST", "/v1/jobs", "{\"type\":\"a\",\"type\":\"b\"}", 400, "same key twice"},
    {"POST", "/v1/jobs", "{\"type\":\"\"}", 400, "type"},
    {"POST", "/v1/jobs", "{\"type\":null}", 400, "field \"type\" is missing"},
    {"POST", "/v1/jobs", "{\"typ\":1}", 400,
     "field \"type\" is missing, and field \"typ\" is unknown"},
    {"POST", "/v1/jobs", "{\"jobs\":[{\"typ\":\"a\"}]}", 400,
     "field \"jobs[0].type\" is missing, and field \"jobs[0].typ\" is unknown"},
    {"POST", "/v1/tasks/report", "{\"worker\":\"w\",\"results\":[{\"id\":\"x\",\"output\":1}]}",
     400, "field \"results[0].token\" is missing"},
    {"GET", "/v1/jobs/", NULL, 400, "the id is empty"},
    {"DELETE", "/v1/jobs/", NULL, 400, "the id is empty"},
    {"POST", "/v1/jobs//cancel", NULL, 400, "the id is empty"},
    {"GET", "/v1/instances//steps", NULL, 400, "the id is empty"},
    {"POST", "/v1/instances/x/steps//decision", "{}", 400, "the step is empty"},
    {"PATCH", "/v1/jobs/", NULL, 404, "route \"/v1/jobs/\" does not exist"},
    {"POST", "/v1/jobs", "{\"type\":7}", 400, "field \"type\" must be a string, not a number"},
    {"POST", "/v1/jobs", "{\"type\":\"a\",\"typ\":\"b\"}", 400, "field \"typ\" is unknown"},
    {"POST", "/v1/jobs", "{\"type\":\"a\",\"priority\":-2147483649}", 400, "\"priority\""},
    {"POST", "/v1/jobs", "{\"type\":\"a\",\"priority\":\"1\"}", 400, "\"priority\""},
    {"POST", "/v1/jobs", "{\"type\":\"a\",\"priority\":2147483648}", 400, "\"priority\""},
    {"POST", "/v1/jobs", "{\"type\":\"a\",\"priority\":1.5}", 400, "\"priority\""},
    {"POST", "/v1/jobs", "{\"type\":\"a\",\"max_attempts\":0}", 400, "\"max_attempts\""},
    {"POST", "/v1/jobs", "{\"type\":\"a\",\"max_attempts\":-3}", 400, "\"max_attempts\""},
    {"POST", "/v1/jobs", "{\"type\":\"a\",\"run_at\":\"soon\"}", 400, "\"run_at\""},
    {"POST", "/v1/jobs", "{\"type\":\"a\",\"run_at\":17}", 400, "\"run_at\""},
    {"POST", "/v1/jobs", "{\"type\":\"a\",\"run_at\":\"2027-02-30T00:00:00Z\"}", 400,
     "\"run_at\""},
    {"POST", "/v1/jobs", "{\"type\":\"a\",\"key\":\"\"}", 400, "key"},
    {"POST", "/v1/jobs", "{\"type\":\"a\",\"payload\":1e999}", 400, "number"},
    {"POST", "/v1/jobs", "{\"type\":\"a\",\"payload\":1e309}", 400, "number"},
    {"POST", "/v1/jobs", "{\"jobs\":[]}", 400, "jobs"},
    {"POST", "/v1/jobs", "{\"jobs\":{}}", 400, "field \"jobs\" must be an array"},
    {"POST", "/v1/jobs", "{\"jobs\":[1]}", 400, "field \"jobs\" must be an array of objects"},
    {"POST", "/v1/jobs", "{\"jobs\":[{\"type\":\"a\"}],\"type\":\"b\"}", 400,
     "field \"type\" is unknown"},
    {"POST", "/v1/jobs?limit=1", "{\"type\":\"a\"}", 400, "parameter \"limit\" is unknown"},
    {"GET", "/v1/jobs?limit=0", NULL, 400, "\"limit\""},
    {"GET", "/v1/jobs?limit=-1", NULL, 400, "\"limit\""},
    {"GET", "/v1/jobs?limit=1001", NULL, 400, "\"limit\""},
    {"GET", "/v1/jobs?limit=ten", NULL, 400, "\"limit\""},
    {"GET", "/v1/jobs?status=done", NULL, 400, "status"},
    {"GET", "/v1/jobs?states=failed", NULL, 400, "\"states\" is unknown"},
    {"GET", "/v1/jobs?status=failed&status=pending", NULL, 400, "given twice"},
    {"GET", "/v1/jobs?cursor=%27", NULL, 400, "cursor"},
    {"GET", "/v1/jobs?type=%ff", NULL, 400, "percent-encoded"},
    {"GET", "/v1/jobs/%00", NULL, 400, "percent-encoded"},
    {"GET", "/v1/jobs", "{\"limit\":5}", 400, "field \"limit\" is unknown"},
    {"POST", "/v1/jobs/x/cancel", "{\"why\":1}", 400, "field \"why\" is unknown"},
    {"GET", "/v1/job", NULL, 404, "route \"/v1/job\" does not exist"},
    {"GET", "/", NULL, 404, "does not exist"},
    {"GET", "v1/jobs", NULL, 404, "does not exist"},
    {"PUT", "/v1/jobs", "{}", 405, "method PUT is not allowed"},
    {"PUT", "/v1/registry/a", "{}", 400, "field \"runtime\" is missing"},
    {"PUT", "/v1/registry/a", "{\"runtime\":\"\"}", 400, "runtime"},
    {"PUT", "/v1/registry/a", "{\"runtime\":\"Go\"}", 400, "runtime \"Go\" must be 1 to 64 of"},
    {"PUT", "/v1/registry/a", "{\"runtime\":\"9\"}", 400, "begin with a letter"},
    {"POST", "/v1/tasks/claim", "{\"worker\":\"w\",\"types\":[\"a\"],\"runtime\":\"go 1\"}",
     400, "runtime \"go 1\" must"},
    {"POST", "/v1/tasks/idle", "{\"types\":[\"a\"],\"runtime\":\"*\"}", 400,
     "runtime \"*\" must"},
    {"PUT", "/v1/registry/a", "{\"runtime\":\"go\",\"is_enabled\":1}", 400, "\"is_enabled\""},
    {"POST", "/v1/clock/advance", "{}", 400, "field \"ms\" is missing"},
    {"POST", "/v1/clock/advance", "{\"ms\":-1}", 400, "\"ms\""},
    {"POST", "/v1/clock/advance", "{\"ms\":9223372036854775807}", 400, "\"ms\""},
    {"POST", "/v1/tasks/claim", "{\"types\":[\"a\"]}", 400, "field \"worker\" is missing"},
    {"POST", "/v1/tasks/claim", "{\"worker\":\"\",\"types\":[\"a\"]}", 400, "worker"},
    {"POST", "/v1/tasks/claim", "{\"worker\":\"w\"}", 400, "field \"types\" is missing"},
    {"POST", "/v1/tasks/claim", "{\"worker\":\"w\",\"types\":[]}", 400, "1 to 100 entries"},
    {"POST", "/v1/tasks/claim", "{\"worker\":\"w\",\"types\":\"a\"}", 400, "array of strings"},
    {"POST", "/v1/tasks/claim", "{\"worker\":\"w\",\"types\":[\"\"]}", 400, "type"},
    {"POST", "/v1/tasks/claim", "{\"worker\":\"w\",\"types\":[\"a\"],\"max\":0}", 400,
     "\"max\""},
    {"POST", "/v1/tasks/claim", "{\"worker\":\"w\",\"types\":[\"a\"],\"max\":1001}", 400,
     "\"max\""},
    {"POST", "/v1/tasks/claim", "{\"worker\":\"w\",\"types\":[\"a\"],\"lease_ms\":0}", 400,
     "\"lease_ms\""},
    {"POST", "/v1/tasks/claim", "{\"worker\":\"w\",\"types\":[\"a\"],\"wait_ms\":-1}", 400,
     "\"wait_ms\""},
    {"POST", "/v1/tasks/x/complete", NULL, 400, "field \"worker\" is missing"},
    {"POST", "/v1/tasks/x/complete", "{\"worker\":\"w\"}", 400, "field \"token\" is missing"},
    {"POST", "/v1/tasks/x/complete", "{\"worker\":\"w\",\"token\":\"t\",\"error\":\"e\"}", 400,
     "field \"error\" is unknown"},
    {"POST", "/v1/tasks/x/fail", "{\"worker\":\"w\",\"token\":\"t\",\"error\":7}", 400,
     "\"error\""},
    {"POST", "/v1/tasks/x/retry", "{\"worker\":\"w\",\"token\":\"t\",\"delay_ms\":-1}", 400,
     "\"delay_ms\""},
    {"POST", "/v1/tasks/x/heartbeat", "{\"worker\":\"w\",\"token\":\"t\",\"extend_ms\":-1}",
     400, "\"extend_ms\""},
    {"POST", "/v1/tasks/report", "{\"worker\":\"w\"}", 400, "field \"results\" is missing"},
    {"POST", "/v1/tasks/report", "{\"worker\":\"w\",\"results\":[]}", 400, "results"},
    {"POST", "/v1/tasks/report", "{\"worker\":\"w\",\"results\":[{\"id\":\"x\"}]}", 400,
     "field \"results[0].token\" is missing"},
    {"POST", "/v1/tasks/report",
     "{\"worker\":\"w\",\"results\":[{\"id\":\"x\",\"token\":\"t\",\"outcome\":\"done\"}]}",
     400, "results[0].outcome"},
    {"POST", "/v1/tasks/report",
     "{\"worker\":\"w\",\"results\":[],\"claim\":{\"worker\":\"w\",\"types\":[\"a\"]}}", 400,
     "field \"claim.worker\" is unknown"},
};

TEST(bad_input_is_a_clear_error_and_writes_nothing)
{
    struct caller caller;
    caller_open(&caller);
    for (size_t i = 0; i < sizeof refused / sizeof *refused; i++) {
        const char *body = refused[i].body;
        call(&caller, refused[i].method, refused[i].target, body ? "%s" : NULL, body);
        CHECK(caller.status == refused[i].status, "%s %s %s: %d %s", refused[i].method,
              refused[i].target, body ? body : "", caller.status, caller.text);
        CHECK(strstr(text_at(&caller, "message"), refused[i].says), "%s %s %s: %s",
              refused[i].method, refused[i].target, body ? body : "", caller.text);
        CHECK(text_at(&caller, "code") && text_at(&caller, "detail") &&
                  text_at(&caller, "hint") && json_object_size(caller.body) == 4,
              "%s", caller.text);
    }
    call_for(&caller, 200, "GET", "/v1/stats", NULL);
    CHECK_INT(int_at(&caller, "pending"), 0);
    CHECK_INT(int_at(&caller, "enqueued"), 0);
    call_for(&caller, 200, "GET", "/v1/registry", NULL);
    CHECK_INT(json_array_size(part(&caller, "items")), 0);
    caller_close(&caller);
}

TEST(what_is_beyond_a_limit_is_413)
{
    struct caller caller;
    caller_open(&caller);
    char *large = malloc((1 << 20) + 2);
    memset(large, 'x', (1 << 20) + 1);
    large[(1 << 20) + 1] = '\0';
    call_for(&caller, 413, "POST", "/v1/jobs", "{\"type\":\"a\",\"payload\":\"%s\"}", large);
    CHECK_STR(text_at(&caller, "code"), "too_large");
    call_for(&caller, 201, "POST", "/v1/jobs", "{\"type\":\"a\",\"payload\":\"%.*s\"}",
             (1 << 20) - 2, large);
    call_for(&caller, 413, "POST", "/v1/jobs", "{\"type\":\"%.257s\"}", large);
    call_for(&caller, 201, "POST", "/v1/jobs", "{\"type\":\"%.256s\"}", large);
    call_for(&caller, 413, "POST", "/v1/jobs", "{\"type\":\"a\",\"key\":\"%.257s\"}", large);
    memset(large, '[', 100);
    call_for(&caller, 413, "POST", "/v1/jobs", "{\"type\":\"a\",\"payload\":%.100s}", large);

    size_t used = 0;
    for (int i = 0; i < 1001; i++)
        used += (size_t)sprintf(large + used, "%s{\"type\":\"a\"}", i ? "," : "");
    call_for(&caller, 413, "POST", "/v1/jobs", "{\"jobs\":[%s]}", large);
    call_for(&caller, 200, "GET", "/v1/stats", NULL);
    CHECK_INT(int_at(&caller, "pending"), 2);
    free(large);
    caller_close(&caller);
}

TEST(names_that_are_sql_are_only_names)
{
    static const char name[] = "'; DROP TABLE workflow_run; --";
    struct caller caller;
    caller_open(&caller);
    call_for(&caller, 201, "POST", "/v1/jobs", "{\"type\":\"%s\",\"key\":\"%s\"}", name, name);
    call_for(&caller, 200, "POST", "/v1/tasks/claim", "{\"worker\":\"%s\",\"types\":[\"%s\"]}",
             name, name);
    CHECK_STR(text_at(&caller, "tasks.0.type"), name);
    CHECK_STR(text_at(&caller, "tasks.0.key"), name);
    call_for(&caller, 200, "POST", "/v1/tasks/claim",
             "{\"worker\":\"w\",\"types\":[\"' OR '1'='1\",\"\\\\%%\",\"_%%\"]}");
    CHECK_INT(json_array_size(part(&caller, "tasks")), 0);
    caller_close(&caller);
}

TEST(a_wait_answers_at_the_end_or_when_its_time_is_over)
{
    struct caller caller;
    char target[120];
    caller_open(&caller);
    const char *id = add_job(&caller, "a");
    snprintf(target, sizeof target, "/v1/jobs/%s?wait_ms=20", id);
    call_for(&caller, 200, "GET", target, NULL);
    CHECK_STR(text_at(&caller, "id"), id);
    CHECK_STR(text_at(&caller, "status"), "pending");
    for (int i = 0; i < 3; i++) {
        const char *bad[] = {"60001", "-1", "soon"};
        snprintf(target, sizeof target, "/v1/jobs/%s?wait_ms=%s", id, bad[i]);
        call_for(&caller, 400, "GET", target, NULL);
    }
    snprintf(target, sizeof target, "/v1/jobs/%s/cancel", id);
    call_for(&caller, 200, "POST", target, NULL);
    snprintf(target, sizeof target, "/v1/jobs/%s?wait_ms=60000", id);
    call_for(&caller, 200, "GET", target, NULL);
    CHECK_STR(text_at(&caller, "status"), "cancelled");
    call_for(&caller, 404, "GET",
             "/v1/instances/00000000-0000-4000-8000-000000000000?wait_ms=60000", NULL);
    caller_close(&caller);
}
