/* tests/api/test_http.c - the server on real sockets: what arrives in pieces, too large, wrong, or
 * from clients that leave.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "scratch.h"
#include "socket.h"

#include <arpa/inet.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#define HOST "Host: localhost\r\n"
#define IDLE_S "3" /* longer than a busy machine keeps a client that means well */

static void add_job(const struct server *server, const char *type)
{
    char body[100];
    snprintf(body, sizeof body, "{\"type\":\"%s\"}", type);
    CHECK_INT(request(server, "POST", "/v1/jobs", "", body).status, 201);
}

static void say_claim(int client, const char *type, int wait_ms)
{
    char body[200];
    snprintf(body, sizeof body, "{\"worker\":\"w\",\"types\":[\"%s\"],\"wait_ms\":%d}", type,
             wait_ms);
    client_say(client, "POST /v1/tasks/claim HTTP/1.1\r\n" HOST "Content-Length: %zu\r\n\r\n%s",
               strlen(body), body);
}

static bool can_claim(const struct server *server, const char *type)
{
    char body[100];
    snprintf(body, sizeof body, "{\"worker\":\"v\",\"types\":[\"%s\"]}", type);
    struct reply reply = request(server, "POST", "/v1/tasks/claim", "", body);
    CHECK_INT(reply.status, 200);
    return strstr(reply.body, "\"token\"") != NULL;
}

static void check_alive(const struct server *server)
{
    struct reply reply = request(server, "GET", "/readyz", "", NULL);
    CHECK(reply.status == 200, "the server answers %d", reply.status);
}

TEST(a_request_may_come_byte_by_byte)
{
    static const char text[] =
        "POST /v1/jobs HTTP/1.1\r\n" HOST "Content-Length: 12\r\n\r\n{\"type\":\"a\"}";
    struct server server = server_start_plain();
    int client = client_open(&server);
    for (size_t i = 0; i < strlen(text); i++)
        client_send(client, text + i, 1);
    CHECK_INT(client_hear(client).status, 201);
    close(client);
    CHECK_INT(server_stop(&server), 0);
}

TEST(a_chunked_body_is_put_together)
{
    struct server server = server_start_plain();
    int client = client_open(&server);
    client_say(client, "POST /v1/jobs HTTP/1.1\r\n" HOST "Transfer-Encoding: chunked\r\n\r\n"
                       "5\r\n{\"typ\r\n7;x=y\r\ne\":\"a\"}\r\n0\r\n\r\n");
    struct reply reply = client_hear(client);
    CHECK(reply.status == 201, "%d %s", reply.status, reply.body);
    close(client);
    CHECK_INT(server_stop(&server), 0);
}

TEST(requests_on_one_connection_are_answered_in_order)
{
    struct server server = server_start_plain();
    int client = client_open(&server);
    for (int i = 0; i < 20; i++)
        client_say(client, "POST /v1/jobs HTTP/1.1\r\n" HOST "Content-Length: 12\r\n\r\n"
                           "{\"type\":\"a\"}GET /v1/clock HTTP/1.1\r\n" HOST "\r\n");
    for (int i = 0; i < 20; i++) {
        CHECK_INT(client_hear(client).status, 201);
        struct reply reply = client_hear(client);
        CHECK(strstr(reply.body, "\"now\""), "%s", reply.body);
    }
    close(client);
    CHECK_INT(server_stop(&server), 0);
}

TEST(answers_are_json_and_connections_stay_open)
{
    struct server server = server_start_plain();
    int client = client_open(&server);
    client_say(client, "GET /v1/jobs HTTP/1.1\r\n" HOST "\r\n");
    struct reply reply = client_hear(client);
    CHECK(strstr(reply.head, "Content-Type: application/json\r\n"), "%s", reply.head);
    client_say(client, "GET /metrics HTTP/1.1\r\n" HOST "\r\n");
    reply = client_hear(client);
    CHECK(strstr(reply.head, "Content-Type: text/plain"), "%s", reply.head);
    close(client);
    CHECK_INT(server_stop(&server), 0);
}

