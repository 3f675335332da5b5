/* tests/unit/test_trace.c - which texts name a trace; everything else stays out of logs.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "base/trace.h"
#include "test.h"

#include <stdio.h>
#include <string.h>

#define TRACE "0af7651916cd43dd8448eb211c80319c"
#define SPAN "b7ad6b7169203331"
#define GOOD "00-" TRACE "-" SPAN "-01"

TEST(only_a_well_formed_traceparent_is_one)
{
    static const char *const good[] = {GOOD, "00-" TRACE "-" SPAN "-00",
                                       "01-" TRACE "-" SPAN "-ff"};
    static const char *const bad[] = {
        NULL,
        "",
        "00",
        "ff-" TRACE "-" SPAN "-01",
        "00-00000000000000000000000000000000-" SPAN "-01",
        "00-" TRACE "-0000000000000000-01",
        "00-0AF7651916CD43DD8448EB211C80319C-" SPAN "-01",
        "00-" TRACE "-" SPAN "-0g",
        "00_" TRACE "-" SPAN "-01",
        GOOD "\n",
        GOOD "-extra",
        " " GOOD,
        "00-" TRACE "-" SPAN "-\n1",
    };
    for (size_t i = 0; i < sizeof good / sizeof *good; i++)
        CHECK(trace_is_valid(good[i]), "%s is refused", good[i]);
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        CHECK(!trace_is_valid(bad[i]), "%s is accepted", bad[i]);
}

TEST(metadata_names_a_trace_or_none)
{
    char seen[TRACE_TEXT];
    static const char *const none[] = {NULL,
                                       "",
                                       "{",
                                       "[]",
                                       "1",
                                       "{}",
                                       "{\"traceparent\":1}",
                                       "{\"traceparent\":\"x\"}",
                                       "{\"traceparent\":{\"traceparent\":\"" GOOD "\"}}",
                                       "{\"a\":{\"traceparent\":\"" GOOD "\"}}"};
    trace_of("{\"tenant\": 7, \"traceparent\": \"" GOOD "\"}", seen);
    CHECK_STR(seen, GOOD);
    for (size_t i = 0; i < sizeof none / sizeof *none; i++) {
        strcpy(seen, "old");
        trace_of(none[i], seen);
        CHECK(seen[0] == '\0', "%s: %s", none[i], seen);
    }
}

TEST(the_body_of_a_request_names_it_in_its_metadata)
{
    char seen[TRACE_TEXT];
    static const char good[] = "{\"type\":\"a\",\"metadata\":{\"traceparent\":\"" GOOD "\"}}";
    static const char *const none[] = {"", "x", "{\"metadata\":1}", "{\"metadata\":{}}",
                                       "{\"traceparent\":\"" GOOD "\"}"};
    trace_of_body(good, strlen(good), seen);
    CHECK_STR(seen, GOOD);
    for (size_t i = 0; i < sizeof none / sizeof *none; i++) {
        trace_of_body(none[i], strlen(none[i]), seen);
        CHECK(seen[0] == '\0', "%s: %s", none[i], seen);
    }
    trace_of_body(NULL, 0, seen);
    CHECK_STR(seen, "");
}
