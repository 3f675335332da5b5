/* tests/api/test_commit.c - functions over JSON: passages by hand, and what a commit may say.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "calling.h"
#include "scratch.h"

#include <stdlib.h>
#include <string.h>

/* A passage in our hands. */
struct passage {
    char id[64], token[64], instance[64];
    long long revision;
};

static void copy_passage(struct caller *caller, struct passage *ret_passage)
{
    snprintf(ret_passage->id, sizeof ret_passage->id, "%s", text_at(caller, "tasks.0.id"));
    snprintf(ret_passage->token, sizeof ret_passage->token, "%s",
             text_at(caller, "tasks.0.token"));
    snprintf(ret_passage->instance, sizeof ret_passage->instance, "%s",
             text_at(caller, "tasks.0.instance_id"));
    ret_passage->revision = int_at(caller, "tasks.0.revision");
}

/* Claims the next passage, which must be there. */
static struct passage claim(struct caller *caller)
{
    struct passage passage;
    call_for(caller, 200, "POST", "/v1/tasks/claim",
             "{\"worker\":\"w\",\"types\":[\"order\"]}");
    CHECK(json_array_size(part(caller, "tasks")) == 1, "no passage: %s", caller->text);
    copy_passage(caller, &passage);
    return passage;
}

static void check_none_due(struct caller *caller)
{
    call_for(caller, 200, "POST", "/v1/tasks/claim",
             "{\"worker\":\"w\",\"types\":[\"order\"]}");
    CHECK(json_array_size(part(caller, "tasks")) == 0, "%s", caller->text);
}

/* Deploys the function "order", starts an instance and claims its first passage. */
static struct passage begin(struct caller *caller)
{
    caller_open(caller);
    call_for(caller, 201, "POST", "/v1/workflows", "{\"function\":\"order\",\"version\":2}");
    call_for(caller, 201, "POST", "/v1/instances",
             "{\"workflow\":\"order\",\"input\":{\"n\":1}}");
    return claim(caller);
}

static const char *commit_target(const struct passage *passage)
{
    static char target[120];
    snprintf(target, sizeof target, "/v1/tasks/%s/commit", passage->id);
    return target;
}

/* `more` begins with a comma. */
static void commit_for(struct caller *caller, int status, struct passage *passage,
                       const char *outcome, const char *more)
{
    call_for(caller, status, "POST", commit_target(passage),
             "{\"worker\":\"w\",\"token\":\"%s\",\"revision\":%lld,\"outcome\":\"%s\"%s}",
             passage->token, passage->revision, outcome, more);
    if (status == 200)
        passage->revision = int_at(caller, "revision");
}

static const char *about(const struct passage *passage, const char *rest)
{
    static char targets[4][160];
    static unsigned turn;
    char *target = targets[turn++ % 4];
    snprintf(target, sizeof targets[0], "/v1/instances/%s%s", passage->instance, rest);
    return target;
}

static const char *status_of(struct caller *caller, const struct passage *passage)
{
    call_for(caller, 200, "GET", about(passage, ""), NULL);
    return text_at(caller, "status");
}

#define STEP(seq, key, kind, status, more)                                            \
    "{\"seq\":" seq ",\"key\":\"" key "\",\"kind\":\"" kind "\",\"status\":\"" status \
    "\"" more "}"

/* ---- passages -------------------------------------------------------------------------------- */

TEST(a_functions_task_brings_what_is_remembered)
{
    struct caller caller;
    struct passage passage = begin(&caller);
    CHECK_STR(text_at(&caller, "tasks.0.kind"), "function");
    CHECK_STR(text_at(&caller, "tasks.0.type"), "order");
    CHECK_STR(text_at(&caller, "tasks.0.step"), "order");
    CHECK_INT(int_at(&caller, "tasks.0.input.n"), 1);
    CHECK_INT(int_at(&caller, "tasks.0.version"), 2);
    CHECK_INT(int_at(&caller, "tasks.0.places"), 1);
    CHECK(json_is_false(part(&caller, "tasks.0.forced")), "%s", caller.text);
    CHECK_INT(json_array_size(part(&caller, "tasks.0.steps")), 0);
    CHECK_INT(json_array_size(part(&caller, "tasks.0.events")), 0);
    CHECK_INT(json_object_size(part(&caller, "tasks.0")), 20);

    call_for(&caller, 201, "POST", about(&passage, "/signal"),
             "{\"event\":\"paid\",\"id\":\"s1\",\"payload\":{\"a\": 0.1}}");
    commit_for(&caller, 200, &passage, "suspend",
               ",\"steps\":[" STEP("1", "a", "task", "completed",
                                   ",\"input\":[1],\"output\":{\"b\": 0.1}") "]");
    claim(&caller);
    CHECK_INT(int_at(&caller, "tasks.0.places"), 2);
    CHECK_INT(json_array_size(part(&caller, "tasks.0.steps")), 1);
    CHECK_INT(int_at(&caller, "tasks.0.steps.0.seq"), 1);
    CHECK_STR(text_at(&caller, "tasks.0.steps.0.name"), "a");
    CHECK_STR(text_at(&caller, "tasks.0.steps.0.kind"), "task");
    CHECK_STR(text_at(&caller, "tasks.0.steps.0.status"), "completed");
    CHECK(strstr(caller.text, "\"output\":{\"b\": 0.1}"), "%s", caller.text);
    CHECK_INT(json_array_size(part(&caller, "tasks.0.events")), 1);
    CHECK_STR(text_at(&caller, "tasks.0.events.0.id"), "s1");
    CHECK_STR(text_at(&caller, "tasks.0.events.0.event"), "paid");
    CHECK(strstr(caller.text, "\"payload\":{\"a\": 0.1}"), "%s", caller.text);
    CHECK_STR(text_at(&caller, "tasks.0.events.0.received_at"), "2027-01-15T08:00:00.000Z");
    caller_close(&caller);
}

