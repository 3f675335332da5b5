/* tests/store/test_flow_dlq.c - dead letters: appended, listed, closed.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "core/error_group.h"
#include "flow_rig.h"
#include "store/list.h"

static struct dlq_row letter(const char *instance_id, int32_t step_seq, const char *reason)
{
    return (struct dlq_row){.instance_id = instance_id,
                            .workflow = "w",
                            .version = 3,
                            .step_seq = step_seq,
                            .step_name = "it's a \"step\"",
                            .step_type = "task",
                            .input = "{\"a\":[1]}",
                            .error = "no \"funds\"",
                            .reason = reason,
                            .created_at_us = RIG_START_US + 4,
                            .is_open = true};
}

static void append(struct rig *rig, const char *instance_id, int32_t seq, const char *reason)
{
    struct dlq_row row = letter(instance_id, seq, reason);
    MUST(rig, rig->ops->append_dlq(rig->tx, &row, 1, &rig->error));
}

struct letters {
    struct dlq_row rows[ROWS_MAX];
    size_t count;
};

static struct letters *list_dlq(struct rig *rig, const char *instance_id, int64_t before,
                                size_t room)
{
    struct letters *letters = arena_zalloc(&rig->arena, sizeof *letters);
    letters->count = SIZE_MAX;
    MUST(rig, rig->ops->list_dlq(rig->tx, instance_id, before, letters->rows, room,
                                 &letters->count, &rig->error));
    CHECK(letters->count <= room, "%zu rows came into room for %zu", letters->count, room);
    return letters;
}

static void check_letters(const struct letters *letters, size_t count,
                          const char *const *reasons)
{
    for (size_t i = 0; i < count && i < letters->count; i++)
        CHECK_STR(letters->rows[i].reason, reasons[i]);
    CHECK_INT(letters->count, count);
}
#define CHECK_LETTERS(letters, ...)                                                \
    check_letters(letters, sizeof((const char *[]){__VA_ARGS__}) / sizeof(char *), \
                  (const char *[]){__VA_ARGS__})

static void close_dlq(struct rig *rig, const char *instance_id, int32_t seq)
{
    MUST(rig, rig->ops->close_dlq(rig->tx, instance_id, seq, &rig->error));
}

static void check_letter(const struct dlq_row *seen, const struct dlq_row *wanted)
{
    CHECK(seen->id > 0, "id is %lld", (long long)seen->id);
    CHECK_STR(seen->instance_id, wanted->instance_id);
    CHECK_STR(seen->workflow, wanted->workflow);
    CHECK_INT(seen->version, wanted->version);
    CHECK_INT(seen->step_seq, wanted->step_seq);
    CHECK_STR(seen->step_name, wanted->step_name);
    CHECK_STR(seen->step_type, wanted->step_type);
    CHECK_JSON(seen->input, wanted->input);
    CHECK_TEXT(seen->error, wanted->error);
    CHECK_TEXT(seen->reason, wanted->reason);
    CHECK_INT(seen->created_at_us, wanted->created_at_us);
    CHECK_INT(seen->is_open, wanted->is_open);
}

TEST(a_dead_letter_comes_back_as_it_was_given)
{
    cleanup(rig_closep) struct rig *rig = rig_open();
    begin_write(rig);
    struct dlq_row row = letter(new_instance(rig, "w").id, 7, ""), seen;
    MUST(rig, rig->ops->append_dlq(rig->tx, &row, 1, &rig->error));
    commit(rig);
    begin_read(rig);
    struct letters *letters = list_dlq(rig, NULL, 0, 9);
    CHECK_INT(letters->count, 1);
    check_letter(&letters->rows[0], &row);
    MUST(rig, rig->ops->get_dlq(rig->tx, letters->rows[0].id, &seen, &rig->error));
    check_letter(&seen, &row);
    CHECK_INT(seen.id, letters->rows[0].id);
}

TEST(a_dead_letter_may_have_no_input_and_no_error)
{
    cleanup(rig_closep) struct rig *rig = rig_open();
    begin_write(rig);
    struct dlq_row row = letter(new_instance(rig, "w").id, 0, "r");
    row.input = row.error = NULL;
    MUST(rig, rig->ops->append_dlq(rig->tx, &row, 1, &rig->error));
    check_letter(&list_dlq(rig, NULL, 0, 9)->rows[0], &row);
}

static struct need_counts count_needs(struct rig *rig)
{
    struct need_counts counts = {-1, -1};
    MUST(rig, rig->ops->count_needs(rig->tx, &counts, &rig->error));
    return counts;
}

TEST(what_waits_for_a_person_is_counted)
{
    cleanup(rig_closep) struct rig *rig = rig_open();
    begin_write(rig);
    struct instance_row a = new_instance(rig, "w"), b = new_instance(rig, "w");
    CHECK_INT(count_needs(rig).approvals, 0);
    CHECK_INT(count_needs(rig).dead, 0);
    append(rig, a.id, 0, "a0");
    append(rig, b.id, 0, "b0");
    append(rig, b.id, 1, "b1");
    close_dlq(rig, a.id, -1);
    static const enum step_status statuses[] = {STEP_WAITING_DECISION, STEP_WAITING,
                                                STEP_CONFIRMED, STEP_WAITING_DECISION};
    for (int i = 0; i < 4; i++) {
        struct step_row step = step_of(&a, i);
        step.status = statuses[i];
        step.due_at_us = i ? RIG_START_US : 0;
        add_step(rig, step);
    }
    commit(rig);
    begin_read(rig);
    CHECK_INT(count_needs(rig).approvals, 2);
    CHECK_INT(count_needs(rig).dead, 2);
}

TEST(dead_letters_are_listed_newest_first_page_by_page)
{
    cleanup(rig_closep) struct rig *rig = rig_open();
    begin_write(rig);
    const char *a = new_instance(rig, "w").id, *b = new_instance(rig, "w").id;
    append(rig, a, 0, "a0");
    append(rig, b, 0, "b0");
    append(rig, a, 1, "a1");
    append(rig, a, 0, "a0 again");
    CHECK_LETTERS(list_dlq(rig, NULL, 0, 9), "a0 again", "a1", "b0", "a0");
    CHECK_LETTERS(list_dlq(rig, a, 0, 9), "a0 again", "a1", "a0");
    CHECK_LETTERS(list_dlq(rig, b, 0, 9), "b0");
    check_letters(list_dlq(rig, "nobody", 0, 9), 0, NULL);

    struct letters *page = list_dlq(rig, NULL, 0, 2);
    CHECK_LETTERS(page, "a0 again", "a1");
    CHECK_LETTERS(list_dlq(rig, NULL, page->rows[1].id, 2), "b0", "a0");
    CHECK_LETTERS(list_dlq(rig, a, page->rows[1].id, 2), "a0");
    page = list_dlq(rig, a, 0, 1);
    CHECK_LETTERS(list_dlq(rig, a, page->rows[0].id, 1), "a1");
}

TEST(the_records_of_one_step_can_be_closed)
{
    cleanup(rig_closep) struct rig *rig = rig_open();
    struct dlq_row seen;
    begin_write(rig);
    const char *a = new_instance(rig, "w").id, *b = new_instance(rig, "w").id;
    append(rig, a, 0, "a0");
    append(rig, a, 1, "a1");
    append(rig, b, 1, "b1");
    int64_t id = list_dlq(rig, a, 0, 1)->rows[0].id;
    close_dlq(rig, a, 1);
    CHECK_LETTERS(list_dlq(rig, NULL, 0, 9), "b1", "a0");
    CHECK_LETTERS(list_dlq(rig, a, 0, 9), "a0");
    MUST(rig, rig->ops->get_dlq(rig->tx, id, &seen, &rig->error)); /* open or not */
    CHECK_STR(seen.reason, "a1");
    CHECK_INT(seen.is_open, false);
    close_dlq(rig, a, 1);
    close_dlq(rig, a, 5);
    close_dlq(rig, "nobody", 0);
    CHECK_LETTERS(list_dlq(rig, NULL, 0, 9), "b1", "a0");
    append(rig, a, 1, "a1 again");
    CHECK_LETTERS(list_dlq(rig, a, 0, 9), "a1 again", "a0");
}

