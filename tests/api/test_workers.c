/* tests/api/test_workers.c - which workers are there, what they hold, and which types are served.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "calling.h"
#include "scratch.h"

#include <string.h>

static void advance(struct caller *caller, long long ms)
{
    call_for(caller, 200, "POST", "/v1/clock/advance", "{\"ms\":%lld}", ms);
}

static void claim(struct caller *caller, const char *worker, const char *types, int max)
{
    call_for(caller, 200, "POST", "/v1/tasks/claim",
             "{\"worker\":\"%s\",\"types\":[%s],\"max\":%d,\"lease_ms\":600000}", worker, types,
             max);
}

static void check_state(struct caller *caller, const char *state)
{
    call_for(caller, 200, "GET", "/v1/workers", NULL);
    CHECK_STR(text_at(caller, "items.0.state"), state);
}

/* The why of an instance, or of a job. */
static void check_why(struct caller *caller, const char *path, const char *code,
                      const char *urgency)
{
    call_for(caller, 200, "GET", path, NULL);
    CHECK_STR(text_at(caller, "why.code"), code);
    CHECK_STR(text_at(caller, "why.urgency"), urgency);
}

TEST(a_worker_is_live_quiet_and_gone)
{
    struct caller caller;
    caller_open(&caller);
    call_for(&caller, 200, "GET", "/v1/workers", NULL);
    CHECK_INT(json_array_size(part(&caller, "items")), 0);
    call_for(&caller, 200, "POST", "/v1/tasks/claim",
             "{\"worker\":\"w\",\"types\":[\"mail.%%\"],\"max\":3,\"runtime\":\"go\"}");
    check_state(&caller, "live");
    CHECK_STR(text_at(&caller, "items.0.name"), "w");
    CHECK_STR(text_at(&caller, "items.0.types.0"), "mail.%");
    CHECK_STR(text_at(&caller, "items.0.runtime"), "go");
    CHECK_INT(int_at(&caller, "items.0.holds"), 0);
    CHECK_INT(int_at(&caller, "items.0.places"), 3);
    CHECK_INT(int_at(&caller, "items.0.errors_1h"), 0);
    CHECK_STR(text_at(&caller, "items.0.last_seen"), "2027-01-15T08:00:00.000Z");
    advance(&caller, 44999);
    check_state(&caller, "live");
    advance(&caller, 1);
    check_state(&caller, "quiet");
    advance(&caller, 600000 - 45001);
    check_state(&caller, "quiet");
    advance(&caller, 1);
    check_state(&caller, "gone");
    CHECK_STR(text_at(&caller, "items.0.last_seen"), "2027-01-15T08:00:00.000Z");
    claim(&caller, "w", "\"mail.%\"", 2);
    check_state(&caller, "live");
    CHECK_STR(text_at(&caller, "items.0.first_seen"), "2027-01-15T08:00:00.000Z");
    caller_close(&caller);
}

TEST(a_worker_shows_what_it_holds)
{
    struct caller caller;
    char target[160];
    caller_open(&caller);
    call_for(&caller, 201, "POST", "/v1/workflows",
             "{workflow: order, version: 1, steps: [{step: ship, handler: shop.ship}]}");
    call_for(&caller, 201, "POST", "/v1/instances", "{\"workflow\":\"order\"}");
    add_job(&caller, "mail.send");
    struct task_held step = take(&caller, "shop.ship"), job = take(&caller, "mail.send");
    call_for(&caller, 200, "GET", "/v1/workers", NULL);
    CHECK_INT(int_at(&caller, "items.0.holds"), 2);
    CHECK_INT(int_at(&caller, "items.0.places"), 2); /* it got all that it asked for */
    call_for(&caller, 200, "GET", "/v1/workers/w/tasks", NULL);
    CHECK_INT(json_array_size(part(&caller, "items")), 2);
    CHECK_STR(text_at(&caller, "items.0.id"), job.id);
    CHECK_STR(text_at(&caller, "items.0.kind"), "job");
    CHECK_STR(text_at(&caller, "items.1.id"), step.id);
    CHECK_STR(text_at(&caller, "items.1.kind"), "step");
    CHECK_STR(text_at(&caller, "items.1.step"), "ship");
    CHECK_INT(int_at(&caller, "items.1.call"), 1);
    call_for(&caller, 200, "GET", "/v1/workers/nobody/tasks", NULL);
    CHECK_INT(json_array_size(part(&caller, "items")), 0);
    snprintf(target, sizeof target, "/v1/tasks/%s/fail", job.id);
    call_for(&caller, 200, "POST", target,
             "{\"worker\":\"w\",\"token\":\"%s\",\"error\":\"e\"}", job.token);
    call_for(&caller, 200, "GET", "/v1/workers", NULL);
    CHECK_INT(int_at(&caller, "items.0.holds"), 1);
    CHECK_INT(int_at(&caller, "items.0.errors_1h"), 1);
    advance(&caller, 3600000);
    call_for(&caller, 200, "GET", "/v1/workers", NULL);
    CHECK_INT(int_at(&caller, "items.0.errors_1h"), 0);
    caller_close(&caller);
}

