/* tests/store/test_flow_claim.c - who gets which steps, in which order.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "flow_rig.h"

/* An instance with one ready step of each of these types, priority 50. */
static struct instance_row add_types(struct rig *rig, size_t count, const char *const *types)
{
    struct instance_row instance = new_instance(rig, "w");
    for (size_t i = 0; i < count; i++)
        add_step(rig, ready_step(&instance, (int32_t)i, types[i], 50));
    return instance;
}
#define ADD_TYPES(rig, ...)                                                \
    add_types(rig, sizeof((const char *[]){__VA_ARGS__}) / sizeof(char *), \
              (const char *[]){__VA_ARGS__})

static struct steps *claim_aged(struct rig *rig, size_t room, double rate)
{
    static const char *const all = "%";
    return claim_steps_by(rig, room,
                          (struct step_claim){.base = {.patterns = &all, .pattern_count = 1},
                                              .aging_rate = rate});
}

/* ---- what a claim does ------------------------------------------------------------------- */

TEST(a_claimed_step_comes_back_whole_and_leased)
{
    cleanup(rig_closep) struct rig *rig = rig_open();
    begin_write(rig);
    struct instance_row instance = new_instance(rig, "w");
    struct step_row row = ready_step(&instance, 3, "mail", 60);
    row.config = "{\"timeout_ms\":9}";
    row.metadata = "[1]";
    row.attempts = 2;
    row.error = "before";
    row.ended_by = "old";
    row.ended_token = "oo";
    row.waiting_event = "paid";
    row.signal = "{\"id\":\"1\"}";
    row.is_timed_out = true;
    row.call_until_us = RIG_START_US + 77;
    add_step(rig, row);
    commit(rig);

    pass_us(rig, 5);
    begin_write(rig);
    struct steps *steps = claim_steps(rig, 4, "mail");
    CHECK_STEPS(steps, "s3");
    struct step_row wanted = row;
    wanted.status = STEP_RUNNING;
    wanted.is_ready = false;
    wanted.locked_by = "w";
    wanted.token = "t";
    wanted.locked_until_us = RIG_START_US + 5 + US_PER_MIN;
    wanted.due_at_us = wanted.locked_until_us + 1;
    wanted.started_at_us = wanted.updated_at_us = RIG_START_US + 5;
    check_step_planned(&steps->rows[0], &wanted);
    check_step_changing(&steps->rows[0], &wanted);
    commit(rig);

    begin_write(rig);
    struct step_row seen = lock_step(rig, instance.id, 3);
    check_step_planned(&seen, &wanted);
    check_step_changing(&seen, &wanted);
    CHECK_NO_STEPS(claim_steps(rig, 4, "%")); /* it is taken */
}

TEST(a_claim_touches_no_instance)
{
    cleanup(rig_closep) struct rig *rig = rig_open();
    begin_write(rig);
    struct instance_row instance = ADD_TYPES(rig, "a", "b");
    commit(rig);
    pass_us(rig, 5);
    begin_write(rig);
    claim_steps(rig, 4, "%");
    struct instance_row seen = get_instance(rig, instance.id);
    check_instance_fixed(&seen, &instance);
    check_instance_changing(&seen, &instance);
}

TEST(a_step_in_compensation_stays_so_when_it_is_claimed)
{
    cleanup(rig_closep) struct rig *rig = rig_open();
    begin_write(rig);
    struct instance_row instance = new_instance(rig, "w");
    struct step_row row = ready_step(&instance, 0, "refund", 50);
    row.status = STEP_COMPENSATION;
    row.handler = "reserve";
    add_step(rig, row);
    CHECK_NO_STEPS(claim_steps(rig, 4, "reserve")); /* its task is the compensation's */
    struct steps *steps = claim_steps(rig, 4, "refund");
    CHECK_STEPS(steps, "s0");
    CHECK_INT(steps->rows[0].status, STEP_COMPENSATION);
    CHECK_STR(steps->rows[0].locked_by, "w");
    CHECK_INT(lock_step(rig, instance.id, 0).status, STEP_COMPENSATION);
    CHECK_INT(lock_step(rig, instance.id, 0).is_ready, false);
}

