/* tests/store/test_flow_step.c - steps: inserted, changed, locked by place, state or commit.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "flow_rig.h"

/* A running step with every field set. */
static struct step_row full_step(const struct instance_row *instance, int32_t seq)
{
    return (struct step_row){.instance_id = instance->id,
                             .instance_seq = instance->seq,
                             .seq = seq,
                             .name = "it's a \"step\"",
                             .kind = KIND_TASK,
                             .handler = "billing.reserve.v1",
                             .max_attempts = INT32_MAX,
                             .priority = 100,
                             .next = INT32_MAX,
                             .scope_fork = 3,
                             .scope_from = 4,
                             .scope_to = INT32_MAX,
                             .config = "{\"timeout_ms\":5}",
                             .metadata = "{\"team\":\"\xC3\xA9\"}",
                             .instance_metadata = "{\"tenant\":7}",
                             .status = STEP_RUNNING,
                             .attempts = INT32_MAX,
                             .compensation_attempts = 2,
                             .input = "{\"a\":1}",
                             .output = "[2]",
                             .error = "it's \"broken\"",
                             .commit_no = INT64_MAX,
                             .next_run_at_us = RIG_START_US + 1,
                             .started_at_us = RIG_START_US + 2,
                             .finished_at_us = LAST_INSTANT_US,
                             .is_ready = false,
                             .task_type = "billing.reserve.v1",
                             .due_at_us = RIG_START_US + 4,
                             .is_held = true,
                             .locked_by = "me",
                             .token = "tt",
                             .locked_until_us = RIG_START_US + 5,
                             .call_until_us = RIG_START_US + 6,
                             .ended_by = "you",
                             .ended_token = "uu",
                             .stop = STOP_ROLLBACK,
                             .waiting_event = "paid",
                             .deadline_at_us = RIG_START_US + 7,
                             .is_timed_out = true,
                             .signal = "{\"id\":\"1\",\"event\":\"paid\"}",
                             .remaining = INT32_MAX,
                             .ended_outcome = "retry",
                             .past_effects = 3,
                             .is_effect_begun = true,
                             .group = "g",
                             .is_counted = true,
                             .function_effects = "2:3:pay",
                             .undo_error = "no refund",
                             .passed = "{\"short\":1}",
                             .updated_at_us = RIG_START_US + 8};
}

/* ---- inserting and changing -------------------------------------------------------------- */

TEST(a_step_comes_back_with_every_field)
{
    cleanup(rig_closep) struct rig *rig = rig_open();
    begin_write(rig);
    struct instance_row instance = new_instance(rig, "w");
    struct step_row row = full_step(&instance, 9999);
    add_step(rig, row);
    commit(rig);
    begin_write(rig);
    struct step_row seen = lock_step(rig, instance.id, 9999);
    check_step_planned(&seen, &row);
    check_step_changing(&seen, &row);
    seen = get_step(rig, instance.id, row.name);
    check_step_planned(&seen, &row);
    check_step_changing(&seen, &row);
}

TEST(a_step_without_texts_has_none)
{
    cleanup(rig_closep) struct rig *rig = rig_open();
    begin_write(rig);
    struct instance_row instance = new_instance(rig, "w");
    struct step_row row = step_of(&instance, 0);
    row.kind = KIND_SAVE_POINT;
    row.handler = NULL;
    add_step(rig, row);
    struct step_row seen = lock_step(rig, instance.id, 0);
    check_step_planned(&seen, &row);
    check_step_changing(&seen, &row);
}

TEST(an_empty_text_is_not_an_absent_one)
{
    cleanup(rig_closep) struct rig *rig = rig_open();
    begin_write(rig);
    struct instance_row instance = new_instance(rig, "w");
    struct step_row row = step_of(&instance, 0);
    row.error = row.waiting_event = row.ended_by = row.ended_token = "";
    row.ended_outcome = row.function_effects = row.undo_error = "";
    row.input = "null";
    row.output = "\"\"";
    row.passed = "null";
    add_step(rig, row);
    struct step_row seen = lock_step(rig, instance.id, 0);
    check_step_changing(&seen, &row);
    CHECK_STR(seen.input, "null");
}

