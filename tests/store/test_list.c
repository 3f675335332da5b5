/* tests/store/test_list.c - lists of jobs and instances by every filter, and how far they look.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "flow_rig.h"

#include <stdio.h>
#include <string.h>

/* What a list brought: the rows' keys, in order, with spaces between them, then how it ended. */
static char seen[1024];
static struct list_end seen_end;

static const char *list_of_instances(struct rig *rig, struct list_filter filter, size_t room)
{
    static struct instance_row rows[ROWS_MAX];
    seen[0] = '\0';
    MUST(rig, list_instances(rig->tx, &filter, rows, room, &seen_end, &rig->error));
    for (size_t i = 0; i < seen_end.count; i++)
        snprintf(seen + strlen(seen), sizeof seen - strlen(seen), "%s%s", i ? " " : "",
                 rows[i].key);
    return seen;
}

static const char *list_of_jobs(struct rig *rig, struct list_filter filter, size_t room)
{
    seen[0] = '\0';
    MUST(rig, list_jobs(rig->tx, &filter, rig->rows, room, &seen_end, &rig->error));
    for (size_t i = 0; i < seen_end.count; i++)
        snprintf(seen + strlen(seen), sizeof seen - strlen(seen), "%s%s", i ? " " : "",
                 rig->rows[i].key);
    return seen;
}

#define INSTANCES(room, ...) list_of_instances(rig, (struct list_filter){__VA_ARGS__}, room)
#define JOBS(room, ...) list_of_jobs(rig, (struct list_filter){__VA_ARGS__}, room)

static struct instance_row add_named(struct rig *rig, const char *workflow, const char *key,
                                     enum instance_status status)
{
    struct instance_row row = instance_of(rig, workflow);
    row.key = key;
    row.status = status;
    return add_instance(rig, row);
}

static const char *add_job(struct rig *rig, const char *type, const char *key,
                           enum job_status status)
{
    struct job_row row = job_of(rig, type);
    row.key = key;
    row.status = status;
    row.is_ready = status == JOB_PENDING;
    if (status == JOB_LEASED) {
        row.leased_by = "w";
        row.token = "t";
        row.lease_until_us = RIG_START_US + US_PER_MIN;
    }
    return add(rig, row);
}

/* ---- statuses ------------------------------------------------------------------------------- */

TEST(instances_of_several_statuses_are_one_list)
{
    cleanup(rig_closep) struct rig *rig = rig_open();
    static const enum instance_status turns[] = {INSTANCE_RUNNING, INSTANCE_COMPLETED,
                                                 INSTANCE_FAILED, INSTANCE_DLQ};
    char key[8], failed[256] = "", both[256] = "", of_a[256] = "";
    begin_write(rig);
    for (int i = 39; i >= 0; i--) {
        snprintf(key, sizeof key, "k%d", i);
        add_named(rig, i % 3 ? "a" : "b", key, turns[i % 4]);
    }
    for (int i = 0; i < 40; i++) {
        bool is_failed = turns[i % 4] == INSTANCE_FAILED;
        bool is_both = is_failed || turns[i % 4] == INSTANCE_COMPLETED;
        if (is_failed)
            snprintf(failed + strlen(failed), 8, " k%d", i);
        if (is_both)
            snprintf(both + strlen(both), 8, " k%d", i);
        if (is_both && i % 3)
            snprintf(of_a + strlen(of_a), 8, " k%d", i);
    }
    uint32_t two = STATUS_BIT(INSTANCE_FAILED) | STATUS_BIT(INSTANCE_COMPLETED);
    CHECK_STR(INSTANCES(ROWS_MAX, .statuses = STATUS_BIT(INSTANCE_FAILED)), failed + 1);
    CHECK_STR(INSTANCES(ROWS_MAX, .statuses = two), both + 1);
    CHECK_STR(INSTANCES(ROWS_MAX, .statuses = two, .workflow = "a"), of_a + 1);
    CHECK(seen_end.next == 0 && seen_end.scanned_to_us == 0, "it did not end");

    /* Page by page it is the same list. */
    char pages[2048] = "";
    int64_t before = 0;
    do {
        INSTANCES(3, .statuses = two, .workflow = "a", .before_seq = before);
        snprintf(pages + strlen(pages), sizeof pages - strlen(pages), " %.99s", seen);
        before = seen_end.next;
    } while (before && seen_end.count);
    CHECK(strncmp(pages, of_a, strlen(of_a)) == 0, "%s, not %s", pages, of_a);
}

