/* tests/api/test_flows.c - /v1/workflows, /v1/instances, /v1/outbox and the tasks of steps.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "calling.h"
#include "scratch.h"

#include <string.h>

static const char two_steps[] =
    "workflow: order\nversion: 1\nsteps:\n"
    "  - step: reserve\n    handler: billing.reserve.v1\n    metadata: {team: orders}\n"
    "  - step: ship\n    max_attempts: 1\n";

/* A text may have percent signs, which call() takes for its own. */
static void deploy_for(struct caller *caller, int status, const char *text)
{
    call_for(caller, status, "POST", "/v1/workflows?file=order.yaml", "%s", text);
}

/* Starts an instance; its id is valid until the program ends. */
static const char *start(struct caller *caller, const char *workflow, const char *more)
{
    static char ids[16][64];
    static unsigned turn;
    call_for(caller, 201, "POST", "/v1/instances", "{\"workflow\":\"%s\"%s}", workflow, more);
    char *id = ids[turn++ % 16];
    snprintf(id, sizeof ids[0], "%s", text_at(caller, "id"));
    return id;
}

static const char *about(const char *id, const char *rest)
{
    static char targets[4][160];
    static unsigned turn;
    char *target = targets[turn++ % 4];
    snprintf(target, sizeof targets[0], "/v1/instances/%s%s", id, rest);
    return target;
}

static const char *status_of(struct caller *caller, const char *id)
{
    call_for(caller, 200, "GET", about(id, ""), NULL);
    return text_at(caller, "status");
}

static void report_for(struct caller *caller, int status, const struct task_held *held,
                       const char *verb, const char *more)
{
    char target[160];
    snprintf(target, sizeof target, "/v1/tasks/%s/%s", held->id, verb);
    call_for(caller, status, "POST", target, "{\"worker\":\"w\",\"token\":\"%s\"%s}",
             held->token, more);
}

static void complete(struct caller *caller, const char *type, const char *output)
{
    struct task_held held = take(caller, type);
    char more[200];
    snprintf(more, sizeof more, ",\"output\":%s", output);
    report_for(caller, 200, &held, "complete", more);
}

static void advance(struct caller *caller, long long ms)
{
    call_for(caller, 200, "POST", "/v1/clock/advance", "{\"ms\":%lld}", ms);
}

TEST(a_rerun_is_answered_as_a_start_is)
{
    struct caller caller;
    caller_open(&caller);
    deploy_for(&caller, 201, two_steps);
    const char *id = start(&caller, "order", "");
    complete(&caller, "billing.reserve.v1", "{\"n\":1}");
    complete(&caller, "ship", "{}");
    call_for(&caller, 201, "POST", about(id, "/rerun"), "{\"from\":\"ship\"}");
    CHECK(strcmp(text_at(&caller, "id"), id) != 0, "it is the same instance");
    CHECK(json_is_false(part(&caller, "existing")), "%s", caller.text);
    call_for(&caller, 200, "GET", about(text_at(&caller, "id"), ""), NULL);
    CHECK_STR(text_at(&caller, "source"), id);
    call_for(&caller, 404, "POST", about(id, "/rerun"), "{\"from\":\"none\"}");
    caller_close(&caller);
}

TEST(a_workflow_is_deployed_once_and_its_content_never_changes)
{
    struct caller caller;
    char hash[80];
    caller_open(&caller);
    deploy_for(&caller, 201, two_steps);
    CHECK_STR(text_at(&caller, "name"), "order");
    CHECK_INT(int_at(&caller, "version"), 1);
    CHECK(json_is_false(part(&caller, "existing")), "%s", caller.text);
    snprintf(hash, sizeof hash, "%s", text_at(&caller, "hash"));
    deploy_for(&caller, 200,
               "{\"workflow\": \"order\", \"version\": 1, \"steps\": ["
               "{\"step\": \"reserve\", \"handler\": \"billing.reserve.v1\", "
               "\"metadata\": {\"team\": \"orders\"}},"
               "{\"step\": \"ship\", \"max_attempts\": 1}]}");
    CHECK(json_is_true(part(&caller, "existing")), "%s", caller.text);
    CHECK_STR(text_at(&caller, "hash"), hash);
    deploy_for(&caller, 409, "workflow: order\nversion: 1\nsteps: [{step: other}]\n");
    CHECK_STR(text_at(&caller, "code"), "conflict");
    caller_close(&caller);
}

