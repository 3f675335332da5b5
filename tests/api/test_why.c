/* tests/api/test_why.c - why instances and jobs have not ended, and who paused them.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "calling.h"

#include <string.h>

static const char flow[] = "workflow: order\nversion: 1\nsteps:\n"
                           "  - step: ship\n    handler: shop.ship\n    max_attempts: 2\n"
                           "  - wait: settled\n    event: payment.settled\n    timeout: 1h\n"
                           "  - human: approval\n";

/* An instance of the workflow; its id is valid until the program ends. */
static const char *start(struct caller *caller)
{
    static char ids[16][64];
    static unsigned turn;
    char *id = ids[turn++ % 16];
    call_for(caller, 201, "POST", "/v1/instances", "{\"workflow\":\"order\"}");
    snprintf(id, sizeof ids[0], "%s", text_at(caller, "id"));
    return id;
}

static const char *of(const char *id, const char *rest)
{
    static char targets[4][160];
    static unsigned turn;
    char *target = targets[turn++ % 4];
    snprintf(target, sizeof targets[0], "/v1/instances/%s%s", id, rest);
    return target;
}

/* The instance's own why, and the first of all, are the same. */
static void check_code(struct caller *caller, const char *id, const char *code,
                       const char *action)
{
    char text[512];
    call_for(caller, 200, "GET", of(id, ""), NULL);
    CHECK_STR(text_at(caller, "why.code"), code);
    snprintf(text, sizeof text, "%s", text_at(caller, "why.text"));
    if (*action)
        CHECK_STR(text_at(caller, "why.actions.0.action"), action);
    else
        CHECK_INT(json_array_size(part(caller, "why.actions")), 0);
    call_for(caller, 200, "GET", of(id, "/why"), NULL);
    CHECK_STR(text_at(caller, "items.0.code"), code);
    CHECK_STR(text_at(caller, "items.0.text"), text);
}

static void report(struct caller *caller, const struct task_held *held, const char *verb,
                   const char *more)
{
    char target[160];
    snprintf(target, sizeof target, "/v1/tasks/%s/%s", held->id, verb);
    call_for(caller, 200, "POST", target, "{\"worker\":\"w\",\"token\":\"%s\"%s}", held->token,
             more);
}

static void open_with_flow(struct caller *caller)
{
    caller_open(caller);
    call_for(caller, 201, "POST", "/v1/workflows", "%s", flow);
}

static void advance(struct caller *caller, long long ms)
{
    call_for(caller, 200, "POST", "/v1/clock/advance", "{\"ms\":%lld}", ms);
}

TEST(an_instance_says_what_it_waits_for_at_each_step)
{
    struct caller caller;
    open_with_flow(&caller);
    const char *id = start(&caller);
    struct task_held held = take(&caller, "shop.ship");
    check_code(&caller, id, "working", "");
    CHECK_STR(text_at(&caller, "items.0.step"), "ship");
    CHECK_INT(int_at(&caller, "items.0.seq"), 0);
    CHECK_STR(text_at(&caller, "items.0.values.worker"), "w");
    report(&caller, &held, "fail", ",\"error\":\"no carrier\"");
    check_code(&caller, id, "retry_later", "");
    CHECK_STR(text_at(&caller, "items.0.urgency"), "failing");
    advance(&caller, 3600000);
    held = take(&caller, "shop.ship");
    report(&caller, &held, "complete", "");
    check_code(&caller, id, "event", "signal");
    CHECK_STR(text_at(&caller, "items.0.values.event"), "payment.settled");
    CHECK(strstr(text_at(&caller, "items.0.actions.0.cli"), " payment.settled"), "%s",
          caller.text);
    call_for(&caller, 201, "POST", of(id, "/signal"), "{\"event\":\"payment.settled\"}");
    check_code(&caller, id, "decision", "approve");
    CHECK_STR(text_at(&caller, "items.0.urgency"), "person");
    call_for(&caller, 200, "POST", of(id, "/steps/approval/decision"),
             "{\"decision\":\"confirmed\",\"by\":\"ann\"}");
    check_code(&caller, id, "completed", "start-again");
    CHECK(json_is_null(part(&caller, "items.0.step")), "%s", caller.text);
    CHECK(json_is_null(part(&caller, "items.0.seq")), "%s", caller.text);
    caller_close(&caller);
}