TEST(jobs_of_several_statuses_are_one_list)
{
    cleanup(rig_closep) struct rig *rig = rig_open();
    begin_write(rig);
    add_job(rig, "a", "f1", JOB_FAILED);
    add_job(rig, "b", "s1", JOB_SUCCEEDED);
    add_job(rig, "a", "p1", JOB_PENDING);
    add_job(rig, "a", "c1", JOB_CANCELLED);
    add_job(rig, "b", "l1", JOB_LEASED);
    add_job(rig, "a", "f2", JOB_FAILED);
    CHECK_STR(JOBS(9, .statuses = STATUS_BIT(JOB_FAILED)), "f2 f1");
    CHECK_STR(JOBS(9, .statuses = STATUS_BIT(JOB_FAILED) | STATUS_BIT(JOB_CANCELLED)),
              "f2 c1 f1");
    CHECK_STR(JOBS(9, .statuses = STATUS_BIT(JOB_PENDING) | STATUS_BIT(JOB_LEASED)), "l1 p1");
    CHECK_STR(JOBS(9, .statuses = STATUS_BIT(JOB_SUCCEEDED) | STATUS_BIT(JOB_LEASED)), "l1 s1");
    CHECK_STR(JOBS(9, .statuses = STATUS_BIT(JOB_SUCCEEDED) | STATUS_BIT(JOB_LEASED),
                   .pattern = "a%"),
              "");
    CHECK_STR(JOBS(9, .version = 0), "f2 l1 c1 p1 s1 f1");
}

TEST(pending_jobs_are_due_or_not)
{
    cleanup(rig_closep) struct rig *rig = rig_open();
    begin_write(rig);
    struct job_row later = job_of(rig, "a");
    later.key = "later";
    later.is_ready = false;
    later.run_at_us += US_PER_MIN;
    add(rig, later);
    add_job(rig, "a", "now", JOB_PENDING);
    add_job(rig, "a", "failed", JOB_FAILED);
    CHECK_STR(JOBS(9, .due = DUE_NOW), "now");
    CHECK_STR(JOBS(9, .due = DUE_LATER), "later");
    CHECK_STR(JOBS(9, .due = DUE_LATER, .statuses = STATUS_BIT(JOB_FAILED)), "");
}

TEST(each_status_is_counted)
{
    cleanup(rig_closep) struct rig *rig = rig_open();
    struct list_count counts[INSTANCE_STATUS_COUNT];
    struct list_filter filter = {0};
    begin_write(rig);
    for (int i = 0; i < 12; i++)
        add_named(rig, i % 3 ? "a" : "b", NULL, i % 4 ? INSTANCE_COMPLETED : INSTANCE_RUNNING);
    add_job(rig, "a", NULL, JOB_FAILED);
    add_job(rig, "a", NULL, JOB_SUCCEEDED);
    add_job(rig, "b", NULL, JOB_SUCCEEDED);
    MUST(rig, list_counts(rig->tx, LIST_INSTANCES, &filter, counts, &rig->error));
    CHECK_INT(counts[INSTANCE_COMPLETED].n, 9);
    CHECK_INT(counts[INSTANCE_RUNNING].n, 3);
    CHECK_INT(counts[INSTANCE_FAILED].n, 0);
    CHECK(!counts[INSTANCE_COMPLETED].is_more && !counts[INSTANCE_RUNNING].is_more, "more");
    filter.workflow = "b";
    MUST(rig, list_counts(rig->tx, LIST_INSTANCES, &filter, counts, &rig->error));
    CHECK_INT(counts[INSTANCE_COMPLETED].n, 3);
    CHECK_INT(counts[INSTANCE_RUNNING].n, 1);
    filter = (struct list_filter){.pattern = "a"};
    MUST(rig, list_counts(rig->tx, LIST_JOBS, &filter, counts, &rig->error));
    CHECK_INT(counts[JOB_FAILED].n, 1);
    CHECK_INT(counts[JOB_SUCCEEDED].n, 1);
    filter = (struct list_filter){.statuses = STATUS_BIT(JOB_SUCCEEDED)};
    MUST(rig, list_counts(rig->tx, LIST_JOBS, &filter, counts, &rig->error));
    CHECK_INT(counts[JOB_FAILED].n, 0);
    CHECK_INT(counts[JOB_SUCCEEDED].n, 2);
}

#define TAGGED(...)                            \
    .tags = (const struct tag[]){__VA_ARGS__}, \
    .tag_count = sizeof((const struct tag[]){__VA_ARGS__}) / sizeof(struct tag)