TEST(a_payload_alone_is_a_download)
{
    struct server server = server_start_plain();
    char id[40], target[100];
    struct reply reply =
        request(&server, "POST", "/v1/jobs", "", "{\"type\":\"a\",\"payload\":[1]}");
    CHECK_INT(reply.status, 201);
    CHECK(!strstr(reply.head, "Content-Disposition"), "%s", reply.head);
    CHECK(sscanf(reply.body, "{\"id\":\"%36[^\"]", id) == 1, "%s", reply.body);
    snprintf(target, sizeof target, "/v1/jobs/%s/payload", id);
    reply = request(&server, "GET", target, "", NULL);
    CHECK_INT(reply.status, 200);
    CHECK(strstr(reply.head, "Content-Disposition: attachment"), "%s", reply.head);
    CHECK(strstr(reply.head, "X-Content-Type-Options: nosniff"), "%s", reply.head);
    CHECK(strncmp(reply.body, "[1]", 3) == 0, "%s", reply.body);
    CHECK_INT(server_stop(&server), 0);
}

TEST(head_options_and_wrong_methods_are_answered_as_http_wants)
{
    struct server server = server_start_plain();
    struct reply reply = request(&server, "HEAD", "/v1/jobs", "", NULL);
    CHECK_INT(reply.status, 200);
    CHECK(strstr(reply.head, "Content-Length: "), "%s", reply.head);
    reply = request(&server, "OPTIONS", "/v1/jobs/x", "", NULL);
    CHECK_INT(reply.status, 204);
    CHECK(strstr(reply.head, "Allow: GET, HEAD, DELETE, OPTIONS\r\n"), "%s", reply.head);
    CHECK_INT(request(&server, "OPTIONS", "/nothing", "", NULL).status, 404);
    reply = request(&server, "PATCH", "/v1/jobs?x=1", "", NULL);
    CHECK_INT(reply.status, 405);
    CHECK(strstr(reply.head, "Allow: POST, GET, HEAD, OPTIONS\r\n"), "%s", reply.head);
    CHECK_INT(request(&server, "GET", "/v1/job", "", NULL).status, 404);
    CHECK_INT(server_stop(&server), 0);
}

TEST(a_target_may_be_a_whole_url)
{
    struct server server = server_start_plain();
    CHECK_INT(request(&server, "GET", "http://localhost/v1/jobs?limit=1", "", NULL).status,
              200);
    CHECK_INT(request(&server, "GET", "http://localhost?limit=1", "", NULL).status, 404);
    CHECK_INT(request(&server, "GET", "http://localhost", "", NULL).status, 404);
    CHECK_INT(server_stop(&server), 0);
}

TEST(malformed_http_harms_nobody)
{
    static const struct {
        const char *text;
        size_t len;
    } cases[] = {
#define CASE(text) {text, sizeof text - 1}
        CASE("\r\n\r\n\r\n"),
        CASE("GET\r\n\r\n"),
        CASE("\0\0\0\0\0\0\0\0\r\n\r\n"),
        CASE("\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03"),
        CASE("GET /v1/jobs HTTP/9.9\r\n" HOST "\r\n"),
        CASE("GET /v1/jobs\0?x HTTP/1.1\r\n" HOST "\r\n"),
        CASE("GET /v1/jobs/\xff\xfe HTTP/1.1\r\n" HOST "\r\n"),
        CASE("GET /v1/jobs/%zz HTTP/1.1\r\n" HOST "\r\n"),
        CASE("POST /v1/jobs HTTP/1.1\r\n" HOST "Content-Length: -5\r\n\r\n{}"),
        CASE("POST /v1/jobs HTTP/1.1\r\n" HOST "Content-Length: five\r\n\r\n{}"),
        CASE("POST /v1/jobs HTTP/1.1\r\n" HOST
             "Content-Length: 99999999999999999999999\r\n\r\n{}"),
        CASE("POST /v1/jobs HTTP/1.1\r\n" HOST
             "Transfer-Encoding: chunked\r\n\r\nzz\r\n{}\r\n0\r\n\r\n"),
        CASE("POST /v1/jobs HTTP/1.1\r\n" HOST
             "Transfer-Encoding: chunked\r\n\r\nffffffffffffffff\r\n{}"),
        CASE("POST /v1/jobs HTTP/1.1\r\n" HOST
             "Content-Encoding: gzip\r\nContent-Length: 2\r\n\r\n{}"),
        CASE("OPTIONS * HTTP/1.1\r\n" HOST "\r\n"),
#undef CASE
    };
    struct server server = server_start((const char *[]){"--idle-timeout", IDLE_S, NULL});
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        int client = client_open(&server);
        client_send(client, cases[i].text, cases[i].len);
        shutdown(client, SHUT_WR);
        struct reply reply = client_hear(client);
        CHECK(reply.status == 0 || reply.status == 200 || reply.status >= 400, "case %zu: %d",
              i, reply.status);
        close(client);
        check_alive(&server);
    }
    CHECK(strstr(request(&server, "GET", "/v1/stats", "", NULL).body, "\"enqueued\":0"),
          "something was written");
    CHECK_INT(server_stop(&server), 0);
}

