/* tests/store/test_flow_function.c - instances of functions: steps that are added later, claimed
 * as passages, and forgotten.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "flow_rig.h"

/* ---- helpers ----------------------------------------------------------------------------- */

/* An instance of a function, with its runner row at place 0, which is ready. */
static struct instance_row new_function(struct rig *rig, const char *name)
{
    struct instance_row row = instance_of(rig, name);
    row.is_function = true;
    row.revision = 1;
    row.places = 1;
    row.active_count = 1;
    row = add_instance(rig, row);
    struct step_row runner = ready_step(&row, 0, name, 50);
    runner.kind = KIND_FUNCTION;
    add_step(rig, runner);
    return row;
}

/* What is remembered of a step that has ended: nobody can ever claim it. */
static struct step_row remembered(const struct instance_row *instance, int32_t seq,
                                  enum step_kind kind)
{
    struct step_row row = step_of(instance, seq);
    row.kind = kind;
    row.handler = NULL;
    row.status = STEP_COMPLETED;
    row.output = "{\"n\":1}";
    row.commit_no = seq;
    row.finished_at_us = instance->created_at_us;
    return row;
}

static void delete_steps(struct rig *rig, const struct step_ref *refs, size_t count)
{
    MUST(rig, rig->ops->delete_steps(rig->tx, refs, count, &rig->error));
}

/* Locks a step, which must be there, and deletes it. */
static void delete_step(struct rig *rig, const char *instance_id, int32_t seq)
{
    lock_step(rig, instance_id, seq);
    delete_steps(rig, &(struct step_ref){instance_id, seq}, 1);
}

static struct steps *list_all(struct rig *rig, const char *instance_id)
{
    struct steps *steps = arena_zalloc(&rig->arena, sizeof *steps);
    MUST(rig, rig->ops->list_steps(rig->tx, instance_id, -1, false, steps->rows, ROWS_MAX,
                                   &steps->count, &rig->error));
    return steps;
}

static struct steps *lock_current(struct rig *rig, const char *instance_id)
{
    struct steps *steps = arena_zalloc(&rig->arena, sizeof *steps);
    MUST(rig, rig->ops->lock_current_steps(rig->tx, instance_id, -1, steps->rows, ROWS_MAX,
                                           &steps->count, &rig->error));
    return steps;
}

static struct steps *lock_committed(struct rig *rig, const char *instance_id)
{
    struct steps *steps = arena_zalloc(&rig->arena, sizeof *steps);
    MUST(rig,
         rig->ops->lock_committed_steps(rig->tx, instance_id, INT64_MAX, 0, INT32_MAX,
                                        steps->rows, ROWS_MAX, &steps->count, &rig->error));
    return steps;
}

static size_t promote(struct rig *rig)
{
    size_t count = SIZE_MAX;
    MUST(rig, rig->ops->promote_steps(rig->tx, ROWS_MAX, &count, &rig->error));
    return count;
}

static size_t count_due(struct rig *rig)
{
    struct step_ref refs[ROWS_MAX];
    size_t count = SIZE_MAX;
    MUST(rig, rig->ops->find_due_steps(rig->tx, refs, ROWS_MAX, &count, &rig->error));
    return count;
}

static struct step_counts count_steps(struct rig *rig)
{
    struct step_counts counts = {99, 99};
    MUST(rig, rig->ops->count_steps(rig->tx, &counts, &rig->error));
    return counts;
}

/* ---- the instance ------------------------------------------------------------------------ */

static void check_function(const struct instance_row *seen, const struct instance_row *wanted)
{
    CHECK_INT(seen->is_function, wanted->is_function);
    CHECK_INT(seen->revision, wanted->revision);
    CHECK_INT(seen->places, wanted->places);
    CHECK_INT(seen->is_forced, wanted->is_forced);
    CHECK_INT(seen->is_woken, wanted->is_woken);
}

