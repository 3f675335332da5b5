/* http/stream.c - the clients of /v1/stream: joining, sending, leaving.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "http/stream.h"

#include "base/error.h"
#include "base/mem.h"
#include "http/follow.h"

#include <stdlib.h>
#include <string.h>

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

void client_wake(struct stream_client *client)
{
    if (!client->is_suspended)
        return;
    client->is_suspended = false;
    MHD_resume_connection(client->connection);
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
                       const char *after, struct stream_client **ret_client,
                       cairn_error *reterr)
{
    int64_t place;
    TRY(read_place(after, &place, reterr));
    struct stream_client *client = mem_zalloc(sizeof *client);
    if (!client)
        return fail_memory(reterr);
    *client = (struct stream_client){
        .stream = stream, .connection = connection, .fd = fd, .after = place};
    buf_str(&client->unsent, ": cairn\n\n");
    pthread_mutex_lock(&stream->lock);
    cairn_code code = add_client(stream, client, reterr);
    pthread_mutex_unlock(&stream->lock);
    if (code) {
        buf_done(&client->unsent);
        mem_free(client);
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
    pthread_mutex_unlock(&stream->lock);
    buf_done(&client->unsent);
    mem_free(client);
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