TEST(steps_and_instances_are_counted)
{
    static const char *const lines[] = {
        "\ncairn_instances_started_total 3\n",
        "\ncairn_steps{state=\"ready\"} 1\n",
        "\ncairn_steps{state=\"leased\"} 1\n",
        "\ncairn_instances{status=\"pending\"} 0\n",
        "\ncairn_instances{status=\"running\"} 2\n",
        "\ncairn_instances{status=\"waiting_signal\"} 0\n",
        "\ncairn_instances{status=\"paused\"} 1\n",
        "\ncairn_instances{status=\"compensating\"} 0\n",
        "\ncairn_instances{status=\"dlq\"} 0\n",
        "\n# TYPE cairn_instances gauge\n",
    };
    struct caller caller;
    caller_open(&caller);
    deploy_for(&caller, 201, two_steps);
    start(&caller, "order", "");
    take(&caller, "billing.reserve.v1");
    start(&caller, "order", "");
    call_for(&caller, 200, "POST", about(start(&caller, "order", ""), "/pause"), NULL);
    call_for(&caller, 200, "GET", "/v1/stats", NULL);
    CHECK_INT(int_at(&caller, "started"), 3);
    CHECK_INT(int_at(&caller, "steps_ready"), 1);
    CHECK_INT(int_at(&caller, "steps_leased"), 1);
    CHECK_INT(int_at(&caller, "instances_running"), 2);
    CHECK_INT(int_at(&caller, "instances_paused"), 1);
    CHECK_INT(int_at(&caller, "instances_dlq"), 0);
    call_for(&caller, 200, "GET", "/metrics", NULL);
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++)
        CHECK(strstr(caller.text, lines[i]), "no %s in %s", lines[i], caller.text);
    caller_close(&caller);
}

TEST(all_that_is_wrong_with_a_workflow_is_told_with_its_place)
{
    struct caller caller;
    caller_open(&caller);
    deploy_for(&caller, 400, "workflow: x\nversion: 0\nsteps:\n  - step: a\n  - step: a\n");
    CHECK(strstr(text_at(&caller, "message"), "order.yaml:2:"), "%s", caller.text);
    CHECK(strstr(text_at(&caller, "detail"), "5:11: "), "%s", caller.text);
    call_for(&caller, 400, "POST", "/v1/workflows", NULL);
    call_for(&caller, 400, "POST", "/v1/workflows", "[1, 2]");
    call_for(&caller, 200, "GET", "/v1/workflows", NULL);
    CHECK_INT(json_array_size(part(&caller, "items")), 0);
    caller_close(&caller);
}

TEST(deployed_workflows_are_listed_by_name_and_version_and_shown_whole)
{
    struct caller caller;
    caller_open(&caller);
    deploy_for(&caller, 201, "workflow: b\nversion: 2\nsteps: [{step: s}]\n");
    deploy_for(&caller, 201, "workflow: a\nversion: 10\nsteps: [{step: s}]\n");
    deploy_for(&caller, 201, "workflow: b\nversion: 1\nsteps: [{step: s}]\n");
    call_for(&caller, 200, "GET", "/v1/workflows?limit=2", NULL);
    CHECK_STR(text_at(&caller, "items.0.name"), "a");
    CHECK_STR(text_at(&caller, "items.1.name"), "b");
    CHECK_INT(int_at(&caller, "items.1.version"), 1);
    char target[120];
    snprintf(target, sizeof target, "/v1/workflows?limit=2&cursor=%s",
             text_at(&caller, "next"));
    call_for(&caller, 200, "GET", target, NULL);
    CHECK_INT(json_array_size(part(&caller, "items")), 1);
    CHECK_INT(int_at(&caller, "items.0.version"), 2);
    CHECK(json_is_null(part(&caller, "next")), "%s", caller.text);

    call_for(&caller, 200, "GET", "/v1/workflows/b/1", NULL);
    CHECK_INT(json_object_size(caller.body), 5);
    CHECK_STR(text_at(&caller, "definition.steps.0.step"), "s");
    CHECK_STR(text_at(&caller, "created_at"), "2027-01-15T08:00:00.000Z");
    call_for(&caller, 200, "GET", "/v1/workflows/b/0", NULL);
    CHECK_INT(int_at(&caller, "version"), 2);
    call_for(&caller, 404, "GET", "/v1/workflows/b/3", NULL);
    call_for(&caller, 404, "GET", "/v1/workflows/c/1", NULL);
    call_for(&caller, 400, "GET", "/v1/workflows/b/one", NULL);
    call_for(&caller, 400, "GET", "/v1/workflows/b/99999999999", NULL);
    caller_close(&caller);
}