TEST(every_kind_status_and_stop_of_a_step_is_kept)
{
    cleanup(rig_closep) struct rig *rig = rig_open();
    begin_write(rig);
    struct instance_row instance = new_instance(rig, "w");
    for (int32_t i = 0; i < 40; i++) {
        struct step_row row = step_of(&instance, i);
        row.kind = (enum step_kind)(1 + i % (STEP_KIND_COUNT - 1));
        row.status = (enum step_status)(1 + i % (STEP_STATUS_COUNT - 1));
        row.stop = (enum step_stop)(i % STEP_STOP_COUNT);
        add_step(rig, row);
        struct step_row seen = lock_step(rig, instance.id, i);
        CHECK_INT(seen.kind, row.kind);
        CHECK_INT(seen.status, row.status);
        CHECK_INT(seen.stop, row.stop);
    }
}

TEST(an_update_of_a_step_writes_all_but_its_plan)
{
    cleanup(rig_closep) struct rig *rig = rig_open();
    begin_write(rig);
    struct instance_row instance = new_instance(rig, "w");
    struct step_row planned = step_of(&instance, 4);
    planned.config = "{}";
    add_step(rig, planned);
    commit(rig);

    begin_write(rig);
    lock_step(rig, instance.id, 4);
    struct step_row changed = full_step(&instance, 4); /* every planned field differs, too */
    update_step(rig, changed);
    commit(rig);
    begin_write(rig);
    struct step_row seen = lock_step(rig, instance.id, 4);
    check_step_planned(&seen, &planned);
    check_step_changing(&seen, &changed);

    update_step(rig, planned); /* and back: what was set can be unset */
    seen = lock_step(rig, instance.id, 4);
    check_step_planned(&seen, &planned);
    check_step_changing(&seen, &planned);
}

/* The same columns of many steps, each time with other values: in `same` of them all have the same. */
static void change_many(struct rig *rig, struct step_row *rows, size_t count, int32_t round,
                        int32_t same)
{
    struct step_row seen[32];
    size_t found = 0;
    for (size_t i = 0; i < count; i++) {
        int32_t own = round * 100 + (int32_t)i, shared = round * 100;
        lock_step(rig, rows[i].instance_id, rows[i].seq);
        rows[i].attempts = same > 0 ? shared : own;
        rows[i].started_at_us = RIG_START_US + (same > 1 ? shared : own);
        rows[i].error = arena_printf(&rig->arena, "%d", (int)(same > 2 ? shared : own));
        rows[i].locked_by = arena_printf(&rig->arena, "w%d", (int)(same > 3 ? shared : own));
        rows[i].token = "t";
        rows[i].locked_until_us = RIG_START_US + own;
        rows[i].status = same > 3 ? STEP_RUNNING : STEP_COMPENSATION;
    }
    MUST(rig, rig->ops->update_steps(rig->tx, rows, count, &rig->error));
    commit(rig);
    begin_write(rig);
    MUST(rig, rig->ops->list_steps(rig->tx, rows[0].instance_id, -1, false, seen, 32, &found,
                                   &rig->error));
    CHECK_INT(found, count);
    for (size_t i = 0; i < count; i++)
        check_step_changing(&seen[i], &rows[i]);
}

TEST(many_steps_are_changed_alike_and_differently)
{
    enum { COUNT = 25 };
    cleanup(rig_closep) struct rig *rig = rig_open();
    begin_write(rig);
    struct instance_row instance = new_instance(rig, "w");
    struct step_row rows[COUNT];
    for (int32_t i = 0; i < COUNT; i++)
        rows[i] = step_of(&instance, i);
    MUST(rig, rig->ops->insert_steps(rig->tx, rows, COUNT, &rig->error));
    static const int32_t same[] = {4, 4, 3, 4, 0, 1, 4, 2, 0};
    for (size_t i = 0; i < sizeof same / sizeof *same; i++)
        change_many(rig, rows, COUNT, (int32_t)i + 1, same[i]);
}

