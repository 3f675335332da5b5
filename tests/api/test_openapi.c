/* tests/api/test_openapi.c - the OpenAPI description against the real routes, both ways.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "api/api.h"
#include "calling.h"
#include "http/access.h"
#include "passage.h"
#include "schema.h"

#include <ctype.h>
#include <stdlib.h>

struct described {
    struct caller caller;
    json_t *document;
};

static void open_described(struct described *described)
{
    caller_open(&described->caller);
    call_for(&described->caller, 200, "GET", "/openapi.json", NULL);
    described->document = json_incref(described->caller.body);
}

static void close_described(struct described *described)
{
    json_decref(described->document);
    caller_close(&described->caller);
}

static const char *lower(const char *method)
{
    static char text[16];
    size_t i = 0;
    for (; method[i] && i + 1 < sizeof text; i++)
        text[i] = (char)tolower((unsigned char)method[i]);
    text[i] = '\0';
    return text;
}

static const char *upper(const char *method)
{
    static char text[16];
    size_t i = 0;
    for (; method[i] && i + 1 < sizeof text; i++)
        text[i] = (char)toupper((unsigned char)method[i]);
    text[i] = '\0';
    return text;
}

static const json_t *operation(const json_t *document, const char *method, const char *path)
{
    return json_object_get(json_object_get(json_object_get(document, "paths"), path),
                           lower(method));
}

/* "/v1/jobs/{id}" becomes "/v1/jobs/1". */
static const char *fill_in(const char *path)
{
    static char text[100];
    size_t used = 0;
    for (; *path && used + 1 < sizeof text; path++) {
        text[used++] = *path == '{' ? '1' : *path;
        if (*path == '{')
            path = strchr(path, '}');
    }
    text[used] = '\0';
    return text;
}

static const struct operation *find_route(const char *method, const char *path)
{
    for (size_t i = 0; i < operation_count; i++)
        if (strcmp(operations[i].method, method) == 0 && strcmp(operations[i].path, path) == 0)
            return &operations[i];
    return NULL;
}

#define for_each_operation(document, path, method, what)                    \
    const char *path, *method;                                              \
    json_t *methods_, *what;                                                \
    json_object_foreach(json_object_get(document, "paths"), path, methods_) \
        json_object_foreach(methods_, method, what)

TEST(every_route_is_described_and_everything_described_is_a_route)
{
    struct described described;
    open_described(&described);
    for (size_t i = 0; i < operation_count; i++)
        CHECK(operation(described.document, operations[i].method, operations[i].path),
              "%s %s is not described", operations[i].method, operations[i].path);
    for_each_operation (described.document, path, method, what) {
        const char *name = upper(method);
        CHECK(find_route(name, path), "%s %s is described but no route", name, path);
        call(&described.caller, name, fill_in(path), NULL);
        CHECK(described.caller.status != 405, "%s %s: %s", name, path, described.caller.text);
        CHECK(!strstr(described.caller.text, "route \\\""), "%s %s: %s", name, path,
              described.caller.text);
        CHECK(json_object_get(what, "operationId") && json_object_get(what, "summary"),
              "%s %s has no name", name, path);
    }
    close_described(&described);
}

TEST(every_route_has_its_role_and_health_needs_none)
{
    struct described described;
    open_described(&described);
    for_each_operation (described.document, path, method, what) {
        char methods[ALLOW_TEXT];
        const char *name = upper(method), *target = fill_in(path);
        access_methods(target, methods);
        CHECK(strstr(methods, name), "%s %s is not among %s", name, path, methods);
        const json_t *security = json_object_get(what, "security");
        bool is_open = security && json_array_size(security) == 0;
        CHECK(is_open == (access_roles(name, target) == 0), "%s %s: security", name, path);
    }
    close_described(&described);
}

static bool takes(const struct operation *route, const char *param)
{
    size_t offset;
    return route->query && field_named(route->query, param, strlen(param), &offset);
}

