/* http/stream.c - /v1/stream: its clients, and the thread that follows what happens for all of them.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "base/clock.h"
#include "base/error.h"
#include "base/json.h"
#include "base/mem.h"
#include "http/access.h"
#include "http/exchange.h"
#include "http/stream_client.h"

#include <errno.h>
#include <inttypes.h>
#include <poll.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* Resumes it if it is suspended; with the lock held. */
static void client_wake(struct stream_client *client)
{
    if (!client->is_suspended)
        return;
    client->is_suspended = false;
    MHD_resume_connection(client->connection);
}

enum {
    LOOK_MS = 250,      /* how often events are looked for */
    LOOK_MAX_MS = 1000, /* where nothing may be told sooner */
    PAGE = 500,
    UNSENT_MAX = 1 << 20,  /* of one client; more, and it is cut off */
    CATCH_UP_MAX = 1 << 18 /* of one that catches up, which is not pressed further */
};

#define KEEP_ALIVE_US (15 * US_PER_SEC)

/* ---- asking the engine ----------------------------------------------------------------- */

struct question {
    sem_t is_answered;
    cairn_response *response;
};

static void on_answer(void *arg, cairn_response *response)
{
    struct question *question = arg;
    question->response = response;
    sem_post(&question->is_answered);
}

/* Closing the engine answers what waits. */
static cairn_response *ask(struct stream *stream, const char *target)
{
    cairn_request request = CAIRN_REQUEST_DEFAULTS;
    struct question question = {.response = NULL};
    request.target = target;
    request.arg = &question;
    sem_init(&question.is_answered, 0, 0);
    if (http_call(stream->http, &request, on_answer))
        while (sem_wait(&question.is_answered) != 0)
            continue; /* a signal came */
    sem_destroy(&question.is_answered);
    return question.response;
}

json_t *stream_ask(struct stream *stream, const char *target)
{
    size_t len;
    cairn_response *response = ask(stream, target);
    if (!response)
        return NULL;
    const char *body = cairn_response_body(response, &len);
    json_t *answer = json_tree(body, len);
    cairn_response_free(response);
    return answer;
}

/* A page of events, in the text of the answer. */
struct event_page {
    cairn_response *response; /* NULL: there was no answer, it is tried again later */
    struct scan items;
};

static void page_done(struct event_page *page)
{
    cairn_response_free(page->response);
}

/* False: there are no more. */
static bool page_next(struct event_page *page, struct seen_event *ret_event)
{
    struct slice item;
    if (!page->response || !scan_item(&page->items, &item))
        return false;
    seen_event_read(item, ret_event);
    return true;
}

static struct event_page fetch(struct stream *stream, int64_t after, int limit)
{
    char target[80];
    size_t len;
    struct slice whole;
    snprintf(target, sizeof target, "/v1/events?cursor=%" PRId64 "&limit=%d", after, limit);
    struct event_page page = {.response = ask(stream, target)};
    const char *body = page.response ? cairn_response_body(page.response, &len) : NULL;
    bool has_items = body && scan_text(body, len, &whole) && /* an error has none */
                     scan_list(scan_find(whole, "items"), &page.items);
    if (!has_items) {
        cairn_response_free(page.response);
        page.response = NULL;
    }
    return page;
}

/* The first event after this one; 0: there is none.  False: no answer. */
static bool look_after(struct stream *stream, int64_t after, int64_t *ret_id)
{
    struct seen_event event;
    cleanup(page_done) struct event_page page = fetch(stream, after, 1);
    *ret_id = page_next(&page, &event) ? event.id : 0;
    return page.response != NULL;
}

/* Finds the last event without reading the others: by ever larger strides past it, then by
 * halving what lies between. */
static bool find_present(struct stream *stream)
{
    int64_t low = stream->after, high = -1, stride = PAGE, id;
    while (high < 0 || low < high) {
        int64_t at = high < 0 ? low + stride : low + (high - low) / 2;
        if (!look_after(stream, at, &id))
            return false;
        if (id)
            low = id;
        else
            high = at;
        stride *= 2;
    }
    stream->after = low;
    return true;
}

/* ---- giving ---------------------------------------------------------------------------- */

/* "id", "event" and "data", each in one line. */
static void write_event(const struct seen_event *event, struct buf *text)
{
    if (!event->type[0] || strpbrk(event->type, "\r\n"))
        return;
    buf_printf(text, "id: %" PRId64 "\nevent: %s\ndata: ", event->id, event->type);
    size_t room = event->text.len;
    char *data = buf_extend(text, room);
    if (data)
        text->len -= room - json_compact(event->text.text, room, data);
    buf_str(text, "\n\n");
}

