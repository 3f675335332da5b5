/* tests/store/test_flow_timer.c - what becomes due: ready steps, timers, delayed starts.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "flow_rig.h"

static size_t promote(struct rig *rig, size_t limit)
{
    size_t count = SIZE_MAX;
    MUST(rig, rig->ops->promote_steps(rig->tx, limit, &count, &rig->error));
    return count;
}

/* Whether exactly these places of the instance are due, in this order. */
static void check_due(struct rig *rig, const struct instance_row *instance, size_t room,
                      size_t count, const int32_t *places)
{
    struct step_ref refs[ROWS_MAX];
    size_t seen = SIZE_MAX;
    MUST(rig, rig->ops->find_due_steps(rig->tx, refs, room, &seen, &rig->error));
    CHECK_INT(seen, count);
    for (size_t i = 0; i < count; i++) {
        CHECK_STR(refs[i].instance_id, instance->id);
        CHECK_INT(refs[i].seq, places[i]);
    }
}
#define CHECK_DUE(rig, instance, room, ...)                                            \
    check_due(rig, instance, room, sizeof((int32_t[]){__VA_ARGS__}) / sizeof(int32_t), \
              (int32_t[]){__VA_ARGS__})
#define CHECK_NONE_DUE(rig) check_due(rig, NULL, ROWS_MAX, 0, NULL)

/* Ready, but only from `due_us` on. */
static struct step_row later_step(const struct instance_row *instance, int32_t seq,
                                  int64_t due_us)
{
    struct step_row row = ready_step(instance, seq, "a", 50);
    row.is_ready = false;
    row.due_at_us = row.next_run_at_us = due_us;
    return row;
}

static struct step_row waiting_step(const struct instance_row *instance, int32_t seq,
                                    int64_t due_us)
{
    struct step_row row = step_of(instance, seq);
    row.kind = KIND_WAIT;
    row.status = STEP_WAITING;
    row.waiting_event = "paid";
    row.due_at_us = row.deadline_at_us = due_us;
    return row;
}

TEST(a_ready_step_becomes_claimable_when_it_is_due)
{
    cleanup(rig_closep) struct rig *rig = rig_open();
    begin_write(rig);
    struct instance_row instance = new_instance(rig, "w");
    struct step_row row = later_step(&instance, 0, RIG_START_US + 10);
    add_step(rig, row);
    commit(rig);

    pass_us(rig, 9);
    begin_write(rig);
    CHECK_INT(promote(rig, 9), 0);
    CHECK_NO_STEPS(claim_steps(rig, 9, "%"));
    commit(rig);

    pass_us(rig, 1);
    begin_write(rig);
    CHECK_INT(promote(rig, 9), 1);
    CHECK_INT(promote(rig, 9), 0);
    struct step_row seen = lock_step(rig, instance.id, 0);
    row.is_ready = true;
    row.due_at_us = 0;
    check_step_changing(&seen, &row); /* and nothing else has changed */
    CHECK_STEPS(claim_steps(rig, 9, "%"), "s0");
}

TEST(a_compensation_is_promoted_and_stays_one)
{
    cleanup(rig_closep) struct rig *rig = rig_open();
    begin_write(rig);
    struct instance_row instance = new_instance(rig, "w");
    struct step_row row = later_step(&instance, 0, RIG_START_US);
    row.status = STEP_COMPENSATION;
    add_step(rig, row);
    CHECK_INT(promote(rig, 9), 1);
    CHECK_INT(lock_step(rig, instance.id, 0).status, STEP_COMPENSATION);
    CHECK_INT(lock_step(rig, instance.id, 0).is_ready, true);
}