static struct list_count count_of(struct rig *rig, enum list_kind kind, int status,
                                  struct list_filter filter)
{
    struct list_count counts[INSTANCE_STATUS_COUNT];
    MUST(rig, list_counts(rig->tx, kind, &filter, counts, &rig->error));
    return counts[status];
}

#define COUNT(kind, status, ...) count_of(rig, kind, status, (struct list_filter){__VA_ARGS__})

/* What no index has is counted among the newest, and the answer says that there may be more. */
TEST(what_no_index_has_is_counted_as_far_as_it_is_looked_at)
{
    cleanup(rig_closep) struct rig *rig = rig_open();
    begin_write(rig);
    for (int i = 0; i < 12; i++) {
        struct instance_row row = instance_of(rig, i % 3 ? "a" : "b");
        row.version = 1 + i % 2;
        row.status = i < 8 ? INSTANCE_COMPLETED : INSTANCE_RUNNING;
        row.created_at_us = RIG_START_US + i * 60 * US_PER_MIN;
        add_instance(rig, row);
    }
    CHECK_INT(COUNT(LIST_INSTANCES, INSTANCE_COMPLETED, .version = 2).n, 4);
    CHECK_INT(COUNT(LIST_INSTANCES, INSTANCE_RUNNING, .version = 2).n, 2);
    CHECK(!COUNT(LIST_INSTANCES, INSTANCE_COMPLETED, .version = 2).is_more, "more");
    struct list_count cut =
        COUNT(LIST_INSTANCES, INSTANCE_COMPLETED, .version = 2, .scan_max = 6);
    CHECK_INT(cut.n, 1);
    CHECK(cut.is_more, "it has looked at 6 of 12");

    /* Of one workflow each status is walked by itself. */
    CHECK_INT(COUNT(LIST_INSTANCES, INSTANCE_COMPLETED, .version = 2, .workflow = "b").n, 1);
    CHECK_INT(COUNT(LIST_INSTANCES, INSTANCE_RUNNING, .version = 2, .workflow = "b").n, 1);
    CHECK(!COUNT(LIST_INSTANCES, INSTANCE_RUNNING, .version = 2, .workflow = "b").is_more,
          "more");
    cut =
        COUNT(LIST_INSTANCES, INSTANCE_COMPLETED, .version = 2, .workflow = "a", .scan_max = 3);
    CHECK(cut.is_more, "it has looked at 3 of 8");

    /* Created in a time: both ends are included, and those within the margin of clocks are left out. */
    int64_t from_us = RIG_START_US + 2 * 60 * US_PER_MIN, to_us = from_us + 2 * 60 * US_PER_MIN;
    CHECK_INT(COUNT(LIST_INSTANCES, INSTANCE_COMPLETED, .from_us = from_us, .to_us = to_us).n,
              3);
    CHECK_INT(
        COUNT(LIST_INSTANCES, INSTANCE_COMPLETED, .from_us = from_us + 1, .to_us = to_us - 1).n,
        1);
    CHECK_INT(COUNT(LIST_INSTANCES, INSTANCE_COMPLETED, .from_us = from_us + 1,
                    .to_us = to_us - 1, .workflow = "b")
                  .n,
              1);
}

TEST(jobs_are_counted_by_type_and_by_what_is_due)
{
    cleanup(rig_closep) struct rig *rig = rig_open();
    begin_write(rig);
    for (int i = 0; i < 12; i++) {
        struct job_row row = job_of(rig, i % 3 ? "mail.a" : "post.b");
        row.is_ready = i % 4 != 0;
        row.run_at_us += row.is_ready ? 0 : US_PER_MIN;
        row.tags = i % 2 ? "{\"team\":\"x\"}" : NULL;
        add(rig, row);
    }
    add_job(rig, "mail.a", NULL, JOB_SUCCEEDED);
    add_job(rig, "mail.a", NULL, JOB_FAILED);
    add_job(rig, "post.b", NULL, JOB_LEASED);
    CHECK_INT(COUNT(LIST_JOBS, JOB_PENDING, .version = 0).n, 12);
    CHECK_INT(COUNT(LIST_JOBS, JOB_LEASED, .version = 0).n, 1);
    CHECK_INT(COUNT(LIST_JOBS, JOB_PENDING, .pattern = "mail.%").n, 8);
    CHECK_INT(COUNT(LIST_JOBS, JOB_SUCCEEDED, .pattern = "mail.a").n, 1);
    CHECK_INT(COUNT(LIST_JOBS, JOB_PENDING, .due = DUE_NOW).n, 9);
    CHECK_INT(COUNT(LIST_JOBS, JOB_PENDING, .due = DUE_LATER).n, 3);
    CHECK_INT(COUNT(LIST_JOBS, JOB_FAILED, .due = DUE_LATER).n, 0);
    CHECK_INT(COUNT(LIST_JOBS, JOB_PENDING, .due = DUE_LATER, .pattern = "post.b").n, 1);
    CHECK_INT(COUNT(LIST_JOBS, JOB_PENDING, TAGGED({"team", "x"})).n, 6);
    CHECK_INT(COUNT(LIST_JOBS, JOB_PENDING, TAGGED({"team", "x"}), .pattern = "post.b").n, 2);
    CHECK(COUNT(LIST_JOBS, JOB_PENDING, .due = DUE_NOW, .scan_max = 5).is_more,
          "it has seen 5");
}