TEST(a_second_claim_keeps_when_the_step_first_started)
{
    cleanup(rig_closep) struct rig *rig = rig_open();
    begin_write(rig);
    struct instance_row instance = ADD_TYPES(rig, "a");
    CHECK_INT(claim_steps(rig, 4, "a")->rows[0].started_at_us, RIG_START_US);
    struct step_row row = lock_step(rig, instance.id, 0);
    row.status = STEP_READY;
    row.is_ready = true;
    row.locked_by = row.token = NULL;
    row.locked_until_us = row.due_at_us = 0;
    row.attempts = 1;
    update_step(rig, row);
    commit(rig);
    pass_us(rig, 9);
    begin_write(rig);
    struct steps *steps = claim_steps(rig, 4, "a");
    CHECK_STEPS(steps, "s0");
    CHECK_INT(steps->rows[0].started_at_us, RIG_START_US);
    CHECK_INT(steps->rows[0].updated_at_us, RIG_START_US + 9);
    CHECK_INT(steps->rows[0].attempts, 1);
}

TEST(only_steps_marked_ready_are_claimed)
{
    cleanup(rig_closep) struct rig *rig = rig_open();
    begin_write(rig);
    struct instance_row instance = new_instance(rig, "w");
    for (int32_t i = 0; i < 5; i++) {
        struct step_row row = ready_step(&instance, i, "a", 50);
        row.is_ready = i == 2;
        row.due_at_us = i == 3 ? RIG_START_US + 1 : 0;
        row.is_held = i == 4;
        add_step(rig, row);
    }
    CHECK_STEPS(claim_steps(rig, ROWS_MAX, "%"), "s2");
}

TEST(room_takes_the_first_steps_and_leaves_the_rest)
{
    cleanup(rig_closep) struct rig *rig = rig_open();
    begin_write(rig);
    ADD_TYPES(rig, "x", "m", "a", "x", "m", "a");
    CHECK_NO_STEPS(claim_steps(rig, 0, "%"));
    CHECK_STEPS(claim_steps(rig, 2, "%"), "s0", "s1");
    CHECK_STEPS(claim_steps(rig, 1, "%"), "s2");
    CHECK_STEPS(claim_steps(rig, ROWS_MAX, "%"), "s3", "s4", "s5");
    CHECK_NO_STEPS(claim_steps(rig, ROWS_MAX, "%"));
}

/* ---- which ------------------------------------------------------------------------------- */

TEST(an_exact_type_takes_only_its_steps)
{
    cleanup(rig_closep) struct rig *rig = rig_open();
    begin_write(rig);
    ADD_TYPES(rig, "a.bb", "a", "A.B", "a.b");
    CHECK_STEPS(claim_steps(rig, 9, "a.b"), "s3");
    CHECK_NO_STEPS(claim_steps(rig, 9, "a."));
    CHECK_NO_STEPS(claim_steps(rig, 9, "nothing"));
}

TEST(a_prefix_takes_the_steps_whose_type_begins_so)
{
    cleanup(rig_closep) struct rig *rig = rig_open();
    begin_write(rig);
    ADD_TYPES(rig, "billing.a", "billing", "billing.", "billinga", "mail", "billing.z.v1");
    CHECK_STEPS(claim_steps(rig, 9, "billing.%"), "s0", "s2", "s5");
    CHECK_STEPS(claim_steps(rig, 9, "%"), "s1", "s3", "s4");
}

TEST(patterns_that_overlap_take_a_step_once)
{
    cleanup(rig_closep) struct rig *rig = rig_open();
    static const char *const patterns[] = {"b", "a%", "%", "a.b", "b", "nothing"};
    begin_write(rig);
    ADD_TYPES(rig, "a.b", "b", "a.c");
    CHECK_STEPS(
        claim_steps_by(rig, ROWS_MAX,
                       (struct step_claim){.base = {.patterns = patterns, .pattern_count = 6}}),
        "s0", "s1", "s2");
}

TEST(odd_types_are_claimed_by_name)
{
    static const char *const names[] = {"_", "a%b", "it's", "\"q\"", "\xC3\xA9", "a\\b", " "};
    cleanup(rig_closep) struct rig *rig = rig_open();
    begin_write(rig);
    add_types(rig, 7, names);
    for (int32_t i = 0; i < 7; i++) {
        struct steps *steps = claim_steps(rig, 9, names[i]);
        CHECK_INT(steps->count, 1);
        CHECK_STR(steps->rows[0].task_type, names[i]);
    }
}

