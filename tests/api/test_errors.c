/* tests/api/test_errors.c - errors in groups, and the records, instances and jobs of a group.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "calling.h"

#include <string.h>

static void advance(struct caller *caller, long long ms)
{
    call_for(caller, 200, "POST", "/v1/clock/advance", "{\"ms\":%lld}", ms);
}

static void end_task(struct caller *caller, const char *type, const char *how,
                     const char *error)
{
    char target[160];
    struct task_held task = take(caller, type);
    snprintf(target, sizeof target, "/v1/tasks/%s/%s", task.id, how);
    call_for(caller, 200, "POST", target,
             "{\"worker\":\"w\",\"token\":\"%s\",\"error\":\"%s\"}", task.token, error);
}

static void kill_task(struct caller *caller, const char *type, const char *error)
{
    end_task(caller, type, "dead", error);
}

static void fail_job(struct caller *caller, const char *type, const char *error)
{
    add_job(caller, type);
    kill_task(caller, type, error);
}

static const char *fail_instance(struct caller *caller, const char *workflow, const char *type,
                                 const char *error)
{
    call_for(caller, 201, "POST", "/v1/instances",
             "{\"workflow\":\"%s\",\"input\":{\"text\":\"%0150d\"}}", workflow, 7);
    const char *id = kept_id(caller);
    kill_task(caller, type, error);
    return id;
}

static void deploy(struct caller *caller, const char *workflow, bool is_dlq)
{
    call_for(caller, 201, "POST", "/v1/workflows",
             "{workflow: %s, version: 1, dlq: %s, steps: [{step: charge, handler: %s.charge},"
             " {step: ship, handler: %s.ship}]}",
             workflow, is_dlq ? "true" : "false", workflow, workflow);
}

/* How many items a list has, over all its pages. */
static int count_items(struct caller *caller, const char *target, int limit)
{
    char page[300], cursor[100] = "";
    int count = 0;
    do {
        snprintf(page, sizeof page, "%s%climit=%d%s%s", target, strchr(target, '?') ? '&' : '?',
                 limit, *cursor ? "&cursor=" : "", cursor);
        call_for(caller, 200, "GET", page, NULL);
        count += (int)json_array_size(part(caller, "items"));
        const char *next = text_at(caller, "next");
        snprintf(cursor, sizeof cursor, "%s", next ? next : "");
    } while (*cursor);
    return count;
}

/* Of the group that the latest answer of errors has at this place. */
static void check_members(struct caller *caller, int place, const char *list, int wanted)
{
    char path[40], target[200];
    snprintf(path, sizeof path, "items.%d.group", place);
    snprintf(target, sizeof target, "%s%cgroup=%s", list, strchr(list, '?') ? '&' : '?',
             text_at(caller, path));
    for (int limit = 1; limit <= wanted + 1; limit++)
        CHECK_INT(count_items(caller, target, limit), wanted);
}

TEST(failed_jobs_are_grouped_by_type_and_error)
{
    struct caller caller;
    caller_open(&caller);
    fail_job(&caller, "mail.v1", "user 17 unknown");
    advance(&caller, 1000);
    fail_job(&caller, "post.v1", "user 17 unknown");
    fail_job(&caller, "mail.v1", "user 18 unknown\\nat line 3");
    fail_job(&caller, "mail.v1", "bounced");
    add_job(&caller, "mail.v1");
    end_task(&caller, "mail.v1", "fail", "user 19 unknown"); /* it is tried again */
    call_for(&caller, 200, "GET", "/v1/errors?of=jobs", NULL);
    CHECK_INT(json_array_size(part(&caller, "items")), 3);
    CHECK_INT(int_at(&caller, "scanned"), 4);
    CHECK(json_is_false(part(&caller, "is_more")), "%s", caller.text);
    CHECK_INT(int_at(&caller, "items.0.n"), 2);
    CHECK_STR(text_at(&caller, "items.0.type"), "mail.v1");
    CHECK(json_is_null(part(&caller, "items.0.workflow")), "%s", caller.text);
    CHECK(json_is_null(part(&caller, "items.0.step")), "%s", caller.text);
    CHECK_STR(text_at(&caller, "items.0.pattern"), "user # unknown");
    CHECK_STR(text_at(&caller, "items.0.sample"), "user 18 unknown\nat line 3");
    CHECK_STR(text_at(&caller, "items.0.first_at"), "2027-01-15T08:00:00.000Z");
    CHECK_STR(text_at(&caller, "items.0.last_at"), "2027-01-15T08:00:01.000Z");
    check_members(&caller, 0, "/v1/jobs", 2);
    CHECK_INT(count_items(&caller, "/v1/jobs?group=000000000000", 5), 0);
    call_for(&caller, 200, "GET", "/v1/errors?of=jobs&type=mail.%25&limit=1", NULL);
    CHECK_INT(json_array_size(part(&caller, "items")), 1);
    CHECK_INT(int_at(&caller, "scanned"), 3);
    check_members(&caller, 0, "/v1/jobs?status=failed,pending&view=row", 3);
    call_for(&caller, 200, "GET", "/v1/errors?of=jobs&since=2027-01-15T08:00:00.500Z", NULL);
    CHECK_INT(int_at(&caller, "items.0.n"), 1);
    CHECK_INT(json_array_size(part(&caller, "items")), 3);
    caller_close(&caller);
}

