/* tests/api/test_overview.c - what needs a person, how much happens, and for how long that is known.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "calling.h"

#include <string.h>

static void advance(struct caller *caller, long long ms)
{
    call_for(caller, 200, "POST", "/v1/clock/advance", "{\"ms\":%lld}", ms);
}

static void look(struct caller *caller, const char *range)
{
    char target[64];
    snprintf(target, sizeof target, "/v1/overview?range=%s", range);
    call_for(caller, 200, "GET", target, NULL);
}

/* A series of the latest answer, added up; its length must be this. */
static long long total(struct caller *caller, const char *name, size_t points)
{
    char path[32];
    size_t i;
    json_t *value;
    long long sum = 0;
    snprintf(path, sizeof path, "series.%s", name);
    const json_t *series = part(caller, path);
    CHECK_INT(json_array_size(series), points);
    json_array_foreach(series, i, value)
    {
        sum += json_integer_value(value);
    }
    return sum;
}

static long long last(struct caller *caller, const char *name)
{
    char path[32];
    snprintf(path, sizeof path, "series.%s", name);
    const json_t *series = part(caller, path);
    const json_t *value = json_array_get(series, json_array_size(series) - 1);
    return json_is_null(value) ? -1 : json_integer_value(value);
}

static void report(struct caller *caller, const struct task_held *task, const char *verb)
{
    char target[128];
    snprintf(target, sizeof target, "/v1/tasks/%s/%s", task->id, verb);
    call_for(caller, 200, "POST", target, "{\"worker\":\"w\",\"token\":\"%s\"}", task->token);
}

TEST(an_empty_store_has_an_overview)
{
    struct caller caller;
    caller_open(&caller);
    call_for(&caller, 200, "GET", "/v1/overview", NULL);
    CHECK_STR(text_at(&caller, "series.from"), "2027-01-15T07:01:00.000Z");
    CHECK_INT(int_at(&caller, "series.step_s"), 60);
    CHECK_INT(total(&caller, "started", 60), 0);
    CHECK_INT(last(&caller, "p50_ms"), -1);
    CHECK_INT(int_at(&caller, "needs.approvals"), 0);
    CHECK_INT(int_at(&caller, "needs.unserved_types"), 0);
    CHECK_INT(int_at(&caller, "workers.live"), 0);
    CHECK_INT(int_at(&caller, "counts.running.n"), 0);
    CHECK_INT(json_array_size(part(&caller, "types")), 0);
    CHECK_INT(json_array_size(part(&caller, "errors")), 0);
    CHECK_INT(json_array_size(part(&caller, "recent")), 0);
    call_for(&caller, 400, "GET", "/v1/overview?range=2h", NULL);
    call_for(&caller, 400, "GET", "/v1/overview?q=2h", NULL);
    caller_close(&caller);
}

TEST(a_series_counts_jobs_and_how_long_they_took)
{
    struct caller caller;
    caller_open(&caller);
    add_job(&caller, "a");
    add_job(&caller, "a");
    advance(&caller, 8000);
    struct task_held one = take(&caller, "a"), other = take(&caller, "a");
    advance(&caller, 2000);
    report(&caller, &one, "complete");
    report(&caller, &other, "fail");
    look(&caller, "1h");
    CHECK_INT(last(&caller, "started"), 2);
    CHECK_INT(last(&caller, "completed"), 1);
    CHECK_INT(last(&caller, "failed"), 0);
    CHECK_INT(last(&caller, "tasks"), 2);
    CHECK_INT(last(&caller, "retried"), 1);
    CHECK(last(&caller, "p50_ms") >= 1000 && last(&caller, "p50_ms") <= 4000, "%s",
          caller.text);
    CHECK(last(&caller, "wait_p95_ms") >= 4000 && last(&caller, "wait_p95_ms") <= 16000, "%s",
          caller.text);
    advance(&caller, 60000);
    look(&caller, "1h");
    CHECK_INT(last(&caller, "started"), 0);
    CHECK_INT(total(&caller, "started", 60), 2);
    look(&caller, "6h");
    CHECK_INT(int_at(&caller, "series.step_s"), 600);
    CHECK_INT(total(&caller, "started", 36), 2);
    look(&caller, "24h");
    CHECK_INT(total(&caller, "started", 144), 2);
    look(&caller, "7d");
    CHECK_INT(total(&caller, "started", 168), 2);
    look(&caller, "30d");
    CHECK_INT(total(&caller, "started", 180), 2);
    caller_close(&caller);
}

TEST(an_attempt_that_is_refused_counts_nothing)
{
    struct caller caller;
    caller_open(&caller);
    add_job(&caller, "a");
    struct task_held task = take(&caller, "a");
    report(&caller, &task, "complete");
    report(&caller, &task, "complete"); /* again: it is known */
    call_for(&caller, 201, "POST", "/v1/jobs", "{\"type\":\"b\",\"key\":\"k\"}");
    call_for(&caller, 200, "POST", "/v1/jobs", "{\"type\":\"b\",\"key\":\"k\"}");
    look(&caller, "1h");
    CHECK_INT(last(&caller, "started"), 2);
    CHECK_INT(last(&caller, "completed"), 1);
    CHECK_INT(last(&caller, "tasks"), 1);
    caller_close(&caller);
}