static struct steps *claim_with_runtime(struct rig *rig, const char *pattern,
                                        const char *runtime)
{
    return claim_steps_by(
        rig, ROWS_MAX,
        (struct step_claim){
            .base = {.patterns = &pattern, .pattern_count = 1, .runtime = runtime}});
}

TEST(steps_of_a_disabled_type_are_not_claimed_until_it_is_enabled)
{
    cleanup(rig_closep) struct rig *rig = rig_open();
    begin_write(rig);
    ADD_TYPES(rig, "off", "on");
    register_type(rig, "off", "go", false);
    CHECK_STEPS(claim_steps(rig, 9, "%"), "s1");
    CHECK_NO_STEPS(claim_steps(rig, 9, "off"));
    register_type(rig, "off", "go", true);
    CHECK_STEPS(claim_steps(rig, 9, "off"), "s0");
}

TEST(a_runtime_gets_its_own_steps_and_those_of_nobody)
{
    cleanup(rig_closep) struct rig *rig = rig_open();
    begin_write(rig);
    register_type(rig, "g", "go", true);
    register_type(rig, "p", "python", true);
    ADD_TYPES(rig, "g", "p", "x");
    commit(rig);
    begin_write(rig);
    CHECK_STEPS(claim_with_runtime(rig, "%", "go"), "s0", "s2");
    roll_back(rig);
    begin_write(rig);
    CHECK_STEPS(claim_with_runtime(rig, "%", "python"), "s1", "s2");
    roll_back(rig);
    begin_write(rig);
    CHECK_NO_STEPS(claim_with_runtime(rig, "p", "go"));
    CHECK_STEPS(claim_with_runtime(rig, "%", NULL), "s0", "s1", "s2");
}

/* ---- versions of functions --------------------------------------------------------------- */

/* A ready function "f" of each of these versions: s0, s1, ... of one instance will do. */
static void add_versions(struct rig *rig, size_t count, const int32_t *versions)
{
    struct instance_row instance = new_instance(rig, "w");
    for (size_t i = 0; i < count; i++) {
        struct step_row row = ready_step(&instance, (int32_t)i, "f", 50);
        row.kind = versions[i] ? KIND_FUNCTION : KIND_TASK;
        row.version = versions[i];
        add_step(rig, row);
    }
}
#define ADD_VERSIONS(rig, ...)                                                  \
    add_versions(rig, sizeof((const int32_t[]){__VA_ARGS__}) / sizeof(int32_t), \
                 (const int32_t[]){__VA_ARGS__})

static struct steps *claim_versions(struct rig *rig, const char *name, int32_t from, int32_t to)
{
    struct function_range range = {.name = name, .from = from, .to = to};
    return claim_steps_by(rig, ROWS_MAX,
                          (struct step_claim){.functions = &range, .function_count = 1});
}

TEST(a_range_of_versions_takes_the_functions_in_it)
{
    cleanup(rig_closep) struct rig *rig = rig_open();
    begin_write(rig);
    ADD_VERSIONS(rig, 5, 1, 3, 0, 2, 4, 3);
    CHECK_NO_STEPS(claim_versions(rig, "g", 1, 9));
    CHECK_NO_STEPS(claim_versions(rig, "f", 6, 9));
    CHECK_STEPS(claim_versions(rig, "f", 2, 3), "s2", "s4", "s6");
    CHECK_STEPS(claim_versions(rig, "f", 4, 4), "s5");
    CHECK_STEPS(claim_versions(rig, "f", 1, INT32_MAX), "s0", "s1"); /* s3 is no function */
    CHECK_STEPS(claim_steps(rig, ROWS_MAX, "f"), "s3");
}

TEST(a_type_takes_a_function_in_every_version)
{
    cleanup(rig_closep) struct rig *rig = rig_open();
    begin_write(rig);
    ADD_VERSIONS(rig, 5, 0, INT32_MAX, 1);
    CHECK_STEPS(claim_steps(rig, 3, "f"), "s0", "s1", "s2");
    CHECK_STEPS(claim_steps(rig, ROWS_MAX, "%"), "s3");
}

