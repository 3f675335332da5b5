/* engine/waits.h - requests of the local engine that wait for the end of a job or an instance.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 *                 read: it has not ended
 *     reads ---------------------------> waiting
 *       ^                                   |
 *       '-----------------------------------'
 *          it has ended here, news from another process, time to look, its time is over
 *
 * All of it with the engine's lock held.
 */
#ifndef ENGINE_WAITS_H
#define ENGINE_WAITS_H

#include "engine/request.h"

enum { WAIT_BUCKETS = 512 };

struct end_waits {
    struct request_queue buckets[WAIT_BUCKETS]; /* by the hash of the id */
    size_t count;
    uint64_t epoch;   /* rises whenever something may have ended */
    int64_t first_us; /* monotonic: no time is over before this; 0: none waits */
    int64_t look_us;  /* monotonic: when to read all of them again; 0: not by the clock */
};

struct local_engine;

/* A request that was read while the epoch was `epoch` waits, or is read again at once. */
void waits_add(struct local_engine *engine, struct request *request, uint64_t epoch);

/* Ids of what has ended; they are read again. */
void waits_ended(struct local_engine *engine, const char *const *ids, size_t count);
void waits_look(struct local_engine *engine); /* at all */
void waits_end(struct local_engine *engine);  /* their time is over */

/* When waits_run() has something to do: monotonic; INT64_MAX: nothing in sight. */
int64_t waits_next_us(const struct local_engine *engine);
void waits_run(struct local_engine *engine);

/* When the engine closes: takes all. */
void waits_take(struct local_engine *engine, struct request_queue *ret_all);

#endif