TEST(query_and_path_parameters_are_those_of_the_route)
{
    struct described described;
    open_described(&described);
    for_each_operation (described.document, path, method, what) {
        const struct operation *route = find_route(upper(method), path);
        const json_t *params = json_object_get(what, "parameters");
        size_t in_query = 0, in_path = 0, taken = route->query ? route->query->count : 0;
        for (size_t i = 0; i < json_array_size(params); i++) {
            const json_t *param = schema_resolve(described.document, json_array_get(params, i));
            const char *name = json_string_value(json_object_get(param, "name"));
            bool is_query =
                strcmp(json_string_value(json_object_get(param, "in")), "query") == 0;
            CHECK(!is_query || takes(route, name), "%s %s: %s", method, path, name);
            in_query += is_query;
            in_path += !is_query && strstr(path, name);
        }
        CHECK(in_query == taken, "%s %s: %zu parameters, not %zu", method, path, in_query,
              taken);
        size_t braces = 0;
        for (const char *at = path; *at; at++)
            braces += *at == '{';
        CHECK(in_path == braces, "%s %s: path", method, path);
    }
    close_described(&described);
}

/* The names in a hint such as "the fields here are: a, b" must be the schema's. */
static void check_names(const json_t *document, const json_t *schema, const char *hint,
                        const char *where)
{
    const json_t *properties = json_object_get(schema_resolve(document, schema), "properties");
    const char *list = strstr(hint, ": ");
    char *names = strdup(list ? list + 2 : ""), *rest = names;
    size_t count = 0;
    for (char *name; (name = strsep(&rest, ",")); count++) {
        name += strspn(name, " ");
        CHECK(json_object_get(properties, name), "%s: \"%s\" is read but not described", where,
              name);
    }
    size_t described = 0;
    const char *name;
    json_t *property;
    json_object_foreach((json_t *)properties, name, property) described +=
        json_object_get(property, "readOnly") == NULL;
    CHECK(count == described, "%s: %zu fields are described, read are %s", where, described,
          hint);
    free(names);
}

static void check_refuses_more(struct described *described, const char *method,
                               const char *path, const json_t *body)
{
    char *text = json_dumps(body, 0);
    call_for(&described->caller, 400, method, fill_in(path), "%s", text);
    CHECK(strstr(text_at(&described->caller, "message"), "surplus\" is unknown"),
          "%s %s %s: %s", method, path, text, described->caller.text);
    free(text);
}

TEST(bodies_have_the_fields_that_are_read)
{
    struct described described;
    open_described(&described);
    for_each_operation (described.document, path, method, what) {
        const json_t *content =
            json_object_get(json_object_get(what, "requestBody"), "content");
        if (json_object_get(content, "application/yaml"))
            continue; /* a workflow is read by a reader of its own */
        const json_t *schema =
            json_object_get(json_object_get(content, "application/json"), "schema");
        json_t *body = schema ? schema_sample(described.document, schema) : json_object();
        json_object_set_new(body, "surplus", json_integer(1));
        check_refuses_more(&described, upper(method), path, body);
        json_decref(body);
        const char *hint = text_at(&described.caller, "hint");
        if (!schema) {
            CHECK_STR(hint, "no fields are expected here");
            continue;
        }
        const json_t *choices = json_object_get(schema, "oneOf");
        check_names(described.document, choices ? json_array_get(choices, 0) : schema, hint,
                    path);
    }
    close_described(&described);
}

#define COMMIT(more) \
    "{\"worker\":\"w\",\"token\":\"t\",\"revision\":1,\"outcome\":\"go_on\"," more "}"
#define COMMIT_STEP(more)                                                                      \
    COMMIT(                                                                                    \
        "\"steps\":[{\"seq\":1,\"key\":\"k\",\"kind\":\"task\",\"status\":\"completed\"," more \
        "}]")

