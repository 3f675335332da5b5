/* tests/api/test_dlq.c - decisions about human steps, and /v1/dlq.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "calling.h"

#include <string.h>

struct run {
    struct caller caller;
    char id[64]; /* the instance */
};

static void begin(struct run *run, const char *workflow)
{
    caller_open(&run->caller);
    call_for(&run->caller, 201, "POST", "/v1/workflows", "%s", workflow);
    call_for(&run->caller, 201, "POST", "/v1/instances",
             "{\"workflow\":\"w\",\"input\":{\"n\":1}}");
    snprintf(run->id, sizeof run->id, "%s", text_at(&run->caller, "id"));
}

/* Decides about step h; the body's rest comes after the decision. */
static void decide_for(struct run *run, int status, const char *step, const char *body)
{
    char target[160];
    snprintf(target, sizeof target, "/v1/instances/%s/steps/%s/decision", run->id, step);
    call_for(&run->caller, status, "POST", target, "%s", body);
}

static void end_task(struct run *run, const char *type, const char *verb)
{
    char target[160];
    struct task_held held = take(&run->caller, type);
    snprintf(target, sizeof target, "/v1/tasks/%s/%s", held.id, verb);
    call_for(&run->caller, 200, "POST", target, "{\"worker\":\"w\",\"token\":\"%s\"%s}",
             held.token, strcmp(verb, "dead") == 0 ? ",\"error\":\"no funds\"" : "");
}

static const char human[] = "{workflow: w, version: 1, steps: [{human: h}, {step: a}]}";
static const char parking[] = "{workflow: w, version: 1, dlq: true, steps: [{step: a}]}";

TEST(a_decision_answers_the_instance_and_is_made_once)
{
    struct run run;
    begin(&run, human);
    decide_for(&run, 200, "h",
               "{\"decision\":\"confirmed\",\"by\":\"ann\",\"comment\":\"fine\"}");
    CHECK_STR(text_at(&run.caller, "id"), run.id);
    CHECK_STR(text_at(&run.caller, "status"), "running");
    CHECK_STR(text_at(&run.caller, "current_steps.0"), "a");
    decide_for(&run, 409, "h", "{\"decision\":\"confirmed\",\"by\":\"ann\"}");
    CHECK_STR(text_at(&run.caller, "code"), "wrong_state");
    caller_close(&run.caller);

    begin(&run, human);
    decide_for(&run, 200, "h", "{\"decision\":\"rejected\",\"by\":\"ann\",\"comment\":null}");
    CHECK_STR(text_at(&run.caller, "status"), "aborted");
    caller_close(&run.caller);
}

TEST(a_decision_asks_for_what_it_needs)
{
    struct run run;
    begin(&run, human);
    decide_for(&run, 400, "h", "{\"by\":\"ann\"}");
    decide_for(&run, 400, "h", "{\"decision\":\"confirmed\"}");
    decide_for(&run, 400, "h", "{\"decision\":\"confirmed\",\"by\":\"\"}");
    decide_for(&run, 400, "h", "{\"decision\":\"maybe\",\"by\":\"ann\"}");
    CHECK(strstr(text_at(&run.caller, "message"), "maybe"), "%s", run.caller.text);
    decide_for(&run, 400, "h", "{\"decision\":\"confirmed\",\"by\":\"ann\",\"x\":1}");
    decide_for(&run, 404, "nobody", "{\"decision\":\"confirmed\",\"by\":\"ann\"}");
    decide_for(&run, 409, "a", "{\"decision\":\"confirmed\",\"by\":\"ann\"}");
    call_for(&run.caller, 404, "POST", "/v1/instances/none/steps/h/decision",
             "{\"decision\":\"confirmed\",\"by\":\"ann\"}");
    decide_for(&run, 200, "h", "{\"decision\":\"confirmed\",\"by\":\"ann\"}");
    caller_close(&run.caller);
}

