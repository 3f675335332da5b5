/* http/deadline.c - connections whose request takes too long to arrive are closed.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "http/deadline.h"

#include "base/clock.h"
#include "base/error.h"
#include "base/mem.h"

#include <pthread.h>
#include <stdbool.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>

struct visitor {
    struct deadlines *deadlines;
    int fd;
    enum awaited awaited;
    int64_t until_us; /* monotonic */
    struct visitor *before, *behind;
};

/* All visitors of a queue are given the same time, so the first one's deadline is the earliest. */
struct queue {
    int64_t us;
    struct visitor *first, *last;
};

struct deadlines {
    pthread_mutex_t lock; /* guards everything; a socket is not closed while it is held */
    pthread_cond_t changed;
    pthread_t thread;
    struct queue queues[AWAITED_COUNT]; /* AWAIT_NOTHING: not used */
    bool is_stopping;
};

static void leave_queue(struct visitor *visitor)
{
    if (visitor->awaited == AWAIT_NOTHING)
        return;
    struct queue *queue = &visitor->deadlines->queues[visitor->awaited];
    if (visitor->before)
        visitor->before->behind = visitor->behind;
    else
        queue->first = visitor->behind;
    if (visitor->behind)
        visitor->behind->before = visitor->before;
    else
        queue->last = visitor->before;
    visitor->before = visitor->behind = NULL;
    visitor->awaited = AWAIT_NOTHING;
}

static void join_queue(struct visitor *visitor, enum awaited awaited)
{
    struct deadlines *deadlines = visitor->deadlines;
    struct queue *queue = &deadlines->queues[awaited];
    visitor->awaited = awaited;
    visitor->until_us = monotonic_us() + queue->us;
    visitor->before = queue->last;
    if (queue->last)
        queue->last->behind = visitor;
    else
        queue->first = visitor;
    queue->last = visitor;
    if (queue->first == visitor)
        pthread_cond_signal(&deadlines->changed);
}

/* The visitor whose deadline is the earliest; NULL: there is none. */
static struct visitor *find_earliest(struct deadlines *deadlines)
{
    struct visitor *head = deadlines->queues[AWAIT_HEAD].first;
    struct visitor *body = deadlines->queues[AWAIT_BODY].first;
    if (!head || !body)
        return head ? head : body;
    return head->until_us <= body->until_us ? head : body;
}

static void wait_until(struct deadlines *deadlines, int64_t until_us)
{
    struct timespec until = {.tv_sec = until_us / US_PER_SEC,
                             .tv_nsec = until_us % US_PER_SEC * 1000};
    pthread_cond_timedwait(&deadlines->changed, &deadlines->lock, &until);
}

static void *watch(void *arg)
{
    struct deadlines *deadlines = arg;
    pthread_mutex_lock(&deadlines->lock);
    while (!deadlines->is_stopping) {
        struct visitor *earliest = find_earliest(deadlines);
        if (!earliest) {
            pthread_cond_wait(&deadlines->changed, &deadlines->lock);
        } else if (earliest->until_us > monotonic_us()) {
            wait_until(deadlines, earliest->until_us);
        } else {
            shutdown(earliest->fd, SHUT_RDWR);
            leave_queue(earliest);
        }
    }
    pthread_mutex_unlock(&deadlines->lock);
    return NULL;
}

static void deadlines_free(struct deadlines *deadlines)
{
    pthread_mutex_destroy(&deadlines->lock);
    pthread_cond_destroy(&deadlines->changed);
    mem_free(deadlines);
}

cairn_code deadlines_start(int64_t head_ms, int64_t body_ms, struct deadlines **ret_deadlines,
                           cairn_error *reterr)
{
    struct deadlines *deadlines = mem_zalloc(sizeof *deadlines);
    pthread_condattr_t monotonic;
    if (!deadlines)
        return fail_memory(reterr);
    deadlines->queues[AWAIT_HEAD].us = head_ms * US_PER_MS;
    deadlines->queues[AWAIT_BODY].us = body_ms * US_PER_MS;
    pthread_mutex_init(&deadlines->lock, NULL);
    pthread_condattr_init(&monotonic);
    pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
    pthread_cond_init(&deadlines->changed, &monotonic);
    pthread_condattr_destroy(&monotonic);
    int failed = pthread_create(&deadlines->thread, NULL, watch, deadlines);
    if (failed) {
        deadlines_free(deadlines);
        return fail(reterr, CAIRN_E_TOO_MANY, "could not start a thread: %s", strerror(failed));
    }
    *ret_deadlines = deadlines;
    return CAIRN_OK;
}

void deadlines_stop(struct deadlines *deadlines)
{
    if (!deadlines)
        return;
    pthread_mutex_lock(&deadlines->lock);
    deadlines->is_stopping = true;
    pthread_cond_signal(&deadlines->changed);
    pthread_mutex_unlock(&deadlines->lock);
    pthread_join(deadlines->thread, NULL);
    deadlines_free(deadlines);
}

void deadline_await(struct visitor *visitor, enum awaited awaited)
{
    if (!visitor)
        return;
    pthread_mutex_lock(&visitor->deadlines->lock);
    leave_queue(visitor);
    if (awaited != AWAIT_NOTHING)
        join_queue(visitor, awaited);
    pthread_mutex_unlock(&visitor->deadlines->lock);
}

/* libmicrohttpd says that a connection is closed before it closes the socket, so the number of
 * a socket in a queue is never another connection's. */
void deadline_notify(void *cls, struct MHD_Connection *connection, void **held,
                     enum MHD_ConnectionNotificationCode what)
{
    if (what == MHD_CONNECTION_NOTIFY_CLOSED) {
        deadline_await(*held, AWAIT_NOTHING);
        mem_free(*held);
        *held = NULL;
        return;
    }
    struct visitor *visitor = mem_zalloc(sizeof *visitor);
    *held = visitor;
    if (!visitor)
        return; /* served without a deadline; libmicrohttpd still closes it if it is silent */
    visitor->deadlines = cls;
    visitor->fd =
        MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CONNECTION_FD)->connect_fd;
    deadline_await(visitor, AWAIT_HEAD);
}

struct visitor *deadline_visitor(struct MHD_Connection *connection)
{
    return MHD_get_connection_info(connection, MHD_CONNECTION_INFO_SOCKET_CONTEXT)
        ->socket_context;
}
