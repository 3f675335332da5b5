/* tests/store/test_bulk.c - bulk actions: written, leased by one process, listed.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "rig.h"

#include <string.h>

static struct bulk_row bulk(struct rig *rig, char id[ID_TEXT])
{
    id_make(&rig->rng, RIG_START_US, id);
    return (struct bulk_row){.id = id,
                             .target = "jobs",
                             .action = "cancel",
                             .filter = "{\"type\":\"a\"}",
                             .started_by = "ada",
                             .most = 7,
                             .per_second = 3,
                             .expected = 9,
                             .started_at_us = RIG_START_US,
                             .status = "running",
                             .place = 12,
                             .skipped = "{}",
                             .skipped_sample = "[]",
                             .next_at_us = RIG_START_US};
}

static void put(struct rig *rig, const struct bulk_row *row)
{
    MUST(rig, rig->ops->put_bulk(rig->tx, row, &rig->error));
}

/* The place of the action that a process may walk; 0: none. */
static int64_t taken(struct rig *rig, const char *process)
{
    struct bulk_row row;
    cairn_code code = rig->ops->take_bulk(rig->tx, process, &row, &rig->error);
    CHECK(!code || code == CAIRN_E_NOT_FOUND, "%s", rig->error.message);
    return code ? 0 : row.place;
}

static int64_t next(struct rig *rig, const char *process)
{
    int64_t at_us = -1;
    MUST(rig, rig->ops->next_bulk(rig->tx, process, &at_us, &rig->error));
    return at_us;
}

TEST(a_bulk_action_is_read_as_it_was_written)
{
    cleanup(rig_closep) struct rig *rig = rig_open();
    char id[ID_TEXT];
    struct bulk_row row = bulk(rig, id), seen;
    begin_write(rig);
    put(rig, &row);
    row.done = 5;
    row.status = "stopped";
    row.skipped = "{\"wrong_state\":2}";
    row.finished_at_us = RIG_START_US + 1;
    put(rig, &row);
    commit(rig);
    begin_read(rig);
    MUST(rig, rig->ops->get_bulk(rig->tx, id, &seen, &rig->error));
    CHECK_STR(seen.target, "jobs");
    CHECK_STR(seen.filter, "{\"type\":\"a\"}");
    CHECK(!seen.ids && !seen.args && !seen.reason, "what was not given is not there");
    CHECK_STR(seen.started_by, "ada");
    CHECK_INT(seen.most, 7);
    CHECK_INT(seen.per_second, 3);
    CHECK_INT(seen.done, 5);
    CHECK_STR(seen.status, "stopped");
    CHECK_STR(seen.skipped, "{\"wrong_state\":2}");
    CHECK_INT(seen.finished_at_us, RIG_START_US + 1);
    CHECK_INT(rig->ops->get_bulk(rig->tx, "nobody", &seen, &rig->error), CAIRN_E_NOT_FOUND);
}

TEST(one_process_walks_a_bulk_action_until_its_lease_ends)
{
    cleanup(rig_closep) struct rig *rig = rig_open();
    char id[ID_TEXT];
    struct bulk_row row = bulk(rig, id);
    begin_write(rig);
    CHECK_INT(taken(rig, "a"), 0);
    CHECK_INT(next(rig, "a"), 0);
    put(rig, &row);
    CHECK_INT(taken(rig, "a"), 12);
    row.locked_by = "a";
    row.locked_until_us = RIG_START_US + 10;
    put(rig, &row);
    CHECK_INT(taken(rig, "a"), 12);
    CHECK_INT(taken(rig, "b"), 0);
    CHECK_INT(next(rig, "a"), RIG_START_US);
    CHECK_INT(next(rig, "b"), RIG_START_US + 10);
    row.next_at_us = RIG_START_US + 5;
    put(rig, &row);
    CHECK_INT(taken(rig, "a"), 0);
    CHECK_INT(next(rig, "a"), RIG_START_US + 5);
    row.next_at_us = RIG_START_US;
    row.locked_until_us = RIG_START_US;
    put(rig, &row);
    CHECK_INT(taken(rig, "b"), 12);
    row.status = "done";
    put(rig, &row);
    CHECK_INT(taken(rig, "a"), 0);
    CHECK_INT(next(rig, "a"), 0);
    struct bulk_row seen;
    MUST(rig, rig->ops->lock_bulk(rig->tx, id, &seen, &rig->error));
    CHECK_STR(seen.status, "done");
}

TEST(the_oldest_is_walked_first_and_the_newest_listed_first)
{
    cleanup(rig_closep) struct rig *rig = rig_open();
    char ids[3][ID_TEXT];
    struct bulk_row rows[3];
    size_t count = 0;
    begin_write(rig);
    for (int i = 0; i < 3; i++) {
        struct bulk_row row = bulk(rig, ids[i]);
        row.place = i + 1;
        put(rig, &row);
    }
    CHECK_INT(taken(rig, "a"), 1);
    MUST(rig, rig->ops->list_bulks(rig->tx, rows, 2, &count, &rig->error));
    CHECK_INT(count, 2);
    CHECK_INT(rows[0].place, 3);
    CHECK_INT(rows[1].place, 2);
}