TEST(a_type_says_what_waits_and_who_serves_it)
{
    struct caller caller;
    caller_open(&caller);
    add_job(&caller, "mail.send");
    add_job(&caller, "mail.send");
    call_for(&caller, 201, "POST", "/v1/jobs",
             "{\"type\":\"mail.send\",\"run_at\":\"2027-01-15T09:00:00Z\"}");
    call_for(&caller, 201, "POST", "/v1/workflows",
             "{workflow: order, version: 1, steps: [{step: ship, handler: shop.ship,"
             " compensation: {handler: shop.unship}}]}");
    call_for(&caller, 201, "POST", "/v1/instances", "{\"workflow\":\"order\"}");
    call_for(&caller, 200, "GET", "/v1/types", NULL);
    CHECK_INT(json_array_size(part(&caller, "items")), 2);
    CHECK_STR(text_at(&caller, "items.0.type"), "mail.send");
    CHECK_INT(int_at(&caller, "items.0.ready"), 2);
    CHECK_INT(int_at(&caller, "items.0.later"), 1);
    CHECK_INT(int_at(&caller, "items.0.leased"), 0);
    CHECK_INT(int_at(&caller, "items.0.workers_live"), 0);
    CHECK(json_is_false(part(&caller, "items.0.is_served")), "%s", caller.text);
    CHECK_STR(text_at(&caller, "items.0.oldest_ready_at"), "2027-01-15T08:00:00.000Z");
    CHECK_STR(text_at(&caller, "items.1.type"), "shop.ship");
    CHECK_INT(int_at(&caller, "items.1.ready"), 1);
    call_for(&caller, 200, "GET", "/v1/types?limit=1", NULL);
    CHECK_STR(text_at(&caller, "next"), "mail.send");
    call_for(&caller, 200, "GET", "/v1/types?limit=1&cursor=mail.send", NULL);
    CHECK_STR(text_at(&caller, "items.0.type"), "shop.ship");
    CHECK(json_is_null(part(&caller, "next")), "%s", caller.text);

    take(&caller, "mail.send");
    take(&caller, "shop.ship");
    call_for(&caller, 200, "GET", "/v1/types", NULL);
    CHECK_INT(int_at(&caller, "items.0.ready"), 1);
    CHECK_INT(int_at(&caller, "items.0.leased"), 1);
    CHECK_INT(json_array_size(part(&caller, "items")), 1); /* no step can be claimed */
    call_for(&caller, 200, "GET", "/v1/types?of=order", NULL);
    CHECK_STR(text_at(&caller, "items.0.type"), "shop.ship");
    CHECK_INT(int_at(&caller, "items.0.leased"), 1);
    CHECK(json_is_true(part(&caller, "items.0.is_served")), "%s", caller.text);
    CHECK_INT(int_at(&caller, "items.0.workers_live"), 1);
    CHECK_STR(text_at(&caller, "items.1.type"), "shop.unship");
    CHECK(json_is_false(part(&caller, "items.1.is_served")), "%s", caller.text);
    call_for(&caller, 404, "GET", "/v1/types?of=nothing", NULL);

    call_for(&caller, 200, "PUT", "/v1/registry/shop.ship",
             "{\"runtime\":\"go\",\"is_enabled\":false}");
    call_for(&caller, 200, "GET", "/v1/types?of=order", NULL);
    CHECK(json_is_false(part(&caller, "items.0.is_served")), "%s", caller.text);
    CHECK(json_is_false(part(&caller, "items.0.is_enabled")), "%s", caller.text);
    CHECK_STR(text_at(&caller, "items.0.runtime"), "go");
    caller_close(&caller);
}