TEST(only_free_steps_that_are_ready_or_in_compensation_are_promoted)
{
    cleanup(rig_closep) struct rig *rig = rig_open();
    begin_write(rig);
    struct instance_row instance = new_instance(rig, "w");
    for (int32_t status = STEP_PENDING; status < STEP_STATUS_COUNT; status++) {
        if (status == STEP_READY || status == STEP_COMPENSATION)
            continue;
        struct step_row row = later_step(&instance, status, RIG_START_US);
        row.status = (enum step_status)status;
        add_step(rig, row);
    }
    struct step_row held = later_step(&instance, 20, RIG_START_US);
    held.is_held = true;
    add_step(rig, held);
    struct step_row leased = later_step(&instance, 21, RIG_START_US);
    leased.status = STEP_COMPENSATION;
    leased.locked_by = "w";
    leased.token = "t";
    leased.locked_until_us = RIG_START_US - 1;
    add_step(rig, leased);
    add_step(rig, later_step(&instance, 22, 0)); /* no timer at all */
    CHECK_INT(promote(rig, ROWS_MAX), 0);
    CHECK_NO_STEPS(claim_steps(rig, ROWS_MAX, "%"));
}

TEST(at_most_limit_steps_are_promoted_the_earliest_first)
{
    cleanup(rig_closep) struct rig *rig = rig_open();
    static const int64_t due[] = {-3, -5, -1, -4, -2};
    begin_write(rig);
    struct instance_row instance = new_instance(rig, "w");
    for (int32_t i = 0; i < 5; i++)
        add_step(rig, later_step(&instance, i, RIG_START_US + due[i]));
    CHECK_INT(promote(rig, 0), 0);
    CHECK_INT(promote(rig, 2), 2);
    CHECK_STEPS(claim_steps(rig, 9, "%"), "s1", "s3");
    CHECK_INT(promote(rig, 2), 2);
    CHECK_STEPS(claim_steps(rig, 9, "%"), "s0", "s4");
    CHECK_INT(promote(rig, 2), 1);
    CHECK_STEPS(claim_steps(rig, 9, "%"), "s2");
}

TEST(other_steps_are_found_due_the_earliest_first)
{
    cleanup(rig_closep) struct rig *rig = rig_open();
    begin_write(rig);
    struct instance_row instance = new_instance(rig, "w");
    add_step(rig, waiting_step(&instance, 0, RIG_START_US));
    add_step(rig, waiting_step(&instance, 1, RIG_START_US - 2));
    add_step(rig, waiting_step(&instance, 2, RIG_START_US + 1)); /* not yet */
    struct step_row decision = waiting_step(&instance, 3, RIG_START_US - 3);
    decision.status = STEP_WAITING_DECISION;
    add_step(rig, decision);
    add_step(rig, later_step(&instance, 4, RIG_START_US - 9)); /* to be promoted */
    struct step_row held = later_step(&instance, 5, RIG_START_US - 1);
    held.is_held = true;
    add_step(rig, held);
    add_step(rig, waiting_step(&instance, 6, 0)); /* no timer at all */
    CHECK_DUE(rig, &instance, ROWS_MAX, 3, 1, 5, 0);
    CHECK_DUE(rig, &instance, 2, 3, 1);
    check_due(rig, &instance, 0, 0, NULL);
    CHECK_DUE(rig, &instance, ROWS_MAX, 3, 1, 5, 0); /* finding changes nothing */
}

TEST(a_lease_is_due_right_after_its_end)
{
    cleanup(rig_closep) struct rig *rig = rig_open();
    begin_write(rig);
    struct instance_row instance = new_instance(rig, "w");
    add_step(rig, ready_step(&instance, 0, "a", 50));
    struct step_row undo = ready_step(&instance, 1, "a", 50);
    undo.status = STEP_COMPENSATION;
    add_step(rig, undo);
    CHECK_INT(claim_steps(rig, 9, "a")->count, 2);
    commit(rig);
    pass_us(rig, US_PER_MIN);
    begin_write(rig);
    CHECK_NONE_DUE(rig);
    commit(rig);
    pass_us(rig, 1);
    begin_write(rig);
    CHECK_DUE(rig, &instance, 9, 0, 1);
    CHECK_INT(promote(rig, 9), 0); /* whoever holds a lease is not simply made claimable */
}