/* As each verb reads it. */
static void check_everywhere(struct rig *rig, const struct instance_row *wanted)
{
    struct list_filter filters[] = {{0},
                                    {.statuses = STATUS_BIT(wanted->status)},
                                    {.workflow = wanted->workflow},
                                    {.key = wanted->key}};
    struct instance_row seen = lock_instance(rig, wanted->id);
    check_function(&seen, wanted);
    seen = get_instance(rig, wanted->id);
    check_function(&seen, wanted);
    for (size_t i = 0; i < sizeof filters / sizeof *filters; i++) {
        struct list_end end = {0};
        MUST(rig, list_instances(rig->tx, &filters[i], &seen, 1, &end, &rig->error));
        CHECK_INT(end.count, 1);
        CHECK_STR(seen.id, wanted->id);
        check_function(&seen, wanted);
    }
}

TEST(what_is_a_functions_own_is_read_and_written_by_every_verb)
{
    cleanup(rig_closep) struct rig *rig = rig_open();
    begin_write(rig);
    for (int i = 0; i < 8; i++) { /* each truth apart from the others */
        struct instance_row row = instance_of(rig, "w");
        row.key = arena_printf(&rig->arena, "k%d", i);
        row.is_function = i & 1;
        row.is_forced = i & 2;
        row.is_woken = i & 4;
        row.revision = i ? INT64_MAX - i : 0;
        row.places = i ? INT32_MAX - i : 0;
        row = add_instance(rig, row);
        check_everywhere(rig, &row);

        row.is_function = !row.is_function;
        row.is_forced = !row.is_forced;
        row.is_woken = !row.is_woken;
        row.revision = 100 + i;
        row.places = 200 + i;
        update_instance(rig, row);
        check_everywhere(rig, &row);
        commit(rig);
        begin_write(rig);
        check_everywhere(rig, &row);
    }
}

TEST(a_revision_is_written_when_nothing_else_has_changed)
{
    cleanup(rig_closep) struct rig *rig = rig_open();
    begin_write(rig);
    struct instance_row row = new_function(rig, "f"), other = new_function(rig, "f");
    for (int i = 0; i < 300; i++) { /* past the sizes of one byte */
        row.revision++;
        update_instance(rig, row);
    }
    commit(rig);
    begin_write(rig);
    struct instance_row seen = lock_instance(rig, row.id);
    check_instance_fixed(&seen, &row);
    check_instance_changing(&seen, &row);
    CHECK_INT(seen.revision, 301);
    CHECK_INT(get_instance(rig, other.id).revision, 1);
}

/* ---- what is remembered ------------------------------------------------------------------ */

TEST(steps_are_added_to_an_instance_that_is_there)
{
    cleanup(rig_closep) struct rig *rig = rig_open();
    static const enum step_kind kinds[] = {KIND_TASK, KIND_SLEEP, KIND_WAIT, KIND_VALUE,
                                           KIND_START};
    begin_write(rig);
    struct instance_row row = new_function(rig, "f"), later = new_function(rig, "f");
    commit(rig);
    for (int32_t i = 1; i <= 5; i++) {
        pass_us(rig, 10);
        begin_write(rig);
        struct instance_row locked = lock_instance(rig, row.id);
        struct step_row step = remembered(&locked, i, kinds[i - 1]), seen;
        step.config = i == 1 ? "{\"compensation\":{\"handler\":\"undo\"}}" : NULL;
        add_step(rig, step);
        seen = lock_step(rig, row.id, i);
        check_step_planned(&seen, &step);
        check_step_changing(&seen, &step);
        commit(rig);
    }
    begin_read(rig);
    CHECK_STEPS(list_all(rig, row.id), "s0", "s1", "s2", "s3", "s4", "s5");
    CHECK_STEPS(list_all(rig, later.id), "s0");
    for (int32_t i = 1; i <= 5; i++)
        CHECK_INT(list_all(rig, row.id)->rows[i].kind, kinds[i - 1]);
}