TEST(inner_objects_have_the_fields_that_are_read)
{
    static const struct {
        const char *schema, *target, *body;
    } cases[] = {
        {"JobSpec", "/v1/jobs", "{\"jobs\":[{\"type\":\"a\",\"surplus\":1}]}"},
        {"Outbound", "/v1/tasks/x/complete",
         "{\"worker\":\"w\",\"token\":\"t\",\"outbound\":[{\"event\":\"e\",\"surplus\":1}]}"},
        {"ClaimBesides", "/v1/tasks/report",
         "{\"worker\":\"w\",\"results\":[],\"claim\":{\"types\":[\"a\"],\"surplus\":1}}"},
        {"CommitStep", "/v1/tasks/x/commit", COMMIT_STEP("\"surplus\":1")},
        {"CommitRetry", "/v1/tasks/x/commit",
         COMMIT_STEP("\"compensation\":{\"handler\":\"h\",\"retry\":{\"backoff\":\"fixed\","
                     "\"surplus\":1}}")},
        {"CommitCompensation", "/v1/tasks/x/commit",
         COMMIT_STEP("\"compensation\":{\"handler\":\"h\",\"surplus\":1}")},
        {"Outbound", "/v1/tasks/x/commit",
         COMMIT_STEP("\"outbound\":[{\"event\":\"e\",\"surplus\":1}]")},
        {"CommitLog", "/v1/tasks/x/commit",
         COMMIT("\"logs\":[{\"level\":\"info\",\"message\":\"m\",\"surplus\":1}]")},
        {"CommitJob", "/v1/tasks/x/commit",
         COMMIT("\"jobs\":[{\"id\":\"i\",\"seq\":1,\"type\":\"t\",\"surplus\":1}]")},
        {"CommitInstance", "/v1/tasks/x/commit",
         COMMIT("\"instances\":[{\"id\":\"i\",\"seq\":1,\"workflow\":\"f\",\"surplus\":1}]")},
        {"ClaimBesides", "/v1/tasks/x/commit",
         COMMIT("\"claim\":{\"types\":[\"a\"],\"surplus\":1}")},
    };
    struct described described;
    open_described(&described);
    const json_t *schemas =
        json_object_get(json_object_get(described.document, "components"), "schemas");
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        call_for(&described.caller, 400, "POST", cases[i].target, "%s", cases[i].body);
        check_names(described.document, json_object_get(schemas, cases[i].schema),
                    text_at(&described.caller, "hint"), cases[i].schema);
    }
    close_described(&described);
}

/* ---- real answers --------------------------------------------------------------------------- */

/* Calls, and holds the answer against the schema of its status. */
static void check_answer(struct described *described, int status, const char *method,
                         const char *path, const char *target, const char *body)
{
    char why[300] = "", key[8];
    call_for(&described->caller, status, method, target, body ? "%s" : NULL, body);
    snprintf(key, sizeof key, "%d", status);
    const json_t *what = operation(described->document, method, path);
    const json_t *response = schema_resolve(
        described->document, json_object_get(json_object_get(what, "responses"), key));
    CHECK(response, "%s %s: status %d is not described", method, path, status);
    const json_t *content =
        json_object_get(json_object_get(response, "content"), "application/json");
    CHECK(schema_fits(described->document, json_object_get(content, "schema"),
                      described->caller.body, why),
          "%s %s: %s in %s", method, target, why, described->caller.text);
}

static const char *target_of(const char *format, const char *id)
{
    static char text[4][120];
    static unsigned turn;
    char *target = text[turn++ % 4];
    const char *brace = strchr(format, '{');
    snprintf(target, 120, "%.*s%s%s", (int)(brace - format), format, id,
             strchr(brace, '}') + 1);
    return target;
}

static void check_on_job(struct described *described, int status, const char *method,
                         const char *path, const char *id)
{
    check_answer(described, status, method, path, target_of(path, id), NULL);
}

TEST(answers_about_jobs_are_as_described)
{
    struct described d;
    open_described(&d);
    check_answer(&d, 201, "POST", "/v1/jobs", "/v1/jobs", "{\"type\":\"a\",\"key\":\"k\"}");
    check_answer(&d, 200, "POST", "/v1/jobs", "/v1/jobs", "{\"type\":\"a\",\"key\":\"k\"}");
    check_answer(&d, 201, "POST", "/v1/jobs", "/v1/jobs", "{\"jobs\":[{\"type\":\"a\"}]}");
    check_answer(&d, 400, "POST", "/v1/jobs", "/v1/jobs", "{");
    check_answer(&d, 200, "GET", "/v1/jobs", "/v1/jobs?limit=1", NULL);
    const char *id = add_job(&d.caller, "b");
    check_on_job(&d, 200, "GET", "/v1/jobs/{id}", id);
    check_on_job(&d, 404, "GET", "/v1/jobs/{id}", "x");
    check_on_job(&d, 200, "GET", "/v1/jobs/{id}/events", id);
    check_on_job(&d, 200, "POST", "/v1/jobs/{id}/cancel", id);
    check_on_job(&d, 409, "POST", "/v1/jobs/{id}/cancel", id);
    check_on_job(&d, 200, "POST", "/v1/jobs/{id}/retry", id);
    check_on_job(&d, 200, "DELETE", "/v1/jobs/{id}", id);
    check_on_job(&d, 404, "DELETE", "/v1/jobs/{id}", "x");
    close_described(&d);
}

