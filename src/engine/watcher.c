/* engine/watcher.c - the thread that listens for other processes.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "engine/local.h"

/* While no claim waits, news concerns only timers: then it is enough to listen a while after the
 * opening (short commands never do) and to look now and then under load. */
#define FIRST_WATCH_US US_PER_SEC
#define NEXT_WATCH_US (100 * US_PER_MS)

/* A store that does not tell of every change tells what kind of change it was, and none of our own. */
static bool is_told_kinds(const struct local_engine *engine)
{
    return engine->store->ops->ask_due_ms > 0;
}

static void take_news(struct local_engine *engine, unsigned news)
{
    if (news & NEWS_HEARING)
        waits_hearing(engine);
    if (news & NEWS_ENDS && is_told_kinds(engine))
        waits_look(engine);
    if (!(news & NEWS_READY))
        return;
    engine->is_foreign_news = true;
    note_any_ready(engine);
    pthread_cond_broadcast(&engine->write_work);
}

/* Listens for other processes while a call waits for work or an end, or timers must be kept. */
void *run_watcher(void *arg)
{
    struct local_engine *engine = arg;
    int64_t from_us = clock_monotonic_us(&engine->clock) + FIRST_WATCH_US;
    pthread_mutex_lock(&engine->lock);
    while (!engine->is_stopping) {
        if (!keeps_timers(engine))
            from_us = INT64_MAX;
        bool has_waiting = engine->parked.count || engine->waits.count;
        if (!has_waiting && clock_monotonic_us(&engine->clock) < from_us) {
            wait_until(&engine->watch_work, &engine->lock, from_us);
            continue;
        }
        engine->waits.is_watched = engine->waits.count > 0;
        atomic_store(&engine->store->are_ends_wanted, engine->waits.is_watched);
        pthread_mutex_unlock(&engine->lock);
        unsigned news = engine->store->ops->watch(engine->store, engine->stop_fd, -1);
        pthread_mutex_lock(&engine->lock);
        from_us = clock_monotonic_us(&engine->clock) + NEXT_WATCH_US;
        take_news(engine, news);
    }
    pthread_mutex_unlock(&engine->lock);
    return NULL;
}