/* ---- tags ----------------------------------------------------------------------------------- */

static void tag_instance(struct rig *rig, const char *key, const char *tags,
                         enum instance_status status)
{
    struct instance_row row = instance_of(rig, "w");
    row.key = key;
    row.status = status;
    row.tags = tags;
    add_instance(rig, row);
}

static void tag_job(struct rig *rig, const char *key, const char *tags)
{
    struct job_row row = job_of(rig, "t");
    row.key = key;
    row.tags = tags;
    add(rig, row);
}

TEST(instances_are_found_by_their_tags)
{
    cleanup(rig_closep) struct rig *rig = rig_open();
    begin_write(rig);
    tag_instance(rig, "i1", "{\"a\":\"1\",\"b\":\"2\"}", INSTANCE_RUNNING);
    tag_instance(rig, "i2", "{\"a\":\"1\"}", INSTANCE_FAILED);
    tag_instance(rig, "i3", NULL, INSTANCE_RUNNING);
    tag_instance(rig, "i4", "{\"b\":\"2\",\"a\":\"1\",\"c\":\"3\"}", INSTANCE_RUNNING);
    tag_instance(rig, "i5", "{\"b\":\"2\"}", INSTANCE_RUNNING);
    tag_job(rig, "j1", "{\"a\":\"1\"}");
    CHECK_STR(INSTANCES(9, TAGGED({"a", "1"})), "i4 i2 i1");
    CHECK_STR(INSTANCES(9, TAGGED({"a", "1"}, {"b", "2"})), "i4 i1");
    CHECK_STR(INSTANCES(9, TAGGED({"b", "2"}, {"c", "3"}, {"a", "1"})), "i4");
    CHECK_STR(INSTANCES(9, TAGGED({"a", "2"})), "");
    CHECK_STR(INSTANCES(9, TAGGED({"1", "a"})), "");
    CHECK_STR(INSTANCES(9, TAGGED({"a", "1"}), .statuses = STATUS_BIT(INSTANCE_FAILED)), "i2");
    CHECK_STR(INSTANCES(9, TAGGED({"a", "1"}), .workflow = "v"), "");
    CHECK_STR(INSTANCES(9, TAGGED({"a", "1"}), .key = "i%"), "i4 i2 i1");
    CHECK_STR(INSTANCES(9, TAGGED({"a", "1"}), .key = "i3"), "");
    CHECK_STR(INSTANCES(2, TAGGED({"a", "1"})), "i4 i2");
    CHECK_STR(INSTANCES(2, TAGGED({"a", "1"}), .before_seq = seen_end.next), "i1");
    CHECK_INT(seen_end.next, 0);
    CHECK_STR(JOBS(9, TAGGED({"a", "1"})), "j1");
}

TEST(what_has_a_tag_is_counted)
{
    cleanup(rig_closep) struct rig *rig = rig_open();
    struct list_count counts[INSTANCE_STATUS_COUNT];
    struct list_filter filter = {TAGGED({"a", "1"})};
    begin_write(rig);
    for (int i = 0; i < 7; i++)
        tag_instance(rig, NULL, i % 2 ? "{\"a\":\"1\"}" : NULL,
                     i < 4 ? INSTANCE_RUNNING : INSTANCE_COMPLETED);
    MUST(rig, list_counts(rig->tx, LIST_INSTANCES, &filter, counts, &rig->error));
    CHECK_INT(counts[INSTANCE_RUNNING].n, 2);
    CHECK_INT(counts[INSTANCE_COMPLETED].n, 1);
    CHECK(!counts[INSTANCE_COMPLETED].is_more, "there are no more");
}

