/* tests/api/test_revoke.c - after a token was revoked nothing more is handed out to it.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * Every route that can wait is asked with a token of every role that may call it, and waits.  Then the tokens are
 * read again: they are gone, or have another role.
 */
#include "http/http.h"
#include "http/listen.h"
#include "socket.h"

#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

enum { ROLES = 4, WAITS_MAX = 32, ID_ROOM = 40 };

static const char *const roles[ROLES] = {"view", "produce", "work", "operate"};

struct site {
    cairn_engine *engine;
    struct http *http;
    struct server server; /* its port, for clients */
    char job[ID_ROOM], instance[ID_ROOM];
};

static struct tokens *read_tokens(const char *text)
{
    char path[] = "/tmp/cairn-tokens-XXXXXX";
    struct tokens *tokens;
    cairn_error error;
    int fd = mkstemp(path);
    CHECK(fd >= 0 && write(fd, text, strlen(text)) == (ssize_t)strlen(text), "no file");
    close(fd);
    CHECK_OK(tokens_read(path, &tokens, &error));
    unlink(path);
    return tokens;
}

/* One token for each role, which then has the role `now`; NULL: it is gone. */
static struct tokens *tokens_of(bool is_before, const char *now)
{
    char text[400];
    int used = snprintf(text, sizeof text, "operate the-operators-own operator\n");
    for (int i = 0; i < ROLES && (is_before || now); i++)
        used += snprintf(text + used, sizeof text - (size_t)used, "%s secret-%s\n",
                         is_before ? roles[i] : now, roles[i]);
    return read_tokens(text);
}

static void start_server(struct site *site)
{
    char where[LISTEN_TEXT];
    cairn_error error;
    struct http_config config = {.engine = site->engine,
                                 .tokens = tokens_of(true, NULL),
                                 .max_connections = 100,
                                 .idle_s = 60};
    CHECK_OK(listen_open("127.0.0.1:0", true, &config.listen_fd, where, &error));
    CHECK_OK(http_start(&config, &site->http, &error));
    site->server.port = atoi(strrchr(where, ':') + 1);
}

static void add_job(struct site *site, const char *type, char ret_id[ID_ROOM])
{
    cairn_error error;
    cairn_job_spec spec = CAIRN_JOB_DEFAULTS;
    cairn_enqueued enqueued;
    spec.type = type;
    CHECK_OK(cairn_enqueue(site->engine, &spec, 1, &enqueued, &error));
    if (ret_id)
        memcpy(ret_id, enqueued.id, ID_ROOM);
}

static struct site site_open(void)
{
    static const char text[] = "workflow: w\nversion: 1\nsteps: [{step: s}]\n";
    struct site site = {0};
    cairn_error error;
    cairn_open_options open = CAIRN_OPEN_DEFAULTS;
    cairn_start_options start = CAIRN_START_DEFAULTS;
    cairn_enqueued started;
    open.url = "memory:";
    CHECK_OK(cairn_open(&open, &site.engine, &error));
    CHECK_OK(cairn_workflow_deploy(site.engine, "w.yaml", text, NULL, &error));
    add_job(&site, "waited_for", site.job);
    start.workflow = "w";
    CHECK_OK(cairn_instance_start(site.engine, &start, &started, &error));
    memcpy(site.instance, started.id, ID_ROOM);
    start_server(&site);
    return site;
}

static void site_close(struct site *site)
{
    http_quiesce(site->http);
    cairn_close(site->engine);
    http_stop(site->http);
}

/* ---- what waits ----------------------------------------------------------------------------- */

struct wait {
    int client;
    const char *role, *method;
    char target[100];
    bool is_stream;
};

#define CLAIM "\"types\":[\"given\"],\"wait_ms\":60000"

/* A task of its own, so that its report is taken and its claim waits. */
static void make_report(struct site *site, char body[400])
{
    cairn_error error;
    cairn_page *page;
    cairn_claim_options claim = CAIRN_CLAIM_DEFAULTS;
    const char *types[] = {"reported"};
    add_job(site, "reported", NULL);
    claim.worker = "w";
    claim.types = types;
    claim.type_count = 1;
    CHECK_OK(cairn_claim(site->engine, &claim, &page, &error));
    const cairn_task *task = cairn_page_task(page, 0);
    snprintf(body, 400,
             "{\"worker\":\"w\",\"results\":[{\"id\":\"%s\",\"token\":\"%s\","
             "\"outcome\":\"complete\"}],\"claim\":{" CLAIM "}}",
             task->id, task->token);
    cairn_page_free(page);
}

/* False: the role may not call it. */
static bool begin_wait(struct site *site, size_t route, const char *role, struct wait *ret)
{
    static const struct {
        const char *method, *target;
    } routes[] = {{"POST", "/v1/tasks/claim"},
                  {"POST", "/v1/tasks/report"},
                  {"GET", "/v1/jobs/%s?wait_ms=60000"},
                  {"GET", "/v1/instances/%s?wait_ms=60000"},
                  {"GET", "/v1/stream"}};
    char body[400] = "";
    *ret = (struct wait){.role = role, .method = routes[route].method, .is_stream = route == 4};
    snprintf(ret->target, sizeof ret->target, routes[route].target, /* NOLINT */
             route == 2 ? site->job : site->instance);
    if (!(access_roles(ret->method, ret->target) & access_role_find(role)))
        return false;
    if (route == 0)
        snprintf(body, sizeof body, "{\"worker\":\"w-%s\"," CLAIM "}", role);
    if (route == 1)
        make_report(site, body);
    ret->client = client_open(&site->server);
    client_say(ret->client,
               "%s %s HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer secret-%s\r\n"
               "Content-Length: %zu\r\n\r\n%s",
               ret->method, ret->target, role, strlen(body), body);
    return true;
}

