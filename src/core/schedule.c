/* core/schedule.c - when a schedule runs, which missed times are made up for, and what an overlap means.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "core/schedule.h"

#include "core/instance.h"
#include "core/job.h"

static int64_t next_of_every(const struct schedule_times *times, int64_t after_us)
{
    int64_t passed_us = after_us - times->anchor_us;
    int64_t count = passed_us < 0 ? 0 : passed_us / times->every_us;
    int64_t at_us = instant_add(times->anchor_us, (count + 1) * times->every_us);
    return at_us > after_us ? at_us : 0;
}

int64_t schedule_next_us(const struct schedule_times *times, int64_t after_us)
{
    if (times->every_us)
        return next_of_every(times, after_us);
    return cron_next_s(&times->cron, &times->zone, after_us / US_PER_SEC) * US_PER_SEC;
}

/* Whether a time comes after `after` and not later than `until` falls only once as `after` grows. */
int64_t schedule_last_us(const struct schedule_times *times, int64_t first_us, int64_t until_us)
{
    int64_t last_us = first_us, low_us = first_us, high_us = until_us;
    while (low_us < high_us) {
        int64_t middle_us = low_us + (high_us - low_us) / 2;
        int64_t next_us = schedule_next_us(times, middle_us);
        if (next_us && next_us <= until_us)
            last_us = low_us = next_us;
        else
            high_us = middle_us;
    }
    return last_us;
}

int64_t schedule_pick_us(const struct schedule_times *times, enum schedule_catch_up catch_up,
                         int64_t first_us, int64_t now_us)
{
    int64_t missed_us = now_us - SCHEDULE_LATE_US - 1; /* the latest instant that is missed */
    if (first_us > missed_us || catch_up == CATCH_UP_ALL)
        return first_us;
    int64_t last_us = schedule_last_us(times, first_us, missed_us);
    return catch_up == CATCH_UP_LAST ? last_us : schedule_next_us(times, last_us);
}

enum schedule_act schedule_decide(enum schedule_overlap overlap, bool is_active,
                                  bool is_waiting)
{
    if (overlap == OVERLAP_ALLOW || (!is_active && !is_waiting))
        return SCHEDULE_START;
    if (overlap == OVERLAP_CANCEL)
        return SCHEDULE_CANCEL;
    return overlap == OVERLAP_QUEUE && !is_waiting ? SCHEDULE_WAIT : SCHEDULE_SKIP;
}

bool schedule_is_active(const struct schedule_run_row *run)
{
    if (!run->run_id || !run->is_open)
        return false;
    if (run->is_job) {
        enum job_status status = job_status_from(run->status);
        return status != JOB_NONE && !job_is_final(status);
    }
    enum instance_status status = instance_status_from(run->status);
    return status != INSTANCE_NONE && !instance_is_final(status);
}
