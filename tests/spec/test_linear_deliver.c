/* tests/spec/test_linear_deliver.c - outbound events that could not be delivered: tried again, or given up.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "flow_world.h"

#include <jansson.h>

/* An instance that has emitted "first" and "second". */
static void begin_with_events(struct flow_world *fw)
{
    cairn_outbound outbound[2] = {CAIRN_OUTBOUND_DEFAULTS, CAIRN_OUTBOUND_DEFAULTS};
    cairn_report report = CAIRN_REPORT_DEFAULTS;
    wf_begin(fw, FLOW("{step: a}"));
    struct task task = wf_take_step(fw, "a");
    outbound[0].event = "first";
    outbound[1].event = "second";
    report.outbound = outbound;
    report.outbound_count = 2;
    CHECK_DONE(&fw->world, wf_report_as(fw, &task, &report));
}

/* The names of the events that a claim brings, and their ids. */
static void claim(struct flow_world *fw, const char *worker, const char *wanted, char ids[][24])
{
    char seen[200] = "";
    cairn_page *page = NULL;
    CHECK_DONE(&fw->world, cairn_outbox_claim(fw->world.engine, worker, 10, 30000, &page,
                                              &fw->world.error));
    for (size_t i = 0; i < cairn_page_count(page); i++) {
        strcat(seen, i ? " " : "");
        strcat(seen, cairn_page_outbox_event(page, i)->event);
        snprintf(ids[i], 24, "%s", cairn_page_outbox_event(page, i)->id);
    }
    cairn_page_free(page);
    CHECK_STR(seen, wanted);
}

static json_t *ask(struct flow_world *fw, const char *method, const char *target,
                   const char *body, int status)
{
    cairn_request request = CAIRN_REQUEST_DEFAULTS;
    cairn_response *response;
    request.method = method;
    request.target = target;
    request.body = body;
    request.body_len = body ? strlen(body) : 0;
    CHECK_DONE(&fw->world, cairn_call(fw->world.engine, &request, &response, &fw->world.error));
    const char *text = cairn_response_body(response, NULL);
    CHECK(cairn_response_status(response) == status, "%s: %s", target, text);
    json_t *tree = json_loads(text, 0, NULL);
    cairn_response_free(response);
    return tree;
}

static json_t *release(struct flow_world *fw, const char *id, const char *body, int status)
{
    char target[80];
    snprintf(target, sizeof target, "/v1/outbox/%s/release", id);
    return ask(fw, "POST", target, body, status);
}

#define FAILED "{\"worker\":\"d\",\"error\":\"no answer\",\"max_attempts\":3}"

static void check_released(json_t *answer, int attempts, bool is_dead)
{
    CHECK_INT(json_integer_value(json_object_get(answer, "attempts")), attempts);
    CHECK_INT(json_is_true(json_object_get(answer, "dead")), is_dead);
    CHECK_INT(json_is_null(json_object_get(answer, "next_at")), is_dead);
    json_decref(answer);
}

/* How many are listed, and the error of the first. */
static void check_listed(struct flow_world *fw, const char *target, size_t count,
                         const char *error)
{
    json_t *answer = ask(fw, "GET", target, NULL, 200);
    const json_t *items = json_object_get(answer, "items");
    CHECK_INT(json_array_size(items), count);
    const char *seen =
        json_string_value(json_object_get(json_array_get(items, 0), "last_error"));
    CHECK(error ? seen && strcmp(seen, error) == 0 : !seen, "%s: %s", target, seen);
    json_decref(answer);
}

TEST(a_failed_delivery_is_made_again_after_a_growing_delay_and_holds_back_later_ones)
{
    struct flow_world fw;
    char ids[3][24];
    begin_with_events(&fw);
    claim(&fw, "d", "first second", ids);
    check_released(release(&fw, ids[0], FAILED, 200), 1, false);
    claim(&fw, "e", "", ids);
    wf_advance(&fw, 999);
    claim(&fw, "e", "", ids);
    wf_advance(&fw, 1);
    claim(&fw, "d", "first second", ids);
    check_released(release(&fw, ids[0], FAILED, 200), 2, false);
    wf_advance(&fw, 1999);
    claim(&fw, "e", "", ids);
    check_listed(&fw, "/v1/outbox", 2, "no answer");
    check_listed(&fw, "/v1/outbox?status=waiting", 2, "no answer");
    check_listed(&fw, "/v1/outbox?status=dead", 0, NULL);
    wf_advance(&fw, 1);
    claim(&fw, "e", "first second", ids);
    CHECK_DONE(&fw.world, cairn_outbox_ack(fw.world.engine, ids[0], &fw.world.error));
    check_listed(&fw, "/v1/outbox", 1, NULL);
    wf_close(&fw);
}

TEST(a_dead_event_no_longer_holds_back_later_ones)
{
    struct flow_world fw;
    char ids[3][24];
    begin_with_events(&fw);
    for (int i = 1; i <= 3; i++) {
        claim(&fw, "d", "first second", ids);
        check_released(release(&fw, ids[0], FAILED, 200), i, i == 3);
        wf_advance(&fw, i < 3 ? MINUTE_MS : 0);
    }
    CHECK_DONE(&fw.world, cairn_outbox_ack(fw.world.engine, ids[1], &fw.world.error));
    check_listed(&fw, "/v1/outbox", 0, NULL);
    check_listed(&fw, "/v1/outbox?status=dead", 1, "no answer");
    char target[100];
    snprintf(target, sizeof target, "/v1/instances/%s/outbox", fw.id);
    json_t *answer = ask(&fw, "GET", target, NULL, 200);
    const json_t *first = json_array_get(json_object_get(answer, "items"), 0);
    CHECK(json_is_string(json_object_get(first, "dead_at")), "it is not dead");
    CHECK(json_is_null(json_object_get(first, "acknowledged_at")), "it is acknowledged");
    json_decref(answer);
    json_decref(release(&fw, ids[0], FAILED, 409));
    wf_close(&fw);
}

TEST(an_event_that_was_not_tried_is_given_back_without_a_failure)
{
    struct flow_world fw;
    char ids[3][24];
    begin_with_events(&fw);
    claim(&fw, "d", "first second", ids);
    check_released(release(&fw, ids[0], "{\"worker\":\"d\"}", 200), 0, false);
    claim(&fw, "e", "first second", ids);
    check_listed(&fw, "/v1/outbox", 2, NULL);
    wf_close(&fw);
}

TEST(only_who_has_claimed_an_event_gives_it_back)
{
    struct flow_world fw;
    char ids[3][24];
    begin_with_events(&fw);
    json_decref(release(&fw, "1", FAILED, 409)); /* nobody has */
    claim(&fw, "d", "first second", ids);
    json_decref(release(&fw, ids[0], "{\"worker\":\"e\",\"error\":\"x\"}", 409));
    wf_advance(&fw, 30 * SECOND_MS + 1);
    claim(&fw, "e", "first second", ids);
    json_decref(release(&fw, ids[0], FAILED, 409)); /* the claim was lost */
    CHECK_DONE(&fw.world, cairn_outbox_ack(fw.world.engine, ids[0], &fw.world.error));
    json_decref(release(&fw, ids[0], "{\"worker\":\"e\"}", 409));
    json_decref(release(&fw, "999999", FAILED, 404));
    json_decref(release(&fw, "x", FAILED, 404));
    json_decref(release(&fw, ids[1], "{}", 400));
    json_decref(release(&fw, ids[1], "{\"worker\":\"e\",\"max_attempts\":0}", 400));
    wf_close(&fw);
}
