/* tests/store/test_flow_decision.c - what people decided about human steps.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "flow_rig.h"

static struct decision_row decision(const char *instance_id, int32_t step_seq,
                                    const char *comment)
{
    return (struct decision_row){.instance_id = instance_id,
                                 .step_seq = step_seq,
                                 .step_name = "it's a \"step\"",
                                 .decided_by = "ann@example.org",
                                 .decision = "confirmed",
                                 .comment = comment,
                                 .decided_at_us = RIG_START_US + 4};
}

static void keep(struct rig *rig, const struct decision_row *row)
{
    MUST(rig, rig->ops->insert_decision(rig->tx, row, &rig->error));
}

struct decisions {
    struct decision_row rows[ROWS_MAX];
    size_t count;
};

static struct decisions *list_decisions(struct rig *rig, const char *instance_id, size_t room)
{
    struct decisions *seen = arena_zalloc(&rig->arena, sizeof *seen);
    seen->count = SIZE_MAX;
    MUST(rig, rig->ops->list_decisions(rig->tx, instance_id, 0, seen->rows, room, &seen->count,
                                       &rig->error));
    CHECK(seen->count <= room, "%zu rows came into room for %zu", seen->count, room);
    return seen;
}

TEST(a_decision_comes_back_as_it_was_given)
{
    cleanup(rig_closep) struct rig *rig = rig_open();
    begin_write(rig);
    struct decision_row row = decision(new_instance(rig, "w").id, 7, "looks \"fine\"");
    keep(rig, &row);
    commit(rig);
    begin_read(rig);
    struct decisions *seen = list_decisions(rig, row.instance_id, 9);
    CHECK_INT(seen->count, 1);
    CHECK_STR(seen->rows[0].instance_id, row.instance_id);
    CHECK_INT(seen->rows[0].step_seq, 7);
    CHECK_STR(seen->rows[0].step_name, row.step_name);
    CHECK_STR(seen->rows[0].decided_by, row.decided_by);
    CHECK_STR(seen->rows[0].decision, "confirmed");
    CHECK_STR(seen->rows[0].comment, row.comment);
    CHECK_INT(seen->rows[0].decided_at_us, row.decided_at_us);
}

TEST(a_decision_may_have_no_comment)
{
    cleanup(rig_closep) struct rig *rig = rig_open();
    begin_write(rig);
    struct decision_row row = decision(new_instance(rig, "w").id, 0, NULL);
    row.decision = "rejected";
    keep(rig, &row);
    struct decisions *seen = list_decisions(rig, row.instance_id, 9);
    CHECK_INT(seen->count, 1);
    CHECK(!seen->rows[0].comment, "the comment is %s", seen->rows[0].comment);
    CHECK_STR(seen->rows[0].decision, "rejected");
}

TEST(decisions_are_listed_by_instance_oldest_first)
{
    cleanup(rig_closep) struct rig *rig = rig_open();
    begin_write(rig);
    struct decision_row first = decision(new_instance(rig, "w").id, 3, "first");
    struct decision_row other = decision(new_instance(rig, "w").id, 3, "other");
    struct decision_row again = decision(first.instance_id, 3, "again");
    keep(rig, &first);
    keep(rig, &other);
    keep(rig, &again);
    struct decisions *seen = list_decisions(rig, first.instance_id, 9);
    CHECK_INT(seen->count, 2);
    CHECK_STR(seen->rows[0].comment, "first");
    CHECK_STR(seen->rows[1].comment, "again");
    CHECK_INT(list_decisions(rig, first.instance_id, 1)->count, 1);
    struct decision_row rest[2];
    size_t count = 0;
    CHECK(seen->rows[0].id > 0 && seen->rows[0].id < seen->rows[1].id, "ids do not rise");
    MUST(rig, rig->ops->list_decisions(rig->tx, first.instance_id, seen->rows[0].id, rest, 2,
                                       &count, &rig->error));
    CHECK_INT(count, 1);
    CHECK_STR(rest[0].comment, "again");
    MUST(rig, rig->ops->list_decisions(rig->tx, first.instance_id, seen->rows[1].id, rest, 2,
                                       &count, &rig->error));
    CHECK_INT(count, 0);
    CHECK_INT(list_decisions(rig, "nobody", 9)->count, 0);
}

TEST(a_decision_that_is_rolled_back_was_never_made)
{
    cleanup(rig_closep) struct rig *rig = rig_open();
    begin_write(rig);
    struct decision_row row = decision(new_instance(rig, "w").id, 0, "kept");
    keep(rig, &row);
    commit(rig);
    begin_write(rig);
    struct decision_row undone = decision(row.instance_id, 0, "undone");
    keep(rig, &undone);
    roll_back(rig);
    begin_read(rig);
    CHECK_INT(list_decisions(rig, row.instance_id, 9)->count, 1);
}

/* ---- what waits for one ---------------------------------------------------------------------- */