/* From the first step to the output: go on, sleep, wait for a signal, complete. */
TEST(a_whole_function_is_executed_by_hand)
{
    struct caller caller;
    struct passage passage = begin(&caller);
    long long first = passage.revision;
    commit_for(&caller, 200, &passage, "go_on",
               ",\"extend_ms\":5000,\"steps\":[" STEP("1", "reserve", "task", "completed",
                                                      ",\"output\":4") "]");
    CHECK_INT(json_object_size(caller.body), 7);
    CHECK_STR(text_at(&caller, "status"), "running");
    CHECK(!text_at(&caller, "stop"), "%s", caller.text);
    CHECK_STR(text_at(&caller, "lease_until"), "2027-01-15T08:00:05.000Z");
    CHECK(json_is_false(part(&caller, "conflict")), "%s", caller.text);
    CHECK(passage.revision > first, "the revision is still %lld", first);

    commit_for(&caller, 200, &passage, "suspend",
               ",\"steps\":[" STEP("2", "nap", "sleep", "waiting", ",\"delay_ms\":60000") "]");
    CHECK_STR(text_at(&caller, "status"), "waiting");
    CHECK(!text_at(&caller, "lease_until"), "%s", caller.text);
    check_none_due(&caller);
    call_for(&caller, 200, "POST", "/v1/clock/advance", "{\"ms\":60000}");

    passage = claim(&caller);
    CHECK_STR(text_at(&caller, "tasks.0.steps.1.status"), "completed");
    commit_for(&caller, 200, &passage, "suspend",
               ",\"steps\":[" STEP("3", "paid", "wait", "waiting",
                                   ",\"event\":\"payment\",\"timeout_ms\":600000") "]");
    CHECK_STR(status_of(&caller, &passage), "waiting_signal");
    call_for(&caller, 201, "POST", about(&passage, "/signal"),
             "{\"event\":\"payment\",\"payload\":{\"amount\":12}}");
    CHECK(json_is_true(part(&caller, "taken")), "%s", caller.text);

    passage = claim(&caller);
    CHECK_INT(json_array_size(part(&caller, "tasks.0.steps")), 3);
    CHECK_INT(int_at(&caller, "tasks.0.steps.2.output.amount"), 12);
    commit_for(&caller, 200, &passage, "complete", ",\"output\":{\"ok\":true}");
    CHECK_STR(text_at(&caller, "status"), "completed");
    CHECK_STR(status_of(&caller, &passage), "completed");
    CHECK(json_is_true(part(&caller, "output.ok")), "%s", caller.text);
    caller_close(&caller);
}

TEST(a_step_that_is_called_again_has_its_passage_then)
{
    struct caller caller;
    struct passage passage = begin(&caller);
    commit_for(&caller, 200, &passage, "suspend",
               ",\"steps\":[" STEP("1", "a", "task", "ready",
                                   ",\"error\":\"no\",\"attempts\":1,\"max_attempts\":3,"
                                   "\"delay_ms\":7000") "]");
    CHECK_STR(text_at(&caller, "status"), "ready");
    check_none_due(&caller);
    call_for(&caller, 200, "POST", "/v1/clock/advance", "{\"ms\":7000}");
    passage = claim(&caller);
    CHECK_STR(text_at(&caller, "tasks.0.steps.0.status"), "ready");
    CHECK_STR(text_at(&caller, "tasks.0.steps.0.error"), "no");
    CHECK_INT(int_at(&caller, "tasks.0.steps.0.attempts"), 1);
    CHECK_INT(int_at(&caller, "tasks.0.steps.0.max_attempts"), 3);
    commit_for(&caller, 200, &passage, "fail",
               ",\"error\":\"gone\",\"failed_step\":\"a\",\"steps\":[" STEP(
                   "1", "a", "task", "failed", ",\"error\":\"gone\",\"attempts\":2") "]");
    CHECK_STR(text_at(&caller, "status"), "failed");
    CHECK_STR(status_of(&caller, &passage), "failed");
    CHECK_STR(text_at(&caller, "last_error.step"), "a");
    CHECK_STR(text_at(&caller, "last_error.message"), "gone");
    caller_close(&caller);
}