static size_t begin_waits(struct site *site, struct wait waits[WAITS_MAX])
{
    size_t count = 0;
    for (size_t route = 0; route < 5; route++)
        for (int i = 0; i < ROLES; i++)
            count += begin_wait(site, route, roles[i], &waits[count]);
    CHECK(count >= 10, "only %zu requests wait", count);
    /* What the same thread reads after them. */
    CHECK_INT(request(&site->server, "GET", "/v1/me",
                      "Authorization: Bearer the-operators-own\r\n", NULL)
                  .status,
              200);
    return count;
}

/* ---- what becomes of it --------------------------------------------------------------------- */

static size_t claim_given(struct site *site)
{
    cairn_error error;
    cairn_page *page;
    cairn_claim_options claim = CAIRN_CLAIM_DEFAULTS;
    const char *types[] = {"given"};
    claim.worker = "other";
    claim.types = types;
    claim.type_count = 1;
    CHECK_OK(cairn_claim(site->engine, &claim, &page, &error));
    size_t count = cairn_page_count(page);
    cairn_page_free(page);
    return count;
}

/* It has begun before, and its last chunk comes. */
static void check_stream_ended(const struct wait *wait)
{
    char text[4096];
    size_t used = 0;
    ssize_t more = 1;
    while (more > 0 && (used < 5 || memcmp(text + used - 5, "0\r\n\r\n", 5) != 0)) {
        more = recv(wait->client, text + used, sizeof text - used, 0);
        used += more > 0 ? (size_t)more : 0;
    }
    CHECK(more > 0, "the stream of %s goes on", wait->role);
}

static void check_ended(const struct wait *wait, int status)
{
    struct reply reply = client_hear(wait->client);
    if (wait->is_stream && reply.status == 200) {
        check_stream_ended(wait);
        return;
    }
    CHECK(reply.status == status, "%s %s of %s: %d %s", wait->method, wait->target, wait->role,
          reply.status, reply.body);
}

/* `now`: the role that all tokens have then; NULL: they are gone. */
static void check_revoked(const char *now)
{
    struct site site = site_open();
    struct wait waits[WAITS_MAX];
    size_t count = begin_waits(&site, waits);
    bool may_claim = now && access_roles("POST", "/v1/tasks/claim") & access_role_find(now);
    http_set_tokens(site.http, tokens_of(false, now));
    add_job(&site, "given", NULL);
    if (!may_claim)
        CHECK(claim_given(&site) == 1, "a token that is %s was given a task",
              now ? now : "gone");
    for (size_t i = 0; i < count; i++) {
        const struct wait *wait = &waits[i];
        if (!now || !(access_roles(wait->method, wait->target) & access_role_find(now)))
            check_ended(wait, now ? 403 : 401);
        close(wait->client);
    }
    site_close(&site);
}

TEST(what_waits_ends_when_its_token_is_gone)
{
    check_revoked(NULL);
}

TEST(what_waits_ends_when_its_token_may_no_longer_do_it)
{
    for (int i = 0; i < ROLES; i++)
        check_revoked(roles[i]);
}

TEST(a_request_whose_token_goes_before_its_body_has_come_is_refused)
{
    static const char body[] = "{\"worker\":\"w\",\"types\":[\"given\"],\"wait_ms\":60000}";
    struct site site = site_open();
    int client = client_open(&site.server);
    client_say(client,
               "POST /v1/tasks/claim HTTP/1.1\r\nHost: x\r\nContent-Length: %zu\r\n"
               "Authorization: Bearer secret-work\r\nExpect: 100-continue\r\n\r\n",
               sizeof body - 1);
    CHECK_INT(client_hear_head(client).status, 100); /* the token was looked at */
    http_set_tokens(site.http, tokens_of(false, NULL));
    add_job(&site, "given", NULL);
    client_send(client, body, sizeof body - 1);
    CHECK_INT(client_hear(client).status, 401);
    CHECK_INT(claim_given(&site), 1);
    close(client);
    site_close(&site);
}

TEST(a_server_that_starts_again_without_a_token_gives_it_nothing)
{
    struct site site = site_open();
    struct wait waits[WAITS_MAX];
    size_t count = begin_waits(&site, waits);
    http_quiesce(site.http);
    cairn_end_unwanted(site.engine); /* all are wanted */
    cairn_wake(site.engine, NULL);
    http_stop(site.http);
    for (size_t i = 0; i < count; i++)
        close(waits[i].client);
    start_server(&site);
    http_set_tokens(site.http, tokens_of(false, NULL));
    add_job(&site, "given", NULL);
    count = begin_waits(&site, waits);
    for (size_t i = 0; i < count; i++) {
        CHECK_INT(client_hear(waits[i].client).status, 401);
        close(waits[i].client);
    }
    CHECK_INT(claim_given(&site), 1);
    site_close(&site);
}