TEST(an_instance_has_the_fields_of_the_design)
{
    static const char *const names[] = {
        "id",         "workflow", "version",    "status",        "current_steps",
        "input",      "output",   "last_error", "key",           "generation",
        "created_at", "start_at", "started_at", "finished_at",   "undo_error",
        "metadata",   "parent",   "paused_by",  "paused_reason", "paused_at",
        "why",        "tags",     "schedule",   "source",        "group",
        "error_group"};
    struct caller caller;
    caller_open(&caller);
    deploy_for(&caller, 201, two_steps);
    const char *id = start(&caller, "order", ",\"input\":{\"n\": 1.50},\"key\":\"k\"");
    call_for(&caller, 200, "POST", "/v1/instances",
             "{\"workflow\":\"order\",\"key\":\"k\",\"version\":1}");
    CHECK_STR(text_at(&caller, "id"), id);
    CHECK(json_is_true(part(&caller, "existing")), "%s", caller.text);
    call_for(&caller, 200, "GET", about(id, ""), NULL);
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        CHECK(json_object_get(caller.body, names[i]), "%s is missing", names[i]);
    CHECK_INT(json_object_size(caller.body), sizeof names / sizeof *names);
    CHECK_STR(text_at(&caller, "status"), "running");
    CHECK_STR(text_at(&caller, "current_steps.0"), "reserve");
    CHECK_INT(json_array_size(part(&caller, "current_steps")), 1);
    CHECK_INT(int_at(&caller, "generation"), 1);
    call_for(&caller, 200, "GET", about(id, "/steps"), NULL);
    CHECK_INT(json_array_size(part(&caller, "items")), 2);
    CHECK_INT(json_object_size(part(&caller, "items.0")), 24);
    CHECK_STR(text_at(&caller, "items.0.handler"), "billing.reserve.v1");
    CHECK_STR(text_at(&caller, "items.0.status"), "ready");
    CHECK_STR(text_at(&caller, "items.0.metadata.team"), "orders");
    CHECK_INT(int_at(&caller, "items.1.seq"), 1);
    CHECK_STR(text_at(&caller, "items.1.status"), "pending");
    caller_close(&caller);
}

TEST(what_cannot_be_started_is_refused)
{
    struct caller caller;
    caller_open(&caller);
    deploy_for(&caller, 201, two_steps);
    call_for(&caller, 404, "POST", "/v1/instances", "{\"workflow\":\"none\"}");
    call_for(&caller, 404, "POST", "/v1/instances", "{\"workflow\":\"order\",\"version\":2}");
    call_for(&caller, 400, "POST", "/v1/instances", "{\"workflow\":\"order\",\"version\":0}");
    call_for(&caller, 400, "POST", "/v1/instances", "{}");
    call_for(&caller, 400, "POST", "/v1/instances", "{\"workflow\":\"order\",\"payload\":1}");
    call_for(&caller, 404, "GET", about("none", ""), NULL);
    call_for(&caller, 404, "GET", about("none", "/steps"), NULL);
    call_for(&caller, 404, "GET", about("none", "/events"), NULL);
    call_for(&caller, 400, "GET", "/v1/instances?status=done", NULL);
    call_for(&caller, 200, "GET", "/v1/instances", NULL);
    CHECK_INT(json_array_size(part(&caller, "items")), 0);
    caller_close(&caller);
}

TEST(a_delayed_start_is_pending_until_its_time)
{
    struct caller caller;
    caller_open(&caller);
    deploy_for(&caller, 201, two_steps);
    const char *id = start(&caller, "order", ",\"start_at\":\"2027-01-15T08:00:10Z\"");
    CHECK_STR(status_of(&caller, id), "pending");
    CHECK_STR(text_at(&caller, "start_at"), "2027-01-15T08:00:10.000Z");
    CHECK(json_is_null(part(&caller, "started_at")), "%s", caller.text);
    advance(&caller, 10000);
    CHECK_STR(status_of(&caller, id), "running");
    caller_close(&caller);
}

