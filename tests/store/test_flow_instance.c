/* tests/store/test_flow_instance.c - instances: inserted, locked, changed, listed, counted.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "flow_rig.h"

#include <stdlib.h>

/* ---- inserting --------------------------------------------------------------------------- */

TEST(an_instance_comes_back_with_every_field)
{
    cleanup(rig_closep) struct rig *rig = rig_open();
    struct instance_row row = {.id = instance_of(rig, "x").id,
                               .workflow = "it's \"order\"",
                               .key = "k\xC3\xA9y",
                               .input = "{\"n\":[1,\"\xF0\x9F\x98\x80\"]}",
                               .output = "[true]",
                               .version = INT32_MAX,
                               .status = INSTANCE_COMPENSATING,
                               .generation = INT32_MAX,
                               .last_error = "{\"step\":\"a\",\"attempt\":3}",
                               .undo_error = "{\"step\":\"b\",\"attempt\":1}",
                               .start_at_us = RIG_START_US + 1,
                               .created_at_us = RIG_START_US + 2,
                               .updated_at_us = RIG_START_US + 3,
                               .started_at_us = RIG_START_US + 4,
                               .finished_at_us = LAST_INSTANT_US,
                               .is_dlq = true,
                               .has_compensation = true,
                               .goal = GOAL_CANCEL,
                               .is_undo_failed = true,
                               .undo_first = 7,
                               .undo_from = 8,
                               .undo_to = INT32_MAX,
                               .undo_below = INT64_MAX,
                               .stop_by = "me",
                               .stop_reason = "",
                               .paused_by = "ann",
                               .paused_reason = "",
                               .paused_at_us = RIG_START_US + 5,
                               .commits = INT64_MAX,
                               .active_count = 1,
                               .wait_count = 2,
                               .sleep_count = 3,
                               .decision_count = 4,
                               .parked_count = 5,
                               .awaited_count = INT32_MAX,
                               .is_function = true,
                               .revision = INT64_MAX,
                               .places = INT32_MAX,
                               .is_forced = true,
                               .is_woken = true};
    begin_write(rig);
    row = add_instance(rig, row);
    commit(rig);
    begin_write(rig);
    for (int round = 0; round < 2; round++) {
        struct instance_row seen =
            round ? lock_instance(rig, row.id) : get_instance(rig, row.id);
        check_instance_fixed(&seen, &row);
        check_instance_changing(&seen, &row);
    }
}

TEST(an_instance_without_texts_has_none)
{
    cleanup(rig_closep) struct rig *rig = rig_open();
    struct instance_row row = instance_of(rig, "w");
    row.input = NULL;
    row.started_at_us = 0;
    begin_write(rig);
    row = add_instance(rig, row);
    struct instance_row seen = get_instance(rig, row.id);
    check_instance_fixed(&seen, &row); /* NULL and 0 everywhere */
    check_instance_changing(&seen, &row);
}

TEST(json_null_is_a_value_and_not_its_absence)
{
    cleanup(rig_closep) struct rig *rig = rig_open();
    struct instance_row row = instance_of(rig, "w");
    row.input = row.output = "null";
    begin_write(rig);
    row = add_instance(rig, row);
    struct instance_row seen = get_instance(rig, row.id);
    CHECK_STR(seen.input, "null");
    CHECK_STR(seen.output, "null");
}

TEST(every_status_and_goal_is_kept)
{
    cleanup(rig_closep) struct rig *rig = rig_open();
    begin_write(rig);
    for (enum instance_status status = INSTANCE_PENDING; status < INSTANCE_STATUS_COUNT;
         status++) {
        struct instance_row row = instance_of(rig, "w");
        row.status = status;
        row.goal = (enum instance_goal)(status % INSTANCE_GOAL_COUNT);
        row = add_instance(rig, row);
        CHECK_INT(get_instance(rig, row.id).status, status);
        CHECK_INT(get_instance(rig, row.id).goal, row.goal);
    }
}

TEST(seq_is_the_order_of_insertion_and_is_filled_in)
{
    cleanup(rig_closep) struct rig *rig = rig_open();
    struct instance_row rows[5];
    enum insert_result results[5];
    for (int i = 0; i < 5; i++)
        rows[i] = instance_of(rig, i % 2 ? "a" : "b");
    begin_write(rig);
    MUST(rig, rig->ops->insert_instances(rig->tx, rows, 5, results, &rig->error));
    for (int i = 0; i < 5; i++) {
        CHECK_INT(results[i], INSERT_DONE);
        CHECK(rows[i].seq > (i ? rows[i - 1].seq : 0), "row %d has seq %lld", i,
              (long long)rows[i].seq);
        CHECK_INT(get_instance(rig, rows[i].id).seq, rows[i].seq);
    }
}

