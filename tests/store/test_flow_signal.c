/* tests/store/test_flow_signal.c - signals: kept per instance, each taken once, oldest first.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "flow_rig.h"

static struct signal_row signal_of(const char *instance_id, const char *id, const char *event)
{
    return (struct signal_row){.instance_id = instance_id,
                               .id = id,
                               .event = event,
                               .payload = "{\"n\":1}",
                               .received_at_us = RIG_START_US,
                               .taken_by = -1};
}

static enum insert_result insert(struct rig *rig, struct signal_row *row)
{
    enum insert_result result;
    MUST(rig, rig->ops->insert_signal(rig->tx, row, &result, &rig->error));
    return result;
}

/* Inserts one that must be new, and returns its seq. */
static int64_t add_signal(struct rig *rig, const char *instance_id, const char *id,
                          const char *event, int64_t received_at_us)
{
    struct signal_row row = signal_of(instance_id, id, event);
    row.received_at_us = received_at_us;
    CHECK_INT(insert(rig, &row), INSERT_DONE);
    CHECK(row.seq > 0, "seq is %lld", (long long)row.seq);
    return row.seq;
}

/* The id of the signal that is found; NULL: none. */
static const char *found(struct rig *rig, const char *instance_id, const char *event,
                         int64_t until_us)
{
    struct signal_row row;
    cairn_code code =
        rig->ops->find_signal(rig->tx, instance_id, event, until_us, &row, &rig->error);
    if (code == CAIRN_E_NOT_FOUND)
        return NULL;
    MUST(rig, code);
    return row.id;
}

static void mark(struct rig *rig, const char *instance_id, int64_t seq, int32_t taken_by)
{
    MUST(rig, rig->ops->mark_signal(rig->tx, instance_id, seq, taken_by, &rig->error));
}

TEST(a_signal_is_found_as_it_was_sent)
{
    cleanup(rig_closep) struct rig *rig = rig_open();
    begin_write(rig);
    const char *id = new_instance(rig, "w").id;
    struct signal_row row = signal_of(id, "it's \"1\"", "payment.settled"), seen;
    CHECK_INT(insert(rig, &row), INSERT_DONE);
    commit(rig);
    begin_write(rig);
    MUST(rig, rig->ops->find_signal(rig->tx, id, "payment.settled", RIG_START_US, &seen,
                                    &rig->error));
    CHECK_INT(seen.seq, row.seq);
    CHECK_STR(seen.instance_id, id);
    CHECK_STR(seen.id, row.id);
    CHECK_STR(seen.event, row.event);
    CHECK_JSON(seen.payload, row.payload);
    CHECK_INT(seen.received_at_us, RIG_START_US);
    CHECK_INT(seen.taken_by, -1);
}

TEST(a_signal_may_come_without_a_payload)
{
    cleanup(rig_closep) struct rig *rig = rig_open();
    begin_write(rig);
    const char *id = new_instance(rig, "w").id;
    struct signal_row row = signal_of(id, "1", "e"), seen;
    row.payload = NULL;
    insert(rig, &row);
    MUST(rig, rig->ops->find_signal(rig->tx, id, "e", RIG_START_US, &seen, &rig->error));
    CHECK_TEXT(seen.payload, NULL);
}

TEST(a_known_signal_id_is_existing_and_is_not_kept_again)
{
    cleanup(rig_closep) struct rig *rig = rig_open();
    begin_write(rig);
    const char *id = new_instance(rig, "w").id;
    int64_t seq = add_signal(rig, id, "1", "e", RIG_START_US);
    commit(rig);
    begin_write(rig);
    struct signal_row again = signal_of(id, "1", "other");
    CHECK_INT(insert(rig, &again), INSERT_EXISTING);
    CHECK_TEXT(found(rig, id, "other", RIG_START_US), NULL);
    mark(rig, id, seq, 3);
    CHECK_INT(insert(rig, &again), INSERT_EXISTING); /* taken or not */
    CHECK_TEXT(found(rig, id, "e", RIG_START_US), NULL);
}