TEST(headers_have_a_limit)
{
    struct server server = server_start_plain();
    char *large = malloc(100001);
    memset(large, 'a', 100000);
    large[100000] = '\0';
    int client = client_open(&server);
    client_say(client, "GET /healthz HTTP/1.1\r\n" HOST "X-Large: %s\r\n\r\n", large);
    int status = client_hear(client).status;
    CHECK(status == 0 || status >= 400, "%d", status);
    close(client);
    client = client_open(&server);
    client_say(client, "GET /%s HTTP/1.1\r\n" HOST "\r\n", large);
    status = client_hear(client).status;
    CHECK(status == 0 || status >= 400, "%d", status);
    close(client);
    check_alive(&server);
    free(large);
    CHECK_INT(server_stop(&server), 0);
}

TEST(bad_bodies_are_refused_with_their_reason)
{
    static const struct {
        const char *body, *says;
    } cases[] = {
        {"{\"type\":", "body is not JSON"},
        {"{\"type\":\"\xff\"}", "body is not UTF-8"},
        {"{\"type\":\"a\",\"priority\":2.5}", "priority"},
        {"{\"type\":\"a\",\"surplus\":1}", "surplus"},
    };
    struct server server = server_start_plain();
    for (size_t i = 0; i < 4; i++) {
        struct reply reply = request(&server, "POST", "/v1/jobs", "", cases[i].body);
        CHECK(reply.status == 400 && strstr(reply.body, cases[i].says), "%s: %d %s",
              cases[i].body, reply.status, reply.body);
    }
    CHECK_INT(request(&server, "POST", "/v1/jobs", "",
                      "{\"type\":\"'; DROP TABLE workflow_run; --\"}")
                  .status,
              201);
    CHECK_INT(server_stop(&server), 0);
}

enum { TOO_LARGE = 17 * 1024 * 1024 };

TEST(a_body_that_is_too_large_is_read_on_and_answered_with_413)
{
    struct server server = server_start_plain();
    char *body = malloc(TOO_LARGE);
    memset(body, ' ', TOO_LARGE);

    int client = client_open(&server);
    client_say(client, "POST /v1/jobs HTTP/1.1\r\n" HOST "Content-Length: %d\r\n\r\n",
               (int)TOO_LARGE);
    client_send(client, body, TOO_LARGE);
    struct reply reply = client_hear(client);
    CHECK(reply.status == 413 && strstr(reply.body, "\"too_large\""), "%d %s", reply.status,
          reply.body);
    client_say(client,
               "GET /healthz HTTP/1.1\r\n" HOST "\r\n"); /* the connection still holds */
    CHECK_INT(client_hear(client).status, 200);
    close(client);

    client = client_open(&server);
    client_say(client,
               "POST /v1/jobs HTTP/1.1\r\n" HOST "Transfer-Encoding: chunked\r\n\r\n%x\r\n",
               (unsigned)TOO_LARGE);
    client_send(client, body, TOO_LARGE);
    client_say(client, "\r\n0\r\n\r\n");
    CHECK_INT(client_hear(client).status, 413);
    close(client);

    client = client_open(&server);
    client_say(client,
               "POST /v1/jobs HTTP/1.1\r\n" HOST
               "Expect: 100-continue\r\nContent-Length: %d\r\n\r\n",
               (int)TOO_LARGE);
    CHECK_INT(client_hear(client).status, 413);
    close(client);
    check_alive(&server);
    free(body);
    CHECK_INT(server_stop(&server), 0);
}