TEST(a_sleep_may_have_an_end_instead_of_a_length)
{
    struct caller caller;
    struct passage passage = begin(&caller);
    commit_for(&caller, 200, &passage, "suspend",
               ",\"steps\":[" STEP("1", "nap", "sleep", "waiting",
                                   ",\"until\":\"2027-01-15T09:00:00.000Z\"") "]");
    call_for(&caller, 200, "POST", "/v1/clock/advance", "{\"ms\":3599999}");
    check_none_due(&caller);
    call_for(&caller, 200, "POST", "/v1/clock/advance", "{\"ms\":1}");
    claim(&caller);
    caller_close(&caller);
}

TEST(a_completed_wait_takes_a_signal_of_the_task)
{
    struct caller caller;
    struct passage passage = begin(&caller);
    call_for(&caller, 201, "POST", about(&passage, "/signal"),
             "{\"event\":\"e\",\"id\":\"s1\",\"payload\":7}");
    commit_for(&caller, 200, &passage, "go_on",
               ",\"steps\":[" STEP("1", "e", "wait", "completed",
                                   ",\"event\":\"e\",\"signal_id\":\"s1\",\"output\":7") "]");
    CHECK(json_is_true(part(&caller, "conflict")), "the signal is news: %s", caller.text);
    CHECK_INT(json_array_size(part(&caller, "events")), 0);
    commit_for(&caller, 200, &passage, "suspend", "");
    claim(&caller);
    CHECK_INT(json_array_size(part(&caller, "tasks.0.events")), 0);
    CHECK_INT(int_at(&caller, "tasks.0.steps.0.output"), 7);
    caller_close(&caller);
}

TEST(a_conflict_brings_the_signals_anew)
{
    struct caller caller;
    struct passage passage = begin(&caller);
    call_for(&caller, 201, "POST", about(&passage, "/signal"),
             "{\"event\":\"e\",\"id\":\"s1\",\"payload\":7}");
    commit_for(&caller, 200, &passage, "go_on", "");
    CHECK(json_is_true(part(&caller, "conflict")), "%s", caller.text);
    CHECK_STR(text_at(&caller, "events.0.id"), "s1");
    CHECK_INT(int_at(&caller, "events.0.payload"), 7);
    commit_for(&caller, 200, &passage, "go_on", "");
    CHECK(json_is_false(part(&caller, "conflict")), "%s", caller.text);
    CHECK_INT(json_array_size(part(&caller, "events")), 0);
    caller_close(&caller);
}

TEST(a_passage_is_told_of_a_pause_and_of_a_cancel)
{
    struct caller caller;
    struct passage passage = begin(&caller);
    call_for(&caller, 200, "POST", about(&passage, "/pause"), NULL);
    commit_for(&caller, 200, &passage, "go_on",
               ",\"steps\":[" STEP("1", "a", "task", "completed",
                                   ",\"compensation\":{\"handler\":\"undo.a\"}") "]");
    CHECK_STR(text_at(&caller, "stop"), "paused");
    commit_for(&caller, 200, &passage, "suspend", "");
    check_none_due(&caller);
    call_for(&caller, 200, "POST", about(&passage, "/resume"), NULL);

    passage = claim(&caller);
    call_for(&caller, 200, "POST", about(&passage, "/cancel"),
             "{\"by\":\"ann\",\"reason\":\"twice\"}");
    commit_for(&caller, 200, &passage, "suspend",
               ",\"steps\":[" STEP("2", "b", "task", "completed",
                                   ",\"compensation\":{\"handler\":\"undo.b\","
                                   "\"max_attempts\":5,\"timeout_ms\":1000}") "]");
    CHECK_STR(text_at(&caller, "stop"), "cancelled");
    CHECK_STR(status_of(&caller, &passage), "compensating");
    call_for(&caller, 200, "POST", "/v1/tasks/claim",
             "{\"worker\":\"w\",\"types\":[\"undo.%%\"]}");
    CHECK_STR(text_at(&caller, "tasks.0.type"), "undo.b");
    CHECK_STR(text_at(&caller, "tasks.0.kind"), "compensation");
    CHECK_INT(int_at(&caller, "tasks.0.max_attempts"), 5);
    caller_close(&caller);
}

TEST(code_that_does_not_match_pauses_until_it_is_forced)
{
    struct caller caller;
    struct passage passage = begin(&caller);
    commit_for(
        &caller, 200, &passage, "mismatch",
        ",\"error\":\"version_mismatch: \\\"a\\\" is remembered\",\"failed_step\":\"a\"");
    CHECK_STR(status_of(&caller, &passage), "paused");
    CHECK_STR(text_at(&caller, "last_error.step"), "a");
    CHECK_STR(text_at(&caller, "last_error.message"), "version_mismatch: \"a\" is remembered");
    check_none_due(&caller);
    call_for(&caller, 200, "POST", about(&passage, "/resume"), "{\"force\":true}");
    claim(&caller);
    CHECK(json_is_true(part(&caller, "tasks.0.forced")), "%s", caller.text);
    caller_close(&caller);
}

