/* tests/store/test_overview.c - what is counted and read for an overview: errors, types of tasks, what has halted.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "flow_rig.h"

#include <stdio.h>
#include <string.h>

/* ---- errors --------------------------------------------------------------------------------- */

static struct job_row failed_job(struct rig *rig, const char *type, const char *error)
{
    struct job_row row = job_of(rig, type);
    row.status = JOB_FAILED;
    row.last_error = error;
    row.updated_at_us = RIG_START_US + 7;
    return row;
}

static void fail_instance(struct rig *rig, const char *workflow, enum instance_status status,
                          const char *error, const char *paused_by)
{
    struct instance_row row = instance_of(rig, workflow);
    row.status = status;
    row.last_error = error;
    row.paused_by = paused_by;
    row.finished_at_us = status == INSTANCE_FAILED ? RIG_START_US + 9 : 0;
    add_instance(rig, row);
}

static void add_record(struct rig *rig, const char *instance_id, const char *reason)
{
    struct dlq_row row = {.instance_id = instance_id,
                          .workflow = "w",
                          .version = 1,
                          .step_name = "pay",
                          .step_type = "task",
                          .input = "{}",
                          .error = "no funds",
                          .reason = reason,
                          .created_at_us = RIG_START_US + 4,
                          .is_open = true};
    MUST(rig, rig->ops->append_dlq(rig->tx, &row, 1, &rig->error));
}

static struct error_row found[ROWS_MAX];

static size_t scan(struct rig *rig, enum error_kind kind, const char *workflow, int64_t before,
                   size_t room)
{
    size_t count = SIZE_MAX;
    MUST(rig, rig->ops->scan_errors(rig->tx, kind, workflow, before, found, room, &count,
                                    &rig->error));
    CHECK(count <= room, "%zu rows came into room for %zu", count, room);
    return count;
}

TEST(errors_of_failed_jobs_come_newest_first)
{
    cleanup(rig_closep) struct rig *rig = rig_open();
    begin_write(rig);
    const char *first = add(rig, failed_job(rig, "a", "one"));
    struct job_row row = failed_job(rig, "b", NULL);
    row.status = JOB_CANCELLED;
    add(rig, row);
    row = failed_job(rig, "b", "deleted");
    row.deleted_at_us = RIG_START_US;
    add(rig, row);
    add(rig, job_of(rig, "c"));
    add(rig, failed_job(rig, "b", "two"));
    CHECK_INT(scan(rig, ERRORS_OF_JOBS, NULL, 0, 9), 2);
    CHECK_STR(found[0].type, "b");
    CHECK_STR(found[0].error, "two");
    CHECK_STR(found[1].error, "one");
    CHECK_STR(found[1].id, first);
    CHECK_INT(found[1].at_us, RIG_START_US + 7);
    CHECK(!found[1].workflow && !found[1].step && !found[1].reason, "it is of a job");
    CHECK_INT(scan(rig, ERRORS_OF_JOBS, NULL, 0, 1), 1);
    CHECK_INT(scan(rig, ERRORS_OF_JOBS, NULL, found[0].seq, 9), 1);
    CHECK_STR(found[0].error, "one");
    CHECK_INT(scan(rig, ERRORS_OF_JOBS, NULL, found[0].seq, 9), 0);
}

TEST(errors_of_failed_instances_are_those_of_all_or_one_workflow)
{
    cleanup(rig_closep) struct rig *rig = rig_open();
    begin_write(rig);
    fail_instance(rig, "v", INSTANCE_FAILED, "{\"message\": \"one\"}", NULL);
    fail_instance(rig, "w", INSTANCE_FAILED, "{\"message\": \"two\"}", NULL);
    fail_instance(rig, "w", INSTANCE_RUNNING, "{\"message\": \"three\"}", NULL);
    fail_instance(rig, "w", INSTANCE_CANCELLED, NULL, NULL);
    fail_instance(rig, "v", INSTANCE_FAILED, NULL, NULL);
    CHECK_INT(scan(rig, ERRORS_OF_INSTANCES, NULL, 0, 9), 3);
    CHECK(!found[0].error, "it has none");
    CHECK(strstr(found[1].error, "two"), "%s", found[1].error);
    CHECK_STR(found[2].workflow, "v");
    CHECK_INT(found[2].at_us, RIG_START_US + 9);
    int64_t second = found[1].seq;
    CHECK_INT(scan(rig, ERRORS_OF_INSTANCES, NULL, second, 9), 1);
    CHECK(strstr(found[0].error, "one"), "%s", found[0].error);
    CHECK_INT(scan(rig, ERRORS_OF_INSTANCES, "w", 0, 9), 1);
    CHECK_INT(found[0].seq, second);
    CHECK_INT(scan(rig, ERRORS_OF_INSTANCES, "v", second, 9), 1);
    CHECK_INT(scan(rig, ERRORS_OF_INSTANCES, "u", 0, 9), 0);
}