TEST(signal_ids_are_known_per_instance)
{
    cleanup(rig_closep) struct rig *rig = rig_open();
    begin_write(rig);
    const char *a = new_instance(rig, "w").id, *b = new_instance(rig, "w").id;
    add_signal(rig, a, "1", "e", RIG_START_US);
    CHECK_TEXT(found(rig, b, "e", RIG_START_US), NULL);
    add_signal(rig, b, "1", "e", RIG_START_US);
    CHECK_TEXT(found(rig, b, "e", RIG_START_US), "1");
}

TEST(the_oldest_signal_of_the_event_is_found)
{
    cleanup(rig_closep) struct rig *rig = rig_open();
    begin_write(rig);
    const char *id = new_instance(rig, "w").id;
    int64_t other = add_signal(rig, id, "z", "other", RIG_START_US);
    int64_t first = add_signal(rig, id, "y", "e", RIG_START_US);
    int64_t second = add_signal(rig, id, "x", "e", RIG_START_US);
    CHECK(other < first && first < second, "seq is not the order of arrival");
    CHECK_TEXT(found(rig, id, "e", RIG_START_US), "y");
    CHECK_TEXT(found(rig, id, "other", RIG_START_US), "z");
    CHECK_TEXT(found(rig, id, "E", RIG_START_US), NULL);
    mark(rig, id, first, 0);
    CHECK_TEXT(found(rig, id, "e", RIG_START_US), "x");
    mark(rig, id, second, 0);
    strcpy(rig->error.message, "as it was");
    CHECK_TEXT(found(rig, id, "e", RIG_START_US), NULL);
    CHECK_TEXT(found(rig, "nobody", "e", RIG_START_US), NULL);
    CHECK_STR(rig->error.message, "as it was");
    CHECK_TEXT(found(rig, id, "other", RIG_START_US), "z");
}

TEST(a_signal_counts_if_it_came_at_or_before_the_deadline)
{
    cleanup(rig_closep) struct rig *rig = rig_open();
    begin_write(rig);
    const char *id = new_instance(rig, "w").id;
    add_signal(rig, id, "late", "e", RIG_START_US + 10);
    CHECK_TEXT(found(rig, id, "e", RIG_START_US + 9), NULL);
    CHECK_TEXT(found(rig, id, "e", RIG_START_US + 10), "late");
    CHECK_TEXT(found(rig, id, "e", LAST_INSTANT_US), "late");
    add_signal(rig, id, "early", "e", RIG_START_US + 5); /* a clock went back */
    CHECK_TEXT(found(rig, id, "e", RIG_START_US + 9), "early");
    CHECK_TEXT(found(rig, id, "e", RIG_START_US + 10), "late"); /* the oldest by arrival */
}

TEST(a_taken_signal_can_be_given_back)
{
    cleanup(rig_closep) struct rig *rig = rig_open();
    begin_write(rig);
    const char *id = new_instance(rig, "w").id;
    int64_t first = add_signal(rig, id, "1", "e", RIG_START_US);
    add_signal(rig, id, "2", "e", RIG_START_US);
    mark(rig, id, first, 7);
    CHECK_TEXT(found(rig, id, "e", RIG_START_US), "2");
    mark(rig, id, first, -1);
    CHECK_TEXT(found(rig, id, "e", RIG_START_US), "1");
}

TEST(all_signals_of_one_instance_can_be_marked_as_not_taken)
{
    cleanup(rig_closep) struct rig *rig = rig_open();
    begin_write(rig);
    const char *a = new_instance(rig, "w").id, *b = new_instance(rig, "w").id;
    mark(rig, a, add_signal(rig, a, "1", "e", RIG_START_US), 0);
    mark(rig, a, add_signal(rig, a, "2", "f", RIG_START_US), 5);
    mark(rig, b, add_signal(rig, b, "3", "e", RIG_START_US), 0);
    mark(rig, a, 0, -1);
    CHECK_TEXT(found(rig, a, "e", RIG_START_US), "1");
    CHECK_TEXT(found(rig, a, "f", RIG_START_US), "2");
    CHECK_TEXT(found(rig, b, "e", RIG_START_US), NULL);
}

/* ---- those that wait --------------------------------------------------------------------- */