/* Places run on, though some between have been forgotten. */
TEST(places_may_be_left_out)
{
    cleanup(rig_closep) struct rig *rig = rig_open();
    begin_write(rig);
    struct instance_row row = new_function(rig, "f");
    commit(rig);
    begin_write(rig);
    struct step_row far = remembered(&row, 5, KIND_VALUE);
    far.seq = 9999;
    add_step(rig, far);
    add_step(rig, remembered(&row, 7, KIND_VALUE));
    CHECK_STEPS(list_all(rig, row.id), "s0", "s7", "s5");
    CHECK_INT(lock_step(rig, row.id, 9999).seq, 9999);
}

TEST(a_function_that_remembers_much_is_read_page_by_page)
{
    enum { MANY = 500, AT_ONCE = 50 };
    cleanup(rig_closep) struct rig *rig = rig_open();
    begin_write(rig);
    struct instance_row row = new_function(rig, "f");
    commit(rig);
    for (int32_t first = 1; first < MANY; first += AT_ONCE) {
        struct step_row rows[AT_ONCE];
        begin_write(rig);
        for (int32_t i = 0; i < AT_ONCE; i++) {
            rows[i] = remembered(&row, 1, KIND_TASK);
            rows[i].seq = first + i;
            rows[i].commit_no = first + i;
            rows[i].name = arena_printf(&rig->arena, "key#%d", first + i);
        }
        MUST(rig, rig->ops->insert_steps(rig->tx, rows, AT_ONCE, &rig->error));
        commit(rig);
    }

    begin_read(rig);
    int32_t at = 0;
    for (size_t count = 1; count;) {
        struct step_row rows[ROWS_MAX];
        MUST(rig, rig->ops->list_steps(rig->tx, row.id, at, false, rows, ROWS_MAX, &count,
                                       &rig->error));
        for (size_t i = 0; i < count; i++) {
            at++;
            CHECK_INT(rows[i].seq, at);
            CHECK_INT(rows[i].commit_no, at);
        }
    }
    CHECK_INT(at, MANY);
    CHECK_INT(get_step(rig, row.id, "key#456").seq, 456);
}

TEST(steps_that_are_rolled_back_were_never_added)
{
    cleanup(rig_closep) struct rig *rig = rig_open();
    begin_write(rig);
    struct instance_row row = new_function(rig, "f");
    commit(rig);
    begin_write(rig);
    add_step(rig, remembered(&row, 1, KIND_TASK));
    roll_back(rig);
    begin_write(rig);
    CHECK_STEPS(list_all(rig, row.id), "s0");
    CHECK_NO_STEPS(lock_committed(rig, row.id));
    add_step(rig, remembered(&row, 1, KIND_VALUE));
    CHECK_INT(lock_step(rig, row.id, 1).kind, KIND_VALUE);
}

TEST(only_the_runner_of_a_function_is_claimed_and_not_what_it_remembers)
{
    cleanup(rig_closep) struct rig *rig = rig_open();
    begin_write(rig);
    struct instance_row row = new_function(rig, "f");
    struct step_row retry = remembered(&row, 1, KIND_TASK);
    retry.status = STEP_READY; /* awaits a retry */
    retry.attempts = 1;
    retry.error = "it's \"broken\"";
    retry.output = NULL;
    retry.commit_no = 0;
    retry.finished_at_us = 0;
    retry.next_run_at_us = RIG_START_US - 1;
    add_step(rig, retry);
    add_step(rig, remembered(&row, 2, KIND_TASK));
    commit(rig);

    begin_write(rig);
    CHECK_INT(promote(rig), 0);
    CHECK_INT(count_due(rig), 0);
    CHECK_INT(next_due(rig).flow_us, 0);
    CHECK_INT(count_steps(rig).ready, 1);
    struct steps *claimed = claim_steps(rig, 9, "%");
    CHECK_STEPS(claimed, "s0");
    CHECK_INT(claimed->rows[0].kind, KIND_FUNCTION);
    CHECK_STR(claimed->rows[0].task_type, "f");
    CHECK_STEPS(lock_current(rig, row.id), "s0", "s1");
    struct step_row seen = lock_step(rig, row.id, 1);
    check_step_planned(&seen, &retry);
    check_step_changing(&seen, &retry);
}