TEST(what_is_started_is_recorded_with_the_commit)
{
    static const char job[] = "11111111-1111-4111-8111-111111111111";
    static const char flow[] = "22222222-2222-4222-8222-222222222222";
    struct caller caller;
    struct passage passage = begin(&caller);
    char more[900], target[80];
    const char *known = add_job(&caller, "known");
    call_for(&caller, 201, "POST", "/v1/jobs", "{\"type\":\"mail\",\"key\":\"k\"}");
    known = text_at(&caller, "id");
    char known_id[64];
    snprintf(known_id, sizeof known_id, "%s", known);
    snprintf(
        more, sizeof more,
        ",\"steps\":[" STEP("1", "mail", "start", "completed", ",\"output\":{\"id\":\"%s\"}") "," STEP(
            "2", "order", "start", "completed",
            ",\"output\":{\"id\":\"%s\"}") "," STEP("3", "again", "start", "completed",
                                                    ",\"output\":{\"id\":\"%s\"}") "],"
                                                                                   "\"jobs\":[{"
                                                                                   "\"id\":\"%"
                                                                                   "s\","
                                                                                   "\"seq\":1,"
                                                                                   "\"type\":"
                                                                                   "\"mail\","
                                                                                   "\"payload\""
                                                                                   ":{\"to\":1}"
                                                                                   ","
                                                                                   "\"priority"
                                                                                   "\":7,\"max_"
                                                                                   "attempts\":"
                                                                                   "9,\"run_"
                                                                                   "at\":"
                                                                                   "\"2027-02-"
                                                                                   "01T00:00:"
                                                                                   "00Z\"},"
                                                                                   "{\"id\":"
                                                                                   "\"33333333-"
                                                                                   "3333-4333-"
                                                                                   "8333-"
                                                                                   "33333333333"
                                                                                   "3\","
                                                                                   "\"seq\":3,"
                                                                                   "\"type\":"
                                                                                   "\"mail\","
                                                                                   "\"key\":"
                                                                                   "\"k\"}],"
                                                                                   "\"instances"
                                                                                   "\":[{"
                                                                                   "\"id\":\"%"
                                                                                   "s\","
                                                                                   "\"seq\":2,"
                                                                                   "\"workflow"
                                                                                   "\":"
                                                                                   "\"order\","
                                                                                   "\"version\""
                                                                                   ":2,"
                                                                                   "\"input\":["
                                                                                   "3],\"key\":"
                                                                                   "\"c\"}]",
        job, flow, "33333333-3333-4333-8333-333333333333", job, flow);
    commit_for(&caller, 200, &passage, "suspend", more);
    CHECK_INT(json_array_size(part(&caller, "started")), 3);
    CHECK_STR(text_at(&caller, "started.0.id"), job);
    CHECK_STR(text_at(&caller, "started.1.id"), known_id);
    CHECK(json_is_true(part(&caller, "started.1.existing")), "%s", caller.text);
    CHECK_STR(text_at(&caller, "started.2.id"), flow);

    snprintf(target, sizeof target, "/v1/jobs/%s", job);
    call_for(&caller, 200, "GET", target, NULL);
    CHECK_INT(int_at(&caller, "priority"), 7);
    CHECK_INT(int_at(&caller, "max_attempts"), 9);
    CHECK_INT(int_at(&caller, "payload.to"), 1);
    CHECK_STR(text_at(&caller, "run_at"), "2027-02-01T00:00:00.000Z");
    snprintf(target, sizeof target, "/v1/instances/%s", flow);
    call_for(&caller, 200, "GET", target, NULL);
    CHECK_STR(text_at(&caller, "key"), "c");
    CHECK_INT(int_at(&caller, "input.0"), 3);
    call_for(&caller, 200, "GET", about(&passage, "/steps"), NULL);
    CHECK_STR(text_at(&caller, "items.3.output.id"), known_id);
    caller_close(&caller);
}

TEST(a_commit_may_take_the_next_task)
{
    struct caller caller;
    struct passage passage = begin(&caller);
    commit_for(&caller, 200, &passage, "suspend",
               ",\"steps\":[" STEP("1", "a", "task", "completed",
                                   "") "],"
                                       "\"claim\":{\"types\":[\"order\"],\"max\":2}");
    CHECK_INT(json_array_size(part(&caller, "tasks")), 1);
    CHECK_STR(text_at(&caller, "tasks.0.steps.0.name"), "a");
    copy_passage(&caller, &passage);
    commit_for(&caller, 200, &passage, "complete", ",\"claim\":{\"types\":[\"order\"]}");
    CHECK_INT(json_array_size(part(&caller, "tasks")), 0);
    caller_close(&caller);
}

TEST(events_of_a_step_go_to_the_outbox)
{
    struct caller caller;
    struct passage passage = begin(&caller);
    commit_for(&caller, 200, &passage, "suspend",
               ",\"steps\":[" STEP("1", "a", "task", "completed",
                                   ",\"outbound\":[{\"event\":\"e\",\"payload\":[1]},"
                                   "{\"event\":\"f\"}]") "]");
    call_for(&caller, 200, "POST", "/v1/outbox/claim", "{\"worker\":\"d\",\"max\":5}");
    CHECK_STR(text_at(&caller, "events.0.event"), "e");
    CHECK_STR(text_at(&caller, "events.0.step"), "a");
    CHECK_INT(int_at(&caller, "events.0.payload.0"), 1);
    caller_close(&caller);
}