TEST(answers_about_tasks_are_as_described)
{
    static const char *const verbs[] = {"heartbeat", "complete", "fail",
                                        "retry",     "dead",     "release"};
    struct described d;
    char body[300];
    open_described(&d);
    for (size_t i = 0; i < 6; i++) {
        char path[60], type[16];
        snprintf(path, sizeof path, "/v1/tasks/{id}/%s", verbs[i]);
        snprintf(type, sizeof type, "t%zu", i);
        add_job(&d.caller, type);
        snprintf(body, sizeof body, "{\"worker\":\"w\",\"types\":[\"%s\"]}", type);
        check_answer(&d, 200, "POST", "/v1/tasks/claim", "/v1/tasks/claim", body);
        char *id = strdup(text_at(&d.caller, "tasks.0.id"));
        snprintf(body, sizeof body, "{\"worker\":\"w\",\"token\":\"%s\"}",
                 text_at(&d.caller, "tasks.0.token"));
        check_answer(&d, 200, "POST", path, target_of(path, id), body);
        check_answer(&d, 409, "POST", path, target_of(path, id),
                     "{\"worker\":\"w\",\"token\":\"no\"}");
        free(id);
    }
    add_job(&d.caller, "a");
    add_job(&d.caller, "b");
    struct task_held held = take(&d.caller, "a");
    snprintf(
        body, sizeof body,
        "{\"worker\":\"w\",\"results\":[{\"id\":\"%s\",\"token\":\"%s\",\"outcome\":\"fail\"},"
        "{\"id\":\"x\",\"token\":\"y\",\"outcome\":\"dead\"}],\"claim\":{\"types\":[\"b\"]}}",
        held.id, held.token);
    check_answer(&d, 200, "POST", "/v1/tasks/report", "/v1/tasks/report", body);
    close_described(&d);
}

TEST(answers_about_workflows_are_as_described)
{
    static const char flow[] = "workflow: w\nversion: 1\nsteps: [{step: a}]\n";
    struct described d;
    open_described(&d);
    check_answer(&d, 201, "POST", "/v1/workflows", "/v1/workflows", flow);
    check_answer(&d, 200, "POST", "/v1/workflows", "/v1/workflows", flow);
    check_answer(&d, 400, "POST", "/v1/workflows", "/v1/workflows", "{");
    check_answer(&d, 409, "POST", "/v1/workflows", "/v1/workflows",
                 "{\"workflow\":\"w\",\"version\":1,\"steps\":[{\"step\":\"b\"}]}");
    check_answer(&d, 200, "GET", "/v1/workflows", "/v1/workflows", NULL);
    check_answer(&d, 200, "GET", "/v1/workflows/{name}/{version}", "/v1/workflows/w/1", NULL);
    check_answer(&d, 404, "GET", "/v1/workflows/{name}/{version}", "/v1/workflows/w/2", NULL);
    close_described(&d);
}

static const char *start_one(struct described *d)
{
    static char id[64];
    call_for(&d->caller, 200, "POST", "/v1/workflows",
             "workflow: w\nversion: 1\nsteps: [{step: a}, {wait: b, event: go}]\n");
    check_answer(d, 201, "POST", "/v1/instances", "/v1/instances",
                 "{\"workflow\":\"w\",\"key\":\"k\"}");
    snprintf(id, sizeof id, "%s", text_at(&d->caller, "id"));
    return id;
}