void client_give(struct stream_client *client, const char *text, size_t len)
{
    if (client->is_over)
        return;
    buf_add(&client->unsent, text, len);
    if (client->unsent.len - client->sent > UNSENT_MAX)
        client->is_over = true;
    client_wake(client);
}

/* Events for those whose place is before them; `only` 0: for all that are not behind `from`.  How many there were, and
 * the last one. */
static size_t give_page(struct stream *stream, struct event_page *page, int64_t from,
                        uint64_t only, int64_t *ret_last)
{
    struct buf text = {0};
    struct seen_event event;
    size_t count = 0;
    for (; page_next(page, &event); count++) {
        *ret_last = event.id;
        buf_reset(&text); /* written when the first client wants it: most want digests alone */
        pthread_mutex_lock(&stream->lock);
        for (struct stream_client *at = stream->clients; at; at = at->next) {
            bool is_meant = only ? at->number == only : at->after >= from;
            if (!is_meant || at->after >= event.id)
                continue;
            if (!at->want.digest_ms && want_matches(&at->want, &event)) {
                if (!text.len)
                    write_event(&event, &text);
                client_give(at, buf_text(&text), text.len);
            }
            at->after = event.id;
        }
        for (struct digest_group *at = only ? NULL : stream->groups; at; at = at->next)
            if (want_matches(&at->want, &event))
                digest_add(&at->digest, &event);
        pthread_mutex_unlock(&stream->lock);
    }
    buf_done(&text);
    return count;
}

/* A page of new events, to all clients that have caught up.  True: there may be more. */
static bool give_news(struct stream *stream)
{
    cleanup(page_done) struct event_page page = fetch(stream, stream->after, PAGE);
    return give_page(stream, &page, stream->after, 0, &stream->after) == PAGE;
}

/* Whose turn it is among those that are behind and have room for more: the one that joined
 * after the one that had the last turn, or else the first.  0: there is none. */
static uint64_t find_behind(struct stream *stream, int64_t *ret_after)
{
    const struct stream_client *next = NULL, *first = NULL;
    pthread_mutex_lock(&stream->lock);
    for (const struct stream_client *at = stream->clients; at; at = at->next) {
        bool has_room = !at->is_over && at->unsent.len - at->sent < CATCH_UP_MAX;
        if (at->after == FROM_THE_PRESENT || at->after >= stream->after || !has_room)
            continue;
        if (!first || at->number < first->number)
            first = at;
        if (at->number > stream->last_turn && (!next || at->number < next->number))
            next = at;
    }
    if (!next)
        next = first;
    if (next) {
        stream->last_turn = next->number;
        *ret_after = next->after;
    }
    uint64_t number = next ? next->number : 0;
    pthread_mutex_unlock(&stream->lock);
    return number;
}

/* A page to one client that is behind.  True: another may still be. */
static bool give_missed(struct stream *stream)
{
    int64_t after = 0;
    uint64_t number = find_behind(stream, &after);
    if (!number)
        return false;
    cleanup(page_done) struct event_page page = fetch(stream, after, PAGE);
    return give_page(stream, &page, 0, number, &after) > 0;
}

/* ---- the thread ------------------------------------------------------------------------ */

/* Those who wanted the present have it now; all who waited for their place go on. */
static void place_clients(struct stream *stream)
{
    pthread_mutex_lock(&stream->lock);
    stream->last_placed = stream->last_number;
    for (struct stream_client *at = stream->clients; at; at = at->next) {
        if (at->want.digest_ms && !at->group)
            client_join_group(stream, at);
        if (at->after == FROM_THE_PRESENT)
            at->after = stream->after;
        if (at->unsent.len > at->sent)
            client_wake(at);
    }
    pthread_mutex_unlock(&stream->lock);
}

/* A comment now and then shows both sides that the other is there.  One who has hung up is not
 * noticed while suspended. */
static void look_after_clients(struct stream *stream, int64_t *comment_us)
{
    bool is_due = monotonic_us() >= *comment_us;
    if (is_due)
        *comment_us = monotonic_us() + KEEP_ALIVE_US;
    pthread_mutex_lock(&stream->lock);
    for (struct stream_client *at = stream->clients; at; at = at->next) {
        struct pollfd client = {.fd = at->fd, .events = POLLRDHUP};
        if (poll(&client, 1, 0) != 0) {
            at->is_over = true;
            client_wake(at);
        } else if (is_due) {
            client_give(at, ":\n\n", 3);
        }
    }
    pthread_mutex_unlock(&stream->lock);
}

