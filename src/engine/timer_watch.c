/* engine/timer_watch.c - when the engine must look at the store's timers.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * An engine asks for the next due time when it opens, after news from other processes, and when a
 * timer that it knows of is due.  A commit that sets a timer notes it, so that no query is needed.
 */
#include "engine/batch.h"

/* How soon to look again at what is due but could not be locked: another transaction holds its row. */
enum { STUCK_US = 50 * 1000 };

/* The same while rows are set aside, which stay due and hide what comes after them. */
#define ASIDE_LOOK_US (500 * US_PER_MS)

/* At the latest: the store's clock may be set forward while the engine waits, and a machine that
 * was suspended wakes up. */
#define ASK_LATEST_US US_PER_MIN

bool keeps_timers(const struct local_engine *engine)
{
    return !engine->clock.is_virtual && !engine->base.options.no_timers;
}

bool is_solo(const struct local_engine *engine)
{
    return engine->clock.is_virtual && engine->base.options.solo;
}

static bool must_ask(const struct timer_watch *timers)
{
    return timers->news != timers->answered;
}

bool timers_are_due(const struct local_engine *engine)
{
    return timers_next_us(engine) <= clock_monotonic_us(&engine->clock);
}

int64_t timers_next_us(const struct local_engine *engine)
{
    const struct timer_watch *timers = &engine->timers;
    if (!keeps_timers(engine))
        return INT64_MAX;
    int64_t next_us = must_ask(timers) ? 0 : timers->due_us ? timers->due_us : INT64_MAX;
    return next_us < engine->asides.rest_us ? engine->asides.rest_us : next_us;
}

void timers_ask(struct local_engine *engine)
{
    engine->timers.news++;
}

/* In how long to ask again; -1: not before there is news. */
static int64_t ask_in_us(const struct local_engine *engine, const struct batch_result *result)
{
    int64_t in_us = result->due_in_us;
    int64_t poll_us = engine->store->ops->ask_due_ms * US_PER_MS;
    if (in_us == 0 && result->is_stuck)
        in_us = engine->asides.count ? ASIDE_LOOK_US : STUCK_US;
    if (poll_us && (in_us < 0 || in_us > poll_us))
        return poll_us;
    return in_us > ASK_LATEST_US ? ASK_LATEST_US : in_us;
}

/* The answer of the store replaces what was known, unless a commit that it may not have seen has
 * noted a timer since: then the earlier one counts. */
void timers_note(struct local_engine *engine, const struct batch_result *result,
                 const struct timer_watch *before)
{
    struct timer_watch *timers = &engine->timers;
    int64_t in_us = ask_in_us(engine, result);
    int64_t due_us = in_us < 0 ? 0 : clock_monotonic_us(&engine->clock) + in_us;
    bool is_exact = result->is_due_known && timers->noted == before->noted;
    bool is_earlier = due_us && (timers->due_us == 0 || due_us < timers->due_us);
    if (is_exact || is_earlier)
        timers->due_us = due_us;
    if (result->is_due_known)
        timers->answered = before->news;
    else if (result->due_in_us >= 0)
        timers->noted++;
    if (engine->committer_count > 1)
        pthread_cond_broadcast(&engine->write_work); /* the first keeps the timers */
}