TEST(errors_of_records_are_those_of_open_ones)
{
    cleanup(rig_closep) struct rig *rig = rig_open();
    begin_write(rig);
    struct instance_row instance = new_instance(rig, "w");
    add_record(rig, instance.id, "exhausted");
    add_record(rig, instance.id, "closed");
    MUST(rig, rig->ops->close_dlq(rig->tx, instance.id, -1, &rig->error));
    add_record(rig, instance.id, "compensation_exhausted");
    add_record(rig, instance.id, "dead");
    CHECK_INT(scan(rig, ERRORS_OF_RECORDS, NULL, 0, 9), 2);
    CHECK_STR(found[0].reason, "dead");
    CHECK_STR(found[1].reason, "compensation_exhausted");
    CHECK_STR(found[1].step, "pay");
    CHECK_STR(found[1].type, "task");
    CHECK_STR(found[1].workflow, "w");
    CHECK_STR(found[1].error, "no funds");
    CHECK_INT(found[1].at_us, RIG_START_US + 4);
    CHECK_INT(scan(rig, ERRORS_OF_RECORDS, NULL, found[0].seq, 9), 1);
}

/* ---- what has halted ------------------------------------------------------------------------ */

TEST(what_nobody_has_paused_and_what_could_not_be_undone_is_counted)
{
    cleanup(rig_closep) struct rig *rig = rig_open();
    struct halt_counts halts;
    begin_write(rig);
    MUST(rig, rig->ops->count_halts(rig->tx, &halts, &rig->error));
    CHECK_INT(halts.failed + halts.mismatched + halts.undo_failed, 0);
    static const char mismatch[] = "{\"message\": \"version_mismatch: the code asks for b\"}";
    for (int i = 0; i < 2; i++)
        fail_instance(rig, "w", INSTANCE_PAUSED, "{\"message\": \"no funds\"}", NULL);
    fail_instance(rig, "w", INSTANCE_PAUSED, mismatch, NULL);
    fail_instance(rig, "w", INSTANCE_PAUSED, mismatch, "ada");
    fail_instance(rig, "w", INSTANCE_PAUSED, "{\"message\": \"no funds\"}", "ada");
    fail_instance(rig, "w", INSTANCE_PAUSED, NULL, NULL);
    fail_instance(rig, "w", INSTANCE_FAILED, mismatch, NULL);
    struct instance_row instance = new_instance(rig, "w");
    add_record(rig, instance.id, "compensation_exhausted");
    MUST(rig, rig->ops->close_dlq(rig->tx, instance.id, -1, &rig->error));
    for (int i = 0; i < 3; i++)
        add_record(rig, instance.id, "compensation_exhausted");
    add_record(rig, instance.id, "exhausted");
    MUST(rig, rig->ops->count_halts(rig->tx, &halts, &rig->error));
    CHECK_INT(halts.failed, 2);
    CHECK_INT(halts.mismatched, 1);
    CHECK_INT(halts.undo_failed, 3);
}

/* ---- types ---------------------------------------------------------------------------------- */

static void add_job(struct rig *rig, const char *type, enum job_status status,
                    int64_t run_at_us, bool is_ready)
{
    struct job_row row = job_of(rig, type);
    row.status = status;
    row.run_at_us = run_at_us;
    row.is_ready = is_ready;
    if (status == JOB_LEASED) {
        row.leased_by = "w";
        row.token = "t";
        row.lease_until_us = RIG_START_US + US_PER_MIN;
    }
    add(rig, row);
}

static void add_ready_step(struct rig *rig, const char *type, int64_t since_us)
{
    struct instance_row instance = new_instance(rig, "w");
    struct step_row row = ready_step(&instance, 0, type, 50);
    row.next_run_at_us = since_us;
    add_step(rig, row);
}