/* Whether the instance's waiting signals are those with these ids: one letter each. */
static void check_signals(struct rig *rig, const char *instance_id, size_t room,
                          const char *letters)
{
    struct signal_row rows[ROWS_MAX];
    size_t count = SIZE_MAX;
    MUST(rig,
         rig->ops->list_signals(rig->tx, &instance_id, 1, 0, rows, room, &count, &rig->error));
    CHECK(count == strlen(letters), "%zu signals came, not %zu", count, strlen(letters));
    for (size_t i = 0; i < count; i++)
        CHECK(rows[i].id[0] == letters[i] && !rows[i].id[1], "signal %zu is %s, not %c", i,
              rows[i].id, letters[i]);
}

TEST(signals_that_wait_are_listed_oldest_first)
{
    cleanup(rig_closep) struct rig *rig = rig_open();
    begin_write(rig);
    const char *a = new_instance(rig, "w").id, *b = new_instance(rig, "w").id;
    check_signals(rig, a, ROWS_MAX, "");
    add_signal(rig, a, "z", "paid", RIG_START_US);
    add_signal(rig, b, "z", "paid", RIG_START_US);
    add_signal(rig, a, "y", "zipped", RIG_START_US);
    add_signal(rig, a, "x", "paid", RIG_START_US - 9); /* arrival counts, not the clock */
    add_signal(rig, a, "w", "asked", RIG_START_US + 9);
    check_signals(rig, a, ROWS_MAX, "zyxw");
    commit(rig);
    begin_read(rig);
    check_signals(rig, a, ROWS_MAX, "zyxw");
    check_signals(rig, b, ROWS_MAX, "z");
    check_signals(rig, "nobody", ROWS_MAX, "");
    check_signals(rig, a, 4, "zyxw");
    check_signals(rig, a, 3, "zyx");
    check_signals(rig, a, 1, "z");
    check_signals(rig, a, 0, "");
}

/* The letters of several instances' signals. */
static void check_signals_of(struct rig *rig, const char *const *ids, size_t id_count,
                             int64_t after, size_t room, const char *letters)
{
    struct signal_row rows[ROWS_MAX];
    size_t count = SIZE_MAX;
    MUST(rig, rig->ops->list_signals(rig->tx, ids, id_count, after, rows, room, &count,
                                     &rig->error));
    CHECK(count == strlen(letters), "%zu signals came, not %zu", count, strlen(letters));
    for (size_t i = 0; i < count; i++)
        CHECK(rows[i].id[0] == letters[i], "signal %zu is %s, not %c", i, rows[i].id,
              letters[i]);
}

TEST(signals_of_several_instances_are_listed_by_instance_then_by_age)
{
    cleanup(rig_closep) struct rig *rig = rig_open();
    begin_write(rig);
    const char *a = new_instance(rig, "w").id, *b = new_instance(rig, "w").id,
               *none = new_instance(rig, "w").id;
    int64_t first = add_signal(rig, b, "1", "paid", RIG_START_US);
    add_signal(rig, a, "2", "paid", RIG_START_US);
    int64_t second = add_signal(rig, b, "3", "asked", RIG_START_US);
    add_signal(rig, a, "4", "asked", RIG_START_US);
    commit(rig);
    begin_read(rig);
    const char *ids[] = {b, "nobody", none, a};
    check_signals_of(rig, ids, 4, 0, ROWS_MAX, "1324");
    check_signals_of(rig, ids, 4, first, ROWS_MAX, "324");
    check_signals_of(rig, ids, 4, second, ROWS_MAX, "24");
    check_signals_of(rig, ids, 4, 0, 3, "132");
    check_signals_of(rig, ids, 4, 0, 0, "");
    check_signals_of(rig, ids + 1, 2, 0, ROWS_MAX, "");
    check_signals_of(rig, NULL, 0, 0, ROWS_MAX, "");
}