TEST(failed_instances_are_grouped_by_workflow_step_and_error)
{
    struct caller caller;
    caller_open(&caller);
    deploy(&caller, "order", false);
    deploy(&caller, "other", false);
    fail_instance(&caller, "order", "order.charge", "card 1 refused");
    fail_instance(&caller, "other", "other.charge", "card 2 refused");
    const char *newest = fail_instance(&caller, "order", "order.charge", "card 33 refused");
    call_for(&caller, 200, "GET", "/v1/errors?of=instances", NULL);
    CHECK_INT(json_array_size(part(&caller, "items")), 2);
    CHECK_INT(int_at(&caller, "items.0.n"), 2);
    CHECK_STR(text_at(&caller, "items.0.workflow"), "order");
    CHECK_STR(text_at(&caller, "items.0.step"), "charge");
    CHECK_STR(text_at(&caller, "items.0.pattern"), "card # refused");
    CHECK_STR(text_at(&caller, "items.0.newest"), newest);
    CHECK(json_is_false(part(&caller, "items.0.is_undo")), "%s", caller.text);
    check_members(&caller, 0, "/v1/instances", 2);
    call_for(&caller, 200, "GET", "/v1/errors?of=instances&workflow=other", NULL);
    CHECK_INT(json_array_size(part(&caller, "items")), 1);
    check_members(&caller, 0, "/v1/instances?view=row", 1);
    caller_close(&caller);
}

static void check_preview(struct caller *caller)
{
    size_t len = strlen(text_at(caller, "items.0.input_preview"));
    CHECK(len > 110 && len <= 120, "%zu bytes", len);
}

TEST(dead_letters_are_grouped_and_filtered)
{
    struct caller caller;
    char target[200];
    caller_open(&caller);
    deploy(&caller, "order", true);
    deploy(&caller, "other", true);
    fail_instance(&caller, "order", "order.charge", "card 1 refused");
    const char *second = fail_instance(&caller, "order", "order.charge", "card 2 refused");
    fail_instance(&caller, "other", "other.charge", "card 3 refused");
    call_for(&caller, 200, "GET", "/v1/errors", NULL);
    CHECK_INT(json_array_size(part(&caller, "items")), 2);
    CHECK_INT(int_at(&caller, "items.0.n"), 2);
    CHECK_STR(text_at(&caller, "items.0.workflow"), "order");
    CHECK_STR(text_at(&caller, "items.0.step"), "charge");
    CHECK_STR(text_at(&caller, "items.0.type"), "task");
    CHECK_STR(text_at(&caller, "items.0.newest"), "2");
    check_members(&caller, 0, "/v1/dlq", 2);
    call_for(&caller, 200, "GET", "/v1/errors?of=dlq&workflow=other", NULL);
    check_members(&caller, 0, "/v1/dlq?view=row", 1);
    CHECK_INT(count_items(&caller, "/v1/dlq", 1), 3);
    CHECK_INT(count_items(&caller, "/v1/dlq?view=row", 2), 3);
    CHECK_INT(count_items(&caller, "/v1/dlq?workflow=order", 1), 2);
    CHECK_INT(count_items(&caller, "/v1/dlq?workflow=order&step=ship", 1), 0);
    CHECK_INT(count_items(&caller, "/v1/dlq?step=charge", 2), 3);
    snprintf(target, sizeof target, "/v1/dlq?instance=%s", second);
    CHECK_INT(count_items(&caller, target, 1), 1);
    CHECK_STR(text_at(&caller, "items.0.error"), "card 2 refused");

    call_for(&caller, 200, "GET", "/v1/dlq?workflow=order&limit=1", NULL);
    CHECK_STR(text_at(&caller, "items.0.id"), "2");
    CHECK_INT(strlen(text_at(&caller, "items.0.input.text")), 150);
    call_for(&caller, 200, "GET", "/v1/dlq?view=row&limit=1", NULL);
    CHECK_STR(text_at(&caller, "items.0.workflow_id"), "other/1");
    check_preview(&caller); /* 120, less the blanks of jsonb */
    CHECK(int_at(&caller, "items.0.input_bytes") > 160, "%s", caller.text);
    CHECK(!json_object_get(part(&caller, "items.0"), "input"), "%s", caller.text);
    CHECK(json_is_null(part(&caller, "scanned_to")), "%s", caller.text);
    snprintf(target, sizeof target, "/v1/dlq?view=row&instance=%s", second);
    call_for(&caller, 200, "GET", target, NULL);
    check_preview(&caller); /* 120, less the blanks of jsonb */

    call_for(&caller, 200, "POST", "/v1/dlq/2/requeue", "{}");
    call_for(&caller, 200, "GET", "/v1/errors?workflow=order", NULL);
    CHECK_INT(int_at(&caller, "items.0.n"), 1);
    CHECK_STR(text_at(&caller, "items.0.newest"), "1");
    caller_close(&caller);
}