TEST(the_task_of_a_step_says_where_it_belongs)
{
    struct caller caller;
    caller_open(&caller);
    deploy_for(&caller, 201, two_steps);
    const char *id = start(&caller, "order", ",\"input\":{\"n\":1}");
    struct task_held held = take(&caller, "billing.%");
    CHECK_INT(json_object_size(part(&caller, "tasks.0")), 15);
    CHECK_STR(text_at(&caller, "tasks.0.kind"), "step");
    CHECK_STR(text_at(&caller, "tasks.0.type"), "billing.reserve.v1");
    CHECK_STR(text_at(&caller, "tasks.0.instance_id"), id);
    CHECK_STR(text_at(&caller, "tasks.0.step"), "reserve");
    CHECK_INT(int_at(&caller, "tasks.0.input.n"), 1);
    CHECK_STR(text_at(&caller, "tasks.0.metadata.team"), "orders");
    CHECK(json_is_null(part(&caller, "tasks.0.reason")), "%s", caller.text);
    CHECK(json_is_null(part(&caller, "tasks.0.signal")), "%s", caller.text);
    report_for(&caller, 200, &held, "complete", ",\"output\":{\"m\":2}");
    CHECK_STR(text_at(&caller, "status"), "completed");
    complete(&caller, "ship", "[3]");
    CHECK_STR(status_of(&caller, id), "completed");
    CHECK_INT(int_at(&caller, "output.0"), 3);
    CHECK_STR(text_at(&caller, "finished_at"), "2027-01-15T08:00:00.000Z");
    caller_close(&caller);
}

TEST(a_failed_instance_says_why_and_can_be_retried)
{
    struct caller caller;
    caller_open(&caller);
    deploy_for(&caller, 201, two_steps);
    const char *id = start(&caller, "order", "");
    complete(&caller, "billing.reserve.v1", "1");
    struct task_held held = take(&caller, "ship");
    report_for(&caller, 200, &held, "fail", ",\"error\":\"no van\"");
    CHECK_STR(status_of(&caller, id), "failed");
    CHECK_STR(text_at(&caller, "last_error.step"), "ship");
    CHECK_STR(text_at(&caller, "last_error.message"), "no van");
    CHECK_INT(int_at(&caller, "last_error.attempt"), 1);
    call_for(&caller, 200, "POST", about(id, "/retry"), NULL);
    CHECK_STR(text_at(&caller, "status"), "running");
    CHECK_INT(int_at(&caller, "generation"), 2);
    call_for(&caller, 409, "POST", about(id, "/retry"), NULL);
    complete(&caller, "ship", "2");
    CHECK_STR(status_of(&caller, id), "completed");
    CHECK(json_is_null(part(&caller, "last_error")), "%s", caller.text);
    call_for(&caller, 200, "POST", about(id, "/restart"), "{}");
    CHECK_STR(text_at(&caller, "current_steps.0"), "reserve");
    caller_close(&caller);
}

TEST(control_asks_for_what_it_needs_and_answers_the_instance)
{
    struct caller caller;
    caller_open(&caller);
    deploy_for(&caller, 201, two_steps);
    const char *id = start(&caller, "order", "");
    call_for(&caller, 200, "POST", about(id, "/pause"), NULL);
    CHECK_STR(text_at(&caller, "status"), "paused");
    CHECK_STR(text_at(&caller, "id"), id);
    call_for(&caller, 200, "POST", "/v1/tasks/claim", "{\"worker\":\"w\",\"types\":[\"%%\"]}");
    CHECK_INT(json_array_size(part(&caller, "tasks")), 0);
    call_for(&caller, 200, "POST", about(id, "/resume"), "{\"force\":false}");
    CHECK_STR(text_at(&caller, "status"), "running");
    call_for(&caller, 400, "POST", about(id, "/cancel"), NULL);
    call_for(&caller, 400, "POST", about(id, "/cancel"), "{\"reason\":\"r\"}");
    CHECK(strstr(text_at(&caller, "message"), "\"by\""), "%s", caller.text);
    call_for(&caller, 400, "POST", about(id, "/abort"), "{\"by\":\"ann\"}");
    call_for(&caller, 400, "POST", about(id, "/cancel"), "{\"by\":\"\",\"reason\":\"r\"}");
    call_for(&caller, 404, "POST", about("none", "/cancel"), "{\"by\":\"a\",\"reason\":\"r\"}");
    call_for(&caller, 404, "POST", about("none", "/pause"), NULL);
    call_for(&caller, 200, "POST", about(id, "/cancel"), "{\"by\":\"a\",\"reason\":\"r\"}");
    CHECK_STR(text_at(&caller, "status"), "cancelled");
    call_for(&caller, 409, "POST", about(id, "/abort"), "{\"by\":\"a\",\"reason\":\"r\"}");
    CHECK_STR(text_at(&caller, "code"), "wrong_state");
    caller_close(&caller);
}

