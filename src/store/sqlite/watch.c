/* store/sqlite/watch.c - noticing that another process has committed.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * inotify tells of every write to the log.  That is before the commit: its pages are written,
 * then synced, and only then made visible, which happens in shared memory where inotify sees
 * nothing. So after each write the connection here is asked again and again (PRAGMA
 * data_version), at intervals that grow with the time since, until SETTLE_US have passed in
 * silence. An idle store costs nothing.
 *
 * The log is watched, never opened: closing it would drop the locks that SQLite holds in this
 * process.
 */
#include "base/clock.h"
#include "base/mem.h"
#include "store/sqlite/sqlite.h"

#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/inotify.h>
#include <time.h>
#include <unistd.h>

/* A commit whose sync takes longer than this is found by the next one, or by a poll above. */
enum { SETTLE_US = 10 * US_PER_SEC, FIRST_LOOK_US = 100, POLL_US = 500 * US_PER_MS };

struct watch {
    int inotify, log; /* -1: none */
    struct connection *connection;
    sqlite3_stmt *data_version;
    int64_t version;       /* as last seen */
    int64_t last_write_us; /* monotonic; 0: all has settled */
};

void watch_free(struct watch *watch)
{
    if (!watch)
        return;
    if (watch->inotify >= 0)
        close(watch->inotify);
    sqlite3_finalize(watch->data_version);
    connection_close(watch->connection);
    mem_free(watch);
}

static struct watch *watch_new(struct sqlite_store *store)
{
    struct watch *watch = mem_zalloc(sizeof *watch);
    if (!watch)
        return NULL;
    *watch = (struct watch){.inotify = -1, .log = -1, .version = -1};
    if (connection_open(store, FOR_READING, &watch->connection, NULL) != CAIRN_OK ||
        sqlite3_prepare_v2(watch->connection->db, "PRAGMA data_version", -1,
                           &watch->data_version, NULL) != SQLITE_OK) {
        watch_free(watch);
        return NULL;
    }
    watch->inotify = inotify_init1(IN_NONBLOCK | IN_CLOEXEC);
    return watch;
}

/* Whether the store has changed since the last call; true when unsure. */
static bool has_changed(struct watch *watch)
{
    int64_t version = -1;
    if (sqlite3_step(watch->data_version) == SQLITE_ROW)
        version = sqlite3_column_int64(watch->data_version, 0);
    sqlite3_reset(watch->data_version);
    bool is_changed = version < 0 || version != watch->version;
    watch->version = version;
    return is_changed;
}

/* SQLite knows where the log is, symbolic links and all.  It exists while we have the store
 * open. */
static void find_log(struct watch *watch)
{
    if (watch->log >= 0 || watch->inotify < 0)
        return;
    const char *file = sqlite3_db_filename(watch->connection->db, "main");
    watch->log = inotify_add_watch(watch->inotify, sqlite3_filename_wal(file),
                                   IN_MODIFY | IN_DELETE_SELF | IN_MOVE_SELF);
    if (watch->log >= 0)
        watch->last_write_us = monotonic_us(); /* there may have been writes before */
}

static void take_events(struct watch *watch)
{
    _Alignas(struct inotify_event) char bytes[4096];
    ssize_t len;
    while ((len = read(watch->inotify, bytes, sizeof bytes)) > 0)
        for (char *at = bytes; at < bytes + len;) {
            const struct inotify_event *event = (const struct inotify_event *)at;
            if (event->mask & (IN_DELETE_SELF | IN_MOVE_SELF | IN_IGNORED))
                watch->log = -1;
            at += sizeof *event + event->len;
        }
    watch->last_write_us = monotonic_us();
}

/* How long until the next look; -1: only when something is written. */
static int64_t until_look_us(const struct watch *watch, int64_t now_us)
{
    if (watch->log < 0)
        return POLL_US;
    if (!watch->last_write_us)
        return -1;
    int64_t age_us = now_us - watch->last_write_us;
    return age_us / 2 > FIRST_LOOK_US ? age_us / 2 : FIRST_LOOK_US;
}

/* Sleeps until there is something to look at; false: told to stop. */
static bool sleep_until(struct watch *watch, int stop_fd, int64_t wait_us)
{
    struct pollfd fds[] = {{.fd = stop_fd, .events = POLLIN},
                           {.fd = watch->inotify, .events = POLLIN}};
    struct timespec wait = {.tv_sec = wait_us / US_PER_SEC,
                            .tv_nsec = wait_us % US_PER_SEC * 1000};
    int ready = ppoll(fds, 2, wait_us < 0 ? NULL : &wait, NULL);
    if (ready > 0 && fds[0].revents)
        return false;
    if (ready > 0 && fds[1].revents)
        take_events(watch);
    return true;
}

/* False: told to stop. */
static bool wait_only(int stop_fd, int wait_ms)
{
    struct pollfd stop = {.fd = stop_fd, .events = POLLIN};
    return poll(&stop, 1, wait_ms) == 0;
}

unsigned sqlite_watch(struct store *base, int stop_fd, int timeout_ms)
{
    struct sqlite_store *store = (struct sqlite_store *)base;
    if (is_in_memory(store)) { /* it has no other process */
        wait_only(stop_fd, timeout_ms);
        return 0;
    }
    int64_t end_us = timeout_ms < 0 ? INT64_MAX : monotonic_us() + timeout_ms * US_PER_MS;
    if (!store->watch)
        store->watch = watch_new(store);
    struct watch *watch = store->watch;
    if (!watch) { /* without a connection of its own the store is read from time to time */
        int poll_ms = (int)(POLL_US / US_PER_MS);
        bool is_over =
            wait_only(stop_fd, timeout_ms >= 0 && timeout_ms < poll_ms ? timeout_ms : poll_ms);
        return is_over ? NEWS_ALL : 0;
    }

    for (;;) {
        find_log(watch);
        if (has_changed(watch))
            return NEWS_ALL;
        int64_t now_us = monotonic_us();
        if (watch->last_write_us && now_us - watch->last_write_us > SETTLE_US)
            watch->last_write_us = 0;
        if (now_us >= end_us)
            return 0;
        int64_t wait_us = until_look_us(watch, now_us);
        if (wait_us < 0 || wait_us > end_us - now_us)
            wait_us = end_us == INT64_MAX && wait_us < 0 ? -1 : end_us - now_us;
        if (!sleep_until(watch, stop_fd, wait_us))
            return 0;
    }
}

/* Every commit is noticed. */
bool sqlite_is_hearing(struct store *store)
{
    (void)store;
    return true;
}