/* Those without a parent have no index of their own: the filter is one of those that are looked at. */
TEST(instances_without_a_parent_are_listed_and_counted)
{
    cleanup(rig_closep) struct rig *rig = rig_open();
    begin_write(rig);
    struct instance_row first = add_named(rig, "w", "p1", INSTANCE_RUNNING);
    static const char *const keys[] = {"c1", "c2", "p2", "c3"};
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) {
        struct instance_row row = instance_of(rig, i < 2 ? "v" : "w");
        row.key = keys[i];
        row.status = i == 1 ? INSTANCE_COMPLETED : INSTANCE_RUNNING;
        row.parent = keys[i][0] == 'c' ? first.id : NULL;
        row.tags = "{\"a\":\"1\"}";
        add_instance(rig, row);
    }
    CHECK_STR(INSTANCES(9, .is_root = true), "p2 p1");
    CHECK_STR(INSTANCES(9, .parent = first.id), "c3 c2 c1");
    CHECK_STR(INSTANCES(1, .is_root = true), "p2");
    CHECK_STR(INSTANCES(9, .is_root = true, .before_seq = seen_end.next), "p1");
    CHECK_STR(INSTANCES(9, .is_root = true, .workflow = "v"), "");
    CHECK_STR(INSTANCES(9, .is_root = true, TAGGED({"a", "1"})), "p2");
    CHECK_STR(INSTANCES(9, .is_root = true, .key = "%"), "p2 p1");
    CHECK_STR(INSTANCES(9, .is_root = true, .scan_max = 1), "p2 p1"); /* a portion is more */
    CHECK_INT(COUNT(LIST_INSTANCES, INSTANCE_RUNNING, .is_root = true).n, 2);
    CHECK_INT(COUNT(LIST_INSTANCES, INSTANCE_COMPLETED, .is_root = true).n, 0);
    CHECK_INT(COUNT(LIST_INSTANCES, INSTANCE_RUNNING, .is_root = true, .workflow = "w").n, 2);
    CHECK_INT(COUNT(LIST_INSTANCES, INSTANCE_RUNNING, .is_root = true, .workflow = "v").n, 0);
    CHECK_INT(COUNT(LIST_INSTANCES, INSTANCE_RUNNING, .is_root = true, TAGGED({"a", "1"})).n,
              1);
    CHECK_INT(COUNT(LIST_INSTANCES, INSTANCE_RUNNING, .is_root = true, .key = "c%").n, 0);
}

/* An instance with one open step. */
static void stand_at(struct rig *rig, const char *key, struct step_row like)
{
    struct instance_row instance = instance_of(rig, "f");
    instance.key = key;
    instance = add_instance(rig, instance);
    struct step_row step = step_of(&instance, 0);
    step.status = like.status;
    step.kind = like.kind ? like.kind : KIND_TASK;
    step.attempts = like.attempts;
    step.next_run_at_us = like.next_run_at_us;
    step.locked_by = like.locked_by;
    step.token = like.locked_by ? "t" : NULL;
    step.locked_until_us = like.locked_until_us;
    step.due_at_us = like.locked_until_us;
    step.deadline_at_us = like.deadline_at_us;
    add_step(rig, step);
}

static struct list_count stand_of(struct rig *rig, enum stand stand, struct list_filter filter)
{
    struct list_count counts[STAND_COUNT];
    MUST(rig, list_stands(rig->tx, &filter, counts, &rig->error));
    return counts[stand];
}