TEST(types_and_versions_are_claimed_in_one_order)
{
    cleanup(rig_closep) struct rig *rig = rig_open();
    static const char *const mail = "mail";
    struct function_range ranges[] = {{.name = "f", .from = 1, .to = 2},
                                      {.name = "f", .from = 4, .to = 4},
                                      {.name = "g", .from = 1, .to = 9}};
    struct step_claim claim = {.base = {.patterns = &mail, .pattern_count = 1},
                               .functions = ranges,
                               .function_count = 3};
    begin_write(rig);
    struct instance_row instance = new_instance(rig, "w");
    static const struct {
        const char *type;
        int32_t version, priority;
    } rows[] = {{"f", 4, 50}, {"mail", 0, 50}, {"f", 3, 90}, {"f", 1, 60}, {"g", 9, 50}};
    for (int32_t i = 0; i < 5; i++) {
        struct step_row row = ready_step(&instance, i, rows[i].type, rows[i].priority);
        row.version = rows[i].version;
        add_step(rig, row);
    }
    CHECK_STEPS(claim_steps_by(rig, 2, claim), "s3", "s0");
    CHECK_STEPS(claim_steps_by(rig, ROWS_MAX, claim), "s1", "s4");
}

TEST(ready_types_are_listed_by_version_and_priority_with_the_oldest)
{
    cleanup(rig_closep) struct rig *rig = rig_open();
    struct ready_type found[8];
    size_t count = 9;
    begin_write(rig);
    MUST(rig, rig->ops->list_ready_types(rig->tx, found, 8, &count, &rig->error));
    CHECK_INT(count, 0);
    struct instance_row instance = new_instance(rig, "w");
    static const struct {
        const char *type;
        int32_t version, priority, age_us;
    } rows[] = {{"f", 3, 50, 5}, {"f", 3, 50, 9}, {"f", 3, 50, 7}, {"e", 0, 90, 8},
                {"e", 0, 20, 3}, {"f", 1, 50, 2}, {"g", 8, 50, 1}};
    for (int32_t i = 0; i < 7; i++) {
        struct step_row row = ready_step(&instance, i, rows[i].type, rows[i].priority);
        row.version = rows[i].version;
        row.next_run_at_us = RIG_START_US - rows[i].age_us;
        add_step(rig, row);
    }
    MUST(rig, rig->ops->list_ready_types(rig->tx, found, 8, &count, &rig->error));
    CHECK_INT(count, 5);
    CHECK_STR(found[0].name, "e");
    CHECK_INT(found[0].version, 0);
    CHECK_INT(found[0].since_us + found[1].since_us, 2 * RIG_START_US - 11); /* in any order */
    CHECK_STR(found[1].instance_id, instance.id);
    CHECK_STR(found[2].name, "f");
    CHECK_INT(found[2].version, 1);
    CHECK_INT(found[3].version, 3);
    CHECK_INT(found[3].since_us, RIG_START_US - 9);
    CHECK_STR(found[4].name, "g");
    MUST(rig, rig->ops->list_ready_types(rig->tx, found, 2, &count, &rig->error));
    CHECK_INT(count, 2);
}

TEST(a_disabled_function_is_not_claimed_by_its_version)
{
    cleanup(rig_closep) struct rig *rig = rig_open();
    begin_write(rig);
    ADD_VERSIONS(rig, 1);
    register_type(rig, "f", "go", false);
    CHECK_NO_STEPS(claim_versions(rig, "f", 1, 1));
    register_type(rig, "f", "go", true);
    CHECK_STEPS(claim_versions(rig, "f", 1, 1), "s0");
}

TEST(jobs_and_steps_of_one_type_are_claimed_apart)
{
    cleanup(rig_closep) struct rig *rig = rig_open();
    begin_write(rig);
    ADD_TYPES(rig, "both");
    const char *id = add(rig, job_of(rig, "both"));
    CHECK_STEPS(claim_steps(rig, 9, "both"), "s0");
    CLAIM(rig, 9, "both");
    CHECK_ROWS(rig, id);
}

/* ---- in which order ---------------------------------------------------------------------- */

TEST(the_highest_priority_goes_first)
{
    cleanup(rig_closep) struct rig *rig = rig_open();
    begin_write(rig);
    struct instance_row instance = new_instance(rig, "w");
    static const int32_t priorities[] = {50, 0, 100, 51, 99, 1};
    for (int32_t i = 0; i < 6; i++)
        add_step(rig, ready_step(&instance, i, i % 2 ? "a" : "b", priorities[i]));
    CHECK_STEPS(claim_steps(rig, 9, "%"), "s2", "s4", "s3", "s0", "s5", "s1");
}

