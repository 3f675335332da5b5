/* tests/api/test_commit.c - functions over JSON: passages by hand, and what they log.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "passage.h"
#include "scratch.h"

#include <string.h>

static const char *status_of(struct caller *caller, const struct passage *passage)
{
    call_for(caller, 200, "GET", about(passage, ""), NULL);
    return text_at(caller, "status");
}

/* ---- passages -------------------------------------------------------------------------------- */

TEST(a_functions_task_brings_what_is_remembered)
{
    struct caller caller;
    struct passage passage = begin_passage(&caller);
    CHECK_STR(text_at(&caller, "tasks.0.kind"), "function");
    CHECK_STR(text_at(&caller, "tasks.0.type"), "order");
    CHECK_STR(text_at(&caller, "tasks.0.step"), "order");
    CHECK_INT(int_at(&caller, "tasks.0.input.n"), 1);
    CHECK_INT(int_at(&caller, "tasks.0.version"), 2);
    CHECK_INT(int_at(&caller, "tasks.0.places"), 1);
    CHECK(json_is_false(part(&caller, "tasks.0.forced")), "%s", caller.text);
    CHECK_INT(json_array_size(part(&caller, "tasks.0.steps")), 0);
    CHECK_INT(json_array_size(part(&caller, "tasks.0.events")), 0);
    CHECK_INT(json_object_size(part(&caller, "tasks.0")), 24);

    call_for(&caller, 201, "POST", about(&passage, "/signal"),
             "{\"event\":\"paid\",\"id\":\"s1\",\"payload\":{\"a\":0.1}}");
    commit_for(&caller, 200, &passage, "suspend",
               ",\"steps\":[" STEP("1", "a", "task", "completed",
                                   ",\"input\":[1],\"output\":{\"b\":0.1}") "]");
    claim_passage(&caller);
    CHECK_INT(int_at(&caller, "tasks.0.places"), 2);
    CHECK_INT(json_array_size(part(&caller, "tasks.0.steps")), 1);
    CHECK_INT(int_at(&caller, "tasks.0.steps.0.seq"), 1);
    CHECK_STR(text_at(&caller, "tasks.0.steps.0.name"), "a");
    CHECK_STR(text_at(&caller, "tasks.0.steps.0.kind"), "task");
    CHECK_STR(text_at(&caller, "tasks.0.steps.0.status"), "completed");
    CHECK(strstr(caller.text, "\"output\":{\"b\":0.1}"), "%s", caller.text);
    CHECK_INT(json_array_size(part(&caller, "tasks.0.events")), 1);
    CHECK_STR(text_at(&caller, "tasks.0.events.0.id"), "s1");
    CHECK_STR(text_at(&caller, "tasks.0.events.0.event"), "paid");
    CHECK(strstr(caller.text, "\"payload\":{\"a\":0.1}"), "%s", caller.text);
    CHECK_STR(text_at(&caller, "tasks.0.events.0.received_at"), "2027-01-15T08:00:00.000Z");
    caller_close(&caller);
}

/* From the first step to the output: go on, sleep, wait for a signal, complete. */
/* The instance of begin_passage() has version 2. */
TEST(a_claim_is_given_functions_in_the_versions_that_it_names)
{
    static const char *const bodies[] = {
        "{\"worker\":\"w\",\"functions\":[{\"name\":\"order\",\"version\":3}]}",
        "{\"worker\":\"w\",\"functions\":[{\"name\":\"order\",\"version\":1}]}",
        "{\"worker\":\"w\",\"types\":[\"mail\"],"
        "\"functions\":[{\"name\":\"order\",\"version\":9,\"from_version\":3}]}",
        "{\"worker\":\"w\",\"types\":[],"
        "\"functions\":[{\"name\":\"order\",\"version\":9,\"from_version\":2}]}"};
    struct caller caller;
    struct passage passage = begin_passage(&caller);
    commit_for(&caller, 200, &passage, "again", "");
    for (int i = 0; i < 4; i++) {
        call_for(&caller, 200, "POST", "/v1/tasks/claim", "%s", bodies[i]);
        CHECK_INT(json_array_size(part(&caller, "tasks")), i == 3);
    }
    caller_close(&caller);
}

