/* tests/api/test_access.c - who may do what on a server, and with which options it starts.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "scratch.h"
#include "socket.h"

#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

/* ---- who may do what ------------------------------------------------------------------------ */

static const char *write_file(const char *text, mode_t mode)
{
    const char *path = scratch_path(".tokens");
    FILE *file = fopen(path, "w");
    fputs(text, file);
    fclose(file);
    chmod(path, mode);
    return path;
}

static void check_says(const struct reply *reply, const char *text)
{
    CHECK(reply->body && strstr(reply->body, text), "%s is not in %s", text,
          reply->body ? reply->body : "nothing");
}

static void check_says_not(const struct reply *reply, const char *text)
{
    CHECK(reply->body && !strstr(reply->body, text), "%s is in %s", text,
          reply->body ? reply->body : "nothing");
}

#define OPERATOR "Authorization: Bearer oooooooo\r\n"

TEST(a_token_says_who_calls)
{
    static const char tokens[] = "operate oooooooo the operator\nview vvvvvvvv\n";
    struct server server =
        server_start((const char *[]){"--token-file", write_file(tokens, 0600), NULL});
    struct reply reply = request(&server, "GET", "/v1/me", OPERATOR, NULL);
    check_says(&reply, "{\"name\":\"the operator\",\"role\":\"operate\",\"auth\":\"token\"");
    check_says(&reply, "\"POST /v1/instances/{}/cancel\"");
    reply = request(&server, "GET", "/v1/me", "Authorization: Bearer vvvvvvvv\r\n", NULL);
    check_says(&reply, "{\"name\":null,\"role\":\"view\"");
    check_says(&reply, "\"GET /v1/instances/{}\"");
    check_says_not(&reply, "POST");
    check_says_not(&reply, "/v1/tasks");

    server_stop(&server);
}

TEST(a_refusal_says_which_role_is_there_and_which_is_needed)
{
    static const char tokens[] =
        "operate oooooooo the operator\nview vvvvvvvv the page\nwork wwwwwwww\n"
        "view dddddddd both\nwork dddddddd both\n";
    static const char body[] = "{\"type\":\"a\"}";
    struct server server =
        server_start((const char *[]){"--token-file", write_file(tokens, 0600), NULL});
    struct reply reply =
        request(&server, "POST", "/v1/jobs", "Authorization: Bearer vvvvvvvv\r\n", body);
    check_says(&reply, "\"the token \\\"the page\\\" has the role view, which does not allow "
                       "this; it needs produce or operate\"");
    check_says_not(&reply, "vvvvvvvv");
    reply = request(&server, "POST", "/v1/purge", "Authorization: Bearer wwwwwwww\r\n", "{}");
    check_says(&reply,
               "\"the token has the role work, which does not allow this; it needs operate\"");
    reply = request(&server, "POST", "/v1/purge", "Authorization: Bearer dddddddd\r\n", "{}");
    check_says(&reply, "\"the token \\\"both\\\" has the role view and work, which");

    server_stop(&server);
}

/* The id in the answer to a call of the operator. */
static const char *ask_id(const struct server *server, const char *target, const char *body,
                          char id[40])
{
    struct reply reply = request(server, "POST", target, OPERATOR, body);
    const char *at = reply.body ? strstr(reply.body, "\"id\":\"") : NULL;
    CHECK(reply.status < 300 && at && sscanf(at, "\"id\":\"%36[^\"]", id) == 1, "%s: %d %s",
          target, reply.status, reply.body);
    return id;
}

/* What the operator asks of /v1/PLACE/ID must be answered with 200. */
static void ask(const struct server *server, const char *method, const char *place,
                const char *id, const char *action, const char *body)
{
    char target[160];
    snprintf(target, sizeof target, "/v1/%s/%s%s", place, id, action);
    struct reply reply = request(server, method, target, OPERATOR, body);
    CHECK(reply.status < 300, "%s: %d %s", target, reply.status, reply.body);
}