TEST(what_is_remembered_is_claimed_when_it_is_to_be_undone)
{
    cleanup(rig_closep) struct rig *rig = rig_open();
    begin_write(rig);
    struct instance_row row = new_function(rig, "f");
    add_step(rig, remembered(&row, 1, KIND_TASK));
    add_step(rig, remembered(&row, 2, KIND_TASK));
    commit(rig);
    begin_write(rig);
    CHECK_STEPS(lock_committed(rig, row.id), "s2", "s1");
    struct step_row undo = lock_step(rig, row.id, 2);
    undo.status = STEP_COMPENSATION;
    undo.task_type = "release";
    undo.is_ready = true;
    undo.next_run_at_us = RIG_START_US;
    update_step(rig, undo);
    struct steps *claimed = claim_steps(rig, 9, "release");
    CHECK_STEPS(claimed, "s2");
    CHECK_INT(claimed->rows[0].status, STEP_COMPENSATION);
    CHECK_TEXT(claimed->rows[0].handler, NULL);
}

TEST(a_passage_can_be_told_that_its_function_is_paused)
{
    cleanup(rig_closep) struct rig *rig = rig_open();
    begin_write(rig);
    struct instance_row row = new_function(rig, "f");
    CHECK_STEPS(claim_steps(rig, 9, "f"), "s0");
    struct step_row runner = lock_step(rig, row.id, 0);
    runner.stop = STOP_PAUSED;
    update_step(rig, runner);
    commit(rig);
    begin_write(rig);
    CHECK_INT(lock_step(rig, row.id, 0).stop, STOP_PAUSED);
    CHECK_STR(lock_step(rig, row.id, 0).locked_by, "w");
}

/* ---- forgetting -------------------------------------------------------------------------- */

TEST(a_deleted_step_is_not_there)
{
    cleanup(rig_closep) struct rig *rig = rig_open();
    begin_write(rig);
    struct instance_row row = new_function(rig, "f"), other = new_function(rig, "f");
    for (int32_t i = 1; i <= 4; i++) {
        add_step(rig, remembered(&row, i, KIND_TASK));
        add_step(rig, remembered(&other, i, KIND_TASK));
    }
    commit(rig);

    begin_write(rig);
    delete_step(rig, row.id, 2);
    for (int round = 0; round < 2; round++) { /* in the transaction and after it */
        struct step_row seen, between[ROWS_MAX];
        struct step_ref ref = {row.id, 2};
        bool is_found = true;
        size_t count;
        CHECK_STEPS(list_all(rig, row.id), "s0", "s1", "s3", "s4");
        CHECK_STEPS(list_all(rig, other.id), "s0", "s1", "s2", "s3", "s4");
        CHECK_STEPS(lock_committed(rig, row.id), "s4", "s3", "s1");
        MUST(rig, rig->ops->lock_steps(rig->tx, &ref, 1, &seen, &is_found, &rig->error));
        CHECK(!is_found, "it can be locked");
        CHECK_INT(rig->ops->get_step(rig->tx, row.id, "s2", &seen, &rig->error),
                  CAIRN_E_NOT_FOUND);
        MUST(rig, rig->ops->lock_steps_between(rig->tx, row.id, STEP_COMPLETED, 1, 3, between,
                                               ROWS_MAX, &count, &rig->error));
        CHECK_INT(count, 2);
        CHECK_INT(between[1].seq, 3);
        commit(rig);
        begin_write(rig);
    }
}

