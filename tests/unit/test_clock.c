/* tests/unit/test_clock.c - instants and durations, and how they are written.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "base/clock.h"
#include "test.h"

/* A system whose two clocks the test sets. */
struct fake_system {
    int64_t wall_us, monotonic_us;
};

static int64_t fake_wall(void *arg)
{
    return ((struct fake_system *)arg)->wall_us;
}

static int64_t fake_monotonic(void *arg)
{
    return ((struct fake_system *)arg)->monotonic_us;
}

static void init_fake(struct clock *clock, struct fake_system *system)
{
    *system = (struct fake_system){.wall_us = 1000 * US_PER_SEC, .monotonic_us = 7};
    clock_init_source(clock, &(struct clock_source){.wall_us = fake_wall,
                                                    .monotonic_us = fake_monotonic,
                                                    .arg = system});
}

static void pass(struct fake_system *system, int64_t us)
{
    system->wall_us += us;
    system->monotonic_us += us;
}

TEST(a_real_clock_is_the_wall_clock)
{
    struct clock clock;
    struct fake_system system;
    init_fake(&clock, &system);
    CHECK_INT(clock_now_us(&clock), 1000 * US_PER_SEC);
    pass(&system, 5);
    CHECK_INT(clock_now_us(&clock), 1000 * US_PER_SEC + 5);
    CHECK_INT(clock_monotonic_us(&clock), 12);
}

TEST(a_wall_clock_that_is_set_back_does_not_stop_time)
{
    struct clock clock;
    struct fake_system system;
    init_fake(&clock, &system);
    system.wall_us -= 3600 * US_PER_SEC;
    CHECK_INT(clock_now_us(&clock), 1000 * US_PER_SEC);
    for (int i = 1; i <= 10; i++) {
        pass(&system, US_PER_SEC);
        CHECK_INT(clock_now_us(&clock), (1000 + i) * US_PER_SEC);
    }
    system.wall_us += 3600 * US_PER_SEC;
    CHECK_INT(clock_now_us(&clock), 1010 * US_PER_SEC);
}

TEST(a_wall_clock_that_is_set_forward_is_followed)
{
    struct clock clock;
    struct fake_system system;
    init_fake(&clock, &system);
    system.wall_us += 3600 * US_PER_SEC;
    CHECK_INT(clock_now_us(&clock), 4600 * US_PER_SEC);
    system.wall_us -= 3600 * US_PER_SEC;
    pass(&system, US_PER_SEC);
    CHECK_INT(clock_now_us(&clock), 4601 * US_PER_SEC);
}

TEST(time_never_goes_back_whatever_the_wall_clock_does)
{
    struct clock clock;
    struct fake_system system;
    init_fake(&clock, &system);
    int64_t before_us = clock_now_us(&clock);
    for (int i = 0; i < 1000; i++) {
        pass(&system, 1);
        system.wall_us += (i * 7919 % 2001 - 1000) * US_PER_MS;
        int64_t now_us = clock_now_us(&clock);
        CHECK(now_us > before_us, "from %lld to %lld", (long long)before_us, (long long)now_us);
        before_us = now_us;
    }
}

static void check_format(int64_t us, const char *wanted)
{
    char text[INSTANT_TEXT];
    instant_format(us, text);
    CHECK_STR(text, wanted);
}

TEST(instants_are_written_in_milliseconds_cut_off)
{
    check_format(0, "1970-01-01T00:00:00.000Z");
    check_format(999, "1970-01-01T00:00:00.000Z");
    check_format(1000, "1970-01-01T00:00:00.001Z");
    check_format(INT64_C(1794724200000000), "2026-11-15T06:30:00.000Z");
    check_format(INT64_C(951782400000000), "2000-02-29T00:00:00.000Z");
    check_format(INSTANT_MAX, "9999-12-31T23:59:59.999Z");
}