/* Whether the member is there, as either store writes it; looks no further than `end`, if not NULL. */
static bool has_member(const char *at, const char *end, const char *name, const char *value)
{
    static const char *const forms[] = {"\"%s\":\"%s\"", "\"%s\": \"%s\""};
    bool has = false;
    for (size_t i = 0; i < 2; i++) {
        char member[80];
        snprintf(member, sizeof member, forms[i], name, value);
        const char *found = strstr(at, member);
        has |= found && (!end || found < end);
    }
    return has;
}

/* The event of this type names the token, and who asked (NULL: nobody is named). */
static void check_event(const struct server *server, const char *place, const char *id,
                        const char *type, const char *by)
{
    char target[160], wanted[60];
    snprintf(target, sizeof target, "/v1/%s/%s/events?limit=100", place, id);
    snprintf(wanted, sizeof wanted, "\"type\":\"%s\"", type);
    struct reply reply = request(server, "GET", target, OPERATOR, NULL);
    const char *at = reply.body ? strstr(reply.body, wanted) : NULL;
    const char *end = at ? strstr(at + 1, "\"type\":") : NULL;
    CHECK(at && has_member(at, end, "token", "the operator"), "%s: no token: %s", type,
          reply.body);
    CHECK(!by || has_member(at, end, "requested_by", by), "%s: not by %s: %s", type, by,
          reply.body);
}

static void check_jobs_tell(const struct server *server)
{
    char id[40];
    ask_id(server, "/v1/jobs", "{\"type\":\"j\"}", id);
    ask(server, "POST", "jobs", id, "/cancel", NULL);
    check_event(server, "jobs", id, "cancelled", NULL);
    ask(server, "POST", "jobs", id, "/retry", NULL);
    check_event(server, "jobs", id, "retried", NULL);
    ask(server, "POST", "jobs", id, "/cancel", NULL);
    ask(server, "DELETE", "jobs", id, "", NULL);
    check_event(server, "jobs", id, "deleted", NULL);
    ask_id(server, "/v1/jobs", "{\"type\":\"j\"}", id);
    ask(server, "DELETE", "jobs", id, "", NULL);
    check_event(server, "jobs", id, "cancelled", NULL);
}

static void check_instances_tell(const struct server *server)
{
    char id[40], again[40], target[100];
    request(server, "POST", "/v1/workflows", OPERATOR,
            "{workflow: w, version: 1, steps: [{wait: a, event: e}]}");
    ask_id(server, "/v1/instances", "{\"workflow\":\"w\"}", id);
    ask(server, "POST", "instances", id, "/pause", NULL);
    ask(server, "POST", "instances", id, "/resume", NULL);
    ask(server, "POST", "instances", id, "/cancel", "{\"by\":\"ann\",\"reason\":\"r\"}");
    check_event(server, "instances", id, "workflow_paused", "the operator");
    check_event(server, "instances", id, "workflow_resumed", NULL);
    check_event(server, "instances", id, "cancellation_started", "ann");
    ask(server, "POST", "instances", id, "/restart", NULL);
    check_event(server, "instances", id, "workflow_restarted", NULL);
    ask(server, "POST", "instances", id, "/abort", "{\"by\":\"ann\",\"reason\":\"r\"}");
    check_event(server, "instances", id, "abort_started", NULL);
    snprintf(target, sizeof target, "/v1/instances/%s/rerun", id);
    ask_id(server, target, "{}", again);
    check_event(server, "instances", again, "workflow_started", NULL);
}