TEST(a_series_counts_instances_and_their_steps)
{
    struct caller caller;
    caller_open(&caller);
    call_for(&caller, 201, "POST", "/v1/workflows",
             "{workflow: two, version: 1, steps: [{step: a, handler: a},"
             " {step: b, handler: b}]}");
    call_for(&caller, 201, "POST", "/v1/instances", "{\"workflow\":\"two\",\"key\":\"k1\"}");
    struct task_held task = take(&caller, "a");
    report(&caller, &task, "complete");
    advance(&caller, 1000);
    task = take(&caller, "b");
    report(&caller, &task, "complete");
    advance(&caller, 1000);
    call_for(&caller, 201, "POST", "/v1/instances", "{\"workflow\":\"two\",\"key\":\"k2\"}");
    task = take(&caller, "a");
    report(&caller, &task, "complete");
    task = take(&caller, "b");
    report(&caller, &task, "dead");
    look(&caller, "1h");
    CHECK_INT(last(&caller, "started"), 2);
    CHECK_INT(last(&caller, "completed"), 1);
    CHECK_INT(last(&caller, "failed"), 1);
    CHECK_INT(last(&caller, "tasks"), 4);
    CHECK_INT(int_at(&caller, "counts.completed.n"), 1);
    CHECK_INT(int_at(&caller, "counts.failed.n"), 1);
    CHECK_INT(int_at(&caller, "workers.live"), 1);
    CHECK_INT(json_array_size(part(&caller, "recent")), 2);
    CHECK_STR(text_at(&caller, "recent.0.key"), "k2");
    CHECK_STR(text_at(&caller, "recent.0.status"), "failed");
    CHECK_STR(text_at(&caller, "recent.0.last_error.step"), "b");
    CHECK_STR(text_at(&caller, "recent.1.workflow"), "two");
    CHECK_INT(json_array_size(part(&caller, "errors")), 1);
    CHECK_STR(text_at(&caller, "errors.0.step"), "b");
    CHECK_INT(int_at(&caller, "errors.0.n"), 1);
    caller_close(&caller);
}

/* Figures that were written and folded add up to what was counted. */
TEST(figures_are_folded_and_add_up)
{
    static const struct {
        const char *range;
        size_t points;
        long long after_ms; /* since the step before */
    } steps[] = {
        {"24h", 144, 4LL * 3600000}, /* minutes have become ten minutes */
        {"7d", 168, 73LL * 3600000}, /* and hours */
        {"30d", 180, 20LL * 86400000},
    };
    struct caller caller;
    caller_open(&caller);
    for (int i = 0; i < 25; i++) {
        struct task_held task;
        add_job(&caller, "a");
        task = take(&caller, "a");
        report(&caller, &task, "complete");
        advance(&caller, 61000);
    }
    for (size_t i = 0; i < sizeof steps / sizeof *steps; i++) {
        advance(&caller, steps[i].after_ms);
        for (int turn = 0; turn < 8; turn++) { /* each folds one row of the longer time */
            call_for(&caller, 200, "POST", "/v1/tasks/claim",
                     "{\"worker\":\"w\",\"types\":[\"none\"]}");
            call_for(&caller, 201, "POST", "/v1/jobs",
                     "{\"type\":\"later\",\"run_at\":\"2030-01-01T00:00:00Z\"}");
            advance(&caller, 61000);
        }
        look(&caller, steps[i].range);
        CHECK_INT(total(&caller, "tasks", steps[i].points), 25);
        CHECK_INT(total(&caller, "completed", steps[i].points), 25);
        CHECK_INT(total(&caller, "started", steps[i].points), 25 + 8 * (long long)(i + 1));
    }
    advance(&caller, 90LL * 86400000);
    look(&caller, "30d");
    CHECK_INT(total(&caller, "tasks", 180), 0);
    caller_close(&caller);
}

TEST(what_needs_a_person_is_counted)
{
    struct caller caller;
    char target[128];
    caller_open(&caller);
    call_for(&caller, 201, "POST", "/v1/workflows",
             "{workflow: ask, version: 1, steps: [{human: ok}]}");
    call_for(&caller, 201, "POST", "/v1/instances", "{\"workflow\":\"ask\"}");
    call_for(&caller, 201, "POST", "/v1/instances", "{\"workflow\":\"ask\"}");
    snprintf(target, sizeof target, "/v1/instances/%s/pause", text_at(&caller, "id"));
    call_for(&caller, 200, "POST", target, "{\"by\":\"ada\"}");
    call_for(&caller, 201, "POST", "/v1/workflows",
             "{workflow: park, version: 1, dlq: true, steps: [{step: a, handler: a}]}");
    call_for(&caller, 201, "POST", "/v1/instances", "{\"workflow\":\"park\"}");
    call_for(&caller, 201, "POST", "/v1/workflows",
             "{workflow: hold, version: 1, steps: [{step: a, handler: h,"
             " on_failure: pause_workflow}]}");
    call_for(&caller, 201, "POST", "/v1/instances", "{\"workflow\":\"hold\"}");
    struct task_held task = take(&caller, "a");
    report(&caller, &task, "dead");
    task = take(&caller, "h");
    report(&caller, &task, "dead");
    add_job(&caller, "old");
    advance(&caller, 700000); /* the worker has gone quiet, then away */
    add_job(&caller, "new");
    look(&caller, "1h");
    CHECK_INT(int_at(&caller, "needs.dead"), 1);
    CHECK_INT(int_at(&caller, "needs.paused_failed"), 1);
    CHECK_INT(int_at(&caller, "needs.mismatch"), 0);
    CHECK_INT(int_at(&caller, "needs.undo_failed"), 0);
    CHECK_INT(int_at(&caller, "needs.unserved_types"), 2);
    CHECK(int_at(&caller, "needs.approvals") >= 1, "%s", caller.text);
    CHECK_STR(text_at(&caller, "types.0.type"), "old");
    CHECK_STR(text_at(&caller, "types.1.type"), "new");
    CHECK_INT(int_at(&caller, "types.0.ready"), 1);
    CHECK_INT(int_at(&caller, "counts.paused.n"), 2);
    CHECK_INT(int_at(&caller, "workers.live"), 0);
    caller_close(&caller);
}