TEST(instances_are_listed_and_counted_by_where_they_stand)
{
    cleanup(rig_closep) struct rig *rig = rig_open();
    begin_write(rig);
    int64_t later_us = RIG_START_US + US_PER_MIN;
    stand_at(rig, "ready",
             (struct step_row){.status = STEP_READY, .next_run_at_us = RIG_START_US});
    stand_at(rig, "leased",
             (struct step_row){
                 .status = STEP_RUNNING, .locked_by = "w", .locked_until_us = later_us});
    stand_at(rig, "lost",
             (struct step_row){
                 .status = STEP_RUNNING, .locked_by = "w", .locked_until_us = RIG_START_US});
    stand_at(
        rig, "again",
        (struct step_row){.status = STEP_READY, .attempts = 1, .next_run_at_us = later_us});
    stand_at(rig, "back", (struct step_row){.status = STEP_READY, .next_run_at_us = later_us});
    stand_at(rig, "sleep",
             (struct step_row){
                 .status = STEP_WAITING, .kind = KIND_SLEEP, .deadline_at_us = later_us});
    stand_at(rig, "child", (struct step_row){.status = STEP_WAITING, .kind = KIND_START});
    stand_at(rig, "human",
             (struct step_row){.status = STEP_WAITING_DECISION, .kind = KIND_HUMAN});
    add_named(rig, "f", "signal", INSTANCE_WAITING_SIGNAL);
    add_named(rig, "f", "paused", INSTANCE_PAUSED);
    add_named(rig, "f", "done", INSTANCE_COMPLETED);
    add_named(rig, "g", "other", INSTANCE_WAITING_SIGNAL);
    struct instance_row sleeper = instance_of(rig, "f"); /* no step needs to be looked at */
    sleeper.key = "function";
    sleeper.is_function = true;
    sleeper.sleep_count = 1;
    add_instance(rig, sleeper);

    CHECK_STR(INSTANCES(9, .stand = STAND_LOST), "lost");
    CHECK_STR(INSTANCES(9, .stand = STAND_RUNNING), "back leased ready");
    CHECK_STR(INSTANCES(9, .stand = STAND_RETRYING), "again");
    CHECK_STR(INSTANCES(9, .stand = STAND_SLEEPING), "function sleep");
    CHECK_STR(INSTANCES(9, .stand = STAND_WAITING), "other signal human child");
    CHECK_STR(INSTANCES(9, .stand = STAND_WAITING, .workflow = "g"), "other");
    CHECK_STR(
        INSTANCES(9, .stand = STAND_WAITING, .statuses = STATUS_BIT(INSTANCE_WAITING_SIGNAL)),
        "other signal");
    CHECK_STR(INSTANCES(9, .stand = STAND_WAITING, .statuses = STATUS_BIT(INSTANCE_PAUSED)),
              "");
    CHECK_STR(INSTANCES(2, .stand = STAND_RUNNING), "back leased");
    CHECK_STR(INSTANCES(2, .stand = STAND_RUNNING, .before_seq = seen_end.next), "ready");

    static const size_t wanted[STAND_COUNT] = {[STAND_LOST] = 1,
                                               [STAND_RUNNING] = 3,
                                               [STAND_RETRYING] = 1,
                                               [STAND_SLEEPING] = 2,
                                               [STAND_WAITING] = 3};
    struct list_filter of_f = {.workflow = "f"};
    for (int stand = 1; stand < STAND_COUNT; stand++) {
        CHECK_INT(stand_of(rig, (enum stand)stand, of_f).n, wanted[stand]);
        CHECK(!stand_of(rig, (enum stand)stand, of_f).is_more, "all were looked at");
    }
    of_f.version = 2;
    CHECK_INT(stand_of(rig, STAND_RUNNING, of_f).n, 0);
    of_f = (struct list_filter){.workflow = "f", .scan_max = 7};
    CHECK_INT(stand_of(rig, STAND_RUNNING, of_f).n, 2); /* the newest 8 of 9 that run */
    CHECK(stand_of(rig, STAND_RUNNING, of_f).is_more, "one was not looked at");
    of_f = (struct list_filter){.workflow = "f", .is_root = true, .from_us = later_us};
    CHECK_INT(stand_of(rig, STAND_RUNNING, of_f).n, 0);
}

/* The frequent tag is given first; a walk of it would be cut before it comes to the rare one. */
TEST(the_rarest_tag_is_walked)
{
    cleanup(rig_closep) struct rig *rig = rig_open();
    begin_write(rig);
    tag_job(rig, "rare", "{\"often\":\"1\",\"rare\":\"1\"}");
    for (int i = 0; i < 60; i++)
        tag_job(rig, NULL, "{\"often\":\"1\"}");
    CHECK_STR(JOBS(9, TAGGED({"often", "1"}, {"rare", "1"}), .scan_max = 20), "rare");
    CHECK_INT(seen_end.scanned_to_us, 0);
    CHECK_STR(JOBS(9, TAGGED({"rare", "1"}, {"often", "1"}), .scan_max = 20), "rare");
}

/* ---- names ---------------------------------------------------------------------------------- */