static const char with_approval[] =
    "workflow: leave\nversion: 1\nsteps: [{human: the approval}, {step: book}]\n";

TEST(a_human_step_is_decided_about_once)
{
    struct caller caller;
    caller_open(&caller);
    deploy_for(&caller, 201, with_approval);
    const char *id = start(&caller, "leave", "");
    const char *target = about(id, "/steps/the%20approval/decision");
    call_for(&caller, 400, "POST", target, "{\"decision\":\"confirmed\"}");
    call_for(&caller, 400, "POST", target, "{\"decision\":\"maybe\",\"by\":\"ann\"}");
    CHECK(strstr(text_at(&caller, "message"), "must be confirmed or rejected"), "%s",
          caller.text);
    call_for(&caller, 404, "POST", about(id, "/steps/none/decision"),
             "{\"decision\":\"confirmed\",\"by\":\"ann\"}");
    call_for(&caller, 409, "POST", about(id, "/steps/book/decision"),
             "{\"decision\":\"confirmed\",\"by\":\"ann\"}");
    call_for(&caller, 200, "POST", target,
             "{\"decision\":\"confirmed\",\"by\":\"ann\",\"comment\":\"fine\"}");
    CHECK_STR(text_at(&caller, "current_steps.0"), "book");
    call_for(&caller, 409, "POST", target, "{\"decision\":\"rejected\",\"by\":\"ann\"}");
    CHECK_STR(text_at(&caller, "code"), "wrong_state");
    id = start(&caller, "leave", "");
    call_for(&caller, 200, "POST", about(id, "/steps/the%20approval/decision"),
             "{\"decision\":\"rejected\",\"by\":\"ann\"}");
    CHECK_STR(text_at(&caller, "status"), "aborted");
    caller_close(&caller);
}

TEST(what_is_parked_is_listed_and_requeued_once)
{
    struct caller caller;
    caller_open(&caller);
    deploy_for(&caller, 201,
               "workflow: load\nversion: 1\ndlq: true\nsteps: [{step: read}, {step: write}]\n");
    const char *id = start(&caller, "load", ",\"input\":{\"file\":1}");
    struct task_held held = take(&caller, "read");
    report_for(&caller, 200, &held, "dead", ",\"error\":\"no such file\"");
    CHECK_STR(status_of(&caller, id), "dlq");
    call_for(&caller, 200, "GET", "/v1/dlq?limit=1", NULL);
    CHECK_STR(text_at(&caller, "items.0.instance_id"), id);
    CHECK_STR(text_at(&caller, "items.0.workflow_id"), "load/1");
    CHECK_STR(text_at(&caller, "items.0.step_name"), "read");
    CHECK_STR(text_at(&caller, "items.0.error"), "no such file");
    CHECK_INT(int_at(&caller, "items.0.input.file"), 1);
    char record[64], target[120];
    snprintf(record, sizeof record, "/v1/dlq/%s", text_at(&caller, "items.0.id"));
    snprintf(target, sizeof target, "%s/requeue", record);
    call_for(&caller, 200, "GET", record, NULL);
    CHECK(json_is_true(part(&caller, "is_open")), "%s", caller.text);
    call_for(&caller, 404, "GET", "/v1/dlq/none", NULL);
    call_for(&caller, 404, "POST", "/v1/dlq/none/requeue", NULL);
    call_for(&caller, 200, "POST", target, "{\"input\":{\"file\":2}}");
    CHECK_STR(text_at(&caller, "status"), "running");
    call_for(&caller, 409, "POST", target, NULL);
    call_for(&caller, 200, "GET", record, NULL);
    CHECK(json_is_false(part(&caller, "is_open")), "%s", caller.text);
    call_for(&caller, 200, "POST", "/v1/tasks/claim",
             "{\"worker\":\"w\",\"types\":[\"read\"]}");
    CHECK_INT(int_at(&caller, "tasks.0.input.file"), 2);
    call_for(&caller, 200, "GET", "/v1/dlq", NULL);
    CHECK_INT(json_array_size(part(&caller, "items")), 0);
    caller_close(&caller);
}