/* How long until something could be told.  Those who want digests have just had one, in a storm: what happens until
 * the next is read at once.  With the lock held. */
static int64_t rest_us(const struct stream *stream)
{
    int64_t now_us = monotonic_us(), soonest_us = now_us + LOOK_MAX_MS * US_PER_MS;
    for (const struct stream_client *at = stream->clients; at; at = at->next)
        if (!at->group)
            soonest_us = now_us;
    for (const struct digest_group *at = stream->groups; at; at = at->next)
        if (at->due_us < soonest_us)
            soonest_us = at->due_us;
    int64_t least_us = LOOK_MS * US_PER_MS;
    return soonest_us - now_us > least_us ? soonest_us - now_us : least_us;
}

/* Until it is time to look again, or a client has come that has no place yet.  False: the server
 * stops. */
static bool rest(struct stream *stream)
{
    struct timespec until;
    pthread_mutex_lock(&stream->lock);
    int64_t us = rest_us(stream);
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_sec += us / US_PER_SEC;
    until.tv_nsec += us % US_PER_SEC * 1000;
    until.tv_sec += until.tv_nsec / 1000000000L;
    until.tv_nsec %= 1000000000L;
    while (!stream->is_stopping && stream->last_number == stream->last_placed) {
        if (!stream->clients) {
            stream->is_placed = false; /* by then the present has moved */
            pthread_cond_wait(&stream->changed, &stream->lock);
        } else if (pthread_cond_timedwait(&stream->changed, &stream->lock, &until) ==
                   ETIMEDOUT) {
            break;
        }
    }
    bool is_going = !stream->is_stopping;
    pthread_mutex_unlock(&stream->lock);
    return is_going;
}

/* Turns are short: a page of news, then a page for one client that is behind.  So those who
 * follow the present never wait for those who catch up, nor these for each other. */
static void *stream_follow(void *arg)
{
    struct stream *stream = arg;
    int64_t comment_us = monotonic_us() + KEEP_ALIVE_US;
    do {
        if (!stream->is_placed)
            stream->is_placed = find_present(stream);
        if (!stream->is_placed)
            continue;
        bool is_more;
        do {
            place_clients(stream);
            is_more = give_news(stream);
            is_more |= give_missed(stream);
            stream_give_digests(stream);
            look_after_clients(stream, &comment_us);
        } while (is_more);
    } while (rest(stream));
    return NULL;
}

/* ---- clients --------------------------------------------------------------------------- */

/* At once, and what one of them may have unsent before it is cut off. */
enum { CLIENTS_MAX = 256, BLOCK = 8 * 1024 };

struct stream *stream_new(struct http *http)
{
    struct stream *stream = mem_zalloc(sizeof *stream);
    if (!stream)
        return NULL;
    stream->http = http;
    pthread_mutex_init(&stream->lock, NULL);
    pthread_cond_init(&stream->changed, NULL);
    return stream;
}

void stream_free(struct stream *stream)
{
    if (!stream)
        return;
    pthread_mutex_destroy(&stream->lock);
    pthread_cond_destroy(&stream->changed);
    mem_free(stream);
}

void stream_close(struct stream *stream)
{
    pthread_mutex_lock(&stream->lock);
    stream->is_stopping = true;
    pthread_cond_broadcast(&stream->changed);
    bool has_thread = stream->has_thread;
    pthread_mutex_unlock(&stream->lock);
    if (has_thread)
        pthread_join(stream->thread, NULL);

    pthread_mutex_lock(&stream->lock);
    for (struct stream_client *client = stream->clients; client; client = client->next) {
        client->is_over = true;
        client_wake(client);
    }
    pthread_mutex_unlock(&stream->lock);
}

void stream_keep_known(struct stream *stream, const struct tokens *tokens)
{
    const char *name;
    unsigned needed = access_roles("GET", "/v1/stream");
    pthread_mutex_lock(&stream->lock);
    for (struct stream_client *at = stream->clients; at; at = at->next)
        if (at->secret && !(tokens_roles(tokens, at->secret, &name) & needed)) {
            at->is_over = true;
            client_wake(at);
        }
    pthread_mutex_unlock(&stream->lock);
}