TEST(a_changed_timer_is_the_one_that_counts)
{
    cleanup(rig_closep) struct rig *rig = rig_open();
    begin_write(rig);
    struct instance_row instance = new_instance(rig, "w");
    add_step(rig, waiting_step(&instance, 0, RIG_START_US - 1));
    struct step_row row = lock_step(rig, instance.id, 0);
    row.due_at_us = RIG_START_US + 5;
    update_step(rig, row);
    CHECK_NONE_DUE(rig);
    CHECK_INT(next_due(rig).flow_us, RIG_START_US + 5);
    row.due_at_us = 0;
    update_step(rig, row);
    CHECK_INT(next_due(rig).flow_us, 0);
}

static void check_due_instances(struct rig *rig, size_t room, size_t count,
                                const char *const *wanted)
{
    const char *ids[ROWS_MAX];
    size_t seen = SIZE_MAX;
    MUST(rig, rig->ops->find_due_instances(rig->tx, ids, room, &seen, &rig->error));
    CHECK_INT(seen, count);
    for (size_t i = 0; i < count; i++)
        CHECK_STR(ids[i], wanted[i]);
}

TEST(pending_instances_are_found_when_their_start_has_come)
{
    cleanup(rig_closep) struct rig *rig = rig_open();
    static const int64_t starts[] = {0, 3, 1, 2};
    const char *ids[4];
    begin_write(rig);
    for (int i = 0; i < 4; i++) {
        struct instance_row row = instance_of(rig, "w");
        row.status = INSTANCE_PENDING;
        row.start_at_us = RIG_START_US + starts[i];
        ids[i] = add_instance(rig, row).id;
    }
    struct instance_row running = instance_of(rig, "w");
    running.start_at_us = RIG_START_US - 1; /* it has started */
    add_instance(rig, running);
    check_due_instances(rig, 9, 1, ids);
    CHECK_INT(next_due(rig).flow_us, RIG_START_US);
    commit(rig);

    pass_us(rig, 2);
    begin_write(rig);
    check_due_instances(rig, 9, 3, (const char *[]){ids[0], ids[2], ids[3]});
    check_due_instances(rig, 2, 2, (const char *[]){ids[0], ids[2]});
    struct instance_row row = lock_instance(rig, ids[0]);
    row.status = INSTANCE_RUNNING;
    update_instance(rig, row);
    check_due_instances(rig, 9, 2, (const char *[]){ids[2], ids[3]});
    CHECK_INT(next_due(rig).flow_us, RIG_START_US + 1); /* it may be in the past */
}

TEST(the_next_due_time_is_the_earliest_of_all)
{
    cleanup(rig_closep) struct rig *rig = rig_open();
    begin_write(rig);
    CHECK_INT(next_due(rig).flow_us, 0);
    struct instance_row instance = new_instance(rig, "w");
    add_step(rig, ready_step(&instance, 0, "a", 50)); /* no timer */
    CHECK_INT(next_due(rig).flow_us, 0);
    add_step(rig, waiting_step(&instance, 1, RIG_START_US + 50));
    CHECK_INT(next_due(rig).flow_us, RIG_START_US + 50);
    add_step(rig, later_step(&instance, 2, RIG_START_US + 40));
    CHECK_INT(next_due(rig).flow_us, RIG_START_US + 40);
    struct instance_row pending = instance_of(rig, "w");
    pending.status = INSTANCE_PENDING;
    pending.start_at_us = RIG_START_US + 30;
    add_instance(rig, pending);
    CHECK_INT(next_due(rig).flow_us, RIG_START_US + 30);
    commit(rig);
    pass_us(rig, 1);
    begin_read(rig);
    CHECK_INT(next_due(rig).flow_us, RIG_START_US + 30);
}

TEST(a_lease_is_a_timer)
{
    cleanup(rig_closep) struct rig *rig = rig_open();
    begin_write(rig);
    struct instance_row instance = new_instance(rig, "w");
    add_step(rig, ready_step(&instance, 0, "a", 50));
    claim_steps(rig, 1, "a");
    CHECK_INT(next_due(rig).flow_us, RIG_START_US + US_PER_MIN + 1);
}