TEST(instances_are_found_by_id_key_and_the_beginning_of_either)
{
    cleanup(rig_closep) struct rig *rig = rig_open();
    char prefix[14];
    begin_write(rig);
    struct instance_row one = add_named(rig, "a", "order-1", INSTANCE_RUNNING);
    add_named(rig, "b", "order-1", INSTANCE_COMPLETED);
    add_named(rig, "a", "order-2", INSTANCE_RUNNING);
    add_named(rig, "a", "Order-3", INSTANCE_RUNNING);
    struct instance_row umlaut = add_named(rig, "a", "orde\xc3\xbc", INSTANCE_FAILED);
    const char *ids[] = {umlaut.id, one.id, "00000000-0000-0000-0000-000000000001"};
    CHECK_STR(INSTANCES(9, .key = "order-1"), "order-1 order-1");
    CHECK_STR(INSTANCES(9, .key = "order-1", .workflow = "b"), "order-1");
    CHECK_STR(INSTANCES(9, .key = "order-%"), "order-2 order-1 order-1");
    CHECK_STR(INSTANCES(1, .key = "order-%", .before_seq = one.seq + 1), "order-1");
    CHECK_STR(INSTANCES(9, .key = "orde%"), "orde\xc3\xbc order-2 order-1 order-1");
    CHECK_STR(INSTANCES(9, .key = "%"), "orde\xc3\xbc Order-3 order-2 order-1 order-1");
    CHECK_STR(INSTANCES(9, .key = "order"), "");
    CHECK_STR(INSTANCES(9, .q = "order-1"), "order-1 order-1");
    CHECK_STR(INSTANCES(9, .q = "orde", .statuses = STATUS_BIT(INSTANCE_FAILED)),
              "orde\xc3\xbc");
    CHECK_STR(INSTANCES(9, .q = one.id), "order-1");
    CHECK_STR(INSTANCES(9, .ids = ids, .id_count = 3), "orde\xc3\xbc order-1");
    CHECK_STR(INSTANCES(9, .ids = ids, .id_count = 3, .q = "order"), "order-1");
    CHECK_STR(INSTANCES(9, .ids = ids, .id_count = 0), "");

    /* All ids of a moment begin alike; the whole crowd is found. */
    snprintf(prefix, sizeof prefix, "%.8s", one.id);
    INSTANCES(9, .q = prefix);
    CHECK(seen_end.count >= 1, "%s is the beginning of no id", prefix);
    CHECK_STR(INSTANCES(9, .q = "' OR 1=1 --"), "");
    CHECK_STR(INSTANCES(9, .q = "%"), "");
}

TEST(jobs_are_found_by_id_key_and_the_beginning_of_either)
{
    cleanup(rig_closep) struct rig *rig = rig_open();
    begin_write(rig);
    const char *id = add_job(rig, "a", "k-1", JOB_SUCCEEDED);
    add_job(rig, "a", "k-2", JOB_PENDING);
    add_job(rig, "a", "l", JOB_PENDING);
    CHECK_STR(JOBS(9, .key = "k-%"), "k-2 k-1");
    CHECK_STR(JOBS(9, .q = "k-"), "k-2 k-1");
    CHECK_STR(JOBS(9, .q = id), "k-1");
    CHECK_STR(JOBS(9, .ids = &id, .id_count = 1), "k-1");
    CHECK_STR(JOBS(9, .key = "k-%", .statuses = STATUS_BIT(JOB_PENDING)), "k-2");
}

/* ---- scans ---------------------------------------------------------------------------------- */

TEST(a_text_is_found_in_inputs_payloads_and_errors)
{
    cleanup(rig_closep) struct rig *rig = rig_open();
    begin_write(rig);
    struct instance_row row = instance_of(rig, "a");
    row.key = "in";
    row.input = "{\"to\": \"Atlantis\"}";
    add_instance(rig, row);
    row = instance_of(rig, "a");
    row.key = "out";
    row.last_error = "{\"step\": \"s\", \"message\": \"no Atlantis\"}";
    row.version = 7;
    add_instance(rig, row);
    add_named(rig, "a", "none", INSTANCE_RUNNING);
    struct job_row job = job_of(rig, "t");
    job.key = "job";
    job.payload = "[\"100%\"]";
    add(rig, job);
    job = job_of(rig, "t");
    job.key = "error";
    job.last_error = "100% wrong";
    add(rig, job);
    CHECK_STR(INSTANCES(9, .has = "Atlantis"), "out in");
    CHECK_STR(INSTANCES(9, .has = "atlantis"), "");
    CHECK_STR(INSTANCES(9, .has = "Atlantis", .version = 7), "out");
    CHECK_STR(INSTANCES(9, .version = 8), "");
    CHECK_STR(JOBS(9, .has = "100%"), "error job");
    CHECK_STR(JOBS(9, .has = "10_%"), "");
}

