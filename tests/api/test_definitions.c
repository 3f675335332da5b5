/* tests/api/test_definitions.c - workflows by name, their versions, and the grid.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "calling.h"

#include "base/buf.h"

#include <string.h>

static void deploy(struct caller *caller, const char *name, int version)
{
    call_for(caller, 201, "POST", "/v1/workflows",
             "{workflow: %s, version: %d, steps: [{step: charge}, {step: ship%d}]}", name,
             version, version);
}

static void start(struct caller *caller, const char *name, int version, const char *key)
{
    call_for(caller, 201, "POST", "/v1/instances",
             "{\"workflow\":\"%s\",\"version\":%d,\"key\":\"%s\"}", name, version, key);
}

static void complete(struct caller *caller, const char *type)
{
    char target[160];
    struct task_held task = take(caller, type);
    snprintf(target, sizeof target, "/v1/tasks/%s/complete", task.id);
    call_for(caller, 200, "POST", target, "{\"worker\":\"w\",\"token\":\"%s\"}", task.token);
}

TEST(a_summary_has_the_figures_of_a_day)
{
    struct caller caller;
    caller_open(&caller);
    deploy(&caller, "order", 1);
    start(&caller, "order", 1, "a");
    start(&caller, "order", 1, "b");
    call_for(&caller, 200, "POST", "/v1/clock/advance", "{\"ms\":%d}", 2000);
    complete(&caller, "charge");
    complete(&caller, "ship1");
    call_for(&caller, 200, "GET", "/v1/workflows?view=summary", NULL);
    CHECK_INT(int_at(&caller, "items.0.figures.started"), 2);
    CHECK_INT(int_at(&caller, "items.0.figures.completed"), 1);
    CHECK_INT(int_at(&caller, "items.0.figures.failed"), 0);
    CHECK(int_at(&caller, "items.0.figures.p50_ms") >= 1000, "%s", caller.text);
    CHECK(int_at(&caller, "items.0.figures.p95_ms") < 4000, "%s", caller.text);
    /* Minutes that are a day old are rows of ten minutes by then; the day has forgotten them. */
    call_for(&caller, 200, "POST", "/v1/clock/advance", "{\"ms\":%d}", 25 * 3600 * 1000);
    call_for(&caller, 200, "GET", "/v1/workflows?view=summary", NULL);
    CHECK_INT(int_at(&caller, "items.0.figures.completed"), 0);
    CHECK_INT(int_at(&caller, "items.0.counts.completed.n"), 1);
    caller_close(&caller);
}

/* Of a function and of a step; a call that took too long is no lost lease, and a lost one is no retried call. */
TEST(a_summary_counts_the_leases_that_were_lost_in_a_day)
{
    struct caller caller;
    caller_open(&caller);
    call_for(&caller, 201, "POST", "/v1/workflows", "{function: report, version: 1}");
    call_for(&caller, 201, "POST", "/v1/workflows",
             "{workflow: slow, version: 1, steps: [{step: a, timeout: 5s}, {step: b}]}");
    start(&caller, "report", 1, "f");
    start(&caller, "slow", 1, "s");
    for (int i = 0; i < 2; i++) {
        take(&caller, "report");
        call_for(&caller, 200, "POST", "/v1/clock/advance", "{\"ms\":%d}", 3600 * 1000);
    }
    take(&caller, "a");
    call_for(&caller, 200, "POST", "/v1/clock/advance", "{\"ms\":%d}", 3600 * 1000);
    call_for(&caller, 200, "GET", "/v1/workflows?view=summary", NULL);
    CHECK_INT(int_at(&caller, "items.0.figures.lost"), 2);
    CHECK_INT(int_at(&caller, "items.1.figures.lost"), 0);
    complete(&caller, "a");
    take(&caller, "b");
    call_for(&caller, 200, "POST", "/v1/clock/advance", "{\"ms\":%d}", 3600 * 1000);
    call_for(&caller, 200, "GET", "/v1/workflows?view=summary", NULL);
    CHECK_INT(int_at(&caller, "items.1.figures.lost"), 1);
    call_for(&caller, 200, "GET", "/v1/overview?range=24h", NULL);
    for (size_t i = 0; i < json_array_size(part(&caller, "series.retried")); i++)
        CHECK_INT(json_integer_value(json_array_get(part(&caller, "series.retried"), i)), 0);
    /* Rows are folded on the way, and a day later they no longer count. */
    call_for(&caller, 200, "POST", "/v1/clock/advance", "{\"ms\":%d}", 19 * 3600 * 1000);
    call_for(&caller, 200, "GET", "/v1/workflows?view=summary", NULL);
    CHECK_INT(int_at(&caller, "items.0.figures.lost"), 2);
    call_for(&caller, 200, "POST", "/v1/clock/advance", "{\"ms\":%d}", 6 * 3600 * 1000);
    call_for(&caller, 200, "GET", "/v1/workflows?view=summary", NULL);
    CHECK_INT(int_at(&caller, "items.0.figures.lost"), 0);
    caller_close(&caller);
}

