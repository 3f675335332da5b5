/* tests/store/test_figure.c - figures by type and time: written, replaced, taken out.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "rig.h"

#include <stdlib.h>
#include <string.h>

#define MINUTE_US (60 * US_PER_SEC)

static struct figure_row figure(const char *type, int32_t resolution, int64_t at_us,
                                const char *process, int64_t started)
{
    return (struct figure_row){.type = type,
                               .resolution = resolution,
                               .at_us = at_us,
                               .process = process,
                               .started = started,
                               .completed = 2,
                               .failed = 3,
                               .tasks = INT64_C(1) << 40,
                               .retried = 5,
                               .took = "1:2,3:4",
                               .waited = ""};
}

static void put(struct rig *rig, struct figure_row row)
{
    MUST(rig, rig->ops->put_figures(rig->tx, &row, 1, &rig->error));
}

static int64_t sum(const struct figure_row *rows, size_t count)
{
    int64_t total = 0;
    for (size_t i = 0; i < count; i++)
        total += rows[i].started;
    return total;
}

/* Each has started another power of two, so that the sum says which ones are there. */
static int64_t listed(struct rig *rig, const char *type, int64_t from_us)
{
    struct figure_row rows[16];
    size_t count = 0;
    MUST(rig, rig->ops->list_figures(rig->tx, type, from_us, rows, 16, &count, &rig->error));
    return sum(rows, count);
}

static int64_t taken(struct rig *rig, int32_t resolution, int64_t from_us, int64_t before_us,
                     size_t room)
{
    struct figure_row rows[16];
    size_t count = 0;
    MUST(rig, rig->ops->take_figures(rig->tx, resolution, from_us, before_us, rows, room,
                                     &count, &rig->error));
    CHECK(count <= room, "%zu rows came into room for %zu", count, room);
    return sum(rows, count);
}

TEST(a_row_of_figures_is_read_as_it_was_written)
{
    cleanup(rig_closep) struct rig *rig = rig_open();
    struct figure_row row, wanted = figure("mail.v1", 60, RIG_START_US, "host:1:1", 7);
    size_t count = 0;
    begin_write(rig);
    put(rig, wanted);
    commit(rig);
    begin_read(rig);
    MUST(rig, rig->ops->list_figures(rig->tx, "mail.v1", 0, &row, 1, &count, &rig->error));
    CHECK_INT(count, 1);
    CHECK_STR(row.type, "mail.v1");
    CHECK_INT(row.resolution, 60);
    CHECK_INT(row.at_us, RIG_START_US);
    CHECK_STR(row.process, "host:1:1");
    CHECK_INT(row.started, 7);
    CHECK_INT(row.completed, 2);
    CHECK_INT(row.failed, 3);
    CHECK_INT(row.tasks, INT64_C(1) << 40);
    CHECK_INT(row.retried, 5);
    CHECK_STR(row.took, "1:2,3:4");
    CHECK_STR(row.waited, "");
}

TEST(figures_of_the_same_time_and_process_are_replaced)
{
    cleanup(rig_closep) struct rig *rig = rig_open();
    begin_write(rig);
    put(rig, figure("", 60, RIG_START_US, "a", 1));
    put(rig, figure("", 60, RIG_START_US, "a", 2));
    put(rig, figure("", 60, RIG_START_US, "b", 4));
    put(rig, figure("", 600, RIG_START_US, "a", 8));
    put(rig, figure("x", 60, RIG_START_US, "a", 16));
    CHECK_INT(listed(rig, "", 0), 14);
    CHECK_INT(listed(rig, "x", 0), 16);
    CHECK_INT(listed(rig, "y", 0), 0);
}

TEST(figures_are_listed_from_a_time_on)
{
    cleanup(rig_closep) struct rig *rig = rig_open();
    begin_write(rig);
    for (int i = 0; i < 4; i++)
        put(rig, figure("", i == 2 ? 3600 : 60, RIG_START_US + i * MINUTE_US, "a", 1 << i));
    CHECK_INT(listed(rig, "", RIG_START_US), 15);
    CHECK_INT(listed(rig, "", RIG_START_US + 1), 14);
    CHECK_INT(listed(rig, "", RIG_START_US + 3 * MINUTE_US), 8);
}

TEST(figures_of_a_time_are_taken_out)
{
    cleanup(rig_closep) struct rig *rig = rig_open();
    int64_t at_us = 0;
    begin_write(rig);
    CHECK_INT(rig->ops->oldest_figure(rig->tx, 60, INSTANT_MAX, &at_us, &rig->error),
              CAIRN_E_NOT_FOUND);
    for (int i = 0; i < 4; i++)
        put(rig, figure(i % 2 ? "" : "x", 60, RIG_START_US + i * MINUTE_US, "a", 1 << i));
    put(rig, figure("", 600, RIG_START_US + MINUTE_US, "a", 16));
    MUST(rig, rig->ops->oldest_figure(rig->tx, 60, INSTANT_MAX, &at_us, &rig->error));
    CHECK_INT(at_us, RIG_START_US);
    CHECK_INT(rig->ops->oldest_figure(rig->tx, 60, RIG_START_US, &at_us, &rig->error),
              CAIRN_E_NOT_FOUND);
    CHECK_INT(taken(rig, 60, RIG_START_US + MINUTE_US, RIG_START_US + 3 * MINUTE_US, 16), 6);
    CHECK_INT(taken(rig, 60, RIG_START_US + MINUTE_US, RIG_START_US + 3 * MINUTE_US, 16), 0);
    CHECK_INT(listed(rig, "", 0) + listed(rig, "x", 0), 1 + 8 + 16);
    CHECK_INT(taken(rig, 60, 0, INSTANT_MAX, 1), 1); /* the earliest */
    CHECK_INT(taken(rig, 60, 0, INSTANT_MAX, 16), 8);
    CHECK_INT(listed(rig, "", 0), 16);
}

TEST(old_figures_are_removed)
{
    cleanup(rig_closep) struct rig *rig = rig_open();
    begin_write(rig);
    for (int i = 0; i < 4; i++)
        put(rig, figure("", i == 3 ? 60 : 3600, RIG_START_US + i % 3, "a", 1 << i));
    MUST(rig, rig->ops->drop_figures(rig->tx, 3600, RIG_START_US + 2, &rig->error));
    CHECK_INT(listed(rig, "", 0), 4 + 8);
}
