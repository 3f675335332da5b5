/* tests/unit/test_cron.c - cron expressions: what is read, what is refused, and laws of their times.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * cron_oracle.py compares the times of real zones.
 */
#include "base/clock.h"
#include "base/mem.h"
#include "core/cron.h"
#include "test.h"
#include "zone/zone.h"

static int64_t at(const char *text)
{
    int64_t us;
    CHECK(instant_parse(text, &us), "%s", text);
    return us / US_PER_SEC;
}

static struct cron read_cron(const char *text)
{
    struct cron cron;
    cairn_error error = {0};
    CHECK_OK(cron_read(text, &cron, &error));
    return cron;
}

static void check_next(const char *text, const char *zone_name, const char *after,
                       const char *wanted)
{
    cleanup(zone_closep) struct zone *zone = NULL;
    cairn_error error = {0};
    char seen[INSTANT_TEXT];
    struct cron cron = read_cron(text);
    CHECK_OK(zone_open(zone_name, &zone, &error));
    struct cron_zone place = {.offset_s = zone_offset_s, .place = zone};
    int64_t next_s = cron_next_s(&cron, &place, at(after));
    instant_format(next_s * US_PER_SEC, seen);
    CHECK(next_s == at(wanted), "%s in %s after %s is %s, not %s", text, zone_name, after, seen,
          wanted);
}

TEST(lists_ranges_steps_and_names_are_sets)
{
    CHECK_INT(read_cron("0,30 * * * *").minutes, UINT64_C(1) | UINT64_C(1) << 30);
    CHECK_INT(read_cron("*/20 * * * *").minutes,
              UINT64_C(1) | UINT64_C(1) << 20 | UINT64_C(1) << 40);
    CHECK_INT(read_cron("50/5 * * * *").minutes, UINT64_C(1) << 50 | UINT64_C(1) << 55);
    CHECK_INT(read_cron("0 8-12/2 * * *").hours, 1 << 8 | 1 << 10 | 1 << 12);
    CHECK_INT(read_cron("0 0 * jan-MAR,Dec *").months, 1 << 1 | 1 << 2 | 1 << 3 | 1 << 12);
    CHECK_INT(read_cron("0 0 * * fri-7").weekdays, 1 << 5 | 1 << 6 | 1);
    CHECK_INT(read_cron("0 0 * * 0").weekdays, read_cron("0 0 * * SUN").weekdays);
    CHECK_INT(read_cron("0 0 * * *").weekdays, 127);
    CHECK_INT(read_cron("  0\t0 * * * ").hours, 1);
}

TEST(shorthands_are_what_they_stand_for)
{
    static const char *const pairs[][2] = {
        {"@hourly", "0 * * * *"},     {"@daily", "0 0 * * *"},   {"@midnight", "0 0 * * *"},
        {"@weekly", "0 0 * * SUN"},   {"@Monthly", "0 0 1 * *"}, {"@yearly", "0 0 1 1 *"},
        {"@annually", "0 0 1 JAN *"},
    };
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++) {
        struct cron a = read_cron(pairs[i][0]), b = read_cron(pairs[i][1]);
        CHECK(a.minutes == b.minutes && a.hours == b.hours && a.days == b.days &&
                  a.months == b.months && a.weekdays == b.weekdays,
              "%s", pairs[i][0]);
        CHECK(a.is_any_hour == b.is_any_hour && a.is_any_day == b.is_any_day &&
                  a.is_any_weekday == b.is_any_weekday,
              "%s", pairs[i][0]);
    }
}

static void check_refused(const char *text, const char *message, const char *hint)
{
    struct cron cron;
    cairn_error error = {0};
    CHECK_INT(cron_read(text, &cron, &error), CAIRN_E_BAD_INPUT);
    CHECK(strstr(error.message, message), "%s: %s", text, error.message);
    CHECK(strstr(error.hint, hint), "%s: %s", text, error.hint);
}

TEST(what_is_refused_names_the_field_what_is_wrong_and_what_is_allowed)
{
    check_refused("61 * * * *", "minute \"61\" is out of range", "numbers from 0 to 59");
    check_refused("0 24 * * *", "hour \"24\" is out of range", "numbers from 0 to 23");
    check_refused("0 0 0 * *", "day of month \"0\" is out of range", "numbers from 1 to 31");
    check_refused("0 0 * 13 *", "month \"13\" is out of range", "names from JAN to DEC");
    check_refused("0 0 * * 8", "day of week \"8\" is out of range", "names from SUN to SAT");
    check_refused("0 0 * * MONDAY", "day of week \"MONDAY\" cannot be read", "SUN to SAT");
    check_refused("0 0 * FEBR *", "month \"FEBR\" cannot be read", "JAN to DEC");
    check_refused("5-1 * * * *", "minute \"5-1\" is a range that ends before it begins",
                  "0 to");
    check_refused("*/0 * * * *", "minute \"*/0\" has a step", "0 to 59");
    check_refused("*/x * * * *", "minute \"*/x\" has a step", "0 to 59");
    check_refused("1,,2 * * * *", "minute \"\" is empty", "0 to 59");
    check_refused("1, * * * *", "minute \"\" is empty", "0 to 59");
    check_refused("-1 * * * *", "minute \"-1\" cannot be read", "0 to 59");
    check_refused("1- * * * *", "minute \"1-\" cannot be read", "0 to 59");
    check_refused("1-2-3 * * * *", "minute \"1-2-3\" cannot be read", "0 to 59");
    check_refused("99999999999999999999 * * * *", "is out of range", "0 to 59");
    check_refused("? * * * *", "minute \"?\" cannot be read", "0 to 59");
    check_refused("0 0 * *", "has fewer than five fields", "minute, hour");
    check_refused("0 0 * * * *", "has more than five fields", "minute, hour");
    check_refused("", "is empty", "minute, hour");
    check_refused("   ", "is empty", "minute, hour");
    check_refused("@reboot", "\"@reboot\" is not known", "@daily");
    check_refused("0 0 30 2 *", "never comes", "five fields");
    check_refused("0 0 31 4,6,9,11 *", "never comes", "five fields");
}