/* As many as several statements take: alike, then with much, little or nothing in a column, with and without keys and
 * tags. */
TEST(many_instances_of_all_sorts_are_inserted_in_one_call)
{
    enum { COUNT = 47 };
    cleanup(rig_closep) struct rig *rig = rig_open();
    enum insert_result results[COUNT];
    begin_write(rig);
    for (int sort = 0; sort < 4; sort++) {
        struct instance_row rows[COUNT];
        for (int i = 0; i < COUNT; i++) {
            rows[i] = instance_of(rig, sort && i % 2 ? "a" : "b");
            rows[i].version = sort ? i : 1;
            rows[i].undo_first = sort > 1 && i % 3 ? i : -1;
            rows[i].metadata = sort > 1 && i % 5 == 0 ? "{}" : NULL;
            rows[i].created_at_us += sort > 2 ? i : 0;
            rows[i].tags = sort > 2 && i % 20 == 7 ? "{\"a\":\"b\"}" : NULL;
            rows[i].key = sort > 2 && i % 20 == 3 ? arena_printf(&rig->arena, "k%d", i) : NULL;
        }
        MUST(rig, rig->ops->insert_instances(rig->tx, rows, COUNT, results, &rig->error));
        for (int i = 0; i < COUNT; i++) {
            CHECK_INT(results[i], INSERT_DONE);
            CHECK(i == 0 || rows[i].seq > rows[i - 1].seq, "row %d is out of order", i);
            struct instance_row seen = get_instance(rig, rows[i].id);
            check_instance_fixed(&seen, &rows[i]);
            check_instance_changing(&seen, &rows[i]);
        }
    }
}

TEST(a_known_key_of_the_same_workflow_brings_the_known_id)
{
    cleanup(rig_closep) struct rig *rig = rig_open();
    struct instance_row row = instance_of(rig, "w"), again = instance_of(rig, "w");
    row.key = again.key = "k";
    row.version = 1;
    again.version = 2; /* a version does not make it another workflow */
    enum insert_result result;
    begin_write(rig);
    row = add_instance(rig, row);
    commit(rig);

    begin_write(rig);
    const char *unused = again.id;
    MUST(rig, rig->ops->insert_instances(rig->tx, &again, 1, &result, &rig->error));
    CHECK_INT(result, INSERT_EXISTING);
    CHECK_STR(again.id, row.id);
    struct instance_row seen;
    CHECK_INT(rig->ops->get_instance(rig->tx, unused, &seen, &rig->error), CAIRN_E_NOT_FOUND);
    CHECK_INT(get_instance(rig, row.id).version, 1);
}

TEST(the_same_key_in_another_workflow_is_another_instance)
{
    cleanup(rig_closep) struct rig *rig = rig_open();
    begin_write(rig);
    for (int i = 0; i < 3; i++) {
        struct instance_row row = instance_of(rig, (const char *[]){"w", "W", "w2"}[i]);
        row.key = "k";
        add_instance(rig, row);
    }
    struct instance_row row = instance_of(rig, "w");
    row.key = "K";
    add_instance(rig, row);
}

TEST(of_a_key_that_repeats_in_one_call_the_first_wins)
{
    cleanup(rig_closep) struct rig *rig = rig_open();
    struct instance_row rows[4];
    enum insert_result results[4];
    for (int i = 0; i < 4; i++) {
        rows[i] = instance_of(rig, i == 2 ? "other" : "w");
        rows[i].key = "k";
    }
    begin_write(rig);
    MUST(rig, rig->ops->insert_instances(rig->tx, rows, 4, results, &rig->error));
    CHECK_INT(results[0], INSERT_DONE);
    CHECK_INT(results[1], INSERT_EXISTING);
    CHECK_INT(results[2], INSERT_DONE);
    CHECK_INT(results[3], INSERT_EXISTING);
    CHECK_STR(rows[1].id, rows[0].id);
    CHECK_STR(rows[3].id, rows[0].id);
}