TEST(an_instance_that_has_ended_says_how)
{
    struct caller caller;
    open_with_flow(&caller);
    const char *failed = start(&caller);
    struct task_held held = take(&caller, "shop.ship");
    report(&caller, &held, "dead", ",\"error\":\"no carrier\"");
    check_code(&caller, failed, "failed", "retry");
    CHECK_STR(text_at(&caller, "items.0.text"),
              "Failed at ship after 1 call: no carrier. Nothing was undone.");

    const char *cancelled = start(&caller), *aborted = start(&caller);
    call_for(&caller, 200, "POST", of(cancelled, "/cancel"),
             "{\"by\":\"ann\",\"reason\":\"r\"}");
    check_code(&caller, cancelled, "cancelled", "restart");
    call_for(&caller, 200, "POST", of(aborted, "/abort"), "{\"by\":\"ann\",\"reason\":\"r\"}");
    check_code(&caller, aborted, "aborted", "restart");

    const char *rejected = start(&caller);
    held = take(&caller, "shop.ship");
    report(&caller, &held, "complete", "");
    call_for(&caller, 201, "POST", of(rejected, "/signal"), "{\"event\":\"payment.settled\"}");
    call_for(&caller, 200, "POST", of(rejected, "/steps/approval/decision"),
             "{\"decision\":\"rejected\",\"by\":\"ann\",\"comment\":\"too dear\"}");
    check_code(&caller, rejected, "rejected", "restart");
    CHECK_STR(text_at(&caller, "items.0.text"), "Rejected by ann: too dear.");
    caller_close(&caller);
}

TEST(a_pause_keeps_who_and_why_until_it_is_resumed)
{
    struct caller caller;
    open_with_flow(&caller);
    const char *id = start(&caller);
    call_for(&caller, 400, "POST", of(id, "/pause"), "{\"by\":\"\"}");
    call_for(&caller, 200, "POST", of(id, "/pause"),
             "{\"by\":\"ann\",\"reason\":\"stocktaking\"}");
    CHECK_STR(text_at(&caller, "paused_by"), "ann");
    check_code(&caller, id, "paused_by", "resume");
    CHECK_STR(text_at(&caller, "items.0.text"),
              "Paused by ann 2027-01-15T08:00:00.000Z: stocktaking. 1 step is held.");
    CHECK_STR(text_at(&caller, "items.1.code"), "held");
    call_for(&caller, 200, "GET", of(id, "/events?order=newest&limit=1"), NULL);
    CHECK_STR(text_at(&caller, "items.0.type"), "workflow_paused");
    CHECK_STR(text_at(&caller, "items.0.data.requested_by"), "ann");
    CHECK_STR(text_at(&caller, "items.0.data.reason"), "stocktaking");

    call_for(&caller, 200, "POST", of(id, "/resume"), "{\"by\":\"bob\",\"reason\":\"done\"}");
    CHECK(json_is_null(part(&caller, "paused_by")), "%s", caller.text);
    CHECK(json_is_null(part(&caller, "paused_reason")), "%s", caller.text);
    CHECK(json_is_null(part(&caller, "paused_at")), "%s", caller.text);
    call_for(&caller, 200, "GET", of(id, "/events?limit=100"), NULL);
    bool is_told = false;
    size_t i;
    json_t *event;
    json_array_foreach(part(&caller, "items"), i, event)
    {
        const json_t *by = json_object_get(json_object_get(event, "data"), "requested_by");
        is_told |= by && strcmp(json_string_value(by), "bob") == 0;
    }
    CHECK(is_told, "%s", caller.text);
    call_for(&caller, 200, "POST", of(id, "/pause"), NULL);
    check_code(&caller, id, "paused_by", "resume");
    call_for(&caller, 200, "POST", of(id, "/restart"), "{\"by\":\"cid\",\"reason\":\"anew\"}");
    caller_close(&caller);
}

TEST(a_job_says_what_it_waits_for)
{
    struct caller caller;
    char target[100];
    caller_open(&caller);
    call_for(&caller, 201, "POST", "/v1/jobs",
             "{\"type\":\"mail.send\",\"run_at\":\"2027-01-15T09:00:00Z\"}");
    snprintf(target, sizeof target, "/v1/jobs/%s", text_at(&caller, "id"));
    call_for(&caller, 200, "GET", target, NULL);
    CHECK_STR(text_at(&caller, "why.code"), "job_later");
    CHECK_STR(text_at(&caller, "why.text"), "Runs 2027-01-15T09:00:00.000Z.");
    CHECK_STR(text_at(&caller, "why.actions.0.action"), "job-cancel");
    advance(&caller, 3600000);
    call_for(&caller, 200, "GET", target, NULL);
    CHECK_STR(text_at(&caller, "why.code"), "job_ready");
    struct task_held held = take(&caller, "mail.send");
    call_for(&caller, 200, "GET", target, NULL);
    CHECK_STR(text_at(&caller, "why.code"), "job_leased");
    report(&caller, &held, "dead", ",\"error\":\"no such box\"");
    call_for(&caller, 200, "GET", target, NULL);
    CHECK_STR(text_at(&caller, "why.code"), "job_failed");
    CHECK_STR(text_at(&caller, "why.actions.0.action"), "job-retry");
    call_for(&caller, 200, "GET", "/v1/jobs", NULL);
    CHECK(json_is_null(part(&caller, "items.0.why")), "%s", caller.text);
    call_for(&caller, 404, "GET", "/v1/instances/00000000-0000-7000-8000-000000000000/why",
             NULL);
    caller_close(&caller);
}
