/* engine/aside.c - rows that the store refuses to write when their time comes.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * Timers are applied in the batches of everybody.  If the store refuses one of their rows (a constraint, a trigger of
 * somebody else), every batch would fail, for ever.  So the requests are committed without timers, and then the timers
 * by themselves, one kind after the other:
 *
 *     a portion is refused        half of it is tried
 *     a portion of one is refused its row is set aside for a minute, and is then tried again
 *     a portion is committed      twice as many, until nothing of the kind is due
 *
 * A kind that does not say which row it was (promotions, intake, schedules, families) is left for the next time.
 */
#include "engine/batch.h"

#include <stdio.h>
#include <string.h>

/* How long a row is left alone, and between two notices about such rows. */
#define ASIDE_US (60 * US_PER_SEC)

/* How long timers rest if a row is refused that cannot be named. */
#define REST_US (500 * US_PER_MS)

/* Of transactions, so that a store that refuses everything is not asked for ever. */
enum { PORTION_FIRST = 256, TRIES_MAX = 400 };

/* With the lock held. */
static void forget_old(struct local_engine *engine)
{
    struct asides *asides = &engine->asides;
    int64_t now_us = clock_monotonic_us(&engine->clock);
    size_t kept = 0;
    for (size_t i = 0; i < asides->count; i++)
        if (asides->rows[i].until_us > now_us)
            asides->rows[kept++] = asides->rows[i];
    asides->count = kept;
}

size_t aside_count(struct local_engine *engine)
{
    pthread_mutex_lock(&engine->lock);
    forget_old(engine);
    size_t count = engine->asides.count;
    pthread_mutex_unlock(&engine->lock);
    return count;
}

bool aside_has(struct local_engine *engine, const char *id)
{
    bool is_found = false;
    pthread_mutex_lock(&engine->lock);
    for (size_t i = 0; i < engine->asides.count && !is_found; i++)
        is_found = strcmp(engine->asides.rows[i].id, id) == 0;
    pthread_mutex_unlock(&engine->lock);
    return is_found;
}

/* False: there is no room for it. */
static bool set_aside(struct local_engine *engine, const char *id, const cairn_error *why)
{
    struct asides *asides = &engine->asides;
    pthread_mutex_lock(&engine->lock);
    int64_t now_us = clock_monotonic_us(&engine->clock);
    bool has_room = asides->count < ASIDE_MAX;
    bool is_told = !asides->told_us || now_us - asides->told_us >= ASIDE_US;
    if (has_room) {
        struct aside *row = &asides->rows[asides->count++];
        snprintf(row->id, sizeof row->id, "%s", id);
        snprintf(row->why, sizeof row->why, "%.90s%s%.100s", why->message,
                 why->detail[0] ? ": " : "", why->detail);
        row->until_us = now_us + ASIDE_US;
    }
    const struct notice_fact facts[] = {{"rows", (int64_t)asides->count}, {0}};
    if (is_told)
        asides->told_us = now_us;
    pthread_mutex_unlock(&engine->lock);
    if (is_told)
        notice_tell(&engine->base, CAIRN_NOTICE_ERROR, "row_set_aside", facts,
                    "the store refuses to write %.40s, which is set aside for a minute: %.200s",
                    id, why->message);
    return has_room;
}

/* Nothing can be done about a kind: batches go without timers for a moment, so that they are not refused. */
static void rest_timers(struct local_engine *engine)
{
    pthread_mutex_lock(&engine->lock);
    engine->asides.rest_us = clock_monotonic_us(&engine->clock) + REST_US;
    pthread_mutex_unlock(&engine->lock);
}

/* Whether this kind may have more rows that are due. */
static bool apply_portion(struct committer *committer, struct timing *timing, bool *ret_is_lost)
{
    struct request_queue none = {0};
    struct batch_result result;
    cairn_error why = {0};
    committer->timing = *timing;
    cairn_code code = batch_commit(committer, &none, false, &result, &why);
    committer->timing = (struct timing){0};
    *ret_is_lost =
        code && code != CAIRN_E_STORE; /* not of a row: a full disk, a lost connection */
    if (*ret_is_lost)
        return false;
    if (!code) {
        bool is_full = result.timed_count >= timing->most;
        timing->most = timing->most < PORTION_FIRST ? timing->most * 2 : timing->most;
        return is_full;
    }
    if (timing->most > 1) {
        timing->most /= 2;
        return true;
    }
    bool is_aside = result.timed_id[0] && set_aside(committer->engine, result.timed_id, &why);
    if (!is_aside)
        rest_timers(committer->engine);
    return is_aside;
}

void timers_take_care(struct committer *committer)
{
    struct local_engine *engine = committer->engine;
    bool is_lost = false;
    int tries = 0;
    for (int kind = 0; kind < TIMER_KINDS && !is_lost; kind++) {
        struct timing timing = {.kinds = 1u << kind, .most = PORTION_FIRST};
        while (tries++ < TRIES_MAX && !is_lost && apply_portion(committer, &timing, &is_lost))
            ;
    }
    pthread_mutex_lock(&engine->lock);
    note_any_ready(engine);
    park_wake(engine, NULL);
    timers_ask(engine);
    pthread_cond_broadcast(&engine->write_work);
    pthread_mutex_unlock(&engine->lock);
}
