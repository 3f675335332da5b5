/* tests/api/test_lists.c - lists of jobs and instances by their filters, and as rows.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "calling.h"

#include "base/buf.h"

#include <stdio.h>
#include <string.h>

/* A workflow of one step, and instances of it: their ids are valid until the program ends. */
static void deploy(struct caller *caller, const char *name)
{
    call_for(
        caller, 201, "POST", "/v1/workflows",
        "{\"workflow\":\"%s\",\"version\":1,\"steps\":[{\"step\":\"s\",\"handler\":\"h\"}]}",
        name);
}

static const char *start(struct caller *caller, const char *workflow, const char *key,
                         const char *input)
{
    call_for(caller, 201, "POST", "/v1/instances",
             "{\"workflow\":\"%s\",\"key\":\"%s\",\"input\":%s}", workflow, key, input);
    static char ids[16][64];
    static unsigned turn;
    char *id = ids[turn++ % 16];
    snprintf(id, sizeof ids[0], "%s", text_at(caller, "id"));
    return id;
}

/* The texts at `name` of all items, with spaces between them. */
static const char *listed(struct caller *caller, const char *target, const char *name)
{
    static char text[512];
    text[0] = '\0';
    call_for(caller, 200, "GET", target, NULL);
    const json_t *items = part(caller, "items");
    for (size_t i = 0; i < json_array_size(items); i++) {
        const json_t *item = json_array_get(items, i);
        size_t len = strlen(text);
        snprintf(text + len, sizeof text - len, "%s%s", i ? " " : "",
                 json_string_value(json_object_get(item, name)));
    }
    return text;
}

