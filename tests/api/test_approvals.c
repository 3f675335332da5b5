/* tests/api/test_approvals.c - what waits for a decision, and what was decided.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "calling.h"

#include <stdlib.h>
#include <string.h>

static void deploy(struct caller *caller, const char *workflow, const char *more)
{
    call_for(caller, 201, "POST", "/v1/workflows",
             "{workflow: %s, version: 1, steps: [{human: ok, metadata: {for: boss}%s}]}",
             workflow, more);
}

static const char *start(struct caller *caller, const char *workflow, const char *key)
{
    call_for(caller, 201, "POST", "/v1/instances",
             "{\"workflow\":\"%s\",\"key\":\"%s\",\"input\":{\"key\":\"%s\"}}", workflow, key,
             key);
    return kept_id(caller);
}

static void decide(struct caller *caller, const char *id, const char *decision)
{
    char target[160];
    snprintf(target, sizeof target, "/v1/instances/%s/steps/ok/decision", id);
    call_for(caller, 200, "POST", target,
             "{\"decision\":\"%s\",\"by\":\"ann\",\"comment\":\"no comment\"}", decision);
}

/* The keys of a list, page by page. */
static void check_keys(struct caller *caller, const char *query, int limit, const char *wanted)
{
    char keys[200] = "", target[200], cursor[100] = "";
    do {
        snprintf(target, sizeof target, "/v1/approvals?limit=%d%s%s%s", limit, query,
                 *cursor ? "&cursor=" : "", cursor);
        const json_t *items =
            json_object_get(call_for(caller, 200, "GET", target, NULL), "items");
        CHECK((int)json_array_size(items) <= limit, "%s", caller->text);
        for (size_t i = 0; i < json_array_size(items); i++) {
            const json_t *key = json_object_get(json_array_get(items, i), "key");
            strcat(strcat(keys, *keys ? " " : ""), json_string_value(key));
        }
        const char *next = text_at(caller, "next");
        snprintf(cursor, sizeof cursor, "%s", next ? next : "");
    } while (*cursor);
    CHECK_STR(keys, wanted);
}

TEST(the_soonest_deadline_comes_first)
{
    struct caller caller;
    caller_open(&caller);
    deploy(&caller, "slow", ", timeout: 2h");
    deploy(&caller, "quick", ", timeout: 1h, on_timeout: continue");
    deploy(&caller, "endless", "");
    start(&caller, "endless", "e1");
    start(&caller, "slow", "s1");
    start(&caller, "slow", "s2");
    const char *first = start(&caller, "quick", "q1");
    start(&caller, "endless", "e2");
    for (int limit = 1; limit <= 6; limit++)
        check_keys(&caller, "", limit, "q1 s1 s2 e1 e2");
    check_keys(&caller, "&workflow=slow", 1, "s1 s2");
    check_keys(&caller, "&workflow=endless", 2, "e1 e2");
    check_keys(&caller, "&workflow=nothing", 2, "");

    call_for(&caller, 200, "GET", "/v1/approvals", NULL);
    CHECK_INT(int_at(&caller, "n"), 5);
    CHECK(json_is_null(part(&caller, "next")), "%s", caller.text);
    CHECK_STR(text_at(&caller, "items.0.instance_id"), first);
    CHECK_STR(text_at(&caller, "items.0.workflow"), "quick");
    CHECK_INT(int_at(&caller, "items.0.version"), 1);
    CHECK_STR(text_at(&caller, "items.0.step"), "ok");
    CHECK_INT(int_at(&caller, "items.0.seq"), 0);
    CHECK_STR(text_at(&caller, "items.0.since"), "2027-01-15T08:00:00.000Z");
    CHECK_STR(text_at(&caller, "items.0.deadline_at"), "2027-01-15T09:00:00.000Z");
    CHECK_STR(text_at(&caller, "items.0.on_timeout"), "continue");
    CHECK_STR(text_at(&caller, "items.0.input.key"), "q1");
    CHECK_STR(text_at(&caller, "items.0.metadata.for"), "boss");
    CHECK_STR(text_at(&caller, "items.1.on_timeout"), "fail");
    CHECK(json_is_null(part(&caller, "items.3.deadline_at")), "%s", caller.text);
    CHECK_INT(json_object_size(part(&caller, "items.0")), 11);
    call_for(&caller, 200, "GET", "/v1/approvals?workflow=slow", NULL);
    CHECK_INT(int_at(&caller, "n"), 2);
    caller_close(&caller);
}

