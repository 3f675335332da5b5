/* tests/store/test_schedule.c - schedules: written, found when they are due, and their runs.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "rig.h"

#include <string.h>

static struct schedule_row schedule(struct rig *rig, const char *name)
{
    char *id = arena_zalloc(&rig->arena, ID_TEXT);
    id_make(&rig->rng, RIG_START_US, id);
    return (struct schedule_row){.name = name,
                                 .id = id,
                                 .cron = "30 2 * * *",
                                 .timezone = "Europe/Berlin",
                                 .task = "a.b",
                                 .input = "{\"b\": 1, \"a\":2}",
                                 .overlap = OVERLAP_QUEUE,
                                 .catch_up = CATCH_UP_NOTHING,
                                 .anchor_at_us = RIG_START_US,
                                 .created_at_us = RIG_START_US,
                                 .updated_at_us = RIG_START_US};
}

static void put(struct rig *rig, const struct schedule_row *row)
{
    MUST(rig, rig->ops->put_schedule(rig->tx, row, &rig->error));
}

static struct schedule_row read_one(struct rig *rig, const char *name)
{
    struct schedule_row row;
    MUST(rig, rig->ops->get_schedule(rig->tx, name, &row, &rig->error));
    return row;
}

/* "a b": the names of those that are due. */
static void check_due(struct rig *rig, const char *wanted)
{
    struct schedule_row rows[8];
    char seen[100] = "";
    size_t count = 0;
    MUST(rig, rig->ops->find_due_schedules(rig->tx, rows, 8, &count, &rig->error));
    for (size_t i = 0; i < count; i++)
        sprintf(seen + strlen(seen), "%s%s", i ? " " : "", rows[i].name);
    CHECK_STR(seen, wanted);
}

static void put_run(struct rig *rig, const char *name, int64_t at_us, const char *id)
{
    struct schedule_run_row run = {.schedule = name,
                                   .at_us = at_us,
                                   .run_id = id,
                                   .is_job = true,
                                   .is_open = id != NULL,
                                   .status = id ? "pending" : "skipped"};
    MUST(rig, rig->ops->put_schedule_runs(rig->tx, &run, 1, &rig->error));
}

static size_t list_runs(struct rig *rig, const char *name, bool is_open,
                        struct schedule_run_row *ret_rows)
{
    size_t count = 0;
    MUST(rig, rig->ops->list_schedule_runs(rig->tx, name, is_open, ret_rows, 8, &count,
                                           &rig->error));
    return count;
}

TEST(a_schedule_is_read_as_it_was_written)
{
    cleanup(rig_closep) struct rig *rig = rig_open();
    struct schedule_row row = schedule(rig, "s"), seen;
    begin_write(rig);
    put(rig, &row);
    row.next_at_us = RIG_START_US + 5;
    row.due_at_us = RIG_START_US + 4;
    row.last_at_us = RIG_START_US + 3;
    row.waiting_at_us = RIG_START_US + 2;
    put(rig, &row);
    commit(rig);
    begin_read(rig);
    seen = read_one(rig, "s");
    CHECK_STR(seen.id, row.id);
    CHECK_STR(seen.cron, row.cron);
    CHECK_STR(seen.timezone, row.timezone);
    CHECK_STR(seen.task, "a.b");
    CHECK(!seen.workflow, "%s", seen.workflow);
    CHECK_STR(seen.input, row.input); /* its own bytes */
    CHECK_INT(seen.overlap, OVERLAP_QUEUE);
    CHECK_INT(seen.catch_up, CATCH_UP_NOTHING);
    CHECK_INT(seen.next_at_us, RIG_START_US + 5);
    CHECK_INT(seen.due_at_us, RIG_START_US + 4);
    CHECK_INT(seen.last_at_us, RIG_START_US + 3);
    CHECK_INT(seen.waiting_at_us, RIG_START_US + 2);
    CHECK_INT(rig->ops->get_schedule(rig->tx, "t", &seen, &rig->error), CAIRN_E_NOT_FOUND);
}

TEST(schedules_are_due_at_their_time_and_known_before)
{
    cleanup(rig_closep) struct rig *rig = rig_open();
    struct schedule_row early = schedule(rig, "z"), late = schedule(rig, "a");
    early.due_at_us = RIG_START_US + US_PER_SEC;
    late.due_at_us = RIG_START_US + 2 * US_PER_SEC;
    begin_write(rig);
    put(rig, &late);
    put(rig, &early);
    CHECK_INT(next_due(rig).flow_us, early.due_at_us);
    check_due(rig, "");
    commit(rig);
    pass_us(rig, US_PER_SEC);
    begin_write(rig);
    check_due(rig, "z");
    commit(rig);
    pass_us(rig, US_PER_SEC);
    begin_write(rig);
    check_due(rig, "z a");
    early.due_at_us = 0;
    put(rig, &early);
    check_due(rig, "a");
    CHECK_INT(next_due(rig).flow_us, late.due_at_us);
}

