/* base/clock.c - what time it is, and how it is written.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "base/clock.h"

#include <assert.h>
#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

static int64_t read_clock(clockid_t id)
{
    struct timespec now;
    clock_gettime(id, &now);
    return (int64_t)now.tv_sec * US_PER_SEC + now.tv_nsec / 1000;
}

static int64_t system_wall_us(void *arg)
{
    (void)arg;
    return read_clock(CLOCK_REALTIME);
}

static int64_t system_monotonic_us(void *arg)
{
    (void)arg;
    return read_clock(CLOCK_MONOTONIC);
}

static const struct clock_source system_source = {.wall_us = system_wall_us,
                                                  .monotonic_us = system_monotonic_us};

void clock_init_real(struct clock *clock)
{
    clock_init_source(clock, &system_source);
}

void clock_init_source(struct clock *clock, const struct clock_source *source)
{
    clock->is_virtual = false;
    clock->source = *source;
    atomic_store(&clock->now_us, 0);
    atomic_store(&clock->offset_us,
                 source->wall_us(source->arg) - source->monotonic_us(source->arg));
}

void clock_init_virtual(struct clock *clock, int64_t start_us)
{
    clock->is_virtual = true;
    clock->source = system_source;
    atomic_store(&clock->offset_us, 0);
    atomic_store(&clock->now_us, start_us);
}

/* The offset only ever rises, and the monotonic clock is read before it: so no answer is below an
 * earlier one, in whatever thread. */
static int64_t real_now_us(struct clock *clock)
{
    const struct clock_source *source = &clock->source;
    int64_t monotonic_us = source->monotonic_us(source->arg);
    int64_t offset_us = source->wall_us(source->arg) - monotonic_us;
    int64_t greatest_us = atomic_load(&clock->offset_us);
    while (offset_us > greatest_us)
        if (atomic_compare_exchange_weak(&clock->offset_us, &greatest_us, offset_us))
            return monotonic_us + offset_us;
    return monotonic_us + greatest_us;
}

int64_t clock_now_us(struct clock *clock)
{
    return clock->is_virtual ? atomic_load(&clock->now_us) : real_now_us(clock);
}

int64_t clock_monotonic_us(const struct clock *clock)
{
    return clock->source.monotonic_us(clock->source.arg);
}

void clock_set_us(struct clock *clock, int64_t now_us)
{
    assert(clock->is_virtual);
    int64_t present_us = atomic_load(&clock->now_us);
    while (now_us > present_us)
        if (atomic_compare_exchange_weak(&clock->now_us, &present_us, now_us))
            return;
}

int64_t monotonic_us(void)
{
    return read_clock(CLOCK_MONOTONIC);
}

void instant_format(int64_t us, char text[INSTANT_TEXT])
{
    int64_t part_us = us % US_PER_SEC;
    if (part_us < 0) /* before 1970, where rows of others may lie */
        part_us += US_PER_SEC;
    time_t seconds = (time_t)((us - part_us) / US_PER_SEC);
    struct tm parts;
    gmtime_r(&seconds, &parts);
    int year = parts.tm_year + 1900; /* strftime writes the year 1 as 1 */
    size_t len = (size_t)snprintf(text, INSTANT_TEXT, "%04d", year);
    len += strftime(text + len, INSTANT_TEXT - len, "-%m-%dT%H:%M:%S", &parts);
    snprintf(text + len, INSTANT_TEXT - len, ".%03dZ", (int)(part_us / US_PER_MS));
}

/* Exactly `count` digits at *text, which moves past them. */
static bool take_digits(const char **text, int count, int *ret_value)
{
    int value = 0;
    for (int i = 0; i < count; i++) {
        if (!isdigit((unsigned char)(*text)[i]))
            return false;
        value = value * 10 + ((*text)[i] - '0');
    }
    *text += count;
    *ret_value = value;
    return true;
}

static bool take_char(const char **text, const char *any_of)
{
    if (!**text || !strchr(any_of, **text))
        return false;
    (*text)++;
    return true;
}

/* ".123456789" or nothing; microseconds. */
static bool take_fraction(const char **text, int64_t *ret_us)
{
    *ret_us = 0;
    if (!take_char(text, "."))
        return true;
    int64_t scale = 100000;
    int digits = 0;
    for (; isdigit((unsigned char)**text); (*text)++, digits++) {
        *ret_us += (**text - '0') * scale;
        scale /= 10;
    }
    return digits > 0 && digits <= 9;
}

/* "Z" or "+01:30"; minutes east of UTC. */
static bool take_offset(const char **text, int *ret_minutes)
{
    *ret_minutes = 0;
    if (take_char(text, "Zz"))
        return true;
    int sign = **text == '-' ? -1 : 1;
    int hours, minutes;
    if (!take_char(text, "+-") || !take_digits(text, 2, &hours) || !take_char(text, ":") ||
        !take_digits(text, 2, &minutes) || hours > 23 || minutes > 59)
        return false;
    *ret_minutes = sign * (hours * 60 + minutes);
    return true;
}