/* Ends the task of one step of such a workflow as dead; the instance. */
static void run_dead(const struct server *server, const char *workflow, const char *start,
                     char id[40])
{
    char held[64], token[64], target[100], body[160];
    request(server, "POST", "/v1/workflows", OPERATOR, workflow);
    ask_id(server, "/v1/instances", start, id);
    struct reply reply = request(server, "POST", "/v1/tasks/claim", OPERATOR,
                                 "{\"worker\":\"w\",\"types\":[\"a\"],\"wait_ms\":10000}");
    const char *at = reply.body ? strstr(reply.body, "\"token\":") : NULL;
    CHECK(at && sscanf(at, "\"token\":\"%63[^\"]", token) == 1, "%s",
          reply.body ? reply.body : "no body");
    at = strstr(reply.body, "\"id\":");
    CHECK(at && sscanf(at, "\"id\":\"%63[^\"]", held) == 1, "%s", reply.body);
    snprintf(target, sizeof target, "/v1/tasks/%s/dead", held);
    snprintf(body, sizeof body, "{\"worker\":\"w\",\"token\":\"%s\",\"error\":\"e\"}", token);
    CHECK_INT(request(server, "POST", target, OPERATOR, body).status, 200);
}

static void check_dead_tell(const struct server *server)
{
    char id[40], record[40];
    run_dead(server, "{workflow: p, version: 1, dlq: true, steps: [{step: a}]}",
             "{\"workflow\":\"p\"}", id);
    struct reply reply = request(server, "GET", "/v1/dlq", OPERATOR, NULL);
    const char *at = reply.body ? strstr(reply.body, "\"id\":") : NULL;
    CHECK(at && sscanf(at, "\"id\":\"%39[^\"]", record) == 1, "%s", reply.body);
    ask(server, "POST", "dlq", record, "/requeue", NULL);
    check_event(server, "instances", id, "dlq_requeued", NULL);
    ask(server, "POST", "instances", id, "/abort", "{\"by\":\"ann\",\"reason\":\"r\"}");
    run_dead(server, "{workflow: f, version: 1, steps: [{step: a}]}", "{\"workflow\":\"f\"}",
             id);
    ask(server, "POST", "instances", id, "/retry", NULL);
    check_event(server, "instances", id, "workflow_retried", NULL);
}

TEST(events_of_control_calls_tell_the_token)
{
    static const char *const kinds[] = {"sqlite", "postgres"};
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        struct server server = server_start(
            (const char *[]){"--url", scratch_store_of(kinds[i]), "--token-file",
                             write_file("operate oooooooo the operator\n", 0600), NULL});
        check_jobs_tell(&server);
        check_instances_tell(&server);
        check_dead_tell(&server);
        server_stop(&server);
    }
}

