/* core/schedule.h - when a schedule runs, which missed times are made up for, and what an overlap means.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * Pure: the zone comes with the caller (core/cron.h).
 */
#ifndef CORE_SCHEDULE_H
#define CORE_SCHEDULE_H

#include "base/clock.h"
#include "core/cron.h"
#include "core/rows.h"

/* A time is missed if no engine has applied it within this. */
#define SCHEDULE_LATE_US US_PER_SEC

#define SCHEDULE_EVERY_MIN_MS INT64_C(1000)
#define SCHEDULE_EVERY_MAX_MS (INT64_C(3660) * 24 * 3600 * 1000) /* about ten years */

/* When: a cron expression in a zone, or from an anchor on in equal distances. */
struct schedule_times {
    struct cron cron;
    struct cron_zone zone;
    int64_t every_us, anchor_us; /* every_us 0: cron */
};

/* The first time after an instant; 0: there is none. */
int64_t schedule_next_us(const struct schedule_times *times, int64_t after_us);

/* The last time t with first <= t <= until, where `first` is a time and not later than `until`. */
int64_t schedule_last_us(const struct schedule_times *times, int64_t first_us,
                         int64_t until_us);

/* Of the times from `first` on that have come, the one that is to be applied next: the first one that is
 * not missed, or a missed one that is made up for.  May be in the future; 0: there is none. */
int64_t schedule_pick_us(const struct schedule_times *times, enum schedule_catch_up catch_up,
                         int64_t first_us, int64_t now_us);

/* What is done at a time. */
enum schedule_act {
    SCHEDULE_START,
    SCHEDULE_SKIP,
    SCHEDULE_WAIT,   /* started when those that are active have ended */
    SCHEDULE_CANCEL, /* the same, and those are cancelled; one that waits is left out */
};

enum schedule_act schedule_decide(enum schedule_overlap overlap, bool is_active,
                                  bool is_waiting);

/* Whether a run, by the status of its job or instance, has not ended. */
bool schedule_is_active(const struct schedule_run_row *run);

#endif
