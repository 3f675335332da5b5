/* tests/api/test_schedules.c - the routes of schedules: answers, refusals, events.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "calling.h"

#include <string.h>

#define NIGHTLY "/v1/schedules/nightly"

static void put(struct caller *caller)
{
    call_for(caller, 200, "PUT", NIGHTLY,
             "{\"cron\":\"30 2 * * "
             "*\",\"timezone\":\"Europe/Berlin\",\"task\":\"a\",\"input\":[1]}");
}

static void check_refused(struct caller *caller, const char *body, const char *message)
{
    call_for(caller, 400, "PUT", NIGHTLY, "%s", body);
    CHECK(strstr(caller->text, message), "%s: %s", body, caller->text);
}

TEST(a_schedule_is_answered_whole)
{
    struct caller caller;
    caller_open(&caller);
    put(&caller);
    CHECK_STR(text_at(&caller, "name"), "nightly");
    CHECK_STR(text_at(&caller, "cron"), "30 2 * * *");
    CHECK_STR(text_at(&caller, "timezone"), "Europe/Berlin");
    CHECK_STR(text_at(&caller, "task"), "a");
    CHECK_STR(text_at(&caller, "overlap"), "skip");
    CHECK_STR(text_at(&caller, "catch_up"), "last");
    CHECK(json_is_false(part(&caller, "paused")), "%s", caller.text);
    CHECK(json_is_string(part(&caller, "next_at")), "%s", caller.text);
    CHECK(json_is_null(part(&caller, "last_at")), "%s", caller.text);
    CHECK(json_is_null(part(&caller, "workflow")), "%s", caller.text);
    CHECK_INT(json_array_size(part(&caller, "runs")), 0);
    call_for(&caller, 200, "GET", "/v1/schedules", NULL);
    CHECK_INT(json_array_size(part(&caller, "items")), 1);
    call_for(&caller, 200, "GET", NIGHTLY "/next?count=3", NULL);
    CHECK_INT(json_array_size(part(&caller, "items")), 3);
    call_for(&caller, 200, "GET", NIGHTLY "/next", NULL);
    CHECK_INT(json_array_size(part(&caller, "items")), 5);
    call_for(&caller, 400, "GET", NIGHTLY "/next?count=1001", NULL);
    caller_close(&caller);
}

TEST(pause_resume_trigger_and_delete_answer_what_has_become)
{
    struct caller caller;
    caller_open(&caller);
    put(&caller);
    call_for(&caller, 200, "POST", NIGHTLY "/pause", "{\"by\":\"ann\",\"reason\":\"r\"}");
    CHECK(json_is_true(part(&caller, "paused")), "%s", caller.text);
    CHECK(json_is_null(part(&caller, "next_at")), "%s", caller.text);
    call_for(&caller, 200, "POST", NIGHTLY "/pause", NULL);
    call_for(&caller, 200, "POST", NIGHTLY "/trigger", NULL);
    CHECK_STR(text_at(&caller, "kind"), "job");
    CHECK_STR(text_at(&caller, "status"), "pending");
    call_for(&caller, 200, "POST", NIGHTLY "/resume", NULL);
    CHECK(json_is_false(part(&caller, "paused")), "%s", caller.text);
    CHECK_INT(json_array_size(part(&caller, "runs")), 1);
    call_for(&caller, 200, "DELETE", NIGHTLY, NULL);
    CHECK_STR(text_at(&caller, "name"), "nightly");
    call_for(&caller, 404, "DELETE", NIGHTLY, NULL);
    call_for(&caller, 404, "GET", NIGHTLY, NULL);
    call_for(&caller, 404, "GET", NIGHTLY "/next", NULL);
    call_for(&caller, 404, "POST", NIGHTLY "/pause", NULL);
    call_for(&caller, 404, "POST", NIGHTLY "/resume", NULL);
    call_for(&caller, 404, "POST", NIGHTLY "/trigger", NULL);
    caller_close(&caller);
}

TEST(each_change_is_an_event_that_says_who)
{
    static const char *const types[] = {"schedule_set", "schedule_paused", "schedule_resumed",
                                        "schedule_triggered", "schedule_removed"};
    struct caller caller;
    caller_open(&caller);
    put(&caller);
    put(&caller); /* changes nothing */
    call_for(&caller, 200, "POST", NIGHTLY "/pause",
             "{\"by\":\"ann\",\"reason\":\"holidays\"}");
    call_for(&caller, 200, "POST", NIGHTLY "/resume", NULL);
    call_for(&caller, 200, "POST", NIGHTLY "/trigger", NULL);
    call_for(&caller, 200, "DELETE", NIGHTLY, NULL);
    call_for(&caller, 200, "GET", "/v1/events?limit=100", NULL);
    size_t at = 0, i;
    json_t *event;
    json_array_foreach(part(&caller, "items"), i, event)
    {
        const char *type = json_string_value(json_object_get(event, "type"));
        const json_t *data = json_object_get(event, "data");
        if (strncmp(type, "schedule_", 9) != 0)
            continue;
        CHECK(at < 5 && strcmp(type, types[at]) == 0, "%s", type);
        CHECK_STR(json_string_value(json_object_get(data, "schedule")), "nightly");
        if (at++ == 1)
            CHECK_STR(json_string_value(json_object_get(data, "requested_by")), "ann");
    }
    CHECK_INT(at, 5);
    caller_close(&caller);
}

TEST(a_trigger_of_a_workflow_that_does_not_exist_is_refused)
{
    struct caller caller;
    caller_open(&caller);
    call_for(&caller, 200, "PUT", NIGHTLY, "{\"every_ms\":60000,\"workflow\":\"nothing\"}");
    call_for(&caller, 404, "POST", NIGHTLY "/trigger", NULL);
    CHECK(strstr(caller.text, "nothing"), "%s", caller.text);
    call_for(&caller, 200, "GET", NIGHTLY, NULL);
    CHECK_INT(json_array_size(part(&caller, "runs")), 0);
    caller_close(&caller);
}

TEST(what_cannot_be_is_refused_with_the_field)
{
    struct caller caller;
    caller_open(&caller);
    check_refused(&caller, "{}", "cron or every_ms must be given");
    check_refused(&caller, "{\"cron\":\"* * * *\",\"task\":\"a\"}", "fewer than five fields");
    check_refused(&caller, "{\"cron\":\"* * * * FUN\",\"task\":\"a\"}", "day of week");
    check_refused(&caller, "{\"cron\":\"* * * * *\",\"task\":\"a\",\"timezone\":\"X/Y\"}",
                  "X/Y");
    check_refused(&caller, "{\"every_ms\":1,\"task\":\"a\"}", "every_ms");
    check_refused(&caller, "{\"every_ms\":60000}", "workflow or task must be given");
    check_refused(&caller, "{\"every_ms\":60000,\"task\":\"a\",\"overlap\":\"x\"}", "overlap");
    check_refused(&caller, "{\"every_ms\":60000,\"task\":\"a\",\"catch_up\":\"x\"}",
                  "catch_up");
    check_refused(&caller, "{\"every_ms\":60000,\"task\":\"a\",\"paused\":1}", "paused");
    check_refused(&caller, "{\"every_ms\":60000,\"task\":\"a\",\"nope\":1}", "nope");
    call_for(&caller, 200, "GET", "/v1/schedules", NULL);
    CHECK_INT(json_array_size(part(&caller, "items")), 0);
    caller_close(&caller);
}