TEST(steps_that_are_not_there_are_passed_over)
{
    cleanup(rig_closep) struct rig *rig = rig_open();
    begin_write(rig);
    struct instance_row a = new_function(rig, "f"), b = new_function(rig, "f");
    for (int32_t i = 1; i <= 3; i++) {
        add_step(rig, remembered(&a, i, KIND_TASK));
        add_step(rig, remembered(&b, i, KIND_TASK));
    }
    commit(rig);
    begin_write(rig);
    struct step_ref refs[] = {{a.id, 3},      {"nobody", 0},     {b.id, 1}, {a.id, 77},
                              {b.id, 999999}, {b.id, INT32_MAX}, {a.id, 1}, {b.id, 2}};
    delete_steps(rig, refs, sizeof refs / sizeof *refs);
    CHECK_STEPS(list_all(rig, a.id), "s0", "s2");
    CHECK_STEPS(list_all(rig, b.id), "s0", "s3");
    delete_steps(rig, refs, sizeof refs / sizeof *refs); /* again */
    delete_steps(rig, NULL, 0);
    CHECK_STEPS(list_all(rig, a.id), "s0", "s2");
    CHECK_STEPS(list_all(rig, b.id), "s0", "s3");
}

/* One step of each of these, all deleted by the test. */
static struct instance_row add_busy_steps(struct rig *rig)
{
    struct instance_row row = new_function(rig, "f");
    struct step_row leased = ready_step(&row, 1, "leased", 50);
    add_step(rig, leased);
    CHECK_STEPS(claim_steps(rig, 9, "leased"), "s1");
    add_step(rig, ready_step(&row, 2, "ready", 50));
    struct step_row later = ready_step(&row, 3, "later", 50);
    later.is_ready = false;
    later.due_at_us = later.next_run_at_us = RIG_START_US;
    add_step(rig, later);
    struct step_row wait = step_of(&row, 4);
    wait.kind = KIND_WAIT;
    wait.handler = NULL;
    wait.next = 0;
    wait.status = STEP_WAITING;
    wait.waiting_event = "paid";
    wait.due_at_us = wait.deadline_at_us = RIG_START_US;
    add_step(rig, wait);
    add_step(rig, remembered(&row, 5, KIND_VALUE));
    return row;
}

static void check_busy_steps(struct rig *rig, const struct instance_row *row)
{
    struct steps *claimed = arena_zalloc(&rig->arena, sizeof *claimed);
    CHECK_STEPS(lock_current(rig, row->id), "s0", "s1", "s2", "s3", "s4");
    CHECK_STEPS(lock_committed(rig, row->id), "s5");
    CHECK_INT(count_due(rig), 1);
    CHECK_INT(next_due(rig).flow_us, RIG_START_US);
    CHECK_INT(count_steps(rig).ready, 2);
    CHECK_INT(count_steps(rig).leased, 1);
    MUST(rig, rig->ops->find_claimed_steps(rig->tx, "w", "t", claimed->rows, ROWS_MAX,
                                           &claimed->count, &rig->error));
    CHECK_STEPS(claimed, "s1");
}

/* Only the runner is left. */
static void check_forgotten(struct rig *rig, const struct instance_row *row)
{
    struct steps *claimed = arena_zalloc(&rig->arena, sizeof *claimed);
    CHECK_STEPS(list_all(rig, row->id), "s0");
    CHECK_STEPS(lock_current(rig, row->id), "s0");
    CHECK_NO_STEPS(lock_committed(rig, row->id));
    CHECK_INT(count_due(rig), 0);
    CHECK_INT(promote(rig), 0);
    CHECK_INT(next_due(rig).flow_us, 0);
    CHECK_INT(count_steps(rig).ready, 1);
    CHECK_INT(count_steps(rig).leased, 0);
    MUST(rig, rig->ops->find_claimed_steps(rig->tx, "w", "t", claimed->rows, ROWS_MAX,
                                           &claimed->count, &rig->error));
    CHECK_NO_STEPS(claimed);
}