TEST(workflows_are_listed_by_name)
{
    struct caller caller;
    caller_open(&caller);
    deploy(&caller, "order", 1);
    deploy(&caller, "order", 12);
    deploy(&caller, "order", 3);
    deploy(&caller, "other", 1);
    call_for(&caller, 201, "POST", "/v1/workflows", "{function: report, version: 2}");
    start(&caller, "order", 1, "a");
    call_for(&caller, 200, "POST", "/v1/clock/advance", "{\"ms\":%d}", 1000);
    start(&caller, "order", 3, "b");
    call_for(&caller, 200, "GET", "/v1/workflows?view=summary", NULL);
    CHECK_INT(json_array_size(part(&caller, "items")), 3);
    CHECK_STR(text_at(&caller, "items.0.name"), "order");
    CHECK_STR(text_at(&caller, "items.0.kind"), "workflow");
    CHECK_INT(json_array_size(part(&caller, "items.0.versions")), 3);
    CHECK_INT(int_at(&caller, "items.0.versions.0"), 12);
    CHECK_INT(int_at(&caller, "items.0.versions.2"), 1);
    CHECK_INT(int_at(&caller, "items.0.newest"), 12);
    CHECK_INT(int_at(&caller, "items.0.counts.running.n"), 2);
    CHECK(json_is_false(part(&caller, "items.0.counts.running.is_more")), "%s", caller.text);
    CHECK_INT(int_at(&caller, "items.0.counts.failed.n"), 0);
    CHECK_STR(text_at(&caller, "items.0.last_start_at"), "2027-01-15T08:00:01.000Z");
    CHECK_INT(int_at(&caller, "items.0.figures.started"), 2);
    CHECK(json_is_null(part(&caller, "items.0.figures.p50_ms")), "none has ended: %s",
          caller.text);
    CHECK_STR(text_at(&caller, "items.1.name"), "other");
    CHECK(json_is_null(part(&caller, "items.1.last_start_at")), "%s", caller.text);
    CHECK_INT(int_at(&caller, "items.1.figures.started"), 0);
    call_for(&caller, 200, "GET", "/v1/workflows?view=summary&kind=function", NULL);
    CHECK_INT(json_array_size(part(&caller, "items")), 1);
    CHECK_STR(text_at(&caller, "items.0.name"), "report");
    call_for(&caller, 200, "GET", "/v1/workflows?view=summary&limit=1", NULL);
    CHECK_STR(text_at(&caller, "next"), "order");
    call_for(&caller, 200, "GET", "/v1/workflows?view=summary&limit=2&cursor=order", NULL);
    CHECK_STR(text_at(&caller, "items.0.name"), "other");
    CHECK(json_is_null(part(&caller, "next")), "%s", caller.text);
    call_for(&caller, 200, "GET", "/v1/workflows", NULL);
    CHECK_INT(json_array_size(part(&caller, "items")), 5);
    call_for(&caller, 400, "GET", "/v1/workflows?kind=function", NULL);
    call_for(&caller, 400, "GET", "/v1/workflows?view=summary&kind=job", NULL);
    caller_close(&caller);
}