TEST(a_signal_is_kept_taken_once_or_dropped)
{
    struct caller caller;
    caller_open(&caller);
    deploy_for(&caller, 201,
               "workflow: w\nversion: 1\nsteps:\n  - step: a\n"
               "  - wait: b\n    event: go\n  - step: c\n");
    const char *id = start(&caller, "w", "");
    call_for(&caller, 201, "POST", about(id, "/signal"),
             "{\"event\":\"go\",\"latch\":\"off\"}");
    CHECK(json_is_false(part(&caller, "kept")), "%s", caller.text);
    call_for(&caller, 201, "POST", about(id, "/signal"), "{\"event\":\"go\",\"latch\":false}");
    CHECK(json_is_false(part(&caller, "taken")), "%s", caller.text);
    call_for(&caller, 400, "POST", about(id, "/signal"),
             "{\"event\":\"go\",\"latch\":\"maybe\"}");
    call_for(&caller, 400, "POST", about(id, "/signal"), "{\"event\":\"\"}");
    call_for(&caller, 201, "POST", about(id, "/signal"),
             "{\"event\":\"other\",\"id\":\"s1\",\"latch\":\"on\"}");
    CHECK(json_is_true(part(&caller, "kept")), "%s", caller.text);
    call_for(&caller, 200, "POST", about(id, "/signal"), "{\"event\":\"other\",\"id\":\"s1\"}");
    CHECK(json_is_true(part(&caller, "existing")), "%s", caller.text);
    CHECK_STR(text_at(&caller, "id"), "s1");

    complete(&caller, "a", "1");
    CHECK_STR(status_of(&caller, id), "waiting_signal");
    call_for(&caller, 201, "POST", about(id, "/signal"),
             "{\"event\":\"go\",\"id\":\"s2\",\"payload\":{\"x\": 7}}");
    CHECK(json_is_true(part(&caller, "taken")), "%s", caller.text);
    struct task_held held = take(&caller, "c");
    CHECK_STR(text_at(&caller, "tasks.0.signal.id"), "s2");
    CHECK_STR(text_at(&caller, "tasks.0.signal.event"), "go");
    CHECK_INT(int_at(&caller, "tasks.0.signal.payload.x"), 7);
    report_for(&caller, 200, &held, "complete", "");
    call_for(&caller, 409, "POST", about(id, "/signal"), "{\"event\":\"go\"}");
    call_for(&caller, 404, "POST", about("none", "/signal"), "{\"event\":\"go\"}");
    caller_close(&caller);
}

TEST(a_handler_may_wait_by_itself_and_is_told_when_that_took_too_long)
{
    struct caller caller;
    caller_open(&caller);
    deploy_for(&caller, 201, "workflow: w\nversion: 1\nsteps: [{step: a}]\n");
    const char *id = start(&caller, "w", "");
    struct task_held held = take(&caller, "a");
    report_for(&caller, 400, &held, "wait", "");
    report_for(&caller, 400, &held, "wait", ",\"event\":\"go\",\"error\":\"x\"");
    report_for(&caller, 200, &held, "wait", ",\"event\":\"go\",\"timeout_ms\":5000");
    CHECK_STR(text_at(&caller, "status"), "waiting");
    call_for(&caller, 200, "GET", about(id, "/steps"), NULL);
    CHECK_STR(text_at(&caller, "items.0.waiting_event"), "go");
    CHECK_STR(text_at(&caller, "items.0.deadline_at"), "2027-01-15T08:00:05.000Z");
    advance(&caller, 5000);
    held = take(&caller, "a");
    CHECK_STR(text_at(&caller, "tasks.0.reason"), "WAITING_TIMEOUT");
    call_for(
        &caller, 200, "POST", "/v1/tasks/report",
        "{\"worker\":\"w\",\"results\":[{\"id\":\"%s\",\"token\":\"%s\",\"outcome\":\"wait\","
        "\"event\":\"go\"}]}",
        held.id, held.token);
    CHECK_STR(text_at(&caller, "results.0.status"), "waiting");
    call_for(&caller, 201, "POST", about(id, "/signal"), "{\"event\":\"go\",\"payload\":1}");
    take(&caller, "a");
    CHECK(json_is_null(part(&caller, "tasks.0.reason")), "%s", caller.text);
    CHECK_INT(int_at(&caller, "tasks.0.signal.payload"), 1);
    CHECK_INT(int_at(&caller, "tasks.0.attempt"), 1);
    caller_close(&caller);
}

