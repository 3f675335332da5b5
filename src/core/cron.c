/* core/cron.c - the next time that a cron expression names.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * Local times are seconds, too: those that UTC would show as this date and time.
 */
#include "core/cron.h"

#include "base/clock.h"

#define MINUTE_S INT64_C(60)
#define HOUR_S (60 * MINUTE_S)
#define DAY_S (24 * HOUR_S)

/* February 29 may be away for eight years. */
#define SEARCH_DAYS (10 * 366)
#define LATEST_S (INSTANT_MAX / US_PER_SEC)

/* ---- dates ----------------------------------------------------------------------------------- */

static int64_t floor_div(int64_t a, int64_t b)
{
    return a / b - (a % b < 0);
}

/* Month and day of month of a number of days since 1970 (Gregorian, without end). */
static void date_of(int64_t days, int *ret_month, int *ret_day)
{
    /* Eras of 400 years that begin on March 1, so that a leap day is the last of its year. */
    int64_t shifted = days + 719468;
    int64_t day_of_era = shifted - floor_div(shifted, 146097) * 146097;
    int64_t year_of_era =
        (day_of_era - day_of_era / 1460 + day_of_era / 36524 - day_of_era / 146096) / 365;
    int64_t day_of_year =
        day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    int64_t month = (5 * day_of_year + 2) / 153; /* 0: March */
    *ret_day = (int)(day_of_year - (153 * month + 2) / 5) + 1;
    *ret_month = (int)(month < 10 ? month + 3 : month - 9);
}

static bool is_day_named(const struct cron *cron, int64_t days)
{
    int month, day;
    int weekday = (int)(days + 4 - floor_div(days + 4, 7) * 7); /* 1970 began on a Thursday */
    date_of(days, &month, &day);
    if (!(cron->months >> month & 1))
        return false;
    bool is_day = cron->days >> day & 1, is_weekday = cron->weekdays >> weekday & 1;
    if (cron->is_any_day || cron->is_any_weekday)
        return is_day && is_weekday;
    return is_day || is_weekday;
}

/* ---- clock changes --------------------------------------------------------------------------- */

static int64_t offset_at(const struct cron_zone *zone, int64_t at_s)
{
    return zone->offset_s(zone->place, at_s);
}

/* The first instant from `at_s` on, before `end_s`, with another offset; or end_s.  A clock is not changed
 * forth and back within four hours. */
static int64_t change_after(const struct cron_zone *zone, int64_t at_s, int64_t end_s)
{
    int64_t offset_s = offset_at(zone, at_s);
    while (at_s < end_s) {
        int64_t next_s = at_s + 4 * HOUR_S < end_s ? at_s + 4 * HOUR_S : end_s;
        if (offset_at(zone, next_s) == offset_s) {
            at_s = next_s;
            continue;
        }
        while (next_s - at_s > 1) {
            int64_t middle_s = at_s + (next_s - at_s) / 2;
            if (offset_at(zone, middle_s) == offset_s)
                at_s = middle_s;
            else
                next_s = middle_s;
        }
        return next_s;
    }
    return end_s;
}

/* The first instant at which the clock shows this local time or a later one. */
static int64_t instant_of(const struct cron_zone *zone, int64_t local_s)
{
    int64_t at_s = local_s - DAY_S, end_s = local_s + DAY_S; /* no offset is that large */
    int64_t offset_s = offset_at(zone, at_s);
    if (offset_at(zone, end_s) == offset_s && offset_at(zone, local_s - offset_s) == offset_s)
        return local_s - offset_s;
    while (at_s < end_s) {
        int64_t change_s = change_after(zone, at_s, end_s);
        int64_t reached_s = local_s - offset_at(zone, at_s);
        reached_s = reached_s > at_s ? reached_s : at_s;
        if (reached_s < change_s)
            return reached_s;
        at_s = change_s;
    }
    return end_s;
}

/* ---- the next time --------------------------------------------------------------------------- */

/* Of a day, the first time after an instant; 0: none. */
static int64_t next_of_day(const struct cron *cron, const struct cron_zone *zone, int64_t days,
                           int64_t after_s, int64_t after_local_s)
{
    for (int hour = 0; hour < 24; hour++) {
        int64_t hour_s = days * DAY_S + hour * HOUR_S;
        if (!(cron->hours >> hour & 1) || hour_s + HOUR_S <= after_local_s)
            continue; /* what the clock has shown has been */
        for (int minute = 0; minute < 60; minute++) {
            int64_t local_s = hour_s + minute * MINUTE_S;
            if (!(cron->minutes >> minute & 1) || local_s < after_local_s)
                continue;
            int64_t at_s = instant_of(zone, local_s);
            if (at_s > after_s)
                return at_s;
        }
    }
    return 0;
}

static int64_t next_by_clock(const struct cron *cron, const struct cron_zone *zone,
                             int64_t after_s)
{
    int64_t local_s = after_s + offset_at(zone, after_s);
    int64_t first = floor_div(local_s, DAY_S);
    for (int64_t days = first; days < first + SEARCH_DAYS; days++) {
        int64_t at_s =
            is_day_named(cron, days) ? next_of_day(cron, zone, days, after_s, local_s) : 0;
        if (at_s)
            return at_s;
    }
    return 0;
}

/* How far it is to the next instant worth a look. */
static int64_t stride(const struct cron_zone *zone, int64_t at_s, int64_t local_s,
                      bool is_day_named)
{
    int64_t to_minute_s = MINUTE_S - (local_s - floor_div(local_s, MINUTE_S) * MINUTE_S);
    int64_t to_day_s = DAY_S - (local_s - floor_div(local_s, DAY_S) * DAY_S);
    bool is_change = is_day_named || offset_at(zone, at_s + to_day_s) != offset_at(zone, at_s);
    return is_change ? to_minute_s : to_day_s;
}

static int64_t next_by_elapsed(const struct cron *cron, const struct cron_zone *zone,
                               int64_t after_s)
{
    int64_t end_s = after_s + SEARCH_DAYS * DAY_S, at_s = after_s;
    while (at_s < end_s) {
        int64_t local_s = at_s + offset_at(zone, at_s);
        int64_t days = floor_div(local_s, DAY_S), second = local_s - days * DAY_S;
        bool is_named = is_day_named(cron, days);
        if (is_named && at_s > after_s && second % MINUTE_S == 0 &&
            cron->minutes >> (second / MINUTE_S % 60) & 1)
            return at_s;
        at_s += stride(zone, at_s, local_s, is_named);
    }
    return 0;
}

int64_t cron_next_s(const struct cron *cron, const struct cron_zone *zone, int64_t after_s)
{
    int64_t at_s = cron->is_any_hour ? next_by_elapsed(cron, zone, after_s)
                                     : next_by_clock(cron, zone, after_s);
    return at_s > LATEST_S ? 0 : at_s;
}
