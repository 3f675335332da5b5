/* tests/api/test_bulk.c - one action on many jobs, instances or dead letters.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "calling.h"

#include <sched.h>
#include <string.h>

enum { MANY = 250 };

static void add_jobs(struct caller *caller, const char *type, int count)
{
    char body[16000], *end = body;
    end += sprintf(end, "{\"jobs\":[");
    for (int i = 0; i < count; i++)
        end += sprintf(end, "%s{\"type\":\"%s\"}", i ? "," : "", type);
    sprintf(end, "]}");
    call_for(caller, 201, "POST", "/v1/jobs", "%s", body);
}

static char bulk_target[80];

/* Asks until it has this status. */
static void wait_for(struct caller *caller, const char *status)
{
    do {
        sched_yield();
        call_for(caller, 200, "GET", bulk_target, NULL);
    } while (strcmp(text_at(caller, "status"), status) != 0);
}

static void begin(struct caller *caller, const char *body)
{
    call_for(caller, 202, "POST", "/v1/bulk", "%s", body);
    snprintf(bulk_target, sizeof bulk_target, "/v1/bulk/%s", text_at(caller, "id"));
}

static long long count_jobs(struct caller *caller, const char *type, const char *status)
{
    char target[96], path[32];
    snprintf(target, sizeof target, "/v1/jobs/counts?type=%s", type);
    call_for(caller, 200, "GET", target, NULL);
    snprintf(path, sizeof path, "counts.%s.n", status);
    return int_at(caller, path);
}

TEST(all_that_match_are_cancelled_and_no_others)
{
    struct caller caller;
    caller_open(&caller);
    add_jobs(&caller, "a", MANY);
    add_jobs(&caller, "b", 3);
    begin(&caller, "{\"on\":\"jobs\",\"action\":\"cancel\",\"filter\":{\"type\":\"a\"}}");
    CHECK_STR(text_at(&caller, "status"), "running");
    CHECK_INT(int_at(&caller, "expected"), MANY);
    wait_for(&caller, "done");
    CHECK_INT(int_at(&caller, "done"), MANY);
    CHECK_STR(text_at(&caller, "filter.type"), "a");
    CHECK_STR(text_at(&caller, "action"), "cancel");
    CHECK_STR(text_at(&caller, "on"), "jobs");
    CHECK_INT(json_object_size(part(&caller, "skipped")), 0);
    CHECK_INT(count_jobs(&caller, "a", "cancelled"), MANY);
    CHECK_INT(count_jobs(&caller, "b", "pending"), 3);
    call_for(&caller, 200, "GET", "/v1/bulk", NULL);
    CHECK_INT(json_array_size(part(&caller, "items")), 1);
    caller_close(&caller);
}

TEST(a_dry_run_changes_nothing)
{
    struct caller caller;
    caller_open(&caller);
    add_jobs(&caller, "a", 30);
    call_for(&caller, 200, "POST", "/v1/bulk",
             "{\"on\":\"jobs\",\"action\":\"delete\",\"filter\":{},\"dry_run\":true}");
    CHECK_INT(int_at(&caller, "matched.n"), 30);
    CHECK(json_is_false(part(&caller, "matched.is_more")), "%s", caller.text);
    CHECK_INT(json_array_size(part(&caller, "sample")), 20);
    CHECK_INT(count_jobs(&caller, "a", "pending"), 30);
    call_for(&caller, 200, "GET", "/v1/bulk", NULL);
    CHECK_INT(json_array_size(part(&caller, "items")), 0);
    caller_close(&caller);
}

TEST(what_is_refused_is_skipped_and_told)
{
    struct caller caller;
    char body[200];
    caller_open(&caller);
    const char *id = add_job(&caller, "a");
    snprintf(body, sizeof body,
             "{\"on\":\"jobs\",\"action\":\"retry\",\"ids\":[\"%s\",\"nobody\"]}", id);
    begin(&caller, body);
    wait_for(&caller, "done");
    CHECK_INT(int_at(&caller, "done"), 0);
    CHECK_INT(int_at(&caller, "skipped.wrong_state"), 1);
    CHECK_INT(int_at(&caller, "skipped.not_found"), 1);
    CHECK_STR(text_at(&caller, "skipped_sample.0.id"), id);
    CHECK_STR(text_at(&caller, "skipped_sample.0.code"), "wrong_state");
    CHECK(json_is_null(part(&caller, "filter")), "%s", caller.text);
    caller_close(&caller);
}