TEST(instances_are_listed_by_every_filter)
{
    struct caller caller;
    char target[200];
    caller_open(&caller);
    deploy(&caller, "a");
    deploy(&caller, "b");
    const char *first = start(&caller, "a", "order-1", "{\"to\":\"Atlantis\"}");
    const char *second = start(&caller, "a", "order-2", "{}");
    start(&caller, "b", "other", "{}");
    snprintf(target, sizeof target, "/v1/instances/%s/abort", first);
    call_for(&caller, 200, "POST", target, "{\"by\":\"x\",\"reason\":\"y\"}");
    static const struct {
        const char *query, *keys;
    } cases[] = {
        {"", "other order-2 order-1"},
        {"?status=running,aborted", "other order-2 order-1"},
        {"?status=active", "other order-2"},
        {"?status=ended", "order-1"},
        {"?status=ended,running&workflow=a", "order-2 order-1"},
        {"?version=1&workflow=b", "other"},
        {"?version=2", ""},
        {"?key=order-%25", "order-2 order-1"},
        {"?key=order-1", "order-1"},
        {"?q=ord", "order-2 order-1"},
        {"?q=ord&status=aborted", "order-1"},
        {"?has=Atlantis", "order-1"},
        {"?has=%27%20OR%201%3D1", ""},
        {"?created_from=2027-01-15T08:00:00Z&created_to=2027-01-15T08:00:00Z",
         "other order-2 order-1"},
        {"?created_from=2027-01-15T08:00:01Z", ""},
        {"?created_to=2027-01-15T07:59:59Z", ""},
        {"?ids=", "other order-2 order-1"},
        {"?ids=nobody,x", ""},
        {"?parent=none", "other order-2 order-1"},
        {"?parent=none&workflow=a", "order-2 order-1"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        snprintf(target, sizeof target, "/v1/instances%s", cases[i].query);
        CHECK_STR(listed(&caller, target, "key"), cases[i].keys);
        CHECK(json_is_null(part(&caller, "scanned_to")), "%s", caller.text);
    }
    snprintf(target, sizeof target, "/v1/instances?ids=%s,%s", first, second);
    CHECK_STR(listed(&caller, target, "key"), "order-2 order-1");
    snprintf(target, sizeof target, "/v1/instances?q=%.20s", first);
    listed(&caller, target, "key");
    CHECK(strstr(caller.text, first), "%s", caller.text);
    caller_close(&caller);
}

TEST(jobs_are_listed_by_every_filter)
{
    struct caller caller;
    char target[200];
    caller_open(&caller);
    call_for(&caller, 201, "POST", "/v1/jobs",
             "{\"type\":\"a.x\",\"key\":\"k-1\",\"payload\":{\"n\":\"deep\"}}");
    call_for(&caller, 201, "POST", "/v1/jobs",
             "{\"type\":\"a.y\",\"key\":\"k-2\",\"run_at\":\"2030-01-01T00:00:00Z\"}");
    call_for(&caller, 201, "POST", "/v1/jobs", "{\"type\":\"b\",\"key\":\"l\"}");
    take(&caller, "b");
    static const struct {
        const char *query, *keys;
    } cases[] = {
        {"?status=pending,leased", "l k-2 k-1"},
        {"?status=active&type=a.%25", "k-2 k-1"},
        {"?status=ended", ""},
        {"?due=true", "k-1"},
        {"?due=false", "k-2"},
        {"?key=k-%25", "k-2 k-1"},
        {"?q=k-2", "k-2"},
        {"?has=deep", "k-1"},
        {"?created_from=2027-01-15T09:00:00%2B01:00", "l k-2 k-1"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        snprintf(target, sizeof target, "/v1/jobs%s", cases[i].query);
        CHECK_STR(listed(&caller, target, "idempotency_key"), cases[i].keys);
    }
    caller_close(&caller);
}

TEST(a_row_has_no_payload_but_how_it_begins)
{
    struct caller caller;
    char input[400], target[200];
    caller_open(&caller);
    deploy(&caller, "a");

    /* The 120th byte is the first half of a character. */
    snprintf(input, sizeof input, "\"%0118d\xc3\xbc%0100d\"", 0, 0);
    const char *id = start(&caller, "a", "k", input);
    CHECK_STR(listed(&caller, "/v1/instances?view=row", "key"), "k");
    CHECK_INT(int_at(&caller, "items.0.input_bytes"), 222);
    CHECK_INT(int_at(&caller, "items.0.output_bytes"), 0);
    CHECK_INT(strlen(text_at(&caller, "items.0.input_preview")), 119);
    CHECK_STR(text_at(&caller, "items.0.kind"), "workflow");
    CHECK(!json_object_get(part(&caller, "items.0"), "parent"), "%s", caller.text);
    CHECK_STR(text_at(&caller, "items.0.current_steps.0"), "s");
    CHECK(!strstr(caller.text, "\"input\":"), "%s", caller.text);

    snprintf(target, sizeof target, "/v1/instances/%s/steps?view=row", id);
    CHECK_STR(listed(&caller, target, "name"), "s");
    CHECK_INT(int_at(&caller, "items.0.input_bytes"), 222);
    CHECK_INT(strlen(text_at(&caller, "items.0.input_preview")), 119);
    CHECK(json_is_null(part(&caller, "items.0.output_preview")), "%s", caller.text);

    call_for(&caller, 201, "POST", "/v1/jobs", "{\"type\":\"t\",\"payload\":%s}", input);
    CHECK_STR(listed(&caller, "/v1/jobs?view=row", "type"), "t");
    CHECK_INT(int_at(&caller, "items.0.payload_bytes"), 222);
    CHECK_INT(strlen(text_at(&caller, "items.0.payload_preview")), 119);
    CHECK(!strstr(caller.text, "\"payload\":"), "%s", caller.text);
    listed(&caller, "/v1/jobs?view=full", "type");
    CHECK_INT(strlen(text_at(&caller, "items.0.payload")), 220);
    caller_close(&caller);
}

TEST(the_error_in_a_row_is_cut)
{
    struct caller caller;
    char target[200];
    caller_open(&caller);
    call_for(&caller, 201, "POST", "/v1/workflows",
             "{\"workflow\":\"a\",\"version\":1,\"steps\":[{\"step\":\"s\",\"handler\":\"h\","
             "\"max_attempts\":1}]}");
    start(&caller, "a", "k", "{}");
    struct task_held task = take(&caller, "h");
    snprintf(target, sizeof target, "/v1/tasks/%s/dead", task.id);
    call_for(&caller, 200, "POST", target,
             "{\"worker\":\"w\",\"token\":\"%s\",\"error\":\"%0300d\"}", task.token, 7);
    CHECK_STR(listed(&caller, "/v1/instances?view=row&status=failed", "key"), "k");
    CHECK_INT(strlen(text_at(&caller, "items.0.last_error.message")), 200);
    CHECK_STR(text_at(&caller, "items.0.last_error.step"), "s");
    CHECK_INT(int_at(&caller, "items.0.last_error.attempt"), 1);
    listed(&caller, "/v1/instances", "key");
    CHECK_INT(strlen(text_at(&caller, "items.0.last_error.message")), 300);
    caller_close(&caller);
}

/* Each of these steps is where an instance can stay for long; the last one fails. */
static const struct {
    const char *kind, *member, *value; /* NULL: the step's own name */
    const char *rest;
} kinds[] = {
    {"wait", "event", NULL, ",\"timeout\":\"7d\""},
    {"human", "timeout", "2d", ""},
    {"sleep", "for", "1d", ""},
    {"step", "handler", NULL, ",\"max_attempts\":1"},
};

/* The turn of this kind: an instance is at a step with this name, or has failed there. */
static void start_at(struct caller *caller, int turn, const char *name, const char *step,
                     const char *more, int error_bytes)
{
    size_t kind = (size_t)turn % 4;
    char target[128];
    if (turn < 4)
        call_for(
            caller, 201, "POST", "/v1/workflows",
            "{\"workflow\":\"%s\",\"version\":1,\"steps\":[{\"%s\":\"%s\",\"%s\":\"%s\"%s}]}",
            name, kinds[kind].kind, step, kinds[kind].member,
            kinds[kind].value ? kinds[kind].value : step, kinds[kind].rest);
    call_for(caller, 201, "POST", "/v1/instances", "{\"workflow\":\"%s\",%s}", name, more);
    if (kind < 3)
        return;
    struct task_held task = take(caller, step);
    snprintf(target, sizeof target, "/v1/tasks/%s/dead", task.id);
    call_for(caller, 200, "POST", target,
             "{\"worker\":\"w\",\"token\":\"%s\",\"error\":\"%0*d\"}", task.token, error_bytes,
             7);
}

/* Inputs of 20 KB, of which the lists show the beginning. */
TEST(a_page_of_rows_is_small_whatever_the_payloads)
{
    static const struct {
        const char *workflow, *step;
    } flows[] = {{"demo_order", "payment.settled"},
                 {"expenses", "approval"},
                 {"reminder", "two_days"},
                 {"import", "read_file"}};
    struct caller caller;
    caller_open(&caller);
    for (int i = 0; i < 50; i++) {
        char more[21000];
        snprintf(more, sizeof more,
                 "\"key\":\"order-%d\",\"input\":{\"order\":%d,\"customer\":\"4711\","
                 "\"pays\":\"transfer\",\"lines\":[\"%020000d\"]}",
                 1000 + i, i, 0);
        start_at(&caller, i, flows[i % 4].workflow, flows[i % 4].step, more, 60);
    }
    call_for(&caller, 200, "GET", "/v1/instances?view=row&limit=50", NULL);
    CHECK_INT(json_array_size(part(&caller, "items")), 50);
    CHECK(strlen(caller.text) < 40000, "%zu bytes", strlen(caller.text));
    /* The sentence is made of these; a row does not say it twice. */
    const json_t *why = part(&caller, "items.0.why");
    CHECK_STR(text_at(&caller, "items.0.why.code"), "decision");
    CHECK(json_object_get(why, "template") && json_object_get(why, "values"), "%s",
          caller.text);
    CHECK(!json_object_get(why, "text") && !json_object_get(why, "actions"), "%s", caller.text);
    caller_close(&caller);
}

/* Keys, names and tags are whole in every row, so these make the largest page.  Errors and payloads are
 * at their limits, too, but a row has only their beginning. */
TEST(the_largest_page_of_rows_has_a_bound)
{
    enum { NAME = 256, TAG_NAME = 64, TAGS = 16 };
    struct caller caller;
    struct buf more = {0};
    caller_open(&caller);
    for (int i = 0; i < 50; i++) {
        char name[NAME + 1];
        snprintf(name, sizeof name, "w%0*d", NAME - 1, i % 4);
        buf_reset(&more);
        buf_printf(&more, "\"key\":\"%0*d\",\"input\":\"%01000000d\",\"tags\":{", NAME, i, 0);
        for (int tag = 0; tag < TAGS; tag++)
            buf_printf(&more, "%s\"%0*d\":\"%0*d\"", tag ? "," : "", TAG_NAME, tag, NAME, i);
        buf_str(&more, "}");
        start_at(&caller, i, name, name, buf_text(&more), 4096);
    }
    call_for(&caller, 200, "GET", "/v1/instances?view=row&limit=50", NULL);
    CHECK_INT(json_array_size(part(&caller, "items")), 50);
    CHECK(strlen(caller.text) < 50 * 8000, "%zu bytes", strlen(caller.text));
    buf_done(&more);
    caller_close(&caller);
}

/* A wide fork is at many steps at once. */
TEST(a_row_names_the_first_ten_of_its_steps)
{
    struct caller caller;
    struct buf branches = {0};
    caller_open(&caller);
    for (int i = 0; i < 200; i++)
        buf_printf(&branches, "%s[{\"wait\":\"b%d\",\"event\":\"e\"}]", i ? "," : "", i);
    call_for(&caller, 201, "POST", "/v1/workflows",
             "{\"workflow\":\"a\",\"version\":1,\"steps\":[{\"fork\":\"f\",\"join\":\"all\","
             "\"branches\":[%s]}]}",
             buf_text(&branches));
    start(&caller, "a", "k", "{}");
    call_for(&caller, 200, "GET", "/v1/instances?view=row", NULL);
    CHECK_INT(json_array_size(part(&caller, "items.0.current_steps")), 10);
    CHECK_STR(text_at(&caller, "items.0.current_steps.9"), "b9");
    call_for(&caller, 200, "GET", "/v1/instances", NULL);
    CHECK_INT(json_array_size(part(&caller, "items.0.current_steps")), 200);
    buf_done(&branches);
    caller_close(&caller);
}

static void check_calls(struct caller *caller, int attempts, int most)
{
    call_for(caller, 200, "GET", "/v1/instances?view=row", NULL);
    CHECK_INT(int_at(caller, "items.0.attempts"), attempts);
    if (most)
        CHECK_INT(int_at(caller, "items.0.max_attempts"), most);
    else
        CHECK(!json_object_get(part(caller, "items.0"), "max_attempts"), "%s", caller->text);
}

/* As people count: the first call is one of three while it is made. */
TEST(a_row_says_how_often_its_step_was_called)
{
    static const struct {
        const char *report;
        int called, ended; /* the calls while it is held, and when it was reported */
        int most;
    } calls[] = {{"fail", 1, 1, 3}, {"fail", 2, 2, 3}, {"complete", 3, 0, 0}};
    struct caller caller;
    char target[200];
    caller_open(&caller);
    call_for(&caller, 201, "POST", "/v1/workflows",
             "{workflow: a, version: 1, steps: [{step: s, handler: h, max_attempts: 3},"
             " {sleep: nap, for: 1h}, {step: t, handler: i, max_attempts: 1}]}");
    start(&caller, "a", "k", "{}");
    check_calls(&caller, 0, 3);
    for (size_t i = 0; i < sizeof calls / sizeof *calls; i++) {
        struct task_held task = take(&caller, "h");
        check_calls(&caller, calls[i].called, 3);
        snprintf(target, sizeof target, "/v1/tasks/%s/%s", task.id, calls[i].report);
        call_for(&caller, 200, "POST", target, "{\"worker\":\"w\",\"token\":\"%s\"%s}",
                 task.token, calls[i].ended ? ",\"error\":\"no good\"" : "");
        check_calls(&caller, calls[i].ended, calls[i].most);
        call_for(&caller, 200, "POST", "/v1/clock/advance", "{\"ms\":3600000}");
    }
    struct task_held task = take(&caller, "i");
    check_calls(&caller, 1, 1);
    snprintf(target, sizeof target, "/v1/tasks/%s/dead", task.id);
    call_for(&caller, 200, "POST", target,
             "{\"worker\":\"w\",\"token\":\"%s\",\"error\":\"x\"}", task.token);
    check_calls(&caller, 1, 0); /* it has failed; how many there might have been is not read */
    caller_close(&caller);
}

TEST(where_instances_stand_is_counted_and_filtered)
{
    struct caller caller;
    caller_open(&caller);
    call_for(&caller, 201, "POST", "/v1/workflows",
             "{workflow: a, version: 1, steps: [{step: s, handler: h}, {sleep: nap, for: 1h},"
             " {wait: it, event: e}]}");
    for (int i = 0; i < 3; i++)
        start(&caller, "a", i == 0 ? "k0" : i == 1 ? "k1" : "k2", "{}");
    struct task_held task = take(&caller, "h");
    char target[200];
    snprintf(target, sizeof target, "/v1/tasks/%s/complete", task.id);
    call_for(&caller, 200, "POST", target, "{\"worker\":\"w\",\"token\":\"%s\"}", task.token);
    task = take(&caller, "h");
    snprintf(target, sizeof target, "/v1/tasks/%s/fail", task.id);
    call_for(&caller, 200, "POST", target,
             "{\"worker\":\"w\",\"token\":\"%s\",\"error\":\"x\"}", task.token);
    call_for(&caller, 200, "GET", "/v1/instances/counts?by=stand&workflow=a", NULL);
    CHECK_INT(json_object_size(part(&caller, "counts")), 5);
    CHECK_INT(int_at(&caller, "counts.running.n"), 1);
    CHECK_INT(int_at(&caller, "counts.sleeping.n"), 1);
    CHECK_INT(int_at(&caller, "counts.retrying.n"), 1);
    CHECK_INT(int_at(&caller, "counts.waiting.n"), 0);
    CHECK(json_is_false(part(&caller, "counts.lost.is_more")), "%s", caller.text);
    CHECK_STR(listed(&caller, "/v1/instances?stand=sleeping", "key"), "k0");
    CHECK_STR(listed(&caller, "/v1/instances?stand=retrying&view=row", "key"), "k1");
    CHECK_STR(listed(&caller, "/v1/instances?stand=running&workflow=a", "key"), "k2");
    call_for(&caller, 200, "GET", "/v1/instances/counts?by=status&workflow=a", NULL);
    CHECK_INT(int_at(&caller, "counts.running.n"), 3);
    call_for(&caller, 400, "GET", "/v1/instances?stand=none", NULL);
    call_for(&caller, 400, "GET", "/v1/instances/counts?by=stand", NULL);
    call_for(&caller, 400, "GET", "/v1/instances/counts?by=key&workflow=a", NULL);
    call_for(&caller, 400, "GET", "/v1/instances/counts?by=stand&workflow=a&q=k", NULL);
    caller_close(&caller);
}

/* Steps of all rows are read with one question: each row has its own. */
TEST(rows_of_a_page_have_each_their_own_steps)
{
    struct caller caller;
    char target[200], key[8];
    caller_open(&caller);
    call_for(&caller, 201, "POST", "/v1/workflows",
             "{workflow: a, version: 1, steps: [{step: one, handler: h}, {fork: both, branches:"
             " [[{step: two, handler: i}], [{step: three, handler: j}]]}]}");
    for (int i = 0; i < 4; i++) {
        snprintf(key, sizeof key, "k%d", i);
        start(&caller, "a", key, "{}");
        struct task_held task = take(&caller, "h");
        snprintf(target, sizeof target, "/v1/tasks/%s/%s", task.id,
                 i == 2 ? "dead" : "complete");
        call_for(&caller, 200, "POST", target, "{\"worker\":\"w\",\"token\":\"%s\"%s}",
                 task.token, i == 2 ? ",\"error\":\"x\"" : "");
    }
    struct task_held task = take(&caller, "i"); /* of k0 */
    CHECK_STR(listed(&caller, "/v1/instances?view=row", "key"), "k3 k2 k1 k0");
    CHECK_STR(text_at(&caller, "items.0.current_steps.0"), "two");
    CHECK_STR(text_at(&caller, "items.0.current_steps.1"), "three");
    CHECK_STR(text_at(&caller, "items.1.why.code"), "failed");
    CHECK_INT(json_array_size(part(&caller, "items.1.current_steps")), 0);
    CHECK_INT(json_array_size(part(&caller, "items.2.current_steps")), 2);
    snprintf(target, sizeof target, "/v1/tasks/%s/complete", task.id);
    call_for(&caller, 200, "POST", target, "{\"worker\":\"w\",\"token\":\"%s\"}", task.token);
    listed(&caller, "/v1/instances?view=row", "key");
    CHECK_INT(json_array_size(part(&caller, "items.2.current_steps")), 2);
    CHECK_INT(json_array_size(part(&caller, "items.3.current_steps")), 1);
    CHECK_STR(text_at(&caller, "items.3.current_steps.0"), "three");
    CHECK_STR(text_at(&caller, "items.3.why.step"), "three");
    caller_close(&caller);
}

TEST(each_status_is_counted_by_the_filters_of_lists)
{
    struct caller caller;
    caller_open(&caller);
    deploy(&caller, "a");
    deploy(&caller, "b");
    start(&caller, "a", "k1", "{}");
    start(&caller, "a", "k2", "{}");
    start(&caller, "b", "k3", "{}");
    call_for(&caller, 201, "POST", "/v1/jobs", "{\"type\":\"t\"}");
    call_for(&caller, 200, "GET", "/v1/instances/counts", NULL);
    CHECK_INT(int_at(&caller, "counts.running.n"), 3);
    CHECK_INT(int_at(&caller, "counts.completed.n"), 0);
    CHECK(json_is_false(part(&caller, "counts.running.is_more")), "%s", caller.text);
    CHECK_INT(json_object_size(part(&caller, "counts")), 10);
    call_for(&caller, 200, "GET", "/v1/instances/counts?workflow=a", NULL);
    CHECK_INT(int_at(&caller, "counts.running.n"), 2);
    call_for(&caller, 200, "GET", "/v1/instances/counts?q=k3", NULL);
    CHECK_INT(int_at(&caller, "counts.running.n"), 1);
    call_for(&caller, 200, "GET", "/v1/jobs/counts?type=t%25", NULL);
    CHECK_INT(int_at(&caller, "counts.pending.n"), 1);
    CHECK_INT(json_object_size(part(&caller, "counts")), 5);
    call_for(&caller, 400, "GET", "/v1/jobs/counts?status=failed", NULL);
    call_for(&caller, 400, "GET", "/v1/instances/counts?limit=1", NULL);
    caller_close(&caller);
}

TEST(a_tag_is_a_filter_that_may_be_given_more_than_once)
{
    struct caller caller;
    caller_open(&caller);
    deploy(&caller, "a");
    call_for(
        &caller, 201, "POST", "/v1/instances",
        "{\"workflow\":\"a\",\"key\":\"k1\",\"tags\":{\"customer\":\"4711\",\"e\":\"x y\"}}");
    call_for(&caller, 201, "POST", "/v1/instances",
             "{\"workflow\":\"a\",\"key\":\"k2\",\"tags\":{\"customer\":\"4711\"}}");
    start(&caller, "a", "k3", "{}");
    call_for(&caller, 201, "POST", "/v1/jobs",
             "{\"jobs\":[{\"type\":\"t\",\"key\":\"j1\",\"tags\":{\"customer\":\"4711\"}},"
             "{\"type\":\"t\",\"key\":\"j2\",\"tags\":{}}]}");
    CHECK_STR(listed(&caller, "/v1/instances?tag=customer:4711", "key"), "k2 k1");
    CHECK_STR(text_at(&caller, "items.0.tags.customer"), "4711");
    CHECK_STR(listed(&caller, "/v1/instances?tag=customer:4711&tag=e:x%20y", "key"), "k1");
    CHECK_STR(listed(&caller,
                     "/v1/instances?view=row&tag=e:x+y&status=active&tag=customer:4711", "key"),
              "k1");
    CHECK_STR(text_at(&caller, "items.0.tags.e"), "x y");
    CHECK_STR(listed(&caller, "/v1/instances?tag=", "key"), "k3 k2 k1");
    CHECK_STR(listed(&caller, "/v1/jobs?tag=customer:4711&view=row", "idempotency_key"), "j1");
    CHECK_STR(text_at(&caller, "items.0.tags.customer"), "4711");
    CHECK_STR(listed(&caller, "/v1/jobs?key=j2", "idempotency_key"), "j2");
    CHECK(json_is_null(part(&caller, "items.0.tags")), "%s", caller.text);
    call_for(&caller, 200, "GET", "/v1/instances/counts?tag=customer:4711", NULL);
    CHECK_INT(int_at(&caller, "counts.running.n"), 2);
    call_for(&caller, 200, "GET", "/v1/jobs/counts?tag=customer:4711", NULL);
    CHECK_INT(int_at(&caller, "counts.pending.n"), 1);
    call_for(&caller, 200, "POST", "/v1/bulk",
             "{\"on\":\"instances\",\"action\":\"pause\",\"dry_run\":true,"
             "\"filter\":{\"tag\":[\"customer:4711\",\"e:x y\"]}}");
    CHECK_INT(int_at(&caller, "matched.n"), 1);
    call_for(&caller, 200, "POST", "/v1/bulk",
             "{\"on\":\"jobs\",\"action\":\"cancel\",\"dry_run\":true,"
             "\"filter\":{\"tag\":\"customer:4711\"}}");
    CHECK_INT(int_at(&caller, "matched.n"), 1);
    static const char *const bad[] = {"[]", "[1]", "1", "[\"a\"]", "\"a\"", "[[\"a:b\"]]"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        call_for(&caller, 400, "POST", "/v1/bulk",
                 "{\"on\":\"jobs\",\"action\":\"cancel\",\"filter\":{\"tag\":%s}}", bad[i]);
    call_for(&caller, 400, "POST", "/v1/bulk",
             "{\"on\":\"dlq\",\"action\":\"requeue\",\"filter\":{\"tag\":[\"a:b\"]}}");
    call_for(&caller, 200, "GET", "/v1/about", NULL);
    CHECK(strstr(caller.text, "\"tags\""), "%s", caller.text);
    caller_close(&caller);
}

/* Claims one task of a type and completes it. */
static void complete_one(struct caller *caller, const char *type)
{
    char id[64], token[64];
    call_for(caller, 200, "POST", "/v1/tasks/claim", "{\"worker\":\"w\",\"types\":[\"%s\"]}",
             type);
    snprintf(id, sizeof id, "%s", text_at(caller, "tasks.0.id"));
    snprintf(token, sizeof token, "%s", text_at(caller, "tasks.0.token"));
    char target[128];
    snprintf(target, sizeof target, "/v1/tasks/%s/complete", id);
    call_for(caller, 200, "POST", target, "{\"worker\":\"w\",\"token\":\"%s\"}", token);
}

/* No index has those that ended well: the newest are looked at. */
TEST(what_ended_well_is_counted_too)
{
    struct caller caller;
    char target[100];
    caller_open(&caller);
    call_for(&caller, 201, "POST", "/v1/jobs", "{\"type\":\"t\"}");
    complete_one(&caller, "t");
    call_for(&caller, 201, "POST", "/v1/jobs", "{\"type\":\"t\"}");
    complete_one(&caller, "t");
    call_for(&caller, 201, "POST", "/v1/jobs", "{\"type\":\"t\"}");
    snprintf(target, sizeof target, "/v1/jobs/%s", text_at(&caller, "id"));
    complete_one(&caller, "t");
    call_for(&caller, 200, "DELETE", target, NULL);
    call_for(&caller, 201, "POST", "/v1/jobs", "{\"type\":\"t\"}");
    call_for(&caller, 200, "GET", "/v1/jobs/counts", NULL);
    CHECK_INT(int_at(&caller, "counts.succeeded.n"), 2);
    CHECK_INT(int_at(&caller, "counts.pending.n"), 1);
    CHECK_INT(int_at(&caller, "counts.cancelled.n"), 0);
    CHECK(json_is_false(part(&caller, "counts.succeeded.is_more")), "%s", caller.text);

    deploy(&caller, "order");
    start(&caller, "order", "o-1", "{}");
    start(&caller, "order", "o-2", "{}");
    complete_one(&caller, "h");
    call_for(&caller, 200, "GET", "/v1/instances/counts", NULL);
    CHECK_INT(int_at(&caller, "counts.completed.n"), 1);
    CHECK_INT(int_at(&caller, "counts.running.n"), 1);
    caller_close(&caller);
}

TEST(names_are_found_by_their_beginning)
{
    struct caller caller;
    char target[100], id[64];
    caller_open(&caller);
    deploy(&caller, "order");
    deploy(&caller, "order_more");
    snprintf(id, sizeof id, "%s", start(&caller, "order", "ord-1", "{}"));
    call_for(&caller, 201, "POST", "/v1/jobs", "{\"type\":\"ordering\",\"key\":\"ord-2\"}");
    CHECK_STR(listed(&caller, "/v1/find?q=ord", "kind"), "instance job workflow workflow type");
    CHECK_STR(listed(&caller, "/v1/find?q=ord", "title"),
              "ord-1 ord-2 order order_more ordering");
    CHECK_STR(text_at(&caller, "items.0.id"), id);
    CHECK_STR(text_at(&caller, "items.0.status"), "running");
    CHECK_STR(listed(&caller, "/v1/find?q=order_", "id"), "order_more");
    snprintf(target, sizeof target, "/v1/find?q=%s", id);
    CHECK_STR(listed(&caller, target, "id"), id);
    snprintf(target, sizeof target, "/v1/find?q=%s", id + strlen(id) - 8);
    CHECK_STR(listed(&caller, target, "id"), id);
    snprintf(target, sizeof target, "/v1/instances?q=%s", id + strlen(id) - 8);
    CHECK_STR(listed(&caller, target, "id"), id);
    snprintf(target, sizeof target, "/v1/instances?q=%s", id + strlen(id) - 7);
    CHECK_STR(listed(&caller, target, "id"), "");
    CHECK_STR(listed(&caller, "/v1/find?q=%25", "id"), "");
    call_for(&caller, 400, "GET", "/v1/find", NULL);
    call_for(&caller, 400, "GET", "/v1/find?q=", NULL);
    caller_close(&caller);
}

TEST(what_no_list_understands_is_refused)
{
    struct caller caller;
    char ids[101 * 37 + 1] = "", target[sizeof ids + 40];
    caller_open(&caller);
    static const char *const bad[] = {
        "/v1/instances?status=nobody",
        "/v1/instances?status=running,",
        "/v1/instances?status=,",
        "/v1/instances?status=leased",
        "/v1/instances?view=rows",
        "/v1/instances?version=0",
        "/v1/instances?version=x",
        "/v1/instances?created_from=yesterday",
        "/v1/instances?created_to=2027-13-01T00:00:00Z",
        "/v1/instances?key=a%25b",
        "/v1/instances?cursor=x",
        "/v1/instances?cursor=-1",
        "/v1/instances?type=a",
        "/v1/instances?due=true",
        "/v1/jobs?due=maybe",
        "/v1/jobs?version=1",
        "/v1/jobs?status=running",
        "/v1/jobs?has=%00",
        "/v1/jobs?tag=nothing",
        "/v1/jobs?tag=:x",
        "/v1/jobs?tag=a%3Db:x",
        "/v1/jobs?tags=a:b",
        "/v1/jobs?limit=1&tag=a:b&limit=1",
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        call(&caller, "GET", bad[i], NULL);
        CHECK(caller.status == 400, "%s: %d %s", bad[i], caller.status, caller.text);
    }
    call_for(&caller, 400, "GET", "/v1/jobs?key=a%25b", NULL);
    CHECK_STR(text_at(&caller, "hint"), "give an exact key, or a prefix such as order-%");
    call_for(&caller, 400, "GET", "/v1/jobs?type=a%25b", NULL);
    CHECK_STR(text_at(&caller, "hint"), "give an exact type, or a prefix such as billing.%");
    for (int i = 0; i < 101; i++)
        snprintf(ids + strlen(ids), 38, "%s%08x-0000-0000-0000-000000000000", i ? "," : "", i);
    snprintf(target, sizeof target, "/v1/jobs?ids=%s", ids);
    call_for(&caller, 400, "GET", target, NULL);
    *strrchr(target, ',') = '\0';
    call_for(&caller, 200, "GET", target, NULL);
    caller_close(&caller);
}