TEST(a_job_neither_waits_nor_emits)
{
    struct caller caller;
    caller_open(&caller);
    add_job(&caller, "a");
    struct task_held held = take(&caller, "a");
    report_for(&caller, 400, &held, "wait", ",\"event\":\"go\"");
    report_for(&caller, 400, &held, "complete", ",\"outbound\":[{\"event\":\"e\"}]");
    report_for(&caller, 200, &held, "complete", ",\"outbound\":[]");
    caller_close(&caller);
}

TEST(a_release_may_say_that_there_is_no_handler)
{
    struct caller caller;
    caller_open(&caller);
    deploy_for(&caller, 201, "workflow: w\nversion: 1\nsteps: [{step: a}]\n");
    const char *id = start(&caller, "w", "");
    struct task_held held = take(&caller, "%");
    report_for(&caller, 400, &held, "release", ",\"reason\":\"bored\"");
    report_for(&caller, 200, &held, "release",
               ",\"reason\":\"missing_handler\",\"delay_ms\":5000");
    call_for(&caller, 200, "GET", about(id, "/events?limit=1000"), NULL);
    CHECK(strstr(caller.text, "step_skipped_missing_handler"), "%s", caller.text);
    advance(&caller, 5000);
    take(&caller, "a");
    CHECK_INT(int_at(&caller, "tasks.0.attempt"), 1);
    caller_close(&caller);
}

TEST(events_are_listed_from_either_end)
{
    struct caller caller;
    char rest[80], newest[32];
    caller_open(&caller);
    deploy_for(&caller, 201, "workflow: w\nversion: 1\nsteps: [{step: a}]\n");
    const char *id = start(&caller, "w", "");
    struct task_held held = take(&caller, "%");
    report_for(&caller, 200, &held, "complete", "");
    call_for(&caller, 200, "GET", about(id, "/events?order=oldest&limit=1"), NULL);
    CHECK_STR(text_at(&caller, "items.0.type"), "workflow_started");
    call_for(&caller, 200, "GET", about(id, "/events?order=newest&limit=1"), NULL);
    CHECK_STR(text_at(&caller, "items.0.type"), "workflow_completed");
    snprintf(newest, sizeof newest, "%s", text_at(&caller, "items.0.id"));
    snprintf(rest, sizeof rest, "/events?order=newest&cursor=%s", text_at(&caller, "next"));
    call_for(&caller, 200, "GET", about(id, rest), NULL);
    size_t count = json_array_size(part(&caller, "items"));
    CHECK_STR(text_at(&caller, "items.0.type"), "step_completed");
    call_for(&caller, 200, "GET", about(id, "/events"), NULL);
    CHECK_INT(json_array_size(part(&caller, "items")), count + 1);
    snprintf(rest, sizeof rest, "items.%zu.id", count);
    CHECK_STR(text_at(&caller, rest), newest);
    call_for(&caller, 400, "GET", about(id, "/events?order=random"), NULL);
    caller_close(&caller);
}

