/* tests/store/test_flow_lane.c - lanes of steps, and the leases of jobs and steps that count.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "flow_rig.h"

#include <string.h>

static void add_to(struct rig *rig, const struct instance_row *instance, int32_t seq,
                   const char *type, const char *group, int32_t priority)
{
    struct step_row row = ready_step(instance, seq, type, priority);
    row.group = group;
    add_step(rig, row);
    MUST(rig, rig->ops->add_group_types(rig->tx, &type, 1, &rig->error));
}

static void put(struct rig *rig, const char *types)
{
    struct limit_row row = {.name = "l",
                            .types = types,
                            .concurrency = 9,
                            .is_per_group = true,
                            .created_at_us = RIG_START_US,
                            .updated_at_us = RIG_START_US};
    MUST(rig, rig->ops->put_limit(rig->tx, &row, &rig->error));
}

static struct step_claim claim_of_all(const struct rig *rig)
{
    static const char *const all = "%";
    return (struct step_claim){.base = {.worker = "w",
                                        .token = "t",
                                        .patterns = &all,
                                        .pattern_count = 1,
                                        .lease_until_us = rig->tx->now_us + US_PER_MIN}};
}

static struct lane *list_lanes(struct rig *rig, const struct step_claim *claim,
                               const char *from, const char *to, size_t each, size_t *ret_count)
{
    struct lane_range range = {.from = from, .to = to};
    struct lane *lanes;
    MUST(rig, rig->ops->list_step_lanes(rig->tx, claim, &range, each, &lanes, ret_count,
                                        &rig->error));
    return lanes;
}

/* "a:1 b:2 ": the lanes that are listed, in any order; each is "t:g ". */
static void check_lanes(struct rig *rig, const struct step_claim *claim, const char *from,
                        const char *to, size_t each, const char *wanted)
{
    size_t count;
    const struct lane *lanes = list_lanes(rig, claim, from, to, each, &count);
    for (size_t i = 0; i < count; i++) {
        char name[32];
        snprintf(name, sizeof name, "%s:%s ", lanes[i].type, lanes[i].group);
        CHECK(strstr(wanted, name) && !lanes[i].is_void, "%sis listed", name);
    }
    CHECK_INT(count * 4, strlen(wanted));
}

/* Claims so many of each lane of these types and groups, "a:1 b:2 ", in this order. */
static struct steps *claim_lanes(struct rig *rig, const char *names, size_t quota)
{
    struct step_claim claim = claim_of_all(rig);
    struct lane given[8];
    size_t count, wanted = strlen(names) / 4;
    const struct lane *lanes = list_lanes(rig, &claim, "", NULL, 10, &count);
    struct steps *steps = arena_zalloc(&rig->arena, sizeof *steps);
    CHECK(steps && wanted <= 8, "there is no room for %zu lanes", wanted);
    for (size_t i = 0; i < wanted; i++) {
        given[i] = (struct lane){0};
        for (size_t k = 0; k < count; k++)
            if (lanes[k].type[0] == names[4 * i] && lanes[k].group[0] == names[4 * i + 2])
                given[i] = lanes[k];
        CHECK(given[i].type, "there is no lane %.3s", &names[4 * i]);
        given[i].quota = quota;
        given[i].is_counted = true;
    }
    MUST(rig, rig->ops->claim_step_lanes(rig->tx, &claim, given, wanted, steps->rows,
                                         quota * wanted, &steps->count, &rig->error));
    return steps;
}

static int64_t count_leases(struct rig *rig, const char *type, const char *group)
{
    struct lane_use *uses;
    size_t count;
    int64_t found = 0;
    MUST(rig, rig->ops->count_leases(rig->tx, true, &uses, &count, &rig->error));
    for (size_t i = 0; i < count; i++)
        if (strcmp(uses[i].type, type) == 0 && strcmp(uses[i].group, group) == 0)
            found += uses[i].count;
    return found;
}

/* ---- lanes of steps ---------------------------------------------------------------------- */

TEST(lanes_of_steps_are_listed_by_type_and_group)
{
    cleanup(rig_closep) struct rig *rig = rig_open();
    begin_write(rig);
    struct instance_row instance = new_instance(rig, "w");
    add_to(rig, &instance, 0, "a", "1", 50);
    add_to(rig, &instance, 1, "a", "2", 50);
    add_to(rig, &instance, 2, "a", "2", 50);
    add_to(rig, &instance, 3, "a", "3", 50);
    add_to(rig, &instance, 4, "b", "1", 50);
    add_step(rig, ready_step(&instance, 5, "c", 50)); /* has no lanes */
    struct step_row held = ready_step(&instance, 6, "b", 50);
    held.group = "9";
    held.is_ready = false;
    add_step(rig, held); /* cannot be claimed */
    commit(rig);
    begin_write(rig);
    struct step_claim claim = claim_of_all(rig);
    check_lanes(rig, &claim, "", NULL, 10, "a:1 a:2 a:3 b:1 ");
    check_lanes(rig, &claim, "2", NULL, 10, "a:2 a:3 ");
    check_lanes(rig, &claim, "", "2", 10, "a:1 a:2 b:1 ");
    check_lanes(rig, &claim, "", NULL, 2, "a:1 a:2 b:1 ");
    static const char *const b = "b";
    claim.base.patterns = &b;
    check_lanes(rig, &claim, "", NULL, 10, "b:1 ");
}