TEST(a_step_can_be_changed_by_the_transaction_that_inserted_it)
{
    cleanup(rig_closep) struct rig *rig = rig_open();
    begin_write(rig);
    struct instance_row instance = new_instance(rig, "w");
    add_pending_steps(rig, &instance, 3);
    struct step_row rows[2] = {ready_step(&instance, 0, "a", 50), step_of(&instance, 2)};
    rows[1].status = STEP_SKIPPED;
    MUST(rig, rig->ops->update_steps(rig->tx, rows, 2, &rig->error));
    CHECK_INT(lock_step(rig, instance.id, 0).status, STEP_READY);
    CHECK_INT(lock_step(rig, instance.id, 1).status, STEP_PENDING);
    CHECK_INT(lock_step(rig, instance.id, 2).status, STEP_SKIPPED);
}

TEST(plans_of_several_instances_are_inserted_in_one_call)
{
    cleanup(rig_closep) struct rig *rig = rig_open();
    begin_write(rig);
    struct instance_row a = new_instance(rig, "w"), b = new_instance(rig, "w");
    struct step_row rows[5] = {step_of(&a, 0), step_of(&a, 1), step_of(&b, 0), step_of(&b, 1),
                               step_of(&b, 2)};
    rows[3].input = "[3]";
    MUST(rig, rig->ops->insert_steps(rig->tx, rows, 5, &rig->error));
    MUST(rig, rig->ops->insert_steps(rig->tx, NULL, 0, &rig->error));
    for (int i = 0; i < 5; i++) {
        struct step_row seen = lock_step(rig, rows[i].instance_id, rows[i].seq);
        check_step_planned(&seen, &rows[i]);
        check_step_changing(&seen, &rows[i]);
    }
}

/* As many as several statements take, and next to each other some that have much, little or nothing in a column. */
TEST(many_steps_of_all_sorts_are_inserted_in_one_call)
{
    enum { COUNT = 47 };
    cleanup(rig_closep) struct rig *rig = rig_open();
    begin_write(rig);
    struct instance_row instance = new_instance(rig, "w");
    struct step_row rows[COUNT], seen[COUNT];
    size_t count = 0;
    for (int32_t i = 0; i < COUNT; i++)
        rows[i] = i % 3 == 0   ? step_of(&instance, i)
                  : i % 3 == 1 ? ready_step(&instance, i, "a", i)
                               : full_step(&instance, i);
    MUST(rig, rig->ops->insert_steps(rig->tx, rows, COUNT, &rig->error));
    MUST(rig, rig->ops->list_steps(rig->tx, instance.id, -1, false, seen, COUNT, &count,
                                   &rig->error));
    CHECK_INT(count, COUNT);
    for (size_t i = 0; i < COUNT; i++) {
        check_step_planned(&seen[i], &rows[i]);
        check_step_changing(&seen[i], &rows[i]);
    }
}

/* ---- locking by place -------------------------------------------------------------------- */

TEST(each_lock_of_a_step_belongs_to_its_place)
{
    cleanup(rig_closep) struct rig *rig = rig_open();
    begin_write(rig);
    struct instance_row a = new_instance(rig, "w"), b = new_instance(rig, "w");
    add_pending_steps(rig, &a, 3);
    add_pending_steps(rig, &b, 2);
    commit(rig);
    begin_write(rig);
    struct step_ref refs[] = {{b.id, 1}, {a.id, 2}, {b.id, 2},     {a.id, 0},
                              {a.id, 3}, {b.id, 0}, {"nobody", 0}, {a.id, -1}};
    static const bool wanted[] = {true, true, false, true, false, true, false, false};
    struct step_row rows[8];
    bool is_found[8];
    MUST(rig, rig->ops->lock_steps(rig->tx, refs, 8, rows, is_found, &rig->error));
    for (int i = 0; i < 8; i++) {
        CHECK(is_found[i] == wanted[i], "ref %d: found is %d", i, is_found[i]);
        if (!is_found[i])
            continue;
        CHECK_STR(rows[i].instance_id, refs[i].instance_id);
        CHECK_INT(rows[i].seq, refs[i].seq);
    }
    MUST(rig, rig->ops->lock_steps(rig->tx, NULL, 0, NULL, NULL, &rig->error));
}

static struct steps *lock_between(struct rig *rig, const char *id, enum step_status status,
                                  int32_t from, int32_t to, size_t room)
{
    struct steps *steps = arena_zalloc(&rig->arena, sizeof *steps);
    MUST(rig, rig->ops->lock_steps_between(rig->tx, id, status, from, to, steps->rows, room,
                                           &steps->count, &rig->error));
    return steps;
}