/* A step that waits until this time (0: without limit), at this place of an instance. */
static struct step_row waiting(struct rig *rig, const struct instance_row *instance,
                               int32_t seq, int64_t deadline_us)
{
    struct step_row step = step_of(instance, seq);
    step.kind = KIND_HUMAN;
    step.status = STEP_WAITING_DECISION;
    step.deadline_at_us = deadline_us;
    add_step(rig, step);
    return step;
}

/* The places of a list, portion by portion, as "instance.place". */
static void check_undecided(struct rig *rig, bool has_deadline, size_t room, const char *wanted)
{
    char seen[200] = "";
    struct step_row rows[ROWS_MAX], last;
    size_t count = room;
    for (bool is_first = true; count == room; is_first = false) {
        MUST(rig, rig->ops->list_undecided(rig->tx, has_deadline, is_first ? NULL : &last, rows,
                                           room, &count, &rig->error));
        for (size_t i = 0; i < count; i++) {
            size_t used = strlen(seen);
            CHECK(rows[i].instance_id, "it has no instance");
            snprintf(seen + used, sizeof seen - used, "%lld.%d ",
                     (long long)rows[i].instance_seq, (int)rows[i].seq);
            last = rows[i];
        }
    }
    CHECK_STR(seen, wanted);
}

static size_t count_undecided(struct rig *rig, const char *workflow, size_t most)
{
    size_t count = SIZE_MAX;
    MUST(rig, rig->ops->count_undecided(rig->tx, workflow, most, &count, &rig->error));
    return count;
}

TEST(undecided_steps_are_in_order_of_their_deadline)
{
    cleanup(rig_closep) struct rig *rig = rig_open();
    begin_write(rig);
    struct instance_row a = new_instance(rig, "w"), b = new_instance(rig, "v");
    char wanted[100];
    waiting(rig, &b, 1, 0);
    waiting(rig, &b, 2, RIG_START_US + 5);
    waiting(rig, &a, 3, RIG_START_US + 9);
    waiting(rig, &a, 4, RIG_START_US + 5);
    waiting(rig, &a, 5, 0);
    struct step_row decided = waiting(rig, &a, 6, RIG_START_US + 1);
    decided.status = STEP_CONFIRMED;
    update_step(rig, decided);
    commit(rig);
    begin_read(rig);
    for (size_t room = 1; room <= 4; room++) {
        snprintf(wanted, sizeof wanted, "%lld.4 %lld.2 %lld.3 ", (long long)a.seq,
                 (long long)b.seq, (long long)a.seq);
        check_undecided(rig, true, room, wanted);
        snprintf(wanted, sizeof wanted, "%lld.5 %lld.1 ", (long long)a.seq, (long long)b.seq);
        check_undecided(rig, false, room, wanted);
    }
    CHECK_INT(count_undecided(rig, NULL, 100), 5);
    CHECK_INT(count_undecided(rig, NULL, 3), 3);
    CHECK_INT(count_undecided(rig, "v", 100), 2);
    CHECK_INT(count_undecided(rig, "w", 100), 3);
    CHECK_INT(count_undecided(rig, "x", 100), 0);
}

TEST(the_latest_decisions_of_all_come_newest_first)
{
    cleanup(rig_closep) struct rig *rig = rig_open();
    begin_write(rig);
    struct decision_row first = decision(new_instance(rig, "w").id, 3, "first");
    struct decision_row second = decision(new_instance(rig, "v").id, 3, "second");
    struct decision_row rows[3];
    size_t count = 0;
    keep(rig, &first);
    keep(rig, &second);
    commit(rig);
    begin_read(rig);
    MUST(rig, rig->ops->list_latest_decisions(rig->tx, 0, rows, 3, &count, &rig->error));
    CHECK_INT(count, 2);
    CHECK_STR(rows[0].comment, "second");
    CHECK_STR(rows[1].comment, "first");
    MUST(rig,
         rig->ops->list_latest_decisions(rig->tx, rows[0].id, rows, 3, &count, &rig->error));
    CHECK_INT(count, 1);
    CHECK_STR(rows[0].comment, "first");
}