TEST(a_deleted_step_is_neither_claimed_nor_promoted_nor_due_nor_undone)
{
    cleanup(rig_closep) struct rig *rig = rig_open();
    struct steps *shown = arena_zalloc(&rig->arena, sizeof *shown);
    begin_write(rig);
    struct instance_row row = add_busy_steps(rig);
    commit(rig);
    begin_write(rig);
    check_busy_steps(rig, &row);
    for (int32_t i = 1; i <= 5; i++)
        delete_step(rig, row.id, i);
    check_forgotten(rig, &row);
    commit(rig);

    pass_us(rig, 2 * US_PER_MIN);
    begin_write(rig);
    check_forgotten(rig, &row);
    MUST(rig, rig->ops->list_steps(rig->tx, row.id, -1, true, shown->rows, ROWS_MAX,
                                   &shown->count, &rig->error));
    CHECK_STEPS(shown, "s0");
    CHECK_STEPS(claim_steps(rig, 9, "%"), "s0");
}

TEST(a_deletion_that_is_rolled_back_has_not_happened)
{
    cleanup(rig_closep) struct rig *rig = rig_open();
    begin_write(rig);
    struct instance_row row = add_busy_steps(rig);
    commit(rig);
    begin_write(rig);
    struct steps before = *list_all(rig, row.id);
    CHECK_INT(before.count, 6);
    for (int32_t i = 5; i >= 0; i--)
        delete_step(rig, row.id, i);
    CHECK_NO_STEPS(list_all(rig, row.id));
    roll_back(rig);

    begin_write(rig);
    struct steps *after = list_all(rig, row.id);
    CHECK_INT(after->count, before.count);
    for (size_t i = 0; i < before.count; i++) {
        check_step_planned(&after->rows[i], &before.rows[i]);
        check_step_changing(&after->rows[i], &before.rows[i]);
    }
    check_busy_steps(rig, &row);
    CHECK_INT(promote(rig), 1);
    CHECK_INT(claim_steps(rig, 9, "%")->count, 3);
}

TEST(the_place_of_a_deleted_step_is_free)
{
    cleanup(rig_closep) struct rig *rig = rig_open();
    begin_write(rig);
    struct instance_row row = new_function(rig, "f");
    add_step(rig, remembered(&row, 1, KIND_TASK));
    commit(rig);
    begin_write(rig);
    delete_step(rig, row.id, 1);
    struct step_row other = ready_step(&row, 1, "x", 50), seen;
    other.name = "other";
    add_step(rig, other);
    seen = lock_step(rig, row.id, 1);
    check_step_planned(&seen, &other);
    check_step_changing(&seen, &other);
    delete_step(rig, row.id, 1); /* what was inserted in this transaction */
    add_step(rig, other);
    commit(rig);
    begin_write(rig);
    CHECK_NO_STEPS(lock_committed(rig, row.id));
    CHECK_STEPS(claim_steps(rig, 9, "x"), "other");
    CHECK_STEPS(list_all(rig, row.id), "s0", "other");
}

/* ---- what several remember ---------------------------------------------------------------- */

/* "<letter of the function><place>" for each row, the functions being a, b, c in order. */
static const char *memos_of(struct rig *rig, const char *const *ids, size_t id_count,
                            int32_t after, size_t room)
{
    struct step_row rows[ROWS_MAX];
    struct step_ref refs[ROWS_MAX] = {{0}};
    size_t count = SIZE_MAX;
    const char *text = "";
    for (size_t i = 0; i < id_count; i++)
        refs[i] = (struct step_ref){.instance_id = ids[i], .seq = i == 0 ? after : 0};
    MUST(rig, rig->ops->list_memos(rig->tx, refs, id_count, rows, room, &count, &rig->error));
    CHECK(count <= room, "%zu rows came into room for %zu", count, room);
    for (size_t i = 0; i < count; i++)
        for (size_t k = 0; k < id_count; k++)
            if (strcmp(rows[i].instance_id, ids[k]) == 0)
                text = arena_printf(&rig->arena, "%s %zu:%d", text, k, rows[i].seq);
    return text;
}