TEST(steps_between_two_places_are_locked_by_place_and_status)
{
    cleanup(rig_closep) struct rig *rig = rig_open();
    begin_write(rig);
    struct instance_row instance = new_instance(rig, "w"), other = new_instance(rig, "w");
    add_pending_steps(rig, &other, 9);
    for (int32_t i = 8; i >= 0; i--) {
        struct step_row row = step_of(&instance, i);
        row.status = i % 3 == 1 ? STEP_COMPLETED : STEP_PENDING;
        row.output = "{\"whole\":true}";
        add_step(rig, row);
    }
    const char *id = instance.id;
    CHECK_STEPS(lock_between(rig, id, STEP_NONE, 2, 4, ROWS_MAX), "s2", "s3", "s4");
    CHECK_STEPS(lock_between(rig, id, STEP_COMPLETED, 0, 8, ROWS_MAX), "s1", "s4", "s7");
    CHECK_STEPS(lock_between(rig, id, STEP_COMPLETED, 2, 7, ROWS_MAX), "s4", "s7");
    CHECK_STEPS(lock_between(rig, id, STEP_PENDING, 7, INT32_MAX, ROWS_MAX), "s8");
    CHECK_STEPS(lock_between(rig, id, STEP_PENDING, -1, 5, 3), "s0", "s2", "s3");
    CHECK_STEPS(lock_between(rig, id, STEP_NONE, 8, 8, 1), "s8");
    CHECK_NO_STEPS(lock_between(rig, id, STEP_FAILED, 0, 8, ROWS_MAX));
    CHECK_NO_STEPS(lock_between(rig, id, STEP_NONE, 5, 4, ROWS_MAX));
    CHECK_NO_STEPS(lock_between(rig, id, STEP_NONE, 9, 12, ROWS_MAX));
    CHECK_NO_STEPS(lock_between(rig, "nobody", STEP_NONE, 0, 9, ROWS_MAX));
    CHECK_JSON(lock_between(rig, id, STEP_NONE, 0, 0, 1)->rows[0].output, "{\"whole\":true}");
}

TEST(steps_of_a_fork_are_listed_without_payloads)
{
    cleanup(rig_closep) struct rig *rig = rig_open();
    begin_write(rig);
    struct instance_row instance = new_instance(rig, "w");
    struct step_row rows[4];
    size_t count = 0;
    for (int32_t i = 0; i < 6; i++) {
        struct step_row row = step_of(&instance, i);
        row.input = row.output = row.passed = "{\"a\":1}";
        add_step(rig, row);
    }
    MUST(rig,
         rig->ops->list_fork_steps(rig->tx, instance.id, 1, 4, rows, 3, &count, &rig->error));
    CHECK_INT(count, 3);
    CHECK_STR(rows[0].name, "s1");
    CHECK_STR(rows[2].name, "s3");
    CHECK(!rows[0].input && !rows[0].output && !rows[0].passed, "a payload was read");
    CHECK_STR(rows[0].instance_id, instance.id);
    MUST(rig,
         rig->ops->list_fork_steps(rig->tx, instance.id, 4, 9, rows, 4, &count, &rig->error));
    CHECK_INT(count, 2);
    MUST(rig, rig->ops->list_fork_steps(rig->tx, "nobody", 0, 9, rows, 4, &count, &rig->error));
    CHECK_INT(count, 0);
}

/* ---- current steps ----------------------------------------------------------------------- */

static struct steps *lock_current(struct rig *rig, const char *id, int32_t after, size_t room)
{
    struct steps *steps = arena_zalloc(&rig->arena, sizeof *steps);
    MUST(rig, rig->ops->lock_current_steps(rig->tx, id, after, steps->rows, room, &steps->count,
                                           &rig->error));
    return steps;
}

static struct steps *list_steps(struct rig *rig, const char *id, int32_t after, bool is_current,
                                size_t room)
{
    struct steps *steps = arena_zalloc(&rig->arena, sizeof *steps);
    MUST(rig, rig->ops->list_steps(rig->tx, id, after, is_current, steps->rows, room,
                                   &steps->count, &rig->error));
    return steps;
}

/* Whether a status alone makes a step current. */
static bool is_current_status(enum step_status status)
{
    return status == STEP_READY || status == STEP_RUNNING || status == STEP_WAITING ||
           status == STEP_WAITING_DECISION || status == STEP_PAUSED ||
           status == STEP_COMPENSATION;
}

