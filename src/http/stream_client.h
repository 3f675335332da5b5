/* http/stream_client.h - clients of the stream and what they share; for stream.c and stream_digest.c.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef HTTP_STREAM_CLIENT_H
#define HTTP_STREAM_CLIENT_H

#include "base/buf.h"
#include "base/json.h"
#include "http/digest.h"
#include "http/stream.h"

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

enum { FROM_THE_PRESENT = -1 };

struct stream_client {
    struct stream_client *next;
    struct stream *stream;
    struct MHD_Connection *connection;
    int fd;
    uint64_t number; /* tells it from one that came later to the same address */
    int64_t after;   /* the last event that it was given */
    struct stream_want want;
    char *secret;               /* its token; NULL: the server has none */
    struct digest_group *group; /* of one that wants digests, once it has its place */
    bool has_missed;            /* it came back for digests, and what happened is not known */
    bool is_suspended;
    bool is_over;
    struct buf unsent;
    size_t sent; /* of unsent */
};

/* Clients that want the same digests. */
struct digest_group {
    struct digest_group *next;
    struct stream_want want;
    struct digest digest;
    int64_t due_us; /* monotonic: no message before this */
    size_t count;   /* of its clients */
};

struct stream {
    struct http *http;
    pthread_mutex_t lock; /* guards everything; not held during a call of the engine */
    pthread_cond_t changed;
    struct stream_client *clients;
    struct digest_group *groups;
    size_t count;
    uint64_t last_number, last_placed; /* of all that came, of those that have their place */
    pthread_t thread;
    bool has_thread, is_stopping;

    int64_t after;      /* how far the thread has followed; the thread's own */
    bool is_placed;     /* it has found the newest event since the first client came */
    uint64_t last_turn; /* the number of the client that was last given what it missed */
};

/* What the engine answers to a GET; NULL: nothing, or no JSON.  Not with the lock held. */
json_t *stream_ask(struct stream *stream, const char *target);

/* With the lock held.  One that is too far behind is cut off. */
void client_give(struct stream_client *client, const char *text, size_t len);

/* ---- digests (stream_digest.c) ----------------------------------------------------------- */

/* One who came back is told that something has happened, and nothing of what it was.  With the lock held. */
void client_join_group(struct stream *stream, struct stream_client *client);

/* With the lock held; `group` may be NULL. */
void stream_leave_group(struct stream *stream, struct digest_group *group);

/* The digests that are due, to those who want them. */
void stream_give_digests(struct stream *stream);

#endif