TEST(what_several_functions_remember_is_listed_by_function_then_by_place)
{
    cleanup(rig_closep) struct rig *rig = rig_open();
    begin_write(rig);
    struct instance_row a = new_function(rig, "f"), b = new_function(rig, "f"),
                        none = new_function(rig, "f"), other = new_function(rig, "f");
    add_step(rig, remembered(&b, 1, KIND_TASK));
    add_step(rig, remembered(&a, 2, KIND_VALUE));
    add_step(rig, remembered(&a, 1, KIND_TASK));
    add_step(rig, remembered(&b, 3, KIND_SLEEP));
    add_step(rig, remembered(&other, 1, KIND_TASK));
    commit(rig);

    begin_read(rig);
    const char *ids[] = {b.id, none.id, "nobody", a.id}; /* in no order but this */
    CHECK_STR(memos_of(rig, ids, 4, 0, ROWS_MAX), " 0:1 0:3 3:1 3:2");
    CHECK_STR(memos_of(rig, ids, 4, 1, ROWS_MAX), " 0:3 3:1 3:2");
    CHECK_STR(memos_of(rig, ids, 4, 3, ROWS_MAX), " 3:1 3:2");
    CHECK_STR(memos_of(rig, ids, 4, INT32_MAX, ROWS_MAX), " 3:1 3:2");
    CHECK_STR(memos_of(rig, ids, 4, 0, 3), " 0:1 0:3 3:1");
    CHECK_STR(memos_of(rig, ids, 4, 0, 2), " 0:1 0:3");
    CHECK_STR(memos_of(rig, ids, 4, 0, 0), "");
    CHECK_STR(memos_of(rig, ids + 3, 1, 1, ROWS_MAX), " 0:2");
    CHECK_STR(memos_of(rig, ids + 1, 2, 0, ROWS_MAX), "");
    CHECK_STR(memos_of(rig, NULL, 0, 0, ROWS_MAX), "");
}

TEST(what_is_remembered_is_listed_whole)
{
    cleanup(rig_closep) struct rig *rig = rig_open();
    struct step_row seen[3];
    size_t count = SIZE_MAX;
    begin_write(rig);
    struct instance_row row = new_function(rig, "f");
    struct step_row step = remembered(&row, 1, KIND_TASK);
    step.input = "[1]";
    step.error = "it's \"late\"";
    step.config = "{\"compensation\":{\"handler\":\"undo\"}}";
    add_step(rig, step);
    MUST(rig, rig->ops->list_memos(rig->tx, &(struct step_ref){row.id, 0}, 1, seen, 3, &count,
                                   &rig->error));
    CHECK_INT(count, 1);
    check_step_planned(&seen[0], &step);
    check_step_changing(&seen[0], &step);
}

TEST(instances_are_read_as_a_set)
{
    cleanup(rig_closep) struct rig *rig = rig_open();
    struct instance_row rows[4];
    bool is_found[4] = {true, true, true, true};
    begin_write(rig);
    struct instance_row a = new_function(rig, "f"), b = new_function(rig, "g");
    b.revision = 77;
    b.places = 9;
    update_instance(rig, b);
    commit(rig);
    begin_read(rig);
    const char *ids[] = {b.id, "nobody", "00000000-0000-4000-8000-00000000dead", a.id};
    MUST(rig, rig->ops->read_instances(rig->tx, ids, 4, rows, is_found, &rig->error));
    CHECK(is_found[0] && !is_found[1] && !is_found[2] && is_found[3], "others were found");
    check_instance_fixed(&rows[0], &b);
    check_instance_changing(&rows[0], &b);
    check_function(&rows[0], &b);
    check_instance_fixed(&rows[3], &a);
    check_function(&rows[3], &a);
    MUST(rig, rig->ops->read_instances(rig->tx, NULL, 0, NULL, NULL, &rig->error));
}