/* Without another question. */
TEST(what_failed_names_the_group_of_its_error)
{
    struct caller caller;
    char target[200];
    caller_open(&caller);
    deploy(&caller, "order", false);
    const char *id = fail_instance(&caller, "order", "order.charge", "card 17 refused");
    fail_instance(&caller, "order", "order.charge", "card 18 refused");
    fail_job(&caller, "mail.v1", "user 17 unknown");
    call_for(&caller, 200, "GET", "/v1/errors?of=instances", NULL);
    const char *group = text_at(&caller, "items.0.group");
    char wanted[16];
    snprintf(wanted, sizeof wanted, "%s", group);
    snprintf(target, sizeof target, "/v1/instances/%s", id);
    call_for(&caller, 200, "GET", target, NULL);
    CHECK_STR(text_at(&caller, "error_group"), wanted);
    call_for(&caller, 200, "GET", "/v1/instances?view=row", NULL);
    CHECK_STR(text_at(&caller, "items.0.error_group"), wanted);
    CHECK_STR(text_at(&caller, "items.1.error_group"), wanted);

    call_for(&caller, 200, "GET", "/v1/errors?of=jobs", NULL);
    snprintf(wanted, sizeof wanted, "%s", text_at(&caller, "items.0.group"));
    call_for(&caller, 200, "GET", "/v1/jobs?view=row", NULL);
    CHECK_STR(text_at(&caller, "items.0.error_group"), wanted);
    call_for(&caller, 200, "GET", "/v1/jobs", NULL);
    CHECK_STR(text_at(&caller, "items.0.error_group"), wanted);

    /* Nothing has gone wrong, or no longer. */
    snprintf(target, sizeof target, "/v1/instances/%s/restart", id);
    call_for(&caller, 200, "POST", target, NULL);
    add_job(&caller, "post.v1");
    call_for(&caller, 200, "GET", "/v1/jobs?view=row&type=post.v1", NULL);
    CHECK(!json_object_get(part(&caller, "items.0"), "error_group"), "%s", caller.text);
    call_for(&caller, 200, "GET", "/v1/instances?view=row&status=running", NULL);
    CHECK(!json_object_get(part(&caller, "items.0"), "error_group"), "%s", caller.text);
    caller_close(&caller);
}

TEST(an_undo_that_failed_is_a_group_of_its_own)
{
    struct caller caller;
    char target[200];
    caller_open(&caller);
    call_for(&caller, 201, "POST", "/v1/workflows",
             "{workflow: order, version: 1, steps: [{step: charge, compensation: {handler: "
             "uncharge, max_attempts: 1}}, {step: ship}]}");
    call_for(&caller, 201, "POST", "/v1/instances", "{\"workflow\":\"order\"}");
    struct task_held task = take(&caller, "charge");
    snprintf(target, sizeof target, "/v1/tasks/%s/complete", task.id);
    call_for(&caller, 200, "POST", target, "{\"worker\":\"w\",\"token\":\"%s\"}", task.token);
    kill_task(&caller, "ship", "no carrier");
    kill_task(&caller, "uncharge", "bank closed");
    call_for(&caller, 200, "GET", "/v1/errors?of=dlq", NULL);
    CHECK_INT(json_array_size(part(&caller, "items")), 1);
    CHECK_STR(text_at(&caller, "items.0.step"), "charge");
    CHECK(json_is_true(part(&caller, "items.0.is_undo")), "%s", caller.text);
    CHECK_STR(text_at(&caller, "items.0.sample"), "bank closed");
    call_for(&caller, 200, "GET", "/v1/errors?of=instances", NULL);
    CHECK_STR(text_at(&caller, "items.0.step"), "ship");
    CHECK_STR(text_at(&caller, "items.0.sample"), "no carrier");
    caller_close(&caller);
}

TEST(what_makes_no_sense_is_refused)
{
    struct caller caller;
    caller_open(&caller);
    call_for(&caller, 400, "GET", "/v1/errors?of=steps", NULL);
    call_for(&caller, 400, "GET", "/v1/errors?of=jobs&workflow=w", NULL);
    call_for(&caller, 400, "GET", "/v1/errors?of=dlq&type=t", NULL);
    call_for(&caller, 400, "GET", "/v1/errors?of=jobs&type=%25a", NULL);
    call_for(&caller, 400, "GET", "/v1/dlq?group=1", NULL);
    call_for(&caller, 400, "GET", "/v1/jobs?group=9F2C41D07B3E", NULL);
    call_for(&caller, 400, "GET", "/v1/instances?group=9f2c41d07b3ef", NULL);
    call_for(&caller, 200, "GET", "/v1/errors?of=jobs", NULL);
    CHECK_INT(int_at(&caller, "scanned"), 0);
    CHECK_INT(count_items(&caller, "/v1/dlq?instance=nobody", 5), 0);
    caller_close(&caller);
}