TEST(a_long_search_says_how_far_it_came_and_goes_on_there)
{
    cleanup(rig_closep) struct rig *rig = rig_open();
    char key[8], found[256] = "";
    int pages = 0;
    int64_t before = 0, first_us = 0;
    begin_write(rig);
    for (int i = 0; i < 60; i++) {
        struct instance_row row = instance_of(rig, i % 2 ? "a" : "b");
        snprintf(key, sizeof key, "k%d", i);
        row.key = key;
        row.version = i % 20 == 1 ? 2 : 1;
        row.created_at_us = RIG_START_US + i * US_PER_SEC;
        first_us = i ? first_us : row.created_at_us;
        add_instance(rig, row);
    }
    do {
        INSTANCES(9, .version = 2, .scan_max = 16, .before_seq = before);
        snprintf(found + strlen(found), sizeof found - strlen(found), "%.30s;", seen);
        if (seen_end.next)
            CHECK(seen_end.scanned_to_us >= first_us, "it does not say how far it came");
        CHECK(!before || seen_end.next < before, "it does not go on");
        before = seen_end.next;
        pages++;
    } while (before);
    CHECK_STR(found, ";k41;k21;k1;");
    CHECK_INT(pages, 4);
    CHECK_INT(seen_end.scanned_to_us, 0);
    CHECK_STR(INSTANCES(9, .version = 2, .workflow = "a", .scan_max = 16), "k41");
    CHECK_STR(INSTANCES(9, .version = 2), "k41 k21 k1");
}

TEST(a_list_is_of_what_was_created_in_a_time)
{
    cleanup(rig_closep) struct rig *rig = rig_open();
    char key[8];
    begin_write(rig);
    for (int i = 0; i < 30; i++) {
        struct instance_row row = instance_of(rig, "a");
        struct job_row job = job_of(rig, "t");
        snprintf(key, sizeof key, "k%d", i);
        row.key = job.key = key;
        row.created_at_us = job.created_at_us = RIG_START_US + i * 10 * US_PER_MIN;
        add_instance(rig, row);
        add(rig, job);
    }
    int64_t tenth = RIG_START_US + 10 * 10 * US_PER_MIN;
    int64_t twelfth = tenth + 20 * US_PER_MIN;
    CHECK_STR(INSTANCES(9, .from_us = tenth, .to_us = twelfth), "k12 k11 k10");
    CHECK_STR(INSTANCES(9, .from_us = tenth + 1, .to_us = twelfth - 1), "k11");
    CHECK_STR(INSTANCES(2, .to_us = tenth), "k10 k9");
    CHECK_STR(INSTANCES(9, .from_us = RIG_START_US + 28 * 10 * US_PER_MIN), "k29 k28");
    CHECK_STR(INSTANCES(9, .to_us = RIG_START_US - 1), "");
    CHECK_STR(INSTANCES(9, .from_us = RIG_START_US + 999 * 10 * US_PER_MIN), "");
    CHECK_STR(INSTANCES(9, .from_us = tenth, .to_us = twelfth, .workflow = "b"), "");
    CHECK_STR(INSTANCES(9, .from_us = tenth, .to_us = twelfth, .key = "k1%"), "k12 k11 k10");
    CHECK_STR(JOBS(9, .from_us = tenth, .to_us = twelfth), "k12 k11 k10");
    CHECK_STR(JOBS(1, .to_us = twelfth), "k12");
}

/* ---- rows without payloads ------------------------------------------------------------------ */

TEST(a_list_of_rows_has_the_beginning_of_payloads_and_their_lengths)
{
    cleanup(rig_closep) struct rig *rig = rig_open();
    struct instance_row rows[2];
    char *text = arena_printf(&rig->arena, "\"%0200d\"", 7);
    struct list_filter filter = {.is_row = true};
    begin_write(rig);
    struct instance_row row = instance_of(rig, "a");
    row.input = text;
    row.output = "[1]";
    row.metadata = "{}";
    add_instance(rig, row);
    struct job_row job = job_of(rig, "t");
    job.payload = text;
    job.status = JOB_SUCCEEDED;
    job.is_ready = false;
    job.result = "12345";
    add(rig, job);
    MUST(rig, list_instances(rig->tx, &filter, rows, 2, &seen_end, &rig->error));
    CHECK_INT(rows[0].input_bytes, 202);
    CHECK_INT(rows[0].output_bytes, 3);
    CHECK(strncmp(rows[0].input, text, 120) == 0 && strlen(rows[0].input) < 202, "%s",
          rows[0].input);
    CHECK(!rows[0].output && !rows[0].metadata, "a payload is there");
    MUST(rig, list_jobs(rig->tx, &filter, rig->rows, 2, &seen_end, &rig->error));
    CHECK_INT(rig->rows[0].payload_bytes, 202);
    CHECK_INT(rig->rows[0].result_bytes, 5);
    CHECK(strlen(rig->rows[0].payload) < 202 && !rig->rows[0].result, "a payload is there");

    filter.is_row = false;
    MUST(rig, list_instances(rig->tx, &filter, rows, 2, &seen_end, &rig->error));
    CHECK_STR(rows[0].input, text);
    CHECK_STR(rows[0].output, "[1]");
}