TEST(types_of_a_workflow_have_the_handlers_within_its_maps)
{
    static const char *const types[] = {"shop.box", "shop.load", "shop.unbox", "shop.unmap"};
    struct caller caller;
    caller_open(&caller);
    call_for(
        &caller, 201, "POST", "/v1/workflows",
        "{workflow: order, version: 1, steps: ["
        "{map: parcels, over: '{{ .parcels }}', compensation: {handler: shop.unmap}, steps: ["
        "  {step: box, handler: shop.box, compensation: {handler: shop.unbox}}]},"
        "{step: load, handler: shop.load}]}");
    call_for(&caller, 200, "GET", "/v1/types?of=order", NULL);
    CHECK_INT(json_array_size(part(&caller, "items")), sizeof types / sizeof *types);
    for (size_t i = 0; i < sizeof types / sizeof *types; i++) {
        char path[20];
        snprintf(path, sizeof path, "items.%zu.type", i);
        CHECK_STR(text_at(&caller, path), types[i]);
    }
    caller_close(&caller);
}

TEST(a_ready_task_says_who_could_take_it)
{
    struct caller caller;
    char path[100];
    caller_open(&caller);
    snprintf(path, sizeof path, "/v1/jobs/%s", add_job(&caller, "mail.send"));
    check_why(&caller, path, "job_ready", "stuck");
    CHECK_STR(text_at(&caller, "why.text"), "No worker that serves mail.send is there.");
    claim(&caller, "other", "\"post.%\"", 1);
    check_why(&caller, path, "job_ready", "stuck");

    /* One serves it, but another runtime is to execute it. */
    call_for(&caller, 200, "PUT", "/v1/registry/mail.send", "{\"runtime\":\"go\"}");
    call_for(&caller, 200, "POST", "/v1/tasks/claim",
             "{\"worker\":\"w\",\"types\":[\"mail.%%\"],\"runtime\":\"python\"}");
    CHECK_INT(json_array_size(part(&caller, "tasks")), 0);
    check_why(&caller, path, "job_ready", "stuck");
    call_for(&caller, 200, "PUT", "/v1/registry/mail.send",
             "{\"runtime\":\"python\",\"is_enabled\":false}");
    check_why(&caller, path, "job_ready", "stuck");
    CHECK_STR(text_at(&caller, "why.actions.0.action"), "type-enable");
    call_for(&caller, 200, "PUT", "/v1/registry/mail.send", "{\"runtime\":\"python\"}");
    check_why(&caller, path, "job_ready", "works");
    CHECK_STR(text_at(&caller, "why.text"), "Is about to be taken.");
    advance(&caller, 1999);
    check_why(&caller, path, "job_ready", "works");
    advance(&caller, 1);
    check_why(&caller, path, "job_ready", "waits");
    CHECK_STR(text_at(&caller, "why.text"),
              "1 worker serves mail.send, and it is busy; nothing is ahead.");
    advance(&caller, 43000);
    check_why(&caller, path, "job_ready", "stuck");
    CHECK_STR(text_at(&caller, "why.text"),
              "mail.send belongs to the runtime python, and no worker of it is there.");
    call_for(&caller, 200, "GET", "/v1/doctor", NULL);
    CHECK(strstr(caller.text, "no live worker serves them, such as \\\"mail.send\\\""), "%s",
          caller.text);
    caller_close(&caller);
}

/* A minute after the start it is known who is there, also if nobody has asked before. */
TEST(a_server_knows_when_it_was_started)
{
    struct caller caller = {0};
    cairn_error error;
    cairn_open_options open = CAIRN_OPEN_DEFAULTS;
    char path[100];
    open.url = scratch_store();
    open.virtual_clock = true;
    open.start_us = START_US;
    open.serves = true;
    CHECK_OK(cairn_open(&open, &caller.engine, &error));
    advance(&caller, 120000);
    snprintf(path, sizeof path, "/v1/jobs/%s", add_job(&caller, "mail.send"));
    check_why(&caller, path, "job_ready", "stuck");
    call_for(&caller, 200, "GET", "/v1/about", NULL);
    CHECK_STR(text_at(&caller, "started_at"), "2027-01-15T08:00:00.000Z");
    caller_close(&caller);
}