TEST(a_limit_ends_it_and_a_pace_holds_it)
{
    struct caller caller;
    char target[96];
    caller_open(&caller);
    add_jobs(&caller, "a", MANY);
    begin(&caller,
          "{\"on\":\"jobs\",\"action\":\"cancel\",\"filter\":{\"type\":\"a\"},\"limit\":130}");
    wait_for(&caller, "done");
    CHECK_INT(int_at(&caller, "done"), 130);
    CHECK_INT(int_at(&caller, "expected"), 130);
    CHECK_INT(count_jobs(&caller, "a", "pending"), MANY - 130);
    /* The clock stands still: after the first five nothing more is done. */
    begin(&caller, "{\"on\":\"jobs\",\"action\":\"cancel\",\"per_second\":5,"
                   "\"filter\":{\"type\":\"a\",\"status\":\"pending\"}}");
    do {
        sched_yield();
        call_for(&caller, 200, "GET", bulk_target, NULL);
    } while (int_at(&caller, "done") < 5);
    snprintf(target, sizeof target, "%s/stop", bulk_target);
    call_for(&caller, 200, "POST", target, NULL);
    CHECK_STR(text_at(&caller, "status"), "stopped");
    CHECK_INT(int_at(&caller, "done"), 5);
    CHECK_INT(count_jobs(&caller, "a", "pending"), MANY - 135);
    call_for(&caller, 404, "POST", "/v1/bulk/0192f0c1-7d5e-7c3a-9a4e-2f6d8b1c3e5f/stop", NULL);
    call_for(&caller, 404, "GET", "/v1/bulk/nobody", NULL);
    caller_close(&caller);
}

/* What it makes is newer than its bound: each instance is restarted once, though it matches again. */
TEST(instances_are_touched_once)
{
    struct caller caller;
    caller_open(&caller);
    call_for(&caller, 201, "POST", "/v1/workflows",
             "{workflow: w, version: 1, steps: [{step: a, handler: a}]}");
    for (int i = 0; i < 120; i++)
        call_for(&caller, 201, "POST", "/v1/instances", "{\"workflow\":\"w\"}");
    begin(&caller, "{\"on\":\"instances\",\"action\":\"restart\",\"filter\":"
                   "{\"workflow\":\"w\",\"status\":\"active\"}}");
    wait_for(&caller, "done");
    CHECK_INT(int_at(&caller, "done"), 120);
    call_for(&caller, 200, "GET", "/v1/instances?limit=1000", NULL);
    size_t i;
    json_t *item;
    json_array_foreach(part(&caller, "items"), i, item)
    {
        CHECK_INT(json_integer_value(json_object_get(item, "generation")), 2);
    }
    begin(&caller,
          "{\"on\":\"instances\",\"action\":\"cancel\",\"filter\":{\"workflow\":\"w\"},"
          "\"by\":\"ada\",\"reason\":\"enough\"}");
    wait_for(&caller, "done");
    call_for(&caller, 200, "GET", "/v1/instances/counts", NULL);
    CHECK_INT(int_at(&caller, "counts.cancelled.n"), 120);
    caller_close(&caller);
}

static void park(struct caller *caller, const char *input)
{
    char target[128];
    call_for(caller, 201, "POST", "/v1/instances", "{\"workflow\":\"p\",\"input\":%s}", input);
    struct task_held task = take(caller, "a");
    snprintf(target, sizeof target, "/v1/tasks/%s/dead", task.id);
    call_for(caller, 200, "POST", target, "{\"worker\":\"w\",\"token\":\"%s\"}", task.token);
}

TEST(dead_letters_are_requeued_with_a_patch)
{
    struct caller caller;
    caller_open(&caller);
    call_for(&caller, 201, "POST", "/v1/workflows",
             "{workflow: p, version: 1, dlq: true, steps: [{step: a, handler: a}]}");
    park(&caller, "{\"file\":\"x.cvs\",\"n\":1}");
    park(&caller, "{\"file\":\"y.cvs\",\"n\":2}");
    begin(&caller, "{\"on\":\"dlq\",\"action\":\"requeue\",\"filter\":{\"workflow\":\"p\"},"
                   "\"args\":{\"input_patch\":{\"file\":\"z.csv\"}}}");
    wait_for(&caller, "done");
    CHECK_INT(int_at(&caller, "done"), 2);
    call_for(&caller, 200, "POST", "/v1/tasks/claim",
             "{\"worker\":\"w\",\"types\":[\"a\"],\"max\":2}");
    CHECK_STR(text_at(&caller, "tasks.0.input.file"), "z.csv");
    CHECK_STR(text_at(&caller, "tasks.1.input.file"), "z.csv");
    CHECK_INT(int_at(&caller, "tasks.0.input.n") + int_at(&caller, "tasks.1.input.n"), 3);
    call_for(&caller, 200, "GET", "/v1/dlq", NULL);
    CHECK_INT(json_array_size(part(&caller, "items")), 0);
    caller_close(&caller);
}

TEST(its_begin_and_end_are_events)
{
    struct caller caller;
    caller_open(&caller);
    add_job(&caller, "a");
    begin(&caller, "{\"on\":\"jobs\",\"action\":\"cancel\",\"filter\":{},\"by\":\"ada\"}");
    wait_for(&caller, "done");
    call_for(&caller, 200, "GET", "/v1/events", NULL);
    CHECK(strstr(caller.text, "\"bulk_started\"") && strstr(caller.text, "\"bulk_finished\""),
          "%s", caller.text);
    caller_close(&caller);
}

