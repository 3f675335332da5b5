/* core/cron.h - cron expressions: reading them, and the times that they name.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * Pure: local time comes from a struct cron_zone, which the caller brings.
 *
 * A schedule that names hours follows the wall clock.  A local time counts at the first instant at which
 * the clock shows it or a later one, so that all times which one clock change skips are one run, right
 * after it, and of two equal times the first counts.  A schedule whose hour field is * follows elapsed
 * time: every instant counts whose local time matches.
 */
#ifndef CORE_CRON_H
#define CORE_CRON_H

#include "cairn.h"

#include <stdbool.h>
#include <stdint.h>

/* The allowed values of each field, a bit for each. */
struct cron {
    uint64_t minutes;                             /* 0 to 59 */
    uint32_t hours;                               /* 0 to 23 */
    uint32_t days;                                /* of the month, 1 to 31 */
    uint32_t months;                              /* 1 to 12 */
    uint32_t weekdays;                            /* 0 to 6; 0 is Sunday */
    bool is_any_day, is_any_weekday, is_any_hour; /* the field is * */
};

/* How many seconds local time is ahead of UTC at an instant, which is in seconds since 1970. */
struct cron_zone {
    int64_t (*offset_s)(const void *place, int64_t at_s);
    const void *place;
};

/* Five fields, or @hourly, @daily, @midnight, @weekly, @monthly, @yearly, @annually.  CAIRN_E_BAD_INPUT says
 * which field is wrong, why, and what is allowed. */
cairn_code cron_read(const char *text, struct cron *ret_cron, cairn_error *reterr);

/* The first time after an instant, in seconds since 1970; 0: none before the year 10000. */
int64_t cron_next_s(const struct cron *cron, const struct cron_zone *zone, int64_t after_s);

#endif
