/* store/postgres/watch.c - news from other processes: LISTEN, or the poll in its place.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * One thread at a time watches, on a connection of its own.  What we notify ourselves carries
 * our name and is passed over.  Behind a pooler, or while the connection is lost, it is worth
 * looking about once a second.
 *
 * Of ends others tell only those who have asked for it, by a row of workflow_waiter that counts for a
 * while.  It is written here, on the connection that listens, and without waiting for a disk.
 */
#include "base/mem.h"
#include "store/postgres/postgres.h"

#include <assert.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/eventfd.h>

enum {
    POLL_MS = 1000,  /* without news */
    LOOK_MS = 10000, /* with them: the leases of a process that died are not announced */
    RETRY_MS = 250,  /* before the second try to connect; then twice as long each time */
    RETRY_MAX = 10000,
    CONNECT_MS = 5000,
    ANNOUNCE_MS = 1000,   /* how long the server may take for it */
    ANNOUNCED_MS = 10000, /* how often it is said; what was said counts half as long again */
};

/* ---- notices ------------------------------------------------------------------------------- */

static const struct {
    unsigned news;
    char letter;
} kinds[] = {{NEWS_READY, 'r'}, {NEWS_ENDS, 'e'}};
enum { KINDS = sizeof kinds / sizeof *kinds };

void postgres_write_notice(const struct postgres_store *store, unsigned news,
                           char ret_notice[NOTICE_TEXT])
{
    int len = snprintf(ret_notice, NOTICE_TEXT, "%s:", store->name);
    for (size_t i = 0; i < KINDS; i++)
        if (news & kinds[i].news)
            ret_notice[len++] = kinds[i].letter;
    ret_notice[len] = '\0';
}

/* 0: our own.  One without kinds is a trigger's, or an earlier program's: it may mean anything. */
static unsigned read_notice(const struct postgres_store *store, const char *notice)
{
    size_t name = strlen(store->name);
    const char *colon = strchr(notice, ':');
    unsigned news = 0;
    if (strncmp(notice, store->name, name) == 0 && (!notice[name] || notice[name] == ':'))
        return 0;
    for (size_t i = 0; colon && i < KINDS; i++)
        if (strchr(colon, kinds[i].letter))
            news |= kinds[i].news;
    return colon ? news : NEWS_ALL;
}

/* ---- waiting ------------------------------------------------------------------------------- */

enum wait_end { WAIT_READY, WAIT_STOPPED, WAIT_OVER };

/* Until the socket (-1: none) is ready, or stop_fd is readable, or `until_us` has come; or what is wanted
 * may have changed, which counts as stopped. */
static enum wait_end wait_for(const struct postgres_store *store, int socket, int stop_fd,
                              int64_t until_us)
{
    int wake_fd = store->base.wake_fd > 0 ? store->base.wake_fd : -1;
    for (;;) {
        struct pollfd fds[3] = {{.fd = stop_fd, .events = POLLIN},
                                {.fd = socket, .events = POLLIN},
                                {.fd = wake_fd, .events = POLLIN}};
        int64_t left_us = until_us - monotonic_us();
        int64_t left_ms = left_us <= 0 ? 0 : (left_us + US_PER_MS - 1) / US_PER_MS;
        int ready = poll(fds, 3, left_ms > POLL_MS * 60 ? POLL_MS * 60 : (int)left_ms);
        eventfd_t count;
        if (ready > 0 && fds[0].revents)
            return WAIT_STOPPED;
        if (ready > 0 && fds[1].revents)
            return WAIT_READY;
        if (ready > 0) {
            eventfd_read(wake_fd, &count);
            return WAIT_STOPPED;
        }
        if (monotonic_us() >= until_us)
            return WAIT_OVER;
    }
}

/* ---- listening ----------------------------------------------------------------------------- */

static void lose_watch(struct postgres_watch *watch)
{
    postgres_conn_done(&watch->conn);
    watch->announced_us = 0; /* a server that crashed has forgotten it */
    atomic_store(&watch->is_deaf, true);
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
        code = postgres_exec(watch->conn, "LISTEN cairn; SET synchronous_commit = off",
                             "listen for news", &patience, NULL, NULL);
    if (code || is_pooled) {
        lose_watch(watch);
        return false;
    }
    watch->retry_ms = RETRY_MS;
    atomic_store(&watch->is_deaf, false);
    return true;
}

static bool must_announce(const struct postgres_store *store)
{
    const struct postgres_watch *watch = &store->watch;
    return atomic_load(&store->base.are_ends_wanted) &&
           (!watch->announced_us ||
            monotonic_us() - watch->announced_us >= ANNOUNCED_MS * US_PER_MS);
}

