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

static int follow_query(const struct server *server, const char *query, const char *headers)
{
    int client = client_open(server);
    client_say(client, "GET /v1/stream%s HTTP/1.1\r\nHost: localhost:%d\r\n%s\r\n", query,
               server->port, headers);
    return client;
}

static int follow(const struct server *server, const char *headers)
{
    return follow_query(server, "", headers);
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
    static char body[20000];
    char *end = body;
    end += sprintf(end, "{\"jobs\":[");
    for (int i = 0; i < count; i++)
        end += sprintf(end, "%s{\"type\":\"old\"}", i ? "," : "");
    sprintf(end, "]}");
    CHECK_INT(request(server, "POST", "/v1/jobs", "", body).status, 201);
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

/* ---- what is wanted, and digests ------------------------------------------------------------- */

/* The id in the latest answer: the first text behind "id". */
static void copy_id(const struct reply *reply, char id[40])
{
    const char *at = strstr(reply->body, "\"id\":\"");
    CHECK(at, "%s", reply->body);
    snprintf(id, 40, "%.36s", at + 6);
}

static void record(const struct server *server, const char *type, char id[40])
{
    char body[64];
    snprintf(body, sizeof body, "{\"type\":\"%s\"}", type);
    struct reply reply = request(server, "POST", "/v1/jobs", "", body);
    CHECK_INT(reply.status, 201);
    copy_id(&reply, id);
}

static void cancel(const struct server *server, const char *id)
{
    char target[96];
    snprintf(target, sizeof target, "/v1/jobs/%s/cancel", id);
    CHECK_INT(request(server, "POST", target, "", NULL).status, 200);
}

TEST(a_client_hears_only_of_its_subject_and_types)
{
    struct server server = server_start_plain();
    char one[40], other[40], query[128];
    record(&server, "a", one);
    record(&server, "a", other);
    snprintf(query, sizeof query, "?subject=%s", one);
    struct ear subject = {.client = follow_query(&server, query, "")};
    struct ear types = {.client = follow_query(&server, "?types=leas,canc%25,created", "")};
    struct ear all = {.client = follow_query(&server, "?types=%25&cursor=0", "")};
    hear_until(&subject, ": cairn\n\n");
    hear_until(&types, ": cairn\n\n");
    CHECK_INT(
        request(&server, "POST", "/v1/tasks/claim", "", "{\"worker\":\"w\",\"types\":[\"a\"]}")
            .status,
        200);
    cancel(&server, other);
    cancel(&server, one);
    record(&server, "b", other);
    hear_until(&subject, "event: cancelled\n");
    CHECK(strstr(subject.heard, "event: leased\n"), "%s", subject.heard);
    CHECK(!strstr(subject.heard, "event: created\n"), "%s", subject.heard);
    CHECK_INT(count_of(subject.heard, "event: cancelled\n"), 1);
    hear_until(&types, "event: created\n");
    CHECK_INT(count_of(types.heard, "event: cancelled\n"), 2);
    CHECK(!strstr(types.heard, "leased"), "%s", types.heard);
    hear_until(&all, other);
    CHECK_INT(count_of(all.heard, "event: created\n"), 3);
    close(subject.client);
    close(types.client);
    close(all.client);
    CHECK_INT(server_stop(&server), 0);
}

TEST(a_digest_tells_what_has_changed_in_one_message)
{
    struct server server = server_start_plain();
    char id[40], named[64];
    struct ear one = {.client = follow_query(&server, "?digest_ms=250", "")};
    struct ear other = {.client = follow_query(&server, "?digest_ms=250", "")};
    hear_until(&one, ": cairn\n\n");
    hear_until(&other, ": cairn\n\n");
    record(&server, "a", id);
    hear_until(&one, "event: digest\ndata: {\"at\":\"");
    hear_until(&one, "\"workers\":0}\n\n");
    snprintf(named, sizeof named, "\"jobs\":[\"%s\"]", id);
    CHECK(strstr(one.heard, named), "%s", one.heard);
    CHECK(strstr(one.heard, "\"instances\":[],"), "%s", one.heard);
    CHECK(strstr(one.heard, "\"is_more\":false,\"started\":1,\"ended\":0,\"failed\":0,"
                            "\"approvals\":0,\"dead\":0,"),
          "%s", one.heard);
    CHECK(!strstr(one.heard, "event: created"), "%s", one.heard);
    hear_until(&other, named);
    one = (struct ear){.client = one.client};
    cancel(&server, id);
    hear_until(&one, "\"ended\":1,\"failed\":0,");
    hear_until(&one, "}\n\n");
    CHECK(strstr(one.heard, "\"started\":0,"), "%s", one.heard);
    close(one.client);
    close(other.client);
    CHECK_INT(server_stop(&server), 0);
}

/* The name of a schedule is no id of an instance: the message says that something has changed. */
TEST(a_changed_schedule_is_news_without_a_name)
{
    struct server server = server_start_plain();
    struct ear ear = {.client = follow_query(&server, "?digest_ms=250", "")};
    hear_until(&ear, ": cairn\n\n");
    const char *target = "/v1/schedules/nightly";
    const char *body = "{\"cron\":\"0 2 * * *\",\"task\":\"a\"}";
    CHECK_INT(request(&server, "PUT", target, "", body).status, 200);
    hear_until(&ear, "event: digest");
    hear_until(&ear, "}\n\n");
    CHECK(strstr(ear.heard, "\"instances\":[],\"jobs\":[],\"is_more\":false"), "%s", ear.heard);
    close(ear.client);
    CHECK_INT(server_stop(&server), 0);
}

/* A lease that is extended is no change: the next message is about the job that was recorded after it. */
TEST(leases_and_heartbeats_are_no_changes)
{
    struct server server = server_start_plain();
    char id[40], next[40], named[64], target[96], body[160];
    record(&server, "a", id);
    struct ear ear = {.client = follow_query(&server, "?digest_ms=250", "")};
    struct ear events = {.client = follow(&server, "")};
    hear_until(&ear, ": cairn\n\n");
    hear_until(&events, ": cairn\n\n");
    struct reply reply =
        request(&server, "POST", "/v1/tasks/claim", "", "{\"worker\":\"w\",\"types\":[\"a\"]}");
    const char *token = strstr(reply.body, "\"token\":\"");
    CHECK(token, "%s", reply.body);
    snprintf(body, sizeof body, "{\"worker\":\"w\",\"token\":\"%.*s\"}",
             (int)strcspn(token + 9, "\""), token + 9);
    snprintf(target, sizeof target, "/v1/tasks/%s/heartbeat", id);
    CHECK_INT(request(&server, "POST", target, "", body).status, 200);
    hear_until(&events, "event: heartbeat\n"); /* by now a digest of it would be under way */
    record(&server, "b", next);
    hear_until(&ear, "event: digest");
    hear_until(&ear, "}\n\n");
    snprintf(named, sizeof named, "\"jobs\":[\"%s\"]", next);
    CHECK(strstr(ear.heard, named), "%s", ear.heard);
    CHECK(strstr(ear.heard, "\"workers\":1}"), "%s", ear.heard);
    CHECK_INT(count_of(ear.heard, "event: digest"), 1);
    close(ear.client);
    close(events.client);
    CHECK_INT(server_stop(&server), 0);
}

TEST(a_digest_names_200_ids_and_says_that_there_are_more)
{
    struct server server = server_start_plain();
    static struct ear ear;
    ear = (struct ear){.client = follow_query(&server, "?digest_ms=250", "")};
    hear_until(&ear, ": cairn\n\n");
    add_jobs(&server, 201);
    hear_until(&ear, "\"is_more\":true,\"started\":201,");
    const char *jobs = strstr(ear.heard, "\"jobs\":[");
    CHECK_INT(count_of(jobs, "\",\""), 199);
    close(ear.client);
    CHECK_INT(server_stop(&server), 0);
}

TEST(a_digest_counts_what_waits_for_a_person)
{
    struct server server = server_start_plain();
    CHECK_INT(request(&server, "POST", "/v1/workflows", "",
                      "{workflow: ask, version: 1, steps: [{human: ok}]}")
                  .status,
              201);
    struct ear ear = {.client = follow_query(&server, "?digest_ms=250&types=step_%25", "")};
    hear_until(&ear, ": cairn\n\n");
    struct reply reply =
        request(&server, "POST", "/v1/instances", "", "{\"workflow\":\"ask\"}");
    CHECK_INT(reply.status, 201);
    hear_until(&ear, "\"approvals\":1,\"dead\":0,");
    CHECK(strstr(ear.heard, "\"started\":0,"), "%s", ear.heard); /* not one of the types */
    reply = request(&server, "GET", "/v1/needs", "", NULL);
    CHECK(strstr(reply.body, "\"approvals\":1,\"dead\":0}"), "%s", reply.body);
    close(ear.client);
    CHECK_INT(server_stop(&server), 0);
}

TEST(a_client_that_comes_back_for_digests_learns_that_it_has_missed_some)
{
    struct server server = server_start_plain();
    add_job(&server, "a");
    add_job(&server, "a");
    struct ear ear = {.client = follow_query(&server, "?digest_ms=1000&cursor=4096", "")};
    hear_until(&ear, "id: 8192\nevent: digest\n");
    hear_until(&ear, "}\n\n");
    CHECK(strstr(ear.heard, "\"jobs\":[],\"is_more\":true,\"started\":0,"), "%s", ear.heard);
    struct ear present = {.client = follow_query(&server, "?digest_ms=1000&cursor=8192", "")};
    hear_until(&present, ": cairn\n\n");
    add_job(&server, "a");
    hear_until(&present, "event: digest\n");
    hear_until(&present, "}\n\n");
    CHECK(strstr(present.heard, "\"is_more\":false,\"started\":1,"), "%s", present.heard);
    close(ear.client);
    close(present.client);
    CHECK_INT(server_stop(&server), 0);
}

TEST(what_the_stream_cannot_give_is_refused)
{
    static const char *const queries[] = {
        "?digest_ms=249", "?digest_ms=10001", "?digest_ms=x",         "?types=a%25b",
        "?types=%zz",     "?unknown=1",       "?subject=a&subject=b", "?digest_ms=250&limit=1",
    };
    struct server server = server_start_plain();
    for (size_t i = 0; i < sizeof queries / sizeof *queries; i++) {
        char target[64];
        snprintf(target, sizeof target, "/v1/stream%s", queries[i]);
        struct reply reply = request(&server, "GET", target, "", NULL);
        CHECK(reply.status == 400, "%s: %d", target, reply.status);
    }
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