TEST(steps_are_read_as_a_set_by_a_reader)
{
    cleanup(rig_closep) struct rig *rig = rig_open();
    struct step_row rows[6];
    bool is_found[6] = {true, true, true, true, true, true};
    begin_write(rig);
    struct instance_row a = new_function(rig, "f"), b = new_function(rig, "f");
    struct step_row step = remembered(&b, 1, KIND_TASK);
    add_step(rig, step);
    commit(rig);
    begin_read(rig);
    struct step_ref refs[] = {{b.id, 1}, {a.id, 1},  {"nobody", 0},
                              {a.id, 0}, {b.id, -1}, {b.id, 1}}; /* the same again */
    MUST(rig, rig->ops->read_steps(rig->tx, refs, 6, rows, is_found, &rig->error));
    static const bool wanted[] = {true, false, false, true, false, true};
    for (size_t i = 0; i < 6; i++)
        CHECK(is_found[i] == wanted[i], "place %zu", i);
    check_step_planned(&rows[0], &step);
    check_step_changing(&rows[0], &step);
    check_step_planned(&rows[5], &step);
    CHECK_STR(rows[3].instance_id, a.id);
    CHECK_INT(rows[3].seq, 0);
    MUST(rig, rig->ops->read_steps(rig->tx, NULL, 0, NULL, NULL, &rig->error));
}

/* ---- claims that are made together --------------------------------------------------------- */

TEST(each_holder_of_a_claim_gets_a_row_of_its_own)
{
    cleanup(rig_closep) struct rig *rig = rig_open();
    static const char *all = "%";
    static const struct claim_holder holders[] = {
        {"me", "t1"}, {"me", "t1"}, {"you", "t2"}, {"he", "t3"}, {"she", "t4"}};
    struct steps *found = arena_zalloc(&rig->arena, sizeof *found);
    begin_write(rig);
    for (int i = 0; i < 4; i++)
        new_function(rig, "f");
    commit(rig);
    begin_write(rig);
    struct step_claim claim = {
        .base = {.holders = holders, .patterns = &all, .pattern_count = 1}};
    struct steps *claimed = claim_steps_by(rig, 5, claim);
    CHECK_INT(claimed->count, 4);
    for (size_t i = 0; i < 4; i++) {
        CHECK_STR(claimed->rows[i].locked_by, holders[i].worker);
        CHECK_STR(claimed->rows[i].token, holders[i].token);
    }
    commit(rig);

    begin_write(rig);
    CHECK_NO_STEPS(claim_steps(rig, 9, "%"));
    MUST(rig, rig->ops->find_claimed_steps(rig->tx, "me", "t1", found->rows, ROWS_MAX,
                                           &found->count, &rig->error));
    CHECK_INT(found->count, 2);
    MUST(rig, rig->ops->find_claimed_steps(rig->tx, "he", "t3", found->rows, ROWS_MAX,
                                           &found->count, &rig->error));
    CHECK_INT(found->count, 1);
    CHECK_STR(found->rows[0].instance_id, claimed->rows[3].instance_id);
}

TEST(of_more_holders_than_rows_the_first_get_them)
{
    cleanup(rig_closep) struct rig *rig = rig_open();
    static const char *all = "%";
    static const struct claim_holder holders[] = {{"a", "1"}, {"b", "2"}};
    begin_write(rig);
    for (int i = 0; i < 3; i++)
        new_function(rig, "f");
    struct step_claim claim = {
        .base = {.holders = holders, .patterns = &all, .pattern_count = 1}};
    CHECK_INT(claim_steps_by(rig, 2, claim)->count, 2);
    struct steps *last = claim_steps_by(rig, 2, claim);
    CHECK_INT(last->count, 1);
    CHECK_STR(last->rows[0].token, "1");
    CHECK_STR(last->rows[0].locked_by, "a");
}