/* The status without a token, and with the ones of produce, work, operate and view. */
static const struct {
    const char *method, *target, *body;
    int none, produce, work, operate, view;
} cases[] = {
    {"GET", "/healthz", NULL, 200, 200, 200, 200, 200},
    {"GET", "/readyz", NULL, 200, 200, 200, 200, 200},
    {"GET", "/metrics", NULL, 401, 200, 200, 200, 200},
    {"GET", "/v1/clock", NULL, 401, 200, 200, 200, 200},
    {"POST", "/v1/jobs", "{\"type\":\"a\"}", 401, 201, 403, 201, 403},
    {"GET", "/v1/jobs", NULL, 401, 200, 200, 200, 200},
    {"HEAD", "/v1/jobs", NULL, 401, 200, 200, 200, 200},
    {"GET", "/v1/jobs/x", NULL, 401, 404, 404, 404, 404},
    {"GET", "/v1/jobs/x/events?limit=1", NULL, 401, 404, 404, 404, 404},
    {"POST", "/v1/jobs/x/cancel", NULL, 401, 404, 403, 404, 403},
    {"POST", "/v1/jobs/x/%63ancel", NULL, 401, 403, 403, 404, 403},
    {"POST", "/v1/jobs/x/retry", NULL, 401, 403, 403, 404, 403},
    {"DELETE", "/v1/jobs/x", NULL, 401, 403, 403, 404, 403},
    {"GET", "/v1/limits", NULL, 401, 200, 403, 200, 200},
    {"GET", "/v1/limits/x", NULL, 401, 404, 403, 404, 404},
    {"PUT", "/v1/limits/x", "{}", 401, 403, 403, 400, 403},
    {"DELETE", "/v1/limits/x", NULL, 401, 403, 403, 404, 403},
    {"GET", "/v1/schedules", NULL, 401, 200, 403, 200, 200},
    {"GET", "/v1/schedules/x", NULL, 401, 404, 403, 404, 404},
    {"GET", "/v1/schedules/x/next", NULL, 401, 404, 403, 404, 404},
    {"PUT", "/v1/schedules/x", "{}", 401, 403, 403, 400, 403},
    {"DELETE", "/v1/schedules/x", NULL, 401, 403, 403, 404, 403},
    {"POST", "/v1/schedules/x/pause", NULL, 401, 403, 403, 404, 403},
    {"POST", "/v1/schedules/x/resume", NULL, 401, 403, 403, 404, 403},
    {"POST", "/v1/schedules/x/trigger", NULL, 401, 403, 403, 404, 403},
    {"POST", "/v1/tasks/claim", "{\"worker\":\"w\",\"types\":[\"z\"]}", 401, 403, 200, 200,
     403},
    {"POST", "/v1/tasks/x/complete", "{\"worker\":\"w\",\"token\":\"t\"}", 401, 403, 409, 409,
     403},
    {"POST", "/v1/tasks/x/heartbeat", "{\"worker\":\"w\",\"token\":\"t\"}", 401, 403, 409, 409,
     403},
    {"POST", "/v1/tasks/x/wait", "{\"worker\":\"w\",\"token\":\"t\",\"event\":\"e\"}", 401, 403,
     409, 409, 403},
    {"POST", "/v1/workflows", "workflow: w", 401, 403, 403, 400, 403},
    {"POST", "/v1/workflows?only=function", "function: f\nversion: 1", 401, 403, 201, 200, 403},
    {"POST", "/v1/workflows?only=function&file=f", "function: f\nversion: 1", 401, 403, 200,
     200, 403},
    {"POST", "/v1/workflows?only=function", "{workflow: w, version: 1, steps: [{step: a}]}",
     401, 403, 400, 400, 403},
    {"POST", "/v1/workflows?only=function&only=", "function: f\nversion: 1", 401, 403, 400, 400,
     403},
    {"POST", "/v1/workflows?only=function&%6fnly=", "function: f\nversion: 1", 401, 403, 400,
     400, 403},
    {"POST", "/v1/workflows?only=functions", "function: f\nversion: 1", 401, 403, 403, 400,
     403},
    {"POST", "/v1/workflows?file=f&only=function", "function: f\nversion: 1", 401, 403, 403,
     200, 403},
    {"GET", "/v1/workflows", NULL, 401, 200, 200, 200, 200},
    {"GET", "/v1/workflows/w", NULL, 401, 404, 404, 404, 404},
    {"GET", "/v1/workflows/w/1", NULL, 401, 404, 404, 404, 404},
    {"POST", "/v1/instances", "{\"workflow\":\"w\"}", 401, 404, 403, 404, 403},
    {"GET", "/v1/instances", NULL, 401, 200, 200, 200, 200},
    {"GET", "/v1/instances/x", NULL, 401, 404, 404, 404, 404},
    {"GET", "/v1/instances/x/steps", NULL, 401, 404, 404, 404, 404},
    {"GET", "/v1/instances/x/events", NULL, 401, 404, 404, 404, 404},
    {"POST", "/v1/instances/x/signal", "{\"event\":\"e\"}", 401, 404, 403, 404, 403},
    {"POST", "/v1/instances/x/pause", NULL, 401, 403, 403, 404, 403},
    {"POST", "/v1/instances/x/resume", NULL, 401, 403, 403, 404, 403},
    {"POST", "/v1/instances/x/restart", NULL, 401, 403, 403, 404, 403},
    {"POST", "/v1/instances/x/rerun", "{}", 401, 403, 403, 404, 403},
    {"POST", "/v1/instances/x/retry", NULL, 401, 403, 403, 404, 403},
    {"POST", "/v1/instances/x/cancel", "{\"by\":\"b\",\"reason\":\"r\"}", 401, 403, 403, 404,
     403},
    {"POST", "/v1/instances/x/abort", "{\"by\":\"b\",\"reason\":\"r\"}", 401, 403, 403, 404,
     403},
    {"POST", "/v1/outbox/claim", "{\"worker\":\"w\"}", 401, 403, 200, 200, 403},
    {"POST", "/v1/outbox/1/ack", NULL, 401, 403, 404, 404, 403},
    {"POST", "/v1/outbox/1/release", "{\"worker\":\"w\"}", 401, 403, 404, 404, 403},
    {"GET", "/v1/outbox", NULL, 401, 200, 200, 200, 200},
    {"GET", "/v1/events", NULL, 401, 200, 403, 200, 200},
    {"GET", "/v1/stream?cursor=x", NULL, 401, 400, 403, 400, 400},
    {"GET", "/v1/registry", NULL, 401, 403, 403, 200, 200},
    {"PUT", "/v1/registry/a", "{\"runtime\":\"go\"}", 401, 403, 403, 200, 403},
    {"GET", "/v1/doctor", NULL, 401, 403, 403, 200, 200},
    {"POST", "/v1/clock/advance", "{\"ms\":1}", 401, 403, 403, 409, 403},
    {"GET", "/v1/me", NULL, 401, 200, 200, 200, 200},
    {"GET", "/v1/about", NULL, 401, 200, 200, 200, 200},
    {"GET", "/v1/instances/x/why", NULL, 401, 404, 404, 404, 404},
    {"GET", "/v1/tasks/x.0/context?worker=w&token=t", NULL, 401, 403, 409, 409, 403},
    {"GET", "/v1/jobs/counts", NULL, 401, 200, 200, 200, 200},
    {"GET", "/v1/instances/counts", NULL, 401, 200, 200, 200, 200},
    {"GET", "/v1/dlq", NULL, 401, 200, 200, 200, 200},
    {"GET", "/v1/jobs/x/payload", NULL, 401, 404, 404, 404, 404},
    {"GET", "/v1/jobs/x/result", NULL, 401, 404, 404, 404, 404},
    {"GET", "/v1/instances/x/input", NULL, 401, 404, 404, 404, 404},
    {"GET", "/v1/instances/x/output", NULL, 401, 404, 404, 404, 404},
    {"GET", "/v1/instances/x/signals", NULL, 401, 404, 404, 404, 404},
    {"GET", "/v1/instances/x/outbox", NULL, 401, 404, 404, 404, 404},
    {"GET", "/v1/instances/x/logs", NULL, 401, 404, 404, 404, 404},
    {"GET", "/v1/instances/x/decisions", NULL, 401, 404, 404, 404, 404},
    {"GET", "/v1/dlq/1", NULL, 401, 404, 404, 404, 404},
    {"GET", "/v1/dlq/1/input", NULL, 401, 404, 404, 404, 404},
    {"GET", "/v1/steps/x.0", NULL, 401, 404, 404, 404, 404},
    {"GET", "/v1/steps/x.0/input", NULL, 401, 404, 404, 404, 404},
    {"GET", "/v1/steps/x.0/output", NULL, 401, 404, 404, 404, 404},
    {"GET", "/v1/workflows/w/1/grid", NULL, 401, 404, 404, 404, 404},
    {"GET", "/v1/workers", NULL, 401, 200, 403, 200, 200},
    {"GET", "/v1/types", NULL, 401, 200, 403, 200, 200},
    {"GET", "/v1/approvals", NULL, 401, 200, 403, 200, 200},
    {"GET", "/v1/errors", NULL, 401, 200, 403, 200, 200},
    {"GET", "/v1/overview", NULL, 401, 200, 403, 200, 200},
    {"GET", "/v1/needs", NULL, 401, 200, 403, 200, 200},
    {"GET", "/v1/find?q=x", NULL, 401, 200, 403, 200, 200},
    {"GET", "/v1/workers/x/tasks", NULL, 401, 200, 403, 200, 200},
    {"GET", "/v1/retention", NULL, 401, 403, 403, 200, 200},
    {"PUT", "/v1/retention", "{}", 401, 403, 403, 400, 403},
    {"POST", "/v1/purge", "{}", 401, 403, 403, 400, 403},
    {"DELETE", "/v1/instances/x", NULL, 401, 403, 403, 404, 403},
    {"POST", "/v1/bulk", "{}", 401, 403, 403, 400, 403},
    {"GET", "/v1/bulk", NULL, 401, 403, 403, 200, 403},
    {"GET", "/v1/bulk/x", NULL, 401, 403, 403, 404, 403},
    {"POST", "/v1/bulk/x/stop", NULL, 401, 403, 403, 404, 403},
    {"POST", "/v1/dlq/1/requeue", NULL, 401, 403, 403, 404, 403},
    {"POST", "/v1/instances/x/steps/s/decision", "{\"decision\":\"confirmed\",\"by\":\"b\"}",
     401, 403, 403, 404, 403},
    {"POST", "/v1/tasks/report", "{\"worker\":\"w\",\"results\":[]}", 401, 403, 400, 400, 403},
    {"POST", "/v1/tasks/heartbeat", "{}", 401, 403, 400, 400, 403},
    {"POST", "/v1/tasks/idle", "{}", 401, 403, 400, 400, 403},
    {"POST", "/v1/tasks/wake", "{\"worker\":\"w\"}", 401, 403, 200, 200, 403},
    {"POST", "/v1/tasks/x/fail", "{\"worker\":\"w\",\"token\":\"t\",\"error\":\"e\"}", 401, 403,
     409, 409, 403},
    {"POST", "/v1/tasks/x/retry", "{\"worker\":\"w\",\"token\":\"t\",\"error\":\"e\"}", 401,
     403, 409, 409, 403},
    {"POST", "/v1/tasks/x/dead", "{\"worker\":\"w\",\"token\":\"t\",\"error\":\"e\"}", 401, 403,
     409, 409, 403},
    {"POST", "/v1/tasks/x/release", "{\"worker\":\"w\",\"token\":\"t\"}", 401, 403, 409, 409,
     403},
    {"POST", "/v1/tasks/x/commit",
     "{\"worker\":\"w\",\"token\":\"t\",\"revision\":0,\"outcome\":\"complete\"}", 401, 403,
     409, 409, 403},
    {"GET", "/v1/stats", NULL, 401, 200, 200, 200, 200},
    {"GET", "/openapi.json", NULL, 401, 200, 200, 200, 200},
    {"GET", "/nothing", NULL, 401, 403, 403, 404, 403},
};