TEST(among_equals_the_earliest_goes_first_then_the_older_instance_then_the_place)
{
    cleanup(rig_closep) struct rig *rig = rig_open();
    begin_write(rig);
    struct instance_row old = new_instance(rig, "w"), young = new_instance(rig, "w");
    add_step(rig, ready_step(&young, 3, "a", 50));
    add_step(rig, ready_step(&young, 2, "b", 50));
    add_step(rig, ready_step(&old, 7, "b", 50));
    add_step(rig, ready_step(&old, 6, "a", 50));
    struct step_row early = ready_step(&young, 9, "c", 50);
    early.next_run_at_us = RIG_START_US - 1;
    add_step(rig, early);
    CHECK_STEPS(claim_steps(rig, 9, "%"), "s9", "s6", "s7", "s2", "s3");
}

TEST(a_step_without_a_time_goes_before_those_that_have_one)
{
    cleanup(rig_closep) struct rig *rig = rig_open();
    begin_write(rig);
    struct instance_row instance = new_instance(rig, "w");
    for (int32_t i = 0; i < 6; i++) {
        struct step_row row = ready_step(&instance, i, "a", 50);
        row.next_run_at_us = i % 2 ? 0 : RIG_START_US - i;
        add_step(rig, row);
    }
    CHECK_STEPS(claim_steps(rig, 2, "a"), "s1", "s3");
    CHECK_STEPS(claim_steps(rig, 3, "a"), "s5", "s4", "s2");
    CHECK_STEPS(claim_steps(rig, 3, "a"), "s0");
}

/* Makes "low" (priority 10, ready since `waited`) and "rival" (this priority, ready now). */
static void add_rivals(struct rig *rig, int64_t waited_us, int32_t rival)
{
    struct instance_row instance = new_instance(rig, "w");
    struct step_row row = ready_step(&instance, 0, "a", 10);
    row.name = "low";
    row.next_run_at_us = rig->tx->now_us - waited_us;
    add_step(rig, row);
    row = ready_step(&instance, 1, "b", rival);
    row.name = "rival";
    row.next_run_at_us = rig->tx->now_us;
    add_step(rig, row);
}

/* Priority 10 that has waited so long is exactly `effective`: it goes before a rival with that
 * priority, since it is earlier, and after one with a point more. */
static void check_effective(int64_t waited_us, double rate, int32_t effective)
{
    cleanup(rig_closep) struct rig *rig = rig_open();
    begin_write(rig);
    add_rivals(rig, waited_us, effective);
    CHECK_STEPS(claim_aged(rig, 9, rate), "low", "rival");
    roll_back(rig);
    if (effective == 100)
        return;
    begin_write(rig);
    add_rivals(rig, waited_us, effective + 1);
    CHECK_STEPS(claim_aged(rig, 9, rate), "rival", "low");
}

TEST(waiting_raises_a_priority_by_whole_points_up_to_100)
{
    check_effective(0, 0.5, 10);
    check_effective(1999999, 0.5, 10);
    check_effective(2 * US_PER_SEC, 0.5, 11);
    check_effective(100 * US_PER_SEC - 1, 0.5, 59);
    check_effective(100 * US_PER_SEC, 0.5, 60);
    check_effective(180 * US_PER_SEC - 1, 0.5, 99);
    check_effective(180 * US_PER_SEC, 0.5, 100);
    check_effective(100000 * US_PER_SEC, 0.5, 100);
    check_effective(7 * US_PER_SEC, 1.0, 17);
    check_effective(100 * US_PER_SEC, 0, 10); /* off */
}

TEST(a_step_at_the_cap_is_not_passed_by_one_that_would_be_higher)
{
    cleanup(rig_closep) struct rig *rig = rig_open();
    begin_write(rig);
    struct instance_row instance = new_instance(rig, "w");
    struct step_row earlier = ready_step(&instance, 0, "a", 10);
    earlier.next_run_at_us = RIG_START_US - 200 * US_PER_SEC; /* 110: capped */
    struct step_row later = ready_step(&instance, 1, "b", 90);
    later.next_run_at_us = RIG_START_US - 199 * US_PER_SEC; /* 189: capped */
    add_step(rig, later);
    add_step(rig, earlier);
    CHECK_STEPS(claim_aged(rig, 9, 0.5), "s0", "s1");
}