TEST(answers_about_instances_are_as_described)
{
    static const char *const verbs[] = {"pause", "resume", "restart"};
    static const char stop[] = "{\"by\":\"ann\",\"reason\":\"no\"}";
    struct described d;
    char path[60], body[300];
    open_described(&d);
    call_for(&d.caller, 201, "POST", "/v1/workflows",
             "workflow: w\nversion: 1\nsteps: [{step: a}, {wait: b, event: go}]\n");
    const char *id = start_one(&d);
    check_answer(&d, 200, "POST", "/v1/instances", "/v1/instances",
                 "{\"workflow\":\"w\",\"key\":\"k\"}");
    check_answer(&d, 404, "POST", "/v1/instances", "/v1/instances", "{\"workflow\":\"x\"}");
    for (size_t i = 0; i < 3; i++) {
        snprintf(path, sizeof path, "/v1/instances/{id}/%s", verbs[i]);
        check_on_job(&d, 200, "POST", path, id);
        check_on_job(&d, 404, "POST", path, "x");
    }
    check_on_job(&d, 409, "POST", "/v1/instances/{id}/retry", id);
    check_answer(&d, 200, "POST", "/v1/tasks/claim", "/v1/tasks/claim",
                 "{\"worker\":\"w\",\"types\":[\"a\"]}");
    snprintf(body, sizeof body,
             "{\"worker\":\"w\",\"token\":\"%s\",\"event\":\"now\",\"outbound\":"
             "[{\"event\":\"e\",\"payload\":[1]}]}",
             text_at(&d.caller, "tasks.0.token"));
    snprintf(path, sizeof path, "/v1/tasks/%s/wait", text_at(&d.caller, "tasks.0.id"));
    check_answer(&d, 200, "POST", "/v1/tasks/{id}/wait", path, body);
    check_answer(&d, 201, "POST", "/v1/instances/{id}/signal",
                 target_of("/v1/instances/{id}/signal", id),
                 "{\"event\":\"now\",\"id\":\"s\",\"payload\":{}}");
    check_answer(&d, 200, "POST", "/v1/instances/{id}/signal",
                 target_of("/v1/instances/{id}/signal", id),
                 "{\"event\":\"now\",\"id\":\"s\"}");
    check_answer(&d, 200, "POST", "/v1/tasks/claim", "/v1/tasks/claim",
                 "{\"worker\":\"w\",\"types\":[\"a\"]}");
    check_on_job(&d, 200, "GET", "/v1/instances/{id}", id);
    check_on_job(&d, 200, "GET", "/v1/instances/{id}/steps", id);
    check_on_job(&d, 200, "GET", "/v1/instances/{id}/events", id);
    check_answer(&d, 200, "GET", "/v1/instances", "/v1/instances?limit=1", NULL);
    check_answer(&d, 200, "GET", "/v1/events", "/v1/events?limit=5", NULL);
    check_answer(&d, 404, "GET", "/v1/stream", "/v1/stream", NULL);
    check_answer(&d, 200, "GET", "/v1/outbox", "/v1/outbox?limit=1", NULL);
    check_answer(&d, 200, "POST", "/v1/outbox/claim", "/v1/outbox/claim", "{\"worker\":\"d\"}");
    char event[24];
    snprintf(event, sizeof event, "%s", text_at(&d.caller, "events.0.id"));
    check_answer(&d, 200, "POST", "/v1/outbox/{id}/release",
                 target_of("/v1/outbox/{id}/release", event),
                 "{\"worker\":\"d\",\"error\":\"e\",\"delay_ms\":0}");
    check_answer(&d, 200, "POST", "/v1/outbox/claim", "/v1/outbox/claim", "{\"worker\":\"d\"}");
    check_on_job(&d, 200, "POST", "/v1/outbox/{id}/ack", text_at(&d.caller, "events.0.id"));
    check_on_job(&d, 404, "POST", "/v1/outbox/{id}/ack", "x");
    check_answer(&d, 200, "POST", "/v1/instances/{id}/abort",
                 target_of("/v1/instances/{id}/abort", id), stop);
    check_answer(&d, 409, "POST", "/v1/instances/{id}/cancel",
                 target_of("/v1/instances/{id}/cancel", id), stop);
    close_described(&d);
}

static void check_decisions(struct described *d)
{
    static const char path[] = "/v1/instances/{id}/steps/{step}/decision";
    static const char yes[] = "{\"decision\":\"confirmed\",\"by\":\"ann\"}";
    char target[120];
    call_for(&d->caller, 201, "POST", "/v1/instances", "{\"workflow\":\"h\"}");
    snprintf(target, sizeof target, "/v1/instances/%s/steps/ask/decision",
             text_at(&d->caller, "id"));
    check_answer(d, 400, "POST", path, target, "{}");
    check_answer(d, 200, "POST", path, target, yes);
    check_answer(d, 409, "POST", path, target, yes);
    check_answer(d, 404, "POST", path, "/v1/instances/x/steps/ask/decision", yes);
}

