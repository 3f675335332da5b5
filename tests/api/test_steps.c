/* tests/api/test_steps.c - one step whole, signals and outbox of an instance, payloads alone.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "calling.h"

#include <string.h>

static const char *start(struct caller *caller, const char *workflow, const char *input)
{
    call_for(caller, 201, "POST", "/v1/instances", "{\"workflow\":\"%s\",\"input\":%s}",
             workflow, input);
    return kept_id(caller);
}

static void report(struct caller *caller, const char *type, const char *how, const char *more)
{
    char target[160];
    struct task_held task = take(caller, type);
    snprintf(target, sizeof target, "/v1/tasks/%s/%s", task.id, how);
    call_for(caller, 200, "POST", target, "{\"worker\":\"w\",\"token\":\"%s\"%s}", task.token,
             more);
}

static void get(struct caller *caller, const char *form, const char *id)
{
    char target[200];
    snprintf(target, sizeof target, form, id);
    call_for(caller, 200, "GET", target, NULL);
}

TEST(a_step_has_its_calls_and_the_step_before_it)
{
    struct caller caller;
    caller_open(&caller);
    call_for(&caller, 201, "POST", "/v1/workflows",
             "{workflow: order, version: 1, steps: [{step: charge, retry: {backoff: fixed, "
             "base: 0ms}, compensation: {handler: uncharge}}, {step: ship, max_attempts: 1}]}");
    const char *id = start(&caller, "order", "{\"n\": 9007199254740993}");
    report(&caller, "charge", "fail", ",\"error\":\"busy\"");
    call_for(&caller, 200, "POST", "/v1/clock/advance", "{\"ms\":%d}", 1000);
    report(&caller, "charge", "complete", ",\"output\":{\"paid\": 1.10}");
    get(&caller, "/v1/steps/%s.0", id);
    CHECK_STR(text_at(&caller, "instance_id"), id);
    CHECK_STR(text_at(&caller, "name"), "charge");
    CHECK_STR(text_at(&caller, "status"), "completed");
    CHECK(json_is_null(part(&caller, "previous_seq")), "%s", caller.text);
    CHECK_INT(json_array_size(part(&caller, "attempts_list")), 2);
    CHECK_INT(int_at(&caller, "attempts_list.0.n"), 1);
    CHECK_STR(text_at(&caller, "attempts_list.0.kind"), "call");
    CHECK_STR(text_at(&caller, "attempts_list.0.worker"), "w");
    CHECK_STR(text_at(&caller, "attempts_list.0.outcome"), "retry");
    CHECK_STR(text_at(&caller, "attempts_list.0.error"), "busy");
    CHECK_STR(text_at(&caller, "attempts_list.0.started_at"), "2027-01-15T08:00:00.000Z");
    CHECK_INT(int_at(&caller, "attempts_list.1.n"), 2);
    CHECK_STR(text_at(&caller, "attempts_list.1.outcome"), "completed");
    CHECK_STR(text_at(&caller, "attempts_list.1.ended_at"), "2027-01-15T08:00:01.000Z");
    CHECK(json_is_null(part(&caller, "attempts_list.1.error")), "%s", caller.text);
    CHECK_STR(text_at(&caller, "why.code"), "step_done");

    struct task_held ship = take(&caller, "ship");
    get(&caller, "/v1/steps/%s.1", id);
    CHECK_INT(int_at(&caller, "previous_seq"), 0);
    CHECK_INT(json_array_size(part(&caller, "attempts_list")), 1);
    CHECK(json_is_null(part(&caller, "attempts_list.0.outcome")), "%s", caller.text);
    CHECK(json_is_null(part(&caller, "attempts_list.0.ended_at")), "%s", caller.text);
    CHECK_STR(text_at(&caller, "why.code"), "working");
    char target[160];
    snprintf(target, sizeof target, "/v1/tasks/%s/dead", ship.id);
    call_for(&caller, 200, "POST", target,
             "{\"worker\":\"w\",\"token\":\"%s\",\"error\":\"no carrier\"}", ship.token);
    report(&caller, "uncharge", "complete", "");
    get(&caller, "/v1/steps/%s.0", id);
    CHECK_INT(json_array_size(part(&caller, "attempts_list")), 3);
    CHECK_STR(text_at(&caller, "attempts_list.2.kind"), "undo");
    CHECK_INT(int_at(&caller, "attempts_list.2.n"), 1);
    CHECK_STR(text_at(&caller, "attempts_list.2.outcome"), "completed");
    CHECK_STR(text_at(&caller, "why.code"), "undone");
    get(&caller, "/v1/steps/%s.1", id);
    CHECK_STR(text_at(&caller, "attempts_list.0.outcome"), "failed");
    CHECK_STR(text_at(&caller, "why.code"), "undone");

    snprintf(target, sizeof target, "/v1/steps/%s.2", id);
    call_for(&caller, 404, "GET", target, NULL);
    call_for(&caller, 404, "GET", "/v1/steps/nothing", NULL);
    snprintf(target, sizeof target, "/v1/steps/%s", id);
    call_for(&caller, 404, "GET", target, NULL);
    caller_close(&caller);
}

TEST(a_step_that_waits_or_was_passed_over_says_why)
{
    struct caller caller;
    caller_open(&caller);
    call_for(&caller, 201, "POST", "/v1/workflows",
             "{workflow: order, version: 1, steps: ["
             "{condition: is_large, when: '{{ gt .n 10 }}', then: [{human: ok}], else: [{step: "
             "no}]},"
             "{fork: both, join: all, branches: [[{step: a}], [{step: b}]]}, {step: end}]}");
    const char *id = start(&caller, "order", "{\"n\": 50}");
    get(&caller, "/v1/steps/%s.1", id);
    CHECK_STR(text_at(&caller, "name"), "ok");
    CHECK_STR(text_at(&caller, "why.code"), "decision");
    CHECK_INT(int_at(&caller, "previous_seq"), 0);
    get(&caller, "/v1/steps/%s.2", id);
    CHECK_STR(text_at(&caller, "name"), "no");
    CHECK_STR(text_at(&caller, "why.code"), "not_taken");
    CHECK_STR(text_at(&caller, "why.values.condition"), "is_large");
    char target[160];
    snprintf(target, sizeof target, "/v1/instances/%s/steps/ok/decision", id);
    call_for(&caller, 200, "POST", target, "{\"decision\":\"confirmed\",\"by\":\"ann\"}");
    get(&caller, "/v1/steps/%s.1", id);
    CHECK_STR(text_at(&caller, "why.code"), "decided");
    CHECK_STR(text_at(&caller, "why.values.by"), "ann");
    get(&caller, "/v1/steps/%s.3", id);
    CHECK_STR(text_at(&caller, "name"), "both");
    CHECK_INT(int_at(&caller, "previous_seq"), 1); /* not the list that was not taken */
    get(&caller, "/v1/steps/%s.5", id);
    CHECK_STR(text_at(&caller, "name"), "b");
    CHECK_INT(int_at(&caller, "previous_seq"), 3);
    get(&caller, "/v1/steps/%s.6", id);
    CHECK_STR(text_at(&caller, "kind"), "join");
    CHECK_STR(text_at(&caller, "why.code"), "joining");
    CHECK_STR(text_at(&caller, "why.values.names"), "a, b");
    get(&caller, "/v1/steps/%s.7", id);
    CHECK_STR(text_at(&caller, "why.code"), "not_yet");
    CHECK_INT(int_at(&caller, "previous_seq"), 6);
    caller_close(&caller);
}