static void client_free(struct stream_client *client)
{
    if (client->secret)
        explicit_bzero(client->secret, strlen(client->secret));
    mem_free(client->secret);
    buf_done(&client->unsent);
    mem_free(client);
}

static cairn_code read_place(const char *after, int64_t *ret_after, cairn_error *reterr)
{
    *ret_after = FROM_THE_PRESENT;
    if (!after || !after[0])
        return CAIRN_OK;
    size_t digits = strspn(after, "0123456789");
    if (digits > 18 || after[digits])
        return fail(reterr, CAIRN_E_BAD_INPUT, "\"%.32s\" is not the id of an event", after);
    *ret_after = strtoll(after, NULL, 10);
    return CAIRN_OK;
}

/* With the lock held. */
static cairn_code add_client(struct stream *stream, struct stream_client *client,
                             cairn_error *reterr)
{
    if (stream->is_stopping)
        return fail(reterr, CAIRN_E_CLOSED, "the server is stopping");
    if (stream->count >= CLIENTS_MAX)
        return fail(reterr, CAIRN_E_TOO_MANY, "%d clients follow the stream already",
                    (int)CLIENTS_MAX);
    if (!stream->has_thread && pthread_create(&stream->thread, NULL, stream_follow, stream))
        return fail(reterr, CAIRN_E_TOO_MANY, "could not start a thread");
    stream->has_thread = true;
    client->number = ++stream->last_number;
    client->next = stream->clients;
    stream->clients = client;
    stream->count++;
    /* Suspend before the thread can resume it, for which it needs the lock. */
    MHD_suspend_connection(client->connection);
    client->is_suspended = true;
    pthread_cond_signal(&stream->changed);
    return CAIRN_OK;
}

cairn_code stream_join(struct stream *stream, struct MHD_Connection *connection, int fd,
                       const char *after, const struct stream_want *want, const char *secret,
                       struct stream_client **ret_client, cairn_error *reterr)
{
    int64_t place;
    TRY(read_place(after, &place, reterr));
    struct stream_client *client = mem_zalloc(sizeof *client);
    if (!client)
        return fail_memory(reterr);
    *client = (struct stream_client){
        .stream = stream, .connection = connection, .fd = fd, .after = place};
    memcpy(&client->want, want, sizeof *want); /* with its padding: it is compared as a whole */
    buf_str(&client->unsent, ": cairn\n\n");
    if (secret && !(client->secret = mem_strdup(secret))) {
        client_free(client);
        return fail_memory(reterr);
    }
    pthread_mutex_lock(&stream->lock);
    cairn_code code = add_client(stream, client, reterr);
    pthread_mutex_unlock(&stream->lock);
    if (code) {
        client_free(client);
        return code;
    }
    *ret_client = client;
    return CAIRN_OK;
}

void stream_leave(struct stream_client *client)
{
    if (!client)
        return;
    struct stream *stream = client->stream;
    pthread_mutex_lock(&stream->lock);
    struct stream_client **at = &stream->clients;
    while (*at != client)
        at = &(*at)->next;
    *at = client->next;
    stream->count--;
    stream_leave_group(stream, client->group);
    pthread_mutex_unlock(&stream->lock);
    client_free(client);
}

/* Asked by the server for more.  One that has nothing is suspended: answering 0 alone would have
 * it asked again at once. */
static ssize_t send_more(void *cls, uint64_t pos, char *to, size_t max)
{
    (void)pos;
    struct stream_client *client = cls;
    ssize_t len = 0;
    pthread_mutex_lock(&client->stream->lock);
    size_t left = client->unsent.len - client->sent;
    if (client->is_over || buf_failed(&client->unsent)) {
        len = MHD_CONTENT_READER_END_OF_STREAM;
    } else if (left) {
        size_t some = left < max ? left : max;
        memcpy(to, client->unsent.text + client->sent, some);
        client->sent += some;
        len = (ssize_t)some;
    } else {
        buf_reset(&client->unsent);
        client->sent = 0;
        MHD_suspend_connection(client->connection);
        client->is_suspended = true;
    }
    pthread_mutex_unlock(&client->stream->lock);
    return len;
}

static void leave(void *cls)
{
    stream_leave(cls);
}

struct MHD_Response *stream_response(struct stream_client *client)
{
    struct MHD_Response *response =
        MHD_create_response_from_callback(MHD_SIZE_UNKNOWN, BLOCK, send_more, client, leave);
    if (!response)
        stream_leave(client);
    return response;
}
