/* tests/api/test_pressure.c - clients that send unclear requests, too slowly, or too much.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * The server runs in this process, with limits so small that a test needs little of anything.
 */
#include "http/http.h"
#include "http/intake.h"
#include "http/listen.h"
#include "socket.h"

#include <poll.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#define HOST "Host: 127.0.0.1\r\n"
#define JOB "{\"type\":\"a\"}"
#define JOB_LENGTH "Content-Length: 12\r\n"

enum { KIB = 1024, LARGE = 256 * KIB, CONNECTIONS = 50 };

struct site {
    cairn_engine *engine;
    struct http *http;
    struct server server; /* its port, for clients */
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

static struct site site_open(unsigned idle_s, unsigned request_ms, const char *tokens)
{
    struct site site = {0};
    char where[LISTEN_TEXT];
    cairn_error error;
    cairn_open_options open = CAIRN_OPEN_DEFAULTS;
    open.url = "memory:";
    CHECK_OK(cairn_open(&open, &site.engine, &error));
    struct http_config config = {.engine = site.engine,
                                 .tokens = tokens ? read_tokens(tokens) : NULL,
                                 .max_connections = CONNECTIONS,
                                 .idle_s = idle_s,
                                 .request_ms = request_ms,
                                 .large_bodies = (size_t)16 * LARGE};
    CHECK_OK(listen_open("127.0.0.1:0", true, &config.listen_fd, where, &error));
    CHECK_OK(http_start(&config, &site.http, &error));
    site.server.port = atoi(strrchr(where, ':') + 1);
    return site;
}

static void site_close(struct site *site)
{
    http_quiesce(site->http);
    cairn_close(site->engine);
    http_stop(site->http);
}

/* ---- unclear requests -----------------------------------------------------------------------
 */

/* `len` bytes that are refused with this message; the connection is closed, so that what follows
 * is not taken for another request. */
static void check_refused(const struct site *site, const char *bytes, size_t len,
                          const char *message)
{
    int client = client_open(&site->server);
    client_send(client, bytes, len);
    client_say(client, "GET /healthz HTTP/1.1\r\n" HOST "\r\n");
    struct reply reply = client_hear(client);
    CHECK(reply.status == 400, "%.80s: status %d", bytes, reply.status);
    CHECK(strstr(reply.head, "application/json"), "%.80s: %s", bytes, reply.head);
    CHECK(strstr(reply.body, "\"code\":\"bad_input\"") && strstr(reply.body, message),
          "%.80s: %s", bytes, reply.body);
    reply = client_hear(client);
    CHECK(reply.status == 0, "%.80s: the rest is answered with %d", bytes, reply.status);
    close(client);
}

#define REFUSED(bytes, message) check_refused(&site, bytes, sizeof bytes - 1, message)
#define POST "POST /v1/jobs HTTP/1.1\r\n"

TEST(a_request_whose_end_is_unclear_is_refused_and_the_connection_closed)
{
    struct site site = site_open(60, 60000, NULL);
    REFUSED(POST HOST "Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
            "cannot be given together");
    REFUSED(POST HOST "Transfer-Encoding: chunked\r\n" JOB_LENGTH "\r\n0\r\n\r\n",
            "cannot be given together");
    REFUSED(POST HOST JOB_LENGTH "Content-Length: 5\r\n\r\n" JOB,
            "Content-Length is given twice");
    REFUSED(POST HOST JOB_LENGTH JOB_LENGTH "\r\n" JOB, "Content-Length is given twice");
    REFUSED(POST HOST "Transfer-Encoding: gzip\r\n\r\n" JOB, "must be chunked");
    REFUSED(POST HOST "Transfer-Encoding: gzip\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
            "Transfer-Encoding is given twice");
    REFUSED(POST HOST "Transfer-Encoding : chunked\r\n" JOB_LENGTH "\r\n" JOB, "a space in it");
    REFUSED(POST HOST "Transfer-Encoding:\r\n chunked\r\n\r\n0\r\n\r\n", "is folded");
    REFUSED(POST HOST "Content-Length: 1\r\n 2\r\n\r\n" JOB, "is folded");
    cairn_stats stats = {.size = sizeof stats};
    cairn_error error;
    CHECK_OK(cairn_stats_get(site.engine, &stats, &error));
    CHECK_INT(stats.enqueued, 0);
    site_close(&site);
}

TEST(a_request_without_a_host_or_with_two_is_refused)
{
    struct site site = site_open(60, 60000, NULL);
    REFUSED("GET /healthz HTTP/1.1\r\n\r\n", "Host is missing");
    REFUSED("GET /healthz HTTP/1.1\r\n" HOST HOST "\r\n", "Host is given twice");
    int client = client_open(&site.server);
    client_say(client, "GET /healthz HTTP/1.0\r\n\r\n");
    CHECK_INT(client_hear(client).status, 200); /* HTTP/1.0 has no Host */
    close(client);
    site_close(&site);
}

TEST(a_nul_in_a_path_is_refused)
{
    struct site site = site_open(60, 60000, NULL);
    REFUSED("GET /healthz\0 HTTP/1.1\r\n" HOST "\r\n", "NUL");
    REFUSED("GET /v1/jobs/a\0b HTTP/1.1\r\n" HOST "\r\n", "NUL");
    REFUSED("GET /v1/jobs?limit=1\0&cursor=x HTTP/1.1\r\n" HOST "\r\n", "NUL");
    struct reply reply = request(&site.server, "GET", "/v1/jobs/a%00b", "", NULL);
    CHECK_INT(reply.status, 400);
    CHECK(strstr(reply.body, "%00"), "%s", reply.body);
    reply = request(&site.server, "GET", "/v1/jobs?status=%00", "", NULL);
    CHECK_INT(reply.status, 400);
    site_close(&site);
}

TEST(any_number_of_query_parameters_is_answered)
{
    struct site site = site_open(60, 60000, NULL);
    char target[12000] = "/v1/jobs?";
    for (int count = 200; count <= 1000; count += 400) {
        size_t used = strlen("/v1/jobs?");
        for (int i = 0; i < count; i++)
            used += (size_t)snprintf(target + used, sizeof target - used, "p%d=1&", i);
        struct reply reply = request(&site.server, "GET", target, "", NULL);
        CHECK(reply.status == 400, "%d parameters: status %d", count, reply.status);
        CHECK(strstr(reply.body, "the query has more than"), "%s", reply.body);
    }
    site_close(&site);
}

/* ---- too slowly -----------------------------------------------------------------------------
 */

/* Sends a byte of `text` over and over to each client until the server has dropped them all.
 * False: it did not within a few hundred bytes. */
static bool drip_until_dropped(int *clients, int count, const char *text)
{
    int left = count;
    for (size_t i = 0; left > 0 && i < 400; i++) {
        struct pollfd wait = {.fd = -1};
        for (int c = 0; c < count; c++) {
            if (clients[c] < 0)
                continue;
            wait = (struct pollfd){.fd = clients[c], .events = POLLRDHUP};
            if (poll(&wait, 1, 0) == 1 ||
                send(clients[c], text + i % strlen(text), 1, MSG_NOSIGNAL) < 0) {
                close(clients[c]);
                clients[c] = -1;
                left--;
            }
        }
        if (left > 0)
            poll(&wait, 1, 200); /* the pace; the last client that is held may end it early */
    }
    return left == 0;
}

static void check_slow(const char *begin, const char *rest)
{
    struct site site = site_open(1, 500, NULL);
    int clients[CONNECTIONS];
    for (int i = 0; i < CONNECTIONS; i++) {
        clients[i] = client_open(&site.server);
        client_say(clients[i], "%s", begin);
    }
    CHECK(drip_until_dropped(clients, CONNECTIONS, rest), "a byte now and then is enough");
    CHECK_INT(request(&site.server, "GET", "/healthz", "", NULL).status, 200);
    site_close(&site);
}

TEST(headers_have_a_deadline_as_a_whole)
{
    check_slow("GET /healthz HTTP/1.1\r\n" HOST, "X: y\r\n");
}

TEST(a_request_line_has_a_deadline_as_a_whole)
{
    check_slow("GET /", "abc");
}

TEST(a_body_has_a_deadline_as_a_whole)
{
    check_slow(POST HOST "Content-Length: 100000\r\n\r\n{", " ");
}

TEST(a_chunked_body_has_a_deadline_as_a_whole)
{
    check_slow(POST HOST "Transfer-Encoding: chunked\r\n\r\n", "1\r\n \r\n");
}

TEST(a_connection_may_send_many_requests_and_wait_longer_than_a_request_may_take)
{
    struct site site = site_open(60, 200, NULL);
    int client = client_open(&site.server);
    for (int i = 0; i < 3; i++) {
        /* The call itself takes longer than that; it is the server's time, not the client's. */
        static const char claim[] = "{\"worker\":\"w\",\"types\":[\"no\"],\"wait_ms\":400}";
        client_say(client,
                   "POST /v1/tasks/claim HTTP/1.1\r\n" HOST "Content-Length: %zu\r\n\r\n%s",
                   strlen(claim), claim);
        CHECK_INT(client_hear(client).status, 200);
        struct pollfd quiet = {.fd = client, .events = POLLRDHUP};
        CHECK(poll(&quiet, 1, 300) == 0, "an idle connection is dropped"); /* idle_s is 60 */
    }
    close(client);
    site_close(&site);
}

/* ---- too much -------------------------------------------------------------------------------
 */

/* Sends the headers and all but the last byte of a body. */
static int send_half(const struct site *site, size_t len)
{
    int client = client_open(&site->server);
    char *body = malloc(len);
    memset(body, ' ', len);
    client_say(client, POST HOST "Content-Length: %zu\r\n\r\n", len);
    client_send(client, body, len - 1);
    free(body);
    return client;
}

static int post_job(const struct site *site, size_t len)
{
    char *body = calloc(1, len + 1);
    memset(body, ' ', len);
    memcpy(body, JOB, strlen(JOB));
    int status = request(&site->server, "POST", "/v1/jobs", "", body).status;
    free(body);
    return status;
}

TEST(half_sent_large_bodies_keep_out_no_small_ones)
{
    struct site site = site_open(60, 60000, NULL);
    int clients[40], count = 0, status;
    while ((status = post_job(&site, LARGE)) == 201 && count < 40)
        clients[count++] = send_half(&site, LARGE);
    CHECK(status == 429 && count >= 16, "status %d after %d half bodies", status, count);
    for (int i = 0; i < 3; i++)
        CHECK_INT(post_job(&site, BODY_SMALL), 201);

    /* Their room is free again when they have gone. */
    for (int i = 0; i < count; i++)
        close(clients[i]);
    for (int i = 0; i < 1000 && status == 429; i++)
        status = post_job(&site, LARGE);
    CHECK_INT(status, 201);
    site_close(&site);
}

#define TOKENS "operate secret\nwork worker\n"

/* Sends headers with a body that never comes, or `sent` bytes of it. */
static struct reply announce(const struct site *site, const char *headers, size_t sent)
{
    char bytes[1000] = {0};
    int client = client_open(&site->server);
    client_say(client, POST "Host: x\r\n%s\r\n", headers);
    client_send(client, bytes, sent);
    struct reply reply = client_hear(client);
    if (reply.status)
        CHECK(strstr(reply.head, "Connection: close"), "%s", reply.head);
    close(client);
    return reply;
}

TEST(a_client_without_a_token_is_refused_before_its_large_body)
{
    struct site site = site_open(60, 60000, TOKENS);
    CHECK_INT(announce(&site, "Content-Length: 1000000\r\n", 0).status, 401);
    CHECK_INT(announce(&site, "Content-Length: 16000000\r\n", 1000).status, 401);
    CHECK_INT(announce(&site, "Transfer-Encoding: chunked\r\n", 0).status, 401);
    CHECK_INT(announce(&site,
                       "Authorization: Bearer wrong\r\n"
                       "Content-Length: 1000000\r\n",
                       0)
                  .status,
              401);
    CHECK_INT(announce(&site,
                       "Authorization: Bearer worker\r\n"
                       "Content-Length: 1000000\r\n",
                       0)
                  .status,
              403);

    /* Nor does a route that needs no token take one. */
    int client = client_open(&site.server);
    client_say(client, "GET /healthz HTTP/1.1\r\nHost: x\r\nContent-Length: 1000000\r\n\r\n");
    CHECK_INT(client_hear(client).status, 413);
    close(client);

    /* A small body is read, and the connection stays. */
    client = client_open(&site.server);
    for (int i = 0; i < 2; i++) {
        client_say(client, POST "Host: x\r\n" JOB_LENGTH "\r\n" JOB);
        struct reply reply = client_hear(client);
        CHECK_INT(reply.status, 401);
        CHECK(!strstr(reply.head, "Connection: close"), "%s", reply.head);
    }
    client_say(client,
               POST "Host: x\r\nAuthorization: Bearer secret\r\n" JOB_LENGTH "\r\n" JOB);
    CHECK_INT(client_hear(client).status, 201);
    close(client);
    site_close(&site);
}