/* Says for a while that ends are wanted.  Rows of engines that are gone are removed on the way. */
static unsigned announce(struct postgres_store *store, int stop_fd)
{
    struct postgres_watch *watch = &store->watch;
    char sql[512];
    struct postgres_patience patience = {.until_us = monotonic_us() + ANNOUNCE_MS * US_PER_MS,
                                         .stop_fd = stop_fd};
    snprintf(sql, sizeof sql,
             "DELETE FROM workflow.workflow_waiter WHERE until < clock_timestamp() - interval "
             "'1 min';"
             "INSERT INTO workflow.workflow_waiter AS w (engine, until)"
             " VALUES ('%s', clock_timestamp() + interval '%d ms')"
             " ON CONFLICT (engine) DO UPDATE SET until = excluded.until",
             store->name, ANNOUNCED_MS * 3 / 2);
    watch->announced_us = monotonic_us();
    cairn_code code =
        postgres_exec(watch->conn, sql, "say that ends are wanted", &patience, NULL, NULL);
    if (code == CAIRN_E_UNREACHABLE) {
        lose_watch(watch);
        return NEWS_ALL;
    }
    atomic_store(&watch->is_deaf, code != CAIRN_OK); /* a standby takes no rows */
    return code ? NEWS_ALL : NEWS_HEARING;
}

/* Takes what has arrived from other processes. */
static unsigned take_news(const struct postgres_store *store)
{
    unsigned news = 0;
    PGnotify *note;
    while ((note = PQnotifies(store->watch.conn))) {
        news |= read_notice(store, note->extra);
        PQfreemem(note);
    }
    return news;
}

static unsigned say(struct postgres_store *store, unsigned news)
{
    if (news & NEWS_READY) {
        postgres_forget_due(store);
        store->watch.looked_us = monotonic_us();
    }
    return news;
}

/* Waits on the connection until there is news.  A lost connection is news as well. */
static unsigned wait_for_news(struct postgres_store *store, int stop_fd, int64_t until_us)
{
    struct postgres_watch *watch = &store->watch;
    int64_t look_us = watch->looked_us + LOOK_MS * US_PER_MS;
    int64_t end_us = until_us < look_us ? until_us : look_us;
    int64_t announce_us = watch->announced_us + ANNOUNCED_MS * US_PER_MS;
    bool is_wanted = atomic_load(&store->base.are_ends_wanted);
    if (is_wanted && announce_us < end_us)
        end_us = announce_us;
    for (;;) {
        unsigned news = take_news(store);
        if (news)
            return say(store, news);
        switch (wait_for(store, PQsocket(watch->conn), stop_fd, end_us)) {
        case WAIT_STOPPED:
            return 0;
        case WAIT_OVER:
            return end_us == look_us ? say(store, NEWS_ALL) : 0;
        case WAIT_READY:
            if (!PQconsumeInput(watch->conn)) {
                lose_watch(watch);
                return say(store, NEWS_ALL);
            }
        }
    }
}

/* The poll: what is true once a second without looking. */
static unsigned wait_for_poll(struct postgres_store *store, int stop_fd, int64_t until_us)
{
    int64_t look_us = store->watch.looked_us + POLL_MS * US_PER_MS;
    int64_t end_us = until_us < look_us ? until_us : look_us;
    if (wait_for(store, -1, stop_fd, end_us) == WAIT_STOPPED)
        return 0;
    return end_us == look_us ? say(store, NEWS_ALL) : 0;
}

unsigned postgres_watch(struct store *base, int stop_fd, int timeout_ms)
{
    struct postgres_store *store = (struct postgres_store *)base;
    struct postgres_watch *watch = &store->watch;
    int64_t until_us = timeout_ms < 0 ? INT64_MAX : monotonic_us() + timeout_ms * US_PER_MS;

    if (watch->conn && must_announce(store))
        return announce(store, stop_fd);
    if (watch->conn)
        return wait_for_news(store, stop_fd, until_us);
    if (!atomic_load(&store->is_pooled) && start_listening(store, stop_fd))
        return say(store, NEWS_ALL); /* whatever happened before we listened */
    return wait_for_poll(store, stop_fd, until_us);
}

bool postgres_is_hearing(struct store *base)
{
    struct postgres_store *store = (struct postgres_store *)base;
    return !atomic_load(&store->is_pooled) && !atomic_load(&store->watch.is_deaf);
}