TEST(all_records_of_an_instance_can_be_closed)
{
    cleanup(rig_closep) struct rig *rig = rig_open();
    begin_write(rig);
    const char *a = new_instance(rig, "w").id, *b = new_instance(rig, "w").id;
    append(rig, a, 0, "a0");
    append(rig, a, 1, "a1");
    append(rig, b, 1, "b1");
    close_dlq(rig, a, -1);
    CHECK_LETTERS(list_dlq(rig, NULL, 0, 9), "b1");
    check_letters(list_dlq(rig, a, 0, 9), 0, NULL);
}

TEST(a_dead_letter_that_is_not_there_is_not_found)
{
    cleanup(rig_closep) struct rig *rig = rig_open();
    struct dlq_row seen;
    begin_write(rig);
    append(rig, new_instance(rig, "w").id, 0, "r");
    int64_t id = list_dlq(rig, NULL, 0, 1)->rows[0].id;
    strcpy(rig->error.message, "as it was");
    CHECK_INT(rig->ops->get_dlq(rig->tx, id + 1, &seen, &rig->error), CAIRN_E_NOT_FOUND);
    CHECK_INT(rig->ops->get_dlq(rig->tx, 0, &seen, &rig->error), CAIRN_E_NOT_FOUND);
    CHECK_INT(rig->ops->get_dlq(rig->tx, INT64_MAX, &seen, &rig->error), CAIRN_E_NOT_FOUND);
    CHECK_STR(rig->error.message, "as it was");
}