static void check_paused(struct caller *caller, const char *expected)
{
    char found[64] = "";
    size_t i;
    json_t *item;
    call_for(caller, 200, "GET", "/v1/instances?status=paused", NULL);
    json_array_foreach(part(caller, "items"), i, item)
    {
        const char *key = json_string_value(json_object_get(item, "key"));
        snprintf(found + strlen(found), sizeof found - strlen(found), " %s", key);
    }
    CHECK_STR(found, expected);
}

/* As lists have them: one instance sleeps, its child is ready, another instance is ready. */
TEST(instances_are_chosen_by_their_parent_and_by_where_they_stand)
{
    char parent[64], body[160];
    struct caller caller;
    caller_open(&caller);
    call_for(&caller, 201, "POST", "/v1/workflows",
             "{workflow: sleeper, version: 1, steps: [{sleep: nap, for: 1h}]}");
    call_for(&caller, 201, "POST", "/v1/workflows",
             "{workflow: w, version: 1, steps: [{step: a, handler: a}]}");
    call_for(&caller, 201, "POST", "/v1/instances",
             "{\"workflow\":\"sleeper\",\"key\":\"sleeps\"}");
    snprintf(parent, sizeof parent, "%s", text_at(&caller, "id"));
    call_for(
        &caller, 201, "POST", "/v1/instances",
        "{\"workflow\":\"w\",\"key\":\"child\",\"tell_instance\":\"%s\",\"tell_event\":\"e\"}",
        parent);
    call_for(&caller, 201, "POST", "/v1/instances", "{\"workflow\":\"w\",\"key\":\"alone\"}");
    call_for(&caller, 200, "POST", "/v1/bulk",
             "{\"on\":\"instances\",\"action\":\"pause\",\"dry_run\":true,"
             "\"filter\":{\"parent\":\"none\"}}");
    CHECK_INT(int_at(&caller, "matched.n"), 2);
    snprintf(body, sizeof body,
             "{\"on\":\"instances\",\"action\":\"pause\",\"filter\":{\"parent\":\"%s\"}}",
             parent);
    begin(&caller, body);
    wait_for(&caller, "done");
    CHECK_STR(text_at(&caller, "filter.parent"), parent);
    check_paused(&caller, " child");
    begin(&caller, "{\"on\":\"instances\",\"action\":\"pause\",\"filter\":"
                   "{\"stand\":\"running\",\"parent\":\"none\"}}");
    wait_for(&caller, "done");
    check_paused(&caller, " alone child");
    begin(&caller, "{\"on\":\"instances\",\"action\":\"pause\",\"filter\":"
                   "{\"stand\":\"sleeping\"}}");
    wait_for(&caller, "done");
    check_paused(&caller, " alone child sleeps");
    caller_close(&caller);
}

TEST(a_bulk_action_that_makes_no_sense_is_refused)
{
    static const char *const bodies[] = {
        "{\"on\":\"jobs\",\"action\":\"cancel\"}",
        "{\"on\":\"jobs\",\"action\":\"cancel\",\"filter\":{},\"ids\":[\"a\"]}",
        "{\"on\":\"jobs\",\"action\":\"restart\",\"filter\":{}}",
        "{\"on\":\"things\",\"action\":\"cancel\",\"filter\":{}}",
        "{\"on\":\"jobs\",\"action\":\"cancel\",\"filter\":{\"workflow\":\"w\"}}",
        "{\"on\":\"jobs\",\"action\":\"cancel\",\"filter\":{\"status\":\"odd\"}}",
        "{\"on\":\"jobs\",\"action\":\"cancel\",\"filter\":{\"type\":1}}",
        "{\"on\":\"instances\",\"action\":\"cancel\",\"filter\":{},\"by\":\"ada\"}",
        "{\"on\":\"instances\",\"action\":\"pause\",\"filter\":{\"parent\":\"mine\"}}",
        "{\"on\":\"instances\",\"action\":\"pause\",\"filter\":{\"stand\":\"paused\"}}",
        "{\"on\":\"jobs\",\"action\":\"cancel\",\"filter\":{\"stand\":\"running\"}}",
        "{\"on\":\"jobs\",\"action\":\"cancel\",\"filter\":{},\"args\":{\"input\":1}}",
        "{\"on\":\"dlq\",\"action\":\"requeue\",\"filter\":{},\"args\":{}}",
        "{\"on\":\"dlq\",\"action\":\"requeue\",\"filter\":{},\"per_second\":0}",
    };
    struct caller caller;
    caller_open(&caller);
    for (size_t i = 0; i < sizeof bodies / sizeof *bodies; i++)
        call_for(&caller, 400, "POST", "/v1/bulk", "%s", bodies[i]);
    caller_close(&caller);
}