TEST(a_fraction_of_a_point_does_not_count)
{
    cleanup(rig_closep) struct rig *rig = rig_open();
    begin_write(rig);
    struct instance_row instance = new_instance(rig, "w");
    struct step_row half = ready_step(&instance, 0, "a", 49);
    half.next_run_at_us = RIG_START_US - 3 * US_PER_SEC; /* 49 + 1.5: 50 */
    struct step_row whole = ready_step(&instance, 1, "b", 50);
    whole.next_run_at_us = RIG_START_US - 1 * US_PER_SEC; /* 50 + 0.5: 50 */
    add_step(rig, whole);
    add_step(rig, half);
    CHECK_STEPS(claim_aged(rig, 9, 0.5), "s0", "s1"); /* equal, so the earlier goes first */
}

/* The law, on a crowd: a claim brings what sorting all of it would. */
TEST(a_claim_with_aging_takes_the_best_of_all)
{
    cleanup(rig_closep) struct rig *rig = rig_open();
    static const char *const types[] = {"q", "a", "z"};
    struct step_row crowd[ROWS_MAX];
    begin_write(rig);
    struct instance_row instance = new_instance(rig, "w");
    for (int32_t i = 0; i < ROWS_MAX; i++) {
        crowd[i] = ready_step(&instance, i, types[i % 3], (i * 37) % 8 * 10);
        crowd[i].next_run_at_us = RIG_START_US - (int64_t)((i * 29) % 50) * 3 * US_PER_SEC;
        add_step(rig, crowd[i]);
    }
    bool is_taken[ROWS_MAX] = {false};
    size_t taken = 0;
    while (taken < ROWS_MAX) {
        struct steps *steps = claim_aged(rig, 7, 0.5);
        for (size_t i = 0; i < steps->count; i++, taken++) {
            int best = -1;
            int64_t best_points = 0;
            for (int k = 0; k < ROWS_MAX; k++) {
                int64_t waited = (RIG_START_US - crowd[k].next_run_at_us) / US_PER_SEC;
                int64_t points = crowd[k].priority + waited / 2;
                points = points < 100 ? points : 100;
                if (!is_taken[k] && (best < 0 || points > best_points ||
                                     (points == best_points &&
                                      crowd[k].next_run_at_us < crowd[best].next_run_at_us))) {
                    best = k;
                    best_points = points;
                }
            }
            CHECK_STR(steps->rows[i].name, crowd[best].name);
            is_taken[best] = true;
        }
        CHECK(steps->count, "steps are left");
    }
}

/* ---- what a claim took ------------------------------------------------------------------- */

static struct steps *find_claimed_steps(struct rig *rig, const char *worker, const char *token,
                                        size_t room)
{
    struct steps *steps = arena_zalloc(&rig->arena, sizeof *steps);
    MUST(rig, rig->ops->find_claimed_steps(rig->tx, worker, token, steps->rows, room,
                                           &steps->count, &rig->error));
    return steps;
}

TEST(what_a_claim_of_steps_took_can_be_found_again)
{
    cleanup(rig_closep) struct rig *rig = rig_open();
    begin_write(rig);
    struct instance_row instance = new_instance(rig, "w");
    add_step(rig, ready_step(&instance, 0, "b", 10));
    add_step(rig, ready_step(&instance, 1, "a", 90));
    add_step(rig, ready_step(&instance, 2, "b", 50));
    struct step_row undo = ready_step(&instance, 3, "c", 95);
    undo.status = STEP_COMPENSATION;
    add_step(rig, undo);
    CHECK_INT(claim_steps(rig, 9, "%")->count, 4);
    commit(rig);

    begin_write(rig);
    struct steps *steps = find_claimed_steps(rig, "w", "t", 9);
    CHECK_STEPS(steps, "s3", "s1", "s2", "s0");
    CHECK_JSON(steps->rows[1].input, "{}");
    CHECK_STEPS(find_claimed_steps(rig, "w", "t", 2), "s3", "s1");
    CHECK_NO_STEPS(find_claimed_steps(rig, "w", "u", 9));
    CHECK_NO_STEPS(find_claimed_steps(rig, "v", "t", 9));

    struct step_row row = lock_step(rig, instance.id, 1);
    row.status = STEP_SKIPPED; /* stopped, though the lease still stands */
    update_step(rig, row);
    row = lock_step(rig, instance.id, 2);
    row.status = STEP_COMPLETED;
    row.locked_by = row.token = NULL;
    row.locked_until_us = 0;
    update_step(rig, row);
    CHECK_STEPS(find_claimed_steps(rig, "w", "t", 9), "s3", "s0");
}