TEST(instances_without_a_key_never_stand_for_each_other)
{
    cleanup(rig_closep) struct rig *rig = rig_open();
    begin_write(rig);
    new_instance(rig, "w");
    new_instance(rig, "w");
}

TEST(an_id_that_is_there_was_inserted_by_an_earlier_try)
{
    cleanup(rig_closep) struct rig *rig = rig_open();
    struct instance_row row = instance_of(rig, "w"), again;
    row.key = "k";
    again = row;
    again.input = "[\"other\"]";
    enum insert_result result;
    begin_write(rig);
    row = add_instance(rig, row);
    commit(rig);
    begin_write(rig);
    MUST(rig, rig->ops->insert_instances(rig->tx, &again, 1, &result, &rig->error));
    CHECK_INT(result, INSERT_AGAIN);
    CHECK_STR(again.id, row.id);
    CHECK_JSON(get_instance(rig, row.id).input, "{}");
}

TEST(of_many_instances_those_that_are_there_are_told)
{
    enum { COUNT = 47 };
    cleanup(rig_closep) struct rig *rig = rig_open();
    struct instance_row rows[COUNT], old[COUNT];
    enum insert_result results[COUNT];
    for (int i = 0; i < COUNT; i++)
        old[i] = rows[i] = instance_of(rig, "w");
    begin_write(rig);
    for (int i = 0; i < COUNT; i += i < 20 ? 7 : 1) /* all of the last statements' */
        if (i < 10 || i > 40)
            old[i] = add_instance(rig, old[i]);
    commit(rig);
    begin_write(rig);
    MUST(rig, rig->ops->insert_instances(rig->tx, rows, COUNT, results, &rig->error));
    for (int i = 0; i < COUNT; i++) {
        CHECK_INT(results[i], old[i].seq ? INSERT_AGAIN : INSERT_DONE);
        CHECK_STR(rows[i].id, old[i].id);
        CHECK_INT(get_instance(rig, rows[i].id).seq, rows[i].seq);
        CHECK(!old[i].seq || old[i].seq == rows[i].seq, "row %d has another number", i);
    }
}

/* ---- locking and changing ---------------------------------------------------------------- */