static void check_dlq(struct described *d)
{
    char body[120], target[120], id[32];
    struct task_held held = take(&d->caller, "a");
    snprintf(target, sizeof target, "/v1/tasks/%s/dead", held.id);
    snprintf(body, sizeof body, "{\"worker\":\"w\",\"token\":\"%s\"}", held.token);
    check_answer(d, 200, "POST", "/v1/tasks/{id}/dead", target, body);
    check_answer(d, 200, "GET", "/v1/dlq", "/v1/dlq?limit=5", NULL);
    snprintf(id, sizeof id, "%s", text_at(&d->caller, "items.0.id"));
    check_on_job(d, 200, "GET", "/v1/dlq/{id}", id);
    check_on_job(d, 404, "GET", "/v1/dlq/{id}", "x");
    check_answer(d, 200, "POST", "/v1/dlq/{id}/requeue", target_of("/v1/dlq/{id}/requeue", id),
                 "{\"input\":[1]}");
    check_on_job(d, 409, "POST", "/v1/dlq/{id}/requeue", id);
    check_on_job(d, 404, "POST", "/v1/dlq/{id}/requeue", "x");
}

TEST(answers_about_decisions_and_the_dlq_are_as_described)
{
    struct described d;
    open_described(&d);
    call_for(&d.caller, 201, "POST", "/v1/workflows",
             "workflow: h\nversion: 1\ndlq: true\nsteps: [{human: ask}, {step: a}]\n");
    check_decisions(&d);
    check_dlq(&d);
    close_described(&d);
}

static void check_commit(struct described *d, const struct passage *passage, int status,
                         const char *more)
{
    char body[600];
    snprintf(body, sizeof body, "{\"worker\":\"w\",\"token\":\"%s\",\"revision\":%lld,%s}",
             passage->token, passage->revision, more);
    check_answer(d, status, "POST", "/v1/tasks/{id}/commit", commit_target(passage), body);
}

TEST(answers_about_functions_are_as_described)
{
    static const char path[] = "/v1/instances/{id}/logs";
    struct described d;
    open_described(&d);
    call_for(&d.caller, 201, "POST", "/v1/workflows", "{\"function\":\"order\",\"version\":1}");
    call_for(&d.caller, 201, "POST", "/v1/instances", "{\"workflow\":\"order\"}");
    struct passage passage = claim_passage(&d.caller);
    call_for(&d.caller, 201, "POST", about(&passage, "/signal"), "{\"event\":\"e\"}");
    check_commit(&d, &passage, 200,
                 "\"outcome\":\"go_on\",\"steps\":[" STEP(
                     "1", "k", "start", "completed",
                     "") "],\"logs\":[{\"level\":\"info\",\"message\":\"m\",\"data\":[1]}],"
                         "\"jobs\":[{\"id\":\"11111111-1111-4111-8111-111111111111\",\"seq\":1,"
                         "\"type\":\"t\"}]");
    CHECK_INT(json_array_size(part(&d.caller, "events")), 1);
    CHECK_INT(json_array_size(part(&d.caller, "started")), 1);
    check_on_job(&d, 200, "GET", path, passage.instance);
    CHECK_INT(json_array_size(part(&d.caller, "items")), 1);
    check_on_job(&d, 404, "GET", path, "x");
    check_commit(&d, &passage, 400, "\"outcome\":\"x\"");
    check_commit(&d, &passage, 200,
                 "\"outcome\":\"suspend\",\"claim\":{\"types\":[\"order\"]}");
    CHECK_INT(json_array_size(part(&d.caller, "tasks.0.steps")), 1);
    CHECK_INT(json_array_size(part(&d.caller, "tasks.0.events")), 1);
    strcpy(passage.token, "no");
    check_commit(&d, &passage, 409, "\"outcome\":\"complete\"");
    close_described(&d);
}

TEST(the_other_answers_are_as_described)
{
    struct described d;
    open_described(&d);
    check_answer(&d, 200, "PUT", "/v1/registry/{name}", "/v1/registry/a",
                 "{\"runtime\":\"go\"}");
    check_answer(&d, 200, "GET", "/v1/registry", "/v1/registry", NULL);
    check_answer(&d, 200, "GET", "/v1/clock", "/v1/clock", NULL);
    check_answer(&d, 200, "POST", "/v1/clock/advance", "/v1/clock/advance", "{\"ms\":1}");
    check_answer(&d, 200, "GET", "/v1/stats", "/v1/stats", NULL);
    check_answer(&d, 200, "GET", "/v1/doctor", "/v1/doctor", NULL);
    check_answer(&d, 200, "GET", "/healthz", "/healthz", NULL);
    check_answer(&d, 200, "GET", "/readyz", "/readyz", NULL);
    check_answer(&d, 200, "GET", "/openapi.json", "/openapi.json", NULL);
    close_described(&d);
}
