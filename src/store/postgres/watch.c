/* store/postgres/watch.c - news from other processes: LISTEN, or the poll in its place.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * One thread at a time watches, on a connection of its own.  What we notify ourselves carries
 * our name and is passed over.  Behind a pooler, or while the connection is lost, it is worth
 * looking about once a second.
 */
#include "base/mem.h"
#include "store/postgres/postgres.h"

#include <assert.h>
#include <poll.h>
#include <string.h>

enum {
    POLL_MS = 1000,  /* without news */
    LOOK_MS = 10000, /* with them: the leases of a process that died are not announced */
    RETRY_MS = 250,  /* before the second try to connect; then twice as long each time */
    RETRY_MAX = 10000,
    CONNECT_MS = 5000
};

enum wait_end { WAIT_READY, WAIT_STOPPED, WAIT_OVER };

/* Until the socket (-1: none) is ready, or stop_fd is readable, or `until_us` has come. */
static enum wait_end wait_for(int socket, short events, int stop_fd, int64_t until_us)
{
    for (;;) {
        struct pollfd fds[2] = {{.fd = stop_fd, .events = POLLIN},
                                {.fd = socket, .events = events}};
        int64_t left_us = until_us - monotonic_us();
        int64_t left_ms = left_us <= 0 ? 0 : (left_us + US_PER_MS - 1) / US_PER_MS;
        int ready = poll(fds, 2, left_ms > POLL_MS * 60 ? POLL_MS * 60 : (int)left_ms);
        if (ready > 0 && fds[0].revents)
            return WAIT_STOPPED;
        if (ready > 0)
            return WAIT_READY;
        if (monotonic_us() >= until_us)
            return WAIT_OVER;
    }
}

static void lose_watch(struct postgres_watch *watch)
{
    postgres_conn_done(&watch->conn);
    watch->retry_at_us = monotonic_us() + watch->retry_ms * US_PER_MS;
    watch->retry_ms = watch->retry_ms * 2 > RETRY_MAX ? RETRY_MAX : watch->retry_ms * 2;
}

/* Tries to listen; false: not this time. */
static bool start_listening(struct postgres_store *store, int stop_fd)
{
    struct postgres_watch *watch = &store->watch;
    bool is_pooled = false;
    if (watch->retry_ms == 0)
        watch->retry_ms = RETRY_MS;
    if (monotonic_us() < watch->retry_at_us)
        return false;

    struct postgres_patience patience = {.until_us = monotonic_us() + CONNECT_MS * US_PER_MS,
                                         .stop_fd = stop_fd};
    cairn_code code = postgres_connect(store->url, &patience, &watch->conn, NULL);
    if (!code)
        code = postgres_ask_pooled(watch->conn, &patience, &is_pooled, NULL);
    if (!code && is_pooled)
        atomic_store(&store->is_pooled, true);
    if (!code && !is_pooled)
        code = postgres_exec(watch->conn, "LISTEN cairn", "listen for news", &patience, NULL,
                             NULL);
    if (code || is_pooled) {
        lose_watch(watch);
        return false;
    }
    watch->retry_ms = RETRY_MS;
    return true;
}

/* Takes what has arrived; true if any of it comes from another process. */
static bool take_news(const struct postgres_store *store)
{
    bool has_news = false;
    PGnotify *note;
    while ((note = PQnotifies(store->watch.conn))) {
        if (strcmp(note->extra, store->name) != 0)
            has_news = true;
        PQfreemem(note);
    }
    return has_news;
}

static bool say_look(struct postgres_store *store)
{
    postgres_forget_due(store);
    store->watch.looked_us = monotonic_us();
    return true;
}

/* Waits on the connection until there is news.  A lost connection is news as well. */
static bool wait_for_news(struct postgres_store *store, int stop_fd, int64_t until_us)
{
    struct postgres_watch *watch = &store->watch;
    int64_t look_us = watch->looked_us + LOOK_MS * US_PER_MS;
    for (;;) {
        if (take_news(store))
            return say_look(store);
        int64_t end_us = until_us < look_us ? until_us : look_us;
        switch (wait_for(PQsocket(watch->conn), POLLIN, stop_fd, end_us)) {
        case WAIT_STOPPED:
            return false;
        case WAIT_OVER:
            return end_us == look_us ? say_look(store) : false;
        case WAIT_READY:
            if (!PQconsumeInput(watch->conn)) {
                lose_watch(watch);
                return say_look(store);
            }
        }
    }
}

/* The poll: what is true once a second without looking. */
static bool wait_for_poll(struct postgres_store *store, int stop_fd, int64_t until_us)
{
    int64_t look_us = store->watch.looked_us + POLL_MS * US_PER_MS;
    int64_t end_us = until_us < look_us ? until_us : look_us;
    if (wait_for(-1, 0, stop_fd, end_us) == WAIT_STOPPED)
        return false;
    return end_us == look_us ? say_look(store) : false;
}

bool postgres_watch(struct store *base, int stop_fd, int timeout_ms)
{
    struct postgres_store *store = (struct postgres_store *)base;
    struct postgres_watch *watch = &store->watch;
    int64_t until_us = timeout_ms < 0 ? INT64_MAX : monotonic_us() + timeout_ms * US_PER_MS;

    if (watch->conn)
        return wait_for_news(store, stop_fd, until_us);
    if (!atomic_load(&store->is_pooled) && start_listening(store, stop_fd))
        return say_look(store); /* whatever happened before we listened */
    return wait_for_poll(store, stop_fd, until_us);
}