TEST(a_record_has_the_fields_of_the_document_and_is_listed_while_open)
{
    static const char *const fields[] = {"id",        "instance_id", "workflow_id", "step_id",
                                         "step_name", "step_type",   "input",       "error",
                                         "reason",    "created_at",  "is_open"};
    struct run run;
    char target[80];
    begin(&run, parking);
    call_for(&run.caller, 200, "GET", "/v1/dlq", NULL);
    CHECK_INT(json_array_size(part(&run.caller, "items")), 0);
    end_task(&run, "a", "dead");
    call_for(&run.caller, 200, "GET", "/v1/dlq?limit=1", NULL);
    CHECK_INT(json_array_size(part(&run.caller, "items")), 1);
    CHECK(json_is_null(part(&run.caller, "next")), "%s", run.caller.text);
    snprintf(target, sizeof target, "/v1/dlq/%s", text_at(&run.caller, "items.0.id"));
    call_for(&run.caller, 200, "GET", target, NULL);
    CHECK_INT(json_object_size(run.caller.body), sizeof fields / sizeof *fields);
    for (size_t i = 0; i < sizeof fields / sizeof *fields; i++)
        part(&run.caller, fields[i]);
    CHECK_STR(text_at(&run.caller, "instance_id"), run.id);
    CHECK_STR(text_at(&run.caller, "workflow_id"), "w/1");
    CHECK_STR(text_at(&run.caller, "step_name"), "a");
    CHECK_STR(text_at(&run.caller, "step_type"), "task");
    CHECK_STR(text_at(&run.caller, "error"), "no funds");
    CHECK_STR(text_at(&run.caller, "reason"), "dlq enabled: rollback/compensation skipped");
    CHECK_STR(text_at(&run.caller, "created_at"), "2027-01-15T08:00:00.000Z");
    CHECK_INT(int_at(&run.caller, "input.n"), 1);
    CHECK(json_is_true(part(&run.caller, "is_open")), "%s", run.caller.text);
    caller_close(&run.caller);
}

TEST(a_requeue_answers_the_instance_and_is_made_once)
{
    struct run run;
    char target[80];
    begin(&run, parking);
    end_task(&run, "a", "dead");
    call_for(&run.caller, 200, "GET", "/v1/dlq", NULL);
    snprintf(target, sizeof target, "/v1/dlq/%s/requeue", text_at(&run.caller, "items.0.id"));
    call_for(&run.caller, 400, "POST", target, "{\"inputs\":1}");
    call_for(&run.caller, 200, "POST", target, "{\"input\":{\"n\":2}}");
    CHECK_STR(text_at(&run.caller, "id"), run.id);
    CHECK_STR(text_at(&run.caller, "status"), "running");
    call_for(&run.caller, 409, "POST", target, NULL);
    call_for(&run.caller, 404, "POST", "/v1/dlq/12345/requeue", NULL);
    call_for(&run.caller, 404, "GET", "/v1/dlq/12345", NULL);
    call_for(&run.caller, 404, "GET", "/v1/dlq/x", NULL);
    call_for(&run.caller, 400, "GET", "/v1/dlq?limit=0", NULL);
    call_for(&run.caller, 400, "GET", "/v1/dlq?cursor=x", NULL);
    call_for(&run.caller, 200, "POST", "/v1/tasks/claim",
             "{\"worker\":\"w\",\"types\":[\"a\"]}");
    CHECK_INT(int_at(&run.caller, "tasks.0.input.n"), 2);
    caller_close(&run.caller);
}

TEST(a_requeue_without_a_body_keeps_the_input)
{
    struct run run;
    char target[80];
    begin(&run, parking);
    end_task(&run, "a", "dead");
    call_for(&run.caller, 200, "GET", "/v1/dlq", NULL);
    snprintf(target, sizeof target, "/v1/dlq/%s/requeue", text_at(&run.caller, "items.0.id"));
    call_for(&run.caller, 200, "POST", target, NULL);
    call_for(&run.caller, 200, "POST", "/v1/tasks/claim",
             "{\"worker\":\"w\",\"types\":[\"a\"]}");
    CHECK_INT(int_at(&run.caller, "tasks.0.input.n"), 1);
    caller_close(&run.caller);
}