static bool is_day(int year, int month, int day)
{
    static const int days[] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
    if (month < 1 || month > 12 || day < 1)
        return false;
    bool is_leap_year = (year % 4 == 0 && year % 100 != 0) || year % 400 == 0;
    return day <= days[month - 1] + (month == 2 && is_leap_year);
}

bool instant_read(const char *text, int64_t *ret_us)
{
    int year, month, day, hour, minute, second, offset;
    int64_t fraction;
    if (!take_digits(&text, 4, &year) || !take_char(&text, "-") ||
        !take_digits(&text, 2, &month) || !take_char(&text, "-") ||
        !take_digits(&text, 2, &day) || !take_char(&text, "Tt ") ||
        !take_digits(&text, 2, &hour) || !take_char(&text, ":") ||
        !take_digits(&text, 2, &minute) || !take_char(&text, ":") ||
        !take_digits(&text, 2, &second) || !take_fraction(&text, &fraction) ||
        !take_offset(&text, &offset) || *text)
        return false;
    if (!is_day(year, month, day) || hour > 23 || minute > 59 || second > 60)
        return false;

    struct tm parts = {.tm_year = year - 1900,
                       .tm_mon = month - 1,
                       .tm_mday = day,
                       .tm_hour = hour,
                       .tm_min = minute,
                       .tm_sec = second};
    int64_t seconds = (int64_t)timegm(&parts) - (int64_t)offset * 60;
    if (second == 60 && seconds % (24 * 60 * 60) != 0)
        return false; /* a leap second ends a day of UTC; it is read as the second after it */

    int64_t us = seconds * US_PER_SEC + fraction;
    if (us < INSTANT_MIN || us > INSTANT_MAX)
        return false;
    *ret_us = us;
    return true;
}

bool instant_parse(const char *text, int64_t *ret_us)
{
    int64_t us;
    if (!instant_read(text, &us) || us < 0)
        return false;
    *ret_us = us;
    return true;
}

int64_t instant_held(int64_t us)
{
    return us < INSTANT_MIN ? INSTANT_MIN : us > INSTANT_MAX ? INSTANT_MAX : us;
}

/* The largest first. */
static const struct {
    const char *unit;
    int64_t ms;
} units[] = {{"d", 86400000}, {"h", 3600000}, {"m", 60000}, {"s", 1000}, {"ms", 1}};

enum { UNIT_COUNT = sizeof units / sizeof *units };

void duration_format(int64_t us, char text[DURATION_TEXT])
{
    int64_t ms = us / US_PER_MS;
    size_t i = 0;
    while (ms % units[i].ms != 0)
        i++;
    snprintf(text, DURATION_TEXT, "%" PRId64 "%s", ms / units[i].ms, ms ? units[i].unit : "s");
}

/* An integer and its unit at *text, which moves past them; the unit's index. */
static bool take_duration(const char **text, int64_t *ret_ms, size_t *ret_unit)
{
    int64_t value = 0;
    const char *at = *text;
    for (; isdigit((unsigned char)*at); at++) {
        value = value * 10 + (*at - '0');
        if (value > INSTANT_MAX / US_PER_MS)
            return false;
    }
    if (at == *text)
        return false;
    size_t len = strspn(at, "dhms");
    for (size_t i = 0; i < UNIT_COUNT; i++) {
        if (strlen(units[i].unit) != len || memcmp(at, units[i].unit, len) != 0)
            continue;
        if (value > INSTANT_MAX / US_PER_MS / units[i].ms)
            return false;
        *text = at + len;
        *ret_ms = value * units[i].ms;
        *ret_unit = i;
        return true;
    }
    return false;
}

bool duration_parse(const char *text, int64_t *ret_ms)
{
    int64_t ms;
    size_t unit;
    if (!take_duration(&text, &ms, &unit) || *text)
        return false;
    *ret_ms = ms;
    return true;
}

bool durations_parse(const char *text, int64_t *ret_ms)
{
    int64_t sum = 0, ms;
    size_t unit, next = 0;
    do {
        if (!take_duration(&text, &ms, &unit) || unit < next)
            return false;
        next = unit + 1;
        sum += ms;
    } while (*text);
    if (sum > INSTANT_MAX / US_PER_MS)
        return false;
    *ret_ms = sum;
    return true;
}

int64_t instant_add(int64_t at_us, int64_t more_us)
{
    int64_t sum;
    if (__builtin_add_overflow(at_us, more_us, &sum))
        return more_us > 0 ? INSTANT_MAX : 0;
    return sum > INSTANT_MAX ? INSTANT_MAX : sum;
}