TEST(a_commit_without_its_lease_changes_nothing)
{
    struct caller caller;
    struct passage passage = begin(&caller), stranger = passage;
    strcpy(stranger.token, "0000000000000000");
    commit_for(&caller, 409, &stranger, "complete", "");
    CHECK_STR(text_at(&caller, "code"), "lease_lost");
    strcpy(stranger.id, "nothing");
    commit_for(&caller, 409, &stranger, "complete", "");
    CHECK_STR(text_at(&caller, "code"), "lease_lost");
    call_for(&caller, 200, "POST", "/v1/clock/advance", "{\"ms\":30001}");
    commit_for(&caller, 409, &passage, "complete",
               ",\"steps\":[" STEP("1", "a", "task", "completed", "") "]");
    CHECK_STR(text_at(&caller, "code"), "lease_lost");
    call_for(&caller, 200, "GET", about(&passage, "/steps"), NULL);
    CHECK_INT(json_array_size(part(&caller, "items")), 1);
    caller_close(&caller);
}

TEST(a_commit_that_comes_twice_is_taken_once)
{
    static const char step[] = ",\"steps\":[" STEP(
        "1", "a", "task", "completed", "") "],"
                                           "\"logs\":[{\"level\":\"info\",\"message\":\"m\"}]";
    struct caller caller;
    struct passage passage = begin(&caller), again = passage;
    commit_for(&caller, 200, &passage, "go_on", step);
    commit_for(&caller, 200, &again, "go_on", step);
    again = passage;
    commit_for(&caller, 200, &passage, "complete", "");
    commit_for(&caller, 200, &again, "complete", "");
    CHECK_STR(text_at(&caller, "status"), "completed");
    call_for(&caller, 200, "GET", about(&passage, "/steps"), NULL);
    CHECK_INT(json_array_size(part(&caller, "items")), 2);
    call_for(&caller, 200, "GET", about(&passage, "/logs"), NULL);
    CHECK_INT(json_array_size(part(&caller, "items")), 1);
    caller_close(&caller);
}

TEST(a_heartbeat_of_0_only_looks)
{
    struct caller caller;
    struct passage passage = begin(&caller);
    char target[120];
    snprintf(target, sizeof target, "/v1/tasks/%s/heartbeat", passage.id);
    call_for(&caller, 200, "POST", "/v1/clock/advance", "{\"ms\":1000}");
    call_for(&caller, 200, "POST", target,
             "{\"worker\":\"w\",\"token\":\"%s\",\"extend_ms\":0}", passage.token);
    CHECK_STR(text_at(&caller, "lease_until"), "2027-01-15T08:00:30.000Z");
    CHECK(!text_at(&caller, "stop"), "%s", caller.text);
    call_for(&caller, 200, "POST", about(&passage, "/cancel"),
             "{\"by\":\"ann\",\"reason\":\"twice\"}");
    call_for(&caller, 200, "POST", target,
             "{\"worker\":\"w\",\"token\":\"%s\",\"extend_ms\":0}", passage.token);
    CHECK_STR(text_at(&caller, "stop"), "cancelled");
    caller_close(&caller);
}

TEST(the_figures_count_passages)
{
    struct caller caller;
    struct passage passage = begin(&caller);
    call_for(&caller, 201, "POST", about(&passage, "/signal"), "{\"event\":\"e\"}");
    commit_for(&caller, 200, &passage, "go_on", "");
    commit_for(&caller, 200, &passage, "complete", "");
    call_for(&caller, 200, "GET", "/v1/stats", NULL);
    CHECK_INT(int_at(&caller, "passages"), 1);
    CHECK_INT(int_at(&caller, "passage_commits"), 2);
    CHECK_INT(int_at(&caller, "passage_conflicts"), 1);
    call_for(&caller, 200, "GET", "/metrics", NULL);
    CHECK(strstr(caller.text, "\ncairn_passages_total 1\n"), "%s", caller.text);
    CHECK(strstr(caller.text, "\ncairn_passage_commits_total 2\n"), "%s", caller.text);
    CHECK(strstr(caller.text, "\ncairn_passage_conflicts_total 1\n"), "%s", caller.text);
    caller_close(&caller);
}

/* ---- logs ------------------------------------------------------------------------------------ */