TEST(payloads_come_alone_as_they_are_kept)
{
    struct caller caller;
    char target[160];
    caller_open(&caller);
    call_for(&caller, 201, "POST", "/v1/workflows",
             "{workflow: order, version: 1, dlq: true, steps: [{step: charge}]}");
    const char *id = start(&caller, "order", "{\"n\":9007199254740993}");
    get(&caller, "/v1/instances/%s/input", id);
    CHECK(strstr(caller.text, "9007199254740993") && caller.text[0] == '{', "%s", caller.text);
    CHECK_STR(caller.type, "application/json");
    get(&caller, "/v1/instances/%s/output", id);
    CHECK_STR(caller.text, "null");
    get(&caller, "/v1/steps/%s.0/input", id);
    CHECK(strstr(caller.text, "9007199254740993"), "%s", caller.text);
    get(&caller, "/v1/steps/%s.0/output", id);
    CHECK_STR(caller.text, "null");
    report(&caller, "charge", "dead", ",\"error\":\"no\"");
    call_for(&caller, 200, "GET", "/v1/dlq/1/input", NULL);
    CHECK(strstr(caller.text, "9007199254740993"), "%s", caller.text);
    call_for(&caller, 200, "POST", "/v1/dlq/1/requeue", "{}");
    report(&caller, "charge", "complete", ",\"output\":[1]");
    get(&caller, "/v1/steps/%s.0/output", id);
    CHECK_STR(caller.text, "[1]");
    get(&caller, "/v1/instances/%s/output", id);
    CHECK_STR(caller.text, "[1]");

    call_for(&caller, 201, "POST", "/v1/jobs", "{\"type\":\"j\",\"payload\":\"text\"}");
    const char *job = kept_id(&caller);
    get(&caller, "/v1/jobs/%s/payload", job);
    CHECK_STR(caller.text, "\"text\"");
    get(&caller, "/v1/jobs/%s/result", job);
    CHECK_STR(caller.text, "null");
    report(&caller, "j", "complete", ",\"output\":false");
    get(&caller, "/v1/jobs/%s/result", job);
    CHECK_STR(caller.text, "false");
    snprintf(target, sizeof target, "/v1/instances/%s/input", job);
    call_for(&caller, 404, "GET", target, NULL);
    call_for(&caller, 404, "GET", "/v1/dlq/17/input", NULL);
    caller_close(&caller);
}