/* Whether a row of the table calls the route: {id} is a name of the table, such as x or x.0, which are shorter than
 * any word of a route. */
static bool is_called(const char *target, const char *path)
{
    enum { NAME_MAX_LEN = 3 };
    while (*path == '{') {
        size_t len = strcspn(target, "/?");
        if (!len || len > NAME_MAX_LEN)
            return false;
        target += len;
        path += strcspn(path, "}") + 1;
    }
    if (!*path)
        return !*target || *target == '?';
    return *path == *target && is_called(target + 1, path + 1);
}

TEST(the_table_has_every_route)
{
    char line[300], method[16], path[120];
    size_t count = 0;
    const char *name = getenv("CAIRN_OPERATIONS");
    FILE *file = fopen(name ? name : "spec/operations.txt", "r");
    CHECK(file, "CAIRN_OPERATIONS is not the list of operations");
    while (fgets(line, sizeof line, file)) {
        bool is_there = false;
        if (sscanf(line, "%15[A-Z] %119[^ \n]", method, path) != 2 || path[0] != '/')
            continue;
        for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
            is_there |=
                strcmp(cases[i].method, method) == 0 && is_called(cases[i].target, path);
        CHECK(is_there, "no row says who may call %s %s", method, path);
        count++;
    }
    CHECK(count > 100, "%zu operations", count);
    fclose(file);
}

