/* tests/store/test_limit.c - limits, what is spent of them, leases that count, and lanes.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "rig.h"

#include <string.h>

static struct limit_row limit(const char *name, const char *types)
{
    return (struct limit_row){.name = name,
                              .types = types,
                              .concurrency = 3,
                              .rate_n = 5,
                              .rate_per_ms = 60000,
                              .is_per_group = true,
                              .created_at_us = RIG_START_US,
                              .updated_at_us = RIG_START_US};
}

static void put(struct rig *rig, struct limit_row row)
{
    MUST(rig, rig->ops->put_limit(rig->tx, &row, &rig->error));
}

static void add_to(struct rig *rig, const char *type, const char *group)
{
    struct job_row row = job_of(rig, type);
    row.group = group;
    add(rig, row);
    if (*group)
        MUST(rig, rig->ops->add_group_types(rig->tx, &type, 1, &rig->error));
}

/* "a:g b:": the lanes of a claim, in order of type and group, as the stores list them. */
static void check_lanes(struct rig *rig, const char *from, const char *to, size_t each,
                        const char *wanted)
{
    static const char *const all[] = {"%"};
    struct job_claim claim = {.patterns = all, .pattern_count = 1};
    struct lane_range range = {.from = from, .to = to};
    struct lane *lanes;
    size_t count, found = 0;
    MUST(rig,
         rig->ops->list_job_lanes(rig->tx, &claim, &range, each, &lanes, &count, &rig->error));
    for (size_t i = 0; i < count; i++) {
        char name[32];
        sprintf(name, "%s:%s ", lanes[i].type, lanes[i].group);
        found += strstr(wanted, name) != NULL;
    }
    CHECK_INT(found, count);
    CHECK_INT(count * 4, strlen(wanted)); /* each is "t:g " */
}

TEST(a_limit_is_kept_whole_and_replaced)
{
    cleanup(rig_closep) struct rig *rig = rig_open();
    struct limit_row rows[4], row = limit("b", "t.%");
    size_t count;
    begin_write(rig);
    put(rig, row);
    put(rig, limit("a", "u"));
    row.concurrency = 0;
    row.types = "v";
    row.updated_at_us++;
    put(rig, row);
    commit(rig);
    begin_write(rig);
    MUST(rig, rig->ops->list_limits(rig->tx, NULL, rows, 4, &count, &rig->error));
    CHECK_INT(count, 2);
    CHECK_STR(rows[0].name, "a");
    CHECK_STR(rows[1].types, "v");
    CHECK_INT(rows[1].concurrency, 0);
    CHECK_INT(rows[1].rate_n, 5);
    CHECK_INT(rows[1].rate_per_ms, 60000);
    CHECK_INT(rows[1].is_per_group, true);
    CHECK_INT(rows[1].created_at_us, RIG_START_US);
    CHECK_INT(rows[1].updated_at_us, RIG_START_US + 1);
    MUST(rig, rig->ops->list_limits(rig->tx, "a", rows, 4, &count, &rig->error));
    CHECK_INT(count, 1);
    MUST(rig, rig->ops->delete_limit(rig->tx, "b", &rig->error));
    CHECK_INT(rig->ops->get_limit(rig->tx, "b", rows, &rig->error), CAIRN_E_NOT_FOUND);
    commit(rig);
}

TEST(buckets_are_written_and_removed)
{
    cleanup(rig_closep) struct rig *rig = rig_open();
    struct bucket_row given[] = {
        {.limit_name = "l", .group = "g", .level = 7, .at_us = RIG_START_US},
        {.limit_name = "l", .group = "", .level = 9, .at_us = RIG_START_US}};
    struct bucket_row *rows;
    size_t count;
    begin_write(rig);
    MUST(rig, rig->ops->put_buckets(rig->tx, given, 2, &rig->error));
    given[0].level = 0;
    given[1].level = 8;
    MUST(rig, rig->ops->put_buckets(rig->tx, given, 2, &rig->error));
    MUST(rig, rig->ops->list_buckets(rig->tx, "l", &rows, &count, &rig->error));
    CHECK_INT(count, 1);
    CHECK_STR(rows[0].group, "");
    CHECK_INT(rows[0].level, 8);
    CHECK_INT(rows[0].at_us, RIG_START_US);
    MUST(rig, rig->ops->delete_limit(rig->tx, "l", &rig->error));
    MUST(rig, rig->ops->list_buckets(rig->tx, "l", &rows, &count, &rig->error));
    CHECK_INT(count, 0);
    commit(rig);
}