TEST(a_waiting_run_is_due_once_no_open_run_is_active)
{
    cleanup(rig_closep) struct rig *rig = rig_open();
    struct schedule_row row = schedule(rig, "s");
    row.waiting_at_us = RIG_START_US;
    begin_write(rig);
    const char *id = add(rig, job_of(rig, "a.b"));
    put(rig, &row);
    put_run(rig, "s", RIG_START_US, id);
    check_due(rig, "");
    CHECK_INT(next_due(rig).flow_us, 0);
    commit(rig);
    begin_write(rig);
    struct job_row job = lock_one(rig, id);
    job.status = JOB_CANCELLED;
    job.is_ready = false;
    MUST(rig, rig->ops->update_jobs(rig->tx, &job, 1, &rig->error));
    check_due(rig, "s");
    CHECK(next_due(rig).flow_us == rig->tx->now_us, "it is not due");
    row.is_paused = true;
    put(rig, &row);
    check_due(rig, "");
    CHECK_INT(next_due(rig).flow_us, 0);
}

/* Of the schedule s the runs 10 of a job, 20, 30 of a job that is gone, and 40. */
static const char *put_runs(struct rig *rig)
{
    static char gone[ID_TEXT];
    struct schedule_row row = schedule(rig, "s");
    struct job_row job = job_of(rig, "a.b");
    begin_write(rig);
    job.schedule = "s";
    const char *id = add(rig, job);
    id_make(&rig->rng, RIG_START_US, gone);
    put(rig, &row);
    put_run(rig, "s", 10, id);
    put_run(rig, "s", 20, NULL);
    put_run(rig, "s", 30, gone);
    put_run(rig, "s", 40, NULL);
    put_run(rig, "other", 50, NULL);
    commit(rig);
    return id;
}

TEST(runs_have_the_status_of_their_job)
{
    cleanup(rig_closep) struct rig *rig = rig_open();
    struct schedule_run_row runs[8];
    const char *id = put_runs(rig);
    begin_write(rig);
    CHECK_STR(get(rig, id).schedule, "s");
    CHECK_INT(list_runs(rig, "s", false, runs), 4);
    CHECK_INT(runs[0].at_us, 40);
    CHECK_STR(runs[0].status, "skipped");
    CHECK_STR(runs[1].status, "gone");
    CHECK_STR(runs[3].status, "pending");
    CHECK_STR(runs[3].run_id, id);
    CHECK_INT(list_runs(rig, "s", true, runs), 2);
}

TEST(the_newest_runs_and_those_that_are_open_stay_until_the_schedule_goes)
{
    cleanup(rig_closep) struct rig *rig = rig_open();
    struct schedule_row row;
    struct schedule_run_row runs[8];
    put_runs(rig);
    begin_write(rig);
    MUST(rig, rig->ops->drop_schedule_runs(rig->tx, "s", 1, &rig->error));
    CHECK_INT(list_runs(rig, "s", false, runs), 3);
    CHECK_INT(runs[0].at_us, 40);
    CHECK_INT(runs[1].at_us, 30);
    CHECK_INT(runs[2].at_us, 10);
    MUST(rig, rig->ops->delete_schedule(rig->tx, "s", &rig->error));
    CHECK_INT(list_runs(rig, "s", false, runs), 0);
    CHECK_INT(list_runs(rig, "other", false, runs), 1);
    CHECK_INT(rig->ops->lock_schedule(rig->tx, "s", &row, &rig->error), CAIRN_E_NOT_FOUND);
}

TEST(schedules_are_listed_by_name)
{
    cleanup(rig_closep) struct rig *rig = rig_open();
    struct schedule_row rows[4];
    static const char *const names[] = {"b", "B", "a"};
    size_t count = 0;
    begin_write(rig);
    for (int i = 0; i < 3; i++) {
        rows[i] = schedule(rig, names[i]);
        put(rig, &rows[i]);
    }
    MUST(rig, rig->ops->list_schedules(rig->tx, NULL, rows, 2, &count, &rig->error));
    CHECK_INT(count, 2);
    CHECK_STR(rows[0].name, "B");
    CHECK_STR(rows[1].name, "a");
    MUST(rig, rig->ops->list_schedules(rig->tx, "a", rows, 4, &count, &rig->error));
    CHECK_INT(count, 1);
    CHECK_STR(rows[0].name, "b");
}