TEST(tokens_have_roles)
{
    static const char tokens[] = "# who may do what\n\nproduce  pppppppp shop\nwork wwwwwwww\n"
                                 "operate\toooooooo the operator\nview vvvvvvvv ada\n";
    static const char *const headers[] = {
        "", "Authorization: Bearer pppppppp\r\n", "Authorization: bearer  wwwwwwww\r\n",
        "Authorization: Bearer oooooooo\r\n", "Authorization: Bearer vvvvvvvv\r\n"};
    struct server server =
        server_start((const char *[]){"--token-file", write_file(tokens, 0600), NULL});
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const int wanted[] = {cases[i].none, cases[i].produce, cases[i].work, cases[i].operate,
                              cases[i].view};
        for (size_t who = 0; who < 5; who++) {
            struct reply reply =
                request(&server, cases[i].method, cases[i].target, headers[who], cases[i].body);
            CHECK(reply.status == wanted[who], "%s %s %s: %d, not %d: %s", cases[i].method,
                  cases[i].target, headers[who], reply.status, wanted[who], reply.body);
            CHECK(reply.status != 401 || strstr(reply.head, "WWW-Authenticate: Bearer"), "%s",
                  reply.head);
        }
    }
    static const char *const wrong[] = {
        "Authorization: Bearer ppppppp\r\n",  "Authorization: Bearer ppppppppp\r\n",
        "Authorization: Bearer PPPPPPPP\r\n", "Authorization: Bearer \r\n",
        "Authorization: Basic pppppppp\r\n",  "Authorization: pppppppp\r\n"};
    for (size_t i = 0; i < 6; i++)
        CHECK(request(&server, "GET", "/v1/jobs", wrong[i], NULL).status == 401, "%s",
              wrong[i]);
    CHECK_INT(server_stop(&server), 0);
}

