/* engine/held.h - requests that are answered later than they were committed, without a thread.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * An answer to a stop means that it is done, everywhere.  Two things may be left to do when a request is committed:
 *
 *   descendants     are told by commits of their own, 256 at a time, parents before children (batch_family.c).  The request
 *                   goes through batches until no row of the family is left that says otherwise; each of these batches
 *                   tells what it can.  When retry_ms are over, it ends with CAIRN_E_BUSY, and the timers go on.
 *   another engine  may have leased out the function that was stopped, and knows of the stop KNOWN_FOR_US later at the
 *                   latest.  The answer waits for that.
 *
 *     writes ----- committed -----> held ----- told, late enough -----> answered
 *       ^                            |
 *       '------- time to look -------'
 *
 * A restart that finds children which others have locked has not been carried out: it is held as well, and tried again.
 */
#ifndef ENGINE_HELD_H
#define ENGINE_HELD_H

#include "engine/batch.h"

/* Whether the claim that comes with it must wait, too. */
static inline bool request_is_open(const struct request *request)
{
    return request->hold.count && !request->hold.is_told;
}

/* A new try begins. */
void hold_forget(struct request *request);

/* In a batch: the request has stopped this instance; and behind all requests: which of them are to be held. */
cairn_code batch_hold_for(struct batch *batch, struct request *request, const char *id);
cairn_code batch_hold(struct batch *batch);
/* Whether a request that is held may be answered now; if its time is over, it is refused. */
cairn_code batch_look_held(struct batch *batch, struct request *request);

/* After a commit: whether the request is to be held. */
bool hold_after(const struct local_engine *engine, struct request *request);

/* The rest with the engine's lock held.  Lets a request wait; what need not is put into ret_done. */
void held_add(struct local_engine *engine, struct request *request,
              struct request_queue *ret_done);
/* When held_run() has something to do: monotonic; INT64_MAX: nothing in sight. */
int64_t held_next_us(const struct local_engine *engine);
void held_run(struct local_engine *engine, struct request_queue *ret_done);

#endif