/* Rows written by others may lie there. */
TEST(instants_before_1970_are_written_too)
{
    check_format(-1, "1969-12-31T23:59:59.999Z");
    check_format(-US_PER_SEC, "1969-12-31T23:59:59.000Z");
    check_format(-US_PER_SEC - 1, "1969-12-31T23:59:58.999Z");
    check_format(INSTANT_MIN, "0001-01-01T00:00:00.000Z");
    int64_t us = 0;
    CHECK(instant_read("0001-01-01T00:00:00.000Z", &us) && us == INSTANT_MIN, "%lld",
          (long long)us);
    CHECK(!instant_parse("0001-01-01T00:00:00.000Z", &us), "it may be given");
}

TEST(an_instant_is_read_with_any_offset)
{
    static const struct {
        const char *text;
        int64_t us;
    } cases[] = {
        {"1970-01-01T00:00:00Z", 0},
        {"2026-11-15T06:30:00.000Z", INT64_C(1794724200000000)},
        {"2026-11-15t06:30:00z", INT64_C(1794724200000000)},
        {"2026-11-15 06:30:00Z", INT64_C(1794724200000000)},
        {"2026-11-15T07:30:00+01:00", INT64_C(1794724200000000)},
        {"2026-11-15T00:00:00-06:30", INT64_C(1794724200000000)},
        {"2026-11-16T06:29:00+23:59", INT64_C(1794724200000000)},
        {"2026-11-15T06:30:00-00:00", INT64_C(1794724200000000)},
        {"2026-11-15T06:30:00.5Z", INT64_C(1794724200500000)},
        {"2026-11-15T06:30:00.123456Z", INT64_C(1794724200123456)},
        {"2026-11-15T06:30:00.123456789Z", INT64_C(1794724200123456)},
        {"2024-02-29T00:00:00Z", INT64_C(1709164800000000)},
        {"2000-02-29T00:00:00Z", INT64_C(951782400000000)},
        {"1969-12-31T23:00:00-01:00", 0},
        {"9999-12-31T23:59:59.999999Z", INSTANT_MAX},
        /* A leap second is read as the one after it. */
        {"2016-12-31T23:59:60Z", INT64_C(1483228800000000)},
        {"2016-12-31T15:59:60.25-08:00", INT64_C(1483228800250000)},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        int64_t us = -1;
        CHECK(instant_parse(cases[i].text, &us), "\"%s\" is refused", cases[i].text);
        CHECK(us == cases[i].us, "\"%s\" is read as %lld", cases[i].text, (long long)us);
    }
}

TEST(what_is_no_instant_is_refused)
{
    static const char *const texts[] = {
        "",
        "now",
        "2026-11-15",
        "2026-11-15T06:30Z",
        "2026-11-15T06:30:00",
        "2026-11-15T06:30:00Z ",
        " 2026-11-15T06:30:00Z",
        "2026-11-15T06:30:00.Z",
        "2026-11-15T06:30:00.1234567890Z",
        "2026-11-15T06:30:00+1:00",
        "2026-11-15T06:30:00+0100",
        "2026-11-15T06:30:00+24:00",
        "2026-11-15T06:30:00+01:60",
        "2026-11-15T06:30:00+",
        "2026-11-15X06:30:00Z",
        "2026-11-15T24:00:00Z",
        "2026-11-15T06:60:00Z",
        "2026-11-15T06:30:61Z",
        "26-11-15T06:30:00Z",
        "+2026-11-15T06:30:00Z",
        "2026-00-15T06:30:00Z",
        "2026-13-15T06:30:00Z",
        "2026-11-00T06:30:00Z",
        "2026-11-31T06:30:00Z",
        "2026-01-32T06:30:00Z",
        "2026-01-99T06:30:00Z",
        "2026-02-29T06:30:00Z",
        "2024-02-30T06:30:00Z",
        "2100-02-29T06:30:00Z",
        "2026-02-30T23:59:60Z", /* no such day, leap second or not */
        "2026-04-31T00:00:60Z",
        "2026-11-15T06:30:60Z", /* no leap second comes at that time of day */
        "1969-12-31T23:59:59Z",
        "1970-01-01T00:00:00+00:01",
        "9999-12-31T23:59:59-00:01",
        "9999-12-31T23:59:60Z",
        "0000-01-01T00:00:00Z",
    };
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        int64_t us = -1;
        CHECK(!instant_parse(texts[i], &us), "\"%s\" is read as %lld", texts[i], (long long)us);
        CHECK_INT(us, -1);
    }
}