TEST(without_tokens_no_strange_site_can_change_anything)
{
    struct server server = server_start_plain();
    static const struct {
        const char *method, *headers;
        int status;
    } calls[] = {{"POST", "Sec-Fetch-Site: cross-site\r\n", 403},
                 {"POST", "Sec-Fetch-Site: same-site\r\n", 403},
                 {"POST", "Sec-Fetch-Site: Cross-Site\r\n", 403},
                 {"PUT", "Sec-Fetch-Site: cross-site\r\n", 403},
                 {"DELETE", "Sec-Fetch-Site: cross-site\r\n", 403},
                 {"OPTIONS", "Sec-Fetch-Site: same-site\r\n", 403},
                 {"POST", "Sec-Fetch-Site: same-origin\r\n", 201},
                 {"POST", "Sec-Fetch-Site: none\r\n", 201},
                 {"POST", "", 201},
                 {"GET", "Sec-Fetch-Site: cross-site\r\n", 200},
                 {"HEAD", "Sec-Fetch-Site: same-site\r\n", 200}};
    for (size_t i = 0; i < sizeof calls / sizeof *calls; i++) {
        const char *body = strcmp(calls[i].method, "POST") == 0 ? "{\"type\": \"t\"}" : NULL;
        int status =
            request(&server, calls[i].method, "/v1/jobs", calls[i].headers, body).status;
        CHECK(status == calls[i].status, "%s %s: %d", calls[i].method, calls[i].headers,
              status);
    }
    CHECK_INT(server_stop(&server), 0);
}

