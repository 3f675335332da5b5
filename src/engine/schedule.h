/* engine/schedule.h - what starts by itself: asked for, applied by timers, shown.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * A schedule is a row of workflow_schedule.  Its timer (due_at) is one of the store's: whichever engine comes
 * first locks the row, starts what is to be started, and moves the row to its next time, all in one commit.  So
 * a time is applied once, however many engines are open; the key of the run says the same once more.
 */
#ifndef ENGINE_SCHEDULE_H
#define ENGINE_SCHEDULE_H

#include "base/mem.h"
#include "core/schedule.h"
#include "engine/check.h"
#include "engine/read.h"
#include "engine/workset.h"
#include "zone/zone.h"

/* Of a name, so that the key of a run fits into what keys may have. */
enum { SCHEDULE_NAME_MAX = 128 };

/* How many runs are remembered beside those that have not ended. */
enum { SCHEDULE_RUNS_KEPT = 100 };

/* The times of a row, and the zone that they need, which is to be closed. */
struct schedule_clock {
    struct schedule_times times;
    struct zone *zone;
};
cairn_code schedule_clock_open(const struct schedule_row *row, struct schedule_clock *ret_clock,
                               cairn_error *reterr);
void schedule_clock_close(struct schedule_clock *clock); /* for cleanup() */

/* schedule_apply.c: starts a run of this time under this id.  What cannot be started is a run that has failed.
 * Neither row is written. */
cairn_code schedule_start(struct batch *batch, struct schedule_row *row, int64_t at_us,
                          const char *id, struct schedule_run_row *ret_run);

/* All schedules that are due. */
cairn_code schedules_apply(struct batch *batch);

/* read_schedule.c: the public shape of a row, with its latest runs. */
cairn_code schedule_show(const struct store_ops *ops, struct store_tx *tx, struct arena *arena,
                         const struct schedule_row *row, size_t runs, cairn_schedule *ret_item,
                         cairn_error *reterr);
cairn_code schedule_show_run(struct arena *arena, const struct schedule_run_row *row,
                             cairn_schedule_run *ret_item, cairn_error *reterr);

#endif