TEST(what_is_decided_leaves_the_list_and_is_among_the_decisions)
{
    struct caller caller;
    caller_open(&caller);
    deploy(&caller, "slow", ", timeout: 2h");
    deploy(&caller, "other", "");
    const char *a = start(&caller, "slow", "a"), *b = start(&caller, "other", "b"),
               *c = start(&caller, "slow", "c");
    start(&caller, "slow", "late");
    check_keys(&caller, "&decided=true", 2, "");
    decide(&caller, c, "confirmed");
    decide(&caller, b, "rejected");
    decide(&caller, a, "confirmed");
    check_keys(&caller, "", 2, "late");
    for (int limit = 1; limit <= 4; limit++)
        check_keys(&caller, "&decided=true", limit, "a b c");
    check_keys(&caller, "&decided=true&workflow=slow", 1, "a c");
    call_for(&caller, 200, "GET", "/v1/approvals?decided=true", NULL);
    CHECK_INT(int_at(&caller, "n"), 1);
    CHECK_STR(text_at(&caller, "items.1.instance_id"), b);
    CHECK_STR(text_at(&caller, "items.1.workflow"), "other");
    CHECK_STR(text_at(&caller, "items.1.step"), "ok");
    CHECK_STR(text_at(&caller, "items.1.by"), "ann");
    CHECK_STR(text_at(&caller, "items.1.decision"), "rejected");
    CHECK_STR(text_at(&caller, "items.1.comment"), "no comment");
    CHECK_STR(text_at(&caller, "items.1.at"), "2027-01-15T08:00:00.000Z");
    CHECK_INT(json_object_size(part(&caller, "items.1")), 10);

    /* Time decides, too. */
    call_for(&caller, 200, "POST", "/v1/clock/advance", "{\"ms\":%d}", 7200001);
    check_keys(&caller, "", 2, "");
    caller_close(&caller);
}

TEST(many_that_wait_are_listed_in_portions)
{
    struct caller caller;
    char key[20], wanted[20] = "k249";
    caller_open(&caller);
    deploy(&caller, "slow", ", timeout: 2h");
    deploy(&caller, "rare", ", timeout: 3h");
    for (int i = 0; i < 250; i++) {
        snprintf(key, sizeof key, "k%d", i);
        start(&caller, i == 249 ? "rare" : "slow", key);
    }
    call_for(&caller, 200, "GET", "/v1/approvals?limit=1000", NULL);
    CHECK_INT(json_array_size(part(&caller, "items")), 250);
    CHECK_STR(text_at(&caller, "items.0.key"), "k0");
    CHECK_STR(text_at(&caller, "items.248.key"), "k248");
    CHECK_INT(int_at(&caller, "n"), 250);
    check_keys(&caller, "&workflow=rare", 1, wanted);
    caller_close(&caller);
}

TEST(a_cursor_of_another_list_is_refused)
{
    struct caller caller;
    caller_open(&caller);
    call_for(&caller, 400, "GET", "/v1/approvals?cursor=17", NULL);
    call_for(&caller, 400, "GET", "/v1/approvals?cursor=1.2.3.4", NULL);
    call_for(&caller, 400, "GET", "/v1/approvals?cursor=-1.2.3", NULL);
    call_for(&caller, 200, "GET", "/v1/approvals?cursor=1.2.3", NULL);
    call_for(&caller, 400, "GET", "/v1/approvals?decided=true&cursor=1.2.3", NULL);
    call_for(&caller, 400, "GET", "/v1/approvals?decided=yes", NULL);
    caller_close(&caller);
}