TEST(emitted_events_are_delivered_in_order_and_acknowledged)
{
    struct caller caller;
    char target[80];
    caller_open(&caller);
    deploy_for(&caller, 201, two_steps);
    const char *id = start(&caller, "order", "");
    struct task_held held = take(&caller, "billing.%");
    report_for(&caller, 400, &held, "complete", ",\"outbound\":[{\"payload\":1}]");
    report_for(&caller, 400, &held, "fail", ",\"outbound\":[{\"event\":\"e\"}]");
    report_for(&caller, 200, &held, "complete",
               ",\"outbound\":[{\"event\":\"first\",\"payload\":{\"a\": 1}},"
               "{\"event\":\"second\"}]");
    call_for(&caller, 200, "POST", "/v1/outbox/claim", "{\"worker\":\"d\"}");
    CHECK_INT(json_array_size(part(&caller, "events")), 1);
    CHECK_INT(json_object_size(part(&caller, "events.0")), 6);
    CHECK_STR(text_at(&caller, "events.0.event"), "first");
    CHECK_STR(text_at(&caller, "events.0.instance_id"), id);
    CHECK_STR(text_at(&caller, "events.0.step"), "reserve");
    CHECK_INT(int_at(&caller, "events.0.payload.a"), 1);
    snprintf(target, sizeof target, "/v1/outbox/%s/ack", text_at(&caller, "events.0.id"));
    call_for(&caller, 200, "POST", target, NULL);
    call_for(&caller, 200, "POST", target, "{}");
    call_for(&caller, 200, "POST", "/v1/outbox/claim",
             "{\"worker\":\"d\",\"max\":10,\"lease_ms\":1000}");
    CHECK_STR(text_at(&caller, "events.0.event"), "second");
    CHECK(json_is_null(part(&caller, "events.0.payload")), "%s", caller.text);
    call_for(&caller, 404, "POST", "/v1/outbox/999999/ack", NULL);
    call_for(&caller, 404, "POST", "/v1/outbox/none/ack", NULL);
    call_for(&caller, 400, "POST", "/v1/outbox/claim", "{}");
    caller_close(&caller);
}

TEST(instances_are_filtered_and_paged_newest_first)
{
    struct caller caller;
    caller_open(&caller);
    deploy_for(&caller, 201, "workflow: a\nversion: 1\nsteps: [{step: s}]\n");
    deploy_for(&caller, 201, "workflow: b\nversion: 1\nsteps: [{step: s}]\n");
    start(&caller, "a", "");
    const char *second = start(&caller, "a", ",\"key\":\"k\"");
    start(&caller, "b", "");
    call_for(&caller, 200, "POST", about(second, "/pause"), NULL);
    call_for(&caller, 200, "GET", "/v1/instances?workflow=a", NULL);
    CHECK_INT(json_array_size(part(&caller, "items")), 2);
    CHECK_STR(text_at(&caller, "items.0.id"), second);
    call_for(&caller, 200, "GET", "/v1/instances?status=paused", NULL);
    CHECK_INT(json_array_size(part(&caller, "items")), 1);
    call_for(&caller, 200, "GET", "/v1/instances?workflow=a&key=k", NULL);
    CHECK_INT(json_array_size(part(&caller, "items")), 1);
    call_for(&caller, 200, "GET", "/v1/instances?limit=2", NULL);
    char target[120];
    snprintf(target, sizeof target, "/v1/instances?limit=2&cursor=%s",
             text_at(&caller, "next"));
    call_for(&caller, 200, "GET", target, NULL);
    CHECK_INT(json_array_size(part(&caller, "items")), 1);
    CHECK(json_is_null(part(&caller, "next")), "%s", caller.text);
    caller_close(&caller);
}

TEST(the_events_of_everybody_can_be_followed)
{
    struct caller caller;
    caller_open(&caller);
    const char *job = add_job(&caller, "j");
    deploy_for(&caller, 201, "workflow: a\nversion: 1\nsteps: [{step: s}]\n");
    const char *id = start(&caller, "a", "");
    call_for(&caller, 200, "GET", "/v1/events?limit=2", NULL);
    CHECK_INT(json_array_size(part(&caller, "items")), 2);
    CHECK_STR(text_at(&caller, "items.0.subject"), job);
    CHECK_STR(text_at(&caller, "items.0.type"), "created");
    CHECK_STR(text_at(&caller, "items.1.subject"), id);
    CHECK_STR(text_at(&caller, "items.1.type"), "workflow_started");
    char target[80];
    snprintf(target, sizeof target, "/v1/events?cursor=%s", text_at(&caller, "next"));
    call_for(&caller, 200, "GET", target, NULL);
    CHECK_INT(json_array_size(part(&caller, "items")), 1);
    CHECK_STR(text_at(&caller, "items.0.step"), "s");
    snprintf(target, sizeof target, "/v1/events?cursor=%s", text_at(&caller, "next"));
    call_for(&caller, 200, "GET", target, NULL);
    CHECK_INT(json_array_size(part(&caller, "items")), 0);
    CHECK(strstr(target, text_at(&caller, "next")), "%s", caller.text);
    call_for(&caller, 404, "GET", "/v1/stream", NULL);
    caller_close(&caller);
}