/* One step for each status; the status is its place. */
static struct instance_row add_one_of_each(struct rig *rig)
{
    struct instance_row instance = new_instance(rig, "w");
    for (int32_t status = STEP_PENDING; status < STEP_STATUS_COUNT; status++) {
        struct step_row row = step_of(&instance, status);
        row.status = (enum step_status)status;
        add_step(rig, row);
    }
    return instance;
}

TEST(the_current_steps_are_those_of_six_statuses)
{
    cleanup(rig_closep) struct rig *rig = rig_open();
    begin_write(rig);
    struct instance_row instance = add_one_of_each(rig);
    struct steps *steps = lock_current(rig, instance.id, -1, ROWS_MAX);
    size_t at = 0;
    for (int32_t status = STEP_PENDING; status < STEP_STATUS_COUNT; status++)
        if (is_current_status((enum step_status)status)) {
            CHECK(at < steps->count, "status %d is missing", status);
            CHECK_INT(steps->rows[at++].seq, status);
        }
    CHECK_INT(steps->count, at);
    CHECK_NO_STEPS(lock_current(rig, "nobody", -1, ROWS_MAX));
}

static struct steps *list_open(struct rig *rig, const char *id, int32_t after, size_t room)
{
    struct steps *steps = arena_zalloc(&rig->arena, sizeof *steps);
    MUST(rig, rig->ops->list_open_steps(rig->tx, &id, 1, after, steps->rows, room,
                                        &steps->count, &rig->error));
    return steps;
}

TEST(a_lease_or_being_held_makes_any_step_current)
{
    cleanup(rig_closep) struct rig *rig = rig_open();
    begin_write(rig);
    struct instance_row instance = new_instance(rig, "w");
    for (int32_t i = 0; i < 6; i++) {
        struct step_row row = step_of(&instance, i);
        row.status = i < 3 ? STEP_SKIPPED : STEP_COMPLETED;
        if (i == 1) {
            row.locked_by = "w";
            row.token = "t";
            row.locked_until_us = RIG_START_US + 1;
        }
        row.is_held = i == 4;
        add_step(rig, row);
    }
    CHECK_STEPS(lock_current(rig, instance.id, -1, ROWS_MAX), "s1", "s4");
    CHECK_STEPS(list_open(rig, instance.id, -1, ROWS_MAX), "s1", "s4");
    CHECK_STEPS(list_open(rig, instance.id, -1, 1), "s1");
    CHECK_STEPS(list_open(rig, instance.id, 1, ROWS_MAX), "s4");

    struct step_row row = lock_step(rig, instance.id, 1);
    row.locked_by = row.token = NULL;
    row.locked_until_us = 0;
    update_step(rig, row);
    row = lock_step(rig, instance.id, 5);
    row.is_held = true;
    update_step(rig, row);
    CHECK_STEPS(lock_current(rig, instance.id, -1, ROWS_MAX), "s4", "s5");
    CHECK_NO_STEPS(list_steps(rig, instance.id, -1, true, ROWS_MAX)); /* by status alone */
}

/* In the order that they are asked for, whatever their numbers; what they were given is left out. */
TEST(open_steps_of_several_instances_are_one_question)
{
    cleanup(rig_closep) struct rig *rig = rig_open();
    const char *ids[4] = {NULL, NULL, NULL, "00000000-0000-7000-8000-000000000000"};
    struct step_row rows[8];
    size_t count;
    begin_write(rig);
    for (int i = 2; i >= 0; i--) {
        struct instance_row instance = new_instance(rig, "w");
        ids[i] = arena_strdup(&rig->arena, instance.id);
        for (int32_t seq = 0; seq < 3; seq++) {
            struct step_row row = step_of(&instance, seq);
            row.status = seq == 1 || i == 1 ? STEP_COMPLETED : STEP_READY;
            row.input = row.output = row.passed = "{\"large\": true}";
            add_step(rig, row);
        }
    }
    MUST(rig, rig->ops->list_open_steps(rig->tx, ids, 4, -1, rows, 8, &count, &rig->error));
    CHECK_INT(count, 4);
    for (size_t i = 0; i < count; i++) {
        CHECK_STR(rows[i].instance_id, ids[i < 2 ? 0 : 2]);
        CHECK_INT(rows[i].seq, i % 2 ? 2 : 0);
        CHECK(!rows[i].input && !rows[i].output && !rows[i].passed, "payloads were read");
    }
    MUST(rig, rig->ops->list_open_steps(rig->tx, ids, 4, 0, rows, 2, &count, &rig->error));
    CHECK_INT(count, 2);
    CHECK_INT(rows[0].seq, 2);
    CHECK_STR(rows[1].instance_id, ids[2]);
    CHECK_INT(rows[1].seq, 0);
    MUST(rig, rig->ops->list_open_steps(rig->tx, ids, 0, -1, rows, 8, &count, &rig->error));
    CHECK_INT(count, 0);
}