TEST(an_ordinary_claim_leaves_out_steps_that_have_lanes)
{
    cleanup(rig_closep) struct rig *rig = rig_open();
    begin_write(rig);
    struct instance_row instance = new_instance(rig, "w");
    bool is_laned = false;
    struct step_claim claim = claim_of_all(rig);
    claim.base.is_laned = &is_laned;
    add_step(rig, ready_step(&instance, 0, "plain", 50));
    CHECK_STEPS(claim_steps_by(rig, 9, claim), "s0");
    CHECK_INT(is_laned, false);
    add_step(rig, ready_step(&instance, 1, "plain", 50));
    add_to(rig, &instance, 2, "a", "1", 50);
    add_step(rig, ready_step(&instance, 3, "a", 50)); /* has lanes, too, since its type has */
    add_step(rig, ready_step(&instance, 4, "b", 50));
    put(rig, "b");
    CHECK_STEPS(claim_steps_by(rig, 9, claim), "s1");
    CHECK_INT(is_laned, true);
    check_lanes(rig, &claim, "1", NULL, 10, "a:1 ");
}

TEST(lanes_of_steps_give_in_turns_and_others_are_passed_over)
{
    cleanup(rig_closep) struct rig *rig = rig_open();
    begin_write(rig);
    struct instance_row instance = new_instance(rig, "w");
    for (int32_t i = 0; i < 9; i++)
        add_to(rig, &instance, i, "a", i < 3 ? "1" : i < 6 ? "2" : "3", 50);
    struct steps *steps = claim_lanes(rig, "a:3 a:1 ", 2); /* 2 is full, say */
    CHECK_STEPS(steps, "s6", "s0", "s7", "s1");
    for (size_t i = 0; i < steps->count; i++) {
        CHECK_INT(steps->rows[i].status, STEP_RUNNING);
        CHECK_STR(steps->rows[i].locked_by, "w");
        CHECK_INT(steps->rows[i].is_counted, true);
    }
    CHECK_INT(lock_step(rig, instance.id, 3).is_ready, true);
    CHECK_INT(count_leases(rig, "a", "1"), 2);
    CHECK_INT(count_leases(rig, "a", "2"), 0);
    CHECK_INT(count_leases(rig, "a", "3"), 2);
    CHECK_STEPS(claim_lanes(rig, "a:1 a:2 a:3 ", 2), "s2", "s3", "s8",
                "s4"); /* no more of 1 and 3 */
    struct step_claim claim = claim_of_all(rig);
    check_lanes(rig, &claim, "", NULL, 10, "a:2 ");
}

TEST(within_a_lane_of_steps_priority_decides_and_then_age)
{
    cleanup(rig_closep) struct rig *rig = rig_open();
    begin_write(rig);
    struct instance_row instance = new_instance(rig, "w");
    add_to(rig, &instance, 0, "a", "1", 10);
    add_to(rig, &instance, 1, "a", "1", 50);
    add_to(rig, &instance, 2, "a", "1", 90);
    add_to(rig, &instance, 3, "a", "1", 50);
    add_to(rig, &instance, 4, "a", "2", 20);
    CHECK_STEPS(claim_lanes(rig, "a:2 a:1 ", 3), "s4", "s2", "s1", "s3");
    CHECK_STEPS(claim_lanes(rig, "a:1 ", 3), "s0");
}

TEST(a_disabled_type_and_one_of_another_runtime_have_no_lanes)
{
    cleanup(rig_closep) struct rig *rig = rig_open();
    begin_write(rig);
    struct instance_row instance = new_instance(rig, "w");
    add_to(rig, &instance, 0, "a", "1", 50);
    add_to(rig, &instance, 1, "b", "1", 50);
    add_to(rig, &instance, 2, "c", "1", 50);
    register_type(rig, "a", "go", false);
    register_type(rig, "b", "go", true);
    commit(rig);
    begin_write(rig);
    struct step_claim claim = claim_of_all(rig);
    check_lanes(rig, &claim, "", NULL, 10, "b:1 c:1 ");
    claim.base.runtime = "python";
    check_lanes(rig, &claim, "", NULL, 10, "c:1 ");
    register_type(rig, "a", "python", true);
    commit(rig);
    begin_write(rig);
    check_lanes(rig, &claim, "", NULL, 10, "a:1 c:1 ");
}

/* ---- leases that count ------------------------------------------------------------------- */