TEST(what_is_ready_is_counted_by_type_over_jobs_and_steps)
{
    cleanup(rig_closep) struct rig *rig = rig_open();
    static const char *const types[] = {"steps", "none", "both", "jobs", "both"};
    struct ready_count counts[5];
    begin_write(rig);
    add_job(rig, "jobs", JOB_PENDING, RIG_START_US - 5, true);
    add_job(rig, "jobs", JOB_PENDING, RIG_START_US - 9, true);
    add_job(rig, "jobs", JOB_PENDING, RIG_START_US + 9, false);
    add_job(rig, "jobs", JOB_LEASED, RIG_START_US - 99, false);
    add_job(rig, "both", JOB_PENDING, RIG_START_US - 1, true);
    struct job_row row = job_of(rig, "jobs");
    row.is_ready = true;
    row.deleted_at_us = RIG_START_US;
    add(rig, row);
    add_ready_step(rig, "both", RIG_START_US - 3);
    add_ready_step(rig, "steps", RIG_START_US - 2);
    MUST(rig, rig->ops->count_ready(rig->tx, types, 5, counts, &rig->error));
    static const struct ready_count wanted[] = {{1, RIG_START_US - 2},
                                                {0, 0},
                                                {2, RIG_START_US - 3},
                                                {2, RIG_START_US - 9},
                                                {2, RIG_START_US - 3}};
    for (size_t i = 0; i < 5; i++) {
        CHECK_INT(counts[i].count, wanted[i].count);
        CHECK_INT(counts[i].oldest_us, wanted[i].oldest_us);
    }
}

TEST(what_is_for_later_or_leased_is_counted_by_type)
{
    cleanup(rig_closep) struct rig *rig = rig_open();
    struct unready_count rows[8];
    size_t count;
    begin_write(rig);
    MUST(rig, rig->ops->count_unready(rig->tx, 10, rows, 8, &count, &rig->error));
    CHECK_INT(count, 0);
    add_job(rig, "b", JOB_PENDING, RIG_START_US + 9, false);
    add_job(rig, "b", JOB_PENDING, RIG_START_US + 8, false);
    add_job(rig, "a", JOB_PENDING, RIG_START_US + 7, false);
    add_job(rig, "ready", JOB_PENDING, RIG_START_US, true);
    add_job(rig, "done", JOB_SUCCEEDED, RIG_START_US, false);
    add_ready_step(rig, "ready", RIG_START_US);
    struct instance_row instance = new_instance(rig, "w");
    struct step_row step = ready_step(&instance, 0, "c", 50);
    step.status = STEP_RUNNING;
    step.is_ready = false;
    step.locked_by = "w";
    step.token = "t";
    step.locked_until_us = step.due_at_us = RIG_START_US + US_PER_MIN;
    add_step(rig, step);
    MUST(rig, rig->ops->count_unready(rig->tx, 10, rows, 8, &count, &rig->error));
    static const struct unready_count wanted[] = {
        {"a", 1, 0, 0}, {"b", 2, 0, 0}, {"c", 0, 0, 1}};
    CHECK_INT(count, 3);
    for (size_t i = 0; i < 3; i++) {
        CHECK_STR(rows[i].type, wanted[i].type);
        CHECK_INT(rows[i].later, wanted[i].later);
        CHECK_INT(rows[i].leased, wanted[i].leased);
        CHECK_INT(rows[i].leased_steps, wanted[i].leased_steps);
    }
    MUST(rig, rig->ops->count_unready(rig->tx, 10, rows, 2, &count, &rig->error));
    CHECK_INT(count, 2);
    MUST(rig, rig->ops->count_unready(rig->tx, 1, rows, 8, &count, &rig->error));
    CHECK_INT(count, 2); /* one for later, one that is leased */
    CHECK_STR(rows[0].type, "a");
    CHECK_STR(rows[1].type, "c");
}

/* A claim leases it as the back end does, with what stands beside the row. */
TEST(a_job_that_was_claimed_is_counted_as_leased)
{
    cleanup(rig_closep) struct rig *rig = rig_open();
    struct unready_count rows[8];
    size_t count;
    begin_write(rig);
    add_job(rig, "b", JOB_PENDING, RIG_START_US + 9, false);
    add(rig, job_of(rig, "a"));
    claim_as(rig, 1, "a", NULL);
    MUST(rig, rig->ops->count_unready(rig->tx, 10, rows, 8, &count, &rig->error));
    CHECK_INT(count, 2);
    CHECK_STR(rows[0].type, "a");
    CHECK_INT(rows[0].leased, 1);
    CHECK_INT(rows[0].later, 0);
    CHECK_INT(rows[1].later, 1);
}
