/* engine/retention.h - how long history is kept, and the sweep that applies it.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * The policy is a row of the store, which also says how far the sweep is: over all jobs, then all instances, then keys
 * and bulk actions that are kept no longer, then free space.  Each portion is a commit of its own, and whichever engine
 * is at hand makes the next one.  At its end a sweep knows when the next thing is due, so that there is nothing to do
 * until then.
 */
#ifndef ENGINE_RETENTION_H
#define ENGINE_RETENTION_H

#include "engine/check.h"
#include "engine/purge.h"
#include "engine/read.h"

enum sweep_phase { SWEEP_JOBS, SWEEP_INSTANCES, SWEEP_KEYS, SWEEP_SPACE, SWEEP_PHASES };

/* A portion of the sweep, if it is time to.  *ret_next_us: when the next one may be made, by the store's clock. */
cairn_code retention_sweep(struct batch *batch, int64_t *ret_next_us);

/* When this process makes or looks for the next portion, and the request that does. */
int64_t
retention_next_us(const struct local_engine *engine); /* monotonic; with the lock held */
void retention_submit(struct local_engine *engine);   /* with the lock held */
void retention_look(struct local_engine *engine);     /* there is news; with the lock held */

/* retention_policy.c: the public shape of a policy. */
cairn_code retention_show(struct arena *arena, const struct retention_row *row,
                          struct retention_output *ret, cairn_error *reterr);

/* Changes what the request names. */
void retention_change(struct retention_row *row, const struct retention_input *in);

#endif