TEST(current_steps_are_locked_page_by_page)
{
    cleanup(rig_closep) struct rig *rig = rig_open();
    begin_write(rig);
    struct instance_row instance = new_instance(rig, "w"), other = new_instance(rig, "w");
    for (int32_t i = 6; i >= 0; i--) {
        struct step_row row = step_of(&instance, i);
        row.status = i == 3 ? STEP_PENDING : STEP_WAITING;
        row.waiting_event = "paid";
        add_step(rig, row);
        add_step(rig, ready_step(&other, i, "a", 50));
    }
    CHECK_STEPS(lock_current(rig, instance.id, -1, 2), "s0", "s1");
    CHECK_STEPS(lock_current(rig, instance.id, 1, 2), "s2", "s4");
    CHECK_STEPS(lock_current(rig, instance.id, 4, 9), "s5", "s6");
    CHECK_NO_STEPS(lock_current(rig, instance.id, 6, 9));
    CHECK_STR(lock_current(rig, instance.id, 3, 1)->rows[0].waiting_event, "paid");
}

/* ---- committed steps --------------------------------------------------------------------- */

static struct steps *lock_committed(struct rig *rig, const char *id, int64_t below,
                                    int32_t from, int32_t to, size_t room)
{
    struct steps *steps = arena_zalloc(&rig->arena, sizeof *steps);
    MUST(rig, rig->ops->lock_committed_steps(rig->tx, id, below, from, to, steps->rows, room,
                                             &steps->count, &rig->error));
    return steps;
}

TEST(committed_steps_are_locked_the_latest_first)
{
    cleanup(rig_closep) struct rig *rig = rig_open();
    static const int64_t numbers[] = {3, 0, 1, INT64_MAX, 2, 7};
    begin_write(rig);
    struct instance_row instance = new_instance(rig, "w"), other = new_instance(rig, "w");
    for (int32_t i = 0; i < 6; i++) {
        struct step_row row = step_of(&instance, i);
        row.status = STEP_COMPLETED;
        row.commit_no = numbers[i];
        add_step(rig, row);
        row.instance_id = other.id;
        row.instance_seq = other.seq;
        add_step(rig, row);
    }
    const char *id = instance.id;
    CHECK_STEPS(lock_committed(rig, id, INT64_MAX, 0, 99, 9), "s5", "s0", "s4", "s2");
    CHECK_STEPS(lock_committed(rig, id, 7, 0, 99, 9), "s0", "s4", "s2");
    CHECK_STEPS(lock_committed(rig, id, 7, 0, 99, 2), "s0", "s4");
    CHECK_STEPS(lock_committed(rig, id, 8, 1, 5, 9), "s5", "s4", "s2");
    CHECK_STEPS(lock_committed(rig, id, INT64_MAX, 2, 4, 1), "s4");
    CHECK_NO_STEPS(lock_committed(rig, id, 1, 0, 99, 9));
    CHECK_NO_STEPS(lock_committed(rig, id, INT64_MAX, 1, 1, 9));
    CHECK_NO_STEPS(lock_committed(rig, "nobody", INT64_MAX, 0, 99, 9));

    struct step_row row = lock_step(rig, id, 1);
    row.commit_no = 5;
    update_step(rig, row);
    row = lock_step(rig, id, 0);
    row.commit_no = 0;
    update_step(rig, row);
    CHECK_STEPS(lock_committed(rig, id, 8, 0, 99, 9), "s5", "s1", "s4", "s2");
}