TEST(logs_come_in_order_and_in_pages)
{
    struct caller caller;
    struct passage passage = begin(&caller);
    commit_for(&caller, 200, &passage, "go_on",
               ",\"logs\":[{\"level\":\"debug\",\"message\":\"one\"},"
               "{\"level\":\"info\",\"message\":\"two\",\"data\":{\"a\": 0.1},\"step\":\"s#2\","
               "\"attempt\":3}]");
    commit_for(&caller, 200, &passage, "complete",
               ",\"logs\":[{\"level\":\"warn\",\"message\":\"three\",\"data\":null},"
               "{\"level\":\"error\",\"message\":\"\"}]");
    call_for(&caller, 200, "GET", about(&passage, "/logs?limit=3"), NULL);
    CHECK_INT(json_array_size(part(&caller, "items")), 3);
    CHECK_INT(json_object_size(part(&caller, "items.0")), 7);
    CHECK_STR(text_at(&caller, "items.0.level"), "debug");
    CHECK_STR(text_at(&caller, "items.0.message"), "one");
    CHECK(json_is_null(part(&caller, "items.0.data")), "%s", caller.text);
    CHECK(!text_at(&caller, "items.0.step"), "%s", caller.text);
    CHECK_INT(int_at(&caller, "items.0.attempt"), 0);
    CHECK_STR(text_at(&caller, "items.0.at"), "2027-01-15T08:00:00.000Z");
    CHECK(strstr(caller.text, "\"data\":{\"a\": 0.1}"), "%s", caller.text);
    CHECK_STR(text_at(&caller, "items.1.step"), "s#2");
    CHECK_INT(int_at(&caller, "items.1.attempt"), 3);
    char rest[80];
    snprintf(rest, sizeof rest, "/logs?cursor=%s", text_at(&caller, "next"));
    call_for(&caller, 200, "GET", about(&passage, rest), NULL);
    CHECK_INT(json_array_size(part(&caller, "items")), 1);
    CHECK_STR(text_at(&caller, "items.0.level"), "error");
    CHECK_STR(text_at(&caller, "items.0.message"), "");
    CHECK(!text_at(&caller, "next"), "%s", caller.text);
    caller_close(&caller);
}

TEST(logs_of_nobody_are_not_found)
{
    struct caller caller;
    struct passage passage = begin(&caller);
    call_for(&caller, 404, "GET", "/v1/instances/x/logs", NULL);
    call_for(&caller, 404, "GET", "/v1/instances/11111111-1111-4111-8111-111111111111/logs",
             NULL);
    call_for(&caller, 400, "GET", about(&passage, "/logs?cursor=x"), NULL);
    call_for(&caller, 400, "GET", about(&passage, "/logs?limit=0"), NULL);
    call_for(&caller, 400, "GET", about(&passage, "/logs?level=info"), NULL);
    call_for(&caller, 200, "GET", about(&passage, "/logs"), NULL);
    CHECK_INT(json_array_size(part(&caller, "items")), 0);
    caller_close(&caller);
}

/* ---- what is refused ------------------------------------------------------------------------- */

/* A valid commit with everything in it; `from` is replaced by `to`. */
static char *changed_commit(const struct passage *passage, const char *from, const char *to)
{
    char text[2000], *changed = calloc(1, sizeof text + strlen(to));
    snprintf(
        text, sizeof text,
        "{\"worker\":\"w\",\"token\":\"%s\",\"revision\":%lld,\"outcome\":\"go_on\","
        "\"output\":null,\"error\":\"e\",\"failed_step\":\"f\",\"extend_ms\":9000,"
        "\"steps\":[" STEP(
            "1", "k", "task", "completed",
            "") ","
                "{\"seq\":2,\"key\":\"l\",\"kind\":\"task\",\"status\":\"completed\",\"input\":"
                "{},"
                "\"output\":{},\"error\":\"x\",\"attempts\":0,\"max_attempts\":8,\"delay_ms\":"
                "0,"
                "\"until\":null,\"event\":null,\"timeout_ms\":null,\"signal_id\":null,"
                "\"compensation\":{\"handler\":\"h\",\"max_attempts\":6,\"timeout_ms\":70},"
                "\"outbound\":[{\"event\":\"o\",\"payload\":1}]}],"
                "\"logs\":[{\"level\":\"info\",\"message\":\"m\",\"data\":{},\"step\":\"k\","
                "\"attempt\":4}],"
                "\"jobs\":[{\"id\":\"11111111-1111-4111-8111-111111111111\",\"seq\":3,"
                "\"type\":\"t\"}],"
                "\"instances\":[{\"id\":\"22222222-2222-4222-8222-222222222222\",\"seq\":5,"
                "\"workflow\":\"order\"}],"
                "\"claim\":{\"types\":[\"zz\"],\"max\":10}}",
        passage->token, passage->revision);
    const char *at = strstr(text, from);
    CHECK(at, "%s is not in %s", from, text);
    sprintf(changed, "%.*s%s%s", (int)(at - text), text, to, at + strlen(from));
    return changed;
}