TEST(a_workflow_has_all_its_versions)
{
    struct caller caller;
    caller_open(&caller);
    for (int version = 1; version <= 40; version++)
        deploy(&caller, "order", version);
    deploy(&caller, "other", 7);
    call_for(&caller, 200, "GET", "/v1/workflows/order", NULL);
    CHECK_INT(json_array_size(part(&caller, "items")), 40);
    CHECK_INT(int_at(&caller, "items.0.version"), 40);
    CHECK_INT(int_at(&caller, "items.39.version"), 1);
    CHECK_STR(text_at(&caller, "items.0.name"), "order");
    CHECK_STR(text_at(&caller, "items.0.kind"), "workflow");
    CHECK_INT(strlen(text_at(&caller, "items.0.hash")), 64);
    CHECK_STR(text_at(&caller, "items.0.created_at"), "2027-01-15T08:00:00.000Z");
    call_for(&caller, 404, "GET", "/v1/workflows/nothing", NULL);
    caller_close(&caller);
}

/* However many instances are asked for: each of their steps is read. */
TEST(a_grid_of_long_workflows_has_fewer_instances)
{
    struct caller caller;
    struct buf file = {0};
    caller_open(&caller);
    buf_str(&file, "workflow: long\nversion: 1\nsteps:\n");
    for (int i = 0; i < 200; i++)
        buf_printf(&file, "  - {step: s%d, handler: h}\n", i);
    call_for(&caller, 201, "POST", "/v1/workflows", "%s", buf_text(&file));
    for (int i = 0; i < 26; i++) {
        char key[16];
        snprintf(key, sizeof key, "k%d", i);
        start(&caller, "long", 1, key);
    }
    call_for(&caller, 200, "GET", "/v1/workflows/long/1/grid?limit=100", NULL);
    CHECK_INT(json_array_size(part(&caller, "steps")), 200);
    CHECK_INT(json_array_size(part(&caller, "instances")), 25);
    buf_done(&file);
    caller_close(&caller);
}

TEST(the_grid_shows_how_far_the_latest_instances_came)
{
    struct caller caller;
    caller_open(&caller);
    deploy(&caller, "order", 1);
    deploy(&caller, "order", 2);
    start(&caller, "order", 2, "a");
    start(&caller, "order", 1, "old");
    complete(&caller, "charge");
    call_for(&caller, 200, "POST", "/v1/clock/advance", "{\"ms\":%d}", 1500);
    complete(&caller, "ship2");
    start(&caller, "order", 2, "b");
    call_for(&caller, 200, "GET", "/v1/workflows/order/2/grid", NULL);
    CHECK_INT(json_array_size(part(&caller, "steps")), 2);
    CHECK_STR(text_at(&caller, "steps.1"), "ship2");
    CHECK_INT(json_array_size(part(&caller, "instances")), 2);
    CHECK_STR(text_at(&caller, "instances.0.key"), "a");
    CHECK_STR(text_at(&caller, "instances.0.status"), "completed");
    CHECK_INT(int_at(&caller, "instances.0.took_ms"), 1500);
    CHECK_STR(text_at(&caller, "instances.0.cells.0"), "completed");
    CHECK_STR(text_at(&caller, "instances.0.cells.1"), "completed");
    CHECK_STR(text_at(&caller, "instances.1.key"), "b");
    CHECK(json_is_null(part(&caller, "instances.1.took_ms")), "%s", caller.text);
    CHECK_STR(text_at(&caller, "instances.1.cells.0"), "ready");
    CHECK_STR(text_at(&caller, "instances.1.cells.1"), "pending");
    call_for(&caller, 200, "GET", "/v1/workflows/order/0/grid?limit=1", NULL);
    CHECK_INT(json_array_size(part(&caller, "instances")), 1);
    CHECK_STR(text_at(&caller, "instances.0.key"), "b");
    call_for(&caller, 404, "GET", "/v1/workflows/order/3/grid", NULL);
    call_for(&caller, 400, "GET", "/v1/workflows/order/2/grid?limit=101", NULL);
    caller_close(&caller);
}