static int compare_texts(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

TEST(each_lock_of_an_instance_belongs_to_its_id)
{
    cleanup(rig_closep) struct rig *rig = rig_open();
    begin_write(rig);
    const char *absent = instance_of(rig, "w").id;
    const char *ids[3] = {new_instance(rig, "a").id, absent, new_instance(rig, "b").id};
    qsort(ids, 3, sizeof *ids, compare_texts);
    commit(rig);
    begin_write(rig);
    struct instance_row rows[3];
    enum lock_result results[3];
    MUST(rig, rig->ops->lock_instances(rig->tx, ids, 3, true, rows, results, &rig->error));
    for (int i = 0; i < 3; i++) {
        CHECK_INT(results[i], ids[i] == absent ? LOCK_ABSENT : LOCK_DONE);
        if (ids[i] != absent)
            CHECK_STR(rows[i].id, ids[i]);
    }
    MUST(rig, rig->ops->lock_instances(rig->tx, NULL, 0, false, NULL, NULL, &rig->error));
}

TEST(an_instance_that_another_writer_holds_is_busy)
{
    cleanup(rig_closep) struct rig *rig = rig_open();
    if (rig->ops->writers == 1)
        return; /* one writer at a time: the second waits at begin */
    struct store_session *second;
    struct store_tx *tx;
    struct instance_row row;
    enum lock_result result;
    begin_write(rig);
    const char *id = new_instance(rig, "w").id;
    commit(rig);

    begin_write(rig);
    lock_instance(rig, id);
    MUST(rig, rig->ops->session_open(rig->store, SESSION_WRITER, &second, &rig->error));
    MUST(rig, rig->ops->begin(second, &rig->arena, &tx, &rig->error));
    MUST(rig, rig->ops->lock_instances(tx, &id, 1, false, &row, &result, &rig->error));
    CHECK_INT(result, LOCK_BUSY);
    CHECK_INT(rig->ops->lock_instances(tx, &id, 1, true, &row, &result, &rig->error),
              CAIRN_E_BUSY);
    rig->ops->rollback(tx);
    rig->ops->session_close(second);
}

/* Differs from instance_of() in every field. */
static struct instance_row changed_instance(const struct instance_row *before)
{
    return (struct instance_row){.seq = before->seq + 1000,
                                 .id = before->id,
                                 .workflow = "other",
                                 .key = "other",
                                 .input = "[\"other\"]",
                                 .output = "{\"done\":1}",
                                 .version = 99,
                                 .status = INSTANCE_FAILED,
                                 .generation = 2,
                                 .last_error = "{\"step\":\"s\"}",
                                 .start_at_us = RIG_START_US + 11,
                                 .created_at_us = RIG_START_US + 12,
                                 .updated_at_us = RIG_START_US + 13,
                                 .started_at_us = RIG_START_US + 14,
                                 .finished_at_us = RIG_START_US + 15,
                                 .is_dlq = true,
                                 .has_compensation = true,
                                 .goal = GOAL_REDO,
                                 .is_undo_failed = true,
                                 .undo_first = 1,
                                 .undo_from = 2,
                                 .undo_to = 3,
                                 .undo_below = 4,
                                 .stop_by = "",
                                 .stop_reason = "it's \"over\"",
                                 .paused_by = "",
                                 .paused_reason = "it's \"noon\"",
                                 .paused_at_us = RIG_START_US + 7,
                                 .commits = 5,
                                 .active_count = 6,
                                 .wait_count = 7,
                                 .sleep_count = 8,
                                 .decision_count = 9,
                                 .parked_count = 10,
                                 .awaited_count = 11,
                                 .is_function = true,
                                 .revision = 12,
                                 .places = 13,
                                 .is_forced = true,
                                 .is_woken = true};
}

TEST(an_update_of_an_instance_writes_what_may_change_and_nothing_else)
{
    cleanup(rig_closep) struct rig *rig = rig_open();
    struct instance_row row = instance_of(rig, "w");
    row.key = "k";
    begin_write(rig);
    row = add_instance(rig, row);
    commit(rig);

    begin_write(rig);
    struct instance_row locked = lock_instance(rig, row.id);
    struct instance_row changed = changed_instance(&locked);
    update_instance(rig, changed);
    commit(rig);
    begin_write(rig);
    struct instance_row seen = lock_instance(rig, row.id);
    check_instance_fixed(&seen, &row);
    check_instance_changing(&seen, &changed);

    update_instance(rig, row); /* and back: what was set can be unset */
    seen = get_instance(rig, row.id);
    check_instance_fixed(&seen, &row);
    check_instance_changing(&seen, &row);
}

TEST(several_instances_are_updated_in_one_call)
{
    cleanup(rig_closep) struct rig *rig = rig_open();
    struct instance_row rows[5];
    begin_write(rig);
    for (int i = 0; i < 5; i++) {
        rows[i] = new_instance(rig, "w");
        rows[i].commits = i;
        rows[i].status = i % 2 ? INSTANCE_PAUSED : INSTANCE_COMPLETED;
        rows[i].output = i % 2 ? NULL : "{}";
    }
    struct instance_row bystander = new_instance(rig, "w");
    MUST(rig, rig->ops->update_instances(rig->tx, rows, 5, &rig->error));
    for (int i = 0; i < 5; i++) {
        struct instance_row seen = get_instance(rig, rows[i].id);
        check_instance_changing(&seen, &rows[i]);
    }
    struct instance_row seen = get_instance(rig, bystander.id);
    check_instance_changing(&seen, &bystander);
}

TEST(an_instance_that_is_not_there_is_not_found)
{
    cleanup(rig_closep) struct rig *rig = rig_open();
    struct instance_row seen;
    begin_read(rig);
    strcpy(rig->error.message, "as it was");
    CHECK_INT(rig->ops->get_instance(rig->tx, "nobody", &seen, &rig->error), CAIRN_E_NOT_FOUND);
    CHECK_STR(rig->error.message, "as it was");
}

/* ---- lists and counts -------------------------------------------------------------------- */

enum { CROWD = 24 };

/* Workflows a, b, c in turns, statuses in turns of another length, some with keys. */
static void add_crowd(struct rig *rig, struct instance_row *rows)
{
    for (int i = 0; i < CROWD; i++) {
        struct instance_row row = instance_of(rig, (const char *[]){"a", "b", "c"}[i % 3]);
        row.status = (enum instance_status)(INSTANCE_PENDING + i % 4);
        row.key = i < 9 ? (const char *[]){"x", "y", "z"}[i / 3] : NULL;
        rows[i] = add_instance(rig, row);
    }
}

static bool is_wanted(const struct instance_row *row, const struct list_filter *filter)
{
    uint32_t any = STATUS_BIT(INSTANCE_NONE);
    return (!filter->statuses || filter->statuses & (any | STATUS_BIT(row->status))) &&
           (!filter->workflow || strcmp(row->workflow, filter->workflow) == 0) &&
           (!filter->key || (row->key && strcmp(row->key, filter->key) == 0));
}

/* Page by page, with room for `room`: all that fit the filter, newest first. */
static void check_list(struct rig *rig, const struct instance_row *crowd,
                       struct list_filter filter, size_t room)
{
    int at = CROWD;
    size_t count;
    do {
        struct instance_row rows[CROWD];
        struct list_end end = {.count = SIZE_MAX};
        MUST(rig, list_instances(rig->tx, &filter, rows, room, &end, &rig->error));
        count = end.count;
        CHECK(count <= room, "%zu rows came into room for %zu", count, room);
        for (size_t i = 0; i < count; i++) {
            do
                at--;
            while (at >= 0 && !is_wanted(&crowd[at], &filter));
            CHECK(at >= 0, "there is a row too many");
            check_instance_fixed(&rows[i], &crowd[at]);
            check_instance_changing(&rows[i], &crowd[at]);
            filter.before_seq = rows[i].seq;
        }
    } while (count);
    while (--at >= 0)
        CHECK(!is_wanted(&crowd[at], &filter), "row %d is missing", at);
}

TEST(instances_are_listed_newest_first_by_any_filter_page_by_page)
{
    cleanup(rig_closep) struct rig *rig = rig_open();
    static const char *const workflows[] = {NULL, "a", "b", "nobody"};
    static const char *const keys[] = {NULL, "x", "z", "nobody"};
    struct instance_row crowd[CROWD];
    begin_write(rig);
    add_crowd(rig, crowd);
    commit(rig);
    begin_read(rig);
    for (int status = 0; status < 6; status++)
        for (int workflow = 0; workflow < 4; workflow++)
            for (int key = 0; key < 4; key++)
                for (size_t room = 1; room <= CROWD; room = room * 5 + 2)
                    check_list(rig, crowd,
                               (struct list_filter){.statuses = STATUS_BIT(status),
                                                    .workflow = workflows[workflow],
                                                    .key = keys[key]},
                               room);
}

TEST(a_changed_status_moves_an_instance_to_another_list)
{
    cleanup(rig_closep) struct rig *rig = rig_open();
    struct instance_row crowd[CROWD];
    begin_write(rig);
    add_crowd(rig, crowd);
    for (int i = 0; i < CROWD; i += 5) {
        crowd[i].status = INSTANCE_DLQ;
        update_instance(rig, crowd[i]);
    }
    for (enum instance_status status = INSTANCE_NONE; status < INSTANCE_STATUS_COUNT;
         status++) {
        check_list(rig, crowd, (struct list_filter){.statuses = STATUS_BIT(status)}, CROWD);
        check_list(rig, crowd,
                   (struct list_filter){.statuses = STATUS_BIT(status), .workflow = "b"}, 2);
    }
}

TEST(unfinished_instances_are_counted_by_status)
{
    cleanup(rig_closep) struct rig *rig = rig_open();
    uint64_t counts[INSTANCE_STATUS_COUNT];
    begin_write(rig);
    MUST(rig, rig->ops->count_instances(rig->tx, counts, &rig->error));
    for (int status = 0; status < INSTANCE_STATUS_COUNT; status++)
        CHECK_INT(counts[status], 0);
    for (enum instance_status status = INSTANCE_PENDING; status < INSTANCE_STATUS_COUNT;
         status++)
        for (int i = 0; i < (int)status; i++) {
            struct instance_row row = instance_of(rig, "w");
            row.status = status;
            row = add_instance(rig, row);
            if (i == 0 && status == INSTANCE_RUNNING) {
                row.status = INSTANCE_FAILED;
                update_instance(rig, row);
            }
        }
    MUST(rig, rig->ops->count_instances(rig->tx, counts, &rig->error));
    CHECK_INT(counts[INSTANCE_NONE], 0);
    for (enum instance_status status = INSTANCE_PENDING; status < INSTANCE_STATUS_COUNT;
         status++)
        CHECK_INT(counts[status],
                  instance_is_final(status) ? 0 : (int)status - (status == INSTANCE_RUNNING));
}