TEST(a_listed_signal_is_as_it_was_sent)
{
    cleanup(rig_closep) struct rig *rig = rig_open();
    struct signal_row seen[2],
        bare = {.id = "2", .event = "e", .received_at_us = RIG_START_US + 8, .taken_by = -1};
    enum insert_result result;
    size_t count = 0;
    begin_write(rig);
    const char *id = new_instance(rig, "w").id;
    int64_t seq = add_signal(rig, id, "it's \"1\"", "payment.settled", RIG_START_US + 7);
    bare.instance_id = id;
    MUST(rig, rig->ops->insert_signal(rig->tx, &bare, &result, &rig->error));
    commit(rig);
    begin_read(rig);
    MUST(rig, rig->ops->list_signals(rig->tx, &id, 1, 0, seen, 2, &count, &rig->error));
    CHECK_INT(count, 2);
    CHECK_INT(seen[0].seq, seq);
    CHECK_STR(seen[0].instance_id, id);
    CHECK_STR(seen[0].id, "it's \"1\"");
    CHECK_STR(seen[0].event, "payment.settled");
    CHECK_JSON(seen[0].payload, "{\"n\":1}");
    CHECK_INT(seen[0].received_at_us, RIG_START_US + 7);
    CHECK_INT(seen[0].taken_by, -1);
    CHECK_INT(seen[1].seq, bare.seq);
    CHECK_TEXT(seen[1].payload, NULL);
}

TEST(a_signal_that_is_taken_does_not_wait)
{
    cleanup(rig_closep) struct rig *rig = rig_open();
    begin_write(rig);
    const char *a = new_instance(rig, "w").id, *b = new_instance(rig, "w").id;
    int64_t first = add_signal(rig, a, "x", "e", RIG_START_US);
    int64_t second = add_signal(rig, a, "y", "e", RIG_START_US);
    add_signal(rig, a, "z", "e", RIG_START_US);
    add_signal(rig, b, "x", "e", RIG_START_US);
    mark(rig, a, second, 0); /* a place as any other */
    check_signals(rig, a, ROWS_MAX, "xz");
    mark(rig, a, first, 3);
    check_signals(rig, a, ROWS_MAX, "z");
    commit(rig);
    begin_write(rig);
    check_signals(rig, a, ROWS_MAX, "z");
    check_signals(rig, b, ROWS_MAX, "x");
    mark(rig, a, 0, 3); /* the step at place 3 gives back what it took */
    check_signals(rig, a, ROWS_MAX, "xz");
    mark(rig, a, 0, -1);
    check_signals(rig, a, ROWS_MAX, "xyz");
    roll_back(rig);
    begin_read(rig);
    check_signals(rig, a, ROWS_MAX, "z");
}

/* ---- what the sender was told -------------------------------------------------------------- */

static void check_known(struct rig *rig, const char *instance_id, int64_t seq, bool was_taken)
{
    struct signal_row known = {0}, again = signal_of(instance_id, "x", "e");
    MUST(rig, rig->ops->get_signal(rig->tx, instance_id, "x", &known, &rig->error));
    CHECK_INT(known.seq, seq);
    CHECK_INT(known.was_taken, was_taken);
    if (rig->tx->session->kind != SESSION_WRITER)
        return;
    CHECK_INT(insert(rig, &again), INSERT_EXISTING);
    CHECK_INT(again.seq, seq);
    CHECK_INT(again.was_taken, was_taken);
}

TEST(what_the_sender_of_a_signal_was_told_is_kept)
{
    cleanup(rig_closep) struct rig *rig = rig_open();
    struct signal_row known;
    begin_write(rig);
    const char *a = new_instance(rig, "w").id, *b = new_instance(rig, "w").id;
    int64_t seq = add_signal(rig, a, "x", "e", RIG_START_US);
    int64_t other = add_signal(rig, b, "x", "e", RIG_START_US);
    check_known(rig, a, seq, false);
    mark(rig, a, seq, 3); /* taken later, perhaps: the sender was told otherwise */
    check_known(rig, a, seq, false);
    commit(rig);

    begin_write(rig);
    MUST(rig, rig->ops->keep_signal_taken(rig->tx, a, seq, &rig->error));
    check_known(rig, a, seq, true);
    roll_back(rig);
    begin_write(rig);
    check_known(rig, a, seq, false);
    MUST(rig, rig->ops->keep_signal_taken(rig->tx, a, seq, &rig->error));
    mark(rig, a, 0, -1); /* a restart gives it back; what was told stays */
    commit(rig);

    begin_read(rig);
    check_known(rig, a, seq, true);
    check_known(rig, b, other, false);
    CHECK_INT(rig->ops->get_signal(rig->tx, a, "y", &known, &rig->error), CAIRN_E_NOT_FOUND);
    CHECK_INT(rig->ops->get_signal(rig->tx, "none", "x", &known, &rig->error),
              CAIRN_E_NOT_FOUND);
}
