/* http/follow.h - what the clients of the stream and the thread that follows events share.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef HTTP_FOLLOW_H
#define HTTP_FOLLOW_H

#include "base/buf.h"
#include "http/exchange.h"
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
    bool is_suspended;
    bool is_over;
    struct buf unsent;
    size_t sent; /* of unsent */
};

struct stream {
    struct http *http;
    pthread_mutex_t lock; /* guards everything; not held during a call of the engine */
    pthread_cond_t changed;
    struct stream_client *clients;
    size_t count;
    uint64_t last_number, last_placed; /* of all that came, of those that have their place */
    pthread_t thread;
    bool has_thread, is_stopping;

    int64_t after;      /* how far the thread has followed; the thread's own */
    bool is_placed;     /* it has found the newest event since the first client came */
    uint64_t last_turn; /* the number of the client that was last given what it missed */
};

/* The thread: its arg is the stream. */
void *stream_follow(void *arg);

/* Resumes it if it is suspended; with the lock held. */
void client_wake(struct stream_client *client);

#endif