TEST(without_tokens_no_strange_page_can_call)
{
    struct server server = server_start_plain();
    char headers[100];
    CHECK_INT(
        request(&server, "GET", "/v1/jobs", "Origin: http://evil.example\r\n", NULL).status,
        403);
    CHECK_INT(request(&server, "GET", "/v1/jobs", "Origin: null\r\n", NULL).status, 403);
    snprintf(headers, sizeof headers, "Origin: http://127.0.0.1:%d\r\n", server.port);
    CHECK_INT(request(&server, "GET", "/v1/jobs", headers, NULL).status, 200);
    static const struct {
        const char *host;
        int status;
    } hosts[] = {{"localhost", 200},        {"LOCALHOST:80", 200},
                 {"[::1]:80", 200},         {"127.1.2.3", 200},
                 {"evil.example", 403},     {"127.0.0.1.evil.example", 403},
                 {"localhost.evil.x", 403}, {"10.0.0.1:22476", 403}};
    for (size_t i = 0; i < sizeof hosts / sizeof *hosts; i++) {
        int client = client_open(&server);
        client_say(client, "GET /v1/jobs HTTP/1.1\r\nHost: %s\r\n\r\n", hosts[i].host);
        CHECK(client_hear(client).status == hosts[i].status, "%s", hosts[i].host);
        close(client);
    }
    CHECK_INT(server_stop(&server), 0);
}

/* ---- starting ------------------------------------------------------------------------------- */

static void check_start(int code, const char *says, const char *const *options)
{
    char said[8000];
    int seen = server_run(options, said, sizeof said);
    CHECK(seen == code, "%s %s: exit code %d: %s", options[0], options[1], seen, said);
    CHECK(strstr(said, says), "%s %s said: %s", options[0], options[1], said);
}

#define OPTIONS(...) ((const char *[]){__VA_ARGS__, NULL})

TEST(wrong_usage_ends_with_2)
{
    check_start(2, "Did you mean: --listen", OPTIONS("--lisen", "x"));
    check_start(2, "--listen", OPTIONS("--listen"));
    check_start(2, "cannot take \"now\"", OPTIONS("now"));
    check_start(2, "--max-connections", OPTIONS("--max-connections", "0"));
    check_start(2, "--idle-timeout", OPTIONS("--idle-timeout", "soon"));
    check_start(2, "not an address", OPTIONS("--listen", "22476"));
    check_start(2, "not an address", OPTIONS("--listen", "127.0.0.1:99999"));
    check_start(2, "not an address", OPTIONS("--listen", "::1:80"));
    check_start(2, "it is a server already", OPTIONS("--url", "http://127.0.0.1:1"));
    check_start(2, "", OPTIONS("--listen", "127.0.0.1:0", "--url", "mysql://x"));
    check_start(2, "--token-file, or listen on 127.0.0.1", OPTIONS("--listen", "0.0.0.0:0"));
    check_start(2, "other machines can reach it", OPTIONS("--listen", "[::]:0"));
    check_start(0, "Example:", OPTIONS("--help"));
}

TEST(a_token_file_must_be_private_and_right)
{
    static const char good[] = "work abcdefgh\n";
    check_start(2, "can be read by every user",
                OPTIONS("--token-file", write_file(good, 0604)));
    check_start(2, "can be written by every user",
                OPTIONS("--token-file", write_file(good, 0602)));
    check_start(2, "could not open", OPTIONS("--token-file", "/nonexistent/tokens"));
    check_start(2, "has no token", OPTIONS("--token-file", write_file("# none\n", 0600)));
    const char *wrong = write_file("work abcdefgh\nwrok secret12\n", 0600);
    check_start(2, "line 2", OPTIONS("--token-file", wrong));
    char said[8000];
    server_run(OPTIONS("--token-file", wrong), said, sizeof said);
    CHECK(!strstr(said, "secret12"), "a token was printed: %s", said);
    check_start(2, "line 1", OPTIONS("--token-file", write_file("operate\n", 0600)));
    check_start(2, "line 1: the name is not UTF-8",
                OPTIONS("--token-file", write_file("view abcdefgh J\xfcrgen\n", 0600)));
}

TEST(a_taken_address_or_an_unreachable_store_ends_with_3)
{
    struct server server = server_start_plain();
    char address[32];
    snprintf(address, sizeof address, "127.0.0.1:%d", server.port);
    check_start(3, "could not listen on", OPTIONS("--listen", address, "--url", "memory:"));
    CHECK_INT(server_stop(&server), 0);
    check_start(3, "could not connect",
                OPTIONS("--listen", "127.0.0.1:0", "--url", "postgres://127.0.0.1:1/x"));
}
