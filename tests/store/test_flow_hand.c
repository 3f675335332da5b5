/* tests/store/test_flow_hand.c - a claim leaves room for steps that the engine has in hand.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "flow_rig.h"

static const struct claim_holder holders[] = {
    {"w1", "t1"}, {"w2", "t2"}, {"w3", "t3"}, {"w4", "t4"}, {"w5", "t5"}};
enum { ROOM = sizeof holders / sizeof *holders };

/* Ready steps s0, s1, ... of these priorities. */
static struct instance_row add_priorities(struct rig *rig, size_t count,
                                          const int32_t *priorities)
{
    struct instance_row instance = new_instance(rig, "w");
    for (size_t i = 0; i < count; i++)
        add_step(rig, ready_step(&instance, (int32_t)i, "t", priorities[i]));
    return instance;
}
#define ADD_PRIORITIES(rig, ...)                                                  \
    add_priorities(rig, sizeof((const int32_t[]){__VA_ARGS__}) / sizeof(int32_t), \
                   (const int32_t[]){__VA_ARGS__})

static struct steps *claim_beside(struct rig *rig, size_t room, struct steps_in_hand *in_hand)
{
    static const char *const all[] = {"%"};
    return claim_steps_by(
        rig, room,
        (struct step_claim){.base = {.holders = holders, .patterns = all, .pattern_count = 1},
                            .in_hand = in_hand});
}

/* "s1:t1": the steps, and who holds them. */
static void check_held(const struct steps *steps, const char *wanted)
{
    char seen[200] = "";
    for (size_t i = 0; i < steps->count; i++) {
        strcat(seen, i ? " " : "");
        strcat(seen, steps->rows[i].name);
        strcat(seen, ":");
        strcat(seen, steps->rows[i].token);
        CHECK_INT(steps->rows[i].token[1], steps->rows[i].locked_by[1]);
    }
    CHECK_STR(seen, wanted);
}

TEST(steps_in_hand_have_places_between_those_before_them_and_the_others)
{
    cleanup(rig_closep) struct rig *rig = rig_open();
    struct type_in_hand types[] = {{.name = "t", .count = 1}, {.name = "u", .count = 1}};
    struct steps_in_hand in_hand = {.first = {.priority = 50}, .types = types, .type_count = 2};
    begin_write(rig);
    ADD_PRIORITIES(rig, 40, 60, 50, 50);
    check_held(claim_beside(rig, ROOM, &in_hand), "s1:t1 s2:t4 s3:t5");
    CHECK(!types[0].is_blocked && !types[1].is_blocked, "a type is blocked");
    CHECK_STEPS(claim_steps(rig, 9, "%"), "s0");
}

TEST(those_before_them_take_the_places_of_steps_in_hand)
{
    cleanup(rig_closep) struct rig *rig = rig_open();
    struct type_in_hand type = {.name = "t", .count = 4};
    struct steps_in_hand in_hand = {.first = {.priority = 50}, .types = &type, .type_count = 1};
    begin_write(rig);
    ADD_PRIORITIES(rig, 10, 60, 70, 80, 50);
    check_held(claim_beside(rig, ROOM, &in_hand), "s3:t1 s2:t2 s1:t3");
}

TEST(a_claim_for_what_comes_before_leaves_the_others)
{
    cleanup(rig_closep) struct rig *rig = rig_open();
    struct type_in_hand type = {.name = "t", .count = 1};
    struct steps_in_hand in_hand = {
        .first = {.priority = 50}, .types = &type, .type_count = 1, .is_alone = true};
    begin_write(rig);
    ADD_PRIORITIES(rig, 50, 40);
    CHECK_NO_STEPS(claim_beside(rig, ROOM, &in_hand));
    in_hand.first.priority = 49;
    check_held(claim_beside(rig, ROOM, &in_hand), "s0:t1");
    CHECK_STEPS(claim_steps(rig, 9, "%"), "s1");
}

TEST(among_equals_the_order_is_that_of_claims)
{
    cleanup(rig_closep) struct rig *rig = rig_open();
    struct type_in_hand type = {.name = "t", .count = 1};
    struct steps_in_hand in_hand = {.types = &type, .type_count = 1, .is_alone = true};
    begin_write(rig);
    struct instance_row instance = ADD_PRIORITIES(rig, 50, 50, 50);
    in_hand.first = (struct claim_key){50, RIG_START_US, instance.seq, 2};
    CHECK_STEPS(claim_beside(rig, 1, &in_hand), "s0");
    in_hand.first = (struct claim_key){50, RIG_START_US - 1, instance.seq + 1, 9};
    CHECK_NO_STEPS(claim_beside(rig, ROOM, &in_hand));
    in_hand.first = (struct claim_key){50, RIG_START_US, instance.seq, 2};
    CHECK_STEPS(claim_beside(rig, ROOM, &in_hand), "s1");
    in_hand.first = (struct claim_key){50, RIG_START_US + 1, 0, 0};
    CHECK_STEPS(claim_beside(rig, ROOM, &in_hand), "s2");
}

TEST(a_blocked_type_in_hand_has_no_place)
{
    cleanup(rig_closep) struct rig *rig = rig_open();
    struct type_in_hand types[] = {{.name = "on", .count = 1}, {.name = "off", .count = 3}};
    struct steps_in_hand in_hand = {.first = {.priority = 50}, .types = types, .type_count = 2};
    begin_write(rig);
    register_type(rig, "off", "go", false);
    register_type(rig, "on", "go", true);
    ADD_PRIORITIES(rig, 50, 50, 50, 50, 50, 50);
    check_held(claim_beside(rig, ROOM, &in_hand), "s0:t2 s1:t3 s2:t4 s3:t5");
    CHECK(!types[0].is_blocked, "a type that is enabled is blocked");
    CHECK(types[1].is_blocked, "a type that is disabled is not blocked");
}

TEST(a_type_in_hand_of_another_runtime_is_blocked)
{
    static const char *const all[] = {"%"};
    cleanup(rig_closep) struct rig *rig = rig_open();
    struct type_in_hand types[] = {{.name = "p", .count = 1}, {.name = "g", .count = 1}};
    struct steps_in_hand in_hand = {
        .first = {.priority = 50}, .types = types, .type_count = 2, .is_alone = true};
    begin_write(rig);
    register_type(rig, "p", "python", true);
    register_type(rig, "g", "go", true);
    CHECK_NO_STEPS(claim_steps_by(
        rig, 2,
        (struct step_claim){.base = {.patterns = all, .pattern_count = 1, .runtime = "go"},
                            .in_hand = &in_hand}));
    CHECK(types[0].is_blocked && !types[1].is_blocked, "the wrong type is blocked");
}