TEST(every_field_is_refused_when_it_is_wrong_and_named)
{
    static const struct {
        const char *from, *to, *message;
    } cases[] = {
        {"\"worker\":\"w\"", "\"worker\":1", "\"worker\" must be a string"},
        {"\"worker\":\"w\",", "", "\"worker\" is missing"},
        {"\"token\":", "\"nekot\":", "\"token\" is missing"},
        {"\"revision\":", "\"revision\":-", "\"revision\" must be from 0"},
        {"\"revision\":", "\"revision\":0.5,\"r\":", "\"revision\" must be an integer"},
        {"\"revision\":", "\"r\":", "\"revision\" is missing"},
        {"\"go_on\"", "\"goon\"",
         "\"outcome\" must be go_on, complete, fail, suspend or mismatch, not \"goon\""},
        {"\"go_on\"", "null", "\"outcome\" is missing"},
        {"\"go_on\"", "[]", "\"outcome\" must be a string"},
        {"\"error\":\"e\"", "\"error\":[]", "\"error\" must be a string"},
        {"\"failed_step\":\"f\"", "\"failed_step\":1", "\"failed_step\" must be a string"},
        {"9000", "0", "\"extend_ms\" must be from 1"},
        {"9000", "\"9\"", "\"extend_ms\" must be an integer"},
        {"9000", "4294967296", "\"extend_ms\" must be from 1"},
        {"\"steps\":[", "\"steps\":{},\"x\":[", "\"steps\" must be an array of objects"},
        {"\"steps\":[", "\"steps\":[1,", "\"steps\" must be an array of objects"},
        {"\"seq\":2", "\"seq\":0", "\"steps[1].seq\" must be from 1"},
        {"\"seq\":2", "\"seq\":\"2\"", "\"steps[1].seq\" must be an integer"},
        {"\"seq\":2,", "", "\"steps[1].seq\" is missing"},
        {"\"key\":\"l\",", "", "\"steps[1].key\" is missing"},
        {"\"key\":\"k\"", "\"key\":{}", "\"steps[0].key\" must be a string"},
        {"\"kind\":\"task\"", "\"kind\":\"fork\"",
         "\"steps[0].kind\" must be task, sleep, wait, value or start, not \"fork\""},
        {"\"kind\":\"task\",", "", "\"steps[0].kind\" is missing"},
        {"\"completed\"", "\"running\"",
         "\"steps[0].status\" must be completed, failed, ready, waiting or forgotten"},
        {"\"error\":\"x\"", "\"error\":7", "\"steps[1].error\" must be a string"},
        {"\"attempts\":0", "\"attempts\":-1", "\"steps[1].attempts\" must be from 0"},
        {"\"max_attempts\":8", "\"max_attempts\":0",
         "\"steps[1].max_attempts\" must be from 1"},
        {"\"delay_ms\":0", "\"delay_ms\":-1", "\"steps[1].delay_ms\" must be from 0"},
        {"\"delay_ms\":0", "\"delay_ms\":9000000000000000", "\"steps[1].delay_ms\" must be"},
        {"\"until\":null", "\"until\":\"soon\"", "\"steps[1].until\" must be a time"},
        {"\"event\":null", "\"event\":1", "\"steps[1].event\" must be a string"},
        {"\"timeout_ms\":null", "\"timeout_ms\":-1", "\"steps[1].timeout_ms\" must be from 0"},
        {"\"signal_id\":null", "\"signal_id\":1", "\"steps[1].signal_id\" must be a string"},
        {"\"compensation\":{", "\"compensation\":\"h\",\"x\":{",
         "\"steps[1].compensation\" must be an object"},
        {"\"handler\":\"h\",", "", "\"steps[1].compensation.handler\" is missing"},
        {"\"max_attempts\":6", "\"max_attempts\":-1",
         "\"steps[1].compensation.max_attempts\" must be from 0"},
        {"\"timeout_ms\":70", "\"timeout_ms\":-1",
         "\"steps[1].compensation.timeout_ms\" must be from 0"},
        {"\"handler\":\"h\"", "\"handler\":\"h\",\"y\":1",
         "\"steps[1].compensation.y\" is unknown"},
        {"\"event\":\"o\"", "\"event\":null", "\"steps[1].outbound[0].event\" is missing"},
        {"\"event\":\"o\"", "\"event\":\"o\",\"y\":1", "\"steps[1].outbound[0].y\" is unknown"},
        {"\"outbound\":[", "\"outbound\":1,\"x\":[", "\"steps[1].outbound\" must be an array"},
        {"\"level\":\"info\"", "\"level\":\"loud\"",
         "\"logs[0].level\" must be debug, info, warn or error, not \"loud\""},
        {"\"message\":\"m\",", "", "\"logs[0].message\" is missing"},
        {"\"message\":\"m\"", "\"message\":1", "\"logs[0].message\" must be a string"},
        {"\"step\":\"k\"", "\"step\":1", "\"logs[0].step\" must be a string"},
        {"\"attempt\":4", "\"attempt\":-4", "\"logs[0].attempt\" must be from 0"},
        {"\"attempt\":4", "\"attempt\":4,\"y\":1", "\"logs[0].y\" is unknown"},
        {"\"id\":\"1", "\"di\":\"1", "\"jobs[0].id\" is missing"},
        {"\"seq\":3", "\"seq\":-3", "\"jobs[0].seq\" must be from 1"},
        {"\"type\":\"t\"", "\"type\":7", "\"jobs[0].type\" must be a string"},
        {"\"id\":\"2", "\"di\":\"2", "\"instances[0].id\" is missing"},
        {"\"seq\":5", "\"seq\":null", "\"instances[0].seq\" is missing"},
        {"\"workflow\":\"order\"", "\"workflow\":7", "\"instances[0].workflow\" must be"},
        {"\"types\":[\"zz\"]", "\"types\":[]", "\"claim.types\" must have 1 to 100 entries"},
        {"\"max\":10", "\"max\":0", "\"claim.max\" must be from 1"},
        {"\"max\":10", "\"max\":10,\"y\":1", "\"claim.y\" is unknown"},
        {"\"claim\":", "\"surplus\":1,\"claim\":", "\"surplus\" is unknown"},
        {"\"seq\":1", "\"seq\":1,\"surplus\":1", "\"steps[0].surplus\" is unknown"},
    };
    struct caller caller;
    struct passage passage = begin(&caller);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char *body = changed_commit(&passage, cases[i].from, cases[i].to);
        call(&caller, "POST", commit_target(&passage), "%s", body);
        CHECK(caller.status == 400, "case %zu is %d: %s to %s", i, caller.status, body,
              caller.text);
        CHECK(strstr(text_at(&caller, "message"), cases[i].message), "case %zu: %s, not %s", i,
              text_at(&caller, "message"), cases[i].message);
        free(body);
    }
    call_for(&caller, 200, "GET", about(&passage, "/steps"), NULL);
    CHECK_INT(json_array_size(part(&caller, "items")), 1); /* nothing was kept */
    caller_close(&caller);
}

