/* tests/store/test_total.c - totals of processes: written, replaced, taken when their process is gone.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "rig.h"

#include <string.h>

static struct total_row total(const char *process, int32_t kind, const char *name,
                              int64_t first_us, int64_t written_us)
{
    return (struct total_row){.process = process,
                              .kind = kind,
                              .name = name,
                              .first_at_us = first_us,
                              .written_at_us = written_us,
                              .counts = "0:1,7:9",
                              .took = "12:5",
                              .took_us = INT64_C(1) << 41,
                              .waited = "",
                              .waited_us = 3};
}

static void put(struct rig *rig, struct total_row row)
{
    MUST(rig, rig->ops->put_totals(rig->tx, &row, 1, &rig->error));
}

static size_t listed(struct rig *rig, struct total_row *rows, size_t room)
{
    size_t count = 0;
    MUST(rig, rig->ops->list_totals(rig->tx, rows, room, &count, &rig->error));
    return count;
}

static size_t gone(struct rig *rig, int64_t before_us, struct total_row *rows, size_t room)
{
    size_t count = 0;
    MUST(rig, rig->ops->take_totals(rig->tx, before_us, rows, room, &count, &rig->error));
    return count;
}

TEST(totals_are_read_as_they_were_written_the_earliest_name_first)
{
    cleanup(rig_closep) struct rig *rig = rig_open();
    struct total_row rows[8];
    begin_write(rig);
    put(rig, total("h:1", 1, "b\n\"\\", RIG_START_US + 1, RIG_START_US + 5));
    put(rig, total("h:1", 2, "b", RIG_START_US, RIG_START_US + 6));
    put(rig, total("", 0, "", RIG_START_US, RIG_START_US + 7));
    commit(rig);
    begin_read(rig);
    CHECK_INT(listed(rig, rows, 8), 3);
    CHECK_INT(rows[0].kind, 0);
    CHECK_STR(rows[0].process, "");
    CHECK_INT(rows[1].kind, 2);
    CHECK_STR(rows[2].name, "b\n\"\\");
    CHECK_STR(rows[2].process, "h:1");
    CHECK_INT(rows[2].first_at_us, RIG_START_US + 1);
    CHECK_INT(rows[2].written_at_us, RIG_START_US + 5);
    CHECK_STR(rows[2].counts, "0:1,7:9");
    CHECK_STR(rows[2].took, "12:5");
    CHECK_INT(rows[2].took_us, INT64_C(1) << 41);
    CHECK_STR(rows[2].waited, "");
    CHECK_INT(rows[2].waited_us, 3);
    CHECK_INT(listed(rig, rows, 2), 2);
}

TEST(totals_of_the_same_process_and_name_are_replaced)
{
    cleanup(rig_closep) struct rig *rig = rig_open();
    struct total_row rows[8], later = total("a", 1, "x", RIG_START_US, RIG_START_US + 9);
    later.counts = "0:2";
    begin_write(rig);
    put(rig, total("a", 1, "x", RIG_START_US + 1, RIG_START_US + 1));
    put(rig, total("a", 2, "x", RIG_START_US + 2, RIG_START_US + 1));
    put(rig, total("b", 1, "x", RIG_START_US + 3, RIG_START_US + 1));
    put(rig, later);
    CHECK_INT(listed(rig, rows, 8), 3);
    CHECK_STR(rows[0].counts, "0:2");
    CHECK_INT(rows[0].first_at_us, RIG_START_US);
    CHECK_INT(rows[0].written_at_us, RIG_START_US + 9);
}

TEST(totals_of_processes_that_write_no_more_are_taken_but_not_their_sum)
{
    cleanup(rig_closep) struct rig *rig = rig_open();
    struct total_row rows[8];
    begin_write(rig);
    put(rig, total("", 0, "", RIG_START_US, RIG_START_US));
    put(rig, total("a", 0, "", RIG_START_US, RIG_START_US));
    put(rig, total("b", 0, "", RIG_START_US, RIG_START_US + 1));
    put(rig, total("c", 0, "", RIG_START_US, RIG_START_US + 2));
    CHECK_INT(gone(rig, RIG_START_US, rows, 8), 0);
    CHECK_INT(gone(rig, RIG_START_US + 2, rows, 1), 1);
    CHECK_STR(rows[0].process, "a");
    CHECK_STR(rows[0].took, "12:5");
    CHECK_INT(gone(rig, RIG_START_US + 2, rows, 8), 1);
    CHECK_STR(rows[0].process, "b");
    CHECK_INT(gone(rig, RIG_START_US + 2, rows, 8), 0);
    CHECK_INT(listed(rig, rows, 8), 2);
}

TEST(a_store_tells_how_large_it_is)
{
    cleanup(rig_closep) struct rig *rig = rig_open();
    uint64_t bytes = 0;
    begin_read(rig);
    MUST(rig, rig->ops->measure(rig->tx, &bytes, &rig->error));
    CHECK(bytes > 4096, "%llu bytes", (unsigned long long)bytes);
}