TEST(lanes_are_listed_by_type_and_group)
{
    cleanup(rig_closep) struct rig *rig = rig_open();
    begin_write(rig);
    add_to(rig, "a", "1");
    add_to(rig, "a", "2");
    add_to(rig, "a", "2");
    add_to(rig, "a", "3");
    add_to(rig, "b", "1");
    add_to(rig, "c", ""); /* has no lanes */
    commit(rig);
    begin_write(rig);
    check_lanes(rig, "", NULL, 10, "a:1 a:2 a:3 b:1 ");
    check_lanes(rig, "2", NULL, 10, "a:2 a:3 ");
    check_lanes(rig, "", "2", 10, "a:1 a:2 b:1 ");
    check_lanes(rig, "", NULL, 2, "a:1 a:2 b:1 ");
    put(rig, limit("l", "c"));
    check_lanes(rig, "1", NULL, 10, "a:1 a:2 a:3 b:1 ");
    commit(rig);
}

TEST(an_ordinary_claim_leaves_out_what_has_lanes)
{
    cleanup(rig_closep) struct rig *rig = rig_open();
    static const char *const all[] = {"%"};
    bool is_laned = false;
    struct job_claim claim = {.worker = "w",
                              .token = "t",
                              .patterns = all,
                              .pattern_count = 1,
                              .lease_until_us = RIG_START_US + US_PER_MIN,
                              .is_laned = &is_laned};
    begin_write(rig);
    add_to(rig, "plain", "");
    commit(rig);
    begin_write(rig);
    MUST(rig, rig->ops->claim_jobs(rig->tx, &claim, rig->rows, 9, &rig->count, &rig->error));
    CHECK_INT(rig->count, 1);
    CHECK_INT(is_laned, false);
    add_to(rig, "plain", "");
    add_to(rig, "a", "g");
    add_to(rig, "a", ""); /* has lanes, too, since its type has */
    add_to(rig, "b", "");
    put(rig, limit("l", "b"));
    MUST(rig, rig->ops->claim_jobs(rig->tx, &claim, rig->rows, 9, &rig->count, &rig->error));
    CHECK_INT(rig->count, 1);
    CHECK_STR(rig->rows[0].type, "plain");
    CHECK_INT(is_laned, true);
    check_lanes(rig, "g", NULL, 10, "a:g ");
    commit(rig);
}

TEST(lanes_give_in_turns_and_their_leases_count)
{
    cleanup(rig_closep) struct rig *rig = rig_open();
    const struct lane lanes[] = {{.type = "a", .group = "2", .quota = 2, .is_counted = true},
                                 {.type = "a", .group = "1", .quota = 3},
                                 {.type = "a", .group = "9", .quota = 1}};
    struct job_claim claim = {.worker = "w",
                              .token = "t",
                              .lease_until_us = RIG_START_US + US_PER_MIN,
                              .events_each = 0};
    struct lane_use *uses;
    size_t count;
    begin_write(rig);
    for (int i = 0; i < 3; i++)
        add_to(rig, "a", "2");
    for (int i = 0; i < 2; i++)
        add_to(rig, "a", "1");
    MUST(rig, rig->ops->claim_job_lanes(rig->tx, &claim, lanes, 3, rig->rows, 6, &rig->count,
                                        &rig->error));
    CHECK_INT(rig->count, 4);
    const char *const wanted[] = {"2", "1", "2", "1"};
    for (size_t i = 0; i < 4; i++) {
        CHECK_STR(rig->rows[i].group, wanted[i]);
        CHECK_INT(rig->rows[i].status, JOB_LEASED);
        CHECK_STR(rig->rows[i].token, "t");
    }
    MUST(rig, rig->ops->count_leases(rig->tx, true, &uses, &count, &rig->error));
    CHECK_INT(count, 1);
    CHECK_STR(uses[0].type, "a");
    CHECK_STR(uses[0].group, "2");
    CHECK_INT(uses[0].count, 2);
    put(rig, limit("l", "a")); /* and now the others, too */
    MUST(rig, rig->ops->count_leases(rig->tx, false, &uses, &count, &rig->error));
    CHECK_INT(count, 2);
    commit(rig);
}

TEST(turns_are_kept_beside_the_counts)
{
    cleanup(rig_closep) struct rig *rig = rig_open();
    const struct turn_row turns[] = {{.number = 3, .group = "a"}, {.number = 127, .group = ""}};
    const struct turn_row later = {.number = 3, .group = "b"};
    struct lane_use *uses;
    size_t count;
    begin_write(rig);
    MUST(rig, rig->ops->put_turns(rig->tx, turns, 2, &rig->error));
    MUST(rig, rig->ops->put_turns(rig->tx, &later, 1, &rig->error));
    MUST(rig, rig->ops->count_leases(rig->tx, true, &uses, &count, &rig->error));
    CHECK_INT(count, 2);
    for (size_t i = 0; i < count; i++) {
        CHECK(!uses[i].type, "a turn has the type %s", uses[i].type);
        CHECK_STR(uses[i].group, uses[i].count == 3 ? "b" : "");
    }
    commit(rig);
}