/* ---- records that match ---------------------------------------------------------------------- */

/* The numbers of the wanted records among `count` that were written, newest first. */
static void check_records(struct rig *rig, struct dlq_filter filter, size_t room,
                          const char *wanted)
{
    char seen[400] = "";
    struct list_end end;
    struct dlq_row rows[20];
    do {
        MUST(rig, list_records(rig->tx, &filter, rows, room, &end, &rig->error));
        CHECK(end.count <= room, "%zu rows came into room for %zu", end.count, room);
        for (size_t i = 0; i < end.count; i++) {
            size_t used = strlen(seen);
            snprintf(seen + used, sizeof seen - used, "%s ", rows[i].error);
            if (filter.is_row)
                CHECK_INT(rows[i].input_bytes, 302);
            CHECK_INT(strlen(rows[i].input), filter.is_row && !filter.instance_id ? 120 : 302);
        }
        filter.before_id = end.next;
    } while (end.next);
    CHECK_STR(seen, wanted);
}

TEST(records_are_listed_by_what_is_asked_for)
{
    cleanup(rig_closep) struct rig *rig = rig_open();
    char input[303], error[40];
    memset(input, 'x', sizeof input);
    input[0] = input[301] = '"';
    input[302] = '\0';
    begin_write(rig);
    const char *a = new_instance(rig, "w").id, *b = new_instance(rig, "v").id;
    for (int i = 0; i < 6; i++) {
        snprintf(error, sizeof error, "%s%d", i % 2 ? "odd" : "even", i);
        struct dlq_row row = letter(i % 3 ? a : b, i, error);
        row.workflow = i % 3 ? "w" : "v";
        row.step_name = i < 3 ? "s" : "t";
        row.error = error;
        row.input = input;
        MUST(rig, rig->ops->append_dlq(rig->tx, &row, 1, &rig->error));
    }
    commit(rig);
    begin_read(rig);
    struct error_place place = {.workflow = "w", .step = "s", .error = "odd7"};
    char group[ERROR_GROUP_TEXT];
    error_group(&place, "odd#", group);
    for (size_t room = 1; room < 8; room++)
        for (int is_row = 0; is_row < 2; is_row++) {
            struct dlq_filter filter = {.is_row = is_row};
            check_records(rig, filter, room, "odd5 even4 odd3 even2 odd1 even0 ");
            filter.workflow = "w";
            check_records(rig, filter, room, "odd5 even4 even2 odd1 ");
            filter.step = "s";
            check_records(rig, filter, room, "even2 odd1 ");
            filter.group = group;
            check_records(rig, filter, room, "odd1 ");
            filter = (struct dlq_filter){.instance_id = b, .is_row = is_row};
            check_records(rig, filter, room, "odd3 even0 ");
        }
}

TEST(a_search_for_records_ends_early_and_goes_on)
{
    cleanup(rig_closep) struct rig *rig = rig_open();
    begin_write(rig);
    const char *id = new_instance(rig, "w").id;
    for (int i = 0; i < 1100; i++) {
        struct dlq_row row = letter(id, i, "e");
        row.workflow = i ? "w" : "rare";
        MUST(rig, rig->ops->append_dlq(rig->tx, &row, 1, &rig->error));
    }
    commit(rig);
    begin_read(rig);
    struct dlq_filter filter = {.workflow = "rare", .scan_max = 500, .is_row = true};
    struct list_end end;
    struct dlq_row row;
    for (int round = 0; round < 2; round++) {
        MUST(rig, list_records(rig->tx, &filter, &row, 1, &end, &rig->error));
        CHECK_INT(end.count, 0);
        CHECK(end.next && end.scanned_to_us, "it says nothing about where it ended");
        filter.before_id = end.next;
    }
    MUST(rig, list_records(rig->tx, &filter, &row, 1, &end, &rig->error));
    CHECK_INT(end.count, 1);
    CHECK_STR(row.workflow, "rare");
}