TEST(half_a_request_is_dropped_and_holds_up_nobody)
{
    static const char *const halves[] = {
        "POST /v1/jobs HTTP/1.1\r\nHost: loc",
        "POST /v1/jobs HTTP/1.1\r\n" HOST "Content-Length: 12\r\n\r\n{\"ty",
        "POST /v1/jobs HTTP/1.1\r\n" HOST "Transfer-Encoding: chunked\r\n\r\n5\r\n{\"t",
        "",
    };
    struct server server = server_start((const char *[]){"--idle-timeout", IDLE_S, NULL});
    int clients[4];
    for (size_t i = 0; i < 4; i++) {
        clients[i] = client_open(&server);
        client_say(clients[i], "%s", halves[i]);
    }
    check_alive(&server);
    for (size_t i = 0; i < 4; i++) {
        CHECK(client_is_dropped(clients[i]), "client %zu is still held", i);
        close(clients[i]);
    }
    CHECK(strstr(request(&server, "GET", "/v1/stats", "", NULL).body, "\"enqueued\":0"),
          "half a request was carried out");
    CHECK_INT(server_stop(&server), 0);
}

TEST(a_client_that_stops_reading_is_dropped_and_holds_up_nobody)
{
    struct server server = server_start((const char *[]){"--idle-timeout", IDLE_S, NULL});
    char *payload = malloc(1000001), *body;
    memset(payload, 'x', 1000000);
    payload[1000000] = '\0';
    CHECK(asprintf(&body, "{\"type\":\"a\",\"payload\":\"%s\"}", payload) > 0, "no memory");
    free(payload);
    for (int i = 0; i < 12; i++)
        CHECK_INT(request(&server, "POST", "/v1/jobs", "", body).status, 201);
    free(body);
    int small = 65536;
    int client = client_open(&server);
    setsockopt(client, SOL_SOCKET, SO_RCVBUF, &small, sizeof small);
    client_say(client, "GET /v1/jobs HTTP/1.1\r\n" HOST "\r\n");
    char first;
    CHECK_INT(recv(client, &first, 1, MSG_PEEK),
              1); /* from now on it is the server that waits */
    check_alive(&server);

    /* One that came later and is as silent is dropped later. */
    int witness = client_open(&server);
    CHECK(client_is_dropped(witness), "an idle client is still held");
    close(witness);
    size_t seen = 0;
    char piece[65536];
    for (ssize_t more; (more = recv(client, piece, sizeof piece, 0)) > 0;)
        seen += (size_t)more;
    CHECK(seen > 0 && seen < 12000000, "%zu bytes came: the client was waited for", seen);
    close(client);
    check_alive(&server);
    CHECK_INT(server_stop(&server), 0);
}

/* ---- claims that wait ----------------------------------------------------------------------- */

TEST(a_waiting_claim_is_answered_when_a_job_comes)
{
    struct server server = server_start_plain();
    int client = client_open(&server);
    say_claim(client, "a", 60000);
    CHECK(!can_claim(&server, "b"), "there is a job");
    add_job(&server, "a");
    struct reply reply = client_hear(client);
    CHECK(reply.status == 200 && strstr(reply.body, "\"token\""), "%d %s", reply.status,
          reply.body);
    close(client);
    CHECK_INT(server_stop(&server), 0);
}

static void check_leaving(bool is_half)
{
    struct server server = server_start_plain();
    for (int i = 0; i < 5; i++) {
        int client = client_open(&server);
        say_claim(client, "a", 60000);
        CHECK(!can_claim(&server, "b"), "there is a job"); /* by now the claim waits */
        if (is_half)
            shutdown(client, SHUT_WR);
        else
            close(client);
        CHECK(!can_claim(&server, "b"), "there is a job");
        add_job(&server, "a");
        CHECK(can_claim(&server, "a"), "round %d: the job went to a client that had left", i);
        if (is_half)
            close(client);
    }
    CHECK_INT(server_stop(&server), 0);
}

TEST(a_client_that_leaves_a_waiting_claim_swallows_no_job)
{
    check_leaving(false);
}

TEST(a_client_that_closes_its_side_swallows_no_job)
{
    check_leaving(true);
}