TEST(steps_that_another_writer_holds_are_not_claimed)
{
    cleanup(rig_closep) struct rig *rig = rig_open();
    if (rig->ops->writers == 1)
        return; /* one writer at a time: the second waits at begin */
    struct store_session *second;
    struct store_tx *tx;
    begin_write(rig);
    struct instance_row instance = ADD_TYPES(rig, "a", "a");
    commit(rig);

    begin_write(rig);
    lock_step(rig, instance.id, 0);
    MUST(rig, rig->ops->session_open(rig->store, SESSION_WRITER, &second, &rig->error));
    MUST(rig, rig->ops->begin(second, &rig->arena, &tx, &rig->error));
    struct store_tx *first = rig->tx;
    rig->tx = tx;
    CHECK_STEPS(claim_steps(rig, 9, "%"), "s1");
    rig->tx = first;
    rig->ops->rollback(tx);
    rig->ops->session_close(second);
}

static void check_counts(struct rig *rig, uint64_t ready, uint64_t leased)
{
    struct step_counts counts = {99, 99};
    MUST(rig, rig->ops->count_steps(rig->tx, &counts, &rig->error));
    CHECK_INT(counts.ready, ready);
    CHECK_INT(counts.leased, leased);
}

TEST(steps_are_counted_that_are_ready_or_leased)
{
    cleanup(rig_closep) struct rig *rig = rig_open();
    begin_write(rig);
    check_counts(rig, 0, 0);
    struct instance_row instance = new_instance(rig, "w");
    add_pending_steps(rig, &instance, 4); /* planned: they count for nothing */
    struct instance_row other = new_instance(rig, "w");
    for (int32_t seq = 0; seq < 5; seq++)
        add_step(rig, ready_step(&other, seq, seq < 3 ? "a" : "b", 50));
    struct step_row later = ready_step(&other, 5, "a", 50);
    later.is_ready = false;
    later.due_at_us = RIG_START_US + US_PER_SEC;
    add_step(rig, later);
    check_counts(rig, 5, 0);
    commit(rig);

    begin_write(rig);
    CHECK_STEPS(claim_steps(rig, 2, "a"), "s0", "s1");
    check_counts(rig, 3, 2);
    roll_back(rig);
    begin_write(rig);
    check_counts(rig, 5, 0);
    CHECK_STEPS(claim_steps(rig, 2, "a"), "s0", "s1");

    /* Its worker is at it until it reports, whatever has become of the step. */
    struct step_row skipped = lock_step(rig, other.id, 0);
    skipped.status = STEP_SKIPPED;
    update_step(rig, skipped);
    check_counts(rig, 3, 2);
    struct step_row ended = lock_step(rig, other.id, 1);
    ended.status = STEP_COMPLETED;
    ended.locked_by = ended.token = NULL;
    ended.locked_until_us = ended.due_at_us = 0;
    update_step(rig, ended);
    check_counts(rig, 3, 1);
    commit(rig);
    begin_read(rig);
    check_counts(rig, 3, 1);
}

TEST(inspection_counts_leases_of_steps_past_their_time)
{
    cleanup(rig_closep) struct rig *rig = rig_open();
    struct store_facts facts;
    begin_write(rig);
    struct instance_row instance = new_instance(rig, "w");
    for (int32_t seq = 0; seq < 3; seq++)
        add_step(rig, ready_step(&instance, seq, "a", 50));
    struct step_row asleep = step_of(&instance, 3);
    asleep.kind = KIND_SLEEP;
    asleep.status = STEP_WAITING;
    asleep.due_at_us = RIG_START_US + 1; /* due, but no lease */
    add_step(rig, asleep);
    CHECK_STEPS(claim_steps(rig, 2, "a"), "s0", "s1"); /* for a minute */
    commit(rig);
    pass_us(rig, 60 * US_PER_SEC);
    begin_read(rig);
    MUST(rig, rig->ops->inspect(rig->tx, &facts, &rig->error));
    CHECK_INT(facts.expired_leases, 0);
    roll_back(rig);
    pass_us(rig, 1);
    begin_read(rig);
    MUST(rig, rig->ops->inspect(rig->tx, &facts, &rig->error));
    CHECK_INT(facts.expired_leases, 2);
}