/* ---- lists ------------------------------------------------------------------------------- */

TEST(steps_are_listed_by_place_page_by_page)
{
    cleanup(rig_closep) struct rig *rig = rig_open();
    begin_write(rig);
    struct instance_row instance = new_instance(rig, "w"), other = new_instance(rig, "w");
    add_pending_steps(rig, &other, 9);
    for (int32_t i = 4; i >= 0; i--)
        add_step(rig, step_of(&instance, i));
    commit(rig);
    begin_read(rig);
    CHECK_STEPS(list_steps(rig, instance.id, -1, false, ROWS_MAX), "s0", "s1", "s2", "s3",
                "s4");
    CHECK_STEPS(list_steps(rig, instance.id, -1, false, 2), "s0", "s1");
    CHECK_STEPS(list_steps(rig, instance.id, 1, false, 2), "s2", "s3");
    CHECK_STEPS(list_steps(rig, instance.id, 3, false, 2), "s4");
    CHECK_NO_STEPS(list_steps(rig, instance.id, 4, false, 2));
    CHECK_NO_STEPS(list_steps(rig, instance.id, -1, true, ROWS_MAX));
    CHECK_NO_STEPS(list_steps(rig, "nobody", -1, false, ROWS_MAX));
}

TEST(a_list_of_current_steps_has_the_six_statuses)
{
    cleanup(rig_closep) struct rig *rig = rig_open();
    begin_write(rig);
    struct instance_row instance = add_one_of_each(rig);
    int32_t after = -1;
    size_t seen = 0;
    for (;;) {
        struct steps *steps = list_steps(rig, instance.id, after, true, 2);
        for (size_t i = 0; i < steps->count; i++, seen++)
            CHECK(is_current_status(steps->rows[i].status), "status %d is in the list",
                  steps->rows[i].status);
        if (!steps->count)
            break;
        after = steps->rows[steps->count - 1].seq;
    }
    CHECK_INT(seen, 6);
}

TEST(a_step_is_found_by_its_name_in_its_instance)
{
    cleanup(rig_closep) struct rig *rig = rig_open();
    struct step_row seen;
    begin_write(rig);
    struct instance_row a = new_instance(rig, "w"), b = new_instance(rig, "w");
    add_pending_steps(rig, &a, 12);
    add_pending_steps(rig, &b, 2);
    CHECK_INT(get_step(rig, a.id, "s1").seq, 1);
    CHECK_INT(get_step(rig, a.id, "s11").seq, 11);
    CHECK_STR(get_step(rig, b.id, "s1").instance_id, b.id);
    strcpy(rig->error.message, "as it was");
    CHECK_INT(rig->ops->get_step(rig->tx, b.id, "s5", &seen, &rig->error), CAIRN_E_NOT_FOUND);
    CHECK_INT(rig->ops->get_step(rig->tx, a.id, "S1", &seen, &rig->error), CAIRN_E_NOT_FOUND);
    CHECK_INT(rig->ops->get_step(rig->tx, "nobody", "s1", &seen, &rig->error),
              CAIRN_E_NOT_FOUND);
    CHECK_STR(rig->error.message, "as it was");
}

TEST(an_instance_may_have_ten_thousand_steps)
{
    cleanup(rig_closep) struct rig *rig = rig_open();
    enum { STEPS = 10000 };
    begin_write(rig);
    struct instance_row instance = new_instance(rig, "w");
    struct step_row *rows = arena_array(&rig->arena, STEPS, sizeof *rows);
    CHECK(rows, "no memory");
    for (int32_t i = 0; i < STEPS; i++) {
        rows[i] = step_of(&instance, 0);
        rows[i].seq = i;
        rows[i].next = i + 1 < STEPS ? i + 1 : -1;
        rows[i].name = arena_printf(&rig->arena, "step %d", i);
    }
    MUST(rig, rig->ops->insert_steps(rig->tx, rows, STEPS, &rig->error));
    commit(rig);
    begin_write(rig);
    CHECK_INT(lock_step(rig, instance.id, STEPS - 1).next, -1);
    CHECK_INT(get_step(rig, instance.id, "step 5000").seq, 5000);
    CHECK_STEPS(list_steps(rig, instance.id, STEPS - 3, false, ROWS_MAX), "step 9998",
                "step 9999");
}