TEST(signals_and_outbox_of_an_instance_are_listed_in_pages)
{
    struct caller caller;
    char target[160];
    caller_open(&caller);
    call_for(&caller, 201, "POST", "/v1/workflows",
             "{workflow: order, version: 1, steps: [{step: charge}, {wait: paid, event: paid}, "
             "{step: end}]}");
    const char *id = start(&caller, "order", "{}"), *other = start(&caller, "order", "{}");
    snprintf(target, sizeof target, "/v1/instances/%s/signal", id);
    call_for(&caller, 201, "POST", target,
             "{\"event\":\"paid\",\"id\":\"s1\",\"payload\":[1]}");
    call_for(&caller, 201, "POST", target, "{\"event\":\"late\",\"id\":\"s2\"}");
    report(&caller, "charge", "complete",
           ",\"outbound\":[{\"event\":\"e1\",\"payload\":{\"a\":1}},{\"event\":\"e2\"}]");
    get(&caller, "/v1/instances/%s/signals", id);
    CHECK_INT(json_array_size(part(&caller, "items")), 2);
    CHECK_STR(text_at(&caller, "items.0.id"), "s1");
    CHECK_STR(text_at(&caller, "items.0.event"), "paid");
    CHECK_INT(int_at(&caller, "items.0.taken_by"), 1);
    CHECK_INT(int_at(&caller, "items.0.payload.0"), 1);
    CHECK_STR(text_at(&caller, "items.1.id"), "s2");
    CHECK(json_is_null(part(&caller, "items.1.taken_by")), "%s", caller.text);
    CHECK_STR(text_at(&caller, "items.1.received_at"), "2027-01-15T08:00:00.000Z");
    get(&caller, "/v1/instances/%s/signals?limit=1", id);
    CHECK_INT(json_array_size(part(&caller, "items")), 1);
    snprintf(target, sizeof target, "/v1/instances/%s/signals?limit=1&cursor=%s", id,
             text_at(&caller, "next"));
    call_for(&caller, 200, "GET", target, NULL);
    CHECK_STR(text_at(&caller, "items.0.id"), "s2");
    CHECK(json_is_null(part(&caller, "next")), "%s", caller.text);
    get(&caller, "/v1/instances/%s/signals", other);
    CHECK_INT(json_array_size(part(&caller, "items")), 0);

    call_for(&caller, 200, "POST", "/v1/outbox/claim", "{\"worker\":\"d\",\"max\":1}");
    snprintf(target, sizeof target, "/v1/outbox/%s/ack", text_at(&caller, "events.0.id"));
    call_for(&caller, 200, "POST", target, NULL);
    call_for(&caller, 200, "POST", "/v1/outbox/claim", "{\"worker\":\"d\",\"max\":1}");
    get(&caller, "/v1/instances/%s/outbox", id);
    CHECK_INT(json_array_size(part(&caller, "items")), 2);
    CHECK_STR(text_at(&caller, "items.0.event"), "e1");
    CHECK_INT(int_at(&caller, "items.0.payload.a"), 1);
    CHECK_STR(text_at(&caller, "items.0.acknowledged_at"), "2027-01-15T08:00:00.000Z");
    CHECK_STR(text_at(&caller, "items.1.event"), "e2");
    CHECK_STR(text_at(&caller, "items.1.step"), "charge");
    CHECK_STR(text_at(&caller, "items.1.claimed_by"), "d");
    CHECK(json_is_null(part(&caller, "items.1.acknowledged_at")), "%s", caller.text);
    get(&caller, "/v1/instances/%s/outbox", other);
    CHECK_INT(json_array_size(part(&caller, "items")), 0);
    call_for(&caller, 404, "GET", "/v1/instances/nobody/outbox", NULL);
    caller_close(&caller);
}