TEST(a_lease_of_a_step_counts_until_it_ends_however_it_does)
{
    static const struct end {
        const char *name;
        enum step_status status;
        bool is_ready;
    } ends[] = {
        {"lost", STEP_READY, false},          {"released", STEP_READY, true},
        {"completed", STEP_COMPLETED, false}, {"failed", STEP_FAILED, false},
        {"cancelled", STEP_SKIPPED, false},   {"to be undone", STEP_COMPENSATION, true}};
    enum { ENDS = sizeof ends / sizeof *ends };
    cleanup(rig_closep) struct rig *rig = rig_open();
    begin_write(rig);
    struct instance_row instance = new_instance(rig, "w");
    for (int32_t i = 0; i < ENDS; i++)
        add_to(rig, &instance, i, "a", "1", 50);
    CHECK_INT(claim_lanes(rig, "a:1 ", ENDS)->count, ENDS);
    commit(rig);
    for (int32_t i = 0; i < ENDS; i++) {
        begin_write(rig);
        CHECK(count_leases(rig, "a", "1") == ENDS - i, "before one was %s", ends[i].name);
        struct step_row row = lock_step(rig, instance.id, i);
        row.status = ends[i].status;
        row.is_ready = ends[i].is_ready;
        row.locked_by = row.token = NULL;
        row.locked_until_us = row.due_at_us = 0;
        update_step(rig, row);
        CHECK(count_leases(rig, "a", "1") == ENDS - i - 1, "after one was %s", ends[i].name);
        commit(rig);
    }
    begin_write(rig);
    CHECK_STEPS(claim_lanes(rig, "a:1 ", 1), "s1"); /* counts again */
    CHECK_INT(count_leases(rig, "a", "1"), 1);
}

TEST(a_compensation_counts_in_its_own_lane)
{
    cleanup(rig_closep) struct rig *rig = rig_open();
    begin_write(rig);
    struct instance_row instance = new_instance(rig, "w");
    struct step_row row = ready_step(&instance, 0, "u", 50);
    row.status = STEP_COMPENSATION;
    row.handler = "a";
    row.group = "1";
    add_step(rig, row);
    put(rig, "u");
    struct steps *steps = claim_lanes(rig, "u:1 ", 1);
    CHECK_STEPS(steps, "s0");
    CHECK_INT(steps->rows[0].status, STEP_COMPENSATION);
    CHECK_INT(count_leases(rig, "u", "1"), 1);
    CHECK_INT(count_leases(rig, "a", "1"), 0);
}

TEST(steps_that_are_leased_when_a_limit_is_set_count)
{
    cleanup(rig_closep) struct rig *rig = rig_open();
    begin_write(rig);
    struct instance_row instance = new_instance(rig, "w");
    add_step(rig, ready_step(&instance, 0, "a", 50));
    add_step(rig, ready_step(&instance, 1, "b", 50));
    CHECK_STEPS(claim_steps(rig, 9, "%"), "s0", "s1");
    CHECK_INT(count_leases(rig, "a", ""), 0);
    put(rig, "a");
    CHECK_INT(count_leases(rig, "a", ""), 1);
    CHECK_INT(count_leases(rig, "b", ""), 0);
}

static void end_job(struct rig *rig, const char *id, enum job_status status)
{
    struct job_row row = lock_one(rig, id);
    row.status = status;
    row.is_ready = status == JOB_PENDING;
    row.leased_by = row.token = NULL;
    row.lease_until_us = 0;
    MUST(rig, rig->ops->update_jobs(rig->tx, &row, 1, &rig->error));
}

TEST(a_lease_of_a_job_counts_until_it_ends_however_it_does)
{
    cleanup(rig_closep) struct rig *rig = rig_open();
    static const enum job_status ends[] = {JOB_PENDING, JOB_CANCELLED, JOB_FAILED,
                                           JOB_SUCCEEDED};
    const struct lane lane = {.type = "a", .group = "1", .quota = 5, .is_counted = true};
    static const char *const type = "a";
    struct job_claim claim = {
        .worker = "w", .token = "t", .lease_until_us = RIG_START_US + US_PER_MIN};
    begin_write(rig);
    for (int i = 0; i < 5; i++) {
        struct job_row row = job_of(rig, "a");
        row.group = "1";
        add(rig, row);
    }
    MUST(rig, rig->ops->add_group_types(rig->tx, &type, 1, &rig->error));
    MUST(rig, rig->ops->claim_job_lanes(rig->tx, &claim, &lane, 1, rig->rows, 5, &rig->count,
                                        &rig->error));
    CHECK_INT(rig->count, 5);
    commit(rig);
    begin_write(rig);
    CHECK_INT(count_leases(rig, "a", "1"), 5);
    for (int i = 0; i < 4; i++) {
        end_job(rig, rig->rows[i].id, ends[i]);
        CHECK_INT(count_leases(rig, "a", "1"), 4 - i);
    }
    struct job_row done = {.id = rig->rows[4].id,
                           .status = JOB_SUCCEEDED,
                           .ended_by = "w",
                           .ended_token = "t",
                           .ended_outcome = "complete",
                           .updated_at_us = RIG_START_US};
    bool is_done = false;
    MUST(rig, rig->ops->complete_jobs(rig->tx, &done, 1, &is_done, &rig->error));
    CHECK_INT(is_done, true);
    CHECK_INT(done.is_counted, true); /* so that the engine knows of the place */
    CHECK_INT(count_leases(rig, "a", "1"), 0);
    commit(rig);
}