TEST(a_hundred_waiting_claims_cost_no_thread_each)
{
    enum { COUNT = 100 };
    struct server server = server_start_plain();
    int clients[COUNT];
    char path[64], line[200];
    int threads = 0;
    for (int i = 0; i < COUNT; i++) {
        clients[i] = client_open(&server);
        say_claim(clients[i], "a", 60000);
    }
    check_alive(&server);
    snprintf(path, sizeof path, "/proc/%d/status", (int)server.pid);
    FILE *file = fopen(path, "r");
    while (file && fgets(line, sizeof line, file))
        sscanf(line, "Threads: %d", &threads);
    fclose(file);
    CHECK(threads > 0 && threads < 20, "%d threads", threads);
    for (int i = 0; i < COUNT; i++)
        add_job(&server, "a");
    for (int i = 0; i < COUNT; i++) {
        struct reply reply = client_hear(clients[i]);
        CHECK(strstr(reply.body, "\"token\""), "client %d: %d %s", i, reply.status, reply.body);
        close(clients[i]);
    }
    CHECK_INT(server_stop(&server), 0);
}

TEST(a_stop_answers_what_waits_and_ends_with_0)
{
    struct server server = server_start_plain();
    int waiting = client_open(&server), idle = client_open(&server);
    say_claim(waiting, "a", 60000);
    CHECK(!can_claim(&server, "b"), "there is a job");
    CHECK_INT(server_stop(&server), 0);
    struct reply reply = client_hear(waiting);
    CHECK(reply.status == 503 && strstr(reply.body, "\"closed\""), "%d %s", reply.status,
          reply.body);
    CHECK(strstr(reply.head, "Connection: close"), "%s", reply.head);
    CHECK(client_is_dropped(idle), "an idle connection is still held");
    close(waiting);
    close(idle);
}

/* ---- many connections ----------------------------------------------------------------------- */

TEST(ten_thousand_idle_connections_are_held)
{
    struct rlimit files;
    getrlimit(RLIMIT_NOFILE, &files);
    files.rlim_cur = files.rlim_max;
    setrlimit(RLIMIT_NOFILE, &files);
    size_t count = files.rlim_cur == RLIM_INFINITY || files.rlim_cur > 10200
                       ? 9990
                       : (size_t)files.rlim_cur - 200;
    CHECK(count >= 2000, "only %zu files may be open; raise the hard limit (ulimit -Hn)",
          (size_t)files.rlim_cur);
    if (count < 9990)
        fprintf(stderr, "%zu connections instead of 9990: the limit of open files is %zu\n",
                count, (size_t)files.rlim_cur);
    struct server server = server_start((const char *[]){"--idle-timeout", "600", NULL});
    int *clients = calloc(count, sizeof *clients);
    for (size_t i = 0; i < count; i++)
        clients[i] = client_open(&server);
    check_alive(&server);
    for (size_t i = 0; i < count; i += 997) { /* they are served, not merely queued */
        client_say(clients[i], "GET /healthz HTTP/1.1\r\n" HOST "\r\n");
        CHECK_INT(client_hear(clients[i]).status, 200);
    }
    client_say(clients[count - 1], "GET /healthz HTTP/1.1\r\n" HOST "\r\n");
    CHECK_INT(client_hear(clients[count - 1]).status, 200);
    for (size_t i = 0; i < count; i++)
        close(clients[i]);
    free(clients);
    check_alive(&server);
    CHECK_INT(server_stop(&server), 0);
}

TEST(state_is_there_after_a_restart)
{
    char url[300];
    snprintf(url, sizeof url, "sqlite:%s", scratch_path(".db"));
    struct server server = server_start((const char *[]){"--url", url, NULL});
    add_job(&server, "a");
    CHECK_INT(server_stop(&server), 0);
    server = server_start((const char *[]){"--url", url, "--virtual-clock", NULL});
    CHECK(strstr(server.line, "virtual clock"), "%s", server.line);
    CHECK(can_claim(&server, "a"), "the job is gone");
    CHECK_INT(request(&server, "POST", "/v1/clock/advance", "", "{\"ms\":5}").status, 200);
    CHECK_INT(server_stop(&server), 0);
}