TEST(what_is_written_is_read_as_the_same)
{
    for (int64_t us = 0; us <= INSTANT_MAX; us += INT64_C(86399999) * 7919 * 1000) {
        char text[INSTANT_TEXT];
        int64_t back = -1;
        instant_format(us, text);
        CHECK(instant_parse(text, &back) && back == us - us % US_PER_MS, "%s is %lld, not %lld",
              text, (long long)back, (long long)us);
    }
}

TEST(durations_are_integers_with_a_unit)
{
    static const struct {
        const char *text;
        int64_t ms; /* -1: refused */
    } cases[] = {
        {"0s", 0},
        {"1ms", 1},
        {"90s", 90000},
        {"5m", 300000},
        {"2h", 7200000},
        {"3d", 259200000},
        {"0000000000000000000000000000007s", 7000},
        {"253402300799999ms", INT64_C(253402300799999)},
        {"253402300800000ms", -1},
        {"99999999999999999999999999ms", -1},
        {"253402300799999d", -1},
        {"", -1},
        {"s", -1},
        {"5", -1},
        {"-5s", -1},
        {"+5s", -1},
        {" 5s", -1},
        {"5 s", -1},
        {"5s ", -1},
        {"5S", -1},
        {"1.5h", -1},
        {"1h30m", -1},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        int64_t ms = -1;
        bool is_read = duration_parse(cases[i].text, &ms);
        CHECK(is_read == (cases[i].ms >= 0), "\"%s\"", cases[i].text);
        CHECK(ms == cases[i].ms, "\"%s\" is %lld ms", cases[i].text, (long long)ms);
    }
}

TEST(several_durations_add_up_the_larger_unit_first)
{
    static const struct {
        const char *text;
        int64_t ms; /* -1: refused */
    } cases[] = {
        {"90s", 90000},
        {"1h30m", 5400000},
        {"1d2h3m4s5ms", 93784005},
        {"2m0s", 120000},
        {"0s", 0},
        {"30m1h", -1},
        {"1h1h", -1},
        {"1h30", -1},
        {"1h 30m", -1},
        {"h", -1},
        {"", -1},
        {"1hm", -1},
        {"-1h", -1},
        {"1.5h", -1},
        {"999999999999d", -1},
        {"2932896d2932896h", -1},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        int64_t ms = -1;
        bool is_read = durations_parse(cases[i].text, &ms);
        CHECK(is_read == (cases[i].ms >= 0), "\"%s\"", cases[i].text);
        CHECK(ms == cases[i].ms, "\"%s\" is %lld ms", cases[i].text, (long long)ms);
    }
}

TEST(adding_stays_within_time)
{
    CHECK_INT(instant_add(5, 6), 11);
    CHECK_INT(instant_add(INSTANT_MAX, 1), INSTANT_MAX);
    CHECK_INT(instant_add(INT64_MAX, INT64_MAX), INSTANT_MAX);
    CHECK_INT(instant_add(10, -4), 6);
    CHECK_INT(instant_add(INT64_MIN, -1), 0);
}

TEST(a_virtual_clock_stands_still_until_it_is_moved)
{
    struct clock clock;
    clock_init_virtual(&clock, 1000);
    CHECK_INT(clock_now_us(&clock), 1000);
    CHECK_INT(clock_now_us(&clock), 1000);
    clock_set_us(&clock, 2000);
    CHECK_INT(clock_now_us(&clock), 2000);
    clock_set_us(&clock, 1500); /* never back */
    CHECK_INT(clock_now_us(&clock), 2000);
}

TEST(a_real_clock_never_goes_back)
{
    struct clock clock;
    clock_init_real(&clock);
    int64_t last = clock_now_us(&clock);
    CHECK(last > INT64_C(1700000000000000), "the present is %lld", (long long)last);
    CHECK(clock_now_us(&clock) >= last, "it went back");
}