/* `count` entries in a field of this name. */
static char *long_list(const struct passage *passage, const char *name, size_t count)
{
    size_t room = 300 + count * 80;
    char *body = malloc(room);
    size_t used = (size_t)snprintf(body, room,
                                   "{\"worker\":\"w\",\"token\":\"%s\",\"revision\":%lld,"
                                   "\"outcome\":\"suspend\",\"%s\":[",
                                   passage->token, passage->revision, name);
    for (size_t i = 0; i < count; i++)
        used += (size_t)snprintf(body + used, room - used,
                                 strcmp(name, "steps") == 0
                                     ? "%s{\"seq\":%zu,\"key\":\"k%zu\",\"kind\":\"task\","
                                       "\"status\":\"completed\"}"
                                     : "%s{}",
                                 i ? "," : "", i + 1, i);
    snprintf(body + used, room - used, "]}");
    return body;
}

TEST(lists_are_bounded)
{
    static const char *const names[] = {"steps", "logs", "jobs", "instances"};
    struct caller caller;
    struct passage passage = begin(&caller);
    for (size_t i = 0; i < 4; i++) {
        char *body = long_list(&passage, names[i], 1001);
        call_for(&caller, 413, "POST", commit_target(&passage), "%s", body);
        CHECK_STR(text_at(&caller, "code"), "too_large");
        CHECK(strstr(text_at(&caller, "message"), names[i]), "%s", caller.text);
        free(body);
    }
    char *body = long_list(&passage, "steps", 1000);
    call_for(&caller, 200, "POST", commit_target(&passage), "%s", body);
    free(body);
    claim(&caller);
    CHECK_INT(json_array_size(part(&caller, "tasks.0.steps")), 1000);
    caller_close(&caller);
}

TEST(texts_are_bounded)
{
    static const char *const names[] = {"\"l\"", "\"h\"", "\"f\"", "\"o\"", "\"t\""};
    struct caller caller;
    struct passage passage = begin(&caller);
    for (size_t i = 0; i < 5; i++) {
        char name[260] = "\"";
        memset(name + 1, 'n', 257);
        strcpy(name + 258, "\"");
        char *body = changed_commit(&passage, names[i], name);
        call_for(&caller, 413, "POST", commit_target(&passage), "%s", body);
        CHECK_STR(text_at(&caller, "code"), "too_large");
        free(body);
    }
    char *large = malloc((1 << 20) + 30);
    strcpy(large, "\"output\":\"");
    memset(large + 10, 'x', 1 << 20);
    strcpy(large + 10 + (1 << 20), "\"");
    char *body = changed_commit(&passage, "\"output\":{}", large);
    call_for(&caller, 413, "POST", commit_target(&passage), "%s", body);
    free(body);
    free(large);
    caller_close(&caller);
}

TEST(what_does_not_fit_together_is_refused)
{
    static const char *const commits[] = {
        STEP("2", "a", "task", "completed", ""), /* not the next place */
        STEP("1", "a", "task", "waiting", ""),   /* a task does not wait */
        STEP("1", "a", "wait", "waiting", ""),   /* for what? */
        STEP("1", "a", "value", "ready", ""),    /* a value is there */
        STEP("1", "a", "task", "forgotten", ""), /* was never remembered */
        STEP("1", "a", "task", "completed", "") "," STEP("1", "b", "task", "completed", ""),
    };
    struct caller caller;
    struct passage passage = begin(&caller);
    for (size_t i = 0; i < sizeof commits / sizeof *commits; i++) {
        char more[300];
        snprintf(more, sizeof more, ",\"steps\":[%s]", commits[i]);
        call(&caller, "POST", commit_target(&passage),
             "{\"worker\":\"w\",\"token\":\"%s\",\"revision\":%lld,\"outcome\":\"go_on\"%s}",
             passage.token, passage.revision, more);
        CHECK(caller.status == 400, "case %zu is %d: %s", i, caller.status, caller.text);
    }
    commit_for(&caller, 200, &passage, "complete", "");
    add_job(&caller, "job");
    struct task_held held = take(&caller, "job");
    strcpy(passage.id, held.id);
    strcpy(passage.token, held.token);
    call(&caller, "POST", commit_target(&passage),
         "{\"worker\":\"w\",\"token\":\"%s\",\"revision\":0,\"outcome\":\"complete\"}",
         held.token);
    CHECK(caller.status >= 400 && caller.status < 500, "a job has no commits: %s", caller.text);
    caller_close(&caller);
}