TEST(a_claim_names_functions_in_versions_that_can_be)
{
    static const char *const bodies[] = {
        "{\"worker\":\"w\",\"functions\":[]}",
        "{\"worker\":\"w\",\"functions\":[{\"name\":\"order\"}]}",
        "{\"worker\":\"w\",\"functions\":[{\"version\":1}]}",
        "{\"worker\":\"w\",\"functions\":[{\"name\":\"\",\"version\":1}]}",
        "{\"worker\":\"w\",\"functions\":[{\"name\":\"order\",\"version\":0}]}",
        ("{\"worker\":\"w\",\"functions\":[{\"name\":\"order\",\"version\":1,"
         "\"from_version\":2}]}"),
        "{\"worker\":\"w\",\"functions\":[{\"name\":\"order\",\"version\":1,\"since\":1}]}",
        "{\"worker\":\"w\",\"functions\":\"order\"}"};
    struct caller caller;
    caller_open(&caller);
    for (size_t i = 0; i < sizeof bodies / sizeof *bodies; i++)
        call_for(&caller, 400, "POST", "/v1/tasks/claim", "%s", bodies[i]);
    caller_close(&caller);
}

TEST(a_whole_function_is_executed_by_hand)
{
    struct caller caller;
    struct passage passage = begin_passage(&caller);
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

    passage = claim_passage(&caller);
    CHECK_STR(text_at(&caller, "tasks.0.steps.1.status"), "completed");
    commit_for(&caller, 200, &passage, "suspend",
               ",\"steps\":[" STEP("3", "paid", "wait", "waiting",
                                   ",\"event\":\"payment\",\"timeout_ms\":600000") "]");
    CHECK_STR(status_of(&caller, &passage), "waiting_signal");
    call_for(&caller, 201, "POST", about(&passage, "/signal"),
             "{\"event\":\"payment\",\"payload\":{\"amount\":12}}");
    CHECK(json_is_true(part(&caller, "taken")), "%s", caller.text);

    passage = claim_passage(&caller);
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
    struct passage passage = begin_passage(&caller);
    commit_for(&caller, 200, &passage, "suspend",
               ",\"steps\":[" STEP("1", "a", "task", "ready",
                                   ",\"error\":\"no\",\"attempts\":1,\"max_attempts\":3,"
                                   "\"delay_ms\":7000") "]");
    CHECK_STR(text_at(&caller, "status"), "ready");
    check_none_due(&caller);
    call_for(&caller, 200, "POST", "/v1/clock/advance", "{\"ms\":7000}");
    passage = claim_passage(&caller);
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

TEST(a_passage_that_was_stopped_on_its_way_goes_on_at_once_whatever_waits)
{
    struct caller caller;
    struct passage passage = begin_passage(&caller);
    commit_for(&caller, 200, &passage, "again",
               ",\"steps\":[" STEP("1", "paid", "wait", "waiting", ",\"event\":\"paid\"") "]");
    CHECK_STR(text_at(&caller, "status"), "ready");
    passage = claim_passage(&caller);
    CHECK_STR(text_at(&caller, "tasks.0.steps.0.status"), "waiting");
    commit_for(&caller, 200, &passage, "suspend", "");
    CHECK_STR(text_at(&caller, "status"), "waiting");
    check_none_due(&caller);
    caller_close(&caller);
}

TEST(a_sleep_may_have_an_end_instead_of_a_length)
{
    struct caller caller;
    struct passage passage = begin_passage(&caller);
    commit_for(&caller, 200, &passage, "suspend",
               ",\"steps\":[" STEP("1", "nap", "sleep", "waiting",
                                   ",\"until\":\"2027-01-15T09:00:00.000Z\"") "]");
    call_for(&caller, 200, "POST", "/v1/clock/advance", "{\"ms\":3599999}");
    check_none_due(&caller);
    call_for(&caller, 200, "POST", "/v1/clock/advance", "{\"ms\":1}");
    claim_passage(&caller);
    caller_close(&caller);
}

TEST(a_completed_wait_takes_a_signal_of_the_task)
{
    struct caller caller;
    struct passage passage = begin_passage(&caller);
    call_for(&caller, 201, "POST", about(&passage, "/signal"),
             "{\"event\":\"e\",\"id\":\"s1\",\"payload\":7}");
    commit_for(&caller, 200, &passage, "go_on",
               ",\"steps\":[" STEP("1", "e", "wait", "completed",
                                   ",\"event\":\"e\",\"signal_id\":\"s1\",\"output\":7") "]");
    CHECK(json_is_true(part(&caller, "conflict")), "the signal is news: %s", caller.text);
    CHECK_INT(json_array_size(part(&caller, "events")), 0);
    commit_for(&caller, 200, &passage, "suspend", "");
    claim_passage(&caller);
    CHECK_INT(json_array_size(part(&caller, "tasks.0.events")), 0);
    CHECK_INT(int_at(&caller, "tasks.0.steps.0.output"), 7);
    caller_close(&caller);
}

TEST(a_conflict_brings_the_signals_anew)
{
    struct caller caller;
    struct passage passage = begin_passage(&caller);
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
    struct passage passage = begin_passage(&caller);
    call_for(&caller, 200, "POST", about(&passage, "/pause"), NULL);
    commit_for(&caller, 200, &passage, "go_on",
               ",\"steps\":[" STEP("1", "a", "task", "completed",
                                   ",\"compensation\":{\"handler\":\"undo.a\"}") "]");
    CHECK_STR(text_at(&caller, "stop"), "paused");
    commit_for(&caller, 200, &passage, "suspend", "");
    check_none_due(&caller);
    call_for(&caller, 200, "POST", about(&passage, "/resume"), NULL);

    passage = claim_passage(&caller);
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

/* Commits one step with this compensation, fails, and claims the compensation. */
static void claim_undo(struct caller *caller, const char *compensation)
{
    struct passage passage = begin_passage(caller);
    char rest[400];
    snprintf(rest, sizeof rest,
             ",\"steps\":[{\"seq\":1,\"key\":\"a\",\"kind\":\"task\",\"status\":\"completed\","
             "\"compensation\":%s}]",
             compensation);
    commit_for(caller, 200, &passage, "fail", rest);
    call_for(caller, 200, "POST", "/v1/tasks/claim",
             "{\"worker\":\"w\",\"types\":[\"undo.%%\"]}");
}

TEST(a_compensation_has_defaults)
{
    struct caller caller;
    claim_undo(&caller, "{\"handler\":\"undo.a\"}");
    CHECK_INT(int_at(&caller, "tasks.0.max_attempts"), 3);
    caller_close(&caller);
    claim_undo(&caller, "{\"handler\":\"undo.a\",\"idempotent\":false}");
    CHECK_INT(int_at(&caller, "tasks.0.max_attempts"), 1);
    caller_close(&caller);
    claim_undo(&caller, "{\"handler\":\"undo.a\",\"retry\":{\"backoff\":\"fixed\"},"
                        "\"metadata\":{\"n\":1}}");
    CHECK_INT(int_at(&caller, "tasks.0.metadata.n"), 1);
    caller_close(&caller);
}

TEST(code_that_does_not_match_pauses_until_it_is_forced)
{
    struct caller caller;
    struct passage passage = begin_passage(&caller);
    commit_for(
        &caller, 200, &passage, "mismatch",
        ",\"error\":\"version_mismatch: \\\"a\\\" is remembered\",\"failed_step\":\"a\"");
    CHECK_STR(status_of(&caller, &passage), "paused");
    CHECK_STR(text_at(&caller, "last_error.step"), "a");
    CHECK_STR(text_at(&caller, "last_error.message"), "version_mismatch: \"a\" is remembered");
    check_none_due(&caller);
    call_for(&caller, 200, "POST", about(&passage, "/resume"), "{\"force\":true}");
    claim_passage(&caller);
    CHECK(json_is_true(part(&caller, "tasks.0.forced")), "%s", caller.text);
    caller_close(&caller);
}

TEST(what_is_started_is_recorded_with_the_commit)
{
    static const char job[] = "11111111-1111-4111-8111-111111111111";
    static const char flow[] = "22222222-2222-4222-8222-222222222222";
    struct caller caller;
    struct passage passage = begin_passage(&caller);
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
    struct passage passage = begin_passage(&caller);
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
    struct passage passage = begin_passage(&caller);
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
    struct passage passage = begin_passage(&caller), stranger = passage;
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
    struct passage passage = begin_passage(&caller), again = passage;
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

/* A claim of a worker that has the memory of this revision, before this place. */
static void claim_knowing(struct caller *caller, const struct passage *passage,
                          long long revision, int before)
{
    call_for(caller, 200, "POST", "/v1/tasks/claim",
             "{\"worker\":\"w\",\"types\":[\"order\"],\"known\":[{\"instance_id\":\"%s\","
             "\"revision\":%lld,\"before\":%d}]}",
             passage->instance, revision, before);
    CHECK_INT(json_array_size(part(caller, "tasks")), 1);
}

TEST(a_worker_that_knows_steps_is_sent_the_others)
{
    struct caller caller;
    struct passage passage = begin_passage(&caller);
    CHECK_INT(int_at(&caller, "tasks.0.steps_from"), 1);
    commit_for(&caller, 200, &passage, "suspend",
               ",\"steps\":[" STEP("1", "a", "task", "completed", "") "," STEP(
                   "2", "b", "task", "completed", "") "," STEP("3", "z", "sleep", "waiting",
                                                               ",\"delay_ms\":1000") "]");
    call_for(&caller, 200, "POST", "/v1/clock/advance", "{\"ms\":1001}");
    claim_knowing(&caller, &passage, passage.revision, 3);
    CHECK_INT(int_at(&caller, "tasks.0.steps_from"), 3);
    CHECK_INT(json_array_size(part(&caller, "tasks.0.steps")), 1);
    CHECK_STR(text_at(&caller, "tasks.0.steps.0.name"), "z");

    /* Whoever begins anew sends all. */
    call_for(&caller, 200, "POST", about(&passage, "/restart"), "{}");
    claim_knowing(&caller, &passage, passage.revision, 3);
    CHECK_INT(int_at(&caller, "tasks.0.steps_from"), 1);
    CHECK_INT(json_array_size(part(&caller, "tasks.0.steps")), 0);
    caller_close(&caller);
}

TEST(a_heartbeat_of_0_only_looks)
{
    struct caller caller;
    struct passage passage = begin_passage(&caller);
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
    struct passage passage = begin_passage(&caller);
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
    struct passage passage = begin_passage(&caller);
    commit_for(&caller, 200, &passage, "go_on",
               ",\"logs\":[{\"level\":\"debug\",\"message\":\"one\"},"
               "{\"level\":\"info\",\"message\":\"two\",\"data\":{\"a\":0.1},\"step\":\"s#2\","
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
    CHECK(strstr(caller.text, "\"data\":{\"a\":0.1}"), "%s", caller.text);
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
    struct passage passage = begin_passage(&caller);
    call_for(&caller, 404, "GET", "/v1/instances/x/logs", NULL);
    call_for(&caller, 404, "GET", "/v1/instances/11111111-1111-4111-8111-111111111111/logs",
             NULL);
    call_for(&caller, 400, "GET", about(&passage, "/logs?cursor=x"), NULL);
    call_for(&caller, 400, "GET", about(&passage, "/logs?limit=0"), NULL);
    call_for(&caller, 400, "GET", about(&passage, "/logs?colour=red"), NULL);
    call_for(&caller, 200, "GET", about(&passage, "/logs"), NULL);
    CHECK_INT(json_array_size(part(&caller, "items")), 0);
    caller_close(&caller);
}
