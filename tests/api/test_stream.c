/* tests/api/test_stream.c - GET /v1/stream over real sockets.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "socket.h"

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

static int follow(const struct server *server, const char *headers)
{
    int client = client_open(server);
    client_say(client, "GET /v1/stream HTTP/1.1\r\nHost: localhost:%d\r\n%s\r\n", server->port,
               headers);
    return client;
}

/* Reads until this text has come; what has come is in `heard`, which is kept. */
struct ear {
    int client;
    char heard[65536];
    size_t len;
};

static void hear_until(struct ear *ear, const char *text)
{
    while (!strstr(ear->heard, text)) {
        ssize_t got =
            recv(ear->client, ear->heard + ear->len, sizeof ear->heard - ear->len - 1, 0);
        CHECK(got > 0, "\"%s\" did not come in: %s", text, ear->heard);
        ear->len += (size_t)got;
        ear->heard[ear->len] = '\0';
    }
}

static size_t count_of(const char *text, const char *what)
{
    size_t count = 0;
    for (const char *at = text; (at = strstr(at, what)); at += strlen(what))
        count++;
    return count;
}

static void add_job(const struct server *server, const char *type)
{
    char body[64];
    snprintf(body, sizeof body, "{\"type\":\"%s\"}", type);
    CHECK_INT(request(server, "POST", "/v1/jobs", "", body).status, 201);
}

/* An event's id is the number of its commit << 12, and counts on from there. */
TEST(a_client_hears_what_happens_from_now_on)
{
    struct server server = server_start_plain();
    add_job(&server, "before");
    struct ear ear = {.client = follow(&server, "")}, *heard = &ear;
    hear_until(heard, ": cairn\n\n");
    CHECK(strstr(ear.heard, "200 OK") && strstr(ear.heard, "text/event-stream"), "%s",
          ear.heard);
    add_job(&server, "after");
    hear_until(heard, "id: 8192\nevent: created\ndata: {\"subject\":\"");
    CHECK(!strstr(ear.heard, "id: 4096\n"), "%s", ear.heard);
    close(ear.client);
    CHECK_INT(server_stop(&server), 0);
}

TEST(a_client_that_comes_back_misses_nothing)
{
    struct server server = server_start_plain();
    for (int i = 0; i < 20; i++)
        add_job(&server, "a");
    struct ear ear = {.client = follow(&server, "Last-Event-ID: 20480\r\n")};
    hear_until(&ear, "id: 81920\n");
    CHECK(!strstr(ear.heard, "id: 20480\n"), "%s", ear.heard);
    CHECK_INT(count_of(ear.heard, "\nevent: created\n"), 15);
    add_job(&server, "b");
    hear_until(&ear, "id: 86016\n");
    CHECK_INT(count_of(ear.heard, "id: 86016\n"), 1);
    close(ear.client);
    CHECK_INT(server_stop(&server), 0);
}

TEST(clients_at_different_places_each_hear_every_event_once)
{
    static const char *const places[] = {"Last-Event-ID: 0\r\n", "Last-Event-ID: 12288\r\n",
                                         ""};
    static const size_t expected[] = {9, 6, 4};
    static struct ear ears[3];
    struct server server = server_start_plain();
    for (int i = 0; i < 5; i++)
        add_job(&server, "a");
    for (int i = 0; i < 3; i++) {
        ears[i] = (struct ear){.client = follow(&server, places[i])};
        hear_until(&ears[i], ": cairn\n\n");
    }
    for (int i = 0; i < 4; i++)
        add_job(&server, "b");
    for (int i = 0; i < 3; i++) {
        hear_until(&ears[i], "id: 36864\n");
        CHECK_INT(count_of(ears[i].heard, "event: created\n"), expected[i]);
        close(ears[i].client);
    }
    CHECK_INT(server_stop(&server), 0);
}

/* A client that reads as fast as it can, in a thread of its own, and counts what it reads. */
struct reader {
    int client;
    _Atomic size_t events;
};

