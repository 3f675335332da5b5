/* store/postgres/clock.c - what the database's clock says now, without asking.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * Each transaction reads the database's clock at some moment between its begin, here, and the answer.
 * These two moments limit how far that clock is ahead of our monotonic one.  The guess stays within the
 * limits and never runs ahead of the database: a row of the future would be passed over by claims.
 */
#include "store/postgres/postgres.h"

#include <time.h>

/* An older answer says nothing. */
#define FRESH_US US_PER_SEC

/* If the clocks of this machine have moved apart by as much, it was suspended or its clock was set. */
#define APART_US (10 * US_PER_MS)

/* No clock that is kept in time gains or loses as much. */
enum { DRIFT_PER_MILLION = 1000 };

static int64_t wall_us(void)
{
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    return now.tv_sec * US_PER_SEC + now.tv_nsec / 1000;
}

void postgres_clock_read(struct postgres_clock *clock, int64_t asked_us, int64_t told_us)
{
    int64_t now_us = monotonic_us();
    int64_t least_us = told_us - now_us, most_us = told_us - asked_us;
    pthread_mutex_lock(&clock->lock);
    int64_t since_us = now_us - clock->read_us;
    int64_t ahead_us = clock->ahead_us - since_us * DRIFT_PER_MILLION / US_PER_SEC;
    clock->ahead_us = ahead_us < least_us || !clock->read_us ? least_us
                      : ahead_us > most_us                   ? most_us
                                                             : ahead_us;
    clock->read_us = now_us;
    clock->apart_us = wall_us() - now_us;
    pthread_mutex_unlock(&clock->lock);
}

bool postgres_clock_guess(struct postgres_clock *clock, int64_t *ret_now_us)
{
    int64_t now_us = monotonic_us();
    pthread_mutex_lock(&clock->lock);
    int64_t since_us = now_us - clock->read_us;
    int64_t apart_us = wall_us() - now_us - clock->apart_us;
    bool is_fresh =
        clock->read_us && since_us < FRESH_US && apart_us > -APART_US && apart_us < APART_US;
    *ret_now_us = now_us + clock->ahead_us - since_us * DRIFT_PER_MILLION / US_PER_SEC;
    pthread_mutex_unlock(&clock->lock);
    return is_fresh;
}
