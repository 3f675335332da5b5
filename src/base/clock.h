/* base/clock.h - what time it is, and how it is written.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * Instants are microseconds since 1970 in UTC.  A virtual clock stands still until it is moved.
 *
 * A real clock reads two clocks of the system: the wall clock, which an administrator or NTP may
 * set, and the monotonic clock, which only ever goes forward.  Its time is the monotonic clock plus
 * the greatest difference between the two that was seen.  So a wall clock that is set forward is
 * followed, and one that is set back is not: time then goes on by the monotonic clock.
 */
#ifndef BASE_CLOCK_H
#define BASE_CLOCK_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#define US_PER_MS INT64_C(1000)
#define US_PER_SEC INT64_C(1000000)
#define US_PER_MIN (60 * US_PER_SEC)

/* The latest instant that may be given: the end of the year 9999. */
#define INSTANT_MAX INT64_C(253402300799999999)

/* The beginning of the year 1: what plain SQL dates earlier counts as this. */
#define INSTANT_MIN INT64_C(-62135596800000000)

/* Where a real clock gets its time from; a test or a simulator may give its own. */
struct clock_source {
    int64_t (*wall_us)(void *arg);
    int64_t (*monotonic_us)(void *arg);
    void *arg;
};

struct clock {
    bool is_virtual;
    struct clock_source source;
    _Atomic int64_t now_us;    /* virtual: the time */
    _Atomic int64_t offset_us; /* real: the greatest wall minus monotonic that was seen */
};

void clock_init_real(struct clock *clock);
void clock_init_source(struct clock *clock, const struct clock_source *source); /* also real */
void clock_init_virtual(struct clock *clock, int64_t start_us);

/* Never goes back and never stands still, even if the system's clock is set back. */
int64_t clock_now_us(struct clock *clock);

/* The monotonic clock of the clock's source, for waiting and measuring.  A virtual clock has the
 * system's: what it waits for is real. */
int64_t clock_monotonic_us(const struct clock *clock);

/* Virtual clocks only.  It never goes back: one that is further already stays where it is. */
void clock_set_us(struct clock *clock, int64_t now_us);

/* Time that only ever passes, for waiting and measuring; unrelated to the date. */
int64_t monotonic_us(void);

/* "2026-11-15T06:30:00.000Z": milliseconds, cut off rather than rounded. */
enum { INSTANT_TEXT = 32 };
void instant_format(int64_t us, char text[INSTANT_TEXT]);

/* RFC 3339 with any offset and up to nine decimals.  False if the text is not that, or beyond
 * the years 1970 to 9999. */
bool instant_parse(const char *text, int64_t *ret_us);

/* The same from INSTANT_MIN on: in answers, which show rows of others. */
bool instant_read(const char *text, int64_t *ret_us);

/* What a row says, held within INSTANT_MIN and INSTANT_MAX. */
int64_t instant_held(int64_t us);

/* In the largest unit that fits: 60 s are "1m". */
enum { DURATION_TEXT = 32 };
void duration_format(int64_t us, char text[DURATION_TEXT]);

/* An integer with ms, s, m, h or d ("90s"); in milliseconds.  False if it is not, or too long. */
bool duration_parse(const char *text, int64_t *ret_ms);

/* Several of them, the larger unit first and each at most once: "1h30m", "90s". */
bool durations_parse(const char *text, int64_t *ret_ms);

/* a + b, held within [INT64_MIN, INT64_MAX] and for instants at INSTANT_MAX. */
int64_t instant_add(int64_t at_us, int64_t more_us);

#endif