static void *read_on(void *arg)
{
    struct reader *reader = arg;
    char piece[65536];
    ssize_t len;
    while ((len = recv(reader->client, piece, sizeof piece, 0)) > 0)
        for (ssize_t i = 0; i + 1 < len; i++)
            if (piece[i] == '\n' && piece[i + 1] == '\n')
                reader->events++; /* one that is cut between two pieces is not counted */
    return NULL;
}

static void add_jobs(const struct server *server, int count)
{
    char *body = malloc((size_t)count * 16 + 32), *end = body;
    end += sprintf(end, "{\"jobs\":[");
    for (int i = 0; i < count; i++)
        end += sprintf(end, "%s{\"type\":\"old\"}", i ? "," : "");
    sprintf(end, "]}");
    CHECK_INT(request(server, "POST", "/v1/jobs", "", body).status, 201);
    free(body);
}

/* The backlog is so large that reading it takes many times longer than adding a job. */
TEST(clients_that_catch_up_do_not_hold_up_those_who_follow)
{
    enum { BATCHES = 30, BATCH = 1000, READERS = 2 };
    struct server server = server_start_plain();
    for (int i = 0; i < BATCHES; i++)
        add_jobs(&server, BATCH);
    struct ear live = {.client = follow(&server, "")};
    hear_until(&live, ": cairn");

    struct reader readers[READERS] = {0};
    pthread_t threads[READERS];
    for (int i = 0; i < READERS; i++) {
        readers[i].client = follow(&server, "Last-Event-ID: 0\r\n");
        CHECK_INT(pthread_create(&threads[i], NULL, read_on, &readers[i]), 0);
    }
    while (readers[0].events < BATCH || readers[1].events < BATCH)
        sched_yield();
    add_job(&server, "news");
    hear_until(&live, "\nid: 126976\n");
    for (int i = 0; i < READERS; i++)
        CHECK(readers[i].events < BATCHES * BATCH / 2, "reader %d had %zu events by then", i,
              readers[i].events);

    for (int i = 0; i < READERS; i++) {
        shutdown(readers[i].client, SHUT_RDWR);
        pthread_join(threads[i], NULL);
        close(readers[i].client);
    }
    close(live.client);
    CHECK_INT(server_stop(&server), 0);
}

TEST(a_place_that_is_none_is_refused)
{
    struct server server = server_start_plain();
    CHECK_INT(request(&server, "GET", "/v1/stream", "Last-Event-ID: x\r\n", NULL).status, 400);
    CHECK_INT(request(&server, "GET", "/v1/stream?cursor=-1", "", NULL).status, 400);
    CHECK_INT(request(&server, "POST", "/v1/stream", "", NULL).status, 405);
    CHECK_INT(server_stop(&server), 0);
}

TEST(a_server_that_stops_ends_the_stream_in_order)
{
    struct server server = server_start_plain();
    struct ear ear = {.client = follow(&server, "")};
    hear_until(&ear, ": cairn\n\n");
    CHECK_INT(server_stop(&server), 0);
    hear_until(&ear, "\r\n0\r\n\r\n"); /* the last chunk */
    CHECK(client_is_dropped(ear.client), "the connection stays open");
    close(ear.client);
}

/* Whether there was room for one more. */
static bool is_taken(const struct server *server)
{
    static struct ear ear;
    ear = (struct ear){.client = follow(server, "")};
    hear_until(&ear, "\r\n\r\n");
    bool is_refused = strstr(ear.heard, "HTTP/1.1 429 ");
    if (!is_refused)
        hear_until(&ear, ": cairn\n\n");
    close(ear.client);
    return !is_refused;
}

TEST(clients_that_leave_make_room_for_others)
{
    struct server server = server_start_plain();
    int taken = 0;
    for (int i = 0; i < 100000 && taken < 600; i++) /* more than there may be at once */
        taken += is_taken(&server);
    CHECK_INT(taken, 600);
    CHECK_INT(server_stop(&server), 0);
}
