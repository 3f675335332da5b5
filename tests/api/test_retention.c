/* tests/api/test_retention.c - the routes of retention and purge: what they answer and refuse.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "calling.h"

#include <string.h>

#define DAY_MS (24LL * 3600 * 1000)

static void end_job(struct caller *caller, const char *type)
{
    struct task_held held = take(caller, type);
    char target[120];
    snprintf(target, sizeof target, "/v1/tasks/%s/complete", held.id);
    call_for(caller, 200, "POST", target, "{\"worker\":\"w\",\"token\":\"%s\",\"output\":1}",
             held.token);
}

TEST(a_policy_is_set_in_part_and_shown_whole)
{
    struct caller caller;
    caller_open(&caller);
    call_for(&caller, 200, "GET", "/v1/retention", NULL);
    CHECK_INT(int_at(&caller, "jobs.succeeded"), 30 * DAY_MS);
    CHECK_INT(int_at(&caller, "instances.aborted"), 90 * DAY_MS);
    CHECK_INT(int_at(&caller, "keys_ms"), 90 * DAY_MS);
    CHECK(json_is_null(part(&caller, "set_at")), "nobody has set it");
    call_for(&caller, 200, "PUT", "/v1/retention",
             "{\"jobs\":{\"failed\":5,\"cancelled\":null},\"keys_ms\":null}");
    CHECK_INT(int_at(&caller, "jobs.failed"), 5);
    CHECK(json_is_null(part(&caller, "jobs.cancelled")), "for ever");
    CHECK(json_is_null(part(&caller, "keys_ms")), "for ever");
    CHECK_INT(int_at(&caller, "jobs.succeeded"), 30 * DAY_MS);
    CHECK(text_at(&caller, "set_at"), "it is set");
    call_for(&caller, 200, "PUT", "/v1/retention", "{\"instances\":{\"completed\":0}}");
    CHECK(json_is_null(part(&caller, "keys_ms")), "it stays as it is");
    call_for(&caller, 200, "GET", "/v1/retention", NULL);
    CHECK_INT(int_at(&caller, "instances.completed"), 0);
    caller_close(&caller);
}

TEST(what_is_no_policy_or_no_purge_is_refused)
{
    static const struct {
        const char *method, *target, *body, *says;
    } cases[] = {
        {"PUT", "/v1/retention", "{}", "jobs"},
        {"PUT", "/v1/retention", "{\"jobs\":7}", "jobs may have"},
        {"PUT", "/v1/retention", "{\"jobs\":{\"running\":7}}", "jobs may have"},
        {"PUT", "/v1/retention", "{\"jobs\":{\"completed\":7}}", "jobs may have"},
        {"PUT", "/v1/retention", "{\"jobs\":{\"failed\":-1}}", "jobs may have"},
        {"PUT", "/v1/retention", "{\"jobs\":{\"failed\":\"7d\"}}", "jobs may have"},
        {"PUT", "/v1/retention", "{\"jobs\":{\"failed\":1.5}}", "jobs may have"},
        {"PUT", "/v1/retention", "{\"instances\":{\"failed\":9223372036854775807}}",
         "instances may have"},
        {"PUT", "/v1/retention", "{\"keys_ms\":true}", "keys_ms must be"},
        {"PUT", "/v1/retention", "{\"keys_ms\":1,\"more\":1}", "is unknown"},
        {"POST", "/v1/purge", "{}", "must be given"},
        {"POST", "/v1/purge", "{\"dry_run\":true}", "must be given"},
        {"POST", "/v1/purge", "{\"older_than_ms\":-1}", "older_than_ms"},
        {"POST", "/v1/purge", "{\"older_than_ms\":9223372036854775807}", "hundred years"},
        {"POST", "/v1/purge", "{\"status\":\"running\"}", "status must be"},
        {"POST", "/v1/purge", "{\"status\":\"failed,\"}", "status must be"},
        {"POST", "/v1/purge", "{\"status\":\"\"}", "status must be"},
        {"POST", "/v1/purge", "{\"type\":\"a%b\"}", "type"},
        {"POST", "/v1/purge", "{\"status\":\"failed\",\"cursor\":\"x1\"}", "cursor"},
        {"POST", "/v1/purge", "{\"status\":\"failed\",\"cursor\":\"j-1\"}", "cursor"},
    };
    struct caller caller;
    caller_open(&caller);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        call(&caller, cases[i].method, cases[i].target, "%s", cases[i].body);
        CHECK(caller.status == 400 && strstr(caller.text, cases[i].says), "%s: %d %s",
              cases[i].body, caller.status, caller.text);
    }
    call_for(&caller, 404, "DELETE", "/v1/instances/nobody", NULL);
    caller_close(&caller);
}

TEST(a_purge_goes_on_with_its_cursor)
{
    struct caller caller;
    caller_open(&caller);
    for (int i = 0; i < 3; i++) {
        add_job(&caller, "a");
        end_job(&caller, "a");
    }
    add_job(&caller, "a");
    call_for(&caller, 200, "POST", "/v1/purge", "{\"type\":\"a\",\"dry_run\":true}");
    CHECK_INT(int_at(&caller, "jobs"), 3);
    CHECK_INT(int_at(&caller, "instances"), 0);
    CHECK(!text_at(&caller, "next"), "it was all");
    call_for(&caller, 200, "POST", "/v1/purge", "{\"type\":\"a\"}");
    CHECK_INT(int_at(&caller, "jobs"), 3);
    while (text_at(&caller, "next"))
        call_for(&caller, 200, "POST", "/v1/purge", "{\"type\":\"a\",\"cursor\":\"%s\"}",
                 text_at(&caller, "next"));
    call_for(&caller, 200, "POST", "/v1/purge", "{\"older_than_ms\":0,\"dry_run\":true}");
    CHECK_INT(int_at(&caller, "jobs"), 0);
    caller_close(&caller);
}

TEST(an_instance_is_deleted_once_it_has_ended)
{
    struct caller caller;
    char target[96];
    caller_open(&caller);
    call_for(&caller, 201, "POST", "/v1/workflows",
             "{\"workflow\":\"w\",\"version\":1,\"steps\":[{\"step\":\"a\"}]}");
    call_for(&caller, 201, "POST", "/v1/instances", "{\"workflow\":\"w\",\"key\":\"k\"}");
    snprintf(target, sizeof target, "/v1/instances/%s", kept_id(&caller));
    call_for(&caller, 409, "DELETE", target, NULL);
    CHECK_STR(text_at(&caller, "code"), "wrong_state");
    CHECK(strstr(text_at(&caller, "message"), "has not ended"), "%s", caller.text);
    end_job(&caller, "a");
    call_for(&caller, 200, "DELETE", target, NULL);
    CHECK_INT(int_at(&caller, "instances"), 1);
    call_for(&caller, 404, "GET", target, NULL);
    call_for(&caller, 404, "DELETE", target, NULL);
    call_for(&caller, 200, "POST", "/v1/instances", "{\"workflow\":\"w\",\"key\":\"k\"}");
    CHECK(json_is_true(part(&caller, "existing")), "its key is kept");
    caller_close(&caller);
}
