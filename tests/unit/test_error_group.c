/* tests/unit/test_error_group.c - which errors are alike.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "base/json.h"
#include "base/mem.h"
#include "base/random.h"
#include "core/error_group.h"
#include "test.h"

#include <string.h>

TEST(a_pattern_leaves_out_what_differs_from_case_to_case)
{
    static const struct {
        const char *error, *pattern;
    } cases[] = {
        {"", ""},
        {"no such file", "no such file"},
        {"card 4711 refused", "card # refused"},
        {"card 4,711.50 refused", "card #,#.# refused"},
        {"step2 failed after 3 calls", "step# failed after # calls"},
        {"customer 0192f0c1-7d5e-7c3a-9a4e-2f6d8b1c3e5f is gone", "customer # is gone"},
        {"customer 0192F0C1-7D5E-7C3A-9A4E-2F6D8B1C3E5F", "customer #"},
        {"x0192f0c1-7d5e-7c3a-9a4e-2f6d8b1c3e5f", "x#f#c#-#d#e-#c#a-#a#e-#"},
        {"commit deadbeef and facade", "commit # and facade"},
        {"object 9f2c41d07b3e is missing", "object # is missing"},
        {"at 0x7ffd, and 0x", "at #, and #x"},
        {"deadbeefs", "deadbeefs"},
        {"cannot open \"prices.cvs\": no such file", "cannot open #: no such file"},
        {"cannot open 'prices.cvs'", "cannot open #"},
        {"cannot open `prices.cvs`", "cannot open #"},
        {"can't open it, don't ask", "can't open it, don't ask"},
        {"the customer's \"name\" isn't 'known'", "the customer's # isn't #"},
        {"an open \"quote", "an open \"quote"},
        {"'a''b'", "##"},
        {"  two\t spaces  ", "two spaces"},
        {"first line\nsecond line", "first line"},
        {"first line\r\nsecond line", "first line"},
        {"\nsecond line", ""},
        {"caf\xC3\xA9 12", "caf\xC3\xA9 #"},
        {"#", "#"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char pattern[ERROR_PATTERN_TEXT];
        error_pattern(cases[i].error, pattern);
        CHECK(strcmp(pattern, cases[i].pattern) == 0, "\"%s\" is \"%s\", not \"%s\"",
              cases[i].error, pattern, cases[i].pattern);
    }
}

TEST(a_pattern_is_cut_to_200_bytes_at_a_character)
{
    char error[400], pattern[ERROR_PATTERN_TEXT];
    for (int lead = 0; lead < 4; lead++) {
        memset(error, 'x', sizeof error);
        for (int i = lead; i + 2 < (int)sizeof error; i += 2)
            memcpy(error + i, "\xC3\xA9", 2);
        error[sizeof error - 1] = '\0';
        error_pattern(error, pattern);
        CHECK_INT(strlen(pattern), lead % 2 ? 199 : 200);
        CHECK(utf8_is_valid(pattern, strlen(pattern)), "%s", pattern);
    }
    memset(error, '"', sizeof error);
    error[sizeof error - 1] = '\0';
    error_pattern(error, pattern);
    CHECK_INT(strlen(pattern), 200);
}

TEST(the_pattern_of_a_pattern_is_itself)
{
    static const char *const pieces[] = {"'",
                                         "\"",
                                         "`",
                                         "5",
                                         "#",
                                         "a",
                                         " ",
                                         "ab8",
                                         "-",
                                         "deadbeef",
                                         "0x",
                                         "'s",
                                         "_",
                                         "\xC3\xA9",
                                         "\t",
                                         ":",
                                         "0192f0c1-7d5e-7c3a-9a4e-2f6d8b1c3e5f"};
    struct rng rng;
    int rounds = test_rounds(20000, 1000000);
    rng_init(&rng, 7);
    for (int round = 0; round < rounds; round++) {
        char error[3000] = "", once[ERROR_PATTERN_TEXT], twice[ERROR_PATTERN_TEXT];
        int count = (int)rng_below(&rng, round % 10 ? 12 : 80);
        for (int i = 0; i < count; i++)
            strcat(error, pieces[rng_below(&rng, sizeof pieces / sizeof *pieces)]);
        error_pattern(error, once);
        error_pattern(once, twice);
        CHECK(strcmp(once, twice) == 0, "\"%s\" is \"%s\", then \"%s\"", error, once, twice);
        CHECK(strlen(once) < ERROR_PATTERN_TEXT && strlen(once) <= strlen(error), "%s", once);
        CHECK(!strpbrk(once, "0123456789\t\n"), "%s", once);
    }
}

TEST(a_group_is_named_by_where_it_happened_and_by_its_pattern)
{
    struct error_place place = {
        .workflow = "order", .step = "charge", .error = "card 17 refused"};
    struct error_place others[] = {
        {.workflow = "orde", .step = "rcharge", .error = "card 17 refused"},
        {.workflow = "order", .step = "ship", .error = "card 17 refused"},
        {.workflow = "order", .step = "charge", .error = "card 17 refused", .is_undo = true},
        {.workflow = "order", .step = "charge", .error = "card 17 accepted"},
        {.workflow = "order", .step = "charge"},
    };
    char group[ERROR_GROUP_TEXT];
    error_group(&place, "card # refused", group);
    CHECK_STR(group, "586c73011b20");
    CHECK(error_is_in(&place, group), "%s", group);
    place.error = "card 4711 refused\nby the bank";
    CHECK(error_is_in(&place, group), "%s", group);
    place.type = "task";
    CHECK(error_is_in(&place, group), "a type matters only for jobs");
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        CHECK(!error_is_in(&others[i], group), "%zu", i);
}

TEST(rows_say_what_failed_where_and_when)
{
    cleanup(arena_done) struct arena arena = {0};
    struct job_row job = {.type = "mail.v1", .last_error = "bounced", .updated_at_us = 5};
    struct error_place place = error_of_job(&job);
    CHECK_STR(place.type, "mail.v1");
    CHECK_STR(place.error, "bounced");
    CHECK_INT(place.at_us, 5);

    struct dlq_row record = {.workflow = "order",
                             .step_name = "charge",
                             .step_type = "task",
                             .reason = "compensation max retries exceeded",
                             .created_at_us = 6};
    place = error_of_record(&record);
    CHECK_STR(place.step, "charge");
    CHECK(place.is_undo, "it is one");
    CHECK_STR(place.error, "");

    struct instance_row instance = {
        .workflow = "order",
        .undo_error =
            "{\"step\":\"pay\",\"message\":\"m\",\"at\":\"2027-01-15T08:00:00.000Z\"}"};
    CHECK(error_of_instance(&arena, &instance, &place), "memory");
    CHECK_STR(place.step, "pay");
    CHECK_STR(place.error, "m");
    CHECK(place.is_undo, "it is one");
    CHECK_INT(place.at_us, INT64_C(1800000000000000));
    instance.last_error = "{\"step\":\"s\\u0041\",\"message\":\"n\"}";
    instance.finished_at_us = 9;
    CHECK(error_of_instance(&arena, &instance, &place), "memory");
    CHECK_STR(place.step, "sA");
    CHECK_STR(place.error, "n");
    CHECK(!place.is_undo, "it is none");
    CHECK_INT(place.at_us, 9);
    CHECK(error_of_instance(&arena, &(struct instance_row){.workflow = "w"}, &place), "memory");
    CHECK(!place.error, "there is none");
}