TEST(a_long_text_is_refused)
{
    char text[400];
    memset(text, '1', sizeof text);
    text[sizeof text - 1] = '\0';
    check_refused(text, "too long", "five fields");
}

TEST(if_both_day_fields_are_restricted_either_is_enough)
{
    /* 2026-11-13 is a Friday. */
    check_next("0 0 13 * FRI", "UTC", "2026-11-01T00:00:00Z", "2026-11-06T00:00:00Z");
    check_next("0 0 13 * FRI", "UTC", "2026-12-11T00:00:00Z", "2026-12-13T00:00:00Z");
    check_next("0 0 13 * *", "UTC", "2026-12-11T00:00:00Z", "2026-12-13T00:00:00Z");
    check_next("0 0 * * FRI", "UTC", "2026-12-11T00:00:00Z", "2026-12-18T00:00:00Z");
    check_next("0 0 */2 * FRI", "UTC", "2026-12-11T00:00:00Z", "2026-12-13T00:00:00Z");
}

TEST(a_leap_day_is_found_over_eight_years)
{
    check_next("0 0 29 2 *", "UTC", "2096-02-29T00:00:00Z", "2104-02-29T00:00:00Z");
    check_next("* * 29 2 *", "UTC", "2096-02-29T23:59:00Z", "2104-02-29T00:00:00Z");
}

TEST(all_times_that_a_clock_change_skips_are_one_run_right_after_it)
{
    /* Berlin, 2026-03-29: 02:00 becomes 03:00 at 01:00 UTC. */
    const char *before = "2026-03-29T00:59:00Z", *change = "2026-03-29T01:00:00Z";
    check_next("*/15 2 * * *", "Europe/Berlin", before, change);
    check_next("*/15 2 * * *", "Europe/Berlin", change, "2026-03-30T00:00:00Z");
    check_next("30 2,3 * * *", "Europe/Berlin", before, change);
    check_next("30 2,3 * * *", "Europe/Berlin", change, "2026-03-29T01:30:00Z");
    check_next("0 3 * * *", "Europe/Berlin", before, change);
    /* Apia had no December 30, 2011. */
    check_next("0 9 30 12 *", "Pacific/Apia", "2011-12-01T00:00:00Z", "2011-12-30T10:00:00Z");
}

TEST(of_two_equal_local_times_the_first_counts)
{
    /* Berlin, 2026-10-25: 03:00 becomes 02:00 at 01:00 UTC. */
    check_next("30 2 * * *", "Europe/Berlin", "2026-10-24T23:00:00Z", "2026-10-25T00:30:00Z");
    check_next("30 2 * * *", "Europe/Berlin", "2026-10-25T00:30:00Z", "2026-10-26T01:30:00Z");
    check_next("30 2 * * *", "Europe/Berlin", "2026-10-25T01:10:00Z", "2026-10-26T01:30:00Z");
    /* Lord Howe goes back by half an hour. */
    check_next("45 1 * * *", "Australia/Lord_Howe", "2026-04-04T14:00:00Z",
               "2026-04-04T14:45:00Z");
    check_next("45 1 * * *", "Australia/Lord_Howe", "2026-04-04T14:45:00Z",
               "2026-04-05T15:15:00Z");
}

TEST(an_hour_field_that_is_a_star_runs_by_elapsed_time)
{
    check_next("30 * * * *", "Europe/Berlin", "2026-10-25T00:30:00Z", "2026-10-25T01:30:00Z");
    check_next("30 * * * *", "Europe/Berlin", "2026-03-29T00:30:00Z", "2026-03-29T01:30:00Z");
    check_next("*/30 * * * *", "Europe/Berlin", "2026-03-29T00:30:00Z", "2026-03-29T01:00:00Z");
}

TEST(times_rise_and_end_with_the_year_9999)
{
    struct cron cron = read_cron("59 23 31 12 *");
    cleanup(zone_closep) struct zone *zone = NULL;
    cairn_error error = {0};
    CHECK_OK(zone_open("UTC", &zone, &error));
    struct cron_zone place = {.offset_s = zone_offset_s, .place = zone};
    int64_t last_s = at("9999-12-31T23:59:00Z");
    CHECK_INT(cron_next_s(&cron, &place, last_s - 1), last_s);
    CHECK_INT(cron_next_s(&cron, &place, last_s), 0);
}

TEST(only_names_of_zones_are_zones)
{
    static const char *const wrong[] = {"",       "Europe",        "Europe/Nowhere",
                                        "+02:00", "EST5",          "/etc/localtime",
                                        "../UTC", "Europe/../UTC", "zone.tab",
                                        "utc ",   "Europe/Berlin/"};
    struct zone *zone = NULL;
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        cairn_error error = {0};
        CHECK(zone_open(wrong[i], &zone, &error) == CAIRN_E_BAD_INPUT, "\"%s\"", wrong[i]);
        CHECK(strstr(error.message, wrong[i]), "%s", error.message);
        CHECK(error.hint[0], "%s", wrong[i]);
    }
    zone_close(NULL);
}
